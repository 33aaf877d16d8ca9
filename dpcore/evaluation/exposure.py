"""How often somebody who knows everybody else guesses one person's row: measured, beside the proof.

The membership game of Park, Foulds, Chaudhuri, Welling 2017, Figure 1, played instead of drawn: a
coin picks one of two neighbouring tables, a fit is released, and a linear rule (Fisher 1936),
learned on half of the draws, guesses the coin on the other half.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dpcore.accounting.bayes_success import guess_rate
from dpcore.accounting.binomial_bounds import fisher_direction, rate_bounds
from dpcore.arrays import Array
from dpcore.checks import one_of, whole
from dpcore.evaluation.metrics import loneliest_row
from dpcore.evaluation.study import Setting, fitted
from dpcore.evaluation.yardstick import yardstick
from dpcore.fitting.api import Grid, fit_grid
from dpcore.wall.table import PrivateTable

OBSERVED = ("final", "all")
CONFIDENCE = 0.95
REACH = 6.0  # spreads beyond which a feature says no more: a component that died is no outlier


@dataclass(frozen=True)
class Exposure:
    """One measured attack: the share of right guesses, its 95% interval, and what is proved.

    rate, low, high: on draws that the rule was not learned on; 0.5 is a coin. ceiling: no attacker
    can guess right more often. guesses: how many were counted.
    """

    rate: float
    low: float
    high: float
    ceiling: float
    guesses: int


def success_rate(
    table: PrivateTable,
    setting: Setting,
    epsilon: float | None,
    runs: int = 2000,
    *,
    sees: str = "final",
    seed: int = 0,
) -> Exposure:
    """How often an attacker tells a table from its neighbour, over ``runs`` noise draws.

    The neighbour has a crowd's row in the place of the loneliest, or (add_remove) lacks it. sees:
    the parameters of the ``final`` iteration, or ``all``. epsilon ``None``: fits without noise.

    **Guarantee:** the interval holds with 95% whatever the rule, since rule and count use
    different draws; the ceiling is proved from the ledger. The result reads exact rows: for the
    custodian's eyes. Raises InputError as :func:`dpcore.fit` does.
    """
    one_of("sees", sees, OBSERVED)
    half = max(2, whole("runs", runs, least=4) // 2)
    tables = table.neighbour(loneliest_row(table), setting.adjacency), table
    if epsilon is None:
        return _without_noise(tables, setting, sees)
    seeded = replace(setting, seed=seed)
    grids = [
        fitted(rows, seeded, (seeded.request(epsilon),), range(i * half, (i + 1) * half))
        for i, rows in enumerate(tables)
    ]
    clouds = [_observed(setting.model, grid, sees) for grid in grids]
    hits, guesses = _scored(*clouds)
    low, high = rate_bounds(hits, guesses, CONFIDENCE)
    ceiling = float(np.asarray(guess_rate(grids[1].ledger.at(0).events)))
    return Exposure(hits / guesses, low, high, ceiling, guesses)


def _without_noise(
    tables: tuple[PrivateTable, PrivateTable], setting: Setting, sees: str
) -> Exposure:
    """One fit of each table says it all: the attacker computes both and compares."""
    options = {**setting.options(), "clip": setting.clip, "mode": setting.mode}
    first, second = (
        _observed(
            setting.model,
            fit_grid(setting.model, t, privacy=None, as_private=True, **options),
            sees,
        )
        for t in tables
    )
    rate = 0.5 if np.array_equal(first, second) else 1.0
    return Exposure(rate, rate, rate, 1.0, 1)


def _observed(model: str, grid: Grid, sees: str) -> Array:
    """What the attacker sees of each run ``(runs, p)``."""
    steps = grid.runs.history if sees == "all" else (grid.runs.final,)
    return np.concatenate([_flat(model, step) for step in steps], axis=1)


def _flat(model: str, batch: Any) -> Array:
    """Every number of a batch, and what the model has that does not depend on its parts' order."""
    arrays = [np.asarray(getattr(batch, field.name)) for field in fields(batch)]
    parts = [
        array.astype(float) for array in arrays if array.dtype.kind in "bfiu"
    ]  # names tell nothing
    parts += yardstick(model).unordered(batch)
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def _scored(first: Array, second: Array) -> tuple[int, int]:
    """(right guesses, guesses) on the second half of both clouds of a rule from the first."""
    half = len(first) // 2
    learned = np.concatenate([first[:half], second[:half]])
    middle = np.median(learned, axis=0)
    spread = np.maximum(np.quantile(np.abs(learned - middle), 0.9, axis=0), 1e-300)

    def plain(cloud: Array) -> Array:
        return np.asarray(np.clip((cloud - middle) / spread, -REACH, REACH))

    direction = fisher_direction(plain(first[:half]), plain(second[:half]))
    along = [plain(cloud) @ direction for cloud in (first, second)]
    cut = _best_cut(along[0][:half], along[1][:half])
    right = np.sum(along[0][half:] <= cut) + np.sum(along[1][half:] > cut)
    return int(right), len(first) + len(second) - 2 * half


def _best_cut(first: Array, second: Array) -> float:
    """The threshold with the most right guesses on the learning half."""
    cuts = np.quantile(np.concatenate([first, second]), np.linspace(0.02, 0.98, 97))
    gains = [(second > cut).mean() - (first > cut).mean() for cut in cuts]
    return float(cuts[int(np.argmax(gains))])
