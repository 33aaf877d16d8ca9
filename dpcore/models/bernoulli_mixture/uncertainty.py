"""What the intervals of a mixture of Bernoullis need."""

from dpcore.fitting.intervals import Uncertainty, by_places

UNCERTAINTY = Uncertainty(
    ("weights", "chances"),
    "chances",
    population=False,  # they held in 35 to 76%
    match=by_places("chances", "weights"),
    widen=1.25,
    shares=("weights", "chances"),
)
