"""Formulas as papers print them, against which the accountants are held.

Kairouz, Oh, Viswanath 2015: Theorem 3.3, a step, and Theorem 3.5, in closed form. Canonne, Kamath,
Steinke 2020, Proposition 12, and Mironov 2017, Proposition 3: the bound of a single order.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.accounting.randomised_response import together
from dpcore.accounting.renyi import Conversion, log_moment, log_variation, saving
from dpcore.arrays import Array
from dpcore.privacy import Event
from dpcore.privacy.events import Real


def grid_epsilon(epsilon_each: float, count: int, delta: float, delta_each: float = 0.0) -> float:
    """Theorem 3.3: the least of (count - 2i) epsilon_each that holds at ``delta``; infinity where
    the deltas of single releases alone exceed it."""
    spent = -math.expm1(count * math.log1p(-delta_each))
    if spent > delta:
        return math.inf
    curve = together(((epsilon_each, count),))
    allowed = np.asarray((delta - spent) / (1.0 - spent))
    least = float(curve.epsilon(allowed).upper) / epsilon_each
    lies = max(0, math.floor(0.5 * (count - least) + 1e-12))  # the next value at or above
    return (count - 2 * lies) * epsilon_each


def closed_form(epsilons: Array, counts: Array, slack: float) -> float:
    """Theorem 3.5: epsilon at delta = 1 - (1 - slack) prod(1 - delta_i), of releases ``(n,)``."""
    total = float(counts @ epsilons)
    drift = float(counts @ (epsilons * np.tanh(0.5 * epsilons)))
    squares = float(counts @ np.square(epsilons))
    logs = (math.log(math.e + math.sqrt(squares) / slack), -math.log(slack))
    return min(total, *(drift + math.sqrt(2.0 * squares * log) for log in logs))


def renyi(event: Event, order: Real) -> Array:
    """Rényi divergence tau(alpha) of one release, at an order alpha above 1."""
    orders = np.asarray(order) - 1.0
    return np.asarray(log_moment(event, orders) / orders)


def epsilon_from(
    divergence: Real, order: Real, delta: float, conversion: Conversion = "best"
) -> Array:
    """epsilon at ``delta`` from the Rényi divergence tau at an order alpha, arrays that broadcast.

    ``best``: Proposition 12, and 0 where delta^2 >= 1 - e^-tau, the square of a bound on the total
    variation (Bretagnolle, Huber 1979). ``classic``: Proposition 3.
    """
    orders, tau = np.asarray(order) - 1.0, np.asarray(divergence)
    epsilon = (orders * tau - math.log(delta) + saving(orders, conversion)) / orders
    if conversion == "best":
        epsilon = np.where(2.0 * math.log(delta) >= log_variation(tau), 0.0, epsilon)
    return np.asarray(np.maximum(epsilon, 0.0))


def delta_from(
    divergence: Real, order: Real, epsilon: Real, conversion: Conversion = "best"
) -> Array:
    """delta at ``epsilon`` from the divergence at an order: :func:`epsilon_from` solved."""
    orders, tau = np.asarray(order) - 1.0, np.asarray(divergence)
    exponent = orders * (tau - np.asarray(epsilon)) + saving(orders, conversion)
    if conversion == "best":
        exponent = np.minimum(exponent, 0.5 * log_variation(tau))
    return np.asarray(np.exp(np.minimum(exponent, 0.0)))
