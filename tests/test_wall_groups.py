"""Groups that see rows in frames of their own: no frame and no model moves a sum by more."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sealed_rows import session_of
from support import every, examples
from test_wall_blocks import hostile_rows
from test_wall_contributions import ADJACENCIES, CELLS, HOSTILE, assert_within, neighbour

import dpcore as dp
from dpcore.arrays import Array
from dpcore.mechanisms.gaussian import symmetric_to_coordinates
from dpcore.wall.data import FeatureRows, whitening
from dpcore.wall.kernels import group_sums as kernel
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.kernels.group_sums import group_sums
from dpcore.wall.session import Session
from dpcore.wall.statistics import STRUCTURES, TOGETHER, GroupMoments, InGroups

RUNS = 3
EVEN = (False, True)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "BLOCK_NUMBERS", 1)  # that is 256 rows


def shape_of(structure: str, dim: int, components: int, radius: float = 1.7) -> GroupMoments:
    weights = np.array([0.5, 1.0, 3.0])
    return GroupMoments.normalised(components, dim, structure, radius, weights)  # type: ignore[arg-type]


def asked(dim: int, components: int, sharing: Any, seed: int = 0, width: float = 1.0) -> InGroups:
    """Frames of groups ``width`` wide, each with a shape and a middle of its own."""
    rng = np.random.default_rng(seed)
    middle = rng.normal(size=(RUNS, components, dim))
    turn = rng.normal(size=(RUNS, components, dim, dim))
    return InGroups(middle, (turn + np.swapaxes(turn, 2, 3)) / width, sharing)


def hostile(trick: str) -> Callable[[Array, Any], Array]:
    return lambda squares, runs: HOSTILE[trick](np.sin(squares))


def softly(squares: Array, runs: Any) -> Array:
    weights = np.exp(-0.5 * (squares - squares.min(axis=1, keepdims=True)))
    return weights / weights.sum(axis=1, keepdims=True)


@every("trick", HOSTILE)
@every("structure", STRUCTURES)
@every("adjacency", ADJACENCIES)
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_no_frames_and_no_model_move_a_sum_by_more_than_the_sensitivity(
    trick: str, structure: str, adjacency: str
) -> None:
    """Neighbours with every kind of row; groups from wide ones to ones that no number can see."""
    rng = np.random.default_rng(5)
    for dim, components in ((1, 1), (2, 3), (4, 2)):
        shape = shape_of(structure, dim, components)
        rows = rng.uniform(-1, 1, (7, dim)) * 10.0 ** rng.integers(-3, 4)
        other = rng.uniform(-1, 1, (1, dim)) * 10.0 ** rng.integers(-3, 150)
        for width in (1e3, 1.0, 1e-6, 1e-200):
            of = asked(dim, components, hostile(trick), width=width)
            for even in EVEN:
                sums = [
                    group_sums(Rows(table), of, shape, even=even)
                    for table in (rows, neighbour(rows, other, adjacency))
                ]
                assert np.all(np.isfinite(sums[0]))
                assert_within(sums[0] - sums[1], shape, adjacency)


@given(
    arrays(float, (5, 2), elements=CELLS),
    arrays(float, (5, 3), elements=CELLS),
    st.sampled_from(STRUCTURES),
    st.sampled_from(ADJACENCIES),
)
@examples(100)
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_no_floats_move_a_sum_by_more_than_the_sensitivity(
    rows: Array, weights: Array, structure: str, adjacency: str
) -> None:
    """Rows and weights that are any floats; which weights a row gets depends on that row alone."""
    shape = shape_of(structure, 2, 3)

    def sharing(squares: Array, runs: Any) -> Array:
        digits = np.nan_to_num(np.abs(np.sin(squares[:, 0])) * 1e4)
        return np.moveaxis(weights[digits.astype(int) % 5], 2, 1)

    of = asked(2, 3, sharing)
    sums = [
        group_sums(Rows(part), of, shape, even=False)
        for part in (rows[:4], neighbour(rows[:4], rows[4:], adjacency))
    ]
    assert_within(sums[0] - sums[1], shape, adjacency)


@every("trick", HOSTILE)
@every("structure", STRUCTURES)
@every("adjacency", ADJACENCIES)
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_squares_that_are_added_up_move_by_no_more_than_the_sensitivity(
    trick: str, structure: str, adjacency: str
) -> None:
    """In one run of three each group has its own; every run's noise covers what it releases."""
    rng = np.random.default_rng(6)
    for dim, components in ((1, 1), (2, 3), (4, 2)):
        shape = replace(
            shape_of(structure, dim, components), together=np.array([True, False, True])
        )
        rows = rng.uniform(-1, 1, (7, dim)) * 10.0 ** rng.integers(-3, 4)
        other = rng.uniform(-1, 1, (1, dim)) * 10.0 ** rng.integers(-3, 150)
        units = np.empty((RUNS, shape.size))
        for block in shape.blocks:
            units[:, shape.slice(block)] = np.asarray(shape.scale(block))[:, None]
        for width in (1e3, 1.0, 1e-6):
            of = asked(dim, components, hostile(trick), width=width)
            tables = (rows, neighbour(rows, other, adjacency))
            one, two = (
                shape.joined(group_sums(Rows(table), of, shape, even=True)) for table in tables
            )
            moved = np.linalg.norm((one - two) / units[:, None], axis=(1, 2))
            assert np.all(moved <= shape.l2_sensitivity(adjacency) * (1.0 + 1e-9))


def test_squares_of_all_groups_stand_with_the_first() -> None:
    together = np.array([True, False, False])
    shape, sums = shape_of("full", 2, 3), np.random.default_rng(0).normal(size=(RUNS, 3, 6))
    joined, squares = replace(shape, together=together).joined(sums.copy()), shape.slice("squares")
    np.testing.assert_allclose(joined[0, 0, squares], sums[0, :, squares].sum(axis=0))
    assert not joined[0, 1:, squares].any()
    assert np.array_equal(joined[0, :, : squares.start], sums[0, :, : squares.start])
    assert np.array_equal(joined[1:], sums[1:])


def test_runs_of_two_kinds_have_one_sensitivity() -> None:
    shape = shape_of("full", 4, 2)
    both = replace(shape, together=np.array([True, False]))
    assert both.l2_sensitivity("replace_one") == shape.l2_sensitivity("replace_one")
    sizes = np.array([np.asarray(both.scale(block)) for block in both.blocks])
    weights = np.array([[1.0], [both.radius], [both.radius**2]]) / sizes
    np.testing.assert_allclose(np.sum(weights**2, axis=0), 1.0, rtol=1e-14)
    a, b, c = TOGETHER
    assert a >= b**2 / (2.0 * c)
    assert b**2 <= 2.0 * c**2
    with pytest.raises(ValueError, match="add up to 1"):
        replace(both, count_weight=2.0)


@every("structure", STRUCTURES)
def test_an_attacker_meets_the_stated_sensitivity(structure: str) -> None:
    """A row at the end of one group's ball is replaced by one at the end of another's."""
    shape = shape_of(structure, 2, 2)
    middle = np.array([[[-0.5, 0.0], [0.5, 0.0]]] * RUNS)
    matrix = np.broadcast_to(10.0 * np.eye(2), (RUNS, 2, 2, 2))
    of = InGroups(middle, matrix, lambda squares, _: (squares < 4.0).astype(float))
    end = np.array([[0.0, shape.radius / 10.0]])
    sums = [group_sums(Rows(middle[:1, k] + end), of, shape, even=False)[0] for k in range(2)]
    scale = np.empty(shape.size)
    for block in shape.blocks:
        scale[shape.slice(block)] = shape.scale(block)
    change = float(np.linalg.norm((sums[0] - sums[1]) / scale))
    assert change == pytest.approx(shape.l2_sensitivity("replace_one"), rel=1e-6)


@every("structure", STRUCTURES)
@every("even", EVEN)
@every("dim, components", [(1, 2), (3, 4), (6, 1)])
def test_the_sum_is_that_of_every_row_in_every_frame(
    structure: str, even: bool, dim: int, components: int
) -> None:
    rows = np.random.default_rng(1).uniform(-1, 1, (700, dim))
    shape, of = shape_of(structure, dim, components, 1.1), asked(dim, components, softly)
    expected = np.zeros((RUNS, components, shape.size))
    for row in rows:
        seen = np.einsum("bkij,bkj->bki", of.matrix, row - of.center)
        weights = softly((seen**2).sum(axis=2)[..., None], slice(None))[..., 0]
        seen *= np.minimum(1.0, 1.1 / np.linalg.norm(seen, axis=2))[..., None]
        squares = {
            "full": symmetric_to_coordinates(seen[..., None] * seen[..., None, :]),
            "diag": seen**2,
            "spherical": (seen**2).sum(axis=2, keepdims=True),
        }[structure]
        one = np.ones((RUNS, components, 1))
        expected += weights[..., None] * np.concatenate([one, seen, squares], axis=2)
    found = group_sums(Rows(rows), of, shape, even=even)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@every("structure", STRUCTURES)
@every("even", EVEN)
@every("few", [0, 100])
def test_a_group_without_rows_leaves_the_others_as_if_it_were_not_there(
    structure: str, even: bool, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run's numbers of groups are its own, and so are its weights."""
    monkeypatch.setattr(kernel, "FEW_GROUPS", few)
    rows = Rows(np.random.default_rng(2).uniform(-1, 1, (700, 3)), math.sqrt(3.0))
    shape, size = shape_of(structure, 3, 4), np.array([1.0, 2.0, 0.5])

    def sharing(squares: Array, runs: Any) -> Array:
        return softly(squares * size[runs, None, None], runs)

    def of_run(run: int, squares: Array, runs: Any) -> Array:
        return sharing(squares, [run])

    of, number = asked(3, 4, sharing), np.array([3, 1, 3])
    sums = group_sums(rows, replace(of, number=number), shape, even=even)
    for run, count in enumerate(number.tolist()):
        frame = of.center[run : run + 1, :count], of.matrix[run : run + 1, :count]
        alone = InGroups(*frame, partial(of_run, run))
        expected = group_sums(rows, alone, replace(shape, components=count), even=even)
        np.testing.assert_allclose(sums[run, :count], expected[0], rtol=1e-9, atol=1e-9)
        assert not np.any(sums[run, count:])


@every("trick", HOSTILE)
@every("adjacency", ADJACENCIES)
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_groups_without_rows_move_no_sum_further(trick: str, adjacency: str) -> None:
    rng, shape = np.random.default_rng(6), shape_of("full", 2, 3)
    rows = rng.uniform(-1, 1, (7, 2)) * 10.0 ** rng.integers(-3, 4)
    of = replace(asked(2, 3, hostile(trick)), number=np.array([1, 3, 2]))
    tables = (rows, neighbour(rows, rng.uniform(-9, 9, (1, 2)), adjacency))
    for even in EVEN:
        sums = [group_sums(Rows(table), of, shape, even=even) for table in tables]
        assert_within(sums[0] - sums[1], shape, adjacency)


def narrow(runs: int, dim: int, components: int, rng: np.random.Generator) -> InGroups:
    """Frames that are tilted, up to a hundred times narrower than the bounds, off centre."""
    turn = np.linalg.qr(rng.standard_normal((runs, components, dim, dim)))[0]
    spread = 10.0 ** rng.uniform(-4, 0, (runs, components, 1, dim))
    matrix = whitening(turn * spread @ np.swapaxes(turn, 2, 3))[0]
    return InGroups(rng.uniform(-0.3, 0.3, (runs, components, dim)), matrix, softly)


@every("dim", [1, 2, 7])
@every("seed", range(3))
def test_products_that_groups_share_give_the_sums_of_rows_mapped_one_by_one(
    dim: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, shape = np.random.default_rng(seed), shape_of("full", dim, 3)
    rows, of = Rows(hostile_rows(900, dim, rng), math.sqrt(dim)), narrow(9, dim, 3, rng)
    monkeypatch.setattr(kernel, "FAITHFUL", math.inf)
    found = group_sums(rows, of, shape, even=False)
    monkeypatch.setattr(kernel, "FAITHFUL", 0.0)
    expected = group_sums(rows, of, shape, even=False)
    assert np.any(found != expected), "two ways"
    for block in shape.blocks:
        part = shape.slice(block)
        size = np.abs(expected[..., part]).max(axis=(1, 2), keepdims=True)
        assert np.all(np.abs(found[..., part] - expected[..., part]) <= 1e-9 * size)


def test_a_row_seen_through_shared_products_keeps_its_bound() -> None:
    """One row at a time, weight 1: counts 1, sums within R, squares of norm |y|^2 within R^2."""
    rng, dim, shape = np.random.default_rng(5), 4, shape_of("full", 4, 1, 2.0)
    of = replace(narrow(6, dim, 1, rng), sharing=lambda squares, _: np.ones_like(squares))
    assert kernel.is_faithful(of.maps(), 2.0, shape.radius)
    for row in hostile_rows(40, dim, rng):
        sums = group_sums(Rows(row[None], 2.0), of, shape, even=False)[:, 0]
        own = np.einsum("bij,bj->bi", of.matrix[:, 0], row - of.center[:, 0])
        own *= np.minimum(1.0, 2.0 / np.linalg.norm(own, axis=1))[:, None]
        np.testing.assert_allclose(sums[:, 0], 1.0, rtol=1e-12)
        np.testing.assert_allclose(sums[:, shape.slice("sums")], own, atol=1e-9)
        norms = np.linalg.norm(sums[:, shape.slice("squares")], axis=1)
        assert np.all(norms <= 4.0 * (1 + 1e-9))
        np.testing.assert_allclose(norms, np.sum(own**2, axis=1), atol=1e-9)


@every("even", EVEN)
def test_lengths_that_come_back_as_weights_move_a_sum_no_further(even: bool) -> None:
    """They are written over, and were weights of 1 by then: six groups had one row, wholly."""
    shape, row = shape_of("full", 2, 6, 0.4), np.array([[0.9, 0.9]])
    matrix = np.broadcast_to(0.4 / np.linalg.norm(row) * np.eye(2), (RUNS, 6, 2, 2))
    of = InGroups(np.zeros((RUNS, 6, 2)), matrix, lambda squares, runs: squares)
    sums = group_sums(Rows(row, math.sqrt(2)), of, shape, even=even)
    assert_within(sums, shape, "add_remove")
    own = replace(of, sharing=lambda squares, runs: squares.copy())
    np.testing.assert_array_equal(sums, group_sums(Rows(row, math.sqrt(2)), own, shape, even=even))


def test_where_rounding_would_show_rows_are_mapped_one_by_one() -> None:
    """Groups a million times narrower than the bounds, and rows whose reach is not known."""
    rng = np.random.default_rng(0)
    wide = InGroups(np.zeros((3, 2, 2)), np.broadcast_to(np.eye(2), (3, 2, 2, 2)), softly)
    thin = replace(wide, matrix=1e6 * wide.matrix)
    for of, reach, faithful in ((wide, 1.5, True), (thin, 1.5, False), (wide, math.inf, False)):
        assert kernel.is_faithful(of.maps(), reach, 2.0) is faithful
        rows = Rows(hostile_rows(100, 2, rng), reach)
        assert np.all(np.isfinite(group_sums(rows, of, shape_of("full", 2, 2), even=False)))


def a_session() -> Session[Any]:
    table = dp.load("bundled:three_groups")
    return session_of(table, FeatureRows, runs=RUNS, private=False)


def test_frames_of_a_wrong_shape_and_ones_without_end_are_refused() -> None:
    session, of = a_session(), asked(2, 2, softly)
    shape = shape_of("full", 2, 2)
    shape.checked(session, of)
    for wrong in (
        InGroups(of.center[:, :1], of.matrix, softly),
        InGroups(of.center, of.matrix[..., :1], softly),
        InGroups(of.center[:1], of.matrix[:1], softly),
        InGroups(of.center * math.inf, of.matrix, softly),
        InGroups(of.center, of.matrix * math.nan, softly),
    ):
        with pytest.raises(ValueError, match="frame"):
            shape.checked(session, wrong)
    for number in ([1, 2], [0, 1, 2], [1, 2, 3]):
        with pytest.raises(ValueError, match="number"):
            shape.checked(session, replace(of, number=np.array(number)))


@every("bad", [(RUNS, 2, 1), (RUNS, 1, 5), (5,)])
def test_weights_of_a_wrong_shape_raise(bad: tuple[int, ...]) -> None:
    of = asked(2, 2, lambda *_: np.ones(bad))
    with pytest.raises(ValueError, match="weights must have the shape"):
        group_sums(Rows(np.zeros((5, 2))), of, shape_of("full", 2, 2), even=False)
