"""What a fit found, in the data's own units: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.models import factors, gmm
from dpcore.models.factors import Factors
from dpcore.models.gmm import Mixture
from dpcore.models.kmeans import Centres
from dpcore.wall.clip import PublicFrame

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MixtureParameters:
    """One mixture: weights ``(K,)``, means ``(K, d)``, covariances ``(K, d, d)``.

    Components stand in the order of their own means, first column first.
    """

    columns: tuple[str, ...]
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
        means = (self.means - public.center) / spread
        return Mixture(self.weights[None], means[None], covariances[None])

    def as_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "weights": self.weights.tolist(),
            "means": self.means.tolist(),
            "covariances": self.covariances.tolist(),
        }

    def as_mixture(self) -> Mixture:
        """The same as a batch of one, in own units."""
        return Mixture(self.weights[None], self.means[None], self.covariances[None])

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Synthetic rows from the mixture."""
        import pandas as pd

        rows, _ = gmm.sample(self.as_mixture(), count, rng)
        return pd.DataFrame(rows, columns=list(self.columns))


@dataclass(frozen=True)
class KMeansParameters:
    """Centres ``(K, d)`` in the order of their coordinates, first column first.

    shares ``(K,)``: what share of the rows the fit believes to be nearest to each.
    """

    columns: tuple[str, ...]
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

    def as_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "centers": self.centers.tolist(),
            "shares": self.shares.tolist(),
        }

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Synthetic rows: centres alone, since nothing was released about the spread there."""
        import pandas as pd

        chosen = rng.choice(len(self.centers), size=count, p=self.shares / self.shares.sum())
        return pd.DataFrame(self.centers[chosen], columns=list(self.columns))


@dataclass(frozen=True)
class FactorParameters:
    """One factor analysis: mean ``(d,)``, loadings ``(d, k)``, noise_variance ``(d,)``."""

    columns: tuple[str, ...]
    mean: Array
    loadings: Array
    noise_variance: Array

    @classmethod
    def from_units(cls, fit: Factors, run: int, public: PublicFrame) -> FactorParameters:
        """One run of a batch in public unit coordinates, put in own units."""
        spread = public.half_range
        return cls(
            public.names,
            public.center + spread * fit.mean[run],
            spread[:, None] * fit.loadings[run],
            spread**2 * fit.noise_variance[run],
        )

    def in_units(self, public: PublicFrame) -> Factors:
        """The same as a batch of one in public unit coordinates."""
        spread = public.half_range
        return Factors(
            ((self.mean - public.center) / spread)[None],
            (self.loadings / spread[:, None])[None],
            (self.noise_variance / spread**2)[None],
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "mean": self.mean.tolist(),
            "loadings": self.loadings.tolist(),
            "noise_variance": self.noise_variance.tolist(),
        }

    def as_factors(self) -> Factors:
        """The same as a batch of one, in own units."""
        return Factors(self.mean[None], self.loadings[None], self.noise_variance[None])

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Synthetic rows from the model."""
        import pandas as pd

        return pd.DataFrame(factors.sample(self.as_factors(), count, rng), columns=self.columns)
