"""Private logistic regression by gradient-perturbation variational inference (DPVI).

Jalko, Dikmen, Honkela 2017: a step reads a noisy sum of clipped gradients of a minibatch; the rest
is post-processing. Their moments accountant on Poisson samples is ``add_remove`` here; any
accountant that covers the samples may count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.fitting.minibatch import Steps
from dpcore.models.logistic_regression import variational
from dpcore.models.logistic_regression.mathematics import Coefficients
from dpcore.wall.session import Noise
from dpcore.wall.statistics.gradients import measure_gradients
from dpcore.wall.statistics.logistic_statistics import OutcomeSession
from dpcore.wall.statistics.row_vectors import BallVector
from dpcore.wall.subsample import Minibatches

Array = NDArray[np.float64]

COINS = 8  # draws of the coefficients that a gradient is averaged over
BOUND = 0.5  # of a row's gradient, as a share of the reach of x
TRAVEL = 5.0  # log odds that all steps can move a coefficient, one way


def fit_dpvi(session: OutcomeSession, steps: Steps, noise: Array) -> list[Coefficients]:
    """Climb the bound by noisy gradients; noise ``(B,)``: multiplier of each step's release."""
    size = session.design.size
    contribution = BallVector(2 * size, BOUND * session.reach if session.private else np.inf)
    batches = Minibatches(session, steps.sample)
    coins = np.random.default_rng([0, size, 11])  # public
    known = variational.Factorised.start(session.runs, size)
    climb = variational.Climb(known, TRAVEL / max(steps.count, 10))
    history = [known]
    for iteration in range(1, steps.count + 1):
        released = measure_gradients(
            session,
            f"iteration {iteration}: gradients",
            contribution,
            variational.row_gradients(known, coins.standard_normal((COINS, size))),
            Noise("gaussian", noise),
            batches,
        )
        known = climb.step(released.sums / steps.sample.rate + variational.of_prior(known))
        history.append(known)
    final = variational.averaged(history)
    return [*(one.coefficients() for one in history[1:-1]), final.coefficients()]
