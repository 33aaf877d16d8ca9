"""What stands around every page: there before anything that takes long to import."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files

import streamlit as st

from app.live import joined

# Whether a page of another site shows this one, which may lie unseen below what a hand clicks.
FRAMED = (
    "{ let other = true; try { other = top.origin !== origin; } catch {} "
    'document.documentElement.toggleAttribute("data-framed", other); }'
)
SCRIPTS = ("numbers", "pages", "present")  # modules of every page


@cache
def style_sheet() -> str:
    """The style sheet of all pages."""
    return files("app").joinpath("style.css").read_text(encoding="utf-8")


def frame() -> None:
    """The style sheet, how boxes of numbers take a comma, how the list of pages closes, and present
    mode; once per run.

    A link with ``present=1`` opens in present mode, also where the session goes on to other pages.
    """
    st.html(f"<style>{style_sheet()}</style>")
    if st.query_params.get("present") == "1":
        st.session_state["present"] = True
    st.query_params.pop("present", None)
    wanted = "true" if st.session_state.get("present") else "false"
    scripts = "".join(f"(() => {{{joined(name)}}})();" for name in SCRIPTS)
    flag = f"document.documentElement.dataset.presentAsked = {wanted};"
    st.html(f"<script>{FRAMED} {flag} {scripts}</script>", unsafe_allow_javascript=True)


def brand_html(about: str) -> str:
    """The product's name, and a few words about the page at the other end of the line."""
    return (
        f'<div class="dp-brand"><b>dpcore explorer</b><span>{escape(about)}</span>'
        '<button type="button" class="dp-present" title="One card at a time, in large type (P)">'
        "Present</button></div>"
    )
