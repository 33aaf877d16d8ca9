"""Privacy-loss distributions against closed forms, brute force, and numbers of other libraries."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from support import every, examples, split_lanes
from test_accounting_renyi import fixed as fixed_size
from test_accounting_renyi import poisson

from dpcore.accounting import calibrate, compose, delta_of, epsilon_of, pld
from dpcore.accounting.base import scaled
from dpcore.accounting.discretise import from_above, from_below
from dpcore.accounting.dominating import pairs_of
from dpcore.accounting.lattice import Composition
from dpcore.accounting.losses import delta_curve, loss_distribution, tradeoff
from dpcore.accounting.pld import PLD
from dpcore.accounting.pld_bounds import PldBounds
from dpcore.accounting.solve import least_factors
from dpcore.errors import InputError, NotCovered
from dpcore.privacy import DiscreteGaussian, EpsilonDelta, Event, Gaussian, Laplace


def interval(events: list[Event], delta: float) -> tuple[float, float]:
    lower, upper = PLD.interval(events, delta)
    return float(lower), float(upper)


def removed(epsilon: float, noise: float, rate: float) -> float:
    """delta of one Poisson-sampled release, the row removed: r delta_G(log(1 + (e^eps - 1)/r))."""
    return rate * float(delta_of(np.log1p(np.expm1(epsilon) / rate), 1.0 / noise))


def added(epsilon: float, noise: float, rate: float) -> float:
    """The same with the row added: outputs x with q(x) > e^eps ((1-r) q(x) + r p(x))."""
    inner = (np.exp(-epsilon) - (1.0 - rate)) / rate
    if inner <= 0.0:
        return 0.0
    mu = 1.0 / noise
    cut = np.log(inner) / mu  # p/q < inner below it, with p, q = N(+-mu/2, 1)
    q, p = ndtr(cut + 0.5 * mu), ndtr(cut - 0.5 * mu)
    return float(q - np.exp(epsilon) * ((1.0 - rate) * q + rate * p))


@split_lanes("noise, rate", itertools.product([0.4, 1.0, 5.0], [1e-3, 0.05, 0.6]), merge=1)
def test_one_sampled_release_has_the_closed_form_curve(noise: float, rate: float) -> None:
    for epsilon in (1e-3 * rate / noise, 0.1 * rate / noise, rate / noise, 3.0 * rate / noise):
        worst = max(removed(epsilon, noise, rate), added(epsilon, noise, rate))
        if worst < 1e-13:
            continue
        low, high = interval([poisson(noise, rate)], worst)
        assert low <= epsilon * (1 + 1e-9) + 1e-12
        assert high >= epsilon * (1 - 1e-9) - 1e-12
        assert high - low < max(1e-3 * epsilon, 1e-5)
        _, upper = interval([fixed_size(noise, rate)], removed(epsilon, noise, rate))
        assert upper == pytest.approx(epsilon, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("shifts", [(0.2, 0.3), (0.1, 1.9), (1.5, 1.5), (3.0, 0.5, 0.2)])
def test_laplace_noise_on_a_vector_is_dominated_by_that_on_one_entry(
    shifts: tuple[float, ...],
) -> None:
    """The lemma of ``laplace``: entries move by what adds up; their losses are independent."""
    whole = Event(Laplace(1.0 / sum(shifts)))
    entries = [Event(Laplace(1.0 / shift)) for shift in shifts]
    for epsilon in sum(shifts) * np.array([0.0, 0.1, 0.3, 0.6, 0.9]):
        assert PLD.delta(entries, epsilon) <= PLD.delta([whole], epsilon) * (1.0 + 1e-4)


def test_the_derivative_in_that_lemma() -> None:
    """Of ``E (R_a R_b - k)_+`` in a less that in b: half the chance that ln k lies between
    ``b + a - 2 min(E, a)`` and ``a + b - 2 min(E, b)``, E exponential."""

    def beyond(a: float, b: float, k: float) -> float:
        """By quadrature over the exact laws of both losses under Q."""

        def law(s: float) -> tuple[Any, Any]:
            z = (np.arange(4000) + 0.5) * s / 4000
            ends = np.array([-s, s]), np.array([0.5, 0.5 * np.exp(-s)])
            return np.append(ends[0], 2.0 * z - s), np.append(ends[1], 0.5 * np.exp(-z) * s / 4000)

        (left, chance), (right, other) = law(a), law(b)
        ratios = np.exp(left[:, None] + right)
        return float(chance @ np.maximum(ratios - k, 0.0) @ other)

    a, b, step = 1.3, 0.6, 1e-3
    for k in (0.5, 1.0, 2.5):
        found = beyond(a + step, b, k) - beyond(a - step, b, k)
        found -= beyond(a, b + step, k) - beyond(a, b - step, k)
        near = (a + b - np.log(k)) / 2.0
        chances = [1.0 if width < near else -np.expm1(-near) for width in (b, a)]
        assert found / (2.0 * step) == pytest.approx(0.5 * (chances[0] - chances[1]), abs=2e-3)


@pytest.mark.parametrize("shift", [0.01, 0.5, 4.0])
def test_one_laplace_release_has_the_closed_form_curve(shift: float) -> None:
    """delta = 1 - e^((eps - s)/2)."""
    for delta in (1e-12, 1e-5, 0.3 * -np.expm1(-shift / 2)):
        epsilon = shift + 2.0 * np.log1p(-delta)
        low, high = interval([Event(Laplace(1.0 / shift))], float(delta))
        assert low <= epsilon * (1 + 1e-12) <= high * (1 + 2e-12)
        assert high - low < 1e-4 * shift


def engine(events: tuple[Event, ...], delta: float, level: int) -> tuple[float, float]:
    """Both ends of epsilon."""
    sides = PldBounds(events, delta, level)
    return sides.epsilon_below(delta), sides.epsilon_above(delta)


@pytest.mark.parametrize("noise", [0.05, 0.5, 3.0, 100.0])
@pytest.mark.parametrize("delta", [1e-15, 1e-5, 0.02])
def test_a_normal_law_on_the_lattice_encloses_the_exact_epsilon(noise: float, delta: float) -> None:
    """The engine itself; the accountant answers Gaussians alone by their closed form."""
    exact = float(epsilon_of(delta, 1.0 / noise))
    low, high = engine((Event(Gaussian(noise)),), delta, 1)
    assert low <= exact <= high
    assert high - low <= 1e-4 * exact + 1e-9


def test_many_normal_laws_convolved_are_one() -> None:
    """A thousand releases through the transform, not through mu."""
    each = (Event(Gaussian(20.0), count=1000),)
    for delta in (1e-14, 1e-5):
        exact = float(epsilon_of(delta, np.sqrt(1000) / 20.0))
        low, high = engine(each, delta, 2)
        assert low <= exact <= high
        assert high - low < 5e-4 * exact


def brute_force(boxes: list[tuple[float, float]], epsilon: float) -> mpmath.mpf:
    """delta of randomised responses: the sum over all their answers, with 50 digits."""
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        bounded = mpmath.mpf(1)
        for _, delta in boxes:
            bounded *= 1 - mpmath.mpf(delta)
        for signs in itertools.product((1, -1), repeat=len(boxes)):
            p = mpmath.mpf(1)
            loss = mpmath.mpf(0)
            for sign, (each, _) in zip(signs, boxes, strict=True):
                p *= 1 / (1 + mpmath.exp(-sign * mpmath.mpf(each)))
                loss += sign * mpmath.mpf(each)
            total += max(p * (1 - mpmath.exp(epsilon - loss)), 0)
        return 1 - bounded + bounded * total


@examples(25)
@given(
    st.lists(st.tuples(st.floats(0.01, 2.0), st.sampled_from([0.0, 1e-9])), min_size=1, max_size=8),
    st.floats(-30.0, -1.0),
)
def test_black_boxes_agree_with_brute_force(
    boxes: list[tuple[float, float]], log_delta: float
) -> None:
    delta = float(np.exp(log_delta))
    events = [Event(EpsilonDelta(*each)) for each in boxes]
    low, high = interval(events, delta)
    if np.isfinite(high):
        assert brute_force(boxes, high) <= delta * (1 + 1e-9)
    else:
        assert delta <= 1 - (1 - 1e-9) ** sum(d > 0 for _, d in boxes) + 1e-15
    if 0.0 < low < np.inf:
        assert brute_force(boxes, low * (1 - 1e-9)) >= delta * (1 - 1e-6)
    if np.isfinite(high):
        assert high - low <= 5e-3 * high + 1e-9


def test_discrete_normal_noise_agrees_with_sums_over_the_whole_numbers() -> None:
    """Two releases, by the double sum."""
    scale, steps, epsilon = 1.7, 2, 1.3
    whole = np.arange(-40, 43)
    q = np.exp(-0.5 * (whole / scale) ** 2)
    p = np.exp(-0.5 * ((whole - steps) / scale) ** 2)
    p, q = p / q.sum(), q / q.sum()
    both = np.maximum(np.multiply.outer(p, p) - np.exp(epsilon) * np.multiply.outer(q, q), 0.0)
    delta = float(both.sum())
    events = [Event(DiscreteGaussian(scale / steps, steps), count=2)]
    low, high = interval(events, delta)
    assert low <= epsilon <= high
    assert high - low < 1e-6
    assert PLD.delta(events, epsilon) == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize(
    ("event", "delta", "low", "high"),
    [
        (poisson(1.24, 0.05, 20), 1e-4, 0.932010895636 - 2e-3, 0.932010895636),
        (poisson(1.0, 0.01, 10_000), 1e-5, 6.18771 - 3e-3, 6.18774),
        (fixed_size(1.24, 0.05, 20), 1e-4, 0.932, 0.983887826484),
        (fixed_size(1.0, 0.0533, 20), 1e-4, 1.599, 1.678),
        (fixed_size(6.0, 0.05, 100), 1e-5, 0.289, 0.3012),
    ],
)
def test_known_intervals(event: Event, delta: float, low: float, high: float) -> None:
    """dp-accounting 0.6.0 and prv_accountant 0.2.0."""
    found_low, found_high = interval([event], delta)
    assert found_high == pytest.approx(high, rel=5e-4)
    assert low * (1 - 1e-3) <= found_low <= found_high


EVENTS = {
    "poisson": poisson(0.9, 0.03),
    "wide poisson": poisson(0.3, 0.4),
    "fixed size": fixed_size(0.9, 0.03),
    "replaced": Event(Gaussian(1.1), sampling="poisson", sampling_rate=0.1),
    "laplace": Event(Laplace(1.3)),
    "sampled laplace": replace(poisson(1.0, 0.2), mechanism=Laplace(0.7)),
    "box": Event(EpsilonDelta(0.7, 1e-6)),
    "sampled box": replace(fixed_size(1.0, 0.3), mechanism=EpsilonDelta(0.7, 1e-6)),
    "discrete": Event(DiscreteGaussian(1.4, 3)),
}


@every("name", list(EVENTS))
@every("step", [0.11, 0.013])
def test_lattice_laws_keep_to_their_side(name: str, step: float) -> None:
    """Against the pair itself, by quadrature: above never below, below never above."""
    for pair in pairs_of(EVENTS[name], 9.0):
        above = Composition([from_above(pair, step, 0.0)], [1], upper=True)
        below = from_below(replace(pair, filled=False), step, 0.0)
        under = Composition([below.lattice], [1], upper=False)
        for epsilon in (0.0, 0.05, 0.2, 0.61, 1.5):
            exact = direct(pair, epsilon)
            if exact < 1e-12:
                continue
            assert above.delta(epsilon) >= exact * (1 - 1e-7)
            assert under.delta(epsilon + below.raised) <= exact * (1 + 1e-7)


def direct(pair: Any, epsilon: float) -> float:
    """The integral of (p - e^eps q) where it is positive."""
    total = float(np.sum(np.maximum(pair.p - np.exp(epsilon) * pair.q, 0.0)))
    for piece in pair.pieces:
        cut = float(np.clip(piece.position(np.asarray(epsilon)), piece.low, piece.high))
        x = np.linspace(cut, piece.high, 200_001)
        gain = np.exp(piece.log_p(x)) - np.exp(epsilon + piece.log_q(x))
        total += float(np.trapezoid(gain, x))
    return total


@pytest.mark.parametrize("name", list(EVENTS))
def test_positions_are_the_inverse_of_losses(name: str) -> None:
    for pair in pairs_of(EVENTS[name], 9.0):
        for piece in pair.pieces:
            x = np.linspace(piece.low, piece.high, 1001)[1:-1]
            loss = piece.loss(x)
            assert np.all(np.diff(loss) >= 0.0)
            np.testing.assert_allclose(loss, piece.log_p(x) - piece.log_q(x), atol=1e-9)
            clear = np.gradient(loss, x) > 1e-3
            np.testing.assert_allclose(piece.position(loss)[clear], x[clear], atol=1e-6)


def test_a_sample_of_everybody_is_no_sample() -> None:
    plain = float(compose([Event(Gaussian(3.0), 50)], "exact", delta=1e-6).epsilon)
    for make in (poisson, fixed_size):
        low, high = interval([make(3.0, 1.0, 50)], 1e-6)
        assert low <= plain * (1 + 1e-9)
        assert high == pytest.approx(plain, rel=2e-4)


def test_a_sample_of_fixed_size_costs_at_least_a_poisson_sample() -> None:
    for noise, rate, count in ((0.7, 0.05, 100), (2.0, 0.2, 30), (12.0, 0.004, 100)):
        assert (
            interval([fixed_size(noise, rate, count)], 1e-5)[1]
            >= interval([poisson(noise, rate, count)], 1e-5)[0]
        )


def test_row_added_and_row_removed_are_both_counted() -> None:
    """At a large delta and many steps each direction is the worse one somewhere."""
    events = (poisson(1.0, 0.3, 1),)
    up, down = PldBounds(events, 1e-5, 2).above()
    found = [(up.delta(e), down.delta(e)) for e in (0.05, 0.3, 1.0)]
    assert any(a > b * 1.01 for a, b in found)
    for epsilon, (a, b) in zip((0.05, 0.3, 1.0), found, strict=True):
        assert PLD.delta(list(events), epsilon) == pytest.approx(max(a, b), rel=1e-3)


def test_parts_that_cancel_nothing_out_cost_nothing() -> None:
    endless = [poisson(np.inf, 0.1, 10), Event(Laplace(np.inf), adjacency="add_remove")]
    assert interval(endless, 1e-5) == (0.0, 0.0)
    assert interval([Event(EpsilonDelta(0.0))], 1e-5) == (0.0, 0.0)


def test_pure_losses_never_cost_more_than_their_sum() -> None:
    events = [Event(Laplace(2.0), 3), Event(EpsilonDelta(0.25))]
    for delta in (0.0, 1e-300, 1e-15, 1e-5):
        assert interval(events, delta)[1] <= 1.75
    assert PLD.epsilon(events, 0.0) == pytest.approx(1.75)
    assert PLD.epsilon([poisson(1.0, 0.1)], 0.0) == np.inf


@pytest.mark.merge
@pytest.mark.parametrize(
    ("event", "delta"),
    [
        pytest.param(poisson(1.0, 1e-4, 1_000_000), 1e-15, marks=pytest.mark.full),
        (poisson(0.3, 0.5, 3), 1e-15),
        (fixed_size(0.2, 0.9, 400), 1e-12),
        (Event(Laplace(1.0), 1_000_000), 1e-9),
        (Event(Laplace(2e4), 1_000_000), 1e-15),
        (Event(EpsilonDelta(30.0, 1e-9), 40), 1e-6),
        (poisson(2000.0, 0.1, 10), 1e-9),
    ],
)
def test_extreme_questions_are_answered_between_two_ends(event: Event, delta: float) -> None:
    low, high = interval([event], delta)
    assert 0.0 <= low <= high < np.inf
    rough = compose([replace(event, sampling="none", sampling_rate=1.0)], "linear", delta=delta)
    assert high <= float(rough.epsilon) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("event", "delta", "exact"),
    [
        (Event(Laplace(1 / 800)), 0.3, 800.0 + 2.0 * np.log(0.7)),
        (Event(EpsilonDelta(800.0), 3), 0.3, 2400.0 + np.log(0.7)),
        (Event(EpsilonDelta(12.8), 1000), 1e-8, 12_800.0 - 1e-8),
    ],
)
def test_losses_too_large_for_their_probabilities_stay_finite(
    event: Event, delta: float, exact: float
) -> None:
    """e^-loss is 0 in floating point, or nearly all probability is at the largest loss."""
    low, high = interval([event], delta)
    assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)
    assert high - low < 5e-4 * exact


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3])
def test_coarse_discrete_noise_has_the_sum_of_its_first_values(noise: float) -> None:
    """With little noise only one or two values matter: their losses are (2x - 1) / (2 noise^2)."""
    with mpmath.workdps(60):
        whole = range(-8, 10)
        weight = [mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(noise) ** 2)) for x in whole]
        low, high = interval([Event(DiscreteGaussian(noise))], 1e-5)
        found = [
            sum(max(0, p - mpmath.exp(e) * q) for p, q in itertools.pairwise(weight)) / sum(weight)
            for e in (low * (1 - 1e-9), high * (1 + 1e-9))
        ]
    assert found[0] >= 1e-5 >= found[1]
    assert high - low < 1e-6 * high


def test_everything_given_away_is_infinite_down_to_its_probability() -> None:
    for event in (Event(EpsilonDelta(np.inf)), Event(EpsilonDelta(0.5, 1.0)), Event(Laplace(0.0))):
        assert interval([event], 0.5) == (np.inf, np.inf)
        assert PLD.delta([event], 3.0) == 1.0
        np.testing.assert_array_equal(delta_curve([event], np.array([0.0, 3.0])), 1.0)
        np.testing.assert_array_equal(tradeoff([event], np.array([0.0, 0.5])), 0.0)
        assert loss_distribution([event]).infinite == 1.0
    assert interval([poisson(0.0, 0.1, 2)], 0.18) == (np.inf, np.inf)
    assert interval([poisson(0.0, 0.1, 2)], 0.2)[0] == 0.0


RARE = [poisson, fixed_size, lambda noise, rate, count: replace(
    poisson(1.0, rate, count), mechanism=Laplace(noise)
)]  # fmt: skip


@pytest.mark.parametrize("event", RARE)
@split_lanes("noise", [1e-9, 1.0, 1e-3, 1e-30, 1e-90], merge=1)
def test_a_delta_above_the_chance_of_being_drawn_covers_any_noise(event: Any, noise: float) -> None:
    """Without the row in any sample both tables give the same: (0, 1 - (1 - r)^count)."""
    rare = event(noise, 1e-4, 20)
    chance = -np.expm1(20 * np.log1p(-1e-4))
    assert interval([rare], chance * (1.0 + 1e-9)) == (0.0, 0.0)
    assert PLD.delta([rare], 0.0) <= chance * (1.0 + 1e-9)
    for delta in (2.0 * chance, 0.4):
        with pytest.raises(InputError, match="give a smaller delta"):
            calibrate([rare], 1.0, delta, "pld")
    with pytest.raises(InputError, match="delta"):
        calibrate([rare], [0.1, 1.0], 0.4, "pld")


@pytest.mark.parametrize("event", RARE)
@pytest.mark.parametrize("noise", [1e-5, 1e-7, 1e-9, 1e-13, 1e-40, 1e-90])
def test_next_to_no_noise_is_never_said_to_protect(event: Any, noise: float) -> None:
    """A row that is drawn with more than delta shows; a lattice of such losses had lost it."""
    shown = event(noise, 0.1, 2)
    least = epsilon_of(0.01 / 0.1, 1e3)  # of much more noise, one release, the row drawn
    low, high = interval([shown], 0.01)
    assert 0.0 <= low <= high
    assert high >= min(least, 0.4 / noise)
    assert PLD.delta([shown], 3.0) >= 0.09
    assert np.all(delta_curve([shown], np.array([0.0, 3.0])) >= 0.09)
    assert np.all(tradeoff([shown], np.array([0.0, 0.5])) <= np.array([0.91, 0.46]))


@split_lanes("noise", [1e-2, 0.1, 1e-3, 1.01e-4], merge=1)
def test_little_noise_on_a_sample_has_the_closed_form(noise: float) -> None:
    for rate, delta in ((0.1, 0.03), (1e-3, 1e-6)):
        low, high = interval([poisson(noise, rate)], delta)
        exact = epsilon_of(delta / rate, 1.0 / noise) + np.log(rate)  # e^epsilon is huge
        assert low * (1 - 1e-6) <= exact <= high * (1 + 1e-9)
        assert high <= exact * (1 + 1e-2)


def test_a_vector_of_many_small_entries_may_cost_less_than_its_largest_sum() -> None:
    """A hundred entries that move by 1/100 each: L2 is a tenth of L1, and so nearly is the cost."""
    spread = Event(Laplace(1.0, l2_ratio=0.1))
    low, high = interval([spread], 1e-5)
    true = interval([Event(Laplace(100.0), count=100)], 1e-5)
    assert low <= true[0]
    assert high == pytest.approx(interval([Event(Laplace(1.0))], 1e-5)[1], rel=1e-6)


@pytest.mark.parametrize("rate", [1e-6, 0.3, 1 - 1e-9, 1 - 2.0**-50])
@pytest.mark.parametrize("noise", [0.01, 0.8])
def test_losses_of_samples_are_precise_at_every_rate(noise: float, rate: float) -> None:
    event = poisson(noise, rate)
    removed, added = (pair.pieces[0].loss for pair in pairs_of(event, 9.0))
    (both,) = pairs_of(replace(event, adjacency="replace_one"), 9.0)
    replaced = both.pieces[0].loss
    r, mu = mpmath.mpf(rate), 1 / mpmath.mpf(noise)
    for x in np.linspace(-0.5 / noise - 9.0, 0.5 / noise + 9.0, 41):
        with mpmath.workdps(50):
            mixed = mpmath.log(1 - r + r * mpmath.exp(mu * float(x)))
            sides = [r * mpmath.exp(-(mu**2) / 8 + s * mu / 2 * float(x)) for s in (1, -1)]
            ratio = mpmath.log((1 - r + sides[0]) / (1 - r + sides[1]))
        assert float(removed(x)) == pytest.approx(float(mixed), rel=1e-11, abs=1e-21)
        assert float(added(-x)) == pytest.approx(-float(mixed), rel=1e-11, abs=1e-21)
        assert float(replaced(x)) == pytest.approx(float(ratio), rel=1e-11, abs=1e-21)


def test_heavy_losses_are_answered_on_a_coarser_lattice() -> None:
    """The finest lattice would be too long for losses of 19 each, thousands of times."""
    event = replace(poisson(1.0, 0.3, 2000), mechanism=EpsilonDelta(19.0))
    low, high = interval([event], 1e-5)
    assert 0.99 * high < low <= high < 2000 * 19.0


def test_one_way_of_being_neighbours_at_a_time() -> None:
    with pytest.raises(InputError, match="adjacency"):
        PLD.epsilon([poisson(1.0, 0.1), fixed_size(1.0, 0.1)], 1e-5)


def test_tradeoff_of_gaussians_at_the_smallest_share_of_false_alarms() -> None:
    """Phi(-Phi^-1(a) - mu), where 1 - a is 1 in floating point."""
    found = tradeoff([Event(Gaussian(0.1))], np.array([0.0, 1e-20]))
    np.testing.assert_allclose(found, [1.0, ndtr(9.262340089798409 - 10.0)], rtol=1e-12)


def test_schemes_without_a_theorem_are_refused_with_one_that_has() -> None:
    with pytest.raises(NotCovered, match=r"fixed-size.*replace_one.*poisson"):
        PLD.epsilon([replace(fixed_size(1.0, 0.1), adjacency="add_remove")], 1e-5)
    for adjacency in ("label", "feature"):
        for event in (fixed_size(1.0, 0.1), poisson(1.0, 0.1)):
            with pytest.raises(NotCovered, match=r"part of a row.*replace_one"):
                PLD.epsilon([replace(event, adjacency=adjacency)], 1e-5)
    laplace = Event(Laplace(1.0), sampling="poisson", sampling_rate=0.1)
    with pytest.raises(NotCovered, match=r"Gaussian noise only.*add_remove"):
        PLD.epsilon([laplace], 1e-5)


def test_what_samples_assume_is_said() -> None:
    """A ball around 0 is needed where rows are replaced in a Poisson sample, and only there."""
    replaced = replace(poisson(1.0, 0.1), adjacency="replace_one")
    assert "ball around 0" in " ".join(compose([replaced], "pld", delta=1e-5).assumptions)
    for event in (poisson(1.0, 0.1), fixed_size(1.0, 0.1)):
        said = " ".join(compose([event], "pld", delta=1e-5).assumptions)
        assert "afresh" in said
        assert "ball" not in said


def test_tradeoff_of_gaussians_is_the_closed_form_and_the_engine_agrees() -> None:
    alarms = np.array([0.0, 0.001, 0.05, 0.3, 0.9, 1.0])
    exact = tradeoff([Event(Gaussian(2.0), 3)], alarms)
    mixed = tradeoff([Event(Gaussian(2.0), 3), Event(Laplace(1e6))], alarms)
    assert np.all(mixed <= exact + 1e-6)
    np.testing.assert_allclose(mixed, exact, atol=2e-4)
    np.testing.assert_allclose(tradeoff([], alarms), 1.0 - alarms)
    with pytest.raises(InputError, match="false_alarms"):
        tradeoff([], np.array([1.2]))


def test_tradeoff_of_one_laplace_release() -> None:
    """Dong, Roth, Su 2022: 1 - e^s a at first, e^-s / (4 a) in the middle (here s = 1)."""
    alarms = np.array([0.05, 0.3, 0.45])
    middle = np.exp(-1.0) / (4.0 * alarms)
    expected = np.where(alarms < np.exp(-1.0) / 2, 1.0 - np.exp(1.0) * alarms, middle)
    np.testing.assert_allclose(tradeoff([Event(Laplace(1.0))], alarms), expected, atol=2e-4)


def test_the_curve_is_never_below_the_single_points() -> None:
    events = [Event(Laplace(3.0), 5), poisson(1.0, 0.1, 20)]
    events[0] = replace(events[0], adjacency="add_remove")
    epsilons = np.array([0.0, 0.4, 1.0, 2.0])
    lows = [PLD_low(events, float(e)) for e in epsilons]
    found = delta_curve(events, epsilons)
    assert np.all(found >= np.array(lows) * (1 - 1e-9))
    np.testing.assert_allclose(found, [PLD.delta(events, float(e)) for e in epsilons], rtol=1e-3)


def test_a_curve_leaves_out_the_tilt_that_no_lattice_holds() -> None:
    """Nine epochs of a tutorial's DP-SGD: its widest tilt would need too long a lattice."""
    epochs = [poisson(1.12, 256 / 60_000, 9 * 234)]
    lower, upper = interval(epochs, 1e-5)
    deltas = delta_curve(epochs, np.array([lower, upper]))
    assert deltas[0] >= 1e-5
    np.testing.assert_allclose(deltas, 1e-5, rtol=0.02)


def PLD_low(events: list[Event], epsilon: float) -> float:
    below = PldBounds(tuple(events), 1e-6, 3).below()
    return max(composition.delta(epsilon + raised) for composition, raised in below)


def test_losses_for_a_picture_hold_all_probability_and_the_mean() -> None:
    """The mean loss of a Laplace release is s - 1 + e^-s."""
    found = loss_distribution([Event(Laplace(2.0), 12)])
    width = found.losses[1] - found.losses[0]
    assert np.sum(found.density) * width == pytest.approx(1.0, abs=1e-4)
    mean = 12 * (0.5 - 1.0 + np.exp(-0.5))
    assert np.sum(found.losses * found.density) * width == pytest.approx(mean, rel=1e-3)
    box = loss_distribution([Event(EpsilonDelta(0.3, 0.01), 5)])
    assert box.infinite == pytest.approx(1 - 0.99**5)


BUDGETS = np.geomspace(0.1, 30.0, 7)
SAMPLED = {
    "fixed size": (fixed_size(1.0, 0.1, 10),),
    "poisson": (poisson(1.0, 0.05, 200),),
    "a look first": (Event(Gaussian(2.0)), fixed_size(1.0, 0.01, 8)),
    "with laplace": (Event(Laplace(3.0)), fixed_size(1.0, 0.2, 5)),
}


@split_lanes("name", SAMPLED, merge=1)
def test_noise_for_a_grid_of_budgets_meets_each_closely(name: str) -> None:
    """By the very bound that is stated afterwards, one event for each release as in a ledger."""
    factor = np.asarray(calibrate(SAMPLED[name], BUDGETS, 1e-5, "pld"))
    for each, budget in zip(factor, BUDGETS, strict=True):
        events = [
            replace(event, count=1)
            for event in scaled(SAMPLED[name], each)
            for _ in range(event.count)
        ]
        reached = compose(events, "pld", delta=1e-5)
        assert (1.0 - 1e-5) * budget <= float(reached.epsilon) <= budget
        assert reached.lower <= reached.epsilon


def test_noise_for_a_grid_is_that_of_its_budgets_alone() -> None:
    together = np.asarray(calibrate(SAMPLED["fixed size"], BUDGETS[::-1], 1e-5, "pld"))
    alone = [calibrate(SAMPLED["fixed size"], float(b), 1e-5, "pld") for b in BUDGETS[::-1]]
    np.testing.assert_allclose(together, alone, rtol=2e-5)


@pytest.mark.parametrize("name", list(SAMPLED))
def test_the_rough_bound_is_never_below_the_stated_one(name: str) -> None:
    for factor in np.geomspace(0.3, 20.0, 9):
        events = scaled(SAMPLED[name], factor)
        rough, stated = pld._rough_epsilon(events, 1e-5), PLD.epsilon(events, 1e-5)
        assert stated <= rough
        assert rough == pytest.approx(stated, rel=1e-3)


def test_a_grid_of_budgets_asks_few_questions() -> None:
    """Counted, not timed: some lattices for all budgets together, two fine ones for each."""
    for kept in (pld._first, pld._upper_end):
        kept.cache_clear()
    calibrate(SAMPLED["a look first"], BUDGETS, 1e-5, "pld")
    assert pld._first.cache_info().misses <= 7 * len(BUDGETS)
    assert pld._upper_end.cache_info().misses <= 2 * len(BUDGETS)


def test_an_epsilon_alone_is_the_upper_end_of_the_interval() -> None:
    for events in SAMPLED.values():
        assert PLD.epsilon(events, 1e-6) == PLD.interval(events, 1e-6)[1]
        assert compose(events, "pld", delta=1e-6, lower=False).lower is None


def jumping(factor: float) -> float:
    """A bound that falls by steps: most budgets lie in a gap."""
    return float(2.0 ** -np.floor(3.0 * np.log2(factor)))


@pytest.mark.parametrize(
    ("rough", "exact"),
    [
        (lambda f: 1.001 / f, lambda f: 1.0 / f),
        (lambda f: (1.0 + 1e-4 * np.cos(20.0 * f) ** 2) / f, lambda f: 1.0 / f),
        (jumping, jumping),
        (lambda f: 2.0 * jumping(f), jumping),
        (lambda f: np.inf if f < 0.3 else 1.0 / f, lambda f: np.inf if f < 0.3 else 0.9 / f),
        (lambda f: max(0.0, 1.0 / f - 0.2), lambda f: max(0.0, 1.0 / f - 0.2)),
    ],
)
def test_the_least_factor_never_misses_its_budget(rough: Any, exact: Any) -> None:
    targets = [0.5, 3.0, 0.031, 3.0, 1.7]
    for target, factor in zip(targets, least_factors(rough, exact, targets, 1e-5), strict=True):
        assert exact(factor) <= target
        smooth = exact(factor) >= (1.0 - 1e-5) * target
        jumps = exact(factor * (1.0 - 1e-9)) > target or rough(factor * (1.0 - 1e-9)) > target
        assert smooth or jumps
