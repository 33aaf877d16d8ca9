"""The number of parts slides: the fits are those of a study, each number has a frame of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from app_pages import data_of

from app import compute, parts, pins
from app.components import guarantee_line
from app.compute import references_of
from app.compute import study as study_of
from app.explore_scene import parts_picture
from app.result_store import ResultStore
from app.scenario import GENERATED, PARTS, Scenario, from_query, opening, sane
from app.sweeps import done, sliding, still_to_come
from app.tables import store_of
from app.texts.explore import COMING
from dpcore.evaluation.study import budget_grid
from dpcore.figures.frames import greyed
from dpcore.figures.plotly import scene_figure
from dpcore.figures.scene import Cursor, Curve, Ellipses

SMALL = replace(
    Scenario(),
    data=GENERATED,
    made="200x2x3x1",
    components=2,
    iterations=3,
    third=PARTS,
    dial=PARTS,
)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(store: ResultStore, key: Any, job: Callable[[], None]) -> None:
        store.waiting[key] = Future()
        job()
        del store.waiting[key]

    monkeypatch.setattr(parts, "in_background", work)
    monkeypatch.setattr(parts, "COUNTS", (1, 2, 4))


@pytest.mark.usefixtures("at_once")
def test_fits_with_each_number_of_parts_are_those_of_a_study(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, store = data_of(SMALL), ResultStore()
    assert not parts.complete(SMALL, data, store)
    parts.work_out(SMALL, data, store)
    found = parts.by_parts(SMALL, data, store)
    assert parts.complete(SMALL, data, store)
    assert sorted(found) == [1, 2, 4]
    setting = replace(SMALL, components=4).setting()
    known = references_of(setting, data, store)
    grid = budget_grid(data.table, setting, known.converged, (1.0,), range(5), data.held_out)
    four = found[4]
    np.testing.assert_allclose(four.grid.utility, grid.utility)
    assert four.references.converged_utility == pytest.approx(known.converged_utility)
    other = replace(SMALL, components=4)
    assert parts.complete(other, data, store), "another number begins anew"
    fresh = ResultStore()
    parts.work_out(SMALL, data, fresh)
    parts.hand_over(other, data, fresh)
    four = parts.by_parts(SMALL, data, fresh)[4]
    assert references_of(setting, data, fresh) is four.references, "no second exact fit"
    monkeypatch.setattr(compute, "budget_grid", lambda *_: pytest.fail("a second private fit"))
    monkeypatch.setattr(compute, "in_background", lambda *_: None)
    begun = study_of(other, data, fresh).grid
    assert begun.utility[begun.epsilons.index(1.0)] == four.grid.utility[0, 0]


@pytest.mark.usefixtures("at_once")
def test_each_number_has_a_frame_and_one_that_is_missing_shows_the_nearest() -> None:
    data, store = data_of(SMALL), store_of(data_of(SMALL))
    _, dial = sliding(SMALL, data, store)
    assert dial.stops == (1.0, 2.0, 4.0)
    assert dial.put(4.0, SMALL) == {"components": 4, "dial": PARTS}
    now = study_of(SMALL, data, store)
    first = parts_picture(SMALL, data, dial, {}, now)
    assert [_held(scene) for scene in first.scenes] == [1, None, 1], "the current one is there"
    late = first.scenes[2]
    assert [panel.subtitle for panel in late.panels[:2]] == [
        f"sees everyone · {greyed('groups', '2')}",
        greyed("groups", "2"),
    ]
    assert late.live_text["sentence"][2] == COMING
    assert late.live_text["guarantee"][2] == guarantee_line(None, COMING), "nothing is promised"
    assert late.live_text["lost noise"][2] == "–"
    assert COMING in late.panels[1].alt
    assert still_to_come(SMALL, data, store, dial) == 3
    parts.work_out(SMALL, data, store)
    found = parts.by_parts(SMALL, data, store)
    assert done(SMALL, data, store, dial)
    whole = parts_picture(SMALL, data, dial, found, now)
    assert whole.step == 1
    for place, (count, scene) in enumerate(zip((1, 2, 4), whole.scenes, strict=True)):
        assert (scene.step, scene.step_labels[place]) == (place, str(count))
        exact, private, curve = scene.panels
        groups = {np.shape(one.params)[2] for one in exact.layers if isinstance(one, Ellipses)}
        assert groups == {count}
        assert exact.x == whole.scenes[0].panels[0].x, "the axes stay"
        assert private.subtitle.startswith("hides each")
        lines = {one.name: one for one in curve.layers if isinstance(one, Curve)}
        middles = [np.median(found[count].grid.utility) for count in (1, 2, 4)]  # type: ignore[union-attr]
        np.testing.assert_allclose(lines["private fit"].y, middles)
        (cursor,) = (one for one in curve.layers if isinstance(one, Cursor))
        np.testing.assert_allclose(cursor.y, middles)
        assert f"At number of groups {count} " in curve.alt[place]
        assert scene_figure(scene).data


@pytest.mark.usefixtures("at_once")
def test_a_pinned_view_stands_beside_every_number() -> None:
    scenario = SMALL.with_pins([replace(SMALL, epsilon=0.3)])
    data = data_of(scenario)
    store = store_of(data)
    parts.work_out(scenario, data, store)
    fits, now = parts.by_parts(scenario, data, store), study_of(scenario, data, store)
    frames = parts_picture(scenario, data, sliding(scenario, data, store)[1], fits, now)
    beside = pins.with_ghost(frames, scenario, data, pins.views(scenario, ask=True), PARTS)
    assert beside.step == frames.step
    for scene in beside.scenes:
        assert scene.panels[1].pinned
        assert scene.live_text["now third"] == ("1", "2", "4")


def _held(scene: Any) -> int | None:
    """Of which step the panels are, where it is not their own."""
    nearest = scene.panels[1].nearest
    return nearest[scene.step] if nearest else None


@pytest.mark.usefixtures("at_once")
def test_a_number_that_cannot_be_fitted_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "COUNTS", (1, 2, 3, 30))
    few = replace(SMALL, made="20x2x2x1")
    data, store = data_of(few), ResultStore()
    assert parts.numbers(few, data) == (1, 2, 3), "more parts than rows are no stop"
    refused = replace(few, epsilon=0.01, method="recommended", count_by="linear")
    monkeypatch.setattr(parts, "sweep", lambda *_: (_ for _ in ()).throw(parts.DPCoreError("No.")))
    parts.work_out(refused, data, store)
    assert set(parts.by_parts(refused, data, store).values()) == {"No."}


@pytest.mark.usefixtures("at_once")
def test_the_number_a_hand_is_on_comes_next() -> None:
    data, store, order = data_of(SMALL), ResultStore(), list[int]()
    real = parts._fits

    def seen(scenario: Scenario, *args: Any, **options: Any) -> Any:
        order.append(scenario.components)
        return real(scenario, *args, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts, "_fits", seen)
        parts.work_out(SMALL, data, store, wanted=4.0)
    assert order[0] == 4


def test_numbers_reach_what_the_model_allows_and_slow_models_stop_earlier() -> None:
    most = {}
    for name in ("three_groups", "digits", "households", "lit_windows"):
        scenario = opening(name)
        counts = parts.numbers(scenario, data_of(scenario))
        assert scenario.components in counts
        most[name] = max(counts)
    assert most == {"three_groups": 50, "digits": 50, "households": 6, "lit_windows": 10}
    factors = opening("wine", "fa")
    assert max(parts.numbers(factors, data_of(factors))) == 10, "fewer than 13 columns"
    kmeans = sane(replace(Scenario(), model="kmeans"))
    assert min(parts.numbers(kmeans, data_of(kmeans))) == 2


def test_only_a_model_with_a_choice_has_the_dial() -> None:
    link = {"third": PARTS, "dial": PARTS}
    assert from_query(link, {"three_groups"}).beside == PARTS
    one_piece = from_query({**link, "model": "covariance"}, {"three_groups"})
    assert PARTS not in (one_piece.third, one_piece.dial)
