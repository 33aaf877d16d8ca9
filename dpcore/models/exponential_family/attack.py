"""The neighbouring tables on which fits of mixtures of Bernoullis and of Poissons are attacked."""

from __future__ import annotations

from functools import partial

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import opposite, proved

OF_ANSWERS = "one person whose answers are all no or all yes"
OF_COUNTS = "one person with as many events as the limits allow or with none"
OPTIONS = {"n_components": 2, "iterations": 2}

BERNOULLI = FitAttack(
    "bernoulli",
    "mixture of Bernoullis",
    partial(opposite, lower=0.0, scene=OF_ANSWERS),
    proved(),
    OPTIONS,
)
POISSON = FitAttack(
    "poisson",
    "mixture of Poissons",
    partial(opposite, lower=0.0, upper=2.0, scene=OF_COUNTS),
    proved(),
    OPTIONS,
)
