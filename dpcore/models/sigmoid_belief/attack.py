"""The neighbouring tables on which fits of belief networks are attacked."""

from __future__ import annotations

import numpy as np

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD_IN_STEPS, both, neighbours, with_first
from dpcore.schema import Schema

PIXELS = 100


def _pixels(adjacency: str) -> Pair:
    """Two pictures of which each has half the pixels of the other: orthogonal about the middle of
    the bounds, and far from parallel about the crowd, so that their squares differ wherever the
    ball of the moments lies."""
    schema = Schema.from_bounds({f"p{i}": (0.0, 1.0) for i in range(PIXELS)})
    crowd = np.zeros((CROWD_IN_STEPS, PIXELS))
    place = 4 * np.arange(PIXELS) // PIXELS
    return neighbours(
        with_first(crowd, np.where(place < 2, 1.0, 0.0)),
        with_first(crowd, np.where(place % 2 == 0, 1.0, 0.0)),
        adjacency,
        schema,
        "one image whose left half is lit, or one with two lit stripes",
    )


SBN = FitAttack(
    "sbn",
    "sigmoid belief network",
    _pixels,
    both("wbk27"),
    {"n_components": 1, "rate": 1.0, "iterations": 1},
    runs=1000,
)
