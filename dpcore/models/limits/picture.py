"""The portrait of narrower limits: how many times narrower each column's are, private beside exact.

Widths of columns differ by powers of ten, and so does what can be gained: the axis is logarithmic.
The limits themselves stand in the words beside the picture.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpcore.arrays import Array
from dpcore.figures import dot_plot
from dpcore.figures.model_plot import NO_FIT, Drawing, Portrait, Subject, brief
from dpcore.figures.scene import Axis
from dpcore.models.limits.parameters import Limits

LEAST = 1e-12  # share of the stated limits
TIMES = tuple(digit * 10**decade for decade in range(13) for digit in (1, 2, 5))
MOST_TICKS = 7
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
    times = [many for many in TIMES if low <= math.log10(many) <= high]
    if len(times) > MOST_TICKS:
        times = [many for many in times if str(many)[0] == "1"]
    axis = Axis(
        drawn.x.label,
        drawn.x.range,
        ticks=tuple(math.log10(many) for many in times),
        names=tuple(f"{many:,}" for many in times),
    )
    return replace(
        drawn,
        x=axis,
        exact_alt=_told(subject, subject.exact.lower[0], subject.exact.upper[0]),
        private_alts=tuple(
            _told(subject, low, high)
            for low, high in zip(
                subject.private.lower[:, 0], subject.private.upper[:, 0], strict=True
            )
        ),
    )


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
        f"{name} {brief(float(low))} to {brief(float(high))}"
        for name, low, high in zip(public.names, *ends, strict=True)
    ]
    more = len(named) - WORDS
    return "; ".join(named[:WORDS]) + (f"; and {more} more." if more > 0 else ".")


PORTRAIT: Portrait = draw
