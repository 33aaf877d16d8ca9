"""Counts, sums and squares of K components, each of which sees the rows in a frame of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.mechanisms.gaussian import symmetric_to_coordinates
from dpcore.wall.kernels.group_sums import InGroups, group_sums
from dpcore.wall.statistics.mixture_moments import ComponentMoments

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.statistics.statistic import Structure as Structure  # of an inherited field
    from dpcore.wall.subsample import Minibatches

SMALL = 32  # up to this dimension a whole product is faster than half of a symmetric one


@dataclass(frozen=True)
class GroupMoments(ComponentMoments[InGroups]):
    """:class:`ComponentMoments` of rows that each component sees in a frame of its own: ``y_k``,
    drawn into the ball of ``radius`` around its own middle.

    **Guarantee.** The same, for any frames that are public or released.

    *Proof.* A row adds ``w_k (a, b y_k/R, c s(y_k)/R^2)`` to component k, which is linear in w, so
    the distance of two rows' contributions is convex in their weights and largest where both are 0
    or a unit vector, as there. One unit vector has the norm of one component's part. Different
    ones share no coordinate: at most ``2 (a^2 + b^2 + c^2)``, whatever the frames. The same one
    compares ``y_k`` and ``y_k'``, two points of one ball. A group that is said to have no rows has
    weight 0. QED.
    """

    lemma = "joint diameter of counts, sums and squares on simplex weights and clipped balls"
    adds_up = True

    def checked(self, session: Session[Any], of: InGroups) -> InGroups:
        center, matrix = (np.array(part, dtype=np.float64) for part in (of.center, of.matrix))
        shape = (session.runs, self.components, self.dim)
        if center.shape != shape or matrix.shape != (*shape, self.dim):
            raise ValueError("frames must have the shapes (runs, components, dim) and (..., dim)")
        if not (np.all(np.isfinite(center)) and np.all(np.isfinite(matrix))):
            raise ValueError("a frame is not finite")
        number = np.array(of.counted())
        if number.shape != shape[:1] or not np.all((number >= 1) & (number <= shape[1])):
            raise ValueError("number must have the shape (runs,) and lie in 1 to components")
        return InGroups(center, matrix, of.sharing, number)

    def bounds(self, session: Session[Any], of: InGroups) -> tuple[float, float]:
        return self.radius, self.radius

    def total(
        self, session: Session[Any], of: InGroups, batches: Minibatches | None
    ) -> tuple[Array, None]:
        sum_of = partial(group_sums, of=of, shape=self, even=session._for_good)
        return np.asarray(session._features.total(sum_of)), None

    def weighted(self, rows: Array, weights: Array) -> Array:
        """``(G, p)``: sums over clipped rows ``(G, d, m)``, which are overwritten, by weights
        ``(G, m)``."""
        root = np.sqrt(weights)
        rows *= root[:, None]
        if self.structure == "full":
            other = rows if self.dim > SMALL else rows.copy()
            squares = symmetric_to_coordinates(other @ np.swapaxes(rows, 1, 2))
        else:
            squares = np.einsum("gdm,gdm->gd", rows, rows)
            if self.structure == "spherical":
                squares = squares.sum(axis=1, keepdims=True)
        sums = (rows @ root[..., None])[..., 0]
        return np.concatenate([weights.sum(axis=1)[:, None], sums, squares], axis=1)
