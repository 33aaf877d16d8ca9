"""Blocks: some clipped rows, ready for the two products an EM step asks of them.

The E step of a mixture is linear in the features ``[1, y, s(y)]`` of a row, and so is the sum it
asks for. Three kinds of block do these products; they differ in what they keep in memory:

=============  ==================================================================================
features       ``(p, n)`` of one frame: two thin matrix products
rows           high dimension, where features would be ``n d^2 / 2`` numbers: full squares are
               formed by products of the rows themselves
shared         a frame for each run of a grid: features of one frame close to all of them, and for
               each run the small linear map from there to its own
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
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.mechanisms.gaussian import symmetric_from_coordinates
from dpcore.mechanisms.gaussian import symmetric_to_coordinates as _symmetric

if TYPE_CHECKING:
    from dpcore.wall.data.clipping_frame import Frame
    from dpcore.wall.statistics.mixture_moments import MixtureMoments

Cell = TypeVar("Cell", bound=np.generic)
Look = Callable[[Array], tuple[Array, ...]]

FEW = 3  # up to so many left rows, products with vectors are faster than one with a matrix
STRIPES = 5  # a symmetric form is applied as a lower triangle of so many stripes
SPARE = 48  # rows of zeros at the end: more than a product's kernel takes at once
FAITHFUL = 1e-10  # rounding that a shared frame may add to a row's contribution, of its bound


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
        return _product(np.swapaxes(coefficients, -1, -2), self.features)

    def weighted_sum(self, weights: Array) -> Array:
        """As :class:`Block` says: one product of thin matrices."""
        return _product(weights, np.swapaxes(self.features, -1, -2))


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


@dataclass
class Lens:
    """The frames of b runs seen from one shared frame.

    With ``x = (1, row)`` in the shared frame, the row in a run's own is ``y = s B x``: its map
    ``B (b, d, d + 1)``, and ``s <= 1`` that draws it into the ball. So every product with the
    features of y is one with those of x, which are formed once for all runs.
    """

    maps: Array
    radius: float
    _norms: Array = field(init=False)
    _inside: float = field(init=False)
    _last: tuple[Array, Array, Array, Array] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        shift, linear = self.maps[:, :, 0], self.maps[:, :, 1:]
        self._norms = _symmetric(np.swapaxes(self.maps, 1, 2) @ self.maps) / self.radius**2
        slack = (self.radius - np.linalg.norm(shift, axis=1)) / np.linalg.norm(linear, 2, (1, 2))
        self._inside = float(slack.min())

    def shrink(self, squares: Array, largest: float) -> Array | None:
        """``s (b, 1, m)``; ``None`` where no row is outside. largest: norm of the longest row."""
        if largest <= self._inside:
            return None
        norms = self._norms @ squares
        if norms.max(initial=0.0) <= 1.0:
            return None
        return np.asarray(1.0 / np.sqrt(np.maximum(norms, 1.0, out=norms), out=norms))[:, None]

    def coefficients(self, own: Array) -> tuple[Array, Array, Array]:
        """Coefficients ``(b, p, K)`` of y as constants, and coefficients of x and ``s(x)``.

        The same ones come with every block of rows, so the last are remembered.
        """
        last = self._last
        if last is not None and np.array_equal(last[0], own):
            return last[1:]
        dim, maps = self.maps.shape[1], self.maps[:, None]
        constant, linear, squares = np.split(np.swapaxes(own, 1, 2), [1, 1 + dim], axis=2)
        forms = np.swapaxes(maps, 2, 3) @ symmetric_from_coordinates(squares, dim) @ maps
        mapped = constant, linear @ self.maps, _symmetric(forms)
        self._last = (own.copy(), *mapped)
        return mapped

    def moments(self, counts: Array, sums: Array, squares: Array) -> Array:
        """Sums ``(b, K, p)`` over the features of y from those over 1, x and ``s(x)``."""
        maps = self.maps[:, None]
        sums = sums @ np.swapaxes(self.maps, 1, 2)
        forms = symmetric_from_coordinates(squares, maps.shape[3])
        forms = maps @ forms @ np.swapaxes(maps, 2, 3)
        return np.concatenate([counts, sums, _symmetric(forms)], axis=-1)


@dataclass(frozen=True, repr=False)
class Shared:
    """A block of rows seen through a lens, with what is needed of them in the shared frame.

    rows ``(d + 1, m)`` are x, squares ``(q, m)`` the coordinates of ``x x^T``; shrink as the lens
    gives it.
    """

    lens: Lens
    rows: Array
    squares: Array
    shrink: Array | None

    def __post_init__(self) -> None:
        self.rows.flags.writeable = self.squares.flags.writeable = False

    @property
    def count(self) -> int:
        """As :class:`Block` says."""
        return int(self.rows.shape[-1])

    def scores(self, coefficients: Array) -> Array:
        """As :class:`Block` says, in the shared frame: the lens brings coefficients there."""
        constant, linear, squares = self.lens.coefficients(coefficients)
        if self.shrink is None:  # x x^T holds 1 and x too
            squares = squares.copy()
            squares[:, :, self._of_rows] += linear / self._worth
            squares[:, :, :1] += constant
            return _product(squares, self.squares[None])
        out = _product(squares, self.squares[None])
        out *= self.shrink
        out += _product(linear, self.rows[None])
        out *= self.shrink
        out += constant
        return out

    def weighted_sum(self, weights: Array) -> Array:
        """``(b, K, 1 + (d + 1) + q)``: sums of w, ``w s x`` and ``w s^2 x x^T``."""
        if self.shrink is None:
            squares = _product(weights, self.squares.T[None])
            sums = squares[:, :, self._of_rows] / self._worth
            return np.concatenate([sums[:, :, :1], sums, squares], axis=-1)
        counts = weights.sum(axis=-1)[..., None]
        weights = weights * self.shrink
        sums = _product(weights, self.rows.T[None])
        weights *= self.shrink
        return np.concatenate([counts, sums, _product(weights, self.squares.T[None])], axis=-1)

    @property
    def _of_rows(self) -> NDArray[np.intp]:
        """Where the coordinates of ``x x^T`` hold x itself: its first column."""
        width = len(self.rows)
        return np.append(0, np.arange(width, 2 * width - 1))

    @property
    def _worth(self) -> Array:
        """What these coordinates are worth: the entries beside the diagonal sqrt 2."""
        return np.append(1.0, np.full(len(self.rows) - 1, math.sqrt(2.0)))


def maps_between(shared: Frame, frame: Frame) -> Array:
    """``B (F, d, d + 1)`` with ``y = B (1, x)`` for x in the shared frame, y in each run's own."""
    linear = frame.matrix @ shared.inverse
    shift = frame.matrix @ (shared.center - frame.center)[..., None]
    return np.concatenate([shift, linear], axis=2)


def shared_features(units: Array, shared: Frame, shape: MixtureMoments) -> Array:
    """``(1, 2 + d + q, m)``: features of ``x = (1, row)`` for rows ``(m, d)``: 1, x, ``s(x)``."""
    rows = shared.apply(units)
    rows = np.concatenate([np.ones((1, 1, rows.shape[2])), rows], axis=1)
    return replace(shape, dim=shape.dim + 1).features(rows)


def is_faithful(maps: Array, largest: float, radius: float) -> bool:
    """Whether rounding in a shared frame stays far below the bound; false for undefined rows.

    Squares of a row are sums of terms up to ``(|B| |x|)^2``, of which each carries one rounding.
    """
    size = float(np.linalg.norm(maps, axis=(1, 2)).max()) * largest
    bound = radius if math.isfinite(radius) else 1.0
    return bool(size**2 * np.finfo(float).eps <= FAITHFUL * bound**2)


def _product(left: Array, right: Array) -> Array:
    """``left (b, K, k) @ right (F, k, m)``: one product where F = 1."""
    runs, components, _ = left.shape
    left = np.ascontiguousarray(left)  # other strides would miss the fast product
    if len(right) == 1:
        left = left.reshape(1, runs * components, -1)
    few = left.shape[1] <= FEW
    out = left[:, :, None] @ right[:, None] if few else left @ right
    return np.asarray(out.reshape(runs, components, -1))


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
