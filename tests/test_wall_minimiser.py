"""The minimiser: the bound of its rounding holds, and it is reached where floats cannot get."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import expit

from dpcore.arrays import Array
from dpcore.wall.kernels import minimiser as module
from dpcore.wall.kernels.minimiser import _Decimals, _decimals, _Floats, minimiser
from dpcore.wall.kernels.row_blocks import cut_to_grid

RADIUS = 2.0


def problem(seed: int, count: int = 200) -> tuple[Array, Array]:
    """Rows of the ball, some of them equal and on the sphere, and noise."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 3)) * rng.choice([0.1, 1.0, 9.0], (count, 1))
    rows[: count // 3] = rows[0]
    rows *= RADIUS / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), RADIUS)
    turned = cut_to_grid(rows, RADIUS) * rng.choice([-1.0, 1.0], (count, 1))
    return turned, rng.normal(size=3) * 10.0 ** rng.integers(-2, 3)


def exact(rows: Array, noise: Array, ridge: float, point: Iterable[Fraction]) -> list[mpmath.mpf]:
    """The gradient with 60 digits more than the point has."""
    with mpmath.workdps(120):
        at = [mpmath.mpf(f.numerator) / f.denominator for f in point]
        total = [mpmath.mpf(b) + mpmath.mpf(ridge) * f for b, f in zip(noise, at, strict=True)]
        for row in rows:
            x = [mpmath.mpf(number) for number in row]
            chance = 1 / (1 + mpmath.exp(-mpmath.fdot(x, at)))
            total = [g + chance * number for g, number in zip(total, x, strict=True)]
        return total


def length(numbers: Iterable[mpmath.mpf]) -> float:
    return float(mpmath.norm(list(numbers)))


def test_the_logistic_function_is_right_to_six_roundings() -> None:
    rng = np.random.default_rng(0)
    at = np.concatenate([rng.uniform(-40, 40, 4000), rng.uniform(-1, 1, 2000), [-700.0, 0.0, 700]])
    with mpmath.workdps(40):
        for x, computed in zip(at, expit(at), strict=True):
            true = 1 / (1 + mpmath.exp(-mpmath.mpf(x)))
            assert abs(mpmath.mpf(computed) - true) <= 6 * 2.0**-53 * true


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 1e4, 1e12])
def test_the_bound_of_floating_point_holds(size: float) -> None:
    """Also at points orthogonal to many rows, where every one of them answers to rounding."""
    for seed in range(6):
        rows, noise = problem(seed)
        ridge = 1e-9 if seed % 2 else 0.3
        loss = _Floats(rows, noise, ridge, RADIUS)
        at = np.random.default_rng([seed, 1]).normal(size=3) * size
        if seed % 2:
            at -= rows[0] * (at @ rows[0]) / (rows[0] @ rows[0])
        point = loss.moved(np.zeros((2, 3)), -at)
        point[1] += 1e-9 * point[1]
        look = loss.look(point)
        true = exact(rows, noise, ridge, [Fraction(a) + Fraction(b) for a, b in point.T])
        off = length(mpmath.mpf(a) - b for a, b in zip(look.gradient, true, strict=True))
        assert off <= look.error + 2.0**-52 * length(true)
        assert look.error <= 1e-12 * (200 * RADIUS) * (1 + size)


def test_factors_of_many_rows_are_summed_as_if_nothing_were_rounded() -> None:
    """Equal rows, whose rounding would add up: 30,000 of them are off by less than one would be."""
    rows = np.repeat(cut_to_grid(np.array([[0.1, 0.7, 1.0]]), RADIUS), 30_000, axis=0)
    loss = _Floats(rows, np.zeros(3), 1.0, RADIUS)
    factors = np.stack([np.full(30_000, 1365 * module.CHANCE_STEP), np.zeros(30_000)])
    summed = loss._summed(factors, np.zeros((1, 3)))
    for total, number in zip(summed, rows[0], strict=True):
        assert total == float(30_000 * Fraction(number) * Fraction(1365, 4096))


def test_the_bound_of_decimal_numbers_holds() -> None:
    for seed in range(4):
        rows, noise = problem(seed, 60)
        at = np.random.default_rng([seed, 1]).normal(size=3) * 10.0**seed
        with localcontext(Context(prec=20, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])):
            look = _Decimals(rows, noise, 0.3, RADIUS, 20).look(_decimals(at))
        true = exact(rows, noise, 0.3, map(Fraction, at))
        computed = [mpmath.mpf(str(number)) for number in look.gradient]
        assert length(a - b for a, b in zip(computed, true, strict=True)) <= look.error
        assert look.error < Decimal("1e-10")


@pytest.mark.parametrize("accuracy", [1e-8, 1e-11])
def test_floats_are_enough_and_what_is_left_of_the_true_gradient_is_within_the_accuracy(
    accuracy: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(module, "_in_decimals")
    for seed in range(6):
        rows, noise = problem(seed)
        for ridge in (1e-2, 1.0, 50.0):
            point = minimiser(rows, noise, ridge, accuracy, RADIUS)
            assert length(exact(rows, noise, ridge, point)) <= accuracy


@pytest.mark.parametrize(
    ("ridge", "times", "accuracy"),
    [(1.0, 1e12, 1e-6), (1e-6, 1e3, 1e-9), (1.0, 1.0, 1e-25), (1e-13, 1.0, 1e-9), (1e90, 1, 1e9)],
)
def test_where_floating_point_cannot_get_there_more_digits_do(
    ridge: float, times: float, accuracy: float
) -> None:
    """Enormous noise, a ridge that is lost beside the rows, an accuracy beyond all floats."""
    for seed in range(3):
        rows, noise = problem(seed, 40)
        point = minimiser(rows, times * noise, ridge, accuracy, RADIUS)
        assert length(exact(rows, times * noise, ridge, point)) <= accuracy


@pytest.mark.parametrize("digits", [1, 4, 50])
def test_decimal_numbers_alone_find_the_same(digits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, noise = problem(1, 30)
    floats = minimiser(rows, noise, 0.5, 1e-9, RADIUS)
    monkeypatch.setattr(module, "DIGITS", digits)
    zeros = np.zeros((2, 3))
    decimals = module._in_decimals(rows, noise, 0.5, RADIUS, zeros, 1e-9)
    apart = math.dist([float(f) for f in floats], [float(f) for f in decimals])
    assert apart <= 2 * 1e-9 / 0.5
    assert length(exact(rows, noise, 0.5, decimals)) <= 1e-9


def test_no_rows_and_rows_of_nothing_have_a_minimiser() -> None:
    for rows in (np.zeros((0, 2)), np.zeros((5, 2))):
        point = minimiser(rows, np.array([1.0, -2.0]), 4.0, 1e-9, RADIUS)
        assert [float(f) for f in point] == pytest.approx([-0.25, 0.5], abs=1e-9)
