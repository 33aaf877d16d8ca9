"""The minimum-trace ellipsoid: always feasible, certified, and what general software finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import every, examples

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.models.labelled_mixture.min_trace import (
    SOLVERS,
    MinTrace,
    min_trace_covariance,
)


def worst(vectors: Array, found: MinTrace) -> float:
    """The largest ``v^T G^+ v``; it must not exceed 1."""
    values, axes = np.linalg.eigh(found.covariance)
    seen, there = vectors @ axes, values > 1e-13 * values[-1]
    if np.abs(seen[:, ~there]).max(initial=0.0) > 1e-6 * np.abs(vectors).max():
        return np.inf  # a vector leaves the ellipsoid's plane
    return float(np.sum(seen[:, there] ** 2 / values[there], axis=1).max())


def drawn(count: int, dim: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((dim, dim))
    vectors = rng.standard_t(4.0, (count, dim)) * np.linspace(0.3, 2.0, dim)
    return vectors, root @ root.T + np.eye(dim)


def test_corners_of_a_square_have_a_closed_form() -> None:
    """1/g_x + 1/g_y = 1 with g_x = 1 + sqrt(w_y/w_x)."""
    found = min_trace_covariance([[1.0, 1.0], [1.0, -1.0]], np.diag([4.0, 1.0]))
    np.testing.assert_allclose(found.covariance, np.diag([3.0, 1.5]), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.upper, 3.0 / 4.0 + 1.5, rtol=1e-8)


def test_one_vector_is_its_own_ellipsoid() -> None:
    vector = np.array([[1.0, -2.0, 0.5]])
    found = min_trace_covariance(vector)
    np.testing.assert_allclose(found.covariance, vector.T @ vector, rtol=3e-6, atol=3e-6)
    assert worst(vector, found) <= 1.0 + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_a_curve_that_two_rows_nearly_decide_is_covered_whole(seed: int) -> None:
    """(1, z, z^2): an optimum that two vectors almost span still has to hold the third axis."""
    z = np.random.default_rng(seed).standard_normal(300)
    vectors = np.column_stack([np.ones(300), z, z**2])
    found = min_trace_covariance(vectors, np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 3]]))
    assert worst(vectors, found) <= 1.0
    assert found.gap <= 1e-8


def test_axes_cover_themselves() -> None:
    found = min_trace_covariance(np.diag([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found.covariance, np.diag([1.0, 4.0, 9.0]), rtol=1e-8, atol=1e-8)


@every("dim", [1, 2, 3, 5, 8, 12])
@every("count", [20, 400, 5000])
def test_certified_and_feasible(dim: int, count: int) -> None:
    vectors, weight = drawn(count, dim, dim * count)
    found = min_trace_covariance(vectors, weight)
    assert 0.0 <= found.gap <= 1e-8
    assert worst(vectors, found) <= 1.0
    trace = np.trace(np.linalg.solve(weight, found.covariance))
    assert found.upper == pytest.approx(trace, rel=1e-10)


@examples(60)
@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.integers(1, 40),
    st.sampled_from([1e-150, 1e-9, 1.0, 1e9, 1e120]),
    st.integers(0, 3),
)
@example(39, 1, 4, 1.0, 0)
def test_feasible_in_every_shape_and_scale(
    seed: int, dim: int, count: int, scale: float, lost: int
) -> None:
    """Planes, repeated vectors, tiny and huge ones: the answer covers all of them."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, dim))
    vectors[:, : min(lost, dim - 1)] *= 1e-10
    vectors = np.concatenate([vectors, vectors[:3]]) * scale
    found = min_trace_covariance(vectors)
    assert found.gap <= 1e-4
    values, axes = np.linalg.eigh(found.covariance / scale / scale)
    seen = (vectors / scale) @ axes
    outside = np.abs(seen[:, values <= 0.0])
    assert outside.size == 0 or outside.max() < 1e-6
    good = values > 1e-15 * values[-1]
    assert np.sum(seen[:, good] ** 2 / values[good], axis=1).max() <= 1.0 + 1e-6


@pytest.mark.parametrize(("dim", "count"), [(1, 30), (3, 400), (6, 100), (4, 3)])
def test_both_solvers_agree_and_what_either_finds_is_certified(dim: int, count: int) -> None:
    vectors, weight = drawn(count, dim, 11)
    ours, theirs = (min_trace_covariance(vectors, weight, solver=name) for name in SOLVERS)
    assert theirs.upper == pytest.approx(ours.upper, rel=1e-6)
    assert theirs.lower <= ours.upper
    assert ours.lower <= theirs.upper
    assert 0.0 <= theirs.gap <= 2e-6
    assert worst(vectors, theirs) <= 1.0


def test_a_solver_that_is_none_and_a_problem_too_large_for_one_are_refused() -> None:
    with pytest.raises(InputError, match="exact, cvxpy"):
        min_trace_covariance(np.eye(2), solver="other")
    with pytest.raises(InputError, match="choose exact"):
        min_trace_covariance(np.eye(50), solver="cvxpy")


def test_zero_vectors_need_nothing_and_undefined_ones_are_refused() -> None:
    assert not min_trace_covariance(np.zeros((3, 2))).covariance.any()
    with pytest.raises(InputError, match="not finite"):
        min_trace_covariance([[np.nan, 1.0]])
    with pytest.raises(InputError, match="positive definite"):
        min_trace_covariance([[1.0, 1.0]], -np.eye(2))


def test_an_ellipsoid_found_early_is_feasible_too() -> None:
    """Whatever the gap, what is returned covers all vectors: feasibility is the privacy."""
    vectors, weight = drawn(3000, 6, 1)
    rough = min_trace_covariance(vectors, weight, tolerance=0.3)
    fine = min_trace_covariance(vectors, weight)
    assert worst(vectors, rough) <= 1.0
    assert rough.lower <= fine.upper <= rough.upper * (1.0 + 1e-9)


@pytest.mark.parametrize(("dim", "count"), [(2, 40), (3, 150), (6, 100)])
def test_agrees_with_a_semidefinite_solver(dim: int, count: int) -> None:
    import cvxpy  # slow to import

    vectors, weight = drawn(count, dim, 7)
    inverse = np.linalg.inv(weight)
    shape = cvxpy.Variable((dim, dim), symmetric=True)
    covers = [shape - np.outer(v, v) >> 0 for v in vectors]
    reference = cvxpy.Problem(cvxpy.Minimize(cvxpy.trace(inverse @ shape)), covers)
    reference.solve(solver="CLARABEL")
    found = min_trace_covariance(vectors, weight)
    assert found.upper == pytest.approx(float(reference.value), rel=1e-7)
