"""What a release keeps of its exact fit against its cost, simulated on stand-in rows.

Rows are drawn from the public schema, as many as are said to be there; no table is read. How rows
lie inside their limits decides what is kept and is not public, so easy, medium and hard ones are
drawn, as the model's declaration has them, and a curve has the range over all of them. Of more than
:data:`MOST_ROWS`, or fewer of a slow model, so many are simulated and costs are scaled: noise
matters relative to the rows, so twice the rows keep as much at a quarter of the cost. So do persons
of m rows with m times the noise, which are simulated with one row each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpcore.accounting.gaussian import rho_of
from dpcore.arrays import Array
from dpcore.datasets.generators import stand_in
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.evaluation.study import EPSILONS, Setting, fitted, references
from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.fitting.recipe import recipe
from dpcore.releases.api import demand_whole
from dpcore.schema import Schema
from dpcore.schema.persons import demand_few_times
from dpcore.wall.table import PrivateTable

STOPS_DELTA = 1e-5
STOPS = (*EPSILONS[14::4], 60.0, 400.0)  # budgets simulated, five a decade; then for many rows
MIDDLING = "middling"
WORLDS = ("easy", MIDDLING, "hard")  # as a model's declaration has them
DIFFICULTIES = ("easy", "medium", "hard")  # the same, as sentences have them
TABLES, DRAWS = 3, 4  # drawn from the schema for each world, and noise draws on each
LEAST_ROWS, MOST_ROWS = 1_000, 2_000  # simulated, of slow models and of others
FEWEST = 300  # simulated, of persons with several rows
LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class UtilityCurve:
    """The share of the exact gain that a release keeps, at costs rho = 1 / (2 z^2).

    The gain is what the exact fit adds to the model's simplest rival. rho ``(S,)``: rising from 0.
    median ``(S,)``: of simulated releases from medium rows. low, high ``(S,)``: the least tenth
    and the largest ninetieth percentile over easy, medium and hard rows. Each is the least of
    those from there on, so none falls. Between two costs all of them are interpolated in rho;
    beyond the last they stay.
    """

    rho: Array
    low: Array
    median: Array
    high: Array

    def at(self, rho: float) -> tuple[float, float, float]:
        """(low, median, high) share at one cost, each between 0 and 1. rho: 0 or more."""
        low, median, high = (
            float(np.interp(rho, self.rho, curve)) for curve in (self.low, self.median, self.high)
        )
        return min(low, median), median, max(high, median)

    def needed(self, share: float) -> float:
        """The least cost rho at which the median reaches a share; infinite where none
        does.
        """
        return self._reaches(self.median, share)

    def needed_between(self, share: float) -> tuple[float, float]:
        """The least costs rho at which the high and the low curve reach a share: the
        range over easy, medium and hard rows, infinite where a curve never does.
        """
        middle = self.needed(share)
        best, worst = (self._reaches(curve, share) for curve in (self.high, self.low))
        return min(best, middle), max(worst, middle)

    def _reaches(self, curve: Array, share: float) -> float:
        at = int(np.searchsorted(curve, share))
        if at == len(self.rho):
            return float("inf")
        if at == 0:
            return 0.0
        part = (share - curve[at - 1]) / (curve[at] - curve[at - 1])
        return float(self.rho[at - 1] + part * (self.rho[at] - self.rho[at - 1]))

    def majorant(self) -> tuple[Array, Array]:
        """Corners ``(K,)`` of the least concave curve on or above the median: costs and shares.

        >>> rho, share = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.1, 0.8, 0.8])
        >>> UtilityCurve(rho, share, share, share).majorant()[0]
        array([0., 2.])
        """
        corners: list[int] = []
        for i in range(int(np.argmax(self.median)) + 1):
            while len(corners) > 1 and self._slope(corners[-2], corners[-1]) <= self._slope(
                corners[-1], i
            ):
                corners.pop()
            corners.append(i)
        return self.rho[corners], self.median[corners]

    def _slope(self, start: int, end: int) -> float:
        return float((self.median[end] - self.median[start]) / (self.rho[end] - self.rho[start]))

    def with_rows(self, factor: float) -> UtilityCurve:
        """The curve of a table with ``factor`` times the rows: the noise of a sum stays and its
        size grows, so the same share costs rho / factor^2.
        """
        return replace(self, rho=self.rho / factor**2)


@lru_cache(maxsize=128)
def utility_curve(
    model: str,
    schema: Schema,
    rows: int,
    adjacency: str = "replace_one",
    options: tuple[tuple[str, Any], ...] = (),
    worlds: tuple[str, ...] = WORLDS,
) -> UtilityCurve:
    """Simulate releases of a model from rows drawn from a schema, at costs of two decades of
    epsilon and more.

    rows: a public number. options: as :func:`dpcore.fit` takes them. worlds: of the rows; without
    the easy and the hard ones, the range is that of medium rows alone. Raises InputError for what
    cannot be released, and as a fit does.
    """
    if schema.rehearsal:
        raise InputError(
            "schema",
            "its bounds were read from the data",
            "state limits that you could print before seeing the data",
        )
    demand_few_times(schema, together := schema.rows_per_person)
    slow = declaration(model).cost > 1.0
    sampled = min(max(rows // together, FEWEST), rows, LEAST_ROWS if slow else MOST_ROWS)
    alone = replace(schema, rows_per_person=1)
    guessed = _guess(model, schema, adjacency, dict(options), sampled, rows)
    shares = [_kept_in(model, alone, sampled, adjacency, guessed, world) for world in worlds]
    least = np.min([np.quantile(share, 0.1, axis=1) for share in shares], axis=0)
    most = np.max([np.quantile(share, 0.9, axis=1) for share in shares], axis=0)
    middle = np.median(shares[worlds.index(MIDDLING)], axis=1)
    low, median, high = (_rising(np.asarray(line)) for line in (least, middle, most))
    rho = np.asarray(rho_of(np.array(STOPS), STOPS_DELTA)) * (sampled * together / rows) ** 2
    start = np.zeros(1)
    return UtilityCurve(*(np.concatenate([start, line]) for line in (rho, low, median, high)))


def _guess(
    model: str, schema: Schema, adjacency: str, options: dict[str, Any], sampled: int, rows: int
) -> tuple[tuple[str, Any], ...]:
    """Options with the guess of how many rows there are, where one is made, of those sampled; where
    nobody makes it, each person is taken to have one."""
    adds_up = schema.person is not None and not schema.equal_weight
    unsaid = rows / schema.rows_per_person if adds_up and adjacency == "replace_one" else None
    guess = options.get("rows", unsaid)
    if "rows" in recipe(model).options.options() and isinstance(guess, int | float) and guess > 0:
        options["rows"] = max(1, round(guess * sampled / rows))
    return tuple(options.items())


@lru_cache(maxsize=384)
def _kept_in(
    model: str,
    schema: Schema,
    rows: int,
    adjacency: str,
    options: tuple[tuple[str, Any], ...],
    world: str,
) -> Array:
    """Shares ``(S, R)`` kept by releases from rows of one world, at :data:`STOPS`."""
    setting = release_setting(model, schema, adjacency, dict(options))
    lies = declaration(model).worlds[WORLDS.index(world)]
    shares = []
    for seed in range(TABLES):
        frame = stand_in(schema, rows, seed=seed, groups=setting.components, world=lies)
        table = PrivateTable.seal(frame, schema, open_to_all=True)
        shares.append(kept_shares(table, replace(setting, seed=seed), STOPS, DRAWS))
    return np.concatenate(shares, axis=1)


def kept_shares(
    table: PrivateTable, setting: Setting, epsilons: Sequence[float], draws: int
) -> Array:
    """The share of the exact gain that private fits keep on the rows of a table: ``(S, D)``,
    between 0 and 1, by epsilon and noise draw.

    The gain is that of the exact fit over the model's simplest rival; where it is negligible the
    share is 0. Reads exact rows, so it is for simulated tables and for the custodian.
    """
    judge, reference = yardstick(setting.model), references(table, setting)
    alone = setting.components == judge.simplest
    base = reference.bounds_utility if alone else reference.single_utility
    gain = reference.converged_utility - base
    grid = fitted(table, setting, [setting.request(e) for e in epsilons], range(draws))
    scores = judge.score(grid.runs.final, scorer_of(setting.model, table, setting.options()))
    shares = np.clip((scores - base) / max(gain, LEAST_GAIN), 0.0, 1.0) * (gain > LEAST_GAIN)
    return np.asarray(np.nan_to_num(shares).reshape(len(epsilons), draws))


def _rising(shares: Array) -> Array:
    """The least of the shares from each cost on."""
    return np.flip(np.minimum.accumulate(np.flip(shares)))


def release_setting(model: str, schema: Schema, adjacency: str, options: dict[str, Any]) -> Setting:
    """What is simulated: a release as it is made, with its own defaults where nothing is said."""
    parts, clip = options.pop("n_components", None), options.pop("clip", None)
    components, how = min(3, declaration(model).most) if parts is None else parts, recipe(model)
    setting = Setting(
        model,
        components,
        delta=STOPS_DELTA,
        adjacency=adjacency,
        rows_per_person=schema.rows_per_person,
        clip=how.clip if clip is None else clip,
    )
    demand_whole(model, setting.request(1.0), {"n_components": parts, **options})
    usual = how.settings(components=components, **options)
    own = {
        name: getattr(usual, name)
        for name in ("iterations", "covariance", "combination", "algorithm")
        if hasattr(usual, name)
    }
    words = tuple((name, value) for name, value in options.items() if name not in own)
    return replace(setting, **own, words=words)
