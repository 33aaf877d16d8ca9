r"""Linear regression whose covariates are missing completely at random.

``y = <x, beta> + V`` with x standard normal, some of its numbers not seen, V normal with standard
deviation sigma. Gradients are those of ``sigma^2 log p(y | what is seen of x)``, which need neither
matrices nor the rate at which numbers are missing. Wang, Ding, Hu, Xie, Pan, Xu 2023, section 3.

The second moment often quoted for the E step (Wang, Gu, Ning, Liu 2015) is not the conditional one;
this gradient uses the exact one, in closed form.

Every array carries a leading axis of B parameter sets; rows run along the last.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array, Mask

TARGET, MASKED = True, True


def gradients(
    beta: Array,
    sigma: float,
    rows: Array,
    targets: Array | None,
    observed: Mask | None,
) -> Array:
    """Gradient of each row ``(B, d, m)``.

    ``sigma^2 [(r/s^2) x + (r^2/s^4 - 1/s^2) (1 - seen) beta]`` with ``r = y - <x, beta>`` and
    ``s^2 = sigma^2 + |beta not seen|^2``. rows ``(d, m)``, 0 where not seen; targets ``(m,)``;
    observed ``(d, m)``, ``None`` where all is seen.
    """
    residual, variance, hidden = _seen(beta, sigma, rows, targets, observed)
    out = (sigma**2 * residual / variance)[:, None] * rows
    if hidden is not None:
        pull = sigma**2 * (residual**2 / variance - 1.0) / variance
        out += pull[:, None] * (beta[:, :, None] * hidden)
    return np.asarray(out)


def log_likelihood(
    beta: Array,
    sigma: float,
    rows: Array,
    targets: Array | None,
    observed: Mask | None,
) -> Array:
    """Mean log density of a target given what is seen of its row ``(B,)``."""
    residual, variance, _ = _seen(beta, sigma, rows, targets, observed)
    return np.asarray(
        -0.5 * np.mean(residual**2 / variance + np.log(2.0 * math.pi * variance), axis=1)
    )


def _seen(
    beta: Array,
    sigma: float,
    rows: Array,
    targets: Array | None,
    observed: Mask | None,
) -> tuple[Array, Array, Array | None]:
    """Residuals ``(B, m)``, their variances ``(B, m)`` and what is hidden ``(d, m)`` as 0 or 1."""
    assert targets is not None  # the recipe asks for them
    residual = targets - beta @ rows
    if observed is None:
        return residual, np.full_like(residual, sigma**2), None
    hidden = (~observed).astype(float)
    return residual, sigma**2 + (beta**2) @ hidden, hidden
