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
class FromMiddle:
    """Whence distances are taken: the middle ``(B, d)`` of each run, and by what ``(B, d)`` each
    column is divided before, if at all; both public or released."""

    middle: Array
    axes: Array | None = None


@dataclass(frozen=True)
class RowRadii(Summed[FromMiddle, tuple[Array, Array]]):
    """How many rows lie how far from the middle of each run.

    edges ``(J,)``: public, rising. Bin 0 holds distances up to the first edge, bin j those up to
    edge j, the last what lies beyond all. What leaves are the histograms ``(B, J + 1)`` and the
    noise's deviation ``(B,)``.

    **Guarantee.** A row is in one bin, whatever columns are divided by. L2 sensitivity: 1 where it
    is added or removed, ``sqrt 2`` where it is replaced (two bins change by one each); L1: 1 and 2.
    All attained.
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

    def checked(self, session: Session[Any], of: FromMiddle) -> FromMiddle:
        shape, middle = (session.runs, self.dim), np.array(of.middle, dtype=np.float64)
        if middle.shape != shape:
            raise ValueError("middles must have the shape (runs, dim)")
        if of.axes is None:
            return FromMiddle(middle)
        axes = np.array(of.axes, dtype=np.float64)
        if axes.shape != shape or not np.all((axes > 0.0) & np.isfinite(axes)):
            raise ValueError("axes must have the shape (runs, dim), positive and finite")
        return FromMiddle(middle, axes)

    def total(
        self, session: Session[Any], of: FromMiddle, batches: Minibatches | None
    ) -> tuple[Array, None]:
        edges = np.asarray(self.edges)
        sum_of = partial(counts_by_distance, middle=of.middle, edges=edges, axes=of.axes)
        return np.asarray(session._features.total(sum_of)[:, None]), None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> tuple[Array, Array]:
        return total[:, 0], scales["counts"]
