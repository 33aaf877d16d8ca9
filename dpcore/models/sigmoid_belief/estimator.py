"""A released belief network as a transformer: how likely each hidden unit is on, given a row."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from dpcore.arrays import Array
from dpcore.fitting.reopened import Reopened
from dpcore.fitting.result import Fit
from dpcore.models.sigmoid_belief.parameters import BeliefParameters
from dpcore.schema import Schema
from dpcore.sklearn import with_columns


def hidden_units(parameters: BeliefParameters, threshold: float, rows: Any) -> Array:
    """Chance of each hidden unit to be on ``(n, K)``, given rows ``(n, J)`` in own units."""
    return parameters.hidden(np.asarray(rows, dtype=float), threshold)


def _transformer(fit: Fit, schema: Schema) -> FunctionTransformer:
    see = partial(hidden_units, fit.parameters, float(fit.settings["threshold"]))
    return with_columns(FunctionTransformer(see), fit.parameters.columns)


ESTIMATOR = Reopened(BeliefParameters, _transformer)
