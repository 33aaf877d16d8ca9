"""Private covariance: factor analysis' release of second moments in a released ball.

Mean and second moments of all rows leave as one vector
(:func:`~dpcore.models.shared.all_rows.release_in_ball`). Covariance, correlations and
principal components are worked out from it, which costs nothing.
"""

from __future__ import annotations

from typing import Any

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.distances import Distances
from dpcore.fitting.recipe import Recipe, Runs
from dpcore.models.covariance import CovarianceSettings, mathematics
from dpcore.models.covariance.mathematics import Covariances
from dpcore.models.covariance.parameters import CovarianceParameters
from dpcore.models.shared.all_rows import EVENTS, release_in_ball
from dpcore.models.shared.group_means import within
from dpcore.models.shared.threads import one_thread
from dpcore.privacy import Event
from dpcore.wall.session import Session


class CovarianceRecipe(Recipe):
    """One covariance matrix; see the module."""

    options = CovarianceSettings
    in_own_units = CovarianceParameters.from_units

    def events(self, settings: CovarianceSettings) -> tuple[Event, ...]:
        return EVENTS

    def takes_persons(self, settings: CovarianceSettings) -> bool:
        return True

    @one_thread()
    def fit(
        self,
        session: Session[Any],
        settings: CovarianceSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Covariances]:
        public = session.public
        demand_two_columns(public.dim)
        released, ball = release_in_ball(session, noise)
        fit = mathematics.repaired(released)
        distances = None
        if ball is not None:
            fit = fit.back(ball)
            distances = None if ball.counted is None else Distances(*ball.counted)
        mean = within(fit.mean, public.is_ball, session.radius) if session.private else fit.mean
        fit = Covariances(mean, fit.covariance)
        return Runs(fit, (fit,), distances=distances)


def demand_two_columns(columns: int) -> None:
    """Raise InputError for one column, which goes together with no other."""
    if columns < 2:
        raise InputError("columns", "a single column has no correlations", "give two or more")


RECIPE: Any = CovarianceRecipe()
