"""The neighbouring tables on which fits of belief networks are attacked."""

from __future__ import annotations

import numpy as np

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD_IN_STEPS, both, neighbours, with_first
from dpcore.schema import Schema

PIXELS = 16


def _pixels(adjacency: str) -> Pair:
    """Two pictures that share few pixels, and are neither parallel nor opposite about the middle of
    the bounds or about the crowd: then their squares differ wherever the ball of the moments lies.
    """
    schema = Schema.from_bounds({f"p{i}": (0.0, 1.0) for i in range(PIXELS)})
    crowd = np.zeros((CROWD_IN_STEPS, PIXELS))
    place = 8 * np.arange(PIXELS) // PIXELS
    return neighbours(
        with_first(crowd, np.where(place < 3, 1.0, 0.0)),
        with_first(crowd, np.where(place > 4, 1.0, 0.0)),
        adjacency,
        schema,
        "one image that is lit on the left or one that is lit on the right",
    )


SBN = FitAttack(
    "sbn",
    "sigmoid belief network",
    _pixels,
    both("wbk27"),
    {"n_components": 1, "rate": 1.0, "iterations": 1},
    runs=1000,
)
