"""Private logistic regression by objective perturbation: one convex problem with noise inside.

Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 2, with sums in place of means, so that no noise
reads the number of rows. It has epsilon alone: its delta is 0, whatever delta was asked for.
"""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array
from dpcore.models.logistic_regression.mathematics import Coefficients
from dpcore.wall.data import LogisticRows
from dpcore.wall.session import Session
from dpcore.wall.statistics import PerturbedObjective

SOURCE = "Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 2 and Theorem 9"
RIDGE = 1.0  # prior precision of a coefficient, where nothing else asks for more
SHARE = 0.3  # of the noise's usual length that the ridge is, by default
REASONS = (
    "the paper assumes the exact minimiser; here additional noise covers a public bound on the "
    "solver's error",
    "as printed, the cost that depends on the ridge is charged twice; once is enough",
)


def fit_objective(
    session: Session[LogisticRows], noise: Array, ridge: float | None, *, as_printed: bool
) -> Coefficients:
    """One release of all coefficients. noise ``(B,)``: 1/epsilon of each run; 0 without privacy.

    ridge: ``None`` for one that grows with the noise: coefficients then stay in the reach of what
    the noise does to them. How uncertain they are is not known: the curvature never leaves.
    """
    size = session.source.design.size
    objective = PerturbedObjective(size, session.source.reach)
    epsilon = 1.0 / np.maximum(noise, 1e-300)
    ridges = np.full(session.runs, RIDGE if ridge is None else ridge)
    if ridge is None and session.private:
        length = size * objective.slope_sensitivity(session.adjacency) * session.rows_per_person
        ridges = ridges + SHARE * length * noise
    minimiser = objective.release(session, "coefficients", epsilon, ridges, as_printed=as_printed)
    zeros = np.zeros((session.runs, size, size))
    return Coefficients(minimiser.coefficients, zeros, np.full_like(zeros, np.nan))
