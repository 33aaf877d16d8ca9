"""From an attacker's scores on two tables to a lower bound on privacy loss, with confidence.

Part of the runs picks a line and a cut, the rest is counted there and nowhere else, so confidence
holds. Two readings of the counts:

- whatever the mechanism: (epsilon, delta) would need ``P(E) <= e^epsilon P'(E) + delta`` for every
  event E, so the two Clopper-Pearson ends give an epsilon that cannot be smaller;
- of normal noise, where every event lies on one curve: ``Phi^-1(P(E)) - Phi^-1(P'(E)) <= mu``
  (Dong, Roth, Su 2022; Nasr et al. 2023, *Tight Auditing of Differentially Private Machine
  Learning*). One point of that curve fixes mu, and mu gives epsilon at any delta.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from dpcore.accounting import epsilon_of
from dpcore.accounting.binomial_bounds import fisher_direction, rate_at_least, rate_at_most
from dpcore.arrays import Array

Reading = Callable[[Array, Array], Array]

LEARNED = 0.2  # share of the runs that picks the cut
MOST = 1000  # cuts that are tried
# Share of the tail where cuts are picked: the best of many is partly luck. Any cut shows all of a
# normal mu, so there one near the middle is picked; other losses show only far out.
STRICTER, MIDDLE = 0.3, 0.01


def epsilon_lower_bound(first: Array, second: Array, delta: float, confidence: float) -> float:
    """Lower bound on epsilon at ``delta`` from outputs or scores ``(runs,)`` or ``(runs, p)`` under
    two neighbouring tables, whatever the mechanism. Never below 0.

    **Guarantee.** Above the true epsilon with a chance of at most ``1 - confidence``: each of the
    two rates leaves its one-sided Clopper-Pearson end with a chance of at most half of that.

    >>> zeros = np.zeros(1000)
    >>> round(epsilon_lower_bound(zeros, zeros + 1.0, 1e-5, 0.95), 2)
    5.38
    """

    def reading(true: Array, false: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(true - delta, 0.0)) - np.log(false))

    return max(0.0, _best(first, second, reading, confidence, STRICTER))


def mu_lower_bound(first: Array, second: Array, confidence: float) -> float:
    """Lower bound on the mu of a Gaussian mechanism, from outputs ``(runs,)`` or
    ``(runs, p)``. Never below 0.

    **Guarantee.** As :func:`epsilon_lower_bound`, for mechanisms that are mu-GDP.
    """

    def reading(true: Array, false: Array) -> Array:
        return np.asarray(ndtri(true) - ndtri(false))

    return max(0.0, _best(first, second, reading, confidence, MIDDLE))


def gaussian_lower_bound(first: Array, second: Array, delta: float, confidence: float) -> float:
    """Lower bound on epsilon at ``delta`` of a mechanism whose noise is normal, from outputs
    ``(runs,)`` or ``(runs, p)``."""
    mu = mu_lower_bound(first, second, confidence)
    return float(epsilon_of(delta, mu)) if mu > 0.0 else 0.0


def separating_direction(first: Array, second: Array) -> Array:
    """Fisher's direction ``(p,)`` between two clouds ``(runs, p)``, in standardised features; what
    is always the same in each cloud keeps its units."""
    both = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
    spread = both.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    return np.asarray(fisher_direction(first / spread, second / spread) / spread)


def _best(
    first: Array, second: Array, reading: Reading, confidence: float, stricter: float
) -> float:
    """The reading at the cut that the first runs pick, from the counts of the rest."""
    learned = max(2, int(LEARNED * min(len(first), len(second))))
    if first.ndim > 1:
        learned = max(
            2, min(len(first), len(second)) // 2
        )  # a line takes more runs than a cut on it
        direction = separating_direction(first[:learned], second[:learned])
        first, second = first @ direction, second @ direction
    # events above a cut or below it, likelier under the second table or under the first
    sides = [(first, second), (-first, -second), (second, first), (-second, -first)]
    picking = stricter * (1.0 - confidence)
    cuts = [_cut(a[:learned], b[:learned], reading, picking) for a, b in sides]
    (_, cut), (a, b) = max(zip(cuts, sides, strict=True), key=lambda pair: pair[0][0])
    true, false = np.array([np.sum(b[learned:] > cut)]), np.array([np.sum(a[learned:] > cut)])
    tail = (1.0 - confidence) / 2.0
    low = np.asarray(rate_at_least(true, len(b) - learned, tail))
    high = np.asarray(rate_at_most(false, len(a) - learned, tail))
    return float(reading(low, high)[0])


def _cut(first: Array, second: Array, reading: Reading, chance: float) -> tuple[float, float]:
    """The cut at which the learning runs alone would show most, and how much.

    Their own intervals, which miss with this chance, keep it from the ends, where a few lucky runs
    promise what the rest breaks.
    """
    tail = chance / 2.0
    every = np.unique(np.concatenate([first, second]))
    cuts = every[np.unique(np.linspace(0, len(every) - 1, MOST).astype(int))]
    true, false = (
        len(c) - np.searchsorted(np.sort(c), cuts, side="right") for c in (second, first)
    )
    low = np.asarray(rate_at_least(true, len(second), tail))
    high = np.asarray(rate_at_most(false, len(first), tail))
    shown = reading(low, high)
    at = int(np.argmax(shown))
    return float(shown[at]), float(cuts[at])
