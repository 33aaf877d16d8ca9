"""Steps of the proved mixture fit, in which each group sees the rows in a frame of its own.

Noise is as large as the ball that rows are clipped to. In one frame for all groups that ball holds
all rows, and a narrow group drowns in noise of the size of the whole table. Here each group's ball
is one of its own: noise is then a share of the group's own width, however narrow it is. The ball
follows the group from step to step, as in Biswas, Dong, Kamath, Ullman 2020 (CoinPress) for one
Gaussian.

All of it reads released values alone, costs nothing and is total.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import chdtr, chdtrc

from dpcore.arrays import Array, Indices, Mask
from dpcore.models.gaussian_mixture.common_shape import CommonShape
from dpcore.models.gaussian_mixture.mathematics import Mixture, Prior
from dpcore.models.shared.moments import (
    TINY,
    as_matrices,
    defined,
    finite,
    floored_eigenvalues,
    inside,
    like_structure,
    per_coordinate_sd,
    structured,
)
from dpcore.wall.data import whitening
from dpcore.wall.statistics import InGroups, NoisyMoments, Sharing, Structure

# What noise is weighed against. A group's mean and shape are expected to change by so much in a
# step, in its own deviations; mean, shape and size of all rows were off by so much at first.
MOVES, RESHAPES = 0.5, 0.5
OFF = (0.7, 0.85, 0.3)
UNEQUAL = 0.5  # of an equal share of the rows, by which a group's share differs from it
AVERAGE_FROM = 0.14  # noise in a group's squares at which a new count weighs as much as the past
# Likewise, error in what groups leave of the trace of all rows' shape: where all rows are one
# group, whose size every step releases, and elsewhere.
SCALED_FROM = (0.05, 0.4)
WIDE_FROM = 0.05  # noise in a shape, from which a group is not let be wider than all rows
# The share of the variance of all rows in a direction that groups may hide; where that stands out
# of the noise by SURE deviations, all of it is put back from a smaller share on.
HIDDEN, LOST, SURE = 0.95, 0.9, 3.0
MOST_CHANGE = 4.0  # of a variance in a step
LEAST, MOST = 1e-5, 2.25  # of a group's variance, where that of all rows is 1


@dataclass(frozen=True)
class Whole:
    """All rows of B runs as released, in unit coordinates: how many ``(B,)``, mean ``(B, d)``,
    covariance ``(B, d, d)``; mean_sd, entry_sd ``(B,)``: noise in a coordinate of the mean, and in
    a diagonal entry of the covariance (beside the diagonal it is ``entry_sd / sqrt 2``)."""

    rows: Array
    mean: Array
    covariance: Array
    mean_sd: Array
    entry_sd: Array

    @property
    def trace_sd(self) -> Array:
        """Noise ``(B,)`` in the trace of the covariance, as a share of it."""
        root_dim = math.sqrt(self.mean.shape[1])
        return np.asarray(root_dim * self.entry_sd / np.trace(self.covariance, axis1=1, axis2=2))

    @property
    def doubt(self) -> Array:
        """Squares ``(B, 3)`` of how far mean, shape and size may be off, in deviations of the rows:
        what noise in the release leaves of what was not known before.

        Noise V in the mean and E in the covariance S has the squares ``tr(S^-1 V) / d`` and
        ``|S^-1/2 E S^-1/2|_F^2 / (d + 1)``.
        """
        matrix, dim = whitening(self.covariance)[0], self.mean.shape[1]
        trace, square = np.sum(matrix**2, axis=(1, 2)), np.sum((matrix @ matrix) ** 2, axis=(1, 2))
        of_shape = self.entry_sd**2 * (trace**2 + square) / (2.0 * dim + 2.0)
        noise = np.stack([self.mean_sd**2 * trace / dim, of_shape, self.trace_sd**2], axis=1)
        return np.square(OFF) * (1.0 - _signal(np.square(OFF), finite(noise, 1.0 / TINY)))


def sharing(mixture: Mixture) -> Sharing:
    """The E step (DP-EM Eq. 11) where each group sees rows in its own frame; a group without weight
    has no rows."""
    with np.errstate(divide="ignore"):
        constant = np.log(mixture.weights)
    constant = constant - 0.5 * np.linalg.slogdet(mixture.covariances)[1]

    def shares(squares: Array, runs: Indices) -> Array:
        weights: Array = -0.5 * squares
        weights += constant[runs, : squares.shape[1], None]
        with np.errstate(invalid="ignore"):  # a row that is infinitely far from all has no weight
            weights -= weights.max(axis=1, keepdims=True)
        np.exp(weights, out=weights)
        weights *= 1.0 / weights.sum(axis=1, keepdims=True)
        return weights

    return shares


def left_by_clipping(dim: int, radius: float) -> float:
    """Share of the variance of a standard normal row that is left in a ball.

    >>> round(left_by_clipping(2, 1.9), 2), left_by_clipping(2, 100.0)
    (0.84, 1.0)
    """
    square = radius**2
    return float(chdtr(dim + 2, square) + square / dim * chdtrc(dim, square))


@dataclass(frozen=True)
class Groups:
    """Groups on their way, of B runs in unit coordinates.

    mixture: groups with weight 0 are not in use, and stand last. alone ``(B,)``: runs in which
    noise leaves nothing of groups to be seen, so all rows are one, the first. counts ``(B, K)``:
    averaged over steps; noise, worth ``(B,)``: variance of that in squares of the last step, and
    how many such steps all of them are worth; doubt ``(B, 3)``: square error in mean, shape and
    size of a group that has all rows; error ``(B, K)``: square of the noise in the shapes. The last
    five come from the steps behind. common: runs whose groups have one shape, and what it is.
    """

    mixture: Mixture
    alone: Mask
    counts: Array | None = None
    noise: Array | None = None
    worth: Array | None = None
    doubt: Array | None = None
    error: Array | float = 0.0
    common: CommonShape | None = None

    @property
    def used(self) -> Mask:
        """Which groups are in use, ``(B, K)``."""
        return self.mixture.weights > 0.0

    @cached_property
    def frames(self) -> tuple[Array, Array]:
        """Matrices ``(B, K, d, d)`` into the frames of the groups, and back."""
        return whitening(self.mixture.covariances)

    def with_one_shape(self, whole: Whole) -> Groups:
        """The same after groups were merged: those with one shape keep one."""
        if self.common is None:
            return self
        doubt = whole.doubt if self.doubt is None else self.doubt
        return replace(self, mixture=self.common.shaped(self.mixture, doubt[:, 1]))

    def in_common(self, runs: Mask) -> Groups:
        """The same where from now on groups of these runs ``(B,)`` alone have one shape."""
        common = None if self.common is None else replace(self.common, runs=runs)
        return replace(self, common=common)

    def asking(self) -> InGroups:
        """What a step asks of the rows: where all are one group, the first has them all."""
        number = np.where(self.alone, 1, np.count_nonzero(self.used, axis=1))
        return InGroups(self.mixture.means, self.frames[0], sharing(self.mixture), number)

    def after(self, noisy: NoisyMoments, whole: Whole, radius: float) -> Groups:
        """A step on moments that each group has in its own frame, inside a ball of ``radius``.

        Corrections, most of which vanish with the noise: (1) counts are shifted to add up to the
        number of rows, averaged over steps where noise is strong, and drawn towards equal ones;
        (2) means and shapes change by the share of signal in what is released of them, and where
        all rows are one group, its size, in which there is less noise, by a share of its own; (3)
        what a ball takes of a normal group's variance is put back; (4) no variance changes by more
        than a factor in a step; (5) all shapes are scaled so that groups and their distances add up
        to the shape of all rows, as far as noise lets this be seen, and get back nearly all of the
        variance in a direction in which balls hide it.
        """
        noisy, dim = defined(noisy), self.mixture.dim
        squares_sd = per_coordinate_sd(noisy, dim)
        counts, memory = self._counted(noisy.counts, squares_sd, whole.rows)
        number = _steadied(counts, noisy.counts_sd, whole.rows, self.used)
        taken = np.where(self.alone[:, None], whole.rows[:, None], number)
        mean_noise = (noisy.sums_sd[:, None] / taken) ** 2
        shape_noise = (squares_sd[:, None] / taken) ** 2 * dim / 2
        of_size = 2.0 / dim if noisy.squares.ndim == 2 else 2.0 / dim**2  # of noise in a shape
        noise = np.stack([mean_noise, shape_noise, of_size * shape_noise], axis=2)
        doubt = whole.doubt if self.doubt is None else self.doubt
        off = np.where(self.alone[:, None], doubt, [MOVES**2, RESHAPES**2, 0.0])
        trust, reshape, resize = np.moveaxis(_signal(off[:, None], noise), 2, 0)
        if self.common is not None:
            of_mean = _signal(self.common.unknown[:, None], mean_noise)
            trust = np.where(self.common.runs[:, None], of_mean, trust)
        eye = np.eye(dim)
        move = trust[..., None] * inside(noisy.sums, taken, radius) / taken[..., None]
        shape = as_matrices(noisy) / taken[..., None, None] - move[..., None] * move[..., None, :]
        back = trust**2 * np.minimum(mean_noise, radius**2 / dim)
        shape = like_structure(shape, noisy) + back[..., None, None] * eye
        shape = shape / left_by_clipping(dim, radius) - eye
        grown = np.maximum(resize - reshape, 0.0) * np.trace(shape, axis1=2, axis2=3) / dim
        shape = eye + reshape[..., None, None] * shape + grown[..., None, None] * eye
        shape = floored_eigenvalues(shape, np.full(taken.shape, 1.0 / MOST_CHANGE), MOST_CHANGE)
        means = self.mixture.means + (self.frames[1] @ move[..., None])[..., 0]
        weights = np.where(self.used, number, 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
        moved = Mixture(weights, means, self.frames[1] @ shape @ self.frames[1])
        sure, scaled_from = _signal(WIDE_FROM**2, shape_noise), np.where(self.alone, *SCALED_FROM)
        moved = _scaled(moved, whole, sure, scaled_from, noisy)
        moved = self._alone_alike(moved, self.mixture.weights)
        doubt = doubt * (1.0 - _signal(doubt, noise[:, 0]))
        error = (1.0 - reshape) ** 2 * self.error + reshape**2 * shape_noise
        groups = Groups(moved, self.alone, *memory, doubt, error, self.common)
        if self.common is None or not self.common.runs.any():
            return groups
        return self._in_common(self.common, groups, noisy, number, mean_noise, whole, radius)

    def _in_common(
        self,
        common: CommonShape,
        after: Groups,
        noisy: NoisyMoments,
        number: Array,
        mean_noise: Array,
        whole: Whole,
        radius: float,
    ) -> Groups:
        """The same where groups have one shape, which squares of all rows together tell of."""
        runs, dim = common.runs, self.mixture.dim
        weights, frames = after.mixture.weights, (self.frames[0][:, 0], self.frames[1][:, 0])
        offsets = inside(noisy.sums, number, radius) / number[..., None]
        squares = noisy.squares[:, 0] / whole.rows[:, None, None] / left_by_clipping(dim, radius)
        doubt = whole.doubt if self.doubt is None else self.doubt
        share = _signal(doubt[:, 1], (noisy.squares_sd / whole.rows) ** 2 * dim / 2)
        share = share * (common.left == 0)
        of_means = np.einsum("bk,bk->b", weights, mean_noise)
        size = whole.covariance, _signal(SCALED_FROM[1] ** 2, whole.trace_sd**2)
        common = common.after(
            self.mixture, frames, weights, offsets, squares, of_means, share, size
        )
        others = doubt if after.doubt is None else after.doubt
        doubt = np.where(runs[:, None], doubt * (1.0 - share)[:, None], others)
        error = (common.unknown * (1.0 - 1.0 / self.used.sum(axis=1)))[:, None, None]
        return replace(
            after,
            mixture=common.shaped(after.mixture, doubt[:, 1], error),
            common=replace(common, unknown=common.unknown + common.forgotten),
            doubt=doubt,
            error=np.where(runs[:, None], 0.0, after.error),
        )

    def _counted(
        self, released: Array, squares_sd: Array, rows: Array
    ) -> tuple[Array, tuple[Array, Array, Array]]:
        """Counts ``(B, K)`` that add up to the number of rows, averaged, and what to remember."""
        used, noise = self.used, squares_sd**2
        number = used.sum(axis=1)
        counts = np.where(used, released, 0.0)
        counts = counts + used * ((rows - counts.sum(axis=1)) / number)[:, None]
        if self.counts is None or self.noise is None or self.worth is None:
            return counts, (counts, noise, np.ones(len(rows)))
        some = np.where(noise > 0.0, noise, 1.0)
        louder = np.where(noise > 0.0, np.clip(self.noise / some, TINY, 1.0 / TINY), 1.0)
        worth = self.worth / louder + 1.0
        relative = squares_sd * number / rows
        rate = np.maximum(1.0 / (1.0 + (relative / AVERAGE_FROM) ** 2), 1.0 / worth)
        counts = self.counts + rate[:, None] * (counts - self.counts)
        return counts, (counts, noise, worth)

    def _alone_alike(self, moved: Mixture, weights: Array) -> Mixture:
        """Where all rows are one group, all groups are that one."""
        alone = self.alone[:, None]
        return Mixture(
            np.where(alone, weights, moved.weights),
            np.where(alone[..., None], moved.means[:, :1], moved.means),
            np.where(alone[..., None, None], moved.covariances[:, :1], moved.covariances),
        )


def _signal(size: Array | float, noise: Array) -> Array:
    """The share of signal in what is released of a change of mean square ``size``; all of it where
    there is no noise."""
    return np.asarray(1.0 - noise / np.maximum(size + noise, TINY * TINY))


def _steadied(counts: Array, sd: Array, rows: Array, used: Mask) -> Array:
    """Counts ``(B, K)``: at least two deviations of their noise, but not above 1% of the rows for
    it; then drawn towards equal ones."""
    equal = (rows / used.sum(axis=1))[:, None]
    least = np.minimum(0.01 * rows, 2.0 * sd) + TINY * np.maximum(rows, 1.0)
    floored = np.maximum(finite(counts), least[:, None])
    return np.asarray(equal + _signal(UNEQUAL**2, (sd[:, None] / equal) ** 2) * (floored - equal))


def _scaled(
    mixture: Mixture, whole: Whole, sure: Array, scaled_from: Array, noisy: NoisyMoments
) -> Mixture:
    """Shapes within what all rows allow, and as large as they and the groups' distances say.

    sure ``(B, K)``: how far a group may be wider than all rows. scaled_from ``(B,)``: error in the
    trace at which it is believed by half.

    The trace of the shape of all rows is that of the groups' mean shape and of their means. What
    the means leave is compared with the groups' own, and believed by the share of signal in it.
    Variance that the groups' balls hide is put back, the same to each group (:func:`_hidden`).
    """
    weights, dim = mixture.weights, mixture.dim
    matrix, root = (part[:, None] for part in whitening(whole.covariance))
    least = np.full(weights.shape, LEAST)
    widest = 1.0 / np.maximum(weights, LEAST)  # all groups together are as wide as all rows
    most = MOST + sure * (widest - MOST)
    shapes = floored_eigenvalues(matrix @ mixture.covariances @ matrix, least, most)
    away = mixture.means - np.einsum("bk,bki->bi", weights, mixture.means)[:, None]
    away = (matrix @ away[..., None])[..., 0]
    between = np.einsum("bk,bki->b", weights, away**2)
    own = np.einsum("bk,bkii->b", weights, shapes)
    shown = weights[..., None, None] * (shapes + away[..., None] * away[..., None, :])
    hidden = _hidden(like_structure(shown.sum(axis=1), noisy), whole, matrix[:, 0])
    between = between + np.trace(hidden, axis1=1, axis2=2)
    wanted = np.clip(np.maximum(dim - between, 0.2 * own) / own, 0.5, 3.0)
    scale = 1.0 + _signal(scaled_from**2, (whole.trace_sd * dim / own) ** 2) * (wanted - 1.0)
    shapes = scale[:, None, None, None] * shapes + hidden[:, None]
    return replace(mixture, covariances=root @ shapes @ root)


def _hidden(shown: Array, whole: Whole, matrix: Array) -> Array:
    """Variance ``(B, d, d)`` that groups hide, in coordinates in which that of all rows is 1.

    shown ``(B, d, d)``: that of the groups and of their means; matrix ``(B, d, d)``: into these
    coordinates. EM keeps the shape of all rows. Where a few rows make the variance in a direction,
    as in a column of zeros and 1% ones, the balls of the groups hide them, the groups become
    narrower in each step, and in the end such rows are impossible.
    """
    dim = shown.shape[2]
    left, axes = np.linalg.eigh(np.eye(dim) - shown)
    noise = whole.entry_sd[:, None] * np.sum((matrix @ axes) ** 2, axis=1)
    sure = left > max(SURE, math.sqrt(2.0 * dim)) * noise
    left = np.where(sure & (left > LOST), left, np.maximum(left - HIDDEN, 0.0))
    return np.asarray((axes * left[:, None]) @ axes.swapaxes(1, 2))


def pooled_shapes(mixture: Mixture, error: Array | float, structure: Structure) -> Mixture:
    """Shapes drawn towards the one that all groups have in common, by the share of noise in what
    each differs from it (Efron and Morris 1973); a group's size is its own.

    error ``(B, K)``: square of the noise in the shapes. A difference is seen in the frame of the
    group, where noise is round. Noise that leaves the size as it is has ``free`` independent
    entries with a mean square of ``2 error / d``; the square of the group's own difference is what
    is left without it, and one deviation of its sum more. Hence groups that differ are not hidden.
    """
    dim, weights, eye = mixture.dim, mixture.weights, np.eye(mixture.dim)
    matrix, root = whitening(mixture.covariances)
    common = np.einsum("bk,bkij->bij", weights, mixture.covariances)[:, None]
    apart = matrix @ common @ matrix
    apart = dim * apart / np.trace(apart, axis1=2, axis2=3)[..., None, None] - eye
    free = max((dim - 1) * (dim + 2) / 2.0 if structure == "full" else dim - 1.0, 1.0)
    square = np.sum(apart**2, axis=(2, 3)) * dim / 2.0 / free
    noise = error * (1.0 - 2.0 * weights) + np.sum(weights**2 * error, axis=1, keepdims=True)
    own = np.maximum(square - (1.0 - math.sqrt(2.0 / free)) * noise, 0.0)
    drawn = (1.0 - _signal(own, noise))[..., None, None]
    return replace(mixture, covariances=root @ (eye + drawn * apart) @ root)


def held(mixture: Mixture, whole: Whole, prior: Prior | None, structure: Structure) -> Mixture:
    """What the paper's prior makes of a mixture, in the frame in which all rows have variance 1."""
    if prior is None:
        return mixture
    matrix, root = (part[:, None] for part in whitening(whole.covariance))
    means = (matrix @ (mixture.means - whole.mean[:, None])[..., None])[..., 0]
    counts = mixture.weights * whole.rows[:, None]
    weights = counts + prior.pseudo_counts("weight")
    weight = prior.pseudo_counts("mean")
    scatter = counts[..., None, None] * (matrix @ mixture.covariances @ matrix)
    pulled = (weight * counts / np.maximum(weight + counts, TINY))[..., None, None]
    scatter = scatter + structured(pulled * means[..., None] * means[..., None, :], structure)
    scatter = scatter + prior.strength * prior.scatter * np.eye(mixture.dim)
    shapes = scatter / (counts + prior.pseudo_counts("shape", mixture.dim))[..., None, None]
    means = means * (counts / np.maximum(counts + weight, TINY))[..., None]
    return Mixture(
        weights / weights.sum(axis=1, keepdims=True),
        whole.mean[:, None] + (root @ means[..., None])[..., 0],
        root @ shapes @ root,
    )


def merged(mixture: Mixture, components: int, structure: Structure) -> Mixture:
    """K groups of more: the two whose union costs the least likelihood become one, again and again
    (Runnalls 2007). Groups with weight 0 are not there; no run has fewer than K."""
    count = mixture.components
    if count == components:
        return mixture
    there, places = mixture.weights > 0.0, np.arange(count)
    sizes = np.linalg.slogdet(mixture.covariances)[1]
    parts = mixture.weights.copy(), mixture.means.copy(), mixture.covariances.copy(), sizes
    costs = np.full((mixture.runs, count, count), np.inf)
    for at in range(count):
        cost = _unions(parts, np.full(mixture.runs, at), structure)[-1]
        costs[:, at, :at] = np.where(there & there[:, at, None], cost, np.inf)[:, :at]
    while (some := np.flatnonzero(there.sum(axis=1) > components)).size:
        at, other = np.divmod(costs[some].reshape(len(some), -1).argmin(axis=1), count)
        *unions, _ = _unions([part[some] for part in parts], at, structure)
        for part, union in zip(parts, unions, strict=True):
            part[some, at] = union[np.arange(len(some)), other]
        there[some, other] = False
        costs[some, other], costs[some, :, other] = np.inf, np.inf
        cost = _unions([part[some] for part in parts], at, structure)[-1]
        cost = np.where(there[some] & (places != at[:, None]), cost, np.inf)
        high, low = np.maximum(at[:, None], places), np.minimum(at[:, None], places)
        costs[some[:, None], high, low] = cost
    left = np.argsort(~there, axis=1, kind="stable")[:, :components]
    runs = np.arange(mixture.runs)[:, None]
    return Mixture(*(part[runs, left] for part in parts[:3]))


def _unions(parts: Sequence[Array], at: Indices, structure: Structure) -> tuple[Array, ...]:
    """Weight, mean, covariance and its log-determinant of the union of each run's group ``at (B,)``
    with each of its groups, whose parts are the same four; and what the union costs: the bound of
    Runnalls 2007, Eq. (13), on the likelihood."""
    weights, means, covariances, sizes = parts
    runs = np.arange(len(at))
    weight = weights + weights[runs, at][:, None]
    share = (weights / np.maximum(weight, TINY * TINY))[..., None]
    apart = means - means[runs, at][:, None]
    spread = (share * (1.0 - share))[..., None] * apart[..., None] * apart[..., None, :]
    covariance = share[..., None] * covariances
    covariance = covariance + (1.0 - share)[..., None] * covariances[runs, at][:, None]
    covariance = covariance + structured(spread, structure)
    own, size = weights * sizes, np.linalg.slogdet(covariance)[1]
    cost = 0.5 * (weight * size - own - own[runs, at][:, None])
    return weight, means[runs, at][:, None] + share * apart, covariance, size, cost
