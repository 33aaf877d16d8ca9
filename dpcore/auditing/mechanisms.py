"""Bare mechanisms under attack: one noisy number, drawn by the doors' own noise source.

The tables differ by the whole sensitivity. Normal noise: Dwork, Roth 2014, Theorem A.1; Laplace
noise: the same, Theorem 3.6; on a grid: Canonne, Kamath, Steinke 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.accounting import best_proof, calibrate
from dpcore.accounting.base import scaled
from dpcore.arrays import Array
from dpcore.auditing.audit import Clouds
from dpcore.errors import InputError
from dpcore.privacy import Claim, DiscreteGaussian, Event, Gaussian, Laplace, Privacy
from dpcore.privacy.budget import MODES
from dpcore.privacy.events import noise_of
from dpcore.wall.noise import GridNoise, NoiseSource

Draw = Callable[[int, int], Array]

STEPS = GridNoise.steps
CLASSIC = "Dwork, Roth 2014, Theorem A.1 (proved for epsilon below 1)"


@dataclass(frozen=True)
class BareMechanism:
    """A number with noise; draw: noise of deviation (or scale) 1 by seed and count."""

    about: str
    event: Event
    draw: Draw
    usual: Privacy
    runs: int = 100_000
    claimed: bool = False  # whether a printed formula for the noise is audited in paper mode

    @property
    def modes(self) -> tuple[str, ...]:
        """As :class:`dpcore.auditing.audit.Auditable` says."""
        return MODES if self.claimed else MODES[:1]

    def request(self, privacy: Privacy | None, mode: str) -> Privacy:
        """As :class:`dpcore.auditing.audit.Auditable` says.

        Raises InputError for a mode without a printed formula and for half a budget.
        """
        if privacy is None:
            privacy = replace(self.usual, mode=mode)
        if privacy.mode == "paper" and not self.claimed:
            raise InputError(
                "mode", "this mechanism has no printed formula to audit", "choose proved"
            )
        if privacy.delta is None or privacy.epsilon is None:
            raise InputError("epsilon, delta", "only one of the two was given", "give both")
        return privacy

    def clouds(
        self, privacy: Privacy, runs: int, seed: int, share: float, **options: Any
    ) -> Clouds:
        """Sensitivity 1: 0 or 1, each so many times with noise.

        Raises InputError for any option.
        """
        if options:
            raise InputError("options", "a bare mechanism has no options", "leave them out")
        epsilon, delta = float(privacy.epsilon or 0.0), float(privacy.delta or 0.0)
        if privacy.mode == "paper":
            noise = math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
        else:
            unit = float(np.asarray(noise_of(self.event)))
            noise = unit * float(calibrate((self.event,), epsilon, delta, privacy.accountant))
        proof = best_proof(scaled((self.event,), noise), delta)
        claim = Claim(epsilon, delta, CLASSIC, proof.epsilon <= epsilon)
        here, there = (noise * share * self.draw(seed + 1 + which, runs) for which in (0, 1))
        return Clouds(
            here,
            1.0 + there,
            normal=isinstance(self.event.mechanism, Gaussian),
            claim=claim if privacy.mode == "paper" else None,
            proof=proof,
            scene="a number that differs by its sensitivity between the two tables",
        )


def _normal(seed: int, runs: int) -> Array:
    return np.asarray(NoiseSource(seed).normal((runs,))[0])


def _laplace(seed: int, runs: int) -> Array:
    return np.asarray(NoiseSource(seed).laplace((runs,))[0])


def _on_grid(seed: int, runs: int) -> Array:
    """Whole steps, from the system's entropy: nothing about a release can be repeated."""
    return np.asarray(GridNoise().whole_numbers(runs) / float(STEPS))


GAUSSIAN = BareMechanism(
    "Gaussian noise on a number",
    Event(Gaussian(1.0)),
    _normal,
    Privacy(epsilon=2.0, delta=1e-5),
    claimed=True,
)
LAPLACE = BareMechanism(
    "Laplace noise on a number",
    Event(Laplace(1.0)),
    _laplace,
    Privacy(epsilon=2.0, delta=1e-9, accountant="pld"),
)
DISCRETE_GAUSSIAN = BareMechanism(
    "discrete Gaussian noise on a grid",
    Event(DiscreteGaussian(1.0, None, STEPS)),
    _on_grid,
    Privacy(epsilon=2.0, delta=1e-2),
)
