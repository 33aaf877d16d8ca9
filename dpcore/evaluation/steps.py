"""Step by step: what a fit is worth after each of its steps, for every noise draw.

All steps share one budget, so more steps leave each more noise: a private fit climbs, then wanders.
For the custodian's eyes, as a study is: utility is read off exact rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcore.accounting import compose
from dpcore.arrays import Array
from dpcore.errors import NotCovered
from dpcore.evaluation.study import Setting, fitted
from dpcore.evaluation.yardstick import mapped, scorer_of, utility, yardstick
from dpcore.fitting.api import fit_grid
from dpcore.privacy import Event, Ledger
from dpcore.privacy.events import noise_of
from dpcore.wall.table import PrivateTable

_STEP = re.compile(r"(?:iteration|step) (\d+):")  # how a ledger names a release of a step


@dataclass(frozen=True)
class Spending:
    """What each of T steps of a fit spends.

    sensitivity, noise: of each release, step by step, the noise over the sensitivity. alone, so_far
    ``(T,)``: epsilon of the step, and of all steps up to it, at the fit's delta. others: so_far by
    other methods.
    """

    sensitivity: tuple[tuple[float, ...], ...]
    noise: tuple[tuple[float, ...], ...]
    alone: Array
    so_far: Array
    others: dict[str, Array] = field(default_factory=dict)


def spending(
    ledger: Ledger, accountant: str, delta: float, others: Sequence[str] = ()
) -> Spending | None:
    """What the steps of one fit's ledger spend, by one composition method; and so far by others,
    where they have a theorem.

    What is released before the first step counts to it, anything else to the step before. ``None``
    where the ledger names no steps, or they read samples, which take minutes to compose. Raises
    NotCovered where the method has no theorem for a release.
    """
    steps: list[list[Event]] = []
    sensitivity: list[tuple[float, ...]] = []
    names = [_STEP.match(entry.what) for entry in ledger]
    if not any(names) or any(event.sampling != "none" for event in ledger.events):
        return None
    for name, entry, event in zip(names, ledger, ledger.events, strict=True):
        if not steps or (name is not None and int(name[1]) > len(steps)):
            steps.append([])
            sensitivity.append(())
        steps[-1].append(event)
        sensitivity[-1] += (entry.sensitivity,)

    def epsilons(runs: Sequence[Sequence[Event]], method: str) -> Array:
        return np.array(
            [float(compose(events, method, delta=delta, lower=False).epsilon) for events in runs]
        )

    every = [sum(steps[: t + 1], list[Event]()) for t in range(len(steps))]
    by_method = dict[str, Array]()
    for method in others:
        with suppress(NotCovered):
            by_method[method] = epsilons(every, method)
    return Spending(
        tuple(sensitivity),
        tuple(tuple(float(noise_of(event)) for event in step) for step in steps),
        epsilons(steps, accountant),
        epsilons(every, accountant),
        by_method,
    )


def takes_steps(ledger: Ledger) -> bool:
    """Whether a fit's ledger names steps; else the fit reads its rows once."""
    return any(_STEP.match(entry.what) for entry in ledger)


def walk(
    table: PrivateTable,
    setting: Setting,
    epsilon: float | None,
    draws: Sequence[int],
    held_out: PrivateTable | None = None,
) -> Array:
    """Utility ``(T, D)`` after each of the T steps of a setting, for D noise draws.

    epsilon: for all steps together; ``None``: the same steps without noise, one run. T is 1 for a
    method that reads the data once. held_out: rows that no fit sees, to judge fits on [those that
    are fitted]. Raises InputError for a budget out of reach.
    """
    scorer = scorer_of(setting.model, table, setting.options(), held_out=held_out)
    history = _history(table, setting, epsilon, draws)
    return np.stack([utility(setting.model, batch, scorer, setting.metric) for batch in history])


def clipped_in_steps(table: PrivateTable, setting: Setting, epsilon: float) -> Array | None:
    """Share of the fitted rows ``(T,)`` that clipping moves in each step of the first draw's fit;
    ``None`` where no step clips. Rows decide it: for whoever may see exact values, as utility is.

    Raises InputError for a budget out of reach.
    """
    grid = fitted(table, setting, [setting.request(epsilon)], (0,))
    if not len(grid.runs.clipping):
        return None
    scorer = scorer_of(setting.model, table, setting.options())
    judge = yardstick(setting.model)
    return judge.clipped_in_steps(grid.runs.clipping, grid.settings, grid.clip, scorer)


def fits_after(table: PrivateTable, setting: Setting, epsilon: float | None, reference: Any) -> Any:
    """The first draw's fits ``(T, 1, ...)`` after each step, their parts in a reference's order.

    Otherwise as :func:`walk`.
    """
    judge = yardstick(setting.model)
    aligned = [
        judge.align(batch, reference)[0] for batch in _history(table, setting, epsilon, (0,))
    ]
    return mapped(aligned[0], lambda *arrays: np.stack(arrays), *aligned[1:])


def _history(
    table: PrivateTable, setting: Setting, epsilon: float | None, draws: Sequence[int]
) -> Sequence[Any]:
    """Batches of fits, one after each step."""
    if epsilon is not None:
        grid = fitted(table, setting, [setting.request(epsilon)], draws)
    else:
        options = yardstick(setting.model).noiseless(setting.options())
        grid = fit_grid(
            setting.model, table, privacy=None, as_private=True, clip=setting.clip, **options
        )
    history: Sequence[Any] = grid.runs.history
    return history
