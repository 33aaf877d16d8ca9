"""The neighbouring tables on which fits of factor analysis and probabilistic PCA are attacked."""

from __future__ import annotations

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import both, crossed, proved

FACTOR_ANALYSIS = FitAttack("fa", "factor analysis", crossed, both("linear"), {"n_components": 1})
PROBABILISTIC_PCA = FitAttack("ppca", "probabilistic PCA", crossed, proved(), {"most_factors": 1})
