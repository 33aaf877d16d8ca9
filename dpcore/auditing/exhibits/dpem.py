"""Park, Foulds, Chaudhuri, Welling 2017 (DP-EM): six claims that do not cover a case."""

from __future__ import annotations

import math

import numpy as np

from dpcore.accounting import epsilon_of
from dpcore.auditing.exhibits.base import (
    DRAWS,
    Counterexample,
    Exhibit,
    Picture,
    of_normal_noise,
    stated_mu,
)

PAPER = "Park, Foulds, Chaudhuri, Welling 2017"
PROGRAM = "the program released with Park, Foulds, Chaudhuri, Welling 2017"
ROWS = 100
CENTRE = "first centre, before it is put inside the limits, -1 to 1"


def centred_scatter(epsilon: float = 1.0, delta: float = 1e-5) -> Exhibit:
    """A row moves the exact mean too, so a scatter about it changes by up to 4, and not 2."""
    before = np.full(ROWS, -1.0)
    after = before.copy()
    after[0] = 1.0
    moved = float(np.sum((after - after.mean()) ** 2) - np.sum((before - before.mean()) ** 2))
    mu = stated_mu(epsilon, delta)
    return of_normal_noise(
        "centred-scatter",
        claim="one row changes a scatter about the exact mean by at most 2/N",
        epsilon=epsilon,
        delta=delta,
        published=mu * moved / 2.0,
        corrected=mu * moved / 4.0,
        tables=(f"{ROWS} rows at -1", "the same with one row at 1"),
        stated=2.0,
        true=4.0,
        source=f"{PAPER}, equations 12 and 18",
        assumption="the mean inside the scatter does not change",
        correction="noise scaled to a change of 4/N, or squares taken about a released mean",
        case=(
            f"one row changes the scatter by {moved:.3g}/N, about twice the sensitivity that the "
            "noise was scaled to."
        ),
    )


def counts_in_scale(multiplier: float = 36.86, delta: float = 1e-4) -> Exhibit:
    """The mean of a group of one person is that person: its noise must not shrink with a count."""
    released_count = 100.0
    deviation = 2.0 * multiplier / released_count
    return of_normal_noise(
        "counts-in-scale",
        claim="the noise on a group's exact mean may be proportional to 1 / count",
        epsilon=float(epsilon_of(delta, 1.0 / multiplier)),
        delta=delta,
        published=2.0 / deviation,
        corrected=1.0 / multiplier,
        tables=("a group with one person at -1", "the same group with that person at 1"),
        event="a group mean whose likelihood ratio exceeds e^epsilon, given a noisy count of 100",
        stated=2.0 / released_count,
        true=2.0,
        source=f"{PAPER}, equations 12 and 16",
        assumption="the sum is divided by the released count",
        correction="noise added to the exact sum before it is divided by the released count",
        case="the mean of a group of one person changes by 2, whatever the noisy count is.",
    )


def counts_unpaid(epsilon: float = 0.3) -> Exhibit:
    """k-means scales a centre's noise by an exact count that nobody pays for: its size tells it.

    A centre is the mean of its n rows with Laplace noise of scale ``2 / (n epsilon)``. Two people
    in the middle: scale ``1/epsilon``; one of them elsewhere: ``2/epsilon``. Less than 1 away from
    the middle, strictly inside the limits, it comes with ``1 - e^-epsilon`` or
    ``1 - e^(-epsilon/2)``; the counts themselves need not leave.
    """
    inside, other = -math.expm1(-epsilon), -math.expm1(-0.5 * epsilon)
    noise = np.random.default_rng(0).laplace(size=(2, 2, DRAWS))
    centres = [noise[0, 0] / epsilon, noise[1, 0] * 2.0 / epsilon]  # of two rows at 0, and of one
    paid = [
        (noise[i, 0] * 4.0 / epsilon) / np.maximum(rows + noise[i, 1] * 4.0 / epsilon, 1.0)
        for i, rows in enumerate((2.0, 1.0))
    ]
    published, corrected = (Picture(CENTRE, *tables) for tables in (centres, paid))
    return Exhibit(
        "counts-unpaid",
        Counterexample(
            "in k-means, only the sums of the clusters need noise",
            epsilon,
            0.0,
            max(0.0, inside - math.exp(epsilon) * other),
            1.0,
            (
                "two people in the middle, near the first centre",
                "the same with one of them near the second",
            ),
            "a first centre strictly inside the limits",
        ),
        source=f"{PAPER}, section 7, and its program",
        assumption="the number of rows near each centre is public",
        correction="noise on the counts too, and a share of the budget for them",
        corrected=0.0,
        case=(
            "noise whose size is set by an exact count reveals this count, and so where one person "
            "is."
        ),
        stated=0.0,
        true=2.0,
        published_picture=published,
        corrected_picture=corrected,
    )


def lloyd_replaced(epsilon: float = 1.0, *, dim: int = 1) -> Exhibit:
    """DPLloyd's constant d + 1 is for a row that comes or goes; a replaced row changes twice that.

    A row that moves from one cluster to the other, and to the other end, changes ``2 (d + 1)``
    numbers by 1 each. All of them lie beyond the larger value with ``2^-k`` or ``e^(-k/b) 2^-k``.
    """
    numbers = 2 * (dim + 1)

    def attained(scale: float) -> float:
        here = 0.5**numbers
        return here * max(0.0, 1.0 - math.exp(epsilon - numbers / scale))

    noise = np.random.default_rng(0).laplace(size=(2, DRAWS, numbers)).sum(axis=2)
    scales = ((dim + 1) / epsilon, 2.0 * (dim + 1) / epsilon)
    pictures = [
        Picture(
            "total shift of the counts and sums, each in the direction of its change",
            scale * noise[0],
            scale * noise[1] + numbers,
        )
        for scale in scales
    ]
    return Exhibit(
        "lloyd-replaced",
        Counterexample(
            "Laplace noise of scale (d + 1) / epsilon protects a replaced row",
            epsilon,
            0.0,
            attained(scales[0]),
            1.0,
            (
                "a row at one end, in one cluster",
                "the same row at the other end, in the other cluster",
            ),
            "every changed count and sum beyond its exact value under the second table, in the "
            "direction of its change",
        ),
        source=f"{PAPER}, section 7 (DPLloyd; Su et al. 2016)",
        assumption="a row is added or removed; elsewhere the paper uses replacement",
        correction="Laplace noise of scale 2 (d + 1) / epsilon",
        corrected=attained(scales[1]),
        case=(
            "a replaced row leaves one cluster and enters another, but the noise covers only one "
            "of the two changes."
        ),
        stated=dim + 1.0,
        true=2.0 * (dim + 1.0),
        published_picture=pictures[0],
        corrected_picture=pictures[1],
    )


def classic_gaussian(epsilon: float = 15.0, delta: float = 1e-5) -> Exhibit:
    """The textbook's noise is proved for epsilon below 1 and fails from about 8 on."""
    noise = math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
    return of_normal_noise(
        "classic-gaussian",
        claim="a noise multiplier of sqrt(2 ln(1.25 / delta)) / epsilon suffices",
        epsilon=epsilon,
        delta=delta,
        published=1.0 / noise,
        corrected=stated_mu(epsilon, delta),
        tables=("any table", "a neighbour whose answer differs by one sensitivity"),
        source="Dwork, Roth 2014, Theorem A.1, as used for any epsilon",
        assumption="epsilon is below 1",
        correction="noise calibrated exactly (Balle, Wang 2018)",
        case=(
            "the formula is proved only for epsilon below 1; with delta 1e-5 it gives too little "
            "noise for epsilon above about 8."
        ),
    )


def variance_as_deviation(epsilon: float = 1.0, delta: float = 1e-4, *, rows: int = 400) -> Exhibit:
    """Factor analysis as released hands the variance of its noise to a function of deviations."""
    meant = 2.0 / rows * math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
    change = math.sqrt(2.0) / rows
    return of_normal_noise(
        "variance-as-deviation",
        claim="the released program's second moments of face images are private",
        epsilon=epsilon,
        delta=delta,
        published=change / meant**2,
        corrected=change / meant,
        tables=(
            f"{rows} rows of norm at most 1",
            "the same with one row replaced by an orthogonal row",
        ),
        stated=meant,
        true=meant**2,
        source=PROGRAM,
        assumption="the number passed to the noise function is a standard deviation",
        correction="the square root of that number as the standard deviation",
        case="a variance below 1 gives too little noise when it is used as a standard deviation.",
    )


def own_largest_norm(epsilon: float = 1.0, delta: float = 1e-5) -> Exhibit:
    """Rows divided by the largest norm among them: one far row rescales everybody."""
    near = np.full(ROWS, 0.1)
    far = near.copy()
    far[0] = 1.0
    moved = float(np.mean(near / near.max()) - np.mean(far / far.max()))
    mu = stated_mu(epsilon, delta)
    stated = 2.0 / ROWS
    public = float(np.mean(far) - np.mean(near))
    return of_normal_noise(
        "own-largest-norm",
        claim="with rows divided by their largest norm, one row changes a mean by at most 2/N",
        epsilon=epsilon,
        delta=delta,
        published=mu * moved / stated,
        corrected=mu * public / stated,
        tables=(f"{ROWS} rows of norm 0.1", "the same with one row of norm 1"),
        stated=stated,
        true=moved,
        source=f"{PAPER}, section 8, and its program",
        assumption="the largest norm is public",
        correction="a norm chosen independently of the data, with rows clipped to it",
        case="the row with the largest norm rescales every other row.",
    )
