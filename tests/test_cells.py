"""What a cell means depends on that cell alone: pairs of neighbouring tables, byte by byte."""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import wording
from hypothesis import example, given
from hypothesis import strategies as st
from support import every, examples

from dpcore.datasets import delimited
from dpcore.datasets.blocks import parted, parts_of
from dpcore.datasets.collections import CollectionPart
from dpcore.datasets.delimited import read_delimited
from dpcore.datasets.files import InMemory
from dpcore.datasets.load import load
from dpcore.errors import InputError
from dpcore.schema import Column, Schema
from dpcore.schema.cells import (
    DECIMAL,
    _numbers_or_none,
    are_numbers,
    categories_meant,
    category_meant,
    number_meant,
    numbers_meant,
)
from dpcore.schema.forms import CellForm, FileFormat
from dpcore.wall.data.clipping import bounded_rows
from dpcore.wall.data.partitions import Partition
from dpcore.wall.table import PrivateTable

MOMENT = 1_700_000_000_000_000_000  # in nanoseconds: floats are 256 apart there
TIMES = [MOMENT + step for step in (1, 129, 1_000, 3_333, 6_667)]
SCHEMA = Schema.from_bounds({"t": (float(MOMENT), float(MOMENT + 8192)), "v": (0.0, 1.0)})

GERMAN = CellForm(FileFormat(decimal=","))

NUMERALS = st.from_regex(DECIMAL, fullmatch=True).map(lambda text: text.rstrip("\n"))
WORDS = "|NA|N/A|NaN|nan|null|?|None| 1 |'1'| '1' |1,5|0x1|1_0|１|+true|-nan|TRUE|false|inf|x"
LONG = ["-Infinity", "nan(1)", "1e999", "9" * 5000, "\u00a01", "1\x1f", "\ud800"]
ODD = st.sampled_from([*WORDS.replace("'", '"').split("|"), *LONG])
TEXTS = st.lists(NUMERALS | ODD | st.text(max_size=4), min_size=1, max_size=6)


def bits(numbers: Any) -> list[str]:
    """Floats as they lie in memory; every NaN is one."""
    return ["nan" if math.isnan(x) else float(x).hex() for x in numbers]


@given(TEXTS, st.sampled_from(["str", "object", "category", "string[python]"]))
@example(["9" * 5000, "x"], "str")
@example(["1", "-nan", "+1.5e3"], "str")
@examples(300)
def test_a_column_is_read_as_its_cells_one_by_one(texts: list[str], kind: Any) -> None:
    try:
        column = pd.Series(texts, dtype=kind)
    except UnicodeError:  # this type holds no half pairs of surrogates
        return
    singly = [number_meant(text) for text in texts]
    assert are_numbers(column) == (None not in singly)
    if None not in singly:
        assert bits(numbers_meant("t", column)) == bits(singly)


@pytest.mark.parametrize(
    ("cells", "kinds"),
    [
        ([1, 2**53 + 1, -(2**63)], ["int64", "Int64", "int64[pyarrow]", "object", "category"]),
        ([1, 2**64 - 1], ["uint64", "UInt64", "uint64[pyarrow]", "object"]),
        ([2**53 + 1, None], ["Int64", "int64[pyarrow]", "object", "category"]),
        ([True, False], ["bool", "boolean", "bool[pyarrow]", "object"]),
        ([True, None], ["boolean", "bool[pyarrow]", "object"]),
        ([1.5, None], ["float16", "float32", "Float32", "float64", "double[pyarrow]", "object"]),
        ([1.5, 0.0], ["Sparse[float64]"]),
        (["1.5", None], ["str", "string", "string[pyarrow]", "object", "category"]),
        ([Decimal("0.1"), None], [pd.ArrowDtype(pa.decimal128(38, 12)), "object"]),
        ([10**5000, -(10**5000), Fraction(1, 3), Decimal("NaN"), "1"], ["object"]),
        ([None, None], ["datetime64[ns]", "object", "float64", "str"]),
    ],
)
def test_the_type_of_a_column_changes_no_cell(cells: list[Any], kinds: list[Any]) -> None:
    singly = bits([number_meant(cell) for cell in cells])  # type: ignore[misc]
    for kind in kinds:
        assert bits(numbers_meant("t", pd.Series(cells, dtype=kind))) == singly, kind


@every("texts", [["a", "a\0b", "a\0c"], ["b\0", "b"], ["\ud800", "\ud801"], ["1", "1\0"]])
def test_texts_that_are_one_as_c_strings_stay_apart(texts: list[str]) -> None:
    """Some versions of pandas take them for one, whichever comes first."""
    singly = [category_meant(text) for text in texts]
    in_form = [number_meant(text, GERMAN) for text in texts]
    for kind in ("object", "string[python]", "str"):
        try:
            column = pd.Series(texts, dtype=kind)
        except UnicodeError:  # this type holds no half pairs of surrogates
            continue
        assert categories_meant(column).tolist() == singly, kind
        assert (_numbers_or_none(column, GERMAN) is None) == (None in in_form)


@pytest.mark.parametrize(
    "cells",
    [
        [1 + 0j],
        [b"1"],
        [[1]],
        [pd.Timestamp(0)],
        [pd.Timedelta(1)],
        [np.timedelta64(1, "D"), "1"],
        [object()],
        ["1", b"1"],
    ],
)
def test_a_cell_that_says_no_number_refuses_its_column(cells: list[Any]) -> None:
    with pytest.raises(InputError, match=wording.SOME_NO_NUMBERS):
        numbers_meant("t", pd.Series(cells))


def in_text(delimiter: str, ending: str) -> Callable[[Path, Sequence[Sequence[Any]]], Any]:
    """A writer of delimited files: cells as they are, quoted where they must be."""

    def write(home: Path, rows: Sequence[Sequence[Any]]) -> Path:
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerow(SCHEMA.features)
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
        content = out.getvalue().encode()
        path = home / f"t{ending}"
        path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
        return path

    return write


def in_parquet(home: Path, rows: Sequence[Sequence[Any]]) -> Path:
    """Each column of the narrowest type that holds all of its cells: texts hold any."""
    columns: dict[str, Any] = {}
    for name, cells in zip(SCHEMA.features, zip(*rows, strict=True), strict=True):
        kinds = {type(cell) for cell in cells if cell is not None}
        if len(kinds) > 1 and kinds <= {int, float}:
            cells = tuple(None if cell is None else float(cell) for cell in cells)
        elif len(kinds) > 1 or any(isinstance(c, int) and abs(c) >= 2**63 for c in cells):
            cells = tuple(None if cell is None else str(cell) for cell in cells)
        columns[name] = pa.array(cells)
    path = home / "t.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def in_frame(home: Path, rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """The types that pandas guesses for each column; it cannot of every whole number."""
    columns = dict(zip(SCHEMA.features, map(list, zip(*rows, strict=True)), strict=True))
    kinds = {name: object if 10**400 in cells else None for name, cells in columns.items()}
    return pd.DataFrame({name: pd.Series(columns[name], dtype=kinds[name]) for name in columns})


def in_records(home: Path, rows: Sequence[Sequence[Any]]) -> list[Partition]:
    """Two partitions of records; a missing cell has no key."""
    named = [dict(zip(SCHEMA.features, row, strict=True)) for row in rows]
    some = [{name: cell for name, cell in row.items() if cell is not None} for row in named]
    return [CollectionPart("first", some[:2]), CollectionPart("second", some[2:])]


WAYS = {
    "csv": in_text(",", ".csv"),
    "tsv": in_text("\t", ".tsv"),
    "csv.gz": in_text(",", ".csv.gz"),
    "parquet": in_parquet,
    "frame": in_frame,
}
HOSTILE: list[Any] = [
    *(None, True, 0.5, -1, 2**70, 10**400, "1700000000000000000.0", "? ", "NaN", "true", " 7"),
    *('"8"', "1e999", "-inf", "0." + "9" * 500, "-0", str(MOMENT + 77), float(MOMENT), 1e-320),
]


def seen(source: Any, *, blocks: bool = False) -> np.ndarray:
    """The rows as a model sees them, in public unit coordinates."""
    if not blocks:
        return bounded_rows(load(source, schema=SCHEMA), private=True)[1]
    parts = source if isinstance(source, list) else parts_of(source)
    frames = [frame for part in parts for frame in part.blocks(SCHEMA)]
    sealed = [PrivateTable.seal(frame, SCHEMA) for frame in frames]
    return np.concatenate([bounded_rows(table, private=True)[1] for table in sealed])


def rows_with(cell: Any, at: int, column: int) -> list[list[Any]]:
    rows: list[list[Any]] = [[time, share] for time, share in zip(TIMES, range(5), strict=True)]
    rows[at][column] = cell
    return rows


@pytest.mark.parametrize("way", [*WAYS, "records"])
@pytest.mark.parametrize("column", [0, 1])
def test_one_cell_never_changes_another_row(
    way: str, column: int, tmp_path: Path, exhaustive: bool
) -> None:
    """Whole and in blocks, wherever the row stands, and the same in every kind of file."""
    write = {**WAYS, "records": in_records}[way]
    plain = bounded_rows(PrivateTable.seal(in_frame(tmp_path, rows_with(0, 0, 1)), SCHEMA),
                         private=True)[1]  # fmt: skip
    for cell in HOSTILE:
        for at in (0, 2, 4) if exhaustive else (2,):
            source = write(tmp_path, rows_with(cell, at, column))
            for blocks in (False, True):
                if blocks == (way == "frame") and way in ("frame", "records"):
                    continue
                units = seen(source, blocks=blocks)
                others = np.arange(5) != at
                told = f"{cell!r} in row {at}, in blocks: {blocks}"
                assert units[others].tolist() == plain[others].tolist(), told
                if isinstance(cell, str) or way in ("frame", "records"):
                    number = number_meant(cell)
                    assert number is not None
                    one = pd.DataFrame([plain_row(number, at, column)], columns=["t", "v"])
                    alone = bounded_rows(PrivateTable.seal(one, SCHEMA), private=True)[1][0]
                    assert units[at].tolist() == alone.tolist(), told


def plain_row(number: float, at: int, column: int) -> list[float]:
    row = [float(TIMES[at]), float(at)]
    row[column] = number
    return row


@pytest.mark.parametrize("way", WAYS)
def test_text_in_a_number_column_is_one_sentence_wherever_it_stands(
    way: str, tmp_path: Path
) -> None:
    told = set()
    for cell in ("x", "1,5", "2020-01-01", "１"):
        for at in (0, 2, 4):
            for blocks in (False, True) if way != "frame" else (False,):
                source = WAYS[way](tmp_path, rows_with(cell, at, 0))
                with pytest.raises(InputError) as caught:
                    seen(source, blocks=blocks)
                told.add(str(caught.value))
    assert len(told) == 1


def cut(text: str) -> list[list[str]] | None:
    """The rows below the header as a strict reader cuts them, or nothing."""
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except csv.Error:
        return None
    rows = [row or [""] for row in rows] if len(header) == 1 else list(filter(None, rows))
    return rows if rows and {len(row) for row in rows} == {len(header)} else None


@given(
    st.integers(1, 3),
    st.text(st.sampled_from('""",\n\r a1\'x'), max_size=30),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
@example(1, "1\n\n3\n", "\n")
@example(2, '1,"a\n2,b\n3,"c"', "\n")
@example(3, ',,\r""', "\n")
@examples(400)
def test_a_file_is_cut_into_cells_by_its_form_alone(width: int, body: str, end: str) -> None:
    """Two readers that were written apart agree on every file, or both refuse it."""
    text = ",".join(f"c{i}" for i in range(width)) + end + body
    try:
        cells = read_delimited(InMemory("t.csv", text.encode()), ",").to_numpy().tolist()
    except InputError:
        cells = None
    assert cells == cut(text)


def test_an_empty_line_of_a_single_column_is_a_row(tmp_path: Path) -> None:
    """Its cell is missing; without it the public number of rows would hang on a cell."""
    path = tmp_path / "t.csv"
    for lines in ("1\n2\n3\n4\n", "1\n\n3\n4\n", "1\n2\n3\n\n"):
        path.write_text("t\n" + lines)
        schema = Schema.from_bounds({"t": (0, 10)})
        assert load(path, schema=schema).public_rows("replace_one") == 4
        assert parted(path, schema).public_rows("replace_one") == 4


def test_a_long_row_is_read_as_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In larger chunks from where it was: no row twice, none left out."""
    monkeypatch.setattr(delimited, "CHUNKS", (64, 1 << 20))
    path = tmp_path / "t.csv"
    lines = [f'{number},"{"long, " * (50 if number == 30 else 1)}"' for number in range(60)]
    path.write_text("\n".join(["t,note", *lines]) + "\n")
    frame = read_delimited(path, ",")
    assert frame["t"].tolist() == [str(number) for number in range(60)]
    monkeypatch.setattr(delimited, "CHUNKS", (64, 128))
    with pytest.raises(InputError, match="a row is longer than"):
        read_delimited(path, ",")


def test_a_record_without_a_key_has_a_missing_cell() -> None:
    """Also where every record of a partition lacks it."""
    part = CollectionPart("all", [{"t": MOMENT}, {"t": MOMENT + 1}])
    (frame,) = part.blocks(SCHEMA)
    assert bounded_rows(PrivateTable.seal(frame, SCHEMA), private=True)[1][:, 1].tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["number", "category"])
def test_whole_numbers_of_any_length_are_read(kind: str) -> None:
    """Python writes none of more than 4,300 digits."""
    options: dict[str, Any] = (
        {"lower": 0, "upper": 1} if kind == "number" else {"categories": ("1", "inf")}
    )
    schema = Schema((Column("a", type=kind, **options),))
    frame = pd.DataFrame({"a": pd.Series([10**5000, 1], dtype=object)})
    assert len(bounded_rows(PrivateTable.seal(frame, schema), private=True)[1]) == 2


# ---------------------------------------------------------------- what a second reading found


@pytest.mark.parametrize("odd", [None, [], [1, 2], "x", 5, {"": 1}, {1: 1, "1": 2}])
def test_what_is_no_record_is_a_row_of_missing_cells(odd: Any) -> None:
    """A frame made of records takes its form from the first of them."""
    plain = {"t": MOMENT, "v": 0}
    for records in ([odd, plain, plain], [plain, odd, plain]):
        (frame,) = CollectionPart("all", records).blocks(SCHEMA)
        units = bounded_rows(PrivateTable.seal(frame, SCHEMA), private=True)[1]
        assert units[2].tolist() == [-1.0, -1.0]
        assert units[records.index(odd)].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("shift", range(6))
def test_the_ends_of_a_quoted_line_stay_together(
    shift: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a chunk ends: how long one row is moves all others."""
    monkeypatch.setattr(delimited, "CHUNKS", (16, 1 << 20))
    path = tmp_path / "t.csv"
    body = "t,note\n" + "1" * (shift + 1) + ',"a\r\nb"\n2,"c\r\nd"\n3,"\r\r\n"\n'
    path.write_bytes(body.encode())
    assert read_delimited(path, ",")["note"].tolist() == ["a\r\nb", "c\r\nd", "\r\r\n"]


def test_a_date_refuses_no_other_column(tmp_path: Path) -> None:
    """The year 10,000, a time that no clock shows, bytes that are no text: each a cell's own."""
    columns = {
        "t": pa.array([MOMENT, MOMENT]),
        "v": pa.array([0, 1]),
        "day": pa.array([2932897, 0], pa.int32()).cast(pa.date32()),
        "time": pa.array([86400, -1], pa.int32()).cast(pa.time32("s")),
        "zone": pa.array([2**55, 0]).cast(pa.timestamp("ms", "UTC")),
        "text": pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff", b"b"]).buffers()),
    }
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    words = Schema((*SCHEMA.columns, *(
        Column(name, type="category", categories=("1970-01-01", "b"))
        for name in ("day", "time", "zone", "text")
    )))  # fmt: skip
    for schema in (SCHEMA, words):
        whole = bounded_rows(load(path, schema=schema), private=True)[1]
        for part in parts_of(path):
            (frame,) = part.blocks(schema)
            units = bounded_rows(PrivateTable.seal(frame, schema), private=True)[1]
            assert units.tolist() == whole.tolist()
    assert whole[1, [2, 9]].tolist() == [1.0, 1.0]  # the day, and the text


def test_a_cell_that_is_nearly_a_number_takes_no_longer_than_others() -> None:
    """The pattern of a numeral has one way to match: else this would take a quarter of an hour."""
    assert number_meant("1" * 200_000 + "x") is None
    assert number_meant("1" * 200_000) == math.inf


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_a_table_without_any_column_of_the_schema_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{kind}"
    frame = pd.DataFrame({"a": [1]})
    frame.to_csv(path, index=False) if kind == ".csv" else frame.to_parquet(path)
    with pytest.raises(InputError, match="t: "):
        load(path, schema=SCHEMA, out_of_core=True).public_rows("replace_one")


def test_empty_lines_before_the_header_are_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for start in ("", "\n", "\r\n\r\n", "\ufeff\n", "\n" * 3_000_000):
        path.write_text(start + "t\n1\n\n3\n", newline="")
        assert read_delimited(path, ",")["t"].tolist() == ["1", "", "3"]


@pytest.mark.parametrize("name", ["null", "NA", "true", "inf"])
def test_a_header_may_hold_words_that_cells_may_hold(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{name}\n1\n")
    assert list(read_delimited(path, ",")) == [name]


def test_what_somebody_types_is_the_cell_of_a_further_row() -> None:
    frame = pd.DataFrame({"t": [MOMENT], "v": [True], "who": pd.Categorical(["a"])})
    table = PrivateTable.seal(frame, SCHEMA).with_row({"t": MOMENT, "who": "b"})
    assert table._frame["who"].tolist() == ["a", "b"]
    assert bounded_rows(table, private=True)[1].tolist() == [[-1.0, 1.0], [-1.0, 0.0]]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([timedelta(1), timedelta(seconds=90)], "timedelta64[ns]"),
        ([np.timedelta64(1, "D"), np.timedelta64(90, "s")], "timedelta64[s]"),
        ([np.datetime64("2020"), np.datetime64("2020-02-03T04:05")], "datetime64[s]"),
        ([datetime(2020, 1, 1), datetime(2020, 1, 1, 12)], "datetime64[us]"),
    ],
)
def test_a_moment_is_the_same_category_in_a_column_of_its_own(cells: list[Any], kind: Any) -> None:
    typed, objects = pd.Series(cells, dtype=kind), pd.Series([*cells, "x"], dtype=object)
    assert categories_meant(typed).tolist() == categories_meant(objects)[:-1].tolist()
