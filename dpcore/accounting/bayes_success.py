"""An epsilon as a bet: how often can somebody who knows everything else guess one row's presence?

Two neighbouring tables, each as likely; the attacker sees all releases. The best guess is right
with probability (1 + TV)/2, TV the largest total variation distance: 0.5 is a coin.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtr

from dpcore.accounting.base import (
    Events,
    check_plain,
    dimensions,
    event_list,
    inverse_square,
    live,
    real,
)
from dpcore.accounting.catalogue import accountant
from dpcore.accounting.compose import covers
from dpcore.accounting.gaussian import all_gaussian, guess_from_mu, total_mu
from dpcore.accounting.pairs import SharesExceedDelta
from dpcore.accounting.questions import attacker_success
from dpcore.accounting.zcdp import total_rho
from dpcore.arrays import Array
from dpcore.privacy.events import DiscreteGaussian, EpsilonDelta, Laplace, Real

_METHODS = ("linear", "zcdp_tight", "ma")
_DELTAS = np.concatenate([np.logspace(-12, -1, 67), np.linspace(0.11, 0.99, 23)])


def guess_rate(events: Events) -> Real:
    """Largest chance of guessing right between two neighbouring tables, both equally likely.

    Exact for Gaussian events: Phi(mu / 2). Otherwise an upper bound, the least of

    - (e^epsilon + delta)/(1 + e^epsilon) for the epsilons that each method proves over a grid of
      deltas (Kairouz, Oh, Viswanath 2015, Theorem 1.1);
    - coupling release by release: 1 - TV is at least the product of the releases' own 1 - TV, which
      is e^(-s/2) for Laplace noise of scale 1/s, 2 Phi(-mu/2) for all Gaussians together, and for
      discrete Gaussian noise what the next line says of its rho;
    - TV <= sqrt(rho/2) and TV <= sqrt(1 - e^-rho) (Pinsker; Bretagnolle, Huber), rho the zCDP cost,
      which bounds the Kullback-Leibler divergence.

    0.5 for no events, 1 for unprotected data. Arrays in events give an array. Releases on samples
    are counted by their privacy-loss distributions. Raises NotCovered where no worst pair is known.

    >>> from dpcore.privacy import Event, Gaussian
    >>> round(guess_rate([Event(Gaussian(1.0))]), 4)
    0.6915
    >>> round(guess_rate([Event(Laplace(1.0))]), 4)
    0.6967
    """
    events = event_list(events)
    if any(event.sampling != "none" for event in live(events)):
        return attacker_success(events, 0.5, "pld")
    check_plain(events, "the guessing bound")
    if all_gaussian(events):
        return guess_from_mu(total_mu(events))
    best = 1.0 - 0.5 * _coupled(events)
    if covers("zcdp", events) is None:
        rho = np.asarray(total_rho(events))
        distance = np.minimum(np.sqrt(0.5 * rho), np.sqrt(-np.expm1(-rho)))
        best = np.minimum(best, 0.5 * (1.0 + np.minimum(distance, 1.0)))
    for name in _METHODS:
        if covers(name, events) is None:
            best = np.minimum(best, _by_method(name, events))
    return real(np.clip(best, 0.5, 1.0))


def _by_method(name: str, events: Events) -> Array:
    """The least of (e^epsilon + delta)/(1 + e^epsilon) over the grid of deltas."""
    deltas = _DELTAS.reshape(-1, *[1] * dimensions(events))
    method = accountant(name)
    try:
        epsilon = np.asarray(method.epsilon(events, deltas))
    except SharesExceedDelta:  # at the small end of the grid
        return _one_by_one(name, events)
    chance = expit(epsilon) + deltas * expit(-epsilon)
    return np.asarray(np.min(chance, axis=0))


def _one_by_one(name: str, events: Events) -> Array:
    """The same over the deltas that the method accepts."""
    best = np.asarray(1.0)
    for delta in _DELTAS:
        try:
            epsilon = np.asarray(accountant(name).epsilon(events, float(delta)))
        except SharesExceedDelta:
            continue
        best = np.minimum(best, expit(epsilon) + delta * expit(-epsilon))
    return best


def _coupled(events: Events) -> Array:
    """A lower bound on 1 - TV: the chance that all releases can be made to agree."""
    agree = 2.0 * ndtr(-0.5 * np.asarray(total_mu(events)))
    for event in live(events):
        match event.mechanism:
            case Laplace(scale=scale):
                with np.errstate(divide="ignore"):
                    agree = agree * np.exp(-0.5 * event.count / np.asarray(scale, dtype=float))
            case DiscreteGaussian(noise_multiplier=noise):
                apart = np.sqrt(-np.expm1(-0.5 * inverse_square(noise)))
                agree = agree * (1.0 - apart) ** event.count
            case EpsilonDelta(epsilon=epsilon, delta=delta):
                alike = 2.0 * (1.0 - min(1.0, delta)) * expit(-np.asarray(epsilon, dtype=float))
                agree = agree * alike**event.count
    return np.asarray(agree)
