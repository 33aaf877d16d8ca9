"""The Gaussian mechanism: add normal noise in proportion to the L2 sensitivity.

Dwork, Roth 2014, Theorem A.1; its exact privacy: Balle, Wang 2018, Theorem 8. Noise is the same in
every direction (isotropic); a symmetric matrix is handled by coordinates whose Euclidean norm is
its Frobenius norm: the diagonal as it is, each entry above it times the square root of 2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpcore.arrays import Array

LARGE = 96  # from this dimension on, lists of positions cost more than a loop over rows
TILE = 64


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
    if dim >= LARGE:
        out = np.empty((*matrix.shape[:-2], symmetric_size(dim)))
        out[..., :dim] = np.diagonal(matrix, axis1=-2, axis2=-1)
        for row, span in _beside(dim):
            np.multiply(matrix[..., row, row + 1 :], np.sqrt(2.0), out=out[..., span])
        return out
    rows, columns = np.triu_indices(dim, 1)
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    return np.concatenate([diagonal, np.sqrt(2.0) * matrix[..., rows, columns]], axis=-1)


def symmetric_from_coordinates(coordinates: Array, dim: int) -> Array:
    """Symmetric matrices ``(..., d, d)`` of coordinates ``(..., d(d+1)/2)``: the inverse of
    :func:`symmetric_to_coordinates`.

    Normal noise added to the coordinates is normal noise on the matrix, with the same standard
    deviation on the diagonal and 1/sqrt 2 of it elsewhere. dim: d.
    """
    matrix = np.zeros((*coordinates.shape[:-1], dim, dim))
    step = np.arange(dim)
    if dim >= LARGE:
        for row, span in _beside(dim):
            np.divide(coordinates[..., span], np.sqrt(2.0), out=matrix[..., row, row + 1 :])
        _mirror(matrix)
        matrix[..., step, step] = coordinates[..., :dim]
        return matrix
    rows, columns = np.triu_indices(dim, 1)
    upper = coordinates[..., dim:] / np.sqrt(2.0)
    matrix[..., rows, columns] = upper
    matrix[..., columns, rows] = upper
    matrix[..., step, step] = coordinates[..., :dim]
    return matrix


def _beside(dim: int) -> Iterator[tuple[int, slice]]:
    """For each row of a matrix, which coordinates are its entries above the diagonal."""
    at = dim
    for row in range(dim - 1):
        end = at + dim - 1 - row
        yield row, slice(at, end)
        at = end


def _mirror(matrix: Array) -> None:
    """Copy the upper triangle below the diagonal, in tiles that stay in the processor's cache."""
    dim = matrix.shape[-1]
    for first in range(0, dim, TILE):
        rows = slice(first, first + TILE)
        corner = matrix[..., rows, rows]
        corner += np.swapaxes(np.triu(corner, 1), -1, -2)
        for second in range(first + TILE, dim, TILE):
            columns = slice(second, second + TILE)
            matrix[..., columns, rows] = np.swapaxes(matrix[..., rows, columns], -1, -2)
