"""Means of groups from noisy counts and sums: starts, the split of a budget, and the bounds.

Every array carries a leading axis of runs; all of it reads released values alone and is total.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array
from dpcore.models.shared.moments import TINY


def farthest_first(points: Array, count: int, first: int) -> Array:
    """``count`` of the points from the first on, each farthest from those before it (Gonzalez
    1985)."""
    picks = [first]
    sizes = np.einsum("nd,nd->n", points, points)
    nearest = np.full(len(points), np.inf)
    for _ in range(count - 1):
        last = picks[-1]  # no differences are formed: they would be as large as the points
        nearest = np.minimum(nearest, sizes + sizes[last] - 2.0 * (points @ points[last]))
        picks.append(int(np.argmax(nearest)))
    return points[picks]


def count_and_sum_weights(dim: int, adjacency: str) -> tuple[float, float]:
    """How the budget is split between counts and sums, squares adding up to 1.

    Where a row is replaced, counts that weigh as much as sums are free. Where it is added, noise of
    ``1/a`` in a count moves a mean by its distance m from the origin, and noise of ``1/b`` in d
    coordinates by ``sqrt d``: ``m^2/a^2 + d/b^2`` is least at ``a^2 : b^2 = m : sqrt d``, and
    ``m^2 = 1/3`` for rows spread evenly over the bounds.
    """
    share = 0.5
    if adjacency == "add_remove":
        share = 1.0 / (1.0 + math.sqrt(3.0 * dim))
    return math.sqrt(share), math.sqrt(1.0 - share)


def within(points: Array, ball: bool, radius: float) -> Array:
    """Points ``(..., d)`` put in the box ``[-1, 1]^d`` (or not), then in a ball of ``radius``."""
    if not ball:
        points = np.clip(points, -1.0, 1.0)
    if not np.isfinite(radius):
        return points
    norm = np.linalg.norm(points, axis=-1, keepdims=True)
    return np.asarray(points * np.minimum(1.0, radius / np.maximum(norm, TINY * radius)))
