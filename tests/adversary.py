"""The worst that an attacker finds: many random starts, then local steps that shrink."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def worst_of(
    size: Callable[[np.ndarray], np.ndarray],
    shape: tuple[int, ...],
    *,
    count: int = 1500,
    kept: int = 100,
    rounds: int = 60,
    seed: int = 0,
) -> tuple[float, np.ndarray]:
    """The largest size of candidates ``(n, *shape)``, and the candidate that has it."""
    rng = np.random.default_rng(seed)
    candidates, best = rng.standard_normal((count, *shape)), -np.inf
    found = candidates[0]
    for step in range(rounds):
        value = size(candidates)
        order = np.argsort(-value)[:kept]
        if value[order[0]] > best:
            best, found = float(value[order[0]]), candidates[order[0]]
        parents = candidates[rng.choice(order, count)]
        candidates = parents + 0.9**step * rng.standard_normal(parents.shape)
        candidates[0] = found
    return best, found
