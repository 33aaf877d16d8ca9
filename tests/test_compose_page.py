"""Compose: every choice renders, and each number on the page is the accountants' own."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
import wording
from app_pages import control, elements, scenes, texts
from streamlit.testing.v1 import AppTest
from studio.composed import drawn_presets, ends, kept_presets
from support import every, split_lanes

from app import compose_prices, line_editor
from app.compose_text import finding, sentences
from app.composed import FILE, PARTS, packed, question, stored, stored_pictures
from app.composing import (
    MOST,
    PRESETS,
    Composition,
    Line,
    from_query,
    imported,
    opening,
)
from app.events_editor import edited_lines
from app.exports import account_command, account_questions, account_script
from app.result_store import ResultStore
from app.texts import compose as compose_texts
from app.texts import frame
from app.views.compose import picture
from dpcore.accounting import ACCOUNTANTS, calibrate, compose
from dpcore.accounting.losses import delta_curve
from dpcore.accounting.moments import MomentsAccountant
from dpcore.errors import InputError, NotCovered
from dpcore.evaluation.composition import (
    COUNTS,
    SLOTS,
    Attack,
    Loss,
    Profile,
    agreements,
    amplification_of,
    crossover,
    moments_of,
    one_row,
    orders_of,
    picture_of,
    price_list,
    repeated,
    slow_slots,
    way_of,
    ways,
)
from dpcore.figures.composition import COLOURS, colour_of, polygon, prices_scene
from dpcore.figures.derivation import DERIVATIONS
from dpcore.figures.plotly import figure
from dpcore.figures.scene import PALETTE_LIGHT, Axis, Bars, Curve, Panel, Rule, Scene, Spots
from dpcore.figures.tail import shaded
from dpcore.privacy import Event, Gaussian, Laplace
from dpcore.privacy.guarantee import show, show_bound, show_delta

PATIENCE = 60
PAGE = """
import streamlit as st
from app.frame import frame
from app.views.compose import page
st.set_page_config(layout="wide")
frame()
page()
"""


@pytest.fixture(autouse=True)
def one_step_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer is worked out at once, and nothing more: nothing outlives a test."""

    def at_once(store: ResultStore, key: Any, work: Callable[[], None]) -> None:
        store.waiting.pop(key, None)
        work()

    monkeypatch.setattr(compose_prices, "in_background", at_once)


def opened(**query: str) -> AppTest:
    """The page as a visitor finds it who follows this link."""
    page = AppTest.from_string(PAGE, default_timeout=PATIENCE)
    page.query_params.update(query)
    return page.run()


def healthy(page: AppTest) -> AppTest:
    assert [e.message for e in page.exception] == []
    assert [e.value for e in page.error] == []
    assert len(scenes(page)) == 1
    assert scene(page)["panels"]
    return page


def scene(page: AppTest) -> dict[str, Any]:
    return scenes(page)[0]


def bars(page: AppTest) -> dict[str, tuple[float | None, str]]:
    """name -> (value, label) at the current count."""
    return bars_of(scene(page))


def bars_of(now: dict[str, Any]) -> dict[str, tuple[float | None, str]]:
    """The same of a scene."""
    layer = now["panels"][0]["layers"][0]
    step = now["step"]
    rows = zip(layer["names"], layer["values"][step], layer["labels"][step], strict=True)
    return {name: (value, label) for name, value, label in rows}


# ---------------------------------------------------------------- the first screen


@pytest.fixture(scope="module")
def first() -> AppTest:
    return healthy(opened())


def test_the_first_screen_holds_five_controls_two_figures_and_60_words(first: AppTest) -> None:
    shown = list(elements(first.main, skip="popover"))
    kinds = ("selectbox", "select_slider", "slider", "button_group", "number_input", "radio")
    controls = [node.label for node in shown if node.type in kinds]
    assert len([label for label in controls if label != "Exact k"]) <= 5, controls
    assert len(scene(first)["panels"]) == 2
    html = [h for h in texts(first) if "<style" not in h]
    words = re.findall(
        r"[^\W\d_⁰-⁹][\w'’-]*", " ".join(unescape(re.sub("<[^>]+>", " ", h)) for h in html)
    )
    assert len(words) <= 75
    prose = [h for h in html if "<h1" in h or "dp-lead" in h or 'data-live="sentence"' in h]
    assert len(re.findall(r"[^\W\d_][\w'’-]*", re.sub("<[^>]+>", " ", " ".join(prose)))) <= 60


def test_five_prices_are_those_of_compose(first: AppTest) -> None:
    events = [Event(Gaussian(20.0), count=100)]
    methods = {
        "Basic": "linear",
        "Advanced": "advanced",
        "zCDP": "zcdp",
        "Moments accountant": "ma",
        "Exact": "exact",
    }
    found = bars(first)
    assert list(found) == list(methods)
    for name, method in methods.items():
        epsilon = float(compose(events, method, delta=1e-5).epsilon)
        value, label = found[name]
        assert value == pytest.approx(epsilon, rel=1e-4)
        assert label == show_bound(epsilon)


def test_every_step_of_the_scene_has_the_prices_of_its_count(first: AppTest) -> None:
    now = scene(first)
    assert now["steps"] == [float(k) for k in COUNTS]
    for step in (0, 9, len(COUNTS) - 1):
        for i, method in enumerate(("linear", "advanced", "zcdp", "ma", "exact")):
            events = [Event(Gaussian(20.0), count=COUNTS[step])]
            epsilon = compose(events, method, delta=1e-5).epsilon
            drawn = now["panels"][0]["layers"][0]["values"][step][i]
            assert drawn == pytest.approx(float(epsilon), rel=1e-4)


def test_every_epsilon_has_its_delta_and_adjacency_beside_it(first: AppTest) -> None:
    now = scene(first)
    assert "δ = 10⁻⁵, replacing one person's row" in now["panels"][0]["subtitle"][now["step"]]
    assert all(
        "δ = 10⁻⁵, replacing one person's row" in line for line in now["live_text"]["promise"]
    )
    assert "δ = 10⁻⁵" in now["panels"][1]["y"]["label"]
    notes = now["panels"][0]["layers"][0]["notes"]
    assert {note for row in notes for note in row} == {"upper bound", "exact", CAPPED}


def test_alt_texts_hold_the_current_numbers(first: AppTest) -> None:
    now = scene(first)
    assert bars(first)["Exact"][1] in now["panels"][0]["alt"][now["step"]]


# ---------------------------------------------------------------- methods

CAPPED = "cap of 64 orders"


def test_the_cap_on_orders_is_said_exactly_where_a_higher_one_would_be_tighter() -> None:
    found = price_list((Event(Gaussian(20.0)),), 1e-5, (1, 3, 10, 100))
    layer = prices_scene(found).panels[0].layers[0]
    slot = [way.slot for way in found.ways].index("ma")
    for step, count in enumerate(found.counts):
        events = [Event(Gaussian(20.0), count=count)]
        higher = float(MomentsAccountant(max_lambda=500).epsilon(events, 1e-5))
        tighter = higher < float(found.values["ma"][step]) * (1.0 - 1e-12)
        assert (layer.notes[step][slot] == CAPPED) is tighter
    assert layer.notes[0][slot] == CAPPED != layer.notes[3][slot]


def test_every_method_has_a_colour_of_its_own_and_keeps_it() -> None:
    assert set(COLOURS) - {"wbk27 classic"} == set(ACCOUNTANTS)
    assert len(set(COLOURS.values())) == len(COLOURS) <= len(PALETTE_LIGHT)
    plain, sampled = (Event(Gaussian(4.0)),), opening("abadi").events
    colours = [{way.name: colour_of(way) for way in ways(e)} for e in (plain, sampled)]
    assert colours[0]["zcdp"] != colours[1]["rdp"]
    assert colours[0]["exact"] != colours[1]["pld"]
    assert colours[0]["ma"] == colours[1]["ma"]


def test_a_link_with_a_preset_keeps_the_wish_for_the_usual_methods() -> None:
    preset = next(name for name in PRESETS if opening(name).methods)
    usual = replace(opening(preset), methods=())
    link = usual.as_query()
    assert all(link.values())  # a word without a value may be lost on the way
    assert from_query(link) == usual


def test_ticked_methods_are_compared_and_a_link_keeps_them() -> None:
    asked = from_query({"methods": "zcdp_tight,kov,pld", "k": "10"})
    assert asked.methods == ("kov", "zcdp_tight", "pld")
    assert from_query(asked.as_query()) == asked
    found = compose_prices.priced(asked).prices
    assert [way.name for way in found.ways] == ["kov", "zcdp_tight", "pld"]
    for name in ("kov", "zcdp_tight"):
        epsilon = compose(repeated(asked.events, 10), name, delta=1e-5).epsilon
        values = price_list(asked.events, 1e-5, (10,), methods=asked.methods).values[name]
        assert values[0] == pytest.approx(float(epsilon))
    assert from_query({"methods": "linear,nonsense"}).methods == ()


def test_a_curve_that_stops_says_why_at_its_end() -> None:
    asked = opening("dpem_10_ggg")
    found = price_list(asked.events, asked.delta, (1, 2, 3, 4, 5, 10))
    last = int(np.flatnonzero(np.isfinite(found.values["advanced"]))[-1])
    (reasons,) = (x for x in prices_scene(found).panels[1].layers if isinstance(x, Spots))
    said = f"Advanced: δ is used up beyond k = {found.counts[last]}"
    assert said in reasons.labels
    at = reasons.labels.index(said)
    assert np.asarray(reasons.y)[at] == found.values["advanced"][last]
    whole = price_list((Event(Gaussian(20.0)),), 1e-5, (1, 10))
    assert not any(isinstance(x, Spots) for x in prices_scene(whole).panels[1].layers)


# ---------------------------------------------------------------- the crossover


@pytest.mark.parametrize(
    "noise",
    [20.0, *(pytest.param(noise, marks=pytest.mark.merge) for noise in (10.0, 50.0, 1000.0))],
)
def test_the_crossover_is_where_advanced_drops_below_basic(noise: float) -> None:
    events = (Event(Gaussian(noise)),)
    found = crossover(events, 1e-5).first
    assert found is not None

    def cheaper(count: int) -> bool:
        many = repeated(events, count)
        advanced, basic = (compose(many, m, delta=1e-5).epsilon for m in ("advanced", "linear"))
        return bool(advanced < basic)

    assert cheaper(found)
    assert not cheaper(found - 1)
    page = opened(lines=str(Line(noise=noise)), k="1")
    said = next(text for text in texts(page) if 'data-live="sentence"' in text)
    turn = f"Up to {found - 1:,} releases, Basic (adding up) is tighter; from <b>{found:,}</b> on"
    assert turn in said


def test_a_crossover_that_is_not_there_or_ends_is_said() -> None:
    assert crossover((Event(Gaussian(1.0)),), 1e-5).first is None
    assert "never" in compose_texts.crossover(None, None, "releases")
    assert "up to 70" in compose_texts.crossover(3, 70, "releases")
    assert "from the first on" in compose_texts.crossover(1, None, "releases")


# ---------------------------------------------------------------- presets


QUICK = ("crossover", "dpem_3_ggg", "vips_lda")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in PRESETS],
)
def test_every_preset_opens(name: str) -> None:
    page = healthy(opened(preset=name))
    assert any(value is not None for value, _ in bars(page).values())
    assert control(page, "selectbox", "Start from").value == name


TRUNCATED = {0.8: 0.8162, 0.025: 0.02577, 0.05: 0.0520, 3.34: 3.3683, 2.55: 2.576}
"""Printed numbers that recounting does not give to the digit, and what it gives."""


@pytest.mark.parametrize("name", [n for n, p in PRESETS.items() if p.printed])
def test_printed_numbers_are_recounted_by_the_papers_own_way(name: str) -> None:
    asked = opening(name)
    for k, printed, slot in PRESETS[name].printed:
        way = way_of(slot, asked.events)
        ours = float(way.bound(asked.events, asked.delta, k).epsilon)
        assert ours == pytest.approx(TRUNCATED.get(printed, printed), rel=6e-3)


@pytest.mark.parametrize(("name", "shares"), [("dpem_10_ggg", 420), ("dpem_10_llg", 200)])
def test_the_printed_advanced_setting_is_infeasible(name: str, shares: int) -> None:
    asked = opening(name)
    found = price_list(asked.events, asked.delta, (asked.k,))
    assert np.isinf(found.values["advanced"][0])
    said = finding(asked, found)
    count, spent = shares // asked.k, shares * 1e-6
    sentence = compose_texts.impossible_as_printed(asked.k, count, 1e-6, spent, asked.delta)
    assert sentence in said
    feasible = opening(name.replace("10", "3"))
    found = price_list(feasible.events, feasible.delta, (feasible.k,))
    assert np.isfinite(found.values["advanced"][0])
    assert "impossible" not in finding(feasible, found)


def test_without_replacement_the_true_price_is_an_interval() -> None:
    page = opened(preset="vips_lda")
    for _ in range(4):
        healthy(page.run())
    assert bars(page)["Loss distribution"][0] == pytest.approx(0.984, abs=2e-3)
    notes = scene(page)["panels"][0]["layers"][0]["notes"]
    assert "true ε at least 0.932" in notes[scene(page)["step"]]
    assert any(compose_texts.printed_epsilon(2.38, 20, 2.383) in t for t in texts(page))


def test_lower_ends_are_rounded_down() -> None:
    assert "between 1.66 and 2.01." in compose_texts.smallest_epsilon(20, 1.6666, 2.001)
    found = price_list([Event(Gaussian(20.0))], 1e-5, (1, 100))
    lowers = {**found.lowers, "exact": np.array([0.01, 1.6666])}
    (bars, *_) = prices_scene(replace(found, lowers=lowers), count=100).panels
    assert "true ε at least 1.66'" in repr(bars.layers)


@pytest.mark.parametrize("name", ["vips_lda", "vips_adult_6", "abadi"])
def test_pairs_of_samples_are_never_below_the_true_price(name: str) -> None:
    asked = opening(name)
    known = {way.slot: way for way in ways(asked.events)}
    true = known["exact"].bound(asked.events, asked.delta, 3)
    for slot in ("basic", "advanced"):
        price = float(known[slot].bound(asked.events, asked.delta, 3).epsilon)
        assert price >= float(true.lower or 0.0)


def test_pairs_of_samples_are_refused_under_the_other_adjacency() -> None:
    event = Event(Gaussian(4.0), sampling="poisson", sampling_rate=0.01)
    basic = ways([event])[0]
    assert basic.method is None
    assert basic.refusal


# ---------------------------------------------------------------- every choice

EXTREMES: list[dict[str, str]] = [
    {"k": "1"},
    {"k": "10000"},
    {"k": str(MOST)},
    {"k": "37"},
    {"hold": "budget"},
    {"hold": "budget", "epsilon": "0.01"},
    {"hold": "budget", "epsilon": "100", "k": "123"},
    {"delta": "1e-12"},
    {"delta": "0.5"},
    {"adjacency": "add_remove"},
    {"lines": "g0.01~1000000"},
    {"lines": "g100000~1"},
    {"lines": "l10~3"},
    {"lines": "l10~3_g20~5_d15~1_e0.1~2~d0.000001"},
    {"lines": "e0.1~1", "hold": "budget"},
    {"lines": "e0.1~1~d0.00000001"},
    {"lines": "g20~1~d0.001"},
    {"lines": "g4~1~p0.01"},
    {"lines": "g4~1~p0.01", "adjacency": "add_remove", "hold": "budget", "k": "10"},
    {"lines": "g4~1~w0.01", "adjacency": "add_remove"},
    {"lines": "l4~1~w0.1", "k": "3"},
    {"lines": "g1~1~w1e-308"},
    {"lines": "_".join(["g20~1"] * 12)},
    {"show": "noise", "epsilon": "3"},
    {"hide": "preset,hold,show,noise,k"},
    *({"show": name} for name in compose_texts.SHOWS),
    *({"show": name, "lines": "l3~1", "k": "2"} for name in compose_texts.SHOWS),
]


@pytest.mark.full
@every("query", EXTREMES)
def test_extreme_choices_render(query: dict[str, str]) -> None:
    now, asked = scene(healthy(opened(**query))), from_query(query)
    for name, lines in now["live_text"].items():
        assert not {"nan", "inf"} & set(lines[now["step"]].lower().split()), name
    assert all(label for _, label in bars_of(now).values())
    assert all((account_command(asked), account_questions(asked), account_script(asked)))


def test_what_has_no_theorem_says_so_and_nothing_is_drawn() -> None:
    page = healthy(opened(lines="g4~1~w0.01", adjacency="add_remove"))
    found = bars(page)
    assert found["Basic"] == (None, "no theorem for these releases")


def test_no_label_takes_the_room_of_the_bars() -> None:
    """Room is kept for the longest label of all counts; on a telephone nothing else was left."""
    page = opened(preset="vips_adult_12", k="1")
    assert bars(page)["Basic"][1] == "under 0.000001"
    panel = scene(page)["panels"][0]
    (layer,) = panel["layers"]
    labels = [label for labels in layer["labels"] for label in labels]
    assert max(map(len, labels)) <= len("computed when you let go")


def test_the_axis_of_the_bars_says_that_it_is_logarithmic() -> None:
    """Eleven times the epsilon is a bar of less than twice the length."""
    panel = scene(healthy(opened()))["panels"][0]
    assert panel["x"]["label"] == "ε (δ = 10⁻⁵), logarithmic"


def test_a_picture_that_no_theorem_gives_says_why_and_leaves_the_bars() -> None:
    page = healthy(opened(lines="g4~1~w0.01", adjacency="add_remove", show="attack"))
    assert [panel["id"] for panel in scene(page)["panels"]] == ["bars", "curve"]
    assert any("sampling" in text for text in texts(page) if "dp-finding" in text)


@pytest.mark.merge
def test_a_list_whose_losses_no_lattice_holds_keeps_the_page() -> None:
    listed = {"lines": "g0.05~1~p0.5", "adjacency": "add_remove", "k": "10000", "methods": "rdp"}
    page = healthy(opened(**listed, show="loss").run())
    now = scene(page)
    panel = now["panels"][1]
    assert panel["id"] == "loss"
    assert panel["subtitle"][now["step"]] == "no picture: the privacy losses are spread too widely"
    assert "working it out" in panel["subtitle"][0], "other counts are still to come"
    refusal = compose_texts.no_picture(10_000)
    assert any(refusal in text for text in texts(page) if "dp-finding" in text)
    events = from_query({"preset": "own"} | listed).events
    found = picture_of("profile", events, (10_000,), ("rdp", "pld"))
    curves = {slot: np.isfinite(curve).any() for slot, curve in found.epsilons.items()}
    assert sorted(curves.values()) == [False, True], "only the law's own curve is missing"


def test_hidden_controls_are_not_there() -> None:
    page = healthy(opened(hide="preset,hold,show,noise,k"))
    outside = [n for n in elements(page.main, skip="popover") if hasattr(n, "label")]
    kinds = ("selectbox", "select_slider", "number_input", "button_group")
    assert [n.label for n in outside if n.type in kinds] == []


@pytest.mark.parametrize(
    "text", ["<script>", "", "nan", "-1", "1e999", "9" * 400, "²", "g1~²", "~~"]
)
def test_a_link_of_nonsense_opens_the_first_screen(text: str) -> None:
    query = dict.fromkeys((f.name for f in fields(Composition) if f.name != "hide"), text)
    assert from_query(query) == Composition()


@pytest.mark.parametrize(
    "asked",
    [
        *map(opening, PRESETS),
        replace(opening("census"), methods=()),  # the usual five in place of the preset's two
        replace(opening("abadi"), k=17, hold="budget", epsilon=2.5),
        Composition(
            preset="own",
            lines=(Line("l", 3.5, 2, ratio=0.25, fit=True), Line("e", 0.1, delta_each=1e-7)),
            show="loss",
            delta=1e-7,
            adjacency="add_remove",
            hide="k",
        ),
    ],
    ids=lambda asked: f"{asked.preset}, k={asked.k}",
)
def test_a_link_brings_back_the_same_choices(asked: Composition) -> None:
    assert from_query(asked.as_query()) == asked


@pytest.mark.merge
def test_the_budget_asks_each_way_for_its_noise() -> None:
    page = healthy(opened(hold="budget", epsilon="2", k="50"))
    for name, method in (("Basic", "linear"), ("zCDP", "zcdp"), ("Exact", "exact")):
        factor = calibrate([Event(Gaussian(20.0), count=50)], 2.0, 1e-5, method)
        assert bars(page)[name][0] == pytest.approx(20.0 * float(factor), rel=1e-4)


def test_a_count_off_the_slider_is_priced_exactly() -> None:
    page = healthy(opened(k="37"))
    now = scene(page)
    assert now["labels"][now["step"]] == "37"
    epsilon = compose([Event(Gaussian(20.0), count=37)], "exact", delta=1e-5).epsilon
    assert bars(page)["Exact"][0] == pytest.approx(float(epsilon), rel=1e-4)


def test_slider_box_and_preset_change_the_page() -> None:
    page = healthy(opened())
    healthy(control(page, "select_slider", "Number of").set_value(30).run())
    assert control(page, "number_input", "Exact k").value == 30
    healthy(control(page, "number_input", "Noise").set_value(50.0).run())
    assert control(page, "selectbox", "Start from").value == "own"
    healthy(control(page, "selectbox", "Start from").select("dpem_3_ggg").run())
    assert control(page, "number_input", "Exact k").value == 10


@pytest.mark.parametrize("noise", ["0.001", "99999999"])
def test_a_link_may_state_noise_that_nobody_would_choose(noise: str) -> None:
    page = healthy(opened(preset="own", lines=f"g{noise}~1", k="1"))
    assert control(page, "number_input", "Noise").value == float(noise)


@pytest.mark.parametrize(
    "asked",
    [
        Composition(lines=(Line("e", 0.5, delta_each=0.01),)),  # deltas of 0.2 in a total of 1e-5
        Composition(lines=(Line(noise=1.0, sampling="w", rate=0.02),), adjacency="add_remove"),
    ],
)
def test_where_no_method_has_a_bound_the_page_says_so(asked: Composition) -> None:
    prices = price_list(asked.events, asked.delta, (20,))
    (sentence,), (promise,) = sentences(
        asked, prices, crossover(asked.events, asked.delta)
    ).values()
    assert promise.startswith("None of these methods has an answer at δ = 10⁻⁵")
    assert "Basic" not in sentence
    assert prices.unit == (1.0 if asked.lines[0].mechanism == "e" else asked.lines[0].noise)


# ---------------------------------------------------------------- the list


def test_a_list_is_pinned_stays_in_the_link_and_is_let_go() -> None:
    page = opened(k="10")
    control(page, "button", compose_texts.PIN).click().run()
    assert page.query_params["pins"] == "|k=10"
    assert any("Pinned lists" in text for text in texts(page))
    assert control(page, "button", compose_texts.PIN).disabled
    control(page, "number_input", "Exact k").set_value(100).run()
    assert len(scene(healthy(page))["panels"][0]["layers"][0]["ghosts"]["A"]) == 5
    hidden = opened(k="10", pins="|k=10", hide="bars")
    assert not any("Pinned lists" in text for text in texts(hidden))
    control(page, "button", "Unpin A").click().run()
    assert "pins" not in page.query_params
    assert not any("Pinned lists" in text for text in texts(page))


def test_the_editor_changes_lines_and_names_what_cannot_be() -> None:
    base = (Line(), Line("l", 3.0))
    edits = {
        "edited_rows": {0: {"Times": 7, "Sampling": "Poisson", "Sampled share": 0.1}},
        "added_rows": [{"Mechanism": "(ε, δ) box", wording.NOISE_OF_A_BOX: 0.2, "δ each": 1e-6}],
        "deleted_rows": [1],
    }
    assert edited_lines(base, edits) == (
        Line(count=7, sampling="p", rate=0.1),
        Line("e", 0.2, delta_each=1e-6),
    )
    with pytest.raises(ValueError, match="Line 1 is not a release"):
        edited_lines(base, {**edits, "edited_rows": {0: {wording.NOISE_OF_A_BOX: 0.0}}})
    with pytest.raises(ValueError, match="Line 1 is not a release"):
        edited_lines(base, {**edits, "edited_rows": {0: {"Times": 2.5}}})
    with pytest.raises(ValueError, match="empty"):
        edited_lines(base, {"edited_rows": {}, "added_rows": [], "deleted_rows": [0, 1]})


def test_a_table_that_is_left_shows_again_what_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser's edits are gone then: the editor showed the lines from before them, and the next
    edit brought those back."""
    drawn: list[Any] = []
    session: dict[str, Any] = {}
    monkeypatch.setattr(line_editor.st, "session_state", session)

    def draw(rows: list[Any], *, key: str, on_change: Any, **rest: Any) -> None:
        session.setdefault(key, {"edited_rows": {}, "added_rows": [], "deleted_rows": []})
        drawn.append((rows, key, on_change))

    monkeypatch.setattr(line_editor.st, "data_editor", draw)
    lines = (1, 2)

    def show() -> None:
        def applied(now: tuple[int, ...]) -> None:
            nonlocal lines
            lines = now

        line_editor.line_editor("some", lines, lambda n: {"n": n}, read, applied, {})

    def read(base: tuple[int, ...], edits: Any) -> tuple[int, ...]:
        return line_editor.edited(base, edits, 0, lambda n, cells, place: cells.get("n", n))

    show()
    _, key, edit = drawn[-1]
    session[key]["edited_rows"] = {0: {"n": 7}}
    edit()
    show()
    assert lines == (7, 2)
    assert drawn[-1][:2] == ([{"n": 1}, {"n": 2}], key), "it keeps its place, with the edits"
    session[key]["edited_rows"] = {0: {"n": 8}}
    monkeypatch.setattr(line_editor.st, "rerun", lambda: again.append(lines))
    again: list[Any] = []
    show()
    assert again == [(8, 2)], "a callback can be lost"
    del session[key]  # as Streamlit does where a page is left
    show()
    assert drawn[-1][0] == [{"n": 8}, {"n": 2}]
    assert drawn[-1][1] != key


def test_the_ledger_of_the_fit_on_explore_costs_what_the_fit_says() -> None:
    page = healthy(opened())
    healthy(control(page, "button", compose_texts.USE_FIT).click().run())
    assert bars(page)["Exact"][0] == pytest.approx(1.0, rel=1e-4)
    assert control(page, "number_input", "Exact k").value == 1


def test_equal_releases_of_a_ledger_become_one_line() -> None:
    events = (Event(Gaussian(2.0)), Event(Laplace(3.0, 0.5)), Event(Gaussian(2.0), count=4))
    assert imported(events) == (
        Line("g", 2.0, 5, fit=True),
        Line("l", 3.0, 1, ratio=0.5, fit=True),
    )


@pytest.mark.merge
def test_an_imported_line_that_is_then_sampled_is_not_the_fits_price() -> None:
    page = healthy(opened(lines="g7~3~f", k="1"))
    assert not any(compose_texts.NOT_SAMPLED in text for text in texts(page))
    page = healthy(opened(lines="g7~3~p0.1~f", k="1", adjacency="add_remove"))
    assert any("dp-wrong" in t and compose_texts.NOT_SAMPLED in t for t in texts(page))


# ---------------------------------------------------------------- all methods


@split_lanes("name", ["opening", "vips_lda", "abadi", "dpem_3_llg"], merge=2)
def test_more_methods_lists_every_method_or_its_refusal(name: str) -> None:
    page = opened(preset=name, k="3")
    page.session_state["more_methods"] = True
    for _ in range(10):  # one slow answer after the other
        healthy(page.run())
    table = next(html for html in texts(page) if "dp-methods" in html)
    assert table.count("<tr") == 1 + len(ACCOUNTANTS)
    asked = replace(opening(name), k=3)
    for method in ACCOUNTANTS:
        row = one_row(method, asked.events, asked.delta, 3)
        if row.bound is None:
            assert unescape(table).count(row.refusal) >= 1
            continue
        assert f"<td>{show_bound(float(row.bound.epsilon))}</td>" in table


def test_methods_that_must_agree_do_and_a_difference_is_seen() -> None:
    events = (Event(Gaussian(20.0)),)
    rows = [one_row(name, events, 1e-5, 100) for name in ACCOUNTANTS]
    assert len(agreements(rows, events)) == 2
    assert not any("NOT" in said for said in agreements(rows, events))
    wrong = [
        replace(row, bound=replace(row.bound, epsilon=row.bound.epsilon * 1.01))
        if row.name in ("rdp", "exact") and row.bound is not None
        else row
        for row in rows
    ]
    assert all("NOT" in said for said in agreements(wrong, events))


# ---------------------------------------------------------------- pictures


def test_a_profile_passes_through_the_prices() -> None:
    events = (Event(Gaussian(20.0)),)
    found = picture_of("profile", events, (100,))
    for method, slot in (("zcdp", "zcdp"), ("exact", "exact"), ("linear", "basic")):
        at = int(np.argmin(np.abs(found.deltas - 1e-5)))  # type: ignore[union-attr]
        delta = float(found.deltas[at])  # type: ignore[union-attr]
        epsilon = compose(repeated(events, 100), method, delta=delta).epsilon
        assert found.epsilons[slot][0, at] == pytest.approx(float(epsilon))  # type: ignore[union-attr]


def test_the_best_attacker_is_better_after_more_releases() -> None:
    found = picture_of("attack", (Event(Gaussian(5.0)),), (1, 10, 100))
    misses = found.misses  # type: ignore[union-attr]
    assert np.all(np.diff(misses[:, 40]) < 0.0)
    assert np.all(misses <= 1.0 - found.false_alarms + 1e-9)  # type: ignore[union-attr]
    prices = price_list((Event(Gaussian(5.0)),), 1e-5, (1, 10, 100))
    for count, alt in zip(
        (1, 10, 100), prices_scene(prices, None, found).panels[1].alt, strict=True
    ):
        told = re.search(r"at least ([\d.]+)% misses", alt)
        least = 100.0 * scipy.stats.norm.cdf(scipy.stats.norm.isf(0.05) - count**0.5 / 5.0)
        assert 0.0 <= least - float(told[1]) < 0.11, "a bound is rounded down"


@pytest.mark.parametrize("name", ["opening", "abadi", "dpem_3_llg"])
def test_the_line_of_slope_epsilon_touches_the_moments(name: str) -> None:
    asked = opening(name)
    found = moments_of(asked.events, (1, 100))
    for step, count in enumerate((1, 100)):
        bound = compose(repeated(asked.events, count), "ma", delta=asked.delta)
        gap = found.moments[step] - (np.log(asked.delta) + float(bound.epsilon) * found.orders)
        assert gap.min() == pytest.approx(0.0, abs=1e-9)
    prices = price_list(asked.events, asked.delta, (1, 100), only={"ma"})
    panel = prices_scene(prices, None, found, count=100).panels[1]
    assert f"= {show_bound(float(prices.values['ma'][1]))}" in panel.subtitle[1]


@pytest.mark.parametrize("name", ["opening", "abadi", "dpem_3_llg"])
def test_the_best_order_of_the_renyi_curve_is_the_renyi_price(name: str) -> None:
    asked = opening(name)
    found = orders_of(asked.events, (1, 100), asked.delta)
    for step, count in enumerate((1, 100)):
        true = float(compose(repeated(asked.events, count), "rdp", delta=asked.delta).epsilon)
        assert true * (1.0 - 1e-12) <= np.nanmin(found.epsilons[step]) <= 1.002 * true
    if name == "opening":
        np.testing.assert_allclose(found.divergences, found.rho[:, None] * found.alphas)
    assert np.isnan(found.rho).all() == (name == "abadi")


def test_smaller_samples_cost_less_and_the_ends_are_the_accountants() -> None:
    events = (Event(Gaussian(4.0), count=2),)
    found = amplification_of(events, (1, 50), 1e-5)
    for name, rows in found.epsilons.items():
        assert np.all(np.diff(rows, axis=1) > 0.0), name
        for at in (8, -1):
            rate = float(found.rates[at])
            event = Event(
                Gaussian(4.0),
                count=100,
                sampling="poisson" if rate < 1.0 else "none",
                sampling_rate=rate,
                adjacency="add_remove",
            )
            true = float(compose([event], name, delta=1e-5).epsilon)
            if rate < 1.0 or name == "rdp":
                assert true * (1.0 - 1e-9) <= rows[1, at] <= 1.002 * true
    with pytest.raises(NotCovered):
        amplification_of((Event(Laplace(1.0)),), (1,), 1e-5)


def test_a_flat_curve_of_moments_says_which_cap_makes_it_flat() -> None:
    floors = []
    for noise in (20.0, 1.0):
        prices = price_list((Event(Gaussian(noise)),), 1e-5, (100,), only=())
        found = amplification_of(prices.events, prices.counts, 1e-5)
        layers = prices_scene(prices, None, found).panels[1].layers
        floors.append([layer for layer in layers if isinstance(layer, Rule)])
        if noise == 20.0:
            flat = found.epsilons["ma"][0].min()
    (floor,), above = floors
    assert floor.y == pytest.approx(-np.log(1e-5) / 255)
    assert "255 orders" in floor.label
    assert floor.y < flat < 1.01 * floor.y
    assert above == [], "out of view"


def test_no_two_curves_of_the_trade_off_look_alike() -> None:
    events, counts = (Event(Gaussian(5.0)),), (1, 30)
    prices, found = price_list(events, 1e-5, counts), picture_of("attack", events, counts)
    layers = prices_scene(prices, None, found).panels[1].layers
    looks = [(one.colour, one.dash) for one in layers if isinstance(one, Curve)]
    assert len(set(looks)) == len(looks) == 7


# ---------------------------------------------------------------- derivations


def _tags(formula: Any) -> Iterator[tuple[str, int]]:
    """Every tag with the number of its parts."""
    if isinstance(formula, list):
        yield formula[0], len(formula) - 1
        for one in formula[1:]:
            yield from _tags(one)


def test_every_method_has_its_derivation_in_a_few_lines() -> None:
    assert set(DERIVATIONS) == set(ACCOUNTANTS)
    parts = {"mfrac": 2, "msup": 2, "msub": 2, "munder": 2, "msqrt": 1}
    parts |= dict.fromkeys(("mi", "mn", "mo", "mtext"), 1)
    for name, lines in DERIVATIONS.items():
        assert 2 <= len(lines) <= 4, name
        for tag, count in _tags(["mrow", *lines]):
            assert tag == "mrow" or parts[tag] == count, (name, tag)
    layer = prices_scene(price_list((Event(Gaussian(20.0)),), 1e-5, (1,))).panels[0].layers[0]
    assert layer.derivations[0] == DERIVATIONS["linear"]


def test_the_noise_for_a_budget_is_searched_from_far_below_it() -> None:
    """The search begins at noise so small that the integrals of Theorem 27 have no end."""
    asked = opening("vips_adult_12")
    prices = price_list(asked.events, asked.delta, (5,), epsilon=1.0, only={"zcdp"})
    assert 0.0 < prices.values["zcdp"][0] < 1.0


# ---------------------------------------------------------------- what is kept of presets


def test_every_slow_preset_opens_with_kept_prices() -> None:
    lines = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    assert [line["preset"] for line in lines] == list(kept_presets())
    for line in lines:
        asked = opening(line["preset"])
        assert line["question"] == question(asked)
        slots = slow_slots(asked.events)
        wanted = {(count, slot) for count in (*COUNTS, asked.k) for slot in slots}
        assert wanted <= set(stored(asked))
        other = replace(asked, lines=(replace(asked.lines[0], noise=3.0), *asked.lines[1:]))
        assert not stored(other)
        slots = compose_prices.slow_of(asked, asked.epsilon)
        counts = (*compose_prices.counts_of(asked, asked.epsilon), asked.k)
        wanted = {(count, slot) for count in counts for slot in slots}
        assert asked.methods or wanted <= set(stored(asked, asked.epsilon))
        assert not stored(other, asked.epsilon)
        assert not stored(asked, 2.0)
    assert not compose_prices.priced(opening("abadi")).prices.waiting
    for name in kept_presets():
        sought = compose_prices.priced(replace(opening(name), show="noise")).picture
        assert opening(name).methods or not sought.waiting, name


@split_lanes("name", kept_presets(), merge=4)
def test_a_kept_price_is_what_is_worked_out_anew(name: str) -> None:
    asked = opening(name)
    for slot in slow_slots(asked.events):
        _, low, value = ends(name, slot, asked.k)
        kept = stored(asked)[asked.k, slot]
        assert kept.values[slot][0] == pytest.approx(value, rel=1e-9)
        assert kept.lowers[slot][0] == pytest.approx(low, rel=1e-9, nan_ok=True)
    for slot in compose_prices.slow_of(asked, asked.epsilon):
        _, _, noise = ends(name, slot, asked.k, asked.epsilon)
        kept = stored(asked, asked.epsilon)[asked.k, slot]
        assert kept.values[slot][0] == pytest.approx(noise, rel=1e-9)


@pytest.mark.parametrize(
    "show",
    [pytest.param(show, marks=[pytest.mark.merge] * (show == "profile")) for show in PARTS],
)
def test_no_picture_of_a_slow_preset_is_waited_for(show: str) -> None:
    for name in drawn_presets():
        asked = replace(opening(name), show=show)
        answer = compose_prices.priced(asked)
        assert not answer.left, name
        assert isinstance(answer.picture, Profile | Attack | Loss)
        for part in packed(answer.picture).values():
            assert len(part) == len(answer.prices.counts)
            assert np.all(np.isfinite(part).any(axis=-1)[..., -1])
        other = replace(asked, lines=(replace(asked.lines[0], noise=3.0), *asked.lines[1:]))
        assert not stored_pictures(show, other)


@split_lanes("name", drawn_presets(), merge=4)
def test_a_kept_picture_is_what_is_worked_out_anew_rounded_to_the_safe_side(name: str) -> None:
    asked = opening(name)
    for kind in PARTS:
        anew = picture_of(kind, asked.events, (asked.k,))
        shown = stored_pictures(kind, asked)[asked.k]
        match anew, shown:
            case Profile(), Profile():
                for slot, epsilons in anew.epsilons.items():
                    assert np.all(shown.epsilons[slot] >= epsilons, where=np.isfinite(epsilons))
                    np.testing.assert_allclose(shown.epsilons[slot], epsilons, rtol=1.1e-3)
            case Attack(), Attack():
                assert np.all(shown.misses <= anew.misses * (1.0 + 1e-9))
                np.testing.assert_allclose(shown.misses, anew.misses, rtol=1.1e-3, atol=1e-12)
            case Loss(), Loss():
                np.testing.assert_allclose(shown.losses, anew.losses, rtol=1e-9, atol=1e-9)
                atol = 1e-20  # below it another version of the Fourier transform rounds otherwise
                assert np.all(shown.deltas >= anew.deltas * (1.0 - 1e-9) - atol)
                np.testing.assert_allclose(shown.deltas, anew.deltas, rtol=1.1e-3, atol=atol)
                np.testing.assert_allclose(shown.density, anew.density, rtol=1.1e-3, atol=atol)


def test_every_polygon_lies_below_what_the_mechanism_allows() -> None:
    events, counts = (Event(Gaussian(5.0)),), (1, 30)
    prices, found = price_list(events, 1e-5, counts), picture_of("attack", events, counts)
    for way in prices.ways:
        alarms, misses = polygon(prices.values[way.slot], 1e-5)
        for step in range(len(counts)):
            lines = np.interp(found.false_alarms, alarms[step], misses[step])
            assert np.all(lines <= found.misses[step] + 1e-9)
            corner = float(prices.values[way.slot][step])
            assert misses[step, 1] == pytest.approx((1.0 - 1e-5) / (1.0 + np.exp(corner)))


def test_delta_is_the_weighted_area_of_the_tail() -> None:
    events = (Event(Gaussian(5.0)),)
    found = picture_of("loss", events, (1, 4, 25))
    for step, count in enumerate((1, 4, 25)):
        losses, density = found.losses[step], found.density[step]
        assert np.trapezoid(density, losses) == pytest.approx(1.0, abs=1e-4)
        mean = np.trapezoid(losses * density, losses)
        assert mean == pytest.approx(count / 50.0, rel=1e-3)  # each adds mu^2 / 2
        spread = np.trapezoid((losses - mean) ** 2 * density, losses)
        assert spread == pytest.approx(count / 25.0, rel=1e-3)  # and mu^2
        for at in (90, 150, 180):
            area = np.trapezoid(shaded(losses, density, found.epsilons[at]), losses)
            assert found.deltas[step, at] == pytest.approx(area, rel=0.02, abs=1e-6)


def test_the_tail_begins_where_its_area_can_be_seen() -> None:
    """A standard deviation above the mean, with the delta that belongs there, rounded up."""
    asked = from_query({"show": "loss"})
    now = picture(asked, compose_prices.priced(asked)).as_dict()
    (tail,) = (layer for layer in now["panels"][1]["layers"] if layer["kind"] == "tail")
    alts = now["panels"][1]["alt"]
    for step, count in ((0, 1), (9, 10), (now["step"], 100)):
        line = tail["start"][step]
        at = tail["epsilons"].index(line)
        true = delta_curve(
            repeated(asked.events, count), np.array(tail["epsilons"][at - 1 : at + 1])
        )
        shown = tail["deltas"][step][at]
        assert true[1] <= shown <= 1.01 * true[1] < 1.01 * true[0]
        mean, spread = count / 800.0, np.sqrt(count) / 20.0
        assert tail["epsilons"][at - 1] < mean + spread <= line * (1.0 + 1e-4)
        assert f"beyond ε = {show(line)} has the area δ = {show_delta(shown)}" in alts[step]


def test_a_notebook_gets_the_same_picture() -> None:
    found = price_list((Event(Gaussian(20.0)),), 1e-5, (1, 10, 100))
    drawn = figure(found)
    assert [frame.name for frame in drawn.frames] == ["1", "10", "100"]
    assert {len(frame.data) for frame in drawn.frames} == {len(drawn.data)}
    bar = drawn.frames[2].data[0]
    assert list(bar.y)[::-1] == [way.title for way in found.ways]
    np.testing.assert_allclose(list(bar.x)[::-1], [found.values[s][2] for s in SLOTS])


def test_bars_must_match_their_names_and_the_steps() -> None:
    with pytest.raises(InputError):
        Bars([1.0, 2.0], names=("one",), labels=("1",))
    with pytest.raises(InputError):
        Bars([1.0], names=("one",), labels=("1", "2"))
    axis = Axis("x", (0.0, 1.0))
    layer = Bars([[1.0], [2.0]], names=("one",), labels=(("1",), ("2",)))
    panel = Panel("p", "t", "", "a", axis, axis, (layer,), bare=True)
    with pytest.raises(InputError):
        Scene(steps=(1.0, 2.0, 3.0), step_labels=("1", "2", "3"), panels=(panel,))
    assert Scene(steps=(1.0, 2.0), step_labels=("1", "2"), panels=(panel,)).as_dict()


@pytest.mark.merge
def test_a_scene_of_prices_stays_small() -> None:
    asked = Composition()
    found = price_list(asked.events, asked.delta)
    for name in ("profile", "attack", "loss"):
        drawn = prices_scene(found, None, picture_of(name, asked.events, COUNTS))
        assert len(json.dumps(drawn.as_dict())) < 500_000


# ---------------------------------------------------------------- to take away


def run(*words: str, at: Path) -> Any:
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


EXPORTED = {
    "opening": Composition(),
    "laplace": Composition(preset="own", lines=(Line("l", 7.5, 2),), k=5, delta=1e-6),
    "many": Composition(preset="own", lines=(Line("l", 7.5, 2), Line(noise=9.25, count=3)), k=4),
    "budget": replace(Composition(), hold="budget", epsilon=1.5, k=20),
    "poisson": replace(opening("abadi"), k=2),
    "fixed size": opening("vips_lda"),
}


EXPORT_LANES = {"budget": (), **dict.fromkeys(("many", "poisson"), (pytest.mark.merge,))}


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(asked, id=name, marks=EXPORT_LANES.get(name, (pytest.mark.full,)))
        for name, asked in EXPORTED.items()
    ],
)
def test_exports_give_the_numbers_of_the_page(asked: Composition, tmp_path: Path) -> None:
    epsilon = asked.epsilon if asked.hold == "budget" else None
    found = price_list(asked.events, asked.delta, (asked.k,), epsilon=epsilon)
    here = {w.slot: float(found.values[w.slot][0]) for w in found.ways if w.method is not None}

    (tmp_path / "prices.py").write_text(account_script(asked), encoding="utf-8")
    script = run(sys.executable, "-W", "error", "prices.py", at=tmp_path)
    assert {slot: script[slot] for slot in here} == here

    (tmp_path / "questions.json").write_text(account_questions(asked), encoding="utf-8")
    words = shlex.split(account_command(asked))
    assert words[0] == "dpcore"
    main = "import sys; from dpcore.cli import main; sys.exit(main())"
    printed = run(
        sys.executable,
        "-c",
        main,
        *words[1:],
        *([] if "--json" in words else ["--json"]),
        at=tmp_path,
    )
    for slot, answer in zip(here, printed, strict=True):
        if epsilon is None:
            assert answer["epsilon"] == pytest.approx(here[slot], rel=1e-12), slot
        else:
            noise = found.unit * here[slot]
            assert answer["noise_multiplier"] == pytest.approx(noise, rel=1e-9), slot


def test_a_link_to_send_hides_what_the_class_shall_guess() -> None:
    page = opened()
    control(page, "pills", frame.HIDE).select("bars").run()
    assert "?hide=bars" in page.code[0].value
    assert "hide=bars" in page.code[1].value
    assert "hide" not in page.query_params, "the sender's own page stays as it is"
    page = opened(hide="k,bars")
    assert control(page, "pills", frame.HIDE).value == ["k", "bars"]
