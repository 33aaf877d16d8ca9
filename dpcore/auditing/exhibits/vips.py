"""Park, Foulds, Chaudhuri, Welling 2020 (VIPS): claims that do not cover a case."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpcore.accounting import compose, delta_at
from dpcore.accounting.pld_bounds import PldBounds, merged, realised
from dpcore.accounting.wbk import as_printed
from dpcore.auditing.exhibits.base import (
    Counterexample,
    Exhibit,
    normal_picture,
    of_normal_noise,
    stated_mu,
)
from dpcore.models.topics.private import RECIPE, published_epsilon
from dpcore.privacy import Event, Gaussian

PAPER = "Park, Foulds, Chaudhuri, Welling 2020"
PROGRAM = f"the program released with {PAPER}"
DOCUMENTS = 400_000
CONSTANTS = math.hypot(1.0 / 1.0, 0.25 / 0.5)  # what moves, in deviations, where sigma is 1
FINE = 3  # halvings of the lattice's step: both ends of a delta agree in six digits


def topics_replaced(epsilon: float = 1.0, delta: float = 1e-4) -> Exhibit:
    """Two documents of different words leave nothing in common: they differ by sqrt 2 norms."""
    first, second = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    moved = float(np.linalg.norm(first - second))
    mu = stated_mu(epsilon, delta)
    return of_normal_noise(
        "topics-replaced",
        claim="replacing a document changes the topics' word counts by at most one document's norm",
        epsilon=epsilon,
        delta=delta,
        published=mu * moved,
        corrected=mu,
        tables=(
            "a document of one word, in one topic",
            "a document of another word, in another topic",
        ),
        stated=1.0,
        true=moved,
        source=f"{PAPER}, equation 28",
        assumption="only one of the two documents contributes to the sum",
        correction="noise scaled to sqrt 2 times the norm",
        case=(
            "the words of one document leave the sum and those of another enter, and both changes "
            "count."
        ),
    )


def topics_epsilon(sigma: float = 1.0, *, minibatch: int = 20_000) -> Exhibit:
    """In some settings of Figure 2 the stated epsilon is below what the noise gives.

    The printed counting with the printed sensitivity, against the privacy-loss distribution of two
    tables at the true one, from below. Where all other documents are alike, a step shows only
    whether the one that differs is in its sample: the law of a Poisson sample with a row added or
    removed, which is below the bound of samples without replacement.
    """
    delta = 1e-4
    settings = RECIPE.settings(components=50, mode="paper", minibatch=minibatch)
    settings = RECIPE.sized(settings, DOCUMENTS, "replace_one")
    epsilon = published_epsilon(settings, sigma, delta)
    (event,) = RECIPE.events(settings)
    true = realised(replace(event, mechanism=Gaussian(sigma / math.sqrt(2.0))))
    meant = replace(event, mechanism=Gaussian(sigma))
    attained = PldBounds(merged((true,)), delta, FINE).delta_below(epsilon)
    corrected = float(delta_at((meant,), epsilon, "pld"))
    return Exhibit(
        "topics-epsilon",
        Counterexample(
            f"noise of sigma {sigma:g}, one pass in minibatches of {minibatch:,} of {DOCUMENTS:,}"
            " documents",
            epsilon,
            delta,
            attained,
            1.0,
            ("documents that all repeat one word", "the same, but one repeats another word"),
            "releases whose joint likelihood ratio exceeds e^epsilon",
        ),
        source=f"{PAPER}, Figure 2",
        assumption="equation 28, which lacks a factor of sqrt 2 when a document is replaced",
        correction="noise of sigma times sqrt 2",
        corrected=corrected,
        case=(
            "the slack in the composition is smaller than the factor of sqrt 2 missing from the "
            "sensitivity."
        ),
        stated=sigma,
        true=sigma / math.sqrt(2.0),
        published_picture=normal_picture(math.sqrt(2.0) / sigma),
        corrected_picture=normal_picture(1.0 / sigma),
    )


def logistic_constants(epsilon: float = 1.0, delta: float = 1e-5) -> Exhibit:
    """The released program halves both constants; together the two sums then cost too much.

    An outcome that flips changes the first sum by 1, a curvature that falls from 1/4 to 0 the
    second by 1/4; noise is sigma and sigma/2 where the text has 2 sigma and sigma/2. Equal rows
    have one curvature. Where the released covariance is large in one direction, two rows nearly
    equal have both: one is orthogonal to it, the other is not quite. The change is the limit of
    such rows.
    """
    printed = math.sqrt(81.0 / 128.0)  # the most that two rows differ by, over all their angles
    mu = stated_mu(epsilon, delta)
    return of_normal_noise(
        "logistic-constants",
        claim="together, the two sums of a step in the released program cost as much as one "
        "release with noise sigma",
        epsilon=epsilon,
        delta=delta,
        published=mu * CONSTANTS,
        corrected=mu * printed,
        tables=(
            "a row with outcome yes, orthogonal to a direction of large released covariance",
            "a nearly equal row with outcome no, not quite orthogonal, so its curvature is near 0",
        ),
        stated=1.0,
        true=CONSTANTS,
        source=f"{PROGRAM}, as corrected in December 2020",
        assumption="the constants are as loose as those in the text",
        correction="the text's constants, which are loose enough to cover the second sum",
        case="two sums with tight constants cost more than the single release that is charged.",
    )


def logistic_variance(sigma: float = 6.0, delta: float = 1e-3, *, minibatch: int = 156) -> Exhibit:
    """Until December 2020 the released program took the variance of its noise for the deviation.

    The mean of S rows had noise of deviation ``(sigma / S)^2`` instead of ``sigma / S``. A flipped
    outcome changes the sum by 1, so the noise multiplier of that sum alone was ``sigma^2 / S``;
    where all rows are alike, a step shows only whether the row that differs is in its sample. The
    settings and the epsilon are those of Figure 6 (Adult).
    """
    meant = Event(Gaussian(sigma), 100, sampling="without_replacement", sampling_rate=0.004)
    epsilon = float(compose((meant,), as_printed("wbk27"), delta=delta).epsilon)
    shown = realised(replace(meant, mechanism=Gaussian(sigma**2 / minibatch)))
    attained = PldBounds(merged((shown,)), delta, FINE).delta_below(epsilon)
    corrected = replace(meant, mechanism=Gaussian(sigma / CONSTANTS))
    return Exhibit(
        "logistic-variance",
        Counterexample(
            f"noise of sigma {sigma:g}, {meant.count} steps on {minibatch} rows each, a share of "
            f"{meant.sampling_rate:g} of all",
            epsilon,
            delta,
            attained,
            1.0,
            ("rows that are all alike", "the same, but one has the other outcome"),
            "releases whose joint likelihood ratio exceeds e^epsilon",
        ),
        source=f"{PROGRAM}, before it was corrected in December 2020",
        assumption="the number passed to the noise function is a standard deviation",
        correction="the square root of that number as the standard deviation",
        corrected=float(delta_at((corrected,), epsilon, "pld")),
        case="a variance below 1 gives too little noise when it is used as a standard deviation.",
        stated=sigma / minibatch,
        true=(sigma / minibatch) ** 2,
        published_picture=normal_picture(minibatch / sigma**2),
        corrected_picture=normal_picture(1.0 / sigma),
    )
