"""zCDP: every release costs a rho, rhos add, and one conversion at the end gives epsilon.

Bun, Steinke 2016. A Gaussian costs 1/(2 z^2) (Proposition 1.6), a discrete Gaussian no more
(Canonne, Kamath, Steinke 2020, Theorem 4), pure epsilon costs epsilon^2/2
(Proposition 1.4), costs add (Lemma 1.7). Laplace noise of scale b costs min(D1, D2)^2/(2 b^2) for a
vector with L1 and L2 sensitivities D1 >= D2: coordinate by coordinate its log moment at shift s is
at most lambda (lambda + 1) s^2 / 2, and the squares add to D2^2.

Direction: upper bounds. The classic conversion is Proposition 1.3, rho + 2 sqrt(rho ln(1/delta)).
The tight one is Canonne, Kamath, Steinke 2020, Corollary 13: every order alpha > 1 gives

    epsilon(alpha) = alpha rho + (alpha log(1 - 1/alpha) - log(alpha - 1) + ln(1/delta))/(alpha - 1)

and the best order solves rho (alpha - 1)^2 + log(alpha) = ln(1/delta), which one root finds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.accounting.base import (
    Accountant,
    Events,
    check_concentrated,
    inverse_square,
    live,
    log_inverse_of,
    real,
)
from dpcore.arrays import Array
from dpcore.privacy.events import (
    DiscreteGaussian,
    EpsilonDelta,
    Event,
    Gaussian,
    Laplace,
    Real,
)

_PROPOSITIONS = "Bun, Steinke 2016, Propositions 1.3, 1.4, 1.6 and Lemma 1.7"
_NEWTON, _BISECTION = 60, 70


def total_rho(events: Events) -> Real:
    """The sum of the events' costs.

    >>> round(total_rho([Event(Gaussian(5.0), count=100), Event(Laplace(2.0))]), 9)
    2.125
    """
    total = np.zeros(())
    for event in live(events):
        total = total + event.count * _rho(event)
    return real(total)


def _rho(event: Event) -> Array:
    match event.mechanism:
        case Gaussian(noise_multiplier=noise) | DiscreteGaussian(noise_multiplier=noise):
            return 0.5 * inverse_square(noise)
        case Laplace(scale=scale, l2_ratio=ratio):
            return 0.5 * min(1.0, ratio) ** 2 * inverse_square(scale)
        case EpsilonDelta(epsilon=epsilon):
            return np.asarray(0.5 * np.square(epsilon))


def classic_epsilon(rho: Real, delta: Real) -> Real:
    """Epsilon of rho-zCDP at delta: rho + 2 sqrt(rho ln(1/delta)).

    rho: 0 or more; delta: in (0, 1]. Numbers or arrays that broadcast. Source: Bun, Steinke 2016,
    Proposition 1.3.

    >>> round(classic_epsilon(0.5, 1e-5), 4)
    5.2985
    """
    rho, log_inverse = np.asarray(rho, dtype=float), log_inverse_of(delta)
    root = np.sqrt(np.where(rho > 0.0, rho * np.where(rho > 0.0, log_inverse, 0.0), 0.0))
    return real(rho + 2.0 * root)


def classic_delta(rho: Real, epsilon: Real) -> Real:
    """Delta of rho-zCDP at epsilon: exp(-(epsilon - rho)^2 / (4 rho)) above rho, else 1; 0 where
    rho is 0.

    Numbers or arrays that broadcast. Source: Bun, Steinke 2016, Proposition 1.3, solved for delta.
    """
    rho, epsilon = np.broadcast_arrays(np.asarray(rho, float), np.asarray(epsilon, float))
    inside = (rho > 0.0) & (epsilon > rho)
    exponent = np.where(inside, epsilon - rho, 0.0) / (2.0 * np.sqrt(np.where(inside, rho, 1.0)))
    return real(np.where(rho > 0.0, np.exp(-np.square(exponent)), 0.0))


def classic_rho(epsilon: Real, delta: Real) -> Real:
    """The largest rho whose classic conversion meets (epsilon, delta).

    epsilon: 0 or more; delta: in (0, 1). Numbers or arrays that broadcast. Source: Bun, Steinke
    2016, Proposition 1.3, solved for rho.
    """
    log_inverse, epsilon = log_inverse_of(delta), np.asarray(epsilon, dtype=float)
    root = epsilon / (np.sqrt(log_inverse + epsilon) + np.sqrt(log_inverse))
    return real(np.square(root))


def tight_epsilon(rho: Real, delta: Real) -> Real:
    """Smallest epsilon of the tight conversion of rho-zCDP at delta; infinite where rho is above 0
    and delta is 0.

    rho, delta: numbers or arrays that broadcast. Every order gives a valid bound, so the last
    digits of the order cannot make it unsound. Source: Canonne, Kamath, Steinke 2020, Corollary 13.

    >>> round(tight_epsilon(0.5, 1e-5), 3)
    4.728
    """
    rho, log_inverse = np.broadcast_arrays(np.asarray(rho, float), log_inverse_of(delta))
    inside = (rho > 0.0) & np.isfinite(rho) & (log_inverse > 0.0) & np.isfinite(log_inverse)
    epsilon, _ = _tight(np.where(inside, rho, 1.0), np.where(inside, log_inverse, 1.0))
    edge = np.where((rho > 0.0) & (np.isinf(rho) | np.isinf(log_inverse)), np.inf, rho)
    return real(np.where(inside, np.maximum(epsilon, 0.0), np.where(log_inverse > 0.0, edge, 0.0)))


def tight_delta(rho: Real, epsilon: Real) -> Real:
    """Smallest delta of the tight conversion of rho-zCDP at epsilon, between 0 and 1; 0 where rho
    is 0.

    rho, epsilon: numbers or arrays that broadcast. Source: Canonne, Kamath, Steinke 2020, Corollary
    13.
    """
    rho, epsilon = np.broadcast_arrays(np.asarray(rho, float), np.asarray(epsilon, float))
    inside = (rho > 0.0) & np.isfinite(rho)
    cost = np.where(inside, rho, 1.0)
    order = _order_for_delta(cost, epsilon)
    exponent = order * ((1.0 + order) * cost - epsilon) - np.log(order)
    exponent = exponent - (1.0 + order) * np.log1p(1.0 / order)
    delta = np.exp(np.minimum(exponent, 0.0))
    return real(np.where(inside, delta, np.where(rho > 0.0, 1.0, 0.0)))


def tight_rho(epsilon: Real, delta: Real) -> Real:
    """Largest rho whose tight conversion meets (epsilon, delta), rounded down: what a budget buys.

    epsilon, delta: numbers or arrays that broadcast. Epsilon is concave in rho with slope alpha, so
    Newton from below never passes the root. Source: Canonne, Kamath, Steinke 2020, Corollary 13.
    """
    epsilon, log_inverse = np.broadcast_arrays(np.asarray(epsilon, float), log_inverse_of(delta))
    rho = np.asarray(classic_rho(epsilon, delta))
    for _ in range(_NEWTON):
        value, order = _tight(rho, log_inverse)
        step = np.maximum((epsilon - value) / (1.0 + order), 0.0)
        rho = rho + step
        if np.all(step <= 1e-15 * rho):
            break
    return real(rho)


def _tight(rho: Array, log_inverse: Array) -> tuple[Array, Array]:
    """(epsilon, alpha - 1) at the best order: Newton on a convex function of log(alpha - 1)."""
    with np.errstate(over="ignore", divide="ignore"):
        order = np.minimum(np.sqrt(log_inverse / rho), np.expm1(log_inverse))
    for _ in range(_NEWTON):
        value = rho * order * order + np.log1p(order) - log_inverse
        step = value / (2.0 * rho * order * order + order / (1.0 + order))
        order = order * np.exp(-step)
        if np.all(np.abs(step) <= 1e-12):
            break
    numerator = log_inverse - np.log(order) - (1.0 + order) * np.log1p(1.0 / order)
    return (1.0 + order) * rho + numerator / order, order


def _order_for_delta(rho: Array, epsilon: Array) -> Array:
    """alpha - 1 with (2 alpha - 1) rho - epsilon + log(1 - 1/alpha) = 0, by bisection."""
    low = np.full(rho.shape, -700.0)
    high = np.log((epsilon + 1.0) / (2.0 * rho) + 1.0)
    for _ in range(_BISECTION):
        middle = 0.5 * (low + high)
        order = np.exp(middle)
        above = (2.0 * order + 1.0) * rho - epsilon - np.log1p(1.0 / order) > 0.0
        high, low = np.where(above, middle, high), np.where(above, low, middle)
    return np.asarray(np.exp(high))


@dataclass(frozen=True)
class ZCDPAccountant(Accountant):
    """Sum of rhos, converted once. Black boxes must be pure (delta 0)."""

    name: str
    title: str
    source: str
    tight: bool
    kind: str = "upper bound"
    assumptions: tuple[str, ...] = ("noise is drawn from the exact distribution",)

    def check(self, events: Events) -> None:
        """Raise NotCovered for black boxes with a delta, and for samples."""
        check_concentrated(events, "zCDP")

    def epsilon(self, events: Events, delta: Real) -> Real:
        """From the total rho, by the conversion of the accountant."""
        self.check(events)
        convert = tight_epsilon if self.tight else classic_epsilon
        return convert(total_rho(events), delta)

    def delta(self, events: Events, epsilon: Real) -> Real:
        """From the total rho, by the conversion of the accountant."""
        self.check(events)
        convert = tight_delta if self.tight else classic_delta
        return convert(total_rho(events), epsilon)

    def factor(self, events: Events, epsilon: Real, delta: float) -> Real:
        """The root of the total rho over the rho that the budget allows."""
        self.check(events)
        allowed = (tight_rho if self.tight else classic_rho)(epsilon, delta)
        with np.errstate(divide="ignore"):  # a tiny budget may allow none
            return real(np.sqrt(total_rho(events) / np.asarray(allowed)))


CLASSIC = ZCDPAccountant("zcdp", "zCDP", _PROPOSITIONS, tight=False)
TIGHT = ZCDPAccountant(
    "zcdp_tight",
    "zCDP, tight conversion",
    f"{_PROPOSITIONS}; Canonne, Kamath, Steinke 2020, Corollary 13",
    tight=True,
)
