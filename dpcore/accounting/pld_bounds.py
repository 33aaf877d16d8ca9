"""Both ends of the law of what a list of releases reveals, on a lattice of one step.

Where the step comes from: a lattice should hit the losses that have atoms, be finer than what a
release loses in the mean and than the spread of the sum, and hold every loss in the window of a
transform. :mod:`dpcore.accounting.pld` asks for finer steps until both ends agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dpcore.accounting.base import Events
from dpcore.accounting.discretise import Below, from_above, from_below, spike
from dpcore.accounting.dominating import Pair, pairs_of
from dpcore.accounting.gaussian import total_mu
from dpcore.accounting.lattice import LONGEST, Composition, Lattice
from dpcore.privacy.events import DiscreteGaussian, EpsilonDelta, Event, Gaussian, Laplace, noise_of

_POINTS = 2**18  # of one release, at most
_SPREAD = 400.0  # least number of steps in a standard deviation of the sum
_COARSE = 0.08  # of the loss of one release, in the mean


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
    distinct = [replace(kind, count=count) for kind, count in counts.items()]
    mu = float(total_mu(plain))
    if mu > 0.0:
        distinct.append(Event(Gaussian(1.0 / mu), adjacency=events[0].adjacency))
    return tuple(distinct)


def _reveals_nothing(event: Event) -> bool:
    match event.mechanism:
        case EpsilonDelta(epsilon=epsilon, delta=delta):
            return float(epsilon) == 0.0 and delta == 0.0
    return bool(np.isinf(noise_of(event)))


class PldBounds:
    """The releases on one lattice, from above and from below.

    delta: the size of what is asked, which says how far out tails matter. level: the step is
    halved so many times. longest: window of the transform, in points. direction: 0 for a row
    removed, 1 for one added where the two differ; both unless one is named.
    """

    def __init__(
        self,
        releases: tuple[Event, ...],
        delta: float,
        level: int,
        longest: int = LONGEST,
        direction: int | None = None,
    ) -> None:
        self._releases = releases
        self._longest = longest
        self._direction = direction
        count = sum(event.count for event in releases)
        self._reach = math.ceil(math.sqrt(2.0 * (30.0 - math.log(delta) + math.log(count))))
        self.step, self.finest = _step(releases, self._reach, level)

    def epsilons_above(self, delta: float) -> tuple[float, ...]:
        """The upper end of each direction."""
        return tuple(composition.epsilon(delta) for composition in self.above())

    def epsilon_above(self, delta: float) -> float:
        """The upper end, a proved bound."""
        return max(self.epsilons_above(delta))

    def epsilon_below(self, delta: float) -> float:
        """The lower end."""
        return max(0.0, max(c.epsilon(delta) - raised for c, raised in self.below()))

    def delta_below(self, epsilon: float) -> float:
        """The lower end of delta."""
        return max(composition.delta(epsilon + raised) for composition, raised in self.below())

    def above(self) -> list[Composition]:
        """One composition, or two where a row removed and a row added differ."""
        return [
            self._composed([_above(*key) for key in keys], upper=True)
            for keys in self._keys([_key(event) for event in self._releases])
        ]

    def below(self) -> list[tuple[Composition, float]]:
        """The same from below, with what must be taken off epsilon."""
        weaker = [_on_lattice(realised(_key(event)), self.step) for event in self._releases]
        ends = []
        for keys in self._keys(weaker):
            sides = [_below(*key) for key in keys]
            raised = sum(e.count * s.raised for e, s in zip(self._releases, sides, strict=True))
            ends.append((self._composed([side.lattice for side in sides], upper=False), raised))
        return ends

    def _composed(self, lattices: list[Lattice], *, upper: bool) -> Composition:
        counts = [event.count for event in self._releases]
        return Composition(lattices, counts, upper=upper, longest=self._longest)

    def _keys(self, events: list[Event]) -> Iterator[list[tuple[Event, float, int, int]]]:
        """What :func:`_pair` wants to know of each release, for each direction."""
        pairs = [len(pairs_of(event, float(self._reach))) for event in events]
        directions = range(max(pairs)) if self._direction is None else (self._direction,)
        for i in directions:
            yield [
                (event, self.step, self._reach, min(i, several - 1))
                for event, several in zip(events, pairs, strict=True)
            ]


def _key(event: Event) -> Event:
    return replace(event, count=1)


@lru_cache(maxsize=64)
def _above(event: Event, step: float, reach: int, direction: int) -> Lattice:
    return from_above(*_pair(event, step, reach, direction))


@lru_cache(maxsize=64)
def _below(event: Event, step: float, reach: int, direction: int) -> Below:
    return from_below(*_pair(event, step, reach, direction))


@lru_cache(maxsize=64)
def _pair(event: Event, step: float, reach: int, direction: int) -> tuple[Pair, float, float]:
    """The worst pair, the step, and a loss that ought to be a lattice point."""
    pair = pairs_of(event, float(reach))[direction]
    return pair, step, _offset(event, pair, step)


def realised(event: Event) -> Event:
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
    typical = spread / math.sqrt(sum(event.count for event in releases))
    wanted = min(_COARSE * typical, spread / _SPREAD) / 2.0**level
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
