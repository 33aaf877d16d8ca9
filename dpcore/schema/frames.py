"""Data frames of other packages, as pandas has them."""

from __future__ import annotations

from typing import Any

from dpcore.errors import InputError


def frame_of(field: str, table: Any) -> Any:
    """A table of polars or Arrow as a data frame of pandas; anything else as it is.

    Raises InputError where pandas cannot hold a cell; its own error would quote it.
    """
    import pandas as pd

    if isinstance(table, pd.DataFrame) or not hasattr(table, "to_pandas"):
        return table
    try:
        return table.to_pandas()
    except (ValueError, TypeError, OverflowError, NotImplementedError):
        raise InputError(
            field, "pandas cannot hold one of its cells", "give a data frame of pandas"
        ) from None
