"""The noise budget is shared as the derivation says: losses are true, weights are the best."""

from __future__ import annotations

import math
import os
import signal
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from support import examples

import dpcore as dp
from dpcore.fitting.api import fit_grid
from dpcore.mechanisms.gaussian import symmetric_from_coordinates
from dpcore.models.gaussian_mixture.mathematics import log_density
from dpcore.models.gaussian_mixture.private import (
    RECIPE,
    STEPS,
    MixtureSettings,
)
from dpcore.models.shared.allocation import losses, solved_weights, step_shares
from dpcore.models.shared.moments import floored_eigenvalues
from dpcore.privacy.events import noise_of
from dpcore.schema import Column, Schema
from dpcore.wall.kernels.threads import (
    WORTH_SHARING,
    Memory,
    eigh,
    in_order,
    one_thread,
    pool,
    single_threaded,
)
from dpcore.wall.statistics.mixture_moments import MixtureMoments
from dpcore.wall.statistics.statistic import STRUCTURES, Structure

LOSS = st.floats(1e-3, 1e3)


def refitted_loss(structure: Structure, dim: int, variance: float, errors: np.ndarray) -> float:
    """Nats lost by refitting ``n = 1`` row's worth of N(0, vI) from moments with these errors:
    KL of the shapes, and of a Poisson count for the weight."""
    count, sums, squares = 1.0 + errors[0], errors[1 : 1 + dim], errors[1 + dim :]
    exact = variance * np.eye(dim)
    if structure == "full":
        second = exact + symmetric_from_coordinates(squares, dim)
    elif structure == "diag":
        second = exact + np.diag(squares)
    else:
        second = exact + squares[0] / dim * np.eye(dim)
    mean = sums / count
    shape = second / count - np.outer(mean, mean)
    if structure != "full":
        shape = np.diag(np.diag(shape))
    if structure == "spherical":
        shape = np.trace(shape) / dim * np.eye(dim)
    inverse = np.linalg.inv(shape)
    shapes = (
        np.trace(inverse @ exact) - dim + np.linalg.slogdet(shape)[1] - dim * math.log(variance)
    )
    return float((shapes + mean @ inverse @ mean) / 2 + count - 1 - math.log(count))


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize(("dim", "variance"), [(1, 1.0), (2, 0.3), (5, 2.0)])
def test_losses_are_the_second_order_loss(structure: Structure, dim: int, variance: float) -> None:
    """Sum over a block's coordinates of the loss of an error h, over h^2 (even part), h small."""
    form = MixtureMoments(1, dim, structure, 1.0, 1.0, 1.0, 1.0)
    found, h = [], 1e-3 * variance
    for block in ("counts", "sums", "squares"):
        total = 0.0
        for at in range(*form.slice(block).indices(form.size)):
            error = np.zeros(form.size)
            error[at] = h
            both = [refitted_loss(structure, dim, variance, sign * error) for sign in (1, -1)]
            total += sum(both) / (2 * h**2)
        found.append(total)
    np.testing.assert_allclose(found, losses(dim, structure, 1.0, variance), rtol=1e-4)
    moved = losses(dim, structure, 3.0, variance) / losses(dim, structure, 1.0, variance)
    np.testing.assert_allclose(moved, [1.0, 9.0, 81.0])


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.merge) for seed in (1, 2))]
)
def test_noise_of_the_solved_size_loses_what_is_expected(seed: int) -> None:
    """A simulation: the mean loss of random errors, isotropic in the released coordinates."""
    rng = np.random.default_rng(seed)
    weights, noise = solved_weights(losses(3, "full", 2.0)), 1e-3
    unit = np.repeat([1.0, 2.0, 4.0] / weights, [1, 3, 6])
    lost = [refitted_loss("full", 3, 1.0, noise * unit * rng.normal(size=10)) for _ in range(4000)]
    expected = noise**2 * np.sum(losses(3, "full", 2.0) / weights**2)
    assert np.mean(lost) == pytest.approx(expected, rel=0.06)


def least_loss(loss: np.ndarray) -> float:
    """The same minimum by a general solver, from several starts."""
    limits: list[Callable[[np.ndarray], float]] = [
        lambda x: x[0] - x[1] ** 2 / (4 * x[2]),
        lambda x: 2 * x[2] - x[1],
    ]
    # Some versions of the solver say that a step was cut off at the limits.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = [_solved(loss, start, limits) for start in STARTS]
    return math.exp(min(each.fun for each in found if each.success))


STARTS = ([0.3, 0.3, 0.4], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2])


def _solved(loss: np.ndarray, start: list[float], limits: list[Any]) -> Any:
    return minimize(
        lambda x: math.log(float(np.sum(loss / x))),
        start,
        method="SLSQP",
        bounds=[(1e-6, 1.0)] * 3,
        constraints=[
            {"type": "eq", "fun": lambda x: x.sum() - 1.0},
            *({"type": "ineq", "fun": limit} for limit in limits),
        ],
        options={"ftol": 1e-13, "maxiter": 500},
    )


@given(LOSS, LOSS, LOSS)
@examples(40)
def test_no_allowed_weights_lose_less(counts: float, sums: float, squares: float) -> None:
    loss = np.array([counts, sums, squares])
    weights = solved_weights(loss)
    assert np.sum(weights**2) == pytest.approx(1.0)
    MixtureMoments(1, 1, "full", 1.0, *map(float, weights))  # refuses what is not proved
    rivals = np.random.default_rng(0).dirichlet(np.ones(3), 1000)
    a, b, c = rivals.T
    allowed = rivals[(a >= b**2 / (4 * c)) & (b <= 2 * c)]
    mine = float(np.sum(loss / weights**2))
    assert mine <= np.min(np.sum(loss / allowed, axis=1)) * (1 + 1e-9)
    assert mine <= least_loss(loss) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("loss", "binding"),
    [
        ((1.0, 1.0, 1.0), "none"),
        ((0.0, 1.0, 1.0), "counts"),
        ((0.01, 2.0, 1.0), "counts"),
        ((1.0, 9.0, 0.01), "both"),
        ((30.0, 9.0, 0.01), "sums"),
    ],
)
def test_each_case_of_the_solution_occurs(loss: tuple[float, ...], binding: str) -> None:
    a, b, c = solved_weights(np.array(loss))
    low, wide = math.isclose(a, b**2 / (2 * c)), math.isclose(b**2, 2 * c**2, rel_tol=1e-8)
    assert {(0, 0): "none", (1, 0): "counts", (1, 1): "both", (0, 1): "sums"}[low, wide] == binding
    nearby = np.array(loss) + 1e-9  # a loss that vanishes is no leap
    np.testing.assert_allclose(solved_weights(nearby), [a, b, c], atol=1e-4)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_every_shape_of_table_gets_proved_weights(structure: Structure, adjacency: str) -> None:
    for dim in (1, 2, 10, 100):
        for radius, variance in ((math.sqrt(dim) + 1, 1.0), (0.1, 0.01 / (dim + 2)), (1.0, 1.0)):
            loss = losses(dim, structure, radius, variance)
            weights = solved_weights(loss)
            form = MixtureMoments.normalised(3, dim, structure, radius, weights)
            assert form.l2_sensitivity(adjacency) <= math.sqrt(2) * (1 + 1e-7)


@pytest.mark.parametrize("iterations", [1, 2, 5, 10, 20, 50])
def test_late_steps_get_more_and_all_add_up(iterations: int) -> None:
    shares = step_shares(iterations)
    assert shares.shape == (iterations,)
    assert shares.sum() == pytest.approx(1.0)
    assert all(before <= after for before, after in pairwise(shares))
    assert len(np.unique(shares)) <= 4
    events = RECIPE.events(MixtureSettings(iterations=iterations))
    assert sum(event.count for event in events) == iterations + 4
    spent = sum(event.count / float(noise_of(event)) ** 2 for event in events)
    assert spent == pytest.approx(1.0)


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
@pytest.mark.parametrize(
    ("epsilon", "steps"), [(0.5, STEPS[2]), (1.5, STEPS[1]), (3.0, STEPS[0]), (50.0, None)]
)
def test_the_ledger_holds_the_priced_releases(
    epsilon: float, steps: list[int] | None, adjacency: str
) -> None:
    """What the plan prices is what a fit releases, in the same order, or where public numbers say
    that no group will be seen, with the noise of six releases in another."""
    table = dp.load("bundled:iris")
    privacy = dp.Privacy(epsilon=epsilon, delta=1e-5, adjacency=adjacency)
    fit = dp.fit("gmm", table, privacy=privacy, iterations=12)
    released = [entry.noise_scale / entry.sensitivity for entry in fit.ledger.entries]
    planned = np.repeat(
        [float(noise_of(event)) for event in RECIPE.events(MixtureSettings(iterations=12))],
        [event.count for event in RECIPE.events(MixtureSettings(iterations=12))],
    )
    if steps is not None and adjacency == "replace_one":
        late = np.arange(4, 16)[steps]
        planned[[0, 1, 2, *late]] = planned[[*late, 0, 1, 2]]
    ratio = np.ravel(released) / planned
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    assert fit.guarantee.epsilon == pytest.approx(epsilon, rel=1e-3)


def test_few_rows_far_inside_their_limits_are_described_better_than_by_one_gaussian() -> None:
    """Noise hides them unless the releases that say where all rows lie have much of the budget;
    one Gaussian spends 8% of it on these."""
    rows = 0.2 + 0.12 * np.random.default_rng(0).standard_normal((400, 12))
    frame = pd.DataFrame(rows).add_prefix("x")
    table = dp.load(frame, schema=Schema(tuple(Column(name, lower=-1, upper=1) for name in frame)))
    request = dp.Privacy(epsilon=0.1, delta=1e-5)
    density = [
        np.median(log_density(grid.runs.final, rows))
        for components in (3, 1)
        for grid in [
            fit_grid(
                "gmm", table, privacy=[request], draws=range(30), n_components=components, seed=1
            )
        ]
    ]
    assert density[0] > density[1] + 1.0


def test_lost_runs_do_not_depend_on_the_others_of_their_batch() -> None:
    table = dp.load("bundled:iris")
    requests = [dp.Privacy(epsilon=epsilon, delta=1e-5) for epsilon in (0.5, 50.0)]
    grid = fit_grid("gmm", table, privacy=requests, draws=range(1), seed=3)
    for at, request in enumerate(requests):
        alone = fit_grid("gmm", table, privacy=[request], draws=range(1), seed=3)
        for part in ("weights", "means", "covariances"):
            together, single = (getattr(runs.runs.final, part) for runs in (grid, alone))
            np.testing.assert_allclose(together[at], single[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_eigenvalues_are_floored_whether_or_not_they_must_be(dim: int) -> None:
    """Matrices that are let be are those that a whole decomposition would leave as they are."""
    rng = np.random.default_rng(dim)
    turns = np.linalg.qr(rng.standard_normal((40, 3, dim, dim)))[0]
    values = rng.uniform(0.0, 3.0, (40, 3, dim)) * rng.uniform(0.0, 1.0, (40, 1, 1))
    matrices = (turns * values[..., None, :]) @ np.swapaxes(turns, -1, -2) + 0.3 * np.eye(dim)
    matrices[0, 0, 0, 0] = np.nan
    floor, ceiling = rng.uniform(0.2, 0.5, (40, 3)), 2.5
    found = floored_eigenvalues(matrices, floor, ceiling)
    matrices[0, 0] = np.eye(dim)
    values, vectors = np.linalg.eigh(matrices)
    values = np.clip(values, floor[..., None], ceiling)
    expected = (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.any(np.all(found == matrices, axis=(-2, -1)))
    assert np.any(np.abs(found - matrices) > 0.01)


def test_decompositions_on_every_core_have_the_bits_of_one_thread() -> None:
    dim = 5
    count = WORTH_SHARING // dim**3 + 1
    matrices = np.random.default_rng(0).standard_normal((count, 2, dim, dim))
    matrices += np.swapaxes(matrices, -1, -2)
    with single_threaded():
        alone = eigh(matrices)
    for ours, one, numpys in zip(eigh(matrices), alone, np.linalg.eigh(matrices), strict=True):
        np.testing.assert_array_equal(ours, one)
        np.testing.assert_array_equal(ours, numpys)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forks beside threads
def test_the_child_of_a_fork_has_threads_of_its_own() -> None:
    list(pool().map(abs, range(4)))
    in_order(lambda index: index, lambda _, __: None, 4)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        sums = list(pool().map(abs, range(-4, 0)))
        in_order(lambda index: index, lambda _, value: sums.append(value), 4)
        os._exit(0 if sums == [4, 3, 2, 1, 0, 1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0


def blas_threads() -> set[int]:
    from threadpoolctl import threadpool_info

    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_one_thread_is_lifted_by_the_last_that_leaves() -> None:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()  # some libraries have but one
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before
        assert 2 in before


def test_a_sum_is_on_one_thread_though_others_end_meanwhile() -> None:
    """Two would share a block of rows, and what is found of a row hang on its place."""
    from threadpoolctl import threadpool_limits

    seen, other = [], one_thread()

    def part(index: int) -> NDArray[np.float64]:
        if index == 0:
            other.__exit__(None, None, None)
        seen.append(blas_threads())
        return np.zeros(1)

    with threadpool_limits(2, user_api="blas"):
        other.__enter__()
        in_order(part, lambda _, __: None, 3)
        assert 2 in blas_threads()
    assert seen == [{1}] * 3


def test_memory_is_used_again_by_the_same_thread_alone() -> None:
    memory = Memory()
    first = memory("rows", 4, 6)
    smaller, other = memory("rows", 3, 5), memory("features", 4, 6)
    assert smaller.shape == (3, 5)
    assert smaller.flags.c_contiguous
    assert np.shares_memory(first, smaller)
    assert not np.shares_memory(first, other)
    assert not np.shares_memory(first, memory("rows", 5, 6))
    with ThreadPoolExecutor(1) as pool:
        assert not np.shares_memory(memory("rows", 2), pool.submit(memory, "rows", 2).result())
