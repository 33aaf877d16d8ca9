"""Vectors ``(1, z, z z^T)`` of public rows, in coordinates in which none is longer than 1.

Noise that is round there has, in the vectors' own coordinates, the least trace that covers every
row (``min_trace``), measured in units of a standard Gaussian's second moments of
the same vector: what counts is the information that they carry on share, mean and covariance.
"""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array
from dpcore.mechanisms.gaussian import (
    symmetric_from_coordinates,
    symmetric_size,
    symmetric_to_coordinates,
)
from dpcore.models.labelled_mixture.min_trace import min_trace_covariance
from dpcore.models.shared.moments import floored_eigenvalues

TOLERANCE = 1e-6  # relative gap of the noise's trace to the least one


def width(dim: int) -> int:
    """Length of a vector.

    >>> width(3)
    10
    """
    return 1 + dim + symmetric_size(dim)


def shaped(rows: Array, solver: str = "exact") -> tuple[Array, Array]:
    """Vectors ``(n, p)`` of rows ``(n, d)`` in those coordinates, and the map back ``(p, p)``."""
    outer = symmetric_to_coordinates(rows[:, :, None] * rows[:, None, :])
    vectors = np.concatenate([np.ones((len(rows), 1)), rows, outer], axis=1)
    solved = min_trace_covariance(
        vectors, information(rows.shape[1]), tolerance=TOLERANCE, solver=solver
    )
    cover = solved.covariance
    root = symmetric_root(cover + 1e-12 * np.trace(cover) * np.eye(len(cover)))
    return np.asarray(vectors @ np.linalg.inv(root)), root


def unpacked(vectors: Array, dim: int) -> tuple[Array, Array, Array]:
    """Counts ``(...)``, sums ``(..., d)`` and squares ``(..., d, d)`` from vectors ``(..., p)``."""
    counts, sums, squares = np.split(vectors, [1, 1 + dim], axis=-1)
    return counts[..., 0], sums, symmetric_from_coordinates(squares, dim)


def moved(matrices: Array, shifts: Array) -> Array:
    """Maps ``(..., p, p)`` that take the vector of z to that of ``A z + t``.

    matrices ``(..., d, d)``: A; shifts ``(..., d)``: t. The vector is linear in its own parts, so a
    sum of vectors in one frame is known in every other.

    >>> moved(np.array([[2.0]]), np.array([3.0])) @ np.array([1.0, 5.0, 25.0])
    array([  1.,  13., 169.])
    """
    dim = shifts.shape[-1]
    count, sums, squares = unpacked(np.eye(width(dim)), dim)
    matrices, shifts = matrices[..., None, :, :], shifts[..., None, :]
    turned = (matrices @ sums[..., None])[..., 0]
    beside = turned[..., :, None] * shifts[..., None, :]
    outer = count[:, None, None] * shifts[..., :, None] * shifts[..., None, :]
    square = matrices @ squares @ np.swapaxes(matrices, -1, -2)
    square = square + beside + np.swapaxes(beside, -1, -2) + outer
    counts = np.broadcast_to(count[:, None], (*turned.shape[:-1], 1))
    sums = turned + count[:, None] * shifts
    vectors = np.concatenate([counts, sums, symmetric_to_coordinates(square)], axis=-1)
    return np.swapaxes(vectors, -1, -2)


def joined(values: Array, noise: Array, other: Array, others: Array) -> tuple[Array, Array]:
    """Two noisy vectors ``(..., p)`` of the same, as one, and its noise.

    noise, others ``(..., p, p)``: their covariances. The best linear mean (Gauss and Markov).
    """
    gain = np.swapaxes(np.linalg.solve(noise + others, noise), -1, -2)
    mean = values + (gain @ (other - values)[..., None])[..., 0]
    left = noise - gain @ noise
    return mean, (left + np.swapaxes(left, -1, -2)) / 2


def information(dim: int) -> Array:
    """Second moments ``(p, p)`` of the vector of a standard Gaussian, norm-keeping coordinates."""
    out = np.eye(width(dim))
    on = slice(1 + dim, 1 + 2 * dim)
    out[0, on] = out[on, 0] = 1.0
    out[on, on] += 1.0 + np.eye(dim)
    beside = np.arange(1 + 2 * dim, len(out))
    out[beside, beside] = 2.0
    return out


def symmetric_root(matrices: Array) -> Array:
    """Symmetric roots ``(..., d, d)`` of positive matrices; total."""
    sized = floored_eigenvalues(matrices, np.zeros(matrices.shape[:-2]))
    values, vectors = np.linalg.eigh(sized)
    root = np.sqrt(np.maximum(values, 1e-300))[..., None, :]
    return np.asarray((vectors * root) @ np.swapaxes(vectors, -1, -2))
