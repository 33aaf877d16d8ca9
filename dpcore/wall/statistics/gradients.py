"""Gradients of a yes-or-no regression: one vector a row, clipped to a ball before it is summed.

Abadi et al. 2016: what a step of stochastic descent reads of the rows is a sum of gradients over a
minibatch. The wall clips each to a public norm, whatever the model returned, and adds the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.errors import RowError
from dpcore.wall.kernels.row_blocks import filled_up
from dpcore.wall.statistics.logistic_statistics import sampled_rows
from dpcore.wall.statistics.row_vectors import (
    BallVector,
    _height,
    _tiles,
    alone,
)

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches

RowGradients = Callable[[Array, Array, Indices], Array]


@dataclass(frozen=True)
class RowGradient(BallVector):
    """A gradient of one row of a yes-or-no regression, in the ball of :class:`BallVector`.

    A model gives the vectors ``(b, d, m)`` for rows ``x (m, p)`` of the design, outcomes ``(m,)``
    and runs ``(b,)``; a row's must come from that row alone. They are drawn into the ball; what is
    undefined becomes 0.
    """

    def total(  # type: ignore[override]
        self, session: Session[Any], of: RowGradients, batches: Minibatches | None
    ) -> tuple[Array, None]:
        total, gradients = np.zeros((session.runs, 1, self.size)), session._of_rows(of)
        for rows, outcomes, runs in sampled_rows(session, batches):
            total[runs, 0, 0] = len(rows)
            for some, members in _tiles(len(runs), len(rows), self.dim):
                row_block, outcome_block, which = (
                    rows[members].view(),
                    outcomes[members].view(),
                    runs[some],
                )
                if session._for_good:
                    size = _height(self.dim)
                    row_block, outcome_block = (
                        filled_up(row_block, size),
                        filled_up(outcome_block, size),
                    )
                row_block.flags.writeable = outcome_block.flags.writeable = False
                with session._threads():
                    vectors = np.asarray(
                        gradients(row_block, outcome_block, which), dtype=np.float64
                    )
                if vectors.shape != (len(which), self.dim, len(row_block)):
                    raise RowError("a model must give one vector for each run and row")
                total[which, 0, 1:] += self.sum(alone(vectors, members))
        return total, None
