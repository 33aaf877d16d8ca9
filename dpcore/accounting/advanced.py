"""Advanced composition: epsilons grow with the square root of the number of releases.

Dwork, Roth 2014, Theorem 3.20, for unequal epsilons: epsilon = sqrt(2 ln(1/delta') sum eps_i^2) +
sum eps_i (e^eps_i - 1) with delta' = delta - sum delta_i; equal epsilons give the theorem as
printed. Direction: an upper bound. For few releases it is larger than the plain sum, and no minimum
is taken: the crossover is worth seeing. A Gaussian release enters by its exact pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.accounting.base import Array, Events, least_delta, real
from dpcore.accounting.pairs import (
    Pairs,
    check_affordable,
    check_pairs,
    fixed_deltas,
    pair_assumptions,
    pairs,
)
from dpcore.privacy.events import Real


@dataclass(frozen=True)
class AdvancedAccountant:
    """Theorem 3.20; part of delta is kept back for the composition itself.

    Raises InputError naming ``delta_each`` when the single releases leave nothing of delta.
    """

    name: str = "advanced"
    title: str = "Advanced"
    kind: str = "upper bound"
    source: str = "Dwork, Roth 2014, Theorem 3.20; Balle, Wang 2018, Theorem 8"
    assumptions: tuple[str, ...] = (
        "every Gaussian release has its own share of delta",
        "what is left of delta pays for the composition",
    )

    def assumptions_of(self, events: Events) -> tuple[str, ...]:
        return pair_assumptions(events, self.assumptions)

    def check(self, events: Events) -> None:
        check_pairs(events, "advanced composition")

    def epsilon(self, events: Events, delta: Real) -> Real:
        self.check(events)
        if float(np.min(np.asarray(delta))) > 0.0:
            check_affordable(events, delta, slack_needed=True)
        return real(_epsilon(pairs(events, delta)))

    def delta(self, events: Events, epsilon: Real) -> Real:
        self.check(events)
        return least_delta(lambda d: _epsilon(pairs(events, d)), epsilon, fixed_deltas(events))


def _epsilon(found: Pairs) -> Array:
    """The theorem; infinite where nothing of delta is left, nothing where nothing was released."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        drift = np.tensordot(found.counts, found.epsilons * np.expm1(found.epsilons), axes=1)
        squares = np.tensordot(found.counts, np.square(found.epsilons), axes=1)
        root = np.sqrt(-2.0 * np.log(np.maximum(found.slack, 0.0)) * squares)
    return np.asarray(np.where(squares > 0.0, root + drift, 0.0))


ADVANCED = AdvancedAccountant()
