"""How far rows reach, as a noisy histogram of distances says, and where it is best to clip them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from support import examples

from dpcore.models.kmeans.reach import Reach, edges, reach

Array = NDArray[np.float64]
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
