"""The current scenario: one value in the session, mirrored in the address bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
import streamlit as st

from app.scenario import GENERATED, UPLOAD, Scenario, from_query, sane
from dpcore.datasets.catalogue import bundled
from dpcore.evaluation.study import EPSILONS

SETTLING = 2.0  # seconds within which the browser may not have heard of a change made here


def current() -> Scenario:
    """The scenario; that of the address at first, and where the reader went back to another one."""
    state, address = st.session_state, st.query_params.to_dict()
    if "scenario" not in state or _went_elsewhere(address):
        names = {table.name: table for table in bundled()} | {UPLOAD: None, GENERATED: None}
        state["scenario"] = from_query(address, names)
    scenario: Scenario = state["scenario"]
    state.pop("chosen", None)
    if address != scenario.as_query():
        st.query_params.from_dict(scenario.as_query())
    if state.get("address") != scenario.as_query():
        state["address"], state["addressed"] = scenario.as_query(), monotonic()
    return scenario


def _went_elsewhere(address: dict[str, str]) -> bool:
    """Whether the reader changed the address (the back button, say).

    The browser hears of a new address late: what it sends until then is old, not new.
    """
    state = st.session_state
    settled = monotonic() - state["addressed"] > SETTLING
    return settled and "chosen" not in state and address != state["address"]


def change(**choices: Any) -> None:
    """Change some choices; those that no longer fit together are brought in line."""
    st.session_state["chosen"] = True
    st.session_state["scenario"] = sane(replace(st.session_state["scenario"], **choices))


def bind(key: str, value: Any) -> None:
    """Let a widget show a value; where it already does, nothing may take it from the hand."""
    state = st.session_state
    if key not in state or state[key] != value:
        if key in state:
            state.setdefault("replaced", []).append((key, state[key], monotonic()))
        state[key] = value


def on_choice(key: str, apply: Callable[[Any], None]) -> Callable[[], None]:
    """The callback of a bound widget: ``apply`` what the reader chose.

    The browser sends the values of all widgets with each change of one. Those that it has not yet
    heard were replaced come back as they were; they are no choice of the reader.
    """

    def changed() -> None:
        value, now = st.session_state[key], monotonic()
        replaced = [one for one in st.session_state.get("replaced", []) if now - one[2] < SETTLING]
        st.session_state["replaced"] = replaced
        if not any(key == one[0] and value == one[1] for one in replaced):
            apply(value)

    return changed


def step_of(epsilon: float) -> int:
    """The slider's position nearest to a budget, by the rule of :attr:`Scene.thumb`."""
    return int(np.argmin(np.abs(np.array(EPSILONS) - epsilon)))
