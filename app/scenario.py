"""A scenario: every choice on Explore as one frozen value: link, cache key and export.

Only the data itself is not in it: an upload is named, never carried.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlencode

from app import links
from app.choices import FIELDS, dials, read_words, value_of, write_words
from app.links import Reader, all_of, among, between, chosen, differences, pins_among, written
from app.spoilers import hideable
from app.texts import explore as texts
from dpcore.accounting import ACCOUNTANTS, accountant
from dpcore.checks import listed
from dpcore.datasets.catalogue import BundledCorpus, BundledTable, bundled
from dpcore.datasets.corpora import corpora
from dpcore.datasets.documents import is_documents
from dpcore.datasets.published import address, present
from dpcore.declaration import (
    MOST_COMPONENTS,
    Method,
    Model,
    declaration,
    declarations,
)
from dpcore.errors import InputError
from dpcore.evaluation.study import EPSILONS, Setting
from dpcore.options import Dial, Slide
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.registry import FIRST

UPLOAD, GENERATED = "upload", "generated"
LISTED = 10  # numbers of parts in the list of models; more are typed
NOT_PINNED = (
    "data",
    "made",
    "dial",
    "third",
    "show",
    "x",
    "y",
    "hide",
    "pins",
)  # of the table, or of the view
PARTS = "components"  # the dial of a model's number of parts, where it has a choice
SHARED = ("noise_multiplier", "fitted_rows", "rows_per_person", PARTS)  # dials of every model
QUICK = 15e6  # visits of a row, as of a mixture's, for a fit that may stand at every fourth budget


@dataclass(frozen=True)
class Scenario:
    """The choices. Defaults are those of the first screen. fitted_rows: drawn by a public coin; 0
    for all."""

    data: str = "three_groups"
    model: str = FIRST
    components: int = 3
    method: str = "recommended"
    count_by: str = "exact"
    epsilon: float = 1.0
    delta: float = 0.00001
    clip: float = 1.0
    iterations: int = 5
    covariance: str = "full"
    words: str = ""
    metric: str = ""
    show: str = ""
    pool: int = 1
    adjacency: str = "replace_one"
    rows_per_person: int = 1
    fitted_rows: int = 0
    noise: int = 7
    x: int = 0
    y: int = 1
    without: bool = False
    dial: str = "epsilon"
    third: str = ""
    made: str = "5000x2x3x0"
    hide: str = ""
    pins: str = ""

    def setting(self, secret: bytes = b"") -> Setting:
        """The study's setting; methods that a recipe cannot count by fall back to one it can."""
        recipe = self.recipe
        return Setting(
            model=self.model,
            components=self.components,
            iterations=self.iterations,
            covariance=self.covariance,
            mode=recipe.mode,
            combination=recipe.combination,
            algorithm=recipe.algorithm,
            words=tuple({**dict(recipe.words), **read_words(self.words)}.items()),
            accountant=self.count_by,
            delta=self.delta,
            adjacency=self.adjacency,
            rows_per_person=self.rows_per_person,
            clip=self.clip,
            seed=self.noise,
            secret=secret,
            metric=self.declared.metric(self.metric),
        )

    @property
    def declared(self) -> Model:
        """The model's declaration."""
        return declaration(self.model)

    @property
    def title(self) -> str:
        """The model with its number of parts, in the words of the screen."""
        return self.declared.titled(self.components)

    @property
    def recipe(self) -> Method:
        """The method, as the model declares it."""
        return self.declared.method(self.method)

    @property
    def steps(self) -> bool:
        """Whether the method takes steps, and as many as one says."""
        fixed = dict(self.recipe.words)
        return "iterations" in self.setting().options() and "iterations" not in fixed

    def adjacencies(self) -> tuple[str, ...]:
        """What the method can protect, the usual first."""
        published = ("replace_one",) if self.recipe.mode == "paper" else ()
        return self.recipe.adjacencies or published or self.declared.adjacencies

    def methods(self) -> tuple[str, ...]:
        """Composition methods to pick from: all that cover the fit, the usual one first."""
        refused = self.refused()
        return tuple(way for way in self._ways() if way not in refused)

    def refused(self) -> dict[str, str]:
        """The other composition methods, and why each does not cover the fit."""
        recipe = self.recipe
        if recipe.mode == "paper":
            titles = [accountant(way).title for way in recipe.accountants]
            why = texts.as_published(listed(titles, "or"))
            return {way: why for way in self._ways() if way not in recipe.accountants}
        setting = replace(self.setting(), accountant="", metric="", clip=1.0, delta=1e-5, seed=0)
        return _refused(setting, self._ways())

    def _ways(self) -> tuple[str, ...]:
        """Every composition method, the usual ones first; of samples "exact" is "pld"."""
        ways = dict.fromkeys((*self.recipe.accountants, *ACCOUNTANTS))
        if self.on_samples:
            ways.pop("pld")
        return tuple(ways)

    def compared_methods(self) -> tuple[str, ...]:
        """Composition methods that have a curve whichever is picked."""
        ways = tuple(way for way in self.methods() if way in self.recipe.accountants)
        return ways[:1] if self.on_samples and self.recipe.mode != "paper" else ways

    def titles(self, methods: tuple[str, ...]) -> dict[str, str]:
        """What a screen calls composition methods; on samples nothing known is exact."""
        bound = {"exact": "PLD (upper bound)"} if self.on_samples else {}
        return {method: bound.get(method, accountant(method).title) for method in methods}

    def curves(self) -> tuple[str, ...]:
        """Composition methods with a curve: those that are compared, and the one that is picked."""
        return tuple(dict.fromkeys((*self.compared_methods(), self.count_by)))

    @property
    def samples(self) -> bool:
        """Whether steps read samples of a share that can be chosen."""
        return "rate" in self.offered()

    @property
    def on_samples(self) -> bool:
        """Whether each step reads a sample, not all rows."""
        return self.samples and self.value("rate") < 1.0

    def offered(self) -> dict[str, Dial]:
        """The options that the model offers with the method."""
        options = dials(self.model, self.method, read_words(self.words))
        return {name: dial for name, dial in options.items() if name != "iterations" or self.steps}

    def value(self, option: str, columns: int = 1) -> Any:
        """What an option is; ``None`` where an empty box stands for it."""
        if option in FIELDS:
            return getattr(self, option)
        return value_of(self.model, self.recipe, option, read_words(self.words), columns)

    def with_value(self, option: str, value: Any) -> dict[str, Any]:
        """The fields of a scenario where an option has another value; ``None``: the usual one."""
        if option in (*FIELDS, "delta", "clip", *SHARED):
            return {option: type(getattr(self, option))(value)}
        return {"words": write_words({**read_words(self.words), option: value})}

    def middle(self, option: str, columns: int = 1) -> float | None:
        """The value about which an option slides, where it has no stops of its own."""
        begins = read_words(opening(self.data, self.model).words)
        if option in begins:
            return float(begins[option])
        others = {name: value for name, value in read_words(self.words).items() if name != option}
        value = value_of(self.model, self.recipe, option, others, columns)
        return value or None

    def slides(self) -> dict[str, Slide]:
        """The options that may slide in the third dial's place."""
        sliding = {name: dial.slide for name, dial in self.offered().items() if dial.slide}
        return {name: dial for name, dial in sliding.items() if dial.stops or self.middle(name)}

    def pulled(self) -> tuple[str, ...]:
        """All that may stand in the third dial's place: options, then the dials of every model."""
        kind = self.declared
        fixed = {PARTS} if kind.most == kind.least else set()
        return *self.slides(), *(dial for dial in SHARED if dial not in fixed)

    @property
    def beside(self) -> str:
        """The dial beside epsilon and delta: the one that was pulled up, or what the model clips
        by; empty where it does not."""
        usual = "threshold" if "threshold" in self.slides() else ""
        return self.third or ("clip" if self.declared.clips_rows else usual)

    def recipes(self) -> dict[str, Method]:
        """The methods of the model, the recommended one first."""
        names = ("recommended", *self.declared.methods)
        return {name: self.declared.method(name) for name in names}

    def budgets(self, rows: int | None) -> tuple[float, ...]:
        """The slider's positions: all where fits are quick, down to seven over two decades."""
        if self.cost == 1.0:
            return EPSILONS
        return EPSILONS[::4] if self.visits(rows) <= QUICK else EPSILONS[16::8]

    @property
    def cost(self) -> float:
        """Of a visit of a row, as if of a mixture's."""
        return self.declared.cost * self.recipe.cost

    def visits(self, rows: int | None) -> float:
        """Visits of a row in one fit, as if of a mixture's."""
        return self.cost * (rows or 10_000) * self.iterations * self.components

    def as_query(self) -> dict[str, str]:
        """What differs from the table's opening, as it stands in a link."""
        first = opening(self.data)
        if self.model != first.model:
            first = replace(opening(self.data, self.model), model=first.model)
        return differences(self, replace(first, data=Scenario.data), written)

    @property
    def pinned(self) -> dict[str, Scenario]:
        """The pinned settings of the same table by their names, oldest first."""
        return dict(zip(links.PINS, _pinned(self.pins, self.data, self.made), strict=False))

    def with_pins(self, pinned: Iterable[Scenario]) -> Scenario:
        """The same with other pinned settings, each once."""
        queries = (scenario.as_query() for scenario in pinned)
        return replace(self, pins=links.pins_of(queries, NOT_PINNED))

    def as_link(self) -> str:
        """The same as one string, for ``dpcore explore "..."``."""
        return urlencode(self.as_query(), safe=",")


@dataclass(frozen=True)
class GeneratedTable:
    """A table to generate: rows, columns, groups and the seed of the draw."""

    rows: int = 5000
    columns: int = 2
    groups: int = 3
    seed: int = 0

    @classmethod
    def parse(cls, text: str) -> GeneratedTable:
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
    """What comes with the package: tables, then collections of documents."""
    return *bundled(), *corpora()


def added() -> tuple[BundledTable | BundledCorpus, ...]:
    """The published sets that have been added on this machine."""
    return tuple(published.table for published in present())


def at_hand() -> tuple[BundledTable | BundledCorpus, ...]:
    """Everything that can be listed: what comes with the package, then what was added."""
    return *offered(), *added()


def opening(data: str, model: str | None = None) -> Scenario:
    """The scenario with which a table opens: the model, parts, shapes and steps that suit it, and
    a delta below one over its rows; of pictures, pixels of the size that suits its own model.

    model: one that the reader wants [the table's own]. In an upload whole rows are protected:
    which of its columns are public is for its custodian to say.
    """
    sources = (offered, added)  # the files of the second are looked for only where it is needed
    table = next((table for source in sources for table in source() if table.name == data), None)
    suits = () if table is None else table.openings
    first = next((candidate for candidate in suits if model in (None, candidate.model)), None)
    declared = declaration((model or Scenario.model) if first is None else first.model)
    begin = Scenario(
        data=data,
        model=declared.name,
        pool=(first or suits[0]).pool if suits else Scenario.pool,
        clip=declared.opening.clip,
        adjacency=Scenario.adjacency if data == UPLOAD else declared.adjacencies[0],
        delta=Scenario.delta if table is None else delta_below(table.rows),
    )
    if first is None:
        usual = declared.opening
        parts, steps = usual.components, usual.iterations
        return replace(begin, components=parts, iterations=steps, words=usual.words)
    return replace(
        begin,
        components=first.components,
        iterations=first.iterations,
        covariance=first.covariance,
        words=write_words(dict(first.words)),
        epsilon=first.epsilon,
    )


def begun(first: Scenario) -> dict[str, Any]:
    """The settings with which a model begins anew, whatever they were for another one."""
    names = "components", "iterations", "covariance", "words", "pool", "clip", "adjacency"
    return {name: getattr(first, name) for name in names}


def delta_below(rows: int) -> float:
    """The delta with which so many rows open: a power of ten below one over them.

    >>> delta_below(150), delta_below(1_000_000)
    (1e-05, 1e-07)
    """
    return min(Scenario.delta, 10.0 ** -math.ceil(math.log10(rows + 1)))


def from_query(query: Mapping[str, str], data_names: Container[str]) -> Scenario:
    """The scenario of a link; a word that is not understood leaves the default in place."""
    query = _renamed(query)
    data, model = query.get("data", Scenario.data), query.get("model")
    scenario = opening(
        data if data in data_names else Scenario.data,
        model if model in declarations() else None,
    )
    return sane(chosen(scenario, query, _READERS))


def misread(query: Mapping[str, str], data_names: Container[str]) -> tuple[str, ...]:
    """What a link says of the scenario in words that are not understood, or rule each other out."""
    query = _renamed(query)
    opened = from_query(query, data_names)
    metrics = opened.declared.metrics
    odd = links.misread(
        query,
        {
            "data": among(data_names),
            "model": among(declarations()),
            **_READERS,
            "metric": among(["", *(metric.name for metric in metrics)]),
            "words": _words,
            "hide": all_of(partial(hideable, "explore")),
            "without": among(("0", "1")),
            "pins": pins_among(partial(misread, data_names=data_names), Scenario),
        },
    )
    others = [name for name in _TOGETHER if query.get(name, "") not in ("", getattr(opened, name))]
    return tuple(dict.fromkeys([*odd, *others]))


def _renamed(query: Mapping[str, str]) -> dict[str, str]:
    """A link in the words of today: "rows" was the number of fitted rows (an option of a model
    stands among its "words")."""
    today = {"rows": "fitted_rows"}
    return {
        today.get(name, name): today.get(value, value) if name in ("dial", "third") else value
        for name, value in query.items()
    }


def _words(text: str) -> str:
    if len(read_words(text)) < len([part for part in text.split(";") if part]):
        raise ValueError(text)
    return text


def sane(scenario: Scenario) -> Scenario:
    """The scenario with choices that cannot stand together brought in line."""
    documents = scenario.declared.reads == "documents"
    if scenario.data != UPLOAD and documents != is_documents(address(scenario.data)):
        first = opening(scenario.data)
        scenario = replace(
            first, epsilon=scenario.epsilon, noise=scenario.noise, hide=scenario.hide
        )
    if scenario.method not in scenario.recipes():
        scenario = replace(scenario, method="recommended")
    kind = scenario.declared
    parts = min(max(scenario.components, kind.least), kind.most)
    words = read_words(scenario.words)
    for _ in words:  # one option may offer another
        offered = dials(scenario.model, scenario.method, words)
        words = {name: v for name, v in words.items() if name in offered and offered[name].takes(v)}
    scenario = replace(scenario, components=parts, words=write_words(words))
    if scenario.adjacency not in scenario.adjacencies():
        scenario = replace(scenario, adjacency=scenario.adjacencies()[0])
    methods = scenario.methods()
    if scenario.count_by not in methods:
        scenario = replace(scenario, count_by=methods[0])
    if scenario.metric == kind.metric(""):  # the usual one
        scenario = replace(scenario, metric="")
    if scenario.metric not in [metric.name for metric in kind.metrics]:
        scenario = replace(scenario, metric="")
    if scenario.show not in kind.shows():
        scenario = replace(scenario, show="")
    if not kind.clips_rows:
        scenario = replace(scenario, clip=1.0)
    if scenario.third not in scenario.pulled() or scenario.third == "threshold":
        scenario = replace(scenario, third="")
    if scenario.dial not in ("epsilon", "delta", scenario.beside):
        scenario = replace(scenario, dial="epsilon")
    if scenario.x == scenario.y:
        scenario = replace(scenario, x=0, y=1)
    scenario = replace(scenario, hide=hideable("explore", scenario.hide))
    return scenario.with_pins(scenario.pinned.values())


@lru_cache(maxsize=256)  # a page asks many times
def _refused(setting: Setting, ways: tuple[str, ...]) -> dict[str, str]:
    """Which composition methods do not cover a proved fit, and why."""
    try:
        refusals = {way: setting.refusal(way) for way in ways}
    except InputError:
        return {}  # the options do not go together, which the picture says
    return {way: why for way, why in refusals.items() if why is not None}


@lru_cache(maxsize=64)  # a page asks many times
def _pinned(pins: str, data: str, generated: str) -> tuple[Scenario, ...]:
    """The settings that a link pins."""
    fixed = {"data": data, "made": generated}
    return tuple(from_query(query | fixed, {data: None}) for query in links.pinned(pins))


def _made(text: str) -> str:
    if str(GeneratedTable.parse(text)) != text:
        raise ValueError(text)
    return text


RANGES: dict[str, tuple[float, float]] = {
    "components": (1, MOST_COMPONENTS),
    "epsilon": (0.01, 100.0),
    "delta": (1e-12, 0.5),
    "clip": (0.1, 1.0),
    "iterations": (1, 50),
    "pool": (1, 64),
    "rows_per_person": (1, 1000),
    "fitted_rows": (0, 10**7),
    "noise": (0, 10**6),
    "x": (0, 999),
    "y": (0, 999),
}
_SLIDING = tuple(
    name
    for model in declarations().values()
    for name, option in model.dials().items()
    if option.dial and option.dial.slide
)
_TOGETHER = ("model", "method", "count_by", "adjacency", "show")  # where one may rule out another
_READERS: dict[str, Reader] = {
    **{name: between(*limits) for name, limits in RANGES.items()},
    "method": among(["recommended", *(n for m in declarations().values() for n in m.methods)]),
    "count_by": among(list(ACCOUNTANTS)),
    "covariance": among(("full", "diag", "spherical")),
    "adjacency": among(ADJACENCIES),
    "dial": among(("epsilon", "delta", "clip", *SHARED, *_SLIDING)),
    "third": among(("", *SHARED, *_SLIDING)),
    "metric": str,
    "show": str,
    "without": lambda text: text == "1",
    "words": str,
    "made": _made,
    "hide": str,
    "pins": str,
}
