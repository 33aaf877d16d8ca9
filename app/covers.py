"""What a link hides, on the page: chosen where a link is made, shown again by one click."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.components import to_page
from app.spoilers import hideable
from app.texts import frame as texts
from dpcore.checks import listed


def choose(page: str, hide: str) -> str:
    """What a link shall hide: chosen from a list, at first what the page hides already."""
    chosen = st.pills(
        texts.HIDE,
        list(texts.HIDEABLE[page]),
        selection_mode="multi",
        default=[word for word in hide.split(",") if word],
        format_func=texts.HIDEABLE[page].__getitem__,
    )
    return hideable(page, ",".join(chosen))


def cover(page: str, hide: str, show: Callable[[], None], data: str | None = None) -> None:
    """Say what is hidden and where a lesson takes the guess, with a button that shows it; nothing
    where nothing is hidden. data: the table of the page, where it has one to choose.
    """
    if not hide:
        return
    from app.learning import question  # with imports that an open page can do without

    number = question(page, hide, data)
    names = [texts.HIDEABLE[page][word] for word in hide.split(",")]
    text, learn, button = st.columns([5.7, 1.65, 1.0], vertical_alignment="center")
    text.markdown(texts.hidden_parts(listed(names)))
    if number is not None:
        with learn:
            to_page("learn", {}, texts.guess(number), ":material/edit:")
    button.button(texts.UNCOVER, key="uncover", on_click=show, type="primary", width="stretch")
