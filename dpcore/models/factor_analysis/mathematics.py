"""Factor analysis: a few hidden causes move many numbers together; the rest is each number's own.

A row is ``mean + W z + noise`` with k hidden normal factors z and noise of its own variance in each
coordinate. All that a fit needs to know of the data is one matrix of second moments. Once that is
released with noise, every step here is free. Each array carries a leading axis of runs.
Sources: Rubin, Thayer 1982 (EM); Park, Foulds, Chaudhuri, Welling 2017, section 6; Dwork, Talwar,
Thakurta, Zhang 2014 (Analyze Gauss: release once).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpcore.arrays import Array
from dpcore.models.factor_analysis.visible import (
    FULL_SPECTRUM_DIM,
    SPARE,
    bulk_centre,
    largest,
    noise_edge,
    visible_part,
)
from dpcore.models.shared.moments import (
    LARGEST,
    LEAST_VARIANCE,
    TINY,
    drawn_in,
    finite,
)
from dpcore.models.shared.second_moments import (
    AllRows,
    Dense,
    Ellipsoid,
    SecondMoment,
    second_moment_of,
    sized,
    transposed,
)

PsiUpdate = Literal["paper", "exact"]

REACH = 1e3  # loadings beyond this many standard deviations of the data are cut: EM ran away


@dataclass(frozen=True)
class Factors:
    """B factor analyses: mean ``(B, d)``, loadings ``(B, d, k)``, noise_variance ``(B, d)``."""

    mean: Array
    loadings: Array
    noise_variance: Array

    def back(self, ball: Ellipsoid) -> Factors:
        """Unit coordinates, from those of a ball or ellipsoid; a column that does not vary has the
        least noise variance that it has without noise."""
        fit = self.stretched(ball.axes)
        size = np.mean(np.sum(fit.loadings**2, axis=-1) + fit.noise_variance, axis=-1)
        noise_variance = np.maximum(fit.noise_variance, LEAST_VARIANCE * size[:, None])
        return Factors(ball.middle + ball.axes * self.mean, fit.loadings, noise_variance)

    def stretched(self, axes: Array) -> Factors:
        """Columns multiplied by ``(B, d)`` or ``(B, 1)``; the mean stays."""
        return Factors(self.mean, axes[..., None] * self.loadings, axes**2 * self.noise_variance)

    @property
    def dim(self) -> int:
        """Columns: d."""
        return int(self.mean.shape[1])

    @property
    def factors(self) -> int:
        """Factors: k."""
        return int(self.loadings.shape[2])

    def covariance(self) -> Array:
        """``W W' + Psi`` as matrices ``(B, d, d)``."""
        shared = self.loadings @ transposed(self.loadings)
        step = np.arange(self.dim)
        shared[:, step, step] += self.noise_variance
        return np.asarray(shared)


def start(runs: int, factors: int, dim: int, radius: float, seed: int) -> Factors:
    """A start that knows no data: random loadings that carry half of what rows of norm ``radius``
    spread evenly can vary, and equal noise that carries the other half."""
    rng = np.random.default_rng([seed, factors, dim, 3])
    half = radius**2 / (2 * dim)
    loadings = rng.standard_normal((dim, factors)) * math.sqrt(half / factors)
    return Factors(
        np.zeros((runs, dim)),
        np.broadcast_to(loadings, (runs, dim, factors)),
        np.full((runs, dim), half),
    )


def published(
    second_moment: Array, begin: Factors, iterations: int, psi_update: PsiUpdate = "paper"
) -> Factors:
    """EM as DP-EM prints it, on a released matrix ``(B, d, d)`` as it is (Park et al., section 6).

    The noise variance is computed from the loadings before the step ("paper") or after it
    ("exact", which is EM). Total: any matrix gives valid parameters; negative variances are
    floored at :data:`~dpcore.models.shared.moments.LEAST_VARIANCE` of the mean variance.
    """
    moment, scale = _normalised(second_moment)
    scaled = Factors(
        begin.mean,
        begin.loadings / np.sqrt(scale)[:, None, None],
        begin.noise_variance / scale[:, None],
    )
    return _rescaled(_em(Dense(moment), scaled, iterations, psi_update), scale)


def maximum_likelihood(
    rows: Array, factors: int, iterations: int = 50, *, by_columns: bool = True
) -> Factors:
    """A fit without noise to rows ``(n, d)``: one run. No ``d x d`` matrix is formed if n < d.

    by_columns: whether it begins at the principal components of correlations or of covariances.
    **Guarantee**: none; this is what private fits are compared with.
    """
    mean = rows.mean(axis=0)
    centred = rows - mean
    variances = np.mean(centred * centred, axis=0)[None]
    units = _units(variances if by_columns else np.full_like(variances, variances.mean()))
    centred /= units
    moment = second_moment_of(centred)
    values, vectors = _principal(centred, factors)
    begin = _spectral_start(moment, values[None], vectors[None], mean[None])
    least = LEAST_VARIANCE * variances.mean() / units**2  # the same for all columns in their units
    return _em(moment, begin, iterations, "exact", least).stretched(units)


@dataclass(frozen=True)
class Denoised:
    """Released moments without what noise could have made of them, in units of a mean variance of
    about 1.

    mean ``(B, d)``: drawn in, in its own units. moment: the covariance that shows. values
    ``(B, k)`` and vectors ``(B, d, k)``: its largest eigenpairs, values 0 where they cannot be told
    from noise. level ``(B,)``: deviation of the noise beside the diagonal. scale ``(B,)``: factor
    from variances here to those of the release.
    """

    mean: Array
    moment: SecondMoment
    values: Array
    vectors: Array
    level: Array
    scale: Array


def denoised(released: AllRows, factors: int, rows: Array | None = None) -> Denoised:
    """What can be seen through the noise of released moments, for so many factors.

    released: where mean_sd is 0 and so is the mean, nothing is centred; where there is a usual
    variance, noise leaves the mean variance near it (:func:`sized`). rows ``(B,)``: how many, where
    the model's own noise is the same in all columns.

    Each correction vanishes with the noise: (1) the mean keeps the directions in which the second
    moment shows anything (:func:`_steadied`), and the covariance is freed of its noise;
    (2) eigenvalues that noise could have made are levelled, the others drawn in
    (:func:`visible_part`); (3) the mean is drawn in. Total.
    """
    raw, second_moment = finite(released.mean), released.second_moment
    sd, mean_sd, dim = released.sd, released.mean_sd, raw.shape[-1]
    least = None
    if released.usual is not None:
        second_moment, size = sized(second_moment, released.usual, sd)
        least = None if rows is not None else LEAST_CENTRE * size
    centred, share = second_moment, np.zeros(len(raw))
    if np.any(raw):
        raw, share = _steadied(raw, finite(second_moment), sd, mean_sd, factors)
        centred = second_moment - raw[..., None] * raw[:, None, :]
    matrix, scale = _normalised(centred)
    step = np.arange(dim)
    matrix[:, step, step] += (share * mean_sd**2 / scale)[:, None]
    # Noise of mean x mean' is as strong as a spike.
    crossed = np.sum(raw * raw, axis=-1) * mean_sd**2 * share
    level = np.sqrt(sd**2 / 2 + crossed) / scale
    total = np.broadcast_to(released.radius, scale.shape) ** 2 / scale
    least = level if least is None else least / scale
    levelled = visible_part(matrix, level, factors, total, least, rows)
    return Denoised(drawn_in(raw, share * mean_sd**2), *levelled, level, scale)


def proved(released: AllRows, factors: int, iterations: int = 50) -> Factors:
    """What can be seen through the noise, and nothing else; then factor analysis of that.

    Own variances are floored by what noise can hide; factors that cannot be seen have loadings 0.
    Without noise this is EM of maximum likelihood. Total.
    """
    clean = denoised(released, factors)
    begin = _start_by_columns(clean)
    least = _least_variance(clean.moment.diagonal(), clean.level, released.usual is not None)
    return _rescaled(_em(clean.moment, begin, iterations, "exact", least), clean.scale)


def _steadied(
    mean: Array, second_moment: Array, sd: Array, mean_sd: Array, factors: int
) -> tuple[Array, Array]:
    """A noisy mean ``(B, d)`` without what lies in directions where a second moment shows nothing,
    and the share ``(B,)`` of the directions that are left.

    A mean m adds ``|m|^2`` to the second moment along itself, so a direction that cannot be told
    from noise there holds little of it, and mostly noise. Where the mean's noise does less harm
    than that of the second moment itself, and so without noise, every direction is left.
    """
    dim = mean.shape[1]
    harmless = np.sum(mean * mean, axis=-1) * mean_sd**2 <= sd**2 / 2
    if harmless.all():
        return mean, np.ones(len(mean))
    edge = noise_edge(1.0, dim) * sd
    if dim > FULL_SPECTRUM_DIM:
        wanted = min(dim, factors + SPARE)
        pairs = [
            largest(matrix, float(top), wanted)
            for matrix, top in zip(second_moment, edge, strict=True)
        ]
        values, vectors = (np.stack(parts) for parts in zip(*pairs, strict=True))
        centre = np.trace(second_moment, axis1=-2, axis2=-1) / dim
    else:
        values, vectors = map(np.asarray, np.linalg.eigh(second_moment))
        centre = bulk_centre(values, edge)
    above = np.abs(values - centre[:, None]) > edge[:, None]
    signal = vectors * above[:, None, :]
    steady = np.einsum("bik,bk->bi", signal, np.einsum("bik,bi->bk", signal, mean))
    whole = harmless | (above.all(axis=1) & (values.shape[1] < dim))
    share = np.where(whole, 1.0, above.sum(axis=1) / dim)
    return np.where(whole[:, None], mean, steady), share


LEAST_CENTRE = 0.1  # of the mean variance
HIDDEN = 1.35  # deviations of the noise in a diagonal entry: a column's own variance is no less


def _least_variance(diagonal: Array, level: Array, expected: bool) -> Array:
    """``(B, 1)``: no coordinate's own variance is claimed to be far below what noise can hide.

    expected: whether distances say how large variances are; then columns may differ more.
    """
    mean = diagonal.mean(axis=-1)
    if expected:
        return np.asarray(np.minimum(HIDDEN * math.sqrt(2.0) * level, mean / 2)[:, None])
    edge = level * math.sqrt(diagonal.shape[-1])
    return np.asarray(np.minimum(edge, mean)[:, None] / 2)


# --- EM ------------------------------------------------------------------------------------------


def _em(
    moment: SecondMoment,
    begin: Factors,
    iterations: int,
    psi_update: PsiUpdate,
    least: Array | float = 0.0,
) -> Factors:
    """EM from second moments whose mean variance is about 1; total.

    Exact EM goes :data:`STRIDE` times as far as each step says, which ends at the same points in
    a third of the steps (Salakhutdinov, Roweis 2003).
    """
    diagonal = np.broadcast_to(moment.diagonal(), begin.noise_variance.shape)
    size = np.maximum(np.abs(diagonal).mean(axis=-1, keepdims=True), TINY)
    floor = np.maximum(least, LEAST_VARIANCE * size)
    loadings, noise = begin.loadings, np.maximum(begin.noise_variance, floor)
    eye = np.eye(begin.factors)
    for step in range(iterations):
        scaled = loadings / noise[..., None]
        spread = np.linalg.inv(eye + transposed(loadings) @ scaled)  # of the factors, given a row
        weights = scaled @ spread
        product = moment.times(weights)
        projected = _without_negative(transposed(weights) @ product)
        old, loadings = loadings, product @ _inverse(spread + projected)
        loadings = _within_reach(loadings, size)
        used = old if psi_update == "paper" else loadings
        before, noise = noise, np.maximum(diagonal - np.sum(used * product, axis=-1), floor)
        if psi_update == "exact" and step < iterations - 1:  # the last is a plain step
            loadings = _within_reach(old + STRIDE * (loadings - old), size)
            noise = np.maximum(before * (noise / before) ** STRIDE, floor)
    return Factors(begin.mean, loadings, noise)


STRIDE = 1.8  # below 2, near an optimum no step makes things worse


def _without_negative(small: Array) -> Array:
    """Symmetric ``(B, k, k)`` with negative eigenvalues put to 0: others only where it has some."""
    even = (small + transposed(small)) / 2
    values, vectors = np.linalg.eigh(even)
    if values.min(initial=0.0) >= 0.0:
        return np.asarray(even)
    return np.asarray((vectors * np.maximum(values, 0.0)[:, None, :]) @ transposed(vectors))


def _inverse(small: Array) -> Array:
    """Inverses of ``(B, k, k)`` without negative eigenvalues; those below rounding are raised."""
    size = TINY * np.trace(small, axis1=-2, axis2=-1)[:, None, None] + TINY * TINY
    return np.asarray(np.linalg.inv(small + size * np.eye(small.shape[-1])))


def _within_reach(loadings: Array, size: Array) -> Array:
    """Loadings drawn in where they say more than :data:`REACH` deviations: EM ran away."""
    length = np.sqrt(np.sum(loadings * loadings, axis=(-2, -1)) / loadings.shape[1])
    limit = REACH * np.sqrt(size[:, 0])
    return np.asarray(loadings * (limit / np.maximum(length, limit))[:, None, None])


def _spectral_start(moment: SecondMoment, values: Array, vectors: Array, mean: Array) -> Factors:
    """Principal components as a start: what an eigenvalue has above the average of the rest.

    values ``(B, k)``, 0 for no factor; vectors ``(B, d, k)``. Source: Tipping, Bishop 1999, Eq. 7.
    """
    diagonal = np.broadcast_to(moment.diagonal(), mean.shape)
    size = np.maximum(np.abs(diagonal).mean(axis=-1, keepdims=True), TINY)
    others = np.maximum(mean.shape[1] - (values > 0.0).sum(axis=-1), 1)
    rest = (diagonal.sum(axis=-1) - values.sum(axis=-1)) / others
    above = np.maximum(values - np.maximum(rest, 0.0)[:, None], 0.0)
    above = np.where(above > NOT_ABOVE * size, above, 0.0)
    loadings = vectors * np.sqrt(above)[:, None, :]
    noise = diagonal - np.sum(loadings * loadings, axis=-1)
    return Factors(mean, loadings, np.maximum(noise, LEAST_VARIANCE * size))


def _start_by_columns(clean: Denoised) -> Factors:
    """Principal components of the correlations as a start, from which EM needs fewer steps where
    variances of columns differ: in those of the covariances, narrow columns hardly count.

    A column that noise hides keeps a larger unit. In more than :data:`FULL_SPECTRUM_DIM` columns,
    where only the largest eigenvalues of the covariance are known, its own components are taken.
    """
    runs, dim = clean.mean.shape
    if dim > FULL_SPECTRUM_DIM:
        return _spectral_start(clean.moment, clean.values, clean.vectors, clean.mean)
    units = _units(clean.moment.diagonal(), UNSURE * clean.level[:, None])
    scaled = clean.moment.times(np.broadcast_to(np.eye(dim), (runs, dim, dim)))
    scaled /= units[:, :, None] * units[:, None, :]
    values, vectors = np.linalg.eigh((scaled + transposed(scaled)) / 2)
    largest = slice(None, -clean.values.shape[1] - 1, -1)
    visible = np.where(clean.values > 0.0, values[:, largest], 0.0)
    begin = _spectral_start(Dense(scaled), visible, vectors[:, :, largest], clean.mean)
    return begin.stretched(units)


def _units(variances: Array, least: Array | float = 0.0) -> Array:
    """Deviations ``(B, d)`` of columns with variances ``(B, d)``, to which the least is added."""
    size = np.maximum(np.abs(variances).mean(axis=-1, keepdims=True), TINY)
    return np.asarray(np.sqrt(np.maximum(variances, LEAST_VARIANCE * size) + least))


UNSURE = 10.0  # deviations of the noise, by which the unit of a column is larger in a start
NOT_ABOVE = 1e-9  # of the mean variance: what rounding leaves of an eigenvalue at the average


def _normalised(matrix: Array) -> tuple[Array, Array]:
    """Finite matrices of mean variance about 1, with the factor ``(B,)`` taken out.

    matrix: symmetric, as released; turning 4096 x 4096 over would cost as much as ten steps of EM.
    """
    largest = _largest_entry(matrix)
    if not np.all(largest <= LARGEST):  # false for NaN
        matrix = finite(matrix)
        largest = _largest_entry(matrix)
    size = np.abs(np.diagonal(matrix, axis1=-2, axis2=-1)).mean(axis=-1)
    scale = np.maximum(size, largest / LARGEST_RATIO)
    scale = np.where(scale > SMALLEST, scale, 1.0)
    return matrix / scale[:, None, None], scale


def _largest_entry(matrix: Array) -> Array:
    """Largest absolute entry of each matrix ``(B,)``, without a copy of them; NaN where one is."""
    highest = np.max(matrix, axis=(-2, -1), initial=0.0)
    return np.asarray(np.maximum(highest, -np.min(matrix, axis=(-2, -1), initial=0.0)))


LARGEST_RATIO = 1e8  # of an entry to the mean variance
SMALLEST = 1e-100  # of a scale; below it a matrix is nothing


def _rescaled(fit: Factors, scale: Array) -> Factors:
    """Parameters in the data's own units again."""
    loadings = fit.loadings * np.sqrt(scale)[:, None, None]
    return Factors(fit.mean, loadings, fit.noise_variance * scale[:, None])


def _principal(centred: Array, factors: int) -> tuple[Array, Array]:
    """The largest eigenpairs of ``X'X / n``, through the smaller of its two Gram matrices."""
    count, dim = centred.shape
    if count >= dim:
        values, vectors = np.linalg.eigh(centred.T @ centred / count)
        return values[: -factors - 1 : -1], vectors[:, : -factors - 1 : -1]
    values, left = np.linalg.eigh(centred @ centred.T / count)
    values, left = values[: -factors - 1 : -1], left[:, : -factors - 1 : -1]
    vectors = centred.T @ left
    return values, vectors / np.maximum(np.linalg.norm(vectors, axis=0), TINY)


# --- what a fit says -----------------------------------------------------------------------------


def log_density(fit: Factors, rows: Array) -> Array:
    """Mean log density ``(B,)`` of rows ``(n, d)``, in nats; no ``d x d`` inverse (Woodbury).

    The mean over rows depends on their mean and second moment alone, so each is read once.
    """
    centre, moment = _summary(rows)
    away = centre - fit.mean
    scaled = fit.loadings / fit.noise_variance[..., None]
    inner = np.eye(fit.factors) + transposed(fit.loadings) @ scaled
    inside = transposed(scaled) @ moment.times(scaled)
    shift = np.einsum("bik,bi->bk", scaled, away)
    inside = inside + shift[..., None] * shift[:, None, :]
    squares = (moment.diagonal() + away * away) / fit.noise_variance
    explained = np.trace(np.linalg.solve(inner, inside), axis1=-2, axis2=-1)
    volume = np.log(fit.noise_variance).sum(axis=-1) + np.linalg.slogdet(inner)[1]
    constant = fit.dim * math.log(2 * math.pi)
    return np.asarray(-0.5 * (constant + volume + squares.sum(axis=-1) - explained))


def log_densities(fit: Factors, rows: Array) -> Array:
    """Log density ``(B, n)`` of each row ``(n, d)``, in nats; no ``d x d`` inverse (Woodbury)."""
    away = rows - fit.mean[:, None]
    scaled = fit.loadings / fit.noise_variance[..., None]
    inner = np.eye(fit.factors) + transposed(fit.loadings) @ scaled
    projected = away @ scaled
    explained = np.sum(projected * (projected @ np.linalg.inv(inner)), axis=-1)
    squares = np.sum(away**2 / fit.noise_variance[:, None], axis=-1)
    volume = np.log(fit.noise_variance).sum(axis=-1) + np.linalg.slogdet(inner)[1]
    constant = fit.dim * math.log(2 * math.pi)
    return np.asarray(-0.5 * (constant + volume[:, None] + squares - explained))


def sample(fit: Factors, count: int, rng: np.random.Generator) -> Array:
    """Rows ``(count, d)`` drawn from the first run's model."""
    hidden = rng.standard_normal((count, fit.factors))
    own = rng.standard_normal((count, fit.dim)) * np.sqrt(fit.noise_variance[0])
    return np.asarray(fit.mean[0] + hidden @ fit.loadings[0].T + own)


def scores(fit: Factors, rows: Array) -> Array:
    """Expected factors ``(B, n, k)`` of rows ``(n, d)``."""
    weights = _regression(fit)
    return np.asarray(rows @ weights - (fit.mean[:, None, :] @ weights))


def reconstruct(fit: Factors, rows: Array) -> Array:
    """Rows ``(n, d)`` as their expected factors draw them: ``(B, n, d)``."""
    return np.asarray(fit.mean[:, None, :] + scores(fit, rows) @ transposed(fit.loadings))


def reconstruction_error(fit: Factors, rows: Array) -> Array:
    """Mean over rows and coordinates of the squared error of :func:`reconstruct`: ``(B,)``."""
    centre, moment = _summary(rows)
    away = centre - fit.mean
    weights = _regression(fit)
    shift = np.einsum("bik,bi->bk", weights, away)
    product = moment.times(weights) + away[..., None] * shift[:, None, :]
    total = (moment.diagonal() + away * away).sum(axis=-1)
    crossed = np.sum(product * fit.loadings, axis=(-2, -1))
    projected, shape = transposed(weights) @ product, transposed(fit.loadings) @ fit.loadings
    drawn = np.sum(projected * shape, axis=(-2, -1))
    return np.asarray(np.maximum(total - 2 * crossed + drawn, 0.0) / fit.dim)


def _regression(fit: Factors) -> Array:
    """``(B, d, k)``: what turns a row's distance from the mean into its expected factors."""
    scaled = fit.loadings / fit.noise_variance[..., None]
    inner = np.eye(fit.factors) + transposed(fit.loadings) @ scaled
    return np.asarray(scaled @ np.linalg.inv(inner))


def _summary(rows: Array) -> tuple[Array, SecondMoment]:
    """Mean and centred second moment of rows."""
    centre = rows.mean(axis=0)
    return centre, second_moment_of(rows - centre)
