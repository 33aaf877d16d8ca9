"""The neighbouring tables on which fits of mixtures of Bernoullis are attacked."""

from __future__ import annotations

import numpy as np

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD, neighbours, proved, with_first
from dpcore.schema import Schema

ANSWERS = Schema.from_bounds({"x": (0.0, 1.0), "y": (0.0, 1.0)})


def opposite(adjacency: str) -> Pair:
    """All answers no or all yes: as far apart in sums as rows can be."""
    crowd = np.full((CROWD, 2), 0.5)
    return neighbours(
        with_first(crowd, (0.0, 0.0)),
        with_first(crowd, (1.0, 1.0)),
        adjacency,
        ANSWERS,
        "one person whose answers are all no or all yes",
    )


BERNOULLI = FitAttack(
    "bernoulli",
    "mixture of Bernoullis",
    opposite,
    proved(),
    {"n_components": 2, "iterations": 2},
)
