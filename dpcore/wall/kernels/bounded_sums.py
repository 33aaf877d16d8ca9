"""The bounded sum: each row's contribution, inside its public bound, added up.

Why it is fast. An iteration is two thin matrix products (:mod:`dpcore.wall.kernels.row_blocks`) and
an exponential, done in blocks that stay in the processor's cache and with rows along the last axis,
where vector instructions reach them. Blocks are added in a fixed order, so the number of threads
never changes a result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import RowError
from dpcore.mechanisms.gaussian import symmetric_to_coordinates
from dpcore.wall.kernels.row_blocks import (
    SPARE,
    Block,
    Features,
    FromRows,
    filled_up,
    stripes,
    tiles,
)
from dpcore.wall.kernels.threads import Memory, in_order

if TYPE_CHECKING:
    from dpcore.wall.data.clipping_frame import Frame
    from dpcore.wall.kernels.balls import DrawnIn
    from dpcore.wall.kernels.nearest_centres import NearestRows
    from dpcore.wall.statistics.cluster_moments import MixtureSums
    from dpcore.wall.statistics.mixture_moments import MixtureMoments
    from dpcore.wall.statistics.second_moments import SecondMoments

    Weighted: TypeAlias = MixtureMoments | MixtureSums  # statistics of rows that components share

__all__ = ["Block", "EStep", "Rows", "bounded_sum", "whole_sum"]


KEPT_BYTES = 768 * 2**20  # features of one frame are stored up to this size
BLOCK_NUMBERS = 1 << 18  # numbers a block may hold: 2 MiB, measured best on two machines
WHOLE_NUMBERS = 1 << 22  # the same where rows are only summed: 32 MiB
GRID_ROWS = 2048  # rows of a block that many runs share
FROM_ROWS_DIM = 32  # from this dimension on, full squares are formed by matrix products
LARGEST_TOTAL = 1.0 + 1e-12  # weights of one row may add up to this without being touched

EStep = Callable[[Block, slice], Array]


@dataclass(repr=False)
class _View:
    """Rows ``(n, d)`` as the runs of a frame see them, with features ``(F, p, n)`` if they fit and
    will be asked for again (not ``once``)."""

    units: Array
    frame: Frame
    shape: Weighted
    once: bool = field(default=False, kw_only=True)
    stored: Array | None = field(default=None, init=False)
    memory: Memory = field(default_factory=Memory, init=False)

    def __post_init__(self) -> None:
        frames, count = self.frame.runs, len(self.units)
        width = self.shape.dim if self.from_rows else self.shape.size
        if not self.once and 8 * frames * count * width <= KEPT_BYTES:
            features = np.empty((frames, width, count))
            for runs, members in _tiles(frames, count, width):
                features[runs, :, members] = self.features(runs, members)
            self.stored = features

    @property
    def from_rows(self) -> bool:
        """Whether features are too many to be formed."""
        single_frame = self.frame.runs == 1
        return single_frame and self.shape.structure == "full" and self.shape.dim >= FROM_ROWS_DIM

    @property
    def width(self) -> int:
        """Numbers for each row and frame."""
        return 2 * self.shape.dim if self.from_rows else self.shape.size

    def tiles(self, runs: int) -> list[tuple[slice, slice]]:
        """Pairs (runs, rows) that make blocks of a good size."""
        weights = 2 * self.shape.components
        if runs > self.frame.runs:
            return list(_tiles(runs, len(self.units), weights, GRID_ROWS))
        return list(_tiles(runs, len(self.units), self.width + weights))

    def block(self, runs: slice, members: slice) -> Block:
        """Rows ``members`` in the frames of ``runs``."""
        frames = runs if self.frame.runs > 1 else slice(None)
        features = self._known(frames, members)
        return FromRows(features[0]) if self.from_rows else Features(features)

    def features(self, frames: slice, members: slice) -> Array:
        """Features ``(F, p, m)``, or rows ``(1, d, m)`` where they are too many, made anew."""
        rows = self.frame.apply(self.rows(members), frames, self.memory)
        return rows if self.from_rows else self.shape.features(rows, self.memory)

    def rows(self, members: slice) -> Array:
        """Rows ``(m, d)`` in unit coordinates."""
        return self.units[members]

    def _known(self, frames: slice, members: slice) -> Array:
        if self.stored is not None:
            return np.asarray(self.stored[frames, :, members])
        return self.features(frames, members)


@dataclass(repr=False)
class _EvenView(_View):
    """Blocks of one size, filled up with rows of zeros: for what leaves for good, where nothing may
    hang on the place of a row (:mod:`dpcore.wall.kernels.row_blocks`)."""

    def __post_init__(self) -> None:
        size, tiles = self._block_rows + SPARE, self.tiles(1)
        width = self.shape.dim if self.from_rows else self.shape.size
        if not self.once and 8 * size * len(tiles) * width <= KEPT_BYTES:
            self.stored = np.empty((1, width, size * len(tiles)))
            for at, (runs, members) in enumerate(tiles):
                self.stored[..., at * size : (at + 1) * size] = self.features(runs, members)

    def tiles(self, runs: int) -> list[tuple[slice, slice]]:
        size, count = self._block_rows, len(self.units)
        members = (slice(at, min(count, at + size)) for at in range(0, count, size))
        return [(slice(0, runs), some) for some in members]

    def rows(self, members: slice) -> Array:
        return filled_up(self.units[members], self._block_rows)

    def _known(self, frames: slice, members: slice) -> Array:
        if self.stored is None:
            return self.features(frames, members)
        size = self._block_rows + SPARE
        first = members.start // self._block_rows * size
        return self.stored[..., first : first + size]

    @property
    def _block_rows(self) -> int:
        """How many rows are in a block: public. Half of the best size, for the sake of few rows."""
        return max(256, BLOCK_NUMBERS // 2 // (self.width + 2 * self.shape.components))


@dataclass(repr=False)
class Rows:
    """Clipped rows of one table in public unit coordinates ``(n, d)``, ready to be summed.

    reach: the public radius that they lie within; infinite where nothing is protected. once: they
    are a block that is read, asked one thing and forgotten, so nothing is prepared for a next time.
    """

    units: Array
    reach: float = math.inf
    once: bool = False
    nearest: NearestRows | None = field(default=None, init=False)
    answered: tuple[Array, Array] | None = field(default=None, init=False)
    balls: dict[float, NearestRows] = field(default_factory=dict, init=False)  # by their radius
    drawn_in: DrawnIn | None = field(default=None, init=False)
    _views: list[_View] = field(default_factory=list)

    def view(self, frame: Frame, shape: Weighted, *, even: bool = False) -> _View:
        """The rows in a frame; the last one is remembered, since a fit asks again each step."""
        for view in self._views:
            if view.frame is frame and view.shape == shape:
                return view
        self._views.clear()  # before the next is made: both at once would be twice the memory
        kind = _EvenView if even else _View
        self._views.append(kind(self.units, frame, shape, once=self.once))
        return self._views[0]

    @property
    def count(self) -> int:
        """How many rows: for the wall alone."""
        return len(self.units)

    def total(self, of_rows: Callable[[Rows], Array]) -> Array:
        """A sum ``(runs, ...)`` over all rows; where they lie in parts, of what each part gives."""
        return of_rows(self)


def on_simplex(weights: Array) -> Array:
    """Weights ``(..., K, n)`` put into ``{w >= 0, sum w <= 1}``; anything undefined becomes 0.

    A sum above 1 by rounding alone is left to ``statistic.ROUNDING``. What becomes of one row never
    depends on another. The array is a new one: a model may return one that it uses again, or a view
    of what it was shown.

    >>> on_simplex(np.array([[np.nan, 2.0], [3.0, 2.0]]))
    array([[0. , 0.5],
           [1. , 0.5]])
    """
    weights = np.array(weights, dtype=np.float64)  # masks and narrow numbers end here
    if weights.size == 0:
        return weights
    if weights.min() >= 0.0:  # false for NaN
        with np.errstate(over="ignore"):
            fits = weights.sum(axis=-2).max() <= LARGEST_TOTAL
        if fits:
            return weights
    inside = np.fmin(np.fmax(weights, 0.0), LARGEST_TOTAL)
    total = inside.sum(axis=-2, keepdims=True)
    return np.asarray(inside / np.where(total > LARGEST_TOTAL, total, 1.0))


def bounded_sum(
    rows: Rows,
    frame: Frame,
    contribution: Weighted,
    e_step: EStep,
    runs: int,
    *,
    even: bool = False,
) -> Array:
    """Sum over rows of ``weights (x) features``, ``(runs, K, p)``, every row inside its bound.

    ``e_step(block, runs)`` gives weights ``(b, K, m)``; they are projected before they are used.
    A wrong shape raises RowError; wrong numbers do no harm as long as the weights of a row come
    from that row alone, which a review and a test of each model must see to. even: what is made of
    a row is the same bits wherever it stands.
    """
    components = contribution.components
    view = rows.view(frame, contribution, even=even)

    def part(which: slice, members: slice) -> Array:
        block = view.block(which, members)
        weights = np.asarray(e_step(block, which), dtype=np.float64)
        count = members.stop - members.start
        if weights.shape != (which.stop - which.start, components, block.count):
            raise RowError("e_step returned weights whose shape is not (runs, components, rows)")
        weights = on_simplex(weights)
        if block.count > count:  # rows that only fill the block up
            weights[..., count:] = 0.0
        return block.weighted_sum(weights)

    total = np.zeros((runs, components, contribution.size))

    def add(index: int, partial: Array) -> None:
        total[parts[index][0]] += partial

    parts = view.tiles(runs)
    in_order(lambda index: part(*parts[index]), add, len(parts))
    return total


def whole_sum(rows: Rows, frame: Frame, shape: MixtureMoments | SecondMoments) -> Array:
    """Sum ``(F, 1, p)`` of the features of all rows, each with weight 1, in F frames.

    No features are formed and nothing is done twice for runs that share a frame: full squares are
    products of the rows, of which the upper triangle alone.
    """
    count, dim, frames = len(rows.units), shape.dim, frame.runs
    sums, squares = np.zeros((frames, dim)), np.zeros((frames, *_square_shape(shape)))
    for _, members in _tiles(1, count, frames * dim, max(GRID_ROWS, WHOLE_NUMBERS // dim)):
        framed = frame.apply(rows.units[members])
        sums += framed.sum(axis=2)
        if shape.structure == "full":
            _add_squares(squares, framed)
        else:
            diagonal = np.einsum("fdn,fdn->fd", framed, framed)
            squares += (
                diagonal if shape.structure == "diag" else diagonal.sum(axis=1, keepdims=True)
            )
    if shape.structure == "full":
        squares = symmetric_to_coordinates(squares)
    if "counts" not in shape.blocks:
        return squares[:, None]
    counts = np.full((frames, 1), float(count))
    return np.concatenate([counts, sums, squares], axis=1)[:, None]


def _square_shape(shape: MixtureMoments | SecondMoments) -> tuple[int, ...]:
    return {"full": (shape.dim, shape.dim), "diag": (shape.dim,), "spherical": (1,)}[
        shape.structure
    ]


def _add_squares(squares: Array, rows: Array) -> None:
    """Add the upper triangle of ``y y^T`` for rows ``(F, d, n)`` to ``(F, d, d)``, in stripes."""
    edges = stripes(rows.shape[1])

    def part(index: int) -> Array:
        first, last = edges[index]
        return np.asarray(rows[:, first:last] @ np.swapaxes(rows[:, first:], 1, 2))

    def add(index: int, product: Array) -> None:
        first, last = edges[index]
        squares[:, first:last, first:] += product

    in_order(part, add, len(edges))


def _tiles(
    runs: int, count: int, width: int, most: int | None = None
) -> Iterator[tuple[slice, slice]]:
    """Pairs (runs, rows): ``width`` numbers for each run and row, ``BLOCK_NUMBERS`` in all."""
    target = max(256, BLOCK_NUMBERS // width)
    rows = max(1, min(count, target, most or target))
    return tiles(runs, count, max(1, target // rows), rows)
