"""Counts and sums of the rows that are nearest to each of K centres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcore.checks import positive
from dpcore.wall.statistics.statistic import (
    ROUNDING,
    Block,
    _per_adjacency,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClusterMoments:
    r"""Counts and sums of the rows at each of K centres, released as one vector.

    A row ``y`` with ``|y| <= radius = R`` whose nearest centre is the k-th adds ``(a, b y/R)`` to
    the k-th component and nothing to the others; a, b = count_weight, mean_weight.

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
    blocks: ClassVar[tuple[Block, ...]] = ("counts", "sums")

    def __post_init__(self) -> None:
        for field in ("components", "dim", "radius", "count_weight", "mean_weight"):
            positive(field, getattr(self, field))

    @classmethod
    def normalised(cls, components: int, dim: int, radius: float, weights: Array) -> ClusterMoments:
        """The same with ``weights = (a, b)`` scaled to ``a^2 + b^2 = 1``."""
        a, b = np.asarray(weights, dtype=float) / np.linalg.norm(weights)
        return cls(components, dim, radius, float(a), float(b))

    @property
    def size(self) -> int:
        """Number of features p of a row."""
        return 1 + self.dim

    def span(self, block: Block) -> slice:
        """Which features make up a block."""
        return {"counts": slice(0, 1), "sums": slice(1, self.size)}[block]

    def unit(self, block: Block) -> float:
        """What one unit of the weighted block is worth in the block's own coordinates."""
        return {"counts": 1.0 / self.count_weight, "sums": self.radius / self.mean_weight}[block]

    def beside(self, block: Block) -> slice:
        """No feature is an entry beside a diagonal."""
        return slice(0, 0)

    def diameter(self, adjacency: str) -> float:
        """L2 sensitivity of counts and sums together, a hair above the lemma's value."""
        size = math.hypot(self.count_weight, self.mean_weight)
        replace = max(math.sqrt(2.0) * size, 2.0 * self.mean_weight)
        return _per_adjacency(adjacency, replace=replace, add=size) * ROUNDING

    def block_diameter(self, block: Block, adjacency: str) -> float:
        """L2 sensitivity of one weighted block alone."""
        weight, factor = {
            "counts": (self.count_weight, math.sqrt(2.0)),
            "sums": (self.mean_weight, 2.0),
        }[block]
        return _per_adjacency(adjacency, replace=factor * weight, add=weight) * ROUNDING

    def block_l1_diameter(self, block: Block, adjacency: str) -> float:
        """L1 sensitivity of one weighted block; both together have their sum."""
        norm = {
            "counts": self.count_weight,
            "sums": math.sqrt(self.dim) * self.mean_weight,
        }[block]
        return _per_adjacency(adjacency, replace=2 * norm, add=norm) * ROUNDING
