"""Three groups: 5,000 simulated people by age and visits a year, in three tilted clouds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.datasets.generators import covariance_2d, gaussian_mixture

from .files import GeneratedFile, public_draws

ROWS = 5_000
WEIGHTS = (0.40, 0.35, 0.25)
MEANS = ((33.0, 18.0), (60.0, 46.0), (87.0, 28.0))
COVARIANCES = (
    covariance_2d(7.8, 5.4, 0.50),
    covariance_2d(8.4, 6.8, -0.42),
    covariance_2d(6.0, 7.6, 0.10),
)


def make() -> tuple[GeneratedFile, ...]:
    """The table, clipped into its public bounds and rounded to one decimal."""
    rows, group = gaussian_mixture(ROWS, WEIGHTS, MEANS, np.array(COVARIANCES), public_draws(33))
    age, visits = np.clip(rows, [0, 0], [110, 80]).round(1).T
    frame = pd.DataFrame({"age": age, "visits": visits, "group": group + 1})
    return (GeneratedFile("three_groups.csv", frame),)
