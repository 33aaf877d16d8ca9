"""Private k-means: one joint Gaussian release of counts and sums a step, and two published ways.

*proved*: counts and sums of all clusters leave as one vector with one sensitivity. *dplloyd*: the
same sums with Laplace noise scaled to the L1 sensitivity (Su et al. 2016). *paper*: DP-EM's section
7, whose counts are never paid for: in paper mode they leave exactly, as an exhibit without proof;
in proved mode they are noised and charged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting import calibrate
from dpcore.accounting.published import PublishedBudget
from dpcore.accounting.zcdp import CLASSIC
from dpcore.errors import InputError
from dpcore.fitting.plan import groups
from dpcore.fitting.recipe import Printed, Recipe, Runs, demand_replacement, gaussians, row_bound
from dpcore.models.kmeans import KMeansSettings
from dpcore.models.kmeans import mathematics as kmeans
from dpcore.models.kmeans.mathematics import Centres
from dpcore.models.kmeans.parameters import KMeansParameters
from dpcore.models.shared.allocation import step_shares
from dpcore.models.shared.group_means import count_and_sum_weights
from dpcore.models.shared.moments import one_diagonal
from dpcore.privacy import Event, Gaussian, Laplace, Privacy
from dpcore.wall.data import Frame, PublicFrame
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import ClusterMoments, InFrame, MixtureMoments, NoisyClusters

Array = NDArray[np.float64]

LOOK_SHARE = 0.1  # of mu^2; for the release that says where the rows are
CELLS_SHARE = 0.3  # for the one from which the start is worked out
BOTH: tuple[str, ...] = ("counts", "sums")


class KMeansRecipe(Recipe):
    """Lloyd's algorithm, proved and as published; see the module."""

    options = KMeansSettings

    def events(self, settings: KMeansSettings) -> tuple[Event, ...]:
        steps = settings.iterations
        if settings.algorithm == "proved":
            look, cells, each = _multipliers(settings)
            return (Event(Gaussian(look)), Event(Gaussian(cells)), *gaussians(each))
        releases = steps if settings.algorithm == "dplloyd" else 2 * steps
        return (Event(Laplace(1.0), count=releases),)

    def published(
        self, requests: Sequence[Privacy], settings: KMeansSettings, delta_each: float | None
    ) -> PublishedBudget:
        """One Laplace release a step, each with epsilon_i: linear, or zCDP (section 7)."""
        if settings.algorithm == "paper":
            demand_replacement(requests)
        steps = settings.iterations
        each = np.empty(len(requests))
        for i, request in enumerate(requests):
            if request.noise_multiplier is not None:
                each[i] = 1.0 / request.noise_multiplier
        for (accountant, delta), members in groups(requests).items():
            targets = np.array([requests[i].epsilon for i in members], dtype=float)
            if accountant == "linear":
                each[members] = targets / steps
            elif accountant == "zcdp":
                one = (Event(Laplace(1.0), count=steps),)
                each[members] = 1.0 / np.asarray(calibrate(one, targets, delta, CLASSIC))
            else:
                raise InputError(
                    "accountant",
                    "the papers compose k-means by linear composition or zCDP",
                    "choose linear or zcdp",
                )
        return PublishedBudget(each, 1.0 / each, None, steps)

    def printed(self, request: Privacy, settings: KMeansSettings) -> Printed | None:
        if request.mode != "paper":
            return None
        if settings.algorithm == "dplloyd":
            source = "Su, Cao, Li, Bertino, Jin 2016, section 2.3 (DPLloyd)"
            if request.accountant == "zcdp":
                source = "Park, Foulds, Chaudhuri, Welling 2017, section 7 (DPLloyd with zCDP)"
            return Printed(
                source,
                (
                    "its noise is scaled to d + 1, the change when a row of the box is added or "
                    "removed",
                ),
                pure=request.accountant == "linear",
                unless=("a replaced row changes counts and sums by twice as much",),
            )
        return Printed(
            "Park, Foulds, Chaudhuri, Welling 2017, section 7",
            (
                "the counts by which it divides are not charged: here they are released exactly, "
                "as an exhibit",
                "the paper scales by the data's own largest norm, which is not private; here the "
                "bounds are public",
            ),
        )

    def takes_persons(self, settings: KMeansSettings) -> bool:
        return settings.mode == "proved"

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

    def parameters(self, batch: Centres, run: int, public: PublicFrame) -> KMeansParameters:
        return KMeansParameters.from_units(batch, run, public)


def _fit_proved(session: Session[Any], settings: KMeansSettings, factor: Array) -> Runs[Centres]:
    """A rough look, a start worked out from it, then Lloyd's steps, each on one joint release.

    factor ``(B,)``: total noise multiplier. **Guarantee:** the releases of
    :meth:`KMeansRecipe.events` times the factor.
    """
    dim, ball = session.public.dim, session.public.is_ball
    bound = row_bound(session)
    look, cells, steps = _multipliers(settings)
    mean, spread = _looked(session, bound, factor * look)
    candidates = kmeans.candidates(mean, spread, settings.start, ball=ball)
    released, kept = released_cells(session, candidates, settings.components, factor * cells)
    centres = kmeans.started(released, kept, settings.components, settings.start)
    weights = count_and_sum_weights(dim, session.adjacency)
    contribution = ClusterMoments(settings.components, dim, bound, *weights)
    memory, history = None, []
    for iteration, step in enumerate(steps, start=1):
        noisy = session.release(
            f"iteration {iteration}: counts and sums",
            contribution,
            centres.centres,
            Noise("gaussian", factor * step),
        )
        centres, memory = kmeans.step(
            noisy,
            _rows(session, noisy),
            centres,
            memory,
            ball=ball,
            radius=session.radius,
        )
        history.append(centres)
    return Runs(centres, tuple(history))


def released_cells(
    session: Session[Any], places: Array, least: int, multiplier: Array
) -> tuple[NoisyClusters, Array]:
    """Noisy counts and sums of the rows nearest to each of places ``(B, M, d)``, and the places.

    The noise decides how many of the first places are asked for (at least ``least``); the others
    come back as NaN. multiplier ``(B,)``: noise of this one release / its sensitivity.
    """
    cells, dim = places.shape[1:]
    bound = row_bound(session)
    contribution = ClusterMoments(cells, dim, bound, *count_and_sum_weights(dim, session.adjacency))
    scale = multiplier * contribution.l2_sensitivity(session.adjacency)
    noise = scale * math.hypot(
        contribution.scale("counts"), math.sqrt(dim) * contribution.scale("sums")
    )
    known = session.rows if session.persons is None else session.persons
    rows = np.inf if known is None else known
    kept = kmeans.keep(places, least, rows, noise if session.private else 0.0 * noise)
    noisy = session.release(
        "counts and sums of cells", contribution, kept, Noise("gaussian", multiplier)
    )
    return noisy, kept


def _multipliers(settings: KMeansSettings) -> tuple[float, float, Array]:
    """Noise multipliers of look, cells and each step ``(iterations,)``; the squares of their
    inverses add up to 1 over the whole fit."""
    shares = step_shares(settings.iterations, even=settings.even)
    steps = (1.0 - LOOK_SHARE - CELLS_SHARE) * shares
    return 1.0 / math.sqrt(LOOK_SHARE), 1.0 / math.sqrt(CELLS_SHARE), 1.0 / np.sqrt(steps)


def _looked(session: Session[Any], bound: float, multiplier: Array) -> tuple[Array, Array]:
    """Noisy mean ``(B, d)`` and standard deviation of each column ``(B, d)``: one release."""
    dim = session.public.dim
    contribution = MixtureMoments.normalised(1, dim, "diag", bound, np.array([0.25, 1.0, 2.0]))
    noisy = session.release(
        "mean and spread of all rows",
        contribution,
        InFrame(Frame.identity(dim, session.radius)),
        Noise("gaussian", multiplier),
    )
    rows = float(session.rows) if session.rows is not None else noisy.counts[:, 0]
    mean, variances = one_diagonal(noisy, np.maximum(rows, 1.0), bound)
    return mean, np.sqrt(variances)


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
    return Runs(centres, tuple(history))


def _rows(session: Session[Any], noisy: NoisyClusters) -> Array | float:
    """Public where a row is replaced; otherwise what the released counts add up to, at least 1."""
    if session.rows is not None:
        return float(session.rows)
    return np.asarray(np.maximum(noisy.counts.sum(axis=1), 1.0))


RECIPE: Any = KMeansRecipe()
