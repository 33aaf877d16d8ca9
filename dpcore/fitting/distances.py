"""How far rows lie from their mean, as a release says: noisy counts of rows by their distance.

Covariances and k-means need them to find the ball in which rows are clipped. They have left by
then, so the fit keeps them: they tell of long tails, which a covariance does not show, and of how
far rows lie from their centres. All that is done with them is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpcore.arrays import Array

if TYPE_CHECKING:
    from dpcore.fitting.result import Fit

TINY = 1e-12
EDGES = 16  # of the bins, in every release
SURE = 1.0  # times the noise: what a difference from expected counts must exceed to count
SKEW = 0.4  # of drawn columns: deviation of the logarithm of what is normal
HIGH = 0.25  # of half the distance between the limits: above it a mean is near the upper one


@dataclass(frozen=True)
class Distances:
    """Noisy counts ``(..., J + 1)`` of rows by their distance from their mean, in public unit
    coordinates.

    edges ``(..., J)``: rising; the last bin is what lies beyond. sd ``(...)``: deviation of the
    noise in a count. With a leading axis of runs, or of one run.
    """

    edges: Array
    counts: Array
    sd: Array

    def at(self, run: int) -> Self:
        """Those of one run out of several."""
        return type(self)(self.edges[run], self.counts[run], self.sd[run])

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, of one run."""
        return {
            "edges": self.edges.tolist(),
            "counts": self.counts.tolist(),
            "noise": float(self.sd),
        }

    @classmethod
    def read(cls, record: Mapping[str, Any] | None) -> Self | None:
        """From what :meth:`as_dict` wrote; ``None`` of ``None``, as in older dossiers.

        Raises KeyError where a part is missing, ValueError for parts that do not fit together.
        """
        if record is None:
            return None
        edges, counts = (np.array(record[name], dtype=float) for name in ("edges", "counts"))
        sd = float(record["noise"])
        finite = np.isfinite(edges).all() and np.isfinite(counts).all() and math.isfinite(sd)
        fits = edges.shape == (EDGES,) and counts.shape == (EDGES + 1,)
        rising = fits and edges[0] > 0.0 and np.all(np.diff(edges) > 0.0)
        if not (finite and rising and sd > 0.0):
            raise ValueError("distances that no release writes")
        return cls(edges, counts, np.array(sd))

    def rows(self, fit: Fit) -> float:
        """How many rows of a fit were counted: what is public, or what the counts add up to."""
        return float(max(1.0, np.sum(self.counts)) if fit.rows is None else fit.rows)

    def like_rows(self, normal: Array, mean: Array, rows: float, skew: float = SKEW) -> Array:
        """Rows ``(n, d)`` as far from their mean as the counts say; normal: rows drawn about
        ``mean (d,)`` from a normal law, all in unit coordinates.

        rows: how many were counted. Beyond the fullest bin of the normal rows, shares that never
        rise are fitted to the counts, as tails fall off and noise does not (isotonic regression:
        Barlow, Bartholomew, Bremner, Brunk 1972). A share leaves that of the normal rows only by
        what exceeds :data:`SURE` times its noise. Which way tails point is not known. Clipping
        moves most what is skewed, so columns become lognormal, with the tail towards the upper
        limit, or the lower where the mean is near the upper; skew: deviation of their logarithms, 0
        to leave rows where they are but for the distance.
        """
        away = normal - mean
        far = np.sort(np.linalg.norm(away, axis=1))
        own = np.bincount(np.searchsorted(self.edges, far), minlength=len(self.counts)) / len(far)
        laws = [_cumulated(law) for law in (own, self._shares(own, rows))]
        cuts = np.log([self.edges[0] / 4.0, *self.edges, 2.0 * self.edges[-1]])
        rank = (np.arange(len(far)) + 0.5) / len(far)
        before, after = (np.interp(rank, law, cuts) for law in laws)
        scale = skew * np.where(mean > HIGH, -1.0, 1.0) / np.maximum(np.std(away, axis=0), TINY)
        skewed = np.expm1(away * scale - skew**2 / 2.0) / scale if skew else away
        length = np.linalg.norm(skewed, axis=1)
        wanted = (far * np.exp(after - before))[np.argsort(np.argsort(length))]
        return np.asarray(mean + skewed * (wanted / np.maximum(length, TINY))[:, None])

    def _shares(self, own: Array, rows: float) -> Array:
        """Shares ``(J + 1,)`` of the rows in the bins, which leave ``own (J + 1,)`` as far as the
        counts of so many rows are no noise."""
        first, shares = int(np.argmax(own)), self.counts / rows
        falling, together = _falling(shares[first:])
        gap = np.concatenate([shares[:first], np.maximum(falling, 0.0)]) - own
        noise = self.sd / rows / np.sqrt(np.concatenate([np.ones(first), together]))
        sure = np.maximum(1.0 - (SURE * noise / np.maximum(np.abs(gap), TINY)) ** 2, 0.0)
        return np.asarray(np.maximum(own + sure * gap, 0.0))


def _falling(shares: Array) -> tuple[Array, Array]:
    """The nearest numbers ``(m,)`` that never rise, and how many of them are one mean ``(m,)``."""
    from scipy.optimize import isotonic_regression

    nearest = isotonic_regression(shares, increasing=False)
    sizes = np.diff(nearest.blocks)
    return np.asarray(nearest.x), np.repeat(sizes, sizes).astype(float)


def _cumulated(shares: Array) -> Array:
    """Shares ``(m,)`` up to each cut ``(m + 1,)``, rising throughout."""
    total = np.concatenate([[0.0], np.cumsum(shares)])
    rising = total / max(float(total[-1]), TINY) + TINY * np.arange(len(total))
    return np.asarray(rising / rising[-1])
