"""Many randomised responses together: what an attacker can learn from all their answers.

Randomised response of epsilon tells the truth with odds e^epsilon. Its privacy loss is +epsilon or
-epsilon; the losses of many add, so those of k equal ones are (k - 2l) epsilon, l the number of
lies, a binomial number. With losses L of probability P(L),

    delta(e) = sum over L > e of P(L) (1 - e^(e - L)),

which is linear in e^e between neighbouring losses: the curve is known everywhere once it is known
at the losses, and can be inverted in closed form (Kairouz, Oh, Viswanath 2015, Theorem 3.3, which
reads it at the losses only). All sums here are of positive terms, in logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln

from dpcore.accounting.lattice import Composition, Lattice
from dpcore.arrays import Array

Kinds = tuple[tuple[float, int], ...]
_FAINT = 760.0  # -log of a probability that is left out: e^-760 is below 1e-330
_ATOMS, _FEW = 2**20, 4  # losses of a law that is multiplied out; of more kinds, a quarter
_SAME = 4e-15  # of the largest loss: losses nearer than this are one, the larger
_UP = 1.0 + 1e-15  # an upper bound stays one
_POINTS, _MOST_POINTS = 2**13, 2**16  # of a lattice in a standard deviation of the sum
_CLOSE = 1e-5  # relative width at which refining stops
_KEPT = 1e-9  # of delta: what tails may hold before they are cut
_TILTS = (1e-4, 1e6)


@dataclass(frozen=True, eq=False)
class Law:
    """losses (n,), falling; log_mass (n,): log probabilities. top: the largest loss there is."""

    losses: Array
    log_mass: Array
    top: float


class Ends(NamedTuple):
    """A number from below and from above."""

    lower: Array
    upper: Array


def repeated(epsilon: float, count: int) -> Law:
    """The losses of ``count`` responses of one ``epsilon``; those below 1e-330 are left out.

    >>> np.exp(repeated(math.log(3.0), 2).log_mass).round(4)
    array([0.5625, 0.375 , 0.0625])
    """
    lies = count * float(expit(-epsilon))
    reach = _FAINT / 3.0 + math.sqrt((_FAINT / 3.0) ** 2 + 2.0 * _FAINT * lies)  # Bernstein
    low, high = max(0, math.floor(lies - reach)), min(count, math.ceil(lies + reach))
    number = np.arange(low, high + 1, dtype=float)
    law = Law((count - 2.0 * number) * epsilon, _log_binomial(number, count, epsilon), 0.0)
    return _pruned(law.losses, law.log_mass, count * epsilon)


def _log_binomial(lies: Array, count: int, epsilon: float) -> Array:
    """log probability of so many lies; Loader 2000: without the cancellation of factorials."""
    truths = count - lies
    inner = (lies > 0.0) & (truths > 0.0)
    a, b = np.where(inner, lies, 1.0), np.where(inner, truths, 1.0)
    smooth = _stirling(np.asarray(float(count))) - _stirling(a) - _stirling(b)
    far = _deviance(a, count * expit(-epsilon)) + _deviance(b, count * expit(epsilon))
    middle = smooth - far + 0.5 * np.log(count / (2.0 * math.pi * a * b))
    softplus = math.log1p(math.exp(-epsilon))
    ends = -count * softplus - lies * epsilon  # no lies, or no truths
    return np.asarray(np.where(inner, middle, ends))


def _stirling(n: Array) -> Array:
    """log n! - log[sqrt(2 pi n) (n/e)^n]."""
    small = np.minimum(n, 16.0)
    exact = gammaln(small + 1.0) - (small + 0.5) * np.log(small) + small
    square = np.square(np.maximum(n, 16.0))
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / n
    return np.asarray(np.where(n < 16.0, exact - 0.5 * math.log(2.0 * math.pi), series))


def _deviance(number: Array, mean: float) -> Array:
    """n log(n / mean) - n + mean."""
    mean = max(mean, 1e-300)
    excess = (number - mean) / mean
    return np.asarray(mean * ((1.0 + excess) * np.log1p(excess) - excess))


def _pruned(losses: Array, log_mass: Array, top: float) -> Law:
    likely = log_mass > -_FAINT
    return Law(losses[likely], log_mass[likely], top)


def product(left: Law, right: Law) -> Law:
    """The losses of both laws added; equal ones are counted together."""
    losses = np.add.outer(left.losses, right.losses).ravel()
    log_mass = np.add.outer(left.log_mass, right.log_mass).ravel()
    top = left.top + right.top
    likely = np.flatnonzero(log_mass > -_FAINT)
    order = likely[np.argsort(-losses[likely], kind="stable")]
    losses, log_mass = losses[order], log_mass[order]
    first = np.flatnonzero(np.diff(losses, prepend=math.inf) < -_SAME * top)
    return Law(losses[first], np.logaddexp.reduceat(log_mass, first), top)


class Curve:
    """delta against epsilon of a law of losses; epsilon counts from 0."""

    def __init__(self, law: Law) -> None:
        above = law.losses > 0.0
        losses, log_mass = law.losses[above], law.log_mass[above]
        self._top = law.top
        self._losses = np.append(losses, 0.0)
        spread = np.logaddexp.accumulate(log_mass - losses)
        self._log_slope = losses + spread  # of delta against -e^(e - loss), to the left of a loss
        with np.errstate(divide="ignore"):
            gain = np.log(-np.expm1(np.diff(self._losses))) + self._log_slope
        self._log_delta = np.append(-math.inf, np.logaddexp.accumulate(gain))

    def delta(self, epsilon: Array) -> Array:
        """Delta at every epsilon, of its shape."""
        place = np.searchsorted(-self._losses, -epsilon, side="right") - 1
        place = np.clip(place, 0, len(self._log_slope) - 1)
        drop = -np.expm1(np.minimum(epsilon - self._losses[place], 0.0))
        delta = np.exp(self._log_delta[place]) + drop * np.exp(self._log_slope[place])
        return np.asarray(np.minimum(delta, 1.0))

    def epsilon(self, delta: Array) -> Array:
        """The least epsilon at every delta, of its shape: the line in e^epsilon between two losses,
        inverted.
        """
        with np.errstate(divide="ignore"):
            wanted = np.minimum(np.log(delta), self._log_delta[-1])
        place = np.searchsorted(self._log_delta, wanted, side="right") - 1
        inside = np.clip(place, 0, len(self._log_slope) - 1)
        with np.errstate(invalid="ignore"):  # delta 0 is answered last
            rise = -np.expm1(self._log_delta[inside] - wanted)
        share = np.exp(wanted - self._log_slope[inside]) * rise
        epsilon = self._losses[inside] + np.log1p(-np.clip(share, 0.0, 1.0 - 1e-16))
        epsilon = np.where(place > inside, 0.0, np.maximum(epsilon, 0.0) * _UP)
        return np.asarray(np.where(delta > 0.0, np.minimum(epsilon, self._top), self._top))


@dataclass(frozen=True, eq=False)
class Multiplied:
    """All laws multiplied out: both ends are the curve itself."""

    curve: Curve

    def epsilon(self, delta: Array, *, both: bool = True) -> Ends:
        """Both ends are the exact epsilon, of the shape ``(...)`` of delta."""
        end = self.curve.epsilon(delta)
        return Ends(end, end)

    def delta(self, epsilon: Array, *, both: bool = True) -> Ends:
        """Both ends are the exact delta, of the shape ``(...)`` of epsilon."""
        end = self.curve.delta(epsilon)
        return Ends(end, end)


@dataclass(frozen=True, eq=False)
class Enclosed:
    """Too many different losses to multiply out: laws on a common lattice, from both sides.

    From above, a loss between two lattice points is split between them so that its probability
    stays under both answers; putting the two together again only loses. From below, losses are
    rounded down: no term of delta grows. Both ends are on the safe side whatever the step. The
    upper end errs by the square of the step and is done with at once (some 1e-8); for the lower
    end, the step is made finer until the two agree to 1e-5, or the lattice has 65,536 points in a
    standard deviation.
    """

    laws: tuple[Law, ...]

    def epsilon(self, delta: Array, *, both: bool = True) -> Ends:
        """(lower, upper) at every delta; both: the lower end is worth its time."""
        ends = [self._refined(float(d), None, both) for d in np.ravel(delta)]
        return _reshaped(ends, np.shape(delta))

    def delta(self, epsilon: Array, *, both: bool = True) -> Ends:
        """(lower, upper) at every epsilon; both: the lower end is worth its time."""
        ends = [self._refined(None, float(e), both) for e in np.ravel(epsilon)]
        return _reshaped(ends, np.shape(epsilon))

    def _refined(
        self, delta: float | None, epsilon: float | None, both: bool
    ) -> tuple[float, float]:
        """(lower, upper); the lower end is 0 where not both are wanted."""
        top = sum(law.top for law in self.laws)
        if delta == 0.0 or (epsilon is not None and epsilon >= top):
            return (top, top) if epsilon is None else (0.0, 0.0)
        points = _POINTS
        upper = min(top if epsilon is None else 1.0, self._end(points, delta, epsilon, upper=True))
        lower = 0.0
        while both and upper > 0.0:
            lower = max(lower, self._end(points, delta, epsilon, upper=False))
            excess = (upper - lower) / (_CLOSE * upper)
            if excess <= 1.0 or points >= _MOST_POINTS:
                break
            points = min(_MOST_POINTS, points * 2 ** math.ceil(math.log2(1.2 * excess)))
        return min(lower, upper), upper

    @cached_property
    def _thinned(self) -> list[Law]:
        return [_thinned(law) for law in self.laws]

    @cached_property
    def _deviation(self) -> float:
        return math.sqrt(sum(_variance(law) for law in self.laws))

    def _end(
        self, points: int, delta: float | None, epsilon: float | None, *, upper: bool
    ) -> float:
        """What is asked, from one side, on a lattice of so many points in a deviation."""
        size = delta if delta is not None else self._rough_delta(epsilon or 0.0)
        faint = math.log(max(size, 1e-300) * _KEPT / len(self.laws))
        step = self._deviation / points
        lattices = [_on_lattice(law, step, faint, upper=upper) for law in self.laws]
        sums = Composition(lattices, [1] * len(lattices), upper=upper)
        return _read(sums, self._tilt(delta, epsilon), delta, epsilon, upper=upper)

    def _rough_delta(self, epsilon: float) -> float:
        """An upper bound of delta."""
        tilt = self._tilt(None, epsilon)
        log, _ = self._moments(tilt)
        return math.exp(min(0.0, log - tilt * epsilon))

    def _tilt(self, delta: float | None, epsilon: float | None) -> float:
        """The tilt t that centres the sum where the answer is: any is valid, a near one is sharp.

        It minimises log E[e^(t (L - epsilon))] + t log t - (t + 1) log(t + 1), a bound of log
        delta (Canonne, Kamath, Steinke 2020, Proposition 12).
        """
        low, high = np.log(_TILTS)
        while high - low > 0.02:
            tilt = math.exp(0.5 * (low + high))
            log, mean = self._moments(tilt)
            aim = epsilon
            if aim is None:
                saved = tilt * math.log(tilt) - (tilt + 1.0) * math.log1p(tilt)
                aim = (log + saved - math.log(delta or 1.0)) / tilt
            above = mean - math.log1p(1.0 / tilt) > aim
            low, high = (low, math.log(tilt)) if above else (math.log(tilt), high)
        return math.exp(0.5 * (low + high))

    def _moments(self, tilt: float) -> tuple[float, float]:
        """log E[e^(tilt L)] of the sum and its derivative."""
        log = mean = 0.0
        for law in self._thinned:
            exponent = law.log_mass + tilt * law.losses
            most = float(np.max(exponent))
            weight = np.exp(exponent - most)
            total = float(np.sum(weight))
            log += most + math.log(total)
            mean += float(weight @ law.losses) / total
        return log, mean


def _read(
    sums: Composition, tilt: float, delta: float | None, epsilon: float | None, *, upper: bool
) -> float:
    """The answer where the tilt puts the sum; smaller tilts while it lies to the left of that."""
    for _ in range(24):
        total = sums.around(tilt)
        if epsilon is not None and epsilon >= total.epsilons[0]:
            return float(total.delta(np.asarray(epsilon)))
        least = None if delta is None else total.epsilon(delta)
        if least is not None:
            return least
        tilt *= 0.5
    if not upper:
        return 0.0
    return 1.0 if delta is None else float(total.epsilons[0])


def _reshaped(ends: list[tuple[float, float]], shape: tuple[int, ...]) -> Ends:
    table = np.array(ends, dtype=float).reshape(*shape, 2)
    return Ends(table[..., 0], table[..., 1])


def _variance(law: Law) -> float:
    mass = np.exp(law.log_mass)
    mean = float(mass @ law.losses)
    return float(mass @ np.square(law.losses - mean))


def _thinned(law: Law) -> Law:
    """Some thousand losses, good enough to choose a tilt by; rare ones at the ends stay alone."""
    width = max((law.losses[0] - law.losses[-1]) / 4096.0, 1e-300)
    first = np.flatnonzero(np.diff(np.floor(law.losses / width), prepend=math.inf))
    return Law(law.losses[first], np.logaddexp.reduceat(law.log_mass, first), law.top)


def _on_lattice(law: Law, step: float, faint: float, *, upper: bool) -> Lattice:
    """The law on multiples of ``step``; tails of less than e^faint count in full or not at all."""
    mass = np.exp(law.log_mass)
    falling = np.cumsum(mass)
    likely = falling >= math.exp(faint)
    likely &= falling[-1] - falling + mass >= math.exp(faint)
    losses, held = law.losses[likely], mass[likely]
    place = np.floor(losses / step)
    ahead = np.clip(losses - step * place, 0.0, step)
    place = place.astype(np.int64)
    first = int(place[-1])
    if not upper:
        return Lattice(step, 0.0, first, _counted_up(place - first, held), 0.0)
    up = held * (np.expm1(-ahead) / math.expm1(-step))
    down = held * (np.expm1(step - ahead) / math.expm1(step))
    table = _counted_up(np.append(place, place + 1) - first, np.append(down, up))
    cut = float(np.sum(mass[~likely])) + len(law.losses) * math.exp(-_FAINT)
    return Lattice(step, 0.0, first, table, cut)


def _counted_up(place: NDArray[np.int64], mass: Array) -> Array:
    return np.asarray(np.bincount(place, mass), dtype=float)


@lru_cache(maxsize=16)
def together(kinds: Kinds) -> Multiplied | Enclosed:
    """The curve of responses given as (epsilon, count), each epsilon above 0 and finite."""
    laws = [repeated(epsilon, count) for epsilon, count in _counted(kinds)]
    laws.sort(key=lambda law: len(law.losses))
    most = _ATOMS if len(laws) <= _FEW else _ATOMS // 4
    blocks = laws[:1]
    for law in laws[1:]:
        if len(blocks[-1].losses) * len(law.losses) <= most:
            blocks[-1] = product(blocks[-1], law)
        else:
            blocks.append(law)
    if len(blocks) == 1:
        return Multiplied(Curve(blocks[0]))
    return Enclosed(tuple(blocks))


def _counted(kinds: Kinds) -> list[tuple[float, int]]:
    """Counts of equal epsilons added; what rounding alone sets apart is equal, at the larger."""
    counts: list[tuple[float, int]] = []
    for epsilon, count in sorted(kinds, reverse=True):
        if counts and counts[-1][0] - epsilon <= _SAME * epsilon:
            counts[-1] = (counts[-1][0], counts[-1][1] + count)
        else:
            counts.append((epsilon, count))
    return counts
