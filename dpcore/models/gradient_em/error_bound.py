r"""How far Algorithm 2 can end from the truth, for given rows, columns and budget: a proved bound.

Wang, Ding, Hu, Xie, Pan, Xu 2023 state such bounds (Theorems 4 to 6) up to constants that are not
printed. This one has the same parts, with constants, and takes as given what the theorems derive
from each model: how much a step without noise contracts the distance, and tau.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.checks import nonnegative, positive, probability, share_below_one, whole
from dpcore.models.gradient_em.mathematics import printed_bend
from dpcore.models.shared.truncation import LIMIT


@dataclass(frozen=True)
class ErrorBound:
    """The parts of a bound on ``|beta - truth|``, in the data's units.

    start: what the steps leave of the start's distance. truncation: bias of the truncated means.
    sampling: of finitely many rows. noise: of privacy.
    """

    start: float
    truncation: float
    sampling: float
    noise: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.start + self.truncation + self.sampling + self.noise


def error_bound(
    rows: int,
    columns: int,
    epsilon: float,
    delta: float,
    *,
    tau: float,
    contraction: float,
    away: float,
    iterations: int = 5,
    failure: float = 0.05,
) -> ErrorBound:
    r"""A bound on the error of Algorithm 2 as printed that holds with probability ``1 - failure``.

    rows, columns: n and d. epsilon, delta: of the whole fit, where one row is replaced. away: the
    distance of the start from the truth. The truth is in the ball that beta is kept in. Steps have
    the size 1.

    **Given** at every beta that is met: ``E g_j^2 <= tau`` for each coordinate of a row's gradient
    (of two opposite clouds, by Minkowski's inequality, ``(|beta| + sqrt(|truth|^2 + sigma^2))^2``
    is such a tau), and ``|beta + E g - truth| <= contraction |beta - truth|``. The bound is as good
    as these.

    *Proof.* With ``T`` steps, each on its own ``m = floor(n / T)`` rows, smoothing b and scale s,
    write ``L = ln(4 d T / failure)``. (1) The scores ``u = theta g_j / s`` with theta normal of
    mean 1 and variance ``1/b`` satisfy ``-ln(1 - u + u^2/2) <= phi(u) <= ln(1 + u + u^2/2)``; by
    the PAC-Bayesian inequality, with ``N(0, 1/b)`` as prior, whose divergence is ``b/2``, the
    truncated mean of a coordinate is within ``(1 + 1/b) tau / (2 s) + s (b/2 + L) / m`` of
    ``E g_j``, but for a probability of ``failure / (2 d T)``; over d coordinates and T steps
    ``failure / 2``. (2) The norm of d independent normal numbers of deviation 1 is at most
    ``sqrt d + sqrt(2 ln(2 T / failure))``, but for ``failure / (2 T)``; over T steps
    ``failure / 2``. (3) Hence each step moves by at most ``e`` from where it would without noise
    and with all the rows of the law, e being ``sqrt d`` times (1) plus the noise's deviation times
    (2). The projection on a ball that holds the truth brings nothing farther from it, and a part's
    rows are independent of the beta they meet, so
    ``D_T <= contraction^T D_0 + e (1 - contraction^T) / (1 - contraction)``. QED.

    Raises InputError for values out of range and for fewer rows than steps.

    >>> given = {"tau": 2.0, "contraction": 0.3, "away": 1.5}
    >>> few, many = (error_bound(n, 10, 1.0, 1e-5, **given) for n in (5_000, 80_000))
    >>> round(few.noise / many.noise, 3), few.start == many.start
    (4.0, True)
    """
    dimension, gap = whole("columns", columns), _gap(epsilon, delta)
    steps = whole("iterations", iterations)
    part = whole("rows", rows, least=steps) // steps
    square, chance = positive("tau", tau), probability("failure", failure)
    bend = printed_bend(np.array([1.0 / (math.sqrt(2.0) * gap)]), part, square, chance)
    scale, smoothing = float(bend.scale[0]), bend.smoothing
    remaining = share_below_one("contraction", contraction) ** steps
    moved = (1.0 - remaining) / (1.0 - contraction)
    root = math.sqrt(dimension)
    several = math.log(4.0 * dimension * steps / chance)
    deviation = math.sqrt(2.0) * LIMIT * scale * root / (part * gap)
    length = root + math.sqrt(2.0 * math.log(2.0 * steps / chance))
    return ErrorBound(
        start=remaining * nonnegative("away", away),
        truncation=moved * root * (1.0 + 1.0 / smoothing) * square / (2.0 * scale),
        sampling=moved * root * scale * (smoothing / 2.0 + several) / part,
        noise=moved * deviation * length,
    )


def _gap(epsilon: float, delta: float) -> float:
    """``sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta))``, without cancellation."""
    budget, log = positive("epsilon", epsilon), math.log(1.0 / probability("delta", delta))
    return budget / (math.sqrt(log + budget) + math.sqrt(log))
