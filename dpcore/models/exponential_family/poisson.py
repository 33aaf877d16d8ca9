"""Counts of events: within a group, each column has a rate of its own (Poisson)."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.models.exponential_family.mathematics import Family
from dpcore.wall.data import PublicFrame

LEAST_SHARE = 1e-3  # of a column's range: the lowest rate, so that no count is impossible


class Poisson(Family):
    """Counts ``x = center + half_range y`` from 0 on, each with the rate of its group."""

    narrow = True  # limits hold the largest count that is possible, not what is usual

    def demand(self, public: PublicFrame) -> None:
        super().demand(public)
        if np.any(public.center < public.half_range):
            raise InputError(
                "columns",
                "a lower bound is below 0, but counts cannot be negative",
                "give bounds of at least 0",
            )

    def allowed(self, means: Array, public: PublicFrame, margin: Array | float = 0.0) -> Array:
        """As :class:`Family` says; a rate of zero lies at ``-center / half_range``."""
        zero = -public.center / public.half_range
        return np.clip(means, zero + np.maximum(2.0 * LEAST_SHARE, margin), 1.0)

    def coefficients(self, means: Array, public: PublicFrame) -> tuple[Array, Array]:
        """Of ``x log(rate) - rate``, summed over columns."""
        rate = rates(means, public)
        logs = np.log(rate)
        return np.sum(public.center * logs - rate, axis=-1), public.half_range * logs

    def base(self, rows: Array, public: PublicFrame) -> Array:
        """As :class:`Family` says: ``-log x!``, summed over columns."""
        counts = np.maximum(rates(rows, public), 0.0)
        return -np.asarray(gammaln(counts + 1.0).sum(axis=-1))

    def deviation(self, means: Array, public: PublicFrame) -> Array:
        return np.sqrt(rates(means, public)) / public.half_range

    def scales(self, mean: Array, square: Array, public: PublicFrame) -> Array:
        """Half way, in logarithms, between one spread for all columns ``(B, d)`` and their own.

        That has a variance of ``rate + k rate^2``: k is at least 0, and what the mean square asks
        for, as where groups' rates differ by one factor in all columns. Between the two, since
        columns of low rates need little noise, but those of high rates tell groups apart first.
        """
        rate = rates(self.allowed(mean, public), public)
        within, between = rate / public.half_range**2, (rate / public.half_range) ** 2
        more = np.maximum(square - within.sum(axis=1), 0.0) / between.sum(axis=1)
        return np.asarray((within + more[:, None] * between) ** 0.25)

    def uniform(self, public: PublicFrame) -> float:
        """Every whole number within the bounds as likely."""
        return -float(np.sum(np.log(np.floor(2.0 * public.half_range) + 1.0)))


def rates(means: Array, public: PublicFrame) -> Array:
    """Rates in the data's own units, from means ``(...)`` in unit coordinates."""
    return np.asarray(public.center + public.half_range * means)
