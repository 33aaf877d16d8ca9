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

from app.composing import Composition
from app.scenario import Scenario
from dpcore.accounting import ACCOUNTANTS
from dpcore.accounting.gaussian import all_gaussian
from dpcore.errors import InputError, NotCovered
from dpcore.evaluation.classes import Worth, worth_of
from dpcore.evaluation.composition import (
    COUNTS,
    PICTURES,
    SLOTS,
    SLOW,
    Crossover,
    Picture,
    Prices,
    Row,
    check_lawful,
    crossover,
    joined,
    nothing_yet,
    one_row,
    picture_of,
    price_list,
    slow_slots,
    ways,
)
from dpcore.evaluation.exposure import Exposure, success_rate
from dpcore.evaluation.metrics import loneliest_row
from dpcore.evaluation.study import (
    BudgetGrid,
    Curves,
    References,
    Setting,
    budget_grid,
    curves,
    references,
)
from dpcore.evaluation.yardstick import yardstick
from dpcore.fitting.api import fit_grid
from dpcore.fitting.result import Fit
from dpcore.privacy import Event
from dpcore.wall.clip import PublicFrame
from dpcore.wall.corpus import Vocabulary
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

T = TypeVar("T")

REHEARSAL = "rehearsal, not a release"
DRAWS = 13  # one bold, twelve ghosts
FEW_DRAWS = 5  # of a slow model
SHOWN_ROWS = 500  # points drawn
AT_ONCE = 40e6  # row visits (rows x runs x iterations x components) worked out without waiting


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
    budgets, most = scenario.budgets(data.rows), draws_of(scenario)
    whole = scenario.visits(data.rows) * len(budgets) * most <= AT_ONCE

    def everything() -> BudgetGrid:
        return budget_grid(data.table, setting, known.converged, budgets, range(most))

    def bold() -> BudgetGrid:
        return budget_grid(data.table, setting, known.converged, budgets, (0,))

    def all_curves(grid: BudgetGrid) -> Curves:
        return curves(data.table, setting, grid, scenario.methods(), range(most))

    if whole:
        grid = desk.grids.get((grid_key, most), everything)
        return Study(grid, known, desk.curves.get(grid_key, lambda: all_curves(grid)), True)
    full, drawn = desk.grids.peek((grid_key, most)), desk.curves.peek(grid_key)
    if full is not None and drawn is not None:
        return Study(full, known, drawn, True)

    first = desk.grids.get((grid_key, 1), bold)  # the current point, before anything else

    def background() -> None:
        done = first
        few = min(5, most)
        for draws in sorted({few, most}):
            missing = range(done.utility.shape[1], draws)
            done = done.with_draws(
                budget_grid(data.table, setting, known.converged, budgets, missing)
            )
            desk.grids.get((grid_key, draws), lambda ready=done: ready)  # type: ignore[misc]
            if draws == few:
                desk.curves.get(grid_key, lambda ready=done: all_curves(ready))  # type: ignore[misc]

    _in_background(desk, grid_key, background)
    parts = (desk.grids.peek((grid_key, draws)) for draws in (most, 5))
    grid = next((part for part in parts if part is not None), first)
    return Study(grid, known, desk.curves.peek(grid_key), False)


def draws_of(scenario: Scenario) -> int:
    """How many noise draws are shown: one bold and its ghosts, fewer of a slow model."""
    return DRAWS if scenario.cost == 1.0 else FEW_DRAWS


def references_of(setting: Setting, data: Data, desk: Desk) -> References:
    """What a study is held against; the converged fit is worked out once for all clippings."""
    judge, options = yardstick(setting.model), setting.options()
    shape = (setting.model, setting.components, setting.covariance, setting.words)
    best = desk.tables.get(
        ("converged", data.key, *shape),
        lambda: judge.converged(data.table, setting.components, options),
    )
    if data.whole is not None:  # groups keep their names when a person leaves
        best, _ = judge.align(best, references_of(setting, data.whole, desk).converged)
    key = ("references", data.key, *shape, setting.algorithm, setting.iterations, setting.clip)
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


def worth(scenario: Scenario, data: Data, desk: Desk, found: Study) -> Worth | None:
    """What other ways of releasing classes are worth, from the background once a study is complete;
    ``None`` until it is there."""
    setting = scenario.setting(data.secret)
    key = ("worth", data.key, setting)

    def background() -> None:
        exact = found.references.converged
        desk.answers.get(key, lambda: worth_of(data.table, setting, found.grid, exact))

    known: Worth | None = desk.answers.peek(key)
    if known is None:
        _in_background(desk, key, background)
    return known


COARSE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


@dataclass
class Task:
    """One answer for the background: ``make`` it and put it on a shelf; lower ranks first."""

    rank: float
    found: dict[Hashable, Any]
    item: Hashable
    make: Callable[[], Any]


@dataclass(frozen=True)
class Priced:
    """What is known so far about a list of releases: its prices, and the picture asked for.

    turn: where advanced counting becomes cheaper than adding.
    rows: the answers of all methods, where they were asked for. left: how many answers are missing.
    refusal: why the picture asked for cannot be drawn, if so.
    """

    prices: Prices
    turn: Crossover
    picture: Picture | Prices | None
    rows: tuple[Row, ...]
    left: int
    refusal: str = ""


def priced(asked: Composition, *, all_methods: bool = False) -> Priced:
    """Prices and picture of the list for every count of the slider, and the current one.

    Closed forms are there at once; what takes longer comes from the background: the current count
    first, then all methods if they are asked for, then the other counts, the nearest first.
    """
    desk, tasks = _common(), list[Task]()
    target = asked.epsilon if asked.hold == "budget" else None
    prices = _prices(desk, asked, target, tasks)
    lone = asked.without_k()
    turn = desk.answers.get(("turn", lone), lambda: crossover(asked.events, asked.delta))
    picture: Picture | Prices | None
    refusal = ""
    if asked.hold == "noise" and asked.show == "noise":
        picture = _prices(desk, asked, asked.epsilon, tasks)
    else:
        try:
            picture = _picture(desk, asked, prices.counts, tasks)
        except NotCovered as error:
            picture, refusal = None, str(error)
    rows = _rows(desk, asked, tasks) if all_methods else ()
    if tasks:
        tasks.sort(key=lambda task: task.rank)
        key = ("compose", asked, all_methods)
        _in_background(desk, key, lambda: _work_off(desk, key, tasks))
    return Priced(prices, turn, picture, rows, len(tasks), refusal)


def _work_off(desk: Desk, key: Hashable, tasks: list[Task]) -> None:
    """One task after the other, until somebody asks for something else."""
    for done, task in enumerate(tasks):
        if done and key not in desk.waiting:
            return
        if task.item not in task.found:
            task.found[task.item] = task.make()


def _found(desk: Desk, key: Hashable) -> dict[Hashable, Any]:
    """The answers that are there for a question; more are added while they are worked out."""
    shelf: dict[Hashable, Any] = desk.answers.get(("found", key), lambda: {"": None})
    return shelf


def _prices(desk: Desk, asked: Composition, target: float | None, tasks: list[Task]) -> Prices:
    """The five prices, or with a target epsilon the noise each way needs for it."""
    events, delta = asked.events, asked.delta
    slow = _slow(events, target)
    key = ("prices", asked.without_k(), target)

    def closed() -> Prices:
        return price_list(events, delta, epsilon=target, only=set(SLOTS) - slow)

    prices: Prices = desk.answers.get(key, closed).at(asked.k)
    found = _found(desk, key)
    missing = set()
    for count in dict.fromkeys((asked.k, *(COUNTS if target is None else COARSE))):
        for slot in slow:
            if (count, slot) not in found:
                missing.add(slot)
                tasks.append(
                    Task(
                        _distance(count, asked.k),
                        found,
                        (count, slot),
                        lambda k=count, s=slot: price_list(  # type: ignore[misc]
                            events, delta, (k,), epsilon=target, only={s}
                        ),
                    )
                )
    return _filled(prices, found, slow, frozenset(missing))


def _distance(count: int, current: int) -> float:
    """How late a count is worked out: the current one first."""
    return 0.0 if count == current else 2.0 + abs(float(np.log(count / current)))


def _slow(events: tuple[Event, ...], target: float | None) -> frozenset[str]:
    """Slots to be worked out in the background: solving for noise asks a method many times."""
    sampled = any(event.sampling != "none" for event in events)
    if target is not None and sampled:
        return frozenset(way.slot for way in ways(events) if way.method is not None)
    return slow_slots(events)


def _filled(
    prices: Prices, found: dict[Hashable, Any], slow: frozenset[str], missing: frozenset[str]
) -> Prices:
    """The prices with those answers in them that are there."""

    def filled(name: str) -> dict[str, np.ndarray[Any, Any]]:
        columns = {slot: column.copy() for slot, column in getattr(prices, name).items()}
        for i, count in enumerate(prices.counts):
            for slot in slow:
                if (count, slot) in found:
                    columns[slot][i] = getattr(found[count, slot], name)[slot][0]
        return columns

    return replace(prices, values=filled("values"), lowers=filled("lowers"), waiting=missing)


def _picture(
    desk: Desk, asked: Composition, counts: tuple[int, ...], tasks: list[Task]
) -> Picture | None:
    """The picture asked for at every count; gaps where it is still worked out."""
    name, events = asked.show, asked.events
    if name not in PICTURES or asked.hold == "budget":
        return None
    key = ("picture", name, events)
    if all_gaussian(events):
        whole: Picture = desk.answers.get((key, counts), lambda: picture_of(name, events, counts))
        return whole
    if name != "profile":
        check_lawful(events)
    found = _found(desk, key)
    for count in counts:
        if count not in found:
            rank = _distance(count, asked.k)
            tasks.append(
                Task(rank, found, count, lambda k=count: picture_of(name, events, (k,)))  # type: ignore[misc]
            )
    return joined([found.get(k) or nothing_yet(name) for k in counts])


def _rows(desk: Desk, asked: Composition, tasks: list[Task]) -> tuple[Row, ...]:
    """The answers of all registered methods that are known."""
    events = asked.events
    found = _found(desk, ("rows", asked.without_k(), asked.k))
    for name in ACCOUNTANTS:
        if name in found:
            continue
        if name not in SLOW or all_gaussian(events):
            found[name] = one_row(name, events, asked.delta, asked.k)
        else:
            tasks.append(
                Task(1.0, found, name, lambda n=name: one_row(n, events, asked.delta, asked.k))  # type: ignore[misc]
            )
    known = [found[name] for name in ACCOUNTANTS if name in found]
    return tuple(sorted(known, key=lambda row: row.bound is None))


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


def shown_rows(data: Data, desk: Desk, model: str) -> np.ndarray[Any, Any]:
    """Exact rows in own units ``(m, p)``, some by a public coin: for the custodian's eyes.

    Their columns are those of the model's picture: the features, and the target where it has one.
    """
    if data.documents:  # nothing of them is drawn
        return np.empty((0, 0))
    own = getattr(yardstick(model), "shown", None)

    def make() -> Any:
        rows = _in_own_units(data.table) if own is None else own(data.table)
        return rows[np.random.default_rng(1).permutation(len(rows))[:SHOWN_ROWS]]

    return np.asarray(desk.tables.get(("rows", data.key, own), make))


def _in_own_units(table: PrivateTable) -> Any:
    public, rows = custodian_rows(table)
    return public.center + public.half_range * rows


def bundle(key: Hashable, make: Callable[[], Data]) -> Data:
    """Data that may be shown to anybody, loaded once."""
    found: Data = _common().tables.get(("data", key), make)
    return found


def pooled(data: Data, side: int, desk: Desk) -> Data:
    """The data as smaller pictures; a side that does not fit leaves it as it is."""

    def make() -> Data:
        try:
            table = data.table.pooled(side)
        except InputError:
            return data
        assert table.schema is not None  # a pooled table has one
        return replace(data, key=f"{data.key}/pooled/{side}", table=table, schema=table.schema)

    found: Data = desk.tables.get(("pooled", data.key, side), make)
    return found


def neighbour(data: Data, adjacency: str, desk: Desk) -> Data:
    """The data with its most exposed row replaced or removed."""

    def make() -> Data:
        table = data.table.neighbour(loneliest_row(data.table), adjacency)
        gone = adjacency == "add_remove"
        rows = data.rows - 1 if gone and data.rows is not None else data.rows
        key = f"{data.key}/without/{adjacency}"
        return replace(data, key=key, table=table, rows=rows, whole=data)

    found: Data = desk.tables.get(("neighbour", data.key, adjacency), make)
    return found


GAMES = 2000  # of the attacker, at most
LEAST_GAMES = 200


def exposure(scenario: Scenario, data: Data, desk: Desk) -> Exposure | None:
    """How often an attacker told the data from its neighbour, in as many games as are quick; a slow
    model is not attacked here."""
    if scenario.cost > 1.0:
        return None
    setting, whole = scenario.setting(data.secret), data.whole or data
    visits = scenario.visits(whole.rows)
    games = int(np.clip(AT_ONCE / visits, LEAST_GAMES, GAMES))
    key = ("exposure", whole.key, setting, scenario.epsilon, games)
    found: Exposure = desk.answers.get(
        key,
        lambda: success_rate(whole.table, setting, scenario.epsilon, games, seed=setting.seed),
    )
    return found


def one_fit(scenario: Scenario, data: Data) -> Fit:
    """The bold private fit as a value of its own, with its ledger."""
    setting = scenario.setting(data.secret)
    grid = fit_grid(
        setting.model,
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
