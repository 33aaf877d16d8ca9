"""Moments accountant: the log moments of the privacy loss add; the best integer order decides.

Abadi et al. 2016, Theorem 2: with alpha(lambda) the sum of the log moments, epsilon is the least of
(alpha(lambda) + ln(1/delta)) / lambda over lambda = 1, 2, ..., max_lambda. The log moments are
those of ``renyi.py``, lambda tau(lambda + 1): a Gaussian has lambda (lambda + 1) / (2 z^2), Laplace
has Park et al. 2017, Eq. 20, and Poisson samples, a row added or removed, are what the method was
made for.

Direction: an upper bound. The cap on lambda makes it loose for small epsilon: below
ln(1/delta) / max_lambda no noise is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.accounting.base import Accountant, Events, dimensions, live, log_inverse_of, real
from dpcore.accounting.renyi import by_noise, check_renyi, log_moment, poisson_log_moments
from dpcore.arrays import Array
from dpcore.errors import NotCovered
from dpcore.privacy.events import Event, Gaussian, Real
from dpcore.privacy.guarantee import delta_text, show

_WHOLE, _SAMPLED = 64, 255  # orders of the authors' tables; of the peers' for sampled releases


@dataclass(frozen=True)
class MomentsAccountant(Accountant):
    """Integer orders 1..max_lambda, classic conversion. Black boxes must be pure (delta 0).

    max_lambda: by default 64, and 255 where any release is on a Poisson sample.
    """

    max_lambda: int | None = None
    name: str = "ma"
    title: str = "Moments accountant"
    kind: str = "upper bound"
    source: str = "Abadi et al. 2016, Theorem 2; Park et al. 2017, Eq. 20"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the bound on moments takes for granted."""
        cap = (
            f"{_WHOLE}, or {_SAMPLED} with samples" if self.max_lambda is None else self.max_lambda
        )
        return (
            "noise is drawn from the exact distribution",
            f"orders are whole numbers up to {cap}",
        )

    def check(self, events: Events) -> None:
        """Raise NotCovered for releases without a bound on their moments."""
        check_renyi(events, "the moments accountant")

    def epsilon(self, events: Events, delta: Real) -> Real:
        """The least over whole orders (Abadi et al. 2016, Theorem 2)."""
        self.check(events)
        if not live(events):
            return real(np.zeros(np.shape(delta)))
        orders, moments = self._moments(events, np.ndim(delta))
        bound = np.min((moments + log_inverse_of(delta)) / orders, axis=0)
        return real(np.where(np.max(moments, axis=0) > 0.0, bound, 0.0))

    def delta(self, events: Events, epsilon: Real) -> Real:
        """The least over whole orders (Abadi et al. 2016, Theorem 2)."""
        self.check(events)
        if not live(events):
            return real(np.zeros(np.shape(epsilon)))
        orders, moments = self._moments(events, np.ndim(epsilon))
        exponent = np.min(moments - orders * np.asarray(epsilon, dtype=float), axis=0)
        nothing = np.max(moments, axis=0) <= 0.0
        return real(np.where(nothing, 0.0, np.exp(np.minimum(exponent, 0.0))))

    def log_moments(self, events: Events) -> tuple[Array, Array]:
        """Orders lambda = 1, 2, ... and the log moments alpha(lambda) of all events together, both
        ``(L,)``.

        For events with one noise each. Source: Abadi et al. 2016, Theorem 2.
        """
        self.check(events)
        orders, moments = self._moments(events, 0)
        return orders, np.asarray(moments)

    def best_order(self, events: Events, delta: float) -> int:
        """The lambda whose bound is the least."""
        orders, moments = self.log_moments(events)
        return int(orders[np.argmin((moments - np.log(delta)) / orders)])

    def highest(self, events: Events = ()) -> int:
        """The highest order used for these events."""
        if self.max_lambda is not None:
            return self.max_lambda
        return _SAMPLED if any(event.sampling == "poisson" for event in live(events)) else _WHOLE

    def smallest_epsilon(self, delta: float, events: Events = ()) -> float:
        """The limit of infinite noise: no finite noise reaches it."""
        return float(-np.log(delta) / self.highest(events))

    def check_reachable(self, epsilon: Real, delta: float, events: Events) -> None:
        """Refuse a budget that no noise meets under the cap, naming the smallest one it does.

        Raises NotCovered.
        """
        least = self.smallest_epsilon(delta, events)
        if np.any(np.asarray(epsilon) <= least):
            raise NotCovered(
                "epsilon",
                f"the moments accountant with orders up to {self.highest(events)} cannot prove an "
                f"epsilon of {show(least)} or less at delta {delta_text(delta)}",
                "give a larger epsilon or max_lambda, or choose rdp",
            )

    def _moments(self, events: Events, ndim: int) -> tuple[Array, Array]:
        """Orders ``(L, 1, ..)`` and the summed log moments ``(L, ...)``."""
        happened, most = live(events), self.highest(events)
        ndim = max(ndim, dimensions(happened))
        orders = np.arange(1.0, most + 1.0).reshape(-1, *[1] * ndim)
        total = np.zeros_like(orders)
        for event in happened:
            total = total + event.count * _log_moment(event, most, orders)
        return orders, total


def _log_moment(event: Event, most: int, orders: Array) -> Array:
    """Log moments at lambda = 1..most, ``(most, ...)``; on Poisson samples as finite sums."""
    if event.sampling == "none" or not isinstance(event.mechanism, Gaussian):
        return log_moment(event, orders)
    rate = event.sampling_rate
    return by_noise(event, orders.ndim, lambda z: poisson_log_moments(most, z, rate))


MOMENTS = MomentsAccountant()
