"""How far rows reach, from a noisy histogram of their distances, and where it is best to clip them.

The noise in a sum grows with the radius to which rows are clipped; what clipping takes away grows
as it shrinks. Both can be told from a histogram of distances, whose noise knows no dimension. All
of it reads released counts alone, and is total.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cache
from statistics import NormalDist

import numpy as np

from dpcore.arrays import Array, Indices, Mask
from dpcore.models.shared.moments import TINY, finite

OCTAVES = tuple((np.arange(-12, 4) / 3.0).tolist())  # edges of the bins, in powers of 2
OBSERVED, STEADY = (1.0, 0.0), (0.0, 1.0)  # weights of the shares by which a radius is chosen
USUAL_SD = 0.6  # octaves by which the usual distance is off
MISFIT = 0.02  # share of the rows by which a bin differs from what a smooth law says
SURE = 2.5  # times the noise: from here on a bin's difference from a smooth law counts for squares
FINE = 4  # points in each bin, and radii between two edges, where squares are clipped
LEFT_BIAS = 0.3  # of the nats that clipping squares costs, once the mean square is put right
MOST_NATS = 0.5  # a column, that noise costs: by then nothing but its size is believed


@dataclass(frozen=True)
class Clip:
    """Where squares are clipped: radius ``(B,)``, the share ``(B,)`` of the mean square that is
    left, and what clipping and noise cost together ``(B,)``, in nats a row."""

    radius: Array
    left: Array
    nats: Array


@dataclass(frozen=True)
class Reach:
    """Shares ``(B, J + 1)`` of the rows by their distance from a middle.

    edges ``(B, J)``: rising; the last bin lies between the last edge and the same again. square
    ``(B,)``: mean square of a distance, as a smooth law has it: a little noise in the share of the
    farthest rows would be a large part of it. steady ``(B, J + 1)``: shares of the smooth law,
    moved towards the observed ones only in bins that differ by more than noise explains. noise
    ``(B, J + 1)``: deviation of the noise that is left in those, 0 in the other bins.
    """

    shares: Array
    edges: Array
    square: Array
    steady: Array
    noise: Array

    def radius(self, noise: Array, weights: tuple[float, float] = OBSERVED) -> Array:
        """The edge ``(B,)`` at which clipping costs a mean the least square error.

        noise ``(B,)``: length of the noise in a mean of rows clipped to radius 1. What clipping
        takes from the mean is at most what it takes from the distances. weights: of what it takes
        by the shares as observed, in which noise makes up rows far away, and by the steady shares,
        which know of no rows so few that noise hides them. As observed, without noise: the least
        edge that no row exceeds.
        """
        points, shares = self.points()
        steady = _product(shares, np.maximum(points[:, :, None] - self.edges[:, None], 0.0))
        taken = weights[0] * self._taken() ** 2 + weights[1] * steady**2
        cost = taken + noise[:, None] ** 2 * self.edges**2
        return _at(self.edges, np.argmin(cost, axis=1))

    def holding(self, share: float) -> Array:
        """The edge ``(B,)`` within which a share of the rows lies, by the steady shares."""
        inside = np.cumsum(self.steady, axis=1)[:, :-1] >= share
        return np.where(inside.any(axis=1), _at(self.edges, np.argmax(inside, axis=1)), np.inf)

    def where(self, chosen: Mask, other: Reach) -> Reach:
        """The same, but the other in chosen runs ``(B,)``."""
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return Reach(
            *(
                np.where(chosen.reshape(-1, *(1,) * (mine.ndim - 1)), theirs, mine)
                for mine, theirs in pairs
            )
        )

    def taken(self, radius: Array) -> Array:
        """At most what clipping to one of the edges ``(B,)`` takes from the mean ``(B,)``."""
        return _at(self._taken(), np.sum(self.edges < radius[:, None], axis=1))

    @property
    def steady_square(self) -> Array:
        """Mean square ``(B,)`` of a distance by the steady shares."""
        points, shares = self.points()
        return np.asarray(np.sum(shares * points**2, axis=1))

    def clip_squares(
        self,
        noise: Array,
        spread: Array,
        dim: int,
        crossing: float,
        caution: float = LEFT_BIAS,
    ) -> Clip:
        """Where it is best to clip rows whose mean and second moments are released.

        noise ``(B,)``: deviation in a diagonal entry of the mean of squares of rows clipped to 1.
        spread ``(B,)``: mean square of a row's distance from the mean of all, which is less than
        from any other middle. crossing: how many times larger the variance of noise in a
        coordinate of the mean is, at that radius. caution: weight of what clipping costs.

        A matrix that clipping leaves too small by a factor 1/r costs ``d (r - 1 - log r) / 2``; it
        is put right by r, so :data:`LEFT_BIAS` of that stays. Noise of s in each entry of a round
        shape of variance v costs ``d (d + 1) s^2 / 8 v^2``, and as much more as the noise of the
        mean adds through ``mean mean'``. Without noise: a radius that no row exceeds.
        """
        points, shares = self.points()
        finer = 2.0 ** (-np.arange(FINE) / (3.0 * FINE))
        radii = np.sort((self.edges[:, :, None] * finer).reshape(len(self.edges), -1), axis=1)
        square = self.steady_square
        clipped = _product(shares, np.minimum(points[:, :, None], radii[:, None]) ** 2)
        left = clipped / np.maximum(square, TINY)[:, None]
        short = 1.0 / np.maximum(left, TINY)
        spread = np.maximum(spread, TINY)
        beyond = np.maximum(square - spread, 0.0)[:, None]
        bias = dim / 2 * (short - 1.0 - np.log(short)) * (square / spread)[:, None] ** 2
        entry = noise[:, None] * short * radii**2 * dim / spread[:, None]
        random = dim * (dim + 1) / 8 * entry**2
        random = random * (1.0 + 4.0 * beyond * crossing / (radii**2 * (dim + 1)))
        nats = caution * bias + random / (1.0 + random / (MOST_NATS * dim))
        at = np.argmin(nats, axis=1)
        return Clip(_at(radii, at), _at(left, at), _at(nats, at))

    def points(self) -> tuple[Array, Array]:
        """Distances ``(B, M)`` in all bins, and the steady shares ``(B, M)`` of the rows there."""
        edges = self.edges
        low = np.concatenate([edges[:, :1] / 2.0, edges], axis=1)[..., None]
        high = np.concatenate([edges, edges[:, -1:] * 2.0 ** (1 / 3)], axis=1)[..., None]
        within = (np.arange(FINE) + 0.5) / FINE
        points = (low * (high / low) ** within).reshape(len(edges), -1)
        return points, np.repeat(self.steady / FINE, FINE, axis=1)

    def _taken(self) -> Array:
        """What clipping to each edge ``(B, J)`` takes from the distances on average."""
        upper = np.concatenate([self.edges, 2.0 * self.edges[:, -1:]], axis=1)
        return _product(self.shares, np.maximum(upper[:, :, None] - self.edges[:, None], 0.0))


def edges(whole: float) -> Array:
    """Of the bins, ``(J,)``: from a sixteenth of a radius to twice as much."""
    return np.asarray(whole * 2.0 ** np.array(OCTAVES))


def reach(
    counts: Array, sd: Array, rows: Array, whole: Array | float, usual: Array | float
) -> Reach:
    """What noisy counts ``(B, J + 1)`` of rows ``(B,)`` by :func:`edges` of a radius say, which is
    ``(B,)`` or one for all runs.

    sd ``(B,)``: noise in a count. usual: distance, as a share of the radius, that is expected of
    rows nobody has seen, ``(B,)`` or one for all runs. Smooth laws of the logarithm of
    a distance are weighed by how well they agree with the counts; then each bin leaves their mean
    by the share of signal in it. Exact counts stay.
    """
    laws, octaves = _laws()
    observed, noise = finite(counts) / rows[:, None], (sd / rows)[:, None]
    lack = np.sum((observed[:, None] - laws) ** 2, axis=2) / (2.0 * (noise**2 + MISFIT**2))
    away = octaves - np.log2(np.reshape(usual, (-1, 1)))
    log = -lack - away**2 / (2.0 * USUAL_SD**2)
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    expected = _product(weight, laws) / weight.sum(axis=1, keepdims=True)
    trust = MISFIT**2 / (MISFIT**2 + noise**2)
    shares = _shares(expected + trust * (observed - expected), expected)
    bins = np.multiply.outer(np.broadcast_to(whole, rows.shape), 2.0 ** np.array(OCTAVES))
    cuts = np.concatenate([0.0 * bins[:, :1], bins, 2.0 * bins[:, -1:]], axis=1)
    square = np.sum(expected * ((cuts[:, 1:] + cuts[:, :-1]) / 2.0) ** 2, axis=1)
    gap = observed - expected
    sure = np.maximum(1.0 - (SURE * noise / np.maximum(np.abs(gap), TINY)) ** 2, 0.0)
    steady = _shares(expected + sure * gap, expected)
    return Reach(shares, bins, square, steady, np.where(sure > 0.0, noise, 0.0))


def _at(numbers: Array, places: Indices) -> Array:
    """Of each run's numbers ``(B, J)``, that at its place ``(B,)``."""
    return np.asarray(np.take_along_axis(numbers, places[:, None], axis=1)[:, 0])


def _product(weights: Array, rows: Array) -> Array:
    """``weights @ rows``, ``(B, M)`` and ``(M, J)`` or ``(B, M, J)``, of one run alone to the last
    bit the same."""
    return np.asarray(np.sum(weights[:, :, None] * rows, axis=1))


def _shares(numbers: Array, expected: Array) -> Array:
    """Numbers ``(B, J + 1)`` made shares; where none is above 0, what is expected."""
    above = np.maximum(numbers, 0.0)
    total = above.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, above / np.where(total > 0.0, total, 1.0), expected)


@cache
def _laws() -> tuple[Array, Array]:
    """Shares of the bins ``(M, J + 1)`` under normal laws of the logarithm, and their middles."""
    normal, cuts = NormalDist(), (-math.inf, *OCTAVES, math.inf)
    laws, octaves = [], []
    for octave in np.arange(-24, 7) / 6.0:
        for width in (0.12, 0.25, 0.5):
            laws.append(np.diff([_cdf(normal, (cut - octave) / width) for cut in cuts]))
            octaves.append(octave)
    return np.array(laws), np.array(octaves)


def _cdf(normal: NormalDist, at: float) -> float:
    return float(at > 0.0) if math.isinf(at) else normal.cdf(at)
