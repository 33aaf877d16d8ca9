"""A released covariance as an estimator: the place of a row on the principal axes."""

from dpcore.fitting.reopened import Reopened
from dpcore.models.covariance.parameters import CovarianceParameters
from dpcore.sklearn import DPPCA

ESTIMATOR = Reopened(CovarianceParameters, DPPCA.of_fit)
