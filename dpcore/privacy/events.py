"""Events: what a mechanism did, apart from what it costs.

An event says how much noise was added relative to the sensitivity *under the adjacency of the
ledger it stands in*. Numeric fields may be arrays of one common shape: one event then describes
a whole grid of runs, and every accountant answers for the grid at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError
from dpcore.privacy.adjacency import ADJACENCIES

Real: TypeAlias = float | NDArray[np.float64]
Sampling: TypeAlias = Literal["none", "poisson", "without_replacement"]


@dataclass(frozen=True)
class Gaussian:
    """Normal noise. ``noise_multiplier`` = standard deviation / L2 sensitivity; 0 = unprotected."""

    noise_multiplier: Real


@dataclass(frozen=True)
class Laplace:
    """Laplace noise. ``scale`` = scale / L1 sensitivity of the released vector.

    ``l2_ratio`` = L2 sensitivity / L1 sensitivity, at most 1 (1 = a scalar, or not known). A vector
    that is bounded in L2 costs far less in concentrated accounting than its L1 bound suggests.
    """

    scale: Real
    l2_ratio: float = 1.0


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete normal noise on what moves in whole steps of a public grid.

    ``noise_multiplier`` = scale parameter / sensitivity; ``steps`` = sensitivity / grid step, a
    whole number, for a scalar; ``None`` for a vector, of which only the zCDP is known.
    Source: Canonne, Kamath, Steinke 2020, Definition 1 and Theorem 14.
    """

    noise_multiplier: Real
    steps: int | None = 1


@dataclass(frozen=True)
class EpsilonDelta:
    """A black box that is (epsilon, delta)-differentially private and nothing more is known."""

    epsilon: Real
    delta: float = 0.0


Mechanism: TypeAlias = Gaussian | Laplace | DiscreteGaussian | EpsilonDelta


@dataclass(frozen=True)
class Event:
    """A mechanism run ``count`` times, adaptively, on the whole table or on random samples of it.

    ``adjacency``: what the noise is relative to. Without sampling the price is the same under each;
    with sampling it is not. ``sampling``: a fresh sample for every run; ``poisson`` takes each row
    with probability ``sampling_rate``, ``without_replacement`` a fixed share of the rows.
    ``delta_each``: the share of delta a Gaussian may use under methods that count in
    (epsilon, delta) pairs; ``None`` leaves the choice to the method. ``group`` and ``parallel``:
    events of one group with ``parallel=True`` act on disjoint parts of the table.

    Raises InputError for a count, rate or amount of noise that cannot be.
    """

    mechanism: Mechanism
    count: int = 1
    delta_each: float | None = None
    sampling: Sampling = "none"
    sampling_rate: float = 1.0
    group: str | None = None
    parallel: bool = False
    adjacency: str = "replace_one"

    def __post_init__(self) -> None:
        if self.count < 0 or self.count != int(self.count):
            raise InputError("count", f"{self.count} is not a whole number >= 0", "give one")
        if not 0.0 < self.sampling_rate <= 1.0:
            raise InputError(
                "sampling_rate", f"{self.sampling_rate} is not in (0, 1]", "give a share of rows"
            )
        if self.adjacency not in ADJACENCIES:
            raise InputError(
                "adjacency", f"{self.adjacency!r} is not known", f"use {', '.join(ADJACENCIES)}"
            )
        for name, value in _amounts(self.mechanism).items():
            if np.any(np.isnan(value)) or np.any(np.asarray(value) < 0.0):
                raise InputError(
                    name, "the amount of noise is negative or undefined", "give a number >= 0"
                )
        mechanism = self.mechanism
        if isinstance(mechanism, Laplace) and not 0.0 < mechanism.l2_ratio <= 1.0:
            raise InputError("l2_ratio", f"{mechanism.l2_ratio} is not in (0, 1]", "leave it at 1")
        steps = mechanism.steps if isinstance(mechanism, DiscreteGaussian) else None
        if steps is not None and (steps < 1 or steps != int(steps)):
            raise InputError("steps", f"{steps} is not a whole number >= 1", "give one")
        if isinstance(mechanism, EpsilonDelta) and not 0.0 <= mechanism.delta <= 1.0:
            raise InputError("delta", f"{mechanism.delta} is not in [0, 1]", "give a probability")

    def at(self, index: int) -> Event:
        """The event of one run out of a grid of runs.

        index: the position along the grid, where the noise is an array ``(B,)``; a single noise is
        the same for every run. Raises IndexError beyond the grid.
        """
        amounts = {name: of_run(value, index) for name, value in _amounts(self.mechanism).items()}
        mechanism: Mechanism = replace(self.mechanism, **amounts)  # type: ignore[arg-type]
        return replace(self, mechanism=mechanism)


def _amounts(mechanism: Mechanism) -> dict[str, Any]:
    match mechanism:
        case Gaussian(noise_multiplier=value) | DiscreteGaussian(noise_multiplier=value):
            return {"noise_multiplier": value}
        case Laplace(scale=value):
            return {"scale": value}
        case EpsilonDelta(epsilon=value):
            return {"epsilon": value}


def of_run(value: Real, index: int) -> float:
    """The number of one run out of a grid of runs; one number is that of all.

    >>> of_run(np.array([1.0, 2.0]), 1), of_run(3.0, 1)
    (2.0, 3.0)
    """
    array = np.asarray(value)
    return float(array if array.ndim == 0 else array[index])
