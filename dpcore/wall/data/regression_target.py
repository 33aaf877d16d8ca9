"""The target: the column that a regression explains, read behind the wall inside public bounds.

What happens to a cell under privacy is what happens to a feature's
(:mod:`dpcore.wall.data.clipping`): a missing or infinite one becomes the public fill, one outside
the bounds the nearest bound.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.errors import InputError
from dpcore.schema import Schema, categories_meant, category_meant
from dpcore.wall.data.clipping import PublicFrame, demand_apart
from dpcore.wall.data.sources import FeatureRows, Opening
from dpcore.wall.table import PrivateTable


def target_frame(schema: Schema | None) -> PublicFrame:
    """The public unit coordinates of the target: one column, ``[lower, upper]`` as ``[-1, 1]``.

    Raises InputError where no column has the role, or it has no public bounds.
    """
    name = None if schema is None else schema.target
    if schema is None or name is None:
        raise InputError(
            "target", "no column has the role target", 'give one column role = "target"'
        )
    column = schema.column(name)
    if not (column.is_number or column.type == "binary"):
        raise InputError(
            name, f"a {column.type} column cannot be a target", "name a number or binary column"
        )
    if not column.bounded:
        raise InputError(
            name, "the target has no public bounds", "give it lower and upper in the schema"
        )
    low, high = float(column.low), float(column.high)
    middle, spread = np.array([(low + high) / 2]), np.array([(high - low) / 2])
    demand_apart(spread)
    return PublicFrame((name,), (column.unit,), middle, spread, 1.0, False)


def with_target(public: PublicFrame, target: PublicFrame) -> PublicFrame:
    """The columns of a picture: the features, then the target."""
    return replace(
        public,
        names=(*public.names, *target.names),
        units=(*public.units, *target.units),
        center=np.concatenate([public.center, target.center]),
        half_range=np.concatenate([public.half_range, target.half_range]),
    )


def bounded_target(table: PrivateTable, *, private: bool) -> tuple[PublicFrame, Array]:
    """The target ``(n,)`` in public unit coordinates, inside ``[-1, 1]``.

    Raises InputError on a table without a bounded target, and, without privacy, on cells that the
    bounds do not allow.
    """
    public = target_frame(table.schema)
    assert table.schema is not None  # target_frame refused a table without one
    column = table.schema.column(public.names[0])
    if column.name not in table._frame:
        raise InputError(column.name, "the table has no such column", "name one of its columns")
    cells = table._frame[column.name]
    if column.categories:
        second = category_meant(column.categories[1])
        raw = (categories_meant(cells) == second).astype(float)
    else:
        raw = table.schema.numbers(column.name, cells)
    if not private:
        _refuse_what_privacy_would_fill(raw, public)
    with np.errstate(over="ignore", invalid="ignore"):
        units = (np.where(np.isfinite(raw), raw, column.fill) - public.center) / public.half_range
    return public, np.clip(units, -1.0, 1.0)


def _refuse_what_privacy_would_fill(raw: Array, public: PublicFrame) -> None:
    name, reach = public.names[0], public.half_range[0] * (1.0 + 1e-12)
    if not np.all(np.isfinite(raw)):
        raise InputError(
            name,
            "has cells that are missing or infinite",
            "complete the column; a private fit would use its public fill",
        )
    if np.any(np.abs(raw - public.center[0]) > reach):
        raise InputError(
            name, "has cells outside its bounds", "widen the bounds or correct the cells"
        )


class MaskedRows(FeatureRows):
    """Rows with a target, and a mask of the numbers that are there.

    target: the rows have one. masked: a missing number is the model's business, unless its column
    has a public fill of its own; elsewhere missing cells are filled.
    """

    takes_persons = True

    def __init__(
        self, table: PrivateTable, opening: Opening, *, target: bool = False, masked: bool = False
    ) -> None:
        super().__init__(table, replace(opening, as_private=opening.as_private or masked))
        self.target: PublicFrame | None = None
        self._targets: Array | None = None
        self._observed: Mask | None = _observed(table, self.public) if masked else None
        if target:
            self.target, self._targets = bounded_target(table, private=opening.filled)
        self._sight: tuple[tuple[bool, float], Any] | None = None


def _observed(table: PrivateTable, public: PublicFrame) -> Mask:
    """Which numbers ``(d, n)`` are there. One whose column has a public fill counts as there."""
    assert table.schema is not None  # bounded_rows refused a table without one
    masks = []
    for column in table.schema.numeric_columns():
        described = table.schema.column(column.source)
        cells = table._frame[column.source]
        if column.category is not None or isinstance(described.missing, float):
            masks.append(np.ones(len(cells), dtype=bool))
        else:
            masks.append(np.isfinite(table.schema.numbers(column.source, cells)))
    return np.array(masks).reshape(public.dim, -1)
