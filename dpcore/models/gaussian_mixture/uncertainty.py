"""What the intervals of a mixture of Gaussians need."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.intervals import Arrays, Uncertainty, by_places
from dpcore.models.gaussian_mixture import MixtureSettings
from dpcore.models.gaussian_mixture.mathematics import Mixture, log_density, sample
from dpcore.models.gaussian_mixture.parameters import MixtureParameters
from dpcore.models.shared.moments import floored_eigenvalues

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.fitting.result import Fit

ROWS = 1_000  # drawn to compare densities on
CAUTION = 0.2  # of what noise costs: released groups are shrunk, and show too little of their gain
FLOOR, LEAST_SHARE = 1e-3, 1e-6  # of a covariance's largest eigenvalue; of all rows


def _refuse(settings: MixtureSettings) -> str:
    if settings.components > 1:
        return ""
    return "a single Gaussian is shrunk towards the middle by as much as noise may have moved it"


def _groups(weights: Array, means: Array, covariances: Array) -> Mixture:
    """Groups of several runs, with shares and covariances as they are once noise has moved them."""
    weights = np.clip(weights, LEAST_SHARE, None)
    floor = FLOOR * np.maximum(np.linalg.eigvalsh(covariances)[..., -1], FLOOR**3)
    return Mixture(
        weights / weights.sum(axis=1, keepdims=True), means, floored_eigenvalues(covariances, floor)
    )


def _single(weights: Array, means: Array, covariances: Array) -> tuple[Array, Array]:
    """Mean ``(d,)`` and covariance ``(d, d)`` of all rows of a mixture."""
    weights = weights / weights.sum()
    middle = weights @ means
    away = means - middle
    return middle, np.einsum("k,kij->ij", weights, covariances) + (weights * away.T) @ away


def _alone(fit: Fit, count: int, rng: np.random.Generator) -> pd.DataFrame:
    groups: MixtureParameters = fit.parameters
    mean, covariance = _single(groups.weights, groups.means, groups.covariances)
    whole = replace(groups, weights=np.ones(1), means=mean[None], covariances=covariance[None])
    return whole.sample(count, rng)


def _gained(released: Arrays, scale: Array) -> float:
    """Log-likelihood of a row of a mixture that its groups gain over one Gaussian."""
    means, covariances = released["means"] / scale, released["covariances"] / np.outer(scale, scale)
    groups = _groups(released["weights"][None], means[None], covariances[None])
    mean, covariance = _single(groups.weights[0], means, groups.covariances[0])
    single = Mixture(np.ones((1, 1)), mean[None, None], covariance[None, None])
    rows, _ = sample(groups, ROWS, np.random.default_rng(0))
    return float(log_density(groups, rows)[0] - log_density(single, rows)[0])


def _explained(released: Arrays, moved: Arrays, scale: Array) -> float:
    """Log-likelihood of a row that the groups gain over one Gaussian, less a part of what noise
    may cost them.

    Rows are drawn from the released groups, as if these were true; one Gaussian has their mean and
    covariance. Measured on four bundled tables and one cloud, at epsilon 0.1 to 3: of 42 fits that
    were worse than an exact single Gaussian it doubts 37, and of 38 that were better it doubts 2,
    which were so by less than 0.05.
    """
    units = np.outer(scale, scale)
    means, covariances = released["means"] / scale, released["covariances"] / units
    groups = _groups(released["weights"][None], means[None], covariances[None])
    after = _groups(
        released["weights"] + moved["weights"],
        means + moved["means"] / scale,
        covariances + moved["covariances"] / units,
    )
    rows, _ = sample(groups, ROWS, np.random.default_rng(0))
    cost = np.median(log_density(groups, rows)[0] - log_density(after, rows))
    return _gained(released, scale) - CAUTION * float(cost)


UNCERTAINTY = Uncertainty(
    ("weights", "means", "covariances"),
    "means",
    population=False,  # they held in 69 to 90%
    widen=1.25,
    match=by_places("means", "weights", "covariances"),
    shares=("weights",),
    variances=("covariances",),
    refuse=_refuse,
    explained=_explained,
    alone=_alone,
    gained=_gained,
)
