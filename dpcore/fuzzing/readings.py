"""How a table was read: rows that two tables share must be the same numbers in both.

A cell that changed how other cells are read would move sums by little, and rarely by more than is
booked; here it is seen to the last bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import DPCoreError
from dpcore.fuzzing.tables import Neighbours
from dpcore.schema import Schema
from dpcore.wall.data import FeatureRows
from dpcore.wall.session import Session
from dpcore.wall.table import PrivateTable


def otherwise_read(tables: Neighbours, first: Any, second: Any) -> bool:
    """Whether a row that both of two loaded tables have was read otherwise in one of them.

    Tables that are read in blocks, documents, and bounds that no fit takes are not looked at.
    """
    rows = [rows_of(table) for table in (first, second)]
    if rows[0] is None or rows[1] is None:
        return False
    here, there = tables.alike()
    return not np.array_equal(rows[0][here], rows[1][there])


def rows_of(table: Any) -> Array | None:
    """All numbers of a loaded table, filled and clipped as under privacy, labels among them."""
    if not isinstance(table, PrivateTable) or table.schema is None:
        return None
    try:
        session: Session[FeatureRows] = Session(
            table.with_schema(_features(table.schema)),
            adjacency="replace_one",
            noise=None,
            draws=np.arange(1),
            as_private=True,
        )
    except DPCoreError:
        return None
    return session.plain_rows()


def _features(schema: Schema) -> Schema:
    """The same columns, none of which has a role of its own but those that are left out."""
    own = ("id",) if schema.ball is not None else ("id", "label", "target")
    roles = {role: "ignore" if role == "id" else "feature" for role in own}
    columns = (replace(c, role=roles.get(c.role, c.role)) for c in schema.columns)
    return replace(schema, columns=tuple(columns))
