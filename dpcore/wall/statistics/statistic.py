"""What a statistic states of itself: its blocks, and how far one row can move each of them.

The wall, not the model, makes the sensitivity true: it builds the features from the clipped row
itself and projects whatever weights the model returns onto the simplex before it sums. A model
whose weights for a row come from that row alone may err: it costs utility, never privacy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, get_args

from dpcore.arrays import Array
from dpcore.errors import InputError

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches

Of = TypeVar("Of")
Left = TypeVar("Left")

Structure: TypeAlias = Literal["full", "diag", "spherical"]
STRUCTURES: tuple[str, ...] = get_args(Structure)
BLOCKS = ("counts", "sums", "squares")
Slice: TypeAlias = slice

# Projections are rounded: every sensitivity is inflated by 1e-8 to cover it. The rounding of long
# sums is bounded where they leave for good (:mod:`dpcore.wall.grid`); in a fit they count as real.
ROUNDING = 1.0 + 1e-8


@dataclass(frozen=True)
class Part:
    """A block of a statistic: ``size`` features, and what one unit of them is worth.

    scale: of one unit of the weighted block, in the block's own coordinates; a number, or one for
    each run ``(B,)``. diagonal: how many of the features are entries on the diagonal of a symmetric
    matrix; they stand first. ``None``: the block is no such matrix.
    """

    size: int
    scale: float | Array
    diagonal: int | None = None


@dataclass(frozen=True)
class Sensitivity:
    """How far one row moves a sum: l2 of all weighted blocks together; for each alone (L2, L1).

    L1 sensitivities of blocks released together add up; ``None``: none is stated.
    """

    l2: float
    blocks: Mapping[str, tuple[float, float | None]]


class Statistic(ABC):
    """A sum over rows that may be released: K components of features in weighted blocks.

    lemma: what is proved, in words for the ledger. components: how many share a row. adds_up: it is
    a sum over rows of what each row alone contributes, wherever it stands, and the lemma holds
    whatever other rows are: what lemma 2 of :mod:`dpcore.wall.data.persons` asks for.
    """

    lemma: str
    components: int
    adds_up: ClassVar[bool] = False

    @property
    @abstractmethod
    def parts(self) -> dict[str, Part]:
        """The blocks by name, in their order."""

    @abstractmethod
    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma's values; raises InputError for an adjacency that it does not cover."""

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names of the blocks, in their order."""
        return tuple(self.parts)

    @property
    def size(self) -> int:
        """Number of features p of a row."""
        return sum(part.size for part in self.parts.values())

    def slice(self, block: str) -> Slice:
        """Which features make up a block. Raises KeyError for a block that it has not."""
        first = 0
        for name, part in self.parts.items():
            if name == block:
                return slice(first, first + part.size)
            first += part.size
        raise KeyError(block)

    def scale(self, block: str) -> float | Array:
        """What one unit of the weighted block is worth in the block's own coordinates."""
        return self.parts[block].scale

    def off_diagonal(self, block: str) -> Slice:
        """Which features of a block are entries off the diagonal of a symmetric matrix."""
        diagonal = self.parts[block].diagonal
        return slice(0, 0) if diagonal is None else slice(diagonal, None)

    def l2_sensitivity(self, adjacency: str, block: str | None = None) -> float:
        """Of the weighted sum over all blocks, or one alone; inflated by 1e-8 for rounding."""
        stated = self.sensitivity(adjacency)
        return (stated.l2 if block is None else stated.blocks[block][0]) * ROUNDING

    def l1_sensitivity(self, adjacency: str, block: str) -> float:
        """Of one weighted block, inflated likewise; those of blocks released together add up.

        Raises InputError where none is stated.
        """
        _, l1 = self.sensitivity(adjacency).blocks[block]
        if l1 is None:
            raise InputError("noise", "Laplace noise is not covered for these sums", "use gaussian")
        return l1 * ROUNDING


class Summed(Statistic, Generic[Of, Left]):
    """A statistic that a session sums and releases: what is asked of rows, and what leaves."""

    def checked(self, session: Session[Any], of: Of) -> Of:
        """What is asked, in plain numbers of the right shape; refused before rows are touched."""
        return of

    def bounds(self, session: Session[Any], of: Of) -> tuple[float, float]:
        """The norm of a row that the lemma assumes, and the radius that rows are clipped to."""
        return 1.0, 1.0

    @abstractmethod
    def total(
        self, session: Session[Any], of: Of, batches: Minibatches | None
    ) -> tuple[Array, Any]:
        """The exact sum ``(B, K, p)``, and what may leave beside it without noise."""

    @abstractmethod
    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: Any
    ) -> Left:
        """The released sum in its own shape. scales: deviation of the noise in each block.
        unnoised: what leaves with it and has no noise."""


def by_adjacency(
    adjacency: str,
    *,
    replace_one: Sensitivity,
    add_remove: Sensitivity,
    why: str = "to rows without labels",
) -> Sensitivity:
    """The one that an adjacency asks for; InputError for another. why: what it does not apply to.

    >>> one, two = Sensitivity(1.0, {}), Sensitivity(2.0, {})
    >>> by_adjacency("add_remove", replace_one=two, add_remove=one).l2
    1.0
    """
    stated = {"replace_one": replace_one, "add_remove": add_remove}
    if adjacency not in stated:
        raise InputError(
            "adjacency",
            f"{adjacency} does not apply {why}",
            "choose replace_one or add_remove",
        )
    return stated[adjacency]
