"""Covariance, correlations and principal components: exact without noise, repaired with it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sealed_rows import boxed
from sklearn.decomposition import PCA
from support import every

import dpcore as dp
from dpcore.arrays import Array
from dpcore.evaluation.study import Setting, study
from dpcore.evaluation.yardstick import scorer_of, utility
from dpcore.figures.budget import study_scene
from dpcore.fitting.api import fit_grid
from dpcore.fitting.result import Fit
from dpcore.models.covariance import mathematics
from dpcore.models.covariance.mathematics import correlations, lifted, pairs, principal, repaired
from dpcore.models.covariance.uncertainty import UNCERTAINTY
from dpcore.models.shared import uneven_columns
from dpcore.models.shared.all_rows import Aim
from dpcore.models.shared.moments import averaged
from dpcore.models.shared.second_moments import AllRows, Ellipsoid
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.statistics import NoisyMoments
from dpcore.wall.table import PrivateTable

LIMITS = {"age": (0.0, 110.0), "stay": (0.0, 60.0), "dose": (-5.0, 5.0)}
BALL = dp.Schema.ball_of(list(LIMITS), (55.0, 30.0, 0.0), 90.0)


def rows(count: int = 3000, seed: int = 0) -> Array:
    """Age and length of stay go together; the dose falls with both a little."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal(count)
    noise = rng.standard_normal((count, 3))
    return np.column_stack(
        [
            55.0 + 12.0 * hidden + 6.0 * noise[:, 0],
            30.0 + 5.0 * hidden + 3.0 * noise[:, 1],
            -0.3 * hidden + 0.8 * noise[:, 2],
        ]
    )


def sealed(schema: dp.Schema | None = None, count: int = 3000) -> PrivateTable:
    frame = pd.DataFrame(rows(count), columns=list(LIMITS))
    return PrivateTable.seal(frame, schema or dp.Schema.from_bounds(LIMITS))


@cache
def fitted(epsilon: float, seed: int = 0, **words: str) -> Fit:
    return dp.fit("covariance", sealed(), privacy=dp.Privacy(epsilon, 1e-5, **words), seed=seed)  # type: ignore[arg-type]


@every("schema", [None, BALL])
def test_without_noise_it_is_the_covariance_and_scikit_learns_components(
    schema: dp.Schema | None,
) -> None:
    found = dp.fit("covariance", sealed(schema), privacy=None).parameters
    theirs = PCA().fit(rows())
    np.testing.assert_allclose(found.mean, rows().mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(rows().T), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.correlation, np.corrcoef(rows().T), atol=1e-12)
    np.testing.assert_allclose(found.components, theirs.components_, atol=1e-9)
    np.testing.assert_allclose(found.explained_variance, theirs.explained_variance_)
    np.testing.assert_allclose(found.explained_variance_ratio, theirs.explained_variance_ratio_)


@every("words", [{}, {"adjacency": "add_remove"}, {"accountant": "zcdp"}])
def test_a_fit_is_what_factor_analysis_releases(words: dict[str, str]) -> None:
    mine = fitted(1.0, **words)
    theirs = dp.fit("fa", sealed(), privacy=dp.Privacy(1.0, 1e-5, **words), seed=0, n_components=1)  # type: ignore[arg-type]
    assert mine.ledger.fingerprint() == theirs.ledger.fingerprint()
    assert mine.guarantee.epsilon == theirs.guarantee.epsilon


def test_a_column_that_does_not_vary_goes_together_with_none() -> None:
    frame = pd.DataFrame(rows(), columns=list(LIMITS)).assign(stay=0.1 + 0.2)
    table = PrivateTable.seal(frame, dp.Schema.from_bounds(LIMITS))
    grid = fit_grid("covariance", table, privacy=None, as_private=True, clip=1.0)
    found = grid.fit().parameters
    np.testing.assert_array_equal(found.correlation[1], [0.0, 1.0, 0.0])


def test_little_noise_moves_it_little() -> None:
    found = fitted(1000.0).parameters
    np.testing.assert_allclose(found.correlation, np.corrcoef(rows().T), atol=1e-3)
    error = [
        np.abs(fitted(epsilon, seed).parameters.correlation - np.corrcoef(rows().T)).max()
        for epsilon in (0.3, 30.0)
        for seed in range(4)
    ]
    assert np.mean(error[:4]) > 5.0 * np.mean(error[4:])


@every("epsilon", [0.001, 0.05, 1.0, 100.0])
def test_whatever_the_noise_the_matrix_has_an_inverse_and_correlations_their_range(
    epsilon: float,
) -> None:
    for words in ({}, {"adjacency": "add_remove"}):
        found = fitted(epsilon, **words).parameters
        assert np.all(np.linalg.eigvalsh(found.covariance) > 0.0)
        assert np.all(np.abs(found.correlation) <= 1.0)
        np.testing.assert_array_equal(np.diag(found.correlation), 1.0)
        np.testing.assert_allclose(found.explained_variance_ratio.sum(), 1.0)
        np.testing.assert_allclose(found.components @ found.components.T, np.eye(3), atol=1e-9)
        assert np.all(np.diff(found.explained_variance) <= 0.0)
        low, high = np.array(list(LIMITS.values())).T
        assert np.all((low <= found.mean) & (found.mean <= high))
        half = np.diag((high - low) / 2)
        assert np.trace(np.linalg.inv(half) @ found.covariance @ np.linalg.inv(half)) <= 3.01


def odd_moments(value: float, radius: float, dim: int = 4) -> AllRows:
    """A release in which everything is odd but for what distances let expect."""
    ones = np.ones(2)
    mean, squares = np.full((2, dim), value), np.full((2, dim, dim), value)
    usual = np.array([1e-3, radius**2 / dim])
    return AllRows(value * ones, mean, squares, ones, ones, radius, usual)


@every("value", [0.0, -1.0, 1e300, -1e300, np.inf, -np.inf, np.nan, 1e-300])
def test_any_release_gives_valid_parameters(value: float) -> None:
    for radius in (2.0, 1.0):
        found = repaired(odd_moments(value, radius))
        assert np.all(np.isfinite(found.mean))
        assert np.all(np.linalg.eigvalsh(found.covariance) >= 0.0)
        assert np.all(np.abs(correlations(found.covariance)) <= 1.0)


def test_lifting_is_the_nearest_matrix_of_its_trace() -> None:
    """No other matrix of the set is nearer: the projection's inequality, against many."""
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((200, 5, 5))
    matrices = draws + np.swapaxes(draws, 1, 2) + np.eye(5)
    noise = np.full(200, 0.4)
    found = lifted(matrices, noise)
    kept = np.trace(matrices, axis1=1, axis2=2) > np.sqrt(5) * 0.4
    trace = np.trace(found, axis1=1, axis2=2)
    np.testing.assert_allclose(trace[kept], np.trace(matrices[kept], axis1=1, axis2=2))
    least = np.linalg.eigvalsh(found)[:, 0]
    for other in np.array([np.outer(v, v) for v in rng.standard_normal((50, 5))]):
        shift = (trace - 5 * least)[:, None, None] * other / np.trace(other)
        rival = least[:, None, None] * np.eye(5) + shift  # same trace, same least eigenvalue
        inner = np.einsum("bij,bij->b", matrices - found, rival - found)
        assert np.all(inner <= 1e-9)


def test_without_noise_lifting_changes_nothing() -> None:
    exact = np.cov(rows().T)[None]
    np.testing.assert_allclose(lifted(exact, np.zeros(1)), exact)


def test_keeping_the_trace_is_nearer_than_cutting_off_what_is_negative() -> None:
    """Half of the error on wine, at a budget where noise is as large as the matrix."""
    _, units = custodian_rows(dp.load("bundled:wine"))
    exact = np.cov(units.T)
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((100, 13, 13))
    sd = 0.5
    noisy = exact + sd * (draws + np.swapaxes(draws, 1, 2)) / 2
    values, vectors = np.linalg.eigh(noisy)
    cut = (vectors * np.maximum(values, 0.0)[:, None]) @ np.swapaxes(vectors, 1, 2)
    found = lifted(noisy, np.full(100, sd))
    mine, usual = (np.linalg.norm(one - exact, axis=(1, 2)).mean() for one in (found, cut))
    assert mine < 0.6 * usual


def test_a_column_that_does_not_vary_has_no_correlations() -> None:
    np.testing.assert_array_equal(correlations(np.diag([2.0, 0.0])), np.eye(2))
    np.testing.assert_array_equal(pairs(correlations(np.zeros((1, 3, 3)))), np.zeros((1, 3)))
    assert mathematics.shares(np.zeros(3)).tolist() == [0.0] * 3


def test_the_largest_entry_of_an_axis_is_positive_and_variances_fall() -> None:
    draws = np.random.default_rng(0).standard_normal((50, 4, 4))
    variance, axes = principal(draws @ np.swapaxes(draws, 1, 2))
    assert np.all(np.diff(variance) <= 0.0)
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=-1)[..., None], axis=-1)
    assert np.all(largest > 0.0)


def test_one_column_is_refused_whatever_is_in_it() -> None:
    schema = dp.Schema.from_bounds({"age": (0.0, 110.0)})
    table = PrivateTable.seal(pd.DataFrame({"age": [1.0, 2.0]}), schema)
    with pytest.raises(dp.InputError, match=r"columns: a single column .*give two or more"):
        dp.fit("covariance", table, privacy=dp.Privacy(1.0, 1e-5))
    with pytest.raises(dp.InputError, match="no paper describes"):
        dp.fit("covariance", sealed(), privacy=dp.Privacy(1.0, 1e-5, mode="paper"))


def test_synthetic_rows_have_the_released_covariance() -> None:
    found = fitted(5.0).parameters
    drawn = found.sample(100_000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(), found.mean, atol=0.1)
    np.testing.assert_allclose(np.corrcoef(drawn.T), found.correlation, atol=0.02)


def test_own_units_and_back() -> None:
    table = sealed()
    public, _ = custodian_rows(table)
    found = fitted(5.0).parameters
    again = type(found).from_units(found.in_units(public), 0, public)
    np.testing.assert_allclose(again.covariance, found.covariance)
    np.testing.assert_allclose(again.mean, found.mean)


@every("metric", ["correlation_error", "first_component"])
def test_utility_is_between_knowing_nothing_and_the_exact_fit(metric: str) -> None:
    found = study(sealed(), Setting("covariance", 1, metric=metric), epsilons=(0.3, 100.0), draws=4)
    known, middle = found.references, np.median(found.grid.utility, axis=1)
    assert known.bounds_utility <= middle[0] < middle[1] <= known.converged_utility + 1e-9
    assert known.own_steps_utility == pytest.approx(known.converged_utility)
    exact = np.corrcoef(rows().T)[np.triu_indices(3, 1)]
    if metric == "correlation_error":
        assert known.bounds_utility == pytest.approx(-np.sqrt(np.mean(exact**2)), rel=1e-3)
        assert known.converged_utility == pytest.approx(0.0, abs=1e-12)


def test_the_share_along_the_first_axis_is_in_own_units() -> None:
    scorer = scorer_of("covariance", sealed())
    exact = dp.fit("covariance", sealed(), privacy=None).parameters
    found = utility("covariance", exact.in_units(scorer.public), scorer, "first_component")
    assert found[0] == pytest.approx(PCA().fit(rows()).explained_variance_ratio_[0], rel=1e-3)


def test_the_picture_leaves_blank_what_noise_decides() -> None:
    found = study(sealed(), Setting("covariance", 1), epsilons=(0.05, 1000.0), draws=8)
    scene = study_scene(found)
    exact, private = (scene.panels[at].layers[0] for at in (0, 1))
    assert exact.rows == ("1 age", "2 stay", "3 dose")
    assert exact.names[:2] == ("correlation with age", "correlation with stay")
    values = np.asarray(private.values)[..., 0]  # (S, columns and components, rows)
    assert np.isnan(values[0, :3]).any()
    np.testing.assert_allclose(values[1, :3], np.corrcoef(rows().T), atol=1e-3)
    np.testing.assert_allclose(values[1, 3:], np.asarray(exact.values)[0, 3:, :, 0], atol=0.01)
    assert "age with stay 0.7" in scene.panels[1].alt[1]
    assert "PC1 94% · " in scene.panels[1].subtitle[1]
    assert "blank" in scene.panels[1].subtitle[0]


def test_many_columns_are_drawn_as_those_that_go_together_most() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (300, 20)))
    frame.columns = pd.Index([f"c{i}" for i in range(20)])
    frame["c7"] = frame["c3"]
    limits = dict.fromkeys(frame.columns, (0.0, 1.0))
    table = dp.load(frame, schema=dp.Schema.from_bounds(limits))
    found = study(table, Setting("covariance", 1), epsilons=(1.0, 10.0), draws=1)
    heat = study_scene(found).panels[0].layers[0]
    assert len(heat.rows) == 10
    assert {"4 c3", "8 c7"} <= set(heat.rows)
    assert heat.label.startswith("correlation of 10 of 20 columns; PC1 to PC3: ")
    assert heat.notes[-4:] == (str(int(heat.rows[-1].split()[0])), "PC1", "PC2", "PC3")


def ends(low: list[float], high: list[float], known: list[tuple[float, float]]) -> dict[str, Array]:
    """Intervals of made-up variances and correlations."""
    dim = len(low)
    matrix = np.ones((dim, dim, 2))
    matrix[np.triu_indices(dim, 1)] = known
    return {"correlation": matrix, "explained_variance": np.array([low, high]).T}


@every(
    "low, high, known, sentence",
    [
        (
            [8.0, 3.0, 1.0],
            [9.0, 4.0, 2.0],
            [(0.1, 0.5), (-0.5, -0.1), (0.2, 0.3)],
            "At this noise level all 3 correlations can be told from 0; all 3 principal components "
            "can be told from one another.",
        ),
        (
            [8.0, 2.0, 1.0],
            [9.0, 4.0, 3.0],
            [(-0.1, 0.5), (-0.5, 0.1), (0.2, 0.3)],
            "At this noise level 1 of 3 correlations can be told from 0; the first principal "
            "component can be told from the others.",
        ),
        (
            [2.0, 1.0],
            [3.0, 2.5],
            [(-0.1, 0.5)],
            "At this noise level no correlation can be told from 0; the first principal component "
            "cannot be told from the second.",
        ),
        (
            [2.0, 1.0],
            [3.0, 1.5],
            [(0.1, 0.5)],
            "At this noise level the correlation can be told from 0; the two principal components "
            "can be told from each other.",
        ),
    ],
)
def test_the_sentence_counts_what_is_known(
    low: list[float], high: list[float], known: list[tuple[float, float]], sentence: str
) -> None:
    assert UNCERTAINTY.sentence is not None
    assert UNCERTAINTY.sentence(ends(low, high, known)) == sentence


def test_intervals_of_correlations_and_axes_stay_in_their_range() -> None:
    found = fitted(0.05).intervals()
    for name, most in (("correlation", 1.0), ("components", 1.0)):
        assert np.all(np.abs(found.same_rows[name]) <= most)
    assert np.all(found.same_rows["explained_variance_ratio"] >= 0.0)
    mirrored = replace(fitted(0.05), seed=1)
    assert mirrored.intervals().as_dict() == found.as_dict()


@every("value", [0.0, -1.0, 1e300, -1e300, np.inf, -np.inf, np.nan, 1e-300])
def test_any_release_gives_axes_of_an_ellipsoid(value: float) -> None:
    ones = np.ones(2)
    for sd in (0.0 * ones, ones, 1e200 * ones):
        moments = AllRows(ones, np.full((2, 3), value), np.full((2, 3, 3), value), sd, sd)
        mean, variances = uneven_columns._columns(moments)
        assert np.all(np.isfinite(mean))
        assert np.all((variances > 0.0) & np.isfinite(variances))


def test_columns_of_unequal_width_show_their_correlations() -> None:
    """The narrowest fills a fiftieth of what the widest does, and drowns in a ball for both."""
    rows = np.random.default_rng(0).standard_normal((20_000, 6)) @ (np.eye(6) + 0.4)
    errors = []
    for scale in (np.ones(6), np.geomspace(1.0, 0.02, 6)):
        cells = np.clip(0.1 * rows * scale, -1.0, 1.0)
        fit = dp.fit("covariance", boxed(cells), privacy=dp.Privacy(1.0, 1e-6), seed=0)
        away = fit.parameters.correlation - np.corrcoef(cells.T)
        errors.append(float(np.abs(away).max()))
    assert errors[0] < 0.05
    assert errors[1] < 0.2


def test_as_noise_vanishes_uneven_columns_have_their_exact_covariance() -> None:
    """Where an ellipsoid took the ball's place, what was seen in the ball no longer counts."""
    rows = np.random.default_rng(0).standard_normal((5_000, 4)) @ (np.eye(4) + 0.4)
    rows *= 0.1 * np.geomspace(1.0, 0.02, 4)
    fit = dp.fit("covariance", boxed(rows), privacy=dp.Privacy(3e4, 1e-6), seed=0)
    exact = np.cov(rows.T)
    root = np.sqrt(np.diag(exact))
    away = np.abs(fit.parameters.covariance - exact) / np.outer(root, root)
    assert away.max() < 0.02


def test_two_releases_of_the_same_have_the_noise_of_their_average() -> None:
    """A quarter and three quarters, of noise in proportion, are as good as one with all."""
    shape = (2, 1), (2, 1, 3), (2, 1, 3, 3)
    numbers = [[np.full(size, value) for size in shape] for value in (1.0, 5.0)]
    sds = [[np.full(2, noise)] * 3 for noise in (2.0, 2.0 / math.sqrt(3.0))]
    first, second = (NoisyMoments(*n, *sd) for n, sd in zip(numbers, sds, strict=True))
    whole = averaged(second, first, np.array([0.25, 0.0]))
    np.testing.assert_allclose(whole.squares[:, 0, 0, 0], [4.0, 5.0])
    np.testing.assert_allclose(whole.squares_sd, [1.0, 2.0 / math.sqrt(3.0)])


@every("sd", [0.01, 1.0])
def test_a_column_that_the_second_answer_lost_is_told_by_the_first(sd: float) -> None:
    """Unless noise explains it; a column that loses little is not concerned."""
    ones, squares = np.ones(2), np.zeros((2, 2, 2))
    squares[:, 0, 0] = squares[:, 1, 1] = 1.0
    less = squares.copy()
    less[0, 0, 0], less[1, 0, 0] = 0.05, 0.5
    place = Ellipsoid(np.zeros((2, 2)), np.ones((2, 2)))
    aim = Aim(ones, place, ones, ones, ones, ones)
    first, second = (
        AllRows(ones, np.zeros((2, 2)), moments, sd * ones, 0.0 * ones)
        for moments in (squares, less)
    )
    lost = uneven_columns._short(first, aim, second, aim)
    assert lost.tolist() == [sd < 0.1, False]
