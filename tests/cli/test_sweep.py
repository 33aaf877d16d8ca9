"""``dpcore sweep``: the rows of the library, and what is left out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wording
from commands import (
    SWEEP,
    Run,
)

import dpcore as dp
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

ROW_KEYS = [
    "epsilon", "method", "mode", "mean", "std", "median", "q10", "q90", "nonprivate", "converged",
    "baseline",
]  # fmt: skip


def test_a_sweep_leaves_out_what_a_method_cannot_meet_and_says_why(run: Run) -> None:
    words = ["--epsilons", "0.1,1", "--methods", "exact,ma", "--iterations", 3]
    found = run(*SWEEP, *words, "--json").json
    assert [(row["method"], row["epsilon"]) for row in found] == [
        ("exact", 0.1), ("exact", 1.0), ("ma", 0.1), ("ma", 1.0),
    ]  # fmt: skip
    assert found[2]["mean"] is None
    assert "cannot prove an epsilon of 0.144 or less" in found[2]["error"]
    assert all("error" not in found[i] for i in (0, 1, 3))
    alone = run(*SWEEP, "--epsilons", "1", "--methods", "ma", "--iterations", 3, "--json").json
    assert found[3] == alone[0]


def test_every_split_of_a_sweep_holds_out_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    held_out: list[bytes] = []
    split = PrivateTable.split

    def noted(self: PrivateTable, *words: Any, **more: Any) -> Any:
        rest, part = split(self, *words, **more)
        held_out.append(custodian_rows(part)[1].tobytes())
        return rest, part

    monkeypatch.setattr(PrivateTable, "split", noted)
    table = dp.load("bundled:iris")
    dp.sweep("mean", table, epsilons=[1.0], delta=1e-3, splits=3)
    assert len(held_out) == len(set(held_out)) == 3


def test_metric_and_seed_of_a_sweep_are_options(run: Run) -> None:
    words = [*SWEEP, "--epsilons", "1", "--iterations", 2, "--json"]
    own, again, other = run(*words).json, run(*words).json, run(*words, "--seed", 5).json
    assert own == again != other
    scaled = run(*words, "--metric", "test_log_likelihood_scaled").json
    gap = scaled[0]["converged"] - own[0]["converged"]
    columns = dp.load("bundled:iris").schema.numeric_columns()  # type: ignore[union-attr]
    assert gap == pytest.approx(sum(np.log((c.upper - c.lower) / 2) for c in columns))


SMALL = ["--delta", "1e-3", "--splits", 1, "--epsilons", "0.5,4", "--json"]


@pytest.mark.parametrize(
    ("model", "metric"),
    [
        ("gmm", "test_log_likelihood"),
        ("kmeans", "nicv"),
        pytest.param("fa", "test_log_likelihood_scaled", marks=pytest.mark.merge),
        ("fa", "reconstruction_error"),
    ],
)
def test_a_sweep_gives_the_rows_of_the_library(
    model: str, metric: str, run: Run, marks: Path
) -> None:
    words = ["--metric", metric, "--methods", "exact,linear", "--modes", "proved,paper"]
    parts = ["--factors" if model == "fa" else "--components", 2, "--iterations", 3, "--draws", 2]
    found = run("sweep", model, marks, *SMALL, *words, *parts).json
    rows = dp.sweep(
        model,
        dp.load(marks),
        epsilons=[0.5, 4.0],
        delta=1e-3,
        methods=["exact", "linear"],
        modes=["proved", "paper"],
        metric=metric,
        n_components=2,
        iterations=3,
        draws=2,
        splits=1,
    )
    assert found == [asdict(row) for row in rows]
    assert all(list(row) == ROW_KEYS for row in found)
    assert [(row["method"], row["mode"]) for row in found[::2]] == [
        ("exact", "proved"), ("linear", "proved"), ("linear", "paper"),
    ]  # fmt: skip


def test_a_sweep_of_covariances_is_beside_uncorrelated_columns(run: Run, marks: Path) -> None:
    found = run("sweep", "covariance", marks, *SMALL).json
    few, more = (row["mean"] for row in found)
    assert found[0]["baseline"] > few > more > 0.0


def test_methods_that_a_model_does_not_offer_are_left_out_and_say_why(
    run: Run, marks: Path
) -> None:
    words = ["--methods", "zcdp,linear,ma", "--modes", "proved,paper"]
    for model, offered in (("kmeans", {"zcdp", "linear"}), ("fa", {"linear"})):
        found = run("sweep", model, marks, *SMALL, *words).json
        paper = [row for row in found if row["mode"] == "paper"]
        assert len(paper) == 6
        for row in paper:
            assert ("error" not in row) is (row["method"] in offered)
            assert (row["mean"] is None) is ("error" in row)
        refused = next(row["error"] for row in paper if row["method"] == "ma")
        assert "choose linear" in refused
    swept = run("sweep", "kmeans", marks, *SMALL, *words[2:], "--algorithm", "proved").json
    assert [row.get("error", "")[:9] for row in swept[::2]] == ["", "algorithm"]


def test_a_sweep_counts_laplace_noise_by_pld_unless_one_says_how(run: Run, marks: Path) -> None:
    words = ["sweep", "kmeans", marks, *SMALL, "--algorithm", "dplloyd"]
    assert {row["method"] for row in run(*words).json} == {"pld"}
    assert {row["method"] for row in run("sweep", "kmeans", marks, *SMALL).json} == {"exact"}
    both = run(*words, "--methods", "exact,zcdp").json
    assert ["error" in row for row in both] == [True, True, False, False]
    alone = run(*words, "--methods", "exact")
    assert alone.code == 2
    assert wording.EXACT_COVERS_GAUSSIAN in alone.err
