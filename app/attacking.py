"""Behind the Attack page: attacks over a row of budgets, and the exhibits."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import Any

import numpy as np

from app.result_store import Data, ResultStore, in_background
from app.scenario import Scenario
from app.tables import demand_column
from app.texts import attack as texts
from dpcore.accounting import guess_rate
from dpcore.auditing.api import AUDITS
from dpcore.auditing.attack import Attack, Play, play, unplayed
from dpcore.auditing.exhibits import Exhibit, exhibits
from dpcore.auditing.fits import Pair
from dpcore.errors import InputError
from dpcore.evaluation.metrics import loneliest_row
from dpcore.figures.attack import attack_scene
from dpcore.figures.scene import Scene
from dpcore.privacy import EpsilonDelta, Event, Privacy
from dpcore.registry import EXHIBITS, load
from dpcore.schema import Column
from dpcore.schema.forms import day_of, days_of

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
MOST_RUNS, FEWEST_RUNS = 600, 60  # releases of each of the two tables
AT_ONCE = 4e8  # row visits that may be waited for
FARTHEST, CHOSEN, TYPED, WORST = "farthest", "row", "typed", "worst"
# What another paper than its file's prints.
ELSEWHERE = {"classic-gaussian": "Dwork 2014", "rank-one-noise": "Ji 2024"}
MOST_TYPED = 12  # columns that somebody may be asked to type
Cells = tuple[tuple[str, Any], ...]


def typed_columns(data: Data) -> tuple[Column, ...]:
    """The columns of somebody who is typed; none where they are too many, or documents."""
    if data.documents:
        return ()
    columns = tuple(
        column
        for column in data.schema.columns
        if column.role in ("feature", "label", "target") and (column.is_number or values_of(column))
    )
    return columns if len(columns) <= MOST_TYPED else ()


def values_of(column: Column) -> list[Any]:
    """The only values that a cell of a column may have, where they are listed."""
    return list(column.categories) or ([0, 1] if column.type == "binary" else [])


def first_cells(data: Data) -> dict[str, Any]:
    """Somebody in the middle of the public limits, with the first of all listed values."""
    middle = dict(zip(data.public.names, data.public.center.tolist(), strict=True))
    cells: dict[str, Any] = {}
    for column in typed_columns(data):
        values, fill = values_of(column), column.fill
        if values:
            cells[column.name] = values[0]
        else:
            cells[column.name] = middle.get(column.name) if fill is None else fill
    dates = {column.name for column in typed_columns(data) if column.type == "date"}
    return cells | {name: day_of(math.floor(cells[name])) for name in dates}


def typed_cells(cells: Mapping[str, Any]) -> Cells:
    """Cells that somebody typed, as a table holds them: dates as days."""
    return tuple(
        (name, float(days_of(cell)) if isinstance(cell, date) else cell)
        for name, cell in cells.items()
    )


def pair_of(
    scenario: Scenario, data: Data, whose: str, row: int, typed: Cells = ()
) -> tuple[Pair, dict[str, Any]]:
    """The two tables, and the options of the fits that are attacked.

    typed: cells of somebody new, who is added, or takes the first row's place. Raises InputError
    for somebody new where only parts of rows are protected, and for cells that cannot be.
    """
    setting = scenario.setting(data.secret)
    options = {**setting.options(), "clip": setting.clip}
    if whose == WORST:
        subject = load(AUDITS[scenario.model])
        return subject.tables(scenario.adjacency), {**options, **subject.options}
    demand_column(scenario, data)
    table = (data.whole or data).table
    if whose == TYPED:
        if scenario.adjacency not in ("add_remove", "replace_one"):
            raise InputError("adjacency", *texts.NO_WHOLE_ROW)
        place = 0 if scenario.adjacency == "replace_one" else None
        return Pair(table, table.with_row(dict(typed), place), "typed"), options
    position = loneliest_row(table) if whose == FARTHEST else row
    words = "replaced" if scenario.adjacency == "replace_one" else "gone"
    return Pair(table.neighbour(position, scenario.adjacency), table, words), options


@dataclass
class Game:
    """An attack that is being played: what is known before, and the budgets played so far.

    first: the place of the budget to play before the others; then those nearest to it.
    """

    model: str
    pair: Pair
    requests: tuple[Privacy, ...]
    runs: int
    seed: int
    options: dict[str, Any]
    before: Attack
    first: int = 0
    plays: dict[int, Play] = field(default_factory=dict)

    @property
    def attack(self) -> Attack:
        """The attack as far as it is played."""
        return self.before.with_plays(dict(self.plays))

    @property
    def missing(self) -> list[int]:
        """The budgets still to be played, the wanted one first."""
        left = (s for s in range(len(self.requests)) if s not in self.plays)
        return sorted(left, key=lambda s: abs(s - self.first))

    def play_on(self, wanted: Callable[[], bool]) -> None:
        """Play one budget after the other, until that is no longer wanted."""
        while left := self.missing:
            request = self.requests[left[0]]
            self.plays[left[0]] = play(
                self.model, self.pair, request, self.runs, seed=self.seed, **self.options
            )
            if not wanted():
                return


def demand_quick(scenario: Scenario) -> None:
    """Raise InputError for models whose hundreds of fits would take minutes."""
    if scenario.cost > 1.0:
        raise InputError("model", *texts.takes_long(scenario.model))


def game(
    scenario: Scenario,
    data: Data,
    store: ResultStore,
    whose: str,
    row: int,
    typed: Cells = (),
    *,
    first: int = 0,
) -> Game:
    """The attack on one row, as far as it is played; one for everything else than the budget.

    It goes on behind the page. Raises InputError for choices that cannot be fitted, and as
    :func:`demand_quick` does.
    """
    demand_quick(scenario)
    fixed = replace(scenario, epsilon=1.0, noise=0, metric="", show="", x=0, y=1, hide="", pins="")
    key: Hashable = ("attack", data.key, fixed, whose, row, typed)
    running = store.answers.get(key, lambda: _begun(scenario, data, whose, row, typed))
    running.first = first
    if running.missing:
        in_background(store, key, lambda: running.play_on(lambda: key in store.waiting))
    return running


def _begun(scenario: Scenario, data: Data, whose: str, row: int, typed: Cells) -> Game:
    """The attack before the first budget is played."""
    pair, options = pair_of(scenario, data, whose, row, typed)
    setting = scenario.setting(data.secret)
    rows = 100 if whose == WORST else data.rows or 10_000
    visits = 4.0 * rows * scenario.iterations * scenario.components * len(EPSILONS)
    runs = int(np.clip(AT_ONCE / visits, FEWEST_RUNS, MOST_RUNS))
    requests = tuple(setting.request(epsilon) for epsilon in EPSILONS)
    before = unplayed(scenario.model, pair, requests, runs, **options)
    return Game(scenario.model, pair, requests, runs, scenario.noise, options, before)


def scene(game: Game, scenario: Scenario, data: Data) -> Scene:
    """The picture as far as the game is played, with its sentence for every budget."""
    attack = game.attack
    who, other = (words.format(data.unit) for words in texts.APART[scenario.adjacency])
    running = texts.running(game.runs, who, other, len(game.plays), len(EPSILONS))
    sentences = tuple(_said(attack, s, running, data.unit) for s in range(len(EPSILONS)))
    return attack_scene(attack, who=who, other=other, live_text={"attacked": sentences})


def _said(attack: Attack, step: int, running: str, unit: str) -> str:
    """What the attacker achieved, beside what is proved; before that, what is being done.

    unit: whom the data is about, for which made-up tables stand in too.
    """
    guarantee = replace(attack.guarantees[step], unit=unit)
    proved = texts.NOTHING_PROVED
    if guarantee.epsilon is not None:
        best = math.ceil(100.0 * float(attack.best[step]))
        alone = Event(EpsilonDelta(guarantee.epsilon, guarantee.delta or 0.0))
        allowed = round(100.0 * float(guess_rate([alone])))
        proved = texts.bound(best, guarantee.epsilon, allowed)
    terms = texts.terms(attack.epsilons[step], guarantee.delta, guarantee.protects)
    if not attack.played[step]:
        return texts.pending(terms, proved, running)
    achieved = texts.result(terms, float(attack.rates[step]), proved)
    if guarantee.rows_per_person > 1 or guarantee.limited:
        return f"{achieved} {texts.one_row(guarantee.unit)}"
    return achieved


def titles() -> dict[str, str]:
    """Every counterexample by name, in words: "Park 2017: counts in scale"."""
    return {name: f"{_printed_in(name)}: {_words(name)}" for name in EXHIBITS}


def _words(name: str) -> str:
    words = name.replace("-", " ").replace("one sided", "one-sided").replace("rank one", "rank-one")
    return words.replace("gaussian", "Gaussian").replace("lloyd", "Lloyd")


def _printed_in(name: str) -> str:
    """First author and year of the paper that a counterexample is about."""
    paper: str = load(f"{EXHIBITS[name].partition(':')[0]}:PAPER")
    return ELSEWHERE.get(name, f"{paper.partition(',')[0]} {paper[-4:]}")


@cache
def exhibit(name: str) -> Exhibit:
    """One exhibit, played once."""
    return exhibits(name)
