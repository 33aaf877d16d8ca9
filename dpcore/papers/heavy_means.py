"""The mean of heavy-tailed columns, with a curator and without: errors by rows and epsilon.

Wang, Ding, Hu, Xie, Pan, Xu 2023, section 4 (Lemma 1 and Theorem 2); one random bit a person is
from Duchi, Jordan, Wainwright 2018.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from dpcore.datasets.heavy_tails import REACH, Tail, log_normal, pareto, student, tail_table
from dpcore.datasets.load import load
from dpcore.papers.claims import Row, beside, ordered
from dpcore.papers.reproduction import Run, experiment
from dpcore.papers.ways import Way

DELTA = 1e-5
SEED = 2023
TAILS = (student(2.5), pareto(2.1), log_normal())
ROWS = (1_000, 10_000, 100_000)
EPSILON = {"central": 0.5, "local": 1.0}


PAPER = {"mode": "paper"}
CENTRAL = (
    Way("Lemma 1, as printed", PAPER, {"method": "older"}),
    Way("Theorem 2, as printed", PAPER, {"method": "improved"}),
    Way("Theorem 2, exact noise", options={"method": "improved"}),
    Way("best provable scale, exact noise", options={"method": "bound"}),
    Way("plain clipping, exact noise", options={"method": "clip"}),
)
ONE_BIT = {"method": "clip", "trust": "local_onebit"}
LOCAL = (
    Way("Lemma 1, local noise", options={"method": "older"}),
    Way("Theorem 2, local noise", options={"method": "improved"}),
    Way("plain clipping, local noise", options={"method": "clip"}),
    Way("one random bit, delta 0", {"accountant": "linear"}, ONE_BIT),
)


@experiment(
    "The mean of heavy-tailed columns",
    ordered(
        "the estimator of Theorem 2 has a smaller error than that of Lemma 1",
        (CENTRAL[1].name, "mean"),
        (CENTRAL[0].name, "mean"),
    ),
    beside(
        ordered(
            "with exact noise, the estimator of Theorem 2 has a smaller error than plain clipping",
            (CENTRAL[2].name, "mean"),
            (CENTRAL[4].name, "mean"),
        )
    ),
    stands_in="our own heavy-tailed data: the paper has theorems but no plots",
)
def heavy_means(run: Run) -> str:
    """Error of the mean of three heavy-tailed columns by rows, with a curator and without.

    A few seconds.
    """
    ways = {"central": CENTRAL, "local": LOCAL}
    for trust, tail in run.progress(product(ways, TAILS)):
        name = f"{tail.name}, {trust} (epsilon {EPSILON[trust]:g})"
        run.panel(name, "rows", "median absolute error", log_y=True)
        for count, way in run.progress(product(ROWS, ways[trust])):
            _errors(run, tail, way, count, trust)
    return finding(run.rows)


def _errors(run: Run, tail: Tail, way: Way, count: int, trust: str) -> None:
    """Distances from the true mean over tables and draws of the noise."""
    for split, draws in run.splits(10, 3):
        frame, schema = tail_table(tail, count, np.random.default_rng([SEED, split, count]))
        grid = way.fit(
            "mean",
            load(frame, schema=schema),
            [EPSILON[trust]],
            DELTA,
            draws=draws,
            seed=SEED,
            trust=trust,
            tau=tail.mean_square,
        )
        errors = np.abs(REACH * grid.runs.final.mean[:, 0] - tail.mean)
        run.scores(way.name, count, errors, mean=np.mean)


def finding(rows: list[Row]) -> str:
    """How often the improved estimator beats the older one, and what beats both."""
    means: dict[tuple[str, float], dict[str, float]] = {}
    for row in rows:
        means.setdefault((row["panel"], row["x"]), {})[row["curve"]] = float(row["mean"])
    central = [means_at for (panel, _), means_at in means.items() if "central" in panel]
    local = [means_at for (panel, _), means_at in means.items() if "local" in panel]
    older, improved, exact, _, clipped = (way.name for way in CENTRAL)
    ratios = [here[older] / here[improved] for here in central]
    clip = sum(here[clipped] <= here[exact] for here in central)
    bit = sum(min(here, key=here.__getitem__) == LOCAL[3].name for here in local)
    return (
        f"With a curator, the error of Lemma 1 is {min(ratios):.1f} to {max(ratios):.1f} times "
        f"that of Theorem 2; plain clipping with exact noise is at least as good as "
        f"Theorem 2 with exact noise at {clip} of {len(central)} points. Without a curator, a "
        f"single random bit per person is the most accurate at {bit} of {len(local)}, with delta 0."
    )
