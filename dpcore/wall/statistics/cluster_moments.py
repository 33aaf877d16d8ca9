"""Counts and sums of the rows of each of K components: nearest to a centre, or by weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import positive
from dpcore.wall.data.clipping import HUGE, TINY
from dpcore.wall.kernels.balls import sums_in_balls
from dpcore.wall.statistics.mixture_moments import InFrame, shared_sum
from dpcore.wall.statistics.statistic import Of, Part, Sensitivity, Summed, by_adjacency

if TYPE_CHECKING:
    from dpcore.wall.kernels.threads import Memory
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches


@dataclass(frozen=True)
class NoisyClusters:
    """Counts ``(B, K)`` and sums ``(B, K, d)`` of each component's rows, in unit coordinates.

    ``*_sd (B,)``: standard deviation of the noise in each coordinate.
    """

    counts: Array
    sums: Array
    counts_sd: Array
    sums_sd: Array


@dataclass(frozen=True)
class CountsAndSums(Summed[Of, NoisyClusters]):
    r"""Counts and sums of the rows of each of K components, released as one vector.

    A row ``y`` with ``|y| <= radius = R`` and weights ``w`` in ``{w >= 0, sum w <= 1}`` adds
    ``w (x) (a, b y/R)``; a, b = count_weight, mean_weight.

    **Guarantee.** The L2 sensitivity is ``sqrt(a^2 + b^2)`` when a row is added or removed and
    ``max(sqrt(2 (a^2 + b^2)), 2 b)`` when one is replaced: up to ``a = b`` counts cost nothing. The
    L1 sensitivity is ``a + sqrt(d) b`` and twice that. All are attained, the L1 ones also where a
    box ``[-1, 1]^d`` cuts the ball, ``R <= sqrt d``, because its diagonal reaches both. (One
    component only: a replaced row leaves the count as it is, and the bounds are not met.)

    *Proof.* Put R = 1. One row adds a vector of norm ``|w| (a^2 + b^2 |y|^2)^(1/2)`` and L1 norm
    ``(a + b |y|_1) sum w``, with ``|w| <= 1`` and ``|y|_1 <= sqrt(d) |y|``: the first and third.
    For a replaced row, the vector is linear in w, so the distance of two is convex in ``(w, w')``
    and largest where both are 0 or a unit vector. Different ones share no coordinate:
    ``2 a^2 + b^2 (|y|^2 + |y'|^2)`` is at most ``2 (a^2 + b^2)``. Equal ones leave their count:
    ``b |y - y'| <= 2 b``. QED.

    With ``b = R a`` counts and sums get noise of one size in the rows' own coordinates; in the
    whole box, ``R = sqrt d``, Laplace noise is then that of DPLloyd, of scale ``2 (d + 1)/epsilon``
    (Su, Cao, Li, Bertino, Jin 2016, section 3, where ``d + 1`` stands for an added row).
    """

    components: int
    dim: int
    radius: float
    count_weight: float
    mean_weight: float

    def __post_init__(self) -> None:
        for name in ("components", "dim", "radius", "count_weight", "mean_weight"):
            positive(name, getattr(self, name))

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Counts and sums."""
        return {
            "counts": Part(1, 1.0 / self.count_weight),
            "sums": Part(self.dim, self.radius / self.mean_weight),
        }

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma's, of both together and of each alone."""
        a, b = self.count_weight, self.mean_weight
        size, root, length = math.hypot(a, b), math.sqrt(2.0), math.sqrt(self.dim) * b
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(
                max(root * size, 2.0 * b),
                {"counts": (root * a, 2.0 * a), "sums": (2.0 * b, 2.0 * length)},
            ),
            add_remove=Sensitivity(size, {"counts": (a, a), "sums": (b, length)}),
        )

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> NoisyClusters:
        return NoisyClusters(total[..., 0], total[..., 1:], scales["counts"], scales["sums"])


@dataclass(frozen=True)
class ClusterMoments(CountsAndSums[Array]):
    """Counts and sums of the rows nearest to each of K centres, all of a row's weight at one.

    Centres ``(B, K, d)`` are in unit coordinates and public or released; equally near ones: the
    first has the row. One that is not finite attracts nobody; if none is, the first has all rows.
    """

    lemma = "joint diameter of counts and sums of rows by nearest centre in a clipped ball"
    adds_up = True

    def checked(self, session: Session[Any], of: Array) -> Array:
        centres = np.array(of, dtype=np.float64)  # plain numbers: no object that looks around
        if centres.shape != (session.runs, self.components, self.dim):
            raise ValueError("centres must have the shape (runs, components, dim)")
        return centres

    def bounds(self, session: Session[Any], of: Array) -> tuple[float, float]:
        return self.radius, session.radius

    def total(
        self, session: Session[Any], of: Array, batches: Minibatches | None
    ) -> tuple[Array, None]:
        from dpcore.wall.kernels.nearest_centres import nearest_sums

        return session._features.total(partial(nearest_sums, centres=of)), None


@dataclass(frozen=True)
class InBalls:
    """Centres ``(B, K, d)`` that are asked for, and the ball of each run that rows are clipped to:
    its middle ``(B, d)`` and radius ``(B,)``, all public or released, in unit coordinates."""

    centres: Array
    middle: Array
    radius: Array


@dataclass(frozen=True)
class BallClusters(CountsAndSums[InBalls]):
    """:class:`ClusterMoments` of rows that each run sees in a ball of its own.

    Of a row u, ``y = u - middle`` is drawn in to ``|y| <= r`` and counted at the centre nearest to
    ``middle + y``. What is summed is ``y / r``: the lemma's R is 1, whatever the r of a run.
    """

    radius: float = field(default=1.0, init=False)

    lemma = ClusterMoments.lemma
    adds_up = True

    def checked(self, session: Session[Any], of: InBalls) -> InBalls:
        centres, middle, radius = (
            np.array(part, dtype=np.float64) for part in (of.centres, of.middle, of.radius)
        )
        runs, dim = session.runs, self.dim
        if centres.shape != (runs, self.components, dim):
            raise ValueError("centres must have the shape (runs, components, dim)")
        if middle.shape != (runs, dim) or radius.shape != (runs,):
            raise ValueError("middles and radii must have the shapes (runs, dim) and (runs,)")
        if not (np.all(np.abs(middle) <= HUGE) and np.all((radius >= TINY) & (radius <= HUGE))):
            raise ValueError("a ball must have a finite middle and a finite radius above 0")
        return InBalls(centres, middle, radius)

    def total(
        self, session: Session[Any], of: InBalls, batches: Minibatches | None
    ) -> tuple[Array, None]:
        sum_of = partial(sums_in_balls, centres=of.centres, middle=of.middle, radius=of.radius)
        return session._features.total(sum_of), None


@dataclass(frozen=True)
class MixtureSums(CountsAndSums[InFrame]):
    """Counts and sums of K components that share each row by weights on the simplex.

    ``of`` is a frame for all runs, or one for each, and an E step, whose features of a row are
    ``1, y``.
    """

    lemma = "joint diameter of counts and sums on simplex weights and a clipped ball"
    adds_up = True
    structure: ClassVar[Literal["none"]] = "none"

    def features(self, rows: Array, memory: Memory | None = None) -> Array:
        """Features ``(F, 1 + d, n)`` of clipped rows ``(F, d, n)``: 1 and y, without weights.

        Raises ValueError for rows of another dimension.
        """
        if rows.shape[1] != self.dim:  # one coordinate would be copied into all
            raise ValueError(f"rows have {rows.shape[1]} coordinates, not {self.dim}")
        return np.concatenate([np.ones((rows.shape[0], 1, rows.shape[2])), rows], axis=1)

    def checked(self, session: Session[Any], of: InFrame) -> InFrame:
        if of.e_step is None or of.frame.runs not in (1, session.runs):
            raise ValueError("weighted sums need an E step and one frame, or one for each run")
        return of

    def bounds(self, session: Session[Any], of: InFrame) -> tuple[float, float]:
        return self.radius, of.frame.radius

    def total(
        self, session: Session[Any], of: InFrame, batches: Minibatches | None
    ) -> tuple[Array, None]:
        return shared_sum(session, of, self), None
