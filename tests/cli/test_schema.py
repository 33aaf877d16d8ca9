"""``dpcore schema``: a schema to fill in, from the header; proposals are marked as such."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import wording
from commands import Run
from released import made
from support import ROOT

from dpcore.cli.schema import COUNTS_NOTE, NAMED
from dpcore.datasets.load import read_described
from dpcore.schema import Schema
from dpcore.schema.template import PROPOSED

PAGE = (ROOT / "app/docs/schema.md").read_text(encoding="utf-8")
HEADER = '"Netto, EUR";Alter;"a;b"'
LIMITS = {
    "Nr": (0, 99), "Alter": (0, 110), "Einkommen": (0, 2e5), "Quote": (0, 100),
    "Eintritt": ("1990-01-01", "2029-12-31"),
}  # fmt: skip


def test_it_is_the_same_whatever_the_rows_are(run: Run, tmp_path: Path) -> None:
    said = set()
    for rows in ("1,5;41;x", '900;-;"', "ragged", "\u0661;NA;" * 300):
        path = tmp_path / "people.csv"
        path.write_text(f"\n{HEADER}\n{rows}\n", encoding="utf-8")
        answer = run("schema", path)
        assert (answer.code, answer.err) == (0, "")
        said.add(answer.out)
    (text,) = said
    assert text.startswith("# The schema of people.csv, to be")
    assert "lower =" in text
    assert not re.search(r"^(lower|upper|categories)", text, flags=re.MULTILINE)
    filled = text.replace("# lower =", "lower = 0 #").replace("# upper =", "upper = 1 #")
    schema = Schema.parse(filled)
    assert schema.features == ("Netto, EUR", "Alter", "a;b")
    assert schema.separator == ";"
    with pytest.raises(Exception, match="has no bounds"):
        Schema.parse(text)


def test_cells_that_hold_no_listed_name_are_counted_on_request(run: Run, tmp_path: Path) -> None:
    """Numbers are compared by value; columns that no model reads are left out."""
    (tmp_path / "people.csv").write_text("sex,ward,note\nm,01,a\nM,2,b\n-,3,c\n,1.0,d\nf,,e\n")
    (tmp_path / "people.toml").write_text(
        '[file]\nmissing_marks = ["-"]\n[columns.sex]\nrole = "target"\ntype = "binary"\n'
        'categories = ["m", "f"]\n[columns.ward]\ntype = "category"\ncategories = ["1", "2"]\n'
        '[columns.note]\nrole = "ignore"\ntype = "category"\ncategories = ["x"]\n'
    )
    words = "schema", tmp_path / "people.csv", "--check", tmp_path / "people.toml"
    keys = "column", "cells", "missing", "of no listed name"
    assert run(*words, "--json").json["columns"] == [
        dict(zip(keys, row, strict=True)) for row in (("sex", 5, 2, 1), ("ward", 5, 1, 1))
    ]
    answer = run(*words)
    assert (answer.code, answer.err) == (0, f"Note: {COUNTS_NOTE}\n")
    assert NAMED[:40] in answer.out
    for odd in ("--propose", "--decimal=,", "--out=other.toml"):
        assert run(*words, odd).code == 2
    assert not (tmp_path / "other.toml").exists()


def confirmed(text: str) -> str:
    """A custodian who confirms all that is proposed and fills in the limits."""
    text = re.sub(rf"^# (.*# {PROPOSED})$", r"\1", text, flags=re.MULTILINE)
    for name, (low, high) in LIMITS.items():
        head, section, rest = text.partition(f"[columns.{name}]")
        rest = rest.replace("# lower =", f"lower = {low} #", 1)
        text = head + section + rest.replace("# upper =", f"upper = {high} #", 1)
    head, section, rest = text.partition("[columns.Region]")
    rest = rest.replace('"feature"', '"ignore"').replace("# lower =", "").replace("# upper =", "")
    return head + section + rest


def test_what_is_proposed_and_confirmed_reads_the_table(run: Run, tmp_path: Path) -> None:
    (rows,) = re.findall(r"```csv\n(.*?)```", PAGE, flags=re.DOTALL)
    path = tmp_path / "people.csv"
    path.write_text(rows, encoding="utf-8")
    answer = run("schema", path, "--propose")
    assert answer.code == 0
    assert "the private rows were read" in answer.err
    for cell in ("1.234", "41", "Nord", "ja", "2020", "k. A.;"):
        assert cell not in re.sub(r'# (thousands|decimal|date_format) = "[^"]*"', "", answer.out)
    schema = Schema.parse(confirmed(answer.out))
    frame = read_described(path, schema)
    numbers = frame[list(LIMITS)].to_numpy()
    nan = np.nan
    wanted = [[17, 41, 1234.5, 12, 18627], [18, nan, 40000, 7.5, 18659], [19, 66, nan, 0, 18659]]
    np.testing.assert_array_equal(numbers, np.array(wanted))
    (tmp_path / "plain.csv").write_text(HEADER + "\n1,5;2;3\n", encoding="utf-8")
    told = run("schema", tmp_path / "plain.csv", "--propose", "--json").json
    assert told["proposed_from_private_rows"]["file"]["decimal"] == ","
    assert (
        run("schema", tmp_path / "plain.csv", "--json").json["proposed_from_private_rows"] is None
    )


def test_what_is_known_beforehand_stands_in_the_schema(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b;c\n1;2\n")
    words = ("--separator", ";", "--decimal", ",", "--missing-marks", "-,n. a.")
    for more in ((), ("--propose",)):
        text = run("schema", path, *words, *more).out
        assert re.findall(r"^(?:separator|decimal|missing_marks) = .*$", text, re.MULTILINE) == [
            'separator = ";"',
            'decimal = ","',
            'missing_marks = ["-", "n. a."]',
        ]
        schema = Schema.parse(
            text.replace("# lower =", "lower=0#").replace("# upper =", "upper=1#")
        )
        assert schema.features == ("a,b", "c")
        assert schema.file.missing_marks == ("-", "n. a.")
    for odd, field in (
        (["--separator", ":"], "file.separator"),
        (["--decimal", "x"], "file.decimal"),
        (["--missing-marks", " ,"], "missing_marks"),
    ):
        answer = run("schema", path, *odd)
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith(f"dpcore: {field}: ")
    pq.write_table(pa.table({"n": [1]}), tmp_path / "t.parquet")
    assert "t.parquet is not a text file" in run("schema", tmp_path / "t.parquet", *words).err


def test_numbers_written_otherwise_are_not_left_out_of_inferred_bounds(
    run: Run, tmp_path: Path
) -> None:
    path, words = tmp_path / "pay.csv", ("--infer-schema", "--privacy", "none", "--components", "1")
    path.write_text("age,pay,region\n" + "".join(f'{i},"{i},5 EUR",north\n' for i in range(30)))
    answer = run("fit", "gmm", path, *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(
        "dpcore: column pay: it seems to hold numbers or dates in another not"
    )
    assert "--propose" in answer.err
    assert run("fit", "gmm", path, *words, "--columns", "age").code == 0


@pytest.mark.parametrize(
    ("cells", "separator", "kind", "form"),
    [
        (["1,234", "5,678"], ",", "number", (".", ",")),
        (["1,234", "5,678"], ";", "number", (",", None)),
        (["1.234", "5.678"], ",", "number", (".", None)),
        (["1.234,5", "7"], ";", "number", (",", ".")),
        (["1'234.5", "n/a"], ",", "number", (".", "'")),
        (["1 234,5", "-"], ";", "number", (",", " ")),
        (["03/04/2020", "05/06/2021"], ",", "date", (".", None)),
        (["north", "-"], ",", "text", (".", None)),
        (["-", ""], ",", "empty", (".", None)),
        ([], ",", "empty", (".", None)),
        (["NA", "n. a."], ",", "empty", (".", None)),
        (["20261231", "20270101"], ",", "days", (".", None)),
        (["20261231", "20271301"], ",", "number", (".", None)),
        (["00261231", "20261231"], ",", "number", (".", None)),
    ],
)
def test_proposals(cells: list[str], separator: str, kind: str, form: tuple[str, str]) -> None:
    from dpcore.schema.proposals import proposed

    found = proposed(pd.DataFrame({"x": cells}, dtype=object), separator)
    assert found.columns["x"].type == {"days": "date"}.get(kind, kind)
    if kind == "days":
        assert (found.columns["x"].date_format, found.columns["x"].other) == ("YYYYMMDD", "number")
    if kind == "number":
        assert (found.file.decimal, found.file.thousands) == form
        read = Schema.parse("[columns.x]\nlower = 0\nupper = 1\n")
        assert np.isfinite(
            Schema(read.columns, file=found.file).numbers("x", pd.Series(cells[:1]))
        ).all()
    if kind == "date":
        assert (found.columns["x"].date_format, found.columns["x"].other) == (
            "DD/MM/YYYY",
            "MM/DD/YYYY",
        )


def test_days_of_eight_digits_and_empty_columns_are_proposed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("day,note,n\n20260131,,1\n20251230,NA,2\n,-,3\n")
    text = run("schema", path, "--propose").out
    assert '# date_format = "YYYYMMDD"' in text
    assert '# "number" fits as well, judging by the private rows' in text
    assert '# every cell is missing, judging by the private rows: role = "ignore"' in text
    assert "# not numbers" not in text
    pq.write_table(
        pa.table({"n": [1], "note": pa.array([None], pa.float64())}), tmp_path / "t.parquet"
    )
    assert "every cell is missing" in run("schema", tmp_path / "t.parquet", "--propose").out


def test_a_column_of_lists_is_none_of_numbers(run: Run, tmp_path: Path) -> None:
    """Also on the page of an upload, which asks for the same proposals."""
    path = tmp_path / "visits.parquet"
    pq.write_table(
        pa.table({"days": [[1, 2], [3]], "who": [{"name": "x"}, None], "n": [1, 2]}), path
    )
    text = run("schema", path, "--propose").out
    assert text.count('type = "text"') == 2


def test_other_spellings_of_missing_cells_are_proposed_and_those_that_always_count_are_not(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("n\n1\nNULL\nnull\nNone\nNONE\nNA\nna\n")
    text = run("schema", path, "--propose").out
    assert '# missing_marks = ["NONE", "NULL", "na"]' in text
    assert "# not numbers" not in text


def test_days_as_iso_8601_writes_them_fit_no_other_form(run: Run, tmp_path: Path) -> None:
    """Every form reads them."""
    path = tmp_path / "visits.csv"
    path.write_text("day\n2026-01-31\n2025-12-30\n")
    text = run("schema", path, "--propose").out
    assert '# date_format = "YYYY-MM-DD"' in text
    assert "fits as well" not in text


def test_a_parquet_file_states_its_types(run: Run, tmp_path: Path) -> None:
    columns = {
        "n": pa.array([1]), "yes": pa.array([True]), "word": pa.array(["a"]),
        "day": pa.array([0], pa.date32()), "at": pa.array([0], pa.timestamp("ns")),
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    told = run("schema", tmp_path / "t.parquet", "--json").json
    kinds = {"n": "number", "yes": "binary", "word": "text", "day": "date", "at": "date"}
    assert (told["types"], told["separator"]) == (kinds, None)
    assert "[file]" not in told["schema"]


def test_a_folder_has_a_name_wherever_one_stands(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    (folder / "part.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(folder)
    assert run("schema", ".").out.startswith("# The schema of people, to be")


def test_a_text_file_states_no_types(run: Run, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,town\n1,Rome\n")
    assert run("schema", tmp_path / "people.csv", "--json").json["types"] == {
        "age": None,
        "town": None,
    }


def test_a_file_that_is_there_is_never_written_over(run: Run, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("a,b\n1,2\n")
    place = tmp_path / "people.toml"
    assert run("schema", tmp_path / "people.csv", "--out", place).code == 0
    place.write_text(mine := place.read_text() + "# mine\n")
    again = run("schema", tmp_path / "people.csv", "--out", place)
    assert (again.code, place.read_text()) == (2, mine)
    assert again.err == "dpcore: out: people.toml already exists; name another file.\n"


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "1;2\n3;4\n", "its first line has numbers"),
        ("t.csv", "a;a\n", "have the same name"),
        ("t.npz", "", "has no header"),
        ("t.doc", "a;b\n", wording.EXTENSION),
    ],
)
def test_a_file_without_a_header_is_one_sentence(
    run: Run, tmp_path: Path, name: str, content: str, found: str
) -> None:
    (tmp_path / name).write_text(content)
    answer = run("schema", tmp_path / name)
    assert (answer.code, answer.out) == (2, "")
    assert found in answer.err


def test_a_release_of_narrower_limits_gives_its_schema(run: Run, tmp_path: Path) -> None:
    release, new = made("limits"), tmp_path / "new.toml"
    assert run("schema", release.folder, "--out", new).code == 0
    assert release.fit.schema is not None
    narrower = release.fit.parameters.narrowed(release.fit.schema, release.fit.guarantee)
    assert Schema.from_toml(new) == narrower
    assert not narrower.rehearsal
    for place in (release.folder, release.folder / "dossier.json"):
        assert run("schema", place).out == new.read_text(encoding="utf-8")
    refused = run("schema", made("mean").folder)
    assert (refused.code, "release: mean releases no limits" in refused.err) == (2, True)
    refused = run("schema", release.folder, "--propose")
    assert (refused.code, "command line: a release is not a table" in refused.err) == (2, True)
