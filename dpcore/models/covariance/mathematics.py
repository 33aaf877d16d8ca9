"""Covariance from noisy moments, and what follows from it: correlations and principal components.

Every function is total, reads released numbers only, and changes nothing where there is no noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.models.shared.moments import TINY, finite
from dpcore.models.shared.second_moments import AllRows, Ellipsoid, sized

FLOOR = 0.5  # of the noise's level; a smaller eigenvalue cannot be told from noise
LARGEST_FLOOR = 0.25  # of the mean eigenvalue
ROUNDING = 1e-11  # a variance that rounding leaves of a column that does not vary


@dataclass(frozen=True)
class Covariances:
    """B means ``(B, d)`` and covariances ``(B, d, d)``, divided by n - 1."""

    mean: Array
    covariance: Array

    def back(self, ball: Ellipsoid) -> Covariances:
        """Unit coordinates, from those of a ball."""
        stretch = ball.axes[:, :, None] * ball.axes[:, None, :]
        return Covariances(ball.middle + ball.axes * self.mean, stretch * self.covariance)


def repaired(released: AllRows) -> Covariances:
    """Finite means, and covariances that some rows have.

    What the noise of the mean adds to the covariance on average is taken out. Then the eigenvalues
    are moved by :func:`lifted`. The error of the matrix (Frobenius) was down to half of what it is
    after the usual step, by which negative eigenvalues become 0. A matrix that this made larger
    than noise and distances let expect is scaled down, which leaves the correlations.
    """
    mean, mean_sd = finite(released.mean), released.mean_sd
    dim, rows = mean.shape[-1], np.maximum(finite(released.rows), 1.0)
    unbiased = rows / np.maximum(rows - 1.0, 1.0)
    moment, most = finite(released.second_moment), unbiased * released.radius**2
    if released.usual is not None:
        moment, size = sized(moment, released.usual, released.sd)
        most = np.minimum(most, unbiased * dim * size)
    centred = moment - mean[..., None] * mean[:, None, :]
    centred += (mean_sd**2)[:, None, None] * np.eye(dim)
    crossed = np.sum(mean * mean, axis=-1) * mean_sd**2  # of mean x mean', as of a spike
    noise = unbiased * np.sqrt(released.sd**2 + 2.0 * crossed)
    covariance = lifted(unbiased[:, None, None] * centred, noise)
    trace = np.trace(covariance, axis1=-2, axis2=-1)
    covariance *= np.minimum(1.0, most / np.maximum(trace, TINY * TINY))[:, None, None]
    still = np.diagonal(covariance, axis1=-2, axis2=-1) <= ROUNDING
    covariance = np.where(still[:, :, None] | still[:, None, :], 0.0, covariance)
    return Covariances(mean, covariance)


def lifted(matrices: Array, noise: Array) -> Array:
    """The nearest symmetric matrices ``(B, d, d)`` with the same trace and no eigenvalue that is
    lost in the noise.

    noise ``(B,)``: deviation in a diagonal entry. A trace below its own noise is raised to it;
    eigenvalues are kept above :data:`FLOOR` of the level ``sqrt(d / 2)`` deviations, or
    :data:`LARGEST_FLOOR` of their mean where that is less. All are moved by one number, and raised
    where they end below that (Duchi, Shalev-Shwartz, Singer, Chandra 2008: projection onto a
    simplex). Total; without noise, matrices without negative eigenvalues stay.
    """
    dim = matrices.shape[-1]
    values, vectors = np.linalg.eigh((matrices + np.swapaxes(matrices, -1, -2)) / 2)
    trace = np.maximum(values.sum(axis=-1), math.sqrt(dim) * noise)
    least = np.minimum(FLOOR * math.sqrt(dim / 2) * noise, LARGEST_FLOOR * trace / dim)
    above, room = values[:, ::-1] - least[:, None], trace - dim * least
    shifts = (np.cumsum(above, axis=-1) - room[:, None]) / np.arange(1.0, dim + 1.0)
    last = np.maximum(np.sum(above > shifts, axis=-1), 1) - 1
    shift = np.take_along_axis(shifts, last[:, None], axis=-1)
    moved = np.maximum(values - least[:, None] - shift, 0.0) + least[:, None]
    return np.asarray((vectors * moved[:, None, :]) @ np.swapaxes(vectors, -1, -2))


def correlations(covariance: Array) -> Array:
    """Correlations ``(..., d, d)`` of covariances, in [-1, 1]; 0 beside a column that does not
    vary."""
    deviation = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))
    product = deviation[..., :, None] * deviation[..., None, :]
    correlation = np.clip(covariance / np.where(product > 0.0, product, 1.0), -1.0, 1.0)
    return np.asarray(np.where(np.eye(covariance.shape[-1], dtype=bool), 1.0, correlation))


def pairs(matrices: Array) -> Array:
    """Entries above the diagonal ``(..., d (d - 1) / 2)``."""
    return np.asarray(matrices[..., *np.triu_indices(matrices.shape[-1], 1)])


def principal(covariance: Array) -> tuple[Array, Array]:
    """Variances ``(..., d)``, largest first, along the principal axes ``(..., d, d)``, a row each.

    Of each axis the largest entry is above 0, as in scikit-learn.
    """
    values, vectors = np.linalg.eigh(covariance)
    axes = np.swapaxes(vectors, -1, -2)[..., ::-1, :]
    largest = np.argmax(np.abs(axes), axis=-1)[..., None]
    signs = np.where(np.take_along_axis(axes, largest, axis=-1) < 0.0, -1.0, 1.0)
    return np.maximum(values[..., ::-1], 0.0), axes * signs


def shares(variances: Array) -> Array:
    """Variances ``(..., d)`` as shares of their sum; 0 where nothing varies."""
    total = variances.sum(axis=-1, keepdims=True)
    return np.asarray(variances / np.where(total > TINY * TINY, total, 1.0))
