"""What counts tell about a chance, and along which line two clouds differ most.

Clopper, Pearson 1934 for intervals that hold whatever the chance is; Fisher 1936 for the line. Both
serve everybody who attacks: audits, and the page's game of guessing one person's row.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from dpcore.accounting.base import real
from dpcore.arrays import Array
from dpcore.privacy.events import Real

RIDGE = 1e-6


def rate_bounds(hits: int, runs: int, confidence: float) -> tuple[float, float]:
    """Two-sided Clopper-Pearson interval of a rate.

    >>> low, high = rate_bounds(50, 100, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.398, 0.602)
    """
    tail = (1.0 - confidence) / 2.0
    return float(rate_at_least(hits, runs, tail)), float(rate_at_most(hits, runs, tail))


def rate_at_least(hits: Real, runs: int, tail: float) -> Real:
    """Lower Clopper-Pearson end of a rate: above the true one with a probability of at most
    ``tail``.

    hits: counts of 0 to ``runs``, any shape, which the answer has too. Source: Clopper, Pearson
    1934.
    """
    counts = np.asarray(hits, dtype=float)
    inside = np.maximum(counts, 1e-9)
    return real(np.where(counts > 0.0, betaincinv(inside, runs - inside + 1.0, tail), 0.0))


def rate_at_most(hits: Real, runs: int, tail: float) -> Real:
    """Upper Clopper-Pearson end of a rate: below the true one with a probability of at most
    ``tail``.

    hits: counts of 0 to ``runs``, any shape, which the answer has too. Source: Clopper, Pearson
    1934.
    """
    missed = runs - np.asarray(hits, dtype=float)
    return real(1.0 - np.asarray(rate_at_least(missed, runs, tail)))


def fisher_direction(first: Array, second: Array) -> Array:
    """Fisher's linear discriminant ``(p,)`` between two clouds ``(runs, p)``, whose columns are of
    comparable size.

    It solves the pooled scatter, plus a small ridge, against the difference of the means.
    """
    inside = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
    scatter = inside.T @ inside / len(inside)
    gap = second.mean(axis=0) - first.mean(axis=0)
    return np.asarray(np.linalg.solve(scatter + RIDGE * np.eye(len(gap)), gap))
