"""How factor analyses are judged: by the log-likelihood of a row, beside independent columns; and
probabilistic PCA, beside a fit without factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from dpcore.accounting import compose
from dpcore.arrays import Array, Mask
from dpcore.evaluation.study import BudgetGrid, Setting
from dpcore.evaluation.yardstick import Scorer, Wording, Yardstick
from dpcore.models.factor_analysis import MOST_FACTORS
from dpcore.models.factor_analysis import mathematics as factors
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.models.factor_analysis.private import demand_fewer_factors, most_factors
from dpcore.models.factor_analysis.probabilistic_pca import factors_there, fitted
from dpcore.models.factor_analysis.visible import least_visible
from dpcore.models.shared.all_rows import squares_noise
from dpcore.models.shared.second_moments import AllRows, transposed
from dpcore.models.shared.uneven_columns import SQUARES_MULTIPLIER
from dpcore.privacy import Event, Gaussian
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.data import PublicFrame
from dpcore.wall.table import PrivateTable

ALIGNED = 0.8  # cosine between a factor's loadings and the exact ones
STEPS = 500


class FactorYardstick(Yardstick):
    """Mean log density of a row; loadings turned to look like the exact ones."""

    wording = Wording(
        part="factor",
        parts="factors",
        simplest="a fit without factors",
    )
    simplest = 0
    metrics = ("test_log_likelihood", "test_log_likelihood_scaled", "reconstruction_error")

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Factors:
        """Maximum likelihood by EM from the principal components, 500 steps: the better of those
        of correlations and those of covariances."""
        public, rows = custodian_rows(table)
        demand_fewer_factors(parts, public.dim)
        fits = (
            factors.maximum_likelihood(rows, parts, STEPS, by_columns=start)
            for start in (True, False)
        )
        return max(fits, key=lambda fit: float(factors.log_density(fit, rows)[0]))

    def score(self, batch: Factors, scorer: Scorer) -> Array:
        return factors.log_density(batch, scorer.rows) + scorer.public.log_volume()

    def measure(self, batch: Factors, scorer: Scorer, metric: str) -> Array:
        """As :class:`Yardstick` says; ``reconstruction_error`` is the mean squared error of a
        coordinate, in public units."""
        match metric:
            case "test_log_likelihood_scaled":
                return factors.log_density(batch, scorer.rows)
            case "reconstruction_error":
                return factors.reconstruction_error(batch, scorer.rows)
        return self.score(batch, scorer)

    def nothing_by(self, scorer: Scorer, metric: str) -> float:
        """A row is reconstructed as the middle of the bounds."""
        if metric == "reconstruction_error":
            return float(np.mean(scorer.rows**2))
        scaled = metric == "test_log_likelihood_scaled"
        return self.nothing(scorer) - (scorer.public.log_volume() if scaled else 0.0)

    def align(self, batch: Factors, reference: Factors) -> tuple[Factors, Mask]:
        """Of the loadings that say the same, those most like the reference's: a rotation of the
        factors changes no covariance, and the nearest one is taken (Schonemann 1966). Found: those
        whose direction is the exact one's, within a cosine of 0.8."""
        exact = reference.loadings[0]
        left, _, right = np.linalg.svd(transposed(batch.loadings) @ exact)
        loadings = batch.loadings @ (left @ right)
        cosines = transposed(_unit(loadings)) @ _unit(exact)
        return replace(batch, loadings=loadings), np.einsum("bkk->bk", cosines) >= ALIGNED

    def marks(self, grid: BudgetGrid) -> tuple[tuple[float, str], ...]:
        """From where each factor is found in most draws, and at all larger budgets."""
        fitted = [i for i in np.argsort(grid.epsilons)[::-1] if np.isfinite(grid.noise[i])]
        often = np.logical_and.accumulate(grid.recovered[fitted].mean(axis=1) > 0.5, axis=0)
        last = {k: fitted[reach - 1] for k, reach in enumerate(often.sum(axis=0)) if reach}
        return tuple(
            (grid.epsilons[at], f"factor {k + 1}" + (" is found from here on" if k == 0 else ""))
            for k, at in last.items()
        )


def _unit(loadings: Array) -> Array:
    """Loadings ``(..., d, k)``, each of length 1; those of 0 stay."""
    length = np.linalg.norm(loadings, axis=-2, keepdims=True)
    return np.asarray(loadings / np.where(length > 0.0, length, 1.0))


def sight(setting: Setting, public: PublicFrame, rows: int, exact: Factors) -> tuple[float, ...]:
    """The epsilon from which each factor can be seen through a proved fit's noise, strongest first;
    infinite where never.

    exact ``(1, ...)``: the fit without privacy, in public unit coordinates. In a released ball the
    noise is about what it is where all rows lie at the root of the mean square distance from their
    mean, whatever the radius: clipped squares are put right by what clipping takes.
    Source: Baik, Ben Arous, Peche 2005; see ``visible.least_visible``.
    """
    square = (public.radius * setting.clip) ** 2
    per_multiplier = squares_noise(public.dim, setting.adjacency) / rows
    per_multiplier *= setting.rows_per_person
    if setting.mode == "proved" and dict(setting.words).get("ball") != "limits":
        square = float(np.trace(exact.covariance()[0]))
        per_multiplier *= SQUARES_MULTIPLIER
    per_multiplier *= square
    strengths = np.linalg.eigvalsh(np.swapaxes(exact.loadings[0], 0, 1) @ exact.loadings[0])[::-1]
    with np.errstate(divide="ignore"):
        multiplier = strengths / least_visible(per_multiplier, public.dim)
    thresholds = np.full(strengths.shape, np.inf)
    for i, most in enumerate(multiplier):
        if most > 0.0:
            bound = compose([Event(Gaussian(float(most)))], setting.accountant, delta=setting.delta)
            thresholds[i] = float(bound.epsilon)
    return tuple(map(float, thresholds))


class PCAYardstick(FactorYardstick):
    """Mean log density of a row; loadings turned to look like the exact ones."""

    rival_options: Mapping[str, Any] = MappingProxyType({"most_factors": 0})

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Factors:
        """Variational Bayes on the exact moments."""
        public, rows = custodian_rows(table)
        moment, none = rows.T @ rows / max(len(rows), 1), np.zeros(1)
        count = np.full(1, float(len(rows)))
        exact = AllRows(count, rows.mean(axis=0)[None], moment[None], none, none)
        return fitted(exact, most_factors(options.get("most_factors", MOST_FACTORS), public.dim))

    def align(self, batch: Factors, reference: Factors) -> tuple[Factors, Mask]:
        """As of factor analysis; found: of the factors that the reference has."""
        turned, recovered = super().align(batch, reference)
        return turned, recovered[:, factors_there(reference)]


FACTOR_ANALYSIS = FactorYardstick()
PROBABILISTIC_PCA = PCAYardstick()
