"""Below the picture of a labelled release: each class, each column, and every way of releasing."""

from __future__ import annotations

import streamlit as st

from app import compute
from app.components import look_again
from app.compute import Study
from app.explore_scene import pair, with_nearest, without_epsilon
from app.live import live
from app.result_store import Data
from app.scenario import Scenario
from app.tables import badge, store_of
from app.texts import explore as texts
from app.texts.frame import literal
from dpcore.errors import DPCoreError
from dpcore.figures.scene import Scene
from dpcore.models.labelled_mixture.class_pictures import Classes, classes_scene
from dpcore.models.labelled_mixture.min_trace import SOLVERS
from dpcore.models.labelled_mixture.scoring import YARDSTICK
from dpcore.models.labelled_mixture.worth import (
    Allocation,
    Worth,
    allocation,
    divergences,
    printed_allocation,
    rightly_named,
    solvers_compared,
)
from dpcore.privacy.guarantee import show_delta

OVER_EPSILON = ("divergence", "naming")  # panels whose curves hold every budget
COVERS = {"exact", "private", "curve"}  # a link that hides one of them hides what tells it too


def panel(scenario: Scenario, data: Data, whole: Study, *, ask: bool) -> None:
    """All of it, for a labelled release, of what is known of its study. ask: whether the other ways
    are worked out behind the page."""
    if COVERS & set(scenario.hide.split(",")):
        return
    store = store_of(data)
    try:
        worth = compute.worth(scenario, data, store, whole) if ask else None
        study, step = compute.with_extra_budget(whole, scenario, data, store)
    except DPCoreError:
        return  # the picture above says why
    setting = without_epsilon(scenario)
    typed = scenario.epsilon if step >= len(scenario.budgets(data.rows)) else None
    there = study.grid.utility.shape[1], study.grid.refusals
    key = ("classes", data.key, setting, there, worth is None, typed)
    scene = store.scenes.get(key, lambda: scene_of(scenario, data, study, worth, step))
    st.html(f'<h2 class="dp-below">{texts.CLASSES}{badge(data)}</h2>')
    live({"epsilon_step": scene.at(step)}, key="classes")
    solvers(data)
    if ask and worth is None:  # at the end, where its coming and going moves nothing
        _watch(scenario, data)


def solvers(data: Data) -> None:
    """Both solvers of noise shaped by the rows, class by class, once somebody asks."""
    if not st.toggle(texts.SOLVERS, key="solvers"):
        return
    try:
        with st.spinner(texts.SOLVING):
            comparisons = store_of(data).answers.get(
                ("solvers", data.key), lambda: solvers_compared(data.table)
            )
    except DPCoreError as refusal:
        st.caption(literal(str(refusal)))
        return
    lines = [
        {"class": comparison.name}
        | {
            f"{solver}: {title}": text
            for solver, trace, gap, seconds in zip(
                SOLVERS, comparison.objectives, comparison.gaps, comparison.seconds, strict=True
            )
            for title, text in (
                ("trace", f"{trace:.6g}"),
                ("gap", f"{gap:.0e}"),
                ("seconds", f"{seconds:.2g}"),
            )
        }
        for comparison in comparisons
    ]
    st.dataframe(lines, hide_index=True)
    st.caption(texts.SOLVERS_NOTE)


def _watch(scenario: Scenario, data: Data) -> None:
    """Look again until the other ways are worked out."""

    def more() -> bool:
        whole = compute.study(scenario, data, store_of(data))
        return whole.complete and compute.worth(scenario, data, store_of(data), whole) is not None

    look_again(more, every=0.5)


def scene_of(scenario: Scenario, data: Data, study: Study, worth: Worth | None, step: int) -> Scene:
    """The pictures of a complete study. worth: of the other ways, once it is there."""
    shown, exact = YARDSTICK.scorer(data.table), study.references.converged
    scorer = YARDSTICK.scorer(data.table, held_out=data.held_out)
    recipe = scenario.recipe
    facts = Classes(
        grid=study.grid,
        exact=exact,
        rows=shown.public.center + shown.public.half_range * shown.rows,
        away=divergences(study.grid, exact),
        named=rightly_named(study.grid, scorer),
        best=float(YARDSTICK.measure(exact, scorer, "accuracy")[0]),
        division=_division(scenario, data, study),
        worth=worth,
        own=recipe.title.lower() + (", not proved" if recipe.mode == "paper" else ""),
        thing=data.schema.thing,
        delta_text=f"(δ = {show_delta(scenario.delta)})",
    )
    positions = tuple(range(len(scenario.budgets(data.rows))))
    scene = classes_scene(facts, pair(scenario, data), positions, step)
    moving = [panel.id for panel in scene.panels if panel.id not in OVER_EPSILON]
    return with_nearest(scene, study.grid, moving)


def _division(scenario: Scenario, data: Data, study: Study) -> Allocation | None:
    if scenario.recipe.mode != "paper":
        return allocation(study.grid, scenario.delta)
    return printed_allocation(data.table, study.grid.epsilons, scenario.delta)
