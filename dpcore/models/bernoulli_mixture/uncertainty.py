"""What the intervals of a mixture of Bernoullis need."""

from dpcore.fitting.intervals import Uncertainty, by_places

UNCERTAINTY = Uncertainty(
    ("weights", "chances"),
    "chances",
    match=by_places("chances", "weights"),
    widen=1.25,
    shares=("weights", "chances"),
)
