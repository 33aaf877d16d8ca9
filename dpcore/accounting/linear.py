"""Linear composition: epsilons add, deltas add.

Dwork, Roth 2014, Theorem 3.16. Direction: an upper bound, tight for pure epsilon alone. A Gaussian
release enters by its exact pair (Balle, Wang 2018, Theorem 8) at its own share of delta.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.accounting.base import Array, Events, least_delta, real
from dpcore.accounting.pairs import (
    check_affordable,
    check_pairs,
    fixed_deltas,
    pair_assumptions,
    pairs,
)
from dpcore.privacy.events import Real


@dataclass(frozen=True)
class LinearAccountant:
    """Sum of epsilons at a sum of deltas.

    Raises InputError naming ``delta_each`` when the shares of single releases exceed delta.
    """

    name: str = "linear"
    title: str = "Basic"
    kind: str = "upper bound"
    source: str = "Dwork, Roth 2014, Theorem 3.16; Balle, Wang 2018, Theorem 8"
    assumptions: tuple[str, ...] = ("every Gaussian release has its own share of delta",)

    def assumptions_of(self, events: Events) -> tuple[str, ...]:
        return pair_assumptions(events, self.assumptions)

    def check(self, events: Events) -> None:
        check_pairs(events, "linear composition")

    def epsilon(self, events: Events, delta: Real) -> Real:
        self.check(events)
        check_affordable(events, delta, slack_needed=False)
        return real(pairs(events, delta).linear)

    def delta(self, events: Events, epsilon: Real) -> Real:
        self.check(events)
        return least_delta(lambda d: _epsilon(events, d), epsilon, fixed_deltas(events))


def _epsilon(events: Events, delta: Array) -> Array:
    found = pairs(events, delta)
    return np.where(found.slack >= -1e-12 * delta, found.linear, np.inf)


LINEAR = LinearAccountant()
