"""Dials beside epsilon: every stop is the fit of that setting, and a link keeps which one moved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from app_pages import at_once, data_of

import dpcore as dp
from app import compute
from app.explore_scene import scene_of, swept_picture
from app.result_store import ResultStore
from app.scenario import Scenario, from_query, misread, opening, sane
from app.sweeps import CLIPS, DELTAS, Sliding, by_noise, done, hand_over, sliding, swept
from app.tables import some_rows
from app.texts import explore as texts
from dpcore.datasets.catalogue import bundled
from dpcore.datasets.load import load
from dpcore.declaration import declaration, declarations
from dpcore.evaluation.study import Sweep, budget_grid, references, sweep
from dpcore.evaluation.yardstick import mapped, yardstick
from dpcore.figures.scene import Curve, Panel, Ring, Rule
from dpcore.figures.utility_curve import axis_of
from dpcore.wall.custodian import custodian_rows

SMALL = Scenario(data="generated", made="200x2x2x1", components=2, iterations=2)
GRADIENT = Scenario(data="two_clouds", model="symmetric-mixture")
PULLED = replace(SMALL, third="iterations")
STEPPED = replace(GRADIENT, third="step_size")
FEW = {
    "delta": (1e-9, 1e-5, 0.01),
    "clip": (0.3, 0.6, 1.0),
    "threshold": (0.5, 2.0),
    "iterations": (1, 2, 4),
    "step_size": (0.5, 1.0),
    "rows_per_person": (1, 2),
}


def begin(scenario: Scenario, dial: str, store: ResultStore) -> tuple[Any, Sliding]:
    data = data_of(scenario)
    beside = {one.name: one for one in sliding(scenario, data, store)}
    return data, beside[dial]


def study(scenario: Scenario, dial: str, store: ResultStore) -> compute.Study:
    """The study of a dial at few stops, as the page finds it."""
    data, slide = begin(scenario, dial, store)
    slide = replace(slide, stops=FEW[dial])
    known = compute.references_of(scenario.setting(data.secret), data, store)
    assert swept(scenario, data, store, slide, known) is None
    made_now(scenario, data, store, slide)
    found = swept(scenario, data, store, slide, known)
    assert found is not None
    return found


def made_now(scenario: Scenario, data: Any, store: ResultStore, slide: Sliding) -> None:
    """What the background would do."""
    from app import sweeps

    later, sweeps.in_background = sweeps.in_background, at_once
    try:
        sweeps.work_out(scenario, data, store, slide)
    finally:
        sweeps.in_background = later


CASES = [
    (SMALL, "delta"),
    pytest.param(SMALL, "clip", marks=pytest.mark.full),
    pytest.param(PULLED, "iterations", marks=pytest.mark.merge),
    (replace(SMALL, third="rows_per_person"), "rows_per_person"),
    pytest.param(GRADIENT, "threshold", marks=pytest.mark.merge),
    pytest.param(GRADIENT, "delta", marks=pytest.mark.full),
    pytest.param(STEPPED, "step_size", marks=pytest.mark.full),
]


@pytest.mark.parametrize(("scenario", "dial"), CASES)
def test_every_stop_is_the_fit_of_that_setting(scenario: Scenario, dial: str) -> None:
    found = study(scenario, dial, ResultStore())
    data, slide = begin(scenario, dial, ResultStore())
    guarantees = set()
    for i, stop in enumerate(FEW[dial]):
        here = replace(scenario, **slide.put(stop, scenario))
        alone = compute.one_fit(here, data)
        said, taken = found.grid.guarantees[i], alone.guarantee
        assert (said.epsilon, said.delta) == (taken.epsilon, taken.delta)
        assert said.epsilon is not None
        guarantees.add((round(said.epsilon, 6), said.delta))
        exact = references(data.table, here.setting(), found.references.converged)
        assert found.held[i].clipped_utility == pytest.approx(exact.clipped_utility, rel=1e-9)
        assert found.held[i].own_steps_utility == pytest.approx(exact.own_steps_utility, rel=1e-9)
        again = compute.study(here, data, ResultStore())
        at = compute.with_extra_budget(again, here, data, ResultStore())
        bold = at[0].grid.utility[at[1], 0]
        assert found.grid.utility[i, 0] == pytest.approx(bold, rel=1e-9)
    assert len(guarantees) == (len(FEW[dial]) if dial == "delta" else 1)


def test_a_stop_hands_what_it_is_held_against_to_the_study_over_epsilon() -> None:
    store = ResultStore()
    data, slide = begin(SMALL, "clip", store)
    slide = replace(slide, stops=FEW["clip"])
    known = compute.references_of(SMALL.setting(), data, store)
    made_now(SMALL, data, store, slide)
    found = swept(SMALL, data, store, slide, known)
    here = replace(SMALL, **slide.put(0.6, SMALL))
    hand_over(here, data, store, (replace(slide, value=0.6),))
    assert compute.references_of(here.setting(), data, store) is found.held[1]
    for clip in (0.6, 0.45):  # handed over; made from those of another clipping
        setting = replace(SMALL, clip=clip).setting()
        held = compute.references_of(setting, data, store)
        anew = references(data.table, setting, known.converged, data.held_out)
        for name in ("own_steps_utility", "clipped_utility", "single_utility", "clipped_share"):
            assert getattr(held, name) == getattr(anew, name), name


@pytest.mark.parametrize("dial", ["clip", "delta", "rows_per_person"])
def test_the_fit_of_a_stop_is_not_made_again_when_the_dial_is_let_go(
    dial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study begins with it, and what the study would have fitted is the same."""
    store, scenario = ResultStore(), replace(SMALL, third=dial if dial == "rows_per_person" else "")
    data, slide = begin(scenario, dial, store)
    slide = replace(slide, stops=FEW[dial])
    made_now(scenario, data, store, slide)
    stop = FEW[dial][1]
    here, moved = replace(scenario, **slide.put(stop, scenario)), replace(slide, value=stop)
    monkeypatch.setattr(compute, "in_background", lambda *_: None)
    anew = compute.study(here, data, ResultStore()).grid
    monkeypatch.setattr(compute, "budget_grid", lambda *_: pytest.fail("it was fitted again"))
    hand_over(here, data, store, (moved,))
    begun = compute.study(here, data, store).grid
    assert compute.coming(begun) == compute.coming(anew)
    at = anew.epsilons.index(here.epsilon)
    assert begun.utility[at] == pytest.approx(anew.utility[at], rel=1e-12)
    assert begun.guarantees[at] == anew.guarantees[at]


def test_a_sweep_is_shown_as_far_as_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stop that a hand is on, then the dial's own, then five over the whole range."""
    from app import sweeps

    store, waited = ResultStore(), []
    data, slide = begin(SMALL, "clip", store)
    known = compute.references_of(SMALL.setting(data.secret), data, store)

    def some(store: ResultStore, key: Any, work: Any) -> None:
        for _ in range(3):
            store.waiting.clear()  # the page closes after each part
            waited.append(swept(SMALL, data, store, slide, known))
            work()

    monkeypatch.setattr(sweeps, "in_background", some)
    sweeps.work_out(SMALL, data, store, slide, wanted=0.35)
    sweeps.work_out(SMALL, data, store, slide)
    assert waited[:5] == [None] * 5
    found = waited[5]
    assert not found.complete
    assert not done(SMALL, data, store, slide)
    there = [stop for stop in found.grid.stops if stop not in compute.coming(found.grid)]
    assert there == [0.1, 0.325, 0.35, 0.55, 1.0]
    scene = swept_picture(SMALL, data, slide, found)
    exact, private, curve = scene.panels
    near = {stop: slide.stops[at] for stop, at in zip(slide.stops, private.nearest, strict=True)}
    assert near.items() >= {0.15: 0.1, 0.25: 0.325, 0.35: 0.35, 0.4: 0.35, 0.9: 1.0}.items()
    assert private.subtitle[12].endswith(" = 0.35")
    assert scene.live_text["sentence"][12] == texts.COMING
    assert exact.subtitle[12] == "sees everyone", "what clipping takes there is not known yet"
    drawn = [layer for layer in curve.layers if isinstance(layer, Curve)]
    assert {len(layer.x) for layer in drawn} == {5}


def test_the_bold_fits_of_all_stops_come_before_their_other_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the first are held against is not made a second time."""
    from app import sweeps

    store, made, sweep = ResultStore(), list[tuple[int, bool]](), sweeps.sweep

    def counted(*words: Any) -> Any:
        made.append((len(words[6]), words[8] is not None))
        return sweep(*words)

    monkeypatch.setattr(sweeps, "sweep", counted)
    data, slide = begin(SMALL, "clip", store)
    slide = replace(slide, stops=FEW["clip"])
    known = compute.references_of(SMALL.setting(data.secret), data, store)
    made_now(SMALL, data, store, slide)
    count = len(slide.stops)
    assert made == [(1, False)] * count + [(compute.DRAWS, True)] * count
    whole = swept(SMALL, data, store, slide, known)
    assert whole.complete
    alone = sweep(
        data.table, SMALL.setting(data.secret), known, SMALL.epsilon, "clip", slide.stops, (0,)
    )
    assert whole.held == alone.references
    np.testing.assert_allclose(whole.grid.utility[:, :1], alone.grid.utility, rtol=1e-12)


def test_less_clipping_noise_and_more_delta_need_less_noise() -> None:
    by_delta = study(SMALL, "delta", ResultStore()).grid.noise
    assert np.all(np.diff(by_delta) < 0.0)
    by_clip = study(SMALL, "clip", ResultStore())
    assert len(set(by_clip.grid.noise)) == 1  # the same multiplier of a smaller sensitivity
    shares = [known.clipped_share for known in by_clip.held]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[-1] == 0.0


def test_a_dial_whose_stops_cannot_be_worked_out_says_why_and_slides_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from app import sweeps

    def refuses(*_: Any) -> None:
        raise dp.InputError("clip", "it leaves nothing", "choose another")

    store = ResultStore()
    data, slide = begin(SMALL, "clip", store)
    known = compute.references_of(SMALL.setting(data.secret), data, store)
    assert not done(SMALL, data, store, slide)
    monkeypatch.setattr(sweeps, "sweep", refuses)
    made_now(SMALL, data, store, slide)
    assert done(SMALL, data, store, slide)
    assert swept(SMALL, data, store, slide, known) is None
    _, slide = begin(SMALL, "clip", store)
    assert slide.why_not == "clip: it leaves nothing; choose another."


def test_where_nothing_is_fitted_the_words_of_the_curve_say_so() -> None:
    store = ResultStore()
    data = data_of(SMALL)
    whole = compute.study(SMALL, data, store)
    one = whole.grid.taken([20])
    part = one.among(whole.grid.stops, texts.COMING).filled(one)
    scene = scene_of(SMALL, data, replace(whole, grid=part), len(part.stops))
    curve = next(panel for panel in scene.panels if panel.id == "curve")
    assert not any("nan" in text for text in curve.alt)
    assert "there is no private fit" in curve.alt[0]
    assert "for the median private fit" in curve.alt[20]


def test_a_typed_value_is_one_more_stop() -> None:
    typed = replace(SMALL, clip=0.77, dial="clip")
    store = ResultStore()
    found = study(typed, "clip", store)
    assert found.grid.stops == (*FEW["clip"], 0.77)
    data, slide = begin(typed, "clip", store)
    scene = swept_picture(typed, data, replace(slide, stops=FEW["clip"]), found)
    assert (scene.step, scene.step_labels[scene.step], scene.positions) == (3, "0.77", (0, 1, 2))
    assert replace(slide, value=0.6).typed is False


def test_the_curve_is_against_the_dial_and_says_what_the_others_are() -> None:
    store = ResultStore()
    curve, exact = {}, {}
    for dial in ("delta", "clip"):
        found = study(SMALL, dial, store)
        data, slide = begin(SMALL, dial, store)
        scene = swept_picture(SMALL, data, replace(slide, stops=FEW[dial]), found)
        panels = {panel.id: panel for panel in scene.panels}
        curve[dial], exact[dial] = panels["curve"], panels["exact"]
        assert len(scene.live_text["guarantee"]) == len(scene.live_text["lost noise"]) == 3
        assert len(set(scene.live_text["guarantee"])) == (3 if dial == "delta" else 1)
    assert curve["delta"].title == "What each δ buys in-sample"
    assert curve["delta"].x.label == "δ (ε = 1.00)"
    assert curve["clip"].x.label == "clipping norm, as a share of the limits (ε = 1.00, δ = 10⁻⁵)"
    assert clipped(curve["delta"], Rule)
    assert clipped(curve["clip"], Curve)
    (ring,) = [layer for layer in exact["clip"].layers if isinstance(layer, Ring)]
    np.testing.assert_allclose(ring.factor, FEW["clip"])
    assert len(set(exact["clip"].subtitle)) > 1


def clipped(panel: Panel, kind: type) -> bool:
    """Whether the reference with clipping and without noise is drawn so."""
    return drawn(panel, kind, "same algorithm, clipping but no noise")


def drawn(panel: Panel, kind: type, label: str) -> bool:
    """Whether a panel has something of a kind with such a label."""
    return any(isinstance(one, kind) and one.label in (label, (label,)) for one in panel.layers)


def test_a_model_that_clips_no_rows_is_not_called_clipped() -> None:
    scenario = opening("rare_person_50x", "limits")
    store = ResultStore()
    found = study(scenario, "delta", store)
    data, slide = begin(scenario, "delta", store)
    scene = swept_picture(scenario, data, replace(slide, stops=FEW["delta"]), found)
    (curve,) = [panel for panel in scene.panels if panel.id == "curve"]
    assert drawn(curve, Rule, "same algorithm, no noise")
    assert not clipped(curve, Rule)


def test_delta_is_marked_at_one_over_the_rows() -> None:
    store = ResultStore()
    found = study(SMALL, "delta", store)
    data, slide = begin(SMALL, "delta", store)
    scene = swept_picture(SMALL, data, replace(slide, stops=FEW["delta"]), found)
    marks = [layer for layer in scene.panels[-1].layers if type(layer).__name__ == "Mark"]
    assert [(mark.x, mark.label) for mark in marks] == [(200**-2.0, "1/n²"), (1 / 200, "1/n")]


def test_which_dials_slide() -> None:
    store = ResultStore()

    def names(scenario: Scenario) -> dict[str, bool]:
        found = sliding(sane(scenario), data_of(scenario), store)
        return {dial.name: not dial.why_not for dial in found}

    assert names(SMALL) == {"delta": True, "clip": True}
    assert names(GRADIENT) == {"delta": True, "threshold": True}
    assert names(PULLED) == {"delta": True, "iterations": True}
    assert names(STEPPED) == {"delta": True, "step_size": True}
    lloyd = replace(SMALL, model="kmeans", method="dplloyd", count_by="linear")
    assert names(lloyd) == {"delta": False, "clip": True}
    assert names(replace(lloyd, count_by="zcdp"))["delta"]


def test_stops_hold_the_openings() -> None:
    assert (DELTAS[0], DELTAS[-1], len(DELTAS)) == (1e-12, 0.01, 41)
    assert (CLIPS[0], CLIPS[-1], len(CLIPS)) == (0.1, 1.0, 37)
    for every in (1, 2, 4):  # the fewer, the dearer a fit is
        assert (DELTAS[::every][-1], CLIPS[::every][-1]) == (0.01, 1.0)
        assert {1e-5, 1e-6, 1e-7} <= set(DELTAS[::every])
    _, dial = begin(GRADIENT, "threshold", ResultStore())
    assert not dial.typed
    assert dial.stops[0] < dial.value < dial.stops[-1]


def test_noise_multipliers_are_the_budgets_seen_from_another_side() -> None:
    store, scenario = ResultStore(), replace(SMALL, third="noise_multiplier", epsilon=1.0)
    data, slide = begin(scenario, "noise_multiplier", store)
    assert slide.stops == tuple(sorted(slide.stops))
    assert slide.budgets == tuple(sorted(slide.budgets, reverse=True))  # more noise, less epsilon
    assert slide.put(slide.stops[3], scenario)["epsilon"] == slide.budgets[3]
    grid, at = compute.with_extra_budget(
        compute.study(scenario, data, store), scenario, data, store
    )
    shown = by_noise(grid, slide)
    assert slide.value == pytest.approx(grid.grid.noise[at], rel=1e-12)
    for place, epsilon in enumerate(slide.budgets):
        before = grid.grid.epsilons.index(epsilon)
        assert slide.stops[place] == pytest.approx(grid.grid.noise[before], rel=1e-12)
        np.testing.assert_array_equal(shown.grid.utility[place], grid.grid.utility[before])
        assert shown.grid.guarantees[place] == grid.grid.guarantees[before]
    assert set(shown.curves.methods) == set(grid.curves.methods)
    for name, says in shown.curves.says.items():  # the same fit, whoever composes it
        np.testing.assert_array_equal(
            shown.curves.methods[name], np.median(shown.grid.utility, axis=1)
        )
        places = [grid.grid.epsilons.index(epsilon) for epsilon in slide.budgets]
        np.testing.assert_array_equal(says[: len(places)], grid.curves.says[name][places])


def test_fewer_rows_are_among_more_and_fitted_alone() -> None:
    """The exact fit and the rows that judge stay; a stop is the fit of so many rows."""
    store, scenario = ResultStore(), replace(Scenario(), third="fitted_rows", iterations=2)
    data, slide = begin(scenario, "fitted_rows", store)
    assert slide.stops[-1] == data.rows == slide.value
    few, more = (some_rows(data, rows, store) for rows in (500, 1500))
    assert (few.rows, more.rows, few.every) == (500, 1500, data)
    small, large = (set(map(tuple, custodian_rows(part.table)[1])) for part in (few, more))
    assert small < large
    here = replace(scenario, **slide.put(slide.stops[-3], scenario))
    assert here.fitted_rows == slide.stops[-3]
    assert replace(scenario, **slide.put(slide.stops[-1], scenario)).fitted_rows == 0  # all of them
    fewer = data_of(here)
    assert fewer.rows == here.fitted_rows
    assert fewer.held_out is data.held_out
    setting = here.setting(fewer.secret)
    assert (
        compute.references_of(setting, fewer, store).converged
        is compute.references_of(setting, data, store).converged
    )
    slide = replace(slide, stops=(here.fitted_rows,))
    known = compute.references_of(setting, data, store)
    made_now(scenario, data, store, slide)
    found = swept(scenario, data, store, slide, known)
    alone = budget_grid(fewer.table, setting, known.converged, (here.epsilon,), (0,), data.held_out)
    np.testing.assert_allclose(found.grid.fits.means[0, 0], alone.fits.means[0, 0], rtol=1e-9)
    assert found.grid.utility[0, 0] == pytest.approx(alone.utility[0, 0], rel=1e-9)


def test_without_rows_held_out_the_number_of_rows_does_not_slide() -> None:
    """Fits of fewer rows would be judged on rows that they saw."""
    _, slide = begin(replace(SMALL, third="fitted_rows"), "fitted_rows", ResultStore())
    assert slide.why_not


def test_a_model_s_own_rows_are_not_the_number_that_is_fitted() -> None:
    scenario = Scenario(data="two_lines", model="mixture-regression", method="robust_means")
    assert "rows" in scenario.offered()
    assert "fitted_rows" in scenario.pulled()
    assert set(scenario.with_value("rows", 500)) == {"words"}
    assert scenario.with_value("fitted_rows", 500) == {"fitted_rows": 500}


def test_a_link_with_the_old_word_for_the_fitted_rows_still_opens() -> None:
    names = {"three_groups": None}
    for old in ({"rows": "900", "third": "rows", "dial": "rows"}, {"rows": "900"}):
        today = {old_word.replace("rows", "fitted_rows"): text for old_word, text in old.items()}
        today |= {name: "fitted_rows" for name in ("third", "dial") if name in old}
        assert from_query(old, names) == from_query(today, names)
        assert from_query(old, names).fitted_rows == 900
        assert misread(old, names) == ()
    pinned = from_query({"pins": "|rows=900"}, names)
    assert pinned.pinned["A"].fitted_rows == 900


def test_a_link_keeps_the_dial_and_a_model_without_it_falls_back() -> None:
    names = {SMALL.data: None}
    link = replace(SMALL, dial="clip", clip=0.5).as_query()
    assert from_query(link, names).dial == "clip"
    assert from_query({"dial": "nonsense"}, names).dial == "epsilon"
    assert sane(replace(GRADIENT, dial="clip")).dial == "epsilon"
    assert sane(replace(GRADIENT, dial="threshold")).dial == "threshold"


def test_any_option_that_slides_can_stand_in_the_third_place_and_in_the_link() -> None:
    for model in declarations():
        first = opening("few_bars") if declaration(model).reads == "documents" else SMALL
        usual = sane(replace(first, model=model, method="recommended"))
        for name in usual.slides():
            pulled = sane(replace(usual, third=name, dial=name))
            assert (pulled.beside, pulled.dial) == (name, name)
            assert from_query(pulled.as_query(), {first.data: None}) == pulled
            assert len(pulled.slides()[name].stops or "ab") > 1
            assert axis_of(model, name).title.startswith("What each ")
        assert sane(replace(usual, third="start")).third == ""
    assert sane(replace(PULLED, model="gmm-release", dial="iterations")).dial == "epsilon"


@pytest.mark.parametrize(
    ("model", "data"), [(t.models[0], t.name) for t in bundled() if t.rows < 500]
)
def test_what_slides_leaves_the_exact_fit_as_it_is(model: str, data: str) -> None:
    """Else the exact panel, which stands still, would show another fit than the curve's."""
    scenario, judge = opening(data, model), yardstick(model)
    table = load(f"bundled:{data}")
    for name in scenario.slides():
        near = scenario.slides()[name].stops or (scenario.middle(name, 2),)
        fits = [
            judge.converged(table, scenario.components, here.options())
            for here in (scenario.setting(), scenario.setting().at(name, near[0]))
        ]
        mapped(fits[0], lambda one, other: np.testing.assert_array_equal(one, other), fits[1])


def test_a_stop_out_of_reach_says_why() -> None:
    """The published advanced composition has no answer at a small delta."""
    data, setting = data_of(SMALL), replace(SMALL.setting(), mode="paper", accountant="advanced")
    known = references(data.table, setting)
    found: Sweep = sweep(data.table, setting, known, 0.01, "delta", (1e-300, 1e-5))
    assert [why is None for why in found.grid.refusals] == [
        bool(np.isfinite(one)) for one in found.grid.noise
    ]
