"""scikit-learn's users find estimators that behave like theirs, but for what privacy forbids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

import dpcore as dp
from dpcore.models import gmm
from dpcore.sklearn import DPFactorAnalysis, DPGaussianMixture, DPKMeans

BOUNDS = (-100.0, 100.0)
ESTIMATORS = (
    DPGaussianMixture(2, bounds=BOUNDS, random_state=0, iterations=2),
    DPKMeans(2, bounds=BOUNDS, random_state=0, iterations=2),
    DPFactorAnalysis(1, bounds=BOUNDS, random_state=0, iterations=2),
)


# Checks of scikit-learn that a private fit must not pass, and why.
FILLED = "a training cell that is missing or infinite takes its public fill: a refusal would tell"
EXCUSED = {
    ("DPGaussianMixture", "check_estimators_nan_inf"): FILLED,
    ("DPKMeans", "check_estimators_nan_inf"): FILLED,
    ("DPFactorAnalysis", "check_estimators_nan_inf"): FILLED,
    ("DPFactorAnalysis", "check_fit2d_1feature"): "one factor of one column explains nothing",
    ("DPGaussianMixture", "check_dtype_object"): "the refusal quotes no cell",
    ("DPKMeans", "check_dtype_object"): "the refusal quotes no cell",
    ("DPFactorAnalysis", "check_dtype_object"): "the refusal quotes no cell",
}


def own_checks() -> list[Any]:
    """scikit-learn's checks, but for those of array libraries that are not installed."""
    return [
        pytest.param(one, check, id=f"{type(one).__name__}-{_name(check)}")
        for estimator in ESTIMATORS
        for one, check in estimator_checks_generator(estimator)
        if "array_api" not in _name(check)
    ]


def _name(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


@pytest.mark.parametrize(("estimator", "check"), own_checks())
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    if (type(estimator).__name__, _name(check)) not in EXCUSED:
        check(estimator)
        return
    with pytest.raises((AssertionError, dp.InputError)):
        check(estimator)


def rows(count: int = 4000) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(0)
    middles = np.array([[-4.0, 0.0, 1.0], [4.0, 2.0, -1.0]])
    return middles[rng.integers(2, size=count)] + rng.normal(0.0, 1.0, (count, 3))


@pytest.mark.parametrize(
    ("estimator", "model"),
    [
        (DPGaussianMixture(2, iterations=5), "gmm"),
        (DPKMeans(2, iterations=5), "kmeans"),
        (DPFactorAnalysis(2, iterations=5), "fa"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_estimator_is_the_fit_of_the_same_name(estimator: Any, model: str) -> None:
    """The same numbers, ledger and guarantee as dp.fit."""
    one = clone(estimator).set_params(bounds=(-10, 10), random_state=3).fit(rows())
    names = ["x0", "x1", "x2"]
    schema = dp.Schema.from_bounds(dict.fromkeys(names, (-10, 10)))
    table = dp.load(pd.DataFrame(rows(), columns=names), schema=schema)
    two = dp.fit(model, table, privacy=dp.Privacy(1.0, 1e-5), n_components=2, iterations=5, seed=3)
    assert one.ledger_.fingerprint() == two.ledger.fingerprint()
    assert one.guarantee_ == two.guarantee
    found = {"gmm": "means_", "kmeans": "cluster_centers_", "fa": "mean_"}[model]
    theirs = {"gmm": "means", "kmeans": "centers", "fa": "mean"}[model]
    np.testing.assert_array_equal(getattr(one, found), getattr(two.parameters, theirs))


def test_without_bounds_nothing_is_fitted() -> None:
    with pytest.raises(dp.InputError, match="bounds: none were given"):
        DPKMeans().fit(rows())


@pytest.mark.parametrize(
    ("bounds", "radius"), [((-9.0, 9.0), None), ([(-9, 9), (-8, 8), (-7, 7)], None), (12.0, 12.0)]
)
def test_bounds_are_one_pair_a_pair_each_or_a_radius(bounds: Any, radius: float | None) -> None:
    model = DPKMeans(2, bounds=bounds, random_state=0).fit(rows())
    reach = np.linalg.norm(model.cluster_centers_, axis=1).max()
    assert reach <= (radius or np.sqrt(3) * 9.0)
    with pytest.raises(dp.InputError, match="bounds"):
        DPKMeans(2, bounds=[(-1, 1)] * 2).fit(rows())


def test_a_generator_is_no_seed() -> None:
    """Its state would be shared; None is a release, a number a rehearsal that says so."""
    with pytest.raises(dp.InputError, match="random_state"):
        DPKMeans(bounds=BOUNDS, random_state=np.random.RandomState(0)).fit(rows())
    assert DPKMeans(bounds=BOUNDS, random_state=1).fit(rows()).guarantee_.rehearsal
    fresh = [DPKMeans(bounds=BOUNDS).fit(rows()) for _ in range(2)]
    assert not fresh[0].guarantee_.rehearsal
    assert not np.array_equal(fresh[0].cluster_centers_, fresh[1].cluster_centers_)


def test_a_mixture_speaks_of_rows_as_scikit_learns_does() -> None:
    model = DPGaussianMixture(2, epsilon=50.0, bounds=(-10, 10), random_state=0).fit(rows())
    shares = model.predict_proba(rows(100))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(rows(100)), shares.argmax(axis=1))
    whole = gmm.log_density(model.fit_.parameters.as_mixture(), rows(100))[0]
    assert model.score(rows(100)) == pytest.approx(float(whole))
    np.testing.assert_allclose(model.weights_ @ model.means_, rows().mean(axis=0), atol=0.2)


def test_distances_labels_and_scores_of_k_means() -> None:
    model = DPKMeans(2, epsilon=50.0, bounds=(-10, 10), random_state=0).fit(rows())
    away = model.transform(rows(50))
    np.testing.assert_array_equal(model.predict(rows(50)), away.argmin(axis=1))
    assert model.score(rows(50)) == pytest.approx(-(away.min(axis=1) ** 2).sum())
    assert list(model.get_feature_names_out()) == ["dpkmeans0", "dpkmeans1"]


def test_factors_of_rows_in_a_pipeline() -> None:
    pipe = make_pipeline(
        FunctionTransformer(), DPFactorAnalysis(1, epsilon=50.0, bounds=(-10, 10), random_state=0)
    )
    hidden = pipe.fit_transform(rows())
    assert hidden.shape == (4000, 1)
    side = rows()[:, 0] > 0
    assert abs(np.corrcoef(hidden[:, 0], side)[0, 1]) > 0.9
    model = pipe[-1]
    np.testing.assert_allclose(
        model.get_covariance(), np.cov(rows(), rowvar=False), rtol=0.2, atol=0.5
    )


@pytest.mark.parametrize("cell", ["Anna Muster", 10**400])
def test_a_refusal_tells_of_no_cell(cell: Any) -> None:
    bad = np.array([[cell, 1.0, 2.0]] * 5, dtype=object)
    with pytest.raises(dp.InputError, match="a cell is no number") as refused:
        DPKMeans(2, bounds=(0, 1)).fit(bad)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__
