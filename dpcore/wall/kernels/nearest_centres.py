"""Rows by their nearest centre: how many they are, what they add up to, how far away they are.

Why it is fast. In few dimensions rows lie in a tree of boxes, made once. A box that lies in one
centre's cell is added whole, a box on the border between cells is opened, so a step costs what the
borders cost (Moore 1991; Kanungo, Mount et al. 2002). In many dimensions nearly every box meets a
border, and rows are compared with centres by blocks of matrix products, in single precision where
centres are many.

**Which centre a row goes to** is a function of that row and the centres alone, to the last bit: the
first of those with the largest ``m . y - |m|^2 / 2``, each coordinate's product added in turn in
double precision (:func:`_scores`). Boxes and products only ever decide what they decide by more
than the rounding in them *and* in those scores (``_Rivals.error``); every row within it is
scored.

**Sums are exact** on the grid of :mod:`dpcore.wall.kernels.balls`: no tree and no order of addition
changes a bit of them. Without a radius they are rounded as any other, in an order that no number of
threads changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array, Indices, Mask
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.kernels.row_blocks import TREE_DIM, cut_to_grid, pieces
from dpcore.wall.kernels.threads import in_order, most_threads

FEW_COLUMNS = 16  # up to so many, rows are counted out; beyond, multiplied by indicators
CELL_BITS = 24  # of a coordinate's place on the curve, at most
TABLE_BITS = 12  # of it that are looked up at once
FIRST_BITS = 8  # of a place on the curve, by which rows are put into buckets
ARITY = 8  # rows of the smallest box, boxes of a larger one; a power of 2
TOP = 512  # at most so many largest boxes
BLOCK_NUMBERS = 1 << 18  # numbers that a block of scores may hold
TOGETHER = 160  # centres of so many runs walk the tree together
GUARD = 16.0  # times the rounding in a score; 4 would do
SINGLE_GUARD = 4.0  # the same in single precision
SINGLE_LEAST = 8  # centres, and no fewer than columns, from which on it saves time
SINGLE_MOST = 1e24  # such an error in it is that of numbers too large for it
SINGLE_ROWS = 8000  # of a product in it


@dataclass(frozen=True, repr=False)
class _Rivals:
    """Centres of b runs, K each, as linear scores: ``points (d, b K)``, ``constant (b K,)`` =
    ``-|m|^2/2``, and the rounding in them, ``error (b K,)``. components: K. norm: of a row.
    """

    points: Array
    constant: Array
    error: Array
    components: int
    norm: float

    @classmethod
    def of(cls, centres: Array, reach: float, norm: float | None = None) -> _Rivals:
        """Centres ``(b, K, d)``, rows with coordinates up to ``reach`` and, if that says more,
        norms up to ``norm``.

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
        norm = math.sqrt(len(points)) * reach if norm is None else norm
        return cls(points, flat, error, centres.shape[1], norm)

    @cached_property
    def single(self) -> tuple[NDArray[np.float32], np.float32]:
        """Of one run, in single precision: points and constants ``(K, d + 1)``, and by how much one
        score must lead another to lead by :func:`_scores` too.

        Of a row within ``norm``, ``|m . y| <= |m| norm``. A centre that is farther than another
        from every such row is left out: its rounding would be that of all. Where the numbers are
        too large for this precision, no lead is enough.
        """
        half, precision = -self.constant, np.finfo(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            size = math.sqrt(2.0) * np.sqrt(half) * self.norm + half
            least, most = -size, size - half - half
            error = precision.eps * size + precision.tiny * (1.0 + self.norm)
            error *= SINGLE_GUARD * (len(self.points) + 4)
            near = most + error >= np.max(least - error)
            points = np.vstack([self.points, self.constant])
            points[:-1, ~near], points[-1, ~near] = 0.0, -np.inf
            single = points.T.astype(np.float32)
        largest = 2.0 * error[near].max(initial=0.0)
        return single, np.float32(largest if largest < SINGLE_MOST else np.inf)

    def every(self, base: Indices) -> Indices:
        """All centres ``(K, n)`` of the runs with the first centres ``(n,)``; ``(K, 1)`` where
        there is one run: nothing need be copied for each row."""
        base = base[:1] if len(self.constant) == self.components else base
        return np.arange(self.components)[:, None] + base


def _scores(rows: Array, rivals: _Rivals, which: Indices) -> Array:
    """Scores ``(..., n)`` of rows ``(d, n)`` for one centre each, ``(..., n)`` or ``(..., 1)``.

    The same bits for each row whatever stands beside it: each step is one rounded operation.
    """
    total = rows[0] * rivals.points[0][which]
    for row, point in zip(rows[1:], rivals.points[1:], strict=True):
        total += row * point[which]
    total += rivals.constant[which]
    return np.asarray(total)


def _nearest(rows: Array, rivals: _Rivals, base: Indices) -> Indices:
    """The centre ``(n,)`` of each row ``(d, n)``, of equal ones the first.

    base ``(n,)``: the first centre of the run that each row is asked for.
    """
    owner = np.empty(rows.shape[1], dtype=np.intp)
    for part in pieces(len(owner), BLOCK_NUMBERS // rivals.components):
        scores = _scores(rows[:, part], rivals, rivals.every(base[part]))
        owner[part] = _first(scores == scores.max(axis=0))
    return owner + base


def _first(members: Mask) -> Indices:
    """The first ``(n,)`` of K of which each is a member ``(K, n)``; K where there is none.

    NumPy's ``argmax`` along the first axis takes several times as long.
    """
    most = np.max(members.view(np.uint8) * _left(len(members)), axis=0)
    return np.asarray(len(members) - most.astype(np.intp))


def _left(count: int) -> NDArray[np.unsignedinteger]:
    """Of so many, how many come from each of them on ``(count, 1)``: 3, 2, 1 of three."""
    return np.arange(count, 0, -1, dtype=np.min_scalar_type(count))[:, None]


def _how_many(members: Mask) -> NDArray[np.unsignedinteger]:
    """Of how many of K each is a member ``(n,)``."""
    kind = np.min_scalar_type(len(members))
    return np.asarray(np.add.reduce(members.view(np.uint8), axis=0, dtype=kind))


def _of_two(rows: Array, rivals: _Rivals, two: Indices) -> Indices:
    """The same where only two centres ``(2, n)`` can be nearest."""
    low, high = np.minimum(*two), np.maximum(*two)
    wins = _scores(rows, rivals, high) > _scores(rows, rivals, low)
    return np.asarray(np.where(wins, high, low))


@dataclass(frozen=True, repr=False)
class _Boxes:
    """Boxes of one size, in the order of the rows: middle and half width ``(d, m)``, the number of
    rows ``(m,)`` and their sum ``(d, m)``."""

    middle: Array
    half: Array
    count: Array
    total: Array

    @classmethod
    def of(cls, boxes: Array) -> _Boxes:
        """From least and largest coordinates, sums and numbers of rows, ``(3 d + 1, m)``."""
        dim = len(boxes) // 3
        least, most, total = boxes[:dim], boxes[dim : 2 * dim], boxes[2 * dim : -1]
        return cls((least + most) / 2, (most - least) / 2, boxes[-1].copy(), total.copy())

    def mean(self, which: Indices | slice) -> Array:
        """Means ``(d, P)`` of the rows in some boxes."""
        return np.asarray(self.total[:, which] / self.count[which])

    def scatter(self, inside: Array, count: Array, scatter: Array) -> Array:
        """Squared distances ``(m,)`` of the rows in each box to their mean, from the means
        ``(d, n)``, the numbers and the scatters ``(n,)`` of the rows in what is inside it."""
        parts = []
        for part in pieces(len(self.count), BLOCK_NUMBERS // (8 * ARITY)):
            smaller = slice(part.start * ARITY, part.stop * ARITY)
            mean = np.repeat(self.mean(part), ARITY, axis=1)
            away = inside[:, smaller] - mean[:, : len(count[smaller])]
            within = scatter[smaller] + count[smaller] * np.einsum("dn,dn->n", away, away)
            parts.append(_joined(within[None], np.add)[0][0])
        return np.concatenate(parts)


class NearestRows:
    """Rows ``(n, d)`` ready to be asked which of K centres is nearest, as often as one likes.

    radius: public, that of the ball in which they lie; infinite where nothing is protected. Keeps
    the rows or a copy and, up to dimension TREE_DIM, boxes of ``(3 d + 1) / 7`` numbers for each
    row: 24 MB for a million rows in two dimensions. Without a tree and a radius, also copies of the
    rows: one row after row and, for many centres, one in single precision. tree: whether to make
    one; it takes as long as several steps, so rows that are asked once do without.
    """

    def __init__(self, rows: Array, radius: float = math.inf, *, tree: bool = True) -> None:
        units = np.ascontiguousarray(cut_to_grid(rows, radius).T)
        self._reach = float(max(units.max(initial=0.0), -units.min(initial=0.0)))
        self._rows, self._levels = units, list[_Boxes]()
        self._whole = rows if math.isinf(radius) and len(units) <= FEW_COLUMNS else None
        if tree and 0 < len(units) <= TREE_DIM and units.size:
            order, self._rows, self._whole = _curve(units), np.empty_like(units), None

            def put(axis: int) -> None:
                units[axis].take(order, out=self._rows[axis], mode="clip")  # is not buffered

            in_order(put, lambda *_: None, len(units))
            self._levels = _levels(self._rows)

    @property
    def dim(self) -> int:
        """How many columns the rows have."""
        return len(self._rows)

    def sums(self, centres: Array) -> Array:
        """Counts and sums ``(B, K, 1 + d)`` of the rows at each of the centres ``(B, K, d)``."""
        if self._whole is not None:
            return self._sums_by_row(self._checked(centres))

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
        scatters = self._scatters

        def tally(part: _Part, points: Array) -> Array:
            size = points.shape[1]
            if part.level is None:
                away = self._rows[:, part.which] - points[:, part.owner]
                squares = np.einsum("dp,dp->p", away, away)
            else:
                at, which = self._levels[part.level], part.which
                away = at.mean(which) - points[:, part.owner]
                squares = scatters[part.level][which]
                squares += at.count[which] * np.einsum("dp,dp->p", away, away)
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

    def _sums_by_row(self, centres: Array) -> Array:
        """The same without a tree: in order, block by block, as :func:`_sums_by_owner` adds, but
        all coordinates of a row at once, and several blocks in one call."""
        runs, components, dim = centres.shape
        height, count = self._height(components), len(self._by_row)
        blocks = -(-count // (height * most_threads()))
        shares = pieces(count, height * min(blocks, 1 + BLOCK_NUMBERS // height))
        rivals = [_Rivals.of(centres[run : run + 1], self._reach) for run in range(runs)]
        out = np.zeros((runs, components, 1 + dim))
        single = self._single if _is_single(components, dim) else None

        def work(index: int) -> Array:
            run, share = divmod(index, len(shares))
            piece = shares[share]
            ready = None if single is None else single[:, piece]
            owner = _nearest_by_products(self._rows[:, piece], rivals[run], ready)
            return _sums_of_blocks(self._by_row[piece], owner, height, components)

        def add(index: int, parts: Array) -> None:
            for part in parts:
                out[index // len(shares)] += part

        in_order(work, add, runs * len(shares))
        return out

    @cached_property
    def _by_row(self) -> Array:
        """The rows ``(n, d)``, row after row in memory."""
        return np.ascontiguousarray(self._whole)

    @cached_property
    def _single(self) -> NDArray[np.float32]:
        """As :func:`_as_single` gives them."""
        return _as_single(self._rows)

    @cached_property
    def _scatters(self) -> list[Array]:
        """Of the boxes of each level, the squared distances ``(m,)`` of the rows to their mean."""
        out, inside, count = list[Array](), self._rows, np.ones(self._rows.shape[1])
        for boxes in self._levels:
            out.append(boxes.scatter(inside, count, out[-1] if out else np.zeros_like(count)))
            inside, count = boxes.mean(slice(None)), boxes.count
        return out

    def _height(self, components: int) -> int:
        """Rows of a block of products."""
        return max(1, BLOCK_NUMBERS // (components + self.dim))

    def _pieces(self, components: int) -> list[slice]:
        """Pieces of a run's work: some rows, or the whole tree (half a tree is too little)."""
        if self._levels:
            return [slice(None)]
        return pieces(self._rows.shape[1], self._height(components))

    def _parts(self, rivals: _Rivals, piece: slice) -> Iterator[_Part]:
        if not self._levels:
            owner = _nearest_by_products(self._rows[:, piece], rivals)
            yield _Part(None, piece, owner)
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


def sums_near(centres: Array) -> Callable[[Array], Array]:
    """What says counts and sums ``(K, 1 + d)`` of rows ``(d, n)`` in the unit ball at each of the
    centres ``(K, d)``."""
    rivals = _Rivals.of(centres[None], 1.0, 1.0)
    return lambda rows: _sums_by_owner(rows, _nearest_by_products(rows, rivals), len(centres))


def nearest_sums(rows: Rows, centres: Array) -> Array:
    """As :meth:`NearestRows.sums` of clipped rows, which are made ready at the first time. The last
    answer is remembered: without noise, centres that have stopped moving are asked for again."""
    if rows.nearest is None:
        rows.nearest = NearestRows(rows.units, rows.reach, tree=not rows.once)
    answered = rows.answered  # one look: another thread may ask too
    if answered is None or not np.array_equal(answered[0], centres):
        rows.answered = answered = centres.copy(), rows.nearest.sums(centres)
    return answered[1].copy()


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
    base, pick = task.rivals[0], np.arange(len(task.what))
    every = rivals.every(base)
    points = [point[every] for point in rivals.points]
    scores = rivals.constant[every] + np.zeros(len(pick))
    for middle, point in zip(boxes.middle, points, strict=True):
        scores += point * middle[task.what]
    first = _first(scores == scores.max(axis=0))
    owner, best = first + base, scores[first, pick]
    best -= rivals.error[owner]
    scores += rivals.error[every]
    for half, row, point in zip(boxes.half, rivals.points, points, strict=True):
        scores += half[task.what] * np.abs(point - row[owner])
    scores[first, pick] = -np.inf
    threat = scores >= best
    threats = _how_many(threat)
    won, duel = np.flatnonzero(threats == 0), np.flatnonzero(threats == 1)
    two = np.stack([owner[duel], (_first(threat) + base)[duel]])
    left = [_Task(task.level, task.what[duel], two), task.at(np.flatnonzero(threats > 1))]
    return task.what[won], owner[won], left


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


def _nearest_by_products(
    rows: Array, rivals: _Rivals, single: NDArray[np.float32] | None = None
) -> Indices:
    """As :func:`_nearest` for one run, by blocks of matrix products.

    single: the rows as :func:`_as_single` gives them, where they are ready.
    """
    components, (dim, count) = rivals.components, rows.shape
    if components == 1 or not count:
        return np.zeros(count, dtype=np.intp)
    if not _is_single(components, dim):
        shares = pieces(count, BLOCK_NUMBERS // (components + dim))
        return np.concatenate([_in_double(rows[:, part], rivals) for part in shares])
    owner = _in_single(_as_single(rows) if single is None else single, rivals)
    if len(which := np.flatnonzero(owner == components)):
        owner[which] = _in_double(rows[:, which], rivals)
    return owner


def _is_single(components: int, dim: int) -> bool:
    """Whether products in single precision save time."""
    return components >= max(SINGLE_LEAST, dim)


def _as_single(rows: Array) -> NDArray[np.float32]:
    """Rows ``(d, n)`` in single precision with a 1 after each, ``(d + 1, n)``."""
    single = np.ones((len(rows) + 1, rows.shape[1]), dtype=np.float32)
    with np.errstate(over="ignore"):
        single[:-1] = rows
    return single


def _in_double(rows: Array, rivals: _Rivals) -> Indices:
    """The same by one product; rows left in doubt are scored."""
    scores = rivals.points.T @ rows
    scores += rivals.constant[:, None]
    slack = 2.0 * rivals.error.max()  # of any two scores
    leading = scores >= scores.max(axis=0) - slack
    owner = (np.arange(float(rivals.components)) @ leading).astype(np.intp)
    if np.count_nonzero(leading) > rows.shape[1]:
        doubtful = np.flatnonzero(_how_many(leading) > 1)
        owner[doubtful] = _nearest(rows[:, doubtful], rivals, np.zeros_like(doubtful))
    return np.asarray(owner)


def _in_single(rows: NDArray[np.float32], rivals: _Rivals) -> Indices:
    """The same of rows ``(d + 1, n)`` as :func:`_as_single` gives them; K for rows left in
    doubt."""
    (points, slack), count = rivals.single, rows.shape[1]
    left = _left(len(points))
    number, most = np.empty((2, count), left.dtype)
    for part in pieces(count, SINGLE_ROWS):
        with np.errstate(over="ignore", invalid="ignore"):
            scores = points @ rows[:, part]
            leading = scores >= scores.max(axis=0) - slack  # nobody, where one is undefined
        members = leading.view(np.uint8)
        np.add.reduce(members, axis=0, dtype=left.dtype, out=number[part])
        np.maximum.reduce(members * left, axis=0, out=most[part])
    most[number != 1] = 0
    return np.asarray(len(points) - most.astype(np.intp))


def _sums_by_owner(rows: Array, owner: Indices, components: int) -> Array:
    """Counts and sums ``(K, 1 + d)`` of rows ``(d, n)``."""
    sums = np.empty((components, 1 + len(rows)))
    sums[:, 0] = np.bincount(owner, minlength=components)
    if len(rows) > FEW_COLUMNS:
        sums[:, 1:] = (owner == np.arange(components)[:, None]).astype(float) @ rows.T
    else:
        for i, row in enumerate(rows, start=1):
            sums[:, i] = np.bincount(owner, row, components)
    return sums


def _sums_of_blocks(rows: Array, owner: Indices, height: int, components: int) -> Array:
    """Counts and sums ``(blocks, K, 1 + d)`` of rows ``(n, d)`` in blocks of a height, each in the
    order of its rows. owner ``(n,)`` is written to."""
    from scipy.sparse import csc_array

    blocks = pieces(len(rows), height)
    for number, block in enumerate(blocks):
        owner[block] += number * components
    size, first = len(blocks) * components, np.arange(len(rows) + 1, dtype=np.int32)
    member = csc_array((np.ones(len(rows)), owner.astype(np.int32), first), (size, len(rows)))
    sums = np.empty((size, 1 + rows.shape[1]))
    sums[:, 0], sums[:, 1:] = np.bincount(owner, minlength=size), member @ rows
    return sums.reshape(len(blocks), components, -1)


def _curve(rows: Array) -> Indices:
    """Order ``(n,)`` of rows ``(d, n)`` along Morton's curve (1966): neighbours stay neighbours.

    A row's cell on the curve and, below it, its number are one integer, so that a sort of integers
    orders the numbers as well. It sorts one bucket after the other: on some processors NumPy's sort
    by AVX-512 takes several times as long for each of a million integers as for each of a few.
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
    first = (code >> (below + bits * dim - FIRST_BITS)).astype(np.uint8)
    code = code[np.argsort(first, kind="stable")]  # of such small numbers, one pass of radix sort
    buckets = np.split(code, np.cumsum(np.bincount(first)))
    in_order(lambda index: buckets[index].sort(), lambda *_: None, len(buckets))
    return np.asarray(code & ((1 << below) - 1), dtype=np.intp)


def _levels(rows: Array) -> list[_Boxes]:
    """Boxes of rows ``(d, n)``, from the smallest to the largest."""
    size = ARITY * max(1, BLOCK_NUMBERS // 64)
    parts: list[Array] = []

    def smallest(index: int) -> Array:
        part = rows[:, index * size : (index + 1) * size]
        count = np.full(-(-part.shape[1] // ARITY), float(ARITY))
        count[-1] -= ARITY * len(count) - part.shape[1]
        return np.vstack([*_joined(part, np.minimum, np.maximum, np.add), count])

    in_order(smallest, lambda _, part: parts.append(part), -(-rows.shape[1] // size))
    boxes = np.concatenate(parts, axis=1)
    out = [_Boxes.of(boxes)]
    while boxes.shape[1] > TOP:
        least, most, total = np.split(boxes, [len(rows), 2 * len(rows)])
        ends = *_joined(least, np.minimum), *_joined(most, np.maximum)
        boxes = np.vstack([*ends, *_joined(total, np.add)])
        out.append(_Boxes.of(boxes))
    return out


def _joined(values: Array, *ufuncs: np.ufunc) -> list[Array]:
    """Of every ARITY values ``(d, n)`` what each function makes of them, by pairs of pairs; of the
    last there may be fewer."""
    whole = values.shape[1] - values.shape[1] % ARITY
    groups, rest = values[:, :whole].reshape(len(values), -1, ARITY), values[:, whole:]
    beside = np.ascontiguousarray(groups.transpose(2, 0, 1))  # NumPy's minima want long runs
    out = []
    for ufunc in ufuncs:
        pairs = beside
        for _ in range(ARITY.bit_length() - 1):
            pairs = ufunc(pairs[::2], pairs[1::2])
        joined = pairs[0]
        if rest.shape[1]:
            joined = np.append(joined, ufunc.reduce(rest, axis=1, keepdims=True), axis=1)
        out.append(joined)
    return out
