"""Where the rows of a session lie: how far from the middle of the bounds and from their mean.

Public bounds are wide, and noise grows with the radius to which rows are clipped. Three small
releases say where a better ball lies; what a model then asks for is clipped to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.recipe import row_bound
from dpcore.models.shared.group_means import count_and_sum_weights, within
from dpcore.models.shared.moments import TINY, drawn_in, finite
from dpcore.models.shared.reach import OBSERVED, Reach, edges, reach
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import (
    BallClusters,
    ClusterMoments,
    FromMiddle,
    InBalls,
    NoisyClusters,
    RowRadii,
)

NEAR, FEW = 0.125, 0.1  # of the public radius: if all but few rows are nearer, bins are finer
USUAL_NORM, USUAL_DISTANCE = 0.55, 0.35  # of rows nobody has seen, in public radii


@dataclass(frozen=True)
class View:
    """How the runs of a session see its rows: from a middle ``(B, d)``, clipped to a ball of radius
    ``(B,)`` around it, both public or released, in unit coordinates."""

    session: Session[Any]
    middle: Array
    radius: Array

    @classmethod
    def of(cls, session: Session[Any]) -> View:
        """From the middle of the bounds, clipped to their radius."""
        runs, whole = session.runs, row_bound(session)
        return cls(session, np.zeros((runs, session.public.dim)), np.full(runs, whole))

    def sums(self, what: str, places: Array, multiplier: Array) -> NoisyClusters:
        """Counts and sums of the rows nearest to places ``(B, K, d)``, all from the middle."""
        session, centres = self.session, places + self.middle[:, None]
        components, dim = centres.shape[1:]
        weights = count_and_sum_weights(dim, session.adjacency)
        noise = Noise("gaussian", multiplier)
        if session.private:
            balls = InBalls(centres, self.middle, self.radius)
            noisy = session.release(what, BallClusters(components, dim, *weights), balls, noise)
            sums = self.radius[:, None, None] * noisy.sums
            return replace(noisy, sums=sums, sums_sd=self.radius * noisy.sums_sd)
        whole = ClusterMoments(components, dim, row_bound(session), *weights)
        noisy = session.release(what, whole, centres, noise)
        return replace(noisy, sums=noisy.sums - noisy.counts[..., None] * self.middle[:, None])

    def noise(self, multiplier: Array) -> tuple[Array, Array]:
        """Noise ``(B,)`` in a count, and the length of that in a sum, of such a release."""
        session, dim = self.session, self.session.public.dim
        shape = BallClusters(1, dim, *count_and_sum_weights(dim, session.adjacency))
        scale = multiplier * shape.l2_sensitivity(session.adjacency) * session.rows_per_person
        scale = scale if session.private else 0.0 * scale
        length = math.sqrt(dim) * scale * shape.scale("sums") * self.radius
        return scale * shape.scale("counts"), length

    def radii(self, what: str, multiplier: Array, near: Array | None = None) -> tuple[Array, Array]:
        """Noisy counts ``(B, J + 1)`` of rows by their distance from the middle, and the noise;
        near: by what ``(B,)`` all distances are divided."""
        shape = RowRadii(self.session.public.dim, tuple(edges(row_bound(self.session))))
        axes = None if near is None else np.repeat(near[:, None], shape.dim, axis=1)
        of = FromMiddle(self.middle, axes)
        return self.session.release(what, shape, of, Noise("gaussian", multiplier))

    def clipped(
        self,
        distances: Reach,
        rows: Array,
        multiplier: Array,
        weights: tuple[float, float] = OBSERVED,
    ) -> View:
        """The same, clipped where it is best for a mean of so many rows ``(B,)`` with noise of such
        a multiplier ``(B,)`` in it; weights: as :meth:`Reach.radius` takes them."""
        noise = self._of_one(multiplier) / rows
        return replace(self, radius=distances.radius(noise, weights))

    def _of_one(self, multiplier: Array) -> Array:
        """Length of the noise ``(B,)`` in a sum of rows clipped to 1."""
        return replace(self, radius=np.ones_like(self.radius)).noise(multiplier)[1]


@dataclass(frozen=True)
class Location:
    """What three releases say of all rows, in unit coordinates.

    rows ``(B,)``: how many. mean ``(B, d)``, drawn in by its noise, whose variance in a coordinate
    is noise ``(B,)``; raw: as it left, of rows clipped to a radius ``(B,)``. norms: distances from
    the middle of the bounds. distances: from the mean. counted: the latter as they left, edges of
    the bins ``(B, J)``, noisy counts ``(B, J + 1)`` and the deviation of their noise ``(B,)``.
    """

    rows: Array
    mean: Array
    noise: Array
    raw: Array
    radius: Array
    norms: Reach
    distances: Reach
    counted: tuple[Array, Array, Array]


def located(
    session: Session[Any],
    norms: Array,
    first: Array,
    distances: Array,
    unknown: float = USUAL_DISTANCE,
) -> Location:
    """Distances from the middle of the bounds, the mean of rows clipped by them, and distances from
    the mean; norms, first, distances ``(B,)``: multipliers of these releases' noise.

    unknown: distance, in public radii, that is expected from a mean of which nothing is known.
    **Guarantee:** three Gaussian releases with these multipliers, by the lemmas of
    :class:`~dpcore.wall.statistics.RowRadii` and :class:`~dpcore.wall.statistics.BallClusters`:
    each asks for rows about a middle and inside a radius that earlier ones say. Where the first
    shows rows in a small part of the public radius, distances from the mean are counted in bins
    that begin as much farther in.
    """
    dim, runs, whole = session.public.dim, session.runs, row_bound(session)
    view = View.of(session)
    counts, sd = view.radii("distances from the middle", norms)
    rows = number_of_rows(session, counts)
    norms_of_rows = reach(counts, sd, rows, whole, USUAL_NORM)
    inner = view.clipped(norms_of_rows, rows, first)
    total = inner.sums("mean of all rows", np.zeros((runs, 1, dim)), first)
    rows = number_of_rows(session, total.counts)
    raw, noise = finite(total.sums[:, 0]) / rows[:, None], (total.sums_sd / rows) ** 2
    mean = drawn_in(raw, noise)
    usual: Array | float = USUAL_DISTANCE
    if unknown != USUAL_DISTANCE:
        left = np.linalg.norm(mean, axis=1) / np.maximum(np.linalg.norm(raw, axis=1), TINY)
        usual = np.sqrt(USUAL_DISTANCE**2 + (1.0 - left) * (unknown**2 - USUAL_DISTANCE**2))
    mean = within(mean, session.public.is_ball, whole)
    around = replace(view, middle=mean)
    most = norms_of_rows.holding(1.0 - FEW) / whole
    near = np.where(most < NEAR, 2.0 * most, 1.0)
    finer = near if np.any(near < 1.0) else None
    counts, sd = around.radii("distances from the mean", distances, finer)
    at_distances = reach(counts, sd, rows, near * whole, usual)
    counted = at_distances.edges, finite(counts), np.broadcast_to(sd, (runs,))
    return Location(rows, mean, noise, raw, inner.radius, norms_of_rows, at_distances, counted)


def number_of_rows(session: Session[Any], counts: Array) -> Array:
    """How many rows ``(B,)``: public where a row is replaced, else what counts ``(B, J)`` add up
    to."""
    if session.rows is not None:
        return np.full(session.runs, float(session.rows))
    return np.asarray(np.maximum(finite(counts).sum(axis=1), 1.0))
