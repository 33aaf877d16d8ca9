"""Rows as a CSV file in which no spreadsheet finds a formula.

Names of columns and categories come from whoever wrote the schema; a cell that begins with ``=``,
``+``, ``-`` or ``@``, or with white space before them, would be run when the file is opened. Such a
text is led by an apostrophe (OWASP, "CSV Injection"), and stands in one line. Numbers stay.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

STARTS = tuple("=+-@\t ")


def as_csv(frame: pd.DataFrame, float_format: str | None = None) -> str:
    r"""The frame as CSV with one header line.

    >>> import pandas as pd
    >>> as_csv(pd.DataFrame({"=1+1": [-2.0], "who": ["@you"]}))
    "'=1+1,who\n-2.0,'@you\n"
    """
    texts = frame.apply(lambda column: column if column.dtype.kind in "fiub" else column.map(_led))
    texts.columns = [_led(name) for name in frame.columns]
    written: str = texts.to_csv(index=False, lineterminator="\n", float_format=float_format)
    return written


def _led(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    line = re.sub(r"[\r\n]+", " ", cell)
    return f"'{line}" if line.startswith(STARTS) else line
