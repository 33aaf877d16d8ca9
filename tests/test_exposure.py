"""The measured success of an attacker: never above the proof, far above it without the noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from support import split_lanes
from test_coefficient_studies import OPENINGS

import dpcore as dp
from dpcore.accounting import mu_of
from dpcore.evaluation import exposure
from dpcore.evaluation.exposure import success_rate
from dpcore.evaluation.study import Setting
from dpcore.wall import session as doors

SETTING = Setting(components=3, iterations=5, delta=1e-4)


@pytest.fixture(scope="module")
def table() -> Any:
    return dp.load("bundled:rare_person")


def weaken(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """The door draws only a share of the noise; the ledger goes on stating all of it."""
    draw = doors.NoiseSource.normal
    monkeypatch.setattr(doors.NoiseSource, "normal", lambda self, shape: share * draw(self, shape))


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
@split_lanes("sees", ["all", "final"], merge=1)
def test_no_attack_is_above_its_ceiling(table: Any, adjacency: str, sees: str) -> None:
    """Only a lower end above the ceiling would accuse the fit: chance 2.5% at worst, each."""
    setting = replace(SETTING, adjacency=adjacency)
    found = [
        success_rate(table, setting, epsilon, 1000, sees=sees, seed=seed)
        for epsilon in (0.5, 2.0, 8.0)
        for seed in (0, 1)
    ]
    assert sum(each.low > each.ceiling for each in found) == 0
    assert all(each.low <= each.rate <= each.high for each in found)


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
@pytest.mark.parametrize("sees", ["final", "all"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_tenth_of_the_noise_is_found_out(
    table: Any, adjacency: str, sees: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    weaken(monkeypatch, 0.1)
    setting = replace(SETTING, adjacency=adjacency)
    found = success_rate(table, setting, 4.0, 1000, sees=sees, seed=seed)
    assert found.low > found.ceiling + 0.1


def test_the_ceiling_is_that_of_the_whole_budget(table: Any) -> None:
    """Phi(mu / 2), mu the Gaussian-DP parameter that the budget allows."""
    found = success_rate(table, SETTING, 2.0, 40)
    assert found.ceiling == pytest.approx(float(ndtr(mu_of(2.0, 1e-4) / 2)), rel=1e-6)


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_without_noise_the_attacker_is_always_right(table: Any, adjacency: str) -> None:
    found = success_rate(table, replace(SETTING, adjacency=adjacency), None)
    assert (found.rate, found.ceiling) == (1.0, 1.0)


def test_the_rule_is_scored_on_draws_it_has_not_seen() -> None:
    """Two clouds alike in many features: scored where learned, the rate would be far above half."""
    rng = np.random.default_rng(0)
    hits, guesses = exposure._scored(rng.standard_normal((400, 80)), rng.standard_normal((400, 80)))
    assert guesses == 400
    assert abs(hits / guesses - 0.5) < 0.09


def test_two_normal_clouds_are_told_apart_as_well_as_can_be() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.standard_normal((2, 8000, 6))
    other = other + np.array([1.2, 0, 0, 0, 0, 0])
    hits, guesses = exposure._scored(one, other)
    assert hits / guesses == pytest.approx(float(ndtr(0.6)), abs=0.02)


OTHERS = {
    "kmeans": ("rare_person", {"components": 1}),
    "fa": ("rare_person", {"components": 1}),
    "gmm-release": ("five_parties", {"adjacency": "label", "words": (("method", "staged"),)}),
    "logistic": ("who_comes_back", {"components": 1, "adjacency": "label"}),
    **{
        model: (data, {"components": 1, "iterations": 10, "words": tuple(words.items())})
        for model, (data, words) in OPENINGS.items()
    },
}


@pytest.mark.parametrize("model", OTHERS)
def test_other_models_are_attacked_by_the_same_call(model: str) -> None:
    data, words = OTHERS[model]
    found = success_rate(dp.load(f"bundled:{data}"), Setting(model, **words), 2.0, 400, seed=1)
    assert found.low <= found.ceiling


def test_unknown_views_are_refused(table: Any) -> None:
    with pytest.raises(dp.InputError, match=r"^sees: "):
        success_rate(table, SETTING, 1.0, sees="nothing")


def test_the_two_tables_never_share_noise(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With shared draws the guesses would not be independent, nor the interval one of 95%."""
    drawn: list[set[int]] = []
    fitted = exposure.fitted

    def spy(table: Any, setting: Any, requests: Any, draws: range) -> Any:
        drawn.append(set(draws))
        return fitted(table, setting, requests, draws)

    monkeypatch.setattr(exposure, "fitted", spy)
    success_rate(table, SETTING, 1.0, 40)
    assert [len(each) for each in drawn] == [20, 20]
    assert not drawn[0] & drawn[1]
