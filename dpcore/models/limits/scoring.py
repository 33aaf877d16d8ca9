"""How limits are judged: by how far they are from those without noise, and what they cut off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.evaluation.yardstick import Scorer, Wording, Yardstick
from dpcore.fitting.api import fit_grid
from dpcore.models.limits.parameters import Limits
from dpcore.wall.custodian import custodian_numbers
from dpcore.wall.table import PrivateTable

RECOVERED = 1.0  # doublings of a width
LEAST_WIDTH = 2.0**-60  # of a share of the public limits


@dataclass(frozen=True)
class LimitsScorer(Scorer):
    """Rows, the table they are of, the places of its k columns of numbers, and these numbers
    ``(n, k)`` in public unit coordinates, undefined where missing.
    """

    table: PrivateTable
    places: tuple[int, ...]
    numbers: Array

    @cached_property
    def exact(self) -> Limits:
        """The limits that are found without noise, a batch of one."""
        return YARDSTICK.converged(self.table, 1, {})


class LimitsYardstick(Yardstick):
    """``limit_error``: the mean over the columns of numbers of how many doublings lie between a
    width and that of the exact limits, in either direction; ``cells_outside``: the share of all
    numbers that lie outside the limits, of those that are there. Utility: minus the first.
    """

    wording = Wording(
        part="pair of limits",
        parts="pairs of limits",
        simplest="the stated limits",
        utility="minus the error (doublings of a column's width)",
        worth="doublings of a column's width",
    )
    simplest = 0
    of_the_fit = True
    alike = 0.95
    metrics = ("limit_error", "cells_outside")

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Limits:
        """The limits that the same steps find without noise, a batch of one."""
        limits: Limits = fit_grid("limits", table, privacy=None, as_private=True).runs.final
        return limits

    def scorer(
        self,
        table: PrivateTable,
        options: Mapping[str, Any] | None = None,
        most: int | None = None,
        held_out: Any = None,
    ) -> LimitsScorer:
        """All rows, with their exact limits."""
        every = Scorer.of(table, None)
        return LimitsScorer(every.public, every.rows, table, *custodian_numbers(table))

    def score(self, batch: Limits, scorer: Scorer) -> Array:
        return -self.measure(batch, scorer, "limit_error")

    def measure(self, batch: Limits, scorer: Scorer, metric: str) -> Array:
        assert isinstance(scorer, LimitsScorer)  # from the method above
        at, numbers = list(scorer.places), scorer.numbers
        if metric == "cells_outside":
            outside = [
                np.count_nonzero((numbers < low) | (numbers > high))
                for low, high in zip(batch.lower[:, at], batch.upper[:, at], strict=True)
            ]
            return np.array(outside) / max(1.0, float(np.isfinite(numbers).sum()))
        away = np.abs(_doublings(batch) - _doublings(scorer.exact))
        return np.asarray(away[:, at].mean(axis=1))

    def uninformed(self, scorer: Scorer) -> Limits:
        """The stated limits."""
        return _stated(scorer.public.dim)

    def silent(self, reference: Limits) -> Limits:
        """The same, as a batch of one."""
        return _stated(reference.lower.shape[1])

    def align(self, batch: Limits, reference: Limits) -> tuple[Limits, Mask]:
        """Columns have names, so nothing moves; recovered ``(B, K)``, of the K columns that the
        exact limits narrow (of all, where they narrow none): narrowed, to a width within
        :data:`RECOVERED`."""
        near = np.abs(_doublings(batch) - _doublings(reference)) <= RECOVERED
        sought = reference.width[0] < 1.0
        return batch, (near & (batch.width < 1.0))[:, sought] if np.any(sought) else near


def _doublings(batch: Limits) -> Array:
    """Widths ``(B, d)`` as powers of 2."""
    return np.asarray(np.log2(np.maximum(batch.width, LEAST_WIDTH)))


def _stated(dim: int) -> Limits:
    return Limits(-np.ones((1, dim)), np.ones((1, dim)), np.zeros((1, dim)))


YARDSTICK = LimitsYardstick()
