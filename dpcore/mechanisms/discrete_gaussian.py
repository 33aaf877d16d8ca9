r"""The discrete Gaussian: normal noise on the whole numbers, drawn exactly, for what really leaves.

Noise in floating point gives values away through its last digits (Mironov 2012). Here a sum is put
on a public grid, so that tables differ by whole steps, and the noise is a whole number z with
probability proportional to ``exp(-z^2 / 2 s^2)``. A vector of them is as private, in zCDP, as the
continuous one of the same deviation (Canonne, Kamath, Steinke 2020, Theorem 14). Every coin is
decided by comparing whole numbers; none of it is rounded. On a fine grid it costs no more than the
continuous one:

**Lemma.** Let q in Z^n be released with independent discrete Gaussian noise of parameter S > 3
(probabilities proportional to ``exp(-k^2 / 2 S^2)``). Whatever q is, every output is as likely, up
to a factor between ``(1 + 1e-76)^-n`` and ``(1 + 1e-76)^n``, as it is under this: normal noise of
standard deviation ``sqrt(S^2 - 9)`` on q, then each coordinate y rounded at random to a whole
number k with probability proportional to ``exp(-(k - y)^2 / 18)``.

*Proof.* Coordinates are independent, so let n = 1; write ``g_s`` for the normal density of standard
deviation s, and t = 3. The sum of ``exp(-(k - y)^2 / 2 t^2)`` over all k is, by Poisson summation,
``t sqrt(2 pi) (1 + h(y))`` with ``|h(y)| <= 2 sum_m exp(-2 pi^2 t^2 m^2) < eta = 1.5e-77``. So the
rounded output is k with probability ``int g_s(y - q) g_t(k - y) / (1 + h(y)) dy``, s^2 = S^2 - t^2,
which is ``g_S(k - q)``, the convolution, up to a factor between ``1/(1 + eta)`` and
``1/(1 - eta)``. The discrete Gaussian gives k the probability ``g_S(k - q)`` up to a factor between
``1/(1 + eta)`` and 1, by the same sum with S for t. QED. (Regev 2009, Claim 3.9, and Peikert 2010,
Theorem 3.1, use the same convolution.)

**What follows.** Rounding at random is post-processing, so one release, or a sequence of them each
chosen after the last, has the privacy loss of Gaussian releases with noise multipliers ``z sqrt(1 -
9/S^2)``, but for ``2 n 1e-76`` in epsilon and a factor of ``exp(n 1e-76)`` on delta; n counts all
numbers that are ever released, and no computer releases 10^20. For S >= 2^20 the root is above
``1 - 2^-37.8``, and :attr:`dpcore.Event.continuous` takes ``1 - 2^-36``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Mask

Integers = NDArray[np.int64]
Words = Callable[[int], NDArray[np.uint64]]

SCALE = 1 << 24  # s: steps of the grid in one standard deviation
FARTHEST = 1 << 31  # from s; squares of more do not fit, and a chance of exp(-8192) is none
LARGEST = 1 << 62


def discrete_gaussian(count: int, words: Words) -> Integers:
    """``count`` independent draws with parameter :data:`SCALE`, by rejection from Laplace.

    words: gives so many uniform 64-bit words. A two-sided geometric Y of scale s is kept with
    probability ``exp(-(|Y| - s)^2 / 2 s^2)``. Source: Canonne, Kamath, Steinke 2020, Algorithm 3
    with t = s.

    >>> noise = discrete_gaussian(1000, np.random.default_rng(0).bit_generator.random_raw)
    >>> bool(0.9 < noise.std() / SCALE < 1.1)
    True
    """
    out = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        candidates = _discrete_laplace(count - filled + 64, words)
        away = np.minimum(np.abs(np.abs(candidates) - SCALE), FARTHEST)
        accepted = candidates[_exponential_coins(away * away, 2 * SCALE * SCALE, words)]
        accepted = accepted[: count - filled]
        out[filled : filled + len(accepted)] = accepted
        filled += len(accepted)
    return out


def _discrete_laplace(count: int, words: Words) -> Integers:
    """Whole numbers z with probability proportional to ``exp(-|z| / s)``; Algorithm 2 with t = s.

    ``|z| = U + s V``: U uniform below s, kept with probability ``exp(-U/s)``; V geometric with
    ``P(V >= v) = exp(-v)``. A zero with the minus sign is dropped.
    """
    within = _below(SCALE, count, words)
    within = within[_exponential_coins(within, SCALE, words)]
    beyond = np.zeros(len(within), dtype=np.int64)
    going = np.arange(len(within))
    while len(going):
        going = going[_exponential_coins(np.full(len(going), SCALE), SCALE, words)]
        beyond[going] += 1
    size = within + SCALE * beyond
    negative = (words(len(size)) & np.uint64(1)).astype(bool)
    signed = np.where(negative, -size, size)
    return np.asarray(signed[~(negative & (size == 0))])


def _exponential_coins(numerators: Integers, denominator: int, words: Words) -> Mask:
    """Coins that come up with probability ``exp(-numerator / denominator)``, each for itself.

    Source: the same, Algorithm 1: whole parts one after another, then the alternating series.
    """
    whole, part = np.divmod(numerators, denominator)
    up = _series_coins(part, denominator, words)
    going = np.flatnonzero(up & (whole > 0))
    left = whole[going].copy()
    while len(going):
        heads = _series_coins(np.full(len(going), denominator), denominator, words)
        up[going[~heads]] = False
        left = left[heads] - 1
        going = going[heads][left > 0]
        left = left[left > 0]
    return np.asarray(up)


def _series_coins(numerators: Integers, denominator: int, words: Words) -> Mask:
    """The same for numerators at most as large as the denominator.

    K counts coins of probability ``x/1, x/2, x/3, ...`` until the first tails; it is odd with
    probability ``exp(-x)``.
    """
    tosses = np.zeros(len(numerators), dtype=np.int64)
    going, step = np.arange(len(numerators)), 1
    while len(going):
        tosses[going] += 1
        heads = _below(denominator * step, len(going), words) < numerators[going]
        going, step = going[heads], step + 1
    return np.asarray(tosses % 2 == 1)


def _below(limit: int, count: int, words: Words) -> Integers:
    """Uniform whole numbers in ``[0, limit)``; a word of an incomplete stretch is drawn again."""
    if not 0 < limit <= LARGEST:
        raise ValueError("the limit of a uniform number must be between 1 and 2^62")
    if limit & (limit - 1) == 0:
        return (words(count) & np.uint64(limit - 1)).astype(np.int64)
    least = np.uint64((1 << 64) % limit)  # words from here on fill whole stretches
    uniform = words(count)
    again = np.flatnonzero(uniform < least)
    while len(again):
        uniform[again] = words(len(again))
        again = again[uniform[again] < least]
    return (uniform % np.uint64(limit)).astype(np.int64)
