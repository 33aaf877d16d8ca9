"""Dask collections as tables: the partitions of an array, a data frame or a bag, where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpcore.datasets.columnar import demand_axes, frame_of_array
from dpcore.datasets.files import check_names
from dpcore.errors import InputError
from dpcore.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.wall.data.partitions import Partition

KINDS = ("an array", "a data frame", "a bag")


@dataclass(frozen=True, repr=False)
class CollectionPart:
    """One partition. value: what stands for it here; on a worker, its rows.

    Logs print what a task was given, so it has nothing to print.
    """

    identity: str
    value: Any

    def blocks(self, schema: Schema) -> Iterator[pd.DataFrame]:
        """All its rows at once: they are in memory where this is called."""
        import numpy as np
        import pandas as pd

        rows = self.value
        if isinstance(rows, np.ndarray):
            if len(rows):
                yield frame_of_array(rows, "array")
            return
        if not isinstance(rows, pd.DataFrame):
            rows = _frame_of_records(list(rows), schema)
        if len(rows):
            named = rows.reset_index(drop=True)
            named.columns = pd.Index([str(name) for name in rows.columns], dtype=object)
            check_names(list(named.columns), "partition")
            yield named

    def __repr__(self) -> str:
        return "CollectionPart(sealed)"


def _frame_of_records(records: list[Any], schema: Schema) -> pd.DataFrame:
    """The schema's columns alone, each cell read off its own record.

    A key that a record lacks is a missing cell, and so is every cell of what is no record.
    """
    import pandas as pd

    mappings = [record if isinstance(record, Mapping) else {} for record in records]
    names = [column.name for column in schema.columns]
    cells = {name: [mapping.get(name) for mapping in mappings] for name in names}
    return pd.DataFrame({name: pd.Series(cells[name], dtype=object) for name in names})


def is_collection(source: Any) -> bool:
    """Whether a source is one of Dask's collections."""
    return type(source).__module__.partition(".")[0] == "dask" and hasattr(source, "__dask_graph__")


def collection_parts(source: Any) -> list[Partition]:
    """The partitions of an array ``(n, d)`` or ``(n, h, w)``, a data frame, or a bag of records.

    Raises InputError for any other collection.
    """
    if isinstance(source, import_module("dask.array").Array):
        demand_axes(source.ndim, "array")
        whole_rows = source.rechunk(dict.fromkeys(range(1, source.ndim), -1))
        delayed = whole_rows.to_delayed().reshape(-1).tolist()
    elif isinstance(source, import_module("dask.bag").Bag) or hasattr(source, "partitions"):
        delayed = list(source.to_delayed())
    else:
        raise InputError("source", "it is not a Dask table", "give one of: " + ", ".join(KINDS))
    return [CollectionPart(str(part.key), part) for part in delayed]
