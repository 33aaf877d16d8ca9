"""Many Gaussian releases are exactly one Gaussian release with less noise.

Dong, Roth, Su 2022 (Gaussian differential privacy), Corollary 3.3: releases with noise multipliers
z_i compose, adaptively, to mu = sqrt(sum 1/z_i^2). The exact trade between epsilon and delta at mu
is Balle, Wang 2018, Theorem 8. Nothing is lost: the accountant is exact, in both directions.

``delta_of``, ``epsilon_of`` and ``mu_of`` are that theorem and its two inverses. log delta is a
concave function of epsilon at fixed mu (tails of log-concave laws are log-concave), and of mu at
fixed epsilon (its derivative, the normal density at mu/2 - epsilon/mu, is log-concave). So Newton's
method needs no bracket, and each of its steps stays on the side of more privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from dpcore.accounting.base import Accountant, Events, check_plain, inverse_square, live, real
from dpcore.arrays import Array
from dpcore.errors import InputError, NotCovered
from dpcore.privacy.events import Gaussian, Real

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_SMALL = 0.2  # mu below which the difference of Mills ratios is integrated
_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_STEPS = 100
_SETTLED = 1e-8  # convergence is quadratic: what is left is the square of the last step


def delta_of(epsilon: Real, mu: Real) -> Real:
    """Exact delta of a Gaussian release at ``epsilon``, where ``mu`` = sensitivity / deviation.

    epsilon >= 0 and mu >= 0: numbers or arrays of a common shape. mu = 0 gives 0, infinity gives 1.
    Relative error below 1e-11 while delta > 1e-300. Source: Balle, Wang 2018, Theorem 8.

    >>> round(delta_of(1.0, 1.0), 6)
    0.126937
    """
    epsilon, mu = _pair(epsilon, mu)
    finite = (mu > 0.0) & np.isfinite(mu) & np.isfinite(epsilon)
    log_delta = _log_delta(np.where(finite, epsilon, 1.0), np.where(finite, mu, 1.0)).log_delta
    edge = np.where((mu > 0.0) & np.isfinite(epsilon), 1.0, 0.0)
    return real(np.where(finite, np.exp(log_delta), edge))


def epsilon_of(delta: Real, mu: Real) -> Real:
    """Exact epsilon of a Gaussian release at ``delta``, rounded up in its last digits.

    delta in [0, 1], mu >= 0: numbers or arrays of a common shape. 0 where ``delta`` alone covers
    the release. Source: Balle, Wang 2018, Theorem 8, solved for epsilon.

    >>> round(epsilon_of(1e-5, 1.0), 4)
    4.3772
    """
    delta, mu = _pair(delta, mu)
    inside = (mu > 0.0) & np.isfinite(mu) & (delta > 0.0) & (delta < 1.0)
    shift = np.where(inside, mu, 1.0)
    variation = np.exp(_log_delta(np.zeros_like(shift), shift).log_delta)  # delta at epsilon 0
    inside &= np.where(inside, delta, 1.0) < variation
    solved = _solve_epsilon(np.where(inside, delta, 1e-5), np.where(inside, mu, 1.0))
    endless = (mu > 0.0) & (delta < 1.0) & (np.isinf(mu) | (delta <= 0.0))
    return real(np.where(inside, solved, np.where(endless, np.inf, 0.0)))


def mu_of(epsilon: Real, delta: Real) -> Real:
    """Largest ``mu`` = sensitivity / deviation that meets (epsilon, delta), rounded down.

    epsilon >= 0, delta in [0, 1]: numbers or arrays of a common shape. Its inverse is the smallest
    noise multiplier. Source: Balle, Wang 2018, Theorem 8, solved for the noise.

    >>> round(1.0 / mu_of(1.0, 1e-5), 6)
    3.730632
    """
    epsilon, delta = _pair(epsilon, delta)
    inside = (delta > 0.0) & (delta < 1.0) & np.isfinite(epsilon)
    solved = _solve_mu(np.where(inside, epsilon, 1.0), np.where(inside, delta, 1e-5))
    return real(np.where(inside, solved, np.where((delta >= 1.0) | np.isinf(epsilon), np.inf, 0.0)))


def rho_of(epsilon: Real, delta: Real) -> Real:
    """Largest ``rho = mu^2 / 2`` that meets (epsilon, delta): the sum of ``1 / (2 z^2)`` over
    releases with normal noise, as in zCDP, but converted exactly. Arguments as of :func:`mu_of`.

    >>> round(rho_of(1.0, 1e-5), 6)
    0.035926
    """
    return real(0.5 * np.square(mu_of(epsilon, delta)))


def epsilon_of_rho(rho: Real, delta: Real) -> Real:
    """Exact epsilon at ``delta`` of releases whose ``1 / (2 z^2)`` add up to rho; the inverse of
    :func:`rho_of`. rho >= 0, delta in [0, 1]: numbers or arrays of a common shape.
    """
    return epsilon_of(delta, np.sqrt(2.0 * np.asarray(rho, dtype=float)))


def _pair(first: Real, second: Real) -> tuple[Array, Array]:
    left, right = np.broadcast_arrays(
        np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    )
    if not (np.all(left >= 0.0) and np.all(right >= 0.0)):
        raise InputError(
            "epsilon, delta, mu", "a value is below 0 or not a number", "give values >= 0"
        )
    return left, right


def _mills(x: Array) -> Array:
    """(1 - Phi(x)) / phi(x), for x >= -1."""
    return np.asarray(math.sqrt(math.pi / 2.0) * erfcx(x / math.sqrt(2.0)))


class _Point(NamedTuple):
    """A point of the curve: log delta, log of its slope in mu, the Mills ratio at the far end, and
    how far rounding may have moved log delta."""

    log_delta: Array
    log_slope: Array
    far: Array
    error: Array


def _log_delta(epsilon: Array, mu: Array) -> _Point:
    """The curve at x = epsilon/mu - mu/2, read from the side where nothing cancels.

    With R the Mills ratio, delta = phi(x) [R(x) - R(x + mu)], because e^epsilon phi(x + mu) =
    phi(x). For x < 0 the same is read as Phi(-x) - phi(x) R(x + mu).
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        x = epsilon / mu - 0.5 * mu
        log_density = -0.5 * x * x - _LOG_ROOT_TWO_PI
        far = _mills(x + mu)
        tail = (mu <= _SMALL) | (x >= 0.0)
        near = log_density + np.log(np.where(tail, _mills_gap(x, mu, far), 1.0))
        value = np.minimum(np.where(tail, near, _log_bulk(np.minimum(x, 0.0), far)), 0.0)
        error = 1e-15 * (8.0 + np.abs(x) * (np.abs(x) + epsilon / mu + mu))
    return _Point(value, log_density, far, error)


def _log_bulk(x: Array, far: Array) -> Array:
    """log[Phi(-x) - phi(x) far] for x <= 0."""
    whole = log_ndtr(-x)
    lost = np.exp(-0.5 * x * x - _LOG_ROOT_TWO_PI - whole) * far
    return np.asarray(whole + np.log1p(-np.minimum(lost, 0.999)))  # 0.999: where x is not < 0


def _mills_gap(x: Array, mu: Array, far: Array) -> Array:
    """R(x) - R(x + mu); for small mu as an integral of 1 - uR(u), which does not cancel."""
    gap = _mills(np.maximum(x, 0.0)) - far
    small = mu <= _SMALL
    if np.any(small):
        gap = np.where(small, _mills_drop(np.where(small, x, 0.0), np.minimum(mu, _SMALL)), gap)
    return gap


def _mills_drop(x: Array, width: Array) -> Array:
    """R(x) - R(x + width) for 0 < width <= 0.2 by 8-point quadrature (error below rounding)."""
    u = x + 0.5 * width * (1.0 + _NODES.reshape(-1, *[1] * x.ndim))
    slope = np.where(u > 1e3, 1.0 / np.maximum(u, 1.0) ** 2, 1.0 - u * _mills(u))
    return np.asarray(0.5 * width * np.tensordot(_WEIGHTS, slope, axes=1))


def _solve_epsilon(delta: Array, mu: Array) -> Array:
    """Newton on log delta as a function of t = epsilon / mu, from above: every step is a bound."""
    wanted = np.log(delta)
    t = 0.5 * mu + np.sqrt(-2.0 * wanted)
    for _ in range(_STEPS):
        at = _log_delta(t * mu, mu)
        slope = mu * at.far * np.exp(at.log_slope - at.log_delta)
        step = np.maximum((wanted - at.error - at.log_delta) / slope, 0.0)
        t = np.maximum(t - step, 0.0)
        if np.all(step <= _SETTLED * t):
            break
    return np.asarray(t * mu)


def _solve_mu(epsilon: Array, delta: Array) -> Array:
    """Newton on log delta as a function of mu, from below: every step meets the budget."""
    wanted = np.log(delta)
    mu = math.sqrt(2.0) * epsilon / (np.sqrt(epsilon - wanted) + np.sqrt(-wanted))
    mu = np.maximum(mu, delta)  # 2 Phi(mu/2) - 1 < mu: delta alone allows this much
    for _ in range(_STEPS):
        at = _log_delta(epsilon, mu)
        gain = wanted - at.error - at.log_delta
        step = np.maximum(gain * np.exp(at.log_delta - at.log_slope), 0.0)
        mu = mu + step
        if np.all(step <= _SETTLED * mu):
            break
    return np.asarray(mu)


@dataclass(frozen=True)
class GaussianAccountant(Accountant):
    """Exact for Gaussian releases on the whole table, in any number and order, adaptively chosen.

    Direction: exact. Refuses everything that is not Gaussian.
    """

    name: str = "exact"
    title: str = "Exact"
    kind: str = "exact"
    source: str = "Dong, Roth, Su 2022, Corollary 3.3; Balle, Wang 2018, Theorem 8"
    assumptions: tuple[str, ...] = ("noise is drawn from the exact distribution",)

    def check(self, events: Events) -> None:
        """Raise NotCovered for noise that is not normal throughout."""
        check_plain(events, "exact composition")
        if not all_gaussian(events):
            raise NotCovered(
                "accountant",
                "exact composition covers Gaussian noise only",
                "choose pld or zcdp_tight, or linear or advanced for black boxes with a delta",
            )

    def epsilon(self, events: Events, delta: Real) -> Real:
        """Exact epsilon of Gaussian releases at delta, of the broadcast shape of their noise and
        delta: the privacy profile at the total mu, solved for epsilon. Source: Balle, Wang 2018,
        Theorem 8; composition: Dong, Roth, Su 2022, Corollary 3.3.
        """
        self.check(events)
        return epsilon_of(delta, total_mu(events))

    def delta(self, events: Events, epsilon: Real) -> Real:
        """Exact delta of Gaussian releases at epsilon, of the broadcast shape of their noise and
        epsilon. Source: Balle, Wang 2018, Theorem 8, at the total mu.
        """
        self.check(events)
        return delta_of(epsilon, total_mu(events))

    def factor(self, events: Events, epsilon: Real, delta: float) -> Real:
        """The number by which all noise is multiplied so that (epsilon, delta) holds exactly: the
        total mu over the mu that the budget allows. Of the shape of epsilon.
        """
        self.check(events)
        return real(total_mu(events) / mu_of(epsilon, delta))


def all_gaussian(events: Events) -> bool:
    """Whether every event that happened adds normal noise on the whole table."""
    return all(
        isinstance(e.mechanism, Gaussian) and e.sampling == "none" and not e.parallel
        for e in live(events)
    )


def total_mu(events: Events) -> Real:
    """mu = sqrt(sum count / noise_multiplier^2) of Gaussian events.

    >>> from dpcore.privacy import Event
    >>> total_mu([Event(Gaussian(5.0), count=100)])
    2.0
    """
    total = np.zeros(())
    for event in live(events):
        if isinstance(event.mechanism, Gaussian):
            total = total + event.count * inverse_square(event.mechanism.noise_multiplier)
    return real(np.sqrt(total))


def guess_from_mu(mu: Real) -> Real:
    """Largest probability of guessing right between two neighbouring tables: Phi(mu / 2).

    mu: 0 or more, of Gaussian differential privacy; any shape, which the answer has too. Both
    tables are equally likely at first; the best guess is right half of the time, plus half of the
    total variation distance between N(0, 1) and N(mu, 1).
    """
    return real(ndtr(0.5 * np.asarray(mu)))


EXACT = GaussianAccountant()
