r"""Variational inference by gradients: a normal posterior of a regression that climbs its bound.

Jalko, Dikmen, Honkela 2017 (DPVI): coefficients are independent and normal, with means m and
deviations ``exp(r)``; a draw ``f = m + exp(r) e`` turns a row's log likelihood into a gradient in
m and r (Kingma, Welling 2014). Draws e are public coins. All else here reads released numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from dpcore.arrays import Array, Indices
from dpcore.models.logistic_regression.mathematics import LARGEST, Coefficients, precision
from dpcore.models.shared.moments import finite

WIDE = -1.0  # log deviation of the start
NARROWEST, WIDEST = -12.0, 3.0  # log deviations, at the ends
FIRST, SECOND = 0.9, 0.999  # of the running moments of a gradient (Kingma, Ba 2015)
LEAST = 1e-12


@dataclass(frozen=True)
class Factorised:
    """B posteriors of independent coefficients: mean ``(B, p)``, log_sd ``(B, p)``."""

    mean: Array
    log_sd: Array

    @classmethod
    def start(cls, runs: int, size: int) -> Factorised:
        """A start that knows no data."""
        return cls(np.zeros((runs, size)), np.full((runs, size), WIDE))

    def coefficients(self) -> Coefficients:
        """The same as any regression's; how much of the spread is noise is not known."""
        size = self.mean.shape[1]
        covariance = np.exp(2.0 * self.log_sd)[:, :, None] * np.eye(size)
        return Coefficients(self.mean, covariance, np.broadcast_to(np.nan, covariance.shape))


def row_gradients(posterior: Factorised, coins: Array) -> Any:
    """What the wall asks of each row: gradients ``(b, 2p, m)`` of its log likelihood in (m, r).

    coins ``(D, p)``: standard normal draws, over which gradients are averaged.
    """

    def of_rows(rows: Array, outcomes: Array, runs: Indices) -> Array:
        mean, spread = posterior.mean[runs], np.exp(posterior.log_sd[runs])
        out = np.zeros((len(runs), 2 * rows.shape[1], len(rows)))
        means, spreads = np.split(out, 2, axis=1)
        for coin in coins:
            moved = spread * coin
            miss = outcomes - expit((mean + moved) @ rows.T)
            pulls = miss[:, None] * rows.T / len(coins)
            means += pulls
            spreads += moved[:, :, None] * pulls
        return out

    return of_rows


def of_prior(posterior: Factorised) -> Array:
    """Gradient ``(B, 2p)`` of the rest of the bound: the prior's and the entropy's.

    The prior's precision is that of ``mathematics.precision``.
    """
    prior = precision(posterior.coefficients())[:, None]
    variance = np.exp(2.0 * posterior.log_sd)
    return np.concatenate([-prior * posterior.mean, 1.0 - prior * variance], axis=1)


@dataclass
class Climb:
    """Adam on noisy gradients; total, and blind to their scale. pace: of a step, in log odds."""

    posterior: Factorised
    pace: float
    first: Array | float = 0.0
    second: Array | float = 0.0
    steps: int = 0

    def step(self, gradient: Array) -> Factorised:
        """Follow the gradient ``(B, 2p)`` of the bound."""
        safe = finite(gradient, LARGEST)
        self.steps += 1
        self.first = FIRST * self.first + (1.0 - FIRST) * safe
        self.second = SECOND * self.second + (1.0 - SECOND) * safe**2
        size = np.sqrt(self.second / (1.0 - SECOND**self.steps)) + LEAST
        move = self.pace * self.first / (1.0 - FIRST**self.steps) / size
        means, spreads = np.split(np.asarray(move), 2, axis=1)
        log_sd = np.clip(self.posterior.log_sd + spreads, NARROWEST, WIDEST)
        self.posterior = Factorised(self.posterior.mean + means, log_sd)
        return self.posterior


def averaged(history: list[Factorised]) -> Factorised:
    """The mean of the later half of a climb, where noise sends it to and fro (Polyak 1990)."""
    late = history[len(history) // 2 :]
    return Factorised(
        np.mean([step.mean for step in late], axis=0),
        np.mean([step.log_sd for step in late], axis=0),
    )
