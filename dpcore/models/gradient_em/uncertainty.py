"""What the intervals of coefficients need."""

from dataclasses import replace

from dpcore.fitting.intervals import Uncertainty

UNCERTAINTY = Uncertainty(("beta",), "beta", widen=1.15, from_zero=True)
# Nothing was released about how many cells are missing: simulated rows are complete, and intervals
# for a population held in 72 to 94%.
MISSING_REGRESSION = replace(UNCERTAINTY, population=False)
