"""Sums and maxima of many short rows, by columns: NumPy takes rows one by one, ten times slower."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Cell = TypeVar("_Cell", bound=np.floating[Any])

IN_ORDER = 8  # numbers from which NumPy adds up a row in another order than one after the other


def row_sums(rows: NDArray[_Cell]) -> NDArray[_Cell]:
    """The sum of each row ``(m,)`` of rows ``(m, K)``: the bits of ``rows.sum(axis=1)``.

    >>> row_sums(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    if rows.shape[1] < IN_ORDER:
        return np.asarray(np.add.reduce(np.ascontiguousarray(rows.T), axis=0))
    return np.asarray(np.add.reduce(rows, axis=1))


def row_maxima(rows: NDArray[_Cell]) -> NDArray[_Cell]:
    """The largest number of each row ``(m, 1)``; rows ``(m, K)``.

    >>> row_maxima(np.array([[1.0, 2.0], [4.0, 3.0]])).ravel().tolist()
    [2.0, 4.0]
    """
    return np.asarray(np.maximum.reduce(np.ascontiguousarray(rows.T), axis=0)[:, None])
