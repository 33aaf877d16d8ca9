"""Contributions: what one row may add to a released sum, with the set it is projected onto.

The wall, not the model, makes the sensitivity true: it builds the features from the clipped row
itself and projects whatever weights the model returns onto the simplex before it sums. A model
whose weights for a row come from that row alone may err: it costs utility, never privacy.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError

Array = NDArray[np.float64]
Structure: TypeAlias = Literal["full", "diag", "spherical"]
Block: TypeAlias = Literal["counts", "sums", "squares"]
STRUCTURES: tuple[str, ...] = get_args(Structure)
BLOCKS: tuple[Block, ...] = get_args(Block)

# Projections are rounded; a diameter larger by this factor covers it. The rounding of long sums is
# bounded where they leave for good (:mod:`dpcore.wall.grid`); in a fit they count as real numbers.
ROUNDING = 1.0 + 1e-8


class Contribution(Protocol):
    """What one row may add to a released sum: K components of features in weighted blocks."""

    @property
    def lemma(self) -> str:
        """What is proved, in words for the ledger."""

    @property
    def components(self) -> int:
        """How many components K share a row."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of features, in their order."""

    @property
    def size(self) -> int:
        """Number of features p of a row."""

    def span(self, block: Block) -> slice:
        """Which features make up a block."""

    def unit(self, block: Block) -> float:
        """What one unit of the weighted block is worth in the block's own coordinates."""

    def beside(self, block: Block) -> slice:
        """Which features of a block are entries beside the diagonal of a symmetric matrix."""

    def diameter(self, adjacency: str) -> float:
        """L2 sensitivity of the weighted sum over all blocks."""

    def block_diameter(self, block: Block, adjacency: str) -> float:
        """L2 sensitivity of one weighted block alone."""

    def block_l1_diameter(self, block: Block, adjacency: str) -> float:
        """L1 sensitivity of one weighted block; those of blocks released together add up."""


def _per_adjacency(adjacency: str, *, replace: float, add: float) -> float:
    if adjacency == "replace_one":
        return replace
    if adjacency == "add_remove":
        return add
    raise InputError(
        "adjacency",
        f"{adjacency} does not apply to rows without labels",
        "choose replace_one or add_remove",
    )
