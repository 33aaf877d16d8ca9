"""Claims of the labelled release that fail, each shown; and that what is proved holds up."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats

import dpcore as dp
from dpcore.accounting import mu_of
from dpcore.auditing.exhibits.labelled import (
    empty_neighbours,
    mapping_support,
    noise_that_reads,
    one_sided_noise,
    rank_one_noise,
    two_classes,
)
from dpcore.errors import InputError
from dpcore.privacy import Privacy

COUNTED = (one_sided_noise, noise_that_reads)
WORKED_OUT = (two_classes, mapping_support, empty_neighbours, rank_one_noise)
PICTURED = (*COUNTED, mapping_support, empty_neighbours, rank_one_noise)


@pytest.mark.parametrize("show", [*COUNTED, *WORKED_OUT], ids=lambda show: show.__name__)
def test_every_exhibit_refutes_its_claim(show: Any) -> None:
    shown = (show(runs=400) if show in COUNTED else show()).shown
    assert shown.refuted
    assert shown.attained <= 1.0
    assert (shown.counted is None) == (shown.confidence == 1.0)
    assert len(set(shown.tables)) == 2


def test_pictures_draw_what_the_attacker_looks_for_as_published_and_corrected() -> None:
    """No cut of two clouds of normal noise at this budget tells them apart by more than 0.107."""
    shown = {each: each(runs=400) if each in COUNTED else each() for each in PICTURED}
    most = 2.0 * scipy.stats.norm.cdf(mu_of(1.0, 1e-5) / 2.0) - 1.0
    for each, exhibit in shown.items():
        corrected = exhibit.corrected_picture
        runs = 400 if each in COUNTED else 2000
        assert corrected.first.shape == corrected.second.shape == (runs,)
        apart = scipy.stats.ks_2samp(corrected.first, corrected.second).statistic
        assert apart < most + 1.63 * math.sqrt(2.0 / runs), each  # one in a hundred is beyond
    published = {each: exhibit.published_picture for each, exhibit in shown.items()}
    below = published[one_sided_noise]
    assert below.first.max() < 0.0 <= below.second.min() + 1e-9
    means = published[noise_that_reads]
    assert np.std(means.first) > 20.0 * np.std(means.second)
    away = published[mapping_support]
    assert np.mean(away.first == 2.0) == pytest.approx(13 / 21, abs=0.04)
    assert np.mean(away.second == 1.0) == pytest.approx(20 / 21, abs=0.02)
    shares = published[empty_neighbours]
    assert {*shares.first.tolist()} == {10 / 30}
    assert {*shares.second.tolist()} == {9 / 29}
    distance = published[rank_one_noise]
    assert np.mean(distance.first < 0.7) > 0.08
    assert np.mean(distance.second < 0.7) < 0.005


def test_noise_that_only_adds_is_not_below_in_any_dimension() -> None:
    """P(W not above c u u^T) = 1 - exp(-gamma c / 2): the event behind the exhibit."""
    rng = np.random.default_rng(0)
    for dim in (1, 2, 4):
        noise = rng.standard_normal((20_000, dim + 1, dim))
        wishart = np.swapaxes(noise, 1, 2) @ noise
        wishart[:, 0, 0] -= 1.0
        below = np.linalg.eigvalsh(wishart)[:, 0] < 0.0
        assert below.mean() == pytest.approx(1.0 - math.exp(-0.5), abs=0.012)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 5.0])
def test_one_sided_noise_shows_at_every_epsilon(epsilon: float) -> None:
    assert one_sided_noise(epsilon, runs=400).shown.attained > 0.8


def test_the_mapping_fails_below_27() -> None:
    """Neighbours share 2K - 2 of K(K-1) + 1 points: 0.999 x 13/21 at K = 5."""
    assert mapping_support().shown.attained == pytest.approx(0.999 * 13.0 / 21.0, abs=1e-4)
    assert mapping_support(20.0).refuted
    assert not mapping_support(40.0).refuted


@pytest.mark.parametrize(
    ("dim", "delta", "tolerance"),
    [(5, 8e-3, 0.06), (12, 0.275, 0.01), (50, 0.888, 0.01), (100, 0.971, 0.01)],
)
def test_rank_one_noise_has_the_delta_of_an_integral(
    dim: int, delta: float, tolerance: float
) -> None:
    assert rank_one_noise(dim=dim).shown.attained == pytest.approx(delta, rel=tolerance)


def test_rank_one_noise_holds_in_three_dimensions() -> None:
    assert not rank_one_noise(dim=3).refuted


def test_two_classes_cost_more_than_one() -> None:
    assert two_classes(1.0).refuted
    assert two_classes(1.0).shown.attained == pytest.approx(2.8e-5, rel=0.01)


@pytest.mark.parametrize("method", ["gaussian", pytest.param("staged", marks=pytest.mark.merge)])
def test_attacks_on_what_is_proved_stay_below_it(method: str) -> None:
    asked = Privacy(epsilon=2.0, delta=1e-5, adjacency="label")
    found = dp.audit("gmm-release", asked, runs=1500, method=method)
    assert found.lower < 2.0
    if method == "gaussian":
        assert found.lower > 0.3


@pytest.mark.merge
def test_an_attack_on_what_is_published_breaks_its_claim() -> None:
    asked = Privacy(epsilon=1.0, delta=1e-5, adjacency="label", mode="paper")
    assert dp.audit("gmm-release", asked, runs=1000).lower > 3.0
    with pytest.raises(InputError, match="changes a label"):
        dp.audit("gmm-release", replace(asked, adjacency="feature"))
