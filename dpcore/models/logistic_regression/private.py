"""Private logistic regression: one release that nearly serves all steps, and three that iterate.

*one_shot*: first and second moments by outcome leave once, with one sensitivity, in a ball that
three small releases choose; they say most of what Newton's steps to the regression ask of the rows,
and three more small releases the rest (``newton``). *vb*: the same moments within the limits, then
steps of variational Bayes, each on one release of curvature-weighted squares. *vips*: minibatch
steps (Park, Foulds, Chaudhuri, Welling 2020, Algorithm 5), with the noise they print in paper mode
and with the true joint sensitivity otherwise. *objective* and *dpvi*: rivals (``objective``,
``dpvi``). Where only labels are protected, features and their squares are public, so that one_shot
chooses its ball without a release, has noise in its sums alone, and takes all steps it needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.minibatch import published_steps, steps_of
from dpcore.fitting.recipe import Printed, Recipe, Runs, demand_replacement, row_bound
from dpcore.models.logistic_regression import SAMPLED, STEPS, LogisticSettings
from dpcore.models.logistic_regression import mathematics as logistic
from dpcore.models.logistic_regression.dpvi import fit_dpvi
from dpcore.models.logistic_regression.mathematics import (
    Coefficients,
    Discriminant,
    SlopeCorrection,
)
from dpcore.models.logistic_regression.newton import Ascent, Line, climbed
from dpcore.models.logistic_regression.objective import REASONS, fit_objective
from dpcore.models.logistic_regression.objective import SOURCE as OBJECTIVE_SOURCE
from dpcore.models.logistic_regression.parameters import LogisticParameters
from dpcore.models.shared.location import USUAL_DISTANCE, USUAL_NORM, located, number_of_rows
from dpcore.models.shared.moments import averaged
from dpcore.models.shared.reach import Reach, edges, reach
from dpcore.models.shared.second_moments import Ellipsoid
from dpcore.privacy import Event, Gaussian, Guarantee, Laplace, Privacy
from dpcore.schema import Schema
from dpcore.wall.data import Frame, LogisticRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import (
    CurvatureMoments,
    NoisyOutcomes,
    OutcomeMoments,
    OutcomeSums,
    Weighing,
    WeightedRows,
)
from dpcore.wall.subsample import Minibatches

SOURCE = "Park, Foulds, Chaudhuri, Welling 2020, Algorithm 5"
WEIGHTS = (1.0, 0.6)  # of sums and squares: best or near it on three public tables, any budget
INNER = 1.4  # radius of the ball that v is clipped to, beside the 1 of the intercept
LEAST_HELD = 0.3  # share of the rows inside that ball where noise is strong; without noise it is 1
CLEAR = 2e-3  # noise in a direction of the mean square, at which the share is half way between
CLEAR_LABELS = 5e-3  # where squares have no noise: that of sums grows less with the radius
STEP_SHARES = (0.003, 0.003, 0.01)  # of mu^2, for steps from the discriminant to the regression
# Of mu^2, for the three releases that find a ball and the one of sums and squares in it.
SHARES = (0.01, 0.05, 0.02, 0.92 - sum(STEP_SHARES))
EVENTS = tuple(Event(Gaussian(share**-0.5)) for share in (*SHARES, *STEP_SHARES))
BLOCK_NUMBERS = 1 << 18  # of rows that may be seen, at once
FIRST_SHARE = 0.5  # of mu^2, for the release that vb starts from
PRINTED = (0.5, 0.5)  # noise sd 2 sigma on (y - 1/2) x and sigma/2 on xi x x^T, rows in |x| <= 1
FLOOR = 1e-4  # of an eigenvalue of the mean of xi x x^T, in the authors' program


class LogisticRecipe(Recipe):
    """Logistic regression, proved and as published; see the module."""

    options = LogisticSettings
    in_own_units = LogisticParameters.from_units
    opens = LogisticRows
    sampled = True

    def takes_equal_persons(self, settings: LogisticSettings) -> bool:
        return settings.mode == "proved" and settings.algorithm not in SAMPLED

    def takes_steps(self, algorithm: str | None, mode: str) -> bool:
        """Whether an algorithm [the usual one] has iterations to choose."""
        return (algorithm or ("vips" if mode == "paper" else "one_shot")) in STEPS

    def sized(
        self, settings: LogisticSettings, rows: int | None, adjacency: str
    ) -> LogisticSettings:
        """The settings with the steps that minibatches make of them.

        Raises InputError where labels alone are protected and the algorithm does not know how.
        """
        only_labels = adjacency == "label"
        if only_labels and settings.algorithm not in ("one_shot", "objective"):
            raise InputError(
                "adjacency",
                "this algorithm adds noise for features and labels together",
                "choose one_shot or objective, or adjacency replace_one",
            )
        if settings.algorithm not in SAMPLED:
            return replace(settings, only_labels=only_labels)
        steps = steps_of(settings, 1, rows, adjacency)
        return replace(settings, steps=steps)

    def assumptions(
        self, settings: LogisticSettings, guarantee: Guarantee, schema: Schema
    ) -> tuple[str, ...]:
        """Those of a table, and what counts as a yes."""
        column = schema.column(str(schema.target))
        missing = int((column.fill or 0.0) > 0.5)
        rule = (
            column.neither
            if column.categories
            else f"a number above 1/2 counts as 1, a missing cell as {missing}, all else as 0"
        )
        added = [f"outcomes in {column.name}: {rule}"]
        if settings.steps.sample.sampling != "none":
            added.append("the rows drawn in a step stay secret")
        return (*guarantee.assumptions, *added)

    def events(self, settings: LogisticSettings) -> tuple[Event, ...]:
        if settings.algorithm == "objective":
            return (Event(Laplace(1.0)),)  # epsilon alone, as its inverse
        if settings.algorithm == "one_shot":
            return (Event(Gaussian(1.0)),) if settings.only_labels else EVENTS
        if settings.algorithm in SAMPLED:
            return settings.steps.events()
        first, later = _multipliers(settings)
        return (Event(Gaussian(first)), Event(Gaussian(later), count=settings.iterations or 0))

    def main(self, events: tuple[Event, ...]) -> Event:
        """That of sums and squares, which has nearly the whole budget."""
        return events[len(SHARES) - 1] if events == EVENTS else events[-1]

    def accountants(self, settings: LogisticSettings) -> tuple[str, ...]:
        """Of objective perturbation only epsilon is known, and epsilons add up."""
        return ("linear",) if settings.algorithm == "objective" else ()

    def published(
        self, requests: Sequence[Privacy], settings: LogisticSettings, delta_each: float | None
    ) -> PublishedBudget:
        """One sigma for both releases of a step, by the accountant asked for."""
        demand_replacement(requests)
        return published_steps(self.events(settings), requests)

    def printed(self, request: Privacy, settings: LogisticSettings) -> Printed | None:
        if settings.algorithm == "objective":
            return Printed(OBJECTIVE_SOURCE, REASONS, pure=True)
        return Printed(
            SOURCE,
            (
                "both sums of a step are charged as one release although each has its own noise; "
                "this is valid because their stated sensitivities are twice and 1.4 times the true "
                "ones: together, the two sums are like one release with noise multiplier 1.257 "
                "sigma",
                "the paper scales rows by the data's own largest norm; here the bounds are public",
            ),
        )

    def fit(
        self,
        session: Session[LogisticRows],
        settings: LogisticSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Coefficients]:
        sigma = None if published is None else np.asarray(published.noise_multiplier)
        clipping = list[Any]()
        if settings.algorithm == "vips":
            steps = _fit_vips(session, settings, noise, sigma)
        elif settings.algorithm == "objective":
            amount, printed = (noise, False) if sigma is None else (sigma, True)
            steps = [fit_objective(session, amount, settings.ridge, as_printed=printed)]
        elif settings.algorithm == "dpvi":
            steps, clipping = fit_dpvi(session, settings.steps, noise)
        elif settings.algorithm == "one_shot" and session.private:
            steps = [_fit_in_ball(session, settings, noise)]
        else:
            steps = _fit_whole(session, settings, noise)
        design = session.source.design
        units = np.asarray(design.to_units(np.eye(design.size)).T)  # to coefficients of (u, 1)
        history = tuple(step.mapped(units) for step in steps)
        return Runs(history[-1], history, clipping)


def _multipliers(settings: LogisticSettings) -> tuple[float, float]:
    """Noise multipliers of vb's first release and of each step; inverse squares add up to 1."""
    steps = settings.iterations or 1
    return FIRST_SHARE**-0.5, ((1.0 - FIRST_SHARE) / steps) ** -0.5


def _fit_in_ball(
    session: Session[LogisticRows], settings: LogisticSettings, multiplier: Array
) -> Coefficients:
    """One release of both sums, in a ball about the rows' mean, and three that steps ask for.

    multiplier ``(B,)``: total noise multiplier. **Guarantee:** the releases of
    :meth:`LogisticRecipe.events` times the multiplier: the three of
    :func:`~dpcore.models.shared.location.located`, unless features are public, and one of
    :class:`OutcomeMoments`, whose frame they say; then those of :func:`_stepped`, unless features
    are public. Noise in squares grows with the square of the ball's radius: where it is strong, the
    ball holds few of the rows, and the others are clipped. Without noise it holds all.
    """
    size, radius = session.source.design.size, session.source.design.around(INNER)
    shape = OutcomeMoments(size, radius, *WEIGHTS)
    if settings.only_labels:
        shape, last = OutcomeSums(size, radius), multiplier
        rows, middle, distances = _public_place(session)
    else:
        norms, first, distant, last = (multiplier / math.sqrt(share) for share in SHARES)
        at = located(session, norms, first, distant, USUAL_NORM)
        rows, middle, distances = at.rows, at.mean, at.distances
    unit = shape.l2_sensitivity(session.adjacency) * session.rows_per_person
    level = last * math.sqrt(size) * unit / rows
    clear = CLEAR_LABELS if settings.only_labels else CLEAR
    held = LEAST_HELD + (1.0 - LEAST_HELD) / (1.0 + (level / clear) ** 2)
    clipped, correction = _clipped(distances, held, size - 1)
    outer = clipped / INNER
    ball = Ellipsoid(middle, outer[:, None])
    frame = replace(Frame.balls(middle, outer), radius=INNER)
    released = session.release(
        "sums by outcome" if settings.only_labels else "sums by outcome and squares",
        shape,
        frame,
        Noise("gaussian", last),
    )
    rows = number_of_rows(session, released.squares[:, -1:, -1])  # the intercept's own square
    start = logistic.discriminant(released, rows)
    if settings.only_labels:
        fit = climbed(start, _seen_in(frame, session.public_features()))
    else:
        fit = _stepped(session, start, frame, multiplier)
    return logistic.unclipped(fit, start.odds, correction).back(ball)


def _stepped(
    session: Session[LogisticRows], start: Discriminant, frame: Frame, multiplier: Array
) -> Coefficients:
    """Steps from a discriminant to the regression, as far as noise lets them go.

    multiplier ``(B,)``: total noise multiplier. **Guarantee:** one release of
    :class:`WeightedRows` for each of :data:`STEP_SHARES`, in the frame of the first: their weights
    are made of coefficients that earlier releases say.
    """
    size, ascent = session.source.design.size, Ascent(start, start.fit.mean)
    shape = WeightedRows(size, session.source.design.around(frame.radius))
    for number, share in enumerate(STEP_SHARES, start=1):
        line = Line.of(ascent.mean, frame.radius)
        left = session.release(
            f"step {number}: rows by what a line leaves of their chances",
            shape,
            Weighing(frame, ascent.mean, line.weights),
            Noise("gaussian", multiplier / math.sqrt(share)),
        )
        ascent = ascent.step(line, left.sums / start.rows[:, None], left.sums_sd / start.rows)
    return ascent.fit()


def _seen_in(frame: Frame, features: Array) -> Callable[[int], Iterator[Array]]:
    """Of a run, rows ``(n, d)`` that may be seen, as columns in its frame with the intercept."""

    step = max(1, BLOCK_NUMBERS // (features.shape[1] + 1))

    def blocks(run: int) -> Iterator[Array]:
        runs = slice(None) if frame.plain else slice(run, run + 1)
        for first in range(0, len(features), step):
            inside = frame.apply(features[first : first + step], runs)[0]
            yield np.concatenate([inside, np.ones((1, inside.shape[1]))])

    return blocks


def _public_place(session: Session[LogisticRows]) -> tuple[Array, Array, Reach]:
    """Of public features what :func:`located` says of others: how many rows ``(B,)``, their mean
    ``(B, d)``, and their distances from it."""
    features, whole = session.public_features(), row_bound(session)
    mean, cuts = features.mean(axis=0), edges(whole)
    rows = np.full(session.runs, float(len(features)))
    bins = np.searchsorted(cuts, np.linalg.norm(features - mean, axis=1))
    counts = np.tile(np.bincount(bins, minlength=len(cuts) + 1).astype(float), (session.runs, 1))
    distances = reach(counts, 0.0 * rows, rows, whole, USUAL_DISTANCE)
    return rows, np.tile(mean, (session.runs, 1)), distances


def _clipped(distances: Reach, held: Array, dim: int) -> tuple[Array, SlopeCorrection]:
    """The radius ``(B,)`` within which a share ``(B,)`` of the rows lies, and what clipping to it
    does to a slope: it leaves less of the rows' mean square than of a small move of all rows.

    A move is left whole in a row inside; one that is drawn in by w keeps w of what is across it.
    """
    points, shares = distances.points()
    below, octaves = np.cumsum(shares, axis=1) - shares / 2.0, np.log2(points)
    of_runs = zip(held, below, octaves, strict=True)
    radius = np.array([2.0 ** np.interp(*run) for run in of_runs])
    drawn = np.minimum(radius[:, None] / points, 1.0)
    whole = distances.steady_square[:, None]
    left = np.sum(shares * (points * drawn) ** 2, axis=1)[:, None] / whole
    across = np.maximum(np.sum(shares * drawn, axis=1) - held, 0.0)
    moved = (held + (1.0 - 1.0 / dim) * across)[:, None]
    ratio = (left / moved)[:, 0]
    steep = points**2 * (drawn**2 / left - 1.0) / whole - (1.0 - 1.0 / dim) * drawn / moved
    steep = steep.reshape(*distances.steady.shape, -1).mean(axis=2)  # of the bins
    off = np.linalg.norm(distances.noise * steep, axis=1)
    return radius, SlopeCorrection(ratio, np.minimum(off, np.maximum(1.0 - ratio, 0.0)))


def _fit_whole(
    session: Session[LogisticRows], settings: LogisticSettings, factor: Array
) -> list[Coefficients]:
    """One release of both sums; for vb then one of weighted squares for each step.

    factor ``(B,)``: total noise multiplier. **Guarantee:** the releases of
    :meth:`LogisticRecipe.events` times the factor.
    """
    one_shot = settings.algorithm == "one_shot"
    first, later = (1.0, 0.0) if one_shot else _multipliers(settings)
    size = session.source.design.size
    shape = OutcomeMoments(size, session.source.reach, *WEIGHTS)
    released = session.release(
        "sums by outcome and squares",
        shape,
        None,
        Noise("gaussian", factor * first),
    )
    if one_shot:
        rows = number_of_rows(session, released.squares[:, -1:, -1])  # the intercept's own square
        start = logistic.discriminant(released, rows)
        whole, features = Frame.identity(size - 1, math.inf), session.plain_rows()
        return [start.fit if features is None else climbed(start, _seen_in(whole, features))]
    fit = logistic.step(released, np.ones(session.runs))
    history = [fit]
    for iteration in range(1, (settings.iterations or 1) + 1):
        weighted = session.release(
            f"iteration {iteration}: squares by curvature",
            CurvatureMoments(size, session.source.reach, least=0.0),
            logistic.curvature(fit),
            Noise("gaussian", factor * later),
        )
        fit = logistic.step(
            replace(weighted, sums=released.sums, sums_sd=released.sums_sd),
            logistic.precision(fit),
        )
        history.append(fit)
    return history


def _fit_vips(
    session: Session[LogisticRows], settings: LogisticSettings, factor: Array, sigma: Array | None
) -> list[Coefficients]:
    """Minibatch steps; statistics of earlier steps are averaged with those of the next.

    sigma ``(B,)``: the paper's noise, in paper mode; then noise is widened beside the diagonal and
    what is known of its size is not used, as printed: the posterior knows nothing of it.
    """
    paper = settings.mode == "paper"
    size, weights = session.source.design.size, PRINTED if paper else WEIGHTS
    contribution = OutcomeMoments(size, session.source.reach, *weights, least=0.0)
    if sigma is not None:
        factor = sigma / contribution.l2_sensitivity("replace_one")
    widen = 2.0**0.5 if paper else 1.0
    unit = session.source.reach if paper else 1.0  # the paper's prior is on rows in the unit ball
    batches = Minibatches(session, settings.steps.sample)
    fit = logistic.nothing(session.runs, size)
    floor = FLOOR * (session.rows or 0) if paper else 0.0
    average: NoisyOutcomes | None = None
    history = []
    for iteration in range(1, settings.steps.count + 1):
        released = session.release(
            f"iteration {iteration}: sums by outcome and squares by curvature",
            contribution,
            logistic.curvature(fit.mapped(np.eye(size) / unit)),
            Noise("gaussian", factor, widen_off_diagonal=widen),
            batches,
        )
        now = _seen(released, settings, unit)
        weight = (settings.delay + iteration) ** -settings.forgetting
        average = now if average is None else averaged(average, now, weight)
        fit = logistic.step(average, logistic.precision(fit), floor)
        history.append(fit.mapped(np.eye(size) / unit))
    if sigma is None:
        return history
    unknown = np.full((session.runs, size, size), np.nan)
    return [replace(step, noise_covariance=unknown) for step in history]


def _seen(released: NoisyOutcomes, settings: LogisticSettings, unit: float) -> NoisyOutcomes:
    """Sums over a minibatch as estimates of those over all rows of x / unit; in paper mode nothing
    is made of the size of their noise."""
    share = settings.steps.sample.rate
    weight = 0.0 if settings.mode == "paper" else 1.0
    return NoisyOutcomes(
        released.sums / (share * unit),
        released.squares / (share * unit**2),
        weight * released.sums_sd / (share * unit),
        weight * released.squares_sd / (share * unit**2),
    )


RECIPE: Any = LogisticRecipe()
