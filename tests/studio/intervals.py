"""How often intervals after a release cover what they are for: the table of results-intervals.md.

``python -m tests.studio.intervals [MODEL ...]`` prints a line of Markdown for each model and table.
It holds by epsilon the share of released numbers whose exact value lies in its interval, averaged
over arrays and draws (``-``: no intervals were given), then the same for the population's values on
tables that are drawn from a release.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np

from dpcore.arrays import Array
from dpcore.datasets import load
from dpcore.datasets.catalogue import BUNDLED, find
from dpcore.declaration import declaration, declarations
from dpcore.fitting.api import fit_grid
from dpcore.fitting.intervals import Arrays, Uncertainty, _Simulated
from dpcore.fitting.result import Fit
from dpcore.privacy import Privacy

EPSILONS, DELTA, CLIP = (0.1, 0.3, 1.0, 4.0), 1e-6, 1.0
DRAWS = {"gmm": 4, "kmeans": 12}  # 8 of others
MOST_ROWS, MOST_COLUMNS = 30_000, 64
MORE: dict[str, dict[str, int]] = {  # tables that do not open with a model: parts to look for
    "gmm": {"iris": 3, "wine": 3, "places": 4},
    "kmeans": {"stewards_table": 3, "iris": 3, "wine": 3, "life_science_like": 3},
    "mean": dict.fromkeys(("three_groups", "rare_person", "places", "iris", "wine"), 1),
    "gmm-release": {"iris": 1},
    "covariance": dict.fromkeys(("three_groups", "places", "stewards_table", "iris", "wine"), 1),
}
Words = dict[str, Any]


def cases(model: str) -> Iterator[tuple[str, Words]]:
    """Tables, and how a model is fitted to them."""
    options = declaration(model).settings.options()
    for table in BUNDLED:
        small = table.rows <= MOST_ROWS and table.features <= MOST_COLUMNS
        for opening in table.openings:
            if opening.model == model and small:
                words: Words = {"n_components": opening.components, **dict(opening.words)}
                named = ("iterations", "covariance")
                words.update({word: getattr(opening, word) for word in named if word in options})
                yield table.name, words
    for name, parts in MORE.get(model, {}).items():
        if model not in find(name).models:
            yield name, {"n_components": parts}


def covered(uncertainty: Uncertainty, fit: Fit, intervals: Arrays, truth: Any) -> Array:
    """The share of each array's numbers that lie in their intervals, of those that can move."""
    released, true = (
        {name: np.asarray(getattr(parameters, name)) for name in uncertainty.arrays}
        for parameters in (fit.parameters, truth)
    )
    scale = np.array([column.upper - column.lower for column in fit.schema.numeric_columns()])
    true = uncertainty.match(true, released, scale)
    shares = []
    for name in uncertainty.arrays:
        low, high = np.moveaxis(intervals[name], -1, 0)
        inside = (low <= true[name]) & (true[name] <= high)
        shares.append(inside[high > low])
    return np.array([share.mean() for share in shares if share.size])


def private(model: str, table: Any, epsilon: float, seed: int, words: Words) -> Fit:
    """One private fit."""
    budget = (Privacy(epsilon=epsilon, delta=DELTA),)
    return fit_grid(model, table, privacy=budget, seed=seed, clip=CLIP, **words).fit()


def line(model: str, name: str, words: Words) -> list[Array]:
    """What is covered at each epsilon on the same rows, then in the population."""
    uncertainty: Uncertainty = declaration(model).load(declaration(model).uncertainty)
    table = load.load(f"bundled:{name}")
    exact = fit_grid(model, table, privacy=None, as_private=True, clip=CLIP, **words).fit()
    same, population, draws = [], [], DRAWS.get(model, 8)
    for epsilon in EPSILONS:
        rows, drawn = [], []
        first = crc32(f"{model} {name} {epsilon}".encode())  # noise that no other line shares
        for draw in range(draws):
            fit = private(model, table, epsilon, first + draw, words)
            intervals = fit.intervals(seed=draw).same_rows
            rows.append(covered(uncertainty, fit, intervals, exact.parameters))
        if not uncertainty.population:
            population.append(np.zeros(0))
            same.append(np.concatenate(rows))
            continue
        plain = replace(fit, distances=None)  # rows of the released parameters, and no others
        like = _Simulated(plain, None, None, most=find(name).rows)  # a release whose rows are known
        for draw in range(max(1, draws // 4)):
            again = like._table(uncertainty.draw, np.random.default_rng([draw, 7]))
            other = private(model, again, epsilon, first + 100 + draw, words)
            intervals = other.intervals(seed=draw).population
            drawn.append(covered(uncertainty, other, intervals, fit.parameters))
        same.append(np.concatenate(rows))
        population.append(np.concatenate(drawn))
    return [*same, *population]


def main() -> None:
    """Print the table."""
    models = sys.argv[1:] or [
        name for name, declared in declarations().items() if declared.uncertainty
    ]
    for model in models:
        start, lines = time.process_time(), []
        for name, words in cases(model):
            lines.append(line(model, name, words))
            print(f"| {model} | {name} | {shares_text(lines[-1])} | |", flush=True)
        together = [np.concatenate(line_shares) for line_shares in zip(*lines, strict=True)]
        seconds = time.process_time() - start
        print(f"| **{model}** | all | {shares_text(together)} | {seconds:.0f} |", flush=True)


def shares_text(shares: list[Array]) -> str:
    return " | ".join(f"{share.mean():.2f}" if len(share) else "-" for share in shares)


if __name__ == "__main__":
    main()
