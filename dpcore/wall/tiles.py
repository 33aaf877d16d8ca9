"""Blocks of one size: what a model makes of a row must not depend on where in a block it stands.

Matrix products treat the last rows of a block otherwise than the rest, and small blocks otherwise
than large ones; the difference is rounding, but a model in single precision can turn it into much
more, and so can a density where groups are narrow. Where a row is added, or changes its class, all
rows behind it move up one place: then each would make another contribution, by an amount that no
lemma covers. So whatever leaves for good comes from blocks of one size, filled up with rows of
zeros, in which no row stands near the end. Where a row is replaced no place changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Cell = TypeVar("Cell", bound=np.generic)
Look = Callable[[Array], tuple[Array, ...]]

SPARE = 48  # rows of zeros at the end: more than a product's kernel takes at once


def filled_up(rows: NDArray[Cell], size: int) -> NDArray[Cell]:
    """Rows ``(m, ...)`` with zeros after them, :data:`SPARE` more than ``size``."""
    block = np.zeros((size + SPARE, *rows.shape[1:]), rows.dtype)
    block[: len(rows)] = rows
    return block


def looked_at(rows: Array, size: int, look: Look) -> tuple[Array, ...]:
    """What ``look`` says of at most ``size`` rows ``(m, d)``: arrays whose first axis is the rows.

    **Guarantee.** The same bits for a row wherever it stands and whatever stands beside it, if
    ``look`` treats each row alike and apart, and its products run on one thread
    (:mod:`dpcore.wall.threads`): two would share a block, which then has two ends.
    """
    block = filled_up(rows, size)
    block.flags.writeable = False  # a model looks, and leaves them as they are
    found = look(block)
    for part in found:
        if np.shape(part)[:1] != (len(block),):
            raise ValueError("the model gave numbers of another shape than it was shown rows")
    return tuple(part[: len(rows)] for part in found)
