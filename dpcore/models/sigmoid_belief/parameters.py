"""A fitted belief network: what is printed, exported and sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.recipe import ColumnParameters
from dpcore.fitting.result_table import STRONGEST, Table
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.models.sigmoid_belief.mathematics import Network
from dpcore.wall.data import PublicFrame


@dataclass(frozen=True)
class BeliefParameters(ColumnParameters):
    """One network: weights ``(J, K)``, visible_bias ``(J,)``, hidden_bias ``(K,)``.

    Of binary rows, so it has no units: a pixel is on or off.
    """

    LIMITS = ("lower", "upper")
    lower: Array
    upper: Array
    weights: Array
    visible_bias: Array
    hidden_bias: Array

    @classmethod
    def from_units(cls, batch: Network, run: int, public: PublicFrame) -> BeliefParameters:
        """One run of a batch; pixels that are off and on are the columns' bounds."""
        return cls(
            public.names,
            public.center - public.half_range,
            public.center + public.half_range,
            batch.weights[run],
            batch.visible_bias[run],
            batch.hidden_bias[run],
        )

    def in_units(self, public: PublicFrame) -> Network:
        """The same as a batch of one."""
        return self._network()

    def given_back(self, rows: Array, threshold: float = 0.5) -> Array:
        """Chance of each pixel to be on ``(n, J)``, by what the network makes of rows ``(n, J)``.

        Rows are in own units; threshold: the share of its bounds above which a pixel is on.
        Raises InputError for rows of other columns.
        """
        rows = np.asarray(rows, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            raise InputError(
                "rows", f"they do not have {len(self.columns)} columns", "give one column per pixel"
            )
        return belief.reconstructed(self._pixels(rows, threshold), self._network(), 0)

    def hidden(self, rows: Array, threshold: float = 0.5) -> Array:
        """Chance of each hidden unit to be on ``(n, K)``, given rows as :meth:`given_back` has."""
        posterior = belief.fixed(self.weights, self.visible_bias, self.hidden_bias)
        return belief.e_step(self._pixels(rows, threshold), posterior, single=False)[0]

    def _pixels(self, rows: Array, threshold: float) -> Array:
        return (rows > self.lower + threshold * (self.upper - self.lower)).astype(float)

    def _network(self) -> Network:
        return Network(self.weights[None], self.visible_bias[None], self.hidden_bias[None])

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Synthetic rows ``(count, d)``, each pixel at its lower or upper bound."""
        on = belief.sample(self._network(), count, rng)
        return self.lower + on * (self.upper - self.lower)


def result_table(record: dict[str, Any]) -> Table:
    """A hidden unit's weights are told by the pixels that they move most."""
    parameters = record["parameters"]
    names, weights = parameters["columns"], np.array(parameters["weights"])
    often = 1.0 / (1.0 + np.exp(-np.array(parameters["hidden_bias"])))
    lines: list[dict[str, Any]] = [
        {
            "hidden unit": str(k + 1),
            "on": f"{often[k]:.1%}",
            "strongest columns": ", ".join(
                f"{names[i]} {weights[i, k]:+.3g}"
                for i in np.argsort(-np.abs(weights[:, k]), kind="stable")[:STRONGEST]
            ),
        }
        for k in range(weights.shape[1])
    ]
    return (
        "Each hidden unit: how often it is on, and the columns whose log odds it changes most "
        f"(--json has all {len(names)}).",
        lines,
    )
