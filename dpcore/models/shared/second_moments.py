"""Matrices of second moments that are never formed where a thin product can take their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpcore.models.shared.threads import thin_product

Array = NDArray[np.float64]

BLOCK_NUMBERS = 1 << 22  # numbers a product with rows may hold: 32 MiB


class SecondMoment(Protocol):
    """A symmetric matrix for each run that is only ever multiplied with thin ones."""

    def times(self, thin: Array) -> Array:
        """The product with ``(B, d, m)``: ``(B, d, m)``."""
        ...

    def diagonal(self) -> Array:
        """``(B, d)``, or ``(1, d)`` where the runs share one matrix."""
        ...


@dataclass(frozen=True)
class Dense:
    """Matrices ``(B, d, d)`` that are there in full."""

    matrices: Array

    def times(self, thin: Array) -> Array:
        if len(self.matrices) == len(thin) == 1:
            return thin_product(self.matrices[0], thin[0])[None]
        return np.asarray(self.matrices @ thin)

    def diagonal(self) -> Array:
        return np.asarray(np.diagonal(self.matrices, axis1=-2, axis2=-1))


@dataclass(frozen=True)
class Gram:
    """``X'X / n`` of rows ``(n, d)``, never formed: two thin products take its place."""

    rows: Array

    def times(self, thin: Array) -> Array:
        out = np.empty_like(thin)
        step = max(1, BLOCK_NUMBERS // max(1, len(self.rows) * thin.shape[2]))
        for first in range(0, len(thin), step):
            some = thin[first : first + step]
            flat = np.swapaxes(some, 0, 1).reshape(some.shape[1], -1)  # all runs in one product
            product = self.rows.T @ (self.rows @ flat) / max(1, len(self.rows))
            out[first : first + step] = np.swapaxes(
                product.reshape(some.shape[1], *some.shape[::2]), 0, 1
            )
        return out

    def diagonal(self) -> Array:
        return np.asarray(np.mean(self.rows * self.rows, axis=0)[None])


@dataclass(frozen=True)
class Spiked:
    """``matrix + V diag(gain) V'``: a matrix with some of its eigenvalues moved.

    base: the matrices, or only their diagonal part; vectors ``(B, d, m)``, gain ``(B, m)``.
    """

    base: SecondMoment
    vectors: Array
    gain: Array

    def times(self, thin: Array) -> Array:
        inner = self.gain[..., None] * (transposed(self.vectors) @ thin)
        return np.asarray(self.base.times(thin) + self.vectors @ inner)

    def diagonal(self) -> Array:
        moved = np.einsum("bij,bj,bij->bi", self.vectors, self.gain, self.vectors)
        return np.asarray(self.base.diagonal() + moved)


@dataclass(frozen=True)
class Diagonal:
    """Matrices with nothing beside their diagonal ``(B, d)``."""

    entries: Array

    def times(self, thin: Array) -> Array:
        return np.asarray(self.entries[..., None] * thin)

    def diagonal(self) -> Array:
        return self.entries


@dataclass(frozen=True)
class Shared:
    """One matrix ``(d, d)`` for all runs."""

    matrix: Array

    def times(self, thin: Array) -> Array:
        return np.asarray(self.matrix @ thin)

    def diagonal(self) -> Array:
        return np.asarray(np.diagonal(self.matrix)[None])


def second_moment_of(rows: Array) -> SecondMoment:
    """``X'X / n``, formed where that is the smaller of the two."""
    if len(rows) <= rows.shape[1]:
        return Gram(rows)
    return Shared(rows.T @ rows / len(rows))


def transposed(matrix: Array) -> Array:
    """Each matrix of a stack, transposed."""
    return np.swapaxes(matrix, -1, -2)
