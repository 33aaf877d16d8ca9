"""Repairs of noisy moments: what any released sums need before they can be parameters.

All of it reads released values only, so none of it costs privacy; all of it is total.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from dpcore.arrays import Array
from dpcore.models.shared.threads import eigh
from dpcore.wall.statistics import STRUCTURES, NoisyMoments

Answer = TypeVar("Answer")

TINY = 1e-12
LEAST_VARIANCE = 1e-6  # in a frame where all rows together have variance 1
LARGEST = 1e100  # of a released number; beyond it squares may overflow
COLUMNS = 3000.0  # over d: by so much of their noise variances differ where it is believed by half
LEAST_CORRELATION = 0.003  # mean square of correlations, at least, that noise is weighed against
THINNEST = 1e-12  # shortest over longest axis, squared; below it a shape has no inverse


def finite(number: Array, most: float = LARGEST) -> Array:
    """Released numbers ``(...)`` made finite: the undefined become 0, the huge the most."""
    return np.asarray(np.clip(np.nan_to_num(number, nan=0.0), -most, most))


def defined(noisy: NoisyMoments) -> NoisyMoments:
    """Released moments made finite."""
    return NoisyMoments(*map(finite, vars(noisy).values()))


def averaged(first: Answer, second: Answer, weight: Array | float) -> Answer:
    """Two noisy answers of the same as one, the second with a weight, of each run ``(B,)`` or of
    all. Fields whose names end in ``_sd`` say the noise, which is independent."""

    def mean(name: str) -> Any:
        numbers, others = getattr(first, name), getattr(second, name)
        shape = (-1, *(1,) * (np.ndim(numbers) - 1))
        share = np.reshape(weight, shape) if np.ndim(weight) else weight
        parts = (1.0 - share) * numbers, share * others
        return np.hypot(*parts) if name.endswith("_sd") else parts[0] + parts[1]

    return type(first)(**{name: mean(name) for name in vars(first)})


def floored_eigenvalues(matrices: Array, floor: Array, ceiling: Array | float = math.inf) -> Array:
    """Symmetric matrices ``(..., d, d)``, eigenvalues put in ``[floor, ceiling] (...)``; total.

    Eigenvalues lie within ``|M - m I|_F`` of their mean m. Where this shows that none is outside, a
    matrix is left as it is, which is much faster.
    """
    eye = np.eye(matrices.shape[-1])
    safe = np.where(np.isfinite(matrices).all(axis=(-2, -1), keepdims=True), matrices, eye)
    safe = (safe + np.swapaxes(safe, -1, -2)) / 2
    mean = np.trace(safe, axis1=-2, axis2=-1) / len(eye)
    spread = np.linalg.norm(safe - mean[..., None, None] * eye, axis=(-2, -1))
    ends = np.stack([mean - spread, mean + spread], axis=-1)
    beyond = np.any(ends != floored(ends, floor, ceiling), axis=-1)
    values, vectors = eigh(safe[beyond])
    raised = floored(
        values, *(np.broadcast_to(end, beyond.shape)[beyond] for end in (floor, ceiling))
    )
    safe[beyond] = (vectors * raised[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return np.asarray(safe)


def floored(values: Array, floor: Array, ceiling: Array | float) -> Array:
    """Variances ``(..., d)`` in ``[floor, ceiling] (...)``, none too thin beside the largest."""
    raised = np.maximum(np.minimum(values, np.asarray(ceiling)[..., None]), floor[..., None])
    return np.asarray(np.maximum(raised, THINNEST * raised.max(axis=-1, keepdims=True)))


def as_matrices(noisy: NoisyMoments) -> Array:
    """Squares as matrices ``(B, K, d, d)`` whatever the structure."""
    dim = noisy.sums.shape[2]
    if noisy.squares.ndim == 4:
        return noisy.squares
    if noisy.squares.ndim == 3:
        return np.asarray(noisy.squares[..., None] * np.eye(dim))
    return np.asarray(noisy.squares[..., None, None] / dim * np.eye(dim))


def like_structure(scatter: Array, noisy: NoisyMoments) -> Array:
    """Matrices ``(B, K, d, d)`` with what the structure of the squares says is zero set to zero."""
    return structured(scatter, STRUCTURES[4 - noisy.squares.ndim])


def structured(matrices: Array, structure: str) -> Array:
    """The nearest matrices ``(..., d, d)`` of a structure."""
    if structure == "full":
        return matrices
    dim, diagonal = matrices.shape[-1], np.diagonal(matrices, axis1=-2, axis2=-1)
    if structure == "spherical":
        diagonal = np.repeat(diagonal.mean(axis=-1, keepdims=True), dim, axis=-1)
    return np.asarray(diagonal[..., None] * np.eye(dim))


def per_coordinate_sd(noisy: NoisyMoments, dim: int) -> Array:
    """Noise ``(runs,)`` in one diagonal entry of the squares: a trace's is shared by d entries."""
    return noisy.squares_sd / dim if noisy.squares.ndim == 2 else noisy.squares_sd


def inside(sums: Array, counts: Array, radius: float) -> Array:
    """Sums ``(..., d)`` of rows that number ``counts``, such that no mean lies outside the ball."""
    if math.isinf(radius):
        return sums
    norm = np.linalg.norm(sums, axis=-1)
    limit = radius * counts
    return np.asarray(sums * np.minimum(1.0, limit / np.maximum(norm, TINY * limit))[..., None])


def drawn_in(means: Array, variance: Array) -> Array:
    """Means ``(..., d)`` drawn towards the origin by the share of noise in their length.

    variance ``(...)``: of the noise in each coordinate. A mean no longer than its noise becomes the
    origin; one without noise stays (James and Stein 1961, positive part).
    """
    length = np.sum(means * means, axis=-1)
    noise = means.shape[-1] * variance
    share = 1.0 - noise / np.maximum(length, np.maximum(noise, TINY * TINY))
    return np.asarray(means * share[..., None])


def one_gaussian(noisy: NoisyMoments, rows: Array | float, radius: float) -> tuple[Array, Array]:
    """Mean ``(B, d)`` and covariance ``(B, d, d)`` of all rows from one release without groups.

    The mean is drawn in by its noise; the covariance is drawn towards a round shape of its own size
    by the noise in it, and its eigenvalues are floored at half the noise's level. All of this
    vanishes with the noise.
    """
    dim = noisy.sums.shape[-1]
    if noisy.squares.ndim < 4:
        mean, variances = one_diagonal(noisy, rows, radius)
        return mean, variances[..., None] * np.eye(dim)
    noisy = defined(noisy)
    mean, count = _mean_of_all(noisy, rows, radius)
    scatter = noisy.squares[:, 0] / count[:, None, None] - mean[..., None] * mean[:, None, :]
    entry = noisy.squares_sd / count
    level = entry * math.sqrt(dim / 2)
    size = _size(np.trace(scatter, axis1=1, axis2=2) / dim, entry, dim, radius)
    return mean, drawn_to_round(scatter, size, level, radius**2)


def drawn_to_round(scatter: Array, size: Array, level: Array, most: float = math.inf) -> Array:
    """Covariances ``(B, d, d)`` drawn towards round ones of variance ``size (B,)`` by the noise in
    them, with eigenvalues of at least half of its level ``(B,)`` and at most ``most``."""
    pull = (level / size)[:, None, None]
    shape = (scatter + pull * size[:, None, None] * np.eye(scatter.shape[-1])) / (1.0 + pull)
    floor = np.minimum(level / 2, size / 4) + LEAST_VARIANCE
    return floored_eigenvalues(shape, floor, most)


def by_columns(scatter: Array, size: Array, level: Array) -> Array:
    """Covariances ``(B, d, d)``, d of 2 or more, drawn towards their own diagonals where columns
    differ, as :func:`drawn_to_round` draws them towards a round shape; size, level: as there.

    A round shape is far too wide for the narrow columns. Variances are known much better than the
    shape: their noise is ``level / sqrt(d/2)``. In units of them a correlation is drawn to 0 by the
    noise in it, more where columns are narrow, beside the mean square of all correlations. Where
    the variances differ no more than noise lets them, or d is too small for correlations to be
    known of together, the shape remains :func:`drawn_to_round`. Without noise nothing is drawn.
    """
    dim = scatter.shape[-1]
    eye, sd, round_ = np.eye(dim), level / math.sqrt(dim / 2), drawn_to_round(scatter, size, level)
    variances = np.diagonal(scatter, axis1=1, axis2=2)
    share = differing(variances, size, sd, COLUMNS / dim)
    root = np.sqrt(np.maximum(variances, (np.minimum(sd, size / 2) + TINY * size)[:, None]))
    scale, share = root[:, :, None] * root[:, None, :], share[:, None, None]
    noise = np.minimum(sd[:, None, None] / scale, 1.0 / TINY) ** 2 / 2.0
    weight, correlation = (1.0 - eye) / (noise + 0.05) ** 2, scatter / scale
    square = np.sum(weight * (correlation**2 - noise), axis=(1, 2)) / np.sum(weight, axis=(1, 2))
    square = np.maximum(square, LEAST_CORRELATION)[:, None, None]
    signal = (1.0 - eye) * square / (square + noise)
    left = np.sqrt(np.sum(signal**2 * noise, axis=(1, 2)) / dim)
    shape = eye + np.clip(signal * correlation, -1.0, 1.0) / (1.0 + left)[:, None, None]
    shape = floored_eigenvalues(shape, np.minimum(left / 2, 0.25) + LEAST_VARIANCE)
    return np.asarray(share * scale * shape + (1.0 - share) * round_)


def differing(variances: Array, size: Array, sd: Array, weight: float) -> Array:
    """Share ``(B,)`` of signal in the differences of variances ``(B, d)`` from ``size (B,)``.

    sd ``(B,)``: of the noise in them; differences that chance explains count for nothing. weight:
    of the noise against what is left.
    """
    chance = sd**2 * (1.0 + 3.0 * math.sqrt(2.0 / variances.shape[1]))
    differ = np.maximum(np.mean((variances - size[:, None]) ** 2, axis=1) - chance, 0.0)
    return np.asarray(differ / np.maximum(differ + weight * sd**2, TINY * TINY))


def one_diagonal(noisy: NoisyMoments, rows: Array | float, radius: float) -> tuple[Array, Array]:
    """The same where a release knows variances alone, ``(B, d)``: no matrix is formed."""
    noisy = defined(noisy)
    mean, count = _mean_of_all(noisy, rows, radius)
    dim, squares = mean.shape[-1], noisy.squares[:, 0]
    if squares.ndim == 1:  # a trace
        scatter = (squares / dim / count)[:, None] - mean**2
        scatter = np.repeat(scatter.mean(axis=-1, keepdims=True), dim, axis=-1)
    else:
        scatter = squares / count[:, None] - mean**2
    level = entry = per_coordinate_sd(noisy, dim) / count
    size = _size(scatter.mean(axis=-1), entry, dim, radius)
    pull = (level / size)[:, None]
    floor = np.minimum(level / 2, size / 4) + LEAST_VARIANCE
    return mean, floored((scatter + pull * size[:, None]) / (1.0 + pull), floor, radius**2)


def _mean_of_all(noisy: NoisyMoments, rows: Array | float, radius: float) -> tuple[Array, Array]:
    """Mean ``(B, d)``, drawn in by its noise, and the number of rows ``(1 or B,)``."""
    count = np.asarray(rows, dtype=float).reshape(-1)
    raw = inside(noisy.sums[:, 0] / count[:, None], np.ones(len(noisy.sums)), radius)
    return drawn_in(raw, (noisy.sums_sd / count) ** 2), count


def _size(variance: Array, entry: Array, dim: int, radius: float) -> Array:
    """Mean variance ``(B,)`` of a column within what noise and ball allow."""
    largest = radius**2 / (dim + 2)  # of rows spread evenly over the ball
    least = np.minimum(entry / math.sqrt(dim), largest) + LEAST_VARIANCE
    return np.asarray(np.maximum(np.minimum(variance, largest), least))
