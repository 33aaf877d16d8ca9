"""Counts and sums of the rows that are nearest to each of K centres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.checks import positive
from dpcore.wall.kernels.nearest_centres import nearest_sums
from dpcore.wall.statistics.statistic import Part, Sensitivity, Summed, by_adjacency

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyClusters:
    """Counts ``(B, K)`` and sums ``(B, K, d)`` of rows by nearest centre, in unit coordinates.

    ``*_sd (B,)``: standard deviation of the noise in each coordinate.
    """

    counts: Array
    sums: Array
    counts_sd: Array
    sums_sd: Array


@dataclass(frozen=True)
class ClusterMoments(Summed[Array, NoisyClusters]):
    r"""Counts and sums of the rows at each of K centres, released as one vector.

    A row ``y`` with ``|y| <= radius = R`` whose nearest centre is the k-th adds ``(a, b y/R)`` to
    the k-th component and nothing to the others; a, b = count_weight, mean_weight. Centres
    ``(B, K, d)`` are in unit coordinates and public or released; equally near ones: the first has
    the row. One that is not finite attracts nobody; if none is, the first has all rows.

    **Guarantee.** The L2 sensitivity is ``sqrt(a^2 + b^2)`` when a row is added or removed and
    ``max(sqrt(2 (a^2 + b^2)), 2 b)`` when one is replaced: up to ``a = b`` counts cost nothing. The
    L1 sensitivity is ``a + sqrt(d) b`` and twice that. All are attained, the L1 ones also where a
    box ``[-1, 1]^d`` cuts the ball, ``R <= sqrt d``, because its diagonal reaches both. (One
    centre only: a replaced row leaves the count as it is, and the bounds are not met.)

    *Proof.* Put R = 1. One row adds a vector of norm ``(a^2 + b^2 |y|^2)^(1/2)`` and L1 norm
    ``a + b |y|_1``, with ``|y|_1 <= sqrt(d) |y|``: the first and third. Rows of different centres
    change different components: ``2 a^2 + b^2 (|y|^2 + |y'|^2)`` at most ``2 (a^2 + b^2)``. Rows of
    one centre leave its count: ``b |y - y'| <= 2 b``. (Weights of several components on the
    simplex would do no more: the change is convex in them, so largest at a single centre.) QED.

    With ``b = R a`` counts and sums get noise of one size in the rows' own coordinates; in the
    whole box, ``R = sqrt d``, Laplace noise is then that of DPLloyd, of scale ``2 (d + 1)/epsilon``
    (Su, Cao, Li, Bertino, Jin 2016, section 3, where ``d + 1`` stands for an added row).
    """

    components: int
    dim: int
    radius: float
    count_weight: float
    mean_weight: float

    lemma = "joint diameter of counts and sums of nearest rows in a clipped ball"

    def __post_init__(self) -> None:
        for field in ("components", "dim", "radius", "count_weight", "mean_weight"):
            positive(field, getattr(self, field))

    @classmethod
    def normalised(cls, components: int, dim: int, radius: float, weights: Array) -> ClusterMoments:
        """The same with ``weights = (a, b)`` scaled to ``a^2 + b^2 = 1``."""
        a, b = np.asarray(weights, dtype=float) / np.linalg.norm(weights)
        return cls(components, dim, radius, float(a), float(b))

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

    def asked(self, session: Session[Any], of: Array) -> Array:
        centres = np.array(of, dtype=np.float64)  # plain numbers: no object that looks around
        if centres.shape != (session.runs, self.components, self.dim):
            raise ValueError("centres must have the shape (runs, components, dim)")
        return centres

    def bounds(self, session: Session[Any], of: Array) -> tuple[float, float]:
        return self.radius, session.radius

    def total(
        self, session: Session[Any], of: Array, batches: Minibatches | None
    ) -> tuple[Array, None]:
        return session._features.total(partial(nearest_sums, centres=of)), None

    def left(
        self, session: Session[Any], total: Array, scales: dict[str, Array], beside: None
    ) -> NoisyClusters:
        return NoisyClusters(total[..., 0], total[..., 1:], scales["counts"], scales["sums"])
