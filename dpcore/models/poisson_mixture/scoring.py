"""How mixtures of Poissons are judged: by the log-likelihood of a row."""

from __future__ import annotations

from dpcore.models.exponential_family.scoring import FamilyYardstick
from dpcore.models.poisson_mixture.mathematics import FAMILY

YARDSTICK = FamilyYardstick("poisson", FAMILY)
