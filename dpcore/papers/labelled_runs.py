"""What the figures of the labelled release share: ways of releasing, and their divergences.

Liu, Scaglione, Peisert 2025. Every figure has two panels of the same data: the methods as printed,
of which nothing is proved, and what is proved under the guarantee that its curve names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError
from dpcore.fitting.api import Grid, fit_grid
from dpcore.models.labelled_mixture.scoring import YARDSTICK
from dpcore.papers.reproduction import Ask, Panel, Reproduction, Row, row, spread_row, values
from dpcore.privacy import Privacy
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

DELTA = 1e-5
TABLES, DRAWS = 20, 5  # 100 trials, as in the paper
DIVERGENCE = "KL divergence of the release from the exact classes (nats)"
PRINTED, PROVED = "as printed", "proved"


@dataclass(frozen=True)
class Way:
    """One curve: a method, whom it protects, and in which panel it is."""

    name: str
    method: str
    panel: str = PROVED
    adjacency: str = "label"
    neighbours: str = "leave"

    def privacy(self, epsilon: float) -> Privacy:
        """The request of one point."""
        pure = self.panel == PROVED and self.method == "laplace"
        return Privacy(
            epsilon=epsilon,
            delta=DELTA,
            adjacency=self.adjacency,
            accountant="linear" if pure else "exact",
            mode="paper" if self.panel == PRINTED else "proved",
        )


WAYS = (
    Way("proposed, rows that leave", "paper", PRINTED),
    Way("proposed, all neighbours", "paper", PRINTED, neighbours="all"),
    Way("Laplace", "laplace", PRINTED),
    Way("Gaussian", "gaussian", PRINTED),
    Way("colored Gaussian", "colored", PRINTED),
    Way("R1SMG", "r1smg", PRINTED),
    Way("staged, label", "staged"),
    Way("public features, label", "public_features"),
    Way("shaped noise, label", "mte"),
    Way("Gaussian, label", "gaussian"),
    Way("Laplace, label", "laplace"),
    Way("staged, row replaced", "staged", adjacency="replace_one"),
    Way("Gaussian, row replaced", "gaussian", adjacency="replace_one"),
)
OURS, RIVAL = "staged, label", "Gaussian, label"


@dataclass(frozen=True)
class Point:
    """A place on the x axis: tables, and the budget for each."""

    x: float
    tables: Sequence[PrivateTable]
    epsilon: float


def fitted(way: Way, table: PrivateTable, epsilons: Sequence[float], draws: int) -> Grid:
    """All budgets with all draws; InputError where the way has none."""
    return fit_grid(
        "gmm-release",
        table,
        privacy=[way.privacy(epsilon) for epsilon in epsilons],
        draws=range(draws),
        seed=0,
        method=way.method,
        neighbours=way.neighbours,
    )


def figure(
    title: str,
    axis: str,
    points: Sequence[Point],
    ask: Ask,
    *,
    ways: Sequence[Way] = WAYS,
    metric: str = "reverse_kl",
    label: str = DIVERGENCE,
    log_x: bool = False,
    draws: int = DRAWS,
) -> Reproduction:
    """Medians with their spread for every way and point; points of one set of tables are fitted at
    once, so a curve over budgets shares its noise."""
    together: dict[tuple[int, ...], list[Point]] = {}
    for point in points:
        together.setdefault(tuple(map(id, point.tables)), []).append(point)
    rows: list[Row] = []
    todo = len(ways) * len(together)
    for number, way in enumerate(ways):
        for done, members in enumerate(together.values()):
            rows += _rows(way, members, ask.drawn(draws), metric)
            ask.say((number * len(together) + done + 1) / todo)
    panels = tuple(
        Panel(panel, f"{title}: {panel}", axis, label, log_x, metric != "accuracy")
        for panel in (PRINTED, PROVED)
        if any(way.panel == panel for way in ways)
    )
    return Reproduction(title, tuple(rows), finding(rows, metric), panels)


def _rows(way: Way, points: Sequence[Point], draws: int, metric: str) -> list[Row]:
    tables, epsilons = points[0].tables, [point.epsilon for point in points]
    found: list[Array] = []
    note = ""
    for table in tables:
        try:
            grid = fitted(way, table, epsilons, draws)
        except InputError as refusal:
            note = f"refused: {refusal}"
            continue
        scores = YARDSTICK.measure(grid.runs.final, YARDSTICK.scorer(table, None), metric)
        found.append(scores.reshape(len(epsilons), draws))
    if not found:
        return [row(way.panel, way.name, point.x, None, note=note) for point in points]
    every = np.concatenate(found, axis=1)
    facts: dict[str, Any] = {"adjacency": way.adjacency, "proved": way.panel == PROVED}
    return [
        spread_row(
            way.panel, way.name, point.x, scores, mean=float(scores.mean()), note=note, **facts
        )
        for point, scores in zip(points, every, strict=True)
    ]


def finding(rows: Sequence[Row], metric: str = "reverse_kl") -> str:
    """How the proved release stands to its rival, and the published one to its own floor."""
    ours, rival = (_first(rows, PROVED, name) for name in ("staged", "Gaussian"))
    printed = _first(rows, PRINTED, "proposed")
    said = []
    common = sorted(set(ours) & set(rival))
    if common and metric == "accuracy":
        gains = [ours[x] - rival[x] for x in common]
        said.append(
            f"At the same true guarantee the staged release classifies {min(gains):.2f} to "
            f"{max(gains):.2f} more of the rows rightly than Gaussian noise"
        )
    elif common:
        ratios = [rival[x] / ours[x] for x in common]
        said.append(
            f"At the same true guarantee the staged release lies {min(ratios):.3g} to "
            f"{max(ratios):.3g} times nearer to the exact classes than Gaussian noise"
        )
    if printed and metric != "accuracy":
        said.append(
            f"The published release, of which nothing is proved, never comes below "
            f"{min(printed.values()):.2g}"
        )
    return ". ".join(said) + "." if said else "Nothing could be compared."


def _first(rows: Sequence[Row], panel: str, start: str) -> dict[float, float]:
    """The points of a panel's first curve whose name starts so."""
    names = (each["curve"] for each in rows if each["panel"] == panel)
    name = next((name for name in names if name.startswith(start)), "")
    return values(rows, name, panel)


def over_budgets(tables: Sequence[PrivateTable], epsilons: Sequence[float]) -> list[Point]:
    """The same tables at every budget."""
    return [Point(epsilon, tables, epsilon) for epsilon in epsilons]


def marginals(
    title: str,
    table: PrivateTable,
    feature: int,
    epsilon: float,
    unit: str,
    ways: Sequence[Way],
    say: Callable[[float], None],
) -> Reproduction:
    """The density of one feature in every class, exact and by each way with its first draw."""
    scorer = YARDSTICK.scorer(table, None)
    public = scorer.public
    batches = [("exact", scorer.exact)]
    rows: list[Row] = []
    notes = {}
    for number, way in enumerate(ways):
        try:
            batches.append(
                (f"{way.name} ({way.panel})", fitted(way, table, [epsilon], 1).runs.final)
            )
        except InputError as refusal:
            notes[f"{way.name} ({way.panel})"] = f"refused: {refusal}"
        say((number + 1) / len(ways))
    own = scorer.rows[:, feature] * public.half_range[feature] + public.center[feature]
    low, high = np.quantile(own, [0.001, 0.999])
    grid = np.linspace(low - 0.1 * (high - low), high + 0.1 * (high - low), 101)
    names = [str(name) for name in scorer.exact.names[0]]
    gaps = {}
    for curve, batch in batches:
        mean = public.center[feature] + public.half_range[feature] * batch.means[0, :, feature]
        spread = public.half_range[feature] * np.sqrt(batch.covariances[0, :, feature, feature])
        gaps[curve] = float(YARDSTICK.measure(batch, scorer, "reverse_kl")[0])
        for name, middle, width in zip(names, mean, spread, strict=True):
            height = np.exp(-0.5 * ((grid - middle) / width) ** 2) / (width * np.sqrt(2.0 * np.pi))
            rows += [row(name, curve, x, y) for x, y in zip(grid, height, strict=True)]
    rows += [row(names[0], curve, grid[0], None, note=note) for curve, note in notes.items()]
    said = ", ".join(f"{curve} {gap:.3g}" for curve, gap in gaps.items() if curve != "exact")
    panels = tuple(
        Panel(name, f"Class {name}", f"{public.names[feature]} ({unit})", "density", False)
        for name in names
    )
    return Reproduction(title, tuple(rows), f"Divergence of what is drawn: {said}.", panels)
