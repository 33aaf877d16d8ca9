"""Counts, sums and squares of the rows of each class, each class in a frame of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import nonnegative, one_of, positive, whole
from dpcore.errors import WallError
from dpcore.mechanisms.gaussian import (
    symmetric_from_coordinates,
    symmetric_size,
    symmetric_to_coordinates,
)
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.wall.data.clipping import clip_to_ball, demand_squares
from dpcore.wall.kernels.row_blocks import looked_at, pieces
from dpcore.wall.kernels.threads import one_thread
from dpcore.wall.statistics.mixture_moments import NoisyMoments
from dpcore.wall.statistics.statistic import BLOCKS, Part, Sensitivity, Summed

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches

Adjacency: TypeAlias = Literal["replace_one", "add_remove", "label", "feature"]
TILE_NUMBERS = 1 << 19  # numbers of one block of rows and runs
TILE = 4096  # rows of a release that are looked at together


@dataclass(frozen=True)
class ClassFrames:
    """For each run and class the coordinates ``y = matrix (u - center)``, clipped to ``|y| <= 1``.

    center ``(F, K, d)``, matrix ``(F, K, d, d)``: public or released; F is 1 or the number of runs.
    clipped: ``False`` only without privacy.
    """

    center: Array
    matrix: Array
    clipped: bool = True

    def apply(self, rows: Array, run: int, which: int) -> Array:
        """Coordinates ``(m, d)`` of rows ``(m, d)`` in the frame of a run (of 1: any) and class."""
        at = run if len(self.center) > 1 else 0
        with np.errstate(over="ignore", invalid="ignore"):
            moved = (rows - self.center[at, which]) @ self.matrix[at, which].T
        return clip_to_ball(moved, 1.0) if self.clipped else moved

    def apply_evenly(self, rows: Array, which: int) -> Array:
        """The same for rows ``(n, d)`` of a release's one run: the same bits for a row wherever it
        stands."""
        with one_thread():
            blocks = [
                looked_at(rows[at : at + TILE], TILE, lambda block: (self.apply(block, 0, which),))
                for at in range(0, len(rows), TILE)
            ]
        return np.concatenate([np.empty((0, rows.shape[1])), *(framed for (framed,) in blocks)])


@dataclass(frozen=True)
class LabelledMoments(Summed[ClassFrames, NoisyMoments]):
    r"""Counts, sums and squares of the rows of each of K classes, each in its class's own frame.

    A row whose coordinates in the frame of class k are y, ``|y| <= 1``, adds ``(a, b y, c s(y))``
    to its class, where ``s(y)`` is ``y y^T`` in norm-keeping coordinates and ``a, b, c`` =
    count_weight, mean_weight, square_weight; a block of weight 0 is not released. A row of no
    class adds nothing.

    **Guarantee.** The L2 sensitivity squared is, with ``e = a^2 + b^2 + c^2`` and
    ``q = 2 (b^2 + c^2) + b^4 / 2c^2`` where ``b^2 <= 2 c^2``, else ``q = 4 b^2``,

    ============  ================================  =========================================
    add_remove    ``e``                             the row's own vector
    label         ``2 e``                           its two classes share no coordinate
    feature       ``q``                             the class stays, so the count stays
    replace_one   ``max(2 e, q)``                   either of the two
    ============  ================================  =========================================

    All are attained from two dimensions and two classes on.

    *Proof.* A row's vector has squared norm ``a^2 + b^2 |y|^2 + c^2 |y|^4 <= e``. A row that moves
    from one class to another (or to none) changes different coordinates: at most ``e`` each, in
    whatever two frames. A row that stays in its class changes ``b^2 |y-y'|^2 + c^2 |s-s'|^2`` with
    ``|s-s'|^2 = |y|^4 + |y'|^4 - 2 t^2``, ``t = y.y'``, which grows with both norms at fixed t: at
    most ``2 (b^2 + c^2) - 2 (b^2 t + c^2 t^2)`` with t in [-1, 1]. If ``b^2 <= 2 c^2`` the least of
    the last bracket is at ``t = -b^2/2c^2`` and worth ``-b^4/4c^2``, else at -1 and worth
    ``c^2 - b^2``. QED.
    """

    components: int
    dim: int
    count_weight: float
    mean_weight: float
    square_weight: float

    lemma = "joint diameter of counts, sums and squares by class in a clipped ball"

    def __post_init__(self) -> None:
        whole("components", self.components)
        whole("dim", self.dim)
        for field in ("count_weight", "mean_weight", "square_weight"):
            nonnegative(field, getattr(self, field))
        positive("weights of counts, sums and squares", sum(self._weights.values()))
        released = [self._weights[block] for block in self.blocks]
        demand_squares("weights", np.array(released))

    @property
    def _weights(self) -> dict[str, float]:
        weights = (self.count_weight, self.mean_weight, self.square_weight)
        return dict(zip(BLOCKS, weights, strict=True))

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The blocks that are released."""
        sizes = {"counts": 1, "sums": self.dim, "squares": symmetric_size(self.dim)}
        return {
            block: Part(sizes[block], 1.0 / weight, self.dim if block == "squares" else None)
            for block, weight in self._weights.items()
            if weight > 0.0
        }

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma; of a block alone that with the other weights 0.

        *L1.* A row adds 1 to the counts, at most ``sqrt d`` to the sums and ``1 + (d - 1)/sqrt 2``
        to the squares (as :class:`~dpcore.wall.statistics.mixture_moments.MixtureMoments`); a
        change at most twice that, and none to the counts where the class stays.
        """
        weights = self._weights
        norms = {
            "counts": 1.0,
            "sums": math.sqrt(self.dim),
            "squares": 1.0 + (self.dim - 1) / math.sqrt(2.0),
        }
        blocks = {}
        for block in self.parts:
            alone = [weight if name == block else 0.0 for name, weight in weights.items()]
            norm = norms[block] * weights[block]
            stays = 0.0 if block == "counts" else 2.0 * norm
            l1 = by_change(adjacency, add=norm, moves=2.0 * norm, stays=stays)
            blocks[block] = (_joint(adjacency, *alone), l1)
        return Sensitivity(_joint(adjacency, *weights.values()), blocks)

    def checked(self, session: Session[Any], of: ClassFrames) -> ClassFrames:
        if session.private and not of.clipped:
            raise WallError("private rows must be clipped in their frames")
        demand_shape(of.center, (session.source.components, session.public.dim))
        if (self.components, self.dim) != (session.source.components, session.public.dim):
            raise ValueError("the contribution's shape does not match the rows")
        return of

    def total(
        self, session: Session[Any], of: ClassFrames, batches: Minibatches | None
    ) -> tuple[Array, Array]:
        """Of the released blocks; and the exact counts ``(B, K)``."""
        total = _class_sums(session, of)
        parts = dict(zip(BLOCKS, np.split(total, [1, 1 + self.dim], axis=-1), strict=True))
        released = np.concatenate([parts[block] for block in self.blocks], axis=-1)
        return released, parts["counts"][..., 0]

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: Array
    ) -> NoisyMoments:
        """As :class:`Statistic` says; a block of weight 0 comes back as zeros, with infinite noise;
        counts under ``feature``, where labels are public, exactly and with none.
        """
        width = {"counts": 1, "sums": self.dim, "squares": symmetric_size(self.dim)}
        out = {block: np.zeros((*total.shape[:2], width[block])) for block in BLOCKS}
        for block in self.blocks:
            out[block] = total[..., self.slice(block)]
        none = np.full(session.runs, np.inf if session.private else 0.0)
        sd = {block: scales.get(block, none) for block in BLOCKS}
        counts, public = out["counts"][..., 0], session.adjacency == "feature"
        if "counts" not in self.blocks and (public or not session.private):
            counts, sd["counts"] = unnoised, np.zeros(session.runs)
        squares = symmetric_from_coordinates(out["squares"], self.dim)
        return NoisyMoments(counts, out["sums"], squares, sd["counts"], sd["sums"], sd["squares"])


def _joint(adjacency: str, a: float, b: float, c: float) -> float:
    """L2 sensitivity of counts, sums and squares of weights a, b, c, as the lemma has it."""
    added = a**2 + b**2 + c**2
    gentle = c > 0.0 and b**2 <= 2.0 * c**2
    stays = 2.0 * (b**2 + c**2) + (b**2 / c) ** 2 / 2.0 if gentle else 4.0 * b**2
    return math.sqrt(by_change(adjacency, add=added, moves=2.0 * added, stays=stays))


def _class_sums(session: Session[Any], frames: ClassFrames) -> Array:
    """``(B, K, 1 + d + q)``: counts, sums and squares of each class in its frame."""
    dim = session.public.dim
    total = np.zeros((session.runs, session.source.components, 1 + dim + symmetric_size(dim)))
    several = len(frames.center) > 1
    for which, rows in rows_by_class(session):
        step = TILE_NUMBERS // max(1, rows.size)
        for runs in pieces(session.runs if several else 1, step):
            if session._for_good:
                framed = frames.apply_evenly(rows, which)[None]
            else:
                with np.errstate(over="ignore", invalid="ignore"):
                    moved = rows - frames.center[runs, which, None]
                    framed = moved @ np.swapaxes(frames.matrix[runs, which], -1, -2)
                if frames.clipped:
                    framed = clip_to_ball(framed, 1.0)
            squares = np.swapaxes(framed, -1, -2) @ framed
            moments = np.concatenate(
                [
                    np.full((len(framed), 1), float(len(rows))),
                    framed.sum(axis=1),
                    symmetric_to_coordinates(squares),
                ],
                axis=-1,
            )
            total[runs if several else slice(None), which] = moments
    return total


def rows_by_class(session: Session[Any]) -> Iterator[tuple[int, Array]]:
    """The number of each class and its rows ``(n_k, d)`` in unit coordinates; of no class: none."""
    for which in range(session.source.components):
        yield which, session._features.units[session.source._codes == which]


def demand_shape(centres: Array, expected: tuple[int, ...]) -> None:
    """Raise ValueError for centres or frames ``(runs, *expected)`` of other classes or columns."""
    if centres.shape[1:] != expected:
        raise ValueError("centres must have the shape (runs, classes, dim)")


def by_change(adjacency: str, *, add: float, moves: float, stays: float) -> float:
    """The largest change: of a row added, of a row that changes its class, of one that does not."""
    one_of("adjacency", adjacency, ADJACENCIES)
    both = max(moves, stays)
    change = {"add_remove": add, "label": moves, "feature": stays, "replace_one": both}
    return change[adjacency]
