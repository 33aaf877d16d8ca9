"""Gradients of a yes-or-no regression: one vector a row, clipped to a ball before it is summed.

Abadi et al. 2016: what a step of stochastic descent reads of the rows is a sum of gradients over a
minibatch. The wall clips each to a public norm, whatever the model returned, and adds the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import WallError
from dpcore.wall.kernels.row_blocks import filled_up
from dpcore.wall.session import Noise
from dpcore.wall.statistics.logistic_statistics import OutcomeSession, _parts
from dpcore.wall.statistics.row_vectors import (
    BallVector,
    NoisyVectors,
    _height,
    _tiles,
    alone,
    quiet,
)
from dpcore.wall.subsample import Minibatches, release_sampled

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
RowGradients = Callable[[Array, Array, Indices], Array]


def measure_gradients(
    session: OutcomeSession,
    what: str,
    contribution: BallVector,
    gradients: RowGradients,
    noise: Noise,
    batches: Minibatches,
) -> NoisyVectors:
    """Release the noisy sum of one gradient a row over a fresh sample, and write the ledger.

    gradients: the model's vectors ``(b, d, m)`` for rows ``x (m, p)`` of the design, outcomes
    ``(m,)`` and runs ``(b,)``; a row's must come from that row alone. They are drawn into the ball
    of ``contribution.bound``; what is undefined becomes 0.

    **Guarantee** and refusals as
    :meth:`dpcore.wall.statistics.row_vectors.VectorSession.measure_vectors`, on a sample as
    :func:`dpcore.wall.subsample.release_sampled`.
    """
    if session.private and not math.isfinite(contribution.bound):
        raise WallError("a vector without a bound does not leave under privacy")
    session._check(contribution, contribution.bound, contribution.bound, (noise,))
    total = np.zeros((session.runs, 1, contribution.size))
    for rows, outcomes, runs in _parts(session, batches):
        total[runs, 0, 0] = len(rows)
        for some, members in _tiles(len(runs), len(rows), contribution.dim):
            seen, said, which = rows[members].view(), outcomes[members].view(), runs[some]
            if session._for_good:
                size = _height(contribution.dim)
                seen, said = filled_up(seen, size), filled_up(said, size)
            seen.flags.writeable = said.flags.writeable = False
            with quiet(private=session.private), session._threads():
                vectors = np.asarray(gradients(seen, said, which), dtype=np.float64)
            if vectors.shape != (len(which), contribution.dim, len(seen)):
                raise WallError("a model must give one vector for each run and row")
            total[which, 0, 1:] += contribution.sum(alone(vectors, members))
    scales = release_sampled(session, what, total, contribution, (noise,), batches)
    return NoisyVectors(total[:, 0, 0], total[:, 0, 1:], scales["counts"], scales["sums"])
