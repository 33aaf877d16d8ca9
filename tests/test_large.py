"""Tables that are read in blocks: the same fit as in memory, in little memory, or one refusal."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording

import dpcore as dp
from dpcore.bench import BENCHES
from dpcore.bench.large import BesideNumPy, InBlocks, run_alone
from dpcore.bench.measure import peak_mib
from dpcore.cli import main
from dpcore.datasets import blocks
from dpcore.datasets.blocks import ParquetPart, is_for_blocks, parted, parts_of
from dpcore.datasets.parts import write_parts
from dpcore.errors import InputError, WallError
from dpcore.fitting.api import fit_grid
from dpcore.releases.api import release
from dpcore.releases.ledger import Amount
from dpcore.schema import Column, Schema
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.data.partitions import OneByOne, PartedTable, Partition
from dpcore.wall.table import PrivateTable

BUDGETS = {
    "plain": None,
    "replace_one": dp.Privacy(epsilon=1.0, delta=1e-5),
    "add_remove": dp.Privacy(epsilon=1.0, delta=1e-5, adjacency="add_remove"),
}
SMALL = 900  # numbers of a block, so that small tables have many


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_rows_of_block", lambda columns: SMALL // columns)
    monkeypatch.setattr(blocks, "PART_NUMBERS", 4 * SMALL)


def rows_in_groups(count: int = 4000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    centres = rng.uniform(20, 80, (3, 3))
    cells = centres[rng.integers(3, size=count)] + 6 * rng.standard_normal((count, 3))
    return pd.DataFrame(np.clip(cells, 0, 100), columns=["x1", "x2", "x3"])


def box(columns: int = 3) -> Schema:
    return Schema.from_bounds({f"x{i + 1}": (0.0, 100.0) for i in range(columns)})


def write(frame: pd.DataFrame, folder: Path, kinds: Sequence[str] = ("parquet",)) -> Path:
    """The rows in as many files as kinds, in order."""
    folder.mkdir()
    edges = np.linspace(0, len(frame), len(kinds) + 1).astype(int)
    for number, (kind, first, last) in enumerate(zip(kinds, edges, edges[1:], strict=False)):
        part, path = frame.iloc[first:last], folder / f"part-{number}.{kind}"
        if kind == "parquet":
            part.to_parquet(path, row_group_size=700, index=False)
        elif kind == "npz":
            rows = np.ascontiguousarray(part.to_numpy())
            np.savez_compressed(path, X=rows, feature_names=list(part.columns))
        else:
            part.to_csv(path, sep="\t" if kind.startswith("tsv") else ",", index=False)
    return folder


def numbers(fit: Any) -> dict[str, np.ndarray]:
    found = {name: np.asarray(value) for name, value in fit.parameters.as_dict().items()}
    return {name: value for name, value in found.items() if value.dtype.kind in "fi"}


def assert_same(fit: Any, other: Any, tolerance: float = 1e-9) -> None:
    assert fit.ledger.as_list() == other.ledger.as_list()
    assert fit.guarantee == other.guarantee
    for name, value in numbers(fit).items():
        np.testing.assert_allclose(value, numbers(other)[name], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("model", ["gmm", "kmeans", "fa"])
def test_a_fit_in_blocks_is_the_fit_in_memory(model: str, budget: str, tmp_path: Path) -> None:
    frame = rows_in_groups()
    folder = write(frame, tmp_path / "rows", ["parquet", "parquet", "csv"])
    words = {"privacy": BUDGETS[budget], "seed": 5, "n_components": 2, "iterations": 4}
    stored = dp.load(folder, schema=box())
    assert isinstance(stored, PartedTable)
    assert_same(
        dp.fit(model, stored, **words), dp.fit(model, dp.load(frame, schema=box()), **words)
    )


@pytest.mark.parametrize("budget", BUDGETS)
def test_narrower_limits_are_found_in_blocks(budget: str, tmp_path: Path) -> None:
    """To the last bit; a missing or infinite cell is in no bin, and a column of yes or no has
    none."""
    frame = rows_in_groups()
    frame.loc[1000:2500, "x2"] = np.nan
    frame.loc[3999, "x1"] = np.inf
    frame["yes"] = np.where(frame["x1"] > 50, "yes", "no")
    far = Schema.from_bounds({f"x{i + 1}": (0.0, 10_000.0) for i in range(3)})
    columns = (*far.columns, Column("yes", type="binary", categories=("no", "yes")))
    schema = Schema(columns, id=None)
    words: dict[str, Any] = {"privacy": BUDGETS[budget], "seed": 5}
    inside = dp.fit("limits", dp.load(frame, schema=schema), **words)
    folder = write(frame, tmp_path / "rows", ["parquet", "parquet", "csv"])
    assert_same(dp.fit("limits", dp.load(folder, schema=schema), **words), inside, 0.0)
    assert max(inside.parameters.upper[:3]) < 1000.0


@pytest.mark.parametrize("kind", ["parquet", "npz", "csv", "tsv", "csv.gz"])
def test_every_kind_of_file_is_read_in_blocks(kind: str, tmp_path: Path) -> None:
    frame = rows_in_groups(1500)
    folder = write(frame, tmp_path / "rows", [kind])
    (tmp_path / "rows.toml").write_text(box().to_toml(), encoding="utf-8")
    file = next(folder.iterdir())
    words = {"privacy": BUDGETS["replace_one"], "seed": 1, "iterations": 2}
    inside = dp.fit("gmm", dp.load(file, schema=box()), **words)
    for table in (dp.load(folder), dp.load(file, schema=box(), out_of_core=True)):
        assert_same(dp.fit("gmm", table, **words), inside)
    parts = parts_of(file)
    assert sum(len(frame) for part in parts for frame in part.blocks(box())) == 1500
    assert max(len(frame) for part in parts for frame in part.blocks(box())) <= SMALL // 3
    assert (len(parts) > 1) == (kind == "parquet")


def test_names_of_an_archive_are_read_in_blocks_as_in_memory(tmp_path: Path) -> None:
    """Bytes are names, numbers are none."""
    path = tmp_path / "t.npz"
    np.savez(path, X=np.ones((2, 2)), feature_names=np.array([b"a", b"b"]))
    (part,) = parts_of(path)
    assert [list(frame.columns) for frame in part.blocks(box(2))] == [["a", "b"]]
    np.savez(path, X=np.ones((2, 2)), feature_names=np.array([1, 2]))
    with pytest.raises(InputError, match="one name per column of X"):
        parts_of(path)


@pytest.mark.parametrize("structure", ["full", "diag", "spherical"])
def test_a_grid_of_runs_in_blocks_is_the_grid_in_memory(structure: str, tmp_path: Path) -> None:
    """Every run has its own frame, and rows are seen from a shared one."""
    frame = rows_in_groups(2000)
    budgets = [dp.Privacy(epsilon=e, delta=1e-5) for e in (0.5, 2.0)]
    words: dict[str, Any] = {"privacy": budgets, "draws": (0, 1), "seed": 2, "iterations": 3}
    words |= {"covariance": structure, "n_components": 2}
    stored = fit_grid("gmm", dp.load(write(frame, tmp_path / "r"), schema=box()), **words)
    inside = fit_grid("gmm", dp.load(frame, schema=box()), **words)
    for budget in (0, 1):
        for draw in (0, 1):
            assert_same(stored.fit(budget, draw), inside.fit(budget, draw))


def test_what_a_cell_becomes_does_not_depend_on_its_block(tmp_path: Path) -> None:
    """Missing, infinite and far cells and categories, all in the last block."""
    frame = rows_in_groups(1200)
    frame["where"] = np.where(np.arange(1200) < 1100, "north", "south")
    frame.loc[1190:1192, "x1"] = [np.nan, 1e300, -1e300]
    frame.loc[1193, "where"] = None
    where = Column("where", type="category", categories=("north", "south"))
    schema = Schema((*box().columns, where))
    words = {"privacy": BUDGETS["replace_one"], "seed": 0, "iterations": 2}
    inside = dp.fit("gmm", dp.load(frame, schema=schema), **words)
    for kind in ("parquet", "csv"):
        table = dp.load(write(frame, tmp_path / kind, [kind] * 2), schema=schema)
        assert_same(dp.fit("gmm", table, **words), inside)


@pytest.mark.parametrize("at", [0, 600, 1199])
@pytest.mark.parametrize(
    ("column", "cell", "found"),
    [
        ("x2", np.nan, "x2: has cells that are missing or infinite"),
        ("x1", 100.1, "x1: has cells outside its bounds"),
        ("x3", None, None),
    ],
)
def test_without_privacy_the_same_cells_are_refused(
    column: str, cell: float | None, found: str | None, at: int, tmp_path: Path
) -> None:
    """A column that is constant in every block, but not over all, is fine."""
    frame = rows_in_groups(1200)
    frame["x3"] = np.repeat([10.0, 20.0, 30.0, 40.0], 300)
    if cell is not None:
        frame.loc[at, column] = cell
    tables = dp.load(write(frame, tmp_path / "r"), schema=box()), dp.load(frame, schema=box())
    for table in tables:
        if found is None:
            dp.fit("kmeans", table, privacy=None, iterations=1)
        else:
            with pytest.raises(InputError, match=found):
                dp.fit("kmeans", table, privacy=None, iterations=1)


def test_constant_columns_and_rows_outside_a_ball_are_refused_over_all_blocks(
    tmp_path: Path,
) -> None:
    frame = rows_in_groups(900)
    frame.loc[0, "x1"] = 1000.0  # this row alone lies outside
    ball = dp.load(write(frame, tmp_path / "b"), schema=Schema.ball_of(["x1", "x2"], None, 160.0))
    with pytest.raises(InputError, match="norm bound: rows lie outside the ball"):
        dp.fit("gmm", ball, privacy=None, iterations=1)
    frame.loc[0, "x1"] = 50.0
    frame["x3"] = 7.0
    table = dp.load(write(frame, tmp_path / "c"), schema=box())
    with pytest.raises(InputError, match="x3: is constant"):
        dp.fit("gmm", table, privacy=None, iterations=1)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_text_in_the_last_block_of_a_number_column_is_refused_before_any_sum(
    kind: str, tmp_path: Path
) -> None:
    frame = rows_in_groups(1200).astype(object)
    frame.loc[1199, "x2"] = "secret"
    frame = frame.astype({"x2": str}) if kind == "parquet" else frame
    table = dp.load(write(frame, tmp_path / "r", [kind]), schema=box())
    with pytest.raises(InputError) as refusal:
        dp.fit("gmm", table, privacy=BUDGETS["replace_one"])
    assert "x2" in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_columns_that_are_no_feature_are_not_read(tmp_path: Path) -> None:
    frame = rows_in_groups(600)
    frame["note"] = "private"
    part = parts_of(next(write(frame, tmp_path / "r").iterdir()))[0]
    assert list(next(part.blocks(box())).columns) == ["x1", "x2", "x3"]


def test_rows_stay_sealed(tmp_path: Path) -> None:
    table = dp.load(write(rows_in_groups(600), tmp_path / "r"), schema=box())
    assert repr(table) == "PrivateTable(sealed)"
    with pytest.raises(WallError):
        pickle.dumps(table)
    for ask in (
        lambda: custodian_rows(table),
        lambda: table.split(0.1, 0),
        lambda: dp.fit("mean", table, privacy=BUDGETS["replace_one"]),
        lambda: dp.fit("sbn", table, privacy=BUDGETS["replace_one"]),
    ):
        with pytest.raises(InputError, match="read in blocks"):
            ask()


class Unreliable(OneByOne):
    """An engine that has each part summed again after some others, brings both answers, in no
    order, and changes what it brings the second time."""

    def run_parts(
        self, task: Callable[..., Any], parts: Sequence[Partition], on_rows: Any
    ) -> Generator[tuple[int, Any], None, None]:
        for number in reversed(range(len(parts))):
            yield number, task(parts[number], on_rows)
            yield number, task(parts[number], on_rows)
            yield len(parts) - 1, task(parts[number], on_rows)  # under another's number


class Forgetful(OneByOne):
    """An engine that loses a part."""

    def run_parts(
        self, task: Callable[..., Any], parts: Sequence[Partition], on_rows: Any
    ) -> Generator[tuple[int, Any], None, None]:
        yield from super().run_parts(task, parts[:-1], on_rows)


@pytest.mark.merge
def test_a_part_that_is_summed_twice_counts_once(tmp_path: Path) -> None:
    folder = write(rows_in_groups(), tmp_path / "rows", ["parquet", "csv", "npz"])
    words: dict[str, Any] = {"privacy": BUDGETS["replace_one"], "seed": 3, "iterations": 2}
    words["n_components"] = 2
    for model in ("gmm", "kmeans", "fa"):
        honest = dp.fit(model, parted(folder, box()), **words)
        again = dp.fit(model, parted(folder, box(), engine=Unreliable()), **words)
        assert_same(again, honest, 0.0)


def test_a_part_that_is_lost_leaves_no_sum(tmp_path: Path) -> None:
    table = parted(write(rows_in_groups(), tmp_path / "rows"), box(), engine=Forgetful())
    with pytest.raises(WallError, match="gave no sum"):
        dp.fit("gmm", table, privacy=BUDGETS["replace_one"])


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    folder = write(rows_in_groups(600), tmp_path / "rows")
    (folder / "again.parquet").symlink_to(folder / "part-0.parquet")
    with pytest.raises(InputError, match="twice"):
        dp.load(folder, schema=box())


@pytest.mark.parametrize("name", ["year=2026", "_delta_log", "_temporary", "part-1.parquet"])
def test_a_folder_inside_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    folder = write(rows_in_groups(600), tmp_path / "rows")
    (folder / ".ipynb_checkpoints").mkdir()
    dp.load(folder, schema=box())
    (folder / name).mkdir()
    with pytest.raises(InputError, match="it contains another folder"):
        dp.load(folder, schema=box())


@pytest.mark.parametrize("here", [".", ".deeper/.."])
def test_the_folder_in_which_one_is_has_a_schema_beside_it(
    here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(rows_in_groups(600), tmp_path / "rows")
    (tmp_path / "rows.toml").write_text(box().to_toml())
    (folder / ".deeper").mkdir()
    monkeypatch.chdir(folder)
    table = dp.load(here)
    assert table.schema.features == box().features
    (folder / "year=2026").mkdir()
    with pytest.raises(InputError, match=r"^rows: it contains another folder"):
        dp.load(here)


def test_a_file_that_changes_between_two_passes_is_refused(tmp_path: Path) -> None:
    file = next(write(rows_in_groups(900), tmp_path / "rows").iterdir())
    passes = 0

    def spoil(share: float) -> None:
        nonlocal passes
        passes += share >= 1.0
        if passes == 2 and share >= 1.0:
            rows_in_groups(901).to_parquet(file)

    table = parted(file, box(), on_share=spoil)
    with pytest.raises(InputError, match=wording.FILE_CHANGED):
        dp.fit("gmm", table, privacy=BUDGETS["replace_one"])


def test_a_file_that_changes_in_the_middle_of_the_last_pass_is_refused(tmp_path: Path) -> None:
    """Nothing reads it again: a fit had summed rows of two tables."""
    file = next(write(rows_in_groups(), tmp_path / "rows", ["csv"]).iterdir())
    other = next(write(rows_in_groups()[::-1], tmp_path / "other", ["csv"]).iterdir())
    shares: list[float] = []
    words: dict[str, Any] = {"privacy": BUDGETS["replace_one"], "n_components": 3}
    dp.fit("kmeans", parted(file, box(), on_share=shares.append), **words)
    last = len(shares) - 1 - next(n for n, share in enumerate(shares[-2::-1]) if share >= 1.0)

    def spoil(share: float) -> None:
        shares.append(share)
        if len(shares) == last + 1:
            with file.open("r+b") as there:
                there.write(other.read_bytes())

    shares = []
    table = parted(file, box(), on_share=spoil)
    with pytest.raises(InputError, match=wording.FILE_CHANGED):
        dp.fit("kmeans", table, **words)


class Shrinking:
    """A part whose rows are fewer at every pass."""

    identity = "shrinking"

    def __init__(self) -> None:
        self.frame = rows_in_groups(600)

    def blocks(self, schema: Schema) -> Iterator[pd.DataFrame]:
        self.frame = self.frame.iloc[:-1]
        yield self.frame


def test_the_number_of_rows_is_that_of_the_first_pass() -> None:
    table = PartedTable.seal_parts([Shrinking()], box())
    with pytest.raises(InputError, match=wording.FILE_CHANGED):
        dp.fit("gmm", table, privacy=BUDGETS["replace_one"])


def test_a_part_without_rows_adds_nothing(tmp_path: Path) -> None:
    frame = rows_in_groups(900)
    folder = write(frame, tmp_path / "rows")
    frame.iloc[:0].to_parquet(folder / "empty.parquet")
    words: dict[str, Any] = {"privacy": BUDGETS["replace_one"], "seed": 3, "iterations": 2}
    words["n_components"] = 2
    for model in ("gmm", "kmeans", "fa"):
        inside = dp.fit(model, dp.load(frame, schema=box()), **words)
        assert_same(dp.fit(model, dp.load(folder, schema=box()), **words), inside)


def test_a_fit_that_is_stopped_spends_nothing_and_can_be_made_again(tmp_path: Path) -> None:
    folder, book = write(rows_in_groups(), tmp_path / "rows"), tmp_path / "ledger.sqlite"
    dp.BudgetLedger.create(book, Amount(2.0, 1e-4))
    before = book.read_bytes()
    passes = 0

    def stop(share: float) -> None:
        nonlocal passes
        passes += share >= 1.0
        if passes == 2:
            raise KeyboardInterrupt

    asked = dp.Privacy(epsilon=1.0, delta=1e-6)
    words: dict[str, Any] = {"privacy": asked, "ledger": book, "n_components": 2}
    with pytest.raises(KeyboardInterrupt):
        release("gmm", parted(folder, box(), on_share=stop), out=tmp_path / "out", **words)
    assert book.read_bytes() == before
    assert not (tmp_path / "out").exists()
    done = release("gmm", parted(folder, box()), out=tmp_path / "out", **words)
    assert done.fit.guarantee.epsilon is not None
    assert dp.BudgetLedger(book).state().spent_amount.epsilon > 0.0


def test_progress_grows_to_1_in_every_pass(tmp_path: Path) -> None:
    shares: list[float] = []
    table = parted(write(rows_in_groups(), tmp_path / "r"), box(), on_share=shares.append)
    dp.fit("gmm", table, privacy=BUDGETS["replace_one"], iterations=2)
    ends = [number for number, share in enumerate(shares) if share == 1.0]
    assert len(ends) == 1 + 4 + 2  # look, all rows, iterations
    for first, last in zip([0, *(end + 1 for end in ends)], ends, strict=False):
        assert np.all(np.diff(shares[first : last + 1]) > 0)
    assert len(shares) > 3 * len(ends)


def test_which_sources_are_read_in_blocks_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(rows_in_groups(300), tmp_path / "rows")
    file = next(folder.iterdir())
    assert is_for_blocks(folder)
    assert not is_for_blocks(file)
    assert not is_for_blocks(tmp_path)  # no table in it
    assert type(dp.load(file, schema=box())) is PrivateTable
    monkeypatch.setattr(blocks, "LARGEST_IN_MEMORY", 10)
    assert type(dp.load(file, schema=box())) is PartedTable
    assert type(dp.load(file, schema=box(), out_of_core=False)) is PrivateTable
    with pytest.raises(InputError, match="already in memory"):
        dp.load(rows_in_groups(5), schema=box(), out_of_core=True)


@pytest.mark.parametrize("kind", ["parquet", "npz", "csv"])
def test_the_size_of_a_file_refuses_no_model(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells the number of rows, which add_remove keeps secret; who asks for blocks is refused
    whatever the size."""
    file = next(write(rows_in_groups(90), tmp_path / kind, [kind]).iterdir())
    words: dict[str, Any] = {"privacy": BUDGETS["add_remove"], "seed": 0, "rows": 90}
    small = dp.fit("mean", dp.load(file, schema=box()), **words)
    monkeypatch.setattr(blocks, "LARGEST_IN_MEMORY", 10)
    assert_same(dp.fit("mean", dp.load(file, schema=box()), **words), small, tolerance=0.0)
    assert main(["fit", "mean", str(file), "--norm-bound", "200", "--epsilon", "1", "--delta",
                 "1e-5", "--adjacency", "add_remove", "--rows", "90", "--json"]) == 0  # fmt: skip
    for size in (10, 1 << 30):
        monkeypatch.setattr(blocks, "LARGEST_IN_MEMORY", size)
        with pytest.raises(InputError, match=wording.NOT_IN_BLOCKS):
            dp.fit("mean", dp.load(file, schema=box(), out_of_core=True), **words)


@pytest.mark.parametrize("equal", [False, True])
def test_the_size_of_a_file_refuses_no_model_of_persons(
    equal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ids the number of rows is private under replace_one, too."""
    rows = rows_in_groups(90)
    rows["yes"] = (rows["x1"] > 50).astype(int)
    rows["who"] = [f"p{place % 40}" for place in range(90)]
    file = tmp_path / "rows.csv"
    rows.to_csv(file, index=False)
    for role, model in (("feature", "mean"), ("target", "logistic"), ("label", "gmm-release")):
        kind = {"type": "binary"} if role != "feature" else {"lower": 0, "upper": 1}
        columns = (*box().columns, Column("yes", role=role, **kind), Column("who", "id", "text"))
        schema = Schema(columns, rows_per_person=2, equal_weight=equal)
        words: dict[str, Any] = {"privacy": BUDGETS["replace_one"], "seed": 0}
        if model != "mean" and not equal:
            continue  # refused whatever the size
        monkeypatch.setattr(blocks, "LARGEST_IN_MEMORY", 1 << 30)
        small = dp.fit(model, dp.load(file, schema=schema), **words)
        monkeypatch.setattr(blocks, "LARGEST_IN_MEMORY", 10)
        table = dp.load(file, schema=schema)
        assert type(table) is PartedTable
        assert_same(dp.fit(model, table, **words), small, tolerance=0.0)
        with pytest.raises(InputError, match=wording.NOT_IN_BLOCKS):
            dp.fit(model, dp.load(file, schema=schema, out_of_core=True), **words)


def test_a_large_file_that_changes_before_all_of_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which rows of a person count was found in the rows as they were."""
    file = next(write(rows_in_groups(90), tmp_path / "rows", ["csv"]).iterdir())
    monkeypatch.setattr(blocks, "LARGEST_IN_MEMORY", 10)
    table = dp.load(file, schema=box())
    rows_in_groups(90)[::-1].to_csv(file, index=False)
    with pytest.raises(InputError, match=wording.FILE_CHANGED):
        _ = table._frame


def test_an_archive_that_cannot_be_read_in_blocks_is_read_whatever_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez(tmp_path / "d.npz", X=np.asfortranarray(np.ones((3, 2))))
    for size in (10, 1 << 30):
        monkeypatch.setattr(blocks, "LARGEST_IN_MEMORY", size)
        assert type(dp.load(tmp_path / "d.npz", schema=box(2))) is PrivateTable


@pytest.mark.parametrize("shape", [(4, 1, 3), (4, 3, 1), (1, 4, 3)])
def test_pictures_that_are_stored_column_by_column_are_never_mixed(
    shape: tuple[int, ...], tmp_path: Path
) -> None:
    """Of pictures one pixel high, a row held pixels of several persons."""
    np.savez(tmp_path / "d.npz", X=np.asfortranarray(np.arange(12.0).reshape(shape)))
    with pytest.raises(InputError, match="column by column"):
        parts_of(tmp_path / "d.npz")


@pytest.mark.parametrize("shape", [(4, 1), (1, 4), (4, 1, 1)])
def test_what_both_orders_store_alike_is_read_in_blocks(
    shape: tuple[int, ...], tmp_path: Path
) -> None:
    """NumPy says of such arrays that they are stored row by row; other programs may not."""
    raw = tmp_path / "X.npy"
    numbers = np.arange(4.0)
    with raw.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": True, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(numbers.tobytes())
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as archive:
        archive.write(raw, raw.name)
    (part,) = parts_of(tmp_path / "d.npz")
    (frame,) = part.blocks(box())
    assert frame.to_numpy().tolist() == numbers.reshape(shape[0], -1).tolist()


def test_broken_files_are_one_sentence(tmp_path: Path) -> None:
    for name, content in {
        "a.parquet": b"PAR1",
        "b.npz": b"PK\x03\x04",
        "c.csv": b"x1,x2\n1,2\n1,2,3\n",
    }.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError, match=name):
            dp.load(path, schema=box(2), out_of_core=True)
    np.savez(tmp_path / "d.npz", X=np.asfortranarray(np.ones((3, 2))))
    with pytest.raises(InputError, match="column by column"):
        dp.load(tmp_path / "d.npz", schema=box(2), out_of_core=True)


def test_the_command_line_fits_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(rows_in_groups(1500), tmp_path / "rows")
    (tmp_path / "rows.toml").write_text(box().to_toml(), encoding="utf-8")
    file = str(next(folder.iterdir()))
    words = ["--epsilon", "1", "--delta", "1e-5", "--seed", "1", "--iterations", "2", "--json"]
    outputs = []
    for source in (
        [str(folder)],
        [file, "--schema", str(tmp_path / "rows.toml"), "--out-of-core"],
        [file, "--schema", str(tmp_path / "rows.toml")],
    ):
        assert main(["fit", "kmeans", *source, *words]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] == outputs[2]
    ball = ["--norm-bound", "200", "--columns", "x1,x3"]
    assert main(["fit", "gmm", str(folder), *ball, *words]) == 0
    for refused in (["--infer-schema"], ["--norm-bound", "data"], ["--pool", "2"]):
        assert main(["fit", "gmm", str(folder), *refused, *words]) == 2
        assert "read in blocks" in capsys.readouterr().err


def test_generated_parts_begin_alike_whatever_their_number(tmp_path: Path) -> None:
    one = write_parts(tmp_path / "one", 1500, 2, part_rows=1000)
    write_parts(tmp_path / "two", 2500, 2, part_rows=1000)
    first = [pd.read_parquet(tmp_path / name / "part-00000.parquet") for name in ("one", "two")]
    pd.testing.assert_frame_equal(*first)
    assert dp.load(tmp_path / "one").schema == one
    with pytest.raises(InputError, match="already exists"):
        write_parts(tmp_path / "one", 10, 2)


@pytest.mark.merge
def test_the_bench_is_registered_and_its_rows_keep_the_contract() -> None:
    assert BENCHES["large"] == "dpcore.bench.large"
    row = InBlocks(20_000, columns=2, repetitions=1)()
    assert {"case", "per", "ours_seconds", "peer_seconds", "ratio", "peak_mib"} <= row.keys()
    assert "dpcore" in row["peer"]
    assert abs(row["quality_ours"] - row["quality_peer"]) < 0.1
    row = BesideNumPy(20_000, columns=2, repetitions=1)()
    assert row["peer"].startswith("numpy")
    assert abs(row["quality_ours"] - row["quality_peer"]) < 0.5


@pytest.mark.full
def test_memory_does_not_grow_with_rows(tmp_path: Path) -> None:

    peaks = []
    for rows in (500_000, 4_000_000):
        write_parts(tmp_path / f"n{rows}", rows, 10)
        peaks.append(peak_mib(partial(run_alone, str(tmp_path / f"n{rows}"), "gmm", 1)))
    assert peaks[1] < peaks[0] + 100.0
    assert peaks[1] < 600.0  # the rows alone are 305 MiB


def test_a_part_is_some_row_groups(tmp_path: Path) -> None:
    parts = parts_of(next(write(rows_in_groups(4000), tmp_path / "r").iterdir()))
    assert all(isinstance(part, ParquetPart) for part in parts)
    groups = [group for part in parts for group in part.groups]  # type: ignore[attr-defined]
    assert groups == list(range(6))
    assert len(parts) > 1
