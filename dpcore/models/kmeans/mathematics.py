"""k-means: K centres, each the mean of the rows nearest to it, found by Lloyd's steps.

Every array carries a leading axis of runs. Both steps here read released counts and sums alone and
are total. Sources: Lloyd 1982; Blum, Dwork, McSherry, Nissim 2005 (the private step); Su, Cao, Li,
Bertino, Jin 2016 (DPLloyd).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.models.shared.group_means import farthest_first, within
from dpcore.models.shared.moments import TINY, finite
from dpcore.wall.statistics import NoisyClusters

CANDIDATES = 4096  # points among which a start is spread


@dataclass(frozen=True)
class Centres:
    """B sets of centres ``(B, K, d)`` with the share of the rows at each ``(B, K)``."""

    centres: Array
    shares: Array

    @property
    def runs(self) -> int:
        """How many: B."""
        return int(self.centres.shape[0])


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
FULL_CELL = 1.5  # rows expected in a cell, in deviations of the noise in its count
CLEAR = 2.5  # deviations that a count must exceed; empty cells far out would draw centres else
TRIES = 8
AT_ONCE = 1 << 18  # products of points and centres in tries that are made together
ROUGH_STEPS = 12
WIDE = 1.25  # candidates reach a little farther out than rows do
FLAT_DIM = 2  # in more dimensions, no farther than in so many
LEAST_COUNT = 1.0  # by which the published steps divide: neither paper says what else to do


def candidates(mean: Array, spread: Array, seed: int, *, ball: bool) -> Array:
    """Points ``(B, CELLS, d)`` spread over where a released mean ``(B, d)`` and deviation of a
    coordinate ``(B,)`` say that rows are.

    The first of them are farthest apart, so any number of first ones is spread too; the very first
    is in the middle. In many dimensions they are nearer to it than rows are: the middle would be
    nearest to every row otherwise.
    """
    dim = mean.shape[1]
    reach = WIDE * math.sqrt(min(1.0, FLAT_DIM / dim)) * spread
    return within(mean[:, None] + reach[:, None, None] * _cells(dim, seed), ball, np.inf)


@cache
def _cells(dim: int, seed: int) -> Array:
    points = np.random.default_rng([seed, dim, 4]).standard_normal((CANDIDATES, dim))
    return farthest_first(points, CELLS, int(np.argmin(np.sum(points * points, axis=1))))


def keep(points: Array, least: int, rows: Array | float, noise: Array) -> Array:
    """As many first candidates as the noise allows; the others become NaN and attract nobody.

    rows: their number, public or released. noise ``(B,)``: length of that in count and sum of a
    cell.
    """
    with np.errstate(divide="ignore"):
        affordable = np.where(noise > 0.0, rows / (FULL_CELL * noise), np.inf)
    number = np.clip(affordable, max(least, 2), points.shape[1])
    late = np.arange(points.shape[1]) >= number[:, None]
    return np.where(late[..., None], np.nan, points)


def cell_means(released: NoisyClusters, cells: Array) -> tuple[Array, Array]:
    """Means ``(B, M, d)`` of the rows of noisy cells, and what each weighs ``(B, M)``.

    cells ``(B, M, d)``: where they were asked for; NaN where none was. A cell weighs what its count
    clearly exceeds the noise by, and its mean leaves its place by the share of signal in it.
    """
    counts, sums = finite(released.counts), finite(released.sums)
    queried = ~np.isnan(cells[..., 0])
    weights = np.where(queried, np.maximum(counts - CLEAR * released.counts_sd[:, None], 0.0), 0.0)
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0.0, weights, queried)
    there = counts > TINY
    safe = np.where(there, counts, 1.0)
    noise = released.counts_sd[:, None] ** 2 + cells.shape[2] * released.sums_sd[:, None] ** 2
    trust = np.where(there, safe**2 / (safe**2 + noise), 0.0)[..., None]
    middle = np.nan_to_num(cells)
    return middle + trust * (sums / safe[..., None] - middle), weights


def clustered(points: Array, weights: Array, components: int, seed: int) -> Array:
    """Centres ``(B, K, d)`` of weighted points ``(B, M, d)`` by k-means, the best of several
    tries: free of charge, where the points were released."""
    runs, number, dim = points.shape
    rng = np.random.default_rng([seed, components, dim, 5])
    coins = [(rng.random(), int(rng.integers(number))) for _ in range(TRIES * components)]
    every = np.repeat(np.reshape(coins, (TRIES, 1, components, 2)), runs, axis=1)
    best, cost = np.zeros((runs, components, dim)), np.full(runs, np.inf)
    together = max(1, AT_ONCE // (runs * number * components))
    for at in range(0, TRIES, together):
        some = every[at : at + together]
        copies = np.tile(points, (len(some), 1, 1)), np.tile(weights, (len(some), 1))
        places, new_cost = _tried(*copies, components, some.reshape(-1, components, 2))
        shape = len(some), runs, components, dim
        for after, lower in zip(places.reshape(shape), new_cost.reshape(shape[:2]), strict=True):
            better = lower < cost
            best[better], cost = after[better], np.minimum(lower, cost)
    return best


def _tried(points: Array, weights: Array, components: int, coins: Array) -> tuple[Array, Array]:
    """The same by one try each, with the cost ``(B,)`` before its last step; see
    :func:`_plus_plus`."""
    centres, moving = _plus_plus(points, weights, components, coins), np.arange(len(points))
    cost = np.empty(len(points))
    for _ in range(ROUGH_STEPS):
        before = centres[moving]
        after, cost[moving] = _weighted_step(points[moving], weights[moving], before)
        centres[moving] = after
        moving = moving[np.any(after != before, axis=(1, 2))]  # the others stay for ever
        if not moving.size:
            break
    return centres, cost


def started(released: NoisyClusters, cells: Array, components: int, seed: int) -> Array:
    """The centres ``(B, K, d)`` that noisy cells suggest."""
    return clustered(*cell_means(released, cells), components, seed)


def mean_of_cells(
    released: NoisyClusters, cells: Array, rows: Array, mean: tuple[Array, Array]
) -> tuple[Array, Array]:
    """What a mean ``(B, d)`` with its noise ``(B,)`` becomes by the sums of all cells."""
    there = ~np.isnan(cells[..., 0])
    total = np.sum(np.where(there[..., None], finite(released.sums), 0.0), axis=1)
    variance = there.sum(axis=1) * (released.sums_sd / rows) ** 2
    return pooled(mean, (total / rows[:, None], variance))


def _plus_plus(points: Array, weights: Array, components: int, coins: Array) -> Array:
    """k-means++ (Arthur, Vassilvitskii 2007) of weighted points ``(B, M, d)`` for every run.

    coins ``(B, K, 2)``: for each centre, the share of the weight at which it is drawn, and which
    point it is where no weight is left.
    """
    runs = np.arange(len(points))
    nearest = np.ones_like(weights)
    chosen = np.empty((len(points), components, points.shape[2]))
    for k in range(components):
        mass = np.cumsum(weights * nearest, axis=1)
        left = mass[:, -1] > 0.0
        target = coins[:, k, 0] * mass[:, -1]
        pick = np.argmax(mass > target[:, None], axis=1)
        pick = np.where(left, pick, coins[:, k, 1].astype(np.intp))
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


@dataclass(frozen=True)
class Search:
    """Centres on their way, as B runs see them from the middle of their balls.

    places ``(B, K, d)`` and the noise in each of their coordinates, as a variance ``(B, K)``; of
    the start it counts as 0. shares ``(B, K)`` of the rows. mean ``(B, d)``: of all rows, and its
    noise ``(B,)``. spread ``(B,)``: deviation of a row in a coordinate. single ``(B,)``: runs in
    which noise leaves the mean alone to be seen, so it is all that they ask for. around
    ``(B, K, d)``: where centres are then put, from the mean. All are worked out from what was
    released.
    """

    places: Array
    variance: Array
    shares: Array
    mean: Array
    mean_variance: Array
    spread: Array
    single: Mask
    around: Array

    @classmethod
    def begun(
        cls,
        places: Array,
        mean: tuple[Array, Array],
        spread: Array,
        single: Mask,
        around: Array,
    ) -> Search:
        """From the places that cells suggest ``(B, K, d)``; mean: with its noise."""
        shares = np.full(places.shape[:2], 1.0 / places.shape[1])
        return cls(places, np.zeros_like(shares), shares, *mean, spread, single, around)

    @property
    def components(self) -> int:
        """Centres: K."""
        return int(self.places.shape[1])

    def targets(self) -> Array:
        """The centres ``(B, K, d)`` to ask for next; NaN attracts nobody."""
        late = self.single[:, None] & (np.arange(self.components) > 0)
        return np.where(late[..., None], np.nan, self.places)

    def steadied(self) -> Array:
        """The centres ``(B, K, d)``, drawn towards the mean of all rows by the noise in them.

        Of their mean square distance E from it, N is noise and the rest signal. The mean of a group
        is best guessed at the share ``1 - N/E`` of the way (James and Stein 1961). But centres at
        random do good too: K of them at a distance l bring rows with deviation s in a coordinate
        nearer by up to ``2 l s c - l^2``, c the largest of K normal numbers on average, which is
        most at ``l = s c``. So the share is ``(E - N + s c sqrt N)/E``, and no more than 1. (Of c,
        :data:`OF_CHANCE` is counted: rows of groups spread less than all rows.) Where the mean
        alone is to be seen, centres are put around it: see :func:`scatter`.
        """
        dim = self.places.shape[2]
        away = self.places - self.mean[:, None]
        square = np.sum(self.shares * np.sum(away * away, axis=2), axis=1)
        within_groups = np.sum(self.shares * self.variance, axis=1)
        noise = dim * (1.0 - 1.0 / self.components) * within_groups
        by_chance = OF_CHANCE * largest_of(self.components) * self.spread
        signal = np.maximum(square - noise, 0.0) + by_chance * np.sqrt(noise)
        share = np.minimum(1.0, signal / np.maximum(square, TINY * TINY))
        share = np.where(noise > 0.0, share, 1.0)
        away = np.where(self.single[:, None, None], self.around, share[:, None, None] * away)
        return np.asarray(self.mean[:, None] + away)

    def after(self, released: NoisyClusters, rows: Array) -> Search:
        """Lloyd's step on noisy counts and sums; the plain one when the noise is zero.

        rows ``(B,)``: their number, public or released. It corrects, by amounts that vanish with
        the noise: (1) counts are shifted to add up to the number of rows, and sums to what all
        releases say of their total; (2) a centre moves by the share of signal in what is released
        of it, where a group is expected to be off by half of the rows' spread.
        """
        used = ~(self.single[:, None] & (np.arange(self.components) > 0))
        number, dim = used.sum(axis=1), self.places.shape[2]
        counts = np.where(used, finite(released.counts), 0.0)
        sums = np.where(used[..., None], finite(released.sums), 0.0)
        mean, mean_variance = pooled(
            (self.mean, self.mean_variance),
            (sums.sum(axis=1) / rows[:, None], number * (released.sums_sd / rows) ** 2),
        )
        counts = counts + ((rows - counts.sum(axis=1)) / self.components)[:, None]
        sums = sums + (rows[:, None] * mean - sums.sum(axis=1))[:, None] / self.components
        least = TINY * np.maximum(rows, 1.0)[:, None]
        counts = np.maximum(counts, least)
        empty = counts <= least  # nobody is in the group: its centre stays
        moved = np.where(empty[..., None], self.places, sums / counts[..., None])
        size = np.minimum(np.sum(moved * moved, axis=2) / dim, 1.0)
        noise = released.sums_sd[:, None] ** 2 + size * released.counts_sd[:, None] ** 2
        signal = 0.5 * self.spread[:, None] ** 2 * counts**2
        trust = np.where(noise > 0.0, signal / np.maximum(signal + noise, TINY * least**2), 1.0)
        places = self.places + trust[..., None] * (moved - self.places)
        variance = (1.0 - trust) ** 2 * self.variance + trust**2 * noise / counts**2
        shares = counts / counts.sum(axis=1, keepdims=True)
        return replace(
            self,
            places=places,
            variance=variance,
            shares=shares,
            mean=mean,
            mean_variance=mean_variance,
        )


OF_CHANCE = 0.7
WARY = 0.8  # of the distance at which centres put around a mean would do most good
BETTER = 1.05  # times as good are places at several distances, where they are chosen


@cache
def scatter(components: int, dim: int, seed: int) -> tuple[Array, float]:
    """Data-free places ``(K, d)`` around a mean from which rows have the mean distance 1, and the
    square distance that they save.

    A row at a distance r, in the direction u, is brought nearer by ``2 r l u a - l^2`` in square by
    a centre at the distance l in the direction a; K of them save ``2 l m E[r] - l^2`` on average,
    m the mean over all u of the largest ``u a``, and most at ``l = m E[r]``: ``(m E[r])^2``. So of
    all that is known of the distances their mean alone counts, which a few rows far out hardly
    move. Over directions turned at random this is true of any rows. Many centres in few columns do
    better at several distances: there they are the centres of a round normal cloud.
    """
    rows, others = np.random.default_rng([seed, dim, 6]).standard_normal((2, CANDIDATES, dim))
    around = directions(components, dim, seed)
    cosines = others @ around.T / np.linalg.norm(others, axis=1, keepdims=True)
    most = float(cosines.max(axis=1).mean())
    if components > dim + 1:
        usual = round_distance(dim)
        middles = clustered(rows[None] / usual, np.ones((1, CANDIDATES)), components, seed)[0]
        middles = middles - middles.mean(axis=0)
        saved = 2.0 * others / usual @ middles.T - np.sum(middles * middles, axis=1)
        gain = float(saved.max(axis=1).mean())
        if gain > BETTER * most**2:
            return middles, gain
    return most * around, most**2


def round_distance(dim: int) -> float:
    """Mean distance of round normal rows of deviation 1 from their mean.

    >>> round(round_distance(2), 3), round(round_distance(50) / math.sqrt(50), 3)
    (1.253, 0.995)
    """
    return math.sqrt(2.0) * math.exp(math.lgamma((dim + 1) / 2) - math.lgamma(dim / 2))


def directions(components: int, dim: int, seed: int) -> Array:
    """Data-free unit vectors ``(K, d)``, far apart; zeros for one."""
    points = np.random.default_rng([seed, dim, 4]).standard_normal((CANDIDATES, dim))
    chosen = farthest_first(points / np.linalg.norm(points, axis=1, keepdims=True), components, 0)
    chosen = chosen - chosen.mean(axis=0)
    return np.asarray(chosen / np.maximum(np.linalg.norm(chosen, axis=1, keepdims=True), TINY))


def largest_of(count: int) -> float:
    """The largest of so many independent normal numbers on average, to within 5% (Blom 1958).

    >>> round(largest_of(3), 2), largest_of(1)
    (0.87, 0.0)
    """
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25))


def pooled(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """Two estimates ``(B, d)`` of one thing, each with the variance ``(B,)`` of its noise, as one;
    where neither has noise, the second.

    >>> first, second = np.array([1.0]), np.array([0.5])
    >>> mean, variance = pooled((np.array([[0.0]]), first), (np.array([[3.0]]), second))
    >>> mean.round(3).tolist(), variance.round(3).tolist()
    ([[2.0]], [0.333])
    """
    total = first[1] + second[1]
    share = np.where(total > 0.0, first[1] / np.where(total > 0.0, total, 1.0), 1.0)
    return first[0] + share[:, None] * (second[0] - first[0]), (1.0 - share) * first[1]


def published_step(released: NoisyClusters, *, ball: bool) -> Centres:
    """DPLloyd's step, and DP-EM's (section 7): noisy sums over noisy counts, put in the bounds."""
    counts, sums = finite(released.counts), finite(released.sums)
    safe = np.maximum(counts, LEAST_COUNT)
    shares = safe / safe.sum(axis=-1, keepdims=True)
    return Centres(within(sums / safe[..., None], ball, 1.0), shares)
