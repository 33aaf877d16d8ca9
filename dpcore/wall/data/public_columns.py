"""The exit for columns that an adjacency does not protect.

Under ``label`` one row's label is exchanged and its features are public. What leaves here is not
protected at all, and the guarantee says so among its assumptions. Without privacy nothing is
protected, and they may leave as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import WallError
from dpcore.wall.data.labels import LabelledSession

Array = NDArray[np.float64]


def public_features(session: LabelledSession) -> Array:
    """The rows in unit coordinates ``(n, d)``; WallError unless the adjacency is ``label``."""
    if session.private and session.adjacency != "label":
        raise WallError(f"these columns are protected: the adjacency is {session.adjacency}")
    return session._rows.units.copy()
