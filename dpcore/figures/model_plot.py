"""A portrait: what the fits of one model look like, exact beside private.

A model's declaration names its :class:`Portrait`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

import numpy as np

from dpcore.arrays import Array
from dpcore.declaration import declaration
from dpcore.figures.scene import Axis, Curve, Layer, Points, Ring
from dpcore.privacy.guarantee import show
from dpcore.schema.forms import DAYS, day_of, days_of
from dpcore.wall.data.clipping import PublicFrame

Places = tuple[tuple[str, float, float], ...]

NO_FIT = "No fit at this budget."
TALL = 50.0  # axes high is a ring whose sides are upright lines
DATES, LEAST_DATES = 5, 2  # on an axis, about and at least
MONTH = 30.4  # days
DAYS_APART = (1, 2, 7, 14)
MONTHS_APART = (1, 2, 3, 6, *(12 * 10**power * digit for power in range(4) for digit in (1, 2, 5)))


@dataclass(frozen=True)
class Subject:
    """What a portrait is drawn from; fits are in public unit coordinates.

    exact: a batch of one. private: arrays ``(S, D, ...)``, NaN where a budget is out of reach; draw
    0 is the bold one. pair: which two columns. rows ``(n, d)``: exact rows in own units to draw
    behind the exact fit, or ``None``. clip: share of the public radius that rows keep, one for all
    stops or one for each. window: a
    fit and rows that the axes must hold. unit: who one row is about. image: height and width, where
    the columns are the pixels of one. places: names, longitudes and latitudes for orientation.
    outlines: whether the exact fit may be drawn beside the private one. intervals ``(S, d, 2)``: of
    the bold fit's numbers, one a column, in own units as ``Fit.intervals`` has them; NaN where none
    is known.
    """

    public: PublicFrame
    exact: Any
    private: Any
    pair: tuple[int, int]
    rows: Array | None
    clip: tuple[float, ...]
    window: tuple[Any, Array | None]
    unit: str
    image: tuple[int, int] | None = None
    places: Places = ()
    outlines: bool = True
    intervals: Array | None = None


@dataclass(frozen=True)
class Drawing:
    """Layers and words of the two panels, which share their axes.

    private_alts: one a budget. bare: draw no axes. height: of a card in pixels [the usual one].
    outside: what of the private fit lies beyond what is drawn, one text a budget [nothing]. key:
    what a mark on the private panel means [there is none]. note: a sentence to stand below them.
    """

    exact: tuple[Layer, ...]
    private: tuple[Layer, ...]
    exact_alt: str
    private_alts: tuple[str, ...]
    x: Axis
    y: Axis
    bare: bool = False
    height: int | None = None
    outside: tuple[str, ...] | None = None
    key: str = ""
    note: str = ""


class Portrait(Protocol):
    """Draws the fits of one model. Total: fits with NaN are left out."""

    def __call__(self, subject: Subject) -> Drawing: ...


def portrait(model: str, show: str = "") -> Portrait:
    """A portrait of a model of the registry: the one that ``show`` names, or else the usual one."""
    declared = declaration(model)
    pictures = declared.shows()
    drawn: Portrait = declared.load(pictures.get(show, pictures[""]).place)
    return drawn


def own_units(public: PublicFrame, values: Array, column: int) -> Array:
    """Unit coordinates ``(...)`` of a column in the data's own units."""
    return np.asarray(public.center[column] + public.half_range[column] * values)


def column_axis(subject: Subject, column: int, low: float, high: float) -> Axis:
    """An axis that holds ``low`` to ``high`` (unit coordinates) and the window's rows, inside the
    public bounds."""
    public, rows = subject.public, subject.window[1]
    if rows is not None and len(rows):
        cells = (rows[:, column] - public.center[column]) / public.half_range[column]
        low, high = min(low, float(cells.min()) - 0.03), max(high, float(cells.max()) + 0.03)
    ends = own_units(public, np.array([max(low, -1.04), min(high, 1.04)]), column)
    return own_axis(public, column, float(ends[0]), float(ends[1]))


def own_axis(public: PublicFrame, column: int, low: float, high: float) -> Axis:
    """A column's axis from ``low`` to ``high`` in its own units; of dates, in days and years."""
    names = calendar(low, high) if public.units[column] == DAYS else {}
    if len(names) < LEAST_DATES:
        return Axis(column_title(public, column), (low, high))
    ticks = tuple(map(float, names))
    named = tuple(names.values())
    return Axis(public.names[column], (low, high), ticks=ticks, names=named, days=True)


def calendar(low: float, high: float) -> dict[int, str]:
    """Round dates between two days since 1970-01-01, about five, with what they are called.

    >>> calendar(17897, 18627)
    {17897: '2019-01', 18078: '2019-07', 18262: '2020-01', 18444: '2020-07'}
    """
    first, last, apart = day_of(math.ceil(low)), day_of(math.floor(high)), (high - low) / DATES
    if first is None or last is None:
        return {}
    if apart <= DAYS_APART[-1]:
        days = range(days_of(first), days_of(last) + 1, next(d for d in DAYS_APART if d >= apart))
        return {day: str(day_of(day)) for day in days}
    step = next(months for months in MONTHS_APART if months * MONTH >= apart)
    count = -(-(12 * first.year + first.month - 1 + (first.day > 1)) // step) * step
    names = {}
    while count // 12 <= last.year and (day := date(count // 12, count % 12 + 1, 1)) <= last:
        names[days_of(day)] = f"{day.year}" if step % 12 == 0 else f"{day:%Y-%m}"
        count += step
    return names


def column_title(public: PublicFrame, column: int) -> str:
    """A column's name with its unit, if it has one."""
    unit = public.units[column]
    return f"{public.names[column]} ({unit})" if unit else public.names[column]


def cloud(subject: Subject) -> tuple[Points, ...]:
    """The exact rows, where any may be shown."""
    rows, (i, j) = subject.rows, subject.pair
    return () if rows is None else (Points(rows[:, i], rows[:, j], name=subject.unit),)


def histogram(edges: Array, heights: Array, name: str) -> Curve:
    """Bars of heights ``(m,)`` between edges ``(m + 1,)``."""
    x, outline = np.repeat(edges, 2)[1:-1], np.repeat(heights, 2)
    return Curve(x, outline, np.zeros_like(x), outline, colour=None, name=name)


def ring(subject: Subject, top: float = 0.0) -> tuple[Ring, ...]:
    """The clipping ball's outline in the plane of two columns.

    top: of one column, where the other axis ends, which begins at 0; the outline is two upright
    lines.
    """
    public, (i, j) = subject.public, subject.pair
    cy, ry = float(public.center[j]), float(public.half_range[j] * public.radius)
    return (
        Ring(
            cx=float(public.center[i]),
            cy=top / 2.0 if top else cy,
            rx=float(public.half_range[i] * public.radius),
            ry=TALL * top if top else ry,
            label="clipping: drag",
            name="clip",
            limits=(0.1, 1.0),
            factor=subject.clip,
        ),
    )


def place_text(axis: Axis, value: float) -> str:
    """A place on an axis in a sentence; of dates, the nearest day."""
    return str(day_of(round(value))) if axis.days else brief(value)


def brief(value: float) -> str:
    """A number in a sentence: three figures, no zeros behind them.

    >>> brief(2.34567), brief(48.0), brief(-0.5)
    ('2.35', '48', '-0.5')
    """
    text = show(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
