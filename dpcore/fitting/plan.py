"""From a budget to noise: how much each release of a fit must carry, for a grid of budgets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting import calibrate, mu_of
from dpcore.accounting.published import PublishedBudget, published_budget
from dpcore.errors import InputError
from dpcore.fitting.mixture import MixtureSettings, proved_events, published_releases
from dpcore.privacy import Privacy

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NoisePlan:
    """Noise for every budget of a grid, one of two kinds.

    factor ``(budgets,)``: total noise multiplier of the proved recipe. published: the paper's noise
    per release, arrays ``(budgets,)``. Both are empty of meaning without privacy (``requests``
    ``None``): one run, no noise.
    """

    requests: tuple[Privacy, ...] | None
    settings: MixtureSettings
    factor: Array
    published: PublishedBudget | None = None

    @property
    def budgets(self) -> int:
        return len(self.factor)

    def repeated(self, draws: int) -> NoisePlan:
        """The same with each budget repeated once per draw."""
        published = self.published
        if published is not None:
            published = PublishedBudget(
                epsilon_each=np.repeat(published.epsilon_each, draws),
                noise_multiplier=np.repeat(published.noise_multiplier, draws),
                delta_each=published.delta_each,
                releases=published.releases,
            )
        return NoisePlan(self.requests, self.settings, np.repeat(self.factor, draws), published)


def plan_noise(
    requests: tuple[Privacy, ...] | None, settings: MixtureSettings, delta_each: float | None
) -> NoisePlan:
    """Calibrate every request; requests of one accountant and delta are solved together."""
    if requests is None:
        return NoisePlan(None, settings, np.zeros(1))
    if settings.mode == "paper":
        return _plan_published(requests, settings, delta_each)
    factor = np.empty(len(requests))
    for i, request in enumerate(requests):
        if request.noise_multiplier is not None:
            factor[i] = request.noise_multiplier / _step_multiplier(settings)
    for (accountant, delta), members in _groups(requests).items():
        targets = np.array([requests[i].epsilon for i in members], dtype=float)
        factor[members] = calibrate(proved_events(settings), targets, delta, accountant)
    return NoisePlan(requests, settings, factor)


def _step_multiplier(settings: MixtureSettings) -> float:
    """Noise multiplier of the repeated release when the whole fit has total multiplier 1."""
    last = proved_events(settings)[-1].mechanism
    return float(last.noise_multiplier)  # type: ignore[union-attr]


def _groups(requests: tuple[Privacy, ...]) -> dict[tuple[str, float], list[int]]:
    groups: dict[tuple[str, float], list[int]] = {}
    for i, request in enumerate(requests):
        if request.epsilon is not None and request.delta is not None:
            groups.setdefault((request.accountant, request.delta), []).append(i)
    return groups


def _plan_published(
    requests: tuple[Privacy, ...], settings: MixtureSettings, delta_each: float | None
) -> NoisePlan:
    if any(p.adjacency != "replace_one" for p in requests):
        raise InputError(
            "adjacency", "the paper protects the replacement of a row", "choose replace_one"
        )
    epsilon_each, multiplier = np.empty(len(requests)), np.empty(len(requests))
    for i, request in enumerate(requests):
        if request.noise_multiplier is not None:
            delta = request.delta if request.delta is not None else 1e-5
            each = delta_each or delta / (2 * published_releases(settings))
            multiplier[i] = request.noise_multiplier
            epsilon_each[i] = np.sqrt(2 * np.log(1.25 / each)) / request.noise_multiplier
    used = delta_each
    for (accountant, delta), members in _groups(requests).items():
        targets = np.array([requests[i].epsilon for i in members], dtype=float)
        if accountant == "exact":
            if settings.combination != "GGG":
                raise InputError(
                    "accountant",
                    "exact counting covers Gaussian noise only, and this mixes in Laplace noise",
                    "choose zcdp or ma, or the combination GGG",
                )
            multiplier[members] = np.sqrt(published_releases(settings)) / mu_of(targets, delta)
            epsilon_each[members] = np.nan
            continue
        budget = published_budget(
            targets,
            delta,
            accountant=accountant,
            combination=settings.combination,
            components=settings.components,
            iterations=settings.iterations,
            delta_each=delta_each,
        )
        epsilon_each[members], multiplier[members] = budget.epsilon_each, budget.noise_multiplier
        used = budget.delta_each
    published = PublishedBudget(
        epsilon_each=epsilon_each,
        noise_multiplier=multiplier,
        delta_each=used,
        releases=published_releases(settings),
    )
    return NoisePlan(requests, settings, multiplier, published)
