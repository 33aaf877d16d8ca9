"""Steps of the staged release, in which each class sees its rows in a frame of its own.

A class's frame is where it is believed to lie, and how wide; each release corrects it. The classes
of a table are believed to be off alike, and each by something of its own. What they have in common
is read from all rows, where noise is less; of few rows it is all that can be seen, and the classes
then share one shape. Both are followed as Kalman 1960 follows a quantity that drifts a little, in
each class's own deviations.

All of it reads released values alone, costs nothing and is total.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.models.shared.moments import (
    THINNEST,
    TINY,
    defined,
    finite,
    floored_eigenvalues,
    inside,
)
from dpcore.wall.data import whitening
from dpcore.wall.statistics import NoisyMoments

# How far means and shapes of classes are off at first: all of them alike, and each by itself.
COMMON, OWN = (0.7, 0.7), (1.0, 0.4)
SIZE = 0.3  # the same of the mean variance of all classes, in which there is less noise
DRIFT = 0.05  # by which clipping shifts what is released of a class that is not quite normal
FARTHEST = 1.0  # that a mean is believed to be off
MOST_OFF = 100.0  # that is reported of it
CLEAR = 0.1  # noise in a class's shape, up to which it may be believed to differ from the others
MOST_CHANGE, LEAST_CHANGE = 4.0, 1e-3  # of a variance in a step; the latter without noise
UNLIKE = 1.0  # how far shapes of classes may differ, where none of it can be read
UNSURE = 1.5  # errors of a shape that leave nothing sure: it may as well be many times narrower
LEAST_SURE = 0.1  # that is left all the same
NARROW = 10.0  # over d: how narrow a shape that is not known is best taken to be, for reverse


@dataclass(frozen=True)
class Classes:
    """Classes of B runs after some steps, in unit coordinates: means ``(B, K, d)`` and covariances
    ``(B, K, d, d)``.

    common ``(B, 2)``, own ``(B, K, 2)``: squares of how far means and shapes may still be off, in
    deviations of the class. shape_off ``(B, K)``: the same of a shape in all, beside the shape as
    it is now.
    """

    means: Array
    covariances: Array
    common: Array
    own: Array
    shape_off: Array

    @classmethod
    def unseen(cls, means: Array, covariances: Array) -> Classes:
        """Of which nothing has been released yet: means ``(B, K, d)`` and covariances ``(B, K, d,
        d)`` of where the rows of all classes may lie."""
        size = means.shape[:2]
        return cls(
            means,
            covariances,
            np.tile(np.square(COMMON), (size[0], 1)),
            np.tile(np.square(OWN), (*size, 1)),
            np.full(size, COMMON[1] ** 2 + OWN[1] ** 2),
        )

    @property
    def mean_off(self) -> Array:
        """Square ``(B, K)`` of how far a mean may be off in each direction, in deviations."""
        return np.asarray(self.common[:, None, 0] + self.own[..., 0])

    @property
    def doubt(self) -> Array:
        """Divergence ``(B, K)`` from the exact classes that is to be expected.

        Errors V of a mean and E of a covariance S cost ``tr(S^-1 V) / 2 + |S^-1/2 E S^-1/2|_F^2 /
        4``, to second order; beside a class that is narrower than believed they are larger.
        """
        dim = self.means.shape[2]
        expected = dim / 2.0 * self.mean_off + (dim + 1.0) / 4.0 * self.shape_off
        sure = np.maximum(1.0 - UNSURE * np.sqrt(self.shape_off), LEAST_SURE)
        return np.asarray(expected / sure**2)

    def serving(self, target: str) -> Array:
        """Covariances ``(B, K, d, d)`` that serve a divergence with what is not known: ``forward``
        fears narrow shapes, ``reverse`` wide ones."""
        factor = 1.0 + self.mean_off
        if target == "reverse":
            factor = 1.0 / (1.0 + NARROW / self.means.shape[2] * np.minimum(self.shape_off, 1.0))
        return np.asarray(factor[..., None, None] * self.covariances)

    def after(self, noisy: NoisyMoments, sizes: Array, radius: Array, left: Array) -> Classes:
        """A release of moments that each class has in its own frame, drawn into a ball.

        sizes ``(B, K)``: rows of each class. radius ``(B, K)``: of the ball, in the class's
        deviations. left ``(B, K)``: the share of the mean square that it leaves.
        """
        noisy, dim = defined(noisy), self.means.shape[2]
        eye, share = np.eye(dim), sizes / sizes.sum(axis=1, keepdims=True)
        mean_noise = np.square(finite(radius * noisy.sums_sd[:, None] / sizes, 1.0 / TINY))
        entry = finite(radius**2 * noisy.squares_sd[:, None] / sizes / left, 1.0 / TINY)
        noise = np.stack([mean_noise, entry**2 * dim / 2.0], axis=-1)
        noise_of_all = np.einsum("bk,bki->bi", share**2, noise)
        common, own = (off + DRIFT**2 for off in (self.common, self.own))
        for off in (common, own):
            off[..., 0] = np.minimum(off[..., 0], FARTHEST**2)
        trust_common, trust_own = _signal(common, noise_of_all), _signal(own, noise)

        unit = inside(noisy.sums / sizes[..., None], np.ones_like(sizes), 1.0)
        move = _believed(radius[..., None] * unit, share, trust_common[:, 0], trust_own[..., 0])
        back = np.square(trust_own[..., 0]) * np.minimum(mean_noise, radius**2 / dim)
        square = (radius**2 / left / sizes)[..., None, None] * noisy.squares
        scatter = square - move[..., None] * move[..., None, :] + back[..., None, None] * eye
        change = finite(scatter, 1.0 / TINY) - eye
        own[..., 1] = np.maximum(own[..., 1], _unlike(change, share, noise[..., 1]))
        trust_own = _signal(own, noise)
        common_left, own_left = common * (1.0 - trust_common), own * (1.0 - trust_own)
        mean_left = common_left[:, 0] + np.sum(share * own_left[..., 0], axis=1)
        size_noise = noise_of_all[:, 1] * 2.0 / dim**2 + mean_left**2
        size = _signal(np.minimum(common[:, 1], SIZE**2), size_noise)
        larger = (
            np.maximum(size - trust_common[:, 1], 0.0)
            * np.einsum("bk,bkii->b", share, change)
            / dim
        )
        shape = eye + _believed(change, share, trust_common[:, 1], trust_own[..., 1])
        shape = shape + larger[:, None, None, None] * eye
        floor = np.sqrt(common_left[:, None, 1] + own_left[..., 1])
        floor = np.clip(floor, LEAST_CHANGE, 1.0 / MOST_CHANGE)
        shape = floored_eigenvalues(shape, floor, MOST_CHANGE)

        root, inverse = whitening(self.covariances)[1], np.linalg.inv(shape)
        covariances = root @ shape @ root
        narrower = np.trace(inverse, axis1=-2, axis2=-1) / dim
        unread = noise_of_all[:, None, 1] + UNLIKE**2 * _signal(noise[..., 1], UNLIKE**2)
        shape_off = self.shape_off + DRIFT**2
        shape_off = shape_off * (1.0 - _signal(shape_off, unread))
        common_left[:, 0] *= np.sum(share * narrower, axis=1)
        own_left[..., 0] *= narrower
        return Classes(
            self.means + (root @ move[..., None])[..., 0],
            (covariances + np.swapaxes(covariances, -1, -2)) / 2.0 + THINNEST * eye,
            finite(common_left, MOST_OFF),
            finite(own_left, MOST_OFF),
            finite(shape_off * np.einsum("bkij,bkji->bk", inverse, inverse) / dim, MOST_OFF),
        )


def _signal(size: Array, noise: Array | float) -> Array:
    """The share of signal in what is released of a change of mean square ``size``."""
    return np.asarray(size / np.maximum(size + noise, TINY**2))


def _believed(change: Array, share: Array, trust_common: Array, trust_own: Array) -> Array:
    """Changes ``(B, K, ...)`` of classes, as far as they are signal: their mean by shares
    ``(B, K)`` as ``trust_common (B,)``, what differs from it as ``trust_own (B, K)``."""
    middle = np.einsum("bk,bk...->b...", share, change)[:, None]
    beside = (slice(None), slice(None), *(None,) * (change.ndim - 2))
    return np.asarray(
        trust_common[:, None][beside] * middle + trust_own[beside] * (change - middle)
    )


def _unlike(change: Array, share: Array, noise: Array) -> Array:
    """Square ``(B, K)`` of how far shapes of classes are seen to differ from their mean, by changes
    ``(B, K, d, d)``: what exceeds noise and its spread, as far as a class's own noise is little.

    noise ``(B, K)``: of a shape, in the measure of :attr:`Classes.own`: an error of d (d + 1) / 2
    independent entries has the square norm ``(d + 1) noise``.
    """
    dim = change.shape[-1]
    apart = change - np.einsum("bk,bkij->bij", share, change)[:, None]
    square = np.einsum("bkij,bkij->bk", apart, apart) / (dim + 1.0)
    weight = share / np.square(1.0 + noise)
    weight = weight / weight.sum(axis=1, keepdims=True)
    excess = np.sum(weight * (square - noise), axis=1)
    spread = 2.0 * np.sqrt(np.sum(np.square(weight * noise), axis=1) / (dim * (dim + 1)))
    excess = np.clip(excess - spread, 0.0, FARTHEST**2)
    return np.asarray(excess[:, None] / (1.0 + noise / CLEAR))
