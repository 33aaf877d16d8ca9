"""The labelled release: one Gaussian for each class, chosen to differ least from the exact ones.

Proved under the adjacency asked for are *staged* (all adjacencies), *public_features* and *mte*
(labels protected, features public), the plain rivals *laplace*, *gaussian*, *colored*, and the
simplest, *pooled*: one Gaussian for all classes. *auto* takes public features where only labels are
protected and the budget is small, else the staged one. In paper mode runs what Liu, Scaglione,
Peisert 2025 print, without proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.recipe import Printed, Recipe, Runs
from dpcore.models.labelled_mixture import ReleaseSettings
from dpcore.models.labelled_mixture import baselines as labelled_baselines
from dpcore.models.labelled_mixture import mathematics as labelled
from dpcore.models.labelled_mixture import pooled as labelled_pooled
from dpcore.models.labelled_mixture import public_features as labelled_public
from dpcore.models.labelled_mixture import published as labelled_published
from dpcore.models.labelled_mixture import staged as labelled_staged
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.models.labelled_mixture.parameters import ReleaseParameters
from dpcore.privacy import Event, Gaussian, Guarantee, Laplace, Ledger, Privacy
from dpcore.schema import Schema
from dpcore.wall.data import LabelledRows
from dpcore.wall.session import Session

SMALL = 0.015  # attainable divergence below which the staged release beats public features


class ReleaseRecipe(Recipe):
    """The labelled release, proved and as published; see the module.

    opens: what its rows are opened with, since they have a label.
    """

    options = ReleaseSettings
    in_own_units = ReleaseParameters.from_units
    opens = LabelledRows

    def takes_equal_persons(self, settings: ReleaseSettings) -> bool:
        return settings.mode == "proved"

    def assumptions(
        self, settings: ReleaseSettings, guarantee: Guarantee, schema: Schema
    ) -> tuple[str, ...]:
        """Those of a table, and what counts in no class."""
        added = f"a row whose cell of {schema.label} names no class counts in none"
        return (*guarantee.assumptions, added)

    def events(self, settings: ReleaseSettings) -> tuple[Event, ...]:
        if settings.method == "laplace":
            return (Event(Laplace(1.0)),)
        shares = {
            "auto": labelled_staged.SHARES,  # public features: one release of the same worth
            "staged": labelled_staged.SHARES,
            "mte": labelled_public.ROUNDS,
            "colored": (labelled_baselines.COLORED_SHARE, 1.0 - labelled_baselines.COLORED_SHARE),
        }.get(settings.method, (1.0,))
        return tuple(Event(Gaussian(share**-0.5)) for share in shares)

    def published(
        self, requests: Sequence[Privacy], settings: ReleaseSettings, delta_each: float | None
    ) -> PublishedBudget:
        """One release with the whole of epsilon and delta, which the paper divides itself.

        Raises InputError for noise without a budget and for another adjacency.
        """
        if any(p.epsilon is None or p.delta is None for p in requests):
            raise InputError(
                "noise_multiplier", "the paper derives its noise from a budget", "give an epsilon"
            )
        ball = settings.neighbours == "ball"
        wanted = "feature" if ball else "label"
        if any(p.adjacency != wanted for p in requests):
            raise InputError(
                "adjacency",
                "the paper protects a label or, with neighbours ball, a row's features",
                f"choose {wanted}",
            )
        if len({p.delta for p in requests}) > 1:
            raise InputError(
                "delta", "the budgets of one grid differ in delta", "give them the same delta"
            )
        epsilons = np.array([p.epsilon for p in requests], dtype=float)
        return PublishedBudget(epsilons, 1.0 / epsilons, requests[0].delta, 1)

    def printed(self, request: Privacy, settings: ReleaseSettings) -> Printed | None:
        return labelled_published.printed(settings.method, settings.neighbours)

    def as_made(
        self, settings: ReleaseSettings, ledger: Ledger, rows_of_one: int
    ) -> ReleaseSettings:
        alone = settings.method == "auto" and len(ledger) == 1
        return replace(settings, method="public_features") if alone else settings

    def fit(
        self,
        session: Session[Any],
        settings: ReleaseSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[LabelledMixture]:
        assert isinstance(session.source, LabelledRows)  # the kind this recipe asks for
        if published is not None:
            method, neighbours = settings.method, settings.neighbours
            fitted = labelled_published.fit(session, method, neighbours, published, settings.solver)
            return Runs(fitted, (fitted,))
        return _fit_proved(session, settings, noise)


def _fit_proved(
    session: Session[LabelledRows], settings: ReleaseSettings, noise: Array
) -> Runs[LabelledMixture]:
    """The staged release hands out its steps, the other methods their result alone."""
    method, target, solver = settings.method, settings.target, settings.solver
    if method != "pooled" and (method == "auto" or not session.private):
        method = chosen(session, noise)
    if method == "staged":
        return labelled_staged.fit(session, noise, target)
    if method == "pooled":
        fitted = labelled_pooled.fit(session, noise, target)
    elif method == "public_features":
        fitted = labelled_public.fit_table(session, noise)
    elif method == "mte":
        fitted = labelled_public.fit_shaped(session, noise, target, solver)
    else:
        fitted = labelled_baselines.fit(session, noise, method, target, solver)
    return Runs(fitted, (fitted,))


def chosen(session: Session[LabelledRows], noise: Array) -> str:
    """The method that suits adjacency and budget, from public facts alone.

    Where labels alone are protected, shapes of the public features win until noise would cost the
    staged release less than :data:`SMALL`, in the middle of the grid's budgets and with classes of
    one size. noise ``(B,)``: total noise multiplier.
    """
    if not session.private or session.adjacency != "label" or session.rows is None:
        return "staged"
    even = np.full((1, session.source.components), session.rows / session.source.components)
    middle = np.array([1.0 / np.median(noise)]) / session.rows_per_person
    cost = labelled.attainable(session.public.dim, middle, even, touched=2.0)
    return "staged" if float(cost[0]) < SMALL else "public_features"


RECIPE: Any = ReleaseRecipe()
