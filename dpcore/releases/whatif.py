"""What a ledger's releases would come to if they were counted otherwise; none of it admits one.

A release is admitted by the ledger's filter alone. Beside it stand the sums of what each release
stated, zCDP with the tight conversion, and Gaussian DP: independent normal noise adds up to one mu
(Dong, Roth, Su 2022, Corollary 3.3), as if every grid were fine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpcore.privacy import Ledger
from dpcore.releases.filter import PER_RHO, Amount, filter_of, total
from dpcore.releases.ledger import State, sound


@dataclass(frozen=True)
class Counted:
    """One composition method. spent: all releases so far; left: one more release; both at the
    limit's delta (sums: at their own), ``None`` where this way knows no cost. decides: the filter
    itself.
    """

    name: str
    title: str
    spent: float | None
    left: float | None
    decides: bool


def counted_otherwise(state: State) -> tuple[Counted, ...]:
    """Spent and left by every composition method, from the lines alone; all but one are what-if."""
    with sound():
        rows = {"sums": _sums(state), **{name: _squares(state, name) for name in ("zcdp", "gdp")}}
    if state.terms.filter in rows:
        rows[state.terms.filter] = (state.spent_amount.epsilon, state.left_amount.epsilon)
    return tuple(
        Counted(name, filter_of(name).title, *amounts, decides=name == state.terms.filter)
        for name, amounts in rows.items()
    )


def _sums(state: State) -> tuple[float | None, float | None]:
    way, limit = filter_of("sums"), state.terms.limit
    stated = [Amount(line.body["epsilon"], line.body["delta"]) for line in state.releases]
    spent = total([way.cost(Ledger(), amount) for amount in stated], 2)
    rest = [max(0, b - s) for b, s in zip(way.budget(limit), spent, strict=True)]
    left = way.amount((rest[0], rest[1]), limit)
    return way.amount(spent, limit).epsilon, left.epsilon if left.delta > 0.0 else 0.0


def _squares(state: State, name: str) -> tuple[float | None, float | None]:
    multipliers = _multipliers(state)
    if multipliers is None:
        return None, None
    way, limit = filter_of(name), state.terms.limit
    rho = sum(Fraction(1) / (2 * Fraction(z) ** 2) for z in multipliers)
    units = math.ceil(rho * PER_RHO)
    rest = max(0, way.budget(limit)[0] - units)
    return way.amount((units,), limit).epsilon, way.amount((rest,), limit).epsilon


def _multipliers(state: State) -> list[float] | None:
    """Noise over sensitivity of everything that left; ``None`` where it is not all normal noise on
    all rows."""
    events = [event for line in state.releases for event in line.body["events"]]
    normal = ("gaussian", "discrete_gaussian")
    if any(e["mechanism"] not in normal or e["sampling"] != "none" for e in events):
        return None
    return [float(e["noise_multiplier"]) for e in events for _ in range(int(e["count"]))]
