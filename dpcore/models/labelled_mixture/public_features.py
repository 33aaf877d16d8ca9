"""Labels alone are protected: shapes come from the public features, at no cost.

*public_features*: one table says how much of each shape belongs to each class. *mte*: counts, means
and squares of each class leave as sums of public vectors, with the noise of least trace that covers
every one of them (Liu, Scaglione, Peisert 2025, problem 23, here with features instead of private
differences); first in a frame of all rows, then in that of each class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.models.labelled_mixture import mathematics as labelled
from dpcore.models.labelled_mixture import public_shapes
from dpcore.models.labelled_mixture import shaped_noise as shaped
from dpcore.models.labelled_mixture.class_shapes import clip_radius, clipped_share
from dpcore.models.labelled_mixture.mathematics import ClassMoments, LabelledMixture, Place
from dpcore.models.shared.moments import inside
from dpcore.wall.data import LabelledRows, clip_to_ball
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import ByLabel, LabelledVectors

ROUNDS = (0.35, 0.65)  # of mu^2
AHEAD = 0.1  # noise of the second round in a class's frame, of the first's seen from there


def demand_public_features(session: Session[LabelledRows], method: str) -> None:
    """Raise InputError unless features are public (or nothing is protected)."""
    if session.private and session.adjacency != "label":
        raise InputError(
            "method",
            f"{method} treats the features as public, but this adjacency protects them",
            "choose adjacency label, or method staged",
        )


def fit_table(session: Session[LabelledRows], factor: Array) -> LabelledMixture:
    """Classes as blends of public shapes; the whole budget goes into one table.

    factor: of the noise, ``(runs,)``.
    """
    demand_public_features(session, "public_features")
    rows = session.public_features()
    shapes = public_shapes.fitted(rows, session.source.components)
    bound = float(np.linalg.norm(shapes.parts, axis=1).max(initial=1e-9))
    table, sd = session.release(
        "how much of each shape belongs to each class",
        LabelledVectors(session.source.components, shapes.parts.shape[1], bound),
        ByLabel(lambda run, which: shapes.parts, alike=True),
        Noise("gaussian", factor),
    )
    sizes, means, covariances = public_shapes.blended(table, sd, shapes)
    weights = sizes / sizes.sum(axis=1, keepdims=True)
    doubt = 0.5 * table.shape[2] * (sd[:, None] / np.maximum(sizes, 1.0)) ** 2
    sizes = labelled.together(sizes, session.rows)
    return LabelledMixture.of(session.source.classes, weights, means, covariances, sizes, doubt)


@dataclass(frozen=True)
class _Sums:
    """Noisy sums ``(B, K, p)`` of a class's vectors in a frame, covariances ``(B, K, p, p)``."""

    vectors: Array
    noise: Array

    def counts(self) -> tuple[Array, Array]:
        """Noisy sizes ``(B, K)``, and the deviation ``(B,)`` of a run's mean class."""
        return self.vectors[..., 0], np.sqrt(self.noise[..., 0, 0].mean(axis=1))

    def level(self, block: slice, sizes: Array) -> Array:
        """Deviation ``(B, K)`` of the noise in some coordinates of a class's mean vector."""
        own = np.diagonal(self.noise, axis1=-2, axis2=-1)[..., block]
        return np.asarray(np.sqrt(own.mean(axis=-1)) / sizes)

    def put_back(self, dim: int, radius: Array) -> _Sums:
        """The same with what a ball of radius ``(B, K)`` took of a standard class's squares."""
        scale = np.ones_like(self.vectors)
        scale[..., 1 + dim :] /= clipped_share(dim, radius**2)[..., None]
        return _Sums(scale * self.vectors, scale[..., :, None] * self.noise * scale[..., None, :])

    def moments(self, sizes: Array, dim: int, radius: Array) -> ClassMoments:
        """Means and covariances where rows were drawn into the ball of radius ``(B, K)``."""
        _, sums, squares = shaped.unpacked(self.vectors / sizes[..., None], dim)
        means = inside(sums, radius, 1.0)
        scatters = squares - means[..., :, None] * means[..., None, :]
        middle = np.minimum(self.level(slice(1, 1 + dim), sizes), radius)
        return ClassMoments(means, scatters, middle, self.level(slice(1 + dim, None), sizes))


def fit_shaped(
    session: Session[LabelledRows], factor: Array, target: str, solver: str = "exact"
) -> LabelledMixture:
    """Two rounds of sums of ``(1, z, z z^T)`` with the noise of least trace, taken together."""
    demand_public_features(session, "mte")
    rows = session.public_features()
    classes, dim = session.source.components, rows.shape[1]
    center, spread = rows.mean(axis=0), np.cov(rows.T, bias=True).reshape(dim, dim)
    least = 1e-9 * max(float(np.trace(spread)), 1e-9 * session.public.radius**2)
    root = shaped.symmetric_root(spread + least * np.eye(dim))
    pooled = Place(
        np.broadcast_to(center, (1, classes, dim)), np.broadcast_to(root, (1, classes, dim, dim))
    )
    wide = float(np.linalg.norm((rows - center) @ np.linalg.inv(root), axis=1).max(initial=1.0))
    first = _measured(
        session, rows, pooled, np.full((1, classes), wide), factor / math.sqrt(ROUNDS[0]), solver
    )
    sizes = labelled.usable(*first.counts())
    statistics = first.moments(sizes, dim, np.full_like(sizes, wide))
    means, covariances, _ = labelled.gaussians_seen(statistics, pooled, "forward")
    place = Place(means, shaped.symmetric_root(covariances))
    first = _from(first, pooled, place)
    there = first.level(slice(1 + dim, None), sizes)
    radius = clip_radius(dim, AHEAD * there / labelled.ball_radius(dim) ** 2)
    last = _measured(session, rows, place, radius, factor / math.sqrt(ROUNDS[1]), solver)
    last = last.put_back(dim, radius)
    counts = [estimate.counts() for estimate in (first, last)]
    total, sd = labelled.combined(
        [estimate[0] for estimate in counts], [estimate[1] for estimate in counts]
    )
    sizes = labelled.usable(total, sd)
    both = _Sums(*shaped.joined(first.vectors, first.noise, last.vectors, last.noise))
    means, covariances, doubt = labelled.gaussians_seen(
        both.moments(sizes, dim, radius), place, target
    )
    weights = labelled.shares(np.maximum(total, sd[:, None]), doubt, target)
    sizes = labelled.together(sizes, session.rows)
    return LabelledMixture.of(session.source.classes, weights, means, covariances, sizes, doubt)


def _measured(
    session: Session[LabelledRows],
    rows: Array,
    place: Place,
    radius: Array,
    multiplier: Array,
    solver: str,
) -> _Sums:
    """Counts, sums and squares by class of rows seen from a place, drawn into a ball.

    The sums leave in coordinates in which no row's vector is longer than 1; the way back shapes the
    noise. radius ``(F, K)``.
    """
    runs, classes, dim = session.runs, session.source.components, rows.shape[1]
    several = len(place.center) > 1
    maps = np.linalg.inv(place.back)
    size = shaped.width(dim)
    roots = np.empty((runs, classes, size, size))
    cached: dict[tuple[int, int], tuple[Array, Array]] = {}

    def known_at(run: int, which: int) -> tuple[Array, Array]:
        at = (run, which) if several else (0, 0)
        if at not in cached:
            cached.clear()
            clipped = clip_to_ball((rows - place.center[at]) @ maps[at].T, float(radius[at]))
            cached[at] = shaped.shaped(clipped, solver)
        return cached[at]

    def vectors(run: int, which: int) -> Array:
        white, roots[run, which] = known_at(run, which)
        return white

    total, sd = session.release(
        "counts, means and squares, with shaped noise",
        LabelledVectors(classes, size),
        ByLabel(vectors, alike=not several),
        Noise("gaussian", multiplier),
    )
    if not several:
        roots[:] = roots[0, 0]
    noise = np.square(sd)[:, None, None, None] * (roots @ np.swapaxes(roots, -1, -2))
    return _Sums((roots @ total[..., None])[..., 0], noise)


def _from(sums: _Sums, place: Place, other: Place) -> _Sums:
    """The same, seen from another place."""
    inverse = np.linalg.inv(other.back)
    shift = (inverse @ (place.center - other.center)[..., None])[..., 0]
    way = shaped.moved(inverse @ place.back, shift)
    vectors = (way @ sums.vectors[..., None])[..., 0]
    return _Sums(vectors, way @ sums.noise @ np.swapaxes(way, -1, -2))
