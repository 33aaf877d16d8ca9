"""Pages that need no server: what is in their files, and that nothing in a text becomes code."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from app import site_lessons
from app.composing import Composition
from app.learning import LESSONS
from app.scenario import offered, opening
from app.site import COMPOSE, Entry, compose_page, index_html, names
from app.static_page import Dial, Figure, Page, page_html
from app.texts import static as texts
from dpcore.figures.scene import Axis, Cursor, Curve, Panel, Scene

HOSTILE = "</script><script>alert(1)</script>"


def scene(*, text: str = "At {} **one**.") -> Scene:
    """Three steps of one curve."""
    curve = Curve([0.1, 1.0, 10.0], [0.2, 0.5, 0.9])
    panel = Panel(
        "curve", "What each ε buys", text, "It rises.", Axis("ε", (0.1, 10.0), "log"),
        Axis("utility", (0, 1)), (curve, Cursor([0.1, 1.0, 10.0], [0.2, 0.5, 0.9])), width="full",
    )  # fmt: skip
    steps = ("0.10", "1.00", "10.0")
    says = {"sentence": tuple(map(text.format, steps)), "guarantee": ("Rehearsal.",) * 3}
    return Scene((0.1, 1.0, 10.0), steps, (panel,), says, step=1)


def dial(word: str, shown: Scene | None, help: str = "What it is.") -> Dial:
    return Dial(word, word, f"{word}_step", word.upper(), ("low", "high"), help, shown)


def page(**more: object) -> Page:
    plain = Page(
        "explore", "Title", "Simulated data", "See.", "A <b>lead</b>.", {"Data": "A < B"},
        (dial("epsilon", scene()), dial("delta", None, "No delta here.")), "sentence", "guarantee",
    )  # fmt: skip
    return replace(plain, **more)  # type: ignore[arg-type]


class Parts(HTMLParser):
    """Tags with their attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_a_page_is_one_file_that_asks_for_nothing() -> None:
    text = page_html(page())
    parts = Parts(text)
    assert not parts.of("link")
    assert not parts.of("img")
    assert not any("src" in attributes for _, attributes in parts.tags)
    assert [one.get("type") for one in parts.of("script")] == ["application/json", None]
    assert set(re.findall(r"https?://[^\s\"'`<]+", text)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1998/Math/MathML",
    }
    assert re.search(r"^(import|export)\b", text, re.MULTILINE) is None
    policy = next(one["content"] for one in parts.of("meta") if "http-equiv" in one)
    assert "default-src 'none'" in policy


def test_no_text_of_a_scene_becomes_code() -> None:
    hostile = scene(text=HOSTILE)
    text = page_html(page(dials=(dial("epsilon", hostile),), heading=HOSTILE, title=HOSTILE))
    assert len(Parts(text).of("script")) == 2
    stored = json.loads(Parts(text).scripts[0])
    assert stored["figures"][0][0]["scene"]["panels"][0]["subtitle"] == HOSTILE


def test_sliders_stand_where_the_scene_opens_and_say_so() -> None:
    inputs = Parts(page_html(page())).of("input")
    assert [(one["id"], one["max"], one["value"]) for one in inputs] == [
        ("epsilon", "2", "1"),
        ("delta", "1", "0"),
    ]
    assert inputs[0]["aria-valuetext"] == "1.00"
    assert "disabled" not in inputs[0]
    assert "disabled" in inputs[1]


def test_a_dial_that_cannot_slide_says_why_and_texts_stand_there_before_any_script_runs() -> None:
    text = page_html(page())
    assert "No delta here." in text
    assert '<p class="dp-says" data-live="sentence">At 1.00 <b>one</b>.</p>' in text
    two = page_html(page(dials=(dial("epsilon", scene()), dial("delta", scene()))))
    assert [texts.ONE_SLIDER in one for one in (text, two)] == [False, True]


def test_compose_has_its_film_below_and_a_link_hides_it_with_the_picture() -> None:
    made = compose_page(lambda _: None)
    (film,) = made.below
    (drawn,) = film.scenes.values()
    assert [panel.id for panel in drawn.panels] == ["loss", "attack", "moments", "orders"]
    assert not drawn.live_text  # the sentences follow the first picture
    stored = json.loads(Parts(page_html(made)).scripts[0])
    assert stored["hides"]["bars"] == "bars"
    assert {stored["hides"][panel.id] for panel in drawn.panels} == {"curve"}
    assert not compose_page(lambda _: None, Composition()).below


def test_each_figure_has_its_place_and_its_scenes() -> None:
    below = (Figure("Class by class", {"epsilon_step": scene()}),)
    text = page_html(page(below=below))
    assert text.count("<div data-figure></div>") == 2
    stored = json.loads(Parts(text).scripts[0])
    assert [[one["slider"] for one in figure] for figure in stored["figures"]] == [
        ["st-key-epsilon_step"],
        ["st-key-epsilon_step"],
    ]
    assert stored["words"] == {"st-key-epsilon_step": "epsilon", "st-key-delta_step": "delta"}
    assert stored["hides"] == {"curve": "curve"}


def test_every_table_that_is_offered_has_a_page_and_so_has_compose() -> None:
    assert names() == (*(table.name for table in offered()), COMPOSE, site_lessons.NAME)


def test_lessons_lead_to_pages_that_open_as_they_say() -> None:
    pages = site_lessons.needed()
    assert list(pages) == [
        "three_groups",
        "lesson-compose",
        "lesson-people",
        "lesson-people-answer",
        "lesson-claims",
        "lesson-face",
    ]
    assert pages["three_groups"] == opening("three_groups")
    assert pages["lesson-face"] == replace(opening("faces_like"), words="ball:limits")
    answer = pages["lesson-people-answer"]
    assert (answer.made, answer.epsilon) == ("50000x2x3x0", 0.081)
    assert getattr(pages["lesson-claims"], "method", "") == "dpem_gaussian"


def test_a_lesson_hides_where_to_look_and_folds_its_answer_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site_lessons.Lesson, "explained", lambda lesson: f"**{lesson.name}** < 1")
    text = site_lessons.lessons_html()
    links = [one["href"] for one in Parts(text).of("a")]
    assert links[0] == "path.html"
    assert links[1:3] == [
        "three_groups.html#epsilon=0.1&hide=says",
        "three_groups.html#epsilon=0.1",
    ]
    assert "lesson-compose.html#k=1&hide=k,says,curve,more" in links
    assert "attack?epsilon=1&amp;hide=says,hits,ruler" in text
    based = site_lessons.lessons_html("http://host:8501/dp/")
    away = [one["href"] for one in Parts(based).of("a") if "host" in one["href"]]
    assert away[0] == "http://host:8501/dp/attack?epsilon=1&hide=says,hits,ruler"
    assert len(away) == 2
    assert 'dpcore explore "' not in based
    assert len(Parts(text).of("details")) == 2 * len(LESSONS)  # a hint and an answer each
    assert "<p><b>hide</b> &lt; 1</p>" in text


def test_the_index_lists_every_page() -> None:
    text = index_html([Entry("iris.html", "Iris & more", "Flowers."), Entry("b.html", "B", "C.")])
    assert "Bundled" not in text, "a page may be that of a release of one's own table"
    parts = Parts(text)
    assert [one["href"] for one in parts.of("a")] == ["iris.html", "b.html"]
    assert "Iris &amp; more" in text
    assert not parts.of("script")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_themes_are_those_of_the_explorer(scheme: str) -> None:
    from app.settings import settings

    ground = settings()["theme"][scheme]["backgroundColor"]
    assert f"data-scheme={scheme}] {{ color-scheme: {scheme}; " in page_html(page())
    assert f"--st-background-color: {ground};" in page_html(page())
