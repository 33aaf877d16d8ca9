"""What if? Questions about a budget besides "how large is epsilon" and "how much noise".

Each is answered by any accountant: by asking it for the epsilon or the delta of some events. An
answer errs on the side its accountant errs on: an upper bound for epsilon gives fewer repeats, more
noise and a better attacker than the truth, never the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from dpcore.accounting.base import (
    Accountant,
    Events,
    check_epsilons,
    event_list,
    live,
    real,
    scaled,
)
from dpcore.accounting.catalogue import accountant as registered
from dpcore.accounting.compose import calibrate, compose, largest
from dpcore.accounting.gaussian import all_gaussian, epsilon_of
from dpcore.accounting.pairs import SharesExceedDelta
from dpcore.accounting.parallel import worst_cases
from dpcore.arrays import Array, Mask
from dpcore.checks import positive, probability, whole
from dpcore.errors import InputError
from dpcore.privacy.events import EpsilonDelta, Event, Gaussian, Laplace, Mechanism, Real, noise_of

_ROUNDING = 1e-12  # three releases of 0.1 cost 0.30000000000000004
_BY_SQUARES = ("exact", "zcdp", "zcdp_tight", "ma", "rdp")  # z repeated k times is z / sqrt(k)
_FRACTIONS = expit(np.linspace(-9.0, 3.0, 49))
_LARGEST = 1e6


def delta_at(events: Events, epsilon: Real, accountant: str | Accountant = "exact") -> Real:
    """The smallest delta that the accountant proves for all events at ``epsilon``.

    epsilon: 0 or more, a number or an array. Disjoint parts cost what one record can touch.
    Raises InputError for an epsilon below 0.

    >>> from dpcore.privacy import Event, Gaussian
    >>> round(delta_at([Event(Gaussian(1.0))], 1.0), 6)
    0.126937
    """
    wanted = np.asarray(epsilon, dtype=float)
    if not np.all(wanted >= 0.0):
        raise InputError("epsilon", "a value is below 0 or not a number", "give 0 or more")
    method = registered(accountant)
    cases = worst_cases(event_list(events))
    return largest(*(method.delta(case, real(wanted)) for case in cases))


def against_count(
    events: Events, counts: Real, delta: float, accountant: str | Accountant = "exact"
) -> Array:
    """Epsilon of the whole list of events repeated ``counts[i]`` times, at one ``delta``.

    counts ``(n,)``: whole numbers of 0 or more. The answer has their shape; it is what ``compose``
    gives for every event's count multiplied. Methods that count in pairs share delta anew for every
    count. Infinity where the events' own deltas use up ``delta``.

    Raises NotCovered where the method has no theorem for the events, InputError for a count that is
    no whole number of 0 or more.

    >>> from dpcore.privacy import Event, Gaussian
    >>> against_count([Event(Gaussian(10.0))], [0, 1, 100], 1e-5).round(3)
    array([0.   , 0.341, 4.377])
    """
    method, events = registered(accountant), event_list(events)
    for case in worst_cases(events):
        method.check(case)
    wanted = np.asarray(counts, dtype=float)
    if not np.all((wanted >= 0.0) & (wanted == np.floor(wanted)) & np.isfinite(wanted)):
        raise InputError("counts", "a value is not a whole number >= 0", "give whole numbers")
    if method.name in _BY_SQUARES and all_gaussian(events) and _one_run(events):
        with np.errstate(divide="ignore"):
            factor = 1.0 / np.sqrt(wanted)
        epsilon = compose(scaled(events, factor), method, delta=delta, lower=False).epsilon
        return np.broadcast_to(np.asarray(epsilon), wanted.shape).copy()
    epsilons = [_epsilon_of_repeats(events, int(k), delta, method) for k in wanted.ravel()]
    return np.asarray(epsilons, dtype=float).reshape(
        *wanted.shape, *np.shape(epsilons[0] if epsilons else 0.0)
    )


def most_repeats(
    events: Events,
    epsilon: float,
    delta: float,
    accountant: str | Accountant = "exact",
    most: int = 10**7,
) -> int:
    """How often the whole list of events may be run within (epsilon, delta): the largest number.

    0 where even one run costs more; ``most`` where that many still fit. One more run than the
    answer does not fit; an excess of parts in 1e12 counts as rounding.

    Raises InputError for events that describe a grid of runs.

    >>> from dpcore.privacy import Event, Gaussian, Laplace
    >>> most_repeats([Event(Gaussian(40.0))], 1.0, 1e-5)
    114
    >>> most_repeats([Event(Laplace(10.0))], 0.3, 1e-5, "linear")
    3
    """
    target = positive("epsilon", epsilon) * (1.0 + _ROUNDING)
    method, events = registered(accountant), event_list(events)
    most = whole("most", most, least=0)
    if not _one_run(events):
        raise InputError("events", "they describe a grid of runs", "give the events of one run")
    for case in worst_cases(events):
        method.check(case)

    def excess(count: int) -> float:
        """log(cost / budget): at most 0 where ``count`` runs fit."""
        cost = float(_epsilon_of_repeats(events, count, delta, method))
        return math.log(cost / target) if cost > 0.0 else -math.inf

    return _last_at_most_zero(excess, most)


def _one_run(events: Events) -> bool:
    return all(np.ndim(noise_of(event)) == 0 for event in live(events))


def _epsilon_of_repeats(events: Events, count: int, delta: float, method: Accountant) -> Real:
    repeated = [replace(event, count=event.count * count) for event in events]
    try:
        return compose(repeated, method, delta=delta, lower=False).epsilon
    except SharesExceedDelta:
        return math.inf


def _last_at_most_zero(excess: Callable[[int], float], most: int) -> int:
    """The largest number up to ``most`` with ``excess <= 0``, for a function that never falls.

    Guesses along a straight line of excess against log count, as costs nearly are.
    """
    low, at_low, high, at_high = 0, -math.inf, most + 1, math.inf
    guess, turn = 1, 0
    while high - low > 1:
        turn += 1
        value = excess(guess)
        slope = _slope(low, at_low, guess, value)
        if value <= 0.0:
            low, at_low = guess, value
        else:
            high, at_high = guess, value
        if low == 0:
            guess = high // 2
        elif math.isinf(at_high):
            reach = 8.0 if math.isinf(at_low) else min(64.0, 1.02 * math.exp(-at_low / slope))
            unbounded = high == most + 1
            guess = math.ceil(low * max(2.0, reach)) if unbounded else (low + high) // 2
        elif turn % 3 == 0 or math.isinf(at_low):
            guess = round(math.sqrt(low * high))
        else:
            share = -at_low / (at_high - at_low)
            guess = round(low * math.exp(share * math.log(high / low)))
        guess = min(max(guess, low + 1), high - 1)
    return low


def _slope(low: int, at_low: float, guess: int, value: float) -> float:
    """How excess grows with log count between two counts; 1 where they do not say."""
    if low == 0 or guess <= low or math.isinf(at_low) or math.isinf(value):
        return 1.0
    return min(2.0, max(0.4, (value - at_low) / math.log(guess / low)))


@dataclass(frozen=True)
class PerRelease:
    """What each of several equal releases may spend.

    noise: its noise multiplier (Laplace: its scale); ``None`` for black boxes. epsilon_each and
    delta_each: a pair that the single release meets.
    """

    noise: Real | None
    epsilon_each: Real
    delta_each: float


def per_release(
    releases: int,
    epsilon: Real,
    delta: float,
    accountant: str | Accountant = "exact",
    *,
    mechanism: Mechanism | None = None,
    delta_each: float | None = None,
) -> PerRelease:
    """What each of ``releases`` equal releases may spend of a total of (epsilon, delta).

    epsilon: above 0, a number or an array. mechanism: the kind of release (default Gaussian; the
    amount of noise in it does not matter). delta_each: the delta at which a Gaussian's own epsilon
    is read (default delta / (2 releases)), and its share under methods that count in pairs.

    Noise is the smallest that :func:`calibrate` finds; a Gaussian's epsilon_each is the exact one
    at delta_each (Balle, Wang 2018, Theorem 8), a Laplace release's 1 / scale. For black boxes it
    is the largest epsilon_each with which their composition meets the budget. The rule of the
    DP-EM paper itself, with its classical formula, is ``published.published_budget``.

    >>> each = per_release(100, 1.0, 1e-5, "exact")
    >>> round(each.noise, 4), round(each.epsilon_each, 4), round(each.delta_each, 9)
    (37.3063, 0.1154, 5e-08)
    >>> round(per_release(100, 1.0, 1e-5, "linear", mechanism=Laplace(1.0)).epsilon_each, 9)
    0.01
    """
    releases, delta = whole("releases", releases), probability("delta", delta)
    kind = Gaussian(1.0) if mechanism is None else mechanism
    if isinstance(kind, EpsilonDelta):
        most = _largest_box(releases, epsilon, delta, registered(accountant), kind.delta)
        return PerRelease(None, most, kind.delta)
    share = delta / (2 * releases) if delta_each is None else probability("delta_each", delta_each)
    event = Event(kind, count=releases, delta_each=delta_each)
    factor = np.asarray(calibrate([event], epsilon, delta, accountant))
    noise = real(factor * np.asarray(noise_of(event), dtype=float))
    with np.errstate(divide="ignore"):
        size = 1.0 / np.asarray(noise)
    if isinstance(kind, Laplace):
        return PerRelease(noise, real(size), 0.0)
    if isinstance(kind, Gaussian):
        return PerRelease(noise, epsilon_of(share, size), share)
    events = [replace(event, mechanism=replace(kind, noise_multiplier=noise), count=1)]
    return PerRelease(noise, registered(accountant).epsilon(events, share), share)


def _largest_box(
    releases: int, epsilon: Real, delta: float, method: Accountant, delta_each: float
) -> Real:
    """The largest epsilon of a black box that may run ``releases`` times: bisection on its log."""
    target = check_epsilons(epsilon)

    def meets(log_each: Array) -> Mask:
        box = Event(EpsilonDelta(real(np.exp(log_each)), delta_each), count=releases)
        return np.asarray(np.asarray(method.epsilon([box], delta)) <= target * (1.0 + _ROUNDING))

    low = np.log(target / (2.0 * releases)) - 7.0
    high = np.full(target.shape, math.log(_LARGEST))
    if not np.all(meets(low)):
        raise InputError(
            "epsilon",
            "with this method, no epsilon per release is small enough",
            "give a larger epsilon",
        )
    for _ in range(60):
        middle = 0.5 * (low + high)
        enough = meets(middle)
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return real(np.exp(low))


def posterior(prior: Real, epsilon: Real) -> Real:
    """Belief after odds of e^epsilon: prior e^epsilon / (1 - prior + prior e^epsilon).

    The largest belief that a release of pure epsilon allows an attacker to reach who thought
    ``prior``, in (0, 1), before.

    >>> posterior(0.5, 0.0), round(posterior(0.5, 1.0), 4), round(posterior(0.01, 2.0), 4)
    (0.5, 0.7311, 0.0695)
    """
    return real(expit(logit(_prior(prior)) + np.asarray(epsilon, dtype=float)))


def worst_posterior(
    events: Events, prior: Real, *, chance: float = 0.0, accountant: str | Accountant = "exact"
) -> Real:
    """The belief that an attacker does not exceed, except with probability ``chance``.

    The attacker knows everything else, thinks ``prior`` that the person is in (or has the first of
    two rows), and sees all releases. chance: in [0, 1), over the noise, while that is true.

    With ``chance=0`` no output at all leads further: the pure epsilon, ``posterior(prior, eps)``,
    which is 1 for Gaussian noise. With a chance c: let L be the privacy loss, so that belief is
    ``posterior(prior, L)``. For every epsilon and every b > epsilon,

        delta(epsilon) = E[1 - e^(epsilon - L)]_+ >= (1 - e^(epsilon - b)) P(L > b),

    so with delta = s c, 0 < s < 1, P(L > b) <= c at b = epsilon(s c) - log(1 - s). The smallest b
    over a grid of s is taken: an upper bound. An (epsilon, delta) pair alone never bounds the
    belief at ``epsilon`` itself with probability 1 - delta.

    >>> from dpcore.privacy import Event, Gaussian, Laplace
    >>> worst_posterior([Event(Gaussian(2.0))], 0.5)
    1.0
    >>> round(worst_posterior([Event(Laplace(2.0))], 0.5, accountant="linear"), 4)
    0.6225
    >>> round(worst_posterior([Event(Gaussian(2.0))], 0.5, chance=0.01), 3)
    0.809
    """
    believed, events = _prior(prior), event_list(events)
    if chance == 0.0:
        return posterior(believed, compose(events, accountant, delta=0.0).epsilon)
    probability("chance", chance)
    method = registered(accountant)
    bounds = [_loss_at(case, chance, method) for case in worst_cases(events)]
    return posterior(believed, largest(*bounds))


def _loss_at(case: Events, chance: float, method: Accountant) -> Array:
    """A privacy loss that is exceeded with probability ``chance`` at most."""
    best = np.asarray(math.inf)
    for share in (0.0, *(_FRACTIONS[12::4] if method.name == "pld" else _FRACTIONS)):
        try:
            epsilon = np.asarray(method.epsilon(case, float(share * chance)))
        except SharesExceedDelta:
            continue
        best = np.minimum(best, epsilon - math.log1p(-share))
    return best


def attacker_success(events: Events, prior: Real, accountant: str | Accountant = "exact") -> Real:
    """How often the best attacker is right who thinks ``prior`` at first: at most this often.

    Saying "in" on a set A of outputs is right with probability prior P(A) + (1 - prior) (1 - Q(A))
    = (1 - prior) + prior [P(A) - e^t Q(A)] with t = log((1 - prior) / prior). The supremum of the
    bracket over all A is delta(t), by the definition of delta. So for prior <= 1/2

        success = (1 - prior) + prior delta(t),

    and, as neighbours are so in both directions, the same with 1 - prior in place of prior above
    1/2. At prior 1/2 it is (1 + TV)/2, the ``guess_rate``; without releases it is the larger of
    prior and 1 - prior. Exact where the accountant is.

    >>> from dpcore.privacy import Event, Gaussian
    >>> [round(attacker_success([Event(Gaussian(1.0))], p), 4) for p in (0.5, 0.1, 0.9)]
    [0.6915, 0.9013, 0.9013]
    """
    believed = _prior(prior)
    rare = np.minimum(believed, 1.0 - believed)
    return real(1.0 - rare + rare * np.asarray(delta_at(events, real(-logit(rare)), accountant)))


def _prior(value: Real) -> Array:
    prior = np.asarray(value, dtype=float)
    if not np.all((prior > 0.0) & (prior < 1.0)):
        raise InputError("prior", "a value is not strictly between 0 and 1", "give e.g. 0.5")
    return prior
