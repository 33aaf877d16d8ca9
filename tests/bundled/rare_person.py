"""One rare person: a crowd, and somebody far away whom an exact fit gives a group of their own.

After Park, Foulds, Chaudhuri and Welling, DP-EM (AISTATS 2017), Figure 1: there 104 simulated
points, one of them alone; with fifty times the crowd the private means come near the exact ones.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.datasets.drawn import (
    CROWD,
    CROWD_COVARIANCES,
    CROWD_MEANS,
    CROWD_WEIGHTS,
    RARE_PERSON,
)
from dpcore.datasets.generators import gaussian_mixture

from .files import GeneratedFile, public_draws


def make() -> tuple[GeneratedFile, ...]:
    """The small table, and the one with fifty times the crowd and still one rare person."""
    return (
        _made("rare_person.csv", CROWD, seed=104),
        _made("rare_person_50x.csv", 50 * CROWD, seed=50),
    )


def _made(file: str, crowd: int, seed: int) -> GeneratedFile:
    """A crowd with the rare person in the last row."""
    rows, group = gaussian_mixture(
        crowd, CROWD_WEIGHTS, CROWD_MEANS, np.array(CROWD_COVARIANCES), public_draws(seed)
    )
    everybody = np.vstack([np.clip(rows, [0, 0], [110, 200]), RARE_PERSON]).round(1)
    frame = pd.DataFrame(everybody, columns=["age", "income"])
    frame["group"] = [*(group + 1), len(CROWD_WEIGHTS) + 1]
    return GeneratedFile(file, frame)
