"""Groups with one shape between them: what their means leave of the shape of all rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import dpcore as dp
from dpcore.arrays import Array
from dpcore.bench.utility_tables import Simulated
from dpcore.evaluation.yardstick import yardstick
from dpcore.fitting.api import fit_grid
from dpcore.models.gaussian_mixture.common_shape import CommonShape, long_axes
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.releases.filter import Amount
from dpcore.wall.data import whitening


def crowd() -> tuple[Array, Array]:
    """Rows ``(n, d)`` in three groups far apart, and the group of each."""
    return Simulated(600, 8, 3, 6.0).rows_and_groups()


def common_of(covariance: Array, *, left: int = 0) -> CommonShape:
    start = long_axes(covariance, 2.3)[1]
    return CommonShape(np.ones(1, dtype=bool), start, left, covariance, np.full(1, 0.75))


def test_groups_far_apart_make_long_axes_and_a_round_cloud_has_none() -> None:
    rows, _ = crowd()
    cloud = np.random.default_rng(0).normal(size=rows.shape)
    covariance = np.stack([np.cov(rows.T), np.cov(cloud.T)])
    long, shape, root = long_axes(covariance, 2.3)
    assert long.tolist() == [True, False]
    np.testing.assert_allclose(shape + root @ np.swapaxes(root, 1, 2), covariance, atol=1e-9)


def test_long_axes_do_not_depend_on_the_units_of_the_columns() -> None:
    covariance, units = np.cov(crowd()[0].T)[None], np.geomspace(0.01, 100.0, 8)
    scale = units[:, None] * units
    np.testing.assert_allclose(
        long_axes(covariance, 2.3)[1] * scale, long_axes(covariance * scale, 2.3)[1], rtol=1e-6
    )


def test_exact_moments_of_groups_give_the_exact_shape_of_all_rows() -> None:
    """Wherever the groups were, and whatever frame they saw the rows in."""
    rows, group = crowd()
    rng = np.random.default_rng(1)
    member = np.eye(3)[group]
    weights = member.mean(axis=0)[None]
    means = (member.T @ rows / member.sum(axis=0)[:, None])[None] + rng.normal(size=(1, 3, 8))
    shapes = np.repeat(np.diag(rng.uniform(0.5, 2.0, 8))[None, None], 3, axis=1)
    matrix, root = whitening(shapes[:, 0])
    seen = (rows - means[0, group]) @ matrix[0]
    offsets = (member.T @ seen / member.sum(axis=0)[:, None])[None]
    exact = np.cov(rows.T, bias=True)[None]
    after = common_of(1.3 * exact).after(
        Mixture(weights, means, shapes),
        (matrix, root),
        weights,
        offsets,
        (seen.T @ seen / len(rows))[None],
        np.zeros(1),
        np.ones(1),
        (exact, np.zeros(1)),
    )
    np.testing.assert_allclose(after.covariance, exact, rtol=1e-9, atol=1e-9)


def test_groups_and_their_distances_add_up_to_the_shape_of_all_rows() -> None:
    rows, group = crowd()
    member = np.eye(3)[group]
    weights = member.mean(axis=0)[None]
    means = (member.T @ rows / member.sum(axis=0)[:, None])[None]
    covariance = np.cov(rows.T, bias=True)[None]
    before = Mixture(weights, means, np.repeat(covariance[:, None], 3, axis=1))
    shapes = common_of(covariance).shaped(before, np.zeros(1)).covariances
    away = means[0] - weights[0] @ means[0]
    np.testing.assert_allclose(shapes[0, 0] + (weights[0] * away.T) @ away, covariance[0])
    assert np.array_equal(shapes[0, 1], shapes[0, 0])
    held = common_of(covariance, left=2)
    assert np.array_equal(held.shaped(before, np.zeros(1)).covariances[0, 0], held.start[0])
    others = replace(held, runs=np.zeros(1, dtype=bool))
    assert np.array_equal(others.shaped(before, np.zeros(1)).covariances, before.covariances)


def budgets_of(*epsilons: float) -> list[dp.Privacy]:
    return [dp.Privacy(epsilon=epsilon, delta=1e-5) for epsilon in epsilons]


@pytest.fixture(scope="module")
def grid() -> tuple[dp.PrivateTable, list[dp.Privacy]]:
    """One table at budgets at which groups are hidden, have one shape, and have their own."""
    return Simulated(4_000, 12, 3, 7.0).read(), budgets_of(0.02, 0.5, 4.0)


def test_groups_are_found_whose_own_shapes_are_hidden(
    grid: tuple[dp.PrivateTable, list[dp.Privacy]],
) -> None:
    table, budgets = grid
    runs = fit_grid("gmm", table, privacy=budgets, draws=[0], seed=0, n_components=3).runs
    shapes = runs.final.covariances
    alike = [bool(np.allclose(shape[0], shape[1])) for shape in shapes]
    assert alike == [True, True, False]
    means = runs.final.means
    assert np.allclose(means[0, 0], means[0, 1])
    assert not np.allclose(means[1, 0], means[1, 1])
    judge = yardstick("gmm")
    scorer = judge.scorer(table, None, most=None)
    alone = fit_grid("gmm", table, privacy=budgets, draws=[0], seed=0, n_components=1).runs.final
    gain = judge.score(runs.final, scorer) - judge.score(alone, scorer)
    assert np.all(gain[1:] > 0.5), gain


def test_two_groups_in_five_columns_are_looked_for_along_the_long_axis_or_are_one() -> None:
    """Where noise would hide a shape of their own, all rows are one group."""
    table, judge = Simulated(2_000, 5, 2, 6.0).read(), yardstick("gmm")
    grid = partial(fit_grid, "gmm", table, privacy=budgets_of(0.2, 1.0, 2.0), draws=range(5))
    final = grid(seed=0, n_components=2).runs.final
    one = [bool(np.array_equal(means[0], means[1])) for means in final.means]
    assert one == 5 * [True] + 10 * [False]
    scorer = judge.scorer(table, None, most=None)
    gain = judge.score(final, scorer) - judge.score(grid(seed=0, n_components=1).runs.final, scorer)
    assert np.all(np.median(gain.reshape(3, 5), axis=1) > [0.0, 0.25, 0.25]), gain


@pytest.mark.parametrize("columns", [5, 12])
def test_a_run_is_the_same_alone_or_beside_runs_of_other_kinds(
    columns: int, grid: tuple[dp.PrivateTable, list[dp.Privacy]]
) -> None:
    table, budgets = grid
    if columns == 5:
        table, budgets = Simulated(2_000, 5, 2, 6.0).read(), budgets_of(0.2, 1.0, 2.0)
    groups = 3 if columns == 12 else 2
    fitted = partial(fit_grid, "gmm", table, draws=[0], seed=0, n_components=groups)
    together = fitted(privacy=budgets).runs.final
    for run, budget in enumerate(budgets):
        alone = fitted(privacy=[budget])
        for part in ("weights", "means", "covariances"):
            one, other = getattr(alone.runs.final, part)[0], getattr(together, part)[run]
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_a_release_whose_groups_have_one_shape_can_be_verified_and_used(
    grid: tuple[dp.PrivateTable, list[dp.Privacy]], tmp_path: Path
) -> None:
    table, (_, budget, _) = grid
    ledger = dp.BudgetLedger.create(tmp_path / "ledger.sqlite", Amount(1.0, 1e-4))
    made = dp.release("gmm", table, privacy=budget, ledger=ledger, out=tmp_path / "out")
    assert made.dossier["guarantee"]["epsilon"] <= 0.5
    shapes = np.asarray(dp.open_release(tmp_path / "out").parameters["covariances"])
    assert np.allclose(shapes[0], shapes[1])


def test_what_other_runs_release_says_nothing_of_a_common_shape() -> None:
    """Their squares are those of one group, and would end as a shape without an inverse."""
    covariance = np.repeat(np.cov(crowd()[0].T)[None], 2, axis=0)
    common = replace(
        common_of(covariance[:1]),
        runs=np.array([True, False]),
        covariance=covariance,
        unknown=np.full(2, 0.75),
    )
    before = Mixture(np.full((2, 2), 0.5), np.zeros((2, 2, 8)), np.ones((2, 2, 8, 8)))
    frames, offsets = (np.stack([np.eye(8)] * 2),) * 2, np.zeros((2, 2, 8))
    squares, ones = 9.0 * np.stack([np.eye(8)] * 2), np.ones(2)
    size = covariance, np.zeros(2)
    after = common.after(before, frames, before.weights, offsets, squares, ones, ones, size)
    assert np.array_equal(after.covariance[1], covariance[1])
    assert not np.allclose(after.covariance[0], covariance[0])


@pytest.mark.parametrize("size", [1e12, -1e12, 1e100])
def test_no_repeated_release_leaves_a_shape_without_an_inverse(size: float) -> None:
    covariance = np.cov(crowd()[0].T)[None]
    common, vector = common_of(covariance), np.random.default_rng(2).normal(size=(2, 8))
    before = Mixture(np.full((1, 2), 0.5), np.zeros((1, 2, 8)), np.ones((1, 2, 8, 8)))
    frames, ones = whitening(covariance), np.ones(1)
    squares = (size * np.outer(vector[0], vector[1]))[None]
    squares = squares + np.swapaxes(squares, 1, 2)
    for _ in range(40):
        common = common.after(
            before, frames, before.weights, vector[None], squares, ones, ones, (covariance, ones)
        )
        lengths = np.linalg.eigvalsh(frames[0] @ common.covariance @ frames[0])
        assert np.all((lengths > 0.9e-5) & (lengths < 101.0))
