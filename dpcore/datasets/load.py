"""Reading a file seals it: what comes back is a private table, or one sentence on what to mend.

A message names the file or the column, what was found and the remedy. It never holds a cell, a
row number or a count of the data.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dpcore.errors import InputError
from dpcore.schema import MOST_COLUMNS, Schema, check_frame

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.wall.table import PrivateTable

    Source = str | PathLike[str] | pd.DataFrame | np.ndarray[Any, Any]


@dataclass(frozen=True)
class InMemory:
    """A file that never lay on a disk, such as an upload: its name and its bytes."""

    name: str
    content: bytes

    def open(self, mode: str = "rb") -> IO[bytes]:
        """The bytes as an open file."""
        return io.BytesIO(self.content)


File = Path | InMemory
EVERYONES = ("bundled:", "generated:")
TABLE_FILES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".npz")


def load(
    source: Source,
    *,
    schema: Schema | str | PathLike[str] | None = None,
    array: str | None = None,
) -> PrivateTable:
    """A private table from a file, a data frame, an array ``(n, d)`` or pictures ``(n, h, w)``.

    schema: public bounds, or the path of a schema file. Without one, the ``.toml`` beside the file
    is read (``people.toml`` for ``people.csv`` and ``people.csv.gz``), and pictures of bytes lie in
    0 to 255; without that either, the table has no bounds yet and a fit will ask for them. array:
    which array of an ``.npz``.
    ``bundled:NAME`` is a table that comes with the package, ``generated:ROWSxCOLUMNSxGROUPSxSEED``
    one that is simulated.

    **Guarantee**: the rows are sealed; see :class:`dpcore.wall.table.PrivateTable`.
    **Raises** InputError on a file that cannot be read or that the schema does not describe.

    >>> load(np.array([[1.0, 2.0], [3.0, 4.0]]))
    PrivateTable(sealed)
    """
    from dpcore.wall.table import PrivateTable

    asked = source
    source, given = named(source)
    made = schema is None and given is not None
    public = given if made else _public_schema(source, schema, array)
    everyones = isinstance(asked, str) and asked.startswith(EVERYONES)
    if public is None:
        return PrivateTable.seal(read_frame(source, array=array), None)
    return PrivateTable.seal(
        read_described(source, public, array=array), public, open_to_all=everyones
    )


def read_described(source: Source, schema: Schema, *, array: str | None = None) -> pd.DataFrame:
    """The data frame behind a source, checked against its schema.

    A category of a text file keeps its spelling; a category ``NA`` is no missing cell.

    **Raises** InputError; the message holds nothing of the data.
    """
    categories = {column.name: column.categories for column in schema.columns if column.categories}
    frame = read_frame(source, array=array, numbers=False, categories=categories)
    check_frame(frame, schema)
    return frame


def read_frame(
    source: Source,
    *,
    array: str | None = None,
    numbers: bool = True,
    categories: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """The data frame behind a path, a data frame (copied) or an array ``(n, d)``.

    Columns of arrays are called x1 to xd, those of pictures pixel_0_0 and so on. Missing cells (see
    ``dpcore.schema.MISSING_TOKENS``) are NaN. numbers: also refuse a table without any number
    column. categories: columns that a text file gives as they are written, with the texts that mean
    something there (even ``NA``).

    **Raises** InputError; the message holds nothing of the data.
    """
    source, _ = named(source)
    if isinstance(source, InMemory):
        frame = _from_file(source, array, categories or {})
    elif isinstance(source, str | PathLike):
        check_path(source)
        frame = _from_file(Path(fspath(source)), array, categories or {})
    else:
        frame = _from_memory(source)
    if numbers:
        _demand_a_number(frame, _name_of(source))
    return frame


def named(source: Any) -> tuple[Any, Schema | None]:
    """What ``bundled:...`` and ``generated:...`` stand for, with the schema where it is made here.

    Anything else is given back as it is.
    """
    kind, _, name = source.partition(":") if isinstance(source, str) else ("", "", "")
    if kind == "bundled":
        from dpcore.datasets.catalogue import find

        return find(name).source()
    if kind == "generated":
        from dpcore.datasets.generators import generated_table

        parts = name.split("x")
        if len(parts) != 4 or not all(part.isdecimal() and len(part) < 9 for part in parts):
            raise InputError(
                "file", f"{source!r} does not say what to generate", "give generated:5000x2x3x0"
            )
        return generated_table(*map(int, parts))
    return source, None


def schema_path(path: str | PathLike[str]) -> Path:
    """Where the schema of a data file is looked for: the ``.toml`` beside it.

    >>> schema_path("folder/people.csv.gz").name
    'people.toml'
    """
    data = Path(path)
    extension = _extension(data)
    return data.with_name(data.name.removesuffix(data.name[-len(extension) :]) + ".toml")


def _public_schema(
    source: Source, schema: Schema | str | PathLike[str] | None, array: str | None
) -> Schema | None:
    """The schema that was given, or the one that came with the data."""
    if isinstance(schema, Schema):
        return schema
    return schema_with(source, array) if schema is None else Schema.from_toml(schema)


def schema_with(source: Source, array: str | None = None) -> Schema | None:
    """The schema that came with the data, if any: a file beside it, or what its type says.

    Pictures ``(n, height, width)`` of bytes, in memory or in an ``.npz``, need no schema file: a
    byte lies in 0 to 255.
    """
    from dpcore.datasets.columnar import schema_in_archive, schema_of_pictures

    if isinstance(source, np.ndarray):
        return schema_of_pictures(source.shape, source.dtype)
    beside = schema_beside(source)
    if beside is not None or not isinstance(source, str | PathLike):
        return beside
    path = Path(source)
    archive = _extension(path) == ".npz" and _is_file(path)
    return schema_in_archive(path, array) if archive else None


def schema_beside(source: Source) -> Schema | None:
    """The schema of the ``.toml`` beside a data file, if there is one."""
    if not isinstance(source, str | PathLike) or not _extension(Path(source)):
        return None
    beside = schema_path(source)
    return Schema.from_toml(beside) if _is_file(beside) else None


def check_path(source: str | PathLike[str]) -> None:
    """Raise InputError unless the path is a file that ends as a table does."""
    path = Path(fspath(source))
    if _is_folder(path):
        raise InputError(_name_of(path), "it is a folder", "give the file inside it")
    extension = _extension(path)
    if not extension:
        raise InputError(
            _name_of(path),
            "the extension is not one of a table",
            "give a file that ends in " + ", ".join(TABLE_FILES),
        )
    if not _is_file(path):
        raise InputError(_name_of(path), "there is no such file", "check the path")


def _from_file(
    path: File, array: str | None, categories: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Read a file that is there."""
    from dpcore.datasets.columnar import read_npz, read_parquet
    from dpcore.datasets.delimited import read_delimited

    extension = _extension(path)
    if array is not None and extension != ".npz":
        raise InputError(
            "array", "only an .npz file holds named arrays", "leave it out, or give an .npz file"
        )
    if extension == ".npz":
        return read_npz(path, array)
    if extension == ".parquet":
        return read_parquet(path)
    return read_delimited(path, "\t" if extension.startswith(".tsv") else ",", categories)


def _from_memory(source: Any) -> pd.DataFrame:
    """A frame of our own from a data frame or an array."""
    import pandas as pd

    from dpcore.datasets.columnar import frame_of_array

    if isinstance(source, np.ndarray):
        return frame_of_array(source, "array")
    if not isinstance(source, pd.DataFrame):
        raise InputError(
            "source", "it is neither a path nor a table", "give a path, a DataFrame or an array"
        )
    if source.columns.nlevels > 1:
        raise InputError("data frame", "its header has levels", "give the columns plain names")
    frame = source.copy().reset_index(drop=True)
    frame.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    check_names(list(frame.columns), "data frame")
    demand_rows(frame, "data frame")
    return frame


def check_names(names: list[str], where: str) -> None:
    """Refuse a header that is too wide, or in which a name is empty or comes twice."""
    if len(names) > MOST_COLUMNS:
        raise InputError(
            where, f"it has more than {MOST_COLUMNS:,} columns", "keep the columns to be fitted"
        )
    if not all(names):
        raise InputError(where, "its header has a column without a name", "name every column")
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in first:  # told by position: without a header the first line would be data
            found = f"columns {first[name]} and {position} have the same name"
            raise InputError(where, found, "rename one of them")
        first[name] = position


def demand_rows(frame: pd.DataFrame, where: str) -> None:
    """Refuse a table that is a header only."""
    if frame.shape[1] == 0:
        raise InputError(where, "it has no columns", "give a table with at least one number column")
    if frame.shape[0] == 0:
        raise InputError(where, "it has a header but no rows", "give a table with rows")


def _demand_a_number(frame: pd.DataFrame, where: str) -> None:
    kinds = [dtype.kind for dtype in frame.dtypes]
    if not any(kind in "iufb" for kind in kinds):
        raise InputError(
            where,
            "no column holds only numbers",
            "give one that does, or a schema that names the categories of its columns",
        )


def _extension(path: File) -> str:
    """The known extension a path ends in, or nothing."""
    name = path.name.lower()
    return next((ending for ending in TABLE_FILES if name.endswith(ending)), "")


def _name_of(source: Any) -> str:
    """What messages call a source: a file by its last part."""
    if isinstance(source, str | PathLike):
        return Path(fspath(source)).name or "path"
    return "array" if isinstance(source, np.ndarray) else "data frame"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
