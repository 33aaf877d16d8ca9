"""Privacy losses on a lattice: many releases are one convolution, by a tilted Fourier transform.

The privacy loss of a release is a random number L = log p(x)/q(x), x drawn from p; of many releases
it is the sum (Dwork, Rothblum 2016; Sommer, Meiser, Mohammadi 2019), and

    delta(epsilon) = P(L = infinity) + E[1 - e^(epsilon - L)]_+ .

Here every loss is ``offset + step * integer``, so sums are convolutions. They are computed after
weighting each loss l by e^(tilt l - K), K the log moment: this centres the sum where the answer
lies, so that rounding is relative to the answer (delta = 1e-15 is as accurate as 1e-3) and the
window of the transform is a few standard deviations wide, however many releases there are.

What the window cuts off is bounded by Chernoff's inequality and, with the rounding of the
transform, added to delta for an upper bound and taken off for a lower one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.errors import NotCovered

_CUT = 36.0  # -log of what the window may lose, relative to the answer
_REACHES = 2.0 ** np.array([-5.0, -3.0, -1.5, 0.0, 1.5, 3.0])  # tried in Chernoff's inequality
LONGEST = 2**23
_STEEPEST = 4.0  # tilt times step, at most: beyond it nothing below the last points is seen
_UNIT = 2.0**-53
_THIN = 4096  # points of a law by which tilts are chosen


@dataclass(frozen=True, eq=False)
class Lattice:
    """Probabilities of the losses ``offset + step * (first + i)``; ``infinite``: of no bound.

    mass (n,): drawn from p. Their sum with ``infinite`` is at most 1.
    """

    step: float
    offset: float
    first: int
    mass: Array
    infinite: float

    @property
    def losses(self) -> Array:
        """(n,), increasing."""
        return np.asarray(self.offset + self.step * (self.first + np.arange(len(self.mass))))


def check_length(points: int, most: int) -> None:
    """Raises NotCovered for a lattice that needs more points than that."""
    if points > most:
        raise NotCovered(
            "events",
            "their privacy losses are spread too widely for one lattice",
            "choose rdp or zcdp_tight",
        )


@dataclass(frozen=True)
class _Moments:
    """K, K' and K'' of a sum of losses at one tilt."""

    log: float
    mean: float
    variance: float


@dataclass(frozen=True, eq=False)
class _Factor:
    """A lattice with its count; places: of the points that have mass, as the moments need them."""

    lattice: Lattice
    count: int
    places: NDArray[np.int64]
    losses: Array
    log_mass: Array

    @cached_property
    def thinned(self) -> _Factor:
        """The same law with neighbouring points put together: good enough to choose a tilt by."""
        stride = -(-len(self.losses) // _THIN)
        if stride == 1:
            return self
        first = np.arange(0, len(self.losses), stride)
        log_mass = np.log(np.add.reduceat(self.lattice.mass[self.places], first))
        middle = np.minimum(first + stride // 2, len(self.losses) - 1)
        return _Factor(self.lattice, self.count, middle, self.losses[middle], log_mass)

    def moments(self, tilt: float) -> _Moments:
        log, weights = self.tilted(tilt)
        mean = float(np.sum(weights * self.losses))  # no matrix product: threads cost more here
        variance = float(np.sum(weights * np.square(self.losses - mean)))
        return _Moments(self.count * log, self.count * mean, self.count * variance)

    def tilted(self, tilt: float) -> tuple[float, Array]:
        """(K, weights that sum to 1)."""
        exponent = self.log_mass + tilt * self.losses
        highest = float(np.max(exponent))
        weights = np.exp(exponent - highest)
        total = float(np.sum(weights))
        return highest + math.log(total), weights / total


@dataclass(frozen=True, eq=False)
class Total:
    """The loss of all releases together, near one tilt.

    epsilons (N,): lattice points in the window, increasing. log_delta (N,): what finite losses
    contribute to delta there. infinite: probability that the loss has no bound. upper: on which
    side delta errs outside the window.
    """

    epsilons: Array
    log_delta: Array
    infinite: float
    upper: bool

    def delta(self, epsilon: Array) -> Array:
        """Delta at each epsilon, of its shape; linear in e^epsilon between lattice points, hence
        exact there.
        """
        place = np.clip(np.searchsorted(self.epsilons, epsilon, side="right"), 1, self._last)
        near, far = self.log_delta[place - 1], self.log_delta[place]
        share = _share(epsilon, self.epsilons[place - 1], self.epsilons[place])
        finite = (1.0 - share) * np.exp(near) + share * np.exp(far)
        if self.upper:
            finite = np.where(epsilon < self.epsilons[0], 1.0, finite)
        else:
            finite = np.where(epsilon > self.epsilons[-1], 0.0, finite)
        return np.asarray(np.minimum(self.infinite + finite, 1.0))

    @property
    def _last(self) -> int:
        return len(self.epsilons) - 1

    def epsilon(self, delta: float) -> float | None:
        """The least epsilon of 0 or more at which ``delta`` holds; infinite where no epsilon does,
        ``None`` where it lies below the window.
        """
        allowed = delta - self.infinite
        if allowed <= 0.0:
            return math.inf
        missed = np.flatnonzero(self.log_delta > math.log(allowed))
        if not len(missed):
            return 0.0 if self.epsilons[0] <= 0.0 else None
        if missed[-1] == self._last:
            return math.inf
        return max(0.0, self._between(int(missed[-1]), allowed))

    def _between(self, place: int, delta: float) -> float:
        """The epsilon between two lattice points, where delta is linear in e^epsilon."""
        near, far = np.exp(self.log_delta[place : place + 2])
        share = min(1.0, max(0.0, (near - delta) / (near - far)))
        low, high = self.epsilons[place : place + 2]
        gap = float(high - low)
        if gap > 1.0:  # e^gap may be too large to be written down
            return float(high) + math.log(share + (1.0 - share) * math.exp(-gap))
        return float(low) + math.log1p(share * math.expm1(gap))


def _share(epsilon: Array, low: Array, high: Array) -> Array:
    """Where e^epsilon lies between e^low and e^high."""
    inside = np.clip(epsilon, low, high)
    return np.asarray(np.exp(inside - high) * (np.expm1(low - inside) / np.expm1(low - high)))


class Composition:
    """Independent losses added up: ``counts[i]`` times the loss of ``lattices[i]``, on one step.

    upper: whether delta errs above (True) or below (False) that of the lattices. longest: window
    of the transform, in points.
    """

    def __init__(
        self,
        lattices: Sequence[Lattice],
        counts: Sequence[int],
        *,
        upper: bool,
        longest: int = LONGEST,
    ) -> None:
        self._factors = [_factor(*pair) for pair in zip(lattices, counts, strict=True)]
        self._step = lattices[0].step
        self._upper = upper
        self._longest = longest
        lost = sum(
            f.count * math.log1p(-f.lattice.infinite) if f.lattice.infinite < 1.0 else -math.inf
            for f in self._factors
        )
        self.infinite = -math.expm1(lost)

    def epsilon(self, delta: float) -> float:
        """The least epsilon of 0 or more at which ``delta`` holds for all releases together;
        infinite where the probability of an infinite loss is delta or more.
        """
        allowed = delta - self.infinite
        if allowed <= 0.0:
            return math.inf
        tilt = self.tilt_for_delta(delta)
        for _ in range(6):
            total = self.around(tilt)
            epsilon = total.epsilon(delta)
            if epsilon is not None:
                return epsilon
            tilt *= 0.3
        return float(total.epsilons[0]) if self._upper else 0.0

    def delta(self, epsilon: float) -> float:
        """Delta of all releases together at one epsilon, between 0 and 1."""
        return float(self.around(self.tilt_for_epsilon(epsilon)).delta(np.asarray(epsilon)))

    def around(self, tilt: float) -> Total:
        """The sum of losses where the tilt puts it."""
        at = self._moments(tilt)
        density, start = self._placed(tilt, at)
        return self._total(density, start, tilt, at)

    @property
    def spread(self) -> float:
        """Standard deviation of the finite losses."""
        return math.sqrt(self._moments(0.0).variance)

    def masses(self) -> tuple[Array, Array]:
        """The finite losses of all releases together and their probabilities, both ``(n,)``; losses
        increase. What is missing to 1 is the probability of an infinite loss.
        """
        at = self._moments(0.0)
        density, start = self._placed(0.0, at)
        losses = np.asarray(start + self._step * np.arange(len(density)))
        return losses, density * math.exp(at.log)

    def _placed(self, tilt: float, at: _Moments) -> tuple[Array, float]:
        """Tilted masses of a window that is wide enough, and the loss at its first point."""
        from scipy.fft import next_fast_len  # slow to import

        below, above = self._window(tilt, at)
        size = math.ceil((below + above) / self._step) + 4
        check_length(size, self._longest)
        return self._density(tilt, at, below, next_fast_len(size, real=True))

    def _moments(self, tilt: float, *, rough: bool = False) -> _Moments:
        moments = [(f.thinned if rough else f).moments(tilt) for f in self._factors]
        return _Moments(
            sum(m.log for m in moments),
            sum(m.mean for m in moments),
            sum(m.variance for m in moments),
        )

    def _window(self, tilt: float, at: _Moments) -> tuple[float, float]:
        """How far below and above the mean the tilted sum has e^-36 of its mass, by Chernoff."""
        spread = math.sqrt(at.variance) + self._step
        exponents = [*_REACHES / spread, *((0.3 * tilt, 0.9 * tilt) if tilt > 0.0 else ())]
        ends = []
        for sign in (-1.0, 1.0):
            reach = math.inf
            for exponent in exponents:
                moved = sum(f.count * f.tilted(tilt + sign * exponent)[0] for f in self._factors)
                reach = min(reach, (moved - at.log + _CUT) / exponent - sign * at.mean)
            ends.append(reach + 2.0 * self._step)
        return ends[0], ends[1]

    def _density(self, tilt: float, at: _Moments, below: float, size: int) -> tuple[Array, float]:
        """Tilted masses (size,) of the window, and the loss at its first point."""
        from scipy.fft import irfft, rfft  # slow to import

        product = np.ones(size // 2 + 1, dtype=complex)
        centre, offset = 0, 0.0
        for factor in self._factors:
            lattice = factor.lattice
            _, tilted = factor.tilted(tilt)
            middle = round(float(np.sum(tilted * (lattice.first + factor.places))))
            weights = np.zeros(len(lattice.mass))
            weights[factor.places] = tilted
            product *= rfft(_wrapped(weights, lattice.first - middle, size)) ** factor.count
            centre += factor.count * middle
            offset += factor.count * lattice.offset
        start = math.ceil((at.mean - below - offset) / self._step)
        cyclic = irfft(product, size)
        density = np.roll(cyclic, -((start - centre) % size))
        return np.maximum(density, 0.0), offset + self._step * start

    def _total(self, density: Array, start: float, tilt: float, at: _Moments) -> Total:
        """delta at every lattice point: sums over all larger losses, all terms positive."""
        from scipy.signal import lfilter  # slow to import

        step = self._step
        fade = math.exp(-tilt * step)
        weighted = lfilter([1.0], [1.0, -fade], density[::-1])[::-1]  # sum r e^(-tilt distance)
        lagged = np.append(weighted[1:], 0.0)
        sums = lfilter([fade * -math.expm1(-step)], [1.0, -fade * math.exp(-step)], lagged[::-1])
        sums = sums[::-1]
        slack = 4.0 * math.exp(-_CUT) + self._rounding(density, tilt)
        moved = sums + slack if self._upper else np.maximum(sums - slack, 0.0)
        epsilons = np.asarray(start + step * np.arange(len(density)), dtype=float)
        with np.errstate(divide="ignore"):
            log_delta = at.log - tilt * epsilons + np.log(moved)
        return Total(epsilons, np.minimum(log_delta, 0.0), self.infinite, self._upper)

    def _rounding(self, density: Array, tilt: float) -> float:
        """How far rounding of the transforms may move a weighted sum (Cauchy-Schwarz)."""
        releases = sum(factor.count for factor in self._factors)
        weights = min(1.0 / -math.expm1(-2.0 * tilt * self._step), float(len(density)))
        size = math.sqrt(weights * float(np.sum(np.square(density))))
        return _UNIT * (4.0 * releases + 16.0 * math.log2(len(density))) * size

    def tilt_for_delta(self, delta: float) -> float:
        """A tilt that keeps relative precision at the epsilon of ``delta``, and hardly more.

        The best order of Canonne, Kamath, Steinke 2020, Proposition 12, less 1, solves
        tilt K' - K + log(1 + tilt) + log delta = 0; it gives an epsilon near the true one.
        """
        wanted = math.log(max(delta - self.infinite, 1e-3 * delta))

        def excess(tilt: float) -> float:
            at = self._moments(tilt, rough=True)
            return tilt * at.mean - at.log + math.log1p(tilt) + wanted

        best = self._root(excess)
        epsilon = (
            self._moments(best, rough=True).log - math.log1p(best) - wanted
        ) / best - math.log1p(1 / best)
        return self._milder(best, epsilon, wanted)

    def tilt_for_epsilon(self, epsilon: float) -> float:
        """The same where epsilon is given: the best tilt has it as its mean."""
        best = self._root(lambda tilt: self._moments(tilt, rough=True).mean - epsilon)
        return self._milder(best, epsilon, self._moments(best, rough=True).log - best * epsilon)

    def _root(self, function: Callable[[float], float]) -> float:
        high = _STEEPEST / self._step
        return _increasing_root(function, min(1e-4, 1e-3 * high), high)

    def _milder(self, tilt: float, epsilon: float, log_delta: float) -> float:
        """A smaller tilt, for a narrower window, that gives up a few digits of relative precision.

        Heavy tails become heavier by tilting; a moderate delta does not need it.
        """
        releases = sum(factor.count for factor in self._factors)
        allowed = log_delta + max(2.0, 12.0 - math.log(releases))
        return _increasing_root(
            lambda x: allowed - self._moments(x, rough=True).log + x * epsilon, 1e-2 * tilt, tilt
        )


def _factor(lattice: Lattice, count: int) -> _Factor:
    positive = np.flatnonzero(lattice.mass > 0.0)
    low, high = (int(positive[0]), int(positive[-1]) + 1) if len(positive) else (0, 1)
    trimmed = Lattice(
        lattice.step, lattice.offset, lattice.first + low, lattice.mass[low:high], lattice.infinite
    )
    places = positive - low if len(positive) else np.zeros(1, dtype=np.int64)
    with np.errstate(divide="ignore"):
        log_mass = np.log(trimmed.mass[places])
    return _Factor(trimmed, count, places, trimmed.losses[places], log_mass)


def _wrapped(weights: Array, first: int, size: int) -> Array:
    """The masses on a circle of ``size`` points; index 0 is the loss 0."""
    first %= size
    padded = np.zeros(-(-(first + len(weights)) // size) * size)
    padded[first : first + len(weights)] = weights
    return np.asarray(padded.reshape(-1, size).sum(axis=0))


def _increasing_root(function: Callable[[float], float], low: float, high: float) -> float:
    """A rough root on a log scale: any tilt gives a valid answer, a near one an accurate one."""
    left, right = math.log(low), math.log(high)
    while right - left > 0.03:
        middle = 0.5 * (left + right)
        if function(math.exp(middle)) > 0.0:
            right = middle
        else:
            left = middle
    return math.exp(right)
