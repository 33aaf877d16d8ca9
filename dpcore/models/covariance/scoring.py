"""How covariances are judged: by the error of a correlation, beside uncorrelated columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.evaluation.yardstick import Scorer, Wording, Yardstick
from dpcore.models.covariance.mathematics import Covariances, correlations, pairs, principal
from dpcore.models.covariance.private import demand_two_columns
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

CLOSE = 0.1  # from an exact correlation


class CovarianceYardstick(Yardstick):
    """``correlation_error``: root of the mean squared error of the correlations, each pair of
    columns once. Utility: minus that. ``first_component``: share of the exact variance, in own
    units, along the first principal axis (Dwork, Talwar, Thakurta, Zhang 2014).
    """

    wording = Wording(
        part="correlation",
        parts="correlations",
        simplest="uncorrelated columns",
        utility="minus the error of a correlation",
        worth="error of a correlation",
    )
    simplest = 0
    of_the_fit = True  # of other rows, the covariance is another one
    alike = 0.95
    metrics = ("correlation_error", "first_component")

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Covariances:
        """Exact mean and covariance of the rows inside their bounds, a batch of one."""
        public, rows = custodian_rows(table)
        demand_two_columns(public.dim)
        return Covariances(rows.mean(axis=0)[None], _covariance(rows)[None])

    def score(self, batch: Covariances, scorer: Scorer) -> Array:
        return -self.measure(batch, scorer, "correlation_error")

    def measure(self, batch: Covariances, scorer: Scorer, metric: str) -> Array:
        exact = _covariance(scorer.rows)
        if metric == "first_component":
            spread = scorer.public.half_range
            own = spread[:, None] * spread
            axis = principal(batch.covariance * own)[1][:, 0]
            along = np.einsum("bi,ij,bj->b", axis, exact * own, axis)
            return np.asarray(along / max(float(np.trace(exact * own)), np.finfo(float).tiny))
        away = pairs(correlations(batch.covariance)) - pairs(correlations(exact))
        return np.asarray(np.sqrt(np.mean(away**2, axis=-1)))

    def uninformed(self, scorer: Scorer) -> Covariances:
        """The axis of the column with the widest limits, and correlations of 0."""
        widest = np.argmax(scorer.public.half_range)
        wide = np.diag(np.where(np.arange(scorer.public.dim) == widest, 1.0, 0.0))
        return Covariances(np.zeros((1, scorer.public.dim)), wide[None])

    def silent(self, reference: Covariances) -> Covariances:
        """Columns spread evenly over their limits and uncorrelated, a batch of one."""
        dim = reference.mean.shape[-1]
        return Covariances(np.zeros((1, dim)), np.eye(dim)[None] / 3.0)

    def align(self, batch: Covariances, reference: Covariances) -> tuple[Covariances, Mask]:
        """Columns have names, so nothing moves; found ``(B, d (d - 1) / 2)``: within
        :data:`CLOSE`."""
        away = pairs(correlations(batch.covariance)) - pairs(correlations(reference.covariance))
        return batch, np.abs(away) <= CLOSE


def _covariance(rows: Array) -> Array:
    """Of rows ``(n, d)``, divided by n - 1."""
    away = rows - rows.mean(axis=0)
    return np.asarray(away.T @ away / max(len(rows) - 1, 1))


YARDSTICK = CovarianceYardstick()
