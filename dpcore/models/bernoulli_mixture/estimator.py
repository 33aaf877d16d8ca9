"""A released mixture of Bernoullis as an estimator."""

from dpcore.fitting.reopened import Reopened
from dpcore.models.bernoulli_mixture.parameters import BernoulliParameters
from dpcore.sklearn import DPBernoulliMixture

ESTIMATOR = Reopened(BernoulliParameters, DPBernoulliMixture.of_fit)
