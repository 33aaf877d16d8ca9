"""The labelled release as printed: run through the exhibit door, with its claim and its faults."""

from __future__ import annotations

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array, Indices
from dpcore.fitting.recipe import Printed
from dpcore.models.labelled_mixture import published_mathematics as paper
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.wall.data import LabelledRows
from dpcore.wall.session import Session
from dpcore.wall.statistics import exhibit_labelled

BALLS = ("ball", "scalable")  # neighbours whose noise comes from a norm bound

_NOISE_READS = "the size of its noise is computed from the private rows (local sensitivity)"
_TWO = "a changed label affects two classes, but the paper charges for only one"
_RIVALS = {
    "laplace": "Laplace noise",
    "gaussian": "independent Gaussian noise",
    "colored": "Gaussian noise of optimised shape on the means alone",
    "r1smg": "rank-1 singular Gaussian noise",
}


def printed(method: str, neighbours: str) -> Printed:
    """The claim, and why it does not hold."""
    source = "Liu, Scaglione, Peisert 2025, "
    if method == "r1smg":
        return Printed(
            source + "section 5 (R1SMG, Ji and Li 2024)",
            (
                _NOISE_READS,
                "with noise along one random direction, the density is unbounded at the exact "
                "answer, which therefore stands out",
            ),
        )
    if method != "paper":
        return Printed(source + f"section 5 ({_RIVALS[method]})", (_NOISE_READS, _TWO))
    reasons: tuple[str, ...] = (
        "Wishart noise with d + 1 degrees of freedom only increases a covariance: no release lies "
        "below the exact covariance, and this distinguishes neighbouring datasets at every epsilon",
        _NOISE_READS,
    )
    if neighbours in BALLS:
        wrong = "its noise is scaled by the norm bound, although the square of the bound is needed"
        if neighbours == "ball":
            return Printed(source + "equations (32) and (9)", (*reasons, wrong))
        reasons = (*reasons, wrong)
    mapping = (
        "its mapping of class sizes can give sizes that are impossible for a neighbouring dataset"
    )
    return Printed(source + "Theorem 1", (*reasons, _TWO, mapping))


def fit(
    session: Session[LabelledRows],
    method: str,
    neighbours: str,
    published: PublishedBudget,
    solver: str = "exact",
) -> LabelledMixture:
    """The mixture; published: epsilon ``(B,)`` and delta of each run."""
    delta, number = published.delta_each, session.source.components
    assert delta is not None  # a request without one was refused
    public, dim = session.public, session.public.dim
    ball, scaled = neighbours == "ball", neighbours in BALLS
    bound = float(public.half_range.max() if public.is_ball else np.linalg.norm(public.half_range))

    def mechanism(rows: Array, codes: Indices, normals: Array) -> tuple[Array, ...]:
        if scaled:
            rows = rows - public.center  # the paper's ball is around the origin
        norm = bound if scaled else None
        classes = paper.classes_of(rows, codes, number, neighbours, norm, solver)
        shift = public.center if scaled else 0.0
        parts = [
            paper.release(classes, float(epsilon), delta, method, own, mapped=not ball)
            for epsilon, own in zip(published.epsilon_each, normals, strict=True)
        ]
        weights, means, covariances = (np.array(part) for part in zip(*parts, strict=True))
        return weights, means + shift, covariances

    weights, means, covariances = exhibit_labelled(
        session, "weights, means and covariances", mechanism, paper.draws_needed(dim, number)
    )
    spread = public.half_range
    return LabelledMixture.of(
        session.source.classes,
        weights,
        public.to_units(means),
        covariances / (spread[:, None] * spread),
        weights * (session.rows or 1),
        np.zeros_like(weights),
    )
