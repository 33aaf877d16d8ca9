"""How logistic regressions are judged: by how well their scores put a yes above a no (AUC)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from dpcore.arrays import Array, Mask
from dpcore.errors import InputError
from dpcore.evaluation.yardstick import (
    ROUNDED,
    SCORED_ROWS,
    Scorer,
    Wording,
    Yardstick,
    chosen,
)
from dpcore.models.logistic_regression import mathematics as logistic
from dpcore.models.logistic_regression.dpvi import BOUND
from dpcore.models.logistic_regression.mathematics import Coefficients
from dpcore.models.logistic_regression.variational import row_gradients
from dpcore.schema import Schema
from dpcore.wall.custodian import custodian_outcomes
from dpcore.wall.data.design_matrix import Design
from dpcore.wall.table import PrivateTable

BINS = 10  # of predicted chances, for calibration


@dataclass(frozen=True)
class OutcomeScorer(Scorer):
    """Some exact rows ``(n, d)`` in public unit coordinates with their outcomes ``(n,)``.

    schema: of the table, from which a regression's design follows.
    """

    outcomes: Array
    schema: Schema

    @classmethod
    def of(cls, table: Any, most: int | None = SCORED_ROWS) -> OutcomeScorer:
        """At most so many rows, by a fixed coin; ``None``: all of them."""
        public, rows, outcomes = custodian_outcomes(table)
        some = chosen(len(rows), most)
        return cls(public, rows[some], outcomes[some], table.schema)


class LogisticYardstick(Yardstick):
    """``test_auc``: the chance that a random yes scores above a random no; 1/2 for knowing nothing.

    ``test_log_loss``: mean minus log probability of the outcome. ``test_calibration_error``: mean
    gap between predicted and seen share of yes over ten groups of equal size by prediction.
    """

    wording = Wording(
        part="rule",
        parts="rules",
        simplest="pure chance",
        utility="AUC (chance: 0.5)",
        worth="AUC",
    )
    simplest = 0
    metrics = ("test_auc", "test_log_loss", "test_calibration_error")

    def scorer(
        self,
        table: Any,
        options: Mapping[str, Any] | None = None,
        most: int | None = SCORED_ROWS,
        held_out: Any = None,
    ) -> OutcomeScorer:
        """Rows with their outcomes: a regression is judged by both."""
        return OutcomeScorer.of(table if held_out is None else held_out, most)

    def converged(
        self, table: PrivateTable, parts: int, options: Mapping[str, Any]
    ) -> Coefficients:
        """scikit-learn's logistic regression with a weak prior, a batch of one; its covariance is
        the inverse of the information at the optimum."""
        from sklearn.linear_model import LogisticRegression

        _, rows, outcomes = custodian_outcomes(table)
        full = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
        if len(np.unique(outcomes)) < 2:
            return logistic.nothing(1, full.shape[1])
        best = LogisticRegression(C=10.0, max_iter=2000).fit(rows, outcomes)
        mean = np.append(best.coef_[0], best.intercept_)
        chance = 1.0 / (1.0 + np.exp(-full @ mean))
        information = (full * (chance * (1.0 - chance))[:, None]).T @ full
        prior = np.diag(np.append(np.full(rows.shape[1], 0.1), 1e-9))
        covariance = np.linalg.inv(information + prior)
        return Coefficients(mean[None], covariance[None], np.zeros((1, *covariance.shape)))

    def score(self, batch: Coefficients, scorer: Scorer) -> Array:
        return self.measure(batch, scorer, "test_auc")

    def measure(self, batch: Coefficients, scorer: Scorer, metric: str) -> Array:
        if not isinstance(scorer, OutcomeScorer):
            raise InputError("target", "the rows have no outcomes", "score a table with a target")
        if metric == "test_auc":
            return np.array([auc(scores, scorer.outcomes) for scores in batch.scores(scorer.rows)])
        chances = batch.probabilities(scorer.rows)
        loss = log_loss if metric == "test_log_loss" else calibration_error
        return np.array([loss(scores, scorer.outcomes) for scores in chances])

    def uninformed(self, scorer: Scorer) -> Coefficients:
        """Even odds for everybody."""
        return logistic.nothing(1, scorer.rows.shape[1] + 1)

    def clipped_in_steps(
        self, clipping: Sequence[Any], settings: Any, clip: float, scorer: Scorer
    ) -> Array:
        """As :class:`Yardstick` says; clipping: posteriors of the coefficients, with the public
        draws over which the gradients that are clipped are averaged."""
        if not isinstance(scorer, OutcomeScorer) or not len(scorer.rows):
            return np.zeros(len(clipping))
        design = Design.of(scorer.schema)
        rows = design.rows(scorer.rows, clip * design.radius)
        longest = BOUND * design.reach(clip) * (1.0 + ROUNDED)
        shares = []
        for posterior, coins in clipping:
            gradients = row_gradients(posterior, coins)(rows, scorer.outcomes, np.arange(1))
            shares.append(np.mean(np.linalg.norm(gradients[0], axis=0) > longest))
        return np.array(shares, dtype=float)

    def silent(self, reference: Coefficients) -> Coefficients:
        """Even odds for everybody."""
        return logistic.nothing(1, reference.mean.shape[1])

    def align(self, batch: Coefficients, reference: Coefficients) -> tuple[Coefficients, Mask]:
        """There is one regression; recovered: it points the way the reference does, within 45
        degrees of log odds over the bounds."""
        exact = reference.mean[0, :-1]
        lengths = np.linalg.norm(batch.mean[:, :-1], axis=1) * np.linalg.norm(exact)
        cosine = batch.mean[:, :-1] @ exact / np.maximum(lengths, 1e-300)
        return batch, (cosine >= np.sqrt(0.5))[:, None]


def auc(scores: Array, outcomes: Array) -> float:
    """Share of pairs (yes, no) in which the yes scores higher; ties count half, no pairs as 1/2.

    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0.0, 0.0, 1.0, 1.0]))
    0.75
    """
    yes = outcomes > 0.5
    positives, negatives = int(yes.sum()), int((~yes).sum())
    if positives == 0 or negatives == 0:
        return 0.5
    # Mean ranks of equal scores; scipy.stats, which has them, takes 0.4 s to be imported.
    _, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(many) - (many - 1) / 2.0)[place]
    return float((ranks[yes].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def log_loss(chances: Array, outcomes: Array) -> float:
    """Mean minus log probability of the outcomes ``(n,)`` under chances ``(n,)``, in nats."""
    safe = np.clip(chances, 1e-12, 1.0 - 1e-12)
    return float(-np.mean(xlogy(outcomes, safe) + xlogy(1.0 - outcomes, 1.0 - safe)))


def calibration(chances: Array, outcomes: Array) -> tuple[Array, Array]:
    """Mean predicted and seen share of yes, ``(10,)`` each, in groups of equal size by predicted
    chance; fewer groups of fewer rows. chances, outcomes: ``(n,)``."""
    groups = np.array_split(np.argsort(chances, kind="stable"), min(BINS, max(1, len(chances))))
    predicted = np.array([chances[group].mean() for group in groups])
    return predicted, np.array([outcomes[group].mean() for group in groups])


def calibration_error(chances: Array, outcomes: Array) -> float:
    """Mean absolute gap between predicted and seen shares; chances, outcomes: ``(n,)``."""
    predicted, observed = calibration(chances, outcomes)
    return float(np.mean(np.abs(predicted - observed)))


YARDSTICK = LogisticYardstick()
