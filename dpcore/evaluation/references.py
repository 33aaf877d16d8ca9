"""References: what a private fit is held against. None of them is private.

*Converged*: scikit-learn's mixture, the best of several starts: the real rival. *Our own steps*:
the same few iterations without noise. Beside them stand the simplest baselines: one Gaussian, and
knowing nothing but the public bounds.
"""

from __future__ import annotations

import numpy as np

from dpcore.models.gmm import Mixture
from dpcore.wall.clip import PublicFrame
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

_SKLEARN = {"full": "full", "diag": "diag", "spherical": "spherical"}


def converged(
    table: PrivateTable, components: int, covariance: str = "full", *, starts: int = 5
) -> Mixture:
    """Maximum likelihood mixture in public unit coordinates, a batch of one; its components stand
    in the order of their means, first column first.

    scikit-learn's EM to tolerance 1e-4, the best of ``starts`` k-means starts.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits

    _, rows = custodian_rows(table)
    model = GaussianMixture(
        components,
        covariance_type=_SKLEARN[covariance],
        n_init=starts,
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


def bounds_alone(public: PublicFrame) -> float:
    """Log density, in public unit coordinates, of the uniform law on what the bounds allow.

    This is all that can be said without any data: the box ``[-1, 1]^d`` or the unit ball.
    """
    from scipy.special import gammaln

    dim = public.dim
    if public.is_ball:
        return float(gammaln(dim / 2 + 1) - dim / 2 * np.log(np.pi))
    return float(-dim * np.log(2.0))
