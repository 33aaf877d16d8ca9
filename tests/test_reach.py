"""How far rows reach, as a noisy histogram of distances says, and where it is best to clip them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sealed_rows import boxed
from support import examples

import dpcore as dp
from dpcore.arrays import Array
from dpcore.models.kmeans.private import DOUBTING
from dpcore.models.shared.reach import OBSERVED, STEADY, Clip, Reach, edges, reach

BINS = len(edges(1.0)) + 1
WHOLE = 3.0


def histogram(distances: Array) -> Array:
    return np.bincount(np.searchsorted(edges(WHOLE), distances), minlength=BINS).astype(float)


def seen(distances: Array, sd: float = 0.0, draws: int = 1) -> Reach:
    noise = sd * np.random.default_rng(1).standard_normal((draws, BINS))
    rows = np.full(draws, float(len(distances)))
    return reach(histogram(distances) + noise, np.full(draws, sd), rows, WHOLE, 0.5)


def test_without_noise_shares_are_exact_and_no_row_is_clipped() -> None:
    distances = np.random.default_rng(0).gamma(4.0, 0.2, 5000)
    found = seen(distances)
    np.testing.assert_allclose(found.shares[0], histogram(distances) / 5000, atol=1e-12)
    (radius,) = found.radius(np.zeros(1))
    assert distances.max() <= radius <= distances.max() * 2 ** (1 / 3)
    assert found.taken(np.array([radius])) == pytest.approx(0.0, abs=1e-12)
    assert found.square[0] == pytest.approx(np.mean(distances**2), rel=0.1)


def test_the_more_noise_in_a_mean_the_nearer_rows_are_clipped() -> None:
    found = seen(np.random.default_rng(0).gamma(4.0, 0.2, 5000))
    radii = [float(found.radius(np.array([noise]))[0]) for noise in (0.0, 0.01, 0.1, 1.0, 100.0)]
    assert radii == sorted(radii, reverse=True)
    assert radii[0] > 2 * radii[-2]


@pytest.mark.parametrize("sd", [5.0, 20.0])
def test_noise_of_a_tenth_of_the_rows_still_says_how_far_they_are(sd: float) -> None:
    """In the usual draw, the mean square within a third and the radius within two edges."""
    distances = 0.7 * np.exp(0.25 * np.random.default_rng(0).standard_normal(200))
    found, exact = seen(distances, sd, draws=200), seen(distances)
    away = np.abs(np.log(found.square / exact.square[0]))
    assert np.median(away) < math.log(4 / 3)
    steps = np.abs(np.log2(found.radius(np.full(200, 0.2)) / exact.radius(np.array([0.2]))))
    assert np.median(steps) <= 2 / 3 + 1e-9
    assert np.mean(steps <= 1.0 + 1e-9) > 0.8


def test_rows_that_noise_made_up_far_away_ask_for_no_larger_ball() -> None:
    """Steady shares find what is best for the rows themselves within an edge in most draws; the
    fewer of the rows observed far away are doubted, the larger the ball."""
    distances = 0.5 * np.exp(0.2 * np.random.default_rng(0).standard_normal(2000))
    found, noise = seen(distances, 40.0, draws=200), np.full(200, 0.02)
    best = seen(distances).radius(noise[:1])
    observed, doubted, steady = (
        np.log2(found.radius(noise, weights) / best) for weights in (OBSERVED, DOUBTING, STEADY)
    )
    assert np.all(steady <= doubted + 1e-9)
    assert np.all(doubted <= observed + 1e-9)
    assert np.mean(np.abs(steady) <= 1 / 3 + 1e-9) > 0.9
    assert np.mean(observed) - 0.1 > np.mean(doubted) > np.mean(steady)


def test_what_clipping_takes_from_a_mean_is_bounded() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(0.4, 0.3, (4000, 5))
    found = seen(np.linalg.norm(rows, axis=1))
    for radius in edges(WHOLE):
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        clipped = rows * np.minimum(1.0, radius / length)
        bias = np.linalg.norm(clipped.mean(axis=0) - rows.mean(axis=0))
        assert bias <= found.taken(np.array([radius]))[0] + 1e-12


@examples(100)
@given(
    arrays(np.float64, (2, BINS), elements=st.floats(allow_nan=True, allow_infinity=True)),
    st.floats(0.0, 1e12),
    st.floats(1.0, 1e9),
)
def test_any_counts_give_shares_and_a_radius(counts: Array, sd: float, rows: float) -> None:
    found = reach(counts, np.full(2, sd), np.full(2, rows), WHOLE, 0.5)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    assert np.all(found.shares >= 0.0)
    assert np.all(np.isin(found.radius(np.full(2, sd)), edges(WHOLE)))


# --- squares -------------------------------------------------------------------------------------


def clipped(distances: Array, noise: float, dim: int = 6, spread: float | None = None) -> Clip:
    one = seen(distances)
    square = one.steady_square if spread is None else np.array([spread])
    return one.clip_squares(np.array([noise]), square, dim, 1.0)


def test_without_noise_no_square_is_clipped() -> None:
    distances = np.random.default_rng(0).gamma(4.0, 0.2, 5000)
    clip = clipped(distances, 0.0)
    assert distances.max() <= clip.radius[0] <= distances.max() * 2 ** (1 / 3)
    assert clip.left[0] == pytest.approx(1.0)
    assert clip.nats[0] == pytest.approx(0.0, abs=1e-9)


def test_the_more_noise_in_squares_the_nearer_rows_are_clipped() -> None:
    distances = np.random.default_rng(0).gamma(4.0, 0.2, 5000)
    clips = [clipped(distances, noise) for noise in (0.0, 1e-3, 1e-2, 1e-1)]
    radii = [float(clip.radius[0]) for clip in clips]
    assert radii == sorted(radii, reverse=True)
    assert radii[-1] < 0.7 * radii[0]
    for clip in clips:
        capped = np.mean(np.minimum(distances, clip.radius[0]) ** 2) / np.mean(distances**2)
        assert clip.left[0] == pytest.approx(capped, abs=0.03)


def test_a_middle_that_is_far_from_all_rows_costs_more() -> None:
    """Squares about it are mostly its own distance from the mean, and so is their noise."""
    near, far = np.full(5000, 0.5), np.full(5000, 2.0)
    about_mean, about_middle = clipped(near, 1e-2), clipped(far, 1e-2, spread=0.25)
    assert about_mean.nats[0] < about_middle.nats[0] / 4


def test_counts_that_could_be_noise_are_no_far_rows() -> None:
    """Of squares the farthest bins are most: noise in them would be an outlier of its own."""
    distances = 0.4 * np.exp(0.2 * np.random.default_rng(0).standard_normal(2000))
    noisy, exact = seen(distances, 40.0, draws=200), seen(distances)
    off = np.log(noisy.steady_square / exact.steady_square)
    raw = np.log(np.maximum(noisy.shares, 0.0) @ square_of_bins() / exact.steady_square)
    assert np.median(np.abs(off)) < 0.25
    assert np.quantile(np.abs(off), 0.9) < np.quantile(np.abs(raw), 0.9) / 2


def square_of_bins() -> Array:
    cuts = np.concatenate([[0.0], edges(WHOLE), [2.0 * edges(WHOLE)[-1]]])
    return ((cuts[1:] + cuts[:-1]) / 2.0) ** 2


def test_rows_in_a_small_part_of_the_limits_are_seen_as_well() -> None:
    """Bins begin at a sixteenth of the public radius; where all but few rows are nearer than an
    eighth, those of the distances from the mean begin as much farther in."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(10_000, 5)) @ (np.eye(5) + 0.5)
    errors = []
    for limit in (10.0, 100.0):
        table = boxed(rows, -limit, limit)
        fit = dp.fit("covariance", table, privacy=dp.Privacy(1.0, 1e-6), seed=0)
        away = fit.parameters.correlation - np.corrcoef(rows.T)
        errors.append(float(np.abs(away).max()))
    assert max(errors) < 0.05


def test_how_far_a_share_of_the_rows_reaches_is_an_edge_or_nowhere() -> None:
    distances = np.random.default_rng(0).gamma(4.0, 0.2, 5000)
    found = seen(distances)
    for share in (0.5, 0.9):
        (edge,) = found.holding(share)
        assert edge / 2 ** (1 / 3) <= np.quantile(distances, share) <= edge
    assert seen(np.full(5000, 3.0 * WHOLE)).holding(0.9)[0] == math.inf
