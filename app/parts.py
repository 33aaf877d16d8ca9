"""What each number of parts buys, under the main curve: one fit after another, behind the page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import streamlit as st

from app.components import toggle
from app.compute import draws_of, references_of
from app.live import live
from app.result_store import Data, ResultStore, in_background
from app.scenario import Scenario
from app.state import change
from app.tables import badge
from dpcore.arrays import Array
from dpcore.errors import DPCoreError
from dpcore.evaluation.study import budget_grid
from dpcore.evaluation.yardstick import metric_of, scorer_of, utility, yardstick
from dpcore.figures.parts import parts_panel
from dpcore.figures.scene import Scene
from dpcore.privacy.guarantee import show_bound, show_delta

SHOWN = "parts_shown"  # whether the curve stands under the main one
HELP = (
    "The exact fit and private fits with every number of {}, at the same ε, δ and clipping. Click "
    "one to take it."
)
RULE = "For a release, the number of {} has to come from public knowledge, not from this curve."
COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50)
FEW_DRAWS = 5
VISITS = 4e8  # visits of a row in all draws of one number, at most
LEAST = 2  # numbers that make a curve


@dataclass(frozen=True)
class ByParts:
    """Utility ``(D,)`` of private fits and that of the exact fit, by number of parts; why others
    have none."""

    private: dict[int, Array] = field(default_factory=dict)
    exact: dict[int, float] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)


def offered(scenario: Scenario, data: Data) -> tuple[int, ...]:
    """The numbers of parts of the curve: those the model allows and that are not too slow."""
    kind, visits = scenario.declared, replace(scenario, components=1).visits(data.rows)
    some = {count for count in COUNTS if kind.least <= count <= min(kind.most, kind.compared)}
    quick = {count for count in some if count * visits * _draws(scenario) <= VISITS}
    return tuple(sorted(quick | {scenario.components}))


def _draws(scenario: Scenario) -> int:
    return min(FEW_DRAWS, draws_of(scenario)) if scenario.cost == 1.0 else 1


def by_parts(scenario: Scenario, data: Data, store: ResultStore) -> ByParts:
    """What is known so far of every number; the rest is worked out behind the page, those nearest
    to the scenario's first."""
    counts, here = offered(scenario, data), scenario.components
    view = replace(scenario, show="", x=0, y=1, hide="", pins="", dial="epsilon", third="")
    key = ("parts", data.key, replace(view, components=1), counts)
    order = sorted(counts, key=lambda count: abs(np.log(count / here)))

    def work() -> None:
        for count in order:
            there = store.answers.peek(key)
            if there is not None and count in {*there.private, *there.refused}:
                continue
            result = _fits(replace(scenario, components=count), data, store, in_use=count == here)
            store.answers.change(key, lambda so_far, result=result: _joined(so_far, result))  # type: ignore[misc]
            if key not in store.waiting:
                return  # nobody looks at it any more

    so_far: ByParts = store.answers.peek(key) or ByParts()
    if len(so_far.private) + len(so_far.refused) < len(counts):
        in_background(store, key, work)
    return so_far


def _fits(scenario: Scenario, data: Data, store: ResultStore, *, in_use: bool) -> ByParts:
    """Both fits with one number of parts. in_use: the page has the exact fit with that number."""
    setting, count = scenario.setting(data.secret), scenario.components
    every, options = data.every or data, setting.options()
    draws = range(_draws(scenario))
    try:
        if in_use:
            best: Any = references_of(setting, data, store).converged
        else:
            best = yardstick(setting.model).converged(every.table, count, options)
        scorer = scorer_of(setting.model, data.table, options, held_out=data.held_out)
        exact = float(utility(setting.model, best, scorer, setting.metric)[0])
        budget = (scenario.epsilon,)
        grid = budget_grid(data.table, setting, best, budget, draws, data.held_out)
    except DPCoreError as refusal:
        return ByParts(refused={count: str(refusal)})
    if grid.refusals[0] is not None:
        return ByParts(refused={count: grid.refusals[0]})
    return ByParts({count: grid.utility[0]}, {count: exact})


def _joined(first: ByParts | None, second: ByParts) -> ByParts:
    first = first or ByParts()
    return ByParts(
        first.private | second.private, first.exact | second.exact, first.refused | second.refused
    )


def scene_of(result: ByParts, scenario: Scenario, data: Data) -> Scene:
    """The curve of the numbers that are there."""
    metric = metric_of(scenario.model, scenario.setting().metric)
    sign = -1.0 if metric.falls else 1.0  # a study turns what falls
    many = len(next(iter(result.private.values())))
    band = f", median of {many} draws" if many > 1 else ", one draw"
    budget = f"ε = {show_bound(scenario.epsilon)}, δ = {show_delta(scenario.delta)}"
    panel = parts_panel(
        {count: sign * utilities for count, utilities in result.private.items()},
        {count: sign * best for count, best in result.exact.items()},
        parts=scenario.declared.parts,
        metric=metric,
        unit=data.unit,
        now=scenario.components,
        subtitle=f"{budget}{band}{badge(data)}",
        pick=",".join(map(str, sorted(result.private))),
    )
    return Scene((1.0,), ("",), (panel,))


def button(scenario: Scenario) -> None:
    """Shows the curve, or hides it, where the model has parts."""
    kind = scenario.declared
    if kind.most == kind.least:
        return
    toggle(f"What each number of {kind.parts} buys", SHOWN, HELP.format(kind.parts))


def below_the_curve(scenario: Scenario, data: Data, store: ResultStore) -> ByParts | None:
    """The curve, once somebody asks; what there is of it while more is coming, else ``None``."""
    kind = scenario.declared
    if kind.most == kind.least or not st.session_state.get(SHOWN):
        return None
    result, counts = by_parts(scenario, data, store), offered(scenario, data)
    left = len(counts) - len(result.private) - len(result.refused)
    if len(result.private) >= LEAST:
        picked = live({"parts": scene_of(result, scenario, data)}, key="parts").picked
        if picked is not None:
            counts_drawn = picked["name"].split(",")  # more may have been fitted since
            change(components=int(counts_drawn[picked["item"]]))
            st.rerun()
        st.caption(RULE.format(kind.parts))
    elif not left:
        st.caption(next(iter(result.refused.values()), ""))
    if left:
        done = len(counts) - left
        st.caption(f"{done} of {len(counts)} numbers of {kind.parts} are fitted so far…")
    return result if left else None
