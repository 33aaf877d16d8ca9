"""One rare person: a crowd, and somebody far away whom an exact fit gives a group of their own.

After Park, Foulds, Chaudhuri and Welling, DP-EM (AISTATS 2017), Figure 1: there 104 simulated
points, one of them alone; with fifty times the crowd the private means come near the exact ones.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.datasets.generators import covariance_2d, gaussian_mixture
from dpcore.datasets.make.files import GeneratedFile, public_draws

CROWD = 104
WEIGHTS = (0.55, 0.45)
MEANS = ((29.0, 38.0), (52.0, 74.0))
COVARIANCES = (covariance_2d(4.5, 8.0, 0.35), covariance_2d(6.0, 10.0, -0.25))
RARE_PERSON = (91.0, 176.0)


def make() -> tuple[GeneratedFile, ...]:
    """The small table, and the one with fifty times the crowd and still one rare person."""
    return (
        _made("rare_person.csv", CROWD, seed=104),
        _made("rare_person_50x.csv", 50 * CROWD, seed=50),
    )


def _made(file: str, crowd: int, seed: int) -> GeneratedFile:
    """A crowd with the rare person in the last row."""
    rows, group = gaussian_mixture(crowd, WEIGHTS, MEANS, np.array(COVARIANCES), public_draws(seed))
    everybody = np.vstack([np.clip(rows, [0, 0], [110, 200]), RARE_PERSON]).round(1)
    frame = pd.DataFrame(everybody, columns=["age", "income"])
    frame["group"] = [*(group + 1), len(WEIGHTS) + 1]
    return GeneratedFile(file, frame)
