"""Gradient models: one vector ``beta`` of known noise level, found by steps along its gradient.

What the three models of Wang, Ding, Hu, Xie, Pan, Xu 2023 have in common: a table of their
formulas, and batches of coefficients with the public coordinates they are meant in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.models.gradient_em import missing, regressions, symmetric
from dpcore.wall.data import PublicFrame

OfRows = Callable[[Array, float, Array, Any, Any], Array]


@dataclass(frozen=True)
class GradientModel:
    """One model's formulas; see :mod:`dpcore.models.gradient_em.symmetric` for their arguments.

    target, masked: whether it reads a target, and what is missing. mirrored: beta and -beta are the
    same model. releases_start: whether the first release can be of the direction of beta.
    """

    name: str
    target: bool
    masked: bool
    mirrored: bool
    gradients: OfRows
    log_likelihood: OfRows
    releases_start: bool


def _of(name: str, module: Any, *, mirrored: bool, releases_start: bool = False) -> GradientModel:
    return GradientModel(
        name,
        module.TARGET,
        module.MASKED,
        mirrored,
        module.gradients,
        module.log_likelihood,
        releases_start,
    )


SYMMETRIC = _of("symmetric-mixture", symmetric, mirrored=True)
REGRESSIONS = _of("mixture-regression", regressions, mirrored=True, releases_start=True)
MISSING = _of("missing-regression", missing, mirrored=False)
GRADIENT_MODELS = {model.name: model for model in (SYMMETRIC, REGRESSIONS, MISSING)}


@dataclass(frozen=True)
class Coefficients:
    """B sets ``beta (B, d)`` in model coordinates, and what those are, the same for all runs.

    Model coordinates of a row are ``(x - origin) / scale``, with origin, scale ``(B, d)``; of a
    target likewise, with target_origin, target_scale ``(B,)``. sigma ``(B,)``: the noise level.
    """

    beta: Array
    sigma: Array
    origin: Array
    scale: Array
    target_origin: Array
    target_scale: Array

    @classmethod
    def of(
        cls, beta: Array, sigma: float, public: PublicFrame | None, target: PublicFrame | None
    ) -> Coefficients:
        """Beta ``(B, d)`` in the unit coordinates of rows and target; ``None``: in own units."""
        runs, dim = beta.shape
        origin, scale = np.zeros(dim), np.ones(dim)
        if public is not None:
            origin, scale = public.center, public.half_range
        middle, reach = 0.0, 1.0
        if target is not None:
            middle, reach = float(target.center[0]), float(target.half_range[0])
        return cls(
            beta,
            np.full(runs, sigma),
            np.tile(origin, (runs, 1)),
            np.tile(scale, (runs, 1)),
            np.full(runs, middle),
            np.full(runs, reach),
        )


def default_tau(sigma: float) -> float:
    """Four times ``sigma^2``: coordinates of the gradient spread twice as far as the noise.

    A public rule of thumb; privacy never depends on it.
    """
    return 4.0 * sigma**2


def start(model: GradientModel, dim: int, norm: float, seed: int) -> Array:
    """A start ``(d,)`` that knows no data: 0, or where 0 is a trap a public random direction."""
    if not model.mirrored:
        return np.zeros(dim)
    direction = np.random.default_rng([seed, dim, 5]).standard_normal(dim)
    return np.asarray(norm * direction / np.linalg.norm(direction))


def ascended(beta: Array, gradient: Array, step_size: float | Array, norm: float) -> Array:
    """One step ``beta + step_size gradient``, drawn back into the public ball ``|beta| <= norm``.

    beta, gradient: ``(runs, d)``. Total: what is undefined leaves beta where it was.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        moved = beta + step_size * gradient
        size = np.linalg.norm(moved, axis=1, keepdims=True)
        inside = np.where(size > norm, moved * (norm / np.maximum(size, norm)), moved)
    lost = ~np.all(np.isfinite(inside), axis=1, keepdims=True) | ~np.isfinite(size)
    return np.asarray(np.where(lost, beta, inside))


def apart(beta: Array, truth: Array, *, mirrored: bool) -> Array:
    """Distance ``(B,)`` of beta ``(B, d)`` from the truth ``(d,)``; from the nearer sign of it."""
    distance = np.linalg.norm(beta - truth, axis=1)
    if mirrored:
        distance = np.minimum(distance, np.linalg.norm(beta + truth, axis=1))
    return np.asarray(distance)


@dataclass(frozen=True)
class Bend:
    """How coordinates are truncated: ``s h(x / s)`` with scale s ``(B,)`` and h of a smoothing."""

    scale: Array
    smoothing: float


def printed_bend(multiplier: Array, rows: float, tau: float, failure: float) -> Bend:
    """The choice of Algorithm 2: ``s = sqrt(m tau e) / (2 L)``, smoothing ``sqrt L``.

    ``L = ln(1/failure)`` and ``e = sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta))``, which is
    ``1 / (sqrt 2 multiplier)``: the same choice at any noise multiplier ``(B,)``.
    """
    log = math.log(1.0 / failure)
    scale = np.sqrt(rows * tau / (math.sqrt(2.0) * multiplier)) / (2.0 * log)
    return Bend(np.asarray(scale), math.sqrt(log))


def fixed_bend(runs: int, scale: float, failure: float) -> Bend:
    """One public scale for all runs, with the smoothing of Algorithm 2."""
    return Bend(np.full(runs, scale), math.sqrt(math.log(1.0 / failure)))
