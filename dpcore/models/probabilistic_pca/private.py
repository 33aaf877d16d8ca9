"""Private probabilistic PCA: second moments in a released ball, then variational Bayes.

Mean and second moments of all rows leave as one vector
(:func:`~dpcore.models.shared.all_rows.release_in_ball`). Factors, their number and the
noise's variance are worked out from it, which costs nothing.
"""

from __future__ import annotations

from typing import Any

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.recipe import Recipe, Runs
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.models.factor_analysis.parameters import FactorParameters
from dpcore.models.probabilistic_pca import PCASettings
from dpcore.models.probabilistic_pca.mathematics import fitted
from dpcore.models.shared.all_rows import EVENTS, release_in_ball
from dpcore.models.shared.threads import one_thread
from dpcore.privacy import Event
from dpcore.wall.session import Session


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


RECIPE: Any = PCARecipe()
