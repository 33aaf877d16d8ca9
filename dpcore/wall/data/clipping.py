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

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.schema import Schema, numbers_of
from dpcore.wall.table import PrivateTable

HUGE = 1e100  # beyond it squares may overflow; such coordinates are brought down to it first
TINY = 1e-100  # below it squares may vanish
FEW_COLUMNS = 10  # up to so many, a copy of the columns is looked through faster than the rows


@dataclass(frozen=True)
class PublicFrame:
    """The public unit coordinates ``u = (x - center) / half_range`` of a schema.

    A box becomes ``[-1, 1]^d``, which lies in the ball of radius ``sqrt(d)``; a ball becomes the
    unit ball. ``radius`` is that of the ball around everything that the bounds allow. ``label`` is
    the name of the label column, where there is one; ``outcome`` is what a target of yes or no is
    a yes to.
    """

    names: tuple[str, ...]
    units: tuple[str | None, ...]
    center: Array
    half_range: Array
    radius: float
    is_ball: bool
    label: str | None = None
    outcome: str | None = None

    @classmethod
    def of(cls, schema: Schema) -> PublicFrame:
        """Read the public coordinates off a schema.

        Raises InputError without a number column, or for limits too close together.
        """
        columns = schema.numeric_columns()
        if not columns:
            raise InputError(
                "columns", "the schema names no column of numbers to fit", "give a feature column"
            )
        names = tuple(column.name for column in columns)
        units = tuple(column.unit for column in columns)
        if schema.ball is not None:
            center = np.asarray(schema.ball.center, dtype=float)
            spread = np.full(len(columns), float(schema.ball.radius))
            return cls(names, units, center, spread, 1.0, True, schema.label, schema.outcome)
        lower = np.array([column.lower for column in columns], dtype=float)
        upper = np.array([column.upper for column in columns], dtype=float)
        radius = float(np.sqrt(len(columns)))
        middle, spread = (lower + upper) / 2, (upper - lower) / 2
        demand_apart(spread)
        return cls(names, units, middle, spread, radius, False, schema.label, schema.outcome)

    @property
    def dim(self) -> int:
        """How many columns of numbers there are."""
        return len(self.names)

    def to_units(self, rows: Array) -> Array:
        """Unit coordinates of rows ``(n, d)`` in the data's own units."""
        units = np.asarray(rows - self.center)
        units /= self.half_range  # here: memory that is asked for costs more than the division
        return units

    def log_volume(self) -> float:
        """Log of the factor by which a density changes from unit coordinates to own units."""
        return -float(np.sum(np.log(self.half_range)))


def demand_apart(half_range: Array) -> None:
    """Raise InputError where half of a range ``(d,)`` is 0, as it is of the least float."""
    if not np.all(half_range > 0.0):
        raise InputError(
            "limits",
            "two of them are too close together",
            "use a unit with values near 1",
        )


def demand_squares(field: str, sizes: Array | float, around: Array | float = 0.0) -> None:
    """Raise InputError for public sizes whose squares overflow or vanish: what is clipped to such a
    size is not bounded by it.

    >>> demand_squares("tau", 1e-170)
    Traceback (most recent call last):
    dpcore.errors.InputError: tau: the squares overflow or vanish; use a unit with values near 1.
    """
    sizes = np.abs(sizes)
    if not (np.all(sizes >= TINY) and np.all(sizes + np.abs(around) <= HUGE)):
        raise InputError(field, "the squares overflow or vanish", "use a unit with values near 1")


def clip_to_ball(rows: Array, radius: float, axis: int = -1, *, out: Array | None = None) -> Array:
    """Rows drawn towards the origin until their norm is ``<= radius``.

    radius: from :data:`TINY` to :data:`HUGE`, or infinite; axis: that of the coordinates, -1 or -2.
    out: ``rows`` themselves, where nobody else needs them. Total in rows: one that is not finite
    becomes the origin.

    >>> clip_to_ball(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0)
    array([[0.6, 0.8],
           [0.3, 0.4]])
    """
    if np.isinf(radius):
        return rows
    with np.errstate(over="ignore", invalid="ignore"):
        norm = np.sqrt(_squares(rows, axis))
    largest = float(norm.max(initial=0.0))
    if largest <= radius:  # false for NaN
        return rows
    if not largest < np.inf:
        return clip_to_ball(_tamed(rows, radius, axis), radius, axis)
    scale = radius / np.maximum(norm, radius, out=norm)
    return np.asarray(np.multiply(rows, scale, out=out))


def _squares(rows: Array, axis: int) -> Array:
    """Sums of squares along ``axis`` (-1 or -2), which stays. Forming the squares takes 3 times as
    long."""
    names = "...d,...d->..." if axis == -1 else "...dn,...dn->...n"
    return np.expand_dims(np.einsum(names, rows, rows), axis)


def _tamed(rows: Array, radius: float, axis: int) -> Array:
    """Undefined and infinite rows become the origin; huge ones keep their direction."""
    largest = np.max(np.abs(rows), axis=axis, keepdims=True)
    safe = np.where(np.isfinite(largest), rows, 0.0)
    huge = np.isfinite(largest) & (largest > HUGE)
    return np.asarray(safe * np.where(huge, 2 * radius / np.where(huge, largest, 1.0), 1.0))


def bounded_rows(
    table: PrivateTable, *, private: bool, columns: bool = False
) -> tuple[PublicFrame, Array]:
    """The rows in public unit coordinates ``(n, d)``, inside the public bounds.

    columns: see :func:`unit_rows`; in a ball they lie row after row all the same. Raises InputError
    on a table without public bounds, and, without privacy, on cells that the bounds do not allow.
    """
    schema = demand_bounds(table)
    frame = PublicFrame.of(schema)
    raw = numbers_of(table._frame, schema, "F" if columns and not frame.is_ball else "C")
    if not private:
        Extent.of(raw, frame).refuse(frame)
    return frame, _in_units(raw, frame, schema, private=private)


def demand_bounds(table: PrivateTable) -> Schema:
    """The table's public bounds; raises InputError where there are none."""
    if table.schema is None:
        raise InputError(
            "schema",
            "no public bounds were given",
            "give limits in a .toml file next to the data, or a norm bound, that you could print "
            "before seeing the data",
        )
    return table.schema


def unit_rows(
    table: PrivateTable, frame: PublicFrame, *, private: bool, columns: bool, gaps: bool = False
) -> Array:
    """As :func:`bounded_rows`, ``(n, d)``, for some of the rows; none of them is refused.

    columns: they lie column after column in memory, as files keep them and as sums over long runs
    want them; only where no row is drawn into a ball, as the norm of a row that is alone in a block
    would differ in its last bit. gaps: under privacy, in a box, cells that are missing or infinite
    are undefined instead of filled. What becomes of a row never depends on another. See
    :func:`extent_of`.
    """
    schema = demand_bounds(table)
    raw = numbers_of(table._frame, schema, "F" if columns else "C")
    return _in_units(raw, frame, schema, private=private, gaps=gaps)


def extent_of(table: PrivateTable, frame: PublicFrame) -> Extent:
    """How far the cells of some of the rows reach: what is to be refused without privacy."""
    return Extent.of(numbers_of(table._frame, demand_bounds(table)), frame)


def _in_units(
    raw: Array, frame: PublicFrame, schema: Schema, *, private: bool, gaps: bool = False
) -> Array:
    """Unit coordinates of cells ``(n, d)``, under privacy inside the bounds."""
    if not private:
        return frame.to_units(raw)
    with np.errstate(over="ignore", invalid="ignore"):  # a warning would tell of a huge cell
        units = frame.to_units(_filled(raw, None if gaps else schema))
    if frame.is_ball:
        return clip_to_ball(np.clip(units, -HUGE, HUGE, out=units), 1.0, out=units)
    return np.clip(units, -1.0, 1.0, out=units)


def _filled(raw: Array, schema: Schema | None) -> Array:
    """Cells ``(n, d)`` with the public fill where one is missing or infinite; without a schema,
    undefined there."""
    if np.isfinite(raw.sum()):  # so is each of them, which takes longer to see one by one
        return raw
    finite = np.isfinite(raw)
    columns = schema.numeric_columns() if schema else ()
    fills = np.array([column.fill for column in columns] or np.nan, dtype=float)
    return np.where(finite, raw, fills)


@dataclass(frozen=True, repr=False)
class Extent:
    """How far the cells of some rows reach: least and most ``(d,)`` of each column (undefined where
    a cell is), and the largest norm in a ball. Of rows in parts, the union of their extents.
    """

    least: Array
    most: Array
    farthest: float

    @classmethod
    def of(cls, raw: Array, frame: PublicFrame) -> Extent:
        """The extent of cells ``(n, d)`` in the data's own units."""
        farthest = 0.0
        if frame.is_ball:
            with np.errstate(over="ignore", invalid="ignore"):
                norms = np.linalg.norm(frame.to_units(raw), axis=1)
            farthest = float(norms.max(initial=0.0))
        # NumPy's loops along rows of two numbers take 20 times as long as along two columns.
        columns = np.ascontiguousarray(raw.T) if frame.dim <= FEW_COLUMNS else raw.T
        least, most = columns.min(axis=1, initial=np.inf), columns.max(axis=1, initial=-np.inf)
        return cls(least, most, farthest)

    def __or__(self, other: Extent) -> Extent:
        least, most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)
        return Extent(least, most, float(np.maximum(self.farthest, other.farthest)))

    def refuse(self, frame: PublicFrame) -> None:
        """Raise InputError on what privacy would fill or clip: nobody asked for that."""
        for i, name in enumerate(frame.names):
            least, most = self.least[i], self.most[i]
            if least > most:  # no rows
                continue
            away = max(frame.center[i] - least, most - frame.center[i])
            if not (np.isfinite(least) and np.isfinite(most)):
                problem = "has cells that are missing or infinite"
                remedy = (
                    "complete the column or leave it out; a private fit would use its public fill"
                )
            elif least == most:
                problem, remedy = "is constant", "leave the column out"
            elif not frame.is_ball and away > frame.half_range[i] * (1 + 1e-12):
                problem, remedy = (
                    "has cells outside its bounds",
                    "widen the bounds or correct the cells",
                )
            else:
                continue
            raise InputError(name, problem, remedy)
        if frame.is_ball and self.farthest > 1 + 1e-12:
            raise InputError("norm bound", "rows lie outside the ball", "give a larger norm bound")
