"""What is worked out behind a page: what a person looks at comes first."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, wait
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from app_pages import at_once, data_of

from app import compute, explore_scene, result_store
from app.explore_scene import lost, picture, scene_of
from app.result_store import (
    ALONE,
    AT_MOST,
    GIVES_WAY,
    LOOKED_AT,
    TOGETHER,
    Background,
    LRUCache,
    ResultStore,
    bytes_of_fits,
    precedence,
)
from app.scenario import Scenario, opening
from app.texts import explore as texts
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.evaluation.study import (
    BudgetGrid,
    References,
    Sweep,
    budget_grid,
    curves,
    fitted,
    references,
)
from dpcore.evaluation.yardstick import yardstick
from dpcore.figures.frames import greyed
from dpcore.figures.scene import Mark, Panel, Rule
from dpcore.wall.kernels.threads import one_thread

SOON = 20.0  # seconds
SMALL = Scenario(data="generated", made="200x2x2x1", components=2, iterations=1)


class Study:
    """Work that says when it begins, and goes on until it may end."""

    def __init__(self, may_end: threading.Event) -> None:
        self.begun, self.ended, self._may_end = threading.Event(), threading.Event(), may_end
        self.times = 0

    def __call__(self) -> None:
        self.times += 1
        self.begun.set()
        assert self._may_end.wait(SOON)
        self.ended.set()


@pytest.fixture
def begin() -> Iterator[Callable[[], Study]]:
    """Makes studies that hold on until the end of the test."""
    may_end = threading.Event()
    yield lambda: Study(may_end)
    may_end.set()


def test_a_page_in_view_goes_before_a_study_that_nobody_looks_at(
    begin: Callable[[], Study],
) -> None:
    """The visitor went from one page to another; the study of the first cannot be stopped."""
    background, store = Background(), ResultStore()
    left = [begin() for _ in range(AT_MOST - 1)]
    for key, study in enumerate(left):
        background.ask(store, key, study)
        assert study.begun.wait(SOON)
    seen = threading.Event()
    background.ask(store, "attack", seen.set)
    assert seen.wait(SOON)
    assert not any(study.ended.is_set() for study in left)


def test_what_has_not_begun_is_dropped_when_its_visitor_looks_elsewhere(
    begin: Callable[[], Study],
) -> None:
    background, store, may_end = Background(), ResultStore(), threading.Event()
    others = [Study(may_end) for _ in range(TOGETHER)]
    for place, study in enumerate(others):
        background.ask(store, place, study, f"other {place}")
    dropped, wanted = begin(), begin()
    background.ask(store, "dropped", dropped, "me")
    background.ask(store, "wanted", wanted, "me")
    assert not wanted.begun.is_set(), "as many as there is room for are looked at by others"
    assert "dropped" not in store.waiting
    may_end.set()
    assert wanted.begun.wait(SOON)
    assert not dropped.begun.is_set()


def test_many_visitors_are_a_crowd_until_they_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    background = Background()
    assert not any(background.crowded(f"visitor {k % ALONE}") for k in range(3 * ALONE))
    assert background.crowded("one more")
    with monkeypatch.context() as patch:
        patch.setattr(result_store, "is_closed", lambda visitor: visitor == "visitor 0")
        assert not background.crowded("one more")
    assert background.crowded("another")
    monkeypatch.setattr(result_store, "THERE", 0.0)
    assert not background.crowded("another")


@pytest.mark.parametrize(
    "look_elsewhere",
    [
        lambda background, store: background.ask(store, "second", lambda: None, "me"),
        lambda background, store: background.let_go("me"),
    ],
    ids=["something else is asked for", "the page works out something itself"],
)
def test_work_can_notice_that_nobody_looks_at_it(look_elsewhere: Any) -> None:
    background, store, noticed = Background(), ResultStore(), threading.Event()
    begun, left = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert left.wait(SOON)
        if "first" not in store.waiting:
            noticed.set()

    background.ask(store, "first", work, "me")
    assert begun.wait(SOON)
    background.let_go("somebody else")
    assert "first" in store.waiting
    look_elsewhere(background, store)
    left.set()
    assert noticed.wait(SOON)


def test_visitors_do_not_drop_each_others_work() -> None:
    """Two tabs ask in turn for their own, on the store that they share: each is done once."""
    background, store, may_end = Background(), ResultStore(), threading.Event()
    tabs = {who: Study(may_end) for who in ("one", "two")}
    for _ in range(10):
        for who, study in tabs.items():
            background.ask(store, who, study, who)
    assert set(store.waiting) == set(tabs)
    may_end.set()
    assert all(study.ended.wait(SOON) for study in tabs.values())
    assert [study.times for study in tabs.values()] == [1, 1]


def test_a_closed_tab_is_looked_at_no_longer(
    begin: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    background, store, now = Background(), ResultStore(), [0.0]
    monkeypatch.setattr(result_store, "monotonic", lambda: now[0])
    for tab in range(TOGETHER):
        background.ask(store, tab, begin(), f"tab {tab}")
    now[0] += 2 * result_store.LOOKED_AT
    seen = threading.Event()
    background.ask(store, "mine", seen.set, "me")
    assert seen.wait(SOON)
    assert set(store.waiting) <= {"mine"}


def test_nothing_goes_on_for_a_closed_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though nobody asks for anything else."""
    background, store, noticed = Background(), ResultStore(), threading.Event()
    open_pages = {"me"}
    monkeypatch.setattr(result_store, "CLOSED_AT", 0.01)
    monkeypatch.setattr(result_store, "is_closed", lambda visitor: visitor not in open_pages)

    def study() -> None:
        while "study" in store.waiting:
            time.sleep(0.01)
        noticed.set()

    background.ask(store, "study", study, "me")
    assert not noticed.wait(0.1)
    open_pages.clear()
    assert noticed.wait(SOON)


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_worked_out_for_a_session_goes_with_it(*, fails: bool) -> None:
    """Though nobody asks for anything else: the rows of an upload are among it."""

    def work(rows: Any) -> None:
        if fails:
            raise ValueError(len(rows))

    background, store = Background(), ResultStore()
    rows = np.zeros(3)
    held = weakref.ref(rows), weakref.ref(store)
    background.ask(store, "study", partial(work, rows), "me")
    while background.at_work():
        time.sleep(0.01)
    del store, rows
    deadline = time.monotonic() + SOON
    while any(one() is not None for one in held) and time.monotonic() < deadline:
        time.sleep(0.01)
        gc.collect()
    assert all(one() is None for one in held)
    assert background.pause(0.3) == 0.3


def test_the_more_visitors_wait_the_more_seldom_each_looks_but_none_is_forgotten(
    begin: Callable[[], Study],
) -> None:
    background, store, study = Background(), ResultStore(), begin()
    assert background.pause(0.3) == 0.3
    for visitor in range(40):
        background.ask(store, "study", study, str(visitor))
    assert 1.0 < background.pause(0.3) < LOOKED_AT
    for visitor in range(1000):
        background.ask(store, "study", study, str(visitor))
    assert background.pause(0.3) < LOOKED_AT


def test_who_comes_back_finds_the_work_that_went_on(begin: Callable[[], Study]) -> None:
    background, store, study, again = Background(), ResultStore(), begin(), begin()
    background.ask(store, "first", study)
    background.ask(store, "second", begin())
    background.ask(store, "first", again)
    assert study.begun.wait(SOON)
    assert not again.begun.is_set()
    assert "first" in store.waiting
    assert "second" not in store.waiting


def test_a_failure_is_raised_once_and_then_tried_again() -> None:
    background, store, done = Background(), ResultStore(), threading.Event()

    def fail() -> None:
        raise ValueError("no")

    background.ask(store, "key", fail)
    wait(store.waiting.values(), SOON)
    with pytest.raises(ValueError, match="no"):
        background.ask(store, "key", fail)
    background.ask(store, "key", done.set)
    assert done.wait(SOON)


@pytest.mark.merge
def test_a_study_that_nobody_looks_at_ends_between_its_parts_and_goes_on_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario, store, parts = Scenario(), ResultStore(), list[tuple[int, int]]()
    data = data_of(scenario)

    def left_after_three(*asked: Any) -> BudgetGrid:
        parts.append((len(asked[3]), len(asked[4])))
        if len(parts) == 3:
            store.waiting.clear()
        return budget_grid(*asked)

    monkeypatch.setattr(compute, "AT_ONCE", 0)
    monkeypatch.setattr(compute, "SOON", -1.0)  # the current fit comes alone
    monkeypatch.setattr(compute, "kept_study", lambda *_: None)  # all is worked out
    monkeypatch.setattr(compute, "budget_grid", left_after_three)
    monkeypatch.setattr(compute, "in_background", at_once)
    judge = type(yardstick(scenario.model))
    monkeypatch.setattr(judge, "marks", lambda _self, _grid: ((1.0, "found from here"),))
    seen = compute.study(scenario, data, store)
    every = len(scenario.budgets(data.rows))
    assert parts == [(1, 1), (5, 1), (4, 1)], "five more stops over the whole range, then nine"
    fitted = [e for e, no in zip(seen.grid.epsilons, seen.grid.refusals, strict=True) if not no]
    assert fitted == [scenario.epsilon]
    said = scene_of(scenario, data, seen, len(scenario.budgets(data.rows)))
    for words, epsilon in zip(said.live_text["sentence"], seen.grid.epsilons, strict=True):
        assert (words == texts.COMING) is (epsilon != scenario.epsilon)
    _, private, curve = said.panels
    assert texts.COMING in private.alt[0], "nor that there is no fit"
    assert set(curve.subtitle) == {texts.COMPARING}, "no verdict on budgets not yet fitted"
    assert not any(isinstance(layer, Mark) for layer in curve.layers), "smaller budgets may do"
    assert compute.more_of(seen, scenario, data, store)
    assert parts[3:] == [(8, 1), (16, 1), (every - 34, 1), (every, 4), (every, 4), (every, 4)]
    whole = compute.study(scenario, data, store)
    assert whole.complete
    assert np.isfinite(whole.grid.utility).all()
    _, private, curve = scene_of(scenario, data, whole, every).panels
    assert private.nearest == ()
    assert any(isinstance(layer, Mark) for layer in curve.layers)
    at = seen.grid.epsilons.index(scenario.epsilon)
    assert whole.grid.utility[at, 0] == pytest.approx(seen.grid.utility[at, 0], rel=1e-9)
    assert seen.grid.guarantees[at] is not None


@pytest.mark.parametrize("count", [1, 3, 7, 13, 19, 21, 53])
def test_stops_are_worked_out_from_coarse_to_fine(count: int) -> None:
    rounds = compute.coarse_to_fine(range(count))
    assert sorted(place for some in rounds for place in some) == list(range(count))
    assert {0, count - 1} <= set(rounds[0])
    assert len(rounds[0]) == min(count, 5)
    for far, near in pairwise(np.maximum.accumulate([len(some) for some in rounds])):
        assert near >= far


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What a page leaves to be worked out behind it; its current fit comes alone."""
    left: list[Callable[[], None]] = []

    def keep(store: ResultStore, key: Hashable, work: Callable[[], None]) -> None:
        store.waiting[key] = Future()
        left.append(work)

    monkeypatch.setattr(compute, "AT_ONCE", 0)
    monkeypatch.setattr(compute, "kept_study", lambda *_: None)  # all is worked out
    monkeypatch.setattr(compute, "DRAWS", 2)
    monkeypatch.setattr(compute, "SOON", -1.0)
    monkeypatch.setattr(compute, "in_background", keep)
    return left


def test_a_hand_meets_the_nearest_fit_under_its_own_label_and_then_the_one_it_is_on(
    behind: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page opens, and the slider is dragged before anything is worked out behind it."""
    data, store = data_of(SMALL), ResultStore()

    def private(found: compute.Study) -> Panel:
        return scene_of(SMALL, data, found, len(found.grid.stops)).panels[1]

    first = compute.study(SMALL, data, store)
    here, there = (first.grid.stops.index(epsilon) for epsilon in (1.0, 0.28))
    opened = private(first)
    assert set(opened.nearest) == {here}, "no stop is empty"
    assert opened.subtitle[there] == greyed("ε", "1.00")
    assert opened.subtitle[here].startswith("hides each person")
    assert opened.alt[there].count("Private fit at epsilon 1.00.") == 1

    held = compute.study(SMALL, data, store, wanted=0.28)
    assert compute.more_of(first, SMALL, data, store)
    assert private(held).nearest[there] == there
    assert {private(held).nearest[i] for i in range(there)} == {there}
    alone = fitted(data.table, SMALL.setting(), [SMALL.setting().request(0.28)], (0,))
    assert held.grid.guarantees[there] == alone.guarantee(0)

    monkeypatch.setattr(compute, "IN_HAND", 0)  # of a slow model it comes next
    slow = compute.study(SMALL, data, store, wanted=4.0)
    at = slow.grid.stops.index(4.0)
    assert 4.0 in compute.coming(slow.grid)
    store.waiting.clear()  # the page closes after the next part
    behind[-1]()
    next_one = compute.study(SMALL, data, store)
    assert len(compute.coming(slow.grid)) - len(compute.coming(next_one.grid)) == 1
    assert private(next_one).nearest[at] == at


def test_a_page_begins_with_the_exact_fit_and_its_other_references_follow_the_first_stops(
    behind: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the private fits nor the other references differ from those of a page that waits."""
    data, store, order = data_of(SMALL), ResultStore(), list[str]()

    def stops_of(*terms: Any) -> BudgetGrid:
        order.extend(["stop"] * len(terms[3]))
        return budget_grid(*terms)

    def references_of(*terms: Any) -> References:
        order.append("references")
        return references(*terms)

    monkeypatch.setattr(compute, "budget_grid", stops_of)
    monkeypatch.setattr(compute, "references", references_of)
    first = compute.study(SMALL, data, store, early=True)
    assert order == ["stop"], "the current fit waits for the exact one alone"
    assert not first.references.complete
    assert first.references.converged_utility > first.references.bounds_utility
    curve = scene_of(SMALL, data, first, len(first.grid.stops)).panels[-1]
    assert not any(isinstance(layer, Rule) and np.isnan(layer.y) for layer in curve.layers)
    losses = lost(first)
    assert {*losses["lost steps"], *losses["lost noise"]} == {"–"}
    assert not any(texts.READ_ONCE in note for note in losses["lost note"]), "nor is that known"
    assert not compute.more_of(first, SMALL, data, store)

    behind[0]()
    assert compute.FIRST <= order.index("references") < order.count("stop")
    assert compute.more_of(first, SMALL, data, store)
    now = compute.study(SMALL, data, store, early=True)
    assert now.complete
    alone = references(data.table, SMALL.setting(), now.references.converged, data.held_out)
    assert now.references == alone
    assert first.references.converged_utility == alone.converged_utility


def test_of_studies_that_take_much_memory_the_last_few_are_held() -> None:
    """Of 100 columns and ten groups, each takes 270 MB, and 24 of them were held."""

    @dataclass
    class Fits:
        means: Array

    study = compute.study(SMALL, data_of(SMALL), ResultStore()).grid
    for megabytes, left in ((1, 12), (100, 5), (300, 4)):
        large = replace(study, fits=Fits(np.empty(megabytes << 17)))
        for value in (large, Sweep(large, (), np.empty(0))):
            cached = LRUCache[Any](24)
            for key in range(12):
                cached.get(key, partial(copy, value))
            held = [key for key in range(12) if cached.peek(key) is not None]
            assert held == list(range(12))[-left:]


def test_of_fits_that_fill_the_memory_there_are_fewer_draws_or_none(
    behind: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study of 1,000 columns took 3.9 GB before it was whole."""
    data, store = data_of(SMALL), ResultStore()
    best = compute.converged_of(SMALL.setting(), data, store)
    all_budgets = len(SMALL.budgets(data.rows)) * bytes_of_fits(best)
    monkeypatch.setattr(compute, "DRAWS", 13)
    monkeypatch.setattr(compute, "ROOM", 3 * all_budgets)
    compute.study(SMALL, data, store)
    behind[0]()
    done = compute.study(SMALL, data, store)
    assert done.complete
    assert done.grid.utility.shape[1] == 3
    monkeypatch.setattr(compute, "ROOM", all_budgets // 2)
    assert compute.affordable(13, best, len(SMALL.budgets(data.rows))) == 1
    monkeypatch.setattr(compute, "MOST_ROOM", all_budgets - 1)
    with pytest.raises(InputError, match="take too much memory"):
        compute.study(SMALL, data, ResultStore())


@pytest.mark.parametrize(
    "scenario",
    [
        replace(opening("lit_windows"), iterations=1, components=2, noise=4242),
        replace(opening("few_bars"), iterations=2, components=3, noise=4242),
    ],
    ids=["pixels", "documents"],
)
def test_the_first_stops_come_with_a_current_fit_that_is_soon_there(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is the fit of its budget alone, to the last bit, and none keeps a hand waiting."""
    data, store = data_of(scenario), ResultStore()
    monkeypatch.setattr(compute, "AT_ONCE", 0)
    monkeypatch.setattr(compute, "kept_study", lambda *_: None)  # all is worked out
    monkeypatch.setattr(compute, "in_background", lambda *_: None)
    monkeypatch.setattr(compute, "SOON", 60.0)

    def there(**how: Any) -> set[float]:
        fresh = ResultStore(references=store.references, tables=store.tables)
        grid = compute.study(scenario, data, fresh, early=True, **how).grid
        return {*grid.stops} - {*compute.coming(grid)}

    first, current = compute.coarse_to_fine(scenario.budgets(data.rows))[0], scenario.epsilon
    assert there() == {*first, current}
    assert there(ask=False) == {current}, "another picture is looked at"
    assert there(wanted=first[0]) <= {first[0], current}
    grid, setting = compute.study(scenario, data, store).grid, scenario.setting(data.secret)
    best = compute.converged_of(setting, data, store)
    for at, stop in enumerate(grid.stops):
        if stop in first:
            alone = budget_grid(data.table, setting, best, (stop,), (0,), data.held_out)
            assert (grid.noise[at], *grid.utility[at]) == (alone.noise[0], *alone.utility[0])
            for name, array in vars(alone.fits).items():
                np.testing.assert_array_equal(vars(grid.fits)[name][at], array[0])
    monkeypatch.setattr(compute, "SOON", -1.0)
    assert there() == {current}, "a fit that took longer is shown alone"


def test_a_picture_that_is_drawn_anew_asks_for_no_chance_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where each step reads a sample, the chance of one stop takes as long as a small picture."""
    data, counted = data_of(SMALL), list[Any]()
    rate = explore_scene.guess_rate
    monkeypatch.setattr(explore_scene, "guess_rate", lambda e: counted.append(e) or rate(e))
    explore_scene._guess_rate.cache_clear()
    whole = compute.study(SMALL, data, ResultStore())
    for _ in range(2):
        scene_of(SMALL, data, whole, len(whole.grid.stops))
    assert len(counted) == len({ledger.events for ledger in whole.grid.ledgers if ledger})


def test_stops_that_come_soon_are_shown_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each new picture holds up the fits; a hand, or who waits for long, sees every stop."""
    monkeypatch.setattr(compute, "AT_ONCE", 0)
    monkeypatch.setattr(compute, "kept_study", lambda *_: None)  # all is worked out
    data, store = data_of(SMALL), ResultStore()
    shown = compute.study(SMALL, data, store, ask=False, early=True)
    every = len(shown.grid.stops)
    few = shown.grid.taken(range(7)).among(shown.grid.stops[:7], texts.COMING)
    left = replace(few, refusals=(None, *[texts.COMING] * 6))
    assert compute.stops_together(replace(shown, grid=left)) == compute.FIRST - 1
    assert compute.stops_together(shown) == (every - 1) // 4
    best, more = shown.references.converged, tuple(compute.coming(shown.grid)[:2])
    part = budget_grid(data.table, SMALL.setting(), best, more, (0,), data.held_out)
    compute._with_bold(part, SMALL, data, store)
    monkeypatch.setattr(compute, "in_background", lambda *_: None)
    assert compute.more_of(shown, SMALL, data, store)
    assert compute.more_of(shown, SMALL, data, store, together=2)
    assert not compute.more_of(shown, SMALL, data, store, together=3)


@pytest.mark.merge
def test_curves_that_are_shown_together_are_of_the_same_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fits of the chosen way of counting are its curve, part by part as the study grows."""
    scenario, store, seen = Scenario(), ResultStore(), list[compute.Study]()
    data = data_of(scenario)

    def look() -> None:
        seen.append(compute.study(scenario, data, store))

    def looked_at(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*asked: Any) -> Any:
            look()  # the page, while this part is being worked out
            return make(*asked)

        return made

    def one_job(store: ResultStore, key: Hashable, work: Callable[[], None]) -> None:
        if key not in store.waiting:
            store.waiting[key] = Future()
            monkeypatch.setattr(compute, "budget_grid", looked_at(budget_grid))
            work()

    monkeypatch.setattr(compute, "AT_ONCE", 0)
    monkeypatch.setattr(compute, "kept_study", lambda *_: None)  # all is worked out
    monkeypatch.setattr(compute, "curves", looked_at(curves))
    monkeypatch.setattr(compute, "in_background", one_job)
    look()
    look()
    assert seen[-1].complete
    assert {one.grid.utility.shape[1] for one in seen} == {1, 5, compute.DRAWS}
    compared = [one for one in seen if one.curves is not None]
    assert len(compared) < len(seen)
    for one in compared:
        middle = np.median(one.grid.utility, axis=1)
        np.testing.assert_allclose(one.curves.methods[scenario.count_by], middle, rtol=1e-12)
    draws = [one.grid.utility.shape[1] for one in compared]
    assert draws == sorted(draws), "what was compared stays until more of it is"


def test_every_way_of_counting_has_a_study_of_its_own() -> None:
    """One store after the other: what is drawn for one way is not shown for the next."""
    store, noise = ResultStore(), set[float]()
    for counted in ("exact", "zcdp"):
        scenario = Scenario(count_by=counted, iterations=1, components=1)
        data = data_of(scenario)
        grid = compute.study(scenario, data, store).grid
        promises = [guarantee for guarantee in grid.guarantees if guarantee is not None]
        assert {one.proof.accountant for one in promises if one.proof} == {counted}
        noise.add(float(grid.noise[-1]))
    assert len(noise) == 2


def test_nothing_more_of_a_study_is_worked_out_where_something_else_goes_first() -> None:
    scenario = replace(opening("iris"), noise=4242, dial="clip", clip=0.7)
    data, store = data_of(scenario), ResultStore()
    first = compute.study(scenario, data, store, ask=False)
    assert not first.complete
    assert not store.waiting
    compute.study(scenario, data, store)
    assert store.waiting


def test_further_draws_reach_the_picture() -> None:
    scenario = Scenario(noise=4242, iterations=1, components=1)
    data = data_of(scenario)
    whole = compute.study(scenario, data, ResultStore())
    setting, exact = scenario.setting(), whole.references.converged
    budgets = scenario.budgets(data.rows)
    few = budget_grid(data.table, setting, exact, budgets, range(2))
    subtitles = [
        "".join(str(panel.subtitle) for panel in picture(scenario, data, found).panels)
        for found in (replace(whole, grid=few), whole)
    ]
    assert "faint: 1 other draws" in subtitles[0]
    assert f"faint: {compute.DRAWS - 1} other draws" in subtitles[1]


@pytest.mark.parametrize(
    "scenario",
    [
        opening("digits", "ppca"),
        replace(opening("five_parties"), method="mte"),
        replace(opening("iris", "kmeans"), noise=4242),
        replace(opening("iris"), noise=4242, dial="clip", clip=0.7),
    ],
    ids=["64 columns", "a slow method", "cells that are clustered", "a hand on clipping"],
)
def test_few_rows_can_take_long_and_then_show_their_first_fit_before_the_others(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matrices of columns against each other do, and a semidefinite program for each fit, and a
    clustering of released cells."""
    data, behind = data_of(scenario), list[Any]()
    monkeypatch.setattr(compute, "in_background", lambda *job: behind.append(job))
    monkeypatch.setattr(compute, "SOON", -1.0)  # as of one that takes longer
    first = compute.study(scenario, data, ResultStore())
    assert len(behind) == 1
    assert not first.complete
    assert len(first.grid.stops) - len(compute.coming(first.grid)) == 1


def _in_steps(steps: int, ended: threading.Event) -> Callable[[], None]:
    """Work of so many steps, between which it may pause."""

    def work() -> None:
        for _ in range(steps):
            with one_thread():
                time.sleep(0.001)
        ended.set()

    return work


def test_work_behind_the_pages_waits_while_one_runs() -> None:
    background, store, ended = Background(), ResultStore(), threading.Event()
    with precedence.page():
        begun = time.monotonic()
        background.ask(store, "study", _in_steps(3, ended))
        assert not ended.wait(0.5 * GIVES_WAY)
    assert ended.wait(SOON), "it goes on once the page has run"
    with precedence.page():  # somebody's, all the time
        background.ask(store, "other", _in_steps(3, ended := threading.Event()))
        assert ended.wait(SOON), "it does not wait for ever"
    assert time.monotonic() - begun > GIVES_WAY


def test_a_page_that_waits_for_work_behind_it_does_not_stand_in_its_way() -> None:
    background, store = Background(), ResultStore()
    making, made = threading.Event(), threading.Event()

    def make() -> str:
        making.set()
        _in_steps(3, made)()
        return "made"

    def ask() -> None:
        store.answers.get("same", make)

    with precedence.page():
        background.ask(store, "same", ask)
        assert making.wait(SOON)
        begun = time.monotonic()
        assert store.answers.get("same", lambda: "by the page") == "made"
        assert time.monotonic() - begun < 0.8 * GIVES_WAY


def test_work_that_nobody_looks_at_any_more_waits_for_what_somebody_looks_at(
    begin: Callable[[], Study],
) -> None:
    background, store, looked_at = Background(), ResultStore(), begin()
    steps, last = list[float](), threading.Event()

    def left() -> None:
        while not last.is_set():
            with one_thread():
                steps.append(time.monotonic())
                time.sleep(0.001)

    background.ask(store, "left", left, "me")
    background.ask(store, "looked at", looked_at, "me")
    assert looked_at.begun.wait(SOON)
    time.sleep(0.05)
    before = len(steps)
    time.sleep(0.5 * GIVES_WAY)
    assert len(steps) <= before + 1, "it waits"
    time.sleep(GIVES_WAY)
    assert len(steps) > before + 1, "but goes on for as long as it has waited"
    last.set()
