"""Four releases, each in a frame that the last one made: where classes are, how wide, what shape.

(A) counts and means in the public ball; (B) how far the rows of each class lie from its mean, which
gives each a ball of its own; (C) means and squares in that ball; (D) counts, means and squares in
the frame in which (C) says that the class is standard, clipped the tighter the more noise there is.
What comes out is made of (A), (C) and (D) together. All are Gaussian and composed exactly; nothing
but released values shapes a later one (under ``label`` features are public, and give the first
ball).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.recipe import row_bound
from dpcore.models.labelled_mixture import mathematics as labelled
from dpcore.models.labelled_mixture.class_shapes import clip_radius
from dpcore.models.labelled_mixture.mathematics import LabelledMixture, Place
from dpcore.models.shared.moments import drawn_in
from dpcore.wall.data import LabelledRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import ClassFrames, LabelledMoments, LabelledRadii, NoisyMoments

SHARES = (0.20, 0.10, 0.20, 0.50)  # of mu^2: tuned by hand on a few simulated tables
LOOK = (0.15, 0.85, 0.0)  # of the first: counts and means
ROUGH = (0.0, 0.35, 0.65)  # of the third: means and squares
WHERE, ROUGHLY = "location of each class", "rough shape of each class"
LAST = "counts, mean and shape of each class"


def inside_of(dim: int) -> dict[str, tuple[float, float, float]]:
    """What counts, means and squares take of a release of mu^2, where labels may change.

    >>> inside_of(2)["location of each class"]
    (0.15, 0.85, 0.0)
    """
    a, b, c = (
        float(weight) ** 2 for weight in labelled.best_weights(dim, labelled.ball_radius(dim))
    )
    return {WHERE: LOOK, ROUGHLY: ROUGH, LAST: (a, b, c)}


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
        reach = np.linalg.norm(rows - center, axis=1).max(initial=0.0)
        return Ball(center, max(float(reach), 1e-9 * session.public.radius))
    return Ball(np.zeros(dim), row_bound(session))


def in_ball(session: Session[LabelledRows], ball: Ball) -> tuple[ClassFrames, Place]:
    """One frame for all runs and classes: the ball, and the way back."""
    classes, dim = session.source.components, session.public.dim
    center = np.broadcast_to(ball.center, (1, classes, dim))
    back = np.broadcast_to(ball.radius * np.eye(dim), (1, classes, dim, dim))
    return ClassFrames(center, _inverse(back), clips(session)), Place(center, back)


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


def fit(session: Session[LabelledRows], factor: Array, target: str) -> LabelledMixture:
    """The mixture; factor ``(B,)``: total noise multiplier.

    **Guarantee:** four Gaussian releases with multipliers ``factor / sqrt(share)``.
    """
    clipped, runs = clips(session), session.runs
    classes, dim = session.source.components, session.public.dim
    multipliers = [factor / math.sqrt(share) for share in SHARES]
    ball = public_ball(session)
    frames, place = in_ball(session, ball)
    first = session.release(
        WHERE, moments(session, np.sqrt(LOOK)), frames, Noise("gaussian", multipliers[0])
    )
    sizes = labelled.usable(first.counts, first.counts_sd)
    mean = labelled.centres_of(first, sizes, clipped=clipped)
    if clipped:
        mean = drawn_in(mean, (first.sums_sd[:, None] / sizes) ** 2)
    center = (
        place.center + ball.radius * mean
        if clipped
        else place.center + (place.back @ mean[..., None])[..., 0]
    )
    edges = labelled.edges_of(2.0 * ball.radius)
    histogram, deviation = session.release(
        "distances of rows in each class",
        LabelledRadii(classes, edges),
        center,
        Noise("gaussian", multipliers[1]),
    )
    bins = histogram.shape[2]
    statistics = labelled.combined(
        [first.counts, histogram.sum(axis=2)], [first.counts_sd, math.sqrt(bins) * deviation]
    )
    sizes = labelled.usable(*statistics)
    reach = labelled.radii_of(histogram, edges, dim, sizes, deviation)
    back = reach[..., None, None] * np.eye(dim)
    rough = session.release(
        ROUGHLY,
        moments(session, np.sqrt(ROUGH)),
        ClassFrames(center, _inverse(back), clipped),
        Noise("gaussian", multipliers[2]),
    )
    before = np.minimum(first.sums_sd[:, None] / sizes, 1.0) * ball.radius / reach
    mean, white, root = labelled.whitening(rough, sizes, clipped=clipped)
    best = labelled.best_weights(dim, labelled.ball_radius(dim) if clipped else 1.0)
    radius = _last_radius(rough, sizes, best) if clipped else np.ones_like(sizes)
    center = center + reach[..., None] * mean
    frames = ClassFrames(center, white / (radius * reach)[..., None, None], clipped)
    last = session.release(LAST, moments(session, best), frames, Noise("gaussian", multipliers[3]))
    total, sd = labelled.combined([statistics[0], last.counts], [statistics[1], last.counts_sd])
    sizes = labelled.usable(total, sd)
    place = Place(center, root * reach[..., None, None])
    if clipped:
        estimate = labelled.joined(rough, last, sizes, mean, root, radius, before)
        means, covariances, doubt = labelled.gaussians_seen(estimate, place, target)
    else:
        means, covariances, doubt = labelled.gaussians(
            last, sizes, place, target=target, clipped=False
        )
    weights = labelled.shares(np.maximum(total, sd[:, None]), doubt, target)
    names = np.broadcast_to(np.array(session.source.classes), (runs, classes))
    return LabelledMixture(weights, means, covariances, sizes, doubt, names)


def _last_radius(rough: NoisyMoments, sizes: Array, weights: Array) -> Array:
    """Radius ``(B, K)`` of the last release's ball in its class's frame, from its noise there.

    How much noise there will be is public: the rough release's, by the shares of the two.
    """
    share = SHARES[2] * ROUGH[2] / (SHARES[3] * float(weights[2]) ** 2)
    noise = math.sqrt(share) * rough.squares_sd[:, None] / sizes
    return clip_radius(rough.sums.shape[-1], noise)


def _inverse(maps: Array) -> Array:
    return np.asarray(np.linalg.inv(maps), dtype=np.float64)
