"""Liu, Scaglione, Peisert 2025 (the labelled release): seven claims that do not cover a case.

They state (epsilon, delta) for each. What is shown is the delta that the mechanism really has at
the epsilon claimed: exactly where a formula or an integral is known, else a Clopper-Pearson lower
bound from runs of the published mechanism itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting import delta_of
from dpcore.accounting.binomial_bounds import rate_bounds
from dpcore.arrays import Array, Mask
from dpcore.auditing.exhibits.base import (
    DRAWS,
    Counterexample,
    Exhibit,
    Picture,
    normal_picture,
    of_normal_noise,
    stated_mu,
)
from dpcore.checks import positive, probability, whole
from dpcore.fitting.api import fit_grid
from dpcore.models.labelled_mixture.published_mathematics import (
    SMOOTHING,
    mapped_counts,
    r1smg_scale,
)
from dpcore.privacy import Privacy
from dpcore.schema import Ball, Column, Schema
from dpcore.wall.table import PrivateTable

PAPER = "Liu, Scaglione, Peisert 2025"
SOUND = "sums by class with joint Gaussian noise, divided by the released counts"
NODES = 400
CONFIDENCE = 0.95


def one_sided_noise(
    epsilon: float = 1.0, delta: float = 1e-5, *, runs: int = 2000, seed: int = 0
) -> Exhibit:
    """Wishart noise of d + 1 degrees only adds, so a covariance below the exact one never comes.

    A row far out leaves a small class: without it the class is much narrower. What is released
    with the narrow one is nearly always "not above" the wide one, which is impossible with it.
    In the direction u of a change ``c u u^T`` the chance is ``1 - exp(-gamma c / 2)``.
    """
    rows, kinds, flipped, with_row = far_row()

    def least(_: Array, covariances: Array) -> Array:
        gaps = np.linalg.eigvalsh(covariances[:, 0] - with_row)[:, 0]
        return np.asarray(gaps / np.trace(with_row))

    published, corrected = _pictures(
        "smallest eigenvalue of released minus exact covariance (relative)",
        rows,
        (flipped, kinds),
        Privacy(epsilon=epsilon, delta=delta, adjacency="label"),
        runs,
        seed,
        least,
    )
    shown = _measured(
        "Wishart noise makes covariances private",
        epsilon,
        delta,
        ("an outlying row in the second class", "the same row in the small first class"),
        "a released covariance of the first class that, in some direction, is smaller than the "
        "exact one that includes the row",
        published,
        lambda gaps: gaps < -1e-9,
        impossible=True,
    )
    return _normal_instead(
        "one-sided-noise",
        shown,
        published,
        corrected,
        source=f"{PAPER}, Wishart noise on covariances",
        assumption="every released covariance is possible under both tables",
        case=(
            "noise that is never negative rules out every table whose exact value is above the "
            "released one."
        ),
    )


def far_row() -> tuple[Array, NDArray[np.int_], NDArray[np.int_], Array]:
    """Rows, their classes with a far row in a small one and in the other, and the exact covariance
    of the small one with it."""
    rng = np.random.default_rng(5)
    rows = np.concatenate([rng.standard_normal((14, 3)), rng.standard_normal((60, 3)) + 12.0])
    rows[0] = 24.0, 0.0, 0.0
    kinds = np.repeat([0, 1], [14, 60])
    flipped = kinds.copy()
    flipped[0] = 1
    return rows, kinds, flipped, np.cov(rows[kinds == 0].T)


def noise_that_reads(
    epsilon: float = 1.0, delta: float = 1e-5, *, runs: int = 2000, seed: int = 0
) -> Exhibit:
    """Noise shaped by the private rows tells by its own shape what they were.

    One corner row that joins a flat class widens it, and with it the noise of its mean.
    """
    side = np.linspace(-2.0, 2.0, 100)
    jitter = 1e-3 * np.sin(np.arange(100.0) * 7.0)
    corners = 10.0 * np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    rows = np.concatenate([np.column_stack([side, jitter]), np.tile(corners, (25, 1))])
    kinds = np.repeat([0, 1], [100, 100])
    flipped = kinds.copy()
    flipped[100] = 0

    def along(means: Array, _: Array) -> Array:
        return np.asarray(means[:, 0, 0])

    published, corrected = _pictures(
        "released mean of the flat class, along its axis",
        rows,
        (kinds, flipped),
        Privacy(epsilon=epsilon, delta=delta, adjacency="label"),
        runs,
        seed,
        along,
    )
    shown = _measured(
        "noise with an optimised shape makes means private",
        epsilon,
        delta,
        ("a flat class and four far corners", "the same with one corner row in the flat class"),
        "a released mean of the flat class that lies far out on the class's long axis",
        published,
        lambda means: np.abs(means) > 10.0,
    )
    return _normal_instead(
        "noise-that-reads",
        shown,
        published,
        corrected,
        source=f"{PAPER}, noise designed by a semidefinite program",
        assumption="the shape of the noise reveals nothing about the rows",
        case=(
            "noise whose shape depends on the rows reveals more about them than is accounted for."
        ),
    )


def two_classes(epsilon: float = 1.0, delta: float = 1e-5) -> Exhibit:
    """A label that changes touches two classes, so the largest of their costs is not the cost.

    Two releases of the published size, ``sqrt(2 ln(2 / delta)) / epsilon`` times the sensitivity,
    are one Gaussian of ``sqrt 2`` times the mu: exact.
    """
    mu = positive("epsilon", epsilon) / math.sqrt(2.0 * math.log(2.0 / probability("delta", delta)))
    shown = Counterexample(
        "classes are disjoint, so only the largest epsilon counts (parallel composition)",
        epsilon,
        delta,
        float(delta_of(epsilon, math.sqrt(2.0) * mu)),
        1.0,
        ("a row in one of two classes", "the same row in the other"),
        "two released means whose joint likelihood ratio exceeds e^epsilon",
    )
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


def mapping_support(epsilon: float = 1.0, delta: float = 1e-5, *, classes: int = 5) -> Exhibit:
    """The mapping of class sizes reaches sizes that a neighbour's does not.

    It is even over the true sizes and those one flip away: ``K (K - 1) + 1`` points, of which a
    neighbour's shares ``2 K - 2``; both are counted here. Exact, smoothing included.
    """
    number = whole("classes", classes, least=2)
    sizes = (100,) * number
    flipped = (99, 101, *sizes[2:])
    first, second = _reached(sizes), _reached(flipped)
    only = first - second
    every = math.comb(sum(sizes) - 1, number - 1)  # all sizes, each class with a row or more
    shown = Counterexample(
        "the random mapping of class sizes is private",
        positive("epsilon", epsilon),
        probability("delta", delta),
        (1.0 - SMOOTHING) * len(only) / len(first)
        - math.expm1(epsilon) * SMOOTHING * len(only) / every,
        1.0,
        ("any class sizes", "the sizes after one label changes"),
        "released sizes that the neighbour's mapping reaches only through its smoothing",
    )
    rng, both = np.random.default_rng(0), np.array([sizes, flipped])
    mapped = [
        [mapped_counts(counts, rng.random(number + 2)) for _ in range(DRAWS)] for counts in both
    ]
    noise = math.sqrt(2.0) / stated_mu(epsilon, delta) * rng.standard_normal((2, DRAWS, number))

    def picture(released: Array) -> Picture:
        """first, second: released class sizes ``(DRAWS, K)``."""
        away = 0.5 * np.abs(released - both[1]).sum(axis=2)
        return Picture("labels that differ from the second table's class sizes", *away)

    return _normal_instead(
        "mapping-support",
        shown,
        picture(np.array(mapped)),
        picture(both[:, None] + noise),
        source=f"{PAPER}, random mapping of class sizes",
        assumption="each released set of class sizes is about as likely under either table",
        case=(
            "many class sizes released under one table are possible under the other only through "
            "the mapping's small smoothing term."
        ),
    )


def _reached(sizes: tuple[int, ...]) -> set[tuple[int, ...]]:
    reached = {sizes}
    for out, into in permutations(range(len(sizes)), 2):
        moved = list(sizes)
        moved[out] -= 1
        moved[into] += 1
        reached.add(tuple(moved))
    return reached


def empty_neighbours(epsilon: float = 1.0, delta: float = 1e-5, *, classes: int = 3) -> Exhibit:
    """Equation (29) takes neighbours whose shares differ in one entry; there are none.

    Shares add up to 1, so two differ at least: a maximum over no neighbours is no sensitivity, and
    no noise at all meets it. Removing a row moves every share.
    """
    sizes = np.full(whole("classes", classes, least=2), 10)
    fewer = sizes - np.eye(len(sizes), dtype=int)[0]
    both = np.array([sizes, fewer])
    shares = both / both.sum(axis=1, keepdims=True)
    changed = int(np.sum(~np.isclose(*shares)))
    shown = Counterexample(
        "removing a row changes only one class share",
        positive("epsilon", epsilon),
        probability("delta", delta),
        1.0 if changed != 1 else 0.0,
        1.0,
        ("any class sizes", "the same without one row"),
        f"the shares themselves ({changed} of {len(sizes)} differ)",
    )
    noise = np.random.default_rng(0).standard_normal((2, DRAWS, len(sizes)))
    noisy = both[:, None] + noise / stated_mu(epsilon, delta)
    axis = "released share of the first class"
    return _normal_instead(
        "empty-neighbours",
        shown,
        Picture(axis, *np.repeat(shares[:, :1], DRAWS, axis=1)),
        Picture(axis, *(noisy[..., 0] / np.maximum(noisy.sum(axis=2), 1.0))),
        source=f"{PAPER}, equation 29",
        assumption="removing a row changes only the share of its own class",
        case=(
            "shares add up to 1, so changing one changes another; no two neighbouring tables "
            "differ as the equation assumes."
        ),
    )


def rank_one_noise(epsilon: float = 1.0, delta: float = 1e-5, *, dim: int = 12) -> Exhibit:
    """R1SMG (Ji, Li 2024): noise along one random direction, of size nearly that of the
    sensitivity.

    Its density is ``r^-(M-1) exp(-r^2 / 2 s^2)``: infinite at the exact answer, which therefore
    stands out. The delta is a two-dimensional integral: exact up to quadrature.
    """
    scale = r1smg_scale(1.0, epsilon, delta, whole("dim", dim, least=3))
    shown = Counterexample(
        "a mechanism with rank-1 singular Gaussian noise is private",
        positive("epsilon", epsilon),
        probability("delta", delta),
        _rank_one_delta(epsilon, scale, dim),
        1.0,
        ("any table", "a neighbour whose answer differs by the sensitivity"),
        "an answer whose likelihood ratio exceeds e^epsilon",
    )
    normals = np.random.default_rng(0).standard_normal((2, DRAWS, dim + 1))
    around, length = normals[..., 1:], scale * normals[..., :1]
    along_one = length * around / np.linalg.norm(around, axis=2, keepdims=True)

    def picture(noise: Array) -> Picture:
        """noise ``(2, DRAWS, dim)`` around the answers, which are 1 apart."""
        away = noise + np.array([0.0, 1.0])[:, None, None] * np.eye(dim)[0]
        return Picture(
            "distance from the exact answer of the first table (sensitivities)",
            *np.linalg.norm(away, axis=2),
        )

    return _normal_instead(
        "rank-one-noise",
        shown,
        picture(along_one),
        picture(around / stated_mu(epsilon, delta)),
        source="Ji, Li 2024 (R1SMG), a baseline in " + PAPER,
        assumption="noise along one random direction hides all coordinates",
        case=(
            "noise along one random direction has an unbounded density at the exact answer, "
            "which therefore stands out."
        ),
    )


def _rank_one_delta(epsilon: float, scale: float, dim: int) -> float:
    """``E (1 - exp(epsilon - loss))_+`` over the noise's length and its angle to the shift."""
    nodes, weights = _quadrature()
    log_r = 0.5 * (nodes + 1.0) * 45.0 - 40.0  # r in units of the scale, from e^-40 to e^5
    ratio = np.exp(log_r)
    mass = weights * np.exp(log_r - 0.5 * ratio**2)
    angle = 0.5 * math.pi * (nodes + 1.0)
    turn = weights * np.sin(angle) ** (dim - 2)
    length = scale * ratio[:, None]
    away = length**2 - 2.0 * length * np.cos(angle) + 1.0
    away = np.maximum(away, 1e-300)
    loss = 0.5 * (dim - 1) * np.log(away / length**2) + (away - length**2) / (2.0 * scale**2)
    gain = -np.expm1(np.minimum(epsilon - loss, 0.0))
    total = mass[:, None] * turn
    return float((total * gain).sum() / total.sum())


@cache
def _quadrature() -> tuple[Array, Array]:
    """Gauss and Legendre's nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(NODES)


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
    name: str,
    shown: Counterexample,
    published: Picture,
    corrected: Picture,
    *,
    source: str,
    assumption: str,
    case: str,
) -> Exhibit:
    """Beside a mechanism that nobody can prove: normal noise at the very budget it claims.

    Its delta at that epsilon is the claimed one whatever is looked for, by Balle, Wang 2018.
    published, corrected: what an attacker looks at, drawn from either.
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
        published_picture=published,
        corrected_picture=corrected,
    )


def _measured(
    claim: str,
    epsilon: float,
    delta: float,
    tables: tuple[str, str],
    event: str,
    published: Picture,
    event_of: Callable[[Array], Mask],
    *,
    impossible: bool = False,
) -> Counterexample:
    """delta at epsilon is at least ``P(E) - e^epsilon P'(E)``; both rates bounded at once.

    event_of: in which of the drawn numbers E is. impossible: it cannot come under the second table,
    whatever is counted.
    """
    here, there = (int(event_of(cloud).sum()) for cloud in (published.first, published.second))
    runs = len(published.first)
    (low, _), (_, high) = (rate_bounds(hits, runs, CONFIDENCE) for hits in (here, there))
    if impossible and there == 0:
        high = 0.0
    attained = max(0.0, low - math.exp(epsilon) * high)
    counted = here, there, runs
    return Counterexample(claim, epsilon, delta, attained, CONFIDENCE, tables, event, counted)


def _pictures(
    axis: str,
    rows: Array,
    labellings: tuple[NDArray[np.int_], NDArray[np.int_]],
    request: Privacy,
    runs: int,
    seed: int,
    number: Callable[[Array, Array], Array],
) -> tuple[Picture, Picture]:
    """A number made of means ``(runs, K, d)`` and covariances ``(runs, K, d, d)`` in own units,
    under two labellings of the same rows: as published, and with Gaussian noise on sums by class.
    """
    tables = [sealed(rows, labels) for labels in labellings]
    gaussian: dict[str, Any] = {"method": "gaussian"}
    pictures = []
    for privacy, way in ((replace(request, mode="paper"), {}), (request, gaussian)):
        clouds = []
        for which, table in enumerate(tables):
            grid = fit_grid(
                "gmm-release",
                table,
                privacy=(privacy,),
                draws=range(runs),
                seed=seed + which,
                **way,
            )
            batch, spread = grid.runs.final, grid.public.half_range
            means = grid.public.center + spread * batch.means
            covariances = batch.covariances * spread[:, None] * spread
            clouds.append(number(means, covariances))
        pictures.append(Picture(axis, *clouds))
    return pictures[0], pictures[1]


def sealed(rows: Array, kinds: NDArray[np.int_]) -> PrivateTable:
    """Rows ``(n, d)`` of two classes ``(n,)`` behind the wall, open to all, in a public ball twice
    as wide as they are."""
    import pandas as pd

    names = [f"x{i}" for i in range(rows.shape[1])]
    label = Column("kind", role="label", type="category", categories=("0", "1"))
    reach = float(np.linalg.norm(rows, axis=1).max())
    schema = Schema(
        (*(Column(name) for name in names), label),
        ball=Ball(tuple([0.0] * len(names)), 2.0 * reach),
    )
    frame = pd.DataFrame(rows, columns=names)
    frame["kind"] = [str(kind) for kind in kinds]
    return PrivateTable.seal(frame, schema, open_to_all=True)
