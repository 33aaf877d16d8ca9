"""The paper's noise per release, against the tables derived from its section 5."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpcore.accounting.published import PublishedBudget, published_budget
from dpcore.errors import InputError

EPSILONS = np.array([0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 4.0])


def life(
    method: str, epsilon: Any = EPSILONS, combination: str = "GGG", **others: Any
) -> PublishedBudget:
    """K = 3, J = 10, delta_i = 1e-8, delta = 1e-4, unless others are given."""
    words = {"components": 3, "iterations": 10, "delta_each": 1e-8} | others
    return published_budget(epsilon, 1e-4, accountant=method, combination=combination, **words)


stroke = partial(life, components=10, iterations=20, delta_each=1e-6)


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
    budget = stroke("advanced", 1.0, delta_each=fits)
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
    budget = life("advanced", 1.0, "LLG", delta_each=None)
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
    asked = {"epsilon": 1.0, "delta": 1e-4, "accountant": "zcdp", "combination": "GGG"}
    with pytest.raises(InputError, match=f"^{field}: "):
        published_budget(**{**asked, "components": 3, "iterations": 10, **change})  # type: ignore[arg-type]
