"""Reading a text file beside ``pandas.read_csv``: seconds for 100 MB of numbers.

Ours reads every cell as text and turns it into a number by itself, so that no cell changes how
another is read; the peer guesses a type for each column. Quality: the share of cells whose float is
the nearest to what the file says.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.bench.measure import Case, Row, median_seconds
from dpcore.datasets.load import read_described
from dpcore.schema import Schema

CONDITIONS = "Our loader parses every cell separately; the peer infers a type for each column."
JUDGED_BY = "share of the cells in the first rows that are read as the nearest float"


@dataclass(frozen=True)
class Text(Case):
    """A CSV file of about ``megabytes``: numbers of six decimals, or whole ones of 19 digits.

    odd: one cell, in the first column, is a mark for a missing value with a blank after it, which
    has the peer read all others of its column anew.
    """

    columns: int
    whole: bool = False
    odd: bool = False
    megabytes: int = 100
    repetitions: int = 5

    package, peer_model = "pandas", "read_csv"

    def measure(self) -> Row:
        import pandas as pd

        with _written(self) as path:
            share = path.stat().st_size / 1e8
            schema = Schema.from_bounds({name: (-4e18, 4e18) for name in _names(self.columns)})
            jobs: list[Callable[[], pd.DataFrame]] = [
                lambda: read_described(path, schema),
                lambda: pd.read_csv(path, low_memory=False),
            ]
            turns = [(lambda: None, job) for job in jobs]
            ours, theirs = median_seconds(turns, 0.0, least=self.repetitions)
            exact = np.genfromtxt(path, delimiter=",", skip_header=1, max_rows=2000)
            qualities = tuple(_nearest(job(), exact) for job in jobs)
            return self.row(
                f"a CSV file, {self.columns} columns of {self._kind}",
                "100 MB",
                (ours / share, theirs / share),
                (qualities[0], qualities[1]),
                partial(read_described, path, schema),
                quality="share of cells that are read as the nearest float",
            )

    @property
    def _kind(self) -> str:
        kind = "whole numbers of 19 digits" if self.whole else "numbers with six decimals"
        return kind + (", one cell “? ”" if self.odd else "")


def _names(columns: int) -> list[str]:
    return [f"x{i + 1}" for i in range(columns)]


def _nearest(frame: Any, exact: Any) -> float:
    """The share of the first rows' cells that are the nearest float, or missing where they are."""
    import pandas as pd

    cells = frame.head(len(exact)).apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    return float(np.mean((cells == exact) | (np.isnan(cells) & np.isnan(exact))))


@contextmanager
def _written(text: Text) -> Iterator[Path]:
    """A file of that size and kind in a temporary folder."""
    rng = np.random.default_rng(0)
    header = ",".join(_names(text.columns)) + "\n"
    form = "%d" if text.whole else "%.6f"
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "rows.csv"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(header)
            if text.odd:
                file.write(",".join(["? ", *["1"] * (text.columns - 1)]) + "\n")
            line = ",".join([form] * text.columns)
            while file.tell() < text.megabytes * 10**6:
                cells = rng.normal(50.0, 20.0, (20_000, text.columns))
                if text.whole:
                    cells = rng.integers(1 << 60, 1 << 61, cells.shape)  # type: ignore[assignment]
                file.write("\n".join(line % tuple(row) for row in cells.tolist()) + "\n")
        yield path


CASES = (Text(10), Text(10, whole=True, odd=True), Text(100))
