"""The neighbouring tables on which fits of mixtures of Bernoullis are attacked."""

from __future__ import annotations

from functools import partial

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import opposite, proved

BERNOULLI = FitAttack(
    "bernoulli",
    "mixture of Bernoullis",
    partial(opposite, lower=0.0, scene="one person whose answers are all no or all yes"),
    proved(),
    {"n_components": 2, "iterations": 2},
)
