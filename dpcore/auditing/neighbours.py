"""Neighbouring tables on which fits are attacked, and the budgets of such attacks.

Everybody but one person stands where nothing is added, and that person stands in one of two places
as far apart as the model's sensitivity allows (or in one, and nowhere). Where rows are sampled, all
others are as the first table's own first row, which is the worst case of sampling (Balle, Barthe,
Gaboardi 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.auditing.fits import Pair
from dpcore.privacy import Privacy
from dpcore.schema import Ball, Column, Schema
from dpcore.wall.table import PrivateTable

CROWD = 100
CROWD_IN_STEPS = 19  # where each run works through the rows by itself
DELTA = 1e-5
SIDES = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}


def proved(epsilon: float = 4.0, **more: Any) -> dict[str, Privacy]:
    """The budget of an audit of proved fits alone; more: as :class:`dpcore.Privacy` takes it."""
    return {"proved": Privacy(epsilon=epsilon, delta=DELTA, **more)}


def printed(accountant: str, epsilon: float, delta: float = DELTA) -> Privacy:
    """The claim of a fit as published."""
    return Privacy(epsilon=epsilon, delta=delta, accountant=accountant, mode="paper")


def both(accountant: str, epsilon: float = 4.0, claimed: float = 4.0) -> dict[str, Privacy]:
    """The budgets of an audit of proved fits and of fits as published."""
    return {**proved(epsilon), "paper": printed(accountant, claimed)}


def seal(columns: dict[str, Sequence[Any] | Array], schema: Schema) -> PrivateTable:
    """Columns of simulated cells behind the wall, open to all."""
    import pandas as pd

    return PrivateTable.seal(pd.DataFrame(columns), schema, open_to_all=True)


def neighbours(first: Array, second: Array, adjacency: str, schema: Schema, scene: str) -> Pair:
    """Tables of rows ``(n, d)`` that differ in the first; where it comes or goes, it is absent from
    one."""
    names = [column.name for column in schema.columns]
    if adjacency == "add_remove":
        first, scene = first[1:], f"{scene.split(' or ')[0]}, or absent"
    tables = [seal(dict(zip(names, rows.T, strict=True)), schema) for rows in (first, second)]
    return Pair(tables[0], tables[1], scene)


def with_first(crowd: Array, row: Sequence[float] | Array) -> Array:
    """Rows ``(n + 1, d)``: one before a crowd ``(n, d)``."""
    return np.concatenate([np.array([row], dtype=float), crowd])


def crossed(adjacency: str) -> Pair:
    """Orthogonal rows, each on an axis: as far apart in squares as rows can be."""
    crowd = np.zeros((CROWD, 2))
    return neighbours(
        with_first(crowd, (0.0, 1.0)),
        with_first(crowd, (1.0, 0.0)),
        adjacency,
        Schema((Column("x"), Column("y")), ball=Ball((0.0, 0.0), 1.0)),
        "one person at the end of the first axis or at the end of the second",
    )


def opposite(
    adjacency: str,
    lower: float = -1.0,
    upper: float = 1.0,
    scene: str = "one person in a corner of the limits or in the opposite corner",
) -> Pair:
    """Opposite corners of two columns' limits: as far apart in sums as rows can be."""
    crowd = np.full((CROWD, 2), (lower + upper) / 2.0)
    return neighbours(
        with_first(crowd, (lower, lower)),
        with_first(crowd, (upper, upper)),
        adjacency,
        Schema.from_bounds({"x": (lower, upper), "y": (lower, upper)}),
        scene,
    )
