"""``dpcore fit``: what it prints, and that it is the library's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import wording
from commands import (
    BOX,
    BUDGET,
    Run,
    precision,
    written,
)

import dpcore as dp
from dpcore.accounting import ACCOUNTANTS

# --- odd cells -----------------------------------------------------------------------------------

ODD = {
    "missing or infinite": "a,b\n1,2\nNaN,3\n4,1\n",
    "infinite": "a,b\n1,2\n2,-inf\n4,1\n",
    "too large for a float": "a,b\n1,2\n1e400,3\n4,1\n",
    "constant": "a,b\n1,2\n1,3\n1,1\n",
    "outside its bounds": "a,b\n1,2\n2,3\n999,1\n",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_cells_are_refused_without_privacy_and_filled_with_it(
    name: str, run: Run, tmp_path: Path
) -> None:
    path = written(tmp_path, "t.csv", ODD[name])
    plain = run("fit", "gmm", path, "--privacy", "none", "--components", 1, "--json")
    assert (plain.code, plain.out) == (2, "")
    assert re.match(r"dpcore: [ab]: (has cells|is constant)", plain.err)
    assert "999" not in plain.err
    for adjacency in ("replace_one", "add_remove"):
        words = [*BUDGET, "--components", 1, "--adjacency", adjacency, "--json"]
        found = run("fit", "gmm", path, *words).json
        assert np.all(np.isfinite(found["parameters"]["means"]))


def test_rows_outside_the_ball_are_refused_without_privacy_only(run: Run, table: Path) -> None:
    ball = ["--norm-bound", 1, "--center", "5,0"]
    plain = run("fit", "gmm", table, "--privacy", "none", *ball)
    assert plain.code == 2
    assert "norm bound: rows lie outside the ball; give a larger norm bound" in plain.err
    assert run("fit", "gmm", table, *BUDGET, *ball).code == 0


# --- fit -----------------------------------------------------------------------------------------


def test_the_json_of_a_fit_has_every_key_of_the_contract(run: Run, table: Path) -> None:
    found = run("fit", "gmm", table, *BUDGET, "--components", 2, "--iterations", 3, "--json").json
    assert {"parameters", "guarantee", "ledger", "metrics", "seed", "version"} <= set(found)
    parameters, guarantee = found["parameters"], found["guarantee"]
    assert parameters["columns"] == ["a", "b"]
    assert found["units"] == [None, "cm"]
    assert np.shape(parameters["weights"]) == (2,)
    assert np.shape(parameters["means"]) == (2, 2)
    assert np.shape(parameters["covariances"]) == (2, 2, 2)
    assert sum(parameters["weights"]) == pytest.approx(1.0)
    keys = {"epsilon", "delta", "adjacency", "unit", "claim", "proof", "assumptions"}
    assert keys <= set(guarantee)
    assert guarantee["epsilon"] == guarantee["proof"]["epsilon"] == pytest.approx(1.0, rel=1e-9)
    assert (guarantee["delta"], guarantee["adjacency"]) == (1e-3, "replace_one")
    assert guarantee["unit"] == "person"
    assert guarantee["claim"] is None
    assert guarantee["rehearsal"] is False
    assert guarantee["assumptions"]
    assert len(found["ledger"]) == 7
    assert (found["seed"], found["version"]) == (None, dp.__version__)
    assert found["metrics"] == {}


def test_a_seed_makes_a_rehearsal_that_can_be_repeated(run: Run, table: Path) -> None:
    words = ["fit", "gmm", table, *BUDGET, "--seed", 7, "--test-fraction", 0.2, "--json"]
    one, two = run(*words).json, run(*words).json
    assert one == two
    assert one["guarantee"]["rehearsal"] is True
    assert "Rehearsal" in one["guarantee"]["sentence"]
    assert one["seed"] == 7
    assert {"test_log_likelihood", "test_log_likelihood_scaled"} <= set(one["metrics"])
    assert "private rows" in one["metrics"]["note"]


def test_rows_that_are_held_out_by_their_numbers_stay_whatever_the_noise(
    run: Run, table: Path
) -> None:
    found = []
    for seed in (7, 8):
        coins = ["--test-fraction", 0.2, "--test-seed", 5, "--seed", seed, "--json"]
        found.append(run("fit", "gmm", table, *BUDGET, *coins).json)
    rest, held_out = dp.load(table).split(0.2, 5, "add_remove")
    for one, seed in zip(found, (7, 8), strict=True):
        privacy = dp.Privacy(epsilon=1.0, delta=1e-3)
        fit = dp.fit("gmm", rest, privacy=privacy, seed=seed)
        assert one["parameters"] == fit.parameters.as_dict()
        assert one["metrics"]["test_log_likelihood"] == fit.score(held_out)


def test_without_a_seed_noise_is_fresh_and_no_metric_leaves(run: Run, table: Path) -> None:
    words = ["fit", "gmm", table, "--epsilon", 50, "--delta", 1e-3]
    words += ["--test-fraction", 0.2, "--json"]
    one, two = run(*words).json, run(*words).json
    assert one["parameters"]["means"] != two["parameters"]["means"]
    assert one["seed"] is None
    assert list(one["metrics"]) == ["withheld"]
    assert not any(isinstance(value, float) for value in one["metrics"].values())


def test_a_share_of_less_than_a_row_gives_no_metric(run: Run, table: Path) -> None:
    words = ["--privacy", "none", "--test-fraction", 0.001, "--json"]
    assert list(run("fit", "gmm", table, *words).json["metrics"]) == ["withheld"]


@pytest.mark.parametrize("accountant", list(ACCOUNTANTS))
def test_every_accountant_meets_the_budget_it_is_given(
    accountant: str, run: Run, table: Path
) -> None:
    found = run("fit", "gmm", table, *BUDGET, "--accountant", accountant, "--json").json
    proof = found["guarantee"]["proof"]
    assert proof["accountant"] == accountant
    assert proof["epsilon"] == pytest.approx(1.0, rel=max(1e-6, precision(accountant)))
    assert proof["epsilon"] <= 1.0


@pytest.mark.parametrize("accountant", ["linear", "advanced", "zcdp", "ma"])
def test_paper_mode_shows_the_claim_beside_the_proof(
    accountant: str, run: Run, table: Path
) -> None:
    words = ["--mode", "paper", "--accountant", accountant]
    found = run("fit", "gmm", table, *BUDGET, *words, "--json").json["guarantee"]
    assert found["claim"]["epsilon"] == 1.0
    assert "Park" in found["claim"]["source"]
    assert found["claim"]["reasons"]
    assert found["epsilon"] == found["proof"]["epsilon"] != found["claim"]["epsilon"]
    assert found["claim"]["holds"] is (found["epsilon"] <= 1.0)
    assert "The paper says epsilon = 1" in run("fit", "gmm", table, *BUDGET, *words).out


def test_rows_per_person_cost_noise_and_are_named(run: Run, table: Path) -> None:
    words = ["fit", "gmm", table, *BUDGET, "--iterations", 1, "--json"]
    one, three = run(*words).json, run(*words, "--rows-per-person", 3).json
    ratio = three["ledger"][0]["noise_scale"] / one["ledger"][0]["noise_scale"]
    assert ratio == pytest.approx(3.0)
    assert three["guarantee"]["rows_per_person"] == 3
    table.with_suffix(".toml").write_text(f"[table]\nrows_per_person = 2\nunit = 'plot'\n\n{BOX}")
    assert run(*words).json["guarantee"]["rows_per_person"] == 2
    ball = run(*words, "--norm-bound", 9).json["guarantee"]
    assert (ball["unit"], ball["rows_per_person"]) == ("plot", 2)


def test_a_ball_leaves_equal_weight_as_it_is(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "a,who\n" + "".join(f"{i % 5},{i % 20}\n" for i in range(40)))
    limits = '[columns.a]\nlower = 0\nupper = 9\n[columns.who]\nrole = "id"\ntype = "text"\n'
    path.with_suffix(".toml").write_text(f"[table]\nequal_weight = true\n{limits}")
    found = run("fit", "mean", path, *BUDGET, "--norm-bound", 9, "--json").json["guarantee"]
    assert "each person has the same weight, whatever the number of rows" in found["assumptions"]


def test_a_ball_takes_the_place_of_the_bounds(run: Run, tmp_path: Path) -> None:
    rows = "a,b,who\n" + "".join(f"{i % 5},{-i % 7},x{i}\n" for i in range(40))
    path = written(tmp_path, "t.csv", rows, schema=None)
    words = ["fit", "gmm", path, "--privacy", "none", "--components", 1, "--json"]
    refused = run(*words, "--norm-bound", 20)
    assert refused.code == 2
    sentence = "columns: some hold text; use --columns to name the columns to fit"
    assert refused.err == f"dpcore: {sentence}.\n"
    words += ["--columns", "a,b"]
    found = run(*words, "--norm-bound", 20, "--center", "-1,2.5").json["parameters"]
    assert found["columns"] == ["a", "b"]
    assert found["means"][0] == pytest.approx([2.0, np.mean([-i % 7 for i in range(40)])])
    other = run(*words, "--norm-bound", 20, "--columns", "b,a").json["parameters"]
    assert other["columns"] == ["b", "a"]
    assert other["means"][0] == pytest.approx(found["means"][0][::-1])
    words = words[:-2]
    for roles, columns in (
        (["--label", "who"], ["a", "b"]),
        (["--label", "who", "--target", "b"], ["a"]),
    ):
        assert run(*words, "--norm-bound", 20, *roles).json["parameters"]["columns"] == columns


@pytest.mark.parametrize("notation", ["", "\n[file]\ndecimal = ','\nseparator = ';'\n"])
def test_words_in_a_binary_column_are_refused_with_the_key_that_names_them(
    run: Run, tmp_path: Path, notation: str
) -> None:
    schema = "[columns.a]\nlower = 0\nupper = 9\n[columns.b]\nrole = 'target'\ntype = 'binary'\n"
    cells = "a;b\n1;no\n2;yes\n" if notation else "a,b\n1,no\n2,yes\n"
    path = written(tmp_path, "t.csv", cells, schema + notation)
    refusal = run("fit", "gmm", path, *BUDGET, "--components", 1).err
    assert refusal.startswith("dpcore: b: it should contain 0 and 1")
    assert 'categories = ["no", "yes"]' in " ".join(refusal.split())


def test_columns_and_labels_change_the_roles_of_a_schema(run: Run, tmp_path: Path) -> None:
    schema = f"{BOX}\n[columns.c]\nrole = 'label'\nlower = 0\nupper = 9\n"
    path = written(tmp_path, "t.csv", "a,b,c\n1,2,3\n2,x,4\n4,y,5\n5,1,1\n", schema)
    words = ["fit", "gmm", path, *BUDGET, "--components", 1, "--json"]
    assert "b: it should contain numbers" in run(*words).err
    assert run(*words, "--columns", "a").json["parameters"]["columns"] == ["a"]
    assert run(*words, "--columns", "a,c").json["parameters"]["columns"] == ["a", "c"]
    assert (
        "b: it should contain numbers" in run(*words, "--label", "b").err
    )  # a label is read as well
    assert run(*words, "--columns", "c", "--target", "a").json["parameters"]["columns"] == ["c"]


def test_inferred_bounds_make_a_rehearsal_that_proves_nothing(run: Run, table: Path) -> None:
    table.with_suffix(".toml").unlink()
    for seed in ([], ["--seed", 1]):
        found = run("fit", "gmm", table, *BUDGET, "--infer-schema", *seed, "--json").json
        assert found["guarantee"]["epsilon"] is None
        assert found["guarantee"]["rehearsal"] is True
        assert any(wording.READ_FROM_DATA in note for note in found["guarantee"]["notes"])
    text = run("fit", "gmm", table, *BUDGET, "--infer-schema").out
    assert wording.NOTHING_PROVED in text
    assert "Rehearsal: not a release." in text


def test_scaling_by_the_datas_own_norm_is_a_rehearsal_that_proves_nothing(run: Run) -> None:
    words = ["fit", "gmm", "bundled:iris", *BUDGET, "--norm-bound", "data", "--json"]
    guarantee = run(*words).json["guarantee"]
    assert guarantee["epsilon"] is None
    assert guarantee["proof"] is None
    assert guarantee["rehearsal"]
    assert "bounds were read from the data" in guarantee["notes"][0]
    paper = run(*words, "--mode", "paper", "--accountant", "zcdp").json["guarantee"]
    assert paper["claim"]["epsilon"] > 0
    assert paper["epsilon"] is None
    assert run(*words, "--center", "0,0,0,0").code == 2


def test_a_release_holds_nothing_out_when_one_row_would_move_others(
    run: Run, tmp_path: Path
) -> None:
    words = ["fit", "gmm", "bundled:iris", *BUDGET, "--adjacency", "add_remove"]
    refused = run(*words, "--test-fraction", 0.1)
    assert refused.code == 2
    assert "test_fraction: the choice of held-out rows would change" in refused.err
    assert run(*words, "--test-fraction", 0.1, "--seed", 0).code == 0


@pytest.mark.parametrize("third", ["NA", "x", "9"])
def test_codes_mean_their_number_and_missing_words_can_be_categories(
    third: str, run: Run, tmp_path: Path
) -> None:
    schema = f"[columns.ward]\ntype = 'category'\ncategories = ['007', '12', '{third}']\n"
    cells = ["007"] * 4 + ["7"] * 2 + ["12"] + ["12.0"] + [third] * 2
    path = written(tmp_path, "t.csv", "ward\n" + "".join(f"{c}\n" for c in cells), schema)
    words = ["--privacy", "none", "--components", 1, "--json"]
    found = run("fit", "gmm", path, *words).json["parameters"]
    assert found["columns"] == ["ward=007", "ward=12", f"ward={third}"]
    assert found["means"][0] == pytest.approx([0.6, 0.2, 0.2])


def test_the_folder_one_is_in_is_a_folder_of_rows(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = table.parent / "rows"
    home.mkdir()
    (home / "part.csv").write_bytes(table.read_bytes())
    home.with_suffix(".toml").write_text(BOX)
    words = [*BUDGET, "--seed", 1, "--json"]
    named = run("fit", "gmm", home, *words).json
    monkeypatch.chdir(home)
    assert run("fit", "gmm", ".", *words).json == named
