"""The neighbouring tables on which fits of mixtures of Poissons are attacked."""

from __future__ import annotations

import numpy as np

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD, neighbours, proved, with_first
from dpcore.schema import Schema

COUNTS = Schema.from_bounds({"x": (0.0, 2.0), "y": (0.0, 2.0)})


def ends(adjacency: str) -> Pair:
    """No events or as many as the bounds allow: as far apart in sums as rows can be."""
    crowd = np.ones((CROWD, 2))
    return neighbours(
        with_first(crowd, (0.0, 0.0)),
        with_first(crowd, (2.0, 2.0)),
        adjacency,
        COUNTS,
        "one person with as many events as the limits allow or with none",
    )


POISSON = FitAttack(
    "poisson",
    "mixture of Poissons",
    ends,
    proved(),
    {"n_components": 2, "iterations": 2},
)
