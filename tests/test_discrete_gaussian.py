"""The discrete Gaussian: its law where it can be counted, and its distance from normal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from dpcore.mechanisms import discrete_gaussian as law

Words = Callable[[int], NDArray[np.uint64]]


def words(seed: int) -> Words:
    source = np.random.default_rng(seed).bit_generator
    return lambda count: np.asarray(source.random_raw(count), dtype=np.uint64)


def fits(noise: NDArray[np.int64], scale: float, seed: int = 0) -> float:
    """The chance of so bad a fit to the discrete law with parameter ``scale``."""
    reach = int(4 * scale)
    whole = np.arange(-reach, reach + 1)
    mass = np.exp(-0.5 * (whole / scale) ** 2)
    inside = noise[np.abs(noise) <= reach]
    counts = np.bincount(inside + reach, minlength=len(whole))
    return float(scipy.stats.chisquare(counts, mass / mass.sum() * len(inside)).pvalue)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1, 3, 4])
def test_each_whole_number_is_as_likely_as_it_should_be(
    monkeypatch: pytest.MonkeyPatch, scale: int, seed: int
) -> None:
    """Small scales, where every number can be counted; 10% more or less noise is seen."""
    monkeypatch.setattr(law, "SCALE", scale)
    noise = law.discrete_gaussian(60_000, words(seed))
    assert fits(noise, scale) > 1e-4
    assert fits(noise, 1.1 * scale) < 1e-4
    assert fits(noise, scale / 1.1) < 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_at_its_own_scale_it_is_normal_for_all_that_can_be_seen(seed: int) -> None:
    noise = law.discrete_gaussian(20_000, words(seed)) / law.SCALE
    assert scipy.stats.kstest(noise, "norm").pvalue > 1e-4
    assert scipy.stats.kstest(1.1 * noise, "norm").pvalue < 1e-4


def test_the_last_digits_of_the_noise_are_even() -> None:
    """No step of the grid is favoured: what floating-point noise gives away."""
    noise = law.discrete_gaussian(64_000, words(5))
    counts = np.bincount(noise % 64, minlength=64)
    assert scipy.stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("limit", [3, 6, 1000, 2**24, 3 * 2**40, 2**62])
def test_uniform_numbers_are_below_their_limit(limit: int) -> None:
    found = law._below(limit, 4000, words(limit % 97))
    assert found.min() >= 0
    assert found.max() < limit
    assert scipy.stats.kstest(found / limit, "uniform").pvalue > 1e-4 or limit < 1000
    with pytest.raises(ValueError, match="2\\^62"):
        law._below(2**62 + 1, 1, words(0))


def test_a_word_of_an_incomplete_stretch_is_drawn_again() -> None:
    """2^64 = 1 mod 3: a zero word would make 0 likelier."""
    given = iter([[0, 5, 7], [4]])
    found = law._below(3, 3, lambda count: np.array(next(given), dtype=np.uint64))
    assert found.tolist() == [1, 2, 1]
    given = iter([[1, 2], [10]])  # 2^64 = 2 mod 7: of these words the first alone is drawn again
    found = law._below(7, 2, lambda count: np.array(next(given), dtype=np.uint64))
    assert found.tolist() == [3, 2]


@pytest.mark.parametrize("numerator", [0, 1, 7, 10, 25, 40])
def test_a_coin_comes_up_as_often_as_its_exponential(numerator: int) -> None:
    tosses = 40_000
    coins = law._exponential_coins(np.full(tosses, numerator), 10, words(numerator))
    chance = np.exp(-numerator / 10)
    assert abs(coins.mean() - chance) < 5 * np.sqrt(chance * (1 - chance) / tosses) + 1e-12
