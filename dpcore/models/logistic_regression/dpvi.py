"""Private logistic regression by gradient-perturbation variational inference (DPVI).

Jalko, Dikmen, Honkela 2017: a step reads a noisy sum of clipped gradients of a minibatch; the rest
is post-processing. Their moments accountant on Poisson samples is ``add_remove`` here; any
accountant that covers the samples may count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.minibatch import Steps
from dpcore.models.logistic_regression import variational
from dpcore.models.logistic_regression.mathematics import Coefficients
from dpcore.wall.data import LogisticRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import RowGradient
from dpcore.wall.subsample import Minibatches

COINS = 8  # draws of the coefficients that a gradient is averaged over
BOUND = 0.5  # of a row's gradient, as a share of the reach of x
TRAVEL = 5.0  # log odds that all steps can move a coefficient, one way


def fit_dpvi(
    session: Session[LogisticRows], steps: Steps, noise: Array
) -> tuple[list[Coefficients], list[Any]]:
    """Climb the bound by noisy gradients, and whose gradients each step of the first run clips;
    noise ``(B,)``: multiplier of each step's release."""
    size = session.source.design.size
    contribution = RowGradient(
        2 * size, BOUND * session.source.reach if session.private else np.inf
    )
    batches = Minibatches(session, steps.sample)
    coins = np.random.default_rng([0, size, 11])  # public
    posterior = variational.Factorised.start(session.runs, size)
    climb = variational.Climb(posterior, TRAVEL / max(steps.count, 10))
    history, clipping = [posterior], list[Any]()
    for iteration in range(1, steps.count + 1):
        drawn = coins.standard_normal((COINS, size))
        clipping.append((variational.Factorised(posterior.mean[:1], posterior.log_sd[:1]), drawn))
        released = session.release(
            f"iteration {iteration}: gradients",
            contribution,
            variational.row_gradients(posterior, drawn),
            Noise("gaussian", noise),
            batches,
        )
        posterior = climb.step(released.sums / steps.sample.rate + variational.of_prior(posterior))
        history.append(posterior)
    final = variational.averaged(history)
    return [*(step.coefficients() for step in history[1:-1]), final.coefficients()], clipping
