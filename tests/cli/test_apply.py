"""``dpcore apply``: a line for each row, or one sentence and nothing written."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import wording
from commands import Run
from released import made, people
from support import ROOT

import dpcore as dp
from dpcore.releases.filter import Amount

RELEASE = ROOT / "notebooks" / "first_release"
ROWS = """id,pressure,age,stay,earlier visits,ward
=1+1,120,30,2,0,surgery
p2,150,82,10,4,heart
p3,NA,200,4,1,elsewhere
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "new.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def test_it_writes_a_line_for_each_row_in_their_order(run: Run, rows: Path) -> None:
    answer = run("apply", RELEASE, rows, "--keep", "id")
    assert answer.code == 0
    lines = list(csv.reader(io.StringIO(answer.out)))
    assert lines[0] == ["id", "prediction", "probability of no", "probability of yes"]
    assert [line[0] for line in lines[1:]] == ["'=1+1", "p2", "p3"]  # no spreadsheet runs it
    expected = dp.open_release(RELEASE).predict_proba(pd.read_csv(rows))
    for line, chances in zip(lines[1:], expected, strict=True):
        assert [float(cell) for cell in line[2:]] == pytest.approx(chances.tolist(), rel=1e-5)
    assert " ".join(answer.err.split()) == (
        "Note: cells that hold no listed category, read as none of them: 1. "
        "Note: missing or infinite cells, replaced by their public fill: 1; cells moved "
        "because they or their row lay outside the public limits: 1."
    )


def test_what_stays_missing_is_not_said_to_be_replaced(run: Run, tmp_path: Path) -> None:
    """Narrower limits say where each number lies; an empty cell lies nowhere."""
    folder, new = made("limits").folder, tmp_path / "new.csv"
    empty = people(3)
    empty.loc[0, "x"] = None
    empty.to_csv(new, index=False)
    answer = run("apply", folder, new)
    assert answer.out.splitlines()[1].startswith(",")
    assert "missing or infinite cells, which stay missing: 1; " in " ".join(answer.err.split())
    described = json.loads(run("apply", folder).out)["properties"]["x"]["description"]
    assert described.endswith("null stays missing")


def test_a_file_holds_the_same_and_is_not_the_rows_or_in_the_release(
    run: Run, rows: Path, tmp_path: Path
) -> None:
    out = tmp_path / "answers.csv"
    printed = run("apply", RELEASE, rows, "--what", "predict")
    assert run("apply", RELEASE, rows, "--what", "predict", "--out", out).out == ""
    assert out.read_text(encoding="utf-8") == printed.out
    classes = dp.open_release(RELEASE).predict(pd.read_csv(rows))
    assert printed.out.split() == ["prediction", *classes]
    folder = Path(shutil.copytree(RELEASE, tmp_path / "release"))
    for place, words in (
        (rows, "out: it is the input file; name another file."),
        (folder / "answers.csv", "out: it is in a release's folder, which may hold only"),
        (tmp_path / "no" / "where.csv", "out: the file cannot be written; give another path."),
    ):
        answer = run("apply", folder, rows, "--out", place)
        assert (answer.code, answer.out) == (2, "")
        assert words in answer.err
    assert rows.read_text(encoding="utf-8") == ROWS
    budget, new = ["--epsilon", "1", "--delta", "1e-5"], folder / "new"
    for command in (
        ["site", folder, "--release", folder],
        ["site", new, "--release", folder],
        ["notebooks", new / "and" / "deep"],
        ["schema", rows, "--out", new],
        ["ledger", new, "--create", *budget],
        ["ledger", tmp_path / "none", "--write", "2", "--out", new],
        ["release", "mean", rows, "--ledger", tmp_path / "none", "--out", new, *budget],
    ):
        answer = run(*command)
        assert (answer.code, answer.out) == (2, "")
        assert "it is in a release's folder, which may hold only" in answer.err
    assert run("verify", folder).code == 0


def test_json_holds_columns_and_rows(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("pressure,age,stay,earlier visits,ward\n120,30,2,0,lungs\n", encoding="utf-8")
    found = run("apply", RELEASE, path, "--json").json
    assert found["columns"] == ["prediction", "probability of no", "probability of yes"]
    assert found["rows"][0][0] in ("no", "yes")
    assert sum(found["rows"][0][1:]) == pytest.approx(1.0)
    assert run("apply", RELEASE, path, "--json", "--out", tmp_path / "a.csv").code == 2


def test_the_separator_is_read_from_the_header_line(run: Run, rows: Path) -> None:
    plain = run("apply", RELEASE, rows)
    for separator in (";", "\t", "|"):
        rows.write_text(ROWS.replace(",", separator), encoding="utf-8")
        assert run("apply", RELEASE, rows).out == plain.out


def test_rows_written_as_the_schema_says_are_read_as_it_says(run: Run, tmp_path: Path) -> None:
    """A German file after a German one; a comma between columns means points in numbers."""
    (tmp_path / "t.csv").write_text("a;b\n" + "".join(f"0,{i % 10} %;-\n" for i in range(100)))
    (tmp_path / "t.toml").write_text(
        '[file]\nseparator = ";"\ndecimal = ","\nmissing_marks = ["-"]\n[columns.a]\nlower = 0\n'
        'upper = 1\nsymbols = ["%"]\n[columns.b]\nlower = 0\nupper = 9\n'
    )
    place, out = tmp_path / "l.sqlite", tmp_path / "out"
    dp.BudgetLedger.create(place, Amount(1.0, 1e-5))
    table = dp.load(tmp_path / "t.csv")
    options = {"privacy": dp.Privacy(0.5, 1e-6), "ledger": place, "out": out, "n_components": 1}
    dp.release("kmeans", table, **options)
    told = []
    for text in ("a;b\n0,25 %;1\n0,5;-\n", "a,b\n0.25 %,1\n0.5,NA\n"):
        (tmp_path / "new.csv").write_text(text)
        told.append(run("apply", out, tmp_path / "new.csv", "--what", "transform"))
        assert told[-1].code == 0
    assert told[0].out == told[1].out
    assert ["that the release's schema states" in " ".join(one.err.split()) for one in told] == [
        True,
        False,
    ]
    (tmp_path / "new.csv").write_text("a;b\n0.25 %;1\n")
    refused = run("apply", out, tmp_path / "new.csv")
    assert (refused.code, refused.out) == (2, "")
    assert "write numbers with a comma (0,5)" in refused.err


def test_without_rows_it_says_what_a_row_is(run: Run) -> None:
    found = run("apply", RELEASE).json
    assert found == json.loads(json.dumps(dp.open_release(RELEASE).to_json_schema()))
    assert found["properties"]["ward"] == {"enum": ["surgery", "heart", "lungs"]}
    assert found["properties"]["age"]["maximum"] == 100
    for option in ("--what", "--keep", "--array", "--out"):
        answer = run("apply", RELEASE, option, "predict")
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith(f"dpcore: {option[2:]}: there are no rows")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("stay", "nights", "stay: the table has no such column; give the release's columns, as"),
        (
            "150,82",
            '"150,5",82',
            f"pressure: {wording.SOME_NO_NUMBERS}; write numbers with a point (0.5)",
        ),
        ("p2,150", "p2,8675309 EUR", f"pressure: {wording.SOME_NO_NUMBERS}"),
        ("p2,150,82", "p2,150,5,82", "new.csv: some rows have more or fewer cells than the head"),
        (ROWS, "", "new.csv: the file is empty; give a table with a header line."),
        (ROWS.split("\n", 1)[1], "", "new.csv: it has a header but no rows; give a table with row"),
    ],
)
def test_a_table_that_cannot_be_read_gets_one_sentence(
    old: str, new: str, words: str, run: Run, rows: Path, tmp_path: Path
) -> None:
    rows.write_text(ROWS.replace(old, new), encoding="utf-8")
    out = tmp_path / "answers.csv"
    answer = run("apply", RELEASE, rows, "--out", out)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"dpcore: {words}")
    assert answer.err.count("\n") == 1
    assert "8675309" not in answer.err
    assert not out.exists()


def test_other_bad_words_get_one_sentence(run: Run, rows: Path, tmp_path: Path) -> None:
    for words, told in (
        (["--what", "guess"], "what: 'guess' is not known; choose predict, predict_proba"),
        (
            ["--what", "transform"],
            "transform: this release, a logistic regression, does not transform",
        ),
        (["--keep", "name"], "keep: the table has no column 'name'; name one of its columns."),
        (["--array", "X"], "array: only an .npz file has named arrays"),
    ):
        answer = run("apply", RELEASE, rows, *words)
        assert (answer.code, answer.out) == (2, "")
        assert told in answer.err
    assert wording.FILE_MISSING in run("apply", RELEASE, tmp_path / "absent.csv").err
    assert run("apply", tmp_path / "absent", rows).err.startswith("dpcore: dossier: it cannot be r")
    rows.write_text(ROWS.replace("id,", "prediction,"), encoding="utf-8")
    assert "is a column of the answers" in run("apply", RELEASE, rows, "--keep", "prediction").err


def test_a_release_that_was_changed_ends_with_code_1(run: Run, rows: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(RELEASE, tmp_path / "release"))
    dossier = folder / "dossier.json"
    dossier.write_text(dossier.read_text().replace('"stay"', '"nights"', 1))
    answer = run("apply", folder, rows)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == (
        "dpcore: The dossier was changed: the hash of its content differs from the hash it "
        "states.\n"
    )
    (folder / "report.html").unlink()
    assert run("apply", folder, rows).code == 1
