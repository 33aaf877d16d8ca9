"""Released gradient models as scikit-learn's mixture of two clouds, and as its linear regression.

Of two opposite lines nothing says which one a row follows: both are predicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.mixture import GaussianMixture

from dpcore.arrays import Array
from dpcore.fitting.reopened import Reopened, fills_of
from dpcore.fitting.result import Fit
from dpcore.models.gradient_em.mathematics import MISSING, REGRESSIONS, SYMMETRIC
from dpcore.models.gradient_em.parameters import GradientParameters
from dpcore.schema import Schema
from dpcore.sklearn import with_columns
from dpcore.wall.data import PublicFrame, target_frame


def _facts(model: str, schema: Schema, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Model coordinates: the data's own units about 0, or shares of the limits."""
    public, own = PublicFrame.of(schema), settings["own"]
    target = 1.0
    if not own and schema.target is not None:
        target = float(target_frame(schema).half_range[0])
    return {
        "model": model,
        "sigma": float(settings["sigma"]),
        "origin": np.zeros(public.dim),
        "scale": np.ones(public.dim) if own else public.half_range,
        "target_origin": 0.0,
        "target_scale": target,
    }


def _middles(schema: Schema, settings: Mapping[str, Any]) -> Array:
    """A cell that is not seen is expected in the middle of the model's coordinates, unless its
    column has a public fill of its own."""
    public = PublicFrame.of(schema)
    middle = np.zeros(public.dim) if settings["own"] else public.center
    own = [
        column.category is not None or isinstance(schema.column(column.source).missing, float)
        for column in schema.numeric_columns()
    ]
    return np.where(own, fills_of(schema, settings), middle)


def _clouds(fit: Fit, schema: Schema) -> GaussianMixture:
    released: GradientParameters = fit.parameters
    model = with_columns(GaussianMixture(2, covariance_type="diag"), released.columns)
    spread = np.tile(released.sigma * released.scale, (2, 1))
    model.weights_ = np.full(2, 0.5)
    model.means_ = released.origin + np.array([[1.0], [-1.0]]) * released.beta
    model.covariances_, model.precisions_ = spread**2, spread**-2.0
    model.precisions_cholesky_ = 1.0 / spread
    return model


def _line(fit: Fit, schema: Schema) -> LinearRegression:
    released: GradientParameters = fit.parameters
    model = with_columns(LinearRegression(), released.columns)
    model.coef_ = released.beta
    model.intercept_ = released.target_origin - float(released.origin @ released.beta)
    return model


def _lines(fit: Fit, schema: Schema) -> LinearRegression:
    released: GradientParameters = fit.parameters
    model, signs = with_columns(LinearRegression(), released.columns), np.array([1.0, -1.0])
    model.coef_ = signs[:, None] * released.beta
    model.intercept_ = released.target_origin - signs * float(released.origin @ released.beta)
    return model


def _reopened(model: str, estimator: Any, **more: Any) -> Reopened:
    return Reopened(GradientParameters, estimator, partial(_facts, model), **more)


SYMMETRIC_MIXTURE = _reopened(SYMMETRIC.name, _clouds)
MIXTURE_REGRESSION = _reopened(
    REGRESSIONS.name,
    _lines,
    outputs=("prediction of one line", "prediction of the other"),
    without={"score": "does not say which of its two lines a row follows"},
)
MISSING_REGRESSION = _reopened(MISSING.name, _line, fills=_middles)
