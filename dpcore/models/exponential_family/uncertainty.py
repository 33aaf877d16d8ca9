"""What the intervals of mixtures of Bernoullis and of Poissons need."""

from dpcore.fitting.intervals import Uncertainty, by_places

BERNOULLI = Uncertainty(
    ("weights", "chances"),
    "chances",
    population=False,  # they held in 35 to 76%
    match=by_places("chances", "weights"),
    widen=1.25,
    shares=("weights", "chances"),
)
POISSON = Uncertainty(
    ("weights", "rates"),
    "rates",
    match=by_places("rates", "weights"),
    widen=1.25,
    shares=("weights",),
)
