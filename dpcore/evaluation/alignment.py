"""Which part of a private fit is which of the exact one."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array, Indices, Mask

RECOVERED_WITHIN = 0.25  # of the way from a place to the next one


def matched(costs: Array) -> Indices:
    """Order ``(B, L)`` of each run's parts in which parts of a reference cost least together, by
    what each pair costs ``(B, K, L)`` (Hungarian algorithm; Kuhn 1955)."""
    from scipy.optimize import linear_sum_assignment

    return np.stack([linear_sum_assignment(table.T)[1] for table in costs])


def by_distance(places: Array, exact: Array) -> tuple[Indices, Mask]:
    """Order ``(B, K)`` of each run's places ``(B, K, d)`` that is nearest to the exact ones
    ``(K, d)``; which of these are recovered: within a quarter of the way to the next (of half the
    bounds, where there is one place)."""
    gaps = np.linalg.norm(places[:, :, None] - exact, axis=-1)  # (B, K, K)
    order = matched(gaps)
    between = np.linalg.norm(exact[:, None] - exact, axis=-1)
    np.fill_diagonal(between, np.inf)
    nearest = between.min(axis=1)
    reach = RECOVERED_WITHIN * np.where(np.isinf(nearest), 1.0, nearest)
    away = np.take_along_axis(gaps, order[:, None], axis=1)[:, 0]
    return order, away <= reach
