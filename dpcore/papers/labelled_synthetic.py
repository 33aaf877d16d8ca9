"""The labelled release on simulated classes: by budget, rows, classes, columns and norm bound.

Liu, Scaglione, Peisert 2025, Figures 1 to 5 and 13: K = 5 classes in d = 3, N = 1000.
"""

from __future__ import annotations

import numpy as np

from dpcore.datasets.labelled import labelled_classes, labelled_frame, labelled_table
from dpcore.papers.labelled_runs import (
    PRINTED,
    TABLES,
    WAYS,
    Point,
    Way,
    figure,
    over_budgets,
)
from dpcore.papers.reproduction import Ask, Reproduction
from dpcore.schema import Ball, Schema
from dpcore.wall.table import PrivateTable

ROWS, CLASSES, DIM = 1000, 5, 3
EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
SLOW = "shaped noise, label"
BOUNDS = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 20.0)
BALL = (
    Way("proposed, features, as printed", "paper", PRINTED, "feature", "ball"),
    Way("staged, features", "staged", adjacency="feature"),
    Way("Gaussian, features", "gaussian", adjacency="feature"),
)
_QUICK = tuple(way for way in WAYS if way.name != SLOW)


def _tables(ask: Ask, n: int = ROWS, classes: int = CLASSES, d: int = DIM) -> list[PrivateTable]:
    return [
        labelled_table(*labelled_classes(n, classes, d, np.random.default_rng(seed))[:2])
        for seed in range(ask.split(TABLES))
    ]


def figure_1(ask: Ask) -> Reproduction:
    """The published release and ours over the budget, with their spread: simulated classes."""
    ways = [way for way in WAYS if way.method in ("paper", "staged")]
    points = over_budgets(_tables(ask), EPSILONS)
    return figure("Labelled release, Figure 1", "epsilon", points, ask, ways=ways)


def figure_2(ask: Ask) -> Reproduction:
    """Every method over the budget, as printed and proved: simulated classes."""
    return figure(
        "Labelled release, Figure 2", "epsilon", over_budgets(_tables(ask), EPSILONS), ask
    )


def figure_3(ask: Ask) -> Reproduction:
    """Every method over the number of rows, at epsilon 1."""
    points = [Point(n, _tables(ask, n=n), 1.0) for n in (500, 1000, 2000, 5000)]
    title = "Labelled release, Figure 3"
    return figure(title, "number of rows", points, ask, ways=_QUICK, log_x=True)


def figure_4(ask: Ask) -> Reproduction:
    """Every method over the number of classes, at epsilon 1."""
    points = [Point(k, _tables(ask, classes=k), 1.0) for k in (2, 3, 5, 8, 10)]
    return figure("Labelled release, Figure 4", "number of classes", points, ask, ways=_QUICK)


def figure_5(ask: Ask) -> Reproduction:
    """Every method over the number of columns, at epsilon 1."""
    points = [Point(d, _tables(ask, d=d), 1.0) for d in (2, 3, 4, 5, 6)]
    return figure("Labelled release, Figure 5", "number of columns", points, ask, ways=_QUICK)


def figure_13(ask: Ask) -> Reproduction:
    """The release with features protected over the norm bound, at epsilon 1: as printed, proved."""
    points = []
    for bound in BOUNDS:
        tables = []
        for seed in range(ask.split(TABLES)):
            rows, kinds, _ = labelled_classes(ROWS, CLASSES, DIM, np.random.default_rng(seed))
            frame, schema = labelled_frame(rows, kinds)
            assert schema.ball is not None  # its maker gave it one
            ball = Ball(schema.ball.center, bound)
            bounded = Schema(schema.columns, ball=ball, unit=schema.unit)
            tables.append(PrivateTable.seal(frame, bounded, open_to_all=True))
        points.append(Point(bound, tables, 1.0))
    title = "Labelled release, Figure 13"
    return figure(title, "norm bound B (units of the rows)", points, ask, ways=BALL)
