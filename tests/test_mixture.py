"""The mixture: without noise it is the textbook's EM; with noise, whatever comes is a mixture."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sealed_rows import boxed
from support import every, examples

import dpcore as dp
from dpcore.evaluation.yardstick import mapped
from dpcore.fitting.api import fit_grid
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.gaussian_mixture import published as gmm_published
from dpcore.models.gaussian_mixture.common_shape import CommonShape
from dpcore.models.gaussian_mixture.group_frames import (
    Groups,
    Whole,
    held,
    left_by_clipping,
    merged,
    pooled_shapes,
    sharing,
)
from dpcore.models.gaussian_mixture.mathematics import Mixture, Prior
from dpcore.models.gaussian_mixture.parameters import MixtureParameters
from dpcore.models.gaussian_mixture.scoring import YARDSTICK
from dpcore.models.shared.moments import (
    by_columns,
    drawn_in,
    drawn_to_round,
    floored_eigenvalues,
    inside,
    one_gaussian,
    structured,
)
from dpcore.schema import Schema
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.data.clipping_frame import Frame, whitening
from dpcore.wall.kernels.bounded_sums import Rows, bounded_sum
from dpcore.wall.statistics.mixture_moments import MixtureMoments, NoisyMoments
from dpcore.wall.statistics.statistic import STRUCTURES, Structure

SHAPES = [(1, 1), (2, 1), (3, 2), (2, 4), (5, 3), (4, 6)]  # (components, dim)


def crowd(components: int, dim: int, count: int = 400) -> np.ndarray:
    """Rows of some overlapping groups, inside [-1, 1]^d."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(-0.5, 0.5, (components, dim))
    spread = rng.uniform(0.05, 0.25, (components, dim, dim))
    member = rng.integers(components, size=count)
    rows = centres[member] + np.einsum("nij,nj->ni", spread[member], rng.normal(size=(count, dim)))
    return np.clip(rows, -1, 1)


def a_start(components: int, dim: int, structure: str, seed: int = 1) -> Mixture:
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(components, dim, dim))
    full = roots @ np.swapaxes(roots, 1, 2) / dim + 0.2 * np.eye(dim)
    diagonal = np.einsum("kii->ki", full)
    shapes = {
        "full": full,
        "diag": diagonal[..., None] * np.eye(dim),
        "spherical": diagonal.mean(1)[:, None, None] * np.eye(dim),
    }[structure]
    weights = rng.dirichlet(5 * np.ones(components))
    return Mixture(weights[None], 0.4 * rng.normal(size=(1, components, dim)), shapes[None])


def released(rows: np.ndarray, mixture: Mixture, structure: Structure) -> NoisyMoments:
    """What leaves the wall without noise and without clipping."""
    form = MixtureMoments(mixture.components, mixture.dim, structure, 1.0, 1.0, 1.0, 1.0)
    frame = Frame.identity(mixture.dim, math.inf)
    e_step = gmm.responsibilities(mixture, structure)
    total = bounded_sum(Rows(rows), frame, form, e_step, mixture.runs)

    silence = dict.fromkeys(("counts", "sums", "squares"), np.zeros(mixture.runs))
    return form.released(None, total, silence, None)  # type: ignore[arg-type]


def sklearn_steps(rows: np.ndarray, start: Mixture, structure: str, steps: int) -> list[Mixture]:
    """The same EM by scikit-learn, one step at a time."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    dim, found, now = rows.shape[1], [], start
    for _ in range(steps):
        precisions = np.linalg.inv(now.covariances[0])
        given_as = {
            "full": precisions,
            "diag": np.einsum("kii->ki", precisions),
            "spherical": precisions[:, 0, 0],
        }[structure]
        oracle = GaussianMixture(
            now.components,
            covariance_type=structure,
            reg_covar=0.0,
            max_iter=1,
            tol=0.0,
            weights_init=now.weights[0],
            means_init=now.means[0],
            precisions_init=given_as,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            oracle.fit(rows)
        shapes = {
            "full": lambda c: c,
            "diag": lambda c: c[..., None] * np.eye(dim),
            "spherical": lambda c: c[:, None, None] * np.eye(dim),
        }[structure](oracle.covariances_)
        now = Mixture(oracle.weights_[None], oracle.means_[None], shapes[None])
        found.append(now)
    return found


def assert_same(one: Mixture, other: Mixture, tolerance: float = 1e-6) -> None:
    for mine, theirs in zip(
        (one.weights, one.means, one.covariances),
        (other.weights, other.means, other.covariances),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


# ------------------------------------------------------------------ noise zero is plain EM


@every("structure", STRUCTURES)
@every("components, dim", SHAPES)
def test_without_noise_steps_are_scikit_learns(
    structure: Structure, components: int, dim: int
) -> None:
    rows, mine = crowd(components, dim), a_start(components, dim, structure)
    for theirs in sklearn_steps(rows, mine, structure, 6):
        mine = gmm.m_step(released(rows, mine, structure), len(rows), None)
        assert_same(mine, theirs)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize(("components", "dim"), [(2, 1), (3, 2), (2, 4)])
def test_a_fit_without_privacy_is_em_in_own_units(
    structure: Structure, components: int, dim: int
) -> None:
    """The whole path, whitening and back, against scikit-learn on the rows as they are."""
    rows = 50 + 40 * crowd(components, dim)
    table = boxed(rows, 0, 100)
    fit = dp.fit("gmm", table, privacy=None, n_components=components, iterations=5,
                 covariance=structure)  # fmt: skip
    units = (rows - 50) / 50
    covariance = np.atleast_2d(np.cov(units.T, bias=True))
    frame_shape = {
        "full": covariance,
        "diag": np.diag(np.diag(covariance)),
        "spherical": np.trace(covariance) / dim * np.eye(dim),
    }[structure]
    frame = Frame.whitening(units.mean(0)[None], frame_shape[None], math.inf)
    first = gmm.start(1, components, dim, 0)
    begin = Mixture(
        first.weights,
        50 + 50 * frame.means_back(first.means),
        2500 * frame.covariances_back(first.covariances),
    )
    public = PublicFrame.of(Schema.from_bounds({f"x{i}": (-1, 1) for i in range(dim)}))
    for mine, theirs in zip(fit.history, sklearn_steps(rows, begin, structure, 5), strict=True):
        sorted_theirs = MixtureParameters.from_units(theirs, 0, public)
        np.testing.assert_allclose(mine.weights, sorted_theirs.weights, rtol=1e-5)
        np.testing.assert_allclose(mine.means, sorted_theirs.means, rtol=1e-5)
        np.testing.assert_allclose(
            mine.covariances, sorted_theirs.covariances, rtol=1e-4, atol=1e-2
        )


def test_without_noise_map_is_the_papers() -> None:
    """DP-EM Eq. 12 and footnotes 5 to 8, written out for one step."""
    rows, mixture, prior = crowd(2, 3), a_start(2, 3, "full"), Prior()
    moments = released(rows, mixture, "full")
    found = gmm.m_step(moments, len(rows), prior)
    d, n = 3, len(rows)
    for k in range(2):
        count, total, square = moments.counts[0, k], moments.sums[0, k], moments.squares[0, k]
        mean = total / count
        scatter = square - count * np.outer(mean, mean)
        shape = 0.1 * np.eye(d) + scatter + count / (1 + count) * np.outer(mean, mean)
        assert found.weights[0, k] == pytest.approx((count + 1) / (n + 2))
        np.testing.assert_allclose(found.means[0, k], total / (count + 1))
        expected = shape / (count + (d + 2) + d + 2)
        np.testing.assert_allclose(found.covariances[0, k], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("prior", [None, Prior()])
def test_published_step_is_the_papers_equations(prior: Prior | None) -> None:
    """Eqs. 13 to 19 in the unit ball, written out; and without prior, plain EM."""
    rows, mixture = 0.5 * crowd(2, 3), a_start(2, 3, "full")
    moments = released(rows, mixture, "full")
    found = gmm_published.m_step(moments, len(rows), prior)
    n, d = len(rows), 3
    for k in range(2):
        count, total, square = moments.counts[0, k], moments.sums[0, k], moments.squares[0, k]
        mean = total / count
        outer = count * np.outer(mean, mean)
        if prior is None:
            expected = count / n, mean, (square - outer) / count
        else:
            shape = 0.1 * np.eye(d) + square - outer + outer / (1 + count)
            expected = (count + 1) / (n + 2), total / (count + 1), shape / (count + 2 * d + 4)
        assert found.weights[0, k] == pytest.approx(expected[0])
        np.testing.assert_allclose(found.means[0, k], expected[1], rtol=1e-9)
        np.testing.assert_allclose(found.covariances[0, k], expected[2], rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------ the E step


@pytest.mark.parametrize("structure", STRUCTURES)
def test_e_step_is_a_sum_over_rows(structure: Structure) -> None:
    """Parts add up, order does not matter, and no row's share depends on another row."""
    rows, mixture = crowd(3, 2), a_start(3, 2, structure)
    whole = released(rows, mixture, structure)
    parts = [released(part, mixture, structure) for part in (rows[:150], rows[150:])]
    single = [released(rows[i : i + 1], mixture, structure) for i in range(len(rows))]
    turned = released(rows[::-1], mixture, structure)
    for name in ("counts", "sums", "squares"):
        expected = getattr(whole, name)
        for others in (parts, single, [turned]):
            total = sum(getattr(other, name) for other in others)
            np.testing.assert_allclose(total, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_responsibilities_are_bayes_rule(structure: Structure) -> None:
    from scipy.stats import multivariate_normal

    rows, mixture = crowd(3, 2, 50), a_start(3, 2, structure)
    joint = np.array(
        [
            w * multivariate_normal(m, c).pdf(rows)
            for w, m, c in zip(
                mixture.weights[0], mixture.means[0], mixture.covariances[0], strict=True
            )
        ]
    )
    expected = (joint / joint.sum(0)).sum(1)
    np.testing.assert_allclose(released(rows, mixture, structure).counts[0], expected, rtol=1e-10)


def test_rows_far_from_every_component_still_belong_somewhere() -> None:
    narrow = replace(
        a_start(2, 2, "full"), covariances=np.full((1, 2, 2, 2), 0.0) + 1e-6 * np.eye(2)
    )
    counts = released(np.array([[1.0, 1.0], [-1.0, 1.0]]), narrow, "full").counts
    assert counts.sum() == pytest.approx(2.0)


@pytest.mark.parametrize(("components", "dim"), SHAPES)
def test_log_density_is_scipys(components: int, dim: int) -> None:
    from scipy.special import logsumexp
    from scipy.stats import multivariate_normal

    rows, mixture = crowd(components, dim), a_start(components, dim, "full")
    logs = [
        math.log(w) + multivariate_normal(m, c).logpdf(rows)
        for w, m, c in zip(
            mixture.weights[0], mixture.means[0], mixture.covariances[0], strict=True
        )
    ]
    expected = np.mean(logsumexp(logs, axis=0))
    assert gmm.log_density(mixture, rows)[0] == pytest.approx(expected, rel=1e-10)


def test_log_density_of_a_batch_is_that_of_each() -> None:
    rows = crowd(2, 2, 5000)
    each = [a_start(2, 2, "full", seed) for seed in range(5)]
    batch = stacked(each)
    np.testing.assert_allclose(
        gmm.log_density(batch, rows), [gmm.log_density(one, rows)[0] for one in each], rtol=1e-12
    )


def stacked(each: list[Mixture]) -> Mixture:
    return Mixture(
        np.concatenate([m.weights for m in each]),
        np.concatenate([m.means for m in each]),
        np.concatenate([m.covariances for m in each]),
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_samples_have_the_mixtures_moments(seed: int) -> None:
    mixture, count = a_start(3, 2, "full", seed), 200_000
    rows, component = gmm.sample(mixture, count, np.random.default_rng(seed))
    weights, means, shapes = mixture.weights[0], mixture.means[0], mixture.covariances[0]
    share = np.bincount(component, minlength=3) / count
    assert np.all(np.abs(share - weights) < 6 * np.sqrt(weights * (1 - weights) / count))
    for k in range(3):
        mine = rows[component == k]
        error = np.sqrt(np.diag(shapes[k]) / len(mine))
        assert np.all(np.abs(mine.mean(0) - means[k]) < 6 * error)
        scale = np.sqrt(np.outer(np.diag(shapes[k]), np.diag(shapes[k])))
        assert np.all(np.abs(np.cov(mine.T) - shapes[k]) < 10 * scale / math.sqrt(len(mine)))


# ------------------------------------------------------------------ the M step is total


ANY = st.floats(width=64) | st.sampled_from(
    [0.0, 1.0, -1.0, 40.0, 1e-320, 1e160, -1e160, 1e308, -1e308, math.inf, -math.inf, math.nan]
)
SOME_SD = st.sampled_from([0.0, 1e-9, 0.3, 20.0, 1e6, 1e150, 1e300])
STATISTICS = st.tuples(
    arrays(float, (2, 3), elements=ANY),
    arrays(float, (2, 3, 2), elements=ANY),
    arrays(float, (2, 3, 2, 2), elements=ANY),
    st.tuples(SOME_SD, SOME_SD, SOME_SD),
)


def noisy_from(given_as: Any, structure: str) -> NoisyMoments:
    counts, sums, squares, sds = given_as
    upper = np.triu(squares)
    symmetric = np.where(np.triu(np.ones((2, 2))) > 0, upper, np.swapaxes(upper, -1, -2))
    diagonal = np.einsum("bkii->bki", symmetric)
    taken = {"full": symmetric, "diag": diagonal, "spherical": diagonal[..., 0]}[structure]
    return NoisyMoments(counts, sums, taken, *(np.full(2, sd) for sd in sds))


def assert_valid(mixture: Mixture, structure: str) -> None:
    assert np.all(mixture.weights >= 0.0)
    np.testing.assert_allclose(mixture.weights.sum(axis=1), 1.0, rtol=1e-9)
    assert np.all(np.isfinite(mixture.means))
    shapes = mixture.covariances
    assert np.all(np.isfinite(shapes))
    size = np.abs(shapes).max(axis=(-2, -1), keepdims=True)
    assert np.all(np.abs(shapes - np.swapaxes(shapes, -1, -2)) <= 1e-12 * size)
    np.linalg.cholesky(shapes)
    if structure != "full":
        assert not np.any(shapes * (1 - np.eye(2)))


@pytest.mark.parametrize("structure", STRUCTURES)
@given(
    STATISTICS,
    STATISTICS,
    st.sampled_from([None, Prior()]),
    st.sampled_from([1.0, 1e-3, 50.0]),
    st.sampled_from([40.0, 1.0, 1e9]),
)
@examples(150)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_step_is_total(
    structure: Structure, first: Any, then: Any, prior: Prior | None, radius: float, rows: float
) -> None:
    whole, groups = some_rows(rows), groups_of(structure)
    for statistics in (first, then):
        groups = groups.after(noisy_from(statistics, structure), whole, radius)
        assert_valid(groups.mixture, structure)
        assert_valid(held(groups.mixture, whole, prior, structure), structure)
        assert_valid(merged(groups.mixture, 2, structure), structure)
        assert_valid(pooled_shapes(groups.mixture, groups.error, structure), structure)


def some_rows(rows: float = 40.0) -> Whole:
    """All rows of two runs, in a frame that whitens them, with some noise in their shape."""
    noise = np.full(2, 0.1)
    return Whole(np.full(2, rows), np.zeros((2, 2)), np.stack([np.eye(2)] * 2), noise, noise)


def groups_of(structure: str) -> Groups:
    """Three groups of two runs; in the second all rows are one."""
    return Groups(stacked([a_start(3, 2, structure)] * 2), np.array([False, True]))


def test_a_step_asks_for_rows_of_the_groups_in_use_alone() -> None:
    """Two of three groups, and one where all rows are one."""
    groups = groups_of("full")
    assert groups.asking().counted().tolist() == [3, 1]
    fewer = replace(groups.mixture, weights=np.array([[0.3, 0.7, 0.0]] * 2))
    assert replace(groups, mixture=fewer).asking().counted().tolist() == [2, 1]


@pytest.mark.parametrize("structure", STRUCTURES)
@given(STATISTICS, st.sampled_from([None, Prior()]))
@examples(150)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_published_m_step_is_total(structure: Structure, given_as: Any, prior: Any) -> None:
    mixture = gmm_published.m_step(noisy_from(given_as, structure), 40, prior)
    assert_valid(mixture, structure)
    assert np.all(np.linalg.norm(mixture.means, axis=-1) <= 1 + 1e-12)


EXTREMES = [math.inf, -math.inf, math.nan, 1e12, -1e12, 1e200, -1e200, 1e308]


@pytest.mark.parametrize("step", ["proved", "one shape", "published", "one gaussian"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_statistic_is_too_extreme(step: str) -> None:
    """One number of each kind, and then all numbers, undefined, infinite or huge."""
    for extreme in EXTREMES:
        for which in ("counts", "sums", "squares"):
            for everywhere in (False, True):
                statistics = {
                    "counts": np.full((2, 3), 10.0),
                    "sums": np.full((2, 3, 2), 1.0),
                    "squares": np.tile(4 * np.eye(2), (2, 3, 1, 1)),
                }
                changed = statistics[which].reshape(-1)
                changed[slice(None) if everywhere else 0] = extreme
                for sd in (0.0, 1.0, 1e150):
                    noisy = noisy_from((*statistics.values(), (sd,) * 3), "full")
                    assert_valid(after(step, noisy), "full")


def after(step: str, noisy: NoisyMoments) -> Mixture:
    if step == "published":
        return gmm_published.m_step(noisy, 30, Prior())
    if step == "one shape":
        shapes = np.stack([np.eye(2)] * 2)
        common = CommonShape(np.ones(2, dtype=bool), shapes, 0, shapes, np.full(2, 0.75))
        groups = replace(groups_of("full"), alone=np.zeros(2, dtype=bool), common=common)
        once = groups.after(noisy, some_rows(30.0), 1.0)
        return once.after(noisy, some_rows(30.0), 1.0).mixture
    if step == "proved":
        once = groups_of("full").after(noisy, some_rows(30.0), 1.0)
        return once.after(noisy, some_rows(30.0), 1.0).mixture
    mean, covariance = one_gaussian(noisy, 30.0, 1.0)
    return Mixture(np.ones((2, 1)), mean[:, None], covariance[:, None])


@given(STATISTICS, st.sampled_from([1.0, 1e-3, 50.0]))
@examples(100)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_one_gaussian_is_total(given_as: Any, radius: float) -> None:
    mean, covariance = one_gaussian(noisy_from(given_as, "full"), 40.0, radius)
    assert_valid(Mixture(np.ones((2, 1)), mean[:, None], covariance[:, None]), "full")


# ------------------------------------------------------------------ groups in frames of their own


def in_own_frames(
    rows: np.ndarray, mixture: Mixture, structure: Structure, radius: float, sd: float = 0.0
) -> NoisyMoments:
    """What leaves the wall where each group sees the rows in its own frame, with some noise."""
    matrix = whitening(mixture.covariances)[0]
    seen = np.einsum("bkij,bkjn->bkin", matrix, rows.T - mixture.means[..., None])
    length = np.linalg.norm(seen, axis=2)
    weights = sharing(mixture)(length**2, np.arange(mixture.runs))
    seen *= np.minimum(1.0, radius / np.maximum(length, 1e-300))[:, :, None]
    squares = np.einsum("bkn,bkin,bkjn->bkij", weights, seen, seen)
    if structure == "diag":
        squares = np.einsum("bkii->bki", squares)
    elif structure == "spherical":
        squares = np.einsum("bkii->bk", squares)
    rng, level = np.random.default_rng(8), np.full(1, sd)
    counts, sums = weights.sum(axis=2), np.einsum("bkn,bkin->bki", weights, seen)
    noisy = [part + sd * rng.normal(size=part.shape) for part in (counts, sums, squares)]
    if structure == "full":
        noisy[2] = (noisy[2] + np.swapaxes(noisy[2], 2, 3)) / 2
    return NoisyMoments(noisy[0], noisy[1], noisy[2], level, level, level)


def all_of(rows: np.ndarray, structure: Structure = "full") -> Whole:
    covariance = structured(np.atleast_2d(np.cov(rows.T, bias=True))[None], structure)
    count, none = np.full(1, float(len(rows))), np.zeros(1)
    return Whole(count, rows.mean(0)[None], covariance, none, none)


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_rows_that_every_group_hides_stay_possible(covariance: str) -> None:
    """A column of zeros and 1% ones: without what is put back, held-out rows have a mean
    log-likelihood of -888 at epsilon 4 (full), and of -259 at epsilon 1 (diagonal)."""
    rng = np.random.default_rng(0)
    of = rng.integers(0, 3, 6000)
    rows = np.array([[-0.6, -0.4, -0.2], [0.2, 0.4, -0.4], [0.6, -0.6, 0.4]])[of]
    rows = rows + rng.normal(0.0, 0.14, rows.shape)
    rows = np.column_stack([rows, 2.0 * (rng.random(6000) < 0.01) - 1.0]).clip(-1.0, 1.0)
    train, test = boxed(rows[:3000]), rows[3000:]
    budgets = [dp.Privacy(epsilon, 1e-5) for epsilon in (1.0, 4.0)]
    grid = fit_grid(
        "gmm",
        train,
        privacy=budgets,
        draws=range(10),
        seed=0,
        n_components=3,
        covariance=covariance,
    )
    scores = gmm.log_density(grid.runs.final, test).reshape(2, 10)
    assert np.all(np.median(scores, axis=1) > [-10.0, -3.0])
    assert np.all(scores > -100.0)


@every("structure", STRUCTURES)
@every("components, dim", SHAPES)
def test_a_step_without_noise_or_clipping_is_em(
    structure: Structure, components: int, dim: int
) -> None:
    """And what noise changes falls in proportion to it."""
    rows = crowd(components, dim)
    *_, mixture, plain = sklearn_steps(rows, a_start(components, dim, structure), structure, 12)
    groups, gaps = Groups(mixture, np.zeros(1, dtype=bool)), []
    for sd in (0.0, 1e-1, 1e-3, 1e-5):
        noisy = in_own_frames(rows, mixture, structure, 1e6, sd)
        found = groups.after(noisy, all_of(rows, structure), 1e6).mixture
        if sd == 0.0:
            assert_same(found, plain, 1e-8)
        gaps.append(max(float(np.abs(a - b).max()) for a, b in parts_of(found, plain)))
    assert gaps[2] < 0.02 * gaps[1] + 1e-9
    assert gaps[3] < 0.02 * gaps[2] + 1e-9


def parts_of(one: Mixture, other: Mixture) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for name in ("weights", "means", "covariances"):
        yield getattr(one, name), getattr(other, name)


@every("dim", [1, 2, 7])
def test_what_a_ball_takes_of_a_normal_group_is_put_back(dim: int) -> None:
    """Clipped a little beyond its deviations, a group keeps its own shape over many steps."""
    rng, radius = np.random.default_rng(3), math.sqrt(dim) + 0.5
    rows = 0.1 * rng.standard_normal((200_000, dim))
    clipped = np.minimum(np.linalg.norm(10 * rows, axis=1), radius)
    assert np.mean(clipped**2) / dim == pytest.approx(left_by_clipping(dim, radius), abs=0.01)
    groups = Groups(
        Mixture(np.ones((1, 1)), rows.mean(0)[None, None], 0.02 * np.eye(dim)[None, None]),
        np.zeros(1, dtype=bool),
    )
    whole = replace(all_of(rows), entry_sd=np.full(1, 1e9))  # of which nothing is known
    for _ in range(8):
        noisy = in_own_frames(rows, groups.mixture, "full", radius)
        groups = groups.after(noisy, whole, radius)
    np.testing.assert_allclose(groups.mixture.covariances[0, 0], 0.01 * np.eye(dim), atol=3e-4)


def test_noise_in_a_group_is_a_share_of_its_own_width() -> None:
    """Groups fifty times narrower than the limits come out as wide as they are."""
    rng, middles = np.random.default_rng(5), np.array([[-0.6, -0.4], [0.5, 0.6]])
    rows = middles[rng.integers(2, size=4000)] + 0.02 * rng.standard_normal((4000, 2))
    privacy = dp.Privacy(epsilon=1.0, delta=1e-5)
    fit = dp.fit("gmm", boxed(rows, -1, 1), privacy=privacy, n_components=2, iterations=20, seed=1)
    found = fit.parameters
    np.testing.assert_allclose(found.means, middles, atol=0.01)
    widths = np.sqrt(np.linalg.eigvalsh(found.covariances))
    assert np.all((widths / 0.02 > 0.5) & (widths / 0.02 < 2.0)), widths


def noisy_shapes(apart: float, level: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Exact shapes of six groups in eight columns, and as released with noise in their frames.

    apart: standard deviation of what a group's shape differs by from a common one. level: of noise,
    in the measure of ``Groups.error``.
    """
    rng = np.random.default_rng(seed)
    turned = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    root = whitening((turned * np.geomspace(0.2, 3.0, 8) @ turned.T)[None])[1]
    logarithms, axes = np.linalg.eigh(symmetric_noise(rng, apart))
    exact = root @ (axes * np.exp(logarithms)[:, None] @ np.swapaxes(axes, 1, 2)) @ root
    roots = whitening(exact)[1]
    released = roots @ (np.eye(8) + symmetric_noise(rng, level)) @ roots
    return exact, floored_eigenvalues(released, np.full(6, 0.01))


def symmetric_noise(rng: np.random.Generator, level: float) -> np.ndarray:
    """Round noise, whose diagonal entries have the deviation ``level sqrt(2 / d)``."""
    entries = rng.normal(size=(6, 8, 8)) * level * math.sqrt(2.0 / 8.0)
    return np.asarray((entries + np.swapaxes(entries, 1, 2)) / 2.0)


def loss_of(shapes: np.ndarray, exact: np.ndarray) -> float:
    """Mean divergence of Gaussians with these shapes from exact ones."""
    ratio = np.linalg.solve(shapes, exact)
    parts = np.trace(ratio, axis1=1, axis2=2) - 8.0 - np.linalg.slogdet(ratio)[1]
    return float(parts.mean() / 2.0)


def drawn_alike(shapes: np.ndarray, error: float) -> np.ndarray:
    weights = np.full((1, 6), 1.0 / 6.0)
    mixture = Mixture(weights, np.zeros((1, 6, 8)), shapes[None])
    return pooled_shapes(mixture, np.full((1, 6), error), "full").covariances[0]


def test_groups_of_one_shape_share_it_and_others_keep_their_own() -> None:
    """Noise in shapes that are alike falls to about that of all groups together; shapes that differ
    by more than noise are not drawn together, and at worst no farther off than they were."""
    level = 0.3
    gains: dict[float, list[float]] = {0.0: [], 0.3: [], 0.6: []}
    for apart, found in gains.items():
        for seed in range(8):
            exact, released = noisy_shapes(apart, level, seed)
            drawn = drawn_alike(released, level**2)
            found.append(loss_of(drawn, exact) / loss_of(released, exact))
    assert np.median(gains[0.0]) < 0.4
    assert np.median(gains[0.3]) < 1.0
    assert max(gains[0.6]) < 1.05


def test_without_noise_no_shape_is_drawn_to_another() -> None:
    """And what is drawn vanishes with the noise; the size of a group never changes."""
    _, released = noisy_shapes(0.3, 0.0, 1)
    np.testing.assert_allclose(drawn_alike(released, 0.0), released, rtol=1e-9, atol=1e-12)
    gaps = [float(np.abs(drawn_alike(released, error) - released).max()) for error in (1e-2, 1e-4)]
    assert gaps[1] < 0.02 * gaps[0]
    turned = np.linalg.solve(released, drawn_alike(released, 0.5))
    np.testing.assert_allclose(np.trace(turned, axis1=1, axis2=2), 8.0, rtol=1e-9)


def test_where_all_rows_are_one_group_steps_know_how_well_it_is_known() -> None:
    """A step moves mean and size by the share of what is not known that it can tell, and a better
    release of all rows is moved less."""
    moments = NoisyMoments(
        np.full((1, 1), 100.0),
        np.full((1, 1, 8), 30.0),
        150.0 * np.eye(8)[None, None],
        *(np.full(1, sd) for sd in (1.0, 20.0, 100.0)),
    )
    one = Mixture(np.ones((1, 1)), np.zeros((1, 1, 8)), np.eye(8)[None, None])
    moved, wider = [], []
    for sd in (1e-6, 0.1, 0.3, 1e6):
        noise = np.full(1, sd)
        whole = Whole(np.full(1, 100.0), np.zeros((1, 8)), np.eye(8)[None], noise, noise)
        mixture = Groups(one, np.ones(1, dtype=bool)).after(moments, whole, 100.0).mixture
        moved.append(float(mixture.means[0, 0, 0]))
        wider.append(float(np.trace(mixture.covariances[0, 0]) / 8.0))
        doubt = 0.49 * sd**2 / (0.49 + sd**2)
        assert moved[-1] == pytest.approx(0.3 * doubt / (doubt + 0.2**2), rel=1e-6)
    assert moved == sorted(moved)
    assert wider == sorted(wider)
    assert wider[0] < 1.01
    assert wider[-1] > 1.1


@every("seed", range(5))
def test_merging_keeps_moments_and_takes_the_closest_first(seed: int) -> None:
    mixture = a_start(5, 2, "full", seed)
    one = merged(mixture, 1, "full")
    middle = mixture.weights[0] @ mixture.means[0]
    spread = mixture.covariances[0] + np.einsum("ki,kj->kij", *[mixture.means[0] - middle] * 2)
    np.testing.assert_allclose(one.means[0, 0], middle)
    np.testing.assert_allclose(
        one.covariances[0, 0], np.einsum("k,kij->ij", mixture.weights[0], spread)
    )
    twin = Mixture(
        np.concatenate([mixture.weights / 2] * 2, axis=1),
        np.concatenate([mixture.means] * 2, axis=1),
        np.concatenate([mixture.covariances] * 2, axis=1),
    )
    again = merged(twin, 5, "full")
    order = np.argsort(again.means[0, :, 0]), np.argsort(mixture.means[0, :, 0])
    np.testing.assert_allclose(again.means[0, order[0]], mixture.means[0, order[1]])
    np.testing.assert_allclose(again.weights[0, order[0]], mixture.weights[0, order[1]])


def test_a_run_whose_groups_are_few_already_is_not_merged() -> None:
    mixture = stacked([a_start(4, 2, "full", seed) for seed in (1, 2)])
    weights = mixture.weights.copy()
    weights[0, 3] = 0.0
    found = merged(replace(mixture, weights=weights), 3, "full")
    np.testing.assert_array_equal(found.means[0], mixture.means[0, :3])
    assert found.weights[1].sum() == pytest.approx(1.0)


def test_separated_groups_are_found_from_every_start() -> None:
    """Three groups in three columns, far apart: most starts used to miss two of them."""
    rng, middles = np.random.default_rng(0), np.array([[6.0, 0, 0], [0, 6.0, 0], [-4.0, -4.0, 4.0]])
    rows = middles[rng.integers(3, size=3000)] + rng.standard_normal((3000, 3))
    privacy = dp.Privacy(epsilon=4.0, delta=1e-5)
    for start in range(6):
        fit = dp.fit("gmm", boxed(rows, -12, 12), privacy=privacy, seed=2, start=start)
        near = np.linalg.norm(fit.parameters.means[:, None] - middles, axis=2).min(axis=0)
        assert np.all(near < 0.7), (start, near)


# ------------------------------------------------------------------ repairs


def test_single_repairs_vanish_with_the_noise() -> None:
    means = np.array([[0.3, -2.0], [0.0, 0.0]])
    np.testing.assert_array_equal(drawn_in(means, np.zeros(2)), means)
    sums, counts = np.array([[3.0, 4.0]]), np.array([10.0])
    np.testing.assert_array_equal(inside(sums, counts, 1.0), sums)
    shape = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(floored_eigenvalues(shape, np.array(1e-6)), shape, rtol=1e-12)


def test_repairs_do_what_they_say() -> None:
    pulled = inside(np.array([[30.0, 40.0]]), np.array([10.0]), 1.0)
    np.testing.assert_allclose(pulled, [[6.0, 8.0]])
    raised = floored_eigenvalues(np.diag([-5.0, 2.0, 9.0]), np.array(0.5), 3.0)
    np.testing.assert_allclose(raised, np.diag([0.5, 2.0, 3.0]), atol=1e-12)
    buried = drawn_in(np.array([[0.1, 0.1]]), np.array([1.0]))
    assert np.linalg.norm(buried) < np.linalg.norm([0.1, 0.1])


@pytest.mark.parametrize("structure", STRUCTURES)
def test_one_gaussian_without_noise_is_mean_and_covariance(structure: Structure) -> None:
    rows = crowd(1, 3)
    everyone = Mixture(np.ones((1, 1)), np.zeros((1, 1, 3)), np.eye(3)[None, None])
    mean, covariance = one_gaussian(released(rows, everyone, structure), len(rows), math.sqrt(3))
    exact = np.cov(rows.T, bias=True)
    expected = {
        "full": exact,
        "diag": np.diag(np.diag(exact)),
        "spherical": np.trace(exact) / 3 * np.eye(3),
    }[structure]
    np.testing.assert_allclose(mean[0], rows.mean(0), rtol=1e-10)
    np.testing.assert_allclose(covariance[0], expected, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------ starts, batches, draws


@pytest.mark.parametrize("module", [gmm, gmm_published])
def test_starts_are_valid_and_know_only_their_seed(module: Any) -> None:
    for components, dim in SHAPES:
        one, again = (module.start(2, components, dim, 5) for _ in range(2))
        assert_valid_any(one)
        assert_same(one, again, 0.0)
        if components > 1:
            other = module.start(2, components, dim, 6)
            assert np.any(other.means != one.means) or (module is gmm and dim == 1)
            gaps = np.linalg.norm(one.means[0][:, None] - one.means[0][None], axis=-1)
            assert np.all(gaps[~np.eye(components, dtype=bool)] > 0) or (module is gmm and dim == 1)


def assert_valid_any(mixture: Mixture) -> None:
    np.testing.assert_allclose(mixture.weights.sum(axis=1), 1.0)
    assert np.all(np.isfinite(mixture.means))
    np.linalg.cholesky(mixture.covariances)


BUDGETS = tuple(dp.Privacy(epsilon=e, delta=1e-5) for e in (0.5, 4.0))


def grid(budgets: tuple[dp.Privacy, ...], draws: Any, **options: Any) -> Any:
    table = boxed(crowd(2, 2), -1, 1)
    asked = {"n_components": 2, "iterations": 3, "seed": 11, **options}
    return fit_grid("gmm", table, privacy=budgets, draws=draws, **asked)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("mode", ["proved", "paper"])
def test_a_batch_of_runs_is_the_runs_one_by_one(structure: str, mode: str) -> None:
    budgets = tuple(replace(b, mode=mode, accountant="zcdp") for b in BUDGETS)
    together = grid(budgets, (0, 1, 2), covariance=structure)
    for i, budget in enumerate(budgets):
        for draw in (0, 1, 2):
            alone = grid((budget,), (draw,), covariance=structure)
            for mine, theirs in zip(alone.runs.history, together.runs.history, strict=True):
                theirs = mapped(theirs, lambda array, at=3 * i + draw: array[at : at + 1])
                assert_same(mine, theirs, 1e-8)
            assert alone.fit().ledger == together.fit(i, draw).ledger


def test_seed_secret_and_draw_each_change_the_noise() -> None:
    fits = [
        grid(BUDGETS[:1], (0,)),
        grid(BUDGETS[:1], (1,)),
        grid(BUDGETS[:1], (0,), seed=12),
        grid(BUDGETS[:1], (0,), secret=b"x"),
        grid(BUDGETS[:1], (0,), seed=None),
        grid(BUDGETS[:1], (0,), seed=None),
    ]
    means = np.stack([fit.runs.final.means.ravel() for fit in fits])
    assert len(np.unique(means[:, 0])) == len(fits)


# ------------------------------------------------------------------ results in own units


def test_parameters_go_to_own_units_and_back() -> None:
    schema = Schema.from_bounds({"a": (10, 30), "b": (-5, 0)})
    public, mixture = PublicFrame.of(schema), a_start(2, 2, "full")
    found = MixtureParameters.from_units(mixture, 0, public)
    spread = np.array([10.0, 2.5])
    means = (found.means - [20, -2.5]) / spread
    order = np.lexsort(mixture.means[0].T[::-1])
    np.testing.assert_allclose(means, mixture.means[0][order])
    np.testing.assert_allclose(
        found.covariances / np.outer(spread, spread), mixture.covariances[0][order]
    )
    np.testing.assert_array_equal(found.weights, mixture.weights[0][order])


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_groups_are_compared_with_those_that_they_are_most_alike(order: tuple[int, ...]) -> None:
    """Whatever order a fit gives them: the exact fit moved a little is found, group by group."""
    middles = np.array([[-0.6, -0.5], [0.6, -0.4], [0.1, 0.7]])
    shapes = np.stack([scale * np.eye(2) for scale in (0.01, 0.02, 0.03)])
    weights = np.array([0.2, 0.3, 0.5])
    exact = Mixture(weights[None], middles[None], shapes[None])
    some = list(order)
    moved = Mixture(weights[None, some], middles[None, some] + 0.01, shapes[None, some])
    aligned, recovered = YARDSTICK.align(moved, exact)
    np.testing.assert_allclose(aligned.means[0], middles + 0.01)
    np.testing.assert_allclose(aligned.covariances[0], shapes)
    np.testing.assert_allclose(aligned.weights[0], weights)
    assert recovered.all()


def test_a_fit_in_other_units_is_the_same_fit() -> None:
    rows = crowd(2, 2)
    here = dp.fit("gmm", boxed(rows, -1, 1), privacy=BUDGETS[1], n_components=2, seed=3)
    moved = dp.fit(
        "gmm", boxed(7 + 100 * rows, -93, 107), privacy=BUDGETS[1], n_components=2, seed=3
    )
    np.testing.assert_allclose(moved.parameters.means, 7 + 100 * here.parameters.means, rtol=1e-6)
    np.testing.assert_allclose(
        moved.parameters.covariances, 1e4 * here.parameters.covariances, rtol=1e-6
    )
    np.testing.assert_allclose(moved.parameters.weights, here.parameters.weights, rtol=1e-6)


@pytest.mark.parametrize("mode", ["proved", "paper"])
def test_components_stand_in_the_order_of_their_means(mode: str) -> None:
    privacy = dp.Privacy(epsilon=2.0, delta=1e-5, mode=mode, accountant="zcdp")
    for seed in range(5):
        fit = dp.fit("gmm", boxed(crowd(3, 2), -1, 1), privacy=privacy, seed=seed)
        for step in (*fit.history, fit.parameters):
            first = step.means[:, 0].tolist()
            assert first == sorted(first)
        assert_valid(fit.parameters.as_mixture(), "full")


def test_samples_of_a_fit_are_in_own_units() -> None:
    fit = dp.fit("gmm", boxed(50 + 40 * crowd(2, 2), 0, 100), privacy=None, n_components=2)
    drawn = fit.sample(5000, seed=1)
    assert list(drawn.columns) == ["x0", "x1"]
    expected = fit.parameters.weights @ fit.parameters.means
    np.testing.assert_allclose(drawn.mean(), expected, atol=2.0)
    pd.testing.assert_frame_equal(drawn, fit.sample(5000, seed=1))


def test_columns_that_differ_are_told_apart_from_noise() -> None:
    """Narrow columns keep their width, columns alike stay drawn to a round shape, and noise that
    vanishes or overwhelms leaves a shape."""
    dim, sd = 60, 1e-4
    rng, row = np.random.default_rng(0), np.arange(dim)
    variances = 0.03 * (1.0 + row) ** -1.3
    noise = rng.standard_normal((dim, dim)) * sd / 2.0
    released = (np.diag(variances) + noise + noise.T)[None]
    released[:, row, row] = variances + sd * rng.standard_normal(dim)
    size, level = np.array([variances.mean()]), np.array([sd * math.sqrt(dim / 2)])

    def far(shape: np.ndarray) -> float:
        """Nats by which a normal law of this shape misses the true one."""
        ratio = np.linalg.solve(shape[0], np.diag(variances))
        return float(0.5 * (np.trace(ratio) - dim - np.linalg.slogdet(ratio)[1]))

    ours, round_ones = by_columns(released, size, level), drawn_to_round(released, size, level)
    assert far(ours) < 0.3 * far(round_ones)
    together = by_columns(np.repeat(released, 3, 0), np.repeat(size, 3), np.repeat(level, 3))
    np.testing.assert_array_equal(together, np.repeat(ours, 3, 0))
    alike = size[:, None, None] * np.eye(dim) + released - np.diag(variances)
    np.testing.assert_array_equal(
        by_columns(alike, size, level), drawn_to_round(alike, size, level)
    )
    other = rng.standard_normal((dim, 2 * dim)) * np.sqrt(variances)[:, None]
    exact = (other @ other.T / (2 * dim))[None]
    size = np.trace(exact, axis1=1, axis2=2) / dim
    near = [by_columns(exact, size, size * part) for part in (0.0, 1e-9)]
    np.testing.assert_allclose(near[0], exact, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(near[1], near[0], rtol=1e-4, atol=1e-7)
    for wild in (0.0 * exact, 1e100 * exact, -exact):
        for loud in (0.0, 1.0, 1e100):
            shape = by_columns(wild, size, np.array([loud]))
            assert np.all(np.linalg.eigvalsh(shape) > 0.0)
