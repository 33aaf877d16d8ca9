"""A ledger entry for a release that is not sensitivity and noise alone: its epsilon is worked out.

Noise inside an objective (Chaudhuri, Monteleoni, Sarwate 2011) costs sensitivity / scale like any
other, and a surplus for what the objective does to it. To everything outside it is a black box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from dpcore.privacy.events import EpsilonDelta, Real, of_run
from dpcore.privacy.ledger import LedgerEntry


@dataclass(frozen=True)
class BoxedEntry(LedgerEntry):
    """One passage through a door, of which epsilon with a delta of 0 is known and nothing more.

    surplus: what is paid beside sensitivity / noise_scale.
    """

    surplus: Real = 0.0

    def _mechanism(self) -> EpsilonDelta:
        """A black box with the epsilon that the entry adds up to."""
        return EpsilonDelta(self.sensitivity / self.noise_scale + self.surplus, 0.0)

    def at(self, index: int) -> Self:
        """The entry of one run out of a grid of runs."""
        return replace(super().at(index), surplus=of_run(self.surplus, index))

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready record; the words are those of ``dpcore account``'s questions."""
        box = self._mechanism()
        return {
            **self._head("epsilon_delta"),
            "noise_scale": self.noise_scale,
            "sensitivity": self.sensitivity,
            "surplus": self.surplus,
            "proof": self.proof,
            "epsilon": box.epsilon,
            "delta_each": box.delta,
        }
