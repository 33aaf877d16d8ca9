"""Released mixtures of Bernoullis and of Poissons as estimators."""

from dpcore.fitting.reopened import Reopened
from dpcore.models.exponential_family.parameters import BernoulliParameters, PoissonParameters
from dpcore.sklearn import DPBernoulliMixture, DPPoissonMixture

BERNOULLI = Reopened(BernoulliParameters, DPBernoulliMixture.of_fit)
POISSON = Reopened(PoissonParameters, DPPoissonMixture.of_fit)
