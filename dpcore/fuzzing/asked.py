"""What is fitted: each model in every way that has a proof, with noise of any size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcore.fuzzing.schemas import Needs
from dpcore.privacy import Privacy
from dpcore.registry import MODELS

ROWS = ("replace_one", "add_remove")
ALL = ("replace_one", "add_remove", "label", "feature")
ONE = ("replace_one",)
LABEL, YES, NUMBER = Needs("label"), Needs("yes"), Needs("number", own=True)
PLAIN, OWN, GAPS = Needs(), Needs(own=True), Needs("number", own=True, gaps=True)
MODEL_NAMES = tuple(MODELS)


@dataclass(frozen=True)
class Way:
    """A way to fit a model: its own words, whom it can protect, and what rows it needs.

    grid: it can be a release, whose sums and noise are whole numbers. blocks: its rows may be read
    in blocks. budget: it takes an epsilon and no noise multiplier, counted by ``linear``. sampled:
    its steps draw samples, of which the price is known for one row a person.
    """

    words: dict[str, Any] = field(default_factory=dict)
    adjacencies: tuple[str, ...] = ROWS
    needs: Needs = PLAIN
    grid: bool = False
    blocks: bool = False
    budget: bool = False
    sampled: bool = False


WAYS: dict[str, tuple[Way, ...]] = {
    "gmm": (
        Way({"covariance": "full"}, grid=True, blocks=True),
        Way({"covariance": "diag"}, grid=True, blocks=True),
        Way({"covariance": "spherical", "prior": "map"}, grid=True, blocks=True),
        Way({"combination": "LLG"}, blocks=True),
    ),
    "kmeans": (
        Way({}, grid=True, blocks=True),
        Way({"algorithm": "dplloyd"}, blocks=True),
    ),
    "fa": (Way({"iterations": 5}, grid=True, blocks=True),),
    "symmetric-mixture": (
        Way({"algorithm": "clipped"}, needs=OWN, grid=True),
        Way({"algorithm": "robust"}, needs=OWN, grid=True),
        Way({"algorithm": "clipped", "split": True}, needs=OWN),
        Way({"algorithm": "clipped", "own": False}),
    ),
    "mixture-regression": (
        Way({"algorithm": "clipped"}, needs=NUMBER, grid=True),
        Way({"algorithm": "robust"}, needs=NUMBER, grid=True),
        Way({"algorithm": "robust", "split": True}, needs=NUMBER),
        Way({"algorithm": "clipped", "own": False}, needs=Needs("number")),
    ),
    "missing-regression": (
        Way({"algorithm": "clipped"}, needs=GAPS, grid=True),
        Way({"algorithm": "robust", "missing_rate": 0.2}, needs=GAPS),
        Way({"algorithm": "robust", "split": True}, needs=GAPS),
        Way({"algorithm": "clipped", "own": False}, needs=Needs("number", gaps=True)),
    ),
    "mean": (
        Way({"rows": 30}, grid=True),
        Way({"rows": 30, "method": "improved"}),
        Way({"trust": "local"}, ONE),
        Way({"trust": "local", "method": "improved"}, ONE),
        Way({"trust": "local_onebit"}, ONE, budget=True),
    ),
    "lda": (
        Way({"rate": 1.0}),
        Way({"rate": 0.4}, sampled=True),
        Way({"minibatch": 3}, ONE, sampled=True),
        Way({"rate": 1.0, "keep": 2}),
    ),
    "gmm-release": (
        Way({"method": "staged"}, ALL, LABEL, grid=True),
        Way({"method": "auto"}, ALL, LABEL),
        Way({"method": "pooled"}, ALL, LABEL, grid=True),
        Way({"method": "gaussian"}, ALL, LABEL, grid=True),
        Way({"method": "laplace"}, ALL, LABEL),
        Way({"method": "public_features"}, ("label",), LABEL, grid=True),
        Way({"method": "mte"}, ("label",), LABEL),
        Way({"method": "colored"}, ("label",), LABEL),
    ),
    "logistic": (
        Way({}, (*ROWS, "label"), YES, grid=True),
        Way({"algorithm": "objective"}, (*ROWS, "label"), YES, budget=True),
        Way({"algorithm": "vb", "iterations": 2}, ROWS, YES, grid=True),
        Way({"algorithm": "vips", "rate": 1.0, "iterations": 2}, ROWS, YES, grid=True),
        Way({"algorithm": "vips", "rate": 0.4, "iterations": 3}, ROWS, YES, sampled=True),
        Way({"algorithm": "vips", "minibatch": 4, "iterations": 3}, ONE, YES, sampled=True),
        Way({"algorithm": "dpvi", "rate": 1.0, "iterations": 2}, ROWS, YES),
        Way({"algorithm": "dpvi", "rate": 0.4, "iterations": 3}, ROWS, YES, sampled=True),
    ),
    "sbn": (
        Way({"rate": 1.0}, grid=True),
        Way({"rate": 0.4}, sampled=True),
        Way({"minibatch": 3}, ONE, sampled=True),
    ),
    "bernoulli": (Way({}, needs=Needs(box=True), grid=True, blocks=True),),
    "poisson": (Way({}, needs=Needs(box=True, counts=True), grid=True, blocks=True),),
}
STEPPED = (
    *("gmm", "kmeans", "symmetric-mixture", "mixture-regression", "missing-regression"),
    *("bernoulli", "poisson"),
)


@dataclass(frozen=True)
class Asked:
    """One fit: the model, its options, the request, and the seed of all that is forced."""

    model: str
    options: dict[str, Any]
    privacy: Privacy
    seed: int
    on_grid: bool = False
    rehearsal: bool = True


def random_way(rng: np.random.Generator, model: str) -> Way:
    """One of a model's ways."""
    ways = WAYS[model]
    return ways[int(rng.integers(len(ways)))]


def random_fit(rng: np.random.Generator, model: str, way: Way) -> Asked:
    """Options and a request: at noises from next to none to much more than there are rows."""
    options = {**way.words, "n_components": 1 if model == "fa" else int(rng.integers(1, 4))}
    if model in (*STEPPED, "lda", "sbn") and "iterations" not in options:
        options["iterations"] = int(rng.integers(1, 4))
    if rng.random() < 0.4:
        options["clip"] = float(10.0 ** rng.uniform(-1.5, 0.0))
    if model == "lda":
        options["length"] = int(rng.choice([1, 10, 500]))
    if model == "symmetric-mixture" or options.get("own") is True:
        options["sigma"] = float(10.0 ** rng.uniform(-1.0, 1.0))
    adjacency = way.adjacencies[int(rng.integers(len(way.adjacencies)))]
    size = float(10.0 ** rng.uniform(-1.5, 2.5))
    budget: dict[str, Any] = {"noise_multiplier": size}
    if way.budget:
        budget = {"epsilon": 1.0 / size, "delta": 1e-5, "accountant": "linear"}
    return Asked(
        model,
        options,
        Privacy(adjacency=adjacency, **budget),
        seed=int(rng.integers(1 << 32)),
        on_grid=way.grid and rng.random() < 0.3,
        rehearsal=bool(rng.integers(2)),
    )
