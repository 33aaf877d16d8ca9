"""How a table writes its cells, as its schema says it: separators, marks, symbols, dates.

What a cell says in such a form is said in the standard one, cell by cell, and then read as always:
:mod:`dpcore.schema.cells`. So its meaning depends on the cell and the schema alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.errors import InputError

if TYPE_CHECKING:
    from dpcore.arrays import Array

MISSING_TOKENS = ("", "NA", "N/A", "NaN", "nan", "null", "?", "None")
DECIMAL = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"  # one way to match: no detours
SEPARATORS = (",", ";", "\t", "|")
DECIMALS = (".", ",")
THOUSANDS = (".", ",", " ", "'")
ISO = "YYYY-MM-DD"
DATE_FORMATS = (
    ISO, "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "YYYY/MM/DD", "YYYYMMDD",
)  # fmt: skip
DAYS = "days since 1970-01-01"
_EPOCH = date(1970, 1, 1).toordinal()
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?"
_GROUP_SIGNS = {" ": " \u00a0\u202f", "'": "'\u2019"}  # a blank may be one that does not break


@dataclass(frozen=True)
class FileFormat:
    """How a delimited file is written, where it is not as usual: ``[file]`` in a schema file.

    separator: of columns, one of ``, ; | tab`` (default: by the file's ending). decimal: the
    decimal mark, ``.`` or ``,``. thousands: what may stand between groups of three digits, one of
    ``. , ' blank`` (default: nothing may). missing_marks: texts of missing cells, besides those
    that always are; one that is a number counts by value.

    Raises InputError on a mistake.
    """

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    missing_marks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for key, allowed in (
            ("separator", SEPARATORS), ("decimal", DECIMALS), ("thousands", THOUSANDS),
        ):  # fmt: skip
            sign = getattr(self, key)
            if sign not in allowed and (sign is not None or key == "decimal"):
                signs = ", ".join("tab" if symbol == "\t" else f'"{symbol}"' for symbol in allowed)
                raise InputError(f"file.{key}", f"{sign!r} is not known", f"choose one of {signs}")
            if sign == self.decimal and key == "thousands":  # a cell with the separator is quoted
                raise InputError(f"file.{key}", "it is also the decimal mark", "give another")
        marks = tuple(plain(mark) for mark in texts("file.missing_marks", self.missing_marks))
        object.__setattr__(self, "missing_marks", marks)


@dataclass(frozen=True)
class CellForm:
    """How the cells of one number or date column are written. date_format: ``None`` for numbers."""

    file: FileFormat
    symbols: tuple[str, ...] = ()
    date_format: str | None = None

    @property
    def is_usual(self) -> bool:
        """Whether cells are read without it as with it."""
        usual = FileFormat(self.file.separator)
        return self.file == usual and not self.symbols and self.date_format is None

    def standard(self, text: str) -> str | None:
        """A cell's text in the usual form, of a date its number of days since 1970-01-01; ``None``
        where it is not of this form.

        >>> form = CellForm(FileFormat(decimal=",", thousands=".", missing_marks=("-",)), ("EUR",))
        >>> [form.standard(text) for text in ("1.234,5 EUR", "-", "12", "1.5", "NA")]
        ['1234.5', '', '12', None, 'NA']
        """
        if text in self.file.missing_marks:
            return ""
        if self.date_format is not None:
            return text if text in MISSING_TOKENS else self.days(text)
        match = self._numeral.fullmatch(text)
        if match is None:
            return None if re.search(r"\d", text) else text
        sign, whole, fraction, exponent = (part or "" for part in match.groups())
        whole = re.sub(r"\D", "", whole)
        return f"{sign}{whole}{fraction.replace(',', '.')}{exponent}"

    def days(self, text: str) -> str | None:
        """Of a date as the schema writes it, or as ISO 8601 does; a time of day does not count."""
        for pattern in self._dates:
            if match := pattern.fullmatch(text):
                parts = {name: int(part) for name, part in match.groupdict().items()}
                try:
                    return str(days_of(date(**parts)))
                except ValueError:  # no such day
                    return None
        return None

    @cached_property
    def missing_numbers(self) -> tuple[float, ...]:
        """The marks for a missing cell that are numbers."""
        standard = [self.standard_of_mark(mark) for mark in self.file.missing_marks]
        return tuple(float(text) for text in standard if text and re.fullmatch(DECIMAL, text))

    def standard_of_mark(self, mark: str) -> str | None:
        """:meth:`standard` of a mark as if it were a number."""
        return CellForm(FileFormat(decimal=self.file.decimal)).standard(mark)

    def without_marks(self, numbers: Array) -> Array:
        """Numbers ``(n,)`` with those that mark a missing cell as NaN."""
        if not self.missing_numbers:
            return numbers
        return np.where(np.isin(numbers, self.missing_numbers), np.nan, numbers)

    @cached_property
    def _numeral(self) -> re.Pattern[str]:
        """sign, whole part, fraction and exponent of a number in this form."""
        decimal, thousands = re.escape(self.file.decimal), self.file.thousands
        symbol = "|".join(map(re.escape, self.symbols))
        first, second, last = "", "", ""
        if symbol:  # before the sign, after it, or behind the number
            # The blanks go with the first symbol: shared with the second, they take n^2 steps.
            first, last = rf"(?:(?:{symbol})\s*+)?", rf"(?:\s*(?:{symbol}))?"
            second = rf"(?:\s*(?:{symbol})\s*)?"
        whole = r"[0-9]+"
        if thousands is not None:
            signs = re.escape(_GROUP_SIGNS.get(thousands, thousands))
            whole = rf"(?:[0-9]{{1,3}}(?:[{signs}][0-9]{{3}})+|[0-9]+)"
        number = rf"(?=[0-9]|{decimal}[0-9])({whole})?({decimal}[0-9]*)?"  # some digit, anywhere
        return re.compile(rf"{first}([+-]?){second}{number}([eE][+-]?[0-9]+)?{last}")

    @cached_property
    def _dates(self) -> tuple[re.Pattern[str], ...]:
        return tuple(
            _date_pattern(date_format)
            for date_format in dict.fromkeys((self.date_format or ISO, ISO))
        )


def _date_pattern(form: str) -> re.Pattern[str]:
    """A date of this form, and a time of day that may follow."""
    short = r"\d{2}" if form == "YYYYMMDD" else r"\d{1,2}"
    pattern = re.escape(form).replace("YYYY", r"(?P<year>\d{4})")
    pattern = pattern.replace("MM", rf"(?P<month>{short})").replace("DD", rf"(?P<day>{short})")
    return re.compile(pattern + _TIME, re.ASCII)


def plain(text: str) -> str:
    """A text without the blanks around it, and without the quotes around what is left.

    >>> plain(' "north, or up" ')
    'north, or up'
    """
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"').strip()
    return text


def days_of(day: date) -> int:
    """Days from 1970-01-01 to a day.

    >>> days_of(date(1970, 1, 2))
    1
    """
    return day.toordinal() - _EPOCH


def days_meant(limit: Any, form: str) -> Any:
    """The days of a limit that is a date, or a text as cells of a form are; all else as it is.

    >>> days_meant("02.01.1970", "DD.MM.YYYY"), days_meant("none", ISO)
    (1.0, 'none')
    """
    if type(limit) is date:
        return float(days_of(limit))
    text = CellForm(FileFormat(), date_format=form).days(limit) if isinstance(limit, str) else None
    return limit if text is None else float(text)


def day_of(days: float) -> date | None:
    """The day of so many days since 1970-01-01; ``None`` for a part of a day, and where no calendar
    has it."""
    if not float(days).is_integer():
        return None
    ordinal = int(days) + _EPOCH
    inside = date.min.toordinal() <= ordinal <= date.max.toordinal()
    return date.fromordinal(ordinal) if inside else None


def texts(field: str, values: Any) -> tuple[str, ...]:
    """A list of texts, none of them empty. Raises InputError."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(field, "it is not a list", 'give a list such as ["-", "n. a."]')
    items = tuple(values)
    if not all(isinstance(value, str) and value.strip() for value in items):
        raise InputError(field, "an entry is empty or not text", "give only texts in quotes")
    return items


def symbols(field: str, values: Any) -> tuple[str, ...]:
    """Texts that may stand beside a number without being part of it. Raises InputError."""
    items = tuple(value.strip() for value in texts(field, values))
    for value in items:
        if re.search(r"[0-9+.,-]", value) or value in ("e", "E"):
            raise InputError(
                field,
                f"{value!r} could be part of a number",
                'give units or currencies such as ["EUR", "%"]',
            )
    return items
