"""The neighbouring tables on which fits of the gradient models are attacked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD, both, neighbours, proved, with_first
from dpcore.schema import Column, Schema

FAR = 1000.0  # where a gradient is long enough to be clipped, and its sign is sure
FAR_SIDES = {"x": (-FAR, FAR), "y": (-FAR, FAR)}
_STEADY = {"initial": (1.0, 1.0), "step_size": 1e-3, "iterations": 3}


def _across(adjacency: str) -> Pair:
    """Rows nearly across the start, far to either side of it: opposite gradients."""
    crowd = np.zeros((CROWD, 2))
    return neighbours(
        with_first(crowd, (-0.8 * FAR, FAR)),
        with_first(crowd, (FAR, -0.8 * FAR)),
        adjacency,
        Schema.from_bounds(FAR_SIDES),
        "one person far to one side of the start or to the other",
    )


def _alone(adjacency: str) -> Pair:
    """The same with nobody else, so that a step is along what that one person sent."""
    return neighbours(
        np.array([[-0.8 * FAR, FAR]]),
        np.array([[FAR, -0.8 * FAR]]),
        adjacency,
        Schema.from_bounds(FAR_SIDES),
        "one person and nobody else, far to one side of the start or to the other",
    )


def _targets(first: Sequence[float], second: Sequence[float], adjacency: str) -> Pair:
    """The same for a regression: rows ``(x, y, target)``."""
    target = Column("target", role="target", lower=-FAR, upper=FAR)
    schema = Schema((*Schema.from_bounds(FAR_SIDES).columns, target))
    crowd = np.zeros((CROWD, 3))
    return neighbours(
        with_first(crowd, first),
        with_first(crowd, second),
        adjacency,
        schema,
        "one person whose gradient points one way or the other",
    )


def _two_regressions(adjacency: str) -> Pair:
    return _targets((-0.8 * FAR, FAR, FAR), (FAR, -0.8 * FAR, FAR), adjacency)


def _two_directions(adjacency: str) -> Pair:
    """Rows across each other, whose squares share no entry."""
    return _targets((FAR, 0.0, FAR), (0.0, FAR, FAR), adjacency)


def _one_regression(adjacency: str) -> Pair:
    return _targets((FAR, -FAR, -FAR), (FAR, -FAR, FAR), adjacency)


SYMMETRIC_MIXTURE = FitAttack(
    "symmetric-mixture", "gradient EM for two opposite groups", _across, both("exact"), _STEADY
)
MIXTURE_REGRESSION = FitAttack(
    "mixture-regression",
    "gradient EM for two regressions",
    _two_regressions,
    both("exact"),
    _STEADY,
)
MISSING_REGRESSION = FitAttack(
    "missing-regression",
    "gradient EM for a regression with missing cells",
    _one_regression,
    both("exact"),
    _STEADY,
)
MIXTURE_REGRESSION_DIRECTION = FitAttack(
    "mixture-regression",
    "the direction from which gradient EM for two regressions begins",
    _two_directions,
    proved(),
    {"iterations": 3},
)
SYMMETRIC_MIXTURE_LOCAL = FitAttack(
    "symmetric-mixture",
    "gradient EM for two opposite groups with local noise",
    _alone,
    proved(),
    _STEADY | {"trust": "local", "iterations": 1},
)
