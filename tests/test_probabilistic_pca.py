"""Probabilistic PCA: without noise it is Bishop's variational Bayes on the rows, step by step; with
noise it has as many factors as the release supports."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy
from sealed_rows import boxed
from support import every
from wording import LOCATED

import dpcore as dp
from dpcore.arrays import Array
from dpcore.evaluation.study import Setting, study
from dpcore.figures.budget import study_scene
from dpcore.fitting.api import fit_grid
from dpcore.models.factor_analysis import probabilistic_pca
from dpcore.models.factor_analysis.mathematics import log_density
from dpcore.models.factor_analysis.probabilistic_pca import OFF, PRIOR, fitted, variational
from dpcore.models.shared.all_rows import ALL_ROWS
from dpcore.models.shared.second_moments import AllRows
from dpcore.sklearn import DPProbabilisticPCA
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable


@cache
def rows(factors: int, dim: int = 10, count: int = 3000) -> Array:
    """Rows with so many factors of unlike strength, and noise of variance 0.09 in all columns."""
    rng = np.random.default_rng(0)
    loadings = rng.standard_normal((dim, factors)) / np.arange(1, factors + 1) ** 0.5
    hidden = rng.standard_normal((count, factors))
    return np.asarray(hidden @ loadings.T + 0.3 * rng.standard_normal((count, dim)))


def sealed(factors: int, dim: int = 10, count: int = 3000) -> PrivateTable:
    return boxed(rows(factors, dim, count), -12.0, 12.0, "c")


def moments(data: Array, sd: float = 0.0) -> AllRows:
    """What is released of rows, with the noise that is told; none is added."""
    moment = data.T @ data / len(data)
    level = np.full(1, sd)
    return AllRows(
        np.full(1, float(len(data))), data.mean(axis=0)[None], moment[None], level, level
    )


def factors_of(loadings: Array) -> int:
    return int(np.any(loadings != 0.0, axis=0).sum())


class OnRows:
    """Bishop's updates as he prints them, with full matrices and one posterior a row."""

    def __init__(self, data: Array, factors: int, turn: Array | None = None) -> None:
        count, dim = data.shape
        self.data, self.mean = data, data.mean(axis=0)
        values, vectors = np.linalg.eigh(np.cov(data.T, bias=True))
        noise = values[:-factors].mean()
        lengths = np.sqrt(values[: -factors - 1 : -1] - noise)
        self.loadings = vectors[:, : -factors - 1 : -1] * lengths
        if turn is not None:
            self.loadings = self.loadings @ turn
        self.spread, self.tau = np.zeros((factors, factors)), 1.0 / noise
        self.precision = dim / np.sum(self.loadings**2, axis=0)
        self.mean_spread = 1.0 / (count * self.tau)

    def step(self) -> None:
        (count, dim), factors = self.data.shape, len(self.precision)
        away = self.data - self.mean
        square = self.loadings.T @ self.loadings + dim * self.spread
        hidden = np.linalg.inv(np.eye(factors) + self.tau * square)
        means = self.tau * away @ self.loadings @ hidden
        power = count * hidden + means.T @ means
        self.spread = np.linalg.inv(np.diag(self.precision) + self.tau * power)
        self.loadings = self.tau * away.T @ means @ self.spread
        square = self.loadings.T @ self.loadings + dim * self.spread
        self.precision = (PRIOR + dim / 2) / (PRIOR + np.diag(square) / 2)
        self.mean_spread = 1.0 / (count * self.tau)
        error = np.sum(away**2) + count * dim * self.mean_spread + np.trace(square @ power)
        error -= 2.0 * np.sum((away.T @ means) * self.loadings)
        self.tau = (PRIOR + count * dim / 2) / (PRIOR + error / 2)

    def covariance(self) -> Array:
        return np.asarray(self.loadings @ self.loadings.T + np.eye(len(self.mean)) / self.tau)


@every("true, asked, steps", [(3, 6, 1), (3, 6, 2), (3, 6, 200), (2, 9, 40), (0, 4, 40)])
def test_without_noise_each_step_is_bishops_on_the_rows(
    true: int, asked: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = rows(true, count=400)
    data = data / np.sqrt(np.mean(np.var(data, axis=0)))
    peer = OnRows(data, asked)
    for _ in range(steps):
        peer.step()
    monkeypatch.setattr(probabilistic_pca, "STEPS", steps)
    values = np.linalg.eigvalsh(np.cov(data.T, bias=True))[::-1]
    none, count = np.zeros(1), np.full(1, 400.0)
    square, noise = variational(values[None, :asked], values.sum()[None], 10, count, none)
    assert noise[0] == pytest.approx(1.0 / peer.tau, rel=1e-9)
    expected = np.sum(peer.loadings**2, axis=0)
    expected = np.where(expected > OFF / peer.tau, expected, 0.0)
    np.testing.assert_allclose(square[0], expected, rtol=1e-7, atol=1e-12)


def test_from_turned_loadings_the_updates_on_rows_end_no_better() -> None:
    """The start along eigenvectors costs nothing: others end at as many factors, as likely."""
    data = rows(3, count=400)
    data = data / np.sqrt(np.mean(np.var(data, axis=0)))
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    peer = OnRows(data, 5, turn)
    for _ in range(1000):
        peer.step()
    found = fitted(moments(data), 5)
    theirs = scipy.stats.multivariate_normal(peer.mean, peer.covariance()).logpdf(data).mean()
    assert log_density(found, data)[0] == pytest.approx(theirs, abs=1e-3)
    lengths = np.linalg.eigvalsh(peer.loadings.T @ peer.loadings)
    assert factors_of(found.loadings[0]) == np.sum(lengths > OFF / peer.tau) == 3


@every("true", [0, 1, 3, 5])
def test_the_number_of_factors_is_found_without_noise(true: int) -> None:
    fit = dp.fit("ppca", sealed(true), privacy=None).parameters
    assert fit.loadings.shape == (10, 9)
    assert factors_of(fit.loadings) == true
    np.testing.assert_allclose(fit.noise_variance, 0.09, rtol=0.05)


@every("true, epsilon", [(0, 0.1), (0, 10.0), (1, 1.0), (3, 3.0), (5, 10.0)])
def test_the_number_of_factors_is_found_with_noise(true: int, epsilon: float) -> None:
    found = numbers_found(true, epsilon)
    assert np.median(found) == true, found


def numbers_found(true: int, epsilon: float) -> list[int]:
    """How many factors nine draws have."""
    privacy = [dp.Privacy(epsilon, 1e-5)]
    grid = fit_grid("ppca", sealed(true), privacy=privacy, draws=range(9), seed=0)
    return [factors_of(loadings) for loadings in grid.runs.final.loadings]


def test_less_noise_supports_more_factors() -> None:
    few, some, all_of_them = (np.mean(numbers_found(5, epsilon)) for epsilon in (0.05, 0.5, 5.0))
    assert few < some < all_of_them <= 5.5


@every("words", [{}, {"adjacency": "add_remove"}, {"accountant": "zcdp"}])
def test_a_fit_makes_one_release_in_a_ball_that_three_others_show(words: dict[str, str]) -> None:
    privacy = dp.Privacy(1.0, 1e-5, **words)  # type: ignore[arg-type]
    fit = dp.fit("ppca", sealed(2), privacy=privacy, seed=0)
    assert [entry.what for entry in fit.ledger] == [*LOCATED, ALL_ROWS]
    assert fit.guarantee.epsilon == pytest.approx(1.0, abs=1e-4)


def test_the_rows_noise_is_no_less_than_the_release_can_hide() -> None:
    data = rows(3)
    for sd in (0.0, 0.5, 1.0):
        found = fitted(moments(data, sd), 5)
        assert found.noise_variance[0, 0] >= min(sd / np.sqrt(2), 0.5 * np.mean(data**2)) - 1e-9
    assert found.noise_variance[0, 0] > 5 * 0.09


@every("value", [0.0, -1.0, 1e300, -1e300, np.inf, -np.inf, np.nan, 1e-300])
def test_any_release_gives_valid_parameters(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probabilistic_pca, "STEPS", 100)
    ones = np.ones(2)
    mean, squares = np.full((2, 4), value), np.full((2, 4, 4), value)
    for usual, sd in ((None, 0.0 * ones), (None, ones), (np.array([1e-3, 0.25]), ones)):
        found = fitted(AllRows(ones, mean, squares, sd, sd, 1.0, usual), 3)
        arrays = found.mean, found.loadings, found.noise_variance
        assert all(np.all(np.isfinite(array)) for array in arrays)
        assert np.all(found.noise_variance > 0.0)


def test_few_rows_support_no_factors() -> None:
    """Whatever three rows show of ten columns, they may owe to chance."""
    found = fitted(moments(np.random.default_rng(0).standard_normal((12, 10))), 9)
    assert factors_of(found.loadings[0]) == 0


def test_asked_for_none_all_columns_have_one_variance() -> None:
    fit = dp.fit("ppca", sealed(2), privacy=dp.Privacy(5.0, 1e-5), most_factors=0, seed=0)
    assert fit.parameters.loadings.shape == (10, 0)
    assert np.ptp(fit.parameters.noise_variance) <= 1e-12
    assert np.isfinite(log_density(fit.parameters.as_factors(), rows(2))).all()


def test_what_cannot_be_is_refused() -> None:
    schema = dp.Schema.from_bounds({"age": (0.0, 110.0)})
    table = PrivateTable.seal(pd.DataFrame({"age": [1.0, 2.0]}), schema)
    with pytest.raises(dp.InputError, match=r"columns: a single column .*give two or more"):
        dp.fit("ppca", table, privacy=dp.Privacy(1.0, 1e-5))
    with pytest.raises(dp.InputError, match="no paper describes"):
        dp.fit("ppca", sealed(2), privacy=dp.Privacy(1.0, 1e-5, mode="paper"))
    with pytest.raises(dp.InputError, match="-1 is below 0"):
        dp.fit("ppca", sealed(2), privacy=dp.Privacy(1.0, 1e-5), most_factors=-1)


def test_utility_is_between_a_fit_without_factors_and_the_exact_one() -> None:
    found = study(sealed(3), Setting("ppca", 1), epsilons=(0.3, 30.0), draws=4)
    known, middle = found.references, np.median(found.grid.utility, axis=1)
    assert middle[0] < middle[1] <= known.converged_utility + 1e-2
    assert known.bounds_utility < middle[1]


def test_factors_that_the_exact_fit_does_not_have_are_neither_drawn_nor_missed() -> None:
    found = study(sealed(3), Setting("ppca", 1), epsilons=(0.05, 30.0), draws=4)
    assert found.grid.recovered.shape == (2, 4, 3)
    assert found.grid.recovered[1].all()
    for panel in study_scene(found).panels[:2]:
        heat = panel.layers[0]
        assert len(heat.names) == 3


def test_the_estimator_keeps_the_factors_that_are_there() -> None:
    table = sealed(3)
    _, units = custodian_rows(table)
    model = DPProbabilisticPCA(epsilon=10.0, bounds=(-12, 12), random_state=3).fit(rows(3))
    fit = dp.fit("ppca", table, privacy=dp.Privacy(10.0, 1e-5), seed=3)
    assert model.ledger_.fingerprint() == fit.ledger.fingerprint()
    assert model.components_.shape == (3, 10)
    np.testing.assert_array_equal(model.components_, fit.parameters.loadings.T[:3])
    assert model.transform(rows(3)).shape == (len(units), 3)
    np.testing.assert_allclose(
        model.score(rows(3)), log_density(fit.parameters.as_factors(), rows(3))[0]
    )
    exact = np.cov(rows(3).T)
    assert np.abs(model.get_covariance() - exact).max() < 0.1 * exact.max()
