"""A privacy request: the budget somebody wants, or the noise somebody wants to price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcore.checks import one_of, positive, probability, rows_of_one
from dpcore.errors import InputError
from dpcore.privacy.adjacency import ADJACENCIES

MODES = ("proved", "paper")
LOUDEST = 1e100  # of noise multipliers; beyond it squares may overflow


@dataclass(frozen=True)
class Privacy:
    """What is asked of a fit: exactly one of ``epsilon`` (with ``delta``) and ``noise_multiplier``.

    epsilon, delta: the budget; delta in (0, 1).
    noise_multiplier: noise standard deviation / sensitivity of each repeated release, then the same
        in all of them.
    adjacency: ``replace_one`` | ``add_remove`` | ``label`` | ``feature``.
    accountant: composition method that turns budget into noise and back.
    mode: ``proved`` or ``paper`` (as published, whether or not the claim holds).
    rows_per_person: the most rows one person can have; all of them are protected together.

    Raises InputError on a mistake.

    >>> Privacy(epsilon=1.0, delta=1e-5).adjacency
    'replace_one'
    >>> Privacy(epsilon=0.0, delta=1e-5)
    Traceback (most recent call last):
    dpcore.errors.InputError: epsilon: 0.0 is not a finite number above 0; give a number such as 1.
    """

    epsilon: float | None = None
    delta: float | None = None
    noise_multiplier: float | None = None
    adjacency: str = "replace_one"
    accountant: str = "exact"
    mode: str = "proved"
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.noise_multiplier is None):
            raise InputError(
                "epsilon, noise_multiplier",
                "neither was given" if self.epsilon is None else "both were given",
                "give exactly one, or choose privacy none for a fit without noise",
            )
        plain: dict[str, Any] = {"rows_per_person": rows_of_one(self.rows_per_person)}
        if self.epsilon is not None:
            plain["epsilon"] = positive("epsilon", self.epsilon)
            if self.delta is None:
                raise InputError("delta", "none was given", "give one, for example 1e-5")
        else:
            plain["noise_multiplier"] = noise = positive("noise_multiplier", self.noise_multiplier)
            if noise > LOUDEST:
                raise InputError("noise_multiplier", "it is above 1e100", "give a smaller number")
        if self.delta is not None:
            plain["delta"] = probability("delta", self.delta)
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        one_of("adjacency", self.adjacency, ADJACENCIES)
        one_of("mode", self.mode, MODES)
        if not isinstance(self.accountant, str):
            raise InputError("accountant", "it is not a name", "give one, for example exact")


def demand_privacy(request: object) -> None:
    """Raises InputError, naming how to build one, for a request that is not a :class:`Privacy`."""
    if not isinstance(request, Privacy):
        raise InputError(
            "privacy", "it is not a dpcore.Privacy", "give dpcore.Privacy(epsilon=1, delta=1e-5)"
        )
