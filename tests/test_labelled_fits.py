"""The labelled release: exact without noise, total, and as far off as the rule predicts."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import digamma
from support import every, examples

import dpcore as dp
from dpcore.accounting import replay
from dpcore.arrays import Array
from dpcore.datasets.labelled import labelled_classes, labelled_frame, labelled_table
from dpcore.errors import InputError
from dpcore.fitting.api import Grid, fit_grid
from dpcore.mechanisms.gaussian import symmetric_to_coordinates
from dpcore.models.labelled_mixture import PROVED, staged
from dpcore.models.labelled_mixture import mathematics as labelled
from dpcore.models.labelled_mixture import shaped_noise as shaped
from dpcore.models.labelled_mixture.mathematics import LabelledMixture, Place
from dpcore.models.labelled_mixture.private import RECIPE
from dpcore.models.labelled_mixture.published_mathematics import (
    classes_of,
    design,
    mapped_counts,
    r1smg_scale,
)
from dpcore.models.labelled_mixture.scoring import (
    YARDSTICK,
    ClassScorer,
    divergence,
    gaussian_divergence,
)
from dpcore.models.labelled_mixture.staged import BLIND, SHARES
from dpcore.privacy import Privacy
from dpcore.schema import Column, Schema
from dpcore.wall.noise import GridNoise
from dpcore.wall.statistics.mixture_moments import NoisyMoments
from dpcore.wall.table import PrivateTable

DELTA = 1e-5
ADJACENT = {
    "staged": ("label", "replace_one", "add_remove", "feature"),
    "gaussian": ("label", "replace_one", "add_remove", "feature"),
    "laplace": ("label", "replace_one", "add_remove", "feature"),
    "pooled": ("label", "replace_one", "add_remove", "feature"),
    "colored": ("label",),
    "mte": ("label",),
    "public_features": ("label",),
}


def simulated(n: int = 1000, classes: int = 5, d: int = 3, seed: int = 0) -> PrivateTable:
    return labelled_table(*labelled_classes(n, classes, d, np.random.default_rng(seed))[:2])


def request(epsilon: float = 1.0, adjacency: str = "label", **words: str) -> Privacy:
    return Privacy(epsilon=epsilon, delta=DELTA, adjacency=adjacency, **words)  # type: ignore[arg-type]


def medians(
    method: str, adjacency: str, epsilons: tuple[float, ...], n: int = 1000, mode: str = "proved"
) -> Array:
    """Median reverse divergence for each epsilon, over three tables and four draws."""
    found = []
    for seed in range(3):
        table = simulated(n, seed=seed)
        scorer = ClassScorer.judging(table, None)
        accountant = "linear" if (method, mode) == ("laplace", "proved") else "exact"
        asked = [
            request(epsilon, adjacency, mode=mode, accountant=accountant) for epsilon in epsilons
        ]
        grid = fit_grid("gmm-release", table, privacy=asked, draws=range(4), seed=1, method=method)
        found.append(YARDSTICK.measure(grid.runs.final, scorer, "reverse_kl").reshape(-1, 4))
    return np.asarray(np.median(np.concatenate(found, axis=1), axis=1))


# --- without noise -------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3])
def test_without_noise_the_release_is_the_exact_moments(d: int) -> None:
    rows, kinds, _ = labelled_classes(400, 3, d, np.random.default_rng(2))
    found = dp.fit("gmm-release", labelled_table(rows, kinds), privacy=None).parameters
    assert found.classes == ("0", "1", "2")
    np.testing.assert_allclose(found.weights, np.bincount(kinds) / len(rows), rtol=1e-12)
    for which in range(3):
        own = rows[kinds == which]
        np.testing.assert_allclose(found.means[which], own.mean(axis=0), rtol=1e-10, atol=1e-12)
        exact = np.cov(own.T, bias=True).reshape(d, d)
        np.testing.assert_allclose(found.covariances[which], exact, rtol=1e-8, atol=1e-9)
    assert found.expected_divergence == pytest.approx(0.0, abs=1e-12)
    assert found.warnings == ()


# --- guarantees ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "adjacency"), [(m, a) for m, several in ADJACENT.items() for a in several]
)
def test_every_proved_method_meets_its_budget_and_replays(method: str, adjacency: str) -> None:
    accountant = "linear" if method == "laplace" else "exact"
    table = simulated(300, 3, 2)
    fit = dp.fit(
        "gmm-release",
        table,
        privacy=request(1.0, adjacency, accountant=accountant),
        method=method,
        seed=3,
    )
    assert 0.999 <= fit.guarantee.epsilon <= 1.0 + 1e-7
    assert fit.guarantee.claim is None
    assert {entry.adjacency for entry in fit.ledger} == {adjacency}
    replay(fit.ledger, fit.guarantee.proof)
    said = " ".join(fit.guarantee.assumptions)
    assert ("only labels are protected" in said) == (adjacency == "label")
    assert ("labels are public" in said) == (adjacency == "feature")
    assert np.all(np.linalg.eigvalsh(fit.parameters.covariances) > 0.0)
    assert fit.parameters.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["mte", "public_features", "colored"])
@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove", "feature"])
def test_methods_of_public_features_are_refused_where_they_are_private(
    method: str, adjacency: str
) -> None:
    with pytest.raises(InputError, match="protects"):
        dp.fit("gmm-release", simulated(300), privacy=request(1.0, adjacency), method=method)


@pytest.mark.parametrize("method", ["staged", "mte", "public_features", "gaussian", "colored"])
def test_no_noise_depends_on_private_labels(method: str) -> None:
    """Other labels, same released values up to there: the ledger's noise is the same."""
    rows, kinds, _ = labelled_classes(300, 3, 2, np.random.default_rng(0))
    other = np.roll(kinds, 7)
    ledgers = [
        dp.fit(
            "gmm-release",
            labelled_table(rows, each),
            privacy=request(),
            method=method,
            seed=5,
        ).ledger.as_list()
        for each in (kinds, other)
    ]
    assert ledgers[0] == ledgers[1]


def test_auto_looks_at_adjacency_and_budget_alone() -> None:
    def releases(epsilon: float, adjacency: str) -> list[str]:
        fit = dp.fit("gmm-release", simulated(), privacy=request(epsilon, adjacency), seed=0)
        return [entry.what for entry in fit.ledger]

    assert len(releases(1.0, "label")) == 1  # a table of public shapes
    assert len(releases(20.0, "label")) == len(SHARES)  # staged
    for adjacency in ("replace_one", "add_remove", "feature"):
        assert len(releases(1.0, adjacency)) == len(SHARES)


def test_what_no_paper_prints_is_refused_as_published() -> None:
    with pytest.raises(InputError, match="no paper prints staged"):
        RECIPE.settings(method="staged", mode="paper")


def test_every_proved_plan_spends_its_whole_budget() -> None:
    """Shares of mu^2 add up to 1 at noise multiplier 1."""
    for method in set(PROVED) - {"laplace"}:
        events = RECIPE.events(RECIPE.settings(method=method))
        spent = sum(1.0 / event.mechanism.noise_multiplier**2 for event in events)
        assert spent == pytest.approx(1.0)


# --- usefulness ----------------------------------------------------------------------------------


def test_the_staged_release_beats_the_plain_rivals_at_the_same_guarantee() -> None:
    for adjacency in ("label", "replace_one"):
        staged = medians("staged", adjacency, (1.0, 5.0))
        gaussian = medians("gaussian", adjacency, (1.0, 5.0))
        laplace = medians("laplace", adjacency, (1.0, 5.0))
        assert np.all(staged < gaussian / 5.0)
        assert np.all(staged < laplace / 5.0)


def test_few_rows_far_inside_their_limits_are_found_by_more_of_the_same_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The histogram of distances has the noise of a later step, and that step the histogram's."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(3, size=600)
    rows = 0.15 + 0.09 * rng.standard_normal((3, 4))[kinds] + 0.06 * rng.standard_normal((600, 4))
    frame = pd.DataFrame(rows).add_prefix("x").assign(kind=np.array(["a", "b", "c"])[kinds])
    label = Column("kind", role="label", type="category", categories=("a", "b", "c"))
    features = (Column(f"x{at}", lower=-1, upper=1) for at in range(4))
    table = dp.load(frame, schema=Schema((*features, label)))
    scorer, found = ClassScorer.judging(table, None), []
    for limits in (BLIND, (math.inf,) * 3):
        monkeypatch.setattr(staged, "BLIND", limits)
        asked = [request(0.3, "replace_one")]
        grid = fit_grid(
            "gmm-release", table, privacy=asked, draws=range(40), method="staged", seed=1
        )
        noises = [entry.noise_scale / entry.sensitivity for entry in grid.ledger.at(0).entries]
        found.append((np.median(YARDSTICK.measure(grid.runs.final, scorer, "reverse_kl")), noises))
    (better, exchanged), (worse, planned) = found
    assert better < 0.75 * worse
    assert exchanged == pytest.approx([planned[at] for at in (4, 1, 2, 3, 0, 5, 6)])


@every("method", ["staged", "mte", "public_features", "pooled", "gaussian"])
def test_classes_have_together_no_more_rows_than_a_public_table(method: str) -> None:
    """Where noise hides them, each was once said to have as many as the noise."""
    fit = dp.fit(
        "gmm-release",
        dp.load("bundled:iris"),
        privacy=request(0.05, "label" if method in ("mte", "public_features") else "replace_one"),
        method=method,
        seed=0,
    )
    assert fit.parameters.sizes.sum() <= 150.0 * (1.0 + 1e-9)
    assert np.all(fit.parameters.sizes > 0.0)


def test_with_many_rows_the_staged_release_comes_near_what_is_attainable() -> None:
    found = medians("staged", "label", (1.0,), n=20_000)[0]
    scorer = ClassScorer.judging(simulated(20_000), None)
    mu = np.array([1.0 / 3.7306])
    best = labelled.attainable(3, mu, scorer.exact.sizes, touched=2.0)[0]
    assert best < found < 15.0 * best
    assert found < 0.02


def test_a_class_of_few_rows_is_said_to_be_lost() -> None:
    rows, kinds, _ = labelled_classes(600, 3, 2, np.random.default_rng(4))
    kinds = np.where(np.arange(600) < 4, 2, np.minimum(kinds, 1))
    table = labelled_table(rows, kinds)
    few = dp.fit("gmm-release", table, privacy=request(3.0, "add_remove"), method="staged", seed=1)
    assert any("2" in line for line in few.parameters.warnings)
    nothing = dp.fit(
        "gmm-release", table, privacy=request(0.02, "add_remove"), method="staged", seed=1
    )
    assert "too small" in nothing.parameters.warnings[0]


def test_synthetic_rows_carry_their_class_and_teach_a_classifier() -> None:
    table = simulated(2000)
    fit = dp.fit("gmm-release", table, privacy=request(4.0), seed=0)
    frame = fit.sample(500)
    assert list(frame.columns) == [*fit.parameters.columns, table.schema.label]
    assert set(frame[table.schema.label]) <= set(fit.parameters.classes)
    accuracy = YARDSTICK.measure(
        fit.parameters.in_units(ClassScorer.judging(table).public),
        ClassScorer.judging(table),
        "accuracy",
    )
    assert accuracy[0] > 0.9


# --- total ---------------------------------------------------------------------------------------


@examples(150)
@given(
    arrays(np.float64, (2, 3), elements=st.floats(allow_nan=True, allow_infinity=True)),
    arrays(np.float64, (2, 3, 2), elements=st.floats(allow_nan=True, allow_infinity=True)),
    arrays(np.float64, (2, 3, 2, 2), elements=st.floats(allow_nan=True, allow_infinity=True)),
    st.floats(0.0, 1e12),
    st.sampled_from(["reverse", "forward"]),
)
def test_any_released_numbers_give_a_valid_mixture(
    counts: Array, sums: Array, squares: Array, sd: float, target: str
) -> None:
    noise = np.full(2, sd)
    noisy = NoisyMoments(counts, sums, squares, noise, noise, noise)
    sizes = labelled.usable(counts, noise)
    place = Place(np.zeros((1, 3, 2)), np.broadcast_to(np.eye(2), (1, 3, 2, 2)))
    means, covariances, doubt = labelled.gaussians(noisy, sizes, place, target=target, clipped=True)
    weights = labelled.shares(counts, doubt, target)
    for found in (means, covariances, doubt, weights):
        assert np.all(np.isfinite(found))
    assert np.all(np.linalg.eigvalsh(covariances) > 0.0)
    assert np.all(weights > 0.0)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)


# --- as published --------------------------------------------------------------------------------


def paper_grid(table: PrivateTable, epsilons: tuple[float, ...], **options: str) -> Grid:
    asked = [request(epsilon, "label", mode="paper") for epsilon in epsilons]
    return fit_grid("gmm-release", table, privacy=asked, draws=range(6), seed=0, **options)


def test_as_published_nothing_is_proved_and_the_claim_says_why() -> None:
    for method in ("paper", "laplace", "gaussian", "colored", "r1smg"):
        grid = paper_grid(simulated(), (1.0,), method=method)
        guarantee = grid.guarantee()
        assert guarantee.epsilon is None
        assert not guarantee.claim.holds
        assert guarantee.claim.reasons
        assert not grid.ledger.proved


def test_as_published_is_refused_for_a_release_of_private_rows() -> None:
    rows, kinds, _ = labelled_classes(200, 2, 2, np.random.default_rng(0))
    frame, schema = labelled_frame(rows, kinds)
    table = PrivateTable.seal(frame, schema)
    with pytest.raises(InputError, match="give a seed for a rehearsal"):
        dp.fit("gmm-release", table, privacy=request(1.0, "label", mode="paper"))
    assert dp.fit("gmm-release", table, privacy=request(1.0, "label", mode="paper"), seed=1)


def test_algorithm_1_never_moves_the_mapping_s_third_and_settles_in_two_steps() -> None:
    rows, kinds, _ = labelled_classes(1000, 5, 3, np.random.default_rng(0))
    classes = classes_of(rows, kinds.astype(np.intp), 5, "all")
    for epsilon in (0.5, 1.0, 5.0):
        plan = design(classes, epsilon, DELTA)
        assert plan.mapping == epsilon / 3.0
        assert len(plan.objective) <= 4
        spent = plan.mapping + plan.means + 1.5 * plan.gammas / [c.count for c in classes]
        np.testing.assert_allclose(spent, epsilon)


def test_the_scalable_noise_is_equation_32_for_labels() -> None:
    """8 B ln(2/delta) / (N_k epsilon_k)^2, whatever the rows; sizes are still mapped at random."""
    rows, kinds, _ = labelled_classes(1000, 5, 3, np.random.default_rng(0))
    found = classes_of(rows, kinds.astype(np.intp), 5, "scalable", 4.0)
    for each in found:
        np.testing.assert_allclose(each.shape, 16.0 / each.count**2 * np.eye(3))
    grid = paper_grid(simulated(), (1.0,), neighbours="scalable")
    claim = grid.guarantee().claim
    assert not claim.holds
    assert any("norm bound" in reason for reason in claim.reasons)
    assert any("mapping" in reason for reason in claim.reasons)
    assert np.all(np.isfinite(grid.runs.final.means))


def test_as_published_there_is_a_floor_that_no_budget_lowers() -> None:
    """gamma is capped, so the Wishart noise never vanishes: 0.5 to 0.8 at epsilon 50."""
    table = simulated()
    scorer = ClassScorer.judging(table, None)
    found = YARDSTICK.measure(paper_grid(table, (5.0, 50.0)).runs.final, scorer, "reverse_kl")
    late = np.median(found[6:])
    assert 0.4 < late < 0.9
    assert np.median(found[:6]) < 1.6 * late


def test_the_printed_divergence_grows_where_the_noise_vanishes_and_the_true_one_falls() -> None:
    """Proposition 1 has E ln|W| of Wishart noise W where E ln|I + W| belongs; at covariance I."""
    dim = 3
    normal = np.random.default_rng(0).standard_normal((20_000, dim + 1, dim))
    units = np.swapaxes(normal, 1, 2) @ normal
    places = digamma((dim + 2 - np.arange(1, dim + 1)) / 2.0)  # of psi_d((d + 1) / 2)
    printed, true = [], []
    for gamma in (dim + 1.0, 1e4):  # where Algorithm 1 stops, and nearly no noise
        log = dim * np.log(2.0 / gamma) + places.sum()
        assert np.linalg.slogdet(units / gamma)[1].mean() == pytest.approx(log, abs=0.03)
        printed.append(0.5 * (dim * (dim + 1) / gamma - log))
        apart = np.trace(units, axis1=1, axis2=2) / gamma
        true.append(0.5 * np.mean(apart - np.linalg.slogdet(np.eye(dim) + units / gamma)[1]))
    assert printed[1] > printed[0] + 5.0
    assert true[1] < 1e-4 < 0.4 < true[0]


def test_the_random_mapping_keeps_rows_and_reaches_one_flip() -> None:
    rng, found = np.random.default_rng(0), []
    for first in [0.5] * 2000 + [0.0] * 200:
        mapped = mapped_counts(np.array([5, 1, 9]), np.array([first, *rng.random(4)]))
        assert mapped.sum() == 15
        assert mapped.min() >= 1
        found.append(tuple(mapped))
    assert len(set(found[:2000])) == 5  # the class of one row loses none


def test_the_smoothing_of_the_mapping_is_even_over_all_class_sizes() -> None:
    rng, runs = np.random.default_rng(0), 6000
    found = Counter(
        tuple(mapped_counts(np.array([1, 1, 3]), np.array([0.0, *rng.random(4)])).tolist())
        for _ in range(runs)
    )
    assert len(found) == 6  # of 5 rows in 3 classes
    assert all(abs(count / runs - 1 / 6) < 0.02 for count in found.values())


def test_rank_one_noise_tends_to_its_printed_limit() -> None:
    assert r1smg_scale(1.0, 2.0, DELTA, 100_000) == pytest.approx(1.0, rel=1e-2)
    with pytest.raises(InputError, match="three columns"):
        r1smg_scale(1.0, 1.0, DELTA, 2)


def test_small_classes_and_other_adjacencies_are_refused_as_published() -> None:
    rows = np.random.default_rng(0).standard_normal((30, 3))
    table = labelled_table(rows, np.repeat([0, 1], [26, 4]))
    with pytest.raises(InputError, match="two more rows"):
        paper_grid(table, (1.0,))
    with pytest.raises(InputError, match="protects a label"):
        dp.fit("gmm-release", table, privacy=request(1.0, "replace_one", mode="paper"))


# --- divergence ----------------------------------------------------------------------------------


def mixture(shift: float = 0.0, scale: float = 1.0) -> LabelledMixture:
    return LabelledMixture(
        np.array([[0.3, 0.7]]),
        np.array([[[0.0, shift], [3.0, 1.0]]]),
        np.array([[scale * np.eye(2), 2.0 * np.eye(2)]]),
        np.array([[3.0, 7.0]]),
        np.zeros((1, 2)),
        np.array([["a", "b"]]),
    )


def test_divergence_is_zero_at_itself_and_the_closed_form_elsewhere() -> None:
    assert divergence(mixture(), mixture())[0] == pytest.approx(0.0, abs=1e-12)
    found = divergence(mixture(1.0, 3.0), mixture())[0]
    assert found == pytest.approx(0.3 * 0.5 * (6.0 + 1.0 - 2.0 - 2.0 * np.log(3.0)))


def test_divergence_of_gaussians_agrees_with_draws() -> None:
    rng = np.random.default_rng(0)
    one, two = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -0.2], [-0.2, 3.0]])
    rows = rng.multivariate_normal([0.0, 1.0], one, 200_000)

    def log(gap: Array, shape: Array) -> Array:
        solved = np.einsum("ni,ij,nj->n", gap, np.linalg.inv(shape), gap)
        return np.asarray(-0.5 * (solved + np.linalg.slogdet(shape)[1]))

    gaps = log(rows - [0.0, 1.0], one) - log(rows - [1.0, 0.0], two)
    exact = gaussian_divergence(np.array([0.0, 1.0]), one, np.array([1.0, 0.0]), two)
    assert abs(gaps.mean() - exact) < 5.0 * gaps.std() / np.sqrt(len(gaps))


# --- shaped noise --------------------------------------------------------------------------------


def test_information_is_that_of_draws() -> None:
    rows = np.random.default_rng(0).standard_normal((400_000, 2))
    outer = symmetric_to_coordinates(rows[:, :, None] * rows[:, None, :])
    vectors = np.concatenate([np.ones((len(rows), 1)), rows, outer], axis=1)
    drawn = vectors.T @ vectors / len(rows)
    np.testing.assert_allclose(shaped.information(2), drawn, atol=0.05)


@pytest.mark.parametrize("d", [1, 3])
def test_shaped_vectors_are_no_longer_than_one_and_lead_back(d: int) -> None:
    rows = np.random.default_rng(1).standard_normal((300, d))
    white, root = shaped.shaped(rows)
    assert np.linalg.norm(white, axis=1).max() <= 1.0
    assert np.linalg.norm(white, axis=1).max() > 0.999
    counts, sums, squares = shaped.unpacked(white @ root, d)
    np.testing.assert_allclose(counts, 1.0, rtol=1e-6)
    np.testing.assert_allclose(sums, rows, atol=1e-6)
    np.testing.assert_allclose(squares, rows[:, :, None] * rows[:, None, :], atol=1e-6)


@pytest.mark.parametrize("method", ["mte", "colored", "paper"])
def test_either_solver_shapes_the_noise_alike(method: str) -> None:
    """The same noise drawn: what is released differs by no more than the solvers do."""
    mode = "paper" if method == "paper" else "proved"
    asked = request(20.0, mode=mode, accountant="linear" if mode == "paper" else "exact")
    ours, theirs = (
        fit_grid(
            "gmm-release", simulated(300, 2, 2), privacy=(asked,), seed=1, method=method, solver=one
        )
        for one in ("exact", "cvxpy")
    )
    for name in ("means", "covariances"):
        a, b = (getattr(one.runs.final, name) for one in (ours, theirs))
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
    assert theirs.settings.solver == "cvxpy"


# --- hostile tables ------------------------------------------------------------------------------


def hostile(kind: str) -> PrivateTable:
    """Rows that no schema would promise, behind one that does."""
    rng = np.random.default_rng(0)
    frame, schema = labelled_frame(rng.standard_normal((40, 2)), np.arange(40) % 3)
    if kind == "undefined":
        frame.loc[:5, "x1"] = np.nan
        frame.loc[6:9, "x2"] = np.inf
        frame.loc[10:12, "x1"] = -1e300
    if kind == "equal":
        frame[["x1", "x2"]] = 0.25
    if kind == "no class":
        frame["kind"] = "elsewhere"
    if kind == "one class":
        frame["kind"] = "1"
    if kind in ("few", "single"):
        frame = frame.iloc[: 2 if kind == "few" else 1]
    return PrivateTable.seal(frame, schema)


@every("kind", ["undefined", "equal", "no class", "one class", "few", "single"])
@every("method, adjacency", [(m, a) for m, several in ADJACENT.items() for a in several])
def test_any_table_gives_a_valid_mixture(kind: str, method: str, adjacency: str) -> None:
    accountant = "linear" if method == "laplace" else "exact"
    for epsilon in (0.1, 50.0):
        found = dp.fit(
            "gmm-release",
            hostile(kind),
            privacy=request(epsilon, adjacency, accountant=accountant),
            method=method,
            seed=2,
        ).parameters
        for part in (found.weights, found.means, found.covariances, found.sizes, found.doubt):
            assert np.all(np.isfinite(part))
        assert np.all(found.weights > 0.0)
        assert np.all(np.linalg.eigvalsh(found.covariances) > 0.0)


@pytest.mark.parametrize(
    ("method", "adjacency"),
    [("staged", each) for each in ADJACENT["staged"]] + [("mte", "label"), ("auto", "label")],
)
def test_a_release_with_whole_numbers_as_noise_is_proved_too(method: str, adjacency: str) -> None:
    rows, kinds, _ = labelled_classes(300, 3, 2, np.random.default_rng(0))
    frame, schema = labelled_frame(rows, kinds)
    grid = fit_grid(
        "gmm-release",
        PrivateTable.seal(frame, schema),
        privacy=(request(1.0, adjacency, accountant="zcdp_tight"),),
        on_grid=GridNoise(),
        method=method,
    )
    guarantee = grid.guarantee()
    assert guarantee.epsilon <= 1.0 + 1e-7
    assert {entry.noise for entry in grid.ledger} == {"discrete_gaussian"}
