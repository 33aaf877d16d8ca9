"""The proved fit of a mixture of Bernoullis: DP-EM's general recipe."""

from __future__ import annotations

from dpcore.models.bernoulli_mixture.mathematics import FAMILY
from dpcore.models.bernoulli_mixture.parameters import BernoulliParameters
from dpcore.models.exponential_family.private import FamilyRecipe

RECIPE = FamilyRecipe(FAMILY, BernoulliParameters.from_units)
