"""A fitted mixture of a family: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from dpcore.arrays import Array
from dpcore.fitting.recipe import ColumnParameters
from dpcore.fitting.result_table import Table, part_table
from dpcore.models.exponential_family.bernoulli import chances
from dpcore.models.exponential_family.mathematics import Groups
from dpcore.models.exponential_family.poisson import rates
from dpcore.wall.data import PublicFrame


@dataclass(frozen=True)
class BernoulliParameters(ColumnParameters):
    """One mixture: weights ``(K,)``, chances of a yes ``(K, d)``; lower (no) and upper (yes)
    ``(d,)`` are the columns' bounds.

    Groups stand in the order of their chances, first column first.
    """

    LIMITS = ("lower", "upper")
    lower: Array
    upper: Array
    weights: Array
    chances: Array

    @classmethod
    def from_units(cls, groups: Groups, run: int, public: PublicFrame) -> BernoulliParameters:
        """One run of a batch in public unit coordinates."""
        own = chances(groups.means[run])
        order = np.lexsort(own.T[::-1])
        lower, upper = public.center - public.half_range, public.center + public.half_range
        return cls(public.names, lower, upper, groups.weights[run][order], own[order])

    def in_units(self, public: PublicFrame) -> Groups:
        """The same as a batch of one in public unit coordinates."""
        return Groups(self.weights[None], 2.0 * self.chances[None] - 1.0)

    def log_joint(self, rows: Array) -> Array:
        """Log probability of each row ``(n, d)``, in own units, with each group ``(n, K)``."""
        yes = (rows - self.lower) / (self.upper - self.lower)
        logs = yes @ np.log(self.chances).T + (1.0 - yes) @ np.log1p(-self.chances).T
        return np.asarray(np.log(self.weights) + logs)

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Synthetic rows ``(count, d)``, each cell at its lower or upper bound."""
        group = rng.choice(len(self.weights), size=count, p=self.weights / self.weights.sum())
        yes = rng.random((count, len(self.columns))) < self.chances[group]
        return np.where(yes, self.upper, self.lower)


@dataclass(frozen=True)
class PoissonParameters(ColumnParameters):
    """One mixture: weights ``(K,)``, rates ``(K, d)`` in events a row.

    Groups stand in the order of their rates, first column first.
    """

    weights: Array
    rates: Array

    @classmethod
    def from_units(cls, groups: Groups, run: int, public: PublicFrame) -> PoissonParameters:
        """One run of a batch in public unit coordinates."""
        own = rates(groups.means[run], public)
        order = np.lexsort(own.T[::-1])
        return cls(public.names, groups.weights[run][order], own[order])

    def in_units(self, public: PublicFrame) -> Groups:
        """The same as a batch of one in public unit coordinates."""
        return Groups(self.weights[None], public.to_units(self.rates[None]))

    def log_joint(self, rows: Array) -> Array:
        """Log probability of each row ``(n, d)``, in own units, with each group ``(n, K)``; a count
        below 0 is read as 0."""
        rows = np.maximum(rows, 0.0)
        logs = rows @ np.log(self.rates).T - self.rates.sum(axis=1)
        return np.asarray(np.log(self.weights) + logs - gammaln(rows + 1.0).sum(axis=1)[:, None])

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Synthetic rows ``(count, d)`` of whole numbers."""
        group = rng.choice(len(self.weights), size=count, p=self.weights / self.weights.sum())
        return np.asarray(rng.poisson(self.rates[group]))


def bernoulli_table(record: dict[str, Any]) -> Table:
    """One line a group: its share, and the probability of a yes in each column."""
    about = "Each group: its share of the rows, and the probability of a yes in each column."
    return part_table("group", record, "chances", "weights", about, ".1%")


def poisson_table(record: dict[str, Any]) -> Table:
    """One line a group: its share, and the mean count in each column."""
    about = "Each group: its share of the rows, and the mean count in each column."
    return part_table("group", record, "rates", "weights", about, ".4g")
