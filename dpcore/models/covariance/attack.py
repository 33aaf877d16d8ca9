"""The neighbouring tables on which fits of a covariance are attacked."""

from __future__ import annotations

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import crossed, proved

COVARIANCE = FitAttack("covariance", "covariance matrix", crossed, proved(), {})
