"""The custodian's exit for outcomes: exact rows with their yes or no, for whoever holds the table.

What leaves here is not private; see :mod:`dpcore.wall.custodian`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.wall.clip import PublicFrame, bounded_rows
from dpcore.wall.design import outcomes_of
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]


def custodian_outcomes(table: PrivateTable) -> tuple[PublicFrame, Array, Array]:
    """Rows in public unit coordinates ``(n, d)`` and outcomes ``(n,)``, as a private fit sees them.

    Raises WallError on a server that locks exact values.
    """
    table.demand_open()
    public, rows = bounded_rows(table, private=True)
    return public, rows, outcomes_of(table, private=True)
