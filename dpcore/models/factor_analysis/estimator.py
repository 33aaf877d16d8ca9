"""A released factor analysis as an estimator: the expected factors of a row."""

from dpcore.fitting.reopened import Reopened
from dpcore.models.factor_analysis.parameters import FactorParameters
from dpcore.sklearn import DPFactorAnalysis

ESTIMATOR = Reopened(FactorParameters, DPFactorAnalysis.of_fit)
