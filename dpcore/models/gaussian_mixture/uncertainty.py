"""What the intervals of a mixture of Gaussians need."""

from dpcore.fitting.intervals import Uncertainty, by_places
from dpcore.models.gaussian_mixture import MixtureSettings


def _refuse(settings: MixtureSettings) -> str:
    if settings.components > 1:
        return ""
    return "a single Gaussian is shrunk to the middle as far as noise may have moved it"


UNCERTAINTY = Uncertainty(
    ("weights", "means", "covariances"),
    "means",
    widen=1.25,
    match=by_places("means", "weights", "covariances"),
    shares=("weights",),
    refuse=_refuse,
)
