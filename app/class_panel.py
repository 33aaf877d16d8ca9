"""A class on the Learn page: its code, its links, and its guesses once a question is answered.

Only the question that was answered or asked for last is drawn anew by itself, so that a class costs
the server one small fragment a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_hex
from typing import Any

import streamlit as st

from app.callbacks import unbroken
from app.class_guesses import HOURS, book, code_of, dot_plot
from app.lesson import Lesson
from app.links import Reader, among
from app.texts import learn as texts
from dpcore.errors import InputError

EVERY = 3.0  # seconds between two looks at the class
READERS: dict[str, Reader] = {"class": code_of, "screen": among(("", "1"))}  # of a link


def from_address(address: Mapping[str, str]) -> None:
    """Take the class that a link names, and whether it is for the screen."""
    if "class" in address:
        st.session_state["class"] = code_of(address["class"])
        st.session_state["class_screen"] = address.get("screen") == "1"


def in_address() -> dict[str, str]:
    """The same as a link has it."""
    code = st.session_state.get("class")
    named = {"class": code, "screen": "1" if on_screen() else ""}
    return {name: value for name, value in named.items() if code and value}


def on_screen() -> bool:
    """Whether this is the page that the lecturer shows to all: nothing is guessed on it."""
    return bool(st.session_state.get("class_screen"))


def bar(lessons: tuple[Lesson, ...]) -> None:
    """Where a class is joined and left; on the lecturer's screen, how many guesses there are."""
    code = st.session_state.get("class")
    about, button = st.columns([4, 1], vertical_alignment="center")
    with button, st.popover(texts.CLASS_TITLE, width="stretch"):
        _form(code)
    if code is None:
        return
    with about:
        if on_screen():
            st.fragment(_counts, run_every=EVERY)(code, lessons)
        else:
            st.markdown(texts.class_joined(code))


def _form(code: str | None) -> None:
    st.text_input(
        texts.CODE_LABEL,
        code or "",
        key="class_typed",
        on_change=_join,
        placeholder=texts.CODE_EXAMPLE,
    )
    if refusal := st.session_state.get("class_refused"):
        st.error(refusal)
    st.caption(texts.class_privacy(HOURS))
    if code is not None:
        here = (st.context.url or "").partition("?")[0].rstrip("/").removesuffix("/learn")
        for title, end in zip(texts.CLASS_LINKS, ("", "&screen=1"), strict=True):
            st.markdown(f"**{title}**")
            st.code(f"{here}/learn?class={code}{end}", language=None, wrap_lines=True)
        st.button(texts.LEAVE, on_click=_leave)


@unbroken
def _join() -> None:
    state = st.session_state
    state.pop("class_refused", None)
    try:
        state["class"] = st.query_params["class"] = code_of(state["class_typed"])
    except InputError as refusal:
        state["class_refused"] = str(refusal)


@unbroken
def _leave() -> None:
    for name in ("class", "class_screen", "class_typed", "class_refused"):
        st.session_state.pop(name, None)
    for name in ("class", "screen"):
        st.query_params.pop(name, None)


def _counts(code: str, lessons: tuple[Lesson, ...]) -> None:
    guesses = book().guesses(code)
    counts = {
        number: len(guesses[lesson.name])
        for number, lesson in enumerate(lessons, start=1)
        if lesson.name in guesses
    }
    st.html(f'<p class="dp-class">{texts.class_counts(code, counts)}</p>')


def count(lesson: Lesson, guess: float) -> None:
    """A guess was made: it counts in the class, if there is one."""
    state: Any = st.session_state
    seat = state.setdefault("class_seat", token_hex(8))
    code = state.get("class")
    if code and not book().put(code, seat, lesson.name, guess):
        st.toast(texts.CLASS_FULL)
    follow(lesson.name)


@unbroken
def follow(name: str) -> None:
    """From now on the guesses of this question are drawn anew by themselves."""
    st.session_state["class_followed"] = name


def revealed(lesson: Lesson) -> bool:
    """Whether the lecturer has shown the answer of a question, with the button that shows it."""
    shown = st.session_state.setdefault("class_shown", set())
    if lesson.name in shown:
        return True

    def show() -> None:
        shown.add(lesson.name)
        follow(lesson.name)

    st.button(texts.SHOW_ANSWER, key=f"show_{lesson.name}", on_click=show)
    return False


def guesses(lesson: Lesson, own: float | None) -> None:
    """The guesses of the class below an answer; nothing without a class."""
    code = st.session_state.get("class")
    if code is None:
        return

    def draw() -> None:
        st.html(dot_plot(lesson, book().guesses(code).get(lesson.name, []), own))

    if st.session_state.get("class_followed") == lesson.name:
        st.fragment(draw, run_every=EVERY)()
        return
    draw()
    st.button("Update", key=f"follow_{lesson.name}", on_click=follow, args=(lesson.name,))
