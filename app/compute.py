"""The one bridge from a scenario to dpcore: data, studies, scenes, all in bounded caches.

A study of bundled data is shared by every visitor; anything from an upload lives in its own session
and dies with it. Nothing is written to disk. Large studies are worked out in the background, in
parts, and the page shows each part when it is there.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Generic, TypeVar

import numpy as np

from app.scenario import Scenario
from dpcore.evaluation.alignment import align
from dpcore.evaluation.metrics import loneliest_row
from dpcore.evaluation.references import converged
from dpcore.evaluation.study import (
    EPSILONS,
    BudgetGrid,
    Curves,
    References,
    Setting,
    budget_grid,
    curves,
    references,
)
from dpcore.fitting.api import fit_grid
from dpcore.fitting.result import Fit
from dpcore.schema import Schema
from dpcore.wall.clip import PublicFrame
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

T = TypeVar("T")

REHEARSAL = "rehearsal, not a release"
DRAWS = 13  # one bold, twelve ghosts
SHOWN_ROWS = 500  # points drawn
AT_ONCE = 40e6  # row visits (rows x runs x iterations x components) worked out without waiting


@dataclass(frozen=True)
class Data:
    """Sealed rows with what may be said about them.

    key: identity of the content, for caches. provenance: ``simulated`` | ``public`` | ``upload``.
    rows: how many there are, where that is public. whole: the same with everybody in it, where one
    is missing here.
    """

    key: str
    title: str
    table: PrivateTable
    schema: Schema
    provenance: str
    rows: int | None
    secret: bytes = b""
    whole: Data | None = None

    @property
    def public(self) -> PublicFrame:
        return PublicFrame.of(self.schema)

    @property
    def unit(self) -> str:
        return self.schema.unit


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
    waiting: dict[Hashable, Future[None]] = field(default_factory=dict)


@cache
def _common() -> Desk:
    return Desk()


@cache
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "dpcore-study")


def desk_for(data: Data, session: Desk) -> Desk:
    """The shelf on which results about this data may lie."""
    return session if data.provenance == "upload" else _common()


@dataclass(frozen=True)
class Study:
    """What is known so far about a scenario; ``complete`` once nothing more is coming."""

    grid: BudgetGrid
    references: References
    curves: Curves | None
    complete: bool


def study(scenario: Scenario, data: Data, desk: Desk) -> Study:
    """The study of a scenario: whole at once where that is quick, else its current point first.

    Raises InputError when the choices cannot be fitted.
    """
    setting = scenario.setting(data.secret)
    key = (data.key, replace(setting, accountant=""), scenario.methods())
    known = references_of(setting, data, desk)
    grid_key = (key, setting.accountant)
    visits = (data.rows or 10_000) * setting.iterations * setting.components
    whole = visits * len(EPSILONS) * DRAWS <= AT_ONCE

    def everything() -> BudgetGrid:
        return budget_grid(data.table, setting, known.converged, EPSILONS, range(DRAWS))

    def bold() -> BudgetGrid:
        return budget_grid(data.table, setting, known.converged, EPSILONS, (0,))

    def all_curves(grid: BudgetGrid) -> Curves:
        return curves(data.table, setting, grid, scenario.methods())

    if whole:
        grid = desk.grids.get((grid_key, DRAWS), everything)
        return Study(grid, known, desk.curves.get(grid_key, lambda: all_curves(grid)), True)
    full, drawn = desk.grids.peek((grid_key, DRAWS)), desk.curves.peek(grid_key)
    if full is not None and drawn is not None:
        return Study(full, known, drawn, True)

    first = desk.grids.get((grid_key, 1), bold)  # the current point, before anything else

    def background() -> None:
        done = first
        for draws in (5, DRAWS):
            missing = range(done.utility.shape[1], draws)
            done = done.with_draws(
                budget_grid(data.table, setting, known.converged, EPSILONS, missing)
            )
            desk.grids.get((grid_key, draws), lambda ready=done: ready)  # type: ignore[misc]
            if draws == 5:
                desk.curves.get(grid_key, lambda ready=done: all_curves(ready))  # type: ignore[misc]

    _in_background(desk, grid_key, background)
    parts = (desk.grids.peek((grid_key, draws)) for draws in (DRAWS, 5))
    grid = next((part for part in parts if part is not None), first)
    return Study(grid, known, desk.curves.peek(grid_key), False)


def references_of(setting: Setting, data: Data, desk: Desk) -> References:
    """What a study is held against; the converged fit is worked out once for all clippings."""
    shape = (setting.components, setting.covariance)
    best = desk.tables.get(("converged", data.key, *shape), lambda: converged(data.table, *shape))
    if data.whole is not None:  # groups keep their names when a person leaves
        best = align(best, references_of(setting, data.whole, desk).converged).mixture
    key = ("references", data.key, *shape, setting.iterations, setting.clip)
    return desk.references.get(key, lambda: references(data.table, setting, best))


def _in_background(desk: Desk, key: Hashable, work: Callable[[], None]) -> None:
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


def with_extra_budget(
    study: Study, scenario: Scenario, data: Data, desk: Desk
) -> tuple[Study, int]:
    """The study with the scenario's epsilon among its budgets, and that epsilon's place."""
    for i, epsilon in enumerate(study.grid.epsilons):
        if abs(epsilon - scenario.epsilon) <= 1e-9 * epsilon:
            return study, i
    setting = scenario.setting(data.secret)
    draws = study.grid.utility.shape[1]
    key = (data.key, setting, scenario.epsilon, draws)

    def one() -> BudgetGrid:
        known = study.references.converged
        return budget_grid(data.table, setting, known, (scenario.epsilon,), range(draws))

    grid = study.grid.with_budget(desk.grids.get(key, one))
    drawn = study.curves
    if drawn is not None:
        at = np.log(scenario.epsilon)
        base = np.log(np.array(study.grid.epsilons))

        def read(values: Any) -> Any:  # beyond the grid nothing is known
            return np.append(values, np.interp(at, base, values, left=np.nan, right=np.nan))

        drawn = Curves(
            {name: read(values) for name, values in drawn.methods.items()},
            {name: read(values) for name, values in drawn.says.items()},
            np.append(drawn.single, np.interp(at, base, drawn.single)),
        )
    return replace(study, grid=grid, curves=drawn), len(grid.epsilons) - 1


def shown_rows(data: Data, desk: Desk) -> np.ndarray[Any, Any]:
    """Exact rows in own units ``(m, d)``, some by a public coin: for the custodian's eyes."""

    def make() -> Any:
        public, rows = custodian_rows(data.table)
        pick = np.random.default_rng(1).permutation(len(rows))[:SHOWN_ROWS]
        return public.center + public.half_range * rows[pick]

    return np.asarray(desk.tables.get(("rows", data.key), make))


def bundle(key: Hashable, make: Callable[[], Data]) -> Data:
    """Data that may be shown to anybody, loaded once."""
    found: Data = _common().tables.get(("data", key), make)
    return found


def neighbour(data: Data, adjacency: str, desk: Desk) -> Data:
    """The data with its most exposed row replaced or removed."""

    def make() -> Data:
        table = data.table.neighbour(loneliest_row(data.table), adjacency)
        rows = data.rows if adjacency == "replace_one" or data.rows is None else data.rows - 1
        key = f"{data.key}/without/{adjacency}"
        return replace(data, key=key, table=table, rows=rows, whole=data)

    found: Data = desk.tables.get(("neighbour", data.key, adjacency), make)
    return found


def one_fit(scenario: Scenario, data: Data) -> Fit:
    """The bold private fit as a value of its own, with its ledger."""
    setting = scenario.setting(data.secret)
    grid = fit_grid(
        "gmm",
        data.table,
        privacy=(setting.request(scenario.epsilon),),
        seed=setting.seed,
        secret=setting.secret,
        clip=setting.clip,
        **setting.options(),
    )
    return grid.fit()


def fit_json(fit: Fit, note: str = REHEARSAL) -> str:
    """A fit as the JSON that the command line prints, with what it is a fit of."""
    record = {
        "model": fit.model,
        "parameters": fit.parameters.as_dict(),
        "guarantee": fit.guarantee.as_dict(),
        "ledger": fit.ledger.as_list(),
        "seed": fit.seed,
        "note": note,
    }
    return json.dumps(record, indent=2, default=float)
