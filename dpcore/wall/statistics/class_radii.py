"""How many rows of each class lie how far from its centre: a histogram of distances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.wall.statistics.class_moments import by_change, demand_shape, rows_by_class
from dpcore.wall.statistics.statistic import Part, Sensitivity, Summed

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches


@dataclass(frozen=True)
class LabelledRadii(Summed[Array, tuple[Array, Array]]):
    """How many rows of each class lie how far from its centre: a histogram of distances.

    Of centres ``(F, K, d)`` in unit coordinates: F is 1 or the number of runs. What leaves are the
    histograms ``(B, K, J + 1)`` and the noise's deviation ``(B,)``.

    edges ``(J,)``: public, falling. Bin 0 holds distances above the first edge, bin j those above
    edge j, up to edge ``j - 1``; the last what is within all edges.

    **Guarantee.** A row is in one bin of one class: L2 sensitivity 1 where it is added or removed,
    ``sqrt 2`` in every other case (two bins change by one each; where nothing else than the label
    or the features change they still may both change). L1: 1 and 2. All attained.
    """

    components: int
    edges: tuple[float, ...]

    lemma = "a row is in one bin of one class"

    @cached_property
    def parts(self) -> dict[str, Part]:
        """One block: the bins."""
        return {"counts": Part(len(self.edges) + 1, 1.0)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma's."""
        two = math.sqrt(2.0)
        l2 = by_change(adjacency, add=1.0, moves=two, stays=two)
        l1 = by_change(adjacency, add=1.0, moves=2.0, stays=2.0)
        return Sensitivity(l2, {"counts": (l2, l1)})

    def checked(self, session: Session[Any], of: Array) -> Array:
        demand_shape(of, (session.source.components, session.public.dim))
        return of

    def total(
        self, session: Session[Any], of: Array, batches: Minibatches | None
    ) -> tuple[Array, None]:
        edges = np.asarray(self.edges)
        total = np.zeros((session.runs, session.source.components, self.size))
        for which, rows in rows_by_class(session):
            for run in range(len(of)):
                with np.errstate(over="ignore", invalid="ignore"):
                    away = np.linalg.norm(rows - of[run, which], axis=1)
                # undefined distances are in bin 0
                place = np.count_nonzero(away[:, None] <= edges, axis=1)
                counts = np.bincount(place, minlength=self.size)
                total[slice(None) if len(of) == 1 else run, which] = counts
        return total, None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> tuple[Array, Array]:
        return total, scales["counts"]
