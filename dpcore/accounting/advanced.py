"""Advanced composition: epsilons grow with the square root of the number of releases.

Dwork, Roth 2014, Theorem 3.20, for unequal epsilons: epsilon = sqrt(2 ln(1/delta') sum eps_i^2) +
sum eps_i (e^eps_i - 1) with delta' = delta - sum delta_i; equal epsilons give the theorem as
printed. Direction: an upper bound. For few releases it is larger than the plain sum, and no minimum
is taken: the crossover is worth seeing. A Gaussian release enters by its exact pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.accounting.base import Events
from dpcore.accounting.pairs import InPairs, pairs
from dpcore.arrays import Array


@dataclass(frozen=True)
class AdvancedAccountant(InPairs):
    """Theorem 3.20; part of delta is kept back for the composition itself.

    Raises InputError naming ``delta_each`` when the single releases leave nothing of delta.
    """

    name: str = "advanced"
    title: str = "Advanced"
    kind: str = "upper bound"
    source: str = "Dwork, Roth 2014, Theorem 3.20; Balle, Wang 2018, Theorem 8"
    assumptions: tuple[str, ...] = (
        "every Gaussian release has its own share of delta",
        "the rest of delta is the slack of the composition theorem",
    )

    counting = "advanced composition"
    slack_needed = True

    def total(self, events: Events, delta: Array) -> Array:
        """Epsilon of advanced composition at each delta, of the broadcast shape of noise and delta;
        infinite where the releases' own deltas leave nothing, 0 where nothing was released.
        """
        composed = pairs(events, delta)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            drift = np.tensordot(
                composed.counts, composed.epsilons * np.expm1(composed.epsilons), axes=1
            )
            squares = np.tensordot(composed.counts, np.square(composed.epsilons), axes=1)
            root = np.sqrt(-2.0 * np.log(np.maximum(composed.slack, 0.0)) * squares)
        return np.asarray(np.where(squares > 0.0, root + drift, 0.0))


ADVANCED = AdvancedAccountant()
