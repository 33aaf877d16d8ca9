"""Fitted centres in the data's own units: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.recipe import ColumnParameters
from dpcore.fitting.result_table import Table, part_table
from dpcore.models.kmeans.mathematics import Centres
from dpcore.wall.data import PublicFrame


@dataclass(frozen=True)
class KMeansParameters(ColumnParameters):
    """Centres ``(K, d)`` in the order of their coordinates, first column first.

    shares ``(K,)``: what share of the rows the fit believes to be nearest to each.
    """

    centers: Array
    shares: Array

    @classmethod
    def from_units(cls, centres: Centres, run: int, public: PublicFrame) -> KMeansParameters:
        """One run of a batch in public unit coordinates, put in own units."""
        own = public.center + public.half_range * centres.centres[run]
        order = np.lexsort(own.T[::-1])
        return cls(public.names, own[order], centres.shares[run][order])

    def in_units(self, public: PublicFrame) -> Centres:
        """The same as a batch of one in public unit coordinates."""
        return Centres(public.to_units(self.centers)[None], self.shares[None])

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Centres ``(count, d)`` alone: nothing was released about the spread there."""
        chosen = rng.choice(len(self.centers), size=count, p=self.shares / self.shares.sum())
        return self.centers[chosen]


def result_table(record: dict[str, Any]) -> Table:
    """One line a centre: the share of the rows nearest to it, and its coordinates."""
    about = "Each centre: the share of the rows nearest to it, and its coordinates."
    return part_table("centre", record, "centers", "shares", about)
