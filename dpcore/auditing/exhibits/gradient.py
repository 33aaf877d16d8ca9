"""Wang, Ding, Hu, Xie, Pan, Xu 2023 (robust gradient EM): claims that do not cover a case."""

from __future__ import annotations

import math

from scipy.special import ndtr

from dpcore.auditing.exhibits.base import Exhibit, of_normal_noise, stated_mu

PAPER = "Wang, Ding, Hu, Xie, Pan, Xu 2023"
LIMIT = 2.0 * math.sqrt(2.0) / 3.0


def truncation_as_printed(value: float, smoothing: float) -> float:
    """Equation 14 in floating point, term by term: ``a (1 - b^2/2) - a^3/6 + C(a, b)``.

    >>> abs(truncation_as_printed(1e8, 1.731)) > 1e6
    True
    """
    a, b = value, abs(value) / math.sqrt(smoothing)
    low, high = (math.sqrt(2.0) - a) / b, (math.sqrt(2.0) + a) / b
    below, above = float(ndtr(-low)), float(ndtr(-high))
    near, far = math.exp(-0.5 * low * low), math.exp(-0.5 * high * high)
    root = math.sqrt(2.0 * math.pi)
    terms = (
        LIMIT * (below - above),
        -(a - a**3 / 6.0) * (below + above),
        b / root * (1.0 - a * a / 2.0) * (far - near),
        0.5 * a * b * b * (above + below + (high * far + low * near) / root),
        b**3 / (6.0 * root) * ((2.0 + low * low) * near - (2.0 + high * high) * far),
    )
    return a * (1.0 - b * b / 2.0) - a**3 / 6.0 + math.fsum(terms)


def truncation_unbounded(epsilon: float = 1.0, delta: float = 1e-5) -> Exhibit:
    """Coded as printed, huge terms cancel in rounding: what should be 0.8 becomes millions."""
    smoothing = math.sqrt(math.log(20.0))
    far = truncation_as_printed(1e8, smoothing)
    largest = LIMIT * math.erf(math.sqrt(smoothing / 2.0))
    mu = stated_mu(epsilon, delta)
    return of_normal_noise(
        "truncation-unbounded",
        claim="a truncated gradient is at most 2 sqrt(2) / 3 in absolute value",
        epsilon=epsilon,
        delta=delta,
        published=mu * min(abs(far) / (2.0 * LIMIT), 1e3),
        corrected=mu * largest / LIMIT,
        tables=(
            "a row whose gradient is 0",
            "the same row with a gradient of 100,000,000 times the truncation scale",
        ),
        stated=LIMIT,
        true=abs(far),
        source=f"{PAPER}, equation 14",
        assumption="exact arithmetic, in which the terms cubic in a gradient cancel",
        correction="the same function evaluated by quadrature and clipped to its exact range",
        case=(
            "in floating point, the printed formula lets one large gradient move the mean without "
            "limit."
        ),
    )


def second_noise(epsilon: float = 1.0, delta: float = 1e-5, *, failure: float = 0.95) -> Exhibit:
    """The noise is printed twice; the second variance is ln(1/zeta) times the first, so smaller for
    zeta above 1/e, and in the end too small."""
    log = math.log(1.0 / delta)
    spent = math.sqrt(2.0) * epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))
    shorter = math.sqrt(math.log(1.0 / failure))  # the deviation; and the smoothing of the bound
    reached = math.erf(math.sqrt(shorter / 2.0))  # of the bound, attained by long gradients
    return of_normal_noise(
        "second-noise",
        claim="the second printed form of Algorithm 2's noise suffices",
        epsilon=epsilon,
        delta=delta,
        published=spent * reached / shorter,
        corrected=spent * reached,
        tables=("a row far out in every coordinate", "the same row with every sign reversed"),
        stated=1.0,
        true=shorter,
        source=f"{PAPER}, Algorithm 2 (zeta = {failure:g})",
        assumption="zeta is below 1/e",
        correction="the first form",
        case=(
            "the two printed forms of the noise variance, which should be equal, differ: for zeta "
            "above 1/e the second is the smaller, and for zeta near 1 it is too small."
        ),
    )
