"""Medians of every way of releasing labelled classes, at one true guarantee, on the same tables.

Each row: a way of releasing against a rival, by the median divergence of the release from the exact
classes (``quality``, the reverse one, which the paper prints) and of the exact classes from the
release (``forward``), each with the post-processing that serves it. As published (``paper``)
nothing is proved: its rows show what a proof costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.bench.measure import Case, Row, least_seconds
from dpcore.datasets.labelled import labelled_classes, labelled_table
from dpcore.datasets.load import load
from dpcore.fitting.api import Grid, fit_grid
from dpcore.models.labelled_mixture.scoring import YARDSTICK
from dpcore.privacy import Privacy
from dpcore.wall.table import PrivateTable

Pair = tuple[float, float]

DIVERGENCE = "median divergence of the release from the exact classes, lower is better"
DELTA = 1e-5
IRIS = 150  # rows of the only table here that is not simulated
UNTARGETED = ("public_features", "paper leave", "paper all")  # the same for both divergences

# Adjacency -> each way of releasing, and its rival; rows of a table -> epsilons.
RIVALS = {
    "label": {
        "paper leave": "staged",
        "paper all": "staged",
        "gaussian": "laplace",
        "colored": "gaussian",
        "staged": "gaussian",
        "mte": "gaussian",
        "public_features": "gaussian",
    },
    "replace_one": {"staged": "gaussian"},
}
EPSILONS = {1000: (0.5, 1.0, 2.0, 5.0), 10_000: (1.0, 5.0), IRIS: (2.0,)}
TRIES = {1000: (20, 3), 10_000: (8, 2), IRIS: (1, 30)}  # tables, and noise draws on each


@dataclass(frozen=True)
class Mechanism(Case):
    """A way of releasing against a rival at the same guarantee; the paper's ways have none.

    tables: how many simulated ones [:data:`TRIES`].
    """

    method: str
    rival: str
    adjacency: str
    epsilon: float
    rows: int = 1000
    tables: int | None = None

    @property
    def peer_title(self) -> str:
        """The rival's method."""
        return f"dpcore {self.rival}"

    def measure(self) -> Row:
        table, (usual, draws) = table_of(self.rows, 0), TRIES[self.rows]
        ways, tables = (self.method, self.rival), self.tables or usual
        ours, rival = least_seconds(
            [partial(fitted, table, way, self.adjacency, self.epsilon, draws) for way in ways], 3
        )
        own, other = (
            medians(way, self.adjacency, self.epsilon, self.rows, tables, draws) for way in ways
        )
        return self.row(
            f"{self.method}, {'irises' if self.rows == IRIS else f'N={self.rows}'}, "
            f"epsilon {self.epsilon:g}, delta 1e-5, {self.adjacency}",
            f"{draws} releases",
            (ours, rival),
            (own[0], other[0]),
            self.alone,
            quality=DIVERGENCE,
            forward=(own[1], other[1]),
        )

    def alone(self) -> None:
        """One release."""
        fitted(table_of(self.rows, 0), self.method, self.adjacency, self.epsilon, 1)


def simulated(rows: int, seed: int) -> PrivateTable:
    """Five classes in three dimensions."""
    return labelled_table(*labelled_classes(rows, 5, 3, np.random.default_rng(seed))[:2])


def table_of(rows: int, seed: int) -> PrivateTable:
    """A simulated table, or the irises, which are one."""
    return load("bundled:iris") if rows == IRIS else simulated(rows, seed)


@cache
def medians(way: str, adjacency: str, epsilon: float, rows: int, tables: int, draws: int) -> Pair:
    """Reverse and forward median over tables and draws."""
    divergences: dict[str, list[Array]] = {"reverse_kl": [], "kl": []}
    for seed in range(tables):
        table = table_of(rows, seed)
        scorer = YARDSTICK.scorer(table, None)
        runs = fitted(table, way, adjacency, epsilon, draws).runs.final
        divergences["reverse_kl"].append(YARDSTICK.measure(runs, scorer, "reverse_kl"))
        if way not in UNTARGETED:
            runs = fitted(table, way, adjacency, epsilon, draws, "forward").runs.final
        divergences["kl"].append(YARDSTICK.measure(runs, scorer, "kl"))
    reverse, forward = (float(np.median(np.concatenate(values))) for values in divergences.values())
    return reverse, forward


def fitted(
    table: PrivateTable,
    way: str,
    adjacency: str,
    epsilon: float,
    draws: int,
    target: str = "reverse",
) -> Grid:
    """Some releases; way: a method, of the paper's with its neighbours."""
    method, _, neighbours = way.partition(" ")
    privacy = Privacy(
        epsilon=epsilon,
        delta=DELTA,
        adjacency=adjacency,
        accountant="linear" if method in ("laplace", "paper") else "exact",
        mode="paper" if method == "paper" else "proved",
    )
    options: dict[str, Any] = {"neighbours": neighbours} if neighbours else {"target": target}
    return fit_grid(
        "gmm-release",
        table,
        privacy=[privacy],
        draws=range(draws),
        seed=0,
        method=method,
        **options,
    )


def _cases() -> Iterator[Mechanism]:
    """Each way against its rival, on tables of each size, at each epsilon."""
    for adjacency, rivals in RIVALS.items():
        for (way, rival), (rows, epsilons) in product(rivals.items(), EPSILONS.items()):
            if way == "mte" and rows == 10_000:
                continue  # its noise is solved for, which takes seconds a table
            for epsilon in epsilons:
                yield Mechanism(way, rival, adjacency, epsilon, rows)


MEDIANS = tuple(_cases())
