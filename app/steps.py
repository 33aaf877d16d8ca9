"""Step by step: how far each method of the model has come after each of its steps, in a dialog."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from app import compute
from app.components import toggle
from app.explore_scene import walked_panels
from app.live import live
from app.result_store import Data, ResultStore, in_background
from app.scenario import Scenario, sane
from app.state import change
from app.tables import badge
from app.texts import explore as texts
from app.texts.frame import literal
from dpcore.arrays import Array
from dpcore.errors import DPCoreError, InputError
from dpcore.evaluation.steps import Spending, clipped_in_steps, fits_after, spending, walk
from dpcore.evaluation.yardstick import metric_of
from dpcore.figures.scene import Panel, Scene
from dpcore.figures.steps import spending_strip, steps_scene
from dpcore.privacy.adjacency import protects
from dpcore.privacy.guarantee import show_bound, show_delta

STEP = "step_taken"  # key of the dialog's slider
OPENED = "walk_opened"  # key of the button that opens it; style.css takes "_step" for a slider
AS_PUBLISHED = ", as published"
SHOWN = "strip_shown"  # whether the strip of the steps stands under the curve
FEW = 5  # draws of the noise of which a step's utility is the median


@dataclass(frozen=True)
class Walks:
    """By method's title: utility ``(T, D)``, the chosen method first, or why there is none.

    plain ``(T,)``: the chosen method's steps without noise; empty where it reads the data once.
    spent: what the chosen method's steps spend, or ``None`` where that is not known; clipped
    ``(T,)``: the share that they clip, ``None`` where they clip nothing. fits: of its bold draw
    ``(T, 1, ...)``, without noise and with it; empty where it reads the data once.
    """

    walked: dict[str, Array]
    refused: dict[str, str]
    plain: Array
    spent: Spending | None = None
    clipped: Array | None = None
    fits: tuple[Any, ...] = ()


def walks(scenario: Scenario, data: Data, store: ResultStore) -> Walks:
    """The steps of every method of the model that takes steps, at the scenario's budget."""
    key = ("steps", *_key(scenario, data))
    return store.answers.get(key, lambda: _walks(scenario, data, store))


def _key(scenario: Scenario, data: Data) -> tuple[object, ...]:
    """What the steps depend on."""
    view = replace(scenario, show="", x=0, y=1, hide="", pins="", dial="epsilon", third="")
    return data.key, view


def _walks(scenario: Scenario, data: Data, store: ResultStore) -> Walks:
    draws = range(compute.draws_of(scenario))
    best = compute.converged_of(scenario.setting(data.secret), data, store)
    draws = draws[: compute.affordable(len(draws), best, scenario.iterations)]
    walked, refused = dict[str, Array](), dict[str, str]()
    for method in sorted(scenario.recipes(), key=lambda other: other != scenario.method):
        recipe = scenario.declared.method(method)
        choice = sane(replace(scenario, method=method))
        title = recipe.title + (AS_PUBLISHED if recipe.mode == "paper" else "")
        if choice.adjacency != scenario.adjacency:
            refused[title] = texts.other_promise(_who(choice, data))
            continue
        try:
            setting = choice.setting(data.secret)
            utility = walk(data.table, setting, scenario.epsilon, draws, data.held_out)
        except InputError as error:
            refused[title] = str(error)
            continue
        if len(utility) > 1:
            walked[title] = utility
    if not walked:
        return Walks(walked, refused, np.empty(0))
    setting = scenario.setting(data.secret)
    plain = walk(data.table, setting, None, (0,), data.held_out)
    fits, clipped = tuple[Any, ...](), None
    if next(iter(walked)).startswith(scenario.recipe.title):
        clipped = clipped_in_steps(data.table, setting, scenario.epsilon)
        budgets = (None, scenario.epsilon)
        fits = tuple(fits_after(data.table, setting, budget, best) for budget in budgets)
    return Walks(walked, refused, plain[:, 0], _spent(scenario, data), clipped, fits)


def _spent(scenario: Scenario, data: Data) -> Spending | None:
    try:
        ledger = compute.one_fit(scenario, data).ledger
        others = [name for name in scenario.curves() if name != scenario.count_by]
        return spending(ledger, scenario.count_by, scenario.delta, others)
    except DPCoreError:
        return None  # the budget is out of reach, or the method has no theorem for a step


def _who(scenario: Scenario, data: Data) -> str:
    """The change that is protected, in words."""
    terms = (scenario.adjacency, data.unit, scenario.rows_per_person, data.schema.thing)
    return protects(*terms, limited=data.schema.person is not None)


def scene_of(result: Walks, scenario: Scenario, data: Data, store: ResultStore) -> Scene:
    """The walks as one picture, between knowing nothing and the exact fit."""
    references = compute.references_of(scenario.setting(data.secret), data, store)
    metric = metric_of(scenario.model, scenario.setting().metric)
    sign = -1.0 if metric.falls else 1.0  # a study turns what falls
    strip: Panel | None = None
    first = next(iter(result.walked.values()))
    if result.spent is not None and len(result.spent.so_far) == len(first):
        strip = _strip(result.spent, result.clipped, first, scenario, data)
    return steps_scene(
        {title: sign * utilities for title, utilities in result.walked.items()},
        sign * result.plain,
        utility=metric.axis.format(unit=data.unit),
        best=sign * references.converged_utility,
        least=sign * references.bounds_utility,
        subtitle=f"median of the noise draws; the band holds the middle 80%{badge(data)}",
        strip=strip,
        falls=metric.falls,
        above=walked_panels(scenario, data, references.converged, *result.fits)
        if result.fits
        else (),
    )


def _strip(
    spent: Spending, clipped: Array | None, utility: Array, scenario: Scenario, data: Data
) -> Panel:
    """What each step spends. clipped ``(T,)``: the share that it clips, of the rows that Explore
    may show. utility ``(T, D)``: after each step, as a study has it."""
    things = f"{data.schema.thing}s"
    shares = [f"no {things} clipped"] * len(spent.so_far)
    if clipped is not None:
        shares = [f"{share:.1%} of {things} clipped" for share in clipped]
    metric = metric_of(scenario.model, scenario.setting().metric)
    return spending_strip(
        spent,
        (-1.0 if metric.falls else 1.0) * np.median(utility, axis=1),
        method=scenario.titles((scenario.count_by,))[scenario.count_by],
        clipped=shares,
        worth=metric.worth,
        pick="stop" if scenario.steps else "",
        titles=scenario.titles(scenario.curves()),
        badge=badge(data),
    )


def strip_of(scenario: Scenario, data: Data, store: ResultStore) -> Scene | str | None:
    """What each step of the scenario's fit spends, as a picture, or why there is none; ``None``:
    it is not there yet, and is worked out behind the page."""
    key = ("strip", *_key(scenario, data))

    def make() -> Scene | str:
        setting, draws = scenario.setting(data.secret), range(min(FEW, compute.draws_of(scenario)))
        spent = _spent(scenario, data)
        if spent is None:
            return texts.NO_STEPS
        try:
            utility = walk(data.table, setting, scenario.epsilon, draws, data.held_out)
            clipped = clipped_in_steps(data.table, setting, scenario.epsilon)
        except InputError as error:
            return str(error)
        if len(utility) != len(spent.so_far):
            return texts.NO_STEPS
        return Scene((1.0,), ("",), (_strip(spent, clipped, utility, scenario, data),))

    if store.answers.peek(key) is None:
        in_background(store, key, lambda: store.answers.get(key, make))
    answer: Scene | str | None = store.answers.peek(key)
    return answer


def button() -> None:
    """Shows the strip of the steps, or hides it."""
    toggle(texts.STRIP, SHOWN, texts.STRIP_HELP)


def below_the_curve(scenario: Scenario, data: Data, store: ResultStore) -> bool:
    """The strip of the steps under the main curve, once somebody asks; whether it is all there."""
    if not st.session_state.get(SHOWN):
        return True
    strip = strip_of(scenario, data, store)
    if strip is None or isinstance(strip, str):
        st.caption(strip or texts.STRIP_COMING)
        return strip is not None
    picked = live({"strip": strip}, key="strip").picked
    if picked is not None:
        change(iterations=picked["item"] + 1)
        st.rerun()
    if scenario.steps:
        st.caption(texts.FEWER_STEPS)
    return True


def slide_steps(count: int) -> None:
    """The slider that the fits after each step follow; it opens at the last."""
    if count > 1:
        steps = range(1, count + 1)
        st.select_slider("Steps taken", steps, count, key=STEP)


@st.dialog(texts.STEPS, width="large", on_dismiss="rerun")
def dialog(scenario: Scenario, data: Data, store: ResultStore) -> None:
    """The picture, what it says, and which methods it leaves out."""
    with st.spinner(texts.STEPS_COMING):
        result = walks(scenario, data, store)
    budget = f"ε = {show_bound(scenario.epsilon)}, δ = {show_delta(scenario.delta)}"
    st.markdown(f"{budget}, {literal(_who(scenario, data))}. {texts.SHARED_BUDGET}")
    if not result.walked:
        st.info(texts.ALL_REFUSED if result.refused else texts.ONE_STEP_EACH)
    else:
        scene = scene_of(result, scenario, data, store)
        slide_steps(len(scene.steps))
        picked = live({STEP: scene}, key="steps").picked
        if picked is not None:
            change(iterations=picked["item"] + 1)
            st.rerun()
        if scenario.steps and len(scene.panels) > 1:
            st.caption(texts.FEWER_STEPS)
    if any(title.endswith(AS_PUBLISHED) for title in result.walked):
        st.caption(texts.PRINTED_EPSILON)
    for title, reason in result.refused.items():
        st.caption(literal(f"{title}: {reason}"))
