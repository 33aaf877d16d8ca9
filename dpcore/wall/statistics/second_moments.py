"""The sum of squares of all rows, and nothing else: Analyze Gauss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dpcore.arrays import Array
from dpcore.checks import positive
from dpcore.mechanisms.gaussian import symmetric_from_coordinates, symmetric_size
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.statistics.mixture_moments import all_rows
from dpcore.wall.statistics.statistic import Part, Sensitivity, Structure, Summed, by_adjacency

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches


@dataclass(frozen=True)
class NoisySquares:
    """The sum of ``y y^T`` over rows ``(B, d, d)``, in unit coordinates.

    squares_sd ``(B,)``: standard deviation of the noise in each norm-keeping coordinate: in an
    entry on the diagonal, and in an entry off it times ``sqrt 2``. The noise is symmetric and,
    unless widened, of one size in every direction.
    """

    squares: Array
    squares_sd: Array


@dataclass(frozen=True)
class SecondMoments(Summed[None, NoisySquares]):
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
    adds_up = True
    components = 1
    structure: ClassVar[Structure] = "full"

    def __post_init__(self) -> None:
        positive("dim", self.dim)
        positive("radius", self.radius)

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Squares alone."""
        return {"squares": Part(symmetric_size(self.dim), self.radius**2, self.dim)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma's; L1 as of :class:`~dpcore.wall.statistics.mixture_moments.MixtureMoments`."""
        moved = math.sqrt(2.0) if self.dim > 1 else 1.0
        form = 1.0 + (self.dim - 1) / math.sqrt(2.0)
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(moved, {"squares": (moved, 2.0 * form)}),
            add_remove=Sensitivity(1.0, {"squares": (1.0, form)}),
        )

    def bounds(self, session: Session[Any], of: None) -> tuple[float, float]:
        if self.dim != session.public.dim:
            raise ValueError("the contribution and the rows differ in dimension")
        return self.radius, session.radius

    def total(
        self, session: Session[Any], of: None, batches: Minibatches | None
    ) -> tuple[Array, None]:
        return all_rows(session, Frame.identity(self.dim, session.radius), self), None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> NoisySquares:
        squares = symmetric_from_coordinates(total[:, 0], self.dim)
        return NoisySquares(squares, scales["squares"])
