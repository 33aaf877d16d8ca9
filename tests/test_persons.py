"""Persons: of a table with an id column at most m rows of each person count; persons are protected.

The rule reads a person's rows alone; no release moves by more than its entry says where one person
has 0 to m rows that count in one table and 0 to m others in the next; what is not proved is refused
before anything is spent.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sealed_rows import session_of
from studio.persons import ROWS, visits
from support import every
from test_documentation import page
from test_wall_neighbours import COLUMNS, RECIPES, Compared, compared, hostile, people
from wording import FILE_CHANGED, NO_BOUND_FOR_SEVERAL, SEVERAL_ROWS

import dpcore as dp
from app.scenario import Scenario
from app.tables import LEAST, in_sample
from dpcore.datasets import blocks
from dpcore.datasets.blocks import parted
from dpcore.datasets.generators import stand_in
from dpcore.errors import InputError, WallError
from dpcore.evaluation.metrics import loneliest_row, metrics
from dpcore.evaluation.study import Setting, references
from dpcore.fitting.api import fit_grid
from dpcore.fitting.intervals import EARLIER, ONE_ROW_EACH
from dpcore.fitting.recipe import SEVERAL
from dpcore.models.mean.private import CLIPPED
from dpcore.privacy import Ledger
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger
from dpcore.schema import FileFormat, Schema
from dpcore.wall.custodian import custodian_count, custodian_rows, custodian_vectors
from dpcore.wall.data import FeatureRows, LabelledRows, MaskedRows
from dpcore.wall.data.persons import CountingRows, limited
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import BallVector, Parts, Vectors
from dpcore.wall.subsample import Minibatches, Sample
from dpcore.wall.table import PrivateTable

__all__ = ["compared"]  # a fixture


WHO = dp.Column("who", role="id", type="text")
NUMBERS = dp.Schema((*COLUMNS[:3], WHO), unit="patient", rows_per_person=3)
COUNTED = dp.Schema((COLUMNS[0], COLUMNS[2], WHO), rows_per_person=3)
PLAIN = dp.Schema((COLUMNS[0], COLUMNS[1], WHO), unit="patient", rows_per_person=2)
ALL_ROLES = dp.Schema(
    (*COLUMNS, dp.Column("amount", role="target", type="binary"), WHO), unit="patient"
)
PROVED: list[tuple[str, dict[str, Any]]] = [
    ("gmm", {"n_components": 2, "iterations": 2}),
    ("gmm", {"n_components": 1}),
    ("gmm", {"n_components": 2, "covariance": "diag", "iterations": 2}),
    ("kmeans", {"n_components": 3}),
    ("kmeans", {"n_components": 2, "algorithm": "dplloyd"}),
    ("kmeans", {"n_components": 2, "algorithm": "paper"}),
    ("fa", {"n_components": 1}),
    ("covariance", {}),
    ("ppca", {}),
    ("limits", {}),
    ("bernoulli", {"n_components": 2, "iterations": 2}),
    ("poisson", {"n_components": 2, "iterations": 2}),
    ("mean", {"rows": 40}),
]


def table(whose: Any, schema: Schema = PLAIN, seed: int = 0) -> pd.DataFrame:
    """One row for each id, all rows different."""
    ids = pd.Series(list(whose), dtype=object)
    rng = np.random.default_rng(seed)
    rows = {"x": rng.uniform(0.0, 10.0, len(ids)), "y": rng.uniform(-1.0, 1.0, len(ids))}
    return pd.DataFrame({"who": ids, **rows})


def counting(frame: pd.DataFrame, most: int) -> tuple[set[float], int]:
    """The rows that count, by a number that each has alone, and how many persons there are."""
    kept, persons = limited(dp.load(frame, schema=PLAIN), "who", most)
    return set(kept._frame["x"]), persons


@every("most", (1, 2, 5))
def test_which_rows_count_depends_on_a_persons_own_rows_alone(most: int) -> None:
    rng = np.random.default_rng(most)
    frame = table(rng.integers(0, 30, 200))
    found, persons = counting(frame, most)
    sizes = frame.groupby("who").size()
    assert (len(found), persons) == (int(sizes.clip(upper=most).sum()), len(sizes))
    assert counting(frame.sample(frac=1.0, random_state=1), most) == (found, persons)
    for who in sizes.index[:10]:
        own = frame[frame["who"] == who]
        alone, _ = counting(own, most)
        assert alone == found & set(own["x"])  # whoever else is there
    fewer, _ = counting(frame[frame["who"] != 3], most)
    assert fewer == found - set(frame.loc[frame["who"] == 3, "x"])


def test_a_feature_may_be_the_id(tmp_path: Path) -> None:
    frame = table(["a", "a", "b"])
    kept, persons = limited(dp.load(frame, schema=PLAIN), "x", 1)
    assert (set(kept._frame["x"]), persons) == (set(frame["x"]), 3)  # each row has its own
    file = tmp_path / "rows.csv"
    frame.assign(x=[3.0, 4.0, 3.0]).to_csv(file, index=False)
    in_blocks, persons = limited(parted(file, PLAIN), "x", 1)
    frames = [one for part in in_blocks._parts for one in part.blocks(PLAIN)]
    assert (sorted(map(float, pd.concat(frames)["x"])), persons) == ([3.0, 4.0], 2)


def test_no_kind_of_row_is_preferred_in_all_persons() -> None:
    frame = table(np.repeat(np.arange(2000), 2))
    frame["x"] = np.tile([2.0, 8.0], 2000)
    kept, _ = limited(dp.load(frame, schema=PLAIN), "who", 1)
    assert abs(kept._frame["x"].mean() - 5.0) < 0.3  # five deviations


@every(
    "ids, persons",
    [
        (["a", " a", "a ", '"a"', "a\t"], 1),
        (["a", "A", "b"], 3),
        (["1_11", "11_1", "111"], 3),  # of a site and a number: Python reads 111 in all of them
        (["20241130_000000001", "20241130_000000002"], 2),  # however long
        ([1, 1.0, "1", "01", " 1.0 ", True], 2),  # True is no number of an id
        ([np.int64(7), np.float64(7.0), "7"], 1),
        ([2**53 - 1, float(2**53 - 1), str(2**53 - 1)], 1),
        ([None, np.nan, "", " ", "NA", pd.NA, "nan"], 0),
        (["a", None, "a", None], 1),
        (["\ud800", "\ud801"], 2),  # halves of a pair of surrogates
        (["a", "a\0b", "a\0c"], 3),  # as C strings they are one
    ],
)
def test_what_an_id_means_depends_on_its_cell_alone(ids: list[Any], persons: int) -> None:
    frame = table(ids)
    assert counting(frame, 1) == (counting(frame, 1)[0], persons)
    assert len(counting(frame, 1)[0]) == persons
    mixed = pd.concat([frame, table(["other"], seed=1)], ignore_index=True)  # another column type
    assert counting(mixed, 1)[0] >= counting(frame, 1)[0]


@every("ids", [["a\0b", "a"], ["\ud800", "\ud801"]])
def test_a_person_whose_id_starts_alike_brings_no_other_row_in(ids: list[str]) -> None:
    """With pandas 3.0 both were one person, and which of their rows counted hung on the first."""
    for seed in range(10):
        frame = table(ids)
        frame["x"] = np.random.default_rng(seed).uniform(0.0, 10.0, 2)
        both, alone = counting(frame, 1)[0], counting(frame.iloc[1:].reset_index(drop=True), 1)[0]
        assert alone <= both


@every(
    "ids",
    [
        ["110101199003071234", "110101199003071235"],
        ["9e999999", "8e888888"],  # of hexadecimal digits
        [2**53, 2**53 + 1],
        [-(2.0**60), None],
        ["1701388800.123456789", "1701388800.123456788"],  # seconds since 1970
        ["7.00000000000000000001", "7"],
        ["1e-400", "1e-401"],
    ],
)
def test_two_persons_whose_ids_are_one_float_are_refused(ids: list[Any], tmp_path: Path) -> None:
    """They were one person: without the first, the rows of the second counted in their place, and
    a release of means under add_remove moved by 1.7 times what its entry stated."""
    frame, file = table(ids), tmp_path / "rows.csv"
    frame.to_csv(file, index=False)
    for rows in (dp.load(frame, schema=PLAIN), parted(file, PLAIN)):
        with pytest.raises(InputError, match=r"who: .* cannot be told apart"):
            limited(rows, "who", 1)


@every("kind", [pa.list_(pa.int64()), pa.list_(pa.struct({"at": pa.int64()})), None])
def test_lists_are_no_ids(kind: Any, tmp_path: Path) -> None:
    """The text of a long one leaves its middle out, so two persons were one."""
    numbers = [[*range(2000), 7], [*range(1000), 5, *range(1001, 2000), 7]]
    ids: list[Any] = [{"at": row} for row in numbers]
    if kind is not None:
        shaped = kind.value_type != pa.int64()
        ids = [[{"at": n} for n in row] if shaped else row for row in numbers]
    file = tmp_path / "rows.parquet"
    parquet.write_table(
        pa.table({"who": pa.array(ids, kind), "x": [0.0, 5.0], "y": [0.0] * 2}), file
    )
    for rows in (dp.load(file, schema=PLAIN), parted(file, PLAIN)):
        with pytest.raises(InputError, match=r"who: .* cannot be told apart"):
            limited(rows, "who", 1)


def test_ids_that_are_no_utf_8_are_told_apart(tmp_path: Path) -> None:
    """An id that spelled out another's bytes was that other person."""
    raw = pa.array([b"M\xfcller", b"M\xf6ller", "Müller".encode(), rb"M\xfcller"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"who": texts, "x": [0.0, 5.0, 9.0, 2.0], "y": [0.0] * 4}), file)
    frame = table(raw.to_pylist())
    for rows in (dp.load(file, schema=PLAIN), parted(file, PLAIN), dp.load(frame, schema=PLAIN)):
        assert limited(rows, "who", 1)[1] == 4


def test_an_id_is_the_same_whether_a_file_says_that_it_is_a_text(tmp_path: Path) -> None:
    """A person of whom one file held bytes and another texts was two persons."""
    for name, kind in (("a", pa.string()), ("b", pa.binary())):
        ids = pa.array(["p1", "p2"]).cast(kind)
        parquet.write_table(
            pa.table({"who": ids, "x": [0.0, 5.0], "y": [0.0] * 2}), tmp_path / f"{name}.parquet"
        )
    assert limited(dp.load(tmp_path, schema=PLAIN), "who", 1)[1] == 2
    assert counting(table([b"a", "a", b"M\xfc", b"M\xf6"]), 1)[1] == 3


def test_numbers_are_one_id_in_whatever_type_of_column_they_lie() -> None:
    frame = table([3, 1, 2, 3, 1])
    for kind in ("int64", "float64", "Int64", "str", "category", object):
        assert counting(frame.astype({"who": kind}), 1) == counting(frame, 1), kind


def test_a_row_without_an_id_moves_nothing() -> None:
    frame = table(["a", "b", "b", "c"])
    more = pd.concat([frame, table([None, "?"], seed=1)], ignore_index=True)
    assert counting(more, 2) == counting(frame, 2)


@every("kind", ["str", object, "float64"])
def test_a_row_whose_id_is_a_mark_for_a_missing_cell_is_nobodys(kind: Any) -> None:
    """All of them were one person's, of whom some counted."""
    marked = replace(PLAIN, file=FileFormat(missing_marks=("-", "-99.0")))
    ids = [1, -99, 2, -99] if kind == "float64" else ["1", "-", "2", "-99", " - "]
    frame = table(ids).astype({"who": kind})
    kept, persons = limited(dp.load(frame, schema=marked), "who", 2)
    assert (list(kept._frame["x"]), persons) == (list(frame["x"][[0, 2]]), 2)


def test_a_person_with_very_many_rows_counts_no_more_than_another() -> None:
    frame = table([*range(50), *[7] * 20_000])
    kept, persons = counting(frame, 2)
    assert (len(kept), persons) == (51, 50)


def written(frame: pd.DataFrame, folder: Path) -> Path:
    """Half of the rows as text and half in a Parquet file, where ids are fractions."""
    folder.mkdir()
    half = len(frame) // 2
    frame[:half].to_csv(folder / "a.csv", index=False)
    frame[half:].astype({"who": float}).to_parquet(folder / "b.parquet", row_group_size=40)
    return folder


def test_a_persons_rows_may_lie_in_many_blocks_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_rows_of_block", lambda columns: 37)
    frame = table(np.random.default_rng(2).integers(0, 60, 600))
    files = parted(written(frame, tmp_path / "rows"), PLAIN)
    kept, persons = limited(files, "who", 2)
    frames = [one for part in kept._parts for one in part.blocks(PLAIN)]
    found = {float(x) for one in frames for x in one["x"]}
    assert (found, persons) == counting(frame, 2)
    words: dict[str, Any] = {"privacy": dp.Privacy(noise_multiplier=1.0), "seed": 1}
    for model, more in (("gmm", {"n_components": 1}), ("kmeans", {"iterations": 1})):
        one = dp.fit(model, dp.load(frame, schema=PLAIN), **words, **more)
        other = dp.fit(model, files, **words, **more)
        assert other.guarantee == one.guarantee
        for name, value in one.parameters.as_dict().items():
            if name in ("weights", "means", "centers", "loadings"):
                np.testing.assert_allclose(other.parameters.as_dict()[name], value, rtol=1e-6)


def test_a_file_that_changes_between_two_passes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    table(range(50)).to_csv(file, index=False)
    kept, _ = limited(parted(file, PLAIN), "who", 1)
    short = type(kept._parts[0])(kept._parts[0].part, kept._parts[0].times[:-1])
    for part in (short, type(short)(short.part, np.append(kept._parts[0].times, 1))):
        with pytest.raises(InputError, match=FILE_CHANGED):
            list(part.blocks(PLAIN))


@every("most", (1, 2, 5, 7))
def test_with_equal_weight_each_persons_rows_count_as_often_as_anothers(most: int) -> None:
    frame = table(np.random.default_rng(most).integers(0, 60, 200))
    alike = replace(PLAIN, equal_weight=True)
    kept, persons = limited(dp.load(frame, schema=alike), "who", most)
    often = kept._frame.groupby("who").size()
    assert persons == len(often) == frame["who"].nunique()
    assert set(often) == {most}
    each = kept._frame.groupby(["who", "x"]).size().groupby("who")
    assert (each.max() - each.min()).max() <= 1, "a person's rows count as often as one another"
    assert (each.size() == frame.groupby("who").size().clip(upper=most)).all()
    turned = dp.load(frame[::-1].reset_index(drop=True), schema=alike)
    again = limited(turned, "who", most)[0]._frame
    order = ["who", "x"]
    assert (
        again.sort_values(order).values.tolist() == kept._frame.sort_values(order).values.tolist()
    )


def test_with_equal_weight_many_blocks_and_files_are_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_rows_of_block", lambda columns: 37)
    alike = replace(PLAIN, equal_weight=True, rows_per_person=7)
    frame = table(np.random.default_rng(2).integers(0, 60, 600))
    files = parted(written(frame, tmp_path / "rows"), alike)
    words: dict[str, Any] = {"privacy": dp.Privacy(noise_multiplier=1.0), "seed": 1}
    one = dp.fit("covariance", dp.load(frame, schema=alike), **words)
    other = dp.fit("covariance", files, **words)
    assert other.guarantee == one.guarantee
    assert (one.rows, one.persons) == (7 * 60, 60) == (other.rows, other.persons)
    np.testing.assert_allclose(other.parameters.covariance, one.parameters.covariance, rtol=1e-6)
    counting_rows = limited(files, "who", 7)[0]._parts[0].blocks(alike)
    assert max(map(len, counting_rows)) <= 37, "a block takes no more memory"
    empty: Any = SimpleNamespace(blocks=lambda schema: iter([frame[:0]]))
    assert list(CountingRows(empty, np.zeros(0, np.uint32)).blocks(alike)) == []
    many: dict[str, Any] = {"privacy": dp.Privacy(1.0, 1e-6, rows_per_person=1_001), "seed": 1}
    with pytest.raises(InputError, match=r"rows_per_person: with equal_weight .* 1,001 times"):
        dp.fit("covariance", files, **many)


def test_with_equal_weight_a_mean_is_that_of_persons_with_the_noise_of_one_row_each() -> None:
    """Nine rows in ten are of one person in ten: of all rows the mean is near 8, of persons 2.8."""
    rng = np.random.default_rng(0)
    who = np.concatenate([np.arange(900), np.repeat(np.arange(900, 1000), 81)])
    x = np.where(who < 900, 2.0, 10.0)
    frame = pd.DataFrame({"who": who, "x": x, "y": rng.uniform(-1.0, 1.0, len(who))})
    alike = replace(PLAIN, equal_weight=True, rows_per_person=81)
    exact = dp.fit("mean", dp.load(frame, schema=alike), privacy=None).parameters.mean
    assert exact[0] == pytest.approx(2.8)
    words: dict[str, Any] = {"privacy": dp.Privacy(1.0, 1e-6), "seed": 0}
    noisy = dp.fit("mean", dp.load(frame, schema=alike), **words)
    first = frame.groupby("who").head(1).drop(columns="who")
    single = dp.Schema(PLAIN.columns[:2], unit="patient")
    alone = dp.fit("mean", dp.load(first.reset_index(drop=True), schema=single), **words)
    assert (noisy.rows, noisy.persons, alone.rows) == (81_000, 1_000, 1_000)
    scales = [
        float(np.max(fit.ledger.entries[-1].noise_scale)) / fit.rows for fit in (noisy, alone)
    ]
    assert scales[0] == pytest.approx(scales[1], rel=0.05), "clipped at nearly the same place"
    assert abs(noisy.parameters.mean[0] - 2.8) < 0.5
    assert "each patient has the same weight" in " ".join(noisy.guarantee.assumptions)
    assert (
        noisy.intervals().same_rows["mean"][0, 0] < 2.8 < noisy.intervals().same_rows["mean"][0, 1]
    )


def test_with_equal_weight_no_refusal_tells_how_many_persons_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bound on rows did, to whoever asked for ever fewer of each person: refusals are free."""
    alike = replace(PLAIN, equal_weight=True)
    sealed = dp.load(table(np.arange(15)), schema=alike)

    def released(rows: int) -> dict[str, Any]:
        path = tmp_path / f"{rows}.sqlite"
        who: dict[str, Any] = {"adjacency": "add_remove", "rows_per_person": rows}
        BudgetLedger.create(path, Amount(2.0, 1e-5), unit="patient", **who)
        words: dict[str, Any] = {"privacy": dp.Privacy(1.0, 1e-6, **who), "ledger": path}
        out = tmp_path / f"out {rows}"
        return dp.release("limits", sealed, out=out, **words).dossier

    monkeypatch.setattr("dpcore.wall.session.MOST_ROWS", 100)
    assumptions = released(50)["guarantee"]["assumptions"]
    assert "the table has 1 to 1,048,576 different ids" in assumptions
    monkeypatch.setattr("dpcore.wall.session.MOST_PERSONS", 14)
    for rows in (2, 40):
        with pytest.raises(InputError, match="takes at most 14 different ids"):
            released(rows)


def test_a_mean_of_long_tails_is_clipped_for_the_noise_of_all_rows_of_a_person() -> None:
    """For that of one row, the threshold lay too far out: errors were three times as large."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(2_000), 10)
    frame = pd.DataFrame({"who": who, "x": np.clip(3.0 * rng.standard_t(2.5, 20_000), -1e3, 1e3)})
    columns = (dp.Column("x", lower=-1e3, upper=1e3), WHO)
    schema = dp.Schema(columns, rows_per_person=10, equal_weight=True)
    words: dict[str, Any] = {"tau": 45.0, "privacy": dp.Privacy(0.3, 1e-6)}
    fits = [dp.fit("mean", dp.load(frame, schema=schema), seed=s, **words) for s in range(9)]
    errors = [abs(float(fit.parameters.mean[0]) - frame["x"].mean()) for fit in fits]
    assert np.median(errors) < 0.3
    assert fits[0].ledger.entries[0].what == CLIPPED + SEVERAL
    assert fits[0].intervals().same_rows["mean"].shape == (1, 2)
    older = replace(fits[0].ledger.entries[0], what=CLIPPED)
    with pytest.raises(InputError, match=EARLIER):
        replace(fits[0], ledger=Ledger((older,))).intervals()


def test_intervals_of_means_reach_to_where_clipped_numbers_may_lie() -> None:
    """Of persons with several rows one each is sure, and for so few, numbers are clipped inside the
    limits: the mean of zeros and 2% ones lay outside its interval in 22 of 24 releases."""
    who, rng = np.repeat(np.arange(400), 5), np.random.default_rng(0)
    frame = pd.DataFrame({"who": who, "x": (rng.random(2_000) < 0.02).astype(float)})
    schema = dp.Schema((dp.Column("x", lower=0.0, upper=1.0), WHO), rows_per_person=5)
    sealed = dp.load(frame, schema=schema)
    for seed in range(12):
        fit = dp.fit("mean", sealed, privacy=dp.Privacy(0.5, 1e-6), seed=seed)
        low, high = fit.intervals().same_rows["mean"][0]
        assert low <= frame["x"].mean() <= high
        assert fit.parameters.mean[0] > 2.0 * frame["x"].mean()
        assert fit.told_apart.startswith("At this noise level the mean is known to within")
        assert "least certain" not in fit.told_apart


def test_a_regression_clips_rows_for_the_noise_of_all_rows_of_a_person() -> None:
    frame, rng = visits(), np.random.default_rng(1)
    chance = 1.0 / (1.0 + np.exp(5.0 - frame["x"] + 0.5 * (frame["y"] - 5.0)))
    frame["ill"] = (rng.random(len(frame)) < chance).astype(int)
    columns = (*ROWS.columns, dp.Column("ill", role="target", type="binary"))
    sealed = dp.load(frame, schema=replace(ROWS, columns=columns, equal_weight=True))
    exact = dp.fit("logistic", sealed, privacy=None).parameters.coefficients
    errors = [
        np.linalg.norm(fit.parameters.coefficients - exact)
        for seed in range(15)
        for fit in (dp.fit("logistic", sealed, privacy=dp.Privacy(4.0, 1e-6), seed=seed),)
    ]
    assert np.median(errors) < 0.05, "0.06 where it is chosen for the noise of one row"


def test_equal_weight_without_ids_is_refused_before_rows_are_read(tmp_path: Path) -> None:
    unknown = dp.Schema(PLAIN.columns[:2], equal_weight=True)
    with pytest.raises(InputError, match=r"table\.equal_weight: no column says whose a row is"):
        dp.load(table_of_two(), schema=unknown)
    file = tmp_path / "schema.toml"
    file.write_text(unknown.to_toml())
    with pytest.raises(InputError, match=r"table\.equal_weight: no column says whose a row is"):
        dp.Schema.from_toml(file)
    file.write_text(replace(PLAIN, equal_weight=True).to_toml())
    assert dp.Schema.from_toml(file).equal_weight


def crowd(rng: np.random.Generator, names: list[str]) -> pd.DataFrame:
    """Up to five rows of each person, odd ones among them, in any order."""
    frame = people(rng, int(rng.integers(8, 30)))[names]
    frame["who"] = rng.integers(0, 8, len(frame))
    return frame


def one_persons(rng: np.random.Generator, names: list[str], count: int) -> pd.DataFrame:
    """Rows of the one person: far apart ones, or all alike at an end of what they can be."""
    rows = [hostile(rng) for _ in range(count)]
    if count and rng.random() < 0.5:
        rows = [rows[0]] * count
    return pd.DataFrame([{**row, "who": "me"} for row in rows], columns=[*names, "who"])


def moved(
    model: str,
    words: dict[str, Any],
    schema: Schema,
    adjacency: str,
    compared: Compared,
    seeds: int,
) -> None:
    """Fit tables that differ in one person; no release may move by more than its entry says."""
    rng, equal = np.random.default_rng(len(model)), schema.equal_weight
    names = [column.name for column in schema.columns if column.role not in ("id", "ignore")]
    compared.ratios.clear()
    for seed in range(seeds):
        others, most = crowd(rng, names), int(rng.integers(1, 5))
        if adjacency == "replace_one":  # 0 rows are those of somebody whose rows do not count
            counts = rng.integers(int(equal), 12, 2)
        else:
            counts = np.array([0, rng.integers(1, 12)])
        both = []
        for count in counts.tolist():
            rows = pd.concat([others, one_persons(rng, names, count)], ignore_index=True)
            both.append(rows.sample(frac=1.0, random_state=int(rng.integers(1000))))
        noise = float(10.0 ** rng.uniform(-1.0, 2.0))
        asked = dp.Privacy(noise_multiplier=noise, adjacency=adjacency, rows_per_person=most)
        compared.first.clear()
        for place, frame in zip((None, 0), both, strict=True):
            compared.place = place
            sealed = PrivateTable.seal(
                frame.reset_index(drop=True), replace(schema, rows_per_person=1)
            )
            grid = fit_grid(model, sealed, privacy=(asked,), seed=seed, **words)
        assert f"of whose rows at most {most} count" in grid.guarantee().protects
        rows = f"{'' if equal else '0 to '}{most} rows of one person"
        assert all(one.proof.endswith(f"; {rows}") for one in grid.ledger)
        assert compared.place == len(compared.first) > 0
    assert max(compared.ratios) <= 1.0
    assert max(compared.ratios) > 0.2


@every("model, words", PROVED)
@every("adjacency", ("replace_one", "add_remove"))
@every("equal", (False, True))
def test_no_release_moves_by_more_than_all_rows_of_one_person(
    equal: bool,
    adjacency: str,
    model: str,
    words: dict[str, Any],
    compared: Compared,
    exhaustive: bool,
) -> None:
    schema = replace(COUNTED if model == "poisson" else NUMBERS, equal_weight=equal)
    moved(model, words, schema, adjacency, compared, 20 if exhaustive else 2)


@every(
    "model, words",
    [
        ("logistic", {}),
        ("logistic", {"algorithm": "vb", "iterations": 2}),
        ("gmm-release", {}),
        ("gmm-release", {"method": "staged"}),
        ("gmm-release", {"method": "pooled"}),
        ("gmm-release", {"method": "gaussian"}),
    ],
)
def test_with_equal_weight_persons_are_protected_by_models_of_labels_and_outcomes(
    model: str, words: dict[str, Any], compared: Compared, exhaustive: bool
) -> None:
    schema = replace(ALL_ROLES, equal_weight=True)
    moved(model, words, schema, "replace_one", compared, 20 if exhaustive else 3)
    asked = dp.Privacy(noise_multiplier=3.0, adjacency="add_remove")
    with pytest.raises(InputError, match=r"equal_weight = true .* choose adjacency replace_one"):
        dp.fit(model, sealed_crowd(schema), privacy=asked, **words)


def test_which_rows_count_depends_on_labels_too_where_weights_are_equal() -> None:
    """Rows that differ in the label alone are two rows: else their order would decide."""
    frame = people(np.random.default_rng(0), 1).loc[[0] * 40].reset_index(drop=True)
    label = str(ALL_ROLES.label)
    frame[label] = [*ALL_ROLES.column(label).categories * 40][:40]
    frame["who"] = np.arange(40) // 2
    chosen = []
    for rows in (frame, frame[::-1].reset_index(drop=True)):
        sealed = PrivateTable.seal(rows, replace(ALL_ROLES, equal_weight=True))
        kept = limited(sealed, "who", 1)[0]._frame.sort_values("who")
        chosen.append(kept[label].tolist())
    assert chosen[0] == chosen[1]
    assert len(set(chosen[0])) > 1


def sealed_crowd(schema: Schema) -> PrivateTable:
    frame = people(np.random.default_rng(0), 30)
    frame["who"] = np.arange(30) // 2
    return PrivateTable.seal(frame, schema)


UNPROVED = [
    (model, words, adjacency)
    for model, words, adjacencies in RECIPES
    for adjacency in adjacencies
    if model not in {name for name, _ in PROVED} or "trust" in words
]


@every("model, words, adjacency", UNPROVED)
def test_what_is_not_proved_of_persons_is_refused(
    model: str, words: dict[str, Any], adjacency: str
) -> None:
    asked = dp.Privacy(noise_multiplier=3.0, adjacency=adjacency)
    with pytest.raises(
        InputError, match="id column: no bound is proved on how much one person's rows together"
    ):
        dp.fit(model, sealed_crowd(ALL_ROLES), privacy=asked, **words)


@every(
    "model, words",
    [
        ("gmm", {"mode": "paper", "accountant": "ma"}),
        ("kmeans", {"mode": "paper", "accountant": "linear"}),
        ("fa", {"mode": "paper", "accountant": "linear"}),
    ],
)
def test_what_a_paper_prints_is_about_rows(model: str, words: dict[str, Any]) -> None:
    asked = dp.Privacy(epsilon=1.0, delta=1e-5, **words)
    with pytest.raises(InputError, match="choose one of gmm, kmeans, fa, mean, bernoulli"):
        dp.fit(model, sealed_crowd(NUMBERS), privacy=asked, n_components=2, seed=0)


def session(opens: Any, adjacency: str = "replace_one", schema: Schema = ALL_ROLES) -> Session[Any]:
    return session_of(sealed_crowd(schema), opens, adjacency=adjacency)


class NotAdding(BallVector):
    """Vectors of rows that are not declared to add up."""

    adds_up = False


def test_the_wall_itself_refuses_doors_without_a_lemma() -> None:
    with pytest.raises(WallError, match=NO_BOUND_FOR_SEVERAL):
        session(LabelledRows)
    for adjacency in ("label", "feature"):
        with pytest.raises(InputError, match="protects whole persons"):
            session(FeatureRows, adjacency)
    with pytest.raises(InputError, match="subsampling is proved"):
        Minibatches(session(FeatureRows), Sample.under("replace_one", 0.5))
    with pytest.raises(WallError, match="drawn by row position"):
        Parts(session(MaskedRows), 2)
    ball, none = NotAdding(session(MaskedRows).public.dim, 1.0), Noise("gaussian", 1.0)
    step = Vectors(lambda seen, runs: seen.rows[None], own=False)
    with pytest.raises(WallError, match=SEVERAL_ROWS):
        session(MaskedRows).release("vectors", ball, step, none)


def test_the_wall_itself_takes_any_bound_of_a_row_only_where_equal_persons_are_replaced() -> None:
    equal = replace(ALL_ROLES, equal_weight=True)
    assert session(LabelledRows, schema=equal).rows == 15
    with pytest.raises(WallError, match=NO_BOUND_FOR_SEVERAL):
        session(LabelledRows, "add_remove", equal)
    ball, none = NotAdding(session(MaskedRows).public.dim, 1.0), Noise("gaussian", 1.0)
    step = Vectors(lambda seen, runs: seen.rows[None], own=False)
    session(MaskedRows, schema=equal).release("vectors", ball, step, none)
    with pytest.raises(WallError, match=SEVERAL_ROWS):
        session(MaskedRows, "add_remove", equal).release("vectors", ball, step, none)


def test_persons_are_counted_and_rows_are_not() -> None:
    found = session(FeatureRows)
    assert (found.rows, found.persons, found.rows_per_person) == (None, 15, 1)
    hidden = session(FeatureRows, "add_remove")
    assert (hidden.rows, hidden.persons) == (None, None)
    many = dp.Privacy(epsilon=1.0, delta=0.05, rows_per_person=4)
    told = dp.fit("gmm", sealed_crowd(NUMBERS), privacy=many, n_components=1, seed=0).guarantee
    assert told.rows_per_person == 4  # the request's and the schema's, whichever is more
    assert "the number of different ids in the column who is public" in told.assumptions
    assert not any("has one row" in line for line in told.assumptions)
    assert told.notes == ()  # 15 persons: 1/15 is above delta, 1/30 is not
    with pytest.raises(InputError, match="more groups than different ids"):
        dp.fit("gmm", sealed_crowd(NUMBERS), privacy=many, n_components=16, seed=0)
    twice = dp.load(table(np.arange(30) // 2), schema=replace(PLAIN, equal_weight=True))
    with pytest.raises(InputError, match="more groups than different ids"):
        dp.fit("gmm", twice, privacy=None, n_components=16)


def test_intervals_are_simulated_with_one_row_for_each_person() -> None:
    """The noise protects three rows of each person; of one row each it moves a mean the most."""
    fit = dp.fit("mean", sealed_crowd(NUMBERS), privacy=dp.Privacy(8.0, 1e-5), rows=40, seed=0)
    assert (fit.rows, fit.persons, fit.guarantee.rows_per_person) == (None, 15, 3)
    assert str(fit.told_apart).startswith("At this noise level each mean is known to within ")
    assert str(fit.told_apart).endswith(ONE_ROW_EACH.format("patient"))
    ends = fit.intervals().same_rows["mean"]
    alone = dp.Schema(NUMBERS.columns[:-1], unit="patient", rows_per_person=3)
    plain = dp.fit("mean", sealed_crowd(alone), privacy=dp.Privacy(8.0, 1e-5), rows=40, seed=0)
    fewer = replace(plain, rows=15).intervals().same_rows["mean"]
    wide = np.ptp(ends, axis=-1) / np.ptp(fewer, axis=-1)
    assert 1.0 < np.mean(wide) < 1.7, "their number has noise too, and is guessed to be 40"


def test_intervals_of_persons_with_equal_weight_are_those_of_as_many_rows() -> None:
    alike = replace(NUMBERS, equal_weight=True)
    fit = dp.fit("mean", sealed_crowd(alike), privacy=dp.Privacy(8.0, 1e-5), seed=0)
    assert (fit.rows, fit.persons, fit.guarantee.rows_per_person) == (45, 15, 3)
    assert not str(fit.told_apart).endswith(ONE_ROW_EACH.format("patient"))
    plain = replace(fit, schema=dp.Schema(NUMBERS.columns[:-1], unit="patient", rows_per_person=3))
    ends, same = (one.intervals().same_rows["mean"] for one in (fit, plain))
    assert ends.tolist() == same.tolist()
    frame = people(np.random.default_rng(0), 30).assign(who=np.arange(30) // 2)
    table = PrivateTable.seal(frame, replace(ALL_ROLES, equal_weight=True, rows_per_person=3))
    labelled = dp.fit("gmm-release", table, privacy=dp.Privacy(500.0, 1e-5), seed=0)
    assert np.isfinite(labelled.intervals().same_rows["means"]).any()


def test_with_equal_weight_an_interval_for_the_population_counts_persons() -> None:
    """Ten copies of a person's row say no more of the population than one."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(5.0, 1.5, 500), "y": rng.uniform(-1.0, 1.0, 500)})
    alike = replace(PLAIN, equal_weight=True, rows_per_person=10)
    for adjacency in ("replace_one", "add_remove"):
        privacy = dp.Privacy(20.0, 1e-5, adjacency=adjacency)
        sealed = dp.load(frame.assign(who=range(500)), schema=alike)
        fit = dp.fit("covariance", sealed, privacy=privacy, seed=0)
        single = dp.Schema(PLAIN.columns[:2], unit="patient")
        alone = dp.fit("covariance", dp.load(frame, schema=single), privacy=privacy, seed=0)
        ends = [fit.intervals(rows=5_000), alone.intervals(rows=500)]
        for kind in ("population", "same_rows"):
            wide, narrow = (np.ptp(getattr(both, kind)["mean"], axis=-1) for both in ends)
            assert np.mean(wide / narrow) == pytest.approx(1.0, abs=0.2), (adjacency, kind)
        assert "This assumes" not in str(fit.told_apart)


def test_no_rows_are_held_out_where_persons_are_protected() -> None:
    data: Any = SimpleNamespace(schema=NUMBERS, rows=LEAST)
    assert "an id column" in in_sample(Scenario(model="kmeans"), data)
    data.schema = dp.Schema(NUMBERS.columns[:-1])
    assert in_sample(Scenario(model="kmeans"), data) == ""


def test_the_custodian_sees_all_rows_whosever_they_are() -> None:
    assert custodian_vectors(sealed_crowd(NUMBERS), target=False, masked=False).count == 30


def test_with_equal_weight_fits_are_judged_by_persons(tmp_path: Path) -> None:
    """Rows weighed alike said of a fit with hardly any noise that it was no better than none."""
    who = np.concatenate([np.arange(300), np.repeat(np.arange(300, 600), 10)])
    frame = pd.DataFrame({"who": who, "x": np.where(who < 300, 2.0, 8.0), "y": 0.0})
    schema = replace(PLAIN, equal_weight=True, rows_per_person=10)
    sealed = dp.load(frame, schema=schema)
    file = tmp_path / "rows.csv"
    frame.to_csv(file, index=False)
    whole = parted(file, schema, whole=lambda: pd.read_csv(file))
    assert custodian_rows(whole)[1].shape == (6_000, 2)
    exact = references(sealed, Setting("mean", 1, rows_per_person=10))
    assert exact.converged.mean[0, 0] == pytest.approx(0.0), "5 of 0 to 10"
    assert exact.own_steps_utility == pytest.approx(0.0)
    fit = dp.fit("mean", sealed, privacy=dp.Privacy(20.0, 1e-5), seed=0)
    assert metrics(fit, sealed)["estimation_error"] < 0.01
    assert (custodian_count(sealed), custodian_count(sealed, once=True)) == (6_000, 3_300)
    assert loneliest_row(dp.load(frame[::-1].assign(y=[0.0] * 3299 + [1.0]), schema=schema)) == 3299


def test_a_part_of_a_table_proves_nothing_of_persons() -> None:
    rest, _ = sealed_crowd(NUMBERS).split(0.2, 0)
    words: dict[str, Any] = {"privacy": dp.Privacy(epsilon=1.0, delta=1e-5), "n_components": 1}
    assert dp.fit("gmm", rest, seed=0, **words).guarantee.epsilon is None
    with pytest.raises(InputError, match="which rows are held out would change"):
        dp.fit("gmm", rest, **words)


def test_a_neighbour_changes_one_person() -> None:
    table = dp.load(table_of_two(), schema=PLAIN)
    for adjacency in ("replace_one", "add_remove"):
        frame = table.neighbour(1, adjacency)._frame
        assert set(frame["who"]) == {"a", "b"}
        assert frame.loc[frame["who"] == "b", "x"].tolist() == [3.0, 4.0]


def table_of_two() -> pd.DataFrame:
    return pd.DataFrame({"who": list("aabb"), "x": [1.0, 2.0, 3.0, 4.0], "y": [0.0] * 4})


@every("whose", [["a", "b", "b"], [1, 2, 2]])
def test_somebody_who_is_typed_counts(whose: list[Any]) -> None:
    """Without an id the row was nobody's, and an attack on it was one on nobody."""
    sealed = PrivateTable.seal(table(whose), PLAIN)
    for position, persons in ((0, 2), (1, 2), (None, 3)):
        changed, ids = limited(sealed.with_row({"x": 9.5, "y": 0.5}, position), "who", 2)
        assert (ids, int((changed._frame["x"] == 9.5).sum())) == (persons, 1)


def test_two_columns_of_ids_are_refused_and_one_without_cells_too() -> None:
    both = dp.Schema((*PLAIN.columns, dp.Column("visit", role="id", type="text")))
    words: dict[str, Any] = {"privacy": dp.Privacy(epsilon=1.0, delta=1e-5), "n_components": 1}
    with pytest.raises(InputError, match="two columns have the role id"):
        dp.fit("gmm", PrivateTable.seal(table_of_two(), both), **words)
    named = dp.Schema((*PLAIN.columns, dp.Column("visit", role="id", type="text")), id="who")
    assert named.person == "who"
    with pytest.raises(InputError, match="who: the table has no such column"):
        dp.fit("gmm", PrivateTable.seal(table_of_two().drop(columns="who"), PLAIN), **words)


def test_an_id_that_names_no_column_of_ids_is_refused_in_python_too() -> None:
    lost = dp.Schema(PLAIN.columns[:2], id="who")  # which protected rows, not persons
    words: dict[str, Any] = {"privacy": dp.Privacy(epsilon=1.0, delta=1e-5), "n_components": 1}
    with pytest.raises(InputError, match=r"table\.id: 'who' names no column of the schema"):
        dp.load(table_of_two(), schema=lost)
    with pytest.raises(InputError, match=r"table\.id: 'who' names no column of the schema"):
        dp.fit("gmm", dp.load(table_of_two()), schema=lost, **words)


def test_a_release_says_whom_it_protects_and_a_refusal_spends_nothing(tmp_path: Path) -> None:
    limit, path = Amount(2.0, 1e-5), tmp_path / "budget.sqlite"
    book = BudgetLedger.create(path, limit, unit="patient", rows_per_person=2)
    frame = table(np.random.default_rng(0).integers(0, 150, 400))
    sealed = dp.load(frame, schema=PLAIN)
    words: dict[str, Any] = {"privacy": dp.Privacy(epsilon=1.0, delta=1e-6), "ledger": path}
    with pytest.raises(InputError, match="id column"):
        dp.release("symmetric-mixture", sealed, out=tmp_path / "no", **words)
    assert not book.state().releases
    words |= {"out": tmp_path / "out", "file": "visits.csv"}
    done = dp.release("gmm", sealed, n_components=2, **words)
    assert done.dossier["title"] == "visits.csv", "a schema without a title is not named by its ids"
    guarantee = done.dossier["guarantee"]
    assert guarantee["protects"] == "replacing one patient, of whose rows at most 2 count"
    assert (done.dossier["rows"], done.dossier["persons"]) == (None, frame["who"].nunique())
    report = (tmp_path / "out" / "report.html").read_text()
    assert f"{frame['who'].nunique()} (public)" in report
    assert "of whose rows at most 2 count" in report
    assert "has at most" not in report
    assert dp.verify(tmp_path / "out", path)["epsilon"] <= 1.0
    opened = dp.open_release(tmp_path / "out")
    assert opened.guarantee.limited
    assert opened.guarantee.sentence() == guarantee["sentence"]


def test_a_guarantee_of_rows_reads_as_it_always_did() -> None:
    rows = dp.Schema(PLAIN.columns[:2], unit="patient", rows_per_person=2)
    asked = dp.Privacy(epsilon=1.0, delta=1e-5)
    told = dp.fit("gmm", sealed_crowd(rows), privacy=asked, n_components=1, seed=0).guarantee
    assert told.protects == "replacing one patient's 2 rows"
    assert "limited" not in told.as_dict()


def test_stand_in_rows_are_of_as_few_persons_as_there_can_be() -> None:
    ids = stand_in(PLAIN, 9)["who"]
    assert ids.value_counts().tolist() == [2, 2, 2, 2, 1]


def test_the_stewards_page_names_the_models_that_take_persons() -> None:
    with pytest.raises(InputError) as refused:
        dp.fit("sbn", sealed_crowd(NUMBERS), privacy=dp.Privacy(noise_multiplier=1.0))
    proved = re.search(r"choose one of (.*) in proved mode", refused.value.remedy)
    (said,) = re.findall(r"person is proved for (.*) and `mean`", page("stewards"))
    assert set(proved[1].split(", ")) == {*re.findall(r"`(\w+)`", said), "mean"}
