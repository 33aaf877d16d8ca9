"""Probabilistic PCA by variational Bayes: how many factors there are is part of the answer.

A row is ``mean + W x + noise``: k hidden standard normal factors x, and noise of one variance in
all columns. Each column of W has a normal prior with a precision of its own, which the fit learns
(automatic relevance determination, ARD): a factor that the rows do not support gets an infinite
precision, and loadings of 0.

The rows enter through their number, mean and covariance alone. The posteriors of W and x keep the
covariance's own eigenvectors when they begin there, so a step is a few numbers a factor.
Source: Bishop 1999, Variational principal components.
"""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.models.factor_analysis.mathematics import Denoised, Factors, denoised
from dpcore.models.shared.moments import LEAST_VARIANCE, TINY
from dpcore.models.shared.second_moments import AllRows

PRIOR = 1e-6  # shape and rate of the Gamma priors of all precisions, at a mean variance of 1
STEPS = 2000  # at most; they cost no privacy
SETTLED = 1e-8  # change of a step, as a share of the mean variance, after which none follows
OFF = 1e-6  # variance along a factor, as a share of the noise's, below which ARD has turned it off
HIDDEN = 1.0  # deviations of the noise beside the diagonal: the rows' own noise is no less


def fitted(released: AllRows, factors: int) -> Factors:
    """Variational Bayes on released moments without what noise could have made of them.

    Directions that noise could have made (:func:`~dpcore.models.factor_analysis.mathematics.
    denoised`) are level with the rest, so ARD turns them off; the variance of the rows' noise is
    kept above what the release's own noise can hide. Both vanish with the noise. Factors that are
    off have loadings of 0; the others come in the order of their strength. Total.
    """
    clean = denoised(released, factors, released.rows)
    least = np.minimum(HIDDEN * clean.level, 0.5)
    strengths, variance = variational(*_spectrum(clean), released.rows, least)
    loadings = clean.vectors * np.sqrt(strengths * clean.scale[:, None])[:, None, :]
    own = np.broadcast_to((variance * clean.scale)[:, None], clean.mean.shape)
    return Factors(clean.mean, loadings, own.copy())


def _spectrum(clean: Denoised) -> tuple[Array, Array, int]:
    """Variances ``(B, k)`` along the leading directions and in all ``(B,)``, and the columns."""
    along = np.sum(clean.vectors * clean.moment.times(clean.vectors), axis=1)
    diagonal = np.broadcast_to(clean.moment.diagonal(), clean.mean.shape)
    return np.maximum(along, 0.0), diagonal.sum(axis=-1), diagonal.shape[-1]


def variational(
    along: Array, total: Array, dim: int, rows: Array, least: Array
) -> tuple[Array, Array]:
    """Squared lengths ``(B, k)`` of the expected loadings, 0 where ARD turns a factor off, and the
    noise's variance ``(B,)``.

    along ``(B, k)``: eigenvalues of the covariance, k < dim; total ``(B,)``: its trace; rows
    ``(B,)``: how many; least ``(B,)``: the noise's variance is kept above it. The start is the
    maximum of the likelihood (Tipping, Bishop 1999). A step updates the posteriors of x, W, the
    precisions of W's columns, the mean and the noise's precision, in this order. Total for along,
    total >= 0.
    """
    count = np.maximum(rows, 2.0)[:, None]
    size = np.maximum(total / dim, TINY)
    floor = np.maximum(least, LEAST_VARIANCE * size)
    rest = (total - along.sum(axis=-1)) / (dim - along.shape[1])
    noise = np.maximum(rest, floor)  # variance of the noise
    length = np.sqrt(np.maximum(along - noise[:, None], 0.0))  # of the columns of E[W]
    spread = np.zeros_like(length)  # posterior variance of an entry of W
    precision = dim / np.maximum(length**2, TINY)
    for _ in range(STEPS):
        before, tau = (length, noise), 1.0 / noise[:, None]
        square = length**2 + dim * spread
        hidden = 1.0 / (1.0 + tau * square)  # posterior variance of x
        weight = tau * hidden * length  # E[x] = weight times the row's place on the axis
        power = hidden + weight**2 * along  # mean of E[x^2]
        spread = 1.0 / (precision + count * tau * power)
        length = count * tau * along * weight * spread
        square = length**2 + dim * spread
        precision = (PRIOR + dim / 2) / (PRIOR + square / 2)
        left = total + np.sum(square * power - 2.0 * length * weight * along, axis=-1)
        mean = dim * noise / count[:, 0]  # posterior variance of the mean, over all columns
        error = count[:, 0] * (np.maximum(left, 0.0) + mean)
        noise = np.maximum((PRIOR + error / 2) / (PRIOR + count[:, 0] * dim / 2), floor)
        moved = np.abs(length**2 - before[0] ** 2).max(axis=-1, initial=0.0)
        if np.all(np.maximum(moved, np.abs(noise - before[1])) <= SETTLED * size):
            break
    return np.where(length**2 > OFF * noise[:, None], length**2, 0.0), noise


def factors_there(exact: Factors) -> Mask:
    """Which factors ``(k,)`` of an exact fit are not 0; the first where none is."""
    there = np.any(exact.loadings[0] != 0.0, axis=0)
    there[:1] |= not there.any()
    return np.asarray(there)
