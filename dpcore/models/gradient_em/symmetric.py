r"""The symmetric mixture: two equal clouds at ``beta`` and ``-beta``, round, of known spread.

``y = Z beta + V`` with Z a fair sign and V normal with standard deviation sigma in each coordinate.
Gradients are those of ``sigma^2 log p(y)`` (Fisher's identity), so a step of size 1 is one step of
EM. Wang, Ding, Hu, Xie, Pan, Xu 2023, section 3; Balakrishnan, Wainwright, Yu 2017.

Every array carries a leading axis of B parameter sets; rows run along the last.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array

TARGET, MASKED = False, False


def gradients(
    beta: Array, sigma: float, rows: Array, targets: Array | None, observed: object
) -> Array:
    """Gradient of each row ``(B, d, m)`` at ``beta (B, d)``: ``tanh(<y, beta>/sigma^2) y - beta``.

    rows ``(d, m)``; the model has no targets and nothing missing.
    """
    side = np.tanh(beta @ rows / sigma**2)
    out = side[:, None] * rows
    out -= beta[:, :, None]
    return out


def log_likelihood(
    beta: Array, sigma: float, rows: Array, targets: Array | None, observed: object
) -> Array:
    """Mean log density of a row ``(B,)``."""
    lean = beta @ rows / sigma**2
    squares = np.mean(np.sum(rows**2, axis=0)) + np.sum(beta**2, axis=1)
    constant = math.log(2.0) + len(rows) / 2.0 * math.log(2.0 * math.pi * sigma**2)
    return np.asarray(
        np.mean(np.logaddexp(lean, -lean), axis=1) - squares / (2.0 * sigma**2) - constant
    )
