"""The mixture's M step as DP-EM prints it, on the statistics for which its privacy can be stated.

Park, Foulds, Chaudhuri, Welling, *DP-EM*, AISTATS 2017, Eqs. 11-19 and footnotes 5-8. Divisions
are by the *released* counts: dividing by exact counts, as a literal reading of Eqs. 12 and 16 has
it, is not covered by the stated noise.
"""

from __future__ import annotations

import numpy as np

from dpcore.models.gaussian_mixture.mathematics import Mixture, Prior
from dpcore.models.shared.moments import as_matrices, defined, floored_eigenvalues, like_structure
from dpcore.wall.statistics import NoisyMoments

EIGENVALUE_FLOOR = 1e-3  # "project negative eigenvalues to some value near zero"


def start(runs: int, components: int, dim: int, seed: int) -> Mixture:
    """Latin hypercube means in ``[-0.5, 0.5]^d`` with a little jitter, unit shapes: no data."""
    rng = np.random.default_rng([seed, components, dim, 1])
    cells = np.stack([rng.permutation(components) for _ in range(dim)], axis=-1)
    means = (cells + rng.random((components, dim))) / components - 0.5
    means = means + 0.01 * rng.standard_normal((components, dim))
    return Mixture(
        np.full((runs, components), 1.0 / components),
        np.broadcast_to(means, (runs, components, dim)),
        np.broadcast_to(np.eye(dim), (runs, components, dim, dim)),
    )


def m_step(noisy: NoisyMoments, rows: int, prior: Prior | None) -> Mixture:
    """Eqs. 13-19 in the unit ball: noisy weights, then means over noisy counts, then covariances.

    Total: weights are clipped to [0, 1], counts floored at 1% of the rows, means put inside the
    unit ball, eigenvalues floored.
    """
    noisy = defined(noisy)
    dim = noisy.sums.shape[2]
    share = np.clip(noisy.counts / rows, 0.0, 1.0)
    share = np.maximum(share, 1e-12)
    share = share / share.sum(axis=-1, keepdims=True)
    counts = np.maximum(rows * share, max(1.0, 0.01 * rows))
    centre = noisy.sums / counts[..., None]
    outer = counts[..., None, None] * centre[..., None] * centre[..., None, :]
    scatter = like_structure(as_matrices(noisy) - outer, noisy)
    if prior is None:
        weights, means, shapes = share, centre, scatter / counts[..., None, None]
    else:
        weights = rows * share + prior.pseudo_counts("weight")
        weights = weights / weights.sum(axis=-1, keepdims=True)
        held = prior.pseudo_counts("mean")
        means = noisy.sums / (counts + held)[..., None]
        pull = held / (held + counts)
        pulled = like_structure(pull[..., None, None] * outer, noisy)
        shapes = (prior.strength * prior.scatter * np.eye(dim) + scatter + pulled) / (
            counts + prior.pseudo_counts("shape", dim)
        )[..., None, None]
    norm = np.linalg.norm(means, axis=-1, keepdims=True)
    means = means / np.maximum(norm, 1.0)
    return Mixture(
        weights, means, floored_eigenvalues(shapes, np.full(shapes.shape[:2], EIGENVALUE_FLOOR))
    )
