"""From a budget to noise: how much each release of a fit must carry, for a grid of budgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.accounting import calibrate
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.recipe import Recipe
from dpcore.privacy import Event, Privacy
from dpcore.privacy.events import noise_of

if TYPE_CHECKING:
    from dpcore.accounting.published import PublishedBudget

FEW = 5  # budgets that are no faster solved together


@dataclass(frozen=True)
class NoisePlan:
    """Noise for every budget of a grid.

    factor ``(budgets,)``: how much noise there is, whatever its law: the total noise multiplier of
    a proved recipe, the paper's of each release. published: the paper's noise, arrays
    ``(budgets,)``, in paper mode. Without privacy (``requests`` ``None``): one run, no noise.
    """

    requests: tuple[Privacy, ...] | None
    factor: Array
    published: PublishedBudget | None = None

    @property
    def budgets(self) -> int:
        """How many budgets there are."""
        return len(self.factor)

    def repeated(self, draws: int) -> NoisePlan:
        """The same with each budget repeated once per draw."""
        published = self.published
        if published is not None:
            published = replace(
                published,
                epsilon_each=np.repeat(published.epsilon_each, draws),
                noise_multiplier=np.repeat(published.noise_multiplier, draws),
            )
        return NoisePlan(self.requests, np.repeat(self.factor, draws), published)


def plan_noise(
    recipe: Recipe,
    requests: tuple[Privacy, ...] | None,
    settings: Any,
    delta_each: float | None = None,
) -> NoisePlan:
    """Calibrate every request; more than :data:`FEW` of one accountant and delta together, which is
    faster, and fewer each alone, with the bits of a fit alone.

    delta_each: a paper's delta for each release, where its accounting needs one.
    Raises InputError where a budget is out of reach.
    """
    if requests is None:
        return NoisePlan(None, np.zeros(1))
    if settings.mode == "paper":
        published = recipe.published(requests, settings, delta_each)
        return NoisePlan(requests, published.noise_multiplier, published)
    events = recipe.events(settings)
    factor = np.empty(len(requests))
    for i, request in enumerate(requests):
        if request.noise_multiplier is not None:
            factor[i] = request.noise_multiplier / float(noise_of(recipe.main(events)))
    for accountant, delta, members, targets in groups(requests):
        parts = [targets] if len(targets) > FEW else [[target] for target in targets]
        solved = (_solved(tuple(events), tuple(part), delta, accountant) for part in parts)
        factor[members] = np.concatenate(list(solved))
    return NoisePlan(requests, factor)


def counted_by(accountant: str, how: Recipe, settings: Any) -> str:
    """Exact counting knows no samples; there the loss distributions count as closely as can be."""
    if accountant != "exact" or not how.sampled:
        return accountant
    return "pld" if any(event.sampling != "none" for event in how.events(settings)) else accountant


def demand_accountant(how: Recipe, settings: Any, accountant: str) -> None:
    """Raises InputError for an accountant that would count what is planned and what is released
    differently."""
    allowed = how.accountants(settings)
    if allowed and accountant not in allowed:
        raise InputError(
            "accountant", "it does not cover these releases", f"choose {' or '.join(allowed)}"
        )


@lru_cache(maxsize=512)
def _solved(
    events: tuple[Event, ...], targets: tuple[float | None, ...], delta: float, accountant: str
) -> tuple[float, ...]:
    """Kept, because a page asks for the same again and again."""
    return tuple(np.ravel(calibrate(events, np.array(targets, dtype=float), delta, accountant)))


def groups(requests: Sequence[Privacy]) -> Iterator[tuple[str, float, list[int], Array]]:
    """Accountant and delta of requests for an epsilon that share both, their positions, and their
    epsilons ``(n,)``."""
    positions: dict[tuple[str, float], list[int]] = {}
    for i, request in enumerate(requests):
        if request.epsilon is not None and request.delta is not None:
            positions.setdefault((request.accountant, request.delta), []).append(i)
    for (accountant, delta), members in positions.items():
        targets = np.array([requests[i].epsilon for i in members], dtype=float)
        yield accountant, delta, members, targets
