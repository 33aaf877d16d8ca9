"""Private k-means: one joint Gaussian release of counts and sums a step, and two published ways.

*proved*: counts and sums of all clusters leave as one vector with one sensitivity. *dplloyd*: the
same sums with Laplace noise scaled to the L1 sensitivity (Su et al. 2016). *paper*: DP-EM's section
7, whose counts are never paid for: in paper mode they leave exactly, as an exhibit without proof;
in proved mode they are noised and charged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpcore.accounting import calibrate
from dpcore.accounting.published import PublishedBudget
from dpcore.accounting.zcdp import CLASSIC
from dpcore.arrays import Array, Mask
from dpcore.errors import InputError
from dpcore.fitting.distances import Distances
from dpcore.fitting.plan import groups
from dpcore.fitting.recipe import (
    SEVERAL,
    Printed,
    Recipe,
    Runs,
    demand_replacement,
    gaussians,
    row_bound,
)
from dpcore.models.kmeans import KMeansSettings
from dpcore.models.kmeans import mathematics as kmeans
from dpcore.models.kmeans.mathematics import Centres
from dpcore.models.kmeans.parameters import KMeansParameters
from dpcore.models.shared.allocation import step_shares
from dpcore.models.shared.group_means import within
from dpcore.models.shared.location import Location, View, located
from dpcore.models.shared.moments import TINY
from dpcore.models.shared.reach import OBSERVED, Reach
from dpcore.privacy import Event, Gaussian, Laplace, Ledger, Privacy
from dpcore.wall.data import FeatureRows, Frame
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import (
    TREE_DIM,
    ClusterMoments,
)

# Of mu^2: for distances from the middle of the bounds, the mean, distances from it, and cells from
# which the start is worked out.
SHARES = (0.02, 0.1, 0.03, 0.25)
OFF_MIDDLE = 0.2  # of the mean square of a row, by the mean nobody has seen
OFF_IN_MANY = 0.5  # the same in more than TREE_DIM columns, where clipping counts too
DOUBTING = (0.25, 1.0)  # weights, as :meth:`Reach.radius` takes them, where groups are clipped
LEAST_LEFT = 0.1  # of a mean square distance, where noise in the mean explains more
EXPLAINED = 0.4  # of what centres put around the mean leave, by groups nobody has seen
TAKEN = 0.2  # of the square of the most that clipping can take from a mean, at least
# Noise in the total of K sums of rows of length 1, as a share of the rows, from which the mean of
# all rows is asked for, whatever the distances seem to be.
DROWNED = 0.2
LAGGING = 2.0  # of the noise in a last step, over that of all steps taken as one
BOTH: tuple[str, ...] = ("counts", "sums")
START = "counts and sums for the start"


@dataclass(frozen=True)
class _AsOfOneRow(KMeansSettings):
    """Of releases in which the noise that drowns sums was that of one row of each person."""


@dataclass(frozen=True)
class _InLargerBalls(_AsOfOneRow):
    """Of earlier ones, whose groups were clipped as the shares of rows were observed."""


class KMeansRecipe(Recipe):
    """Lloyd's algorithm, proved and as published; see the module."""

    options = KMeansSettings
    in_own_units = KMeansParameters.from_units
    opens = staticmethod(partial(FeatureRows, columns=True))

    def events(self, settings: KMeansSettings) -> tuple[Event, ...]:
        if settings.algorithm == "proved":
            begin, steps = _multipliers(settings)
            return (*(Event(Gaussian(noise)) for noise in begin.tolist()), *gaussians(steps))
        releases = settings.iterations * (1 if settings.algorithm == "dplloyd" else 2)
        return (Event(Laplace(1.0), count=releases),)

    def published(
        self, requests: Sequence[Privacy], settings: KMeansSettings, delta_each: float | None
    ) -> PublishedBudget:
        """One Laplace release a step, each with epsilon_i: linear, or zCDP (section 7).

        Raises InputError for another composition method.
        """
        if settings.algorithm == "paper":
            demand_replacement(requests)
        steps = settings.iterations
        epsilon_each = 1.0 / np.array([request.noise_multiplier or np.nan for request in requests])
        for accountant, delta, members, targets in groups(requests):
            if accountant == "linear":
                epsilon_each[members] = targets / steps
            elif accountant == "zcdp":
                events = (Event(Laplace(1.0), count=steps),)
                epsilon_each[members] = 1.0 / np.asarray(calibrate(events, targets, delta, CLASSIC))
            else:
                raise InputError(
                    "accountant",
                    "the papers compose k-means by linear composition or zCDP",
                    "choose linear or zcdp",
                )
        return PublishedBudget(epsilon_each, 1.0 / epsilon_each, None, steps)

    def printed(self, request: Privacy, settings: KMeansSettings) -> Printed | None:
        if settings.algorithm == "dplloyd":
            source = "Su, Cao, Li, Bertino, Jin 2016, section 2.3 (DPLloyd)"
            if request.accountant == "zcdp":
                source = "Park, Foulds, Chaudhuri, Welling 2017, section 7 (DPLloyd with zCDP)"
            return Printed(
                source,
                (
                    "its noise is scaled to d + 1, the largest change when one row is added or "
                    "removed",
                ),
                pure=request.accountant == "linear",
                unless=("replacing a row can change counts and sums by twice as much",),
            )
        return Printed(
            "Park, Foulds, Chaudhuri, Welling 2017, section 7",
            (
                "the counts by which the method divides are not charged; here they are released "
                "exactly, so nothing is proved",
                "the paper scales by the data's own largest norm, which is not private; here the "
                "bounds are public",
            ),
        )

    def takes_persons(self, settings: KMeansSettings) -> bool:
        return settings.mode == "proved"

    def as_made(self, settings: KMeansSettings, ledger: Ledger, rows_of_one: int) -> KMeansSettings:
        names = {entry.what for entry in ledger.entries}
        if _start(rows_of_one) in names:
            return settings
        older = _AsOfOneRow if START in names else _InLargerBalls
        return older(**vars(settings))

    def fit(
        self,
        session: Session[Any],
        settings: KMeansSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Centres]:
        if settings.algorithm == "proved":
            return _fit_proved(session, settings, noise)
        if published is not None:
            noise = np.asarray(published.noise_multiplier)
        return _fit_laplace(session, settings, noise, printed=published is not None)


def _fit_proved(session: Session[Any], settings: KMeansSettings, factor: Array) -> Runs[Centres]:
    """Where the rows are, a start worked out from it, then Lloyd's steps, one joint release each.

    factor ``(B,)``: total noise multiplier. **Guarantee:** the releases of
    :meth:`KMeansRecipe.events` times the factor. Each asks for rows from a middle and inside a
    radius that earlier ones say.
    """
    public, components = session.public, settings.components
    (norms, first, distances, cells), steps = _multipliers(settings)
    later = factor / math.sqrt(1.0 / cells**2 + float(np.sum(1.0 / steps**2)))
    look = _looked(session, factor * norms, factor * first, factor * distances)
    shape, saved = kmeans.scatter(components, public.dim, settings.start)
    weights = OBSERVED if isinstance(settings, _InLargerBalls) else DOUBTING
    most = 1 if isinstance(settings, _AsOfOneRow) else session.rows_per_person
    single, view = _aimed(look, components, later, saved, weights, most)
    places = kmeans.candidates(look.at.mean, look.spread, settings.start, ball=public.is_ball)
    places, rows = places - view.middle[:, None], look.at.rows
    cells_at = kmeans.keep(places, components, rows, np.hypot(*view.noise(factor * cells)))
    cells_at[single, 1:] = np.nan
    released = view.sums(_start(session.rows_per_person), cells_at, factor * cells)
    mean = kmeans.mean_of_cells(released, cells_at, rows, (look.at.mean - view.middle, look.error))
    places = kmeans.started(released, cells_at, components, settings.start)
    around = (kmeans.WARY * look.distance)[:, None, None] * shape
    search = kmeans.Search.begun(places, mean, look.spread, single, around)
    history = []
    for iteration, step in enumerate(steps, start=1):
        what = f"iteration {iteration}: counts and sums"
        released = view.sums(what, search.targets(), factor * step)
        search = search.after(released, rows)
        centres = search.steadied() + view.middle[:, None]
        history.append(Centres(within(centres, public.is_ball, session.radius), search.shares))
    ball = Frame.balls(view.middle[:1], view.radius[:1])
    distances = Distances(*look.at.counted) if session.private else None
    return Runs(history[-1], tuple(history), [ball] * len(history), distances)


@dataclass(frozen=True)
class _Look:
    """Where the rows are, as three releases say.

    error ``(B,)``: square error in each coordinate of the mean; spread ``(B,)``: deviation of a row
    in a coordinate; distance ``(B,)``: of a row from the mean, on average. view and reach: from
    where rows are best seen from now on, and how far they are from there.
    """

    at: Location
    error: Array
    spread: Array
    distance: Array
    view: View
    reach: Reach


def _looked(session: Session[Any], norms: Array, first: Array, distances: Array) -> _Look:
    """The same from :func:`located`, by the same multipliers of its releases' noise ``(B,)``."""
    at, dim = located(session, norms, first, distances), session.public.dim
    square = np.maximum(at.distances.square - dim * at.noise, LEAST_LEFT * at.distances.square)
    spread = np.sqrt(square / dim)
    points, shares = at.distances.points()
    distance = np.sum(shares * points, axis=1)  # the same alone or in a grid
    distance = distance * np.sqrt(square / np.maximum(at.distances.square, TINY))
    distance = np.minimum(distance, kmeans.round_distance(dim) * spread)
    view, noise, unseen = View.of(session), dim * at.noise, at.norms.square
    taken = at.norms.taken(view.clipped(at.norms, at.rows, first).radius)
    error = _both(noise + OFF_IN_MANY * taken**2, OFF_IN_MANY * unseen) / dim
    middle, reach = at.mean, at.distances
    if dim <= TREE_DIM:
        # Boxes of rows are summed, which lie about the middle of the bounds, unless rows fill too
        # little of these.
        small = at.distances.edges[:, 0] < at.norms.edges[:, 0]
        error = np.where(small, error, _both(noise, OFF_MIDDLE * unseen) / dim)
        middle, reach = np.where(small[:, None], at.mean, 0.0), at.norms.where(small, at.distances)
    return _Look(at, error, spread, distance, replace(view, middle=middle), reach)


def _aimed(
    look: _Look,
    components: int,
    multiplier: Array,
    saved: float,
    weights: tuple[float, float],
    rows_of_one: int,
) -> tuple[Mask, View]:
    """Runs ``(B,)`` that had better ask for the mean of all rows alone than for K groups, and how
    each sees the rows.

    multiplier ``(B,)``: of the noise in all releases to come, taken as one. saved: by centres put
    around the mean, of rows at the mean distance 1 (:func:`.mathematics.scatter`). weights: as
    :meth:`Reach.radius` takes them, where groups are clipped. rows_of_one: of each person, all of
    which noise protects.

    What centres around the mean save is multiplied by its own share of the spread, because a few
    centres may lie in the wrong directions. Groups explain as much, as far as clipping leaves it,
    and :data:`EXPLAINED` of the rest, reduced by noise; but the total of K sums has K times the
    noise of one, and tighter clipping moves it more, the more of the distances an error of the mean
    explains, because all rows then lie to one side. Where noise drowns K sums, the distances cannot
    be trusted either, and one mean is asked for.
    """
    dim, rows = look.at.mean.shape[1], look.at.rows
    whole = look.view.clipped(look.reach, rows, multiplier)
    if components == 1:
        return np.ones(len(rows), dtype=bool), whole
    groups = look.view.clipped(look.reach, rows / components, multiplier, weights)
    many, few = ((view.noise(multiplier)[1] / rows) ** 2 for view in (groups, whole))
    before = dim * look.error
    aside = np.clip(before / np.maximum(look.reach.square, TINY), TAKEN, 1.0)
    many_bias, few_bias = (aside * look.reach.taken(view.radius) ** 2 for view in (groups, whole))
    square, scattered = dim * look.spread**2, saved * look.distance**2
    share = scattered / np.maximum(square, TINY)
    between = (share + EXPLAINED * (1.0 - share)) * np.minimum(square, groups.radius**2)
    apart = LAGGING * components * (components - 1) * many
    gain = between**2 / np.maximum(between + apart, TINY)
    many_error = _both(before, components * many + many_bias)
    single = gain - many_error <= share * scattered - _both(before, few + few_bias)
    single |= math.sqrt(components * dim) * multiplier * rows_of_one > DROWNED * rows
    return single, replace(groups, radius=np.where(single, whole.radius, groups.radius))


def _start(rows_of_one: int) -> str:
    """What the release of cells is called, of persons with so many rows each."""
    return START + SEVERAL * (rows_of_one > 1)


def _both(first: Array, second: Array) -> Array:
    """Square error of a mean of which two things are known with square errors ``(B,)``."""
    return np.asarray(first * second / np.maximum(first + second, TINY))


def _multipliers(settings: KMeansSettings) -> tuple[Array, Array]:
    """Noise multipliers ``(4,)`` of the releases before the steps and ``(iterations,)`` of these;
    the squares of their inverses add up to 1 over the whole fit."""
    left = (1.0 - sum(SHARES)) * step_shares(settings.iterations, even=settings.even)
    return 1.0 / np.sqrt(np.array(SHARES)), 1.0 / np.sqrt(left)


def _fit_laplace(
    session: Session[Any], settings: KMeansSettings, multiplier: Array, *, printed: bool
) -> Runs[Centres]:
    """DPLloyd, or DP-EM's k-means.

    multiplier ``(B,)``: Laplace scale / L1 sensitivity: the true one, or (``printed``) the one that
    the paper states.
    """
    dim, ball = session.public.dim, session.public.is_ball
    bound = row_bound(session)
    contribution = ClusterMoments(settings.components, dim, bound, 1.0, bound)
    joint = settings.algorithm == "dplloyd"
    stated = (dim + 1.0) if joint else 2.0 * math.sqrt(dim) * bound
    blocks: tuple[str, ...] = BOTH if joint else ("sums",)
    true = sum(contribution.l1_sensitivity(session.adjacency, block) for block in blocks)
    scale = multiplier * (stated / true if printed else 1.0)
    if joint:
        noises: tuple[Noise, ...] = (Noise("laplace", scale, BOTH),)
    elif printed:
        noises = (Noise("laplace", scale, ("sums",)),)
    else:
        noises = (Noise("laplace", scale, ("counts",)), Noise("laplace", scale, ("sums",)))
    release = session.exhibit if printed and not joint else session.release
    centres = kmeans.start(session.runs, settings.components, dim, settings.start, ball=ball)
    history = []
    for iteration in range(1, settings.iterations + 1):
        noisy = release(
            f"iteration {iteration}: counts and sums", contribution, centres.centres, noises
        )
        centres = kmeans.published_step(noisy, ball=ball)
        history.append(centres)
    ball = Frame.identity(dim, session.radius)
    return Runs(centres, tuple(history), [ball] * len(history))


RECIPE: Any = KMeansRecipe()
