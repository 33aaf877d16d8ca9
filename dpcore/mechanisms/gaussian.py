"""The Gaussian mechanism: add normal noise in proportion to the L2 sensitivity.

Dwork, Roth 2014, Theorem A.1; its exact privacy: Balle, Wang 2018, Theorem 8. Noise is the same in
every direction (isotropic); a symmetric matrix is handled by coordinates whose Euclidean norm is
its Frobenius norm: the diagonal as it is, each entry above it times the square root of 2.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpcore.arrays import Array, Indices


def noise_scale(noise_multiplier: Array, sensitivity: float) -> Array:
    """Standard deviation of the noise, rounded up by one unit in the last place.

    noise_multiplier: any shape, which the answer has too. sensitivity: L2, of the sum that gets the
    noise, in its units. Any larger scale gives the guarantee as well, so rounding up never weakens
    it.

    >>> float(noise_scale(np.array(2.0), 1.5)) >= 3.0
    True
    """
    return np.nextafter(noise_multiplier * sensitivity, np.inf)


def symmetric_size(dim: int) -> int:
    """Number of coordinates of a symmetric ``dim x dim`` matrix."""
    return dim * (dim + 1) // 2


def symmetric_to_coordinates(matrix: Array) -> Array:
    """Coordinates ``(..., d(d+1)/2)`` of symmetric matrices ``(..., d, d)``, keeping the norm.

    First the diagonal, then each entry above it times the square root of 2, so that the Euclidean
    norm of the coordinates is the Frobenius norm of the matrix. Only the upper triangle is read.

    >>> m = np.array([[1.0, 2.0], [2.0, 3.0]])
    >>> bool(np.isclose(np.sum(symmetric_to_coordinates(m) ** 2), np.sum(m**2)))
    True
    """
    dim = matrix.shape[-1]
    out = matrix.reshape(*matrix.shape[:-2], dim * dim).take(_places(dim)[0], axis=-1)
    out[..., dim:] *= np.sqrt(2.0)
    return np.asarray(out)


def symmetric_from_coordinates(coordinates: Array, dim: int) -> Array:
    """Symmetric matrices ``(..., d, d)`` of coordinates ``(..., d(d+1)/2)``: the inverse of
    :func:`symmetric_to_coordinates`.

    Normal noise added to the coordinates is normal noise on the matrix, with the same standard
    deviation on the diagonal and 1/sqrt 2 of it elsewhere. dim: d.
    """
    entries = np.array(coordinates)
    entries[..., dim:] /= np.sqrt(2.0)
    return entries.take(_places(dim)[1], axis=-1)


@lru_cache(maxsize=4)
def _places(dim: int) -> tuple[Indices, Indices]:
    """Which entry of a matrix, row by row, each coordinate ``(d(d+1)/2,)`` is, and which coordinate
    each entry ``(d, d)`` is."""
    rows, columns = np.triu_indices(dim, 1)
    step, back = np.arange(dim), np.empty((dim, dim), dtype=np.intp)
    back[step, step] = step
    back[rows, columns] = back[columns, rows] = dim + np.arange(len(rows))
    return np.concatenate([step * (dim + 1), rows * dim + columns]), back
