"""A released probabilistic PCA as an estimator: the expected factors of a row."""

from dpcore.fitting.reopened import Reopened
from dpcore.models.factor_analysis.parameters import FactorParameters
from dpcore.sklearn import DPProbabilisticPCA

ESTIMATOR = Reopened(FactorParameters, DPProbabilisticPCA.of_fit)
