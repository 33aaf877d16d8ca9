"""Clipping: every row is put inside public bounds before anything is computed from it.

What happens to a number under privacy depends on public facts alone (a number column that holds
text is not what the schema says, and is refused before anything is computed):

=====================  =====================================================
cell                   becomes
=====================  =====================================================
missing or infinite    the column's public fill
outside the bounds     the nearest bound (box), or the row is drawn towards
                       the centre until it lies on the sphere (ball)
=====================  =====================================================

Without privacy the same cells are refused, because nobody asked for them to be changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError
from dpcore.schema import (
    Schema,
    categories_meant,
    category_meant,
    check_frame,
    numbers_meant,
)
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

HUGE = 1e100  # beyond it squares may overflow; such coordinates are brought down to it first


@dataclass(frozen=True)
class PublicFrame:
    """The public unit coordinates ``u = (x - center) / half_range`` of a schema.

    A box becomes ``[-1, 1]^d``, which lies in the ball of radius ``sqrt(d)``; a ball becomes the
    unit ball. ``radius`` is that of the ball around everything that the bounds allow.
    """

    names: tuple[str, ...]
    units: tuple[str | None, ...]
    center: Array
    half_range: Array
    radius: float
    is_ball: bool

    @classmethod
    def of(cls, schema: Schema) -> PublicFrame:
        """Read the public coordinates off a schema."""
        columns = schema.numeric_columns()
        if not columns:
            raise InputError(
                "columns", "the schema names no number to fit", "give at least one feature column"
            )
        names = tuple(column.name for column in columns)
        units = tuple(column.unit for column in columns)
        if schema.ball is not None:
            center = np.asarray(schema.ball.center, dtype=float)
            spread = np.full(len(columns), float(schema.ball.radius))
            return cls(names, units, center, spread, 1.0, True)
        lower = np.array([column.lower for column in columns], dtype=float)
        upper = np.array([column.upper for column in columns], dtype=float)
        radius = float(np.sqrt(len(columns)))
        return cls(names, units, (lower + upper) / 2, (upper - lower) / 2, radius, False)

    @property
    def dim(self) -> int:
        return len(self.names)

    def to_units(self, rows: Array) -> Array:
        """Unit coordinates of rows ``(n, d)`` in the data's own units."""
        return np.asarray((rows - self.center) / self.half_range)

    def log_volume(self) -> float:
        """Log of the factor by which a density changes from unit coordinates to own units."""
        return -float(np.sum(np.log(self.half_range)))


def clip_to_ball(rows: Array, radius: float, axis: int = -1) -> Array:
    """Rows (coordinates along ``axis``) drawn towards the origin until their norm is ``<= radius``.

    Total: a row that is not finite becomes the origin.

    >>> clip_to_ball(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0)
    array([[0.6, 0.8],
           [0.3, 0.4]])
    """
    if np.isinf(radius):
        return rows
    with np.errstate(over="ignore", invalid="ignore"):
        norm = np.sqrt(np.sum(rows * rows, axis=axis, keepdims=True))
    if norm.size == 0 or norm.max() <= radius:  # false for NaN
        return rows
    if not np.all(np.isfinite(norm)):
        return clip_to_ball(_tamed(rows, radius, axis), radius, axis)
    return np.asarray(rows * (radius / np.maximum(norm, radius)))


def _tamed(rows: Array, radius: float, axis: int) -> Array:
    """Undefined and infinite rows become the origin; huge ones keep their direction."""
    largest = np.max(np.abs(rows), axis=axis, keepdims=True)
    safe = np.where(np.isfinite(largest), rows, 0.0)
    huge = np.isfinite(largest) & (largest > HUGE)
    return np.asarray(safe * np.where(huge, 2 * radius / np.where(huge, largest, 1.0), 1.0))


def bounded_rows(table: PrivateTable, *, private: bool) -> tuple[PublicFrame, Array]:
    """The rows in public unit coordinates ``(n, d)``, inside the public bounds.

    Raises InputError on a table without public bounds, and, without privacy, on cells that the
    bounds do not allow.
    """
    schema = table.schema
    if schema is None:
        raise InputError(
            "schema",
            "no public bounds were given",
            "give a .toml beside the file, or a norm bound, with limits you could print before "
            "seeing the data",
        )
    frame = PublicFrame.of(schema)
    raw = _numbers(table, schema)
    fills = np.array([column.fill for column in schema.numeric_columns()], dtype=float)
    if not private:
        _refuse_what_privacy_would_fill(raw, frame, schema)
        return frame, frame.to_units(raw)
    with np.errstate(over="ignore"):  # a warning would tell of a huge cell
        units = frame.to_units(np.where(np.isfinite(raw), raw, fills))
    if frame.is_ball:
        return frame, clip_to_ball(np.clip(units, -HUGE, HUGE), 1.0)
    return frame, np.clip(units, -1.0, 1.0)


def _numbers(table: PrivateTable, schema: Schema) -> Array:
    """Cells as numbers ``(n, d)``; a cell that is missing is NaN. Categories become indicators."""
    frame = table._frame
    check_frame(frame, schema)
    wanted = schema.numeric_columns()
    if all(column.category is None for column in wanted):
        plain = frame[[column.source for column in wanted]]
        if all(kind == np.float64 for kind in plain.dtypes):  # thousands of columns at once
            return plain.to_numpy(dtype=float)
    columns = []
    for column in schema.numeric_columns():
        cells = frame[column.source]
        if column.category is None:
            columns.append(numbers_meant(cells))
        else:
            meant = category_meant(column.category)
            columns.append((categories_meant(cells) == meant).astype(float))
    return np.column_stack(columns)


def _refuse_what_privacy_would_fill(raw: Array, frame: PublicFrame, schema: Schema) -> None:
    for name, cells, spread, middle in zip(
        frame.names, raw.T, frame.half_range, frame.center, strict=True
    ):
        if not np.all(np.isfinite(cells)):
            found = "has cells that are missing or infinite"
            remedy = "complete the column or leave it out; a private fit would use its public fill"
        elif cells.size and np.ptp(cells) == 0.0:
            found, remedy = "is constant", "leave the column out"
        elif not frame.is_ball and np.any(np.abs(cells - middle) > spread * (1 + 1e-12)):
            found, remedy = "has cells outside its bounds", "widen the bounds or mend the cells"
        else:
            continue
        raise InputError(name, found, remedy)
    if frame.is_ball and raw.size:
        norms = np.linalg.norm(frame.to_units(raw), axis=1)
        if np.any(norms > 1 + 1e-12):
            raise InputError("norm bound", "rows lie outside the ball", "give a larger norm bound")
