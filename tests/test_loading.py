"""Loading: a good file becomes a sealed table, a bad one a single sentence without its content."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import wording
from hypothesis import example, given
from hypothesis import strategies as st
from support import examples

import dpcore as dp
import dpcore.datasets.columnar as columnar
import dpcore.datasets.delimited as delimited
from dpcore.datasets.described import schema_beside, schema_path, schema_with
from dpcore.datasets.load import load, read_described, read_frame
from dpcore.errors import InputError
from dpcore.privacy import Privacy
from dpcore.schema import Image, Schema
from dpcore.wall.data.clipping import bounded_rows
from dpcore.wall.table import PrivateTable

SECRET = "8675309"
BOUNDS = Schema.from_bounds({"a": (0, 10), "b": (0, 10)})


def npz(**arrays: object) -> bytes:
    """The bytes of an archive."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def parquet(frame: pd.DataFrame) -> bytes:
    """The bytes of a Parquet file."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def doubled_parquet() -> bytes:
    """A Parquet file with one column name twice."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), buffer)
    return buffer.getvalue()


GOOD = pd.DataFrame({"a": [1.0, 2.0], "b": [3.5, np.nan]})
TEXT = "a,b\n1,3.5\n2,\n"
PACKED = gzip.compress(("a,b\n" + "1,2\n" * 5_000).encode())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", TEXT.encode()),
        ("t.CSV", TEXT.encode()),
        ("t.csv", TEXT.replace("\n", "\r\n").encode()),
        ("t.csv", b"\xef\xbb\xbf" + TEXT.encode()),
        ("t.csv", b' a , b\n"1", 3.5\n\n2, NA\n'),
        ("t.tsv", TEXT.replace(",", "\t").encode()),
        ("t.csv.gz", gzip.compress(TEXT.encode())),
        ("t.tsv.gz", gzip.compress(TEXT.replace(",", "\t").encode())),
        ("t.parquet", parquet(GOOD)),
        ("t.parquet", parquet(GOOD.set_index(pd.Index([7, 9])))),
        ("t.npz", npz(X=GOOD.to_numpy(), feature_names=np.array(["a", "b"]))),
        ("t.npz", npz(X=GOOD.to_numpy(), feature_names=np.array([b"a", b"b"]))),
    ],
)
def test_every_format_gives_the_same_frame(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    pd.testing.assert_frame_equal(read_described(path, BOUNDS), GOOD)
    assert repr(load(str(path))) == "PrivateTable(sealed)"


@pytest.mark.parametrize("token", ["", "NA", "N/A", "NaN", "nan", "null", "?", "None"])
def test_every_missing_token_leaves_the_column_a_number(tmp_path: Path, token: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,{token}\n2,5\n")
    np.testing.assert_array_equal(read_described(path, BOUNDS)["b"], [np.nan, 5.0])


@pytest.mark.parametrize("word", ["n/a", "-", "#N/A", "none", "1e", "1_0", "0x1", "１", "+true"])
def test_no_other_word_is_taken_for_a_missing_cell(tmp_path: Path, word: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,{word}\n")
    with pytest.raises(InputError, match=wording.SOME_NO_NUMBERS):
        load(path, schema=BOUNDS)


def test_y_of_an_archive_is_a_column_and_array_reads_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    path.write_bytes(npz(X=np.ones((3, 2), np.float32), y=np.arange(3), other=np.zeros((4, 1))))
    assert list(read_frame(path)) == ["x1", "x2", "y"]
    assert read_frame(path, array="other").shape == (4, 1)


def test_frames_and_arrays_are_copied_so_that_the_seal_holds() -> None:
    array = np.ones((2, 2))
    frame = pd.DataFrame(array, columns=["a", "b"], copy=False)
    kept, also = read_frame(frame), read_frame(array)
    array[0, 0] = 99.0
    assert frame.loc[0, "a"] == 99.0
    assert kept.loc[0, "a"] == also.loc[0, "x1"] == 1.0


def test_a_table_of_arrows_is_a_data_frame() -> None:
    """As of polars, whose tables are Arrow's; a day that pandas does not have is not quoted."""
    table = pa.table({"a": [1, None], "b": ["x", "y"]})
    pd.testing.assert_frame_equal(read_frame(table), read_frame(table.to_pandas()))  # type: ignore[arg-type]
    far = pa.table({"day": pa.array([4_000_000], pa.int32()).cast(pa.date32())})
    with pytest.raises(InputError, match=r"^source: pandas cannot hold one of its cells; give"):
        load(far)  # type: ignore[arg-type]


def test_masked_cells_of_an_array_are_missing() -> None:
    masked = np.ma.masked_array([[1, 99]], mask=[[False, True]])
    assert bool(read_frame(masked)["x2"].isna()[0])


BAD: list[tuple[str, bytes, str]] = [
    ("t.csv", b"", "is empty"),
    ("t.csv", b"\n\n\n", "is empty"),
    ("t.csv.gz", gzip.compress(b""), "is empty"),
    ("t.csv", b"a,b\n", "no rows"),
    ("t.csv", f"a;b\n{SECRET};2\n".encode(), "a semicolon"),
    ("t.csv", f"a\tb\n{SECRET}\t2\n".encode(), "a tab"),
    ("t.csv", f"a|b\n{SECRET}|2\n".encode(), "a bar"),
    ("t.tsv", f"a,b\n{SECRET},2\n".encode(), "a comma"),
    ("t.csv", f"{SECRET}x,{SECRET}x\n1,2\n".encode(), "columns 1 and 2 have the same name"),
    ("t.csv", f"a,b, a\n{SECRET},2,3\n".encode(), "columns 1 and 3 have the same name"),
    ("t.csv", f",a\n{SECRET},2\n".encode(), "without a name"),
    ("t.csv", f"{SECRET},2\n3,4\n".encode(), "numbers, not names"),
    ("t.csv", f"{SECRET},2,north\n3,4,south\n".encode(), "numbers, not names"),
    ("t.csv", f"a,b\n{SECRET},2,3\n".encode(), "more or fewer"),
    ("t.csv", f"a,b\n{SECRET}\n".encode(), "more or fewer"),
    ("t.csv", f"a,b\n1,2\n{SECRET},2,\n".encode(), "more or fewer"),
    ("t.csv", f'a,b\n1,2\n3,"{SECRET}\n'.encode(), wording.COLUMNS_ALIKE),
    ("t.csv", f'a,b\n1,"x\n3,"{SECRET}"\n'.encode(), wording.COLUMNS_ALIKE),
    ("t.csv", f"a,b\n1,{SECRET}é\n".encode("latin-1"), "not UTF-8"),
    ("t.csv", "a,b\n1,2\n".encode("utf-16"), "not UTF-8"),
    ("t.csv", b"a,b\n1,\0\n", "binary"),
    ("t.csv", npz(X=np.ones((2, 2))), "binary"),
    ("t.csv", PACKED, "binary"),
    ("t.tsv", parquet(GOOD), "binary"),
    ("t.csv", b"a,b\r1,2\r\n\r3", "more or fewer"),
    ("t.csv", (",".join(f"c{n}" for n in range(10_001)) + "\n").encode(), "more than 10,000"),
    ("t.csv.gz", TEXT.encode(), wording.GZIP_DAMAGED),
    ("t.csv.gz", PACKED[:-12], wording.GZIP_DAMAGED),
    ("t.csv.gz", PACKED[:-6] + bytes(6), wording.GZIP_DAMAGED),
    ("t.parquet", TEXT.encode(), "as Parquet"),
    ("t.parquet", parquet(GOOD)[:-9], "as Parquet"),
    ("t.parquet", doubled_parquet(), "same name"),
    ("t.parquet", parquet(GOOD.iloc[:0]), "no rows"),
    ("t.npz", TEXT.encode(), wording.NPZ_DAMAGED),
    ("t.npz", npz(X=np.ones((9, 9)))[:-30], wording.NPZ_DAMAGED),
    ("t.npz", npz(X=np.ones(3)), "two-dimensional"),
    ("t.npz", npz(X=np.ones((2, 2, 2, 2))), "two-dimensional"),
    ("t.npz", npz(X=np.ones((2, 101, 100), np.uint8)), "not between 1 and 10,000"),
    ("t.npz", npz(X=np.ones((2, 0, 3), np.uint8)), "not between 1 and 10,000"),
    ("t.npz", npz(X=np.ones((0, 2, 3), np.uint8)), "no rows"),
    ("t.npz", npz(X=np.array([[SECRET]])), wording.NO_NUMBERS),
    ("t.npz", npz(X=np.ones((2, 2), complex)), wording.NO_NUMBERS),
    ("t.npz", npz(X=np.array([[{}]], dtype=object)), "pickled"),
    ("t.npz", npz(X=np.ones((0, 2))), "no rows"),
    ("t.npz", npz(X=np.ones((2, 0))), "no columns"),
    ("t.npz", npz(X=np.ones((2, 2)), y=np.ones(3)), "per row of X"),
    ("t.npz", npz(X=np.ones((2, 2)), feature_names=np.array(["a"])), "per column of X"),
    ("t.npz", npz(X=np.ones((2, 2)), feature_names=np.array(["a", "a"])), "same name"),
    ("t.npz", npz(alpha=np.ones((2, 2))), "no array 'X'"),
    ("t.doc", TEXT.encode(), "extension"),
    ("t", TEXT.encode(), "extension"),
]


@pytest.mark.parametrize(("name", "content", "word"), BAD)
def test_a_bad_file_is_one_sentence_without_its_content(
    tmp_path: Path, name: str, content: bytes, word: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert word in caught.value.problem
    assert "\n" not in message
    assert SECRET not in message
    assert str(tmp_path) not in message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_who_saves_from_a_spreadsheet_is_told_how(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("größe\n1\n".encode(encoding))
    with pytest.raises(InputError, match=r"not UTF-8 text; save it as .*“CSV UTF-8”"):
        load(path)


def test_arrays_that_are_there_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    path.write_bytes(npz(alpha=np.ones((2, 2)), beta=np.ones(2)))
    with pytest.raises(InputError, match="alpha, beta"):
        load(path)
    with pytest.raises(InputError, match="no array 'gamma'"):
        load(path, array="gamma")


@pytest.mark.parametrize(
    ("source", "word"),
    [
        (5, "neither a path nor a table"),
        (np.ones(3), "two-dimensional"),
        (np.array([["a"]]), wording.NO_NUMBERS),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "same name"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "same name"),
        (pd.DataFrame({("a", "b"): [1]}), "levels"),
        (pd.DataFrame({"a": []}), "no rows"),
        (pd.DataFrame(index=[1, 2]), "no columns"),
        ("absent.csv", "no such file"),
        ("a\0b.csv", "no such file"),
        ("", "folder"),
    ],
)
def test_a_source_that_is_no_table_is_refused(source: object, word: str) -> None:
    with pytest.raises(InputError, match=word):
        load(source)  # type: ignore[arg-type]


def test_a_folder_without_a_table_and_an_array_name_for_a_text_file_are_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="folder"):
        load(tmp_path / "empty")
    with pytest.raises(InputError, match="has named arrays"):
        load(path, array="X")


def test_files_that_expand_past_the_cap_are_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "LARGEST_TEXT", 1 << 20)
    monkeypatch.setattr(columnar, "LARGEST_ARRAY", 1 << 20)
    bomb = tmp_path / "t.csv.gz"
    bomb.write_bytes(gzip.compress(b"a\n" + b"1" * (2 << 20)))
    wide = tmp_path / "t.npz"
    np.savez_compressed(wide, X=np.zeros((2 << 10, 1 << 10)))
    long = tmp_path / "t.parquet"
    pd.DataFrame({"a": np.arange(1 << 20)}).to_parquet(long)
    for path in (bomb, wide, long):
        with pytest.raises(InputError, match=wording.EXPANDS):
            load(path)


def test_reading_leaves_the_process_wide_cell_limit_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,text\n1," + "x" * 200_000 + "\n")
    before = csv.field_size_limit(4_096)
    try:
        assert read_frame(path).shape == (1, 2)
        assert csv.field_size_limit() == 4_096
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.tsv"])
def test_the_schema_beside_the_file_is_found(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = TEXT if "csv" in name else TEXT.replace(",", "\t")
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    assert load(path).schema is None
    (tmp_path / "people.toml").write_text(BOUNDS.to_toml())
    assert schema_path(path) == tmp_path / "people.toml"
    assert load(path).schema == BOUNDS


def test_a_schema_that_is_given_wins_over_the_one_beside(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    (tmp_path / "t.toml").write_text("broken [")
    other = tmp_path / "other.toml"
    other.write_text(BOUNDS.to_toml())
    assert load(path, schema=BOUNDS).schema == BOUNDS
    assert load(path, schema=other).schema == BOUNDS
    with pytest.raises(InputError, match="not valid TOML"):
        load(path)


def rows_of(table: PrivateTable) -> list[list[float]]:
    """The unit coordinates behind the wall."""
    return bounded_rows(table, private=True)[1].tolist()


def test_categories_written_as_numbers_are_recognised_beside_missing_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ward\n1\n2\n3\n NA\n")
    schema = Schema.parse('[columns.ward]\ntype = "category"\ncategories = [1, 2]')
    expected = [[1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], [-1.0, -1.0]]
    assert rows_of(load(path, schema=schema)) == expected


def corrupted(whole: bytes) -> Callable[[st.DataObject], bytes]:
    """Draws of a file with some bytes replaced or its end cut off."""

    def draw(data: st.DataObject) -> bytes:
        raw = bytearray(whole)
        for _ in range(data.draw(st.integers(0, 6))):
            position = data.draw(st.integers(0, len(raw) - 1))
            raw[position] = data.draw(st.integers(0, 255))
        return bytes(
            raw[: data.draw(st.integers(0, len(raw)))] if data.draw(st.booleans()) else raw
        )

    return draw


def read_or_refuse(path: Path, content: bytes) -> None:
    """Only InputError may come out."""
    path.write_bytes(content)
    try:
        frame = read_frame(path)
    except InputError:
        return
    assert len(frame) > 0


@given(st.binary(max_size=120), st.sampled_from([".csv", ".tsv", ".csv.gz", ".npz", ".parquet"]))
@example(b"a\n\xff", ".csv")
@example(b'a\n"', ".csv")
@examples(200)
def test_random_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, extension: str
) -> None:
    read_or_refuse(tmp_path_factory.getbasetemp() / f"fuzz{extension}", content)


@given(st.text(st.sampled_from('ab1.,;\t\r\n"|- eé?#\\'), max_size=60))
@examples(300)
def test_text_that_looks_like_a_table_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    read_or_refuse(tmp_path_factory.getbasetemp() / "fuzz.csv", text.encode())


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("fuzz.npz", npz(X=np.ones((3, 2)), y=np.arange(3))),
        ("fuzz.parquet", parquet(GOOD)),
        ("fuzz.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("fuzz.npz", npz(X=np.arange(24, dtype=np.uint8).reshape(2, 3, 4))),
    ],
)
def test_damaged_files_are_read_or_refused(tmp_path: Path, name: str, whole: bytes) -> None:
    @given(st.data())
    @examples(100)
    def fuzz(data: st.DataObject) -> None:
        read_or_refuse(tmp_path / name, corrupted(whole)(data))
        with contextlib.suppress(InputError):
            load(tmp_path / name)

    fuzz()


def test_an_archive_whose_array_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 4)}
    np.lib.format.write_array_header_1_0(header, shape)
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    with pytest.raises(InputError):
        read_frame(path)


PICTURES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


@pytest.mark.parametrize("kind", ["archive", "array"])
def test_pictures_of_bytes_are_rows_of_pixels_with_the_limits_of_a_byte(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "t.npz"
    path.write_bytes(npz(pictures=PICTURES, X=np.ones((5, 2))))
    source = path if kind == "archive" else PICTURES
    array = "pictures" if kind == "archive" else None
    frame = read_frame(source, array=array)
    np.testing.assert_array_equal(frame.to_numpy().reshape(2, 3, 4), PICTURES)
    assert frame.columns[5] == "pixel_1_1"
    schema = load(source, array=array).schema
    assert schema.image == Image(3, 4)
    assert schema.unit == "image"
    assert {(c.lower, c.upper) for c in schema.numeric_columns()} == {(0.0, 255.0)}


def test_other_pictures_need_bounds_and_a_schema_file_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    path.write_bytes(npz(X=PICTURES.astype(float)))
    assert load(path).schema is None
    path.write_bytes(npz(X=PICTURES))
    assert load(path).schema is not None
    ours = Schema(Image(3, 4).columns(0, 23), image=Image(3, 4))
    (tmp_path / "t.toml").write_text(ours.to_toml())
    assert load(path).schema == ours
    assert schema_beside(path) == schema_with(path, "X") == ours


def test_an_archive_of_rows_has_no_bounds_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    path.write_bytes(npz(X=np.ones((5, 2), np.uint8)))
    assert load(path).schema is None
    with pytest.raises(InputError, match="no array 'faces'"):
        load(path, array="faces")


@given(st.integers(1, 12), st.integers(1, 12))
@examples(20)
def test_an_image_survives_the_round_trip(height: int, width: int) -> None:
    shape = Image(height, width)
    schema = Schema(shape.columns(0, 16, "grey"), image=shape)
    assert Schema.parse(schema.to_toml()) == schema


@pytest.mark.parametrize(
    "rows", [pd.DataFrame({"a": [0.0, 1.0]}), np.eye(2)], ids=["frame", "array"]
)
@pytest.mark.parametrize(
    "use",
    [
        lambda rows, _: dp.fit("gmm", rows, privacy=Privacy(epsilon=1.0, delta=1e-5)),
        lambda rows, _: dp.sweep("gmm", rows, epsilons=[1.0], delta=1e-5),
        lambda rows, _: dp.study(rows, dp.Setting("gmm")),
        lambda rows, tmp: dp.release(
            "gmm", rows, privacy=Privacy(epsilon=1.0, delta=1e-5), ledger=tmp / "l", out=tmp / "o"
        ),
    ],
    ids=["fit", "sweep", "study", "release"],
)
def test_rows_that_were_not_loaded_are_refused_with_the_way(
    use: Callable[[Any, Path], object], rows: Any, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"has not been loaded; load it first.*dpcore\.load"):
        use(rows, tmp_path)
