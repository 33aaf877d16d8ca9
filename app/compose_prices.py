"""From what Compose asks to prices and pictures: closed forms at once, the others one by one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.composed import stored
from app.composing import Composition
from app.result_store import ResultStore, common, in_background
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

COARSE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


@dataclass
class Task:
    """One answer for the background: ``make`` it and put it into a cache; lower ranks first."""

    rank: float
    found: dict[Hashable, Any]
    item: Hashable
    make: Callable[[], Any]


@dataclass(frozen=True)
class Priced:
    """What is known so far about a list of releases: its prices, and the picture asked for.

    turn: where advanced counting becomes cheaper than adding.
    rows: the answers of all methods, where they were asked for. left: how many answers are missing.
    refusal: why the picture asked for cannot be drawn, if so. pinned: the pinned lists' prices by
    their names, each at its own count.
    """

    prices: Prices
    turn: Crossover
    picture: Picture | Prices | None
    rows: tuple[Row, ...]
    left: int
    refusal: str = ""
    pinned: Mapping[str, Prices] = field(default_factory=dict)


def priced(asked: Composition, *, all_methods: bool = False) -> Priced:
    """Prices and picture of the list for every count of the slider, and the current one.

    Closed forms are there at once; what takes longer comes from the background: the current count
    first, then all methods if they are asked for, then the other counts, the nearest first.
    """
    store, tasks = common(), list[Task]()
    prices = _prices(store, asked, _target(asked), tasks)
    lone = asked.without_k()
    turn = store.answers.get(("turn", lone), lambda: crossover(asked.events, asked.delta))
    picture: Picture | Prices | None
    refusal = ""
    if asked.hold == "noise" and asked.show == "noise":
        picture = _prices(store, asked, asked.epsilon, tasks)
    else:
        try:
            picture = _picture(store, asked, prices.counts, tasks)
        except NotCovered as error:
            picture, refusal = None, str(error)
    rows = _rows(store, asked, tasks) if all_methods else ()
    pinned = {
        name: _prices(store, one, _target(one), tasks, (one.k,)).only(one.k)
        for name, one in asked.pinned.items()
    }
    if tasks:
        tasks.sort(key=lambda task: task.rank)
        key = ("compose", asked, all_methods)
        in_background(store, key, lambda: _work_off(store, key, tasks))
    return Priced(prices, turn, picture, rows, len(tasks), refusal, pinned)


def _target(asked: Composition) -> float | None:
    """The budget, where it is held."""
    return asked.epsilon if asked.hold == "budget" else None


def more_of(seen: Priced, asked: Composition, *, all_methods: bool) -> bool:
    """Whether so much more of an answer is there than was seen that it is worth drawing."""
    now = priced(asked, all_methods=all_methods)
    enough = now.left <= 0.85 * seen.left or seen.left - now.left >= 8
    return enough or len(now.rows) > len(seen.rows) or not now.left


def _work_off(store: ResultStore, key: Hashable, tasks: list[Task]) -> None:
    """One task after the other, until somebody asks for something else."""
    for done, task in enumerate(tasks):
        if done and key not in store.waiting:
            return
        if task.item not in task.found:
            task.found[task.item] = task.make()


def _found(store: ResultStore, key: Hashable) -> dict[Hashable, Any]:
    """The answers that are there for a question; more are added while they are worked out."""
    cached: dict[Hashable, Any] = store.answers.get(("found", key), lambda: {"": None})
    return cached


def _prices(
    store: ResultStore,
    asked: Composition,
    target: float | None,
    tasks: list[Task],
    counts: Sequence[int] = (),
) -> Prices:
    """The five prices, or with a target epsilon the noise each way needs for it.

    counts: those at which slow answers are wanted [all of the slider].
    """
    events, delta = asked.events, asked.delta
    slow = _slow(asked, target)
    slots = {way.slot for way in ways(events, asked.methods)}
    key = ("prices", asked.without_k(), target)

    def closed() -> Prices:
        return price_list(events, delta, epsilon=target, only=slots - slow, methods=asked.methods)

    prices: Prices = store.answers.get(key, closed).at(asked.k)
    found = _found(store, key)
    if target is None:
        found |= stored(asked)
    missing = set()
    wanted = counts or (asked.k, *(COUNTS if target is None else COARSE))
    for count in dict.fromkeys(wanted):
        for slot in slow:
            if (count, slot) not in found:
                missing.add(slot)
                tasks.append(
                    Task(
                        _distance(count, asked.k),
                        found,
                        (count, slot),
                        lambda k=count, s=slot: price_list(  # type: ignore[misc]
                            events, delta, (k,), epsilon=target, only={s}, methods=asked.methods
                        ),
                    )
                )
    return _filled(prices, found, slow, frozenset(missing))


def _distance(count: int, current: int) -> float:
    """How late a count is worked out: the current one first."""
    return 0.0 if count == current else 2.0 + abs(float(np.log(count / current)))


def _slow(asked: Composition, target: float | None) -> frozenset[str]:
    """Slots to be worked out in the background: solving for noise asks a method many times."""
    events, methods = asked.events, asked.methods
    sampled = any(event.sampling != "none" for event in events)
    if target is not None and sampled:
        return frozenset(way.slot for way in ways(events, methods) if way.method is not None)
    return slow_slots(events, methods)


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
    store: ResultStore, asked: Composition, counts: tuple[int, ...], tasks: list[Task]
) -> Picture | None:
    """The picture asked for at every count; gaps where it is still worked out."""
    name, events = asked.show, asked.events
    if name not in PICTURES or asked.hold == "budget":
        return None
    if name in CLOSED:
        make = {
            "moments": lambda: moments_of(events, counts),
            "orders": lambda: orders_of(events, counts, asked.delta),
            "amplification": lambda: amplification_of(events, counts, asked.delta),
        }[name]
        known: Picture = store.answers.get((name, events, asked.delta, counts), make)
        return known
    methods = asked.methods if name == "profile" else ()
    key = ("picture", name, events, methods)
    if all_gaussian(events):
        whole: Picture = store.answers.get(
            (key, counts), lambda: picture_of(name, events, counts, methods)
        )
        return whole
    if name != "profile":
        check_lawful(events)
    found = _found(store, key)
    for count in counts:
        if count not in found:
            rank = _distance(count, asked.k)
            tasks.append(
                Task(rank, found, count, lambda k=count: picture_of(name, events, (k,), methods))  # type: ignore[misc]
            )
    slots = [way.slot for way in ways(events, methods)]
    return joined([found.get(k) or nothing_yet(name, slots) for k in counts])


def _rows(store: ResultStore, asked: Composition, tasks: list[Task]) -> tuple[Row, ...]:
    """The answers of all registered methods that are known."""
    events = asked.events
    found = _found(store, ("rows", asked.without_k(), asked.k))
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
