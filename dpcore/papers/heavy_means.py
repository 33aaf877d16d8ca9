"""The mean of heavy tails, with a curator and without: who errs how much, by rows and epsilon.

Wang, Ding, Hu, Xie, Pan, Xu 2023, section 4 (Lemma 1 and Theorem 2); one random bit a person is
from Duchi, Jordan, Wainwright 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.datasets.heavy_tails import REACH, Tail, log_normal, pareto, student, tail_table
from dpcore.datasets.load import load
from dpcore.fitting.api import fit_grid
from dpcore.papers.reproduction import Ask, Panel, Reproduction, Row, spread_row
from dpcore.privacy import Privacy

Array = NDArray[np.float64]

DELTA = 1e-5
SEED = 2023
TAILS = (student(2.5), pareto(2.1), log_normal())
ROWS = (1_000, 10_000, 100_000)
EPSILON = {"central": 0.5, "local": 1.0}


@dataclass(frozen=True)
class Way:
    """One curve: who adds the noise, where numbers are bent, and how it is counted."""

    name: str
    trust: str
    method: str
    mode: str = "proved"
    accountant: str = "exact"


CENTRAL = (
    Way("Lemma 1, as printed", "central", "older", "paper"),
    Way("Theorem 2, as printed", "central", "improved", "paper"),
    Way("Theorem 2, exact noise", "central", "improved"),
    Way("best provable scale, exact noise", "central", "bound"),
    Way("plain clipping, exact noise", "central", "clip"),
)
LOCAL = (
    Way("Lemma 1, noise at home", "local", "older"),
    Way("Theorem 2, noise at home", "local", "improved"),
    Way("plain clipping, noise at home", "local", "clip"),
    Way("one random bit, delta 0", "local_onebit", "clip", accountant="linear"),
)


def heavy_means(ask: Ask) -> Reproduction:
    """Error of the mean of three heavy-tailed columns by rows, with a curator and without.

    A few seconds.
    """
    rows: list[Row] = []
    panels = []
    total, done = 2 * len(TAILS), 0
    for where, ways in (("central", CENTRAL), ("local", LOCAL)):
        for tail in TAILS:
            name = f"{tail.name}, {where} (epsilon {EPSILON[where]:g})"
            panels.append(Panel(name, name, "rows", "mean absolute error", log_y=True))
            for count in ROWS:
                for way in ways:
                    found = _errors(tail, way, count, EPSILON[where], ask)
                    rows.append(
                        spread_row(name, way.name, count, found, mean=float(np.mean(found)))
                    )
            done += 1
            ask.say(done / total)
    return Reproduction("The mean of heavy tails", tuple(rows), finding(rows), tuple(panels))


def finding(rows: list[Row]) -> str:
    """How often the improved estimator beats the older one, and what beats both."""
    means: dict[tuple[str, float], dict[str, float]] = {}
    for each in rows:
        means.setdefault((each["panel"], each["x"]), {})[each["curve"]] = float(each["mean"])
    central = [found for (panel, _), found in means.items() if "central" in panel]
    local = [found for (panel, _), found in means.items() if "local" in panel]
    older, improved, exact, _, clipped = (way.name for way in CENTRAL)
    ratios = [here[older] / here[improved] for here in central]
    clip = sum(here[clipped] <= here[exact] for here in central)
    bit = sum(min(here, key=here.__getitem__) == LOCAL[3].name for here in local)
    return (
        f"With a curator, Theorem 2 errs {min(ratios):.1f} to {max(ratios):.1f} times less than "
        f"Lemma 1; plain clipping with exact noise is at least as good as Theorem 2 with exact "
        f"noise at {clip} of {len(central)} points. Without one, a single random bit a person is "
        f"the most accurate at {bit} of {len(local)}, with delta 0."
    )


def _errors(tail: Tail, way: Way, count: int, epsilon: float, ask: Ask) -> Array:
    """Distances from the true mean over tables and draws of the noise."""
    splits, draws = ask.split(10), ask.drawn(3)
    request = Privacy(epsilon=epsilon, delta=DELTA, mode=way.mode, accountant=way.accountant)
    words: dict[str, Any] = {"trust": way.trust, "method": way.method, "tau": tail.mean_square}
    found = []
    for split in range(splits):
        frame, schema = tail_table(tail, count, np.random.default_rng([SEED, split, count]))
        many = range(split * draws, (split + 1) * draws)
        grid = fit_grid(
            "mean", load(frame, schema=schema), privacy=(request,), draws=many, seed=SEED, **words
        )
        found.append(np.abs(REACH * grid.runs.final.mean[:, 0] - tail.mean))
    return np.concatenate(found)
