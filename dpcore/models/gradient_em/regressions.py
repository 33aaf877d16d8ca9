r"""The mixture of two regressions: lines through the origin with slopes ``beta`` and ``-beta``.

``y = Z <x, beta> + V`` with Z a fair sign, x of mean 0 and covariance 1, V normal with standard
deviation sigma. Gradients are those of ``sigma^2 log p(y | x)``. Wang, Ding, Hu, Xie, Pan, Xu 2023,
section 3; Balakrishnan, Wainwright, Yu 2017.

Every array carries a leading axis of B parameter sets; rows run along the last.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array
from dpcore.mechanisms.gaussian import symmetric_from_coordinates

TARGET, MASKED = True, False
WEIGHTS = (0.8, 0.6)  # of what targets say of a direction, and of what rows say without them


def gradients(
    beta: Array, sigma: float, rows: Array, targets: Array | None, observed: object
) -> Array:
    """Gradient of each row ``(B, d, m)``: ``(tanh(y f/sigma^2) y - f) x`` with ``f = <x, beta>``.

    rows ``(d, m)``, targets ``(m,)``.
    """
    assert targets is not None  # the recipe asks for them
    fitted = beta @ rows
    factor = np.tanh(targets * fitted / sigma**2) * targets - fitted
    return np.asarray(factor[:, None] * rows)


def directions(sigma: float, reach: float, rows: Array, targets: Array) -> Array:
    """For each row ``(d(d+1), m)``: coordinates of ``w u u^T`` and of ``u u^T``, by their weights;
    no longer than 1.

    ``u = x/|x|``; w rises from -1, for a target of 0, to 1, for one of ``reach``, with the
    logarithm of its size beside sigma, so that wide limits cost little.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        size = np.log(np.hypot(1.0, targets / sigma)) / np.log(math.hypot(1.0, reach / sigma))
        along = rows / np.maximum(np.linalg.norm(rows, axis=0), np.finfo(float).tiny)
        first, second = np.triu_indices(len(rows), 1)  # the order of symmetric_from_coordinates
        across = math.sqrt(2.0) * along[first] * along[second]
        square = np.concatenate([along**2, across])
        return np.concatenate([WEIGHTS[0] * (2.0 * size - 1.0) * square, WEIGHTS[1] * square])


def first_direction(sums: Array, count: Array, dim: int) -> Array:
    """From sums ``(B, d(d+1))`` over so many rows ``(B,)`` of :func:`directions`: where targets are
    large, unit vectors ``(B, d)``.

    The first eigenvector of the covariance of w and ``u u^T``, which is that of ``w u u^T`` less
    the mean of w times that of ``u u^T``: for x of mean 0 and covariance 1 along beta, since a
    target is large where x lies along it, and not along what x itself is long in.
    """
    both = symmetric_from_coordinates(sums.reshape(len(sums), 2, -1), dim)
    weighted, plain = (both[:, part] / weight for part, weight in enumerate(WEIGHTS))
    mean = np.clip(np.trace(weighted, axis1=1, axis2=2) / count, -1.0, 1.0)
    return np.asarray(np.linalg.eigh(weighted - mean[:, None, None] * plain)[1][..., -1])


def log_likelihood(
    beta: Array, sigma: float, rows: Array, targets: Array | None, observed: object
) -> Array:
    """Mean log density of a target given its row ``(B,)``."""
    assert targets is not None
    fitted = beta @ rows
    lean = targets * fitted / sigma**2
    squares = np.mean(targets**2 + fitted**2, axis=1) / (2.0 * sigma**2)
    constant = math.log(2.0) + 0.5 * math.log(2.0 * math.pi * sigma**2)
    return np.asarray(np.mean(np.logaddexp(lean, -lean), axis=1) - squares - constant)
