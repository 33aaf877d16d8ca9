"""A thousand malformed inputs: each gets one sentence or is read; nothing hangs, nothing is spent.

Loader, schema, link and corpus; dossiers are in ``test_release.py``.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import dpcore as dp
from app.scenario import Scenario, from_query
from dpcore.cli import main
from dpcore.datasets.catalogue import bundled
from dpcore.datasets.files import InMemory
from dpcore.datasets.load import load
from dpcore.errors import DPCoreError
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger
from dpcore.schema import Schema

TABLE = b"age,region,visits\n31,north,2\n44,south,0\n29,north,11\n"
SCHEMA = """
[table]
unit = "person"
rows_per_person = 1

[columns.age]
lower = 0
upper = 110
unit = "years"

[columns.region]
role = "label"
type = "category"
categories = ["north", "south"]

[columns.visits]
lower = 0
upper = 50
missing = 1
"""
LINK = {"data": "iris", "model": "gmm", "epsilon": "0.5", "delta": "1e-6", "clip": "0.8", "x": "1"}
ODD = [
    b"\x00", b"\xff\xfe", b'"', b",", b"\r", b"\n\n", b"nan", b"inf", b"-1e400", b"1e-400", b"=1+1",
    b"\xef\xbb\xbf", b"\xe2\x80\xae", b";", b"\t", b"{", b"[[", b"'''", b"\\", b"9" * 400,
    b"[table]", b"lower = inf", b"type = 7", b"../..", b"true", b"None", b"\x1a", b" ", b"",
]  # fmt: skip


def mangled(content: bytes, rng: random.Random) -> bytes:
    """A few bytes put in, taken out, doubled or cut off."""
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(5):
            case 0:
                content = content[:at] + rng.choice(ODD) + content[at:]
            case 1:
                content = content[:at] + content[at + rng.randrange(1, 9) :]
            case 2:
                content = content[:at] + content[at // 2 :]
            case 3:
                content = content[:at]
            case _:
                content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
    return content


def said_in_a_sentence(refusal: DPCoreError) -> bool:
    text = str(refusal)
    return text.count("\n") == 0 and len(text) < 600


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.npz"])
def test_odd_tables(name: str, seed: int) -> None:
    rng = random.Random(f"{name}{seed}")
    for _ in range(3):
        try:
            load(InMemory(name, mangled(TABLE, rng)))
        except DPCoreError as refusal:
            sentence = said_in_a_sentence(refusal)
            assert sentence


@pytest.mark.parametrize("seed", range(20))
def test_odd_schemas(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(15):
        text = mangled(SCHEMA.encode(), rng).decode("utf-8", errors="replace")
        try:
            schema = Schema.parse(text)
            load(InMemory("t.csv", TABLE), schema=schema)
        except DPCoreError as refusal:
            sentence = said_in_a_sentence(refusal)
            assert sentence


@pytest.mark.parametrize("seed", range(20))
def test_odd_links_open_a_page_that_can_be_drawn(seed: int) -> None:
    rng, names = random.Random(seed), {table.name: table for table in bundled()}
    for _ in range(15):
        query = dict(LINK)
        for key in rng.sample(sorted(query), 2):
            query[key] = mangled(query[key].encode(), rng).decode("latin-1")
        query[mangled(b"model", rng).decode("latin-1")] = rng.choice(list(query.values()))
        found = from_query(query, names)
        assert isinstance(found, Scenario)
        assert found.data in names
        assert 0.0 < found.epsilon <= 100.0
        assert found.setting().options()["n_components"] >= 1


@pytest.mark.parametrize("seed", range(10))
def test_odd_command_lines_spend_nothing(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(seed)
    monkeypatch.chdir(tmp_path)
    BudgetLedger.create("budget.sqlite", Amount(1.0, 1e-5))
    before = Path("budget.sqlite").read_bytes()
    options = "--ledger budget.sqlite --epsilon 0.1 --delta 1e-5 --out o --yes"
    words = ["release", "gmm", "bundled:iris", *options.split(" ")]
    for _ in range(12):
        odd = list(words)
        odd[rng.choice([1, 2, 6, 8])] = rng.choice(
            ["nan", "-1", "", "gm", "0", "1e999", "\x00", "ä"]
        )
        code = main(odd)
        assert code in (2, 3), odd
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert Path("budget.sqlite").read_bytes() == before
    assert not Path("o").exists()


def test_a_public_name_stays_what_it_was_when_first_used() -> None:
    """A room of the same name would take its place once something in it is imported."""
    first = {name: getattr(dp, name) for name in dp.__all__}
    for name, found in first.items():
        assert getattr(dp, name) is found
        assert callable(found), name
