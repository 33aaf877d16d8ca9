"""Mean and second moments of all rows where columns fill their limits unequally: in a ball, or in
an ellipsoid along the columns, whichever turns out the better."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.fitting.recipe import row_bound
from dpcore.models.shared.all_rows import (
    ALL_ROWS,
    MULTIPLIERS,
    SHARES,
    Aim,
    aimed,
    crossing,
    release_in_limits,
    second_moments,
    unit_noise,
)
from dpcore.models.shared.location import USUAL_NORM, Location, located
from dpcore.models.shared.moments import averaged, differing, finite
from dpcore.models.shared.reach import edges, reach
from dpcore.models.shared.second_moments import AllRows, Ellipsoid
from dpcore.privacy import Event, Gaussian
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import FromMiddle, RowRadii

WIDTHS, LENGTHS = "mean and second moments, to find widths", "distances of scaled rows"
# Of the last of SHARES: for moments that say how wide columns are, for distances of scaled rows,
# and for moments in the ball or ellipsoid that has turned out the better.
PARTS = (0.25, 0.02, 0.73)
_SCALED_SHARES = (*SHARES[:-1], *(SHARES[-1] * part for part in PARTS))
SCALED_MULTIPLIERS = tuple(1.0 / math.sqrt(share) for share in _SCALED_SHARES)
SCALED_EVENTS = tuple(Event(Gaussian(multiplier)) for multiplier in SCALED_MULTIPLIERS)
SQUARES_MULTIPLIER = (SHARES[-1] * (PARTS[0] + PARTS[2])) ** -0.5  # of both last as one
BETTER = 3.0  # times the nats that an ellipsoid costs: from here on it takes the ball's place
UNSEEN = 0.003  # nats a column that each share of rows costs which noise in the distances may hide
FEWEST = 4  # columns; in fewer, the few rows that make one vary are too easily cut off
DROWNED = 0.25  # nats a column, from which an ellipsoid is not believed
LEAST_LEFT = 0.1  # of a column's variance: where less is left, clipping took the rest
SURE = 4.0  # deviations of the noise, by which less must be left than the first answer said
ROUNDING = 1e-9  # of the ball's square: least variance of a column


def release_in_ellipsoid(
    session: Session[Any], multiplier: Array, caution: float
) -> tuple[AllRows, Ellipsoid | None]:
    """Mean and second moments of all rows in the coordinates of a ball, or of an ellipsoid along
    the columns where these differ in width, with that place.

    multiplier ``(B,)``: total noise multiplier. caution: weight of what clipping costs in the
    ellipsoid: there, a few columns can bear all of it. **Guarantee:** :data:`SCALED_EVENTS` times
    the multiplier: releases as of :func:`~dpcore.models.shared.all_rows.release_in_ball`, whose
    last is made twice, and one more of :class:`~dpcore.wall.statistics.RowRadii`, each about a
    middle and along axes that earlier ones say.

    Noise is the same in all columns of a ball, so narrow ones drown: relative to all variances it
    is ``(mean of 1/v)^2 (mean of v)^2`` times as large as where all have the same v. A quarter of
    the budget shows the columns' variances, as far as noise does not hide them. Where the ellipsoid
    with such axes is :data:`BETTER` times as good, the rest is asked for there; else in the same
    ball, and both answers count. Where noise in the distances hides the few rows that make a
    column vary, the ellipsoid cuts them off: if the first answer shows it, that alone counts.
    """
    if not session.private:
        return release_in_limits(session, multiplier), None
    norms, first, distances, *last = np.multiply.outer(SCALED_MULTIPLIERS, multiplier)
    at = located(session, norms, first, distances, USUAL_NORM)
    ball = aimed(session, at, MULTIPLIERS[-1] * multiplier)
    begun = second_moments(session, WIDTHS, ball.frame, 1.0, last[0])
    widths = ball.read(begun)
    mean, variances = _columns(widths)
    place = Ellipsoid(
        ball.place.middle + ball.place.axes * mean, ball.place.axes * np.sqrt(variances)
    )
    ellipsoid = _fitted(session, at, place, last[1], last[2], caution)
    scaled = BETTER * ellipsoid.nats < ball.nats * _harm(variances)
    scaled &= (ellipsoid.nats < DROWNED * session.public.dim) & (session.public.dim >= FEWEST)
    aim = ball.where(scaled, ellipsoid)
    noisy = second_moments(session, ALL_ROWS, aim.frame, 1.0, last[2])
    short = scaled & _short(widths, ball, aim.read(noisy), aim)
    share = np.where(scaled, short, PARTS[0] / (PARTS[0] + PARTS[2]))
    aim = ball.where(scaled & ~short, ellipsoid)
    return aim.read(averaged(noisy, begun, share)), aim.place


def _fitted(
    session: Session[Any],
    at: Location,
    place: Ellipsoid,
    distances: Array,
    multiplier: Array,
    caution: float,
) -> Aim:
    """The ellipsoid with a middle and axes in proportion to a place's, as large as distances of
    scaled rows let it be best; distances ``(B,)``: multiplier of the noise in these."""
    dim = session.public.dim
    whole = 2.0 * math.sqrt(dim)  # twice the usual length of rows whose columns have variance 1
    shape = RowRadii(dim, tuple(edges(whole)))
    of = FromMiddle(place.middle, place.axes)
    counts, sd = session.release(LENGTHS, shape, of, Noise("gaussian", distances))
    lengths = reach(counts, sd, at.rows, whole, 0.5)
    unit = multiplier * unit_noise(session, at)
    clip = lengths.clip_squares(unit, lengths.steady_square, dim, crossing(dim), caution)
    axes = clip.radius[:, None] * place.axes
    usual, most = lengths.square / dim / clip.radius**2, row_bound(session) / axes.min(axis=1)
    nats = clip.nats + caution * UNSEEN * dim * sd / at.rows
    return Aim(at.rows, Ellipsoid(place.middle, axes), clip.left, nats, usual, most)


def _short(first: AllRows, before: Aim, second: AllRows, after: Aim) -> Mask:
    """Runs ``(B,)`` in which a column varies far less in the second answer than in the first, and
    noise does not explain it."""
    stretch = (after.place.axes / before.place.axes) ** 2
    whole, left = _variances(first), stretch * _variances(second)
    sure = whole - left > SURE * finite(first.sd)[:, None]
    return np.asarray(np.any(sure & (left < LEAST_LEFT * whole), axis=1))


def _variances(released: AllRows) -> Array:
    """Of the columns, ``(B, d)``, as released; below 0 where noise made them so."""
    squares = np.diagonal(finite(released.second_moment), axis1=1, axis2=2)
    return np.asarray(squares - np.clip(finite(released.mean), -1.0, 1.0) ** 2)


def _columns(released: AllRows) -> tuple[Array, Array]:
    """Means and variances ``(B, d)`` of columns, as far as noise shows that these differ, and no
    smaller than noise lets them be."""
    mean, sd = np.clip(finite(released.mean), -1.0, 1.0), finite(released.sd)
    variances = _variances(released)
    size = variances.mean(axis=1)
    share = differing(variances, size, sd, 1.0)[:, None]
    variances = size[:, None] + share * (variances - size[:, None])
    least = np.minimum(sd, np.maximum(variances, 0.0).mean(axis=1))
    return mean, np.maximum(variances, least[:, None] + ROUNDING)


def _harm(variances: Array) -> Array:
    """By how much ``(B,)`` the same noise costs more nats in columns of variances ``(B, d)`` than
    in columns that share their mean."""
    return np.asarray((variances.mean(axis=1) * (1.0 / variances).mean(axis=1)) ** 2)
