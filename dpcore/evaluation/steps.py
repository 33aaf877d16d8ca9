"""Step by step: what a fit is worth after each of its steps, for every noise draw.

All steps share one budget, so more steps leave each more noise: a private fit climbs, then wanders.
For the custodian's eyes, as a study is: utility is read off exact rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting import compose
from dpcore.accounting.base import noise_of
from dpcore.evaluation.study import Setting, fitted
from dpcore.evaluation.yardstick import scorer_of, utility, yardstick
from dpcore.fitting.api import fit_grid
from dpcore.privacy import Event, Ledger
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

_STEP = re.compile(r"(?:iteration|step) (\d+):")  # how a ledger names a release of a step


@dataclass(frozen=True)
class Spending:
    """What each of T steps of a fit spends.

    noise: noise over sensitivity of each release, step by step. alone, so_far ``(T,)``: epsilon of
    the step, and of all steps up to it, at the fit's delta.
    """

    noise: tuple[tuple[float, ...], ...]
    alone: Array
    so_far: Array


def spending(ledger: Ledger, accountant: str, delta: float) -> Spending | None:
    """What the steps of one fit's ledger spend, by one composition method.

    What is released before the first step counts to it, anything else to the step before. ``None``
    where the ledger names no steps, or they read samples, which take minutes to compose. Raises
    NotCovered where the method has no theorem for a release.
    """
    steps: list[list[Event]] = []
    names = [_STEP.match(entry.what) for entry in ledger]
    if not any(names) or any(event.sampling != "none" for event in ledger.events):
        return None
    for name, event in zip(names, ledger.events, strict=True):
        if not steps or (name is not None and int(name[1]) > len(steps)):
            steps.append([])
        steps[-1].append(event)

    def epsilon(events: Sequence[Event]) -> float:
        return float(compose(events, accountant, delta=delta, lower=False).epsilon)

    every = [sum(steps[: t + 1], list[Event]()) for t in range(len(steps))]
    return Spending(
        tuple(tuple(float(noise_of(event)) for event in step) for step in steps),
        np.array([epsilon(step) for step in steps]),
        np.array([epsilon(events) for events in every]),
    )


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
    judge = yardstick(setting.model)
    if epsilon is None:
        options = judge.noiseless(setting.options())
        grid = fit_grid(
            setting.model, table, privacy=None, as_private=True, clip=setting.clip, **options
        )
    else:
        grid = fitted(table, setting, [setting.request(epsilon)], draws)
    scorer = scorer_of(setting.model, table, setting.options(), held_out=held_out)
    scored = (utility(setting.model, after, scorer, setting.metric) for after in grid.runs.history)
    return np.stack(list(scored))
