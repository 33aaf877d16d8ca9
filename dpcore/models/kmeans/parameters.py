"""Fitted centres in the data's own units: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.recipe import ColumnParameters
from dpcore.fitting.result_table import Table, part_table
from dpcore.models.kmeans.mathematics import Centres
from dpcore.wall.data import PublicFrame

if TYPE_CHECKING:
    import pandas as pd


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
        units = (self.centers - public.center) / public.half_range
        return Centres(units[None], self.shares[None])

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Synthetic rows: centres alone, since nothing was released about the spread there."""
        import pandas as pd

        chosen = rng.choice(len(self.centers), size=count, p=self.shares / self.shares.sum())
        return pd.DataFrame(self.centers[chosen], columns=list(self.columns))


def result_table(record: dict[str, Any]) -> Table:
    """One line a centre: the share of the rows nearest to it, and its coordinates."""
    about = "Each centre: the share of the rows nearest to it, and its coordinates."
    return part_table("centre", record, "centers", "shares", about)
