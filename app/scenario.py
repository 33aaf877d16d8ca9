"""A scenario: every choice on Explore as one frozen value: link, cache key and export.

Only the data itself is not in it: an upload is named, never carried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from app import hiding
from dpcore.accounting import ACCOUNTANTS, accountant
from dpcore.datasets.catalogue import BundledTable, bundled
from dpcore.datasets.corpora import BundledCorpus, corpora, is_corpus
from dpcore.evaluation.study import EPSILONS, Setting
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.schema import Schema

UPLOAD, GENERATED = "upload", "generated"


METHODS = ("exact", "zcdp", "ma", "linear", "advanced")  # ways of counting, in the order shown
MAX_COMPONENTS = 10
QUICK = 15e6  # visits of a row, as of a mixture's, for a fit that may stand at every fourth budget
WIDEST = 20  # columns of a labelled table whose classes are fitted while one waits


@dataclass(frozen=True)
class Kind:
    """How the screen speaks of a model, and how it begins with a table that says nothing of it.

    one, many: its title with one part and with more. least, most: of the parts. components,
    iterations, words: to begin with. target: it explains one. plane: its picture is a plane of two
    columns. clips: rows are clipped as such. label: its rows have a class. answer: what it explains
    is a yes or no. adjacencies: what it can protect, the usual one first. own: options of its
    recommended method. still: methods without steps. clip: to begin with. documents: it reads them,
    not rows. ghosts: its picture shows other draws. cost: what a visit of a row takes, beside one
    of a mixture's; where it is large, fewer budgets and draws must do.
    """

    one: str
    many: str = ""
    least: int = 1
    most: int = MAX_COMPONENTS
    components: int = 3
    iterations: int = 5
    words: str = ""
    target: bool = False
    plane: bool = True
    clips: bool = True
    label: bool = False
    answer: bool = False
    adjacencies: tuple[str, ...] = ("replace_one", "add_remove")
    own: tuple[tuple[str, Any], ...] = ()
    still: tuple[str, ...] = ()
    clip: float = 1.0
    documents: bool = False
    ghosts: bool = True
    cost: float = 1.0

    def reads(self, schema: Schema) -> bool:
        """Whether a table has the columns that the model reads, or there are documents for it."""
        if self.documents or schema.thing == "document":
            return self.documents and schema.thing == "document"
        target = None if schema.target is None else schema.column(schema.target)
        if self.answer:
            return target is not None and (target.type == "binary" or len(target.categories) == 2)
        if self.label:
            return schema.label is not None and len(schema.features) <= WIDEST
        return not self.target or (target is not None and target.type == "number")


def _coefficients(title: str, *, target: bool) -> Kind:
    """A gradient model; in a table that is not made for it, it sees shares of the limits."""
    return Kind(
        title,
        most=1,
        components=1,
        iterations=10,
        words="sigma:0.3;own:0",
        target=target,
        plane=not target,
        clips=False,
    )


MODELS = {
    "gmm": Kind("One Gaussian", "Gaussian mixture, {} groups"),
    "kmeans": Kind("k-means, 1 centre", "k-means, {} centres", least=2),
    "fa": Kind(
        "Factor analysis, 1 factor", "Factor analysis, {} factors",
        components=1, iterations=20, plane=False, ghosts=False,
    ),
    "symmetric-mixture": _coefficients("Two mirrored clouds", target=False),
    "mixture-regression": _coefficients("Two opposite lines", target=True),
    "missing-regression": _coefficients("Regression with gaps", target=True),
    "gmm-release": Kind(
        "Classes, one Gaussian each", most=1, components=1, label=True,
        adjacencies=("label", "replace_one", "add_remove", "feature"),
        own=(("method", "staged"),),
        still=("recommended", "public_shapes", "plain_gaussian", "plain_laplace", "least_trace"),
    ),
    "logistic": Kind(
        "Yes or no (logistic regression)", most=1, components=1, iterations=10,
        target=True, plane=False, clips=False, answer=True,
        adjacencies=("replace_one", "add_remove", "label"),
        still=("recommended", "objective", "dpvi"),
    ),
    "lda": Kind(
        "One list of words", "{} topics", iterations=10, words="rate:1;length:100;forgetting:0.3",
        plane=False, clip=0.1, documents=True, ghosts=False, cost=150.0,
    ),
    "sbn": Kind(
        "Belief network, 1 hidden unit", "Belief network, {} hidden units", components=4,
        iterations=10, words="rate:1;forgetting:0.2", plane=False, clip=0.3, ghosts=False,
        cost=15.0,
    ),
}  # fmt: skip
SAMPLED = ("lda", "sbn")  # their steps may read samples
GRADIENT = ("symmetric-mixture", "mixture-regression", "missing-regression")
MIRRORED = GRADIENT[:2]


@dataclass(frozen=True)
class Recipe:
    """A named way of fitting: what a reader picks as *Method*.

    models: those it is for. ways: how its cost can be counted. algorithm: ``None`` for the model's
    own. words: pairs of further options, which nobody can change. adjacencies: what it protects;
    empty: in paper mode the replacement of a row, else whatever the model can. cost: of a visit of
    a row, beside the model's usual one.
    """

    title: str
    badge: str
    mode: str
    models: tuple[str, ...]
    ways: tuple[str, ...] = METHODS
    combination: str = "GGG"
    algorithm: str | None = None
    words: tuple[tuple[str, Any], ...] = ()
    adjacencies: tuple[str, ...] = ()
    cost: float = 1.0


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
    "robust_means": Recipe(
        "Robust means", "as published", "paper", GRADIENT, ("zcdp",), algorithm="robust"
    ),
    "robust_means_exact": Recipe(
        "Robust means, all rows in every step", "proved", "proved", GRADIENT, algorithm="robust"
    ),
    "vips_sums": Recipe(
        "VIPS", "as published", "paper", SAMPLED, ("wbk27", "advanced"), words=(("delay", 1.0),)
    ),
    "clipped_at_1": Recipe(
        "Clipping at 1", "as published", "paper", GRADIENT, ("zcdp",),
        algorithm="clipped", words=(("threshold", 1.0),),
    ),
    "public_shapes": Recipe(
        "Shapes of the public columns", "proved", "proved", ("gmm-release",),
        words=(("method", "public_features"),), adjacencies=("label",),
    ),
    "plain_gaussian": Recipe(
        "Plain Gaussian noise", "proved", "proved", ("gmm-release",),
        words=(("method", "gaussian"),),
    ),
    "plain_laplace": Recipe(
        "Plain Laplace noise", "proved", "proved", ("gmm-release",), ("linear",),
        words=(("method", "laplace"),),
    ),
    "least_trace": Recipe(
        "Noise shaped by the rows", "as published", "paper", ("gmm-release",), ("linear",),
        words=(("method", "paper"),), adjacencies=("label",),
    ),
    "vips": Recipe(
        "VIPS", "as published", "paper", ("logistic",), ("ma", "zcdp", "advanced", "linear"),
        algorithm="vips", words=(("rate", 1.0), ("delay", 0.0)),
    ),
    "vips_proved": Recipe(
        "Steps of VIPS", "proved", "proved", ("logistic",), algorithm="vips",
        words=(("rate", 1.0),),
    ),
    "objective": Recipe(
        "Noise in the objective", "proved", "proved", ("logistic",), ("linear",),
        algorithm="objective", adjacencies=("replace_one", "add_remove"),
    ),
    "dpvi": Recipe(
        "Noise in the gradients (DPVI)", "proved", "proved", ("logistic",), algorithm="dpvi",
        words=(("rate", 1.0), ("iterations", 50)), adjacencies=("replace_one", "add_remove"),
        cost=40.0,
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
        return differences(self, replace(first, data=Scenario.data), _written)

    def as_link(self) -> str:
        """The same as one string, for ``dpcore explore "..."``."""
        return urlencode(self.as_query(), safe=",")


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


def model_title(model: str, parts: int) -> str:
    """A model with its number of parts, in the words of the screen.

    >>> model_title("kmeans", 4), model_title("gmm", 1)
    ('k-means, 4 centres', 'One Gaussian')
    """
    kind = MODELS[model]
    return kind.one if parts == 1 else kind.many.format(parts)


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


@dataclass(frozen=True)
class Choice:
    """A setting that few models have: an option of :func:`dpcore.fit`, and how to ask for it.

    usual: from the other settings and the number of columns, what it is unless said. low, high,
    step, form: of its box; a choice without them is between two. methods: with which it is offered;
    empty: with all.
    """

    label: str
    help: str
    models: tuple[str, ...]
    usual: Callable[[Mapping[str, Any], int], Any]
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    form: str = ""
    methods: tuple[str, ...] = ()
    whole: bool = False

    def suits(self, model: str, method: str) -> bool:
        """Whether it is offered."""
        return model in self.models and (not self.methods or method in self.methods)

    def read(self, text: str) -> Any:
        """What a link says, or ``None`` where that cannot be."""
        if not self.form:
            return {"0": False, "1": True}.get(text)
        value = _read("", 0 if self.whole else 0.0, text)
        return value if value is not None and self.low <= value <= self.high else None


def _tau(known: Mapping[str, Any]) -> float:
    return float(known.get("tau", 4.0 * known.get("sigma", 1.0) ** 2))


CHOICES = {
    "sigma": Choice(
        "Noise level of the model",
        "How far rows lie from a cloud or a line. The model takes it as known, so it must be known "
        "from elsewhere, never from these rows.",
        GRADIENT, lambda known, columns: 1.0, 0.001, 1e6, 0.5, "%.4g",
    ),
    "tau": Choice(
        "Public bound on a gradient's mean square",
        "How strongly one row may pull at one coefficient, squared and on average; 4 times the "
        "squared noise level unless you know better. A wrong one hurts the fit, never privacy.",
        GRADIENT, lambda known, columns: _tau(known), 1e-6, 1e12, 1.0, "%.4g",
    ),
    "threshold": Choice(
        "Longest pull that counts fully",
        "A row that pulls harder at the coefficients is drawn in to this length: less noise is "
        "needed, but strong pulls count less.",
        GRADIENT, lambda known, columns: math.sqrt(columns * _tau(known)), 1e-6, 1e6, 1.0, "%.4g",
        ("recommended",),
    ),
    "missing_rate": Choice(
        "Share of the answers to hide on top",
        "A coin that reads no answer hides so many of those that are there.",
        GRADIENT[2:], lambda known, columns: 0.0, 0.0, 0.9, 0.05, "%.2f",
    ),
    "start": Choice(
        "Start",
        "Which of the public random starts: none of them knows the rows.",
        MIRRORED, lambda known, columns: 0, 0, 999, 1, "%d", whole=True,
    ),
    "start_norm": Choice(
        "How far from 0 it starts",
        "Gradient EM finds the answer only from a start that is near enough, and not too near 0.",
        MIRRORED, lambda known, columns: float(known.get("sigma", 1.0)), 1e-3, 1e6, 0.5, "%.4g",
    ),
    "rate": Choice(
        "Share of the data in a step",
        "Below 1 each step reads a secret sample: less noise a step, but less to learn from. "
        "Samples take up to half a minute to count.",
        SAMPLED, lambda known, columns: 0.25, 0.01, 1.0, 0.05, "%.2f",
    ),
    "length": Choice(
        "Words that a document stands for",
        "Every document counts as so many words, however long it is.",
        SAMPLED[:1], lambda known, columns: 500, 1, 100_000, 50, "%d", whole=True,
    ),
    "forgetting": Choice(
        "How fast earlier steps are forgotten",
        "Small: each step begins almost anew. Large: steps are averaged, which evens out noise.",
        SAMPLED, lambda known, columns: 0.6, 0.01, 1.0, 0.1, "%.2f",
    ),
    "own": Choice(
        "Measured in the columns' own units, about 0",
        "Otherwise in shares of the limits, about their middle.",
        GRADIENT, lambda known, columns: True,
    ),
}  # fmt: skip


def read_words(text: str) -> dict[str, Any]:
    """Options written ``name:value;name:value``, in one order; others are left out.

    >>> read_words("tau:9;sigma:1.5;rate:x;own:0")
    {'sigma': 1.5, 'tau': 9.0, 'own': False}
    """
    given = dict(part.split(":", 1) for part in text.split(";") if ":" in part)
    read = {name: one.read(given[name]) for name, one in CHOICES.items() if name in given}
    return {name: value for name, value in read.items() if value is not None}


def write_words(words: Mapping[str, Any]) -> str:
    """The same back as text.

    >>> write_words({"sigma": 1.5, "own": False})
    'sigma:1.5;own:0'
    """
    return ";".join(f"{name}:{_written(words[name])}" for name in CHOICES if name in words)


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
