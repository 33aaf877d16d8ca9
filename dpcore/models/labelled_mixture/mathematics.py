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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, gammainc

from dpcore.arrays import Array
from dpcore.models.labelled_mixture.class_shapes import belief, best_shape, clipped_share
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
OUTSIDE = 0.2  # share of a class that a tighter ball may leave out
ASKEW = 0.1  # how far clipping may move a class's first look, in its own size
USUAL = 0.5  # eigenvalue in a class frame, which is made wide because it is made from noise
LEAST = 1e-9  # least eigenvalue in a frame whose ball has radius 1, without noise


@dataclass(frozen=True)
class LabelledMixture:
    """B mixtures with a class for each part, in public unit coordinates.

    weights ``(B, K)``, means ``(B, K, d)``, covariances ``(B, K, d, d)``. sizes ``(B, K)``: rows of
    each class, noisy. doubt ``(B, K)``: divergence that the noise is expected to cost the class.
    names ``(B, K)``: the classes.
    """

    weights: Array
    means: Array
    covariances: Array
    sizes: Array
    doubt: Array
    names: NDArray[np.str_]

    @property
    def runs(self) -> int:
        """How many fits the batch holds, B."""
        return int(self.weights.shape[0])

    @property
    def dim(self) -> int:
        """How many columns there are, d."""
        return int(self.means.shape[2])


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


def centres_of(noisy: NoisyMoments, sizes: Array, *, clipped: bool) -> Array:
    """Means ``(B, K, d)`` in the frame of the release."""
    noisy = defined(noisy)
    sums = inside(noisy.sums, sizes, 1.0) if clipped else noisy.sums
    return np.asarray(sums / sizes[..., None])


def edges_of(reach: float) -> tuple[float, ...]:
    """Twelve falling distances for a histogram of how far rows lie from their centre."""
    return tuple(float(reach * 2.0 ** (-j / 2.0)) for j in range(12))


def radii_of(
    histogram: Array, edges: tuple[float, ...], dim: int, sizes: Array, deviation: Array
) -> Array:
    """A radius ``(B, K)`` that leaves out the share :data:`OUTSIDE` of each class.

    histogram ``(B, K, J + 1)``: noisy, bin j above edge j; sizes ``(B, K)``: rows of each class;
    deviation ``(B,)``: of the histogram's noise. Gaussians of many widths, round or in fewer
    directions, are each as likely as the noise makes what lies between them and the histogram, and
    the radius is their geometric mean: one number from all bins, which moves continuously.
    """
    counts = finite(histogram)
    widths = edges[0] * 2.0 ** (-np.arange(4 * len(edges)) / 8.0)
    misfits, reaches = [], []
    for degrees in sorted({1.0, (1.0 + dim) / 2.0, float(dim)}):
        inside_share = gammainc(degrees / 2.0, 0.5 * (np.array(edges) / widths[:, None]) ** 2)
        share = -np.diff(inside_share, prepend=1.0, append=0.0, axis=1)
        misfits.append(np.sum(share**2, axis=1) * sizes[..., None] / 2.0 - counts @ share.T)
        reaches.append(np.log(widths) + 0.5 * math.log(float(chdtri(degrees, OUTSIDE))))
    misfit = np.concatenate(misfits, axis=-1)
    worth = (sizes / np.maximum(np.square(deviation), TINY)[:, None])[..., None]
    likely = np.exp(worth * (misfit.min(axis=-1, keepdims=True) - misfit))
    likely /= likely.sum(axis=-1, keepdims=True)
    radius = np.exp(likely @ np.concatenate(reaches))
    return np.asarray(np.clip(radius, edges[-1], edges[0]))


def rough_share(dim: int) -> float:
    """Share of a class's second moments that a ball of :func:`radii_of` keeps.

    >>> round(rough_share(3), 2)
    0.85
    """
    return float(clipped_share(dim, float(chdtri(dim, OUTSIDE))))


def whitening(noisy: NoisyMoments, sizes: Array, *, clipped: bool) -> tuple[Array, Array, Array]:
    """From moments in a frame, with sizes ``(runs, classes)``: means, whitening maps and their
    inverses, all in that frame.

    Under clipping the frame's ball is one of :func:`radii_of`; covariances are the widest that
    noise lets them be on average, and widened by half of the noise of their mean, so that what is
    seen through the map is not longer than it should be.
    """
    noisy = defined(noisy)
    dim = noisy.sums.shape[-1]
    mean = centres_of(noisy, sizes, clipped=clipped)
    outer = mean[..., None] * mean[..., None, :]
    if clipped:
        share = rough_share(dim)
        scatter = noisy.squares / sizes[..., None, None] / share - outer
        entry, middle = noisy.squares_sd[:, None] / sizes / share, noisy.sums_sd[:, None] / sizes
        posterior = belief(scatter, entry, 1.0 / float(chdtri(dim, OUTSIDE)))
        vectors, values = (
            posterior.axes,
            posterior.wide + 0.5 * np.minimum(middle**2, 1.0 / dim)[..., None],
        )
    else:
        scatter = noisy.squares / sizes[..., None, None] - outer
        values, vectors = np.linalg.eigh(floored_eigenvalues(scatter, np.zeros_like(sizes)))
    root = np.sqrt(np.maximum(values, LEAST))[..., None, :]
    turned = np.swapaxes(vectors, -1, -2)
    return mean, (vectors / root) @ turned, (vectors * root) @ turned


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


def joined(
    rough: NoisyMoments,
    last: NoisyMoments,
    sizes: Array,
    offset: Array,
    root: Array,
    radius: Array,
    before: Array,
) -> ClassMoments:
    """What two releases show together, in coordinates z in which the class should be standard.

    The last was clipped to the ball of radius ``(B, K)`` there; the rough one's frame, clipped to
    one of :func:`radii_of`, is ``offset + root z``, and its middle a mean that was known before, up
    to a deviation ``(B, K)``. Each counts by the noise in it and, but for the last, by
    :data:`ASKEW`, how far clipping may have moved it; along the axes of ``root`` all have
    independent noise, so entries are weighed one by one.
    """
    rough, last = defined(rough), defined(last)
    dim, number = offset.shape[-1], sizes[..., None]
    lengths, axes = np.linalg.eigh(root)
    lengths = np.maximum(lengths, math.sqrt(LEAST))
    turned, share = np.swapaxes(axes, -1, -2), clipped_share(dim, radius**2)
    widths = lengths[..., :, None] * lengths[..., None, :]
    start = (turned @ offset[..., None])[..., 0]
    means, weight = _weighed(
        (turned @ (radius[..., None] * last.sums / number)[..., None])[..., 0],
        (radius * last.sums_sd[:, None] / sizes)[..., None],
        ((turned @ (rough.sums / number)[..., None])[..., 0] - start) / lengths,
        (rough.sums_sd[:, None] / sizes)[..., None] / lengths,
        -start / lengths,
        before[..., None] / lengths,
    )
    middle = start + lengths * means
    size, first = radius**2 / share / sizes, 1.0 / rough_share(dim) / sizes
    scatters, precision = _weighed(
        size[..., None, None] * (turned @ last.squares @ axes) - _outer(means),
        (size * last.squares_sd[:, None])[..., None, None],
        (first[..., None, None] * (turned @ rough.squares @ axes) - _outer(middle)) / widths,
        (first * rough.squares_sd[:, None])[..., None, None] / widths,
    )
    return ClassMoments(
        (axes @ means[..., None])[..., 0],
        axes @ scatters @ turned,
        np.minimum(np.sqrt(np.mean(1.0 / weight, axis=-1)), radius),
        np.sqrt(np.mean(1.0 / precision, axis=(-2, -1))),
    )


def _weighed(best: Array, noise: Array, *others: Array) -> tuple[Array, Array]:
    """The mean by precision, and its precision. others: values and deviations, by turns; askew."""
    weight = 1.0 / np.maximum(np.square(noise), TINY**2)
    total = best * weight
    for value, deviation in zip(others[::2], others[1::2], strict=True):
        less = 1.0 / (np.square(deviation) + ASKEW**2)
        total, weight = total + value * less, weight + less
    return total / weight, weight


def _outer(vectors: Array) -> Array:
    return np.asarray(vectors[..., :, None] * vectors[..., None, :])


def gaussians(
    noisy: NoisyMoments, sizes: Array, place: Place, *, target: str, clipped: bool
) -> tuple[Array, Array, Array]:
    """Means ``(B, K, d)``, covariances ``(B, K, d, d)`` in unit coordinates, and the doubt.

    From one release in the place's frame; without clipping there is no noise either.
    """
    statistics = moments_of(noisy, sizes, clipped=clipped)
    if clipped:
        return gaussians_seen(statistics, place, target, USUAL / noisy.sums.shape[-1])
    means, exact = _placed(statistics.means, statistics.scatters, place)
    least = np.full_like(sizes, THINNEST)  # a class of one row has no spread
    return means, floored_eigenvalues(exact, least), np.zeros_like(sizes)


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
