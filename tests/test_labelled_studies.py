"""Studies of labelled releases and of yes or no: what they are held against, and what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from app_pages import data_of

import dpcore as dp
from app import compute, result_store
from app.scenario import Scenario, opening, sane
from dpcore.declaration import declaration, declarations
from dpcore.errors import InputError
from dpcore.evaluation.study import Setting, budget_grid, references, study
from dpcore.evaluation.sweep import sweep
from dpcore.evaluation.verdict import attack_sentences, found_sentences, verdicts
from dpcore.evaluation.yardstick import yardstick
from dpcore.fitting.api import fit_grid
from dpcore.models.labelled_mixture.scoring import divergence, noise_alone
from dpcore.privacy import Privacy
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable

PARTIES, BACK = "five_parties", "who_comes_back"


def table(name: str) -> Any:
    return dp.load(f"bundled:{name}")


def staged(**words: Any) -> Setting:
    known = {"adjacency": "label", "words": (("method", "staged"),), "seed": 7} | words
    return Setting("gmm-release", components=1, **known)


# --- classes -------------------------------------------------------------------------------------


def test_the_simplest_rival_is_one_gaussian_with_the_exact_shares() -> None:
    rows = table(PARTIES)
    exact = yardstick("gmm-release").converged(rows, 1, {})
    plain = fit_grid("gmm-release", rows, privacy=None, method="pooled").runs.final
    np.testing.assert_allclose(plain.weights, exact.weights, atol=1e-12)
    middle = np.einsum("k,kd->d", exact.weights[0], exact.means[0])
    np.testing.assert_allclose(plain.means, np.broadcast_to(middle, plain.means.shape), atol=1e-9)
    away = exact.means[0] - middle
    whole = exact.covariances[0] + away[:, :, None] * away[:, None]
    spread = np.einsum("k,kij->ij", exact.weights[0], whole)
    np.testing.assert_allclose(plain.covariances[0, 3], spread, atol=1e-6)


@pytest.mark.parametrize("adjacency", ["label", "replace_one", "add_remove", "feature"])
def test_one_gaussian_comes_near_its_exact_fit_as_the_budget_grows(adjacency: str) -> None:
    asked = [Privacy(epsilon=e, delta=1e-5, adjacency=adjacency) for e in (0.05, 50.0)]
    rows = table(PARTIES)
    exact = fit_grid("gmm-release", rows, privacy=None, method="pooled").runs.final
    private = fit_grid("gmm-release", rows, privacy=asked, method="pooled", seed=0, draws=range(9))
    lost = divergence(private.runs.final, exact).reshape(2, 9)
    assert np.median(lost[1]) < 0.02
    assert np.median(lost[0]) > 4.0 * np.median(lost[1])


def test_a_study_holds_classes_against_one_gaussian_under_the_same_promise() -> None:
    found = study(table(PARTIES), staged(), draws=5)
    known, grid = found.references, found.grid
    assert yardstick("gmm-release").fits_rival
    assert known.bounds_utility < known.single_utility < known.converged_utility
    assert known.own_steps_utility == pytest.approx(known.converged_utility, abs=1e-9)
    assert staged().simplest().options()["method"] == "pooled"
    levels = {
        e: verdicts(grid, known, found.curves.single)[grid.epsilons.index(e)].level
        for e in (0.1, 0.5, 10.0)
    }
    assert levels == {0.1: 1, 0.5: 2, 10.0: 3}
    told = found_sentences(grid)
    assert told[grid.epsilons.index(2.0)] == "All five classes are found in 5 of 5 draws."


def test_a_published_release_has_the_same_references() -> None:
    """Its method is none of the proved ones, and without noise all are the same."""
    rows = table(PARTIES)
    published = staged(words=(("method", "paper"),), mode="paper", accountant="linear")
    one, other = references(rows, published), references(rows, staged())
    assert one.own_steps_utility == other.own_steps_utility
    assert one.single_utility == other.single_utility


def test_noise_alone_is_a_part_of_what_the_staged_release_loses() -> None:
    rows, setting = table(PARTIES), staged()
    exact = yardstick("gmm-release").converged(rows, 1, {})
    grid = budget_grid(rows, setting, exact, (0.5, 1.0, 4.0), range(9))
    least = noise_alone(grid.noise, exact, "label")
    assert np.all(np.diff(least) < 0.0)
    np.testing.assert_allclose(noise_alone(grid.noise, exact, "add_remove"), least / 2.0)
    np.testing.assert_allclose(noise_alone(grid.noise, exact, "label", 3), 9.0 * least)
    for i, cost in enumerate(least):
        runs = type(grid.fits)(**{k: v[i] for k, v in vars(grid.fits).items()})
        assert 0.5 * cost < np.median(divergence(runs, exact)) < 10.0 * cost


def notes(scenario: Scenario, found: compute.Study) -> tuple[str, ...]:
    judge = yardstick(scenario.model)
    return judge.budget_notes(scenario.setting(), found.grid, found.references.converged)


def test_the_screen_says_what_noise_costs_and_which_classes_it_ate() -> None:
    scenario = opening(PARTIES)
    data = data_of(scenario)
    found = compute.study(scenario, data, result_store.ResultStore())
    told = notes(scenario, found)
    at = {e: told[found.grid.epsilons.index(e)] for e in (0.05, 2.0)}
    assert "Warning: the noise outweighs every class: this budget is too small" in at[0.05]
    assert "Warning" not in at[2.0]
    assert "noise alone would cause" in at[2.0]
    other = notes(Scenario(), found)
    assert set(other) == {""}


def test_the_opening_protects_labels_alone_and_another_table_opens_as_itself() -> None:
    first = opening(PARTIES)
    assert first.adjacency == "label"
    assert first.setting().options() == {"n_components": None, "method": "staged"}
    assert first.as_query() == {"data": PARTIES}
    assert sane(Scenario(adjacency="label")).adjacency == "replace_one"
    back = sane(Scenario(data=BACK, model="logistic", adjacency="label"))
    assert back.adjacency == "label"
    assert sane(
        Scenario(data=BACK, model="logistic", method="vips", adjacency="label")
    ).adjacency == ("replace_one")


@pytest.mark.parametrize("method", ["recommended", *declaration("gmm-release").methods])
def test_every_way_of_releasing_is_what_it_says(method: str) -> None:
    scenario = sane(
        Scenario(data=PARTIES, model="gmm-release", method=method, adjacency="label", epsilon=2.0)
    )
    data = data_of(scenario)
    if method == "r1smg":
        with pytest.raises(InputError, match="three columns or more"):
            compute.one_fit(scenario, data)
        return
    fit = compute.one_fit(scenario, data)
    proved = declaration("gmm-release").method(method).mode == "proved"
    assert (fit.guarantee.epsilon is not None) == proved
    assert fit.guarantee.adjacency == ("feature" if method == "ball" else "label")
    assert {entry.adjacency for entry in fit.ledger} == {fit.guarantee.adjacency}
    assert set(fit.sample(50, seed=0)["party"]) <= {"Lake", "Hill", "Coast", "Woods", "Town"}


# --- neighbours ----------------------------------------------------------------------------------


def test_a_neighbour_by_label_differs_in_one_label_alone() -> None:
    frame = pd.DataFrame({"x": [0.1, 0.2, 0.3], "kind": ["a", "a", "b"]})
    kind = Column("kind", "label", "category", categories=("a", "b"))
    sealed = PrivateTable.seal(frame, Schema((Column("x", lower=0, upper=1), kind)))
    label, feature = (sealed.neighbour(0, word)._frame for word in ("label", "feature"))
    assert label["x"].tolist() == [0.1, 0.2, 0.3]
    assert label["kind"].tolist() == ["b", "a", "b"]
    assert feature["x"].tolist() == [0.3, 0.2, 0.3]
    assert feature["kind"].tolist() == ["a", "a", "b"]
    assert frame["kind"].tolist() == ["a", "a", "b"]


def test_a_target_counts_as_a_label() -> None:
    one, other = table(BACK), table(BACK).neighbour(5, "label")
    same = one._frame == other._frame
    assert same.drop(columns="comes back").all().all()
    assert (~same["comes back"]).sum() == 1


def test_the_attacker_of_a_label_is_told_all_else() -> None:
    told = attack_sentences(np.array([0.561]), "voter", "label")[0]
    assert told.startswith(
        "An attacker who knows everything but one voter's label, and two candidates for it, "
    )
    assert "57 times" in told
    assert "your label" in attack_sentences(np.array([0.6]), "person", "label")[0]


# --- yes or no -----------------------------------------------------------------------------------


def test_a_rule_is_held_against_pure_chance_which_costs_nothing() -> None:
    found = study(table(BACK), Setting("logistic", components=1, seed=7), draws=5)
    assert not yardstick("logistic").fits_rival
    assert found.references.bounds_utility == found.references.single_utility == 0.5
    np.testing.assert_array_equal(found.curves.single, 0.5)
    judged = verdicts(found.grid, found.references, found.curves.single)
    assert "the exact fit's gain over pure chance" in judged[found.grid.epsilons.index(0.5)].text
    assert judged[found.grid.epsilons.index(10.0)].level == 3


def test_a_sweep_of_rules_is_in_auc_beside_chance() -> None:
    rows = sweep("logistic", table(BACK), epsilons=[1.0], delta=1e-5, splits=2)
    assert rows[0].baseline == 0.5
    assert 0.6 < rows[0].mean <= rows[0].converged + 0.05


def test_models_are_offered_where_a_table_has_what_they_read() -> None:
    voters, patients = table(PARTIES).schema, table(BACK).schema
    lines, groups = table("two_lines").schema, table("three_groups").schema
    reads = {
        name: {m for m, model in declarations().items() if model.suits(s)}
        for name, s in {
            "voters": voters,
            "patients": patients,
            "lines": lines,
            "groups": groups,
        }.items()
    }
    assert {name for name, found in reads.items() if "gmm-release" in found} == {"voters"}
    assert {name for name, found in reads.items() if "logistic" in found} == {"patients"}
    assert {name for name, found in reads.items() if "mixture-regression" in found} == {"lines"}
    assert all("gmm" in found for found in reads.values())
