"""What the intervals of classes need: they have names, so nothing is matched."""

from __future__ import annotations

from dpcore.fitting.intervals import Uncertainty

LOST = 0.25  # of expected divergence: simulated from a class that noise has changed more, few held


UNCERTAINTY = Uncertainty(
    ("weights", "means", "covariances"),
    "means",
    widen=1.25,
    shares=("weights",),
    variances=("covariances",),
    lost=lambda parameters: parameters.doubt > LOST,
)
