"""Private factor analysis: second moments in a released ball, then as much EM as one likes.

*proved*: three small releases say where the rows lie; mean and second moments of all rows, clipped
to a ball there, leave as one vector, and what noise could have made of them is taken out before the
factors are sought. Within the public limits instead (``ball="limits"``) it is that vector alone.
*paper*: DP-EM's section 6, the second moment
about the public centre with the noise of Analyze Gauss, then its EM as printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.plan import groups
from dpcore.fitting.recipe import Printed, Recipe, Runs, demand_replacement, row_bound
from dpcore.models.factor_analysis import FactorSettings
from dpcore.models.factor_analysis import mathematics as factors
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.models.factor_analysis.parameters import FactorParameters
from dpcore.models.shared.location import USUAL_NORM, located
from dpcore.models.shared.second_moments import AllRows, Ball
from dpcore.models.shared.threads import one_thread
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.wall.data import Frame
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import InFrame, MixtureMoments, NoisyMoments, SecondMoments

# Of mu^2: for distances from the middle of the bounds, the mean, distances from it, and second
# moments in the ball that these show.
SHARES = (0.01, 0.05, 0.02, 0.92)
MULTIPLIERS = tuple(1.0 / math.sqrt(share) for share in SHARES)
EVENTS = tuple(Event(Gaussian(multiplier)) for multiplier in MULTIPLIERS)
PRINTED_SENSITIVITY = 2.0  # of the sum of y y^T, |y| <= 1: the paper is silent, its program has 2/N


class FactorRecipe(Recipe):
    """Factor analysis, proved and as published; see the module."""

    options = FactorSettings
    in_own_units = FactorParameters.from_units

    def events(self, settings: FactorSettings) -> tuple[Event, ...]:
        if settings.mode == "paper" or settings.ball == "limits":
            return (Event(Gaussian(1.0)),)
        return EVENTS

    def published(
        self, requests: Sequence[Privacy], settings: FactorSettings, delta_each: float | None
    ) -> PublishedBudget:
        """One Gaussian release with z = sqrt(2 ln(1.25 / delta)) / epsilon (Dwork, Roth 2014).

        Raises InputError for a composition method other than linear.
        """
        demand_replacement(requests)
        multiplier, used = np.empty(len(requests)), delta_each
        for i, request in enumerate(requests):
            if request.noise_multiplier is not None:
                multiplier[i] = request.noise_multiplier
        for (accountant, delta), members in groups(requests).items():
            if accountant != "linear":
                raise InputError(
                    "accountant",
                    "the paper makes one release, so there is nothing to compose",
                    "choose linear",
                )
            targets = np.array([requests[i].epsilon for i in members], dtype=float)
            multiplier[members] = math.sqrt(2.0 * math.log(1.25 / delta)) / targets
            used = delta
        no_epsilon = np.full(len(requests), np.nan)
        return PublishedBudget(no_epsilon, multiplier, used, 1)

    def printed(self, request: Privacy, settings: FactorSettings) -> Printed | None:
        if request.mode != "paper":
            return None
        return Printed(
            "Park, Foulds, Chaudhuri, Welling 2017, section 6 (Analyze Gauss)",
            (
                "the paper does not state the sensitivity of the second moment; its program "
                "uses 2/N, and the correct value is sqrt(2)/N",
                "its formula for the noise is proved only for epsilon below 1",
                "the paper scales the rows by their own largest norm and centres them at their own "
                "mean, which the noise does not cover; here bounds and centre are public",
            ),
        )

    def takes_persons(self, settings: FactorSettings) -> bool:
        return settings.mode == "proved"

    def fit(
        self,
        session: Session[Any],
        settings: FactorSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Factors]:
        if settings.mode == "paper":
            factors = _fit_published(session, settings, noise)
        else:
            factors = _fit_proved(session, settings, noise)
        return Runs(factors, (factors,))


@one_thread()
def _fit_proved(session: Session[Any], settings: FactorSettings, multiplier: Array) -> Factors:
    """Mean and second moments as one vector, then the factors that show through the noise.

    multiplier ``(B,)``: total noise multiplier. **Guarantee:** the releases of
    :meth:`FactorRecipe.events` times the multiplier.
    """
    dim = session.public.dim
    demand_fewer_factors(settings.components, dim)
    # Of fewer rows than columns the second moments are larger than the rows and slower to multiply.
    if not session.private and session.runs == 1 and 0 < (session.rows or 0) < dim:
        exact = session.plain_rows()
        if exact is not None:
            return factors.maximum_likelihood(exact, settings.components, settings.iterations)
    if settings.ball == "limits":
        released, ball = release_in_limits(session, multiplier), None
    else:
        released, ball = release_in_ball(session, multiplier)
    fit = factors.proved(
        released.mean,
        released.second_moment,
        released.sd,
        released.mean_sd,
        settings.components,
        settings.iterations,
        released.radius,
        released.usual,
    )
    return fit if ball is None else fit.back(ball)


def release_in_ball(session: Session[Any], multiplier: Array) -> tuple[AllRows, Ball | None]:
    """Mean and second moments of all rows in the coordinates of a ball, with that ball.

    multiplier ``(B,)``: total noise multiplier. **Guarantee:** :data:`EVENTS` times the multiplier:
    the three releases of :func:`~dpcore.models.shared.location.located`, and one of
    :class:`~dpcore.wall.statistics.mixture_moments.MixtureMoments`, whose frame they say. The ball
    lies about the released mean or the middle of the bounds, where clipping and noise cost less.
    Without privacy rows are seen within the limits, and once.
    """
    if not session.private:
        return release_in_limits(session, multiplier), None
    norms, first, distances, last = (multiplier * factor for factor in MULTIPLIERS)
    at = located(session, norms, first, distances, USUAL_NORM)
    dim, weights = session.public.dim, _weights(session.public.dim)
    unit = last * squares_noise(dim, 1.0, session.adjacency) * session.rows_per_person / at.rows
    spread, crossing = at.distances.steady_square, float(weights[2] / weights[1]) ** 2
    near = at.distances.clip_squares(unit, spread, dim, crossing)
    wide = at.norms.clip_squares(unit, spread, dim, crossing)
    about_mean = near.nats <= wide.nats
    radius = np.where(about_mean, near.radius, wide.radius)
    ball = Ball(np.where(about_mean[:, None], at.mean, 0.0), radius)
    noisy = _all_rows(session, Frame.balls(ball.middle, radius), 1.0, last)
    left = np.where(about_mean, near.left, wide.left)
    outside = np.maximum(at.norms.square - at.distances.square, 0.0)
    square = at.distances.square + np.where(about_mean, 0.0, outside)
    released = AllRows(
        at.rows,
        noisy.sums[:, 0] / at.rows[:, None],
        noisy.squares[:, 0] / (left * at.rows)[:, None, None],
        noisy.squares_sd / (left * at.rows),
        noisy.sums_sd / at.rows,
        row_bound(session) / radius,
        square / dim / radius**2,
    )
    return released, ball


def release_in_limits(session: Session[Any], multiplier: Array) -> AllRows:
    """Mean and second moments of all rows in unit coordinates, from one vector with one noise.

    multiplier ``(B,)``: noise of the release / its sensitivity. **Guarantee:** one Gaussian release
    with that multiplier, by the lemma of
    :class:`~dpcore.wall.statistics.mixture_moments.MixtureMoments`. Where the number of rows is
    private, moments are divided by the released count.
    """
    bound = row_bound(session)
    identity = Frame.identity(session.public.dim, session.radius)
    noisy = _all_rows(session, identity, bound, multiplier)
    rows = float(session.rows) if session.rows is not None else noisy.counts[:, 0]
    count = np.maximum(np.broadcast_to(rows, (session.runs,)), 1.0)
    return AllRows(
        count,
        noisy.sums[:, 0] / count[:, None],
        noisy.squares[:, 0] / count[:, None, None],
        noisy.squares_sd / count,
        noisy.sums_sd / count,
        bound,
    )


def _all_rows(session: Session[Any], frame: Frame, bound: float, multiplier: Array) -> NoisyMoments:
    """One release of what all rows add up to in a frame whose ball has the radius ``bound``."""
    dim = session.public.dim
    return session.release(
        "mean and second moments of all rows",
        MixtureMoments.normalised(1, dim, "full", bound, _weights(dim)),
        InFrame(frame),
        Noise("gaussian", multiplier),
    )


def demand_fewer_factors(factors: int, columns: int) -> None:
    """Raise InputError for as many factors as columns, or more: they would explain nothing."""
    if factors >= columns:
        raise InputError(
            "factors", "there must be fewer factors than columns", "ask for fewer factors"
        )


def squares_noise(dim: int, radius: float, adjacency: str) -> float:
    """Noise deviation in a diagonal entry of the proved release's sum of squares, at noise
    multiplier 1: what decides which factors can be seen."""
    contribution = MixtureMoments.normalised(1, dim, "full", radius, _weights(dim))
    return contribution.l2_sensitivity(adjacency) * contribution.scale("squares")


def _weights(dim: int) -> Array:
    """The split between counts, sums and squares.

    Noise in the sums moves the mean alone; noise in the squares moves d directions of the
    covariance. In likelihood they cost ``(R^2/2) tr S^-1`` and ``(R^4/8) [(tr S^-1)^2 + tr S^-2]``
    for rows of covariance S, and at ``S = R^2/d`` the best split is ``b^2 : c^2 = 1 :
    sqrt(d (d + 1) / 4)``. Counts weigh what is free.
    """
    squares = max(1.0, (dim * (dim + 1.0) / 4.0) ** 0.25)
    return np.array([0.5 / squares, 1.0, squares])


@one_thread()
def _fit_published(session: Session[Any], settings: FactorSettings, multiplier: Array) -> Factors:
    """The second moment about the public centre with the paper's noise, then its EM."""
    assert session.rows is not None  # where they are not public, the paper has no noise
    dim, bound = session.public.dim, row_bound(session)
    demand_fewer_factors(settings.components, dim)
    contribution = SecondMoments(dim, bound)
    true = contribution.l2_sensitivity(session.adjacency)
    printed = multiplier * PRINTED_SENSITIVITY / true
    noisy = session.release(
        "second moments of all rows",
        contribution,
        None,
        Noise("gaussian", printed, widen_off_diagonal=math.sqrt(2.0)),
    )
    begin = factors.start(session.runs, settings.components, dim, bound, settings.start)
    return factors.published(
        noisy.squares / session.rows, begin, settings.iterations, settings.update
    )


RECIPE: Any = FactorRecipe()
