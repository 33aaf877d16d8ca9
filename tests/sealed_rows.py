"""Sealed rows, and sessions that open them, for tests of the wall and of fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpcore.schema import Schema
from dpcore.wall.noise import NoiseSource
from dpcore.wall.session import Session
from dpcore.wall.table import PrivateTable


def boxed(rows: Any, lower: float = -1.0, upper: float = 1.0, name: str = "x") -> PrivateTable:
    """Rows ``(n, d)``, or numbers ``(n,)``, in columns of the same public limits."""
    cells = np.asarray(rows, dtype=float).reshape(len(rows), -1)
    names = [f"{name}{i}" for i in range(cells.shape[1])]
    schema = Schema.from_bounds(dict.fromkeys(names, (lower, upper)))
    return PrivateTable.seal(pd.DataFrame(cells, columns=names), schema)


def session_of(
    table: Any,
    *opens: Any,
    runs: int = 1,
    seed: int = 0,
    private: bool = True,
    **more: Any,
) -> Session[Any]:
    """A session of so many runs, with noise of a seed unless there is none or another one."""
    usual: dict[str, Any] = {
        "adjacency": "replace_one",
        "noise": NoiseSource(seed, range(runs)) if private else None,
        "draws": np.arange(runs),
    }
    return Session(table, *opens, **usual | more)
