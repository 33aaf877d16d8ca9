"""Clipping: whatever a cell holds, a private fit sees rows inside the public bounds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sealed_rows import session_of
from support import examples

from dpcore.errors import InputError
from dpcore.evaluation.yardstick import Scorer, yardstick
from dpcore.schema import Column, Schema
from dpcore.wall.data.clipping import (
    FEW_COLUMNS,
    Extent,
    PublicFrame,
    bounded_rows,
    clip_to_ball,
)
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.session import Session
from dpcore.wall.table import PrivateTable

# Every float there is: also NaN, infinities, 1e308 and numbers below the smallest normal one.
CELLS = st.floats(width=64) | st.sampled_from([math.nan, math.inf, -math.inf, 1e308, 5e-324])
ROWS = arrays(float, st.tuples(st.integers(1, 6), st.just(3)), elements=CELLS)
HAIR = 1.0 + 1e-12

BOX = Schema.from_bounds({"a": (-2, 6), "b": (0, 1e-3), "c": (1e300, 1e301)})
BALL = Schema.ball_of(["a", "b", "c"], (1.0, 2.0, 3.0), 0.25)


def sealed(rows: object, schema: Schema) -> PrivateTable:
    return PrivateTable.seal(pd.DataFrame(rows, columns=list(schema.features)), schema)


def seen(rows: object, schema: Schema, *, private: bool = True) -> np.ndarray:
    return bounded_rows(sealed(rows, schema), private=private)[1]


@given(ROWS)
@examples(200)
def test_box_holds_every_row(rows: np.ndarray) -> None:
    assert np.all(np.abs(seen(rows, BOX)) <= 1.0)


@given(ROWS)
@examples(200)
def test_ball_holds_every_row(rows: np.ndarray) -> None:
    assert np.all(np.linalg.norm(seen(rows, BALL), axis=1) <= HAIR)


@given(st.integers(0, 5), st.integers(1, FEW_COLUMNS + 2), st.data())
@examples(100)
def test_the_extent_of_few_and_of_many_columns_is_that_of_the_rows(
    n: int, d: int, data: st.DataObject
) -> None:
    rows = data.draw(arrays(float, (n, d), elements=CELLS))
    frame = PublicFrame.of(Schema.from_bounds({f"x{i}": (-1, 2) for i in range(d)}))
    extent = Extent.of(rows, frame)
    assert np.array_equal(extent.least, rows.min(axis=0, initial=np.inf), equal_nan=True)
    assert np.array_equal(extent.most, rows.max(axis=0, initial=-np.inf), equal_nan=True)


@given(ROWS, st.floats(1e-3, 1e3), st.sampled_from([-1, -2]))
@examples(200)
def test_clip_to_ball_is_total(rows: np.ndarray, radius: float, axis: int) -> None:
    clipped = clip_to_ball(rows, radius, axis)
    assert np.all(np.linalg.norm(clipped, axis=axis) <= radius * HAIR)


@given(ROWS, st.floats(1e-3, 1e3), st.integers(0, 5))
@examples(200)
def test_what_becomes_of_a_row_does_not_depend_on_the_others(
    rows: np.ndarray, radius: float, at: int
) -> None:
    at %= len(rows)
    alone = clip_to_ball(rows[at : at + 1], radius)
    np.testing.assert_allclose(clip_to_ball(rows, radius)[at], alone[0], rtol=1e-12)


def test_rows_inside_stay_and_rows_outside_keep_their_direction() -> None:
    rows = np.array([[0.3, 0.4], [30.0, 40.0], [3e200, 4e200], [np.inf, 0.0], [np.nan, 1.0]])
    expected = [[0.3, 0.4], [0.6, 0.8], [0.6, 0.8], [0.0, 0.0], [0.0, 0.0]]
    np.testing.assert_allclose(clip_to_ball(rows, 1.0), expected, rtol=1e-12)
    np.testing.assert_array_equal(clip_to_ball(rows[:1], 1.0), rows[:1])


@pytest.mark.parametrize("axis", [-1, -2])
def test_rows_are_clipped_where_they_lie_as_anywhere(axis: int) -> None:
    rows = np.random.default_rng(0).normal(size=(3, 50, 50))
    for odd in (rows, np.where(rows > 2.5, np.nan, rows)):
        here = odd.copy()
        found = clip_to_ball(here, 5.0, axis, out=here)
        assert np.array_equal(found, clip_to_ball(odd, 5.0, axis))
        assert np.linalg.norm(found, axis=axis).max() <= 5.0 + 1e-12


@pytest.mark.parametrize("dim", [1, 2, 3, 10, 99, 1000, 4097])
def test_the_public_radius_holds_the_corners_to_the_last_bit(dim: int) -> None:
    """So a block of rows inside their box need not be clipped to it."""
    schema = Schema.from_bounds({f"x{i}": (-3.0, 0.1 + i) for i in range(dim)})
    corners = np.where(np.random.default_rng(0).random((20, dim)) < 0.5, -1.0, 1.0)
    radius = PublicFrame.of(schema).radius
    assert np.sqrt(np.einsum("nd,nd->n", corners, corners)).max() <= radius
    assert clip_to_ball(corners, radius) is corners


def test_no_radius_clips_nothing() -> None:
    rows = np.array([[1e9, -1e9]])
    assert clip_to_ball(rows, math.inf) is rows


@given(ROWS, st.floats(1e-3, 1e3))
@examples(200)
def test_frames_hold_every_row_whatever_their_map(rows: np.ndarray, radius: float) -> None:
    """Also a frame that is itself broken: its map comes from noisy numbers."""
    maps = np.stack([np.eye(3), 1e200 * np.eye(3), np.full((3, 3), np.nan)])
    frame = Frame(np.array([[0.0] * 3, [1e300] * 3, [np.inf] * 3]), maps, maps, radius)
    units = np.clip(np.nan_to_num(rows), -1.0, 1.0)
    with np.errstate(invalid="ignore", over="ignore"):
        clipped = frame.apply(units)
    assert np.all(np.linalg.norm(clipped, axis=1) <= radius * HAIR)


def test_unit_coordinates_of_a_box() -> None:
    schema = Schema.from_bounds({"a": (10, 30), "b": (-1, 1)})
    units = seen([[10, -1], [30, 0], [25, 5], [-99, -1.5]], schema)
    np.testing.assert_array_equal(units, [[-1, -1], [1, 0], [0.5, 1], [-1, -1]])
    assert PublicFrame.of(schema).radius == math.sqrt(2)


def test_unit_coordinates_of_a_ball() -> None:
    schema = Schema.ball_of(["a", "b"], (5, 5), 10)
    units = seen([[5, 5], [5, 10], [5, 45]], schema)
    np.testing.assert_allclose(units, [[0, 0], [0, 0.5], [0, 1]], rtol=1e-12)
    assert PublicFrame.of(schema).radius == 1.0


def test_missing_and_infinite_cells_become_the_public_fill() -> None:
    columns = (Column("a", lower=0, upper=10, missing=7), Column("b", lower=0, upper=10))
    units = seen([[np.nan, np.nan], [np.inf, -np.inf], [None, 10]], Schema(columns))
    np.testing.assert_allclose(units, [[0.4, 0.0], [0.4, 0.0], [0.4, 1.0]])


def test_the_fill_never_depends_on_the_rows() -> None:
    schema = Schema.from_bounds({"a": (0, 10), "b": (0, 10)})
    for others in (0.0, 9.0):
        assert np.all(seen([[np.nan, np.nan], [others, others]], schema)[0] == 0.0)


def test_huge_cells_in_a_ball_go_to_the_sphere_and_warn_nobody() -> None:
    np.testing.assert_allclose(seen([[1e308, 2.0, 3.0]], BALL), [[1.0, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(seen([[-1.7e308, 2.0, 3.0]], BALL), [[-1.0, 0.0, 0.0]], atol=1e-12)


def test_categories_become_indicators_and_others_count_for_none() -> None:
    schema = Schema((Column("where", type="category", categories=("north", "south")),))
    units = seen([["north"], ["south"], ["elsewhere"], [None]], schema)
    np.testing.assert_array_equal(units, [[1, -1], [-1, 1], [-1, -1], [-1, -1]])


def test_a_table_without_bounds_is_refused() -> None:
    table = PrivateTable.seal(pd.DataFrame({"a": [1.0]}), None)
    for private in (True, False):
        with pytest.raises(InputError, match="no public bounds"):
            bounded_rows(table, private=private)


@pytest.mark.parametrize(
    ("rows", "schema", "finding"),
    [
        ([[1.0, 1.0], [np.nan, 2.0]], {"a": (0, 10), "b": (0, 10)}, "missing or infinite"),
        ([[1.0, 1.0], [np.inf, 2.0]], {"a": (0, 10), "b": (0, 10)}, "missing or infinite"),
        ([[1.0, 1.0], [11.0, 2.0]], {"a": (0, 10), "b": (0, 10)}, "outside its bounds"),
        ([[4.0, 1.0], [4.0, 2.0]], {"a": (0, 10), "b": (0, 10)}, "is constant"),
    ],
)
def test_without_privacy_cells_are_refused_that_privacy_would_change(
    rows: list[list[float]], schema: dict[str, tuple[float, float]], finding: str
) -> None:
    public = Schema.from_bounds(schema)
    seen(rows, public)
    with pytest.raises(InputError, match=finding) as refusal:
        seen(rows, public, private=False)
    assert refusal.value.field == "a"
    assert not any(character.isdigit() for character in refusal.value.problem)


def test_without_privacy_rows_outside_the_ball_are_refused() -> None:
    schema = Schema.ball_of(["a", "b"], None, 1.0)
    with pytest.raises(InputError, match="outside the ball"):
        seen([[0.0, 0.1], [0.9, 0.9]], schema, private=False)
    assert np.all(np.isfinite(seen([[0.0, 0.1], [0.6, 0.8]], schema, private=False)))


def test_without_privacy_rows_pass_untouched() -> None:
    rows = np.array([[1.0, 2.0], [3.0, 4.5]])
    schema = Schema.from_bounds({"a": (0, 10), "b": (0, 10)})
    np.testing.assert_array_equal(seen(rows, schema, private=False), (rows - 5) / 5)


def session(clip: float, *, private: bool = True) -> Session:
    schema = Schema.from_bounds({"a": (0, 10), "b": (0, 10)})
    table = sealed([[0.0, 0.0], [10.0, 10.0], [5.0, 6.0]], schema)
    return session_of(table, private=private, clip=clip)


def test_the_share_that_clipping_moves_is_that_of_rows_beyond_the_smaller_ball() -> None:
    """Of two columns the public radius is sqrt 2, and rows at 0.6 and 0.7 lie inside half of it."""
    schema = Schema.from_bounds({"a": (-1, 1), "b": (-1, 1)})
    rows = pd.DataFrame({"a": [0.6, 0.7, 0.8, 1.0], "b": [0.0, 0.0, 0.0, 1.0]})
    table = PrivateTable.seal(rows, schema)

    def share(clip: float) -> float:
        return yardstick("gmm").clipped_share(table, {}, clip, None, Scorer.of(table))

    assert share(0.5) == 0.5
    assert share(0.9) == 0.25
    assert share(1.0) == 0.0


def test_the_clip_is_a_share_of_the_public_radius() -> None:
    assert session(0.5).radius == pytest.approx(0.5 * math.sqrt(2))
    norms = np.linalg.norm(session(0.5).source._rows.units, axis=1)
    np.testing.assert_allclose(norms, [math.sqrt(0.5), math.sqrt(0.5), 0.2])


@pytest.mark.parametrize("clip", [0.0, -1.0, 1.0001, math.inf, -math.inf, math.nan])
def test_a_clip_that_bounds_nothing_is_refused_under_privacy(clip: float) -> None:
    with pytest.raises(InputError, match="clip"):
        session(clip)


def test_without_privacy_the_clip_may_be_left_out() -> None:
    assert session(math.inf, private=False).radius == math.inf
    with pytest.raises(InputError, match="clip"):
        session(math.nan, private=False)


@pytest.mark.parametrize("dim", [2, 9, 10, 40])
@pytest.mark.parametrize("odd", ["NA ", "x", 1e999])
def test_one_cell_never_touches_the_last_bit_of_another_row(dim: int, odd: object) -> None:
    """A column with an odd cell is kept in another way; rows must not be added up in another."""
    rng = np.random.default_rng(dim)
    cells = rng.uniform(-3.0, 3.0, (500, dim))
    names = [f"c{i}" for i in range(dim)]
    plain = pd.DataFrame(cells, columns=names)
    other = plain.astype({"c1": object})
    other.loc[7, "c1"] = odd if odd != "x" else 0.25
    for schema in (
        Schema.from_bounds(dict.fromkeys(names, (-2.0, 2.0))),
        Schema.ball_of(names, None, 2.0),
    ):
        found = []
        for frame in (plain, other):
            public, units = bounded_rows(PrivateTable.seal(frame, schema), private=True)
            found.append(clip_to_ball(units, 0.3 * public.radius))
        differ = np.flatnonzero(np.any(found[0] != found[1], axis=1))
        assert set(differ) <= {7}


@pytest.mark.parametrize("private", [True, False])
def test_columns_in_memory_hold_the_numbers_of_rows_in_memory(private: bool) -> None:
    """A ball takes rows: the norm of a row would be rounded by where it lies."""
    names, cells = ["a", "b", "c"], np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3))
    box = Schema.from_bounds(dict.fromkeys(names, (-1.5, 2.0)))
    for schema in (box, Schema.ball_of(names, None, 2.0)):
        table = PrivateTable.seal(pd.DataFrame(cells, columns=names), schema)
        public, by_row = bounded_rows(table, private=private)
        by_column = bounded_rows(table, private=private, columns=True)[1]
        np.testing.assert_array_equal(by_column, by_row)
        assert by_row.flags.c_contiguous
        assert by_column.flags.f_contiguous is not public.is_ball
