"""The custodian's exit for models of vectors: rows, target and what is missing, exact.

What leaves here is not private. It is refused while ``DPCORE_LOCK_TRUTH`` is set. Fitting, auditing
and release may not import this module.
"""

from __future__ import annotations

import numpy as np

from dpcore.wall.table import PrivateTable
from dpcore.wall.vectors import VectorRows, VectorSession


def custodian_vectors(
    table: PrivateTable, *, target: bool, masked: bool, own: bool = True
) -> VectorRows:
    """Rows as a private fit sees them, without noise; see :class:`VectorSession` for the words.

    Raises WallError on a server that locks exact values.
    """
    table.demand_open()
    session = VectorSession(
        table,
        adjacency="replace_one",
        noise=None,
        draws=np.arange(1),
        target=target,
        masked=masked,
        as_private=True,
    )
    return session._seen(own, 0.0)
