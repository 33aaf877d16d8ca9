"""Rényi accountant: divergences add at every order, and the best of all orders gives epsilon.

Mironov 2017, Proposition 1 (composition), with the conversion of Canonne, Kamath, Steinke 2020,
Proposition 12. With g(lambda) the sum of the log moments at alpha = lambda + 1 (``renyi.py``),

    epsilon = least over lambda > 0 of (g(lambda) + s(lambda) + ln(1/delta)) / lambda,
    ln delta = least over lambda > 0 of g(lambda) + s(lambda) - lambda epsilon,

s(lambda) = lambda log(lambda) - (lambda + 1) log(lambda + 1), or 0 with the classic conversion.
Both g and s are convex, so each has one valley. It is found on a coarse grid of orders, extended
for as long as the best order is its last, and then on ever finer ones. Orders are shared by all
cells of a grid with the same noise, since it is the moments that cost time.

Direction: an upper bound at whatever order the search ends, so an unfinished search stays one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from dpcore.accounting.base import Accountant, Events, live, log_inverse_of, real
from dpcore.accounting.gaussian import all_gaussian
from dpcore.accounting.renyi import (
    CONVERSIONS,
    Conversion,
    check_renyi,
    log_variation,
    saving,
    total_log_moment,
)
from dpcore.accounting.zcdp import tight_delta, tight_epsilon, total_rho
from dpcore.arrays import Array, Indices, Mask
from dpcore.checks import one_of
from dpcore.privacy.events import EpsilonDelta, Event, Gaussian, Laplace, Real, noise_of

Curve = Callable[[Array], Array]
Shape = tuple[int, ...]

_START = np.arange(-2.4, 4.4, 0.4)  # log lambda
_STEP = 0.4
_MORE = 4  # orders added at first where the valley goes on
_LOWEST, _HIGHEST = -60.0, 300.0  # log lambda; where numbers end, not where bounds do
_PARTS = 6  # of a step of one grid, in the next
_FINEST = 1e-13  # of log lambda: next to each other
_MOST_SHARED = 256  # orders of a grid for all cells of a row, whose values are held in memory
_CLOSE = 1e-11  # relative, of epsilon or delta
_STENCIL = np.array(  # times seven values: four derivatives at the middle, two fifth differences
    [
        [0, 1 / 12, -2 / 3, 0, 2 / 3, -1 / 12, 0],
        [0, -1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12, 0],
        [0, -1 / 2, 1, 0, -1, 1 / 2, 0],
        [0, 1, -4, 6, -4, 1, 0],
        [-1, 5, -10, 10, -5, 1, 0],
        [0, -1, 5, -10, 10, -5, 1],
    ]
)
_MOST_SPLIT = 3
_NEAR_ONE = 1e-6
_LEAST_DELTA = 1e-300  # smaller ones are rounded up to it


@dataclass(frozen=True)
class RenyiAccountant(Accountant):
    """Real orders without a cap. Black boxes must be pure (delta 0).

    conversion: ``best``, or ``classic`` (Mironov 2017, Proposition 3: s = 0). Where every event is
    pure, the sum of the epsilons caps the bound. Gaussian noise alone has the closed form of tight
    zCDP, which is this bound.
    """

    conversion: Conversion = "best"
    name: str = "rdp"
    title: str = "Rényi"
    kind: str = "upper bound"
    source: str = (
        "Mironov 2017, Proposition 1; Canonne, Kamath, Steinke 2020, Proposition 12; "
        "Mironov, Talwar, Zhang 2019, section 3.3"
    )
    assumptions: tuple[str, ...] = (
        "noise is drawn from the exact distribution",
        "any samples are drawn afresh and independently for every release",
    )

    def __post_init__(self) -> None:
        one_of("conversion", self.conversion, CONVERSIONS)

    def check(self, events: Events) -> None:
        """Raise NotCovered for releases without a bound on their Rényi divergence."""
        check_renyi(events, "the Rényi accountant")

    def epsilon(self, events: Events, delta: Real) -> Real:
        """The least over all real orders, or the sum of pure epsilons where that is less."""
        self.check(events)
        least, log_variance = epsilon_over_orders(events, delta, self.conversion)
        hidden = np.isneginf(log_variance)
        if self.conversion == "best":
            with np.errstate(divide="ignore"):
                hidden = 2.0 * np.log(np.asarray(delta, dtype=float)) >= log_variance
        return real(np.where(hidden, 0.0, np.minimum(least, pure_epsilon(events))))

    def delta(self, events: Events, epsilon: Real) -> Real:
        """The least over all real orders."""
        self.check(events)
        least, log_variance = delta_over_orders(events, epsilon, self.conversion)
        if self.conversion == "best":
            least = np.minimum(least, np.exp(0.5 * log_variance))
        none = np.isneginf(log_variance) | (np.asarray(epsilon) >= pure_epsilon(events))
        return real(np.where(none, 0.0, least))


def epsilon_over_orders(
    events: Events, delta: Real, conversion: Conversion = "best"
) -> tuple[Array, Array]:
    """(least epsilon over all real orders, log(1 - e^-tau) near order 1) of covered events."""
    return _over_orders(events, delta, conversion, tight_epsilon, _smallest_epsilon)


def delta_over_orders(
    events: Events, epsilon: Real, conversion: Conversion = "best"
) -> tuple[Array, Array]:
    """(least delta over all real orders, log(1 - e^-tau) near order 1) of covered events."""
    return _over_orders(events, epsilon, conversion, tight_delta, _smallest_delta)


def _over_orders(
    events: Events,
    budget: Real,
    conversion: Conversion,
    tight: Callable[[Array, Real], Real],
    smallest: Callable[[Curve, Real, Conversion, Shape], tuple[Array, Array]],
) -> tuple[Array, Array]:
    """One end of a budget from the other. tight: of normal noise alone, without a search."""
    if all_gaussian(events) and conversion == "best":
        rho = np.asarray(total_rho(events))
        return np.asarray(tight(rho, budget)), log_variation(rho)
    rows = _rows(events, np.ndim(budget))
    ends = [smallest(curve(e), budget, conversion, rows) for e in readings(events)]
    values, log_variance = zip(*ends, strict=True)
    return np.minimum.reduce(list(values)), np.minimum.reduce(list(log_variance))


def _rows(events: Events, ndim: int) -> Shape:
    """The shape of the noise on as many axes as the answer has: 1 where no noise varies."""
    shape = np.broadcast_shapes(*(np.shape(noise_of(event)) for event in live(events)))
    return (1,) * (ndim - len(shape)) + shape


def curve(events: Events) -> Curve:
    """The function g(lambda) of all events together: it maps orders to log moments, elementwise
    against the grid of runs.
    """
    return lambda orders: total_log_moment(events, orders)


def readings(events: Events) -> list[Events]:
    """The events with Laplace vectors read by their L1 bound or by their L2 bound, in each way.

    The least of the two bounds has two valleys, each of them alone has one. Beyond three such
    events they are read all alike, or each by the least.
    """
    happened = live(events)
    ways = [_ways(event) for event in happened]
    if sum(len(kinds) == 2 for kinds in ways) <= _MOST_SPLIT:
        return list(product(*ways))
    return [happened, tuple(kinds[0] for kinds in ways), tuple(kinds[-1] for kinds in ways)]


def _ways(event: Event) -> tuple[Event, ...]:
    mechanism = event.mechanism
    if not isinstance(mechanism, Laplace) or mechanism.l2_ratio >= 1.0:
        return (event,)
    by_l2 = Gaussian(real(np.asarray(mechanism.scale) / mechanism.l2_ratio))
    return (
        replace(event, mechanism=Laplace(mechanism.scale)),
        replace(event, mechanism=by_l2),
    )


def pure_epsilon(events: Events) -> Array:
    """The sum of the epsilons where every event is pure, else infinity; of the noise's
    shape ``(...)``."""
    total = np.zeros(())
    for event in live(events):
        total = total + event.count * _pure(event)
    return total


def _pure(event: Event) -> Array:
    match event.mechanism:
        case EpsilonDelta(epsilon=epsilon, delta=0.0):
            return np.asarray(epsilon, dtype=float)
        case Laplace(scale=scale):
            with np.errstate(divide="ignore"):
                return np.asarray(1.0 / np.asarray(scale, dtype=float))
    return np.asarray(np.inf)


def _smallest_epsilon(
    moment: Curve, delta: Real, conversion: Conversion, rows: Shape
) -> tuple[Array, Array]:
    """(epsilon, log(1 - e^-tau) near order 1) for every cell."""
    log_inverse = log_inverse_of(delta)

    def epsilon_at(orders: Array) -> Array:
        return np.asarray((moment(orders) + (saving(orders, conversion) + log_inverse)) / orders)

    least_epsilon = lowest(
        epsilon_at, rows, enough=0.0, close=lambda least_epsilon: _CLOSE * np.abs(least_epsilon)
    )
    return np.maximum(least_epsilon, 0.0), _log_variance(moment, rows)


def _smallest_delta(
    moment: Curve, epsilon: Real, conversion: Conversion, rows: Shape
) -> tuple[Array, Array]:
    """(delta, log(1 - e^-tau) near order 1) for every cell; never below 1e-300."""
    target = np.asarray(epsilon, dtype=float)

    def log_delta_at(orders: Array) -> Array:
        return np.asarray(moment(orders) + (saving(orders, conversion) - orders * target))

    least = math.log(_LEAST_DELTA)
    log_delta = lowest(log_delta_at, rows, enough=least, close=lambda log_delta: np.asarray(_CLOSE))
    log_delta = np.exp(np.clip(log_delta, least, 0.0))
    return np.asarray(log_delta), _log_variance(moment, rows)


def _log_variance(moment: Curve, rows: Shape) -> Array:
    """log(1 - e^-tau) at an order so close to 1 that tau is the Kullback-Leibler divergence."""
    order = np.full((1,) * len(rows), _NEAR_ONE)
    return log_variation(moment(order) / _NEAR_ONE)


def lowest(value: Curve, rows: Shape, enough: float, close: Curve) -> Array:
    """The value at the bottom of a valley in log lambda, for every cell ``(...)`` of a grid.

    value: takes lambdas that broadcast against the cells on their last axes; where one is NaN its
    answer is not used, and should be cheap. rows: the shape of the cells, but 1 along axes on which
    a lambda costs as much for all cells as for one. enough: a value below which nobody asks for
    less. close: how near to a value is near enough.

    A coarse grid of orders brackets the valley. Then come ever finer ones, until the valley is flat
    between neighbours, or so smooth that the vertex of a quartic is its bottom.
    """
    u, values = _coarse(value, rows, enough)
    at = np.minimum(np.maximum(np.argmin(values, axis=0), 1), u.size - 2)
    near = _around(values, at, 1)
    best, centre, reach = np.min(near, axis=0), u[at], np.full(at.shape, _STEP)
    open_cells = (best > enough) & ~_flat(near, close)
    while open_cells.any():
        first, step, count = _finer(centre, reach, open_cells, rows)
        table = value(np.exp(first + step * _column(np.arange(float(count)), len(rows))))
        at = np.argmin(table, axis=0)
        centre, reach = first + step * at, np.broadcast_to(step, at.shape)
        at = np.minimum(np.maximum(at, 3), count - 4)
        near = _around(table, at, 3)
        best = np.fmin(best, np.min(near, axis=0))
        open_cells = open_cells & ~_flat(near[2:5], close) & (reach > _FINEST)
        shift, fits = _vertex(near, close)
        if (fits & open_cells).any():
            vertex = np.where(open_cells & fits, first + step * (at + shift), np.nan)
            bottom = value(np.exp(vertex)[None])[0]
            best = np.fmin(best, bottom)
            open_cells = open_cells & ~(bottom <= near[3] + close(near[3]))
    return np.asarray(best)


def _coarse(value: Curve, rows: Shape, enough: float) -> tuple[Array, Array]:
    """log lambdas ``(orders,)`` and values ``(orders, ...)`` that go past every cell's valley.

    Rows that need no more orders are given infinite values there.
    """

    def block(u: Array, wanted: Mask) -> Array:
        columns = np.any(wanted, axis=_shared(rows, np.shape(wanted)), keepdims=True)
        values = value(np.where(columns, _column(np.exp(u), len(rows)), np.nan))
        return np.asarray(np.where(np.isnan(values), np.inf, values))

    u, length = _START, _MORE
    values = block(u, np.ones(rows, dtype=bool))
    while (wanted := _open(values, -1, enough)).any() and u[-1] < _HIGHEST:
        more = np.minimum(u[-1] + _STEP * np.arange(1, length + 1), _HIGHEST)
        u, values = np.append(u, more), np.concatenate([values, block(more, wanted)])
        length *= 2
    length = _MORE
    while (wanted := _open(values, 0, enough)).any() and u[0] > _LOWEST:
        more = np.maximum(u[0] - _STEP * np.arange(length, 0, -1), _LOWEST)
        u, values = np.append(more, u), np.concatenate([block(more, wanted), values])
        length *= 2
    return u, values


def _open(values: Array, end: int, enough: float) -> Mask:
    """Cells whose lowest value is at the given end of the grid, and worth following."""
    lowest_value = np.min(values, axis=0)
    return np.asarray(
        (values[end] <= lowest_value) & (lowest_value > enough) & np.isfinite(lowest_value)
    )


def _finer(centre: Array, reach: Array, open_cells: Mask, rows: Shape) -> tuple[Array, Array, int]:
    """(first log lambda, step, how many) of a finer grid over ``centre +- reach`` of every cell.

    One grid for all open cells of a row, or one for each where that takes fewer orders; NaN where
    nothing is open.
    """
    low = np.where(open_cells, centre - reach, np.nan)
    high = np.where(open_cells, centre + reach, np.nan)
    count = 2 * _PARTS + 1
    shared = _shared(rows, np.shape(centre))
    if shared:
        first, last = (
            f.reduce(x, axis=shared, keepdims=True) for f, x in ((np.fmin, low), (np.fmax, high))
        )
        finest = np.fmin.reduce(high - low, axis=shared, keepdims=True)
        together = 1 + math.ceil(2 * _PARTS * np.fmax.reduce((last - first) / finest, axis=None))
        alone = count * np.count_nonzero(open_cells)
        if together <= _MOST_SHARED and together * np.count_nonzero(first == first) <= alone:
            low, high, count = first, last, together
    return low, (high - low) / (count - 1), count


def _vertex(near: Array, close: Curve) -> tuple[Array, Mask]:
    """(where the quartic through the middle five of seven values is least, in steps; whether it is
    so, closely).

    Its slope errs by a twentieth of the fifth difference, and what that costs is the square of it
    over twice the curvature.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        slope, second, third, fourth, left, right = (
            _STENCIL @ (near - near[3]).reshape(len(near), -1)
        ).reshape(-1, *near.shape[1:])
        t = -slope / second
        for _ in range(3):
            curvature = second + t * (third + 0.5 * t * fourth)
            t = t - (slope + t * (second + t * (third / 2.0 + t * fourth / 6.0))) / curvature
        error = np.maximum(np.abs(left), np.abs(right)) / 20.0
        fits = error * error <= 2.0 * close(near[3]) * curvature
    return t, np.asarray(fits & (np.abs(t) <= 1.0) & (curvature > 0.0))


def _flat(three: Array, close: Curve) -> Mask:
    """Whether the middle of three values of a valley is its bottom, closely."""
    left, middle, right = three
    bottom = (middle <= left) & (middle <= right)
    return np.asarray(bottom & (np.maximum(left, right) <= middle + close(middle)))


def _around(values: Array, at: Indices, reach: int) -> Array:
    """The values from ``reach`` before ``at`` to ``reach`` after it, along the first axis."""
    flat = values.reshape(len(values), -1)
    near = at.reshape(-1) + np.arange(-reach, reach + 1)[:, None]
    return np.asarray(flat[near, np.arange(flat.shape[1])].reshape(-1, *at.shape))


def _column(x: Array, ndim: int) -> Array:
    """``x`` as the first of ``ndim + 1`` axes."""
    return np.reshape(x, (-1, *[1] * ndim))


def _shared(rows: Shape, cells: Shape) -> tuple[int, ...]:
    """The axes along which all cells of a row are."""
    return tuple(k for k, (own, all_) in enumerate(zip(rows, cells, strict=True)) if own != all_)


RENYI = RenyiAccountant()
