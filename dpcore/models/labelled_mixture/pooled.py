"""The simplest rival of a labelled release: one Gaussian for all classes, and their shares.

Where features are public, the Gaussian is free and the whole budget goes into the shares. Elsewhere
counts, sums and squares leave in the public ball as for the plain rivals, and are added up over the
classes: noise of K of them.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array
from dpcore.models.labelled_mixture import mathematics as labelled
from dpcore.models.labelled_mixture.mathematics import LabelledMixture, Place
from dpcore.models.labelled_mixture.staged import clips, in_ball, moments, public_ball
from dpcore.wall.data import LabelledRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import LabelledMoments, NoisyMoments

LEAST = 1e-9  # of the total variance: the least in a direction, where features are public


def fit(session: Session[LabelledRows], factor: Array, target: str) -> LabelledMixture:
    """The mixture; factor ``(B,)``: noise multiplier of the one release."""
    dim, free = session.public.dim, not session.private or session.adjacency == "label"
    frames, place = in_ball(session, public_ball(session))
    counted = LabelledMoments(session.source.components, dim, 1.0, 0.0, 0.0)
    noisy = session.release(
        "counts" if free else "counts, sums and squares",
        counted if free else moments(session, labelled.best_weights(dim, 1.0)),
        frames,
        Noise("gaussian", factor),
    )
    means, covariances = _known(session) if free else _of_all(session, noisy, place, target)
    runs, classes = noisy.counts.shape
    sizes = labelled.usable(noisy.counts, noisy.counts_sd)
    doubt = np.zeros_like(sizes)
    shares = labelled.shares(np.maximum(noisy.counts, noisy.counts_sd[:, None]), doubt, target)
    return LabelledMixture.of(
        session.source.classes,
        shares,
        np.broadcast_to(means, (runs, classes, dim)).copy(),
        np.broadcast_to(covariances, (runs, classes, dim, dim)).copy(),
        labelled.together(sizes, session.rows),
        doubt,
    )


def _known(session: Session[LabelledRows]) -> tuple[Array, Array]:
    """Mean ``(1, 1, d)`` and covariance ``(1, 1, d, d)`` of rows that are public."""
    rows, dim = session.public_features(), session.public.dim
    if not len(rows):
        return np.zeros((1, 1, dim)), np.eye(dim)[None, None]
    spread = np.cov(rows.T, bias=True).reshape(dim, dim)
    least = LEAST * max(float(np.trace(spread)), session.public.radius**2 / dim)
    return rows.mean(axis=0)[None, None], (spread + least * np.eye(dim))[None, None]


def _of_all(
    session: Session[LabelledRows], noisy: NoisyMoments, place: Place, target: str
) -> tuple[Array, Array]:
    """The same ``(B, 1, ...)`` from noisy sums of the classes."""
    more = math.sqrt(session.source.components)
    sums = (noisy.counts, noisy.sums, noisy.squares)
    total = NoisyMoments(
        *(part.sum(axis=1, keepdims=True) for part in sums),
        *(more * sd for sd in (noisy.counts_sd, noisy.sums_sd, noisy.squares_sd)),
    )
    single = Place(place.center[:, :1], place.back[:, :1])
    sizes = labelled.usable(total.counts, total.counts_sd)
    means, covariances, _ = labelled.gaussians(
        total, sizes, single, target=target, clipped=clips(session)
    )
    return means, covariances
