"""The metric switch: every metric that a model declares, on the same fits."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from app_pages import data_of, explorer
from support import every

from app import tables
from app.compute import Study
from app.explore_scene import scene_of
from app.scenario import Scenario, from_query, opening, sane
from dpcore.declaration import declaration, declarations
from dpcore.evaluation.study import References, Setting, study
from dpcore.evaluation.verdict import verdicts
from dpcore.evaluation.yardstick import metric_of, scorer_of, utility, yardstick
from dpcore.figures.scene import Cursor, Curve, Panel, Rule

TABLES = {
    "gmm": "iris",
    "kmeans": "iris",
    "fa": "wine",
    "gmm-release": "iris",
    "symmetric-mixture": "two_clouds",
    "mixture-regression": "two_lines",
    "missing-regression": "missing_answers",
    "mean": "iris",
    "covariance": "iris",
    "ppca": "wine",
    "logistic": "who_comes_back",
    "lda": "few_bars",
}
QUICK = ("kmeans", "gmm-release", "covariance")
PICKED = [
    pytest.param(model, metric.name, marks=[pytest.mark.full] * (model not in QUICK))
    for model, declared in declarations().items()
    for metric in declared.metrics
    if model in TABLES
]
FIRST = {
    "gmm": "test_log_likelihood",
    "kmeans": "nicv",
    "lda": "test_perplexity",
    "gmm-release": "reverse_kl",
    "logistic": "test_auc",
    "sbn": "pixel_accuracy",
    "mixture-regression": "estimation_error",
}


def opened(model: str, metric: str) -> tuple[Scenario, tables.Data]:
    scenario = sane(replace(opening(TABLES[model], model), metric=metric, iterations=2))
    data = data_of(scenario)
    return scenario, data


def made(scenario: Scenario, data: tables.Data) -> Any:
    return study(
        data.table,
        scenario.setting(),
        epsilons=(0.1, 1.0, 10.0),
        draws=2,
        held_out=data.held_out,
    )


@every("model", FIRST)
def test_the_papers_own_metric_comes_first(model: str) -> None:
    assert declaration(model).metrics[0].name == FIRST[model]
    assert opening("three_groups", model).setting().metric == FIRST[model]


@pytest.mark.parametrize(("model", "metric"), PICKED)
def test_a_metric_is_the_yardsticks_on_the_very_same_fits(model: str, metric: str) -> None:
    scenario, data = opened(model, metric)
    found, judge = made(scenario, data), yardstick(model)
    scorer = scorer_of(model, data.table, scenario.setting().options(), held_out=data.held_out)
    bold = type(found.grid.fits)(
        **{one.name: getattr(found.grid.fits, one.name)[2] for one in fields(found.grid.fits)}
    )
    sign = -1.0 if metric_of(model, metric).falls else 1.0
    known = metric in judge.metrics
    seen = judge.measure(bold, scorer, metric) if known else judge.score(bold, scorer)
    # the mixes of documents are in single precision, whose sums hang on where numbers lie
    np.testing.assert_allclose(found.grid.utility[2], sign * seen, rtol=2e-6)
    best = utility(model, found.references.converged, scorer, metric)
    assert found.references.converged_utility == pytest.approx(float(best[0]))
    for number in fields(References):
        if number.name.endswith("_utility"):
            assert np.isfinite(getattr(found.references, number.name))
    assert found.references.bounds_utility < found.references.converged_utility


@pytest.mark.parametrize(("model", "metric"), PICKED)
def test_a_curve_shows_the_metric_with_its_own_sign(model: str, metric: str) -> None:
    scenario, data = opened(model, metric)
    found = made(scenario, data)
    scene = scene_of(scenario, data, Study(found.grid, found.references, found.curves, True), 3)
    curve: Panel = scene.panels[-1]
    declared = metric_of(model, metric)
    sign = -1.0 if declared.falls else 1.0
    assert curve.y.label == declared.axis.format(unit=data.unit)
    assert curve.title.endswith(" (lower is better)") == declared.falls
    (cursor,) = [one for one in curve.layers if isinstance(one, Cursor)]
    np.testing.assert_allclose(cursor.y, sign * np.median(found.grid.utility, axis=1))
    rule = next(one for one in curve.layers if isinstance(one, Rule))
    assert rule.y == sign * found.references.converged_utility
    bands = [one for one in curve.layers if isinstance(one, Curve) and one.lo is not None]
    for band in bands:
        assert np.all(np.asarray(band.lo) <= np.asarray(band.y) + 1e-12)
        assert np.all(np.asarray(band.y) <= np.asarray(band.hi) + 1e-12)
    low, high = curve.y.range
    assert low < rule.y < high
    assert declared.worth in curve.alt[0]
    compares = not declared.of_rows
    assert ("held-out" in curve.title or "in-sample" in curve.title) is not compares
    assert ("compares each fit with the exact fit" in tables.judged_on(scenario, data)) is compares


def test_fits_and_their_privacy_are_the_same_by_every_metric() -> None:
    by = [made(*opened("kmeans", one.name)) for one in declaration("kmeans").metrics]
    assert by[0].grid.fits.centres.tolist() == by[1].grid.fits.centres.tolist()
    assert by[0].grid.noise.tolist() == by[1].grid.noise.tolist()
    assert by[0].grid.utility.tolist() != by[1].grid.utility.tolist()
    levels = [[one.level for one in verdicts(e.grid, e.references, e.curves.single)] for e in by]
    assert levels[0] == levels[1]  # one is a straight line of the other


def test_a_link_keeps_the_metric_and_a_model_without_it_falls_back() -> None:
    names = {"places": None}
    scenario = sane(replace(opening("places"), metric="explained"))
    assert scenario.as_query()["metric"] == "explained"
    assert from_query(scenario.as_query(), names) == scenario
    assert scenario.setting().metric == "explained"
    first = sane(replace(scenario, metric="nicv"))
    assert first == opening("places")
    assert sane(replace(scenario, model="gmm")).metric == ""
    assert from_query({"data": "places", "metric": "nonsense"}, names) == opening("places")


def test_an_infinite_divergence_is_a_number_in_a_picture() -> None:
    scenario, data = opened("gmm-release", "reverse_kl")
    scorer = scorer_of("gmm-release", data.table, scenario.setting().options())
    exact = yardstick("gmm-release").converged(data.table, 1, {})
    empty = replace(scorer, exact=replace(exact, weights=np.array([[1.0, 0.0, 0.0]])))
    assert np.isinf(yardstick("gmm-release").measure(exact, empty, "reverse_kl"))
    assert np.isfinite(utility("gmm-release", exact, empty, "reverse_kl"))


def test_a_setting_without_a_metric_is_judged_by_the_score() -> None:
    assert Setting().metric == ""
    assert metric_of("kmeans", "") == metric_of("kmeans", "nonsense")
    assert metric_of("kmeans", "").axis == yardstick("kmeans").wording.utility


@pytest.mark.merge
def test_the_page_asks_for_a_metric_where_there_is_a_choice() -> None:
    """Picked in its drawer, it stands in the curve, in the drawer's name and in the bar below."""
    page = explorer(data="places")
    (picked,) = (one for one in page.selectbox if one.label == "Utility")
    assert picked.value == "nicv"
    picked.select("explained").run()
    assert not page.exception
    shown = " ".join(str(node.proto) for node in page.get("bidi_component"))
    assert "share of the spread explained" in shown
    assert "In share of the spread." in " ".join(node.value for node in page.get("html"))
    page = explorer(data="lit_windows")
    assert not [one for one in page.selectbox if one.label == "Utility"]


@every("model", list(declarations()))
def test_the_name_of_an_axis_is_readable_beside_a_low_picture(model: str) -> None:
    """A longer one is written smaller than two thirds of the other words."""
    for metric in declaration(model).metrics:
        assert len(metric.axis.format(unit="household")) <= 30, metric.axis
