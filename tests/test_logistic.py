"""Private logistic regression: its oracles without noise, its guarantees, its intervals."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit
from support import examples

import dpcore as dp
from dpcore.accounting import compose
from dpcore.accounting.wbk import FixedSizeAccountant
from dpcore.arrays import Array
from dpcore.errors import InputError, WallError
from dpcore.evaluation.yardstick import Scorer
from dpcore.figures.model_plot import Subject, portrait
from dpcore.fitting.api import fit_grid
from dpcore.models.logistic_regression import mathematics as logistic
from dpcore.models.logistic_regression.mathematics import Coefficients
from dpcore.models.logistic_regression.newton import Ascent, Line, expected_hessian
from dpcore.models.logistic_regression.parameters import INCLUDED
from dpcore.models.logistic_regression.private import SHARES, STEP_SHARES
from dpcore.models.logistic_regression.scoring import YARDSTICK, auc, calibration_error, log_loss
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.schema import Column, Schema
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.statistics.logistic_statistics import NoisyOutcomes
from dpcore.wall.table import PrivateTable

NONE = np.zeros(1)
TRUTH = np.array([2.0, -1.5, 0.0])
DELTA = 1e-5


def drawn(count: int = 4000, seed: int = 0) -> tuple[Array, Array]:
    """Rows in [-1, 1]^3 and outcomes of a known regression."""
    rng = np.random.default_rng(seed)
    rows = np.clip(rng.normal(0.0, 0.4, (count, 3)), -1, 1)
    return rows, (rng.random(count) < expit(rows @ TRUTH - 0.5)).astype(float)


def sealed(rows: Array, outcomes: Array, *, half: float = 1.0) -> PrivateTable:
    frame = pd.DataFrame(half * rows, columns=["a", "b", "c"]).assign(ill=outcomes.astype(int))
    numbers = [Column(name, lower=-half, upper=half) for name in "abc"]
    schema = Schema((*numbers, Column("ill", role="target", type="binary")))
    return PrivateTable.seal(frame, schema)


def sums_of(rows: Array, outcomes: Array, weights: Array | float = 1.0) -> NoisyOutcomes:
    x = np.column_stack([rows, np.ones(len(rows))])
    squares = (x * np.broadcast_to(weights, len(x))[:, None]).T @ x
    return NoisyOutcomes(((outcomes - 0.5) @ x)[None], squares[None], NONE, NONE)


@pytest.mark.parametrize(("mean", "deviation"), [(1.0, 1.0), (2.0, 2.0), (-3.0, 2.0), (1.0, 4.0)])
def test_a_probability_is_the_mean_over_what_is_not_known(mean: float, deviation: float) -> None:
    """The mean of expit over a normal score (MacKay 1992's formula is within 0.02 of it)."""
    belief = Coefficients(
        np.array([[0.0, mean]]), np.diag([0.0, deviation**2])[None], np.zeros((1, 2, 2))
    )
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    exact = weights @ expit(mean + deviation * nodes) / weights.sum()
    assert belief.probabilities(np.zeros((1, 1)))[0, 0] == pytest.approx(exact, abs=0.02)


# --- without noise -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_without_noise_steps_start_from_linear_discriminant_analysis(seed: int) -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    rows, outcomes = drawn(500, seed)
    rows = rows @ np.random.default_rng(seed).normal(size=(3, 3))
    found = logistic.discriminant(sums_of(rows, outcomes), 500.0).fit
    oracle = LinearDiscriminantAnalysis(solver="lsqr").fit(rows, outcomes)
    np.testing.assert_allclose(found.mean[0, :-1], oracle.coef_[0], rtol=1e-8)
    np.testing.assert_allclose(found.mean[0, -1], oracle.intercept_[0], rtol=1e-8)


@pytest.mark.parametrize("adjacency", [None, "label"])
def test_where_rows_may_be_seen_a_fit_without_noise_is_scikit_learns(adjacency: str | None) -> None:
    """And so are its intervals: those of the information at the optimum."""
    from sklearn.linear_model import LogisticRegression

    rows, outcomes = binary_rows()
    oracle = LogisticRegression(C=1e9, tol=1e-10, max_iter=1000).fit(rows, outcomes)
    exact = np.append(oracle.coef_[0], oracle.intercept_)
    request = adjacency and Privacy(epsilon=1e6, delta=DELTA, adjacency=adjacency)
    fit = dp.fit("logistic", sealed(rows, outcomes), privacy=request or None, seed=0).parameters
    found = np.append(fit.coefficients, fit.intercept)
    np.testing.assert_allclose(found, exact, atol=1e-6 if adjacency is None else 2e-3)
    x = np.column_stack([rows, np.ones(len(rows))])
    chance = expit(x @ exact)
    oracle = np.linalg.inv((x * (chance * (1 - chance))[:, None]).T @ x)
    np.testing.assert_allclose(fit.covariance, oracle, rtol=1e-2, atol=1e-4)


def binary_rows() -> tuple[Array, Array]:
    """Columns of yes and no, 1 and 0, one of them rare: nothing like normal."""
    rng = np.random.default_rng(0)
    rows = (rng.random((5000, 3)) < [0.5, 0.05, 0.2]).astype(float)
    odds = rows @ np.array([1.0, 2.0, -1.0]) - 2.0
    return rows, (rng.random(5000) < expit(odds)).astype(float)


def test_outcomes_that_a_line_divides_have_a_fit_without_noise() -> None:
    rows, _ = drawn(60)
    fit = dp.fit("logistic", sealed(rows, (rows[:, 0] > 0).astype(float)), privacy=None).parameters
    assert np.all(np.isfinite(fit.coefficients))
    assert fit.coefficients[0] > 10.0
    assert np.all(np.isfinite(fit.covariance))


def test_steps_that_forget_their_uncertainty_end_at_scikit_learns_fit() -> None:
    """With the covariance left out, Polya-Gamma steps are EM for the penalised likelihood."""
    from sklearn.linear_model import LogisticRegression

    rows, outcomes = drawn(600)
    x = np.column_stack([rows, np.ones(600)])
    oracle = LogisticRegression(C=1 / 3.0, fit_intercept=False, tol=1e-12).fit(x, outcomes)
    fit = logistic.nothing(1, 4)
    for _ in range(300):
        sure = Coefficients(fit.mean, 0.0 * fit.covariance, fit.noise_covariance)
        weights = logistic.curvature(sure)(x, np.arange(1))[0]
        fit = logistic.step(sums_of(rows, outcomes, weights), np.array([3.0]))
    np.testing.assert_allclose(fit.mean[0], oracle.coef_[0], atol=1e-6)


def evidence(rows: Array, outcomes: Array, fit: Coefficients) -> float:
    """The variational bound on the log evidence of the first run, up to a constant."""
    mean, covariance = fit.mean[0], fit.covariance[0]
    second = covariance + np.outer(mean, mean)
    score = np.sqrt(np.einsum("np,pq,nq->n", rows, second, rows))
    fits = (outcomes - 0.5) @ rows @ mean - np.sum(np.logaddexp(score / 2.0, -score / 2.0))
    entropy = 0.5 * (np.linalg.slogdet(covariance)[1] + len(mean))
    rate = logistic.RATE + np.trace(second) / 2.0
    return float(fits + entropy - (logistic.SHAPE + len(mean) / 2.0) * np.log(rate))


def test_steps_never_lower_the_evidence_and_end() -> None:
    rows, outcomes = drawn(300)
    x = np.column_stack([rows, np.ones(300)])
    fit, bounds = logistic.nothing(1, 4), []
    for _ in range(60):
        weights = logistic.curvature(fit)(x, np.arange(1))[0]
        fit = logistic.step(sums_of(rows, outcomes, weights), logistic.precision(fit))
        bounds.append(evidence(x, outcomes, fit))
    assert np.all(np.diff(bounds) >= -1e-9)
    assert bounds[-1] - bounds[-2] < 1e-8
    assert bounds[-1] - bounds[0] > 0.01


def test_one_rows_posterior_is_the_best_gaussian_by_brute_force() -> None:
    """In one dimension: the precision is prior + k/4 at the row's own expected score."""
    fit = logistic.nothing(1, 1)
    released = NoisyOutcomes(np.array([[0.5]]), np.array([[[1.0]]]), NONE, NONE)
    for _ in range(200):
        k = logistic.curvature(fit)(np.ones((1, 1)), np.arange(1))[0, 0]
        one = NoisyOutcomes(released.sums, k * released.squares, NONE, NONE)
        fit = logistic.step(one, np.ones(1))
    grid = np.linspace(0.01, 4.0, 20001)  # t, over which the bound on the evidence is largest
    k = logistic.curvature_at(grid)
    variance = 1.0 / (1.0 + k / 4)
    constant = np.log(expit(grid)) - grid / 2 + k / 8 * grid**2
    best = np.argmax(constant + 0.5 * np.log(variance) + 0.5 * variance * 0.25)
    assert fit.mean[0, 0] == pytest.approx(0.5 * variance[best], abs=1e-4)


def test_collinear_indicators_need_no_noise_to_be_solved() -> None:
    """Categories add up to the intercept."""
    rng = np.random.default_rng(0)
    which = rng.integers(3, size=900)
    frame = pd.DataFrame({"a": rng.uniform(-1, 1, 900), "where": np.array(list("nsw"))[which]})
    frame["ill"] = (rng.random(900) < np.array([0.1, 0.5, 0.8])[which]).astype(int)
    where = Column("where", type="category", categories=("n", "s", "w"))
    target = Column("ill", "target", "binary")
    schema = Schema((Column("a", lower=-1, upper=1), where, target))
    found = dp.fit("logistic", PrivateTable.seal(frame, schema), privacy=None).parameters
    odds = found.intercept + found.coefficients[1:]
    assert np.all(np.diff(odds) > 0.5)
    assert np.all(np.isfinite(found.covariance))


# --- steps towards the regression ----------------------------------------------------------------


@given(
    arrays(float, (3, 3), elements=st.floats(-30.0, 30.0)),
    st.floats(0.0, 3.0),
)
@examples(100)
def test_no_row_of_the_ball_is_farther_from_its_line_than_stated(
    mean: Array, radius: float
) -> None:
    line, rng = Line.of(mean, radius), np.random.default_rng(0)
    away = rng.normal(size=(2, 200))
    z = radius * away / np.linalg.norm(away, axis=0)
    z = np.concatenate([z, -z, 0.3 * z], axis=1)
    for run in range(3):
        along = radius * mean[run, :-1] / max(np.linalg.norm(mean[run, :-1]), 1e-12)
        inside = np.concatenate([z, along[:, None], -along[:, None]], axis=1)
        weights = line.weights(mean[run, :-1] @ inside + mean[run, -1], run)
        assert np.all(np.abs(weights) <= 1.0 + 1e-3)


@pytest.mark.parametrize(("reach", "most"), [(0.5, 0.00063), (2.0, 0.0273), (9.0, 0.22)])
def test_what_a_line_leaves_is_little_where_scores_are_small(reach: float, most: float) -> None:
    line = Line.of(np.array([[reach, 0.0]]), 1.0)
    assert line.most[0] == pytest.approx(most, rel=0.02)
    assert line.middle[0] == pytest.approx(0.0, abs=1e-9)


def test_the_expected_hessian_is_that_of_normal_rows() -> None:
    rng, mean = np.random.default_rng(0), np.array([[1.5, -1.0, 0.4]])
    z = rng.normal(size=(400_000, 2)) @ np.array([[0.8, 0.3], [0.0, 0.6]]) + [0.2, -0.1]
    x = np.column_stack([z, np.ones(len(z))])
    chance = expit(x @ mean[0])
    exact = (x * (chance * (1 - chance))[:, None]).T @ x / len(x)
    found = expected_hessian(mean, (x.T @ x / len(x))[None])[0]
    np.testing.assert_allclose(found, exact, atol=3e-3)


def test_columns_of_yes_and_no_get_the_coefficients_of_the_exact_fit() -> None:
    """The discriminant's own limit is half as large again in the rare column."""
    rows, outcomes = binary_rows()
    table = sealed(rows, outcomes)
    exact = fit_grid("logistic", table, privacy=None).runs.final.mean
    budgets = [Privacy(epsilon=e, delta=DELTA) for e in (5.0, 20.0, 1e4)]
    fits = fit_grid("logistic", table, privacy=budgets, draws=range(8), seed=0).runs.final
    away = np.abs(fits.mean - exact)
    half = 1.96 * np.sqrt(np.diagonal(fits.covariance, axis1=1, axis2=2))
    assert np.mean(away < half) > 0.9
    assert np.all(away[16:] < 0.05)
    x = np.column_stack([rows, np.ones(len(rows))])
    start = logistic.discriminant(sums_of(rows, outcomes), float(len(rows))).fit.mean[0]
    assert start[1] > exact[0, 1] + 0.5
    assert np.all(np.isfinite(x @ start))


# --- noise ---------------------------------------------------------------------------------------

NUMBERS = st.floats(width=64) | st.sampled_from([math.nan, math.inf, -math.inf, 1e300, 0.0])


@given(
    arrays(float, (2, 3), elements=NUMBERS),
    arrays(float, (2, 3, 3), elements=NUMBERS),
    st.sampled_from([0.0, 1.0, 1e6]),
    st.sampled_from([1.0, 500.0]),
)
@examples(200)
@pytest.mark.filterwarnings("ignore:(invalid|overflow|divide):RuntimeWarning")
def test_any_released_numbers_give_coefficients(
    sums: Array, squares: Array, sd: float, rows: float
) -> None:
    released = NoisyOutcomes(sums, squares, np.full(2, sd), np.full(2, sd))
    start = logistic.discriminant(released, rows)
    ascent = Ascent(start, start.fit.mean)
    for _ in range(3):
        ascent = ascent.step(Line.of(ascent.mean, 1.4), sums, np.full(2, sd))
    correction = logistic.SlopeCorrection(0.7, sd)
    fits = (start.fit, ascent.fit(), logistic.unclipped(ascent.fit(), start.odds, correction))
    for fit in (*fits, logistic.step(released, np.ones(2))):
        assert np.all(np.isfinite(fit.mean))
        assert not np.any(np.isnan(fit.covariance))
        assert np.all((fit.probabilities(np.eye(2)) >= 0) & (fit.probabilities(np.eye(2)) <= 1))
    assert np.all(logistic.precision(fit) >= 0.0)


@pytest.mark.parametrize("algorithm", ["one_shot", "vb"])
def test_the_stated_noise_is_the_spread_over_draws(algorithm: str) -> None:
    table = sealed(*drawn(4000))
    request = (Privacy(epsilon=8.0, delta=DELTA),)
    grid = fit_grid(
        "logistic", table, privacy=request, draws=range(300), seed=0, algorithm=algorithm
    )
    slopes = grid.runs.final.mean[:, :-1]
    stated = np.sqrt(np.diagonal(grid.runs.final.noise_covariance, axis1=1, axis2=2))[:, :-1]
    ratio = slopes.std(axis=0) / stated.mean(axis=0)
    assert np.all((ratio > 0.75) & (ratio < 1.35)), ratio


@pytest.mark.merge
def test_intervals_cover_the_truth_of_a_model_that_is_true() -> None:
    """Normal rows within each outcome, so that the discriminant is the truth; at a large budget,
    where little pulls towards 0."""
    rng, covered = np.random.default_rng(0), []
    for seed in range(120):
        outcomes = rng.integers(2, size=2000).astype(float)
        rows = np.clip(rng.normal(0.0, 0.25, (2000, 3)), -1, 1)
        rows[:, 0] += 0.1 * (2 * outcomes - 1)
        fit = dp.fit(
            "logistic",
            sealed(np.clip(rows, -1, 1), outcomes),
            privacy=Privacy(epsilon=50.0, delta=DELTA),
            seed=seed,
        )
        low, high = fit.parameters.intervals(0.9).T
        truth = np.array([0.2 / 0.0625, 0.0, 0.0, 0.0])
        covered.append((low <= truth) & (truth <= high))
    share = np.mean(covered, axis=0)
    assert np.all(share > 0.8), share
    assert np.mean(share) < 0.98


@pytest.mark.parametrize(
    ("epsilon", "options", "many_miss"),
    [
        (0.3, {}, True),
        (20.0, {}, False),
        (20.0, {"algorithm": "vb"}, True),
        (20.0, {"algorithm": "vips", "rate": 1.0, "iterations": 10}, True),
    ],
)
def test_how_often_intervals_hold_the_exact_coefficient_is_as_they_say(
    epsilon: float, options: dict[str, Any], *, many_miss: bool
) -> None:
    """The pull towards 0 is not in them, and the sentence beside them says when that matters."""
    table = dp.load("bundled:who_comes_back")
    exact = YARDSTICK.converged(table, 1, {}).mean[:, :-1]
    request = [Privacy(epsilon=epsilon, delta=DELTA)]
    fit = fit_grid(
        "logistic", table, privacy=request, draws=range(40), seed=0, **options
    ).runs.final
    half = 1.96 * np.sqrt(np.diagonal(fit.covariance, axis1=1, axis2=2))[:, :-1]
    held = float(np.mean(np.abs(fit.mean[:, :-1] - exact) < half))
    assert (held < 0.8) is many_miss, held
    assert "many intervals then miss" in INCLUDED
    assert not re.search(r"\b(one_shot|vb|vips|dpvi)\b", INCLUDED), "names of the command line"
    assert many_miss or held > 0.9


# --- fits ----------------------------------------------------------------------------------------

FITS: tuple[dict[str, Any], ...] = (
    {},
    {"algorithm": "vb", "iterations": 2},
    {"algorithm": "vips", "rate": 0.25, "iterations": 6},
    {"algorithm": "vips", "rate": 1.0, "iterations": 3},
)


def test_three_small_releases_choose_the_ball_of_one_and_three_steps_follow() -> None:
    request = Privacy(epsilon=1.0, delta=DELTA)
    fit = dp.fit("logistic", sealed(*drawn(500)), privacy=request, seed=0)
    multipliers = [
        float(np.ravel(event.mechanism.noise_multiplier)[0]) for event in fit.ledger.events
    ]
    shares = np.array(multipliers) ** -2.0
    np.testing.assert_allclose(shares / shares.sum(), [*SHARES, *STEP_SHARES], rtol=1e-6)
    assert sum([*SHARES, *STEP_SHARES]) == pytest.approx(1.0)
    labels = dp.fit(
        "logistic", sealed(*drawn(500)), privacy=replace(request, adjacency="label"), seed=0
    )
    assert len(labels.ledger) == 1  # features are public, and so is the ball


def test_a_guarantee_says_what_cells_without_a_listed_name_count_as() -> None:
    """Also those of classes, and of features."""
    rows, outcomes = drawn(200)
    words = Column("ill", "target", "category", categories=("no", "yes"))
    where = Column("where", type="category", categories=("north", "south"))
    digits = Column("ill", "target", "binary", missing=1.0)
    lines = {}
    for model, column in (("logistic", words), ("logistic", digits), ("gmm-release", words)):
        told = replace(column, role="label") if model == "gmm-release" else column
        schema = Schema((Column("a", lower=-1, upper=1), where, told))
        cells = np.array(column.categories)[outcomes.astype(int)] if column is words else outcomes
        frame = pd.DataFrame({"a": rows[:, 0], "where": "north", "ill": cells})
        fit = dp.fit(
            model, PrivateTable.seal(frame, schema), privacy=Privacy(epsilon=1, delta=1e-5), seed=0
        )
        lines[model, column.type] = "; ".join(fit.guarantee.assumptions)
    assert all(
        "one of a feature with categories as none of them" in text for text in lines.values()
    )
    assert "neither 'no' nor 'yes' counts as 'no'" in lines["logistic", "category"]
    assert "above 1/2 counts as 1, a missing cell as 1" in lines["logistic", "binary"]
    assert "cell of ill names no class counts in none" in lines["gmm-release", "category"]


@pytest.mark.parametrize("columns", [1, 2, 7, 130, 500])
def test_any_number_of_columns_fits_in_the_ball(columns: int) -> None:
    rng = np.random.default_rng(columns)
    names = [f"x{i}" for i in range(columns)]
    frame = pd.DataFrame(rng.uniform(-1, 1, (30, columns)), columns=names).assign(ill=[0, 1] * 15)
    numbers = [Column(name, lower=-1, upper=1) for name in names]
    schema = Schema((*numbers, Column("ill", role="target", type="binary")))
    for adjacency in ("replace_one", "add_remove", "label"):
        request = Privacy(epsilon=1.0, delta=DELTA, adjacency=adjacency)
        fit = dp.fit("logistic", PrivateTable.seal(frame, schema), privacy=request, seed=0)
        assert np.all(np.isfinite(fit.parameters.coefficients))


def test_a_table_in_a_corner_of_wide_limits_is_fitted_as_well() -> None:
    """The ball follows the rows; noise that is as large as the limits would drown them."""
    rows, outcomes = drawn(8000)
    scorer = YARDSTICK.scorer(sealed(*drawn(4000, seed=9)), None)
    request = [Privacy(epsilon=1.0, delta=DELTA)]
    found = []
    for far in (0.0, 0.8):
        grid = fit_grid(
            "logistic", sealed(0.1 * rows + far, outcomes), privacy=request, draws=range(8), seed=0
        )
        slopes = 0.1 * grid.runs.final.mean[:, :-1]
        found.append(np.mean([auc(scorer.rows @ slope, scorer.outcomes) for slope in slopes]))
    exact = YARDSTICK.score(YARDSTICK.converged(sealed(rows, outcomes), 1, {}), scorer)[0]
    assert min(found) > exact - 0.01


@pytest.mark.parametrize("adjacency", ["replace_one", "label"])
def test_as_noise_vanishes_a_fit_becomes_that_without_noise(adjacency: str) -> None:
    table = sealed(*drawn(700))
    budgets = [Privacy(epsilon=e, delta=DELTA, adjacency=adjacency) for e in (1e2, 1e4, 1e6, 1e8)]
    exact = fit_grid("logistic", table, privacy=None).runs.final.mean
    grid = fit_grid("logistic", table, privacy=budgets, draws=[0], seed=0).runs.final
    away = np.linalg.norm(grid.mean - exact, axis=1) / np.linalg.norm(exact)
    assert away[0] < 0.1
    assert np.all(np.diff(away) < 0.0)
    assert away[-1] < (1e-4 if adjacency == "label" else 1e-3)  # what three steps leave


@pytest.mark.parametrize("options", FITS[:3])
def test_own_units_change_nothing_but_units(options: dict[str, Any]) -> None:
    rows, outcomes = drawn(800)
    asked = {"privacy": Privacy(epsilon=2.0, delta=DELTA), "seed": 3, **options}
    one = dp.fit("logistic", sealed(rows, outcomes), **asked)
    ten = dp.fit("logistic", sealed(rows, outcomes, half=10.0), **asked)
    np.testing.assert_allclose(ten.parameters.coefficients * 10, one.parameters.coefficients)
    grid = fit_grid(
        "logistic", sealed(rows, outcomes, half=10.0), **{**asked, "privacy": [asked["privacy"]]}
    )
    back = ten.parameters.in_units(grid.public)
    np.testing.assert_allclose(back.mean, grid.runs.final.mean)
    np.testing.assert_allclose(back.covariance, grid.runs.final.covariance, atol=1e-12)
    direct = ten.parameters.intercept + 10 * rows @ ten.parameters.coefficients
    np.testing.assert_allclose(direct, grid.runs.final.scores(rows)[0])


def test_more_budget_finds_the_truth() -> None:
    train, test = sealed(*drawn(20_000)), sealed(*drawn(4000, seed=9))
    scorer = YARDSTICK.scorer(test, None)
    budgets = [Privacy(epsilon=e, delta=DELTA) for e in (0.02, 0.2, 5.0)]
    grid = fit_grid("logistic", train, privacy=budgets, draws=range(8), seed=0)
    found = YARDSTICK.score(grid.runs.final, scorer).reshape(3, 8).mean(axis=1)
    exact = YARDSTICK.score(YARDSTICK.converged(train, 1, {}), scorer)[0]
    assert found[0] < found[1] < found[2] <= exact + 0.005
    assert found[2] > exact - 0.005
    assert YARDSTICK.align(grid.runs.final, YARDSTICK.converged(train, 1, {}))[1][-8:].all()


def test_chances_are_calibrated_at_every_budget() -> None:
    train, test = sealed(*drawn(20_000)), sealed(*drawn(8000, seed=9))
    scorer = YARDSTICK.scorer(test, None)
    budgets = [Privacy(epsilon=e, delta=DELTA) for e in (0.1, 1.0, 10.0)]
    grid = fit_grid("logistic", train, privacy=budgets, draws=range(8), seed=0)
    error = YARDSTICK.measure(grid.runs.final, scorer, "test_calibration_error").reshape(3, 8)
    assert np.all(error.mean(axis=1) < [0.15, 0.04, 0.03])
    base = log_loss(np.full(len(scorer.outcomes), scorer.outcomes.mean()), scorer.outcomes)
    loss = YARDSTICK.measure(grid.runs.final, scorer, "test_log_loss").reshape(3, 8)
    assert np.all(loss.mean(axis=1) < base * np.array([1.02, 0.9, 0.9]))


def test_a_regression_draws_no_rows() -> None:
    fit = dp.fit("logistic", sealed(*drawn(200)), privacy=None)
    with pytest.raises(InputError, match="regression"):
        fit.sample(3)


# --- as published --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma", "theorem", "epsilon"), [(1.0, 9, 0.816), (6.0, 27, 0.0520), (12.0, 27, 0.02577)]
)
def test_the_papers_epsilons_on_adult(sigma: float, theorem: int, epsilon: float) -> None:
    """VIPS, Figure 6: 0.8, 0.05 and 0.025 for 100 minibatches of 0.4% at delta 0.001."""
    releases = [
        Event(Gaussian(sigma), count=100, sampling="without_replacement", sampling_rate=0.004)
    ]
    method = FixedSizeAccountant(theorem, "printed", "printed", "", "classic")
    found = float(np.asarray(compose(releases, method, delta=1e-3).epsilon))
    assert found == pytest.approx(epsilon, rel=0.01)


def test_the_printed_steps_are_proved_at_less_than_they_claim() -> None:
    """Their loose sensitivities pay for the two noises that they count as one."""
    request = Privacy(epsilon=0.8, delta=1e-3, mode="paper", accountant="wbk9")
    table = sealed(*drawn(1000))
    fit = dp.fit("logistic", table, privacy=request, minibatch=4, iterations=100, seed=0)
    claim = fit.guarantee.claim
    assert claim.holds
    assert "1.257" in " ".join(claim.reasons)
    assert 0.0 < fit.guarantee.epsilon < 0.2
    event = fit.ledger.events[0]
    assert (event.sampling, event.sampling_rate) == ("without_replacement", 0.004)
    noise = event.mechanism
    assert isinstance(noise, Gaussian)
    assert 1.24 < float(noise.noise_multiplier) < 1.28


def test_as_printed_no_interval_says_that_it_knows_the_noise() -> None:
    """The printed posterior is that of sums without noise: its intervals would miss most of it."""
    table, paper = sealed(*drawn(2000)), {"algorithm": "vips", "rate": 0.25, "iterations": 6}
    request = Privacy(epsilon=1.0, delta=DELTA, mode="paper", accountant="wbk27")
    printed = dp.fit("logistic", table, privacy=request, seed=0, **paper)
    assert not printed.parameters.knows_noise
    assert np.all(np.isnan(printed.parameters.intervals()))
    told = printed.parameters.as_dict()
    assert told["intervals"] is None
    assert "unknown" in told["intervals_include"]
    proved = dp.fit("logistic", table, privacy=Privacy(1.0, DELTA), seed=0, **paper)
    assert proved.parameters.knows_noise
    assert dp.fit("logistic", table, privacy=None, mode="paper", **paper).parameters.knows_noise


# --- how it is judged ----------------------------------------------------------------------------


def test_metrics_are_scikit_learns() -> None:
    from sklearn import metrics

    rng = np.random.default_rng(0)
    chances, outcomes = np.round(rng.random(300), 2), rng.integers(2, size=300).astype(float)
    assert auc(chances, outcomes) == pytest.approx(metrics.roc_auc_score(outcomes, chances))
    assert log_loss(np.clip(chances, 0.01, 0.99), outcomes) == pytest.approx(
        metrics.log_loss(outcomes, np.clip(chances, 0.01, 0.99))
    )
    assert auc(chances, np.ones(300)) == 0.5
    assert calibration_error(outcomes, outcomes) == 0.0


@pytest.mark.parametrize(("categories", "outcome"), [((), "ill = 1"), (("yes", "no"), "ill = no")])
def test_the_picture_names_what_it_gives_the_odds_of(
    categories: tuple[str, ...], outcome: str
) -> None:
    ill = Column("ill", role="target", type="binary", categories=categories)
    public = PublicFrame.of(Schema((Column("a", lower=0, upper=1), ill)))
    exact = Coefficients(np.ones((1, 2)), np.zeros((1, 2, 2)), np.zeros((1, 2, 2)))
    private = Coefficients(*(np.zeros((1, 1, *size)) for size in ((2,), (2, 2), (2, 2))))
    window = (exact, None)
    subject = Subject(public, exact, private, (0, 0), None, 1.0, window, "person")
    assert portrait("logistic")(subject).x.label == f"log odds of {outcome}"


def test_exact_outcomes_are_for_the_custodian_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sealed(*drawn(20))
    with pytest.raises(InputError, match="outcomes"):
        YARDSTICK.score(logistic.nothing(1, 4), Scorer.of(table))
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    with pytest.raises(WallError, match="locked"):
        YARDSTICK.scorer(table)


def test_a_stated_multiplier_is_that_of_the_main_release() -> None:
    table = dp.load("bundled:who_comes_back")
    for algorithm in ("one_shot", "vb"):
        fit = dp.fit(
            "logistic", table, privacy=Privacy(noise_multiplier=2.0), algorithm=algorithm, seed=0
        )
        stated = [entry.noise_scale / entry.sensitivity for entry in fit.ledger]
        assert min(map(float, stated)) == pytest.approx(2.0, abs=1e-9) or algorithm == "vb"
        assert pytest.approx(2.0) in [float(number) for number in stated]


def test_a_spread_that_noise_has_left_near_0_does_not_swell_rounding() -> None:
    rng = np.random.default_rng(0)
    middle = np.array([0.3, -0.2, 1.0])
    squares = np.outer(middle, middle) - 0.9 * np.diag([1.0, 1.0, 0.0])
    mean = np.array([[20.0, 30.0, 0.1]])
    one = expected_hessian(mean, squares[None])
    moved = expected_hessian(mean, (squares * (1.0 + 1e-15 * rng.standard_normal((3, 3))))[None])
    assert np.all(np.isfinite(one))
    assert np.abs(moved - one).max() < 1e-9 * np.abs(one).max()
