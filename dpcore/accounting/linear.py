"""Linear composition: epsilons add, deltas add.

Dwork, Roth 2014, Theorem 3.16. Direction: an upper bound, tight for pure epsilon alone. A Gaussian
release enters by its exact pair (Balle, Wang 2018, Theorem 8) at its own share of delta.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.accounting.base import Events
from dpcore.accounting.pairs import InPairs, pairs
from dpcore.arrays import Array


@dataclass(frozen=True)
class LinearAccountant(InPairs):
    """Sum of epsilons at a sum of deltas.

    Raises InputError naming ``delta_each`` when the shares of single releases exceed delta.
    """

    name: str = "linear"
    title: str = "Basic"
    kind: str = "upper bound"
    source: str = "Dwork, Roth 2014, Theorem 3.16; Balle, Wang 2018, Theorem 8"
    assumptions: tuple[str, ...] = ("every Gaussian release has its own share of delta",)

    counting = "linear composition"

    def total(self, events: Events, delta: Array) -> Array:
        """The sum of the events' epsilons, of the broadcast shape of noise and delta."""
        composed = pairs(events, delta)
        return np.where(composed.slack >= -1e-12 * delta, composed.linear, np.inf)


LINEAR = LinearAccountant()
