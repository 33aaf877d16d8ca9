"""Numbers with heavy tails whose mean and mean square are known: what a clipped mean has to face.

Student t, Pareto and log-normal, as in Wang, Ding, Hu, Xie, Pan, Xu 2023, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import whole
from dpcore.schema import Column, Schema

if TYPE_CHECKING:
    import pandas as pd


REACH = 1e6  # public bounds: so far out that they hardly help


@dataclass(frozen=True)
class Tail:
    """A law with its mean and mean square."""

    name: str
    mean: float
    mean_square: float
    drawn: Callable[[np.random.Generator, int], Array]


def student(freedom: float) -> Tail:
    """Student's t of more than two degrees of freedom.

    >>> student(4.0).mean_square
    2.0
    """
    return Tail(
        f"Student t, {freedom:g} degrees of freedom",
        0.0,
        freedom / (freedom - 2.0),
        lambda rng, n: np.asarray(rng.standard_t(freedom, n)),
    )


def pareto(index: float) -> Tail:
    """Pareto of index above 2, from 1 upwards.

    >>> pareto(3.0).mean
    1.5
    """
    return Tail(
        f"Pareto, index {index:g}",
        index / (index - 1.0),
        index / (index - 2.0),
        lambda rng, n: np.asarray(1.0 + rng.pareto(index, n)),
    )


def log_normal() -> Tail:
    """The exponential of a standard normal number."""
    return Tail(
        "log-normal",
        math.exp(0.5),
        math.exp(2.0),
        lambda rng, n: np.asarray(rng.lognormal(size=n)),
    )


def tail_table(tail: Tail, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Schema]:
    """n draws as a table of one column ``x``, with public bounds of a million."""
    import pandas as pd

    frame = pd.DataFrame({"x": tail.drawn(rng, whole("n", n))})
    return frame, Schema((Column("x", lower=-REACH, upper=REACH),))
