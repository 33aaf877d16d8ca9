"""k-means: K centres, each the mean of the rows nearest to it, found by Lloyd's steps.

Every array carries a leading axis of runs. Both steps here read released counts and sums alone and
are total. Sources: Lloyd 1982; Blum, Dwork, McSherry, Nissim 2005 (the private step); Su, Cao, Li,
Bertino, Jin 2016 (DPLloyd).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.models.shared import group_means
from dpcore.models.shared.group_means import Memory, farthest_first, within
from dpcore.models.shared.moments import TINY, finite
from dpcore.wall.statistics import NoisyClusters

Array = NDArray[np.float64]

CANDIDATES = 4096  # points among which a start is spread


@dataclass(frozen=True)
class Centres:
    """B sets of centres ``(B, K, d)`` with the share of the rows at each ``(B, K)``."""

    centres: Array
    shares: Array

    def at(self, runs: slice) -> Centres:
        """Some of the runs."""
        return Centres(self.centres[runs], self.shares[runs])

    @property
    def runs(self) -> int:
        return int(self.centres.shape[0])

    @property
    def dim(self) -> int:
        return int(self.centres.shape[2])


def start(runs: int, components: int, dim: int, seed: int, *, ball: bool) -> Centres:
    """A start that knows no data: centres spread over the inner half of what the bounds allow.

    Of many random points in the box ``[-1, 1]^d`` (or the unit ball), drawn in by a factor that
    leaves each centre a cell of its own, one after the other is taken that is farthest from those
    taken before (Gonzalez 1985).
    """
    shares = np.full((runs, components), 1.0 / components)
    if components == 1:
        return Centres(np.zeros((runs, 1, dim)), shares)
    rng = np.random.default_rng([seed, components, dim, 2])
    if ball:
        points = rng.standard_normal((CANDIDATES, dim))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        points *= rng.random((CANDIDATES, 1)) ** (1.0 / dim)
    else:
        points = rng.uniform(-1.0, 1.0, (CANDIDATES, dim))
    points *= components ** (1.0 / dim) / (1.0 + components ** (1.0 / dim))
    chosen = farthest_first(points, components, 0)
    return Centres(np.broadcast_to(chosen, (runs, components, dim)), shares)


CELLS = 128  # of the rough look from which the proved start is worked out
FULL_CELL = 4.0  # rows expected in a cell, in deviations of the noise in its count
TRIES = 8
ROUGH_STEPS = 12
WIDE = 1.25  # candidates reach a little farther out than rows do
LEAST_COUNT = 1.0  # by which the published steps divide: neither paper says what else to do


def candidates(mean: Array, spread: Array, seed: int, *, ball: bool) -> Array:
    """Points ``(B, CELLS, d)`` spread over where released moments ``(B, d)`` say that rows are.

    The first of them are farthest apart, so any number of first ones is spread too; the very first
    is in the middle.
    """
    dim = mean.shape[1]
    points = WIDE * np.random.default_rng([seed, dim, 4]).standard_normal((CANDIDATES, dim))
    shape = farthest_first(points, CELLS, int(np.argmin(np.sum(points * points, axis=1))))
    return within(mean[:, None] + spread[:, None] * shape, ball, np.inf)


def keep(points: Array, least: int, rows: float, counts_sd: Array) -> Array:
    """As many first candidates as the noise allows; the others become NaN and attract nobody.

    rows: their public number, infinite where it is not public. counts_sd ``(B,)``: noise in the
    count of a cell.
    """
    with np.errstate(divide="ignore"):
        affordable = np.where(counts_sd > 0.0, rows / (FULL_CELL * counts_sd), np.inf)
    number = np.clip(affordable, max(least, 2), points.shape[1])
    late = np.arange(points.shape[1]) >= number[:, None]
    return np.where(late[..., None], np.nan, points)


def cell_means(released: NoisyClusters, cells: Array) -> tuple[Array, Array]:
    """Means ``(B, M, d)`` of the rows of noisy cells, and what each weighs ``(B, M)``.

    cells ``(B, M, d)``: where they were asked for; NaN where none was. A cell weighs what its count
    exceeds the noise by, and its mean leaves its place by the share of signal in it.
    """
    counts, sums = finite(released.counts), finite(released.sums)
    asked = ~np.isnan(cells[..., 0])
    weights = np.where(asked, np.maximum(counts - released.counts_sd[:, None], 0.0), 0.0)
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0.0, weights, asked)
    there = counts > TINY
    safe = np.where(there, counts, 1.0)
    noise = released.counts_sd[:, None] ** 2 + cells.shape[2] * released.sums_sd[:, None] ** 2
    trust = np.where(there, safe**2 / (safe**2 + noise), 0.0)[..., None]
    middle = np.nan_to_num(cells)
    means = within(sums / safe[..., None], False, np.inf)
    return middle + trust * (means - middle), weights


def clustered(points: Array, weights: Array, components: int, seed: int) -> Array:
    """Centres ``(B, K, d)`` of weighted points ``(B, M, d)`` by k-means, the best of several
    tries: free of charge, where the points were released."""
    runs, _, dim = points.shape
    rng = np.random.default_rng([seed, components, dim, 5])
    best, cost = np.zeros((runs, components, dim)), np.full(runs, np.inf)
    for _ in range(TRIES):
        centres = _plus_plus(points, weights, components, rng)
        for _ in range(ROUGH_STEPS):
            centres, found = _weighted_step(points, weights, centres)
        better = found < cost
        best[better], cost = centres[better], np.minimum(found, cost)
    return best


def started(released: NoisyClusters, cells: Array, components: int, seed: int) -> Centres:
    """The start that noisy cells suggest."""
    means, weights = cell_means(released, cells)
    shares = np.full((len(means), components), 1.0 / components)
    return Centres(clustered(means, weights, components, seed), shares)


def _plus_plus(points: Array, weights: Array, components: int, rng: np.random.Generator) -> Array:
    """k-means++ (Arthur, Vassilvitskii 2007) of weighted points ``(B, M, d)`` for every run."""
    runs = np.arange(len(points))
    nearest = np.ones_like(weights)
    chosen = np.empty((len(points), components, points.shape[2]))
    for k in range(components):
        mass = np.cumsum(weights * nearest, axis=1)
        left = mass[:, -1] > 0.0
        target = rng.random() * mass[:, -1]
        pick = np.argmax(mass > target[:, None], axis=1)
        pick = np.where(left, pick, rng.integers(points.shape[1]))
        chosen[:, k] = points[runs, pick]
        away = np.sum((points - chosen[:, k, None]) ** 2, axis=2)
        nearest = away if k == 0 else np.minimum(nearest, away)
    return chosen


def _weighted_step(points: Array, weights: Array, centres: Array) -> tuple[Array, Array]:
    """Lloyd's step on weighted points ``(B, M, d)``; the cost ``(B,)`` before it."""
    away = (
        np.sum(points**2, axis=2)[:, :, None]
        - 2.0 * points @ np.swapaxes(centres, 1, 2)
        + np.sum(centres**2, axis=2)[:, None]
    )
    owner = np.argmin(away, axis=2)
    cost = np.sum(weights * np.take_along_axis(away, owner[..., None], axis=2)[..., 0], axis=1)
    member = (owner[..., None] == np.arange(centres.shape[1])) * weights[..., None]
    mass = member.sum(axis=1)
    moved = np.swapaxes(member, 1, 2) @ points / np.maximum(mass, 1e-300)[..., None]
    return np.where(mass[..., None] > 0.0, moved, centres), cost


def step(
    released: NoisyClusters,
    rows: Array | float,
    before: Centres,
    memory: Memory | None,
    *,
    ball: bool,
    radius: float,
) -> tuple[Centres, Memory]:
    """Lloyd's step on noisy counts and sums: :func:`dpcore.models.shared.group_means.step`."""
    centres, shares, memory = group_means.step(
        released, rows, before.centres, memory, ball=ball, radius=radius
    )
    return Centres(centres, shares), memory


def published_step(released: NoisyClusters, *, ball: bool) -> Centres:
    """DPLloyd's step, and DP-EM's (section 7): noisy sums over noisy counts, put in the bounds."""
    counts, sums = finite(released.counts), finite(released.sums)
    safe = np.maximum(counts, LEAST_COUNT)
    shares = safe / safe.sum(axis=-1, keepdims=True)
    return Centres(within(sums / safe[..., None], ball, 1.0), shares)
