"""The neighbouring tables on which narrower limits are attacked."""

from __future__ import annotations

from dpcore.auditing.fits import FitAttack
from dpcore.auditing.neighbours import opposite, proved

LIMITS = FitAttack("limits", "narrower limits", opposite, proved(), {})
