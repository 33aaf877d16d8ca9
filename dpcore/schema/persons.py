"""How often the rows of one person may count."""

from __future__ import annotations

from dpcore.errors import InputError
from dpcore.schema.table import Schema

MOST_TIMES = 1_000  # that each person's rows count in all, where persons have equal weight


def demand_few_times(schema: Schema, most: int) -> None:
    """Raise InputError where the rows of a person of equal weight would count too often."""
    if schema.equal_weight and most > MOST_TIMES:
        raise InputError(
            "rows_per_person",
            f"with equal_weight the rows of every {schema.unit} count {most:,} times in all, which "
            "is too often to compute",
            f"give at most {MOST_TIMES:,}, or leave equal_weight out",
        )
