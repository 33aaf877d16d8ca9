"""A quiet map under longitudes and latitudes: a graticule, coastlines, some cities.

Source: Natural Earth, 1:110m coastline, in the public domain (naturalearthdata.com), simplified to
0.4 degrees; ``dpcore/datasets/coastline.txt``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from dpcore.arrays import Array
from dpcore.figures.model_plot import Places
from dpcore.figures.scene import Axis, Curve, Layer, Spots
from dpcore.wall.data.clipping import PublicFrame

COASTLINE = Path(__file__).parents[1] / "datasets" / "coastline.txt"
LONGITUDE, LATITUDE = "longitude", "latitude"
LARGEST = {LONGITUDE: 180.0, LATITUDE: 90.0}
UNITS = {LONGITUDE: "degrees east", LATITUDE: "degrees north"}
NAMES = {LONGITUDE: ("longitude", "lon", "lng"), LATITUDE: ("latitude", "lat")}
ANGLES = (None, "degrees", "degree", "°")  # a unit beside a name that says which angle it is
GRATICULE = (60.0, 30.0, 15.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1)  # degrees between two lines
FEWEST = 4  # lines across a panel


def angle(public: PublicFrame, column: int) -> str | None:
    """``longitude`` or ``latitude`` where a column is surely one, else ``None``.

    Its public bounds must be possible angles; and its unit is "degrees east" or "degrees north", or
    its whole name is the word (or lon, lng, lat) and its unit is degrees or not given.
    """
    unit, name = public.units[column], public.names[column].strip().casefold()
    unit = unit.strip().casefold() if unit and unit.strip() else None
    reach = abs(public.center[column]) + public.half_range[column]
    for kind, most in LARGEST.items():
        named = unit == UNITS[kind] or (unit in ANGLES and name in NAMES[kind])
        if named and reach <= most + 1e-9:
            return kind
    return None


def is_map(public: PublicFrame, pair: tuple[int, int]) -> bool:
    """Whether one of two columns is a longitude and the other a latitude."""
    return {angle(public, column) for column in pair} == {LONGITUDE, LATITUDE}


def graticule(axis: Axis) -> Axis:
    """The axis with its lines at round degrees.

    >>> graticule(Axis("longitude", (-20.0, 44.0))).ticks
    (-15.0, 0.0, 15.0, 30.0)
    """
    low, high = axis.range
    step = next((s for s in GRATICULE if (high - low) / s >= FEWEST), None)
    if step is None:
        return axis
    lines = step * np.arange(np.ceil(low / step), np.floor(high / step) + 1)
    return replace(axis, ticks=tuple(np.round(lines, 6).tolist()))


def base_map(
    public: PublicFrame, pair: tuple[int, int], x: Axis, y: Axis, places: Places
) -> tuple[Layer, ...]:
    """Coasts, equator and Greenwich meridian where they cross the axes, and the places on them."""
    zero = np.array([0.0, 0.0])
    cross = [_coast(public, pair, x, y)]
    if y.range[0] < 0.0 < y.range[1]:
        cross.append(Curve(np.array(x.range), zero, colour=None, dash=5))
    if x.range[0] < 0.0 < x.range[1]:
        cross.append(Curve(zero, np.array(y.range), colour=None, dash=5))
    if not places:
        return tuple(cross)
    names = tuple(name for name, _, _ in places)
    across, up = np.array([_placed(public, pair, east, north) for _, east, north in places]).T
    return (*cross, Spots(across, up, names, labels=names, colours=()))


@cache
def coastline() -> Array:
    """Coastlines ``(n, 2)``, degrees east and north, NaN between two lines."""
    lines = COASTLINE.read_text(encoding="utf-8").splitlines()
    breaks = [" ".join([line, "nan,nan"]) for line in lines if not line.startswith("#")]
    return np.array([pair.split(",") for pair in " ".join(breaks).split()], dtype=float)


def _coast(public: PublicFrame, pair: tuple[int, int], x: Axis, y: Axis) -> Curve:
    """The coastline inside two axes and as far beyond."""
    places = coastline() if angle(public, pair[0]) == LONGITUDE else coastline()[:, ::-1]
    low, high = np.array([x.range, y.range]).T
    near = np.all(np.abs(places - (low + high) / 2) <= high - low, axis=1)
    inside = near | np.append(False, near[:-1])  # a line that leaves the axes is broken once
    across, up = np.where(near[:, None], places, np.nan)[inside].T
    return Curve(across, up, colour=None, label_at="none", name="coastline")


def _placed(
    public: PublicFrame, pair: tuple[int, int], east: float, north: float
) -> tuple[float, float]:
    """A place on the two axes, whichever of them is the longitude."""
    return (east, north) if angle(public, pair[0]) == LONGITUDE else (north, east)
