"""Estimators of privacy loss: they hold as often as they say, and see what is there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from support import split_lanes

from dpcore.accounting import epsilon_of, mu_of
from dpcore.accounting.binomial_bounds import rate_at_least, rate_at_most, rate_bounds
from dpcore.auditing import estimate
from dpcore.auditing.estimate import (
    epsilon_lower_bound,
    gaussian_lower_bound,
    mu_lower_bound,
    separating_direction,
)

DELTA = 1e-5


def clouds(mu: float, runs: int, seed: int, dim: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of a mechanism that is exactly mu-GDP, in a random direction."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=dim)
    shift = mu * direction / np.linalg.norm(direction)
    one, other = rng.normal(size=(2, runs, dim))
    return one, other + shift


def scores(mu: float, runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=runs), mu + rng.normal(size=runs)


@split_lanes("law", ["ties", "normal", "bits", "skewed"], merge=1)
def test_data_that_are_ignored_show_nothing(law: str) -> None:
    """500 audits at 80%: at most 20% may show more than 0; 130 have a chance below 0.001."""
    draw = {
        "normal": lambda rng: rng.normal(size=(2, 300)),
        "bits": lambda rng: (rng.random((2, 300)) < 0.3).astype(float),
        "ties": lambda rng: np.zeros((2, 300)),
        "skewed": lambda rng: rng.lognormal(sigma=2.0, size=(2, 300)),
    }[law]
    shown = np.zeros(2, dtype=int)
    for seed in range(500):
        one, other = draw(np.random.default_rng(seed))
        shown += (
            epsilon_lower_bound(one, other, DELTA, 0.8) > 0.0,
            mu_lower_bound(one, other, 0.8) > 0.0,
        )
    assert np.all(shown < 130)


@pytest.mark.full
def test_counting_where_the_cut_was_picked_would_be_caught() -> None:
    """The test above can fail: it does when the same runs pick the cut and are counted."""

    def reading(true: np.ndarray, false: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(true, 1e-12)) - np.log(false)

    shown = 0
    for seed in range(500):
        one, other = np.random.default_rng(seed).normal(size=(2, 300))
        sides = ((one, other), (-one, -other), (other, one), (-other, -one))
        shown += max(estimate._cut(*side, reading, 0.2)[0] for side in sides) > 0.0
    assert shown > 130


@split_lanes("mu", [1.0, 0.5, 4.0], merge=1)
def test_the_bounds_cover_as_often_as_their_confidence_says(mu: float) -> None:
    """200 audits at 95%: 22 or more that say too much have a chance below 0.0005."""
    true = float(epsilon_of(DELTA, mu))
    bounds = [mu_lower_bound(*clouds(mu, 400, seed), 0.95) for seed in range(200)]
    assert sum(bound > mu for bound in bounds) < 22
    plain = [epsilon_lower_bound(*scores(mu, 400, seed), DELTA, 0.95) for seed in range(200)]
    assert sum(bound > true for bound in plain) < 22
    assert min([*bounds, *plain]) >= 0.0


def test_a_bound_without_an_interval_would_be_caught() -> None:
    bounds = [mu_lower_bound(*clouds(1.0, 400, seed), 1e-9) for seed in range(200)]
    assert sum(bound > 1.0 for bound in bounds) >= 22


def test_one_sided_events_are_found_on_either_side() -> None:
    """Randomised response: 0.75 against 0.25 is epsilon = ln 3, with delta 0 on both sides."""
    for flip, swap in ((1.0, 1), (-1.0, 1), (1.0, -1), (-1.0, -1)):
        rng = np.random.default_rng(0)
        one, other = (flip * (rng.random(20_000) < p) for p in (0.25, 0.75)[::swap])
        assert 0.9 * np.log(3.0) < epsilon_lower_bound(one, other, 0.0, 0.95) < np.log(3.0)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_a_bound_shares_what_may_fail_between_its_two_rates(confidence: float) -> None:
    """Of two values one cut is left, and the bound is the quotient of two Clopper-Pearson ends."""
    rng = np.random.default_rng(0)
    one, other = (1.0 * (rng.random(1000) < p) for p in (0.1, 0.6))
    seen = [int(np.sum(each[200:])) for each in (one, other)]  # the first fifth picks the cut
    tail = (1.0 - confidence) / 2.0
    low, high = rate_at_least(seen[1], 800, tail), rate_at_most(seen[0], 800, tail)
    found = epsilon_lower_bound(one, other, 0.0, confidence)
    assert found == pytest.approx(np.log(low / high), rel=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0])
def test_power_at_100_000_runs(epsilon: float) -> None:
    """80% of epsilon by the fit in every audit; half of it by Clopper and Pearson on average."""
    mu = float(mu_of(epsilon, DELTA))
    drawn = [scores(mu, 100_000, seed) for seed in range(12)]
    fitted = [gaussian_lower_bound(*each, DELTA, 0.95) for each in drawn]
    counted = [epsilon_lower_bound(*each, DELTA, 0.95) for each in drawn]
    assert min(fitted) > 0.8 * epsilon
    assert np.mean(counted) > 0.5 * epsilon
    assert max([*fitted, *counted]) < 1.02 * epsilon


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_the_bound_has_power_in_several_dimensions(mu: float) -> None:
    for seed in range(3):
        assert mu_lower_bound(*clouds(mu, 20_000, seed), 0.95) > 0.8 * mu


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.3, 1.0])
def test_rate_bounds_cover(rate: float) -> None:
    hits = np.random.default_rng(0).binomial(100, rate, size=1000)
    covered = sum(
        low <= rate <= high for low, high in (rate_bounds(int(h), 100, 0.9) for h in hits)
    )
    assert covered >= 870  # 900 expected at least; three standard errors


def test_rate_bounds_at_the_ends_and_for_arrays() -> None:
    assert rate_bounds(0, 50, 0.95)[0] == 0.0
    assert rate_bounds(50, 50, 0.95)[1] == 1.0
    assert rate_bounds(0, 50, 0.95)[1] == pytest.approx(1 - 0.025 ** (1 / 50))
    hits = np.array([0, 7, 50])
    low, high = rate_at_least(hits, 50, 0.025), rate_at_most(hits, 50, 0.025)
    alone = [rate_bounds(int(h), 50, 0.95) for h in hits]
    np.testing.assert_allclose(np.column_stack([low, high]), alone)


def test_the_direction_is_fishers() -> None:
    one, other = clouds(3.0, 50_000, 0)
    gap = other.mean(0) - one.mean(0)
    found = separating_direction(one, other)
    assert found @ gap / np.linalg.norm(found) / np.linalg.norm(gap) > 0.999


def test_mu_and_epsilon_agree_with_the_attackers_rates() -> None:
    """At mu = 1 and epsilon = 1 delta is 0.1269 (Balle and Wang 2018, Theorem 8)."""
    delta = ndtr(-0.5) - np.e * ndtr(-1.5)
    assert float(epsilon_of(float(delta), 1.0)) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("beside", [0, 1])
def test_what_is_always_one_thing_or_always_another_is_seen(beside: int) -> None:
    """Columns without a spread of their own: alike they show nothing, apart nearly everything."""
    more = np.random.default_rng(0).normal(size=(2, 400, beside))
    one = np.concatenate([np.full((400, 2), 0.3), more[0]], axis=1)
    other = np.concatenate([np.full((400, 2), 0.7), more[1]], axis=1)
    assert epsilon_lower_bound(one, one[::-1], DELTA, 0.95) < 0.5
    assert epsilon_lower_bound(one, other, DELTA, 0.95) > 3.0
