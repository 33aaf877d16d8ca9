"""Behind the Attack page: attacks over a row of budgets, and the exhibits."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from app.compute import Data, Desk
from app.scenario import Scenario
from dpcore.auditing.attack import Attack, attack
from dpcore.auditing.exhibits import Exhibit, exhibits
from dpcore.auditing.fits import Pair
from dpcore.errors import InputError
from dpcore.evaluation.metrics import loneliest_row
from dpcore.figures.attack import attack_scene
from dpcore.figures.scene import Scene
from dpcore.privacy.guarantee import show
from dpcore.registry import AUDITS, EXHIBITS, load
from dpcore.schema import Column

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
MOST_RUNS, FEWEST_RUNS = 600, 60  # releases of each of the two tables
AT_ONCE = 4e8  # row visits that may be waited for
FARTHEST, CHOSEN, TYPED, WORST = "farthest", "row", "typed", "worst"
WHOSE = {
    FARTHEST: "the one farthest from all others",
    CHOSEN: "the one in row…",
    TYPED: "somebody new, whom you type…",
    WORST: "nobody's: the hardest case to hide",
}


MOST_TYPED = 12  # columns that somebody may be asked to type
Cells = tuple[tuple[str, Any], ...]


def typed_columns(data: Data) -> tuple[Column, ...]:
    """The columns of somebody who is typed; none where they are too many, or documents."""
    if data.documents:
        return ()
    found = tuple(one for one in data.schema.columns if one.role in ("feature", "label", "target"))
    return found if len(found) <= MOST_TYPED else ()


def first_cells(data: Data) -> dict[str, Any]:
    """Somebody in the middle of the public limits."""
    return {
        one.name: one.categories[0] if one.type == "category" else one.fill
        for one in typed_columns(data)
    }


def pair_of(
    scenario: Scenario, data: Data, whose: str, row: int, typed: Cells = ()
) -> tuple[Pair, dict[str, Any]]:
    """The two tables, and the options of the fits that are attacked.

    typed: cells of somebody new, who is added, or takes the first row's place.
    """
    setting = scenario.setting(data.secret)
    options = {**setting.options(), "clip": setting.clip}
    if whose == WORST:
        subject = load(AUDITS[scenario.model])
        return subject.tables(scenario.adjacency), {**options, **subject.options}
    table = (data.whole or data).table
    if whose == TYPED:
        if scenario.adjacency not in ("add_remove", "replace_one"):
            raise InputError(
                "adjacency",
                "somebody new has a row, and parts of rows are protected here",
                "choose a row of the table",
            )
        place = 0 if scenario.adjacency == "replace_one" else None
        return Pair(table, table.with_row(dict(typed), place), "typed"), options
    position = loneliest_row(table) if whose == FARTHEST else row
    words = "replaced" if scenario.adjacency == "replace_one" else "gone"
    return Pair(table.neighbour(position, scenario.adjacency), table, words), options


def found(
    scenario: Scenario, data: Data, desk: Desk, whose: str, row: int, typed: Cells = ()
) -> Attack:
    """The attacks on one row; worked out once for everything else than the budget.

    Raises InputError for models that hundreds of fits of would keep one waiting for minutes.
    """
    if scenario.cost > 1.0:
        raise InputError(
            "model", "hundreds of fits of it take minutes", f"run: dpcore audit {scenario.model}"
        )
    known = replace(scenario, epsilon=1.0, noise=0, x=0, y=1, hide="")
    key: Hashable = ("attack", data.key, known, whose, row, typed)
    setting = scenario.setting(data.secret)

    def play() -> Attack:
        pair, options = pair_of(scenario, data, whose, row, typed)
        rows = 100 if whose == WORST else data.rows or 10_000
        visits = 4.0 * rows * scenario.iterations * scenario.components * len(EPSILONS)
        runs = int(np.clip(AT_ONCE / visits, FEWEST_RUNS, MOST_RUNS))
        requests = [setting.request(epsilon) for epsilon in EPSILONS]
        return attack(scenario.model, pair, requests, runs, seed=scenario.noise, **options)

    kept: Attack = desk.answers.get(key, play)
    return kept


def scene(
    scenario: Scenario, data: Data, desk: Desk, whose: str, row: int, typed: Cells = ()
) -> Scene:
    """The picture, with its sentence for every budget."""
    known = found(scenario, data, desk, whose, row, typed)
    instead = "another" if scenario.adjacency == "replace_one" else "no such"
    return attack_scene(
        known,
        who=f"this {data.unit}",
        other=f"{instead} {data.unit}",
        slots={"attacked": tuple(_said(known, s) for s in range(len(known.epsilons)))},
    )


def _said(known: Attack, step: int) -> str:
    """What the attacker achieved, beside what is proved."""
    ceiling, guarantee = known.ceiling[step], known.guarantees[step]
    proved = "nothing is proved"
    if guarantee.epsilon is not None:
        best = 50.0 * float(np.max(ceiling + 1.0 - known.alarms))
        proved = f"proved: nobody is right more often than {np.ceil(best):.0f} times"
    delta = "" if guarantee.delta is None else f", δ = {show(guarantee.delta)}"
    return (
        f"At ε = {show(known.epsilons[step])}{delta}, {guarantee.protects}, you are right "
        f"**{100 * known.rates[step]:.0f} times in 100** (a coin: 50; {proved})."
    )


def titles() -> dict[str, str]:
    """Every exhibit by name, in words."""
    return {name: name.replace("-", " ").capitalize() for name in EXHIBITS}


@cache
def exhibit(name: str) -> Exhibit:
    """One exhibit, played once."""
    return exhibits(name)
