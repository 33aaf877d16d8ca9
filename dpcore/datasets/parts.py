"""Tables of any size, generated part by part: Parquet files with their schema beside the folder.

The rows are clouds in a box, a few groups of them, so a mixture has something to find. Part i is
drawn from its own seed: the same rows whatever the size of the table that it begins.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpcore.checks import whole
from dpcore.errors import InputError
from dpcore.schema import Schema

PART_ROWS = 1_000_000
GROUP_ROWS = 250_000  # rows of a row group: what a reader unpacks at once
GROUPS = 3


def write_parts(
    folder: Path,
    rows: int,
    columns: int,
    *,
    part_rows: int = PART_ROWS,
) -> Schema:
    """Write ``rows x columns`` numbers in ``[0, 100]`` to a new folder, and ``FOLDER.toml`` beside.

    Raises InputError where the folder already exists.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     schema = write_parts(Path(home) / "rows", 2500, 2, part_rows=1000)
    ...     print(schema.features, len(list((Path(home) / "rows").iterdir())))
    ('x1', 'x2') 3
    """
    import pyarrow
    import pyarrow.parquet as parquet

    total, dim, rows_of_part = (
        whole("rows", rows),
        whole("columns", columns),
        whole("part_rows", part_rows),
    )
    if folder.exists():
        raise InputError(folder.name, "the folder already exists", "name a new one")
    names = [f"x{i + 1}" for i in range(dim)]
    schema = Schema.from_bounds({name: (0.0, 100.0) for name in names})
    folder.mkdir()
    folder.with_name(folder.name + ".toml").write_text(schema.to_toml(), encoding="utf-8")
    rng = np.random.default_rng([0, dim])
    centres, spread = rng.uniform(25.0, 75.0, (GROUPS, dim)), rng.uniform(4.0, 9.0, (GROUPS, dim))
    for number, first in enumerate(range(0, total, rows_of_part)):
        draw = np.random.default_rng([0, dim, number])
        count = min(rows_of_part, total - first)
        group = draw.integers(GROUPS, size=count)
        cells = draw.standard_normal((dim, count))
        for k in range(dim):  # a column at a time: that is how they are stored
            cells[k] = np.clip(centres[group, k] + spread[group, k] * cells[k], 0.0, 100.0)
        table = pyarrow.table(dict(zip(names, cells, strict=True)))
        parquet.write_table(
            table,
            folder / f"part-{number:05}.parquet",
            row_group_size=GROUP_ROWS,
            compression="none",
            use_dictionary=False,
        )
    return schema
