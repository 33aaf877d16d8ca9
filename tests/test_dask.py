"""Fits over a Dask cluster: the same numbers, noise drawn once here, every part counted once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import split_lanes
from test_large import assert_same

import dpcore as dp
from dpcore.cli import main
from dpcore.datasets.collections import CollectionPart, is_collection
from dpcore.errors import InputError
from dpcore.schema import Schema
from dpcore.wall.data.dask_engine import _answer
from dpcore.wall.data.partitions import PartedTable
from dpcore.wall.kernels.threads import cores, most_threads
from dpcore.wall.noise import NoiseSource

PRIVATE = dp.Privacy(epsilon=1.0, delta=1e-5)
WORDS: dict[str, Any] = {"privacy": PRIVATE, "seed": 4, "n_components": 2, "iterations": 3}
PARTS = 5
EACH = 400


def rows_from(before: Any = None) -> Any:
    """What makes partition ``number`` on a worker, which need not know this file; ``before`` is
    called there with the number first."""
    each = EACH

    def rows(number: int) -> pd.DataFrame:
        import numpy
        import pandas

        if before is not None:
            before(number)
        rng = numpy.random.default_rng([7, number])
        centres = numpy.array([[20.0, 30.0, 70.0], [70.0, 60.0, 20.0]])
        cells = centres[rng.integers(2, size=each)] + 7 * rng.standard_normal((each, 3))
        return pandas.DataFrame(numpy.clip(cells, 0, 100), columns=["x1", "x2", "x3"])

    return rows


rows_of_part = rows_from()


def all_rows() -> pd.DataFrame:
    return pd.concat([rows_of_part(number) for number in range(PARTS)], ignore_index=True)


SCHEMA = Schema.from_bounds({f"x{i}": (0.0, 100.0) for i in (1, 2, 3)})


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers, each a process of one thread. The scheduler seldom misses that one has died, and
    then waits for its heartbeat: up to twice this time, by default ten minutes."""
    import dask
    import distributed

    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "30s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "rows"
    home.mkdir()
    for number in range(PARTS):
        rows_of_part(number).to_parquet(home / f"part-{number}.parquet", index=False)
    return home


def test_a_fit_on_a_thread_of_this_process_is_the_fit_here(folder: Path) -> None:
    import distributed

    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    ):
        there = dp.fit("kmeans", dp.load(folder, schema=SCHEMA, engine="dask"), **WORDS)
        rows_of_part(4).assign(x1=1000.0).to_parquet(folder / "part-5.parquet", index=False)
        outside = dp.load(folder, schema=SCHEMA, engine="dask")
        with pytest.raises(InputError, match="x1: has cells outside its bounds"):
            dp.fit("kmeans", outside, privacy=None, n_components=2)
        (folder / "part-5.parquet").unlink()
    assert_same(there, dp.fit("kmeans", dp.load(folder, schema=SCHEMA), **WORDS), 0.0)


@split_lanes("budget", ["private", "plain", "add_remove"], merge=1)
@pytest.mark.parametrize("model", ["gmm", "kmeans", "fa"])
def test_a_fit_on_workers_is_the_fit_here(
    client: Any, folder: Path, model: str, budget: str
) -> None:
    asked = {
        "private": PRIVATE,
        "plain": None,
        "add_remove": dp.Privacy(epsilon=1.0, delta=1e-5, adjacency="add_remove"),
    }[budget]
    words = {**WORDS, "privacy": asked}
    there = dp.fit(model, dp.load(folder, schema=SCHEMA, engine="dask"), **words)
    assert_same(there, dp.fit(model, dp.load(folder, schema=SCHEMA), **words), 0.0)
    assert_same(there, dp.fit(model, dp.load(all_rows(), schema=SCHEMA), **words))


def test_a_worker_reads_and_sums_on_one_thread() -> None:
    """Otherwise two workers of one thread would ask for four on two cores."""
    seen = set()

    class Part:
        identity = "rows"

        def blocks(self, schema: Schema) -> Iterator[pd.DataFrame]:
            for number in range(2):
                seen.add((get_ident(), most_threads()))
                yield rows_of_part(number)

    class Here:
        def run_parts(self, task: Any, parts: Any, on_rows: Any) -> Any:
            for number, part in enumerate(parts):
                yield number, _answer(task, part)

    table = PartedTable.seal_parts([Part()], SCHEMA, engine=Here())
    there = dp.fit("gmm", table, **WORDS)
    assert seen == {(get_ident(), 1)}
    assert most_threads() == cores()
    rows = pd.concat([rows_of_part(number) for number in range(2)], ignore_index=True)
    assert_same(there, dp.fit("gmm", dp.load(rows, schema=SCHEMA), **WORDS))


@pytest.mark.merge
@pytest.mark.parametrize("kind", ["array", "data frame", "bag"])
def test_every_collection_is_a_table(client: Any, kind: str) -> None:
    frames = [rows_of_part(number) for number in range(PARTS)]
    if kind == "array":
        import dask.array

        rows = np.concatenate([frame.to_numpy() for frame in frames])
        source = dask.array.from_array(rows, chunks=(EACH, 2))
    elif kind == "data frame":
        import dask.dataframe

        source = dask.dataframe.from_map(rows_from(), range(PARTS))
    else:
        import dask.bag

        records = [row for frame in frames for row in frame.to_dict("records")]
        source = dask.bag.from_sequence(records, npartitions=PARTS)
    assert is_collection(source)
    there = dp.fit("gmm", dp.load(source, schema=SCHEMA), **WORDS)
    assert_same(there, dp.fit("gmm", dp.load(all_rows(), schema=SCHEMA), **WORDS))


def parts_with(before: Any) -> Any:
    import dask.dataframe

    return dask.dataframe.from_map(rows_from(before), range(PARTS), meta=rows_of_part(0).iloc[:0])


def visited(home: Path) -> Any:
    """Counts visits to part 2 by files; gives which visit this is."""
    place = str(home)

    def visit(number: int) -> int:
        import os

        if number != 2:
            return 0
        for count in range(1, 1000):
            try:
                os.close(os.open(f"{place}/{count}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            return count
        return 0

    return visit


@pytest.mark.merge
def test_a_worker_killed_in_the_middle_changes_nothing(client: Any, tmp_path: Path) -> None:
    """In the third pass the worker that reads part 2 dies, without a word."""
    visit = visited(tmp_path)

    def die(number: int) -> None:
        import os

        if visit(number) == 3:
            os._exit(1)

    there = dp.fit("gmm", dp.load(parts_with(die), schema=SCHEMA), **WORDS)
    passes = 1 + 1 + WORDS["iterations"]
    assert len(os.listdir(tmp_path)) > passes  # it was read once more than there are passes
    assert_same(there, dp.fit("gmm", dp.load(all_rows(), schema=SCHEMA), **WORDS))


@pytest.mark.merge
def test_a_part_that_is_tried_again_counts_once(client: Any, tmp_path: Path) -> None:
    """In every pass part 2 fails at first, and the scheduler tries again."""
    visit = visited(tmp_path)

    def stumble(number: int) -> None:
        if visit(number) % 2:
            raise OSError("the disk is busy")

    there = dp.fit("kmeans", dp.load(parts_with(stumble), schema=SCHEMA), **WORDS)
    assert len(os.listdir(tmp_path)) == 2 * (1 + len(there.ledger))  # a look, and each release
    assert_same(there, dp.fit("kmeans", dp.load(all_rows(), schema=SCHEMA), **WORDS))


@pytest.mark.merge
def test_noise_is_drawn_here_and_workers_send_exact_sums_of_parts(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One draw for each block of each release, however many parts there are."""
    draws = []
    normal = NoiseSource.normal

    def counted(self: NoiseSource, shape: tuple[int, ...]) -> np.ndarray:
        draws.append(shape)
        return normal(self, shape)

    monkeypatch.setattr(NoiseSource, "normal", counted)
    there = dp.fit("fa", dp.load(folder, schema=SCHEMA, engine="dask"), **WORDS)
    releases = 1, 2, 1, 3, 1, 3  # distances; counts, sums; distances; then twice, with squares
    assert len(draws) == sum(releases)
    assert len(there.ledger.as_list()) == len(releases)


@pytest.mark.merge
def test_a_refusal_on_a_worker_is_the_refusal_here(client: Any, folder: Path) -> None:
    frame = rows_of_part(4).assign(x2="some words")
    frame.to_parquet(folder / "part-4.parquet", index=False)
    messages = []
    for engine in ("dask", None):
        table = dp.load(folder, schema=SCHEMA, engine=engine, out_of_core=True)
        with pytest.raises(InputError) as refusal:
            dp.fit("gmm", table, **WORDS)
        messages.append(str(refusal.value))
    assert messages[0] == messages[1]
    assert "x2" in messages[0]


def test_what_a_log_could_print_of_a_part_holds_no_rows() -> None:
    assert repr(CollectionPart("a", rows_of_part(0))) == "CollectionPart(sealed)"


@pytest.mark.merge
def test_rows_that_are_refused_without_privacy_are_refused_over_all_workers(
    client: Any, folder: Path
) -> None:
    frame = rows_of_part(4)
    frame.loc[3, "x1"] = 1000.0
    frame.to_parquet(folder / "part-4.parquet", index=False)
    with pytest.raises(InputError, match="x1: has cells outside its bounds"):
        dp.fit("gmm", dp.load(folder, schema=SCHEMA, engine="dask"), privacy=None, n_components=2)


@pytest.mark.merge
def test_the_command_line_has_workers(
    client: Any,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr("distributed.Client", lambda *words, **_: asked.append(words) or client)
    folder.with_name("rows.toml").write_text(SCHEMA.to_toml(), encoding="utf-8")
    words = ["--epsilon", "1", "--delta", "1e-5", "--seed", "1", "--components", "2", "--json"]
    outputs = []
    for engine in ([], ["--engine", "dask", "--scheduler", client.scheduler.address]):
        assert main(["fit", "kmeans", str(folder), *words, *engine]) == 0
        outputs.append(capsys.readouterr().out)
    assert asked == [(client.scheduler.address,)]
    assert outputs[0] == outputs[1]
    assert main(["fit", "kmeans", str(folder), *words, "--engine", "spark"]) == 2
    assert "engine" in capsys.readouterr().err
