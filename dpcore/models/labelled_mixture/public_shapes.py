"""Shapes of public features, and the classes as blends of them.

Where only labels are protected, a mixture may be fitted to the features at no cost; what remains to
be released is how much of each of its shapes belongs to each class: one small table.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.models.shared.moments import TINY, finite
from dpcore.wall.kernels.threads import one_thread

SIGNIFICANT = 2.5  # an entry of the table counts where it is so many deviations of its noise


@dataclass(frozen=True)
class Shapes:
    """A mixture of public rows: means ``(J, d)``, covariances ``(J, d, d)``, and what part of each
    row belongs to each shape ``(n, J)``."""

    means: Array
    covariances: Array
    parts: Array


@one_thread()
def fitted(rows: Array, classes: int, seed: int = 0) -> Shapes:
    """scikit-learn's mixture of rows ``(n, d)``; the best of three sizes by BIC (Schwarz 1978)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits

    if len(rows) < 2:  # nothing to tell apart
        middle = rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1])
        return Shapes(middle[None], np.eye(rows.shape[1])[None], np.ones((len(rows), 1)))
    tried = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sizes = (classes, int(1.6 * classes) + 1, 2 * classes + 2)
        for size in sorted({min(size, len(rows)) for size in sizes}):
            model = GaussianMixture(size, n_init=3, random_state=seed, reg_covar=1e-9)
            tried.append(model.fit(rows))
    best = min(tried, key=lambda model: model.bic(rows))
    means, covariances = np.asarray(best.means_), np.asarray(best.covariances_)
    return Shapes(means, covariances, np.asarray(best.predict_proba(rows)))


def blended(table: Array, deviation: Array, shapes: Shapes) -> tuple[Array, Array, Array]:
    """Sizes ``(B, K)``, means and covariances of classes from a noisy table ``(B, K, J)``.

    The table's columns add up to what is public; entries lost in the noise count as none. A class
    with no entry left is a blend of all shapes.
    """
    table = finite(table)
    public = shapes.parts.sum(axis=0)
    table = table + (public - table.sum(axis=1))[:, None] / table.shape[1]
    significant = np.where(table > SIGNIFICANT * deviation[:, None, None], table, 0.0)
    size = significant.sum(axis=2, keepdims=True)
    usual = np.maximum(table, 0.0) + TINY * public
    significant = np.where(size > 0.0, significant, usual)
    sizes = significant.sum(axis=2)
    blend = significant / sizes[..., None]
    means = blend @ shapes.means
    apart = shapes.means - means[:, :, None]
    between = np.einsum("bkj,bkji,bkjl->bkil", blend, apart, apart)
    return sizes, means, np.einsum("bkj,jil->bkil", blend, shapes.covariances) + between
