"""A released labelled mixture as scikit-learn's quadratic discriminant analysis."""

from __future__ import annotations

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from dpcore.fitting.reopened import Reopened
from dpcore.fitting.result import Fit
from dpcore.models.labelled_mixture.parameters import ReleaseParameters
from dpcore.schema import Schema
from dpcore.sklearn import with_columns


def _discriminant(fit: Fit, schema: Schema) -> QuadraticDiscriminantAnalysis:
    """Bayes' rule with the released shares, means and covariances of the classes, sorted by their
    names, as scikit-learn has them."""
    released: ReleaseParameters = fit.parameters
    model = with_columns(QuadraticDiscriminantAnalysis(), released.columns)
    order = np.argsort(released.classes)
    model.classes_ = np.array(released.classes)[order]
    model.priors_ = (released.weights / released.weights.sum())[order]
    model.means_ = released.means[order]
    values, vectors = np.linalg.eigh(released.covariances[order])
    model.scalings_, model.rotations_ = list(values), list(vectors)
    return model


ESTIMATOR = Reopened(ReleaseParameters, _discriminant)
