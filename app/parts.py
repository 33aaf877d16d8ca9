"""The number of parts as a dial: both fits with each number, worked out one after another behind
the page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from app.compute import Study, begin_with, draws_of, hold_against, references_of, with_extra_budget
from app.result_store import Data, ResultStore, in_background
from app.scenario import PARTS, Scenario
from dpcore.errors import DPCoreError
from dpcore.evaluation.study import Curves, sweep

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50)
FEW_DRAWS = 5
VISITS = 4e8  # visits of a row in all draws of one number, at most

ByParts = dict[int, Study | str]  # of one stop, or why there is none


def numbers(scenario: Scenario, data: Data) -> tuple[int, ...]:
    """The stops of the dial: the numbers that the model and the table allow and that are not too
    slow."""
    kind, visits = scenario.declared, replace(scenario, components=1).visits(data.rows)
    most = min(kind.most, kind.compared, kind.most if data.rows is None else data.rows)
    if kind.below_columns:
        most = min(most, data.public.dim - 1)
    some = {count for count in COUNTS if kind.least <= count <= most}
    quick = {count for count in some if count * visits * _draws(scenario) <= VISITS}
    return tuple(sorted(quick | {scenario.components}))


def by_parts(scenario: Scenario, data: Data, store: ResultStore) -> ByParts:
    """What is known so far, by number of parts."""
    fits: ByParts = store.answers.peek(_key(scenario, data)) or {}
    return fits


def hand_over(scenario: Scenario, data: Data, store: ResultStore) -> None:
    """Let the study over epsilon begin with the exact fit of the current number, where it is
    known."""
    earlier = by_parts(scenario, data, store).get(scenario.components)
    if isinstance(earlier, Study):
        setting = scenario.setting(data.secret)
        hold_against(earlier.references, setting, data, store)
        if data.every is not None and earlier.whole is not None:
            hold_against(earlier.whole, setting, data.every, store)
        begin_with(earlier.grid, scenario, data, store)


def current_study(scenario: Scenario, data: Data, store: ResultStore, now: Study) -> Study | str:
    """The current number's fits, which the study over epsilon has."""
    now, place = with_extra_budget(now, scenario, data, store)
    grid = replace(now.grid.taken([place]), stops=(float(scenario.components),), dial=PARTS)
    if (why := grid.refusals[0]) is not None:
        return why
    every = data.every
    setting = scenario.setting(data.secret)
    whole = references_of(setting, every, store) if every is not None else None
    single = np.array([-np.inf]) if now.curves is None else now.curves.single[[place]]
    return Study(grid, now.references, Curves({}, {}, single), complete=True, whole=whole)


def without_fit(other: Study, count: int, why: str) -> Study:
    """The study of a number that has no fit, and why; its exact fit is that of another number."""
    grid = other.grid.among((*other.grid.stops, float(count)), why).taken([1])
    curves = Curves({}, {}, np.array([-np.inf]))
    return Study(grid, other.references, curves, complete=True, whole=other.whole)


def complete(scenario: Scenario, data: Data, store: ResultStore) -> bool:
    """Whether every number is known."""
    return set(numbers(scenario, data)) <= set(by_parts(scenario, data, store))


def work_out(
    scenario: Scenario, data: Data, store: ResultStore, wanted: float | None = None
) -> None:
    """Have every number worked out behind the page, those nearest to the scenario's first. wanted:
    the one that a hand is on, which comes next."""
    counts, here, key = numbers(scenario, data), scenario.components, _key(scenario, data)
    order = sorted(counts, key=lambda count: abs(np.log(count / here)))
    if wanted is not None:
        store.wanted[key] = wanted

    def work() -> None:
        while left := [count for count in order if count not in by_parts(scenario, data, store)]:
            stop = store.wanted.pop(key, left[0])
            count = int(stop) if stop in left else left[0]
            fitted = _fits(replace(scenario, components=count), data, store, in_use=count == here)
            store.answers.change(
                key,
                lambda so_far, count=count, fitted=fitted: (so_far or {}) | {count: fitted},  # type: ignore[misc]
            )
            if key not in store.waiting:
                return  # nobody looks at it any more

    in_background(store, key, work)


def _key(scenario: Scenario, data: Data) -> tuple[Any, ...]:
    view = replace(scenario, show="", x=0, y=1, hide="", pins="", dial="epsilon", third="")
    return (PARTS, data.key, replace(view, components=1))


def _draws(scenario: Scenario) -> int:
    return min(FEW_DRAWS, draws_of(scenario)) if scenario.cost == 1.0 else 1


def _fits(scenario: Scenario, data: Data, store: ResultStore, *, in_use: bool) -> Study | str:
    """Both fits with one number of parts. in_use: the page has the exact fit with that number; the
    others would push out what it shows."""
    setting, place = scenario.setting(data.secret), store if in_use else ResultStore()
    try:
        best = references_of(setting, data, place)
        whole = references_of(setting, data.every, place) if data.every is not None else None
        stops, draws = (scenario.components,), range(_draws(scenario))
        fitted = sweep(
            data.table, setting, best, scenario.epsilon, PARTS, stops, draws, data.held_out
        )
    except DPCoreError as refusal:
        return str(refusal)
    if (why := fitted.grid.refusals[0]) is not None:
        return why
    return Study(fitted.grid, best, Curves({}, {}, fitted.single), complete=True, whole=whole)
