"""How sets of centres are judged: by the spread of rows around them (NICV), beside one centre."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.evaluation.alignment import by_distance
from dpcore.evaluation.yardstick import Scorer, Wording, Yardstick, mapped
from dpcore.fitting.recipe import demand_enough_rows
from dpcore.models.kmeans.mathematics import Centres
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.kernels.nearest_centres import NearestRows
from dpcore.wall.table import PrivateTable

STARTS = 30  # of the converged fit
SAMPLE = 20_000  # rows from which the converged fit starts


class KMeansYardstick(Yardstick):
    """Distances are those of public unit coordinates.

    ``nicv``: mean squared distance of a row to its nearest centre (normalised intra-cluster
    variance). Utility: the share of the rows' spread around their mean that the centres explain,
    ``1 - nicv / nicv of the mean``.
    """

    wording = Wording(
        part="centre",
        parts="centres",
        simplest="a single centre",
        utility="share of the spread explained",
        worth="share of the spread explained",
    )
    alike = 0.99
    metrics = ("nicv",)

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Centres:
        """scikit-learn's k-means: the best of thirty starts on a sample, then all rows."""
        return converged(custodian_rows(table)[1], parts)

    def score(self, batch: Centres, scorer: Scorer) -> Array:
        spread = float(np.mean(np.sum((scorer.rows - scorer.rows.mean(axis=0)) ** 2, axis=1)))
        return np.asarray(1.0 - self.measure(batch, scorer, "nicv") / max(spread, 1e-300))

    def measure(self, batch: Centres, scorer: Scorer, metric: str) -> Array:
        squared = NearestRows(scorer.rows).squared_distance(batch.centres)
        return np.asarray(squared / max(1, len(scorer.rows)))

    def uninformed(self, scorer: Scorer) -> Centres:
        """One centre in the middle of the bounds."""
        return Centres(np.zeros((1, 1, scorer.public.dim)), np.ones((1, 1)))

    def align(self, batch: Centres, reference: Centres) -> tuple[Centres, Mask]:
        """Centres matched by their distances; found: within a quarter of the way to the next."""
        order, recovered = by_distance(batch.centres, reference.centres[0])
        runs = np.arange(batch.runs)[:, None]
        return mapped(batch, lambda array: array[runs, order]), recovered


def converged(rows: Array, parts: int) -> Centres:
    """Lloyd's algorithm by scikit-learn on ``(n, d)``: a batch of one in the order of the centres.

    Raises InputError for fewer rows than centres.
    """
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    demand_enough_rows("kmeans", parts, len(rows))
    rng = np.random.default_rng(0)
    sample = rows if len(rows) <= SAMPLE else rows[rng.choice(len(rows), SAMPLE, replace=False)]
    # One thread: threads get in each other's way on samples of this size.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than centres
        best = KMeans(parts, n_init=STARTS, random_state=0).fit(sample)
        if len(rows) > len(sample):
            best = KMeans(parts, init=best.cluster_centers_, n_init=1).fit(rows)
    centres = np.asarray(best.cluster_centers_, dtype=float)
    shares = np.bincount(best.labels_, minlength=parts) / len(rows)
    order = np.lexsort(centres.T[::-1])
    return Centres(centres[None, order], shares[None, order])


YARDSTICK = KMeansYardstick()
