"""Places: 4,000 simulated check-ins around large cities, one of each person, on the world map."""

from __future__ import annotations

import pandas as pd

from dpcore.datasets.places import check_ins

from .files import GeneratedFile, public_draws

ROWS = 4_000


def make() -> tuple[GeneratedFile, ...]:
    """The table, rounded to a hundredth of a degree: about a kilometre."""
    points, _ = check_ins(ROWS, public_draws(60_000))
    frame = pd.DataFrame(points.round(2), columns=["longitude", "latitude"])
    return (GeneratedFile("places.csv.gz", frame),)
