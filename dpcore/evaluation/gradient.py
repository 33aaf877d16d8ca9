"""How gradient fits are judged: by the distance of beta from the best fit, and by likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from dpcore.errors import InputError
from dpcore.evaluation.yardstick import SCORED_ROWS, Scorer, Wording
from dpcore.fitting.recipe import recipe
from dpcore.models.gradient import (
    MISSING,
    REGRESSIONS,
    SYMMETRIC,
    Coefficients,
    GradientModel,
    apart,
    start,
)
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.custodian_vectors import custodian_vectors
from dpcore.wall.table import PrivateTable
from dpcore.wall.targets import target_frame
from dpcore.wall.vectors import VectorRows

Array = NDArray[np.float64]

STARTS = 5
FOUND = 0.25  # of the length of the exact beta


@dataclass(frozen=True)
class VectorScorer(Scorer):
    """Exact rows with target and mask, in model coordinates; ``table`` for the best fit on all."""

    model: GradientModel
    seen: VectorRows
    sigma: float
    table: PrivateTable
    own: bool

    @cached_property
    def best(self) -> Array:
        """Beta ``(d,)`` of the best fit that is not private, on all rows of the table."""
        options = {"sigma": self.sigma, "own": self.own}
        return np.asarray(GradientYardstick(self.model).converged(self.table, 1, options).beta[0])


class GradientYardstick:
    """``estimation_error``: distance of beta from that of the best fit without privacy, or from its
    nearer sign, in the model's coordinates; ``test_log_likelihood``: mean log density of a row (of
    a target given its row). Utility: minus the first, in lengths of the best beta.
    """

    wording = Wording(
        part="coefficient",
        parts="coefficients",
        simplest="a fit that says nothing",
        utility="how near to the exact coefficients",
        worth="share of the exact coefficients' length",
    )
    simplest = 0
    alike = 0.95
    metrics = ("estimation_error", "test_log_likelihood")

    def __init__(self, model: GradientModel) -> None:
        self.model = model

    def scorer(
        self,
        table: PrivateTable,
        options: Mapping[str, Any] | None = None,
        most: int | None = SCORED_ROWS,
    ) -> VectorScorer:
        """What scores this model: at most so many rows, by a fixed coin; ``None``: all of them."""
        settings = recipe(self.model.name).settings(**(options or {}))
        public, rows = custodian_rows(table)
        seen = self._seen(table, settings.own)
        if most is not None and len(rows) > most:
            chosen = np.random.default_rng(0).choice(len(rows), most, replace=False)
            rows, seen = rows[chosen], seen.part(chosen)
        return VectorScorer(public, rows, self.model, seen, settings.sigma, table, settings.own)

    def converged(
        self, table: PrivateTable, parts: int, options: Mapping[str, Any]
    ) -> Coefficients:
        """Maximum likelihood: the best of five public starts, by quasi-Newton steps."""
        settings = recipe(self.model.name).settings(**_known(options))
        seen, public = self._seen(table, settings.own), custodian_rows(table)[0]
        beta = converged(self.model, seen, settings.sigma)
        origin, scale, target = np.zeros(public.dim), np.ones(public.dim), (0.0, 1.0)
        if not settings.own:
            origin, scale = public.center, public.half_range
            if self.model.target:
                frame = target_frame(table.schema)
                target = float(frame.center[0]), float(frame.half_range[0])
        return Coefficients(
            beta[None],
            np.array([settings.sigma]),
            origin[None],
            scale[None],
            np.array([target[0]]),
            np.array([target[1]]),
        )

    def score(self, batch: Coefficients, scorer: Scorer) -> Array:
        size = float(np.linalg.norm(_vector(scorer).best))
        return 1.0 - self.measure(batch, scorer, "estimation_error") / max(size, 1e-300)

    def measure(self, batch: Coefficients, scorer: Scorer, metric: str) -> Array:
        own = _vector(scorer)
        if metric == "estimation_error":
            return apart(batch.beta, own.best, mirrored=self.model.mirrored)
        seen = own.seen
        return np.asarray(
            self.model.log_likelihood(batch.beta, own.sigma, seen.rows, seen.targets, seen.observed)
        )

    def nothing(self, scorer: Scorer) -> float:
        """Coefficients of 0."""
        return 0.0

    def align(
        self, batch: Coefficients, reference: Coefficients
    ) -> tuple[Coefficients, NDArray[np.bool_]]:
        """Signs turned towards the reference; found: within a quarter of its length."""
        exact = reference.beta[0]
        flip = np.where(self.model.mirrored & (batch.beta @ exact < 0.0), -1.0, 1.0)
        turned = replace(batch, beta=flip[:, None] * batch.beta)
        away = np.linalg.norm(turned.beta - exact, axis=1)
        return turned, np.asarray(away <= FOUND * np.linalg.norm(exact))[:, None]

    def _seen(self, table: PrivateTable, own: bool) -> VectorRows:
        return custodian_vectors(table, target=self.model.target, masked=self.model.masked, own=own)


def converged(model: GradientModel, seen: VectorRows, sigma: float) -> Array:
    """Beta ``(d,)`` of highest likelihood on exact rows, from five public starts."""
    parts = (seen.rows, seen.targets, seen.observed)

    def loss(beta: Array) -> tuple[float, Array]:
        value = -float(model.log_likelihood(beta[None], sigma, *parts)[0])
        slope = model.gradients(beta[None], sigma, *parts)[0].mean(axis=1)
        return value, -slope / sigma**2

    dim = len(seen.rows)
    tries = [
        minimize(loss, start(model, dim, sigma, seed), jac=True, method="L-BFGS-B")
        for seed in range(STARTS if model.mirrored else 1)
    ]
    return np.asarray(min(tries, key=lambda found: float(found.fun)).x)


def _vector(scorer: Scorer) -> VectorScorer:
    if not isinstance(scorer, VectorScorer):
        raise InputError(
            "scorer", "it holds no target and knows no best fit", "ask the yardstick for its own"
        )
    return scorer


def _known(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say which model is meant, of all those of a fit."""
    return {word: options[word] for word in ("sigma", "own") if word in options}


SYMMETRIC_MIXTURE = GradientYardstick(SYMMETRIC)
MIXTURE_REGRESSION = GradientYardstick(REGRESSIONS)
MISSING_REGRESSION = GradientYardstick(MISSING)
