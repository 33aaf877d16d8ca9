"""A Gaussian mixture: each row comes from one of K bell shapes; EM guesses which, then refits them.

Every array carries a leading axis of runs (noise draws x budgets), so a whole grid of fits is one
fit. The step here is the textbook's, on exact moments; that on released ones is in
``group_frames``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.mechanisms.gaussian import symmetric_to_coordinates
from dpcore.models.shared.group_means import farthest_first
from dpcore.models.shared.moments import (
    LEAST_VARIANCE,
    TINY,
    as_matrices,
    floored_eigenvalues,
    like_structure,
)
from dpcore.wall.statistics import Block, EStep, MixtureMoments, NoisyMoments, Structure

START_VARIANCE = 0.35
POINTS, ROUNDS = 4096, 20  # of the k-means fit from which a start's means are


@dataclass(frozen=True)
class Mixture:
    """B mixtures: weights ``(B, K)``, means ``(B, K, d)``, covariances ``(B, K, d, d)``."""

    weights: Array
    means: Array
    covariances: Array

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
    """A start that knows no data: means where groups would best stand in for rows of one round
    normal cloud, and round shapes of variance :data:`START_VARIANCE`, in a frame where all rows
    together have variance 1.

    Narrow shapes tell groups apart from the first step on (measured: with variance 1, five
    iterations on the bundled three groups end a hundred times farther from the optimum).
    """
    means = np.broadcast_to(_spread_out(components, dim, seed), (runs, components, dim))
    shapes = np.broadcast_to(START_VARIANCE * np.eye(dim), (runs, components, dim, dim))
    return Mixture(np.full((runs, components), 1.0 / components), means, shapes)


@cache
def _spread_out(components: int, dim: int, seed: int) -> Array:
    """k-means centres ``(K, d)`` of points drawn from a standard normal law."""
    points = np.random.default_rng([seed, components, dim]).standard_normal((POINTS, dim))
    centres = farthest_first(points, components, 0)
    for _ in range(ROUNDS):
        closeness = points @ centres.T - 0.5 * np.sum(centres**2, axis=1)
        member = closeness.argmax(axis=1)[:, None] == np.arange(components)
        centres = member.T @ points / np.maximum(member.sum(axis=0), 1)[:, None]
    return np.asarray(centres)


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
    """Log density of each row with each component ``(B, n, K)``, rows ``(n, d)``.

    Of distances to the means: in own units, rows may lie so far from 0 that their squares say
    nothing of them any more.
    """
    roots, joint = np.linalg.cholesky(mixture.covariances), []
    spread = math.sqrt(2 * math.pi) * np.diagonal(roots, axis1=-2, axis2=-1)
    with np.errstate(divide="ignore"):
        constant = np.log(mixture.weights) - np.log(spread).sum(axis=-1)
    for run, part in np.ndindex(constant.shape):
        away = (rows - mixture.means[run, part]) @ np.linalg.inv(roots[run, part]).T
        joint.append(constant[run, part] - 0.5 * np.sum(away**2, axis=1))
    return np.moveaxis(np.reshape(joint, (*constant.shape, len(rows))), 1, 2)


def sample(mixture: Mixture, count: int, rng: np.random.Generator) -> tuple[Array, Indices]:
    """Rows ``(count, d)`` and their components, drawn from the first run's mixture."""
    weights = mixture.weights[0] / mixture.weights[0].sum()
    component = rng.choice(len(weights), size=count, p=weights)
    values, vectors = np.linalg.eigh(mixture.covariances[0])
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    normal = rng.standard_normal((count, mixture.dim))
    rows = mixture.means[0][component] + np.einsum("nij,nj->ni", roots[component], normal)
    return rows, component


def m_step(noisy: NoisyMoments, rows: float, prior: Prior | None) -> Mixture:
    """The textbook's M step on exact moments (Bishop 2006, section 9.2.2); total.

    prior: that of the maximum a posteriori fit (DP-EM Eq. 12 and footnotes 5 to 8), or ``None``.
    """
    prior = prior or Prior(strength=0.0)
    counts = np.maximum(noisy.counts, TINY * max(rows, 1.0))
    centre, eye = noisy.sums / counts[..., None], np.eye(noisy.sums.shape[2])
    outer = centre[..., None] * centre[..., None, :]
    scatter = as_matrices(noisy) - counts[..., None, None] * outer
    held = prior.pseudo_counts("mean")
    pulled = (held * counts / (held + counts))[..., None, None] * outer
    scatter = like_structure(scatter + pulled, noisy) + prior.strength * prior.scatter * eye
    shapes = scatter / (counts + prior.pseudo_counts("shape", len(eye)))[..., None, None]
    weights = counts + prior.pseudo_counts("weight")
    return Mixture(
        weights / weights.sum(axis=-1, keepdims=True),
        noisy.sums / (counts + held)[..., None],
        floored_eigenvalues(shapes, np.full(counts.shape, LEAST_VARIANCE)),
    )
