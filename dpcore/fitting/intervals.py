"""Intervals after a release: how far its noise may have moved each released number.

Rows are drawn from the released model, and the released algorithm runs on them with the released
noise and without it. How far the two lie apart is how far a release may lie from the same algorithm
without noise on the real rows: a parametric bootstrap of the noise (Efron, Tibshirani 1993, chapter
6). Of many rows fewer are drawn, with as much noise a row. All of it reads released numbers, public
settings and the noise of the ledger's entries: it is post-processing and costs nothing. Where a
release of a covariance has counted how far rows lie from their mean, drawn rows get such tails
(:mod:`dpcore.fitting.distances`), so that clipping moves them as it does real ones. Otherwise
intervals can be too narrow, above all where clipping cuts off long tails, and so they can where
real rows are far from what the model assumes. With an id column one row is drawn for each person,
since one is sure to count: of more rows the same noise moves less. Where persons have equal weight,
the noise a row is known, but a population has shown no more rows than there are persons.

An interval reaches as far to both sides as most of the simulated distances, since noise biases fits
as well as it spreads them, times a factor that was measured for the model. Centres and groups can
also be laid in rows that have none, and noise decides how. Where rows of one cloud let them gain
nearly as much as the release, both laws of rows are simulated, and the wider interval counts.
Parts are matched by their places before they are compared. Two parts are told apart where their
released places differ more than noise moves the difference of two parts in nine simulated
releases out of ten, and where noise explains the shares of all parts but one, none are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.checks import listed, positive, probability, spelled, whole
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.fitting.recipe import Recipe, recipe
from dpcore.privacy import Gaussian, Laplace, Ledger
from dpcore.schema import Column, Schema
from dpcore.wall.noise import NoiseSource
from dpcore.wall.session import Session
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.fitting.result import Fit

Arrays = dict[str, Array]
Match = Callable[[Arrays, Arrays, Array], Arrays]
Draw = Callable[["Fit", int, np.random.Generator], "pd.DataFrame"]

LEVEL = 0.9
EARLIER = "an earlier version of this method made the fit"
WORLDS, DRAWS, MOST_ROWS = 6, 16, 2_000  # tables drawn, noise draws on each, rows of each
FEW_DRAWS = 8  # noise draws on each table of one part
QUICK = (1, 24, 1_000)  # the same, for the sentence alone on a fit of several steps
MANY = 20  # times the rows of a table, which are drawn to know the law of them all
ROUNDED = 1e-3  # of noise, to a grid or to a ledger's digits
WIDE = 32  # columns
ONE_ROW_EACH = "This assumes one row for each {}: where more rows count, more can be told apart."
UNKNOWN = "It is not known what can be told apart at this noise level: {}."
APART = 0.9  # share of simulated releases
AS_ONE = 1.1  # times what parts gain in rows of one part, in most simulated releases: no evidence


def by_places(places: str, *others: str) -> Match:
    """Matching of parts by the nearest places ``(K, d)``; the parts come first in all arrays."""

    def match(arrays: Arrays, reference: Arrays, scale: Array) -> Arrays:
        from scipy.optimize import linear_sum_assignment

        gaps = (arrays[places][:, None] - reference[places]) / scale
        order = linear_sum_assignment(np.linalg.norm(gaps, axis=-1).T)[1]
        return {name: arrays[name][order] for name in (places, *others)}

    return match


def as_they_are(arrays: Arrays, reference: Arrays, scale: Array) -> Arrays:
    """No matching, whatever the shapes: parts have names, or there is one."""
    return arrays


def sampled(fit: Fit, count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows ``(count, d)`` drawn from a fit's parameters."""
    rows: pd.DataFrame = fit.parameters.sample(count, rng)
    return rows


@dataclass(frozen=True)
class Uncertainty:
    """What a model declares for its intervals.

    arrays: released arrays that get some. places: the one by which parts are told apart ``(K, d)``,
    or of numbers ``(d,)``. population: whether there are intervals for the population, which were
    seen to hold. widen: what simulated distances are multiplied by. match: from parts and a
    reference to the parts in its order, in units ``(d,)`` of the columns. draw: so many rows from
    what a fit has released. shares: arrays between 0 and 1. variances: arrays, or diagonals
    of matrices, not below 0. cosines: arrays between -1 and 1. from_zero: the sentence about
    columns whose numbers of places can be told from 0, ``(d,)``, if these say nothing at 0. refuse:
    why settings allow no intervals, or nothing. lost: parts ``(K,)`` or ``(1,)`` that noise has
    nearly hidden: their ends are undefined. explained: from released arrays, how far they moved
    in simulated releases, and units of the columns, what the parts explain beyond one part, if that
    can be told; 0 or less is said. alone: rows of one part in place of all; gained: from arrays and
    units of the columns, what parts gain over one. Where fits of rows of one part gain as much, the
    parts are no evidence of more, and such rows are simulated. outward: from settings and a batch
    of fits, the share ``(d,)`` of their distance from the middle of the limits by which ends move
    away from it, because numbers were cut. sentence: what could be told apart, from the intervals
    [told from the places].
    """

    arrays: tuple[str, ...]
    places: str
    population: bool = True
    widen: float = 1.0
    match: Match = as_they_are
    draw: Draw = sampled
    shares: tuple[str, ...] = ()
    variances: tuple[str, ...] = ()
    cosines: tuple[str, ...] = ()
    from_zero: Callable[[list[str], Mask], str] | None = None
    refuse: Callable[[Any], str] = lambda settings: ""
    lost: Callable[[Any], Mask] = lambda parameters: np.zeros(1, dtype=bool)
    explained: Callable[[Arrays, Arrays, Array], float] | None = None
    alone: Draw | None = None
    gained: Callable[[Arrays, Array], float] | None = None
    outward: Callable[[Any, Any], Array] | None = None
    sentence: Callable[[Arrays], str] | None = None


@dataclass(frozen=True)
class Intervals:
    """Intervals of released numbers, by the names of their arrays, with a last axis of two ends.

    level: how often one covers what it is for; NaN where noise has left too little for any.
    same_rows: what the same algorithm finds without noise on the same rows; these include the
    privacy noise alone and, with a large budget, are far too narrow for a population, or where
    columns have long tails, which clipping cuts off, as far as a release does not tell of them, or
    rows can be divided into groups in more than one way, so that it finds others without noise.
    population: the parameters of the population, if the model is true of it; these also include the
    chance of drawing these rows, and are missing where nothing was released of how rows are spread,
    and of models whose intervals did not hold on simulated populations.
    sentence: what could be told apart at this noise, and what not.
    """

    level: float
    same_rows: Arrays
    population: Arrays
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "level": self.level,
            "same_rows": {name: ends.tolist() for name, ends in self.same_rows.items()},
            "population": {name: ends.tolist() for name, ends in self.population.items()},
            "sentence": self.sentence,
        }


def intervals_of(
    fit: Fit,
    *,
    level: float = LEVEL,
    rows: int | None = None,
    clip: float | None = None,
    seed: int = 0,
) -> Intervals:
    """Intervals of what a fit or an opened release has found; see the module.

    rows: a public guess of how many there are, where a release does not say; where persons have
    equal weight, as many of each as count at most. clip: the share of the
    public radius at which rows were clipped, likewise. seed: of the simulation.

    **Guarantee:** that of the fit; this reads nothing else and costs nothing.
    Raises InputError where the model gives no intervals, or where something is not known.
    """
    level = probability("level", level, example="0.9")
    return _Simulated(fit, rows, clip).intervals(level, seed)


def sentence_of(fit: Fit) -> str | None:
    """What could be told apart at a fit's noise and what not, from a simulation, a short one where
    fits take several steps; or why this is not known, as of tables wider than :data:`WIDE`, whose
    simulation takes too long for a fit.

    ``None`` of a fit without noise, or with noise as published.
    """
    if not _noisy(fit) or fit.settings.get("mode") == "paper":
        return None
    model = declaration(fit.model)
    if model.noise_sentence:
        return str(model.load(model.noise_sentence)(fit.parameters, fit.schema))
    try:
        length = QUICK if "iterations" in fit.settings else ()  # as long as intervals take
        simulated = _Simulated(fit, None, None, *length)
        if len(simulated.scale) <= WIDE:
            return simulated.sentence()
        reason = f"fits of more than {WIDE} columns are simulated only on request"
    except InputError as refusal:
        reason = refusal.problem
    except (ArithmeticError, ValueError):
        reason = "the noise made some numbers infinite or undefined"
    return UNKNOWN.format(reason)


class _Simulated:
    """Simulated releases like one that has left. Raises InputError where there can be none."""

    def __init__(
        self,
        fit: Fit,
        rows: int | None,
        clip: float | None,
        worlds: int = WORLDS,
        draws: int = DRAWS,
        most: int = MOST_ROWS,
    ) -> None:
        self.fit, self.model = fit, declaration(fit.model)
        if not self.model.uncertainty:
            raise _refused(self.model.no_intervals)
        self.uncertainty: Uncertainty = self.model.load(self.model.uncertainty)
        if fit.guarantee.epsilon is None and fit.guarantee.rehearsal and not _noisy(fit):
            raise _refused("the fit had no noise", "fit with privacy")
        if fit.schema is None:
            raise _refused("the public limits are not known", "open the release from its folder")
        self.schema: Schema = fit.schema
        self.rows, self.clip = _rows_of(fit, rows), _clip_of(fit, clip)
        self.alike = fit.guarantee.limited and self.schema.equal_weight
        self.apart = self.rows / fit.guarantee.rows_per_person if self.alike else self.rows
        self.how = recipe(fit.model)
        rows_of_one = fit.guarantee.rows_per_person
        settings = _settings(self.how, fit.settings)
        self.settings = self.how.as_made(settings, fit.ledger, rows_of_one)
        if self.settings is None:
            raise _refused(EARLIER)
        reason = self.uncertainty.refuse(self.settings)
        if self.settings.mode == "paper":
            reason = "noise as published in the paper is not simulated"
        if reason:
            raise _refused(reason)
        self.factor = _factor(self.how, self.settings, fit)
        self.worlds, self.draws, self.simulated = worlds, draws, min(self.rows, most)
        self.released = self._arrays(fit.parameters)
        columns = self.schema.numeric_columns()
        places = np.array([[column.lower, column.upper] for column in columns])
        if self.uncertainty.places in self.uncertainty.shares:  # of the way from no to yes
            places = np.broadcast_to([0.0, 1.0], places.shape)
        self.limits, self.scale = places, places[:, 1] - places[:, 0]

    def intervals(self, level: float, seed: int) -> Intervals:
        moved, both = self._distances(self.uncertainty.draw, seed)
        moved_alone = []
        if self._as_of_one and self.uncertainty.alone is not None:
            moved_alone = [self._distances(self.uncertainty.alone, seed)[0]]
        return Intervals(
            level,
            self._around(level, moved, *moved_alone),
            self._around(level, both) if self.uncertainty.population else {},
            self._distinguished(moved),
        )

    def sentence(self) -> str:
        return self._distinguished(self._distances(self.uncertainty.draw, 0)[0])

    def _distinguished(self, moved: Arrays) -> str:
        """What can be told apart; how many rows of each person counted is not known."""
        who, sentence = self.fit.guarantee, self._by_distances(moved)
        uncertain = self.fit.rows is None and not self.alike
        if uncertain and who.limited and who.rows_per_person > 1:
            return f"{sentence} {ONE_ROW_EACH.format(who.unit)}"
        return sentence

    @np.errstate(all="ignore")
    def _distances(self, draw: Draw, seed: int) -> tuple[Arrays, Arrays]:
        """How far simulated releases lie from the same fits without noise, and from what their rows
        were drawn from: arrays ``(S, ...)``."""
        moved: dict[str, list[Array]] = {name: [] for name in self.uncertainty.arrays}
        both: dict[str, list[Array]] = {name: [] for name in self.uncertainty.arrays}
        drawn = math.sqrt(self.simulated / self.apart)  # of the distance that rows make
        origin = self._origin(seed) if self.uncertainty.population else self.released
        for world in range(self.worlds):
            table = self._table(draw, np.random.default_rng([seed, world]))
            exact = self._exact(table)
            base = self.uncertainty.match(exact, self.released, self.scale)
            for release in self._releases(table, seed, world, self.draws):
                release = self.uncertainty.match(release, base, self.scale)
                for name in self.uncertainty.arrays:
                    moved[name].append(release[name] - base[name])
                    both[name].append(moved[name][-1] + drawn * (base[name] - origin[name]))
        stacked = [
            {name: np.stack(values) for name, values in distances.items()}
            for distances in (moved, both)
        ]
        return stacked[0], stacked[1]

    def _origin(self, seed: int) -> Arrays:
        """What simulated rows are drawn from: the release, or, where tails are added to it, what
        many such rows have."""
        if self.fit.distances is None:
            return self.released
        rng = np.random.default_rng([seed, self.worlds])
        many = self._exact(self._table(self.uncertainty.draw, rng, MANY * self.simulated))
        return self.uncertainty.match(many, self.released, self.scale)

    def _table(
        self, draw: Draw, rng: np.random.Generator, count: int | None = None
    ) -> PrivateTable:
        """Rows as a release has them, by default as many as are simulated, sealed as
        everybody's."""
        frame = draw(self.fit, count or self.simulated, rng)
        names = [column.name for column in self.schema.numeric_columns()]
        others = [column for column in self.schema.columns if column.role == self.model.reads]
        frame = frame.set_axis([*names, *(column.name for column in others)], axis=1)
        if self.schema.ball is None:
            limits = [
                Column(c.name, lower=c.lower, upper=c.upper) for c in self.schema.numeric_columns()
            ]
        else:
            limits = [Column(name) for name in names]
        person = self.schema.person
        if person is not None and not self.alike:  # each has the one row that is sure to count
            frame[person] = np.arange(len(frame))
            others = [*others, Column(person, "id", "text")]
        schema = Schema((*limits, *others), ball=self.schema.ball)
        return PrivateTable.seal(frame, schema, open_to_all=True)

    def _exact(self, table: PrivateTable) -> Arrays:
        """What the released algorithm finds in a table without noise."""
        return self._fits(table, 0.0, None, 1)[0]

    def _releases(self, table: PrivateTable, seed: int, world: int, draws: int) -> list[Arrays]:
        """The same with the released noise a row, in so many draws."""
        noise = NoiseSource(seed, range(world * draws, (world + 1) * draws))
        return self._fits(table, self.factor * self.simulated / self.rows, noise, draws)

    def _fits(
        self, table: PrivateTable, factor: float, noise: NoiseSource | None, runs: int
    ) -> list[Arrays]:
        final, public = self._batch(table, factor, noise, runs)
        return [self._arrays(self.how.parameters(final, run, public)) for run in range(runs)]

    def _batch(
        self, table: PrivateTable, factor: float, noise: NoiseSource | None, runs: int
    ) -> tuple[Any, Any]:
        session: Session[Any] = Session(
            table,
            self.how.opens,
            adjacency=self.fit.guarantee.adjacency,
            rows_per_person=self.fit.guarantee.rows_per_person,
            noise=noise,
            draws=np.arange(runs),
            clip=self.clip,
            as_private=True,
        )
        runs_of = self.how.fit(session, self.settings, np.full(runs, factor), None)
        if noise is not None:
            ratios = _noises(session.ledger.at(0)) / _noises(self.fit.ledger)
            if not np.allclose(ratios, ratios[-1], rtol=ROUNDED):
                raise _refused(EARLIER)
        return runs_of.final, session.public

    @cached_property
    def _outward(self) -> Array:
        """Of the distance of an end from the middle of the limits: see :class:`Uncertainty`."""
        if self.uncertainty.outward is None:
            return np.zeros(1)
        table, noise = (
            self._table(self.uncertainty.draw, np.random.default_rng(0)),
            NoiseSource(0, [0]),
        )
        final, _ = self._batch(table, self.factor * self.simulated / self.rows, noise, 1)
        return self.uncertainty.outward(self.settings, final)

    def _arrays(self, parameters: Any) -> Arrays:
        return {
            name: np.asarray(getattr(parameters, name), dtype=float)
            for name in self.uncertainty.arrays
        }

    def _around(self, level: float, *moved: Arrays) -> Arrays:
        """Released numbers and how far most simulated ones lie from where they belong, by the law
        of rows by which they lie farthest."""
        intervals = {}
        for name, value in self.released.items():
            reaches = [np.quantile(np.abs(law[name]), level, axis=0) for law in moved]
            reach = self.uncertainty.widen * np.max(reaches, axis=0)
            boxed = self.uncertainty.from_zero is None and self.schema.ball is None
            inside = name == self.uncertainty.places and boxed  # places lie where rows do
            middle = np.clip(value, *self.limits.T) if inside else value  # no farther from any
            ends = np.stack([middle - reach, middle + reach], axis=-1)
            intervals[name] = ends
            if name in self.uncertainty.shares + self.uncertainty.cosines:
                ends[:] = np.clip(ends, 0.0 if name in self.uncertainty.shares else -1.0, 1.0)
            if name in self.uncertainty.variances:
                own = np.einsum("...iie->...ie", ends) if value.ndim > 1 else ends
                own[:] = np.maximum(own, 0.0)
            if inside:
                off = ends - self.limits.mean(axis=1)[:, None]
                away = np.where(off * [-1.0, 1.0] > 0.0, self._outward[:, None], 0.0)
                ends[:] = np.clip(ends + away * off, *self.limits.T[..., None])
            lost = self.uncertainty.lost(self.fit.parameters)
            intervals[name][np.broadcast_to(lost, len(value))] = np.nan
        return intervals

    def _by_distances(self, moved: Arrays) -> str:
        if self.uncertainty.sentence is not None:
            return self.uncertainty.sentence(self._around(APART, moved))
        places, moved_places = (
            self.released[self.uncertainty.places],
            moved[self.uncertainty.places],
        )
        if places.ndim == 2 and len(places) > 1:
            sentence = self._of_parts(places, moved_places, self._hidden(moved))
            explained = self.uncertainty.explained
            if explained is None or explained(self.released, moved, self.scale) > 0.0:
                return sentence
            begins = (
                "But given the noise" if "can be told apart." in sentence else "Given the noise"
            )
            part, parts = self.model.part, self.model.parts
            return f"{sentence} {begins}, these {parts} explain no more than one {part} does."
        reach = self.uncertainty.widen * np.quantile(np.abs(moved_places), APART, axis=0).ravel()
        columns = [column.name for column in self.schema.numeric_columns()]
        if self.uncertainty.from_zero is not None:
            return self.uncertainty.from_zero(columns, np.abs(places.ravel()) > reach)
        off = np.abs(places.ravel() - self.limits.mean(axis=1))
        share = (reach + self._outward * (off + reach)) / self.scale
        widest = int(np.argmax(share))
        within = f"known to within {100.0 * share[widest]:.2g}% of its column's range"
        if len(columns) == 1:
            return f"At this noise level the mean is {within}."
        return f"At this noise level each mean is {within} (the least certain: {columns[widest]})."

    def _hidden(self, moved: Arrays) -> Mask:
        """Parts ``(K,)`` whose share noise may have made; classes are there, whatever theirs."""
        hidden = np.zeros(len(self.released[self.uncertainty.places]), dtype=bool)
        for name in self.uncertainty.shares:
            if self.released[name].ndim == 1 and not hasattr(self.fit.parameters, "classes"):
                reach = self.uncertainty.widen * np.quantile(np.abs(moved[name]), APART, axis=0)
                hidden |= self.released[name] <= reach
        return hidden

    def _of_parts(self, places: Array, moved: Array, hidden: Mask) -> str:
        names = self._names()
        parts = "classes" if hasattr(self.fit.parameters, "classes") else self.model.parts
        visible = ~np.broadcast_to(self.uncertainty.lost(self.fit.parameters), len(names))
        if not visible.any():
            return f"At this noise level none of the {len(names)} {parts} can be told from noise."
        if hidden.sum() > len(names) - 2 or self._as_of_one:  # one is left, at most
            return _of_parts(names, parts, np.zeros((len(names), len(names)), dtype=bool))
        apart = self._apart(places[visible], moved[:, visible])
        left = [name for name, whether in zip(names, visible, strict=True) if whether]
        lost = [name for name, whether in zip(names, visible, strict=True) if not whether]
        if not lost:
            return _of_parts(left, parts, apart)
        sentence = _of_parts(left, parts, apart, some=True)
        return f"{sentence} Nothing can be said about {listed(lost)}."

    @cached_property
    @np.errstate(all="ignore")
    def _as_of_one(self) -> bool:
        """Whether fits of rows of one part gain nearly as much as several parts did, in more than
        one fit of twenty."""
        alone, gained = self.uncertainty.alone, self.uncertainty.gained
        if alone is None or gained is None or len(self.released[self.uncertainty.places]) == 1:
            return False
        gains = list[float]()
        for world in range(self.worlds):
            table = self._table(alone, np.random.default_rng([0, world, 1]))
            releases = self._releases(table, 1, world, min(self.draws, FEW_DRAWS))
            gains += [gained(arrays, self.scale) for arrays in releases]
        return gained(self.released, self.scale) <= AS_ONE * float(np.quantile(gains, 0.95))

    def _names(self) -> list[str]:
        classes = getattr(self.fit.parameters, "classes", None)
        count = len(self.released[self.uncertainty.places])
        return list(classes or (str(number) for number in range(1, count + 1)))

    def _apart(self, places: Array, moved: Array) -> Mask:
        """Which parts can be told apart ``(K, K)``: see the module."""
        shift = moved[:, :, None] - moved[:, None]  # (S, K, K, d)
        spread = np.sqrt(np.mean(shift**2, axis=0))
        spread = np.maximum(spread, 1e-12 * self.scale)
        most = np.quantile(np.max(np.abs(shift) / spread, axis=-1), APART, axis=0)
        gap = np.max(np.abs(places[:, None] - places) / spread, axis=-1)
        return np.asarray(gap > self.uncertainty.widen * most)


def _of_parts(names: list[str], parts: str, apart: Mask, *, some: bool = False) -> str:
    """A sentence about parts that can be told apart ``(K, K)``, or not. some: there are others.

    >>> apart = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], dtype=bool)
    >>> _of_parts(["1", "2", "3"], "groups", apart)
    'At this noise level these groups cannot be told apart: 1 and 2.'
    >>> _of_parts(["1", "3"], "groups", apart[::2, ::2], some=True)
    'At this noise level groups 1 and 3 can be told apart.'
    """
    left, bunches = set(range(len(names))), []
    while left:
        bunch, new = set[int](), {min(left)}
        while new:
            bunch |= new
            new = {j for i in new for j in left if not apart[i, j]} - bunch
        left -= bunch
        bunches.append(sorted(bunch))
    if len(names) == 1:
        part = f"only one of the {parts}, {names[0]},"
        return f"At this noise level {part} can be told from noise."
    if some and len(bunches) in (1, len(names)):
        verb = "can" if len(bunches) > 1 else "cannot"
        return f"At this noise level {parts} {listed(names)} {verb} be told apart."
    count = spelled(len(names))
    if len(bunches) == len(names):
        every = "the two" if len(names) == 2 else f"all {count}"
        return f"At this noise level {every} {parts} can be told apart."
    if len(bunches) == 1:
        pair = "the two" if len(names) == 2 else f"no two of the {count}"
        verb = "cannot" if len(names) == 2 else "can"
        return (
            f"At this noise level {pair} {parts} {verb} be told apart: they are no evidence of "
            "more than one."
        )
    together = "; ".join(listed([names[i] for i in bunch]) for bunch in bunches if len(bunch) > 1)
    return f"At this noise level these {parts} cannot be told apart: {together}."


def of_coefficients(columns: list[str], from_zero: Mask) -> str:
    """A sentence about coefficients that can be told from 0, or not.

    >>> of_coefficients(["age", "stay"], np.array([True, False]))
    'At this noise level the coefficient of age can be told from 0; that of stay cannot.'
    """
    clear, lost = (
        [name for name, whether in zip(columns, from_zero, strict=True) if whether == wanted]
        for wanted in (True, False)
    )
    if not lost or not clear:
        every = "every" if clear else "no"
        return f"At this noise level {every} coefficient can be told from 0."
    return (
        f"At this noise level the coefficient{'s' if len(clear) > 1 else ''} of {listed(clear)} "
        f"can be told from 0; {'those' if len(lost) > 1 else 'that'} of {listed(lost)} cannot."
    )


def _noisy(fit: Fit) -> bool:
    return any(entry.noise != "none" for entry in fit.ledger)


def _refused(reason: str, remedy: str = "read the parameters without intervals") -> InputError:
    return InputError("intervals", reason, remedy)


def _rows_of(fit: Fit, rows: int | None) -> int:
    sizes = getattr(fit.parameters, "sizes", None)
    stated = fit.persons if fit.rows is None else fit.rows
    if rows is None and stated is None and sizes is not None:
        return max(1, round(float(np.sum(sizes))))
    count = stated if rows is None else whole("rows", rows)
    if count is None:
        raise _refused("the number of rows is not stated", "give rows=, a public estimate")
    return count


def _clip_of(fit: Fit, clip: float | None) -> float:
    share = fit.clip if clip is None else positive("clip", clip)
    if share is None:
        raise _refused(
            "the dossier does not state how rows were clipped",
            "give clip=, the share of the public radius that was used",
        )
    return share


def _settings(how: Recipe, stated: Mapping[str, Any]) -> Any:
    """Settings as they were; a dossier states more, and a prior in words of its own."""
    options = {
        option.name: stated[option.name] for option in fields(how.options) if option.name in stated
    }
    if isinstance(options.get("prior"), dict):
        options["prior"] = how.options.options()["prior"].paper  # the only one there is
    return how.options(**options)


def _factor(how: Recipe, settings: Any, fit: Fit) -> float:
    """The total noise multiplier, from the noise of the last entry.

    Raises InputError where the method that is here now would have made other releases.
    """
    events = how.events(settings)
    if len(fit.ledger) != sum(event.count for event in events):
        raise _refused(EARLIER)
    planned = events[-1].mechanism
    assert isinstance(planned, Gaussian | Laplace)  # what recipes plan
    unit: Any = planned.scale if isinstance(planned, Laplace) else planned.noise_multiplier
    return float(_noises(fit.ledger)[-1] / unit)


def _noises(ledger: Ledger) -> Array:
    """Of each release the noise, by its sensitivity."""
    scales = [np.ravel(entry.noise_scale)[0] / entry.sensitivity for entry in ledger.entries]
    return np.asarray(scales, dtype=float)
