"""Forced chance: the same coins and the same noise for two tables, row by row.

A row that both tables have tosses the same coin in both; the row that only one has tosses one more.
Coins that read no row may be taken as equal for both tables (a mixture over coins of neighbours
that are close for each of them is close), so a proof that holds for all coins is tested for these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.mechanisms.discrete_gaussian import SCALE, Integers
from dpcore.wall.noise import GridNoise, NoiseSource


class Coins:
    """A generator whose every call has its own key, so that no call moves the next.

    rows: how many either table has at most. absent: those of them that this table has not. Where
    coins are tossed by row, an axis has the length of the rows that are here, the first such axis
    if there are two.
    """

    def __init__(self, key: Sequence[int], rows: int, absent: tuple[int, ...]) -> None:
        self._key, self._all, self._absent, self._calls = list(key), rows, absent, 0

    def _fresh(self) -> np.random.Generator:
        self._calls += 1
        return np.random.default_rng([*self._key, self._calls])

    def random(self, shape: int | tuple[int, ...]) -> Array:
        """Uniform numbers of this shape, drawn separately for each row."""
        here = (shape,) if isinstance(shape, int) else shape
        axis = here.index(self._all - len(self._absent))
        full = (*here[:axis], self._all, *here[axis + 1 :])
        coins = self._fresh().random((self._all, *np.delete(full, axis)))
        return np.moveaxis(np.delete(coins, self._absent, axis=0), 0, axis)

    def integers(self, high: int, size: int) -> NDArray[Any]:
        """Whole numbers by row."""
        return np.delete(self._fresh().integers(high, size=self._all), self._absent)

    def choice(self, rows: int, size: int, **words: Any) -> NDArray[Any]:
        """Some of the rows, where both tables have as many."""
        return self._fresh().choice(rows, size, **words)

    def permutation(self, rows: int) -> NDArray[Any]:
        """The rows in an order, where both tables have as many."""
        return self._fresh().permutation(rows)

    def standard_normal(self, *, out: Array) -> None:
        """Standard normal noise into an array ``(...)`` of any shape."""
        out[...] = self._fresh().standard_normal(out.shape)

    def laplace(self, *, size: tuple[int, ...]) -> Array:
        """Laplace noise ``(...)`` of scale 1 and any shape."""
        return self._fresh().laplace(size=size)

    def standard_gamma(self, shape: int) -> float:
        """The length of a vector of noise."""
        return float(self._fresh().standard_gamma(shape))


class ForcedNoise(NoiseSource):
    """A source of known noise. rehearsal: whether it says so."""

    def __init__(self, coins: Coins, *, rehearsal: bool) -> None:
        super().__init__(0, ())
        streams: list[Any] = [coins]
        self._streams, self.rehearsal = streams, rehearsal


class ForcedGrid(GridNoise):
    """Known whole numbers in place of a release's noise; ``last`` are those of the last release."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._coins = np.random.default_rng([seed, 1])
        self.last: list[Integers] = []

    def whole_numbers(self, count: int) -> Integers:
        whole = np.rint(SCALE * self._coins.standard_normal(count)).astype(np.int64)
        self.last.append(whole)
        return whole
