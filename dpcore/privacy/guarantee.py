"""Claim, proof, evidence: what the paper says, what can be proved, what an attack has shown.

A claim comes from a paper. A proof is an upper bound that can be recomputed from the ledger. An
attack gives a lower bound: it can break a promise, never prove one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from dpcore.privacy.adjacency import protects

NOISELESS = "no noise was added"
BIG = 1e7  # from here on a number is written with an exponent
LEAST_DECIMAL = 1e-3  # below it a delta is


@dataclass(frozen=True)
class Claim:
    """What a paper states for the method. holds: whether it is proved here; a claim that is not may
    still be true, as a proof is an upper bound."""

    epsilon: float
    delta: float
    source: str
    holds: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proof:
    """An upper bound on epsilon for the mechanism as it ran, replayable from ledger and delta.

    ``accountant`` computed ``epsilon``; ``kind`` is ``exact`` or ``upper bound``. ``ledger``: the
    fingerprint of the ledger it was computed from, where it belongs to one.
    """

    epsilon: float
    delta: float
    accountant: str
    kind: str
    source: str
    ledger: str | None = None


@dataclass(frozen=True)
class Evidence:
    """A lower bound on epsilon, measured by attacking, with its confidence."""

    lower: float
    delta: float
    confidence: float
    runs: int
    attack: str


@dataclass(frozen=True)
class Guarantee:
    """Everything that stands beside an epsilon.

    ``epsilon`` is the proved upper bound, or ``None`` where nothing is proved. ``rehearsal`` says
    that the noise can be drawn again (a seed, or no noise), so the fit is not a release. delta,
    adjacency, unit, rows_per_person: for whom it holds. claim, proof, evidence: what a paper says,
    what follows from the noise, how far an attack got. assumptions: what the proof takes as given.
    notes: what a careful reader should know besides (a delta above 1/n, say). thing: what a unit
    has, rows of a table or documents. limited: an id column says whose a row is, and no more than
    rows_per_person of each unit's rows count.
    """

    epsilon: float | None
    delta: float | None
    adjacency: str
    unit: str
    rows_per_person: int
    claim: Claim | None
    proof: Proof | None
    assumptions: tuple[str, ...]
    rehearsal: bool
    notes: tuple[str, ...] = ()
    evidence: Evidence | None = None
    thing: str = "row"
    limited: bool = False

    @property
    def protects(self) -> str:
        """The protected change in plain words."""
        terms = (self.adjacency, self.unit, self.rows_per_person, self.thing)
        return protects(*terms, limited=self.limited)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; ``epsilon`` is the proved bound or null; the paper's is under ``claim``."""
        record = asdict(self)
        if not self.limited:
            del record["limited"]  # a guarantee of rows reads as it always did
        record["protects"] = self.protects
        record["sentence"] = self.sentence()
        return record

    def sentence(self, form: Callable[[float], str] | None = None) -> str:
        """The guarantee in one line: epsilon, delta, who is protected, proved or not.

        form: how delta is written, by default :func:`delta_text`; a screen takes
        :func:`show_delta`.

        >>> g = Guarantee(1.0, 1e-5, "replace_one", "person", 1, None,
        ...               Proof(1.0, 1e-5, "exact", "exact", ""), (), rehearsal=True)
        >>> g.sentence().split(". ")[0]
        "epsilon = 1.00, delta = 1e-5, replacing one person's row"
        """
        who = self.protects
        end = " Rehearsal: not a release." if self.rehearsal else ""
        if self.epsilon is not None and self.delta is not None:
            delta = (form or delta_text)(self.delta)
            return f"epsilon = {show_bound(self.epsilon)}, delta = {delta}, {who}. Proved.{end}"
        if NOISELESS in self.assumptions:
            return f"No noise was added: this is an exact fit to the {self.thing}s, not a release."
        return f"No epsilon is proved for {who}.{end}"


def show_bound(number: float) -> str:
    """An upper bound as people read it: what is cut off is rounded up, so a bound stays one.

    >>> show_bound(1.0049), show_bound(0.29249), show_bound(1e-5), show_bound(12.31)
    ('1.01', '0.293', '0.00001', '12.4')
    >>> show_bound(5e-324)
    '4.94e-324'
    """
    if not (0.0 < number < math.inf):
        return show(number)
    step = _step(number)
    return show(math.ceil(number / step * (1.0 - 1e-12)) * step)  # less is rounding of the solver


def show_delta(delta: float, *, down: bool = False) -> str:
    """A delta with its power of ten, for screens; what is cut off is rounded up, as in
    :func:`show_bound`, or down where it is what is left (:func:`show_most`).

    >>> show_delta(1e-5), show_delta(3e-12), show_delta(0.01), show_delta(1.2341e-7)
    ('10⁻⁵', '3·10⁻¹²', '10⁻²', '1.24·10⁻⁷')
    >>> show_delta(0.0), show_delta(0.2), show_delta(9.999e-6)
    ('0.0', '0.200', '10⁻⁵')
    """
    if not 0.0 < delta < 0.1:
        return show_most(delta) if down else show_bound(delta)
    digits, power = _in_tens(delta, down)
    raised = str(-power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10⁻{raised}" if digits == "1" else f"{digits}·10⁻{raised}"


def delta_text(delta: float, *, down: bool = False) -> str:
    """A delta as plain text and the command line have it, rounded as in :func:`show_delta`.

    >>> delta_text(1e-5), delta_text(3e-12), delta_text(0.01), delta_text(1.2341e-7)
    ('1e-5', '3e-12', '0.01', '1.24e-7')
    >>> delta_text(1.2349e-7, down=True), delta_text(1e-5, down=True), delta_text(0.0)
    ('1.23e-7', '1e-5', '0.0')
    """
    if not 0.0 < delta < LEAST_DECIMAL:
        return show_most(delta) if down else show_bound(delta)
    digits, power = _in_tens(delta, down)
    return f"{digits}e{power}"


def _in_tens(number: float, down: bool) -> tuple[str, int]:
    """Digits and power of ten of a number below 1, rounded up or down."""
    step = _step(number)
    steps = number / step
    whole = math.floor(steps * (1.0 + 1e-8)) if down else math.ceil(steps * (1.0 - 1e-12))
    digits, power = f"{whole * step:.2e}".split("e")
    return digits.rstrip("0").rstrip("."), int(power)


def show_most(number: float) -> str:
    """What is left, as people read it: what is cut off is rounded down, so that much is there.

    >>> show_most(1.6657), show_most(1.9999999989), show_most(0.0)
    ('1.66', '2.00', '0.0')
    """
    if not (0.0 < number < math.inf):
        return show(number)
    step = _step(number)
    return show(math.floor(number / step * (1.0 + 1e-8)) * step)


def _step(number: float) -> float:
    """What the last figure that :func:`show` writes is worth."""
    last = math.floor(math.log10(number)) - 2
    return 10.0**last if number >= BIG else max(10.0 ** min(0, last), 5e-324)


def show(number: float) -> str:
    """A number as people read it: three figures, no exponent unless 20 zeros would not say it.

    >>> show(1.0), show(0.0372), show(1e-5), show(12.345)
    ('1.00', '0.0372', '0.00001', '12.3')
    >>> show(1e-15), show(1.23e-13), show(1e-300)
    ('0.000000000000001', '0.000000000000123', '1e-300')
    >>> show(123456.7), show(2.5e141)
    ('123,457', '2.5e+141')
    """
    if number == 0.0 or number != number or number in (float("inf"), float("-inf")):
        return str(number)
    if abs(number) >= BIG:
        return f"{number:.3g}"
    if abs(number) >= 100.0:
        return f"{number:,.0f}"
    if abs(number) < 1e-20:
        return f"{number:.3g}"
    if abs(number) < 0.01:
        return format(Decimal(f"{number:.2e}"), "f").rstrip("0")
    return f"{number:.3g}" if abs(number) < 0.1 else f"{number:#.3g}".rstrip(".")
