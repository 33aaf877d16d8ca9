r"""Steps from the linear discriminant to the logistic regression itself.

The right coefficients b of rows ``x = (z, 1)`` make ``sum (y - s(b.x)) x`` vanish, with
``s(t) = 1 / (1 + exp(-t))``. For any line ``a + k t`` this gradient is

    ``sum (y - 1/2) x  -  sum x x^T (k b + a e)  -  sum (s(t) - 1/2 - a - k t) x``

with the intercept's direction e. The first two terms are the sums and the squares of the one
release. Only the third is asked of the rows, and it reads no outcome. Rows lie in a ball, so t lies
in an interval that b says, and the line is the nearest to s on it: what it leaves is small (at most
0.013 where ``|t| <= 2``), and the noise is in proportion.

A step solves the score equation with a normal prior about the discriminant, as wide in each
coefficient as the discriminant is expected to be off. So where noise is strong the discriminant
stays, and without noise the steps are Newton's. The hessian is that of normal scores, corrected by
what earlier steps have shown of it (BFGS). Three steps leave the exact coefficients by what their
hessian is wrong about, which on columns of yes and no is some hundredths of them. Everything is
per row and carries a leading axis of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import expit

from dpcore.arrays import Array
from dpcore.models.logistic_regression.mathematics import (
    FLAT,
    LARGEST,
    Coefficients,
    Discriminant,
)
from dpcore.models.shared.moments import TINY, finite, floored_eigenvalues
from dpcore.wall.kernels.threads import one_thread

OFF = 0.25  # of a coefficient of the discriminant, by which it is expected to be off
OWN = 0.9  # share of its own square in the size of a coefficient; the rest is all coefficients'
LEAST_OFF = 1e-9  # of what a coefficient is expected to be off by
SURE = 0.5  # of the curvature along a step, by which the expected one is off
STEEPEST = 0.25  # slope of s at 0
TRIED = np.linspace(-1.0, 1.0, 33)  # slopes of a line at one look
LOOKS = 3
LEAST_LEFT = 1e-12  # of what a line leaves
FARTHEST = 500.0  # log odds beyond which no line is fitted
NODES, NODE_WEIGHTS = (np.asarray(part) for part in np.polynomial.hermite_e.hermegauss(24))
MOST_STEPS = 30  # where rows may be seen
SMALL = 1e-10  # gradient per row at which these end


@dataclass(frozen=True)
class Line:
    """The line ``middle + slope t`` nearest to ``s(t) - 1/2`` where the scores t of a run can be,
    and the most that it can be away there; all ``(B,)``."""

    middle: Array
    slope: Array
    most: Array

    @classmethod
    def of(cls, mean: Array, radius: float) -> Line:
        """For coefficients ``(B, p)`` and rows ``|z| <= radius``: the best of the slopes that are
        tried, with the least bound."""
        reach = radius * np.linalg.norm(mean[:, :-1], axis=1)
        low, high = (
            np.clip(mean[:, -1] + side * reach, -FARTHEST, FARTHEST)[:, None] for side in (-1, 1)
        )
        slope, width = np.full_like(low, STEEPEST / 2.0), STEEPEST / 2.0
        for _ in range(LOOKS):
            slopes = np.clip(slope + width * TRIED, 0.0, STEEPEST)
            least, most = _away(slopes, low, high)
            best = np.argmin(most - least, axis=1)[:, None]
            slope, width = np.take_along_axis(slopes, best, axis=1), width * (TRIED[1] - TRIED[0])
        least, most = (np.take_along_axis(end, best, axis=1)[:, 0] for end in (least, most))
        return cls((least + most) / 2.0, slope[:, 0], np.maximum((most - least) / 2.0, LEAST_LEFT))

    def weights(self, scores: Array, run: int) -> Array:
        """How far the curve is from the line at scores ``(m,)``, as a share of the most it can."""
        away = np.tanh(scores / 2.0) / 2.0 - self.middle[run] - self.slope[run] * scores
        return np.asarray(away / self.most[run])


def _away(slopes: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Least and most ``(B, m)`` of ``s(t) - 1/2 - slope t`` over ``[low, high] (B, 1)``: at its
    ends, or where the curve is as steep as the line."""
    root = np.sqrt(np.maximum(1.0 - slopes / STEEPEST, 0.0))
    steep = np.log1p(root) - np.log(np.maximum(1.0 - root, TINY))
    inner = (np.clip(side * steep, low, high) for side in (-1.0, 1.0))
    points = np.stack(np.broadcast_arrays(low, high, *inner))
    values = np.tanh(points / 2.0) / 2.0 - slopes * points
    return values.min(axis=0), values.max(axis=0)


@dataclass(frozen=True)
class Point:
    """Where a step started: coefficients and gradient ``(B, p)``, hessian ``(B, p, p)``, and
    deviations ``(B,)`` of the noise in the gradient that is the first release's, and of its own.
    along ``(B, p)``: the first release's has as much again in this direction."""

    mean: Array
    gradient: Array
    hessian: Array
    first_sd: Array
    along: Array
    own_sd: Array


@dataclass(frozen=True)
class Ascent:
    """Coefficients ``(B, p)`` on their way from a discriminant, and the points they came by."""

    start: Discriminant
    mean: Array
    points: tuple[Point, ...] = ()

    @one_thread()
    def step(self, line: Line, away: Array, away_sd: Array) -> Ascent:
        """One step by what a line leaves: away ``(B, p)``, the mean of :meth:`Line.weights` times
        the rows, with noise of deviation away_sd ``(B,)`` in each coordinate. Total."""
        start = self.start
        linear = line.slope[:, None] * self.mean
        linear[:, -1] += line.middle
        gradient = start.sums - np.einsum("bij,bj->bi", start.squares, linear)
        gradient = finite(gradient - line.most[:, None] * finite(away, LARGEST), LARGEST)
        along = start.squares_sd[:, None] * linear / np.sqrt(2.0)
        first_sd = np.sqrt(start.sums_sd**2 + np.sum(along**2, axis=1))
        hessian = expected_hessian(self.mean, start.squares)
        here = Point(self.mean, gradient, hessian, first_sd, along, line.most * away_sd)
        points = (*self.points, here)
        for before, after in pairwise(points):
            hessian = _as_shown(hessian, before, after)
        hessian = floored_eigenvalues(hessian, np.zeros(len(hessian)))
        return self.moved((*self.points, replace(here, hessian=hessian)))

    def moved(self, points: tuple[Point, ...]) -> Ascent:
        """With the coefficients that the last point leads to."""
        start, at = self.start.fit.mean, points[-1]
        pull = at.gradient + np.einsum("bij,bj->bi", at.hessian, at.mean - start)
        mean = start + np.einsum("bij,bj->bi", self._inverse(at), pull)
        return Ascent(self.start, finite(mean, LARGEST), points)

    def _inverse(self, at: Point) -> Array:
        """What coefficients follow a gradient by ``(B, p, p)``: of the hessian H, the noise and the
        prior's deviations D, ``D (H D)^T (H D D H + noise^2)^-1`` (Wiener 1949)."""
        slopes = self.start.fit.mean[:, :-1] ** 2
        usual = np.mean(slopes, axis=1, keepdims=True)
        square = np.concatenate([OWN * slopes + (1.0 - OWN) * usual, usual], axis=1)
        off = np.maximum(OFF * np.sqrt(square), LEAST_OFF)[:, :, None]
        noise = at.first_sd**2 + at.own_sd**2
        left, values, right = np.linalg.svd(off * at.hessian)
        steep = values > FLAT * np.maximum(values[:, :1], FLAT)
        parts = values / np.where(steep, values**2 + noise[:, None], np.inf)
        return np.asarray(off * ((left * parts[:, None]) @ right))

    @one_thread()
    def fit(self) -> Coefficients:
        """The coefficients, with covariances to first order: of the rows' sampling, as far as the
        sums carry it; of noise, that of both releases through the last step, which keeps of the
        discriminant's what the prior does."""
        at = self.points[-1]
        inverse = self._inverse(at)
        response = self.start.response
        response = response + inverse - inverse @ at.hessian @ response
        turned = np.swapaxes(response, 1, 2)
        along = np.einsum("bij,bj->bi", response, at.along)
        noise = (at.first_sd**2)[:, None, None] * (response @ turned)
        noise = noise + along[:, :, None] * along[:, None]
        noise = noise + (at.own_sd**2)[:, None, None] * (inverse @ inverse)
        sampling = response @ (at.hessian / self.start.rows[:, None, None]) @ turned
        return Coefficients(self.mean, finite(sampling + noise), finite(noise))


def climbed(start: Discriminant, blocks: Callable[[int], Iterator[Array]]) -> Coefficients:
    """The same where rows may be seen: all noise is that of the sums, curvature is exact, and steps
    go on until they do not move the fit.

    blocks: of a run, its rows as columns ``(p, m)``.
    """
    fits = [_climbed(start.at(run), run, blocks) for run in range(start.fit.runs)]
    return Coefficients(
        np.concatenate([fit.mean for fit in fits]),
        np.concatenate([fit.covariance for fit in fits]),
        np.concatenate([fit.noise_covariance for fit in fits]),
    )


def _climbed(
    start: Discriminant, run: int, blocks: Callable[[int], Iterator[Array]]
) -> Coefficients:
    """One run of them; start: of that run."""
    ascent, size, rows = Ascent(start, start.fit.mean), start.sums.shape[1], start.rows
    none, nowhere = np.zeros(1), np.zeros((1, size))
    for _ in range(MOST_STEPS):
        before, gradient, hessian = ascent.mean, start.sums[0].copy(), np.zeros((size, size))
        for columns in blocks(run):
            chance = expit(before[0] @ columns)
            gradient -= columns @ (chance - 0.5) / rows
            hessian += (columns * (chance * (1.0 - chance) / rows)) @ columns.T
        here = Point(before, gradient[None], hessian[None], start.sums_sd, nowhere, none)
        ascent = ascent.moved((here,))
        away = np.abs(ascent.mean - before).max() / max(1.0, np.abs(before).max())
        if min(away, np.abs(gradient).max()) <= SMALL:
            break
    return ascent.fit()


def expected_hessian(mean: Array, squares: Array) -> Array:
    """Mean of ``s'(t) x x^T (B, p, p)`` for coefficients ``(B, p)`` and mean squares of x, if the
    scores t were normal and rows linear in them; by Stein's lemma, so that nothing is divided by a
    spread that noise has left near 0."""
    middle = squares[:, -1]
    spread = squares - middle[:, :, None] * middle[:, None]
    across = np.einsum("bij,bj->bi", spread, mean)
    sd = np.sqrt(np.maximum(np.einsum("bi,bi->b", across, mean), 0.0))[:, None]
    chance = expit(np.einsum("bi,bi->b", middle, mean)[:, None] + sd * NODES)
    steep = chance * (1.0 - chance)
    derivatives = (steep, steep * (1.0 - 2.0 * chance), steep * (1.0 - 6.0 * steep))
    shares = NODE_WEIGHTS / NODE_WEIGHTS.sum()
    flat, tilt, bend = ((part @ shares)[:, None, None] for part in derivatives)
    along = across[:, :, None]
    turned, mixed = np.swapaxes(along, 1, 2), middle[:, :, None] @ np.swapaxes(along, 1, 2)
    out = flat * squares + tilt * (mixed + np.swapaxes(mixed, 1, 2)) + bend * (along @ turned)
    return finite(out, LARGEST)


def _as_shown(hessian: Array, before: Point, after: Point) -> Array:
    """A hessian ``(B, p, p)`` with the curvature along a step that its two gradients show (BFGS),
    as far as their own noise lets it be told; where they show none, as it was."""
    moved, change = after.mean - before.mean, before.gradient - after.gradient
    expected = np.einsum("bij,bj->bi", hessian, moved)
    signal = SURE**2 * np.sum(expected**2, axis=1)
    noise = moved.shape[1] * (before.own_sd**2 + after.own_sd**2)
    trust = signal / np.maximum(signal + noise, TINY * TINY)
    change = expected + trust[:, None] * (change - expected)
    old, new = np.sum(moved * expected, axis=1), np.sum(moved * change, axis=1)
    convex = (old > TINY * TINY) & (new > 0.1 * old)
    by_old, by_new = (
        np.where(convex, 1.0 / np.where(convex, part, 1.0), 0.0)[:, None, None]
        for part in (old, new)
    )
    lost = by_old * expected[:, :, None] * expected[:, None]
    return finite(hessian - lost + by_new * change[:, :, None] * change[:, None], LARGEST)
