r"""Logistic regression: the log odds of a yes are a weighted sum of a row's numbers.

Every array carries a leading axis of runs. Rows are ``x = (v, 1)`` of a public design
(:mod:`dpcore.wall.data.design_matrix`); statistics are ``sum (y - 1/2) x`` and ``sum k x x^T``. Two
fits read them, and are total:

============  ====================================================================================
discriminant  k = 1. These are all first and second moments of the rows by outcome, so the best
              linear rule is known (Fisher 1936), and its log odds if scores are normal within each
              outcome: linear discriminant analysis. From there start the steps of
              :mod:`dpcore.models.logistic_regression.newton`
steps         variational Bayes with Polya-Gamma augmentation (Polson, Scott, Windle 2013; Park,
              Foulds, Chaudhuri, Welling 2020, Eq 43-59): ``k = 2 tanh(t/2)/t``, ``t^2`` the
              expected square of a row's score; a Gamma prior on the precision of the coefficients
============  ====================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpcore.arrays import Array, Indices
from dpcore.models.shared.moments import finite, floored_eigenvalues
from dpcore.models.shared.second_moments import Ellipsoid
from dpcore.wall.kernels.threads import one_thread
from dpcore.wall.statistics import Curvature, NoisyOutcomes

SHAPE, RATE = 1.0, 1.0  # of the Gamma prior on the precision, as in the paper's program
EXPECTED = 0.5  # size of a coefficient of the rule, in the units of the ball or the design
FLAT = 1e-10  # eigenvalues this much smaller than the largest have no inverse
RAREST = 1e-6  # share of the rarer outcome, at least
UNSURE = 0.25  # deviations of a score's reach that remain where noise explains all of it
CLEARLY = 3.0  # deviations below 0 at which a rule is believed to be the wrong way round
THINNEST = 1e-9  # spread of scores within the outcomes, of that between them
STEEPEST = 1e3  # log odds per unit of the score
LARGEST = 1e20  # of a released sum per row, and of a coefficient; beyond it squares may overflow


@dataclass(frozen=True)
class Coefficients:
    """B sets of coefficients ``(B, p)``, the intercept last.

    covariance ``(B, p, p)``: how uncertain they are in all. noise_covariance ``(B, p, p)``: the
    part of it that is privacy noise; undefined where that is not known.
    """

    mean: Array
    covariance: Array
    noise_covariance: Array

    @property
    def runs(self) -> int:
        """How many fits the batch holds, B."""
        return int(self.mean.shape[0])

    def at(self, runs: slice) -> Coefficients:
        """Some of the runs."""
        return Coefficients(self.mean[runs], self.covariance[runs], self.noise_covariance[runs])

    def mapped(self, matrix: Array) -> Coefficients:
        """The same in other coordinates: coefficients there are ``matrix (p, p)`` times these."""
        if np.array_equal(matrix, np.eye(len(matrix))):
            return self  # with thousands of coordinates four products take half a minute
        return Coefficients(
            self.mean @ matrix.T,
            matrix @ self.covariance @ matrix.T,
            matrix @ self.noise_covariance @ matrix.T,
        )

    def back(self, ball: Ellipsoid) -> Coefficients:
        """From the coordinates ``((v - middle) / radius, 1)`` of each run's ball to ``(v, 1)``."""
        matrix = np.repeat(np.eye(self.mean.shape[1])[None], self.runs, axis=0)
        matrix[:, :-1] /= ball.axes[..., None]
        matrix[:, -1, :-1] = -ball.middle / ball.axes
        turned = np.swapaxes(matrix, 1, 2)
        return Coefficients(
            np.einsum("bij,bj->bi", matrix, self.mean),
            matrix @ self.covariance @ turned,
            matrix @ self.noise_covariance @ turned,
        )

    def scores(self, rows: Array) -> Array:
        """Log odds ``(B, n)`` of rows ``(n, p - 1)``."""
        return np.asarray(self.mean[:, :-1] @ rows.T + self.mean[:, -1:])

    def log_odds(self, rows: Array) -> Array:
        """Log odds of a yes ``(B, n)``, what is uncertain averaged out (MacKay 1992)."""
        full = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
        spread = np.stack(
            [np.sum((full @ covariance) * full, axis=1) for covariance in self.covariance]
        )
        spread = np.maximum(spread, 0.0)
        return np.asarray(self.scores(rows) / np.sqrt(1.0 + np.pi * spread / 8.0))

    def probabilities(self, rows: Array) -> Array:
        """Chance of a yes ``(B, n)``, by :meth:`log_odds`."""
        return np.asarray(expit(self.log_odds(rows)))


@dataclass(frozen=True)
class SlopeCorrection:
    """Of the slope of clipped rows, for rows that are not clipped, ``(B,)`` or the same for all
    runs. factor: by which a slope is multiplied. error: deviation of the noise in the factor."""

    factor: Array | float
    error: Array | float


def nothing(runs: int, size: int) -> Coefficients:
    """Coefficients of which nothing is known: even odds for everybody."""
    eye = np.repeat(np.eye(size)[None], runs, axis=0)
    return Coefficients(np.zeros((runs, size)), eye, 0.0 * eye)


@dataclass(frozen=True)
class Discriminant:
    """What one release with k = 1 says, per row, and the linear discriminant that follows.

    fit: its coefficients. sums ``(B, p)``, squares ``(B, p, p)``, and ``*_sd (B,)`` of the noise in
    them: as :class:`NoisyOutcomes`, per row. rows ``(B,)``: how many. response ``(B, p, p)``: how
    coefficients follow the sums.
    """

    fit: Coefficients
    sums: Array
    squares: Array
    sums_sd: Array
    squares_sd: Array
    rows: Array
    response: Array

    def at(self, run: int) -> Discriminant:
        """One of the runs, as a batch."""
        some = slice(run, run + 1)
        return Discriminant(
            self.fit.at(some),
            self.sums[some],
            self.squares[some],
            self.sums_sd[some],
            self.squares_sd[some],
            self.rows[some],
            self.response[some],
        )

    @property
    def odds(self) -> Array:
        """Log odds ``(B,)`` of the share of yes."""
        share = np.clip(0.5 + self.sums[:, -1], RAREST, 1.0 - RAREST)
        return np.asarray(np.log(share / (1.0 - share)))


@one_thread()
def discriminant(released: NoisyOutcomes, rows: Array | float) -> Discriminant:
    r"""Coefficients from one release with k = 1; linear discriminant analysis without noise.

    rows: their number where public, or a noisy one ``(B,)``. The rule is
    ``m = (sum x x^T / 4 + ridge)^-1 sum (y - 1/2) x``, a step from 0 that needs no curvature; the
    ridge is the size of the noise's eigenvalues. Its scores then get the slope and the intercept
    that their own mean and spread within each outcome ask for (:func:`_calibrated`).

    **Intervals.** covariance is first order, in two parts: of sampling, ``s^2 (n C)^-1`` with C the
    covariance of v and s the spread of y around the rule; of noise, that of ``S - Q m / 4`` through
    the inverse. It leaves out the ridge's pull towards 0 and the rest of the slope's error.
    """
    runs, size = released.sums.shape
    count = np.maximum(np.broadcast_to(np.asarray(rows, dtype=float), runs), 1.0)
    sums = finite(released.sums / count[:, None], LARGEST)
    squares = finite(released.squares / count[:, None, None], LARGEST)
    squares[:, -1, -1] = 1.0
    sums_sd, squares_sd = released.sums_sd / count, released.squares_sd / count
    ridge, noise = squares_sd * np.sqrt(size) / 4.0, sums_sd / EXPECTED
    inverse = _inverse(squares / 4.0, ridge, noise)
    rule = np.einsum("bij,bj->bi", inverse, sums)
    slope, intercept, left = _calibrated(rule, sums, squares, inverse, sums_sd, squares_sd)
    plain = sums_sd**2 + squares_sd**2 / 32.0 * np.sum(rule**2, axis=1)
    noise = plain[:, None, None] * np.eye(size)
    noise = noise + (squares_sd**2 / 32.0)[:, None, None] * rule[:, :, None] * rule[:, None]
    response = slope[:, None, None] * inverse
    noise = response @ noise @ response
    coefficients = slope[:, None] * rule
    coefficients[:, -1] = intercept
    sampling = (left / count * slope)[:, None, None] * 4.0 * response
    fit = Coefficients(finite(coefficients, LARGEST), finite(sampling + noise), finite(noise))
    return Discriminant(fit, sums, squares, sums_sd, squares_sd, count, response)


def unclipped(fit: Coefficients, odds: Array, correction: SlopeCorrection) -> Coefficients:
    """A fit to clipped rows, for rows that are not clipped: scores turn about the log odds ``(B,)``
    of the share of yes, and what is uncertain about how far is added."""
    factor = np.broadcast_to(np.asarray(correction.factor, dtype=float), fit.runs)
    error = np.broadcast_to(np.asarray(correction.error, dtype=float), fit.runs)
    moved = fit.mean.copy()
    moved[:, -1] -= odds
    off = error[:, None] * moved
    off = off[:, :, None] * off[:, None]
    moved = factor[:, None] * moved
    moved[:, -1] += odds
    grown = (factor**2)[:, None, None]
    return Coefficients(
        finite(moved, LARGEST),
        finite(grown * fit.covariance + off),
        finite(grown * fit.noise_covariance + off),
    )


def _inverse(matrices: Array, ridge: Array, noise: Array) -> Array:
    """Inverse of ``(B, d, d)`` without its negative part, plus a ridge ``(B,)``; 0 where flat.

    noise ``(B,)``: deviation of what it is applied to, where its result has deviation 1; then it is
    the best linear guess in each direction, and little is made of directions that noise has drowned
    (Wiener 1949).
    """
    values, vectors = np.linalg.eigh((matrices + np.swapaxes(matrices, 1, 2)) / 2.0)
    raised = np.maximum(values, 0.0) + ridge[:, None]
    least = FLAT * np.maximum(raised.max(axis=1, keepdims=True, initial=0.0), FLAT)
    raised_2 = np.maximum(raised, least) ** 2 + noise[:, None] ** 2
    parts = np.where(raised > least, np.maximum(raised, least) / raised_2, 0.0)
    return np.asarray((vectors * parts[:, None]) @ np.swapaxes(vectors, 1, 2))


def _calibrated(
    rule: Array,
    sums: Array,
    squares: Array,
    inverse: Array,
    sums_sd: Array,
    squares_sd: Array,
) -> tuple[Array, Array, Array]:
    """Slope and intercept ``(B,)`` of a rule's scores, and the variance of y that they leave.

    All moments are per row. A score that is normal within each outcome has log odds that rise by
    (distance of its two means) / (its variance within). What the rule owes to the noise in the
    moments it is judged by is taken off; where little is left, a little is kept, unless it is
    clearly of the other sign.
    """
    slopes, mean = rule[:, :-1], squares[:, :-1, -1]
    share = np.clip(0.5 + sums[:, -1], RAREST, 1.0 - RAREST)
    variance = share * (1.0 - share)
    both = sums[:, :-1] - sums[:, -1:] * mean  # covariance of v and y
    corner, edge = inverse[:, :-1, :-1], inverse[:, :-1, -1]
    trace = np.trace(corner, axis1=1, axis2=2)
    owed = sums_sd**2 * (trace - np.einsum("bi,bi->b", edge, mean))
    turned = trace * rule[:, -1] + np.einsum("bi,bi->b", edge, slopes)
    owed = owed + squares_sd**2 / 8.0 * sums[:, -1] * turned
    reach = np.einsum("bi,bi->b", slopes, both) - owed
    length = np.sum(slopes**2, axis=1)
    doubt = np.sqrt(length * (sums_sd**2 + (sums[:, -1] * squares_sd) ** 2 / 2.0))
    reach = np.where(reach < -CLEARLY * doubt, reach, np.maximum(reach, UNSURE * doubt))
    score = np.einsum("bi,bi->b", slopes, mean)
    total = np.einsum("bi,bij,bj->b", slopes, squares[:, :-1, :-1], slopes) - score**2
    total = total + np.sqrt(rule.shape[1]) * squares_sd * length  # what the rule found in the noise
    between = reach**2 / variance
    total = np.maximum(total, (1.0 + THINNEST) * between)
    within = np.maximum(total - between, 1e-300)
    slope = np.clip(reach / variance / within, -STEEPEST, STEEPEST)
    middle = score + (0.5 - share) * reach / variance  # between the mean scores of both outcomes
    intercept = np.log(share / (1.0 - share)) - slope * middle
    left = variance * within / np.maximum(total, 1e-300)
    return slope, intercept, left


def curvature(fit: Coefficients) -> Curvature:
    """What a step asks of each row: ``k = 2 tanh(t/2)/t`` with ``t^2 = x^T E[b b^T] x``."""
    seconds = finite(fit.covariance + fit.mean[:, :, None] * fit.mean[:, None])

    def of_rows(rows: Array, runs: Indices) -> Array:
        squares = np.stack([np.einsum("mp,mp->m", rows @ second, rows) for second in seconds[runs]])
        return curvature_at(np.sqrt(np.maximum(squares, 0.0)))

    return of_rows


def curvature_at(score: Array) -> Array:
    """``2 tanh(t/2)/t``, 1 at 0.

    >>> curvature_at(np.array([0.0, 1e-9, 2.0])).round(4).tolist()
    [1.0, 1.0, 0.7616]
    """
    size = np.maximum(np.abs(score), 1e-12)
    return np.asarray(2.0 * np.tanh(size / 2.0) / size)


def precision(fit: Coefficients) -> Array:
    """Expected prior precision of the coefficients ``(B,)`` under their Gamma prior."""
    size = fit.mean.shape[1]
    square = np.sum(fit.mean**2, axis=1) + np.trace(fit.covariance, axis1=1, axis2=2)
    return np.asarray((SHAPE + size / 2.0) / (RATE + np.maximum(finite(square), 0.0) / 2.0))


@one_thread()
def step(released: NoisyOutcomes, prior: Array, floor: float = 0.0) -> Coefficients:
    """One step of variational Bayes; prior ``(B,)``: expected precision of the coefficients.

    floor: the least eigenvalue that ``sum k x x^T / 4`` is left with, public.

    Noise raises the precision by its own size in ``sum k x x^T / 4``, which keeps it an inverse.
    covariance: the posterior's, which knows nothing of the noise, plus what the noise of sums and
    squares does to the mean, first order.
    """
    sums, squares = finite(released.sums, LARGEST), finite(released.squares, LARGEST)
    size = sums.shape[1]
    edge = released.squares_sd * np.sqrt(size) / 4.0
    information = floored_eigenvalues(squares / 4.0, np.full(len(sums), floor))
    prior = np.maximum(prior + edge, FLAT)
    inverse = np.linalg.inv(information + prior[:, None, None] * np.eye(size))
    mean = finite(np.einsum("bij,bj->bi", inverse, sums), LARGEST)
    per_square = released.squares_sd**2 / 32.0
    plain = released.sums_sd**2 + per_square * np.sum(mean**2, axis=1)
    noise = plain[:, None, None] * np.eye(size)
    noise = noise + per_square[:, None, None] * mean[:, :, None] * mean[:, None]
    noise = inverse @ noise @ inverse
    return Coefficients(mean, finite(inverse + noise), finite(noise))
