"""Reading a file seals it: what comes back is a private table, or one sentence on what to mend.

A message names the file or the column, what was found and the remedy. It never holds a cell, a
row number or a count of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.checks import truth
from dpcore.datasets.described import schema_with
from dpcore.datasets.files import (
    File,
    InMemory,
    check_names,
    check_path,
    demand_rows,
    demand_table,
    extension_for,
    usual_separator,
)
from dpcore.errors import InputError
from dpcore.schema import Schema, with_numbers
from dpcore.schema.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.datasets.files import Source
    from dpcore.wall.table import PrivateTable

EVERYONES = ("bundled:", "generated:", "published:")


def load(
    source: Source,
    *,
    schema: Schema | str | PathLike[str] | None = None,
    array: str | None = None,
    out_of_core: bool | None = None,
    engine: str | None = None,
) -> PrivateTable:
    """A private table from a file, a data frame, an array ``(n, d)`` or pictures ``(n, h, w)``.

    source: the path, a name (below) or the rows themselves; a data frame is one of pandas, polars
    or Arrow.
    schema: public bounds, or the path of a schema file. Without one, the ``.toml`` beside the file
    is read (``people.toml`` for ``people.csv`` and ``people.csv.gz``), and pictures of bytes lie in
    0 to 255; without that either, the table has no bounds yet and a fit will ask for them. array:
    which array of an ``.npz``. Columns of an array are called x1 to xd.
    ``bundled:NAME`` is a table that comes with the package, ``generated:ROWSxCOLUMNSxGROUPSxSEED``
    one that is simulated, ``published:NAME`` one that was added with ``dpcore data``. out_of_core:
    read the rows in blocks at every step of a fit, never all at once (by default a folder of
    tables, whose schema is ``people.toml`` beside ``people/``; a file of more than 1 GiB too, where
    the model can be fitted so). engine: ``dask`` has the blocks summed by the workers of the
    current ``distributed.Client``, which must see the files under the same path; a Dask array, data
    frame or bag of records is summed there by itself. A block takes one thread of a worker, so a
    cluster uses as many cores as its workers have threads.

    **Guarantee**: the rows are sealed; see :class:`dpcore.wall.table.PrivateTable`.
    **Raises** InputError on a file that cannot be read or that the schema does not describe.

    >>> load(np.array([[1.0, 2.0], [3.0, 4.0]]))
    PrivateTable(sealed)
    """
    from dpcore.datasets.blocks import engine_named, is_for_blocks, is_large_file, parted
    from dpcore.wall.table import PrivateTable

    address = source
    source, own = named(source)
    is_own = schema is None and own is not None
    public = own if is_own else _public_schema(source, schema, array)
    if out_of_core is not None:
        truth("out_of_core", out_of_core)
    if out_of_core is None and engine is None and is_large_file(source):
        whole = in_memory(source, public, array)
        with suppress(InputError):  # a file that cannot be read in blocks may fit into memory
            return parted(source, public, array=array, whole=whole)
    elif engine is not None or out_of_core or (out_of_core is None and is_for_blocks(source)):
        return parted(source, public, array=array, engine=engine_named(engine, source))
    if public is None:
        return PrivateTable.seal(read_frame(source, array=array), None)
    frame = read_described(source, public, array=array)
    everyones = isinstance(address, str) and address.startswith(EVERYONES)
    return PrivateTable.seal(frame, public, open_to_all=everyones)


def read_described(source: Source, schema: Schema, *, array: str | None = None) -> pd.DataFrame:
    """The data frame behind a source, with its schema's number columns as floats.

    **Raises** InputError; the message holds nothing of the data.
    """
    columns = [c.name for c in schema.columns if c.role != "ignore" or c.name == schema.id]
    frame = read_frame(source, array=array, columns=columns, separator=schema.separator)
    return with_numbers(frame, schema)


def read_frame(
    source: Source,
    *,
    array: str | None = None,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
) -> pd.DataFrame:
    """The data frame behind a path, a data frame (copied) or an array ``(n, d)``.

    Columns of arrays are called x1 to xd, those of pictures pixel_0_0 and so on. Cells of a text
    file are the texts that they are: what they mean is for a schema to say. columns: those to read
    of a Parquet file, which may hold what no frame can (all). separator: of a delimited file's
    columns (a tab for ``.tsv``, else a comma).

    **Raises** InputError; the message holds nothing of the data.
    """
    source, _ = named(source)
    if isinstance(source, InMemory):
        demand_table(source)
        return _from_file(source, array, columns, separator)
    if isinstance(source, str | PathLike):
        check_path(source)
        return _from_file(Path(fspath(source)), array, columns, separator)
    return _from_memory(source)


def in_memory(
    source: Source, schema: Schema | None, array: str | None
) -> Callable[[], pd.DataFrame]:
    """What reads the frame behind a path when called, in the notation that a schema states."""
    separator = None if schema is None else schema.separator
    return partial(read_frame, source, array=array, separator=separator)


def named(source: Any) -> tuple[Any, Schema | None]:
    """What ``bundled:...``, ``published:...`` and ``generated:...`` stand for, with the schema
    where it is made here. Raises InputError for a name that is not there.

    Anything else is given back as it is.
    """
    kind, _, name = source.partition(":") if isinstance(source, str) else ("", "", "")
    if kind == "bundled":
        from dpcore.datasets.catalogue import find

        return find(name).source()
    if kind == "published":
        from dpcore.datasets.published import find_set

        return find_set(name).table_of_rows().source()
    if kind == "generated":
        from dpcore.datasets.generators import generated_table

        parts = name.split("x")
        if len(parts) != 4 or not all(part.isdecimal() and len(part) < 9 for part in parts):
            raise InputError(
                "file",
                f"{source!r} does not say what to generate",
                "give rows, columns, groups and a seed, for example generated:5000x2x3x0",
            )
        return generated_table(*map(int, parts))
    return source, None


def _public_schema(
    source: Source, schema: Schema | str | PathLike[str] | None, array: str | None
) -> Schema | None:
    """The schema that was given, or the one that came with the data."""
    if isinstance(schema, Schema):
        return schema.demand_effective()
    return schema_with(source, array) if schema is None else Schema.from_toml(schema)


def _from_file(
    path: File, array: str | None, columns: Sequence[str] | None, separator: str | None
) -> pd.DataFrame:
    """Read a file that is there."""
    from dpcore.datasets.columnar import read_npz, read_parquet
    from dpcore.datasets.delimited import read_delimited

    ending = extension_for(path, array)
    if ending == ".npz":
        return read_npz(path, array)
    if ending == ".parquet":
        return read_parquet(path, columns)
    return read_delimited(path, separator or usual_separator(path))


def _from_memory(source: Any) -> pd.DataFrame:
    """A frame of our own from a data frame or an array."""
    import pandas as pd

    from dpcore.datasets.columnar import frame_of_array

    if isinstance(source, np.ndarray):
        return frame_of_array(source, "array")
    source = frame_of("source", source)
    if not isinstance(source, pd.DataFrame):
        raise InputError(
            "source", "it is neither a path nor a table", "give a path, a DataFrame or an array"
        )
    if source.columns.nlevels > 1:
        raise InputError(
            "data frame", "its header has several levels", "give the columns plain names"
        )
    frame = source.copy().reset_index(drop=True)
    frame.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    check_names(list(frame.columns), "data frame")
    demand_rows(frame, "data frame")
    return frame
