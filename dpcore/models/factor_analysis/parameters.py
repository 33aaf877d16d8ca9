"""A fitted factor analysis in the data's own units: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.models.factor_analysis import mathematics as factors
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.wall.clip import PublicFrame

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


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
