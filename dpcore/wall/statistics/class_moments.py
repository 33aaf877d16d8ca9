"""Doors for rows with a class: sums by class, how far out the rows of each class lie, and vectors.

All three add up, over the rows of each class, something of a bounded length. What one row may
change differs by adjacency, and each type below proves its four numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpcore.checks import nonnegative, one_of, positive, whole
from dpcore.errors import InputError, WallError
from dpcore.mechanisms.gaussian import (
    symmetric_from_coordinates,
    symmetric_size,
    symmetric_to_coordinates,
)
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.wall.data.clipping import clip_to_ball, demand_squares
from dpcore.wall.data.labels import LabelledSession
from dpcore.wall.kernels.row_blocks import looked_at
from dpcore.wall.kernels.threads import one_thread
from dpcore.wall.session import Noise, NoisyMoments
from dpcore.wall.statistics.statistic import BLOCKS, Part, Sensitivity, Statistic

Array = NDArray[np.float64]
Adjacency: TypeAlias = Literal["replace_one", "add_remove", "label", "feature"]
TILE_NUMBERS = 1 << 19  # numbers of one block of rows and runs
TILE = 4096  # rows of a release that are looked at together


@dataclass(frozen=True)
class LabelledMoments(Statistic):
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

    @classmethod
    def normalised(cls, components: int, dim: int, weights: Array) -> LabelledMoments:
        """The same with ``weights = (a, b, c)`` scaled to ``a^2 + b^2 + c^2 = 1``."""
        a, b, c = np.asarray(weights, dtype=float) / np.linalg.norm(weights)
        return cls(components, dim, float(a), float(b), float(c))

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
            l1 = _by_adjacency(adjacency, add=norm, moves=2.0 * norm, stays=stays)
            blocks[block] = (_joint(adjacency, *alone), l1)
        return Sensitivity(_joint(adjacency, *weights.values()), blocks)


def _joint(adjacency: str, a: float, b: float, c: float) -> float:
    """L2 sensitivity of counts, sums and squares of weights a, b, c, as the lemma has it."""
    one = a**2 + b**2 + c**2
    gentle = c > 0.0 and b**2 <= 2.0 * c**2
    stays = 2.0 * (b**2 + c**2) + (b**2 / c) ** 2 / 2.0 if gentle else 4.0 * b**2
    return math.sqrt(_by_adjacency(adjacency, add=one, moves=2.0 * one, stays=stays))


@dataclass(frozen=True)
class LabelledRadii(Statistic):
    """How many rows of each class lie how far from its centre: a histogram of distances.

    edges ``(J,)``: public, falling. Bin 0 holds distances above the first edge, bin j those above
    edge j, up to edge ``j - 1``; the last what is within all edges.

    **Guarantee.** A row is in one bin of one class: L2 sensitivity 1 where it is added or removed,
    ``sqrt 2`` in every other case (two bins change by one each; where nothing else than the label
    or the features change they still may both change). L1: 1 and 2. All attained.
    """

    components: int
    edges: tuple[float, ...]

    lemma = "a row is in one bin of one class"

    @cached_property
    def parts(self) -> dict[str, Part]:
        """One block: the bins."""
        return {"counts": Part(len(self.edges) + 1, 1.0)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma's."""
        two = math.sqrt(2.0)
        l2 = _by_adjacency(adjacency, add=1.0, moves=two, stays=two)
        l1 = _by_adjacency(adjacency, add=1.0, moves=2.0, stays=2.0)
        return Sensitivity(l2, {"counts": (l2, l1)})


@dataclass(frozen=True)
class LabelledVectors(Statistic):
    """Vectors of public features, added up by their rows' private labels.

    The row of class k adds ``g_k`` with ``|g_k| <= bound``, worked out from public features and
    released values: shaped noise is this in coordinates where it is round.

    **Guarantee.** Where a label is exchanged, the L2 sensitivity is ``sqrt 2 bound``: two classes
    change, by a vector each. L1: ``2 sqrt(dim) bound``. Both are attained. One row's own vector is
    no longer than the bound (L1: ``sqrt(dim)`` times it), which stands under ``add_remove``; but
    the door lets it leave under ``label`` alone, because features have to be public.
    """

    components: int
    dim: int
    bound: float = 1.0

    lemma = "two classes change by a vector of bounded length each; features are public"

    def __post_init__(self) -> None:
        whole("components", self.components)
        whole("dim", self.dim)
        positive("bound", self.bound)

    @cached_property
    def parts(self) -> dict[str, Part]:
        """One block: the vector."""
        return {"sums": Part(self.dim, self.bound)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """In units of the bound."""
        length = math.sqrt(self.dim)
        l2 = _by_labels(adjacency, add=1.0, moves=math.sqrt(2.0))
        return Sensitivity(
            l2, {"sums": (l2, _by_labels(adjacency, add=length, moves=2.0 * length))}
        )


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
        """The same for a release's one run: the same bits for a row wherever it stands."""
        with one_thread():
            blocks = [
                looked_at(rows[at : at + TILE], TILE, lambda block: (self.apply(block, 0, which),))
                for at in range(0, len(rows), TILE)
            ]
        return np.concatenate([np.empty((0, rows.shape[1])), *(seen for (seen,) in blocks)])


def measure_labelled(
    session: LabelledSession,
    what: str,
    contribution: LabelledMoments,
    frames: ClassFrames,
    noises: tuple[Noise, ...],
) -> NoisyMoments:
    """Release the classes' moments, each in its own frame, with noise, and write the ledger.

    A block of weight 0 comes back as zeros, with infinite noise; counts under ``feature``, where
    labels are public, exactly and with none.

    **Guarantee.** The noises' blocks leave with noise = noise multiplier x their joint sensitivity
    under the session's adjacency (times rows per person). Raises WallError where frames do not clip
    private rows or a block has no noise or two; InputError for noise that is not above 0.
    """
    if session.private and not frames.clipped:
        raise WallError("frames of private rows must clip")
    _check_shape(frames.center, (session.components, session.public.dim))
    if (contribution.components, contribution.dim) != (session.components, session.public.dim):
        raise ValueError("the contribution has another shape than the rows")
    session._check(contribution, 1.0, 1.0, noises)
    total = _class_sums(session, frames)
    parts = dict(zip(BLOCKS, np.split(total, [1, 1 + contribution.dim], axis=-1), strict=True))
    released = np.concatenate([parts[block] for block in contribution.blocks], axis=-1)
    sd = session._release(what, released, contribution, noises)
    out = {block: np.zeros_like(part) for block, part in parts.items()}
    for block in contribution.blocks:
        out[block] = released[..., contribution.slice(block)]
    for block in BLOCKS:
        sd.setdefault(block, np.full(session.runs, np.inf if session.private else 0.0))
    if "counts" not in contribution.blocks and (
        session.adjacency == "feature" or not session.private
    ):
        out["counts"], sd["counts"] = parts["counts"], np.zeros(session.runs)
    squares = symmetric_from_coordinates(out["squares"], contribution.dim)
    return NoisyMoments(
        out["counts"][..., 0], out["sums"], squares, sd["counts"], sd["sums"], sd["squares"]
    )


def measure_radii(
    session: LabelledSession, what: str, contribution: LabelledRadii, centres: Array, noise: Noise
) -> tuple[Array, Array]:
    """Release the histograms ``(B, K, J + 1)`` of distances to centres ``(F, K, d)``, in unit
    coordinates; and the noise's deviation ``(B,)``. Guarantee as :func:`measure_labelled`."""
    _check_shape(centres, (session.components, session.public.dim))
    session._check(contribution, 1.0, 1.0, (noise,))
    edges = np.asarray(contribution.edges)
    total = np.zeros((session.runs, session.components, contribution.size))
    for which, rows in _by_class(session):
        for run in range(len(centres)):
            with np.errstate(over="ignore", invalid="ignore"):
                away = np.linalg.norm(rows - centres[run, which], axis=1)
            # undefined distances are in bin 0
            place = np.count_nonzero(away[:, None] <= edges, axis=1)
            counts = np.bincount(place, minlength=contribution.size)
            total[slice(None) if len(centres) == 1 else run, which] = counts
    sd = session._release(what, total, contribution, (noise,))
    return total, sd["counts"]


def measure_by_label(
    session: LabelledSession,
    what: str,
    contribution: LabelledVectors,
    vectors: Callable[[int, int], Array],
    noise: Noise,
    *,
    alike: bool = False,
) -> tuple[Array, Array]:
    """Release, by private labels, the sums ``(B, K, p)`` of vectors of public features.

    vectors: given a run and a class, ``(n, p)`` for all rows; whatever it returns is put into the
    ball of the bound. alike: it is the same for all runs and classes. Returns also the noise's
    deviation ``(B,)`` in each coordinate.

    **Guarantee** as :func:`measure_labelled`, under ``label`` alone: WallError otherwise.
    """
    if session.private and session.adjacency != "label":
        raise WallError("vectors of features leave by labels only where features are public")
    if contribution.components != session.components:
        raise ValueError("the contribution has another number of classes than the labels")
    codes, bound = session._codes, contribution.bound
    session._check(contribution, bound, bound, (noise,))
    total = np.zeros((session.runs, session.components, contribution.size))
    known: Array | None = None
    for run in range(session.runs):
        if alike and run:
            total[run] = total[0]
            continue
        for which in range(session.components):
            if known is None or not alike:
                known = np.array(vectors(run, which), dtype=np.float64)
                if known.shape != (len(codes), contribution.size):
                    raise ValueError("vectors must have the shape (rows, size)")
                known = clip_to_ball(known, bound)
            total[run, which] = known[codes == which].sum(axis=0)
    sd = session._release(what, total, contribution, (noise,))
    return total, sd["sums"]


def _class_sums(session: LabelledSession, frames: ClassFrames) -> Array:
    """``(B, K, 1 + d + q)``: counts, sums and squares of each class in its frame."""
    dim = session.public.dim
    total = np.zeros((session.runs, session.components, 1 + dim + symmetric_size(dim)))
    several = len(frames.center) > 1
    for which, rows in _by_class(session):
        for runs in _tiles(session.runs if several else 1, rows.size):
            if session._for_good:
                seen = frames.apply_evenly(rows, which)[None]
            else:
                with np.errstate(over="ignore", invalid="ignore"):
                    moved = rows - frames.center[runs, which, None]
                    seen = moved @ np.swapaxes(frames.matrix[runs, which], -1, -2)
                if frames.clipped:
                    seen = clip_to_ball(seen, 1.0)
            squares = np.swapaxes(seen, -1, -2) @ seen
            found = np.concatenate(
                [
                    np.full((len(seen), 1), float(len(rows))),
                    seen.sum(axis=1),
                    symmetric_to_coordinates(squares),
                ],
                axis=-1,
            )
            total[runs if several else slice(None), which] = found
    return total


def _by_class(session: LabelledSession) -> Iterator[tuple[int, Array]]:
    for which in range(session.components):
        yield which, session._rows.units[session._codes == which]


def _tiles(runs: int, numbers: int) -> Iterator[slice]:
    step = max(1, TILE_NUMBERS // max(1, numbers))
    for first in range(0, runs, step):
        yield slice(first, min(runs, first + step))


def _check_shape(centres: Array, expected: tuple[int, ...]) -> None:
    if centres.shape[1:] != expected:
        raise ValueError("centres must have the shape (runs, classes, dim)")


def _by_adjacency(adjacency: str, *, add: float, moves: float, stays: float) -> float:
    """The largest change: of a row added, of a row that changes its class, of one that does not."""
    one_of("adjacency", adjacency, ADJACENCIES)
    both = max(moves, stays)
    found = {"add_remove": add, "label": moves, "feature": stays, "replace_one": both}
    return found[adjacency]


def _by_labels(adjacency: str, *, add: float, moves: float) -> float:
    """The same where features are public."""
    if adjacency not in ("label", "add_remove"):
        raise InputError(
            "adjacency",
            f"{adjacency} protects features, which this release takes as public",
            "choose label, or another method",
        )
    return add if adjacency == "add_remove" else moves
