"""Like Life Science: 26,733 simulated rows of ten columns, in the shape of a published benchmark.

The benchmark is the Life Science set of Park, Foulds, Chaudhuri and Welling, DP-EM (AISTATS 2017).
Only its shape is imitated (size, column spreads, tails, radius); none of its rows is in here.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .files import GeneratedFile, public_draws, schema_of

ROWS = 26_733
COLUMN_SD = np.array([2.48, 2.19, 2.08, 1.84, 1.66, 1.46, 1.34, 1.29, 1.22, 1.17])
SHARES = (0.45, 0.33, 0.22)
DEGREES_OF_FREEDOM = 8.0
BETWEEN = 0.75  # spread of the groups' middles, in column standard deviations

SCHEMA = schema_of("life_science_like.csv.gz")
RADIUS = 16.25  # of its ball


def make() -> tuple[GeneratedFile, ...]:
    """The table: column means of zero, the stated spreads, every row inside the ball."""
    rng = public_draws(26_733)
    group = rng.choice(len(SHARES), size=ROWS, p=SHARES)
    middles = BETWEEN * rng.standard_normal((len(SHARES), 10))
    rows = middles[group] + _heavy_tailed(group, rng)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0) * COLUMN_SD
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    inside = rows * np.minimum(1.0, 0.999 * RADIUS / norms)  # rounding must not lead out again
    frame = pd.DataFrame(inside.round(2), columns=list(SCHEMA.features))
    frame["group"] = group + 1
    return (GeneratedFile("life_science_like.csv.gz", frame),)


def _heavy_tailed(group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Multivariate t draws ``(n, 10)`` around zero, each group with its own mixing of columns."""
    mixing = np.stack([np.eye(10) + 0.25 * rng.standard_normal((10, 10)) for _ in SHARES])
    standard = rng.standard_normal((len(group), 10))
    stretch = np.sqrt(DEGREES_OF_FREEDOM / rng.chisquare(DEGREES_OF_FREEDOM, (len(group), 1)))
    return np.asarray(np.einsum("nij,nj->ni", mixing[group], standard) * stretch)
