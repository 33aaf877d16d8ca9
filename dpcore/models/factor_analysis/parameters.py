"""A fitted factor analysis in the data's own units: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Array, Indices
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
from dpcore.models.factor_analysis import mathematics as factors
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.schema import Schema
from dpcore.wall.data import PublicFrame

HIDDEN = (
    "The unique variances of {} are the least that the noise lets be seen: they may be smaller."
)


@dataclass(frozen=True)
class FactorParameters(ColumnParameters):
    """One factor analysis: mean ``(d,)``, loadings ``(d, k)``, noise_variance ``(d,)``."""

    mean: Array
    loadings: Array
    noise_variance: Array

    @classmethod
    def from_units(cls, fit: Factors, run: int, public: PublicFrame) -> FactorParameters:
        """One run of a batch in public unit coordinates, put in own units."""
        spread = public.half_range
        return cls(
            public.names,
            public.center + spread * fit.mean[run],
            spread[:, None] * fit.loadings[run],
            spread**2 * fit.noise_variance[run],
        )

    def in_units(self, public: PublicFrame) -> Factors:
        """The same as a batch of one in public unit coordinates."""
        spread = public.half_range
        return Factors(
            public.to_units(self.mean)[None],
            (self.loadings / spread[:, None])[None],
            (self.noise_variance / spread**2)[None],
        )

    def as_factors(self) -> Factors:
        """The same as a batch of one, in own units."""
        return Factors(self.mean[None], self.loadings[None], self.noise_variance[None])

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Synthetic rows ``(count, d)`` from the model."""
        return factors.sample(self.as_factors(), count, rng)


BY_CHANCE = "Noise alone can make a single factor stand out."


def factors_and_variances(parameters: FactorParameters, schema: Schema) -> str:
    """Which factors the noise left: those within it are 0; then which own variances it hides.

    These are all as large as the noise can hide, so they are alike in public unit coordinates.
    """
    own = parameters.noise_variance / PublicFrame.of(schema).half_range ** 2
    hidden = np.flatnonzero(np.isclose(own, own.min(), rtol=1e-9))
    if len(hidden) < 2:
        return noise_sentence(parameters, schema)
    names = [parameters.columns[i] for i in hidden]
    of = listed(names) if len(names) <= STRONGEST else f"{len(names)} of {len(own)} columns"
    of = "all columns" if len(names) == len(own) else of
    return f"{noise_sentence(parameters, schema)} {HIDDEN.format(of)}"


def noise_sentence(parameters: FactorParameters, schema: Schema) -> str:
    """Which factors the noise left; now and then it makes one."""
    visible = np.any(parameters.loadings != 0.0, axis=0)
    count, left = len(visible), int(visible.sum())
    if not left:
        none = "the factor does not stand" if count == 1 else f"none of the {count} factors stands"
        return f"At this noise level {none} out from the noise: all loadings are set to 0."
    if left == count:
        every = {1: "the factor stands", 2: "both factors stand"}
        which = every.get(count, f"all {count} factors stand") + " out from the noise"
    else:
        others = "the other is" if count - left == 1 else "the others are"
        stand = "stands" if left == 1 else "stand"
        which = f"{left} of {count} factors {stand} out from the noise; {others} set to 0"
    return f"At this noise level {which}. {BY_CHANCE}"


def result_table(record: dict[str, Any]) -> Table:
    """Few columns: one line each. Many, as of pictures: one line a factor."""
    parameters, titles = record["parameters"], column_titles(record)
    loadings = np.array(parameters["loadings"])
    visible = np.flatnonzero(np.any(loadings != 0.0, axis=0))
    if len(titles) <= FEW_COLUMNS:
        lines = _column_lines(record, titles, visible)
        about = (
            "Each column: its mean, its loading on each factor, and its unique standard deviation."
        )
    else:
        lines = _factor_lines(parameters, visible)
        about = (
            "Each factor: the share of a column's variance that it explains, averaged over "
            f"{len(titles)} columns, and the columns where this share is largest, with their "
            "loadings."
        )
    return about, lines


def _column_lines(
    record: dict[str, Any], titles: list[str], visible: Indices
) -> list[dict[str, Any]]:
    parameters = record["parameters"]
    return [
        {
            "column": title,
            "mean": mean,
            **{f"factor {k + 1}": f"{loadings[k]:+.3g}" for k in visible},
            "its own": in_figures(own**0.5, 3),
        }
        for title, mean, loadings, own in zip(
            titles,
            place_texts(record, parameters["mean"]),
            parameters["loadings"],
            parameters["noise_variance"],
            strict=True,
        )
    ]


def _factor_lines(parameters: dict[str, Any], visible: Indices) -> list[dict[str, Any]]:
    """Shares of variances, because columns may have different units."""
    names = parameters["columns"]
    loadings, own = np.array(parameters["loadings"]), np.array(parameters["noise_variance"])
    shares = loadings**2 / (own + np.sum(loadings**2, axis=1))[:, None]
    lines = [
        {
            "factor": str(k + 1),
            "share": f"{shares[:, k].mean():.1%}",
            "strongest columns": ", ".join(
                f"{names[i]} {loadings[i, k]:+.3g}" for i in np.argsort(-shares[:, k])[:STRONGEST]
            ),
        }
        for k in visible
    ]
    rest = {"factor": "none", "share": f"{1.0 - shares.sum(axis=1).mean():.1%}"}
    return [*lines, {**rest, "strongest columns": "each column's own"}]
