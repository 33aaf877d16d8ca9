r"""Where a proved network begins: at the mean and second moments of all rows, released once.

A network's own sums have a coordinate for each pixel and pair of hidden units, and noise in all of
them. Second moments have one for each pair of pixels, and they show all hidden units together. Rows
that have such moments are drawn here, those of normal scores with as many factors as there are
hidden units, cut at a level for each pixel; the network of these rows is fitted without further
noise. Everything here reads released numbers.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logit, ndtr, ndtri

from dpcore.arrays import Array
from dpcore.models.shared.moments import TINY, finite
from dpcore.models.shared.second_moments import AllRows, Ellipsoid
from dpcore.models.shared.threads import one_thread
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.models.sigmoid_belief.mathematics import Posterior, Sums
from dpcore.wall.statistics import NoisyClusters

FARTHEST = 1e6  # of two means of shares from each other: products stay finite
SURE = 2.0  # deviations of a sum of squares of noise
DRAWN = 3000  # rows with the released moments
STEPS = 10  # on these rows
ROUNDS = 30  # of what factors explain of each pixel
MOST_EXPLAINED = 0.95  # of a pixel's variance by factors
STRONGEST = 0.97  # of two scores' correlation
HALVINGS = 20  # of the range of a correlation
SLOPE = 1.6  # log odds of a normal score's deviation
SPREAD = 0.5  # least deviation of the rest of a score that a first weight is measured in


@one_thread()
def beginnings(
    pixels: NoisyClusters, released: AllRows, ball: Ellipsoid | None, hidden: int, seed: int
) -> list[tuple[Posterior, Sums]]:
    """Each run's network, and the sums that it was made of; total.

    pixels: sums of rows of -1 and 1. released: their moments, in the coordinates of a ball where
    there is one. seed: of the rows that are drawn, public.
    """
    runs, visible = released.mean.shape
    if ball is None:
        ball = Ellipsoid(np.zeros((runs, visible)), np.ones((runs, 1)))
    begun = []
    for run in range(runs):
        rows, scale = max(float(released.rows[run]), 1.0), float(ball.axes[run, 0]) / 2.0
        mean = finite(released.mean[run], 1.0 / scale)
        middle, sd = ball.middle[run] / 2.0, scale * float(released.mean_sd[run])
        about, other = middle + scale * mean, finite(pixels.sums[run, 0]) / (2.0 * rows)
        other_sd = float(pixels.sums_sd[run]) / (2.0 * rows)
        whole = max(math.hypot(sd, other_sd), TINY)
        apart = np.clip(other - about, -FARTHEST, FARTHEST)
        moved = (sd / whole) ** 2 * apart
        share = belief.shares(rows * (about + moved), rows * sd * other_sd / whole, rows)
        # An error of the mean looks like a factor. But clipped rows have a mean of their own.
        most = whole**2 * (visible + SURE * math.sqrt(2.0 * visible))  # that noise makes of it
        by_noise = min(1.0, most / max(float(apart @ apart), TINY)) ** 3
        away = scale * mean + by_noise * moved
        second = finite(released.second_moment[run], 1.0 / scale**2)
        covariance = scale**2 * second - np.outer(away, away)
        noise = scale**2 * float(released.sd[run]) / math.sqrt(2.0)
        loadings = _loadings(covariance, share, noise, rows, hidden)
        drawn = _rows(loadings, share, np.random.default_rng([seed, hidden, visible, 11]))
        begun.append(_network(drawn, _first(loadings, share), rows))
    return begun


def _loadings(covariance: Array, share: Array, noise: float, rows: float, factors: int) -> Array:
    """Loadings ``(J, K)`` of scores whose cut rows have a covariance ``(J, J)``.

    noise: deviation of that in an entry beside the diagonal.

    Eigenvalues that noise or a sample of so many rows explains become 0.
    """
    variance = share * (1.0 - share)
    edge = 2.0 * math.sqrt(len(share)) * math.hypot(noise, float(np.mean(variance)) / rows**0.5)
    low = _factors(covariance, MOST_EXPLAINED * variance, edge, factors)
    least = np.maximum(share[:, None] + share - 1.0, 0.0)
    both = np.clip(low @ low.T + np.outer(share, share), least, np.minimum(share[:, None], share))
    correlation = _correlation(both, share)
    return _turned(_factors(correlation, np.full(len(share), MOST_EXPLAINED), 0.0, factors))


def _factors(matrix: Array, most: Array, edge: float, factors: int) -> Array:
    """Loadings ``(J, K)`` whose products are the entries of a matrix beside its diagonal, and whose
    squares add up to at most ``(J,)`` for each row; edge: the largest eigenvalue of noise."""
    explained, loadings = most / 3.0, np.zeros((len(most), factors))
    beside = matrix - np.diag(np.diag(matrix))
    for _ in range(ROUNDS):
        values, vectors = np.linalg.eigh(beside + np.diag(explained))
        values, vectors = values[-factors:], vectors[:, -factors:]
        left = np.sqrt(np.maximum(values * np.abs(values) - edge**2, 0.0))
        loadings[:, : len(values)] = vectors * np.sqrt(left)
        square = np.sum(loadings**2, axis=1)
        explained = np.minimum(square, most)
    return np.asarray(loadings * np.sqrt(explained / np.maximum(square, 1e-300))[:, None])


def _correlation(both: Array, share: Array) -> Array:
    """Correlations ``(J, J)`` of normal scores that are below levels, each with its share ``(J,)``
    of the time, together with chance ``(J, J)``."""
    level = ndtri(share)
    low, high = np.full(both.shape, -STRONGEST), np.full(both.shape, STRONGEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        below = _together(level, middle) < both
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2.0)


def _together(level: Array, correlation: Array) -> Array:
    """Chance ``(J, J)`` that two normal scores are both below their levels ``(J,)``: its derivative
    in the correlation is their density there."""
    chance = np.outer(ndtr(level), ndtr(level))
    squares, product = (level**2)[:, None] + level**2, np.outer(level, level)
    for place, weight in zip(*np.polynomial.legendre.leggauss(10), strict=True):
        at = correlation * (place + 1.0) / 2.0
        left = 1.0 - at**2
        density = np.exp((at * product - squares / 2.0) / left) / (2.0 * np.pi * np.sqrt(left))
        chance += correlation / 2.0 * weight * density
    return chance


def _turned(loadings: Array) -> Array:
    """The same factors, turned so that each moves few pixels (varimax, Kaiser 1958), mostly down:
    a low score lights a pixel."""
    turn = np.eye(loadings.shape[1])
    for _ in range(ROUNDS):
        now = loadings @ turn
        left, _, right = np.linalg.svd(loadings.T @ (now**3 - now * np.mean(now**2, axis=0)))
        turn = left @ right
    now = loadings @ turn
    return np.asarray(now * np.where(now.sum(axis=0) < 0.0, -1.0, 1.0))


def _rows(loadings: Array, share: Array, rng: np.random.Generator) -> Array:
    """Rows of 0 and 1 ``(n, J)``, cut from normal scores."""
    factors = rng.standard_normal((DRAWN, loadings.shape[1]))
    rest = np.sqrt(np.maximum(1.0 - np.sum(loadings**2, axis=1), 0.0))
    scores = factors @ loadings.T + rest * rng.standard_normal((DRAWN, len(share)))
    return np.asarray(scores < ndtri(share), dtype=float)


def _first(loadings: Array, share: Array) -> Posterior:
    """A guess whose hidden units are the signs of the factors."""
    rest = np.sqrt(np.maximum(1.0 - np.sum(loadings**2, axis=1), SPREAD**2))
    weights = SLOPE * loadings / rest[:, None]
    bias = logit(share) - weights.sum(axis=1) / 2.0
    return belief.fixed(weights, bias, np.zeros(weights.shape[1]))


def _network(drawn: Array, network: Posterior, rows: float) -> tuple[Posterior, Sums]:
    """The network of drawn rows ``(n, J)`` that stand for so many rows."""
    for _ in range(STEPS - 1):
        network = belief.m_step(belief.sums_over(drawn, network, rows), network)
    sums = belief.sums_over(drawn, network, rows)
    return belief.m_step(sums, network), sums
