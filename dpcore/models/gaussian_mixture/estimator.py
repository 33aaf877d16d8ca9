"""A released mixture of Gaussians as an estimator."""

from dpcore.fitting.reopened import Reopened
from dpcore.models.gaussian_mixture.parameters import MixtureParameters
from dpcore.sklearn import DPGaussianMixture

ESTIMATOR = Reopened(MixtureParameters, DPGaussianMixture.of_fit)
