"""How labelled releases are judged: by Kullback-Leibler divergence from the exact classes.

With labels the divergence of two mixtures splits over classes and has a closed form: ``KL(q, p) =
sum_k q_k (ln q_k/p_k + KL(N_k^q, N_k^p))``. *reverse_kl* is that of the release q from the exact p
(what Liu, Scaglione, Peisert 2025 minimise and print), *kl* that of the exact from the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from dpcore.arrays import Array, Indices, Mask
from dpcore.errors import InputError
from dpcore.evaluation.yardstick import (
    ROUNDED,
    SCORED_ROWS,
    Scorer,
    Wording,
    Yardstick,
    bounds_alone,
    chosen,
    mapped,
)
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.labelled_mixture.mathematics import LabelledMixture, attainable
from dpcore.models.labelled_mixture.parameters import warned
from dpcore.models.shared.moments import THINNEST
from dpcore.privacy.guarantee import show
from dpcore.wall.custodian import custodian_classes
from dpcore.wall.statistics import ClassFrames
from dpcore.wall.table import PrivateTable

TINY = 1e-300
RECOVERED = 1.0  # divergence of a class from the exact one, up to which it counts as found
# Methods of which no rule says what their noise alone costs.
NOISE_UNKNOWN = ("public_features", "laplace", "paper")


@dataclass(frozen=True)
class ClassScorer(Scorer):
    """Some exact rows ``(n, d)`` in public unit coordinates with their classes ``(n,)``.

    exact: weights, means and covariances of the classes over all rows that are fitted, a batch of
    one.
    """

    codes: Indices
    exact: LabelledMixture

    @classmethod
    def judging(
        cls,
        table: PrivateTable,
        most: int | None = SCORED_ROWS,
        held_out: PrivateTable | None = None,
    ) -> ClassScorer:
        """At most so many rows, by a fixed coin; ``None``: all of them."""
        public, rows, codes, names = custodian_classes(table)
        rows, codes = rows[codes >= 0], codes[codes >= 0]
        exact = exact_classes(rows, codes, names)
        if held_out is not None:
            _, rows, codes, _ = custodian_classes(held_out)
            rows, codes = rows[codes >= 0], codes[codes >= 0]
        some = chosen(len(rows), most)
        return cls(public, rows[some], codes[some], exact)


class ReleaseYardstick(Yardstick):
    """``reverse_kl``, ``kl``: see the module; ``accuracy``: share of the rows whose class is the
    likeliest by the release. Utility: mean log-likelihood of a row with its class.
    """

    wording = Wording(
        part="class",
        parts="classes",
        simplest="one Gaussian for all classes",
    )
    alike_within = 0.25
    metrics = ("reverse_kl", "kl", "accuracy")
    rival_words: tuple[str, ...] = ("clip",)
    rival_options: Mapping[str, Any] = MappingProxyType({"method": "pooled"})
    for_score: Mapping[str, Any] = MappingProxyType({"target": "forward"})

    def scorer(
        self,
        table: Any,
        options: Mapping[str, Any] | None = None,
        most: int | None = SCORED_ROWS,
        held_out: Any = None,
    ) -> ClassScorer:
        """Rows with their classes: a release is judged by both."""
        return ClassScorer.judging(table, most, held_out)

    def converged(
        self, table: PrivateTable, parts: int, options: Mapping[str, Any]
    ) -> LabelledMixture:
        """The exact moments of each class, a batch of one."""
        return ClassScorer.judging(table, None).exact

    def noiseless(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Without noise all ways of releasing give the exact classes."""
        return {word: value for word, value in options.items() if word != "method"}

    def clipped_in_steps(
        self, clipping: Sequence[ClassFrames], settings: Any, clip: float, scorer: Scorer
    ) -> Array:
        """As :class:`Yardstick` says; clipping: the frames in which each class has its rows."""
        judged, shares = _classes(scorer), []
        count = judged.exact.weights.shape[1]
        rows_of = [judged.rows[judged.codes == which] for which in range(count)]
        for frames in clipping:
            unclipped = replace(frames, clipped=False)
            away = [
                np.linalg.norm(unclipped.apply(rows, 0, which), axis=1)
                for which, rows in enumerate(rows_of)
            ]
            outside = np.concatenate(away) > 1.0 + ROUNDED
            shares.append(outside.mean() if outside.size else 0.0)
        return np.array(shares, dtype=float)

    def score(self, batch: LabelledMixture, scorer: Scorer) -> Array:
        codes = _classes(scorer).codes
        joint = log_joint(batch, scorer.rows)
        own = joint[:, np.arange(len(codes)), codes]
        return np.asarray(own.sum(axis=1) / max(1, len(codes)) + scorer.public.log_volume())

    def measure(self, batch: LabelledMixture, scorer: Scorer, metric: str) -> Array:
        judged = _classes(scorer)
        if metric == "accuracy":
            return accuracy(batch, judged.rows, judged.codes)
        pair = (batch, judged.exact) if metric == "reverse_kl" else (judged.exact, batch)
        return divergence(*pair)

    def nothing(self, scorer: Scorer) -> float:
        """Rows even over the bounds, classes even."""
        even = -float(np.log(_classes(scorer).exact.weights.shape[1]))
        return bounds_alone(scorer.public) + even

    def uninformed(self, scorer: Scorer) -> LabelledMixture:
        """Even classes, each as wide as the limits: a Gaussian with the spread of an even law."""
        exact = _classes(scorer).exact
        wide = mapped(exact, np.copy)
        wide.weights[:] = 1.0 / wide.weights.shape[1]
        wide.means[:] = 0.0
        wide.covariances[:] = np.eye(scorer.public.dim) / 3.0
        return wide

    def align(
        self, batch: LabelledMixture, reference: LabelledMixture
    ) -> tuple[LabelledMixture, Mask]:
        """Classes have names, so nothing moves; recovered: as near to the exact one as
        :data:`RECOVERED`."""
        return batch, class_divergence(batch, reference) <= RECOVERED

    def budget_notes(self, setting: Any, grid: Any, exact: LabelledMixture) -> tuple[str, ...]:
        """How far each budget's bold release is from the exact classes; what noise has eaten."""
        least = np.full(len(grid.epsilons), np.nan)
        if dict(setting.words).get("method") not in NOISE_UNKNOWN:
            least = noise_alone(grid.noise, exact, setting.adjacency, setting.rows_per_person)
        bold = mapped(grid.fits, lambda array: array[:, 0])
        away = np.where(np.isfinite(grid.noise), divergence(bold, exact), np.nan)
        notes = []
        for far, alone, doubts in zip(away, least, bold.doubt, strict=True):
            text = (
                f" Divergence from the exact classes: {show(float(far))}"
                if np.isfinite(far)
                else ""
            )
            if text and np.isfinite(alone):
                text += (
                    "; if every shape were known, noise alone would cause a divergence of about "
                    f"{show(float(alone))}"
                )
            lines = warned(tuple(exact.names[0]), doubts)
            opening = [f"{text}."] if text else []
            notes.append("".join([*opening, *(f" Warning: {line}." for line in lines)]))
        return tuple(notes)


def _classes(scorer: Scorer) -> ClassScorer:
    if not isinstance(scorer, ClassScorer):
        raise InputError("label", "the rows have no classes", "score a table with a label")
    return scorer


def exact_classes(rows: Array, codes: Indices, names: tuple[str, ...]) -> LabelledMixture:
    """Weights, means and covariances of the classes of rows ``(n, d)``, a batch of one."""
    dim, number = rows.shape[1], len(names)
    counts = np.bincount(codes, minlength=number).astype(float)
    means, covariances = np.zeros((number, dim)), np.tile(np.eye(dim), (number, 1, 1))
    for which in range(number):
        own = rows[codes == which]
        if len(own):
            means[which] = own.mean(axis=0)
            covariances[which] = np.cov(own.T, bias=True).reshape(dim, dim)
        covariances[which] += THINNEST * max(float(np.trace(covariances[which])), 1.0) * np.eye(dim)
    return LabelledMixture(
        (counts / max(counts.sum(), 1.0))[None],
        means[None],
        covariances[None],
        counts[None],
        np.zeros((1, number)),
        np.array(names)[None],
    )


def gaussian_divergence(
    means: Array, covariances: Array, other_means: Array, other_covariances: Array
) -> Array:
    """``KL(N(m, S), N(m', S'))`` for arrays of Gaussians, ``(..., d)`` and ``(..., d, d)``.

    >>> one, two = np.eye(1), 2.0 * np.eye(1)
    >>> float(gaussian_divergence(np.zeros(1), one, np.ones(1), two).round(6))
    0.346574
    """
    dim = means.shape[-1]
    gap = (other_means - means)[..., None]
    inverse = np.linalg.inv(other_covariances)
    trace = np.sum(inverse * covariances, axis=(-2, -1))
    length = (np.swapaxes(gap, -1, -2) @ inverse @ gap)[..., 0, 0]
    logs = np.linalg.slogdet(other_covariances)[1] - np.linalg.slogdet(covariances)[1]
    return np.asarray(0.5 * (trace + length - dim + logs))


def class_divergence(first: LabelledMixture, second: LabelledMixture) -> Array:
    """Divergence ``(B, K)`` of each class; one of the batches may hold a single mixture."""
    return np.maximum(
        gaussian_divergence(first.means, first.covariances, second.means, second.covariances), 0.0
    )


def divergence(first: LabelledMixture, second: LabelledMixture) -> Array:
    """``KL(first, second)`` over rows with their classes ``(B,)``; closed form.

    A class that ``first`` has and ``second`` has not is worth infinity; one that ``first`` lacks,
    none.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(first.weights) - np.log(second.weights)
        parts = first.weights * (logs + class_divergence(first, second))
    return np.asarray(np.sum(np.where(first.weights > 0.0, parts, 0.0), axis=1))


def noise_alone(
    noise: Array, exact: LabelledMixture, adjacency: str, rows_per_person: int = 1
) -> Array:
    """Divergence ``(S,)`` that noise would cost if every class's place and shape were known.

    noise ``(S,)``: total multiplier of Gaussian releases; exact: a batch of one.
    """
    touched = 1.0 if adjacency == "add_remove" else 2.0
    sizes = np.repeat(exact.sizes, len(noise), axis=0)
    return attainable(exact.dim, 1.0 / (noise * rows_per_person), sizes, touched)


def accuracy(batch: LabelledMixture, rows: Array, codes: Indices) -> Array:
    """Share ``(B,)`` of rows ``(n, d)`` whose class is the likeliest by the mixture."""
    guessed = log_joint(batch, rows).argmax(axis=2)
    return np.asarray((guessed == codes).mean(axis=1)) if len(codes) else np.zeros(batch.runs)


def log_joint(batch: LabelledMixture, rows: Array) -> Array:
    """Log density of each row with each class ``(B, n, K)``."""
    return gmm.log_joint(replace(batch, weights=np.maximum(batch.weights, TINY)), rows)


YARDSTICK = ReleaseYardstick()
