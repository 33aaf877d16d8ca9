"""The questions of Learn, solved again: ``python -m tests.studio.answers`` prints the table.

Each answer follows from the words of its question, by scipy, counting or integrals, and by nothing
of the package; that of ``hide`` from the ellipses in its picture.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from scipy.optimize import brentq

from app import compute
from app.explore_scene import picture
from app.learning import LESSONS
from app.scenario import opening
from app.tables import data_of, store_of
from dpcore.datasets.faces import faces_like
from dpcore.evaluation.study import EPSILONS
from dpcore.figures.layers import Ellipses
from dpcore.figures.scene import Panel

DELTA = 1e-5
FACES = 1_581  # faces, in the words of the question


def delta_of(mu: float, epsilon: float) -> float:
    """Gaussian noise of multiplier 1 / mu (Balle, Wang 2018, Theorem 8)."""
    tail = scipy.stats.norm.cdf(-mu / 2.0 - epsilon / mu)
    return float(scipy.stats.norm.cdf(mu / 2.0 - epsilon / mu) - math.exp(epsilon) * tail)


def gaussian_mu(epsilon: float) -> float:
    return float(brentq(lambda mu: delta_of(mu, epsilon) - DELTA, 1e-4, 10.0))


def gaussian_epsilon(mu: float, delta: float = DELTA) -> float:
    return float(brentq(lambda epsilon: delta_of(mu, epsilon) - delta, 1e-6, 10.0))


def ratio(ones: Any, others: Any) -> float:
    """The largest log of a ratio of probabilities, either way."""
    return float(np.max(np.abs(np.log(ones) - np.log(others))))


def solved() -> dict[str, float]:
    """Question -> answer, of all but two, which ask what fits show."""
    tosses = list(itertools.product((True, False), repeat=2))
    yes, no = (np.mean([truth if first else second for first, second in tosses])
               for truth in (True, False))  # fmt: skip
    at = np.linspace(-200.0, 200.0, 40_001)
    groups = np.eye(5)
    ages = np.linspace(0.0, 100.0, 11)
    incomes = np.repeat([40.0, 200.0], [900, 100])
    without, with_row = scipy.stats.laplace.pdf(at), scipy.stats.laplace.pdf(at - 1.0)
    edges = np.append(np.arange(5.0, 45.0, 10.0), np.inf)  # below 5 it is set to 0
    bins = [np.diff(scipy.stats.laplace.cdf(edges, count), prepend=0.0) for count in (20.0, 21.0)]
    answers = {
        "attack": 100.0 * scipy.stats.norm.cdf(gaussian_mu(1.0) / 2.0),
        "compose": gaussian_epsilon(math.sqrt(100) * gaussian_mu(0.1)),
        "people": gaussian_epsilon(gaussian_mu(1.0) / 10.0),
        "claims": gaussian_epsilon(math.sqrt(5) * math.sqrt(6) / (2 * 28.99)),
        "coin": ratio([yes, 1.0 - yes], [no, 1.0 - no]),
        "spread": scipy.stats.laplace.std(scale=1.0 / 0.5),
        "beyond": 100.0 * (scipy.stats.laplace.cdf(-3.0) + scipy.stats.laplace.sf(3.0)),
        "noise": 1.0 / gaussian_mu(1.0),
        "histogram": max(np.linalg.norm(a - b) for a, b in itertools.product(groups, groups)),
        "mean": max(abs(a - b) / 1000.0 for a, b in itertools.product(ages, ages)),
        "clipped": incomes.mean() - np.minimum(incomes, 100.0).mean(),
        "family": ratio(
            scipy.stats.laplace.pdf(at, scale=2.0), scipy.stats.laplace.pdf(at - 4.0, scale=2.0)
        ),
        "belief": 100.0 * np.max(0.01 * with_row / (0.01 * with_row + 0.99 * without)),
        "tail": scipy.integrate.quad(
            lambda loss: -math.expm1(1.0 - loss) * scipy.stats.norm.pdf(loss - 0.5), 1.0, 12.0
        )[0],
        "many": scipy.stats.norm.std(scale=5.0) / math.sqrt(25),
        "disjoint": ratio(
            scipy.stats.laplace.pdf(at, scale=1 / 0.3),
            scipy.stats.laplace.pdf(at - 1.0, scale=1 / 0.3),
        ),
        "sample": ratio(0.9 * without + 0.1 * with_row, without),
        "rounded": ratio(*bins),
        "counts": np.linalg.norm(np.ones(100)) / gaussian_mu(1.0),
    }
    return {name: float(answer) for name, answer in answers.items()}


def first_factor(covariance: Any) -> Any:
    """Direction of the strongest of five factors, by Rubin and Thayer's EM for factor analysis."""
    values, vectors = np.linalg.eigh(covariance)
    noise = 0.5 * np.diag(covariance)
    loadings = vectors[:, -5:] * np.sqrt(values[-5:])
    for _ in range(30):
        scaled = loadings / noise[:, None]
        spread = np.linalg.inv(np.eye(5) + loadings.T @ scaled)
        crossed = covariance @ scaled @ spread
        loadings = np.linalg.solve(spread + spread @ scaled.T @ crossed, crossed.T).T
        noise = np.maximum(np.diag(covariance) - np.sum(loadings * crossed, axis=1), 1e-3)
    return np.linalg.svd(loadings, full_matrices=False)[0][:, 0]


def faces_found(epsilon: float, clip: float, runs: int = 13) -> float:
    """In what share of runs the strongest factor of noisy moments is the exact one."""
    rows, _ = faces_like(2_000, 32, rng=np.random.default_rng(2_000))
    pixels = rows.reshape(-1, 8, 4, 8, 4).mean(axis=(2, 4)).reshape(-1, 64)[:FACES]
    radius, rng = 8.0 * clip, np.random.default_rng(5)  # 64 pixels, from -1 to 1
    faces = pixels / 127.5 - 1.0
    exact = first_factor(np.cov(faces.T))
    faces *= np.minimum(1.0, radius / np.linalg.norm(faces, axis=1))[:, None]
    noise = math.sqrt(2.0) * radius**2 / gaussian_mu(epsilon)
    hits = 0
    for _ in range(runs):
        half = np.tril(rng.normal(size=(64, 64)), -1) / math.sqrt(2.0)
        square = faces.T @ faces + noise * (half + half.T + np.diag(rng.normal(size=64)))
        mean = faces.mean(axis=0) + noise / radius / FACES * rng.normal(size=64)
        values, vectors = np.linalg.eigh(square / FACES - np.outer(mean, mean))
        again = first_factor((vectors * np.maximum(values, 1e-3)) @ vectors.T)
        hits += abs(again @ exact) >= 0.8
    return hits / runs


def face_from() -> float:
    """The first stop of Explore's slider at which most runs find the face."""
    return next(epsilon for epsilon in EPSILONS if faces_found(epsilon, 1.0, 101) > 0.5)


def runs_covered(panels: Sequence[Panel], step: int) -> int:
    """In how many runs of Explore's picture every private group covers the exact one of its colour:
    a Bhattacharyya coefficient of at least 0.8, a weight within a factor of 2.

    The coefficient is the integral of the square root of the product of two densities, summed over
    a lattice.
    """
    drawn = {
        (panel.id, layer.style): np.asarray(layer.params)
        for panel in panels
        for layer in panel.layers
        if isinstance(layer, Ellipses)
    }
    exact = drawn["exact", "bold"][0, 0]
    runs = np.concatenate([drawn["private", style][step] for style in ("bold", "ghost")])
    centre, reach = exact[:, :2].mean(axis=0), 20.0 * np.sqrt(exact[:, [2, 4]].max(axis=0))
    axes = [np.linspace(at - side, at + side, 401) for at, side in zip(centre, reach, strict=True)]
    lattice, cell = (
        np.stack(np.meshgrid(*axes), axis=-1),
        np.prod([axis[1] - axis[0] for axis in axes]),
    )

    def root(group: Any) -> Any:
        spread = [[group[2], group[3]], [group[3], group[4]]]
        return np.sqrt(scipy.stats.multivariate_normal(group[:2], spread).pdf(lattice))

    roots = [root(group) for group in exact]
    return sum(
        all(
            cell * np.sum(root(private) * there) >= 0.8 and 0.5 <= private[5] / group[5] <= 2.0
            for private, group, there in zip(run, exact, roots, strict=True)
        )
        for run in runs
    )


def counted() -> int:
    """The answer of ``hide``, from the picture that its link shows."""
    scenario = replace(opening("three_groups"), epsilon=0.1)
    data = data_of(scenario)
    assert data is not None
    store = store_of(data)
    scene = picture(scenario, data, compute.study(scenario, data, store))
    return runs_covered(scene.panels, scene.step)


def main() -> None:
    """Print the table of the results on checks."""
    answers = solved() | {"hide": counted(), "face": face_from()}
    print("| question | the page | solved again |\n| --- | ---: | ---: |")
    for lesson in LESSONS:
        again = answers[lesson.name]
        print(f"| {lesson.name}: {lesson.title} | {lesson.answer():.5g} | {again:.5g} |")


if __name__ == "__main__":
    main()
