"""The file Streamlit runs: one frame around the pages."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

import streamlit as st

from app import first_picture
from app.frame import frame
from app.settings import call_nobody, forget_closed, hold_uploads, tell_no_sizes
from dpcore.registry import load

PAGES = {
    "explore": ("app.views.explore:page", "Explore"),
    "compose": ("app.views.compose:page", "Compose"),
    "attack": ("app.views.attack:page", "Attack"),
    "release": ("app.views.release:page", "Release"),
    "learn": ("app.views.learn:page", "Learn"),
}


def show(target: str) -> None:
    """Import a page when it is first visited, and run it."""
    is_first = target == PAGES["explore"][0]
    with first_picture.meanwhile() if is_first else nullcontext():
        page = load(target)
        from app.result_store import precedence  # the page has imported it

        with precedence.page():
            page()


def main() -> None:
    """One frame, and the page that the address names."""
    call_nobody()
    hold_uploads()
    tell_no_sizes()
    forget_closed()
    st.set_page_config(page_title="dpcore explorer", page_icon="🔍", layout="wide")
    frame()
    pages = {
        name: st.Page(partial(show, target), title=title, url_path=name, default=name == "explore")
        for name, (target, title) in PAGES.items()
    }
    st.session_state["pages"] = pages
    st.navigation(list(pages.values()), position="top").run()
    from app.state import delivered  # the page has imported it

    delivered()


if __name__ == "__main__":
    main()
