"""The current scenario: one value in the session, mirrored in the address bar."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from app.scenario import GENERATED, UPLOAD, Scenario, from_query, sane
from dpcore.datasets.catalogue import bundled
from dpcore.evaluation.study import EPSILONS


def current() -> Scenario:
    """The scenario: that of the address where the reader changed it (a link, the back button)."""
    address = st.query_params.to_dict()
    if "scenario" not in st.session_state or address != st.session_state["address"]:
        names = {table.name: table for table in bundled()} | {UPLOAD: None, GENERATED: None}
        st.session_state["scenario"] = from_query(address, names)
    scenario: Scenario = st.session_state["scenario"]
    if address != scenario.as_query():
        st.query_params.from_dict(scenario.as_query())
    st.session_state["address"] = scenario.as_query()
    return scenario


def change(**choices: Any) -> None:
    """Change some choices; those that no longer fit together are brought in line."""
    st.session_state["scenario"] = sane(replace(st.session_state["scenario"], **choices))


def step_of(epsilon: float) -> int:
    """The slider's position nearest to a budget, by the rule of :attr:`Scene.thumb`."""
    return int(np.argmin(np.abs(np.array(EPSILONS) - epsilon)))
