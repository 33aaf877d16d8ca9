"""``dpcore plan``: a table of what is to leave, split, priced and written down; no row is read."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from commands import BOX, Run

from dpcore.planning.plan import Planner

PLAN = """
[budget]
epsilon = 2
delta = 1e-5

[[release]]
name = "quarterly correlations"
model = "covariance"
file = "people.csv"
rows = 300
times = 4

[[release]]
name = "averages"
model = "mean"
file = "people.toml"
rows = 300
epsilon = 0.5
locked = true
options = { tau = 0.5 }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan and its schema; there is no table."""
    (tmp_path / "people.toml").write_text(BOX)
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    assert not (tmp_path / "people.csv").exists()
    return path


def test_it_plans_without_a_table_and_says_what_it_found(run: Run, plan: Path) -> None:
    answer = run("plan", plan)
    assert (answer.code, answer.err) == (0, "")
    assert "quarterly correlations" in answer.out
    assert "Planned: epsilon = " in answer.out
    assert "twice the rows" in answer.out
    said = " ".join(answer.out.split())
    assert "Protected change: replacing one person's row." in said
    assert "No row of any table was read" in said


def test_a_release_may_be_called_mean(run: Run, plan: Path) -> None:
    """Its accuracy had stood in the place of the mean of all accuracies."""
    plan.write_text(PLAN.replace('"averages"', '"mean"'))
    lines = run("plan", plan).out.splitlines()
    head = next(line for line in lines if "what if" in line)
    assert re.split(r" {2,}", head.strip()) == [
        "what if",
        "mean",
        "'quarterly correlations'",
        "'mean'",
    ]
    planned = next(line for line in lines if "as planned" in line)
    mean, *each = (float(share[:-1]) for share in planned.split()[2:])
    assert mean == pytest.approx(
        sum(share * t for share, t in zip(each, (4, 1), strict=True)) / 5, abs=1.0
    )


def test_the_json_is_the_contract_s(run: Run, plan: Path) -> None:
    found = run("plan", plan, "--json").json
    assert {"releases", "spent", "left", "prices", "feasible", "conflict"} <= set(found)
    correlations, averages = found["releases"]
    assert (correlations["name"], correlations["times"]) == ("quarterly correlations", 4)
    assert averages["epsilon"] == pytest.approx(0.5, rel=1e-6)
    assert found["spent"]["epsilon"] <= 2.0
    assert set(found["prices"]) == {"quarterly correlations", "averages"}


@pytest.mark.parametrize("end", ["csv", "json", "html"])
def test_it_writes_a_file_for_each_reader(run: Run, plan: Path, tmp_path: Path, end: str) -> None:
    out = tmp_path / f"made.{end}"
    assert run("plan", plan, "--out", out).code == 0
    text = out.read_text(encoding="utf-8")
    assert "quarterly correlations" in text
    if end == "json":
        assert json.loads(text)["feasible"] is True


def test_wishes_that_do_not_fit_end_with_code_3_and_name_one(run: Run, plan: Path) -> None:
    answer = run("plan", plan, "--epsilon", "0.3", "--json")
    assert answer.code == 3
    assert json.loads(answer.out)["feasible"] is False
    assert "drop the request for 'averages' (locked at epsilon = 0.5)" in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[budget]", "[budgets]", '"budgets" is not known'),
        ("times = 4", "time = 4", '"time" is not known'),
        ('model = "mean"', 'model = "means"', "release 'averages', model"),
        ("rows = 300\ntimes", "times", "release 'quarterly correlations', rows: none was given"),
        ('file = "people.toml"', "", "release 'averages', file: none was given"),
        ('"people.toml"', '"/"', "file: none was given"),
        ('file = "people.toml"', 'file = "others.toml"', "no such schema file"),
        ("tau = 0.5", "groups = 2", '"groups" is not known'),
        ("epsilon = 2", "epsilon = -2", "epsilon: -2"),
        ("epsilon = 2\n", "", "epsilon"),
        ("epsilon = 0.5", "at_least = 0.5", "locked"),
        ("[budget]", "[budget", "it is not TOML"),
        ('"averages"', '"quarterly correlations"', "the same name"),
    ],
)
def test_a_plan_that_cannot_be_is_one_sentence(
    run: Run, plan: Path, old: str, new: str, says: str
) -> None:
    plan.write_text(PLAN.replace(old, new, 1))
    answer = run("plan", plan)
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err
    assert answer.err.count("\n") == 1


def test_an_unknown_kind_of_file_is_refused_before_anything_is_worked_out(
    run: Run, plan: Path
) -> None:
    answer = run("plan", plan, "--out", "plan.docx")
    assert answer.code == 2
    assert ".html" in answer.err


def test_a_plan_is_not_written_over_and_its_place_is_looked_at_first(
    run: Run, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan was lost, and simulations of minutes came before the refusal of a place."""
    monkeypatch.delattr(Planner, "plan")
    own = plan.with_suffix(".json")
    own.write_text(json.dumps(tomllib.loads(PLAN)))
    assert "out: it is the plan itself; name another file" in run("plan", own, "--out", own).err
    nowhere = plan.parent / "no" / "where.csv"
    assert "out: the file cannot be written" in run("plan", plan, "--out", nowhere).err
    assert json.loads(own.read_text()) == tomllib.loads(PLAN)


def test_a_name_that_is_no_text_is_written_as_it_is_printed(run: Run, plan: Path) -> None:
    """Half a character: the command ended in a traceback, and the file that was there was lost."""
    own, page = plan.with_suffix(".json"), plan.with_suffix(".html")
    written = json.dumps(tomllib.loads(PLAN)).replace("averages", r"averages\ud800")
    own.write_text(written)
    assert run("plan", own, "--out", page).code == 0
    assert r"averages\ud800" in page.read_text(encoding="utf-8")
