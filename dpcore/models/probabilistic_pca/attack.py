"""The neighbouring tables on which fits of probabilistic PCA are attacked."""

from __future__ import annotations

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import crossed, proved

PPCA = FitAttack("ppca", "probabilistic PCA", crossed, proved(), {"most_factors": 1})
