"""What the command line shows of a fitted mixture of any family: a line for each group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpcore.fitting.result_table import FEW_COLUMNS, Table, column_titles, far_columns


def group_lines(
    record: dict[str, Any], key: str, shown: Callable[[float], str], about: str
) -> Table:
    """Each group's share of the rows and its number in each column; of many columns, those where it
    is farthest from the average. key: the numbers ``(K, d)`` in the record's parameters."""
    parameters, titles = record["parameters"], column_titles(record)
    if len(titles) > FEW_COLUMNS:
        return far_columns("group", record, parameters[key], parameters["weights"])
    lines = [
        {"group": k + 1, "share": f"{share:.1%}"}
        | {title: shown(number) for title, number in zip(titles, numbers, strict=True)}
        for k, (share, numbers) in enumerate(
            zip(parameters["weights"], parameters[key], strict=True)
        )
    ]
    return f"Each group: its share of the rows, and {about}.", lines
