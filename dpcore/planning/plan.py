"""Several releases from one budget: what each gets, what it keeps, and what more would cost."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.accounting.gaussian import epsilon_of_rho, rho_of
from dpcore.arrays import Array
from dpcore.checks import listed, one_of, pairs_of, positive, probability, truth, whole, words_of
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.planning.curves import DIFFICULTIES, MIDDLING, WORLDS, UtilityCurve, utility_curve
from dpcore.planning.split import GAP, NEAR, Division, Split
from dpcore.privacy import Privacy
from dpcore.privacy.adjacency import ADJACENCIES, protects
from dpcore.privacy.guarantee import delta_text, show_bound, show_most
from dpcore.registry import MODELS
from dpcore.releases.api import planned_noise
from dpcore.releases.filter import PER_RHO, SOLVED, USUAL, Amount, filter_of
from dpcore.schema import Schema

NOTHING = 0.005  # a share that is shown as 0%
MOST_ROWS = 10**12  # of one table; costs of more have no digits left
POINT = 0.01  # of a share
LEAST_GAIN = 1e-3  # points; less is what the solver leaves


@contextmanager
def about(name: str) -> Iterator[None]:
    """Name the release in the InputError of what is done with it, and raise that."""
    try:
        yield
    except InputError as refusal:
        field = f"release {name!r}, {refusal.field}"
        raise InputError(field, refusal.problem, refusal.remedy) from None


@dataclass(frozen=True)
class WantedRelease:
    """One release that is to leave, or several alike.

    name: what a plan calls it. model: a name of the registry. schema: the public limits of its
    table. rows: how many rows there are, a public number; of persons with equal weight, as many as
    count, which is rows_per_person of each. times: how many such releases leave.
    at_least: share of the exact fit's gain over the model's simplest rival, between 0 and 1, that
    the median release is to keep. epsilon: the least that each is to have, at the plan's delta;
    locked: exactly that. options: pairs of the model's own, as :func:`dpcore.fit` takes them.

    Raises InputError on a mistake.
    """

    name: str
    model: str
    schema: Schema
    rows: int
    times: int = 1
    at_least: float | None = None
    epsilon: float | None = None
    locked: bool = False
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError("name", "a release has no name", "give each release its own name")
        one_of("model", self.model, tuple(MODELS))
        checked: dict[str, Any] = {
            "rows": whole("rows", self.rows, most=MOST_ROWS),
            "times": whole("times", self.times, most=10_000),
            "options": pairs_of("options", self.options),
        }
        if not isinstance(self.schema, Schema):
            raise InputError("schema", "it is not a dpcore.Schema", "give the one of its table")
        if not all(isinstance(value, Hashable) for _, value in checked["options"]):
            raise InputError(
                "options", "a value is a list or another thing that can change", "give a tuple"
            )
        if self.at_least is not None:
            checked["at_least"] = probability("at_least", self.at_least, example="0.8")
        if self.epsilon is not None:
            checked["epsilon"] = positive("epsilon", self.epsilon)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if truth("locked", self.locked) and self.epsilon is None:
            raise InputError("locked", "the release has no epsilon", "give epsilon, or unlock it")
        if self.locked and self.at_least is not None:
            raise InputError(
                "at_least",
                "a locked epsilon already determines the utility",
                "leave out at_least, or unlock the release",
            )


@dataclass(frozen=True)
class PlannedRelease:
    """What a plan gives each release of one line.

    epsilon: of each, at the plan's delta; noise_multiplier: total, of each (infinite where it gets
    nothing). median: share of the exact gain that simulated releases kept there on medium rows;
    low, high: range over easy, medium and hard ones. counted_on: the share that the programme
    counted on. budget_share: of all its times together. at_least: the share wanted; it takes the
    epsilons needed, on easy, medium and hard rows, and at its own epsilon rows_needed (infinite:
    no budget simulated is enough).
    """

    name: str
    model: str
    times: int
    epsilon: float
    noise_multiplier: float
    low: float
    median: float
    high: float
    counted_on: float
    budget_share: float
    at_least: float | None = None
    needed: tuple[float, float, float] | None = None
    rows_needed: tuple[float, float, float] | None = None

    def sentence(self) -> str | None:
        """What its wanted share takes, over the worlds; ``None`` where none is wanted."""
        if self.at_least is None or self.needed is None or self.rows_needed is None:
            return None
        reached = [math.isfinite(need) for need in self.needed]
        needs = [
            f"epsilon = {show_bound(need)} on {world} rows"
            for world, need, there in zip(DIFFICULTIES, self.needed, reached, strict=True)
            if there
        ]
        if any(reached) and self.epsilon > 0.0:
            rows = [f"{float(f'{need:.2g}'):,.0f}" for need in self.rows_needed if need < math.inf]
            needs[-1] += f" (with epsilon = {show_most(self.epsilon)}: {' or '.join(rows)} rows)"
        out = [world for world, there in zip(DIFFICULTIES, reached, strict=True) if not there]
        parts = [f"takes {', '.join(needs)}"] if needs else []
        if out:
            parts.append(f"is reached at no simulated epsilon on {listed(out, 'or')} rows")
        whose = f" for {self.name!r}" if self.name else ""
        return f"{_share(self.at_least)}{whose} {' and '.join(parts)}."


@dataclass(frozen=True)
class ReleasePlan:
    """How a budget is split among releases, priced as a ledger will price them.

    budget: epsilon and delta of everything; spent, left: of it, as a budget ledger counts.
    protects: the protected change in plain words, of every release's schema.
    prices: by name, how many percentage points the others lose together where each release of
    that name gains one; infinite where they cannot give so much, ``None`` where no budget buys it
    or no other can give anything.
    budget_dual: percentage points that one percent more of the budget (in rho) gains in all.
    feasible: whether every wish fits; else releases hold what the wishes need, and conflict says
    which one to drop. notes: what to know besides.
    """

    budget: Amount
    adjacency: str
    protects: str
    releases: tuple[PlannedRelease, ...]
    spent: Amount
    left: Amount
    prices: dict[str, float | None]
    budget_dual: float
    feasible: bool
    conflict: str | None
    notes: tuple[str, ...]

    @property
    def mean_share(self) -> float:
        """The share of the exact gain that the releases keep on average."""
        count = sum(release.times for release in self.releases)
        return sum(release.times * release.median for release in self.releases) / count

    def sentences(self) -> tuple[str, ...]:
        """What one percent more budget gains, by its dual value, and what one more point of each
        release costs the others; then what wanted shares take."""
        if not self.feasible:
            return ()
        gain = (
            "nothing"
            if self.budget_dual < LEAST_GAIN
            else f"{_points(self.budget_dual)} points in all"
        )
        more = f"One percent more budget gains {gain}."
        prices = (
            f"One more percentage point for {'each ' if release.times > 1 else ''}{release.name!r} "
            f"{_what_others_lose(price)}."
            for release in self.releases
            if (price := self.prices.get(release.name)) is not None
        )
        return more, *prices, *self.ranges()

    def ranges(self) -> tuple[str, ...]:
        """What wanted shares take over the worlds, and which releases may keep nothing."""
        takes = (sentence for release in self.releases if (sentence := release.sentence()))
        empty = [
            f" of {release.name!r}" if release.name else ""
            for release in self.releases
            if release.low < NOTHING <= release.median
        ]
        if not empty:
            return tuple(takes)
        ranges, begin = ("ranges", "begin") if len(empty) > 1 else ("range", "begins")
        head = f"The {ranges}{' and'.join(empty)} {begin}"
        return (
            *takes,
            f"{head} at 0%: on some simulated tables, none of the exact fit's gain is kept.",
        )

    def decided(self) -> tuple[str, ...]:
        """What decides where in its range each model lies."""
        return tuple(
            f"Where in its range a release of {model.noun} lies depends on {model.decides}."
            for model in map(declaration, dict.fromkeys(release.model for release in self.releases))
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; what no budget reaches is null."""
        return {
            "budget": vars(self.budget),
            "adjacency": self.adjacency,
            "protects": self.protects,
            "releases": [
                {
                    "name": release.name,
                    "model": release.model,
                    "times": release.times,
                    "epsilon": release.epsilon,
                    "noise_multiplier": release.noise_multiplier,
                    "utility": {"low": release.low, "median": release.median, "high": release.high},
                    "budget_share": release.budget_share,
                    "needed": _over_worlds(release.needed),
                    "rows_needed": _over_worlds(release.rows_needed),
                    "decided_by": declaration(release.model).decides,
                }
                for release in self.releases
            ],
            "spent": vars(self.spent),
            "left": vars(self.left),
            "prices": {
                name: price if price is not None and price < math.inf else None
                for name, price in self.prices.items()
            },
            "budget_dual": self.budget_dual,
            "feasible": self.feasible,
            "conflict": self.conflict,
            "notes": list(self.notes),
        }


class Planner:
    """Plans of some wanted releases under any total budget: curves and programme are kept.

    wanted: the releases, each with its own name, about one kind of unit, as a ledger is.
    adjacency: what the budget protects. worlds: of the simulated rows; the plan is that of medium
    ones, the others give its ranges. Raises InputError, which names the release, for what cannot
    be released or simulated.
    """

    def __init__(
        self,
        wanted: Sequence[WantedRelease],
        *,
        adjacency: str = "replace_one",
        worlds: tuple[str, ...] = WORLDS,
    ) -> None:
        self.wanted = tuple(wanted) if isinstance(wanted, Sequence) else ()
        if not all(isinstance(release, WantedRelease) for release in self.wanted):
            raise InputError("release", "it is not a dpcore.WantedRelease", "give these")
        self.adjacency = one_of("adjacency", adjacency, ADJACENCIES)
        self.worlds = words_of("worlds", worlds)
        for world in self.worlds:
            one_of("worlds", world, WORLDS)
        if MIDDLING not in self.worlds:
            raise InputError("worlds", f"{MIDDLING} is not among them", "add it")
        names = [release.name for release in self.wanted]
        if not names or len(set(names)) < len(names):
            problem = "two releases have the same name" if names else "the plan has no release"
            remedy = "give each its own name" if names else "add a release"
            raise InputError("release", problem, remedy)
        schemas = [release.schema for release in self.wanted]
        units = list(dict.fromkeys(f"one {schema.unit}" for schema in schemas))
        if len(units) > 1:
            raise InputError(
                "unit",
                f"the releases protect {listed(units)}, but a ledger protects one kind of unit",
                "name the same unit in each schema, or make one plan for each",
            )
        changes = dict.fromkeys(
            protects(
                adjacency, public.unit, public.rows_per_person, limited=public.person is not None
            )
            for public in schemas
        )
        self.protects = listed(list(changes), "or")
        self.curves = [self._curve(release) for release in self.wanted]
        self.split = Split(self.curves)

    def _curve(self, wanted: WantedRelease) -> UtilityCurve:
        with about(wanted.name):
            return utility_curve(
                wanted.model,
                wanted.schema,
                wanted.rows,
                self.adjacency,
                wanted.options,
                self.worlds,
            )

    def plan(
        self, epsilon: float, delta: float, *, rows: float = 1.0, more: str | None = None
    ) -> ReleasePlan:
        """The best split of a total epsilon and delta. Raises InputError for a budget that cannot
        be.

        rows: what if there were so many times the rows. more: what if one more of that name left.
        """
        limit = Amount(positive("epsilon", epsilon), probability("delta", delta))
        rows = positive("rows", rows, example="2")
        if rows * max(release.rows for release in self.wanted) > MOST_ROWS:
            raise InputError("rows", "a table would have more than 10^12 rows", "give a lower one")
        if more is not None:
            one_of("more", more, [release.name for release in self.wanted])
        total = filter_of(USUAL).budget(limit)[0] / PER_RHO
        times = np.array(
            [release.times + (release.name == more) for release in self.wanted], dtype=float
        )
        curves = [curve.with_rows(rows) for curve in self.curves]
        low, conflict = self._wishes(curves, times, total, limit)
        if conflict is not None:
            needed = np.where(np.isfinite(low), low, 0.0)
            return self._priced(curves, times, needed, total, limit, None, conflict, rows=rows)
        locked = [release.locked for release in self.wanted]
        division = self.split.solve(total, times, low, np.where(locked, low, total), rows=rows)
        rho = total * division.shares
        return self._priced(curves, times, rho, total, limit, division, None, low, rows)

    def _wishes(
        self, curves: Sequence[UtilityCurve], times: Array, total: float, limit: Amount
    ) -> tuple[Array, str | None]:
        """The least rho ``(N,)`` that each wish needs, and what to drop where they do not fit."""
        low = np.zeros(len(times))
        for i, (release, curve) in enumerate(zip(self.wanted, curves, strict=True)):
            if release.epsilon is not None:
                spared = 4.0 * float(SOLVED)  # a budget is rounded down
                low[i] = float(rho_of(release.epsilon * (1.0 - spared), limit.delta))
            if release.at_least is not None:
                low[i] = max(low[i], curve.needed(release.at_least))
                if math.isinf(low[i]):
                    most = _below(float(curve.median[-1]), release.at_least)
                    return low, (
                        f"drop {_wish(release)}, because its simulated releases keep at most "
                        f"{most} of the exact fit's gain at every budget simulated"
                    )
        cost = times * low
        if cost.sum() <= total:
            return low, None
        enough = [i for i in np.argsort(cost) if cost.sum() - cost[i] <= total]
        dropped = enough[:1] or list(np.argsort(-cost)[: _most_to_drop(cost, total)])
        named = " and ".join(_wish(self.wanted[i]) for i in dropped)
        all_of = show_bound(float(epsilon_of_rho(cost.sum(), limit.delta)))
        return low, f"drop {named}, because all requests together need epsilon = {all_of}"

    def _priced(
        self,
        curves: Sequence[UtilityCurve],
        times: Array,
        rho: Array,
        total: float,
        limit: Amount,
        division: Division | None,
        conflict: str | None,
        low: Array | None = None,
        rows: float = 1.0,
    ) -> ReleasePlan:
        """The plan of a cost for each release, with what a ledger charges."""
        releases, units = [], 0
        way = filter_of(USUAL)
        for i, (release, curve) in enumerate(zip(self.wanted, curves, strict=True)):
            rho_each = float(rho[i])
            epsilon = float(epsilon_of_rho(rho_each, limit.delta)) if rho_each > 0.0 else 0.0
            if rho_each > 0.0:
                if epsilon == 0.0:
                    raise InputError(
                        "epsilon",
                        f"the plan leaves {release.name!r} so little that its epsilon would be 0",
                        "give a larger one or a smaller delta, or lock one for this release",
                    )
                stated = Amount(epsilon, limit.delta)
                privacy = Privacy(epsilon, limit.delta)
                (cost,) = way.cost(planned_noise(privacy, stated), stated)
                units += int(times[i]) * cost
            utility = curve.at(rho_each)
            counted = utility[1] if division is None else float(division.counted_on[i])
            releases.append(
                PlannedRelease(
                    release.name, release.model, int(times[i]), epsilon,
                    (2.0 * rho_each) ** -0.5 if rho_each > 0.0 else math.inf,
                    *utility, counted, float(times[i] * rho_each / total),
                    *takes(release, curve, rows * release.rows, rho_each, limit.delta),
                )
            )  # fmt: skip
        rest = max(0, way.budget(limit)[0] - units)
        notes: list[str | None] = []
        if division is not None and low is not None:
            held = float(times @ low) >= total * (1.0 - NEAR)
            notes = [_note(*both, held=held) for both in zip(releases, curves, strict=True)]
        return ReleasePlan(
            limit,
            self.adjacency,
            self.protects,
            tuple(releases),
            way.amount((units,), limit),
            way.amount((rest,), limit),
            {} if division is None or low is None else self._prices(curves, times, rho, low, total),
            0.0 if division is None else division.budget_dual,
            conflict is None,
            conflict,
            (*self._large(limit.delta, rows), *filter(None, notes)),
        )

    def _large(self, delta: float, rows: float) -> tuple[str, ...]:
        """That a delta could publish one row, where it could; who has an id may have several."""
        small = [
            repr(release.name)
            for release in self.wanted
            if delta * rows * release.rows
            > (1 if release.schema.person is None else release.schema.rows_per_person)
        ]
        if not small:
            return ()
        return (
            f"delta = {delta_text(delta)} is above 1 divided by the number of rows of "
            f"{listed(small)}, which would allow one row to be published; give a smaller one.",
        )

    def _prices(
        self, curves: Sequence[UtilityCurve], times: Array, rho: Array, low: Array, total: float
    ) -> dict[str, float | None]:
        """What one more point for each costs the others: the one of them that loses least, or all
        where no single one has enough to give. They give up only what no wish holds."""
        locked = np.array([release.locked for release in self.wanted])
        free = times * np.where(locked, 0.0, np.maximum(rho - low, 0.0))
        left, now = total - float(times @ rho), _simulated(curves, rho)
        prices: dict[str, float | None] = {}
        for i, (release, curve) in enumerate(zip(self.wanted, curves, strict=True)):
            more = float(times[i] * (curve.needed(now[i] + POINT) - rho[i]))
            others = np.where(np.arange(len(free)) == i, 0.0, free)
            lost = [
                float(times @ (now - _simulated(curves, rho - paid / times))) / POINT
                for paid in _ways_to_pay(others, more)
            ]
            dearest = math.inf if math.isfinite(more) and others.any() else None
            prices[release.name] = 0.0 if more <= left else min(lost, default=dearest)
        return prices

    def what_ifs(self, epsilon: float, delta: float) -> tuple[tuple[str, ReleasePlan], ...]:
        """The same with twice the rows, and with one more release of each name: what changes, and
        the plan then."""
        names = [release.name for release in self.wanted]
        return (
            ("twice the rows", self.plan(epsilon, delta, rows=2.0)),
            *((f"one more {name!r}", self.plan(epsilon, delta, more=name)) for name in names),
        )


def _simulated(curves: Sequence[UtilityCurve], rho: Array) -> Array:
    """The share ``(N,)`` that each release keeps on medium rows, at its cost rho ``(N,)``."""
    return np.array([curve.at(float(cost))[1] for curve, cost in zip(curves, rho, strict=True)])


def _ways_to_pay(free: Array, more: float) -> Array:
    """Who gives up how much of a cost ``(W, N)``, of what is free ``(N,)``: any one who can, else
    all of them the same part; nobody where there is too little."""
    if (able := free >= more).any():
        return more * np.eye(len(free))[able]
    enough = free.sum() >= more
    return free[None] * (more / free.sum()) if enough else np.empty((0, len(free)))


def takes(
    release: WantedRelease, curve: UtilityCurve, rows: float, rho: float, delta: float
) -> tuple[Any, ...]:
    """The share wanted, with the epsilons and, at a cost, the rows it takes over the worlds."""
    if release.at_least is None:
        return None, None, None
    best, worst = curve.needed_between(release.at_least)
    needed = best, curve.needed(release.at_least), worst
    epsilons = tuple(float(epsilon_of_rho(need, delta)) if need < math.inf else need
                     for need in needed)  # fmt: skip
    factor = rows / math.sqrt(rho) if rho > 0.0 else math.inf
    return release.at_least, epsilons, tuple(factor * math.sqrt(need) for need in needed)


def _over_worlds(values: tuple[float, float, float] | None) -> dict[str, float | None] | None:
    if values is None:
        return None
    finite = (value if math.isfinite(value) else None for value in values)
    return dict(zip(WORLDS, finite, strict=True))


def _points(number: float) -> str:
    """Percentage points with two digits, and no power of ten.

    >>> _points(0.0441), _points(1.0), _points(109.6)
    ('0.044', '1', '110')
    """
    return f"{float(f'{number:.2g}'):.12g}"


def _what_others_lose(points: float) -> str:
    """What a point for a release costs the others, in words."""
    if math.isinf(points):
        return "would take more than the others can give"
    return f"costs the others {_points(points)} point{'s' * (_points(points) != '1')} together"


def _share(wanted: float) -> str:
    """A share as it was asked for: 99.9% is not 100%.

    >>> _share(0.999), _share(0.29)
    ('99.9%', '29%')
    """
    return f"{100.0 * wanted:.12g}%"


def _below(share: float, wanted: float) -> str:
    """A share that is less than what was wanted, with as many digits as show it.

    >>> _below(0.8, 0.9), _below(0.9996, 0.9999)
    ('80%', '99.96%')
    """
    texts = (f"{100.0 * share:.{digits}f}" for digits in range(15))
    return next((text for text in texts if float(text) < 100.0 * wanted), f"{100.0 * share}") + "%"


def _wish(release: WantedRelease) -> str:
    """A wish in words."""
    parts = [] if release.at_least is None else [f"at least {_share(release.at_least)}"]
    if release.epsilon is not None:
        parts.append(
            f"{'locked at' if release.locked else 'at least'} epsilon = {release.epsilon:g}"
        )
    return f"the request for {release.name!r} ({', '.join(parts)})"


def _most_to_drop(cost: Array, total: float) -> int:
    """How many of the dearest wishes must go."""
    return int(np.argmax(cost.sum() - np.cumsum(np.sort(cost)[::-1]) <= total)) + 1


def _note(release: PlannedRelease, curve: UtilityCurve, *, held: bool) -> str | None:
    """What to know of a release. held: whether wishes take the whole budget."""
    if curve.median[-1] <= 0.0:
        return (
            f"{release.name!r}: on rows of medium difficulty drawn from the limits, simulated "
            "releases keep none of the exact fit's gain; lock an epsilon."
        )
    if release.epsilon == 0.0 and held:
        return (
            f"{release.name!r} gets nothing: the requests for other releases take the whole "
            "budget; ask less for them, or give a larger budget."
        )
    if release.epsilon == 0.0:
        return (
            f"{release.name!r} gets nothing: the other releases gain more from the budget; "
            "set a minimum share of the gain."
        )
    if release.median < NOTHING:
        return (
            f"{release.name!r}: releases simulated at this epsilon keep none of the exact fit's "
            "gain; give a larger budget, lock a larger epsilon, or plan fewer releases."
        )
    if abs(release.counted_on - release.median) > GAP:
        return (
            f"{release.name!r}: the plan counted on {release.counted_on:.0%} of the gain, but "
            f"releases simulated at this epsilon keep {release.median:.0%}; set a minimum share of "
            "the gain, or plan fewer releases."
        )
    return None


def plan_releases(
    wanted: Sequence[WantedRelease],
    *,
    epsilon: float,
    delta: float,
    adjacency: str = "replace_one",
) -> ReleasePlan:
    """Split a total budget among releases so that they keep the most of their exact fits together.

    wanted: what is to leave. epsilon, delta: of everything. adjacency: what is protected. Only
    schemas and public row counts are read, never rows: utility is simulated on rows drawn from the
    limits (:func:`dpcore.planning.curves.utility_curve`), and its concave majorant over the cost
    makes the split a convex programme (:mod:`dpcore.planning.split`). The plan is priced by
    what was simulated and as a budget ledger will price it; nothing is spent.

    **Guarantee:** released at their epsilons and at ``delta``, all together fit into a ledger of
    the total. Raises InputError for what cannot be released.

    >>> schema = Schema.from_bounds({"age": (0, 110), "visits": (0, 80)})
    >>> wanted = [WantedRelease("correlations", "covariance", schema, 500, times=4),
    ...           WantedRelease("averages", "mean", schema, 500, epsilon=0.5, locked=True)]
    >>> plan = plan_releases(wanted, epsilon=2.0, delta=1e-5)
    >>> plan.feasible, round(plan.releases[1].epsilon, 6), plan.spent.epsilon <= 2.0
    (True, 0.5, True)
    """
    return Planner(wanted, adjacency=adjacency).plan(epsilon, delta)
