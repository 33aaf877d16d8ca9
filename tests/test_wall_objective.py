"""Objective perturbation: what its proof needs is true, and its ledger says what it costs."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy
from scipy.special import expit
from sealed_rows import session_of

from dpcore.accounting import compose
from dpcore.arrays import Array
from dpcore.errors import InputError, WallError
from dpcore.privacy import EpsilonDelta
from dpcore.schema import Column, Schema
from dpcore.wall.data import LogisticRows
from dpcore.wall.kernels.minimiser import minimiser
from dpcore.wall.kernels.row_blocks import cut_to_grid
from dpcore.wall.noise import GridNoise, NoiseSource
from dpcore.wall.session import Session
from dpcore.wall.statistics.perturbed_objective import (
    LEAST_RIDGE,
    SOLVED,
    NoisyMinimiser,
    PerturbedObjective,
)
from dpcore.wall.table import PrivateTable

ADJACENCIES = ("replace_one", "add_remove", "label")
SCHEMA = Schema((Column("a", lower=-1, upper=1), Column("b", lower=-1, upper=1),
                 Column("ill", "target", "binary")))  # fmt: skip
REACH = math.sqrt(3.0)


def people(count: int = 30, seed: int = 0) -> pd.DataFrame:
    """Numbers on a grid, which nothing cuts any further."""
    rng = np.random.default_rng(seed)
    numbers = np.rint(rng.uniform(-1, 1, (count, 2)) * 2.0**20) / 2.0**20
    frame = pd.DataFrame(numbers, columns=["a", "b"])
    return frame.assign(ill=rng.integers(2, size=count))


def opened(frame: pd.DataFrame, **more: Any) -> Session[LogisticRows]:
    return session_of(PrivateTable.seal(frame, SCHEMA), LogisticRows, **more)


def linear_noise(rows: Array, outcomes: Array, at: Array, ridge: float) -> Array:
    """The one noise that makes ``at`` the minimiser."""
    return -ridge * at - (expit(rows @ at) - outcomes) @ rows


def log_bends(rows: Array, at: Array, ridge: float) -> float:
    """Log determinant of the objective's second derivative."""
    chance = expit(rows @ at)
    bends = (rows * (chance * (1 - chance))[:, None]).T @ rows + ridge * np.eye(rows.shape[1])
    return float(np.linalg.slogdet(bends)[1])


def drawn_row(rng: np.random.Generator, at: Array) -> Array:
    """A row of the ball, often on its sphere and often where the loss bends most or least."""
    row = rng.normal(size=len(at))
    if rng.random() < 0.5:
        row -= row @ at / (at @ at) * at * rng.choice([1.0, 0.0, 0.9])
    return np.asarray(row / np.linalg.norm(row) * rng.choice([1.0, 1.0, rng.random()]))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(
    "ridge", [1.0, *(pytest.param(ridge, marks=pytest.mark.merge) for ridge in (0.05, 30.0))]
)
def test_an_attacker_meets_both_parts_of_the_proof_and_no_more(
    adjacency: str, ridge: float
) -> None:
    """Two tables that differ in one row: slopes and bends of the objective at any coefficients."""
    shape, rng = PerturbedObjective(3, 1.0), np.random.default_rng(0)
    moved = bent = 0.0
    for trial in range(4000):
        at = rng.normal(size=3) * 10.0 ** rng.uniform(-3, 3)
        others = np.array([drawn_row(rng, at) for _ in range(trial % 3)]).reshape(-1, 3)
        rows = np.vstack([drawn_row(rng, at), others])
        other = rows.copy()
        outcomes = rng.integers(2, size=len(rows)).astype(float)
        changed = outcomes.copy()
        changed[0] = 1.0 - outcomes[0]
        if adjacency == "replace_one":
            near = rows[0] + rng.normal(size=3) * 10.0 ** rng.uniform(-3, 0)
            other[0] = near / max(1.0, np.linalg.norm(near)) * rng.choice([1.0, 0.0])
        if adjacency == "add_remove":
            other, changed = rows[1:], outcomes[1:]
        noises = linear_noise(rows, outcomes, at, ridge), linear_noise(other, changed, at, ridge)
        moved = max(moved, float(np.linalg.norm(noises[0] - noises[1])))
        bent = max(bent, abs(log_bends(rows, at, ridge) - log_bends(other, at, ridge)))
    stated = float(shape.surplus(np.array(ridge), adjacency))
    assert moved <= shape.slope_sensitivity(adjacency)
    assert moved >= 0.98 * shape.slope_sensitivity(adjacency)
    assert bent <= stated + 1e-9
    assert bent >= 0.98 * stated


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("as_printed", [False, True])
def test_a_plan_never_costs_more_than_was_asked(
    adjacency: str, epsilon: float, as_printed: bool
) -> None:
    shape = PerturbedObjective(4, 2.0)
    for least in (1e-4, 1.0, 1e4):
        found = shape.plan(np.array([epsilon]), np.array([least]), adjacency, as_printed=as_printed)
        ridge, scale = found
        spent = shape.slope_sensitivity(adjacency) / scale + shape.surplus(ridge, adjacency)
        assert ridge >= least
        assert 0.0 < spent <= epsilon * (1.0 + 1e-9)
        if not as_printed:
            assert spent == pytest.approx((1.0 - SOLVED) * epsilon)


def test_the_printed_plan_is_algorithm_2() -> None:
    """With n rows, Lambda = ridge / n, c = 1/4: Chaudhuri, Monteleoni, Sarwate 2011."""
    shape, n, c = PerturbedObjective(4, 1.0), 100, 0.25
    for epsilon, weight in ((0.5, 0.05), (0.5, 1e-3), (0.1, 1e-4)):
        left = epsilon - math.log(1 + 2 * c / (n * weight) + c**2 / (n * weight) ** 2)
        more = 0.0
        if left <= 0:
            more = c / (n * (math.exp(epsilon / 4) - 1)) - weight
            left = epsilon / 2
        ridge, scale = shape.plan(
            np.array([epsilon]), np.array([n * weight]), "replace_one", as_printed=True
        )
        assert ridge[0] == pytest.approx(n * (weight + more), rel=1e-6)
        assert scale[0] == pytest.approx(2.0 / left, rel=1e-6)


def test_noise_has_any_direction_and_a_gamma_length() -> None:
    noise = NoiseSource(3, range(6000)).long_tailed(4)
    length = np.linalg.norm(noise, axis=1)
    assert scipy.stats.kstest(length, scipy.stats.gamma(4).cdf).pvalue > 1e-3
    assert scipy.stats.kstest(1.1 * length, scipy.stats.gamma(4).cdf).pvalue < 1e-3
    directions = noise / length[:, None]
    np.testing.assert_allclose(directions.mean(axis=0), 0.0, atol=0.03)
    np.testing.assert_allclose(directions.T @ directions / 6000, np.eye(4) / 4, atol=0.02)


@pytest.mark.merge
def test_the_minimisers_law_is_the_one_in_the_proof() -> None:
    """In one dimension: density of the noise at what it must have been, times the bends."""
    rows, outcomes, ridge, scale = np.array([[0.9], [-0.5], [1.0]]), np.array([1.0, 0, 0]), 0.6, 1.5
    noise = scale * NoiseSource(5, range(1500)).long_tailed(1)
    turned = cut_to_grid(rows, 1.0) * (1.0 - 2.0 * outcomes)[:, None]
    found = [float(minimiser(turned, one, ridge, 1e-10, 1.0)[0]) for one in noise]
    grid = np.linspace(-30, 30, 24001)
    needed = np.array([linear_noise(rows, outcomes, np.array([at]), ridge)[0] for at in grid])
    bends = np.exp([log_bends(rows, np.array([at]), ridge) for at in grid])
    density = np.exp(-np.abs(needed) / scale) / (2 * scale) * bends
    law = np.cumsum(density) * (grid[1] - grid[0])
    assert law[-1] == pytest.approx(1.0, abs=1e-3)
    assert scipy.stats.kstest(found, lambda x: np.interp(x, grid, law)).pvalue > 1e-3
    flat = np.cumsum(density / bends)
    assert scipy.stats.kstest(found, lambda x: np.interp(x, grid, flat / flat[-1])).pvalue < 1e-3


def test_without_privacy_it_is_scikit_learns_fit() -> None:
    from sklearn.linear_model import LogisticRegression

    frame = people(300)
    session = opened(frame, noise=None)
    found = PerturbedObjective(3, REACH).release(session, "all", np.array([1.0]), np.array([2.5]))
    x = np.column_stack([frame[["a", "b"]], np.ones(300)])
    oracle = LogisticRegression(C=1 / 2.5, fit_intercept=False, tol=1e-12).fit(x, frame["ill"])
    np.testing.assert_allclose(found.coefficients[0], oracle.coef_[0], atol=1e-6)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_one_release_is_one_black_box_of_what_was_asked(adjacency: str) -> None:
    session = opened(people(), runs=2, adjacency=adjacency)
    asked = np.array([0.5, 4.0])
    shape = PerturbedObjective(3, REACH)
    found = shape.release(session, "all", asked, np.array([1.0]))
    (entry,) = session.ledger
    assert entry.proof == shape.lemma
    for run in range(2):
        event = entry.at(run).event
        assert isinstance(event.mechanism, EpsilonDelta)
        assert astuple(event.mechanism) == (pytest.approx(asked[run]), 0.0)
        assert entry.at(run).as_dict()["epsilon"] == pytest.approx(asked[run])
        spent = float(np.asarray(compose([event], "linear", delta=0.0).epsilon))
        assert spent == pytest.approx(asked[run])
        assert spent <= asked[run] * (1 + 1e-9)
    assert np.all(np.isfinite(found.coefficients))


@pytest.mark.parametrize("rows_per_person", [1, 4])
def test_rows_of_one_person_are_paid_for_together(rows_per_person: int) -> None:
    session = opened(people(), rows_per_person=rows_per_person)
    shape = PerturbedObjective(3, REACH)
    found = shape.release(session, "all", np.array([1.0]), np.array([1.0]))
    spent = shape.slope_sensitivity("replace_one") / found.noise_scale
    spent = rows_per_person * (spent + shape.surplus(found.ridge, "replace_one"))
    assert spent[0] == pytest.approx(1.0 - SOLVED)
    (entry,) = session.ledger
    assert astuple(entry.at(0).event.mechanism) == (pytest.approx(1.0), 0.0)


HOSTILE = ([np.nan, 1e300], [np.inf, -np.inf], [-1e300, 1e-300], [1.0, 1.0])


class OnlyInside(NoiseSource):
    """Noise in the objective, and none on what was found of it: the second draw."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.drawn: Array | None = None

    def long_tailed(self, dim: int) -> Array:
        if self.drawn is not None:
            return np.zeros_like(self.drawn)
        self.drawn = super().long_tailed(dim)
        return self.drawn


def left_of_the_gradient(session: Session[LogisticRows], released: NoisyMinimiser) -> float:
    """As a share of the accuracy that is paid for, and of what rounding the coefficients adds."""
    assert isinstance(session._noise, OnlyInside)
    rows, outcomes = session.source._designed.astype(np.longdouble), session.source._outcomes
    (at,), (ridge,), (scale,) = released.coefficients, released.ridge, released.noise_scale
    terms = (1 / (1 + np.exp(-(rows @ at))) - outcomes)[:, None] * rows
    total = np.array([math.fsum(column) for column in terms.T])
    left = float(np.linalg.norm(total + ridge * at + scale * session._noise.drawn[0]))
    rounded = (ridge + len(rows) * REACH**2 / 4) * 2.0**-53 * float(np.linalg.norm(at))
    accuracy = PerturbedObjective(3, REACH).accuracy(ridge, scale)
    return left / (float(accuracy) + rounded)


@pytest.mark.parametrize("cells", HOSTILE)
@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 50.0])
def test_hostile_rows_are_solved_to_the_accuracy_that_is_paid_for(
    cells: list[float], epsilon: float
) -> None:
    frame = people(200)
    frame.loc[:20, ["a", "b"]] = cells
    frame["ill"] = 1  # separable: no minimiser but for the ridge
    session = opened(frame, noise=OnlyInside(1))
    shape = PerturbedObjective(3, REACH)
    assert np.all(np.linalg.norm(session.source._designed, axis=1) <= REACH * (1 + 1e-12))
    released = shape.release(session, "all", np.array([epsilon]), np.array([1e-3]))
    assert left_of_the_gradient(session, released) <= 1.0


@pytest.mark.parametrize("epsilon", [10.0, 50.0])
def test_equal_rows_whose_rounding_adds_up_are_solved_to_the_accuracy_that_is_paid_for(
    epsilon: float,
) -> None:
    """In floating point the sums of equal rows are all rounded to one side."""
    rng = np.random.default_rng(0)
    frame = people(100_000, seed=1).assign(
        a=0.1015625, b=-0.703125, ill=rng.integers(2, size=100_000)
    )
    session = opened(frame, noise=OnlyInside(0))
    released = PerturbedObjective(3, REACH).release(
        session, "all", np.array([epsilon]), np.array([1.0])
    )
    assert left_of_the_gradient(session, released) <= 1.0


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 1])
def test_three_million_rows_are_solved_to_the_accuracy_that_is_paid_for(seed: int) -> None:
    frame = people(3_000_000, seed)
    chance = expit(2.0 * frame["a"] - frame["b"])
    frame["ill"] = np.random.default_rng(seed).random(len(frame)) < chance
    session = opened(frame.assign(ill=frame["ill"].astype(int)), noise=OnlyInside(seed))
    released = PerturbedObjective(3, REACH).release(
        session, "all", np.array([10.0]), np.array([1.0])
    )
    assert left_of_the_gradient(session, released) <= 1.0


@pytest.mark.parametrize("ill", ["all", "one", "none"])
@pytest.mark.parametrize("count", [30, 1000])
def test_a_minimiser_is_reached_whatever_the_labels(count: int, ill: str) -> None:
    """Whether it is reached would be an answer, and the labels would decide it."""
    labels = {"all": np.ones(count), "one": np.arange(count) == 7, "none": np.zeros(count)}[ill]
    for seed in range(8):
        frame = people(count, seed).assign(ill=labels.astype(int))
        session = opened(frame, adjacency="label", noise=OnlyInside(seed))
        shape = PerturbedObjective(3, REACH)
        released = shape.release(session, "all", np.ones(1), np.array([1e-6]))
        assert np.all(np.isfinite(released.coefficients))


def test_what_is_left_of_the_gradient_is_nothing_to_the_noise() -> None:
    """The second noise, which hides the solver, moves nothing that the first has not moved."""
    session = opened(people(5000), runs=40)
    shape, many = PerturbedObjective(3, REACH), np.full(40, 1.0)
    found = shape.release(session, "all", many, np.array([1.0]))
    accuracy = shape.accuracy(found.ridge, found.noise_scale)
    spread = 2.0 * accuracy / found.ridge / SOLVED
    assert np.all(3 * spread < 0.01 * found.coefficients.std(axis=0).max())


def test_what_is_not_proved_is_refused() -> None:
    shape, one = PerturbedObjective(3, REACH), np.array([1.0])
    with pytest.raises(InputError, match="feature"):
        shape.release(opened(people(), adjacency="feature"), "all", one, one)
    with pytest.raises(WallError, match="ball"):
        PerturbedObjective(3, 1.0).release(opened(people()), "all", one, one)
    with pytest.raises(InputError, match="integer noise"):
        shape.release(opened(people(), noise=GridNoise()), "all", one, one)
    for bad in (0.0, -1.0, math.nan, math.inf):
        session = opened(people())
        with pytest.raises(InputError):
            shape.release(session, "all", np.array([bad]), one)
        assert len(session.ledger) == 0


@pytest.mark.parametrize("private", [True, False])
def test_a_ridge_too_small_to_compute_with_is_refused_whatever_the_rows(private: bool) -> None:
    least = LEAST_RIDGE * REACH**2
    shape, epsilon = PerturbedObjective(3, REACH), np.array([1.0])
    noise = NoiseSource(0) if private else None
    for frame in (people(), people(3, 1)):
        session = opened(frame, adjacency="label", noise=noise)
        with pytest.raises(InputError, match=r"ridge: .* give 6e-08 or more"):
            shape.release(session, "all", epsilon, np.array([0.9 * least]))
        assert len(session.ledger) == 0
        shape.release(session, "all", epsilon, np.array([1.1 * least]))


def test_a_budget_too_small_to_compute_with_is_refused() -> None:
    session, shape = opened(people()), PerturbedObjective(3, REACH)
    with pytest.raises(InputError, match="epsilon"):
        shape.release(session, "all", np.array([1e-120]), np.array([1.0]))
    assert len(session.ledger) == 0
