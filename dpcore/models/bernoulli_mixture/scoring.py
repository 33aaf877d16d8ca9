"""How mixtures of Bernoullis are judged: by the log-likelihood of a row."""

from __future__ import annotations

from dpcore.models.bernoulli_mixture.mathematics import FAMILY
from dpcore.models.exponential_family.scoring import FamilyYardstick

YARDSTICK = FamilyYardstick("bernoulli", FAMILY)
