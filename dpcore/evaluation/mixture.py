"""How Gaussian mixtures are judged: by the log-likelihood of a row, beside one Gaussian."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.evaluation.alignment import align
from dpcore.evaluation.references import bounds_alone, converged
from dpcore.evaluation.yardstick import Scorer, Wording
from dpcore.models import gmm
from dpcore.models.gmm import Mixture
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]


class MixtureYardstick:
    """Mean log density of a row; components matched by their overlap."""

    wording = Wording(
        part="group",
        parts="groups",
        simplest="a single Gaussian",
        utility="log-likelihood per {unit}",
        worth="log-likelihood per row",
    )
    simplest = 1
    alike = 0.97
    metrics = ("test_log_likelihood", "test_log_likelihood_scaled")

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Mixture:
        return converged(table, parts, options.get("covariance", "full"))

    def score(self, batch: Mixture, scorer: Scorer) -> Array:
        return gmm.log_density(batch, scorer.rows) + scorer.public.log_volume()

    def measure(self, batch: Mixture, scorer: Scorer, metric: str) -> Array:
        if metric == "test_log_likelihood_scaled":  # of x / R, where R is a norm bound
            return gmm.log_density(batch, scorer.rows)
        return self.score(batch, scorer)

    def nothing(self, scorer: Scorer) -> float:
        return bounds_alone(scorer.public) + scorer.public.log_volume()

    def align(self, batch: Mixture, reference: Mixture) -> tuple[Mixture, NDArray[np.bool_]]:
        aligned = align(batch, reference)
        return aligned.mixture, aligned.found


YARDSTICK = MixtureYardstick()
