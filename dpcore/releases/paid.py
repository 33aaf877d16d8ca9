"""Paying from a budget ledger: reserved before noise is drawn, written down once it is.

:func:`paid_fit` is for fits that stay in a program; :func:`dpcore.release` hands over files.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

from dpcore.accounting import covers
from dpcore.errors import BudgetExceeded, DPCoreError, InputError
from dpcore.fitting.api import fit_grid
from dpcore.fitting.recipe import recipe
from dpcore.fitting.result import Fit
from dpcore.options import demand_options
from dpcore.privacy import Event, Gaussian, Laplace, Ledger, Privacy
from dpcore.privacy.budget import demand_privacy
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases.filter import Amount, filter_of
from dpcore.releases.ledger import BudgetLedger, Protected, State
from dpcore.schema import Schema
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.table import PrivateTable, demand_loaded

SPARED = 1e-10  # share of the noise not counted on, so that rounding never costs more than reserved
UNUSED = 1e-7  # share of epsilon not used, so that a whole budget can be spent at once
SUMS = "dpcore ledger FILE --create --filter sums"
# Words of a fit that what pays for it settles itself.
SETTLED = ("schema", "seed", "secret", "draws", "as_private", "delta_each", "on_grid", "mode")


class PaidError(DPCoreError):
    """Something went wrong after noise was drawn: what was drawn has been paid for."""


class UnwrittenError(PaidError):
    """A release is on record in its ledger, as ``line``, but its files cannot be written, for a
    ``reason``."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(
            f"The release is paid for as line {line}, but its files cannot be written ({reason}); "
            f"write them with dpcore ledger LEDGER --write {line} --out FOLDER."
        )
        self.line, self.reason = line, reason


def paid_fit(
    model: str,
    table: PrivateTable | PrivateCorpus,
    *,
    privacy: Privacy,
    ledger: str | Path | BudgetLedger,
    **options: Any,
) -> Fit:
    """Fit once with noise that nobody can draw again, and pay from a budget ledger before it is
    drawn.

    privacy: an epsilon and a delta. ledger: of the same adjacency and unit; one of sums where steps
    read samples. model, table, options: as :func:`dpcore.fit` takes them, without a seed.

    **Guarantee:** ``fit.guarantee``; its cost stands in the ledger, with the parameters. Raises
    InputError for choices that cannot be fitted or paid for and BudgetExceeded where the ledger
    does not allow it: nothing is drawn or spent. Raises PaidError for a fit that failed once its
    noise may have been drawn: it is paid for.
    """
    book = ledger if isinstance(ledger, BudgetLedger) else BudgetLedger(ledger)
    demand_privacy(privacy)
    demand_loaded(table)
    demand_unsettled("a fit charged to a ledger", options)
    own = {name: options[name] for name in options if name != "clip"}
    demand_options(model, recipe(model).options, own)
    stated, who = _chargeable(privacy, table.schema)
    states = list[State]()

    def checked(events: tuple[Event, ...]) -> Callable[[], None]:
        """What pays for the releases, if they can be paid for: found out before a row is summed,
        and before a number of rows is refused, which would otherwise tell it for nothing."""
        noise = _planned(events, book, who)
        try:
            book.check(noise, stated, who)
        except BudgetExceeded as refusal:
            state = book.state()
            left, way = state.left_amount, filter_of(state.terms.filter)
            if way.name == "sums" or used > left.epsilon or stated.delta > left.delta:
                raise
            remedy = f"choose accountant {way.accountant}"
            if privacy.accountant == way.accountant or covers(way.accountant, events) is not None:
                remedy = f"give a smaller epsilon, or use a ledger of sums ({SUMS})"
            raise BudgetExceeded(
                f"budget: the noise that accountant {privacy.accountant} plans for this epsilon "
                f"costs this ledger more than is left; {remedy}. Nothing was spent or released."
            ) from refusal

        def pay() -> None:
            with unbroken():
                states.append(book.reserve(noise, stated, who))

        return pay

    used = stated.epsilon * (1.0 - UNUSED)
    try:
        request = replace(privacy, epsilon=used)
        fit = fit_grid(model, table, privacy=(request,), on_plan=checked, **options).fit()
        demand_proved(fit, who, stated)
        record = {
            "model": model,
            "parameters": fit.parameters.as_dict(),
            "guarantee": fit.guarantee.as_dict(),
        }
        fit_record = json.loads(json.dumps(record, default=float))
    except (Exception, KeyboardInterrupt) as problem:
        if not states:
            raise
        raise failed(book, len(states[0].lines), problem) from problem
    with unbroken(last=True):
        complete(book, len(states[0].lines), fit.ledger, {"fit": fit_record})
    return fit


def _chargeable(privacy: Privacy, schema: Schema | Vocabulary | None) -> tuple[Amount, Protected]:
    """What a fit's guarantee is to state, and whom it is to protect. Raises InputError for a fit
    that would have no proof."""
    if privacy.mode != "proved":
        raise InputError("mode", "a paper's claim cannot be charged to a ledger", "choose proved")
    if privacy.epsilon is None or privacy.delta is None:
        raise InputError(
            "epsilon", "a fit charged to a ledger needs a budget", "give epsilon and delta"
        )
    if schema is None or schema.rehearsal:
        raise InputError(
            "schema",
            "its bounds or words were not stated beforehand, so the fit would be a rehearsal, "
            "which cannot be charged to a ledger",
            "state bounds or words chosen without seeing the data, or leave the ledger out",
        )
    return Amount(float(privacy.epsilon), float(privacy.delta)), protected(privacy, schema)


@contextmanager
def unbroken(*, last: bool = False) -> Iterator[None]:
    """Ctrl-C comes after what is done here, not in the middle: between what a ledger has on disk
    and what this process knows of it, a release would be paid for and nobody told. last: with this
    the release ends, so that Ctrl-C ends nothing any more."""
    handler = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(handler):  # nothing interrupts it
        yield
        return
    came: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *words: came.append(words))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if came:
        with suppress(KeyboardInterrupt) if last else nullcontext():
            handler(*came[0])


def _planned(events: tuple[Event, ...], book: BudgetLedger, who: Protected) -> Ledger:
    """The releases of a fit as lines of a ledger, with a hair less noise.

    Sums count what is stated alone. Elsewhere, a release on a sample has no cost.
    """
    entries = []
    for number, event in enumerate(events, start=1):
        match event.mechanism:
            case Gaussian(noise_multiplier=noise):
                law, l2 = "gaussian", None
            case Laplace(scale=noise, l2_ratio=ratio):
                law, l2 = "laplace", float(ratio)
            case _:
                law = ""
        if not law or event.sampling != "none":
            if book.state().terms.filter == "sums":
                return Ledger()
            raise InputError(
                "ledger",
                "it adds up costs that are not defined here for the subsampled releases of this "
                "fit",
                f"use a ledger of sums ({SUMS})",
            )
        scale = float(noise) * (1.0 - SPARED)
        entries.append(
            LedgerEntry(
                f"release {number}", law, scale, 1.0, who.adjacency, None, l2, int(event.count)
            )
        )
    return Ledger(tuple(entries))


def demand_unsettled(what: str, options: Mapping[str, Any]) -> None:
    """Raises InputError for a word that is no open choice of what is paid for."""
    for word in SETTLED:
        if word in options:
            raise InputError(word, f"{what} sets this itself", "leave it out")


def protected(privacy: Privacy, schema: Schema | Vocabulary) -> Protected:
    """Whom a fit of a table protects: adjacency, unit, and the larger of both numbers of rows per
    unit.
    """
    rows = max(privacy.rows_per_person, schema.rows_per_person)
    return Protected(privacy.adjacency, schema.unit, rows)


def failed(book: BudgetLedger, number: int, problem: BaseException) -> PaidError:
    """What is said, and written down, of a release that failed once it was paid for."""
    kind = type(problem).__name__
    with suppress(DPCoreError):  # that it is paid for is on record; why it failed is for readers
        book.complete(number, Ledger(), {"failed": kind})
    return PaidError(
        f"The release failed after its noise was drawn ({kind}); nothing was released, but it is "
        f"paid for as line {number}."
    )


def complete(book: BudgetLedger, number: int, drawn: Ledger, output: dict[str, Any]) -> None:
    """Records what leaves on behalf of a line that has paid.

    drawn: the ledger of the noise that was drawn; output: its record, JSON-ready. Raises PaidError,
    which names the line, where the record cannot be written: then nothing has left, and the budget
    is spent.
    """
    try:
        book.complete(number, drawn, output)
    except DPCoreError as refusal:
        raise PaidError(
            f"The release is paid for as line {number}, but nothing was released: its output "
            f"cannot be recorded ({refusal})"
        ) from refusal


def demand_proved(fit: Fit, who: Protected, stated: Amount) -> None:
    """Raises InputError for a fit that has no proof of what was stated when it was paid for, is a
    rehearsal, or protects somebody else than ``who``.
    """
    guarantee = fit.guarantee
    protected = Protected(guarantee.adjacency, guarantee.unit, guarantee.rows_per_person)
    proved = guarantee.epsilon is not None and guarantee.epsilon <= stated.epsilon
    sound = proved and guarantee.delta == stated.delta and fit.ledger.proved
    if not sound or guarantee.rehearsal or protected != who:
        raise InputError("model", "nothing is proved for this fit", "choose a proved method")
