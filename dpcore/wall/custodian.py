"""The custodian's exit: exact values for the eyes of the person who already holds the table.

What leaves here is not private and carries that badge. It is refused while
``DPCORE_LOCK_TRUTH`` is set. Fitting, auditing and release may not import this module.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.wall.clip import PublicFrame, bounded_rows
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]


def custodian_rows(table: PrivateTable) -> tuple[PublicFrame, Array]:
    """The rows in public unit coordinates ``(n, d)`` as a private fit sees them, without noise.

    Raises WallError on a server that locks exact values.
    """
    table.demand_open()
    return bounded_rows(table, private=True)
