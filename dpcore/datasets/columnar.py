"""Binary tables: Parquet files and NumPy archives, opened without ever unpickling anything.

An array of rows and columns is a table as it is; pictures ``(n, height, width)`` become one row
each, pixel by pixel from the top left.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.datasets.files import File, check_names, demand_rows, most_bytes
from dpcore.errors import InputError
from dpcore.schema import MOST_COLUMNS, Image, Schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LARGEST_ARRAY = 4 << 30  # bytes after decompression
LEAST_CELL = 4  # bytes in memory, however few a file takes for many that are alike
MOST_NAMES_LISTED = 20
PANDAS_INDEX = "__index_level_"  # how pandas stores an unnamed index
NO_PARQUET = ("it cannot be read as Parquet", "write the file again")
NO_ARCHIVE = ("the .npz file is damaged", "save the arrays again")


def frame_of_array(values: NDArray[Any], where: str) -> pd.DataFrame:
    """Columns x1 to xd of numbers ``(n, d)``, or one for each pixel of ``(n, height, width)``.
    Raises InputError for cells that are no numbers and for other shapes.

    Masked cells are missing.

    >>> list(frame_of_array(np.zeros((2, 3)), "array"))
    ['x1', 'x2', 'x3']
    >>> list(frame_of_array(np.zeros((2, 1, 2)), "array"))
    ['pixel_0_0', 'pixel_0_1']
    """
    import pandas as pd

    if values.dtype.kind not in "fiub":
        raise InputError(where, "it does not hold numbers", "give an array of real numbers")
    demand_axes(values.ndim, where)
    names = _names_of(values.shape, where)
    flat = np.ma.asarray(values).reshape(len(values), len(names))
    with np.errstate(over="ignore"):  # a warning would tell of a long double
        cells = np.ma.filled(flat.astype(float), np.nan)
    frame = pd.DataFrame(cells, columns=names)
    demand_rows(frame, where)
    return frame


def demand_axes(axes: int, where: str) -> None:
    """Raises InputError for an array with another number of axes than a table or pictures have."""
    if axes not in (2, 3):
        raise InputError(
            where,
            "it is neither a two-dimensional array nor a three-dimensional array of images",
            "give an array of shape (rows, columns) or (images, height, width)",
        )


def schema_of_pictures(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Schema | None:
    """The schema of pictures ``(n, height, width)`` of bytes; None for anything else.

    Bounds come from the type alone: a byte lies in 0 to 255. One guarantee protects one picture.

    >>> schema_of_pictures((400, 64, 64), np.dtype("uint8")).image
    Image(height=64, width=64)
    """
    if len(shape) != 3 or dtype != np.uint8 or not 0 < shape[1] * shape[2] <= MOST_COLUMNS:
        return None
    return schema_of_bytes(Image(shape[1], shape[2]))


def schema_of_bytes(image: Image) -> Schema:
    """The schema of pictures of this size whose pixels are bytes.

    >>> schema_of_bytes(Image(2, 2)).columns[0].upper
    255.0
    """
    return Schema(image.columns(0, 255, unit="grey level"), unit="image", image=image)


def schema_in_archive(path: File, array: str | None) -> Schema | None:
    """The schema of the pictures that :func:`read_npz` would read, without reading their numbers.

    None where the array holds anything else.
    """
    with (
        open_archive(path) as (archive, arrays),
        archive.open(wanted(arrays, array, path.name) + ".npy") as raw,
    ):
        shape, _, dtype = array_header(raw)
    return schema_of_pictures(shape, dtype)


@contextmanager
def open_archive(path: File) -> Iterator[tuple[zipfile.ZipFile, list[str]]]:
    """An archive, and the names of its arrays. Raises InputError for one that is damaged."""
    with one_sentence(path, *NO_ARCHIVE), path.open("rb") as file, zipfile.ZipFile(file) as archive:
        yield archive, [name.removesuffix(".npy") for name in archive.namelist()]


def array_header(raw: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Of an array whose numbers come next: its shape, whether they stand column by column, and its
    type."""
    formats = np.lib.format
    wide = formats.read_magic(raw) > (1, 0)  # the header's length takes four bytes
    return (formats.read_array_header_2_0 if wide else formats.read_array_header_1_0)(raw)


def read_npz(path: File, array: str | None = None) -> pd.DataFrame:
    """The frame in an archive: array ``X (n, d)``, with ``y (n,)`` as column "y" if it is there.

    Names come from ``feature_names (d,)`` if present, else x1 to xd. ``array`` names another 2-d
    array, which is then read alone. Every flaw raises InputError.
    """
    with (
        one_sentence(path, *NO_ARCHIVE),
        path.open("rb") as raw,  # numpy leaves a damaged archive open
        np.load(raw, allow_pickle=False) as archive,
    ):
        arrays = list(archive.files)
        name = wanted(arrays, array, path.name)
        frame = frame_of_array(_member(archive, name, path), name)
        if array is None and "feature_names" in arrays:
            frame.columns = stored_names(_member(archive, "feature_names", path), frame.shape[1])
        if array is None and "y" in arrays:
            _append_y(frame, _member(archive, "y", path))
    return frame


def read_parquet(path: File, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The frame in a Parquet file; every flaw raises InputError. columns: those to read; some of
    them may be absent (all).
    """
    import pyarrow as pa
    import pyarrow.parquet as parquet

    with one_sentence(path, *NO_PARQUET), path.open("rb") as raw, parquet.ParquetFile(raw) as file:
        stated, metadata = file.schema_arrow, file.metadata
        names = column_names(stated, path.name)
        if columns is not None:
            names = [name for name in names if name in columns]
        groups = range(metadata.num_row_groups)
        size = sum(metadata.row_group(group).total_byte_size for group in groups)
        _demand_size(max(size, metadata.num_rows * LEAST_CELL * len(names)), path)
        leaves = [metadata.schema.column(at) for at in range(metadata.num_columns)]
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        # A text that stands in many cells is in the file once: it stays so until it is counted.
        with parquet.ParquetFile(raw, metadata=metadata, read_dictionary=texts) as packed:
            table = packed.read(columns=names)
        _demand_size(sum(map(_unpacked_size, table.columns)), path)
        kinds = [stated.field(name).type for name in table.column_names]
        cells = [_unpacked(column, kind) for column, kind in zip(table.columns, kinds, strict=True)]
        frame = frame_of_arrow(pa.table(cells, names=table.column_names))
    demand_rows(frame, path.name)
    return frame.reset_index(drop=True)


def column_names(schema: pa.Schema, where: str) -> list[str]:
    """The columns of a Parquet file, without an index of pandas. Raises InputError for names that
    are none, or come twice."""
    names = [name for name in schema.names if not name.startswith(PANDAS_INDEX)]
    check_names(names, where)
    return names


def _unpacked_size(column: pa.ChunkedArray) -> int:
    """Bytes of a column's texts, each as often as it stands in a cell; 0 of what holds no texts."""
    import pyarrow as pa
    import pyarrow.compute as arrow

    while pa.types.is_list(column.type):
        column = arrow.list_flatten(column)
    if not pa.types.is_dictionary(column.type) or not _holds_bytes(column.type.value_type):
        return 0
    lengths = (
        arrow.sum(arrow.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0
        for chunk in column.chunks
    )
    return sum(lengths)


def _unpacked(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column with each text in its cell, unless the file says that it lists them apart."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return column
    return column.cast(column.type.value_type if pa.types.is_dictionary(column.type) else kind)


def _holds_bytes(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return _is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def frame_of_arrow(table: pa.Table) -> pd.DataFrame:
    """Columns of Arrow's as they are, but for dates, times and texts that hold no text: pandas
    would refuse them all for one of them. Each cell for itself becomes a text, or bytes where it
    holds no text, and different cells stay different: they may be ids.
    """
    import pyarrow as pa

    bytes_kept = dict[int, list[str | bytes | None]]()
    for at, field in enumerate(table.schema):
        if pa.types.is_temporal(field.type) and not pa.types.is_duration(field.type):
            texts = table.column(at).cast(pa.string())
            table = table.set_column(at, field.name, texts)
        elif _is_text(field.type) and not _is_valid(table.column(at)):
            raw = table.column(at).cast(pa.large_binary())
            bytes_kept[at] = [_as_text(cell) for cell in raw.to_pylist()]
            table = table.set_column(at, field.name, pa.nulls(len(raw)))
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    for at, cells in bytes_kept.items():
        frame.isetitem(at, np.array(cells, dtype=object))
    return frame


def _as_text(cell: bytes | None) -> str | bytes | None:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return cell


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_valid(texts: pa.ChunkedArray) -> bool:
    """Whether all of them are UTF-8."""
    from pyarrow import ArrowInvalid

    try:
        texts.validate(full=True)
    except ArrowInvalid:
        return False
    return True


def _names_of(shape: tuple[int, ...], where: str) -> list[str]:
    """x1 to xd, or the usual names of a picture's pixels."""
    if len(shape) == 2:
        names = [f"x{number + 1}" for number in range(shape[1])]
    elif 0 < shape[1] * shape[2] <= MOST_COLUMNS:
        names = list(Image(shape[1], shape[2]).names)
    else:
        raise InputError(
            where,
            f"the number of pixels in its images is not between 1 and {MOST_COLUMNS:,}",
            "resize the images, for example by averaging over blocks of pixels",
        )
    check_names(names, where)
    return names


def wanted(arrays: list[str], array: str | None, where: str) -> str:
    """The name of the array to read. Raises InputError, which lists what there is, for another."""
    name = "X" if array is None else array
    if name in arrays:
        return name
    if not arrays:
        raise InputError(where, "it has no arrays", "save an array X of rows and columns")
    listed = ", ".join(arrays[:MOST_NAMES_LISTED]) + (", ..." if arrays[MOST_NAMES_LISTED:] else "")
    raise InputError("array", f"{where} has no array {name!r}", f"name one of its arrays: {listed}")


def _member(archive: Any, name: str, path: File) -> NDArray[Any]:
    """One array of the archive, after a look at how large it says it is."""
    entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.zip.infolist()}
    _demand_size(entries[name].file_size, path)
    try:
        values = archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise InputError(
            name, "it contains pickled objects, which are never opened", "save plain numbers"
        ) from None
    if not isinstance(values, np.ndarray):
        raise InputError(name, "it is not an array", "save plain numbers as an array")
    return values


def _demand_size(size: int, path: File) -> None:
    most = most_bytes(path, LARGEST_ARRAY)
    if size > most:
        raise InputError(
            path.name, f"it expands to more than {most >> 30} GiB", "give a smaller table"
        )


def stored_names(names: NDArray[Any], columns: int) -> list[str]:
    """The archive's own names ``(columns,)`` of the columns of X. Raises InputError for what is not
    one text for each."""
    if names.dtype.kind not in "US" or names.shape != (columns,):
        raise InputError(
            "feature_names", "it does not hold one name per column of X", "save one name per column"
        )
    text: list[str] = names.astype(str).tolist()
    check_names(text, "feature_names")
    return text


def _append_y(frame: pd.DataFrame, y: NDArray[Any]) -> None:
    """Append the archive's ``y`` as a column."""
    if y.shape != (len(frame),) or y.dtype.kind not in "fiubUS":
        raise InputError(
            "y",
            "it does not hold one number or text per row of X",
            "save it in that form, or drop it",
        )
    if "y" in frame.columns:
        raise InputError("y", "X has a column of that name as well", "rename one of them")
    frame["y"] = np.char.decode(y, "latin-1") if y.dtype.kind == "S" else y


@contextmanager
def one_sentence(path: File, finding: str, remedy: str) -> Iterator[None]:
    """Every way in which a binary file can be broken, as an InputError without its content."""
    from pyarrow import ArrowException

    try:
        yield
    except InputError:
        raise
    except MemoryError:
        raise InputError(path.name, "it does not fit into memory", "give a smaller table") from None
    except (
        OSError,
        EOFError,
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
        ArrowException,
    ):  # what the libraries say may quote the file
        raise InputError(path.name, finding, remedy) from None
