r"""Soft truncation: a number is bent smoothly to a limit, and noise smooths the bend.

``phi(x) = x - x^3/6`` up to ``|x| = sqrt 2`` and ``2 sqrt 2/3`` beyond; its smoothed value is
``h(u) = E phi(u + u xi / sqrt(b))`` with xi standard normal and b the public ``smoothing``. Wang,
Ding, Hu, Xie, Pan, Xu 2023, equations (12) to (14), after Catoni, Giulini 2017.

The published closed form is a difference of terms that grow like ``u^3`` and cancel: computed as
printed it leaves its own bound from about ``u = 1e6`` on, so that one record could move a mean
without limit. Here it is used only where nothing cancels.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, ndtr, roots_legendre

from dpcore.arrays import Array
from dpcore.checks import positive

ROOT2 = math.sqrt(2.0)
LIMIT = 2.0 * ROOT2 / 3.0  # of phi
FAR = 1e8  # from here on h differs from its limit by less than 1e-15
NARROW, WIDE = 1e-8, 0.25  # spreads b below which phi itself is exact, above which nodes are
NODES = 48
CELLS = 1 << 15  # of the table


def truncated(x: ArrayLike) -> Array:
    """``phi(x)``: x near 0, never beyond ``2 sqrt 2 / 3``; NaN becomes 0.

    >>> truncated([0.0, 1.0, 9.0]).round(4).tolist()
    [0.0, 0.8333, 0.9428]
    """
    inside = np.clip(np.nan_to_num(np.asarray(x, dtype=float)), -ROOT2, ROOT2)
    return np.asarray(inside - inside**3 / 6.0)


def largest(smoothing: float) -> float:
    r"""The exact supremum of ``|h|``: ``(2 sqrt 2 / 3) erf(sqrt(b / 2))``, below that of phi.

    *Proof.* ``h(u) = E phi(u W)`` with W normal of mean 1 and variance ``1/b``. phi is odd, so
    ``h'(u) = int_0^inf w phi'(u w) (f(w) - f(-w)) dw >= 0`` with f the density of W: h never falls,
    and ``phi(u W)`` tends to ``(2 sqrt 2/3) sign W``, whose mean is
    ``(2 sqrt 2/3) (2 Phi(sqrt b) - 1)``. QED.

    >>> round(largest(2.0) / LIMIT, 4)
    0.8427
    """
    return LIMIT * float(erf(math.sqrt(positive("smoothing", smoothing) / 2.0)))


def correction(mean: Array, spread: Array) -> Array:
    """``E phi(a + b xi) - [a (1 - b^2/2) - a^3/6]`` for a = mean, b = spread > 0, in closed form.

    From the moments of a truncated normal; its five terms are those of Catoni, Giulini 2017.
    """
    a, b = mean, spread
    below, above = (ROOT2 - a) / b, (ROOT2 + a) / b
    out_right, out_left = ndtr(-below), ndtr(-above)
    bump_right, bump_left = np.exp(-0.5 * below**2), np.exp(-0.5 * above**2)
    root = math.sqrt(2.0 * math.pi)
    first = LIMIT * (out_right - out_left)
    second = -(a - a**3 / 6.0) * (out_right + out_left)
    third = b / root * (1.0 - a**2 / 2.0) * (bump_left - bump_right)
    tails = out_left + out_right + (below * bump_right + above * bump_left) / root
    fourth = a * b**2 / 2.0 * tails
    edges = (2.0 + below**2) * bump_right - (2.0 + above**2) * bump_left
    return np.asarray(first + second + third + fourth + b**3 / (6.0 * root) * edges)


def smoothed(u: ArrayLike, smoothing: float) -> Array:
    """``h(u)`` to about 1e-14 for every real u, of any shape; undefined u counts as 0.

    Never beyond :func:`largest`. Which formula serves depends on ``b = |u| / sqrt(smoothing)``, the
    spread before phi bends it:

    ==================  ====================================================================
    b up to 1e-8        phi itself: the rest is below ``b^2``
    b below 0.25        closed form, far outside at the nearest place where phi is flat
    b of 0.25 or more   Gauss-Legendre nodes inside ``sqrt 2``, and the limits beyond it
    ==================  ====================================================================

    >>> smoothed([0.0, 1e-300, 0.5, 1e300, np.inf, np.nan], 1.0).round(4).tolist()
    [0.0, 0.0, 0.4185, 0.6436, 0.6436, 0.0]
    """
    root = math.sqrt(positive("smoothing", smoothing))
    bound = largest(smoothing)
    a = np.asarray(u, dtype=float)
    flat = np.minimum(np.abs(np.where(np.isnan(a), 0.0, a)), FAR).ravel()
    b = flat / root
    out = truncated(flat)
    near, wide = (b > NARROW) & (b < WIDE), b >= WIDE
    out[near] = _closed(flat[near], b[near])
    out[wide] = _by_nodes(flat[wide], b[wide])
    return np.asarray(np.copysign(np.clip(out, 0.0, bound).reshape(a.shape), a))


def _closed(a: Array, b: Array) -> Array:
    """Closed form; where phi is flat within 10 spreads, any farther place has the same value."""
    a = np.minimum(a, ROOT2 + 10.0 * b)
    return np.asarray(a * (1.0 - b**2 / 2.0) - a**3 / 6.0 + correction(a, b))


def _by_nodes(a: Array, b: Array) -> Array:
    """``int phi(t) N(t; a, b^2) dt``: nodes inside ``[-sqrt 2, sqrt 2]``, limits beyond."""
    nodes, weights = roots_legendre(NODES)
    out = LIMIT * (ndtr((a - ROOT2) / b) - ndtr(-(ROOT2 + a) / b))
    for node, weight in zip(ROOT2 * nodes, ROOT2 * weights, strict=True):
        density = np.exp(-0.5 * ((node - a) / b) ** 2)
        out += weight * (node - node**3 / 6.0) * density / (b * math.sqrt(2.0 * math.pi))
    return np.asarray(out)


class Truncation:
    """h for one smoothing as a table: many numbers at once, to about 1e-8, never beyond its range.

    The table is even in ``u / (1 + |u|)``, so it reaches infinity; lines between its points.
    """

    def __init__(self, smoothing: float) -> None:
        self.smoothing = positive("smoothing", smoothing)
        self.largest = largest(smoothing)
        place = np.arange(CELLS) / CELLS
        values = np.append(smoothed(place / (1.0 - place), smoothing), self.largest)
        self._values = values
        self._steps = np.append(np.diff(values), 0.0)

    def __call__(self, u: Array) -> Array:
        """``h(u)`` of any shape; total: undefined counts as 0, infinite as the limit."""
        with np.errstate(invalid="ignore"):
            size = np.abs(u)
            place = size / (1.0 + size)
        place[np.isinf(size)] = 1.0
        place[np.isnan(size)] = 0.0
        place *= CELLS
        cell = place.astype(np.intp)
        place -= cell
        place *= self._steps[cell]
        place += self._values[cell]
        return np.copysign(place, u)


@lru_cache(maxsize=16)
def truncation(smoothing: float) -> Truncation:
    """The table of one smoothing, made once."""
    return Truncation(smoothing)
