"""What the intervals of means need."""

from dpcore.fitting.intervals import Uncertainty
from dpcore.models.mean import MeanSettings


def _refuse(settings: MeanSettings) -> str:
    if settings.trust == "central":
        return ""
    return "local noise depends on the distribution of the rows, which was not released"


UNCERTAINTY = Uncertainty(("mean",), "mean", population=False, widen=1.1, refuse=_refuse)
