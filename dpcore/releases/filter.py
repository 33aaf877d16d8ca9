"""Filters: when a list of releases, each chosen after seeing the last, must end.

A filter is a rule that stays sound although every release is chosen with knowledge of the earlier
ones. Sums of epsilons and deltas are one (Rogers, Roth, Ullman, Vadhan 2016, section 3), sums of
zCDP costs another (Feldman, Zrnic 2021, Theorem 3.1; Whitehouse, Ramdas, Rogers, Wu 2023), sums of
squares of mu a third (Smith, Thakurta 2022; Koskela, Tobaben, Honkela 2023). Costs are whole
numbers of tiny units, rounded up, and budgets are rounded down: no sum is ever rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt, tanh
from typing import TypeAlias

from scipy.special import erfinv, log_expit, ndtri_exp

from dpcore.accounting.gaussian import epsilon_of_rho, rho_of
from dpcore.accounting.zcdp import tight_epsilon, tight_rho
from dpcore.checks import one_of
from dpcore.errors import InputError
from dpcore.privacy import DiscreteGaussian, EpsilonDelta, Event, Gaussian, Laplace, Ledger

SOLVED = Fraction(1, 10**9)  # share of a budget given up for the last digits of floats


@dataclass(frozen=True)
class Amount:
    """An epsilon with a delta: what a budget ledger allows, or what has been spent of it."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Sums:
    """Epsilons and deltas add up.

    As every filter, it has a name as scripts use it, a title for screens, the source of its
    theorem, and the accountant that turns a release's budget into noise with the least cost here.
    """

    name: str = "sums"
    title: str = "sums of epsilons and deltas"
    source: str = "Dwork, Kenthapadi, McSherry, Mironov, Naor 2006; Rogers et al. 2016, section 3"
    accountant: str = "exact"

    def budget(self, limit: Amount) -> tuple[int, ...]:
        """All that may ever be spent under a limit, in integer units, one per quantity that adds
        up (here epsilon and delta); rounded down.
        """
        return (floor(_typed(limit.epsilon) * PER_EPSILON), floor(_typed(limit.delta) * PER_DELTA))

    def cost(self, ledger: Ledger, stated: Amount) -> tuple[int, ...]:
        """What one release costs, in the units of :meth:`budget`, rounded up (here what is stated).
        ledger: its noise; stated: the epsilon and delta of its own guarantee.
        """
        return (ceil(_typed(stated.epsilon) * PER_EPSILON), ceil(_typed(stated.delta) * PER_DELTA))

    def amount(self, units: tuple[int, ...], limit: Amount) -> Amount:
        """So many units as an epsilon and a delta; the inverse of :meth:`budget` up to rounding."""
        return Amount(units[0] / PER_EPSILON, units[1] / PER_DELTA)


PER_EPSILON, PER_DELTA, PER_RHO = 10**12, 10**24, 10**18


@dataclass(frozen=True)
class Concentrated:
    """Costs in zCDP add up; one conversion at the end, at the limit's delta."""

    name: str = "zcdp"
    title: str = "zCDP"
    source: str = (
        "Bun, Steinke 2016; Canonne, Kamath, Steinke 2020, Corollary 13; Feldman, Zrnic 2021"
    )
    accountant: str = "zcdp_tight"

    def budget(self, limit: Amount) -> tuple[int, ...]:
        """Rho in units, rounded down."""
        return (floor(_exact(self._rho_of(limit)) * (1 - SOLVED) * PER_RHO),)

    def cost(self, ledger: Ledger, stated: Amount) -> tuple[int, ...]:
        """The rho of the ledger's entries in units, rounded up.

        Raises InputError for a release that has no such cost.
        """
        return (ceil(sum((self._rho(entry) for entry in ledger.events), Fraction(0)) * PER_RHO),)

    def amount(self, units: tuple[int, ...], limit: Amount) -> Amount:
        """The epsilon of so much rho at the limit's delta."""
        if units[0] == 0:
            return Amount(0.0, 0.0)
        return Amount(self._epsilon(units[0] / PER_RHO, limit.delta), limit.delta)

    def _rho(self, event: Event) -> Fraction:
        """The exact cost of an event on the whole table; InputError where there is none."""
        if event.sampling != "none":
            raise InputError(
                "filter",
                f"{self.title} defines no cost here for subsampled releases",
                "use a ledger of sums for them",
            )
        match event.mechanism:
            case Gaussian(noise_multiplier=noise) | DiscreteGaussian(noise_multiplier=noise):
                return event.count / (2 * _exact(float(noise)) ** 2)
            case Laplace(scale=scale):
                return event.count * self._of_pure(1 / _exact(float(scale)))
            case EpsilonDelta(epsilon=epsilon, delta=0.0):
                return event.count * self._of_pure(_exact(float(epsilon)))
        raise InputError(
            "filter",
            f"{self.title} defines no cost for a release that is known only by an epsilon and a "
            "delta above 0",
            "use a ledger of sums for it",
        )

    def _rho_of(self, limit: Amount) -> float:
        return float(tight_rho(limit.epsilon, limit.delta))

    def _epsilon(self, rho: float, delta: float) -> float:
        return float(tight_epsilon(rho, delta))

    def _of_pure(self, epsilon: Fraction) -> Fraction:
        return epsilon**2 / 2


@dataclass(frozen=True)
class GaussianDP(Concentrated):
    """Squares of Gaussian DP's mu add up, rho = mu^2 / 2 for short; one conversion at the end, at
    the limit's delta.

    A release of pure epsilon is mu-GDP with ``Phi(mu / 2) = e^epsilon / (1 + e^epsilon)``: the
    trade-off curve of normal noise is convex and meets that of epsilon at its corner and its ends
    (Dong, Roth, Su 2022).
    """

    name: str = "gdp"
    title: str = "Gaussian DP"
    source: str = "Dong, Roth, Su 2022; Smith, Thakurta 2022; Koskela, Tobaben, Honkela 2023"
    accountant: str = "exact"

    def _rho(self, event: Event) -> Fraction:
        event = event.continuous
        if isinstance(event.mechanism, DiscreteGaussian):
            raise InputError(
                "filter",
                f"{self.title} defines no cost for integer noise on a grid that may be coarse",
                "use a ledger of zCDP for it",
            )
        return super()._rho(event)

    def _rho_of(self, limit: Amount) -> float:
        return float(rho_of(limit.epsilon, limit.delta))

    def _epsilon(self, rho: float, delta: float) -> float:
        return float(epsilon_of_rho(rho, delta))

    def _of_pure(self, epsilon: Fraction) -> Fraction:
        """Rounded up by far more than either branch is off, or than they differ where they meet:
        what is reserved for a little less noise never costs less."""
        bound = float(epsilon)
        if bound < 1.0:
            mu = sqrt(8.0) * float(erfinv(tanh(bound / 2.0)))
        else:
            mu = -2.0 * float(ndtri_exp(log_expit(-bound)))
        return _exact(mu * (1.0 + 1e-9)) ** 2 / 2


def _typed(number: float) -> Fraction:
    """The decimal number that people type for a float: ten times 0.1 is 1."""
    _exact(number)
    return Fraction(repr(float(number)))


def _exact(number: float) -> Fraction:
    """The very number that a float is."""
    if not 0.0 < number < float("inf"):
        raise InputError("cost", "a release without noise has no finite cost", "add noise")
    return Fraction(number)


Filter: TypeAlias = Sums | Concentrated
FILTERS: dict[str, Filter] = {"gdp": GaussianDP(), "zcdp": Concentrated(), "sums": Sums()}
USUAL = "gdp"


def filter_of(name: str) -> Filter:
    """The filter of a name, ``gdp``, ``zcdp`` or ``sums``. Raises InputError for any other."""
    return FILTERS[one_of("filter", name, tuple(FILTERS))]


def total(costs: Sequence[tuple[int, ...]], width: int) -> tuple[int, ...]:
    """The sum of costs.

    >>> total([(1, 2), (3, 4)], 2)
    (4, 6)
    """
    return tuple(sum(cost[i] for cost in costs) for i in range(width))
