"""What noisy moments say of the shape of a class, where the noise in them is known.

A released covariance is ``S + E``: the noise E drives its eigenvalues apart, some below 0, and
turns its axes. Of each eigenvalue v it is believed that it has a usual size, give or take a factor
e (a log-normal law), and that it was released with the known noise. Averaged over that belief, the
divergence of a Gaussian from the class is least with eigenvalues ``1 / E[1/v]`` (*narrow*), that of
the class from a Gaussian with ``E[v]`` (*wide*): Bayes estimates for the two losses (Berger 1985,
chapter 4). Both move continuously and become what was released as the noise goes away. Everything
here reads released values and public noise only, and is total.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, gammainc

from dpcore.arrays import Array
from dpcore.models.shared.moments import THINNEST, TINY

FACTOR = 1.0  # standard deviation of the logarithm of an eigenvalue about its usual size
NODES = np.linspace(-5.0, 5.0, 41)  # in deviations: of the belief before the release, and after
SHARPEST = 1e-7  # least noise, of the usual size: below it rounding would be read
MISFIT = 0.7  # how wrong the share that a ball keeps may be, of what it does not keep
HEAVY = 0.02  # of a class's variance that is believed to lie beyond sqrt(d) deviations
LEFT_OUT = np.geomspace(0.4, 1e-40, 120)  # shares of a Gaussian that a clipping ball may leave out


@dataclass(frozen=True)
class Belief:
    """About matrices ``(..., d, d)``: axes (columns), and for each ``(..., d)`` the eigenvalue.

    wide: mean, along the axis as released. narrow: the inverse of the mean inverse along it. log:
    mean logarithm of the eigenvalues.
    """

    axes: Array
    wide: Array
    narrow: Array
    log: Array

    def matrix(self, values: Array) -> Array:
        """Matrices ``(..., d, d)`` with these axes and other eigenvalues ``(..., d)``."""
        return np.asarray((self.axes * values[..., None, :]) @ np.swapaxes(self.axes, -1, -2))


def belief(scatter: Array, noise: Array, usual: float) -> Belief:
    """From released matrices ``(..., d, d)``; noise ``(...)``: deviation of a diagonal entry.

    usual: size of eigenvalues before anything was released; what the trace says moves it first.
    """
    dim = scatter.shape[-1]
    noise = np.maximum(noise, SHARPEST * usual)
    middle = np.trace(scatter, axis1=-2, axis2=-1) / dim
    _, size, _ = _given(middle, noise / math.sqrt(dim), np.full_like(noise, usual))
    values, axes = np.linalg.eigh((scatter + np.swapaxes(scatter, -1, -2)) / 2)
    wide, narrow, log = _given(values, noise[..., None], size[..., None])
    turn = _turned(wide, noise)
    mean, inverse = (turn @ wide[..., None])[..., 0], (turn @ (1.0 / narrow)[..., None])[..., 0]
    return Belief(axes, mean, 1.0 / inverse, log)


def _given(estimate: Array, noise: Array, usual: Array) -> tuple[Array, Array, Array]:
    """``E v``, ``1 / E[1/v]`` and ``E ln v`` of v about usual that was seen with noise.

    Sums over two sets of nodes in ln v, as dense as the belief before and as the noise need.
    """
    shape = np.broadcast_shapes(estimate.shape, noise.shape, usual.shape)
    estimate, noise, middle = (
        np.broadcast_to(a, shape)[..., None] for a in (estimate, noise, usual)
    )
    before = np.log(middle) + FACTOR * NODES
    least = np.minimum(middle * math.exp(-6.0 * FACTOR), noise / 4.0)
    nodes = np.concatenate([before, np.log(np.maximum(estimate + noise * NODES, least))], axis=-1)
    nodes = np.sort(nodes, axis=-1)
    steps = np.diff(nodes, axis=-1, append=nodes[..., -1:], prepend=nodes[..., :1])
    values = np.exp(nodes)
    misfit = np.square((estimate - values) / noise) + np.square((nodes - np.log(middle)) / FACTOR)
    weight = np.exp(-0.5 * (misfit - misfit.min(axis=-1, keepdims=True)))
    weight *= steps[..., 1:] + steps[..., :-1]
    weight /= weight.sum(axis=-1, keepdims=True)
    mean, inverse = np.sum(weight * values, axis=-1), np.sum(weight / values, axis=-1)
    return mean, 1.0 / inverse, np.sum(weight * nodes, axis=-1)


def _turned(values: Array, noise: Array) -> Array:
    """Squared cosines ``(..., d, d)`` between the axes as released and as they are; rows add to 1.

    To first order an axis turns towards another by the noise between them over the gap of their
    eigenvalues; where noise covers the gaps, all directions are alike.
    """
    dim = values.shape[-1]
    beside = (noise**2 / 2.0)[..., None, None]
    gap = np.square(values[..., :, None] - values[..., None, :])
    turn = beside / (dim * beside + gap) * (1.0 - np.eye(dim))
    return np.asarray(turn + np.eye(dim) * (1.0 - turn.sum(axis=-1))[..., None])


def best_shape(
    scatter: Array, noise: Array, mean_noise: Array, usual: float, target: str
) -> tuple[Array, Array]:
    """The covariance that serves the target best, and the divergence ``(...)`` to be expected.

    mean_noise ``(...)``: deviation of each coordinate of the mean; for the forward divergence it
    widens the shape. What the belief expects is raised by its own square: on simulated, measured
    and hand-written digits alike the classes that noise swallows are off by so much more.
    """
    posterior = belief(scatter, noise, usual)
    values = posterior.narrow
    if target == "forward":
        values = posterior.wide + np.square(mean_noise)[..., None]
    values = np.maximum(values, THINNEST * values.max(axis=-1, keepdims=True))
    shape = np.sum(values / posterior.narrow - 1.0 + posterior.log - np.log(values), axis=-1)
    place = np.square(mean_noise) * np.sum(1.0 / posterior.narrow, axis=-1)
    doubt = np.maximum(0.5 * (shape + place), 0.0)
    return posterior.matrix(values), doubt * (1.0 + doubt)


def clipped_share(dim: int, squared_radius: Array | float) -> Array:
    """Share of a standard Gaussian's second moments that is left where rows are clipped to a ball.

    >>> float(clipped_share(2, 1e6)), round(float(clipped_share(1, 1.0)), 3)
    (1.0, 0.516)
    """
    squared = np.asarray(squared_radius, dtype=float)
    beyond = 1.0 - gammainc(dim / 2.0, squared / 2.0)
    return np.asarray(gammainc(dim / 2.0 + 1.0, squared / 2.0) + squared / dim * beyond)


def clip_radius(dim: int, noise: Array) -> Array:
    """Radius ``(...)`` of the ball in which a standard class is measured best.

    noise ``(...)``: deviation of a covariance's entries where the ball's radius is 1; it grows with
    the squared radius. A smaller ball clips more, and what it keeps of a class that is not quite
    Gaussian is known less well.
    """
    squared = chdtri(dim, LEFT_OUT)
    share = clipped_share(dim, squared)
    level = np.square(np.minimum(noise, 1.0 / TINY)[..., None] * squared / share)
    cost = (dim + 1.0) / 2.0 * level + np.square(MISFIT * (1.0 - share) + HEAVY * dim / squared)
    return np.asarray(np.sqrt(squared[np.argmin(cost, axis=-1)]))
