"""Mixtures of Bernoullis and of Poissons: plain EM without noise, valid whatever the noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sealed_rows import boxed

import dpcore as dp
from dpcore.datasets.catalogue import find
from dpcore.datasets.load import load
from dpcore.declaration import declaration
from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.fitting.api import fit_grid
from dpcore.models.exponential_family import mathematics
from dpcore.models.exponential_family.bernoulli import Bernoulli
from dpcore.models.exponential_family.mathematics import Groups
from dpcore.models.exponential_family.poisson import Poisson
from dpcore.privacy import Privacy
from dpcore.schema import Ball, Column, Schema
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.data import PublicFrame
from dpcore.wall.statistics import NoisyClusters
from dpcore.wall.table import PrivateTable

Array = Any
BUNDLED = {"bernoulli": "households", "poisson": "a_year_of_care"}
FAMILIES = {"bernoulli": Bernoulli(), "poisson": Poisson()}
both = pytest.mark.parametrize("model", BUNDLED)


def table(model: str) -> Any:
    return dp.load(f"bundled:{BUNDLED[model]}")


def own_numbers(parameters: Any) -> Array:
    """Chances or rates ``(K, d)``."""
    return parameters.chances if hasattr(parameters, "chances") else parameters.rates


def law(model: str, number: float) -> Any:
    return scipy.stats.bernoulli(number) if model == "bernoulli" else scipy.stats.poisson(number)


def plain_em(
    model: str, cells: Array, weights: Array, numbers: Array, steps: int, least: Array
) -> tuple[Array, Array]:
    """EM as a textbook has it, a loop for each group and column: weights and numbers, none below
    the least."""
    for _ in range(steps):
        joint = np.tile(np.log(weights), (len(cells), 1))
        for k in range(len(numbers)):
            for j in range(cells.shape[1]):
                joint[:, k] += law(model, numbers[k, j]).logpmf(cells[:, j])
        shares = np.exp(joint - joint.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        weights = shares.mean(axis=0)
        numbers = np.array([share @ cells / share.sum() for share in shares.T])
        numbers = np.maximum(numbers, least)
    return weights, numbers


@both
def test_without_noise_it_is_plain_em(model: str) -> None:
    rows = table(model)
    public, units = custodian_rows(rows)
    cells = np.rint(public.center + public.half_range * units)
    one, four = (
        dp.fit(model, rows, privacy=None, n_components=3, iterations=steps).parameters
        for steps in (1, 4)
    )
    weights, numbers = plain_em(
        model, cells, one.weights, own_numbers(one), 3, 2e-3 * public.half_range
    )
    order = np.lexsort(numbers.T[::-1])
    np.testing.assert_allclose(four.weights, weights[order], rtol=1e-9)
    np.testing.assert_allclose(own_numbers(four), numbers[order], rtol=1e-9)


@both
def test_the_converged_fit_is_where_plain_em_stays(model: str) -> None:
    rows = table(model)
    public, units = custodian_rows(rows)
    best = yardstick(model).converged(rows, 3, {})
    once = mathematics.exact_step(best, units, FAMILIES[model], public)
    np.testing.assert_allclose(once.means, best.means, atol=2e-4)
    truth = find(BUNDLED[model]).openings[0].components
    assert truth == 3
    assert np.all(best.weights > 0.1)


@both
def test_the_density_is_that_of_scipy(model: str) -> None:
    rows = table(model)
    scorer = scorer_of(model, rows)
    fit = dp.fit(model, rows, privacy=dp.Privacy(1.0, 1e-5), seed=0, n_components=2, iterations=2)
    own, public = fit.parameters, scorer.public
    cells = np.rint(public.center + public.half_range * scorer.rows)
    joint = np.stack(
        [
            np.log(weight) + law(model, number).logpmf(cells).sum(axis=1)
            for weight, number in zip(own.weights, own_numbers(own), strict=True)
        ],
        axis=1,
    )
    expected = np.logaddexp.reduce(joint, axis=1)
    found = yardstick(model).score(own.in_units(public), scorer)
    np.testing.assert_allclose(found, [expected.mean()], rtol=1e-9)
    np.testing.assert_allclose(own.log_joint(cells), joint, rtol=1e-9)


NUMBERS = st.floats(width=64) | st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308])


@both
@given(
    arrays(float, (2, 3), elements=NUMBERS),
    arrays(float, (2, 3, 2), elements=NUMBERS),
    st.floats(0.0, 1e9),
)
def test_any_released_numbers_give_valid_groups(
    model: str, counts: Array, sums: Array, noise: float
) -> None:
    public = PublicFrame.of(Schema.from_bounds({"x": (0.0, 1.0), "y": (0.0, 9.0)}))
    family = FAMILIES[model]
    before = mathematics.start(np.zeros((2, 2)), 3, family, public, 0)
    level = np.full(2, noise)
    released = NoisyClusters(counts, sums, level, level)
    window = mathematics.Window(np.zeros((1, 2)), np.array([[1.0, 0.5]]))
    after, memory = mathematics.m_step(
        released, 50.0, before, None, family, public, window, 2.0**0.5
    )
    again, _ = mathematics.m_step(released, 50.0, after, memory, family, public, window, 2.0**0.5)
    once_more = mathematics.revived(after, released, family, public)
    for groups in (before, after, again, once_more):
        assert np.all(groups.weights >= 0.0)
        np.testing.assert_allclose(groups.weights.sum(axis=1), 1.0)
        assert np.all(np.abs(groups.means) <= 1.0)
        constant, slopes = family.coefficients(groups.means, public)
        assert np.all(np.isfinite(constant))
        assert np.all(np.isfinite(slopes))


@both
def test_a_private_fit_finds_more_than_one_group_does(model: str) -> None:
    """At epsilon 1, of what the exact fit adds to a single group, nine tenths are kept."""
    rows, judge = table(model), yardstick(model)
    scorer = judge.scorer(rows)
    exact = float(judge.score(judge.converged(rows, 3, {}), scorer)[0])
    single = float(judge.score(judge.converged(rows, 1, {}), scorer)[0])
    grid = fit_grid(
        model,
        rows,
        privacy=[dp.Privacy(1.0, 1e-5)],
        draws=range(12),
        n_components=3,
        iterations=10,
        seed=0,
    )
    kept = (judge.score(grid.runs.final, scorer) - single) / (exact - single)
    assert np.median(kept) > 0.9


def _shares(model: str, data: PrivateTable, epsilon: float, components: int) -> Array:
    """Of what exact groups add to a single one, the shares that private ones keep."""
    judge = yardstick(model)
    scorer = judge.scorer(data)
    exact, single = (
        float(judge.score(judge.converged(data, parts, {}), scorer)[0]) for parts in (components, 1)
    )
    grid = fit_grid(
        model,
        data,
        privacy=(Privacy(epsilon, 1e-5),),
        draws=range(7),
        seed=1,
        n_components=components,
    )
    return (judge.score(grid.runs.final, scorer) - single) / (exact - single)


def test_wide_limits_of_counts_cost_little() -> None:
    """Rows lie in a small part of them, which three small releases find; noise as large as the
    limits would leave nothing of the groups."""
    rng = np.random.default_rng(3)
    rates = np.array([[2.0, 9.0, 1.0, 4.0], [6.0, 2.0, 3.0, 4.0]])
    cells = rng.poisson(rates[rng.integers(2, size=4_000)])
    for top in (30.0, 300.0):
        assert np.median(_shares("poisson", boxed(cells, 0.0, top), 1.0, 2)) > 0.8


def test_a_single_group_of_counts_is_their_mean() -> None:
    rng = np.random.default_rng(5)
    cells = pd.DataFrame(rng.poisson([1.0, 20.0], (3_000, 2)), columns=["a", "b"])
    data = load(cells, schema=Schema.from_bounds({"a": (0.0, 40.0), "b": (0.0, 100.0)}))
    fit = dp.fit("poisson", data, privacy=Privacy(2.0, 1e-5), n_components=1, seed=0)
    assert [entry.what for entry in fit.ledger][-1] == "iteration 1: counts and sums"
    assert len(fit.ledger) == 4
    np.testing.assert_allclose(fit.parameters.rates[0], cells.mean(), rtol=0.1, atol=0.1)


def test_a_group_that_stands_where_no_rows_are_starts_once_more() -> None:
    """Groups far apart: at first one of them takes no row, and two are taken by one."""
    rng = np.random.default_rng(3)
    rates = np.array([[32.0, 133.0], [52.0, 883.0], [71.0, 2525.0]])
    cells = rng.poisson(rates[rng.choice(3, 3000)])
    rows = dp.load(
        pd.DataFrame(cells, columns=["age", "cost"]),
        schema=Schema.from_bounds({"age": (0, 110), "cost": (0, 5000)}),
    )
    privacy = [dp.Privacy(epsilon, 1e-5) for epsilon in (2.0, 8.0)]
    grid = fit_grid("poisson", rows, privacy=privacy, draws=range(6), seed=0)
    for budget in range(2):
        for draw in range(6):
            found = grid.fit(budget, draw).parameters
            np.testing.assert_allclose(found.rates[:, 1], rates[:, 1], rtol=0.5)
            assert found.weights.min() > 0.2


@both
def test_the_order_of_groups_is_their_own(model: str) -> None:
    fit = dp.fit(model, table(model), privacy=dp.Privacy(3.0, 1e-5), seed=0)
    numbers = own_numbers(fit.parameters)
    assert np.all(np.diff(numbers[:, 0]) >= 0.0)
    drawn = fit.parameters.sample(500, np.random.default_rng(0))
    assert list(drawn.columns) == list(fit.parameters.columns)
    assert np.all(drawn.to_numpy() == np.rint(drawn.to_numpy()))


def test_a_table_suits_by_its_public_bounds() -> None:
    answers = Schema((Column("a", type="binary"), Column("b", lower=0, upper=1)))
    counts = Schema.from_bounds({"a": (0, 9), "b": (0, 1)})
    signed = Schema.from_bounds({"a": (-1, 1)})
    ball = Schema((Column("a"), Column("b")), ball=Ball((0.0, 0.0), 1.0))
    suits = {
        model: [declaration(model).suits(schema) for schema in (answers, counts, signed, ball)]
        for model in BUNDLED
    }
    assert suits == {
        "bernoulli": [True, False, False, False],
        "poisson": [False, True, False, False],
    }


def test_counts_below_zero_and_balls_are_refused_by_their_bounds() -> None:
    privacy = dp.Privacy(1.0, 1e-5)
    below = dp.load(pd.DataFrame({"x": [1.0, 2.0]}), schema=Schema.from_bounds({"x": (-1, 3)}))
    with pytest.raises(dp.InputError, match="a lower bound is below 0"):
        dp.fit("poisson", below, privacy=privacy, n_components=1)
    ball = dp.load(
        pd.DataFrame({"x": [0.1, 0.2], "y": [0.0, 0.1]}),
        schema=Schema((Column("x"), Column("y")), ball=Ball((0.0, 0.0), 1.0)),
    )
    for model in BUNDLED:
        with pytest.raises(dp.InputError, match="each column needs its own bounds"):
            dp.fit(model, ball, privacy=privacy, n_components=1)


def test_numbers_that_are_read_as_answers_are_noted() -> None:
    privacy = dp.Privacy(1.0, 1e-5)
    cells = pd.DataFrame({"x": [1.0, 0.0] * 9, "age": [20.0, 60.0] * 9})
    rows = dp.load(cells, schema=Schema.from_bounds({"x": (0, 1), "age": (0, 110)}))
    (note,) = dp.fit("bernoulli", rows, privacy=privacy, n_components=1, seed=0).guarantee.notes
    assert "reads numbers of age as shares" in note
    assert not dp.fit("bernoulli", table("bernoulli"), privacy=privacy, seed=0).guarantee.notes


def test_groups_are_found_again_in_any_order() -> None:
    exact = Groups(np.full((1, 3), 1 / 3), np.array([[[-0.9, 0.0], [0.0, 0.5], [0.9, 0.0]]]))
    shuffled = Groups(exact.weights, exact.means[:, [2, 0, 1]])
    aligned, found = yardstick("bernoulli").align(shuffled, exact)
    np.testing.assert_array_equal(aligned.means, exact.means)
    assert np.all(found)
