"""A fitted probabilistic PCA in the data's own units: a factor analysis whose noise fills the same
share of each column's limits."""

from dpcore.models.factor_analysis.parameters import noise_sentence, result_table

__all__ = ["noise_sentence", "result_table"]
