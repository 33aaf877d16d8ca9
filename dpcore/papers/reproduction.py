"""An experiment of a paper as data, and the run that regenerates its figure or table.

An :class:`Experiment` is declared once: its title, what is measured, and the claims by which it is
compared with what the paper prints. The measuring function is given a :class:`Run`, which hands out
the random splits with their noise draws, gathers scores into rows and tells the share that is done.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.checks import one_of, whole
from dpcore.datasets.published import located
from dpcore.errors import InputError
from dpcore.papers.claims import Claim, Row, Verdict, points
from dpcore.registry import PAPERS, load

T = TypeVar("T")


def _quiet(share: float) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Ask:
    """How a reproduction is wanted.

    data: the folder with the real data sets; by default ``DPCORE_SHARED/data``, then where
    ``dpcore data add`` keeps them. draws, splits: noise draws of each split, and random splits;
    ``None`` for the usual number. say: told the share that is done.
    """

    data: Path | None = None
    draws: int | None = None
    splits: int | None = None
    say: Callable[[float], None] = _quiet

    def drawn(self, usual: int) -> int:
        """Noise draws of each split."""
        return usual if self.draws is None else whole("draws", self.draws)

    def split(self, usual: int) -> int:
        """Random splits."""
        return usual if self.splits is None else whole("splits", self.splits)

    def file(self, name: str) -> Path:
        """A real data set. Raises InputError where it is not there."""
        return located(name, self.data)

    def array(self, name: str, key: str, dtype: type = float) -> NDArray[Any]:
        """An array of a real data set. Raises InputError where it cannot be read."""
        path = self.file(name)
        try:
            with np.load(path) as archive:
                return np.asarray(archive[key], dtype=dtype)
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            raise InputError(
                "data", f"{name} holds no array {key!r}", "download the published file again"
            ) from None


@dataclass(frozen=True)
class Panel:
    """One pair of axes; ``id`` is the ``panel`` of its rows. x, y: labels with units.

    kind: ``lines``, or what the rows are instead: ``points`` at (x, y), ``bells`` of mean x and
    standard deviation y, ``bars`` of height y, ``words`` of rank x and probability y; bars and
    words are named by ``note``. A row of points may hold a whole ``cloud`` of pairs, or a ``png``
    in a ``box`` of (left, foot, right, head); one of bells a histogram, as ``edges`` and
    ``heights``. across: panels side by side.
    """

    id: str
    title: str
    x: str
    y: str
    log_x: bool = True
    log_y: bool = False
    kind: str = "lines"
    across: int = 1


@dataclass(frozen=True)
class Reproduction:
    """A regenerated figure or table.

    rows: JSON-ready, each with ``panel``, ``curve``, ``x``, ``y``, ``low``, ``high`` (the 10% and
    90% quantiles, or an interval; ``None`` where there is none) and ``note``, and more facts.
    finding: one or two sentences computed from the rows.
    """

    title: str
    rows: tuple[Row, ...]
    finding: str
    panels: tuple[Panel, ...]


class Run:
    """One regeneration under way: what is asked, and the panels and rows so far."""

    def __init__(self, ask: Ask, title: str = "") -> None:
        self.ask = ask
        self.title = title
        self.panels: dict[str, Panel] = {}
        self._latest = ""
        self._points: list[Row | _Scores] = []
        self._scores: dict[tuple[str, str, float], _Scores] = {}
        self._begin, self._width = 0.0, 1.0

    def panel(self, id: str, x: str, y: str, title: str = "", **how: Any) -> None:
        """Begin a pair of axes, or go on with it: rows go there from now on. how: the other fields
        of :class:`Panel`; only lines have a logarithmic x."""
        self._latest = id
        panel = Panel(id, title or id, x, y, **how)
        self.panels[id] = replace(panel, log_x=panel.log_x and panel.kind == "lines")

    def progress(self, items: Iterable[T]) -> Iterator[T]:
        """The items, one by one, telling the share that is done; loops may be nested."""
        todo = list(items)
        begin, width = self._begin, self._width
        for number, item in enumerate(todo):
            self._begin, self._width = begin + width * number / len(todo), width / len(todo)
            yield item
            self.ask.say(begin + width * (number + 1) / len(todo))
        self._begin, self._width = begin, width

    def splits(self, splits: int, draws: int = 1) -> Iterator[tuple[int, range]]:
        """Random splits with the numbers of their noise draws; no two splits share a draw."""
        count = self.ask.drawn(draws)
        for split in self.progress(range(self.ask.split(splits))):
            yield split, range(split * count, (split + 1) * count)

    def row(
        self, curve: str, x: float, y: float | None, *, panel: str | None = None, **facts: Any
    ) -> None:
        """Add one row. panel: the latest one, unless another is named. facts: the ends ``low`` and
        ``high`` of an interval, a ``note``, and more."""
        self._points.append(_row(panel or self._latest, curve, x, y, **facts))

    def scores(
        self, curve: str, x: float, scores: Array, *, panel: str | None = None, **facts: Any
    ) -> None:
        """Add scores ``(...)`` of some runs; those of one point become a row: median and quantiles.

        facts: of the row; a function is called with all scores of the point.
        """
        place = (panel or self._latest, curve, float(x))
        if place not in self._scores:
            self._scores[place] = _Scores(*place, facts)
            self._points.append(self._scores[place])
        self._scores[place].per_run.append(np.ravel(scores))

    @property
    def rows(self) -> list[Row]:
        """All rows so far."""
        return [point.row() if isinstance(point, _Scores) else point for point in self._points]


@dataclass(frozen=True)
class _Scores:
    """Scores of one point, from as many splits as have been measured."""

    panel: str
    curve: str
    x: float
    facts: dict[str, Any]
    per_run: list[Array] = field(default_factory=list)

    def row(self) -> Row:
        """Their median with the 10% and 90% quantiles."""
        scores = np.concatenate(self.per_run)
        low, middle, high = (float(value) for value in np.quantile(scores, [0.1, 0.5, 0.9]))
        facts = {"runs": int(scores.size), **self.facts}
        facts = {key: float(f(scores)) if callable(f) else f for key, f in facts.items()}
        return _row(self.panel, self.curve, self.x, middle, low=low, high=high, **facts)


def _row(
    panel: str,
    curve: str,
    x: float,
    y: float | None,
    low: float | None = None,
    high: float | None = None,
    note: str = "",
    **facts: Any,
) -> Row:
    numbers = {"x": float(x), "y": _number(y), "low": _number(low), "high": _number(high)}
    return {"panel": panel, "curve": curve, **numbers, "note": note, **facts}


@dataclass(frozen=True, eq=False)
class Experiment:
    """One figure or table of a paper.

    measure: adds panels and rows to a run and returns the finding; its docstring says what the
    figure shows and what it needs. claims: what the figure is there to show, to be counted on the
    rows. stands_in: what stands for data or settings that are not public. one_draw: whether
    rows that do not count their runs are of one draw of the noise.
    """

    title: str
    measure: Callable[[Run], str]
    claims: tuple[Claim, ...] = ()
    stands_in: str = ""
    one_draw: bool = False

    def __call__(self, ask: Ask) -> Reproduction:
        """Regenerate it."""
        run = Run(ask, self.title)
        finding = self.measure(run)
        return Reproduction(self.title, tuple(run.rows), finding, tuple(run.panels.values()))

    @property
    def about(self) -> str:
        """The docstring, as plain text."""
        return (self.measure.__doc__ or "").replace("``", "")


def experiment(
    title: str, *claims: Claim, stands_in: str = "", one_draw: bool = False
) -> Callable[[Callable[[Run], str]], Experiment]:
    """Declare the decorated function an :class:`Experiment`."""
    return lambda measure: Experiment(title, measure, claims, stands_in, one_draw)


def experiment_of(name: str) -> Experiment:
    """A registered experiment. Raises InputError for an unknown name."""
    loaded: Experiment = load(PAPERS[one_of("name", name, tuple(PAPERS))])
    return loaded


def reproductions() -> dict[str, str]:
    """What can be reproduced: name, and a sentence."""
    firsts = {name: experiment_of(name).about.split("\n\n")[0] for name in PAPERS}
    return {name: " ".join(text.split()).rstrip(".") + "." for name, text in firsts.items()}


def described(name: str) -> str:
    """All that is said of one: the sentence, what it needs, how long it takes."""
    return " ".join(experiment_of(name).about.split())


def reproduce(name: str, ask: Ask | None = None) -> Reproduction:
    """Regenerate one figure or table. Raises InputError for an unknown name or absent data."""
    return experiment_of(name)(ask or Ask())


def verdict(name: str, rows: Sequence[Row]) -> Verdict:
    """What became of one figure or table, from its rows. Raises InputError for an unknown name."""
    reproduced = experiment_of(name)
    runs = [row["runs"] for row in rows if row.get("runs")]
    most = max(runs, default=1 if reproduced.one_draw else 0)
    return Verdict(tuple(claim(rows) for claim in reproduced.claims), reproduced.stands_in, most)


def values(rows: Sequence[Row], curve: str, panel: str | None = None) -> dict[float, float]:
    """x to y of one curve, without what could not be."""
    return {x: y for (where, x), y in points(rows, curve).items() if panel in (None, where)}


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)
