"""What the intervals of centres need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.fitting.intervals import Uncertainty, by_places
from dpcore.models.kmeans.parameters import KMeansParameters

if TYPE_CHECKING:
    import pandas as pd

SPREAD = 0.25  # of rows about a centre, in distances between the two nearest centres


def _draw(parameters: KMeansParameters, count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows about the centres: nothing was released about their spread, so groups are drawn that
    just touch."""
    rows, places = parameters.sample(count, rng), parameters.centers
    gaps = np.linalg.norm(places[:, None] - places, axis=-1)
    np.fill_diagonal(gaps, np.inf)
    nearest = gaps.min() if len(places) > 1 else 0.0
    return rows + SPREAD * nearest * rng.standard_normal(rows.shape)


UNCERTAINTY = Uncertainty(
    ("centers", "shares"),
    "centers",
    match=by_places("centers", "shares"),
    spread=False,
    widen=1.25,
    draw=_draw,
    shares=("shares",),
)
