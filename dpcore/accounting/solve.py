"""The smallest amount of noise that meets a budget: one root, found for a whole grid at once.

Chandrupatla 1997: a bracketed root finder that uses inverse quadratic interpolation while it is
safe and bisection otherwise. The result is rounded up until the method itself confirms the budget.

Where one answer is slow, budgets are worked out one after the other on one remembered curve: every
answer brackets the next, and a rough bound that is never below the method's leads the search.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from dpcore.accounting.base import Accountant, Events, dimensions, live, real, scaled
from dpcore.arrays import Array, Mask
from dpcore.errors import InputError
from dpcore.privacy.events import Real, noise_of

_CLOSE = 1e-11  # of log epsilon
_FAR = 100.0  # on the scale of log noise; a walk stays below exp(700)
_CLIP = 60.0  # of log epsilon, where a bound is 0 or infinite
_ON = 1e-6  # of log epsilon: half the width of what counts as met by a remembered curve
_NARROW = 1e-10  # of log noise: a jump of the bound, which no noise meets closely


def noise_factor(accountant: Accountant, events: Events, epsilon: Real, delta: float) -> Real:
    """Smallest factor on the noise of all events with which ``accountant`` proves (epsilon, delta).

    epsilon: above 0, a number or an array; the answer has its shape. It is rounded up until the
    accountant itself states at most epsilon for it, so the noise is never too small. Raises
    NotCovered where the accountant cannot prove the budget for any noise, and InputError where
    every amount of noise, or none, meets it.
    """
    target = np.asarray(epsilon, dtype=float)
    if accountant.one_by_one and target.ndim and not dimensions(events):
        factors = [noise_factor(accountant, events, float(e), delta) for e in target.ravel()]
        return np.reshape(np.array(factors), target.shape)

    def epsilon_at(factor: Array) -> Array:
        return np.asarray(accountant.epsilon(scaled(events, factor), delta))

    if live(events):
        accountant.check_reachable(epsilon, delta, events)
    factor = accountant.factor(events, epsilon, delta)
    if factor is None:
        factor = _searched(epsilon_at, target, _no_release(events))
    return real(_rounded_up(epsilon_at, np.asarray(factor), target))


def _searched(epsilon_at: Callable[[Array], Array], target: Array, nothing: Mask) -> Array:
    """The factor, closely; 0 where there is nothing to hide."""
    bare = epsilon_at(np.ones(target.shape))
    nothing = np.broadcast_to(nothing, bare.shape)
    if np.all(nothing):
        return np.zeros(bare.shape)
    return np.where(nothing, 0.0, _solve(epsilon_at, target, bare, nothing))


def _no_release(events: Events) -> Mask:
    """Where all noise is infinite."""
    endless = np.array(True)
    for event in live(events):
        endless = endless & np.isinf(noise_of(event))
    return endless


def _rounded_up(epsilon_at: Callable[[Array], Array], factor: Array, target: Array) -> Array:
    """``factor`` enlarged, by parts in 1e15 at first, until the budget holds as computed."""
    step = 1e-15
    for _ in range(25):
        above = ~(epsilon_at(factor) <= target)
        if not np.any(above):
            return factor
        factor = np.where(above, factor * (1.0 + step), factor)
        step *= 3.0
    raise InputError("epsilon", "no amount of noise meets it", "give a larger epsilon")


def _solve(
    epsilon_at: Callable[[Array], Array],
    target: Array,
    bare: Array,
    skip: Mask,
) -> Array:
    """The factor where epsilon equals ``target``, closely: a root in log-log coordinates."""
    aim = np.log(target) - 2.0 * _CLOSE  # so that the error stays on the side of more noise

    def excess(u: Array) -> Array:
        epsilon = bare if not np.any(u) else epsilon_at(np.exp(u))
        with np.errstate(divide="ignore"):
            distance = np.clip(np.log(epsilon) - aim, -_CLIP, _CLIP)
        return np.asarray(np.where(skip, -0.1 - u, distance))

    start = excess(np.zeros(bare.shape))
    low, high, at_low, at_high = _bracket(excess, start)
    return np.asarray(np.exp(_chandrupatla(excess, low, high, at_low, at_high)))


def _bracket(excess: Callable[[Array], Array], start: Array) -> tuple[Array, Array, Array, Array]:
    """Ends with excess > 0 and excess <= 0; e times the noise lowers log epsilon by about 1."""
    low, high = np.zeros(start.shape), np.zeros(start.shape)
    at_low, at_high = start.copy(), start.copy()
    reach = 0.2
    move = start
    while np.any(at_high > 0.0):
        short = at_high > 0.0
        low, at_low = np.where(short, high, low), np.where(short, at_high, at_low)
        high = np.where(short, high + np.abs(move) + reach, high)
        at_high = excess(high)
        move, reach = at_high, 2.0 * reach
        _check_far(reach, "no amount of noise meets it", "give a larger epsilon")
    reach = 0.2
    move = at_low
    while np.any(at_low <= 0.0):
        short = at_low <= 0.0
        high, at_high = np.where(short, low, high), np.where(short, at_low, at_high)
        low = np.where(short, low - np.abs(move) - reach, low)
        at_low = np.where(short, excess(low), at_low)
        move, reach = at_low, 2.0 * reach
        _check_far(reach, "every amount of noise meets it", "give a smaller epsilon")
    return low, high, at_low, at_high


def _chandrupatla(
    function: Callable[[Array], Array], a: Array, b: Array, fa: Array, fb: Array
) -> Array:
    """A root between ``a`` (the newest point) and ``b``; c is the oldest, as in the paper."""
    c, fc = a, fa
    t = fa / np.where(fa == fb, 1.0, fa - fb)
    t = np.clip(np.where(fa == fb, 0.5, t), 0.02, 0.98)
    for _ in range(100):
        x = a + t * (b - a)
        fx = function(x)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        best = np.where(np.abs(fa) < np.abs(fb), a, b)
        width = np.abs(b - a)
        tolerance = 1e-15 * (1.0 + np.abs(best))
        if np.all((width <= tolerance) | (np.minimum(np.abs(fa), np.abs(fb)) <= _CLOSE)):
            return np.asarray(best)
        with np.errstate(divide="ignore", invalid="ignore"):
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            safe = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
            inverse = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (
                fc - fb
            )
        t = np.where(safe & np.isfinite(inverse), inverse, 0.5)
        edge = np.minimum(0.5, tolerance / np.maximum(width, 1e-300))
        t = np.clip(t, edge, 1.0 - edge)
    return np.asarray(b)


# --- slow methods --------------------------------------------------------------------------------


def least_factors(
    rough: Callable[[float], float],
    exact: Callable[[float], float],
    targets: Sequence[float],
    close: float,
) -> list[float]:
    """The smallest factor on the noise with ``exact(factor) <= target``, one for each target.

    rough: never below ``exact``, and cheap. close: how far ``exact`` may stay below a target,
    relatively; where the bound jumps it may be farther below, never above.
    """
    curve = _Curve(rough)
    factors = dict.fromkeys(sorted(targets, reverse=True), 0.0)
    for target in factors:
        factors[target] = _least_factor(curve, exact, target, close)
    return [factors[target] for target in targets]


def _least_factor(
    curve: _Curve, exact: Callable[[float], float], target: float, close: float
) -> float:
    """The rough answer, moved by as much as the method's own is lower there, or was next to it."""
    goal = math.log(target)
    best, share = math.inf, 0.75  # of it, since it changes a little from place to place
    for _ in range(4):
        u, value = curve.met(goal + share * curve.slack)
        log_value = _log(exact(math.exp(u)))
        curve.slack, share = min(max(0.0, value - log_value - _ON), 1.0), 1.0
        if log_value <= goal:
            best = min(best, u)
        if goal - close <= log_value <= goal or abs(log_value) == _CLIP:
            break
    if math.isinf(best):
        best, _ = curve.met(goal)
    return math.exp(best)


class _Curve:
    """log epsilon against log noise, falling; every value that was asked for is kept.

    slack: how far above the method's own it was where both were asked for, last.
    """

    def __init__(self, epsilon_at: Callable[[float], float]) -> None:
        self._epsilon_at = epsilon_at
        self.slack = 0.0
        self._u: list[float] = []
        self._value: list[float] = []

    def met(self, aim: float) -> tuple[float, float]:
        """(log noise, value) with a value at most ``aim``, and hardly less."""
        self._bracket(aim)
        for turn in range(80):
            low, high = self._around(aim)
            width = self._u[high] - self._u[low]
            if self._value[high] >= aim - 2.0 * _ON or width <= _NARROW:
                break
            self._ask(self._between(low, high, aim - _ON, turn))
        _, high = self._around(aim)
        return self._u[high], self._value[high]

    def _ask(self, u: float) -> float:
        value = _log(self._epsilon_at(math.exp(u)))
        place = bisect_left(self._u, u)
        self._u.insert(place, u)
        self._value.insert(place, value)
        return value

    def _around(self, aim: float) -> tuple[int, int]:
        """Places of the last value above ``aim`` and of the one after it."""
        low = max(i for i, value in enumerate(self._value) if value > aim)
        return low, low + 1

    def _bracket(self, aim: float) -> None:
        """Ask until the values go past ``aim`` on both sides; the noise falls with epsilon."""
        if not self._u:
            self._ask(0.0)
        reach = 0.1
        while (value := self._value[-1]) > aim:
            _check_far(reach, "no amount of noise meets it", "give a larger epsilon")
            self._ask(self._u[-1] + min(value - aim, 3.0) + reach)
            reach *= 2.0
        reach = 0.1
        while (value := self._value[0]) <= aim:
            _check_far(reach, "every amount of noise meets it", "give a smaller epsilon")
            self._ask(self._u[0] - min(0.7 * (aim - value), 3.0) - reach)
            reach *= 2.0

    def _between(self, low: int, high: int, aim: float, turn: int) -> float:
        """Where ``aim`` is on the cubic through the nearest values where safe, else half way."""
        left, right = self._u[low], self._u[high]
        middle = 0.5 * (left + right)
        if turn > 8 and turn % 2:
            return middle
        for near in (1, 0):
            places = range(max(0, low - near), min(len(self._u), high + 1 + near))
            values = [self._value[i] for i in places]
            falling = all(a > b for a, b in pairwise(values))
            if falling and max(map(abs, values)) < _CLIP:
                at = _interpolated(values, [self._u[i] for i in places], aim)
                if left < at < right:
                    return at
        return middle


def _interpolated(x: Sequence[float], y: Sequence[float], at: float) -> float:
    """Lagrange's polynomial through the points (x, y)."""
    total = 0.0
    for i, height in enumerate(y):
        for j, other in enumerate(x):
            if i != j:
                height *= (at - other) / (x[i] - other)
        total += height
    return total


def _log(epsilon: float) -> float:
    """log epsilon within limits; a bound may be 0 or infinite."""
    return max(-_CLIP, min(_CLIP, math.log(epsilon))) if epsilon > 0.0 else -_CLIP


def _check_far(reach: float, problem: str, remedy: str) -> None:
    if reach > _FAR:
        raise InputError("epsilon", problem, remedy)
