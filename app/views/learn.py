"""Learn: guess first, then see. Lessons are links into the other pages."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app import class_panel, exercise_sheet, learning, path
from app.components import brand, to_page
from app.learning import LESSONS
from app.lesson import Lesson
from app.links import misread
from app.live import live_path
from app.papers import played
from app.state import addressed, arrived, note_misread
from app.texts import learn as texts
from app.texts.frame import literal
from dpcore.figures.model_plot import brief
from dpcore.papers.drawing import page_figures
from dpcore.papers.results import stored_result


def page() -> None:
    """Top to bottom: what it is, the path, the exercises, sheets, the papers, what to read.

    A link that names a figure of the papers, or a page to read, finds it above the lessons.
    """
    arriving = arrived("learn")
    if arriving:
        address, _ = addressed()
        odd = misread(address, {**learning.READERS, **class_panel.READERS})
        usable = {name: value for name, value in address.items() if name not in odd}
        st.session_state["linked"] = usable.get("figure")
        st.session_state["linked_page"] = usable.get("read")
        class_panel.from_address(usable)
        note_misread(odd)
    brand("simulated")
    st.html(f'<h1 class="dp-title">{texts.TITLE}</h1>')
    st.html(f'<p class="dp-lead">{texts.PATH_LEAD}</p>')
    guesses = learning.read_guesses(st.query_params.get("guesses", ""))
    guesses |= st.session_state.get("guesses", {})
    linked, linked_page = st.session_state["linked"], st.session_state["linked_page"]
    if linked is not None:
        papers(linked)
    if linked_page is not None:
        read(linked_page)
    with st.spinner(texts.PREPARING):
        screens = path.screens_json()
    live_path(screens, key="path")
    st.html(f'<h2 id="exercises">{texts.EXERCISES_TITLE}</h2><p>{texts.LEAD}</p>')
    class_panel.bar(LESSONS)
    numbered = list(enumerate(LESSONS, 1))
    for row in (numbered[i : i + 2] for i in range(0, len(numbered), 2)):  # in order on a phone too
        for column, (number, lesson) in zip(st.columns(2, gap="medium"), row, strict=False):
            card = f"question_{lesson.name}"
            with column, st.container(border=True, height="stretch", key=card):
                question_card(number, lesson, guesses)
    st.session_state["guesses"] = guesses
    if arriving:  # later only with a guess, so that the back button leads on
        write(guesses)
    take()
    if linked is None:
        papers()
    if linked_page is None:
        read()


def question_card(number: int, lesson: Lesson, guesses: dict[str, float]) -> None:
    """A question, a guess, and once it is made the answer."""
    st.html(f"<h2>{number} · {lesson.title}</h2>")
    st.markdown(lesson.ask)
    if class_panel.on_screen():
        if class_panel.revealed(lesson):
            answer(lesson, None)
        return
    stored = guesses.get(lesson.name)
    middle = lesson.options[len(lesson.options) // 2]
    guess = st.select_slider(
        "Your guess",
        lesson.options,
        middle if stored is None else stored,
        format_func=brief,
        key=f"guess_{lesson.name}",
        disabled=stored is not None,
    )
    if stored is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            to_page(lesson.page, lesson.look, "Look first", ":material/visibility_off:")
            st.popover("Hint", type="tertiary").markdown(lesson.hint)
            pressed = st.button(texts.MY_GUESS, key=f"made_{lesson.name}")
        if pressed:
            guesses[lesson.name] = float(guess)
            class_panel.count(lesson, float(guess))
            st.session_state["guesses"] = guesses
            write(guesses)
            st.rerun()
        return
    right = lesson.nearest(lesson.answer()) == stored
    st.markdown(texts.your_guess(brief(stored), right=right))
    answer(lesson, stored)


def answer(lesson: Lesson, guess: float | None) -> None:
    """What the answer is, what the class guessed, and where it can be seen."""
    st.markdown(lesson.explained())
    class_panel.guesses(lesson, guess)
    to_page(lesson.page, lesson.query, "See it", ":material/arrow_forward:")


def write(guesses: Mapping[str, float]) -> None:
    """Put the guesses, a linked figure or page and the class into the address, nothing else."""
    linked = {"figure": st.session_state["linked"], "read": st.session_state["linked_page"]}
    named = {"guesses": learning.write_guesses(guesses), **linked}
    wanted = {name: value for name, value in named.items() if value} | class_panel.in_address()
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def take() -> None:
    """Sheets to print."""
    sheet, solved, _ = st.columns(3)
    sheet.download_button(
        texts.SHEET,
        lambda: exercise_sheet.sheet(solved=False),
        "exercises.html",
        "text/html",
        width="stretch",
    )
    solved.download_button(
        texts.SOLVED_SHEET,
        lambda: exercise_sheet.sheet(solved=True),
        "exercises-answers.html",
        "text/html",
        width="stretch",
    )


def _on_paper(name: str | None) -> str:
    """Attributes of a heading: what nobody has opened is not printed."""
    return ' class="dp-unread"' if name is None else ""


def papers(linked: str | None = None) -> None:
    """Every figure and table of the papers as our code regenerates it, with its verdict."""
    heading = st.empty()
    titles = learning.figures()
    name = st.selectbox(
        texts.PAPERS_LABEL,
        list(titles),
        None if linked is None else list(titles).index(linked),
        format_func=titles.__getitem__,
        key="figure",
        placeholder=f"Choose one of {len(titles)}",
    )
    heading.html(f"<h2{_on_paper(name)}>{texts.PAPERS_TITLE}</h2>")
    if name is None:
        return
    stored = stored_result(name)
    with st.container(border=True):
        st.markdown(texts.verdict(stored.verdict))
        for place, (title, figure) in enumerate(page_figures(stored.reproduction)):
            if title:
                st.markdown(f"**{literal(title)}**")
            st.plotly_chart(figure, width="stretch", key=f"drawn_{name}_{place}")
        st.markdown(stored.reproduction.finding)
        st.caption(stored.how)
        page, query = played(name)
        to_page(page, query, "Try it", ":material/arrow_forward:")


def read(linked: str | None = None) -> None:
    """The documents, to read here; the notebooks, by name."""
    heading = st.empty()
    name = st.selectbox(
        texts.DOCUMENTS_LABEL,
        list(texts.DOCUMENTS),
        None if linked is None else list(texts.DOCUMENTS).index(linked),
        format_func=lambda name: ": ".join(texts.DOCUMENTS[name]),
        key="document",
        placeholder="Choose a page",
    )
    heading.html(f"<h2{_on_paper(name)}>Read on</h2>")
    if name is not None:
        with st.container(border=True):
            st.markdown(learning.document(name))
    with st.expander(texts.NOTEBOOKS_TITLE):
        st.markdown(f"{texts.NOTEBOOKS_PLACE}\n\n{learning.notebooks()}")
