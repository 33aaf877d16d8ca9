"""Private factor analysis: second moments in a released ball or ellipsoid, then free EM.

*proved*: small releases say where the rows lie; mean and second moments of all rows, clipped to a
ball or an ellipsoid there, leave as one vector, and what noise could have made of them is taken out
before the factors are sought. Within the public limits instead (``ball="limits"``) it is that
vector alone. *paper*: DP-EM's section 6, the second moment about the public centre with the noise
of Analyze Gauss, then its EM as printed.

Probabilistic PCA has the proved releases in a ball, from which variational Bayes works out factors,
their number and the noise's variance.
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
from dpcore.models.factor_analysis import FactorSettings, PCASettings
from dpcore.models.factor_analysis import mathematics as factors
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.models.factor_analysis.parameters import FactorParameters
from dpcore.models.factor_analysis.probabilistic_pca import fitted
from dpcore.models.shared.all_rows import EVENTS, release_in_ball, release_in_limits
from dpcore.models.shared.threads import one_thread
from dpcore.models.shared.uneven_columns import SCALED_EVENTS, release_in_ellipsoid
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import SecondMoments

CAUTION = 100.0  # a column whose variance is far too small costs a likelihood most
PRINTED_SENSITIVITY = 2.0  # of the sum of y y^T, |y| <= 1: the paper is silent, its program has 2/N


class FactorRecipe(Recipe):
    """Factor analysis, proved and as published; see the module."""

    options = FactorSettings
    in_own_units = FactorParameters.from_units

    def events(self, settings: FactorSettings) -> tuple[Event, ...]:
        if settings.mode == "paper" or settings.ball == "limits":
            return (Event(Gaussian(1.0)),)
        return SCALED_EVENTS

    def published(
        self, requests: Sequence[Privacy], settings: FactorSettings, delta_each: float | None
    ) -> PublishedBudget:
        """One Gaussian release with z = sqrt(2 ln(1.25 / delta)) / epsilon (Dwork, Roth 2014).

        Raises InputError for a composition method other than linear.
        """
        demand_replacement(requests)
        multiplier = np.array([request.noise_multiplier or np.nan for request in requests])
        for accountant, delta, members, targets in groups(requests):
            if accountant != "linear":
                raise InputError(
                    "accountant",
                    "the paper makes one release, so there is nothing to compose",
                    "choose linear",
                )
            multiplier[members] = math.sqrt(2.0 * math.log(1.25 / delta)) / targets
            delta_each = delta
        no_epsilon = np.full(len(requests), np.nan)
        return PublishedBudget(no_epsilon, multiplier, delta_each, 1)

    def printed(self, request: Privacy, settings: FactorSettings) -> Printed | None:
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
        released, ball = release_in_ellipsoid(session, multiplier, CAUTION)
    fit = factors.proved(released, settings.components, settings.iterations)
    return fit if ball is None else fit.back(ball)


def demand_fewer_factors(factors: int, columns: int) -> None:
    """Raise InputError for as many factors as columns, or more: they would explain nothing."""
    if factors >= columns:
        raise InputError(
            "number of factors", "there must be fewer factors than columns", "ask for fewer factors"
        )


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


class PCARecipe(Recipe):
    """Probabilistic PCA with as many factors as the release supports; see the module."""

    options = PCASettings
    in_own_units = FactorParameters.from_units

    def events(self, settings: PCASettings) -> tuple[Event, ...]:
        return EVENTS

    def takes_persons(self, settings: PCASettings) -> bool:
        return True

    @one_thread()
    def fit(
        self,
        session: Session[Any],
        settings: PCASettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Factors]:
        most = most_factors(settings.most_factors, session.public.dim)
        released, ball = release_in_ball(session, noise)
        fit = fitted(released, most)
        fit = fit if ball is None else fit.back(ball)
        return Runs(fit, (fit,))


def most_factors(wanted: int, columns: int) -> int:
    """How many factors a fit may have: fewer than columns. Raises InputError for one column."""
    if columns < 2:
        raise InputError("columns", "a single column has no factors", "give two or more")
    return min(wanted, columns - 1)


FACTOR_ANALYSIS: Any = FactorRecipe()
PROBABILISTIC_PCA: Any = PCARecipe()
