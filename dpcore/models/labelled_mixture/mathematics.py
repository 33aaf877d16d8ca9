"""A labelled mixture: one Gaussian for each class, from noisy sums of the class's rows.

Liu, Scaglione, Peisert 2025 release such mixtures with least Kullback-Leibler divergence. Here is
what surrounds the releases: how their budget is split, the frame for the next one, and the mixture
that is made of the last. Everything reads released values only, is total, and without noise is the
exact weights, means and covariances of the classes. Arrays carry a leading axis of runs.

*Cost of noise.* Errors V of a mean and E of a covariance, small beside the class's Sigma, change
the divergence by ``tr(Sigma^{-1} V)/2 + |Sigma^{-1/2} E Sigma^{-1/2}|_F^2 / 4``, an error in a
class's share pi by ``Var/2 pi``: second order of the divergence of two Gaussians. In a frame where
the class is standard and rows lie in a ball of radius R, noise of multiplier z in counts, sums/R
and squares/R^2 costs ``z^2 (c_0, c_1, c_2) / N n_k`` with ``c = (1/2, d R^2/2, d(d+1) R^4/8)``;
shares of mu^2 proportional to ``sqrt(c_i)`` are best, and cost ``(sum sqrt c_i)^2 / N n_k mu^2``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from dpcore.arrays import Array
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.labelled_mixture.class_shapes import best_shape
from dpcore.models.shared.moments import (
    THINNEST,
    TINY,
    defined,
    finite,
    floored_eigenvalues,
    inside,
)
from dpcore.wall.statistics import NoisyMoments

INSIDE = 0.98  # share of a standard Gaussian's rows in the clipping ball
USUAL = 0.5  # eigenvalue in a class frame, which is made wide because it is made from noise


@dataclass(frozen=True)
class LabelledMixture(Mixture):
    """B mixtures with a class for each part, in public unit coordinates.

    sizes ``(B, K)``: rows of each class, noisy. doubt ``(B, K)``: divergence that the noise is
    expected to cost the class. names ``(B, K)``: the classes.
    """

    sizes: Array
    doubt: Array
    names: NDArray[np.str_]

    @classmethod
    def of(
        cls,
        classes: Sequence[str],
        weights: Array,
        means: Array,
        covariances: Array,
        sizes: Array,
        doubt: Array,
    ) -> LabelledMixture:
        """Classes by their names, the same in all runs: weights ``(B, K)``, means ``(B, K, d)``,
        covariances ``(B, K, d, d)``, sizes and doubt ``(B, K)``."""
        names = np.broadcast_to(np.array(classes), weights.shape)
        return cls(weights, means, covariances, sizes, doubt, names)


def ball_radius(dim: int) -> float:
    """Radius of the ball that holds the share :data:`INSIDE` of a standard Gaussian.

    >>> round(ball_radius(1), 3)
    2.326
    """
    return math.sqrt(float(chdtri(dim, 1.0 - INSIDE)))


def costs(dim: int, radius: float) -> Array:
    """``(c_0, c_1, c_2)`` of the module's rule."""
    return np.array([0.5, dim * radius**2 / 2.0, dim * (dim + 1) * radius**4 / 8.0])


def best_weights(dim: int, radius: float) -> Array:
    """Weights ``(a, b, c)`` of counts, sums and squares that cost least, squares adding to 1."""
    roots = np.sqrt(costs(dim, radius))
    return np.asarray(np.sqrt(roots / roots.sum()))


def attainable(dim: int, mu: Array, sizes: Array, touched: float) -> Array:
    """Divergence ``(B,)`` that noise alone costs where every class's frame is known exactly.

    mu ``(B,)``: of the whole budget. sizes ``(B, K)``. touched: squared sensitivity of the joint
    release, in rows: 1 where a row is added, 2 where it moves. To second order, and for one release
    in the ball of :func:`ball_radius`: a tighter one may cost less while noise is large.
    """
    root = float(np.sqrt(costs(dim, ball_radius(dim))).sum())
    counts = np.maximum(sizes, 1.0)
    per_class = np.sum(1.0 / counts, axis=1) / counts.sum(axis=1)
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(touched * root**2 / np.square(mu) * per_class)


def combined(counts: list[Array], deviations: list[Array]) -> tuple[Array, Array]:
    """The best mean of several noisy counts ``(B, K)``, deviations ``(B,)`` each; and its own."""
    exact = [sd == 0.0 for sd in deviations]
    if any(np.all(flag) for flag in exact):
        first = next(i for i, flag in enumerate(exact) if np.all(flag))
        return finite(counts[first]), deviations[first]
    worth = [1.0 / np.maximum(sd, TINY) ** 2 for sd in deviations]
    total = np.sum(worth, axis=0)
    mean = sum(finite(count) * weight[:, None] for count, weight in zip(counts, worth, strict=True))
    return np.asarray(mean / total[:, None]), np.asarray(1.0 / np.sqrt(total))


def usable(counts: Array, deviation: Array) -> Array:
    """Sizes ``(runs, classes)`` by which sums may be divided: at least 1, and at least the noise in
    them, whose deviation is ``(runs,)``."""
    return np.maximum(np.maximum(finite(counts), 1.0), deviation[:, None])


def together(sizes: Array, rows: int | None) -> Array:
    """Sizes ``(runs, classes)`` as released: where the number of rows is public, they add up
    to no more.

    >>> together(np.array([[90.0, 60.0], [20.0, 40.0]]), 100).tolist()
    [[60.0, 40.0], [20.0, 40.0]]
    """
    if rows is None:
        return sizes
    return np.asarray(sizes * np.minimum(1.0, rows / sizes.sum(axis=1, keepdims=True)))


def centres_of(noisy: NoisyMoments, sizes: Array, *, clipped: bool) -> Array:
    """Means ``(B, K, d)`` in the frame of the release."""
    noisy = defined(noisy)
    sums = inside(noisy.sums, sizes, 1.0) if clipped else noisy.sums
    return np.asarray(sums / sizes[..., None])


@dataclass(frozen=True)
class Place:
    """Where a frame of classes lies in unit coordinates: ``u = center + back y``.

    center ``(F, K, d)``, back ``(F, K, d, d)`` symmetric.
    """

    center: Array
    back: Array


@dataclass(frozen=True)
class ClassMoments:
    """Classes in a frame: means ``(B, K, d)``, covariances ``(B, K, d, d)``, and of each class the
    deviation ``(B, K)`` of the noise in a coordinate of its mean and in a variance."""

    means: Array
    scatters: Array
    mean_noise: Array
    noise: Array


def moments_of(noisy: NoisyMoments, sizes: Array, *, clipped: bool = True) -> ClassMoments:
    """What one release shows, in its own frame; sizes: ``(runs, classes)``."""
    noisy = defined(noisy)
    mean = centres_of(noisy, sizes, clipped=clipped)
    scatter = noisy.squares / sizes[..., None, None] - mean[..., None] * mean[..., None, :]
    middle = np.minimum(noisy.sums_sd[:, None] / sizes, 1.0)
    return ClassMoments(mean, scatter, middle, noisy.squares_sd[:, None] / sizes)


def gaussians(
    noisy: NoisyMoments, sizes: Array, place: Place, *, target: str, clipped: bool
) -> tuple[Array, Array, Array]:
    """Means ``(B, K, d)``, covariances ``(B, K, d, d)`` in unit coordinates, and the doubt.

    From one release in the place's frame; without clipping there is no noise either.
    """
    if clipped:
        statistics = moments_of(noisy, sizes)
        return gaussians_seen(statistics, place, target, USUAL / noisy.sums.shape[-1])
    return *exact_gaussians(noisy, sizes, place), np.zeros_like(sizes)


def exact_gaussians(noisy: NoisyMoments, sizes: Array, place: Place) -> tuple[Array, Array]:
    """Means ``(B, K, d)`` and covariances ``(B, K, d, d)`` without noise and clipping."""
    statistics = moments_of(noisy, sizes, clipped=False)
    means, exact = _placed(statistics.means, statistics.scatters, place)
    least = np.full_like(sizes, THINNEST)  # a class of one row has no spread
    return means, floored_eigenvalues(exact, least)


def gaussians_seen(
    statistics: ClassMoments, place: Place, target: str, usual: float = USUAL
) -> tuple[Array, Array, Array]:
    """The same of classes whose eigenvalues in the place's frame should be about ``usual``.

    target: ``reverse`` (the divergence of the release from the exact, which fears wide shapes) or
    ``forward`` (from exact to release, which fears narrow ones).
    """
    shapes, doubt = best_shape(
        statistics.scatters, statistics.noise, statistics.mean_noise, usual, target
    )
    return *_placed(statistics.means, shapes, place), np.nan_to_num(doubt)


def _placed(means: Array, shapes: Array, place: Place) -> tuple[Array, Array]:
    """The same in unit coordinates."""
    moved = place.center + (place.back @ means[..., None])[..., 0]
    turned = place.back @ shapes @ np.swapaxes(place.back, -1, -2)
    return moved, (turned + np.swapaxes(turned, -1, -2)) / 2


def shares(counts: Array, doubt: Array, target: str) -> Array:
    """Weights ``(B, K)``; for the reverse divergence, classes in doubt weigh less.

    ``sum pi~ (ln pi~/pi + KL_k)`` is least at ``pi~`` proportional to ``pi exp(-KL_k)``; but great
    doubt is itself in doubt, so it counts by ``(sqrt(1 + 4 doubt) - 1) / 2``, less and less.
    """
    log = np.log(np.maximum(finite(counts), TINY))
    if target == "reverse":
        log = log - np.minimum((np.sqrt(1.0 + 4.0 * doubt) - 1.0) / 2.0, 100.0)
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    weights = np.maximum(weights, TINY)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
