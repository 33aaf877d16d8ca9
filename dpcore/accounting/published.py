"""The noise of DP-EM as its paper computes it, so that its tables and figures can be repeated.

Park, Foulds, Chaudhuri, Welling 2017, section 5: one epsilon_i for every release, found from a
composition formula; a Gaussian release has z = sqrt(2 ln(1.25/delta_i)) / epsilon_i (Dwork, Roth
2014, Theorem A.1), a Laplace release has scale 1/epsilon_i, both relative to sensitivity. GGG has
J (2K + 1) Gaussian releases; LLG has J (K + 1) Laplace releases and J K Gaussian ones.

These are claims to be compared, not proofs: the classical formula for z is proved for
epsilon_i < 1 only, and the paper charges one vector as many. Orders of the moments accountant stop
at 100, as in the authors' program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.accounting.base import check_epsilons
from dpcore.accounting.compose import calibrate
from dpcore.accounting.moments import MomentsAccountant
from dpcore.accounting.pairs import three_figures_down
from dpcore.accounting.zcdp import CLASSIC
from dpcore.arrays import Array
from dpcore.checks import one_of, probability, whole
from dpcore.errors import InputError
from dpcore.privacy.events import Event, Gaussian, Laplace, Real
from dpcore.privacy.guarantee import delta_text

METHODS = ("linear", "advanced", "zcdp", "ma")
COMBINATIONS = ("GGG", "LLG")
MAX_LAMBDA = 100  # of the authors' program


@dataclass(frozen=True)
class PublishedBudget:
    """The paper's noise per release, arrays over the epsilons asked for.

    epsilon_each: of every release. noise_multiplier: of the Gaussian ones; the Laplace ones have
    scale 1 / epsilon_each. delta_each: of the Gaussian ones. releases: how many there are in all.
    """

    epsilon_each: Array
    noise_multiplier: Array
    delta_each: float | None
    releases: int


def published_budget(
    epsilon: Real,
    delta: float,
    *,
    accountant: str,
    combination: str,
    components: int,
    iterations: int,
    delta_each: float | None = None,
) -> PublishedBudget:
    """The paper's noise per release for a total of (epsilon, delta).

    epsilon: above 0, a number or ``(budgets,)``; the arrays returned have its shape. accountant:
    linear | advanced | zcdp | ma. combination: GGG | LLG. delta_each: the paper's delta_i (default
    delta / (2 Gaussian releases)); linear composition divides delta evenly and ignores it.

    **Guarantee:** none; what the paper states. Raises InputError where the paper's own equation has
    no solution: advanced when the delta_i use up delta, ma below its smallest reachable epsilon.

    >>> budget = published_budget(1.0, 1e-4, accountant="zcdp", combination="GGG", components=3,
    ...                           iterations=10, delta_each=1e-8)
    >>> round(float(budget.noise_multiplier), 2), budget.releases
    (36.86, 70)
    """
    one_of("accountant", accountant, METHODS)
    one_of("combination", combination, COMBINATIONS)
    whole("components", components)
    whole("iterations", iterations)
    probability("delta", delta)
    laplace = iterations * (components + 1) if combination == "LLG" else 0
    gaussian = iterations * components if laplace else iterations * (2 * components + 1)
    target = check_epsilons(epsilon)
    delta_of_each = _delta_each(accountant, delta, gaussian, delta_each)
    numerator = math.sqrt(2.0 * math.log(1.25 / delta_of_each))
    match accountant:
        case "linear":
            epsilon_each = target / (laplace + gaussian)
        case "advanced":
            slack = _slack(delta, delta_of_each, gaussian)
            epsilon_each = _advanced_each(target, slack, laplace + gaussian)
        case _:
            method = CLASSIC if accountant == "zcdp" else MomentsAccountant(MAX_LAMBDA)
            releases = (
                Event(Laplace(1.0), count=laplace),
                Event(Gaussian(numerator), count=gaussian),
            )
            epsilon_each = np.asarray(1.0 / np.asarray(calibrate(releases, target, delta, method)))
    multiplier = np.asarray(numerator / epsilon_each)
    return PublishedBudget(np.asarray(epsilon_each), multiplier, delta_of_each, laplace + gaussian)


def _delta_each(accountant: str, delta: float, gaussian: int, delta_each: float | None) -> float:
    if accountant == "linear":
        return delta / gaussian
    return delta / (2 * gaussian) if delta_each is None else probability("delta_each", delta_each)


def _slack(delta: float, delta_each: float, gaussian: int) -> float:
    """What the releases' own deltas leave of delta for the composition."""
    slack = delta - gaussian * delta_each
    if slack <= 0.0:
        raise InputError(
            "delta_each",
            f"{delta_text(delta_each)} for each of {gaussian} Gaussian releases uses up delta "
            f"{delta_text(delta)}, so advanced composition has no solution",
            f"give less than {delta_text(three_figures_down(delta / gaussian), down=True)}",
        )
    return slack


def _advanced_each(epsilon: Array, slack: float, releases: int) -> Array:
    """epsilon_i with m e (e^e - 1) + sqrt(2 m ln(1/delta')) e = epsilon: convex, from above."""
    root = math.sqrt(-2.0 * releases * math.log(slack))
    epsilon_each = np.minimum(epsilon / root, np.sqrt(epsilon / releases))
    for _ in range(60):
        growth = np.expm1(epsilon_each)
        value = releases * epsilon_each * growth + root * epsilon_each
        slope = releases * (growth + epsilon_each * (growth + 1.0)) + root
        step = (value - epsilon) / slope
        epsilon_each = epsilon_each - step
        if np.all(np.abs(step) <= 1e-15 * epsilon_each):
            break
    return np.asarray(epsilon_each)
