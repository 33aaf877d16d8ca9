"""k-means on a map: what five ways of spending the same budget leave of the clusters.

Park, Foulds, Chaudhuri, Welling 2017, section 7 and Figure 4; DPLloyd is from Su, Cao, Li, Bertino,
Jin 2016. Noise that the wall will not give stays without a point, and says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.datasets.load import load
from dpcore.datasets.places import DEGREES, points_from_histogram
from dpcore.errors import InputError
from dpcore.evaluation.yardstick import Scorer, yardstick
from dpcore.fitting.api import fit_grid
from dpcore.papers.reproduction import Ask, Panel, Reproduction, Row, row, spread_row
from dpcore.privacy import Privacy
from dpcore.schema import Schema
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

DELTA = 1e-4
CENTRES = 5
LARGE = 1_256_384  # check-ins of the paper's Gowalla set
SEED = 2017  # of the public points
TEST = 0.1


@dataclass(frozen=True)
class Way:
    """One curve: an algorithm, how it is counted, and whom it protects."""

    name: str
    algorithm: str
    mode: str
    accountant: str
    adjacency: str = "replace_one"


WAYS = (
    Way("DPLloyd, linear", "dplloyd", "paper", "linear"),
    Way("DPLloyd, zCDP", "dplloyd", "paper", "zcdp"),
    Way("as printed, counts never paid for", "paper", "paper", "zcdp"),
    Way("as printed, counts charged", "paper", "proved", "zcdp"),
    Way("proved, one row replaced", "proved", "proved", "exact"),
    Way("proved, one row added or removed", "proved", "proved", "exact", "add_remove"),
)
NOISELESS = "without privacy"
OURS = WAYS[4].name


@dataclass(frozen=True)
class Case:
    """Size of a run: rows drawn, iterations, total epsilon."""

    rows: int
    iterations: int
    epsilon: float

    @property
    def name(self) -> str:
        return f"{self.rows:,} rows, {self.iterations} iterations, epsilon {self.epsilon:g}"


FIGURE_4 = (Case(LARGE, 40, 0.01),)
TABLE = (
    Case(12_500, 10, 0.01),
    Case(12_500, 10, 0.1),
    Case(12_500, 40, 0.1),
    Case(1_130_000, 10, 0.01),
    Case(1_130_000, 40, 0.01),
)


def figure_4(ask: Ask) -> Reproduction:
    """k-means of 1.26 million check-ins at epsilon 0.01: spread around the centres, by method.

    Needs ``dpbench_grids256.npz``, from whose Gowalla grid the points are drawn once.
    """
    return _exhibit("DP-EM, Figure 4: k-means", FIGURE_4, ask, splits=10)


def table_kmeans(ask: Ask) -> Reproduction:
    """k-means at five sizes and budgets: where the order of the published methods holds or turns.

    Needs ``dpbench_grids256.npz``, as figure 4 does.
    """
    return _exhibit("k-means: spread by method, size and budget", TABLE, ask, splits=4)


def _exhibit(title: str, cases: tuple[Case, ...], ask: Ask, splits: int) -> Reproduction:
    grid = ask.array("dpbench_grids256.npz", "gowalla")
    rows: list[Row] = []
    for number, case in enumerate(cases):
        table = check_ins(grid, case.rows)
        rows += compare(table, case, ask.split(splits), ask.drawn(1))
        ask.say((number + 1) / len(cases))
    panels = tuple(
        Panel(
            case.name,
            case.name,
            f"total epsilon (delta = {DELTA:g}, one row of one person)",
            "NICV: mean squared distance to the nearest centre, in half ranges",
            log_y=True,
        )
        for case in cases
    )
    return Reproduction(title, tuple(rows), finding(rows), panels)


def check_ins(grid: Array, rows: int) -> PrivateTable:
    """Points drawn once from a grid over latitude (down) and longitude (across), in degrees."""
    import pandas as pd

    longitude, latitude = DEGREES
    drawn = points_from_histogram(
        grid, (latitude, longitude), rows, np.random.default_rng([SEED, rows])
    )
    bounds = {"latitude": latitude, "longitude": longitude}
    return load(pd.DataFrame(drawn, columns=list(bounds)), schema=Schema.from_bounds(bounds))


def compare(table: PrivateTable, case: Case, splits: int, draws: int) -> list[Row]:
    """Every way on random splits of one table; the spread of the rows held out."""
    scores: dict[str, list[Array]] = {}
    refusals: dict[str, str] = {}
    many: dict[str, Any] = {"n_components": CENTRES, "iterations": case.iterations}
    judge = yardstick("kmeans")
    for split in range(splits):
        train, test = table.split(TEST, seed=split)
        held_out = Scorer.of(test, most=None)
        noise: dict[str, Any] = {"draws": range(split * draws, (split + 1) * draws), "seed": 0}
        plain = fit_grid("kmeans", train, privacy=None, as_private=True, **many)
        scores.setdefault(NOISELESS, []).append(judge.measure(plain.runs.final, held_out, "nicv"))
        for way in WAYS:
            if way.name in refusals:
                continue
            words = {**many, **noise, "algorithm": way.algorithm}
            try:
                grid = fit_grid("kmeans", train, privacy=(_request(way, case),), **words)
            except InputError as refusal:
                if refusal.field != "noise":  # what the wall refuses to release
                    raise
                refusals[way.name] = f"refused: {refusal.found}"
                continue
            found = judge.measure(grid.runs.final, held_out, "nicv")
            scores.setdefault(way.name, []).append(found)
    rows = [
        spread_row(case.name, name, case.epsilon, every, mean=float(np.mean(every)))
        for name, every in ((name, np.concatenate(found)) for name, found in scores.items())
    ]
    return rows + [
        row(case.name, name, case.epsilon, None, note=why, runs=0, mean=None)
        for name, why in refusals.items()
    ]


def _request(way: Way, case: Case) -> Privacy:
    return Privacy(
        epsilon=case.epsilon,
        delta=DELTA,
        adjacency=way.adjacency,
        accountant=way.accountant,
        mode=way.mode,
    )


def finding(rows: list[Row]) -> str:
    """The order of the methods in each case, least spread first."""
    said = []
    for panel in dict.fromkeys(each["panel"] for each in rows):
        here = [each for each in rows if each["panel"] == panel]
        ranked = sorted(
            (each for each in here if each["y"] is not None), key=lambda r: float(r["y"])
        )
        order = "; ".join(f"{each['curve']} {each['y']:.4f}" for each in ranked)
        said.append(f"{panel}: {order}.")
    absent = sorted({each["curve"] for each in rows if each["y"] is None})
    without = f" Without a point: {'; '.join(absent)}." if absent else ""
    return f"Median NICV, least first. {' '.join(said)}{without}"
