"""A schema guessed from the data themselves: for trying things out, never for a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpcore.schema.cells import are_numbers, categories_meant, demand_column, numbers_meant
from dpcore.schema.columns import Column
from dpcore.schema.forms import MISSING_TOKENS

if TYPE_CHECKING:
    import pandas as pd

MOST_CATEGORIES_GUESSED = 50


def columns_of(
    frame: pd.DataFrame, columns: Sequence[str] | None, label: str | None
) -> tuple[Column, ...]:
    """Features (all columns, if none are named) and the label, with bounds off the data."""
    wanted = list(columns) if columns is not None else [name for name in frame if name != label]
    for name in [*wanted, *([label] if label is not None else [])]:
        demand_column(frame, str(name))
    guessed = [_guessed(str(name), frame[name], "feature") for name in wanted]
    if label is not None:
        guessed.append(_guessed(label, frame[label], "label"))
    return tuple(guessed)


def largest_norm(frame: pd.DataFrame, columns: Sequence[str]) -> float:
    """The largest norm of a row; cells that are not finite count as 0."""
    import numpy as np

    for name in columns:
        demand_column(frame, name)
    cells = np.column_stack([numbers_meant(name, frame[name]) for name in columns])
    norms = np.linalg.norm(np.where(np.isfinite(cells), cells, 0.0), axis=1)
    return float(norms.max(initial=0.0)) or 1.0  # all rows at the origin: any ball will do


def _guessed(name: str, cells: pd.Series, role: str) -> Column:
    """A column with bounds off the data."""
    if not are_numbers(cells):
        present = sorted({*categories_meant(cells[cells.notna()])} - set(MISSING_TOKENS))
        if 0 < len(present) <= MOST_CATEGORIES_GUESSED:
            return Column(name, role, "category", categories=tuple(present))
        return Column(name, "ignore", "text")
    numbers = numbers_meant(name, cells)
    finite = numbers[abs(numbers) < math.inf]
    if not len(finite):
        return Column(name, "ignore")
    low, high = float(finite.min()), float(finite.max())
    if not low < high:  # a constant still needs a range
        low, high = low - max(0.5, abs(low) / 2), high + max(0.5, abs(high) / 2)
    return Column(name, role, "number", low, high)
