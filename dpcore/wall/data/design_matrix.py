"""The rows of a regression behind the wall: features in a public design, and a yes or no each.

A row's design is ``x = (v, 1)``: its numbers in ``[-1, 1]``, one 0/1 indicator for each public
category, and a constant for the intercept. A row is in one category at most, so a column of ten
categories is as long as one number, and not as ten: ``|v|^2`` is at most the number of columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.schema import Column, Schema, categories_meant, category_meant
from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.data.sources import FeatureRows, Opening, a_share
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.table import PrivateTable

INTERCEPT = 1.0  # the constant coordinate of every row: as long as one column


@dataclass(frozen=True)
class Design:
    """The public map from unit coordinates ``u`` to a regression's, ``v = scale * u + shift``.

    scale, shift ``(d,)``. radius: of the ball around every v that the bounds allow; reach: of the
    one around every ``x = (v, 1)``.
    """

    scale: Array
    shift: Array
    radius: float

    @classmethod
    def of(cls, schema: Schema) -> Design:
        """Read it off a schema: indicators of one column share its place in the ball.

        >>> where = Column("region", type="category", categories=("north", "south", "west"))
        >>> design = Design.of(Schema((Column("age", lower=0, upper=110), where)))
        >>> round(design.radius**2), design.scale.tolist()
        (2, [1.0, 0.5, 0.5, 0.5])
        """
        columns = schema.numeric_columns()
        if schema.ball is not None:
            return cls(np.ones(len(columns)), np.zeros(len(columns)), 1.0)
        shared = [column.source for column in columns]
        indicator = np.array(
            [column.category is not None and shared.count(column.source) > 1 for column in columns]
        )
        half = np.where(indicator, 0.5, 0.0)
        return cls(1.0 - half, half, math.sqrt(len(set(shared))))

    @property
    def size(self) -> int:
        """Coordinates of x: the numbers of a row, and the intercept last."""
        return len(self.scale) + 1

    def reach(self, share: float = 1.0) -> float:
        """Radius of the ball of x where v is clipped to a share of its own."""
        return self.around(share * self.radius)

    @staticmethod
    def around(radius: float) -> float:
        """Radius of the ball of x where v, or what a frame makes of it, is in one of a radius."""
        return math.hypot(radius, INTERCEPT)

    def rows(self, units: Array, radius: float) -> Array:
        """``x (n, p)`` of rows in unit coordinates ``(n, d)``, v clipped to ``|v| <= radius``."""
        moved = bool(np.any(self.shift))  # scale is 1 where nothing is shifted
        inside = clip_to_ball(self.scale * units + self.shift if moved else units, radius)
        return np.concatenate([inside, np.full((len(inside), 1), INTERCEPT)], axis=1)

    def to_units(self, coefficients: Array) -> Array:
        """Coefficients ``(..., p)`` of x as those of ``(u, 1)``."""
        slopes, constant = coefficients[..., :-1], coefficients[..., -1:]
        moved = INTERCEPT * constant + (slopes * self.shift).sum(axis=-1, keepdims=True)
        return np.concatenate([slopes * self.scale, moved], axis=-1)


def binary_target(schema: Schema | None) -> Column:
    """The column that says yes or no. Raises InputError where the schema names none."""
    name = None if schema is None else schema.target
    if schema is None or name is None:
        raise InputError(
            "target",
            "no column has the role target",
            'give one column role = "target", or use --target NAME',
        )
    column = schema.column(name)
    two = len(column.categories) == 2
    if not (column.type == "binary" or (column.type == "category" and two)):
        raise InputError(
            f"columns.{name}",
            "the target does not say yes or no",
            'give it type = "binary", or type = "category" with two categories, the second for yes',
        )
    return column


def outcomes_of(table: PrivateTable, *, private: bool) -> Array:
    """Whether each row says yes ``(n,)``, 1 or 0.

    =======================================  =============
    cell                                     becomes
    =======================================  =============
    the second category, or a number > 1/2   1
    anything else                            0
    missing, where the column has a fill     as the fill
    =======================================  =============

    Without privacy a cell that says neither is refused. Raises InputError.
    """
    column = binary_target(table.schema)
    assert table.schema is not None  # binary_target refused a table without one
    cells = table._frame.get(column.name)
    if cells is None:
        raise InputError(column.name, "the table has no such column", "name one of its columns")
    if column.categories:
        meant = categories_meant(cells)
        no, yes = (category_meant(category) for category in column.categories)
        valid, outcome = (meant == no) | (meant == yes), meant == yes
    else:
        numbers = table.schema.numbers(column.name, cells)
        valid = (numbers == 0.0) | (numbers == 1.0)
        fill = 0.0 if column.fill is None else column.fill
        outcome = np.where(np.isnan(numbers), fill, numbers) > 0.5
    if not private and not np.all(valid):
        raise InputError(
            column.name,
            "has cells that are neither yes nor no",
            "correct them; a private fit would count each by a public rule",
        )
    return np.asarray(outcome, dtype=float)


class LogisticRows(FeatureRows):
    """Rows in the design of a yes-or-no regression, with their outcomes.

    design: the public map to v, in whose coordinates everything here is. reach: public radius of
    the ball of x (that of the bounds where nothing is clipped).
    """

    def __init__(self, table: PrivateTable, opening: Opening) -> None:
        wide = math.isinf(opening.clip)
        share = opening.clip if wide else a_share(opening.clip, "the bounds")
        super().__init__(table, replace(opening, clip=share if wide else 1.0))
        units = self._rows.units
        self._outcomes = outcomes_of(table, private=opening.filled)
        assert table.schema is not None  # rows without public bounds were refused
        self.design = Design.of(table.schema)
        self.radius = share * self.design.radius
        self._designed = self.design.rows(units, self.radius)
        self._rows = Rows(self._designed[:, :-1], self.radius)
        self.reach = self.design.reach(min(opening.clip, 1.0))

    @property
    def bound(self) -> float:
        """Radius that a statistic must cover: infinite where nothing is clipped."""
        return math.inf if math.isinf(self.radius) else self.reach
