"""A bench row says what the contract says, and both sides are given the same question."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from dpcore import bench
from dpcore.accounting import wbk
from dpcore.bench import accounting, gmm, measure, peers
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


def test_the_median_of_runs_that_take_turns_without_what_comes_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = [0.0]  # the start
    for a, b in ((2.0, 10.0), (9.0, 30.0), (3.0, 20.0)):
        times += [0.0] * (len(times) > 1) + [100.0, 100.0 + a, 200.0, 200.0 + b]
    clock, order = iter([*times, 1e9]), []
    monkeypatch.setattr(measure, "perf_counter", lambda: next(clock))
    jobs = [
        (lambda: order.append("before a"), lambda: order.append("a")),
        (lambda: order.append("before b"), lambda: order.append("b")),
    ]
    assert measure.median_seconds(jobs, 1.0, least=1, most=3) == [3.0, 20.0]
    assert order == ["before a", "a", "before b", "b"] * 3


# --- accounting ----------------------------------------------------------------------------------

STAND_IN, ABSENT = "numpy", "a-peer-that-is-not-there"


def _question(**changes: object) -> accounting.Question:
    """A question whose name is a real one's, for the process that measures memory."""
    made = accounting.Question(
        accounting.QUESTIONS[0].name,
        lambda: 2.0,
        {STAND_IN: lambda: lambda: 4.0, ABSENT: lambda: lambda: 5.0},
    )
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """One question, and a peer that is always installed."""
    asked = _question()
    cases = [accounting.Case(asked, name, seconds=0.01) for name in asked.peers]
    monkeypatch.setattr(peers, "FIRST", STAND_IN)
    monkeypatch.setattr(accounting, "CASES", cases)


@pytest.mark.usefixtures("stand_in")
def test_accounting_rows_carry_the_contract_and_name_who_is_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "accounting", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert set(row) >= KEYS
    assert (row["peer"], row["peer_version"]) == (STAND_IN, np.__version__)
    assert row["ratio"] == pytest.approx(row["peer_seconds"] / row["ours_seconds"])
    assert (row["quality"], row["quality_ours"], row["quality_peer"]) == ("epsilon", 2.0, 4.0)
    assert 20 < row["peak_mib"] < 2000
    assert row["left_out"] == [f"{ABSENT} is not installed"]


@pytest.mark.usefixtures("stand_in")
def test_people_read_answers_peers_and_who_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "accounting"]) == 0
    text = capsys.readouterr().out
    assert f"Peer: {STAND_IN} {np.__version__}" in text
    assert f"Left out: {ABSENT} is not installed." in text
    assert "log-likelihood" not in text
    assert "2.000000  4.000000" in text


def test_without_its_first_peer_the_accounting_bench_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "FIRST", ABSENT)
    monkeypatch.setattr(accounting, "CASES", [accounting.Case(_question(), ABSENT)])
    assert main(["bench", "accounting"]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("dpcore: peer: ")
    assert f"{ABSENT} is not installed" in said


def test_a_peer_that_cannot_be_imported_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "_MODULES", {"pytest": "a_module_that_is_not_there"})
    peers._loaded.cache_clear()
    assert peers.why_missing("pytest") == "pytest is installed but cannot be imported here"


def test_a_scaled_peer_is_compared_on_the_rows_it_answered() -> None:
    table = np.arange(40.0).reshape(20, 2)
    asked = _question(
        ours=lambda: table, peers={STAND_IN: lambda: lambda: table[::10]}, scale=accounting.EVERY
    )
    row = accounting.Case(asked, STAND_IN, seconds=0.01)()
    assert row["quality_ours"] == row["quality_peer"] == np.mean(table[::10]) != np.mean(table)


def test_a_scaled_peers_seconds_are_those_of_the_whole_grid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(accounting, "median_seconds", lambda jobs, seconds: [0.5, 3.0])
    row = accounting.Case(_question(scale=10), STAND_IN)()
    assert (row["ours_seconds"], row["peer_seconds"], row["ratio"]) == (0.5, 30.0, 60.0)


def test_nothing_of_ours_is_answered_from_memory() -> None:
    asked = next(q for q in accounting.QUESTIONS if "WBK" in q.name)
    asked.ours()
    assert wbk._block.cache_info().currsize > 0
    kept = [
        value.cache_info
        for name, module in list(sys.modules.items())
        if name.startswith("dpcore.accounting.") and not name.endswith("catalogue")
        for value in list(vars(module).values())
        if hasattr(value, "cache_info")
    ]
    accounting._forget()
    assert kept
    assert [info().currsize for info in kept] == [0] * len(kept)


def test_peers_are_not_imported_where_memory_is_measured() -> None:
    """Ours alone counts."""
    call = (
        "import sys; from dpcore.bench.accounting import QUESTIONS, run_alone;"
        "run_alone(QUESTIONS[0].name);"
        "assert not {'dp_accounting', 'autodp', 'opendp', 'prv_accountant'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", call], check=True)


def test_every_case_is_named_once() -> None:
    named = [
        (case.question.name if isinstance(case, accounting.Case) else case.name, case.package)
        for case in accounting.CASES
    ]
    assert len(set(named)) == len(named)
    assert all(peers.FIRST in q.peers or len(q.peers) == 1 for q in accounting.QUESTIONS)


def _comparable(case: accounting.Case) -> bool:
    """Whether the peer is at hand (the first one is) and takes no many seconds."""
    return peers.why_missing(case.package) is None and not _long(case)


def _long(case: accounting.Case) -> bool:
    """Cases of many seconds: their answers are compared by the bench itself."""
    asked = case.question
    if case.package == "prv-accountant":
        return asked.quality != "epsilon"
    return case.package == "opendp" and asked.scale > 1


@pytest.mark.parametrize(
    "case",
    [c for c in accounting.CASES if isinstance(c, accounting.Case) and _comparable(c)],
    ids=lambda case: f"{case.question.name} ({case.package})",
)
def test_the_peer_is_asked_the_same_and_ours_is_as_tight(case: accounting.Case) -> None:
    """Bounds of one kind: ours never above the peer's, nor far below where the theorem is one."""
    asked = case.question
    theirs = np.asarray(asked.peers[case.package]()())
    ours = np.asarray(asked.ours())
    ours = ours[:: asked.scale] if ours.ndim else ours
    assert ours.shape == theirs.shape
    assert np.all(ours <= theirs * (1.0 + 1e-5) + 1e-9)
    assert np.median(ours / theirs) > 0.98
