"""The result of a fit: parameters in the data's own units, and everything that vouches for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.models import gmm
from dpcore.models.gmm import Mixture
from dpcore.privacy.guarantee import Guarantee
from dpcore.privacy.ledger import Ledger
from dpcore.wall.clip import PublicFrame

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MixtureParameters:
    """One mixture in own units: weights ``(K,)``, means ``(K, d)``, covariances ``(K, d, d)``.

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

    def as_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "weights": self.weights.tolist(),
            "means": self.means.tolist(),
            "covariances": self.covariances.tolist(),
        }


@dataclass(frozen=True)
class Fit:
    """A fitted model with its guarantee and its ledger; everything in it may be shown with them.

    parameters: in the data's own units. history: the parameters after each iteration. seed:
    ``None`` when the noise came from the system's entropy.
    """

    model: str
    parameters: MixtureParameters
    guarantee: Guarantee
    ledger: Ledger
    history: tuple[MixtureParameters, ...]
    settings: dict[str, Any]
    seed: int | None

    def sample(self, count: int, seed: int = 0) -> pd.DataFrame:
        """Synthetic rows from the fitted model; free, because it reads only what was released."""
        import pandas as pd

        mixture = self.as_mixture()
        rows, _ = gmm.sample(mixture, count, np.random.default_rng(seed))
        return pd.DataFrame(rows, columns=list(self.parameters.columns))

    def score(self, table: PrivateTable) -> float:
        """Mean log-likelihood of a row of ``table``, in own units: for the custodian's eyes."""
        from dpcore.evaluation.metrics import log_likelihood  # evaluation reads fits, not fits it

        return log_likelihood(self, table)

    def as_mixture(self) -> Mixture:
        """The parameters as a batch of one, in own units."""
        p = self.parameters
        return Mixture(p.weights[None], p.means[None], p.covariances[None])
