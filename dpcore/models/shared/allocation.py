r"""How to share one noise budget: each block of statistics gets what an error in it costs.

A Gaussian with covariance ``v I`` and mean 0 is refitted from noisy counts, sums and squares of n
rows. To second order (Fisher information of the moments) an error in its mean costs
``|dm|^2 / 2v``, one in its covariance ``|dV|_F^2 / 4v^2`` and one in its weight ``(dn/n)^2 / 2``
nats a row, and

    ``dm = dS / n``,   ``dV = (dQ - v I dn) / n``

because counts divide both. With noise of standard deviation ``1/a`` in the counts, ``R/b`` in each
coordinate of the sums and ``R^2/c`` in each of the squares, the expected loss is therefore
``(w_N/a^2 + w_S/b^2 + w_Q/c^2) / n^2``: :func:`losses`. :func:`solved_weights` makes it least for
``a^2 + b^2 + c^2 = 1``. Isotropic noise on symmetric matrices: Dwork, Talwar, Thakurta, Zhang 2014.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array
from dpcore.wall.statistics import Structure

WIDEST = 2.0 * (1.0 - 1e-12)  # B/C; deflated by 1e-12 for rounding
STEPS_TO_DOUBLE = 3  # steps over which a step's share of the budget doubles
LARGEST_DOUBLINGS = 3  # between first and last step: the first must still find the groups


def losses(
    dim: int, structure: Structure, radius: float, variance: float = 1.0, *, grouped: bool = True
) -> Array:
    """Expected loss ``(3,)`` by noise in counts, sums and squares at weights ``a = b = c = 1``.

    variance: of a round shape around the origin, public. radius: of the ball, R above. grouped:
    whether counts are groups' weights too, or only divide the rest. A mean m away from the origin
    would add ``(|m|^2 / v)^2 / 4`` to the first (full shapes) and raise the second.

    >>> losses(2, "full", 1.0).tolist()
    [1.0, 1.0, 0.75]
    """
    counts = 0.5 * grouped + dim / 4.0
    sums = radius**2 * dim / (2.0 * variance)
    # Sum over the noisy coordinates of |dV|^2 / 4v^2: all d(d+1)/2, the diagonal's d, or one
    # trace, whose error is shared by d entries.
    errors = {"full": dim * (dim + 1) / 2.0, "diag": float(dim), "spherical": 1.0 / dim}
    return np.array([counts, sums, radius**4 * errors[structure] / (4.0 * variance**2)])


def solved_weights(loss: Array) -> Array:
    r"""Weights ``(a, b, c)``, squares adding up to 1, with the least ``sum loss / weight^2``.

    loss ``(3,)``: of counts, sums, squares; the last two above 0. Among the weights whose joint
    sensitivity is proved (``a >= b^2/2c``, ``b^2 <= 2 c^2``,
    :class:`~dpcore.wall.statistics.mixture_moments.MixtureMoments`). In the squares ``A, B, C``
    these limits enclose a convex set and the loss is convex, so the best of the stationary points
    is the answer:

    - inside, ``A : B : C`` as the square roots of the losses (Lagrange);
    - on ``A = B^2/4C``, with ``r = B/C``, the loss is
      ``(4 w_N/r^2 + w_S/r + w_Q)(1 + r/2)^2``, least at the one positive root of
      ``w_Q r^3 + w_S r^2/2 - w_S r - 8 w_N`` (one change of sign), but at most 2;
    - on ``B = 2C``, ``A/C`` is the square root of ``3 w_N / (w_S/2 + w_Q)``, but at least 1.

    >>> weights = solved_weights(losses(10, "full", math.sqrt(10) + 1))
    >>> (3 * weights / weights[2]).round(2).tolist()
    [0.49, 1.14, 3.0]
    """
    w_n, w_s, w_q = (float(part) for part in loss)
    roots = np.roots([w_q, w_s / 2.0, -w_s, -8.0 * w_n])
    ratio = min(WIDEST, float(roots.real.max()))
    tall = max(1.0, math.sqrt(3.0 * w_n / (w_s / 2.0 + w_q)))
    triples = [(ratio**2 / 4.0, ratio, 1.0), (tall, WIDEST, 1.0)]
    inside = (math.sqrt(w_n), math.sqrt(w_s), math.sqrt(w_q))
    if 4.0 * inside[0] * inside[2] >= inside[1] ** 2 and inside[1] <= 2.0 * inside[2]:
        triples = [inside]
    squares = [np.array(triple) / sum(triple) for triple in triples]
    return np.sqrt(min(squares, key=lambda triple: _total(loss, triple)))


def _total(loss: Array, squares: Array) -> float:
    """``sum loss / weight^2``, where a loss of 0 asks for nothing."""
    return float(np.sum(loss[loss > 0.0] / squares[loss > 0.0]))


def step_shares(iterations: int, *, even: bool = False) -> Array:
    r"""Shares ``(iterations,)`` of ``mu^2``, adding up to 1: late steps get more than early ones.

    EM forgets: an error made j steps before the end reaches it as ``r^j``, r the share of missing
    information (Dempster, Laird, Rubin 1977, section 3). Noise variances go as one over the
    shares, and ``sum r^(2j) / share_j`` is least for ``share_j ~ r^j``: a geometric schedule. r
    belongs to the data; here the share doubles every three steps (r = 0.8), at most three times, in
    stairs, because few different amounts of noise are quick to account for. even: all alike.

    >>> (16 * step_shares(6)).round(2).tolist()
    [1.07, 2.13, 2.13, 2.13, 4.27, 4.27]
    """
    if even:
        return np.full(iterations, 1.0 / iterations)
    back = np.arange(iterations, 0, -1)  # 1 for the last
    shares = 2.0 ** -np.minimum(LARGEST_DOUBLINGS, back // STEPS_TO_DOUBLE)
    return np.asarray(shares / shares.sum())
