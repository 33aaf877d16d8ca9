"""How Gaussian mixtures are judged: by the log-likelihood of a row, beside one Gaussian."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.errors import InputError
from dpcore.evaluation.alignment import matched
from dpcore.evaluation.yardstick import Scorer, Wording, Yardstick, mapped
from dpcore.fitting.recipe import demand_enough_rows
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

STARTS = 5  # of the converged fit
FOUND_AFFINITY = 0.8  # overlap of a group's shape with its exact one
FOUND_WEIGHT = 2.0  # and its size within this factor


class MixtureYardstick(Yardstick):
    """Mean log density of a row; components matched by their overlap."""

    wording = Wording(
        part="group",
        parts="groups",
        simplest="a single Gaussian",
    )
    metrics = ("test_log_likelihood", "test_log_likelihood_scaled")

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Mixture:
        """Maximum likelihood in public unit coordinates, a batch of one; its components stand in
        the order of their means, first column first.

        scikit-learn's EM to tolerance 1e-4, the best of five k-means starts. Raises InputError for
        too few rows.
        """
        import warnings

        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture
        from threadpoolctl import threadpool_limits

        covariance, (_, rows) = options.get("covariance", "full"), custodian_rows(table)
        demand_enough_rows("gmm", parts, len(rows))
        if len(rows) < 2:
            raise InputError("rows", "a single row has no variance", "give more rows")
        model = GaussianMixture(
            parts,
            covariance_type=covariance,
            n_init=STARTS,
            max_iter=300,
            tol=1e-4,
            random_state=0,
        )
        # One thread: k-means threads get in each other's way on tables of this size.
        with threadpool_limits(1), warnings.catch_warnings():
            # Duplicate rows leave k-means fewer centres than asked; the mixture is still fitted.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(rows)
        covariances = np.asarray(model.covariances_, dtype=float)
        dim = rows.shape[1]
        if covariance == "diag":
            covariances = covariances[:, :, None] * np.eye(dim)
        elif covariance == "spherical":
            covariances = covariances[:, None, None] * np.eye(dim)
        means = np.asarray(model.means_, dtype=float)
        order = np.lexsort(means.T[::-1])
        weights = np.asarray(model.weights_, dtype=float)
        return Mixture(weights[None, order], means[None, order], covariances[None, order])

    def score(self, batch: Mixture, scorer: Scorer) -> Array:
        return gmm.log_density(batch, scorer.rows) + scorer.public.log_volume()

    def measure(self, batch: Mixture, scorer: Scorer, metric: str) -> Array:
        if metric == "test_log_likelihood_scaled":  # of x / R, where R is a norm bound
            return gmm.log_density(batch, scorer.rows)
        return self.score(batch, scorer)

    def nothing_by(self, scorer: Scorer, metric: str) -> float:
        scaled = metric == "test_log_likelihood_scaled"
        return self.nothing(scorer) - (scorer.public.log_volume() if scaled else 0.0)

    def align(self, batch: Mixture, reference: Mixture) -> tuple[Mixture, Mask]:
        """A mixture has no first component: each is matched to one of the reference's by their
        overlap. Found: one of at least :data:`FOUND_AFFINITY`, and a weight within a factor
        :data:`FOUND_WEIGHT`."""
        overlap = affinity(batch, reference)
        order, runs = matched(-overlap), np.arange(batch.runs)[:, None]
        alike = overlap[runs, order, np.arange(order.shape[1])]
        aligned = mapped(batch, lambda array: array[runs, order])
        ratio = np.maximum(aligned.weights, 1e-12) / np.maximum(reference.weights, 1e-12)
        sized = (ratio < FOUND_WEIGHT) & (ratio > 1 / FOUND_WEIGHT)
        return aligned, (alike >= FOUND_AFFINITY) & sized

    def unordered(self, batch: Mixture) -> tuple[Array, ...]:
        """First and second moments of groups, by their weights, and of the whole mixture."""
        sums = batch.weights[..., None] * batch.means
        outer = batch.means[..., None] * batch.means[..., None, :]
        squares = batch.weights[..., None, None] * (batch.covariances + outer)
        return sums, squares, sums.sum(axis=1), squares.sum(axis=1)


def affinity(left: Mixture, right: Mixture) -> Array:
    """Bhattacharyya coefficient of every pair of components, ``(B, K, L)``: 1 alike, 0 apart.

    One of the batches may hold a single mixture. The integral of ``sqrt(p q)`` of two Gaussians.
    """
    first = replace(left, means=left.means[:, :, None], covariances=left.covariances[:, :, None])
    second = replace(right, means=right.means[:, None], covariances=right.covariances[:, None])
    middle = (first.covariances + second.covariances) / 2
    gap = np.broadcast_to(first.means - second.means, middle.shape[:-1])
    distance = np.einsum("...i,...i->...", gap, np.linalg.solve(middle, gap[..., None])[..., 0]) / 8
    log_dets = [np.linalg.slogdet(c)[1] for c in (middle, first.covariances, second.covariances)]
    shape = 0.5 * (log_dets[0] - 0.5 * (log_dets[1] + log_dets[2]))
    return np.asarray(np.exp(-distance - shape))


YARDSTICK = MixtureYardstick()
