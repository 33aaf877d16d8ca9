"""Privacy-loss distributions: the whole law of what releases reveal, composed from both sides.

Sommer, Meiser, Mohammadi 2019; Koskela, Jälkö, Honkela 2020; discretised after Doroshenko et al.
2022. Direction: an upper bound, with a lower one beside it; the true worst case is between them.
With a sample of fixed size the lower end is that of a Poisson sample of the same rate, which a
table whose other rows are all alike realises: the gap is that of the theorem, not of arithmetic.

Releases of every kind may be mixed. Gaussian releases on the whole table are first put together
into one (Dong, Roth, Su 2022, Corollary 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, repeat

import numpy as np

from dpcore.accounting.base import Events, check_one_case, live, noise_of, real, scaled
from dpcore.accounting.discretise import Below, from_above, from_below, spike
from dpcore.accounting.dominating import Pair, check_sampling, pairs_of, replaced_in_poisson
from dpcore.accounting.gaussian import all_gaussian, delta_of, epsilon_of, mu_of, total_mu
from dpcore.accounting.lattice import LONGEST, Composition, Lattice
from dpcore.accounting.parallel import check_one_adjacency
from dpcore.accounting.solve import least_factors
from dpcore.errors import NotCovered
from dpcore.privacy.events import DiscreteGaussian, EpsilonDelta, Event, Gaussian, Laplace, Real

_KNOWN = (Gaussian, Laplace, DiscreteGaussian, EpsilonDelta)
_CLOSE, _LEAST = 1e-4, 1e-13  # relative and absolute width at which refining stops
_POINTS = 2**18  # of one release, at most
_SPREAD = 400.0  # least number of steps in a standard deviation of the sum
_COARSE = 0.08  # of the loss of one release, in the mean
_MOST = 5  # halvings of the step
_QUICK = LONGEST // 4  # window of the transform where the step is halved
_COARSEST = -15  # doublings of the step where losses are spread too widely
_NO_DELTA = 1e-300


@dataclass(frozen=True)
class PLDAccountant:
    """Any mix of Gaussian, Laplace, discrete Gaussian and black boxes, sampled or not."""

    name: str = "pld"
    title: str = "Privacy-loss distribution"
    kind: str = "upper bound"
    source: str = (
        "Sommer, Meiser, Mohammadi 2019; Doroshenko et al. 2022; "
        "Zhu, Dong, Wang 2022, Theorems 10 and 11 and Proposition 30"
    )
    assumptions: tuple[str, ...] = ("noise is drawn from the exact law",)
    precision: float = 1e-5

    def check(self, events: Events) -> None:
        check_one_adjacency(live(events))
        for event in live(events):
            check_one_case(event, "the privacy-loss distribution")
            check_sampling(event)
            if not isinstance(event.mechanism, _KNOWN):
                raise NotCovered(
                    "mechanism",
                    "no worst pair is known for a mechanism of this kind",
                    "give a gaussian, laplace, discrete_gaussian or epsilon_delta event",
                )

    def assumptions_of(self, events: Events) -> tuple[str, ...]:
        """Those that the events' samples add."""
        found = self.assumptions
        if any(event.sampling != "none" for event in live(events)):
            found += ("every sample is drawn afresh, and nobody sees who is in it",)
        if any(map(replaced_in_poisson, live(events))):
            found += ("every row is clipped to a ball around 0: sensitivity is twice its radius",)
        return found

    def interval(self, events: Events, delta: Real) -> tuple[Real, Real]:
        """(lower, upper) ends of the true epsilon."""
        self.check(events)
        ends = [_epsilons(case, d) for case, d in _cells(events, delta)]
        shape = _shape(events, delta)
        lower, upper = np.array(ends).T.reshape(2, *shape)
        return real(lower), real(upper)

    def epsilon(self, events: Events, delta: Real) -> Real:
        """The upper end of :meth:`interval`, for half the work."""
        return self._each(_epsilon, events, delta)

    def factor(self, events: Events, epsilon: Real, delta: float) -> Real:
        """The noise of a grid of budgets, each from its neighbours'; see :mod:`.solve`."""
        self.check(events)
        if all_gaussian(live(events)):
            return real(np.asarray(total_mu(live(events)) / mu_of(epsilon, delta)))
        cells = list(_cells(events, epsilon))
        found = np.zeros(len(cells))
        for case in {case for case, _ in cells if merged(case)}:
            places = [i for i, (other, _) in enumerate(cells) if other == case]
            found[places] = least_factors(
                partial(_at_factor, _rough_epsilon, case, delta),
                partial(_at_factor, _epsilon, case, delta),
                [cells[i][1] for i in places],
                self.precision,
            )
        return real(found.reshape(_shape(events, epsilon)))

    def delta(self, events: Events, epsilon: Real) -> Real:
        return self._each(_delta, events, epsilon)

    def _each(self, answer: Callable[[Events, float], float], events: Events, value: Real) -> Real:
        self.check(events)
        found = [answer(case, number) for case, number in _cells(events, value)]
        return real(np.array(found).reshape(_shape(events, value)))


def _shape(events: Events, value: Real) -> tuple[int, ...]:
    return np.broadcast_shapes(np.shape(value), *(np.shape(noise_of(e)) for e in live(events)))


def _cells(events: Events, value: Real) -> Iterator[tuple[tuple[Event, ...], float]]:
    """The events and the number of every cell of a grid of runs."""
    shape = _shape(events, value)
    numbers = np.broadcast_to(np.asarray(value, dtype=float), shape).ravel()
    flat = [_flat(event, shape) for event in live(events)]
    for i, number in enumerate(numbers):
        yield tuple(event.at(i) for event in flat), float(number)


def _flat(event: Event, shape: tuple[int, ...]) -> Event:
    """The event with its noise spread over the whole grid, in one row."""
    noise = np.broadcast_to(np.asarray(noise_of(event), dtype=float), shape).ravel()
    match event.mechanism:
        case Gaussian():
            return replace(event, mechanism=Gaussian(noise))
        case Laplace(l2_ratio=ratio):
            return replace(event, mechanism=Laplace(noise, ratio))
        case DiscreteGaussian(steps=steps):
            return replace(event, mechanism=DiscreteGaussian(noise, steps))
        case EpsilonDelta(delta=delta):
            return replace(event, mechanism=EpsilonDelta(noise, delta))


def _epsilons(events: Events, delta: float) -> tuple[float, float]:
    """(lower, upper) epsilon of one run."""
    known = _plainly(events, delta)
    if known is not None:
        return known
    releases = merged(events)
    high = _largest(releases, delta)
    return min(_smallest(releases, delta), high), high


def _epsilon(events: Events, delta: float) -> float:
    """The upper end alone."""
    known = _plainly(events, delta)
    return _largest(merged(events), delta) if known is None else known[1]


def _rough_epsilon(events: Events, delta: float) -> float:
    """The upper end with the first step: never below :func:`_epsilon`, and often very near it."""
    known = _plainly(events, delta)
    if known is not None:
        return known[1]
    releases = merged(events)
    return min(_first(releases, delta)[1], _without_delta(releases))


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
    seen = bare(events)
    if seen > 0.0:
        return (math.inf if delta < seen else 0.0), math.inf
    releases = merged(events)
    if not releases:
        return 0.0, 0.0
    if delta < _NO_DELTA:
        found = _without_delta(releases)
        return (found if delta <= 0.0 else 0.0), found
    return None


def _largest(releases: tuple[Event, ...], delta: float) -> float:
    return min(_upper_end(releases, delta)[1], _without_delta(releases))


@lru_cache(maxsize=4096)
def _first(releases: tuple[Event, ...], delta: float) -> tuple[int, float]:
    """(level, upper end) with the first step that suits a lattice."""
    return _coarse(releases, delta, lambda side: side.epsilon_above(delta))


@lru_cache(maxsize=4096)
def _upper_end(releases: tuple[Event, ...], delta: float) -> tuple[int, float]:
    """(level, upper end); kept, for a budget's noise is solved for, stated and proved."""
    first = _first(releases, delta)
    return _refined(releases, delta, first, lambda side: side.epsilon_above(delta))


@lru_cache(maxsize=4096)
def _smallest(releases: tuple[Event, ...], delta: float) -> float:
    """The lower end: with the first step unless the ends stay apart, then with the last."""
    level, high = _upper_end(releases, delta)
    if not _apart(releases):
        level, _ = _first(releases, delta)
    return _raised(releases, delta, level, high, lambda side: side.epsilon_below(delta))


def _delta(events: Events, epsilon: float) -> float:
    """The upper end of delta of one run."""
    if all_gaussian(events):
        return float(delta_of(epsilon, total_mu(events)))
    if bare(events) > 0.0:
        return 1.0
    releases = merged(events)
    if not releases or epsilon >= _without_delta(releases):
        return 0.0

    def above(side: Sides) -> float:
        return side.delta_above(epsilon)

    _, rough = _coarse(releases, 1e-9, above)
    rough = max(_NO_DELTA, min(0.5, rough))
    return _refined(releases, rough, _coarse(releases, rough, above), above)[1]


def bare(events: Events) -> float:
    """The probability that a release without any protection sees the row."""
    unseen = 1.0
    for event in events:
        if _unprotected(event):
            rate = 1.0 if event.sampling == "none" else event.sampling_rate
            unseen *= (1.0 - rate) ** event.count
    return 1.0 - unseen


def _unprotected(event: Event) -> bool:
    match event.mechanism:
        case EpsilonDelta(epsilon=epsilon, delta=delta):
            return bool(np.isinf(epsilon)) or delta == 1.0
    return float(noise_of(event)) == 0.0


def _without_delta(releases: tuple[Event, ...]) -> float:
    """Pure epsilons add; every other law has losses without bound."""
    total = 0.0
    for event in releases:
        match event.mechanism:
            case Laplace(scale=scale):
                total += event.count * _amplified(1.0 / float(scale), event)
            case EpsilonDelta(epsilon=epsilon, delta=0.0):
                total += event.count * _amplified(float(epsilon), event)
            case _:
                return math.inf
    return total


def _amplified(epsilon: float, event: Event) -> float:
    """The largest loss that a sample leaves: log(1 + r (e^epsilon - 1)), and its mirror image."""
    if event.sampling == "none":
        return epsilon
    rate = event.sampling_rate
    return float(np.logaddexp(math.log1p(-rate), math.log(rate) + epsilon)) if rate < 1 else epsilon


def _refined(
    releases: tuple[Event, ...],
    delta: float,
    first: tuple[int, float],
    above: Callable[[Sides], float],
) -> tuple[int, float]:
    """(level, upper end): the step is halved until that moves the end no more.

    The error is of second order: half a step leaves a quarter of it, a third of what it moved by.
    So the move says how many halvings are needed.
    """
    level, high = first
    halvings = 1
    while 0 <= level < _MOST and high > 0.0:
        wanted = min(level + halvings, _MOST)
        finer = _finer(releases, delta, above, range(wanted, level, -1))
        if finer is None:
            break
        level, finest, found = finer
        moved, high = abs(high - found), min(high, found)
        if finest or not moved > max(_CLOSE * high, _LEAST):
            break
        halvings = _halvings(moved, high)
    return level, high


def _raised(
    releases: tuple[Event, ...],
    delta: float,
    level: int,
    high: float,
    below: Callable[[Sides], float],
) -> float:
    """The lower end beside an upper one: with finer steps until the two are close."""
    level, low = _coarse(releases, delta, below, level)
    finest = _apart(releases)
    while not finest and 0 <= level < _MOST:
        gap = high - low
        if not gap > max(_CLOSE * high, _LEAST):
            break
        wanted = level + _halvings(gap, high)
        finer = _finer(releases, delta, below, range(min(wanted, _MOST), level, -1))
        if finer is None:
            break
        level, finest, found = finer
        low = max(low, found)
    return low


def _halvings(error: float, end: float) -> int:
    """How many bring an error of second order down to what is close."""
    if math.isinf(error) or end <= 0.0:
        return 1
    return max(1, math.ceil(math.log(error / (_CLOSE * end), 4.0)))


def _apart(releases: tuple[Event, ...]) -> bool:
    """Whether no step brings the ends together: samples of fixed size, vectors of Laplace noise."""
    return any(_realised(event) is not event for event in releases)


def _finer(
    releases: tuple[Event, ...],
    delta: float,
    end: Callable[[Sides], float],
    levels: Iterable[int],
) -> tuple[int, bool, float] | None:
    """(level, whether it is the last, the end) of the first that suits a quick transform."""
    for level in levels:
        side = Sides(releases, delta, level, _QUICK)
        try:
            return level, side.finest, end(side)
        except NotCovered:
            continue
    return None


def _coarse(
    releases: tuple[Event, ...], delta: float, end: Callable[[Sides], float], first: int = 0
) -> tuple[int, float]:
    """(level, the end) with the first step, or the next wider one that suits a lattice."""
    for level in range(first, _COARSEST, -2):
        try:
            return level, end(Sides(releases, delta, level))
        except NotCovered:
            continue
    return _COARSEST, end(Sides(releases, delta, _COARSEST))


def merged(events: Events) -> tuple[Event, ...]:
    """Equal releases counted together; all normal noise on the whole table as one release."""
    plain = [e for e in events if isinstance(e.mechanism, Gaussian) and e.sampling == "none"]
    counts: dict[Event, int] = {}
    for event in events:
        if event in plain or _reveals_nothing(event):
            continue
        kind = Event(
            event.mechanism,
            sampling=event.sampling,
            sampling_rate=event.sampling_rate,
            adjacency=event.adjacency,
        )
        counts[kind] = counts.get(kind, 0) + event.count
    found = [replace(kind, count=count) for kind, count in counts.items()]
    mu = float(total_mu(plain))
    if mu > 0.0:
        found.append(Event(Gaussian(1.0 / mu), adjacency=events[0].adjacency))
    return tuple(found)


def _reveals_nothing(event: Event) -> bool:
    match event.mechanism:
        case EpsilonDelta(epsilon=epsilon, delta=delta):
            return float(epsilon) == 0.0 and delta == 0.0
    return bool(np.isinf(noise_of(event)))


class Sides:
    """The releases on one lattice, from above and from below.

    delta: the size of what is asked, which says how far out tails matter. level: the step is
    halved so many times. longest: window of the transform, in points.
    """

    def __init__(
        self, releases: tuple[Event, ...], delta: float, level: int, longest: int = LONGEST
    ) -> None:
        self._releases = releases
        self._longest = longest
        count = sum(event.count for event in releases)
        self._reach = math.ceil(math.sqrt(2.0 * (30.0 - math.log(delta) + math.log(count))))
        self.step, self.finest = _step(releases, self._reach, level)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """(lower, upper) end."""
        return self.epsilon_below(delta), self.epsilon_above(delta)

    def epsilon_above(self, delta: float) -> float:
        """The upper end."""
        return max(c.epsilon(delta, tilt) for c, tilt in self._for_delta(delta))

    def epsilon_below(self, delta: float) -> float:
        """The lower end; a tilt that suits one end suits the other."""
        below = zip(self.below(), _repeated(self._for_delta(delta)), strict=False)
        return max(0.0, max(c.epsilon(delta, tilt) - raised for (c, raised), tilt in below))

    def delta(self, epsilon: float) -> tuple[float, float]:
        """(lower, upper) end."""
        below = zip(self.below(), _repeated(self._for_epsilon(epsilon)), strict=False)
        lower = max(c.delta(epsilon + raised, tilt) for (c, raised), tilt in below)
        return lower, self.delta_above(epsilon)

    def delta_above(self, epsilon: float) -> float:
        """The upper end of delta."""
        return max(c.delta(epsilon, tilt) for c, tilt in self._for_epsilon(epsilon))

    def _for_delta(self, delta: float) -> list[tuple[Composition, float]]:
        """Compositions from above, with a tilt for each."""
        return [(c, c.tilt_for_delta(delta)) for c in self.above()]

    def _for_epsilon(self, epsilon: float) -> list[tuple[Composition, float]]:
        return [(c, c.tilt_for_epsilon(epsilon)) for c in self.above()]

    def above(self) -> list[Composition]:
        """One composition, or two where a row removed and a row added differ."""
        each = [_above(_key(event), self.step, self._reach) for event in self._releases]
        counts = [event.count for event in self._releases]
        return [
            Composition(
                [one[min(i, len(one) - 1)] for one in each],
                counts,
                upper=True,
                longest=self._longest,
            )
            for i in range(max(map(len, each)))
        ]

    def below(self) -> list[tuple[Composition, float]]:
        """The same from below, with what must be taken off epsilon."""
        each = [_below(_key(event), self.step, self._reach) for event in self._releases]
        counts = [event.count for event in self._releases]
        found = []
        for i in range(max(map(len, each))):
            chosen = [one[min(i, len(one) - 1)] for one in each]
            raised = sum(n * one.raised for n, one in zip(counts, chosen, strict=True))
            lattices = [one.lattice for one in chosen]
            under = Composition(lattices, counts, upper=False, longest=self._longest)
            found.append((under, raised))
        return found


def _repeated(tilted: list[tuple[Composition, float]]) -> Iterator[float]:
    """One tilt for each direction; the last again where there are more."""
    tilts = [tilt for _, tilt in tilted]
    return chain(tilts, repeat(tilts[-1]))


def _key(event: Event) -> Event:
    return replace(event, count=1)


@lru_cache(maxsize=64)
def _above(event: Event, step: float, reach: int) -> tuple[Lattice, ...]:
    return tuple(from_above(pair, step, offset) for pair, offset in _pairs(event, step, reach))


@lru_cache(maxsize=64)
def _below(event: Event, step: float, reach: int) -> tuple[Below, ...]:
    weaker = _on_lattice(_realised(event), step)
    return tuple(from_below(pair, step, offset) for pair, offset in _pairs(weaker, step, reach))


@lru_cache(maxsize=64)
def _pairs(event: Event, step: float, reach: int) -> tuple[tuple[Pair, float], ...]:
    """The worst pairs, each with a loss that ought to be a lattice point."""
    pairs = pairs_of(event, float(reach))
    return tuple((pair, _offset(event, pair, step)) for pair in pairs)


def _realised(event: Event) -> Event:
    """What some pair of tables certainly reveals: for a sample of fixed size, a Poisson sample's.

    With all other rows at one value the sum of the sample tells only whether the row is in it. Of a
    vector that moves by ``ratio`` in L2 and at most 1 in L1, one entry moves by ratio^2 at least.
    """
    match event.mechanism:
        case Laplace(scale=scale, l2_ratio=ratio) if ratio < 1.0:
            event = replace(event, mechanism=Laplace(float(scale) / ratio**2))
    if event.sampling == "without_replacement":
        return replace(event, sampling="poisson", adjacency="add_remove")
    return event


def _on_lattice(event: Event, step: float) -> Event:
    """The same with a little more noise, so that the largest loss is a lattice point.

    A Laplace law with a larger scale is the smaller one with independent noise added (the ratio of
    their characteristic functions is a mixture of 1 and one of them); randomised response with a
    smaller epsilon is the larger one with some answers drawn anew. Both only lose.
    """
    if event.sampling != "none":
        return event
    match event.mechanism:
        case Laplace(scale=scale):
            return replace(event, mechanism=Laplace(1.0 / _floor(1.0 / float(scale), step)))
        case EpsilonDelta(epsilon=epsilon, delta=delta):
            return replace(event, mechanism=EpsilonDelta(_floor(float(epsilon), step), delta))
    return event


def _floor(loss: float, step: float) -> float:
    return max(1.0, math.floor(loss / step * (1.0 + 1e-12))) * step if loss >= step else loss


def _offset(event: Event, pair: Pair, step: float) -> float:
    """A loss that ought to be a lattice point."""
    if event.sampling != "none":
        return spike(pair, step)
    if isinstance(event.mechanism, DiscreteGaussian):
        return math.remainder(-0.5 / float(event.mechanism.noise_multiplier) ** 2, step)
    return 0.0


def _step(releases: tuple[Event, ...], reach: int, level: int) -> tuple[float, bool]:
    """(step, whether it cannot be finer): a power of 2 below the loss that should be a multiple."""
    losses = [_typical(event) for event in releases]
    spread = math.sqrt(sum(e.count * s**2 for e, s in zip(releases, losses, strict=True)))
    each = spread / math.sqrt(sum(event.count for event in releases))
    wanted = min(_COARSE * each, spread / _SPREAD) / 2.0**level
    least = max(_range(event, reach) for event in releases) / _POINTS
    base = max(zip(releases, losses, strict=True), key=lambda pair: _aligned(*pair))[1]
    chosen = max(wanted, least)
    step = base / 2.0 ** math.ceil(math.log2(base / chosen))
    return step, wanted <= least


def _aligned(event: Event, loss: float) -> float:
    """Which release's losses the lattice should hit: the weightiest whose losses have atoms."""
    atoms = event.sampling == "none" and not isinstance(event.mechanism, Gaussian)
    return event.count * loss**2 * (1e12 if atoms else 1.0)


def _typical(event: Event) -> float:
    """The size of a loss that matters for the sum."""
    match event.mechanism:
        case EpsilonDelta(epsilon=epsilon):
            size = max(float(epsilon), 1e-9)
        case DiscreteGaussian(noise_multiplier=noise, steps=steps):
            size = 1.0 / (float(noise) ** 2 * (steps or 1))
        case _:
            size = 1.0 / float(noise_of(event))
    if event.sampling == "none":
        return size
    return event.sampling_rate * min(size, 1.0)


def _range(event: Event, reach: int) -> float:
    """Distance between the largest and the smallest loss."""
    match event.mechanism:
        case Gaussian(noise_multiplier=noise) | DiscreteGaussian(noise_multiplier=noise):
            mu = 1.0 / float(noise)
            size = mu * (mu + 2.0 * reach)
        case Laplace(scale=scale):
            size = 2.0 / float(scale)
        case EpsilonDelta(epsilon=epsilon):
            size = 2.0 * float(epsilon)
    if event.sampling == "none":
        return size
    return 2.0 * float(np.logaddexp(0.0, math.log(event.sampling_rate) + 0.5 * size))


PLD = PLDAccountant()
