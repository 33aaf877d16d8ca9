"""scikit-learn's users find estimators that behave like theirs, but for what privacy forbids."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sealed_rows import boxed
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from support import every

import dpcore as dp
from dpcore.datasets.documents import load_documents
from dpcore.evaluation.metrics import metrics
from dpcore.schema import Column
from dpcore.sklearn import (
    DPPCA,
    NO_NUMBER,
    UNFITTED_STEPS,
    DPBernoulliMixture,
    DPFactorAnalysis,
    DPGaussianMixture,
    DPKMeans,
    DPLatentDirichletAllocation,
    DPLogisticRegression,
    DPPoissonMixture,
    DPProbabilisticPCA,
)
from dpcore.wall.custodian import custodian_documents, custodian_outcomes

LONG = pytest.param(10**400, id="of 401 digits")
BOUNDS = (-100.0, 100.0)
ESTIMATORS = (
    DPGaussianMixture(2, bounds=BOUNDS, random_state=0, iterations=2),
    DPKMeans(2, bounds=BOUNDS, random_state=0, iterations=2),
    DPFactorAnalysis(1, bounds=BOUNDS, random_state=0, iterations=2),
    DPPCA(bounds=BOUNDS, random_state=0),
    DPProbabilisticPCA(3, bounds=BOUNDS, random_state=0),
    DPBernoulliMixture(2, bounds=BOUNDS, random_state=0, iterations=2),
    DPPoissonMixture(2, bounds=(0.0, 100.0), random_state=0, iterations=2),
    DPLogisticRegression(epsilon=1000.0, bounds=BOUNDS, classes="infer", random_state=0),
    DPLatentDirichletAllocation(2, rate=1.0, epochs=2, random_state=0),
)

SLOW = (DPKMeans, DPLatentDirichletAllocation)
SLOWEST = DPProbabilisticPCA  # whose release is factor analysis's, which is met sooner


# Checks of scikit-learn that a private fit must not pass, and why.
NEGATIVE = "a training cell that is no count counts as 0: a refusal would tell"
EXCUSED = {
    ("DPLogisticRegression", "check_dtype_object"): "the refusal quotes no cell",
    ("DPLatentDirichletAllocation", "check_fit_non_negative"): NEGATIVE,
    ("DPLatentDirichletAllocation", "check_positive_only_tag_during_fit"): NEGATIVE,
    ("DPLatentDirichletAllocation", "check_dtype_object"): "the refusal quotes no cell",
    ("DPBernoulliMixture", "check_dtype_object"): "the refusal quotes no cell",
    ("DPPoissonMixture", "check_dtype_object"): "the refusal quotes no cell",
    ("DPFactorAnalysis", "check_fit2d_1feature"): "one factor of one column explains nothing",
    ("DPPCA", "check_fit2d_1feature"): "one column has no correlations",
    ("DPProbabilisticPCA", "check_fit2d_1feature"): "one column has no factors",
    ("DPProbabilisticPCA", "check_dtype_object"): "the refusal quotes no cell",
    ("DPPCA", "check_dtype_object"): "the refusal quotes no cell",
    ("DPGaussianMixture", "check_dtype_object"): "the refusal quotes no cell",
    ("DPKMeans", "check_dtype_object"): "the refusal quotes no cell",
    ("DPFactorAnalysis", "check_dtype_object"): "the refusal quotes no cell",
}


def _name(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(
            one,
            marks=pytest.mark.full
            if isinstance(one, SLOWEST)
            else [pytest.mark.merge] * isinstance(one, SLOW),
        )
        for one in ESTIMATORS
    ],
    ids=lambda one: type(one).__name__,
)
def test_scikit_learns_own_checks(estimator: Any) -> None:
    """But for those of array libraries, which are not installed."""
    from sklearn.utils.estimator_checks import estimator_checks_generator  # a second to import

    checks = [
        pair for pair in estimator_checks_generator(estimator) if "array_api" not in _name(pair[1])
    ]
    every("estimator, check", checks)(passes)()


def passes(estimator: Any, check: Any) -> None:
    """A check of scikit-learn holds, unless a private fit must not pass it."""
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
    ("estimator", "model", "found", "theirs"),
    [
        (DPGaussianMixture(2, iterations=5), "gmm", "means_", "means"),
        (DPKMeans(2, iterations=5), "kmeans", "cluster_centers_", "centers"),
        (DPFactorAnalysis(2, iterations=5), "fa", "mean_", "mean"),
        (DPBernoulliMixture(2, iterations=5), "bernoulli", "chances_", "chances"),
        (DPPoissonMixture(2, iterations=5), "poisson", "rates_", "rates"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_estimator_is_the_fit_of_the_same_name(
    estimator: Any, model: str, found: str, theirs: str
) -> None:
    """The same numbers, ledger and guarantee as dp.fit."""
    bounds = (0, 10) if model == "poisson" else (-10, 10)
    one = clone(estimator).set_params(bounds=bounds, random_state=3).fit(rows())
    table = boxed(rows(), *bounds)
    two = dp.fit(model, table, privacy=dp.Privacy(1.0, 1e-5), n_components=2, iterations=5, seed=3)
    assert one.ledger_.fingerprint() == two.ledger.fingerprint()
    *same, steps = one.guarantee_.assumptions
    assert steps == UNFITTED_STEPS
    assert dataclasses.replace(one.guarantee_, assumptions=tuple(same)) == two.guarantee
    np.testing.assert_array_equal(getattr(one, found), getattr(two.parameters, theirs))


def test_without_bounds_nothing_is_fitted() -> None:
    with pytest.raises(dp.InputError, match="bounds: none were given"):
        DPKMeans().fit(rows())


@pytest.mark.parametrize("bounds", [[(0, 1), (2,)], (0, 1, 2), [("a", "b")] * 3])
def test_bounds_that_are_none_are_refused_in_one_sentence(bounds: Any) -> None:
    with pytest.raises(dp.InputError, match="bounds: they are not one pair"):
        DPKMeans(2, bounds=bounds, random_state=0).fit(rows())


@pytest.mark.parametrize(
    ("bounds", "radius"), [((-9.0, 9.0), None), ([(-9, 9), (-8, 8), (-7, 7)], None), (12.0, 12.0)]
)
def test_bounds_are_one_pair_a_pair_each_or_a_radius(bounds: Any, radius: float | None) -> None:
    model = DPKMeans(2, bounds=bounds, random_state=0).fit(rows())
    reach = np.linalg.norm(model.cluster_centers_, axis=1).max()
    assert reach <= (radius or np.sqrt(3) * 9.0)
    with pytest.raises(dp.InputError, match="bounds"):
        DPKMeans(2, bounds=[(-1, 1)] * 2).fit(rows())


@every(
    "around",
    [
        lambda model: VotingClassifier([("model", model)], voting="soft"),
        lambda model: StackingClassifier([("model", model)], cv=2),
        lambda model: BaggingClassifier(model, n_estimators=2, random_state=0),
        OneVsRestClassifier,
        OneVsOneClassifier,
    ],
)
def test_ensembles_that_replace_labels_are_told_the_numbers_they_use(around: Any) -> None:
    """The page on pipelines says so: other classes would find no label of theirs."""
    seen, labels = answers(seed=0)
    model = DPLogisticRegression(classes=(0, 1), epsilon=5.0, bounds=BOUNDS, random_state=0)
    assert around(model).fit(seen, labels).score(seen, labels) > 0.7
    chances = cross_val_predict(model, seen, labels, cv=2, method="predict_proba")
    assert np.mean((chances[:, 1] > 0.5) == (labels == "yes")) > 0.7


def test_a_generator_is_no_seed() -> None:
    """Its state would be shared; None is a release, a number a rehearsal that says so."""
    with pytest.raises(dp.InputError, match="random_state"):
        DPKMeans(bounds=BOUNDS, random_state=np.random.RandomState(0)).fit(rows())
    assert DPKMeans(bounds=BOUNDS, random_state=1).fit(rows()).guarantee_.rehearsal
    fresh = [DPKMeans(bounds=BOUNDS).fit(rows()) for _ in range(2)]
    assert not fresh[0].guarantee_.rehearsal
    assert not np.array_equal(fresh[0].cluster_centers_, fresh[1].cluster_centers_)


def test_distances_labels_and_scores_of_k_means() -> None:
    model = DPKMeans(2, epsilon=50.0, bounds=(-10, 10), random_state=0).fit(rows())
    away = model.transform(rows(50))
    np.testing.assert_array_equal(model.predict(rows(50)), away.argmin(axis=1))
    assert model.score(rows(50)) == pytest.approx(-(away.min(axis=1) ** 2).sum())
    assert list(model.get_feature_names_out()) == ["dpkmeans0", "dpkmeans1"]


@pytest.mark.parametrize("options", [{}, {"scale": (1e-6, 1.0, 1e6)}, {"origin": 1e6}], ids=str)
@pytest.mark.parametrize(
    "model",
    [DPGaussianMixture(2), DPFactorAnalysis(1), DPProbabilisticPCA(2), DPPCA()],
    ids=lambda one: type(one).__name__,
)
def test_densities_are_the_same_in_any_units(model: Any, options: dict[str, Any]) -> None:
    """Far from 0, squares of rows say nothing of them; small units have small variances."""
    scale, origin = np.array(options.get("scale", (1.0, 1.0, 1.0))), options.get("origin", 0.0)
    plain = clone(model).set_params(bounds=(-10, 10), random_state=0).fit(rows())
    bounds = [(origin - 10.0 * unit, origin + 10.0 * unit) for unit in scale]
    moved = clone(model).set_params(bounds=bounds, random_state=0).fit(origin + scale * rows())
    found = moved.score_samples(origin + scale * rows()) + np.log(scale).sum()
    np.testing.assert_allclose(found, plain.score_samples(rows()), rtol=1e-4, atol=1e-4)


def test_factors_of_rows_in_a_pipeline() -> None:
    pipe = make_pipeline(
        FunctionTransformer(), DPFactorAnalysis(1, epsilon=50.0, bounds=(-10, 10), random_state=0)
    )
    hidden = pipe.fit_transform(rows())
    assert hidden.shape == (4000, 1)
    side = rows()[:, 0] > 0
    assert abs(np.corrcoef(hidden[:, 0], side)[0, 1]) > 0.9
    model = pipe[-1]
    assert model.score_samples(rows()).mean() == pytest.approx(model.score(rows()))
    np.testing.assert_allclose(
        model.get_covariance(), np.cov(rows(), rowvar=False), rtol=0.2, atol=0.5
    )


def test_principal_components_are_those_of_the_fit_of_the_same_name() -> None:
    """Keeping fewer changes nothing of what is released; with much budget they are PCA's."""
    one = DPPCA(2, epsilon=500.0, bounds=(-10, 10), random_state=3).fit(rows())
    two = dp.fit("covariance", boxed(rows(), -10, 10), privacy=dp.Privacy(500.0, 1e-5), seed=3)
    assert one.ledger_.fingerprint() == two.ledger.fingerprint()
    np.testing.assert_array_equal(one.components_, two.parameters.components[:2])
    np.testing.assert_array_equal(one.covariance_, two.parameters.covariance)
    theirs = PCA(2).fit(rows())
    np.testing.assert_allclose(
        one.components_, theirs.components_, atol=0.05
    )  # near-equal variances
    np.testing.assert_allclose(one.explained_variance_, theirs.explained_variance_, rtol=0.02)
    np.testing.assert_allclose(
        one.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=0.01
    )
    places = one.transform(rows())
    np.testing.assert_allclose(places, theirs.transform(rows()), atol=0.2)
    back = one.inverse_transform(places)
    np.testing.assert_allclose(back, theirs.inverse_transform(theirs.transform(rows())), atol=0.2)
    whole = DPPCA(epsilon=500.0, bounds=(-10, 10), random_state=3).fit(rows())
    assert whole.score(rows()) == pytest.approx(PCA().fit(rows()).score(rows()), abs=0.01)
    assert list(one.get_feature_names_out()) == ["dppca0", "dppca1"]
    assert one.told_apart_ == one.fit_.told_apart is not None


@pytest.mark.parametrize("count", [0, 4, 1.5, "two"])
def test_components_that_cannot_be_kept_are_refused_before_the_fit(count: Any) -> None:
    model = DPPCA(count, bounds=(-10, 10), random_state=0)
    with pytest.raises(dp.InputError, match="n_components"):
        model.fit(rows())
    assert not hasattr(model, "fit_")


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (DPGaussianMixture(0), "n_components: 0 is below 1"),
        (DPKMeans(0), "n_clusters: 0 is below 1"),
        (DPKMeans(5000), "number of centres: there are more centres than rows"),
        (DPFactorAnalysis(1.5), "n_components: 1.5 is not a whole number"),
        (DPProbabilisticPCA(1.5), "n_components: 1.5 is not a whole number"),
    ],
    ids=str,
)
def test_a_refusal_names_a_parameter_of_the_estimator(model: Any, named: str) -> None:
    with pytest.raises(dp.InputError, match=f"^{named}"):
        model.set_params(bounds=(-10, 10)).fit(rows())


@pytest.mark.parametrize("model", ["mean", "covariance", "ppca"])
def test_a_model_without_parts_takes_no_number_of_them(model: str) -> None:
    with pytest.raises(dp.InputError, match=f"^n_components: model '{model}' takes no such option"):
        dp.fit(model, dp.load("bundled:three_groups"), privacy=None, n_components=5)


def test_one_column_is_refused_as_such() -> None:
    """Not by a number of components that would be refused as well."""
    with pytest.raises(dp.InputError, match="two or more"):
        DPPCA(2, bounds=(-10, 10)).fit(rows()[:, :1])


def test_places_need_a_column_for_each_component() -> None:
    model = DPPCA(2, bounds=(-10, 10), random_state=0).fit(rows())
    with pytest.raises(dp.InputError, match="X: it does not have one column per component; give 2"):
        model.inverse_transform(rows())


# --- regression ----------------------------------------------------------------------------------


def answers(count: int = 4000, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    seen = rng.normal(0.0, 1.0, (count, 2))
    return seen, np.where(rng.random(count) < 1 / (1 + np.exp(-2 * seen[:, 0])), "yes", "no")


def test_a_regression_is_the_fit_of_the_same_name() -> None:
    rows, said = answers()
    one = DPLogisticRegression(bounds=(-4, 4), classes=("no", "yes"), random_state=3).fit(
        rows, said
    )
    names = {"x0": (-4, 4), "x1": (-4, 4)}
    schema = dp.Schema.from_bounds(names)
    answer = Column("y", role="target", type="binary")
    schema = dataclasses.replace(schema, columns=(*schema.columns, answer))
    frame = pd.DataFrame(rows, columns=list(names)).assign(y=(said == "yes").astype(int))
    table = dp.load(frame, schema=schema)
    two = dp.fit("logistic", table, privacy=dp.Privacy(1.0, 1e-5), seed=3)
    assert one.ledger_.fingerprint() == two.ledger.fingerprint()
    *same, steps, other = one.guarantee_.assumptions
    assert steps == UNFITTED_STEPS
    assert other == "a label that is neither of the two classes counts as no"
    assert dataclasses.replace(one.guarantee_, assumptions=tuple(same)) == two.guarantee
    np.testing.assert_array_equal(one.coef_[0], two.parameters.coefficients)
    np.testing.assert_array_equal(one.intervals_, two.parameters.intervals())
    seen = custodian_outcomes(table)[1]
    units = two.parameters.in_units(custodian_outcomes(table)[0])
    np.testing.assert_allclose(one.predict_proba(rows)[:, 1], units.probabilities(seen)[0])
    np.testing.assert_array_equal(one.predict(rows) == "yes", one.decision_function(rows) > 0)
    assert one.score(*answers(seed=1)) > 0.7


@pytest.mark.parametrize("odd", ["NA", " ", "TRUE", None, pd.NA, pd.NaT, np.inf, LONG])
def test_a_frame_is_read_cell_by_cell_as_everywhere(
    odd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal of what is missing would tell of it, and so would another number elsewhere."""
    seen: list[Any] = []

    def fitted(self: Any, table: Any, model: str, **words: Any) -> Any:
        seen.append(table._frame.to_numpy())
        raise KeyError

    monkeypatch.setattr(DPKMeans, "_fitted_to", fitted)
    rows = pd.DataFrame({"a": [0.5] * 4, "b": [1.5] * 4}, dtype=object)
    rows.loc[2, "a"] = odd
    with pytest.raises(KeyError):
        DPKMeans(1, bounds=(-5, 5)).fit(rows)
    assert seen[0][[0, 1, 3]].tolist() == [[0.5, 1.5]] * 3
    with pytest.raises(dp.InputError, match=NO_NUMBER[1]):
        DPKMeans(1, bounds=(-5, 5)).fit(rows.assign(b="x"))
    with pytest.raises(KeyError):
        DPKMeans(1, bounds=(-5, 5)).fit(rows.to_numpy())
    np.testing.assert_array_equal(seen[0], seen[1])
    if isinstance(odd, str):
        with pytest.raises(KeyError):
            DPKMeans(1, bounds=(-5, 5)).fit(rows.to_numpy(dtype=str))
        np.testing.assert_array_equal(seen[0], seen[2])


def test_cells_mean_in_a_prediction_what_they_mean_in_a_fit() -> None:
    words = pd.DataFrame({"a": ["0", "TRUE", " 1 "], "b": ["1e0", "false", "0.5"]})
    numbers = pd.DataFrame({"a": [0.0, 1.0, 1.0], "b": [1.0, 0.0, 0.5]})
    model = DPKMeans(1, bounds=(-5, 5), random_state=0).fit(words)
    np.testing.assert_array_equal(model.transform(words), model.transform(numbers))
    with pytest.raises(dp.InputError, match=NO_NUMBER[1]):
        model.predict(words.replace("0", "1_000"))


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_a_missing_cell_never_ends_a_fit_that_was_paid_for(model: Any) -> None:
    """It takes its fill in what is said of rows too, and so does a masked or an infinite one; a
    missing outcome is a no."""
    rng, counts = np.random.default_rng(0), isinstance(model, DPLatentDirichletAllocation)
    whole = rng.integers(0, 4, (200, 3)).astype(float)
    gaps, fill = whole == 3.0, 0.0 if counts else 2.0
    forms = [np.where(gaps, odd, whole) for odd in (fill, np.nan)]
    forms += [np.ma.array(whole, mask=gaps)] * (not counts)
    classified = isinstance(model, DPLogisticRegression)
    outcomes = [np.ma.array(whole[:, 0] > 0, mask=gaps[:, 1]), (whole[:, 0] > 0) & ~gaps[:, 1]]
    answers = []
    for i, form in enumerate(forms):
        fresh = clone(model).set_params(random_state=0)
        if not counts:
            fresh.set_params(bounds=(0, 4))
        if classified:
            fresh.set_params(classes=(0, 1))
        fresh.fit(form, outcomes[i % 2] if classified else None)
        said = fresh.predict_proba if hasattr(fresh, "predict_proba") else fresh.transform
        answers.append(said(form))
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])


def test_bounds_are_given_in_many_forms() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (60, 3)), columns=list("abc"))
    limits = [(0, 1), (-1, 2), (0, 5)]
    forms: list[Any] = [limits, dict(zip("cba", limits[::-1], strict=True))]
    forms.append(tuple(zip(*limits, strict=True)))
    fits = [DPKMeans(2, bounds=form, random_state=0).fit(frame) for form in forms]
    for fit in fits:
        np.testing.assert_array_equal(fit.cluster_centers_, fits[0].cluster_centers_)
    with pytest.raises(dp.InputError, match="column 'c' has none"):
        DPKMeans(2, bounds={"a": (0, 1), "b": (0, 1)}).fit(frame)


def test_of_two_columns_lower_and_upper_limits_are_never_taken_for_pairs() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (60, 2)), columns=list("ab"))

    def limits(bounds: Any) -> list[tuple[float, float]]:
        fitted = DPKMeans(2, bounds=bounds, random_state=0).fit(frame)
        return [(c.lower, c.upper) for c in fitted.fit_.schema.numeric_columns()]

    pairs = [(-5.0, 5.0), (-4.0, 6.0)]
    for form in (pairs, tuple(pairs), [list(pair) for pair in pairs], np.array(pairs)):
        assert limits(form) == pairs
    assert limits((np.array([0, 0]), np.array([1, 5]))) == [(0.0, 1.0), (0.0, 5.0)]
    with pytest.raises(dp.InputError, match=r"ambiguous; give \{'a': \(lower, upper\), 'b'"):
        limits(([-5, -4], [5, 6]))
    for upside_down in ([(5, -5), (6, -4)], ((5, -5), (6, -4))):
        with pytest.raises(dp.InputError, match="is not below"):
            limits(upside_down)


def test_what_scikit_learn_has_of_groups_is_there_or_says_why_not() -> None:
    """`sample` and `fit_predict` are there; what is exact of the training rows is not."""
    seen = rows()
    mixture = DPGaussianMixture(2, epsilon=50.0, bounds=(-10, 10), random_state=0)
    np.testing.assert_array_equal(mixture.fit_predict(seen), mixture.predict(seen))
    drawn, component = mixture.sample(4000)
    assert drawn.shape == (4000, seen.shape[1])
    assert np.abs(drawn).max() <= 10.0
    middles = np.stack([drawn[component == k].mean(axis=0) for k in range(2)])
    np.testing.assert_allclose(middles, mixture.means_, atol=0.3)
    np.testing.assert_allclose(np.bincount(component) / 4000, mixture.weights_, atol=0.05)
    np.testing.assert_array_equal(mixture.sample(5)[0], mixture.sample(5)[0])
    with pytest.raises(dp.InputError, match="n_samples: 0 is below 1"):
        mixture.sample(0)
    centres = DPKMeans(2, bounds=(-10, 10), random_state=0)
    np.testing.assert_array_equal(centres.fit_predict(seen), centres.predict(seen))


# What scikit-learn's estimators of the kind have, by name, and what each of ours says of it.
LOOKED_FOR = {
    "aic": "use score", "bic": "use score", "inertia_": "use score", "loglike_": "use score",
    "lower_bound_": "use score", "bound_": "use score", "labels_": "pass rows to predict",
    "n_iter_": "fit_.settings", "converged_": "fit_.settings", "n_samples_": "may be private",
    "fit_predict": "does not assign rows to groups", "partial_fit": "ledger=", "sample": "draw",
}  # fmt: skip


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", list(LOOKED_FOR))
def test_what_users_of_scikit_learn_look_for_is_there_or_says_why_not(
    model: Any, name: str
) -> None:
    """Each name is a method, or an AttributeError that says what to do; clones are as before."""
    model, kind = clone(model), type(model).__name__
    if hasattr(model, name):
        assert callable(getattr(clone(model), name))
        assert name in ("fit_predict", "sample")
        return
    with pytest.raises(AttributeError, match=rf"^{kind} has no {name}: .*{LOOKED_FOR[name]}"):
        getattr(model, name)
    setattr(model, name, 1)  # and whoever sets it finds it
    assert getattr(model, name) == 1


def test_axes_give_rows_inside_the_bounds() -> None:
    """Factor analysis and principal components draw rows as mixtures do."""
    seen = rows()
    for limits, far in (((-10, 10), 10.0), (3.0, 3.0)):
        for model in (DPFactorAnalysis(1, bounds=limits, random_state=0), DPPCA(bounds=limits)):
            drawn = model.fit(seen).sample(500)
            assert drawn.shape == (500, seen.shape[1])
            assert np.abs(drawn).max() <= far


def test_a_refusal_counts_no_rows() -> None:
    model = DPLogisticRegression(bounds=(-10, 10), classes=(0, 1))
    with pytest.raises(
        dp.InputError, match=r"^y: it does not have as many outcomes as X has rows; give"
    ):
        model.fit(rows(), [0, 1])
    with pytest.raises(dp.InputError, match=r"^y: it is not one column; give"):
        model.fit(rows(), np.zeros((len(rows()), 2)))
    with pytest.raises(dp.InputError, match="random_state: -1 is below 0"):
        DPKMeans(2, bounds=(-10, 10), random_state=-1).fit(rows())


def test_outcomes_are_public_or_nothing_is_proved() -> None:
    rows, said = answers(500)
    read_off = DPLogisticRegression(bounds=(-4, 4), classes="infer", random_state=0).fit(rows, said)
    assert read_off.guarantee_.epsilon is None
    assert list(read_off.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(read_off.fit(rows, np.ma.array(said)).classes_, ["no", "yes"])
    with pytest.raises(ValueError, match="contains NaN"):
        read_off.fit(rows, np.ma.array(said, mask=said == "no"))
    strange = np.where(np.arange(500) == 7, "perhaps", said)  # one person's answer is no refusal
    known = DPLogisticRegression(bounds=(-4, 4), classes=("no", "yes"), random_state=0)
    assert known.fit(rows, strange).guarantee_.epsilon <= 1.0
    with pytest.raises(dp.InputError, match=r"classes: .*give two"):
        DPLogisticRegression(bounds=(-4, 4), classes=("a", "b", "c")).fit(rows, said)
    with pytest.raises(dp.InputError, match="bounds: none were given"):
        DPLogisticRegression(classes=("no", "yes")).fit(rows, said)


@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2), (-1, 1), (0, 1), (True, False), "abc"])
def test_classes_are_never_guessed(labels: Sequence[Any]) -> None:
    """A default would fit anything: of 1 and 2 it would turn every sign around."""
    rows, _ = answers(60)
    y = [labels[i % len(labels)] for i in range(60)]
    for words in ({}, {"classes": None}):
        with pytest.raises(
            dp.InputError, match=r'classes: none were given.*classes=\("no", "yes"\)'
        ):
            DPLogisticRegression(bounds=(-4, 4), **words).fit(rows, y)
    with pytest.raises(dp.InputError, match="a single text was given"):
        DPLogisticRegression(bounds=(-4, 4), classes="ab").fit(rows, y)
    with pytest.raises(dp.InputError, match=r"classes: they have no order; give a tuple"):
        DPLogisticRegression(bounds=(-4, 4), classes={"no", "yes"}).fit(rows, y)


@pytest.mark.parametrize("classes", [("no", "yes"), (1, 2), (-1, 1), (0, 1), (False, True)])
def test_the_second_class_is_the_one_that_is_modelled(classes: Sequence[Any]) -> None:
    rows, said = answers()
    y = np.where(said == "yes", classes[1], classes[0])
    model = DPLogisticRegression(bounds=(-4, 4), classes=classes, random_state=0).fit(rows, y)
    assert list(model.classes_) == list(classes)
    assert model.coef_[0, 0] > 0.5
    assert model.score(rows, y) > 0.7


def test_classes_are_sorted_as_scikit_learns_scores_and_committees_expect() -> None:
    """The second that is stated stays the one that is modelled, and the first what others mean."""
    rows, said = answers()
    y = np.where(said == "yes", "churns", "stays")
    model = DPLogisticRegression(bounds=(-4, 4), classes=("stays", "churns"), random_state=0)
    model.fit(rows, np.where(rows[:, 1] > 1.0, "?", y))
    usual = clone(model).set_params(classes=("no", "yes"))
    usual.fit(rows, np.where(rows[:, 1] > 1.0, "?", said))
    assert list(model.classes_) == ["churns", "stays"]
    assert "counts as stays" in model.guarantee_.assumptions[-1]
    np.testing.assert_array_equal(model.coef_, -usual.coef_)
    np.testing.assert_array_equal(model.intercept_, -usual.intercept_)
    np.testing.assert_array_equal(model.intervals_, -usual.intervals_[:, ::-1])
    np.testing.assert_array_equal(model.decision_function(rows), -usual.decision_function(rows))
    np.testing.assert_array_equal(model.predict_proba(rows), usual.predict_proba(rows)[:, ::-1])
    np.testing.assert_array_equal(model.predict(rows) == "stays", usual.predict(rows) == "no")
    for score in ("roc_auc", "neg_log_loss"):
        scorer = get_scorer(score)
        assert scorer(model, rows, y) == pytest.approx(scorer(usual, rows, said), rel=1e-9)


@pytest.mark.parametrize("odd", [0, "x", b"x", None, np.nan, 10**400, 2j, [1], 0.5])
@pytest.mark.parametrize(("yes", "classes"), [(1, (0, 1)), (True, (0, 1)), (1.5, (0, 1.5))])
def test_one_odd_label_never_changes_what_the_others_say(
    yes: object, classes: tuple[object, ...], odd: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list takes one type for all its cells: beside a text, a number becomes one."""
    seen: list[Any] = []

    def fitted(self: Any, table: Any, model: str, **words: Any) -> Any:
        seen.append(table._frame["y"].to_numpy())
        raise KeyError

    monkeypatch.setattr(DPLogisticRegression, "_fitted_to", fitted)
    with pytest.raises(KeyError):
        DPLogisticRegression(bounds=(-1, 1), classes=classes).fit(
            np.zeros((6, 1)), [yes] * 5 + [odd]
        )
    assert seen[0].tolist() == [1.0] * 5 + [0.0]


def test_classes_that_mean_the_same_are_refused() -> None:
    with pytest.raises(dp.InputError, match=r"classes: .*the same"):
        DPLogisticRegression(bounds=(-4, 4), classes=("1", "1.0")).fit(*answers(50))


def test_noise_in_the_objective_has_no_intervals() -> None:
    model = DPLogisticRegression(
        bounds=(-4, 4), classes=("no", "yes"), algorithm="objective", accountant="linear",
        random_state=0,
    ).fit(*answers())  # fmt: skip
    assert np.all(np.isnan(model.intervals_))
    assert model.score(*answers(seed=1)) > 0.7


def test_a_feature_may_be_called_y() -> None:
    rows, said = answers(200)
    frame = pd.DataFrame(rows, columns=["y", "y0"])
    model = DPLogisticRegression(bounds=(-4, 4), classes=("no", "yes"), random_state=0)
    assert model.fit(frame, said).coef_.shape == (1, 2)


# --- documents -----------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
def test_topics_are_the_fit_of_the_same_name(sparse: bool) -> None:
    corpus = load_documents("bundled:few_bars")
    bags = custodian_documents(corpus)[1]
    table = csr_array((bags.counts, bags.words, bags.starts), shape=(bags.count, bags.size))
    counts = table if sparse else table.toarray()
    model = DPLatentDirichletAllocation(10, epsilon=4.0, rate=1.0, length=100, random_state=3)
    one = model.fit(counts)
    asked = dp.Privacy(4.0, 1e-5)
    options: dict[str, Any] = {"n_components": 10, "rate": 1.0, "epochs": 3, "length": 100}
    two = dp.fit("lda", corpus, privacy=asked, seed=3, **options)
    assert one.ledger_.fingerprint() == two.ledger.fingerprint()
    assert one.guarantee_.epsilon == two.guarantee.epsilon
    np.testing.assert_allclose(
        one.components_, two.parameters.probabilities * two.parameters.mass[:, None]
    )
    mix = one.transform(counts)
    assert mix.shape == (1000, 10)
    np.testing.assert_allclose(mix.sum(axis=1), 1.0)
    assert one.perplexity(counts) == pytest.approx(metrics(two, corpus)["test_perplexity"])
    assert one.score(counts) == pytest.approx(-np.log(one.perplexity(counts)) * bags.counts.sum())


@pytest.mark.parametrize(
    "cell",
    ["Anna Muster", "sparse sample 7 of shape 2d", 777 + 3j],
    ids=["name", "words", "complex"],
)
def test_a_refusal_tells_of_no_cell(cell: Any) -> None:
    """Not even of one that reads like a refusal about shapes."""
    bad = np.array([[cell, 1.0, 2.0]] * 5, dtype=complex if isinstance(cell, complex) else object)
    with pytest.raises(dp.InputError, match="real numbers") as refused:
        DPKMeans(2, bounds=(0, 1)).fit(bad)
    assert refused.value.__suppress_context__
    for word in ("Muster", "sample", "777"):
        assert word not in str(refused.value)


@pytest.mark.parametrize("kind", [np.array, pd.Series])
def test_a_refusal_of_one_dimension_shows_no_row(kind: Any) -> None:
    with pytest.raises(dp.InputError, match="two-dimensional") as refused:
        DPKMeans(2, bounds=(0, 1)).fit(kind([0.7654321, 0.2]))
    assert "7654" not in str(refused.value)


def test_an_array_of_days_holds_no_numbers() -> None:
    """As a frame of days does not: read as numbers they would count seconds, or days, or years."""
    with pytest.raises(dp.InputError, match=NO_NUMBER[1]):
        DPKMeans(1, bounds=(0, 1)).fit(np.full((9, 2), "2020-01-01", "datetime64[s]"))


def test_a_table_of_arrows_has_the_names_of_its_columns() -> None:
    table = pd.DataFrame(rows(100)[:, :2], columns=["a", "b"])
    arrow = pa.Table.from_pandas(table)
    one, two = (DPKMeans(bounds=BOUNDS, random_state=0).fit(both) for both in (table, arrow))
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert two.feature_names_in_.tolist() == ["a", "b"]
    assert one.score(table) == two.score(arrow)


def test_cells_of_arrows_mean_what_those_of_a_frame_do() -> None:
    """Days would count as numbers of days, moments as microseconds, and 1_0 as ten."""
    model = DPKMeans(2, epsilon=50.0, bounds=(0, 10), random_state=0)
    words = pa.table({"a": ["TRUE", "0", "NA", "1"] * 50})
    found = clone(model).fit(words.to_pandas()).cluster_centers_
    np.testing.assert_array_equal(clone(model).fit(words).cluster_centers_, found)
    for cell in ("1_0", date(2020, 1, 1), datetime(2020, 1, 1)):
        with pytest.raises(dp.InputError, match=NO_NUMBER[1]):
            model.fit(pa.table({"a": [cell] * 50}))


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_what_is_not_fitted_says_so(model: Any) -> None:
    for name in ("predict", "predict_proba", "transform", "score_samples"):
        if hasattr(type(model), name):
            with pytest.raises(NotFittedError):
                getattr(clone(model), name)(np.ones((2, 3)))
    with pytest.raises(NotFittedError):
        clone(model).score(np.ones((2, 3)), np.ones(2))


@pytest.mark.parametrize("names", [["a", 0, 1], ["a", "b", "b"]])
def test_columns_that_share_a_name_are_told_as_such(names: list[Any]) -> None:
    twice = pd.DataFrame(rows(100), columns=names)
    model = DPKMeans(bounds=BOUNDS, random_state=0).fit(rows(100))
    for use in (model.predict, clone(model).fit):
        with pytest.raises(dp.InputError, match=r"^X: .*column names.*rename|not all different"):
            use(twice)
