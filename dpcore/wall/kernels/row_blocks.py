"""Blocks: some clipped rows, ready for the two products an EM step asks of them.

The E step of a mixture is linear in the features ``[1, y, s(y)]`` of a row, and so is the sum it
asks for. Two kinds of block do these products; they differ in what they keep in memory:

=============  ==================================================================================
features       ``(p, n)`` of one frame: two thin matrix products
rows           high dimension, where features would be ``n d^2 / 2`` numbers: full squares are
               formed by products of the rows themselves
=============  ==================================================================================

**Blocks of one size.** What a model makes of a row must not depend on where in a block it stands.

Matrix products treat the last rows of a block otherwise than the rest, and small blocks otherwise
than large ones; the difference is rounding, but a model in single precision can turn it into much
more, and so can a density where groups are narrow. Where a row is added, or changes its class, all
rows behind it move up one place: then each would make another contribution, by an amount that no
lemma covers. So whatever leaves for good comes from blocks of one size, filled up with rows of
zeros, in which no row stands near the end. Where a row is replaced no place changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.mechanisms.gaussian import symmetric_from_coordinates
from dpcore.mechanisms.gaussian import symmetric_to_coordinates as _symmetric

Cell = TypeVar("Cell", bound=np.generic)
Look = Callable[[Array], tuple[Array, ...]]

GRID_BITS = 30  # coordinates are multiples of 2^-30 of the radius (rounded up to a power of 2)
TREE_DIM = 3  # above it nearly every box of rows meets a border, and blocks are faster than a tree
STRIPES = 5  # a symmetric form is applied as a lower triangle of so many stripes
SPARE = 48  # rows of zeros at the end: more than a product's kernel takes at once


class Block(Protocol):
    """Some clipped rows, seen by a model's E step."""

    @property
    def count(self) -> int:
        """How many rows."""

    def scores(self, coefficients: Array) -> Array:
        """``(b, K, m)``: for each row the inner products of its features with ``(b, p, K)``."""

    def weighted_sum(self, weights: Array) -> Array:
        """``(b, K, p)``: sum over the block's rows of weights ``(b, K, m)`` times features."""


@dataclass(frozen=True, repr=False)
class Features:
    """A block with its features ``(F, p, m)`` at hand; F is 1 or the number of runs."""

    features: Array

    def __post_init__(self) -> None:
        self.features.flags.writeable = False  # a model looks, and leaves them as they are

    @property
    def count(self) -> int:
        """As :class:`Block` says."""
        return int(self.features.shape[-1])

    def scores(self, coefficients: Array) -> Array:
        """As :class:`Block` says: one product of thin matrices."""
        return product(np.swapaxes(coefficients, -1, -2), self.features)

    def weighted_sum(self, weights: Array) -> Array:
        """As :class:`Block` says: one product of thin matrices."""
        return product(weights, np.swapaxes(self.features, -1, -2))


@dataclass(frozen=True, repr=False)
class FromRows:
    """A block of rows ``(d, m)`` in high dimension, full squares: no features are formed."""

    rows: Array

    def __post_init__(self) -> None:
        self.rows.flags.writeable = False

    @property
    def count(self) -> int:
        """As :class:`Block` says."""
        return int(self.rows.shape[-1])

    def scores(self, coefficients: Array) -> Array:
        """As :class:`Block` says: ``y^T S y`` is ``y^T U y`` with U upper triangular, little more
        than half the work."""
        dim, count = self.rows.shape
        runs, _, components = coefficients.shape
        constant, linear, squares = np.split(np.swapaxes(coefficients, 1, 2), [1, 1 + dim], axis=2)
        forms = symmetric_from_coordinates(squares, dim).reshape(-1, dim, dim)
        out = linear.reshape(-1, dim) @ self.rows
        out += constant.reshape(-1, 1)
        for first, last in stripes(dim):
            upper = forms[:, first:last, first:].copy()
            upper[:, :, last - first :] *= 2.0
            product = upper.reshape(-1, dim - first) @ self.rows[first:]
            product = product.reshape(-1, last - first, count)
            out += np.einsum("kim,im->km", product, self.rows[first:last])
        return out.reshape(runs, components, count)

    def weighted_sum(self, weights: Array) -> Array:
        """As :class:`Block` says: the upper triangle of ``sum w y y^T``, in stripes."""
        dim, count = self.rows.shape
        shape = weights.shape[:2]
        squares = np.zeros((*shape, dim, dim))
        for first, last in stripes(dim):
            weighted = (weights[:, :, None] * self.rows[first:last]).reshape(-1, count)
            upper = weighted @ self.rows[first:].T
            squares[:, :, first:last, first:] = upper.reshape(*shape, last - first, -1)
        sums = weights @ self.rows.T
        counts = weights.sum(axis=-1)[..., None]
        return np.concatenate([counts, sums, _symmetric(squares)], axis=-1)


def product(left: Array, right: Array) -> Array:
    """``left (b, K, k) @ right (F, k, m)``: one product where F = 1."""
    runs, components, _ = left.shape
    left = np.ascontiguousarray(left)  # other strides would miss the fast product
    if len(right) == 1:
        left = left.reshape(1, runs * components, -1)
    return np.asarray((left @ right).reshape(runs, components, -1))


def stripes(dim: int) -> list[tuple[int, int]]:
    """Ranges of rows of a ``dim x dim`` matrix, of nearly equal size."""
    edges = np.linspace(0, dim, min(dim, STRIPES) + 1).astype(int).tolist()
    return list(pairwise(edges))


def filled_up(rows: NDArray[Cell], size: int) -> NDArray[Cell]:
    """Rows ``(m, ...)`` with zeros after them, :data:`SPARE` more than ``size``."""
    block = np.zeros((size + SPARE, *rows.shape[1:]), rows.dtype)
    block[: len(rows)] = rows
    return block


def looked_at(rows: Array, size: int, look: Look) -> tuple[Array, ...]:
    """What ``look`` says of at most ``size`` rows ``(m, d)``: arrays whose first axis is the rows.

    **Guarantee.** The same bits for a row wherever it stands and whatever stands beside it, if
    ``look`` treats each row alike and apart, and its products run on one thread
    (:mod:`dpcore.wall.kernels.threads`): two would share a block, which then has two ends.
    Raises ValueError for an answer of another shape.
    """
    block = filled_up(rows, size)
    block.flags.writeable = False  # a model looks, and leaves them as they are
    answers = look(block)
    for part in answers:
        if np.shape(part)[:1] != (len(block),):
            raise ValueError(
                "the model returned an array whose shape does not match the rows it was given"
            )
    return tuple(part[: len(rows)] for part in answers)


def pieces(count: int, step: int) -> list[slice]:
    """``0, 1, ..., count - 1`` in pieces of ``step``; the last may be smaller."""
    step = max(1, step)
    return [slice(at, min(count, at + step)) for at in range(0, count, step)]


def tiles(runs: int, rows: int, together: int, height: int) -> Iterator[tuple[slice, slice]]:
    """Pairs (runs, rows), runs outermost: so many runs together, and so many rows."""
    return ((some, members) for some in pieces(runs, together) for members in pieces(rows, height))


def cut_to_grid(rows: Array, radius: float) -> Array:
    """Rows ``(n, d)`` or ``(d, n)`` cut towards 0 to multiples of ``2^-GRID_BITS`` of the radius
    rounded up; as they are, where it is infinite."""
    if not math.isfinite(radius) or radius <= 0.0:
        return rows
    step = 2.0 ** (math.ceil(math.log2(radius)) - GRID_BITS)
    return np.asarray(np.trunc(rows / step) * step)
