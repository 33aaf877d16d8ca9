"""What each figure or table says, and at how many of our points it holds: a verdict by counting.

A claim is ours, in words, of what a figure or table is there to show (Park et al. 2017 and 2020;
Wang et al. 2023; Liu et al. 2025); every experiment declares its own. It is checked at each point
where our rows have what it speaks of; nothing here knows a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

Row = dict[str, Any]
Points = dict[tuple[str, float], float]  # (panel, x) to a number
Ends: TypeAlias = tuple[float, float]  # quantiles of its runs
AGREES, PARTLY, DIFFERS = "agrees", "agrees in part", "differs"
ENOUGH = 5  # runs of a point; a verdict on fewer says how many


@dataclass(frozen=True)
class Check:
    """One claim, and at how many of our points it holds.

    ours: added by us, beside what the paper says; it is told and does not judge. clear: at how many
    points it holds even with the 10% and 90% quantiles of the runs on the wrong side; ``None``
    where no curve has any.
    """

    says: str
    holds: int
    of: int
    ours: bool = False
    clear: int | None = None

    @property
    def throughout(self) -> bool:
        """Whether it holds at every point, and not everywhere by less than the runs spread."""
        return 0 < self.of == self.holds and self.clear != 0

    @property
    def sentence(self) -> str:
        """The claim with its counts."""
        clear = ""
        if self.holds and self.clear is not None:
            clear = f" ({self.clear} beyond the spread of the runs)"
        return f"{self.says}: at {self.holds} of {self.of}{clear}"


Claim: TypeAlias = Callable[[Sequence[Row]], Check]
# One curve: its name, its name with a fact of its rows in place of y, or how its points are found.
Line: TypeAlias = str | tuple[str, str] | Callable[[Sequence[Row]], Points]


@dataclass(frozen=True)
class Verdict:
    """What became of one figure or table.

    stands_in: data that stand for some that are not public; empty where ours are the paper's.
    runs: on how many the best supported point rests; 0 where the rows do not count any.
    """

    checks: tuple[Check, ...]
    stands_in: str = ""
    runs: int = 0

    @property
    def word(self) -> str:
        """``agrees`` where every claim of the paper holds throughout, and somewhere beyond the
        spread of the runs; ``differs`` where none holds at more than half of its points; else
        ``agrees in part``."""
        printed = [check for check in self.checks if not check.ours]
        if all(check.throughout for check in printed):
            return AGREES
        most = any(2 * check.holds > check.of for check in printed)
        return PARTLY if most else DIFFERS

    @property
    def opening(self) -> str:
        """The verdict, and what limits it."""
        limits = [self.stands_in] if self.stands_in else []
        few = "one draw" if self.runs == 1 else f"{self.runs} runs"
        limits += [few] if 0 < self.runs < ENOUGH else []
        data = f" ({'; '.join(limits)})" if limits else ""
        return f"{self.word.capitalize()}{data}."

    @property
    def sentence(self) -> str:
        """The verdict with its reasons."""
        claims = "; ".join(check.sentence for check in self.checks if not check.ours)
        more = "; ".join(check.sentence for check in self.checks if check.ours)
        beside = f" Beyond the paper: {more}." if more else ""
        return f"{self.opening} The paper: {claims}.{self.missing}{beside}"

    @property
    def missing(self) -> str:
        """Of a verdict that differs: what would have to hold for it to agree."""
        if self.word != DIFFERS:
            return ""
        wanted = ((check, max(check.of, 1)) for check in self.checks if not check.ours)
        least = [
            f"{most} point{'s' * (most > 1)} instead of {check.holds}"
            for check, most in wanted
            if check.holds < most
        ]
        subject = "the claim" if len(least) == 1 else "the claims"
        return f" To agree, {subject} would have to hold at {', and at '.join(least)}."


def points(rows: Sequence[Row], line: Line) -> Points:
    """One curve: (panel, x) to a number, without what could not be."""
    if callable(line):
        return line(rows)
    curve, fact = (line, "y") if isinstance(line, str) else line
    return {
        (row["panel"], row["x"]): float(row[fact])
        for row in rows
        if row["curve"] == curve and row.get(fact) is not None
    }


def ends(rows: Sequence[Row], line: Line) -> dict[tuple[str, float], Ends]:
    """The 10% and 90% quantiles of the runs at each point of a curve; the point itself, twice,
    where there is one run or no noise, or where the curve is of another fact than y."""
    curve = points(rows, line)
    if isinstance(line, tuple):
        return {at: (y, y) for at, y in curve.items()}
    low, high = (points([_at(row, end) for row in rows], line) for end in ("low", "high"))
    return {at: (low[at], high[at]) for at in curve}


def _at(row: Row, end: str) -> Row:
    """A row of several runs at an end of its quantiles; any other row as it is."""
    spread = row.get("runs", 1) > 1 and row.get(end) is not None and row["y"] is not None
    return {**row, "y": row[end]} if spread else row


def holds(says: str, truths: Callable[[Sequence[Row]], Iterable[bool]]) -> Claim:
    """A claim about every one of some points."""

    def claim(rows: Sequence[Row]) -> Check:
        counted = list(truths(rows))
        return Check(says, sum(counted), len(counted))

    return claim


def ordered(says: str, *lines: Line, slack: float = 0.0) -> Claim:
    """Curves lie above one another in this order, where all have a point."""

    def claim(rows: Sequence[Row]) -> Check:
        curves = [points(rows, line) for line in lines]
        common = [at for at in curves[0] if all(at in curve for curve in curves)]
        counted = [all(a[at] < b[at] + slack for a, b in pairwise(curves)) for at in common]
        spans = [ends(rows, line) for line in lines]
        clear = [all(a[at][1] < b[at][0] + slack for a, b in pairwise(spans)) for at in common]
        return _check(says, counted, clear, [span[at] for span in spans for at in common])

    return claim


def _check(says: str, counted: list[bool], clear: list[bool], ranges: list[Ends]) -> Check:
    spread = any(low < high for low, high in ranges)
    return Check(says, sum(counted), len(counted), clear=sum(clear) if spread else None)


def trend(says: str, line: Line, sign: int, panels: Sequence[str] = ()) -> Claim:
    """A curve goes up (1) or down (-1) from the first to the last point of each panel [of all]."""
    near, far = (0, 1) if sign == 1 else (1, 0)

    def claim(rows: Sequence[Row]) -> Check:
        curve, spans = points(rows, line), ends(rows, line)
        counted, clear, ranges = [], [], []
        for panel in panels or dict.fromkeys(where for where, _ in sorted(curve)):
            places = sorted(at for at in curve if at[0] == panel)
            if len(places) > 1:
                first, last = places[0], places[-1]
                counted.append(sign * (curve[last] - curve[first]) > 0)
                clear.append(sign * (spans[last][near] - spans[first][far]) > 0)
                ranges += [spans[first], spans[last]]
        return _check(says, counted, clear, ranges)

    return claim


def best(says: str, line: Line, others: Sequence[Line], sign: int = 1) -> Claim:
    """A curve has the least value of all where it has a point (sign -1: the largest)."""
    near, far = (1, 0) if sign == 1 else (0, 1)

    def claim(rows: Sequence[Row]) -> Check:
        curve, rivals = points(rows, line), [points(rows, other) for other in others]
        own_ends, *rival_ends = (ends(rows, drawn) for drawn in (line, *others))
        counted = [
            all(sign * y < sign * rival[at] for rival in rivals if at in rival)
            for at, y in curve.items()
        ]
        clear = [
            all(
                sign * own_ends[at][near] < sign * rival[at][far]
                for rival in rival_ends
                if at in rival
            )
            for at in curve
        ]
        return _check(says, counted, clear, list(own_ends.values()))

    return claim


def beside(claim: Claim) -> Claim:
    """A claim that is ours, not the paper's."""
    return lambda rows: replace(claim(rows), ours=True)


def at_the_end(claim: Claim) -> Claim:
    """The same of the last point of every panel."""

    def last(rows: Sequence[Row]) -> Check:
        ends: dict[str, float] = {}
        for row in rows:
            ends[row["panel"]] = max(row["x"], ends.get(row["panel"], row["x"]))
        return claim([row for row in rows if row["x"] == ends[row["panel"]]])

    return last
