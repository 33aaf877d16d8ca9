"""The exact Gaussian curve and its two inverses, against 60-digit arithmetic and known numbers."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import every, examples

from dpcore.accounting import compose, delta_of, epsilon_of, mu_of
from dpcore.errors import InputError
from dpcore.privacy import Event, Gaussian

MUS = [1e-5, 1e-3, 0.05, 0.199, 0.201, 0.7, 1.0, 3.0, 10.0, 100.0, 1000.0]


def oracle_delta(epsilon: float, mu: float) -> mpmath.mpf:
    """Balle-Wang Theorem 8 as written, with enough digits for the cancellation."""
    with mpmath.workdps(60):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        x = e / m - m / 2
        if e < 600:
            with mpmath.workdps(80 + int(epsilon)):
                return mpmath.ncdf(-x) - mpmath.exp(e) * mpmath.ncdf(-x - m)
        mills = mpmath.quad(
            lambda s: mpmath.exp(-s * s / 2 - s * (x + m)), [0, 0.001, 0.01, 0.1, 1, 10]
        )
        return mpmath.ncdf(-x) - mpmath.npdf(x) * mills


@pytest.mark.parametrize("mu", MUS)
def test_delta_agrees_with_sixty_digits(mu: float) -> None:
    for shift in (-0.4 * mu, 0.0, 0.5, 2.0, 6.0, 20.0):
        epsilon = mu * (0.5 * mu + shift)
        truth = oracle_delta(epsilon, mu)
        tolerance = 1e-15 * (8.0 + (abs(shift) + 1.0) * (abs(shift) + 2.0 * mu + 25.0))
        assert delta_of(epsilon, mu) == pytest.approx(float(truth), rel=tolerance)


@every("mu", MUS)
@every("delta", [1e-15, 1e-5, 1e-2])
def test_epsilon_is_never_below_the_truth_and_never_far_above(mu: float, delta: float) -> None:
    epsilon = epsilon_of(delta, mu)
    if epsilon == 0.0:
        assert oracle_delta(0.0, mu) <= delta * (1 + 1e-12)
        return
    assert oracle_delta(epsilon * (1 + 1e-12), mu) <= delta
    assert oracle_delta(epsilon * (1 - 1e-10), mu) > delta


@pytest.mark.parametrize("delta", [1e-15, 1e-5, 0.3])
def test_mu_meets_the_budget_and_hardly_more_would_not(delta: float) -> None:
    for epsilon in (1e-4, 0.1, 1.0, 10.0, 500.0):
        mu = mu_of(epsilon, delta)
        assert oracle_delta(epsilon, mu * (1 - 1e-12)) <= delta
        assert oracle_delta(epsilon, mu * (1 + 1e-10)) > delta


@examples(60)
@given(st.floats(1e-4, 500.0), st.floats(-34.0, -0.1))
def test_round_trip(epsilon: float, log_delta: float) -> None:
    delta = float(np.exp(log_delta))
    mu = mu_of(epsilon, delta)
    assert delta_of(epsilon, mu) <= delta * (1 + 1e-11)
    assert epsilon_of(delta, mu) == pytest.approx(epsilon, rel=1e-9, abs=1e-12)


def test_gaussians_compose_by_adding_squares() -> None:
    """A hundred releases of multiplier 5 are one of multiplier 1/2 (epsilon 9.9973)."""
    many = compose([Event(Gaussian(5.0), count=100)], "exact", delta=1e-5).epsilon
    mixed = [Event(Gaussian(5.0), count=64), Event(Gaussian(2.5), count=9)]
    assert many == pytest.approx(9.9973, abs=5e-5)
    assert many == pytest.approx(epsilon_of(1e-5, 2.0), rel=1e-12)
    assert compose(mixed, "exact", delta=1e-5).epsilon == pytest.approx(many, rel=1e-12)


def test_edges_are_exact() -> None:
    assert delta_of(1.0, 0.0) == 0.0
    assert delta_of(1.0, np.inf) == 1.0
    assert epsilon_of(1e-5, 0.0) == 0.0
    assert epsilon_of(1e-5, np.inf) == np.inf
    assert epsilon_of(0.0, 1.0) == np.inf
    assert epsilon_of(0.9, 1.0) == 0.0
    assert mu_of(1.0, 0.0) == 0.0
    assert mu_of(np.inf, 0.1) == np.inf
    assert delta_of(np.inf, 1.0) == 0.0


def test_extreme_sizes_neither_warn_nor_fail() -> None:
    for mu in (1e-310, 1e-200, 1e-30, 1e-8):
        assert delta_of(1.0, mu) == 0.0
        assert 0.0 <= epsilon_of(1e-300, mu) <= 40.0 * mu
        assert delta_of(0.0, mu) == pytest.approx(mu / np.sqrt(2.0 * np.pi), rel=1e-12)
    assert epsilon_of(1e-5, 1e6) == pytest.approx(5e11, rel=1e-4)
    assert mu_of(1e9, 1e-5) == pytest.approx(np.sqrt(2e9), rel=1e-3)
    assert mu_of(0.0, 1e-300) == pytest.approx(np.sqrt(2.0 * np.pi) * 1e-300, rel=1e-9)


def test_undefined_values_are_refused() -> None:
    for call in (delta_of, epsilon_of, mu_of):
        with pytest.raises(InputError):
            call(np.nan, 1e-5)
        with pytest.raises(InputError):
            call(-1.0, 1e-5)
