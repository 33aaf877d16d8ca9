"""Groups with one shape between them: the shape of all rows, less the spread of the groups' means.

Noise in a shape is larger than in a mean, the more columns the more, and the squares of all groups
together have the noise of one group's. So with one shape for all, groups can be told apart that
would be hidden with a shape for each, and where each has its own in the end they are found sooner.

The start looks where the shape of all rows is long (Vempala and Wang 2004): groups far apart make
it so. All of it reads released values alone, costs nothing and is total.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.shared.moments import TINY, floored_eigenvalues
from dpcore.wall.data import whitening

FLOOR = 0.3  # of the doubt in the shape of all rows: least eigenvalue where that is the identity
UNKNOWN, FORGOTTEN = 0.75, 0.25  # of a mean, squared: at first, and by a step; in deviations
LEAST, WIDEST = 1e-5, 100.0  # of the variance of all rows, where that was 1 at first
CALMER = 0.6  # each step moves the means by so much of what the step before did


def long_axes(covariance: Array, least: float) -> tuple[Mask, Array, Array]:
    """Whether shapes ``(B, d, d)`` are more than ``least`` times longer in some direction than in
    most ``(B,)``; these with that length cut, and maps ``(B, d, d)`` from a round cloud to it.

    Lengths are in units of the columns' own deviations, and are cut to their median.
    """
    sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    values, axes = np.linalg.eigh(covariance / sd[:, :, None] / sd[:, None, :])
    median = np.median(values, axis=1)[:, None]
    cut = np.minimum(values, median)
    long = np.sqrt(np.maximum(values - cut, 0.0))
    turned = np.swapaxes(axes, 1, 2)
    shape = sd[:, :, None] * ((axes * cut[:, None]) @ turned) * sd[:, None, :]
    root = sd[:, :, None] * ((axes * long[:, None]) @ turned)
    return values[:, -1] > least * median[:, 0], shape, root


@dataclass(frozen=True)
class CommonShape:
    """What runs know of the one shape of their groups, in unit coordinates.

    runs ``(B,)``: those whose groups have one. start ``(B, d, d)``: what it is for ``left`` more
    steps. covariance ``(B, d, d)``: of all rows. unknown ``(B,)``: square of what is not known of a
    mean, in deviations. forgotten: by how much the next step adds to that.
    """

    runs: Mask
    start: Array
    left: int
    covariance: Array
    unknown: Array
    forgotten: float = FORGOTTEN

    def started(self, mixture: Mixture, middle: Array, root: Array) -> Mixture:
        """Groups of a start that knows nothing of long axes, spread along them around the middle
        ``(B, d)``; root ``(B, d, d)``: from a round cloud to what was cut of their length."""
        round_ = whitening(self.covariance)[0] @ np.swapaxes(mixture.means - middle[:, None], 1, 2)
        means = middle[:, None] + np.swapaxes(root @ round_, 1, 2)
        means = np.where(self.runs[:, None, None], means, mixture.means)
        return self.shaped(replace(mixture, means=means), np.zeros(len(means)))

    def shaped(self, mixture: Mixture, doubt: Array, error: Array | float = 0.0) -> Mixture:
        """Groups with the shape that their means leave of all rows'.

        doubt ``(B,)``: square error in the shape of all rows. error ``(B, 1, 1)``: of a mean, by
        which the means are farther apart than they should be.
        """
        within = self.start if self.left > 0 else self._left_by(mixture, doubt, error)
        runs = self.runs[:, None, None, None]
        return replace(mixture, covariances=np.where(runs, within[:, None], mixture.covariances))

    def _left_by(self, mixture: Mixture, doubt: Array, error: Array | float) -> Array:
        matrix, root = whitening(self.covariance)
        away = apart(mixture.weights, mixture.means, matrix)
        between = np.einsum("bk,bki,bkj->bij", mixture.weights, away, away)
        back = error * (matrix @ mixture.covariances[:, 0] @ matrix)
        floor = np.minimum(FLOOR * np.sqrt(doubt), 0.8)
        within = floored_eigenvalues(np.eye(mixture.dim) - between + back, floor, 1.0)
        return np.asarray(root @ within @ root)

    def after(
        self,
        before: Mixture,
        frames: tuple[Array, Array],
        weights: Array,
        offsets: Array,
        squares: Array,
        noise: Array,
        share: Array,
        size: tuple[Array, Array],
    ) -> CommonShape:
        """What is known after a step of groups that were ``before``; while the start's shape is
        held, that says nothing of the shape of all rows.

        In the frame of the groups, one for all, with its matrices ``(B, d, d)`` into it and back:
        weights ``(B, K)`` and means ``(B, K, d)`` of the groups' rows, and the second moments
        ``(B, d, d)`` of all rows, each about its group. noise ``(B,)``: square of that in a mean;
        share ``(B,)``: of signal in the second moments. size: a shape ``(B, d, d)`` that is as
        large as that of all rows, and how far that is believed ``(B,)``.
        """
        unknown = self.unknown * noise / np.maximum(self.unknown + noise, TINY * TINY)
        calmer = CALMER * self.forgotten
        after = replace(self, unknown=unknown, forgotten=calmer, left=max(self.left - 1, 0))
        if self.left > 0:
            return after
        matrix, root = frames
        away = apart(weights, before.means, matrix)
        cross = np.einsum("bk,bki,bkj->bij", weights, away, offsets)
        middle = np.einsum("bk,bki->bi", weights, offsets)
        second = squares + np.einsum("bk,bki,bkj->bij", weights, away, away)
        second = second + cross + np.swapaxes(cross, 1, 2) - middle[:, :, None] * middle[:, None]
        last = matrix @ self.covariance @ matrix
        covariance = root @ (last + share[:, None, None] * (second - last)) @ root
        white, back = whitening(size[0])
        trace = np.trace(white @ covariance @ white, axis1=1, axis2=2)
        larger = np.clip(before.dim / np.maximum(trace, TINY), 0.5, 3.0) - 1.0
        covariance = (1.0 + size[1] * larger)[:, None, None] * covariance
        matrix, root = whitening(self.covariance)
        change = floored_eigenvalues(matrix @ covariance @ matrix, np.full(len(share), 0.25), 4.0)
        inside = white @ (root @ change @ root) @ white
        inside = floored_eigenvalues(inside, np.full(len(share), LEAST), WIDEST)
        inside = np.where(self.runs[:, None, None], back @ inside @ back, self.covariance)
        return replace(after, covariance=inside)


def apart(weights: Array, means: Array, matrix: Array) -> Array:
    """Means ``(B, K, d)`` from their middle, in frames ``(B, d, d)``."""
    away = means - np.einsum("bk,bki->bi", weights, means)[:, None]
    return np.asarray(np.einsum("bij,bkj->bki", matrix, away))
