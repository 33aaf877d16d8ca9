"""Rows as runs see them in balls of their own: what they add up to, and how far away they are.

**Sums are exact.** Coordinates are cut to a public grid of ``2^-30`` of the radius, towards 0, row
by row, so a row stays inside every bound on norms. Sums of up to 2^22 such rows are whole numbers
of grid steps that double precision holds: no order of addition and no number of threads changes a
bit of them. So what is released is, exactly, a sum of what single rows contribute, as a sensitivity
assumes. (With more rows than that, or without a radius, sums are rounded as any other.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpcore.arrays import Array
from dpcore.wall.kernels.bounded_sums import BLOCK_NUMBERS, Rows
from dpcore.wall.kernels.row_blocks import TREE_DIM, cut_to_grid, pieces
from dpcore.wall.kernels.threads import in_order

KEPT_NUMBERS = 1 << 23  # coordinates of rows in balls that are kept for the next step: 64 MiB


@dataclass(frozen=True, repr=False)
class DrawnIn:
    """Rows ``(B, d, n)`` as the runs see them in balls of their own, for the steps of one fit.

    middle ``(B, d)``, radius ``(B,)``: of the balls.
    """

    middle: Array
    radius: Array
    rows: Array

    def is_of(self, middle: Array, radius: Array) -> bool:
        """Whether these are the balls ``(B, d)`` and ``(B,)``, to the last bit."""
        return np.array_equal(self.middle, middle) and np.array_equal(self.radius, radius)


def sums_in_balls(rows: Rows, centres: Array, middle: Array, radius: Array) -> Array:
    """Counts and sums ``(B, K, 1 + d)`` of rows as each run sees them: ``y / r``.

    ``y = u - middle`` is drawn in to ``|y| <= r``, a ball of the run's own, and is at the centre of
    ``(B, K, d)`` nearest to ``middle + y``. middle ``(B, d)``, radius ``(B,)``. What becomes of a
    row is a function of that row, to the last bit, and lies inside the ball.
    """
    runs, components, dim = centres.shape
    alike = np.concatenate([centres.reshape(runs, -1), middle, radius[:, None]], axis=1)
    _, first, back = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    if len(first) < runs:
        return sums_in_balls(rows, centres[first], middle[first], radius[first])[back.reshape(-1)]
    scaled = (centres - middle[:, None]) / radius[:, None, None]
    near: list[Callable[[Array], Array]] = [_of_all] * runs
    if components > 1:  # else there is nothing to search
        from dpcore.wall.kernels.nearest_centres import sums_near

        if dim <= TREE_DIM and not rows.once and not middle.any():
            return _sums_about_zero(rows, centres, radius)
        near = [sums_near(points) for points in scaled]
    shares = pieces(len(rows.units), max(1, BLOCK_NUMBERS // (components + 2 * dim)))
    out = np.zeros((runs, components, 1 + dim))

    def clipped(run: int, piece: slice) -> Array:
        away = rows.units[piece].T - middle[run][:, None]
        return _in_ball(away, float(radius[run]))

    again = components > 1 and not rows.once and runs * rows.units.size <= KEPT_NUMBERS
    ready = rows.drawn_in if again else None  # one look: another thread may ask too
    if again and not (ready is not None and ready.is_of(middle, radius)):
        inside = np.empty((runs, dim, len(rows.units)))
        parts = list(product(range(runs), shares))

        def keep(index: int, part: Array) -> None:
            inside[parts[index][0], :, parts[index][1]] = part

        in_order(lambda index: clipped(*parts[index]), keep, len(parts))
        rows.drawn_in = ready = DrawnIn(middle, radius, inside)

    def work(index: int) -> Array:
        run, share = divmod(index, len(shares))
        piece = shares[share]
        part = clipped(run, piece) if ready is None else ready.rows[run, :, piece]
        return near[run](part)

    def add(index: int, part: Array) -> None:
        out[index // len(shares)] += part

    in_order(work, add, runs * len(shares))
    return out


def _sums_about_zero(rows: Rows, centres: Array, radius: Array) -> Array:
    """The same where all balls are about 0: one tree for each radius."""
    from dpcore.wall.kernels.nearest_centres import NearestRows

    out = np.empty((*centres.shape[:2], 1 + centres.shape[2]))
    for size in np.unique(radius).tolist():
        if size not in rows.balls:
            rows.balls[size] = NearestRows(_in_ball(rows.units.T, size).T, 1.0)
        which = radius == size
        out[which] = rows.balls[size].sums(centres[which] / size)
    return out


def _of_all(rows: Array) -> Array:
    """The count and the sum ``(1, 1 + d)`` of rows ``(d, n)``."""
    return np.concatenate([[rows.shape[1]], rows.sum(axis=1)])[None]


def counts_by_distance(rows: Rows, middle: Array, edges: Array, axes: Array | None = None) -> Array:
    """How many rows lie by which of rising edges ``(J,)``: ``(B, J + 1)``, for middles ``(B, d)``.

    The first number is of distances up to the first edge, the last of those beyond all. axes
    ``(B, d)``: by what each column is divided before, if at all.
    """
    dim = middle.shape[1]
    runs = middle if axes is None else np.concatenate([middle, axes], axis=1)
    places, back = np.unique(runs, axis=0, return_inverse=True)
    shares = pieces(len(rows.units), max(1, BLOCK_NUMBERS // (2 * dim)))
    inside = np.zeros((len(places), len(edges) + 1))

    def work(index: int) -> Array:
        place, piece = divmod(index, len(shares))
        moved = rows.units[shares[piece]].T - places[place, :dim, None]
        away = _norms(moved if axes is None else moved / places[place, dim:, None])
        return np.array([*(np.count_nonzero(away <= edge) for edge in edges), len(away)], float)

    def add(index: int, part: Array) -> None:
        inside[index // len(shares)] += part

    in_order(work, add, len(places) * len(shares))
    return np.diff(inside, axis=1, prepend=0.0)[back.reshape(-1)]


def _in_ball(rows: Array, radius: float) -> Array:
    """Rows ``(d, n)`` as ``y / radius``, drawn in to the unit ball and cut towards 0."""
    scaled = rows / radius
    scaled /= np.maximum(_norms(scaled), 1.0)
    return cut_to_grid(scaled, 1.0)


def _norms(rows: Array) -> Array:
    """Norms ``(n,)`` of rows ``(d, n)``, the same bits for each row whatever stands beside it."""
    square = rows[0] * rows[0]
    for coordinate in rows[1:]:
        square += coordinate * coordinate
    return np.asarray(np.sqrt(square))
