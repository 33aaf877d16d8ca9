"""How far rows reach, from a noisy histogram of their distances, and where it is best to clip them.

The noise in a sum grows with the radius to which rows are clipped; what clipping takes away grows
as it shrinks. Both can be told from a histogram of distances, whose noise knows no dimension. All
of it reads released counts alone, and is total.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpcore.models.shared.moments import finite

Array = NDArray[np.float64]

OCTAVES = tuple((np.arange(-12, 4) / 3.0).tolist())  # edges of the bins, in powers of 2
USUAL_SD = 0.6  # octaves by which the usual distance is off
MISFIT = 0.02  # share of the rows by which a bin differs from what a smooth law says


@dataclass(frozen=True)
class Reach:
    """Shares ``(B, J + 1)`` of the rows by their distance from a middle.

    edges ``(J,)``: rising; the last bin lies between the last edge and the same again. square
    ``(B,)``: mean square of a distance, as a smooth law has it: a little noise in the share of the
    farthest rows would be a large part of it.
    """

    shares: Array
    edges: Array
    square: Array

    def radius(self, noise: Array) -> Array:
        """The edge ``(B,)`` at which clipping costs a mean the least square error.

        noise ``(B,)``: length of the noise in a mean of rows clipped to radius 1. What clipping
        takes from the mean is at most what it takes from the distances. Without noise: the least
        edge that no row exceeds.
        """
        cost = self._taken() ** 2 + noise[:, None] ** 2 * self.edges**2
        return np.asarray(self.edges[np.argmin(cost, axis=1)])

    def taken(self, radius: Array) -> Array:
        """At most what clipping to one of the edges ``(B,)`` takes from the mean ``(B,)``."""
        at = np.searchsorted(self.edges, radius)
        return np.asarray(np.take_along_axis(self._taken(), at[:, None], axis=1)[:, 0])

    def _taken(self) -> Array:
        """What clipping to each edge ``(B, J)`` takes from the distances on average."""
        upper = np.append(self.edges, 2.0 * self.edges[-1])
        return np.asarray(self.shares @ np.maximum(upper[:, None] - self.edges, 0.0))


def edges(whole: float) -> Array:
    """Of the bins: from a sixteenth of the public radius to twice as much."""
    return np.asarray(whole * 2.0 ** np.array(OCTAVES))


def reach(counts: Array, sd: Array, rows: Array, whole: float, usual: float) -> Reach:
    """What noisy counts ``(B, J + 1)`` of rows ``(B,)`` by :func:`edges` say.

    sd ``(B,)``: noise in a count. usual: distance, as a share of the public radius, that is
    expected of rows nobody has seen. Smooth laws of the logarithm of a distance are weighed by how
    well they agree with the counts; then each bin leaves their mean by the share of signal in it.
    Exact counts stay.
    """
    laws, octaves = _laws()
    observed, noise = finite(counts) / rows[:, None], (sd / rows)[:, None]
    lack = np.sum((observed[:, None] - laws) ** 2, axis=2) / (2.0 * (noise**2 + MISFIT**2))
    log = -lack - (octaves - math.log2(usual)) ** 2 / (2.0 * USUAL_SD**2)
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    expected = weight @ laws / weight.sum(axis=1, keepdims=True)
    trust = MISFIT**2 / (MISFIT**2 + noise**2)
    shares = np.maximum(expected + trust * (observed - expected), 0.0)
    total = shares.sum(axis=1, keepdims=True)
    shares = np.where(total > 0.0, shares / np.where(total > 0.0, total, 1.0), expected)
    cuts = np.concatenate([[0.0], edges(whole), [2.0 * edges(whole)[-1]]])
    square = expected @ ((cuts[1:] + cuts[:-1]) / 2.0) ** 2
    return Reach(shares, edges(whole), square)


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
