"""Liu, Scaglione, Peisert 2025 (the labelled release): seven claims that do not cover a case.

What is shown is worked out in :mod:`dpcore.auditing.release_exhibits`; here stand the assumption,
the remedy and the words.
"""

from __future__ import annotations

import math
from typing import Any

from dpcore.accounting import delta_of
from dpcore.auditing import release_exhibits
from dpcore.auditing.exhibits.base import (
    Counterexample,
    Exhibit,
    normal_picture,
    of_normal_noise,
    stated_mu,
)

PAPER = "Liu, Scaglione, Peisert 2025"
SOUND = "sums by class with joint Gaussian noise, divided by the released counts"


def one_sided_noise(**words: Any) -> Exhibit:
    """Wishart noise only adds."""
    return _normal_instead(
        "one-sided-noise",
        release_exhibits.one_sided_noise(**words),
        source=f"{PAPER}, Wishart noise on covariances",
        assumption="every released covariance is possible under both tables",
        case=(
            "noise that is never negative rules out every table whose exact value is above the "
            "released one."
        ),
    )


def noise_that_reads(**words: Any) -> Exhibit:
    """Noise whose shape is chosen from the private rows."""
    return _normal_instead(
        "noise-that-reads",
        release_exhibits.noise_that_reads(**words),
        source=f"{PAPER}, noise designed by a semidefinite program",
        assumption="the shape of the noise reveals nothing about the rows",
        case=(
            "noise whose shape depends on the rows reveals more about them than is accounted for."
        ),
    )


def two_classes(**words: Any) -> Exhibit:
    """A label that changes leaves one class and enters another."""
    shown = release_exhibits.two_classes(**words)
    mu = release_exhibits.mu_of_a_class(shown.epsilon, shown.delta)
    return Exhibit(
        "two-classes",
        shown,
        source=f"{PAPER}, parallel composition over classes",
        assumption="a changed row stays in its class",
        correction="composition over both classes",
        corrected=float(delta_of(shown.epsilon, mu)),
        stated=1.0,
        true=math.sqrt(2.0),
        case="a changed label affects two classes, but only one is accounted for.",
        published_picture=normal_picture(math.sqrt(2.0) * mu),
        corrected_picture=normal_picture(mu),
    )


def mapping_support(**words: Any) -> Exhibit:
    """A random mapping whose outcomes give away where it began."""
    return _normal_instead(
        "mapping-support",
        release_exhibits.mapping_support(**words),
        source=f"{PAPER}, random mapping of class sizes",
        assumption="each released set of class sizes is about as likely under either table",
        case=(
            "many class sizes released under one table are possible under the other only through "
            "the mapping's small smoothing term."
        ),
    )


def empty_neighbours(**words: Any) -> Exhibit:
    """A largest change over neighbours that do not exist."""
    return _normal_instead(
        "empty-neighbours",
        release_exhibits.empty_neighbours(**words),
        source=f"{PAPER}, equation 29",
        assumption="removing a row changes only the share of its own class",
        case=(
            "shares add up to 1, so changing one changes another; no two neighbouring tables "
            "differ as the equation assumes."
        ),
    )


def rank_one_noise(**words: Any) -> Exhibit:
    """Noise along a single random direction."""
    return _normal_instead(
        "rank-one-noise",
        release_exhibits.rank_one_noise(**words),
        source="Ji, Li 2024 (R1SMG), a baseline in " + PAPER,
        assumption="noise along one random direction hides all coordinates",
        case=(
            "noise along one random direction has an unbounded density at the exact answer, "
            "which therefore stands out."
        ),
    )


def radius_not_squared(
    epsilon: float = 1.0, delta: float = 1e-5, *, radius: float = 10.0
) -> Exhibit:
    """A mean in a ball of radius B changes by 2B/N; the printed variance has B and not its square.

    Variance ``8 B ln(2/delta) / (N epsilon)^2``: deviations per change ``sqrt(2 ln(2/delta) / B)``.
    """
    classic = epsilon / math.sqrt(2.0 * math.log(2.0 / delta))
    return of_normal_noise(
        "radius-not-squared",
        claim=(
            "noise of variance 8 B ln(2/delta) / (N epsilon)^2 protects a row in a ball of radius B"
        ),
        epsilon=epsilon,
        delta=delta,
        published=classic * math.sqrt(radius),
        corrected=min(classic, stated_mu(epsilon, delta)),
        tables=(
            f"a row on a sphere of radius {radius:g} around 0",
            "the same row with every sign reversed",
        ),
        stated=math.sqrt(radius),
        true=radius,
        source=f"{PAPER}, equation 32",
        assumption="the radius is 1 or less",
        correction="the square of the radius in the variance",
        case=(
            "the standard deviation must be proportional to the radius, and so the variance to its "
            "square."
        ),
    )


def _normal_instead(
    name: str, shown: Counterexample, *, source: str, assumption: str, case: str
) -> Exhibit:
    """Beside a mechanism that nobody can prove: normal noise at the very budget it claims.

    Its delta at that epsilon is the claimed one whatever is looked for, by Balle, Wang 2018.
    """
    mu = stated_mu(shown.epsilon, shown.delta)
    return Exhibit(
        name,
        shown,
        source=source,
        assumption=assumption,
        case=case,
        correction=SOUND,
        corrected=float(delta_of(shown.epsilon, mu)),
        corrected_picture=normal_picture(mu),
    )
