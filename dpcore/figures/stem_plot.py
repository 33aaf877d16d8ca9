"""Numbers side by side, one a column: exact ones as short bars, private ones as points at stems."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.figures.model_plot import NO_FIT, Drawing, brief
from dpcore.figures.scene import Axis, Curve, Points, Spots

Array = NDArray[np.float64]

MOST_NAMES = 12  # columns whose names are written beside their points
MOST_COLUMNS = 40  # that are drawn: those with the largest exact numbers
NUMBERS_IN_WORDS = 4  # numbers in words
ROOM = 0.6  # of the exact numbers' range, above and below it
WIDTH = 0.32  # of a bar that marks an exact number, on the left of its column
CAP = 0.09  # half of the bar across the end of an interval
INTERVAL = "90% intervals, privacy noise alone"
SPREAD = (-0.28, -0.08)  # where the other draws stand, beside their column


def drawing(
    names: tuple[str, ...],
    exact: Array,
    private: Array,
    label: str,
    short: tuple[str, ...] = (),
    intervals: Array | None = None,
    interval: str = INTERVAL,
) -> Drawing:
    """Both panels of a portrait whose fits are one number a column.

    exact ``(d,)``, private ``(S, D, d)``, in what ``label`` says; draw 0 is the bold one, the other
    draws are faint points. The exact numbers are marked behind the private ones. short: names as
    they are written beside points [names]. intervals ``(S, d, 2)``: of the bold numbers; interval:
    what they are.
    """
    drawn = np.sort(np.argsort(-np.abs(exact), kind="stable")[:MOST_COLUMNS])
    short = tuple((short or names)[i] for i in drawn)
    names, exact, private = tuple(names[i] for i in drawn), exact[drawn], private[..., drawn]
    ends = None if intervals is None else intervals[:, drawn]
    low, high = min(0.0, float(exact.min())), max(0.0, float(exact.max()))
    room = ROOM * (high - low or 1.0)
    return Drawing(
        exact=(_zero(len(names)), _stem(exact), _spots(names, exact, short)),
        private=(
            _zero(len(names)),
            _bars(exact),
            *_ghosts(private[:, 1:]),
            _stem(private[:, 0]),
            *(() if ends is None else (_reach(ends, interval),)),
            _spots(names, private[:, 0], short),
        ),
        exact_alt=_described(names, exact),
        private_alts=tuple(_described(names, step_values) for step_values in private[:, 0]),
        x=Axis("column", (0.4, len(names) + 0.9), ticks=tuple(range(1, len(names) + 1))),
        y=Axis(label, (low - room, high + room)),
    )


def _places(values: Array) -> Array:
    """Where columns stand, in the shape of values ``(..., d)``."""
    return np.broadcast_to(np.arange(1.0, values.shape[-1] + 1.0), values.shape)


def _zero(count: int) -> Curve:
    return Curve([0.4, count + 0.9], [0.0, 0.0], colour=None)


def _stem(values: Array) -> Curve:
    """Lines from 0 to each number ``(..., d)``."""
    places, gap = _places(values), np.full(values.shape, np.nan)
    x = np.stack([places, places, gap], axis=-1)
    y = np.stack([np.zeros(values.shape), values, gap], axis=-1)
    flat = (*values.shape[:-1], -1)
    return Curve(x.reshape(flat), y.reshape(flat), colour=None)


def _reach(ends: Array, name: str) -> Curve:
    """An upright line along each interval ``(S, d, 2)``, with a short one across each end."""
    places = _places(ends[..., 0])[..., None]
    x = np.concatenate(
        [places + side for side in (-CAP, CAP, 0.0, 0.0, -CAP, CAP, np.nan)], axis=-1
    )
    low, high = ends[..., :1], ends[..., 1:]
    y = np.concatenate([low, low, low, high, high, high, np.full(low.shape, np.nan)], axis=-1)
    return Curve(x.reshape(len(ends), -1), y.reshape(len(ends), -1), label_at="none", name=name)


def _bars(exact: Array) -> Curve:
    """A short level line at each exact number."""
    places, gap = _places(exact), np.full(exact.shape, np.nan)
    x = np.stack([places - WIDTH, places, gap], axis=-1).ravel()
    return Curve(x, np.stack([exact, exact, gap], axis=-1).ravel(), colour=None)


def _spots(names: tuple[str, ...], values: Array, short: tuple[str, ...]) -> Spots:
    labels = short if len(names) <= MOST_NAMES else ()
    return Spots(_places(values), values, names=names, labels=labels, colours=(0,) * len(names))


def _ghosts(values: Array) -> tuple[Points, ...]:
    """The numbers of the other noise draws ``(S, D, d)``."""
    if not values.shape[1]:
        return ()
    steps, draws = values.shape[:2]
    places = _places(values) + np.linspace(*SPREAD, draws)[None, :, None]
    flat = places.reshape(steps, -1), values.reshape(steps, -1)
    return (Points(*flat, opacity=0.5, colour=0, name="other draws"),)


def _described(names: tuple[str, ...], values: Array) -> str:
    """The largest numbers in words."""
    if not np.all(np.isfinite(values)):
        return NO_FIT
    order = np.argsort(-np.abs(values), kind="stable")[:NUMBERS_IN_WORDS]
    sentence = "; ".join(f"{names[i]} {brief(float(values[i]))}" for i in order)
    return sentence + (
        "." if len(order) == len(names) else f"; and {len(names) - len(order)} more."
    )
