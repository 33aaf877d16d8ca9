"""On the Release page: several releases planned together, before any ledger is started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from app.callbacks import unbroken
from app.components import live_line
from app.line_editor import line_editor
from app.live import live
from app.plan_table import (
    EPSILON,
    KEEPS,
    LOCKED,
    MODEL,
    PARTS,
    RANGES,
    TIMES,
    TOTALS,
    PlanLine,
    PlanTable,
    edited_plan,
)
from app.result_store import Data, in_background, look_away
from app.scenario import Scenario, opening
from app.state import note_misread
from app.tables import store_of
from app.texts import release as texts
from app.texts.frame import literal
from app.widgets import number, slide, switch
from dpcore.accounting.gaussian import rho_of
from dpcore.declaration import declarations
from dpcore.errors import DPCoreError
from dpcore.figures.planned import SAYS, in_symbols, plan_scene
from dpcore.planning import export
from dpcore.planning.curves import MIDDLING, WORLDS
from dpcore.planning.plan import Planner, WantedRelease, about, takes
from dpcore.privacy.guarantee import show
from dpcore.schema import Schema

PLAN = "plan"  # in the address of the Release page, while the table is open
OPEN, PLANS = "plan_open", "plans"  # whether it is open, and the tables by the data they are about


def linked(scenario: Scenario, *, arriving: bool) -> None:
    """Mirror the table in the address, so that a reload or a link finds it again; who comes by a
    link finds what it says."""
    state, address = st.session_state, st.query_params
    if arriving and PLAN in address:
        try:
            state.setdefault(PLANS, {})[scenario.data] = PlanTable.parse(address[PLAN])
            state[OPEN] = True
        except ValueError:
            note_misread([PLAN])
    link = _of(scenario.data).as_link() if state.get(OPEN) else ""
    if link and address.get(PLAN) != link:
        address[PLAN] = link
    elif not link and PLAN in address:
        del address[PLAN]


def _of(data: str) -> PlanTable:
    """The table about some data, as far as anything was chosen."""
    plan: PlanTable = st.session_state.get(PLANS, {}).get(data, PlanTable())
    return plan


@unbroken
def _change(data: str, **choices: Any) -> None:
    st.session_state.setdefault(PLANS, {})[data] = replace(_of(data), **choices)


@unbroken
def _switch(on: bool) -> None:
    st.session_state[OPEN] = on


def panel(scenario: Scenario, data: Data, schema: Schema) -> Callable[[], bool] | None:
    """The table of what is to leave, the total to drag, and the best split; nothing unless asked
    for. Of the data only limits and a public number of rows are used.

    Returns what asks whether the ranges are there, while they are not."""
    with st.container(border=True):
        opened = st.session_state.get(OPEN, False)
        switch("plan_many", texts.SEVERAL, opened, _switch, texts.SEVERAL_HELP)
        if not opened:
            return None
        plan = _of(scenario.data)
        lines, rows, delta = table(plan, scenario, data, schema)
        try:
            wanted = tuple(_wanted(line, scenario, schema, rows) for line in lines)
            with st.spinner(texts.SIMULATING):
                planner, plans = _planned(wanted, scenario, data, delta)
        except DPCoreError as refusal:
            st.error(literal(str(refusal)))
            return None
        slide(
            "plan_step", "Total ε", TOTALS, plan.total,
            lambda chosen: _change(scenario.data, total=chosen), None, show,
        )  # fmt: skip
        total, step = plan.total, TOTALS.index(plan.total)
        scene = plan_scene(plans, step)
        live_line(SAYS, "dp-plan", scene.live_text[SAYS][step])
        live({"plan_step": scene}, key="plan")
        if plans[step].feasible:
            what_ifs = planner.what_ifs(total, delta)
            st.dataframe(export.changes(plans[step], what_ifs), hide_index=True)
        else:
            what_ifs = ()
        _files(plans[step], what_ifs)
        whole = planner.worlds == WORLDS
        who, how = plans[step].protects, export.how(plans[step])
        st.caption(texts.plan(literal(who), literal(how), whole=whole))
        return None if whole else lambda: _ranged(wanted, scenario, data) is not None


def over_worlds(
    scenario: Scenario, data: Data, schema: Schema, at_least: float
) -> tuple[str, ...] | None:
    """What one release keeps on rows that are easy, medium and hard, and what a wanted share takes
    there; ``None`` while they are simulated. Reads limits and a number of rows alone."""
    options = (*scenario.setting().options().items(), ("clip", scenario.clip))
    rows = data.all_rows or data.rows
    assert rows is not None  # stand-ins are as many as the table is said to have
    wish = WantedRelease(scenario.model, scenario.model, schema, rows, options=options)
    if (planner := _ranged((wish,), scenario, data)) is None:
        return None
    (curve,), delta = planner.curves, scenario.delta
    locked = replace(wish, epsilon=scenario.epsilon, locked=True)  # a plan may leave some unused
    then = Planner([locked], adjacency=scenario.adjacency).plan(scenario.epsilon, delta)
    rho = float(rho_of(scenario.epsilon, delta))
    share, needed, enough = takes(replace(wish, at_least=at_least), curve, rows, rho, delta)
    (release,) = then.releases
    release = replace(
        release, name="", epsilon=scenario.epsilon,
        at_least=share, needed=needed, rows_needed=enough,
    )  # fmt: skip
    keeps = texts.over_worlds(scenario.epsilon, release.low, release.high, release.median)
    needs = [in_symbols(line) for line in replace(then, releases=(release,)).ranges()]
    return keeps, *needs, *then.decided()


def table(
    plan: PlanTable, scenario: Scenario, data: Data, schema: Schema
) -> tuple[tuple[PlanLine, ...], int, float]:
    """What is to leave, as the steward enters it; how many rows there are; delta of it all."""
    names = [name for name, declared in declarations().items() if declared.suits(schema)]
    other = next((name for name in names if name != scenario.model), scenario.model)
    first = (
        PlanLine("every quarter", scenario.model, scenario.components, 4),
        PlanLine("once", other, opening(scenario.data, other).components),
    )
    lines = first if plan.lines is None else plan.lines
    line_editor(
        "plan_table",
        lines,
        PlanLine.as_row,
        edited_plan,
        lambda lines: _change(scenario.data, lines=lines),
        {
            MODEL: st.column_config.SelectboxColumn(options=names, required=True),
            PARTS: _number("parts", "%d"),
            TIMES: _number("times", "%d"),
            KEEPS: _number("keeps", "%.3g", texts.KEEPS_HELP),
            EPSILON: _number("epsilon", "%.3g", texts.EPSILON_HELP),
            LOCKED: st.column_config.CheckboxColumn(help=texts.LOCKED_HELP),
        },
        placeholder="any",
    )
    rows = plan.rows or data.public_rows(scenario.adjacency) or 1000
    delta = scenario.delta if plan.delta is None else plan.delta
    left, right = st.columns(2)
    with left:
        number(
            "plan_rows", texts.PUBLIC_ROWS, rows, (*RANGES["rows"], 1),
            lambda chosen: _change(scenario.data, rows=chosen),
        )  # fmt: skip
    with right:
        number(
            "plan_delta", "δ in all", delta, (*RANGES["delta"], 1e-5),
            lambda chosen: _change(scenario.data, delta=chosen), form="%.2g",
        )  # fmt: skip
    return lines, rows, delta


def _number(name: str, form: str, help: str | None = None) -> Any:
    """The column of a number, within its limits; whole where these are, or no link could say it."""
    low, high = RANGES[name]
    step = 1 if isinstance(low, int) else None
    return st.column_config.NumberColumn(
        min_value=low, max_value=high, step=step, format=form, help=help
    )


def _wanted(line: PlanLine, scenario: Scenario, schema: Schema, rows: int) -> WantedRelease:
    """A line as a wish; its model's settings are those on Explore, or those it opens with."""
    same = line.model == scenario.model
    begin = scenario if same else opening(scenario.data, line.model)
    options = replace(begin, components=line.parts or begin.components).setting().options()
    name = line.name.strip() or line.model
    with about(name):
        return WantedRelease(
            name,
            line.model,
            schema,
            rows,
            times=line.times,
            at_least=None if line.keeps is None else line.keeps / 100.0,
            epsilon=line.epsilon,
            locked=line.locked,
            options=(*options.items(), ("clip", begin.clip)),
        )


def _planned(
    wanted: tuple[WantedRelease, ...], scenario: Scenario, data: Data, delta: float
) -> tuple[Planner, list[Any]]:
    """The planner of the wishes, and its plan at every total; kept. Medium rows come first, and
    the ranges over others from behind the page."""
    answers, key = store_of(data).answers, (wanted, scenario.adjacency)

    def middling() -> Planner:
        look_away()  # every core for what holds up the page
        return Planner(wanted, adjacency=scenario.adjacency, worlds=(MIDDLING,))

    planner: Planner = answers.peek(("planner", *key)) or answers.get(("middling", *key), middling)
    planner = _ranged(wanted, scenario, data) or planner
    plans: list[Any] = answers.get(
        ("plans", *key, delta, planner.worlds),
        lambda: [planner.plan(total, delta) for total in TOTALS],
    )
    return planner, plans


def _ranged(wanted: tuple[WantedRelease, ...], scenario: Scenario, data: Data) -> Planner | None:
    """The planner with its ranges; ``None`` while they are simulated in the background."""
    store, key = store_of(data), ("planner", wanted, scenario.adjacency)

    def work() -> None:
        store.answers.get(key, lambda: Planner(wanted, adjacency=scenario.adjacency))

    planner: Planner | None = store.answers.peek(key)
    if planner is None:
        in_background(store, key, work)
    return planner


def _files(plan: Any, what_ifs: export.WhatIfs) -> None:
    """The plan to take away."""
    files = {
        "plan.csv": export.plan_csv(plan),
        "plan.json": export.as_json(plan, what_ifs),
        "plan.html": export.plan_page(plan, what_ifs),
    }
    for column, (name, text) in zip(st.columns(3), files.items(), strict=True):
        column.download_button(name, text, name, width="stretch", key=f"take_{name}")
