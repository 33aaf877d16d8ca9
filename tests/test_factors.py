"""Factor analysis: without noise it is maximum likelihood; with noise, whatever comes is valid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support import examples

from dpcore.accounting.gaussian import mu_of
from dpcore.models.factor_analysis import mathematics as fa
from dpcore.models.factor_analysis import visible
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.models.factor_analysis.scoring import FACTOR_ANALYSIS as YARDSTICK
from dpcore.models.factor_analysis.visible import least_visible, noise_edge
from dpcore.models.shared.second_moments import AllRows, Ellipsoid
from dpcore.wall.kernels.threads import one_thread

NONE = np.zeros(1)


def a_model(dim: int, factors: int, seed: int = 0) -> Factors:
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(1, dim, factors)) / np.arange(1, factors + 1)
    return Factors(rng.normal(size=(1, dim)), loadings, rng.uniform(0.1, 0.6, (1, dim)))


def rows_of(dim: int, factors: int, count: int, seed: int = 0) -> np.ndarray:
    return fa.sample(a_model(dim, factors, seed), count, np.random.default_rng(seed + 1))


def isometric(runs: int, dim: int, seed: int) -> np.ndarray:
    """Symmetric noise: deviation 1 on the diagonal, 1 / sqrt 2 beside it."""
    draw = np.random.default_rng(seed).normal(size=(runs, dim, dim))
    lower = np.tril(draw, -1) / math.sqrt(2)
    diagonal = np.einsum("bii->bi", draw)
    return lower + np.swapaxes(lower, 1, 2) + diagonal[..., None] * np.eye(dim)


def second_moment(rows: np.ndarray) -> np.ndarray:
    return (rows.T @ rows / len(rows))[None]


def is_valid(fit: Factors) -> bool:
    numbers = (fit.mean, fit.loadings, fit.noise_variance)
    return all(np.isfinite(n).all() for n in numbers) and bool((fit.noise_variance > 0).all())


# --- without noise -------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "factors", "count"), [(6, 2, 500), (10, 3, 700)])
def test_without_noise_it_is_maximum_likelihood(dim: int, factors: int, count: int) -> None:
    from sklearn.decomposition import FactorAnalysis

    rows = rows_of(dim, factors, count)
    oracle = FactorAnalysis(factors, svd_method="lapack", tol=1e-8, max_iter=5000).fit(rows)
    fit = fa.maximum_likelihood(rows, factors, 600)
    assert fa.log_density(fit, rows)[0] == pytest.approx(oracle.score(rows), abs=1e-3)


def test_columns_of_unequal_width_need_no_more_steps() -> None:
    """EM begins in units of the columns, so the optimum is the same whatever these are."""
    rows = rows_of(10, 3, 700)
    scale = np.geomspace(0.01, 1.0, 10)
    even, uneven = (fa.maximum_likelihood(data, 3, 40) for data in (rows, rows * scale))
    np.testing.assert_allclose(uneven.noise_variance, scale**2 * even.noise_variance, rtol=1e-6)
    moments = second_moment(rows * scale)
    formed = fa.proved(AllRows(NONE, (rows * scale).mean(0)[None], moments, NONE, NONE), 3, 40)
    np.testing.assert_allclose(formed.noise_variance, uneven.noise_variance, rtol=1e-6)


def test_a_column_that_does_not_vary_makes_no_start_look_better() -> None:
    """Its noise variance has a floor, a share of the mean variance, whatever its own unit."""
    rows = rows_of(8, 2, 700)
    rows[:, 3] = 0.25
    fits = [fa.maximum_likelihood(rows, 2, 300, by_columns=start) for start in (True, False)]
    by_columns, raw = (float(fa.log_density(fit, rows)[0]) for fit in fits)
    assert by_columns == pytest.approx(raw, abs=1e-3)
    axes = np.where(np.arange(8) == 3, 1e-9, 1.0)[None]
    flat = fa.Factors(fits[0].mean, fits[0].loadings, fits[0].noise_variance)
    back = flat.back(Ellipsoid(np.zeros((1, 8)), axes))
    assert back.noise_variance[0, 3] == pytest.approx(fits[0].noise_variance[0, 3], rel=0.01)


def test_fewer_rows_than_numbers_need_no_square_matrix() -> None:
    rows = rows_of(40, 4, 30)
    fit = fa.maximum_likelihood(rows, 4, 30)
    formed = fa.proved(AllRows(NONE, rows.mean(0)[None], second_moment(rows), NONE, NONE), 4, 30)
    np.testing.assert_allclose(fit.covariance(), formed.covariance(), rtol=1e-6, atol=1e-8)


def test_every_correction_vanishes_with_the_noise() -> None:
    rows = rows_of(8, 2, 700)
    mean, moment = rows.mean(0)[None], second_moment(rows)
    exact = fa.maximum_likelihood(rows, 2, 40)
    clean = fa.proved(AllRows(NONE, mean, moment, NONE, NONE), 2, 40)
    np.testing.assert_allclose(clean.covariance(), exact.covariance(), rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(clean.mean, mean)
    gaps = []
    for sd in (1e-3, 1e-5, 1e-7):
        noisy = fa.proved(AllRows(NONE, mean, moment, NONE + sd, NONE), 2, 40)
        gaps.append(np.abs(noisy.covariance() - exact.covariance()).max())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-6


def test_em_never_lowers_the_likelihood() -> None:
    rows = rows_of(9, 3, 300)
    centred = rows - rows.mean(0)
    begin, moment = fa.start(1, 3, 9, 4.0, 0), second_moment(centred)
    seen = [
        fa.log_density(fa.published(moment, begin, steps, "exact"), centred)[0]
        for steps in range(1, 15)
    ]
    assert np.all(np.diff(seen) >= -1e-10)


def test_one_published_step_is_the_printed_formula() -> None:
    """W_new = L B (G + B'LB)^-1 and Psi_new = diag(L - W B'L), with W before or after the step."""
    rows = rows_of(7, 2, 400)
    moment, begin = second_moment(rows), fa.start(1, 2, 7, 3.0, 5)
    big_l, w, psi = moment[0], begin.loadings[0], begin.noise_variance[0]
    g = np.linalg.inv(np.eye(2) + w.T @ np.diag(1 / psi) @ w)
    b = np.diag(1 / psi) @ w @ g
    after = big_l @ b @ np.linalg.inv(g + b.T @ big_l @ b)
    for how, used in (("paper", w), ("exact", after)):
        fit = fa.published(moment, begin, 1, how)  # type: ignore[arg-type]
        np.testing.assert_allclose(fit.loadings[0], after, rtol=1e-9)
        variance = np.diag(big_l - used @ b.T @ big_l)
        floor = 1e-6 * np.trace(big_l) / 7
        np.testing.assert_allclose(fit.noise_variance[0], np.maximum(variance, floor), rtol=1e-9)


# --- whatever comes ------------------------------------------------------------------------------

ANY = arrays(np.float64, (2, 4, 4), elements=st.floats(width=64))


@examples(60)
@given(ANY, st.sampled_from(["paper", "exact"]))
def test_published_gives_valid_parameters_whatever_comes(matrix: np.ndarray, how: str) -> None:
    with np.errstate(all="ignore"):
        fit = fa.published(matrix, fa.start(2, 2, 4, 1.0, 0), 12, how)  # type: ignore[arg-type]
    assert is_valid(fit)


@examples(60)
@given(ANY, st.floats(0, 1e6), st.booleans())
def test_proved_gives_valid_parameters_whatever_comes(
    matrix: np.ndarray, sd: float, bounded: bool
) -> None:
    radius = 1.0 if bounded else math.inf
    level = np.full(2, sd)
    with np.errstate(all="ignore"):
        fit = fa.proved(AllRows(NONE, matrix[:, 0], matrix, level, level, radius), 2, 12)
    assert is_valid(fit)


# --- what noise leaves visible -------------------------------------------------------------------


def test_noise_alone_ends_at_its_edge() -> None:
    dim = 300
    largest = np.linalg.eigvalsh(isometric(1, dim, 0)[0])[-1]
    assert largest == pytest.approx(noise_edge(1.0, dim), rel=0.05)
    # a triangle copied over, with deviation 1 everywhere, ends sqrt 2 times farther out
    draw = np.triu(np.random.default_rng(1).normal(size=(dim, dim)))
    copied = np.linalg.eigvalsh(draw + np.triu(draw, 1).T)[-1]
    assert copied > 1.3 * noise_edge(1.0, dim)


@pytest.mark.parametrize("strength", [0.5, 2.0, 3.0])
def test_a_factor_is_seen_if_it_is_above_the_threshold(strength: float) -> None:
    dim, runs = 250, 4
    true = np.random.default_rng(2).normal(size=dim)
    true /= np.linalg.norm(true)
    eigenvalue = strength * least_visible(1.0, dim)
    noisy = eigenvalue * np.outer(true, true) + isometric(runs, dim, 3)
    values, vectors = np.linalg.eigh(noisy)
    square = (vectors[:, :, -1] @ true) ** 2
    promised = max(0.0, 1 - 1 / strength**2)
    assert square.mean() == pytest.approx(promised, abs=0.1)
    drawn = visible._drawn_in(values, np.full(runs, noise_edge(1.0, dim)))[:, -1]
    assert drawn.mean() == pytest.approx(eigenvalue * promised, rel=0.2, abs=2.0)


def test_four_hundred_faces_at_full_size_show_nothing_at_small_epsilon() -> None:
    """The largest eigenvalue that rows of norm 1 can have is 1; the thresholds are above it."""
    for sensitivity, threshold in ((math.sqrt(2) / 400, 1.485), (1 / 400, 1.05)):
        sd = sensitivity / float(mu_of(0.3, 1e-4))
        assert least_visible(sd, 4096) == pytest.approx(threshold, abs=0.002)


def test_from_noise_alone_no_factor_is_read() -> None:
    dim, runs = 60, 20
    noise = 0.1 * isometric(runs, dim, 4)
    zero = np.zeros((runs, dim))
    fit = fa.proved(AllRows(NONE, zero, noise, np.full(runs, 0.1), np.zeros(runs), 1.0), 5, 10)
    seen = np.linalg.norm(fit.loadings, axis=1) > 0
    assert seen[:, 1:].mean() < 0.05  # the first may pass the edge by a hair
    raw = fa.published(noise, fa.start(runs, 5, dim, 1.0, 0), 10)
    assert np.all(np.linalg.norm(raw.loadings, axis=1) > 0)  # as printed, all five are read


def test_proved_is_better_than_published_at_the_same_release() -> None:
    rows = rows_of(20, 2, 3000)
    rows = (rows - rows.mean(0)) / 8.0
    rows *= np.minimum(1, 1 / np.linalg.norm(rows, axis=1))[:, None]
    runs, sd = 8, math.sqrt(2) / 3000 / float(mu_of(0.5, 1e-4))
    noisy = second_moment(rows) + sd * isometric(runs, 20, 6)
    ours = fa.proved(
        AllRows(NONE, np.zeros((runs, 20)), noisy, np.full(runs, sd), np.zeros(runs), 1.0), 2, 50
    )
    theirs = fa.published(noisy, fa.start(runs, 2, 20, 1.0, 0), 50, "exact")
    assert np.all(fa.log_density(ours, rows) > fa.log_density(theirs, rows))


def test_own_variances_are_told_apart_where_noise_hides_them_least() -> None:
    dim, sd = 100, 0.04  # the edge is 0.57: no single eigenvalue shows
    own = np.random.default_rng(9).uniform(0.7, 1.3, dim)
    noisy = np.diag(own) + sd * isometric(1, dim, 10)
    fit = fa.proved(AllRows(NONE, np.zeros((1, dim)), noisy, np.full(1, sd), NONE), 2, 20)
    np.testing.assert_allclose(fit.covariance()[0].diagonal(), own, atol=5 * sd)


def test_the_largest_eigenpairs_are_those_of_the_whole_spectrum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dim = 300
    rng = np.random.default_rng(7)
    basis = np.linalg.qr(rng.normal(size=(dim, 6)))[0]
    edge = noise_edge(0.01, dim)
    noisy = (basis * np.array([40, 8, 3, 1.5, 1.0, 0.65]) * edge) @ basis.T + 0.01 * isometric(
        1, dim, 8
    )
    values, vectors = visible.largest(noisy[0], edge, 12)
    exact, exactly = np.linalg.eigh(noisy[0])
    np.testing.assert_allclose(values[:6], exact[:-7:-1], rtol=1e-4)
    assert np.all(np.sum(vectors[:, :6] * exactly[:, :-7:-1], axis=0) ** 2 > 0.999)
    sd, zero = np.full(1, 0.01), np.zeros((1, dim))
    whole = fa.proved(AllRows(NONE, zero, noisy, sd, NONE), 6, 20)
    for module in (fa, visible):
        monkeypatch.setattr(module, "FULL_SPECTRUM_DIM", 100)
    largest = fa.proved(AllRows(NONE, zero, noisy, sd, NONE), 6, 20)
    one, two = (np.linalg.qr(each.loadings[0])[0] for each in (largest, whole))
    cosines = np.linalg.svd(one.T @ two, compute_uv=False)
    assert np.mean(cosines**2) > 0.999  # the same space of factors


# --- what a fit says -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [5, 50])
def test_log_density_is_that_of_the_normal_law(count: int) -> None:
    from scipy.stats import multivariate_normal

    fits = [a_model(9, 3, seed) for seed in range(3)]
    batch = Factors(
        *(
            np.concatenate([getattr(f, n) for f in fits])
            for n in ("mean", "loadings", "noise_variance")
        )
    )
    rows = rows_of(9, 3, count, 9)
    found = fa.log_density(batch, rows)
    for run, covariance in enumerate(batch.covariance()):
        law = multivariate_normal(batch.mean[run], covariance)
        assert found[run] == pytest.approx(law.logpdf(rows).mean(), rel=1e-10)


@pytest.mark.parametrize("count", [5, 50])
def test_reconstruction_is_the_expected_factors_drawn(count: int) -> None:
    fit, rows = a_model(9, 3), rows_of(9, 3, count, 9)
    w, away = fit.loadings[0], rows - fit.mean[0]
    expected = away @ np.linalg.inv(fit.covariance()[0]) @ w @ w.T + fit.mean[0]
    drawn = fa.reconstruct(fit, rows)[0]
    np.testing.assert_allclose(drawn, expected, rtol=1e-9, atol=1e-10)
    error = fa.reconstruction_error(fit, rows)[0]
    assert error == pytest.approx(np.mean((rows - drawn) ** 2), rel=1e-9)


def test_samples_have_the_models_moments() -> None:
    fit = a_model(5, 2)
    rows = fa.sample(fit, 200_000, np.random.default_rng(0))
    np.testing.assert_allclose(rows.mean(0), fit.mean[0], atol=0.02)
    np.testing.assert_allclose(np.cov(rows.T), fit.covariance()[0], atol=0.05)


# --- beside a reference --------------------------------------------------------------------------


def test_order_sign_and_rotation_of_factors_do_not_matter() -> None:
    reference = a_model(30, 4)
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    swap = np.eye(4)[[2, 0, 3, 1]] * np.array([1, -1, -1, 1.0])
    for change in (turn, swap):
        moved = Factors(reference.mean, reference.loadings @ change, reference.noise_variance)
        back, recovered = YARDSTICK.align(moved, reference)
        np.testing.assert_allclose(back.loadings, reference.loadings, atol=1e-9)
        assert recovered.all()
        np.testing.assert_allclose(back.covariance(), moved.covariance())


def test_without_noise_large_matrices_raise_no_warning() -> None:
    """Single precision overflows in squares long before it does in numbers."""
    rows = np.random.default_rng(0).normal(0.0, 0.1, (40, 700))
    moment = rows.T @ rows / 40
    zero = np.zeros(1)
    found = fa.proved(AllRows(NONE, np.zeros((1, 700)), moment[None], zero, zero, 10.0), 5, 5)
    assert np.all(np.isfinite(found.loadings))


def test_a_large_product_in_stripes_is_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcore.models.shared import threads

    rng = np.random.default_rng(0)
    matrix, thin = rng.normal(size=(303, 300)), rng.normal(size=(300, 7))
    monkeypatch.setattr(threads, "LARGE_BYTES", 0)
    monkeypatch.setattr(threads, "cores", lambda: 4)
    with one_thread():
        np.testing.assert_allclose(threads.thin_product(matrix, thin), matrix @ thin, rtol=1e-12)


def test_without_noise_the_search_for_eigenpairs_ends_when_they_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = np.random.default_rng(1).normal(size=(30, 200)) * 0.7 ** np.arange(200)
    matrix, rounds = rows.T @ rows, []
    once = visible._chebyshev
    monkeypatch.setattr(
        visible, "_chebyshev", lambda *given: rounds.append(given[-1]) or once(*given)
    )
    values = visible.largest(matrix, 0.0, 12)[0]
    np.testing.assert_allclose(values[:2], np.linalg.eigvalsh(matrix)[:-3:-1], rtol=1e-6)
    assert sum(rounds) < visible.PRODUCTS / 2
