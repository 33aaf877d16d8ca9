"""What each number of parts buys: the fits are those of a study, and one can be picked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app import parts
from app.compute import references_of
from app.result_store import ResultStore
from app.scenario import GENERATED, Scenario, opening, sane
from app.tables import data_of
from dpcore.evaluation.study import budget_grid
from dpcore.figures.columns import Columns
from dpcore.figures.plotly import scene_figure
from dpcore.figures.scene import Curve

SMALL = replace(Scenario(), data=GENERATED, made="200x2x3x1", components=2, iterations=3)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(store: ResultStore, key: Any, job: Callable[[], None]) -> None:
        store.waiting[key] = Any  # type: ignore[assignment]
        job()

    monkeypatch.setattr(parts, "in_background", work)


@pytest.mark.usefixtures("at_once")
def test_fits_with_each_number_of_parts_are_those_of_a_study(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "COUNTS", (1, 2, 4))
    data, store = data_of(SMALL), ResultStore()
    assert data is not None
    assert parts.by_parts(SMALL, data, store).private == {}
    found = parts.by_parts(SMALL, data, store)
    assert sorted(found.private) == sorted(found.exact) == [1, 2, 4]
    setting = replace(SMALL, components=4).setting()
    known = references_of(setting, data, store)
    grid = budget_grid(data.table, setting, known.converged, (1.0,), range(5), data.held_out)
    np.testing.assert_allclose(found.private[4], grid.utility[0])
    assert found.exact[4] == pytest.approx(known.converged_utility)
    scene = parts.scene_of(found, SMALL, data)
    (columns,) = (one for one in scene.panels[0].layers if isinstance(one, Columns))
    assert columns.pick == "1,2,4"
    assert columns.names[2].startswith("4 groups: ")
    curves = {one.name: one for one in scene.panels[0].layers if isinstance(one, Curve)}
    np.testing.assert_allclose(
        curves["private fit"].y, [np.median(found.private[count]) for count in (1, 2, 4)]
    )
    assert scene_figure(scene).data


@pytest.mark.usefixtures("at_once")
def test_a_number_that_cannot_be_fitted_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "COUNTS", (1, 30))
    few = replace(SMALL, made="20x2x2x1")
    data, store = data_of(few), ResultStore()
    assert data is not None
    parts.by_parts(few, data, store)
    found = parts.by_parts(few, data, store)
    assert 30 in found.refused
    assert set(found.private) == {1, 2}


def test_a_click_takes_the_number_that_was_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a smaller one has been fitted since."""
    taken: dict[str, int] = {}
    utility = np.ones(2)
    now = parts.ByParts(dict.fromkeys((1, 2, 4), utility), dict.fromkeys((1, 2, 4), 1.0))
    picked = SimpleNamespace(picked={"name": "1,4", "item": 1})
    monkeypatch.setattr(parts, "by_parts", lambda *_: now)
    monkeypatch.setattr(parts, "live", lambda *_, **__: picked)
    monkeypatch.setattr(parts, "change", taken.update)
    state = {parts.SHOWN: True}
    page = SimpleNamespace(session_state=state, rerun=lambda: None, caption=lambda _: None)
    monkeypatch.setattr(parts, "st", page)
    data = data_of(SMALL)
    assert data is not None
    parts.below_the_curve(SMALL, data, ResultStore())
    assert taken == {"components": 4}


def test_numbers_reach_what_the_model_allows_and_slow_models_stop_earlier() -> None:
    most = {}
    for name in ("three_groups", "digits", "households", "lit_windows"):
        scenario = opening(name)
        data = data_of(scenario)
        assert data is not None
        counts = parts.offered(scenario, data)
        assert scenario.components in counts
        most[name] = max(counts)
    assert most == {"three_groups": 50, "digits": 50, "households": 6, "lit_windows": 10}
    kmeans = sane(replace(Scenario(), model="kmeans"))
    data = data_of(kmeans)
    assert data is not None
    assert min(parts.offered(kmeans, data)) == 2
