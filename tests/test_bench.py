"""A bench row says what the contract says, and both sides are given the same question."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import every

from dpcore import bench
from dpcore.accounting import wbk
from dpcore.bench import (
    accounting,
    factors,
    gmm,
    growth,
    history,
    kmeans,
    loading,
    measure,
    peers,
    privacy,
    topics,
)
from dpcore.cli import main
from dpcore.errors import InputError
from dpcore.models.topics import mathematics as lda
from dpcore.wall.table import PrivateTable

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
STAND_IN, ABSENT = "numpy", "a-peer-that-is-not-there"
TINY = gmm.Iterations(gmm.Data(300, 2, 2), few=1, many=15, repetitions=1)
TINY_GRID = gmm.Batch(
    gmm.Data(300, 2, 2), iterations=2, epsilons=(1.0, 1e6), draws=2, repetitions=1
)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gmm, "CASES", (TINY, TINY_GRID))


@pytest.mark.merge
def test_reading_is_measured_beside_pandas_and_every_float_is_the_nearest() -> None:
    text = loading.Text(3, whole=True, odd=True, megabytes=1, repetitions=1)
    row = text()
    assert set(row) >= KEYS
    assert row["quality_ours"] == 1.0
    assert replace(text, whole=False, odd=False)()["quality_peer"] == 1.0


@pytest.mark.merge
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


@pytest.mark.merge
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


@pytest.mark.merge
def test_with_a_huge_budget_the_private_grid_comes_close_to_the_plain_peer() -> None:
    row = replace(TINY_GRID, epsilons=(1e9,))()
    assert row["quality_ours"] == pytest.approx(row["quality_peer"], abs=0.1)


@pytest.mark.merge
def test_memory_is_that_of_a_process_of_its_own() -> None:
    """Neither this process nor its parent counts: an array here changes nothing there."""
    small = measure.peak_mib(replace(TINY, many=1).alone)
    measure._peak_mib.cache_clear()
    kept = bytearray(256 * 2**20)
    again = measure.peak_mib(replace(TINY, many=1).alone)
    large = measure.peak_mib(replace(TINY, many=1, data=replace(TINY.data, rows=1_000_000)).alone)
    assert len(kept) > 0
    assert math.isclose(again, small, rel_tol=0.1)
    assert large > small + 2 * 8 * 1_000_000 / 2**20


def test_a_missing_peer_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gmm.Mixtures, "package", "a-peer-that-is-not-there")
    monkeypatch.setattr(gmm, "CASES", (TINY,))
    assert main(["bench", "gmm"]) == 2
    said = capsys.readouterr().err
    assert said.splitlines()[-1].startswith("dpcore: peer: ")
    assert "a-peer-that-is-not-there is not installed" in said


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


# --- k-means -------------------------------------------------------------------------------------

EVEN = kmeans.Data("even", 500, 2, 12)
STEPS = kmeans.Plain(EVEN, 4, repetitions=1)
PRIVATE = kmeans.Private(EVEN, 1.0, "proved", draws=3, peer_draws=2, repetitions=1)
STAND_IN_MODELS = """
import numpy as np
class KMeans:
    n_iter_ = 1
    def __init__(self, components, *, epsilon, bounds, random_state):
        assert bounds[0].tolist() == [-1.0, -1.0] and bounds[1].tolist() == [1.0, 1.0]
        self.cluster_centers_ = np.full((components, 2), epsilon)
    def fit(self, rows):
        assert rows.shape == (500, 2)
"""


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No interpreter for peers is named, and none is remembered."""
    monkeypatch.delenv(peers.ELSEWHERE, raising=False)
    caches = (peers._why_missing_in, kmeans._private_peer)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def stand_in_elsewhere(elsewhere: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An interpreter whose diffprivlib puts every centre at (epsilon, epsilon)."""
    package, made = tmp_path / "diffprivlib", tmp_path / "diffprivlib-0.0.1.dist-info"
    package.mkdir()
    made.mkdir()
    (package / "__init__.py").write_text("")
    (package / "models.py").write_text(STAND_IN_MODELS)
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: diffprivlib\nVersion: 0.0.1\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(peers.ELSEWHERE, sys.executable)


@pytest.mark.merge
@pytest.mark.usefixtures("elsewhere")
def test_lloyds_steps_are_the_peers_and_the_private_peer_is_named_where_it_is_absent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kmeans, "CASES", (STEPS, PRIVATE))
    assert main(["bench", "kmeans", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)[0]
    assert set(row) >= KEYS
    assert row["bench"] == "kmeans"
    assert row["apart"] < 1e-12
    assert row["quality_ours"] == pytest.approx(row["quality_peer"], abs=1e-12)
    assert 20 < row["peak_mib"] < 2000
    assert row["per"] == "fit of 4 steps"
    (why,) = row["left_out"]
    assert why.startswith("diffprivlib needs its own environment")
    monkeypatch.setattr(bench, "run", lambda *_: [row])
    assert main(["bench", "kmeans"]) == 0
    text = capsys.readouterr().out
    assert "scikit-learn KMeans" in text
    assert "Left out: diffprivlib needs its own environment" in text


def test_centres_would_tell_another_number_of_steps() -> None:
    rows = EVEN.simulate()
    start = kmeans._ours(EVEN.seal(rows), EVEN, 1).parameters.centers
    one, two = (kmeans._peer(rows, start, steps).cluster_centers_ for steps in (2, 3))
    assert np.abs(one - two).max() > 1e-6


@pytest.mark.parametrize("kind", ["check-ins", "even", "groups"])
def test_rows_lie_in_the_box_that_both_sides_are_told(kind: str) -> None:
    rows = kmeans.Data(kind, 2000, 2, 3).simulate()
    assert rows.shape == (2000, 2)
    assert np.abs(rows).max() <= 1.0
    assert np.ptp(rows, axis=0).min() > 0.5


@pytest.mark.merge
@pytest.mark.usefixtures("stand_in_elsewhere")
def test_the_private_peer_is_asked_by_an_interpreter_of_its_own() -> None:
    assert PRIVATE.why_missing() is None
    row = PRIVATE()
    assert set(row) >= KEYS
    assert (row["peer"], row["peer_version"]) == ("diffprivlib KMeans", "0.0.1")
    corner = np.mean(np.sum((EVEN.simulate() - 1.0) ** 2, axis=1))
    assert row["quality_peer"] == pytest.approx(corner)  # of centres at (1, 1)
    assert row["quality_ours"] < row["quality_peer"]
    assert "a row replaced" in row["case"]
    assert "the peer states" in row["case"]
    assert row["left_out"] == []


@pytest.mark.usefixtures("elsewhere")
def test_why_the_private_peer_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(peers.ELSEWHERE, "no-such-interpreter")
    assert "does not name an interpreter" in str(PRIVATE.why_missing())
    monkeypatch.setenv(peers.ELSEWHERE, sys.executable)
    why = peers.why_missing_elsewhere("a_peer_that_is_not_there")
    assert (
        why == "a_peer_that_is_not_there cannot be imported by the interpreter that "
        f"{peers.ELSEWHERE} names"
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_our_side_of_the_peers_promise_spends_no_delta(epsilon: float) -> None:
    """Laplace noise alone, and the epsilons of its releases add up to no more."""
    grid = kmeans._private(EVEN.seal(EVEN.simulate()), EVEN, epsilon, "dplloyd")
    entries = grid.fit().ledger.entries
    assert {entry.noise for entry in entries} == {"laplace"}
    spent = sum(float(entry.sensitivity / np.max(entry.noise_scale)) for entry in entries)
    assert epsilon * 0.999 < spent <= epsilon
    assert grid.guarantee().adjacency == "add_remove"


# --- factor analysis -----------------------------------------------------------------------------

FACES = factors.Data(60, 8, 2)
PLAIN = factors.Plain(FACES, 1e-3, repetitions=1)


@pytest.mark.full
def test_both_factor_analyses_stop_equally_far_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = (PLAIN, replace(PLAIN, slack=2.0), factors.Private(FACES, 1.0, repetitions=1))
    monkeypatch.setattr(factors, "CASES", cases)
    assert main(["bench", "fa", "--json"]) == 0
    near, far, private = json.loads(capsys.readouterr().out)
    summit = factors._summit(FACES)[-1]
    for row, slack in ((near, 1e-3), (far, 2.0)):
        assert set(row) >= KEYS
        assert row["bench"] == "fa"
        assert row["quality_ours"] >= summit - slack
        assert row["quality_peer"] >= summit - slack
        assert "both stop within" in row["case"]
        assert row["ratio_fastest"] <= row["ratio"]
        assert 20 < row["peak_mib"] < 2000
    assert far["quality_peer"] < near["quality_peer"]  # it was stopped sooner
    assert private["quality_ours"] < near["quality_ours"]
    assert "the peer without privacy" in private["case"]
    monkeypatch.setattr(bench, "run", lambda *_: [near, far, private])
    assert main(["bench", "fa"]) == 0
    text = capsys.readouterr().out
    assert "scikit-learn FactorAnalysis" in text
    assert "Fastest: the same ratio" in text


def test_a_case_says_where_ours_does_not_come_as_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "LADDER", (1,))
    monkeypatch.setattr(measure, "peak_mib", lambda _: 0.0)
    case = replace(PLAIN, slack=1e-6)()["case"]
    assert "ours stays" in case
    assert "both" not in case


def test_the_fewest_steps_of_the_ladder() -> None:
    for target in factors.LADDER:
        assert factors._fewest(float, target) == target
    assert factors._fewest(float, 4.0) == 5
    assert factors._fewest(float, math.inf) == factors.LADDER[-1]


def test_the_peer_is_stopped_as_soon_as_it_is_there_and_judged_as_it_judges_itself() -> None:
    rows, target = FACES.simulate(), factors._summit(FACES)[-1] - 0.5
    steps = factors._peer_steps(FACES, target)
    there = factors._peer(rows, FACES, steps)
    before = factors._peer(rows, FACES, steps - 1)
    assert before.score(rows) < target <= there.score(rows)
    assert factors._peer_quality(there, rows) == pytest.approx(there.score(rows), abs=1e-6)


# --- topics --------------------------------------------------------------------------------------

TEXTS = topics.Corpus(300, 120, topics=4, tokens=40)
PASSES = topics.Setup(TEXTS, 50, passes=2, repetitions=1)
HERE = [peer for peer in topics.CALLED if topics.EStep(TEXTS, peer).why_missing() is None]


@pytest.fixture(autouse=True)
def _measured_anew() -> Iterator[None]:
    yield
    topics._fits.cache_clear()
    topics._e_steps.cache_clear()


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be run in a process of its own, to have its memory measured, is run here."""

    def run(job: Callable[[], object]) -> float:
        pickle.loads(pickle.dumps(job))()
        return 100.0

    monkeypatch.setattr(measure, "peak_mib", run)


@pytest.mark.merge
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("peer", HERE)
def test_topics_are_judged_by_one_formula_and_all_sides_find_some(
    peer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(topics, "CASES", (topics.Fit(PASSES, peer), topics.Fit(PASSES, peer, 1.0)))
    assert main(["bench", "topics", "--json"]) == 0
    plain, private = json.loads(capsys.readouterr().out)
    spread = TEXTS.perplexity(np.full((4, 120), 1.0 / 120))
    for row in (plain, private):
        assert set(row) >= KEYS
        assert peer in row["peer"]
        assert row["ratio_fastest"] <= row["ratio"]
        tokens = 2 * TEXTS.bags[0].counts.sum()
        assert 0.0 < row["ours_processor_seconds"] < row["ours_seconds"] * 64
        assert row["ours_tokens_per_second"] == pytest.approx(tokens / row["ours_seconds"])
    assert plain["quality_ours"] == pytest.approx(plain["quality_peer"], rel=0.25)
    assert plain["quality_ours"] < 0.8 * spread
    assert plain["quality_ours"] < private["quality_ours"] < spread
    monkeypatch.setattr(bench, "run", lambda *_: [plain, private])
    assert main(["bench", "topics"]) == 0
    text = capsys.readouterr().out
    assert f"{plain['ours_tokens_per_second']:.0f}" in text
    assert "All sides use the same documents" in text


@pytest.mark.merge
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("peer", HERE)
def test_an_e_step_under_the_same_topics_ends_at_the_same_mixes(peer: str) -> None:
    """The peer was really given our topics: under others its mixes would foretell much less."""
    row = topics.EStep(TEXTS, peer, repetitions=1)()
    assert row["quality_ours"] == pytest.approx(row["quality_peer"], rel=2e-3)
    other = topics._ours(PASSES, None, 1)
    stranger = lda.mixes(TEXTS.bags[0], other, TEXTS.prior)
    ours = topics._ours(topics.Setup(TEXTS, 30, 1), None, 0)
    assert TEXTS.perplexity_at(stranger, ours) > 1.05 * row["quality_ours"]


def test_documents_are_the_same_at_every_call_and_in_every_form() -> None:
    again = topics.Corpus(300, 120, topics=4, tokens=40)
    known = TEXTS.bags[0]
    assert np.array_equal(again.bags[0].counts, known.counts)
    dense = TEXTS.as_matrix.toarray()
    assert dense.sum() == known.counts.sum()
    for row, pairs in zip(dense, TEXTS.as_lists, strict=True):
        assert {word: row[word] for word in np.flatnonzero(row)} == dict(pairs)


@pytest.mark.full
@pytest.mark.usefixtures("in_this_process")
def test_without_gensim_topics_are_still_compared_and_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(topics, "GENSIM", ABSENT)
    monkeypatch.setattr(
        topics, "CASES", (topics.Fit(PASSES, topics.SKLEARN), topics.Fit(PASSES, ABSENT))
    )
    (row,) = bench.run("topics")
    assert row["left_out"] == [f"{ABSENT} is not installed"]


# --- what privacy adds, growth and history -------------------------------------------------------


@pytest.mark.merge
@pytest.mark.usefixtures("in_this_process")
def test_every_model_stands_beside_itself_without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = ((1, 2), (2, 2), (1, 2))
    made = [
        replace(privacy.CASES[i], data=_few(i), few=few, many=many, options={}, repetitions=1)
        for i, (few, many) in zip((0, 3, 5), steps, strict=True)
    ]
    monkeypatch.setattr(privacy, "CASES", tuple(made))
    for row in bench.run("privacy"):
        assert set(row) >= KEYS
        assert "without noise" in row["peer"]
        assert row["quality_ours"] < row["quality_peer"]  # of the same rows


def _few(which: int) -> Callable[[], PrivateTable]:
    if which == 5:
        return lambda: privacy._bits(500)
    data = gmm.Data(2000, 2 if which == 0 else 20, 3)
    return lambda: data.seal(data.simulate())


def test_a_growing_case_tells_curve_axis_and_size(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def make(rows: int, columns: int, groups: int) -> growth.Case:
        seconds = {"ours_seconds": rows, "peer_seconds": 3.0 - 1e-12 * rows}  # it may fall a bit
        return lambda: {**_row(2.0), "case": f"{rows} {columns} {groups}", **seconds}

    points = growth.curves("gmm", make, rows=(1, 2, 4), columns=(3,), groups=(5,))
    monkeypatch.setattr(growth, "CASES", tuple(points))
    page = tmp_path / "speed.html"
    assert main(["bench", "growth", "--page", str(page)]) == 0
    text = capsys.readouterr().out
    assert "gmm: our seconds grow as rows^1.00; the peer's as rows^0.00." in text
    written = page.read_text(encoding="utf-8")
    assert "number of rows" in written
    assert "growth: 4 3 5, per step" in written


def test_growth_measures_what_other_benches_measure() -> None:
    axes = {(point.curve, point.axis) for point in growth.CASES}
    assert axes == {(c, a) for c in ("gmm", "k-means", "topics") for a in growth.AXES}
    once = {point.case for point in growth.CASES}
    assert len(once) == len(growth.CASES) - 3 * 2  # three axes share a curve's base
    small = [p for p in growth.CASES if (p.axis, p.size) == ("rows", 3_000)]
    assert [p.case.data.rows for p in small if isinstance(p.case, gmm.Iterations)] == [3_000]


def _row(ratio: float | None, **changes: object) -> dict[str, object]:
    numbers = ("ours_seconds", "quality_ours", "quality_peer", "peak_mib", "peer_seconds_one_core")
    row = dict.fromkeys(numbers, 1.0)
    words = {"case": "one", "per": "step", "peer": "numpy x", "peer_version": "1"}
    return {**row, **words, "peer_seconds": 3.0, "ratio": ratio, **changes}


def test_a_slowdown_is_seen_and_only_a_slowdown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = tmp_path / "runs.jsonl"
    words = ["bench", "fa", "--history", str(told)]
    ratios = (4.0, 4.4, 100.0, 3.4, float("nan"), 3.0)  # before the last: median 4.2
    marks = []
    for ratio in ratios:
        monkeypatch.setattr(factors, "CASES", (lambda ratio=ratio: _row(ratio),))
        assert main(words) == 0
        marks.append("SLOWER" in capsys.readouterr().out)
    assert marks == [False, False, False, False, False, True]
    assert len(told.read_text(encoding="utf-8").splitlines()) == len(ratios)
    monkeypatch.setattr(factors, "CASES", (lambda: _row(0.1, peer_version="2"),))
    page = tmp_path / "speed.html"
    assert main([*words, "--page", str(page), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["ratio_before"], row["slower"]) == (None, False)  # another peer
    assert "7 runs" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["not json", "{}", '{"rows": [{}]}', '{"rows": []}'])
def test_a_history_that_no_bench_wrote_is_refused_before_anything_is_measured(
    text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factors, "CASES", (lambda: pytest.fail("measured"),))
    (tmp_path / "odd").write_text(text + "\n", encoding="utf-8")
    assert main(["bench", "fa", "--history", str(tmp_path / "odd")]) == 2
    assert "history" in capsys.readouterr().err
    with pytest.raises(InputError, match="written"):
        history.append(tmp_path, {"rows": []})


# --- accounting ----------------------------------------------------------------------------------


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
    cases = [accounting.QuestionCase(name, asked, seconds=0.01) for name in asked.peers]
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
    monkeypatch.setattr(accounting, "CASES", [accounting.QuestionCase(ABSENT, _question())])
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
    row = accounting.QuestionCase(STAND_IN, asked, seconds=0.01)()
    assert row["quality_ours"] == row["quality_peer"] == np.mean(table[::10]) != np.mean(table)


def test_a_scaled_peers_seconds_are_those_of_the_whole_grid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(accounting, "median_seconds", lambda jobs, seconds: [0.5, 3.0])
    row = accounting.QuestionCase(STAND_IN, _question(scale=10))()
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
        (
            case.question.name if isinstance(case, accounting.QuestionCase) else case.name,
            case.package,
        )
        for case in accounting.CASES
    ]
    assert len(set(named)) == len(named)
    assert all(peers.FIRST in q.peers or len(q.peers) == 1 for q in accounting.QUESTIONS)


def _comparable(case: accounting.QuestionCase) -> bool:
    """Whether the peer is at hand (the first one is) and takes no many seconds."""
    return peers.why_missing(case.package) is None and not _long(case)


def _long(case: accounting.QuestionCase) -> bool:
    """Cases of many seconds: their answers are compared by the bench itself."""
    asked = case.question
    if case.package == "prv-accountant":
        return asked.quality != "epsilon"
    return case.package == "opendp" and asked.scale > 1


@pytest.mark.full
def test_the_peer_is_asked_the_same_and_ours_is_as_tight() -> None:
    """Of every peer that is at hand; which are is found here, not while tests are collected."""
    cases = [
        c for c in accounting.CASES if isinstance(c, accounting.QuestionCase) and _comparable(c)
    ]
    every("case", cases)(as_tight_as_the_peer)()


def as_tight_as_the_peer(case: accounting.QuestionCase) -> None:
    """Bounds of one kind: ours never above the peer's, nor far below where the theorem is one."""
    asked = case.question
    theirs = np.asarray(asked.peers[case.package]()())
    ours = np.asarray(asked.ours())
    ours = ours[:: asked.scale] if ours.ndim else ours
    assert ours.shape == theirs.shape
    assert np.all(ours <= theirs * (1.0 + 1e-5) + 1e-9)
    assert np.median(ours / theirs) > 0.98
