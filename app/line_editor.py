"""A table whose lines are edited in place, as Compose and Release have one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st

from app.callbacks import unbroken
from app.texts.frame import literal

Line = TypeVar("Line")
Cells = Mapping[str, Any]


def line_editor(
    name: str,
    lines: tuple[Line, ...],
    as_row: Callable[[Line], dict[str, Any]],
    read: Callable[[tuple[Line, ...], Mapping[str, Any]], tuple[Line, ...]],
    apply: Callable[[tuple[Line, ...]], None],
    columns: Mapping[str, Any],
    placeholder: str | None = None,
) -> None:
    """Shows the lines, and applies what the reader makes of them.

    It keeps its place while the reader types: its base changes only where the lines change from
    outside, and where the page was left, since the browser's edits are gone then.
    read: the lines after the editor's changes; its ValueError is shown, and nothing applied.
    """
    state, version = st.session_state, f"{name}_version"
    if state.get(f"{name}_now") != lines or f"{name}_{state[version]}" not in state:
        state[f"{name}_now"] = state[f"{name}_base"] = lines
        state[version] = state.get(version, 0) + 1
        state.pop(f"{name}_error", None)
    key = f"{name}_{state[version]}"

    def taken() -> bool:
        """Whether what was typed changes the lines; it is applied."""
        try:
            now = read(state[f"{name}_base"], state[key])
        except ValueError as error:
            state[f"{name}_error"] = str(error)
            return False
        changed: bool = now != state[f"{name}_now"]
        if changed:
            state[f"{name}_now"] = now
            state.pop(f"{name}_error", None)
            apply(now)
        return changed

    @unbroken
    def edit() -> None:
        state.pop(f"{name}_error", None)
        taken()

    if key in state and taken():  # its callback was lost, as in state.missed
        st.rerun()
    st.data_editor(
        [as_row(line) for line in state[f"{name}_base"]],
        key=key,
        num_rows="dynamic",
        hide_index=True,
        on_change=edit,
        column_config=dict(columns),
        placeholder=placeholder,
    )
    if f"{name}_error" in state:
        st.error(literal(state[f"{name}_error"]))


def edited(
    base: tuple[Line, ...],
    edits: Mapping[str, Any],
    blank: Line,
    changed: Callable[[Line, Cells, int], Line],
) -> tuple[Line, ...]:
    """The lines after an editor's changes.

    blank: where a new line begins. changed: a line with the cells that were typed, and its place.

    >>> edits = {"edited_rows": {1: {"by": 5}}, "added_rows": [{"by": 7}], "deleted_rows": [0]}
    >>> edited((1, 2), edits, 0, lambda line, cells, place: line + cells.get("by", 0))
    (7, 7)
    """
    changes = {int(i): row for i, row in edits["edited_rows"].items()}
    gone = set(edits["deleted_rows"])
    remaining = [
        changed(line, changes.get(i, {}), i) for i, line in enumerate(base) if i not in gone
    ]
    added = [changed(blank, row, len(base) + i) for i, row in enumerate(edits["added_rows"])]
    return (*remaining, *added)
