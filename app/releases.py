"""Behind the Compose page: the list of releases, all methods, and things to take away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from app import compute, hiding
from app.composing import (
    ADJACENCIES,
    MECHANISMS,
    MOST_ROWS,
    Composition,
    Line,
    imported,
)
from app.drawers import data_of
from app.exports import account_command, account_questions, account_script
from app.formulas import formula
from app.state import ask, bind, left_on_explore, on_choice
from app.wording import finding
from dpcore.accounting import ACCOUNTANTS, accountant
from dpcore.errors import DPCoreError
from dpcore.evaluation.composition import Row, agreements, repeated
from dpcore.figures.scene import Scene
from dpcore.privacy.adjacency import protects
from dpcore.privacy.guarantee import show, show_bound


def drawer_open() -> bool:
    """Whether the table of all methods is asked for."""
    return bool(st.session_state.get("more_methods", False))


def watch(asked: Composition, found: compute.Priced) -> None:
    """Look again until everything is worked out, without holding up the page."""

    @st.fragment(run_every=0.4)
    def look() -> None:
        now = compute.priced(asked, all_methods=drawer_open())
        enough = now.left <= 0.85 * found.left or found.left - now.left >= 8
        if enough or len(now.rows) > len(found.rows) or not now.left:
            st.rerun()

    look()


def remarks(asked: Composition, found: compute.Priced) -> None:
    """What the reader must know beside the numbers: a finding, or a price that is not the fit's."""
    if asked.misused:
        st.html('<p class="dp-wrong">The fit did not sample: this price is not the fit\'s.</p>')
    said = found.refusal or finding(asked, found.prices)
    if said:
        st.html(f'<p class="dp-says dp-finding">{escape(said)}</p>')


# ---------------------------------------------------------------- the list

_MECHANISM, _NOISE, _COUNT = "Mechanism", "Noise (ε of a box)", "Times"
_SAMPLING, _RATE, _EACH = "Sampling", "Sampled share", "δ each (0: shared out)"
_SAMPLED = {"n": "none", "p": "Poisson", "w": "without replacement"}


def editor(asked: Composition) -> None:
    """The list of releases as a small table, with what all of them have in common."""
    with st.popover("What is released", width="stretch"):
        st.markdown("**One run of the list.** Noise is relative to what one person can change.")
        _table(asked)
        if "list_error" in st.session_state:
            st.error(st.session_state["list_error"])
        left, right = st.columns(2)
        with left:
            bind("ask_delta", asked.delta)
            st.number_input(
                "δ in total", 1e-12, 0.5, asked.delta, step=1e-5, format="%.2g", key="ask_delta",
                help="How much may escape the promise of ε, over all releases.",
                on_change=on_choice("ask_delta", lambda chosen: ask(delta=chosen)),
            )  # fmt: skip
        with right:
            bind("ask_adjacency", asked.adjacency)
            st.selectbox(
                "Neighbours", ADJACENCIES, ADJACENCIES.index(asked.adjacency),
                key="ask_adjacency", format_func=protects,
                help="Which two tables must look alike; the noise is relative to this change.",
                on_change=on_choice("ask_adjacency", lambda chosen: ask(adjacency=chosen)),
            )  # fmt: skip
        st.button("Use the current fit's ledger", on_click=use_fit, help=_FIT_HELP)


_FIT_HELP = "Every release of the private fit that Explore shows, with its noise."


def _table(asked: Composition) -> None:
    """The editor keeps its place while the reader types: its base changes only from outside."""
    state = st.session_state
    if state.get("list_now") != asked.lines:
        state["list_now"] = state["list_base"] = asked.lines
        state["list_version"] = state.get("list_version", 0) + 1
        state.pop("list_error", None)
    key = f"list_{state['list_version']}"
    columns = st.column_config
    st.data_editor(
        [_as_row(line) for line in state["list_base"]],
        key=key,
        num_rows="dynamic",
        hide_index=True,
        on_change=lambda: _edited(key),
        column_config={
            _MECHANISM: columns.SelectboxColumn(
                options=list(MECHANISMS.values()), default="Gaussian"
            ),
            _NOISE: columns.NumberColumn(default=20.0, min_value=1e-6, format="%.4g"),
            _COUNT: columns.NumberColumn(default=1, min_value=1, step=1),
            _SAMPLING: columns.SelectboxColumn(options=list(_SAMPLED.values()), default="none"),
            _RATE: columns.NumberColumn(default=0.01, min_value=1e-6, max_value=1.0, format="%.4g"),
            _EACH: columns.NumberColumn(default=0.0, min_value=0.0, max_value=1.0, format="%.3g"),
        },
    )


def _as_row(line: Line) -> dict[str, Any]:
    return {
        _MECHANISM: MECHANISMS[line.mechanism],
        _NOISE: line.noise,
        _COUNT: line.count,
        _SAMPLING: _SAMPLED[line.sampling],
        _RATE: line.rate,
        _EACH: line.each,
    }


def _edited(key: str) -> None:
    """Take over what the reader typed; a line that describes no release is named and left out."""
    state = st.session_state
    try:
        lines = edited_lines(state["list_base"], state[key])
    except ValueError as error:
        state["list_error"] = str(error)
        return
    state.pop("list_error", None)
    state["list_now"] = lines
    ask(lines=lines)


def edited_lines(base: tuple[Line, ...], edits: Mapping[str, Any]) -> tuple[Line, ...]:
    """The lines after the editor's changes. Raises ValueError with a sentence.

    >>> edited_lines((Line(),), {"edited_rows": {0: {"Times": 5}}, "added_rows": [],
    ...                          "deleted_rows": []})[0].count
    5
    """
    changes = {int(i): row for i, row in edits["edited_rows"].items()}
    gone = set(edits["deleted_rows"])
    kept = [_changed(line, changes.get(i, {}), i) for i, line in enumerate(base) if i not in gone]
    added = [_changed(Line(), row, len(base) + i) for i, row in enumerate(edits["added_rows"])]
    lines = (*kept, *added)
    if not lines:
        raise ValueError("The list is empty; keep at least one release.")
    if len(lines) > MOST_ROWS:
        raise ValueError(f"The list has more than {MOST_ROWS} lines; put equal releases together.")
    return lines


def _changed(line: Line, row: Mapping[str, Any], i: int) -> Line:
    words = {title: code for code, title in MECHANISMS.items()}
    sampled = {title: code for code, title in _SAMPLED.items()}
    fields: dict[str, tuple[str, Callable[[Any], Any]]] = {
        _MECHANISM: ("mechanism", words.get),
        _NOISE: ("noise", float),
        _COUNT: ("count", int),
        _SAMPLING: ("sampling", sampled.get),
        _RATE: ("rate", float),
        _EACH: ("each", float),
    }
    new = {fields[k][0]: fields[k][1](v) for k, v in row.items() if k in fields and v is not None}
    try:
        found: Line = replace(line, **new).checked()
    except ValueError:
        raise ValueError(
            f"Line {i + 1} describes no release; give noise above 0, a whole number of times and a "
            "sampled share up to 1."
        ) from None
    return found


def first_noise(noise: float) -> None:
    """Another amount of noise in the only line."""
    lines: tuple[Line, ...] = st.session_state["composition"].lines
    ask(lines=(replace(lines[0], noise=noise), *lines[1:]))


def use_fit() -> None:
    """The ledger of the private fit on Explore becomes the list."""
    scenario = left_on_explore()
    try:
        data = data_of(scenario)
        if data is None:
            st.session_state["list_error"] = "Explore shows no fit yet; load a table there first."
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


# ---------------------------------------------------------------- all methods


def more_methods(asked: Composition, rows: tuple[Row, ...]) -> None:
    """Every method's answer for the current count, with its formula; worked out when opened."""
    drawer = st.expander("More methods", key="more_methods", on_change="rerun")
    if not drawer.open:
        return
    with drawer:
        st.html(methods_table(rows, asked))
        for sentence in agreements(rows, asked.events):
            st.markdown(f"- {sentence}")
        if len(rows) < len(ACCOUNTANTS):
            st.caption("Working out the others…")


def methods_table(rows: tuple[Row, ...], asked: Composition) -> str:
    """The answers as a table; refusals are greyed and say why."""
    what = "price of the noise listed above; " if asked.hold == "budget" else ""
    held = f"{what}k = {asked.k:,}, δ = {show(asked.delta)}, {protects(asked.adjacency)}"
    heads = ("Method", "ε", "at least", "", "Formula", "Assumes", "Source")
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    events = repeated(asked.events, asked.k)
    body = "".join(_method_row(row, events) for row in rows)
    return (
        f'<table class="dp-methods"><caption>{escape(held)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _method_row(row: Row, events: Any) -> str:
    name = f"<td>{escape(full_title(row.name))}</td>"
    if row.bound is None:
        return f'<tr class="dp-refused">{name}<td colspan="6">{escape(row.refusal)}</td></tr>'
    bound = row.bound
    lower = "" if bound.lower is None else show(float(bound.lower))
    cells = (
        show_bound(float(bound.epsilon)),
        lower,
        bound.kind,
        formula(row.name, events, bound),
        "; ".join(bound.assumptions),
        bound.source,
    )
    return f"<tr>{name}" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def full_title(name: str) -> str:
    """A method's title; two that share one are told apart."""
    return {"zcdp_tight": "zCDP, tight", "zcdp": "zCDP, classic"}.get(name, accountant(name).title)


# ---------------------------------------------------------------- to take away


def take_away(asked: Composition, scene: Scene | None) -> None:
    """Links, files and recipes that give the same numbers elsewhere."""
    with st.popover("Take it with you", width="stretch"):
        st.markdown("**Link to this view** (every choice)")
        link = replace(asked, hide=hiding.covering("compose", asked.hide)).as_link()
        here = (st.context.url or "").partition("?")[0]
        st.code(f"{here}?{link}".rstrip("?"), language=None, wrap_lines=True)
        state = f"compose?{link}".rstrip("?")
        st.caption("The same on another machine:")
        st.code(f'dpcore explore "{state}"', language=None, wrap_lines=True)
        if scene is None:
            return
        st.markdown("**Reproduce**")
        st.code(account_command(asked), language=None, wrap_lines=True)
        st.download_button(
            "Questions (JSON)", account_questions(asked), "questions.json", "application/json"
        )
        st.download_button("Python script", account_script(asked), "prices.py", "text/x-python")
        st.caption("Picture, CSV and a table of numbers: buttons on each card.")
