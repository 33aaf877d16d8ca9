"""A released logistic regression as a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcore.fitting.reopened import Reopened
from dpcore.models.logistic_regression.parameters import LogisticParameters
from dpcore.schema import Schema
from dpcore.sklearn import DPLogisticRegression


def _unknown(schema: Schema, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What stands for noise that a fit does not know: a dossier says nothing of it."""
    size = len(schema.numeric_columns()) + 1
    return {"outcome": None, "noise_covariance": np.full((size, size), np.nan)}


ESTIMATOR = Reopened(LogisticParameters, DPLogisticRegression.of_fit, _unknown)
