"""Exercises that need no picture: their answers follow from a formula or from an accountant."""

from __future__ import annotations

import math

import numpy as np

from app.lesson import Lesson
from dpcore.accounting import delta_of, epsilon_of, mu_of, posterior
from dpcore.figures.model_plot import brief
from dpcore.privacy.guarantee import show_bound

DELTA = 1e-5


def _noise() -> float:
    """Noise multiplier of one Gaussian release of epsilon 1."""
    return 1.0 / float(mu_of(1.0, DELTA))


EXERCISES = (
    Lesson("coin", (0.25, 0.5, 0.7, 1.1, 1.4, 2, 3, 4), lambda: math.log(0.75 / 0.25)),
    Lesson("spread", (0.5, 0.7, 1, 1.4, 2, 2.8, 4, 8), lambda: math.sqrt(2.0) / 0.5),
    Lesson(
        "beyond", (0.1, 0.3, 1, 5, 14, 25, 37, 50), lambda: 100.0 * math.exp(-3.0), "{:.2g}".format
    ),
    Lesson(
        "noise",
        (1, 2, 3, 3.7, 4.8, 7, 10, 20),
        _noise,
        # the classical theorem's (Dwork, Roth 2014, Theorem A.1)
        others=lambda: {"classic": brief(math.sqrt(2.0 * math.log(1.25 / DELTA)))},
    ),
    Lesson(
        "histogram", (0.5, 0.7, 1, 1.4, 2, 3, 4, 10), lambda: float(np.linalg.norm([1.0, -1.0]))
    ),
    Lesson("mean", (0.001, 0.01, 0.05, 0.1, 0.5, 1, 10, 100), lambda: 100.0 / 1000.0 / 1.0),
    Lesson("clipped", (0, 5, 10, 16, 25, 40, 50, 100), lambda: 0.1 * (200.0 - 100.0)),
    Lesson("family", (0.25, 0.5, 0.7, 1, 1.5, 2, 3, 4), lambda: 4 * 0.5),
    Lesson("belief", (1, 1.7, 2.7, 5, 10, 37, 50, 73), lambda: 100.0 * float(posterior(0.01, 1.0))),
    Lesson(
        "tail",
        (0.001, 0.01, 0.05, 0.13, 0.2, 0.31, 0.5, 1),
        lambda: float(delta_of(1.0, 1.0)),
        # how often the privacy loss, normal with mean 1/2 and variance 1, exceeds 1
        others=lambda: {"tail": brief(0.5 * math.erfc(0.5 / math.sqrt(2.0)))},
    ),
    Lesson(
        "many",
        (0.2, 0.5, 1, 2, 5, 10, 25, 125),
        lambda: 1.0 / math.sqrt(25 / 5.0**2),
        others=lambda: {"each": show_bound(float(epsilon_of(DELTA, 1.0 / 5.0)))},
    ),
    Lesson("disjoint", (0.03, 0.1, 0.3, 0.6, 0.95, 1.5, 3, 6), lambda: 0.3),
    Lesson(
        "sample",
        (0.01, 0.05, 0.1, 0.16, 0.3, 0.5, 1, 10),
        lambda: math.log1p(0.1 * math.expm1(1.0)),
        show_bound,
    ),
    Lesson("rounded", (0, 0.1, 0.3, 0.5, 0.9, 1, 2, 10), lambda: 1.0),
    Lesson(
        "counts",
        (3.7, 10, 14, 37, 53, 100, 140, 370),
        lambda: math.sqrt(100) * _noise(),
        others=lambda: {"laplace": brief(100.0 * math.sqrt(2.0))},
    ),
)
