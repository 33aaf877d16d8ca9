"""A scenario: every choice on Explore as one frozen value: link, cache key and export.

Only the data itself is not in it: an upload is named, never carried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from dpcore.accounting import ACCOUNTANTS, accountant
from dpcore.datasets.catalogue import bundled
from dpcore.evaluation.study import Setting

UPLOAD, GENERATED = "upload", "generated"


METHODS = ("exact", "zcdp", "ma", "linear", "advanced")  # ways of counting, in the order shown
MAX_COMPONENTS = 10
MODELS = {  # name -> its parts, one and many, and the fewest of them
    "gmm": ("One Gaussian", "Gaussian mixture, {} groups", 1),
    "kmeans": ("k-means, 1 centre", "k-means, {} centres", 2),
    "fa": ("Factor analysis, 1 factor", "Factor analysis, {} factors", 1),
}


@dataclass(frozen=True)
class Recipe:
    """A named way of fitting: what a reader picks as *Method*.

    models: those it is for. ways: how its cost can be counted.
    """

    title: str
    badge: str
    mode: str
    models: tuple[str, ...]
    ways: tuple[str, ...] = METHODS
    combination: str = "GGG"
    algorithm: str = "proved"


# No paper claims anything by exact counting.
RECIPES = {
    "recommended": Recipe("Recommended", "proved", "proved", tuple(MODELS)),
    "dpem_gaussian": Recipe(
        "DP-EM with Gaussian noise", "as published", "paper", ("gmm",), METHODS[1:]
    ),
    "dpem_laplace": Recipe(
        "DP-EM with Laplace and Gaussian noise", "as published", "paper", ("gmm",), METHODS[1:],
        combination="LLG",
    ),
    "dplloyd": Recipe(
        "DPLloyd", "as published", "paper", ("kmeans",), ("linear", "zcdp"), algorithm="dplloyd"
    ),
    "dpem_kmeans": Recipe(
        "DP-EM's k-means", "as published", "paper", ("kmeans",), ("zcdp", "linear"),
        algorithm="paper",
    ),
    "dpem_kmeans_paid": Recipe(
        "DP-EM's k-means, its counts paid for", "proved", "proved", ("kmeans",), METHODS[1:],
        algorithm="paper",
    ),
    "dpem_factors": Recipe(
        "DP-EM's factor analysis", "as published", "paper", ("fa",), ("linear",)
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Scenario:
    """The choices. Defaults are those of the first screen."""

    data: str = "three_groups"
    model: str = "gmm"
    components: int = 3
    method: str = "recommended"
    count_by: str = "exact"
    epsilon: float = 1.0
    delta: float = 0.00001
    clip: float = 1.0
    iterations: int = 5
    covariance: str = "full"
    pool: int = 1
    adjacency: str = "replace_one"
    rows_per_person: int = 1
    noise: int = 7
    x: int = 0
    y: int = 1
    without: bool = False
    made: str = "5000x2x3x0"
    hide: str = ""

    def setting(self, secret: bytes = b"") -> Setting:
        """The study's setting; methods that a recipe cannot count by fall back to one it can."""
        recipe = RECIPES[self.method]
        return Setting(
            model=self.model,
            components=self.components,
            iterations=self.iterations,
            covariance=self.covariance,
            mode=recipe.mode,
            combination=recipe.combination,
            algorithm=recipe.algorithm,
            accountant=self.count_by,
            delta=self.delta,
            adjacency=self.adjacency,
            rows_per_person=self.rows_per_person,
            clip=self.clip,
            seed=self.noise,
            secret=secret,
        )

    def methods(self) -> tuple[str, ...]:
        """Ways of counting that the recipe has, the usual one first."""
        return RECIPES[self.method].ways

    def recipes(self) -> dict[str, Recipe]:
        """The recipes of the model."""
        return {name: recipe for name, recipe in RECIPES.items() if self.model in recipe.models}

    def as_query(self) -> dict[str, str]:
        """What differs from the table's opening, as it stands in a link."""
        first = opening(self.data)
        if self.model != first.model:
            first = replace(opening(self.data, self.model), model=first.model)
        return differences(self, replace(first, data=Scenario.data), _written)

    def as_link(self) -> str:
        """The same as one string, for ``dpcore explore "..."``."""
        return urlencode(self.as_query())


def differences(choices: Any, default: Any, written: Callable[[Any], str]) -> dict[str, str]:
    """The fields in which choices differ from the default, as a link writes them."""
    return {
        f.name: written(getattr(choices, f.name))
        for f in fields(choices)
        if getattr(choices, f.name) != getattr(default, f.name)
    }


@dataclass(frozen=True)
class Made:
    """A table to generate: rows, columns, groups and the seed of the draw."""

    rows: int = 5000
    columns: int = 2
    groups: int = 3
    seed: int = 0

    @classmethod
    def parse(cls, text: str) -> Made:
        """Read ``rows x columns x groups x seed``; anything else gives the default."""
        parts = text.split("x")
        if len(parts) != 4 or not all(part.isdecimal() and len(part) < 9 for part in parts):
            return cls()
        rows, columns, groups, seed = map(int, parts)
        fits = 20 <= rows <= 200_000 and 2 <= columns <= 20 and 1 <= groups <= 10 and seed < 10**6
        return cls(rows, columns, groups, seed) if fits else cls()

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}x{self.groups}x{self.seed}"


def opening(data: str, model: str | None = None) -> Scenario:
    """The scenario with which a table opens: the model, parts, shapes and steps that suit it.

    model: one that the reader wants [the table's own].
    """
    known = next((table for table in bundled() if table.name == data), None)
    suits = () if known is None else known.openings
    first = next((one for one in suits if model in (None, one.model)), None)
    if first is None:
        chosen = model or Scenario.model
        if chosen == "fa":
            return Scenario(data=data, model=chosen, components=1, iterations=20)
        return Scenario(data=data, model=chosen)
    return Scenario(
        data=data,
        model=first.model,
        components=first.components,
        iterations=first.iterations,
        covariance=first.covariance,
        pool=first.pool,
    )


def model_title(model: str, parts: int) -> str:
    """A model with its number of parts, in the words of the screen.

    >>> model_title("kmeans", 4), model_title("gmm", 1)
    ('k-means, 4 centres', 'One Gaussian')
    """
    one, many, _ = MODELS[model]
    return one if parts == 1 else many.format(parts)


def method_title(name: str) -> str:
    """A way of counting in the words of the screen."""
    return accountant(name).title


def from_query(query: Mapping[str, str], data_names: Mapping[str, Any]) -> Scenario:
    """The scenario of a link; a word that is not understood leaves the default in place."""
    data, model = query.get("data", Scenario.data), query.get("model")
    scenario = opening(
        data if _allowed("data", data, data_names) else Scenario.data,
        model if model in MODELS else None,
    )
    for field in fields(Scenario):
        if field.name in query and field.name not in ("data", "model"):
            value = _read(field.name, getattr(scenario, field.name), query[field.name])
            if value is not None and _allowed(field.name, value, data_names):
                scenario = replace(scenario, **{field.name: value})
    return sane(scenario)


def sane(scenario: Scenario) -> Scenario:
    """The scenario with choices that cannot stand together brought in line."""
    if scenario.method not in scenario.recipes():
        scenario = replace(scenario, method="recommended")
    least = MODELS[scenario.model][2]
    if scenario.components < least:
        scenario = replace(scenario, components=least)
    methods = scenario.methods()
    if scenario.count_by not in methods:
        scenario = replace(scenario, count_by=methods[0])
    if RECIPES[scenario.method].mode == "paper" and scenario.adjacency != "replace_one":
        scenario = replace(scenario, adjacency="replace_one")
    if scenario.x == scenario.y:
        scenario = replace(scenario, x=0, y=1)
    return scenario


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else f"{value}"


def _read(name: str, default: Any, text: str) -> Any:
    try:
        if isinstance(default, bool):
            return text == "1"
        return type(default)(text)
    except ValueError:
        return None


_RANGES = {
    "components": (1, MAX_COMPONENTS),
    "epsilon": (0.01, 100.0),
    "delta": (1e-12, 0.5),
    "clip": (0.1, 1.0),
    "iterations": (1, 50),
    "pool": (1, 64),
    "rows_per_person": (1, 1000),
    "noise": (0, 10**6),
    "x": (0, 999),
    "y": (0, 999),
}
_WORDS: dict[str, tuple[str, ...]] = {
    "method": tuple(RECIPES),
    "count_by": tuple(m for m in METHODS if m in ACCOUNTANTS),
    "covariance": ("full", "diag", "spherical"),
    "adjacency": ("replace_one", "add_remove"),
}


def _allowed(name: str, value: Any, data_names: Mapping[str, Any]) -> bool:
    if name == "data":
        return value in data_names
    if name in _WORDS:
        return value in _WORDS[name]
    if name in _RANGES:
        low, high = _RANGES[name]
        return bool(low <= value <= high)
    return True
