"""The neighbouring tables on which fits of logistic regression are attacked."""

from __future__ import annotations

import numpy as np

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD, SIDES, neighbours, printed, proved, with_first
from dpcore.schema import Column, Schema

OFTEN = 0.01  # where releases are on samples, whose cost is rare events: often enough to be counted
YES_OR_NO = Schema(
    (*Schema.from_bounds(SIDES).columns, Column("target", role="target", type="binary"))
)


def _answers(adjacency: str) -> Pair:
    """A yes or a no of somebody far out: with the label changed, the slope moves by the whole."""
    crowd = np.zeros((1, 3))
    return neighbours(
        with_first(crowd, (1.0, 1.0, 0.0)),
        with_first(crowd, (1.0, 1.0, 1.0)),
        adjacency,
        YES_OR_NO,
        "one distant person with a yes or a no",
    )


def _outcomes(adjacency: str) -> Pair:
    """A yes and a no, at the angle where sums and squares together differ most."""
    crowd = np.tile([1.0, -1.0, 0.0], (CROWD, 1))
    return neighbours(
        with_first(crowd, (1.0, -1.0, 0.0)),
        with_first(crowd, (1.0, 1.0, 1.0)),
        adjacency,
        YES_OR_NO,
        "one person with a yes and unusual features or with a no and everybody else's features",
    )


LOGISTIC = FitAttack(
    "logistic",
    "Bayesian logistic regression",
    _outcomes,
    {**proved(), "paper": printed("wbk27", 4.0, OFTEN)},
    of_mode={"paper": {"minibatch": CROWD // 2, "iterations": 1}},
    runs=4000,
)
LOGISTIC_OBJECTIVE = FitAttack(
    "logistic",
    "logistic regression by objective perturbation",
    _answers,
    proved(2.0, accountant="linear", adjacency="label"),
    {"algorithm": "objective"},
    runs=6000,
    outcome_alone=True,
)
