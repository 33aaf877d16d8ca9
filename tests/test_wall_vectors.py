"""Vectors behind the wall: whatever a model returns, one row moves a sum no further than stated."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sealed_rows import session_of

from dpcore.accounting import compose
from dpcore.errors import InputError, WallError
from dpcore.privacy import Gaussian
from dpcore.schema import Column, Schema
from dpcore.wall.data import MaskedRows
from dpcore.wall.data.regression_target import bounded_target
from dpcore.wall.noise import GridNoise
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.local_vectors import LocalParts, LocalVectors
from dpcore.wall.statistics.row_vectors import (
    FREE_WEIGHT,
    BallVector,
    BoxVector,
    Parts,
    VectorRows,
    Vectors,
)
from dpcore.wall.table import PrivateTable

ADJACENCIES = ("replace_one", "add_remove")
SETS = (BallVector, BoxVector)
WILD = (np.nan, np.inf, -np.inf, 1e300, -1e308, 1e154, -7.0, 1e-300, 0.0)


def columns(dim: int, missing: Any = None) -> Schema:
    return Schema(tuple(Column(f"x{i}", lower=-2, upper=2, missing=missing) for i in range(dim)))


def sealed(rows: np.ndarray, schema: Schema | None = None) -> PrivateTable:
    schema = schema or columns(rows.shape[1])
    return PrivateTable.seal(pd.DataFrame(rows, columns=list(schema.features)), schema)


def session(rows: np.ndarray, **options: Any) -> Session[MaskedRows]:
    return session_of(sealed(rows), MaskedRows, seed=3, **options)


def lookup(values: np.ndarray) -> Callable[[VectorRows, slice], np.ndarray]:
    """A model whose vector for a row is looked up by the row's first number, 0, 1, ..."""

    def step(seen: VectorRows, runs: slice) -> np.ndarray:
        which = np.rint(seen.rows[0] * 1e3).astype(int)
        return np.repeat(values[which].T[None], runs.stop - runs.start, axis=0)

    return step


def exact(values: np.ndarray, contribution: BallVector | BoxVector) -> np.ndarray:
    """Weighted sum ``(1 + d,)`` in units of the contribution, without noise."""
    rows = np.zeros((len(values), contribution.dim))
    rows[:, 0] = np.arange(len(values)) / 1e3
    run = session(rows, private=False, as_private=True)
    out = run.release("sum", contribution, Vectors(lookup(values)), Noise("gaussian", 1.0))
    return np.concatenate(
        [out.counts / contribution.scale("counts"), out.sums[0] / contribution.scale("sums")]
    )


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("dim", "weight"), [(1, 0.1), (3, 0.1), (3, FREE_WEIGHT)])
def test_hostile_vectors_never_move_the_sum_beyond_its_sensitivity(
    kind: type[BallVector] | type[BoxVector], adjacency: str, dim: int, weight: float
) -> None:
    rng = np.random.default_rng(1)
    shape = kind(dim, 0.7, weight)
    for _ in range(100):
        values = rng.normal(size=(4, dim)) * 10.0 ** rng.integers(-3, 4)
        hit = rng.random((4, dim)) < 0.5
        values[hit] = rng.choice(WILD, size=int(hit.sum()))
        whole = exact(values, shape)
        if adjacency == "add_remove":
            moved = whole - exact(values[1:], shape)
        else:
            changed = values.copy()
            changed[0] = rng.choice([*WILD, 3.0], size=dim)
            moved = whole - exact(changed, shape)
        assert np.all(np.isfinite(whole))
        assert np.linalg.norm(moved) <= shape.l2_sensitivity(adjacency)


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("dim", "weight"), [(1, 0.1), (3, 0.1), (3, FREE_WEIGHT)])
def test_the_sensitivities_are_attained(
    kind: type[BallVector] | type[BoxVector], adjacency: str, dim: int, weight: float
) -> None:
    shape = kind(dim, 0.7, weight)
    far = np.full(dim, 100.0)
    base = np.zeros((3, dim))
    one = exact(np.vstack([far, base]), shape)
    other = exact(base if adjacency == "add_remove" else np.vstack([-far, base]), shape)
    assert np.linalg.norm(one - other) >= 0.98 * shape.l2_sensitivity(adjacency)
    assert np.linalg.norm(one - other) <= shape.l2_sensitivity(adjacency)
    norm = np.abs(one - other)
    stated = sum(shape.l1_sensitivity(adjacency, block) for block in shape.blocks)
    assert 0.98 * stated <= norm.sum() <= stated


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("dim", [1, 3])
def test_a_count_costs_nothing_where_a_persons_rows_are_replaced(
    kind: type[BallVector] | type[BoxVector], dim: int
) -> None:
    """Up to the free weight; above it, rows that are left out move more."""
    far, rest, most = np.full(dim, 100.0), np.zeros((3, dim)), 4
    for weight in (0.1, FREE_WEIGHT, 2.0):
        shape, moved = kind(dim, 0.7, weight), []
        for first in range(most + 1):
            for then in range(most + 1):
                one = exact(np.vstack([rest, *[far] * first]), shape)
                moved.append(np.linalg.norm(one - exact(np.vstack([rest, *[-far] * then]), shape)))
        stated = most * max(map(shape.l2_sensitivity, ("replace_one", "add_remove")))
        assert 0.98 * stated <= max(moved) <= stated
        free = stated <= most * kind(dim, 0.7).l2_sensitivity("replace_one")
        assert free == (weight < 2.0)


def test_vectors_inside_the_set_are_summed_as_they_are() -> None:
    values = np.random.default_rng(2).uniform(-0.3, 0.3, (50, 2))
    for shape in (BallVector(2, 1.0), BoxVector(2, 0.5)):
        found = exact(values, shape)
        np.testing.assert_allclose(found[1:] * shape.bound, values.sum(axis=0), atol=1e-12)


def test_tiles_do_not_change_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcore.wall.statistics import row_vectors as vectors

    values = np.random.default_rng(2).normal(size=(90, 3))
    whole = exact(values, BallVector(3, 1.0))
    monkeypatch.setattr(vectors, "TILE_NUMBERS", 30)
    np.testing.assert_allclose(exact(values, BallVector(3, 1.0)), whole, rtol=1e-12)


def test_what_all_runs_ask_alike_is_asked_for_the_first_alone() -> None:
    """All runs have its sum and count, each with noise of its own."""
    values = np.random.default_rng(2).uniform(-0.3, 0.3, (50, 2))
    several = session(np.zeros((50, 2)), runs=3)
    spans: set[tuple[int, int]] = set()

    def step(rows: VectorRows, runs: slice) -> np.ndarray:
        spans.add((runs.start, runs.stop))
        return values.T[None]

    tiny = Noise("gaussian", 1e-6)
    out = several.release("directions", BallVector(2, 1.0), Vectors(step, alike=True), tiny)
    assert spans == {(0, 1)}
    np.testing.assert_allclose(out.sums, np.tile(values.sum(axis=0), (3, 1)), atol=1e-4)
    np.testing.assert_allclose(out.counts, 50.0, atol=1e-3)
    assert len(set(out.sums[:, 0])) == 3


def test_a_release_is_one_entry_with_the_noise_asked_for() -> None:
    run = session(np.zeros((10, 2)), runs=3, rows_per_person=2)
    shape = BallVector(2, 1.0)
    noise = Noise("gaussian", np.array([1.0, 2.0, 4.0]))
    out = run.release("gradients", shape, Vectors(lookup(np.zeros((1, 2)))), noise)
    (entry,) = run.ledger
    assert entry.sensitivity == pytest.approx(2 * 2.0)
    mechanism = entry.event.mechanism
    assert isinstance(mechanism, Gaussian)
    np.testing.assert_allclose(mechanism.noise_multiplier, [1.0, 2.0, 4.0], rtol=1e-12)
    np.testing.assert_allclose(out.sums_sd, [4.0, 8.0, 16.0], rtol=1e-6)


@pytest.mark.parametrize("kind", SETS)
def test_the_noise_in_a_sum_has_the_size_that_is_stated(
    kind: type[BallVector] | type[BoxVector],
) -> None:
    """5000 draws of 4 numbers: a deviation wrong by 10% is 28 standard errors away."""
    run = session(np.zeros((5, 4)), runs=5000)
    out = run.release("g", kind(4, 0.3), Vectors(lookup(np.zeros((1, 4)))), Noise("gaussian", 2.0))
    assert np.std(out.sums) == pytest.approx(out.sums_sd[0], rel=0.02)
    assert np.std(out.counts) == pytest.approx(out.counts_sd[0], rel=0.05)


@pytest.mark.parametrize(
    ("vectors", "bound", "multiplier", "error"),
    [
        (lambda seen, runs: np.zeros((1, 3, seen.count)), 1.0, 1.0, WallError),
        (lambda seen, runs: np.zeros((2, 2, seen.count)), 1.0, 1.0, WallError),
        (lambda seen, runs: np.zeros(2), 1.0, 1.0, WallError),
        (lookup(np.zeros((1, 2))), math.inf, 1.0, WallError),
        *((lookup(np.zeros((1, 2))), 1.0, noise, InputError) for noise in (0, np.nan, np.inf, -1)),
    ],
)
def test_nothing_leaves_without_a_vector_for_each_run_and_row_a_bound_and_noise(
    vectors: Any, bound: float, multiplier: float, error: type[Exception]
) -> None:
    run = session(np.zeros((4, 2)))
    with pytest.raises(error):
        run.release("g", BallVector(2, bound), Vectors(vectors), Noise("gaussian", multiplier))
    assert len(run.ledger) == 0


def test_a_model_that_fails_on_a_row_has_paid_and_says_nothing_of_it() -> None:
    def failing(seen: VectorRows, runs: slice) -> np.ndarray:
        raise ValueError(f"row {seen.rows[:, 0]}")

    paid = list[str]()
    request = "g", BallVector(2, 1.0), Vectors(failing), Noise("gaussian", 1.0)
    with pytest.raises(WallError, match=r"but failed on these \(ValueError\)$"):
        session(np.zeros((4, 2)), noise=GridNoise(lambda: paid.append("line"))).release(*request)
    assert paid == ["line"]
    with pytest.raises(ValueError, match="row"):  # who rehearses may see the rows
        session(np.zeros((4, 2))).release(*request)


def test_a_model_cannot_write_to_the_rows() -> None:
    def vandal(seen: VectorRows, runs: slice) -> np.ndarray:
        seen.rows[:] = 0.0
        return np.zeros((1, 2, seen.count))

    with pytest.raises(ValueError, match="read-only"):
        session(np.ones((4, 2))).release(
            "g", BallVector(2, 1.0), Vectors(vandal), Noise("gaussian", 1.0)
        )


# ------------------------------------------------------------------ disjoint parts


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_parts_are_disjoint_and_cost_what_one_costs(adjacency: str) -> None:
    rows = np.zeros((103, 1))
    rows[:, 0] = np.arange(103) / 1e3
    run = session(rows, adjacency=adjacency)
    seen: list[np.ndarray] = []

    def record(block: VectorRows, runs: slice) -> np.ndarray:
        seen.append(block.rows[0].copy())
        return np.zeros((1, 1, block.count))

    parts = Parts(run, 5)
    for _ in range(5):
        parts.release_next("g", BallVector(1, 1.0), record, Noise("gaussian", 3.0))
    together = np.concatenate(seen)
    assert len(np.unique(together)) == len(together) == (100 if adjacency == "replace_one" else 103)
    assert len(run.ledger) == 1
    found = compose(run.ledger.events, "exact", delta=1e-5).epsilon
    one = session(rows, adjacency=adjacency)
    one.release("g", BallVector(1, 1.0), Vectors(record), Noise("gaussian", 3.0))
    assert found == pytest.approx(compose(one.ledger.events, "exact", delta=1e-5).epsilon)
    assert "5 disjoint parts" in str(run.ledger.entries[0].proof)


def test_a_part_is_measured_once_and_all_with_one_noise() -> None:
    run = session(np.zeros((10, 1)))
    step, shape = lookup(np.zeros((1, 1))), BallVector(1, 1.0)
    parts = Parts(run, 2)
    parts.release_next("g", shape, step, Noise("gaussian", 3.0))
    with pytest.raises(WallError):
        parts.release_next("g", shape, step, Noise("gaussian", 2.0))
    parts.release_next("g", shape, step, Noise("gaussian", 3.0))
    with pytest.raises(WallError):
        parts.release_next("g", shape, step, Noise("gaussian", 3.0))
    assert len(run.ledger) == 1
    Parts(run, 2).release_next("g", shape, step, Noise("gaussian", 3.0))
    assert len(run.ledger) == 2  # another division costs again


@pytest.mark.parametrize("hostile", WILD)
@pytest.mark.parametrize("shape", SETS)
def test_in_the_local_model_each_person_of_a_group_sends_a_bounded_vector_with_own_noise(
    hostile: float, shape: type[BallVector] | type[BoxVector]
) -> None:
    """Hostile or not, a message is inside its set, and a sum of m has the noise of m persons."""
    group, dim, bound = 50, 3, 0.5
    run = session(np.zeros((2 * group, dim)), runs=400)
    step = lookup(np.full((1, dim), hostile))
    parts = LocalParts(run, 2)
    first = parts.release_next("g", shape(dim, bound), step, Noise("gaussian", 2.0))
    parts.release_next("g", shape(dim, bound), step, Noise("gaussian", 2.0))
    (entry,) = run.ledger.entries
    reach = 1.0 if shape is BallVector else np.sqrt(dim)
    noise = 2.0 * 2.0 * reach * bound  # of one person: multiplier x diameter of the own set
    assert np.asarray(entry.noise_scale)[0] * bound == pytest.approx(noise, rel=1e-6)
    assert "2 disjoint parts" in str(entry.proof)
    assert "before any sum" in str(entry.proof)
    spread = noise * np.sqrt(group)
    np.testing.assert_allclose(first.sums_sd, spread, rtol=1e-6)
    assert np.std(first.sums) == pytest.approx(spread, rel=0.1)
    farthest = group * bound + 5.0 * spread / np.sqrt(400)
    assert np.all(np.linalg.norm(first.sums.mean(axis=0)) <= reach * farthest)
    with pytest.raises(WallError):
        parts.release_next("g", shape(dim, bound), step, Noise("gaussian", 2.0))


@pytest.mark.parametrize("shape", SETS)
def test_a_neighbour_can_move_a_message_by_its_set_s_diameter_and_no_further(
    shape: type[BallVector] | type[BoxVector],
) -> None:
    """Opposite corners: with a hair of noise, the sums differ by what the ledger counts."""
    rows = np.zeros((7, 2))
    reached = []
    for corner in (1e9, -1e9):
        parts = LocalParts(session(rows), 1)

        def step(seen: VectorRows, runs: slice, corner: float = corner) -> np.ndarray:
            vectors = np.zeros((1, 2, seen.count))
            vectors[:, :, 0] = corner
            return vectors

        reached.append(parts.release_next("g", shape(2, 0.5), step, Noise("gaussian", 1e-9)).sums)
    moved = float(np.linalg.norm(reached[0] - reached[1]))
    ball = shape is BallVector
    stated = LocalVectors(7, 2, 0.5, ball).l2_sensitivity("replace_one") * 0.5
    assert moved == pytest.approx(stated, rel=1e-6)


def test_in_the_local_model_a_model_gives_each_person_one_vector() -> None:
    def too_few(seen: VectorRows, runs: slice) -> np.ndarray:
        return np.zeros((1, 2, seen.count - 1))

    run = session(np.zeros((10, 2)))
    with pytest.raises(WallError, match="one vector"):
        LocalParts(run, 2).release_next("g", BallVector(2, 0.5), too_few, Noise("gaussian", 1.0))
    assert not run.ledger.entries


def test_a_model_may_send_the_rows_that_it_was_shown() -> None:
    """Noise was added in place: to rows that cannot be written to, unless one was drawn in."""
    for rows in (np.full((4, 1), 0.2), np.array([[0.2], [0.9], [0.2], [0.2]])):
        parts = LocalParts(session(rows), 1)
        sent = parts.release_next(
            "g", BallVector(1, 0.5), lambda seen, runs: seen.rows[None], Noise("gaussian", 1e-9)
        )
        assert sent.sums == pytest.approx(np.minimum(rows, 0.5).sum(), abs=1e-6)


def test_who_sends_a_gradient_is_known_in_the_local_model() -> None:
    with pytest.raises(InputError, match="adjacency"):
        LocalParts(session(np.zeros((10, 1)), adjacency="add_remove"), 2)


def test_a_replaced_row_stays_in_its_part() -> None:
    """The division reads no row: the same places, whatever they hold."""

    def members(values: np.ndarray) -> list[np.ndarray]:
        found: list[np.ndarray] = []

        def record(block: VectorRows, runs: slice) -> np.ndarray:
            found.append(block.rows[0].copy())
            return np.zeros((1, 1, block.count))

        parts = Parts(session(values[:, None]), 4)
        for _ in range(4):
            parts.release_next("g", BallVector(1, 1.0), record, Noise("gaussian", 1.0))
        return found

    values = np.arange(40) / 1e3
    other = values.copy()
    other[7] = 1.9
    moved = [np.sum(a != b) for a, b in zip(members(values), members(other), strict=True)]
    assert sorted(moved) == [0, 0, 0, 1]


def released(rows: np.ndarray, parts: int, hidden: float) -> tuple[np.ndarray, float]:
    """What a rehearsal gives out under add/remove, in multiples of the noise, and the multiple
    that the ledger books for a row; each row's vector leads to a corner of its own."""

    def step(seen: VectorRows, runs: slice) -> np.ndarray:
        corners = np.where(seen.rows > 0.0, 1e9, -1e9)
        return np.repeat(corners[None], runs.stop - runs.start, axis=0)

    run = session(rows, adjacency="add_remove")
    shape, noise = BallVector(rows.shape[1], 0.7), Noise("gaussian", 3.0)
    if parts > 1:
        divided = Parts(run, parts, hidden=hidden)
        found = [divided.release_next("g", shape, step, noise) for _ in range(parts)]
    else:
        found = [run.release("g", shape, Vectors(step, hidden=hidden), noise)]
    (entry,) = run.ledger.entries
    scale = np.asarray(entry.noise_scale).item()
    vector = [
        np.append(one.counts / one.counts_sd, one.sums / one.sums_sd[:, None]) for one in found
    ]
    return np.concatenate(vector), entry.sensitivity / scale


@pytest.mark.parametrize(("parts", "hidden"), [(4, 0.0), (1, 0.4), (4, 0.4)])
@pytest.mark.parametrize("count", [2, 9, 64, 257])
def test_the_last_row_of_a_rehearsal_moves_no_coin_of_another(
    parts: int, hidden: float, count: int
) -> None:
    """Coins are drawn in order, a row's share at a time, from a stream that knows no n: under one
    seed, with and without the last row, all the other rows keep theirs."""
    rows = np.random.default_rng(count).choice([-1.5, 1.5], size=(count, 3))
    one, booked = released(rows, parts, hidden)
    other, same = released(rows[:-1], parts, hidden)
    assert booked == same == pytest.approx(1.0 / 3.0)
    assert 0.0 < np.linalg.norm(one - other) <= booked * (1.0 + 1e-9)


# ------------------------------------------------------------------ what a model sees


def looked(run: Session[MaskedRows], **how: Any) -> VectorRows:
    found: list[VectorRows] = []

    def look(seen: VectorRows, runs: slice) -> np.ndarray:
        found.append(seen)
        return np.zeros((1, run.public.dim, seen.count))

    run.release("g", BallVector(run.public.dim, 1.0), Vectors(look, **how), Noise("gaussian", 1.0))
    return found[0]


def regression(cells: dict[str, list[Any]]) -> tuple[PrivateTable, Schema]:
    schema = Schema(
        (
            Column("a", lower=0, upper=10, missing="role"),
            Column("b", lower=-1, upper=1, missing=0.5),
            Column("y", role="target", lower=0, upper=100, missing=20),
        )
    )
    return PrivateTable.seal(pd.DataFrame(cells), schema), schema


CELLS = {"a": [1.0, np.nan, 99.0], "b": [0.25, np.inf, np.nan], "y": [50.0, np.nan, 1e9]}


def test_a_target_is_filled_and_clipped_in_public() -> None:
    public, units = bounded_target(regression(CELLS)[0], private=True)
    np.testing.assert_allclose(public.center + public.half_range * units, [50.0, 20.0, 100.0])


@pytest.mark.parametrize("cells", [[50.0, np.nan, 3.0], [50.0, 101.0, 3.0]])
def test_without_privacy_such_targets_are_refused(cells: list[float]) -> None:
    with pytest.raises(InputError, match="y"):
        bounded_target(regression({**CELLS, "y": cells})[0], private=False)


def test_a_table_without_a_bounded_target_is_refused() -> None:
    with pytest.raises(InputError, match="target"):
        bounded_target(sealed(np.zeros((2, 1))), private=True)
    schema = Schema((Column("a", lower=0, upper=1), Column("y", role="target")))
    frame = pd.DataFrame({"a": [0.5], "y": [1.0]})
    with pytest.raises(InputError, match="y"):
        bounded_target(PrivateTable.seal(frame, schema), private=True)


def test_what_is_missing_is_known_to_the_model_and_zero() -> None:
    run = session_of(regression(CELLS)[0], partial(MaskedRows, target=True, masked=True))
    seen = looked(run)
    assert seen.observed is not None
    np.testing.assert_array_equal(seen.observed, [[True, False, True], [True, True, True]])
    np.testing.assert_allclose(seen.rows, [[1.0, 0.0, 10.0], [0.25, 0.5, 0.5]])
    np.testing.assert_allclose(seen.targets, [50.0, 20.0, 100.0])


def test_public_unit_coordinates_are_there_for_the_asking() -> None:
    run = session_of(regression(CELLS)[0], partial(MaskedRows, target=True))
    seen = looked(run, own=False)
    np.testing.assert_allclose(seen.rows[0], [-0.8, 0.0, 1.0])
    np.testing.assert_allclose(seen.targets, [0.0, -0.6, 1.0])


def test_hiding_more_reads_no_data() -> None:
    rng = np.random.default_rng(0)
    masks = []
    for _ in range(2):
        run = session(rng.normal(size=(2000, 2)))
        seen = looked(run, hidden=0.3)
        assert seen.observed is not None
        masks.append(seen.observed)
        assert np.all(seen.rows[~seen.observed] == 0.0)
    np.testing.assert_array_equal(*masks)
    assert np.mean(~masks[0]) == pytest.approx(0.3, abs=0.04)


def test_nothing_here_shows_a_value() -> None:
    run = session(np.full((3, 2), 1.23456))
    for shown in (repr(run), repr(looked(run)), repr(Parts(run, 2))):
        assert "1.23" not in shown
