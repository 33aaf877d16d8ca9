"""Released factors as an estimator: those that are expected of a row."""

from dpcore.fitting.reopened import Reopened
from dpcore.models.factor_analysis.parameters import FactorParameters
from dpcore.sklearn import DPFactorAnalysis, DPProbabilisticPCA

FACTOR_ANALYSIS = Reopened(FactorParameters, DPFactorAnalysis.of_fit)
PROBABILISTIC_PCA = Reopened(FactorParameters, DPProbabilisticPCA.of_fit)
