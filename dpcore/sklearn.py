"""Estimators for scikit-learn's users: thin adapters over :func:`dpcore.fit`.

They differ from scikit-learn's own in what privacy needs: public ``bounds``, limits that could be
printed before anybody saw the data; ``random_state=None`` draws noise from the system's entropy,
and a number makes a rehearsal that can be repeated; labels and factors are said of rows that are
handed in, and none are kept from the fit. A training cell that is missing, infinite or out of
bounds takes its public fill: a refusal would tell of it.

>>> import numpy as np
>>> rows = np.random.default_rng(0).normal([0.0, 3.0], 0.5, (500, 2))
>>> model = DPGaussianMixture(1, bounds=(-5, 5), random_state=0).fit(rows)
>>> model.means_.shape, model.guarantee_.epsilon <= 1.0
((1, 2), True)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    DensityMixin,
    TransformerMixin,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from dpcore.errors import InputError
from dpcore.fitting.api import fit
from dpcore.models import factors, gmm
from dpcore.privacy import Guarantee, Ledger, Privacy
from dpcore.schema import Schema
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]
# Words of scikit-learn's refusals that tell of shapes and kinds alone.
TOLD = ("sparse", "2d array", "1d array", "dim", "feature", "sample", "complex data", "shape")
Bounds = tuple[float, float] | Sequence[tuple[float, float]] | float


class _Private(BaseEstimator):  # type: ignore[misc]
    """What all have in common. After :meth:`fit`: ``guarantee_``, ``ledger_``, ``fit_``."""

    guarantee_: Guarantee
    ledger_: Ledger
    n_features_in_: int

    def _fitted(self, X: ArrayLike, model: str, **options: Any) -> Any:
        """The parameters of a private fit, in own units."""
        rows = self._numbers(X)
        if self.random_state is not None and not isinstance(self.random_state, (int, np.integer)):
            raise InputError(
                "random_state",
                "it is a generator, whose state anybody may hold",
                "give None for fresh noise, or a whole number to rehearse",
            )
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        table = _sealed(rows, names or [f"x{i}" for i in range(rows.shape[1])], self.bounds)
        privacy = Privacy(
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            accountant=self.accountant,
        )
        seed = None if self.random_state is None else int(self.random_state)
        self.fit_ = fit(model, table, privacy=privacy, seed=seed, **options)
        self.guarantee_, self.ledger_ = self.fit_.guarantee, self.fit_.ledger
        return self.fit_.parameters

    def _numbers(self, X: ArrayLike) -> Array:
        """Training rows as numbers; a refusal names no cell, and no warning tells of one."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                rows = validate_data(
                    self, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=1
                )
        except (ValueError, TypeError, OverflowError) as error:
            told = str(error).lower()
            if any(word in told for word in TOLD):
                raise
            raise InputError("X", "a cell is no number", "give numbers alone") from None
        return np.asarray(rows)

    def _given(self, X: ArrayLike) -> Array:
        """Rows to speak of, as they are."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


def _sealed(rows: Array, names: list[str], bounds: Bounds | None) -> PrivateTable:
    """The rows under the bounds: one pair for all columns, a pair each, or the radius of a ball."""
    import pandas as pd

    if bounds is None:
        raise InputError(
            "bounds",
            "none were given",
            "give limits that could be printed before anybody saw the data, such as (0, 110)",
        )
    if np.ndim(bounds) == 0:
        schema = Schema.ball_of(names, None, float(bounds))  # type: ignore[arg-type]
    else:
        pairs = np.asarray(bounds, dtype=float)
        if pairs.shape == (2,):
            pairs = np.tile(pairs, (len(names), 1))
        if pairs.shape != (len(names), 2):
            raise InputError(
                "bounds",
                "they are not one pair, a pair for each column, or a radius",
                "give (lower, upper), or one for each column",
            )
        limits = {name: (low, high) for name, (low, high) in zip(names, pairs, strict=True)}
        schema = Schema.from_bounds(limits)
    return PrivateTable.seal(pd.DataFrame(rows, columns=names), schema)


class DPGaussianMixture(DensityMixin, _Private):  # type: ignore[misc]
    """A private Gaussian mixture: ``weights_ (K,)``, ``means_ (K, d)``, ``covariances_ (K, d, d)``.

    n_components: groups. epsilon, delta, adjacency, accountant: see :class:`dpcore.Privacy`.
    bounds: (lower, upper) for all columns, one pair each, or the radius of a ball around 0.
    covariance: full | diag | spherical. random_state: ``None`` for a release, a number to rehearse.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    def __init__(
        self,
        n_components: int = 3,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        bounds: Bounds | None = None,
        iterations: int = 10,
        covariance: str = "full",
        adjacency: str = "replace_one",
        accountant: str = "exact",
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.iterations = iterations
        self.covariance = covariance
        self.adjacency = adjacency
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> DPGaussianMixture:
        """Fit to rows ``(n, d)``; y is not read."""
        found = self._fitted(
            X,
            "gmm",
            n_components=self.n_components,
            iterations=self.iterations,
            covariance=self.covariance,
        )
        self.weights_, self.means_ = found.weights, found.means
        self.covariances_ = found.covariances
        return self

    def predict_proba(self, X: ArrayLike) -> Array:
        """How likely each row belongs to each component, ``(n, K)``."""
        joint = self._log_joint(self._given(X))
        joint -= joint.max(axis=1, keepdims=True)
        shares = np.exp(joint)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """The likeliest component of each row, ``(n,)``."""
        return np.asarray(self._log_joint(self._given(X)).argmax(axis=1))

    def score_samples(self, X: ArrayLike) -> Array:
        """Log density of each row, ``(n,)``."""
        joint = self._log_joint(self._given(X))
        top = joint.max(axis=1)
        return np.asarray(np.log(np.exp(joint - top[:, None]).sum(axis=1)) + top)

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Mean log density of a row."""
        return float(self.score_samples(X).mean())

    def _log_joint(self, rows: Array) -> Array:
        return np.asarray(gmm.log_joint(self.fit_.parameters.as_mixture(), rows)[0])


class DPKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Private):  # type: ignore[misc]
    """Private k-means: ``cluster_centers_ (K, d)``; there are no labels of the training rows.

    Distances are those of the bounds' own units: each column's half range counts as 1 while it is
    fitted. Parameters as in :class:`DPGaussianMixture`.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        bounds: Bounds | None = None,
        iterations: int = 10,
        adjacency: str = "replace_one",
        accountant: str = "exact",
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.iterations = iterations
        self.adjacency = adjacency
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> DPKMeans:
        """Fit to rows ``(n, d)``; y is not read."""
        found = self._fitted(X, "kmeans", n_components=self.n_clusters, iterations=self.iterations)
        self.cluster_centers_ = found.centers
        self._n_features_out = len(found.centers)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Distances of rows to the centres, ``(n, K)``."""
        rows = self._given(X)
        return np.asarray(np.linalg.norm(rows[:, None] - self.cluster_centers_, axis=2))

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """The nearest centre of each row, ``(n,)``."""
        return np.asarray(self.transform(X).argmin(axis=1))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Minus the sum of squared distances to the nearest centre."""
        return -float(np.sum(self.transform(X).min(axis=1) ** 2))


class DPFactorAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Private):  # type: ignore[misc]
    """Private factor analysis: ``components_ (k, d)``, ``mean_``, ``noise_variance_ (d,)``.

    The data is read once; ``iterations`` cost nothing. Parameters as in :class:`DPGaussianMixture`.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        bounds: Bounds | None = None,
        iterations: int = 50,
        adjacency: str = "replace_one",
        accountant: str = "exact",
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.iterations = iterations
        self.adjacency = adjacency
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> DPFactorAnalysis:
        """Fit to rows ``(n, d)``; y is not read."""
        found = self._fitted(X, "fa", n_components=self.n_components, iterations=self.iterations)
        self.mean_, self.components_ = found.mean, found.loadings.T
        self.noise_variance_ = found.noise_variance
        self._n_features_out = len(self.components_)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Expected factors of rows, ``(n, k)``."""
        return np.asarray(factors.scores(self._model(), self._given(X))[0])

    def get_covariance(self) -> Array:
        """The model's covariance ``(d, d)``."""
        check_is_fitted(self)
        return np.asarray(self._model().covariance()[0])

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Mean log density of a row."""
        return float(factors.log_density(self._model(), self._given(X))[0])

    def _model(self) -> factors.Factors:
        model: factors.Factors = self.fit_.parameters.as_factors()
        return model
