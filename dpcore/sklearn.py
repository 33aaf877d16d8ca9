"""Estimators for scikit-learn's users: thin adapters over :func:`dpcore.fit`.

They differ from scikit-learn's own in what privacy needs: public ``bounds``, limits that could be
printed before anybody saw the data; ``random_state=None`` draws noise from the system's entropy,
and a number makes a rehearsal that can be repeated; labels and factors are said of rows that are
handed in, and none are kept from the fit. A cell that is missing or infinite takes its column's
public fill, the middle of its bounds, in fits, where a refusal would tell of it, and in
predictions; a missing or negative count of a word is 0.

With ``ledger``, the path of a budget ledger, each fit is paid for there before its noise is drawn,
those of clones and of other processes too: what a search spends adds up, and ends where the budget
does. Without it a guarantee counts its one fit.

>>> import numpy as np
>>> rows = np.random.default_rng(0).normal([0.0, 3.0], 0.5, (500, 2))
>>> model = DPGaussianMixture(1, bounds=(-5, 5), random_state=0).fit(rows)
>>> model.means_.shape, model.guarantee_.epsilon <= 1.0
((1, 2), True)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    DensityMixin,
    TransformerMixin,
)
from sklearn.utils import Tags, assert_all_finite, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from dpcore.arrays import Array, Indices, Mask
from dpcore.checks import whole
from dpcore.errors import InputError
from dpcore.fitting.api import fit
from dpcore.fitting.result import Fit
from dpcore.models.covariance.mathematics import principal
from dpcore.models.factor_analysis import mathematics as factors
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.logistic_regression.mathematics import Coefficients
from dpcore.models.shared.moments import THINNEST
from dpcore.models.topics import mathematics as lda
from dpcore.privacy import Guarantee, Ledger, Privacy
from dpcore.releases.ledger import BudgetLedger
from dpcore.releases.paid import paid_fit
from dpcore.schema import Column, Schema, category_meant, numbers_meant
from dpcore.schema.frames import frame_of
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.table import PrivateTable

# How scikit-learn's refusals begin that tell of shapes and kinds alone; others may quote cells.
SHAPE_ERRORS = ("Found array with", "Sparse data was passed")
# And what is said in the place of those that end in a picture of the rows.
CELL_ERRORS = {
    "Complex data not supported": "Complex data not supported",
    "Expected 2D array": "it is not a two-dimensional table",
    "Expected a 2-dimensional container": "it is not a two-dimensional table",
}
UNFITTED_STEPS = "no earlier step, such as a scaler or an imputer, was fitted to these rows"
AS_FITTED: dict[str, Any] = {"ensure_all_finite": False}  # such cells are filled
NO_NUMBER = ("X", "a cell is not a number", "give rows of real numbers")
Pair = tuple[float, float]
Bounds = Pair | Sequence[Pair] | tuple[Sequence[float], Sequence[float]] | dict[str, Pair] | float


class _Absent:
    """What scikit-learn's estimator of the kind has and a private one has not, and why."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: object, kind: type) -> Any:
        raise AttributeError(f"{kind.__name__} has no {self.name}: {self.why}.")


_EXACT = (
    "on the fitted rows its value would be exact and so not private; use score(X) on public or "
    "simulated rows"
)
_STEPS = (
    "the number of steps is public and fixed before the rows are read, since a stopping rule would "
    "reveal something about them; fit_.settings states the number"
)
_COUNT = "the number of fitted rows may be private; fit_.guarantee states what counts as public"


@dataclass(eq=False, repr=False, kw_only=True)
class _Parameters(BaseEstimator):  # type: ignore[misc]
    """The parameters of every estimator. Those of one follow as its fields, from which
    ``dataclass`` writes the ``__init__`` that scikit-learn reads and clones by."""

    epsilon: float = 1.0
    delta: float = 1e-5
    adjacency: str = "replace_one"
    accountant: str = "exact"
    random_state: int | None = None
    ledger: str | Path | BudgetLedger | None = None


class _Private(_Parameters):
    """What all have in common. After :meth:`fit`: ``guarantee_``, ``ledger_``, ``fit_``."""

    fit_: Fit
    guarantee_: Guarantee
    ledger_: Ledger
    n_features_in_: int

    aic, bic, inertia_, loglike_, lower_bound_, bound_ = (_Absent(_EXACT) for _ in range(6))
    n_iter_, n_batch_iter_, converged_ = (_Absent(_STEPS) for _ in range(3))
    n_samples_ = _Absent(_COUNT)
    labels_ = _Absent(
        "labels of the fitted rows would reveal something about them, so none are kept; pass "
        "rows to predict(X) or transform(X)"
    )
    fit_predict: Any = _Absent("this model does not assign rows to groups; call fit alone")
    partial_fit = _Absent(
        "each call would be one more release; fit(X) spends its budget once for all rows, and "
        "ledger= composes several fits"
    )
    sample: Any = _Absent(
        "this model does not describe how rows are distributed; fit a mixture to draw rows"
    )

    @classmethod
    def of_fit(cls, fit: Fit, schema: Schema) -> Self:
        """The estimator of parameters that were released, fitted without rows.

        schema: the release's public limits, which become ``bounds``.
        """
        guarantee, parts = fit.guarantee, fit.settings.get("components")
        options = {
            **fit.settings,
            "n_components": parts,
            "n_clusters": parts,
            "epsilon": guarantee.epsilon,
            "delta": guarantee.delta,
            "adjacency": guarantee.adjacency,
            "accountant": None if guarantee.proof is None else guarantee.proof.accountant,
            "bounds": [(column.lower, column.upper) for column in schema.numeric_columns()],
        }
        model = cls(**{name: options[name] for name in cls._get_param_names() if name in options})
        model.fit_, model.guarantee_, model.ledger_ = fit, guarantee, fit.ledger
        with_columns(model, fit.parameters.columns)
        return model._learned()

    @property
    def told_apart_(self) -> str | None:
        """What can be told apart at this noise and what not, or why this is not known, in a
        sentence, from what was released alone. The intervals are ``fit_.intervals()``."""
        check_is_fitted(self)
        return self.fit_.told_apart

    def _learned(self) -> Self:
        """What a fit has found, under the names that scikit-learn's users know."""
        raise NotImplementedError

    def _names(self, rows: Any) -> list[str]:
        """Names of the columns."""
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        return names or [f"x{i}" for i in range(rows.shape[1])]

    def _fitted_to(self, table: PrivateTable | PrivateCorpus, model: str, **options: Any) -> Any:
        """The same, of what is sealed."""
        if self.random_state is not None and not isinstance(self.random_state, (int, np.integer)):
            raise InputError(
                "random_state",
                "it is not a whole number, and others may know the state of a generator",
                "give None for fresh noise, or a whole number for a rehearsal",
            )
        privacy = Privacy(
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            accountant=self.accountant,
        )
        if self.ledger is None:
            random_state = self.random_state
            seed = (
                None if random_state is None else whole("random_state", int(random_state), least=0)
            )
            self.fit_ = fit(model, table, privacy=privacy, seed=seed, **options)
        elif self.random_state is None:
            self.fit_ = paid_fit(model, table, privacy=privacy, ledger=self.ledger, **options)
        else:
            raise InputError(
                "random_state",
                "it makes a rehearsal, which cannot be charged to a ledger",
                "set it to None, or leave the ledger out",
            )
        guarantee, self.ledger_ = self.fit_.guarantee, self.fit_.ledger
        self.guarantee_ = replace(guarantee, assumptions=(*guarantee.assumptions, UNFITTED_STEPS))
        return self.fit_.parameters

    def _numbers(self, X: ArrayLike, accept_sparse: str | bool = False) -> Any:
        """Training rows as numbers; a refusal names no cell, and no warning tells of one."""
        X = _cells_read(X)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                rows = validate_data(
                    self, X, dtype=np.float64, accept_sparse=accept_sparse, **AS_FITTED
                )
        except (ValueError, TypeError, OverflowError) as error:
            message = str(error)
            if message.startswith(SHAPE_ERRORS):
                raise
            problems = [
                problem for start, problem in CELL_ERRORS.items() if message.startswith(start)
            ]
            what = ("X", problems[0], NO_NUMBER[2]) if problems else NO_NUMBER
            raise InputError(*what) from None
        return rows

    def _drawn(self, n_samples: int, seed: int) -> Array:
        """Synthetic rows inside the bounds ``(n_samples, d)``."""
        count = whole("n_samples", n_samples)
        return self.fit_.sample(count, seed).to_numpy(dtype=float)

    def _given(self, X: ArrayLike) -> Array:
        """Rows to speak of, whose cells mean what they mean in a fit."""
        check_is_fitted(self)
        rows = validate_data(self, _cells_read(X), dtype=np.float64, reset=False, **AS_FITTED)
        fills = np.array([c.fill for c in self.fit_.schema.numeric_columns()], dtype=float)
        return np.where(np.isfinite(rows), rows, fills)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic, tags.input_tags.allow_nan = self.random_state is None, True
        return tags


def with_columns(model: Any, columns: Sequence[str]) -> Any:
    """A fitted estimator that knows the names of its columns."""
    model.n_features_in_ = len(columns)
    model.feature_names_in_ = np.array(columns, dtype=object)
    return model


def _cells_read(X: Any) -> Any:
    """A data frame, also of polars or Arrow, an array of other things than numbers, and a masked
    array, whose masked cells are missing, cell by cell; anything else as it is."""
    import pandas as pd

    X = frame_of("X", X)
    masked = isinstance(X, np.ma.MaskedArray)
    if isinstance(X, np.ndarray) and X.ndim == 2 and (masked or X.dtype.kind not in "biufc"):
        return _cells_read(pd.DataFrame(X)).to_numpy()
    if not isinstance(X, pd.DataFrame):
        return X
    _demand_names(list(X.columns))
    if X.columns.nlevels > 1:
        return X
    try:
        numbers = {name: numbers_meant("X", X[name]) for name in X.columns}
    except InputError:
        raise InputError(*NO_NUMBER) from None
    return pd.DataFrame(numbers, columns=X.columns, index=X.index)


def _demand_names(names: list[Any]) -> None:
    """Refuse names of columns that are partly words, or not unique."""
    words = sum(isinstance(name, str) for name in names)
    if words not in (0, len(names)) or len(set(names)) < len(names):
        raise InputError(
            "X", "its column names are not all strings, or not all different", "rename its columns"
        )


def _sealed(rows: Any, names: list[str], bounds: Bounds | None) -> PrivateTable:
    """The rows under the bounds."""
    import pandas as pd

    return PrivateTable.seal(pd.DataFrame(rows, columns=names), _schema(names, bounds))


def _schema(names: list[str], bounds: Bounds | None) -> Schema:
    """Bounds in words: one pair for all columns, a pair each (in their order or by name), all lower
    ones and all upper ones, or the radius of a ball. Of two columns, only a tuple of two lists or
    arrays can be lower and upper ones."""
    if bounds is None:
        raise InputError(
            "bounds",
            "none were given",
            "give limits that could be printed before anyone saw the data, such as (0, 110)",
        )
    if isinstance(bounds, Mapping):
        absent = [name for name in names if name not in bounds]
        if absent:
            raise InputError(
                "bounds", f"column {absent[0]!r} has none", "give a pair for each column"
            )
        bounds = [bounds[name] for name in names]
        if any(np.shape(pair) != (2,) for pair in bounds):
            raise InputError(
                "bounds", "the bounds of a column are not a pair", "give {name: (lower, upper)}"
            )
    if isinstance(bounds, (bool, str)):
        raise InputError("bounds", "they are not numbers", "give (lower, upper), or a radius")
    try:
        pairs = np.asarray(bounds, dtype=float)
    except (TypeError, ValueError):
        pairs = np.empty(0)
    if pairs.ndim == 0:
        return Schema.ball_of(names, None, float(pairs))
    if pairs.shape == (2,):
        pairs = np.tile(pairs, (len(names), 1))
    if pairs.shape == (2, len(names)) and not _are_pairs(pairs, bounds, names):
        pairs = pairs.T
    if pairs.shape != (len(names), 2):
        raise InputError(
            "bounds",
            "they are not one pair, a pair for each column, or a radius",
            "give (lower, upper), or one such pair for each column",
        )
    return Schema.from_bounds(
        {name: (low, high) for name, (low, high) in zip(names, pairs, strict=True)}
    )


def _are_pairs(ends: Array, bounds: object, names: list[str]) -> bool:
    """Whether two lists hold a pair for each of two columns, rather than all lower limits and all
    upper ones. Raises InputError for a tuple of lists or arrays that could be either."""
    if len(names) != 2:
        return False
    if not isinstance(bounds, tuple) or any(isinstance(pair, tuple) for pair in bounds):
        return True
    pairs, limits = np.all(ends[:, 0] < ends[:, 1]), np.all(ends[0] < ends[1])
    if pairs and limits:
        raise InputError(
            "bounds",
            "with two columns, two lists of two numbers are ambiguous",
            f"give {{{names[0]!r}: (lower, upper), {names[1]!r}: (lower, upper)}}",
        )
    return bool(pairs or not limits)


@dataclass(eq=False, repr=False, kw_only=True)
class _Bounded(_Private):
    """What fits rows under public bounds."""

    bounds: Bounds | None = None


class _Alone(_Bounded):
    """What is fitted to rows alone, without an outcome.

    _model: the name of its model. _options: the names of the fit's options, where parameters are
    called otherwise.
    """

    _model: ClassVar[str]
    _options: ClassVar[Mapping[str, str]] = {}

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fit to rows ``(n, d)``, finite or missing; y is not read.

        Raises InputError for cells that are not numbers, for bounds that do not fit the columns,
        and for options or a budget that cannot be met; no message contains a cell.
        """
        shared = {parameter.name for parameter in fields(_Bounded)}
        own = (name for name in self._get_param_names() if name not in shared)
        options = {self._options.get(name, name): getattr(self, name) for name in own}
        rows = self._numbers(X)
        try:
            self._fitted_to(_sealed(rows, self._names(rows), self.bounds), self._model, **options)
        except InputError as refusal:  # in the words of this estimator's parameters
            words = {option: name for name, option in self._options.items()}
            if refusal.field not in words:
                raise
            raise InputError(words[refusal.field], refusal.problem, refusal.remedy) from None
        return self._learned()


class _Grouped(_Alone):
    """What puts rows into groups."""

    def predict(self, X: ArrayLike) -> Indices:
        """The group of each row, ``(n,)``."""
        raise NotImplementedError

    def fit_predict(self, X: ArrayLike, y: object = None) -> Indices:
        """Fit, and the group of each row ``(n,)``: as ``fit(X).predict(X)``. What is said of the
        rows of the fit is exact, so it is not private: it is for whoever may see the rows."""
        return np.asarray(self.fit(X).predict(X))


class _Mixture(DensityMixin, _Grouped):  # type: ignore[misc]
    """What all mixtures say of rows."""

    def predict_proba(self, X: ArrayLike) -> Array:
        """How likely each row belongs to each component, ``(n, K)``."""
        return self._shares(self._given(X))

    def predict(self, X: ArrayLike) -> Indices:
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

    def sample(self, n_samples: int = 1) -> tuple[Array, Indices]:
        """Synthetic rows ``(n_samples, d)`` inside the bounds and their components
        ``(n_samples,)``; they cost nothing. The same ones each time where ``random_state`` is set.
        Raises InputError for an ``n_samples`` that is not a whole number above 0."""
        check_is_fitted(self)
        rng = np.random.default_rng(self.random_state)
        seed = int(rng.integers(1 << 32))
        rows = self._drawn(n_samples, seed)
        below = self._shares(rows).cumsum(axis=1)[:, :-1]
        return rows, (rng.random((len(rows), 1)) > below).sum(axis=1)

    def _shares(self, rows: Array) -> Array:
        """How likely each row belongs to each component, ``(n, K)``."""
        joint = self._log_joint(rows)
        joint -= joint.max(axis=1, keepdims=True)
        shares = np.exp(joint)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _log_joint(self, rows: Array) -> Array:
        """Log density of each row with each component ``(n, K)``."""
        return np.asarray(self.fit_.parameters.log_joint(rows))


@dataclass(eq=False, repr=False)
class DPGaussianMixture(_Mixture):
    """A private Gaussian mixture: ``weights_ (K,)``, ``means_ (K, d)``, ``covariances_ (K, d, d)``.

    n_components: groups. iterations: steps; more of them share the same budget. epsilon, delta,
    adjacency, accountant: see :class:`dpcore.Privacy`.
    bounds: (lower, upper) for all columns, one pair each (in order, or a dict by name), (lower
    ones, upper ones), or the radius of a ball around 0.
    covariance: full | diag | spherical. random_state: ``None`` for a release, a number to rehearse.
    ledger: a budget ledger, or its path, to which each fit is charged [none].

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    _model = "gmm"
    n_components: int = 3
    _: KW_ONLY
    iterations: int = 10
    covariance: str = "full"

    def _learned(self) -> Self:
        parameters = self.fit_.parameters
        self.weights_, self.means_ = parameters.weights, parameters.means
        self.covariances_ = parameters.covariances
        return self

    def _log_joint(self, rows: Array) -> Array:
        return np.asarray(gmm.log_joint(self.fit_.parameters.as_mixture(), rows)[0])


@dataclass(eq=False, repr=False)
class ColumnMixture(_Mixture):
    """Mixtures whose columns are independent within a group."""

    n_components: int = 3
    _: KW_ONLY
    iterations: int = 10

    def _learned(self) -> Self:
        self.weights_ = self.fit_.parameters.weights
        return self


class DPBernoulliMixture(ColumnMixture):
    """A private mixture of Bernoullis: ``weights_ (K,)``, ``chances_ (K, d)`` of a yes.

    bounds: a no and a yes, usually (0, 1). Parameters as in :class:`DPGaussianMixture`.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    _model = "bernoulli"

    @property
    def chances_(self) -> Array:
        """Chance of a yes of each group in each column ``(K, d)``."""
        check_is_fitted(self)
        return np.asarray(self.fit_.parameters.chances)


class DPPoissonMixture(ColumnMixture):
    """A private mixture of Poissons: ``weights_ (K,)``, ``rates_ (K, d)``.

    bounds: from 0 on to the most events that count. Parameters as in :class:`DPGaussianMixture`.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    _model = "poisson"

    @property
    def rates_(self) -> Array:
        """Mean count of each group in each column ``(K, d)``."""
        check_is_fitted(self)
        return np.asarray(self.fit_.parameters.rates)


@dataclass(eq=False, repr=False)
class DPKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Grouped):  # type: ignore[misc]
    """Private k-means: ``cluster_centers_ (K, d)``; there are no labels of the training rows.

    Distances are counted in half ranges of the bounds, column by column, as the fit counts them.
    Parameters as in :class:`DPGaussianMixture`.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    sample = _Absent(
        "nothing was released about how rows spread around a centre; fit a mixture to draw rows"
    )

    _model, _options = "kmeans", {"n_clusters": "n_components"}
    n_clusters: int = 3
    _: KW_ONLY
    iterations: int = 10

    def _learned(self) -> Self:
        self.cluster_centers_ = self.fit_.parameters.centers
        self._n_features_out = len(self.cluster_centers_)
        limits = _schema(self._names(self.cluster_centers_), self.bounds)
        self._half_range = PublicFrame.of(limits).half_range
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Distances of rows ``(n, d)`` to the centres ``(n, K)``, in half ranges of the bounds, as
        the fit measures them.

        Raises scikit-learn's NotFittedError before a fit and ValueError for rows of other columns.
        """
        rows = self._given(X)
        away = (rows[:, None] - self.cluster_centers_) / self._half_range
        return np.asarray(np.linalg.norm(away, axis=2))

    def predict(self, X: ArrayLike) -> Indices:
        """The nearest centre of each row ``(n,)``, from 0; distances and errors as of
        :meth:`transform`.
        """
        return np.asarray(self.transform(X).argmin(axis=1))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Minus the sum of squared distances of rows ``(n, d)`` to their nearest centre, in half
        ranges; more is better. Exact for the rows that are passed: if they are private, the
        score is not.
        """
        return -float(np.sum(self.transform(X).min(axis=1) ** 2))


class _Axes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Alone):  # type: ignore[misc]
    """What describes rows by a few axes."""

    def sample(self, n_samples: int = 1) -> Array:
        """Synthetic rows ``(n_samples, d)`` inside the bounds; they cost nothing. The same ones
        each time where ``random_state`` is set.
        Raises InputError for an ``n_samples`` that is not a whole number above 0."""
        check_is_fitted(self)
        rng = np.random.default_rng(self.random_state)
        return self._drawn(n_samples, int(rng.integers(1 << 32)))


class _Factors(_Axes):
    """What factors say of rows."""

    def _learned(self) -> Self:
        parameters = self.fit_.parameters
        self.mean_, self.components_ = parameters.mean, parameters.loadings.T
        self.noise_variance_ = parameters.noise_variance
        self._n_features_out = len(self.components_)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Expected factors of rows, ``(n, k)``."""
        return np.asarray(factors.scores(self._factors(), self._given(X))[0])

    def get_covariance(self) -> Array:
        """The model's covariance ``(d, d)``."""
        return np.asarray(self._factors().covariance()[0])

    def score_samples(self, X: ArrayLike) -> Array:
        """Log density of each row, ``(n,)``."""
        return np.asarray(factors.log_densities(self._factors(), self._given(X))[0])

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Mean log density of a row."""
        return float(factors.log_density(self._factors(), self._given(X))[0])

    def _factors(self) -> factors.Factors:
        check_is_fitted(self)
        model: factors.Factors = self.fit_.parameters.as_factors()
        return model


@dataclass(eq=False, repr=False)
class DPFactorAnalysis(_Factors):
    """Private factor analysis: ``components_ (k, d)``, ``mean_``, ``noise_variance_ (d,)``.

    All releases are before the steps: ``iterations`` cost nothing. Parameters as in
    :class:`DPGaussianMixture`.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    _model = "fa"
    n_components: int = 2
    _: KW_ONLY
    iterations: int = 50


@dataclass(eq=False, repr=False)
class DPProbabilisticPCA(_Factors):
    """Private probabilistic PCA by variational Bayes: ``components_ (k, d)``, ``mean_``,
    ``noise_variance_ (d,)``, the same share of each column's bounds.

    n_components: at most so many; those that the release does not support are left out. Rows have
    two columns or more. Other parameters as in :class:`DPGaussianMixture`.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    _model, _options = "ppca", {"n_components": "most_factors"}
    n_components: int = 10

    @classmethod
    def of_fit(cls, fit: Fit, schema: Schema) -> Self:
        """As of any other, with the most components that the release could have."""
        model = super().of_fit(fit, schema)
        model.n_components = fit.settings["most_factors"]
        return model

    def _learned(self) -> Self:
        super()._learned()
        self.components_ = self.components_[np.any(self.components_ != 0.0, axis=1)]
        self._n_features_out = self.n_components_ = len(self.components_)
        return self

    def _factors(self) -> factors.Factors:
        check_is_fitted(self)
        return replace(super()._factors(), loadings=self.components_.T[None])


@dataclass(eq=False, repr=False)
class DPPCA(_Axes):
    """Private principal components: ``components_ (k, d)``, ``explained_variance_`` and
    ``explained_variance_ratio_ (k,)``, ``mean_``; also ``covariance_`` and ``correlation_ (d, d)``.

    n_components: how many are kept [all]; it changes nothing of what is released, and costs
    nothing. Axes are sought in own units, as scikit-learn's ``PCA`` does without a scaler: columns
    with large numbers lead. Other parameters as in :class:`DPGaussianMixture`.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    n_components: int | None = None

    def fit(self, X: ArrayLike, y: object = None) -> DPPCA:
        """Fit to rows ``(n, d)`` of two columns or more; y is not read.

        Raises InputError for more components than columns.
        """
        rows = self._numbers(X)
        names = self._names(rows)
        if (
            self.n_components is not None
            and whole("n_components", self.n_components) > len(names) > 1
        ):
            raise InputError("n_components", "X has fewer columns", f"give 1 to {len(names)}")
        self._fitted_to(_sealed(rows, names, self.bounds), "covariance")
        return self._learned()

    @classmethod
    def of_fit(cls, fit: Fit, schema: Schema) -> Self:
        """As of any other; all components are kept."""
        model = super().of_fit(fit, schema)
        model.n_components = None
        return model._learned()

    def _learned(self) -> Self:
        parameters, leading = self.fit_.parameters, slice(self.n_components)
        self.mean_, self.components_ = parameters.mean, parameters.components[leading]
        self.covariance_, self.correlation_ = parameters.covariance, parameters.correlation
        self.explained_variance_ = parameters.explained_variance[leading]
        self.explained_variance_ratio_ = parameters.explained_variance_ratio[leading]
        self._n_features_out = self.n_components_ = len(self.components_)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Coordinates of rows ``(n, d)`` along the principal axes, from the mean: ``(n, k)``, in
        the data's own units.
        """
        return np.asarray((self._given(X) - self.mean_) @ self.components_.T)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Rows ``(n, d)`` at places ``(n, k)``.

        Raises InputError for another number of columns than components.
        """
        check_is_fitted(self)
        places = check_array(X, dtype=np.float64)
        if places.shape[1] != len(self.components_):
            raise InputError(
                "X",
                "it does not have one column per component",
                f"give {len(self.components_)} columns",
            )
        return np.asarray(self.mean_ + places @ self.components_)

    def get_covariance(self) -> Array:
        """The released covariance ``(d, d)``, of all components."""
        check_is_fitted(self)
        return np.asarray(self.covariance_)

    def score_samples(self, X: ArrayLike) -> Array:
        """Log density of each row ``(n,)`` under the normal law with the released mean and
        covariance, where in half ranges of the bounds no variance is below 1e-12 of the largest."""
        rows, public = self._given(X), PublicFrame.of(self.fit_.schema)
        variance, axes = principal(self.fit_.parameters.in_units(public).covariance[0])
        variance = np.maximum(variance, max(THINNEST * variance[0], np.finfo(float).tiny))
        squares = (((rows - self.mean_) / public.half_range) @ axes.T) ** 2 / variance
        joint = -0.5 * np.sum(np.log(2.0 * np.pi * variance) + squares, axis=1)
        return np.asarray(joint + public.log_volume())

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Mean log density of rows ``(n, d)``, in nats; exact for the rows that are passed."""
        return float(self.score_samples(X).mean())


@dataclass(eq=False, repr=False, kw_only=True)
class DPLogisticRegression(ClassifierMixin, _Bounded):  # type: ignore[misc]
    """A private logistic regression of two outcomes: ``coef_ (1, d)``, ``intercept_ (1,)``.

    classes: the two outcomes, no before yes; a training label that is neither counts as no. They
    must be public, so there is no default; ``"infer"`` reads them off the labels, and nothing is
    proved. ``classes_ (2,)`` has them sorted, as everywhere in scikit-learn; coefficients, odds and
    the last column of probabilities are those of ``classes_[1]``. algorithm: one_shot | vb | vips |
    objective | dpvi; objective perturbation is counted by ``accountant="linear"``.
    Categories are columns of 0 and 1, by an encoder that was given its categories. Other parameters
    as in :class:`DPGaussianMixture`.

    ``intervals_ (d + 1, 2)``: of each coefficient, the intercept last, at 95% for the sampling
    error of the rows and the privacy noise. They leave out clipping and shrinkage, and so miss more
    often at small budgets. NaN where the algorithm does not know how much noise there is.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    classes: Sequence[Any] | str | None = None
    algorithm: str = "one_shot"
    _sign = 1  # of the odds of classes_[1], beside those that were fitted

    def fit(self, X: ArrayLike, y: ArrayLike) -> DPLogisticRegression:
        """Fit to rows ``(n, d)`` and their outcomes ``(n,)``.

        Raises InputError for outcomes that are missing, too many or too few, or of more than two
        classes.
        """
        if y is None:
            raise InputError(
                "y", "fit requires y to be passed, but the target y is None", "give the outcomes"
            )
        import pandas as pd

        rows = self._numbers(X)
        names = self._names(rows)
        schema = _schema(names, self.bounds)
        infer = self._reads_classes()
        if np.ma.is_masked(y):  # a masked outcome is missing
            y = np.ma.filled(np.ma.asarray(y, object), np.nan)
        try:
            labels = column_or_1d(y if infer else np.asarray(y, object), warn=True)
        except ValueError:  # it counts the rows
            raise InputError("y", "it is not one column", "give one outcome per row") from None
        if len(labels) != rows.shape[0]:
            raise InputError(
                "y", "it does not have as many outcomes as X has rows", "give one outcome per row"
            )
        stated = _read_classes(labels) if infer else _two_classes(self.classes)
        yes = labels == stated[-1] if infer else _says_yes(labels, stated)
        answer = next(
            name for name in ("y", *(f"y{i}" for i in range(len(names)))) if name not in names
        )
        schema = replace(
            schema,
            columns=(*schema.columns, Column(answer, role="target", type="binary")),
            rehearsal=infer,
        )
        frame = pd.DataFrame(rows, columns=names)
        frame[answer] = yes.astype(float)
        self._fitted_to(PrivateTable.seal(frame, schema), "logistic", algorithm=self.algorithm)
        other = f"a label that is neither of the two classes counts as {stated[0]!s}"
        assumptions = (
            self.guarantee_.assumptions if infer else (*self.guarantee_.assumptions, other)
        )
        self.guarantee_ = replace(self.guarantee_, assumptions=assumptions)
        return self._sorted(stated)

    @classmethod
    def of_fit(cls, fit: Fit, schema: Schema) -> Self:
        """As of any other; the classes are the target's categories, or 0 and 1."""
        model = super().of_fit(fit, schema)
        target = schema.column(str(schema.target))
        model.classes = target.categories or (0, 1)
        return model._sorted(_two_classes(model.classes))

    def _sorted(self, stated: NDArray[Any]) -> Self:
        """What was learned of two classes, in their sorted order, which scikit-learn's scores and
        committees take for granted."""
        self.classes_ = stated
        with suppress(TypeError):  # a text and None, for example
            self.classes_ = np.sort(stated)
        self._sign = 1 if self.classes_[-1] == stated[-1] else -1
        return self._learned()

    def _learned(self) -> Self:
        parameters, ends = self.fit_.parameters, self.fit_.parameters.intervals()
        self.coef_ = self._sign * parameters.coefficients[None]
        self.intercept_ = np.array([self._sign * parameters.intercept])
        self.intervals_ = self._sign * ends[:, :: self._sign]
        return self

    def _reads_classes(self) -> bool:
        """Whether the classes are read off the labels; refuses to choose them unasked."""
        if self.classes is None:
            raise InputError(
                "classes",
                "none were given",
                "give the two public outcomes, the negative one first, for example "
                'classes=("no", "yes"); classes="infer" reads them from the labels and proves '
                "nothing",
            )
        if isinstance(self.classes, str) and self.classes != "infer":
            raise InputError(
                "classes",
                "a single text was given",
                'give two classes, for example classes=("no", "yes")',
            )
        return isinstance(self.classes, str)

    def decision_function(self, X: ArrayLike) -> Array:
        """Log odds of ``classes_[1]`` for rows ``(n, d)``: ``(n,)``, averaged over the uncertainty
        of the coefficients.

        Raises scikit-learn's NotFittedError before a fit and ValueError for rows of other columns;
        so do the other methods.
        """
        return np.asarray(self._sign * self._coefficients().log_odds(self._given(X))[0])

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of both outcomes ``(n, 2)``, in the order of ``classes_``, averaged over
        the uncertainty of the coefficients.
        """
        chance = self._coefficients().probabilities(self._given(X))[0]
        return np.column_stack([1.0 - chance, chance])[:, :: self._sign]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The likelier outcome of each row ``(n,)``, one of ``classes_``."""
        likely = self.decision_function(X) > 0.0
        return np.asarray(self.classes_[likely.astype(int)])

    def _coefficients(self) -> Coefficients:
        check_is_fitted(self)
        parameters = self.fit_.parameters
        mean = np.append(parameters.coefficients, parameters.intercept)
        return Coefficients(
            mean[None], parameters.covariance[None], parameters.noise_covariance[None]
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


@dataclass(eq=False, repr=False)
class DPLatentDirichletAllocation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Private):  # type: ignore[misc]
    """Private topics of documents: ``components_ (K, V)``, how much of each word is in each topic.

    Rows are documents, columns public words, cells counts, sparse or not: for example of a
    ``CountVectorizer(vocabulary=...)`` that was given its words; one that reads its words off the
    documents breaks the promise. There are no other bounds: each document stands for ``length``
    words. rate: share of the documents in a step, 1 for all; epochs: passes over them. Other
    parameters as in :class:`DPGaussianMixture`.

    **Guarantee:** ``guarantee_``, replayable from ``ledger_``.
    """

    sample = _Absent("synthetic documents are texts; fit_.sample(n) draws them, without word order")

    n_components: int = 10
    _: KW_ONLY
    rate: float = 0.25
    epochs: int = 3
    length: int = 500

    def fit(self, X: ArrayLike, y: object = None) -> DPLatentDirichletAllocation:
        """Fit to counts ``(n, V)``, dense or sparse; a cell that is not a count counts as 0. y is
        not read.

        Raises InputError for cells that are not numbers and for options or a budget that cannot be
        met.
        """
        counts = self._numbers(X, accept_sparse="csr")
        words = Vocabulary(tuple(self._names(counts)))
        corpus = PrivateCorpus.seal(*_entries(counts), words)
        self._fitted_to(
            corpus,
            "lda",
            n_components=self.n_components,
            rate=self.rate,
            epochs=self.epochs,
            length=self.length,
        )
        return self._learned()

    def _learned(self) -> Self:
        parameters = self.fit_.parameters
        self.components_ = parameters.probabilities * parameters.mass[:, None]
        self._n_features_out = len(self.components_)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """The mix of topics of each document ``(n, K)``: rows add up to 1. X: counts ``(n, V)``."""
        mix = lda.mixes(self._counted(X), self.fit_.parameters.probabilities, self._prior)
        return np.asarray(mix / mix.sum(axis=1, keepdims=True))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Log-likelihood of the documents ``(n, V)`` together, in nats: an estimate by sampling, on
        average not above it, and the same at every call. It is not private.
        """
        bags = self._counted(X)
        return float(
            lda.log_likelihood(bags, self.fit_.parameters.probabilities, self._prior).sum()
        )

    def perplexity(self, X: ArrayLike) -> float:
        """Perplexity of the documents ``(n, V)``: exp of minus their score per word; lower is
        better.
        """
        tokens = float(self._counted(X).counts.sum())
        return float(np.exp(-self.score(X) / max(tokens, 1.0)))

    @property
    def _prior(self) -> float:
        return 1.0 / len(self.components_)

    def _counted(self, X: ArrayLike) -> Bags:
        check_is_fitted(self)
        X = _cells_read(X)
        counts = validate_data(
            self, X, dtype=np.float64, reset=False, accept_sparse="csr", **AS_FITTED
        )
        return Bags.of(*_entries(counts), counts.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _read_classes(labels: NDArray[Any]) -> NDArray[Any]:
    """The different labels, which must be two."""
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return _two_classes(np.unique(labels))


def _two_classes(classes: Any) -> NDArray[Any]:
    if isinstance(classes, (set, frozenset, Mapping)):
        raise InputError(
            "classes",
            "they have no order",
            'give a tuple, the negative class first, for example classes=("no", "yes")',
        )
    labels = np.asarray(classes)
    if labels.shape != (2,):
        many = f"{labels.size} class{'' if labels.size == 1 else 'es'}"
        raise InputError(
            "classes", f"Only binary classification is supported, not {many}", "give two"
        )
    return labels


def _says_yes(labels: NDArray[Any], classes: NDArray[Any]) -> Mask:
    """Whether each label means the second class, read alone: beside one text all numbers of a list
    become texts, and none of them would be equal to a number any more."""
    no, yes = map(_label_meant, classes)
    if no == yes:
        raise InputError("classes", "both mean the same", "give two different classes")
    return np.array([_label_meant(label) == yes for label in labels], dtype=bool)


def _label_meant(label: object) -> str:
    """What a label says; a truth value is the number that stands for it."""
    meant = category_meant(label)
    return {"false": "0", "true": "1"}.get(meant, meant)


def _entries(counts: Any) -> tuple[Indices, Indices, Array]:
    """Starts, words and counts of a table of counts."""
    from scipy.sparse import csr_array

    table = csr_array(counts)
    return table.indptr.astype(np.intp), table.indices.astype(np.intp), table.data
