"""A scene is a picture that already knows every step of its slider: it moves with the hand.

Panels hold layers (:mod:`dpcore.figures.layers`, whose names are imported from here too); one that
depends on the step carries a leading axis ``S``, one entry a step.
Two renderers read the same scene: the live component of the app (in the browser, no round trip) and
`dpcore.figures.plotly` (notebooks, exports). Steps are fits that exist: no renderer interpolates.

A complete example, two steps and two panels (arrays may be lists or numpy arrays):

>>> one = [[[[30.0, 20.0, 40.0, 5.0, 20.0, 1.0]]], [[[31.0, 19.0, 30.0, 4.0, 15.0, 1.0]]]]
>>> scene = Scene(
...     steps=(0.1, 1.0),                          # values of the slider's steps
...     step_labels=("0.10", "1.00"),              # what the slider writes
...     symbol="ε",                                # name of the step in tables and files
...     panels=(
...         Panel(
...             id="private", title="Private fit", subtitle="hides each person",
...             alt=("Group at 30, 20.", "Group at 31, 19."),          # per step, or one text
...             x=Axis("age (years)", (0, 110)), y=Axis("visits per year", (0, 70)),
...             link="map",                        # panels of one link share zoom and pan
...             layers=(
...                 Points([25, 31], [18, 22]),
...                 Ellipses(one, style="bold", levels=(1, 2)),        # (S, draws, K, 6)
...                 Ring(cx=55, cy=35, rx=50, ry=30, label="rows are clipped here", name="clip"),
...             ),
...         ),
...         Panel(
...             id="curve", title="What each ε buys", subtitle="", width="full",
...             alt="Utility rises with ε.",
...             x=Axis("ε (δ = 10⁻⁵)", (0.1, 1.0), scale="log"), y=Axis("utility", (0, 1)),
...             layers=(
...                 Curve([0.1, 1.0], [0.2, 0.9], lo=[0.1, 0.8], hi=[0.3, 1.0],
...                       label=("exact: ε = 0.1", "exact: ε = 1.0"), bold=True),
...                 Rule(0.95, "exact fit (converged)"),
...                 Cursor([0.1, 1.0], [0.2, 0.9]),
...             ),
...         ),
...     ),
...     live_text={"sentence": ("Right **51 times** in 100.", "Right **55 times** in 100.")},
...     step=1,                                    # shown until the user moves the slider
... )
>>> scene.as_dict()["panels"][1]["layers"][2]["y"]
[0.2, 0.9]

In the app: ``live({"epsilon": scene}, key="explore")`` and, anywhere on the page,
``st.html('<p data-live="sentence"></p>')``. The slider is ``st.select_slider`` (one option a
position) or an integer ``st.slider`` from 0. A typed value that is no position of the slider is one
more step: put it among ``steps``, name it with ``step``, and list in ``positions`` which step each
position of the slider stands for (all but the extra one); put the thumb on the nearest position.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from dpcore.checks import one_of
from dpcore.errors import InputError
from dpcore.figures.layers import (
    DASHES,
    GROUPS,
    MARKERS,
    PALETTE_DARK,
    PALETTE_LIGHT,
    PER_STEP,
    Bars,
    Cursor,
    Curve,
    Ellipses,
    Layer,
    Mark,
    Points,
    Ring,
    Rule,
    Spots,
    Text,
    as_text,
    at_step,
    compact,
    layer_dict,
    text_at,
    texts_at,
)

__all__ = [
    "GROUPS",
    "PALETTE_DARK",
    "PALETTE_LIGHT",
    "Axis",
    "Bars",
    "Choice",
    "Cursor",
    "Curve",
    "Ellipses",
    "Layer",
    "Mark",
    "Panel",
    "Points",
    "Ring",
    "Rule",
    "Scene",
    "Spots",
    "at_step",
    "layer_dict",
    "text_at",
    "texts_at",
]


@dataclass(frozen=True)
class Axis:
    """An axis: ``label`` with its unit, ``range`` in data units, scale, optional ticks, which
    ``names`` may name; days: numbers are days since 1970-01-01, and are read as dates.

    Raises `InputError` for a range that is empty, infinite or (log scale) not above 0, and for
    names that do not match the ticks.
    """

    label: str
    range: tuple[float, float]
    scale: Literal["linear", "log"] = "linear"
    ticks: tuple[float, ...] | None = None
    names: tuple[str, ...] = ()
    days: bool = False

    def __post_init__(self) -> None:
        if self.names and len(self.names) != len(self.ticks or ()):
            raise InputError("axis names", "the names do not match the ticks", "give one per tick")
        one_of("axis scale", self.scale, ("linear", "log"))
        low, high = self.range
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InputError(
                "axis range", "it is not two finite numbers in ascending order", "give low < high"
            )
        if self.scale == "log" and low <= 0:
            raise InputError(
                "axis range", "a log axis starts at or below 0", "give a lower end above 0"
            )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        data: dict[str, Any] = {"label": self.label, "range": compact(self.range)}
        if self.scale == "log":
            data["log"] = True
        if self.ticks is not None:
            data["ticks"] = compact(self.ticks)
        if self.names:
            data["names"] = self.names
        if self.days:
            data["days"] = True
        return data


@dataclass(frozen=True)
class Choice:
    """A list in the head of a card: the app reads a picked item, counted from 0, under ``name``.

    label: what is chosen. options: its items; at: the one that is shown.
    """

    name: str
    label: str
    options: tuple[str, ...]
    at: int = 0


@dataclass(frozen=True, eq=False)
class Panel:
    """One card: title, muted subtitle, text for readers who cannot see it, axes, layers.

    ``alt`` and ``subtitle`` are one text or one a step. Panels with the same ``link`` share zoom
    and pan (give them the same axes). ``width``: "half" or "full" of the page; ``height``: of the
    whole card in pixels [half 340, full 250]. ``bare``: draw no axes (bars are their own scale).
    ``pinned``: layers of another view, drawn over these thin and in one colour; ``pin``: their key.
    ``film``: a button plays the steps up to the current one. ``choices``: lists in its head.
    ``nearest``: the step whose layers stand at each step, greyed where it is another one: a fit
    that is still being worked out is held by the nearest that is there [its own].
    """

    id: str
    title: str
    subtitle: Text
    alt: Text
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    link: str | None = None
    width: Literal["half", "full"] = "half"
    height: int | None = None
    bare: bool = False
    pinned: tuple[Layer, ...] = ()
    pin: str = ""
    film: bool = False
    choices: tuple[Choice, ...] = ()
    nearest: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        one_of("panel width", self.width, ("half", "full"))
        object.__setattr__(self, "alt", as_text(self.alt))
        object.__setattr__(self, "subtitle", as_text(self.subtitle))
        object.__setattr__(self, "layers", tuple(self.layers))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            "id": self.id,
            "title": self.title,
            "subtitle": self.subtitle,
            "alt": self.alt,
            "x": self.x.as_dict(),
            "y": self.y.as_dict(),
            "link": self.link,
            "width": self.width,
            "height": self.height or (340 if self.width == "half" else 250),
            "bare": self.bare,
            "pin": self.pin,
            "film": self.film,
            "choices": [asdict(choice) for choice in self.choices],
            "layers": [
                *map(layer_dict, self.layers),
                *(layer_dict(layer) | {"pinned": True} for layer in self.pinned),
            ],
            **({"nearest": self.nearest} if self.nearest else {}),
        }


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that depends on one slider: ``S`` steps, panels, texts, current step.

    ``live_text``: texts elsewhere on the page, one a step; ``**bold**`` is the only markup.
    ``positions``: the step of each position of the slider [all steps in order].
    ``step``: the current step; the browser shows it until the user moves the slider.

    Raises `InputError` where a per-step field does not have ``S`` entries.
    """

    steps: tuple[float, ...]
    step_labels: tuple[str, ...]
    panels: tuple[Panel, ...]
    live_text: dict[str, tuple[str, ...]] = field(default_factory=dict)
    step: int = 0
    positions: tuple[int, ...] | None = None
    symbol: str = "ε"

    def __post_init__(self) -> None:
        count = len(self.steps)
        object.__setattr__(self, "steps", tuple(float(value) for value in self.steps))
        object.__setattr__(self, "step_labels", tuple(self.step_labels))
        object.__setattr__(self, "panels", tuple(self.panels))
        live_text = {name: tuple(texts) for name, texts in self.live_text.items()}
        object.__setattr__(self, "live_text", live_text)
        chosen = range(count) if self.positions is None else self.positions
        object.__setattr__(self, "positions", tuple(int(i) for i in chosen))
        if not 0 <= self.step < count:
            raise InputError(
                "step", f"{self.step} is not a step of the scene", f"give 0 to {count - 1}"
            )
        if any(not 0 <= i < count for i in self.positions or ()):
            raise InputError(
                "positions", "a position is not a step of the scene", f"give 0 to {count - 1}"
            )
        if len({panel.id for panel in self.panels}) != len(self.panels):
            raise InputError("panels", "two panels have the same id", "give each panel its own id")
        _demand_steps("step_labels", len(self.step_labels), count)
        for name, texts in self.live_text.items():
            _demand_steps(f"live text {name}", len(texts), count)
        for panel in self.panels:
            _check_panel(panel, count)

    @property
    def thumb(self) -> int:
        """Position of the slider that belongs to the current step (the nearest one if none)."""
        positions = self.positions or ()
        if self.step in positions:
            return positions.index(self.step)
        here = self.steps[self.step]
        return min(range(len(positions)), key=lambda p: abs(self.steps[positions[p]] - here))

    def at(self, step: int) -> Scene:
        """The same picture with another current step; what was worked out for it is shared."""
        other = replace(self, step=step)
        other.__dict__.update(_body=self._body, _text=self._text)
        return other

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data; ``id`` is a fingerprint of everything except the current step."""
        return self._body | {"step": self.step, "thumb": self.thumb}

    def to_json(self) -> str:
        """The same as text. All but the current step is written once, however often it is asked."""
        return f'{self._text[:-1]},"step":{self.step},"thumb":{self.thumb}}}'

    @cached_property
    def _text(self) -> str:
        """All but the current step."""
        return json.dumps(self._body, separators=(",", ":"), allow_nan=False)

    @cached_property
    def _body(self) -> dict[str, Any]:
        """All but the current step."""
        data: dict[str, Any] = {
            "symbol": self.symbol,
            "steps": compact(self.steps),
            "labels": self.step_labels,
            "positions": self.positions,
            "panels": [panel.as_dict() for panel in self.panels],
            "live_text": self.live_text,
            "palette": {
                "light": PALETTE_LIGHT,
                "dark": PALETTE_DARK,
                "dashes": DASHES,
                "markers": MARKERS,
            },
        }
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
        identity = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        return data | {"id": identity}


def _demand_steps(name: str, got: int, wanted: int) -> None:
    if got != wanted:
        raise InputError(name, f"it has {got} entries", f"give one for each of the {wanted} steps")


def _check_panel(panel: Panel, count: int) -> None:
    """Every per-step field of a panel has as many entries as the scene has steps."""
    for name in ("alt", "subtitle"):
        if not isinstance(text := getattr(panel, name), str):
            _demand_steps(f"{name} of panel {panel.id}", len(text), count)
    if panel.nearest:
        _demand_steps(f"nearest of panel {panel.id}", len(panel.nearest), count)
    for layer in panel.layers:
        for texts in (getattr(layer, "labels", ()), getattr(layer, "notes", ())):
            if texts and not isinstance(texts[0], str):
                _demand_steps(f"labels in panel {panel.id}", len(texts), count)
        label = getattr(layer, "label", "")
        if not isinstance(label, str):
            _demand_steps(f"label in panel {panel.id}", len(label), count)
        for name, dimensions in PER_STEP[layer.kind].items():
            array = getattr(layer, name)
            if array is not None and array.ndim > dimensions and len(array) != 1:
                _demand_steps(f"{layer.kind} {name} in panel {panel.id}", len(array), count)
