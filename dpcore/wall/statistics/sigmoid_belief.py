"""What a sigmoid belief network asks of binary rows: five sums, released as one vector.

A row y (J pixels, 0 or 1) has a model's guess of its hidden units z (K numbers in [0, 1]) and of
its pixels' curvature x (J numbers in [0, 1/4]). The sums are those of z, y, x, ``y z^T`` and, for
each pixel, ``x_j E[z z^T]``. Park, Foulds, Chaudhuri, Welling 2020 (VIPS, Algorithm 6) release
seven: one of theirs reads released numbers only, and one is the diagonal of another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array, Indices, Mask
from dpcore.checks import positive, whole
from dpcore.mechanisms.gaussian import symmetric_size
from dpcore.short_rows import row_sums
from dpcore.wall.data.sources import a_share
from dpcore.wall.kernels.row_blocks import looked_at, pieces
from dpcore.wall.kernels.threads import in_order
from dpcore.wall.statistics.statistic import Part, Sensitivity, Summed, by_adjacency

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches

Belief = Callable[[Array, int], tuple[Array, Array]]

PARTS = ("hidden", "visible", "curvature", "pairs", "forms", "rows")
COUNTED = 0.1  # weight of the row itself, whose sum says how much of the rows was kept
TILE = 512  # rows that are looked at together
FEW = 16  # pixels of which rows that are alike are looked at once
STEEPEST = 0.25  # the largest curvature


@cache
def pairs_of(units: int) -> tuple[Indices, Indices]:
    """Rows and columns of a form's entries ``(K(K+1)/2,)``: its diagonal, then above it."""
    above = np.triu_indices(units, 1)
    first, second = (np.append(np.arange(units), side) for side in above)
    first.flags.writeable = second.flags.writeable = False
    return first, second


@dataclass(frozen=True)
class NoisyBelief:
    """What left, over the rows of a step, less the half that the model always takes off.

    hidden ``(B, K)``: of ``z - 1/2``; visible ``(B, J)``: of ``y - 1/2``; curvature ``(B, J)``: of
    x; pairs ``(B, J, K)``: of ``(y - 1/2) z^T``; forms ``(B, K(K+1)/2, J)``: of ``x_j G`` in
    norm-keeping coordinates, diagonals first. ``sd``: deviation of the noise in a coordinate of
    each part, before the halves are taken off ``(B,)``. rows ``(B,)``: how many, each as far as it
    was kept: public where nothing is drawn in and a row is replaced, else as released.
    """

    hidden: Array
    visible: Array
    curvature: Array
    pairs: Array
    forms: Array
    sd: dict[str, Array]
    rows: Array


@dataclass(frozen=True)
class BeliefMoments(Summed[Belief, NoisyBelief]):
    r"""The five sums and a count, each in units of its own largest norm, times its weight.

    ``z / sqrt K``, ``y / sqrt J``, ``4 x / sqrt J``, ``y z^T / sqrt(J K)``, for each pixel j
    ``4 x_j G / (sqrt J K)`` where ``G = z z^T`` with z on its diagonal (the mean of the square of
    independent 0/1 units), and 1. weights: of the first five; with the count's, which is
    :data:`COUNTED`, their squares are scaled to add up to 1. The wall puts z, x and y into their
    boxes, builds G, and draws the whole vector towards 0 until its norm is at most ``clip``, a
    share in (0, 1]; at 1 every vector stays. A model gives z ``(m, K)`` and x ``(m, J)`` for rows
    ``(m, J)`` of 0 and 1 and a run, filled up with empty rows to blocks of one size
    (:mod:`dpcore.wall.kernels.row_blocks`), because models look in single precision; what is
    undefined becomes 0. Nothing of one step's z is handed to the next. Of at most :data:`FEW`
    pixels, rows that are alike are looked at once, and what is made of them counts as often as they
    occur: a sum of fewer products, which :func:`dpcore.wall.grid.grid_for` covers, in which a row
    that is replaced moves the others as one that is added does. So :attr:`in_place` is false there,
    and a model has to look as where rows come and go.

    **Guarantee.** The L2 sensitivity is ``clip`` where a row is added or removed, and where one is
    replaced ``min(1, sqrt 2 clip)``, for ``clip = 1`` the root of ``1 - COUNTED^2``. Those for
    ``clip = 1`` are attained.

    *Proof.* Every coordinate of the vector is at least 0 and at most its value c at
    ``z = y = 1, x = 1/4``, where each part's norm is its weight and ``|c| = 1``; drawing towards 0
    keeps that. (1) The norm is at most ``clip``. (2) Two vectors between 0 and c differ by at most
    c in each coordinate, hence by at most 1; where nothing is drawn in the count is 1 for both and
    differs by 0. (3) Vectors without negative coordinates have ``<v, v'> >= 0``, so
    ``|v - v'|^2 <= |v|^2 + |v'|^2 <= 2 clip^2``. A row with ``v = c`` and one of zeros attain (1)
    and (2). QED.

    *Between* ``1/sqrt 2`` *and 1 the bound is not attained:* any vectors between 0 and c would
    attain it, but products of z, y and x that one row leaves at 0 cannot all be filled by another.
    How far below it the sensitivity lies is a maximum over two rows that is not concave; searches
    at ``clip = 0.9`` find 0.94 with equal weights and 0.90 where products weigh most, so a sharper
    lemma could save 6% to 10% of the noise there. Fits clip at 0.3, where two rows that share
    nothing attain the bound but for the count.
    """

    hidden: int
    visible: int
    weights: tuple[float, float, float, float, float] = (1.0, 1.0, 1.0, 1.0, 1.0)
    clip: float = 1.0

    lemma = "joint diameter of five non-negative statistics in their box, cut by a ball"
    components = 1

    def __post_init__(self) -> None:
        whole("hidden", self.hidden)
        whole("visible", self.visible)
        for weight in self.weights:
            positive("weights", weight)
        length = math.hypot(*self.weights) / math.sqrt(1.0 - COUNTED**2)
        object.__setattr__(self, "weights", tuple(weight / length for weight in self.weights))
        a_share(self.clip, "the largest norm")

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The five sums and the count; forms stand diagonals first."""
        k, j = self.hidden, self.visible
        sizes = (k, j, j, j * k, j * symmetric_size(k), 1)
        largest = (k**0.5, j**0.5, j**0.5 / 4.0, (j * k) ** 0.5, j**0.5 * k / 4.0, 1.0)
        scales = (most / w for most, w in zip(largest, (*self.weights, COUNTED), strict=True))
        return {
            name: Part(size, scale, j * k if name == "forms" else None)
            for name, size, scale in zip(PARTS, sizes, scales, strict=True)
        }

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma, and for each part alone the same proof; no L1 is stated."""
        box = math.sqrt(1.0 - COUNTED**2) if self.clip == 1.0 else 1.0
        cut = math.sqrt(2.0) * self.clip
        weights = dict(zip(PARTS, (*self.weights, COUNTED), strict=True))
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(
                min(box, cut), {name: (min(w, cut), None) for name, w in weights.items()}
            ),
            add_remove=Sensitivity(
                self.clip, {name: (min(w, self.clip), None) for name, w in weights.items()}
            ),
        )

    @property
    def in_place(self) -> bool:
        """Whether a row that is replaced leaves all others where they stand."""
        return self.visible > FEW

    def norms(self, hidden: Array, visible: Array, curvature: Array) -> Array:
        """Norm of each row's weighted vector ``(m,)``, without building it."""
        square = hidden**2
        z2, y2, x2 = (row_sums(part) for part in (square, visible**2, curvature**2))
        form = z2**2 + row_sums(square - square**2)  # z on the diagonal, not z^2
        squares = (z2, y2, x2, y2 * z2, x2 * form, np.ones(len(z2)))
        units = (part.scale for part in self.parts.values())
        return np.asarray(
            np.sqrt(sum(part / unit**2 for part, unit in zip(squares, units, strict=True)))
        )

    def checked(self, session: Session[Any], of: Belief) -> Belief:
        if self.visible != session.source.visible:
            raise ValueError("the contribution and the rows differ in their number of pixels")
        return of

    def bounds(self, session: Session[Any], of: Belief) -> tuple[float, float]:
        return session.radius, session.radius

    def total(
        self, session: Session[Any], of: Belief, batches: Minibatches | None
    ) -> tuple[Array, Array | None]:
        """Of all parts; and how many rows there are, where that is public and none is drawn in."""
        on, belief = session.source._on, session._of_rows(partial(_beside, self, of))
        total = np.zeros((session.runs, 1, self.size))
        for positions, runs in session._samples(batches):
            counted = _counted(on if positions is None else on[positions])
            for run in runs:
                total[run, 0] = _sum(*counted, self, belief, int(run))
        public = session.rows is not None and self.clip == 1.0
        return total, total[:, 0, -1].copy() if public else None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: Array | None
    ) -> NoisyBelief:
        rows = np.maximum(total[:, 0, -1], 1.0) if unnoised is None else unnoised
        return _as_belief(total[:, 0], self, scales, rows)


def _counted(on: Mask) -> tuple[Mask, Array]:
    """Rows ``(m, J)`` and how often each counts ``(m,)``: of few pixels those that differ, else all
    ``on (n, J)`` as they are."""
    if on.shape[1] > FEW:
        return on, np.ones(len(on))
    packed = np.zeros((len(on), FEW // 8), dtype=np.uint8)
    own = np.packbits(on, axis=1)
    packed[:, : own.shape[1]] = own
    times = np.bincount(packed.view(np.uint16)[:, 0])
    kinds = np.flatnonzero(times)
    bits = kinds.astype(np.uint16)[:, None].view(np.uint8)
    rows = np.unpackbits(bits, axis=1, count=on.shape[1]).astype(bool)
    return rows, times[kinds].astype(float)


def _sum(
    on: Mask, times: Array, shape: BeliefMoments, belief: Callable[[Array, int], Array], run: int
) -> Array:
    """The sum of rows' vectors, each so many times, in the parts' own coordinates; tiles on every
    core. belief: gives z and x beside each other."""
    tiles = pieces(len(on), TILE)
    out = np.zeros(shape.size)

    def part(index: int) -> Array:
        rows = on[tiles[index]].astype(float)
        (values,) = looked_at(rows, TILE, lambda block: (belief(block, run),))
        inside = _inside(values[:, : shape.hidden], values[:, shape.hidden :])
        return _of_rows(rows, shape, *inside, times[tiles[index]])

    def add(index: int, values: Array) -> None:
        np.add(out, values, out=out)

    in_order(part, add, len(tiles))
    return out


def _of_rows(
    rows: Array, shape: BeliefMoments, hidden: Array, curvature: Array, times: Array | float = 1.0
) -> Array:
    """The same for some rows, their z and x inside their boxes."""
    out = np.empty(shape.size)
    parts = {name: out[shape.slice(name)] for name in PARTS}
    units = shape.hidden
    first, second = pairs_of(units)
    scale = np.broadcast_to(times, len(rows))
    if shape.clip < 1.0:
        norms = shape.norms(hidden, rows, curvature)
        scale = shape.clip / np.maximum(norms, shape.clip) * scale
    products = np.take(hidden, first, axis=1)
    products *= np.take(hidden, second, axis=1)
    products[:, :units] = hidden
    products[:, units:] *= math.sqrt(2.0)
    z, x = scale[:, None] * hidden, scale[:, None] * curvature
    parts["hidden"][:] = z.sum(axis=0)
    parts["visible"][:] = (scale[:, None] * rows).sum(axis=0)
    parts["curvature"][:] = x.sum(axis=0)
    np.matmul(rows.T, z, out=parts["pairs"].reshape(shape.visible, units))
    np.matmul(products.T, x, out=parts["forms"].reshape(len(first), shape.visible))
    parts["rows"][:] = scale.sum()
    return out


def _beside(shape: BeliefMoments, belief: Belief, rows: Array, run: int) -> Array:
    """A model's z and x of rows, beside each other ``(m, K + J)``. Raises ValueError for parts of
    another shape."""
    z, x = (np.asarray(part, dtype=np.float64) for part in belief(rows, run))
    if z.shape != (len(rows), shape.hidden) or x.shape != rows.shape:
        raise ValueError("a belief must have the shapes (rows, units) and (rows, pixels)")
    return np.concatenate([z, x], axis=1)


def _inside(z: Array, x: Array) -> tuple[Array, Array]:
    """A model's z and x put into their boxes; what is undefined becomes 0."""
    return np.fmin(np.fmax(z, 0.0), 1.0), np.fmin(np.fmax(x, 0.0), STEEPEST)


def _as_belief(
    total: Array, shape: BeliefMoments, sd: dict[str, Array], rows: Array
) -> NoisyBelief:
    runs, k, j = len(total), shape.hidden, shape.visible
    parts = {name: total[:, shape.slice(name)] for name in PARTS}
    pairs = parts["pairs"].reshape(runs, j, k) - parts["hidden"][:, None] / 2.0
    return NoisyBelief(
        parts["hidden"] - rows[:, None] / 2.0,
        parts["visible"] - rows[:, None] / 2.0,
        parts["curvature"],
        pairs,
        parts["forms"].reshape(runs, symmetric_size(k), j),
        sd,
        rows,
    )
