"""Moments accountant: the log moments of the privacy loss add; the best integer order decides.

Abadi et al. 2016, Theorem 2: with alpha(lambda) the sum of the log moments, epsilon is the least of
(alpha(lambda) + ln(1/delta)) / lambda over lambda = 1, 2, ..., max_lambda. A Gaussian has
lambda (lambda + 1) / (2 z^2). Laplace has the smaller of its exact scalar log moment (Park et al.
2017, Eq. 20; an upper bound for vectors of the same L1 sensitivity, attained in one coordinate) and
lambda (lambda + 1) D2^2 / (2 b^2). Pure epsilon has the log moment of randomised response, which no
other mechanism of that epsilon exceeds (Kairouz, Oh, Viswanath 2015, Theorem 2).

Direction: an upper bound. The cap on lambda makes it loose for small epsilon: below
ln(1/delta) / max_lambda no noise is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.accounting.base import (
    Array,
    Events,
    check_concentrated,
    inverse_square,
    live,
    noise_of,
    real,
)
from dpcore.errors import NotCovered
from dpcore.privacy.events import (
    DiscreteGaussian,
    EpsilonDelta,
    Event,
    Gaussian,
    Laplace,
    Real,
)
from dpcore.privacy.guarantee import show


@dataclass(frozen=True)
class MomentsAccountant:
    """Integer orders 1..max_lambda, classic conversion. Black boxes must be pure (delta 0)."""

    max_lambda: int = 64
    name: str = "ma"
    title: str = "Moments accountant"
    kind: str = "upper bound"
    source: str = "Abadi et al. 2016, Theorem 2; Park et al. 2017, Eq. 20"

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            "noise is drawn from the exact law",
            f"orders are whole numbers up to {self.max_lambda}",
        )

    def check(self, events: Events) -> None:
        check_concentrated(events, "the moments accountant")

    def epsilon(self, events: Events, delta: Real) -> Real:
        self.check(events)
        if not live(events):
            return real(np.zeros(np.shape(delta)))
        orders, moments = self._moments(events, np.ndim(delta))
        with np.errstate(divide="ignore"):
            log_inverse = -np.log(np.asarray(delta, dtype=float))
        bound = np.min((moments + log_inverse) / orders, axis=0)
        return real(np.where(np.max(moments, axis=0) > 0.0, bound, 0.0))

    def delta(self, events: Events, epsilon: Real) -> Real:
        self.check(events)
        if not live(events):
            return real(np.zeros(np.shape(epsilon)))
        orders, moments = self._moments(events, np.ndim(epsilon))
        exponent = np.min(moments - orders * np.asarray(epsilon, dtype=float), axis=0)
        nothing = np.max(moments, axis=0) <= 0.0
        return real(np.where(nothing, 0.0, np.exp(np.minimum(exponent, 0.0))))

    def smallest_epsilon(self, delta: float) -> float:
        """The limit of infinite noise: no finite noise reaches it."""
        return float(-np.log(delta) / self.max_lambda)

    def check_reachable(self, epsilon: Real, delta: float) -> None:
        """Refuse a budget that no noise meets under the cap, naming the smallest one it does."""
        least = self.smallest_epsilon(delta)
        if np.any(np.asarray(epsilon) <= least):
            raise NotCovered(
                "epsilon",
                f"the moments accountant with orders up to {self.max_lambda} cannot prove an "
                f"epsilon of {show(least)} or less at delta {show(delta)}",
                "give a larger epsilon or choose exact, zcdp or zcdp_tight",
            )

    def _moments(self, events: Events, ndim: int) -> tuple[Array, Array]:
        """Orders ``(L, 1, ..)`` and the summed log moments ``(L, ...)``."""
        happened = live(events)
        ndim = max([ndim, *(np.ndim(noise_of(event)) for event in happened)])
        orders = np.arange(1.0, self.max_lambda + 1.0).reshape(-1, *[1] * ndim)
        total = np.zeros_like(orders)
        for event in happened:
            total = total + event.count * _log_moment(event, orders)
        return orders, total


def _log_moment(event: Event, orders: Array) -> Array:
    match event.mechanism:
        case Gaussian(noise_multiplier=noise) | DiscreteGaussian(noise_multiplier=noise):
            return 0.5 * orders * (orders + 1.0) * inverse_square(noise)
        case Laplace(scale=scale, l2_ratio=ratio):
            by_l2 = 0.5 * orders * (orders + 1.0) * min(1.0, ratio) ** 2 * inverse_square(scale)
            with np.errstate(divide="ignore"):
                shift = 1.0 / np.asarray(scale, dtype=float)
            return np.minimum(laplace_log_moment(orders, shift), by_l2)
        case EpsilonDelta(epsilon=epsilon):
            return _pure_log_moment(orders, np.asarray(epsilon, dtype=float))


def laplace_log_moment(orders: Array, shift: Array) -> Array:
    """Exact log moment of scalar Laplace noise; ``shift`` = sensitivity / scale.

    Source: Park et al. 2017, Eq. 20: log[(l+1)/(2l+1) e^(l s) + l/(2l+1) e^(-(l+1) s)].

    >>> round(float(laplace_log_moment(np.array(1.0), np.array(1.0))), 6)
    0.619124
    """
    with np.errstate(under="ignore"):
        shrunk = np.exp(-(2.0 * orders + 1.0) * shift)
    inner = np.log1p(orders / (2.0 * orders + 1.0) * (shrunk - 1.0))
    return np.asarray(np.maximum(orders * shift + inner, 0.0))


def _pure_log_moment(orders: Array, epsilon: Array) -> Array:
    """log[(e^((l+1) eps) + e^(-l eps)) / (1 + e^eps)], and never above l (l+1) eps^2 / 2."""
    with np.errstate(under="ignore"):
        excess = np.log1p(np.exp(-(2.0 * orders + 1.0) * epsilon)) - np.log1p(np.exp(-epsilon))
    squared = 0.5 * orders * (orders + 1.0) * np.square(epsilon)
    return np.asarray(np.clip(orders * epsilon + excess, 0.0, squared))


MOMENTS = MomentsAccountant()
