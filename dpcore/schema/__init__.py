"""A schema says in public what the columns mean and how far their numbers may reach.

Every bound is one that could be printed before anybody saw the data: a private fit clips rows to
these bounds, so a bound read off the rows would itself tell something about them. (Dwork and Roth
2014, section 3.3: sensitivity is a property of the query's public domain, not of the data.)
"""

from __future__ import annotations

from dpcore.schema.cells import (
    MOST_COLUMNS,
    categories_meant,
    category_meant,
    number_meant,
    numbers_meant,
)
from dpcore.schema.columns import Ball, Column, Image, NumericColumn, pool
from dpcore.schema.forms import MISSING_TOKENS, CellForm, FileFormat, plain
from dpcore.schema.table import Schema, numbers_of, with_dates, with_numbers

__all__ = [
    "MISSING_TOKENS",
    "MOST_COLUMNS",
    "Ball",
    "CellForm",
    "Column",
    "FileFormat",
    "Image",
    "NumericColumn",
    "Schema",
    "categories_meant",
    "category_meant",
    "number_meant",
    "numbers_meant",
    "numbers_of",
    "plain",
    "pool",
    "with_dates",
    "with_numbers",
]
