"""What the intervals of centres need."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.intervals import Arrays, Uncertainty, by_places
from dpcore.models.kmeans.parameters import KMeansParameters
from dpcore.models.shared.location import USUAL_DISTANCE
from dpcore.models.shared.reach import OCTAVES, reach
from dpcore.wall.data import PublicFrame

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.fitting.distances import Distances
    from dpcore.fitting.result import Fit

TOUCHING = 0.25  # of the way to the nearest other centre: deviation of rows nobody has measured
LEAST_WITHIN = 0.02  # of the mean square distance of a row from the mean, about its centre


class _Spread:
    """What a fit has released of how its rows lie, in public unit coordinates.

    centres ``(K, d)``, the share of the rows at each ``(K,)``, the mean of all ``(d,)`` and the
    ways from there to the centres ``(K, d)``. within: deviation of a row from its centre in each
    coordinate, alike in all directions: of the mean square distance from the mean, what the centres
    do not explain. Earlier releases do not state the distances; their groups are drawn so that they
    just touch.
    """

    def __init__(self, fit: Fit) -> None:
        parameters: KMeansParameters = fit.parameters
        self.public = PublicFrame.of(fit.schema)
        self.centres = self.public.to_units(parameters.centers)
        self.shares = parameters.shares / parameters.shares.sum()
        self.mean = self.shares @ self.centres
        self.away = self.centres - self.mean
        if fit.distances is None:
            gaps = np.linalg.norm(self.centres[:, None] - self.centres, axis=-1)
            np.fill_diagonal(gaps, np.inf)
            self.within = TOUCHING * gaps.min() if len(gaps) > 1 else 0.0
        else:
            square = _mean_square(fit.distances, fit)
            left = square - float(self.shares @ np.sum(self.away**2, axis=1))
            self.within = math.sqrt(max(left, LEAST_WITHIN * square) / len(self.mean))

    def about(self, middles: Array, rng: np.random.Generator) -> Array:
        """Rows ``(n, d)`` about middles ``(n, d)``."""
        return middles + self.within * rng.standard_normal(middles.shape)

    def in_own_units(self, rows: Array) -> pd.DataFrame:
        """Rows ``(n, d)`` as a table has them."""
        import pandas as pd

        own = self.public.center + self.public.half_range * rows
        return pd.DataFrame(own, columns=list(self.public.names))


def _mean_square(distances: Distances, fit: Fit) -> float:
    """Of rows' distances from their mean, as the fit's own steps read the counts."""
    rows, whole = np.array([distances.rows(fit)]), distances.edges[0] / 2.0 ** OCTAVES[0]
    law = reach(distances.counts[None], distances.sd.reshape(1), rows, whole, USUAL_DISTANCE)
    return float(law.steady_square[0])


def _draw(fit: Fit, count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows about the centres."""
    spread = _Spread(fit)
    chosen = rng.choice(len(spread.centres), size=count, p=spread.shares)
    return spread.in_own_units(spread.about(spread.centres[chosen], rng))


def _alone(fit: Fit, count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows of one cloud with the mean and covariance of those about the centres: a normal one, or
    one whose rows are as far from the mean as they were counted."""
    spread = _Spread(fit)
    along = np.sqrt(spread.shares)[:, None] * spread.away  # along' along: covariance of centres
    middles = spread.mean + rng.standard_normal((count, len(along))) @ along
    rows = spread.about(middles, rng)
    if fit.distances is not None:
        rows = fit.distances.like_rows(rows, spread.mean, fit.distances.rows(fit), skew=0.0)
    return spread.in_own_units(rows)


def _gained(released: Arrays, scale: Array) -> float:
    """Mean square distance of the centres from their mean, which they spare rows, in squared
    units."""
    places, shares = released["centers"] / scale, released["shares"]
    middle = shares @ places / shares.sum()
    return float(shares @ np.sum((places - middle) ** 2, axis=1) / shares.sum())


def _explained(released: Arrays, moved: Arrays, scale: Array) -> float:
    """What the centres explain beyond one, in squared units.

    Of the spread, the means of all cells explain what lies between them, and centres that noise has
    moved away from these means explain less by the square of the way. Released centres lie farther
    apart than the means do by as much, so it is taken off twice. The spread inside cells does not
    matter.
    """
    away = np.sum((moved["centers"] / scale) ** 2, axis=2) @ released["shares"]
    return _gained(released, scale) - 2.0 * float(np.median(away))


UNCERTAINTY = Uncertainty(
    ("centers", "shares"),
    "centers",
    match=by_places("centers", "shares"),
    population=False,
    widen=1.45,
    draw=_draw,
    shares=("shares",),
    explained=_explained,
    alone=_alone,
    gained=_gained,
)
