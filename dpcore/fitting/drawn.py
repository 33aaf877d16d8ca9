"""Rows drawn from a fit, inside the public limits."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from dpcore.schema import Schema

DRAWS = 100  # of rows, while some lie outside the limits


def drawn_inside(
    draw: Callable[[int], pd.DataFrame], count: int, schema: Schema, target: str | None
) -> pd.DataFrame:
    """Rows drawn anew while numbers and dates lie outside the limits; what stays outside is moved
    to them, as are the cells of binary columns and of categories, whose limits are 0 and 1.
    target: the name of the last column, if it is what a regression explains.

    A model that hardly ever draws a row inside the limits says little about real rows; then the
    rest lies at the limits.
    """

    def drawn() -> pd.DataFrame:
        rows = draw(count)
        return rows if target is None else rows.set_axis([*rows.columns[:-1], target], axis=1)

    rows = drawn()
    ends = {c.name: (c.lower, c.upper) for c in schema.numeric_columns() if c.name in rows}
    if target is not None:
        ends[target] = (schema.column(target).low, schema.column(target).high)
    low, high = (pd.Series({name: pair[side] for name, pair in ends.items()}) for side in (0, 1))
    numbers = [c.name for c in schema.columns if c.is_number and c.name in ends]
    batches, missing = [], count
    for _ in range(DRAWS):
        cells = rows[numbers]
        inside = ((cells >= low[numbers]) & (cells <= high[numbers])).all(axis=1)
        batches.append(rows[inside].head(missing))
        missing -= len(batches[-1])
        if not missing:
            break
        rows = drawn()
    rows = pd.concat([*batches, rows.head(missing)], ignore_index=True)
    rows[list(ends)] = rows[list(ends)].clip(low, high, axis=1)
    return rows
