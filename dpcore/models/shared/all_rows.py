"""One release of all rows: their mean and second moments as one vector, in a ball that three small
releases show, or within the public limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.fitting.recipe import row_bound
from dpcore.models.shared.location import USUAL_NORM, Location, located, number_of_rows
from dpcore.models.shared.second_moments import AllRows, Ellipsoid
from dpcore.privacy import Event, Gaussian
from dpcore.wall.data import Frame
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import InFrame, MixtureMoments, NoisyMoments

ALL_ROWS = "mean and second moments of all rows"
# Of mu^2: for distances from the middle of the bounds, the mean, distances from it, and second
# moments in the ball that these show.
SHARES = (0.01, 0.05, 0.02, 0.92)
MULTIPLIERS = tuple(1.0 / math.sqrt(share) for share in SHARES)
EVENTS = tuple(Event(Gaussian(multiplier)) for multiplier in MULTIPLIERS)


def release_in_ball(
    session: Session[Any], multiplier: Array, noises: Array | None = None
) -> tuple[AllRows, Ellipsoid | None]:
    """Mean and second moments of all rows in the coordinates of a ball, with that ball.

    multiplier ``(B,)``: total noise multiplier, for which the ball is chosen. noises ``(4, B)``:
    those of the releases, where they are others. **Guarantee:** :data:`EVENTS` times the
    multiplier, or Gaussian releases with these noises: the three of
    :func:`~dpcore.models.shared.location.located`, and one of
    :class:`~dpcore.wall.statistics.mixture_moments.MixtureMoments`, whose frame they say. The ball
    lies about the released mean or the middle of the bounds, where clipping and noise cost less.
    Without privacy rows are seen within the limits, and once.
    """
    if not session.private:
        return release_in_limits(session, multiplier), None
    planned = np.multiply.outer(MULTIPLIERS, multiplier)
    norms, first, distances, noise = planned if noises is None else noises
    aim = aimed(session, located(session, norms, first, distances, USUAL_NORM), planned[3])
    noisy = second_moments(session, ALL_ROWS, aim.frame, 1.0, noise)
    return aim.read(noisy), aim.place


@dataclass(frozen=True)
class Aim:
    """Where second moments of the rows ``(B,)`` are asked for: in which place, what share ``(B,)``
    of the mean square clipping leaves there, what it and noise cost, in nats ``(B,)``, which
    variance ``(B,)`` distances let expect of a column, and the most ``(B,)`` that a norm can be."""

    rows: Array
    place: Ellipsoid
    left: Array
    nats: Array
    usual: Array
    most: Array

    @property
    def frame(self) -> Frame:
        """The frame in which the place is the unit ball."""
        if self.place.axes.shape[1] == 1:
            return Frame.balls(self.place.middle, self.place.axes[:, 0])
        return Frame.ellipsoids(self.place.middle, self.place.axes)

    def where(self, chosen: Mask, other: Aim) -> Aim:
        """The same, but the other in chosen runs ``(B,)``."""
        if not chosen.any():
            return self
        middle, axes = (
            np.where(chosen[:, None], getattr(other.place, name), getattr(self.place, name))
            for name in ("middle", "axes")
        )
        left, nats, usual, most = (
            np.where(chosen, getattr(other, name), getattr(self, name))
            for name in ("left", "nats", "usual", "most")
        )
        return Aim(
            self.rows, replace(self.place, middle=middle, axes=axes), left, nats, usual, most
        )

    def read(self, noisy: NoisyMoments) -> AllRows:
        """What a release there says."""
        count = self.left * self.rows
        return AllRows(
            self.rows,
            noisy.sums[:, 0] / self.rows[:, None],
            noisy.squares[:, 0] / count[:, None, None],
            noisy.squares_sd / count,
            noisy.sums_sd / self.rows,
            self.most,
            self.usual,
        )


def aimed(session: Session[Any], at: Location, multiplier: Array) -> Aim:
    """The ball about the mean or the middle of the bounds, where it costs less to clip rows;
    multiplier ``(B,)``: of the noise in second moments there."""
    dim, spread = session.public.dim, at.distances.steady_square
    unit = multiplier * unit_noise(session, at)
    near = at.distances.clip_squares(unit, spread, dim, crossing(dim))
    wide = at.norms.clip_squares(unit, spread, dim, crossing(dim))
    about_mean = near.nats <= wide.nats
    radius = np.where(about_mean, near.radius, wide.radius)
    outside = np.maximum(at.norms.square - at.distances.square, 0.0)
    square = at.distances.square + np.where(about_mean, 0.0, outside)
    return Aim(
        at.rows,
        Ellipsoid(np.where(about_mean[:, None], at.mean, 0.0), radius[:, None], at.counted),
        np.where(about_mean, near.left, wide.left),
        np.where(about_mean, near.nats, wide.nats),
        square / dim / radius**2,
        row_bound(session) / radius,
    )


def unit_noise(session: Session[Any], at: Location) -> Array:
    """Noise ``(B,)`` in a diagonal entry of the mean of squares of rows clipped to 1, at noise
    multiplier 1."""
    noise = squares_noise(session.public.dim, session.adjacency)
    return np.asarray(noise * session.rows_per_person / at.rows)


def crossing(dim: int) -> float:
    """Of rows of so many columns, as :meth:`Reach.clip_squares` takes it."""
    weights = _weights(dim)
    return float(weights[2] / weights[1]) ** 2


def release_in_limits(session: Session[Any], multiplier: Array) -> AllRows:
    """Mean and second moments of all rows in unit coordinates, from one vector with one noise.

    multiplier ``(B,)``: noise of the release / its sensitivity. **Guarantee:** one Gaussian release
    with that multiplier, by the lemma of
    :class:`~dpcore.wall.statistics.mixture_moments.MixtureMoments`. Where the number of rows is
    private, moments are divided by the released count.
    """
    bound = row_bound(session)
    identity = Frame.identity(session.public.dim, session.radius)
    noisy = second_moments(session, ALL_ROWS, identity, bound, multiplier)
    count = np.maximum(number_of_rows(session, noisy.counts), 1.0)
    return AllRows(
        count,
        noisy.sums[:, 0] / count[:, None],
        noisy.squares[:, 0] / count[:, None, None],
        noisy.squares_sd / count,
        noisy.sums_sd / count,
        bound,
    )


def second_moments(
    session: Session[Any], what: str, frame: Frame, bound: float, multiplier: Array
) -> NoisyMoments:
    """One release of what all rows add up to in a frame whose ball has the radius ``bound``;
    multiplier ``(B,)``: of its noise."""
    dim = session.public.dim
    return session.release(
        what,
        MixtureMoments.normalised(1, dim, "full", bound, _weights(dim)),
        InFrame(frame),
        Noise("gaussian", multiplier),
    )


def squares_noise(dim: int, adjacency: str) -> float:
    """Noise deviation in a diagonal entry of the proved release's sum of squares, at noise
    multiplier 1: what decides which factors can be seen."""
    contribution = MixtureMoments.normalised(1, dim, "full", 1.0, _weights(dim))
    return float(contribution.l2_sensitivity(adjacency) * contribution.scale("squares"))


def _weights(dim: int) -> Array:
    """The split between counts, sums and squares.

    Noise in the sums moves the mean alone; noise in the squares moves d directions of the
    covariance. In likelihood they cost ``(R^2/2) tr S^-1`` and ``(R^4/8) [(tr S^-1)^2 + tr S^-2]``
    for rows of covariance S, and at ``S = R^2/d`` the best split is ``b^2 : c^2 = 1 :
    sqrt(d (d + 1) / 4)``. Counts weigh what is free.
    """
    squares = max(1.0, (dim * (dim + 1.0) / 4.0) ** 0.25)
    return np.array([0.5 / squares, 1.0, squares])
