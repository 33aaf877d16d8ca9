"""What the Compose page asks: every choice as one frozen value: link, cache key and export."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from app import links
from app.links import Reader, all_of, among, between, chosen, differences, number, pins_among
from app.spoilers import hideable
from app.texts import compose as texts
from dpcore.accounting import ACCOUNTANTS
from dpcore.accounting.published import published_budget
from dpcore.errors import InputError
from dpcore.privacy import EpsilonDelta, Event, Gaussian, Laplace
from dpcore.privacy.events import DiscreteGaussian, Mechanism, Sampling

MOST = 1_000_000  # repeats
MOST_ROWS = 12
NOT_PINNED = ("show", "hide", "pins")  # of the view, not of the list
MECHANISMS = {
    "g": "Gaussian",
    "l": "Laplace",
    "d": "Discrete Gaussian",
    "e": "(ε, δ) box",
}
SAMPLINGS: dict[str, Sampling] = {"n": "none", "p": "poisson", "w": "without_replacement"}
ADJACENCIES = ("replace_one", "add_remove")


@dataclass(frozen=True)
class Line:
    """One line of the list of releases, as a reader edits it and as a link writes it.

    noise: the multiplier, scale or (for a box) the epsilon. delta_each: of a release, or the
    delta of a box; 0 leaves it to the method. fit: whether it came from the ledger of a fit.
    """

    mechanism: str = "g"
    noise: float = 20.0
    count: int = 1
    sampling: str = "n"
    rate: float = 0.01
    delta_each: float = 0.0
    ratio: float = 1.0
    fit: bool = False

    def event(self, adjacency: str) -> Event:
        """The event of the line."""
        sampled = self.sampling != "n"
        return Event(
            self._mechanism(),
            count=self.count,
            delta_each=self.delta_each if self.delta_each and self.mechanism == "g" else None,
            sampling=SAMPLINGS[self.sampling],
            sampling_rate=self.rate if sampled else 1.0,
            adjacency=adjacency,
        )

    def _mechanism(self) -> Mechanism:
        match self.mechanism:
            case "l":
                return Laplace(self.noise, self.ratio)
            case "d":
                return DiscreteGaussian(self.noise)
            case "e":
                return EpsilonDelta(self.noise, self.delta_each)
        return Gaussian(self.noise)

    def __str__(self) -> str:
        """``g20~1``, then what is not usual: sampling p or w, delta d, ratio r, f for a fit.

        >>> str(Line(noise=4.0, count=100, sampling="p"))
        'g4~100~p0.01'
        """
        parts = [f"{self.mechanism}{number(self.noise)}", f"{self.count}"]
        if self.sampling != "n":
            parts.append(f"{self.sampling}{number(self.rate)}")
        if self.delta_each:
            parts.append(f"d{number(self.delta_each)}")
        if self.ratio != 1.0:
            parts.append(f"r{number(self.ratio)}")
        return "~".join(parts) + ("~f" if self.fit else "")

    @classmethod
    def parse(cls, text: str) -> Line:
        """Read what ``str`` wrote. Raises ValueError for anything else.

        >>> Line.parse("g4~100~p0.01~f") == Line(noise=4.0, count=100, sampling="p", fit=True)
        True
        """
        first, count, *more = text.split("~")
        line = cls(first[:1], float(first[1:]), int(count))
        for part in more:
            match part[:1]:
                case "p" | "w":
                    line = replace(line, sampling=part[0], rate=float(part[1:]))
                case "d":
                    line = replace(line, delta_each=float(part[1:]))
                case "r":
                    line = replace(line, ratio=float(part[1:]))
                case "f" if part == "f":
                    line = replace(line, fit=True)
                case _:
                    raise ValueError(part)
        return line.checked()

    def checked(self) -> Line:
        """The line itself. Raises ValueError where it describes no release."""
        good = (
            self.mechanism in MECHANISMS
            and self.sampling in SAMPLINGS
            and 0.0 < self.noise < 1e9
            and 1 <= self.count <= MOST
            and 0.0 < self.rate <= 1.0
            and 0.0 <= self.delta_each < 1.0
            and 0.0 < self.ratio <= 1.0
        )
        if not good:
            raise ValueError(f"{self}")
        return self

    @classmethod
    def of(cls, event: Event) -> Line:
        """The line of an event of a fit's ledger. Raises InputError for other noise than the page
        has."""
        match event.mechanism:
            case Laplace(scale=scale, l2_ratio=ratio):
                return cls("l", float(scale), event.count, ratio=ratio, fit=True)
            case Gaussian(noise_multiplier=noise):
                return cls("g", float(noise), event.count, fit=True)
        raise InputError("ledger", *texts.OTHER_NOISE)


def imported(events: tuple[Event, ...]) -> tuple[Line, ...]:
    """A ledger's events as lines; equal releases become one line."""
    lines: dict[Line, int] = {}
    for event in events:
        line = replace(Line.of(event), count=1)
        lines[line] = lines.get(line, 0) + event.count
    return tuple(replace(line, count=count) for line, count in lines.items())


@dataclass(frozen=True)
class Composition:
    """The choices. Defaults are those of the first screen. methods: in place of the five."""

    preset: str = "opening"
    k: int = 100
    lines: tuple[Line, ...] = (Line(),)
    delta: float = 0.00001
    adjacency: str = "replace_one"
    hold: str = "noise"
    epsilon: float = 1.0
    show: str = "count"
    methods: tuple[str, ...] = ()
    hide: str = ""
    pins: str = ""

    @property
    def events(self) -> tuple[Event, ...]:
        """One run of the list."""
        return tuple(line.event(self.adjacency) for line in self.lines)

    @property
    def repeats(self) -> str:
        """What is counted."""
        preset = PRESETS.get(self.preset)
        if preset is not None and preset.repeats:
            return preset.repeats
        return "releases" if sum(line.count for line in self.lines) == 1 else texts.RUNS

    @property
    def run_title(self) -> str:
        """The same in the singular."""
        return texts.SINGULAR[self.repeats]

    @property
    def misused(self) -> bool:
        """Whether a line from a fit, which does not sample, is priced as if it did."""
        return any(line.fit and line.sampling != "n" for line in self.lines)

    def without_k(self) -> Composition:
        """What the prices depend on besides the slider."""
        return replace(self, k=1, hide="", preset="own", show="count", pins="")

    @property
    def pinned(self) -> dict[str, Composition]:
        """The pinned lists by their names, oldest first."""
        return dict(zip(links.PINS, _pinned(self.pins), strict=False))

    def with_pins(self, pinned: Iterable[Composition]) -> Composition:
        """The same with other pinned lists, each once."""
        queries = (composition.as_query() for composition in pinned)
        return replace(self, pins=links.pins_of(queries, NOT_PINNED))

    def as_query(self) -> dict[str, str]:
        """What differs from the preset's opening, as it stands in a link."""
        return differences(self, replace(opening(self.preset), preset=Composition.preset), _written)

    def as_link(self) -> str:
        """The same as one string."""
        return urlencode(self.as_query(), safe=",")


@dataclass(frozen=True)
class Preset:
    """A setting somebody published. printed: (k, epsilon, the way that printed it)."""

    title: str
    repeats: str
    make: Callable[[], Composition]
    printed: tuple[tuple[int, float, str], ...] = ()


def _dpem(combination: str, components: int, iterations: int, delta_each: float) -> Composition:
    """One iteration of DP-EM with the noise that its paper computes by zCDP for epsilon 1."""
    budget = published_budget(
        1.0,
        1e-4,
        accountant="zcdp",
        combination=combination,
        components=components,
        iterations=iterations,
        delta_each=delta_each,
    )
    noise = float(budget.noise_multiplier)
    gaussian = Line(noise=noise, count=2 * components + 1, delta_each=delta_each)
    lines: tuple[Line, ...] = (gaussian,)
    if combination == "LLG":
        scale = 1.0 / float(budget.epsilon_each)
        lines = (Line("l", scale, components + 1), replace(gaussian, count=components))
    return Composition(lines=lines, k=iterations, delta=1e-4)


def _line(entry: dict[str, Any]) -> Line:
    """A line of a published list; a rate may be a fraction, and rho stands for its noise."""
    fields = dict(entry)
    if "rho" in fields:
        fields["noise"] = math.sqrt(0.5 / fields.pop("rho"))
    if "rate" in fields:
        fields["rate"] = float(Fraction(fields["rate"]))
    return Line(**fields)


def _published(entry: dict[str, Any]) -> Composition:
    """The list of an entry in ``presets.toml``."""
    if "dpem" in entry:
        return _dpem(**entry["dpem"])
    names = ("k", "delta", "adjacency", "methods")
    fields = {name: entry[name] for name in names if name in entry}
    if "methods" in fields:
        fields["methods"] = tuple(fields["methods"])
    if "lines" in entry:
        fields["lines"] = tuple(map(_line, entry["lines"]))
    return Composition(**fields)


def _presets() -> dict[str, Preset]:
    text = Path(__file__).with_name("presets.toml").read_text(encoding="utf-8")
    return {
        name: Preset(
            entry["title"],
            entry.get("repeats", ""),
            partial(_published, entry),
            tuple((k, epsilon, method) for k, epsilon, method in entry.get("printed", ())),
        )
        for name, entry in tomllib.loads(text).items()
    }


PRESETS = _presets()
USUAL = "usual"  # the methods of the first screen, where a preset has others


@cache
def opening(preset: str) -> Composition:
    """The choices with which a preset opens; an own list opens as the first screen does."""
    composition = PRESETS[preset].make() if preset in PRESETS else Composition()
    return replace(composition, preset=preset)


def from_query(query: Mapping[str, str]) -> Composition:
    """The choices of a link; a word that is not understood leaves the default in place."""
    preset = query.get("preset", Composition.preset)
    start = opening(preset if preset in PRESETS or preset == "own" else Composition.preset)
    return sane(chosen(start, query, _READERS))


def misread(query: Mapping[str, str]) -> tuple[str, ...]:
    """What a link says in words that are not understood."""
    hide, presets = all_of(partial(hideable, "compose")), among({*PRESETS, "own"})
    more = {"preset": presets, "hide": hide, "pins": pins_among(misread, Composition)}
    return links.misread(query, _READERS | more)


def sane(choices: Composition) -> Composition:
    """The choices with those that cannot stand together brought in line."""
    if choices.hold == "budget" and choices.show == "noise":
        choices = replace(choices, show="count")
    if choices.preset in PRESETS and choices.lines != opening(choices.preset).lines:
        choices = replace(choices, preset="own")
    choices = replace(choices, hide=hideable("compose", choices.hide))
    return choices.with_pins(choices.pinned.values())


@lru_cache(maxsize=64)  # a page asks many times
def _pinned(pins: str) -> tuple[Composition, ...]:
    """The lists that a link pins."""
    return tuple(map(from_query, links.pinned(pins)))


def _lines(text: str) -> tuple[Line, ...]:
    lines = text.split("_")
    if len(lines) > MOST_ROWS:
        raise ValueError("too many")
    return tuple(Line.parse(line) for line in lines)


def _methods(text: str) -> tuple[str, ...]:
    named = text.split(",") if text and text != USUAL else []
    if any(name not in ACCOUNTANTS for name in named):
        raise ValueError("no method")
    return tuple(name for name in ACCOUNTANTS if name in named)


RANGES: dict[str, tuple[float, float]] = {
    "k": (1, MOST),
    "delta": (1e-12, 0.5),
    "epsilon": (0.01, 100.0),
}
_READERS: dict[str, Reader] = {
    **{name: between(*limits) for name, limits in RANGES.items()},
    "lines": _lines,
    "adjacency": among(ADJACENCIES),
    "hold": among(texts.HOLDS),
    "show": among(texts.SHOWS),
    "methods": _methods,
    "hide": str,
    "pins": str,
}


def _written(value: object) -> str:
    if value == ():
        return USUAL  # a link may lose a word without a value
    if isinstance(value, tuple):
        return ("," if all(item in ACCOUNTANTS for item in value) else "_").join(map(str, value))
    return number(value) if isinstance(value, float) else f"{value}"
