"""Gradients of the three gradient models against their likelihoods."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.datasets import gradient_models as made
from dpcore.models.gradient_em import mathematics as gradient
from dpcore.models.gradient_em.mathematics import (
    GRADIENT_MODELS,
    MISSING,
    REGRESSIONS,
    SYMMETRIC,
    GradientModel,
)

SIGMA = 0.8
MODELS = tuple(GRADIENT_MODELS.values())


def rows_of(model: GradientModel, n: int, beta: np.ndarray, rng: np.random.Generator):  # type: ignore[no-untyped-def]
    """(rows (d, n), targets, observed) of a known truth."""
    if model is SYMMETRIC:
        return made.symmetric_mixture(n, beta, SIGMA, rng).T, None, None
    if model is REGRESSIONS:
        rows, targets = made.two_regressions(n, beta, SIGMA, rng)
        return rows.T, targets, None
    rows, targets = made.incomplete_regression(n, beta, SIGMA, 0.3, rng)
    seen = np.isfinite(rows)
    return np.where(seen, rows, 0.0).T, targets, seen.T


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_a_gradient_is_sigma_squared_times_that_of_the_log_likelihood(model: GradientModel) -> None:
    """Fisher's identity, by central differences for each row alone."""
    rng = np.random.default_rng(3)
    beta = rng.normal(size=(2, 3))
    rows, targets, seen = rows_of(model, 6, rng.normal(size=3), rng)
    found = model.gradients(beta, SIGMA, rows, targets, seen)
    step = 1e-5
    for row in range(6):
        at = slice(row, row + 1)
        one = (
            rows[:, at],
            None if targets is None else targets[at],
            None if seen is None else seen[:, at],
        )
        for j in range(3):
            up, down = beta.copy(), beta.copy()
            up[:, j] += step
            down[:, j] -= step
            rise = model.log_likelihood(up, SIGMA, *one) - model.log_likelihood(down, SIGMA, *one)
            np.testing.assert_allclose(
                found[:, j, row], SIGMA**2 * rise / (2 * step), rtol=0, atol=1e-8
            )


def test_missing_covariates_have_the_gradient_of_their_exact_second_moment() -> None:
    """``y m - K b`` with the conditional mean m and second moment K, to 1e-12."""
    rng = np.random.default_rng(4)
    rows, targets, seen = rows_of(MISSING, 50, rng.normal(size=4), rng)
    b = rng.normal(size=4)
    found = MISSING.gradients(b[None], SIGMA, rows, targets, seen)[0]
    for i in range(50):
        hidden = (~seen[:, i]).astype(float)
        s2 = SIGMA**2 + hidden @ b**2
        residual = targets[i] - rows[:, i] @ b
        m = rows[:, i] + hidden * b * residual / s2
        second = np.outer(m, m) + np.diag(hidden) - np.outer(hidden * b, hidden * b) / s2
        np.testing.assert_allclose(found[:, i], targets[i] * m - second @ b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_the_truth_is_where_the_mean_gradient_vanishes(model: GradientModel) -> None:
    rng = np.random.default_rng(5)
    truth = np.array([1.2, -0.7, 0.4])
    n = 200_000
    found = model.gradients(truth[None], SIGMA, *rows_of(model, n, truth, rng))[0]
    error = found.std(axis=1) / np.sqrt(n)
    assert np.all(np.abs(found.mean(axis=1)) < 5 * error)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_each_run_has_the_gradient_of_its_own_beta(model: GradientModel) -> None:
    rng = np.random.default_rng(6)
    parts = rows_of(model, 9, rng.normal(size=3), rng)
    beta = rng.normal(size=(4, 3))
    together = model.gradients(beta, SIGMA, *parts)
    for run in range(4):
        np.testing.assert_allclose(
            together[run], model.gradients(beta[run : run + 1], SIGMA, *parts)[0]
        )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, 1e308])
def test_a_step_is_total_and_stays_in_the_ball(value: float) -> None:
    beta = np.array([[0.5, 0.5], [0.1, -0.2]])
    wild = np.array([[value, 0.0], [0.0, 1e160]])
    found = gradient.ascended(beta, wild, 1.0, 2.0)
    assert np.all(np.isfinite(found))
    assert np.all(np.linalg.norm(found, axis=1) <= 2.0 + 1e-12)


def test_distance_from_the_truth_knows_which_models_have_no_sign() -> None:
    truth = np.array([3.0, 4.0])
    assert gradient.apart(-truth[None], truth, mirrored=True)[0] == 0.0
    assert gradient.apart(-truth[None], truth, mirrored=False)[0] == 10.0


@pytest.mark.parametrize("make", [made.mixture_table, made.regressions_table])
def test_simulated_tables_lie_inside_their_public_bounds(make) -> None:  # type: ignore[no-untyped-def]
    frame, schema = make(2000, [1.0, -2.0], SIGMA, np.random.default_rng(0))
    outside = [
        np.mean((frame[column.name] < column.lower) | (frame[column.name] > column.upper))
        for column in schema.columns
    ]
    assert max(outside) < 1e-3


def test_a_share_of_the_covariates_is_missing() -> None:
    frame, schema = made.incomplete_table(4000, [1.0, -2.0], SIGMA, 0.25, np.random.default_rng(0))
    assert frame[["x1", "x2"]].isna().to_numpy().mean() == pytest.approx(0.25, abs=0.03)
    assert not frame["y"].isna().any()
    assert schema.column("x1").missing == "role"
