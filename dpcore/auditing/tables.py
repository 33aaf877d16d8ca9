"""The neighbouring tables on which each model's fits are attacked, one line a model.

Everybody but one person stands where nothing is added, and that person stands in one of two places
as far apart as the model's sensitivity allows (or in one, and nowhere). Where rows are sampled, all
others are as the first table's own first row, which is the worst case of sampling (Balle, Barthe,
Gaboardi 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.fitting.belief import first_weights
from dpcore.privacy import Privacy
from dpcore.schema import Ball, Column, Schema
from dpcore.wall.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

CROWD = 100
DELTA = 1e-5
OFTEN = 0.01  # where releases are on samples, whose cost is rare events: often enough to be counted
PIXELS = 100
BEGUN = 3  # seed of the belief network's start
SIDES = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}
YES_OR_NO = Schema(
    (*Schema.from_bounds(SIDES).columns, Column("target", role="target", type="binary"))
)


def _proved(epsilon: float = 4.0, **more: Any) -> dict[str, Privacy]:
    return {"proved": Privacy(epsilon=epsilon, delta=DELTA, **more)}


def _printed(accountant: str, epsilon: float, delta: float = DELTA) -> Privacy:
    return Privacy(epsilon=epsilon, delta=delta, accountant=accountant, mode="paper")


def _both(accountant: str, epsilon: float = 4.0, printed: float = 4.0) -> dict[str, Privacy]:
    return {**_proved(epsilon), "paper": _printed(accountant, printed)}


def seal(columns: dict[str, Sequence[Any] | Array], schema: Schema) -> PrivateTable:
    """Columns of simulated cells behind the wall, open to all."""
    import pandas as pd

    return PrivateTable.seal(pd.DataFrame(columns), schema, open_to_all=True)


def _pair(one: Array, other: Array, adjacency: str, schema: Schema, scene: str) -> Pair:
    """Tables of rows ``(n, d)`` that differ in the first; where it comes or goes, it is absent from
    one."""
    names = [column.name for column in schema.columns]
    if adjacency == "add_remove":
        one, scene = one[1:], f"{scene.split(' or ')[0]}, or absent"
    tables = [seal(dict(zip(names, rows.T, strict=True)), schema) for rows in (one, other)]
    return Pair(tables[0], tables[1], scene)


def _with_first(crowd: Array, row: Sequence[float] | Array) -> Array:
    return np.concatenate([np.array([row], dtype=float), crowd])


def _crossed(adjacency: str) -> Pair:
    """Orthogonal rows, each on an axis: as far apart in squares as rows can be."""
    crowd = np.zeros((CROWD, 2))
    return _pair(
        _with_first(crowd, (0.0, 1.0)),
        _with_first(crowd, (1.0, 0.0)),
        adjacency,
        Schema((Column("x"), Column("y")), ball=Ball((0.0, 0.0), 1.0)),
        "one person at an end of the first axis or at an end of the second",
    )


def _opposite(adjacency: str) -> Pair:
    """Opposite corners: as far apart in sums as rows can be."""
    crowd = np.zeros((CROWD, 2))
    return _pair(
        _with_first(crowd, (-1.0, -1.0)),
        _with_first(crowd, (1.0, 1.0)),
        adjacency,
        Schema.from_bounds(SIDES),
        "one person in a corner of the limits or in the opposite one",
    )


def _alone(adjacency: str) -> Pair:
    """Opposite corners with nobody else, so that a mean is what that one person sent."""
    return _pair(
        np.array([[-1.0, -1.0]]),
        np.array([[1.0, 1.0]]),
        adjacency,
        Schema.from_bounds(SIDES),
        "one person in a corner of the limits or in the opposite one, nobody else",
    )


FAR = 1000.0  # where a gradient is long enough to be clipped, and its sign is sure
FAR_SIDES = {"x": (-FAR, FAR), "y": (-FAR, FAR)}
CROWD_IN_STEPS = 19  # where each run works through the rows by itself


def _across(adjacency: str) -> Pair:
    """Rows nearly across the start, far to either side of it: opposite gradients."""
    crowd = np.zeros((CROWD, 2))
    return _pair(
        _with_first(crowd, (-0.8 * FAR, FAR)),
        _with_first(crowd, (FAR, -0.8 * FAR)),
        adjacency,
        Schema.from_bounds(FAR_SIDES),
        "one person far to one side of the start or to the other",
    )


def _targets(first: Sequence[float], second: Sequence[float], adjacency: str) -> Pair:
    """The same for a regression: rows ``(x, y, target)``."""
    target = Column("target", role="target", lower=-FAR, upper=FAR)
    schema = Schema((*Schema.from_bounds(FAR_SIDES).columns, target))
    crowd = np.zeros((CROWD, 3))
    return _pair(
        _with_first(crowd, first),
        _with_first(crowd, second),
        adjacency,
        schema,
        "one person whose gradient points one way or the other",
    )


def _two_regressions(adjacency: str) -> Pair:
    return _targets((-0.8 * FAR, FAR, FAR), (FAR, -0.8 * FAR, FAR), adjacency)


def _one_regression(adjacency: str) -> Pair:
    return _targets((FAR, -FAR, -FAR), (FAR, -FAR, FAR), adjacency)


def _answers(adjacency: str) -> Pair:
    """A yes or a no of somebody far out: with the label changed, the slope moves by the whole."""
    crowd = np.zeros((1, 3))
    return _pair(
        _with_first(crowd, (1.0, 1.0, 0.0)),
        _with_first(crowd, (1.0, 1.0, 1.0)),
        adjacency,
        YES_OR_NO,
        "one person far out with a yes or a no",
    )


def _outcomes(adjacency: str) -> Pair:
    """A yes and a no, at the angle where sums and squares together differ most."""
    crowd = np.tile([1.0, -1.0, 0.0], (CROWD, 1))
    return _pair(
        _with_first(crowd, (1.0, -1.0, 0.0)),
        _with_first(crowd, (1.0, 1.0, 1.0)),
        adjacency,
        YES_OR_NO,
        "one person with a yes and other features or like everybody",
    )


def _pixels(adjacency: str) -> Pair:
    """The pixels that light the hidden unit at the start, which is public, or those that put it
    out: then nearly all that one row adds is what the other does not."""
    schema = Schema.from_bounds({f"p{i}": (0.0, 1.0) for i in range(PIXELS)})
    crowd = np.zeros((CROWD_IN_STEPS, PIXELS))
    lights = first_weights(1, PIXELS, BEGUN)[:, 0] > 0.0
    return _pair(
        _with_first(crowd, np.where(lights, 0.0, 1.0)),
        _with_first(crowd, np.where(lights, 1.0, 0.0)),
        adjacency,
        schema,
        "one picture that lights the hidden unit or that puts it out",
    )


def _documents(adjacency: str) -> Pair:
    """One word again and again, among documents of another (or among empty ones)."""
    known = Vocabulary(("alpha", "beta", "gamma"))
    crowd = 0.0 if adjacency == "add_remove" else 500.0

    def corpus(first: int | None) -> PrivateCorpus:
        words = np.zeros(CROWD_IN_STEPS + 1, dtype=np.intp)
        counts = np.full(CROWD_IN_STEPS + 1, crowd)
        if first is not None:
            words[0], counts[0] = first, 500.0
        starts = np.arange(CROWD_IN_STEPS + 2)
        if first is None:
            words, counts, starts = words[1:], counts[1:], starts[:-1]
        return PrivateCorpus.seal(starts, words, counts, known, open_to_all=True)

    one = corpus(None if adjacency == "add_remove" else 0)
    return Pair(one, corpus(1), "one document of another word than all others or of the same")


GMM = FitAttack(
    "gmm",
    "mixture of Gaussians",
    _crossed,
    _both("zcdp", 4.0, 8.0),
    {"n_components": 2, "iterations": 2},
)
KMEANS = FitAttack(
    "kmeans",
    "k-means",
    _opposite,
    _both("linear", 4.0, 1.0),
    {"n_components": 2, "iterations": 2},
    runs=1000,
)
FA = FitAttack("fa", "factor analysis", _crossed, _both("linear"), {"n_components": 1})
MEAN = FitAttack(
    "mean", "mean of heavy-tailed columns", _opposite, _both("exact"), {"tau": 1e-4, "rows": CROWD}
)
MEAN_LOCAL = FitAttack(
    "mean",
    "mean of what persons send with own noise",
    _opposite,
    _proved(),
    {"tau": 1e-4, "rows": CROWD, "trust": "local"},
)
MEAN_ONE_BIT = FitAttack(
    "mean",
    "mean of one bit a number from each person",
    _alone,
    _proved(accountant="linear"),
    {"trust": "local_onebit"},
    runs=20_000,
    outcome_alone=True,
)
_STEADY = {"initial": (1.0, 1.0), "step_size": 1e-3, "iterations": 3}
SYMMETRIC_MIXTURE = FitAttack(
    "symmetric-mixture", "gradient EM of two opposite groups", _across, _both("exact"), _STEADY
)
MIXTURE_REGRESSION = FitAttack(
    "mixture-regression",
    "gradient EM of two regressions",
    _two_regressions,
    _both("exact"),
    _STEADY,
)
MISSING_REGRESSION = FitAttack(
    "missing-regression",
    "gradient EM of a regression with missing cells",
    _one_regression,
    _both("exact"),
    _STEADY,
)
LOGISTIC = FitAttack(
    "logistic",
    "Bayesian logistic regression",
    _outcomes,
    {**_proved(), "paper": _printed("wbk27", 4.0, OFTEN)},
    of_mode={"paper": {"minibatch": CROWD // 2, "iterations": 1}},
    runs=4000,
)
LOGISTIC_OBJECTIVE = FitAttack(
    "logistic",
    "logistic regression by objective perturbation",
    _answers,
    _proved(2.0, accountant="linear", adjacency="label"),
    {"algorithm": "objective"},
    runs=6000,
    outcome_alone=True,
)
SBN = FitAttack(
    "sbn",
    "sigmoid belief network",
    _pixels,
    _both("wbk27"),
    {"n_components": 1, "rate": 1.0, "iterations": 1, "start": BEGUN},
    runs=1000,
)
LDA = FitAttack(
    "lda",
    "topics of documents",
    _documents,
    _both("wbk27"),
    {"n_components": 2, "rate": 1.0, "iterations": 1},
    runs=500,
)
