"""What a logistic regression found, in own units, with intervals that say what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtri, ndtri

from dpcore.arrays import Array
from dpcore.checks import probability
from dpcore.errors import InputError
from dpcore.fitting.result_table import Table, column_titles
from dpcore.models.logistic_regression.mathematics import Coefficients
from dpcore.schema import Schema
from dpcore.wall.data import PublicFrame

if TYPE_CHECKING:
    import pandas as pd


INCLUDED = (
    "intervals include the privacy noise and the sampling error of the rows, both to first order; "
    "they leave out clipping and the shrinkage towards 0. The recommended method starts from a fit "
    "that treats the rows of each outcome as normal and, at small budgets, stays near it: it can "
    "double the coefficient of a skewed or a yes/no column. At small budgets, and with variational "
    "Bayes at any budget, shrinkage is larger than the errors included. In both cases many "
    "intervals then miss the exact coefficient"
)
SURE = 0.9  # of releases from columns that say nothing
UNKNOWN = "the amount of noise in the coefficients is unknown, so there are no intervals"


@dataclass(frozen=True)
class LogisticParameters:
    """Log odds of a yes: intercept + coefficients ``(d,)`` times a row, in own units.

    covariance ``(d + 1, d + 1)``: the intercept last; noise_covariance: the part of it that is
    privacy noise, undefined where a fit does not know it. outcome: what a yes is.
    """

    columns: tuple[str, ...]
    coefficients: Array
    intercept: float
    covariance: Array
    noise_covariance: Array
    outcome: str | None = None

    @classmethod
    def from_units(cls, batch: Coefficients, run: int, public: PublicFrame) -> LogisticParameters:
        """One run of a batch in public unit coordinates, put in own units."""
        own = batch.at(slice(run, run + 1)).mapped(_own_units(public))
        mean = own.mean[0]
        return cls(
            public.names,
            mean[:-1],
            float(mean[-1]),
            own.covariance[0],
            own.noise_covariance[0],
            public.outcome,
        )

    def in_units(self, public: PublicFrame) -> Coefficients:
        """The same as a batch of one in public unit coordinates."""
        mean = np.append(self.coefficients, self.intercept)
        own = Coefficients(mean[None], self.covariance[None], self.noise_covariance[None])
        back = np.asarray(np.linalg.inv(_own_units(public)), dtype=np.float64)
        return own.mapped(back)

    def intervals(self, level: float = 0.95) -> Array:
        """Low and high end of each coefficient, the intercept last ``(d + 1, 2)``; see INCLUDED.

        Undefined where the fit does not know how large the noise in it is.
        """
        middle = np.append(self.coefficients, self.intercept)
        return first_order(middle, self.covariance, self.noise_covariance, level)

    @property
    def knows_noise(self) -> bool:
        """Whether the fit knows how large the privacy noise in its coefficients is."""
        return bool(np.all(np.isfinite(self.noise_covariance)))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, in the data's own units."""
        return {
            "columns": list(self.columns),
            "outcome": self.outcome,
            "coefficients": self.coefficients.tolist(),
            "intercept": self.intercept,
            "covariance": self.covariance.tolist(),
            "noise_covariance": self.noise_covariance.tolist() if self.knows_noise else None,
            "intervals": self.intervals().tolist() if self.knows_noise else None,
            "intervals_include": INCLUDED if self.knows_noise else UNKNOWN,
        }

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Refused: nothing was released about how rows are spread. Always raises InputError."""
        raise InputError(
            "sample",
            "a regression predicts the outcome and does not describe the rows",
            "sample from a mixture",
        )


def noise_sentence(parameters: LogisticParameters, schema: Schema) -> str:
    """Whether noise and the choice of rows explain all coefficients, to first order.

    A fit to noise alone has coefficients within it, so that these are no evidence; of larger ones
    the fit may have moved one's share to another, or the intercept's.
    """
    mean, covariance = parameters.coefficients, parameters.covariance[:-1, :-1]
    if not parameters.knows_noise:
        return f"It cannot be determined which coefficients differ from 0: {UNKNOWN}."
    with np.errstate(all="ignore"):
        distance = float(mean @ np.linalg.pinv(covariance, hermitian=True) @ mean)
    if distance <= float(chdtri(len(mean), 1.0 - SURE)):
        return (
            "At this noise level the coefficients cannot be told from 0: they are no evidence that "
            "any column is related to the outcome."
        )
    return (
        "The coefficients are larger than this noise alone would make them, but it cannot be "
        "determined which columns are related to the outcome, because the fit is an "
        "approximation, which can shrink coefficients or move a part of one to another."
    )


def first_order(mean: Array, covariance: Array, noise: Array, level: float) -> Array:
    """Intervals ``(..., p, 2)`` of coefficients ``(..., p)`` with covariances ``(..., p, p)``, of
    which ``noise`` is the part that is privacy noise; undefined where that is not known."""
    reach = float(ndtri(0.5 + 0.5 * probability("level", level, example="0.95")))
    variances = np.diagonal(covariance, axis1=-2, axis2=-1)
    finite = np.all(np.isfinite(noise), axis=(-2, -1))[..., None]
    spread = np.where(finite, reach * np.sqrt(np.maximum(variances, 0.0)), np.nan)
    return np.stack([mean - spread, mean + spread], axis=-1)


def _own_units(public: PublicFrame) -> Array:
    """The matrix ``(p, p)`` from coefficients of ``(u, 1)`` to those of ``(x, 1)`` in own units."""
    matrix = np.diag(np.append(1.0 / public.half_range, 1.0))
    matrix[-1, :-1] = -public.center / public.half_range
    return matrix


def result_table(record: dict[str, Any]) -> Table:
    """One line a column with its interval, where noise is known; the intercept last."""
    parameters = record["parameters"]
    titles = [*column_titles(record), "intercept"]
    values = [*parameters["coefficients"], parameters["intercept"]]
    lines = [
        {"column": title, "log odds": f"{value:+.4g}"}
        for title, value in zip(titles, values, strict=True)
    ]
    if parameters["intervals"] is not None:
        for line, (low, high) in zip(lines, parameters["intervals"], strict=True):
            line["95% interval"] = f"{low:+.4g} to {high:+.4g}"
    outcome = parameters["outcome"] or "a yes"
    about = f"What one unit of each column adds to the log odds of {outcome}; "
    return f"{about}{parameters['intervals_include']}.", lines
