"""What the intervals of a mixture of Poissons need."""

from dpcore.fitting.intervals import Uncertainty, by_places

UNCERTAINTY = Uncertainty(
    ("weights", "rates"),
    "rates",
    match=by_places("rates", "weights"),
    widen=1.25,
    shares=("weights",),
)
