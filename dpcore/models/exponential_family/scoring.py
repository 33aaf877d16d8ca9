"""How mixtures of a family are judged: by the log-likelihood of a row, beside a single group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.evaluation.alignment import by_distance
from dpcore.evaluation.yardstick import Scorer, Wording, Yardstick, mapped
from dpcore.fitting.recipe import demand_enough_rows
from dpcore.models.exponential_family import mathematics
from dpcore.models.exponential_family.bernoulli import Bernoulli
from dpcore.models.exponential_family.mathematics import Family, Groups
from dpcore.models.exponential_family.poisson import Poisson
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.data import PublicFrame
from dpcore.wall.table import PrivateTable

STARTS = 8  # of the converged fit
MOST_STEPS, CLOSE = 500, 1e-7  # nats a row that a step must gain
SAMPLE = 20_000  # rows on which starts are tried


class FamilyYardstick(Yardstick):
    """Mean log probability of a row; groups matched by the distances of their means."""

    wording = Wording(
        part="group",
        parts="groups",
        simplest="a single group",
    )
    metrics = ("test_log_likelihood",)
    rival_words = ("clip",)

    def __init__(self, model: str, family: Family) -> None:
        self.model, self.family = model, family

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Groups:
        """Plain EM from eight starts at rows, the best on a sample run to its end on all rows."""
        public, rows = custodian_rows(table)
        self.family.demand(public)
        demand_enough_rows(self.model, parts, len(rows))
        rng = np.random.default_rng(0)
        sample = rows if len(rows) <= SAMPLE else rows[rng.choice(len(rows), SAMPLE, replace=False)]
        picks = [rng.choice(len(sample), parts, replace=False) for _ in range(STARTS)]
        means = (sample[np.stack(picks)] + sample.mean(axis=0)) / 2.0
        groups = Groups(np.full((STARTS, parts), 1.0 / parts), self.family.allowed(means, public))
        groups, density = self._to_the_end(groups, sample, public)
        best = int(np.argmax(density))
        groups, _ = self._to_the_end(groups.at(slice(best, best + 1)), rows, public)
        order = np.lexsort(groups.means[0].T[::-1])
        return Groups(groups.weights[:, order], groups.means[:, order])

    def _to_the_end(self, groups: Groups, rows: Array, public: PublicFrame) -> tuple[Groups, Array]:
        """Plain EM until no run gains, and the log-likelihood ``(B,)`` of a row at its end."""
        density = mathematics.log_density(groups, rows, self.family, public)
        for _ in range(MOST_STEPS):
            before = density
            groups = mathematics.exact_step(groups, rows, self.family, public)
            density = mathematics.log_density(groups, rows, self.family, public)
            if np.all(density - before < CLOSE):
                break
        return groups, density

    def score(self, batch: Groups, scorer: Scorer) -> Array:
        return mathematics.log_density(batch, scorer.rows, self.family, scorer.public)

    def nothing(self, scorer: Scorer) -> float:
        return self.family.uniform(scorer.public)

    def align(self, batch: Groups, reference: Groups) -> tuple[Groups, Mask]:
        order, matched = by_distance(batch.means, reference.means[0])
        runs = np.arange(batch.runs)[:, None]
        return mapped(batch, lambda array: array[runs, order]), matched


BERNOULLI = FamilyYardstick("bernoulli", Bernoulli())
POISSON = FamilyYardstick("poisson", Poisson())
