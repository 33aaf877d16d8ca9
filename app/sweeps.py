"""The dials that slide beside epsilon, each over stops of its own: delta, clipping, and what was
pulled up in its place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from app.compute import (
    Study,
    affordable,
    begin_with,
    coarse_to_fine,
    coming,
    draws_of,
    hold_against,
    references_of,
)
from app.parts import by_parts, complete, numbers
from app.parts import hand_over as hand_over_parts
from app.parts import work_out as work_out_parts
from app.precomputed import kept_sweep
from app.result_store import Data, ResultStore, in_background
from app.scenario import PARTS, SHARED, Scenario
from app.tables import some_rows
from app.texts import explore as texts
from dpcore.errors import DPCoreError, InputError
from dpcore.evaluation.study import NOISE_ALONE, Curves, References, Sweep, sweep

DIGITS = (1, 2, 3, 5)
DELTAS = tuple(float(f"{digit}e-{power}") for power in range(12, 1, -1) for digit in DIGITS)[:-3]
CLIPS = tuple(round(0.025 * step, 3) for step in range(4, 41))
PER_PERSON = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
BISECT = 1 / 6  # of a decade between two numbers of rows, over two decades
NOISE = "noise_multiplier"  # slides over the budgets: the noise of each is its stop
DECADE = 16  # stops of an option in a decade, one decade to each side of the usual one
CHEAP = 1e5  # visits of a row, as of a mixture's, for a fit that stands at every stop
FEW_DRAWS = 3  # of a slow model, at every fourth stop
FEWEST = 5  # stops that make a picture
SAME = 1e-9  # two noise multipliers that are one


@dataclass(frozen=True)
class Sliding:
    """A dial on Explore's first screen.

    why_not: why it cannot slide now; empty where it can. budgets: the epsilon of each stop, where
    stops are those of epsilon seen from another side.
    """

    name: str
    value: float
    stops: tuple[float, ...]
    why_not: str = ""
    budgets: tuple[float, ...] = ()

    @property
    def place(self) -> int:
        """The stop nearest to the value."""
        return int(np.argmin(np.abs(np.array(self.stops) - self.value)))  # as Scene.thumb has it

    def title(self, scenario: Scenario) -> str:
        """Of its column in a table."""
        if self.name in texts.TITLES:
            return texts.TITLES[self.name]
        if self.name == PARTS:
            return f"Number of {scenario.declared.parts}"
        return scenario.slides()[self.name].name

    @property
    def key(self) -> str:
        """Of its slider."""
        return f"{self.name}_step"

    @property
    def typed(self) -> bool:
        """Whether the value is none of the stops."""
        return abs(self.stops[self.place] - self.value) > 1e-9 * abs(self.value)

    def put(self, value: float, scenario: Scenario) -> dict[str, Any]:
        """The scenario's fields with another value, and this dial as the one that slides."""
        if self.budgets:
            return {"epsilon": self.budgets[self.stops.index(value)], "dial": self.name}
        whole = self.name == "fitted_rows" and value == self.stops[-1]
        return {**scenario.with_value(self.name, 0 if whole else value), "dial": self.name}


def sliding(scenario: Scenario, data: Data, store: ResultStore) -> tuple[Sliding, ...]:
    """The dials beside epsilon: delta, and the one pulled up, or what the model clips by."""
    cheap = scenario.visits(data.rows) <= CHEAP
    few = slice(None, None, 4 if scenario.cost > 1.0 else 1 if cheap else 2)  # openings are in each
    dials = [Sliding("delta", scenario.delta, DELTAS[few], _without_delta(scenario, data, store))]
    if scenario.beside == "clip":
        dials.append(Sliding("clip", scenario.clip, CLIPS[few]))
    elif scenario.beside in SHARED:
        dials.append(_shared(scenario, data, store))
    elif name := scenario.beside:
        columns = data.public.dim
        middle = scenario.middle(name, columns) or 0.0
        own = scenario.slides()[name].stops[:: 1 if scenario.cost == 1.0 else 2]
        around = tuple(
            float(f"{middle * 10 ** (step / DECADE):.2g}") if step else middle
            for step in range(-DECADE, DECADE + 1)
        )
        value = scenario.value(name, columns)
        dials.append(Sliding(name, middle if value is None else value, own or around[few]))
    return tuple(
        replace(dial, why_not=dial.why_not or _refusal(scenario, data, store, dial))
        for dial in dials
    )


def _shared(scenario: Scenario, data: Data, store: ResultStore) -> Sliding:
    """The third dial where it is one that every model has."""
    name = scenario.beside
    if name == NOISE:
        return _of_noise(scenario, data, store)
    if name == PARTS:
        return Sliding(name, scenario.components, tuple(map(float, numbers(scenario, data))))
    if name == "rows_per_person":
        return Sliding(name, scenario.rows_per_person, PER_PERSON)
    every = data.every or data
    if every.rows is None or every.held_out is None:
        return Sliding(name, 1.0, (1.0, 2.0), texts.NONE_HELD_OUT)
    most = every.rows
    counts = {int(float(f"{most * 10 ** (-step * BISECT):.2g}")) for step in range(1, 13)}
    stops = sorted(count for count in counts if count > max(20, scenario.components))
    stops = stops[:: 1 if scenario.cost == 1.0 else 2]
    return Sliding(name, min(scenario.fitted_rows or most, most), tuple(map(float, (*stops, most))))


def _of_noise(scenario: Scenario, data: Data, store: ResultStore) -> Sliding:
    """The noise multiplier: that of each budget, and of the scenario's own."""
    setting = scenario.setting(data.secret)
    rows = None if scenario.adjacency == "add_remove" else data.rows
    budgets = scenario.budgets(data.rows)

    def noise() -> tuple[dict[float, float], float, str]:
        epsilons = (*budgets, scenario.epsilon)
        *many, own = setting.reach(epsilons, setting.accountant, rows)[0]
        there = {float(sd): e for sd, e in zip(many, budgets, strict=True) if np.isfinite(sd)}
        return dict(sorted(there.items())), float(own), ""

    try:
        stops, own, why = store.answers.get((NOISE, setting, scenario.epsilon, rows), noise)
    except InputError as refusal:
        stops, own, why = {}, np.nan, str(refusal)
    if len(stops) < 2 or not np.isfinite(own):
        return Sliding(NOISE, 1.0, (1.0, 2.0), why or texts.OUT_OF_REACH)
    return Sliding(NOISE, own, tuple(stops), budgets=tuple(stops.values()))


def by_noise(study: Study, dial: Sliding) -> Study:
    """A study over epsilon, its own epsilon among the budgets, as one over the noise multiplier."""
    places = [study.grid.epsilons.index(epsilon) for epsilon in dial.budgets]
    stops = dial.stops
    if dial.typed:
        places, stops = [*places, len(study.grid.epsilons) - 1], (*stops, dial.value)
    grid = replace(study.grid.taken(places), stops=stops, dial=NOISE)
    curves = Curves({}, {}, np.full(len(places), np.nan))
    if study.curves is not None:
        by_epsilon = study.curves  # one noise is one fit, whoever composes it: only epsilon differs
        same = np.median(grid.utility, axis=1)
        says = {name: epsilons[places] for name, epsilons in by_epsilon.says.items()}
        curves = Curves(dict.fromkeys(says, same), says, by_epsilon.single[places])
    return Study(grid, study.references, curves, study.complete)


def _refusal(scenario: Scenario, data: Data, store: ResultStore, dial: Sliding) -> str:
    """Why a dial's stops could not be worked out, where that has been tried."""
    if dial.name == PARTS:
        return ""  # each number has its own
    parts = _parts(scenario, data, store, dial)
    return next((part for part in parts if isinstance(part, str)), "")


def _without_delta(scenario: Scenario, data: Data, store: ResultStore) -> str:
    """Why delta cannot slide: the noise is the same at any delta."""
    setting = scenario.setting(data.secret)

    def noise() -> tuple[float, ...]:
        some = (setting.at("delta", delta) for delta in (1e-9, 1e-5))
        return tuple(
            float(setting_at.noise((scenario.epsilon,), setting.accountant)[0])
            for setting_at in some
        )

    if scenario.samples:
        return ""
    try:
        first, other = store.answers.get(("delta", setting, scenario.epsilon), noise)
    except InputError:
        return ""  # the picture says why
    return texts.DELTA_HAS_NO_EFFECT if abs(first / other - 1.0) < SAME else ""


def swept(
    scenario: Scenario, data: Data, store: ResultStore, dial: Sliding, usual: References
) -> Study | None:
    """The study over a dial at the scenario's epsilon, its own value among the stops; complete once
    every stop is there.

    ``None`` until there are a few: :func:`work_out` has it made. usual: the references of
    the scenario.
    """
    if dial.name == "fitted_rows":
        usual = references_of(scenario.setting(data.secret), data.every or data, store)
    parts = [part for part in _parts(scenario, data, store, dial) if isinstance(part, Sweep)]
    if len(parts) < 1 + dial.typed:
        return None
    main, *typed = parts
    left = len(coming(main.grid))
    if left and len(dial.stops) - left < FEWEST:
        return None
    draws = min(part.grid.utility.shape[1] for part in parts)
    grid, references, single = main.grid.first(draws), main.references, main.single
    for more in typed:
        grid = grid.with_budget(more.grid.first(draws))
        references += more.references
        single = np.append(single, more.single)
    whole = done(scenario, data, store, dial)
    return Study(grid, usual, Curves({}, {}, single), whole, references)


def hand_over(
    scenario: Scenario, data: Data, store: ResultStore, beside: tuple[Sliding, ...]
) -> None:
    """Let the study over epsilon begin with what is known of the stop that a dial was moved to."""
    if scenario.dial == PARTS:
        hand_over_parts(scenario, data, store)
        return
    dial = next((other for other in beside if other.name == scenario.dial), None)
    if dial is None or dial.budgets:
        return  # the stops are those of the study itself
    for part in _parts(scenario, data, store, dial):
        if isinstance(part, Sweep) and dial.value in part.grid.stops:
            at = part.grid.stops.index(dial.value)
            if part.grid.refusals[at] is None:
                setting = scenario.setting(data.secret)
                hold_against(part.references[at], setting, data, store)
                begin_with(part.grid.taken([at]), scenario, data, store)


def done(scenario: Scenario, data: Data, store: ResultStore, dial: Sliding) -> bool:
    """Whether a study over a dial, or why there is none, is there."""
    if dial.budgets:
        return True
    if dial.name == PARTS:
        return complete(scenario, data, store)
    keys = _keys(scenario, data, dial)
    if any(isinstance(part, str) for part in _parts(scenario, data, store, dial)):
        return True
    return not any(_left(store.answers.peek(key)) for key in keys)


def still_to_come(scenario: Scenario, data: Data, store: ResultStore, dial: Sliding) -> int:
    """How many stops of a dial are not worked out yet, as far as it is known; the further draws of
    all of them count as one."""
    if dial.name == PARTS:
        return len(set(dial.stops) - set(by_parts(scenario, data, store)))
    parts = _parts(scenario, data, store, dial)
    left = sum(len(coming(part.grid)) for part in parts if isinstance(part, Sweep)) + sum(
        len(dial.stops) for part in parts if part is None
    )
    return left + (not done(scenario, data, store, dial))


def _left(part: Sweep | str | None) -> bool:
    """Whether stops of a part are still being worked out."""
    return part is None or (isinstance(part, Sweep) and bool(coming(part.grid)))


def work_out(
    scenario: Scenario,
    data: Data,
    store: ResultStore,
    dial: Sliding,
    wanted: float | None = None,
) -> None:
    """Have a study over a dial worked out behind the page, from coarse to fine, the bold fits of
    all stops before their other draws; or why it cannot be. wanted: a stop that a hand is on, which
    comes next [the dial's own]."""
    if dial.name == PARTS:
        work_out_parts(scenario, data, store, wanted)
        return
    setting = scenario.setting(data.secret)
    keys = _keys(scenario, data, dial)
    judged = data.every or data if dial.name == "fitted_rows" else data
    if wanted is None:
        store.wanted.setdefault(keys, dial.value)
    else:
        store.wanted[keys] = wanted

    def at(stops: tuple[float, ...], draws: range, bold: Sweep | str | None) -> Sweep | str:
        try:
            table, held_out = data.table, data.held_out
            if dial.name == "fitted_rows":
                table = some_rows(data.every or data, int(stops[0]), store).table
            at_stops = bold.held_at(stops) if isinstance(bold, Sweep) else None
            terms = (scenario.epsilon, dial.name, stops, draws, held_out, at_stops)
            return sweep(table, setting, references_of(setting, judged, store), *terms)
        except DPCoreError as refusal:
            return str(refusal)

    def following(rounds: list[tuple[float, ...]], left: tuple[float, ...]) -> tuple[float, ...]:
        """The stops that are fitted next: many at once where they share their work."""
        wanted = store.wanted.pop(keys, None)
        if wanted in left:
            return (wanted,)
        some = next(filter(None, (tuple(s for s in part if s in left) for part in rounds)))
        return some if dial.name == "delta" and scenario.cost == 1.0 else some[:1]

    def background() -> None:
        best = references_of(setting, judged, store).converged
        many = affordable(draws_beside(scenario), best, len(dial.stops))
        for draws in (range(1), range(many)):
            for key in reversed(keys):  # a typed value first
                if not _left(store.answers.peek(key)):
                    continue
                bold = None if len(draws) == 1 else store.answers.peek(_bold(key))
                place, stops = _bold(key) if len(draws) == 1 else key, key[-1]
                rounds = coarse_to_fine(stops)
                while _left(there := store.answers.peek(place)):
                    left = stops if there is None else coming(there.grid)
                    part = at(following(rounds, left), draws, bold)
                    usual = references_of(setting, judged, store)
                    more = partial(_with_stops, part=part, stops=stops, usual=usual)
                    store.answers.change(place, more)
                    if keys not in store.waiting:
                        return  # nobody looks at it any more

    in_background(store, keys, background)


def _with_stops(
    so_far: Sweep | None, part: Sweep | str, stops: tuple[float, ...], usual: References
) -> Sweep | str:
    """What is known of a study over a dial with more of its stops, or why there is none."""
    if isinstance(part, str):
        return part
    if so_far is None:
        if part.grid.dial not in NOISE_ALONE:
            nan = float("nan")
            usual = replace(usual, own_steps_utility=nan, clipped_utility=nan, clipped_share=nan)
        count = len(stops)
        empty = part.grid.taken([0]).among(stops, texts.COMING)
        so_far = Sweep(empty, (usual,) * count, np.full(count, np.nan))
    references, single = list(so_far.references), so_far.single.copy()
    for place, stop in enumerate(part.grid.stops):
        at = stops.index(stop)
        references[at], single[at] = part.references[place], part.single[place]
    return Sweep(so_far.grid.filled(part.grid), tuple(references), single)


def draws_beside(scenario: Scenario) -> int:
    """How many noise draws there are at a stop of a dial beside epsilon."""
    return draws_of(scenario) if scenario.cost == 1.0 else FEW_DRAWS


def _parts(
    scenario: Scenario, data: Data, store: ResultStore, dial: Sliding
) -> list[Sweep | str | None]:
    """What is known of each part of a study over a dial, or why there is none."""
    first, *typed = _keys(scenario, data, dial)
    main: Sweep | str | None = store.answers.peek(first)
    if main is None:
        terms = (scenario.epsilon, dial.name, dial.stops, draws_beside(scenario))
        main = kept_sweep(data, scenario.setting(data.secret), *terms)
        if main is not None:
            store.answers.get(first, lambda: main)
    parts: list[Sweep | str | None] = [main, *map(store.answers.peek, typed)]
    bold: list[Sweep | str | None] = [store.answers.peek(_bold(key)) for key in (first, *typed)]
    return [
        early if _left(part) and early else part for part, early in zip(parts, bold, strict=True)
    ]


def _bold(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Where the bold fits alone of a part are kept."""
    return ("bold", *key)


def _keys(scenario: Scenario, data: Data, dial: Sliding) -> tuple[tuple[Any, ...], ...]:
    """Where the parts of a study over a dial are kept: its stops, and a typed value's."""
    elsewhere = scenario.setting(data.secret)
    if dial.name != "fitted_rows":
        elsewhere = elsewhere.at(dial.name, dial.stops[-1])
    judged = data if dial.name != "fitted_rows" else data.every or data
    key = ("sweep", judged.key, elsewhere, scenario.epsilon, dial.name)
    return ((*key, dial.stops), *([(*key, (dial.value,))] if dial.typed else []))
