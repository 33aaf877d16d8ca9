"""Linear algebra on one thread: for small matrices, and wherever bits must not hang on cores.

Libraries split even small decompositions over all cores; where another program is at work, each
split waits for it (measured with ten 100 x 100 matrices on a busy machine: 1 s instead of 10 ms).
And where two threads share a block of rows, what is found of a row depends on where it stands
(:mod:`dpcore.wall.kernels.row_blocks`). Large sums run in threads of our own
(:mod:`dpcore.wall.kernels.bounded_sums`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

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
