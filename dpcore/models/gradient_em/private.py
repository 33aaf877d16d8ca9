"""Private gradient EM: steps along a mean of gradients, each bounded before it is averaged.

*clipped*: every gradient is drawn into a ball and all rows serve every step. *robust*: every
coordinate is truncated softly (``shared.truncation``). *em*: neither, without privacy. In the local
model every person sends one bounded gradient with noise of the own, in the step of one group.
Proved, the first step of two regressions releases their direction, from which the others begin.
Wang, Ding, Hu, Xie, Pan, Xu 2023, Algorithms 1 and 2. Proved, the clipped one at ``sqrt(d tau)``
is the default: it knows no more than the robust one, whose box costs ``sqrt d`` more than a ball of
the same typical gradient, and was the more accurate wherever both were run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.checks import listed
from dpcore.errors import InputError
from dpcore.fitting.recipe import Printed, Recipe, Runs, demand_replacement
from dpcore.models.gradient_em.ascent import COUNTED, SHORTENED, Ascent
from dpcore.models.gradient_em.mathematics import (
    MISSING,
    REGRESSIONS,
    SYMMETRIC,
    Coefficients,
    GradientModel,
)
from dpcore.models.gradient_em.parameters import GradientParameters
from dpcore.models.gradient_em.settings import (
    GradientSettings,
    MirroredSettings,
    MissingSettings,
    RegressionsSettings,
)
from dpcore.privacy import Event, Gaussian, Guarantee, Ledger, Privacy
from dpcore.schema import Schema
from dpcore.wall.data import MaskedRows, PublicFrame
from dpcore.wall.session import Session

MASKED = "the pattern of missing cells is protected like the rest of the row"
COINS = "at random, independently of the data; under add_remove the guarantee relies on this"
NOT_OWN = (
    "in own units, limits should be {}, and those of {} are not: the result may mean nothing. Unit "
    "coordinates (half ranges of the limits, from the middle) suit all columns"
)
LEAST_REACH, MOST_REACH = 2.0, 40.0  # of a standardised column's limits, from lower to upper
PAPER = "Wang, Ding, Hu, Xie, Pan, Xu 2023"


class GradientRecipe(Recipe):
    """Gradient EM of one model, proved and as published; see the module."""

    def __init__(self, model: GradientModel, options: type[GradientSettings]) -> None:
        self.model, self.options = model, options
        self.opens = partial(MaskedRows, target=model.target, masked=model.masked)

    def events(self, settings: GradientSettings) -> tuple[Event, ...]:
        """One release a step; steps on disjoint parts count as one."""
        _demand_bounded(settings)
        if settings.split:
            return (Event(Gaussian(1.0)),)
        return (Event(Gaussian(math.sqrt(settings.iterations)), count=settings.iterations),)

    def published(
        self, requests: Sequence[Privacy], settings: GradientSettings, delta_each: float | None
    ) -> PublishedBudget:
        """The paper's noise: ``rho = e^2`` of zCDP for the whole fit, whatever the accountant.

        ``e = sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta))``. The constant of Algorithm 1 is not
        printed; here it is the one by the same counting, of T releases of the same rows.
        """
        _demand_bounded(settings)
        demand_replacement(requests)
        releases = 1 if settings.split else settings.iterations
        multiplier = np.array([printed_multiplier(p, releases) for p in requests])
        if settings.form == "second":
            multiplier *= math.sqrt(math.log(1.0 / settings.failure))
        return PublishedBudget(1.0 / multiplier, multiplier, None, releases)

    def printed(self, request: Privacy, settings: GradientSettings) -> Printed | None:
        if settings.algorithm == "clipped":
            return Printed(
                f"{PAPER}, Algorithm 1",
                (
                    "the constant in its noise is not printed; here it follows from composition "
                    "by zCDP, as in Algorithm 2",
                ),
            )
        return Printed(
            f"{PAPER}, Algorithm 2 and Theorem 3",
            (
                "here each row is in one part, and its truncated gradient stays within the bound; "
                "equation (14), computed as printed, would exceed it for large gradients",
                "the two printed forms of its noise variance differ by a factor of ln(1/zeta)",
            ),
        )

    def assumptions(
        self, settings: GradientSettings, guarantee: Guarantee, schema: Schema
    ) -> tuple[str, ...]:
        """The usual lines, what is masked, tossed or added by persons, and what was chosen."""
        lines = guarantee.assumptions
        target = schema.target if self.model.target else None
        if target is not None and (column := schema.column(target)).categories:
            lines = (*lines, f"targets in {target}: {column.neither}")
        if self.model.masked:
            lines = tuple(MASKED if line.startswith("a missing cell") else line for line in lines)
        for tossed, what in (
            (settings.split, "rows were divided into parts"),
            (settings.missing_rate > 0.0, "further cells were hidden"),
        ):
            lines = (*lines, f"{what} {COINS}") if tossed else lines
        if settings.trust == "local":
            lines = (*lines, "each person adds the noise: nobody collects an exact gradient")
        return (
            *lines,
            "the model's noise level, tau, threshold and step size were chosen without looking at "
            "the data",
        )

    def as_made(
        self, settings: GradientSettings, ledger: Ledger, rows_of_one: int
    ) -> GradientSettings | None:
        """What was taken for a number of rows that is not public was once less; and steps that led
        too far, as those of regressions can, were not halved."""
        entry = ledger.entries[-1]
        counted = entry.adjacency != "add_remove" or COUNTED in entry.what
        far = self.model.target or settings.step_size > 1.0
        halved = any(words in entry.what for words in (SHORTENED["clipped"], SHORTENED["robust"]))
        return settings if counted and (halved or not far) else None

    def notes(self, settings: GradientSettings, schema: Schema) -> tuple[str, ...]:
        """As :class:`Recipe` says: own units suit columns that lie about 0, and the step of a
        regression those whose limits are a few deviations away, too."""
        if not settings.own:
            return ()
        standardised = self.model.target
        odd = [
            column.name
            for column in schema.numeric_columns()
            if not column.lower < 0.0 < column.upper
            or (standardised and not LEAST_REACH <= column.upper - column.lower <= MOST_REACH)
        ]
        words = "those of standardised columns" if standardised else "on either side of 0"
        return (NOT_OWN.format(words, listed(odd)),) if odd else ()

    def fit(
        self,
        session: Session[Any],
        settings: GradientSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Coefficients]:
        assert isinstance(session.source, MaskedRows)  # the kind this recipe asks for
        multiplier = np.asarray(noise) * (1.0 if settings.split else math.sqrt(settings.iterations))
        if published is not None:
            multiplier = np.asarray(published.noise_multiplier)
        return Ascent(self.model, session, settings, multiplier).run()

    def parameters(self, batch: Coefficients, run: int, public: PublicFrame) -> GradientParameters:
        return GradientParameters.from_units(self.model.name, batch, run, public)


def _demand_bounded(settings: GradientSettings) -> None:
    if settings.algorithm == "em":
        raise InputError(
            "algorithm",
            "em does not bound gradients, so no noise can protect a row",
            "choose clipped or robust",
        )


def printed_multiplier(request: Privacy, releases: int) -> float:
    """Noise / the paper's sensitivity in each release, by the counting of its Algorithm 2."""
    if request.noise_multiplier is not None:
        return request.noise_multiplier
    assert request.epsilon is not None  # one of the two was given
    assert request.delta is not None  # comes with epsilon
    log = math.log(1.0 / request.delta)
    share = request.epsilon / (math.sqrt(log + request.epsilon) + math.sqrt(log))
    return math.sqrt(releases / 2.0) / share


SYMMETRIC_MIXTURE = GradientRecipe(SYMMETRIC, MirroredSettings)
MIXTURE_REGRESSION = GradientRecipe(REGRESSIONS, RegressionsSettings)
MISSING_REGRESSION = GradientRecipe(MISSING, MissingSettings)
