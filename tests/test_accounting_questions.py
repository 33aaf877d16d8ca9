"""What-if questions: each answer against ``compose``, a closed form, or a search by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from support import every, examples

from dpcore.accounting import (
    ACCOUNTANTS,
    against_count,
    attacker_success,
    compose,
    covers,
    delta_at,
    guess_rate,
    most_repeats,
    per_release,
    posterior,
    worst_posterior,
)
from dpcore.accounting.questions import _last_at_most_zero
from dpcore.errors import InputError, NotCovered
from dpcore.privacy import EpsilonDelta, Event, Gaussian, Laplace, Privacy
from dpcore.privacy.events import DiscreteGaussian

DELTA = 1e-5
LISTS = {
    "gaussian": [Event(Gaussian(30.0)), Event(Gaussian(50.0), count=2)],
    "both": [Event(Gaussian(40.0), count=3), Event(Laplace(60.0))],
    "box": [Event(EpsilonDelta(0.02), count=2)],
    "parts": [Event(Gaussian(60.0), group="g", parallel=True) for _ in range(4)],
    "sampled": [Event(Gaussian(3.0), 5, None, "poisson", 0.01, adjacency="add_remove")],
}
SLOW = {("pld", "both"), ("pld", "box"), ("pld", "sampled")}
CASES = [(n, k) for n in ACCOUNTANTS for k, e in LISTS.items() if covers(n, e) is None]


def repeats(events: list[Event], count: int) -> list[Event]:
    return [replace(event, count=event.count * count) for event in events]


def test_parts_may_have_one_noise_for_all_runs_or_none_at_all() -> None:
    """A record in the part of one noise costs the same in every run; in an empty one, nothing."""
    part = Event(Gaussian(2.0), group="g", parallel=True, adjacency="add_remove")
    noises = np.array([1.0, 2.0, 4.0])
    parts = [replace(part, mechanism=Gaussian(noises)), part, replace(part, count=0)]
    for question in (
        lambda events: compose(events, delta=DELTA).epsilon,
        lambda events: delta_at(events, 1.0),
        lambda events: worst_posterior(events, 0.5, chance=0.01),
    ):
        wanted = [question([replace(part, mechanism=Gaussian(z))]) for z in (1.0, 2.0, 2.0)]
        assert question(parts) == pytest.approx(wanted, rel=1e-12)


@every("name, kind", CASES)
def test_against_count_is_compose_with_counts_multiplied(name: str, kind: str) -> None:
    counts = np.array([0, 1, 7]) if (name, kind) in SLOW else np.array([0, 1, 2, 10, 100, 1000])
    found = against_count(LISTS[kind], counts, DELTA, name)
    expected = [compose(repeats(LISTS[kind], k), name, delta=DELTA).epsilon for k in counts]
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    assert found[0] == 0.0
    assert np.all(np.diff(found) > 0.0)


def test_against_count_is_infinite_where_the_releases_use_up_delta() -> None:
    events = [Event(Gaussian(30.0), delta_each=1.02e-6)]
    for name in ("linear", "advanced", "kov"):
        found = against_count(events, [1, 9, 10, 11], DELTA, name)
        assert np.isinf(found).tolist() == [False, False, True, True]


def test_against_count_keeps_the_shape_and_refuses_what_is_no_count() -> None:
    grid = against_count(LISTS["gaussian"], np.array([[1, 2], [3, 4]]), DELTA)
    assert grid.shape == (2, 2)
    assert against_count(LISTS["gaussian"], [], DELTA).shape == (0,)
    for bad in ([1.5], [-1], [math.inf], [math.nan]):
        with pytest.raises(InputError, match="counts"):
            against_count(LISTS["gaussian"], bad, DELTA)
    with pytest.raises(NotCovered):
        against_count(LISTS["both"], [0, 1], DELTA, "exact")


@every("name, kind", CASES)
def test_the_most_repeats_fit_and_one_more_does_not(name: str, kind: str) -> None:
    budget = 1.3
    count = most_repeats(LISTS[kind], budget, DELTA, name)
    assert count >= 1
    fits, over = against_count(LISTS[kind], [count, count + 1], DELTA, name)
    assert fits <= budget * (1 + 1e-12) < over


def test_most_repeats_at_its_ends() -> None:
    assert most_repeats([Event(Gaussian(1.0))], 0.1, DELTA) == 0
    assert most_repeats([Event(Gaussian(1e9))], 1.0, DELTA) == 10**7
    assert most_repeats([Event(Gaussian(1e9))], 1.0, DELTA, most=5) == 5
    assert most_repeats([], 1.0, DELTA) == 10**7
    assert most_repeats([Event(Laplace(10.0))], 0.3, DELTA, "linear") == 3
    shared = [Event(Gaussian(1e3), delta_each=1.02e-6)]
    for name in ("linear", "advanced", "kov"):
        assert most_repeats(shared, 50.0, DELTA, name) == 9
    with pytest.raises(InputError, match="grid of runs"):
        most_repeats([Event(Gaussian(np.array([1.0, 2.0])))], 1.0, DELTA)


@examples(200)
@given(
    st.integers(0, 10**7), st.floats(0.3, 3.0), st.floats(0.0, 5.0), st.booleans(), st.booleans()
)
def test_the_search_finds_any_last_number_in_few_questions(
    last: int, power: float, jump: float, endless: bool, flat: bool
) -> None:
    asked = 0

    def excess(count: int) -> float:
        nonlocal asked
        asked += 1
        if endless and count > last:
            return math.inf
        if flat and count <= last:
            return -math.inf
        beyond = jump if count > last else 0.0
        return power * math.log(count / (last + 0.5)) + beyond

    assert _last_at_most_zero(excess, 10**7) == last
    assert asked <= (80 if endless or flat or jump else 25)


@pytest.mark.parametrize("name", ["linear", "advanced", "kov", "zcdp", "zcdp_tight", "ma", "exact"])
def test_what_each_release_may_spend_adds_up_to_the_budget(name: str) -> None:
    budgets = np.array([0.5, 1.0, 4.0])
    for mechanism in (Gaussian(1.0), Laplace(1.0)):
        if covers(name, [Event(mechanism)]) is not None:
            continue
        each = per_release(50, budgets, DELTA, name, mechanism=mechanism)
        assert each.noise is not None
        field = "scale" if isinstance(mechanism, Laplace) else "noise_multiplier"
        events = [Event(replace(mechanism, **{field: each.noise}), count=50)]
        reached = np.asarray(compose(events, name, delta=DELTA).epsilon)
        assert np.all(reached <= budgets)
        np.testing.assert_allclose(reached, budgets, rtol=1e-9)
        single = [Event(events[0].mechanism)]
        if isinstance(mechanism, Gaussian):
            assert each.delta_each == DELTA / 100
            pair = compose(single, "exact", delta=each.delta_each).epsilon
            np.testing.assert_allclose(each.epsilon_each, pair, rtol=1e-12)
        else:
            assert each.delta_each == 0.0
            np.testing.assert_allclose(each.epsilon_each, 1.0 / np.asarray(each.noise))


def test_each_release_of_linear_composition_gets_an_equal_part() -> None:
    each = per_release(20, 1.0, DELTA, "linear", delta_each=DELTA / 20)
    assert each.epsilon_each == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("name", ["linear", "advanced", "kov", "zcdp"])
def test_black_boxes_get_the_largest_epsilon_that_fits(name: str) -> None:
    box = EpsilonDelta(1.0, 0.0 if name == "zcdp" else 1e-8)
    budgets = np.array([0.3, 2.0])
    each = per_release(30, budgets, DELTA, name, mechanism=box)
    assert each.noise is None
    mine = np.asarray(each.epsilon_each)

    def cost(sizes: np.ndarray) -> np.ndarray:
        events = [Event(EpsilonDelta(sizes, box.delta), count=30)]
        return np.asarray(compose(events, name, delta=DELTA).epsilon)

    assert np.all(cost(mine) <= budgets * (1 + 1e-11))
    assert np.all(cost(mine * (1 + 1e-9)) > budgets)
    if name == "linear":
        np.testing.assert_allclose(mine, budgets / 30, rtol=1e-11)


def test_a_discrete_gaussian_release_has_a_pair_of_its_own() -> None:
    each = per_release(10, 1.0, DELTA, "zcdp_tight", mechanism=DiscreteGaussian(1.0, 4))
    same = per_release(10, 1.0, DELTA, "zcdp_tight")
    assert each.noise == pytest.approx(same.noise)
    assert each.epsilon_each >= same.epsilon_each


def test_delta_at_is_the_inverse_of_compose() -> None:
    for name in ("exact", "zcdp_tight", "kov", "ma"):
        found = compose(LISTS["gaussian"], name, delta=DELTA).epsilon
        assert delta_at(LISTS["gaussian"], float(found), name) == pytest.approx(DELTA, rel=1e-6)
    two = repeats([Event(Gaussian(60.0))], 2)
    assert delta_at(LISTS["parts"], 0.1) == pytest.approx(float(delta_at(two, 0.1)), rel=1e-12)
    with pytest.raises(InputError, match="epsilon"):
        delta_at(two, -1.0)


def test_posterior_is_bayes_rule() -> None:
    for prior, eps in ((0.5, 1.0), (0.01, 3.0), (0.9, 0.2)):
        odds = prior / (1 - prior) * math.exp(eps)
        assert posterior(prior, eps) == pytest.approx(odds / (1 + odds), rel=1e-13)
    for bad in (0.0, 1.0, -0.1, math.nan):
        with pytest.raises(InputError, match="prior"):
            posterior(bad, 1.0)


def test_worst_posterior_of_pure_releases_is_that_of_their_epsilon() -> None:
    events = [Event(Laplace(4.0), count=3)]
    assert worst_posterior(events, 0.2, accountant="linear") == posterior(0.2, 0.75)
    assert worst_posterior([Event(Gaussian(100.0))], 0.2) == 1.0
    assert worst_posterior([], 0.2) == pytest.approx(0.2)
    assert worst_posterior([], 0.2, chance=0.01) == pytest.approx(0.2)


@examples(60)
@given(st.floats(0.05, 20.0), st.floats(0.01, 0.99), st.floats(-12.0, -1.0))
def test_worst_posterior_covers_the_true_quantile_of_belief(
    noise: float, prior: float, log_chance: float
) -> None:
    """Of a Gaussian the loss is N(mu^2/2, mu^2); the bound is above its quantile, not far."""
    chance, mu = math.exp(log_chance), 1.0 / noise
    loss = 0.5 * mu**2 + mu * float(ndtri(1.0 - chance))
    found = float(worst_posterior([Event(Gaussian(noise))], prior, chance=chance))
    true = float(posterior(prior, loss))
    assert found >= true
    bound = math.log(found / (1 - found)) - math.log(prior / (1 - prior)) if found < 1.0 else loss
    assert bound <= loss + 1.0 * max(mu, 0.3)


@examples(60)
@given(st.floats(0.1, 30.0), st.floats(1e-6, 1 - 1e-6))
def test_the_best_attacker_on_a_gaussian_in_closed_form(noise: float, prior: float) -> None:
    """prior Phi(mu/2 - t/mu) + (1 - prior) Phi(mu/2 + t/mu), t = log((1 - prior)/prior)."""
    mu, t = 1.0 / noise, math.log((1 - prior) / prior)
    exact = prior * ndtr(mu / 2 - t / mu) + (1 - prior) * ndtr(mu / 2 + t / mu)
    found = attacker_success([Event(Gaussian(noise))], prior)
    assert found == pytest.approx(float(exact), rel=1e-10)
    assert found == pytest.approx(float(attacker_success([Event(Gaussian(noise))], 1 - prior)))


def test_the_best_attacker_without_a_prior_opinion_is_the_guess_rate() -> None:
    events = LISTS["gaussian"]
    assert attacker_success(events, 0.5) == pytest.approx(float(guess_rate(events)), rel=1e-12)
    assert attacker_success([], 0.3) == 0.7
    priors = np.array([0.1, 0.5, 0.9])
    found = np.asarray(attacker_success(events, priors))
    assert found.shape == (3,)
    assert found[0] == pytest.approx(found[2])
    for name in ("zcdp_tight", "kov", "linear"):
        assert np.all(np.asarray(attacker_success(events, priors, name)) >= found - 1e-12)


@every("form", [np.int8, np.int16, np.float16, np.float32, str])
def test_noise_and_budgets_of_any_kind_of_number_have_one_price(form: Any) -> None:
    """Squares of small integers overflow, and would be free."""
    events, plain = [Event(Gaussian(form(120)), form(10))], [Event(Gaussian(120.0), 10)]
    assert events == plain
    for name in ("ma", "wbk27", "zcdp"):
        assert compose(events, name, delta=1e-5) == compose(plain, name, delta=1e-5)
    assert delta_at(plain, form(1)) == delta_at(plain, 1.0)
    assert Privacy(form(1), 1e-5, rows_per_person=form(2)) == Privacy(1.0, 1e-5, rows_per_person=2)


@every("ask", [compose, delta_at, against_count, most_repeats, worst_posterior, guess_rate])
def test_events_are_a_list_that_costs_what_is_in_it(ask: Callable[..., Any]) -> None:
    words = {
        compose: {"delta": 1e-5},
        delta_at: {"epsilon": 1.0},
        against_count: {"counts": [1, 2], "delta": 1e-5},
        most_repeats: {"epsilon": 3.0, "delta": 1e-5},
        worst_posterior: {"prior": 0.5, "chance": 0.01},
        guess_rate: {},
    }[ask]
    event = Event(Gaussian(4.0), 3)
    once = ask([event for _ in range(2)], **words)
    assert np.array_equal(ask((event for _ in range(2)), **words), once)
    for none in (event, 4.0, [4.0], [Gaussian(4.0)], None, np.array(4.0)):
        with pytest.raises(InputError, match="events: it is not a list of events"):
            ask(none, **words)


def test_a_method_that_is_none_is_refused() -> None:
    for none in (None, 3, ["exact"]):
        with pytest.raises(InputError, match=r"accountant: .* is not known"):
            compose([Event(Gaussian(4.0))], none, delta=1e-5)  # type: ignore[arg-type]
