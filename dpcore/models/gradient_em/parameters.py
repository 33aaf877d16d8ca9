"""What a gradient fit found, in the data's own units: ``beta``, and what it is the beta of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.result_table import FEW_COLUMNS, Table, column_titles
from dpcore.models.gradient_em.mathematics import MISSING, SYMMETRIC, Coefficients
from dpcore.wall.data import PublicFrame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class GradientParameters:
    """One ``beta (d,)`` in the data's own units.

    Of a mixture its clouds lie at ``origin + beta`` and ``origin - beta``; of a regression a target
    is ``target_origin + <x - origin, beta>`` (or minus it). scale, target_scale: units in which
    sigma is meant, public.
    """

    model: str
    columns: tuple[str, ...]
    beta: Array
    sigma: float
    origin: Array
    scale: Array
    target_origin: float
    target_scale: float

    @classmethod
    def from_units(
        cls, model: str, batch: Coefficients, run: int, public: PublicFrame
    ) -> GradientParameters:
        """One run of a batch in model coordinates, put in own units."""
        scale, target = batch.scale[run], float(batch.target_scale[run])
        return cls(
            model,
            public.names,
            batch.beta[run] * _own_unit(model, scale, target),
            float(batch.sigma[run]),
            batch.origin[run],
            scale,
            float(batch.target_origin[run]),
            target,
        )

    def in_units(self, public: PublicFrame) -> Coefficients:
        """The same as a batch of one in model coordinates."""
        return Coefficients(
            (self.beta / _own_unit(self.model, self.scale, self.target_scale))[None],
            np.array([self.sigma]),
            self.origin[None],
            self.scale[None],
            np.array([self.target_origin]),
            np.array([self.target_scale]),
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, in the data's own units."""
        record: dict[str, Any] = {"columns": list(self.columns), "beta": self.beta.tolist()}
        if np.any(self.origin):
            record["origin"] = self.origin.tolist()
        if self.target_origin:
            record["target_origin"] = self.target_origin
        return record

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Synthetic rows from the model; covariates are normal, as the model has it."""
        import pandas as pd

        coins = rng.choice(np.array([-1.0, 1.0]), size=count)
        signs = np.ones(count) if self.model == MISSING.name else coins
        noise = rng.standard_normal((count, len(self.columns)))
        if self.model == SYMMETRIC.name:
            rows = self.origin + signs[:, None] * self.beta + self.sigma * self.scale * noise
            return pd.DataFrame(rows, columns=list(self.columns))
        rows = self.scale * noise
        spread = self.sigma * self.target_scale * rng.standard_normal(count)
        frame = pd.DataFrame(self.origin + rows, columns=list(self.columns))
        name = "target" if "target" not in self.columns else "explained target"
        frame[name] = self.target_origin + signs * (rows @ self.beta) + spread
        return frame


def _own_unit(model: str, scale: Array, target: float) -> Array:
    """What one unit of beta is worth ``(d,)``: a place, or a slope."""
    return scale if model == SYMMETRIC.name else np.asarray(target / scale)


def _coefficient_table(heading: str, *names: str) -> Callable[[dict[str, Any]], Table]:
    """One line a column: its coefficient, and with two names the opposite one."""

    def table(record: dict[str, Any]) -> Table:
        parameters, titles = record["parameters"], column_titles(record)
        beta = np.array(parameters["beta"])
        strongest = np.sort(np.argsort(-np.abs(beta), kind="stable")[:FEW_COLUMNS])
        lines = [
            {
                "column": titles[i],
                **{
                    name: f"{sign * beta[i]:+.4g}"
                    for name, sign in zip(names, (1, -1), strict=False)
                },
            }
            for i in strongest
        ]
        less = f" Only the largest {len(strongest)} of {len(beta)} are shown (--json has all)."
        return heading + (less if len(strongest) < len(beta) else ""), lines

    return table


cloud_table = _coefficient_table(
    "Two clouds: how far their centres are from 0 (with --coordinates unit, from the middle of the "
    "limits).",
    "one",
    "the other",
)
lines_table = _coefficient_table(
    "Two lines: how much the target changes per unit of each column.", "one", "the other"
)
line_table = _coefficient_table(
    "How much the target changes per unit of each column.", "coefficient"
)
