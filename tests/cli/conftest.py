"""Commands run in this process, on a small table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import (
    BOX,
    Answer,
    Run,
    written,
)

from dpcore.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process."""

    def call(*words: object) -> Answer:
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return call


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """On a busy machine the references' threads wait for one another longer than they work."""
    import sklearn.mixture  # noqa: F401  # the limits hold for what is loaded
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A file of two groups, with its schema beside it."""
    path = tmp_path / "people.csv"
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal([2, -3], 0.5, (60, 2)), rng.normal([8, 3], 0.5, (40, 2))])
    path.write_text("a,b\n" + "".join(f"{a:.6f},{b:.6f}\n" for a, b in rows))
    (tmp_path / "people.toml").write_text(BOX)
    return path


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """A file of five columns that move together in two ways."""
    rng = np.random.default_rng(2)
    ways = np.array([[3, 3, 3, 0, 0], [0, 0, 0, 2, -2]])
    rows = 5.0 + rng.normal(size=(4000, 2)) @ ways * 0.6 + rng.normal(0, 0.4, (4000, 5))
    frame = pd.DataFrame(rows.clip(0, 10), columns=list("pqrst"))
    schema = "".join(f"[columns.{name}]\nlower = 0\nupper = 10\n" for name in "pqrst")
    return written(tmp_path, "marks.csv", frame.to_csv(index=False), schema)
