"""Rows by their nearest centre: how many they are, what they add up to, how far away they are.

Why it is fast. In few dimensions rows lie in a tree of boxes, made once. A box that lies in one
centre's cell is added whole, a box on the border between cells is opened, so a step costs what the
borders cost (Moore 1991; Kanungo, Mount et al. 2002). In many dimensions nearly every box meets a
border, and rows are compared with centres by blocks of matrix products.

**Which centre a row goes to** is a function of that row and the centres alone, to the last bit: the
first of those with the largest ``m . y - |m|^2 / 2``, each coordinate's product added in turn in
double precision (:func:`_scores`). Boxes and products only ever decide what they decide by more
than the rounding in them *and* in those scores (``_Rivals.error``); every row within it is
scored.

**Sums are exact.** Coordinates are cut to a public grid of ``2^-30`` of the radius, towards 0, row
by row, so a row stays inside every bound on norms. Sums of up to 2^22 such rows are whole numbers
of grid steps that double precision holds: no order of addition, no tree and no number of threads
changes a bit of them. So what is released is, exactly, a sum of what single rows contribute, as a
sensitivity assumes. (With more rows than that, or without a radius, sums are rounded as any other.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.kernels.row_blocks import pieces
from dpcore.wall.kernels.threads import in_order, most_threads

Indices: TypeAlias = NDArray[np.intp]

GRID_BITS = 30  # coordinates are multiples of 2^-30 of the radius (rounded up to a power of 2)
TREE_DIM = 3  # above it nearly every box meets a border, and blocks of products are faster
FEW_COLUMNS = 16  # up to so many, rows are counted out; beyond, multiplied by indicators
CELL_BITS = 24  # of a coordinate's place on the curve, at most
TABLE_BITS = 12  # of it that are looked up at once
ARITY = 8  # rows of the smallest box, boxes of a larger one; a power of 2
TOP = 512  # at most so many largest boxes
BLOCK_NUMBERS = 1 << 18  # numbers that a block of scores may hold
KEPT_NUMBERS = 1 << 23  # coordinates of rows in balls that are kept for the next step: 64 MiB
TOGETHER = 160  # centres of so many runs walk the tree together
GUARD = 16.0  # times the rounding in a score; 4 would do


@dataclass(frozen=True, repr=False)
class _Rivals:
    """Centres of b runs, K each, as linear scores: ``points (d, b K)``, ``constant (b K,)`` =
    ``-|m|^2/2``, and the rounding in them, ``error (b K,)``. components: K.
    """

    points: Array
    constant: Array
    error: Array
    components: int

    @classmethod
    def of(cls, centres: Array, reach: float) -> _Rivals:
        """Centres ``(b, K, d)``, rows with coordinates up to ``reach``.

        A centre that is undefined, infinite or too far for its square attracts nobody; where all
        of a run are, its first attracts everybody.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            constant = -0.5 * np.sum(centres * centres, axis=2)
        good = np.isfinite(constant)
        points = np.where(good[..., None], centres, 0.0).reshape(-1, centres.shape[2]).T.copy()
        constant = np.where(good, constant, -np.inf)
        constant[~good.any(axis=1), 0] = 0.0
        flat = constant.reshape(-1)
        size = np.abs(points).sum(axis=0) * reach + np.where(np.isfinite(flat), -flat, 0.0)
        error = GUARD * (len(points) + 4) * (np.finfo(float).eps * size + np.finfo(float).tiny)
        return cls(points, flat, error, centres.shape[1])


def _scores(rows: Array, rivals: _Rivals, which: Indices | int) -> Array:
    """Scores ``(n,)`` of rows ``(d, n)`` for one centre, or one each.

    The same bits for each row whatever stands beside it: each step is one rounded operation.
    """
    total = rows[0] * rivals.points[0][which]
    for row, point in zip(rows[1:], rivals.points[1:], strict=True):
        total += row * point[which]
    total += rivals.constant[which]
    return np.asarray(total)


def _nearest(rows: Array, rivals: _Rivals, base: Indices | int) -> Indices:
    """The centre ``(n,)`` of each row ``(d, n)``, of equal ones the first.

    base: the first centre of the run that each row is asked for.
    """
    best = _scores(rows, rivals, base)
    owner = np.zeros(len(best), dtype=np.intp)
    for centre in range(1, rivals.components):
        score = _scores(rows, rivals, base + centre)
        np.copyto(owner, centre, where=score > best)
        np.maximum(best, score, out=best)
    return np.asarray(owner + base)


def _of_two(rows: Array, rivals: _Rivals, two: Indices) -> Indices:
    """The same where only two centres ``(2, n)`` can be nearest."""
    low, high = np.minimum(*two), np.maximum(*two)
    wins = _scores(rows, rivals, high) > _scores(rows, rivals, low)
    return np.asarray(np.where(wins, high, low))


@dataclass(frozen=True, repr=False)
class _Boxes:
    """Boxes of one size, in the order of the rows: middle and half width ``(d, m)``, the number of
    rows ``(m,)``, their sum and mean ``(d, m)``, and their squared distances to the mean ``(m,)``.
    """

    middle: Array
    half: Array
    count: Array
    total: Array
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, boxes: Array) -> _Boxes:
        """As :func:`_around` makes them."""
        dim = len(boxes) // 3
        least, most, total = boxes[:dim], boxes[dim : 2 * dim], boxes[2 * dim : 3 * dim]
        count, scatter = boxes[-2:]
        return cls((least + most) / 2, (most - least) / 2, count, total, total / count, scatter)


class NearestRows:
    """Rows ``(n, d)`` ready to be asked which of K centres is nearest, as often as one likes.

    radius: public, that of the ball in which they lie; infinite where nothing is protected. Keeps
    a copy of the rows and, up to dimension TREE_DIM, boxes of ``(4 d + 2) / 7`` numbers for each
    row: 28 MB for a million rows in two dimensions. tree: whether to; it takes as long as several
    steps, so rows that are asked once do without.
    """

    def __init__(self, rows: Array, radius: float = math.inf, *, tree: bool = True) -> None:
        units = np.ascontiguousarray(_on_grid(rows, radius).T)
        self._reach = float(np.abs(units).max(initial=0.0))
        self._rows, self._levels = units, list[_Boxes]()
        if tree and 0 < len(units) <= TREE_DIM and units.size:
            self._rows, order = np.empty_like(units), _curve(units)
            in_order(lambda axis: units[axis].take(order), self._rows.__setitem__, len(units))
            self._levels = _levels(self._rows)

    @property
    def dim(self) -> int:
        """How many columns the rows have."""
        return len(self._rows)

    def sums(self, centres: Array) -> Array:
        """Counts and sums ``(B, K, 1 + d)`` of the rows at each of the centres ``(B, K, d)``."""

        def tally(part: _Part, points: Array) -> Array:
            size = points.shape[1]
            if part.level is None:
                return _sums_by_owner(self._rows[:, part.which], part.owner, size)
            at = self._levels[part.level]
            parts = [at.count, *at.total]
            columns = [np.bincount(part.owner, feature[part.which], size) for feature in parts]
            return np.stack(columns, axis=1)

        return self._each(self._checked(centres), tally, 1 + self.dim)

    def squared_distance(self, centres: Array) -> Array:
        """Sum over rows ``(B,)`` of the squared distance to the nearest of centres ``(B, K, d)``.

        A sum of non-negative terms, so that small ones are as precise as large ones. Undefined
        where no centre of a run is defined.
        """

        def tally(part: _Part, points: Array) -> Array:
            size = points.shape[1]
            if part.level is None:
                away = self._rows[:, part.which] - points[:, part.owner]
                squares = np.einsum("dp,dp->p", away, away)
            else:
                at, which = self._levels[part.level], part.which
                away = at.mean[:, which] - points[:, part.owner]
                squares = at.scatter[which] + at.count[which] * np.einsum("dp,dp->p", away, away)
            return np.asarray(np.bincount(part.owner, squares, size)[:, None], dtype=np.float64)

        return np.asarray(self._each(self._checked(centres), tally, 1).sum(axis=(1, 2)))

    def __repr__(self) -> str:
        return "NearestRows(sealed)"

    def _checked(self, centres: Array) -> Array:
        if centres.ndim != 3 or centres.shape[1] < 1 or centres.shape[2] != self.dim:
            raise ValueError("centres must have the shape (runs, components, dim)")
        return np.asarray(centres, dtype=np.float64)

    def _each(self, centres: Array, tally: Callable[[_Part, Array], Array], width: int) -> Array:
        """Add up ``(B, K, width)`` what ``tally`` finds in every part of the work."""
        runs, components, _ = centres.shape
        out = np.zeros((runs, components, width))
        together = max(1, TOGETHER // components) if self._levels else 1
        groups = pieces(runs, together)
        rivals = [_Rivals.of(centres[group], self._reach) for group in groups]
        shares = self._pieces(components)

        def work(index: int) -> Array:
            group, piece = divmod(index, len(shares))
            points = centres[groups[group]].reshape(-1, self.dim).T
            tallied = np.zeros((points.shape[1], width))
            for part in self._parts(rivals[group], shares[piece]):
                tallied += tally(part, points)
            return tallied.reshape(-1, components, width)

        def add(index: int, tallied: Array) -> None:
            out[groups[index // len(shares)]] += tallied

        in_order(work, add, len(groups) * len(shares))
        return out

    def _pieces(self, components: int) -> list[slice]:
        """Pieces of a run's work: some rows, or the whole tree (half a tree is too little)."""
        if self._levels:
            return [slice(None)]
        return pieces(self._rows.shape[1], max(1, BLOCK_NUMBERS // (components + self.dim)))

    def _parts(self, rivals: _Rivals, piece: slice) -> Iterator[_Part]:
        if not self._levels:
            yield _Part(None, piece, _nearest_by_products(self._rows[:, piece], rivals))
            return
        largest = np.arange(len(self._levels[-1].count))
        first = np.arange(0, len(rivals.constant), rivals.components)
        every = np.tile(largest, len(first)), np.repeat(first, len(largest))[None]
        todo = [_Task(len(self._levels) - 1, *every)]
        while todo:
            task = todo.pop()
            most = BLOCK_NUMBERS // (rivals.components if len(task.rivals) == 1 else 4) + 1
            if len(task.what) > most:
                todo += [task.at(part) for part in pieces(len(task.what), most)]
            elif task.level < 0:
                rows = self._rows[:, task.what]
                if len(task.rivals) == 1:
                    owner = _nearest(rows, rivals, task.rivals[0])
                else:
                    owner = _of_two(rows, rivals, task.rivals)
                yield _Part(None, task.what, owner)
            else:
                judge = _judge_all if len(task.rivals) == 1 else _judge_two
                won, owner, left = judge(self._levels[task.level], rivals, task)
                if len(won):
                    yield _Part(task.level, won, owner)
                todo += [self._open(open_task) for open_task in left if len(open_task.what)]

    def _open(self, task: _Task) -> _Task:
        """The boxes, or at last the rows, inside some boxes."""
        below = task.level - 1
        most = len(self._levels[below].count) if below >= 0 else self._rows.shape[1]
        inside = (task.what[:, None] * ARITY + np.arange(ARITY)).reshape(-1)
        opened = _Task(below, inside, np.repeat(task.rivals, ARITY, axis=1))
        if len(inside) and inside.max() >= most:  # the last box may be smaller
            return opened.at(np.flatnonzero(inside < most))
        return opened


def nearest_sums(rows: Rows, centres: Array) -> Array:
    """As :meth:`NearestRows.sums` of clipped rows, which are made ready at the first time."""
    if rows.nearest is None:
        rows.nearest = NearestRows(rows.units, rows.reach, tree=not rows.once)
    return rows.nearest.sums(centres)


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
    tree = components > 1 and dim <= TREE_DIM and not rows.once  # one centre: nothing to search
    if tree and not middle.any():
        return _sums_about_zero(rows, centres, radius)
    shares = pieces(len(rows.units), max(1, BLOCK_NUMBERS // (components + 2 * dim)))
    scaled = (centres - middle[:, None]) / radius[:, None, None]
    out = np.zeros((runs, components, 1 + dim))

    def clipped(run: int, piece: slice) -> Array:
        away = rows.units[piece].T - middle[run][:, None]
        return _in_ball(away, float(radius[run]))

    again = components > 1 and not rows.once and runs * rows.units.size <= KEPT_NUMBERS
    if again and not (rows.drawn_in is not None and rows.drawn_in.is_of(middle, radius)):
        inside = np.empty((runs, dim, len(rows.units)))
        parts = list(product(range(runs), shares))

        def keep(index: int, part: Array) -> None:
            inside[parts[index][0], :, parts[index][1]] = part

        in_order(lambda index: clipped(*parts[index]), keep, len(parts))
        rows.drawn_in = DrawnIn(middle, radius, inside)
    ready = rows.drawn_in if again else None

    def work(index: int) -> Array:
        run, share = divmod(index, len(shares))
        piece = shares[share]
        part = clipped(run, piece) if ready is None else ready.rows[run, :, piece]
        owner = _nearest_by_products(part, _Rivals.of(scaled[run : run + 1], 1.0))
        return _sums_by_owner(part, owner, components)

    def add(index: int, part: Array) -> None:
        out[index // len(shares)] += part

    in_order(work, add, runs * len(shares))
    return out


def _sums_about_zero(rows: Rows, centres: Array, radius: Array) -> Array:
    """The same where all balls are about 0: one tree for each radius."""
    out = np.empty((*centres.shape[:2], 1 + centres.shape[2]))
    for size in np.unique(radius).tolist():
        if size not in rows.balls:
            rows.balls[size] = NearestRows(_in_ball(rows.units.T, size).T, 1.0)
        which = radius == size
        out[which] = rows.balls[size].sums(centres[which] / size)
    return out


def counts_by_distance(rows: Rows, middle: Array, edges: Array) -> Array:
    """How many rows lie by which of rising edges ``(J,)``: ``(B, J + 1)``, for middles ``(B, d)``.

    The first number is of distances up to the first edge, the last of those beyond all.
    """
    places, back = np.unique(middle, axis=0, return_inverse=True)
    shares = pieces(len(rows.units), max(1, BLOCK_NUMBERS // (2 * middle.shape[1])))
    inside = np.zeros((len(places), len(edges) + 1))

    def work(index: int) -> Array:
        place, piece = divmod(index, len(shares))
        away = _norms(rows.units[shares[piece]].T - places[place][:, None])
        return np.array([*(np.count_nonzero(away <= edge) for edge in edges), len(away)], float)

    def add(index: int, part: Array) -> None:
        inside[index // len(shares)] += part

    in_order(work, add, len(places) * len(shares))
    return np.diff(inside, axis=1, prepend=0.0)[back.reshape(-1)]


def _in_ball(rows: Array, radius: float) -> Array:
    """Rows ``(d, n)`` as ``y / radius``, drawn in to the unit ball and cut towards 0."""
    scaled = rows / radius
    scaled /= np.maximum(_norms(scaled), 1.0)
    return _on_grid(scaled, 1.0)


def _norms(rows: Array) -> Array:
    """Norms ``(n,)`` of rows ``(d, n)``, the same bits for each row whatever stands beside it."""
    square = rows[0] * rows[0]
    for coordinate in rows[1:]:
        square += coordinate * coordinate
    return np.asarray(np.sqrt(square))


@dataclass(frozen=True, repr=False)
class _Part:
    """Boxes of a level, or rows where it is ``None``: which, and the centre ``(P,)`` of each."""

    level: int | None
    which: Indices | slice
    owner: Indices


@dataclass(frozen=True, repr=False)
class _Task:
    """Boxes ``(P,)`` of a level (-1: rows) to be judged.

    rivals: ``(2, P)`` the only two centres that can be nearest, or ``(1, P)`` the first centre of
    the run where more can.
    """

    level: int
    what: Indices
    rivals: Indices

    def at(self, part: slice | Indices) -> _Task:
        return _Task(self.level, self.what[part], self.rivals[:, part])


_Verdict: TypeAlias = tuple[Indices, Indices, list[_Task]]


def _judge_all(boxes: _Boxes, rivals: _Rivals, task: _Task) -> _Verdict:
    """Boxes that one centre wins everywhere, their owners, and what is left open.

    A score is linear, so the winner at a box's middle leads another centre, anywhere in the box, by
    at least its lead there less the half widths times the distances of the two centres.
    """
    base = task.rivals[0]
    every = base[:, None] + np.arange(rivals.components)
    points = [point[every] for point in rivals.points]
    scores = rivals.constant[every]
    for middle, point in zip(boxes.middle, points, strict=True):
        scores += middle[task.what, None] * point
    pick = np.arange(len(base))
    first = scores.argmax(axis=1)
    best = scores[pick, first] - rivals.error[base + first]
    scores += rivals.error[every]
    for half, point in zip(boxes.half, points, strict=True):
        scores += half[task.what, None] * np.abs(point - point[pick, first, None])
    scores[pick, first] = -np.inf
    threat = scores >= best[:, None]
    threats = np.count_nonzero(threat, axis=1)
    won, duel = np.flatnonzero(threats == 0), np.flatnonzero(threats == 1)
    two = np.stack([first[duel], threat[duel].argmax(axis=1)]) + base[duel]
    left = [_Task(task.level, task.what[duel], two), task.at(np.flatnonzero(threats > 1))]
    return task.what[won], (first + base)[won], left


def _judge_two(boxes: _Boxes, rivals: _Rivals, task: _Task) -> _Verdict:
    """The same where two centres only can be nearest: one border, a flat one."""
    first, second = task.rivals
    lead = rivals.constant[first] - rivals.constant[second]
    reach = rivals.error[first] + rivals.error[second]
    for middle, half, point in zip(boxes.middle, boxes.half, rivals.points, strict=True):
        apart = point[first] - point[second]
        lead += apart * middle[task.what]
        reach += np.abs(apart) * half[task.what]
    closed = np.abs(lead) > reach
    won, left = np.flatnonzero(closed), np.flatnonzero(~closed)
    owner = np.where(lead[won] > 0.0, first[won], second[won])
    return task.what[won], owner, [task.at(left)]


def _nearest_by_products(rows: Array, rivals: _Rivals) -> Indices:
    """As :func:`_nearest` for one run, by one matrix product; rows left in doubt are scored."""
    scores = rivals.points.T @ rows
    scores += rivals.constant[:, None]
    slack = 2.0 * rivals.error.max()  # of any two scores
    leading = scores >= scores.max(axis=0) - slack
    owner = (np.arange(float(rivals.components)) @ leading).astype(np.intp)
    if np.count_nonzero(leading) > rows.shape[1]:
        doubtful = np.flatnonzero(np.count_nonzero(leading, axis=0) > 1)
        owner[doubtful] = _nearest(rows[:, doubtful], rivals, 0)
    return np.asarray(owner)


def _sums_by_owner(rows: Array, owner: Indices, components: int) -> Array:
    """Counts and sums ``(K, 1 + d)`` of rows ``(d, n)``."""
    sums = np.empty((components, 1 + len(rows)))
    sums[:, 0] = np.bincount(owner, minlength=components)
    if len(rows) > FEW_COLUMNS:
        sums[:, 1:] = (owner == np.arange(components)[:, None]).astype(float) @ rows.T
        return sums
    for i, row in enumerate(rows, start=1):
        sums[:, i] = np.bincount(owner, row, components)
    return sums


def _on_grid(rows: Array, radius: float) -> Array:
    """Rows cut towards 0 to multiples of ``2^-GRID_BITS`` of the radius rounded up."""
    if not math.isfinite(radius) or radius <= 0.0:
        return rows
    step = 2.0 ** (math.ceil(math.log2(radius)) - GRID_BITS)
    return np.asarray(np.trunc(rows / step) * step)


def _curve(rows: Array) -> Indices:
    """Order ``(n,)`` of rows ``(d, n)`` along Morton's curve (1966): neighbours stay neighbours.

    A row's cell on the curve and, below it, its number are one integer, so that a sort of integers
    orders the numbers as well.
    """
    dim, size = rows.shape
    below = (size - 1).bit_length()
    bits = min(CELL_BITS, (63 - below) // dim)
    least = rows.min(axis=1, keepdims=True)
    spread = np.maximum(rows.max(axis=1, keepdims=True) - least, np.finfo(float).tiny)
    bit = np.arange(TABLE_BITS)
    apart = ((np.arange(1 << TABLE_BITS)[:, None] >> bit & 1) << bit * dim).sum(axis=1)
    code, shares = np.arange(size), pieces(size, BLOCK_NUMBERS // (4 * dim))

    def work(index: int) -> Indices:
        cells = ((rows[:, shares[index]] - least) / spread * (2.0**bits - 1.0)).astype(np.int64)
        parts = (
            apart[(cell >> low) & (len(apart) - 1)] << (below + axis + low * dim)
            for axis, cell in enumerate(cells)
            for low in range(0, bits, TABLE_BITS)
        )
        return np.asarray(sum(parts))

    def add(index: int, part: Indices) -> None:
        code[shares[index]] |= part

    in_order(work, add, len(shares))
    parts = pieces(size, -(-size // most_threads()))
    in_order(lambda index: code[parts[index]].sort(), lambda *_: None, len(parts))
    code.sort(kind="stable")  # which merges runs that are sorted already
    return np.asarray(code & ((1 << below) - 1), dtype=np.intp)


def _levels(rows: Array) -> list[_Boxes]:
    """Boxes of rows ``(d, n)``, from the smallest to the largest."""
    size = ARITY * max(1, BLOCK_NUMBERS // 64)
    parts: list[Array] = []

    def smallest(index: int) -> Array:
        part = rows[:, index * size : (index + 1) * size]
        count = np.ones(part.shape[1])
        return _around(np.vstack([part, part, part, count, np.zeros(len(count))]))

    in_order(smallest, lambda _, part: parts.append(part), -(-rows.shape[1] // size))
    boxes = np.concatenate(parts, axis=1)
    out = [_Boxes.of(boxes)]
    while boxes.shape[1] > TOP:
        boxes = _around(boxes)
        out.append(_Boxes.of(boxes))
    return out


def _around(boxes: Array) -> Array:
    """Boxes ``(3 d + 2, m)`` around every ARITY of some: least and largest coordinates, sums of the
    rows, how many they are, and their squared distances to their mean."""
    dim = len(boxes) // 3
    least, most, inside = np.split(boxes[:-1], [dim, 2 * dim])
    total = _joined(np.add, inside)
    mean = np.repeat(total[:-1] / total[-1], ARITY, axis=1)[:, : boxes.shape[1]]
    away = inside[:-1] / inside[-1] - mean
    scatter = boxes[-1:] + inside[-1] * np.einsum("dn,dn->n", away, away)
    ends = _joined(np.minimum, least), _joined(np.maximum, most)
    return np.vstack([*ends, total, _joined(np.add, scatter)])


def _joined(ufunc: np.ufunc, values: Array) -> Array:
    """``ufunc`` of every ARITY values ``(d, n)``, by pairs of pairs; of the last there may be
    fewer."""
    whole = values.shape[1] - values.shape[1] % ARITY
    pairs, rest = values[:, :whole], values[:, whole:]
    for _ in range(ARITY.bit_length() - 1):
        pairs = ufunc(pairs[:, ::2], pairs[:, 1::2])
    if rest.shape[1]:
        pairs = np.append(pairs, ufunc.reduce(rest, axis=1, keepdims=True), axis=1)
    return pairs
