"""Gradient fits as a study shows and tells them: clouds or lines, beside knowing nothing.

The simplest rival of one vector of coefficients is none: a cloud around the middle, a flat line. It
reads no data and costs nothing, so it is not fitted. What is counted, and how, is in
:mod:`dpcore.evaluation.gradient`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.evaluation.gradient import GradientYardstick, VectorScorer
from dpcore.evaluation.yardstick import SCORED_ROWS, Scorer, Wording
from dpcore.fitting.recipe import recipe
from dpcore.models.gradient import MISSING, REGRESSIONS, SYMMETRIC, Coefficients, GradientModel
from dpcore.wall.clip import PublicFrame
from dpcore.wall.custodian_vectors import custodian_vectors
from dpcore.wall.table import PrivateTable
from dpcore.wall.targets import target_frame

Array = NDArray[np.float64]

MEANT = ("sigma", "own")  # the options that say which coefficients are sought
LEAST = 0.1  # of the noise level: coefficients shorter than that are hardly any


class CoefficientYardstick(GradientYardstick):
    """A gradient yardstick with the words of its model, and the rows that belong in its picture."""

    rival_words: tuple[str, ...] = ()

    def __init__(self, model: GradientModel, part: str, parts: str, simplest: str) -> None:
        super().__init__(model)
        self.wording = Wording(
            part=part,
            parts=parts,
            simplest=simplest,
            utility="share of the way to exact",
            worth="share of the way to the exact fit",
        )

    def scorer(
        self,
        table: PrivateTable,
        options: Mapping[str, Any] | None = None,
        most: int | None = SCORED_ROWS,
    ) -> VectorScorer:
        """As :class:`GradientYardstick` has it; the target is the last column of ``public``."""
        found = super().scorer(table, _meant(options or {}), most)
        if not self.model.target:
            return found
        return replace(found, public=_with_target(found.public, target_frame(table.schema)))

    def score(self, batch: Coefficients, scorer: Scorer) -> Array:
        """The share of the way from knowing nothing to the exact fit; below 0 for a fit that is
        worse than nothing. Exact coefficients that are hardly any count as :data:`LEAST`."""
        return 1.0 - self.measure(batch, scorer, "estimation_error") / _length(scorer)

    def nothing(self, scorer: Scorer) -> float:
        """Coefficients of 0: worth 0, unless the exact ones are hardly any."""
        return 1.0 - _size(scorer) / _length(scorer)

    def shown(self, table: PrivateTable) -> Array:
        """Exact rows ``(n, d)`` in own units, with their targets ``(n, d + 1)`` where there are
        any; NaN where a number is missing."""
        seen = custodian_vectors(table, target=self.model.target, masked=self.model.masked)
        rows = seen.rows if seen.observed is None else np.where(seen.observed, seen.rows, np.nan)
        columns = rows if seen.targets is None else np.vstack([rows, seen.targets])
        return np.ascontiguousarray(columns.T)

    def unbounded(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Plain steps along the mean of the gradients as they are."""
        bounding = ("algorithm", "threshold", "split", "bend")
        plain = {word: value for word, value in options.items() if word not in bounding}
        return {**plain, "algorithm": "em"}

    def clipped_share(self, table: PrivateTable, options: Mapping[str, Any]) -> float:
        """Share of the rows whose gradient at the best fit is longer than the threshold."""
        known = {word: options[word] for word in recipe(self.model.name).words if word in options}
        settings = recipe(self.model.name).settings(**known)
        if settings.algorithm not in (None, "clipped"):
            return 0.0
        judged = self.scorer(table, options, most=None)
        seen = judged.seen
        gradients = self.model.gradients(
            judged.best[None], settings.sigma, seen.rows, seen.targets, seen.observed
        )
        lengths = np.linalg.norm(gradients[0], axis=0)
        return float(np.mean(lengths > settings.radius(len(judged.best)))) if lengths.size else 0.0

    def silent(self, reference: Coefficients) -> Coefficients:
        """Coefficients of 0 in the reference's coordinates."""
        return replace(reference, beta=np.zeros_like(reference.beta))


def _size(scorer: Scorer) -> float:
    """Length of the exact coefficients."""
    assert isinstance(scorer, VectorScorer)  # measure refuses another
    return float(np.linalg.norm(scorer.best))


def _length(scorer: Scorer) -> float:
    assert isinstance(scorer, VectorScorer)
    return max(_size(scorer), LEAST * scorer.sigma)


def _meant(options: Mapping[str, Any]) -> dict[str, Any]:
    return {word: options[word] for word in MEANT if word in options}


def _with_target(public: PublicFrame, target: PublicFrame) -> PublicFrame:
    """The columns of a picture: the features, then the target."""
    return replace(
        public,
        names=(*public.names, *target.names),
        units=(*public.units, *target.units),
        center=np.concatenate([public.center, target.center]),
        half_range=np.concatenate([public.half_range, target.half_range]),
    )


SYMMETRIC_MIXTURE = CoefficientYardstick(SYMMETRIC, "pair", "pairs", "a single cloud in the middle")
MIXTURE_REGRESSION = CoefficientYardstick(REGRESSIONS, "pair", "pairs", "a flat line")
MISSING_REGRESSION = CoefficientYardstick(MISSING, "regression", "regressions", "a flat line")
