"""A fitted covariance in the data's own units: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import listed
from dpcore.fitting.recipe import ColumnParameters
from dpcore.fitting.result_table import (
    FEW_COLUMNS,
    STRONGEST,
    Table,
    column_titles,
    in_figures,
    place_texts,
)
from dpcore.models.covariance.mathematics import Covariances, correlations, principal, shares
from dpcore.wall.data import PublicFrame

ARRAYS = (  # what leaves, in this order
    "mean",
    "covariance",
    "correlation",
    "components",
    "explained_variance",
    "explained_variance_ratio",
)

SHOWN = 3  # components in a table of columns


@dataclass(frozen=True)
class CovarianceParameters(ColumnParameters):
    """Mean ``(d,)`` and covariance ``(d, d)``, divided by n - 1; the rest follows from them."""

    mean: Array
    covariance: Array

    @classmethod
    def from_units(cls, batch: Covariances, run: int, public: PublicFrame) -> CovarianceParameters:
        """One run of a batch in public unit coordinates, put in own units."""
        spread = public.half_range
        return cls(
            public.names,
            public.center + spread * batch.mean[run],
            spread[:, None] * batch.covariance[run] * spread,
        )

    def in_units(self, public: PublicFrame) -> Covariances:
        """The same as a batch of one in public unit coordinates."""
        spread = public.half_range
        return Covariances(
            public.to_units(self.mean)[None], (self.covariance / spread[:, None] / spread)[None]
        )

    @cached_property
    def correlation(self) -> Array:
        """Correlations ``(d, d)``."""
        return correlations(self.covariance)

    @cached_property
    def explained_variance(self) -> Array:
        """Variance along each principal axis ``(d,)``, largest first."""
        return principal(self.covariance)[0]

    @property
    def explained_variance_ratio(self) -> Array:
        """The same as shares ``(d,)`` of their sum."""
        return shares(self.explained_variance)

    @cached_property
    def components(self) -> Array:
        """Principal axes ``(d, d)``, a row each, of length 1, in own units."""
        return principal(self.covariance)[1]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        arrays = {name: getattr(self, name).tolist() for name in ARRAYS}
        return {"columns": list(self.columns), **arrays}

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Rows ``(count, d)`` of the normal law with this mean and covariance."""
        drawn = rng.standard_normal((count, len(self.mean))) * np.sqrt(self.explained_variance)
        return np.asarray(self.mean + drawn @ self.components)


def result_table(record: dict[str, Any]) -> Table:
    """Few columns: one line each, with its correlations. Many: one line a component."""
    parameters, titles = record["parameters"], column_titles(record)
    explained = [f"{share:.0%}" for share in parameters["explained_variance_ratio"]]
    if len(titles) > FEW_COLUMNS:
        return _component_lines(parameters, explained)
    about = (
        "Each column: its mean and standard deviation, its correlations with columns 1, 2 and so "
        "on, and its weights in the first components, which explain "
        f"{listed(explained[:SHOWN])} of the variance."
    )
    axes = np.array(parameters["components"])[:SHOWN]
    means = place_texts(record, parameters["mean"])
    lines = [
        {
            "column": f"{i + 1} {title}",
            "mean": means[i],
            "deviation": in_figures(max(parameters["covariance"][i][i], 0.0) ** 0.5, 3),
            **{str(j + 1): f"{value:+.2f}" for j, value in enumerate(parameters["correlation"][i])},
            **{f"component {k + 1}": f"{axis[i]:+.2f}" for k, axis in enumerate(axes)},
        }
        for i, title in enumerate(titles)
    ]
    return about, lines


def _component_lines(parameters: dict[str, Any], explained: list[str]) -> Table:
    names = parameters["columns"]
    lines = [
        {
            "component": str(k + 1),
            "variance": explained[k],
            "strongest columns": ", ".join(
                f"{names[i]} {axis[i]:+.2f}" for i in np.argsort(-np.abs(axis))[:STRONGEST]
            ),
        }
        for k, axis in enumerate(np.array(parameters["components"])[:FEW_COLUMNS])
    ]
    about = (
        f"The first {FEW_COLUMNS} of {len(names)} principal components: the share of the variance "
        "that each explains, and the columns with the largest weights (--json has all weights)."
    )
    return about, lines
