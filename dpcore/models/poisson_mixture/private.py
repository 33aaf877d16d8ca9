"""The proved fit of a mixture of Poissons: DP-EM's general recipe."""

from __future__ import annotations

from dpcore.models.exponential_family.private import FamilyRecipe
from dpcore.models.poisson_mixture.mathematics import FAMILY
from dpcore.models.poisson_mixture.parameters import PoissonParameters

RECIPE = FamilyRecipe(FAMILY, PoissonParameters.from_units)
