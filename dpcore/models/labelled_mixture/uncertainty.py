"""What the intervals of classes need: they have names, so nothing is matched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.fitting.intervals import Uncertainty
from dpcore.models.labelled_mixture.parameters import ReleaseParameters

LOST = 0.25  # of expected divergence: simulated from a class that noise has changed more, few held


def _lost(parameters: ReleaseParameters) -> NDArray[np.bool_]:
    return parameters.doubt > LOST


UNCERTAINTY = Uncertainty(
    ("weights", "means", "covariances"),
    "means",
    widen=1.25,
    shares=("weights",),
    variances=("covariances",),
    lost=_lost,
)
