"""Released limits as scikit-learn's scaler: where each number lies between them, from 0 to 1."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from dpcore.arrays import Array
from dpcore.fitting.reopened import Reopened, Settings
from dpcore.fitting.result import Fit
from dpcore.models.limits.parameters import LimitsParameters
from dpcore.schema import Schema
from dpcore.sklearn import with_columns


def _scaled(fit: Fit, schema: Schema) -> MinMaxScaler:
    limits: LimitsParameters = fit.parameters
    model = with_columns(MinMaxScaler(clip=True), limits.columns)
    model.data_min_, model.data_max_ = limits.lower, limits.upper
    model.data_range_ = limits.upper - limits.lower
    model.scale_ = 1.0 / np.where(model.data_range_ > 0.0, model.data_range_, 1.0)
    model.min_ = -limits.lower * model.scale_
    model.n_samples_seen_ = 0
    return model


def _not_said(schema: Schema, settings: Settings) -> dict[str, list[float]]:
    """What releases of before do not say."""
    return {"outside_at_most": [1.0] * len(schema.numeric_columns())}


def _stay_missing(schema: Schema, settings: Settings) -> Array:
    return np.full(len(schema.numeric_columns()), np.nan)


ESTIMATOR = Reopened(
    LimitsParameters,
    _scaled,
    facts=_not_said,
    fills=_stay_missing,
    coordinate="{column} between its limits",
)
