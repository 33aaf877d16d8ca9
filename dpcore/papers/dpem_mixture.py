"""DP-EM's mixtures: held-out likelihood against epsilon, by every published way of counting.

Park, Foulds, Chaudhuri, Welling 2017, Figures 2 and 3: Laplace or Gaussian noise (LLG, GGG) by
linear and advanced composition, zCDP and the moments accountant; beside them the proved recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.datasets.load import load
from dpcore.evaluation.yardstick import Scorer, yardstick
from dpcore.fitting.api import Grid, fit_grid
from dpcore.papers.counting import CURVES, WORDS, Counted, Counting, Size, counted
from dpcore.papers.reproduction import Ask, Panel, Reproduction, Row, spread_row, values
from dpcore.privacy import Privacy
from dpcore.schema import Schema
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

PROVED = "proved, exact"
PRINTED_STEPS = "printed steps, no noise"
OWN_STEPS = "without privacy"
ONE_GAUSSIAN = "one Gaussian, without privacy"
ORDER = ("linear", "advanced", "ma", "zcdp")  # as printed, worst first
SAME = 0.01  # nats by which equal curves differ: whole orders cost a little noise
WITHIN = 0.1  # of the gap between one Gaussian and the mixture, both without privacy
NORM_BOUND = 16.25  # of a Life Science row, public by assumption


@dataclass(frozen=True)
class Comparison:
    """One figure: which table, how large a mixture, which budgets."""

    title: str
    size: Size
    epsilons: tuple[float, ...]
    splits: int
    test_fraction: float = 0.1


FIGURE_2 = Comparison(
    "DP-EM, Figure 2: a wide table like Stroke",
    Size(components=10, iterations=20, delta=1e-4, delta_each=1e-6),
    (0.1, 0.2, 0.5, 1.0, 2.0, 4.0),
    splits=2,
)
FIGURE_3 = Comparison(
    "DP-EM, Figure 3: Life Science",
    Size(components=3, iterations=10, delta=1e-4, delta_each=1e-8),
    (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0),
    splits=10,
)


def figure_2(ask: Ask) -> Reproduction:
    """Mixture of ten Gaussians on a wide table like Stroke: likelihood by every way of counting.

    The table is simulated and bundled; ten minutes a split.
    """
    return compare(load("bundled:stroke_like"), FIGURE_2, ask)


def figure_3(ask: Ask) -> Reproduction:
    """Mixture of three Gaussians on the Life Science data: likelihood by every way of counting.

    Needs ``lifesci.npz``; seconds a split. Rows lie in a ball whose radius is taken as public.
    """
    rows = ask.array("lifesci.npz", "X")
    names = [f"x{i + 1}" for i in range(rows.shape[1])]
    return compare(load(rows, schema=Schema.ball_of(names, None, NORM_BOUND)), FIGURE_3, ask)


def compare(table: PrivateTable, asked: Comparison, ask: Ask) -> Reproduction:
    """Every curve of a figure on random splits of one table."""
    noises = {curve: counted(curve, asked.size, asked.epsilons) for curve in CURVES}
    splits, draws = ask.split(asked.splits), ask.drawn(1)
    scores: dict[str, list[Array]] = {}
    for split in range(splits):
        one = _Split(table, asked, split, draws)
        jobs = one.jobs(noises)
        for number, (name, job) in enumerate(jobs.items()):
            scores.setdefault(name, []).append(job())
            ask.say((split + (number + 1) / len(jobs)) / splits)
    notes = {curve.name: found.note for curve, found in noises.items()}
    rows: list[Row] = []
    for name, found in scores.items():
        together = np.concatenate(found, axis=1)  # (epsilons, splits * draws)
        for epsilon, each in zip(asked.epsilons, together, strict=True):
            if not np.any(np.isnan(each)):
                note = notes.get(name, "")
                rows.append(spread_row("likelihood", name, epsilon, each, note=note))
    panel = Panel(
        "likelihood",
        asked.title,
        f"epsilon (delta = {asked.size.delta:g}, one row replaced)",
        "held-out log-likelihood of a row of x / R, nats",
    )
    return Reproduction(asked.title, tuple(rows), finding(rows, asked.epsilons), (panel,))


@dataclass(frozen=True)
class _Split:
    """One random split of the table, and its fits."""

    table: PrivateTable
    asked: Comparison
    split: int
    draws: int

    def jobs(self, noises: dict[Counting, Counted]) -> dict[str, Callable[[], Array]]:
        """Curve to a function that gives its scores ``(epsilons, draws)``."""
        train, test = self.table.split(self.asked.test_fraction, seed=self.split)
        rows, size = Scorer.of(test, most=None), self.asked.size
        many: dict[str, Any] = {"n_components": size.components, "iterations": size.iterations}

        def scored(grid: Grid) -> Array:
            return yardstick("gmm").measure(grid.runs.final, rows, "test_log_likelihood_scaled")

        def private(requests: Sequence[Privacy], **more: Any) -> Array:
            draws = range(self.split * self.draws, (self.split + 1) * self.draws)
            grid = fit_grid("gmm", train, privacy=requests, draws=draws, seed=0, **many, **more)
            return scored(grid).reshape(len(requests), self.draws)

        def published(curve: Counting, found: Counted) -> Array:
            scores = np.full((len(found.noise), self.draws), np.nan)
            met = np.flatnonzero(np.isfinite(found.noise))
            requests = [
                Privacy(noise_multiplier=float(z), delta=size.delta, mode="paper")
                for z in found.noise[met]
            ]
            if requests:
                more = {"combination": curve.combination, "delta_each": found.delta_each}
                scores[met] = private(requests, **more)
            return scores

        def plain(**more: Any) -> Array:
            grid = fit_grid("gmm", train, privacy=None, as_private=True, **{**many, **more})
            return np.full((len(self.asked.epsilons), self.draws), scored(grid)[0])

        proved = [Privacy(epsilon=e, delta=size.delta) for e in self.asked.epsilons]
        jobs: dict[str, Callable[[], Array]] = {
            OWN_STEPS: plain,
            PRINTED_STEPS: lambda: plain(mode="paper"),
            ONE_GAUSSIAN: lambda: plain(n_components=1),
            PROVED: lambda: private(proved),
        }
        for curve, found in noises.items():
            jobs[curve.name] = lambda c=curve, f=found: published(c, f)  # type: ignore[misc]
        return jobs


def finding(rows: Sequence[Row], epsilons: Sequence[float]) -> str:
    """Where each curve comes near the fit without privacy, and whether the order is as printed."""
    return f"{_reached(rows)} {_order(rows, epsilons)}"


def _reached(rows: Sequence[Row]) -> str:
    """The least budget of the grid from which a curve stays within a tenth of the gap."""
    best, least = (max(values(rows, name).values()) for name in (OWN_STEPS, ONE_GAUSSIAN))
    if best <= least:
        return f"No gap: one Gaussian reaches {least:.2f}, the mixture without privacy {best:.2f}."
    level = best - WITHIN * (best - least)
    near = []
    curves = (PROVED, PRINTED_STEPS, *(curve.name for curve in CURVES))
    for name in curves:
        found = reaches(values(rows, name), level)
        if found is not None:
            near.append(f"{name} from epsilon {found:g}")
    gap = f"Without privacy one Gaussian reaches {least:.2f} and the mixture {best:.2f}."
    if not near:
        return f"{gap} At no budget here does a curve come within {WITHIN:.0%} of that gap."
    rest = "; no other curve at any budget here" if len(near) < len(curves) else ""
    return f"{gap} Within {WITHIN:.0%} of that gap: {'; '.join(near)}{rest}."


def reaches(curve: dict[float, float], level: float) -> float | None:
    """The least budget from which a curve (epsilon to value) never falls below a level again.

    >>> reaches({0.1: 1.0, 1.0: 3.0, 4.0: 4.0}, 2.0), reaches({1.0: 3.0, 4.0: 1.0}, 2.0)
    (1.0, None)
    """
    found = None
    for epsilon in sorted(curve, reverse=True):
        if curve[epsilon] < level:
            break
        found = epsilon
    return found


def _order(rows: Sequence[Row], epsilons: Sequence[float]) -> str:
    """At how many budgets each part of the printed order holds."""
    said = []
    for combination in ("GGG", "LLG"):
        lines = {m: values(rows, Counting(combination, m).name) for m in ORDER}
        pairs = [
            f"{WORDS[one]} below {WORDS[other]} at {_below(lines[one], lines[other], epsilons)}"
            for one, other in pairwise(ORDER)
        ]
        said.append(f"{combination}: {', '.join(pairs)}")
    above = []
    for method in ORDER:
        mixed, gaussian = (values(rows, Counting(c, method).name) for c in ("LLG", "GGG"))
        above.append(f"{WORDS[method]} at {_below(mixed, gaussian, epsilons)}")
    return (
        f"The printed order, to {SAME} nats, at how many of {len(epsilons)} budgets: "
        f"{'; '.join(said)}; GGG above LLG: {', '.join(above)}."
    )


def _below(one: dict[float, float], other: dict[float, float], epsilons: Sequence[float]) -> int:
    """At how many budgets one curve is no better than another; out of reach is below all."""
    return sum(one.get(e, -np.inf) <= other.get(e, -np.inf) + SAME for e in epsilons)
