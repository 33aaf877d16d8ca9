"""The neighbouring tables on which fits of means are attacked."""

from __future__ import annotations

import numpy as np

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD, SIDES, both, neighbours, opposite, proved
from dpcore.schema import Schema


def _alone(adjacency: str) -> Pair:
    """Opposite corners with nobody else, so that a mean is what that one person sent."""
    return neighbours(
        np.array([[-1.0, -1.0]]),
        np.array([[1.0, 1.0]]),
        adjacency,
        Schema.from_bounds(SIDES),
        "one person and nobody else, in a corner of the limits or in the opposite corner",
    )


MEAN = FitAttack(
    "mean", "mean of heavy-tailed columns", opposite, both("exact"), {"tau": 1e-4, "rows": CROWD}
)
MEAN_LOCAL = FitAttack(
    "mean",
    "mean of numbers sent with local noise",
    opposite,
    proved(),
    {"tau": 1e-4, "rows": CROWD, "trust": "local"},
)
MEAN_ONE_BIT = FitAttack(
    "mean",
    "mean of one bit per number from each person",
    _alone,
    proved(accountant="linear"),
    {"trust": "local_onebit"},
    runs=20_000,
    outcome_alone=True,
)
