"""The portrait of a mean. One column: the histogram of its rows, where numbers are cut, and the
estimate beside the truth; more: one number a column, private beside exact."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.figures import dot_plot
from dpcore.figures.model_plot import (
    NO_FIT,
    Drawing,
    Portrait,
    Subject,
    brief,
    histogram,
    own_axis,
    own_units,
    place_text,
)
from dpcore.figures.scene import Axis, Curve, Layer, Points

BINS = 41
TAIL = 0.005  # of the rows, at each end, that the axis leaves out


def draw(subject: Subject) -> Drawing:
    """Each column's mean in half ranges of its limits from their middle; of one column, in its own
    unit over the histogram of its rows."""
    public = subject.public
    if public.dim == 1:
        return _one_column(subject)
    exact, private, ends = subject.exact.mean[0], subject.private.mean, subject.intervals
    if ends is not None:
        ends = (ends - public.center[:, None]) / public.half_range[:, None]
    label = "mean (half ranges from the middle of the limits)"
    return dot_plot.drawing(public.names, exact, private, label, ends, outlines=subject.outlines)


def _one_column(subject: Subject) -> Drawing:
    public, middle = subject.public, float(subject.public.center[0])
    exact = float(own_units(public, subject.exact.mean[0], 0)[0])
    means = own_units(public, subject.private.mean[:, :, 0], 0)  # (S, D)
    reach = public.half_range[0] * subject.private.reach[:, 0, 0]  # (S,)
    low, high = _ends(subject, exact, means)
    axis = own_axis(public, 0, low, high)
    unit = "days" if axis.days else public.units[0] or ""
    drawn = np.empty(0) if subject.rows is None else subject.rows[:, 0]
    heights, edges = np.histogram(drawn, BINS, (low, high))
    top = 1.1 * float(heights.max(initial=1))
    rows: tuple[Layer, ...] = ()
    if subject.rows is not None:
        rows = (histogram(edges, heights, f"{subject.unit}s"),)
    cut = (
        _upright(middle - reach, top, colour=2, dash=3, name="cut below"),
        _upright(middle + reach, top, colour=2, dash=3, name="cut above", label="cut"),
    )
    truth = _upright(np.array([exact]), top, colour=0, dash=2, name="exact mean", label="exact")
    suffix = "" if axis.days else f" {unit}".rstrip()
    mean, *places = (
        f"{place_text(axis, float(value))}{suffix}" if value == value else ""
        for value in (exact, *means[:, 0])
    )
    far = own_text(reach, unit)
    return Drawing(
        exact=(*rows, *cut, replace(truth, dash=0, bold=True, label="")),
        private=(
            *cut,
            *((truth,) if subject.outlines else ()),
            *_ghosts(means[:, 1:], top),
            *_interval(subject.intervals, 0.5 * top),
            _upright(means[:, 0], top, colour=0, dash=0, bold=True, name="private mean"),
        ),
        exact_alt=f"The mean is {mean}.",
        private_alts=tuple(
            f"The mean is {place}; values are truncated at about {away} from "
            f"{place_text(axis, middle)}."
            if place
            else NO_FIT
            for place, away in zip(places, far, strict=True)
        ),
        x=axis,
        y=Axis(f"{subject.unit}s", (0.0, top)),
        outside=tuple(
            f"mean {place_text(axis, float(value))}" if value == value else ""
            for value in means[:, 0]
        ),
    )


def own_text(values: Array, unit: str) -> tuple[str, ...]:
    """Numbers ``(n,)`` with their unit; nothing where there is none."""
    return tuple(
        f"{brief(float(value))} {unit}".rstrip() if value == value else "" for value in values
    )


def _upright(places: Array, top: float, **style: Any) -> Curve:
    """A line upwards at one place, or at one for each stop ``(S,)``."""
    x = np.repeat(np.where(np.isfinite(places), places, np.nan)[:, None], 2, axis=1)
    y = np.broadcast_to([0.0, top], x.shape)
    return Curve(*(x[0], y[0]) if len(x) == 1 else (x, y), **style)


def _ghosts(means: Array, top: float) -> tuple[Points, ...]:
    """The means of the other noise draws ``(S, D)``."""
    draws = means.shape[1]
    if not draws:
        return ()
    heights = np.broadcast_to(top * np.linspace(0.06, 0.3, draws), means.shape)
    return (Points(means, heights, opacity=0.5, colour=0, name="other draws"),)


def _interval(ends: Array | None, height: float) -> tuple[Curve, ...]:
    """A level line along the interval ``(S, 1, 2)`` of the private mean, in own units."""
    if ends is None:
        return ()
    level = np.full(ends[:, 0].shape, height)
    return (Curve(ends[:, 0], level, colour=0, dash=0, name=dot_plot.INTERVAL),)


def _ends(subject: Subject, exact: float, means: Array) -> tuple[float, float]:
    """What the axis holds: most rows where they may be drawn, else what was released."""
    rows = subject.rows
    shown = means[np.isfinite(means)] if rows is None else np.quantile(rows, [TAIL, 1.0 - TAIL])
    low, high = float(np.min(shown, initial=exact)), float(np.max(shown, initial=exact))
    room = 0.1 * (high - low) or float(subject.public.half_range[0])
    return low - room, high + room


PORTRAIT: Portrait = draw
