"""How many numbers of each column lie where: a histogram a column, all counted together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import WallError
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.statistics.statistic import Part, Sensitivity, Summed, by_adjacency

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches


@dataclass(frozen=True)
class ColumnBins(Summed[Array, tuple[Array, Array]]):
    """How many numbers of each of d columns lie between which edges of each run.

    columns: their places in a row, public. What is asked are the edges ``(B, d, J)``, public or
    released, rising in each column. Bin 0 of a column holds numbers up to the first edge, bin j
    those above edge j and up to the next, the last what lies above all; a missing number is in no
    bin. What leaves are the counts ``(B, d, J + 1)`` and the noise's deviation ``(B,)``.

    **Guarantee.** L2 sensitivity: ``sqrt d`` where a row is added or removed and ``sqrt 2d`` where
    one is replaced; L1: d and 2d. All attained.

    *Proof.* In each column a row adds 1 to one bin, or to none where its number is missing,
    wherever the edges are: a vector of d blocks, each of norm at most 1. Two rows differ in each
    block by at most 1 in each of two bins. QED.
    """

    columns: tuple[int, ...]
    edges: int

    lemma = "a number is in one bin of its column"
    adds_up = True

    @property
    def components(self) -> int:  # type: ignore[override]
        """How many columns, d."""
        return len(self.columns)

    @cached_property
    def parts(self) -> dict[str, Part]:
        """One block: the bins of a column."""
        return {"counts": Part(self.edges + 1, 1.0)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma's."""
        dim = float(self.components)
        l2, root = math.sqrt(dim), math.sqrt(2.0 * dim)
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(root, {"counts": (root, 2.0 * dim)}),
            add_remove=Sensitivity(l2, {"counts": (l2, dim)}),
        )

    def checked(self, session: Session[Any], of: Array) -> Array:
        edges = np.array(of, dtype=np.float64)
        if edges.shape != (session.runs, self.components, self.edges):
            raise ValueError("edges must have the shape (runs, columns, edges)")
        if not set(self.columns) <= set(range(session.public.dim)):
            raise ValueError("a column that the rows do not have")
        if not (np.all(np.isfinite(edges)) and np.all(np.diff(edges, axis=2) >= 0.0)):
            raise ValueError("edges must be finite and rising")
        return edges

    def total(
        self, session: Session[Any], of: Array, batches: Minibatches | None
    ) -> tuple[Array, None]:
        if batches is not None:
            raise WallError("these rows cannot be subsampled")
        return session._features.total(partial(_counted, columns=self.columns, edges=of)), None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> tuple[Array, Array]:
        return total, scales["counts"]


def _counted(rows: Rows, columns: tuple[int, ...], edges: Array) -> Array:
    """Numbers of rows ``(n, d)`` in the bins of some columns, ``(B, k, J + 1)``, between edges
    ``(B, k, J)``; an undefined one is in no bin."""
    runs, _, jumps = edges.shape
    total = np.zeros((runs, len(columns), jumps + 1))
    for at, column in enumerate(columns):
        numbers = rows.units[:, column]
        numbers = numbers[np.isfinite(numbers)]
        alike, back = np.unique(edges[:, at], axis=0, return_inverse=True)
        counts = [
            np.bincount(np.searchsorted(some, numbers), minlength=jumps + 1) for some in alike
        ]
        total[:, at] = np.array(counts, dtype=float)[back.reshape(-1)]
    return total
