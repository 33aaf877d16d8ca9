"""The workers of a ``distributed`` cluster sum the parts of a table: clipped there, noised here.

A worker reads a part where it lies, puts its rows inside their bounds and sums what the model makes
of them; the exact sum of the part, and how many rows it is of, travel to this process. So workers,
the scheduler and the network between them are inside the wall: whoever can read there sees what
noise would have hidden. Noise is drawn here alone, once, for the sum of all parts.

A worker that dies takes with it what it had not sent: the scheduler has the same parts summed
again. How often a part was summed is of no account, see :mod:`dpcore.wall.data.partitions`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from dpcore.errors import InputError
from dpcore.wall.data.partitions import OnRows, Partition
from dpcore.wall.kernels.threads import single_threaded

T = TypeVar("T")
ANSWERS_WITHIN = 10  # seconds
TRIES = 3  # of a part whose file could not be read, say, because a disk was busy

_MISSING = ("engine", "dask is not installed", "install it: pip install 'dpcore[distributed]'")


class OnWorkers:
    """An engine that has parts summed by the workers of a cluster.

    client: a ``distributed.Client``; ``None``: the current one.
    Raises InputError where there is none.
    """

    def __init__(self, client: Any = None) -> None:
        self._client = current_client() if client is None else client

    def run_parts(
        self, task: Callable[..., T], parts: Sequence[Partition], on_rows: OnRows
    ) -> Generator[tuple[int, T], None, None]:
        """Answers as they come; whatever is still asked for is called off when nobody listens.

        The scheduler has forgotten all it was asked when this ends: a part it still knew in the
        next pass would keep what is left of its tries, and run out of them.

        Raises InputError where a worker refuses its part.
        """
        dask, distributed = import_module("dask"), import_module("distributed")
        ask = dask.delayed(partial(_answer, task), pure=False, traverse=False)
        futures = self._client.compute([ask(part) for part in parts], retries=TRIES - 1)
        numbers = {future.key: number for number, future in enumerate(futures)}
        try:
            for future in distributed.as_completed(futures):
                answer = future.result()
                if isinstance(answer, _Refused):
                    raise InputError(answer.field, answer.problem, answer.remedy)
                yield numbers[future.key], answer
        finally:
            self._client.cancel(futures)


@dataclass(frozen=True)
class _Refused:
    """A refusal on its way here: no accident, so nobody tries again or logs what was asked."""

    field: str
    problem: str
    remedy: str


def _answer(task: Callable[[Partition], T], part: Partition) -> T | _Refused:
    """What a worker does, on the one of its threads that this is."""
    try:
        with single_threaded():
            return task(part)
    except InputError as refusal:
        return _Refused(refusal.field, refusal.problem, refusal.remedy)


def current_client() -> Any:
    """The current ``distributed.Client``; raises InputError without one."""
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise InputError(*_MISSING) from None
    try:
        return distributed.default_client()
    except ValueError:
        raise InputError(
            "engine", "no cluster is connected", "create a distributed.Client first"
        ) from None


def connect(address: str | None) -> OnWorkers:
    """A cluster for this process: the one at an address, or workers of one thread on every core.

    Raises InputError where nobody answers.
    """
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise InputError(*_MISSING) from None
    if address is None:
        return OnWorkers(distributed.Client(threads_per_worker=1, dashboard_address=None))
    try:
        return OnWorkers(distributed.Client(address, timeout=ANSWERS_WITHIN))
    except (OSError, ValueError, TypeError):
        raise InputError("scheduler", "nobody answers there", "check the address") from None
