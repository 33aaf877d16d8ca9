"""What the table of planned releases holds: one frozen value, as the reader and a link write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from app.line_editor import Cells, edited
from app.links import PIN, Reader, among, between, chosen, differences, each_once, misread, written
from app.texts.compose import too_many_lines
from dpcore.declaration import declarations
from dpcore.evaluation.study import EPSILONS

MOST_LINES = 20
TOTALS = EPSILONS[20:]  # from 0.1
NAME, MODEL, PARTS, TIMES = "Release", "Model", "Parts", "Times"
KEEPS, EPSILON, LOCKED = "Keeps at least (%)", "ε at least", "Locked at ε"
RANGES: dict[str, tuple[float, float]] = {
    "parts": (1, 50),
    "times": (1, 1000),
    "keeps": (1.0, 99.9),
    "epsilon": (0.001, 100.0),
    "rows": (1, 10**9),
    "delta": (1e-12, 0.5),
}


@dataclass(frozen=True)
class PlanLine:
    """One line. parts: the model's own number of them if ``None``. keeps: in percent, ``None``
    where nothing is asked for, as with epsilon."""

    name: str = ""
    model: str = ""
    parts: int | None = None
    times: int = 1
    keeps: float | None = None
    epsilon: float | None = None
    locked: bool = False

    def as_row(self) -> dict[str, Any]:
        """The cells, by the titles of their columns."""
        return {title: getattr(self, name) for title, name in _FIELDS.items()}

    def changed(self, cells: Cells) -> PlanLine:
        """The line with what was typed; an emptied cell asks for nothing."""
        typed = {_FIELDS[title]: value for title, value in cells.items() if title in _FIELDS}
        empty = PlanLine()
        return replace(
            self,
            **{k: getattr(empty, k) if v is None else v for k, v in typed.items()},
        )


_FIELDS = {
    NAME: "name", MODEL: "model", PARTS: "parts", TIMES: "times",
    KEEPS: "keeps", EPSILON: "epsilon", LOCKED: "locked",
}  # fmt: skip


@dataclass(frozen=True)
class PlanTable:
    """The lines, and what they have in common. lines, rows and delta: as the page begins with them
    if ``None``; no lines: all were deleted; rows: a public number. total: epsilon of all releases.
    """

    lines: tuple[PlanLine, ...] | None = None
    rows: int | None = None
    delta: float | None = None
    total: float = 2.0

    def as_link(self) -> str:
        """As one word of a link, never empty.

        >>> PlanTable((PlanLine("each year", "gmm", times=4),), total=1.0).as_link()
        'total=1|name=each+year&model=gmm&times=4'
        >>> PlanTable(()).as_link()
        'total=2|'
        """
        common = differences(replace(self, lines=None), PlanTable(total=0.0), written)
        if self.lines == ():
            return urlencode(common) + PIN
        lines = (differences(line, PlanLine(), written) for line in self.lines or ())
        return urlencode(common) + "".join(PIN + urlencode(line) for line in lines)

    @classmethod
    def parse(cls, text: str) -> PlanTable:
        """Read what :meth:`as_link` wrote. Raises ValueError for anything else.

        >>> PlanTable.parse("total=1|name=each+year&model=gmm&times=4").lines[0].times
        4
        """
        common, *lines = text.split(PIN)
        if len(lines) > MOST_LINES:
            raise ValueError(text)
        table: PlanTable = _read(cls(), common, _COMMON)
        if lines == [""]:
            return replace(table, lines=())
        return replace(table, lines=tuple(map(_line, lines)) or None)


def edited_plan(base: tuple[PlanLine, ...], edits: Mapping[str, Any]) -> tuple[PlanLine, ...]:
    """The lines after the editor's changes, without those that have no model yet. Raises ValueError
    with a sentence where there are too many."""
    lines = edited(base, edits, PlanLine(), lambda line, cells, place: line.changed(cells))
    if len(lines) > MOST_LINES:
        raise ValueError(too_many_lines(MOST_LINES))
    return tuple(line for line in lines if line.model)


def _line(text: str) -> PlanLine:
    line: PlanLine = _read(PlanLine(), text, _OF_LINE)
    if not line.model:
        raise ValueError(text)
    return line


def _read(choices: Any, text: str, readers: Mapping[str, Reader]) -> Any:
    query, several = each_once(parse_qsl(text, keep_blank_values=True))
    if several or misread(query, readers) or query.keys() - readers.keys():
        raise ValueError(text)
    return chosen(choices, query, readers)


_COMMON: dict[str, Reader] = {
    **{name: between(*RANGES[name]) for name in ("rows", "delta")},
    "total": lambda text: float(among([*map(written, TOTALS)])(text)),
}
_OF_LINE: dict[str, Reader] = {
    **{name: between(*RANGES[name]) for name in ("parts", "times", "keeps", "epsilon")},
    "name": str,
    "model": lambda text: str(among(declarations())(text)),
    "locked": lambda text: among("1")(text) == "1",
}
