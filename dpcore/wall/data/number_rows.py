"""Rows whose columns of numbers are looked at one by one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpcore.errors import InputError
from dpcore.wall.data.regression_target import MaskedRows
from dpcore.wall.data.sources import Opening
from dpcore.wall.table import PrivateTable


class NumberRows(MaskedRows):
    """Rows in a box, with a mask of the numbers that are there, whatever a missing one counts as.

    numbers: places of the columns that hold numbers or dates, and neither yes or no nor a category.
    Raises InputError for rows that are bounded by a ball, and where no column holds numbers.
    """

    takes_persons: ClassVar[bool] = True

    def __init__(self, table: PrivateTable, opening: Opening) -> None:
        super().__init__(table, opening, masked=True)
        assert table.schema is not None  # rows without public bounds were refused
        if self.public.is_ball:
            raise InputError(
                "ball", "it gives no column limits of its own", "give columns lower and upper"
            )
        schema, sources = table.schema, [c.source for c in table.schema.numeric_columns()]
        self.numbers = tuple(at for at, c in enumerate(sources) if schema.column(c).is_number)
        if not self.numbers:
            raise InputError(
                "columns",
                "none holds numbers or dates, so there are no limits to narrow",
                "give a column of numbers",
            )
        there = np.ones((len(sources), self._count), dtype=bool)
        for at in self.numbers:
            there[at] = np.isfinite(schema.numbers(sources[at], table._frame[sources[at]]))
        self._observed = there
