"""Simulated tables of three models with one vector of parameters that is known: ``beta``.

Symmetric mixture, mixture of two regressions, regression with missing covariates, as in Wang, Ding,
Hu, Xie, Pan, Xu 2023, section 5. One numpy Generator gives one table.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpcore.arrays import Array
from dpcore.checks import positive, share_below_one, whole
from dpcore.errors import InputError
from dpcore.schema import Column, Schema

if TYPE_CHECKING:
    import pandas as pd


REACH = 6.0  # standard deviations that bounds leave to every column: hardly a cell is clipped


def symmetric_mixture(n: int, beta: ArrayLike, sigma: float, rng: np.random.Generator) -> Array:
    """n rows ``(n, d)``: beta with a fair sign, plus normal noise of deviation sigma.

    >>> symmetric_mixture(3, [2.0, 0.0], 0.1, np.random.default_rng(0)).shape
    (3, 2)
    """
    truth = _checked(beta, sigma)
    signs = rng.choice([-1.0, 1.0], size=(whole("n", n), 1))
    return np.asarray(signs * truth + sigma * rng.standard_normal((n, len(truth))))


def two_regressions(
    n: int, beta: ArrayLike, sigma: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Standard normal rows ``(n, d)`` and targets ``(n,)``, each on one of two opposite lines."""
    truth = _checked(beta, sigma)
    rows = rng.standard_normal((whole("n", n), len(truth)))
    signs = rng.choice([-1.0, 1.0], size=n)
    return rows, np.asarray(signs * (rows @ truth) + sigma * rng.standard_normal(n))


def incomplete_regression(
    n: int, beta: ArrayLike, sigma: float, missing_rate: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Standard normal rows ``(n, d)``, of whose cells a share is NaN, and targets ``(n,)``."""
    truth = _checked(beta, sigma)
    share_below_one("missing_rate", missing_rate)
    rows = rng.standard_normal((whole("n", n), len(truth)))
    targets = rows @ truth + sigma * rng.standard_normal(n)
    rows[rng.random(rows.shape) < missing_rate] = math.nan
    return rows, np.asarray(targets)


def mixture_table(
    n: int, beta: ArrayLike, sigma: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, Schema]:
    """A symmetric mixture as a table, with public bounds that hardly clip."""
    rows = symmetric_mixture(n, beta, sigma, rng)
    reach = float(np.linalg.norm(_checked(beta, sigma))) + REACH * sigma
    return _table(rows, None, reach, 0.0)


def regressions_table(
    n: int, beta: ArrayLike, sigma: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, Schema]:
    """A mixture of two regressions as a table, target ``y``, with bounds that hardly clip."""
    rows, targets = two_regressions(n, beta, sigma, rng)
    return _table(rows, targets, REACH, REACH * math.hypot(_norm(beta, sigma), sigma))


def incomplete_table(
    n: int, beta: ArrayLike, sigma: float, missing_rate: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, Schema]:
    """A regression with missing covariates as a table, target ``y``."""
    rows, targets = incomplete_regression(n, beta, sigma, missing_rate, rng)
    return _table(rows, targets, REACH, REACH * math.hypot(_norm(beta, sigma), sigma), "role")


def _table(
    rows: Array, targets: Array | None, reach: float, far: float, missing: str | None = None
) -> tuple[pd.DataFrame, Schema]:
    import pandas as pd

    names = [f"x{i + 1}" for i in range(rows.shape[1])]
    columns = [Column(name, lower=-reach, upper=reach, missing=missing) for name in names]
    frame = pd.DataFrame(rows, columns=names)
    if targets is not None:
        frame["y"] = targets
        columns.append(Column("y", role="target", lower=-far, upper=far))
    return frame, Schema(tuple(columns))


def _norm(beta: ArrayLike, sigma: float) -> float:
    return float(np.linalg.norm(_checked(beta, sigma)))


def _checked(beta: ArrayLike, sigma: float) -> Array:
    positive("sigma", sigma)
    truth = np.asarray(beta, dtype=float)
    if truth.ndim != 1 or not truth.size or not np.all(np.isfinite(truth)):
        raise InputError("beta", "it is not a list of numbers", "give one number per column")
    return truth
