"""Second moments: what a release says of all rows, and matrices that are never formed where a thin
product can take their place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpcore.arrays import Array
from dpcore.models.shared.moments import TINY, finite
from dpcore.models.shared.threads import thin_product

BLOCK_NUMBERS = 1 << 22  # numbers a product with rows may hold: 32 MiB


@dataclass(frozen=True)
class AllRows:
    """What a release says of all rows together.

    rows ``(B,)``: how many there are, as far as known. mean ``(B, d)`` and second_moment
    ``(B, d, d)`` about the origin. sd ``(B,)``: of the noise in a diagonal entry of the second
    moment (beside the diagonal it is ``sd / sqrt 2``); mean_sd ``(B,)``: in each coordinate of the
    mean. radius: the most that a norm can be, ``(B,)`` or of all runs. usual ``(B,)``: variance of
    a column that released distances let expect, where there are any.
    """

    rows: Array
    mean: Array
    second_moment: Array
    sd: Array
    mean_sd: Array
    radius: Array | float = math.inf
    usual: Array | None = None


@dataclass(frozen=True)
class Ellipsoid:
    """Ellipsoids of the runs along the columns, in which ``y = (u - middle) / axes`` of unit
    coordinates u: middle ``(B, d)``, axes ``(B, d)``, or ``(B, 1)`` of balls. counted: the
    distances that said where it is best; see :class:`~dpcore.models.shared.location.Location`."""

    middle: Array
    axes: Array
    counted: tuple[Array, Array, Array] | None = None


def sized(second_moment: Array, usual: Array, sd: Array) -> tuple[Array, Array]:
    """Second moments ``(B, d, d)`` whose mean variance leaves a usual one ``(B,)`` by the share of
    signal in it, and that mean variance ``(B,)``; sd ``(B,)``: noise in a diagonal entry."""
    dim = second_moment.shape[-1]
    step, out = np.arange(dim), second_moment.copy()
    observed = finite(np.trace(second_moment, axis1=-2, axis2=-1)) / dim
    off = (USUAL_OFF * usual) ** 2
    moved = observed - usual
    size = usual + off / np.maximum(off + sd**2 / dim, TINY * TINY) * moved
    size = np.maximum(size, LEAST_USUAL * usual)
    out[:, step, step] += (size - observed)[:, None]
    return out, size


USUAL_OFF = 0.5  # of a usual variance, by which the true one differs
LEAST_USUAL = 0.1  # of it, that noise leaves at least


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
        """The product with ``(B, d, m)``: ``(B, d, m)``."""
        if len(self.matrices) == len(thin) == 1:
            return thin_product(self.matrices[0], thin[0])[None]
        return np.asarray(self.matrices @ thin)

    def diagonal(self) -> Array:
        """``(B, d)``."""
        return np.asarray(np.diagonal(self.matrices, axis1=-2, axis2=-1))


@dataclass(frozen=True)
class Gram:
    """``X'X / n`` of rows ``(n, d)``, never formed: two thin products take its place."""

    rows: Array

    def times(self, thin: Array) -> Array:
        """The product with ``(B, d, m)``: ``(B, d, m)``."""
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
        """``(1, d)``."""
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
        """The product with ``(B, d, m)``: ``(B, d, m)``."""
        inner = self.gain[..., None] * (transposed(self.vectors) @ thin)
        return np.asarray(self.base.times(thin) + self.vectors @ inner)

    def diagonal(self) -> Array:
        """``(B, d)``."""
        moved = np.einsum("bij,bj,bij->bi", self.vectors, self.gain, self.vectors)
        return np.asarray(self.base.diagonal() + moved)


@dataclass(frozen=True)
class Diagonal:
    """Matrices with nothing beside their diagonal ``(B, d)``."""

    entries: Array

    def times(self, thin: Array) -> Array:
        """The product with ``(B, d, m)``: ``(B, d, m)``."""
        return np.asarray(self.entries[..., None] * thin)

    def diagonal(self) -> Array:
        """``(B, d)``."""
        return self.entries


@dataclass(frozen=True)
class Shared:
    """One matrix ``(d, d)`` for all runs."""

    matrix: Array

    def times(self, thin: Array) -> Array:
        """The product with ``(B, d, m)``: ``(B, d, m)``."""
        return np.asarray(self.matrix @ thin)

    def diagonal(self) -> Array:
        """``(1, d)``."""
        return np.asarray(np.diagonal(self.matrix)[None])


def second_moment_of(rows: Array) -> SecondMoment:
    """``X'X / n`` of rows ``(n, d)``, formed where that is the smaller of the two."""
    if len(rows) <= rows.shape[1]:
        return Gram(rows)
    return Shared(rows.T @ rows / len(rows))


def transposed(matrix: Array) -> Array:
    """Each matrix of a stack ``(..., a, b)``, transposed."""
    return np.swapaxes(matrix, -1, -2)
