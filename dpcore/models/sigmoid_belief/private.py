"""Private sigmoid belief networks: moments of all rows, then five sums over a minibatch each step.

*proved*: nearly the whole budget goes to the pixels' mean and second moments, which show a network
to begin at (:mod:`dpcore.models.sigmoid_belief.beginning`); a step's sums share one sensitivity,
each row's vector is drawn into a ball, and they count by what their noise leaves. *paper*: the
noise of Park, Foulds, Chaudhuri, Welling 2020, Algorithm 6, which counts seven sums, as printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.checks import listed
from dpcore.errors import InputError
from dpcore.fitting.minibatch import Steps, published_steps, steps_of
from dpcore.fitting.recipe import Printed, Recipe, Runs, demand_replacement
from dpcore.models.shared.all_rows import (
    ALL_ROWS,
    MULTIPLIERS,
    aimed,
    release_in_limits,
    second_moments,
    squares_noise,
)
from dpcore.models.shared.location import USUAL_NORM, Location, View, located
from dpcore.models.shared.moments import TINY, averaged, finite
from dpcore.models.shared.second_moments import AllRows, Ellipsoid
from dpcore.models.sigmoid_belief import BeliefSettings
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.models.sigmoid_belief.beginning import beginnings
from dpcore.models.sigmoid_belief.mathematics import Network, Posterior, Sums
from dpcore.models.sigmoid_belief.parameters import BeliefParameters
from dpcore.privacy import Event, Gaussian, Guarantee, Privacy
from dpcore.schema import Schema
from dpcore.wall.data import BinaryRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import BeliefMoments, NoisyClusters
from dpcore.wall.subsample import Minibatches
from dpcore.wall.table import PrivateTable

SOURCE = "Park, Foulds, Chaudhuri, Welling 2020, Algorithm 6"
EQUAL = (1.0, 1.0, 1.0, 1.0, 1.0)
WEIGHTS = (0.3, 0.3, 0.3, 1.0, 1.0)  # the sums with most coordinates get most of the budget
PIXELS, MOMENTS = 0.3, 0.65  # of mu^2, to begin with; steps on all rows share the rest
HIDDEN = 0.6  # noise in the mean of squares of rows clipped to 1, times how many pixels they have
PRINTED_PARTS = 7  # sums that the paper counts, each with noise of its own size times sqrt 7
MOST_NAMED = 4  # columns in a note
ON_OR_OFF = "this model reads {} as on or off: on above {:.0%} of the way between the limits"


class BeliefRecipe(Recipe):
    """A sigmoid belief network, proved and as published; see the module."""

    options = BeliefSettings
    in_own_units = BeliefParameters.from_units
    clip = 0.3
    sampled = True

    def session(
        self, settings: BeliefSettings, table: PrivateTable, **words: Any
    ) -> Session[BinaryRows]:
        """A session on binary rows."""
        opens = partial(BinaryRows, threshold=settings.threshold)
        return Session(table, opens, **words)

    def sized(self, settings: BeliefSettings, rows: int | None, adjacency: str) -> BeliefSettings:
        """The settings with the steps that minibatches make of them.

        Raises InputError where a part of each row is public.
        """
        if adjacency not in ("replace_one", "add_remove"):
            raise InputError(
                "adjacency",
                f"this model uses whole rows, but {adjacency} protects only a part of each",
                "choose replace_one or add_remove",
            )
        steps = steps_of(settings, settings.epochs, rows, adjacency)
        return replace(settings, steps=steps)

    def assumptions(
        self, settings: BeliefSettings, guarantee: Guarantee, schema: Schema
    ) -> tuple[str, ...]:
        """Those of a table, and that samples stay secret."""
        if settings.steps.sample.sampling == "none":
            return guarantee.assumptions
        return (*guarantee.assumptions, "the rows drawn in a step stay secret")

    def notes(self, settings: BeliefSettings, schema: Schema) -> tuple[str, ...]:
        """That numbers are cut in two, unless they are an image's."""
        columns = [schema.column(name) for name in schema.features]
        numbers = [column.name for column in columns if column.type != "binary"]
        if schema.image is not None or not numbers:
            return ()
        named = listed(numbers) if len(numbers) <= MOST_NAMED else f"{len(numbers)} columns"
        return (ON_OR_OFF.format(named, settings.threshold),)

    def events(self, settings: BeliefSettings) -> tuple[Event, ...]:
        if settings.mode == "paper":
            return settings.steps.events()
        steps, later = settings.steps.events(), Gaussian(_later(settings.steps))
        moments = (MOMENTS**-0.5 * multiplier for multiplier in MULTIPLIERS)
        begins = (
            Event(Gaussian(multiplier), adjacency=steps[0].adjacency)
            for multiplier in (PIXELS**-0.5, *moments)
        )
        return (*begins, *(replace(event, mechanism=later) for event in steps))

    def published(
        self, requests: Sequence[Privacy], settings: BeliefSettings, delta_each: float | None
    ) -> PublishedBudget:
        """The paper's sigma, by the accountant asked for, with its classic conversion."""
        demand_replacement(requests)
        return published_steps(settings.steps.events(), requests)

    def printed(self, request: Privacy, settings: BeliefSettings) -> Printed | None:
        return Printed(
            SOURCE,
            (
                "the paper charges for seven sums; one of them uses only released numbers and one "
                "is the diagonal of another, so the other five amount to a noise multiplier of "
                "1.18 sigma",
                "the authors' program carries hidden units from one minibatch into the next, "
                "which no composition theorem covers; here hidden units start afresh",
            ),
        )

    def fit(
        self,
        session: Session[BinaryRows],
        settings: BeliefSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Network]:
        paper = settings.mode == "paper"
        as_printed = paper and session.private
        shape = BeliefMoments(
            settings.components,
            session.source.visible,
            EQUAL if paper else WEIGHTS,
            1.0 if paper else session.source.share,
        )
        batches = Minibatches(session, settings.steps.sample)  # refuses before any release
        sums: list[Sums] | None = None
        if paper:
            posteriors = [belief.start(shape.hidden, shape.visible, settings.start)] * session.runs
        else:
            begun = beginnings(*_beginning(session, noise), shape.hidden, settings.start)
            posteriors = [posterior for posterior, _ in begun]
            sums = [own for _, own in begun]
            noise = noise * _later(settings.steps)
        if published is not None:
            noise = math.sqrt(PRINTED_PARTS / 5.0) * np.asarray(published.noise_multiplier)
        single = shape.in_place and session.adjacency != "add_remove"
        history, clipping = [], []
        for iteration in range(1, settings.steps.count + 1):
            clipping.append(posteriors[0])
            released = session.release(
                f"iteration {iteration}: hidden units, pixels and their products",
                shape,
                _e_step(posteriors, single=single),
                Noise("gaussian", noise),
                batches,
            )
            share = settings.steps.sample.rate
            now = [Sums.of(released, r, share, as_printed=paper) for r in range(session.runs)]
            if as_printed:
                now = [own.in_range() for own in now]
            weight = (settings.delay + iteration) ** -settings.forgetting
            if sums is not None:
                now = [
                    averaged(old, new, weight * new.trust())
                    for old, new in zip(sums, now, strict=True)
                ]
            sums = now
            posteriors = [
                belief.m_step(own, before, as_printed=as_printed)
                for own, before in zip(sums, posteriors, strict=True)
            ]
            history.append(belief.network(posteriors))
        return Runs(history[-1], tuple(history), () if paper else clipping)


def _beginning(
    session: Session[BinaryRows], factor: Array
) -> tuple[NoisyClusters, AllRows, Ellipsoid | None]:
    """Sums of pixels, and mean and second moments of all rows with their ball: the releases before
    the steps, of runs with a factor ``(B,)`` on :meth:`BeliefRecipe.events`."""
    first, (norms, mean, distances, squares) = _noises(session, factor)
    everywhere = np.zeros((session.runs, 1, session.source.visible))
    pixels = View.of(session).sums("pixels", everywhere, first)
    planned = factor / math.sqrt(MOMENTS)
    if not session.private:
        return pixels, release_in_limits(session, planned), None
    at = located(session, norms, mean, distances, USUAL_NORM)
    aim = aimed(session, at, MULTIPLIERS[3] * planned)
    moments = aim.read(second_moments(session, ALL_ROWS, aim.frame, 1.0, squares))
    return _beside(pixels, at), moments, aim.place


def _noises(session: Session[BinaryRows], factor: Array) -> tuple[Array, Array]:
    """Noise multipliers of the sums of pixels ``(B,)`` and of the four releases of moments
    ``(4, B)``, of runs with a factor ``(B,)`` on :meth:`BeliefRecipe.events`.

    Where noise in second moments hides whatever hidden units can be expected to do, the sums of
    pixels have the least noise, the mean of all rows, which tells of pixels too, has theirs, and
    second moments have that of the mean. The price is that of the same releases, and public facts
    alone decide; a number of rows that is not public decides nothing.
    """
    first, later = factor / math.sqrt(PIXELS), np.multiply.outer(MULTIPLIERS, factor)
    later /= math.sqrt(MOMENTS)
    if session.rows is not None:
        visible = session.source.visible
        unit = squares_noise(visible, session.adjacency) * session.rows_per_person
        hidden = visible * unit * later[3] > HIDDEN * session.rows
        turned = np.where(hidden, (later[3], first, later[1]), (first, later[1], later[3]))
        first, later[1], later[3] = turned
    return first, later


def _beside(pixels: NoisyClusters, at: Location) -> NoisyClusters:
    """Sums of pixels with what the mean of all rows says of them, by the precision of each.

    All rows have one norm, so that clipping them to a ball made them smaller and nothing else.
    """
    times = math.sqrt(at.raw.shape[1]) / at.radius * at.rows
    own, other = pixels.sums_sd, times * np.sqrt(at.noise)
    whole = np.maximum(np.hypot(own, other), TINY)
    part, sums = ((own / whole) ** 2)[:, None, None], finite(pixels.sums)
    sums = sums + part * (times[:, None, None] * at.raw[:, None] - sums)
    return replace(pixels, sums=sums, sums_sd=own * other / whole)


def _later(steps: Steps) -> float:
    """Noise multiplier of each step: what pixels and moments leave.

    On all rows, inverse squares add up to what the beginning leaves of 1; a sample needs less
    noise, by its share of the rows, but never so little that it would protect nobody.
    """
    return max(steps.sample.rate * math.sqrt(steps.count), 1.0) / math.sqrt(1.0 - PIXELS - MOMENTS)


def _e_step(posteriors: list[Posterior], *, single: bool) -> Any:
    """The wall's view of the model: rows and a run in, a belief out."""
    return lambda rows, run: belief.e_step(rows, posteriors[run], single=single)


RECIPE: Any = BeliefRecipe()
