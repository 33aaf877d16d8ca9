"""How a command prints: aligned columns for people, JSON for machines."""

from __future__ import annotations

import json
import math
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from threading import Timer
from typing import Any

import numpy as np

WIDTH = 100  # characters of a line for people
SLOW = 4.0  # seconds
FITTING = "Fitting: the time grows with the rows, the columns, the parts and the iterations."
_GAP = "  "
_PROSE = 30  # a last column of texts longer than this is wrapped, not cut or moved below
# What a terminal obeys: controls, and marks that turn the direction of writing.
_OBEYED = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONGEST = 44  # characters of a column's name or of a cell that is not wrapped


def print_json(value: Any) -> None:
    """Strict JSON: what is undefined becomes null, what is infinite the string "Infinity"."""
    print(json.dumps(_plain(value), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def rounded_up(number: float | None, figures: int = 4) -> float | None:
    """To so many figures, never below: an epsilon or a noise that is copied still holds.

    >>> rounded_up(133.93), rounded_up(1.9931), rounded_up(2.0)
    (134.0, 1.994, 2.0)
    """
    return _rounded(number, figures, math.ceil)


def rounded_down(number: float | None, figures: int = 4) -> float | None:
    """To so many figures, never above: a lower end stays one."""
    return _rounded(number, figures, math.floor)


def _rounded(number: float | None, figures: int, turn: Callable[[Fraction], int]) -> float | None:
    if number is None or number == 0.0 or not math.isfinite(number):
        return number
    digits = figures - 1 - math.floor(math.log10(abs(number)))
    scaled = Fraction(repr(float(number))) * Fraction(10) ** digits
    near = round(scaled)
    close = abs(scaled - near) <= abs(scaled) / 10**12  # rounding of the solver
    return float((near if close else turn(scaled)) / Fraction(10) ** digits)


def visible(text: str) -> str:
    r"""A text in which names may come from somebody else's file: what a terminal would obey, such
    as to overwrite a line, stands there as its number. Ends of lines and tabs stay.

    >>> visible("a\x1b[2Kb")
    'a\\x1b[2Kb'
    """
    return _OBEYED.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)


def print_prose(text: str) -> None:
    """A sentence, on as many lines as it needs."""
    print(textwrap.fill(visible(text), WIDTH, subsequent_indent="  "))


def print_note(text: str) -> None:
    """A sentence beside what is printed: on standard error, so that no file holds it."""
    print(f"Note: {visible(text)}", file=sys.stderr)


@contextmanager
def said_if_slow(sentence: str) -> Iterator[None]:
    """What is worked out for longer than :data:`SLOW` seconds says so, once, on a terminal."""

    def say() -> None:
        print(sentence, file=sys.stderr, flush=True)

    timer = Timer(SLOW, say)
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def print_progress(share: float) -> None:
    """A bar on a terminal's standard error, nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r{_bar(share)}", end="\n" if share >= 1.0 else "", file=sys.stderr)


def pass_bar() -> Callable[[float], None]:
    """Shows on a terminal's standard error how much of a pass over the rows is done, and which pass
    it is; nothing of it is left once a pass ends."""
    number, before = 0, 1.0

    def show(share: float) -> None:
        nonlocal number, before
        number += share < before or before >= 1.0
        before = share
        if sys.stderr.isatty():
            line = f"{_bar(share)} of pass {number}"
            end = f"\r{' ' * len(line)}\r" if share >= 1.0 else ""
            print(f"\r{line}", end=end, file=sys.stderr, flush=True)

    return show


def _bar(share: float) -> str:
    filled = round(30 * share)
    return f"[{'#' * filled}{'.' * (30 - filled)}] {share:4.0%}"


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Rows with the same keys as columns, at most 100 characters wide.

    Long texts in the last column are wrapped; other columns that do not fit follow below, each
    block with the first column again.
    """
    if not rows:
        return
    columns = [[visible(name), *(_cell(row[name]) for row in rows)] for name in rows[0]]
    *others, last = columns
    if others and max(map(len, last[1:])) > _PROSE:
        _print_wrapped(others, last)
        return
    short = [[textwrap.shorten(cell, _LONGEST, placeholder="…") for cell in c] for c in columns]
    for number, block in enumerate(_blocks(short)):
        if number:
            print()
        for line in zip(*map(_right, block), strict=True):
            print(_GAP.join(line))


def _print_wrapped(others: list[list[str]], last: list[str]) -> None:
    """Columns of numbers, then one of texts."""
    margin = _width(others) + len(_GAP)
    for *cells, text in zip(*map(_right, others), last, strict=True):
        for number, part in enumerate(textwrap.wrap(text, max(_PROSE, WIDTH - margin)) or [""]):
            print((_GAP.join([*cells, part]) if not number else " " * margin + part).rstrip())


def _blocks(columns: list[list[str]]) -> Iterator[list[list[str]]]:
    """As many columns together as fit, the first one before each block."""
    first, block = columns[0], columns[:1]
    for column in columns[1:]:
        if len(block) > 1 and _width([*block, column]) > WIDTH:
            yield block
            block = [first]
        block = [*block, column]
    yield block


def _width(columns: list[list[str]]) -> int:
    return sum(max(map(len, c)) for c in columns) + len(_GAP) * (len(columns) - 1)


def _right(column: list[str]) -> list[str]:
    width = max(map(len, column))
    return [cell.rjust(width) for cell in column]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}".replace("e-0", "e-")  # 1e-5, not 1e-05
    return visible(" ".join(str(value).split()))
