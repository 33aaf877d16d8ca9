"""On a locked server nothing exact leaves, nor noise that could be drawn again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sealed_rows import boxed

import dpcore as dp
from dpcore.errors import WallError
from dpcore.fitting.api import fit_grid
from dpcore.wall.table import PrivateTable, locked

BUDGET = dp.Privacy(epsilon=1.0, delta=1e-5)


@pytest.fixture
def sealed() -> PrivateTable:
    return boxed(np.random.default_rng(0).uniform(-1, 1, (200, 2)))


@pytest.mark.parametrize("word", ["1", "true", "yes"])
def test_any_word_but_0_locks(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", word)
    assert locked()
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "0")
    assert not locked()


def test_exact_fits_rehearsals_and_scores_are_refused(
    monkeypatch: pytest.MonkeyPatch, sealed: PrivateTable
) -> None:
    release = dp.fit("gmm", sealed, privacy=BUDGET, n_components=2, iterations=2)
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    with pytest.raises(WallError, match="locked"):
        dp.fit("gmm", sealed, privacy=None, n_components=2)
    with pytest.raises(WallError, match="locked"):
        dp.fit("gmm", sealed, privacy=BUDGET, n_components=2, seed=0)
    with pytest.raises(WallError, match="locked"):
        release.score(sealed.with_schema(sealed.schema))  # type: ignore[arg-type]


def test_only_what_comes_with_the_package_is_open_to_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file is somebody's, whether it is named by a text, by a path or by its rows."""
    rows = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    schema = dp.Schema.from_bounds({"x1": (-1, 1), "x2": (-1, 1)})
    file = tmp_path / "bundled:iris.csv"
    pd.DataFrame(rows, columns=["x1", "x2"]).to_csv(file, index=False)
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    for source in (str(file), file, rows, pd.read_csv(file)):
        for out_of_core in (False, True) if isinstance(source, str | Path) else (False,):
            table = dp.load(source, schema=schema, out_of_core=out_of_core)
            with pytest.raises(WallError, match="locked"):
                dp.fit("gmm", table, privacy=None, n_components=2, iterations=1)


def test_simulated_and_published_rows_are_open_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    for name in ("bundled:iris", "generated:60x2x2x0"):
        table = dp.load(name)
        part, _ = table.split(0.5, seed=0)
        assert dp.fit("gmm", part.neighbour(0, "replace_one"), privacy=None, n_components=2)


@pytest.mark.parametrize("model", ["gmm", "kmeans", "fa"])
def test_a_grid_is_locked_without_a_seed_too(
    monkeypatch: pytest.MonkeyPatch, sealed: PrivateTable, model: str
) -> None:
    """Two budgets share their noise, so their difference is the exact sum; draws average it out."""
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    budgets = (BUDGET, dp.Privacy(epsilon=2.0, delta=1e-5))
    words = {"n_components": 1, "iterations": 1}
    with pytest.raises(WallError, match="locked"):
        fit_grid(model, sealed, privacy=budgets, **words)
    with pytest.raises(WallError, match="locked"):
        fit_grid(model, sealed, privacy=(BUDGET,), draws=(0, 1), **words)
    assert not fit_grid(model, sealed, privacy=(BUDGET,), **words).guarantee().rehearsal
