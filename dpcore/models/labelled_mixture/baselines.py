"""Plain rivals of the staged release: all sums at once, in the public ball, with round noise.

*laplace*: pure epsilon, noise by the L1 sensitivity. *gaussian*: split as the module of the model
says is best for a class that fills the ball. *colored*: sums of features with the shaped noise of
:mod:`dpcore.models.labelled_mixture.min_trace`, where features are public.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array
from dpcore.models.labelled_mixture import mathematics as labelled
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.models.labelled_mixture.min_trace import min_trace_covariance
from dpcore.models.labelled_mixture.public_features import demand_public_features
from dpcore.models.labelled_mixture.staged import Ball, clips, in_ball, moments, public_ball
from dpcore.wall.data import LabelledRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import ByLabel, LabelledVectors, NoisyMoments

COLORED_SHARE = 1.0 / 3.0  # of mu^2, for the sums


def fit(
    session: Session[LabelledRows], factor: Array, kind: str, target: str, solver: str = "exact"
) -> LabelledMixture:
    """The mixture; factor ``(B,)``: noise multiplier of the one release (Laplace: its scale)."""
    clipped = clips(session)
    ball = public_ball(session)
    frames, place = in_ball(session, ball)
    weights = labelled.best_weights(session.public.dim, 1.0)
    if kind == "colored":
        noisy = _colored(session, ball, factor, solver)
    else:
        law = "laplace" if kind == "laplace" else "gaussian"
        noisy = session.release(
            "counts, sums and squares", moments(session, weights), frames, Noise(law, factor)
        )
    sizes = labelled.usable(noisy.counts, noisy.counts_sd)
    means, covariances, doubt = labelled.gaussians(
        noisy, sizes, place, target=target, clipped=clipped
    )
    counts = np.maximum(noisy.counts, np.minimum(noisy.counts_sd, 1e100)[:, None])
    shares = labelled.shares(counts, doubt, target)
    sizes = labelled.together(sizes, session.rows)
    return LabelledMixture.of(session.source.classes, shares, means, covariances, sizes, doubt)


def _colored(
    session: Session[LabelledRows], ball: Ball, factor: Array, solver: str
) -> NoisyMoments:
    """The same sums; those of features with noise shaped by the features."""
    demand_public_features(session, "colored")
    dim = session.public.dim
    frames, _ = in_ball(session, ball)
    rows = (session.public_features() - ball.center) / ball.radius
    covariance = min_trace_covariance(rows + 0.0, solver=solver) if len(rows) else None
    shape = np.eye(dim) if covariance is None else covariance.covariance
    shape = shape + 1e-12 * max(float(np.trace(shape)), 1e-300) * np.eye(dim)
    values, vectors = np.linalg.eigh(shape)
    root = (vectors * np.sqrt(np.maximum(values, 1e-300))) @ vectors.T
    sums, sd = session.release(
        "sums of features",
        LabelledVectors(session.source.components, dim),
        ByLabel(lambda run, which: rows @ np.linalg.inv(root), alike=True),
        Noise("gaussian", factor / math.sqrt(COLORED_SHARE)),
    )
    a, _, c = labelled.best_weights(dim, 1.0)
    rest = session.release(
        "counts and squares",
        moments(session, np.array([a, 0.0, c])),
        frames,
        Noise("gaussian", factor / math.sqrt(1.0 - COLORED_SHARE)),
    )
    size = sd * math.sqrt(float(np.trace(shape)) / dim)
    return NoisyMoments(
        rest.counts, sums @ root, rest.squares, rest.counts_sd, size, rest.squares_sd
    )
