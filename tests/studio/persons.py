"""What equal weight of persons with several rows is worth: ``python -m tests.studio.persons``.

Prints the table of the results page: errors of released means, weighing rows, weighing persons, and
of one row of each person.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import dpcore as dp
from dpcore.arrays import Array
from dpcore.fitting.result import Fit

PERSONS, MOST, DRAWS = 2_000, 10, 21
EPSILONS = (0.1, 0.3, 1.0, 4.0)
MIDDLES = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]])
MODELS: dict[str, dict[str, Any]] = {
    "mean": {},
    "covariance": {},
    "kmeans": {"n_components": 3},
    "gmm": {"n_components": 3},
}
ROWS = dp.Schema(
    (
        dp.Column("who", role="id", type="text"),
        dp.Column("x", lower=0, upper=10),
        dp.Column("y", lower=0, upper=10),
    ),
    rows_per_person=MOST,
)
WAYS = {
    "rows weighed alike": ROWS,
    "persons weighed alike": replace(ROWS, equal_weight=True),
    "one row of each person": replace(ROWS, rows_per_person=1),
}


def visits(seed: int = 0) -> pd.DataFrame:
    """Rows of persons in three groups. Each person has 1 to 10 rows, most often one."""
    rng = np.random.default_rng(seed)
    many = np.minimum(rng.geometric(0.26, PERSONS), MOST)
    who = np.repeat(np.arange(PERSONS), many)
    persons = MIDDLES[rng.integers(0, 3, PERSONS)] + rng.normal(0.0, 0.7, (PERSONS, 2))
    rows = np.clip(persons[who] + rng.normal(0.0, 0.5, (len(who), 2)), 0.0, 10.0)
    frame = pd.DataFrame({"who": who, "x": rows[:, 0], "y": rows[:, 1]})
    return frame.sample(frac=1.0, random_state=seed, ignore_index=True)


def means(fit: Fit) -> Array:
    """Means of a fit, or centres, ``(K, 2)``."""
    arrays = fit.parameters.as_dict()
    name = next(name for name in ("means", "centers", "mean") if name in arrays)
    return np.atleast_2d(np.asarray(arrays[name], dtype=float))


def error(frame: pd.DataFrame, model: str, way: str, epsilon: float) -> float:
    """Median over draws of the mean distance of what was sought to the nearest that was released:
    of all that count, without noise, in the same weights; of one row each that of persons."""
    sought = WAYS["persons weighed alike" if way.startswith("one") else way]
    words = MODELS[model]
    exact = means(dp.fit(model, dp.load(frame, schema=sought), privacy=None, **words))
    table = dp.load(frame, schema=WAYS[way])
    budget = dp.Privacy(epsilon=epsilon, delta=1e-6)
    errors = [
        np.linalg.norm(
            means(dp.fit(model, table, privacy=budget, seed=seed, **words))[:, None] - exact,
            axis=-1,
        )
        .min(axis=0)
        .mean()
        for seed in range(DRAWS)
    ]
    return float(np.median(errors))


def main() -> None:
    frame = visits()
    print(f"{len(frame):,} rows of {PERSONS:,} persons")
    print("| model | |" + " | ".join(f" {epsilon:g}" for epsilon in EPSILONS) + " |")
    print("|---|---|" + "---:|" * len(EPSILONS))
    for model in MODELS:
        for way in WAYS:
            errors = (error(frame, model, way, epsilon) for epsilon in EPSILONS)
            print(f"| {model} | {way} | " + " | ".join(f"{number:.2g}" for number in errors) + " |")


if __name__ == "__main__":
    main()
