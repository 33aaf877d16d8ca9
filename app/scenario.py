"""A scenario: every choice on Explore as one frozen value: link, cache key and export.

Only the data itself is not in it: an upload is named, never carried.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from app import hiding
from app.choices import CHOICES, read_words, write_words
from app.links import differences, read, written
from app.models import MAX_COMPONENTS, METHODS, MODELS, RECIPES, SAMPLED, Recipe
from dpcore.accounting import ACCOUNTANTS
from dpcore.datasets.catalogue import BundledTable, bundled
from dpcore.datasets.corpora import BundledCorpus, corpora, is_corpus
from dpcore.evaluation.study import EPSILONS, Setting
from dpcore.privacy.adjacency import ADJACENCIES

UPLOAD, GENERATED = "upload", "generated"
QUICK = 15e6  # visits of a row, as of a mixture's, for a fit that may stand at every fourth budget


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
    words: str = ""
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
            words=tuple({**read_words(self.words), **dict(self._own())}.items()),
            accountant=self.count_by,
            delta=self.delta,
            adjacency=self.adjacency,
            rows_per_person=self.rows_per_person,
            clip=self.clip,
            seed=self.noise,
            secret=secret,
        )

    def _own(self) -> tuple[tuple[str, Any], ...]:
        """Options of the method that nobody can change."""
        kind, recipe = MODELS[self.model], RECIPES[self.method]
        return kind.own if self.method == "recommended" else recipe.words

    @property
    def steps(self) -> bool:
        """Whether the method takes steps, and as many as one says."""
        return "iterations" in self.setting().options() and "iterations" not in dict(self._own())

    def adjacencies(self) -> tuple[str, ...]:
        """What the method can protect, the usual first."""
        recipe = RECIPES[self.method]
        published = ("replace_one",) if recipe.mode == "paper" else ()
        return recipe.adjacencies or published or MODELS[self.model].adjacencies

    def methods(self) -> tuple[str, ...]:
        """Ways of counting that the recipe has, the usual one first; on samples that one alone."""
        ways = RECIPES[self.method].ways
        share = read_words(self.words).get("rate", 0.25) if self.model in SAMPLED else 1.0
        return ways if share >= 1.0 or RECIPES[self.method].mode == "paper" else ways[:1]

    def recipes(self) -> dict[str, Recipe]:
        """The recipes of the model."""
        return {name: recipe for name, recipe in RECIPES.items() if self.model in recipe.models}

    def budgets(self, rows: int | None) -> tuple[float, ...]:
        """The slider's positions: all where fits are quick, down to seven over two decades."""
        if self.cost == 1.0:
            return EPSILONS
        return EPSILONS[2 :: 4 if self.visits(rows) <= QUICK else 8]

    @property
    def cost(self) -> float:
        """Of a visit of a row, as if of a mixture's."""
        return MODELS[self.model].cost * RECIPES[self.method].cost

    def visits(self, rows: int | None) -> float:
        """Visits of a row in one fit, as if of a mixture's."""
        return self.cost * (rows or 10_000) * self.iterations * self.components

    def as_query(self) -> dict[str, str]:
        """What differs from the table's opening, as it stands in a link."""
        first = opening(self.data)
        if self.model != first.model:
            first = replace(opening(self.data, self.model), model=first.model)
        return differences(self, replace(first, data=Scenario.data), written)

    def as_link(self) -> str:
        """The same as one string, for ``dpcore explore "..."``."""
        return urlencode(self.as_query(), safe=",")


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


def offered() -> tuple[BundledTable | BundledCorpus, ...]:
    """What a reader can pick: tables, then collections of documents."""
    return *bundled(), *corpora()


def opening(data: str, model: str | None = None) -> Scenario:
    """The scenario with which a table opens: the model, parts, shapes and steps that suit it, and
    a delta below one over its rows.

    model: one that the reader wants [the table's own].
    """
    known = next((table for table in offered() if table.name == data), None)
    suits = () if known is None else known.openings
    first = next((one for one in suits if model in (None, one.model)), None)
    if known is None or first is None:
        chosen = model or Scenario.model
        kind = MODELS[chosen]
        return Scenario(
            data=data,
            model=chosen,
            components=kind.components,
            iterations=kind.iterations,
            words=kind.words,
            clip=kind.clip,
            adjacency=kind.adjacencies[0],
        )
    return Scenario(
        data=data,
        model=first.model,
        components=first.components,
        iterations=first.iterations,
        covariance=first.covariance,
        words=write_words(dict(first.words)),
        epsilon=first.epsilon,
        pool=first.pool,
        clip=MODELS[first.model].clip,
        adjacency=MODELS[first.model].adjacencies[0],
        delta=min(Scenario.delta, 10.0 ** -math.ceil(math.log10(known.rows + 1))),
    )


def from_query(query: Mapping[str, str], data_names: Mapping[str, Any]) -> Scenario:
    """The scenario of a link; a word that is not understood leaves the default in place."""
    data, model = query.get("data", Scenario.data), query.get("model")
    scenario = opening(
        data if _allowed("data", data, data_names) else Scenario.data,
        model if model in MODELS else None,
    )
    for field in fields(Scenario):
        if field.name in query and field.name not in ("data", "model"):
            value = read(getattr(scenario, field.name), query[field.name])
            if value is not None and _allowed(field.name, value, data_names):
                scenario = replace(scenario, **{field.name: value})
    return sane(scenario)


def sane(scenario: Scenario) -> Scenario:
    """The scenario with choices that cannot stand together brought in line."""
    if MODELS[scenario.model].documents != is_corpus(scenario.data):
        first = opening(scenario.data)
        scenario = replace(
            first, epsilon=scenario.epsilon, noise=scenario.noise, hide=scenario.hide
        )
    if scenario.method not in scenario.recipes():
        scenario = replace(scenario, method="recommended")
    kind = MODELS[scenario.model]
    parts = min(max(scenario.components, kind.least), kind.most)
    known = {
        name: value
        for name, value in read_words(scenario.words).items()
        if CHOICES[name].suits(scenario.model, scenario.method)
    }
    scenario = replace(scenario, components=parts, words=write_words(known))
    methods = scenario.methods()
    if scenario.count_by not in methods:
        scenario = replace(scenario, count_by=methods[0])
    if scenario.adjacency not in scenario.adjacencies():
        scenario = replace(scenario, adjacency=scenario.adjacencies()[0])
    if not kind.clips:
        scenario = replace(scenario, clip=1.0)
    if scenario.x == scenario.y:
        scenario = replace(scenario, x=0, y=1)
    return replace(scenario, hide=hiding.known("explore", scenario.hide))


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
    "count_by": tuple(m for m in (*METHODS, "wbk27") if m in ACCOUNTANTS),
    "covariance": ("full", "diag", "spherical"),
    "adjacency": ADJACENCIES,
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
