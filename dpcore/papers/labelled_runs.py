"""What the figures of the labelled release share: ways of releasing, and their divergences.

Liu, Scaglione, Peisert 2025. Every figure has two panels of the same data: the methods as printed,
of which nothing is proved, and what is proved under the guarantee that its curve names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.api import Grid
from dpcore.models.labelled_mixture.scoring import YARDSTICK
from dpcore.papers.claims import Claim, Points, Row, best, holds, points, trend
from dpcore.papers.reproduction import Run, values
from dpcore.papers.ways import Way
from dpcore.wall.table import PrivateTable

DELTA = 1e-5
TABLES, DRAWS = 20, 5  # 100 trials, as in the paper
DIVERGENCE = "KL divergence of the release from the exact classes (nats)"
PRINTED, PROVED = "as printed", "proved"
EXACT = "exact"
CLASS_ROWS = "rows of the class"


@dataclass(frozen=True)
class Release(Way):
    """One curve of a figure, and the panel it is in."""

    panel: str = PROVED

    @property
    def method(self) -> str:
        """The mechanism that the curve shows."""
        return str(self.options["method"])

    @property
    def adjacency(self) -> str:
        """What the curve's guarantee protects."""
        return str((self.privacy or {})["adjacency"])


def printed(name: str, method: str, **options: str) -> Release:
    """A method as the paper has it, of which nothing is proved."""
    privacy = {"adjacency": "label", "mode": "paper"}
    return Release(name, privacy, {"method": method, "neighbours": "leave", **options}, PRINTED)


def proved(name: str, method: str, adjacency: str = "label") -> Release:
    """A method with the guarantee that its name says."""
    accountant = "linear" if method == "laplace" else "exact"
    privacy = {"adjacency": adjacency, "accountant": accountant}
    return Release(name, privacy, {"method": method, "neighbours": "leave"})


WAYS = (
    printed("proposed, one row removed", "paper"),
    printed("proposed, all neighbours", "paper", neighbours="all"),
    printed("Laplace", "laplace"),
    printed("Gaussian", "gaussian"),
    printed("colored Gaussian", "colored"),
    printed("R1SMG", "r1smg"),
    proved("staged, label", "staged"),
    proved("public features, label", "public_features"),
    proved("shaped noise, label", "mte"),
    proved("Gaussian, label", "gaussian"),
    proved("Laplace, label", "laplace"),
    proved("staged, row replaced", "staged", "replace_one"),
    proved("Gaussian, row replaced", "gaussian", "replace_one"),
)
OURS, RIVAL = "staged, label", "Gaussian, label"
RIVALS = [way.name for way in WAYS if way.panel == PRINTED and way.method != "paper"]


def proposed(rows: Sequence[Row]) -> Points:
    """The first curve of the proposed release."""
    names = (row["curve"] for row in rows if row["curve"].startswith("proposed"))
    return points(rows, next(names, ""))


NEAREST = best("the proposed release is the best of the printed methods", proposed, RIVALS)
LARGER = trend("a larger budget is better", proposed, -1)


@dataclass(frozen=True)
class Point:
    """A place on the x axis: tables, and the budget for each."""

    x: float
    tables: Sequence[PrivateTable]
    epsilon: float


def fitted(way: Way, table: PrivateTable, epsilons: Sequence[float], draws: int) -> Grid:
    """All budgets with all draws; InputError where the way has none."""
    return way.fit("gmm-release", table, epsilons, DELTA, draws=range(draws))


def figure(
    run: Run,
    axis: str,
    points: Sequence[Point],
    *,
    ways: Sequence[Release] = WAYS,
    metric: str = "reverse_kl",
    label: str = DIVERGENCE,
    log_x: bool = False,
    draws: int = DRAWS,
) -> str:
    """Medians with their spread for every way and point; points of one set of tables are fitted at
    once, so a curve over budgets shares its noise."""
    for panel in dict.fromkeys(way.panel for way in ways):
        log_y = metric != "accuracy"
        run.panel(panel, axis, label, f"{run.title}: {panel}", log_x=log_x, log_y=log_y)
    together: dict[tuple[int, ...], list[Point]] = {}
    for point in points:
        together.setdefault(tuple(map(id, point.tables)), []).append(point)
    for way, members in run.progress(product(ways, together.values())):
        _measure(run, way, members, run.ask.drawn(draws), metric)
    return finding(run.rows, metric)


def _measure(run: Run, way: Release, points: Sequence[Point], draws: int, metric: str) -> None:
    tables, epsilons = points[0].tables, [point.epsilon for point in points]
    blocks: list[Array] = []
    note = ""
    for table in tables:
        try:
            grid = fitted(way, table, epsilons, draws)
        except InputError as refusal:
            note = f"refused: {refusal}"
            continue
        scores = YARDSTICK.measure(grid.runs.final, YARDSTICK.scorer(table, most=None), metric)
        blocks.append(scores.reshape(len(epsilons), draws))
    if not blocks:
        for point in points:
            run.row(way.name, point.x, None, panel=way.panel, note=note)
        return
    facts = {"note": note, "adjacency": way.adjacency, "proved": way.panel == PROVED}
    for point, scores in zip(points, np.concatenate(blocks, axis=1), strict=True):
        run.scores(way.name, point.x, scores, panel=way.panel, mean=np.mean, **facts)


def finding(rows: Sequence[Row], metric: str = "reverse_kl") -> str:
    """How the proved release stands to its rival, and the published one to its own floor."""
    ours, rival = (_first(rows, PROVED, name) for name in ("staged", "Gaussian"))
    printed = _first(rows, PRINTED, "proposed")
    sentences = []
    common = sorted(set(ours) & set(rival))
    if common and metric == "accuracy":
        gains = [ours[x] - rival[x] for x in common]
        sentences.append(
            f"At the same true guarantee, the share of rows classified correctly is "
            f"{min(gains):.2f} to {max(gains):.2f} larger with the staged release than with "
            f"Gaussian noise"
        )
    elif common:
        ratios = [rival[x] / ours[x] for x in common]
        sentences.append(
            f"At the same true guarantee, the divergence with Gaussian noise is "
            f"{min(ratios):.3g} to {max(ratios):.3g} times that of the staged release"
        )
    if printed and metric != "accuracy":
        sentences.append(
            f"The proposed release as printed, without any proof, has a divergence of at least "
            f"{min(printed.values()):.2g}"
        )
    return ". ".join(sentences) + "." if sentences else "Nothing could be compared."


def _first(rows: Sequence[Row], panel: str, start: str) -> dict[float, float]:
    """The points of a panel's first curve whose name starts so."""
    names = (row["curve"] for row in rows if row["panel"] == panel)
    name = next((name for name in names if name.startswith(start)), "")
    return values(rows, name, panel)


def over_budgets(tables: Sequence[PrivateTable], epsilons: Sequence[float]) -> list[Point]:
    """The same tables at every budget."""
    return [Point(epsilon, tables, epsilon) for epsilon in epsilons]


def class_sizes(run: Run, sizes: Sequence[int], names: Sequence[str]) -> None:
    """Rows of each class, in the panel begun last."""
    for place, (size, name) in enumerate(zip(sizes, names, strict=True), start=1):
        run.row(CLASS_ROWS, place, size, note=name)


def marginals(
    run: Run,
    table: PrivateTable,
    ways: Sequence[Release],
    *,
    classes: Sequence[str],
    columns: Sequence[str],
) -> str:
    """Every column in every class: its rows, and its density, exact and by one draw of each way at
    epsilon 2."""
    scorer = YARDSTICK.scorer(table, most=None)
    public, sizes = scorer.public, np.bincount(scorer.codes)
    batches, gaps, notes = {EXACT: scorer.exact}, [], {}
    for way in run.progress(ways):
        name = f"{way.name} ({way.panel})"
        try:
            batches[name] = fitted(way, table, [2.0], 1).runs.final
        except InputError as refusal:
            notes[name] = f"refused: {refusal}"
            continue
        gap = float(f"{YARDSTICK.measure(batches[name], scorer, 'reverse_kl')[0]:.3g}")
        gaps.append(f"{name} {gap:,g}")
    own = scorer.rows * public.half_range + public.center
    for k, j in product(range(len(classes)), range(len(columns))):
        panel = f"{classes[k]}, {columns[j]}"
        title = columns[j] if k == 0 else ""
        axis = f"{classes[k]} ({sizes[k]})"
        run.panel(panel, "", axis, title or " ", kind="bells", across=len(columns))
        heights, edges = np.histogram(own[scorer.codes == k, j], 8, density=True)
        facts: dict[str, Any] = {"edges": _short(edges), "heights": _short(heights)}
        run.row("rows", 0.0, None, rows=int(sizes[k]), **facts)
        for curve, batch in batches.items():
            mean = public.center[j] + public.half_range[j] * batch.means[0, k, j]
            spread = public.half_range[j] * np.sqrt(batch.covariances[0, k, j, j])
            run.row(curve, mean, spread, rows=int(sizes[k]))
        for curve, note in notes.items():
            run.row(curve, 0.0, None, note=note)
    return f"Divergences of the releases shown, one draw of each: {', '.join(gaps)}."


def _short(numbers: Array) -> list[float]:
    return [float(f"{number:.4g}") for number in numbers]


def overlaps(rows: Sequence[Row]) -> list[tuple[int, float]]:
    """Of every class and column: rows of the class, and the share of the exact density that the
    proposed release overlaps (1 minus the total variation distance of two normals)."""
    exact = {row["panel"]: row for row in rows if row["curve"] == EXACT}
    shares = []
    for row in (row for row in rows if row["curve"].startswith("proposed")):
        other = exact[row["panel"]]
        if row["y"] is None:
            continue
        reach = 8.0 * max(row["y"], other["y"])
        middle = [row["x"], other["x"]]
        x = np.linspace(min(middle) - reach, max(middle) + reach, 401)
        both = [np.exp(-0.5 * ((x - r["x"]) / r["y"]) ** 2) / r["y"] for r in (row, other)]
        shares.append((int(row["rows"]), float(np.minimum(*both).sum() / both[1].sum())))
    return shares


def overlapping(says: str, rows: tuple[float, float], least: bool = True) -> Claim:
    """A claim that in classes of so many rows the overlap is three quarters at least, or less."""

    def truths(shown: Sequence[Row]) -> Iterator[bool]:
        for size, share in overlaps(shown):
            if rows[0] <= size < rows[1]:
                yield (share >= OVERLAP) == least

    return holds(says, truths)


OVERLAP = 0.75
