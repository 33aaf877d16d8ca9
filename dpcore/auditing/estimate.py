"""From two clouds of outputs to a lower bound on privacy loss, with confidence.

Clopper and Pearson 1934 for the two error rates; the conversion of one operating point to Gaussian
differential privacy follows Nasr et al. 2023, *Tight Auditing of Differentially Private Machine
Learning*: a mu-GDP mechanism has ``Phi^-1(true positives) - Phi^-1(false positives) <= mu``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

Array = NDArray[np.float64]


def rate_bounds(hits: int, runs: int, confidence: float) -> tuple[float, float]:
    """Two-sided Clopper-Pearson interval of a rate.

    >>> low, high = rate_bounds(50, 100, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.398, 0.602)
    """
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, tail))
    high = 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, 1.0 - tail))
    return low, high


def separating_direction(one: Array, other: Array) -> Array:
    """Fisher's direction ``(p,)`` between two clouds ``(runs, p)``, in standardised features."""
    both = np.concatenate([one - one.mean(0), other - other.mean(0)])
    spread = np.maximum(both.std(0), 1e-300)
    scatter = (both / spread).T @ (both / spread) / len(both)
    gap = (other.mean(0) - one.mean(0)) / spread
    return np.asarray(np.linalg.solve(scatter + 1e-6 * np.eye(len(gap)), gap) / spread)


def mu_lower_bound(one: Array, other: Array, confidence: float) -> float:
    """Lower bound on the Gaussian-DP mu that tells two clouds of outputs ``(runs, p)`` apart.

    The first half of each cloud picks direction and threshold, the second half is counted, so the
    confidence holds. Never below 0.
    """
    half = len(one) // 2
    direction = separating_direction(one[:half], other[:half])
    threshold = _best_threshold(one[:half] @ direction, other[:half] @ direction)
    tail = 1.0 - (1.0 - confidence) / 2.0  # both rates at once
    rest = len(one) - half
    false, true = (int(np.sum(cloud[half:] @ direction > threshold)) for cloud in (one, other))
    _, false_high = rate_bounds(false, rest, 2 * tail - 1.0)
    true_low, _ = rate_bounds(true, rest, 2 * tail - 1.0)
    return max(0.0, float(ndtri(true_low) - ndtri(false_high)))


def _best_threshold(one: Array, other: Array) -> float:
    """The cut with the largest difference of rates on the training half."""
    cuts = np.quantile(np.concatenate([one, other]), np.linspace(0.02, 0.98, 97))
    gaps = [(other > cut).mean() - (one > cut).mean() for cut in cuts]
    return float(cuts[int(np.argmax(gaps))])
