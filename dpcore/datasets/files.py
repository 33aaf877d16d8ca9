"""A file of a table, before it is read: its name, how far it may expand, and what headers may be.

A message names the file or the column, what was found and the remedy, and never holds a cell.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from os import PathLike, fspath
from os.path import isdir, isfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dpcore.errors import InputError
from dpcore.schema import MOST_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")
TABLE_FILES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".npz")


@dataclass(frozen=True)
class InMemory:
    """A file that never lay on a disk, such as an upload: its name and its bytes.

    largest: how many bytes it may expand to.
    """

    name: str
    content: bytes
    largest: int = 1 << 30

    def open(self, mode: str = "rb") -> IO[bytes]:
        """The bytes as an open file."""
        return io.BytesIO(self.content)


File = Path | InMemory
if TYPE_CHECKING:
    Source = str | PathLike[str] | InMemory | pd.DataFrame | np.ndarray[Any, Any]


def most_bytes(path: File, most: int) -> int:
    """How many bytes a file may expand to: ``most``, and of an upload less."""
    return min(most, path.largest) if isinstance(path, InMemory) else most


def check_path(source: str | PathLike[str]) -> None:
    """Raise InputError unless the path is a file that ends as a table does."""
    path = Path(fspath(source))
    if "://" in fspath(source):
        raise InputError(name_of(path), "it is a URL", "download the file and give its path")
    if isdir(path):
        raise InputError(name_of(path), "it is a folder", "give one file")
    demand_table(path)
    if not isfile(path):  # also of a path that no system accepts
        raise InputError(name_of(path), "there is no such file", "check the path")


def demand_table(path: File) -> None:
    """Raise InputError unless a file ends as a table does; of a spreadsheet with what to do."""
    if path.name.lower().endswith(SPREADSHEETS):
        raise InputError(
            path.name,
            "it is a spreadsheet, which may contain formulas and several tables",
            "save the sheet with the table as “CSV UTF-8” and give that file",
        )
    if not extension(path):
        raise InputError(
            path.name,
            "the file extension is not that of a table",
            "give a file that ends in " + ", ".join(TABLE_FILES),
        )


def check_names(names: list[str], where: str) -> None:
    """Raise InputError for a header that is too wide, or in which a name is empty or comes
    twice."""
    if len(names) > MOST_COLUMNS:
        raise InputError(
            where,
            f"it has more than {MOST_COLUMNS:,} columns",
            "keep only the columns to be fitted",
        )
    if not all(names):
        raise InputError(where, "its header has a column without a name", "name every column")
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in first:  # told by position: without a header the first line would be data
            finding = f"columns {first[name]} and {position} have the same name"
            raise InputError(where, finding, "rename one of them")
        first[name] = position


def demand_rows(frame: pd.DataFrame, where: str) -> None:
    """Raise InputError for a table that is a header only."""
    if frame.shape[1] == 0:
        raise InputError(
            where, "it has no columns", "give a table with at least one column of numbers"
        )
    if frame.shape[0] == 0:
        raise InputError(where, "it has a header but no rows", "give a table with rows")


def extension(path: File) -> str:
    """The known extension a path ends in, or nothing."""
    name = path.name.lower()
    return next((ending for ending in TABLE_FILES if name.endswith(ending)), "")


def extension_for(path: File, array: str | None) -> str:
    """The same, where ``array`` is read of it. Raises InputError where no file of its kind has
    named arrays."""
    ending = extension(path)
    if array is not None and ending != ".npz":
        raise InputError(
            "array", "only an .npz file has named arrays", "leave it out, or give an .npz file"
        )
    return ending


def usual_separator(path: File) -> str:
    """What separates the columns of a delimited file that says so by its ending alone."""
    return "\t" if extension(path).startswith(".tsv") else ","


def name_of(source: Any) -> str:
    """What messages call a source: a file by its last part."""
    if isinstance(source, str | PathLike):
        return Path(fspath(source)).name or "path"
    return "array" if isinstance(source, np.ndarray) else "data frame"


def home() -> Path:
    """The folder of the bundled tables: ``sample_data`` beside the package."""
    return Path(__file__).resolve().parents[2] / "sample_data"
