"""The page renders at every choice, and its first screen stays small enough to be read at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from itertools import product
from time import sleep
from typing import Any

import pytest
import wording
from app_pages import control, data_of, elements, explorer, scenes, texts
from methods import MODELS_OF_METHODS
from methods import method as method_of
from streamlit.testing.v1 import AppTest
from support import every

from app import compute, result_store, steps
from app.explore_scene import picture
from app.explorer import PAGES
from app.exports import command, notebook, script
from app.scenario import GENERATED, UPLOAD, GeneratedTable, Scenario, from_query, offered
from app.tables import store_of
from app.texts import attack as attack_texts
from app.texts.frame import misread
from app.views import explore
from dpcore.declaration import ACCOUNTANTS
from dpcore.figures.scene import Scene
from dpcore.privacy import Privacy
from dpcore.registry import load as loaded

SMALL = {"data": "generated", "made": "200x2x3x1"}  # fitted in a moment, for the extremes
TWO = {"components": "2", "iterations": "5"}  # groups, of the rare person's table: quick
PATIENCE = 90  # secret samples take half a minute to count on a busy machine


@pytest.fixture(autouse=True)
def _nothing_left_in_the_background() -> Iterator[None]:
    yield
    waiting = result_store.common().waiting
    for key in list(waiting):
        waiting.pop(key).cancel()


def opened(**query: str) -> AppTest:
    """The app as a visitor finds it who follows this link."""
    return explorer(PATIENCE, **query)


def asked(**query: str) -> Scenario:
    """What Explore reads in a link."""
    return from_query(
        query, {**{table.name: table for table in offered()}, UPLOAD: 0, GENERATED: 0}
    )


def drawn(scenario: Scenario) -> Scene:
    """The picture that Explore shows, without a page around it."""
    data = data_of(scenario)
    if data.whole is not None:
        compute.exposure(scenario, data, store_of(data))
    return picture(scenario, data, compute.study(scenario, data, store_of(data)))


def now_in(scene: Scene, name: str) -> str:
    """What a live text says at the current step, as plain text."""
    return unescape(re.sub(r"<[^>]+>", "", scene.live_text[name][scene.step]))


def healthy(page: AppTest) -> AppTest:
    """No exception, and a page was drawn."""
    assert [e.message for e in page.exception] == []
    assert any("<h1" in html for html in texts(page))
    return page


def scene(page: AppTest) -> dict[str, Any]:
    """The scene of its first live picture."""
    return scenes(page)[0]


def bold(page: AppTest) -> list[Any]:
    """Six numbers a group of the bold private fit, at the current step."""
    now = scene(page)
    panel = next(panel for panel in now["panels"] if panel["id"] == "private")
    layer = [layer for layer in panel["layers"] if layer.get("style") == "bold"][-1]
    return list(layer["params"][now["step"]][0])


def exact(page: AppTest) -> list[Any]:
    panel = next(panel for panel in scene(page)["panels"] if panel["id"] == "exact")
    return [layer for layer in panel["layers"] if layer.get("style") == "bold"][-1]["params"]


def guarantee(page: AppTest) -> str:
    line = next(html for html in texts(page) if 'data-live="guarantee"' in html)
    return unescape(re.sub(r"<[^>]+>", "", line))


# ---------------------------------------------------------------- the first screen


@pytest.fixture(scope="module")
def first() -> AppTest:
    return healthy(opened())


def test_the_first_screen_shows_a_proved_fit_at_epsilon_one(first: AppTest) -> None:
    assert "epsilon = 1.00, delta = 10⁻⁵, replacing one person's row. Proved" in guarantee(first)
    assert all(number is not None for group in bold(first) for number in group)


def test_the_first_screen_holds_seven_controls(first: AppTest) -> None:
    """The exact box is the slider's other face; drawers hold no choice that must come first."""
    shown = [node for node in elements(first.main, skip="popover")]
    controls = [n.label for n in shown if n.type in ("selectbox", "select_slider", "slider")]
    boxes = [n for n in shown if n.type in ("number_input", "text_input", "checkbox", "radio")]
    assert controls == [
        *("Data", "Model", "Method", "Composition"),
        *("Privacy budget ε", "δ", "Clipping"),
    ]
    assert [box.label for box in boxes] == ["Exact ε"]


def test_the_first_screen_holds_two_figures(first: AppTest) -> None:
    """Panels that share their axes (exact beside private) are one figure; the curve is another."""
    panels = scene(first)["panels"]
    assert {panel["id"] for panel in panels} >= {"exact", "private", "curve"}
    assert len({panel["link"] or panel["id"] for panel in panels}) == 2


def test_the_first_screen_is_read_in_60_words(first: AppTest) -> None:
    """Headline, invitation and the sentence under the slider; labels, losses and guarantee come on
    top, and those are short too."""
    html = [h for h in texts(first) if "<style" not in h]
    prose = [h for h in html if "<h1" in h or "dp-lead" in h or 'data-live="sentence"' in h]
    assert len(prose) == 2
    assert _words(prose) <= 60
    assert _words(html) <= 95


def _words(html: list[str]) -> int:
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", part)) for part in html)
    return len(re.findall(r"(?![⁰¹²³⁴-⁹])[^\W\d_][\w'’-]*", text))  # an exponent is no word


def test_every_picture_has_alt_text_with_the_current_numbers(first: AppTest) -> None:
    now = scene(first)
    for panel in now["panels"]:
        alt = panel["alt"]
        assert re.search(r"\d", alt if isinstance(alt, str) else alt[now["step"]]), panel["id"]


def test_the_explorer_opens_on_explore_and_every_page_is_there(first: AppTest) -> None:
    assert any("See what privacy costs" in html for html in texts(first))
    assert next(iter(PAGES)) == "explore"
    assert all(callable(loaded(target)) for target, _ in PAGES.values())


# ---------------------------------------------------------------- every choice


@pytest.fixture
def no_background(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first part of each study; the rest comes in the background and would outlive the test."""
    monkeypatch.setattr(compute, "in_background", lambda *_: None)


WORDS_OF_PARTS = {
    "gmm": "group",
    "kmeans": "centre",
    "fa": "factor",
    "symmetric-mixture": "one cloud at cities (points) ",
    "mixture-regression": "pressure (change in mmHg) changes by ",
    "missing-regression": "pay ",
    "gmm-release": "Lake: ",
    "logistic": "earlier visits ",
    "lda": "topic",
    "sbn": "unit",
    "bernoulli": "group",
    "poisson": "group",
    "mean": "The mean is ",
}


def speaks_of_its_parts(table: Any, told: str) -> None:
    """The alternative text of a table's first picture names as many parts as there are."""
    words = WORDS_OF_PARTS[table.models[0]]
    if words.islower() and " " not in words:
        parts = table.openings[0].components
        assert f"{words} {parts}" in told
        assert f"{words} {parts + 1}" not in told
    assert words in told


@pytest.mark.merge
@every("table", offered())
def test_every_bundled_table_has_its_picture(table: Any, no_background: None) -> None:
    scene = drawn(asked(data=table.name))
    private = next(panel for panel in scene.panels if panel.id == "private")
    speaks_of_its_parts(table, private.alt[scene.step])


@pytest.mark.full
@every("table", offered())
def test_every_bundled_table_opens(table: Any, no_background: None) -> None:
    page = healthy(opened(**SMALL))
    healthy(control(page, "selectbox", "Data").select(table.name).run())
    assert not page.error
    private = next(panel for panel in scene(page)["panels"] if panel["id"] == "private")
    speaks_of_its_parts(table, private["alt"][scene(page)["step"]])


def test_of_documents_no_page_says_rows(no_background: None) -> None:
    """The button to take one out, and what the attacker knows."""
    link = {"data": "few_bars", "model": "lda", "iterations": "1", "rows_per_person": "3"}
    control(healthy(opened(**link)), "button", "Remove one document")
    assert "the documents of all but one author" in attack_texts.lead(
        "document", "author", "topics", "letters", made_up=False
    )


def recipe_link(method: str, count_by: str) -> dict[str, str]:
    """A link to a recipe on a table that it suits."""
    model = MODELS_OF_METHODS[method]
    data = {"gmm-release": {"data": "five_parties"}, "logistic": {"data": "who_comes_back"}}
    data["lda"] = {"data": "few_bars", "iterations": "1"}
    if method == "r1smg":  # for three columns or more
        data["gmm-release"] = {"data": "iris"}
    choices = {**data.get(model, SMALL), "model": model, "method": method}
    return {**choices, "count_by": count_by, "epsilon": "8"}


@every("method, count_by", product(MODELS_OF_METHODS, ACCOUNTANTS))
def test_a_way_that_a_recipe_has_not_is_brought_in_line(method: str, count_by: str) -> None:
    found = asked(**recipe_link(method, count_by))
    assert found.method == method
    assert found.count_by == (count_by if count_by in found.methods() else found.methods()[0])


def promises_what_it_says(method: str, said: str) -> None:
    """A guarantee stands under the picture, and a paper's claim is told as such."""
    assert said
    if method_of(method).mode == "paper":
        assert "The paper says epsilon = 8.00" in said


def test_gradient_em_in_the_local_model_has_its_picture(no_background: None) -> None:
    """Its reference without clipping is that of a curator."""
    found = asked(model="mixture-regression", method="local", data="two_lines", epsilon="8")
    assert now_in(drawn(found), "guarantee")


@pytest.mark.full
@pytest.mark.parametrize("method", MODELS_OF_METHODS)
@every("count_by", ACCOUNTANTS)
def test_the_page_of_every_recipe_offers_the_ways_it_has(method: str, count_by: str) -> None:
    link = recipe_link(method, count_by)
    page = healthy(opened(**link))
    offered = control(page, "selectbox", "Composition")
    legal, refused = asked(**link).methods(), asked(**link).refused()
    assert offered.value == (count_by if count_by in legal else legal[0])
    assert len(offered.options) == len({*legal, *refused})
    assert sum(option.startswith("✗") for option in offered.options) == len(refused)
    promises_what_it_says(method, guarantee(page))


EXTREMES: list[dict[str, str]] = [
    {"epsilon": "0.01"},
    {"epsilon": "100"},
    {"components": "1"},
    {"components": "10"},
    {"model": "kmeans"},
    {"model": "kmeans", "components": "10", "clip": "0.1"},
    {"model": "kmeans", "method": "dpem_kmeans", "epsilon": "0.01"},
    {"model": "kmeans", "adjacency": "add_remove", "without": "1"},
    {"model": "fa", "components": "1"},
    {"model": "fa", "method": "dpem_factors", "epsilon": "100"},
    {"model": "fa", "adjacency": "add_remove", "epsilon": "0.01", "clip": "0.1"},
    {"model": "fa", "without": "1"},
    {"model": "symmetric-mixture"},
    {"model": "symmetric-mixture", "method": "robust_means", "without": "1", "epsilon": "0.01"},
    {"data": "two_clouds", "words": "sigma:1000000;tau:0.000001;threshold:0.000001"},
    {"data": "two_clouds", "adjacency": "add_remove", "without": "1"},
    {"data": "two_lines", "method": "clipped_at_1", "epsilon": "100"},
    {"data": "two_lines", "words": "own:0;sigma:0.001", "iterations": "50"},
    {"data": "missing_answers", "words": "missing_rate:0.9", "method": "robust_means_exact"},
    {"data": "missing_answers", "model": "gmm", "without": "1"},
    {"data": "five_parties", "epsilon": "0.01", "without": "1"},
    {"data": "five_parties", "epsilon": "100", "adjacency": "feature", "without": "1"},
    {"data": "five_parties", "adjacency": "add_remove", "rows_per_person": "1000"},
    {"data": "five_parties", "method": "public_shapes", "adjacency": "replace_one"},
    {"data": "five_parties", "method": "least_trace", "epsilon": "0.01", "without": "1"},
    {"data": "five_parties", "method": "plain_laplace", "adjacency": "replace_one", "clip": "0.1"},
    {"data": "iris", "model": "gmm-release", "epsilon": "0.01"},
    {"data": "who_comes_back", "epsilon": "0.01", "adjacency": "add_remove", "without": "1"},
    {"data": "who_comes_back", "epsilon": "100", "adjacency": "label", "without": "1"},
    {"data": "who_comes_back", "method": "vips", "epsilon": "100", "iterations": "50"},
    {"data": "who_comes_back", "method": "vips_proved", "epsilon": "0.01"},
    {"data": "who_comes_back", "method": "objective", "adjacency": "add_remove"},
    {"data": "few_bars", "epsilon": "0.01", "without": "1", "iterations": "2"},
    {"data": "few_bars", "components": "1", "adjacency": "add_remove", "iterations": "2"},
    {"data": "few_bars", "words": "rate:0.01;length:1;forgetting:1", "epsilon": "100"},
    {"data": "few_bars", "model": "gmm", "clip": "1", "iterations": "1"},
    {"data": "lit_windows", "components": "10", "epsilon": "0.01", "iterations": "1"},
    {"data": "lit_windows", "method": "vips_sums", "without": "1", "iterations": "2"},
    {"data": "lit_windows", "words": "rate:0.1", "adjacency": "add_remove", "iterations": "2"},
    {"data": "digits", "model": "sbn", "components": "1", "iterations": "1"},
    {"model": "lda"},
    {"pool": "2"},
    {"delta": "1e-12"},
    {"delta": "0.5"},
    {"clip": "0.1"},
    {"iterations": "1"},
    {"iterations": "50"},
    {"rows_per_person": "1000"},
    {"covariance": "diag"},
    {"covariance": "spherical"},
    {"adjacency": "add_remove"},
    {"without": "1"},
    {"without": "1", "adjacency": "add_remove"},
    {"noise": "1000000"},
    {"x": "1", "y": "0"},
    {"hide": "data,model,method,count,epsilon"},
    {"made": "20x2x1x0", "components": "10"},
    {"made": "200x20x3x0", "x": "19", "y": "7"},
    {"epsilon": "0.01", "delta": "1e-12", "clip": "0.1", "iterations": "50", "components": "10"},
    {"epsilon": "100", "delta": "0.5", "iterations": "1", "components": "1"},
    {"method": "dpem_gaussian", "epsilon": "0.01", "rows_per_person": "1000"},
    {"method": "dpem_gaussian", "epsilon": "100", "iterations": "1", "components": "10"},
    {"method": "dpem_laplace", "epsilon": "0.01", "delta": "0.5", "covariance": "diag"},
    {"method": "dpem_laplace", "epsilon": "100", "iterations": "50", "clip": "0.1"},
]


@pytest.mark.full
@every("query", EXTREMES)
def test_extreme_choices_render(query: dict[str, str]) -> None:
    scenario, page = asked(**{**SMALL, **query}), healthy(opened(**{**SMALL, **query}))
    assert not page.error
    now = scene(page)
    for name, lines in now["live_text"].items():
        assert lines[now["step"]], name
        assert "nan" not in lines[now["step"]].lower().split()
    assert all((command(scenario), script(scenario), notebook(scenario)))


def test_hidden_controls_are_not_there() -> None:
    page = healthy(opened(**SMALL, hide="data,model,method,count,epsilon,delta,clip"))
    outside = [n for n in elements(page.main, skip="popover") if hasattr(n, "label")]
    assert not [
        n.label for n in outside if n.type in ("selectbox", "select_slider", "number_input")
    ]


def test_a_link_of_nonsense_opens_the_first_screen(first: AppTest) -> None:
    query = dict.fromkeys([*Scenario.__dataclass_fields__, "other"], "<script>alert(1)</script>")
    page = healthy(opened(**query))
    assert (bold(page), exact(page)) == (bold(first), exact(first))
    assert guarantee(page) == guarantee(first)
    assert not any("<script" in html for html in texts(page))


@every("name", Scenario.__dataclass_fields__)
def test_one_word_of_nonsense_leaves_the_rest(name: str) -> None:
    query = {**SMALL, "epsilon": "2"}
    without = {key: value for key, value in query.items() if key != name}
    found = asked(**{**query, name: "nonsense"})
    if name == "made":  # kept as written, read as the default
        assert GeneratedTable.parse(found.made) == GeneratedTable()
        found = replace(found, made=SMALL["made"])
        without = query
    assert found == asked(**without)
    if name not in ("epsilon", "hide"):
        assert found.epsilon == 2.0


@pytest.mark.parametrize("column", ["20", pytest.param("999", marks=pytest.mark.full)])
def test_columns_beyond_the_table_are_brought_back(column: str) -> None:
    page = healthy(opened(data="iris", x=column, y="1"))
    assert not page.error
    for _ in range(2):
        assert page.session_state["misread"] == ("x",)
        assert (page.session_state["scenario"].x, page.session_state["scenario"].y) == (0, 1)
        assert misread("x") in [line.value for line in page.warning]
        healthy(page.run())


# ---------------------------------------------------------------- what the controls do


def test_new_noise_moves_the_private_fit_alone() -> None:
    page = healthy(opened(**SMALL))
    private, plain = bold(page), exact(page)
    healthy(control(page, "button", "New noise").click().run())
    assert bold(page) != private
    assert exact(page) == plain


def test_who_has_several_rows_is_not_said_to_be_one_row() -> None:
    page = healthy(opened(data="rare_person", rows_per_person="5", **TWO))
    healthy(control(page, "button", "Remove one row").click().run())
    said = unescape(" ".join(texts(page)))
    assert "rows of people" in said
    assert "on one row (each person has at most 5)" in re.sub(r"<[^>]+>", "", said)
    assert "log-likelihood per row" in json.dumps(scene(page))


def test_removing_one_person_and_putting_them_back_is_no_change() -> None:
    page = healthy(opened(data="rare_person", **TWO))
    before = scene(page)["id"]
    healthy(control(page, "button", "Remove one person").click().run())
    assert scene(page)["id"] != before
    healthy(control(page, "button", "Put the person back").click().run())
    assert scene(page)["id"] == before


@pytest.mark.parametrize(
    "query",
    [
        {
            **SMALL,
            "epsilon": "0.4",
            "delta": "0.0001",
            "components": "2",
            "adjacency": "add_remove",
        },
        {"data": "two_lines", "method": "robust_means", "words": "sigma:2"},
    ],
)
def test_a_widget_that_is_built_late_shows_what_is_asked(query: dict[str, str]) -> None:
    """The browser takes a widget's default where it never heard the value, and sends it back."""
    page = healthy(opened(**query))
    seen = 0
    for one in elements(page.main):
        if not getattr(one, "key", None) or one.type not in ("number_input", "selectbox"):
            continue
        default = one.proto.default if one.proto.HasField("default") else None  # an empty box
        told = one.options[default] if one.type == "selectbox" else default
        value = one.format_func(one.value) if one.type == "selectbox" else one.value
        assert told == value, one.key
        seen += 1
    for slider in page.select_slider:
        assert slider.proto.default == [slider.options.index(slider.format_func(slider.value))]
    assert seen > 6


@pytest.mark.parametrize(("name", "value"), [("start", 3), ("norm", 9.0)])
def test_a_box_that_was_empty_can_be_emptied_again(name: str, value: float) -> None:
    """Streamlit puts a box's number back where a reader deletes it."""
    page, key = opened(data="two_lines", model="mixture-regression"), f"setting_{name}"
    assert not [one for one in page.button if one.key == f"empty_{name}"]
    words = page.session_state["scenario"].words
    healthy(page.number_input(key=key).set_value(value).run())
    assert f"{name}:{value:g}" in page.session_state["scenario"].words
    healthy(page.button(key=f"empty_{name}").click().run())
    assert page.session_state["scenario"].words == words
    assert page.number_input(key=key).value is None


def test_the_number_of_groups_is_pulled_up_and_put_away_again() -> None:
    page = opened(**SMALL)
    for third in ("components", "clip", "components"):
        healthy(page.button(key="each_number").click().run())
        now = page.session_state["scenario"]
        assert now.beside == third
        assert now.dial == ("epsilon" if third == "clip" else third)
        assert page.select_slider(key=f"{third}_step").value


def test_slider_and_exact_box_say_the_same() -> None:
    page = healthy(opened(**SMALL))
    healthy(control(page, "select_slider", "Privacy budget").set_value(2.0).run())
    assert control(page, "number_input", "Exact").value == 2.0
    assert "epsilon = 2.00" in guarantee(page)
    healthy(control(page, "number_input", "Exact").set_value(1.07).run())
    assert "epsilon = 1.07" in guarantee(page)
    assert scene(page)["labels"][scene(page)["step"]] == "1.07"
    assert control(page, "select_slider", "Privacy budget").value == pytest.approx(1.07, rel=0.06)


def test_a_choice_whose_callback_was_lost_is_applied_in_the_next_run() -> None:
    """The browser's value is in the session, but nobody was called: a slider, a box and a list."""
    page = opened()
    page.session_state["epsilon_step"] = 2.0
    healthy(page.run())
    assert page.session_state["scenario"].epsilon == 2.0
    assert control(page, "number_input", "Exact").value == 2.0
    page.session_state["epsilon_exact"] = 1.5
    healthy(page.run())
    assert page.session_state["scenario"].epsilon == 1.5
    page.session_state["choice_count_by"] = "zcdp"
    healthy(page.run())
    assert page.session_state["scenario"].count_by == "zcdp"


def test_nothing_is_fitted_anew_for_a_budget_on_the_slider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files to take away are made when they are taken: a fit of topics takes half a second."""
    scenario = asked()
    data = data_of(scenario)
    while not compute.study(scenario, data, store_of(data)).complete:
        sleep(0.1)
    page = healthy(opened())

    def fitted(*_: object, **__: object) -> None:
        raise AssertionError("the page fits what its study holds already")

    monkeypatch.setattr(compute, "one_fit", fitted)
    monkeypatch.setattr(compute, "budget_grid", fitted)
    healthy(control(page, "select_slider", "Privacy budget").set_value(0.5).run())
    assert "epsilon = 0.500" in guarantee(page)


@pytest.mark.full
def test_another_table_begins_with_its_own_groups_and_people() -> None:
    page = healthy(opened(**SMALL, without="1"))
    healthy(control(page, "selectbox", "Data").select("iris").run())
    assert len(bold(page)) == asked(data="iris").components == 2
    assert control(page, "button", "Remove one flower")


@pytest.mark.full
def test_a_paper_recipe_brings_the_other_choices_in_line() -> None:
    page = healthy(opened(**SMALL, adjacency="add_remove", count_by="exact"))
    healthy(control(page, "selectbox", "Method").select("dpem_laplace").run())
    assert control(page, "selectbox", "Composition").value == "zcdp"
    assert not [box for box in page.selectbox if box.label.startswith("Neighbours")]


@pytest.mark.full
def test_the_ends_of_every_setting_are_taken() -> None:
    page = healthy(opened(**SMALL))
    for label, values in {
        "Iterations": (1,),
        "δ": (1e-12, 0.5),
        "Clipping": (0.1,),
        "Rows per": (1000,),
        "Noise seed": (10**6,),
    }.items():
        for value in values:
            healthy(control(page, "number_input", label).set_value(value).run())
            assert control(page, "number_input", label).value == value
            assert not page.error


def test_a_locked_server_still_shows_what_anybody_may_see(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock is about uploads; bundled and generated tables hold nobody's rows."""
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    page = healthy(opened(data="generated", made="50x2x2x99", components="2"))
    assert [error.value for error in page.error] == []
    assert len(bold(page)) == 2


def test_an_upload_without_a_file_asks_for_one() -> None:
    page = healthy(opened(data="upload"))
    assert page.get("file_uploader")
    assert not page.error


def test_what_each_release_spends_adds_up() -> None:
    """Shares of mu squared; releases of equal noise in a row stand on one line."""
    from app.components import spending
    from dpcore.datasets.load import load
    from dpcore.fitting.api import fit

    table = load("bundled:three_groups")
    found = fit("gmm", table, privacy=Privacy(1.0, 1e-5), iterations=10, seed=0)
    lines = spending(found.ledger).splitlines()[2:]
    assert len(lines) == 8
    assert wording.SIMPLEST in lines[3]
    assert "| 23.0% |" in lines[3]
    assert "(2 alike)" in lines[4]
    counts = [1, 1, 1, 1, 2, 3, 3, 2]
    shares = [float(line.split("|")[3].split("%")[0]) for line in lines]
    assert sum(n * s for n, s in zip(counts, shares, strict=True)) == pytest.approx(100, abs=0.5)
    assert min(shares) > 0.0, "nothing that is released is free"
    printed = Privacy(1.0, 1e-5, mode="paper", accountant="zcdp")
    paper = fit("gmm", table, privacy=printed, combination="LLG", iterations=2, seed=0)
    assert "Laplace" in spending(paper.ledger)
    assert "%" not in spending(paper.ledger)


def test_only_sliders_have_the_keys_that_the_style_sheet_takes_for_sliders() -> None:
    """They are taller than buttons, and stay where a page is shown to a class."""
    page = opened()
    sliders = {one.key for one in [*page.slider, *page.select_slider]}
    widgets = [*page.button, *page.selectbox, *page.number_input, *page.text_input]
    assert any("_step" in str(key) for key in sliders)
    assert not [one.key for one in widgets if "_step" in str(one.key)]


def test_step_by_step_opens_a_picture_of_every_method(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    monkeypatch.setattr("app.views.explore.look_again", lambda _, every: looks.append(every))
    page = opened(data="two_clouds", noise="8")
    assert looks, "the dials beside epsilon are still to come"
    looks.clear()
    page.button(key=steps.OPENED).click().run()
    healthy(page)
    assert not looks, "a page drawn anew closes the dialog"
    sent = [node.proto.bytes for node in page.get("bidi_component")]
    assert any(b"Robust means, as published" in text for text in sent)
    told = [str(one.value) for one in page.markdown]
    assert any("ε = 1.00, δ = 10⁻⁵, replacing one person's row." in text for text in told)


@pytest.mark.merge
def test_a_bad_address_is_one_sentence_until_something_is_chosen() -> None:
    page = opened(**SMALL, epsilon="abc", model="zzz", utm_source="mail")
    (said,) = [one.value for one in healthy(page).warning]
    assert said == misread("model, epsilon")
    assert re.fullmatch(r"[^.;]+; [^.;]+\.", said)
    assert dict(page.query_params) == SMALL
    next(one for one in page.button if one.label == "New noise").click().run()
    assert not healthy(page).warning


@pytest.mark.merge
@every("view", ["compose", "attack", "release", "learn"])
def test_each_page_says_what_of_its_address_is_not_understood(view: str) -> None:
    def frame(view: str, state: dict[str, str]) -> None:
        from importlib import import_module

        import streamlit as st

        st.session_state["pages"] = {}
        import_module(f"app.views.{view}").page()

    bad = {
        "compose": {"k": "0"},
        "attack": {"epsilon": "abc"},
        "release": {"model": "zzz"},
        "learn": {"figure": "x"},
    }
    page = AppTest.from_function(frame, default_timeout=PATIENCE, args=(view, bad))
    for name, value in bad[view].items():
        page.query_params[name] = value
    page.run()
    assert len(page.warning) == 1
    assert page.warning[0].value == misread(", ".join(bad[view]))


@pytest.mark.parametrize(("many", "dial", "expected"), [
    (False, "epsilon", ["delta", "clip"]),
    (True, "epsilon", []),
    (True, "clip", ["clip"]),
])  # fmt: skip
def test_with_many_visitors_only_the_dial_that_was_moved_is_worked_out(
    monkeypatch: pytest.MonkeyPatch, many: bool, dial: str, expected: list[str]
) -> None:
    asked: set[str] = set()
    monkeypatch.setattr(explore, "crowded", lambda: many)
    monkeypatch.setattr(explore, "done", lambda scenario, data, store, dial: asked.add(dial.name))
    monkeypatch.setattr(explore, "still_to_come", lambda *_: 1)
    monkeypatch.setattr(explore, "look_again", lambda more, every: None)
    healthy(opened(data=GENERATED, made="200x2x3x1", iterations="2", dial=dial))
    assert asked <= set(expected)
    assert bool(asked) == bool(expected)
