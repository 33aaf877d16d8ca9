"""The sum of squares of all rows, and nothing else: Analyze Gauss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcore.checks import positive
from dpcore.mechanisms.gaussian import symmetric_size
from dpcore.wall.statistics.statistic import (
    ROUNDING,
    Block,
    Structure,
    _per_adjacency,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SecondMoments:
    r"""The sum of ``y y^T / R^2`` over all rows, ``|y| <= radius = R``, and nothing else.

    **Guarantee.** In coordinates that keep the norm, the L2 sensitivity is 1 when a row is added or
    removed and ``sqrt 2`` when one is replaced; both are attained, the second by orthogonal rows if
    ``dim > 1`` (Dwork, Talwar, Thakurta, Zhang 2014, Analyze Gauss, has 1 for an added row).

    *Proof.* ``|y y^T|_F = |y|^2``, and ``|y y^T - y' y'^T|_F^2 = |y|^4 + |y'|^4 - 2 (y.y')^2``.
    In one dimension that is at most 1. QED.
    """

    dim: int
    radius: float

    lemma = "diameter of the square of a row in a clipped ball"
    components = 1
    structure: ClassVar[Structure] = "full"
    blocks: ClassVar[tuple[Block, ...]] = ("squares",)

    def __post_init__(self) -> None:
        positive("dim", self.dim)
        positive("radius", self.radius)

    @property
    def size(self) -> int:
        """Number of features p of a row."""
        return symmetric_size(self.dim)

    def span(self, block: Block) -> slice:
        """Which features make up a block."""
        return {"squares": slice(0, self.size)}[block]

    def unit(self, block: Block) -> float:
        """What one unit of the weighted block is worth in the block's own coordinates."""
        return {"squares": self.radius**2}[block]

    def beside(self, block: Block) -> slice:
        """Which features are entries beside the diagonal of a symmetric matrix."""
        return slice(self.dim, None)

    def diameter(self, adjacency: str) -> float:
        """L2 sensitivity, a hair above the lemma's value."""
        replace = math.sqrt(2.0) if self.dim > 1 else 1.0
        return _per_adjacency(adjacency, replace=replace, add=1.0) * ROUNDING

    def block_diameter(self, block: Block, adjacency: str) -> float:
        """The same: there is one block."""
        return {"squares": self.diameter(adjacency)}[block]

    def block_l1_diameter(self, block: Block, adjacency: str) -> float:
        """L1 sensitivity: see :meth:`MixtureMoments.block_l1_diameter`."""
        norm = {"squares": 1.0 + (self.dim - 1) / math.sqrt(2.0)}[block]
        return _per_adjacency(adjacency, replace=2 * norm, add=norm) * ROUNDING
