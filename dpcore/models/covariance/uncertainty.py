"""What the intervals of a covariance, its correlations and its principal components need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.intervals import Arrays, Uncertainty, sampled
from dpcore.models.covariance.mathematics import pairs
from dpcore.models.covariance.parameters import ARRAYS
from dpcore.wall.data import PublicFrame

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.fitting.result import Fit


def _draw(fit: Fit, count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows as far from their mean as the fit's own rows, where these were counted."""
    frame, distances = sampled(fit, count, rng), fit.distances
    if distances is None:
        return frame
    public = PublicFrame.of(fit.schema)
    mean = public.to_units(fit.parameters.mean)
    rows = distances.like_rows(public.to_units(frame.to_numpy()), mean, distances.rows(fit))
    return type(frame)(public.center + public.half_range * rows, columns=frame.columns)


def _same_signs(moved: Arrays, reference: Arrays, scale: Array) -> Arrays:
    """Components stand in the order of their variances; an axis may point either way."""
    along = np.sum(moved["components"] * reference["components"], axis=1, keepdims=True)
    return {**moved, "components": np.where(along < 0.0, -1.0, 1.0) * moved["components"]}


def _sentence(ends: Arrays) -> str:
    """Which correlations can be told from 0, and which components from the one behind them."""
    low, high = pairs(np.moveaxis(ends["correlation"], -1, 0))
    nonzero, count = int(np.sum((low > 0.0) | (high < 0.0))), len(low)
    apart = ends["explained_variance"][:-1, 0] > ends["explained_variance"][1:, 1]
    first, parts = int(np.argmin(np.append(apart, False))), len(apart) + 1
    statements = {
        0: "the first principal component cannot be told from the second",
        1: "the first principal component can be told from the others",
        parts - 1: f"all {parts} principal components can be told from one another",
    }
    if parts == 2 and first:
        statements[1] = "the two principal components can be told from each other"
    statement = statements.get(
        first, f"the first {first} of {parts} principal components can be told from the others"
    )
    many = "the correlation" if count == 1 else f"all {count} correlations"
    if nonzero < count:
        many = f"{nonzero} of {count} correlations" if nonzero else "no correlation"
    return f"At this noise level {many} can be told from 0; {statement}."


UNCERTAINTY = Uncertainty(
    ARRAYS,
    "mean",
    widen=1.25,
    match=_same_signs,
    draw=_draw,
    shares=("explained_variance_ratio",),
    variances=("covariance", "explained_variance"),
    cosines=("correlation", "components"),
    sentence=_sentence,
)
