"""What the intervals of means need."""

from dpcore.fitting.intervals import Uncertainty
from dpcore.models.mean import MeanSettings


def _refuse(settings: MeanSettings) -> str:
    if settings.trust == "central":
        return ""
    return "the error of local noise depends on how the rows are distributed, which is not released"


UNCERTAINTY = Uncertainty(("mean",), "mean", population=False, widen=1.1, refuse=_refuse)
