"""Fixed-size samples hide a row's change: the Rényi price of a Gaussian release on such a sample.

Wang, Balle, Kasiviswanathan 2019 (arXiv 1808.00087): a fresh sample of m of the n rows for every
release, gamma = m/n, one row replaced. For whole orders alpha >= 2, (alpha - 1) tau'(alpha) is at
most the log of

    1 + gamma^2 C(alpha,2) min(4 (e^tau(2) - 1), 2 e^tau(2))
      + sum over j = 3..alpha of gamma^j C(alpha,j) c_j,

c_j = 2 e^((j-1) tau(j)) by Theorem 9, for every mechanism; by Theorem 27, for one with a worst pair
of neighbours, as the Gaussian, also 4 sqrt(B(2 floor(j/2)) B(2 ceil(j/2))) where that is less,
B(l) = E_Q[(P/Q - 1)^l], P = N(1, z^2), Q = N(0, z^2). Between orders (alpha - 1) tau'(alpha) is
convex (Corollary 10), so a chord of the bound is a bound.

Direction: an upper bound, a few times above the truth (``pld`` is close to it); kept because the
papers state their epsilons by it. Sampling never costs more than the whole table (a divergence is
jointly convex), so the release without sampling caps it, at each order and at the end.

Adjacency: ``replace_one`` only. The proof compares a sample that holds the changed row with one
that holds another row in its place, so the noise must cover the replacement of a whole row. Noise
measured against the change of a label or of features alone does not; and where a row is added or
removed, the size of the table, hence gamma, is not the same on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np

from dpcore.accounting.base import (
    UNSAMPLED,
    Accountant,
    Events,
    check_concentrated,
    check_one_case,
    dimensions,
    live,
    log_inverse_of,
    real,
)
from dpcore.accounting.rdp import delta_over_orders, epsilon_over_orders, pure_epsilon
from dpcore.accounting.renyi import (
    CONVERSIONS,
    Conversion,
    by_noise,
    gaussian_log_moment,
    log_choose,
    log_moment,
    log_sum,
    log_variation,
    saving,
)
from dpcore.arrays import Array
from dpcore.checks import one_of
from dpcore.errors import NotCovered
from dpcore.privacy.events import Event, Gaussian, Real

_EVERY = 1024  # orders up to here are all used, above it 256 of every doubling
_FIRST, _LAST = 128, 1 << 15  # highest order tried first, and at all
_STEP = 0.25  # of the trapezoid rule, in deviations: the integrands are entire, the error < 1e-30
_LONGEST = 1 << 22
_REACH = 12.0  # deviations kept beyond the two humps of the integrand
_LEAST_DELTA = 1e-300


@dataclass(frozen=True)
class FixedSizeAccountant(Accountant):
    """Theorem 9 or Theorem 27 at whole orders, with chords between them.

    theorem: 9 or 27. conversion: ``best`` (Canonne, Kamath, Steinke 2020) or ``classic``, the
    papers'. Releases on the whole table may stand beside sampled ones: Gaussian, Laplace, pure
    black boxes, by their own curves at the same orders. Orders double until more cannot help.
    """

    theorem: int
    name: str
    title: str
    source: str
    conversion: Conversion = "best"
    kind: str = "upper bound"
    assumptions: tuple[str, ...] = (
        "noise is drawn from the exact distribution",
        "every release has a fresh sample of fixed size, drawn without replacement",
        "neighbouring tables differ in one whole row, which is replaced",
    )

    one_by_one: ClassVar[bool] = True  # orders double until more cannot help any noise

    def __post_init__(self) -> None:
        one_of("conversion", self.conversion, CONVERSIONS)

    def check(self, events: Events) -> None:
        """Raise NotCovered for other samples than those of fixed size."""
        check_fixed_size(events, f"Theorem {self.theorem} of Wang, Balle and Kasiviswanathan")

    def epsilon(self, events: Events, delta: Real) -> Real:
        """The least over orders, which double until more cannot help."""
        self.check(events)
        log_inverse = log_inverse_of(delta)

        def solve(orders: Array, moments: Array) -> Array:
            return _epsilons(orders, moments, log_inverse, self.conversion)

        least, log_variance = self._best(
            events, np.ndim(delta), solve, lambda value: value + _headroom(-log_inverse), 0.0
        )
        whole, _ = epsilon_over_orders(_unsampled(events), delta, self.conversion)
        least = np.minimum(np.minimum(np.maximum(least, 0.0), whole), pure_epsilon(events))
        if self.conversion == "best":
            least = np.where(-2.0 * log_inverse >= log_variance, 0.0, least)
        return real(np.where(np.isneginf(log_variance), 0.0, least))

    def delta(self, events: Events, epsilon: Real) -> Real:
        """The least over orders, which double until more cannot help."""
        self.check(events)
        target = np.asarray(epsilon, dtype=float)

        def solve(orders: Array, moments: Array) -> Array:
            return _log_deltas(orders, moments, target, self.conversion)

        least = math.log(_LEAST_DELTA)
        log_delta, log_variance = self._best(
            events, np.ndim(epsilon), solve, lambda value: target + _headroom(value), least
        )
        whole, _ = delta_over_orders(_unsampled(events), epsilon, self.conversion)
        log_delta = np.minimum(np.exp(np.clip(log_delta, least, 0.0)), whole)
        if self.conversion == "best":
            log_delta = np.minimum(log_delta, np.exp(0.5 * log_variance))
        none = np.isneginf(log_variance) | (target >= pure_epsilon(events))
        return real(np.where(none, 0.0, log_delta))

    def _best(
        self,
        events: Events,
        ndim: int,
        solve: Callable[[Array, Array], Array],
        worth: Callable[[Array], Array],
        enough: float,
    ) -> tuple[Array, Array]:
        """(least value, log(1 - e^-tau(2))), with orders doubled until more cannot help any cell.

        solve: (orders, log moments) to the least value. worth: from the least value to a bound that
        no order with a divergence above it improves. Divergences grow with the order, and the
        theorems' bounds on them nearly do: they never fall to a half.
        """
        ndim = max(ndim, dimensions(events))
        highest = _FIRST
        while True:
            orders = orders_up_to(highest).reshape(-1, *[1] * ndim)
            moments = self._moments(events, orders, highest)
            value = solve(orders, moments)
            divergence = moments[-1] / (orders[-1] - 1.0)
            follow = (0.5 * divergence < worth(value)) & (value > enough) & np.isfinite(value)
            if highest >= _LAST or not np.any(follow):
                return value, log_variation(moments[0])
            highest *= 2

    def _moments(self, events: Events, orders: Array, highest: int) -> Array:
        """Summed log moments at lambda = ``orders`` - 1, ``(orders, ...)``."""
        total = np.zeros_like(orders)
        for event in live(events):
            if event.sampling == "none":
                moments = log_moment(event, orders - 1.0)
            else:
                sampled = partial(
                    sampled_log_moments, highest, rate=event.sampling_rate, theorem=self.theorem
                )
                moments = by_noise(event, orders.ndim, sampled)
            total = total + event.count * moments
        return total


def _unsampled(events: Events) -> tuple[Event, ...]:
    """The same noise on the whole table, which hides less; all real orders are open to it."""
    return tuple(replace(event, sampling="none", sampling_rate=1.0) for event in live(events))


def check_fixed_size(events: Events, title: str) -> None:
    """Refuse, naming another way, what is not Gaussian noise on fixed-size samples or unsampled.

    Raises NotCovered.
    """
    for event in live(events):
        check_one_case(event, title)
        if event.sampling == "none":
            check_concentrated([event], title)
            continue
        if event.sampling == "poisson":
            raise NotCovered(
                "sampling",
                f"{title} covers fixed-size samples, not Poisson samples",
                "choose rdp (noise under add_remove) or pld",
            )
        if event.adjacency == "add_remove":
            raise NotCovered(
                "adjacency",
                f"{title} covers fixed-size samples only where one row is replaced",
                "give the noise under replace_one, or choose rdp or pld with Poisson samples",
            )
        if event.adjacency != "replace_one":
            raise NotCovered(
                "adjacency",
                f"{title} needs noise that covers the replacement of a whole row",
                f"give the noise under replace_one, or {UNSAMPLED}",
            )
        if not isinstance(event.mechanism, Gaussian):
            raise NotCovered(
                "mechanism",
                f"for samples, {title} is implemented only with Gaussian noise",
                f"choose pld, or {UNSAMPLED}",
            )


# --- from moments to a bound ---------------------------------------------------------------------


def _epsilons(orders: Array, moments: Array, log_inverse: Array, conversion: Conversion) -> Array:
    """The least epsilon over all chords.

    On a chord a + b lambda the best conversion is least where log(1 + lambda) = a + ln(1/delta).
    The classic one is least at an end.
    """
    low, high, start, slope = _chords(orders - 1.0, moments)
    with np.errstate(over="ignore", invalid="ignore"):
        if conversion == "best":
            at = np.clip(np.nan_to_num(np.expm1(start + log_inverse), nan=0.0), low, high)
        else:
            at = np.where(start + log_inverse > 0.0, high, low)
        at = np.maximum(at, 1e-12)
        values = slope + (start + (log_inverse + saving(at, conversion))) / at
    return np.asarray(np.min(np.where(np.isfinite(slope), values, np.inf), axis=0))


def _log_deltas(orders: Array, moments: Array, epsilon: Array, conversion: Conversion) -> Array:
    """The least log delta over all chords: the best conversion where lambda/alpha = e^(eps - b)."""
    low, high, start, slope = _chords(orders - 1.0, moments)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        excess = slope - epsilon
        if conversion == "best":
            inside = 1.0 / np.expm1(np.maximum(excess, 0.0))
            at = np.clip(np.where(excess > 0.0, inside, np.inf), low, high)
        else:
            at = np.where(excess < 0.0, high, low)
        at = np.maximum(at, 1e-12)
        values = start + (excess * at + saving(at, conversion))
    return np.asarray(np.min(np.where(np.isfinite(slope), values, np.inf), axis=0))


def _headroom(log_delta: Array) -> Array:
    """How far below its divergence an order may bring epsilon: -log(1 - delta), at the best one."""
    return np.asarray(-np.log1p(-np.exp(np.minimum(log_delta, -0.1))))


def _chords(lam: Array, moments: Array) -> tuple[Array, Array, Array, Array]:
    """(from, to, value at lambda 0, slope) of the chords; the first begins at (0, 0)."""
    ends = np.concatenate([np.zeros_like(lam[:1]), lam])
    values = np.concatenate([np.zeros_like(moments[:1]), moments])
    with np.errstate(invalid="ignore"):
        slope = np.diff(values, axis=0) / np.diff(ends, axis=0)
        start = values[:-1] - slope * ends[:-1]
    return ends[:-1], ends[1:], start, slope


# --- the curve -----------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def orders_up_to(highest: int) -> Array:
    """Whole orders 2, 3, ..., 1024, then 256 of every doubling, up to ``highest``.

    >>> orders_up_to(128).size, orders_up_to(4096).size
    (127, 1535)
    """
    parts = [np.arange(2.0, min(highest, _EVERY) + 1.0)]
    top = _EVERY
    while top < highest:
        parts.append(top + top / 256 * np.arange(1.0, 257.0))
        top *= 2
    return _kept(np.concatenate(parts))


def sampled_log_moments(highest: int, noise: float, rate: float, theorem: int) -> Array:
    """Log moments of the orders of :func:`orders_up_to`, ``(orders,)``: the smaller of the theorem
    and the curve of the release without sampling."""
    plain = gaussian_log_moment(orders_up_to(highest) - 1.0, noise)
    if noise == 0.0 or math.isinf(noise):
        return plain
    return np.minimum(theorem_log_moments(highest, noise, rate, theorem), plain)


def theorem_log_moments(highest: int, noise: float, rate: float, theorem: int) -> Array:
    """The theorem's (alpha - 1) tau'(alpha) at ``orders_up_to(highest)``, for one Gaussian release.

    highest: 128 or a doubling of it. noise: standard deviation / sensitivity to a replaced row,
    above 0. theorem: 9 or 27.

    >>> round(float(theorem_log_moments(128, 1.0, 0.004, 27)[2]) / 3, 12)
    0.000177419596
    """
    blocks = [_block(_FIRST, noise, rate, theorem)]
    top = _FIRST
    while top < highest:
        top *= 2
        blocks.append(_block(top, noise, rate, theorem))
    return np.concatenate(blocks)


@lru_cache(maxsize=1024)
def _block(top: int, noise: float, rate: float, theorem: int) -> Array:
    """The theorem at the orders of the last doubling below ``top``."""
    orders = orders_up_to(top)
    orders = orders if top == _FIRST else orders[orders > top // 2]
    factors = _log_factors(top, noise, theorem)
    j = np.arange(2.0, top + 1.0)
    log_terms = j * math.log(rate) + factors
    parts = np.array_split(orders, max(1, orders.size * j.size >> 20))
    sums = [log_sum(log_choose(part[:, None], j) + log_terms) for part in parts]
    return _kept(np.logaddexp(0.0, np.concatenate(sums)))


@lru_cache(maxsize=256)
def _log_factors(top: int, noise: float, theorem: int) -> Array:
    """log c_j for j = 2..top."""
    j = np.arange(2.0, top + 1.0)
    factors = math.log(2.0) + gaussian_log_moment(j - 1.0, noise)
    gap = 1.0 / noise**2
    if gap < math.log(2.0):  # where 4 (e^tau(2) - 1) is the smaller
        factors[0] = math.log(4.0) + math.log(math.expm1(gap))
    if theorem == 27:
        even = log_even_moments(top, noise)
        paired = math.log(4.0) + 0.5 * (even[:-1] + even[1:])  # j odd: B(j - 1), B(j + 1)
        own = math.log(4.0) + even
        factors[1::2] = np.minimum(factors[1::2], paired[: factors[1::2].size])
        factors[2::2] = np.minimum(factors[2::2], own[1 : 1 + factors[2::2].size])
    return _kept(factors)


@lru_cache(maxsize=256)
def log_even_moments(top: int, noise: float) -> Array:
    """log B(l) for l = 2, 4, ..., top + 2 (top even): the even moments of P/Q - 1.

    A trapezoid rule on the positive integrand, in logarithms, with nodes shared by all l of a
    doubling; forward differences, the textbook way, lose all digits from l = 18 at noise 12.
    Infinite, still an upper bound, where the rule would need more than ``_LONGEST`` nodes.

    >>> round(float(log_even_moments(4, 1.0)[0]), 6)  # log(e - 1)
    0.541325
    """
    l_even = np.arange(2.0, top + 3.0, 2.0)
    parts, begin = [], 0
    while begin < l_even.size:
        end = min(l_even.size, max(32, 2 * begin))
        parts.append(_log_even(l_even[begin:end, None], 1.0 / noise))
        begin = end
    return _kept(np.concatenate(parts))


def _log_even(l_even: Array, shift: float) -> Array:
    """In deviations t: the humps of |e^s - 1|^l e^(-t^2/2), s = shift t - shift^2/2, are at most
    sqrt(l) to the left and l shift + sqrt(l) to the right of 0, and no wider than e^(-t^2/2)."""
    most = float(l_even[-1, 0])
    left = math.sqrt(most) + _REACH + shift
    right = most * shift + math.sqrt(most) + _REACH
    if left + right > _LONGEST * _STEP:  # noise so small that nothing finite is worth its memory
        return np.full(l_even.size, np.inf)
    t = np.arange(-left, right, _STEP)
    s = shift * (t - 0.5 * shift)
    with np.errstate(divide="ignore", under="ignore"):
        log_ratio = np.where(s > 30.0, s, np.log(np.abs(np.expm1(np.minimum(s, 30.0)))))
    parts = np.array_split(l_even, max(1, l_even.size * t.size >> 20))
    sums = [log_sum(part * log_ratio - 0.5 * t * t) for part in parts]
    return np.concatenate(sums) + math.log(_STEP / math.sqrt(2.0 * math.pi))


def _kept(values: Array) -> Array:
    """Shared by the cache: nobody may write into it."""
    values.flags.writeable = False
    return values


THEOREM_9 = FixedSizeAccountant(
    9,
    "wbk9",
    "Fixed-size samples, Theorem 9",
    "Wang, Balle, Kasiviswanathan 2019, Theorem 9 and Corollary 10",
)
THEOREM_27 = FixedSizeAccountant(
    27,
    "wbk27",
    "Fixed-size samples, Theorem 27",
    "Wang, Balle, Kasiviswanathan 2019 (arXiv 1808.00087), Theorem 27 and Corollary 10",
)


def as_printed(name: str) -> str | FixedSizeAccountant:
    """A theorem's accountant with the conversion that the papers print; any other name as it is."""
    theorem = {"wbk9": THEOREM_9, "wbk27": THEOREM_27}.get(name)
    return name if theorem is None else replace(theorem, conversion="classic")
