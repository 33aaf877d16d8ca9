"""``dpcore fit`` of every model: its options and its table."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from commands import (
    BUDGET,
    PAPER,
    Run,
)

import dpcore as dp
from dpcore.cli import main
from dpcore.cli.output import WIDTH
from dpcore.declaration import declarations


def test_every_model_has_its_options_and_its_table() -> None:
    for name, model in declarations().items():
        assert model.name == name
        assert callable(model.load(model.table))
        for flag, option in model.flags().items():
            assert option.metavar, (name, flag)
            assert "[" in option.help, (name, flag)


def test_the_help_of_a_model_shows_its_options_and_no_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    every = {flag for model in declarations().values() for flag in model.flags()}
    for name, model in declarations().items():
        with pytest.raises(SystemExit):
            main(["fit", name, "--help"])
        _, _, own = capsys.readouterr().out.partition(f"the model {name}:")
        shown = set(re.findall(r"^  --([a-z-]+)", own, flags=re.MULTILINE))
        assert shown & every == set(model.flags()), name


# words of a fit -> the shapes of its parameters, its metrics, and how many releases it makes
CONTRACT: dict[str, tuple[dict[str, tuple[int, ...]], str, int]] = {
    "kmeans TABLE --components 4": ({"centers": (4, 2), "shares": (4,)}, "nicv", 14),
    "missing-regression bundled:missing_answers --sigma 5 --missing-rate 0.1": (
        {"beta": (4,)},
        "estimation_error test_log_likelihood",
        15,
    ),
    "gmm-release bundled:five_parties --adjacency label --method staged": (
        {"weights": (5,), "means": (5, 2), "covariances": (5, 2, 2)},
        "reverse_kl kl accuracy",
        7,
    ),
    "logistic bundled:who_comes_back": (
        {"coefficients": (7,), "covariance": (8, 8), "intervals": (8, 2)},
        "test_auc test_log_loss test_calibration_error",
        7,
    ),
    "fa MARKS --factors 2": (
        {"loadings": (5, 2), "noise_variance": (5,), "mean": (5,)},
        "test_log_likelihood test_log_likelihood_scaled reconstruction_error",
        6,
    ),
}


@pytest.mark.parametrize("words", CONTRACT)
def test_the_json_of_a_model_is_that_of_the_contract(
    words: str, run: Run, table: Path, marks: Path
) -> None:
    shapes, metrics, releases = CONTRACT[words]
    asked = words.replace("TABLE", str(table)).replace("MARKS", str(marks)).split()
    more = ["--seed", 0, "--test-fraction", 0.2, "--json"]
    found = run("fit", *asked, *BUDGET, *more).json
    assert {name: np.shape(found["parameters"][name]) for name in shapes} == shapes
    assert list(found["metrics"]) == [*metrics.split(), "note"]
    assert len(found["ledger"]) == releases
    assert found["guarantee"]["epsilon"] == pytest.approx(1.0, rel=1e-6)
    assert found["guarantee"]["claim"] is None
    if "fa" in asked:
        gap = found["metrics"]["test_log_likelihood_scaled"]
        assert gap - found["metrics"]["test_log_likelihood"] == pytest.approx(5 * np.log(5.0))


OPTIONS: dict[str, dict[str, Any]] = {
    "gmm bundled:iris --covariance diag --prior map --clip 0.5 --iterations 2": {
        "covariance": "diag", "prior": "map", "clip": 0.5, "iterations": 2,
    },
    "gmm-release bundled:five_parties --method gaussian --divergence forward --clip 0.5": {
        "method": "gaussian", "target": "forward", "clip": 0.5,
    },
    "logistic bundled:who_comes_back --algorithm vips --iterations 4 --rate 1 --delay 2 "
    "--forgetting 0.6 --clip 0.8": {
        "algorithm": "vips", "iterations": 4, "rate": 1.0, "delay": 2.0, "forgetting": 0.6,
        "clip": 0.8,
    },
    "mixture-regression bundled:two_lines --sigma 4.5 --clip 3 --iterations 4": {
        "sigma": 4.5, "threshold": 3.0, "iterations": 4,
    },
    "symmetric-mixture bundled:two_clouds --algorithm robust --tau 9 --coordinates unit "
    "--start 2": {
        "algorithm": "robust", "tau": 9.0, "own": False, "start": 2,
    },
    "mean bundled:two_clouds --tau 30 --trust local": {"tau": 30.0, "trust": "local"},
}  # fmt: skip


@pytest.mark.parametrize("words", OPTIONS)
def test_the_options_of_a_model_are_the_librarys(words: str, run: Run) -> None:
    model, data, *options = words.split()
    found = run("fit", model, data, *BUDGET, "--seed", 3, *options, "--json").json
    privacy = dp.Privacy(epsilon=1.0, delta=1e-3)
    fit = dp.fit(model, dp.load(data), privacy=privacy, seed=3, **OPTIONS[words])
    assert found["parameters"] == fit.parameters.as_dict()
    assert found["ledger"] == json.loads(json.dumps(fit.ledger.as_list(), default=float))


def test_the_table_of_classes_names_them_and_warns_of_those_that_noise_ate(run: Run) -> None:
    words = ["--delta", 1e-5, "--adjacency", "label", "--method", "staged", "--seed", 1]
    lost = run("fit", "gmm-release", "bundled:five_parties", "--epsilon", 0.1, *words).out
    assert "Warning: the noise outweighs" in " ".join(lost.split())
    found = run("fit", "gmm-release", "bundled:five_parties", "--epsilon", 0.1, *words, "--json")
    parameters = found.json["parameters"]
    sizes, weights = np.array(parameters["sizes"]), np.array(parameters["weights"])
    shares = sizes / sizes.sum()
    assert np.any(np.abs(shares - weights) > 0.01), "a class in doubt weighs less in the mixture"
    assert all(f" {share:.1%} " in lost for share in shares), "but has as many rows"
    kept = run("fit", "gmm-release", "bundled:five_parties", "--epsilon", 4, *words).out
    assert "Warning" not in kept
    assert all(name in kept for name in ("Lake", "Hill", "Coast", "Woods", "Town"))


def test_the_table_of_a_rule_has_intervals_where_the_noise_is_known(run: Run) -> None:
    words = ["fit", "logistic", "bundled:who_comes_back", *BUDGET, "--seed", 0]
    table = run(*words).out
    assert "95% interval" in table
    assert "intercept" in table
    blind = run(*words, "--algorithm", "objective", "--accountant", "linear").out
    assert "95% interval" not in blind
    assert "there are no intervals" in " ".join(blind.split())


def test_the_table_of_a_rule_names_the_category_whose_odds_it_gives(
    run: Run, tmp_path: Path
) -> None:
    words = ["fit", "logistic", "bundled:who_comes_back", *BUDGET, "--seed", 0]
    assert "log odds of comes back = yes;" in " ".join(run(*words).out.split())
    schema = dp.load("bundled:who_comes_back").schema
    other = [
        replace(column, categories=column.categories[::-1]) if column.role == "target" else column
        for column in schema.columns
    ]
    file = tmp_path / "other.toml"
    file.write_text(replace(schema, columns=tuple(other)).to_toml(), encoding="utf-8")
    told = " ".join(run(*words, "--schema", file).out.split())
    assert "log odds of comes back = no;" in told


def test_one_bit_a_number_is_counted_by_adding_up_and_has_no_delta_to_lose(run: Run) -> None:
    words = ["--trust", "local_onebit", "--seed", 0, "--json"]
    found = run("fit", "mean", "bundled:two_clouds", *BUDGET, *words).json
    assert found["guarantee"]["proof"]["accountant"] == "linear"
    assert found["guarantee"]["epsilon"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("model", "data", "told"),
    [
        ("symmetric-mixture", "two_clouds", ["cities (points)", "one", "the other"]),
        ("mixture-regression", "two_lines", ["dose (standard deviations", "one", "the other"]),
        ("missing-regression", "missing_answers", ["travel (standard deviation)", "coefficient"]),
        ("mean", "two_clouds", ["crowds (points)", "mean"]),
    ],
)
def test_people_read_what_was_found_column_by_column(
    run: Run, model: str, data: str, told: list[str]
) -> None:
    found = run("fit", model, f"bundled:{data}", *BUDGET, "--seed", 0)
    assert (found.code, found.err) == (0, "")
    for words in told:
        assert words in found.out
    assert max(map(len, found.out.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("model", "data"), [("mixture-regression", "two_lines"), ("mean", "two_clouds")]
)
def test_a_sweep_of_them_has_a_baseline_that_costs_nothing(run: Run, model: str, data: str) -> None:
    words = ["--epsilons", "0.1,10", "--delta", "1e-5", "--splits", 2, "--json"]
    rows = run("sweep", model, f"bundled:{data}", *words).json
    assert rows[0]["baseline"] == rows[1]["baseline"] > 0.0
    assert rows[1]["mean"] < rows[0]["mean"]


def test_without_noise_centres_and_factors_are_the_true_ones(
    run: Run, table: Path, marks: Path
) -> None:
    plain = ["--privacy", "none", "--test-fraction", 0.1, "--json"]
    found = run("fit", "kmeans", table, *plain, "--components", 2).json
    assert found["parameters"]["centers"] == pytest.approx(np.array([[2, -3], [8, 3]]), abs=0.3)
    assert found["guarantee"]["epsilon"] is None
    found = run("fit", "fa", marks, *plain, "--factors", 2).json
    loadings = np.abs(found["parameters"]["loadings"])
    truth = np.array([[1.8, 0], [1.8, 0], [1.8, 0], [0, 1.2], [0, 1.2]])
    assert loadings == pytest.approx(truth, abs=0.15)
    assert found["parameters"]["noise_variance"] == pytest.approx([0.16] * 5, abs=0.05)
    assert {event["noise_multiplier"] for event in found["ledger"]} == {0.0}


def test_a_covariance_is_a_matrix_and_its_components(run: Run, marks: Path) -> None:
    plain = run("fit", "covariance", marks, "--privacy", "none", "--json").json["parameters"]
    rows = pd.read_csv(marks).to_numpy()
    assert np.array(plain["covariance"]) == pytest.approx(np.cov(rows.T))
    assert np.array(plain["correlation"]) == pytest.approx(np.corrcoef(rows.T))
    assert plain["explained_variance_ratio"][1] > 5.0 * plain["explained_variance_ratio"][2]
    assert run("fit", "covariance", marks, *BUDGET, "--components", 2).code == 2
    told = run("fit", "covariance", marks, *BUDGET, "--seed", 0).out
    assert "At this noise level" in told
    heads = next(line for line in told.splitlines() if line.split()[:1] == ["column"]).split()
    assert heads[:8] == ["column", "mean", "deviation", "1", "2", "3", "4", "5"]
    first = next(line for line in told.splitlines() if line.split()[:2] == ["1", "p"])
    assert first.split()[4] == "+1.00"


SAID: dict[str, dict[str, Any] | None] = {
    "--epsilon 1 --delta 1e-3": {"epsilon": 1.0},
    "--epsilon 1 --delta 1e-3 --accountant zcdp": {"epsilon": 1.0, "accountant": "zcdp"},
    "--epsilon 2 --delta 1e-3 --adjacency add_remove": {"epsilon": 2.0, "adjacency": "add_remove"},
    "--noise-multiplier 3 --delta 1e-3": {"noise_multiplier": 3.0},
    "--privacy none": None,
}


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("model", ["gmm", "kmeans", "fa"])
def test_the_command_equals_the_library(model: str, said: str, run: Run, marks: Path) -> None:
    asked = SAID[said]
    parts = "--factors" if model == "fa" else "--components"
    words = [*said.split(), parts, 2, "--iterations", 4, "--seed", 3, "--json"]
    found = run("fit", model, marks, *words).json
    privacy = None if asked is None else dp.Privacy(delta=1e-3, **asked)
    fit = dp.fit(model, dp.load(marks), privacy=privacy, n_components=2, iterations=4, seed=3)
    assert found["parameters"] == fit.parameters.as_dict()
    assert found["guarantee"]["epsilon"] == fit.guarantee.epsilon
    assert found["ledger"] == json.loads(json.dumps(fit.ledger.as_list(), default=float))


@pytest.mark.parametrize("algorithm", ["dplloyd", "paper"])
def test_what_is_not_gaussian_is_counted_by_pld_unless_one_says_how(
    algorithm: str, run: Run, table: Path
) -> None:
    words = ["fit", "kmeans", table, "--algorithm", algorithm, "--json"]
    proof = run(*words, *BUDGET).json["guarantee"]["proof"]
    assert proof["accountant"] == "pld"
    assert 0.999 < proof["epsilon"] <= 1.0
    zcdp = run(*words, *BUDGET, "--accountant", "zcdp").json
    assert zcdp["guarantee"]["proof"]["accountant"] == "zcdp"
    assert {event["mechanism"] for event in zcdp["ledger"]} == {"laplace"}
    priced = run(*words, "--noise-multiplier", 30, "--delta", 1e-3).json["guarantee"]["proof"]
    assert priced["accountant"] == "pld"
    refused = run(*words, *BUDGET, "--accountant", "exact")
    assert (refused.code, refused.out) == (2, "")
    assert wording.EXACT_COVERS_GAUSSIAN in refused.err
    gaussian_noise = run("fit", "kmeans", table, *BUDGET, "--json").json["guarantee"]["proof"]
    assert gaussian_noise["accountant"] == "exact"


def test_lloyds_algorithm_as_printed_says_what_is_proved_of_it(run: Run, table: Path) -> None:
    words = ["fit", "kmeans", table, *BUDGET, "--algorithm", "dplloyd", *PAPER]
    found = run(*words, "zcdp", "--json").json["guarantee"]
    assert "Park, Foulds" in found["claim"]["source"]
    assert found["claim"]["holds"] is True
    assert found["epsilon"] <= found["claim"]["epsilon"] == 1.0
    words += ["linear", "--iterations", 1]  # a row replaced moves twice what is printed
    found = run(*words, "--json").json["guarantee"]
    assert "Su, Cao" in found["claim"]["source"]
    assert found["claim"]["holds"] is False
    assert 1.9 < found["epsilon"] <= 2.0
    text = " ".join(run(*words).out.split())
    shown = re.search(r"epsilon = 1 with delta = 0, but epsilon = ([0-9.]+) with delta", text)
    assert shown
    assert float(shown[1]) >= found["epsilon"]
    assert "Why: its noise is scaled to d + 1" in text


def test_an_exhibit_is_a_rehearsal_of_which_nothing_is_proved(run: Run, table: Path) -> None:
    words = ["fit", "kmeans", table, *BUDGET, *PAPER, "zcdp"]
    refused = run(*words)
    assert (refused.code, refused.out) == (2, "")
    assert "part of what it releases has no noise" in refused.err
    found = run(*words, "--seed", 1, "--json").json["guarantee"]
    assert found["epsilon"] is found["proof"] is None
    assert found["claim"]["holds"] is False
    text = " ".join(run(*words, "--seed", 1).out.split())
    assert "No epsilon is proved for replacing one person's row. Rehearsal" in text
    assert "The paper says epsilon = 1, but nothing is proved here" in text


def test_what_comes_with_the_package_has_nothing_to_lock(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = [*BUDGET, *PAPER, "zcdp", "--json"]
    found = run("fit", "kmeans", "bundled:iris", *printed).json["guarantee"]
    assert found["epsilon"] is None
    assert found["rehearsal"] is False
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    refused = run("fit", "kmeans", table, *BUDGET, "--seed", 1)
    assert (refused.code, refused.out) == (1, "")  # neither bad input nor a budget
    assert "locked" in refused.err
    for name in ("bundled:iris", "generated:60x2x2x1"):
        assert run("fit", "kmeans", name, *BUDGET, "--seed", 1).code == 0


def test_factors_as_printed_are_proved_for_what_they_are(run: Run, marks: Path) -> None:
    words = ["fit", "fa", marks, *BUDGET, "--factors", 1, *PAPER, "linear"]
    found = run(*words, "--json").json["guarantee"]
    assert found["claim"]["holds"] is True
    assert found["epsilon"] == found["proof"]["epsilon"] < 1.0
    assert "which holds here (Park, Foulds" in " ".join(run(*words).out.split())


def test_factors_of_few_columns_are_told_column_by_column(run: Run, marks: Path) -> None:
    lines = run("fit", "fa", marks, "--privacy", "none", "--factors", 2).out.splitlines()
    (top,) = [i for i, line in enumerate(lines) if line.split()[:1] == ["column"]]
    assert lines[top].split() == ["column", "mean", "factor", "1", "factor", "2", "its", "own"]
    assert [line.split()[0] for line in lines[top + 1 : top + 6]] == list("pqrst")


def test_factors_of_many_columns_are_told_factor_by_factor(run: Run) -> None:
    words = ["fit", "fa", "bundled:digits", "--epsilon", 0.5, "--delta", 1e-5, "--seed", 0]
    found = run(*words, "--factors", 5, "--json").json["parameters"]
    answer = run(*words, "--factors", 5)
    text = " ".join(answer.out.split())
    loadings = np.array(found["loadings"])
    seen = int(np.count_nonzero(np.any(loadings != 0.0, axis=0)))
    assert 0 < seen < 5
    stand = "stands" if seen == 1 else "stand"
    assert f"{seen} of 5 factors {stand} out from the noise; the others are set to 0." in text
    variances = np.array(found["noise_variance"]) + np.sum(loadings**2, axis=1)
    share = float(np.mean(loadings[:, 0] ** 2 / variances))
    strongest = found["columns"][int(np.argmax(loadings[:, 0] ** 2 / variances))]
    assert f" 1 {share:.1%} {strongest} " in text
    assert len(answer.out.splitlines()) < 20
    none = run(*words[:3], "--epsilon", 0.01, *words[5:], "--factors", 2).out
    hidden = "none of the 2 factors stands out from the noise: all loadings are set to 0."
    assert " ".join(none.split()).count(hidden) == 1


@pytest.mark.parametrize(("model", "epsilon"), [("gmm", 20), ("kmeans", 4)])
def test_groups_of_many_columns_are_told_by_where_they_differ(
    model: str, epsilon: float, run: Run
) -> None:
    words = ["fit", model, "bundled:digits", "--epsilon", epsilon, "--delta", 1e-4, "--seed", 0]
    record = run(*words, "--json").json
    found, bounds = record["parameters"], np.array(record["bounds"])
    assert bounds.tolist() == [[0.0, 16.0]] * 64
    answer = run(*words)
    assert len(answer.out.splitlines()) < 15
    where = np.array(found["means" if model == "gmm" else "centers"])
    shares = found["weights" if model == "gmm" else "shares"]
    away = np.abs(where - np.average(where, axis=0, weights=shares))
    text = " ".join(answer.out.split())
    for k, share in enumerate(shares):
        first = int(np.argmax(away[k]))
        assert f" {k + 1} {share:.1%} {found['columns'][first]} {where[k, first]:.4g}" in text


def test_groups_that_noise_has_made_one_are_said_to_be_the_same(run: Run) -> None:
    found = run("fit", "gmm", "bundled:digits", "--epsilon", 4, "--delta", 1e-4, "--seed", 0)
    assert "All groups are the same. Each has this share" in found.out
    assert "pixel" not in found.out


def test_pooled_pictures_are_the_librarys(run: Run) -> None:
    for name, factor, pixels in (("digits", 2, 16), ("faces_like", 8, 16)):
        words = ["--pool", factor, "--factors", 3, "--seed", 0, "--json"]
        found = run("fit", "fa", f"bundled:{name}", *BUDGET, *words).json
        small = dp.load(f"bundled:{name}").pooled(factor)
        privacy = dp.Privacy(epsilon=1.0, delta=1e-3)
        fit = dp.fit("fa", small, privacy=privacy, n_components=3, seed=0)
        assert found["parameters"] == fit.parameters.as_dict()
        assert len(found["parameters"]["columns"]) == len(found["units"]) == pixels
        assert found["guarantee"]["unit"] == "image"
    swept = ["sweep", "kmeans", "bundled:digits", "--delta", "1e-3", "--splits", 1, "--json"]
    rows = run(*swept, "--epsilons", 4, "--pool", 4).json
    small = dp.load("bundled:digits").pooled(4)
    assert rows == [
        asdict(row) for row in dp.sweep("kmeans", small, epsilons=[4.0], delta=1e-3, splits=1)
    ]


def test_a_part_of_a_picture_is_a_table(run: Run) -> None:
    words = ["fit", "fa", "bundled:digits", *BUDGET, "--factors", 1, "--json"]
    chosen = ["pixel_3_3", "pixel_4_4", "pixel_5_5"]
    found = run(*words, "--columns", ",".join(chosen)).json["parameters"]
    assert found["columns"] == chosen
    without = run(*words, "--label", "pixel_0_0").json["parameters"]
    assert "pixel_0_0" not in without["columns"]
    guessed = run(*words, "--infer-schema", "--pool", 4).json
    assert len(guessed["parameters"]["columns"]) == 4
    assert guessed["guarantee"]["epsilon"] is None


def test_a_mean_of_a_private_number_of_rows_is_told_a_guess(run: Run, table: Path) -> None:
    words = ("fit", "mean", table, *BUDGET, "--adjacency", "add_remove", "--seed", 1)
    assert "give a public guess" in run(*words).err
    guessed = run(*words, "--rows", 100, "--json").json
    assert guessed["guarantee"]["adjacency"] == "add_remove"
    assert guessed["parameters"] == run(*words, "--rows", 100, "--json").json["parameters"]
