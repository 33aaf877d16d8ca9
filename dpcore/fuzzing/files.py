"""A table as a file of its kind, written and loaded as anybody would."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.datasets.load import load
from dpcore.fuzzing.tables import WRITTEN, Row, Table
from dpcore.wall.table import PrivateTable

GROUP = 7  # rows of a Parquet file's row group


def loaded(table: Table, folder: Path) -> PrivateTable:
    """The table, written into an empty folder where it is a file, and loaded.

    Raises what :func:`dpcore.load` raises.
    """
    words: dict[str, Any] = {"schema": table.schema}
    if table.kind in ("frame", "records", "array", "pictures"):
        table_loaded = load(_in_memory(table), **words)
        return table_loaded.pooled(2) if table.pooled else table_loaded
    if table.parts is None:
        path = folder / f"rows{table.kind}"
        _write(table, table.rows, path)
        return load(path, out_of_core=True if table.blocks else None, **words)
    for part in sorted(set(table.parts)):
        rows = tuple(row for row, own in zip(table.rows, table.parts, strict=True) if own == part)
        _write(table, rows, folder / f"part{part}{table.kind}")
    return load(folder, **words)


def _names(table: Table) -> list[str]:
    return [column.name for column in table.schema.columns]


def _write(table: Table, rows: tuple[Row, ...], path: Path) -> None:
    if table.kind in WRITTEN:
        _write_text(table, rows, path)
    elif table.kind == ".parquet":
        _write_parquet(table, rows, path)
    else:
        np.savez(path, **_arrays(table, rows))


def _write_text(table: Table, rows: tuple[Row, ...], path: Path) -> None:
    delimiter = table.schema.separator or ("\t" if ".tsv" in table.kind else ",")
    lines = [delimiter.join(_names(table)), *(delimiter.join(row) for row in rows)]
    text = table.ends.join([*lines, ""])
    content = text.encode("utf-8-sig" if table.begun else "utf-8")
    path.write_bytes(gzip.compress(content, 1) if table.kind.endswith(".gz") else content)


def _write_parquet(table: Table, rows: tuple[Row, ...], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    columns = {
        name: _arrow([row[at] for row in rows], table.storages[at])
        for at, name in enumerate(_names(table))
    }
    parquet.write_table(pa.table(columns), path, row_group_size=GROUP)


def _arrow(values: list[Any], storage: str) -> Any:
    import pyarrow as pa

    kind = storage.removesuffix("?")
    if kind == "dictionary":
        return pa.array(values, pa.string()).dictionary_encode()
    if kind == "decimal":
        return pa.array(values, pa.decimal128(38, 9))
    if kind == "float16":
        values = [None if value is None else np.float16(value) for value in values]
    types = {"string": pa.string(), "bool": pa.bool_()}
    return pa.array(values, types.get(kind) or pa.type_for_alias(kind))


def _arrays(table: Table, rows: tuple[Row, ...]) -> dict[str, Any]:
    """``X``, and ``y`` where there is a last column of another role."""
    features = [at for at, column in enumerate(table.schema.columns) if column.role == "feature"]
    arrays = {"X": np.array([[row[at] for at in features] for row in rows], table.storages[0])}
    arrays["X"] = arrays["X"].reshape(len(rows), len(features))
    if len(features) < len(table.storages):
        arrays["y"] = np.array([row[-1] for row in rows], table.storages[-1])
    return arrays


def _in_memory(table: Table) -> Any:
    import pandas as pd

    names = _names(table)
    if table.kind == "records":
        records = [dict(zip(names, row, strict=True)) for row in table.rows]
        try:
            return pd.DataFrame.from_records(records)
        except OverflowError:  # older versions of pandas guess no type where a number is this long
            return pd.DataFrame(records, dtype=object)
    if table.kind == "frame":
        return pd.DataFrame(
            {
                name: _series([row[at] for row in table.rows], table.storages[at])
                for at, name in enumerate(names)
            }
        )
    array = np.array(table.rows, table.storages[0]).reshape(len(table.rows), len(names))
    image = table.schema.image
    return array if image is None else array.reshape(-1, image.height, image.width)


def _series(values: list[Any], storage: str) -> Any:
    """A column of a data frame: nullable ones of pandas' own types."""
    import pandas as pd

    kind = storage.removesuffix("?")
    if kind in ("object", "decimal"):
        return pd.Series(values, dtype=object)
    if kind in ("string", "dictionary"):
        return pd.Series(values, dtype="category" if kind == "dictionary" else "string")
    if kind == storage or kind == "float16":
        return pd.Series(values, dtype=kind)
    if kind == "bool":
        return pd.Series(values, dtype="boolean")
    own = kind.capitalize() if kind[0] != "u" else f"UInt{kind[4:]}"
    return pd.Series(values, dtype=own)
