"""Sums over rows that each group sees in a frame of its own.

With ``x = (1, u)``, a row in a group's frame is ``y = s B x``: the group's map ``B (d, d + 1)``,
and ``s <= 1`` that draws it into the ball. So ``|y|^2`` is linear in the coordinates of ``x x^T``,
and so are the sums in those of x: a grid of runs forms these once for all groups, and the rest is
thin matrix products. In a release, and where rounding could show, each row is mapped by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpcore.arrays import Array
from dpcore.mechanisms.gaussian import symmetric_from_coordinates, symmetric_to_coordinates
from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.kernels.bounded_sums import BLOCK_NUMBERS, Rows, on_simplex
from dpcore.wall.kernels.row_blocks import filled_up, pieces, product
from dpcore.wall.kernels.threads import Memory, in_order

if TYPE_CHECKING:
    from dpcore.wall.statistics.group_moments import GroupMoments

Sharing: TypeAlias = Callable[[Array, slice], Array]
Part: TypeAlias = Callable[[slice, list[slice]], list[Array]]

FAITHFUL = 1e-10  # rounding that products of x may add to a row's contribution, of its bound


@dataclass(frozen=True)
class InGroups:
    """What B runs ask of rows u: group k sees ``y = matrix (u - center)``.

    center ``(B, K, d)``, matrix ``(B, K, d, d)``: public or released. sharing: weights
    ``(b, K, m)`` of m rows from their squared lengths ``|y|^2``, ``(b, K, m)``, for some runs.
    """

    center: Array
    matrix: Array
    sharing: Sharing

    def maps(self) -> Array:
        """``B (B, K, d, d + 1)``."""
        return np.concatenate([-self.matrix @ self.center[..., None], self.matrix], axis=-1)


def group_sums(rows: Rows, of: InGroups, shape: GroupMoments, *, even: bool) -> Array:
    """Sum over rows of ``weights (x) features``, ``(B, K, p)``, every row inside its bound.

    The weights are projected before they are used; wrong ones do no harm as long as those of a row
    come from that row alone. even: rows come in blocks of one size, so that what is made of a row
    is the same bits wherever it stands (:mod:`dpcore.wall.kernels.row_blocks`). Raises ValueError
    for weights of a wrong shape.
    """
    runs, components, dim = of.center.shape
    maps, groups, by_products = of.maps(), 2 * components, False
    if not even and shape.structure == "full" and is_faithful(maps, rows.reach, shape.radius):
        by_products, height = True, BLOCK_NUMBERS // (groups + dim * dim)
        part, size = _by_products(rows, of, shape, maps), 2 + dim + (dim + 1) * (dim + 2) // 2
    else:
        height = max(256, BLOCK_NUMBERS // (groups * (dim + 1)))
        part, size = _row_by_row(rows, of, shape, maps, height if even else None), shape.size
    if not even:  # enough blocks for all cores
        height = max(256, min(height, rows.count // 8))
    blocks = pieces(rows.count, height)
    together = pieces(runs, max(1, BLOCK_NUMBERS // (height * groups)))
    total = np.zeros((runs, components, size))

    def add(_: int, some: list[Array]) -> None:
        for which, sums in zip(together, some, strict=True):
            total[which] += sums

    in_order(lambda index: part(blocks[index], together), add, len(blocks))
    return _in_frames(total, maps) if by_products else total


def is_faithful(maps: Array, reach: float, radius: float) -> bool:
    """Whether rounding in products of x stays far below the bound, for all rows within ``reach``:
    no single row may change the path.

    Lengths of a row are sums of terms up to ``(|B| |x|)^2``, of which each carries one rounding.
    """
    size = float(np.linalg.norm(maps, axis=(-2, -1)).max()) * math.hypot(1.0, reach)
    return bool(size**2 * np.finfo(float).eps <= FAITHFUL * radius**2)


def _row_by_row(
    rows: Rows, of: InGroups, shape: GroupMoments, maps: Array, height: int | None
) -> Part:
    """Sums ``(b, K, p)`` over some rows, for some runs at a time. Each row is mapped by itself, in
    blocks of so many rows where a height is asked for."""
    runs, components, dim, _ = maps.shape
    linear, memory = of.matrix.reshape(runs, components * dim, dim), Memory()
    shift = maps[..., 0].reshape(runs, components * dim, 1)

    def sums(units: Array, count: int, which: slice) -> Array:
        framed = memory("framed", len(linear[which]), components * dim, len(units))
        np.matmul(linear[which], units.T, out=framed)
        framed += shift[which]
        framed = framed.reshape(-1, components, dim, len(units))
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("bkdm,bkdm->bkm", framed, framed)
        weights = _projected(of, squares, which)
        if len(units) > count:  # rows that only fill the block up
            weights = weights.copy()
            weights[..., count:] = 0.0
        return shape.weighted(clip_to_ball(framed, shape.radius, axis=-2, out=framed), weights)

    def part(members: slice, together: list[slice]) -> list[Array]:
        units = rows.units[members]
        count, units = len(units), units if height is None else filled_up(units, height)
        return [sums(units, count, which) for which in together]

    return part


def _by_products(rows: Rows, of: InGroups, shape: GroupMoments, maps: Array) -> Part:
    """Sums of 1, ``s x`` and ``s^2 x x^T``, by products with what all groups share."""
    dim = shape.dim
    lengths = symmetric_to_coordinates(np.swapaxes(maps, 2, 3) @ maps)
    features = replace(shape, dim=dim + 1)

    def sums(x: Array, squares: Array, which: slice) -> Array:
        long = product(lengths[which], squares)
        weights = _projected(of, long, which)
        counts = weights.sum(axis=-1)[..., None]
        long /= shape.radius**2
        shrink = np.sqrt(np.maximum(long, 1.0, out=long), out=long)
        weights = weights / shrink
        first = product(weights, np.swapaxes(x, 1, 2))
        weights /= shrink
        second = product(weights, np.swapaxes(squares, 1, 2))
        return np.concatenate([counts, first, second], axis=-1)

    def part(members: slice, together: list[slice]) -> list[Array]:
        units = rows.units[members].T[None]
        x = np.concatenate([np.ones((1, 1, units.shape[2])), units], axis=1)
        squares = features.features(x)[:, dim + 2 :]
        return [sums(x, squares, which) for which in together]

    return part


def _in_frames(total: Array, maps: Array) -> Array:
    """Sums ``(B, K, p)`` over the features of y from those over 1, x and ``x x^T``."""
    width = maps.shape[3]
    counts, sums, squares = np.split(total, [1, 1 + width], axis=-1)
    forms = maps @ symmetric_from_coordinates(squares, width) @ np.swapaxes(maps, 2, 3)
    sums = (maps @ sums[..., None])[..., 0]
    return np.concatenate([counts, sums, symmetric_to_coordinates(forms)], axis=-1)


def _projected(of: InGroups, squares: Array, which: slice) -> Array:
    """Projected weights ``(b, K, m)`` of rows with such squared lengths."""
    lengths = squares.view()
    lengths.flags.writeable = False  # a model looks, and leaves them as they are
    weights = on_simplex(of.sharing(lengths, which))
    if weights.shape != squares.shape:
        raise ValueError("weights must have the shape (runs, components, rows)")
    return weights
