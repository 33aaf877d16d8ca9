"""The report: everything that left, by name and with its right labels, and who answers for it."""

from __future__ import annotations

import json
import re
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
import wording
from released import CASES, PLACES, made, people
from support import ROOT, every

import dpcore as dp
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.releases.filter import Amount
from dpcore.releases.report import report
from dpcore.schema import Schema
from dpcore.schema.forms import DAYS

GIVEN = ROOT / "notebooks" / "first_release"


@every("model", CASES)
def test_the_report_lists_all_that_left(model: str) -> None:
    page = (made(model).folder / "report.html").read_text(encoding="utf-8")
    left = page.split("<h2>What was released</h2>")[1].split("<h2>What it cost</h2>")[0]
    for name in made(model).dossier["parameters"]:
        row = re.search(rf"<tr><td>{name.replace('_', ' ')}</td><td>.+?</td><td>(.+?)</td>", left)
        assert row, name
        in_one = ("intercept", "intervals", "intervals_include", "coefficients")
        if row[1] == "below" and name not in in_one:
            assert f"<th>{name.replace('_', ' ')}" in left, name
    assert "None" not in left
    assert "nan" not in left


def test_the_report_labels_numbers_by_part_or_by_column() -> None:
    def heads(model: str, name: str) -> list[str]:
        page = (made(model).folder / "report.html").read_text(encoding="utf-8")
        table = re.search(rf"<thead><tr><th>{name}</th>(.*?)</tr></thead>(.*?)</table>", page)
        assert table, name
        across = re.findall(r"<th>(.*?)</th>", table[1])
        return [*filter(None, across), "|", *re.findall(r"<tr><td>(.*?)</td>", table[2])]

    columns = ["x", "y", "region=north", "region=south"]
    groups = ["group 1", "group 2", "|"]
    assert heads("gmm", "weights") == [*groups, ""]
    assert heads("gmm", "means") == [*groups, *columns]
    assert heads("gmm", "covariances, group 2") == [*columns, "|", *columns]
    assert heads("gmm-release", "means") == ["b", "a", "|", *columns]
    assert heads("fa", "mean") == ["|", *columns]
    assert heads("fa", "loadings") == ["factor 1", "|", *columns]
    assert heads("ppca", "loadings") == [*(f"factor {n}" for n in (1, 2, 3)), "|", *columns]
    assert heads("sbn", "weights") == ["hidden unit 1", "hidden unit 2", "|", *"pqr"]
    assert heads("poisson", "rates") == [*groups, "a", "b"]  # as many groups as columns
    assert heads("covariance", "correlation") == [*columns, "|", *columns]
    components = [f"component {number}" for number in range(1, 5)]
    assert heads("covariance", "components") == [*components, "|", *columns]
    assert heads("covariance", "explained variance") == ["|", *components]
    assert heads("covariance", "mean") == ["|", *columns]
    assert heads("symmetric-mixture", "beta") == ["|", *columns]


def test_the_report_says_who_answers_what_for_and_what_was_left(tmp_path: Path) -> None:
    ledger = tmp_path / "budget.sqlite"
    dp.BudgetLedger.create(ledger, Amount(2.0, 1e-5), adjacency="add_remove")
    words: dict[str, Any] = {
        "privacy": dp.Privacy(0.5, 3e-6, adjacency="add_remove"),
        "ledger": ledger,
        "out": tmp_path / "out",
    }
    table = dp.load(people(), schema=Schema(PLACES))
    for odd in ("x" * 1001, 7, None):
        with pytest.raises(
            InputError, match="purpose: it is not a text of at most 1000 characters"
        ):
            dp.release("gmm", table, purpose=odd, **words)  # type: ignore[arg-type]
    assert dp.BudgetLedger(ledger).state().releases == ()
    said = {"file": "people.csv", "controller": "A & <b>", "purpose": "Beds\nand\tmeals"}
    page = (dp.release("gmm", table, **said, **words).folder / "report.html").read_text("utf-8")
    for name, told in {
        "Data": "people.csv",
        "Rows": "private",
        "Controller": "A &amp; &lt;b&gt;",
        "Purpose": "Beds and meals",
        "Protected": "adding or removing one person&#x27;s row; each person has one row",
    }.items():
        assert f"<tr><th>{name}</th><td>{told}</td></tr>" in page
    assert "at most 1 in 333,333." in page
    cost = page.split("What it cost")[1].split("What was measured")[0]
    assert re.findall(r"<td>([\d.]+)</td><td>[\d·]*10⁻", cost)[0::2] == ["2.00", "0.500"]
    assert 1.8 < float(re.findall(r"can spend afterwards</td><td>([\d.]+)</td>", cost)[0]) < 2.0
    content = json.loads((tmp_path / "out/dossier.json").read_text("utf-8"))["content"]
    assert f"<code>{content}</code>" in page
    assert "dpcore verify FOLDER --ledger LEDGER" in page


GUESSES = {
    ("replace_one", 1): "everybody else's rows, and finds two candidates for one patient's equally "
    "likely, is right",
    ("add_remove", 1): "everybody's rows, and finds it equally likely that one patient's are "
    "included and that they are left out, is right",
    ("label", 1): "everything but one patient's label, and finds two candidates for it equally "
    "likely, is right",
    ("label", 2): "everything but one patient's labels, and finds two candidates for them equally "
    "likely, is right",
    ("feature", 1): "everything but one patient's features, and finds two candidates for them "
    "equally likely, is right",
}


@every("terms", GUESSES)
def test_the_report_bounds_guesses_between_the_tables_that_the_guarantee_covers(
    terms: tuple[str, int],
) -> None:
    """One of two candidates for a whole row is not hidden where only its presence is, or its
    label."""
    dossier = json.loads((GIVEN / "dossier.json").read_text(encoding="utf-8"))
    adjacency, rows = terms
    guarantee = {**dossier["guarantee"], "adjacency": adjacency, "rows_per_person": rows}
    page = unescape(report({**dossier, "guarantee": guarantee}))
    assert f"<p>Somebody who knows {GUESSES[terms]} at most " in page


def test_whatever_a_model_releases_has_its_line() -> None:
    """A report that fails would fail a release that is paid for."""
    dossier = json.loads((GIVEN / "dossier.json").read_text(encoding="utf-8"))
    odd = {"words": [["a", "<b>"], ["c"]], "ragged": [[1.0], [1.0, 2.0]], "digits": ["0", "1"]}
    more = {
        "named": {"a": 1.0},
        "many": [["word"] * 50] * 3,
        "text": "x" * 200,
        "nothing": None,
        "empty": [[], []],
    }
    for model in ("gmm", "mean", "sbn"):
        for delta in (1e-15, 1e-300, 5e-324):
            guarantee = {**dossier["guarantee"], "delta": delta}
            other = {"model": model, "parameters": odd | more, "guarantee": guarantee}
            page = report({**dossier, **other})
            assert "&lt;b&gt;" in page
            assert "<td>many</td><td>3 entries</td><td>dossier.json</td>" in page
            assert "<td>empty</td><td>no numbers</td>" in page
            assert "<td>digits</td><td>0, 1</td><td>here</td>" in page
            assert "at most 1 in 1" in page


def test_a_number_of_rows_that_is_public_stands_in_the_report() -> None:
    page = (GIVEN / "report.html").read_text(encoding="utf-8")
    (rows,) = re.findall(r"<th>Rows</th><td>([\d,]+) \(public\)</td>", page)
    assert int(rows.replace(",", "")) == json.loads((GIVEN / "dossier.json").read_text())["rows"]
    assert "@media print" in page
    signed = page.split('<div class="sign">')[1]
    assert json.loads((GIVEN / "dossier.json").read_text())["content"] in signed
    assert "<span>Signature</span>" in signed


def test_all_limits_that_the_guarantee_rests_on_stand_in_the_report() -> None:
    """Those of a target and the names of classes too: the controller answers for them."""

    def limits(model: str) -> str:
        page = (made(model).folder / "report.html").read_text(encoding="utf-8")
        return page.split(wording.LIMITS_HEADING)[1]

    target = "<tr><td>amount, the target</td><td>0.0</td><td>1.00</td>"
    assert f"{target}<td>0.500</td></tr>" in limits("mixture-regression")
    assert f"{target}</tr>" in limits("missing-regression")  # which fills no cell
    assert "<p>Values of kind, the label: b, a.</p>" in limits("gmm-release")
    assert "<p>Values of back, the target: yes, no.</p>" in limits("logistic")
    assert "the target" not in limits("gmm")
    dossier = json.loads(json.dumps(made("mean").dossier))
    dossier["columns"][0] |= {"unit": DAYS, "lower": 16071.0, "upper": 18993.0}
    dossier["parameters"]["mean"][0] = 17000.4
    page = report(dossier)
    assert "<td>16,071 (2014-01-01)</td><td>18,993 (2022-01-01)</td>" in page
    assert "<td>x</td><td>17,000 (2016-07-18)</td>" in page, "what was released is a date too"


def test_what_a_model_warns_of_stands_in_the_report_in_full() -> None:
    dossier = json.loads(json.dumps(made("gmm-release").dossier))
    warning = "the noise outweighs the data on <b>: too few rows, or " + "columns " * 20
    for odd in ([], [1.0], "x", None):
        dossier["parameters"]["warnings"] = odd
        assert "Warning:" not in report(dossier)
    dossier["parameters"]["warnings"] = [warning]
    page = report(dossier)
    assert f"<p>Warning: {warning.replace('<b>', '&lt;b&gt;')}.</p>" in page
    assert "<td>warnings</td><td>1 entry</td><td>below</td>" in page


def test_numbers_whose_names_do_not_tell_what_they_are_are_explained() -> None:
    for model in CASES:
        meanings = declaration(model).meanings
        page = (made(model).folder / "report.html").read_text(encoding="utf-8")
        for name, meaning in meanings.items():
            there = f"<li>{name.replace('_', ' ')}: {escape(meaning)}</li>" in page
            assert there == (name in made(model).dossier["parameters"]), (model, name)
    assert declaration("gmm-release").meanings.keys() >= {"doubt", "expected_divergence"}


def test_a_report_names_the_algorithm_that_its_intervals_speak_of() -> None:
    page = (made("logistic").folder / "report.html").read_text(encoding="utf-8")
    algorithm = made("logistic").dossier["settings"]["algorithm"]
    assert f"the log odds of back = no, as fitted by {algorithm}; intervals include" in page


def test_a_wide_table_is_printed_in_parts_with_whole_numbers() -> None:
    """A page of paper holds eight columns; a number that is broken reads as two."""
    names = [f"c{number}" for number in range(13)]
    dossier = json.loads(json.dumps(made("covariance").dossier))
    dossier["columns"] = [{"name": n, "unit": None, "lower": 0, "upper": 1} for n in names]
    cells = [[float(10 * across + down) for across in range(13)] for down in range(13)]
    dossier["parameters"] = {"columns": names, "correlation": cells}
    page = report(dossier)
    parts = re.findall(r"<thead><tr><th>correlation</th>(.*?)</tr></thead>(.*?)</table>", page)
    assert [re.findall("<th>(.*?)</th>", head) for head, _ in parts] == [names[:8], names[8:]]
    rows = [re.findall(r"<tr><td>c1</td>(.*?)</tr>", body)[0] for _, body in parts]
    assert re.findall(r"<td>(.*?)</td>", "".join(rows)) == [f"{n:.1f}" for n in range(10, 23)]
    assert ".wide td { white-space: nowrap; }" in page.split("@media print")[1]
