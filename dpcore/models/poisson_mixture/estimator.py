"""A released mixture of Poissons as an estimator."""

from dpcore.fitting.reopened import Reopened
from dpcore.models.poisson_mixture.parameters import PoissonParameters
from dpcore.sklearn import DPPoissonMixture

ESTIMATOR = Reopened(PoissonParameters, DPPoissonMixture.of_fit)
