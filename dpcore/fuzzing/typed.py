"""Cells of columns that have a type, as in a Parquet file, an array or a data frame."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from dpcore.fuzzing.cells import between, number_text, pick, word_text
from dpcore.schema import Column

WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATING = ("float16", "float32", "float64")
TEXTS = ("string", "dictionary")
ODD_OBJECTS = (True, False, "1", "x", "0x10", "True", Decimal("1.5"), 1j, np.float32(0.1))
OBJECTS = (None, math.nan, math.inf, -math.inf, 10**400, -(10**400), 2**53 + 1, 2**63, -0.0, 0, 1)


def is_whole(word: str) -> bool:
    """Whether a category is a whole number that 64 bits hold."""
    return word.lstrip("-").isdecimal() and abs(int(word)) < 1 << 63


def cell(
    rng: np.random.Generator,
    column: Column,
    span: tuple[float, float],
    storage: str,
    *,
    hostile: bool,
    odd: bool,
) -> Any:
    """A value for a column that is stored as ``storage``; ``None`` is missing.

    span: about where honest numbers lie. A name that ends in ``?`` is nullable.
    """
    kind = storage.removesuffix("?")
    if hostile and kind != storage and rng.random() < 0.3:
        return None
    if kind in TEXTS:
        return _text(rng, column, span, hostile, odd)
    if kind == "object":
        return _object(rng, column, span, hostile, odd)
    if kind == "bool":
        return bool(rng.integers(2))
    words = [int(word) for word in column.categories if is_whole(word)]
    if words and not (hostile and rng.random() < 0.5):
        span = (pick(rng, words),) * 2
    if kind == "decimal":
        return _decimal(rng, span, hostile)
    return _whole(rng, span, kind, hostile) if kind in WHOLE else _float(rng, span, kind, hostile)


def _text(
    rng: np.random.Generator, column: Column, span: tuple[float, float], hostile: bool, odd: bool
) -> str:
    if column.categories:
        return word_text(rng, column.categories, hostile)
    return number_text(rng, *span, "mixed", hostile=hostile, odd=odd)


def _object(
    rng: np.random.Generator, column: Column, span: tuple[float, float], hostile: bool, odd: bool
) -> Any:
    if hostile and odd and rng.random() < 0.3:
        return pick(rng, ODD_OBJECTS)
    if hostile and rng.random() < 0.6:
        return pick(rng, OBJECTS)
    if column.categories:
        return pick(rng, column.categories)
    number = between(rng, *span)
    return int(number) if rng.random() < 0.3 and abs(number) < 1e300 else number


def _whole(rng: np.random.Generator, span: tuple[float, float], kind: str, hostile: bool) -> int:
    ends = np.iinfo(kind)
    number = int(between(rng, *span)) if span[0] < span[1] else int(span[0])
    if hostile and rng.random() < 0.6:
        odd = (int(ends.min), int(ends.max), 0, 1, -1, 2**53 + 1, 2**31, int(ends.max) - 1)
        number = pick(rng, odd)
    return min(max(number, int(ends.min)), int(ends.max))


def _float(rng: np.random.Generator, span: tuple[float, float], kind: str, hostile: bool) -> float:
    if hostile and rng.random() < 0.6:
        ends = np.finfo(kind)
        odd = (math.nan, math.inf, -math.inf, float(ends.max), -float(ends.max), 0.0, -0.0)
        return (*odd, float(ends.smallest_subnormal))[int(rng.integers(len(odd) + 1))]
    number = between(rng, *span) if span[0] < span[1] else float(span[0])
    with np.errstate(over="ignore"):
        return float(np.dtype(kind).type(number))


def _decimal(rng: np.random.Generator, span: tuple[float, float], hostile: bool) -> Decimal:
    if hostile and rng.random() < 0.6:
        odd = ("9" * 18, "-" + "9" * 18, "0", "1e-9", "0.333333333")
        return Decimal(pick(rng, odd)).quantize(Decimal("1e-9"))
    number = between(rng, *span) if span[0] < span[1] else span[0]
    return Decimal(min(max(number, -1e18), 1e18)).quantize(Decimal("1e-9"))
