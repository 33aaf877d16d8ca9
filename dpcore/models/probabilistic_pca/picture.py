"""The portrait of probabilistic PCA: that of factor analysis, without the factors that are off."""

from dpcore.models.factor_analysis.picture import PORTRAIT, RECONSTRUCTIONS

__all__ = ["PORTRAIT", "RECONSTRUCTIONS"]
