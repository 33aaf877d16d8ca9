"""Sums over rows that each group sees in a frame of its own.

With ``x = (1, u)``, a row in a group's frame is ``y = s B x``: the group's map ``B (d, d + 1)``,
and ``s <= 1`` that draws it into the ball. So ``|y|^2`` is linear in the coordinates of ``x x^T``,
and so are the sums in those of x: where many groups share them, as in a grid of runs, these are
formed once, and the rest is thin matrix products. With few groups, in a release, and where rounding
could show, each row is mapped by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.errors import RowError
from dpcore.mechanisms.gaussian import symmetric_from_coordinates, symmetric_to_coordinates
from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.kernels.bounded_sums import BLOCK_NUMBERS, Rows, on_simplex
from dpcore.wall.kernels.row_blocks import filled_up, pieces, product
from dpcore.wall.kernels.threads import Memory, in_order

if TYPE_CHECKING:
    from dpcore.wall.statistics.group_moments import GroupMoments

Sharing: TypeAlias = Callable[[Array, Indices], Array]
Batch: TypeAlias = tuple[Indices, int]  # runs, and how many groups each of them has
Part: TypeAlias = Callable[[Array, int], list[Array]]

MOST_ROWS = 8192  # of a block, as far as they fit the cache
FEW_GROUPS = 3  # that gain nothing by sharing products of x, and one more for every 5 columns
FAITHFUL = 1e-10  # rounding that products of x may add to a row's contribution, of its bound


@dataclass(frozen=True)
class InGroups:
    """What B runs ask of rows u: group k sees ``y = matrix (u - center)``.

    center ``(B, K, d)``, matrix ``(B, K, d, d)``: public or released, as is number ``(B,)``: how
    many groups of a run, from the first, have rows at all; ``None``: all. sharing: weights
    ``(b, k, m)`` of m rows from their squared lengths ``|y|^2``, ``(b, k, m)``, for the runs
    ``(b,)``, which have k groups.
    """

    center: Array
    matrix: Array
    sharing: Sharing
    number: Indices | None = None

    def maps(self) -> Array:
        """``B (B, K, d, d + 1)``."""
        return np.concatenate([-self.matrix @ self.center[..., None], self.matrix], axis=-1)

    def counted(self) -> Indices:
        """How many groups of each run have rows, ``(B,)``."""
        runs, components = self.center.shape[:2]
        return np.full(runs, components) if self.number is None else self.number


def group_sums(rows: Rows, of: InGroups, shape: GroupMoments, *, even: bool) -> Array:
    """Sum over rows of ``weights (x) features``, ``(B, K, p)``, every row inside its bound; zeros
    for groups without rows.

    The weights are projected before they are used; wrong ones do no harm as long as those of a row
    come from that row alone. even: rows come in blocks of one size, so that what is made of a row
    is the same bits wherever it stands (:mod:`dpcore.wall.kernels.row_blocks`). Raises ValueError
    for weights of a wrong shape.
    """
    runs, components, dim = of.center.shape
    maps, number, width = of.maps(), of.counted(), (dim + 1) * (dim + 2) // 2
    shared = not even and shape.structure == "full" and number.sum() > FEW_GROUPS + dim / 5
    shared = shared and is_faithful(maps, rows.reach, shape.radius)
    height = max(256, min(MOST_ROWS, BLOCK_NUMBERS // (2 * width if shared else 8 * dim)))
    if not even:  # enough blocks for all cores
        height = max(256, min(height, rows.count // 8))
    together = list(_together(number, BLOCK_NUMBERS // (height * (8 if shared else 2 * dim))))
    sums_of = (_by_products if shared else _row_by_row)(of, shape, maps, together)
    blocks = pieces(rows.count, height)
    total = np.zeros((runs, components, 2 + dim + width if shared else shape.size))

    def part(index: int) -> list[Array]:
        units = rows.units[blocks[index]]
        count, units = len(units), filled_up(units, height) if even else units
        return sums_of(np.concatenate([np.ones((1, len(units))), units.T]), count)

    def add(_: int, some: list[Array]) -> None:
        for (which, groups), sums in zip(together, some, strict=True):
            total[which, :groups] += sums

    in_order(part, add, len(blocks))
    return _in_frames(total, maps) if shared else total


def _together(number: Indices, most: int) -> Iterator[Batch]:
    """Runs that have as many groups, and how many: about ``most`` groups at a time."""
    for groups in np.unique(number).tolist():
        which = np.flatnonzero(number == groups)
        yield from ((which[some], groups) for some in pieces(len(which), most // groups))


def is_faithful(maps: Array, reach: float, radius: float) -> bool:
    """Whether rounding in products of x stays far below the bound, for all rows within ``reach``:
    no single row may change the path.

    Lengths of a row are sums of terms up to ``(|B| |x|)^2``, of which each carries one rounding.
    """
    size = float(np.linalg.norm(maps, axis=(-2, -1)).max()) * math.hypot(1.0, reach)
    return bool(size**2 * np.finfo(float).eps <= FAITHFUL * radius**2)


def _row_by_row(of: InGroups, shape: GroupMoments, maps: Array, together: list[Batch]) -> Part:
    """Sums ``(b, k, p)`` over some rows, each mapped by itself, for some runs at a time."""
    memory = Memory()

    def sums(x: Array, count: int, which: Indices, groups: int) -> Array:
        own = maps[which, :groups].reshape(-1, *maps.shape[2:])
        framed = memory("framed", *own.shape[:2], x.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(own.reshape(-1, len(x)), x, out=framed.reshape(-1, x.shape[1]))
            squares = np.einsum("gdm,gdm->gm", framed, framed)
        weights = _projected(of, squares.reshape(len(which), groups, -1), which)
        if x.shape[1] > count:  # rows that only fill the block up
            weights[..., count:] = 0.0
        inside = clip_to_ball(framed, shape.radius, axis=-2, out=framed)
        parts = shape.weighted(inside, weights.reshape(squares.shape))
        return parts.reshape(len(which), groups, -1)

    return lambda x, count: [sums(x, count, *batch) for batch in together]


def _by_products(of: InGroups, shape: GroupMoments, maps: Array, together: list[Batch]) -> Part:
    """Sums of 1, ``s x`` and ``s^2 x x^T``, by products with what all groups share."""
    lengths, memory = symmetric_to_coordinates(np.swapaxes(maps, 2, 3) @ maps), Memory()
    own = [(which, lengths[which, :groups]) for which, groups in together]
    features = replace(shape, dim=maps.shape[3])

    def sums(x: Array, squares: Array, which: Indices, forms: Array) -> Array:
        long = product(forms, squares)
        weights = _projected(of, long, which)
        counts = weights.sum(axis=-1)[..., None]
        shrink = np.maximum(long, shape.radius**2, out=long)
        shrink = np.divide(shape.radius**2, shrink, out=shrink)
        second = product(weights * shrink, np.swapaxes(squares, 1, 2))
        weights = np.multiply(weights, np.sqrt(shrink, out=shrink), out=shrink)
        first = product(weights, np.swapaxes(x, 1, 2))
        return np.concatenate([counts, first, second], axis=-1)

    def part(x: Array, _: int) -> list[Array]:
        squares = features.features(x[None], memory)[:, 1 + len(x) :]
        return [sums(x[None], squares, *batch) for batch in own]

    return part


def _in_frames(total: Array, maps: Array) -> Array:
    """Sums ``(B, K, p)`` over the features of y from those over 1, x and ``x x^T``."""
    width = maps.shape[3]
    counts, sums, squares = np.split(total, [1, 1 + width], axis=-1)
    forms = maps @ symmetric_from_coordinates(squares, width) @ np.swapaxes(maps, 2, 3)
    sums = (maps @ sums[..., None])[..., 0]
    return np.concatenate([counts, sums, symmetric_to_coordinates(forms)], axis=-1)


def _projected(of: InGroups, squares: Array, which: Indices) -> Array:
    """Projected weights ``(b, K, m)`` of rows with such squared lengths."""
    lengths = squares.view()
    lengths.flags.writeable = False  # a model looks, and leaves them as they are
    weights = np.asarray(of.sharing(lengths, which), dtype=np.float64)
    if weights.shape != squares.shape:
        raise RowError("weights must have the shape (runs, components, rows)")
    return on_simplex(weights)
