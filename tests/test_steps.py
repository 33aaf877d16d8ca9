"""Step by step: the last step is the fit, the walk is the steps', and the dialog says what is left
out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from app_pages import data_of

import dpcore as dp
from app import compute, steps
from app.result_store import ResultStore
from app.scenario import Scenario, opening, sane
from app.steps import AS_PUBLISHED, scene_of, walks
from app.tables import badge
from app.texts import explore as texts
from dpcore.accounting import compose
from dpcore.errors import WallError
from dpcore.evaluation.steps import clipped_in_steps, spending, walk
from dpcore.evaluation.study import Setting, budget_grid, fitted, references
from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.figures.layers import Columns
from dpcore.figures.plotly import scene_figure
from dpcore.figures.scene import Ellipses, Scene
from dpcore.figures.steps import steps_scene
from dpcore.models.gaussian_mixture.private import MARGIN
from dpcore.privacy import Gaussian, Ledger
from dpcore.privacy.guarantee import show
from dpcore.privacy.ledger import LedgerEntry
from dpcore.privacy.sampled_entry import SampledEntry
from dpcore.wall.session import Session
from dpcore.wall.statistics import InBalls, InFrame, InGroups


@pytest.mark.parametrize("model", ["gmm", "kmeans"])
def test_the_last_step_is_what_the_study_draws(model: str) -> None:
    table, setting = dp.load("bundled:three_groups"), Setting(model, iterations=4, seed=7)
    found = walk(table, setting, 0.7, range(3))
    assert found.shape == (4, 3)
    known = references(table, setting)
    grid = budget_grid(table, setting, known.converged, (0.7,), range(3))
    np.testing.assert_allclose(found[-1], grid.utility[0])
    plain = walk(table, setting, None, (0,))
    assert plain[-1, 0] == pytest.approx(known.clipped_utility)
    assert plain[0, 0] < plain[-1, 0]


def test_every_method_that_takes_steps_is_there_the_chosen_one_first() -> None:
    scenario = opening("two_clouds")
    data = data_of(scenario)
    found = walks(scenario, data, ResultStore())
    assert next(iter(found.walked)) == "Recommended"
    assert {f"Robust means{AS_PUBLISHED}", f"Clipping at 1{AS_PUBLISHED}"} < set(found.walked)
    assert all(one.shape == (scenario.iterations, 13) for one in found.walked.values())
    assert len(found.plain) == scenario.iterations
    scene = scene_of(found, scenario, data, ResultStore())
    assert [panel.id for panel in scene.panels[:3]] == ["plain", "private", "steps"]
    assert scene.panels[2].y.label == "distance from exact"
    low, high = scene.panels[2].y.range
    assert low < 0.0 < high  # the exact fit is at no distance
    names = {trace.name for trace in scene_figure(scene).data}
    assert set(found.walked) <= names


@pytest.mark.merge
def test_a_model_that_reads_the_data_once_has_no_steps() -> None:
    scenario = opening("faces_like")
    table = data_of(scenario)
    found = walks(scenario, table, ResultStore())
    assert not found.walked
    assert not found.plain.size


def test_classes_are_shown_after_each_release_of_their_moments() -> None:
    """As many steps as the ledger names, which nobody can change; the last one is the study's."""
    scenario, store = opening("five_parties"), ResultStore()
    data = data_of(scenario)
    found = walks(scenario, data, store)
    utility = found.walked["Recommended"]
    assert utility.shape == (len(found.spent.so_far), compute.draws_of(scenario)) == (6, 13)
    study = compute.study(scenario, data, store)
    at = study.grid.epsilons.index(scenario.epsilon)
    np.testing.assert_allclose(utility[-1], study.grid.utility[at], rtol=1e-3, atol=1e-3)
    assert np.median(utility[-1]) > np.median(utility[0])
    assert not scenario.steps
    scene = scene_of(found, scenario, data, store)
    assert [panel.id for panel in scene.panels[:3]] == ["plain", "private", "steps"]
    (columns,) = (layer for layer in scene.panels[-1].layers if isinstance(layer, Columns))
    assert not columns.pick


def test_rows_of_a_class_are_clipped_in_its_own_frame_of_each_step() -> None:
    scenario = opening("five_parties")
    data = data_of(scenario)
    setting = scenario.setting()
    frames = fitted(data.table, setting, [setting.request(1.0)], (0,)).runs.clipping
    shares = clipped_in_steps(data.table, setting, 1.0)
    scorer: Any = scorer_of(scenario.model, data.table, setting.options())
    for share, frame in zip(shares, frames, strict=True):
        away = np.einsum(
            "nij,nj->ni",
            frame.matrix[0][scorer.codes],
            scorer.rows - frame.center[0][scorer.codes],
        )
        assert share == pytest.approx(np.mean(np.linalg.norm(away, axis=1) > 1.0))
    assert 0.0 < shares[0] < max(shares) < 1.0


def test_a_method_that_cannot_meet_the_budget_says_why() -> None:
    scenario = Scenario(delta=1e-12, count_by="ma", epsilon=0.05, method="dpem_gaussian")
    data = data_of(scenario)
    found = walks(scenario, data, ResultStore())
    assert set(found.refused) >= {wording.WAY_GAUSSIAN + AS_PUBLISHED}
    assert all("." in reason for reason in found.refused.values())


@pytest.mark.parametrize(("shown", "worn"), [(True, "custodian only"), (False, "stand-in")])
def test_of_an_upload_the_picture_wears_its_badge(
    monkeypatch: pytest.MonkeyPatch, shown: bool, worn: str
) -> None:
    monkeypatch.setattr("app.upload.shown", lambda: shown)
    scenario, store = opening("two_clouds"), ResultStore()
    data = data_of(scenario)
    found = walks(scenario, data, store)
    assert badge(data) == ""
    own = replace(data, provenance="upload")
    assert worn in badge(own)
    panels = {panel.id: panel for panel in scene_of(found, scenario, own, store).panels}
    assert str(panels["steps"].subtitle).endswith(badge(own))
    assert str(panels["plain"].subtitle).endswith(badge(own))


def test_methods_that_protect_another_change_are_left_out_and_named() -> None:
    scenario = replace(opening("two_clouds"), adjacency="add_remove")
    data = data_of(scenario)
    found = walks(scenario, data, ResultStore())
    assert set(found.walked) == {"Recommended", "Robust means, all rows in every step"}
    published = {f"Robust means{AS_PUBLISHED}", f"Clipping at 1{AS_PUBLISHED}"}
    assert set(found.refused) == published | {"Local model, noise from each person"}
    assert all("replacing one" in found.refused[method] for method in published)


def test_the_panels_show_the_fit_after_each_step_and_a_film_plays_them() -> None:
    scenario, store = replace(Scenario(), iterations=3, epsilon=0.7), ResultStore()
    data = data_of(scenario)
    found = walks(scenario, data, store)
    known = compute.references_of(scenario.setting(data.secret), data, store)
    setting = scenario.setting(data.secret)
    grid = budget_grid(data.table, setting, known.converged, (0.7,), (0,))
    plain, private = found.fits
    np.testing.assert_allclose(private.means[-1, 0], grid.fits.means[0, 0])
    assert not np.allclose(plain.means[-1], private.means[-1])
    scene = scene_of(found, scenario, data, store)
    assert scene.steps == (1.0, 2.0, 3.0)
    assert scene.step == 2
    panels = {panel.id: panel for panel in scene.panels}
    assert [panels[name].film for name in ("plain", "private")] == [False, True]
    drawn = [one for one in panels["private"].layers if isinstance(one, Ellipses)][-1]
    assert np.asarray(drawn.params).shape[0] == 3
    hidden = replace(scenario, hide="exact")
    assert "plain" not in {panel.id for panel in scene_of(found, hidden, data, store).panels}


@pytest.mark.parametrize(
    ("table", "words"), [("two_lines", "pressure (change in mmHg)"), ("missing_answers", "pay ")]
)
def test_regressions_are_drawn_after_each_step(table: str, words: str) -> None:
    """On one column, lines through rows and targets; on several, a slope for each."""
    scenario, store = replace(opening(table), iterations=3), ResultStore()
    data = data_of(scenario)
    panels = {
        one.id: one for one in scene_of(walks(scenario, data, store), scenario, data, store).panels
    }
    for name in ("plain", "private"):
        assert len(panels[name].alt) == 3
        assert all(words in alt for alt in panels[name].alt)


def test_the_band_holds_eight_of_ten_draws() -> None:
    draws = np.tile(np.linspace(0.0, 1.0, 101), (3, 1))
    scene = steps_scene(
        {"one": draws}, np.ones(3), utility="u", best=1.0, least=0.0, subtitle="8 of 10"
    )
    (band,) = (layer for layer in scene.panels[0].layers if getattr(layer, "lo", None) is not None)
    np.testing.assert_allclose([band.lo, band.hi], [[0.1] * 3, [0.9] * 3])


@pytest.mark.parametrize(
    ("data", "choices"),
    [
        ("three_groups", {"iterations": 4}),
        ("three_groups", {"iterations": 3, "method": "dpem_gaussian", "count_by": "zcdp"}),
        ("two_clouds", {"iterations": 3}),
    ],
)
def test_what_the_steps_spend_adds_up_to_the_fit(data: str, choices: dict[str, Any]) -> None:
    scenario = sane(replace(opening(data), **choices))
    table = data_of(scenario)
    ledger = compute.one_fit(scenario, table).ledger
    found = spending(ledger, scenario.count_by, scenario.delta)
    assert len(found.so_far) == scenario.iterations
    whole = compose(ledger.events, scenario.count_by, delta=scenario.delta).epsilon
    assert found.so_far[-1] == pytest.approx(float(whole))
    assert np.all(np.diff(found.so_far) > 0.0)
    assert np.all(found.alone[1:] < found.so_far[1:])
    assert found.alone[0] == found.so_far[0]
    other = spending(ledger, scenario.count_by, scenario.delta, ("linear",))
    np.testing.assert_allclose(
        other.others["linear"][0], compose(_first(ledger), "linear", delta=scenario.delta).epsilon
    )
    noises = [e.mechanism.noise_multiplier for e in ledger.events if type(e.mechanism) is Gaussian]
    assert [one for step in found.noise for one in step] == pytest.approx(noises)


def _first(ledger: Ledger) -> list[Any]:
    """The events up to the end of the first step."""
    names = [entry.what for entry in ledger]
    second = next(i for i, name in enumerate(names) if re.match(r"(iteration|step) 2:", name))
    return list(ledger.events[:second])


@pytest.mark.parametrize("whats", [("sums",), ("iterations 1 to 3: gradients",)])
def test_a_ledger_that_names_no_steps_has_none(whats: tuple[str, ...]) -> None:
    entries = (LedgerEntry(what, "gaussian", 3.0, 1.0, "replace_one", "a lemma") for what in whats)
    assert spending(Ledger(tuple(entries)), "exact", 1e-5) is None


def test_steps_on_samples_are_left_out() -> None:
    entry = LedgerEntry("iteration 1: moments", "gaussian", 3.0, 1.0, "replace_one", "a lemma")
    sampled = SampledEntry.of(entry, "poisson", 0.1)
    assert spending(Ledger((sampled,)), "exact", 1e-5) is None
    assert spending(Ledger((entry,)), "exact", 1e-5) is not None


def strip_of(scenario: Scenario) -> tuple[Scene, Columns]:
    data = data_of(scenario)
    scene = scene_of(walks(scenario, data, ResultStore()), scenario, data, ResultStore())
    (columns,) = (one for one in scene.panels[-1].layers if isinstance(one, Columns))
    return scene, columns


def test_the_strip_says_what_each_step_spends_and_is_worth() -> None:
    scenario = replace(opening("two_clouds"), iterations=3)
    scene, columns = strip_of(scenario)
    data = data_of(scenario)
    found = walks(scenario, data, ResultStore())
    np.testing.assert_allclose(columns.values, found.spent.so_far)
    for step, told in enumerate(columns.names):
        error = -float(np.median(found.walked["Recommended"][step]))  # a study turns what falls
        for number in (*found.spent.noise[step], found.spent.alone[step], error):
            assert show(float(number)).replace("-", "−") in told
        assert f"{found.clipped[step]:.1%} of rows clipped" in told
        assert all(show(number) in told for number in found.spent.sensitivity[step])
        assert told.endswith("Click to stop here.")
    assert columns.pick == "stop"
    assert scene.panels[-1].alt == " ".join(columns.names)
    assert scene_figure(scene).data


@pytest.mark.parametrize(
    ("data", "choices"),
    [
        ("three_groups", {"iterations": 2}),
        ("three_groups", {"iterations": 2, "method": "dpem_gaussian", "clip": 0.5}),
        ("three_groups", {"iterations": 2, "model": "kmeans"}),
        ("two_clouds", {"iterations": 2}),
    ],
)
def test_the_share_clipped_is_that_of_what_each_step_asks(
    monkeypatch: pytest.MonkeyPatch, data: str, choices: dict[str, Any]
) -> None:
    scenario = sane(replace(opening(data), **choices))
    sealed = data_of(scenario)
    setting, asked = scenario.setting(), []
    release = Session.release

    def heard(session: Any, what: str, statistic: Any, of: Any, *others: Any) -> Any:
        if what.startswith("iteration"):
            asked.append(of)
        return release(session, what, statistic, of, *others)

    monkeypatch.setattr(Session, "release", heard)
    found = clipped_in_steps(sealed.table, setting, 0.7)
    assert len(found) == len(asked) == 2
    scorer = scorer_of(setting.model, sealed.table, setting.options())
    for share, of in zip(found, asked, strict=True):
        if isinstance(of, InFrame):
            drawn = of.frame.apply(scorer.rows)[0]
            moved = of.frame.matrix[0] @ (scorer.rows - of.frame.center[0]).T
            assert share == pytest.approx(np.mean(~np.isclose(drawn, moved).all(axis=0)))
        elif isinstance(of, InGroups):
            rows = scorer.rows - of.center[0][:, None]
            away = np.linalg.norm(np.einsum("kij,knj->kni", of.matrix[0], rows), axis=2)
            radius = 2.0**0.5 + MARGIN
            assert share == pytest.approx(np.mean(away.min(axis=0) > radius * (1.0 + 1e-9)))
        elif isinstance(of, InBalls):
            away = np.linalg.norm(scorer.rows - of.middle[0], axis=1)
            assert share == pytest.approx(np.mean(away > of.radius[0] * (1.0 + 1e-9)))
        else:
            vectors: Any = scorer
            lengths = np.linalg.norm(of.step(vectors.vectors, slice(0, 1))[0], axis=0)
            assert share == pytest.approx(np.mean(lengths > 1.0))


def test_what_steps_clip_follows_the_threshold_and_is_for_the_custodian_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = replace(opening("two_clouds"), iterations=2)
    sealed = data_of(scenario)
    shares = [
        clipped_in_steps(sealed.table, scenario.setting().at("threshold", threshold), 0.7)
        for threshold in (1e-6, 1e6)
    ]
    np.testing.assert_array_equal(shares, [[1.0, 1.0], [0.0, 0.0]])
    softly = sane(replace(scenario, method="robust_means_exact"))
    assert clipped_in_steps(sealed.table, softly.setting(), 0.7) is None
    rows = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, (200, 2)), columns=["a", "b"])
    own = dp.load(rows, schema=dp.Schema.from_bounds({"a": (-1, 1), "b": (-1, 1)}))
    mixture = Setting("gmm", components=2, iterations=2)
    shares_of_own = clipped_in_steps(own, mixture, 0.7)
    assert len(shares_of_own) == 2
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    with pytest.raises(WallError):
        clipped_in_steps(own, mixture, 0.7)


@pytest.mark.parametrize(
    ("data", "choices"),
    [
        pytest.param("help_texts", {"iterations": 2}, marks=pytest.mark.merge),
        ("lit_windows", {"iterations": 2}),
        ("who_comes_back", {"method": "dpvi", "words": "rate:1;iterations:2"}),
    ],
)
def test_vectors_that_depend_on_the_fit_are_clipped_anew_in_each_step(
    data: str, choices: dict[str, Any]
) -> None:
    scenario = sane(replace(opening(data), **choices))
    sealed = data_of(scenario)
    judge, setting = yardstick(scenario.model), scenario.setting()
    grid = fitted(sealed.table, setting, [setting.request(1.0)], (0,))
    assert len(grid.runs.clipping) == len(grid.runs.history)
    scorer = scorer_of(scenario.model, sealed.table, setting.options())
    none, some, most = (
        judge.clipped_in_steps(grid.runs.clipping, grid.settings, clip, scorer)
        for clip in (1.0, 0.3, 0.01)
    )
    if scenario.model == "logistic":  # whose threshold is a share of the reach of a whole row
        assert 0.0 < none.min() < none.max() < 1.0
    else:
        np.testing.assert_array_equal(none, 0.0)
        assert np.all(some <= most)
        assert np.all(most > 0.9)


def test_the_strip_of_an_upload_wears_its_badge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.upload.shown", lambda: True)
    monkeypatch.setattr("app.steps.in_background", lambda *job: job[-1]())
    scenario = replace(opening("two_clouds"), iterations=2)
    data = data_of(scenario)
    strip = steps.strip_of(scenario, replace(data, provenance="upload"), ResultStore())
    assert "custodian only" in str(strip.panels[0].subtitle)


def test_the_strip_under_the_curve_is_the_one_of_the_dialog_and_comes_behind_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario, store = replace(opening("two_clouds"), iterations=3), ResultStore()
    data = data_of(scenario)
    monkeypatch.setattr("app.steps.in_background", lambda *job: None)
    assert steps.strip_of(scenario, data, store) is None
    monkeypatch.setattr("app.steps.in_background", lambda *job: job[-1]())
    strip = steps.strip_of(scenario, data, store)
    (columns,) = (layer for layer in strip.panels[0].layers if isinstance(layer, Columns))
    np.testing.assert_allclose(columns.values, strip_of(scenario)[1].values)
    assert columns.pick == "stop"
    assert steps.strip_of(replace(scenario, x=1, y=0), data, ResultStore()) is not None
    once = Scenario(data="iris", model="covariance", components=1)
    table = data_of(once)
    assert steps.strip_of(once, table, ResultStore()) == texts.NO_STEPS
