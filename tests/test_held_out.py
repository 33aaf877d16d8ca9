"""Held-out utility on Explore: a fifth of the rows, by their numbers, is seen by no fit."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from app_pages import data_of

from app import compute, tables
from app.explore_scene import picture
from app.releasing import table_of
from app.result_store import Data, ResultStore
from app.scenario import Scenario, opening
from app.sweeps import done, sliding, swept, work_out
from dpcore.datasets.catalogue import find
from dpcore.declaration import declarations
from dpcore.evaluation.steps import walk
from dpcore.evaluation.study import study, sweep
from dpcore.schema import Column, Schema
from dpcore.wall.custodian import custodian_documents, custodian_rows
from dpcore.wall.table import PrivateTable, divided

OPENINGS = {
    "gmm": "three_groups",
    "kmeans": "places",
    "fa": "digits",
    "ppca": "digits",
    "gmm-release": "five_parties",
    "logistic": "who_comes_back",
    "bernoulli": "households",
    "poisson": "a_year_of_care",
    "lda": "few_bars",
    "sbn": "lit_windows",
}
QUICK = ("kmeans", "gmm-release", "logistic", "poisson")
SCHEMA = Schema((Column("a", lower=0.0, upper=1.0), Column("b", lower=0.0, upper=1.0)))
SMALL = Scenario(components=1, iterations=2)


@pytest.fixture
def few_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scenario, "budgets", lambda *_: (0.5, 1.0, 2.0))


def numbers(fit: Any) -> list[Any]:
    return [np.asarray(getattr(fit, field.name)).tolist() for field in fields(fit)]


def opened(model: str) -> tuple[Scenario, Data]:
    scenario = opening(OPENINGS[model], model)
    data = data_of(scenario)
    return scenario, data


def cut(cells: np.ndarray[Any, Any]) -> Data:
    """What Explore would fit of a table of two columns between 0 and 1."""
    frame = pd.DataFrame(cells, columns=["a", "b"])
    table = PrivateTable.seal(frame, SCHEMA, open_to_all=True)
    whole = Data("rows", "Rows", table, SCHEMA, "simulated", len(frame))
    return tables.divided_data(whole, ResultStore())


def test_with_fewer_rows_fits_are_compared_with_the_exact_fit_to_all() -> None:
    scenario = Scenario(data="two_clouds", model="symmetric-mixture", components=1)
    data = data_of(scenario)
    assert "the exact fit to the same rows" in tables.judged_on(scenario, data)
    sliding = replace(scenario, third="fitted_rows", dial="fitted_rows")
    assert "the exact fit to all the rows shown" in tables.judged_on(sliding, data)


def test_every_model_that_is_judged_on_rows_is_tried_here() -> None:
    judged = {name for name, model in declarations().items() if model.holds_out}
    assert judged == set(OPENINGS)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            name,
            marks=pytest.mark.full if name == "sbn" else [pytest.mark.merge] * (name not in QUICK),
        )
        for name in OPENINGS
    ],
)
def test_rows_that_are_held_out_judge_fits_and_enter_none(model: str) -> None:
    scenario, data = opened(model)
    assert data.held_out is not None
    metrics = (one.name for one in scenario.declared.metrics if one.of_rows)
    setting = replace(scenario.setting(), iterations=2, metric=next(metrics, ""))
    one, other = (
        study(data.table, setting, epsilons=(1.0, 4.0), draws=1, held_out=judges)
        for judges in (data.held_out, None)
    )
    assert numbers(other.grid.fits) == numbers(one.grid.fits)
    assert numbers(other.references.converged) == numbers(one.references.converged)
    assert other.grid.noise.tolist() == one.grid.noise.tolist()
    for name in ("converged_utility", "own_steps_utility", "clipped_utility"):
        assert getattr(other.references, name) != getattr(one.references, name)
    assert (other.grid.utility != one.grid.utility).all()
    assert (other.curves.single != one.curves.single).any() or model == "logistic"  # always 0.5


def test_utility_is_that_of_the_fit_on_the_rows_that_are_held_out() -> None:
    scenario, data = opened("gmm")
    fit = compute.one_fit(scenario, data)
    found, step = compute.with_extra_budget(
        compute.study(scenario, data, ResultStore()), scenario, data, ResultStore()
    )
    judged = fit.score(data.held_out)
    assert found.grid.utility[step, 0] == pytest.approx(judged, rel=1e-9)


@pytest.mark.usefixtures("few_budgets")
def test_nothing_on_explore_but_utility_depends_on_a_row_that_is_held_out() -> None:
    """The picture's fits, every step, and the stops of the other dials."""
    cells = np.random.default_rng(3).random((600, 2))
    _, out = divided(600, tables.HELD_OUT, tables.COIN, "add_remove")
    moved = cells.copy()
    moved[out] = 1.0 - moved[out] ** 2
    found = []
    for each in (cells, moved):
        data, store = cut(each), ResultStore()
        setting = SMALL.setting()
        known = compute.study(SMALL, data, store)
        stops = sweep(
            data.table, setting, known.references, 1.0, "clip", (0.4, 1.0), (0,), data.held_out
        )
        steps = walk(data.table, setting, 1.0, (0,), data.held_out)
        found.append((known, stops, steps))
    (known, stops, steps), (known2, stops2, steps2) = found
    assert numbers(known.references.converged) == numbers(known2.references.converged)
    assert numbers(known.grid.fits) == numbers(known2.grid.fits)
    assert numbers(stops.grid.fits) == numbers(stops2.grid.fits)
    for one, other in (
        (known.grid.utility, known2.grid.utility),
        (stops.grid.utility, stops2.grid.utility),
        (steps, steps2),
    ):
        assert np.all(one != other)


def test_coins_go_by_a_rows_number_and_nothing_else() -> None:
    cells = np.random.default_rng(3).random((700, 2))
    all_rows, first_rows = cut(cells), cut(cells[:600])
    held = [custodian_rows(data.held_out)[1] for data in (all_rows, first_rows)]  # type: ignore[arg-type]
    assert held[0][: len(held[1])].tolist() == held[1].tolist()
    turned = cut(cells[::-1])
    assert turned.rows == all_rows.rows  # the same places, of other rows
    assert 0.7 * 700 < all_rows.rows < 0.9 * 700
    assert all_rows.rows + len(held[0]) == all_rows.all_rows == 700


def test_every_row_is_fitted_or_held_out_and_a_release_has_all() -> None:
    scenario, data = opened("gmm")
    whole = tables.whole_table(scenario)
    assert whole is not None
    assert data.held_out is not None
    parts = [custodian_rows(one)[1] for one in (data.table, data.held_out)]
    every = custodian_rows(table_of(scenario, whole)[0])[1]
    assert len(parts[0]) == data.rows
    assert sorted(np.concatenate(parts).tolist()) == sorted(every.tolist())
    assert len(every) == find("three_groups").rows
    _, documents = opened("lda")
    assert documents.held_out is not None
    counts = [custodian_documents(one)[1].count for one in (documents.table, documents.held_out)]
    assert counts == [documents.rows, (documents.all_rows or 0) - counts[0]]


def test_the_page_says_on_which_rows_fits_are_judged() -> None:
    scenario, data = opened("gmm")
    assert tables.judged_on(scenario, data) == (
        f"Utility is measured on {5000 - (data.rows or 0):,} rows that no fit here uses. "
        "A release uses all 5,000 rows."
    )
    scene = picture(scenario, data, compute.study(scenario, data, tables.store_of(data)))
    assert scene.panels[-1].title == "What each ε buys on held-out rows"
    for other, said in (
        (opening("iris"), "in-sample: with fewer than 500 rows"),
        (replace(scenario, adjacency="add_remove"), "in-sample: where the number of rows"),
        (opening("missing_answers"), "compares each fit with the exact fit to the same rows"),
    ):
        shown = tables.data_of(other)
        assert shown.held_out is None
        assert said in tables.judged_on(other, shown)


def test_somebody_is_taken_out_of_the_rows_that_are_fitted() -> None:
    scenario, data = opened("gmm")
    without = tables.data_of(replace(scenario, without=True))
    assert without.whole is not None
    assert without.held_out is data.held_out
    one, other = (custodian_rows(each.table)[1] for each in (data, without))
    assert (one != other).any(axis=1).sum() == 1


@pytest.mark.merge
@pytest.mark.usefixtures("few_budgets")
def test_the_other_dials_judge_on_the_same_rows() -> None:
    """At the stop where a dial stands, its curve has the utility of the curve over epsilon."""
    cells = np.random.default_rng(3).random((600, 2))
    data, store = cut(cells), ResultStore()
    known = compute.study(SMALL, data, store)
    dial = next(one for one in sliding(SMALL, data, store) if one.name == "clip")
    dial = replace(dial, stops=(0.5, SMALL.clip))
    while not done(SMALL, data, store, dial):
        work_out(SMALL, data, store, dial)
    found = swept(SMALL, data, store, dial, known.references)
    at = found.grid.stops.index(SMALL.clip)
    one = known.grid.epsilons.index(SMALL.epsilon)
    np.testing.assert_allclose(found.grid.utility[at], known.grid.utility[one], rtol=1e-9)
