"""A Gaussian mixture: each row comes from one of K bell shapes; EM guesses which, then refits them.

Every array carries a leading axis of runs (noise draws x budgets), so a whole grid of fits is one
fit. The M step is total: any real statistics give a valid mixture. Without noise each correction
below vanishes and the step is the textbook one (Bishop 2006, section 9.2.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.mechanisms.gaussian import symmetric_to_coordinates
from dpcore.models.shared.moments import (
    LEAST_VARIANCE,
    TINY,
    as_matrices,
    defined,
    drawn_in,
    floored_eigenvalues,
    inside,
    like_structure,
    per_coordinate_sd,
)
from dpcore.wall.statistics import Block, EStep, MixtureMoments, NoisyMoments, Structure

START_VARIANCE = 0.35


@dataclass(frozen=True)
class Mixture:
    """B mixtures: weights ``(B, K)``, means ``(B, K, d)``, covariances ``(B, K, d, d)``."""

    weights: Array
    means: Array
    covariances: Array

    def at(self, runs: slice) -> Mixture:
        """Some of the runs."""
        return Mixture(self.weights[runs], self.means[runs], self.covariances[runs])

    @property
    def runs(self) -> int:
        """How many: B."""
        return int(self.weights.shape[0])

    @property
    def components(self) -> int:
        """Groups: K."""
        return int(self.weights.shape[1])

    @property
    def dim(self) -> int:
        """Columns: d."""
        return int(self.means.shape[2])


@dataclass(frozen=True)
class Prior:
    """Conjugate prior of the maximum a posteriori fit (DP-EM, after Eq. 12).

    concentration: Dirichlet; mean_weight, degrees (beyond d), scatter: normal-inverse-Wishart
    around the origin of the frame. strength: the power to which the whole prior is raised. ``None``
    instead of a prior means maximum likelihood.
    """

    concentration: float = 2.0
    mean_weight: float = 1.0
    degrees: float = 2.0
    scatter: float = 0.1
    strength: float = 1.0

    def pseudo_counts(self, what: str, dim: int = 0) -> float:
        """What it adds to the counts for weights, means or shapes (DP-EM, footnotes 5-8)."""
        counts = {
            "weight": self.concentration - 1.0,
            "mean": self.mean_weight,
            "shape": (self.degrees + dim) + dim + 2.0,
        }
        return self.strength * counts[what]


def start(runs: int, components: int, dim: int, seed: int) -> Mixture:
    """A start that knows no data: means spread over a sphere of radius ``sqrt(d)/2``, round shapes
    of variance :data:`START_VARIANCE` in a frame where all rows together have variance 1.

    Narrow shapes tell groups apart from the first step on (measured: with variance 1, five
    iterations on the bundled three groups end a hundred times farther from the optimum). Of 256
    random sets of directions the one whose nearest pair is farthest apart is taken, so two
    components rarely begin as one.
    """
    rng = np.random.default_rng([seed, components, dim])
    directions = rng.standard_normal((256, components, dim))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    if components > 1:
        cosines = directions @ np.swapaxes(directions, 1, 2) - 4.0 * np.eye(components)
        directions = directions[np.argmin(cosines.max(axis=(1, 2)))]
    else:
        directions = np.zeros((components, dim))
    means = np.broadcast_to(directions * math.sqrt(dim) / 2, (runs, components, dim))
    shapes = np.broadcast_to(START_VARIANCE * np.eye(dim), (runs, components, dim, dim))
    return Mixture(np.full((runs, components), 1.0 / components), means, shapes)


def natural_coefficients(mixture: Mixture, structure: Structure) -> Array:
    """``(B, p, K)`` such that ``features @ coefficients`` is each component's joint log density.

    Features are ``1, y, s(y)`` as :class:`~dpcore.wall.statistics.mixture_moments.MixtureMoments`
    builds them.
    """
    dim = mixture.dim
    with np.errstate(divide="ignore"):
        log_weight = np.log(mixture.weights)
    if structure == "full":
        precision = np.linalg.inv(mixture.covariances)
        log_det = np.linalg.slogdet(mixture.covariances)[1]
        square = symmetric_to_coordinates((precision + np.swapaxes(precision, -1, -2)) / 2)
        linear = np.einsum("bkij,bkj->bki", precision, mixture.means)
    else:
        variance = np.diagonal(mixture.covariances, axis1=-2, axis2=-1)
        square, log_det = 1.0 / variance, np.log(variance).sum(-1)
        linear = mixture.means / variance
        square = square if structure == "diag" else square[..., :1]
    constant = log_weight - 0.5 * (
        log_det + np.einsum("bki,bki->bk", linear, mixture.means) + dim * math.log(2 * math.pi)
    )
    stacked = np.concatenate([constant[..., None], linear, -0.5 * square], axis=-1)
    return np.ascontiguousarray(np.swapaxes(stacked, -1, -2))


def responsibilities(mixture: Mixture, structure: Structure) -> EStep:
    """The E step (DP-EM Eq. 11): how likely each row belongs to each component, ``(b, K, m)``."""
    coefficients = natural_coefficients(mixture, structure)

    def e_step(block: Block, runs: slice) -> Array:
        weights = block.scores(coefficients[runs])
        weights -= weights.max(axis=-2, keepdims=True)
        np.exp(weights, out=weights)
        weights *= 1.0 / weights.sum(axis=-2, keepdims=True)  # K products for one division
        return weights

    return e_step


def log_density(mixture: Mixture, rows: Array) -> Array:
    """Mean log density ``(B,)`` of rows ``(n, d)``, both in the same coordinates.

    Blocks of rows and runs keep the work in cache; nothing of size ``B x n`` is kept.
    """
    shape = MixtureMoments(mixture.components, mixture.dim, "full", 1.0, 1.0, 1.0, 1.0)
    coefficients = np.swapaxes(natural_coefficients(mixture, "full"), -1, -2)
    total = np.zeros(mixture.runs)
    step = max(256, (1 << 16) // shape.size)
    together = max(1, (1 << 18) // (step * mixture.components))
    for first in range(0, len(rows), step):
        features = shape.features(rows[first : first + step].T[None])[0]
        for run in range(0, mixture.runs, together):
            some = coefficients[run : run + together]
            joint = some.reshape(-1, shape.size) @ features  # all runs in one product
            joint = joint.reshape(*some.shape[:2], -1)
            top = joint.max(axis=-2, keepdims=True)
            joint -= top
            np.exp(joint, out=joint)
            inner = np.log(joint.sum(axis=-2)) + top[..., 0, :]
            total[run : run + together] += inner.sum(axis=-1)
    return total / max(1, len(rows))


def log_joint(mixture: Mixture, rows: Array) -> Array:
    """Log density of each row with each component ``(B, n, K)``, rows ``(n, d)``."""
    shape = MixtureMoments(mixture.components, mixture.dim, "full", 1.0, 1.0, 1.0, 1.0)
    features = shape.features(rows.T[None])[0]
    return np.asarray(np.swapaxes(features, 0, 1) @ natural_coefficients(mixture, "full"))


def sample(
    mixture: Mixture, count: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.intp]]:
    """Rows ``(count, d)`` and their components, drawn from the first run's mixture."""
    weights = mixture.weights[0] / mixture.weights[0].sum()
    component = rng.choice(len(weights), size=count, p=weights)
    values, vectors = np.linalg.eigh(mixture.covariances[0])
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    normal = rng.standard_normal((count, mixture.dim))
    rows = mixture.means[0][component] + np.einsum("nij,nj->ni", roots[component], normal)
    return rows, component


@dataclass(frozen=True)
class Memory:
    """What an M step remembers of earlier releases (all of it already noisy).

    noise ``(B,)``: variance in the squares of the last release. weight ``(B,)``: what all releases
    so far are worth in releases like the last. ``total_*``: mean over releases, each by its worth,
    of the sums over components, which every release measures anew though they never change;
    averaged moments with the share of the last release's noise variance that is left in them.
    """

    noise: Array
    weight: Array
    total_sums: Array
    total_squares: Array
    counts: Array
    sums: Array
    squares: Array
    variance_left: Array


def m_step(
    noisy: NoisyMoments,
    rows: Array | float,
    radius: float,
    memory: Memory | None,
    prior: Prior | None,
) -> tuple[Mixture, Memory]:
    """New parameters from noisy moments; total, and plain EM when the noise is zero.

    rows: the number of rows where public, or a noisy one ``(B,)``. Corrections, each of which
    vanishes with the noise: (1) counts shifted to sum to the number of rows; (2) sums and squares
    shifted to the average, over iterations, of their totals; (3) moments averaged over iterations
    where the noise is strong; (4) counts floored; (5) sums kept inside ``radius`` x counts;
    (6) means drawn in by their noise, and the scatter freed of it; (7) shapes drawn towards a
    common shape of all groups, which is itself drawn towards the frame's identity; (8) eigenvalues
    floored. Repairing is free: it reads only released values.
    """
    noisy = defined(noisy)
    squares = as_matrices(noisy)
    dim = noisy.sums.shape[2]
    squares_sd = per_coordinate_sd(noisy, dim)
    memory = _remember(noisy, squares, squares_sd, rows, memory)
    counts = _floored(memory.counts, noisy.counts_sd, rows)
    sums = inside(memory.sums, counts, radius)
    left = memory.variance_left[:, None] * noisy.sums_sd[:, None] ** 2 / counts
    means = sums / _with_prior(counts, prior, "mean")[..., None]
    means = drawn_in(means, left / counts)
    eye = np.eye(dim)
    centre = sums / counts[..., None]
    scatter = memory.squares - counts[..., None, None] * centre[..., None] * centre[..., None, :]
    held = 0.0 if prior is None else prior.pseudo_counts("mean")
    if held:
        shrink = held * counts / (held + counts)
        scatter = scatter + shrink[..., None, None] * centre[..., None] * centre[..., None, :]
    scatter = like_structure(scatter, noisy) + left[..., None, None] * eye
    relative = squares_sd[:, None] * math.sqrt(dim) / counts
    pull = squares_sd[:, None] * (2.0 + relative)
    extra = 0.0 if prior is None else prior.strength * prior.scatter
    common = _common_shape(memory, means, counts, squares_sd, rows, noisy)
    shapes = (scatter + pull[..., None, None] * common[:, None] + extra * eye) / (
        _with_prior(counts, prior, "shape", dim) + pull
    )[..., None, None]
    floor = np.minimum(HIGHEST_FLOOR, relative) + LEAST_VARIANCE
    weights = _with_prior(counts, prior, "weight")
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return Mixture(weights, means, floored_eigenvalues(shapes, floor)), memory


def _remember(
    noisy: NoisyMoments, squares: Array, squares_sd: Array, rows: Array | float, old: Memory | None
) -> Memory:
    """Corrections (1) to (3): totals made consistent, moments averaged where noise is strong."""
    components = noisy.counts.shape[1]
    public = np.broadcast_to(np.asarray(rows, dtype=float), noisy.counts.shape[:1])
    counts = noisy.counts + ((public - noisy.counts.sum(-1)) / components)[:, None]
    total_sums, total_squares = noisy.sums.sum(1), squares.sum(1)
    noise, weight = squares_sd**2, np.ones(len(counts))
    if old is not None:
        louder = _ratio(old.noise, noise)
        weight = old.weight / louder + 1.0
        total_sums = _blend(old.total_sums, total_sums, 1.0 / weight)
        total_squares = _blend(old.total_squares, total_squares, 1.0 / weight)
    sums = noisy.sums + (total_sums - noisy.sums.sum(1))[:, None] / components
    squares = squares + (total_squares - squares.sum(1))[:, None] / components
    if old is None:
        left = np.ones(len(counts))
        return Memory(noise, weight, total_sums, total_squares, counts, sums, squares, left)
    relative = squares_sd * components / np.maximum(public, 1.0)
    rate = np.maximum(1.0 / (1.0 + (relative / AVERAGE_FROM) ** 2), 1.0 / weight)
    return Memory(
        noise,
        weight,
        total_sums,
        total_squares,
        _blend(old.counts, counts, rate),
        _blend(old.sums, sums, rate),
        _blend(old.squares, squares, rate),
        (1 - rate) ** 2 * old.variance_left * louder + rate**2,
    )


def _common_shape(
    memory: Memory,
    means: Array,
    counts: Array,
    squares_sd: Array,
    rows: Array | float,
    noisy: NoisyMoments,
) -> Array:
    """Shape ``(B, d, d)`` towards which groups' shapes are drawn, in the frame.

    It lies between the identity and the groups' mean covariance: what means ``(B, K, d)`` and
    counts ``(B, K)`` leave of the squares of all rows, which every release measures anew. Groups of
    unlike shapes are told apart where noise is weak, so there it is the identity.
    """
    components, dim = means.shape[1:]
    number = np.broadcast_to(np.asarray(rows, dtype=float), squares_sd.shape)
    shares = counts / counts.sum(axis=1, keepdims=True)
    between = np.swapaxes(means * shares[..., None], 1, 2) @ means
    within = memory.total_squares / number[:, None, None] - between
    level = squares_sd * np.sqrt(components * dim / 2 / memory.weight) / number
    relative = squares_sd * components * math.sqrt(dim) / number
    share = relative / (relative + COMMON_FROM) / (1.0 + level) ** 2  # 1 + 2 level + level^2
    eye = np.eye(dim)
    within = like_structure(within[:, None], noisy)[:, 0]
    return np.asarray(eye + share[:, None, None] * (within - eye))


def _ratio(before: Array, now: Array) -> Array:
    """How much more variance the earlier noise had, ``(B,)``; 1 where there is none now."""
    some = np.where(now > 0.0, now, 1.0)
    return np.asarray(np.where(now > 0.0, np.clip(before / some, TINY, 1.0 / TINY), 1.0))


def _blend(before: Array, now: Array, share: Array) -> Array:
    """``before`` moved towards ``now`` by ``share (B,)`` of the way."""
    weight = share.reshape(-1, *[1] * (now.ndim - 1))
    return np.asarray(before + weight * (now - before))


# Relative noise in a component's squares at which a new release counts as much as the past, and at
# which a common shape of the groups counts as much as that of all rows.
AVERAGE_FROM, COMMON_FROM = 0.14, 0.3
HIGHEST_FLOOR = 0.15  # of a group's eigenvalues, where that of all rows is 1


def _floored(counts: Array, counts_sd: Array, rows: Array | float) -> Array:
    """Correction (4): each count at least 2 noise deviations, but not above 1% of the rows."""
    public = np.broadcast_to(np.asarray(rows, dtype=float), counts.shape[:1])
    least = np.minimum(0.01 * public, 2.0 * counts_sd) + TINY * np.maximum(public, 1.0)
    safe = np.where(np.isfinite(counts), counts, 0.0)
    return np.asarray(np.maximum(safe, least[:, None]))


def _with_prior(counts: Array, prior: Prior | None, what: str, dim: int = 0) -> Array:
    """Counts plus the prior's pseudo-counts."""
    return counts if prior is None else counts + prior.pseudo_counts(what, dim)
