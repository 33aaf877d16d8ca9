"""How probabilistic PCA is judged: as factor analysis, beside a fit without factors."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from dpcore.arrays import Mask
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.models.factor_analysis.scoring import FactorYardstick
from dpcore.models.probabilistic_pca import MOST_FACTORS
from dpcore.models.probabilistic_pca.mathematics import factors_there, fitted
from dpcore.models.probabilistic_pca.private import most_factors
from dpcore.models.shared.second_moments import AllRows
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable


class PCAYardstick(FactorYardstick):
    """Mean log density of a row; loadings turned to look like the exact ones."""

    rival_options: Mapping[str, Any] = MappingProxyType({"most_factors": 0})

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Factors:
        """Variational Bayes on the exact moments."""
        public, rows = custodian_rows(table)
        moment, none = rows.T @ rows / max(len(rows), 1), np.zeros(1)
        count = np.full(1, float(len(rows)))
        exact = AllRows(count, rows.mean(axis=0)[None], moment[None], none, none)
        return fitted(exact, most_factors(options.get("most_factors", MOST_FACTORS), public.dim))

    def align(self, batch: Factors, reference: Factors) -> tuple[Factors, Mask]:
        """As of factor analysis; found: of the factors that the reference has."""
        turned, recovered = super().align(batch, reference)
        return turned, recovered[:, factors_there(reference)]


YARDSTICK = PCAYardstick()
