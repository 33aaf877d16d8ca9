"""What somebody with bad intentions could hand in, ask for, or have opened elsewhere."""

from __future__ import annotations

import csv
import gzip
import http.client
import io
import weakref
from collections.abc import Iterator
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import wording
from studio.stage import serve
from support import every

import dpcore as dp
from app.result_store import LRUCache, ResultStore
from app.scenario import Scenario, from_query
from dpcore.datasets import delimited
from dpcore.datasets.catalogue import bundled, find
from dpcore.datasets.files import InMemory
from dpcore.datasets.load import load, read_frame
from dpcore.errors import InputError
from dpcore.releases import api
from dpcore.releases.sheet import as_csv
from dpcore.schema import Column, Schema

# ---------------------------------------------------------------- files that are too much


def test_five_million_columns_are_counted_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at each name would take a minute of a busy machine."""

    def looked(name: str) -> bool:
        raise AssertionError("a name was looked at")

    monkeypatch.setattr(delimited, "_is_numeral", looked)
    with pytest.raises(InputError, match="more than 10,000 columns"):
        load(InMemory("wide.csv", b"c," * 4_999_999 + b"c\n1\n"))


def expanding(name: str) -> bytes:
    """A few kilobytes that become 8 megabytes."""
    buffer = io.BytesIO()
    if name.endswith(".npz"):
        np.savez_compressed(buffer, X=np.zeros((1 << 19, 2)))
    elif name.endswith(".parquet"):
        pd.DataFrame({"a": np.arange(1 << 20)}).to_parquet(buffer)
    else:
        buffer.write(gzip.compress(b"a\n" + b"1\n" * (4 << 20)))
    return buffer.getvalue()


def alike(*, rows: int, cell: object, several: bool = False) -> bytes:
    """A Parquet file in which all cells are alike, and which holds their value once."""
    once = pa.array([cell])
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, "int32")), once)
    packed = (
        pa.ListArray.from_arrays(pa.array([0, rows], pa.int32()), column) if several else column
    )
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"a": packed}), buffer, compression="zstd", store_schema=False)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        alike(rows=3_000, cell="x" * 1_000_000),
        alike(rows=3_000, cell="x" * 1_000_000, several=True),
        alike(rows=1 << 20, cell=1.0),
    ],
    ids=["texts", "lists of texts", "numbers"],
)
def test_cells_that_a_file_holds_once_count_as_often_as_they_are_read(content: bytes) -> None:
    assert len(content) < 20_000
    with pytest.raises(InputError, match=wording.EXPANDS):
        read_frame(InMemory("t.parquet", content, largest=1 << 20))
    few = alike(rows=30, cell="yes")
    assert read_frame(InMemory("t.parquet", few, largest=1 << 20))["a"].tolist() == ["yes"] * 30


@pytest.mark.parametrize("name", ["t.csv.gz", "t.npz", "t.parquet"])
def test_an_upload_may_expand_less_than_a_file_of_one_s_own(name: str) -> None:
    assert InMemory(name, b"").largest <= 1 << 30
    with pytest.raises(InputError, match=wording.EXPANDS):
        load(InMemory(name, expanding(name), largest=1 << 20))


@pytest.mark.parametrize(
    "text",
    [
        "a." * 100_000 + "b = 1",
        "[" + "a." * 100_000 + "b]",
        "a = " + "[" * 100_000,
        "# " + "x" * (1 << 20),
    ],
)
def test_a_schema_that_would_be_read_for_minutes_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="too deeply nested or too large"):
        Schema.parse(text)


# ---------------------------------------------------------------- files for a spreadsheet

FORMULA = "=HYPERLINK(0)"


def test_no_column_or_category_of_synthetic_rows_is_a_formula() -> None:
    schema = Schema(
        (
            Column(FORMULA, lower=-1.0, upper=1.0),
            Column("@who", type="category", categories=("+1", "-1", "plain")),
        )
    )
    rows = pd.DataFrame({FORMULA: np.linspace(-1, 1, 60), "@who": ["+1", "-1", "plain"] * 20})
    fit = dp.fit("gmm", load(rows, schema=schema), privacy=None, n_components=1)
    written = api._as_csv(fit, 50, schema)
    cells = [cell for line in written.splitlines() for cell in line.split(",")]
    assert f"'{FORMULA}" in cells
    texts = [cell for cell in cells if not _is_number(cell)]
    assert [cell for cell in texts if cell[0] in "=+-@\t\r"] == []


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return not cell.startswith("+")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", " ="])
def test_a_text_that_a_spreadsheet_would_run_is_led_by_an_apostrophe(start: str) -> None:
    frame = pd.DataFrame({f"{start}1": [-1.5], "b": [f"{start}2"]})
    back = pd.read_csv(io.StringIO(as_csv(frame)))
    assert list(back) == [f"'{start}1", "b"]
    assert back.iloc[0].tolist() == [-1.5, f"'{start}2"]


BLANKS = "\x0b\x0c\x00\x85\xa0\u1680\u2003\u2009\u202f\u3000\u2028\u2029\u200b\u200d\u2060\ufeff"
BLANKS += "\u00ad\u202e\r\n"
SIGNS = "\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207c\u207b\u208a\ufb29\u2212\u2010\u2011"
SIGNS += "\u2013\u2014\ufe58\u2a75"


def split_by(text: str, separator: str) -> list[str]:
    """Cells after a first one as a spreadsheet of another locale finds them, with and without
    minding quotes."""
    return [*next(csv.reader([text], delimiter=separator))[1:], *text.split(separator)[1:]]


@pytest.mark.parametrize(
    "start", [*SIGNS, "=\u0338", *(f"{blank}=" for blank in BLANKS), '"=', "\u200b\xa0\uff1d"]
)
def test_neither_odd_space_nor_an_odd_sign_begins_a_cell(start: str) -> None:
    written = as_csv(pd.DataFrame({f"{start}1": [-1.5], "b": [f"{start}2"]}))
    (one, _), (number, text) = csv.reader(io.StringIO(written, newline=""))
    assert one.startswith("'")
    assert text.startswith("'")
    assert number == "-1.5"


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("sign", ["=", " +", "\xa0-", '"@', '""=', "\u2212", "\uff1d", "\t="])
def test_no_locale_splits_a_text_into_a_formula(sign: str, separator: str) -> None:
    text = f"x{separator}{sign}cmd{separator}{separator}{sign}y"
    written = as_csv(pd.DataFrame({"n": [-1.5], text: [text], "c": [f'a"{text}']}))
    for line in written.splitlines():
        for other in (";", "\t", "|", ","):
            for cell in split_by(line, other):
                assert cell.strip('" \xa0\t')[:1] not in {*"=+-@\u2212\uff1d"} - {""}, cell
    assert "x; y|z - 1" in as_csv(pd.DataFrame({"a": ["x; y|z - 1"]}))


@pytest.mark.parametrize("name", ["sep=;", "SEP=x", "Sep==", " sep=;"])
def test_a_first_name_chooses_no_separator(name: str) -> None:
    assert as_csv(pd.DataFrame({name: [1.0]})).startswith("'")


def test_a_text_of_two_lines_does_not_begin_a_cell_with_its_second() -> None:
    assert as_csv(pd.DataFrame({"a": ["x\r=1+1\n=2"]})) == "a\nx =1+1 =2\n"


# ---------------------------------------------------------------- what a session keeps


def test_a_session_keeps_a_bounded_number_of_results() -> None:
    store = ResultStore()
    caches = [one for one in vars(store).values() if isinstance(one, LRUCache)]
    assert len(caches) >= 6
    for cached in caches:
        made = [weakref.ref(cached.get(key, Large)) for key in range(200)]
        assert sum(one() is not None for one in made) <= 64


def test_a_full_cache_lets_go_of_what_was_asked_for_longest_ago() -> None:
    cached, made = LRUCache[int](3), list[int]()

    def ask(*keys: int) -> list[int]:
        made.clear()
        for key in keys:
            assert cached.get(key, lambda key=key: made.append(key) or 10 * key) == 10 * key
        return list(made)

    assert ask(1, 2, 3) == [1, 2, 3]
    assert ask(3, 2, 1) == []
    assert ask(4) == [4]  # 3 was asked for longest ago
    assert ask(4, 1, 2) == []
    assert ask(3, 3) == [3]


class Large:
    """A result, in memory as long as somebody holds it."""


# ---------------------------------------------------------------- names that lead elsewhere

ELSEWHERE = ["../secret", "/etc/passwd", "..\\secret", "bundled:../secret", "three_groups/../x", ""]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_name_of_data_is_one_of_a_list_and_no_path(name: str) -> None:
    with pytest.raises(InputError, match="not a bundled table"):
        find(name)
    known = {table.name: table for table in bundled()}
    assert from_query({"data": name}, known).data == Scenario.data


def test_the_name_of_an_upload_is_never_opened() -> None:
    """It names the upload in sentences; what is read are its bytes."""
    with pytest.raises(InputError, match="empty"):
        load(InMemory("/etc/../etc/passwd.csv", b""))


# ---------------------------------------------------------------- the server


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serve() as url:
        yield url.removeprefix("http://")


def answer(address: str, method: str, path: str, **headers: str) -> tuple[int, bytes]:
    """Status and body; the path goes out as it is written."""
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        found = connection.getresponse()
        return found.status, found.read()
    finally:
        connection.close()


WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def test_the_server_listens_on_this_machine_alone(address: str) -> None:
    import psutil

    port = urlsplit(f"http://{address}").port
    bound = [c.laddr for c in psutil.net_connections("inet") if c.status == "LISTEN"]
    assert {place.ip for place in bound if place.port == port} == {"127.0.0.1"}


def test_a_page_of_another_site_opens_no_session(address: str) -> None:
    """Neither by its own origin nor by a name that was made to lead here."""
    path = "/_stcore/stream"

    def status(**headers: str) -> int:
        return answer(address, "GET", path, **WEBSOCKET, **headers)[0]

    assert status(Origin=f"http://{address}") == 101
    assert status(Origin="http://example.org") == 403
    assert status(Host="example.org", Origin="http://example.org") in (400, 403)


@every("where", ["/", "/static/", "/media/", "/app/static/", "/component/"])
@every("up", ["../", "..%2f", "%2e%2e/", "..%5c"])
def test_no_path_leads_out_of_what_is_served(where: str, up: str, address: str) -> None:
    _, body = answer(address, "GET", f"{where}{up * 12}etc/passwd")
    assert b"root:" not in body


def test_nothing_is_taken_in_without_the_session_s_token(address: str) -> None:
    status, _ = answer(address, "PUT", "/_stcore/upload_file/no-session/no-file")
    assert status in (400, 403)


def test_there_is_no_other_way_in_than_a_browser(address: str) -> None:
    status, body = answer(
        address, "POST", "/_stcore/agent/interact", Content_Type="application/json"
    )
    assert status >= 400, body
