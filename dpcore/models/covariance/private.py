"""Private covariance: factor analysis' release of second moments in a released ball or ellipsoid.

Mean and second moments of all rows leave as one vector
(:func:`~dpcore.models.shared.uneven_columns.release_in_ellipsoid`). Covariance, correlations and
principal components are worked out from it, which costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.distances import Distances
from dpcore.fitting.recipe import Recipe, Runs
from dpcore.models.covariance import mathematics
from dpcore.models.covariance.mathematics import Covariances
from dpcore.models.covariance.parameters import CovarianceParameters
from dpcore.models.shared.all_rows import EVENTS, release_in_ball
from dpcore.models.shared.group_means import within
from dpcore.models.shared.threads import one_thread
from dpcore.models.shared.uneven_columns import SCALED_EVENTS, release_in_ellipsoid
from dpcore.options import Settings
from dpcore.privacy import Event, Ledger
from dpcore.wall.session import Session

CAUTION = 3.0  # correlations bear what clipping takes from a column


@dataclass(frozen=True)
class _InBall(Settings):
    """Of releases that were made before columns were scaled."""


class CovarianceRecipe(Recipe):
    """One covariance matrix; see the module."""

    options = Settings
    in_own_units = CovarianceParameters.from_units

    def events(self, settings: Settings) -> tuple[Event, ...]:
        return EVENTS if isinstance(settings, _InBall) else SCALED_EVENTS

    def as_made(self, settings: Settings, ledger: Ledger, rows_of_one: int) -> Settings:
        older = len(ledger) == len(EVENTS)
        return _InBall(**vars(settings)) if older else settings

    def takes_persons(self, settings: Settings) -> bool:
        return True

    @one_thread()
    def fit(
        self,
        session: Session[Any],
        settings: Settings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Covariances]:
        public = session.public
        demand_two_columns(public.dim)
        if isinstance(settings, _InBall):
            released, ball = release_in_ball(session, noise)
        else:
            released, ball = release_in_ellipsoid(session, noise, CAUTION)
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
