"""Optimal composition: the smallest total that single (epsilon, delta) pairs allow.

Kairouz, Oh, Viswanath 2015 (The composition theorem for differential privacy), Theorems 3.2 to 3.5.
A mechanism of which only its pair is known reveals at most what randomised response reveals that
gives everything away with probability delta (their proof of Theorem 3.3). Composing the responses
is therefore optimal: exact for black boxes, an upper bound for Laplace and Gaussian releases, which
are turned into pairs first (a Gaussian by its exact curve at its own share of delta).

With losses as in ``randomised_response``: delta = 1 - prod(1 - delta_i) (1 - delta_0(epsilon)). For
unequal epsilons the optimum is #P-hard (Murtagh, Vadhan 2016); losses are multiplied out while
there are at most 2^20 of them, and enclosed from both sides beyond.

Between the values (k - 2i) epsilon of Theorem 3.3 the curve is linear in e^epsilon and strictly
below the theorem's step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.accounting.base import Events, live, real
from dpcore.accounting.pairs import (
    InPairs,
    check_affordable,
    pairs,
    shares,
)
from dpcore.accounting.randomised_response import Enclosed, Ends, Kinds, Multiplied, together
from dpcore.arrays import Array, Mask
from dpcore.privacy.events import EpsilonDelta, Event, Gaussian, Real

_ROUNDING = 1e-12


@dataclass(frozen=True)
class OptimalAccountant(InPairs):
    """The optimum over all mechanisms with these pairs.

    Raises InputError naming ``delta_each`` when the single releases use up delta.
    """

    name: str = "kov"
    title: str = "Optimal for pairs"
    kind: str = "upper bound"
    source: str = "Kairouz, Oh, Viswanath 2015, Theorems 3.2 and 3.3; Murtagh, Vadhan 2016"
    assumptions: tuple[str, ...] = (
        "only the pair (epsilon, delta) of each release is used",
        "every Gaussian release has its own share of delta",
    )

    counting = "optimal composition"
    encloses = True

    def kind_of(self, events: Events) -> str:
        """``exact`` where all are black boxes whose losses can be multiplied out."""
        happened = live(events)
        if not all(map(_is_box, happened)):
            return "upper bound"
        if not happened:
            return "exact"
        columns = pairs(events, 0.0).epsilons.reshape(len(happened), -1).T
        kinds = (_kinds(column, _counts(events)) for column in columns)
        enclosed = any(k and isinstance(together(k), Enclosed) for k in kinds)
        return "upper bound" if enclosed else "exact"

    def interval(self, events: Events, delta: Real) -> tuple[Real | None, Real]:
        """(lower, upper) ends; the lower one is a bound for black boxes only."""
        boxes = all(map(_is_box, live(events)))
        self.check(events)
        check_affordable(events, delta, slack_needed=False)
        lower, upper = _epsilons(events, np.asarray(delta, dtype=float), both=boxes)
        return (real(lower) if boxes and live(events) else None), real(upper)

    def total(self, events: Events, delta: Array) -> Array:
        """Upper end of the optimal epsilon of the events' pairs at each delta, of its shape.
        Source: Kairouz, Oh, Viswanath 2015, Theorems 3.2 and 3.3.
        """
        return _epsilons(events, delta).upper

    def delta(self, events: Events, epsilon: Real) -> Real:
        self.check(events)
        if any(isinstance(e.mechanism, Gaussian) and e.delta_each is None for e in live(events)):
            return super().delta(events, epsilon)
        return real(_deltas(events, np.asarray(epsilon, dtype=float)))


def _is_box(event: Event) -> bool:
    """Whether the release may be any with its pair."""
    return isinstance(event.mechanism, EpsilonDelta) and event.sampling == "none"


def _rest(delta: Array, log_unspent: Array) -> Array:
    """(delta - spent) / (1 - spent) with spent = 1 - e^kept; rounding does not make it negative."""
    spent = -np.expm1(log_unspent)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = (delta - spent) / np.exp(log_unspent)
    rest = np.where(np.abs(delta - spent) <= _ROUNDING * delta, np.maximum(rest, 0.0), rest)
    return np.asarray(np.where(np.isnan(rest), -1.0, rest))


def _counts(events: Events) -> tuple[int, ...]:
    return tuple(event.count for event in live(events))


def _kinds(epsilons: Array, counts: tuple[int, ...]) -> Kinds:
    """(epsilon, count) of what reveals anything; infinite ones are not for here."""
    return tuple((float(e), n) for e, n in zip(epsilons, counts, strict=True) if 0.0 < e < math.inf)


def _log_kept(events: Events, delta: Array) -> Array:
    """log of the chance that no release gives all away."""
    total = np.zeros(np.shape(delta))
    with np.errstate(divide="ignore"):
        for event, share in zip(live(events), shares(events, delta), strict=True):
            total = total + event.count * np.log1p(-np.asarray(share, dtype=float))
    return np.asarray(total)


def _epsilons(events: Events, delta: Array, *, both: bool = False) -> Ends:
    """Ends of epsilon over the grid of runs and deltas; infinite where delta is used up."""
    if not live(events):
        return Ends(np.zeros(delta.shape), np.zeros(delta.shape))
    epsilon_each = pairs(events, delta).epsilons
    rest = np.broadcast_to(_rest(delta, _log_kept(events, delta)), epsilon_each.shape[1:])
    bad = np.any(np.isinf(epsilon_each), axis=0) | (rest < 0.0)
    wanted = np.where(bad, 0.0, rest)
    return _by_column(
        epsilon_each, _counts(events), bad, math.inf, wanted, lambda c, d: c.epsilon(d, both=both)
    )


def _deltas(events: Events, epsilon: Array) -> Array:
    """delta over the grid of runs and epsilons, where no share depends on it."""
    if not live(events):
        return np.zeros(epsilon.shape)
    epsilon_each = pairs(events, np.zeros(epsilon.shape)).epsilons
    wanted = np.broadcast_to(epsilon, epsilon_each.shape[1:])
    bad = np.any(np.isinf(epsilon_each), axis=0)
    deltas = _by_column(
        epsilon_each, _counts(events), bad, 1.0, wanted, lambda c, e: c.delta(e, both=False)
    ).upper
    spent = -np.expm1(_log_kept(events, np.zeros(())))
    return np.asarray(deltas + spent * (1.0 - deltas))


def _by_column(
    epsilon_each: Array,
    counts: tuple[int, ...],
    bad: Mask,
    worst: float,
    wanted: Array,
    question: Callable[[Multiplied | Enclosed, Array], Ends],
) -> Ends:
    """The question asked of the curve of every column of epsilons ``(events, ...)``.

    Columns that are equal share a curve. bad: where the answer is ``worst``.
    """
    table = epsilon_each.reshape(len(counts), -1)
    columns, which = np.unique(np.where(np.isinf(table), 0.0, table), axis=1, return_inverse=True)
    flat = wanted.ravel()
    lower, upper = np.zeros(flat.shape), np.zeros(flat.shape)
    for i, column in enumerate(columns.T):
        kinds = _kinds(column, counts)
        if not kinds:
            continue
        here = which.ravel() == i
        lower[here], upper[here] = question(together(kinds), flat[here])
    hidden = bad.ravel()
    shape = wanted.shape
    return Ends(
        np.where(hidden, worst, lower).reshape(shape), np.where(hidden, worst, upper).reshape(shape)
    )


KOV = OptimalAccountant()
