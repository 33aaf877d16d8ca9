"""How seconds grow with rows, columns and groups: cases of the other benches, one thing changed.

Every curve starts from one base case, which is measured once, and three sizes of each axis are
measured with all else as in the base. The exponents hold on a quiet machine: cases come one after
another, so where others are at work they meet different loads. A row names its ``curve``, its
``axis`` and its ``size``; for topics, rows are documents, columns are words of the vocabulary, and
groups are topics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dpcore.bench import gmm, kmeans, topics

Case = Callable[[], dict[str, Any]]
AXES = ("rows", "columns", "groups")


@dataclass(frozen=True)
class Point:
    """A case as one point of a curve."""

    curve: str
    axis: str
    size: int
    case: Case

    def __call__(self) -> dict[str, Any]:
        return {**_measured(self.case), "curve": self.curve, "axis": self.axis, "size": self.size}


@cache
def _measured(case: Case) -> dict[str, Any]:
    return case()


def curves(name: str, make: Callable[[int, int, int], Case], **sizes: Sequence[int]) -> list[Point]:
    """Points along every axis; the middle size of each axis is the base.

    make: a case from its rows, columns and groups.

    >>> points = curves("x", lambda n, d, k: dict, rows=[1, 9], columns=[2], groups=[3, 4, 5])
    >>> [(point.axis, point.size) for point in points]
    [('rows', 1), ('rows', 9), ('columns', 2), ('groups', 3), ('groups', 4), ('groups', 5)]
    """
    base = {axis: sizes[axis][len(sizes[axis]) // 2] for axis in AXES}
    return [
        Point(name, axis, size, make(*({**base, axis: size}[dimension] for dimension in AXES)))
        for axis in AXES
        for size in sizes[axis]
    ]


def power(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The a for which seconds grow as size^a: the slope of the straight line through their logs.

    >>> round(power([10, 100, 1000], [2.0, 20.0, 200.0]), 12)
    1.0
    """
    positive = [(n, s) for n, s in zip(sizes, seconds, strict=True) if n > 0 and s > 0]
    if len({n for n, _ in positive}) < 2:
        return float("nan")
    size, second = np.log(np.array(positive, dtype=float)).T
    return float(np.polyfit(size, second, 1)[0])


def _gmm(rows: int, columns: int, groups: int) -> Case:
    many = 5 if rows * columns * groups > 10**6 else 12
    return gmm.Iterations(gmm.Data(rows, columns, groups), few=2, many=many, repetitions=2)


def _kmeans(rows: int, columns: int, groups: int) -> Case:
    data = kmeans.Data("even", rows, columns, groups)
    return kmeans.Plain(data, 10, repetitions=2)


def _topics(rows: int, columns: int, groups: int) -> Case:
    setup = topics.Setup(topics.Corpus(rows, columns, groups), rows // 10, 1, repetitions=1)
    return topics.Fit(setup, topics.SKLEARN)


CASES: tuple[Point, ...] = (
    *curves("gmm", _gmm, rows=(3_000, 30_000, 300_000), columns=(2, 8, 32), groups=(2, 8, 32)),
    *curves(
        "k-means", _kmeans, rows=(3_000, 30_000, 300_000), columns=(2, 8, 32), groups=(2, 8, 32)
    ),
    *curves(
        "topics", _topics, rows=(500, 2_000, 8_000), columns=(250, 1_000, 4_000), groups=(5, 20, 80)
    ),
)
