"""Cells as somebody could type them: ordinary ones, and hostile ones that a reader may trip over.

*sure* cells are numbers, or missing, under any reading. *odd* ones are numbers to some readers and
words to others. A table of numbers may be refused for an odd cell: that no word stands in a column
of numbers is public.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from dpcore.schema import MISSING_TOKENS

T = TypeVar("T")

WHOLE_NUMBERS = (
    "0", "1", "2", "-1", "01", "+5", "9007199254740993", "12345678901234567",
    "1234567890123456789", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "340282366920938463463374607431768211456",
    "9" * 400, "-" + "9" * 400, "0" * 300 + "1",
)  # fmt: skip
FRACTIONS = (
    "1700000000000000000.0", "1e999", "-1e999", "1e-999", "-0", "-0.0", "0.0", "1.0", "5.", ".5",
    "5e-1", "5E+00", "1e-320", "4.9e-324", "2.4e-324", "-2.2250738585072011e-308", "1e16", "1e22",
    "1.7976931348623157e308", "1.7976931348623159e308", "0.1000000000000000055511151231257827",
    "0." + "3" * 60, "123456789012345678.9", "0.30000000000000004", "1" + "0" * 30 + ".5",
    "inf", "-inf", "Infinity", "-Infinity", "INF", "True", "False", "true", "TRUE",
)  # fmt: skip
ODD = (
    "0x1p3", "0x10", "1_000", "１２", "٣", "3,5", "1e", "1 000",
    "$5", "5%", "<NA>", "#N/A", "-nan", "+nan", "NaT", "1d5", "--5", "5-", "0b1", "'5'", "\u00a05",
    "5\u2009", "=5", "(5)", "1/2", "½", "1j", "∞", "none", "NULL", "n/a", '"5"', "infinity ",
    "1e5 ", "1e+", "1.2.3", "2026-11-22", "12:30", "-", ".", "e5", "north", "x" * 300, "a, b",
    "a\nb",
)  # fmt: skip
WORDS = (
    ("u", "v", "w"),
    ("north", "South", "north east"),
    ("NA", "yes", "no"),
    ("true", "false"),
    ("0", "1"),
    ("1", "2", "3"),
    ("-1", "0", "10"),
    ("1", "a", "None"),
    ("inf", "nan", "x"),
    ("1.5", "2.5"),
    ("9007199254740992", "9007199254740994"),
    ("1700000000000000000", "1700000000000000256"),
    ("12345678901234567890", "7"),
    ("1e5", "x"),
    ("", "b"),
)
STYLES = ("whole", "short", "power", "long", "exact", "mixed")  # of a column of numbers


def pick(rng: np.random.Generator, choices: Sequence[T]) -> T:
    """One of some choices."""
    return choices[int(rng.integers(len(choices)))]


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """A number between two, often an end or just beyond it."""
    match int(rng.integers(8)):
        case 0:
            return low
        case 1:
            return high
        case 2:
            return math.nextafter(low, -math.inf)
        case 3:
            return math.nextafter(high, math.inf)
        case _:
            return low + float(rng.random()) * (high - low)


def number_text(
    rng: np.random.Generator, low: float, high: float, style: str, *, hostile: bool, odd: bool
) -> str:
    """A number as text, in one of :data:`STYLES`. odd: also what some readers take for a word."""
    ordinary = _written(rng, between(rng, low, high), style)
    if not hostile:
        return ordinary
    if odd and rng.random() < 0.3:
        return pick(rng, ODD)
    match int(rng.integers(6)):
        case 0:
            return pick(rng, MISSING_TOKENS)
        case 1:
            return pick(rng, WHOLE_NUMBERS)
        case 2 | 3:
            return pick(rng, FRACTIONS)
        case 4:
            return f"  {ordinary}"
        case _:
            return _written(rng, between(rng, low, high), pick(rng, STYLES))


def _written(rng: np.random.Generator, number: float, style: str) -> str:
    """A number in one of the ways in which programs write them."""
    if style == "mixed":
        style = pick(rng, STYLES[:-1])
    if style == "truth":
        return str(number > 0.5)
    if style == "whole" and abs(number) < 1e300:
        return str(int(number))
    if style == "short" and abs(number) < 1e22:
        return f"{number:.2f}"
    return {"power": f"{number:.3e}", "long": f"{number:.25g}"}.get(style, repr(float(number)))


def word_text(rng: np.random.Generator, words: Sequence[str], hostile: bool) -> str:
    """A category as text; hostile ones are spelled otherwise, or name none."""
    word = pick(rng, words)
    if not hostile:
        return word
    match int(rng.integers(7)):
        case 0:
            return pick(rng, MISSING_TOKENS)
        case 1:
            return pick(rng, WHOLE_NUMBERS)
        case 2:
            return pick(rng, FRACTIONS)
        case 3:
            return pick(rng, ODD)
        case 4:
            return f" {word} "
        case 5:
            return word.upper()
        case _:
            return f"{word}.0"
