"""Rows whose columns of numbers are looked at one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from dpcore.errors import InputError
from dpcore.wall.data.clipping import PublicFrame, demand_bounds, unit_rows
from dpcore.wall.data.sources import FeatureRows, Opening
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    from dpcore.wall.data.partitions import PartedTable


class NumberRows(FeatureRows):
    """Rows in a box, in memory or in parts; a cell that is missing or infinite is undefined,
    whatever it counts as elsewhere.

    numbers: places of the columns that hold numbers or dates, and neither yes or no nor a category.
    Raises InputError for rows that are bounded by a ball, and where no column holds numbers.
    """

    takes_persons: ClassVar[bool] = True

    def __init__(self, table: PrivateTable, opening: Opening) -> None:
        opening.demand_whole(table, "rows", "row")
        schema = demand_bounds(table)
        self.public = PublicFrame.of(schema)
        self.radius = self.public.radius
        if self.public.is_ball:
            raise InputError(
                "ball", "it gives no column limits of its own", "give columns lower and upper"
            )
        sources = [column.source for column in schema.numeric_columns()]
        self.numbers = tuple(at for at, c in enumerate(sources) if schema.column(c).is_number)
        if not self.numbers:
            raise InputError(
                "columns",
                "none holds numbers or dates, so there are no limits to narrow",
                "give a column of numbers",
            )
        if table.parted:
            parted = cast("PartedTable", table)
            self._rows = parted.opened(self.public, self.radius, private=True, gaps=True)
        else:
            units = unit_rows(table, self.public, private=True, columns=True, gaps=True)
            self._rows = Rows(units, self.radius)
