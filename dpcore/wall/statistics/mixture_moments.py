"""Counts, sums and squares of K components that share each row by weights on the simplex."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import one_of, positive
from dpcore.errors import InputError
from dpcore.mechanisms.gaussian import symmetric_from_coordinates, symmetric_size
from dpcore.wall.data.clipping import demand_squares
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.kernels.bounded_sums import EStep, bounded_sum, whole_sum
from dpcore.wall.kernels.threads import Memory
from dpcore.wall.statistics.statistic import (
    STRUCTURES,
    Of,
    Part,
    Sensitivity,
    Structure,
    Summed,
    by_adjacency,
)

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.statistics.cluster_moments import MixtureSums
    from dpcore.wall.statistics.second_moments import SecondMoments
    from dpcore.wall.subsample import Minibatches


@dataclass(frozen=True)
class InFrame:
    """Rows in a frame, shared out by a model.

    e_step: the weights of the rows; ``None``: every row wholly in the one component, which is much
    faster than a step that says so.
    """

    frame: Frame
    e_step: EStep | None = None


@dataclass(frozen=True)
class NoisyMoments:
    """What left the wall, in the coordinates of its frame, with the noise that is in it.

    counts ``(B, K)``, sums ``(B, K, d)``, squares ``(B, K, d, d)`` | ``(B, K, d)`` | ``(B, K)`` as
    the structure says. ``*_sd (B,)``: standard deviation of the noise in each coordinate.
    """

    counts: Array
    sums: Array
    squares: Array
    counts_sd: Array
    sums_sd: Array
    squares_sd: Array


@dataclass(frozen=True)
class ComponentMoments(Summed[Of, NoisyMoments]):
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

    def __post_init__(self) -> None:
        one_of("covariance", self.structure, STRUCTURES)
        a, b, c = self.count_weight, self.mean_weight, self.square_weight
        for field in ("radius", "count_weight", "mean_weight", "square_weight"):
            positive(field, getattr(self, field))
        demand_squares("weights", np.array([a, b, c]))
        if not (a >= b**2 / (2 * c) * (1 - 1e-12) and b**2 <= 2 * c**2):
            raise InputError(
                "weights of counts, sums and squares",
                "the count weight a is below b^2/(2c) or the sum weight b above sqrt(2) c",
                "lower b, or raise a to b^2/(2c); c is the square weight",
            )

    @classmethod
    def normalised(
        cls, components: int, dim: int, structure: Structure, radius: float, weights: Array
    ) -> Self:
        """The same with ``weights = (a, b, c)`` scaled to ``a^2 + b^2 + c^2 = 1``."""
        a, b, c = np.asarray(weights, dtype=float) / np.linalg.norm(weights)
        return cls(components, dim, structure, radius, float(a), float(b), float(c))

    @property
    def square_size(self) -> int:
        """Number of coordinates of ``s(y)``."""
        return {"full": symmetric_size(self.dim), "diag": self.dim, "spherical": 1}[self.structure]

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Counts, sums and squares."""
        a, b, c = self.count_weight, self.mean_weight, self.square_weight
        diagonal = self.dim if self.structure == "full" else None
        return {
            "counts": Part(1, 1.0 / a),
            "sums": Part(self.dim, self.radius / b),
            "squares": Part(self.square_size, self.radius**2 / c, diagonal),
        }

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma for all blocks together, and for each alone.

        *L2, alone.* Counts and squares are non-negative in the sense ``<v, v'> >= 0``: ``sqrt 2``
        times the radius when replaced; sums can be opposite: twice the radius.

        *L1.* When a row is replaced, twice that of a row. A row with ``|y| = 1`` adds 1 to the
        counts and at most ``|y|_1 <= sqrt d`` to the sums. The coordinates of ``y y^T`` (the
        entries off the diagonal times ``sqrt 2``) come to at most
        ``1 + (|y|_1^2 - 1)/sqrt 2 <= 1 + (d - 1)/sqrt 2``; diagonal and trace to 1.
        """
        a, b, c = self.count_weight, self.mean_weight, self.square_weight
        size, root = math.hypot(a, b, c), math.sqrt(2.0)
        length = math.sqrt(self.dim)
        form = 1.0 + (self.dim - 1) / root if self.structure == "full" else 1.0
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(
                root * size,
                {
                    "counts": (root * a, 2.0 * a),
                    "sums": (2.0 * b, 2.0 * b * length),
                    "squares": (root * c, 2.0 * c * form),
                },
            ),
            add_remove=Sensitivity(
                size, {"counts": (a, a), "sums": (b, b * length), "squares": (c, c * form)}
            ),
        )

    def features(self, rows: Array, memory: Memory | None = None) -> Array:
        """Features ``(F, p, n)`` of clipped rows ``(F, d, n)``: 1, y, s(y), without weights.

        Rows run along the last axis, so every operation below works on long runs of memory.
        Raises ValueError for rows of another dimension.
        """
        dim = self.dim
        if rows.shape[1] != dim:  # one coordinate would be copied into all
            raise ValueError(f"rows have {rows.shape[1]} coordinates, not {dim}")
        out = (memory or Memory())("features", rows.shape[0], self.size, rows.shape[2])
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

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> NoisyMoments:
        squares = total[..., self.slice("squares")]
        if self.structure == "full":
            squares = symmetric_from_coordinates(squares, self.dim)
        elif self.structure == "spherical":
            squares = squares[..., 0]
        sums = total[..., self.slice("sums")]
        return NoisyMoments(
            total[..., 0], sums, squares, scales["counts"], scales["sums"], scales["squares"]
        )


@dataclass(frozen=True)
class MixtureMoments(ComponentMoments[InFrame]):
    """:class:`ComponentMoments` of rows in one frame for all components."""

    lemma = "joint diameter of counts, sums and squares on simplex weights and a clipped ball"
    adds_up = True

    def checked(self, session: Session[Any], of: InFrame) -> InFrame:
        if of.e_step is None and self.components != 1:
            raise ValueError("without an e_step there must be one component")
        return of

    def bounds(self, session: Session[Any], of: InFrame) -> tuple[float, float]:
        return self.radius, of.frame.radius

    def total(
        self, session: Session[Any], of: InFrame, batches: Minibatches | None
    ) -> tuple[Array, None]:
        if of.e_step is None:
            return all_rows(session, of.frame, self), None
        return shared_sum(session, of, self), None


def shared_sum(
    session: Session[Any], of: InFrame, contribution: MixtureMoments | MixtureSums
) -> Array:
    """The bounded sum ``(runs, ...)`` of rows in a frame with an E step, which shares them out."""
    assert of.e_step is not None  # checked
    sum_of = partial(
        bounded_sum,
        frame=of.frame,
        contribution=contribution,
        e_step=session._of_rows(of.e_step),
        runs=session.runs,
        even=session._for_good,
    )
    return np.asarray(session._features.total(sum_of))


def all_rows(session: Session[Any], frame: Frame, shape: MixtureMoments | SecondMoments) -> Array:
    """The sum of all rows' features, ``(runs, ...)``: for each run its own to add noise to."""
    total = session._features.total(partial(whole_sum, frame=frame, shape=shape))
    return np.asarray(total if len(total) == session.runs else np.repeat(total, session.runs, 0))
