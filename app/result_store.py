"""Data, and where results about it lie: bounded caches, everybody's or one session's.

A study of bundled data is shared by every visitor; anything from an upload lives in its own session
and dies with it. Nothing is written to disk. What takes long is worked out behind the page; what
somebody looks at comes first.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from time import monotonic
from typing import Any, Generic, TypeVar, cast

import numpy as np
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpcore.evaluation.study import BudgetGrid, Curves, References, Sweep
from dpcore.wall.custodian import custodian_count
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.data.corpus import Vocabulary
from dpcore.wall.kernels.threads import pauses_by

T = TypeVar("T")
Result = TypeVar("Result")

LOOKED_AT = 5.0  # seconds: a page in view asks for its own again within them
TOGETHER = 1  # jobs that somebody looks at, worked on at a time: each uses every core
AT_MOST = 2  # with those that nobody looks at any more, but which cannot be stopped
CLOSED_AT = 1.0  # seconds between two looks at whether a page was closed
QUICK, USUAL = 5e-4, sys.getswitchinterval()  # seconds between turns with and without a page
GIVES_WAY = 0.5  # seconds at most that work behind the pages waits for a page at a time
ALONE = 8  # visitors who may look as often as they like
HELD, LAST = 2**29, 4  # bytes of fits that a cache holds; values that it holds whatever they take
THERE = 60.0  # seconds after its last run for which a page counts as a visitor's


@dataclass(frozen=True)
class Data:
    """Sealed rows, or documents with their vocabulary, and what may be said about them.

    key: identity of the content, for caches. provenance: ``simulated`` | ``public`` | ``upload``.
    rows: how many there are, where that is public. whole: the same with everybody in it, where one
    is missing here. held_out: other rows of the same table, which no fit sees and on which fits are
    judged; ``None``: those of the table. all_rows: how many there are with them. every: the same
    with all rows that may be fitted, where fewer are. credit: whose the
    data are and on what terms, where they did not come with the package.
    """

    key: str
    title: str
    table: Any
    schema: Any
    provenance: str
    rows: int | None
    secret: bytes = b""
    whole: Data | None = None
    held_out: Any | None = None
    all_rows: int | None = None
    every: Data | None = None
    credit: str = ""

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
        """Who one row is about."""
        return str(self.schema.unit)

    @cached_property
    def in_table(self) -> int | None:
        """How many rows there are to point at, where that is public: fewer than :attr:`rows` where
        persons of equal weight have theirs counted several times."""
        if self.rows is None or not self.schema.equal_weight:
            return self.rows
        return custodian_count(self.table, once=True)

    def is_one_row(self, rows_per_person: int) -> bool:
        """Whether a unit is a row: it has no more, and no id column says whose a row is."""
        return rows_per_person == 1 and self.schema.person is None

    def public_rows(self, adjacency: str) -> int | None:
        """How many rows there are, where that is public under an adjacency: not where they come
        and go, nor where an id column says whose a row is."""
        private = adjacency == "add_remove" or self.schema.person is not None
        return None if private else self.rows


class LRUCache(Generic[T]):
    """A bounded cache, least recently used first out; one computation per key.

    Of studies of many columns there are fewer, so that their fits take little memory.
    """

    def __init__(self, size: int) -> None:
        self._size, self._kept, self._lock = size, OrderedDict[Hashable, T](), threading.Lock()
        self._busy: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """The value of a key, computed by ``make`` where it is not there; others wait for it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast(Result, self._kept[key])
            mine = self._busy.setdefault(key, threading.Lock())
        if not mine.acquire(blocking=False):  # whoever else asks meanwhile waits, and finds it
            with precedence.at_rest():
                mine.acquire()
        try:
            value = self.peek(key)
            if value is not None:
                return cast(Result, value)
            try:
                computed = make()
                with self._lock:
                    self._keep(key, cast(T, computed))
            finally:
                with self._lock:
                    self._busy.pop(key, None)
            return computed
        finally:
            mine.release()

    def change(self, key: Hashable, update: Callable[[T | None], T]) -> T:
        """Replace what is there, if anything, by what is made of it."""
        with self._lock:
            return self._keep(key, update(self._kept.get(key)))

    def _keep(self, key: Hashable, value: T) -> T:
        self._kept[key] = value
        self._kept.move_to_end(key)
        while len(self._kept) > self._size or (
            len(self._kept) > LAST and sum(map(_bytes_of, self._kept.values())) > HELD
        ):
            self._kept.popitem(last=False)
        return value

    def peek(self, key: Hashable) -> T | None:
        """The value of a key, or ``None``."""
        with self._lock:
            return self._kept.get(key)


def _bytes_of(value: Any) -> int:
    """Those of the fits of a study, or of one over another dial; 0 for anything else."""
    grid = value.grid if isinstance(value, Sweep) else value
    return bytes_of_fits(grid.fits) if isinstance(grid, BudgetGrid) else 0


def bytes_of_fits(batch: Any) -> int:
    """How much memory a batch of fits takes."""
    return sum(np.asarray(getattr(batch, array.name)).nbytes for array in fields(batch))


@dataclass
class ResultStore:
    """Where one audience's results lie: everybody's for bundled data, one session's for uploads."""

    references: LRUCache[References] = field(default_factory=lambda: LRUCache(24))
    grids: LRUCache[BudgetGrid] = field(default_factory=lambda: LRUCache(24))
    curves: LRUCache[Curves] = field(default_factory=lambda: LRUCache(24))
    tables: LRUCache[Any] = field(default_factory=lambda: LRUCache(12))
    scenes: LRUCache[Any] = field(default_factory=lambda: LRUCache(12))
    answers: LRUCache[Any] = field(default_factory=lambda: LRUCache(64))
    waiting: dict[Hashable, Future[None]] = field(default_factory=dict)  # what somebody looks at
    wanted: dict[Hashable, float] = field(default_factory=dict)  # stops that hands are on


@cache
def common() -> ResultStore:
    """The cached of everything that anybody may see."""
    return ResultStore()


class Job(Future[None]):
    """Work behind a page."""

    def __init__(self, store: ResultStore, key: Hashable, work: Callable[[], object]) -> None:
        super().__init__()
        self.store, self.key, self.work = store, key, work
        self.behind = False  # others are looked at, and this one is not
        self.on_until = 0.0  # it has waited, and does not before then

    def leave(self) -> None:
        """Off the store's list."""
        if self.store.waiting.get(self.key) is self:
            del self.store.waiting[self.key]


class Precedence:
    """Pages that run now, for which work behind them waits between two of its steps.

    All share one interpreter, for which a page would otherwise wait hundreds of times: each time
    until the other thread's turn ends, so turns are short while a page runs. Where pages run all
    the time, the work goes on for as long as it has waited, and a quarter of that where nobody
    looks at it.
    """

    def __init__(self) -> None:
        self._running, self._over = 0, threading.Condition()
        self._of_thread = threading.local()

    def _more(self, pages: int) -> None:
        with self._over:
            self._running += pages
            sys.setswitchinterval(QUICK if self._running else USUAL)
            self._over.notify_all()

    @contextmanager
    def page(self) -> Iterator[None]:
        """A page runs inside."""
        self._more(1)
        self._of_thread.page = True
        try:
            yield
        finally:
            self._of_thread.page = False
            self._more(-1)

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Whoever waits inside for another thread's work does not stand in its way."""
        pages = int(getattr(self._of_thread, "page", False))
        self._more(-pages)
        try:
            yield
        finally:
            self._more(pages)

    def give_way(self, job: Job) -> None:
        """Wait while pages run, or others are looked at and the job is not, unless it waited just
        now."""
        begun = monotonic()
        if (self._running or job.behind) and begun >= job.on_until:
            with self._over:
                self._over.wait_for(lambda: not (self._running or job.behind), GIVES_WAY)
            waited = monotonic() - begun
            job.on_until = begun + waited + (0.25 * waited if job.behind else waited)


class Background:
    """Works off what pages ask for, in the order of asking.

    Every visitor looks at what he asked for last, and a page in view asks for its own again and
    again. What nobody looks at any more gives way: it leaves its store's list, where it may notice,
    is dropped if it has not begun, and else goes on beside what is looked at.
    """

    def __init__(self) -> None:
        self._jobs, self._lock = list[Job](), threading.RLock()
        self._looking: dict[str, tuple[Job, float]] = {}
        self._drawn: dict[str, float] = {}  # when a visitor's page ran last

    def crowded(self, visitor: str) -> bool:
        """Whether there are more visitors than may look as often as they like, with this one, whose
        page runs. A page that was closed counts no more."""
        with self._lock:
            now, drawn = monotonic(), self._drawn.items()
            there = {who: when for who, when in drawn if when > now - THERE and not is_closed(who)}
            self._drawn = there | {visitor: now}
            return len(self._drawn) > ALONE

    def ask(
        self, store: ResultStore, key: Hashable, work: Callable[[], object], visitor: str = ""
    ) -> None:
        """Have the work done once. Where it failed, raises what it raised."""
        with self._lock:
            job = store.waiting.get(key)
            if job is not None and job.done():
                store.waiting.pop(key).result()
            mine = (job for job in self._jobs if job.store is store and job.key == key)
            job = next((job for job in mine if not job.done()), None)
            if job is None:
                job = Job(store, key, work)
                self._jobs.append(job)
            store.waiting[key], self._looking[visitor] = job, (job, monotonic())
            self._go_on()

    def pause(self, every: float) -> float:
        """Seconds between two looks of a visitor who alone would look every so many: the longer the
        more of them wait, but never so long that a page in view is taken for a closed one."""
        with self._lock:
            since = monotonic() - LOOKED_AT
            visitors = sum(when > since for _, when in self._looking.values())
        return max(every, min(every * visitors / ALONE, 0.6 * LOOKED_AT))

    def at_work(self) -> bool:
        """Whether any job is left."""
        with self._lock:
            return any(not job.done() for job in self._jobs)

    def _go_on(self) -> None:
        """Let go of what nobody looks at; begin with what there is room for."""
        since = monotonic() - LOOKED_AT
        self._looking = {who: look for who, look in self._looking.items() if look[1] > since}
        wanted = {job for job, _ in self._looking.values()}
        for job in self._jobs:
            if job not in wanted:
                job.leave()
                job.cancel()  # if it has not begun
        self._jobs = [job for job in self._jobs if not job.done()]
        for job in self._jobs:
            begun = [running for running in self._jobs if running.running()]
            room = len(wanted.intersection(begun)) < TOGETHER and len(begun) < AT_MOST
            if room and job not in begun:
                job.set_running_or_notify_cancel()
                threading.Thread(target=self._do, args=(job,), daemon=True).start()
        looked_at = any(job.running() for job in wanted)
        for job in self._jobs:
            job.behind = looked_at and job not in wanted

    def let_go(self, visitor: str | None = None) -> None:
        """Nobody looks any more, or not this visitor: what has not begun is dropped, what goes on
        may notice."""
        with self._lock:
            if visitor is None:
                self._looking.clear()
            else:
                self._looking.pop(visitor, None)
            self._go_on()

    def _watch(self, job: Job) -> None:
        """Nothing goes on for a page that was closed."""
        while wait([job], CLOSED_AT).not_done:
            with self._lock:
                if gone := [who for who in self._looking if is_closed(who)]:
                    for who in gone:
                        del self._looking[who]
                    self._go_on()

    def _do(self, job: Job) -> None:
        threading.Thread(target=self._watch, args=(job,), daemon=True).start()
        pauses_by(lambda: precedence.give_way(job))
        try:
            job.work()
        except BaseException as error:  # the page that asks next says so
            job.set_exception(error)
        else:
            job.set_result(None)
        with self._lock:
            if job.exception() is None:
                job.leave()
            self._go_on()  # and what is done holds no session any more, with an upload's rows
            looking = self._looking.items()
            self._looking = {who: look for who, look in looking if look[0] is not job}


def is_closed(visitor: str) -> bool:
    """Whether the visitor's page was closed. Outside a server there is none that could be."""
    return runtime.exists() and not runtime.get_instance().is_active_session(visitor)


precedence = Precedence()
_background = Background()


def in_background(store: ResultStore, key: Hashable, work: Callable[[], object]) -> None:
    """Have the work done once, for the visitor whose page this is."""
    _background.ask(store, key, work, _visitor())


def crowded() -> bool:
    """Whether so many visitors are here that nothing should be worked out in advance; the page that
    asks counts as one."""
    return _background.crowded(_visitor())


def look_away() -> None:
    """Have nothing that this page asked for go on beside what the page itself works out now."""
    _background.let_go(_visitor())


def _visitor() -> str:
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


def let_go() -> None:
    """Have nothing more done for pages of this process that nobody looks at any more."""
    _background.let_go()


def at_work() -> bool:
    """Whether anything is worked out behind the pages of this process."""
    return _background.at_work()


def pause(every: float) -> float:
    """Seconds between two looks of a page at what it waits for."""
    return _background.pause(every)
