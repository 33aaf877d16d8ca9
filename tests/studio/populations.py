"""How often intervals after a release cover the parameters of a population: a table of the results
page.

``python -m tests.studio.populations [MODEL ...]`` draws tables from populations whose parameters
are known, makes one release from each, and prints a line of Markdown for each model and population.
It holds by epsilon the share of numbers in their interval, averaged over arrays and draws: what the
algorithm finds without noise on the same rows in ``same_rows``, the population's parameters in
``same_rows``, which count the privacy noise alone, and these parameters in ``population``, which
count the drawing of the rows too (``-``: no such intervals are given). The population's centres are
those of k-means on many rows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from dpcore.arrays import Array
from dpcore.bench.utility_tables import TABLES, Simulated
from dpcore.datasets import gradient_models
from dpcore.datasets.drawn import CARE, HOUSEHOLDS, PATIENT_GROUPS, QUESTIONS, VOTERS
from dpcore.datasets.generators import Mixture, covariance_2d, gaussian_mixture
from dpcore.declaration import declaration, declarations
from dpcore.errors import InputError
from dpcore.fitting.api import fit_grid
from dpcore.fitting.intervals import Uncertainty
from dpcore.models.covariance.parameters import CovarianceParameters
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable

from .intervals import CLIP, EPSILONS, covered, private, shares_text

if TYPE_CHECKING:
    import pandas as pd

DRAWS = {"gmm": 4, "kmeans": 4}  # tables, one release from each; 8 of other models
MANY = 200_000  # rows whose exact centres count as the population's
GROUPS = (
    "two_columns_overlapping",
    "three_columns",
    "three_columns_unequal",
    "five_columns_correlated",
    "ten_columns_unequal",
)
Drawn = Callable[[np.random.Generator], "tuple[pd.DataFrame, Schema]"]


@dataclass(frozen=True)
class Population:
    """draw: a table and its public limits. truth: parameters, by the names of released arrays."""

    name: str
    words: dict[str, Any]
    draw: Drawn
    truth: Any


def populations(model: str) -> Iterator[Population]:
    """Those that a model is measured on."""
    if model in ("gmm", "kmeans", "covariance", "mean"):
        sources = {table.name: table.source for table in TABLES if table.name in GROUPS}
        for name, source in sources.items():
            assert isinstance(source, Simulated)
            words = {"n_components": source.groups} if model in ("gmm", "kmeans") else {}
            yield Population(name, words, _rows(source), _of_groups(model, source.truth()))
        if model == "covariance":
            truth = CovarianceParameters((), np.full(3, 2.0), 4.0 * np.eye(3))
            yield Population("three skewed columns", {}, _skewed, truth)
    elif model == "gmm-release":
        weights = np.array([share for share, *_ in VOTERS])
        means = np.array([mean for _, mean, *_ in VOTERS], dtype=float)
        shapes = np.stack([covariance_2d(*spread, r) for *_, spread, r in VOTERS])
        voters = Mixture(weights, means, shapes)
        for count in (2_000, 20_000):
            yield Population(f"voters, n = {count}", {}, _voters(voters, count), voters)
    elif model in ("bernoulli", "poisson"):
        yield from _answers_or_counts(model)
    else:
        yield from _coefficients(model)


def _rows(source: Simulated) -> Drawn:
    limit = source.separation + 6.0
    schema = _box([(-limit, limit)] * source.columns)
    groups = source.truth()

    def draw(rng: np.random.Generator) -> tuple[pd.DataFrame, Schema]:
        return _frame(gaussian_mixture(source.rows, *_parts(groups), rng)[0]), schema

    return draw


def _skewed(rng: np.random.Generator) -> tuple[pd.DataFrame, Schema]:
    """Columns with a long tail: exponential, with standard deviation 2."""
    return _frame(np.minimum(rng.exponential(2.0, (3_000, 3)), 40.0)), _box([(0, 40)] * 3)


def _of_groups(model: str, groups: Mixture) -> Any:
    weights, means, covariances = _parts(groups)
    if model == "gmm":
        return groups
    mean = weights @ means
    if model == "mean":
        return SimpleNamespace(mean=mean)
    if model == "covariance":
        inside = np.einsum("k,kij->ij", weights, covariances)
        between = np.einsum("k,ki,kj->ij", weights, means - mean, means - mean)
        return CovarianceParameters((), mean, inside + between)
    from sklearn.cluster import KMeans

    rows = gaussian_mixture(MANY, weights, means, covariances, np.random.default_rng(0))[0]
    fitted = KMeans(len(weights), n_init=10, random_state=0).fit(rows)
    sizes = np.bincount(fitted.labels_)
    return SimpleNamespace(centers=fitted.cluster_centers_, shares=sizes / sizes.sum())


def _voters(groups: Mixture, count: int) -> Drawn:
    names = tuple("abcde")
    schema = Schema(
        (
            *_box([(0, 120), (0, 120)]).columns,
            Column("k", role="label", type="category", categories=names),
        )
    )

    def draw(rng: np.random.Generator) -> tuple[pd.DataFrame, Schema]:
        rows, group = gaussian_mixture(count, *_parts(groups), rng)
        return _frame(rows).assign(k=np.array(names)[group]), schema

    return draw


def _answers_or_counts(model: str) -> Iterator[Population]:
    yes = model == "bernoulli"
    bundled = QUESTIONS if yes else CARE
    rng = np.random.default_rng(3)
    for name, rows, weights, numbers in (
        ("as bundled", 4_000, HOUSEHOLDS if yes else PATIENT_GROUPS, list(bundled.values())),
        ("two groups, 8 columns", 4_000, (0.6, 0.4), _numbers(rng, yes, (8, 2))),
        ("two groups, 8 columns, many rows", 40_000, (0.6, 0.4), _numbers(rng, yes, (8, 2))),
        ("three groups, 15 columns", 10_000, (0.5, 0.3, 0.2), _numbers(rng, yes, (15, 3))),
    ):
        truth = np.array(numbers, dtype=float).T
        key = "chances" if yes else "rates"
        parameters = SimpleNamespace(**{"weights": np.array(weights), key: truth})
        words = {"n_components": len(weights)}
        yield Population(name, words, _cells(rows, np.array(weights), truth, yes), parameters)


def _numbers(rng: np.random.Generator, yes: bool, shape: tuple[int, int]) -> Array:
    return rng.uniform(0.1, 0.9, shape) if yes else rng.gamma(2.0, 3.0, shape)


def _cells(count: int, weights: Array, truth: Array, yes: bool) -> Drawn:
    far = 1.0 if yes else 40.0
    columns = [
        Column(f"x{i + 1}", lower=0, upper=far, type="binary" if yes else "number")
        for i in range(truth.shape[1])
    ]
    schema = Schema(tuple(columns))

    def draw(rng: np.random.Generator) -> tuple[pd.DataFrame, Schema]:
        own = truth[rng.choice(len(weights), count, p=weights)]
        cells = rng.random(own.shape) < own if yes else rng.poisson(own)
        return _frame(cells.astype(float)), schema

    return draw


def _coefficients(model: str) -> Iterator[Population]:
    for rows, beta, sigma in (
        (2_000, (3.0, -2.0), 1.0),
        (5_000, (2.0, 1.0, -1.0, 0.5, 0.0), 1.0),
        (20_000, (2.0, 1.0, -1.0, 0.5, 0.0), 1.0),
    ):

        def draw(
            rng: np.random.Generator, rows: int = rows, beta: Any = beta, sigma: float = sigma
        ) -> tuple[pd.DataFrame, Schema]:
            if model == "symmetric-mixture":
                return gradient_models.mixture_table(rows, beta, sigma, rng)
            if model == "mixture-regression":
                return gradient_models.regressions_table(rows, beta, sigma, rng)
            return gradient_models.incomplete_table(rows, beta, sigma, 0.2, rng)

        name = f"{len(beta)} columns, n = {rows}"
        yield Population(name, {"sigma": sigma}, draw, SimpleNamespace(beta=np.array(beta)))


def _box(limits: list[tuple[float, float]]) -> Schema:
    return Schema.from_bounds({f"x{i + 1}": pair for i, pair in enumerate(limits)})


def _frame(rows: Array) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=[f"x{i + 1}" for i in range(rows.shape[1])])


def _parts(groups: Mixture) -> tuple[Array, Array, Array]:
    return groups.weights, groups.means, groups.covariances


def _of_sign(model: str, truth: Any, released: Any) -> Any:
    """Where ``beta`` and ``-beta`` are one model, the nearer."""
    if model not in ("symmetric-mixture", "mixture-regression"):
        return truth
    return SimpleNamespace(beta=math.copysign(1.0, truth.beta @ released.beta) * truth.beta)


def line(model: str, population: Population) -> list[Array]:
    """What is covered at each epsilon, three times; see the module."""
    uncertainty: Uncertainty = declaration(model).load(declaration(model).uncertainty)
    columns: list[list[list[Array]]] = [[[] for _ in EPSILONS] for _ in range(3)]
    for draw in range(DRAWS.get(model, 8)):
        frame, schema = population.draw(np.random.default_rng([draw, 11]))
        table = PrivateTable.seal(frame, schema, open_to_all=True)
        exact = fit_grid(
            model, table, privacy=None, as_private=True, clip=CLIP, **population.words
        ).fit()
        for at, epsilon in enumerate(EPSILONS):
            noise = crc32(f"{model} {population.name} {epsilon} {draw}".encode())
            fit = private(model, table, epsilon, noise, population.words)
            try:
                intervals = fit.intervals(seed=draw)
            except InputError:
                continue
            truth = _of_sign(model, population.truth, fit.parameters)
            held = (
                covered(uncertainty, fit, intervals.same_rows, exact.parameters),
                covered(uncertainty, fit, intervals.same_rows, truth),
                covered(uncertainty, fit, intervals.population, truth)
                if intervals.population
                else np.zeros(0),
            )
            for column, shares in zip(columns, held, strict=True):
                column[at].append(shares)
    return [np.concatenate([*cell, np.zeros(0)]) for column in columns for cell in column]


def main() -> None:
    """Print the table."""
    models = sys.argv[1:] or [
        name for name, declared in declarations().items() if declared.uncertainty
    ]
    for model in models:
        lines = []
        for population in populations(model):
            lines.append(line(model, population))
            print(f"| {model} | {population.name} | {shares_text(lines[-1])} |", flush=True)
        together = [np.concatenate(cells) for cells in zip(*lines, strict=True)]
        print(f"| **{model}** | **all** | {shares_text(together)} |", flush=True)


if __name__ == "__main__":
    main()
