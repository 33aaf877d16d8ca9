"""The portrait of narrower limits: how many times narrower each column's are, private beside exact.

Widths of columns differ by powers of ten, and so does what can be gained: the axis is logarithmic.
The limits themselves stand in the words beside the picture.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.figures import dot_plot
from dpcore.figures.model_plot import NO_FIT, Drawing, Portrait, Subject
from dpcore.figures.scene import Layer
from dpcore.models.limits.parameters import Limits, in_words

LEAST = 1e-12  # share of the stated limits
FEW = (1.0, 2.0, 5.0)  # numbers on an axis that ends below 10
WORDS = 6  # columns in words


def draw(subject: Subject) -> Drawing:
    """Each column's width, as how many times the stated limits are as wide."""
    public = subject.public
    exact, private = _decades(subject.exact)[0], _decades(subject.private)
    drawn = dot_plot.drawing(
        public.names,
        exact,
        private,
        "how many times narrower than the stated limits",
        outlines=subject.outlines,
    )
    low, high = drawn.x.range
    ticks = FEW if high < 1.0 else None  # a narrow screen would have one number alone
    return replace(
        drawn,
        exact=_times(drawn.exact),
        private=_times(drawn.private),
        x=replace(  # none is wider
            drawn.x, range=(10.0 ** (low / 5.0), 10.0**high), scale="log", ticks=ticks
        ),
        exact_alt=_told(subject, subject.exact.lower[0], subject.exact.upper[0]),
        private_alts=tuple(
            _told(subject, low, high)
            for low, high in zip(
                subject.private.lower[:, 0], subject.private.upper[:, 0], strict=True
            )
        ),
    )


def _times(layers: tuple[Any, ...]) -> tuple[Layer, ...]:
    """The layers, with how many times in place of powers of 10."""
    return tuple(replace(layer, x=10.0 ** np.asarray(layer.x)) for layer in layers)


def _decades(batch: Limits) -> Array:
    """How many times narrower limits are, as powers of 10."""
    return np.asarray(-np.log10(np.maximum(batch.width, LEAST)))


def _told(subject: Subject, lower: Array, upper: Array) -> str:
    """The limits of the first columns in words."""
    if not np.all(np.isfinite(upper - lower)):
        return NO_FIT
    public = subject.public
    ends = (public.center + public.half_range * units for units in (lower, upper))
    named = [
        f"{name} {' to '.join(in_words(unit, float(low), float(high)))}"
        for name, unit, low, high in zip(public.names, public.units, *ends, strict=True)
    ]
    more = len(named) - WORDS
    return "; ".join(named[:WORDS]) + (f"; and {more} more." if more > 0 else ".")


PORTRAIT: Portrait = draw
