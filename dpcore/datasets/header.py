"""What a file's header says of its columns, before any row is looked at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from dpcore.datasets.columnar import column_names, one_sentence
from dpcore.datasets.delimited import DELIMITERS, checked_header, header_line
from dpcore.datasets.files import (
    File,
    InMemory,
    demand_table,
    extension,
    usual_separator,
)
from dpcore.errors import InputError


@dataclass(frozen=True)
class Header:
    """Columns of a file. types: by name, in the words of a schema; a delimited file's are all
    numbers, since its header shows none. separator: ``None`` for a binary file."""

    types: dict[str, str]
    separator: str | None


def header_of(source: str | PathLike[str] | InMemory, separator: str | None = None) -> Header:
    """The header of a delimited file, or of a Parquet file; of a folder that of its first table.

    separator: of a delimited file, where it is known [the header line's].

    Read are the first line of the one and the schema in the footer of the other, no row.
    Raises InputError on a file that cannot be read or that has no header.
    """
    from dpcore.datasets.blocks import files_of

    path = source if isinstance(source, InMemory) else files_of(Path(fspath(source)))[0]
    demand_table(path)
    ending = extension(path)
    if ending == ".parquet":
        return Header(_parquet_types(path), None)
    if ending == ".npz":
        raise InputError(
            path.name,
            "an archive of arrays has no header",
            "write the schema by hand: without feature_names, the columns are x1, x2 and so on, or "
            "for images pixel_0_0, pixel_0_1 and so on",
        )
    separator = separator or separator_of(header_line(path), usual_separator(path))
    return Header(dict.fromkeys(checked_header(path, separator), "number"), separator)


def separator_of(line: str, usual: str) -> str:
    """What separates the names of a header line: the separator that stands there most often, not
    counting quoted names; of two as frequent, and where there is none, the usual one.

    >>> separator_of('a;"b, c, d";e', ","), separator_of("a,b;c", ","), separator_of("a", ",")
    (';', ',', ',')
    """
    plain = re.sub(r'"[^"]*"', "", line)
    return max((usual, *DELIMITERS), key=plain.count)


def _parquet_types(path: File) -> dict[str, str]:
    """The columns' types as the file states them."""
    import pyarrow.parquet as parquet

    with (
        one_sentence(path, "it cannot be read as Parquet", "save it as Parquet again"),
        path.open("rb") as raw,
        parquet.ParquetFile(raw) as file,
    ):
        names = column_names(file.schema_arrow, path.name)
        return {name: _word(file.schema_arrow.field(name).type) for name in names}


def _word(kind: Any) -> str:
    """A type of Arrow's in the words of a schema."""
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return "binary"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return "number" if any(is_one(kind) for is_one in numbers) else "text"
