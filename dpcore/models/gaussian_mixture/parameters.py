"""A fitted mixture in the data's own units: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.recipe import ColumnParameters
from dpcore.fitting.result_table import group_table
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.wall.data import PublicFrame


@dataclass(frozen=True)
class MixtureParameters(ColumnParameters):
    """One mixture: weights ``(K,)``, means ``(K, d)``, covariances ``(K, d, d)``.

    Components stand in the order of their own means, first column first.
    """

    weights: Array
    means: Array
    covariances: Array

    @classmethod
    def from_units(cls, mixture: Mixture, run: int, public: PublicFrame) -> MixtureParameters:
        """One run of a batch in public unit coordinates, put in own units."""
        spread = public.half_range
        means = public.center + spread * mixture.means[run]
        order = np.lexsort(means.T[::-1])
        covariances = mixture.covariances[run] * spread[:, None] * spread[None, :]
        return cls(public.names, mixture.weights[run][order], means[order], covariances[order])

    def in_units(self, public: PublicFrame) -> Mixture:
        """The same as a batch of one in public unit coordinates."""
        spread = public.half_range
        covariances = self.covariances / (spread[:, None] * spread[None, :])
        return Mixture(self.weights[None], public.to_units(self.means)[None], covariances[None])

    def as_mixture(self) -> Mixture:
        """The same as a batch of one, in own units."""
        return Mixture(self.weights[None], self.means[None], self.covariances[None])

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Synthetic rows ``(count, d)`` from the mixture."""
        return gmm.sample(self.as_mixture(), count, rng)[0]


result_table = group_table
