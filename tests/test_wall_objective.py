"""Objective perturbation: what its proof needs is true, and its ledger says what it costs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import gamma, kstest

from dpcore.accounting import compose
from dpcore.errors import InputError, WallError
from dpcore.privacy import EpsilonDelta
from dpcore.schema import Column, Schema
from dpcore.wall.noise import GridNoise, NoiseSource
from dpcore.wall.objective import (
    ACCURACY,
    SOLVED,
    PerturbedObjective,
    minimiser,
    perturb_objective,
)
from dpcore.wall.outcomes import OutcomeSession
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]
ADJACENCIES = ("replace_one", "add_remove", "label")
SCHEMA = Schema((Column("a", lower=-1, upper=1), Column("b", lower=-1, upper=1),
                 Column("ill", "target", "binary")))  # fmt: skip
REACH = math.sqrt(3.0)


def people(count: int = 30, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.uniform(-1, 1, (count, 2)), columns=["a", "b"])
    return frame.assign(ill=rng.integers(2, size=count))


def opened(frame: pd.DataFrame, *, runs: int = 1, seed: int = 0, **more: object) -> OutcomeSession:
    asked = {"adjacency": "replace_one", "noise": NoiseSource(seed, range(runs))} | more
    return OutcomeSession(
        PrivateTable.seal(frame, SCHEMA),
        draws=np.arange(runs),
        **asked,  # type: ignore[arg-type]
    )


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
@pytest.mark.parametrize("ridge", [0.05, 1.0, 30.0])
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
    assert moved <= shape.slope_diameter(adjacency)
    assert moved >= 0.98 * shape.slope_diameter(adjacency)
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
        spent = shape.slope_diameter(adjacency) / scale + shape.surplus(ridge, adjacency)
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
    assert kstest(length, gamma(4).cdf).pvalue > 1e-3
    assert kstest(1.1 * length, gamma(4).cdf).pvalue < 1e-3
    directions = noise / length[:, None]
    np.testing.assert_allclose(directions.mean(axis=0), 0.0, atol=0.03)
    np.testing.assert_allclose(directions.T @ directions / 6000, np.eye(4) / 4, atol=0.02)


def test_the_minimisers_law_is_the_one_in_the_proof() -> None:
    """In one dimension: density of the noise at what it must have been, times the bends."""
    rows, outcomes, ridge, scale = np.array([[0.9], [-0.5], [1.0]]), np.array([1.0, 0, 0]), 0.6, 1.5
    noise = scale * NoiseSource(5, range(1500)).long_tailed(1)
    found = np.array([minimiser(rows, outcomes @ rows - one, ridge, 1e-10)[0] for one in noise])
    grid = np.linspace(-30, 30, 24001)
    needed = np.array([linear_noise(rows, outcomes, np.array([at]), ridge)[0] for at in grid])
    bends = np.exp([log_bends(rows, np.array([at]), ridge) for at in grid])
    density = np.exp(-np.abs(needed) / scale) / (2 * scale) * bends
    law = np.cumsum(density) * (grid[1] - grid[0])
    assert law[-1] == pytest.approx(1.0, abs=1e-3)
    assert kstest(found, lambda x: np.interp(x, grid, law)).pvalue > 1e-3
    flat = np.cumsum(density / bends)
    assert kstest(found, lambda x: np.interp(x, grid, flat / flat[-1])).pvalue < 1e-3


def test_without_privacy_it_is_scikit_learns_fit() -> None:
    from sklearn.linear_model import LogisticRegression

    frame = people(300)
    session = opened(frame, noise=None)
    found = perturb_objective(
        session, "all", PerturbedObjective(3, REACH), np.array([1.0]), np.array([2.5])
    )
    x = np.column_stack([frame[["a", "b"]], np.ones(300)])
    oracle = LogisticRegression(C=1 / 2.5, fit_intercept=False, tol=1e-12).fit(x, frame["ill"])
    np.testing.assert_allclose(found.coefficients[0], oracle.coef_[0], atol=1e-6)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_one_release_is_one_black_box_of_what_was_asked(adjacency: str) -> None:
    session = opened(people(), runs=2, adjacency=adjacency)
    asked = np.array([0.5, 4.0])
    shape = PerturbedObjective(3, REACH)
    found = perturb_objective(session, "all", shape, asked, np.array([1.0]))
    (entry,) = session.ledger
    assert entry.proof == shape.lemma
    for run in range(2):
        event = entry.at(run).event
        assert event.mechanism == EpsilonDelta(pytest.approx(asked[run]), 0.0)  # type: ignore[arg-type]
        assert entry.at(run).as_dict()["epsilon"] == pytest.approx(asked[run])
        spent = float(np.asarray(compose([event], "linear", delta=0.0).epsilon))
        assert spent == pytest.approx(asked[run])
        assert spent <= asked[run] * (1 + 1e-9)
    assert np.all(np.isfinite(found.coefficients))


@pytest.mark.parametrize("rows_per_person", [1, 4])
def test_rows_of_one_person_are_paid_for_together(rows_per_person: int) -> None:
    session = opened(people(), rows_per_person=rows_per_person)
    shape = PerturbedObjective(3, REACH)
    found = perturb_objective(session, "all", shape, np.array([1.0]), np.array([1.0]))
    spent = shape.slope_diameter("replace_one") / found.noise_scale
    spent = rows_per_person * (spent + shape.surplus(found.ridge, "replace_one"))
    assert spent[0] == pytest.approx(1.0 - SOLVED)
    (entry,) = session.ledger
    assert entry.at(0).event.mechanism == EpsilonDelta(pytest.approx(1.0), 0.0)  # type: ignore[arg-type]


HOSTILE = ([np.nan, 1e300], [np.inf, -np.inf], [-1e300, 1e-300], [1.0, 1.0])


@pytest.mark.parametrize("cells", HOSTILE)
@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 50.0])
def test_hostile_rows_are_solved_to_the_accuracy_that_is_paid_for(
    cells: list[float], epsilon: float
) -> None:
    frame = people(200)
    frame.loc[:20, ["a", "b"]] = cells
    frame["ill"] = 1  # separable: no minimiser but for the ridge
    session = opened(frame)
    shape = PerturbedObjective(3, REACH)
    ridge, scale = shape.plan(np.array([epsilon]), np.array([1e-3]), "replace_one")
    rows, outcomes = session._designed, session._outcomes
    assert np.all(np.linalg.norm(rows, axis=1) <= REACH * (1 + 1e-12))
    noise = scale[0] * NoiseSource(1).long_tailed(3)[0]
    accuracy = ACCURACY * float(1.0 + ridge[0] + 3 * scale[0])
    at = minimiser(rows, outcomes @ rows - noise, float(ridge[0]), accuracy)
    left = linear_noise(rows, outcomes, at, float(ridge[0])) - noise
    assert np.linalg.norm(left) <= accuracy * (1 + 1e-6)
    perturb_objective(session, "all", shape, np.array([epsilon]), np.array([1e-3]))


def test_what_is_left_of_the_gradient_is_nothing_to_the_noise() -> None:
    """The second noise, which hides the solver, moves nothing that the first has not moved."""
    session = opened(people(5000), runs=40)
    shape, many = PerturbedObjective(3, REACH), np.full(40, 1.0)
    found = perturb_objective(session, "all", shape, many, np.array([1.0]))
    spread = 2.0 * ACCURACY * (1 + found.ridge + 3 * found.noise_scale) / found.ridge / SOLVED
    assert np.all(3 * spread < 0.01 * found.coefficients.std(axis=0).max())


def test_what_is_not_proved_is_refused() -> None:
    shape, one = PerturbedObjective(3, REACH), np.array([1.0])
    with pytest.raises(InputError, match="feature"):
        perturb_objective(opened(people(), adjacency="feature"), "all", shape, one, one)
    with pytest.raises(WallError, match="ball"):
        perturb_objective(opened(people()), "all", PerturbedObjective(3, 1.0), one, one)
    with pytest.raises(InputError, match="whole numbers"):
        perturb_objective(opened(people(), noise=GridNoise()), "all", shape, one, one)
    for bad in (0.0, -1.0, math.nan, math.inf):
        session = opened(people())
        with pytest.raises(InputError):
            perturb_objective(session, "all", shape, np.array([bad]), one)
        assert len(session.ledger) == 0
    rows = np.full((4, 2), 1e-3)
    with pytest.raises(WallError, match="accuracy"):
        minimiser(rows, np.array([1e9, 0.0]), 1.0, -1.0)
    with pytest.raises(WallError, match="accuracy"):  # and in no other words where none is unique
        minimiser(np.ones((4, 2)), np.array([1.0, 2.0]), 1e-300, 1e-9)


def test_a_minimiser_that_is_not_found_has_been_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """That it was not found depends on the rows, so it is an answer like any other."""
    monkeypatch.setattr("dpcore.wall.objective.STEPS", 0)
    session, one = opened(people()), np.array([1.0])
    with pytest.raises(WallError, match="accuracy"):
        perturb_objective(session, "all", PerturbedObjective(3, REACH), one, one)
    assert len(session.ledger) == 1
