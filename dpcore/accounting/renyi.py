"""Rényi divergence: how far apart the outputs of two neighbouring tables are, order by order.

Mironov 2017, Definition 4: tau(alpha) = log E_Q[(P/Q)^alpha] / (alpha - 1), the worst neighbours P,
Q. Divergences of releases add (Proposition 1). Everything here is computed as the log moment

    g(lambda) = lambda tau(lambda + 1),    lambda = alpha - 1 > 0,

of Abadi et al. 2016, because g keeps its digits where tau is read close to order 1.

=================================  ================================================================
Gaussian                           lambda (lambda + 1) / (2 z^2)  (Mironov 2017, Proposition 7)
discrete Gaussian                  no more than that  (Canonne, Kamath, Steinke 2020, Theorem 4)
Laplace                            Mironov 2017, Proposition 6 (Park et al. 2017, Eq. 20), and never
                                   above the Gaussian formula at the L2 sensitivity
pure epsilon                       randomised response, which no other mechanism of that epsilon
                                   exceeds  (Kairouz, Oh, Viswanath 2015, proof of Theorem 3.3)
Gaussian on Poisson samples,       log E_Q[(1 - q + q P/Q)^(lambda + 1)]; the other direction is
a row added or removed             smaller  (Mironov, Talwar, Zhang 2019, Theorem 5 and section 3.3)
=================================  ================================================================

One number epsilon at a delta comes back by :mod:`dpcore.accounting.rdp`; every order gives a true
statement.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import gammaln

from dpcore.accounting.base import UNSAMPLED, Events, check_concentrated, check_one_case, live
from dpcore.arrays import Array
from dpcore.errors import NotCovered
from dpcore.privacy.events import (
    DiscreteGaussian,
    EpsilonDelta,
    Event,
    Gaussian,
    Laplace,
    Real,
    noise_of,
)

Conversion: TypeAlias = Literal["best", "classic"]
CONVERSIONS = ("best", "classic")

_FAR = 30.0  # exponent beyond which the leading exponential is taken out of the sum
_REACH = 10.0  # deviations kept beyond both ends of an integrand: what is dropped is below e^-45
_EXPONENT = 40.0  # of the error of the trapezoid rule
_WIDEST = math.pi * math.sqrt(2.0 / _EXPONENT)  # its step for a normal density, in deviations
_MOST_NODES = 1 << 16  # an integrand that needs more is replaced by the release without sampling
_AT_ONCE = 1 << 16  # nodes of all orders together, so that they stay in the processor's cache
_LARGEST_EXPONENT = 600.0
_UNSAMPLED = f", or {UNSAMPLED}"
_SERIES = [1.0 / math.factorial(k + 2) for k in range(10)]
_SMALL = 0.125  # below, the series; above, subtraction loses less than four binary digits


def log_moment(event: Event, orders: Array) -> Array:
    """g(lambda) = lambda tau(lambda + 1) of one release, tau being its Rényi divergence.

    orders: lambda above 0, an array that broadcasts against the noise of the event; the answer has
    the broadcast shape. Only for events that :func:`check_renyi` has admitted.
    """
    if event.sampling == "poisson" and isinstance(event.mechanism, Gaussian):
        return poisson_log_moment(orders, event.mechanism.noise_multiplier, event.sampling_rate)
    match event.mechanism:
        case Gaussian(noise_multiplier=noise) | DiscreteGaussian(noise_multiplier=noise):
            return gaussian_log_moment(orders, noise)
        case Laplace(scale=scale, l2_ratio=ratio):
            with np.errstate(divide="ignore"):
                shift = 1.0 / np.asarray(scale, dtype=float)
            exact = laplace_log_moment(orders, shift)
            if ratio == 1.0:  # a scalar's is below the other bound at every order
                return exact
            return np.minimum(exact, gaussian_log_moment(orders, np.asarray(scale) / ratio))
        case EpsilonDelta(epsilon=epsilon):
            return pure_log_moment(orders, np.asarray(epsilon, dtype=float))


def total_log_moment(events: Events, orders: Array) -> Array:
    """The log moments of all events, each times its count: they add up under composition.

    orders: lambda above 0 ``(L,)``, for events with one noise each; the answer is ``(L,)``. Source:
    Mironov 2017, Proposition 1.
    """
    total = np.zeros(np.shape(orders))
    for event in live(events):
        total = total + event.count * log_moment(event, orders)
    return total


def by_noise(event: Event, ndim: int, moments: Callable[[float], Array]) -> Array:
    """The log moments ``(orders, ...)`` of an event for each of its noises in turn.

    ndim: how many axes the answer has; the noises are on the last ones. moments: from one noise to
    ``(orders,)``.
    """
    noise = np.asarray(noise_of(event), dtype=float)
    table = np.stack([moments(float(z)) for z in noise.ravel()], axis=1)
    return table.reshape(len(table), *[1] * (ndim - 1 - noise.ndim), *noise.shape)


def check_renyi(events: Events, title: str) -> None:
    """Raises NotCovered, naming another method, for every event whose Rényi divergence has no bound
    in this file. title: of the method that asks, for the message.
    """
    for event in live(events):
        check_one_case(event, title)
        if event.sampling == "without_replacement":
            raise NotCovered(
                "sampling",
                f"{title} has no theorem for samples drawn without replacement",
                "give the noise under replace_one and choose wbk27 or pld",
            )
        if event.sampling == "poisson":
            _check_poisson(event, title)
        else:
            check_concentrated([event], title)


def _check_poisson(event: Event, title: str) -> None:
    if event.adjacency != "add_remove":
        raise NotCovered(
            "adjacency",
            f"{title} covers Poisson samples only where a row is added or removed",
            "give the noise under add_remove"
            + (" or choose pld" if event.adjacency == "replace_one" else _UNSAMPLED),
        )
    if not isinstance(event.mechanism, Gaussian):
        raise NotCovered(
            "mechanism",
            f"{title} covers Poisson samples only with Gaussian noise",
            f"choose pld{_UNSAMPLED}",
        )


# --- curves --------------------------------------------------------------------------------------


def gaussian_log_moment(orders: Array, noise: Real) -> Array:
    """Log moments of Gaussian noise: lambda (lambda + 1) / (2 z^2).

    orders: lambda above 0; noise: the multiplier z. Both broadcast. Source: Mironov 2017,
    Proposition 7.
    """
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(0.5 * orders * (orders + 1.0) * (1.0 / np.square(noise)))


def laplace_log_moment(orders: Array, shift: Array) -> Array:
    """Exact log moment of scalar Laplace noise; ``shift`` = sensitivity / scale.

    An upper bound for vectors of the same L1 sensitivity, attained in one coordinate.
    Source: Park et al. 2017, Eq. 20: log[(l+1)/(2l+1) e^(l s) + l/(2l+1) e^(-(l+1) s)]. The terms
    of first order cancel; what is left is a sum of positive terms.

    >>> round(float(laplace_log_moment(np.array(1.0), np.array(1.0))), 6)
    0.619124
    """
    both, gain = 2.0 * orders + 1.0, np.asarray(orders * shift)
    with np.errstate(under="ignore"):
        ends = np.empty((2, *gain.shape))
        ends[0], ends[1] = np.minimum(gain, _FAR), -(gain + shift)
        rise, fall = _past_linear(ends)
        near = np.log1p(((orders + 1.0) * rise + orders * fall) / both)
        close = np.asarray(gain < _FAR)
        if close.all():
            return np.asarray(near)
        far = np.log((orders + 1.0) / both) + np.log1p(
            orders / (orders + 1.0) * np.exp(-both * shift)
        )
    return np.asarray(np.where(close, near, gain + far))


def pure_log_moment(orders: Array, epsilon: Array) -> Array:
    """log[(e^((l+1) eps) + e^(-l eps)) / (1 + e^eps)] = log cosh((l + 1/2) eps) / cosh(eps / 2).

    The log moment of randomised response. Source: Kairouz, Oh, Viswanath 2015, proof of Theorem
    3.3.
    """
    near = (orders + 1.0) * epsilon < _FAR
    small = np.where(near, epsilon, 0.0)
    rise = 2.0 * np.sinh(0.5 * (orders + 1.0) * small) * np.sinh(0.5 * orders * small)
    with np.errstate(under="ignore"):
        far = np.log1p(np.exp(-(2.0 * orders + 1.0) * epsilon)) - np.log1p(np.exp(-epsilon))
    return np.asarray(np.where(near, np.log1p(rise / np.cosh(0.5 * small)), orders * epsilon + far))


def _past_linear(x: Array) -> Array:
    """e^x - 1 - x >= 0 with all its digits."""
    excess = np.asarray(np.expm1(x) - x)
    small = np.abs(x) < _SMALL
    if small.any():
        near = np.asarray(x)[small]
        series = np.full(near.shape, _SERIES[-1])
        for coefficient in reversed(_SERIES[:-1]):
            series *= near
            series += coefficient
        excess[small] = near * near * series
    return excess


# --- Poisson samples -----------------------------------------------------------------------------


def poisson_log_moment(orders: Array, noise: Real, rate: float) -> Array:
    """log E_Q[(1 - q + q P/Q)^(lambda + 1)], P = N(1, z^2), Q = N(0, z^2), for any real lambda > 0.

    orders, noise: arrays that broadcast. Relative error below 1e-10 for noise 0.3..100, rates
    1e-5..1 and orders to 1e3; where the integral would need too many nodes (noise far below 0.3,
    orders beyond), the release without sampling, which costs more.

    With y = log(1 - q + q P/Q) and E_Q[P/Q] = 1 the moment is 1 + E_Q of
    e^y [(e^(lambda y) - 1) - lambda (1 - e^-y)], which is positive: nothing cancels, however small.
    Source: Mironov, Talwar, Zhang 2019, section 3.3.

    >>> one = poisson_log_moment(np.array(1.0), 1.0, 0.1)
    >>> bool(np.isclose(one, np.log1p(0.01 * np.expm1(1.0))))
    True
    """
    plain = gaussian_log_moment(orders, noise)
    if rate >= 1.0:
        return plain
    with np.errstate(divide="ignore"):
        shift = 1.0 / np.broadcast_to(np.asarray(noise, dtype=float), plain.shape)
    orders = np.broadcast_to(orders, plain.shape)
    nodes = (2.0 * _REACH + (orders + 1.0) * shift) / _spacing(shift)
    inside = (shift > 0.0) & (nodes <= _MOST_NODES)
    moments = np.array(plain)
    if np.any(inside):
        log_rise = _integrals(orders[inside], shift[inside], nodes[inside], rate)
        moments[inside] = np.minimum(np.logaddexp(0.0, log_rise), plain[inside])
    return moments


def _spacing(shift: Array) -> Array:
    """Step of the trapezoid rule, in deviations, with an error of e^-40.

    The integrand is analytic up to the zeros of 1 - q + q P/Q, pi noise deviations off the axis.
    On the line at a distance d its size has grown by e^(d^2/2), and the rule errs by
    e^(d^2/2 - 2 pi d / step).
    """
    distance = math.pi / np.maximum(shift, 1e-3)
    limited = 2.0 * math.pi * distance / (_EXPONENT + 0.5 * distance * distance)
    return np.where(distance > math.sqrt(2.0 * _EXPONENT), _WIDEST, limited)


def _integrals(orders: Array, shift: Array, nodes: Array, rate: float) -> Array:
    """log of the positive integrals, one for each order; alike in size are done together."""
    integrals = np.empty(orders.shape)
    ranked = np.argsort(nodes, kind="stable")
    done = 0
    while done < ranked.size:
        most = math.ceil(nodes[ranked[done]])
        group = ranked[done : done + max(1, _AT_ONCE // (2 * most))]
        group = group[nodes[group] <= 2.0 * most]
        count = math.ceil(nodes[group[-1]])
        integrals[group] = _integral(orders[group, None], shift[group, None], count, rate)
        done += group.size
    return integrals


def _integral(orders: Array, shift: Array, count: int, rate: float) -> Array:
    """Trapezoid rule on ``count`` steps from ``_REACH`` below 0 to ``_REACH`` above alpha shift."""
    step = (2.0 * _REACH + (orders + 1.0) * shift) / count
    t = -_REACH + step * np.arange(count + 1.0)
    with np.errstate(under="ignore", divide="ignore"):
        s = shift * (t - 0.5 * shift)
        y = np.log1p(rate * np.expm1(np.minimum(s, _LARGEST_EXPONENT)))
        y += np.maximum(s - _LARGEST_EXPONENT, 0.0)
        rise = orders * y
        inner = _past_linear(np.minimum(rise, _LARGEST_EXPONENT)) + orders * _past_linear(-y)
        log_value = np.log(inner) + np.maximum(rise - _LARGEST_EXPONENT, 0.0) + y - 0.5 * t * t
    scale = np.log(step[..., 0]) - 0.5 * math.log(2.0 * math.pi)
    return np.asarray(log_sum(log_value) + scale)


def log_sum(terms: Array) -> Array:
    """log of the sum of e^terms ``(..., n)`` along the last axis."""
    top = np.max(terms, axis=-1, keepdims=True)
    with np.errstate(under="ignore"):
        return np.asarray(np.log(np.sum(np.exp(terms - top), axis=-1)) + top[..., 0])


def poisson_log_moments(most: int, noise: float, rate: float) -> Array:
    """The same at lambda = 1, 2, ..., most, as finite sums of positive terms; shape ``(most,)``.

    Source: Mironov, Talwar, Zhang 2019, section 3.3: sum over k of C(alpha, k) (1-q)^(alpha-k) q^k
    e^((k^2 - k) / (2 z^2)), of which the part that does not shrink with the noise adds to 1.
    """
    if noise == 0.0 or rate >= 1.0 or math.isinf(noise):
        return gaussian_log_moment(np.arange(1.0, most + 1.0), noise)
    return _poisson_log_moments(most, float(noise), float(rate))


@lru_cache(maxsize=256)
def _poisson_log_moments(most: int, noise: float, rate: float) -> Array:
    k = np.arange(2.0, most + 2.0)
    gain = 0.5 * k * (k - 1.0) / noise**2
    terms = _log_binomials(most, rate) + gain + np.log(-np.expm1(-gain))
    moments = np.asarray(np.logaddexp(0.0, log_sum(terms)))
    moments.flags.writeable = False
    return moments


@lru_cache(maxsize=16)
def _log_binomials(most: int, rate: float) -> Array:
    """log chance of k = 2.. successes in alpha = 2.. trials, (most, most); -inf for k > alpha."""
    alpha = np.arange(2.0, most + 2.0)[:, None]
    k = np.arange(2.0, most + 2.0)
    log_chance = log_choose(alpha, k) + k * math.log(rate)
    return np.asarray(log_chance + np.maximum(alpha - k, 0.0) * math.log1p(-rate))


def log_choose(n: Array, k: Array) -> Array:
    """log of the binomial coefficient of whole numbers ``(...)``; -infinity for k > n."""
    whole = _log_factorials(int(max(np.max(n), np.max(k))))
    rest = whole[np.maximum(n - k, -1.0).astype(np.intp)]
    return np.asarray(whole[n.astype(np.intp)] - whole[k.astype(np.intp)] - rest)


@lru_cache(maxsize=64)
def _log_factorials(most: int) -> Array:
    """log 0!, ..., log most!, and infinity at the end, where the index -1 finds it."""
    return np.append(gammaln(np.arange(most + 1.0) + 1.0), np.inf)


# --- conversions ---------------------------------------------------------------------------------


def saving(orders: Array, conversion: Conversion) -> Array:
    """What the conversion takes off lambda epsilon: lambda log lambda - alpha log alpha, or 0.

    orders: the lambdas ``(...)``; the result has their shape.
    """
    if conversion == "classic":
        return np.zeros(np.shape(orders))
    return np.asarray(-np.log1p(orders) - orders * np.log1p(1.0 / orders))


def log_variation(divergence: Array) -> Array:
    """log(1 - e^-tau), twice the log of a bound on the total variation distance."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(-divergence)))
