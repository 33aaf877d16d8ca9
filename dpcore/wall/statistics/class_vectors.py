"""Vectors of public features, added up by their rows' private labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import positive, whole
from dpcore.errors import InputError, WallError
from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.statistics.statistic import Part, Sensitivity, Summed

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches


@dataclass(frozen=True)
class ByLabel:
    """Vectors to be summed by label.

    vectors: given a run and a class, ``(n, p)`` for all rows; whatever it returns is put into the
    ball of the bound. alike: it is the same for all runs and classes.
    """

    vectors: Callable[[int, int], Array]
    alike: bool = False


@dataclass(frozen=True)
class LabelledVectors(Summed[ByLabel, tuple[Array, Array]]):
    """Vectors of public features, added up by their rows' private labels.

    The row of class k adds ``g_k`` with ``|g_k| <= bound``, worked out from public features and
    released values: shaped noise is this in coordinates where it is round. What leaves are the sums
    ``(B, K, p)`` and the noise's deviation ``(B,)`` in each coordinate.

    **Guarantee.** Where a label is exchanged, the L2 sensitivity is ``sqrt 2 bound``: two classes
    change, by a vector each. L1: ``2 sqrt(dim) bound``. Both are attained. One row's own vector is
    no longer than the bound (L1: ``sqrt(dim)`` times it), which stands under ``add_remove``; but
    a session lets it leave under ``label`` alone, because features have to be public.
    """

    components: int
    dim: int
    bound: float = 1.0

    lemma = "two classes change by a vector of bounded length each; features are public"

    def __post_init__(self) -> None:
        whole("components", self.components)
        whole("dim", self.dim)
        positive("bound", self.bound)

    @cached_property
    def parts(self) -> dict[str, Part]:
        """One block: the vector."""
        return {"sums": Part(self.dim, self.bound)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """In units of the bound."""
        length = math.sqrt(self.dim)
        l2 = _by_labels(adjacency, add=1.0, moves=math.sqrt(2.0))
        return Sensitivity(
            l2, {"sums": (l2, _by_labels(adjacency, add=length, moves=2.0 * length))}
        )

    def checked(self, session: Session[Any], of: ByLabel) -> ByLabel:
        if session.private and session.adjacency != "label":
            raise WallError(
                "feature vectors can be released by label only where features are public"
            )
        if self.components != session.source.components:
            raise ValueError("the contribution and the labels differ in their number of classes")
        return of

    def bounds(self, session: Session[Any], of: ByLabel) -> tuple[float, float]:
        return self.bound, self.bound

    def total(
        self, session: Session[Any], of: ByLabel, batches: Minibatches | None
    ) -> tuple[Array, None]:
        codes = session.source._codes
        total = np.zeros((session.runs, self.components, self.size))
        vectors: Array | None = None
        for run in range(session.runs):
            if of.alike and run:
                total[run] = total[0]
                continue
            for which in range(self.components):
                if vectors is None or not of.alike:
                    vectors = np.array(of.vectors(run, which), dtype=np.float64)
                    if vectors.shape != (len(codes), self.size):
                        raise ValueError("vectors must have the shape (rows, size)")
                    vectors = clip_to_ball(vectors, self.bound)
                total[run, which] = vectors[codes == which].sum(axis=0)
        return total, None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> tuple[Array, Array]:
        return total, scales["sums"]


def _by_labels(adjacency: str, *, add: float, moves: float) -> float:
    """The same where features are public."""
    if adjacency not in ("label", "add_remove"):
        raise InputError(
            "adjacency",
            f"{adjacency} protects features, which this release treats as public",
            "choose label, or another method",
        )
    return add if adjacency == "add_remove" else moves
