"""The list of releases that Compose prices, as a small table to edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from app import compute
from app.callbacks import unbroken
from app.composing import ADJACENCIES, MECHANISMS, MOST_ROWS, Composition, Line, imported
from app.line_editor import edited, line_editor
from app.state import ask, left_on_explore
from app.tables import data_of
from app.texts import compose as texts
from app.widgets import box, field, pick
from dpcore.checks import whole
from dpcore.errors import DPCoreError
from dpcore.privacy.adjacency import protects

_MECHANISM, _NOISE, _COUNT = "Mechanism", "Noise (ε of a box)", "Times"
_SAMPLING, _RATE, _EACH = "Sampling", "Sampled share", "δ each"
_SAMPLED = {"n": "none", "p": "Poisson", "w": "without replacement"}


def editor(composition: Composition) -> None:
    """The list of releases as a small table, with what all of them have in common."""
    with st.popover("What is released", width="stretch"):
        st.markdown(texts.EDITOR_LEAD)
        _table(composition)
        left, right = st.columns(2)
        with left:
            box(composition, "delta", "δ in total", 1e-5, texts.DELTA_HELP, "%e", key="ask_{}")
        with right:
            pick(
                "ask_adjacency",
                "Neighbours",
                {name: protects(name) for name in ADJACENCIES},
                composition.adjacency,
                field(composition, "adjacency"),
                texts.NEIGHBOURS_HELP,
            )
        st.button(texts.USE_FIT, on_click=use_fit, help=texts.USE_FIT_HELP)


def _table(composition: Composition) -> None:
    columns = st.column_config
    line_editor(
        "list",
        composition.lines,
        _as_row,
        edited_lines,
        lambda lines: ask(lines=lines),
        {
            _MECHANISM: columns.SelectboxColumn(
                options=list(MECHANISMS.values()), default="Gaussian"
            ),
            _NOISE: columns.NumberColumn(default=20.0, min_value=1e-6, format="%.4g"),
            _COUNT: columns.NumberColumn(default=1, min_value=1, step=1),
            _SAMPLING: columns.SelectboxColumn(options=list(_SAMPLED.values()), default="none"),
            _RATE: columns.NumberColumn(default=0.01, min_value=1e-6, max_value=1.0, format="%.4g"),
            _EACH: columns.NumberColumn(
                default=0.0, min_value=0.0, max_value=1.0, format="%.3g", help=texts.EACH_HELP
            ),
        },
    )


def _as_row(line: Line) -> dict[str, Any]:
    return {
        _MECHANISM: MECHANISMS[line.mechanism],
        _NOISE: line.noise,
        _COUNT: line.count,
        _SAMPLING: _SAMPLED[line.sampling],
        _RATE: line.rate,
        _EACH: line.delta_each,
    }


def edited_lines(base: tuple[Line, ...], edits: Mapping[str, Any]) -> tuple[Line, ...]:
    """The lines after the editor's changes. Raises ValueError with a sentence.

    >>> edited_lines((Line(),), {"edited_rows": {0: {"Times": 5}}, "added_rows": [],
    ...                          "deleted_rows": []})[0].count
    5
    """
    lines = edited(base, edits, Line(), _changed)
    if not lines:
        raise ValueError(texts.EMPTY_LIST)
    if len(lines) > MOST_ROWS:
        raise ValueError(texts.too_many_lines(MOST_ROWS))
    return lines


def _changed(line: Line, row: Mapping[str, Any], i: int) -> Line:
    words = {title: code for code, title in MECHANISMS.items()}
    sampled = {title: code for code, title in _SAMPLED.items()}
    fields: dict[str, tuple[str, Callable[[Any], Any]]] = {
        _MECHANISM: ("mechanism", words.get),
        _NOISE: ("noise", float),
        _COUNT: ("count", partial(whole, "times", least=0)),
        _SAMPLING: ("sampling", sampled.get),
        _RATE: ("rate", float),
        _EACH: ("delta_each", float),
    }
    try:
        cells = {k: v for k, v in row.items() if k in fields and v is not None}
        new = {fields[k][0]: fields[k][1](v) for k, v in cells.items()}
        changed: Line = replace(line, **new).checked()
    except ValueError:
        raise ValueError(texts.no_release(i + 1)) from None
    return changed


def first_noise(noise: float) -> None:
    """Another amount of noise in the only line."""
    lines: tuple[Line, ...] = st.session_state["composition"].lines
    ask(lines=(replace(lines[0], noise=noise), *lines[1:]))


@unbroken
def use_fit() -> None:
    """The ledger of the private fit on Explore becomes the list."""
    scenario = left_on_explore()
    try:
        data = data_of(scenario)
        if data is None:
            st.session_state["list_error"] = texts.NO_FIT
            return
        events = compute.one_fit(scenario, data).ledger.events
        lines = imported(events)
    except DPCoreError as error:
        st.session_state["list_error"] = str(error)
        return
    ask(
        preset="own", lines=lines, k=1, delta=scenario.delta,
        adjacency=scenario.adjacency, hold="noise",
    )  # fmt: skip
