"""The neighbouring tables on which fits of k-means are attacked."""

from __future__ import annotations

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import both, opposite

KMEANS = FitAttack(
    "kmeans",
    "k-means",
    opposite,
    both("linear", 4.0, 1.0),
    {"n_components": 2, "iterations": 2},
    runs=1000,
)
