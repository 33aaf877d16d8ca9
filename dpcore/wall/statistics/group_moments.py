"""Counts, sums and squares of K components that see the rows in frames of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.mechanisms.gaussian import symmetric_to_coordinates
from dpcore.wall.kernels.group_sums import InGroups, group_sums
from dpcore.wall.statistics.mixture_moments import ComponentMoments
from dpcore.wall.statistics.statistic import Part, Sensitivity

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.statistics.statistic import Structure as Structure  # of an inherited field
    from dpcore.wall.subsample import Minibatches

# Weights where squares are added up: for means of groups, and a shape that all have in common.
TOGETHER = (math.sqrt(0.04), math.sqrt(0.3), math.sqrt(0.66))
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

    together ``(B,)``: runs in which the squares of all components are added up, and stand with the
    first; these have the weights :data:`TOGETHER`, with squares that add up to 1 as those of the
    others must. Public or released.

    *Proof for these.* A row's contribution ``(a w, b w (x) y/R, c sum_k w_k s(y_k)/R^2)`` is linear
    in w too. Two different unit vectors share no count and no coordinate of sums, and the inner
    product of their squares is at least 0, as ``<s(y), s(y')> = (y.y')^2`` or a sum of products of
    squares: their distance is at most ``2 (a^2 + b^2 + c^2)`` again. The same unit vector, or none,
    leaves what is there with a component of its own. QED.
    """

    together: Mask | None = None

    lemma = "joint diameter of counts, sums and squares on simplex weights and clipped balls"
    adds_up = True

    def __post_init__(self) -> None:
        super().__post_init__()
        size = math.hypot(self.count_weight, self.mean_weight, self.square_weight)
        if self.together is not None and not abs(size - 1.0) < 1e-12:
            raise ValueError("runs of two kinds need weights whose squares add up to 1")

    @cached_property
    def parts(self) -> dict[str, Part]:
        parts = super().parts
        if self.together is None:
            return parts
        shared = (1.0, self.radius, self.radius**2) / np.array(TOGETHER)
        return {
            block: replace(part, scale=np.where(self.together, scale, part.scale))
            for (block, part), scale in zip(parts.items(), shared, strict=True)
        }

    def sensitivity(self, adjacency: str) -> Sensitivity:
        stated = super().sensitivity(adjacency)  # of blocks alone it differs from run to run
        return stated if self.together is None else Sensitivity(stated.l2, {})

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
        of = replace(of, sharing=session._of_rows(of.sharing))
        sum_of = partial(group_sums, of=of, shape=self, even=session._for_good)
        return self.joined(np.asarray(session._features.total(sum_of))), None

    def joined(self, total: Array) -> Array:
        """Sums ``(B, K, p)`` with the squares of some runs added up, in one rounding: a release on
        a grid allows for few."""
        squares = self.slice("squares")
        for run in np.flatnonzero(False if self.together is None else self.together):
            total[run, 0, squares] = [math.fsum(entry) for entry in total[run, :, squares].T]
            total[run, 1:, squares] = 0.0
        return total

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
