"""The proved fit of a mixture of an exponential family: one joint Gaussian release a step.

A tenth of the budget goes to the mean of all rows, around which a start is spread, and, where cells
can lie in a small part of their limits, to a ball around it in which all rows lie; then counts and
sums of all groups leave as one vector with one sensitivity, once per iteration
(:class:`~dpcore.wall.statistics.cluster_moments.MixtureSums`). One group alone is the mean of all
rows with the whole budget: the baseline to beat.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.fitting.recipe import Parameters, Recipe, Runs, gaussians, row_bound
from dpcore.models.exponential_family import FamilySettings, mathematics
from dpcore.models.exponential_family.bernoulli import Bernoulli
from dpcore.models.exponential_family.mathematics import Family, Groups, Window
from dpcore.models.exponential_family.parameters import BernoulliParameters, PoissonParameters
from dpcore.models.exponential_family.poisson import Poisson
from dpcore.models.shared.allocation import step_shares
from dpcore.models.shared.group_means import count_and_sum_weights
from dpcore.models.shared.location import View, located, number_of_rows
from dpcore.models.shared.reach import STEADY
from dpcore.models.shared.threads import one_thread
from dpcore.privacy import Event, Ledger
from dpcore.schema import Schema
from dpcore.wall.data import Frame, PublicFrame
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import Block, InFrame, MixtureSums

WHOLE_MEAN = "mean of all rows"
REVIVING = 0.75  # of the steps: the others are left for a group that starts late
MEAN_SHARES = (0.1,)  # of mu^2: for the mean of all rows
LOCATION_SHARES = (0.01, 0.07, 0.02)  # the same for distances from the middle, the mean, distances


class FamilyRecipe(Recipe):
    """A mixture of one family.

    in_own_units: makes parameters in own units of one run of a batch.
    """

    options = FamilySettings

    def __init__(
        self, family: Family, in_own_units: Callable[[Groups, int, PublicFrame], Parameters]
    ) -> None:
        self.family, self.in_own_units = family, in_own_units

    def events(self, settings: FamilySettings) -> tuple[Event, ...]:
        first, steps = _multipliers(settings, narrow=self.family.narrow)
        return (*gaussians(first), *gaussians(steps))

    def notes(self, settings: FamilySettings, schema: Schema) -> tuple[str, ...]:
        return self.family.notes(schema)

    def as_made(
        self, settings: FamilySettings, ledger: Ledger, rows_of_one: int
    ) -> FamilySettings | None:
        """Rows of a narrow family were once looked at within the limits."""
        older = self.family.narrow and ledger.entries[0].what == WHOLE_MEAN
        return None if older else settings

    def takes_persons(self, settings: FamilySettings) -> bool:
        return True

    @one_thread()
    def fit(
        self,
        session: Session[Any],
        settings: FamilySettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Groups]:
        public, family = session.public, self.family
        family.demand(public)
        first, steps = _multipliers(settings, narrow=family.narrow)
        located_first = family.narrow and (session.private or session.as_private)
        begin = _located if located_first else _within_limits
        begun = begin(session, family, settings.components, noise, first, steps)
        mean = np.clip(begun.mean, -1.0, 1.0)
        groups = mathematics.start(mean, settings.components, family, public, settings.start)
        memory, history = None, [groups]
        weights = count_and_sum_weights(public.dim, session.adjacency)
        statistic = MixtureSums(settings.components, public.dim, begun.bound, *weights)
        for iteration, step in enumerate(steps, start=1):
            e_step = mathematics.responsibilities(groups, family, public, begun.window)
            released = session.release(
                f"iteration {iteration}: counts and sums",
                statistic,
                InFrame(begun.frame, e_step),
                Noise("gaussian", noise * step),
            )
            groups, memory = mathematics.m_step(
                released, begun.rows, groups, memory, family, public, begun.window, session.radius
            )
            if iteration <= REVIVING * len(steps):
                groups = mathematics.revived(groups, released, family, public)
            history.append(groups)
        frame = begun.frame.first()
        return Runs(groups, tuple(history[1:] or history), [frame] * len(steps))


@dataclass(frozen=True)
class _FirstReleases:
    """What the first releases say: the number of rows ``(B,)`` and their mean ``(B, d)``; and how
    the steps see the rows: in a window, whose frame clips them to a bound."""

    rows: Array
    mean: Array
    window: Window
    frame: Frame
    bound: float


def _located(
    session: Session[Any], family: Family, components: int, noise: Array, first: Array, steps: Array
) -> _FirstReleases:
    """An ellipsoid around the mean, with axes as the columns' spreads ask for them, and as large as
    is best for the means of groups in a ball of as many columns of one spread."""
    at = located(session, *(noise * multiplier for multiplier in first))
    together = noise / math.sqrt(float(np.sum(1.0 / steps**2)))
    view = View.of(session).clipped(at.distances, at.rows / components, together, STEADY)
    scales = family.scales(at.mean, at.distances.square, session.public)
    scales *= (view.radius / np.sqrt(np.mean(scales**2, axis=1)))[:, None]
    frame = Frame.ellipsoids(at.mean, scales)
    return _FirstReleases(at.rows, at.mean, Window(at.mean, scales), frame, 1.0)


def _within_limits(
    session: Session[Any], family: Family, components: int, noise: Array, first: Array, steps: Array
) -> _FirstReleases:
    """The limits themselves."""
    dim, bound = session.public.dim, row_bound(session)
    frame = Frame.identity(dim, session.radius)
    weights = count_and_sum_weights(dim, session.adjacency)
    released = session.release(
        WHOLE_MEAN,
        MixtureSums(1, dim, bound, *weights),
        InFrame(frame, _wholly),
        Noise("gaussian", noise * first[0]),
    )
    rows = number_of_rows(session, released.counts)
    mean = np.nan_to_num(released.sums[:, 0] / rows[:, None])
    return _FirstReleases(rows, mean, Window(np.zeros((1, dim)), np.ones((1, dim))), frame, bound)


def _multipliers(settings: FamilySettings, *, narrow: bool) -> tuple[Array, Array]:
    """Noise multipliers of the first releases ``(1,)`` or ``(3,)`` and of each step
    ``(iterations,)``; the squares of their inverses add up to 1 over the whole fit."""
    first = np.array(LOCATION_SHARES if narrow else MEAN_SHARES)
    if settings.components == 1 and not narrow:
        return np.ones(1), np.empty(0)
    iterations = settings.iterations if settings.components > 1 else 1
    steps = (1.0 - first.sum()) * step_shares(iterations, even=settings.even)
    return 1.0 / np.sqrt(first), 1.0 / np.sqrt(steps)


def _wholly(block: Block, runs: slice) -> Array:
    """All rows in the one group."""
    return np.ones((runs.stop - runs.start, 1, block.count))


BERNOULLI = FamilyRecipe(Bernoulli(), BernoulliParameters.from_units)
POISSON = FamilyRecipe(Poisson(), PoissonParameters.from_units)
