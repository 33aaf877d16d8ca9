"""What a cell says, read alone: no reader's guess about a whole column changes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

MOST_COLUMNS = 10_000  # of a table
ABSENT = ("None", "<NA>", "NaT")  # what is missing in one kind of column or another
MISSING_TOKENS = ("", "NA", "N/A", "NaN", "nan", "null", "?", "None")


def demand_column(frame: pd.DataFrame, name: str) -> None:
    """Raise InputError where a table does not have exactly one column of this name."""
    if name not in frame.columns:
        raise InputError(
            name,
            "the table has no such column",
            "name a column as the table's header does; an array's are called x and its place",
        )
    if not frame.columns.is_unique and int((frame.columns == name).sum()) > 1:
        raise InputError(name, "the table has this column twice", "rename one of them")


def demand_numbers(name: str, cells: pd.Series) -> None:
    """Raise InputError where a cell that is not missing does not read as a number."""
    if not are_numbers(cells):
        raise InputError(
            name,
            "it is a number column, but some cells are no numbers",
            'mend the cells, leave the column out (role = "ignore"), or call it '
            'type = "category" in a schema file',
        )


def are_numbers(cells: pd.Series) -> bool:
    """Whether every cell that is not missing reads as a number."""
    import pandas as pd

    kinds = pd.api.types
    if kinds.is_bool_dtype(cells) or kinds.is_numeric_dtype(cells):
        return not kinds.is_complex_dtype(cells)
    if not (kinds.is_object_dtype(cells) or kinds.is_string_dtype(cells)):
        return False  # dates, durations, intervals
    absent = cells.isna() | cells.astype(str).str.strip().isin(MISSING_TOKENS)
    try:
        numbers = pd.Series(numbers_meant(cells), index=cells.index)
    except (TypeError, ValueError):
        return False
    return bool((numbers.notna() | absent).all())


def numbers_meant(cells: pd.Series[Any]) -> NDArray[np.float64]:
    """The cells of a number column ``(n,)``; what is no number is NaN, what is huge infinite.

    >>> import pandas as pd
    >>> numbers_meant(pd.Series([1, "2.5", "x", 10**400], dtype=object))
    array([1. , 2.5, nan, inf])
    """
    import pandas as pd

    try:
        return np.asarray(pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float))
    except OverflowError:  # whole numbers beyond every float, which one cell may hold
        return np.array([_number_meant(cell) for cell in cells])


def _number_meant(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return math.nan


def category_meant(cell: object) -> str:
    """What a cell of a category column says: numbers by value, words as written.

    It depends on this cell alone. A reader guesses one type for a whole column, so that one odd
    cell changes how all the others are stored; compared like this, they still mean the same.

    >>> category_meant("01"), category_meant(1.0), category_meant(True), category_meant("North ")
    ('1', '1', 'true', 'North')
    >>> category_meant("-0"), category_meant("Infinity"), category_meant(1e999)
    ('0', 'inf', 'inf')
    """
    if isinstance(cell, complex) and cell.imag == 0.0:
        cell = cell.real
    text = str(float(cell) if isinstance(cell, np.floating) else cell).strip()
    if text in ABSENT and not isinstance(cell, str):
        return "nan"  # as which most columns keep what is missing
    if text.casefold() in ("true", "false"):
        return text.casefold()
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return str(number)
    number += 0.0  # -0 is 0: a reader keeps its sign in a column with a fraction alone
    return f"{number:.0f}" if number.is_integer() else repr(number)


def categories_meant(cells: pd.Series) -> NDArray[np.object_]:
    """:func:`category_meant` of every cell."""
    import pandas as pd

    if cells.dtype == object:  # may hold 1 and True side by side: each for itself
        return np.array([category_meant(cell) for cell in cells], dtype=object)
    codes, different = pd.factorize(cells, use_na_sentinel=False)
    return np.array([category_meant(cell) for cell in different], dtype=object)[codes]
