"""Private k-means: Lloyd's steps when the noise is zero, and the papers' ways as printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sealed_rows import boxed
from support import examples

import dpcore as dp
from dpcore.arrays import Array
from dpcore.evaluation.yardstick import Scorer
from dpcore.fitting.api import fit_grid
from dpcore.fitting.recipe import SEVERAL
from dpcore.models.kmeans import mathematics as kmeans
from dpcore.models.kmeans import private
from dpcore.models.kmeans.mathematics import Centres
from dpcore.models.kmeans.parameters import KMeansParameters
from dpcore.models.kmeans.private import RECIPE
from dpcore.models.kmeans.scoring import YARDSTICK, converged
from dpcore.privacy import Laplace, Ledger
from dpcore.schema import Schema
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.statistics.cluster_moments import NoisyClusters
from dpcore.wall.table import PrivateTable

DELTA = 1e-4
NONE = np.zeros(1)


def clouds(count: int = 900, dim: int = 2, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    middles = np.array([[-0.6, -0.5], [0.6, -0.4], [0.1, 0.7]])
    middles = np.pad(middles, ((0, 0), (0, dim - 2)))
    return np.clip(middles[rng.integers(3, size=count)] + rng.normal(0, 0.1, (count, dim)), -1, 1)


def exact_sums(rows: Array, centres: Array) -> NoisyClusters:
    owner = np.argmin(((rows[:, None] - centres) ** 2).sum(axis=2), axis=1)
    member = owner[:, None] == np.arange(len(centres))
    return NoisyClusters(
        member.sum(axis=0)[None].astype(float), (member.T @ rows)[None], NONE, NONE
    )


def test_a_share_stays_with_its_centre_in_own_units_and_back() -> None:
    schema = Schema.from_bounds({"a": (10, 30), "b": (-5, 0)})
    public = PublicFrame.of(schema)
    centres = np.array([[[0.5, 0.0], [-0.5, 0.4], [0.5, -0.3], [0.0, 0.9]]])
    shares = np.array([[0.1, 0.2, 0.3, 0.4]])
    found = KMeansParameters.from_units(Centres(centres, shares), 0, public)
    pairs = zip(found.centers.tolist(), found.shares.tolist(), strict=True)
    own = centres[0] * [10.0, 2.5] + [20.0, -2.5]
    assert sorted(pairs) == sorted(zip(own.tolist(), shares[0].tolist(), strict=True))
    back = found.in_units(public)
    order = np.argsort(back.shares[0])
    np.testing.assert_allclose(back.centres[0][order], centres[0])


@pytest.mark.parametrize("seed", range(8))
def test_a_start_takes_no_place_twice_while_another_is_left(seed: int) -> None:
    """Arthur, Vassilvitskii 2007: a point is drawn by its distance to the nearest centre so far."""
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])
    points = np.repeat(places, 3, axis=0)[None]
    rng = np.random.default_rng(seed)
    coins = np.stack([rng.random((1, 5)), rng.integers(15, size=(1, 5))], axis=2)
    found = kmeans._plus_plus(points, np.ones((1, 15)), 5, coins)
    assert {tuple(place) for place in found[0]} == {tuple(place) for place in places}


def test_tries_of_a_start_are_the_same_together_and_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    points, weights = rng.normal(size=(3, 40, 5)), rng.random((3, 40))
    together = kmeans.clustered(points, weights, 4, 0)
    np.testing.assert_array_equal(kmeans.clustered(points[1:2], weights[1:2], 4, 0), together[1:2])
    monkeypatch.setattr(kmeans, "AT_ONCE", 1)
    np.testing.assert_array_equal(kmeans.clustered(points, weights, 4, 0), together)


# --- steps ---------------------------------------------------------------------------------------


def search(
    places: Array, mean: Sequence[float] = (0.0, 0.0), *, single: bool = False, spread: float = 0.5
) -> kmeans.Search:
    """K centres of one run on their way, where the mean of all rows is well known."""
    known = np.array([mean]), np.full(1, 1e-6)
    around = 0.1 * kmeans.directions(*places.shape, 0)[None]
    return kmeans.Search.begun(places[None], known, np.array([spread]), np.array([single]), around)


def test_without_noise_a_step_is_lloyds() -> None:
    rows, before = clouds(), np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 1.0]])
    released, count = exact_sums(rows, before), np.array([float(len(rows))])
    expected = released.sums / released.counts[..., None]
    after = search(before).after(released, count)
    np.testing.assert_allclose(after.targets(), expected, rtol=1e-12)
    np.testing.assert_allclose(after.steadied(), expected, rtol=1e-12)
    np.testing.assert_allclose(after.after(released, count).steadied(), expected, rtol=1e-12)
    np.testing.assert_allclose(after.shares, released.counts / len(rows), rtol=1e-12)
    np.testing.assert_allclose(after.mean, rows.mean(axis=0)[None], atol=1e-12)


def test_a_centre_without_rows_stays() -> None:
    before = np.array([[-0.5, 0.0], [0.9, 0.9]])
    released = NoisyClusters(
        np.array([[10.0, 0.0]]), np.array([[[-4.0, 1.0], [0.0, 0.0]]]), NONE, NONE
    )
    after = search(before).after(released, np.array([10.0])).steadied()
    np.testing.assert_allclose(after[0, 1], [0.9, 0.9])
    np.testing.assert_allclose(after[0, 0], [-0.4, 0.1], rtol=1e-9)


def test_a_centre_whose_rows_are_fewer_than_the_noise_hardly_moves() -> None:
    released = NoisyClusters(
        np.array([[5.0, 995.0]]), np.array([[[5.0, 5.0], [-500.0, 0.0]]]),
        np.array([100.0]), np.array([100.0]),
    )  # fmt: skip
    before = search(np.zeros((2, 2)), mean=[-0.5, 0.0])
    after = before.after(released, np.array([1000.0])).targets()
    assert np.abs(after[0, 0]).max() < 0.02
    assert -0.5 < after[0, 1, 0] < -0.4  # most of the way


def test_noise_draws_centres_together_but_leaves_them_what_chance_is_good_for() -> None:
    """Known signal and noise: the James-Stein share without chance, all of it without noise."""
    places = np.array([[1.0, 0.0], [-1.0, 0.0]])
    for variance in (0.0, 0.1, 1e6):
        found = replace(search(places, spread=0.01), variance=np.full((1, 2), variance))
        kept = np.linalg.norm(found.steadied()[0], axis=1)
        noise = 2 * variance / 2  # two coordinates, less a half for the mean of two centres
        chance = 0.7 * kmeans.largest_of(2) * 0.01 * math.sqrt(noise)
        expected = min(1.0, max(0.0, 1.0 - noise) + chance)
        np.testing.assert_allclose(kept, expected)


def test_where_the_mean_alone_is_seen_one_centre_is_asked_for_and_all_lie_around_it() -> None:
    before = search(np.array([[0.1, 0.0], [0.0, 0.2], [0.0, 0.0]]), single=True)
    assert np.isnan(before.targets()[0, 1:]).all()
    sums = np.array([[[300.0, 0.0], [7.0, 7.0], [-9.0, 9.0]]])  # all but the first are noise
    released = NoisyClusters(np.array([[1003.0, -5.0, 8.0]]), sums, np.ones(1), np.ones(1))
    after = before.after(released, np.array([1000.0]))
    np.testing.assert_allclose(after.mean, [[0.15, 0.0]], atol=1e-9)  # two equally good ones
    away = np.linalg.norm(after.steadied() - after.mean[:, None], axis=2)
    np.testing.assert_allclose(away, 0.1)


@pytest.mark.parametrize("law", [0.0, 1.0])
@pytest.mark.parametrize(("components", "dim"), [(2, 2), (3, 2), (4, 3), (3, 20), (1, 5), (10, 2)])
def test_centres_put_around_a_mean_save_what_they_say(
    components: int, dim: int, law: float
) -> None:
    """Of round rows whose distances are of one law or another, with the same mean; places at
    several distances are made for one law."""
    shape, saved = kmeans.scatter(components, dim, 0)
    away = np.linalg.norm(shape, axis=1)
    law = law * (np.ptp(away) < 0.01)
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((20_000, dim))
    rows *= np.exp(rng.normal(0.0, law, (len(rows), 1)))
    rows /= np.linalg.norm(rows, axis=1).mean()
    nearer = [
        np.max(2.0 * factor * rows @ shape.T - (factor * away) ** 2, axis=1).mean()
        for factor in (0.7, 1.0, 1.4)
    ]
    assert nearer[1] == pytest.approx(saved, rel=0.05, abs=1e-12)
    assert nearer[1] == max(nearer)


def test_many_centres_around_a_mean_in_few_columns_lie_at_several_distances() -> None:
    """Fifteen on a circle save little more than six: three quarters of all there is in a plane."""
    away = np.linalg.norm(kmeans.scatter(15, 2, 0)[0], axis=1)
    assert np.max(away) > 2.0 * np.min(away)
    square = 2.0 / kmeans.round_distance(2) ** 2  # of rows at the mean distance 1
    assert 0.84 < kmeans.scatter(15, 2, 0)[1] / square < 0.92


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What fits of this test look at first, one after the other."""
    looks, looked = [], private._looked

    def kept(*arguments: Any) -> Any:
        looks.append(looked(*arguments))
        return looks[-1]

    monkeypatch.setattr(private, "_looked", kept)
    return looks


def test_rows_far_out_do_not_drive_centres_apart(looks: list[Any]) -> None:
    """The mean distance of the rows counts, not the mean square; where noise leaves both in doubt,
    it is still the nearer one."""
    rng = np.random.default_rng(1)
    rows = (0.3 + 0.05 * rng.standard_t(1.5, (4000, 2))).clip(-1.0, 1.0)
    budget = (dp.Privacy(epsilon=0.05, delta=1e-5),)
    fit_grid("kmeans", boxed(rows), privacy=budget, draws=range(9), seed=0, n_components=8)
    (look,) = looks
    exact = np.linalg.norm(rows - rows.mean(axis=0), axis=1).mean()
    by_square = np.median(kmeans.round_distance(2) * look.spread)
    assert exact < np.median(look.distance) < exact + 0.7 * (by_square - exact)


def test_centres_of_many_groups_get_no_worse_as_the_budget_grows() -> None:
    """Between a budget for centres put around the mean and one for groups."""
    rng = np.random.default_rng(2)
    middles = rng.uniform(-0.9, 0.9, (12, 2))
    rows = middles[rng.integers(12, size=3000)] + rng.normal(0.0, 0.05, (3000, 2))
    table = boxed(rows.clip(-1.0, 1.0))
    scorer = Scorer(PublicFrame.of(table.schema), rows)
    budgets = [dp.Privacy(epsilon, 1e-5) for epsilon in (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3)]
    batch = fit_grid("kmeans", table, privacy=budgets, draws=range(15), seed=0, n_components=12)
    middle = np.median(YARDSTICK.score(batch.runs.final, scorer).reshape(7, 15), axis=1)
    assert np.max(np.maximum.accumulate(middle) - middle) < 0.02


@pytest.mark.parametrize("count", [2, 3, 10, 50])
def test_the_largest_of_some_normal_numbers(count: int) -> None:
    numbers = np.random.default_rng(0).standard_normal((40_000, count)).max(axis=1)
    assert kmeans.largest_of(count) == pytest.approx(numbers.mean(), rel=0.05)


@examples(200)
@given(
    arrays(np.float64, (2, 3), elements=st.floats(allow_nan=True, allow_infinity=True)),
    arrays(np.float64, (2, 3, 2), elements=st.floats(allow_nan=True, allow_infinity=True)),
    st.floats(0.0, 1e6),
    st.booleans(),
)
def test_every_step_is_total(counts: Array, sums: Array, sd: float, single: bool) -> None:
    """Any released numbers give finite centres."""
    noise, rows = np.full(2, sd), np.full(2, 100.0)
    released = NoisyClusters(counts, sums, noise, noise)
    begun = kmeans.start(2, 3, 2, 0, ball=False).centres
    cells = np.where(np.isnan(sums), np.nan, begun)
    known = np.zeros((2, 2)), noise
    mean = kmeans.mean_of_cells(released, cells, rows, known)
    places = kmeans.started(released, cells, 3, 0)
    around = np.broadcast_to(kmeans.directions(3, 2, 0), (2, 3, 2))
    found = kmeans.Search.begun(places, mean, np.ones(2), np.full(2, single), around)
    for _ in range(2):
        found = found.after(released, rows)
        assert np.all(np.isfinite(found.steadied()))
        assert np.all(np.isfinite(found.shares))
    published = kmeans.published_step(released, ball=False)
    assert np.all(np.abs(published.centres) <= 1.0)


def test_the_start_is_worked_out_from_cells_as_k_means_would() -> None:
    """Exact counts and sums of many cells lead to the clouds they lie in."""
    rows = clouds(3000)
    deviation = np.array([rows.std(axis=0).mean()])
    spread = kmeans.candidates(rows.mean(axis=0)[None], deviation, 0, ball=False)
    assert spread.shape == (1, kmeans.CELLS, 2)
    places = kmeans.started(exact_sums(rows, spread[0]), spread, 3, 0)
    _, found = YARDSTICK.align(Centres(places, np.full((1, 3), 1 / 3)), converged(rows, 3))
    assert found.all()


def test_the_error_of_the_first_mean_counts_what_clipping_takes(looks: list[Any]) -> None:
    """Few rows of many columns, all of them to one side of the middle of their limits."""
    rows = np.random.default_rng(0).normal(-0.5, 0.2, (400, 30)).clip(-1, 1)
    budget = (dp.Privacy(epsilon=0.1, delta=1e-5),)
    fit_grid("kmeans", boxed(rows), privacy=budget, draws=range(9), seed=0, n_components=3)
    found = np.median(np.sum((looks[0].at.mean - rows.mean(axis=0)) ** 2, axis=1))
    assert found > 4.0  # clipped, and drawn to the middle by noise
    assert 0.3 * found < np.median(30 * looks[0].error) < 3.0 * found


@pytest.mark.parametrize("dim", [2, 10, 60])
def test_the_middle_does_not_attract_all_rows_in_many_dimensions(dim: int) -> None:
    rows = 0.2 * np.random.default_rng(0).standard_normal((2000, dim))
    cells = kmeans.candidates(np.zeros((1, dim)), np.array([0.2]), 0, ball=False)
    counts = exact_sums(rows, cells[0]).counts[0]
    assert counts.max() < 400
    assert np.count_nonzero(counts) > 50


def test_more_noise_asks_for_fewer_cells_and_the_rest_attract_nobody() -> None:
    points = np.zeros((3, 50, 2))
    kept = kmeans.keep(points, 4, 1000.0, np.array([0.0, 40.0, 1e9]))
    numbers = (~np.isnan(kept[..., 0])).sum(axis=1)
    assert numbers.tolist() == [50, 17, 4]
    unknown = kmeans.keep(points, 4, np.inf, np.array([1e9, 1.0, 0.0]))
    assert not np.isnan(unknown).any()


@pytest.mark.parametrize("ball", [False, True])
@pytest.mark.parametrize("components", [1, 2, 7])
def test_a_start_knows_no_data_and_lies_in_the_bounds(ball: bool, components: int) -> None:
    begun = kmeans.start(2, components, 3, 5, ball=ball)
    assert begun.centres.shape == (2, components, 3)
    limit = np.linalg.norm(begun.centres, axis=-1) if ball else np.abs(begun.centres)
    assert limit.max() <= 1.0
    gaps = np.linalg.norm(begun.centres[0, :, None] - begun.centres[0], axis=-1)
    assert components == 1 or np.min(gaps + 9 * np.eye(components)) > 0.2


# --- fits ----------------------------------------------------------------------------------------


def test_without_noise_the_fit_is_where_k_means_converges() -> None:
    rows = clouds()
    fit = dp.fit("kmeans", boxed(rows), privacy=None, n_components=3, iterations=10)
    best = converged(rows, 3)
    np.testing.assert_allclose(fit.parameters.centers, best.centres[0], atol=1e-6)
    np.testing.assert_allclose(fit.parameters.shares, best.shares[0], atol=1e-9)
    assert fit.guarantee.epsilon is None


def blobs(count: int, dim: int, components: int) -> Array:
    """Groups in many columns, of which the bounds leave room for as much again."""
    rng = np.random.default_rng(5)
    middles = rng.normal(0.0, 0.2, (components, dim))
    rows = middles[rng.integers(components, size=count)] + rng.normal(0.0, 0.1, (count, dim))
    return np.clip(0.3 + rows, -1.0, 1.0)


@pytest.mark.parametrize(("count", "dim", "least"), [(400, 13, 0.2), (3000, 20, 0.8)])
def test_in_many_columns_released_centres_explain_more_than_one(
    count: int, dim: int, least: float
) -> None:
    """Few rows and many: at epsilon 1, K centres are worth more than one with the whole budget.

    least: of what converged centres explain.
    """
    table, rows = boxed(blobs(count, dim, 3)), blobs(count, dim, 3)
    privacy = [dp.Privacy(1.0, 1e-5)]
    scorer = Scorer(PublicFrame.of(table.schema), rows)
    found = [
        np.median(YARDSTICK.score(fit_grid("kmeans", table, privacy=privacy, draws=range(15),
                                           seed=0, n_components=parts).runs.final, scorer))
        for parts in (1, 3)
    ]  # fmt: skip
    best = float(YARDSTICK.score(converged(rows, 3), scorer)[0])
    assert found[1] > found[0] + 0.1
    assert found[1] > least * best


@pytest.mark.parametrize(
    ("count", "dim", "drowned"),
    [(427, 30, True), (900, 30, False), (100, 2, True), (250, 2, False)],
)
@pytest.mark.parametrize("rows_of_one", [1, 3])
def test_where_noise_drowns_the_sums_one_mean_is_looked_for(
    count: int, dim: int, drowned: bool, rows_of_one: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Public numbers decide, also for rows of one side whose distances speak for groups: the noise
    is that of all rows of a person."""
    decided: list[Array] = []

    def watched(*of: Any) -> Any:
        decided.append(aimed(*of)[0])
        return aimed(*of)

    aimed = private._aimed
    rows = np.random.default_rng(0).uniform(-1.0, -0.6, (count * rows_of_one, dim))
    monkeypatch.setattr(private, "_aimed", watched)
    for limit in (private.DROWNED, math.inf):
        monkeypatch.setattr(private, "DROWNED", limit)
        privacy = [dp.Privacy(0.3, 1e-5, rows_per_person=rows_of_one)]
        fit_grid("kmeans", boxed(rows), privacy=privacy, draws=range(15), seed=0, n_components=2)
    assert decided[0].all() == drowned
    assert not decided[1].all()


@pytest.mark.parametrize("rows_of_one", [1, 3])
def test_an_earlier_release_is_simulated_as_it_was_made(rows_of_one: int) -> None:
    """Noise was once taken for that of one row of a person; what a start is called says so."""
    privacy = dp.Privacy(0.5, 1e-5, rows_per_person=rows_of_one)
    fit = dp.fit("kmeans", boxed(clouds()), privacy=privacy, n_components=3)
    settings = RECIPE.settings(components=3)
    assert RECIPE.as_made(settings, fit.ledger, rows_of_one) is settings
    entries = (replace(entry, what=entry.what.removesuffix(SEVERAL)) for entry in fit.ledger)
    older = Ledger(tuple(entries))
    earlier = RECIPE.as_made(settings, older, rows_of_one)
    assert isinstance(earlier, private._AsOfOneRow) == (rows_of_one > 1)
    assert replace(fit, ledger=older).intervals().same_rows["centers"].shape == (3, 2, 2)


def test_the_number_of_rows_is_not_read_where_it_is_private() -> None:
    """Under add/remove the counts alone say how many rows there are."""
    privacy = dp.Privacy(50.0, 1e-5, adjacency="add_remove")
    fit = dp.fit("kmeans", boxed(clouds(5000)), privacy=privacy, n_components=3, seed=0)
    exact = converged(clouds(5000), 3)
    np.testing.assert_allclose(fit.parameters.centers, exact.centres[0], atol=0.02)


@pytest.mark.parametrize("dim", [2, 5])
def test_dplloyds_noise_is_the_papers(dim: int) -> None:
    """Scale (d + 1) J / epsilon on counts and sums alike (Su et al. 2016, section 2.3)."""
    steps, epsilon = 4, 2.0
    privacy = dp.Privacy(epsilon, DELTA, adjacency="add_remove", accountant="linear", mode="paper")
    fit = dp.fit(
        "kmeans", boxed(clouds(dim=dim)), privacy=privacy, n_components=3, iterations=steps,
        algorithm="dplloyd",
    )  # fmt: skip
    printed = (dim + 1) * steps / epsilon
    assert len(fit.ledger) == steps
    for entry in fit.ledger:
        assert entry.noise == "laplace"
        assert entry.noise_scale == pytest.approx(printed, rel=1e-6)
        assert entry.sensitivity == pytest.approx(dim + 1, rel=1e-6)


def test_zcdp_beats_linear_counting_from_nineteen_iterations_on() -> None:
    """2 ln(1/delta) = 18.4 at delta 1e-4, for small epsilon (section 1.5 of the audit)."""
    asked = dp.Privacy(0.01, DELTA, adjacency="add_remove", accountant="linear", mode="paper")
    for steps, better in ((18, False), (19, True)):
        words = RECIPE.settings(iterations=steps, algorithm="dplloyd", mode="paper")
        linear = RECIPE.published([asked], words, None).noise_multiplier
        zcdp = RECIPE.published([replace(asked, accountant="zcdp")], words, None).noise_multiplier
        assert bool(zcdp[0] < linear[0]) is better


def test_the_papers_counts_are_never_paid_for() -> None:
    """As printed nothing is proved; with the counts noised and charged, the budget is kept."""
    printed = dp.Privacy(1.0, DELTA, accountant="zcdp", mode="paper")
    fit = dp.fit("kmeans", boxed(clouds()), privacy=printed, iterations=3, seed=0)
    assert fit.settings["algorithm"] == "paper"
    assert fit.guarantee.epsilon is None
    assert not fit.guarantee.claim.holds
    assert "are not charged" in " ".join(fit.guarantee.claim.reasons)
    assert [entry.proof is None for entry in fit.ledger] == [True, False] * 3
    paid = dp.fit(
        "kmeans", boxed(clouds()), privacy=replace(printed, mode="proved"), iterations=3,
        algorithm="paper",
    )  # fmt: skip
    assert paid.guarantee.epsilon <= 1.0
    laplace = [entry.event.mechanism for entry in paid.ledger]
    assert len(laplace) == 6
    assert all(isinstance(one, Laplace) for one in laplace)


# --- judged --------------------------------------------------------------------------------------


def test_nicv_and_the_share_explained_are_what_they_say() -> None:
    rows = clouds()
    scorer, found = Scorer.of(boxed(rows), None), converged(rows, 3)
    nearest = ((rows[:, None] - found.centres[0]) ** 2).sum(axis=2).min(axis=1)
    nicv = YARDSTICK.measure(found, scorer, "nicv")
    np.testing.assert_allclose(nicv, nearest.mean(), rtol=1e-6)
    spread = ((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean()
    np.testing.assert_allclose(YARDSTICK.score(found, scorer), 1 - nearest.mean() / spread)
    assert YARDSTICK.score(converged(rows, 1), scorer)[0] == pytest.approx(0.0, abs=1e-6)


def test_centres_are_matched_and_found_by_their_places() -> None:
    exact = Centres(np.array([[[0.0, 0.0], [1.0, 0.0]]]), np.array([[0.7, 0.3]]))
    moved = Centres(
        np.array([[[1.1, 0.0], [0.0, 0.2]], [[0.5, 0.0], [0.4, 0.0]]]),
        np.array([[0.2, 0.8], [0.5, 0.5]]),
    )
    aligned, found = YARDSTICK.align(moved, exact)
    np.testing.assert_allclose(aligned.centres[0], [[0.0, 0.2], [1.1, 0.0]])
    np.testing.assert_allclose(aligned.shares[0], [0.8, 0.2])
    assert found.tolist() == [[True, True], [False, False]]


def test_what_leaves_without_noise_is_for_rehearsals_only() -> None:
    printed = dp.Privacy(1.0, DELTA, accountant="zcdp", mode="paper")
    with pytest.raises(dp.InputError, match="no noise"):
        dp.fit("kmeans", boxed(clouds()), privacy=printed, iterations=2)
    open_rows = PrivateTable.seal(
        pd.DataFrame(clouds(), columns=["x0", "x1"]),
        Schema.from_bounds({"x0": (-1, 1), "x1": (-1, 1)}),
        open_to_all=True,
    )
    fit = dp.fit("kmeans", open_rows, privacy=printed, iterations=2)
    assert fit.guarantee.epsilon is None
    assert math.isinf(dp.compose(fit.ledger.events, accountant="pld", delta=DELTA).epsilon)


@pytest.mark.parametrize("steps", [1, 20])
@pytest.mark.parametrize(("adjacency", "holds"), [("add_remove", True), ("replace_one", False)])
def test_a_pure_claim_is_judged_without_a_delta(adjacency: str, holds: bool, steps: int) -> None:
    """d + 1 is by how much an added row changes counts and sums; a replaced one does twice that.
    With a delta, many steps cost less than their sum: that is not what the paper claims."""
    privacy = dp.Privacy(1.0, DELTA, adjacency=adjacency, accountant="linear", mode="paper")
    words = {"algorithm": "dplloyd", "iterations": steps}
    guarantee = dp.fit("kmeans", boxed(clouds()), privacy=privacy, **words).guarantee
    claim = guarantee.claim
    assert (claim.delta, claim.holds) == (0.0, holds)
    assert steps > 1 or (guarantee.epsilon <= 1.0) is holds
    assert ("twice as much" in " ".join(claim.reasons)) is not holds


@pytest.mark.parametrize("dim", [2, 3, 6])
def test_limits_far_wider_than_the_rows_are_no_harm(dim: int) -> None:
    """A run has the same bits alone and in a grid with another budget."""
    rows = clouds(3_000, dim)
    spread = float(np.sum(np.var(rows, axis=0)))
    budgets = [dp.Privacy(epsilon, 1e-5) for epsilon in (0.01, 2.0)]
    table, words = boxed(rows / 20.0), {"n_components": 3, "seed": 0}
    grid = fit_grid("kmeans", table, privacy=budgets, **words)  # type: ignore[arg-type]
    (alone,) = fit_grid("kmeans", table, privacy=budgets[1:], **words).runs.final.centres  # type: ignore[arg-type]
    np.testing.assert_array_equal(grid.runs.final.centres[1], alone)
    away = np.linalg.norm(rows[:, None] - 20.0 * alone, axis=2).min(axis=1)
    assert np.mean(away**2) < 0.2 * spread
