"""k-means on a map: what five ways of spending the same budget leave of the clusters.

Park, Foulds, Chaudhuri, Welling 2017, section 7 and Figure 4; DPLloyd is from Su, Cao, Li, Bertino,
Jin 2016. Noise that the wall will not give stays without a point, and says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.datasets.load import load
from dpcore.datasets.places import DEGREES, points_from_histogram
from dpcore.errors import InputError
from dpcore.evaluation.yardstick import Scorer, yardstick
from dpcore.fitting.api import Grid
from dpcore.papers.claims import Points, Row, ordered, points
from dpcore.papers.reproduction import Run, experiment
from dpcore.papers.ways import Way
from dpcore.privacy.guarantee import delta_text
from dpcore.schema import Schema
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

DELTA = 1e-4
CENTRES = 5
LARGE = 1_256_384  # check-ins of the paper's Gowalla set
SEED = 2017  # of the public points
TEST = 0.1


WAYS = (
    Way("DPLloyd, linear", {"mode": "paper", "accountant": "linear"}, {"algorithm": "dplloyd"}),
    Way("DPLloyd, zCDP", {"mode": "paper", "accountant": "zcdp"}, {"algorithm": "dplloyd"}),
    Way(
        "as printed, counts not charged",
        {"mode": "paper", "accountant": "zcdp"},
        {"algorithm": "paper"},
    ),
    Way("as printed, counts charged", {"accountant": "zcdp"}, {"algorithm": "paper"}),
    Way("proved, one row replaced"),
    Way("proved, one row added or removed", {"adjacency": "add_remove"}),
)
NOISELESS = "without privacy"
PLAIN = Way(NOISELESS, None, {"as_private": True})
OURS = WAYS[4].name
MAPS = (PLAIN, WAYS[0], WAYS[4])  # the paper's maps have DPLloyd, too
PRINTED_NICV = 0.0236  # of DPLloyd in the paper's figure
PRINTED = "DPLloyd, the paper's number"
DRAWN = 1_200  # places of a map


@dataclass(frozen=True)
class Case:
    """Size of a run: rows drawn, iterations, total epsilon."""

    rows: int
    iterations: int
    epsilon: float

    @property
    def name(self) -> str:
        """The panel's title."""
        return f"{self.rows:,} rows, {self.iterations} iterations, epsilon {self.epsilon:g}"


FIGURE_4 = Case(LARGE, 40, 0.01)
TABLE = (
    Case(12_500, 10, 0.01),
    Case(12_500, 10, 0.1),
    Case(12_500, 40, 0.1),
    Case(1_130_000, 10, 0.01),
    Case(1_130_000, 40, 0.01),
)


def _printed(rows: Sequence[Row]) -> Points:
    """The printed method; with its counts charged where they are not released without noise."""
    return points(rows, WAYS[2].name) or points(rows, WAYS[3].name)


CLAIMS = (
    ordered(
        "DPLloyd is more accurate with zCDP than with linear composition",
        WAYS[1].name,
        WAYS[0].name,
    ),
    ordered("the paper's k-means is better than DPLloyd with zCDP", _printed, WAYS[1].name),
)
OWN_POINTS = "points drawn from a published grid of the check-ins"


@experiment("DP-EM, Figure 4: k-means", *CLAIMS, stands_in=OWN_POINTS)
def figure_4(run: Run) -> str:
    """k-means of 1.26 million check-ins at epsilon 0.01: maps, and the spread around the centres.

    Needs ``dpbench_grids256.npz``, from whose Gowalla grid the points are drawn once. Each map is
    one draw.
    """
    table = check_ins(run.ask.array("dpbench_grids256.npz", "gowalla"), FIGURE_4.rows)
    for way in run.progress(MAPS):
        _map(run, table, way, FIGURE_4)
    compare(run, table, FIGURE_4, splits=10)
    run.row(PRINTED, FIGURE_4.epsilon, PRINTED_NICV)
    return finding([row for row in run.rows if row["panel"] == FIGURE_4.name])


def _map(run: Run, table: PrivateTable, way: Way, case: Case) -> None:
    """Some of the places with the centres of one draw, and their NICV on rows held out."""
    train, test = table.split(TEST, seed=0)
    final = _fitted(way, train, case, range(1)).runs.final
    (spread,) = yardstick("kmeans").measure(final, Scorer.of(test, most=None), "nicv")
    axes = "longitude (degrees)", "latitude (degrees)"
    title = f"{way.name}: NICV {spread:.4f}"
    run.panel(f"map: {way.name}", *axes, title, kind="points", across=len(MAPS))
    public, rows = custodian_rows(table)
    places = public.center + public.half_range * rows[:: len(rows) // DRAWN]
    run.row("check-ins", 0.0, None, cloud=np.round(places[:, ::-1], 1).tolist())
    for latitude, longitude in public.center + public.half_range * final.centres[0]:
        run.row("centres", longitude, latitude, nicv=float(spread))


@experiment("k-means: spread by method, size and budget", *CLAIMS, stands_in=OWN_POINTS)
def table_kmeans(run: Run) -> str:
    """k-means at five sizes and budgets: where the order of the published methods holds or turns.

    Needs ``dpbench_grids256.npz``, as figure 4 does.
    """
    grid = run.ask.array("dpbench_grids256.npz", "gowalla")
    for case in run.progress(TABLE):
        compare(run, check_ins(grid, case.rows), case, splits=4)
    return finding(run.rows)


def check_ins(grid: Array, rows: int) -> PrivateTable:
    """Points drawn once from a grid over latitude (down) and longitude (across), in degrees."""
    import pandas as pd

    longitude, latitude = DEGREES
    drawn = points_from_histogram(
        grid, (latitude, longitude), rows, np.random.default_rng([SEED, rows])
    )
    bounds = {"latitude": latitude, "longitude": longitude}
    return load(pd.DataFrame(drawn, columns=list(bounds)), schema=Schema.from_bounds(bounds))


def compare(run: Run, table: PrivateTable, case: Case, splits: int) -> None:
    """Every way on random splits of one table; the spread of the rows held out."""
    run.panel(
        case.name,
        f"total epsilon (delta = {delta_text(DELTA)}, protecting one row)",
        "NICV: mean squared distance to the nearest centre, in squared half ranges",
        log_y=True,
    )
    refusals: dict[str, str] = {}
    for split, numbers in run.splits(splits):
        train, test = table.split(TEST, seed=split)
        held_out = Scorer.of(test, most=None)
        for way in (way for way in (PLAIN, *WAYS) if way.name not in refusals):
            try:
                grid = _fitted(way, train, case, numbers)
            except InputError as refusal:
                if refusal.field != "noise":  # what the wall refuses to release
                    raise
                refusals[way.name] = f"refused: {refusal.problem}"
                continue
            scores = yardstick("kmeans").measure(grid.runs.final, held_out, "nicv")
            run.scores(way.name, case.epsilon, scores, mean=np.mean)
    for name, why in refusals.items():
        run.row(name, case.epsilon, None, note=why, runs=0, mean=None)


def _fitted(way: Way, table: PrivateTable, case: Case, draws: range) -> Grid:
    options = {"n_components": CENTRES, "iterations": case.iterations}
    return way.fit("kmeans", table, [case.epsilon], DELTA, draws=draws, **options)


def finding(rows: list[Row]) -> str:
    """The order of the methods in each case, least spread first."""
    orders = []
    for panel in dict.fromkeys(row["panel"] for row in rows):
        here = [row for row in rows if row["panel"] == panel]
        ranked = sorted((row for row in here if row["y"] is not None), key=lambda r: float(r["y"]))
        order = "; ".join(f"{row['curve']} {row['y']:.4f}" for row in ranked)
        orders.append(f"{panel}: {order}.")
    absent = sorted({row["curve"] for row in rows if row["y"] is None})
    without = f" Without a point: {'; '.join(absent)}." if absent else ""
    return f"Median NICV, lowest first. {' '.join(orders)}{without}"
