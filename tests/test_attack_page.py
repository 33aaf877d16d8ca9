"""The Attack page: the attacker stays below what is proved, and sees more the larger epsilon."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpcore as dp
from app import attacking, compute, drawers
from app.scenario import Scenario, opening
from dpcore.auditing.attack import ALARMS, Attack, attack
from dpcore.auditing.fits import Pair
from dpcore.evaluation.metrics import loneliest_row
from dpcore.figures.attack import attack_scene, exhibit_scene
from dpcore.registry import AUDITS, EXHIBITS, load

PAGE = """
import streamlit as st
from app.components import frame
from app.views.attack import page
st.set_page_config(layout="wide")
frame()
page()
"""
EPSILONS = (0.5, 2.0, 8.0)
RARE = Scenario(data="rare_person", components=2, iterations=3)


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
@pytest.mark.parametrize("seed", range(2))
def test_no_attack_gets_above_what_is_proved(adjacency: str, seed: int, share_of: str) -> None:
    found = played(adjacency, seed=seed, share_of=share_of)
    proved = np.array([g.epsilon for g in found.guarantees], dtype=float)
    assert np.all(found.shown <= proved)
    slack = 5.0 / np.sqrt(400)
    assert np.all(found.hits <= found.ceiling + slack)
    best = np.max((found.ceiling + 1.0 - ALARMS) / 2.0, axis=1)
    assert np.all(found.rates <= best + slack)


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


@pytest.mark.parametrize("name", list(EXHIBITS))
def test_every_exhibit_is_refuted_and_can_be_drawn(name: str) -> None:
    shown = attacking.exhibit(name)
    assert shown.refuted, "an exhibit shows a claim that does not hold"
    assert shown.corrected <= shown.shown.delta * (1 + 1e-9) or shown.shown.delta == 0.0
    scene = exhibit_scene(shown)
    if scene is not None:
        assert {panel.id for panel in scene.panels} <= {"published", "corrected"}
        assert scene.as_dict()


def test_the_page_plays_explains_and_refuses_in_a_sentence() -> None:
    at = AppTest.from_string(PAGE, default_timeout=120)
    at.session_state["scenario"] = RARE
    at.run()
    assert not at.exception
    at.selectbox(key="attack_whose").set_value(attacking.WORST).run()
    assert not at.exception
    at.selectbox(key="exhibit").set_value("centred-scatter").run()
    assert not at.exception
    assert any("does not cover this case" in str(one.value) for one in at.markdown)
    at.session_state["scenario"] = replace(RARE, delta=1e-12, count_by="ma", epsilon=0.01)
    at.run()
    assert not at.exception


@pytest.mark.parametrize("data", ["few_bars", "lit_windows"])
def test_models_that_take_long_name_the_command_instead(data: str) -> None:
    at = AppTest.from_string(PAGE, default_timeout=60)
    at.session_state["scenario"] = opening(data)
    at.run()
    assert not at.exception
    (refused,) = [str(one.value) for one in at.error]
    assert f"dpcore audit {opening(data).model}" in refused


def test_what_is_said_names_delta_and_who_is_protected() -> None:
    data = drawers.data_of(RARE)
    assert data is not None
    shown = attacking.scene(RARE, data, compute.Desk(), attacking.FARTHEST, 0)
    for said in shown.slots["attacked"]:
        assert f"δ = 0.00001, replacing one {data.unit}'s row, you are right" in said, said


def test_the_same_attack_is_played_once() -> None:
    data, desk = drawers.data_of(RARE), compute.Desk()
    assert data is not None
    first = attacking.found(RARE, data, desk, attacking.FARTHEST, 0)
    again = attacking.found(replace(RARE, epsilon=3.0), data, desk, attacking.FARTHEST, 0)
    assert again is first
    other = attacking.found(RARE, data, desk, attacking.CHOSEN, 5)
    assert other is not first


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_somebody_new_is_told_apart_the_better_the_farther_out(adjacency: str) -> None:
    """One row more or one other row; who stands far from all is seen more often."""
    scenario = replace(RARE, adjacency=adjacency)
    data, shown = drawers.data_of(scenario), []
    assert data is not None
    middle = attacking.first_cells(data)
    far = {one.name: one.upper for one in attacking.typed_columns(data)}
    for cells in (middle, far):
        typed = tuple(cells.items())
        pair, _ = attacking.pair_of(scenario, data, attacking.TYPED, 0, typed)
        one, other = (table._frame for table in (pair.one, pair.other))
        assert len(other) - len(one) == (adjacency == "add_remove")
        changed = other.iloc[0 if adjacency == "replace_one" else -1]
        assert dict(changed[list(cells)]) == pytest.approx(cells)
        found = attacking.found(scenario, data, compute.Desk(), attacking.TYPED, 0, typed)
        shown.append(found.rates[-1])
        assert np.all(found.shown <= [g.epsilon for g in found.guarantees])
    assert shown[1] > shown[0]


def test_somebody_new_is_typed_on_the_page() -> None:
    at = AppTest.from_string(PAGE, default_timeout=120)
    at.session_state["scenario"] = RARE
    at.run()
    at.selectbox(key="attack_whose").set_value(attacking.TYPED).run()
    assert not at.exception
    assert not at.error
