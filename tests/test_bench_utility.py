"""The bench of utility: shares between references without privacy, on two halves of tables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.bench import utility
from dpcore.bench.utility_tables import (
    HALVES,
    TABLES,
    Answered,
    Archive,
    Peer,
    Simulated,
    Table,
    Written,
)
from dpcore.cli import main
from dpcore.evaluation.yardstick import yardstick
from dpcore.wall.custodian import custodian_outcomes

APART = Table("two apart", Simulated(400, 2, 2, 6.0), (("gmm", 2), ("kmeans", 2)))
ALIKE = Table("one cloud", Simulated(400, 2, 1, 0.0), (("gmm", 2),))
ABSENT = Table("nowhere", Archive("no-such-file.npz", "X"), (("gmm", 2),))
CONTRACT = ("table", "half", "model", "epsilon", "share", "low", "high", "baseline", "simplest")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utility, "TABLES", (APART, ALIKE, ABSENT))


@pytest.mark.usefixtures("few")
def test_rows_carry_the_contract_and_absent_tables_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "utility", "--draws", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert all(tuple(row)[: len(CONTRACT)] == CONTRACT for row in rows)
    assert len(rows) == 3 * len(utility.EPSILONS) + 1
    assert [row["table"] for row in rows if row["absent"]] == ["nowhere"]
    assert "no-such-file.npz" in rows[-1]["absent"]
    assert all(row["share"] is None for row in rows if row["table"] == "one cloud")
    assert all(row["low"] <= row["share"] <= row["high"] for row in rows if row["share"])


@pytest.mark.usefixtures("few")
def test_people_read_shares_medians_and_what_is_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "utility", "--model", "gmm", "--draws", "1"]) == 0
    printed = capsys.readouterr()
    assert "No share, because exact and baseline hardly differ: gmm on one cloud." in printed.out
    assert "Absent: nowhere" in printed.out
    assert "simplest better" in printed.out
    assert "gmm on two apart: " in printed.err


def test_without_noise_to_speak_of_a_share_is_one_and_the_simplest_rival_has_none() -> None:
    """At a huge budget ours comes to the exact fit and the private Gaussian to the exact one."""
    mixture, centres = utility.run(draws=1, epsilons=(1e7,), tables=(APART,))
    for row in (mixture, centres):
        assert row["share"] == pytest.approx(1.0, abs=0.02)
        assert row["simplest"] == pytest.approx(0.0, abs=0.02)
        assert row["exact"] > row["baseline"] + 2 * row["error"]


def test_halves_are_fixed_by_names_and_both_are_large() -> None:
    names = [table.name for table in TABLES]
    assert len(set(names)) == len(names) >= 24
    halves = {half: [table for table in TABLES if table.half == half] for half in HALVES}
    assert min(map(len, halves.values())) >= 12
    assert {"wine", "places"} <= {table.name for table in halves["develop"]}  # for good
    assert {"iris", "lifesci"} <= {table.name for table in halves["report"]}


def test_topics_are_measured_on_both_halves() -> None:
    halves = {table.half for table in TABLES if "lda" in dict(table.models)}
    assert halves == set(HALVES)
    documents = Table("few texts", Written(60, 20, 2, 10), (("lda", 2),)).read()
    again = Written(60, 20, 2, 10).read()
    assert documents.schema.size == 20
    words = [corpus.split(0.25, seed=0)[1].schema.words for corpus in (documents, again)]
    assert words[0] == words[1]


def test_belief_networks_are_measured_against_independent_columns() -> None:
    halves = {table.half for table in TABLES if "sbn" in dict(table.models)}
    assert halves == set(HALVES)
    digits = Table("digits", Peer("load_digits", above=8.0), (("sbn", 4),))
    (row,) = utility.run(draws=1, epsilons=(1e6,), tables=(digits,))
    assert row["baseline"] < row["exact"] < 0.0  # log-likelihoods of a row
    assert row["simplest"] == pytest.approx(0.0, abs=0.02)
    assert row["share"] > 0.5


def test_regressions_are_measured_on_several_tables_of_both_halves() -> None:
    halves = [table.half for table in TABLES if "logistic" in dict(table.models)]
    assert min(halves.count(half) for half in HALVES) >= 5


def test_an_outcome_is_a_column_or_an_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path))
    monkeypatch.delenv("DPCORE_SHARED", raising=False)
    rows = np.random.default_rng(0).normal(size=(40, 3))
    answers = np.arange(40) % 4
    frame = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(soon=answers)
    frame.to_csv(tmp_path / "some.csv", index=False)
    np.savez(tmp_path / "some.npz", X=rows, y=answers)
    for source in (
        Answered("some.csv", "soon", yes=("2", "3"), columns=("c", "a")),
        Answered("some.npz", "y", "X", yes=("2", "3")),
    ):
        _, units, outcomes = custodian_outcomes(source.read())
        assert units.shape == (40, len(source.columns) or 3)
        np.testing.assert_array_equal(outcomes, answers >= 2)
    np.savez(tmp_path / "last.npz", X=np.column_stack([rows, answers == 1]).astype(float))
    _, units, outcomes = custodian_outcomes(Answered("last.npz", "x4", "X").read())
    assert units.shape == (40, 3)
    np.testing.assert_array_equal(outcomes, answers == 1)


def test_two_models_of_one_release_of_moments_are_measured_on_the_same_tables() -> None:
    models = [dict(table.models) for table in TABLES]
    assert [("ppca" in each) for each in models] == [("fa" in each) for each in models]
    small = Table("one factor", Simulated(400, 5, 1, 0.0, correlation=0.8), (("ppca", 1),))
    (row,) = utility.run(draws=1, epsilons=(1e7,), tables=(small,))
    assert row["share"] == pytest.approx(1.0, abs=0.02)
    assert row["simplest"] == pytest.approx(0.0, abs=0.02)


def test_classes_are_measured_by_fits_that_serve_the_measure() -> None:
    """Released for the likelihood, not for the divergence that fears wide shapes."""
    table = Table("two classes", Simulated(400, 2, 2, 6.0), (("gmm-release", 1),))
    (row,) = utility.run(draws=1, epsilons=(1e7,), tables=(table,))
    assert row["share"] == pytest.approx(1.0, abs=0.02)
    assert row["simplest"] == pytest.approx(0.0, abs=0.02)
    options = dict(yardstick("gmm-release").for_score)
    assert options == {"target": "forward"}


def test_simulated_tables_are_what_their_numbers_state() -> None:
    rows = Simulated(4000, 3, 2, 9.0, imbalance=3.0, correlation=0.5).rows_and_groups()[0]
    repeated = Simulated(4000, 3, 2, 9.0, imbalance=3.0, correlation=0.5).rows_and_groups()
    assert np.array_equal(rows, repeated[0])
    sizes = np.bincount(repeated[1])
    assert sizes[0] / sizes[1] == pytest.approx(3.0, rel=0.1)
    within = np.cov(rows[repeated[1] == 0].T)
    assert np.trace(within) / 3 == pytest.approx(1.0, rel=0.1)
    assert np.linalg.eigvalsh(within)[-1] == pytest.approx(0.5 + 0.5 * 3, rel=0.1)
    truth = Simulated(4000, 3, 2, 9.0, imbalance=3.0, correlation=0.5).truth()
    np.testing.assert_allclose(truth.weights, [0.75, 0.25])
    np.testing.assert_allclose(np.cov(rows[repeated[1] == 0].T), truth.covariances[0], atol=0.15)
    np.testing.assert_allclose(rows[repeated[1] == 1].mean(axis=0), truth.means[1], atol=0.15)
