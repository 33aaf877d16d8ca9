"""What the intervals of a mixture of Gaussians need."""

from dpcore.fitting.intervals import Uncertainty, by_places
from dpcore.models.gaussian_mixture import MixtureSettings


def _refuse(settings: MixtureSettings) -> str:
    if settings.components > 1:
        return ""
    return "one Gaussian is drawn to the middle by as much as noise could have moved it"


UNCERTAINTY = Uncertainty(
    ("weights", "means", "covariances"),
    "means",
    widen=1.25,
    match=by_places("means", "weights", "covariances"),
    shares=("weights",),
    refuse=_refuse,
)
