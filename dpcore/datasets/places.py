"""Points on a map: simulated check-ins around large cities, or points drawn from a histogram.

Every function takes the numpy Generator of its public draws, so one seed gives one table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.arrays import Array
from dpcore.checks import whole
from dpcore.datasets.cities import CITIES
from dpcore.errors import InputError

DEGREES = ((-180.0, 180.0), (-90.0, 90.0))  # longitude, latitude: nobody is anywhere else
# Check-ins by city, in parts: how many of an app's users live there, not how many people.
PARTS = (12, 8, 6, 5, 2, 6, 3, 11, 4, 5, 5, 3, 2, 2, 1, 2, 4, 5, 4, 3, 8, 3)
IN_TOWN = 0.7  # share of check-ins in the city itself; the others are around it
TOWN, AROUND = 0.15, 2.5  # standard deviations, degrees of latitude: 17 km and 280 km


def check_ins(n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
    """n simulated check-ins ``(n, 2)``, longitude and latitude in degrees, and the city ``(n,)``.

    Each row is another person's: in one of :data:`dpcore.datasets.cities.CITIES` or around it. A
    degree of longitude is shorter away from the equator, so clouds are drawn wider there.

    >>> points, city = check_ins(3, np.random.default_rng(0))
    >>> points.shape, city.shape
    ((3, 2), (3,))
    """
    count = whole("n", n)
    shares = np.array(PARTS, dtype=float) / sum(PARTS)
    city = rng.choice(len(CITIES), size=count, p=shares)
    middles = np.array([(place.longitude, place.latitude) for place in CITIES])
    spread = np.where(rng.random(count) < IN_TOWN, TOWN, AROUND)[:, None]
    widths = np.column_stack([1 / np.cos(np.radians(middles[:, 1])), np.ones(len(CITIES))])
    points = middles[city] + widths[city] * spread * rng.standard_normal((count, 2))
    return np.clip(points, *np.transpose(DEGREES)), city.astype(np.int64)


def points_from_histogram(
    counts: ArrayLike,
    extents: Sequence[tuple[float, float]],
    n: int,
    rng: np.random.Generator,
) -> Array:
    """n points ``(n, 2)`` drawn from a histogram of the plane, uniform inside each cell.

    counts ``(rows, columns)``: how many fell into each cell, or any weights of 0 or more. extents:
    where axis 0 begins and ends, then axis 1; cells along an axis are equally wide. Column 0 of
    the points runs along axis 0. The order of the points is random.

    **Raises** InputError on a histogram without weight, or extents that are not two ranges.

    >>> grid, extents = [[0, 1], [0, 0]], [(0, 2), (10, 12)]
    >>> points = points_from_histogram(grid, extents, 100, np.random.default_rng(0))
    >>> np.floor(points.min(axis=0)).tolist(), np.ceil(points.max(axis=0)).tolist()
    ([0.0, 11.0], [1.0, 12.0])
    """
    weights, low, width = _checked(counts, extents)
    drawn = rng.multinomial(whole("n", n), weights.ravel() / weights.sum())
    cell = np.repeat(np.arange(weights.size), drawn)
    rng.shuffle(cell)
    corner = np.column_stack(np.divmod(cell, weights.shape[1])).astype(float)
    return np.asarray(low + width * (corner + rng.random(corner.shape)))


def _checked(
    counts: ArrayLike, extents: Sequence[tuple[float, float]]
) -> tuple[Array, Array, Array]:
    """The weights, the lower ends of both axes and the widths of their cells."""
    weights, ends = np.asarray(counts, dtype=float), np.asarray(extents, dtype=float)
    if weights.ndim != 2 or not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise InputError(
            "counts", "they are not a two-dimensional histogram", "give a grid of counts"
        )
    if weights.sum() <= 0:
        raise InputError("counts", "every cell is empty", "give a grid with counts above 0")
    if ends.shape != (2, 2) or not np.all(np.isfinite(ends)) or np.any(ends[:, 0] >= ends[:, 1]):
        raise InputError(
            "extents", "they are not two ranges", "give (lower, upper) for axis 0 and for axis 1"
        )
    return weights, ends[:, 0], (ends[:, 1] - ends[:, 0]) / weights.shape
