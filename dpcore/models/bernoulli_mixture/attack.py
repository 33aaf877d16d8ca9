"""The neighbouring tables on which fits of mixtures of Bernoullis are attacked."""

from __future__ import annotations

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import opposite, proved

BERNOULLI = FitAttack(
    "bernoulli",
    "mixture of Bernoullis",
    opposite,
    proved(),
    {"n_components": 2, "iterations": 2},
)
