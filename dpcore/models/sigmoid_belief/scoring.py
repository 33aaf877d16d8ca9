"""How sigmoid belief networks are judged: by the share of pixels they give back as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from dpcore.arrays import Array, Mask
from dpcore.evaluation.alignment import matched
from dpcore.evaluation.yardstick import ROUNDED, SCORED_ROWS, Scorer, Wording, Yardstick
from dpcore.fitting.api import fit_grid
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.models.sigmoid_belief.mathematics import Network, Posterior
from dpcore.models.sigmoid_belief.private import WEIGHTS
from dpcore.wall.statistics import BeliefMoments
from dpcore.wall.table import PrivateTable

RECOVERED = 0.7  # cosine from which a unit's weights are those of another
BLANK = 0.1  # change in log odds; a unit whose weights are all smaller switches nothing on or off
MEASURED = 2000  # rows of which the clipped share is told
STARTS, CONVERGED = 3, 60  # fits without privacy of which the best is taken, and their steps
HALF = 0.5  # of its bounds: above it a pixel is on, unless a fit says otherwise


@dataclass(frozen=True)
class PixelScorer(Scorer):
    """Rows of pixels. threshold: the share of its bounds above which a pixel is on."""

    threshold: float = HALF


class BeliefYardstick(Yardstick):
    """``pixel_accuracy``: a row's pixels are guessed from what the network makes of the row itself;
    the share that is right. The trivial rival guesses for each pixel what it mostly is; who knows
    nothing says that all pixels are off.
    """

    wording = Wording(
        part="hidden unit",
        parts="hidden units",
        simplest="a single hidden unit",
        utility="pixels reconstructed",
        worth="share of pixels reconstructed",
    )
    rival_model = "bernoulli"
    metrics = ("pixel_accuracy", "pixel_accuracy_trivial", "pixel_accuracy_all_off")
    rival_words = (
        "minibatch", "rate", "iterations", "epochs", "delay", "forgetting", "threshold", "clip",
    )  # fmt: skip

    def scorer(
        self,
        table: Any,
        options: Mapping[str, Any] | None = None,
        most: int | None = SCORED_ROWS,
        held_out: Any = None,
    ) -> PixelScorer:
        """Exact rows, and from which share of their bounds the fits call a pixel on."""
        scorer = super().scorer(table, options, most, held_out)
        return PixelScorer(
            scorer.public, scorer.rows, float((options or {}).get("threshold", HALF))
        )

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Network:
        """Twenty steps on all rows without noise, a batch of one."""
        chosen = {key: options[key] for key in ("threshold", "start") if key in options}
        steps = {"rate": 1.0, "iterations": 20, "delay": 1.0, "forgetting": 1e-9}
        many: dict[str, Any] = {"n_components": parts, "as_private": True, **steps, **chosen}
        network: Network = fit_grid("sbn", table, privacy=None, **many).runs.final
        return turned(network, network.weights.sum(axis=1) < 0.0)

    def best_fit(self, table: PrivateTable, parts: int) -> Network:
        """That of several random starts, as in paper mode, under which the rows are likeliest."""
        steps = {"rate": 1.0, "iterations": CONVERGED, "delay": 1.0, "forgetting": 1e-9}
        many: dict[str, Any] = {"n_components": parts, "as_private": True, "mode": "paper", **steps}
        fits: list[Network] = [
            fit_grid("sbn", table, privacy=None, **many, start=start).runs.final
            for start in range(STARTS)
        ]
        scorer = self.scorer(table, None, most=None)
        return fits[int(np.argmax([self.bench_score(fit, scorer)[0] for fit in fits]))]

    def bench_score(self, batch: Network, scorer: Scorer) -> Array:
        """The exact log-likelihood of a row in nats, of each run ``(B,)``."""
        return belief.log_likelihood(self.on(scorer), batch)

    def from_rival(self, batch: Any) -> Network:
        """One hidden unit without weights."""
        chance = (1.0 + batch.means[:, 0]) / 2.0
        none = np.zeros((*chance.shape, 1))
        return Network(none, np.asarray(logit(chance)), none[:, 0])

    def score(self, batch: Network, scorer: Scorer) -> Array:
        return self.measure(batch, scorer, "pixel_accuracy")

    def measure(self, batch: Network, scorer: Scorer, metric: str) -> Array:
        rows = self.on(scorer)
        if metric == "pixel_accuracy_trivial":
            share = rows.mean(axis=0)
            return np.full(batch.runs, np.mean(np.maximum(share, 1.0 - share)))
        if metric == "pixel_accuracy_all_off":
            return np.full(batch.runs, self.nothing(scorer))
        values = [
            np.mean((belief.reconstructed(rows, batch, run) > 0.5) == rows)
            for run in range(batch.runs)
        ]
        return np.array(values, dtype=float)

    def on(self, scorer: Scorer) -> Array:
        """Which pixels are on: above a share of their bounds ``(n, J)``."""
        threshold = scorer.threshold if isinstance(scorer, PixelScorer) else HALF
        return np.asarray(scorer.rows > 2.0 * threshold - 1.0, dtype=float)

    def nothing(self, scorer: Scorer) -> float:
        """All pixels off."""
        return float(1.0 - self.on(scorer).mean())

    def clipped_share(
        self, table: Any, options: Mapping[str, Any], clip: float, best: Network, scorer: Scorer
    ) -> float:
        """At the best fit's weights, towards which the steps go."""
        posterior = belief.fixed(best.weights[0], best.visible_bias[0], best.hidden_bias[0])
        return self._clipped(posterior, clip, scorer)

    def clipped_in_steps(
        self, clipping: Sequence[Any], settings: Any, clip: float, scorer: Scorer
    ) -> Array:
        """As :class:`Yardstick` says; clipping: beliefs about the weights."""
        return np.array([self._clipped(posterior, clip, scorer) for posterior in clipping])

    def _clipped(self, posterior: Posterior, clip: float, scorer: Scorer) -> float:
        """Share of the rows whose vector is longer than the clip."""
        rows = self.on(scorer)[:MEASURED]
        if not len(rows):
            return 0.0
        shape = BeliefMoments(posterior.weights.shape[1], rows.shape[1], WEIGHTS, clip)
        hidden, curvature = belief.e_step(rows, posterior)
        return float(np.mean(shape.norms(hidden, rows, curvature) > clip * (1.0 + ROUNDED)))

    def align(self, batch: Network, reference: Network) -> tuple[Network, Mask]:
        """Hidden units matched by the direction of their weights; where on and off have changed
        places, they are changed back. Those that are blank in the reference are not found."""
        exact = _directions(reference.weights[0])
        cosines = np.stack([exact.T @ _directions(weights) for weights in batch.weights])
        order = matched(-np.abs(np.swapaxes(cosines, 1, 2)))
        runs = np.arange(batch.runs)[:, None]
        weights = np.swapaxes(np.swapaxes(batch.weights, 1, 2)[runs, order], 1, 2)
        aligned = Network(weights, batch.visible_bias, batch.hidden_bias[runs, order])
        alike = cosines[runs, np.arange(order.shape[1]), order]
        return turned(aligned, alike < 0.0), (np.abs(alike) >= RECOVERED) & ~blank(reference)[0]

    def budget_notes(self, setting: Any, grid: Any, exact: Network) -> tuple[str, ...]:
        """How many hidden units are blank, which no fit can find."""
        none = int(blank(exact).sum())
        text = (
            f" Blank in the exact fit: {none} of {blank(exact).size} hidden units." if none else ""
        )
        return (text,) * len(grid.epsilons)


def blank(batch: Network) -> Mask:
    """Which hidden units ``(B, K)`` hardly change any pixel's log odds."""
    return np.asarray(np.abs(batch.weights).max(axis=1) < BLANK)


def turned(batch: Network, which: Mask) -> Network:
    """The same networks with on and off exchanged in some hidden units; which ``(B, K)``.

    The pixels' distribution stays: ``W z + c = -W (1 - z) + (c + W 1)``.
    """
    sign = np.where(which, -1.0, 1.0)
    moved = np.sum(np.where(which[:, None, :], batch.weights, 0.0), axis=2)
    return Network(
        batch.weights * sign[:, None, :], batch.visible_bias + moved, batch.hidden_bias * sign
    )


def _directions(weights: Array) -> Array:
    length = np.linalg.norm(weights, axis=0)
    return np.asarray(weights / np.maximum(length, 1e-12))


YARDSTICK = BeliefYardstick()
