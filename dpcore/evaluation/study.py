"""A study: one model on one table over a grid of budgets and noise draws, beside its references.

This is what an explorer shows. Everything that depends on the budget is an array with a leading
axis of budgets S and one of noise draws D; draw 0 is the one drawn bold. Exact rows are read (for
alignment and utility), so a study is for the custodian's eyes unless its rows are simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting import accountant as registered
from dpcore.accounting import covers
from dpcore.accounting.base import check_epsilons
from dpcore.arrays import Array, Mask
from dpcore.checks import one_of, pairs_of, positive, whole, words_of
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.evaluation.yardstick import (
    Scorer,
    least,
    mapped,
    scorer_of,
    utility,
    yardstick,
)
from dpcore.fitting.api import Grid, fit_grid
from dpcore.fitting.plan import counted_by, demand_accountant, plan_noise
from dpcore.fitting.recipe import recipe
from dpcore.options import demand_options
from dpcore.privacy import Guarantee, Ledger, Privacy
from dpcore.registry import FIRST
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.table import PrivateTable, demand_loaded

# Twenty budgets a decade, 0.01 to 20, in round numbers.
EPSILONS = tuple(float(f"{10 ** (k / 20):.2g}") for k in range(-40, 27))
MOST_DRAWS = 10_000  # of the noise, or splits of the rows, that somebody would wait for


@dataclass(frozen=True)
class Setting:
    """Everything a study depends on, apart from the rows and the budgets.

    model: a name of the registry. components: its groups, centres or factors. covariance,
    combination, algorithm: choices of models that have them (``None``: the model's own). words:
    pairs of further options, as :func:`dpcore.fit` takes them. mode, accountant, delta, adjacency,
    rows_per_person: as :class:`dpcore.Privacy` takes them. clip: a share of what the bounds allow.
    seed: of the noise; with a secret, nobody else can draw it again. metric: of utility, a name of
    the model's declaration [its score].

    >>> Setting("missing-regression", words=(("sigma", 2.0),)).options()
    {'n_components': None, 'iterations': 5, 'sigma': 2.0}
    """

    model: str = FIRST
    components: int = 3
    iterations: int = 5
    covariance: str = "full"
    mode: str = "proved"
    combination: str = "GGG"
    algorithm: str | None = None
    words: tuple[tuple[str, Any], ...] = ()
    accountant: str = "exact"
    delta: float = 1e-5
    adjacency: str = "replace_one"
    rows_per_person: int = 1
    clip: float = 1.0
    seed: int = 0
    secret: bytes = field(default=b"", repr=False)
    metric: str = ""

    def request(self, epsilon: float, accountant: str | None = None) -> Privacy:
        """The privacy request of one budget."""
        return Privacy(
            epsilon=epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            accountant=accountant or self.accountant,
            mode=self.mode,
            rows_per_person=self.rows_per_person,
        )

    def at(self, dial: str, value: float) -> Setting:
        """The same with another value of one dial: a field of this class, or an option's name."""
        if dial in ("delta", "clip", "iterations", "rows_per_person", "components"):
            changed: dict[str, Any] = {dial: value}
            return replace(self, **changed)
        return replace(self, words=tuple({**dict(self.words), dial: value}.items()))

    def options(self) -> dict[str, Any]:
        """Model options as :func:`dpcore.fit` takes them; steps only where the fit takes any."""
        how = recipe(self.model)
        names = set(how.options.options())
        if not how.takes_steps(self.algorithm, self.mode):
            names.discard("iterations")
        words = {
            "iterations": self.iterations,
            "covariance": self.covariance,
            "combination": self.combination,
            "algorithm": self.algorithm,
        }
        return {
            "n_components": self.components if "components" in names else None,
            **{word: v for word, v in words.items() if word in names and v is not None},
            **dict(self.words),
        }

    def simplest(self) -> Setting:
        """The model's simplest rival, proved and counted exactly, under the same protection."""
        judge = yardstick(self.model)
        return replace(
            self,
            components=judge.simplest,
            words=tuple({**dict(self.words), **judge.rival_options}.items()),
            mode="proved",
            combination="GGG",
            algorithm=None,
            accountant="exact",
        )

    def noise(self, epsilons: Sequence[float], accountant: str, rows: int | None = None) -> Array:
        """Noise multiplier ``(S,)`` a method asks for budgets; InputError if it cannot meet one.

        rows: how many there are, for models whose steps read a sample of them.
        """
        how, settings = recipe(self.model), self._settings(rows)
        accountant = counted_by(accountant, how, settings)
        requests = tuple(self.request(epsilon, accountant) for epsilon in epsilons)
        return plan_noise(how, requests, settings).factor

    def refusal(self, accountant: str) -> str | None:
        """Why a composition method cannot count a proved fit, in a sentence; ``None`` where it can.

        Raises InputError where the options do not go together.
        """
        how, settings = recipe(self.model), self._settings(None)
        try:
            demand_accountant(how, settings, accountant)
        except InputError as refusal:
            return str(refusal)
        return covers(counted_by(accountant, how, settings), how.events(settings))

    def _settings(self, rows: int | None) -> Any:
        """The model's settings, sized where steps read samples of so many rows."""
        options, how = self.options(), recipe(self.model)
        settings = how.settings(mode=self.mode, components=options.pop("n_components"), **options)
        return how.sized(settings, rows, self.adjacency)

    def reach(
        self, epsilons: Sequence[float], accountant: str, rows: int | None = None
    ) -> tuple[Array, tuple[str | None, ...]]:
        """The same with NaN for budgets out of reach, and why each is (``None`` = it is not)."""
        try:
            return self.noise(epsilons, accountant, rows), (None,) * len(epsilons)
        except InputError as error:
            if len(epsilons) == 1:
                return np.array([np.nan]), (str(error),)
        half = len(epsilons) // 2
        parts = [self.reach(part, accountant, rows) for part in (epsilons[:half], epsilons[half:])]
        return np.concatenate([noise for noise, _ in parts]), parts[0][1] + parts[1][1]


@dataclass(frozen=True)
class References:
    """What a private fit is held against; utilities in own units, fits in unit coordinates.

    converged: the best that is not private, a batch of one. own_steps: our iterations without noise
    or clipping. clipped: with clipping, without noise. single: the model's simplest rival, exact.
    bounds: knowing nothing but the public bounds. What is not worked out yet is NaN.
    """

    converged: Any
    converged_utility: float
    own_steps_utility: float
    clipped_utility: float
    single_utility: float
    bounds_utility: float
    clipped_share: float

    @property
    def complete(self) -> bool:
        """Whether all of them are worked out, not the exact fit alone."""
        return not np.isnan(self.own_steps_utility)


def exact_alone(
    table: PrivateTable, setting: Setting, best: Any, held_out: PrivateTable | None = None
) -> References:
    """The references that need no fit but the converged one, ``best``; the others are NaN."""
    scorer, later = _scorer(table, setting, held_out), float("nan")
    return References(
        converged=best,
        converged_utility=float(utility(setting.model, best, scorer, setting.metric)[0]),
        own_steps_utility=later,
        clipped_utility=later,
        single_utility=later,
        bounds_utility=least(setting.model, scorer, setting.metric),
        clipped_share=later,
    )


def references(
    table: PrivateTable,
    setting: Setting,
    best: Any = None,
    held_out: PrivateTable | None = None,
    other: References | None = None,
) -> References:
    """Fit the references of a setting; none is private. best: the converged fit, if known.
    held_out: rows that no fit sees, to judge fits on [those that are fitted]. other: the same of
    another clipping, if known."""
    judge, options = yardstick(setting.model), setting.options()
    scorer = _scorer(table, setting, held_out)
    if best is None:
        best = judge.converged(table, setting.components, options)

    if other is not None:
        return replace(other, converged=best, **_clipping(table, setting, best, scorer))
    plain = judge.unbounded(judge.noiseless(options))
    exact = exact_alone(table, setting, best, held_out)
    alone = {**plain, "n_components": judge.simplest, **judge.rival_options}
    return replace(
        exact,
        own_steps_utility=_without_noise(table, setting, np.inf, plain, scorer),
        single_utility=_without_noise(table, setting, np.inf, alone, scorer)
        if judge.fits_rival
        else exact.bounds_utility,
        **_clipping(table, setting, best, scorer),
    )


def _scorer(table: PrivateTable, setting: Setting, held_out: PrivateTable | None) -> Scorer:
    return scorer_of(setting.model, table, setting.options(), held_out=held_out)


def _without_noise(
    table: PrivateTable,
    setting: Setting,
    clip: float,
    options: Mapping[str, Any],
    scorer: Scorer,
) -> float:
    """Utility of our steps without noise."""
    grid = fit_grid(setting.model, table, privacy=None, as_private=True, clip=clip, **options)
    return float(utility(setting.model, grid.runs.final, scorer, setting.metric)[0])


def _clipping(table: PrivateTable, setting: Setting, best: Any, scorer: Scorer) -> dict[str, float]:
    """The references that clipping changes."""
    judge, options = yardstick(setting.model), setting.options()
    return {
        "clipped_utility": _without_noise(
            table, setting, setting.clip, judge.noiseless(options), scorer
        ),
        "clipped_share": judge.clipped_share(table, options, setting.clip, best, scorer),
    }


@dataclass(frozen=True)
class BudgetGrid:
    """Private fits at S stops of one dial with D noise draws, aligned to the converged fit.

    stops: values of the dial: the epsilons, or of another dial at one epsilon. fits: a batch of
    arrays ``(S, D, ...)`` in public unit coordinates, NaN where a stop is out of the accountant's
    reach. recovered ``(S, D, K)``: which parts of the exact fit a run has. utility ``(S, D)``: by a
    metric, turned where less is better. refusals: why a stop cannot be met, or ``None``.
    """

    model: str
    epsilons: tuple[float, ...]
    fits: Any
    recovered: Mask
    utility: Array
    noise: Array
    guarantees: tuple[Guarantee | None, ...]
    ledgers: tuple[Ledger | None, ...]
    refusals: tuple[str | None, ...]
    public: PublicFrame
    stops: tuple[float, ...]
    dial: str = "epsilon"
    metric: str = ""

    def among(self, stops: Sequence[float], why: str) -> BudgetGrid:
        """The same stops among others (which include them) that are not fitted, and why."""
        count = len(stops)
        shape = (count, self.utility.shape[1])
        empty = replace(
            self,
            epsilons=tuple(stops) if self.dial == "epsilon" else self.epsilons[:1] * count,
            stops=tuple(stops),
            fits=mapped(self.fits, lambda array: _unfitted(array[:, 0], shape)),
            recovered=np.zeros((*shape, self.recovered.shape[2]), dtype=bool),
            utility=np.full(shape, np.nan),
            noise=np.full(count, np.nan),
            guarantees=(None,) * count,
            ledgers=(None,) * count,
            refusals=(why,) * count,
        )
        return empty.filled(self)

    def filled(self, part: BudgetGrid) -> BudgetGrid:
        """The same with what a part, fits at some of these stops, has there."""
        at = [self.stops.index(stop) for stop in part.stops]

        def put(room: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
            room = room.copy()
            room[at] = values
            return room

        def placed(current: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
            entries = dict(enumerate(current)) | dict(zip(at, values, strict=True))
            return tuple(entries.values())

        return self._by_stop(put, placed, part)

    def taken(self, places: Sequence[int]) -> BudgetGrid:
        """Some of the stops, in the order of their places."""

        def some(every: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(every[place] for place in places)

        return self._by_stop(lambda array: array[list(places)], some)

    def first(self, draws: int) -> BudgetGrid:
        """The first draws alone."""
        return self._by_draw(lambda array: array[:, :draws])

    def bold(self) -> BudgetGrid:
        """The first draw alone, at stops that are budgets."""
        return replace(self.first(1), stops=self.epsilons, dial="epsilon")

    def with_draws(self, other: BudgetGrid) -> BudgetGrid:
        """The same budgets with the other's draws behind these."""
        return self._by_draw(lambda *arrays: np.concatenate(arrays, axis=1), other)

    def with_budget(self, other: BudgetGrid) -> BudgetGrid:
        """The other's stops, with as many draws, behind these."""
        return self._by_stop(lambda *arrays: np.concatenate(arrays), add, other)

    def _by_draw(self, change: Callable[..., NDArray[Any]], *others: BudgetGrid) -> BudgetGrid:
        """All that has an axis of draws changed; others' arrays are further arguments."""
        grids = (self, *others)
        return replace(
            self,
            fits=mapped(self.fits, change, *(grid.fits for grid in others)),
            recovered=change(*(grid.recovered for grid in grids)),
            utility=change(*(grid.utility for grid in grids)),
        )

    def _by_stop(
        self, array: Callable[..., Any], entries: Callable[..., Any], *others: BudgetGrid
    ) -> BudgetGrid:
        """All that each stop has changed, arrays and tuples; others' are further arguments."""
        tuples = ("epsilons", "stops", "guarantees", "ledgers", "refusals")
        changes = dict.fromkeys(tuples, entries) | {"noise": array}
        changed = {
            name: change(*(getattr(grid, name) for grid in (self, *others)))
            for name, change in changes.items()
        }
        return replace(self._by_draw(array, *others), **changed)


def budget_grid(
    table: PrivateTable,
    setting: Setting,
    reference: Any,
    epsilons: Sequence[float] = EPSILONS,
    draws: Sequence[int] = (0,),
    held_out: PrivateTable | None = None,
) -> BudgetGrid:
    """Fit every budget with every draw. A budget out of reach is left out with its reason.

    held_out: rows that no fit sees, to judge fits on [those that are fitted]. Raises InputError
    when the setting itself is wrong (more groups than rows, say).
    """
    requests = [setting.request(epsilon) for epsilon in epsilons]
    _, refusals = setting.reach(epsilons, setting.accountant, _public_rows(table, setting))
    return _grid(table, setting, reference, requests, refusals, draws, held_out)


def _grid(
    table: PrivateTable,
    setting: Setting,
    reference: Any,
    requests: Sequence[Privacy],
    refusals: tuple[str | None, ...],
    draws: Sequence[int],
    held_out: PrivateTable | None,
) -> BudgetGrid:
    """Fit every request that is not refused, with every draw; they differ in budget and delta."""
    epsilons = tuple(_epsilon_of(request) for request in requests)
    judge, scorer = yardstick(setting.model), _scorer(table, setting, held_out)
    reached = [i for i, refusal in enumerate(refusals) if refusal is None]
    shape = (len(epsilons), len(draws))
    fits = mapped(reference, lambda array: _unfitted(array, shape))
    recovered = np.zeros((*shape, setting.components), dtype=bool)
    worth, noise = np.full(shape, np.nan), np.full(shape[0], np.nan)
    guarantees: list[Guarantee | None] = [None] * len(epsilons)
    ledgers: list[Ledger | None] = [None] * len(epsilons)
    if reached:
        grid = fitted(table, setting, [requests[i] for i in reached], draws)
        aligned, there = judge.align(grid.runs.final, reference)

        def put(target: NDArray[Any], source: NDArray[Any]) -> NDArray[Any]:
            target[reached] = source.reshape(len(reached), len(draws), *source.shape[1:])
            return target

        mapped(fits, put, aligned)
        recovered = put(np.zeros((*shape, there.shape[-1]), dtype=bool), there)
        put(worth, utility(setting.model, grid.runs.final, scorer, setting.metric))
        noise[reached] = grid.plan.factor
        for position, i in enumerate(reached):
            guarantees[i] = grid.guarantee(position)
            ledgers[i] = grid.ledger.at(position * len(draws))
    return BudgetGrid(
        setting.model,
        epsilons,
        fits,
        recovered,
        worth,
        noise,
        tuple(guarantees),
        tuple(ledgers),
        refusals,
        scorer.public,
        epsilons,
        metric=setting.metric,
    )


def _epsilon_of(request: Privacy) -> float:
    assert request.epsilon is not None  # a setting asks for a budget
    return request.epsilon


NOISE_ALONE = ("delta", "rows_per_person")  # dials that change nothing else


@dataclass(frozen=True)
class Sweep:
    """Private fits over a dial other than epsilon, and what they are held against at each stop.

    single ``(S,)``: median utility of the simplest private rival.
    """

    grid: BudgetGrid
    references: tuple[References, ...]
    single: Array

    def held_at(self, stops: Sequence[float]) -> tuple[References, ...]:
        """What the fits at some of the stops are held against."""
        return tuple(self.references[self.grid.stops.index(stop)] for stop in stops)


def sweep(
    table: PrivateTable,
    setting: Setting,
    exact: References,
    epsilon: float,
    dial: str,
    stops: Sequence[float],
    draws: Sequence[int] = (0,),
    held_out: PrivateTable | None = None,
    at_stops: Sequence[References] | None = None,
) -> Sweep:
    """Fit every stop of a dial (a field of the setting, or the name of an option) at one epsilon.

    The option must leave the converged fit as it is; of "components" there is one stop, that of the
    references. Of "fitted_rows" the table has as many as its stop says. exact: the references of
    the setting.
    held_out: rows that no fit sees, to judge fits on [those that are fitted]. at_stops: the
    references of each stop [made here]. A stop out of reach is left out with its reason; raises
    InputError where the setting itself is wrong.
    """
    if dial == "delta" and setting.mode == "proved":
        return _over_delta(table, setting, exact, epsilon, stops, draws, held_out)
    grids, held, single = [], [], []
    for place, stop in enumerate(stops):
        here = setting if dial == "fitted_rows" else setting.at(dial, stop)
        grids.append(budget_grid(table, here, exact.converged, (epsilon,), draws, held_out))
        at_stop = exact
        if at_stops is not None:
            at_stop = at_stops[place]
        elif dial == "clip":
            at_stop = references(table, here, exact.converged, held_out, exact)
        elif dial not in (*NOISE_ALONE, "components"):
            at_stop = references(table, here, exact.converged, held_out)
        held.append(at_stop)
        reached = grids[-1].refusals[0] is None
        request = here.simplest().request(epsilon)
        rival = _rivals(table, here, [request], draws, held_out) if reached else (np.nan,)
        single.append(rival[0])
    grid = replace(reduce(BudgetGrid.with_budget, grids), stops=tuple(stops), dial=dial)
    return Sweep(grid, tuple(held), np.array(single))


def _over_delta(
    table: PrivateTable,
    setting: Setting,
    exact: References,
    epsilon: float,
    stops: Sequence[float],
    draws: Sequence[int],
    held_out: PrivateTable | None,
) -> Sweep:
    """:func:`sweep` of delta: all stops in one fit, as they differ in their noise alone."""
    settings, rows = [setting.at("delta", stop) for stop in stops], _public_rows(table, setting)
    refusals = tuple(stop.reach((epsilon,), stop.accountant, rows)[1][0] for stop in settings)
    requests = [stop.request(epsilon) for stop in settings]
    grid = _grid(table, setting, exact.converged, requests, refusals, draws, held_out)
    reached = [i for i, refusal in enumerate(refusals) if refusal is None]
    single = np.full(len(stops), np.nan)
    if reached:
        rivals = [settings[i].simplest().request(epsilon) for i in reached]
        single[reached] = _rivals(table, setting, rivals, draws, held_out)
    return Sweep(replace(grid, stops=tuple(stops), dial="delta"), (exact,) * len(stops), single)


def _unfitted(array: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """Room ``(S, D, ...)`` for fits like ``one (1, ...)``: numbers are NaN, names stay."""
    if array.dtype.kind in "bfiu":
        return np.full((*shape, *array.shape[1:]), np.nan)
    return np.broadcast_to(array[0], (*shape, *array.shape[1:])).copy()


def _public_rows(table: PrivateTable, setting: Setting) -> int | None:
    """How many rows there are, where that is public and the noise depends on it."""
    if not recipe(setting.model).sampled or setting.adjacency == "add_remove":
        return None
    return len(Scorer.of(table, most=None).rows)


def fitted(
    table: PrivateTable, setting: Setting, requests: Sequence[Privacy], draws: Sequence[int]
) -> Grid:
    """Private fits of a setting: every request with every draw."""
    return fit_grid(
        setting.model,
        table,
        privacy=requests,
        draws=draws,
        seed=setting.seed,
        secret=setting.secret,
        clip=setting.clip,
        **setting.options(),
    )


@dataclass(frozen=True)
class Curves:
    """Median utility against budget for each composition method, and of the simplest private rival.

    Utility depends on the noise alone, so a method's curve is the one curve utility(noise) read at
    the noise which that method asks for: a shift along the axis. methods: name -> ``(S,)``, NaN
    where the method cannot meet the budget. says: name -> the epsilon ``(S,)`` that the method
    states for the noise of the chosen method's fit.
    """

    methods: dict[str, Array]
    says: dict[str, Array]
    single: Array


def curves(
    table: PrivateTable,
    setting: Setting,
    grid: BudgetGrid,
    methods: Sequence[str],
    draws: Sequence[int] = tuple(range(13)),
    held_out: PrivateTable | None = None,
) -> Curves:
    """The curves that stand beside a grid of fits (whose budgets and judging rows they share)."""
    rows = _public_rows(table, setting)
    noise_by_method = {method: setting.reach(grid.epsilons, method, rows)[0] for method in methods}
    known_noise, known_utility = _pooled(table, setting, grid, noise_by_method, draws, held_out)
    order = np.argsort(known_noise)
    level, value = np.log(known_noise[order]), known_utility[order]
    at_noise = {
        method: np.interp(np.log(noise), level, value, left=np.nan, right=np.nan)
        for method, noise in noise_by_method.items()
    }
    says = {method: _stated(noise_by_method[method], grid) for method in methods}
    requests = [setting.simplest().request(epsilon) for epsilon in grid.epsilons]
    return Curves(at_noise, says, _rivals(table, setting, requests, draws, held_out))


def _rivals(
    table: PrivateTable,
    setting: Setting,
    requests: Sequence[Privacy],
    draws: Sequence[int],
    held_out: PrivateTable | None,
) -> Array:
    """Median utility ``(S,)`` of the simplest private rival, at its own requests."""
    judge, scorer = yardstick(setting.model), _scorer(table, setting, held_out)
    if not judge.fits_rival:
        return np.full(len(requests), least(setting.model, scorer, setting.metric))
    alone = fitted(table, setting.simplest(), requests, draws)
    scores = utility(setting.model, alone.runs.final, scorer, setting.metric)
    return np.asarray(np.median(scores.reshape(len(requests), len(draws)), axis=1))


@dataclass(frozen=True)
class Study:
    """A setting with all that is known about it on one table."""

    setting: Setting
    references: References
    grid: BudgetGrid
    curves: Curves


def study(
    table: PrivateTable,
    setting: Setting,
    *,
    methods: Sequence[str] = (),
    draws: int = 13,
    epsilons: Sequence[float] = EPSILONS,
    held_out: PrivateTable | None = None,
) -> Study:
    """Work out a study: every budget with every draw, its references and curves.

    table: the rows, sealed. methods: composition methods to compare with the setting's own. draws:
    of the noise, at each of the epsilons. held_out: rows that no fit sees, to judge fits on [those
    that are fitted]. The result is for the custodian's eyes, unless the rows
    are simulated or published. Raises InputError as :func:`dpcore.fit` does.

    >>> from dpcore.datasets.load import load
    >>> found = study(load("bundled:rare_person"), Setting(components=2), draws=3)
    >>> found.grid.utility.shape
    (67, 3)
    """
    demand_loaded(table)
    if not isinstance(setting, Setting):
        raise InputError("setting", "it is not a dpcore.Setting", 'give dpcore.Setting("gmm", 3)')
    draws, budgets = whole("draws", draws, most=MOST_DRAWS), budgets_of(epsilons)
    methods = words_of("methods", methods)
    for method in methods:
        registered(method)
    setting = _demanded(setting)
    held_against = references(table, setting, held_out=held_out)
    grid = budget_grid(table, setting, held_against.converged, budgets, range(draws), held_out)
    drawn = curves(table, setting, grid, (setting.accountant, *methods), range(draws), held_out)
    return Study(setting, held_against, grid, drawn)


def budgets_of(epsilons: Any) -> list[float]:
    """A list of epsilons; raises InputError unless it is one, of finite numbers above 0."""
    budgets = check_epsilons(np.asarray(epsilons))
    if budgets.ndim != 1 or not budgets.size:
        raise InputError("epsilons", "it is not a list of numbers", "give one, such as [0.1, 1]")
    return [float(budget) for budget in budgets]


def _demanded(setting: Setting) -> Setting:
    """The setting with its numbers read; raises InputError where a field is not what it must be,
    as no fit would that needs no privacy."""
    words = pairs_of("words", setting.words)
    demand_options(setting.model, recipe(setting.model).options, dict(words))
    setting.request(1.0)
    if not isinstance(setting.metric, str) or setting.metric:
        one_of(
            "metric", setting.metric, [metric.name for metric in declaration(setting.model).metrics]
        )
    read = replace(
        setting,
        words=words,
        components=whole("components", setting.components),
        clip=positive("clip", setting.clip),
    )
    read.refusal(read.accountant)
    return read


def _pooled(
    table: PrivateTable,
    setting: Setting,
    grid: BudgetGrid,
    noise_by_method: dict[str, Array],
    draws: Sequence[int],
    held_out: PrivateTable | None,
) -> tuple[Array, Array]:
    """Pairs (noise, median utility): the grid's own, and more where other methods ask for noise
    outside its range (every third budget of theirs)."""
    own = np.isfinite(grid.noise)
    noise = grid.noise[own]
    worth = np.median(grid.utility[own], axis=1)
    low, high = (noise.min(), noise.max()) if noise.size else (np.inf, -np.inf)
    requests = {}
    for method, levels in noise_by_method.items():
        for i in range(0, len(levels), 3):
            if np.isfinite(levels[i]) and not low <= levels[i] <= high:
                requests[float(f"{levels[i]:.3g}")] = (
                    levels[i],
                    setting.request(grid.epsilons[i], method),
                )
    if not requests:
        return noise, worth
    more = fitted(table, setting, [request for _, request in requests.values()], draws)
    scorer = _scorer(table, setting, held_out)
    scores = utility(setting.model, more.runs.final, scorer, setting.metric)
    scores = scores.reshape(len(requests), len(draws))
    levels = np.array([level for level, _ in requests.values()])
    return np.concatenate([noise, levels]), np.concatenate([worth, np.median(scores, axis=1)])


def _stated(noise: Array, grid: BudgetGrid) -> Array:
    """The epsilon a method states for each noise of the grid: noise(epsilon) read backwards."""
    finite = np.isfinite(noise)
    if finite.sum() < 2:
        return np.full(len(grid.noise), np.nan)
    level, value = np.log(noise[finite]), np.log(np.array(grid.epsilons)[finite])
    order = np.argsort(level)
    return np.asarray(
        np.exp(np.interp(np.log(grid.noise), level[order], value[order], left=np.nan, right=np.nan))
    )
