"""``release``: fit once with fresh noise, pay for it, and hand over what may leave."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpcore.accounting import calibrate
from dpcore.checks import one_of, whole
from dpcore.errors import BudgetExceeded, DPCoreError, InputError
from dpcore.fitting.api import fit_grid
from dpcore.fitting.minibatch import Minibatched
from dpcore.fitting.recipe import recipe
from dpcore.fitting.result import Fit
from dpcore.privacy import DiscreteGaussian, Event, Ledger, Privacy
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases.dossier import CHOSEN, dossier_of, with_line
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger, Protected
from dpcore.releases.report import report
from dpcore.releases.sheet import as_csv
from dpcore.schema import Schema
from dpcore.wall.clip import PublicFrame
from dpcore.wall.corpus import demand_loaded
from dpcore.wall.noise import GridNoise
from dpcore.wall.table import PrivateTable

SPARED = 1e-7  # share of epsilon not used, so that a whole budget can be spent in one release
COUNTED_BY = ("zcdp_tight", "rdp")  # what knows the discrete Gaussian law in many dimensions
FILES = ("dossier.json", "synthetic.csv", "report.html")
CLAIM = ".dpcore-release"  # a file that says: this folder is being written
# Words of a fit that a release settles itself.
SETTLED = ("schema", "seed", "secret", "draws", "as_private", "delta_each", "on_grid", "mode")
DOCUMENTS = (
    "a release is of rows of a table, not of documents: another document in one place moves how "
    "others are rounded, and no bound on that is proved",
    "fit them with dpcore fit lda without a seed, whose proof takes floating point for exact",
)
FARTHEST, NARROWEST = 1e100, 1e-100  # limits and ranges whose squares are numbers


@dataclass(frozen=True)
class Release:
    """What left: the fit, the dossier, and where the files are."""

    fit: Fit
    dossier: dict[str, Any]
    folder: Path


class PaidError(DPCoreError):
    """Something went wrong after noise was drawn: what was drawn has been paid for."""


def release(
    model: str,
    table: PrivateTable,
    *,
    privacy: Privacy,
    ledger: str | Path,
    out: str | Path,
    n_components: int = 3,
    accept_delta: bool = False,
    chosen_on: str = "unsaid",
    synthetic_rows: int = 1000,
    clip: float | None = None,
    **options: Any,
) -> Release:
    """Fit ``model`` once with noise that nobody can draw again, pay, and write the files.

    privacy: an epsilon and a delta; counted by ``zcdp_tight`` or ``rdp``. ledger: a budget ledger
    of the same adjacency and unit. out: a folder that is not there yet or empty. accept_delta:
    allow a delta above one over the rows. chosen_on: what was looked at while settings were chosen,
    ``stand-in`` | ``real data`` | ``unsaid``. synthetic_rows: how many to draw from the fit and
    write. table, n_components, clip, options: as :func:`dpcore.fit` takes them.

    **Guarantee:** ``dossier["guarantee"]``, proved for the noise as it is drawn (whole numbers,
    exactly). The ledger pays and takes down all that leaves in one transaction. Before any noise is
    drawn nothing is spent; whatever goes wrong afterwards is paid for as well, since that something
    went wrong may tell of the rows.
    Raises InputError for choices that cannot be released and BudgetExceeded where the ledger does
    not allow it: nothing is spent, nothing written. Raises PaidError where a release was paid for
    and its files could not be written; :func:`rewrite` writes them.
    """
    schema = _demand_releasable(table, privacy, chosen_on, options)
    _demand_whole(model, privacy, n_components, options)
    rows = whole("synthetic_rows", synthetic_rows)
    book, who = BudgetLedger(ledger), _protected(privacy, schema)
    stated = Amount(float(privacy.epsilon or 0.0), float(privacy.delta or 0.0))
    _demand_room(book, privacy, stated, who)
    with _claimed(out) as folder:
        source = GridNoise()
        try:
            grid = fit_grid(
                model,
                table,
                privacy=(replace(privacy, epsilon=stated.epsilon * (1.0 - SPARED)),),
                n_components=n_components,
                clip=clip,
                on_grid=source,
                demand=None if accept_delta else partial(_demand_small, stated.delta),
                **options,
            )
            fit = grid.fit()
            _demand_proved(fit, who)
            synthetic = _as_csv(fit, rows)
            unpaid = dossier_of(fit, schema, book.state().terms, chosen_on, synthetic, rows)
            output = {"dossier": unpaid, "synthetic": synthetic}
            json.dumps(output, allow_nan=False)
        except Exception as problem:
            if not source.drawn:
                raise
            try:
                paid = _paid_for_nothing(book, privacy, stated, who, problem)
            except BudgetExceeded as full:  # others spent meanwhile: as where nothing had failed
                raise full from None
            raise paid from problem
        state = book.spend(fit.ledger, stated, who, output)
        number = len(state.lines)
        dossier = with_line(unpaid, state, number)
        _write(folder, dossier, synthetic, number)
    return Release(fit, dossier, folder)


def rewrite(ledger: str | Path, number: int, out: str | Path) -> dict[str, Any]:
    """Write an earlier release's files again, from what its ledger holds; nothing is spent."""
    book = BudgetLedger(ledger)
    output = book.output(number)
    if "dossier" not in output:
        raise InputError("line", f"{number} paid for a release that failed", "there are no files")
    with _claimed(out) as folder:
        dossier = with_line(output["dossier"], book.state(), number)
        _write(folder, dossier, output["synthetic"], number)
    return dossier


def _demand_releasable(
    table: PrivateTable, privacy: Privacy, chosen_on: str, options: dict[str, Any]
) -> Schema:
    """The public bounds; raises where choices alone forbid a release."""
    one_of("chosen_on", chosen_on, tuple(CHOSEN))
    for word in SETTLED:
        if word in options:
            raise InputError(word, "a release settles it itself", "leave it out")
    demand_loaded(table)
    if not isinstance(table, PrivateTable):
        raise InputError("model", *DOCUMENTS)
    if table.schema is None:
        raise InputError("schema", "no public bounds were given", "give a .toml with them")
    if table.schema.rehearsal:
        raise InputError(
            "schema", "the bounds were read from the data", "state limits you could print before"
        )
    if privacy.mode != "proved":
        raise InputError("mode", "what a paper claims is not enough to release", "choose proved")
    if privacy.epsilon is None or privacy.delta is None:
        raise InputError("epsilon", "a release needs a budget", "give epsilon and delta")
    one_of("accountant", privacy.accountant, COUNTED_BY)
    public = PublicFrame.of(table.schema)
    if abs(public.center).max() + public.half_range.max() > FARTHEST or (
        public.half_range.min() < NARROWEST
    ):
        raise InputError(
            "limits", "their squares are no numbers any more", "use a unit that is nearer to 1"
        )
    return table.schema


def _demand_whole(model: str, privacy: Privacy, components: int, options: dict[str, Any]) -> None:
    """Raise where a fit draws samples: nothing here counts whole numbers as noise on them. A number
    of rows to draw may be all there are, but only the rows tell.
    """
    how = recipe(model)
    if not isinstance(how, Minibatched):
        return
    settings = how.settings(components=components, **options)
    drawn = getattr(settings, "minibatch", None) is not None
    if drawn or any(
        event.sampling != "none"
        for event in how.events(how.sized(settings, None, privacy.adjacency))
    ):
        raise InputError(
            "rate",
            "each step draws a sample, and whole numbers as noise are counted on all rows alone",
            "take them all in each step (--rate 1), and few steps (--iterations 10)",
        )


def _protected(privacy: Privacy, schema: Schema) -> Protected:
    rows = max(privacy.rows_per_person, schema.rows_per_person)
    return Protected(privacy.adjacency, schema.unit, rows)


def _planned(privacy: Privacy, stated: Amount) -> Ledger:
    """One entry of all the noise that is planned; grids are rounded towards more."""
    one, epsilon = Event(DiscreteGaussian(1.0, None)), stated.epsilon * (1.0 - SPARED)
    noise = float(calibrate([one], epsilon, stated.delta, privacy.accountant))
    return Ledger((LedgerEntry("all", "discrete_gaussian", noise, 1.0, privacy.adjacency, None),))


def _demand_room(book: BudgetLedger, privacy: Privacy, stated: Amount, who: Protected) -> None:
    """Refuse before any row is touched where the ledger cannot pay, whatever the rows; so that
    what is drawn can be paid for, also where nothing leaves."""
    book.check(_planned(privacy, stated), stated, who)


def _paid_for_nothing(
    book: BudgetLedger, privacy: Privacy, stated: Amount, who: Protected, problem: Exception
) -> PaidError:
    """Pay for what was drawn although nothing of it leaves."""
    state = book.spend(_planned(privacy, stated), stated, who, {"failed": type(problem).__name__})
    return PaidError(
        f"The release failed after its noise was drawn ({type(problem).__name__}); nothing left, "
        f"and it is paid for as line {len(state.lines)}."
    )


def _demand_small(delta: float, rows: int) -> None:
    if delta * rows > 1.0:
        raise InputError(
            "delta",
            "it is above one over the number of rows: it would allow one row to be published",
            "give a smaller one, or accept it (--accept-delta)",
        )


def _demand_proved(fit: Fit, who: Protected) -> None:
    guarantee = fit.guarantee
    said = Protected(guarantee.adjacency, guarantee.unit, guarantee.rows_per_person)
    unsound = guarantee.epsilon is None or guarantee.rehearsal or not fit.ledger.proved
    if unsound or said != who:
        raise InputError("model", "nothing is proved for this fit", "choose a proved method")


@contextmanager
def _claimed(out: str | Path) -> Iterator[Path]:
    """A folder that is new or empty, for this release alone; as it was, unless files were written.

    Whatever could go wrong with it goes wrong here, before anything is spent.
    """
    folder = Path(out).absolute()
    new = not folder.exists()
    if folder.is_symlink() or (not new and (not folder.is_dir() or any(folder.iterdir()))):
        raise InputError("out", "it is not an empty folder", "name one that is, or a new one")
    try:
        if new:
            folder.mkdir()
        claim = folder / CLAIM
        claim.touch(exist_ok=False)
    except OSError as problem:
        raise InputError(
            "out", f"it cannot be written ({problem.strerror})", "name another folder"
        ) from None
    try:
        yield folder
    finally:
        claim.unlink(missing_ok=True)
        if new and not any(folder.iterdir()):
            folder.rmdir()


def _as_csv(fit: Fit, rows: int) -> str | None:
    """Six figures: rows are drawn from a fit, so more would say nothing. ``None`` for models that
    do not say what rows look like."""
    try:
        fit.sample(1)
    except InputError:
        return None
    return as_csv(fit.sample(rows), "%.6g")


def _write(folder: Path, dossier: dict[str, Any], synthetic: str | None, number: int) -> None:
    """The files, each whole; the dossier last, so that where it is the others are."""
    text = json.dumps(dossier, indent=2, sort_keys=True, allow_nan=False)
    content = dict(zip(FILES, (text, synthetic, report(json.loads(text))), strict=True))
    try:
        for name in reversed(FILES):
            words = content[name]
            if words is None:
                continue
            place = folder / f".{name}"
            place.write_bytes(words.encode())
            os.replace(place, folder / name)
    except OSError as problem:
        raise PaidError(
            f"The release is paid for as line {number}, but its files cannot be written "
            f"({problem.strerror}): dpcore ledger LEDGER --write {number} --out FOLDER does that."
        ) from problem
