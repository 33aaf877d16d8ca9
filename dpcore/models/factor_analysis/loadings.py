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


def align(fit: Factors, reference: Factors, *, rotate: bool = True) -> AlignedFactors:
    """Choose among loadings that say the same those most like a reference's (a batch of one).

    A rotation of the factors changes no covariance: the nearest one is taken (Schonemann 1966).
    With ``rotate=False`` only order and signs are chosen (Kuhn 1955), by the cosines' sizes.
    Both need as many factors as the reference has.
    """
    from scipy.optimize import linear_sum_assignment

    target = reference.loadings[0]
    if rotate:
        left, _, right = np.linalg.svd(transposed(fit.loadings) @ target)
        loadings = fit.loadings @ (left @ right)
    else:
        table = cosines(fit, reference)
        order = np.stack([linear_sum_assignment(-np.abs(similarity.T))[1] for similarity in table])
        loadings = np.take_along_axis(fit.loadings, order[:, None, :], axis=2)
        sign = np.sign(np.einsum("bik,ik->bk", loadings, target))
        loadings = loadings * np.where(sign == 0.0, 1.0, sign)[:, None, :]
    turned = Factors(fit.mean, loadings, fit.noise_variance)
    return AlignedFactors(turned, np.einsum("bkk->bk", cosines(turned, reference)).copy())


def cosines(fit: Factors, reference: Factors) -> Array:
    """``(B, k, k')`` between each fit's loadings and the reference's; 0 for loadings of 0."""
    return np.asarray(transposed(_unit(fit.loadings)) @ _unit(reference.loadings[0]))


def _unit(loadings: Array) -> Array:
    length = np.linalg.norm(loadings, axis=-2, keepdims=True)
    return np.asarray(loadings / np.where(length > 0.0, length, 1.0))
