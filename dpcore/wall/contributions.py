"""Contributions: what one row may add to a released sum, with the set it is projected onto.

The wall, not the model, makes the sensitivity true: it builds the features from the clipped row
itself and projects whatever weights the model returns onto the simplex before it sums. A model
whose weights for a row come from that row alone may err: it costs utility, never privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from dpcore.checks import one_of, positive
from dpcore.errors import InputError
from dpcore.mechanisms.gaussian import symmetric_size
from dpcore.wall.clip import demand_squares

Array = NDArray[np.float64]
Structure: TypeAlias = Literal["full", "diag", "spherical"]
Block: TypeAlias = Literal["counts", "sums", "squares"]
STRUCTURES: tuple[str, ...] = get_args(Structure)
BLOCKS: tuple[Block, ...] = get_args(Block)

# Projections are rounded; a diameter larger by this factor covers it. The rounding of long sums is
# bounded where they leave for good (:mod:`dpcore.wall.grid`); in a fit they count as real numbers.
ROUNDING = 1.0 + 1e-8
# Weights of one row may add up to this without being touched.
LARGEST_TOTAL = 1.0 + 1e-12


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


@dataclass(frozen=True)
class MixtureMoments:
    r"""Counts, sums and squares of each component, released as one vector.

    A row ``y`` with ``|y| <= radius = R`` and weights ``w`` in ``{w >= 0, sum w <= 1}`` adds
    ``w (x) (a, b y/R, c s(y)/R^2)`` where ``s(y)`` is ``y y^T`` in norm-keeping coordinates
    (``full``), its diagonal ``y * y`` (``diag``) or its trace ``|y|^2`` (``spherical``), and
    ``a, b, c`` = count_weight, mean_weight, square_weight: the public split of the budget.

    **Guarantee.** Given ``a >= b^2 / 2c`` and ``b^2 <= 2 c^2`` (else refused: a larger ``a`` is
    free), the L2 sensitivity is ``sqrt(a^2 + b^2 + c^2)`` when a row is added or removed and
    ``sqrt 2`` times that when a row is replaced; the first is attained, the second from two
    components on (with one, a replaced row leaves the count as it is).

    *Proof.* Put R = 1. A contribution v has norm ``|w| (a^2 + b^2 |y|^2 + c^2 |s|^2)^(1/2)`` with
    ``|w| <= 1`` and ``|s| <= |y|^2 <= 1``: the first claim. For the second, v is linear in w, so
    ``|v - v'|^2`` is convex in ``(w, w')`` and largest where both are vertices of their set: 0 or
    a unit vector. Different vertices share no coordinate: at most ``2 (a^2 + b^2 + c^2)``. Equal
    unit vectors leave ``b^2 |y-y'|^2 + c^2 |s-s'|^2``. In all three structures
    ``|s-s'|^2 <= |y y^T - y' y'^T|_F^2 = |y|^4 + |y'|^4 - 2 t^2`` with ``t = y.y'`` (a diagonal is
    part of its matrix; and ``(|y|^2-|y'|^2)^2`` is at most this because ``t^2 <= |y|^2 |y'|^2``).
    So it is at most ``b^2 (|y|^2 + |y'|^2 - 2t) + c^2 (|y|^4 + |y'|^4 - 2 t^2)``, which grows with
    both norms at fixed t, hence at most ``2 (b^2+c^2) - 2 (b^2 t + c^2 t^2)`` with t in [-1, 1],
    and ``b^2 t + c^2 t^2 >= -b^4/4c^2 >= -a^2``. QED. (The bound for sums alone, without counts, is
    the same with ``a = b^2/2c``: the counts of a replaced row cost nothing.)
    """

    components: int
    dim: int
    structure: Structure
    radius: float
    count_weight: float
    mean_weight: float
    square_weight: float

    lemma = "joint diameter of counts, sums and squares on simplex weights and a clipped ball"
    blocks: ClassVar[tuple[Block, ...]] = BLOCKS

    def __post_init__(self) -> None:
        one_of("covariance", self.structure, STRUCTURES)
        a, b, c = self.count_weight, self.mean_weight, self.square_weight
        for field in ("radius", "count_weight", "mean_weight", "square_weight"):
            positive(field, getattr(self, field))
        demand_squares("weights", np.array([a, b, c]))
        if not (a >= b**2 / (2 * c) * (1 - 1e-12) and b**2 <= 2 * c**2):
            raise InputError(
                "weights of counts, sums and squares",
                "the counts weigh less than b^2/2c or the sums more than sqrt(2) c",
                "raise the counts' weight (it is free) or lower the sums'",
            )

    @classmethod
    def normalised(
        cls, components: int, dim: int, structure: Structure, radius: float, weights: Array
    ) -> MixtureMoments:
        """The same with ``weights = (a, b, c)`` scaled to ``a^2 + b^2 + c^2 = 1``."""
        a, b, c = np.asarray(weights, dtype=float) / np.linalg.norm(weights)
        return cls(components, dim, structure, radius, float(a), float(b), float(c))

    @property
    def square_size(self) -> int:
        """Number of coordinates of ``s(y)``."""
        return {"full": symmetric_size(self.dim), "diag": self.dim, "spherical": 1}[self.structure]

    @property
    def size(self) -> int:
        """Number of features p of a row."""
        return 1 + self.dim + self.square_size

    def span(self, block: Block) -> slice:
        """Which features make up a block."""
        first = {"counts": (0, 1), "sums": (1, 1 + self.dim), "squares": (1 + self.dim, self.size)}
        return slice(*first[block])

    def unit(self, block: Block) -> float:
        """What one unit of the weighted block is worth in the block's own coordinates."""
        return {
            "counts": 1.0 / self.count_weight,
            "sums": self.radius / self.mean_weight,
            "squares": self.radius**2 / self.square_weight,
        }[block]

    def beside(self, block: Block) -> slice:
        """Which features of a block are entries beside the diagonal of a symmetric matrix."""
        full = block == "squares" and self.structure == "full"
        return slice(self.dim, None) if full else slice(0, 0)

    def diameter(self, adjacency: str) -> float:
        """L2 sensitivity of the weighted sum over all blocks, a hair above the lemma's value."""
        size = math.hypot(self.count_weight, self.mean_weight, self.square_weight)
        return _per_adjacency(adjacency, replace=math.sqrt(2.0) * size, add=size) * ROUNDING

    def block_diameter(self, block: Block, adjacency: str) -> float:
        """L2 sensitivity of one weighted block alone.

        Counts and squares are non-negative in the sense ``<v, v'> >= 0``: ``sqrt 2`` times the
        radius when replaced; sums can be opposite: twice the radius.
        """
        weight, factor = {
            "counts": (self.count_weight, math.sqrt(2.0)),
            "sums": (self.mean_weight, 2.0),
            "squares": (self.square_weight, math.sqrt(2.0)),
        }[block]
        return _per_adjacency(adjacency, replace=factor * weight, add=weight) * ROUNDING

    def block_l1_diameter(self, block: Block, adjacency: str) -> float:
        """L1 sensitivity of one weighted block alone, when a row is replaced twice that of a row.

        A row with ``|y| = 1`` adds 1 to the counts and at most ``|y|_1 <= sqrt d`` to the sums. The
        coordinates of ``y y^T`` (the entries beside the diagonal times ``sqrt 2``) come to at most
        ``1 + (|y|_1^2 - 1)/sqrt 2 <= 1 + (d - 1)/sqrt 2``; diagonal and trace to 1.
        """
        weight, norm = {
            "counts": (self.count_weight, 1.0),
            "sums": (self.mean_weight, math.sqrt(self.dim)),
            "squares": (
                self.square_weight,
                1.0 + (self.dim - 1) / math.sqrt(2.0) if self.structure == "full" else 1.0,
            ),
        }[block]
        return _per_adjacency(adjacency, replace=2 * weight * norm, add=weight * norm) * ROUNDING

    def features(self, rows: Array) -> Array:
        """Features ``(F, p, n)`` of clipped rows ``(F, d, n)``: 1, y, s(y), without weights.

        Rows run along the last axis, so every operation below works on long runs of memory.
        """
        dim = self.dim
        if rows.shape[1] != dim:  # one coordinate would be copied into all
            raise ValueError(f"rows have {rows.shape[1]} coordinates, the contribution {dim}")
        out = np.empty((rows.shape[0], self.size, rows.shape[2]))
        out[:, 0] = 1.0
        out[:, 1 : 1 + dim] = rows
        if self.structure == "spherical":
            np.einsum("fdn,fdn->fn", rows, rows, out=out[:, -1])
            return out
        np.multiply(rows, rows, out=out[:, 1 + dim : 1 + 2 * dim])
        if self.structure == "full":
            at = 1 + 2 * dim
            for i in range(dim - 1):
                end = at + dim - 1 - i
                scaled = math.sqrt(2.0) * rows[:, i : i + 1]
                np.multiply(scaled, rows[:, i + 1 :], out=out[:, at:end])
                at = end
        return out

    def project(self, weights: Array) -> Array:
        """Weights ``(..., K, n)`` put into ``{w >= 0, sum w <= 1}``; anything undefined becomes 0.

        A hair above 1 (rounding) is left to :data:`ROUNDING`. What becomes of one row never depends
        on another.

        >>> w = np.array([[np.nan, 2.0], [3.0, 2.0]])
        >>> MixtureMoments(2, 1, "full", 1.0, 1, 1, 1).project(w)
        array([[0. , 0.5],
               [1. , 0.5]])
        """
        weights = np.asarray(weights, dtype=np.float64)  # masks and narrow numbers end here
        if weights.size == 0:
            return weights
        if weights.min() >= 0.0:  # false for NaN
            with np.errstate(over="ignore"):
                fits = weights.sum(axis=-2).max() <= LARGEST_TOTAL
            if fits:
                return weights
        inside = np.fmin(np.fmax(weights, 0.0), LARGEST_TOTAL)
        total = inside.sum(axis=-2, keepdims=True)
        return np.asarray(inside / np.where(total > LARGEST_TOTAL, total, 1.0))


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
