"""Releases of all classes one after the other, each in frames that the last one made.

A histogram of distances says how far rows reach. Then counts, means and squares of all classes
leave together, step by step, each class in the frame in which it is believed to be standard
(``class_steps``), clipped the tighter the more noise there is. All are Gaussian and composed
exactly; nothing but released values shapes a later one (under ``label`` features are public, and
give the first frame).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.recipe import Runs, row_bound
from dpcore.models.labelled_mixture import mathematics as labelled
from dpcore.models.labelled_mixture.class_shapes import clip_radius, clipped_share
from dpcore.models.labelled_mixture.class_steps import Classes
from dpcore.models.labelled_mixture.mathematics import LabelledMixture, Place
from dpcore.models.shared.allocation import step_shares
from dpcore.models.shared.location import USUAL_NORM, number_of_rows
from dpcore.models.shared.moments import THINNEST
from dpcore.models.shared.reach import edges, reach
from dpcore.wall.data import LabelledRows, whitening
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import ClassFrames, LabelledMoments, LabelledRadii

DISTANCES = 0.05  # of mu^2, for the histogram; the steps share the rest
SHARES = (DISTANCES, *((1.0 - DISTANCES) * step_shares(6)).tolist())
STEPS = tuple(f"step {step}: counts, means and squares" for step in range(1, len(SHARES)))
# Where noise in the number of all rows at a distance is above the first of these shares of the
# rows, the histogram has the noise of the fourth step, and that step the histogram's; above the
# second, of the fifth. Above the third it would say next to nothing even so.
BLIND, EXCHANGED = (0.18, 0.4, 1.0), ((1, 4), (2, 5))
NARROWER = 0.5  # variance of a class that nobody has seen, where that of all rows is 1
NEARLY_ALL = 0.98  # of public rows, that the first ball holds
MARGIN = 0.5  # weights are best for a ball of sqrt(d) deviations, and so much


def inside_of(dim: int) -> dict[str, tuple[float, float, float]]:
    """What counts, means and squares take of mu^2 of each step, where labels may change.

    >>> [round(part, 2) for part in inside_of(2)[STEPS[0]]]
    [0.12, 0.33, 0.55]
    """
    a, b, c = np.square(_weights(dim)).tolist()
    return dict.fromkeys(STEPS, (a, b, c))


def _weights(dim: int) -> Array:
    return labelled.best_weights(dim, math.sqrt(dim) + MARGIN)


@dataclass(frozen=True)
class Ball:
    """A public ball ``(d,)`` that holds the rows, in unit coordinates."""

    center: Array
    radius: float


def public_ball(session: Session[LabelledRows]) -> Ball:
    """That of the bounds; where features are public, the one around them."""
    dim = session.public.dim
    if session.private and session.adjacency == "label":
        rows = session.public_features()
        center = rows.mean(axis=0) if len(rows) else np.zeros(dim)
        farthest = np.linalg.norm(rows - center, axis=1).max(initial=0.0)
        return Ball(center, max(float(farthest), 1e-9 * session.public.radius))
    return Ball(np.zeros(dim), row_bound(session))


def in_ball(session: Session[LabelledRows], ball: Ball) -> tuple[ClassFrames, Place]:
    """One frame for all runs and classes: the ball, and the way back."""
    classes, dim = session.source.components, session.public.dim
    center = np.broadcast_to(ball.center, (1, classes, dim))
    back = np.broadcast_to(ball.radius * np.eye(dim), (1, classes, dim, dim))
    return ClassFrames(
        center, np.asarray(np.linalg.inv(back), dtype=np.float64), clips(session)
    ), Place(center, back)


def clips(session: Session[LabelledRows]) -> bool:
    """Whether rows are clipped: always under privacy."""
    return session.private or math.isfinite(session.radius)


def moments(session: Session[LabelledRows], weights: Array) -> LabelledMoments:
    """Sums of one release; counts weigh as much as is free, and nothing where labels are public.

    weights: of counts, sums and squares, ``(3,)``.
    """
    classes, dim = session.source.components, session.public.dim
    a, b, c = np.asarray(weights, dtype=float)
    if session.private and session.adjacency == "feature":
        return LabelledMoments(classes, dim, 0.0, float(b), float(c))
    if session.adjacency == "replace_one":
        alone = LabelledMoments(classes, dim, 0.0, float(b), float(c)).l2_sensitivity("feature")
        a = max(a, math.sqrt(max(0.0, alone**2 / 2.0 - b**2 - c**2)))
    return LabelledMoments(classes, dim, float(a), float(b), float(c))


def fit(session: Session[LabelledRows], factor: Array, target: str) -> Runs[LabelledMixture]:
    """The mixture after each step; factor ``(B,)``: total noise multiplier.

    **Guarantee:** Gaussian releases with multipliers ``factor / sqrt(share)``, for each of
    :data:`SHARES`, in another order where public numbers say so.
    """
    if not clips(session):
        exact = _exact(session, factor)
        return Runs(exact, (exact,))
    noises = np.multiply.outer(np.array(SHARES) ** -0.5, factor)
    if session.private and session.adjacency != "label" and session.rows:
        radii = LabelledRadii(session.source.components, (1.0,))
        unit = radii.l2_sensitivity(session.adjacency) * session.rows_per_person
        in_number = math.sqrt(radii.components) * unit * noises[0] / session.rows
        for kind, step in EXCHANGED:
            chosen, both = np.searchsorted(BLIND, in_number) == kind, noises[[0, step]]
            noises[[0, step]] = np.where(chosen, both[::-1], both)
    distances, *multipliers = noises
    dim = session.public.dim
    shape = moments(session, _weights(dim))
    noise = np.zeros(session.runs)  # in a square of rows clipped to 1, at noise multiplier 1
    if session.private:
        noise += shape.l2_sensitivity(session.adjacency) * session.rows_per_person
    noise *= shape.scale("squares")
    classes, counts, first = _started(session, distances, shape, noise * multipliers[0])
    history, clipping = list[LabelledMixture](), list[ClassFrames]()
    for what, multiplier in zip(STEPS, multipliers, strict=True):
        sizes = labelled.usable(*counts)
        radius = clip_radius(dim, (noise * multiplier)[:, None] / sizes)
        left = clipped_share(dim, radius**2)
        if what == STEPS[0]:
            radius, left = (np.repeat(part, sizes.shape[1], axis=1) for part in first)
        white = whitening(classes.covariances)[0]
        frames = ClassFrames(classes.means, white / radius[..., None, None])
        clipping.append(frames)
        noisy = session.release(what, shape, frames, Noise("gaussian", multiplier))
        counts = labelled.combined([counts[0], noisy.counts], [counts[1], noisy.counts_sd])
        sizes = labelled.usable(*counts)
        classes = classes.after(noisy, sizes, radius, left)
        doubt, rows = classes.doubt, np.maximum(counts[0], counts[1][:, None])
        shares = labelled.shares(rows, doubt, target)
        history.append(
            LabelledMixture.of(
                session.source.classes,
                shares,
                classes.means,
                classes.serving(target),
                labelled.together(sizes, session.rows),
                doubt,
            )
        )
    return Runs(history[-1], history, clipping)


def _started(
    session: Session[LabelledRows], multiplier: Array, shape: LabelledMoments, noise: Array
) -> tuple[Classes, tuple[Array, Array], tuple[Array, Array]]:
    """From a histogram with a multiplier ``(B,)``: classes about which nothing is known; counts
    ``(B, K)`` of their rows with the noise ``(B,)`` in them; radius ``(B, 1)`` of the first ball,
    in deviations, and the share ``(B, 1)`` of the mean square that it leaves.

    noise ``(B,)``: in a square of the first step. Where features are public so are their distances,
    and the histogram has one bin.
    """
    runs, classes, dim = session.runs, session.source.components, session.public.dim
    ball = public_ball(session)
    means = np.broadcast_to(ball.center, (runs, classes, dim))
    public = session.private and session.adjacency == "label"
    falling = (2.0 * ball.radius,) if public else edges(ball.radius)[::-1].tolist()
    histogram, sd = session.release(
        "distances of rows",
        LabelledRadii(classes, tuple(falling)),
        means,
        Noise("gaussian", multiplier),
    )
    counts = histogram.sum(axis=2), math.sqrt(histogram.shape[2]) * sd
    if public:
        covariance, *first = _shape_of_all(session, ball)
        radius, left = (np.full((runs, 1), number) for number in first)
    else:
        number, several = number_of_rows(session, counts[0]), math.sqrt(classes)
        together = histogram.sum(axis=1)[:, ::-1]
        norms = reach(together, several * sd, number, ball.radius, USUAL_NORM)
        square, crossing = norms.steady_square, (shape.square_weight / shape.mean_weight) ** 2
        clip = norms.clip_squares(several * noise / number, square, dim, crossing)
        deviation = np.sqrt(NARROWER * square / dim)
        covariance = np.square(deviation)[:, None, None, None] * np.eye(dim)
        radius, left = (clip.radius / deviation)[:, None], clip.left[:, None]
    covariances = np.broadcast_to(covariance, (runs, classes, dim, dim))
    return Classes.unseen(means, covariances), counts, (radius, left)


def _shape_of_all(session: Session[LabelledRows], ball: Ball) -> tuple[Array, float, float]:
    """Covariance ``(d, d)`` of a class as wide as public rows let expect, and the ball that holds
    nearly all of them, with the share of their mean square that it leaves."""
    rows, dim = session.public_features(), session.public.dim
    if len(rows) < 2:
        return np.eye(dim), 1.0, 1.0
    spread = NARROWER * np.cov(rows.T, bias=True).reshape(dim, dim)
    spread += THINNEST * max(float(np.trace(spread)), ball.radius**2 / dim) * np.eye(dim)
    away = np.linalg.norm((rows - ball.center) @ whitening(spread[None])[0][0], axis=1)
    radius = max(float(np.quantile(away, NEARLY_ALL)), 1.0)
    drawn_in = np.mean(np.minimum(away, radius) ** 2) / max(float(np.mean(away**2)), THINNEST)
    return spread, radius, float(np.clip(drawn_in, NARROWER, 1.0))


def _exact(session: Session[LabelledRows], noise: Array) -> LabelledMixture:
    """The exact classes where nothing is clipped, the second time seen from where they are; noise:
    zeros."""
    frames, place = in_ball(session, public_ball(session))
    shape = moments(session, _weights(session.public.dim))
    for what in STEPS[:2]:
        noisy = session.release(what, shape, frames, Noise("gaussian", noise))
        sizes = labelled.usable(noisy.counts, noisy.counts_sd)
        means, covariances = labelled.exact_gaussians(noisy, sizes, place)
        white, root = whitening(covariances)
        place, frames = Place(means, root), ClassFrames(means, white, clipped=False)
    doubt = np.zeros_like(sizes)
    shares = labelled.shares(noisy.counts, doubt, "forward")
    return LabelledMixture.of(session.source.classes, shares, means, covariances, sizes, doubt)
