"""Renyi accountant: divergences add at every order, and the best of all orders gives epsilon.

Mironov 2017, Proposition 1 (composition), with the conversion of Canonne, Kamath, Steinke 2020,
Proposition 12. With g(lambda) the sum of the log moments at alpha = lambda + 1 (``renyi.py``),

    epsilon = least over lambda > 0 of (g(lambda) + s(lambda) + ln(1/delta)) / lambda,
    ln delta = least over lambda > 0 of g(lambda) + s(lambda) - lambda epsilon,

s(lambda) = lambda log(lambda) - (lambda + 1) log(lambda + 1), or 0 with the classic conversion.
Both g and s are convex, so each has one valley. It is found on a coarse grid of orders, extended
for as long as the best order is its last, and then by parabolas.

Direction: an upper bound at whatever order the search ends, so an unfinished search stays one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting.base import Array, Events, live, noise_of, real
from dpcore.accounting.gaussian import all_gaussian
from dpcore.accounting.renyi import (
    CONVERSIONS,
    Conversion,
    check_renyi,
    log_variation,
    saving,
    total_log_moment,
)
from dpcore.accounting.zcdp import tight_delta, tight_epsilon, total_rho
from dpcore.checks import one_of
from dpcore.privacy.events import EpsilonDelta, Event, Gaussian, Laplace, Real

Curve = Callable[[Array], Array]

_START = np.arange(-2.4, 4.4, 0.4)  # log lambda
_STEP = 0.4
_LOWEST, _HIGHEST = -60.0, 300.0  # log lambda; where numbers end, not where bounds do
_MOST_STEPS = 60
_CLOSE = 1e-6  # of log lambda; what is left of epsilon is the square of it
_MOST_SPLIT = 3
_NEAR_ONE = 1e-6
_LEAST_DELTA = 1e-300  # smaller ones are rounded up to it


@dataclass(frozen=True)
class RenyiAccountant:
    """Real orders without a cap. Black boxes must be pure (delta 0).

    conversion: ``best``, or ``classic`` (Mironov 2017, Proposition 3: s = 0). Where every event is
    pure, the sum of the epsilons caps the bound. Gaussian noise alone has the closed form of tight
    zCDP, which is this bound.
    """

    conversion: Conversion = "best"
    name: str = "rdp"
    title: str = "Renyi"
    kind: str = "upper bound"
    source: str = (
        "Mironov 2017, Proposition 1; Canonne, Kamath, Steinke 2020, Proposition 12; "
        "Mironov, Talwar, Zhang 2019, section 3.3"
    )
    assumptions: tuple[str, ...] = (
        "noise is drawn from the exact law",
        "samples, where there are any, are drawn afresh and independently for every release",
    )

    def __post_init__(self) -> None:
        one_of("conversion", self.conversion, CONVERSIONS)

    def check(self, events: Events) -> None:
        check_renyi(events, "the Renyi accountant")

    def epsilon(self, events: Events, delta: Real) -> Real:
        self.check(events)
        found, log_variance = epsilon_over_orders(events, delta, self.conversion)
        hidden = np.isneginf(log_variance)
        if self.conversion == "best":
            with np.errstate(divide="ignore"):
                hidden = 2.0 * np.log(np.asarray(delta, dtype=float)) >= log_variance
        return real(np.where(hidden, 0.0, np.minimum(found, pure_epsilon(events))))

    def delta(self, events: Events, epsilon: Real) -> Real:
        self.check(events)
        found, log_variance = delta_over_orders(events, epsilon, self.conversion)
        if self.conversion == "best":
            found = np.minimum(found, np.exp(0.5 * log_variance))
        none = np.isneginf(log_variance) | (np.asarray(epsilon) >= pure_epsilon(events))
        return real(np.where(none, 0.0, found))


def epsilon_over_orders(
    events: Events, delta: Real, conversion: Conversion = "best"
) -> tuple[Array, Array]:
    """(least epsilon over all real orders, log(1 - e^-tau) near order 1) of covered events."""
    if all_gaussian(events) and conversion == "best":
        rho = np.asarray(total_rho(events))
        return np.asarray(tight_epsilon(rho, delta)), log_variation(rho)
    ndim = max(dimensions(events), np.ndim(delta))
    ends = [_smallest_epsilon(curve(e), delta, conversion, ndim) for e in readings(events)]
    return _least_of(ends)


def delta_over_orders(
    events: Events, epsilon: Real, conversion: Conversion = "best"
) -> tuple[Array, Array]:
    """(least delta over all real orders, log(1 - e^-tau) near order 1) of covered events."""
    if all_gaussian(events) and conversion == "best":
        rho = np.asarray(total_rho(events))
        return np.asarray(tight_delta(rho, epsilon)), log_variation(rho)
    ndim = max(dimensions(events), np.ndim(epsilon))
    ends = [_smallest_delta(curve(e), epsilon, conversion, ndim) for e in readings(events)]
    return _least_of(ends)


def _least_of(ends: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    found, log_variance = zip(*ends, strict=True)
    return np.minimum.reduce(list(found)), np.minimum.reduce(list(log_variance))


def dimensions(events: Events) -> int:
    """How many axes the grid of runs has."""
    return max((np.ndim(noise_of(event)) for event in live(events)), default=0)


def curve(events: Events) -> Curve:
    """g(lambda) of all events, elementwise against the grid of runs."""
    return lambda orders: total_log_moment(events, orders)


def readings(events: Events) -> list[Events]:
    """The events with Laplace vectors read by their L1 bound or by their L2 bound, in each way.

    The least of the two bounds has two valleys, each of them alone has one. Beyond three such
    events they are read all alike, or each by the least.
    """
    happened = live(events)
    ways = [_ways(event) for event in happened]
    if sum(len(each) == 2 for each in ways) <= _MOST_SPLIT:
        return list(product(*ways))
    return [happened, tuple(each[0] for each in ways), tuple(each[-1] for each in ways)]


def _ways(event: Event) -> tuple[Event, ...]:
    mechanism = event.mechanism
    if not isinstance(mechanism, Laplace) or mechanism.l2_ratio >= 1.0:
        return (event,)
    by_l2 = Gaussian(real(np.asarray(mechanism.scale) / mechanism.l2_ratio))
    return (
        replace(event, mechanism=Laplace(mechanism.scale)),
        replace(event, mechanism=by_l2),
    )


def pure_epsilon(events: Events) -> Array:
    """The sum of the epsilons where every event is pure, else infinity."""
    total = np.zeros(())
    for event in live(events):
        total = total + event.count * _pure(event)
    return total


def _pure(event: Event) -> Array:
    match event.mechanism:
        case EpsilonDelta(epsilon=epsilon, delta=0.0):
            return np.asarray(epsilon, dtype=float)
        case Laplace(scale=scale):
            with np.errstate(divide="ignore"):
                return np.asarray(1.0 / np.asarray(scale, dtype=float))
    return np.asarray(np.inf)


def _smallest_epsilon(
    moment: Curve, delta: Real, conversion: Conversion, ndim: int
) -> tuple[Array, Array]:
    """(epsilon, log(1 - e^-tau) near order 1) for every cell; ``ndim`` axes in all."""
    with np.errstate(divide="ignore"):
        log_inverse = -np.log(np.asarray(delta, dtype=float))

    def epsilon_at(orders: Array) -> Array:
        return np.asarray((moment(orders) + (saving(orders, conversion) + log_inverse)) / orders)

    found = lowest(epsilon_at, ndim, enough=0.0)
    return np.maximum(found, 0.0), _log_variance(moment, ndim)


def _smallest_delta(
    moment: Curve, epsilon: Real, conversion: Conversion, ndim: int
) -> tuple[Array, Array]:
    """(delta, log(1 - e^-tau) near order 1) for every cell; never below 1e-300."""
    target = np.asarray(epsilon, dtype=float)

    def log_delta_at(orders: Array) -> Array:
        return np.asarray(moment(orders) + (saving(orders, conversion) - orders * target))

    found = lowest(log_delta_at, ndim, enough=math.log(_LEAST_DELTA))
    found = np.exp(np.clip(found, math.log(_LEAST_DELTA), 0.0))
    return np.asarray(found), _log_variance(moment, ndim)


def _log_variance(moment: Curve, ndim: int) -> Array:
    """log(1 - e^-tau) at an order so close to 1 that tau is the Kullback-Leibler divergence."""
    order = np.full((1,) * ndim, _NEAR_ONE)
    return log_variation(moment(order) / _NEAR_ONE)


def lowest(value: Curve, ndim: int, enough: float) -> Array:
    """The value at the bottom of a valley in log lambda, for every cell of a grid at once.

    value: takes lambdas whose last ``ndim`` axes broadcast against the cells. enough: a value below
    which nobody asks for less.
    """
    u, values = _coarse(value, ndim, enough)
    at = np.clip(np.argmin(values, axis=0), 1, u.size - 2)
    near = [np.take_along_axis(values, (at + k)[None], axis=0)[0] for k in (-1, 0, 1)]
    return _parabolas(value, [u[at + k] for k in (-1, 0, 1)], near)


def _coarse(value: Curve, ndim: int, enough: float) -> tuple[Array, Array]:
    """log lambdas ``(orders,)`` and values ``(orders, ...)`` that go past every cell's valley."""

    def block(u: Array) -> Array:
        return value(np.exp(u).reshape(-1, *[1] * ndim))

    u, length = _START, 8
    values = block(u)
    while np.any(_open(values, -1, enough)) and u[-1] < _HIGHEST:
        more = np.minimum(u[-1] + _STEP * np.arange(1, length + 1), _HIGHEST)
        u, values = np.append(u, more), np.concatenate([values, block(more)])
        length *= 2
    length = 8
    while np.any(_open(values, 0, enough)) and u[0] > _LOWEST:
        more = np.maximum(u[0] - _STEP * np.arange(length, 0, -1), _LOWEST)
        u, values = np.append(more, u), np.concatenate([block(more), values])
        length *= 2
    return u, values


def _open(values: Array, end: int, enough: float) -> NDArray[np.bool_]:
    """Cells whose lowest value is at the given end of the grid, and worth following."""
    lowest_value = np.min(values, axis=0)
    return np.asarray(
        (values[end] <= lowest_value) & (lowest_value > enough) & np.isfinite(lowest_value)
    )


def _parabolas(value: Curve, points: list[Array], values: list[Array]) -> Array:
    """The least value between three points, drawn together by the vertices of their parabolas."""
    a, b, c = points
    fa, fb, fc = values
    width, before = c - a, np.full(np.shape(a), np.inf)
    for _ in range(_MOST_STEPS):
        x = _next(a, b, c, fa, fb, fc, width > 0.5 * before)
        fx = value(np.exp(x))
        left, lower = x < b, fx <= fb
        a, fa, c, fc = (
            np.where(left & lower, a, np.where(left, x, np.where(lower, b, a))),
            np.where(left & lower, fa, np.where(left, fx, np.where(lower, fb, fa))),
            np.where(left & lower, b, np.where(left, c, np.where(lower, c, x))),
            np.where(left & lower, fb, np.where(left, fc, np.where(lower, fc, fx))),
        )
        b, fb = np.where(lower, x, b), np.where(lower, fx, fb)
        before, width = width, c - a
        if np.all(width <= 3.0 * _CLOSE):
            break
    return np.minimum(np.minimum(fa, fb), fc)


def _next(
    a: Array, b: Array, c: Array, fa: Array, fb: Array, fc: Array, slow: NDArray[np.bool_]
) -> Array:
    """Where to look: the vertex, just beside ``b`` once that is it, or half way after a slow step.

    A valley that is much steeper on one side draws the vertices to it.
    """
    wider_right = c - b > b - a
    with np.errstate(invalid="ignore", divide="ignore"):
        to_a, to_c = (b - a) * (fb - fc), (b - c) * (fb - fa)
        x = b - 0.5 * ((b - a) * to_a - (b - c) * to_c) / (to_a - to_c)
    x = np.where(np.abs(x - b) < _CLOSE, np.where(wider_right, b + _CLOSE, b - _CLOSE), x)
    middle = np.where(wider_right, 0.5 * (b + c), 0.5 * (a + b))
    follow = np.isfinite(x) & (x > a) & (x < c) & ~slow
    return np.where(follow, x, middle)


RENYI = RenyiAccountant()
