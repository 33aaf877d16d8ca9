"""What a picture is made of: layers of points, lines, bars and cells, and their colours.

A layer that moves carries a leading axis ``S`` in its arrays, one entry a step of the slider of its
:class:`dpcore.figures.scene.Scene`. Colours are indices into `PALETTE_LIGHT` / `PALETTE_DARK`
(Okabe and Ito 2008), never colour codes; each index also has its own dash and marker, so that no
reading rests on colour alone.

Source: Okabe and Ito (2008), "Color Universal Design", for the palette.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpcore.arrays import Array
from dpcore.checks import one_of
from dpcore.errors import InputError
from dpcore.figures.density import Density
from dpcore.figures.heatmap import Heat
from dpcore.figures.marginals import Marginals
from dpcore.figures.ranked import Ranked
from dpcore.figures.tail import Tail

Text = str | tuple[str, ...]

PALETTE_LIGHT = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#101820", "#8400F0", "#6C2400", "#241890", "#603C54", "#9078FC"),
)
PALETTE_DARK = (
    *("#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#0072B2"),
    *("#E4FCA8", "#9024FC", "#FCCCCC", "#E40048", "#9078FC", "#78FC60"),
)
GROUPS = 6
"""The first colours, Okabe and Ito's, are for groups; composition methods have all of them."""
DASHES = (
    *("", "7 3 1.5 3", "6 3", "2.5 2.5", "10 3", "1.5 2.5"),
    *("12 2", "9 2 2 2 2 2", "4 2", "14 3 4 3", "3 1", "8 4 2 4 2 4"),
)
"""Second cue of each palette index: lengths drawn and left out, in pixels ('' = unbroken)."""
MARKERS = (
    "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0z",  # circle
    "M-5-5h10v10h-10z",  # square
    "M0-7L7 0L0 7L-7 0z",  # diamond
    "M0-7L6.5 5h-13z",  # triangle
    "M-2-6.5h4v4.5h4.5v4H2v4.5h-4V2h-4.5v-4H-2z",  # cross
    "M0-7.5L2-2.4L7.5-2.1L3.2 1.4L4.7 6.6L0 3.6L-4.7 6.6L-3.2 1.4L-7.5-2.1L-2-2.4z",  # star
)
"""Shape of each palette index around (0, 0), in pixels."""

SIGNIFICANT_DIGITS = 5


@dataclass(frozen=True, eq=False)
class Points:
    """A cloud of points in data units: ``x`` and ``y`` are (n,), or (S, n) when they move."""

    kind: ClassVar[str] = "points"
    x: ArrayLike
    y: ArrayLike
    opacity: float = 0.35
    colour: int | None = None
    name: str = "rows"

    def __post_init__(self) -> None:
        _same_shape(self, "x", "y", dimensions=(1, 2))


@dataclass(frozen=True, eq=False)
class Ellipses:
    """Gaussian groups: ``params`` (S or 1, draws, K, 6), outlined at ``levels`` (in sd).

    The six numbers: mean x, mean y, covariance xx, xy, yy, weight. A group with NaN is not drawn.
    ``faint`` (S or 1, draws, K): groups whose outlines fade [none].
    ``style``: "bold" (thick, the fit itself), "ghost" (thin and faint, other noise draws) or
    "outline" (dashed and muted, a reference). ``colours``: palette index of each group [0, 1, ...].
    """

    kind: ClassVar[str] = "ellipses"
    params: ArrayLike
    levels: tuple[float, ...] = (1.0, 2.0)
    style: Literal["bold", "ghost", "outline"] = "bold"
    fill: bool = True
    centre: bool = True
    colours: tuple[int, ...] | None = None
    names: tuple[str, ...] = ()
    faint: ArrayLike | None = None

    def __post_init__(self) -> None:
        one_of("ellipses style", self.style, ("bold", "ghost", "outline"))
        params = _numbers(self, "params")
        if params.ndim != 4 or params.shape[3] != 6:
            raise InputError(
                "ellipses params",
                f"the shape is {params.shape}",
                "give an array (steps or 1, draws, K, 6)",
            )
        if self.faint is not None and _numbers(self, "faint").shape != params.shape[:3]:
            raise InputError(
                "ellipses faint", "its shape does not match params", "give one value per group"
            )
        groups = params.shape[2]
        if self.colours is None:
            object.__setattr__(self, "colours", tuple(k % GROUPS for k in range(groups)))
        if not self.names:
            object.__setattr__(self, "names", tuple(f"group {k + 1}" for k in range(groups)))
        if not (len(self.colours or ()) == len(self.names) == groups):
            raise InputError(
                "ellipses", "colours or names do not match the groups", "give one of each per group"
            )


@dataclass(frozen=True, eq=False)
class Curve:
    """A line ``y`` over ``x``, each (m,), or (S, m) when it moves, with a band from lo to hi.

    ``label`` is one text or one a step, written at the right end. ``dash``: index into `DASHES`
    [the colour's own]. ``colour`` None: a muted line that is no reading (a border, a meridian),
    left out of readouts and tables. NaN breaks the line.
    """

    kind: ClassVar[str] = "curve"
    x: ArrayLike
    y: ArrayLike
    lo: ArrayLike | None = None
    hi: ArrayLike | None = None
    colour: int | None = 0
    dash: int | None = None
    label: Text = ""
    label_at: Literal["end", "none"] = "end"
    bold: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        _same_shape(self, "x", "y", dimensions=(1, 2))
        if (self.lo is None) != (self.hi is None):
            raise InputError("curve", "the band has only one edge", "give both lo and hi")
        if self.lo is not None:
            _same_shape(self, "y", "lo", dimensions=(1, 2))
            _same_shape(self, "y", "hi", dimensions=(1, 2))
        object.__setattr__(self, "label", as_text(self.label))
        if self.dash is None:
            object.__setattr__(self, "dash", self.colour or 0)


@dataclass(frozen=True, eq=False)
class Spots:
    """Points with names, ``x`` and ``y`` (K,), or (S, K) when they move; NaN: not drawn.

    ``colours``: palette index of each, which is also its marker [0, 1, ...]; empty: muted dots for
    orientation. ``labels``: what is written beside each; of muted dots, those for which there is
    room. ``weights`` (K,) or (S, K): a share of each, for the table. ``hollow``: rings, not discs.
    ``side``: of a muted dot, where its label goes first.
    """

    kind: ClassVar[str] = "labelled_points"
    x: ArrayLike
    y: ArrayLike
    names: tuple[str, ...]
    labels: tuple[str, ...] = ()
    weights: ArrayLike | None = None
    colours: tuple[int, ...] | None = None
    hollow: bool = False
    side: Literal["left", "right"] = "right"

    def __post_init__(self) -> None:
        _same_shape(self, "x", "y", dimensions=(1, 2))
        if self.weights is not None:
            _same_shape(self, "x", "weights", dimensions=(1, 2))
        count = len(self.names)
        if self.colours is None:
            object.__setattr__(self, "colours", tuple(k % GROUPS for k in range(count)))
        object.__setattr__(self, "labels", self.labels or ("",) * count)
        parts = (len(self.labels), len(self.colours or ()) or count, np.shape(self.x)[-1])
        if set(parts) != {count}:
            raise InputError(
                "labelled points",
                "names, labels or colours do not match the points",
                "give one of each per point",
            )


@dataclass(frozen=True, eq=False)
class Mark:
    """A vertical line at ``x``, the same at every step, with its label where there is room."""

    kind: ClassVar[str] = "rule"
    x: float
    label: str
    dash: int = 3


@dataclass(frozen=True, eq=False)
class Rule:
    """A dashed reference line at height ``y`` with its label at one side."""

    kind: ClassVar[str] = "rule"
    y: float
    label: str
    dash: int = 2
    side: Literal["left", "right"] = "left"


@dataclass(frozen=True, eq=False)
class Cursor:
    """The current point, ``x`` and ``y`` (S,): a vertical line, and a dot where y is a number.

    ``line``: whether the vertical line is drawn; one of several cursors at the same x is enough.
    """

    kind: ClassVar[str] = "cursor"
    x: ArrayLike
    y: ArrayLike
    colour: int = 0
    line: bool = True

    def __post_init__(self) -> None:
        _same_shape(self, "x", "y", dimensions=(1,))


@dataclass(frozen=True, eq=False)
class Ring:
    """The clipping ring: centre and half-axes in data units; dragging reports a radius factor.

    ``limits``: smallest and largest factor. ``factor (S,)``: where it is at each step, or at all.
    The app reads the released factor under ``name``.
    """

    kind: ClassVar[str] = "ring"
    cx: float
    cy: float
    rx: float
    ry: float
    label: str
    name: str
    limits: tuple[float, float] = (0.2, 3.0)
    factor: ArrayLike = (1.0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", np.asarray(self.factor, dtype=float))
        if not (0 < self.rx < math.inf and 0 < self.ry < math.inf):
            raise InputError(
                "ring", "rx or ry is not a finite number above 0", "give rx and ry above 0"
            )


@dataclass(frozen=True, eq=False)
class Bars:
    """Bars that run to the right, ``values`` (B,) or (S, B); the longest of a step fills the card,
    or they stand on the panel's x axis where that is logarithmic.

    ``labels``: what stands at the end of each bar, (B,) texts, or (S, B) when they move; where a
    value is no number there is no bar and the label says why. ``notes``: a muted word under each
    name, like the labels. ``tips``: a sentence for each name [none]. ``derivations``: formulas for
    each (:mod:`dpcore.figures.derivation`), shown when its bar is clicked; ``dials``: the CSS class
    of the dial of each of their symbols. ``ghosts``: what a pinned view had, by its name, a number
    for each bar, or ``None``.
    """

    kind: ClassVar[str] = "bars"
    values: ArrayLike
    names: tuple[str, ...]
    labels: tuple[Any, ...]
    notes: tuple[Any, ...] = ()
    tips: tuple[str, ...] = ()
    colours: tuple[int, ...] | None = None
    derivations: tuple[Any, ...] = ()
    dials: dict[str, str] = field(default_factory=dict)
    ghosts: dict[str, tuple[float | None, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values, count = _numbers(self, "values"), len(self.names)
        if values.ndim not in (1, 2) or values.shape[-1] != count:
            raise InputError("bars", "values and names do not match", "give one name per bar")
        for name in ("labels", "notes"):
            texts = tuple(getattr(self, name)) or ("",) * count
            moving = not isinstance(texts[0], str)
            if any(len(step_texts) != count for step_texts in (texts if moving else (texts,))):
                raise InputError("bars", f"{name} and names do not match", "give one per bar")
            object.__setattr__(self, name, texts)
        if self.colours is None:
            object.__setattr__(self, "colours", tuple(i % GROUPS for i in range(count)))
        if any(len(ghost) != count for ghost in self.ghosts.values()):
            raise InputError("bars", "ghosts and names do not match", "give one per bar")
        if len(self.colours or ()) != count or (self.tips and len(self.tips) != count):
            raise InputError("bars", "colours or tips do not match the names", "give one per bar")


@dataclass(frozen=True, eq=False)
class Cells:
    """A table of texts: heads (C,) over the columns, names (R,) beside the rows.

    labels: the texts row by row, (R C,), or (S, R C) when they move.
    """

    kind: ClassVar[str] = "cells"
    heads: tuple[str, ...]
    names: tuple[str, ...]
    labels: tuple[Any, ...]

    def __post_init__(self) -> None:
        steps = self.labels if self.labels and not isinstance(self.labels[0], str) else None
        if any(
            len(texts) != len(self.heads) * len(self.names) for texts in steps or (self.labels,)
        ):
            raise InputError("cells", "the texts do not fill the table", "give one per cell")


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns at ``x`` (B,), ``values`` (B,) high, with ``inner`` (B,) inside; the same at every
    step of a slider.

    names: a sentence for each, for readouts and tables. pick: what the app reads a picked one
    under; empty: none can be picked.
    """

    kind: ClassVar[str] = "columns"
    x: ArrayLike
    values: ArrayLike
    inner: ArrayLike
    names: tuple[str, ...]
    pick: str = ""


Layer = (
    Points
    | Ellipses
    | Curve
    | Spots
    | Mark
    | Rule
    | Cursor
    | Ring
    | Bars
    | Cells
    | Columns
    | Density
    | Heat
    | Marginals
    | Ranked
    | Tail
)

# The array fields of each layer and how many dimensions one step of them has.
PER_STEP: dict[str, dict[str, int]] = {
    "points": {"x": 1, "y": 1},
    "ellipses": {"params": 3, "faint": 2},
    "curve": {"x": 1, "y": 1, "lo": 1, "hi": 1},
    "cursor": {"x": 0, "y": 0},
    "labelled_points": {"x": 1, "y": 1, "weights": 1},
    "rule": {},
    "ring": {"factor": 0},
    "bars": {"values": 1},
    "cells": {},
    "columns": {"x": 1, "values": 1, "inner": 1},
    "density": {"params": 3},
    "heatmap": {"values": 3},
    "marginals": {"weights": 2, "means": 3, "sds": 3},
    "ranked": {"words": 2, "values": 2, "marked": 2, "exact": 2},
    "tail": {"x": 1, "y": 1, "epsilons": 1, "deltas": 1, "start": 0},
}
# What tables and files call a layer, and the column in which they list each of its fields.
_TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "points": ("points", {"x": "x", "y": "y"}),
    "curve": ("curve", {"x": "x", "y": "y", "low": "lo", "high": "hi"}),
    "cursor": ("current point", {"x": "x", "y": "y"}),
    "labelled_points": ("labelled points", {"x": "x", "y": "y", "weight": "weights"}),
    "rule": ("reference", {"x": "x", "y": "y"}),
    "ring": ("ring", {"x": "cx", "y": "cy", "half_x": "rx", "half_y": "ry"}),
    "bars": ("bar", {"x": "values"}),
    "columns": ("column", {"x": "x", "y": "values", "value": "inner"}),
    "tail": ("delta at epsilon", {"x": "epsilons", "value": "deltas"}),
}


def layer_dict(layer: Layer) -> dict[str, Any]:
    """A layer as JSON-ready data: its kind, whether it moves, its fields, numbers compact."""
    arrays = PER_STEP[layer.kind]
    data: dict[str, Any] = {"kind": layer.kind, "moves": _moves(layer)}
    if isinstance(layer, Heat | Ranked):
        return data | layer.as_dict()
    if layer.kind in _TABLES:
        title, columns = _TABLES[layer.kind]
        quiet = isinstance(layer, Curve) and layer.colour is None
        depth = max(arrays.values(), default=0)
        data |= {"title": title, "table": {} if quiet else columns, "depth": depth}
    for name, value in vars(layer).items():
        is_number = isinstance(value, float | np.ndarray) or name in arrays
        data[name] = compact(value) if is_number and value is not None else value
    return data


def _moves(layer: Layer) -> bool:
    """Whether a renderer must draw the layer anew at each step."""
    return any(
        np.ndim(array := getattr(layer, name)) > dimensions and len(array) > 1
        for name, dimensions in PER_STEP[layer.kind].items()
    ) or any(
        texts and not isinstance(texts[0], str)
        for texts in (getattr(layer, name, ()) for name in ("labels", "notes"))
    )


def compact(values: ArrayLike) -> Any:
    """Numbers as nested lists with five significant digits; NaN and infinities become None.

    >>> compact([[123456.7, 0.000123456], [float("nan"), 0.3]])
    [[123460.0, 0.00012346], [None, 0.3]]
    >>> compact([2e-308])  # which no power of ten scales
    [2e-308]
    """
    array = np.asarray(values, dtype=float)
    finite = np.isfinite(array)
    safe = np.where(finite & (array != 0), np.abs(array), 1.0)
    places = SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(safe)).astype(int)
    # Scaling only by whole powers of ten keeps each result the double nearest to its short decimal.
    plain = np.where(finite, array, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
        rounded = np.round(plain * up / down) * down / up
    rounded = np.where(np.isfinite(rounded), rounded, plain)
    if finite.all():
        return rounded.tolist()
    with_gaps = rounded.astype(object)
    with_gaps[~finite] = None
    return with_gaps.tolist()


def at_step(values: ArrayLike, step: int, dimensions: int) -> Array:
    """One step of an array whose step has ``dimensions`` axes; what does not move is as it is.

    >>> at_step([[1.0, 2.0], [3.0, 4.0]], 1, 1)
    array([3., 4.])
    >>> at_step([1.0, 2.0], 1, 1)
    array([1., 2.])
    """
    array = np.asarray(values, dtype=float)
    if array.ndim == dimensions:
        return array
    return np.asarray(array[0 if len(array) == 1 else step])


def text_at(text: Text, step: int) -> str:
    """The text of a step.

    >>> text_at(("low", "high"), 1), text_at("always", 1)
    ('high', 'always')
    """
    return text if isinstance(text, str) else text[step]


def texts_at(texts: tuple[Any, ...], step: int) -> tuple[str, ...]:
    """The texts of a step.

    >>> texts_at((("a", "b"), ("c", "d")), 1), texts_at(("a", "b"), 1)
    (('c', 'd'), ('a', 'b'))
    """
    return texts if not texts or isinstance(texts[0], str) else tuple(texts[step])


def as_text(text: Text | list[str]) -> Text:
    """A text, or a tuple of texts whatever the sequence was."""
    return text if isinstance(text, str) else tuple(text)


def _numbers(layer: Any, name: str) -> Array:
    """A field turned into a float array, in place (the dataclass is still being made)."""
    array = np.asarray(getattr(layer, name), dtype=float)
    object.__setattr__(layer, name, array)
    return array


def _same_shape(layer: Any, first: str, second: str, dimensions: tuple[int, ...]) -> None:
    """Both fields as float arrays; their last axes agree and their dimensions are allowed."""
    first_array, second_array = _numbers(layer, first), _numbers(layer, second)
    if (
        first_array.ndim not in dimensions
        or second_array.ndim not in dimensions
        or first_array.shape[-1] != second_array.shape[-1]
    ):
        raise InputError(
            layer.kind, f"{first} and {second} do not match", "give arrays of the same length"
        )
