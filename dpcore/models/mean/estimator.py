"""Released means as scikit-learn's scaler: how far each cell lies from its column's mean."""

from __future__ import annotations

from sklearn.preprocessing import StandardScaler

from dpcore.fitting.reopened import Reopened
from dpcore.fitting.result import Fit
from dpcore.models.mean.parameters import MeanParameters
from dpcore.schema import Schema
from dpcore.sklearn import with_columns


def _centred(fit: Fit, schema: Schema) -> StandardScaler:
    model = with_columns(StandardScaler(with_std=False), fit.parameters.columns)
    model.mean_, model.scale_, model.var_ = fit.parameters.mean, None, None
    return model


ESTIMATOR = Reopened(MeanParameters, _centred, coordinate="{column} above its mean")
