"""The lessons on the static site: a question, a link to pictures that hide the answer, and it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from urllib.parse import urlencode

from app import composing
from app.components import marked
from app.composing import Composition
from app.frame import brand_html
from app.learning import LESSONS
from app.lesson import Lesson
from app.path import screens
from app.scenario import GENERATED, Scenario, from_query, offered, opening
from app.static_page import document
from app.texts import learn as learn_texts
from app.texts import static as texts
from app.texts.frame import PROVENANCE

NAME, PATH = "lessons", "path"
MOVED = ("epsilon", "k", "hide")  # what a page keeps behind the # of its address
Choices = Scenario | Composition


def lessons_html(base: str = "") -> str:
    """The page: every answer is worked out, and folded away until it is asked for.

    base: address of an explorer, to which links to Attack then lead.
    """
    parts = [
        brand_html(PROVENANCE["none"]),
        f'<div class="dp-head"><h1 class="dp-title">{learn_texts.TITLE}</h1>'
        f'<p class="dp-lead">{learn_texts.LEAD} {texts.path_before(f"{PATH}.html")}</p></div>',
        *(_lesson(number, lesson, base) for number, lesson in enumerate(LESSONS, start=1)),
    ]
    return document(learn_texts.TITLE, "\n".join(parts))


def path_html() -> str:
    """The page of the path: every screen is in it."""
    body = (
        f"{brand_html(PROVENANCE['simulated'])}\n"
        f'<div class="dp-head"><h1 class="dp-title">{learn_texts.TITLE}</h1>'
        f'<p class="dp-lead">{learn_texts.PATH_LEAD}</p></div>\n<div data-figure></div>\n'
        f'<p><a href="{NAME}.html">{learn_texts.EXERCISES_TITLE}</a></p>'
    )
    return document(learn_texts.TITLE, body, {"path": screens()})


def needed() -> dict[str, Choices]:
    """The pages that lessons lead to, by their names, each as it opens."""
    pages = (_page(lesson, query) for lesson in LESSONS for query in (lesson.look, lesson.query))
    return {page[0]: page[1] for page in pages if page}


def _page(lesson: Lesson, query: Mapping[str, str]) -> tuple[str, Choices, str] | None:
    """The page that a link leads to: its name, as it opens, and what stands behind the #; ``None``
    where there is no such page here."""
    state = {name: query[name] for name in MOVED if name in query}
    if lesson.page == "compose":
        composition = replace(composing.from_query(query), k=composing.Composition.k, hide="")
        return f"lesson-{lesson.name}", composition, urlencode(state, safe=",")
    if lesson.page != "explore":
        return None
    names = [*(table.name for table in offered()), GENERATED]
    chosen = replace(from_query(query, names), hide="")
    opened = replace(chosen, epsilon=opening(chosen.data).epsilon)
    if chosen.data != GENERATED and opened == opening(chosen.data):
        return chosen.data, opened, urlencode(state, safe=",")
    if query.get("made") == lesson.look.get("made"):
        return f"lesson-{lesson.name}", opened, urlencode(state, safe=",")
    return f"lesson-{lesson.name}-answer", chosen, ""  # it opens where the answer is


def _lesson(number: int, lesson: Lesson, base: str) -> str:
    look, see = (
        f"<p>{_link(lesson, query, label, base)}</p>" if lesson.page else ""
        for query, label in ((lesson.look, "Look first"), (lesson.query, "See it"))
    )
    return (
        f'<section class="dp-lesson"><h2>{number} · {escape(lesson.title)}</h2>'
        f"<p>{escape(lesson.ask)}</p>{look}"
        f"<details><summary>Hint</summary><p>{escape(lesson.hint)}</p></details>"
        f"<details><summary>{texts.ANSWER}</summary>"
        f"<p>{marked(lesson.explained())}</p>{see}</details></section>"
    )


def _link(lesson: Lesson, query: Mapping[str, str], label: str, base: str) -> str:
    page = _page(lesson, query)
    if page is None and base:
        address = f"{base.rstrip('/')}/{lesson.state(query)}"
        return f'<a href="{escape(address)}">{label}</a>{texts.IN_EXPLORER}'
    if page is None:
        command = f'dpcore explore "{lesson.state(query)}"'
        return f"{label}{texts.IN_EXPLORER}: <code>{escape(command, quote=False)}</code>"
    name, _, state = page
    return f'<a href="{name}.html{f"#{escape(state)}" if state else ""}">{label}</a>'
