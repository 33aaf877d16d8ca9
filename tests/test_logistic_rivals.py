"""Rivals of the one release: objective perturbation and gradient-perturbation inference (DPVI)."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sealed_rows import session_of

import dpcore as dp
from dpcore.accounting import compose
from dpcore.arrays import Array
from dpcore.cli.models import usual_method
from dpcore.errors import InputError, WallError
from dpcore.fitting.api import fit_grid
from dpcore.models.logistic_regression import mathematics as logistic
from dpcore.models.logistic_regression import variational
from dpcore.models.logistic_regression.scoring import YARDSTICK
from dpcore.models.logistic_regression.variational import Climb, Factorised
from dpcore.privacy import EpsilonDelta, Gaussian, Privacy
from dpcore.schema import Column, Schema
from dpcore.wall.data import LogisticRows
from dpcore.wall.session import Noise
from dpcore.wall.statistics.gradients import RowGradient
from dpcore.wall.statistics.logistic_statistics import NoisyOutcomes
from dpcore.wall.subsample import Minibatches, Sample
from dpcore.wall.table import PrivateTable

DELTA = 1e-5
TRUTH = np.array([2.0, -1.5, 0.0])
RIVALS: tuple[dict[str, Any], ...] = (
    {"algorithm": "objective"},
    {"algorithm": "dpvi", "iterations": 20},
    {"algorithm": "dpvi", "iterations": 20, "rate": 0.2},
)


def sealed(count: int = 2000, seed: int = 0) -> PrivateTable:
    rng = np.random.default_rng(seed)
    rows = np.clip(rng.normal(0.0, 0.4, (count, 3)), -1, 1)
    ill = (rng.random(count) < expit(rows @ TRUTH - 0.5)).astype(int)
    numbers = [Column(name, lower=-1, upper=1) for name in "abc"]
    schema = Schema((*numbers, Column("ill", role="target", type="binary")))
    return PrivateTable.seal(pd.DataFrame(rows, columns=list("abc")).assign(ill=ill), schema)


def asked(epsilon: float, options: dict[str, Any], adjacency: str = "replace_one") -> Privacy:
    alone = options["algorithm"] == "objective"
    return Privacy(
        epsilon=epsilon,
        delta=DELTA,
        adjacency=adjacency,
        accountant="linear" if alone else "exact",
    )


@pytest.mark.parametrize("options", RIVALS)
def test_more_budget_finds_the_truth(options: dict[str, Any]) -> None:
    scorer = YARDSTICK.scorer(sealed(4000, seed=9), None)
    train = sealed(8000)
    budgets = [asked(e, options) for e in (0.02, 5.0)]
    grid = fit_grid("logistic", train, privacy=budgets, draws=range(5), seed=0, **options)
    found = YARDSTICK.score(grid.runs.final, scorer).reshape(2, 5).mean(axis=1)
    exact = YARDSTICK.score(YARDSTICK.converged(train, 1, {}), scorer)[0]
    assert found[0] < found[1]
    assert abs(found[1] - exact) < 0.01


def test_objective_perturbation_has_no_delta() -> None:
    fit = dp.fit("logistic", sealed(300), privacy=asked(2.0, RIVALS[0]), seed=0, **RIVALS[0])
    (event,) = fit.ledger.events
    assert isinstance(event.mechanism, EpsilonDelta)
    assert astuple(event.mechanism) == (pytest.approx(2.0), 0.0)
    assert float(np.asarray(compose([event], "linear", delta=0.0).epsilon)) <= 2.0 + 1e-9
    with pytest.raises(InputError, match="linear"):
        dp.fit(
            "logistic", sealed(50), privacy=Privacy(epsilon=1.0, delta=DELTA), **RIVALS[0], seed=0
        )


def test_in_either_mode_it_is_counted_by_adding_epsilons_unless_one_says_so() -> None:
    """The command line's own choice must be one that counts it."""
    for mode in ("proved", "paper"):
        assert usual_method("logistic", mode, {"algorithm": "objective"}) == "linear"
    assert usual_method("logistic", "paper", {}) == "exact"


def test_as_printed_it_claims_epsilon_alone_and_keeps_it() -> None:
    request = Privacy(epsilon=1.0, delta=DELTA, mode="paper", accountant="linear")
    fit = dp.fit("logistic", sealed(300), privacy=request, algorithm="objective", ridge=5.0, seed=0)
    claim = fit.guarantee.claim
    assert (claim.epsilon, claim.delta, claim.holds) == (1.0, 0.0, True)
    assert "Chaudhuri" in claim.source
    assert 0.7 < fit.guarantee.epsilon < 1.0


@pytest.mark.parametrize("options", RIVALS)
def test_what_is_not_known_of_the_noise_is_not_told(options: dict[str, Any]) -> None:
    fit = dp.fit("logistic", sealed(300), privacy=asked(1.0, options), seed=0, **options)
    assert np.all(np.isnan(fit.parameters.intervals()))
    record = fit.parameters.as_dict()
    assert record["intervals"] is None
    assert "unknown" in record["intervals_include"]
    grid = fit_grid("logistic", sealed(300), privacy=[asked(1.0, options)], seed=0, **options)
    chances = grid.runs.final.probabilities(np.zeros((2, 3)))
    assert np.all((chances > 0.0) & (chances < 1.0))


# --- gradients -----------------------------------------------------------------------------------


def test_row_gradients_are_those_of_the_log_likelihood() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, 3)), rng.integers(2, size=5).astype(float)
    known = Factorised(rng.normal(size=(1, 3)), rng.normal(size=(1, 3)))
    coins = rng.normal(size=(4, 3))
    found = variational.row_gradients(known, coins)(x, y, np.arange(1))[0]

    def likelihood(at: Array) -> Array:
        beta = at[:3] + np.exp(at[3:]) * coins
        return np.asarray((y * (beta @ x.T) - np.logaddexp(0.0, beta @ x.T)).mean(axis=0))

    at = np.concatenate([known.mean[0], known.log_sd[0]])
    for part in range(6):
        step = 1e-6 * np.eye(6)[part]
        slope = (likelihood(at + step) - likelihood(at - step)) / 2e-6
        np.testing.assert_allclose(found[part], slope, atol=1e-7)


@pytest.mark.merge
def test_without_noise_the_climb_ends_at_the_variational_posterior() -> None:
    """The means of variational Bayes' own steps, and the variances that the bound asks for."""
    rng, every = np.random.default_rng(0), np.arange(1)
    x = np.column_stack([np.clip(rng.normal(0.0, 0.4, (600, 3)), -1, 1), np.ones(600)])
    y = (rng.random(600) < expit(x @ [2.0, -1.5, 0.0, -0.5])).astype(float)
    known, fit = Factorised.start(1, 4), logistic.nothing(1, 4)
    climb, late = Climb(known, 0.02), []
    for step in range(2500):
        pull = variational.row_gradients(known, rng.standard_normal((8, 4)))(x, y, every)
        known = climb.step(pull.sum(axis=2) + variational.of_prior(known))
        late += [known] if step >= 1500 else []
    for _ in range(60):
        weights = logistic.curvature(fit)(x, every)[0]
        sums = NoisyOutcomes(
            ((y - 0.5) @ x)[None], ((x * weights[:, None]).T @ x)[None], np.zeros(1), np.zeros(1)
        )
        fit = logistic.step(sums, logistic.precision(fit))
    found = variational.averaged(late).coefficients()
    np.testing.assert_allclose(found.mean, fit.mean, atol=0.05)
    variance = np.diagonal(found.covariance[0])
    drawn = expit((found.mean[0] + np.sqrt(variance) * rng.standard_normal((2000, 4))) @ x.T)
    bends = (drawn * (1.0 - drawn)).mean(axis=0)  # where the bound is largest, by its gradient
    exact = 1.0 / (logistic.precision(found)[0] + bends @ x**2)
    np.testing.assert_allclose(variance, exact, rtol=0.1)


@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_any_released_gradient_gives_a_posterior() -> None:
    for bad in (np.nan, np.inf, -np.inf, 1e300, 0.0):
        climb = Climb(Factorised.start(2, 3), 0.5)
        for _ in range(40):
            known = climb.step(np.full((2, 6), bad))
        assert np.all(np.isfinite(known.mean))
        assert np.all(np.isfinite(known.coefficients().covariance))
        assert np.all(np.isfinite(variational.of_prior(known)))


HOSTILE = (np.nan, np.inf, -np.inf, 1e300, -3.0, 0.1)


@pytest.mark.parametrize(
    "adjacency", ["replace_one", pytest.param("add_remove", marks=pytest.mark.merge)]
)
def test_no_gradient_and_no_row_moves_the_sum_by_more_than_stated(adjacency: str) -> None:
    shape, rng, most = RowGradient(4, 0.5), np.random.default_rng(0), 0.0
    schema = sealed(2).schema
    assert schema is not None
    for trial in range(60):
        cells = pd.DataFrame(rng.uniform(-1, 1, (8, 3)), columns=list("abc"))
        cells["ill"] = rng.integers(2, size=8)
        other = cells.copy()
        other.loc[0, ["a", "b", "c"]] = rng.choice(HOSTILE, 3)
        if adjacency == "add_remove":
            other = other.iloc[1:]
        sums = []
        for frame in (cells, other):
            rows = PrivateTable.seal(frame, schema)
            session = session_of(rows, LogisticRows, adjacency=adjacency)

            def gradients(
                rows: Array,
                outcomes: Array,
                runs: Any,
                wild: float = HOSTILE[trial % 6],
                middle: float = float(cells["a"].iloc[0]),
            ) -> Array:
                spoilt = wild * np.sign(rows[:, :1] - middle + 1e-9)
                found = np.where(outcomes[:, None] > 0, spoilt, 7.0 * rows)
                return np.asarray(found.T[None])

            batches = Minibatches(session, Sample("none", 1.0))
            noisy = session.release("sum", shape, gradients, Noise("gaussian", 1e-12), batches)
            sums.append(np.append(noisy.counts / shape.scale("counts"), noisy.sums / 0.5))
        most = max(most, float(np.linalg.norm(sums[0] - sums[1])))
    assert most <= shape.l2_sensitivity(adjacency)
    assert most > 0.7 * shape.l2_sensitivity(adjacency)


def test_gradients_leave_on_samples_with_their_entry() -> None:
    session = session_of(sealed(100), LogisticRows, runs=2)
    batches = Minibatches(session, Sample.under("replace_one", 0.25))
    shape = RowGradient(4, 0.5)

    def ones(rows: Array, outcomes: Array, runs: Any) -> Array:
        assert len(rows) == 25
        with pytest.raises(ValueError, match="read-only"):
            rows[0] = 0.0
        return np.ones((len(runs), 4, len(rows)))

    found = session.release("sum", shape, ones, Noise("gaussian", 1e-9), batches)
    np.testing.assert_allclose(found.sums, 25 * 0.25, rtol=1e-6)
    (entry,) = session.ledger
    assert isinstance(entry.event.mechanism, Gaussian)
    assert entry.event.mechanism.noise_multiplier == pytest.approx(1e-9)
    assert (entry.event.sampling, entry.event.sampling_rate) == ("without_replacement", 0.25)
    with pytest.raises(WallError, match="one vector"):
        session.release(
            "sum",
            shape,
            lambda rows, outcomes, runs: np.ones((1, 1, 1)),
            Noise("gaussian", 1.0),
            batches,
        )
    free = RowGradient(4, math.inf)
    with pytest.raises(WallError, match="bound"):
        session.release("sum", free, ones, Noise("gaussian", 1.0), batches)
    assert len(session.ledger) == 1


# --- labels alone --------------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithm", "epsilon"), [("one_shot", 0.1), ("objective", 0.3)])
def test_protecting_labels_alone_costs_less_noise(algorithm: str, epsilon: float) -> None:
    train, scorer = sealed(1000), YARDSTICK.scorer(sealed(4000, seed=9), None)
    found, options = {}, {"algorithm": algorithm}
    for adjacency in ("replace_one", "label"):
        request = asked(epsilon, options, adjacency)
        grid = fit_grid("logistic", train, privacy=[request], draws=range(30), seed=0, **options)
        guarantee = grid.guarantee()
        assert guarantee.proof is not None
        assert guarantee.epsilon == pytest.approx(epsilon, rel=1e-3)
        assert ("public" in " ".join(guarantee.assumptions)) is True
        found[adjacency] = float(YARDSTICK.score(grid.runs.final, scorer).mean())
    assert found["label"] > found["replace_one"] + 0.005


@pytest.mark.parametrize("algorithm", ["vb", "vips", "dpvi"])
def test_steps_that_read_features_and_labels_are_refused_for_labels_alone(algorithm: str) -> None:
    request = Privacy(epsilon=1.0, delta=DELTA, adjacency="label")
    with pytest.raises(InputError, match="adjacency"):
        dp.fit("logistic", sealed(50), privacy=request, algorithm=algorithm, seed=0)
