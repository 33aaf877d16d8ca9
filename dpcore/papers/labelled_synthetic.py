"""The labelled release on simulated classes: by budget, rows, classes, columns and norm bound.

Liu, Scaglione, Peisert 2025, Figures 1 to 5 and 13: K = 5 classes in d = 3, N = 1000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpcore.datasets.labelled import labelled_classes, labelled_frame, labelled_table
from dpcore.papers.claims import Row, holds, trend
from dpcore.papers.labelled_runs import (
    LARGER,
    NEAREST,
    TABLES,
    WAYS,
    Point,
    figure,
    over_budgets,
    printed,
    proposed,
    proved,
)
from dpcore.papers.reproduction import Ask, Run, experiment
from dpcore.schema import Ball, Schema
from dpcore.wall.table import PrivateTable

ROWS, CLASSES, DIM = 1000, 5, 3
EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
SLOW = "shaped noise, label"
BOUNDS = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 20.0)
AS_PRINTED = printed("proposed, features, as printed", "paper", neighbours="ball")
BALL = (
    replace(AS_PRINTED, privacy={"adjacency": "feature", "mode": "paper"}),
    proved("staged, features", "staged", "feature"),
    proved("Gaussian, features", "gaussian", "feature"),
)
_QUICK = tuple(way for way in WAYS if way.name != SLOW)


def _tables(ask: Ask, n: int = ROWS, classes: int = CLASSES, d: int = DIM) -> list[PrivateTable]:
    return [
        labelled_table(*labelled_classes(n, classes, d, np.random.default_rng(seed))[:2])
        for seed in range(ask.split(TABLES))
    ]


@experiment("Labelled release, Figure 1", LARGER)
def figure_1(run: Run) -> str:
    """The published release and ours over the budget, with their spread: simulated classes."""
    ways = [way for way in WAYS if way.method in ("paper", "staged")]
    points = over_budgets(_tables(run.ask), EPSILONS)
    return figure(run, "epsilon", points, ways=ways)


@experiment("Labelled release, Figure 2", NEAREST, LARGER)
def figure_2(run: Run) -> str:
    """Every method over the budget, as printed and proved: simulated classes."""
    points = over_budgets(_tables(run.ask), EPSILONS)
    return figure(run, "epsilon", points)


@experiment(
    "Labelled release, Figure 3",
    NEAREST,
    trend("more rows give a smaller divergence", proposed, -1),
)
def figure_3(run: Run) -> str:
    """Every method over the number of rows, at epsilon 1."""
    points = [Point(n, _tables(run.ask, n=n), 1.0) for n in (500, 1000, 2000, 5000)]
    return figure(run, "number of rows", points, ways=_QUICK, log_x=True)


@experiment(
    "Labelled release, Figure 4",
    NEAREST,
    trend("more classes give a larger divergence", proposed, 1),
)
def figure_4(run: Run) -> str:
    """Every method over the number of classes, at epsilon 1."""
    points = [Point(k, _tables(run.ask, classes=k), 1.0) for k in (2, 3, 5, 8, 10)]
    return figure(run, "number of classes", points, ways=_QUICK)


@experiment(
    "Labelled release, Figure 5",
    NEAREST,
    trend("more columns give a larger divergence", proposed, 1),
)
def figure_5(run: Run) -> str:
    """Every method over the number of columns, at epsilon 1."""
    points = [Point(d, _tables(run.ask, d=d), 1.0) for d in (2, 3, 4, 5, 6)]
    return figure(run, "number of columns", points, ways=_QUICK)


def _inside(rows: Sequence[Row]) -> list[bool]:
    line = [y for _, y in sorted(proposed(rows).items())]
    return [len(line) > 2 and min(line[1:-1]) < min(line[0], line[-1])]


@experiment(
    "Labelled release, Figure 13",
    holds("the best norm bound lies inside the range, not at an end", _inside),
)
def figure_13(run: Run) -> str:
    """The release with features protected over the norm bound, at epsilon 1: as printed, proved."""
    points = []
    for bound in BOUNDS:
        tables = []
        for seed in range(run.ask.split(TABLES)):
            rows, kinds, _ = labelled_classes(ROWS, CLASSES, DIM, np.random.default_rng(seed))
            frame, schema = labelled_frame(rows, kinds)
            assert schema.ball is not None  # its maker gave it one
            ball = Ball(schema.ball.center, bound)
            bounded = Schema(schema.columns, ball=ball, unit=schema.unit)
            tables.append(PrivateTable.seal(frame, bounded, open_to_all=True))
        points.append(Point(bound, tables, 1.0))
    return figure(run, "norm bound B (units of the rows)", points, ways=BALL)
