"""What the intervals of means need."""

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.intervals import Uncertainty
from dpcore.models.mean import MeanSettings
from dpcore.models.mean.parameters import Means


def _refuse(settings: MeanSettings) -> str:
    if settings.trust == "central":
        return ""
    return "the error of local noise depends on how the rows are distributed, which is not released"


def _outward(settings: MeanSettings, batch: Means) -> Array:
    """By which share ``(d,)`` clipping draws the mean of a column whose numbers all lie at the
    limits, such as zeros and ones, to the middle; nothing where their mean square is bounded."""
    reach = np.minimum(batch.reach[0], 1.0)
    return np.zeros(len(reach)) if settings.tau is not None else 1.0 / reach - 1.0


UNCERTAINTY = Uncertainty(
    ("mean",), "mean", population=False, widen=1.1, refuse=_refuse, outward=_outward
)
