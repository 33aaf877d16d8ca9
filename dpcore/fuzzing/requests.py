"""What is fitted: each model in every way that has a proof, with noise of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.declaration import declaration
from dpcore.fuzzing.cells import pick
from dpcore.fuzzing.ways import Way
from dpcore.privacy import Privacy
from dpcore.registry import MODELS

MODEL_NAMES = tuple(MODELS)


def ways_of(model: str) -> tuple[Way, ...]:
    """The ways that a model's folder lists."""
    declared = declaration(model)
    ways: tuple[Way, ...] = declared.load(declared.fuzz)
    return ways


@dataclass(frozen=True)
class FitRequest:
    """One fit: the model, its options, the request, and the seed of all that is forced."""

    model: str
    options: dict[str, Any]
    privacy: Privacy
    seed: int
    on_grid: bool = False
    rehearsal: bool = True


def random_fit(rng: np.random.Generator, model: str, way: Way) -> FitRequest:
    """Options and a request: at noises from next to none to much more than there are rows."""
    parts = 1 if way.most == 1 else int(rng.integers(1, way.most + 1))
    options = {**way.words, "n_components": parts}
    if way.steps and "iterations" not in options:
        options["iterations"] = int(rng.integers(1, 4))
    if rng.random() < 0.4:
        options["clip"] = float(10.0 ** rng.uniform(-1.5, 0.0))
    options.update({name: draw(rng) for name, draw in way.drawn.items()})
    adjacency = pick(rng, way.adjacencies)
    size = float(10.0 ** rng.uniform(-1.5, 2.5))
    budget: dict[str, Any] = {"noise_multiplier": size}
    if way.budget:
        budget = {"epsilon": 1.0 / size, "delta": 1e-5, "accountant": "linear"}
    return FitRequest(
        model,
        options,
        Privacy(adjacency=adjacency, **budget),
        seed=int(rng.integers(1 << 32)),
        on_grid=way.grid and rng.random() < 0.3,
        rehearsal=bool(rng.integers(2)),
    )
