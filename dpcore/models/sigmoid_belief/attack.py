"""The neighbouring tables on which fits of belief networks are attacked."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array
from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD_IN_STEPS, both, neighbours, with_first
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.schema import Schema

FEW, MANY = 16, 100  # pixels
BEGUN = 3  # seed of the start as published


def _sides(adjacency: str) -> Pair:
    """Two pictures that share few pixels, and are neither parallel nor opposite about the middle of
    the bounds or about the crowd: then their squares differ wherever the ball of the moments lies.
    """
    place = 8 * np.arange(FEW) // FEW
    scene = "one image that is lit on the left or one that is lit on the right"
    return _pictures(np.stack([place < 3, place > 4]), adjacency, scene)


def _start(adjacency: str) -> Pair:
    """The pixels that light the hidden unit at the published start, which is public, or those that
    put it out: then nearly all that one row adds to a step is what the other does not."""
    lights = belief.start(1, MANY, BEGUN).weights[:, 0] > 0.0
    scene = "one image that turns the hidden unit on or one that turns it off"
    return _pictures(np.stack([~lights, lights]), adjacency, scene)


def _pictures(lit: Array, adjacency: str, scene: str) -> Pair:
    """Neighbours that differ in one picture ``(2, J)``, whose others are dark."""
    schema = Schema.from_bounds({f"p{i}": (0.0, 1.0) for i in range(lit.shape[1])})
    crowd = np.zeros((CROWD_IN_STEPS, lit.shape[1]))
    first, second = (with_first(crowd, pixels.astype(float)) for pixels in lit)
    return neighbours(first, second, adjacency, schema, scene)


SBN = FitAttack(
    "sbn",
    "sigmoid belief network",
    _sides,
    both("wbk27"),
    {"n_components": 1, "rate": 1.0, "iterations": 1},
    {"paper": {"start": BEGUN}},
    runs=1000,
    tables_in_paper=_start,
)
