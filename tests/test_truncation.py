"""Soft truncation: exact against quadrature, and inside its bound whatever number comes."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy
from scipy.special import ndtr

from dpcore.errors import InputError
from dpcore.models.shared.truncation import (
    LIMIT,
    ROOT2,
    Truncation,
    correction,
    largest,
    smoothed,
    truncated,
    truncation,
)

SMOOTHINGS = (0.3, 1.0, math.sqrt(math.log(20)), 2 * math.log(20), 50.0, 1e4)
WILD = np.array([0.0, -0.0, 1e-300, 1e-160, 1e-12, 1.0, 1e5, 1e8, 1e154, 1e300, np.inf])


def by_quadrature(a: float, b: float) -> float:
    """``E phi(a + b xi)`` by adaptive quadrature inside sqrt 2, exact outside."""
    low, high = max(-ROOT2, a - 40 * b), min(ROOT2, a + 40 * b)
    out = LIMIT * (ndtr((a - ROOT2) / b) - ndtr(-(ROOT2 + a) / b))
    if low >= high:
        return float(out)

    def integrand(t: float) -> float:
        density = math.exp(-0.5 * ((t - a) / b) ** 2) / (b * math.sqrt(2 * math.pi))
        return (t - t**3 / 6) * density

    edges = sorted({low, *(x for x in (a - 8 * b, a, a + 8 * b) if low < x < high), high})
    return float(out) + sum(
        scipy.integrate.quad(integrand, lo, hi, epsabs=1e-14, epsrel=1e-13, limit=200)[0]
        for lo, hi in pairwise(edges)
    )


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_the_evaluator_agrees_with_quadrature_to_1e_13(smoothing: float) -> None:
    rng = np.random.default_rng(7)
    places = np.concatenate([rng.uniform(0, 6, 25), [0.01, 0.2, 0.3, 15.0, 40.0, 300.0]])
    exact = [by_quadrature(u, u / math.sqrt(smoothing)) for u in places]
    np.testing.assert_allclose(smoothed(places, smoothing), exact, rtol=0, atol=1e-13)


def test_the_closed_form_correction_agrees_with_quadrature_to_1e_12() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.uniform(-3, 3, 150), np.exp(rng.uniform(np.log(1e-3), np.log(5), 150))
    found = a * (1 - b**2 / 2) - a**3 / 6 + correction(a, b)
    exact = [by_quadrature(*pair) for pair in zip(a, b, strict=True)]
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_nothing_leaves_the_bound_and_nothing_is_undefined(smoothing: float) -> None:
    """Computed as printed, 1e6 comes out as -64 and 1e8 as -7e7."""
    u = np.concatenate([WILD, -WILD, [np.nan]])
    for found in (smoothed(u, smoothing), Truncation(smoothing)(u)):
        assert np.all(np.isfinite(found))
        assert np.all(np.abs(found) <= largest(smoothing))
        assert found[-1] == 0.0
        np.testing.assert_array_equal(found[: len(WILD)], -found[len(WILD) : -1])


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_the_bound_is_the_supremum(smoothing: float) -> None:
    found = smoothed([1e7, 1e300], smoothing)
    np.testing.assert_allclose(found, largest(smoothing), rtol=1e-12)
    assert largest(smoothing) <= LIMIT


def test_the_bound_is_that_of_the_design_and_below_that_of_the_paper() -> None:
    assert largest(math.sqrt(math.log(20))) / LIMIT == pytest.approx(0.8117, abs=5e-5)
    assert largest(2 * math.log(20)) / LIMIT == pytest.approx(0.9856, abs=5e-5)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_a_larger_number_never_counts_less(smoothing: float) -> None:
    u = np.geomspace(1e-6, 1e6, 4000)
    assert np.all(np.diff(smoothed(u, smoothing)) >= -1e-14)


@pytest.mark.parametrize("smoothing", SMOOTHINGS[:4])
def test_the_table_is_within_1e_8_of_the_evaluator(smoothing: float) -> None:
    rng = np.random.default_rng(9)
    u = np.concatenate(
        [rng.normal(size=5000), rng.uniform(-60, 60, 5000), 10.0 ** rng.uniform(-9, 9, 500)]
    )
    found = truncation(smoothing)(u.reshape(5, -1))
    np.testing.assert_allclose(found.ravel(), smoothed(u, smoothing), rtol=0, atol=1e-8)


def test_phi_is_near_the_number_itself_and_then_flat() -> None:
    np.testing.assert_allclose(
        truncated([1e-4, ROOT2, 5.0, np.inf]), [1e-4, LIMIT, LIMIT, LIMIT], rtol=2e-9
    )


def test_a_smoothing_of_zero_is_refused() -> None:
    with pytest.raises(InputError, match="smoothing"):
        smoothed(1.0, 0.0)
