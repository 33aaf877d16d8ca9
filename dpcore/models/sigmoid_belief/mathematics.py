r"""Sigmoid belief networks: hidden causes, each on or off, that light up the pixels of a row.

Hidden unit k is on with log odds ``b_k``, pixel j with log odds ``w_j z + c_j``. Variational Bayes
with Polya-Gamma augmentation makes both sides normal (Gan, Henao, Carlson, Carin 2015); weights
have the three-parameter beta normal prior, which pulls most of them to 0 (Park, Foulds, Chaudhuri,
Welling 2020, Algorithm 6 and appendices 4, 5). The E step of a row reads that row and released
numbers; the M step reads released sums and is total. Runs are kept in a list: one network is large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import expit, k0e, k1e, logit, logsumexp

from dpcore.arrays import Array, Indices
from dpcore.errors import InputError
from dpcore.mechanisms.gaussian import symmetric_from_coordinates, symmetric_to_coordinates
from dpcore.models.shared.moments import TINY, finite, floored_eigenvalues
from dpcore.wall.kernels.threads import one_thread
from dpcore.wall.statistics import STEEPEST, NoisyBelief, pairs_of

Numbers = NDArray[Any]  # in a precision of one's choice

WIDE = 10.0  # prior variance of the biases
MOST_SUMMED = 12  # hidden units over whose states a likelihood is summed
ROUNDS = 2  # of curvature and hidden units, for each row
SMALLEST, LARGEST = 1e-10, 1e10  # of a scale in the weights' prior
LARGEST_WEIGHT = 1e3
ROUNDING = 1e-12  # of the largest sum, so that none is without an inverse
PRINTED_FLOOR = 1e-3  # of an eigenvalue of a pixel's form, mean over rows, as printed
NOISY = ("visible", "curvature", "pairs", "forms")  # whose noise an M step knows
CURVED = 0.2  # share by which a pixel's curvature differs from that of its share of rows alone
TOLERATED = 0.03  # noise in a weight, log odds; a ridge keeps it below
TRUSTED = 0.002  # of a ridge, for each row: what it takes from weights is a tenth of them, or less


@dataclass(frozen=True)
class Network:
    """B networks: weights ``(B, J, K)``, visible_bias ``(B, J)``, hidden_bias ``(B, K)``."""

    weights: Array
    visible_bias: Array
    hidden_bias: Array

    @property
    def runs(self) -> int:
        """How many fits the batch holds, B."""
        return int(self.weights.shape[0])


@dataclass(frozen=True)
class Posterior:
    """What one run knows: means of weights ``(J, K)`` and biases, and their second moments.

    weight_squares ``(K(K+1)/2, J)``: of ``E[w_j w_j^T]`` in norm-keeping coordinates.
    visible_squares ``(J,)``, hidden_squares ``(K,)``: of the biases. The rest is the weights'
    prior: precision ``(J, K)``, rate ``(J, K)``, spread ``(K,)``, whole.
    """

    weights: Array
    weight_squares: Array
    visible_bias: Array
    visible_squares: Array
    hidden_bias: Array
    hidden_squares: Array
    precision: Array
    rate: Array
    spread: Array
    whole: float


def start(hidden: int, visible: int, seed: int) -> Posterior:
    """A start that knows no data: small random weights, as in the authors' program."""
    rng = np.random.default_rng([seed, hidden, visible, 7])
    weights = 0.1 * rng.standard_normal((visible, hidden))
    return Posterior(
        weights,
        _squares(weights, np.zeros((visible, hidden, hidden))),
        np.zeros(visible),
        np.ones(visible),
        np.zeros(hidden),
        np.ones(hidden),
        np.ones((visible, hidden)),
        np.ones((visible, hidden)),
        np.ones(hidden),
        1.0,
    )


def fixed(weights: Array, visible_bias: Array, hidden_bias: Array) -> Posterior:
    """One network that is known for certain: weights ``(J, K)`` and biases."""
    j, k = weights.shape
    return replace(
        start(k, j, 0),
        weights=weights,
        weight_squares=_squares(weights, np.zeros((j, k, k))),
        visible_bias=visible_bias,
        visible_squares=visible_bias**2,
        hidden_bias=hidden_bias,
        hidden_squares=hidden_bias**2,
    )


def _squares(weights: Array, covariance: Array) -> Array:
    """``E[w w^T]`` of each pixel in norm-keeping coordinates ``(K(K+1)/2, J)``."""
    seconds = covariance + weights[:, :, None] * weights[:, None]
    return np.ascontiguousarray(symmetric_to_coordinates(seconds).T)


def curvature_at(score: Array) -> Array:
    """``tanh(t/2) / (2t)``, 1/4 at 0.

    >>> curvature_at(np.array([0.0, 2.0])).round(4).tolist()
    [0.25, 0.1904]
    """
    half = np.maximum(np.abs(score), 1e-6) / 2.0
    return np.asarray(np.tanh(half) / (4.0 * half))


def e_step(
    rows: Array, posterior: Posterior, rounds: int = ROUNDS, *, single: bool = True
) -> tuple[Array, Array]:
    """Hidden units ``(m, K)`` and curvature ``(m, J)`` for rows ``(m, J)`` of 0 and 1.

    Every row begins at the units' own odds; each round raises the bound on its likelihood. No round
    waits for another row. single: large products in single precision, which is twice as fast, and
    rounds a row by its place in the block: only where no row changes its place.
    """
    kind: type[np.floating[Any]] = np.float32 if single else np.float64
    units = posterior.weights.shape[1]
    hidden = np.repeat(expit(posterior.hidden_bias)[None], len(rows), axis=0)
    curvature = curvature_at(
        hidden @ posterior.weights.T + posterior.visible_bias
    )  # a cheap first guess
    entries, square = _entries(posterior, kind), _square(units)
    for turn in range(rounds):
        if turn > 0:
            curvature = curvature_at(_scores(hidden, posterior, entries))
        with np.errstate(invalid="ignore"):  # some products of single numbers flag unused lanes
            pulls: Numbers = curvature.astype(entries.dtype) @ entries.T
        between = np.take(pulls, square, axis=1).reshape(len(rows), units, units)
        odds = (rows - 0.5 - curvature * posterior.visible_bias) @ posterior.weights
        odds += posterior.hidden_bias - 0.5 * pulls[:, :units]
        now: Numbers = hidden.astype(kind)
        for k in range(units):
            others = np.einsum("ml,ml->m", now, between[:, k]) - now[:, k] * between[:, k, k]
            now[:, k] = expit(odds[:, k] - others)
        hidden = now.astype(np.float64)
    return hidden, curvature


def _entries(posterior: Posterior, kind: type[np.floating[Any]] = np.float32) -> Numbers:
    """``E[w w^T]`` of each pixel ``(K(K+1)/2, J)`` in a precision: diagonal, then above it."""
    units = posterior.weights.shape[1]
    entries = posterior.weight_squares.astype(kind)
    entries[units:] *= kind(0.5**0.5)
    return np.asarray(entries)


@cache
def _square(units: int) -> Indices:
    """Which of those entries each entry of a whole matrix is ``(K * K,)``."""
    first, second = pairs_of(units)
    at = np.empty((units, units), dtype=np.intp)
    at[first, second] = at[second, first] = np.arange(len(first))
    at.flags.writeable = False
    return at.ravel()


def _scores(hidden: Array, posterior: Posterior, entries: Numbers) -> Array:
    """Root of the expected square of each pixel's log odds ``(m, J)``."""
    units = hidden.shape[1]
    first, second = pairs_of(units)
    cast = hidden.astype(entries.dtype)
    products = np.take(cast, first, axis=1)
    products *= np.take(cast, second, axis=1)
    products[:, :units] = cast
    products[:, units:] *= entries.dtype.type(2.0)
    seconds = np.asarray(products @ entries, dtype=np.float64)
    middle = hidden @ posterior.weights.T
    seconds += posterior.visible_squares + 2.0 * posterior.visible_bias * middle
    return np.asarray(np.sqrt(np.maximum(seconds, 0.0)))


@dataclass(frozen=True)
class Sums:
    """Averaged sums of one run, as if over all rows; ``*_sd``: of the noise in a coordinate."""

    hidden: Array
    visible: Array
    curvature: Array
    pairs: Array
    forms: Array
    rows: float
    visible_sd: float
    curvature_sd: float
    pairs_sd: float
    forms_sd: float

    @classmethod
    def of(cls, released: NoisyBelief, run: int, share: float, *, as_printed: bool) -> Sums:
        """One run of a release on a share of the rows; as printed, nothing is made of the size of
        its noise."""
        names = ("hidden", "visible", "curvature", "pairs", "forms")
        parts = [finite(getattr(released, name)[run]) / share for name in names]
        rows = float(released.rows[run]) / share
        weight = 0.0 if as_printed else 1.0 / share
        noise = [weight * float(released.sd[name][run]) for name in NOISY]
        hidden, visible, curvature, pairs, forms = parts
        return cls(hidden, visible, curvature, pairs, forms, rows, *noise)

    @one_thread()
    def in_range(self) -> Sums:
        """Each sum cut to what exact rows could add up to, as the authors' program does.

        The forms of a pixel also lose eigenvalues below :data:`PRINTED_FLOOR` per row.
        """
        units, rows = len(self.hidden), max(self.rows, 1.0)
        on = np.clip(self.hidden + rows / 2.0, 0.0, rows)
        both = self.pairs + (self.hidden + rows / 2.0) / 2.0
        reach = np.append(np.ones(units), np.full(len(self.forms) - units, 2.0**0.5))
        forms = np.clip(self.forms, 0.0, STEEPEST * rows * reach[:, None])
        square = symmetric_from_coordinates(np.ascontiguousarray(forms.T), units)
        floor = np.full(len(square), PRINTED_FLOOR * rows)
        return replace(
            self,
            hidden=on - rows / 2.0,
            visible=np.clip(self.visible, -rows / 2.0, rows / 2.0),
            curvature=np.clip(self.curvature, 0.0, STEEPEST * rows),
            pairs=np.clip(both, 0.0, rows) - on / 2.0,
            forms=symmetric_to_coordinates(floored_eigenvalues(square, floor)).T,
        )

    def trust(self) -> float:
        """By which these sums count beside ones without noise: 1 without noise, 1/2 where the ridge
        that noise needs takes as much from a weight as :data:`TRUSTED` of curvature in each row."""
        ridge = self._ridge() / (TRUSTED * max(self.rows, 1.0))
        return 1.0 / (1.0 + ridge**2)

    def _ridge(self) -> float:
        """Of the size of the noise's eigenvalues in a pixel's forms, and so large that noise in the
        pairs moves a weight by little; vanishes with the noise."""
        return self.forms_sd * math.sqrt(2.0 * len(self.hidden)) + self.pairs_sd / TOLERATED


def sums_over(drawn: Array, posterior: Posterior, rows: float) -> Sums:
    """Sums over public rows ``(n, J)`` of 0 and 1 that stand for so many rows, without noise."""
    hidden, curvature = e_step(drawn, posterior)
    units, scale = hidden.shape[1], rows / len(drawn)
    first, second = pairs_of(units)
    products = hidden[:, first] * hidden[:, second] * math.sqrt(2.0)
    products[:, :units] = hidden
    return Sums(
        scale * (hidden - 0.5).sum(axis=0),
        scale * (drawn - 0.5).sum(axis=0),
        scale * curvature.sum(axis=0),
        scale * ((drawn - 0.5).T @ hidden),
        scale * (products.T @ curvature),
        rows,
        *([0.0] * len(NOISY)),
    )


@one_thread()
def m_step(sums: Sums, before: Posterior, *, as_printed: bool = False) -> Posterior:
    """The next posterior from released sums alone.

    as_printed: the sums come from :meth:`Sums.in_range`, which keeps every form positive definite;
    cutting entries to what rows could add up to would undo that, so they stay as they are.
    """
    k = before.weights.shape[1]
    most = STEEPEST * max(sums.rows, 1.0)  # of a sum of curvatures
    on, curvature = _denoised(sums)
    curvature = np.clip(curvature, 0.0, most)
    diagonal = np.clip(sums.forms[:k], 0.0, most).T  # of each pixel
    forms = symmetric_from_coordinates(np.ascontiguousarray(sums.forms.T), k)
    if not as_printed:
        forms = np.clip(forms, -most, most)
    covariance = _inverse(forms, before.precision + sums._ridge() + ROUNDING * most)
    target = sums.pairs - before.visible_bias[:, None] * diagonal
    weights = np.einsum("jkl,jl->jk", covariance, target)
    weights = np.clip(weights, -LARGEST_WEIGHT, LARGEST_WEIGHT)
    visible_variance = 1.0 / (1.0 / WIDE + curvature)
    visible = visible_variance * (on - np.sum(diagonal * weights, axis=1))
    visible = np.clip(visible, -LARGEST_WEIGHT, LARGEST_WEIGHT)
    steepness = curvature_at(np.sqrt(before.hidden_squares))
    hidden_variance = 1.0 / (1.0 / WIDE + max(sums.rows, 1.0) * steepness)
    hidden = np.clip(hidden_variance * sums.hidden, -LARGEST_WEIGHT, LARGEST_WEIGHT)
    squares = weights**2 + np.einsum("jkk->jk", covariance)
    precision, rate, spread, whole = _shrinkage(squares, before)
    return Posterior(
        weights,
        _squares(weights, covariance),
        visible,
        visible**2 + visible_variance,
        hidden,
        hidden**2 + hidden_variance,
        precision,
        rate,
        spread,
        whole,
    )


def _denoised(sums: Sums) -> tuple[Array, Array]:
    """Sums of pixels about 1/2 and of their curvatures ``(J,)``, less the noise in them.

    Pixels as :func:`shares` has it; curvatures are drawn towards that of a pixel that no unit
    lights. Without noise both stay.
    """
    if sums.visible_sd == 0.0:
        return sums.visible, sums.curvature
    rows = max(sums.rows, 1.0)
    share = shares(sums.visible, sums.visible_sd, rows)
    alone = rows * curvature_at(logit(share))
    signal = (CURVED * alone) ** 2
    trust = signal / (signal + sums.curvature_sd**2)
    curvature = alone + trust * (sums.curvature - alone)
    return rows * (share - 0.5), np.maximum(curvature, (1.0 - trust) * alone / 4.0)


def shares(visible: Array, sd: float, rows: float) -> Array:
    """Shares of the rows in which pixels are on ``(J,)``, from their sums about 1/2 ``(J,)`` with
    noise of a deviation: drawn towards what the pixels have in common by the share of noise in
    their differences (James and Stein 1961, positive part)."""
    common = np.mean(visible)
    apart, noise = visible - common, len(visible) * sd**2
    apart = apart * max(1.0 - noise / max(float(apart @ apart), noise, TINY), 0.0)
    least = float(np.clip(sd / (4.0 * rows), 1e-9, 0.25))
    return np.asarray(np.clip(0.5 + (common + apart) / rows, least, 1.0 - least))


def _inverse(forms: Array, diagonal: Array) -> Array:
    """Inverse of ``forms + diag`` for each pixel; where that has none, of its positive part."""
    size = forms.shape[1]
    step, below = np.arange(size), np.tri(size, k=-1, dtype=bool)
    inverse = forms.copy()
    inverse[:, step, step] += diagonal
    for pixel, form in enumerate(inverse):
        factor, failed = dpotrf(form, lower=1)
        if failed:
            values, vectors = np.linalg.eigh(form)
            positive = np.maximum(values, diagonal[pixel].min())
            inverse[pixel] = (vectors / positive) @ vectors.T
        else:
            lower, _ = dpotri(factor, lower=1)
            inverse[pixel] = np.where(below, lower, lower.T)
    return inverse


def _shrinkage(squares: Array, before: Posterior) -> tuple[Array, Array, Array, float]:
    """The weights' prior given ``E[w^2] (J, K)``: precision, rate, spread of each unit, and whole.

    Generalised inverse Gaussian moments: with ``u = sqrt(ab)``, ``E[1/s] = sqrt(a/b) K1(u)/K0(u)``
    and ``E[s] = sqrt(b/a) K1(u)/K0(u)``.
    """
    j, k = squares.shape
    a = 2.0 * np.clip(before.rate, SMALLEST, LARGEST)
    b = np.clip(squares, SMALLEST, LARGEST)
    ratio = np.asarray(k1e(np.sqrt(a * b)) / k0e(np.sqrt(a * b)), dtype=np.float64)
    precision = np.asarray(np.clip(np.sqrt(a / b) * ratio, SMALLEST, LARGEST))
    scale = np.asarray(np.clip(np.sqrt(b / a) * ratio, SMALLEST, LARGEST))
    rate = 1.0 / (scale + before.spread)
    spread = (j / 2.0 + 0.5) / (before.whole + rate.sum(axis=0))
    whole = (k / 2.0 + 0.5) / (1.0 + spread.sum())
    return precision, rate, spread, float(whole)


def network(posteriors: list[Posterior]) -> Network:
    """The means of all runs."""
    return Network(
        np.stack([posterior.weights for posterior in posteriors]),
        np.stack([posterior.visible_bias for posterior in posteriors]),
        np.stack([posterior.hidden_bias for posterior in posteriors]),
    )


def reconstructed(rows: Array, net: Network, run: int) -> Array:
    """Chance of each pixel ``(m, J)`` given what the rows make of the hidden units."""
    posterior = fixed(net.weights[run], net.visible_bias[run], net.hidden_bias[run])
    hidden = e_step(rows, posterior)[0]
    return np.asarray(expit(hidden @ posterior.weights.T + posterior.visible_bias))


def bound(rows: Array, posterior: Posterior, hidden: Array) -> Array:
    """The bound on each row's log-likelihood ``(m,)`` at hidden units, curvature at its best."""
    score = _scores(hidden, posterior, _entries(posterior))
    middle = hidden @ posterior.weights.T + posterior.visible_bias
    pixels = (rows - 0.5) * middle - np.logaddexp(score / 2.0, -score / 2.0)
    safe = np.clip(hidden, 1e-12, 1.0 - 1e-12)
    prior = hidden * posterior.hidden_bias - np.logaddexp(0.0, posterior.hidden_bias)
    entropy = -safe * np.log(safe) - (1.0 - safe) * np.log1p(-safe)
    per_unit: Array = np.asarray(prior + entropy, dtype=np.float64)
    return np.asarray(pixels.sum(axis=1) + per_unit.sum(axis=1), dtype=np.float64)


def log_likelihood(rows: Array, net: Network) -> Array:
    """Mean log-likelihood ``(B,)`` of rows ``(m, J)`` of 0 and 1, summed over all states of the
    hidden units. Raises InputError where these are too many."""
    units = net.weights.shape[2]
    if units > MOST_SUMMED:
        raise InputError("units", "their states are too many to be summed over", "choose fewer")
    states = ((np.arange(2**units)[:, None] >> np.arange(units)) & 1).astype(float)
    means = []
    for weights, visible, hidden in zip(
        net.weights, net.visible_bias, net.hidden_bias, strict=True
    ):
        odds = states @ weights.T + visible
        prior = states @ hidden - np.logaddexp(0.0, hidden).sum()
        of_states = rows @ odds.T + prior - np.logaddexp(0.0, odds).sum(axis=1)
        means.append(np.mean(logsumexp(of_states, axis=1)))
    return np.array(means)


def sample(net: Network, count: int, rng: np.random.Generator) -> Array:
    """Rows of 0 and 1 ``(count, J)`` from the first run's network."""
    odds = expit(net.hidden_bias[0])
    hidden = (rng.random((count, len(odds))) < odds).astype(float)
    chance = expit(hidden @ net.weights[0].T + net.visible_bias[0])
    return np.asarray(rng.random(chance.shape) < chance, dtype=float)
