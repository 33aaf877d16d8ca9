"""What the intervals of coefficients need, and of the centres of two clouds."""

import math
from dataclasses import replace

from dpcore.arrays import Array, Mask
from dpcore.checks import listed
from dpcore.fitting.intervals import Arrays, Uncertainty, as_they_are, of_coefficients


def _same_sign(moved: Arrays, reference: Arrays, scale: Array) -> Arrays:
    """Coefficients ``(d,)`` and their opposite are one model, and so are two clouds."""
    along = float(moved["beta"] @ reference["beta"])
    return {"beta": math.copysign(1.0, along) * moved["beta"]}


def _of_clouds(columns: list[str], apart: Mask) -> str:
    """A sentence about the columns in which two clouds can be told apart, or not.

    >>> import numpy as np
    >>> _of_clouds(["age", "stay"], np.array([True, False]))
    'At this noise level the two clouds can be told apart in age.'
    """
    clear = [name for name, whether in zip(columns, apart, strict=True) if whether]
    verb = "can" if clear else "cannot"
    where = f" in {listed(clear)}" if 0 < len(clear) < len(columns) else ""
    where = " in every column" if len(clear) == len(columns) > 1 else where
    return f"At this noise level the two clouds {verb} be told apart{where}."


UNCERTAINTY = Uncertainty(
    ("beta",), "beta", widen=1.25, match=_same_sign, from_zero=of_coefficients
)
CLOUDS = replace(UNCERTAINTY, from_zero=_of_clouds)
# Nothing was released about how many cells are missing: simulated rows are complete, and intervals
# for a population held in 72 to 94%.
MISSING_REGRESSION = replace(UNCERTAINTY, match=as_they_are, population=False)
