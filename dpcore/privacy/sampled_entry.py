"""A ledger entry for a release on a random sample: the same quotient, and how the rows were drawn.

The noise over the sensitivity says what a reader of the sample learns; that nobody knows who is in
the sample makes the release cheaper (Balle, Barthe, Gaboardi 2018), and how much cheaper is worked
out by the accountants from the event alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dpcore.privacy.events import Event, Sampling
from dpcore.privacy.ledger import LedgerEntry


@dataclass(frozen=True)
class SampledEntry(LedgerEntry):
    """One passage through a door, of a sum over a fresh secret sample of the rows.

    sampling: ``poisson`` | ``without_replacement``. sampling_rate: the chance of a row to be in the
    sample, in (0, 1].
    """

    sampling: Sampling = "without_replacement"
    sampling_rate: float = 1.0

    @classmethod
    def of(cls, entry: LedgerEntry, sampling: Sampling, rate: float) -> SampledEntry:
        """The entry of a release on the whole table, as one on a sample."""
        return cls(**vars(entry), sampling=sampling, sampling_rate=rate)

    @property
    def event(self) -> Event:
        """The event of the whole table, on a sample."""
        whole = super().event
        return replace(whole, sampling=self.sampling, sampling_rate=self.sampling_rate)

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready record; the words are those of ``dpcore account``'s questions."""
        sample = {"sampling": self.sampling, "sampling_rate": self.sampling_rate}
        return {**super().as_dict(), **sample}
