"""The paper's noise per release, against the tables derived from its section 5."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.accounting.published import PublishedBudget, published_budget
from dpcore.errors import InputError

EPSILONS = np.array([0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 4.0])
LIFE = {
    "linear": [3661.7, 1830.9, 1220.6, 732.3, 366.2, 183.1, 122.1, 91.5],
    "advanced": [2205.4, 1108.6, 742.9, 450.4, 230.8, 120.8, 83.9, 65.3],
    "zcdp": [360.06, 180.51, 120.66, 72.78, 36.86, 18.88, 12.88, 9.86],
}
STROKE = {
    "linear": [23364.8, 11682.4, 7788.3, 4673.0, 2336.5, 1168.2, 778.8, 584.1],
    "zcdp": [881.97, 442.17, 295.56, 178.27, 90.28, 46.25, 31.54, 24.16],
}


def life(method: str, epsilon: object = EPSILONS, combination: str = "GGG") -> PublishedBudget:
    """K = 3, J = 10, delta_i = 1e-8, delta = 1e-4."""
    return published_budget(
        epsilon,  # type: ignore[arg-type]
        1e-4,
        accountant=method,
        combination=combination,
        components=3,
        iterations=10,
        delta_each=1e-8,
    )


def stroke(method: str, epsilon: object = EPSILONS) -> PublishedBudget:
    """K = 10, J = 20, delta_i = 1e-6, delta = 1e-4."""
    return published_budget(
        epsilon,  # type: ignore[arg-type]
        1e-4,
        accountant=method,
        combination="GGG",
        components=10,
        iterations=20,
        delta_each=1e-6,
    )


def half_a_digit(table: list[float]) -> float:
    decimals = max(len(str(value).split(".")[1]) for value in table)
    return 0.51 * 10.0**-decimals


@pytest.mark.parametrize("method", list(LIFE))
def test_small_mixture_to_the_printed_digits(method: str) -> None:
    found = life(method).noise_multiplier
    np.testing.assert_allclose(found, LIFE[method], atol=half_a_digit(LIFE[method]), rtol=0)


@pytest.mark.parametrize("method", list(STROKE))
def test_large_mixture_to_the_printed_digits(method: str) -> None:
    found = stroke(method).noise_multiplier
    np.testing.assert_allclose(found, STROKE[method], atol=half_a_digit(STROKE[method]), rtol=0)


def test_zcdp_epsilon_of_each_release() -> None:
    known = [0.0170, 0.0338, 0.0506, 0.0839, 0.1657, 0.3234, 0.4743, 0.6190]
    np.testing.assert_allclose(life("zcdp").epsilon_each, known, atol=5.1e-5)


def test_moments_accountant_pays_for_its_cap_at_small_epsilon_only() -> None:
    """Orders up to 100: 669.07 at epsilon 0.1, then zCDP within 0.14 per cent."""
    found = life("ma").noise_multiplier
    assert found[0] == pytest.approx(669.07, abs=0.005)
    assert found[1] == pytest.approx(180.52, abs=0.006)
    ratio = found[1:] / life("zcdp").noise_multiplier[1:]
    assert np.all((ratio >= 1.0) & (ratio < 1.0015))
    assert stroke("ma", 0.1).noise_multiplier == pytest.approx(1638.9, abs=0.06)


def test_moments_accountant_below_its_cap_is_refused() -> None:
    """ln(1e4)/100 = 0.0921."""
    with pytest.raises(InputError, match=r"epsilon: .*0\.0921"):
        life("ma", np.array([0.05, 1.0]))


def test_advanced_that_cannot_be_is_refused_with_a_delta_that_can() -> None:
    with pytest.raises(InputError, match=r"delta_each: .*advanced") as refusal:
        stroke("advanced")
    fits = float(refusal.value.remedy.split()[-1])
    budget = published_budget(
        1.0,
        1e-4,
        accountant="advanced",
        combination="GGG",
        components=10,
        iterations=20,
        delta_each=fits,
    )
    assert budget.noise_multiplier > 0.0


def test_laplace_mixture_by_two_methods() -> None:
    """epsilon_i at epsilon 1: the moments accountant is a little tighter than zCDP."""
    zcdp, ma = life("zcdp", 1.0, "LLG"), life("ma", 1.0, "LLG")
    assert zcdp.epsilon_each == pytest.approx(0.0355, abs=5.1e-5)
    assert ma.epsilon_each == pytest.approx(0.0372, abs=1e-4)
    assert zcdp.releases == ma.releases == 70


@pytest.mark.parametrize("combination", ["GGG", "LLG"])
@pytest.mark.parametrize("method", ["linear", "advanced", "zcdp", "ma"])
def test_each_equation_of_the_paper_is_solved(method: str, combination: str) -> None:
    """Section 5, each formula put back by hand."""
    budget = life(method, 1.0, combination)
    e, m = float(budget.epsilon_each), 70
    laplace, gaussian = (40, 30) if combination == "LLG" else (0, 70)
    log_inverse, variance = math.log(1e4), 4.0 * math.log(1.25e8)
    rho = 0.5 * laplace * e * e + gaussian * e * e / variance
    if method == "linear":
        total = m * e
        assert budget.delta_each == pytest.approx(1e-4 / gaussian)
    elif method == "advanced":
        slack = 1e-4 - gaussian * 1e-8
        total = m * e * math.expm1(e) + math.sqrt(2 * m * math.log(1 / slack)) * e
    elif method == "zcdp":
        total = rho + 2 * math.sqrt(rho * log_inverse)
    else:
        total = min(
            (laplace * eq_20(o, e) + gaussian * o * (o + 1) * e * e / variance + log_inverse) / o
            for o in range(1, 101)
        )
    assert total == pytest.approx(1.0, rel=1e-9)
    z = math.sqrt(2 * math.log(1.25 / float(budget.delta_each or 0.0))) / e
    assert float(budget.noise_multiplier) == pytest.approx(z, rel=1e-12)


def eq_20(order: int, e: float) -> float:
    """Eq. 20 of the paper."""
    ahead = (order + 1) / (2 * order + 1) * math.exp(order * e)
    return math.log(ahead + order / (2 * order + 1) * math.exp(-(order + 1) * e))


@pytest.mark.parametrize("method", ["linear", "advanced", "zcdp", "ma"])
def test_a_grid_gives_what_single_budgets_give(method: str) -> None:
    grid = life(method, EPSILONS, "LLG")
    assert grid.epsilon_each.shape == grid.noise_multiplier.shape == (8,)
    alone = [float(life(method, float(e), "LLG").noise_multiplier) for e in EPSILONS]
    np.testing.assert_allclose(grid.noise_multiplier, alone, rtol=1e-9)


def test_a_default_share_of_delta_is_always_feasible() -> None:
    budget = published_budget(
        1.0, 1e-4, accountant="advanced", combination="LLG", components=3, iterations=10
    )
    assert budget.delta_each == pytest.approx(1e-4 / 60)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"accountant": "exact"}, "accountant"),
        ({"combination": "GLG"}, "combination"),
        ({"components": 0}, "components"),
        ({"iterations": 0}, "iterations"),
        ({"delta_each": 0.0}, "delta_each"),
        ({"delta": 1.0}, "delta"),
        ({"epsilon": 0.0}, "epsilon"),
    ],
)
def test_bad_input_is_named(change: dict[str, object], field: str) -> None:
    asked: dict[str, object] = {
        "epsilon": 1.0,
        "delta": 1e-4,
        "accountant": "zcdp",
        "combination": "GGG",
        "components": 3,
        "iterations": 10,
    }
    with pytest.raises(InputError, match=f"^{field}: "):
        published_budget(**(asked | change))  # type: ignore[arg-type]
