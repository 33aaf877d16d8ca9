"""What a cell says, read alone: its text or value becomes a number or a category by one rule.

**Lemma.** What a row means is a function of that row. *Proof.* Files are cut into cells by their
form alone, cells of a text file are kept as text, and every number or category that a model sees is
:func:`number_meant` or :func:`category_meant` of one cell, whatever the type of the column that
holds it: the faster ways below give the same number, to the last bit, because each is correctly
rounded. A cell that is no number refuses the table. QED. (Two neighbouring files may be stored as
columns of different types: one long whole number, one mark for a missing cell are enough.)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.errors import InputError
from dpcore.schema.forms import DECIMAL, MISSING_TOKENS, CellForm, plain

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from dpcore.arrays import Array

MOST_COLUMNS = 10_000  # of a table
SURE_DIGITS = 15  # which a float keeps of any decimal numeral without an exponent
ABSENT = ("None", "<NA>", "NaT")  # what is missing in one kind of column or another
SPECIAL = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "true": 1.0, "false": 0.0}
BLANKS = " \t\n\r\f\v"


def demand_column(frame: pd.DataFrame, name: str) -> None:
    """Raise InputError where a table does not have exactly one column of this name."""
    if name not in frame.columns:
        raise InputError(
            name,
            "the table has no such column",
            "use a name from the table's header (for an array: x followed by the column's number)",
        )
    if not frame.columns.is_unique and int((frame.columns == name).sum()) > 1:
        raise InputError(name, "the table has several columns of this name", "rename all but one")


def number_meant(cell: Any, form: CellForm | None = None) -> float | None:
    """The number that one cell says; NaN where it is missing, ``None`` where it says none.

    form: how the column's texts are written; without one, or where it has no word on a text:

    ==========================================  ================================================
    cell                                        number
    ==========================================  ================================================
    nothing, or a mark for a missing cell       NaN
    decimal numeral of any length               the nearest float, infinite beyond every float
    ``inf``, ``infinity``, in upper case too    infinite
    ``true``, ``false`` in any case; Booleans   1 and 0
    number of any real type                     the nearest float
    anything else                               ``None``
    ==========================================  ================================================

    Blanks and one pair of quotes around a text do not count.

    >>> number_meant(" 1e3"), number_meant(True), number_meant("TRUE"), number_meant(10**5000)
    (1000.0, 1.0, 1.0, inf)
    >>> number_meant("?"), number_meant(None), number_meant("1,5"), number_meant(1j)
    (nan, nan, None, None)
    """
    import pandas as pd

    if form is not None:
        if form.date_format is not None:  # a date that is no text
            cell = _as_pandas(cell) if isinstance(cell, np.datetime64) else cell
            if hasattr(cell, "isoformat") and not pd.isna(cell):
                cell = cell.isoformat()
        standard = form.standard(plain(cell)) if isinstance(cell, str) else cell
        number = None if standard is None and isinstance(cell, str) else number_meant(standard)
        return math.nan if number in form.missing_numbers else number
    if isinstance(cell, str):
        return _number_of_text(plain(cell))
    if type(cell) is float:  # most often
        return cell
    if isinstance(cell, Decimal):
        return math.nan if cell.is_nan() else float(cell)
    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return math.nan
    if not isinstance(cell, Real | np.bool_) or isinstance(cell, np.timedelta64):
        return None  # NumPy's durations are called whole numbers
    try:
        with np.errstate(over="ignore"):  # a warning would tell of a long double
            return float(cell)
    except OverflowError:  # beyond every float
        return -math.inf if cell < 0 else math.inf


def _number_of_text(text: str) -> float | None:
    if text in MISSING_TOKENS:
        return math.nan
    if re.fullmatch(DECIMAL, text):
        return float(text)
    word = text.casefold()
    signed = word[:1] in ("+", "-") and word not in ("+true", "-true", "+false", "-false")
    number = SPECIAL.get(word[1:] if signed else word)
    return -number if number is not None and word.startswith("-") else number


def numbers_meant(
    name: str, cells: pd.Series[Any], form: CellForm | None = None, *, binary: bool = False
) -> Array:
    """:func:`number_meant` of every cell of a column ``(n,)``. binary: of two values, 0 and 1.

    Raises InputError where a cell says no number.
    """
    numbers = _numbers_or_none(cells, form)
    if numbers is not None:
        return numbers
    problem = "it should contain numbers, but some cells are not numbers"
    remedy = (
        'correct the cells, leave the column out (role = "ignore"), set type = "category" in '
        "a schema file, or state its notation there"
    )
    if binary:
        problem = "it should contain 0 and 1, but some cells are not numbers"
        remedy = 'state its names in the schema, the second meaning yes: categories = ["no", "yes"]'
    elif form is not None:
        dated = form.date_format is not None
        what, keys = (
            ("dates", "date_format") if dated else ("numbers", "decimal, thousands, symbols")
        )
        problem = f"some cells are not {what} in the notation that the schema states"
        remedy = f"correct the cells, or state their {keys} or missing_marks in the schema"
    raise InputError(name, problem, remedy)


def are_numbers(cells: pd.Series) -> bool:
    """Whether every cell that is not missing reads as a number."""
    return _numbers_or_none(cells) is not None


def _numbers_or_none(cells: pd.Series[Any], form: CellForm | None = None) -> Array | None:
    """The numbers of a column, by the fastest way that its type allows."""
    import pandas as pd
    import pyarrow as pa

    kind = cells.dtype
    if kind.kind in "biuf":
        with np.errstate(over="ignore"):  # a long double beyond every float
            numbers = cells.to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers if form is None else form.without_marks(numbers)
    if isinstance(kind, pd.CategoricalDtype):
        return _numbers_of_few(cells.cat.codes.to_numpy(), cells.cat.categories, form)
    text = isinstance(kind, pd.StringDtype)
    if kind.kind == "O" and not text:
        text = pd.api.types.infer_dtype(cells, skipna=True) == "string"
    if text:
        # Half a pair of surrogates, an undefined complex: no text of Arrow's, and read below.
        with suppress(UnicodeError, pa.ArrowTypeError):
            if form is not None:
                return _numbers_in_form(cells, form)
            return _numbers_of_texts(pa.array(cells, type=pa.large_string(), from_pandas=True))
    return _stacked([number_meant(cell, form) for cell in cells.astype(object)])


def _numbers_of_few(
    codes: NDArray[np.integer[Any]], values: pd.Index[Any], form: CellForm | None = None
) -> Array | None:
    """The numbers of ``values[codes]`` ``(n,)``; a code below 0 is a missing cell."""
    numbers = np.full(len(values) + 1, np.nan)
    for code in np.unique(codes[codes >= 0]):  # a value that no cell has says nothing
        number = number_meant(values[code], form)
        if number is None:
            return None
        numbers[code] = number
    return np.asarray(numbers[codes])


def _numbers_in_form(cells: pd.Series[Any], form: CellForm) -> Array | None:
    """The numbers of texts that are written in a form, each different text once."""
    import pandas as pd
    import pyarrow as pa

    if _is_arrows(cells):
        codes, distinct = pd.factorize(cells)
        different = distinct.tolist()
    else:
        there = cells.notna().to_numpy(dtype=bool)
        codes = np.full(len(cells), -1)
        codes[there], different = factorized_texts(cells.to_numpy(dtype=object)[there])
    standard = [form.standard(plain(text)) for text in different]
    if None in standard:
        return None
    numbers = _numbers_of_texts(pa.array(standard, type=pa.large_string()))
    if numbers is None:
        return None
    return np.asarray(np.append(form.without_marks(numbers), np.nan)[codes])  # -1: a missing cell


def _is_arrows(cells: pd.Series[Any]) -> bool:
    """Whether a column's texts are Arrow's, which are compared as they are."""
    import pandas as pd

    return isinstance(cells.dtype, pd.StringDtype) and cells.dtype.storage == "pyarrow"


def factorized_texts(texts: Iterable[str]) -> tuple[NDArray[np.int64], list[str]]:
    """The code of each text ``(n,)``, and the distinct texts in order of appearance, as
    :func:`pandas.factorize` returns them.

    Some versions of pandas compare C strings: to them "a" and "a\\0b" are one text, and so are all
    texts that contain half of a surrogate pair.

    >>> factorized_texts(["b", "a", "b"])[0].tolist()
    [0, 1, 0]
    """
    places: dict[str, int] = {}
    codes = (places.setdefault(text, len(places)) for text in texts)
    return np.fromiter(codes, dtype=np.int64), list(places)


def _stacked(numbers: list[float | None]) -> Array | None:
    return None if None in numbers else np.array(numbers, dtype=float)


def _numbers_of_texts(texts: Any) -> Array | None:
    """:func:`number_meant` of texts in an array of Arrow's ``(n,)``.

    Arrow reads decimal numerals as Python does, to the nearest float. Whatever else it takes for a
    number, or for none, is read one by one, each different text once.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim(texts, characters=BLANKS)
    try:
        numbers = pc.cast(trimmed, pa.float64())
    except pa.ArrowInvalid:
        numerals = pc.match_substring_regex(trimmed, DECIMAL)
        numbers = pc.cast(
            pc.if_else(numerals, trimmed, pa.scalar(None, trimmed.type)), pa.float64()
        )
    cells = np.array(numbers.to_numpy(zero_copy_only=False), dtype=float)
    odd = np.flatnonzero(np.isnan(cells))
    if len(odd):
        rest = pc.dictionary_encode(texts.take(pa.array(odd)), null_encoding="encode")
        rest = rest.combine_chunks() if isinstance(rest, pa.ChunkedArray) else rest
        meant = _stacked([number_meant(text) for text in rest.dictionary.to_pylist()])
        if meant is None:
            return None
        cells[odd] = meant[rest.indices.to_numpy()]
    return np.asarray(cells)


def category_meant(cell: object) -> str:
    """What a cell of a category column says: numbers by value, words as written.

    It depends on this cell alone, as :func:`number_meant` does. Digits with underscores between
    them are a word, as they are no number there: 1_11 and 11_1 may be ids.

    >>> category_meant("01"), category_meant(1.0), category_meant(True), category_meant("North ")
    ('1', '1', 'true', 'North')
    >>> category_meant("-0"), category_meant("Infinity"), category_meant(1e999)
    ('0', 'inf', 'inf')
    >>> category_meant("1_11"), category_meant(b"North")
    ('1_11', 'North')
    """
    if isinstance(cell, complex) and cell.imag == 0.0:
        cell = cell.real
    if isinstance(cell, np.datetime64 | np.timedelta64 | datetime | timedelta):
        cell = _as_pandas(cell)
    elif isinstance(cell, Real) and not isinstance(cell, bool):
        cell = number_meant(cell)  # a whole number may be too long to be written
    text = _text(cell)
    if text in ABSENT and not isinstance(cell, str | bytes):
        return "nan"  # as which most columns keep what is missing
    if text.casefold() in ("true", "false"):
        return text.casefold()
    try:
        number = float(text.replace("_", "x"))  # which makes it no number
    except ValueError:
        return text
    if not math.isfinite(number):
        return str(number)
    number += 0.0  # -0 is 0: a reader keeps its sign in a column with a fraction alone
    return f"{number:.0f}" if number.is_integer() else repr(number)


def is_rounded(cell: object) -> bool:
    """Whether :func:`category_meant` keeps another number of a cell than it states, the nearest
    float: cells with other digits mean the same.

    >>> [is_rounded(cell) for cell in ("1701388800.123456789", "1e-999", "0.10", "x")]
    [True, True, False, False]
    """
    if isinstance(cell, Real):
        return bool(cell == cell and cell != number_meant(cell))
    text = _text(cell).replace("_", "x")
    if len(text) <= SURE_DIGITS and "e" not in text.lower():
        return False
    try:
        number = Decimal(text)
        return number.is_finite() and number != Decimal(category_meant(cell))
    except InvalidOperation:  # a word; or a number beyond all exponents, rounded to 0 or infinity
        return category_meant(cell) == "0"


def _text(cell: object) -> str:
    """A cell as text; some files hold texts as bytes."""
    return plain(cell.decode("utf-8", "surrogateescape") if isinstance(cell, bytes) else str(cell))


def _as_pandas(moment: Any) -> Any:
    """A moment or a duration as a column of them holds it, so that its text is the same."""
    import pandas as pd

    duration = isinstance(moment, np.timedelta64 | timedelta)
    with suppress(ValueError, OverflowError):  # beyond pandas' calendar: such a column holds none
        return pd.Timedelta(moment) if duration else pd.Timestamp(moment)
    return moment


def categories_meant(cells: pd.Series) -> NDArray[np.object_]:
    """:func:`category_meant` of every cell."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(cells.dtype, pd.StringDtype) and not _is_arrows(cells):
        cells = cells.astype(object)
    if cells.dtype != object:  # which may hold 1 and True side by side: each for itself
        with suppress(TypeError, pa.ArrowNotImplementedError):  # lists, for example
            codes, different = pd.factorize(cells, use_na_sentinel=False)
            return np.array([category_meant(cell) for cell in different], dtype=object)[codes]
    return np.array([category_meant(cell) for cell in cells.astype(object)], dtype=object)
