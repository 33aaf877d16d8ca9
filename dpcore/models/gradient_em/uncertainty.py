"""What the intervals of coefficients need."""

from dpcore.fitting.intervals import Uncertainty

UNCERTAINTY = Uncertainty(("beta",), "beta", widen=1.15, from_zero=True)
