"""Forms in which a schema may say that a table is written, and the cells of a table so written.

A cell is made in the usual form first, and said in the schema's form then.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from dpcore.fuzzing.cells import pick
from dpcore.schema import Column, FileFormat, Schema
from dpcore.schema.forms import DATE_FORMATS, DECIMALS, ISO, SEPARATORS, THOUSANDS, day_of

MARKS = ("-", "n. a.", "k.A.", "999", ".", "-1,5")
SYMBOLS = (("EUR",), ("%",), ("€", "kg"), ("years",))
TIMES = ("", "", "T10:00", " 9:05:00.5", "T10:00+01:00")
_NUMERAL = re.compile(r"(\s*)([+-]?)([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]+)?\s*")


def random_form(rng: np.random.Generator, schema: Schema, *, dates: bool) -> Schema:
    """The schema with a form of its file, symbols beside some numbers, and some dates."""
    decimal = pick(rng, DECIMALS)
    groups = [sign for sign in THOUSANDS if sign != decimal]
    marks = tuple(mark for mark in MARKS if rng.random() < 0.3)
    file = FileFormat(
        separator=pick(rng, SEPARATORS),
        decimal=decimal,
        thousands=pick(rng, groups) if rng.random() < 0.5 else None,
        missing_marks=marks,
    )
    columns = tuple(_formed(rng, column, dates) for column in schema.columns)
    return replace(schema, columns=columns, file=file)


def _formed(rng: np.random.Generator, column: Column, dates: bool) -> Column:
    if column.type != "number" or not column.bounded:
        return column
    if dates and rng.random() < 0.2:
        ends = sorted(rng.choice(20_000, 2, replace=False).tolist())
        return Column(
            column.name,
            column.role,
            "date",
            lower=ends[0],
            upper=ends[1],
            date_format=pick(rng, DATE_FORMATS),
        )
    if rng.random() < 0.4:
        return replace(column, symbols=pick(rng, SYMBOLS))
    return column


def in_form(
    rng: np.random.Generator, text: str, column: Column, file: FileFormat, *, hostile: bool
) -> str:
    """A cell in the schema's form; what is no number stays as it is. hostile: or a missing one."""
    if hostile and file.missing_marks and rng.random() < 0.3:
        return pick(rng, file.missing_marks)
    numeral = _NUMERAL.fullmatch(text)
    if numeral is None or not re.search(r"[0-9]", f"{numeral[3]}{numeral[4]}"):
        return text
    blank, sign, whole, fraction, exponent = (part or "" for part in numeral.groups())
    if file.thousands is not None and rng.random() < 0.5:
        whole = re.sub(r"(?<=[0-9])(?=(?:[0-9]{3})+$)", file.thousands, whole)
    number = whole if numeral[4] is None else f"{whole}{file.decimal}{fraction}"
    symbol = pick(rng, (*column.symbols, "", ""))
    match int(rng.integers(3)) if symbol else 3:
        case 0:
            return f"{blank}{symbol} {sign}{number}{exponent}"
        case 1:
            return f"{blank}{sign}{symbol}{number}{exponent}"
        case _:
            return f"{blank}{sign}{number}{exponent} {symbol}".rstrip()


def date_text(
    rng: np.random.Generator, days: float, column: Column, file: FileFormat, *, hostile: bool
) -> str:
    """A day in the column's form or as ISO 8601 writes it, or a missing one."""
    if hostile and rng.random() < 0.3:
        return pick(rng, ("", "NA", *file.missing_marks))
    day = day_of(float(int(days)))
    if day is None:
        return ""
    form = pick(rng, (column.date_format or ISO, ISO))
    text = form.replace("YYYY", f"{day.year:04}").replace("MM", f"{day.month:02}")
    return text.replace("DD", f"{day.day:02}") + pick(rng, TIMES)
