"""Factor analysis: a few hidden causes move many numbers together; the rest is each number's own.

A row is ``mean + W z + noise`` with k hidden normal factors z and noise of its own variance in each
coordinate. All that a fit needs to know of the data is one matrix of second moments. Once that is
released with noise, every step here is free. Each array carries a leading axis of runs.
Sources: Rubin, Thayer 1982 (EM); Park, Foulds, Chaudhuri, Welling 2017, section 6; Dwork, Talwar,
Thakurta, Zhang 2014 (Analyze Gauss: release once); Baik, Ben Arous, Peche 2005 and Capitaine,
Donati-Martin, Feral 2009 (what noise leaves visible).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from dpcore.models.moments import LARGEST, LEAST_VARIANCE, TINY, drawn_in, finite

Array = NDArray[np.float64]
PsiUpdate = Literal["paper", "exact"]

FULL_SPECTRUM_DIM = 512  # up to here every eigenvalue is found; beyond, only the largest ones
SPARE = 10  # eigenpairs sought beyond the factors where not all are
BLOCK_NUMBERS = 1 << 22  # numbers a product with rows may hold: 32 MiB
REACH = 1e3  # loadings beyond this many standard deviations of the data are cut: EM ran away


@dataclass(frozen=True)
class Factors:
    """B factor analyses: mean ``(B, d)``, loadings ``(B, d, k)``, noise_variance ``(B, d)``."""

    mean: Array
    loadings: Array
    noise_variance: Array

    def at(self, runs: slice) -> Factors:
        """Some of the runs."""
        return Factors(self.mean[runs], self.loadings[runs], self.noise_variance[runs])

    @property
    def runs(self) -> int:
        return int(self.mean.shape[0])

    @property
    def dim(self) -> int:
        return int(self.mean.shape[1])

    @property
    def factors(self) -> int:
        return int(self.loadings.shape[2])

    def covariance(self) -> Array:
        """``W W' + Psi`` as matrices ``(B, d, d)``."""
        shared = self.loadings @ _turned(self.loadings)
        step = np.arange(self.dim)
        shared[:, step, step] += self.noise_variance
        return np.asarray(shared)


class SecondMoment(Protocol):
    """A symmetric matrix for each run that is only ever multiplied with thin ones."""

    def times(self, thin: Array) -> Array:
        """The product with ``(B, d, m)``: ``(B, d, m)``."""
        ...

    def diagonal(self) -> Array:
        """``(B, d)``, or ``(1, d)`` where the runs share one matrix."""
        ...


@dataclass(frozen=True)
class Dense:
    """Matrices ``(B, d, d)`` that are there in full."""

    matrices: Array

    def times(self, thin: Array) -> Array:
        return np.asarray(self.matrices @ thin)

    def diagonal(self) -> Array:
        return np.asarray(np.diagonal(self.matrices, axis1=-2, axis2=-1))


@dataclass(frozen=True)
class Gram:
    """``X'X / n`` of rows ``(n, d)``, never formed: two thin products take its place."""

    rows: Array

    def times(self, thin: Array) -> Array:
        out = np.empty_like(thin)
        step = max(1, BLOCK_NUMBERS // (max(1, len(self.rows)) * thin.shape[2]))
        for first in range(0, len(thin), step):
            some = thin[first : first + step]
            flat = np.swapaxes(some, 0, 1).reshape(some.shape[1], -1)  # all runs in one product
            product = self.rows.T @ (self.rows @ flat) / max(1, len(self.rows))
            out[first : first + step] = np.swapaxes(product.reshape(-1, *some.shape[::2]), 0, 1)
        return out

    def diagonal(self) -> Array:
        return np.asarray(np.mean(self.rows * self.rows, axis=0)[None])


@dataclass(frozen=True)
class Spiked:
    """``matrix + V diag(gain) V'``: a matrix with some of its eigenvalues moved.

    base: the matrices, or only their diagonal part; vectors ``(B, d, m)``, gain ``(B, m)``.
    """

    base: SecondMoment
    vectors: Array
    gain: Array

    def times(self, thin: Array) -> Array:
        inner = self.gain[..., None] * (_turned(self.vectors) @ thin)
        return np.asarray(self.base.times(thin) + self.vectors @ inner)

    def diagonal(self) -> Array:
        moved = np.einsum("bij,bj,bij->bi", self.vectors, self.gain, self.vectors)
        return np.asarray(self.base.diagonal() + moved)


@dataclass(frozen=True)
class Diagonal:
    """Matrices with nothing beside their diagonal ``(B, d)``."""

    entries: Array

    def times(self, thin: Array) -> Array:
        return np.asarray(self.entries[..., None] * thin)

    def diagonal(self) -> Array:
        return self.entries


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
    floored at :data:`~dpcore.models.moments.LEAST_VARIANCE` of the mean variance.
    """
    moment, scale = _normalised(second_moment)
    scaled = Factors(
        begin.mean,
        begin.loadings / np.sqrt(scale)[:, None, None],
        begin.noise_variance / scale[:, None],
    )
    return _rescaled(_em(Dense(moment), scaled, iterations, psi_update), scale)


def maximum_likelihood(rows: Array, factors: int, iterations: int = 50) -> Factors:
    """A fit without noise to rows ``(n, d)``: one run. No ``d x d`` matrix is formed if n < d.

    **Guarantee**: none; this is what private fits are compared with.
    """
    mean = rows.mean(axis=0)
    centred = rows - mean
    moment = _second_moment_of(centred)
    values, vectors = _principal(centred, factors)
    begin = _spectral_start(moment, values[None], vectors[None], mean[None])
    return _em(moment, begin, iterations, "exact")


def proved(
    mean: Array,
    second_moment: Array,
    sd: Array,
    mean_sd: Array,
    factors: int,
    iterations: int = 50,
    radius: float = math.inf,
) -> Factors:
    """What can be seen through the noise, and nothing else; then factor analysis of that.

    mean ``(B, d)`` and second_moment ``(B, d, d)`` about the origin, as released; sd ``(B,)``: of
    the noise in a diagonal entry (isometric noise: beside the diagonal it is ``sd / sqrt 2``);
    mean_sd ``(B,)``: in each coordinate of the mean (zeros with a zero mean: no centring);
    radius: the public bound on a row's norm.

    Each correction vanishes with the noise, when this is EM of maximum likelihood: (1) the mean
    keeps the directions in which the second moment shows anything (:func:`_steadied`), and the
    covariance is freed of its noise; (2) eigenvalues that noise could have made are
    levelled, the others drawn in (:func:`visible_part`); (3) own variances are floored by what
    noise can hide; (4) the mean is drawn in. Factors that cannot be seen have loadings 0. Total.
    """
    raw, dim = finite(mean), mean.shape[-1]
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
    moment, values, vectors = visible_part(matrix, level, factors, radius**2 / scale)
    begin = _spectral_start(moment, values, vectors, drawn_in(raw, share * mean_sd**2))
    least = _least_variance(moment.diagonal(), level)
    return _rescaled(_em(moment, begin, iterations, "exact", least), scale)


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
            _largest(one, float(top), wanted) for one, top in zip(second_moment, edge, strict=True)
        ]
        values, vectors = (np.stack(parts) for parts in zip(*pairs, strict=True))
        centre = np.trace(second_moment, axis1=-2, axis2=-1) / dim
    else:
        values, vectors = np.linalg.eigh(second_moment)
        centre = _bulk_centre(values, edge)
    seen = np.abs(values - centre[:, None]) > edge[:, None]
    kept = vectors * seen[:, None, :]
    steady = np.einsum("bik,bk->bi", kept, np.einsum("bik,bi->bk", kept, mean))
    whole = harmless | (seen.all(axis=1) & (values.shape[1] < dim))
    share = np.where(whole, 1.0, seen.sum(axis=1) / dim)
    return np.where(whole[:, None], mean, steady), share


def _least_variance(diagonal: Array, level: Array) -> Array:
    """``(B, 1)``: no coordinate's own variance is claimed to be far below what noise can hide."""
    mean = diagonal.mean(axis=-1)
    edge = level * math.sqrt(diagonal.shape[-1])
    return np.asarray(np.minimum(edge, mean)[:, None] / 2)


# --- what noise leaves visible -------------------------------------------------------------------


def noise_edge(sd: float, dim: int) -> float:
    """Largest eigenvalue of isometric noise alone, for large ``dim``: ``sd sqrt(2 dim)``.

    Entries beside the diagonal have deviation ``s = sd / sqrt 2``, and a symmetric matrix of them
    has its eigenvalues within ``2 s sqrt(dim)`` (Wigner 1958; the diagonal does not matter).

    >>> round(noise_edge(0.01, 5000), 9)
    1.0
    """
    return sd * math.sqrt(2.0 * dim)


def least_visible(sd: float, dim: int) -> float:
    """The weakest factor that leaves any trace in a released matrix: ``sd sqrt(dim / 2)``.

    Below it the released matrix has no eigenvalue outside the noise, and its leading vectors are
    as good as random (Baik, Ben Arous, Peche 2005). Units: those of the second moment.
    """
    return noise_edge(sd, dim) / 2


def detectable(largest_eigenvalue: float, sd: float, dim: int) -> bool:
    """Whether a factor of this strength shows through noise of deviation ``sd``.

    >>> detectable(1.0, 0.0328, 4096)
    False
    """
    return largest_eigenvalue > least_visible(sd, dim)


def most_noise(dim: int, radius: float) -> float:
    """Noise deviation from which on nothing shows, whatever the rows.

    Rows of norm ``radius`` that all agree up to their sign have the eigenvalue ``radius^2``, and
    no rows have a larger one. The release's sensitivity over this is the least ``mu``, hence
    the least epsilon, at which there can be anything to see.
    """
    return radius**2 * math.sqrt(2.0 / dim)


def visible_part(
    matrix: Array, level: Array, factors: int, total: Array | None = None
) -> tuple[SecondMoment, Array, Array]:
    """The part of noisy covariances ``(B, d, d)`` that shows through noise, with the eigenpairs
    ``(B, k)`` and ``(B, d, k)`` of its largest eigenvalues, 0 where those cannot be seen.

    level ``(B,)``: noise deviation beside the diagonal, s; total ``(B,)``: the most that all
    variances can sum to, from the bound on a row. An eigenvalue lies at a distance y from
    the bulk's centre. If ``|y| <= 2 s sqrt d``, noise could have made it: it is put at the centre.
    Otherwise it is drawn in to ``sqrt(y^2 - 4 s^2 d)``, which is nearest to the truth in squared
    error (Donoho, Gavish 2014; Benaych-Georges, Nadakuditi 2011): the true distance
    ``(y + sqrt(y^2 - 4 s^2 d)) / 2`` times the squared cosine between the vector and the true one.
    The diagonal then gets back what its own noise cannot explain.
    Beyond :data:`FULL_SPECTRUM_DIM` only the largest eigenvalues are looked at; where all those
    are visible, the rest stays as it is.
    """
    edge = 2 * level * math.sqrt(matrix.shape[-1])
    most = np.full(len(matrix), math.inf) if total is None else total / matrix.shape[-1]
    if matrix.shape[-1] > FULL_SPECTRUM_DIM:
        return _largest_part(matrix, level, factors, most)
    values, vectors = np.linalg.eigh(matrix)
    centre = _plausible(_bulk_centre(values, edge), level, most)
    moved = np.maximum(centre[:, None] + _drawn_in(values - centre[:, None], edge), 0.0)
    part = Spiked(
        Diagonal(np.broadcast_to(centre[:, None], values.shape)), vectors, moved - centre[:, None]
    )
    repaired = _own_variances(part, matrix, level)
    top = slice(-1, -factors - 1, -1)
    seen = np.where(moved > centre[:, None], moved, 0.0)
    return Dense(_formed(repaired)), seen[:, top], np.ascontiguousarray(vectors[..., top])


def _drawn_in(distance: Array, edge: Array) -> Array:
    """Distances ``(B, m)`` from the centre, without what noise adds."""
    return np.asarray(
        np.sign(distance) * np.sqrt(np.maximum(distance**2 - edge[:, None] ** 2, 0.0))
    )


def _bulk_centre(values: Array, edge: Array) -> Array:
    """``(B,)``: mean of the eigenvalues ``(B, d)`` that lie within ``edge`` of it; never < 0."""
    centre = np.median(values, axis=-1)
    for _ in range(5):
        near = np.abs(values - centre[:, None]) <= edge[:, None]
        count = near.sum(axis=-1)
        centre = np.where(
            count > 0, np.where(near, values, 0.0).sum(axis=-1) / np.maximum(count, 1), centre
        )
    return np.maximum(centre, 0.0)


def _plausible(centre: Array, level: Array, most: Array) -> Array:
    """Centres ``(B,)`` at least as large as their noise and at most what the bound allows."""
    return np.asarray(np.minimum(np.maximum(centre, level), most))


def _own_variances(part: Spiked, matrix: Array, level: Array) -> Spiked:
    """Give each coordinate back the variance that exceeds the noise of its diagonal entry."""
    rest = np.diagonal(matrix, axis1=-2, axis2=-1) - part.diagonal()
    noise = 2.0 * level**2
    spread = np.var(rest, axis=-1)
    share = np.maximum(spread - noise, 0.0) / np.maximum(spread, TINY * TINY)
    back = part.base.diagonal() + share[:, None] * rest
    return Spiked(Diagonal(back), part.vectors, part.gain)


def _formed(part: Spiked) -> Array:
    """The matrices of a part with few dimensions."""
    full = (part.vectors * part.gain[:, None, :]) @ _turned(part.vectors)
    step = np.arange(full.shape[-1])
    full[:, step, step] += part.base.diagonal()
    return np.asarray(full)


def _largest_part(
    matrix: Array, level: Array, factors: int, most: Array
) -> tuple[SecondMoment, Array, Array]:
    """:func:`visible_part` from the largest eigenvalues alone, one run after the other."""
    runs, dim = matrix.shape[:2]
    edge = 2 * level * math.sqrt(dim)
    wanted = min(dim, factors + SPARE)
    values, vectors = np.empty((runs, wanted)), np.empty((runs, dim, wanted))
    for run in range(runs):
        values[run], vectors[run] = _largest(matrix[run], float(edge[run]), wanted)
    trace = np.trace(matrix, axis1=-2, axis2=-1)
    centre = np.maximum(trace / dim, 0.0)
    for _ in range(3):
        seen = values - centre[:, None] > edge[:, None]
        rest = trace - np.where(seen, values, 0.0).sum(-1)
        centre = _plausible(rest / np.maximum(dim - seen.sum(-1), 1), level, most)
    above = _drawn_in(np.maximum(values - centre[:, None], 0.0), edge)
    whole = (above[:, -1] > 0.0)[:, None]  # all that was sought is there: little noise, keep all
    gain = np.where(whole, above + centre[:, None] - values, above)
    base = Dense(matrix) if whole.all() else Diagonal(np.repeat(centre[:, None], dim, axis=1))
    if whole.any() and not whole.all():
        base = Dense(np.where(whole[..., None], matrix, centre[:, None, None] * np.eye(dim)))
    part = Spiked(base, vectors, gain)
    if not whole.any():
        part = _own_variances(part, matrix, level)
    top = slice(0, factors)
    found = np.where(above > 0.0, above + centre[:, None], 0.0)
    return part, found[:, top], np.ascontiguousarray(vectors[..., top])


def _largest(matrix: Array, edge: float, wanted: int) -> tuple[Array, Array]:
    """The largest eigenpairs of one symmetric matrix, falling: ``(m,)`` and ``(d, m)``.

    Subspace iteration with a Chebyshev polynomial that is small where noise has its eigenvalues
    (Zhou, Saad, Tiago, Chelikowsky 2006). Pairs inside the noise need not be exact: they are not
    used. The polynomial only finds the subspace, in single precision; eigenvalues come from the
    matrix itself. The start is random and knows no data.
    """
    dim = len(matrix)
    single = matrix.astype(np.float32)
    rng = np.random.default_rng([dim, wanted])
    basis = np.linalg.qr(rng.standard_normal((dim, wanted)))[0]
    trace = float(np.trace(matrix))
    centre, done = trace / dim, 0
    while done < PRODUCTS:
        values, basis = _ritz(single, basis)
        outside = values[values - centre > edge]
        centre = (trace - float(outside.sum())) / max(1, dim - len(outside))
        half = max(edge, float(values[-1]) - centre, SINGLE * abs(centre), TINY)
        strong = int(np.sum(values - centre > STRONG * half)) if done >= PRODUCTS / 3 else 0
        strong = min(strong, wanted - 1)
        reach = max(1.001, (float(values[strong]) - centre) / half)
        degree = int(np.clip(math.log(GROWTH) / math.acosh(reach), 2, 12))
        kept, known = np.split(basis, [strong], axis=1)[0], values[:strong] - centre
        sought = _chebyshev(single, basis[:, strong:], (kept, known), (centre, half), degree)
        basis = np.linalg.qr(np.concatenate([kept, sought], axis=1))[0]
        done += degree + 1
    return _ritz(matrix, basis)


PRODUCTS = 60  # with the matrix, for one run
GROWTH = 1e5  # of the largest eigenvalue in one polynomial; more drowns the others in rounding
STRONG = 1.5  # times the noise's edge: such pairs are found first, then kept out of the polynomial
SINGLE = 1e-6  # of the centre: narrower bands drown in single precision


def _ritz(matrix: NDArray[np.floating], basis: Array) -> tuple[Array, Array]:
    """What a subspace knows of the eigenpairs, falling."""
    product = np.asarray(matrix @ basis.astype(matrix.dtype), dtype=np.float64)
    values, turn = np.linalg.eigh(basis.T @ product)
    return values[::-1], np.ascontiguousarray(basis @ turn[:, ::-1])


def _chebyshev(
    matrix: NDArray[np.float32],
    thin: Array,
    known: tuple[Array, Array],
    band: tuple[float, float],
    degree: int,
) -> Array:
    """A Chebyshev polynomial of the matrix without its known pairs, at most 1 within the band.

    known: vectors ``(d, m)`` and their distances ``(m,)`` from the centre; band: centre and half.
    """
    vectors, distances = known[0].astype(np.float32), known[1].astype(np.float32)[:, None]
    middle, slope = np.float32(band[0]), np.float32(1.0 / band[1])

    def moved(some: NDArray[np.float32]) -> NDArray[np.float32]:
        away = matrix @ some - middle * some - vectors @ (distances * (vectors.T @ some))
        return np.asarray(slope * away, dtype=np.float32)

    before = thin.astype(np.float32)
    now = moved(before)
    for _ in range(degree - 1):
        before, now = now, np.float32(2.0) * moved(now) - before
        size = np.linalg.norm(now.astype(np.float64), axis=0)  # its square is no single number
        scale = (1.0 / np.maximum(size, 1e-30)).astype(np.float32)
        before, now = before * scale, now * scale
    return np.asarray(now, dtype=np.float64)


# --- EM ------------------------------------------------------------------------------------------


def _em(
    moment: SecondMoment,
    begin: Factors,
    iterations: int,
    psi_update: PsiUpdate,
    least: Array | float = 0.0,
) -> Factors:
    """EM from second moments whose mean variance is about 1; total."""
    diagonal = np.broadcast_to(moment.diagonal(), begin.noise_variance.shape)
    size = np.maximum(np.abs(diagonal).mean(axis=-1, keepdims=True), TINY)
    floor = np.maximum(least, LEAST_VARIANCE * size)
    loadings, noise = begin.loadings, np.maximum(begin.noise_variance, floor)
    eye = np.eye(begin.factors)
    for _ in range(iterations):
        scaled = loadings / noise[..., None]
        spread = np.linalg.inv(eye + _turned(loadings) @ scaled)  # of the factors, given a row
        weights = scaled @ spread
        product = moment.times(weights)
        seen = _without_negative(_turned(weights) @ product)
        old, loadings = loadings, product @ _inverse(spread + seen)
        loadings = _within_reach(loadings, size)
        used = old if psi_update == "paper" else loadings
        noise = np.maximum(diagonal - np.sum(used * product, axis=-1), floor)
    return Factors(begin.mean, loadings, noise)


def _without_negative(small: Array) -> Array:
    """Symmetric ``(B, k, k)`` with negative eigenvalues put to 0: others only where it has some."""
    even = (small + _turned(small)) / 2
    values, vectors = np.linalg.eigh(even)
    if values.min(initial=0.0) >= 0.0:
        return np.asarray(even)
    return np.asarray((vectors * np.maximum(values, 0.0)[:, None, :]) @ _turned(vectors))


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


NOT_ABOVE = 1e-9  # of the mean variance: what rounding leaves of an eigenvalue at the average


def _normalised(matrix: Array) -> tuple[Array, Array]:
    """Symmetric, finite matrices of mean variance about 1, with the factor ``(B,)`` taken out."""
    safe = matrix if np.all(np.abs(matrix) <= LARGEST) else finite(matrix)
    size = np.abs(np.diagonal(safe, axis1=-2, axis2=-1)).mean(axis=-1)
    largest = np.max(np.abs(safe), axis=(-2, -1), initial=0.0)
    scale = np.maximum(size, largest / LARGEST_RATIO)
    scale = np.where(scale > SMALLEST, scale, 1.0)
    return (safe + _turned(safe)) * (0.5 / scale)[:, None, None], scale


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


def _second_moment_of(rows: Array) -> SecondMoment:
    """``X'X / n``, formed where that is the smaller of the two."""
    if len(rows) <= rows.shape[1]:
        return Gram(rows)
    return Shared(rows.T @ rows / len(rows))


@dataclass(frozen=True)
class Shared:
    """One matrix ``(d, d)`` for all runs."""

    matrix: Array

    def times(self, thin: Array) -> Array:
        return np.asarray(self.matrix @ thin)

    def diagonal(self) -> Array:
        return np.asarray(np.diagonal(self.matrix)[None])


# --- what a fit says -----------------------------------------------------------------------------


def log_density(fit: Factors, rows: Array) -> Array:
    """Mean log density ``(B,)`` of rows ``(n, d)``, in nats; no ``d x d`` inverse (Woodbury).

    The mean over rows depends on their mean and second moment alone, so each is read once.
    """
    centre, moment = _summary(rows)
    away = centre - fit.mean
    scaled = fit.loadings / fit.noise_variance[..., None]
    inner = np.eye(fit.factors) + _turned(fit.loadings) @ scaled
    inside = _turned(scaled) @ moment.times(scaled)
    shift = np.einsum("bik,bi->bk", scaled, away)
    inside = inside + shift[..., None] * shift[:, None, :]
    squares = (moment.diagonal() + away * away) / fit.noise_variance
    explained = np.trace(np.linalg.solve(inner, inside), axis1=-2, axis2=-1)
    volume = np.log(fit.noise_variance).sum(axis=-1) + np.linalg.slogdet(inner)[1]
    constant = fit.dim * math.log(2 * math.pi)
    return np.asarray(-0.5 * (constant + volume + squares.sum(axis=-1) - explained))


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
    return np.asarray(fit.mean[:, None, :] + scores(fit, rows) @ _turned(fit.loadings))


def reconstruction_error(fit: Factors, rows: Array) -> Array:
    """Mean over rows and coordinates of the squared error of :func:`reconstruct`: ``(B,)``."""
    centre, moment = _summary(rows)
    away = centre - fit.mean
    weights = _regression(fit)
    shift = np.einsum("bik,bi->bk", weights, away)
    product = moment.times(weights) + away[..., None] * shift[:, None, :]
    total = (moment.diagonal() + away * away).sum(axis=-1)
    crossed = np.sum(product * fit.loadings, axis=(-2, -1))
    seen, shape = _turned(weights) @ product, _turned(fit.loadings) @ fit.loadings
    drawn = np.sum(seen * shape, axis=(-2, -1))
    return np.asarray(np.maximum(total - 2 * crossed + drawn, 0.0) / fit.dim)


def _regression(fit: Factors) -> Array:
    """``(B, d, k)``: what turns a row's distance from the mean into its expected factors."""
    scaled = fit.loadings / fit.noise_variance[..., None]
    inner = np.eye(fit.factors) + _turned(fit.loadings) @ scaled
    return np.asarray(scaled @ np.linalg.inv(inner))


def _summary(rows: Array) -> tuple[Array, SecondMoment]:
    """Mean and centred second moment of rows."""
    centre = rows.mean(axis=0)
    return centre, _second_moment_of(rows - centre)


# --- beside a reference --------------------------------------------------------------------------


@dataclass(frozen=True)
class AlignedFactors:
    """Fits turned to look like a reference; cosines ``(B, k)`` with each of its factors."""

    fit: Factors
    cosines: Array


def align(fit: Factors, reference: Factors, *, rotate: bool = True) -> AlignedFactors:
    """Choose among loadings that say the same those most like a reference's (a batch of one).

    A rotation of the factors changes no covariance: the nearest one is taken (Schonemann 1966).
    With ``rotate=False`` only order and signs are chosen (Kuhn 1955), by the cosines' sizes.
    Both need as many factors as the reference has.
    """
    target = reference.loadings[0]
    if rotate:
        left, _, right = np.linalg.svd(_turned(fit.loadings) @ target)
        loadings = fit.loadings @ (left @ right)
    else:
        table = cosines(fit, reference)
        order = np.stack([linear_sum_assignment(-np.abs(one.T))[1] for one in table])
        loadings = np.take_along_axis(fit.loadings, order[:, None, :], axis=2)
        sign = np.sign(np.einsum("bik,ik->bk", loadings, target))
        loadings = loadings * np.where(sign == 0.0, 1.0, sign)[:, None, :]
    turned = Factors(fit.mean, loadings, fit.noise_variance)
    return AlignedFactors(turned, np.einsum("bkk->bk", cosines(turned, reference)).copy())


def cosines(fit: Factors, reference: Factors) -> Array:
    """``(B, k, k')`` between each fit's loadings and the reference's; 0 for loadings of 0."""
    return np.asarray(_turned(_unit(fit.loadings)) @ _unit(reference.loadings[0]))


def affinity(fit: Factors, reference: Factors) -> Array:
    """Share ``(B,)`` of the reference's space of factors that each fit's space contains.

    1: the same space; ``k / d``: no better than chance; 0: nothing was found.
    """
    overlap = _turned(_basis(fit.loadings)) @ _basis(reference.loadings)[0]
    return np.asarray(np.sum(overlap * overlap, axis=(-2, -1)) / reference.factors)


def _basis(loadings: Array) -> Array:
    """Orthonormal columns ``(B, d, k)`` that span the loadings; zeros where they span less."""
    left, sizes, _ = np.linalg.svd(loadings, full_matrices=False)
    kept = sizes > SPANS * np.maximum(sizes[:, :1], TINY)
    return np.asarray(left * kept[:, None, :])


SPANS = 1e-7


def _unit(loadings: Array) -> Array:
    length = np.linalg.norm(loadings, axis=-2, keepdims=True)
    return np.asarray(loadings / np.where(length > 0.0, length, 1.0))


def _turned(matrix: Array) -> Array:
    return np.swapaxes(matrix, -1, -2)
