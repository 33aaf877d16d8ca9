"""Step by step: what a fit is worth after each of its steps, for every noise draw.

All steps share one budget, so more steps leave each more noise: a private fit climbs, then wanders.
For the custodian's eyes, as a study is: utility is read off exact rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpcore.evaluation.study import Setting, fitted
from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.fitting.api import fit_grid
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]


def walk(
    table: PrivateTable, setting: Setting, epsilon: float | None, draws: Sequence[int]
) -> Array:
    """Utility ``(T, D)`` after each of the T steps of a setting, for D noise draws.

    epsilon: for all steps together; ``None``: the same steps without noise, one run. T is 1 for a
    method that reads the data once. Raises InputError for a budget out of reach.
    """
    judge = yardstick(setting.model)
    if epsilon is None:
        options = judge.noiseless(setting.options())
        grid = fit_grid(
            setting.model, table, privacy=None, as_private=True, clip=setting.clip, **options
        )
    else:
        grid = fitted(table, setting, [setting.request(epsilon)], draws)
    scorer = scorer_of(setting.model, table, setting.options())
    return np.stack([judge.score(after, scorer) for after in grid.runs.history])
