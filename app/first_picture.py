"""The first picture: that of the default opening, drawn before anything else.

It is kept with the opening as text (:mod:`app.precomputed`), so that it needs no model, no table
and no library but Streamlit. It lies over the page until the page's own picture is there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import sleep
from zipfile import ZipFile

import streamlit as st

from app.live import live_texts

FILE = Path(__file__).with_name("openings") / "three_groups.zip"
PART = "first"
PAGE = "app.views.explore"
SOON = '<div class="dp-soon">The controls are being loaded…</div>'
HEAD_START = 0.4  # seconds; a browser that gets the page at once draws nothing before all of it


@contextmanager
def meanwhile() -> Iterator[None]:
    """Show the first picture until what is inside is done: to a new visitor who asked for nothing
    else."""
    place = st.empty()  # in every run, so that nothing below it ever changes its place
    if st.query_params or "scenario" in st.session_state:
        yield
        return
    first = stored_picture()
    with place.container(key="first_picture"):
        st.html(first["brand"])
        st.html(first["head"])
        st.html(SOON + first["sentence"])
        live_texts({"first_step": first["scene"]}, key="first")
    if PAGE in sys.modules:  # else importing it takes longer
        sleep(HEAD_START)
    try:
        yield
    finally:
        place.empty()


@cache
def stored_picture() -> dict[str, str]:
    """What is drawn: brand, head and sentence as HTML, the scene as JSON."""
    with ZipFile(FILE) as file:
        parts: dict[str, dict[str, str]] = json.loads(file.read(f"{PART}.json"))
    return parts["map"]
