"""How many rows lie how far from a middle: a histogram of distances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.wall.kernels.balls import counts_by_distance
from dpcore.wall.statistics.statistic import Part, Sensitivity, Summed, by_adjacency

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches


@dataclass(frozen=True)
class RowRadii(Summed[Array, tuple[Array, Array]]):
    """How many rows lie how far from the middle ``(B, d)`` of each run, public or released.

    edges ``(J,)``: public, rising. Bin 0 holds distances up to the first edge, bin j those up to
    edge j, the last what lies beyond all. What leaves are the histograms ``(B, J + 1)`` and the
    noise's deviation ``(B,)``.

    **Guarantee.** A row is in one bin. L2 sensitivity: 1 where it is added or removed, ``sqrt 2``
    where it is replaced (two bins change by one each); L1: 1 and 2. All attained.
    """

    dim: int
    edges: tuple[float, ...]

    components = 1
    lemma = "a row is in one bin of distances"
    adds_up = True

    @cached_property
    def parts(self) -> dict[str, Part]:
        """One block: the bins."""
        return {"counts": Part(len(self.edges) + 1, 1.0)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma's."""
        root = math.sqrt(2.0)
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(root, {"counts": (root, 2.0)}),
            add_remove=Sensitivity(1.0, {"counts": (1.0, 1.0)}),
        )

    def checked(self, session: Session[Any], of: Array) -> Array:
        middle = np.array(of, dtype=np.float64)
        if middle.shape != (session.runs, self.dim):
            raise ValueError("middles must have the shape (runs, dim)")
        return middle

    def total(
        self, session: Session[Any], of: Array, batches: Minibatches | None
    ) -> tuple[Array, None]:
        edges = np.asarray(self.edges)
        sum_of = partial(counts_by_distance, middle=of, edges=edges)
        return np.asarray(session._features.total(sum_of)[:, None]), None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> tuple[Array, Array]:
        return total[:, 0], scales["counts"]
