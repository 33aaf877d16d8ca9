"""The whole picture behind an epsilon: the curve delta(epsilon), the best attack, the loss itself.

One pair (epsilon, delta) is a point of a curve; the curve is the same knowledge as the trade-off
between the two errors of the best attacker (Wasserman, Zhou 2010; Dong, Roth, Su 2022, Proposition
6), and both are read off the law of the privacy loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from dpcore.accounting.base import Events, live
from dpcore.accounting.gaussian import all_gaussian, delta_of, total_mu
from dpcore.accounting.lattice import Composition
from dpcore.accounting.parallel import worst_cases
from dpcore.accounting.pld import FAINT, PLD, bare, drawn
from dpcore.accounting.pld_bounds import PldBounds, merged
from dpcore.arrays import Array
from dpcore.errors import InputError, NotCovered

_SMALLEST = 1e-9  # the delta down to which a curve is precise
_TILTS = np.array([1e-3, 1.0, 3.0, 6.0])  # times standard deviations of the loss
_CURVE = 600  # epsilons from which a trade-off is read


@dataclass(frozen=True, eq=False)
class Losses:
    """The law of the privacy loss. losses, density (n,): per nat; infinite: of no bound.

    Drawn from the outputs of the first of the two worst tables (a row present, or one of two rows).
    """

    losses: Array
    density: Array
    infinite: float


def delta_curve(events: Events, epsilons: Array) -> Array:
    """delta at every epsilon >= 0, for the events of one run.

    epsilons (n,). **Guarantee.** Exact for Gaussian events on the whole table, else never below
    the true worst case. Precise down to delta = 1e-9; below that it errs upwards.
    Raises NotCovered where no worst pair is known.

    >>> from dpcore.privacy import Event, Gaussian
    >>> delta_curve([Event(Gaussian(1.0))], np.array([1.0])).round(6)
    array([0.126937])
    """
    epsilons = np.asarray(epsilons, dtype=float)
    return np.asarray(np.max([_curve(case, epsilons) for case in worst_cases(events)], axis=0))


def _curve(events: Events, epsilons: Array) -> Array:
    PLD.check(events)
    if all_gaussian(events):
        return np.asarray(delta_of(epsilons, total_mu(events)), dtype=float)
    if bare(live(events), 0.0) > 0.0:
        return np.ones(epsilons.shape)
    releases = merged(live(events))
    if bare(releases) > 0.0:
        return np.full(epsilons.shape, drawn(releases))
    if not releases:
        return np.zeros(epsilons.shape)
    above = PldBounds(releases, _SMALLEST, 1).above()
    return np.asarray(np.max([_least(composition, epsilons) for composition in above], axis=0))


def _least(composition: Composition, epsilons: Array) -> Array:
    """delta with several tilts: each is an upper bound, and each is precise elsewhere.

    A tilt whose window no lattice holds is left out. Raises NotCovered where that is every one.
    """
    bounds, refusals = list[Array](), list[NotCovered]()
    for tilt in _TILTS / composition.spread:
        try:
            bounds.append(composition.around(tilt).delta(epsilons))
        except NotCovered as error:
            refusals.append(error)
    if not bounds:
        raise refusals[0]
    return np.asarray(np.min(bounds, axis=0))


def tradeoff(events: Events, false_alarms: Array) -> Array:
    """The share of misses that no attacker gets below, at each share of false alarms.

    false_alarms (n,) in [0, 1]: how often the attacker may cry "this table" over the other one.
    Returns (n,). Exact for Gaussian events: Phi(Phi^-1(1 - a) - mu) (Dong, Roth, Su 2022, Eq. 6).
    Otherwise a lower bound from the curve delta(epsilon) (their Proposition 6):

        misses >= max over epsilon of 1 - delta - e^epsilon a and e^-epsilon (1 - delta - a).

    1 - a for no events (nothing but guessing), 0 for unprotected data. Raises InputError for
    shares of false alarms outside [0, 1].

    >>> from dpcore.privacy import Event, Gaussian
    >>> tradeoff([Event(Gaussian(1.0))], np.array([0.05])).round(4)
    array([0.7405])
    """
    alarms = np.asarray(false_alarms, dtype=float)
    if not np.all((alarms >= 0.0) & (alarms <= 1.0)):
        raise InputError("false_alarms", "a value is not in [0, 1]", "give probabilities")
    if all_gaussian(events):
        return _normal_misses(alarms, float(np.asarray(total_mu(events))))
    epsilons = np.concatenate([np.zeros(1), np.geomspace(1e-4, _widest(events), _CURVE)])
    covered = (1.0 - delta_curve(events, epsilons))[:, None]
    rise = np.exp(epsilons)[:, None]
    misses = np.maximum(covered - rise * alarms, (covered - alarms) / rise)
    return np.asarray(np.clip(np.max(misses, axis=0), 0.0, 1.0))


def _normal_misses(alarms: Array, mu: float) -> Array:
    if np.isinf(mu):
        return np.zeros(alarms.shape)
    return np.asarray(ndtr(-ndtri(alarms) - mu))


def _widest(events: Events) -> float:
    """An epsilon beyond which a trade-off has nothing to tell."""
    epsilon = float(np.asarray(PLD.epsilon(worst_cases(events)[0], 1e-7)))
    return min(max(epsilon, 1e-3), 500.0)


def loss_distribution(events: Events, points: int = 400) -> Losses:
    """The law of the privacy loss of the events of one run, for a picture.

    Normal for Gaussian events, N(mu^2/2, mu^2); otherwise the lattice law of
    :mod:`dpcore.accounting.discretise`, from above, in ``points`` stretches of equal width that
    hold all but 1e-6 of the probability at either end.

    >>> from dpcore.privacy import Event, Gaussian
    >>> found = loss_distribution([Event(Gaussian(1.0), count=4)])
    >>> float((found.losses * found.density).sum() * np.diff(found.losses)[0]).__round__(3)
    2.0
    """
    PLD.check(events)
    if bare(live(events), 0.0 if all_gaussian(events) else FAINT) > 0.0:
        return Losses(np.linspace(-1.0, 1.0, points), np.zeros(points), 1.0)
    if all_gaussian(events):
        return _normal(float(np.asarray(total_mu(events))), points)
    releases = merged(live(events))
    if not releases:
        return _normal(0.0, points)
    above = PldBounds(releases, _SMALLEST, 1).above()[0]
    losses, masses = above.masses()
    return _binned(losses, masses, points, above.infinite)


def _normal(mu: float, points: int) -> Losses:
    spread = max(mu, 1e-6)
    losses = 0.5 * mu**2 + spread * np.linspace(-6.0, 6.0, points)
    density = np.exp(-0.5 * np.square((losses - 0.5 * mu**2) / spread))
    return Losses(losses, density / (spread * np.sqrt(2.0 * np.pi)), 0.0)


def _binned(losses: Array, masses: Array, points: int, infinite: float) -> Losses:
    share = np.cumsum(masses) / np.sum(masses)
    low, high = np.searchsorted(share, [1e-6, 1.0 - 1e-6])
    edges = np.linspace(losses[low] - 1e-9, losses[min(high, len(losses) - 1)] + 1e-9, points + 1)
    held, _ = np.histogram(losses, edges, weights=masses)
    return Losses(0.5 * (edges[:-1] + edges[1:]), held / np.diff(edges), infinite)
