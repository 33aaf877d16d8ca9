"""How means are judged: by their distance from the exact ones, beside the middle of the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.evaluation.yardstick import Scorer, Wording, Yardstick
from dpcore.models.mean.parameters import Means
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

RECOVERED = 0.1  # of a column's standard deviation
LEAST_SPREAD = 1e-9  # of a column whose rows are alike


class MeanYardstick(Yardstick):
    """``estimation_error``: distance of the means from the exact ones, each column counted in half
    ranges of its bounds; ``standardised_error``: in standard deviations of its rows. Utility: minus
    the first.
    """

    wording = Wording(
        part="mean",
        parts="means",
        simplest="the middle of the limits",
        utility="minus the error (half ranges of the limits)",
        worth="half ranges of the limits",
    )
    simplest = 0
    of_the_fit = True  # of other rows, the mean is another one
    alike = 0.95
    metrics = ("estimation_error", "standardised_error")

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Means:
        """The exact means of the rows inside their bounds, a batch of one."""
        rows = custodian_rows(table)[1]
        return Means.uncut(rows.mean(axis=0)[None], rows.std(axis=0)[None])

    def score(self, batch: Means, scorer: Scorer) -> Array:
        return -self.measure(batch, scorer, "estimation_error")

    def measure(self, batch: Means, scorer: Scorer, metric: str) -> Array:
        away = batch.mean - scorer.rows.mean(axis=0)
        if metric == "standardised_error":
            away = away / np.maximum(scorer.rows.std(axis=0), LEAST_SPREAD)
        return np.asarray(np.linalg.norm(away, axis=1))

    def nothing(self, scorer: Scorer) -> float:
        """The middle of the bounds."""
        return -float(np.linalg.norm(scorer.rows.mean(axis=0)))

    def uninformed(self, scorer: Scorer) -> Means:
        """The same, as a batch of one."""
        return Means.uncut(np.zeros((1, scorer.public.dim)))

    def silent(self, reference: Means) -> Means:
        """The same, as a batch of one."""
        return Means.uncut(np.zeros_like(reference.mean))

    def align(self, batch: Means, reference: Means) -> tuple[Means, Mask]:
        """Columns have names, so nothing moves; recovered ``(B, d)``: within :data:`RECOVERED`."""
        return batch, np.abs(batch.mean - reference.mean[0]) <= RECOVERED * reference.spread[0]


YARDSTICK = MeanYardstick()
