"""The one bridge from a scenario to dpcore: studies, attacks and single fits.

Large studies are worked out in the background, in parts, and the page shows each part when it is
there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from app.precomputed import kept_fit, kept_references, kept_study
from app.result_store import Data, ResultStore, bytes_of_fits, in_background
from app.scenario import Scenario
from app.texts import explore as texts
from dpcore.errors import InputError
from dpcore.evaluation.exposure import Exposure, success_rate
from dpcore.evaluation.study import (
    BudgetGrid,
    Curves,
    References,
    Setting,
    budget_grid,
    curves,
    exact_alone,
    fitted,
    references,
)
from dpcore.evaluation.yardstick import yardstick
from dpcore.fitting.result import Fit

if TYPE_CHECKING:
    from dpcore.models.labelled_mixture.worth import Worth

DRAWS = 13  # one bold, twelve ghosts
FEW_DRAWS = 5  # of a slow model
SHOWN_ROWS = 500  # points drawn
AT_ONCE = 40e6  # row visits (rows x runs x iterations x components) worked out without waiting
GAMES = 2000  # of the attacker, at most
LEAST_GAMES = 200
FIRST = 5  # stops that are worked out before all others
SOON = 0.4  # processor seconds: the first stops come with a current fit that took no longer
IN_HAND = 3e6  # row visits of a fit that is made while a hand waits for it
NO_ROWS = 2e4  # row visits that a fit without rows would be worth
ROOM, MOST_ROOM = 2**28, 2**29  # bytes of fits at all budgets: several draws' together, one's
SLOW_TO_LOAD = ("scipy.optimize", "sklearn.mixture")  # exact fits need them, kept studies do not


@dataclass(frozen=True)
class Study:
    """What is known so far about a scenario; ``complete`` once nothing more is coming.

    curves: of the grid's own draws, ``None`` until they are worked out. by_stop: the references
    at each stop of the grid, where they differ. whole: those of all rows, where the fits have fewer
    and it is known.
    """

    grid: BudgetGrid
    references: References
    curves: Curves | None
    complete: bool
    by_stop: tuple[References, ...] = ()
    whole: References | None = None

    @property
    def held(self) -> tuple[References, ...]:
        """What the fits are held against at each stop of the grid."""
        return self.by_stop or (self.references,) * len(self.grid.stops)


def study(
    scenario: Scenario,
    data: Data,
    store: ResultStore,
    wanted: float | None = None,
    *,
    ask: bool = True,
    early: bool = False,
) -> Study:
    """The study of a scenario: whole at once where that is quick, else its current point first,
    then the bold fits (from coarse to fine, where all together take long), then further draws.
    Where the current fit takes little time, the first stops come with it.

    wanted: a budget that a hand is on; where a fit is quick it is there at once, else it comes
    next. ask: whether what is missing is worked out behind the page. early: whether references
    beside the exact fit may come after the first stops; no curves are there before them. Raises
    InputError when the choices cannot be fitted.
    """
    setting = scenario.setting(data.secret)
    grid_key = _grid_key(scenario, data)
    budgets, most = scenario.budgets(data.rows), draws_of(scenario)
    work = visits_of(scenario, data)
    beside = scenario.dial != "epsilon"  # then another picture than this study's is looked at
    if store.grids.peek((grid_key, most)) is None:
        stored_study = kept_study(data, setting, budgets, scenario.curves(), most)
        if stored_study is None:
            best = converged_of(setting, data, store)
            if len(budgets) * bytes_of_fits(best) > MOST_ROOM:
                raise InputError("model", *texts.TOO_LARGE_FOR_MEMORY)
            most = affordable(most, best, len(budgets))
        else:
            stored_grid, stored_curves = stored_study
            store.grids.get((grid_key, most), lambda: stored_grid)
            store.curves.get((grid_key, most), lambda: stored_curves)

    whole = work * len(budgets) * most <= (IN_HAND if beside else AT_ONCE)

    def fits(some: Sequence[float], draws: Sequence[int]) -> BudgetGrid:
        best = converged_of(setting, data, store)
        return budget_grid(data.table, setting, best, some, draws, data.held_out)

    def everything() -> BudgetGrid:
        return fits(budgets, range(most))

    def add(some: Sequence[float]) -> BudgetGrid:
        """The bold fits of some budgets, among those that are there."""
        return _with_bold(fits(some, (0,)), scenario, data, store)

    def next_budgets() -> tuple[float, ...]:
        """Those that are fitted next: where the hand is, else the coarsest that are left."""
        grid, wanted_budget = store.grids.peek((grid_key, 1)), store.wanted.pop(grid_key, None)
        left = budgets if grid is None else coming(grid)
        if wanted_budget in left:
            return (wanted_budget,)
        together = work * len(budgets) <= AT_ONCE / 4
        rounds = [budgets] if together else coarse_to_fine(budgets)
        some = next(filter(None, (tuple(e for e in part if e in left) for part in rounds)), ())
        return some if scenario.cost == 1.0 else some[:1]

    def all_curves(grid: BudgetGrid) -> Curves:
        draws = range(grid.utility.shape[1])
        return curves(data.table, setting, grid, scenario.curves(), draws, data.held_out)

    def compared(grid: BudgetGrid) -> Curves:
        key = (grid_key, grid.utility.shape[1])
        return store.curves.get(key, lambda: all_curves(grid))

    if whole:
        held_against = references_of(setting, data, store)
        grid = store.grids.get((grid_key, most), everything)
        return Study(grid, held_against, compared(grid), True)
    few, at_a_time = min(5, most), FEW_DRAWS - 1 if scenario.cost == 1.0 else 1

    def so_far() -> list[tuple[BudgetGrid, Curves | None]]:
        """What there is, with the curves of the very same draws, most draws first."""
        keys = [(grid_key, draws) for draws in (most, few, 1)]
        parts = ((store.grids.peek(key), store.curves.peek(key)) for key in keys)
        return [(grid, drawn) for grid, drawn in parts if grid is not None]

    parts = so_far()
    now, drawn = next((part for part in parts if part[1]), parts[0] if parts else (None, None))
    begins = early and drawn is None
    held_against = (first_references_of if begins else references_of)(setting, data, store)
    if now is not None and drawn is not None and now.utility.shape[1] == most:
        return Study(now, held_against, drawn, True)

    def background() -> None:
        while True:
            there = store.grids.peek((grid_key, 1))
            placed = 0 if there is None else len(budgets) - len(coming(there))
            if placed >= FIRST and grid_key not in store.wanted:
                references_of(setting, data, store)
            if not (some := next_budgets()):
                break
            add(some)
            if grid_key not in store.waiting:
                return  # nobody looks at it any more
        references_of(setting, data, store)
        done = next((there for there, _ in so_far()), None)
        while done is not None:
            draws = done.utility.shape[1]
            if draws in (few, most):
                store.grids.get((grid_key, draws), lambda ready=done: ready)  # type: ignore[misc]
                compared(done)
            if draws >= most or grid_key not in store.waiting:
                return  # it is whole, or nobody looks at it any more
            more = range(draws, min(draws + at_a_time, most))
            done = done.with_draws(fits(budgets, more))

    quick, fresh, begun = work <= IN_HAND, now is None, process_time()
    for budget in (scenario.epsilon,) if wanted is None else (scenario.epsilon, wanted):
        point = min(budgets, key=lambda epsilon: abs(np.log(epsilon / budget)))
        if now is not None and point not in coming(now):
            continue
        if quick or now is None:  # before anything else
            now = add((point,))
        else:
            store.wanted[grid_key] = point
    assert now is not None  # the current point is there
    in_view = ask and wanted is None and not beside
    others = [stop for stop in coarse_to_fine(budgets)[0] if stop in coming(now)]
    if fresh and in_view and others and process_time() - begun <= SOON:
        now = add(others)
    if ask:
        in_background(store, grid_key, background)
    return Study(now, held_against, drawn, False)


def _grid_key(scenario: Scenario, data: Data) -> tuple[Any, ...]:
    setting = scenario.setting(data.secret)
    key = (data.key, replace(setting, accountant=""), scenario.curves())
    return (key, setting.accountant)


def _with_bold(part: BudgetGrid, scenario: Scenario, data: Data, store: ResultStore) -> BudgetGrid:
    """The bold fits of a study, with those of some budgets."""
    budgets = scenario.budgets(data.rows)
    return store.grids.change(
        (_grid_key(scenario, data), 1),
        lambda grid: part.among(budgets, texts.COMING) if grid is None else grid.filled(part),
    )


def begin_with(stop: BudgetGrid, scenario: Scenario, data: Data, store: ResultStore) -> None:
    """Let a study begin with the fit at its epsilon, one stop that was worked out elsewhere."""
    bold = store.grids.peek((_grid_key(scenario, data), 1))
    missing = scenario.budgets(data.rows) if bold is None else coming(bold)
    if scenario.epsilon in missing and stop.refusals[0] is None:
        _with_bold(stop.bold(), scenario, data, store)


def visits_of(scenario: Scenario, data: Data) -> float:
    """Visits of a row in one fit, with what its matrices of columns against columns are worth, and
    what is computed without rows."""
    columns = 0 if data.documents else data.public.dim
    without_rows = NO_ROWS + scenario.declared.fixed_cost + 2.0 * columns**3
    return scenario.visits(data.rows) + without_rows


def coming(grid: BudgetGrid) -> tuple[float, ...]:
    """The stops of a grid that are still being worked out."""
    return tuple(s for s, why in zip(grid.stops, grid.refusals, strict=True) if why == texts.COMING)


def coarse_to_fine(stops: Sequence[float]) -> list[tuple[float, ...]]:
    """Stops in the order in which they are worked out: five over the whole range, then those half
    way between, again and again; what is left comes together once half of them would be there.

    >>> coarse_to_fine(range(13))
    [(0, 3, 6, 9, 12), (1, 2, 4, 5, 7, 8, 10, 11)]
    """
    rounds, placed, count = list[tuple[float, ...]](), set[int](), FIRST
    while len(placed) < len(stops):
        whole = count > len(stops) / 2 and bool(placed)
        places = range(len(stops)) if whole else np.linspace(0, len(stops) - 1, count).round()
        fresh = sorted({int(place) for place in places} - placed)
        rounds.append(tuple(stops[place] for place in fresh))
        placed.update(fresh)
        count = 2 * count - 1
    return rounds


def more_of(
    shown: Study, scenario: Scenario, data: Data, store: ResultStore, together: int = 1
) -> bool:
    """Whether more of a study is there than was seen: so many stops more, or the last."""
    now = study(scenario, data, store, early=not shown.references.complete)
    left = len(coming(now.grid))
    if len(coming(shown.grid)) - left >= (together if left else 1):
        return True
    if now.references.complete and not shown.references.complete:
        return True
    more = now.grid.utility.shape[1] > shown.grid.utility.shape[1]
    return more or (now.curves is not None and shown.curves is None)


def stops_together(shown: Study) -> int:
    """How many stops more are shown together: those of the first round, then a quarter of the rest;
    each has the page drawn anew, for which the fits wait."""
    left = len(coming(shown.grid))
    return max(1, FIRST - (len(shown.grid.stops) - left), left // 4)


def draws_of(scenario: Scenario) -> int:
    """How many noise draws are shown: one bold and its ghosts, fewer of a slow model."""
    return DRAWS if scenario.cost == 1.0 else FEW_DRAWS


def affordable(draws: int, best: Any, stops: int) -> int:
    """How many of so many draws at so many stops fit into memory, at least one: few where a model
    has a matrix of many columns for each part."""
    return max(1, min(draws, ROOM // max(stops * bytes_of_fits(best), 1)))


def references_of(setting: Setting, data: Data, store: ResultStore) -> References:
    """What a study is held against. Raises InputError for fewer rows than parts."""
    key = _references_key(setting, data)
    if (earlier := store.references.peek(key)) is not None:
        return earlier
    best = converged_of(setting, data, store)

    def make() -> References:
        stored = kept_references(data, setting)
        unclipped = ("any clipping", *_references_key(replace(setting, clip=1.0), data))
        other = store.references.peek(unclipped)
        anew = stored or references(data.table, setting, best, data.held_out, other)
        return store.references.get(unclipped, lambda: anew) if other is None else anew

    return store.references.get(key, make)


def first_references_of(setting: Setting, data: Data, store: ResultStore) -> References:
    """The same as soon as the converged fit is there; what is not known yet is NaN."""
    key = _references_key(setting, data)
    if store.references.peek(key) is not None or kept_references(data, setting) is not None:
        return references_of(setting, data, store)
    best = converged_of(setting, data, store)
    first = partial(exact_alone, data.table, setting, best, data.held_out)
    return store.references.get(("first", *key), first)


def converged_of(setting: Setting, data: Data, store: ResultStore) -> Any:
    """The exact fit, a batch of one, worked out once for all clippings.

    Raises InputError for fewer rows than parts.
    """
    key = _references_key(setting, data)
    for place in (key, ("first", *key)):
        if (earlier := store.references.peek(place)) is not None:
            return earlier.converged
    if data.rows is not None and data.rows < setting.components:
        raise InputError("model", *texts.MORE_PARTS_THAN_ROWS)
    judge, options = yardstick(setting.model), setting.options()
    all_rows = data.every or data  # the exact fit sees all rows
    best = store.tables.get(
        ("converged", all_rows.key, *_shape(setting)),
        lambda: (
            kept_fit(all_rows, setting)
            or judge.converged(all_rows.table, setting.components, options)
        ),
    )
    if data.whole is not None:  # groups keep their names when a person leaves
        best, _ = judge.align(best, converged_of(setting, data.whole, store))
    return best


def hold_against(worked_out: References, setting: Setting, data: Data, store: ResultStore) -> None:
    """Let a study begin with references that were worked out elsewhere."""
    store.references.get(_references_key(setting, data), lambda: worked_out)


def load_ahead(store: ResultStore) -> None:
    """Load behind the page what takes a second to load, before a choice needs it."""
    missing = [name for name in SLOW_TO_LOAD if name not in sys.modules]

    def background() -> None:
        for name in missing:
            import_module(name)

    if missing:
        in_background(store, SLOW_TO_LOAD, background)


def _references_key(setting: Setting, data: Data) -> tuple[Any, ...]:
    steps = (setting.algorithm, setting.iterations, setting.clip)
    return ("references", data.key, *_shape(setting), *steps, setting.metric)


def _shape(setting: Setting) -> tuple[Any, ...]:
    return (setting.model, setting.components, setting.covariance, setting.words)


def worth(scenario: Scenario, data: Data, store: ResultStore, study: Study) -> Worth | None:
    """What other ways of releasing classes are worth, from the background once a study is complete;
    ``None`` until it is there."""
    setting = replace(scenario.setting(data.secret), metric="")
    key = ("worth", data.key, setting)

    def background() -> None:
        from dpcore.models.labelled_mixture.worth import worth_of  # slow to import

        grid, exact = study.grid, study.references.converged
        store.answers.get(key, lambda: worth_of(data.table, setting, grid, exact, data.held_out))

    answer: Worth | None = store.answers.peek(key)
    if answer is None:
        in_background(store, key, background)
    return answer


def with_extra_budget(
    study: Study, scenario: Scenario, data: Data, store: ResultStore
) -> tuple[Study, int]:
    """The study with the scenario's epsilon among its budgets, and that epsilon's place."""
    for i, epsilon in enumerate(study.grid.epsilons):
        if abs(epsilon - scenario.epsilon) <= 1e-9 * epsilon:
            return study, i
    setting = scenario.setting(data.secret)
    draws = study.grid.utility.shape[1]
    key = (data.key, setting, scenario.epsilon, draws)

    def extra() -> BudgetGrid:
        exact = study.references.converged
        budget = (scenario.epsilon,)
        return budget_grid(data.table, setting, exact, budget, range(draws), data.held_out)

    grid = study.grid.with_budget(store.grids.get(key, extra))
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


def shown_rows(data: Data, store: ResultStore, model: str) -> np.ndarray[Any, Any]:
    """Exact rows in own units ``(m, p)``, some by a public coin: for the custodian's eyes.

    Their columns are those of the model's picture: the features, and the target where it has one.
    """
    if data.documents:  # nothing of them is drawn
        return np.empty((0, 0))

    def make() -> Any:
        rows = yardstick(model).shown(data.table)
        return rows[np.random.default_rng(1).permutation(len(rows))[:SHOWN_ROWS]]

    return np.asarray(store.tables.get(("rows", data.key, model), make))


def exposure(scenario: Scenario, data: Data, store: ResultStore) -> Exposure | None:
    """How often an attacker told the data from its neighbour, in as many games as are quick; a slow
    model is not attacked here."""
    if scenario.cost > 1.0:
        return None
    setting, whole = replace(scenario.setting(data.secret), metric=""), data.whole or data
    visits = scenario.visits(whole.rows)
    games = int(np.clip(AT_ONCE / visits, LEAST_GAMES, GAMES))
    key = ("exposure", whole.key, setting, scenario.epsilon, games)
    return store.answers.get(
        key,
        lambda: success_rate(whole.table, setting, scenario.epsilon, games, seed=setting.seed),
    )


def one_fit(scenario: Scenario, data: Data) -> Fit:
    """The bold private fit as a value of its own, with its ledger."""
    setting = scenario.setting(data.secret)
    request = setting.request(scenario.epsilon)
    return fitted(data.table, setting, (request,), (0,)).fit()


def fit_json(fit: Fit, note: str = texts.REHEARSAL) -> str:
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
