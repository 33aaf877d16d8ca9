"""Answers of yes or no: within a group, each column is a yes with a chance of its own."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import listed
from dpcore.models.exponential_family.mathematics import Family
from dpcore.schema import Schema
from dpcore.wall.data import PublicFrame

SHARES = (
    "this model is for answers of 0 (no) and 1 (yes), and reads numbers of {} as shares of the way "
    "from a no, at the lower limit, to a yes"
)
LEAST_CHANCE = 1e-3  # of a yes and of a no; so that no answer is impossible


class Bernoulli(Family):
    """A column's upper bound is a yes, ``y = 1``, its lower one a no, ``y = -1``."""

    def notes(self, schema: Schema) -> tuple[str, ...]:
        """That a number is read as a share of a yes, where limits are not 0 and 1."""
        columns = schema.numeric_columns()
        odd = [c.name for c in columns if (c.lower, c.upper) != (0.0, 1.0)]
        return (SHARES.format(listed(odd)),) if odd else ()

    def allowed(self, means: Array, public: PublicFrame, margin: Array | float = 0.0) -> Array:
        edge = 1.0 - np.maximum(2.0 * LEAST_CHANCE, margin)
        return np.clip(means, -edge, edge)

    def coefficients(self, means: Array, public: PublicFrame) -> tuple[Array, Array]:
        """Of ``(1 + y)/2 log p + (1 - y)/2 log(1 - p)``, summed over columns."""
        yes, no = np.log(chances(means)), np.log(chances(-means))
        return np.sum(yes + no, axis=-1) / 2.0, (yes - no) / 2.0

    def base(self, rows: Array, public: PublicFrame) -> Array:
        return np.zeros(len(rows))

    def deviation(self, means: Array, public: PublicFrame) -> Array:
        return np.sqrt(1.0 - means**2)

    def uniform(self, public: PublicFrame) -> float:
        """Yes as likely as no."""
        return -public.dim * float(np.log(2.0))


def chances(means: Array) -> Array:
    """Chance of a yes, from means ``(...)`` in unit coordinates."""
    return np.asarray((1.0 + means) / 2.0)
