"""On the Release page: several releases planned together, before any ledger is started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from app.components import live_line
from app.live import live
from app.result_store import Data, in_background, look_away
from app.scenario import Scenario, opening
from app.tables import store_of
from app.texts import release as texts
from app.texts.frame import literal
from dpcore.accounting.gaussian import rho_of
from dpcore.declaration import declarations
from dpcore.errors import DPCoreError
from dpcore.evaluation.study import EPSILONS
from dpcore.figures.planned import SAYS, plan_scene
from dpcore.planning import export
from dpcore.planning.curves import MIDDLING, WORLDS
from dpcore.planning.plan import Planner, WantedRelease, about, takes
from dpcore.privacy.guarantee import show
from dpcore.schema import Schema

TOTALS = EPSILONS[20:]  # from 0.1
NAME, MODEL, PARTS, TIMES = "Release", "Model", "Parts", "Times"
LEAST, EPSILON, LOCKED = "Keeps at least (%)", "ε at least", "Locked at ε"


def panel(scenario: Scenario, data: Data, schema: Schema) -> Callable[[], bool] | None:
    """The table of what is to leave, the total to drag, and the best split; nothing unless asked
    for. Of the data only limits and a public number of rows are used.

    Returns what asks whether the ranges are there, while they are not."""
    with st.container(border=True):
        if not st.toggle(texts.SEVERAL, key="plan_many", help=texts.SEVERAL_HELP):
            return None
        lines, rows, delta = table(scenario, data, schema)
        try:
            wanted = tuple(_wanted(line, scenario, schema, rows) for line in lines)
            with st.spinner(texts.SIMULATING):
                planner, plans = _planned(wanted, scenario, data, delta)
        except DPCoreError as refusal:
            st.error(literal(str(refusal)))
            return None
        total = st.select_slider("Total ε", TOTALS, 2.0, format_func=show, key="plan_step")
        step = TOTALS.index(total)
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
    needs = [line.replace("epsilon", "ε") for line in replace(then, releases=(release,)).ranges()]
    return keeps, *needs, *then.decided()


def table(
    scenario: Scenario, data: Data, schema: Schema
) -> tuple[list[dict[str, Any]], int, float]:
    """What is to leave, as the steward enters it; how many rows there are; delta of it all."""
    names = [name for name, declared in declarations().items() if declared.suits(schema)]
    other = next((name for name in names if name != scenario.model), scenario.model)
    first = [
        _line("every quarter", scenario.model, scenario.components, 4),
        _line("once", other, opening(scenario.data, other).components, 1),
    ]
    lines = st.data_editor(
        first,
        column_config={
            MODEL: st.column_config.SelectboxColumn(options=names, required=True),
            PARTS: st.column_config.NumberColumn(min_value=1, max_value=50, format="%d"),
            TIMES: st.column_config.NumberColumn(min_value=1, max_value=1000, format="%d"),
            LEAST: st.column_config.NumberColumn(
                min_value=1.0, max_value=99.9, format="%.3g", help=texts.KEEPS_HELP
            ),
            EPSILON: st.column_config.NumberColumn(
                min_value=0.001, max_value=100.0, format="%.3g", help=texts.EPSILON_HELP
            ),
            LOCKED: st.column_config.CheckboxColumn(help=texts.LOCKED_HELP),
        },
        num_rows="dynamic",
        hide_index=True,
        placeholder="any",
        key="plan_table",
    )
    left, right = st.columns(2)
    public_rows = data.public_rows(scenario.adjacency) or 1000
    rows = left.number_input(texts.PUBLIC_ROWS, 1, 10**9, public_rows, key="plan_rows")
    delta = right.number_input(
        "δ in all", 1e-12, 0.5, scenario.delta, format="%.2g", key="plan_delta"
    )
    return [line for line in lines if line.get(MODEL)], int(rows), float(delta)


def _line(name: str, model: str, parts: int, times: int) -> dict[str, Any]:
    return {
        NAME: name, MODEL: model, PARTS: parts, TIMES: times,
        LEAST: None, EPSILON: None, LOCKED: False,
    }  # fmt: skip


def _wanted(line: dict[str, Any], scenario: Scenario, schema: Schema, rows: int) -> WantedRelease:
    """A line as a wish; its model's settings are those on Explore, or those it opens with."""
    model = str(line[MODEL])
    begin = scenario if model == scenario.model else opening(scenario.data, model)
    parts = int(line.get(PARTS) or begin.components)
    options = replace(begin, components=parts).setting().options()
    share, epsilon = line.get(LEAST), line.get(EPSILON)
    name = str(line.get(NAME) or model)
    with about(name):
        return WantedRelease(
            name,
            model,
            schema,
            rows,
            times=int(line.get(TIMES) or 1),
            at_least=None if share is None else float(share) / 100.0,
            epsilon=None if epsilon is None else float(epsilon),
            locked=bool(line.get(LOCKED)),
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
