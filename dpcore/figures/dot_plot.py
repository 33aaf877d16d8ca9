"""Numbers one below another, one a column: private ones as points over the rings of exact ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.arrays import Array
from dpcore.figures.component_images import short
from dpcore.figures.model_plot import NO_FIT, Drawing, brief
from dpcore.figures.scene import Axis, Curve, Points, Spots

MOST_COLUMNS = 24  # that are drawn: those with the largest exact numbers
ROW, AROUND, LEAST_HEIGHT = 20, 106, 340  # pixels of a column, and of all else on a card
NUMBERS_IN_WORDS = 4  # numbers in words
ROOM = 0.6  # of the exact numbers' range, on either side of it
CAP = 0.12  # half of the line across the end of an interval
INTERVAL = "90% intervals, privacy noise alone"
SPREAD = (-0.34, -0.12)  # where the other draws lie, below their column


def drawing(
    names: tuple[str, ...],
    exact: Array,
    private: Array,
    label: str,
    intervals: Array | None = None,
    interval: str = INTERVAL,
    *,
    outlines: bool = True,
) -> Drawing:
    """Both panels of a portrait whose fits are one number a column, the largest exact one on top.

    exact ``(d,)``, private ``(S, D, d)``, in what ``label`` says; draw 0 is the bold one, the other
    draws are faint points. intervals ``(S, d, 2)``: of the bold numbers; interval: what they are.
    outlines: whether the exact numbers may be seen beside the private ones.
    """
    order = np.argsort(-np.abs(exact), kind="stable")[:MOST_COLUMNS]
    names, exact, private = tuple(names[i] for i in order), exact[order], private[..., order]
    count = len(names)
    low, high = min(0.0, float(exact.min())), max(0.0, float(exact.max()))
    room = ROOM * (high - low or 1.0)
    truth = _spots(names, exact, hollow=True)
    beyond = np.sum((private[:, 0] < low - room) | (private[:, 0] > high + room), axis=1)
    beside = replace(truth, names=tuple(f"{name}, exact" for name in names))
    reach = () if intervals is None else (_reach(intervals[:, order], interval),)
    return Drawing(
        exact=(_zero(count), truth),
        private=(
            _zero(count),
            *_other_draws(private[:, 1:]),
            *((beside,) if outlines else ()),
            *reach,
            _spots(names, private[:, 0]),
        ),
        exact_alt=_described(names, exact),
        private_alts=tuple(_described(names, step_values) for step_values in private[:, 0]),
        outside=tuple(f"{k} of {count} beyond the axis" if k else "" for k in beyond),
        x=Axis(label, (low - room, high + room)),
        y=Axis(
            "column",
            (0.4, count + 0.6),
            ticks=tuple(range(1, count + 1)),
            names=tuple(short(name) for name in reversed(names)),
        ),
        height=max(LEAST_HEIGHT, AROUND + ROW * count),
        key="rings: exact" if outlines else "",
    )


def _places(values: Array) -> Array:
    """How high columns lie, the first on top, in the shape of values ``(..., d)``."""
    return np.broadcast_to(np.arange(values.shape[-1], 0.0, -1.0), values.shape)


def _zero(count: int) -> Curve:
    return Curve([0.0, 0.0], [0.4, count + 0.6], colour=None)


def _reach(ends: Array, name: str) -> Curve:
    """A line along each interval ``(S, d, 2)``, with a short one across each end."""
    places = _places(ends[..., 0])[..., None]
    y = np.concatenate(
        [places + side for side in (-CAP, CAP, 0.0, 0.0, -CAP, CAP, np.nan)], axis=-1
    )
    low, high = ends[..., :1], ends[..., 1:]
    x = np.concatenate([low, low, low, high, high, high, np.full(low.shape, np.nan)], axis=-1)
    return Curve(x.reshape(len(ends), -1), y.reshape(len(ends), -1), label_at="none", name=name)


def _spots(names: tuple[str, ...], values: Array, *, hollow: bool = False) -> Spots:
    colours = (0,) * len(names)
    return Spots(values, _places(values), names=names, colours=colours, hollow=hollow)


def _other_draws(values: Array) -> tuple[Points, ...]:
    """The numbers of the other noise draws ``(S, D, d)``."""
    if not values.shape[1]:
        return ()
    steps, draws = values.shape[:2]
    places = _places(values) + np.linspace(*SPREAD, draws)[None, :, None]
    flat = values.reshape(steps, -1), places.reshape(steps, -1)
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
