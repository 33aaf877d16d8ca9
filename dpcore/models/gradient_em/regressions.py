r"""The mixture of two regressions: lines through the origin with slopes ``beta`` and ``-beta``.

``y = Z <x, beta> + V`` with Z a fair sign, x of mean 0 and covariance 1, V normal with standard
deviation sigma. Gradients are those of ``sigma^2 log p(y | x)``. Wang, Ding, Hu, Xie, Pan, Xu 2023,
section 3; Balakrishnan, Wainwright, Yu 2017.

Every array carries a leading axis of B parameter sets; rows run along the last.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array

TARGET, MASKED = True, False


def gradients(
    beta: Array, sigma: float, rows: Array, targets: Array | None, observed: object
) -> Array:
    """Gradient of each row ``(B, d, m)``: ``(tanh(y f/sigma^2) y - f) x`` with ``f = <x, beta>``.

    rows ``(d, m)``, targets ``(m,)``.
    """
    assert targets is not None  # the recipe asks for them
    fitted = beta @ rows
    factor = np.tanh(targets * fitted / sigma**2) * targets - fitted
    return np.asarray(factor[:, None] * rows)


def log_likelihood(
    beta: Array, sigma: float, rows: Array, targets: Array | None, observed: object
) -> Array:
    """Mean log density of a target given its row ``(B,)``."""
    assert targets is not None
    fitted = beta @ rows
    lean = targets * fitted / sigma**2
    squares = np.mean(targets**2 + fitted**2, axis=1) / (2.0 * sigma**2)
    constant = math.log(2.0) + 0.5 * math.log(2.0 * math.pi * sigma**2)
    return np.asarray(np.mean(np.logaddexp(lean, -lean), axis=1) - squares - constant)


def mean_square(norm: float, sigma: float, away: float) -> float:
    """A public bound tau on the mean square of any coordinate of the gradient, for normal rows.

    norm: ``|beta|`` and ``|beta*|`` are at most this; away is not used. No dimension enters.
    *Proof.* ``g_j^2 <= 2 (y^2 + f^2) x_j^2``, and for standard normal x the mean of
    ``<x, b>^2 x_j^2`` is ``|b|^2 + 2 b_j^2 <= 3 norm^2``. QED.
    """
    return 12.0 * norm**2 + 2.0 * sigma**2
