"""A bench row says what the contract says, and both sides reach the same quality from one start."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from dpcore import bench
from dpcore.bench import gmm, measure
from dpcore.cli import main
from dpcore.errors import InputError

KEYS = {
    "case",
    "ours_seconds",
    "peer",
    "peer_version",
    "peer_seconds",
    "ratio",
    "quality_ours",
    "quality_peer",
    "peak_mib",
}
TINY = gmm.Iterations(300, 2, 2, few=1, many=15, repetitions=1)
TINY_GRID = gmm.Batch(300, 2, 2, iterations=2, epsilons=(1.0, 1e6), draws=2, repetitions=1)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gmm, "CASES", (TINY, TINY_GRID))


@pytest.mark.usefixtures("tiny")
def test_rows_carry_the_contract_and_both_sides_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "gmm", "--json"]) == 0
    iterations, grid = json.loads(capsys.readouterr().out)
    for row in (iterations, grid):
        assert set(row) >= KEYS
        assert "scikit-learn" in row["peer"]
        assert 20 < row["peak_mib"] < 2000
        if row["ours_seconds"] > 0:  # a difference of two tiny fits may come out below
            assert row["ratio"] == pytest.approx(row["peer_seconds"] / row["ours_seconds"])
        assert all(isinstance(row[key], float) for key in KEYS if "_seconds" in key)
    assert iterations["quality_ours"] == pytest.approx(iterations["quality_peer"], abs=1e-6)


@pytest.mark.usefixtures("tiny")
def test_people_get_a_table_that_names_the_peer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "gmm"]) == 0
    text = capsys.readouterr().out
    assert "scikit-learn GaussianMixture" in text
    assert TINY()["case"] in text


def test_quality_would_tell_another_number_of_iterations() -> None:
    """The agreement above is no accident: one iteration more or less is seen at 1e-6."""
    data = gmm.Data(300, 2, 2)
    rows = data.simulate()
    start = gmm._start(rows, 2)
    scores = [gmm._peer(rows, start, count).score(rows) for count in (14, 15, 16)]
    assert min(abs(scores[1] - scores[0]), abs(scores[2] - scores[1])) > 1e-6


def test_with_a_huge_budget_the_private_grid_comes_close_to_the_plain_peer() -> None:
    row = replace(TINY_GRID, epsilons=(1e9,))()
    assert row["quality_ours"] == pytest.approx(row["quality_peer"], abs=0.1)


def test_memory_is_that_of_a_process_of_its_own() -> None:
    """Neither this process nor its parent counts: an array here changes nothing there."""
    small = measure.peak_mib("dpcore.bench.gmm", "run_alone", **_size(300))
    kept = bytearray(256 * 2**20)
    again = measure.peak_mib("dpcore.bench.gmm", "run_alone", **_size(300))
    large = measure.peak_mib("dpcore.bench.gmm", "run_alone", **_size(1_000_000))
    assert len(kept) > 0
    assert math.isclose(again, small, rel_tol=0.1)
    assert large > small + 2 * 8 * 1_000_000 / 2**20


def _size(rows: int) -> dict[str, int]:
    return {"rows": rows, "dim": 2, "components": 2, "iterations": 1}


def test_a_missing_peer_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gmm, "PEER", "a-peer-that-is-not-there")
    monkeypatch.setattr(gmm, "CASES", (TINY,))
    assert main(["bench", "gmm"]) == 2
    said = capsys.readouterr().err
    assert said.splitlines()[-1].startswith("dpcore: peer: ")
    assert "a-peer-that-is-not-there is not installed" in said


def test_an_unknown_bench_is_refused() -> None:
    with pytest.raises(InputError, match="bench"):
        bench.run("no-such-bench")


def test_the_least_of_runs_that_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, order = iter([0.0, 5.0, 5.0, 6.0, 10.0, 12.0, 12.0, 16.0]), []
    monkeypatch.setattr(measure, "perf_counter", lambda: next(clock))
    least = measure.least_seconds([lambda: order.append("a"), lambda: order.append("b")], 2)
    assert order == ["a", "b", "a", "b"]
    assert least == [2.0, 1.0]
