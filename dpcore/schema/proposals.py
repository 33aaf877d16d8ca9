"""How a table seems to be written, read off its private rows: for the custodian to confirm.

**Guarantee**: none. A proposal depends on the rows, so it is for the custodian's eyes, and only
what a code book says as well may be confirmed. Limits and categories are never proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dpcore.schema.cells import number_meant, plain
from dpcore.schema.forms import DATE_FORMATS, CellForm, FileFormat

if TYPE_CHECKING:
    import pandas as pd

MARKS = (
    "-", "--", "–", "—", ".", "*", "n. a.", "n.a.", "n/a", "n.v.", "k. a.", "k.a.", "keine angabe",
    "#n/a", "#nv", "na", "missing", "unknown", "unbekannt",
)  # fmt: skip
SYMBOLS = (
    "%", "€", "$", "£", "¥", "EUR", "Euro", "USD", "GBP", "CHF", "JPY", "kg", "cm", "km", "years",
    "Jahre",
)  # fmt: skip
MOST_TEXTS = 2_000  # different ones of a column that are looked at
_WAYS = ((".", None), (".", ","), (".", "'"), (".", " "))
_COMMA_WAYS = ((",", None), (",", "."), (",", "'"), (",", " "))


@dataclass(frozen=True)
class ColumnProposal:
    """One column: its type, what stands beside its numbers, how its dates are written. other: a
    second form that fits all dates as well."""

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
    """How the cells of a table ``(n, d)`` seem to be written; columns of numbers stay numbers.

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
    if column.dtype.kind in "biuf":
        return None
    return [plain(str(cell)) for cell in column.dropna().unique()[:MOST_TEXTS]]


def _reading(cells: dict[str, list[str] | None], file: FileFormat) -> Proposal:
    """All columns under one form of numbers, with the marks that number and date columns hold."""
    columns = {name: _column(texts, file) for name, texts in cells.items()}
    marks = {
        text
        for name, texts in cells.items()
        if columns[name].type in ("number", "date")
        for text in texts or ()
        if text.casefold() in MARKS
    }
    return Proposal(replace(file, missing_marks=tuple(sorted(marks))), columns)


def _column(texts: Sequence[str] | None, file: FileFormat) -> ColumnProposal:
    if texts is None:
        return ColumnProposal("number")
    entries = [text for text in texts if text.casefold() not in MARKS]
    symbols = tuple(symbol for symbol in SYMBOLS if any(_beside(text, symbol) for text in entries))
    if _all_read(entries, CellForm(file, symbols)):
        return ColumnProposal("number", symbols)
    fitting = [form for form in DATE_FORMATS if _all_read(entries, CellForm(file, (), form))]
    if fitting:
        return ColumnProposal("date", (), *fitting[:2])
    return ColumnProposal("text")


def _beside(text: str, symbol: str) -> bool:
    return text.startswith(symbol) or text.endswith(symbol)


def _all_read(texts: Sequence[str], form: CellForm) -> bool:
    """Whether each text is read under a form, and at least one has a digit to read."""
    some = any(character.isdigit() for text in texts for character in text)
    return some and all(number_meant(text, form) is not None for text in texts)
