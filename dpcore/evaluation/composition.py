"""What a list of releases costs when it is repeated k times, by each composition method.

The same noise has one exact epsilon; every composition method proves some upper bound on it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.accounting.base import Accountant, Bound, Events
from dpcore.accounting.catalogue import ACCOUNTANTS, accountant
from dpcore.accounting.compose import calibrate, compose, covers
from dpcore.accounting.moments import MOMENTS
from dpcore.accounting.questions import against_count
from dpcore.accounting.rdp import RENYI
from dpcore.accounting.renyi import saving, total_log_moment
from dpcore.accounting.zcdp import total_rho
from dpcore.arrays import Array
from dpcore.errors import InputError, NotCovered
from dpcore.privacy.events import EpsilonDelta, Event, Gaussian, noise_of

_ROUND = (10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80, 90)
COUNTS = (*range(1, 10), *(m * 10**p for p in range(3) for m in _ROUND), 10_000)
"""Steps of the slider: how often the list is repeated."""
SLOW = ("pld", "kov", "wbk9", "wbk27")
"""Methods that are worked out in the background where they are not closed forms."""


@dataclass(frozen=True)
class Way:
    """One of the five ways on the page, by the method that has a theorem for the events.

    slot: which of the five. method: ``None`` where none has a theorem; ``refusal`` says why.
    """

    slot: str
    title: str
    method: Accountant | None
    refusal: str = ""

    @property
    def name(self) -> str:
        """The registered name of the method; empty where there is none."""
        return "" if self.method is None else self.method.name

    def bound(self, events: Events, delta: float, count: int) -> Bound:
        """The price of ``count`` repeats. Raises InputError where the method refuses."""
        return compose(repeated(events, count), self._method(), delta=delta)

    def prices(self, events: Events, delta: float, counts: Sequence[int]) -> Array:
        """Epsilon ``(counts,)``; infinite where delta is used up, NaN where there is no theorem."""
        if self.method is None:
            return np.full(len(counts), np.nan)
        return np.asarray(against_count(events, np.array(counts, float), delta, self.method))

    def factors(self, events: Events, epsilon: float, delta: float, counts: Sequence[int]) -> Array:
        """Factor on all noise ``(counts,)`` that meets the budget; infinite where none does."""
        if self.method is None:
            return np.full(len(counts), np.nan)
        return np.array([self._factor(events, epsilon, delta, count) for count in counts])

    def _factor(self, events: Events, epsilon: float, delta: float, count: int) -> float:
        try:
            return float(calibrate(repeated(events, count), epsilon, delta, self._method()))
        except InputError:
            return math.inf

    def _method(self) -> Accountant:
        if self.method is None:
            raise InputError("method", self.refusal, "choose another")
        return self.method


def ways(events: Events, methods: Collection[str] = ()) -> tuple[Way, ...]:
    """The five ways, each by the first of its methods that has a theorem for the events; or those
    registered methods that are named, each for itself.

    >>> [way.title for way in ways([Event(Gaussian(20.0))])]
    ['Basic', 'Advanced', 'zCDP', 'Moments accountant', 'Exact']
    """
    if methods:
        named = {
            "basic" if name == "linear" else name: (name,)
            for name in ACCOUNTANTS
            if name in methods
        }
        return tuple(_way(slot, names, events) for slot, names in named.items())
    return tuple(_way(slot, names, events) for slot, names in SLOTS.items())


def way_of(slot: str, events: Events) -> Way:
    """One of the five ways, or a registered method by its name."""
    return next(way for way in (*ways(events), *ways(events, (slot,))) if way.slot == slot)


SLOTS = {
    "basic": ("linear",),
    "advanced": ("advanced",),
    "zcdp": ("zcdp", "rdp", "wbk27"),
    "ma": ("ma", "wbk27 classic"),
    "exact": ("exact", "pld"),
}
"""The five ways, each with the methods that may stand for it."""


def _way(slot: str, names: Sequence[str], events: Events) -> Way:
    candidates = [method for method in map(method_named, names) if method is not None]
    for method in candidates:
        if covers(method, events) is None:
            return Way(slot, title_of(method), method)
    return Way(slot, candidates[0].title, None, refusal=covers(candidates[0], events) or "")


def method_named(name: str) -> Accountant | None:
    """A registered method, ``"wbk27 classic"`` with its older conversion; ``None`` if unknown."""
    word, _, conversion = name.partition(" ")
    if word not in ACCOUNTANTS:
        return None
    method = accountant(word)
    return replace(method, conversion=conversion) if conversion else method  # type: ignore[type-var]


def title_of(method: Accountant) -> str:
    """A title short enough for a bar; an older conversion is named."""
    short = _SHORT.get(method.name, method.title)
    return f"{short}, classic" if getattr(method, "conversion", "") == "classic" else short


_SHORT = {
    "wbk9": "Fixed size, Thm 9",
    "wbk27": "Fixed size",
    "pld": "Loss distribution",
    "zcdp_tight": "zCDP, tight",
    "kov": "Optimal (KOV)",
}


def repeated(events: Events, count: int) -> tuple[Event, ...]:
    """The whole list ``count`` times over."""
    return tuple(replace(event, count=event.count * count) for event in events)


@dataclass(frozen=True)
class Prices:
    """What the five ways say at each number of repeats.

    counts ``(S,)``. values: slot -> ``(S,)``, an epsilon, or the noise factor where the budget is
    held; NaN where a way has no answer, infinite where delta is used up. lowers: slot -> ``(S,)``,
    below which the true price is not. waiting: slots that are still worked out. methods: those
    named in place of the five.
    """

    events: tuple[Event, ...]
    delta: float
    counts: tuple[int, ...]
    ways: tuple[Way, ...]
    values: dict[str, Array]
    lowers: dict[str, Array]
    epsilon: float | None = None
    waiting: frozenset[str] = frozenset()
    methods: tuple[str, ...] = ()

    @property
    def unit(self) -> float:
        """What a factor on the noise is to be multiplied by: the one amount of all events, or 1."""
        return common_noise(self.events) or 1.0

    def bound_kind(self, way: Way) -> str:
        """``exact`` or ``upper bound``."""
        return "" if way.method is None else way.method.kind_of(self.events)

    def at(self, count: int) -> Prices:
        """The same with one more number of repeats at the end, where it is not yet among them."""
        if count in self.counts:
            return self
        more = price_list(
            self.events,
            self.delta,
            (count,),
            epsilon=self.epsilon,
            only=set(self.values) - self.waiting,
            methods=self.methods,
        )

        def joined(first: dict[str, Array], second: dict[str, Array]) -> dict[str, Array]:
            return {slot: np.append(first[slot], second[slot]) for slot in first}

        return replace(
            self,
            counts=(*self.counts, count),
            values=joined(self.values, more.values),
            lowers=joined(self.lowers, more.lowers),
        )

    def only(self, count: int) -> Prices:
        """The same at one of the numbers of repeats alone."""
        i = self.counts.index(count)
        values, lowers = (
            {slot: column[i : i + 1] for slot, column in table.items()}
            for table in (self.values, self.lowers)
        )
        return replace(self, counts=(count,), values=values, lowers=lowers)


def price_list(
    events: Events,
    delta: float,
    counts: Sequence[int] = COUNTS,
    *,
    epsilon: float | None = None,
    only: Collection[str] | None = None,
    methods: Collection[str] = (),
) -> Prices:
    """The five ways' prices of the list repeated; with ``epsilon``, the noise each needs instead.

    methods: registered ones in place of the five.

    only: slots to work out [all]; the others are NaN and stand under ``waiting``.

    >>> found = price_list([Event(Gaussian(20.0))], 1e-5, (1, 100))
    >>> [round(float(found.values[slot][1]), 2) for slot in ("basic", "zcdp", "exact")]
    [22.24, 2.52, 1.99]
    """
    listed, chosen = tuple(events), ways(events, methods)
    values, lowers = {}, {}
    nothing = np.full(len(counts), np.nan)
    for way in chosen:
        low = nothing
        if only is not None and way.slot not in only:
            column = nothing
        elif epsilon is not None:
            column = way.factors(listed, epsilon, delta, counts)
        elif way.method is not None and way.method.encloses:
            ends = [_interval(way, listed, delta, count) for count in counts]
            low, column = np.array(ends, dtype=float).T
        else:
            column = way.prices(listed, delta, counts)
        values[way.slot], lowers[way.slot] = column, low
    left = frozenset() if only is None else frozenset(values) - frozenset(only)
    return Prices(
        listed, delta, tuple(counts), chosen, values, lowers, epsilon, left, tuple(methods)
    )


def _interval(way: Way, events: Events, delta: float, count: int) -> tuple[float, float]:
    """The ends of one count, of a method that encloses the true price; NaN below where there is no
    lower one."""
    try:
        bound = way.bound(events, delta, count)
    except InputError:  # beyond what the method can compute
        return math.nan, math.inf
    return math.nan if bound.lower is None else float(bound.lower), float(bound.epsilon)


@dataclass(frozen=True)
class Profile:
    """The curve delta(epsilon) of each way: ``deltas (m,)``, slot -> ``epsilons (S, m)``."""

    deltas: Array
    epsilons: dict[str, Array]


@dataclass(frozen=True)
class Attack:
    """The best attacker's errors: ``false_alarms (m,)``, ``misses (S, m)``."""

    false_alarms: Array
    misses: Array


@dataclass(frozen=True)
class Loss:
    """The law of the privacy loss: ``losses`` and ``density``, both ``(S, m)``, and the delta
    ``(S, n)``, never below the true one, of each of ``epsilons (n,)``."""

    losses: Array
    density: Array
    epsilons: Array
    deltas: Array


@dataclass(frozen=True)
class Moments:
    """The moments accountant: ``orders (L,)`` lambda, ``moments (S, L)`` alpha(lambda)."""

    orders: Array
    moments: Array


@dataclass(frozen=True)
class Orders:
    """Renyi orders ``alphas (m,)`` above 1, the divergence and the epsilon at each, both
    ``(S, m)``; ``rho (S,)`` of zCDP, NaN where it has no theorem. ``epsilons`` hold at ``delta``.
    """

    alphas: Array
    divergences: Array
    epsilons: Array
    rho: Array


@dataclass(frozen=True)
class Amplification:
    """Upper bounds on epsilon where every release were on a Poisson sample, a row added or removed:
    ``rates (Q,)``, method -> ``epsilons (S, Q)`` at ``delta``; ``noise`` of all events, or 1.

    orders: how many the moments accountant takes on samples, so that it proves no epsilon below
    ln(1/delta) / orders.
    """

    rates: Array
    epsilons: dict[str, Array]
    noise: float
    orders: int


Picture = Profile | Attack | Loss | Moments | Orders | Amplification
PICTURES = ("profile", "attack", "loss", "moments", "orders", "amplification")
CLOSED = ("moments", "orders", "amplification")  # every count is a multiple of the first
DELTAS = np.logspace(-10.0, -1.0, 37)
ALARMS = np.concatenate([np.linspace(0.0, 0.05, 21)[:-1], np.linspace(0.05, 1.0, 77)])
EPSILONS = np.round([m * 10.0**p for p in (-2, -1, 0, 1) for m in np.arange(1.0, 10.0, 0.1)], 6)
"""Where a tail of the privacy loss may begin: two or three figures, from 0.01 to 100."""
RATES = np.geomspace(1e-3, 1.0, 25)
_POINTS = 160


def picture_of(
    name: str, events: Events, counts: Sequence[int], methods: Collection[str] = ()
) -> Picture:
    """One of ``PICTURES`` at each number of repeats. methods: as for ``price_list`` (profile).

    Raises NotCovered where no worst pair of tables is known for the events (attack and loss).

    >>> found = picture_of("attack", [Event(Gaussian(1.0))], (1,))
    >>> round(float(np.interp(0.05, found.false_alarms, found.misses[0])), 4)
    0.7405
    """
    from dpcore.accounting.losses import (  # 0.4 s, when first asked
        delta_curve,
        loss_distribution,
        tradeoff,
    )

    if name == "profile":
        chosen = ways(events, methods)
        columns = [[_profile(way, events, k) for k in counts] for way in chosen]
        return Profile(DELTAS, {w.slot: np.array(c) for w, c in zip(chosen, columns, strict=True)})
    if name == "attack":
        return Attack(ALARMS, np.array([tradeoff(repeated(events, k), ALARMS) for k in counts]))
    laws = [loss_distribution(repeated(events, k), _POINTS) for k in counts]
    deltas = [delta_curve(repeated(events, k), EPSILONS) for k in counts]
    losses, density = (np.array([getattr(x, n) for x in laws]) for n in ("losses", "density"))
    return Loss(losses, density, EPSILONS, np.array(deltas))


def moments_of(events: Events, counts: Sequence[int]) -> Moments:
    """alpha(lambda) at each number of repeats. Raises NotCovered for fixed-size samples.

    >>> moments_of([Event(Gaussian(2.0))], (1, 3)).moments[:, 1]
    array([0.75, 2.25])
    """
    orders, single = MOMENTS.log_moments(events)
    return Moments(orders, np.multiply.outer(np.array(counts, float), single))


def orders_of(events: Events, counts: Sequence[int], delta: float) -> Orders:
    """The Renyi curve at each number of repeats. Raises NotCovered for fixed-size samples.

    Source: Canonne, Kamath, Steinke 2020, Proposition 12, at single orders.

    >>> found = orders_of([Event(Gaussian(2.0))], (1,), 1e-5)
    >>> float(found.epsilons.min().round(3)), float(found.rho[0])
    (2.166, 0.125)
    """
    RENYI.check(events)
    shifts = np.geomspace(0.03, 3000.0, _POINTS)
    repeats = np.array(counts, float)
    moments = np.multiply.outer(repeats, total_log_moment(events, shifts))
    epsilons = (moments + (saving(shifts, "best") - np.log(delta))) / shifts
    rho = np.full(len(counts), np.nan)
    with suppress(InputError):
        accountant("zcdp").check(events)
        rho = repeats * float(total_rho(events))
    return Orders(1.0 + shifts, moments / shifts, epsilons, rho)


def amplification_of(events: Events, counts: Sequence[int], delta: float) -> Amplification:
    """Epsilon against the sampling rate. Raises NotCovered for other than Gaussian noise.

    >>> found = amplification_of([Event(Gaussian(4.0))], (100,), 1e-5)
    >>> [round(float(found.epsilons["rdp"][0][at]), 3) for at in (0, -1)]
    [0.026, 14.132]
    """
    if not all(isinstance(event.mechanism, Gaussian) for event in events):
        raise NotCovered(
            "mechanism", "this picture covers only Gaussian noise", "choose another picture"
        )
    bounds: dict[str, list[Array]] = {"rdp": [], "ma": []}
    for rate in RATES:
        sampled = [
            replace(e, sampling="poisson", sampling_rate=float(rate), adjacency="add_remove")
            if rate < 1.0
            else replace(e, sampling="none", sampling_rate=1.0, adjacency="add_remove")
            for e in events
        ]
        tight = orders_of(sampled, counts, delta).epsilons
        bounds["rdp"].append(np.nanmin(np.where(np.isfinite(tight), tight, np.inf), axis=1))
        whole = moments_of(sampled, counts)
        bounds["ma"].append(np.min((whole.moments - np.log(delta)) / whole.orders, axis=1))
    epsilons = {name: np.maximum(np.stack(rows, axis=1), 0.0) for name, rows in bounds.items()}
    orders = MOMENTS.highest([Event(Gaussian(1.0), sampling="poisson", sampling_rate=0.5)])
    return Amplification(RATES, epsilons, common_noise(events) or 1.0, orders)


def check_lawful(events: Events) -> None:
    """Raise NotCovered where no worst pair of tables is known: there is no picture of its law."""
    accountant("pld").check(events)


def _profile(way: Way, events: Events, count: int) -> Array:
    """Epsilon at each of ``DELTAS``; NaN where a delta is used up or has no theorem."""
    curve = np.full(len(DELTAS), np.nan)
    method, listed = way.method, repeated(events, count)
    if method is None:
        return curve
    if method.name in SLOW:
        with suppress(NotCovered):  # of a law that no lattice holds there is no curve
            return _from_law(listed) if method.name == "pld" else curve
        return curve

    def epsilons(first: int) -> Array:
        """From a delta on; empty where it is used up, and then so are all smaller ones."""
        with suppress(InputError):
            return np.asarray(method.epsilon(listed, DELTAS[first:]))
        return np.empty(0)

    first = bisect_left(range(len(DELTAS)), True, key=lambda at: len(epsilons(at)) > 0)
    if first < len(DELTAS):
        curve[first:] = epsilons(first)
    return np.where(np.isfinite(curve), curve, np.nan)


def _from_law(events: Events) -> Array:
    """The exact curve read off the privacy loss's law, on a fine grid of epsilons."""
    from dpcore.accounting.losses import delta_curve

    epsilons = np.concatenate([np.zeros(1), np.geomspace(1e-3, 1e3, 1200)])
    deltas = delta_curve(events, epsilons)
    enough = deltas[:, None] <= DELTAS
    first = np.argmax(enough, axis=0)
    return np.where(enough.any(axis=0), epsilons[first], np.nan)


def joined(parts: Sequence[Any]) -> Picture:
    """Pictures of single counts, none of which is :data:`CLOSED`, as one picture in their order."""
    first = parts[0]

    def together(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    if isinstance(first, Profile):
        curves = {s: np.concatenate([part.epsilons[s] for part in parts]) for s in first.epsilons}
        return Profile(first.deltas, curves)
    if isinstance(first, Attack):
        return Attack(first.false_alarms, together("misses"))
    return Loss(together("losses"), together("density"), first.epsilons, together("deltas"))


def nothing_yet(name: str, slots: Collection[str] = tuple(SLOTS)) -> Picture:
    """The picture of one count that is still worked out. slots: of the ways of a profile."""
    gap = np.full((1, _POINTS), np.nan)
    if name == "profile":
        return Profile(DELTAS, {slot: np.full((1, len(DELTAS)), np.nan) for slot in slots})
    if name == "attack":
        return Attack(ALARMS, np.full((1, len(ALARMS)), np.nan))
    return Loss(gap, gap, EPSILONS, np.full((1, len(EPSILONS)), np.nan))


def slow_slots(events: Events, methods: Collection[str] = ()) -> frozenset[str]:
    """Slots whose method takes long enough to be worked out in the background."""
    return frozenset(
        way.slot
        for way in ways(events, methods)
        if way.method is not None and way.method.name in SLOW
    )


@dataclass(frozen=True)
class Crossover:
    """From ``first`` repeats on (to ``last``, if there is an end) advanced is below basic."""

    first: int | None
    last: int | None = None


def crossover(events: Events, delta: float) -> Crossover:
    """Where advanced composition drops below plain adding, to the single repeat.

    >>> crossover([Event(Gaussian(1000.0))], 1e-5).first
    25
    """
    basic, advanced = ways(events)[:2]
    if basic.method is None or advanced.method is None:
        return Crossover(None)

    def both(counts: Sequence[int]) -> tuple[Array, Array]:
        return basic.prices(events, delta, counts), advanced.prices(events, delta, counts)

    def gains(count: int) -> bool:
        adding, other = both([count])
        return bool(other[0] < adding[0])

    adding, other = both(COUNTS)
    priced = np.isfinite(adding)  # until delta is used up
    counts = [count for count, finite in zip(COUNTS, priced, strict=True) if finite]
    cheaper = other[priced] < adding[priced]
    if not cheaper.any():
        return Crossover(None)
    start = int(np.argmax(cheaper))
    stop = start + int(np.argmin(cheaper[start:]))
    first = _turn(gains, counts[start - 1] if start else 0, counts[start], wanted=True)
    if cheaper[start:].all():
        return Crossover(first)
    return Crossover(first, _turn(gains, counts[stop - 1], counts[stop], wanted=False) - 1)


def _turn(gains: Callable[[int], bool], low: int, high: int, *, wanted: bool) -> int:
    """The first count after ``low`` (not so) up to ``high`` (so) where ``gains`` is as wanted."""
    while high - low > 1:
        middle = (low + high) // 2
        if gains(middle) == wanted:
            high = middle
        else:
            low = middle
    return high


def shares_asked(events: Events, count: int) -> float:
    """Sum of the deltas that single releases are given in ``count`` repeats."""
    return count * sum(event.count * (event.delta_each or 0.0) for event in events)


def common_noise(events: Events) -> float | None:
    """The one amount of noise of all events, or ``None`` where they differ or are black boxes."""
    boxes = any(isinstance(event.mechanism, EpsilonDelta) for event in events)
    amounts = {float(noise_of(event)) for event in events}
    return amounts.pop() if len(amounts) == 1 and not boxes else None


@dataclass(frozen=True)
class Row:
    """One method in the table of all: a bound, or the sentence with which it refuses."""

    name: str
    bound: Bound | None
    refusal: str = ""


def one_row(name: str, events: Events, delta: float, count: int) -> Row:
    """One method's answer."""
    try:
        return Row(name, compose(repeated(events, count), name, delta=delta))
    except InputError as refusal:
        return Row(name, None, str(refusal))


def agreements(rows: Sequence[Row], events: Events) -> tuple[str, ...]:
    """What must agree, and whether it does, in sentences."""
    bounds = {row.name: row.bound for row in rows if row.bound is not None}
    sentences = []
    plain = all(e.sampling == "none" and isinstance(e.mechanism, Gaussian) for e in events)
    if plain and {"zcdp_tight", "rdp"} <= set(bounds):
        tight, renyi = float(bounds["zcdp_tight"].epsilon), float(bounds["rdp"].epsilon)
        sentences.append(
            f"zCDP (tight) and Rényi must agree for Gaussian noise, and they "
            f"{'do' if abs(tight - renyi) <= 1e-6 * max(tight, renyi) else 'do NOT'}."
        )
    if {"exact", "pld"} <= set(bounds):
        exact, pld = bounds["exact"], bounds["pld"]
        lower = pld.epsilon if pld.lower is None else pld.lower
        inside = (
            float(lower) * (1 - 1e-6) <= float(exact.epsilon) <= float(pld.epsilon) * (1 + 1e-6)
        )
        sentences.append(
            "The exact epsilon must lie within the bounds from the privacy loss distribution, and "
            f"{'does' if inside else 'does NOT'}."
        )
    return tuple(sentences)
