"""Audits: an attack catches a fit that hides half its noise, and leaves an honest one in peace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import dpcore as dp
from dpcore.accounting import epsilon_of
from dpcore.auditing import mixture
from dpcore.auditing.estimate import mu_lower_bound, rate_bounds, separating_direction
from dpcore.auditing.mixture import audit_mixture
from dpcore.privacy import Evidence
from dpcore.wall import doors

STRONG = dp.Privacy(epsilon=4.0, delta=1e-5)


def attacked(runs: int, seed: int, privacy: dp.Privacy = STRONG, **options: Any) -> Evidence:
    return audit_mixture(privacy, runs=runs, seed=seed, iterations=2, **options)


def weaken(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """The door draws only a share of the noise; the ledger goes on stating all of it."""
    draw = doors.NoiseSource.normal
    monkeypatch.setattr(doors.NoiseSource, "normal", lambda self, shape: share * draw(self, shape))


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("seed", [0, 10, 20])
def test_half_the_noise_is_caught_and_all_of_it_is_not(
    components: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    privacy = STRONG if components == 1 else replace(STRONG, epsilon=8.0)
    asked = {"privacy": privacy, "n_components": components}
    assert attacked(8000, seed, **asked).lower < privacy.epsilon
    weaken(monkeypatch, 0.5)
    assert attacked(8000, seed, **asked).lower > privacy.epsilon


def test_one_release_is_audited_closely() -> None:
    """The corners of the attack are orthogonal, so one release leaves little room."""
    assert attacked(8000, 0, n_components=1).lower > 0.7 * 4.0


@pytest.mark.slow
@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("epsilon", [1.0, 8.0])
@pytest.mark.parametrize("structure", ["full", "diag", "spherical"])
def test_full_audit_of_the_proved_mode(
    structure: str, epsilon: float, components: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten audits: the honest fit may be accused as often as the confidence allows."""
    privacy = dp.Privacy(epsilon=epsilon, delta=1e-5)
    asked = {"covariance": structure, "confidence": 0.99, "n_components": components}
    accused = sum(attacked(5000, 2 * s, privacy, **asked).lower > epsilon for s in range(10))
    assert accused <= 1
    weaken(monkeypatch, 0.5)
    if structure == "full" and (components == 1 or epsilon == 8.0):
        assert attacked(20_000, 0, privacy, **asked).lower > epsilon


def test_evidence_says_what_it_is() -> None:
    evidence = attacked(200, 0)
    assert (evidence.delta, evidence.confidence, evidence.runs) == (1e-5, 0.95, 400)
    assert "one person" in evidence.attack
    assert evidence == attacked(200, 0)


def test_the_two_tables_of_the_attack_are_neighbours() -> None:
    one, other = (table._frame.to_numpy() for table in mixture._neighbours("replace_one"))
    assert int(np.sum(np.any(one != other, axis=1))) == 1
    absent, there = (table._frame.to_numpy() for table in mixture._neighbours("add_remove"))
    np.testing.assert_array_equal(there[1:], absent)


@pytest.mark.parametrize("epsilon", [10.0, 20.0])
def test_a_right_guarantee_is_not_refuted_when_a_row_is_added(epsilon: float) -> None:
    privacy = dp.Privacy(epsilon=epsilon, delta=1e-5, adjacency="add_remove")
    lower = audit_mixture(privacy, runs=2000, iterations=1, n_components=1).lower
    assert 0.7 * epsilon < lower < epsilon


def test_laplace_noise_is_not_audited_by_a_gaussian_estimate() -> None:
    privacy = dp.Privacy(epsilon=1.0, delta=1e-5, mode="paper", accountant="zcdp")
    with pytest.raises(dp.InputError, match="GGG"):
        audit_mixture(privacy, combination="LLG")


def test_an_attack_needs_a_delta_and_a_model_it_knows() -> None:
    with pytest.raises(dp.InputError, match="delta"):
        attacked(10, 0, dp.Privacy(noise_multiplier=1.0))
    with pytest.raises(dp.InputError, match="model"):
        dp.audit("nosuch", STRONG)


# ------------------------------------------------------------------ the estimator


def clouds(mu: float, runs: int, seed: int, dim: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of a mechanism that is exactly mu-GDP, in a random direction."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=dim)
    shift = mu * direction / np.linalg.norm(direction)
    one, other = rng.normal(size=(2, runs, dim))
    return one, other + shift


@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0, 2.0, 4.0])
def test_the_bound_covers_as_often_as_its_confidence_says(mu: float) -> None:
    """200 audits at 95%: at most 5% may exceed mu; 22 or more in 200 has chance below 0.0005."""
    bounds = [mu_lower_bound(*clouds(mu, 400, seed), 0.95) for seed in range(200)]
    assert sum(bound > mu for bound in bounds) < 22
    assert min(bounds) >= 0.0


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_the_bound_has_power(mu: float) -> None:
    for seed in range(3):
        assert mu_lower_bound(*clouds(mu, 20_000, seed), 0.95) > 0.85 * mu


def test_a_bound_of_half_the_rates_would_be_caught() -> None:
    """The test of coverage can fail: without the interval, every second bound is too high."""
    bounds = [mu_lower_bound(*clouds(1.0, 400, seed), 1e-9) for seed in range(200)]
    assert sum(bound > 1.0 for bound in bounds) >= 22


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.3, 1.0])
def test_rate_bounds_cover(rate: float) -> None:
    hits = np.random.default_rng(0).binomial(100, rate, size=1000)
    covered = sum(
        low <= rate <= high for low, high in (rate_bounds(int(h), 100, 0.9) for h in hits)
    )
    assert covered >= 870  # 900 expected at least; three standard errors


def test_rate_bounds_at_the_ends() -> None:
    assert rate_bounds(0, 50, 0.95)[0] == 0.0
    assert rate_bounds(50, 50, 0.95)[1] == 1.0
    assert rate_bounds(0, 50, 0.95)[1] == pytest.approx(1 - 0.025 ** (1 / 50))


def test_the_direction_is_fishers() -> None:
    one, other = clouds(3.0, 50_000, 0)
    gap = other.mean(0) - one.mean(0)
    found = separating_direction(one, other)
    assert found @ gap / np.linalg.norm(found) / np.linalg.norm(gap) > 0.999


def test_mu_and_epsilon_agree_with_the_attackers_rates() -> None:
    """At mu = 1 and epsilon = 1 delta is 0.1269 (Balle and Wang 2018, Theorem 8)."""
    delta = ndtr(-0.5) - np.e * ndtr(-1.5)
    assert float(epsilon_of(float(delta), 1.0)) == pytest.approx(1.0, rel=1e-9)
