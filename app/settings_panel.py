"""Explore's drawer of further settings: the choices that a newcomer need not make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import upload
from app.explore_scene import image
from app.result_store import Data
from app.scenario import GENERATED, PARTS, UPLOAD, GeneratedTable, Scenario
from app.state import bind, change, current, on_choice
from app.sweeps import NOISE
from app.texts import explore as texts
from app.texts.frame import literal
from app.widgets import box, number, pick
from dpcore.options import Dial


def more_settings(scenario: Scenario, data: Data) -> None:
    """The drawer, top to bottom: the rows, the promise, the model, its steps, whom it protects."""
    kind, thing = scenario.declared, data.schema.thing
    with st.popover(texts.MORE):
        if scenario.data == GENERATED:
            _made(scenario)
        _seen(scenario, data)
        box(scenario, "delta", "δ", 1e-5, texts.HELP["delta"], "%e")
        if kind.most > kind.least:
            with _pulled(scenario, PARTS):
                box(scenario, PARTS, f"Number of {kind.parts}", 1, None, "%d")
        if kind.clips_rows:
            with _pulled(scenario, "clip"):
                label = texts.clipping_share(documents=data.documents)
                box(scenario, "clip", label, 0.05, texts.HELP["clip"], "%.2f")
        for name, dial in scenario.offered().items():
            with _pulled(scenario, name):
                _option(scenario, data, name, dial)
        _neighbours(scenario, thing)
        label, about = (
            f"{thing.capitalize()}s per {literal(data.unit)}",
            texts.rows_per_unit_help(f"{thing}s"),
        )
        with _pulled(scenario, "rows_per_person"):
            box(scenario, "rows_per_person", label, 1, about, "%d")
        if data.held_out is not None:
            with _pulled(scenario, "fitted_rows"):
                label, about = texts.rows_to_fit(f"{thing}s"), texts.HELP["fitted_rows"]
                box(scenario, "fitted_rows", label, 1, about, "%d")
        with _pulled(scenario, NOISE):
            st.caption(texts.NOISE_FOLLOWS)
        box(scenario, "noise", "Noise seed", 1, texts.SEED_HELP, "%d")


def _pick(name: str, label: str, options: Mapping[Any, str], value: Any) -> None:
    """A list for one field of the scenario."""
    pick(f"setting_{name}", label, options, value, lambda chosen: change(**{name: chosen}))


def _seen(scenario: Scenario, data: Data) -> None:
    """How pictures are averaged, and which two columns are on the axes, where there is a choice."""
    squares = _squares(data, scenario.pool)
    if len(squares) > 1:
        _pick(
            "pool",
            texts.AVERAGED,
            {side: "none" if side == 1 else f"squares of {side} × {side}" for side in squares},
            scenario.pool,
        )
    if data.public.dim > 2 and scenario.declared.plane:
        names = dict(enumerate(data.public.names))
        left, right = st.columns(2)
        with left:
            _pick("x", "Across", names, scenario.x)
        with right:
            _pick("y", "Up", names, scenario.y)


def _squares(data: Data, pool: int) -> list[int]:
    """Sides of the squares of pixels that may be averaged; empty where rows are no pictures."""
    shape = image(data)
    if shape is None:
        return []
    height, width = (side * pool for side in shape)  # of the table as it came
    return [side for side in (1, 2, 4, 8) if height % side == width % side == 0]


def _option(scenario: Scenario, data: Data, name: str, dial: Dial) -> None:
    """One option of the model, as its declaration has it."""
    key, value = f"setting_{name}", scenario.value(name, data.public.dim)

    def apply(chosen: Any) -> None:
        change(**current().with_value(name, chosen))

    if dial.choices is not None:
        pick(key, dial.label, dial.choices, value, apply, dial.help)
    elif dial.form:
        whole = dial.form == "%d"
        span = tuple(map(int if whole else float, (dial.low, dial.high, dial.step)))
        number(key, dial.label, value, span, apply, dial.help, dial.form, dial.empty)
        if dial.empty and value is not None:  # such a box takes no empty text
            words = texts.emptied(dial.empty)
            st.button(words, key=f"empty_{name}", type="tertiary", on_click=apply, args=(None,))
    else:
        bind(key, value)
        st.checkbox(dial.label, value, key=key, help=dial.help, on_change=on_choice(key, apply))


def _pulled(scenario: Scenario, name: str) -> DeltaGenerator:
    """Where an option stands, beside a button that pulls it up to the other dials if it slides."""
    if name not in scenario.pulled() and (name != "clip" or not scenario.third):
        return st.container()
    left, right = st.columns([2.2, 1], vertical_alignment="bottom")
    third = "" if name == "clip" else name
    with right:
        st.button(
            "Slide",
            key=f"pull_{name}",
            help=texts.PULL,
            disabled=scenario.beside == name,
            on_click=lambda: change(third=third, dial=name),
        )
    return left


def _neighbours(scenario: Scenario, thing: str) -> None:
    """Whom the promise protects, where there is a choice."""
    words = texts.neighbours(thing)
    titles = {name: words[name] for name in scenario.adjacencies()}

    def apply(chosen: str) -> None:
        delta = current().delta
        if scenario.data == UPLOAD:
            delta = upload.delta_under(chosen, delta)
        change(adjacency=chosen, delta=delta)

    if len(titles) > 1:
        label = "Neighbouring datasets (adjacency)"
        pick("setting_adjacency", label, titles, scenario.adjacency, apply)


def _made(scenario: Scenario) -> None:
    """The table to generate."""
    table = GeneratedTable.parse(scenario.made)
    spans = {
        "rows": (20, 200_000, 1000),
        "columns": (2, 20, 1),
        "groups": (1, 10, 1),
        "seed": (0, 10**6, 1),
    }
    for name, span in spans.items():

        def apply(chosen: int, name: str = name) -> None:
            change(made=str(replace(table, **{name: chosen})))

        number(f"made_{name}", f"Generated {name}", getattr(table, name), span, apply)
