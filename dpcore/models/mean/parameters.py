"""A fitted mean in the data's own units: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.recipe import ColumnParameters
from dpcore.fitting.result_table import Table, column_titles, place_texts
from dpcore.wall.data import PublicFrame


@dataclass(frozen=True)
class Means:
    """B means ``(B, d)`` in public unit coordinates.

    reach ``(B, d)``: how far from the middle of the limits numbers are cut, which is public. spread
    ``(B, d)``: of the exact fit the standard deviations of the rows; of any other NaN.
    """

    mean: Array
    reach: Array
    spread: Array

    @classmethod
    def uncut(cls, mean: Array, spread: Array | None = None) -> Means:
        """Means ``(...)`` of numbers that are left as they are."""
        unknown = np.full(mean.shape, np.nan)
        return cls(mean, np.full(mean.shape, np.inf), unknown if spread is None else spread)


@dataclass(frozen=True)
class MeanParameters(ColumnParameters):
    """One mean ``(d,)`` in the data's own units."""

    mean: Array

    def in_units(self, public: PublicFrame) -> Means:
        """The same as a batch of one in public unit coordinates."""
        return Means.uncut(public.to_units(self.mean)[None])

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """The mean again and again, ``(count, d)``: nothing was released of the spread."""
        return np.tile(self.mean, (count, 1))


def result_table(record: dict[str, Any]) -> Table:
    """A line for each column: its mean, with its unit."""
    cells = place_texts(record, record["parameters"]["mean"])
    means = zip(column_titles(record, places=True), cells, strict=True)
    return "Each column's mean.", [{"column": c, "mean": mean} for c, mean in means]
