"""What a yes-or-no regression asks of the rows: ``sum (y - 1/2) x`` and ``sum k x x^T``.

Polya-Gamma augmentation (Polson, Scott, Windle 2013) makes logistic regression linear in these two
sums: k is four times the mean of a row's auxiliary variable, between 0 and 1. With k = 1 for all
rows they depend on no parameter, so one release serves every later step. Park, Foulds, Chaudhuri,
Welling 2020 (VIPS, section 5) release both with sensitivities ``2/N`` and ``1/(2N)``; the lemma
here has the true ones, jointly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.checks import positive, whole
from dpcore.errors import InputError, RowError, WallError
from dpcore.mechanisms.gaussian import (
    symmetric_from_coordinates,
    symmetric_size,
    symmetric_to_coordinates,
)
from dpcore.wall.data.clipping import TINY, demand_squares
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.data.design_matrix import INTERCEPT
from dpcore.wall.kernels.row_blocks import filled_up, looked_at, pieces
from dpcore.wall.kernels.threads import Memory, in_order, one_thread
from dpcore.wall.statistics.statistic import Part, Sensitivity, Summed, by_adjacency

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches

Curvature = Callable[[Array, Indices], Array]

TILE = 512  # rows that are weighted at once
FRAMED_NUMBERS = 1 << 18  # of the rows that are put in frames at once
WEIGHED_NUMBERS = 1 << 17  # of those that are weighed at once


@dataclass(frozen=True)
class NoisyOutcomes:
    """What left: ``sums (B, p)`` of ``(y - 1/2) x`` and ``squares (B, p, p)`` of ``k x x^T``.

    ``*_sd (B,)``: standard deviation of the noise in each norm-keeping coordinate; sums are empty
    where only squares were asked for.
    """

    sums: Array
    squares: Array
    sums_sd: Array
    squares_sd: Array


@dataclass(frozen=True)
class OutcomeMoments(Summed[Curvature | Frame | None, NoisyOutcomes]):
    r"""``a (y - 1/2) x / R`` and ``b k x x^T / R^2`` of a row, released as one vector.

    ``|x| <= radius = R``, y in {0, 1}, curvature k in ``[least, 1]``: what a model says of k is put
    there by the wall; ``least = 1`` asks no model. a, b = sum_weight, square_weight: the public
    split of the budget. The intercept is a coordinate of x like any other. A model gives k
    ``(b, m)`` for rows ``x (m, p)`` and runs ``(b,)``; what is undefined becomes 1, and so is k of
    every row where no model is asked. Instead of a model a frame for each run may be asked for,
    made of public and released numbers: it puts v inside ``|z| <= r``, and x is ``(z, 1)``.

    **Guarantee.** With ``g(k, k') = max over t in [0, 1] of
    a^2 (1 + t)/2 + b^2 (k^2 + k'^2 - 2 k k' t^2)`` the L2 sensitivity where a row is replaced is
    the root of ``max(g(1, 1), g(least, 1), g(least, least))``, and ``sqrt(a^2/4 + b^2)`` where one
    is added or removed. Both are attained if x has two free coordinates. Where a row's label alone
    is replaced it is a.

    *Proof.* Put R = 1, ``s = y - 1/2``, ``r = |x|``, ``t = |x.x'|``. (1) One row has norm
    ``(a^2 r^2/4 + b^2 k^2 r^4)^(1/2)``: the second claim. (2) For two,
    ``|s x - s' x'|^2 = (r^2 + r'^2)/4 - 2 s s' x.x' <= (r^2 + r'^2)/4 + t/2`` since ``s s'`` is
    1/4 or -1/4, and ``|k x x^T - k' x' x'^T|_F^2 = k^2 r^4 + k'^2 r'^4 - 2 k k' t^2``. (3) The
    second is a quadratic form in ``(k, k')`` with the matrix ``[[r^4, -t^2], [-t^2, r'^4]]``, which
    has no negative eigenvalue because ``t <= r r'``; so it is convex, and largest where both are
    ends of their interval. (4) At fixed t and ends both parts grow with r and r', and ``t <= 1``
    stays possible at ``r = r' = 1``: that leaves g over ``t in [0, 1]``, at the ends. (5) g is
    concave in t, with its top at ``t = a^2 / (8 b^2 k k')`` or at 1. Unit vectors at that angle
    with different outcomes attain it. (6) Another label moves ``(y - 1/2) x`` by x, and k, which a
    model makes of released numbers and of x, not at all. QED.

    With one number for k, up to ``b^2 = a^2/8`` the squares cost nothing: the sensitivity stays a.
    """

    dim: int
    radius: float
    sum_weight: float
    square_weight: float
    least: float = 1.0

    lemma = "joint diameter of outcome sums and curvature-weighted squares in a clipped ball"
    components = 1

    def __post_init__(self) -> None:
        whole("dim", self.dim)
        for field in ("radius", "sum_weight", "square_weight"):
            positive(field, getattr(self, field))
        demand_squares("weights", np.array([self.sum_weight, self.square_weight]))
        if not 0.0 <= self.least <= 1.0:
            raise InputError("least", "it is not between 0 and 1", "give a lower limit")

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Sums and squares."""
        return self._both

    @property
    def _both(self) -> dict[str, Part]:
        return {
            "sums": Part(self.dim, self.radius / self.sum_weight),
            "squares": Part(
                symmetric_size(self.dim), self.radius**2 / self.square_weight, self.dim
            ),
        }

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma; of a block alone that with the other weight 0.

        L1, an upper bound: ``|x|_1 <= sqrt d``; for squares see
        :meth:`dpcore.wall.statistics.mixture_moments.MixtureMoments.sensitivity`.
        """
        a, b, low = self.sum_weight, self.square_weight, self.least
        apart = math.sqrt(2.0) if self.dim > 1 else 1.0  # orthogonal rows
        length = 0.5 * math.sqrt(self.dim) * a
        form = (1.0 + (self.dim - 1) / math.sqrt(2.0)) * b
        if adjacency == "label":
            return Sensitivity(a, {"sums": (a, 2.0 * length), "squares": (0.0, 0.0)})
        pairs = ((1.0, 1.0), (low, 1.0), (low, low))
        replaced = math.sqrt(max(_largest(a * a, b * b, k, other) for k, other in pairs))
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(
                replaced, {"sums": (a, 2.0 * length), "squares": (apart * b, 2.0 * form)}
            ),
            add_remove=Sensitivity(
                math.hypot(a / 2.0, b), {"sums": (a / 2.0, length), "squares": (b, form)}
            ),
        )

    def checked(self, session: Session[Any], of: Curvature | Frame | None) -> Any:
        if self.dim != session.source.design.size:
            raise ValueError("the contribution and the rows differ in dimension")
        if isinstance(of, Frame) and of.center.shape != (session.runs, self.dim - 1):
            raise ValueError("frames must have centers of the shape (runs, dim - 1)")
        return of

    def bounds(self, session: Session[Any], of: Curvature | Frame | None) -> tuple[float, float]:
        source = session.source
        if isinstance(of, Frame):
            return self.radius, source.design.around(of.radius)
        return self.radius, source.reach if session.private else source.bound

    def total(
        self, session: Session[Any], of: Curvature | Frame | None, batches: Minibatches | None
    ) -> tuple[Array, Array]:
        """Of the blocks; and the exact squares, which a statistic without them lets leave beside
        its sums. That is refused unless features are public.
        """
        covered = "squares" in self.blocks
        if not covered:
            session._demand_public_features("features are protected")
        total = np.zeros((session.runs, 1, self.size))
        squares = np.zeros((session.runs, self.dim, self.dim))

        def add(runs: Any, sums: Array, weighted: Array) -> None:
            squares[runs] += weighted
            if "sums" in self.blocks:
                total[runs, 0, self.slice("sums")] += sums

        curvature = session._of_rows(of) if callable(of) else None
        for rows, outcomes, runs in sampled_rows(session, batches):
            if isinstance(of, Frame):
                framed_sums(rows, outcomes - 0.5, of, runs, add)
            else:
                add(
                    runs,
                    (outcomes - 0.5) @ rows,
                    _weighted_squares(rows, curvature, self.least, runs),
                )
        if covered:
            total[:, 0, self.slice("squares")] = symmetric_to_coordinates(squares)
        return total, squares

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: Array
    ) -> NoisyOutcomes:
        squares, none = unnoised, np.zeros(session.runs)
        if "squares" in self.blocks:
            noisy = total[:, 0, self.slice("squares")]
            squares = symmetric_from_coordinates(noisy, self.dim)
        sums = np.zeros((session.runs, 0))
        if "sums" in self.blocks:
            sums = total[:, 0, self.slice("sums")]
        return NoisyOutcomes(sums, squares, scales.get("sums", none), scales.get("squares", none))


@dataclass(frozen=True)
class OutcomeSums(OutcomeMoments):
    """``(y - 1/2) x / R`` alone, where features are public and squares need no noise.

    **Guarantee.** L2 sensitivity 1 where a label or a row is replaced, 1/2 where a row is added or
    removed. *Proof.* Steps (1), (2) and (6) of :class:`OutcomeMoments` with ``b = 0``. QED.
    """

    sum_weight: float = 1.0
    square_weight: float = 1.0

    lemma = "diameter of outcome sums in a clipped ball"

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Sums alone."""
        return {"sums": self._both["sums"]}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """That of the one block."""
        blocks = super().sensitivity(adjacency).blocks
        return Sensitivity(blocks["sums"][0], blocks)


@dataclass(frozen=True)
class CurvatureMoments(OutcomeMoments):
    """``k x x^T / R^2`` alone, where ``sum (y - 1/2) x`` has left already: it never changes.

    **Guarantee.** L2 sensitivity ``sqrt 2`` where a row is replaced (1 in one dimension), 1 where
    one is added or removed; both attained by k = 1. *Proof.* Steps (1) to (4) of
    :class:`OutcomeMoments` without the sums leave ``k^2 + k'^2 - 2 k k' t^2 <= 2``. QED.
    """

    sum_weight: float = 1.0
    square_weight: float = 1.0

    lemma = "diameter of the curvature-weighted square of a row in a clipped ball"

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Squares alone."""
        return {"squares": self._both["squares"]}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """That of the one block. Raises WallError where labels alone are protected."""
        if adjacency == "label":
            raise WallError("squares do not depend on labels, so there is nothing to protect")
        blocks = super().sensitivity(adjacency).blocks
        return Sensitivity(blocks["squares"][0], blocks)


@dataclass(frozen=True)
class Weighing:
    """What is asked of rows for :class:`WeightedRows`: a frame and coefficients ``(B, p)`` for each
    run, and how a row's score in it becomes a weight.

    weigh: given scores ``(m,)`` and a run, the weights ``(m,)``. All of it is made of public and
    released numbers.
    """

    frame: Frame
    coefficients: Array
    weigh: Callable[[Array, int], Array]


@dataclass(frozen=True)
class WeightedRows(Summed[Weighing, NoisyOutcomes]):
    r"""``w x / R`` of a row: ``|x| <= radius = R``, and a weight w in [-1, 1] that a model makes of
    the row's score ``b.x``.

    The wall puts w there; what is undefined becomes 0. Rows are seen in a frame as in
    :class:`OutcomeMoments`. Outcomes are not read, so no label moves it.

    **Guarantee.** The L2 sensitivity is 2 where a row is replaced, and 1 where one is added or
    removed.

    *Proof.* ``w x / R`` lies in the unit ball: two differ by at most its diameter 2, and one from
    nothing by at most 1. A row at the edge of the ball with weight 1 attains the second. The first
    is approached by two such rows on both sides of a score at which the weight jumps from -1 to 1.
    QED.
    """

    dim: int
    radius: float

    lemma = "diameter of the rows of a clipped ball, each with a weight between -1 and 1"
    components = 1

    def __post_init__(self) -> None:
        whole("dim", self.dim)
        demand_squares("radius", positive("radius", self.radius))

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The sums."""
        return {"sums": Part(self.dim, self.radius)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma; ``sqrt p`` times as much in L1. Raises WallError where labels alone are
        protected."""
        if adjacency == "label":
            raise WallError("scores do not depend on labels, so there is nothing to protect")
        length = math.sqrt(self.dim)
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(2.0, {"sums": (2.0, 2.0 * length)}),
            add_remove=Sensitivity(1.0, {"sums": (1.0, length)}),
        )

    def checked(self, session: Session[Any], of: Weighing) -> Weighing:
        if of.frame.center.shape != (session.runs, self.dim - 1):
            raise ValueError("frames must have centers of the shape (runs, dim - 1)")
        if of.frame.matrix.shape != (session.runs, 1, 1):
            raise ValueError("frames must be balls")
        if of.coefficients.shape != (session.runs, self.dim):
            raise ValueError("coefficients must have the shape (runs, dim)")
        return of

    def bounds(self, session: Session[Any], of: Weighing) -> tuple[float, float]:
        return self.radius, session.source.design.around(of.frame.radius)

    def total(
        self, session: Session[Any], of: Weighing, batches: Minibatches | None
    ) -> tuple[Array, None]:
        """A sum over blocks of rows; in a release these are of one size.

        Raises RowError where a model gives weights of another shape, WallError for samples.
        """
        if batches is not None:
            raise WallError("these rows cannot be subsampled")
        rows, total = session.source._designed, np.zeros((session.runs, 1, self.size))
        weigh = session._of_rows(of.weigh)
        memory, height = Memory(), max(1, WEIGHED_NUMBERS // self.dim)
        parts = [(run, some) for some in pieces(len(rows), height) for run in range(session.runs)]

        def part(index: int) -> Array:
            run, some = parts[index]
            block, count = rows[some], some.stop - some.start
            block = filled_up(block, height) if session._for_good else block
            moved = memory("moved", len(block), self.dim - 1)
            slopes, constant = of.coefficients[run, :-1], of.coefficients[run, -1]
            drawn = _drawn(block[:, :-1], of.frame, run, moved)
            scores = drawn * (moved @ slopes) + INTERCEPT * constant
            weights = np.asarray(weigh(scores, run), dtype=np.float64)
            if weights.shape != scores.shape:
                raise RowError("the model returned weights whose shape is not (rows,)")
            weights = np.clip(np.where(np.isnan(weights), 0.0, weights), -1.0, 1.0)
            weights[count:] = 0.0
            return np.append((drawn * weights) @ moved, INTERCEPT * weights.sum())

        def add(index: int, sums: Array) -> None:
            total[parts[index][0], 0] += sums

        in_order(part, add, len(parts))
        return total, None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> NoisyOutcomes:
        squares = np.zeros((session.runs, 0, 0))
        return NoisyOutcomes(total[:, 0], squares, scales["sums"], np.zeros(session.runs))


def _drawn(rows: Array, frame: Frame, run: int, moved: Array) -> Array:
    """Rows ``(m, d)`` less the middle of a run's ball, put into ``moved``, and what each of these
    is multiplied by ``(m,)`` to lie in the ball. One at a distance that is no number becomes the
    middle."""
    np.subtract(rows, frame.center[run], out=moved)
    norms = np.sqrt(np.einsum("md,md->m", moved, moved))
    if not np.isfinite(norms.max(initial=0.0)):
        wild = ~np.isfinite(norms)
        moved[wild], norms[wild] = 0.0, 0.0
    drawn = np.minimum(frame.matrix[run, 0], frame.radius / np.maximum(norms, TINY))
    return np.asarray(np.where(drawn >= 0.0, drawn, 0.0))


def _largest(a2: float, b2: float, k: float, other: float) -> float:
    """``max over t in [0, 1] of a2 (1 + t)/2 + b2 (k^2 + other^2 - 2 k other t^2)``."""
    steep = 8.0 * b2 * k * other
    top = 1.0 if a2 >= steep else a2 / steep
    return a2 * (1.0 + top) / 2.0 + b2 * (k * k + other * other - 2.0 * k * other * top * top)


def sampled_rows(
    session: Session[Any], batches: Minibatches | None
) -> Iterator[tuple[Array, Array, Indices]]:
    """Rows, outcomes, and the runs that see them: all, or one sample for each draw."""
    rows, outcomes = session.source._designed, session.source._outcomes
    for positions, runs in session._samples(batches):
        if positions is None:
            yield rows, outcomes, runs
        else:
            yield rows[positions], outcomes[positions], runs


def framed_sums(
    rows: Array,
    weights: Array,
    frame: Frame,
    runs: Indices,
    add: Callable[[int, Array, Array], None],
) -> None:
    """``add(run, sum of weights x, sum of x x^T)`` for rows ``x = (z, 1)`` as each run sees them in
    its frame: for some of the rows at a time, always in the same order."""
    memory, some = Memory(), pieces(len(rows), FRAMED_NUMBERS // rows.shape[1])
    parts = [(run, members) for members in some for run in runs]

    def part(index: int) -> tuple[Array, Array]:
        run, members = parts[index]
        framed = memory("with intercept", rows.shape[1], members.stop - members.start)
        framed[:-1] = frame.apply(rows[members, :-1], slice(run, run + 1), memory)[0]
        framed[-1] = INTERCEPT
        return framed @ weights[members], framed @ framed.T

    in_order(part, lambda index, sums: add(parts[index][0], *sums), len(parts))


def put_inside(curvature: Array, least: float) -> Array:
    """Curvatures put into ``[least, 1]``; what is undefined becomes 1.

    >>> put_inside(np.array([-3.0, 0.7, np.nan, np.inf]), 0.5)
    array([0.5, 0.7, 1. , 1. ])
    """
    numbers = np.asarray(curvature, dtype=np.float64)
    return np.asarray(np.clip(np.where(np.isnan(numbers), 1.0, numbers), least, 1.0))


def _weighted_squares(
    rows: Array, curvature: Curvature | None, least: float, runs: Indices
) -> Array:
    """``sum k x x^T (runs, p, p)``."""
    if curvature is None or least == 1.0:
        return np.repeat((rows.T @ rows)[None], len(runs), axis=0)
    total = np.zeros((len(runs), rows.shape[1], rows.shape[1]))

    def look(block: Array) -> tuple[Array, ...]:
        values = np.asarray(curvature(block, runs), dtype=np.float64)
        if values.shape != (len(runs), len(block)):
            raise RowError("the model returned curvatures whose shape is not (runs, rows)")
        return (values.T,)

    for first in range(0, len(rows), TILE):
        part = rows[first : first + TILE]
        with one_thread():
            (curvatures,) = looked_at(part, TILE, look)
        for weights, into in zip(put_inside(curvatures, least).T, total, strict=True):
            into += (part * weights[:, None]).T @ part
    return total
