"""The neighbouring tables on which fits of mixtures of Poissons are attacked."""

from __future__ import annotations

from functools import partial

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import opposite, proved

SCENE = "one person with as many events as the limits allow or with none"

POISSON = FitAttack(
    "poisson",
    "mixture of Poissons",
    partial(opposite, lower=0.0, upper=2.0, scene=SCENE),
    proved(),
    {"n_components": 2, "iterations": 2},
)
