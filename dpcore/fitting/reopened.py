"""How whoever receives a release uses it: parameters read back, and a fitted estimator of them.

A model's declaration names its :class:`Reopened`. It reads what was released and what was public
before, and no row that a fit has seen: all of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.recipe import Parameters
from dpcore.fitting.result import Fit
from dpcore.schema import Schema

Settings = Mapping[str, Any]


def fills_of(schema: Schema, settings: Settings) -> Array:
    """What a missing cell of each column counts as ``(d,)``: its public fill."""
    return np.array([column.fill for column in schema.numeric_columns()], dtype=float)


@dataclass(frozen=True)
class Reopened:
    """A release of one model, used without the data.

    parameters: their dataclass. estimator: from a fit, whose parameters were released, and the
    public schema to a fitted estimator for rows ``(n, d)`` in own units, with scikit-learn's
    methods. facts: public facts that the parameters hold and a dossier leaves out, from the schema
    and the settings. fills: what missing cells count as ``(d,)``. outputs: names of what is
    predicted, where that is no group or class; coordinate: of what rows are turned into, with
    ``{part}``, ``{number}`` and ``{column}``. without: methods that say nothing here, and why.
    """

    parameters: type[Any]
    estimator: Callable[[Fit, Schema], Any]
    facts: Callable[[Schema, Settings], dict[str, Any]] = lambda schema, settings: {}
    fills: Callable[[Schema, Settings], Array] = fills_of
    outputs: tuple[str, ...] = ("prediction",)
    coordinate: str = "{part} {number}"
    without: Mapping[str, str] = field(default_factory=dict)

    def read(self, record: Mapping[str, Any], schema: Schema, settings: Settings) -> Parameters:
        """The parameters of a dossier's ``parameters``. Raises KeyError where one is missing."""
        columns = schema.numeric_columns()
        values = {
            "lower": [column.lower for column in columns],
            "upper": [column.upper for column in columns],
            **self.facts(schema, settings),
            **{name: value for name, value in record.items() if value is not None},
        }
        named = {
            parameter.name: _as_array(values[parameter.name])
            for parameter in fields(self.parameters)
        }
        parameters: Parameters = self.parameters(**named)
        return parameters


def _as_array(value: Any) -> Any:
    """Lists of numbers as arrays, lists of words as tuples, anything else as it is."""
    if not isinstance(value, list):
        return value
    words = bool(value) and isinstance(value[0], str)
    return tuple(value) if words else np.asarray(value, dtype=float)
