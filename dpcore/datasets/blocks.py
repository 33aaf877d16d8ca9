"""Tables beyond memory: files, or a folder of them, read again and again in blocks of rows.

A Parquet file is read by runs of its row groups, an archive by rows of its array, a text file from
its first line to its last. No block holds more than a few million numbers, and no copy of a row is
kept. Every flaw is told as it is for a table in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike, fspath
from os.path import isdir, isfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpcore.checks import one_of
from dpcore.datasets.collections import collection_parts, is_collection
from dpcore.datasets.columnar import (
    NO_PARQUET,
    array_header,
    column_names,
    frame_of_array,
    frame_of_arrow,
    one_sentence,
    open_archive,
    stored_names,
    wanted,
)
from dpcore.datasets.delimited import _one_sentence as _written
from dpcore.datasets.delimited import checked_header, text_batches
from dpcore.datasets.described import schema_with
from dpcore.datasets.files import (
    TABLE_FILES,
    check_path,
    extension_for,
    usual_separator,
)
from dpcore.errors import InputError
from dpcore.schema import Schema
from dpcore.schema.cells import demand_column

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from dpcore.wall.data.partitions import Engine, OnShare, PartedTable, Partition

BLOCK_NUMBERS = 1 << 20  # numbers of a block: 8 MiB, several of which exist at once
PART_NUMBERS = 1 << 24  # numbers of the row groups that make a part: 128 MiB
LARGEST_IN_MEMORY = 1 << 30  # bytes of a file, from which on it is read in blocks by itself

Stamp: TypeAlias = tuple[int, int]  # size in bytes and time of the last change


@dataclass(frozen=True)
class _FilePart(ABC):
    """Rows of one file. stamp: of the file as it was when the table was loaded."""

    path: Path
    stamp: Stamp

    @property
    def identity(self) -> str:
        """The file, whatever it is called here."""
        return str(self.path.resolve())

    def blocks(self, schema: Schema) -> Iterator[pd.DataFrame]:
        """The columns that the schema names, in frames of some rows. Raises InputError where the
        file has changed since it was loaded, or changes until its last row is read."""
        self._demand_unchanged()
        yield from self._frames(schema)
        self._demand_unchanged()

    @abstractmethod
    def _frames(self, schema: Schema) -> Iterator[pd.DataFrame]:
        """The same, however the file is while it is read."""

    def _demand_unchanged(self) -> None:
        if not self.path.is_file() or _stamp(self.path) != self.stamp:
            raise InputError(self.path.name, "it changed while being read", "load it again")


@dataclass(frozen=True)
class ParquetPart(_FilePart):
    """Some row groups of a Parquet file."""

    groups: tuple[int, ...]

    @property
    def identity(self) -> str:
        """The file and its row groups."""
        return f"{super().identity}#{self.groups}"

    def _frames(self, schema: Schema) -> Iterator[pd.DataFrame]:
        """Each of a few row groups, or of a part of one."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        names = [column.name for column in schema.columns]
        with (
            one_sentence(self.path, *NO_PARQUET),
            parquet.ParquetFile(self.path, buffer_size=1 << 20, pre_buffer=False) as file,
        ):
            for batch in file.iter_batches(
                _rows_of_block(len(names)), row_groups=list(self.groups), columns=names
            ):
                yield frame_of_arrow(pa.Table.from_batches([batch]))


@dataclass(frozen=True)
class ArchivePart(_FilePart):
    """The rows of one array of an ``.npz``. names: its columns, where they are stored beside it."""

    array: str
    names: tuple[str, ...] | None

    def _frames(self, schema: Schema) -> Iterator[pd.DataFrame]:
        """All columns of the array."""
        with (
            open_archive(self.path) as (archive, _),
            archive.open(f"{self.array}.npy") as raw,
        ):
            shape, kind = _header(raw, self.array)
            width = int(np.prod(shape[1:]))
            step, left = _rows_of_block(width), shape[0]
            while left > 0:
                count = min(step, left)
                numbers = np.frombuffer(raw.read(count * width * kind.itemsize), dtype=kind)
                frame = frame_of_array(numbers.reshape(count, *shape[1:]), self.array)
                if self.names is not None:
                    frame.columns = list(self.names)
                left -= count
                yield frame


@dataclass(frozen=True)
class TextPart(_FilePart):
    """The rows of one CSV or TSV file. names: its columns."""

    delimiter: str
    names: tuple[str, ...]

    def _frames(self, schema: Schema) -> Iterator[pd.DataFrame]:
        import pandas as pd

        names = [column.name for column in schema.columns if column.name in self.names]
        if not names:
            demand_column(pd.DataFrame(), schema.columns[0].name)
        with _written(self.path):
            batches = text_batches(self.path, self.delimiter, self.names, names, check=False)
            yield from _in_frames(batches, _rows_of_block(len(names)))


def _in_frames(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pd.DataFrame]:
    """The same rows in frames of ``rows``, so that how long a text is moves no other row."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        if count >= rows:
            table = pa.Table.from_batches(waiting)
            whole = count - count % rows
            for first in range(0, whole, rows):
                yield table.slice(first, rows).to_pandas()
            waiting, count = table.slice(whole).to_batches(), count - whole
    if count:
        yield pa.Table.from_batches(waiting).to_pandas()


def parted(
    source: Any,
    schema: Schema | None,
    *,
    array: str | None = None,
    engine: Engine | None = None,
    on_share: OnShare | None = None,
    whole: Callable[[], pd.DataFrame] | None = None,
) -> PartedTable:
    """A private table of a file, a folder of files or a Dask collection, read in blocks.

    schema: public bounds, or ``None`` for those beside the file or folder. engine: what sums the
    parts; ``None``: this machine, one part after another. on_share: told the share of rows done,
    anew for each pass over them. whole: reads all rows into memory, for a large file that is read
    in blocks unasked: what needs all rows at once then reads them, as with a small file.

    **Guarantee**: as :func:`dpcore.load`; the parts of the table are read once a pass, each.
    **Raises** InputError on a file that cannot be read or that is there twice.
    """
    from dpcore.wall.data.partitions import PartedTable

    if is_collection(source):
        parts = collection_parts(source)
    elif isinstance(source, str | PathLike):
        files = files_of(source)
        schema = schema_of_files(source, array) if schema is None else schema
        separator = None if schema is None else schema.separator
        parts = [part for file in files for part in parts_of(file, array, separator)]
    else:
        raise InputError(
            "source", "its rows are already in memory", "give a file, a folder or a Dask collection"
        )
    if whole is not None:
        whole = partial(_read_whole, whole, parts)
    return PartedTable.seal_parts(parts, schema, engine=engine, on_share=on_share, whole=whole)


def _read_whole(whole: Callable[[], pd.DataFrame], parts: Sequence[Partition]) -> pd.DataFrame:
    """All rows at once. Raises InputError if a file has changed since its rows were counted."""
    frame = whole()
    for part in parts:
        if isinstance(part, _FilePart):
            part._demand_unchanged()
    return frame


def engine_named(name: str | None, source: Any = None) -> Engine | None:
    """What sums the parts: ``None`` (this machine; of a Dask collection its workers) or ``dask``.

    Raises InputError on another word, or where no cluster is connected.
    """
    if name is None and not is_collection(source):
        return None
    one_of("engine", "dask" if name is None else name, ("dask",))
    from dpcore.wall.data.dask_engine import OnWorkers

    return OnWorkers()


def schema_of_files(source: str | PathLike[str], array: str | None = None) -> Schema | None:
    """The schema that came with a file or a folder, ``people.toml`` beside ``people/``."""
    path = _named(source)
    if not path.is_dir():
        return schema_with(path, array)
    beside = path.parent / f"{path.name}.toml"
    return Schema.from_toml(beside) if beside.is_file() else None


def is_for_blocks(source: Any) -> bool:
    """Whether a source is read in blocks without being asked to: a folder that holds tables, a
    large file, or a Dask collection."""
    if is_collection(source) or is_large_file(source):
        return True
    path = Path(fspath(source)) if isinstance(source, str | PathLike) else None
    return path is not None and isdir(path) and any(map(_is_table, path.iterdir()))


def is_large_file(source: Any) -> bool:
    """Whether a source is a file of more than 1 GiB.

    The size of a file may tell a private number of rows, so it decides nothing that can be seen:
    sums in blocks are those in memory up to rounding, which is part of every sensitivity, and a
    model that needs all rows at once reads them.
    """
    if not isinstance(source, str | PathLike):
        return False
    path = Path(fspath(source))
    return isfile(path) and _is_table(path) and path.stat().st_size > LARGEST_IN_MEMORY


def files_of(source: str | PathLike[str]) -> list[Path]:
    """The table files behind a path, in the order of their names. Raises InputError where there is
    none, or where a folder lies among them: it may hold more rows (``year=2026``), or say that rows
    beside it no longer count (``_delta_log``) or are not yet complete (``_temporary``)."""
    path = _named(source)
    if not path.is_dir():
        check_path(path)
        return [path]
    inside = sorted(path.iterdir())
    if any(place.is_dir() and not place.name.startswith(".") for place in inside):
        raise InputError(
            path.name,
            "it contains another folder, so its files may not be the whole table",
            "give a folder that holds only the table's files",
        )
    files = [file for file in inside if _is_table(file)]
    if not files:
        raise InputError(
            path.name,
            "the folder contains no tables",
            "give a folder with files that end in " + ", ".join(TABLE_FILES),
        )
    return files


def _named(source: str | PathLike[str]) -> Path:
    """A path that ends in a name, as ``.`` and ``..`` do not."""
    path = Path(fspath(source))
    return path.resolve() if path.name in ("", "..") else path


def parts_of(path: Path, array: str | None = None, separator: str | None = None) -> list[Partition]:
    """The parts of one file, whose form is checked; cells are not. separator: as of
    :func:`~dpcore.datasets.load.read_frame`. Raises InputError where it cannot be read."""
    ending = extension_for(path, array)
    if ending == ".parquet":
        return _parquet_parts(path)
    if ending == ".npz":
        return [_archive_part(path, array)]
    delimiter = separator or usual_separator(path)
    names = checked_header(path, delimiter)
    with _written(path):
        deque(text_batches(path, delimiter, names, names[:1]), maxlen=0)
    return [TextPart(path, _stamp(path), delimiter, tuple(names))]


def _parquet_parts(path: Path) -> list[Partition]:
    import pyarrow.parquet as parquet

    with one_sentence(path, *NO_PARQUET), parquet.ParquetFile(path) as file:
        names = column_names(file.schema_arrow, path.name)
        counts = [
            file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)
        ]
    most, stamp = max(1, PART_NUMBERS // max(1, len(names))), _stamp(path)
    runs: list[list[int]] = []
    size = 0
    for group, count in enumerate(counts):
        if not runs or size + count > most:
            runs.append([])
            size = 0
        runs[-1].append(group)
        size += count
    return [ParquetPart(path, stamp, tuple(run)) for run in runs]


def _archive_part(path: Path, array: str | None) -> Partition:
    with open_archive(path) as (archive, arrays):
        chosen = wanted(arrays, array, path.name)
        if array is None and "y" in arrays:
            raise InputError(
                path.name,
                "its labels y are stored separately from its rows X, which are read in blocks",
                "make y a column of X, or name the array to read",
            )
        with archive.open(f"{chosen}.npy") as raw:
            shape, _ = _header(raw, chosen)
        names = None
        if array is None and "feature_names" in arrays:
            with archive.open("feature_names.npy") as raw:
                stored = np.lib.format.read_array(raw, allow_pickle=False)
            names = tuple(stored_names(stored, int(np.prod(shape[1:]))))
    return ArchivePart(path, _stamp(path), chosen, names)


def _header(raw: IO[bytes], array: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array whose numbers come next, row by row. Raises InputError for one
    that is no table, or stored column by column."""
    shape, by_columns, kind = array_header(raw)
    if kind.kind not in "fiub" or len(shape) not in (2, 3):
        raise InputError(
            array, "it does not hold rows and columns of numbers", "give an array that does"
        )
    if by_columns and sum(size > 1 for size in shape) > 1:  # else both orders are one
        raise InputError(
            array,
            "its numbers are stored column by column",
            f"save numpy.ascontiguousarray({array})",
        )
    return shape, kind


def _rows_of_block(columns: int) -> int:
    return max(1024, BLOCK_NUMBERS // max(1, columns))


def _stamp(path: Path) -> Stamp:
    state = path.stat()
    return state.st_size, state.st_mtime_ns


def _is_table(path: Path) -> bool:
    return path.name.lower().endswith(TABLE_FILES) and not path.name.startswith((".", "_"))
