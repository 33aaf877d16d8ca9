"""Methods that count in pairs: each release is turned into its own (epsilon, delta) first.

A Gaussian release has a whole curve of pairs; it is read at the delta it was given (``delta_each``)
by the exact curve of Balle, Wang 2018, Theorem 8, which holds for every epsilon, unlike the
classical formula.

A release on a random sample has the pair that the sampling leaves of its own: epsilon' =
ln(1 + q (e^epsilon - 1)) and delta' = q delta, for a Poisson sample where a row is added or removed
and for a sample of fixed size where one is replaced (Balle, Barthe, Gaboardi 2018, Theorems 8, 9).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcore.accounting.base import (
    UNSAMPLED,
    Accountant,
    Events,
    check_one_case,
    live,
    rate_of,
    real,
)
from dpcore.accounting.gaussian import epsilon_of
from dpcore.arrays import Array
from dpcore.errors import InputError, NotCovered
from dpcore.privacy.events import EpsilonDelta, Event, Gaussian, Laplace, Real
from dpcore.privacy.guarantee import delta_text


class SharesExceedDelta(InputError):
    """The deltas of single releases use up the total; a method that needs none may still do."""


_ROUNDING = 1e-12  # n shares of delta / n may add to a little more than delta


@dataclass(frozen=True)
class Pairs:
    """Pairs of all releases: epsilons ``(events, ...)`` with counts ``(events,)``, deltas summed.

    spent: the sum of all deltas. slack: what is left of delta; negative where it does not suffice.
    """

    epsilons: Array
    counts: Array
    spent: Array
    slack: Array

    @property
    def linear(self) -> Array:
        """Sum of the epsilons, of the shape ``(...)`` of noise and delta."""
        return np.asarray(np.tensordot(self.counts, self.epsilons, axes=1))


def gaussian_releases(events: Events) -> int:
    """How many Gaussian releases there are."""
    return sum(e.count for e in live(events) if isinstance(e.mechanism, Gaussian))


def shares(events: Events, delta: Real) -> list[Real]:
    """Each event's delta for one of its releases; by default delta / (2 Gaussian releases)."""
    default = np.asarray(delta) / (2 * max(1, gaussian_releases(events)))
    return [_share(event, default) for event in live(events)]


def _share(event: Event, default: Array) -> Real:
    match event.mechanism:
        case Gaussian():
            return default if event.delta_each is None else event.delta_each
        case EpsilonDelta(delta=delta):
            return delta * rate_of(event)
    return 0.0


def pairs(events: Events, delta: Real) -> Pairs:
    """Every release's pair at a total of ``delta``, which broadcasts against the events' arrays."""
    happened, deltas, spent = live(events), shares(events, delta), pairs_spent(events, delta)
    return Pairs(
        _epsilons(happened, deltas, np.shape(delta)),
        np.array([float(event.count) for event in happened]),
        spent,
        np.asarray(delta) - spent,
    )


def _epsilons(events: Events, deltas: list[Real], shape: tuple[int, ...]) -> Array:
    """``(events, ...)``; all Gaussians are solved in one call."""
    amounts = [_amount(event) for event in events]
    full = np.broadcast_shapes(shape, *(np.shape(value) for value in amounts))
    table = np.array([np.broadcast_to(value, full) for value in amounts]).reshape(-1, *full)
    curves = [i for i, event in enumerate(events) if isinstance(event.mechanism, Gaussian)]
    if curves:
        own = [np.asarray(deltas[i]) / rate_of(events[i]) for i in curves]  # before the sampling
        share = np.array([np.broadcast_to(value, full) for value in own])
        table[curves] = epsilon_of(np.minimum(share, 1.0), table[curves])
    for i, event in enumerate(events):
        table[i] = amplified(table[i], event)
    return table


def amplified(epsilon: Real, event: Event) -> Array:
    """What the event's sample leaves of ``epsilon``, of its shape: ln(1 + q (e^epsilon - 1))."""
    rate = rate_of(event)
    if rate == 1.0:
        return np.asarray(epsilon)
    return np.asarray(np.logaddexp(math.log1p(-rate), math.log(rate) + epsilon))


def check_pairs(events: Events, title: str) -> None:
    """Raises NotCovered for every event without a single (epsilon, delta) pair of its own, naming
    another method. title: of the method that asks, for the message.
    """
    for event in live(events):
        check_one_case(event, title)
        if not isinstance(event.mechanism, Gaussian | Laplace | EpsilonDelta):
            raise NotCovered(
                "mechanism",
                f"{title} has no formula for the (epsilon, delta) pair of a mechanism of this kind",
                "give a gaussian, laplace or epsilon_delta event, or choose pld or zcdp_tight",
            )
        if (event.sampling, event.adjacency) not in _SAMPLES and event.sampling != "none":
            raise NotCovered(
                "sampling",
                f"{title} has no theorem for {_WORDS[event.sampling]} under {event.adjacency}",
                "choose poisson with add_remove, or without_replacement with replace_one"
                + (f", or {UNSAMPLED}" if event.adjacency != "add_remove" else ""),
            )


_SAMPLES = (("poisson", "add_remove"), ("without_replacement", "replace_one"))
_WORDS = {"poisson": "Poisson samples", "without_replacement": "fixed-size samples"}


class InPairs(Accountant):
    """What the methods have in common that turn each release into its own pair first."""

    counting: ClassVar[str]  # as a refusal names it
    slack_needed: ClassVar[bool] = False  # whether the composition itself must be paid for

    def assumptions_of(self, events: Events) -> tuple[str, ...]:
        """Those of the method, and what sampled pairs add."""
        if all(event.sampling == "none" for event in live(events)):
            return self.assumptions
        return (
            *self.assumptions,
            "each release on a fresh sample has the (epsilon, delta) pair amplified by subsampling "
            "(Balle, Barthe, Gaboardi 2018, Theorems 8 and 9)",
        )

    def check(self, events: Events) -> None:
        """Raise NotCovered for a release without a pair of its own."""
        check_pairs(events, self.counting)

    def total(self, events: Events, delta: Array) -> Array:
        """Epsilon of covered events, of the broadcast shape ``(...)`` of noise and delta; infinite
        where their own deltas leave too little. A method overrides this."""
        raise NotImplementedError

    def epsilon(self, events: Events, delta: Real) -> Real:
        """The total of all pairs at ``delta``; SharesExceedDelta where they use it up."""
        self.check(events)
        if not (self.slack_needed and float(np.min(np.asarray(delta))) <= 0.0):
            check_affordable(events, delta, slack_needed=self.slack_needed)
        return real(self.total(events, np.asarray(delta, dtype=float)))

    def delta(self, events: Events, epsilon: Real) -> Real:
        """The smallest delta whose total stays within ``epsilon``."""
        self.check(events)
        fixed = float(pairs_spent(events, 0.0))  # what does not shrink with delta
        return _least_delta(lambda d: self.total(events, d), epsilon, fixed)


def _amount(event: Event) -> Array:
    """epsilon of a Laplace release or a black box; mu of a Gaussian."""
    with np.errstate(divide="ignore"):
        match event.mechanism:
            case Gaussian(noise_multiplier=value) | Laplace(scale=value):
                return np.asarray(1.0 / np.asarray(value, dtype=float))
            case EpsilonDelta(epsilon=value):
                return np.asarray(value, dtype=float)
    raise TypeError(event.mechanism)  # check_pairs has refused it


def check_affordable(events: Events, delta: Real, *, slack_needed: bool) -> None:
    """Refuse when the deltas of single releases use up ``delta``, naming what would fit.

    Raises SharesExceedDelta.
    """
    smallest = float(np.min(np.asarray(delta)))
    spent = float(np.max(pairs_spent(events, smallest)))
    if spent < smallest or (spent <= smallest * (1.0 + _ROUNDING) and not slack_needed):
        return
    boxes = sum(
        e.count * e.mechanism.delta * rate_of(e)
        for e in live(events)
        if isinstance(e.mechanism, EpsilonDelta)
    )
    releases, left = gaussian_releases(events), smallest - boxes
    if releases == 0 or left <= 0.0:
        raise SharesExceedDelta(
            "delta",
            f"{delta_text(smallest)} is used up by black boxes, whose deltas add up to "
            f"{delta_text(boxes)}",
            f"give a delta above {delta_text(boxes)}",
        )
    raise SharesExceedDelta(
        "delta_each",
        f"the deltas of the individual releases add up to {delta_text(spent)}, which uses up "
        f"delta {delta_text(smallest)}",
        f"give every Gaussian release {'less than' if slack_needed else 'at most'} "
        f"{delta_text(three_figures_down(left / releases), down=True)}",
    )


def three_figures_down(number: float) -> float:
    """A number cut to three figures, never above it: what a message offers must fit."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 2)
    return math.floor(number / unit) * unit


def pairs_spent(events: Events, delta: Real) -> Array:
    """The sum of all single deltas, of the shape of ``delta``."""
    total = np.zeros(np.shape(delta))
    for event, share in zip(live(events), shares(events, delta), strict=True):
        total = total + event.count * np.asarray(share)
    return np.asarray(total)


def _least_delta(epsilon_at: Callable[[Array], Real], target: Real, least: Real) -> Real:
    """Smallest delta with ``epsilon_at(delta) <= target``, rounded up; 1 where there is none.

    epsilon_at: falls with delta; infinite where delta is too small. least: where to start.
    """
    target = np.asarray(target, dtype=float)
    floor = np.maximum(np.asarray(least, dtype=float), 1e-300)
    shape = np.broadcast_shapes(
        target.shape, floor.shape, np.shape(epsilon_at(np.asarray(1.0 - 1e-16)))
    )
    low = np.broadcast_to(np.log(np.minimum(floor, 1.0)), shape).copy()
    high = np.zeros(shape)
    met = np.broadcast_to(np.asarray(epsilon_at(np.exp(low))) <= target, shape)
    high = np.where(met, low, high)
    for _ in range(60):
        middle = 0.5 * (low + high)
        enough = np.asarray(epsilon_at(np.exp(middle))) <= target
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    pure = np.asarray(epsilon_at(np.zeros(()))) <= target
    return real(np.where(met & pure & (np.asarray(least) <= 0.0), 0.0, np.exp(high)))
