"""How a table seems to be written, read off its private rows: for the custodian to confirm.

**Guarantee**: none. A proposal depends on the rows, so it is for the custodian's eyes, and only
what a code book says as well may be confirmed. Limits and categories are never proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dpcore.schema.cells import number_meant
from dpcore.schema.forms import DATE_FORMATS, ISO, MISSING_TOKENS, CellForm, FileFormat, plain

if TYPE_CHECKING:
    import pandas as pd

MARKS = (
    "-", "--", "–", "—", ".", "*", "n. a.", "n.a.", "n/a", "n.v.", "k. a.", "k.a.", "keine angabe",
    "#n/a", "#nv", "na", "nan", "null", "none", "missing", "unknown", "unbekannt",
)  # fmt: skip
SYMBOLS = (
    "%", "€", "$", "£", "¥", "EUR", "Euro", "USD", "GBP", "CHF", "JPY", "kg", "cm", "km", "years",
    "Jahre",
)  # fmt: skip
MOST_TEXTS = 2_000  # different ones of a column that are looked at
WHOLE_DATES = "YYYYMMDD"  # a date in this form is a number as well
FIRST_YEAR, LAST_YEAR = 1800, 2199  # of dates in that form
_WAYS = ((".", None), (".", ","), (".", "'"), (".", " "))
_COMMA_WAYS = ((",", None), (",", "."), (",", "'"), (",", " "))


@dataclass(frozen=True)
class ColumnProposal:
    """One column: its type, what stands beside its numbers, how its dates are written. type:
    ``empty`` where every cell is missing, else of a schema. other: a second form that fits all
    dates as well, or ``number``."""

    type: str
    symbols: tuple[str, ...] = ()
    date_format: str | None = None
    other: str | None = None


@dataclass(frozen=True)
class Proposal:
    """What a file's rows look like. columns: by name."""

    file: FileFormat
    columns: dict[str, ColumnProposal]


def proposed(frame: pd.DataFrame, separator: str | None) -> Proposal:
    """How the cells of a table ``(n, d)`` seem to be written; columns of numbers stay numbers,
    except whole ones that are all days such as 20260131.

    separator: of the file; after a semicolon, a decimal comma is looked for first. The form taken
    is the one under which most columns hold numbers.

    >>> import pandas as pd
    >>> found = proposed(pd.DataFrame({"pay": ["1.234,5 €", "-"], "who": ["a", "b"]}), ";")
    >>> found.file.decimal, found.file.missing_marks, found.columns["pay"].symbols
    (',', ('-',), ('€',))
    """
    cells = {str(name): _different(frame[name]) for name in frame.columns}
    ways = (*_COMMA_WAYS, *_WAYS) if separator == ";" else (*_WAYS, *_COMMA_WAYS)
    readings = [_reading(cells, FileFormat(separator, *way)) for way in ways]
    return max(
        readings, key=lambda reading: sum(c.type == "number" for c in reading.columns.values())
    )


def _different(column: pd.Series) -> list[str] | None:
    """The different texts of a column; ``None`` where it holds numbers, not texts."""
    if column.dtype.kind in "biuf" and not column.isna().all():
        return None
    cells = column.dropna()
    cells = cells.map(str) if cells.dtype == object else cells  # lists, for example
    return [plain(str(cell)) for cell in cells.unique()[:MOST_TEXTS]]


def _reading(cells: dict[str, list[str] | None], file: FileFormat) -> Proposal:
    """All columns under one form of numbers, with the marks that number and date columns hold."""
    columns = {name: _column(texts, file) for name, texts in cells.items()}
    marks = {
        text
        for name, texts in cells.items()
        if columns[name].type in ("number", "date", "empty")
        for text in texts or ()
        if text.casefold() in MARKS and text not in MISSING_TOKENS
    }
    return Proposal(replace(file, missing_marks=tuple(sorted(marks))), columns)


def _column(texts: Sequence[str] | None, file: FileFormat) -> ColumnProposal:
    if texts is None:
        return ColumnProposal("number")
    entries = [text for text in texts if text.casefold() not in MARKS]
    if all(text in MISSING_TOKENS for text in entries):
        return ColumnProposal("empty")
    if _all_whole_dates(entries):
        return ColumnProposal("date", (), WHOLE_DATES, "number")
    beside = [text for text in entries if text.startswith(SYMBOLS) or text.endswith(SYMBOLS)]
    symbols = tuple(
        symbol
        for symbol in SYMBOLS
        if any(text.startswith(symbol) or text.endswith(symbol) for text in beside)
    )
    if _all_read(entries, CellForm(file, symbols)):
        return ColumnProposal("number", symbols)
    if _all_read(entries, CellForm(file, (), ISO)):  # which every other form reads as well
        return ColumnProposal("date", (), ISO)
    fitting = [form for form in DATE_FORMATS if _all_read(entries, CellForm(file, (), form))]
    if fitting:
        return ColumnProposal("date", (), *fitting[:2])
    return ColumnProposal("text")


def _all_whole_dates(texts: Sequence[str]) -> bool:
    """Whether each text is missing or a day of a plausible year, written as eight digits.

    >>> _all_whole_dates(["20260131", "NA"]), _all_whole_dates(["20260132"])
    (True, False)
    """
    form = CellForm(FileFormat(), (), WHOLE_DATES)
    days = [text for text in texts if text not in MISSING_TOKENS]
    return all(
        len(text) == 8
        and text.isdecimal()
        and FIRST_YEAR <= int(text[:4]) <= LAST_YEAR
        and form.standard(text) is not None
        for text in days
    )


def _all_read(texts: Sequence[str], form: CellForm) -> bool:
    """Whether each text is read under a form, and at least one has a digit to read."""
    some = any(character.isdigit() for text in texts for character in text)
    return some and all(number_meant(text, form) is not None for text in texts)
