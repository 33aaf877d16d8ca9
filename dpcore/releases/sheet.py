"""Rows as a CSV file in which no spreadsheet finds a formula, whatever its language.

Names of columns and categories come from whoever wrote the schema; a cell that begins with ``=``,
``+``, ``-`` or ``@`` would be run when the file is opened. So would one that begins with a wide or
small form of these or a dash of another length, with white space or something invisible before
it, and one that begins inside a text where a semicolon, a tab or a bar separates cells. Each such
beginning is led by an apostrophe (OWASP, "CSV Injection"), and a text stands in one line. Numbers
stay.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from unicodedata import category, normalize

if TYPE_CHECKING:
    import pandas as pd

SIGNS = tuple("=+-@\N{MINUS SIGN}")
_INVISIBLE = ("C", "M", "Z")  # Unicode's: controls and zero-width, combining, white space
_AFTER_SEPARATOR = re.compile(r"(?<=[;|\t])")
_CHOOSES_SEPARATOR = re.compile(r"\s*sep=", re.IGNORECASE)  # as the first line of a file


def as_csv(frame: pd.DataFrame, float_format: str | None = None) -> str:
    r"""The frame as CSV with one header line.

    >>> import pandas as pd
    >>> as_csv(pd.DataFrame({"=1+1": [-2.0], "who": ["@you"]}))
    "'=1+1,who\n-2.0,'@you\n"
    >>> as_csv(pd.DataFrame({"a": ["x;=1"], "b": ["\u200b\uff1d1"]}))[4:]
    "x;'=1,'\u200b\uff1d1\n"
    """
    texts = frame.apply(lambda column: column if column.dtype.kind in "fiub" else column.map(_led))
    texts.columns = [_led(name) for name in frame.columns]
    written: str = texts.to_csv(index=False, lineterminator="\n", float_format=float_format)
    return written


def _led(cell: Any) -> Any:
    """A text with an apostrophe before whatever may be run; anything else as it is."""
    if not isinstance(cell, str):
        return cell
    parts = _AFTER_SEPARATOR.split(" ".join(cell.splitlines()))
    line = "".join(f"'{part}" if _may_run(part) else part for part in parts)
    blank = line != "" and category(line[0])[0] in _INVISIBLE
    return f"'{line}" if blank or _CHOOSES_SEPARATOR.match(line) else line


def _may_run(text: str) -> bool:
    """Whether its first visible character, quotes aside, is a sign or stands for one."""
    plain = normalize("NFKD", text)  # apart from what combines with it, a sign is seen for itself
    visible = (c for c in plain if c != '"' and category(c)[0] not in _INVISIBLE)
    first = next(visible, " ")
    return first in SIGNS or category(first) == "Pd"
