"""One thread for small matrices: waking a second costs more than a 100 x 100 inverse.

Linear algebra libraries split even small decompositions over all cores; where another program is
at work, each split waits for it (measured with ten 100 x 100 matrices on a busy machine: 1 s
instead of 10 ms). Large products run in threads of our own (:func:`thin_product`,
:mod:`dpcore.wall.moments`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.floating[Any])

LARGE_BYTES = 32 * 2**20  # of a matrix that no cache holds: below, one thread is as fast

_LOCK = Lock()
_inside = 0
_limit: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread inside; also a decorator. The limit is the process's, so the
    first that enters sets it and the last that leaves lifts it."""
    global _inside, _limit
    with _LOCK:
        if _inside == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def thin_product(matrix: NDArray[Number], thin: NDArray[Number]) -> NDArray[Number]:
    """``matrix @ thin`` for one ``(d, e)`` and ``(e, m)``, large ones a stripe to each core.

    Such a product waits for memory, and two cores read it twice as fast as one (measured with
    4096 x 4096 by 10: 8.2 ms instead of 16.5). To be called inside :func:`one_thread`.
    """
    stripes = os.cpu_count() or 1
    if matrix.nbytes < LARGE_BYTES or stripes == 1:
        return matrix @ thin
    out = np.empty((len(matrix), thin.shape[1]), matrix.dtype)
    edges = np.linspace(0, len(matrix), stripes + 1).astype(int)

    def stripe(index: int) -> None:
        rows = slice(edges[index], edges[index + 1])
        np.matmul(matrix[rows], thin, out=out[rows])

    list(_pool().map(stripe, range(stripes)))
    return out


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, "dpcore-product")
