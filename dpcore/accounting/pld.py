"""Privacy-loss distributions: the whole law of what releases reveal, composed from both sides.

Sommer, Meiser, Mohammadi 2019; Koskela, Jälkö, Honkela 2020; discretised after Doroshenko et al.
2022. Direction: an upper bound, with a lower one beside it; the true worst case is between them.
With a sample of fixed size the lower end is that of a Poisson sample of the same rate, which a
table whose other rows are all alike realises: the gap is that of the theorem, not of arithmetic.

Two questions need no lattice: a delta of at least the chance that a row is drawn at all covers any
noise at epsilon 0, and noise below 1e-4 of the sensitivity counts as none.

Releases of every kind may be mixed. Gaussian releases on the whole table are first put together
into one (Dong, Roth, Su 2022, Corollary 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar, TypeVar

import numpy as np

from dpcore.accounting.base import Accountant, Events, check_one_case, live, rate_of, real, scaled
from dpcore.accounting.dominating import check_sampling, replaced_in_poisson
from dpcore.accounting.gaussian import all_gaussian, delta_of, epsilon_of, mu_of, total_mu
from dpcore.accounting.lattice import LONGEST
from dpcore.accounting.pairs import amplified
from dpcore.accounting.parallel import check_one_adjacency
from dpcore.accounting.pld_bounds import PldBounds, merged, realised
from dpcore.accounting.solve import least_factors
from dpcore.errors import InputError, NotCovered
from dpcore.privacy.events import (
    DiscreteGaussian,
    EpsilonDelta,
    Event,
    Gaussian,
    Laplace,
    Real,
    noise_of,
)

Ends = TypeVar("Ends", float, tuple[float, ...])
_KNOWN = (Gaussian, Laplace, DiscreteGaussian, EpsilonDelta)
_CLOSE, _LEAST = 1e-4, 1e-13  # relative and absolute width at which refining stops
_MOST = 5  # halvings of the step
_QUICK = LONGEST // 4  # window of the transform where the step is halved
_COARSEST = -15  # doublings of the step where losses are spread too widely
_NO_DELTA = 1e-300
_LEADS = 0.99  # a direction below this share of the other may be left unrefined
FAINT = 1e-4  # noise / sensitivity: with less, losses are so large that a lattice misplaces them


@dataclass(frozen=True)
class PLDAccountant(Accountant):
    """Any mix of Gaussian, Laplace, discrete Gaussian and black boxes, sampled or not."""

    name: str = "pld"
    title: str = "Privacy-loss distribution"
    kind: str = "upper bound"
    source: str = (
        "Sommer, Meiser, Mohammadi 2019; Doroshenko et al. 2022; "
        "Zhu, Dong, Wang 2022, Theorems 10 and 11 and Proposition 30"
    )
    assumptions: tuple[str, ...] = ("noise is drawn from the exact distribution",)
    precision: float = 1e-5  # relative, of an epsilon
    encloses: ClassVar[bool] = True

    def check(self, events: Events) -> None:
        """Raise NotCovered for releases of which no worst pair is known."""
        check_one_adjacency(live(events))
        for event in live(events):
            check_one_case(event, "the privacy-loss distribution")
            check_sampling(event)
            if not isinstance(event.mechanism, _KNOWN):
                raise NotCovered(
                    "mechanism",
                    "no dominating pair is known for a mechanism of this kind",
                    "give a gaussian, laplace, discrete_gaussian or epsilon_delta event",
                )

    def assumptions_of(self, events: Events) -> tuple[str, ...]:
        """Those that the events' samples add."""
        assumptions = self.assumptions
        if any(event.sampling != "none" for event in live(events)):
            assumptions += ("every sample is drawn afresh and stays secret",)
        if any(map(replaced_in_poisson, live(events))):
            assumptions += (
                "every row is clipped to a ball around 0, so the sensitivity is twice its radius",
            )
        return assumptions

    def interval(self, events: Events, delta: Real) -> tuple[Real, Real]:
        """(lower, upper) ends of the true epsilon at ``delta``, both of the broadcast shape of
        noise and delta.

        The upper end is a proved bound: rounding and truncation err towards a larger epsilon.
        Source: Zhu, Dong, Wang 2022, Theorems 10 and 11 and Proposition 30.
        """
        self.check(events)
        ends = [_epsilons(case, d) for case, d in _cells(events, delta)]
        shape = _shape(events, delta)
        lower, upper = np.array(ends).T.reshape(2, *shape)
        return real(lower), real(upper)

    def epsilon(self, events: Events, delta: Real) -> Real:
        """The upper end of :meth:`interval`, for half the work."""
        return self._each(_epsilon, events, delta)

    def factor(self, events: Events, epsilon: Real, delta: float) -> Real:
        """The noise of a grid of budgets, each from its neighbours'; see :mod:`.solve`.

        Raises InputError where any amount of noise meets the budget.
        """
        self.check(events)
        if all_gaussian(live(events)):
            return real(np.asarray(total_mu(live(events)) / mu_of(epsilon, delta)))
        cells = list(_cells(events, epsilon))
        factors = np.zeros(len(cells))
        for case in {case for case, _ in cells if merged(case)}:
            if delta >= drawn(merged(case)):
                raise InputError(
                    "delta",
                    "at this sampling rate any amount of noise meets the budget",
                    "give a smaller delta",
                )
            places = [i for i, (other, _) in enumerate(cells) if other == case]
            factors[places] = least_factors(
                partial(_at_factor, _rough_epsilon, case, delta),
                partial(_at_factor, _epsilon, case, delta),
                [cells[i][1] for i in places],
                self.precision,
            )
        return real(factors.reshape(_shape(events, epsilon)))

    def delta(self, events: Events, epsilon: Real) -> Real:
        """The upper end, from a lattice on the safe side."""
        return self._each(_delta, events, epsilon)

    def _each(self, answer: Callable[[Events, float], float], events: Events, value: Real) -> Real:
        self.check(events)
        values = [answer(case, number) for case, number in _cells(events, value)]
        return real(np.array(values).reshape(_shape(events, value)))


def _shape(events: Events, value: Real) -> tuple[int, ...]:
    return np.broadcast_shapes(np.shape(value), *(np.shape(noise_of(e)) for e in live(events)))


def _cells(events: Events, value: Real) -> Iterator[tuple[tuple[Event, ...], float]]:
    """The events and the number of every cell of a grid of runs."""
    shape = _shape(events, value)
    numbers = np.broadcast_to(np.asarray(value, dtype=float), shape).ravel()
    flat = [
        event.with_noise(np.broadcast_to(np.asarray(noise_of(event), dtype=float), shape).ravel())
        for event in live(events)
    ]
    for i, number in enumerate(numbers):
        yield tuple(event.at(i) for event in flat), float(number)


def _epsilons(events: Events, delta: float) -> tuple[float, float]:
    """(lower, upper) epsilon of one run."""
    plain = _plainly(events, delta)
    if plain is not None:
        return plain
    releases = merged(events)
    high = _largest(releases, delta)
    return min(_smallest(releases, delta), high), high


def _epsilon(events: Events, delta: float) -> float:
    """The upper end alone."""
    plain = _plainly(events, delta)
    return _largest(merged(events), delta) if plain is None else plain[1]


def _rough_epsilon(events: Events, delta: float) -> float:
    """The upper end with the first step: never below :func:`_epsilon`, and often very near it."""
    plain = _plainly(events, delta)
    if plain is not None:
        return plain[1]
    releases = merged(events)
    return min(max(_first(releases, delta)[1]), _without_delta(releases))


def _at_factor(
    answer: Callable[[Events, float], float], events: Events, delta: float, factor: float
) -> float:
    """The same of ``events`` with all noise multiplied."""
    return answer(scaled(events, factor), delta)


def _plainly(events: Events, delta: float) -> tuple[float, float] | None:
    """(lower, upper) epsilon where no lattice is needed."""
    if all_gaussian(events):
        exact = float(epsilon_of(delta, total_mu(events)))
        return exact, exact
    exposed = bare(events, 0.0)
    if exposed > 0.0:
        return (math.inf if delta < exposed else 0.0), math.inf
    releases = merged(events)
    if delta >= drawn(releases):
        return 0.0, 0.0
    if delta < _NO_DELTA:
        pure = _without_delta(releases)
        return (pure if delta <= 0.0 else 0.0), pure
    return (0.0, _without_delta(releases)) if bare(releases) > 0.0 else None


def _largest(releases: tuple[Event, ...], delta: float) -> float:
    return min(_upper_end(releases, delta)[1], _without_delta(releases))


@lru_cache(maxsize=4096)
def _first(releases: tuple[Event, ...], delta: float) -> tuple[int, tuple[float, ...]]:
    """(level, upper end of each direction) with the first step that suits a lattice."""
    return _coarse(releases, delta, lambda side: side.epsilons_above(delta))


@lru_cache(maxsize=4096)
def _upper_end(releases: tuple[Event, ...], delta: float) -> tuple[int, float, int | None]:
    """(level, upper end, the direction that decides it or None for both).

    A direction whose upper end at the first step is below the refined one of the other decides
    nothing and is not refined. Kept, for a budget's noise is solved for, stated and proved.
    """
    first, ends = _first(releases, delta)

    def refined(direction: int | None) -> tuple[int, float, int | None]:
        start = first, max(ends) if direction is None else ends[direction]

        def above(side: PldBounds) -> float:
            return side.epsilon_above(delta)

        return *_refined(releases, delta, start, above, direction), direction

    *others, largest = sorted(ends)
    if others and others[-1] < _LEADS * largest:
        leading = refined(ends.index(largest))
        if others[-1] <= leading[1]:
            return leading
    return refined(None)


@lru_cache(maxsize=4096)
def _smallest(releases: tuple[Event, ...], delta: float) -> float:
    """The lower end, from the upper one's step on: of the direction that decides that, or of both
    where the ends stay apart."""
    level, high, direction = _upper_end(releases, delta)
    low = _raised(releases, delta, level, high, direction)
    if direction is not None and high - low > max(_CLOSE * high, _LEAST):
        low = max(low, _raised(releases, delta, level, high, None))
    return low


def _delta(events: Events, epsilon: float) -> float:
    """The upper end of delta of one run."""
    if all_gaussian(events):
        return float(delta_of(epsilon, total_mu(events)))
    if bare(events, 0.0) > 0.0:
        return 1.0
    releases = merged(events)
    if not releases or epsilon >= _without_delta(releases):
        return 0.0
    if bare(releases) > 0.0:
        return drawn(releases)

    def above(side: PldBounds) -> float:
        return max(composition.delta(epsilon) for composition in side.above())

    _, rough = _coarse(releases, 1e-9, above)
    rough = max(_NO_DELTA, min(0.5, rough))
    refined = _refined(releases, rough, _coarse(releases, rough, above), above)[1]
    return min(refined, drawn(releases))


def bare(events: Events, least: float = FAINT) -> float:
    """The probability that a release with no more noise than ``least`` sees the row."""
    return drawn(tuple(event for event in events if _unprotected(event, least)))


def drawn(releases: tuple[Event, ...]) -> float:
    """The probability that any release sees the row, inflated by 1e-12 for rounding.

    Where none sees it, two neighbouring tables give the same; so this delta covers the releases at
    epsilon 0, however much noise there is.
    """
    unseen = 0.0
    for event in releases:
        rate = rate_of(event)
        unseen += event.count * (math.log1p(-rate) if rate < 1.0 else -math.inf)
    return min(1.0, -math.expm1(unseen) * (1.0 + 1e-12))


def _unprotected(event: Event, least: float) -> bool:
    match event.mechanism:
        case EpsilonDelta(epsilon=epsilon, delta=delta):
            return bool(np.isinf(epsilon)) or delta == 1.0
    return float(noise_of(event)) <= least


def _without_delta(releases: tuple[Event, ...]) -> float:
    """Pure epsilons add; every other law has losses without bound."""
    total = 0.0
    for event in releases:
        match event.mechanism:
            case Laplace(scale=scale):
                total += event.count * float(amplified(1.0 / float(scale), event))
            case EpsilonDelta(epsilon=epsilon, delta=0.0):
                total += event.count * float(amplified(epsilon, event))
            case _:
                return math.inf
    return total


def _refined(
    releases: tuple[Event, ...],
    delta: float,
    first: tuple[int, float],
    above: Callable[[PldBounds], float],
    direction: int | None = None,
) -> tuple[int, float]:
    """(level, upper end): the step is halved until that moves the end no more.

    The error is of second order: half a step leaves a quarter of it, a third of what it moved by.
    So the move says how many halvings are needed.
    """
    level, high = first
    halvings = 1
    while 0 <= level < _MOST and high > 0.0:
        wanted = min(level + halvings, _MOST)
        finer = _finer(releases, delta, above, range(wanted, level, -1), direction)
        if finer is None:
            break
        level, finest, end = finer
        moved, high = abs(high - end), min(high, end)
        if finest or not moved > max(_CLOSE * high, _LEAST):
            break
        halvings = _halvings(moved, high)
    return level, high


def _raised(
    releases: tuple[Event, ...], delta: float, level: int, high: float, direction: int | None
) -> float:
    """The lower end beside an upper one: with finer steps until the two are close."""

    def below(side: PldBounds) -> float:
        return side.epsilon_below(delta)

    level, low = _coarse(releases, delta, below, level, direction)
    # No step brings the ends together of samples of fixed size and of vectors of Laplace noise.
    finest = any(realised(event) is not event for event in releases)
    while not finest and 0 <= level < _MOST:
        gap = high - low
        if not gap > max(_CLOSE * high, _LEAST):
            break
        wanted = level + _halvings(gap, high)
        levels = range(min(wanted, _MOST), level, -1)
        finer = _finer(releases, delta, below, levels, direction)
        if finer is None:
            break
        level, finest, end = finer
        low = max(low, end)
    return low


def _halvings(error: float, end: float) -> int:
    """How many bring an error of second order down to what is close."""
    if math.isinf(error) or end <= 0.0:
        return 1
    return max(1, math.ceil(math.log(error / (_CLOSE * end), 4.0)))


def _finer(
    releases: tuple[Event, ...],
    delta: float,
    end: Callable[[PldBounds], float],
    levels: Iterable[int],
    direction: int | None,
) -> tuple[int, bool, float] | None:
    """(level, whether it is the last, the end) of the first that suits a quick transform."""
    for level in levels:
        side = PldBounds(releases, delta, level, _QUICK, direction)
        try:
            return level, side.finest, end(side)
        except NotCovered:
            continue
    return None


def _coarse(
    releases: tuple[Event, ...],
    delta: float,
    end: Callable[[PldBounds], Ends],
    first: int = 0,
    direction: int | None = None,
) -> tuple[int, Ends]:
    """(level, the end or ends) with the first step, or the next wider one that suits a lattice."""
    for level in range(first, _COARSEST, -2):
        try:
            return level, end(PldBounds(releases, delta, level, direction=direction))
        except NotCovered:
            continue
    return _COARSEST, end(PldBounds(releases, delta, _COARSEST, direction=direction))


PLD = PLDAccountant()
