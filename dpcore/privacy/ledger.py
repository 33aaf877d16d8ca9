"""The ledger: one line for each time something left the wall, from which any reader can recompute.

An entry holds the noise and the sensitivity themselves; the event is their quotient, so an entry
cannot claim more noise than it drew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from dpcore.errors import InputError
from dpcore.privacy.events import (
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    Mechanism,
    Real,
    of_run,
)


@dataclass(frozen=True)
class LedgerEntry:
    """One passage through a door.

    what: the released quantity, in words. noise: ``gaussian`` | ``discrete_gaussian`` (on a grid) |
    ``laplace`` | ``none``. noise_scale: standard deviation (or Laplace scale) in units of the
    contribution's public bound. sensitivity: largest change of the bounded sum under the adjacency,
    in the same units (L2 for Gaussian, L1 for Laplace). proof: the lemma that makes the sensitivity
    true, or ``None``. noise_steps: on a grid, its steps in one standard deviation, where stated.
    """

    what: str
    noise: str
    noise_scale: Real
    sensitivity: float
    adjacency: str
    proof: str | None
    l2_sensitivity: float | None = None
    count: int = 1
    noise_steps: int | None = None

    @property
    def event(self) -> Event:
        """The event this entry amounts to: noise divided by sensitivity."""
        return Event(self._mechanism(), count=self.count, adjacency=self.adjacency)

    def _mechanism(self) -> Mechanism:
        multiplier = self.noise_scale / self.sensitivity
        if self.noise in ("gaussian", "none"):
            return Gaussian(multiplier)
        if self.noise == "discrete_gaussian":
            return DiscreteGaussian(multiplier, None, self.noise_steps)
        if self.noise == "laplace":
            ratio = 1.0 if self.l2_sensitivity is None else self.l2_sensitivity / self.sensitivity
            return Laplace(multiplier, min(1.0, ratio))
        raise InputError(
            "noise",
            f"{self.noise!r} is not known",
            "use gaussian, discrete_gaussian, laplace or none",
        )

    def at(self, index: int) -> Self:
        """The entry of one run out of a grid of runs: arrays ``(B,)`` become their number at
        ``index``; single numbers stay.
        """
        return replace(self, noise_scale=of_run(self.noise_scale, index))

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready record; the words are those of ``dpcore account``'s questions."""
        record = {
            **self._head("gaussian" if self.noise == "none" else self.noise),
            "noise_scale": self.noise_scale,
            "sensitivity": self.sensitivity,
            "proof": self.proof,
        }
        match self.event.mechanism:
            case Gaussian(noise_multiplier=multiplier):
                record["noise_multiplier"] = multiplier
            case DiscreteGaussian(noise_multiplier=multiplier, noise_steps=steps):
                record |= {"noise_multiplier": multiplier, "steps": None, "noise_steps": steps}
            case Laplace(scale=scale, l2_ratio=ratio):
                record["scale"], record["l2_ratio"] = scale, ratio
        return record

    def _head(self, mechanism: str) -> dict[str, Any]:
        """What every record begins with."""
        return {
            "what": self.what,
            "mechanism": mechanism,
            "count": self.count,
            "sampling": "none",
            "adjacency": self.adjacency,
        }


@dataclass(frozen=True)
class Ledger:
    """The entries of one run (or of a grid of runs), in order."""

    entries: tuple[LedgerEntry, ...] = ()

    def __iter__(self) -> Iterator[LedgerEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def events(self) -> tuple[Event, ...]:
        """What accountants count: one event an entry."""
        return tuple(entry.event for entry in self.entries)

    @property
    def proved(self) -> bool:
        """Whether every entry names the lemma behind its sensitivity."""
        return all(entry.proof is not None for entry in self.entries)

    def at(self, index: int) -> Ledger:
        """The ledger of one run out of a grid of runs: each entry's :meth:`LedgerEntry.at`.

        A guarantee of one run is computed from this ledger, never from that of the grid.
        """
        return Ledger(tuple(entry.at(index) for entry in self.entries))

    def as_list(self) -> list[dict[str, Any]]:
        """JSON-ready entries, in order."""
        return [entry.as_dict() for entry in self.entries]

    def fingerprint(self) -> str:
        """Short hash of the entries: two ledgers with one fingerprint tell the same story."""
        records = [asdict(entry) for entry in self.entries]
        for record in records:  # of earlier versions, which had no such field
            if record.get("noise_steps", 0) is None:
                del record["noise_steps"]
        text = json.dumps(records, sort_keys=True, default=repr)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
