"""Events: what a mechanism did, apart from what it costs.

An event says how much noise was added relative to the sensitivity *under the adjacency of the
ledger it stands in*. Numeric fields may be arrays of one common shape: one event then describes
a whole grid of runs, and every accountant answers for the grid at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from dpcore.checks import number, one_of, probability, share, truth, whole
from dpcore.errors import InputError
from dpcore.privacy.adjacency import ADJACENCIES

Real: TypeAlias = float | NDArray[np.float64]
Sampling: TypeAlias = Literal["none", "poisson", "without_replacement"]
SAMPLINGS = get_args(Sampling)
FINE = 1 << 20  # steps in one standard deviation of noise, from which a grid counts as fine
NORMAL_SHARE = 1.0 - 2.0**-36  # of the noise on a fine grid, that counts as normal noise
FAINTEST = 1e-100  # less noise is none, and a larger epsilon than 1 over it protects nothing


@dataclass(frozen=True)
class Gaussian:
    """Normal noise. ``noise_multiplier`` = standard deviation / L2 sensitivity; 0 = unprotected.

    Raises InputError for noise that is negative, undefined or no number, as all mechanisms do.
    """

    noise_multiplier: Real

    def __post_init__(self) -> None:
        _set(self, noise_multiplier=_noise("noise_multiplier", self.noise_multiplier))


@dataclass(frozen=True)
class Laplace:
    """Laplace noise. ``scale`` = scale / L1 sensitivity of the released vector.

    ``l2_ratio`` = L2 sensitivity / L1 sensitivity, at most 1 (1 = a scalar, or not known). A vector
    that is bounded in L2 costs far less in concentrated accounting than its L1 bound suggests.
    Raises InputError as :class:`Gaussian` does, and for a ratio outside (0, 1].
    """

    scale: Real
    l2_ratio: float = 1.0

    def __post_init__(self) -> None:
        _set(self, scale=_noise("scale", self.scale), l2_ratio=share("l2_ratio", self.l2_ratio))


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete normal noise on what moves in whole steps of a public grid.

    ``noise_multiplier`` = scale parameter / sensitivity. Of a scalar, ``steps`` = sensitivity /
    grid step, a whole number. Of a vector that is ``None``, and ``noise_steps`` = scale parameter /
    grid step, where it is known; unless it is at least :data:`FINE`, only the zCDP is known.
    Raises InputError as :class:`Gaussian` does, for steps that are no whole number above 0, and for
    both kinds of them. Source: Canonne, Kamath, Steinke 2020, Definition 1 and Theorem 14.
    """

    noise_multiplier: Real
    steps: int | None = 1
    noise_steps: int | None = None

    def __post_init__(self) -> None:
        _set(self, noise_multiplier=_noise("noise_multiplier", self.noise_multiplier))
        for name in ("steps", "noise_steps"):
            if (value := getattr(self, name)) is not None:
                _set(self, **{name: whole(name, value)})
        if self.steps is not None and self.noise_steps is not None:
            raise InputError(
                "noise_steps",
                "steps are for one number, noise_steps for a vector",
                "give one of the two, and steps = None for a vector",
            )


@dataclass(frozen=True)
class EpsilonDelta:
    """A black box that is (epsilon, delta)-differentially private and nothing more is known.

    Raises InputError for an epsilon below 0 or a delta outside [0, 1].
    """

    epsilon: Real
    delta: float = 0.0

    def __post_init__(self) -> None:
        delta = number("delta", self.delta)
        if not 0.0 <= delta <= 1.0:
            raise InputError("delta", f"{delta} is not in [0, 1]", "give a probability")
        epsilon = _amount("epsilon", self.epsilon)
        if np.any(large := np.asarray(epsilon) > 1.0 / FAINTEST):
            epsilon = np.where(large, np.inf, epsilon) if np.ndim(epsilon) else np.inf
        _set(self, epsilon=epsilon, delta=delta)


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

    Raises InputError for a field that cannot be, such as a count below 0, or a rate without a
    sampling method.
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
        if not isinstance(self.mechanism, Mechanism):
            raise InputError(
                "mechanism", "it is not a mechanism", "give one, for example Gaussian(2.0)"
            )
        if self.delta_each is not None:
            _set(self, delta_each=probability("delta_each", self.delta_each))
        if not isinstance(self.group, str | None):
            raise InputError("group", f"{self.group!r} is not a name", "give a text")
        truth("parallel", self.parallel)
        one_of("sampling", self.sampling, SAMPLINGS)
        one_of("adjacency", self.adjacency, ADJACENCIES)
        _set(
            self,
            count=whole("count", self.count, least=0),
            sampling_rate=share("sampling_rate", self.sampling_rate),
        )
        if self.sampling == "none" and self.sampling_rate != 1.0:
            raise InputError(
                "sampling_rate",
                "it was given without a sampling method",
                "set sampling to poisson or without_replacement, or leave the rate out",
            )

    @property
    def continuous(self) -> Event:
        """The event itself, or of discrete Gaussian noise on a fine grid one with normal noise that
        costs no less. Source: the lemma of :mod:`dpcore.mechanisms.discrete_gaussian`.

        >>> Event(DiscreteGaussian(2.0, None, noise_steps=FINE)).continuous.mechanism
        Gaussian(noise_multiplier=1.9999999999708962)
        """
        noise = self.mechanism
        if isinstance(noise, DiscreteGaussian) and (noise.noise_steps or 0) >= FINE:
            return replace(self, mechanism=Gaussian(noise.noise_multiplier * NORMAL_SHARE))
        return self

    def at(self, index: int) -> Event:
        """The event of one run out of a grid of runs.

        index: the position along the grid, where the noise is an array ``(B,)``; a single noise is
        the same for every run. Raises IndexError beyond the grid.
        """
        return self.with_noise(of_run(noise_of(self), index))

    def with_noise(self, noise: Real) -> Event:
        """The same event with another amount of noise (of a black box, another epsilon).

        noise: a number, or an array ``(B,)`` for a grid of runs.
        """
        amount: dict[str, Any] = {_AMOUNTS[type(self.mechanism)]: noise}
        return replace(self, mechanism=replace(self.mechanism, **amount))


_AMOUNTS: dict[type[Mechanism], str] = {
    Gaussian: "noise_multiplier",
    Laplace: "scale",
    DiscreteGaussian: "noise_multiplier",
    EpsilonDelta: "epsilon",
}


def noise_of(event: Event) -> Real:
    """How much noise an event has: its noise multiplier or Laplace scale, relative to the
    sensitivity; for a black box its epsilon. A number, or an array ``(B,)`` for a grid of runs.
    """
    noise: Real = getattr(event.mechanism, _AMOUNTS[type(event.mechanism)])
    return noise


def _set(what: object, **fields: Any) -> None:
    """Fields of something frozen that is being made."""
    for name, value in fields.items():
        object.__setattr__(what, name, value)


def _amount(field: str, value: Any) -> Real:
    """An amount of noise, or an array of them, in double precision: smaller numbers overflow."""
    try:
        if np.asarray(value).dtype.kind not in "biufUSO":  # complex numbers and dates
            raise TypeError
        amount = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(field, f"{value!r} is not a number", "give a number") from None
    if np.any(np.isnan(amount)) or np.any(amount < 0.0):
        raise InputError(
            field, "the amount of noise is negative or undefined", "give a number >= 0"
        )
    return amount if amount.ndim else float(amount)


def _noise(field: str, value: Any) -> Real:
    """The same, where what is so small that its square is none counts as none."""
    amount = _amount(field, value)
    if np.any(faint := np.asarray(amount) < FAINTEST):
        return np.where(faint, 0.0, amount) if np.ndim(amount) else 0.0
    return amount


def of_run(value: Real, index: int) -> float:
    """The number of one run out of a grid of runs; one number is that of all.

    >>> of_run(np.array([1.0, 2.0]), 1), of_run(3.0, 1)
    (2.0, 3.0)
    """
    array = np.asarray(value)
    return float(array if array.ndim == 0 else array[index])
