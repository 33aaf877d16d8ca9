"""The bench of the labelled release: rows keep the contract, and the solver its promise of time."""

from __future__ import annotations

import pytest
from test_bench import KEYS

from dpcore.bench import BENCHES
from dpcore.bench.release import CASES, Large, Slider, Solver
from dpcore.bench.release_medians import Mechanism
from dpcore.models.labelled_mixture import PROVED

CONTRACT = KEYS | {"per", "peer_seconds_one_core", "quality"}


@pytest.mark.merge
@pytest.mark.parametrize(
    "case",
    [Large(3, 2000), Slider(), Mechanism("staged", "gaussian", "label", 2.0, tables=2)],
    ids=lambda case: type(case).__name__,
)
def test_rows_carry_the_contract(case: Large | Slider | Mechanism) -> None:
    row = case()
    assert row.keys() >= CONTRACT
    assert row["ours_seconds"] > 0.0
    assert row["quality_ours"] <= row["quality_peer"] or isinstance(case, Slider)


def test_the_bench_is_registered_and_compares_both_adjacencies() -> None:
    assert BENCHES["release"] == "dpcore.bench.release"
    assert {case.adjacency for case in CASES if isinstance(case, Mechanism)} == {
        "label",
        "replace_one",
    }


def test_every_way_of_releasing_is_measured() -> None:
    """In rows of its own, or as a rival in others."""
    cases = [case for case in CASES if isinstance(case, Mechanism)]
    ways = {way for case in cases for way in (case.method, case.rival)}
    chosen_or_simplest = {"auto", "pooled"}
    assert ways == {*PROVED, "paper leave", "paper all"} - chosen_or_simplest


@pytest.mark.merge
def test_a_row_tells_both_divergences() -> None:
    row = Mechanism("staged", "gaussian", "label", 5.0, tables=4)()
    assert max(row["forward"][0], row["quality_ours"]) < 0.3
    assert row["forward"][1] > row["forward"][0]
    published = Mechanism("paper all", "staged", "label", 5.0, tables=1)()
    assert published["quality_ours"] > row["quality_ours"]


@pytest.mark.full
def test_the_solver_agrees_with_its_peer_and_is_far_faster() -> None:
    row = Solver(3, 200, repetitions=1)()
    assert row["quality_ours"] == pytest.approx(row["quality_peer"], rel=1e-7)
    assert row["ratio"] > 30.0
    assert row["gap"] <= 1e-8


@pytest.mark.full
def test_a_slider_moves_without_waiting() -> None:
    """60 ms on a quiet machine; ten times that is no longer the machine's mood."""
    assert Slider()()["ours_seconds"] < 0.6
