"""From what Compose asks to prices and pictures: closed forms at once, the others one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from app.composed import stored, stored_pictures
from app.composing import Composition
from app.result_store import ResultStore, common, in_background
from app.texts import compose as texts
from dpcore.accounting import ACCOUNTANTS
from dpcore.accounting.gaussian import all_gaussian
from dpcore.errors import NotCovered
from dpcore.evaluation.composition import (
    CLOSED,
    COUNTS,
    PICTURES,
    SLOW,
    Crossover,
    Picture,
    Prices,
    Row,
    amplification_of,
    check_lawful,
    crossover,
    joined,
    moments_of,
    nothing_yet,
    one_row,
    orders_of,
    picture_of,
    price_list,
    slow_slots,
    ways,
)
from dpcore.privacy import Event

COARSE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
NESTED = frozenset({"basic", "advanced"})  # a search within a search finds their noise for a budget


@dataclass
class Task:
    """One answer for the background: ``make`` it and put it into a cache; lower ranks first."""

    rank: float
    results: dict[Hashable, Any]
    item: Hashable
    make: Callable[[], Any]


@dataclass(frozen=True)
class Priced:
    """What is known so far about a list of releases: its prices, and the picture asked for.

    turn: where advanced counting becomes cheaper than adding.
    rows: the answers of all methods, where they were asked for. left: how many answers are missing.
    refusal: why the picture asked for cannot be drawn at the current count, if so. undrawn: the
    counts at which it cannot. pinned: the pinned lists' prices by their names, each at its own
    count.
    """

    prices: Prices
    turn: Crossover
    picture: Picture | Prices | None
    rows: tuple[Row, ...]
    left: int
    refusal: str = ""
    undrawn: frozenset[int] = frozenset()
    pinned: Mapping[str, Prices] = field(default_factory=dict)


def priced(composition: Composition, *, all_methods: bool = False) -> Priced:
    """Prices and picture of the list for every count of the slider, and the current one.

    Closed forms are there at once; what takes longer comes from the background: the current count
    first, then all methods if they are asked for, then the other counts, the nearest first.
    """
    store, tasks = common(), list[Task]()
    prices = _prices(store, composition, _target(composition), tasks)
    lone = composition.without_k()
    turn = store.answers.get(
        ("turn", lone), lambda: crossover(composition.events, composition.delta)
    )
    picture: Picture | Prices | None
    refusal, undrawn = "", frozenset[int]()
    if composition.hold == "noise" and composition.show == "noise":
        picture = _prices(store, composition, composition.epsilon, tasks)
    else:
        try:
            picture, undrawn = _picture(store, composition, prices.counts, tasks)
        except NotCovered as error:
            picture, refusal = None, str(error)
    if composition.k in undrawn:
        refusal = texts.no_picture(composition.k)
    rows = _rows(store, composition, tasks) if all_methods else ()
    pinned = {
        name: _prices(store, other, _target(other), tasks, (other.k,)).only(other.k)
        for name, other in composition.pinned.items()
    }
    if tasks:
        tasks.sort(key=lambda task: task.rank)
        key = ("compose", composition, all_methods)
        in_background(store, key, lambda: _work_off(store, key, tasks))
    return Priced(prices, turn, picture, rows, len(tasks), refusal, undrawn, pinned)


def _target(composition: Composition) -> float | None:
    """The budget, where it is held."""
    return composition.epsilon if composition.hold == "budget" else None


def more_of(shown: Priced, composition: Composition, *, all_methods: bool) -> bool:
    """Whether so much more of an answer is there than was seen that it is worth drawing."""
    now = priced(composition, all_methods=all_methods)
    enough = now.left <= 0.85 * shown.left or shown.left - now.left >= 8
    return enough or len(now.rows) > len(shown.rows) or not now.left


def _work_off(store: ResultStore, key: Hashable, tasks: list[Task]) -> None:
    """One task after the other, until somebody asks for something else."""
    for done, task in enumerate(tasks):
        if done and key not in store.waiting:
            return
        if task.item not in task.results:
            task.results[task.item] = task.make()


def _results_of(store: ResultStore, key: Hashable) -> dict[Hashable, Any]:
    """The answers that are there for a question; more are added while they are worked out."""
    return store.answers.get(("results", key), lambda: {"": None})


def _prices(
    store: ResultStore,
    composition: Composition,
    target: float | None,
    tasks: list[Task],
    counts: Sequence[int] = (),
) -> Prices:
    """The five prices, or with a target epsilon the noise each way needs for it.

    counts: those at which slow answers are wanted [all of the slider].
    """
    events, delta = composition.events, composition.delta
    slow = slow_of(composition, target)
    slots = {way.slot for way in ways(events, composition.methods)}
    key = ("prices", composition.without_k(), target)

    def closed() -> Prices:
        return price_list(
            events, delta, epsilon=target, only=slots - slow, methods=composition.methods
        )

    prices = store.answers.get(key, closed).at(composition.k)
    results = _results_of(store, key)
    results |= stored(composition, target)

    def price(count: int, slot: str) -> Prices:
        return price_list(
            events, delta, (count,), epsilon=target, only={slot}, methods=composition.methods
        )

    missing = set()
    wanted = counts or (composition.k, *counts_of(composition, target))
    for count, slot in itertools.product(dict.fromkeys(wanted), slow):
        if (count, slot) in results:
            continue
        if count == composition.k and slow <= NESTED:  # a single one is quick
            results[count, slot] = price(count, slot)
            continue
        missing.add(slot)
        rank = _distance(count, composition.k)
        tasks.append(Task(rank, results, (count, slot), partial(price, count, slot)))
    return _filled(prices, results, slow, frozenset(missing))


def _distance(count: int, current: int) -> float:
    """How late a count is worked out: the current one first."""
    return 0.0 if count == current else 2.0 + abs(float(np.log(count / current)))


def slow_of(composition: Composition, target: float | None) -> frozenset[str]:
    """Slots to be worked out in the background: solving for noise asks a method many times."""
    events, methods = composition.events, composition.methods
    slow = slow_slots(events, methods)
    if target is None:
        return slow
    solved = frozenset(way.slot for way in ways(events, methods) if way.method is not None)
    return solved if _sampled(composition) else slow or solved & NESTED


def counts_of(composition: Composition, target: float | None) -> tuple[int, ...]:
    """The counts at which slow answers are computed."""
    slow = slow_slots(composition.events, composition.methods)
    return COARSE if target is not None and (slow or _sampled(composition)) else COUNTS


def _sampled(composition: Composition) -> bool:
    return any(event.sampling != "none" for event in composition.events)


def _filled(
    prices: Prices, results: dict[Hashable, Any], slow: frozenset[str], missing: frozenset[str]
) -> Prices:
    """The prices with those answers in them that are there."""

    def filled(name: str) -> dict[str, np.ndarray[Any, Any]]:
        columns = {slot: column.copy() for slot, column in getattr(prices, name).items()}
        for i, count in enumerate(prices.counts):
            for slot in slow:
                if (count, slot) in results:
                    columns[slot][i] = getattr(results[count, slot], name)[slot][0]
        return columns

    return replace(prices, values=filled("values"), lowers=filled("lowers"), waiting=missing)


def _picture(
    store: ResultStore, composition: Composition, counts: tuple[int, ...], tasks: list[Task]
) -> tuple[Picture | None, frozenset[int]]:
    """The picture asked for at every count, with gaps where it is still worked out; and the counts
    at which it cannot be drawn."""
    name, events, none = composition.show, composition.events, frozenset[int]()
    if name not in PICTURES or composition.hold == "budget":
        return None, none
    if name in CLOSED:
        makers: dict[str, Callable[[], Picture]] = {
            "moments": lambda: moments_of(events, counts),
            "orders": lambda: orders_of(events, counts, composition.delta),
            "amplification": lambda: amplification_of(events, counts, composition.delta),
        }
        return store.answers.get((name, events, composition.delta, counts), makers[name]), none
    methods = composition.methods if name == "profile" else ()
    key = ("picture", name, events, methods)
    if all_gaussian(events):
        make_all = partial(picture_of, name, events, counts, methods)
        return store.answers.get((key, counts), make_all), none
    if name != "profile":
        check_lawful(events)
    results = _results_of(store, key)
    results |= stored_pictures(name, composition)
    for count in counts:
        if count not in results:
            rank = _distance(count, composition.k)
            tasks.append(
                Task(rank, results, count, lambda k=count: _drawn(name, events, k, methods))  # type: ignore[misc]
            )
    blank = nothing_yet(name, [way.slot for way in ways(events, methods)])
    undrawn = frozenset(k for k in counts if isinstance(results.get(k), NotCovered))
    parts = [blank if k in undrawn else results.get(k, blank) for k in counts]
    return joined(parts), undrawn


def _drawn(
    name: str, events: tuple[Event, ...], count: int, methods: tuple[str, ...]
) -> Picture | NotCovered:
    """The picture of one count; the refusal where no lattice holds its law of losses."""
    try:
        return picture_of(name, events, (count,), methods)
    except NotCovered as refusal:
        return refusal


def _rows(store: ResultStore, composition: Composition, tasks: list[Task]) -> tuple[Row, ...]:
    """The answers of all registered methods that are known."""
    events = composition.events
    results = _results_of(store, ("rows", composition.without_k(), composition.k))
    delta, k = composition.delta, composition.k
    for name in ACCOUNTANTS:
        if name in results:
            continue
        if name not in SLOW or all_gaussian(events):
            results[name] = one_row(name, events, delta, k)
        else:
            tasks.append(
                Task(1.0, results, name, lambda n=name: one_row(n, events, delta, k))  # type: ignore[misc]
            )
    answered = [results[name] for name in ACCOUNTANTS if name in results]
    return tuple(sorted(answered, key=lambda row: row.bound is None))
