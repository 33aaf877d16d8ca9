"""Intervals of the bold fit's numbers on Explore: worked out behind the page, a budget at a time.

They are those of ``Fit.intervals`` (:mod:`dpcore.fitting.intervals`): simulated from what the fit
found, so they cost nothing, and only where the hand rests.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app import compute
from app.result_store import Data, ResultStore, in_background
from app.scenario import Scenario
from app.texts import explore as texts
from dpcore.arrays import Array
from dpcore.errors import DPCoreError
from dpcore.fitting.intervals import LEVEL, Intervals

Result = Intervals | str  # or why there are none


def suits(scenario: Scenario) -> bool:
    """Whether the picture is one number a column, of a model whose intervals were seen to hold."""
    declared = scenario.declared
    return declared.one_row and not declared.plane and bool(declared.uncertainty)


def result(scenario: Scenario, data: Data, store: ResultStore) -> Result | None:
    """The intervals at the scenario's budget, or why there are none; ``None``: not there yet."""
    stored: Result | None = store.answers.peek(_key(scenario, data))
    return stored


def ask(scenario: Scenario, data: Data, store: ResultStore) -> None:
    """Have them worked out."""
    key = _key(scenario, data)

    def make() -> Result:
        try:
            return compute.one_fit(scenario, data).intervals()
        except DPCoreError as refusal:
            return f"No intervals: {str(refusal).removeprefix('intervals: ')}"

    in_background(store, key, lambda: store.answers.get(key, make))


def by_budget(
    scenario: Scenario, data: Data, store: ResultStore, epsilons: tuple[float, ...]
) -> dict[int, Array]:
    """The intervals ``(d, 2)`` that are there, by the place of their budget."""
    if not suits(scenario):
        return {}
    results = (result(replace(scenario, epsilon=epsilon), data, store) for epsilon in epsilons)
    return {
        place: next(iter(intervals.same_rows.values()))
        for place, intervals in enumerate(results)
        if isinstance(intervals, Intervals)
    }


def at_stops(
    scenario: Scenario, data: Data, store: ResultStore, epsilons: tuple[float, ...]
) -> Array | None:
    """Intervals ``(S, d, 2)`` at each budget, NaN where none are known; ``None``: at none."""
    there = by_budget(scenario, data, store, epsilons)
    if not there:
        return None
    ends = np.full((len(epsilons), *next(iter(there.values())).shape), np.nan)
    ends[list(there)] = list(there.values())
    return ends


def sentence(scenario: Scenario, data: Data, result: Result | None) -> str:
    """What the bars say and include, or why there are none."""
    if result is None:
        return ""
    if isinstance(result, str):
        return result
    if scenario.declared.reads == "target" and data.public.dim == 1:
        return result.sentence  # one slope is drawn as a line, without a bar
    return texts.bars(LEVEL, result.sentence, several=scenario.components > 1)


def _key(scenario: Scenario, data: Data) -> tuple[object, ...]:
    return (
        "intervals",
        data.key,
        replace(scenario.setting(data.secret), metric=""),
        scenario.epsilon,
    )
