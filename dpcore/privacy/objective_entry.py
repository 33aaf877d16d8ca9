"""A ledger entry for a release that is not sensitivity and noise alone: its epsilon is worked out.

Noise inside an objective (Chaudhuri, Monteleoni, Sarwate 2011) costs sensitivity / scale like any
other, and a surplus for what the objective does to it. To everything outside it is a black box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.privacy.events import EpsilonDelta, Event, Real
from dpcore.privacy.ledger import LedgerEntry


@dataclass(frozen=True)
class BoxedEntry(LedgerEntry):
    """One passage through a door, of which epsilon with a delta of 0 is known and nothing more.

    surplus: what is paid beside sensitivity / noise_scale.
    """

    surplus: Real = 0.0

    @property
    def event(self) -> Event:
        """A black box with the epsilon that the entry adds up to."""
        epsilon = self.sensitivity / self.noise_scale + self.surplus
        return Event(EpsilonDelta(epsilon, 0.0), count=self.count, adjacency=self.adjacency)

    def at(self, index: int) -> BoxedEntry:
        """The entry of one run out of a grid of runs."""
        scale, surplus = (np.asarray(value) for value in (self.noise_scale, self.surplus))
        return BoxedEntry(
            self.what,
            self.noise,
            float(scale if scale.ndim == 0 else scale[index]),
            self.sensitivity,
            self.adjacency,
            self.proof,
            self.l2_sensitivity,
            self.count,
            float(surplus if surplus.ndim == 0 else surplus[index]),
        )

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready record; the words are those of ``dpcore account``'s questions."""
        mechanism = self.event.mechanism
        assert isinstance(mechanism, EpsilonDelta)
        return {
            "what": self.what,
            "mechanism": "epsilon_delta",
            "count": self.count,
            "sampling": "none",
            "adjacency": self.adjacency,
            "noise_scale": self.noise_scale,
            "sensitivity": self.sensitivity,
            "surplus": self.surplus,
            "proof": self.proof,
            "epsilon": mechanism.epsilon,
            "delta_each": mechanism.delta,
        }
