"""The neighbouring tables on which fits of belief networks are attacked."""

from __future__ import annotations

import numpy as np

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD_IN_STEPS, both, neighbours, with_first
from dpcore.models.sigmoid_belief.private import first_weights
from dpcore.schema import Schema

PIXELS = 100
BEGUN = 3  # seed of the start


def _pixels(adjacency: str) -> Pair:
    """The pixels that light the hidden unit at the start, which is public, or those that put it
    out: then nearly all that one row adds is what the other does not."""
    schema = Schema.from_bounds({f"p{i}": (0.0, 1.0) for i in range(PIXELS)})
    crowd = np.zeros((CROWD_IN_STEPS, PIXELS))
    lights = first_weights(1, PIXELS, BEGUN)[:, 0] > 0.0
    return neighbours(
        with_first(crowd, np.where(lights, 0.0, 1.0)),
        with_first(crowd, np.where(lights, 1.0, 0.0)),
        adjacency,
        schema,
        "one image that turns the hidden unit on or one that turns it off",
    )


SBN = FitAttack(
    "sbn",
    "sigmoid belief network",
    _pixels,
    both("wbk27"),
    {"n_components": 1, "rate": 1.0, "iterations": 1, "start": BEGUN},
    runs=1000,
)
