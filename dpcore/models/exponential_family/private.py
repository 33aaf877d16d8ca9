"""The proved fit of a mixture of an exponential family: one joint Gaussian release a step.

A tenth of the budget goes to the mean of all rows, around which a start is spread; then counts and
sums of all groups leave as one vector with one sensitivity, once per iteration
(:class:`~dpcore.wall.statistics.cluster_moments.MixtureSums`). One group alone is that first
release with the whole budget: the baseline to beat.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.fitting.recipe import Parameters, Recipe, Runs, gaussians, row_bound
from dpcore.models.exponential_family import FamilySettings, mathematics
from dpcore.models.exponential_family.mathematics import Family, Groups
from dpcore.models.shared.allocation import step_shares
from dpcore.models.shared.group_means import count_and_sum_weights
from dpcore.models.shared.threads import one_thread
from dpcore.privacy import Event, Gaussian
from dpcore.schema import Schema
from dpcore.wall.data import Frame, PublicFrame
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import Block, InFrame, MixtureSums, NoisyClusters

REVIVING = 0.75  # of the steps: the others are left for a group that starts late
MEAN_SHARE = 0.1  # of mu^2; for the release of the mean of all rows


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
        mean, steps = _multipliers(settings)
        return (Event(Gaussian(mean)), *gaussians(steps))

    def notes(self, settings: FamilySettings, schema: Schema) -> tuple[str, ...]:
        return self.family.notes(schema)

    def takes_persons(self, settings: FamilySettings) -> bool:
        return True

    def fit(
        self,
        session: Session[Any],
        settings: FamilySettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Groups]:
        with one_thread():
            return self._fit(session, settings, noise)

    def _fit(self, session: Session[Any], settings: FamilySettings, noise: Array) -> Runs[Groups]:
        """noise ``(B,)``: total noise multiplier. **Guarantee:** the releases of :meth:`events`
        times it."""
        public, family = session.public, self.family
        family.demand(public)
        mean_noise, step_noises = _multipliers(settings)
        bound = row_bound(session)
        frame = Frame.identity(public.dim, session.radius)
        weights = count_and_sum_weights(public.dim, session.adjacency)
        released = session.release(
            "mean of all rows",
            MixtureSums(1, public.dim, bound, *weights),
            InFrame(frame, _wholly),
            Noise("gaussian", noise * mean_noise),
        )
        rows = _number_of_rows(session, released)
        mean = np.nan_to_num(released.sums[:, 0] / np.reshape(rows, (-1, 1)))
        groups = mathematics.start(
            np.clip(mean, -1.0, 1.0), settings.components, family, public, settings.start
        )
        memory, history = None, [groups]
        statistic = MixtureSums(settings.components, public.dim, bound, *weights)
        for iteration, step_noise in enumerate(step_noises, start=1):
            released = session.release(
                f"iteration {iteration}: counts and sums",
                statistic,
                InFrame(frame, mathematics.responsibilities(groups, family, public)),
                Noise("gaussian", noise * step_noise),
            )
            groups, memory = mathematics.m_step(
                released, rows, groups, memory, family, public, session.radius
            )
            if iteration <= REVIVING * len(step_noises):
                groups = mathematics.revived(groups, released, family, public)
            history.append(groups)
        return Runs(groups, tuple(history[1:] or history), [frame] * len(step_noises))


def _multipliers(settings: FamilySettings) -> tuple[float, Array]:
    """Noise multipliers of the mean and of each step ``(iterations,)``; the squares of their
    inverses add up to 1 over the whole fit."""
    if settings.components == 1:
        return 1.0, np.empty(0)
    steps = (1.0 - MEAN_SHARE) * step_shares(settings.iterations, even=settings.even)
    return 1.0 / math.sqrt(MEAN_SHARE), 1.0 / np.sqrt(steps)


def _wholly(block: Block, runs: slice) -> Array:
    """All rows in the one group."""
    return np.ones((runs.stop - runs.start, 1, block.count))


def _number_of_rows(session: Session[Any], released: NoisyClusters) -> Array | float:
    """Public where a row is replaced; otherwise the released count, at least 1."""
    if session.rows is not None:
        return float(session.rows)
    return np.maximum(np.nan_to_num(released.counts[:, 0]), 1.0)
