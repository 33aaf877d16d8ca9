"""Optimal composition of pairs: against every outcome written out, and against its neighbours."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import wording
from hypothesis import given
from hypothesis import strategies as st
from printed_formulas import closed_form, grid_epsilon
from support import every, examples, split_lanes

from dpcore.accounting import accountant, calibrate, compose
from dpcore.accounting.kov import KOV
from dpcore.accounting.randomised_response import Enclosed, Multiplied, repeated, together
from dpcore.errors import InputError
from dpcore.privacy import EpsilonDelta, Event, Gaussian, Laplace

DELTA = 1e-5


def boxes(*kinds: tuple[float, int], delta_each: float = 0.0) -> list[Event]:
    return [Event(EpsilonDelta(epsilon, delta_each), count=count) for epsilon, count in kinds]


def epsilon(events: list[Event], delta: float = DELTA, method: str = "kov") -> float:
    return float(compose(events, method, delta=delta).epsilon)


def written_out(epsilons: list[float], at: float, deltas: list[float] | None = None) -> float:
    """delta at ``at``: every outcome of responses that also give everything away, in 60 digits."""
    with mpmath.workdps(60):
        each = [mpmath.mpf(e) for e in epsilons]
        honest = [mpmath.e**e / (1 + mpmath.e**e) for e in each]
        total = mpmath.mpf(0)
        for signs in itertools.product((1, -1), repeat=len(each)):
            loss = mpmath.fsum(s * e for s, e in zip(signs, each, strict=True))
            if loss > at:
                chance = mpmath.fprod(
                    p if s > 0 else 1 - p for s, p in zip(signs, honest, strict=True)
                )
                total += chance * (1 - mpmath.e ** (mpmath.mpf(at) - loss))
        kept = mpmath.fprod(1 - mpmath.mpf(d) for d in deltas or [0.0])
        return float(1 - kept * (1 - total))


@examples(40)
@given(st.lists(st.floats(1e-3, 3.0), min_size=1, max_size=9), st.floats(0.0, 0.999))
def test_delta_is_the_sum_over_all_outcomes(epsilons: list[float], share: float) -> None:
    at = share * sum(epsilons)
    events = boxes(*((e, 1) for e in epsilons))
    expected = written_out(epsilons, at)
    assert KOV.delta(events, at) == pytest.approx(expected, rel=1e-10, abs=1e-300)


def test_delta_of_twelve_different_responses_with_deltas_is_the_sum_over_all_outcomes() -> None:
    rng = np.random.default_rng(5)
    epsilons = [float(e) for e in rng.uniform(0.02, 0.9, 12)]
    deltas = [float(d) for d in rng.uniform(0.0, 1e-4, 12)]
    events = [Event(EpsilonDelta(e, d)) for e, d in zip(epsilons, deltas, strict=True)]
    for at in (0.0, 0.5, 2.0, 4.0, 0.999 * sum(epsilons)):
        expected = written_out(epsilons, at, deltas)
        assert KOV.delta(events, at) == pytest.approx(expected, rel=1e-11)
        if expected < 0.5:
            assert epsilon(events, expected) == pytest.approx(at, rel=1e-9, abs=1e-12)


def test_equal_odds_give_exact_fractions() -> None:
    """Odds of 3 to 1, four times: losses 4, 2, 0 log 3 with chances 81, 108, 54 of 256."""
    three = math.log(3.0)
    for power in (0, 1, 2, 3):
        at = Fraction(3) ** power
        terms = ((81, Fraction(81)), (108, Fraction(9)), (54, Fraction(1)))
        exact = sum(Fraction(n, 256) * max(Fraction(0), 1 - at / odds) for n, odds in terms)
        assert KOV.delta(boxes((three, 4)), power * three) == pytest.approx(float(exact), rel=1e-13)


def test_the_probabilities_of_lies_are_those_of_a_binomial_law() -> None:
    for each, count in ((0.7, 9), (0.01, 400), (5.0, 400), (2.0, 50)):
        law = repeated(each, count)
        with mpmath.workdps(50):
            lie = 1 / (1 + mpmath.e ** mpmath.mpf(each))
            for loss, log_mass in zip(law.losses[::7], law.log_mass[::7], strict=True):
                lies = round((count - loss / each) / 2)
                exact = mpmath.log(mpmath.binomial(count, lies))
                exact += lies * mpmath.log(lie) + (count - lies) * mpmath.log(1 - lie)
                assert log_mass == pytest.approx(float(exact), rel=1e-13, abs=1e-12)


def test_a_single_release_may_be_cheaper_than_its_own_epsilon() -> None:
    """delta pays for part of it: 0.1 at 1e-3 is log(e^0.1 - 1e-3 (1 + e^0.1))."""
    exact = math.log(math.exp(0.1) - 1e-3 * (1.0 + math.exp(0.1)))
    assert epsilon(boxes((0.1, 1)), 1e-3) == pytest.approx(exact, rel=1e-13)
    assert epsilon(boxes((0.1, 1)), 0.0) == 0.1


@examples(60)
@given(st.floats(1e-4, 2.0), st.integers(1, 200), st.floats(-30.0, -2.0), st.integers(1, 199))
def test_unequal_equals_equal_where_all_are_equal(
    each: float, count: int, log_delta: float, split: int
) -> None:
    delta = math.exp(log_delta)
    together_ = epsilon(boxes((each, count)), delta)
    apart = boxes((each, min(split, count)), (each, max(0, count - split)))
    assert epsilon(apart, delta) == together_
    mixed = [Event(Laplace(1.0 / each), count=1), *boxes((each, count - 1))]
    assert epsilon(mixed, delta) == pytest.approx(together_, rel=1e-9, abs=1e-12)


@examples(60)
@given(
    st.lists(st.tuples(st.floats(1e-3, 1.5), st.integers(1, 60)), min_size=1, max_size=2),
    st.floats(-25.0, -3.0),
    st.sampled_from([0.0, 1e-13]),
)
def test_never_above_adding_advanced_composition_or_the_closed_form(
    kinds: list[tuple[float, int]], log_delta: float, delta_each: float
) -> None:
    delta, events = math.exp(log_delta), boxes(*kinds, delta_each=delta_each)
    found = epsilon(events, delta)
    assert found <= epsilon(events, delta, "linear") * (1 + 1e-12)
    assert found <= epsilon(events, delta, "advanced") * (1 + 1e-12)
    releases = sum(count for _, count in kinds)
    slack = delta - releases * delta_each
    each, counts = np.array(kinds).T
    assert found <= closed_form(each, counts, slack) * (1 + 1e-9)


def test_gaussians_enter_by_their_pairs_and_cost_no_less_than_exactly() -> None:
    events = [Event(Gaussian(20.0), count=50)]
    found = compose(events, "kov", delta=DELTA)
    assert (found.kind, found.lower) == ("upper bound", None)
    assert epsilon(events, method="exact") < found.epsilon < epsilon(events, method="advanced")
    pair = compose([Event(Gaussian(20.0))], "exact", delta=1e-7).epsilon
    same = epsilon([Event(EpsilonDelta(float(pair), 1e-7), count=50)])
    assert found.epsilon == pytest.approx(same, rel=1e-12)  # delta / (2 releases) = 1e-7
    factor = float(calibrate(events, 1.0, DELTA, "kov"))
    scaled = [Event(Gaussian(20.0 * factor), count=50)]
    assert epsilon(scaled) == pytest.approx(1.0, rel=1e-9)
    assert epsilon(scaled) <= 1.0


def test_boxes_are_exact_and_laplace_is_not() -> None:
    """Of a Laplace release more is known than its epsilon."""
    exact = compose(boxes((0.1, 40), (0.2, 3)), "kov", delta=DELTA)
    assert (exact.kind, exact.lower) == ("exact", exact.epsilon)
    laplace = compose([Event(Laplace(10.0), count=40)], "kov", delta=DELTA)
    assert (laplace.kind, laplace.lower) == ("upper bound", None)
    assert laplace.epsilon > 1.02 * epsilon([Event(Laplace(10.0), count=40)], method="pld")


def many(count: int) -> list[tuple[float, int]]:
    rng = np.random.default_rng(1)
    return [(float(e), 1) for e in rng.uniform(0.05, 0.2, count)]


@split_lanes("delta", [1e-5, 1e-2, 1e-12, 1e-100], merge=1)
@pytest.mark.parametrize("kinds", [many(40), [(0.01, 1000), (0.0217, 900), (0.013, 700)]])
def test_too_many_losses_are_enclosed_from_both_sides(
    kinds: list[tuple[float, int]], delta: float
) -> None:
    curve = together(tuple(kinds))
    assert isinstance(curve, Enclosed)
    lower, upper = (float(end) for end in curve.epsilon(np.asarray(delta)))
    assert lower <= upper <= lower * (1 + 1.2e-5)
    low, high = (float(end) for end in curve.delta(np.asarray(upper)))
    assert low <= delta * (1 + 1e-6)
    assert high >= low
    bound = compose(boxes(*kinds), "kov", delta=delta)
    assert (bound.kind, bound.lower, bound.epsilon) == ("upper bound", lower, upper)


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-12, 1e-200])
def test_what_is_enclosed_holds_what_is_multiplied_out(delta: float) -> None:
    """The same laws by both routes, which share only the probabilities of lies."""
    kinds = ((0.05, 60), (0.0813, 40), (0.3, 4))
    exact = together(kinds)
    assert isinstance(exact, Multiplied)
    laws = Enclosed(tuple(repeated(each, count) for each, count in kinds))
    lower, upper = laws.epsilon(np.asarray(delta))
    truth = float(exact.epsilon(np.asarray(delta)).upper)
    assert float(lower) <= truth * (1 + 1e-12)
    assert truth <= float(upper) * (1 + 1e-12)
    assert float(upper) == pytest.approx(truth, rel=1e-5)
    low, high = laws.delta(np.asarray(0.9 * truth))
    known = float(exact.delta(np.asarray(0.9 * truth)).upper)
    assert float(low) <= known * (1 + 1e-12)
    assert known <= float(high) * (1 + 1e-12)


@every("count", [1, 7, 1000, 10**6])
@every("each", [1e-6, 1e-3, 0.5, 50.0])
@every("delta", [1e-300, 1e-15, 1e-5, 0.3])
def test_extremes_are_finite_and_their_own_inverse(each: float, count: int, delta: float) -> None:
    events = boxes((each, count))
    found = epsilon(events, delta)
    assert 0.0 <= found <= each * count * (1 + 1e-15)
    back = float(KOV.delta(events, found))
    assert back <= delta * (1 + 1e-9)
    if 1e-9 < found < 0.999 * each * count:
        assert back == pytest.approx(delta, rel=1e-6, abs=4e-15 * found)


def test_a_grid_of_deltas_and_runs_gives_what_single_ones_give() -> None:
    deltas, sizes = np.geomspace(1e-12, 1e-2, 5)[:, None], np.array([0.01, 0.1, 0.5])
    events = [Event(EpsilonDelta(sizes), count=30), Event(EpsilonDelta(0.2, 1e-15))]
    grid = np.asarray(accountant("kov").epsilon(events, deltas))
    assert grid.shape == (5, 3)
    for i, j in itertools.product(range(5), range(3)):
        alone = [event.at(j) for event in events]
        assert grid[i, j] == epsilon(alone, float(deltas[i, 0]))
    back = np.asarray(accountant("kov").delta(events, grid))
    np.testing.assert_allclose(back, np.broadcast_to(deltas, (5, 3)), rtol=1e-8)


def test_deltas_that_use_up_the_total_are_refused_with_what_fits() -> None:
    with pytest.raises(InputError, match=wording.GIVE_DELTA_ABOVE):
        epsilon(boxes((0.1, 3), delta_each=1e-5))
    with pytest.raises(InputError, match=r"delta_each: .*at most"):
        epsilon([Event(Gaussian(3.0), count=30, delta_each=1e-6)])
    whole = [Event(Gaussian(3.0), count=10, delta_each=1e-6)]
    assert epsilon(whole) == pytest.approx(epsilon(whole, method="linear"), rel=1e-9)


def test_what_reveals_nothing_or_all() -> None:
    assert epsilon(boxes((0.0, 5))) == 0.0
    assert epsilon([Event(EpsilonDelta(np.inf))]) == math.inf
    assert KOV.delta([Event(EpsilonDelta(np.inf))], 3.0) == 1.0
    assert KOV.delta(boxes((0.1, 5), delta_each=1e-20), 0.5) == pytest.approx(5e-20, rel=1e-12)


def test_the_theorem_as_printed_is_a_step_above_the_curve() -> None:
    """k = 2: its values are 2 eps and 0; delta_1 = e^eps - 1 over e^eps + 1, squared to size."""
    assert grid_epsilon(0.1, 2, 1e-3) == 0.2
    for delta in (1e-6, 1e-3, 0.03, 0.2):
        for count in (1, 2, 9, 50):
            step = grid_epsilon(0.1, count, delta)
            smooth = epsilon(boxes((0.1, count)), delta)
            assert smooth <= step * (1 + 1e-12)
            assert step - smooth < 0.2 * (1 + 1e-9)
    assert grid_epsilon(0.1, 10, 1e-6, 1e-6) == math.inf


def test_known_optima() -> None:
    """From the design page: LLG, K = 2, 3, 10; J = 10; epsilon_i = 0.1, 0.1, 0.05."""
    for components, each, known in ((2, 0.1, 2.4792), (3, 0.1, 3.0155), (10, 0.05, 2.5907)):
        gaussian, laplace = 10 * components, 10 * (components + 1)
        events = [*boxes((each, laplace)), *boxes((each, gaussian), delta_each=1e-8)]
        assert epsilon(events, 1e-4) == pytest.approx(known, rel=3e-5)
