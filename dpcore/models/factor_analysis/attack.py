"""The neighbouring tables on which fits of factor analysis are attacked."""

from __future__ import annotations

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import both, crossed

FA = FitAttack("fa", "factor analysis", crossed, both("linear"), {"n_components": 1})
