"""The neighbouring tables on which fits of mixtures are attacked."""

from __future__ import annotations

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import both, crossed

GMM = FitAttack(
    "gmm",
    "mixture of Gaussians",
    crossed,
    both("zcdp", 4.0, 8.0),
    {"n_components": 2, "iterations": 2},
)
