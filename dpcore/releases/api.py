"""``release``: fit once with fresh noise, pay for it, and hand over what may leave."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.accounting import calibrate
from dpcore.checks import one_of, path_of, whole
from dpcore.errors import InputError
from dpcore.fitting.api import fit_grid
from dpcore.fitting.recipe import recipe
from dpcore.fitting.result import Fit
from dpcore.fitting.result_table import MOST_DIGITS, common_digits
from dpcore.options import demand_options
from dpcore.privacy import DiscreteGaussian, Event, Gaussian, Ledger, Privacy
from dpcore.privacy.budget import demand_privacy
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases.beside import DOSSIER, FILES, REPORT, ROWS, sealed, text_of
from dpcore.releases.dossier import CHOSEN, dossier_of, line_of
from dpcore.releases.filter import Amount, filter_of
from dpcore.releases.ledger import BudgetLedger, State, TamperedError, sound
from dpcore.releases.paid import (
    SPARED,
    UNUSED,
    UnwrittenError,
    complete,
    demand_proved,
    demand_unsettled,
    failed,
    protected,
    unbroken,
)
from dpcore.releases.report import report
from dpcore.releases.sheet import as_csv
from dpcore.schema import Schema, with_dates
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.noise import GridNoise
from dpcore.wall.session import OTHER_NOISE
from dpcore.wall.table import PrivateTable, demand_loaded

if TYPE_CHECKING:
    from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary

COUNTED_BY = ("exact", "zcdp_tight", "rdp")
STEPS = GridNoise.steps  # of the grid, in one standard deviation of the noise
CLAIM = ".dpcore-release"  # a file that says which line this folder is being written for
LOCAL = (
    "in the local model each person adds noise, but a release adds it once, to the sum",
    "use trust central, or run dpcore fit with this trust and without a seed",
)
CELL = 32  # bytes of a synthetic cell, generously
LONGEST = 1000  # characters of what is said for the report
FARTHEST, NARROWEST = 1e100, 1e-100  # limits and ranges whose squares are numbers


@dataclass(frozen=True)
class Release:
    """What left: the fit, the dossier, and where the files are."""

    fit: Fit
    dossier: dict[str, Any]
    folder: Path


def release(
    model: str,
    table: PrivateTable | PrivateCorpus,
    *,
    privacy: Privacy,
    ledger: str | Path | BudgetLedger,
    out: str | Path,
    n_components: int | None = None,
    accept_delta: bool = False,
    chosen_on: str = "unsaid",
    synthetic_rows: int = 1000,
    file: str = "",
    controller: str = "",
    purpose: str = "",
    clip: float | None = None,
    **options: Any,
) -> Release:
    """Fit ``model`` once with noise that nobody can draw again, pay, and write the files.

    privacy: an epsilon and a delta; the accountant is ``exact``, ``zcdp_tight`` or ``rdp``, and the
    default of :class:`dpcore.Privacy` stands for the one that suits the ledger, ``exact`` but in a
    ledger of zCDP. ledger: a budget ledger of the same adjacency and unit. out: a folder that is
    not there yet or empty. accept_delta: allow a delta above one over the rows. chosen_on: what was
    looked at while settings were chosen, ``stand-in`` | ``real data`` | ``unsaid``. synthetic_rows:
    how many to draw from the fit and write. file, controller, purpose: what the report calls the
    data, who answers for them, and what the release is for. table, n_components, clip, options: as
    :func:`dpcore.fit` takes them.

    **Guarantee:** ``dossier["guarantee"]``, proved for the noise as it is drawn (whole numbers,
    exactly). The ledger pays before the first number is drawn, and takes down all that leaves in
    one transaction. Whatever goes wrong once noise may be drawn is paid for, since that something
    went wrong may tell of the rows; so is a release whose process dies.
    Raises InputError for choices that cannot be released and BudgetExceeded where the ledger does
    not allow it, also where another release was quicker: nothing is drawn, spent or written. Raises
    PaidError where a release was paid for and failed, or its files could not be written;
    :func:`rewrite` writes them.
    """
    demand_privacy(privacy)
    public = _demand_releasable(table, privacy, chosen_on, options)
    schema = public if isinstance(public, Schema) else public.table
    demand_whole(model, privacy, {"n_components": n_components, **options})
    rows = whole("synthetic_rows", synthetic_rows)
    texts = {"file": file, "controller": controller, "purpose": purpose}
    statements: dict[str, Any] = {name: _one_line(name, text) for name, text in texts.items()}
    _demand_unicode({**statements, "schema": schema.to_toml()})
    book = ledger if isinstance(ledger, BudgetLedger) else BudgetLedger(ledger)
    privacy = suited(privacy, book)
    who = protected(privacy, schema)
    stated = Amount(float(privacy.epsilon or 0.0), float(privacy.delta or 0.0))
    noise = planned_noise(privacy, stated)
    size = CELL * rows * len(schema.columns)
    book.check(noise, stated, who, size)  # before any row is touched
    with _claimed(out) as folder:
        states: list[State] = []

        def pay() -> None:
            with unbroken():
                states.append(book.reserve(noise, stated, who))
            _note(folder, states[0])

        try:
            grid = fit_grid(
                model,
                table,
                privacy=(replace(privacy, epsilon=stated.epsilon * (1.0 - UNUSED)),),
                n_components=n_components,
                clip=clip,
                on_grid=GridNoise(pay),
                demand=None if accept_delta else partial(_demand_small, stated.delta, public),
                **options,
            )
            fit = grid.fit()
            demand_proved(fit, who, stated)
            synthetic = _as_csv(fit, rows, schema)
            statements["rows"] = grid.rows
            if grid.limited:
                statements["persons"] = grid.persons
            unsealed = dossier_of(fit, schema, states[0], chosen_on, synthetic, rows, statements)
            dossier, files = sealed(unsealed, synthetic)
        except (Exception, KeyboardInterrupt) as problem:
            if not states:
                raise
            raise failed(book, len(states[0].lines), problem) from problem
        number = len(states[0].lines)
        with unbroken(last=True):
            complete(book, number, fit.ledger, {"dossier": dossier, "files": files})
            _write(folder, {**files, DOSSIER: text_of(dossier)}, number)
    return Release(fit, dossier, folder)


def rewrite(ledger: str | Path, number: int, out: str | Path) -> dict[str, Any]:
    """Write an earlier release's files again, from what its ledger holds; nothing is spent.

    out: as for :func:`release`, or the folder in which that very release was when its process died.

    Raises InputError for a line that is no finished release, TamperedError for a changed ledger.
    """
    dossier, files = recorded(ledger, number)
    with _claimed(out, _mark(BudgetLedger(ledger).state(), number)) as folder:
        _write(folder, files, number)
    return dossier


def recorded(ledger: str | Path, number: int) -> tuple[dict[str, Any], dict[str, str]]:
    """The dossier of an earlier release and the texts of its files, as its ledger holds them.

    Raises InputError for a line that is no finished release, TamperedError for a changed ledger.
    """
    book = BudgetLedger(ledger)
    output, state = book.output(number), book.state()
    if number in state.open:
        raise InputError(
            "line",
            f"the release of line {number} has not finished and has no files (its cost counts as "
            "spent, even if its process died)",
            "wait until it has finished, or name another line",
        )
    if "dossier" not in output:
        what = "fit in a program, which" if "fit" in output else "release that failed and"
        raise InputError("line", f"{number} paid for a {what} has no files", "name another line")
    with sound():
        dossier, files = _files_of(output, state, number)
        if not {REPORT} <= files.keys() <= {REPORT, ROWS}:
            raise TamperedError("an output has files that no release writes")
        texts = {**files, DOSSIER: text_of(dossier)}
        _demand_unicode(texts)
    return dossier, texts


def _files_of(
    output: dict[str, Any], state: State, number: int
) -> tuple[dict[str, Any], dict[str, str]]:
    """A dossier and the texts of its files, as a ledger holds them; an older one held the rows
    alone, and a dossier without its line."""
    dossier = output["dossier"]
    if "files" in output:
        return dossier, output["files"]
    dossier = {**dossier, "line": line_of(state, number)}
    rows = output["synthetic"]
    files = {} if rows is None else {ROWS: rows}
    return dossier, {**files, REPORT: report(json.loads(text_of(dossier)))}


def _demand_releasable(
    table: PrivateTable | PrivateCorpus, privacy: Privacy, chosen_on: str, options: dict[str, Any]
) -> Schema | Vocabulary:
    """The public bounds, or words; raises where choices alone forbid a release."""
    one_of("chosen_on", chosen_on, tuple(CHOSEN))
    demand_unsettled("a release", options)
    demand_loaded(table)
    if table.schema is None:
        raise InputError("schema", "no public bounds were given", "give a .toml file with them")
    if not isinstance(table, PrivateTable) and table.schema.rehearsal:
        raise InputError(
            "vocabulary",
            "the words were read from the documents",
            "give a list of words that you could print before seeing the documents",
        )
    if table.schema.rehearsal:
        raise InputError(
            "schema",
            "the bounds were read from the data",
            "state limits that you could print before seeing the data",
        )
    if privacy.mode != "proved":
        raise InputError("mode", "a paper's claim is not sufficient for a release", "choose proved")
    if privacy.epsilon is None or privacy.delta is None:
        raise InputError("epsilon", "a release needs a budget", "give epsilon and delta")
    if options.get("trust", "central") != "central":
        raise InputError("trust", *LOCAL)
    one_of("accountant", privacy.accountant, COUNTED_BY)
    if not isinstance(table, PrivateTable):
        return table.schema
    public = PublicFrame.of(table.schema)
    if abs(public.center).max() + public.half_range.max() > FARTHEST or (
        public.half_range.min() < NARROWEST
    ):
        raise InputError(
            "limits",
            "their squares are too large or too small to compute with",
            "use a unit with values near 1",
        )
    return table.schema


def _one_line(name: str, text: object) -> str:
    """A text for the report. Raises InputError for one that is none, or a whole page."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise InputError(
            name, f"it is not a text of at most {LONGEST} characters", "use a sentence or two"
        )
    return " ".join(text.split())


def _demand_unicode(texts: Mapping[str, str]) -> None:
    """Raise InputError for what no file in UTF-8 can hold, before it is paid for: a file name in
    another encoding reaches Python as halves of surrogate pairs."""
    for name, text in texts.items():
        try:
            text.encode()
        except UnicodeEncodeError as problem:
            raise InputError(
                name,
                f"it contains {text[problem.start]!a}, which cannot be written in UTF-8",
                "leave it out, or rename what it names",
            ) from None


def demand_whole(model: str, privacy: Privacy, options: dict[str, Any]) -> None:
    """Raise InputError where a fit draws samples, or plans other noise: nothing here counts that. A
    number of rows to draw may be all there are, but only the rows tell.
    """
    how = recipe(model)
    demand_options(model, how.options, options)
    own = {name: value for name, value in options.items() if name != "n_components"}
    settings = how.settings(components=options.get("n_components"), **own)
    drawn = how.sampled and getattr(settings, "minibatch", None) is not None
    if not drawn:
        settings = how.sized(settings, None, privacy.adjacency)
    events = () if drawn else how.events(settings)
    if drawn or any(event.sampling != "none" for event in events):
        raise InputError(
            "rate",
            "each step draws a sample, but releases are accounted for only without subsampling",
            "use all rows in each step (--rate 1) and few steps (--iterations 10)",
        )
    if not all(isinstance(event.mechanism, Gaussian) for event in events):
        raise InputError("algorithm" if "algorithm" in options else "method", *OTHER_NOISE)


def suited(privacy: Privacy, book: BudgetLedger) -> Privacy:
    """The request, in which the default accountant stands for the one that suits the ledger."""
    if privacy.accountant != Privacy.accountant:
        return privacy
    return replace(privacy, accountant=filter_of(book.state().terms.filter).accountant)


def planned_noise(privacy: Privacy, stated: Amount) -> Ledger:
    """One entry of all the noise that a release of ``stated`` plans, and a hair less: sums of its
    parts are rounded, and where delta is far above epsilon, noise hardly depends on epsilon. What
    it costs is reserved before anything is drawn."""
    event, epsilon = Event(DiscreteGaussian(1.0, None, STEPS)), stated.epsilon * (1.0 - UNUSED / 2)
    noise = float(calibrate([event], epsilon, stated.delta, privacy.accountant)) * (1.0 - SPARED)
    law, adjacency = "discrete_gaussian", privacy.adjacency
    return Ledger((LedgerEntry("all", law, noise, 1.0, adjacency, None, noise_steps=STEPS),))


def _demand_small(delta: float, public: Schema | Vocabulary, rows: int) -> None:
    if delta * rows > 1.0:
        things, protected = f"{public.thing}s", public.thing
        if public.person is not None:
            things, protected = "different ids", f"{public.unit}'s rows"
        raise InputError(
            "delta",
            f"it is above 1 divided by the number of {things}, which would allow one {protected} "
            "to be published",
            "give a smaller delta, or accept this one with --accept-delta",
        )


@contextmanager
def _claimed(out: str | Path, mark: dict[str, Any] | None = None) -> Iterator[Path]:
    """A folder that is new or empty, for this release alone; as it was, unless all files were
    written.

    mark: of the line whose files are to be written again: a folder that was left when that release
    died is taken over. Whatever could go wrong with a folder goes wrong here, before anything is
    spent.
    """
    folder = path_of("out", out).absolute()
    new = not folder.exists()
    again = not new and _demand_free(folder, mark)
    claim = folder / CLAIM
    try:
        if new:
            folder.mkdir()
        claim.touch(exist_ok=again)
    except OSError as problem:
        raise InputError(
            "out", f"it cannot be written ({problem.strerror})", "name another folder"
        ) from None
    ours = [CLAIM, *FILES, *map(_unfinished, FILES)]
    try:
        yield folder
        ours = [CLAIM]
    finally:
        with suppress(OSError):  # the folder or its disk may be gone: the ledger is what counts
            for name in ours:
                (folder / name).unlink(missing_ok=True)
            if new and not any(folder.iterdir()):
                folder.rmdir()


def _demand_free(folder: Path, mark: dict[str, Any] | None) -> bool:
    """Whether a folder is taken over from a release that died. Raises InputError for one that is
    neither empty nor that."""
    if folder.is_symlink() or not folder.is_dir():
        raise InputError("out", "it is not an empty folder", "name an empty or new folder")
    names = {path.name for path in folder.iterdir()}
    if not names:
        return False
    claim = _marked(folder)
    if claim and claim == mark and names <= {CLAIM, *FILES, *map(_unfinished, FILES)}:
        return True
    if CLAIM not in names:
        raise InputError("out", "it is not an empty folder", "name an empty or new folder")
    if not claim:
        raise InputError(
            "out",
            "it is not an empty folder: a release started there and did not finish",
            "name a new folder, and check with dpcore ledger LEDGER whether that release was paid "
            "for",
        )
    raise InputError(
        "out",
        f"it is not an empty folder: the release of line {claim['line']} is being written there, "
        "or its process died",
        f"see dpcore ledger LEDGER, write the files again with --write {claim['line']} --out "
        "FOLDER if they are on record, or name another folder",
    )


def _note(folder: Path, state: State) -> None:
    """Write down for which line a folder is, so that it can be told if this process dies."""
    with suppress(OSError):  # it has paid: the ledger is what counts
        (folder / CLAIM).write_text(json.dumps(_mark(state, len(state.lines))), encoding="utf-8")


def _mark(state: State, number: int) -> dict[str, Any]:
    return {"ledger": state.terms.name, "line": number}


def _marked(folder: Path) -> dict[str, Any]:
    """The mark that a release has left in a folder; empty where there is none to be read."""
    try:
        claim = json.loads((folder / CLAIM).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return claim if isinstance(claim, dict) and claim.keys() == {"ledger", "line"} else {}


def _unfinished(name: str) -> str:
    """A file's name while it is being written."""
    return f".{name}"


def _as_csv(fit: Fit, rows: int, schema: Schema) -> str | None:
    """Six figures beyond those that a column's limits have in common: rows are drawn from a fit, so
    more would say nothing. ``None`` for models that do not say what rows look like."""
    try:
        fit.sample(1)
    except InputError:
        return None
    written = with_dates(fit.sample(rows, schema=schema), schema)
    limits = [(column.lower, column.upper) for column in schema.numeric_columns()]
    targets = (c for c in schema.columns if c.role == "target" and c.name in written)
    limits += [(target.low, target.high) for target in targets]
    figures = max((6 + common_digits(max(map(abs, ends)), ends) for ends in limits), default=6)
    return as_csv(written, f"%.{min(figures, MOST_DIGITS)}g")


def _write(folder: Path, texts: dict[str, str], number: int) -> None:
    """The files, each whole; the dossier last, so that where it is the others are."""
    try:
        for name in sorted(texts, key=FILES.index, reverse=True):
            place = folder / _unfinished(name)
            place.write_bytes(texts[name].encode())
            os.replace(place, folder / name)
    except OSError as problem:
        raise UnwrittenError(number, str(problem.strerror)) from problem
