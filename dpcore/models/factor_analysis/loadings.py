"""Loadings beside a reference's: many say the same, and the eye wants those that look alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.models.shared.second_moments import transposed


@dataclass(frozen=True)
class AlignedFactors:
    """Fits turned to look like a reference; cosines ``(B, k)`` with each of its factors."""

    fit: Factors
    cosines: Array


def align(fit: Factors, reference: Factors) -> AlignedFactors:
    """Choose among loadings that say the same those most like a reference's (a batch of one).

    A rotation of the factors changes no covariance: the nearest one is taken (Schonemann 1966). It
    needs as many factors as the reference has.
    """
    left, _, right = np.linalg.svd(transposed(fit.loadings) @ reference.loadings[0])
    loadings = fit.loadings @ (left @ right)
    turned = Factors(fit.mean, loadings, fit.noise_variance)
    return AlignedFactors(turned, np.einsum("bkk->bk", cosines(turned, reference)).copy())


def cosines(fit: Factors, reference: Factors) -> Array:
    """``(B, k, k')`` between each fit's loadings and the reference's; 0 for loadings of 0."""
    return np.asarray(transposed(_unit(fit.loadings)) @ _unit(reference.loadings[0]))


def _unit(loadings: Array) -> Array:
    length = np.linalg.norm(loadings, axis=-2, keepdims=True)
    return np.asarray(loadings / np.where(length > 0.0, length, 1.0))
