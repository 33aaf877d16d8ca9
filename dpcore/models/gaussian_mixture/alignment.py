"""Alignment: a mixture has no first component, so each fit is matched to a reference before the eye
compares them (Hungarian algorithm; Kuhn 1955)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.models.gaussian_mixture.mathematics import Mixture

FOUND_AFFINITY = 0.8  # overlap of a group's shape with its exact one
FOUND_WEIGHT = 2.0  # and its size within this factor


@dataclass(frozen=True)
class Aligned:
    """Mixtures in the order of a reference with as many components.

    found ``(B, K)``: whether each of the reference's components is there: overlap at least
    :data:`FOUND_AFFINITY` and weight within a factor :data:`FOUND_WEIGHT`.
    """

    mixture: Mixture
    recovered: Mask


def align(mixture: Mixture, reference: Mixture) -> Aligned:
    """Match the components of B mixtures to those of one reference (a batch of one)."""
    from scipy.optimize import linear_sum_assignment

    overlap = affinity(mixture, reference)
    order = np.stack([linear_sum_assignment(-table.T)[1] for table in overlap])
    matched = np.take_along_axis(np.swapaxes(overlap, 1, 2), order[:, :, None], axis=2)[..., 0]
    weights = np.take_along_axis(mixture.weights, order, axis=1)
    ratio = np.maximum(weights, 1e-12) / np.maximum(reference.weights, 1e-12)
    sized = (ratio < FOUND_WEIGHT) & (ratio > 1 / FOUND_WEIGHT)
    runs = np.arange(mixture.runs)[:, None]
    return Aligned(
        Mixture(weights, mixture.means[runs, order], mixture.covariances[runs, order]),
        (matched >= FOUND_AFFINITY) & sized,
    )


def affinity(left: Mixture, right: Mixture) -> Array:
    """Bhattacharyya coefficient of every pair of components, ``(B, K, L)``: 1 alike, 0 apart.

    One of the batches may hold a single mixture. The integral of ``sqrt(p q)`` of two Gaussians.
    """
    first = replace(left, means=left.means[:, :, None], covariances=left.covariances[:, :, None])
    second = replace(right, means=right.means[:, None], covariances=right.covariances[:, None])
    middle = (first.covariances + second.covariances) / 2
    gap = np.broadcast_to(first.means - second.means, middle.shape[:-1])
    distance = np.einsum("...i,...i->...", gap, np.linalg.solve(middle, gap[..., None])[..., 0]) / 8
    log_dets = [np.linalg.slogdet(c)[1] for c in (middle, first.covariances, second.covariances)]
    shape = 0.5 * (log_dets[0] - 0.5 * (log_dets[1] + log_dets[2]))
    return np.asarray(np.exp(-distance - shape))
