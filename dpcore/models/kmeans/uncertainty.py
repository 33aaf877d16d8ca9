"""What the intervals of centres need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.intervals import Arrays, Uncertainty, by_places
from dpcore.models.kmeans.parameters import KMeansParameters

if TYPE_CHECKING:
    import pandas as pd

SPREAD = 0.25  # of rows about a centre, in distances between the two nearest centres


def _draw(
    parameters: KMeansParameters, count: int, rng: np.random.Generator, scale: Array
) -> pd.DataFrame:
    """Rows about the centres: nothing was released about their spread, so groups are drawn that
    just touch, by distances as the fit counts them."""
    rows, places = parameters.sample(count, rng), parameters.centers / scale
    gaps = np.linalg.norm(places[:, None] - places, axis=-1)
    np.fill_diagonal(gaps, np.inf)
    nearest = gaps.min() if len(places) > 1 else 0.0
    return rows + SPREAD * nearest * scale * rng.standard_normal(rows.shape)


def _explained(released: Arrays, moved: Arrays, scale: Array) -> float:
    """What the centres explain beyond one, in squared units.

    Of the spread, the means of all cells explain what lies between them, and centres that noise has
    moved away from these means explain less by the square of the way. Released centres lie farther
    apart than the means do by as much, so it is taken off twice. The spread inside cells does not
    matter.
    """
    shares, places = released["shares"], released["centers"] / scale
    middle = shares @ places
    between = float(shares @ np.sum((places - middle) ** 2, axis=1))
    away = np.sum((moved["centers"] / scale) ** 2, axis=2) @ shares
    return between - 2.0 * float(np.median(away))


UNCERTAINTY = Uncertainty(
    ("centers", "shares"),
    "centers",
    match=by_places("centers", "shares"),
    population=False,
    widen=1.45,
    draw=_draw,
    shares=("shares",),
    explained=_explained,
)
