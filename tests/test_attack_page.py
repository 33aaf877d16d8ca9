"""The Attack page: the attacker stays below what is proved, and sees more the larger epsilon."""

from __future__ import annotations

import math
import re
from concurrent.futures import wait
from dataclasses import fields, replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy
import wording
from app_pages import at_once, data_of
from scipy.optimize import brentq
from streamlit.testing.v1 import AppTest
from studio.answers import delta_of
from support import split_lanes

import dpcore as dp
from app import attacking, result_store
from app.scenario import Scenario, opening
from app.texts import attack as attack_texts
from app.texts.upload import TABLE_FIRST
from app.views import attack as attack_view
from dpcore.accounting import epsilon_of, mu_of
from dpcore.auditing.api import AUDITS
from dpcore.auditing.attack import ALARMS, Attack, Play, attack, play, unplayed
from dpcore.auditing.fits import Pair
from dpcore.errors import InputError
from dpcore.evaluation.metrics import loneliest_row
from dpcore.figures.attack import attack_scene, exhibit_scene
from dpcore.figures.scene import Bars, Scene
from dpcore.registry import EXHIBITS, load
from dpcore.schema import Ball, Column, Schema, numbers_of

PAGE = """
import streamlit as st
from app.frame import frame
from app.views.attack import page
st.set_page_config(layout="wide")
frame()
page()
"""
EPSILONS = (0.5, 2.0, 8.0)
SLOW = ("noise-that-reads", "one-sided-noise")
RARE = Scenario(data="rare_person", components=2, iterations=3)


@pytest.fixture(autouse=True)
def nothing_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games are played to the end at once: nothing outlives a test."""
    monkeypatch.setattr(attacking, "in_background", at_once)


def played(adjacency: str, runs: int = 400, seed: int = 0, share_of: str = "worst") -> Attack:
    requests = [dp.Privacy(epsilon=e, delta=1e-5, adjacency=adjacency) for e in EPSILONS]
    if share_of == "worst":
        pair = load(AUDITS["gmm"]).tables(adjacency)
    else:
        table = dp.load("bundled:rare_person")
        pair = Pair(table.neighbour(loneliest_row(table), adjacency), table, "one row")
    return attack("gmm", pair, requests, runs, seed=seed, n_components=2, iterations=3)


@pytest.mark.parametrize("share_of", ["worst", "rare"])
@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
@split_lanes("seed", range(2), merge=1)
def test_no_attack_gets_above_what_is_proved(adjacency: str, seed: int, share_of: str) -> None:
    found = played(adjacency, seed=seed, share_of=share_of)
    proved = np.array([g.epsilon for g in found.guarantees], dtype=float)
    assert np.all(found.shown <= proved)
    slack = 5.0 / np.sqrt(400)
    assert np.all(found.hits <= found.ceiling + slack)
    assert np.all(found.rates <= found.best + slack)


def test_what_is_proved_of_guesses_is_a_bound_at_every_share_of_false_alarms() -> None:
    """The best share of false alarms lies between two of the curve's, where it is 96.005 in 100."""
    mu = 3.5025070499
    pair, request = (
        load(AUDITS["gmm"]).tables("replace_one"),
        dp.Privacy(epsilon=float(epsilon_of(1e-5, mu)), delta=1e-5),
    )
    before = unplayed("gmm", pair, [request], 20, n_components=2, iterations=3)
    right = scipy.stats.norm.cdf(mu / 2.0)
    assert before.best[0] == pytest.approx(right, abs=1e-9)
    assert 50.0 * np.max(before.ceiling[0] + 1.0 - ALARMS) <= 96.0 < 100.0 * right
    assert "right more than 97 times" in attacking._said(before, 0, "", "person")


def test_what_an_attack_shows_is_rounded_down() -> None:
    found = replace(played("replace_one", runs=20), shown=np.array([0.12999, 1.6666, 4.999]))
    alts = attack_scene(found, who="with that person", other="that person gone").panels[2].alt
    for alt, least in zip(alts, ("0.129", "1.66", "4.99"), strict=True):
        assert f"An attack shows at least {least};" in alt


@pytest.mark.merge
def test_the_worst_case_comes_near_the_ceiling_and_grows_with_the_budget() -> None:
    found = played("replace_one", runs=1000)
    assert np.all(np.diff(found.rates) > 0.0)
    assert found.shown[-1] > 0.4 * EPSILONS[-1]
    apart = found.along[:, 1].mean(axis=-1)
    assert np.all(np.diff(apart) > 0.0)
    across = found.across.mean(axis=-1)
    assert np.all(np.abs(across) < 5.0 / np.sqrt(1000)), "the other direction tells nothing"


def test_the_picture_says_what_was_found() -> None:
    found = played("replace_one", runs=60)
    scene = attack_scene(found, who="with that person", other="that person gone")
    assert [panel.id for panel in scene.panels] == ["clouds", "hits", "ruler"]
    assert len(scene.panels[0].alt) == len(EPSILONS)
    assert "at most 8.00" in scene.panels[2].alt[-1]
    for epsilon, alt in zip(EPSILONS, scene.panels[1].alt, strict=True):
        told = re.search(r"no attacker hits more than ([\d.]+)%", alt)
        most = 100.0 * scipy.stats.norm.sf(scipy.stats.norm.isf(0.05) - mu_of(epsilon, 1e-5))
        assert 0.0 <= float(told[1]) - most < 0.1, "a bound is rounded up"


def test_the_band_of_a_curve_holds_the_true_one() -> None:
    """Two normal clouds, two deviations apart, a hundred times; a quarter of the band does not."""
    rng, count, mu = np.random.default_rng(3), 300, 2.0
    truth = scipy.stats.norm.sf(scipy.stats.norm.isf(ALARMS) - mu)
    held = narrower = 0
    for _ in range(100):
        scores = rng.normal([[0.0], [mu]], 1.0, (2, count))
        levels = np.quantile(scores[0], 1.0 - ALARMS)
        hits = (scores[1] > levels[:, None]).mean(axis=1)
        found = Attack(
            (1.0,), np.zeros((1, 2, count)), np.zeros((1, 2, count)), ALARMS, hits[None],
            hits[None], np.array([0.9]), np.array([0.8]), np.array([0.5]), (),
        )  # fmt: skip
        low, high = found.band
        assert np.all(low <= hits)
        assert np.all(hits <= high)
        held += bool(np.all((low <= truth) & (truth <= high)))
        middle, half = (low + high) / 2.0, (high - low) / 8.0
        narrower += bool(np.all(np.abs(truth - middle) <= half))
    assert held >= 95
    assert narrower < 95


def test_the_page_opens_with_the_hardest_case_to_hide() -> None:
    assert next(iter(attack_texts.WHOSE)) == attacking.WORST


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.merge if one in SLOW else ()) for one in EXHIBITS],
)
def test_every_exhibit_is_refuted_and_can_be_drawn(name: str) -> None:
    shown = attacking.exhibit(name)
    assert shown.refuted, "an exhibit shows a claim that does not hold"
    author, year = attacking.titles()[name].partition(":")[0].split()
    assert author in shown.source
    assert year in shown.source
    assert shown.corrected <= shown.shown.delta * (1 + 1e-9) or shown.shown.delta == 0.0
    scene = exhibit_scene(shown)
    assert [panel.id for panel in scene.panels] == ["published", "corrected"]
    assert scene.as_dict()
    labels = [layer.label for panel in scene.panels for layer in panel.layers]  # type: ignore[union-attr]
    assert {*labels} == {"first table", "second table"}, "as the sentences call them"


@pytest.mark.merge
def test_the_page_plays_explains_and_refuses_in_a_sentence() -> None:
    at = AppTest.from_string(PAGE, default_timeout=300)
    at.session_state["scenario"] = RARE
    at.run()
    assert not at.exception
    at.selectbox(key="attack_whose").set_value(attacking.WORST).run()
    assert not at.exception
    at.selectbox(key="exhibit").set_value("centred-scatter").run()
    assert not at.exception
    assert any(wording.CASE_NOT_COVERED in str(one.value) for one in at.markdown)
    at.session_state["scenario"] = replace(RARE, delta=1e-12, count_by="ma", epsilon=0.01)
    at.run()
    assert not at.exception


@pytest.mark.parametrize("data", ["few_bars", "lit_windows"])
def test_models_that_take_long_name_the_command_instead(data: str) -> None:
    at = AppTest.from_string(PAGE, default_timeout=300)
    at.session_state["scenario"] = opening(data)
    at.run()
    assert not at.exception
    (refused,) = [str(one.value) for one in at.error]
    assert refused == str(InputError("model", *attack_texts.takes_long(opening(data).model)))
    assert not at.select_slider, "there is nothing to drag it for"


@pytest.mark.merge
def test_what_is_said_names_delta_and_who_is_protected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attacking, "AT_ONCE", 1.0)  # as few games as there are ever
    data = data_of(RARE)
    game = attacking.game(RARE, data, result_store.ResultStore(), attacking.FARTHEST, 0)
    shown = attacking.scene(game, RARE, data)
    one_row = attack_texts.one_row(data.unit)
    who = f"replacing one {data.unit}'s row"
    for epsilon, said in zip(attacking.EPSILONS, shown.live_text["attacked"], strict=True):
        assert said.startswith(f"{attack_texts.terms(epsilon, 1e-5, who)}, you are right"), said
        assert one_row not in said
    five = replace(RARE, rows_per_person=5)
    several = attacking.scene(
        attacking.game(five, data, result_store.ResultStore(), attacking.FARTHEST, 0), five, data
    )
    assert all(one_row in said for said in several.live_text["attacked"])


def test_made_up_tables_stand_in_for_whom_the_data_is_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attacking, "in_background", lambda *_: None)
    flowers = opening("iris")
    data = data_of(flowers)
    game = attacking.game(flowers, data, result_store.ResultStore(), attacking.WORST, 0)
    who = f"replacing one {data.unit}'s row"
    shown = attacking.scene(game, flowers, data).live_text["attacked"]
    for epsilon, said in zip(attacking.EPSILONS, shown, strict=True):
        assert said.startswith(attack_texts.terms(epsilon, flowers.delta, who)), said


def test_the_ceiling_is_said_of_this_noise_and_epsilon_alone_allows_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Gaussian noise: Phi(mu / 2); any mechanism of that epsilon: (e^eps + delta)/(1 + e^eps)."""
    data = data_of(RARE)
    monkeypatch.setattr(attacking, "in_background", lambda *_: None)
    game = attacking.game(RARE, data, result_store.ResultStore(), attacking.FARTHEST, 0)
    shown = attacking.scene(game, RARE, data).live_text["attacked"]
    for epsilon, said in zip(attacking.EPSILONS, shown, strict=True):
        mu = brentq(lambda m, e=epsilon: delta_of(m, e) - RARE.delta, 1e-3, 30.0)
        alone = (math.exp(epsilon) + RARE.delta) / (1.0 + math.exp(epsilon))
        best, allowed = math.ceil(100.0 * scipy.stats.norm.cdf(mu / 2.0)), round(100.0 * alone)
        assert best < allowed
        assert f"({attack_texts.bound(best, epsilon, allowed)})" in said
    assert f"({attack_texts.bound(72, 5.0, 99)})" in shown[attacking.EPSILONS.index(5.0)]


def test_the_same_attack_is_played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attacking, "in_background", lambda *_: None)
    data, store = data_of(RARE), result_store.ResultStore()
    first = attacking.game(RARE, data, store, attacking.FARTHEST, 0)
    again = attacking.game(replace(RARE, epsilon=3.0), data, store, attacking.FARTHEST, 0)
    assert again is first
    other = attacking.game(RARE, data, store, attacking.CHOSEN, 5)
    assert other is not first


def test_where_labels_alone_are_protected_the_tables_differ_in_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody is added or removed."""
    scenario = opening("iris", "gmm-release")
    assert scenario.adjacency == "label"
    monkeypatch.setattr(attacking, "in_background", lambda *_: None)
    game = attacking.game(
        scenario, data_of(scenario), result_store.ResultStore(), attacking.WORST, 0
    )
    shown = attacking.scene(game, scenario, data_of(scenario))
    assert "blue: another label · orange: this flower's label" in str(shown.panels[0].subtitle)
    assert (
        "with this flower's label and as many with another label" in shown.live_text["attacked"][0]
    )


@pytest.mark.merge
def test_what_is_proved_is_there_before_anything_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = data_of(RARE)
    monkeypatch.setattr(attacking, "in_background", lambda *_: None)
    game = attacking.game(RARE, data, result_store.ResultStore(), attacking.FARTHEST, 0, first=3)
    shown = attacking.scene(game, RARE, data)
    values, labels = bars(shown)
    assert np.isnan(values[:, 0]).all()
    assert {line[0] for line in labels} == {"the attack is running…"}
    assert values[:, 1] == pytest.approx(attacking.EPSILONS)
    who, other = f"this {data.unit}", f"another {data.unit}"
    running = attack_texts.running(game.runs, who, other, 0, len(attacking.EPSILONS))
    for said in shown.live_text["attacked"]:
        assert said.endswith(running)
        assert "you are right" not in said
    ceiling = game.attack.ceiling
    game.play_on(lambda: False)  # one budget, and somebody asks for something else
    assert list(np.flatnonzero(game.attack.played)) == [3]
    game.play_on(lambda: True)
    assert game.attack.played.all()
    assert np.array_equal(game.attack.ceiling, ceiling)
    assert np.isfinite(bars(attacking.scene(game, RARE, data))[0]).all()


def bars(scene: Scene) -> tuple[Any, Any]:
    """Values and labels of the ruler, a line for each budget."""
    (ruler,) = (panel for panel in scene.panels if panel.id == "ruler")
    (layer,) = ruler.layers
    assert isinstance(layer, Bars)
    return np.asarray(layer.values), layer.labels


def test_budgets_played_one_by_one_make_the_whole_attack() -> None:
    pair = load(AUDITS["gmm"]).tables("add_remove")
    requests = [dp.Privacy(epsilon=e, delta=1e-5, adjacency="add_remove") for e in EPSILONS]
    known = unplayed("gmm", pair, requests, 30, n_components=2, iterations=3)
    assert not known.played.any()
    for s in (2, 0, 1):
        one = play("gmm", pair, requests[s], 30, n_components=2, iterations=3)
        known = known.with_plays({s: one})
    whole = attack("gmm", pair, requests, 30, n_components=2, iterations=3)
    for field in fields(Attack):
        one, other = getattr(known, field.name), getattr(whole, field.name)
        assert np.array_equal(one, other), field.name


@pytest.mark.parametrize("model", ["symmetric-mixture", "mixture-regression", "missing-regression"])
def test_an_option_may_have_the_name_of_a_word_of_the_attack(model: str) -> None:
    """Whether columns are measured in their own units is an option called ``own``."""
    scenario = opening("wine", model)
    data = data_of(scenario)
    pair, options = attacking.pair_of(scenario, data, attacking.WORST, 0)
    assert "own" in options
    request = dp.Privacy(epsilon=2.0, delta=1e-5, adjacency=scenario.adjacency)
    assert attack(model, pair, [request], 20, **options).played.all()


def test_a_game_that_cannot_be_played_says_why_on_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any, **__: Any) -> Play:
        raise InputError("runs", "they cannot be drawn", "choose another model")

    monkeypatch.setattr(attacking, "play", refuse)
    monkeypatch.setattr(attacking, "in_background", result_store.in_background)
    data, store = data_of(RARE), result_store.ResultStore()
    attacking.game(RARE, data, store, attacking.FARTHEST, 0)
    wait(store.waiting.values())
    with pytest.raises(InputError, match="cannot be drawn"):
        attacking.game(RARE, data, store, attacking.FARTHEST, 0)


@split_lanes("adjacency", ["replace_one", "add_remove"], merge=1)
def test_somebody_new_is_told_apart_the_better_the_farther_out(adjacency: str) -> None:
    """One row more or one other row; who stands far from all is seen more often."""
    scenario = replace(RARE, adjacency=adjacency)
    data, shown = data_of(scenario), []
    middle = attacking.first_cells(data)
    far = {one.name: one.upper for one in attacking.typed_columns(data)}
    for cells in (middle, far):
        typed = tuple(cells.items())
        pair, _ = attacking.pair_of(scenario, data, attacking.TYPED, 0, typed)
        one, other = (table._frame for table in (pair.first, pair.second))
        assert len(other) - len(one) == (adjacency == "add_remove")
        changed = other.iloc[0 if adjacency == "replace_one" else -1]
        assert dict(changed[list(cells)]) == pytest.approx(cells)
        found = attacking.game(
            scenario, data, result_store.ResultStore(), attacking.TYPED, 0, typed
        ).attack
        shown.append(found.rates[-1])
        assert np.all(found.shown <= [g.epsilon for g in found.guarantees])
    assert shown[1] > shown[0]


def test_somebody_new_has_dates_for_days() -> None:
    day = Column("day", type="date", lower=date(2020, 1, 1), upper=date(2024, 1, 1))
    schema = Schema((day, Column("x", lower=0, upper=1)))
    rows = pd.DataFrame({"day": ["2021-05-05", "2022-01-01"], "x": [0.5, 0.6]})
    table = dp.load(rows, schema=schema)
    data = result_store.Data("dates", "", table, schema, "upload", 2)
    assert attacking.first_cells(data) == {"day": date(2021, 12, 31), "x": 0.5}
    cells = attacking.typed_cells({"day": date(2023, 7, 1), "x": 0.1})
    assert numbers_of(table.with_row(dict(cells), 0)._frame, schema)[0].tolist() == [19539.0, 0.1]


def test_somebody_new_has_one_of_the_listed_values() -> None:
    """Of two as well as of many, and no text or category that nothing reads; under a ball alone,
    somebody new begins at its centre."""
    columns = (
        Column("x"),
        Column("_index", "target", "binary", categories=("no", "yes")),
        Column("sex", "feature", "binary"),
        Column("words", type="text"),
    )
    schema = Schema(columns, ball=Ball((3.0, 0.0), 9.0))
    rows = pd.DataFrame({"x": [1.0], "_index": "no", "sex": 1, "words": "a b"})
    data = result_store.Data("two", "", dp.load(rows, schema=schema), schema, "upload", 1)
    assert attacking.first_cells(data) == {"x": 3.0, "_index": "no", "sex": 0}
    assert attack_view.typed(data) == tuple(attacking.first_cells(data).items())


def test_the_list_of_rows_names_what_one_is_about() -> None:
    at = AppTest.from_string(PAGE, default_timeout=300)
    at.query_params["on"] = "data=wine"
    at.run()
    assert "the wine farthest from all others" in at.selectbox(key="attack_whose").options


@pytest.mark.merge
def test_somebody_new_is_typed_on_the_page() -> None:
    at = AppTest.from_string(PAGE, default_timeout=300)
    at.session_state["scenario"] = RARE
    at.run()
    at.selectbox(key="attack_whose").set_value(attacking.TYPED).run()
    assert not at.exception
    assert not at.error


@pytest.mark.parametrize(
    ("link", "lead"),
    [
        pytest.param("data=places", "on Places", marks=pytest.mark.full),  # half a minute
        ("data=upload", TABLE_FIRST),
    ],
)
def test_a_fresh_session_finds_by_the_address_what_is_attacked(link: str, lead: str) -> None:
    at = AppTest.from_string(PAGE, default_timeout=300)
    at.query_params["on"] = link
    at.run()
    assert not at.exception
    assert any(lead in one.proto.body for one in at.get("html"))
