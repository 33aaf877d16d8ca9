"""The noise behind DP-EM's curves: two mechanisms, four composition methods, and what each refuses.

Park, Foulds, Chaudhuri, Welling 2017, section 5. Noise is sigma / sensitivity of every Gaussian
release; with it and delta_i every release's epsilon_i is known, Laplace or not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpcore.accounting import calibrate, epsilon_of
from dpcore.accounting.moments import MomentsAccountant
from dpcore.accounting.published import COMBINATIONS, published_budget
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.privacy import Event, Gaussian, Laplace
from dpcore.wall.statistics.mixture_moments import MixtureMoments

FREE_ORDERS = 4000  # more than 4 / sqrt(rho) for every epsilon from 0.02 on at delta 1e-4


@dataclass(frozen=True)
class Size:
    """What the paper's counting depends on."""

    components: int
    iterations: int
    delta: float
    delta_each: float

    def laplace(self, combination: str) -> int:
        """Laplace releases."""
        return self.iterations * (self.components + 1) if combination == "LLG" else 0

    def gaussian(self, combination: str) -> int:
        """Gaussian releases."""
        per_step = self.components if combination == "LLG" else 2 * self.components + 1
        return self.iterations * per_step


@dataclass(frozen=True)
class Counting:
    """One published curve: a combination of mechanisms and a composition method."""

    combination: str
    method: str

    @property
    def name(self) -> str:
        """The curve's name: combination of noise laws and composition method."""
        return f"{self.combination}, {WORDS[self.method]}"


WORDS = {
    "linear": "linear",
    "advanced": "advanced",
    "zcdp": "zCDP",
    "ma": "moments accountant, orders up to 100",
    "ma_free": "moments accountant, any order",
}
CURVES = tuple(Counting(combination, method) for combination in COMBINATIONS for method in WORDS)


@dataclass(frozen=True)
class Counted:
    """The noise of one curve ``(epsilons,)``, NaN out of reach.

    delta_each: of the Gaussian releases. note: what was refused as printed, and what is shown.
    """

    noise: Array
    delta_each: float
    note: str = ""


def counted(curve: Counting, size: Size, epsilons: Sequence[float]) -> Counted:
    """The noise that a curve asks for; where the printed delta_i is refused, at delta / (2n)."""
    if curve.method == "ma_free":
        return Counted(_free(curve, size, epsilons), size.delta_each)
    try:
        return _published(curve, size, epsilons)
    except InputError as refusal:
        if refusal.field != "delta_each":
            raise
        less = replace(size, delta_each=size.delta / (2 * size.gaussian(curve.combination)))
        note = f"refused as printed ({refusal.problem}); shown at delta_i = {less.delta_each:.3g}"
        return replace(_published(curve, less, epsilons), note=note)


def _published(curve: Counting, size: Size, epsilons: Sequence[float]) -> Counted:
    """As the paper computes it; a budget below what the capped orders reach is NaN."""
    noise, delta_each, note = np.full(len(epsilons), np.nan), size.delta_each, ""
    for i, epsilon in enumerate(epsilons):
        try:
            budget = published_budget(
                epsilon,
                size.delta,
                accountant=curve.method,
                combination=curve.combination,
                components=size.components,
                iterations=size.iterations,
                delta_each=size.delta_each,
            )
        except InputError as refusal:
            if refusal.field == "delta_each":
                raise
            note = refusal.problem
            continue
        noise[i], delta_each = float(budget.noise_multiplier), budget.delta_each or delta_each
    return Counted(noise, delta_each, note)


def _free(curve: Counting, size: Size, epsilons: Sequence[float]) -> Array:
    """The moments accountant over as many whole orders as help."""
    numerator = math.sqrt(2.0 * math.log(1.25 / size.delta_each))
    releases = (
        Event(Laplace(1.0), count=size.laplace(curve.combination)),
        Event(Gaussian(numerator), count=size.gaussian(curve.combination)),
    )
    method = MomentsAccountant(FREE_ORDERS)
    factors = [
        float(np.asarray(calibrate(releases, epsilon, size.delta, method))) for epsilon in epsilons
    ]
    return numerator * np.array(factors)


def true_epsilon(noise: Array, size: Size) -> Array:
    """What GGG noise ``(...)`` of this size really proves, exactly, where a row is replaced.

    All counts, sums and squares of an iteration are one vector with one sensitivity, so an
    iteration is one Gaussian release of noise ``2 z / that``.
    """
    joint = MixtureMoments(size.components, 1, "full", 1.0, 1.0, 1.0, 1.0).l2_sensitivity(
        "replace_one"
    )
    mu = math.sqrt(size.iterations) * joint / (2.0 * noise)
    return np.asarray(epsilon_of(size.delta, mu), dtype=float)
