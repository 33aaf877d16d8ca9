"""One pool of threads, and linear algebra on one: for small matrices, and for bits that last.

Libraries split even small decompositions over all cores; where another program is at work, each
split waits for it (measured with ten 100 x 100 matrices on a busy machine: 1 s instead of 10 ms).
And where two threads share a block of rows, what is found of a row depends on where it stands
(:mod:`dpcore.wall.kernels.row_blocks`). Large sums run in threads of our own
(:mod:`dpcore.wall.kernels.bounded_sums`).
"""

from __future__ import annotations

import math
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from threading import Lock, local
from typing import Any, TypeVar

import numpy as np

from dpcore.arrays import Array

_T = TypeVar("_T")
_LOCK = Lock()
_ONE_SUM = Lock()  # each takes every core
_of_thread = local()
_inside = _silent = 0
_limit: Any = None
_filters: Any = None

CONTAINER = Path("/sys/fs/cgroup/cpu.max")  # of Linux: microseconds of processor time, and of time

# Of decompositions: what a small one costs, as if it had so many more columns, and the sum of cubes
# from which threads gain something.
FIXED_COST, WORTH_SHARING = 4, 1_000_000


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread inside; also a decorator. The limit is the process's, so the
    first that enters sets it and the last that leaves lifts it. Here a thread may pause, see
    :func:`pauses_by`."""
    global _inside, _limit
    getattr(_of_thread, "pause", int)()
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


@contextmanager
def silence() -> Iterator[None]:
    """No warning is shown meanwhile, on any thread: some row may be the reason of it. The filters
    are the process's, so they are set and put back as the limit of :func:`one_thread` is."""
    global _silent, _filters
    with _LOCK:
        if _silent == 0:
            _filters = warnings.catch_warnings(action="ignore")
            _filters.__enter__()
        _silent += 1
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        with _LOCK:
            _silent -= 1
            if _silent == 0:
                _filters.__exit__()


def pauses_by(pause: Callable[[], object]) -> None:
    """Have this thread call ``pause`` between two steps of whatever it fits, holding no lock of the
    package: a program that answers somebody meanwhile makes it wait there."""
    _of_thread.pause = pause


@cache
def cores() -> int:
    """Cores that this process may use: no more than it is bound to, nor than a container's quota
    amounts to. More threads would wait for one another, and those of a container for its next
    share of time."""
    bound_to = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with suppress(OSError, ValueError):  # no such file, or a quota of "max"
        quota, period = CONTAINER.read_text().split()
        return max(1, min(bound_to or 1, math.ceil(int(quota) / int(period))))
    return bound_to or 1


def most_threads() -> int:
    """On how many threads a sum that this thread asks for may run: one for each core, unless
    :func:`single_threaded` holds here."""
    return 1 if getattr(_of_thread, "single", False) else cores()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Sums that this thread asks for stay on it: other threads or processes have work for the
    other cores."""
    before, _of_thread.single = getattr(_of_thread, "single", False), True
    try:
        yield
    finally:
        _of_thread.single = before


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@cache
def pool(work: str = "sums") -> ThreadPoolExecutor:
    """The process's threads for one kind of work, one for each core; no task on them may wait for
    another."""
    return ThreadPoolExecutor(cores(), f"dpcore-{work}", _stay)


def _stay() -> None:
    """What a thread of the pool asks for stays on it."""
    _of_thread.single = True


def _begin_afresh() -> None:
    """A child of a fork has no threads, and nobody who would open its locks."""
    global _LOCK, _ONE_SUM
    pool.cache_clear()
    _LOCK, _ONE_SUM = Lock(), Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_afresh)


def eigh(matrices: Array) -> tuple[Array, Array]:
    """As :func:`numpy.linalg.eigh` for matrices ``(..., d, d)``; of many, each core takes some."""
    *stack, dim, _ = matrices.shape
    count, cores = math.prod(stack), most_threads()
    if cores == 1 or count * (dim + FIXED_COST) ** 3 < WORTH_SHARING:
        return np.linalg.eigh(matrices)
    some = pool().map(np.linalg.eigh, np.array_split(matrices.reshape(count, dim, dim), cores))
    values, vectors = map(np.concatenate, zip(*some, strict=True))
    return values.reshape(*stack, dim), vectors.reshape(matrices.shape)


def in_order(part: Callable[[int], _T], add: Callable[[int, _T], None], count: int) -> None:
    """``add`` every part in the order of its number, whichever thread brings it, on every core."""
    todo, done, lock = deque(range(count)), dict[int, _T](), Lock()
    added = 0

    def work() -> None:
        nonlocal added
        while todo:
            try:
                index = todo.popleft()
            except IndexError:  # another thread was quicker
                return
            try:
                value = part(index)
            except BaseException:
                todo.clear()
                raise
            with lock:
                done[index] = value
                while added in done:
                    add(added, done.pop(added))
                    added += 1

    helpers = min(most_threads(), count) - 1
    with one_thread(), _ONE_SUM if helpers > 0 else nullcontext():  # one level of threads, not two
        running = [pool().submit(work) for _ in range(helpers)]
        work()
        for helper in running:
            helper.result()


class Memory(local):
    """Each thread's arrays that are filled again and again: where freed memory goes back to the
    system at once, as in Dask's workers, new ones would cost more than what is put in them."""

    def __call__(self, name: str, *shape: int) -> Array:
        """An array ``shape`` with whatever it holds, which lasts until the name is asked for
        again."""
        size, arrays = math.prod(shape), vars(self)
        if name not in arrays or arrays[name].size < size:
            arrays[name] = np.empty(size)
        return np.asarray(arrays[name][:size].reshape(shape))
