"""Gradient fits as they are judged, shown and told: clouds or lines, beside knowing nothing.

The simplest rival of one vector of coefficients is none: a cloud around the middle, a flat line. It
reads no data and costs nothing, so it is not fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.errors import InputError
from dpcore.evaluation.yardstick import SCORED_ROWS, Scorer, Wording, Yardstick, chosen
from dpcore.fitting.recipe import recipe
from dpcore.models.gradient_em.mathematics import (
    MISSING,
    REGRESSIONS,
    SYMMETRIC,
    Coefficients,
    GradientModel,
    apart,
    start,
)
from dpcore.wall.custodian import custodian_rows, custodian_vectors
from dpcore.wall.data import target_frame, with_target
from dpcore.wall.statistics import VectorRows
from dpcore.wall.table import PrivateTable

STARTS = 5
RECOVERED = 0.25  # of the length of the exact beta
MEANT = ("sigma", "own")  # the options that say which coefficients are sought
LEAST = 0.1  # of the noise level: coefficients shorter than that are hardly any


@dataclass(frozen=True)
class VectorScorer(Scorer):
    """Exact rows with target and mask, in model coordinates; ``table`` for the best fit on all that
    are fitted.

    The target is the last column of ``public``.
    """

    model: GradientModel
    vectors: VectorRows
    sigma: float
    table: PrivateTable
    own: bool

    @cached_property
    def best(self) -> Array:
        """Beta ``(d,)`` of the best fit that is not private, on all rows of the table."""
        vectors = _seen(self.model, self.table, self.own)
        return converged(self.model, vectors, self.sigma)

    @property
    def length(self) -> float:
        """Length of the exact coefficients; hardly any count as :data:`LEAST`."""
        return max(float(np.linalg.norm(self.best)), LEAST * self.sigma)


class GradientYardstick(Yardstick):
    """``estimation_error``: distance of beta from that of the best fit without privacy, or from its
    nearer sign, in the model's coordinates; ``test_log_likelihood``: mean log density of a row (of
    a target given its row). Utility: the share of the way from knowing nothing to the best fit.
    """

    simplest = 0
    alike = 0.95
    metrics = ("estimation_error", "test_log_likelihood")

    def __init__(self, model: GradientModel, part: str, parts: str, simplest: str) -> None:
        self.model = model
        self.wording = Wording(
            part=part,
            parts=parts,
            simplest=simplest,
            utility="share of the way to the exact fit",
            worth="share of the way to the exact fit",
        )

    def scorer(
        self,
        table: PrivateTable,
        options: Mapping[str, Any] | None = None,
        most: int | None = SCORED_ROWS,
        held_out: Any = None,
    ) -> VectorScorer:
        """What scores this model: at most so many rows, by a fixed coin; ``None``: all of them."""
        settings = recipe(self.model.name).settings(**_meant(options or {}))
        judged = table if held_out is None else held_out
        public, rows = custodian_rows(judged)
        if self.model.target:
            public = with_target(public, target_frame(table.schema))
        vectors = _seen(self.model, judged, settings.own)
        some = chosen(len(rows), most)
        rows, vectors = rows[some], vectors.part(some)
        return VectorScorer(public, rows, self.model, vectors, settings.sigma, table, settings.own)

    def converged(
        self, table: PrivateTable, parts: int, options: Mapping[str, Any]
    ) -> Coefficients:
        """Maximum likelihood: the best of five public starts, by quasi-Newton steps."""
        settings = recipe(self.model.name).settings(**_meant(options))
        public, vectors = custodian_rows(table)[0], _seen(self.model, table, settings.own)
        beta = converged(self.model, vectors, settings.sigma)
        if settings.own:
            return Coefficients.of(beta[None], settings.sigma, None, None)
        target = target_frame(table.schema) if self.model.target else None
        return Coefficients.of(beta[None], settings.sigma, public, target)

    def score(self, batch: Coefficients, scorer: Scorer) -> Array:
        """As :class:`Yardstick` says; below 0 for a fit that is worse than knowing nothing."""
        return 1.0 - self.measure(batch, scorer, "estimation_error") / _vector(scorer).length

    def measure(self, batch: Coefficients, scorer: Scorer, metric: str) -> Array:
        own = _vector(scorer)
        if metric == "estimation_error":
            return apart(batch.beta, own.best, mirrored=self.model.mirrored)
        vectors = own.vectors
        return np.asarray(
            self.model.log_likelihood(
                batch.beta, own.sigma, vectors.rows, vectors.targets, vectors.observed
            )
        )

    def nothing(self, scorer: Scorer) -> float:
        """Coefficients of 0: worth 0, unless the exact ones are hardly any."""
        own = _vector(scorer)
        return 1.0 - float(np.linalg.norm(own.best)) / own.length

    def nothing_by(self, scorer: Scorer, metric: str) -> float:
        own = _vector(scorer)
        if metric == "estimation_error":
            return float(np.linalg.norm(own.best))
        zero, vectors = np.zeros((1, len(own.best))), own.vectors
        parts = (vectors.rows, vectors.targets, vectors.observed)
        return float(self.model.log_likelihood(zero, own.sigma, *parts)[0])

    def silent(self, reference: Coefficients) -> Coefficients:
        """Coefficients of 0 in the reference's coordinates."""
        return replace(reference, beta=np.zeros_like(reference.beta))

    def align(self, batch: Coefficients, reference: Coefficients) -> tuple[Coefficients, Mask]:
        """Signs turned towards the reference; found: within a quarter of its length."""
        exact = reference.beta[0]
        flip = np.where(self.model.mirrored & (batch.beta @ exact < 0.0), -1.0, 1.0)
        turned = replace(batch, beta=flip[:, None] * batch.beta)
        away = np.linalg.norm(turned.beta - exact, axis=1)
        return turned, np.asarray(away <= RECOVERED * np.linalg.norm(exact))[:, None]

    def shown(self, table: PrivateTable) -> Array:
        """Exact rows ``(n, d)`` in own units, with their targets ``(n, d + 1)`` where there are
        any; NaN where a number is missing."""
        vectors = _seen(self.model, table, own=True)
        rows = (
            vectors.rows
            if vectors.observed is None
            else np.where(vectors.observed, vectors.rows, np.nan)
        )
        columns = rows if vectors.targets is None else np.vstack([rows, vectors.targets])
        return np.ascontiguousarray(columns.T)

    def unbounded(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Plain steps along the mean of the gradients as they are."""
        bounding = ("algorithm", "threshold", "split", "bend", "trust")
        plain = {word: value for word, value in options.items() if word not in bounding}
        return {**plain, "algorithm": "em"}

    def clipped_share(
        self, table: Any, options: Mapping[str, Any], clip: float, best: Any, scorer: Scorer
    ) -> float:
        """Share of the rows whose gradient at the best fit is longer than the threshold."""
        chosen_options = {
            word: options[word]
            for word in recipe(self.model.name).options.options()
            if word in options
        }
        settings = recipe(self.model.name).settings(**chosen_options)
        if settings.algorithm not in (None, "clipped"):
            return 0.0
        judged = self.scorer(table, options, most=None)
        at_best = (judged.best, settings.radius(len(judged.best)))
        return float(self.clipped_in_steps((at_best,), settings, clip, judged)[0])

    def clipped_in_steps(
        self, clipping: Sequence[Any], settings: Any, clip: float, scorer: Scorer
    ) -> Array:
        """As :class:`Yardstick` says; clipping: beta ``(d,)`` whose gradients are clipped, and the
        largest norm that one keeps."""
        vectors = _vector(scorer).vectors
        if not clipping or not vectors.rows.size:
            return np.zeros(len(clipping))
        places, norms = (np.array(parts) for parts in zip(*clipping, strict=True))
        gradients = self.model.gradients(
            places, settings.sigma, vectors.rows, vectors.targets, vectors.observed
        )
        lengths = np.linalg.norm(gradients, axis=1)
        return np.asarray(np.mean(lengths > norms[:, None], axis=1))


def converged(model: GradientModel, vectors: VectorRows, sigma: float) -> Array:
    """Beta ``(d,)`` of highest likelihood on exact rows, from five public starts."""
    from scipy.optimize import minimize

    parts = (vectors.rows, vectors.targets, vectors.observed)

    def loss(beta: Array) -> tuple[float, Array]:
        value = -float(model.log_likelihood(beta[None], sigma, *parts)[0])
        slope = model.gradients(beta[None], sigma, *parts)[0].mean(axis=1)
        return value, -slope / sigma**2

    dim = len(vectors.rows)
    tries = [
        minimize(loss, start(model, dim, sigma, seed), jac=True, method="L-BFGS-B")
        for seed in range(STARTS if model.mirrored else 1)
    ]
    return np.asarray(min(tries, key=lambda solution: float(solution.fun)).x)


def _vector(scorer: Scorer) -> VectorScorer:
    if not isinstance(scorer, VectorScorer):
        raise InputError(
            "scorer",
            "it was not made for gradient EM",
            "use the scorer of the fitted model",
        )
    return scorer


def _seen(model: GradientModel, table: PrivateTable, own: bool) -> VectorRows:
    return custodian_vectors(table, target=model.target, masked=model.masked, own=own)


def _meant(options: Mapping[str, Any]) -> dict[str, Any]:
    return {word: options[word] for word in MEANT if word in options}


SYMMETRIC_MIXTURE = GradientYardstick(SYMMETRIC, "pair", "pairs", "a single cloud in the middle")
MIXTURE_REGRESSION = GradientYardstick(REGRESSIONS, "pair", "pairs", "a flat line")
MISSING_REGRESSION = GradientYardstick(MISSING, "regression", "regressions", "a flat line")
