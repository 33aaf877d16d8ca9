"""Large cities and where they lie: reference points on a map, and middles of simulated check-ins.

Degrees east and north of the usual city centre, rounded to a hundredth (about a kilometre).
"""

from __future__ import annotations

from typing import NamedTuple


class City(NamedTuple):
    """A city: its English name, longitude (degrees east) and latitude (degrees north)."""

    name: str
    longitude: float
    latitude: float


CITIES = (
    City("New York", -74.01, 40.71),
    City("Los Angeles", -118.24, 34.05),
    City("Chicago", -87.63, 41.88),
    City("Mexico City", -99.13, 19.43),
    City("Bogotá", -74.07, 4.71),
    City("São Paulo", -46.63, -23.55),
    City("Buenos Aires", -58.38, -34.60),
    City("London", -0.13, 51.51),
    City("Madrid", -3.70, 40.42),
    City("Stockholm", 18.07, 59.33),
    City("Istanbul", 28.98, 41.01),
    City("Moscow", 37.62, 55.76),
    City("Cairo", 31.24, 30.04),
    City("Lagos", 3.38, 6.52),
    City("Nairobi", 36.82, -1.29),
    City("Johannesburg", 28.05, -26.20),
    City("Delhi", 77.21, 28.61),
    City("Bangkok", 100.50, 13.76),
    City("Jakarta", 106.85, -6.21),
    City("Shanghai", 121.47, 31.23),
    City("Tokyo", 139.69, 35.69),
    City("Sydney", 151.21, -33.87),
)
