"""Minibatches: a fresh secret sample of the rows for each release, which makes a release cheaper.

====================  ======================================================================
a row is replaced     a fixed number of rows without replacement, out of a public number of rows
a row comes or goes   each row by its own coin of chance ``rate`` (Poisson): the number of rows
                      stays private, and so does the size of the sample
====================  ======================================================================

Sampling protects only while nobody can tell who was drawn: the coins come from the noise source,
and no minibatch, nor its size, leaves the wall. The price of a sample is known for one row per
person (Balle, Barthe, Gaboardi 2018); rows of one person would be drawn together or apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Indices
from dpcore.errors import InputError, WallError
from dpcore.privacy.events import Sampling
from dpcore.wall.noise import PublicCoins, SecretCoins
from dpcore.wall.session import Session


@dataclass(frozen=True)
class Sample:
    """How rows are drawn for a release. rate: a row's chance, in (0, 1]; at 1 all rows are taken.

    >>> Sample.under("replace_one", 0.5).drawn(PublicCoins(0), 4).size
    2
    >>> Sample.under("add_remove", 0.05).sampling
    'poisson'
    """

    sampling: Sampling
    rate: float

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= 1.0:
            raise InputError("minibatch", "the sampling rate is not in (0, 1]", "give another size")

    @classmethod
    def under(cls, adjacency: str, rate: float) -> Sample:
        """The way of drawing that has a theorem under an adjacency; a rate of 1 draws nothing."""
        if rate >= 1.0:
            return cls("none", 1.0)
        return cls("poisson" if adjacency == "add_remove" else "without_replacement", rate)

    def drawn(self, coins: SecretCoins, rows: int) -> Indices:
        """Positions of the rows in a fresh sample, in order."""
        if self.sampling == "none":
            return np.arange(rows)
        if self.sampling == "poisson":
            return np.flatnonzero(coins.random(rows) < self.rate)
        size = self.size(rows)
        return np.sort(coins.choice(rows, size))

    def size(self, rows: int) -> int:
        """How many rows are drawn, on average where coins decide; at least one."""
        return min(rows, max(1, round(self.rate * rows)))

    def rate_of(self, rows: int) -> float:
        """A row's chance: what was really drawn where a whole number is drawn."""
        fixed = self.sampling == "without_replacement" and rows > 0
        return self.size(rows) / rows if fixed else self.rate


@dataclass
class Minibatches:
    """The samples of one session: for each release one sample of each noise draw.

    session: whose noise source tosses the coins; without privacy, public coins of ``seed``. Runs of
    one draw at several budgets see the same samples.
    """

    session: Session[Any]
    sample: Sample
    seed: int = 0

    def __post_init__(self) -> None:
        check_sample(self.session, self.sample)
        noise = self.session._noise
        self._coins = [PublicCoins(self.seed)] if noise is None else noise.coins
        self._rows = self.session.source._count

    def _next(self) -> list[Indices]:
        """Fresh positions for each draw; for doors alone."""
        return [self.sample.drawn(coins, self._rows) for coins in self._coins]

    @property
    def runs(self) -> list[Indices]:
        """Which runs belong to each draw; without privacy all see the one sample."""
        which = self.session._draws if self.session.private else np.zeros(self.session.runs)
        return [np.flatnonzero(which == draw) for draw in range(len(self._coins))]

    @property
    def rate(self) -> float:
        """A row's chance to be in a sample."""
        return self.sample.rate_of(self._rows)


def check_sample(session: Session[Any], sample: Sample) -> None:
    """Refuse, before rows are touched, a sample whose cost is not proved: InputError for
    persons with several rows, WallError for a sampling method without a theorem."""
    if not session.private or sample.sampling == "none":
        return
    if session.rows_per_person > 1 or session.limited:
        raise InputError(
            "minibatch",
            "subsampling is proved only for one row per person",
            "use all rows in each step (rate 1)",
        )
    proved = {"add_remove": "poisson", "replace_one": "without_replacement"}
    if proved.get(session.adjacency) != sample.sampling:
        raise WallError("no proof here covers this sampling method under this adjacency")
