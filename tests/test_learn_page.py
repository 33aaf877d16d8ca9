"""Learn: answers are worked out, guesses are remembered, links lead where they say."""

from __future__ import annotations

import html
import math
import re
import sys
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
import scipy
from app_pages import data_of, elements, explorer, scenes
from app_pages import texts as html_texts
from scipy.optimize import brentq
from streamlit.testing.v1 import AppTest
from studio.answers import counted, faces_found, gaussian_epsilon, gaussian_mu, solved
from support import ROOT, every

from app import attacking, composing, exercise_sheet, learning, spoilers
from app.composing import PRESETS
from app.compute import DRAWS
from app.explorer import PAGES
from app.learning import LESSONS
from app.lesson import Lesson
from app.papers import at_full_size, played
from app.scenario import GENERATED, GeneratedTable, Scenario, from_query, offered, opening
from app.texts import frame
from app.texts import learn as learn_texts
from app.texts import static as texts
from dpcore.accounting import compose
from dpcore.cli import main, parse
from dpcore.cli.explore import PAGES as NAMED
from dpcore.cli.explore import place
from dpcore.datasets.catalogue import bundled
from dpcore.errors import InputError
from dpcore.evaluation.study import EPSILONS, budget_grid, references
from dpcore.evaluation.yardstick import yardstick
from dpcore.models.factor_analysis.scoring import ALIGNED
from dpcore.models.gaussian_mixture.scoring import FOUND_AFFINITY, FOUND_WEIGHT
from dpcore.privacy import Event, Gaussian
from dpcore.privacy.guarantee import show_delta
from dpcore.registry import PAPERS

VIEW = """
from app.frame import frame
from app.views.{} import page
frame()
page()
"""
PAGE = VIEW.format("learn")
EACH = pytest.mark.parametrize("lesson", LESSONS, ids=[one.name for one in LESSONS])
PLAYED = [one for one in LESSONS if one.page]  # the others are arithmetic
LINKED = pytest.mark.parametrize("lesson", PLAYED, ids=[one.name for one in PLAYED])


@EACH
def test_the_answer_is_among_the_guesses_and_not_the_one_that_is_set(lesson: Lesson) -> None:
    truth = lesson.answer()
    assert math.isfinite(truth)
    assert lesson.options[0] <= truth <= lesson.options[-1]
    assert lesson.nearest(truth) != lesson.options[len(lesson.options) // 2]
    assert "{}" not in lesson.explained()


@LINKED
def test_its_links_are_understood_by_their_page(lesson: Lesson) -> None:
    links = {table.name: table for table in bundled()} | {GENERATED: None}
    assert lesson.page in PAGES
    for query in (lesson.look, lesson.query):
        if lesson.page == "attack":
            assert float(query["epsilon"]) in attacking.EPSILONS
            continue
        read = (
            composing.from_query
            if lesson.page == "compose"
            else partial(from_query, data_names=links)
        )
        found = read(query)
        assert {name: written(getattr(found, name)) for name in query} == dict(query)


def written(value: Any) -> str:
    return "_".join(map(str, value)) if isinstance(value, tuple) else str(value)


@LINKED
def test_its_links_open_on_another_machine(lesson: Lesson) -> None:
    for query in (lesson.look, lesson.query):
        state = lesson.state(query)
        asked = parse(["explore", state])
        page, _, words = place(asked.state).partition("?")
        assert page == ("" if lesson.page == "explore" else lesson.page)
        assert dict(parse_qsl(words)) == dict(query)


def test_the_link_in_the_readme_hides_every_epsilon() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    (state,) = re.findall(r'`dpcore explore "([^"]+)"`', text)
    query = dict(parse_qsl(place(state).removeprefix("?")))
    assert from_query(query, {}).hide == query["hide"] == "epsilon,says,curve,promise"


def test_a_state_that_names_no_page_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "nowhere?k=3", "--port", "9", "--no-browser"]) == 2
    assert "start it with one of explore, compose" in capsys.readouterr().err
    assert tuple(PAGES) == NAMED


@LINKED
def test_it_hides_its_answer_until_there_is_a_guess(lesson: Lesson) -> None:
    assert "hide" not in lesson.query
    if lesson.name != "people":  # where there is nothing to read off
        assert spoilers.hideable(lesson.page, lesson.look["hide"]) == lesson.look["hide"]
        assert "says" in lesson.look["hide"].split(",")


def test_what_the_pages_show_is_the_answer() -> None:
    """A link that led to other numbers would teach nothing."""
    asked = composing.from_query(learning.lesson("compose").query)
    total = compose([replace(e, count=asked.k) for e in asked.events], "exact", delta=asked.delta)
    assert float(total.epsilon) == pytest.approx(learning.hundred_together())
    once = compose([Event(Gaussian(learning.NOISE))], "exact", delta=learning.DELTA)
    assert 0.0999 < once.epsilon <= 0.1

    links = {table.name: table for table in bundled()} | {GENERATED: 0}
    hide, people = (learning.lesson(name) for name in ("hide", "people"))
    shown = from_query(hide.query, links)
    assert (shown.setting(), shown.epsilon) == (Scenario().setting(), 0.1)
    few, many = (
        GeneratedTable.parse(from_query(q, links).made) for q in (people.look, people.query)
    )
    assert many == replace(few, rows=10 * few.rows)
    assert float(people.query["epsilon"]) == pytest.approx(people.answer(), rel=0.01)


@pytest.mark.parametrize("name", ["compose", "claims", "attack"])
def test_a_bound_is_told_rounded_up(name: str) -> None:
    one = learning.lesson(name)
    assert one.answer() <= float(one.written(one.answer())) <= 1.02 * one.answer()


def test_what_holds_for_every_epsilon_is_said_and_true() -> None:
    assert f"δ = {show_delta(learning.DELTA)}" in learn_texts.TERMS
    for name in ("three_groups", "faces_like", "generated"):
        found = opening(name)
        assert (found.delta, found.adjacency) == (learning.DELTA, "replace_one")
    assert composing.Composition().delta == learning.DELTA


@LINKED
def test_a_question_names_its_mechanism(lesson: Lesson) -> None:
    assert "Gaussian" in lesson.ask


@EACH
def test_a_hint_is_no_answer(lesson: Lesson) -> None:
    assert len(lesson.hint) > 40
    assert "{" not in lesson.hint
    told = lesson.written(lesson.answer())
    assert not re.search(rf"(?<![\d.]){re.escape(told)}(?![\d.])", lesson.hint)


def test_there_are_enough_questions_and_none_twice() -> None:
    assert len(LESSONS) >= 20
    assert len({one.title for one in LESSONS}) == len({one.name for one in LESSONS}) == len(LESSONS)
    numbers = re.findall(r"(?m)^## (\w+):", (ROOT / "app" / "lessons.md").read_text("utf-8"))
    assert sorted(numbers) == sorted(one.name for one in LESSONS)


def hundred(losses: np.ndarray[Any, Any], chances: np.ndarray[Any, Any]) -> float:
    """Epsilon at which a hundred independent losses, on an even grid, spend delta."""
    step, size = losses[1] - losses[0], 100 * (len(losses) - 1) + 1
    spectrum = np.fft.rfft(chances, 2 * size)
    total = np.fft.irfft(spectrum**100, 2 * size)[:size]
    at = 100 * losses[0] + step * np.arange(size)

    def spent(epsilon: float) -> float:
        return float(np.sum(total * np.maximum(-np.expm1(np.minimum(epsilon - at, 0.0)), 0.0)))

    return float(brentq(lambda epsilon: spent(epsilon) - learning.DELTA, 0.1, 9.9))


def test_every_answer_is_solved_again_from_its_question_alone() -> None:
    answers = solved()
    assert {one.name for one in LESSONS} - set(answers) == {"hide", "face"}, "fits, below"
    for name, answer in answers.items():
        assert learning.lesson(name).answer() == pytest.approx(answer, rel=2e-3), name
    others = {
        "noise": {"classic": math.sqrt(2.0 * math.log(1.25e5))},
        "tail": {"tail": scipy.stats.norm.sf(0.5)},
        "many": {"each": gaussian_epsilon(0.2)},
        "counts": {"laplace": scipy.stats.laplace.std(scale=100.0)},
    }
    for name, expected in others.items():
        told = {word: float(text) for word, text in learning.lesson(name).others().items()}
        assert told == pytest.approx(expected, rel=6e-3)


@pytest.mark.merge
def test_what_epsilon_hides_can_be_counted_in_its_picture() -> None:
    assert counted() == learning.groups_found()


@pytest.mark.merge
def test_the_face_s_answer_rests_on_what_its_question_says_of_clipping() -> None:
    face = learning.lesson("face")
    assert faces_found(face.answer(), 1.0) > 0.5 > faces_found(face.answer() / 2.0, 1.0)
    clipped = float(learning.a_face_can_show()["clipped"])
    shorter = learning.CLIPPED
    assert faces_found(clipped, shorter) > 0.5 > faces_found(clipped / 3.0, shorter)
    assert "Nothing is clipped" in face.ask
    assert f"clipping to {learning.CLIPPED:.0%}" in face.explained()


def test_other_plausible_answers_are_those_of_other_mechanisms() -> None:
    odds = math.e / (1.0 + math.e)
    laplace = 1.0 - math.exp(-0.5) / 2.0  # of Laplace noise at the middle between two candidates
    assert learning.attackers_elsewhere() == {
        "any": f"{100 * odds:.0f}",
        "laplace": f"{100 * laplace:.0f}",
    }
    likely = math.exp(0.1) / (1.0 + math.exp(0.1))  # randomized response
    losses = np.linspace(-0.1, 0.1, 401)
    below = 0.5 * np.exp(-(0.1 - losses) / 2.0)  # of Laplace noise: how often the loss is at most
    below[-1] = 1.0
    expected = {
        "any": hundred(np.array([-0.1, 0.1]), np.array([1.0 - likely, likely])),
        "laplace": hundred(losses, np.diff(below, prepend=0.0)),
    }
    told = learning.hundreds_of_others()
    assert {name: float(text) for name, text in told.items()} == pytest.approx(expected, rel=4e-3)
    smaller = gaussian_epsilon(gaussian_mu(1.0) / 10.0, learning.DELTA / 10.0)
    assert float(learning.smaller_delta()["smaller"]) == pytest.approx(smaller, rel=2e-3)
    counted = gaussian_epsilon(math.sqrt(learning.RELEASES) / learning.PRINTED)
    assert float(learning.only_counted_better()["counted"]) == pytest.approx(counted, rel=4e-3)
    assert f"{learning.PRINTED}" in learning.lesson("claims").ask
    pairs = learning.lesson("compose")
    assert -math.expm1(100 * math.log1p(-learning.DELTA)) == pytest.approx(0.001, rel=1e-3)
    assert "already come to 0.001" in pairs.explained()


def grid_of(data: str, epsilons: tuple[float, ...], words: str = "") -> tuple[Any, Any]:
    """Fits of a table as Explore opens it [with a link's options], and the exact one."""
    scenario = replace(opening(data), words=words or opening(data).words)
    table, setting = learning.fitted_on_explore(scenario)
    exact = references(table, setting).converged
    return budget_grid(table, setting, exact, epsilons, range(DRAWS)), exact


def test_the_picture_shows_the_face_from_where_the_answer_says() -> None:
    face = learning.lesson("face")
    at = EPSILONS.index(face.answer())
    assert float(face.query["epsilon"]) == EPSILONS[at]
    grid, _ = grid_of("faces_like", (*EPSILONS[at - 1 : at + 1], 20.0), face.query["words"])
    often = grid.recovered[:, :, 0].sum(axis=1)
    assert often[0] <= DRAWS / 2 < often[1] <= often[2]
    assert grid.recovered[1, 0, 0], "the bold draw shows it too"
    trace = float(learning.a_face_can_show()["trace"])
    assert trace < EPSILONS[at - 1], "that of theory is another threshold"
    marked = {name: epsilon for epsilon, name in yardstick("fa").marks(grid)}
    assert marked["factor 1 is found from here on"] == face.answer()
    assert "The curve marks it." in face.explained()


def test_sizes_of_private_groups_differ_the_more_the_stronger_the_noise() -> None:
    grid, exact = grid_of("three_groups", (0.1, 0.5, 20.0))
    areas = np.sqrt(np.linalg.det(grid.fits.covariances) / np.linalg.det(exact.covariances))
    narrow, wide = np.quantile(areas, [0.1, 0.9], axis=(1, 2))
    assert np.all(np.diff(wide - narrow) < 0.0)
    assert narrow[0] < 1.0 < wide[0]
    assert learning.areas() == {"narrow": f"{narrow[0]:.1f}", "wide": f"{wide[0]:.1f}"}
    found = grid.recovered[0].all(axis=1).sum()
    assert learning.groups_found() == found
    people, faces = (data_of(opening(name)) for name in ("three_groups", "faces_like"))
    assert f"{people.rows:,} people" in learning.lesson("hide").ask
    assert f"{faces.rows:,} simulated faces" in learning.lesson("face").ask
    assert faces.rows == learning.FACES
    alike = f"at least {FOUND_AFFINITY:g} and its weight is within a factor of {FOUND_WEIGHT:g}"
    assert alike in learning.lesson("hide").ask
    assert f"at least {ALIGNED:g}" in learning.lesson("face").ask


def test_composition_is_not_addition() -> None:
    """The answers move with what they are about."""
    assert learning.hundred_together() < 10.0 / 5.0
    assert learning.ten_times_the_people() < 1.0 / 8.0
    assert 50.0 < learning.attacker_at_one() < 60.0
    assert learning.really_paid() < 0.5


def test_an_answer_is_shown_once_a_guess_is_made_and_stays() -> None:
    at = AppTest.from_string(PAGE, default_timeout=300).run()
    assert not at.exception
    assert not any("of 13" in str(one.value) for one in at.markdown)
    at.select_slider[0].set_value(2.0).run()
    assert not any("of 13" in str(one.value) for one in at.markdown), "a guess is made by a click"
    at.button[0].click().run()
    assert not at.exception
    assert any("of 13" in str(one.value) for one in at.markdown)
    assert any("You said **2**" in str(one.value) for one in at.markdown)
    assert at.query_params["guesses"] in ("hide:2", ["hide:2"])
    assert at.select_slider[0].disabled


def test_guesses_come_back_from_an_address() -> None:
    guesses = {"hide": 4.0, "people": 0.05}
    assert learning.read_guesses(learning.write_guesses(guesses)) == guesses
    assert learning.read_guesses("hide:99,x:1,,:::,hide:nan") == {}


def test_the_sheet_asks_everything_and_answers_only_the_teacher() -> None:
    plain, solved = (Sheet(exercise_sheet.sheet(solved=is_solved)) for is_solved in (False, True))
    for lesson in LESSONS:
        told = re.sub(r"[*`]", "", lesson.explained())
        assert lesson.ask in plain.text
        assert f"Hint: {lesson.hint}" in plain.text
        assert told not in plain.text
        assert told in solved.text
        if lesson.page:
            assert lesson.state(lesson.look) in plain.text
            assert lesson.state(lesson.query) not in plain.codes
            assert lesson.state(lesson.query) in solved.codes
    assert texts.TEACHER_TITLE in solved.text
    assert texts.TEACHER_TITLE not in plain.text
    for page, words in frame.HIDEABLE.items():
        assert page.capitalize() in solved.text
        assert set(words) <= set(solved.codes)


def test_a_sheet_for_an_explorer_has_absolute_links_and_their_codes() -> None:
    base = "http://127.0.0.1:8501/dp/"
    text = exercise_sheet.sheet(solved=True, base=base)
    links = [html.unescape(one) for one in re.findall(r'href="([^"]*)"', text)]
    states = [lesson.state(q) for lesson in PLAYED for q in (lesson.look, lesson.query)]
    assert links == [base + state for state in states]
    codes = len(links) if find_spec("segno") else 0
    assert text.count("<svg") == codes
    for odd in ("nowhere", "javascript:alert(1)", 'http://a/"><b>', "http://a b", "ftp://a/b"):
        with pytest.raises(InputError, match=texts.BASE_ERROR[0]):
            exercise_sheet.sheet(solved=False, base=odd)


def test_without_the_package_of_codes_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "segno", None)
    monkeypatch.setattr(exercise_sheet, "find_spec", lambda name: None)
    assert exercise_sheet.without_codes() == texts.WITHOUT_CODES
    assert "<svg" not in exercise_sheet.sheet(solved=True, base="http://127.0.0.1:8501")


class Sheet(HTMLParser):
    """Text and code of a sheet; every element that is opened is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.codes: list[str] = []
        self.feed(page)
        assert self.open == []
        self.text = re.sub(r"\s+", " ", "".join(self.words))

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert not {name for name, _ in attrs} & {"src", "href"}, "a sheet needs nothing else"
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.open[-1:] == ["code"]:
            self.codes.append(data)


# ---------------------------------------------------------------- what a link hides


@every("page", frame.HIDEABLE)
@every("text", ["", "nonsense", "says,<script>", "says,says,", ",,", "x" * 5000])
def test_words_that_a_page_does_not_know_are_left_out(page: str, text: str) -> None:
    known = spoilers.hideable(page, text)
    assert known == ("says" if "says" in text else "")
    assert spoilers.hideable(page, known) == known


def test_an_address_keeps_only_words_that_hide_something() -> None:
    assert from_query({"hide": "curve,k,evil"}, {}).as_query() == {"hide": "curve"}
    assert composing.from_query({"hide": "k,curve,evil"}).as_query() == {"hide": "k,curve"}


@pytest.mark.merge
@pytest.mark.parametrize(
    ("page", "start", "covered", "panels"),
    [
        (
            "explore",
            {"data": "generated", "made": "200x2x2x1"},
            {"says": "sentence", "promise": "guarantee"},
            ("exact", "private", "curve"),
        ),
        ("compose", {"k": "5"}, {"says": "sentence", "promise": "promise"}, ("bars", "curve")),
    ],
)
def test_each_word_hides_its_thing_and_one_click_shows_all(
    page: str, start: dict[str, str], covered: dict[str, str], panels: tuple[str, ...]
) -> None:
    def visit(hide: str) -> AppTest:
        at = AppTest.from_string(VIEW.format(page), default_timeout=300)
        at.query_params.update({**start, "hide": hide})
        at.run()
        assert not at.exception
        return at

    for word, name in covered.items():
        at = visit(word)
        assert f'data-live="{name}"' not in told(at)
        assert tuple(shown(at)) == panels
        at.button(key="uncover").click().run()
        assert f'data-live="{name}"' in told(at)
        assert "hide" not in at.query_params
        assert "uncover" not in {one.key for one in at.button}
    for panel in panels:
        at = visit(panel)
        assert panel not in shown(at)
        assert len(shown(at)) == len(panels) - 1
        assert all(f'data-live="{name}"' in told(at) for name in covered.values())


def told(at: AppTest) -> str:
    return "".join(html_texts(at))


def shown(at: AppTest) -> list[str]:
    """Panels of the picture."""
    (scene,) = scenes(at)
    return [panel["id"] for panel in scene["panels"]]


@pytest.mark.merge
@pytest.mark.parametrize("lesson", [one for one in LESSONS if "hide" in one.look])
def test_who_looks_first_is_told_where_the_guess_is_made(lesson: Lesson) -> None:
    number, page = LESSONS.index(lesson) + 1, lesson.page
    assert learning.question(page, lesson.look["hide"], lesson.look.get("data")) == number
    if page == "explore":  # the page that the explorer opens on
        at = explorer(**lesson.look)
        links = [one.proto.label for one in elements(at.main) if one.type == "page_link"]
        assert f"Guess: question {number} on Learn" in links


def test_a_link_of_one_s_own_names_no_question() -> None:
    at = explorer(data="generated", made="200x2x2x1", hide="says")
    assert any("Make a guess first" in str(one.value) for one in at.markdown)
    assert not any(
        "Guess" in str(one.proto) for one in elements(at.main) if one.type == "page_link"
    )


def test_a_link_to_attack_sets_the_slider_and_hides() -> None:
    at = AppTest.from_string(VIEW.format("attack"), default_timeout=300)
    at.session_state["scenario"] = Scenario(data="rare_person", components=2, iterations=3)
    at.query_params.update({"epsilon": "1", "hide": "says,hits,odd"})
    at.run()
    assert not at.exception
    assert at.select_slider(key="attack_step").value == 1.0
    assert 'data-live="attacked"' not in told(at)
    assert shown(at) == ["clouds", "ruler"]
    at.select_slider(key="attack_step").set_value(2.0).run()
    assert at.select_slider(key="attack_step").value == 2.0, "the link moved it back"
    at.button(key="uncover").click().run()
    assert 'data-live="attacked"' in told(at)
    assert shown(at) == ["clouds", "hits", "ruler"]


def test_a_page_left_for_one_without_choices_is_found_as_it_was() -> None:
    """Explore, Learn, Explore again by the bar, which brings no address."""
    script = """
import streamlit as st
from app import state
shown = st.session_state.get("which", "explore")
if shown == "explore":
    st.write(f"epsilon {state.current().epsilon}")
else:
    from app.views.learn import page
    page()
"""
    at = AppTest.from_string(script, default_timeout=300)
    at.query_params["epsilon"] = "0.5"
    at.run()
    at.session_state["which"] = "learn"
    at.query_params.clear()
    at.run()
    at.session_state["addressed"] = -1e9  # long ago
    at.session_state["which"] = "explore"
    at.query_params.clear()
    at.run()
    assert not at.exception
    assert at.markdown[0].value == "epsilon 0.5"


# ---------------------------------------------------------------- what to read


def test_every_document_is_on_the_list_and_stands_alone() -> None:
    assert set(learn_texts.DOCUMENTS) == {path.stem for path in (ROOT / "app/docs").glob("*.md")}
    for name in learn_texts.DOCUMENTS:
        text = learning.document(name)
        assert len(text) > 500
        pages = re.findall(r"\]\((?!https?:|#)(?:\?read=)?([^)#]*)", text)
        assert set(pages) <= set(learn_texts.DOCUMENTS), "a link that leads nowhere on this page"
        assert "\n## " not in text.replace("```", "\n```").split("```")[0]


def test_a_document_keeps_its_code() -> None:
    page = (ROOT / "app/docs/extending.md").read_text("utf-8")
    code = re.findall(r"```python\n.*?```", page, re.DOTALL)
    assert code
    assert all(block in learning.document("extending") for block in code)


def test_every_notebook_is_on_the_list() -> None:
    assert set(learn_texts.NOTEBOOKS) == {
        path.stem for path in (ROOT / "notebooks").glob("*.ipynb")
    }
    assert all(f"`{name}`" in learning.notebooks() for name in learn_texts.NOTEBOOKS)


def test_a_link_in_a_document_opens_the_page_it_names() -> None:
    text = learning.document("results")
    assert "[results on papers](?read=results-papers)" in text
    assert "(?read=results-utility#gaussian-mixtures)" in text
    assert "[Gaussian mixtures](#gaussian-mixtures)" in learning.document("results-utility")
    at = AppTest.from_string(PAGE, default_timeout=300)
    at.query_params["read"] = "results-utility"
    at.run()
    assert not at.exception
    assert at.selectbox[0].value == "results-utility"
    assert at.query_params["read"] == "results-utility"
    at.selectbox(key="document").set_value("glossary").run()
    assert any("**Accountant.**" in str(one.value) for one in at.markdown)


def test_every_regenerated_figure_can_be_seen_and_played_with() -> None:
    titles = learning.figures()
    assert set(titles) == set(PAPERS)
    assert len(set(titles.values())) == len(titles)
    for name in titles:
        page, query = played(name)
        assert page in PAGES
        if "data" in query:
            assert query["data"] in {table.name for table in offered()}
        if "preset" in query:
            assert query["preset"] in PRESETS


@pytest.mark.merge
def test_a_figure_is_shown_with_its_verdict_finding_and_command() -> None:
    at = AppTest.from_string(PAGE, default_timeout=300).run()
    at.selectbox(key="figure").set_value("robust-em-figure-1").run()
    assert not at.exception
    assert len(at.get("plotly_chart")) == 6  # two panels of each of the three models
    assert any("clipping is better than Algorithm 2" in str(one.value) for one in at.markdown)
    (judged,) = [str(one.value) for one in at.markdown if str(one.value).startswith("**Agrees")]
    assert "| of the five thresholds, C = 1 is the best | 0\u00a0of\u00a04 | 0 |" in judged
    assert any("dpcore reproduce robust-em-figure-1" in str(one.value) for one in at.caption)


def test_a_link_to_a_figure_finds_it_above_the_lessons() -> None:
    at = AppTest.from_string(PAGE, default_timeout=300)
    at.query_params["figure"] = "vips-figure-8"
    at.run()
    assert not at.exception
    assert at.selectbox(key="figure").value == "vips-figure-8"
    headings = [str(one.value) for one in at.get("html") if "<h2>" in str(one.value)]
    assert "reproduced" in headings[0]
    at.button(key="made_hide").click().run()
    assert at.selectbox(key="figure").value == "vips-figure-8"
    assert at.query_params["figure"] == "vips-figure-8"
    assert "guesses" in at.query_params


def test_a_link_to_no_figure_is_an_ordinary_one() -> None:
    at = AppTest.from_string(PAGE, default_timeout=300)
    at.query_params["figure"] = "odd"
    at.run()
    assert not at.exception
    assert at.selectbox(key="figure").value is None
    assert "figure" not in at.query_params


def test_small_stand_ins_lead_to_what_was_worked_out_at_full_size() -> None:
    assert at_full_size("few_bars") == "vips-figure-2"
    assert at_full_size("lit_windows") == "vips-figure-8"
    assert at_full_size("faces_like") == "dp-em-figure-5"
    assert at_full_size("three_groups") is None, "the first screen holds no more than it must"
