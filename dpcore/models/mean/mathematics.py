r"""The mean of heavy-tailed columns: soft truncation of each number, and what it costs.

Only the mean square is bounded: ``E x^2 <= 1`` after division by the public ``sqrt tau``. Each
number becomes ``s f(x / s)`` for a public scale s; f is plain clipping, or the soft truncation of
``shared.truncation``. A large s lets noise in, a small one cuts the tail off. Wang, Ding,
Hu, Xie, Pan, Xu 2023, Lemma 1 and Theorem 2; the bound behind ``bound`` is proved below.

Noise multipliers ``(B,)`` are those of the whole release of d numbers a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpcore.arrays import Array
from dpcore.models.shared.truncation import largest, truncation

METHODS = ("clip", "older", "improved", "bound")


@dataclass(frozen=True)
class Bent:
    """``s f(x / s)``: scale s ``(B,)``, or ``(B, d)`` of columns; smoothing of the truncation,
    ``None`` for clipping."""

    scale: Array
    smoothing: float | None

    @property
    def largest(self) -> float:
        """The largest ``|f|``."""
        return 1.0 if self.smoothing is None else largest(self.smoothing)

    def within(self, unit: Array) -> Bent:
        """The same in units of the limits, where the present unit is ``unit (d,)``; numbers are
        not clipped beyond the limits."""
        scale = self.scale[:, None] * unit
        return replace(self, scale=np.minimum(scale, 1.0) if self.smoothing is None else scale)

    def of(self, numbers: Array, runs: slice) -> Array:
        """``f(x / s) (b, d, m)`` of numbers ``(d, m)`` for some runs; the wall bounds it again."""
        scale = self.scale[runs, :, None]
        with np.errstate(over="ignore"):
            scaled = numbers / scale
        if self.smoothing is None:
            return np.asarray(np.clip(scaled, -1.0, 1.0))
        return truncation(self.smoothing)(scaled)


def central(method: str, multiplier: Array, rows: float, dim: int, failure: float) -> Bent:
    r"""Where to bend when a trusted curator adds the noise.

    ==========  ==============================================================================
    clip        ``s = 0.3 sqrt(n / 2z)``, but no more than the limits: as good as any in every case
                tried, by a rule of thumb
    older       Lemma 1: ``s = sqrt(n / 2L)``, smoothing ``2L``, ``L = ln(1/failure)``
    improved    Theorem 2: ``s = sqrt(n e) / (L ln^(1/4)(1/delta))``, smoothing ``sqrt L``
    bound       least provable error, see :func:`error_terms`
    ==========  ==============================================================================

    z is the noise multiplier of one number, ``sqrt d`` times that of the release. For epsilon up to
    ``ln(1/delta)``, ``e / sqrt(ln(1/delta))`` is ``sqrt 2 / z`` to first order.
    """
    log = math.log(1.0 / failure)
    per_column = np.maximum(
        multiplier * math.sqrt(dim), 1.0 / rows
    )  # without noise: as for very little
    if method == "clip":
        return Bent(0.3 * np.sqrt(rows / (2.0 * per_column)), None)
    if method == "older":
        return Bent(np.full(len(per_column), math.sqrt(rows / (2.0 * log))), 2.0 * log)
    if method == "improved":
        return Bent(np.sqrt(rows * math.sqrt(2.0) / per_column) / log, math.sqrt(log))
    # Best without noise; with noise the best is larger, and hardly better.
    smoothing = math.sqrt(2.0 * math.log(4.0 / failure))
    bias, spread = error_terms(per_column / rows, rows, failure, smoothing)
    return Bent(np.sqrt(bias / spread), smoothing)


def local(method: str, multiplier: Array, rows: float, dim: int, failure: float) -> Bent:
    """The same, ``multiplier (B,)``, when each person adds noise to an own number: the sum has
    ``sqrt n`` times it."""
    return central(method, multiplier * math.sqrt(rows), rows, dim, failure)


def one_bit_scale(epsilon: Array, rows: float) -> Array:
    """Where to clip before one bit is sent, within the limits: ``0.5 sqrt(sqrt(n) / B)``, by a rule
    of thumb.

    epsilon ``(B,)``: of one number. B: :func:`inflation`.
    """
    return np.asarray(0.5 * np.sqrt(math.sqrt(rows) / inflation(epsilon)))


def inflation(epsilon: Array) -> Array:
    """``(e^epsilon + 1) / (e^epsilon - 1)``: by how much a sent bit stands above what it says.

    Duchi, Jordan, Wainwright 2018, section 3.

    >>> inflation(np.array([1.0])).round(3)
    array([2.164])
    """
    return np.asarray(1.0 / np.tanh(np.asarray(epsilon) / 2.0))


def error_terms(noise: Array, rows: float, failure: float, smoothing: float) -> tuple[float, Array]:
    r"""Factors of ``1/s`` and of s, the scale, in what the error of one number's mean exceeds with
    probability ``failure`` at most.

    noise ``(B,)``: the mean's noise has the deviation ``2 s M noise``, M the truncation's bound;
    the noise multiplier over n, where a curator adds it.

    ``(1 + 1/b) / 2s + s (b/2 + L)/n + 2 s M noise sqrt(2 L)`` with ``L = ln(4/failure)``.

    *Proof.* ``-log(1 - u + u^2/2) <= phi(u) <= log(1 + u + u^2/2)``. Catoni's PAC-Bayesian
    inequality with a normal of mean 1 and variance 1/b against one of mean 0, whose divergence is
    b/2, bounds ``(s/n) sum h(x_i/s) - E x`` by the first two terms for each sign with probability
    ``1 - failure/4`` (Catoni, Giulini 2017). The normal noise of deviation ``2 s M noise`` exceeds
    the third with probability ``failure/2`` at most. QED.
    """
    log = math.log(4.0 / failure)
    spread = (smoothing / 2.0 + log) / rows + 2.0 * largest(smoothing) * noise * math.sqrt(2 * log)
    return (1.0 + 1.0 / smoothing) / 2.0, np.asarray(spread)
