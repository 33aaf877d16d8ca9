"""Means of groups from noisy counts and sums: starts, and the step that k-means and mixtures share.

Every array carries a leading axis of runs; all of it reads released values alone and is total.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.models.shared.moments import TINY, finite
from dpcore.wall.statistics import NoisyClusters


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


@dataclass(frozen=True)
class Memory:
    """What a step remembers of earlier releases: how many, and the mean of their total sums."""

    steps: int
    total_sums: Array


def step(
    released: NoisyClusters,
    rows: Array | float,
    before: Array,
    memory: Memory | None,
    *,
    ball: bool,
    radius: float,
    middle: Array | float = 0.0,
) -> tuple[Array, Array, Memory]:
    """Means ``(B, K, d)`` and shares ``(B, K)`` from noisy counts and sums; the plain ones when the
    noise is zero.

    rows: the number of rows where public, or a noisy one ``(B,)``. before ``(B, K, d)``: the last
    means. middle ``(B, 1, d)``: from where rows were summed. It corrects, by amounts that vanish
    with the noise: (1) counts are shifted to add up to the number of rows; (2) sums to the average,
    over iterations, of their totals, which are the same in all; (3) a group whose rows are no more
    than the noise stays near where it was: it moves by the share of signal in its count; (4) means
    stay where the bounds allow.
    """
    counts, sums = finite(released.counts), finite(released.sums)
    components, dim = sums.shape[1:]
    public = np.broadcast_to(np.asarray(rows, dtype=float), counts.shape[:1])
    counts = counts + ((public - counts.sum(-1)) / components)[:, None]
    total, steps = sums.sum(1), 1
    if memory is not None:
        steps = memory.steps + 1
        total = memory.total_sums + (total - memory.total_sums) / steps
    sums = sums + (total - sums.sum(1))[:, None] / components
    least = TINY * np.maximum(public, 1.0)[:, None]
    counts = np.maximum(counts, least)
    noise = released.counts_sd[:, None] ** 2 + dim * released.sums_sd[:, None] ** 2
    trust = counts**2 / (counts**2 + noise)
    empty = counts <= least  # nobody is in the group: its mean stays
    moved = np.where(empty[..., None], before, middle + sums / counts[..., None])
    moved = before + trust[..., None] * (within(moved, ball, radius) - before)
    shares = counts / counts.sum(axis=-1, keepdims=True)
    return within(moved, ball, radius), shares, Memory(steps, total)


def within(points: Array, ball: bool, radius: float) -> Array:
    """Points ``(..., d)`` put in the box ``[-1, 1]^d`` (or not), then in a ball of ``radius``."""
    if not ball:
        points = np.clip(points, -1.0, 1.0)
    if not np.isfinite(radius):
        return points
    norm = np.linalg.norm(points, axis=-1, keepdims=True)
    return np.asarray(points * np.minimum(1.0, radius / np.maximum(norm, TINY * radius)))
