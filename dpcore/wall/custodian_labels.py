"""The custodian's exit for rows with a class: see :mod:`dpcore.wall.custodian`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError
from dpcore.wall.clip import PublicFrame
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.labels import class_names, label_codes
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]


def custodian_classes(
    table: PrivateTable,
) -> tuple[PublicFrame, Array, NDArray[np.intp], tuple[str, ...]]:
    """Rows in public unit coordinates ``(n, d)``, the class of each ``(n,)`` and the classes.

    A row of no class has the code -1. Raises WallError on a server that locks exact values.
    """
    public, rows = custodian_rows(table)
    if table.schema is None:
        raise InputError("schema", "no public bounds were given", "give a .toml with them")
    return public, rows, label_codes(table, private=True), class_names(table.schema)
