"""Data, and where results about it lie: bounded caches, everybody's or one session's.

A study of bundled data is shared by every visitor; anything from an upload lives in its own session
and dies with it. Nothing is written to disk. What takes long is worked out behind the page, by one
worker.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from dpcore.evaluation.study import BudgetGrid, Curves, References
from dpcore.wall.clip import PublicFrame
from dpcore.wall.corpus import Vocabulary

T = TypeVar("T")


@dataclass(frozen=True)
class Data:
    """Sealed rows, or documents with their vocabulary, and what may be said about them.

    key: identity of the content, for caches. provenance: ``simulated`` | ``public`` | ``upload``.
    rows: how many there are, where that is public. whole: the same with everybody in it, where one
    is missing here.
    """

    key: str
    title: str
    table: Any
    schema: Any
    provenance: str
    rows: int | None
    secret: bytes = b""
    whole: Data | None = None

    @property
    def public(self) -> Any:
        """The frame of a table; of documents their vocabulary."""
        return self.schema if self.documents else PublicFrame.of(self.schema)

    @property
    def documents(self) -> bool:
        """Whether there are documents in place of rows."""
        return isinstance(self.schema, Vocabulary)

    @property
    def unit(self) -> str:
        return str(self.schema.unit)


class Shelf(Generic[T]):
    """A bounded cache, least recently used first out; one computation per key."""

    def __init__(self, size: int) -> None:
        self._size, self._kept, self._lock = size, OrderedDict[Hashable, T](), threading.Lock()
        self._busy: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            mine = self._busy.setdefault(key, threading.Lock())
        with mine:  # whoever else asks meanwhile waits, and finds it
            found = self.peek(key)
            if found is not None:
                return found
            try:
                made = make()
                with self._lock:
                    self._kept[key] = made
                    while len(self._kept) > self._size:
                        self._kept.popitem(last=False)
            finally:
                with self._lock:
                    self._busy.pop(key, None)
            return made

    def peek(self, key: Hashable) -> T | None:
        with self._lock:
            return self._kept.get(key)


@dataclass
class Desk:
    """Where one audience's results lie: everybody's for bundled data, one session's for uploads."""

    references: Shelf[References] = field(default_factory=lambda: Shelf(24))
    grids: Shelf[BudgetGrid] = field(default_factory=lambda: Shelf(24))
    curves: Shelf[Curves] = field(default_factory=lambda: Shelf(24))
    tables: Shelf[Any] = field(default_factory=lambda: Shelf(12))
    scenes: Shelf[Any] = field(default_factory=lambda: Shelf(12))
    answers: Shelf[Any] = field(default_factory=lambda: Shelf(64))
    waiting: dict[Hashable, Future[None]] = field(default_factory=dict)


@cache
def common() -> Desk:
    """The shelf of everything that anybody may see."""
    return Desk()


@cache
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "dpcore-study")


def in_background(desk: Desk, key: Hashable, work: Callable[[], None]) -> None:
    """Start the work once; whatever else was waiting on this desk is no longer wanted."""
    running = desk.waiting.get(key)
    if running is not None and not running.done():
        return
    if running is not None:
        running.result()  # a failure in the background is a failure here
    for other, future in list(desk.waiting.items()):
        if other != key:
            future.cancel()
            desk.waiting.pop(other, None)
    desk.waiting[key] = _worker().submit(work)
