"""What the intervals of coefficients need."""

from dpcore.fitting.intervals import Uncertainty

UNCERTAINTY = Uncertainty(("beta",), "beta", from_zero=True)
