"""Sums of a sigmoid belief network behind the wall: no belief moves them by more than is stated."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from adversary import worst_of
from sealed_rows import boxed, session_of
from support import every
from test_wall_outcomes import HOSTILE

from dpcore.arrays import Array
from dpcore.errors import InputError, WallError
from dpcore.mechanisms.gaussian import symmetric_from_coordinates
from dpcore.privacy import Gaussian
from dpcore.schema import Ball, Column, Schema
from dpcore.wall.data import BinaryRows
from dpcore.wall.noise import GridNoise
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.sigmoid_belief import (
    COUNTED,
    FEW,
    PARTS,
    BeliefMoments,
    _counted,
    _inside,
    _of_rows,
)
from dpcore.wall.subsample import Minibatches, Sample
from dpcore.wall.table import PrivateTable

ADJACENCIES = ("replace_one", "add_remove")
PIXELS = 4


def opened(
    cells: object, *, runs: int = 1, private: bool = True, **more: object
) -> Session[BinaryRows]:
    table = boxed(cells, 0, 255, "p")
    opens = partial(BinaryRows, threshold=more.pop("threshold", 0.5))
    return session_of(table, opens, runs=runs, private=private, **more)


def weighted(total: Array, shape: BeliefMoments) -> Array:
    """A sum in the units in which the sensitivity is stated."""
    parts = [total[..., shape.slice(n)] / shape.scale(n) for n in PARTS]
    return np.concatenate(parts, axis=-1)


def vector(rows: Array, hidden: Array, curvature: Array, shape: BeliefMoments) -> Array:
    """Weighted vector of each row ``(n, size)``, as the wall cuts and draws it in."""
    found = []
    for one in range(len(rows)):
        row = rows[one : one + 1]
        z, x = _inside(hidden[one : one + 1], curvature[one : one + 1])
        found.append(weighted(_of_rows(row, shape, z, x), shape))
    return np.array(found)


def worst(shape: BeliefMoments, adjacency: str) -> float:
    """Of two rows and what a model says of them."""
    k, j = shape.hidden, shape.visible

    def size(candidates: Array) -> Array:
        sides = []
        for part in np.split(candidates, 2, axis=1):
            rows = (part[:, :j] > 0).astype(float)
            sides.append(vector(rows, part[:, j : j + k], part[:, j + k :], shape))
        moved = sides[0] if adjacency == "add_remove" else sides[0] - sides[1]
        return np.linalg.norm(moved, axis=1)

    return worst_of(size, (2 * (k + 2 * j),), count=150, kept=15, rounds=25)[0]


@pytest.mark.parametrize(
    "clip",
    [
        0.5,
        pytest.param(1.0, marks=pytest.mark.merge),
        *(pytest.param(clip, marks=pytest.mark.full) for clip in (0.9, 0.15)),
    ],
)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(
    "weights",
    [(1.0,) * 5, pytest.param((0.3, 0.3, 0.3, 1.0, 1.0), marks=pytest.mark.merge)],
)
def test_an_attacker_meets_the_stated_sensitivity_and_no_more(
    clip: float, adjacency: str, weights: tuple[float, ...]
) -> None:
    shape = BeliefMoments(2, PIXELS, weights, clip)  # type: ignore[arg-type]
    found, stated = worst(shape, adjacency), shape.l2_sensitivity(adjacency)
    assert found <= stated
    if clip == 1.0 or adjacency == "add_remove":
        assert found >= 0.98 * stated
    elif clip <= 0.5:  # two rows that share no unit and no pixel, but the count
        assert found >= 0.9 * stated


def test_the_papers_seven_noises_are_one_release_of_1_18_sigma() -> None:
    """Five boxes of norm C_i each, noise sigma sqrt(7) C_i: together sigma sqrt(7/5)."""
    shape = BeliefMoments(50, 784)
    multiplier = math.sqrt(7 / 5)
    k, j = 50.0, 784.0
    largest = (k**0.5, j**0.5, j**0.5 / 4, (j * k) ** 0.5, k * j**0.5 / 4)
    for name, bound in zip(PARTS, largest, strict=False):
        scale = multiplier * shape.l2_sensitivity("replace_one") * shape.scale(name)
        assert scale == pytest.approx(math.sqrt(7) * bound, rel=1e-6)
    assert shape.l2_sensitivity("replace_one") == pytest.approx(math.sqrt(1 - COUNTED**2))


@pytest.mark.parametrize("trick", HOSTILE)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_no_belief_and_no_row_moves_a_sum_by_more_than_stated(trick: str, adjacency: str) -> None:
    directions = np.random.default_rng(2).normal(size=(PIXELS, 2 + PIXELS))

    def belief(rows: Array, run: int) -> tuple[Array, Array]:
        found = HOSTILE[trick](rows @ directions - 0.5)
        return found[:, :2], found[:, 2:]

    rng = np.random.default_rng(1)
    for trial in range(20):
        cells = rng.uniform(0, 255, (6, PIXELS))
        other = cells.copy()
        other[0] = [1e300, -1e300, np.nan, np.inf] if trial % 2 else rng.uniform(0, 255, PIXELS)
        other = other[1:] if adjacency == "add_remove" else other
        for clip in (1.0, 0.4):
            shape = BeliefMoments(2, PIXELS, clip=clip)
            sums = []
            for each in (cells, other):
                session = opened(each, adjacency=adjacency)
                batches = Minibatches(session, Sample("none", 1.0))
                found = session.release("sums", shape, belief, Noise("gaussian", 1e-12), batches)
                n = found.rows[:, None]
                hidden, visible = found.hidden + n / 2, found.visible + n / 2
                pairs = found.pairs + hidden[:, None] / 2
                parts = [
                    hidden,
                    visible,
                    found.curvature,
                    pairs.reshape(1, -1),
                    found.forms.reshape(1, -1),
                    n,
                ]
                sums.append(weighted(np.concatenate(parts, axis=1), shape))
            moved = np.linalg.norm(sums[0] - sums[1])
            assert moved <= shape.l2_sensitivity(adjacency) * (1 + 1e-6)


def test_the_door_gives_the_sums_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    cells = rng.choice([0.0, 10.0, 255.0], (30, PIXELS))
    session = opened(cells, private=False, threshold=0.0)
    on = (cells > 0).astype(float)
    of_kind = rng.random((2**PIXELS, 2)), rng.random((2**PIXELS, PIXELS)) / 4

    def looked_up(rows: Array) -> tuple[Array, Array]:
        kind = (rows @ 2 ** np.arange(PIXELS)).astype(int)
        return of_kind[0][kind], of_kind[1][kind]

    z, x = looked_up(on)
    shape = BeliefMoments(2, PIXELS)
    batches = Minibatches(session, Sample("none", 1.0))
    seen: list[Array] = []

    def belief(rows: Array, run: int) -> tuple[Array, Array]:
        seen.append(rows)
        return looked_up(rows)

    found = session.release("sums", shape, belief, Noise("gaussian", 1.0), batches)
    kinds = np.unique(on, axis=0)
    assert len(kinds) < 30, "rows that are alike are looked at once"
    np.testing.assert_array_equal(np.unique(seen[0][: len(kinds)], axis=0), kinds)
    assert not seen[0][len(kinds) :].any()
    np.testing.assert_allclose(found.hidden[0], (z - 0.5).sum(axis=0))
    np.testing.assert_allclose(found.visible[0], (on - 0.5).sum(axis=0))
    np.testing.assert_allclose(found.curvature[0], x.sum(axis=0))
    np.testing.assert_allclose(found.pairs[0], (on - 0.5).T @ z)
    square = z[:, :, None] * z[:, None]
    square[:, [0, 1], [0, 1]] = z
    forms = symmetric_from_coordinates(found.forms[0].T, 2)
    np.testing.assert_allclose(forms, np.einsum("nj,nkl->jkl", x, square))
    assert found.rows[0] == 30


@pytest.mark.parametrize("pixels", [1, 7, 8, 9, FEW, FEW + 1])
def test_rows_that_are_alike_are_counted(pixels: int) -> None:
    """Of few pixels; the rows of more stay as they are, each in its place."""
    on = np.random.default_rng(pixels).random((300, pixels)) < 0.2
    rows, times = _counted(on)
    alike, often = np.unique(on, axis=0, return_counts=True)
    if pixels > FEW:
        np.testing.assert_array_equal(rows, on)
        np.testing.assert_array_equal(times, 1.0)
    else:
        order = np.lexsort(rows.T[::-1])
        np.testing.assert_array_equal(rows[order], alike)
        np.testing.assert_array_equal(times[order], often)
    assert BeliefMoments(2, pixels).in_place == (len(rows) == 300)
    assert [len(part) for part in _counted(on[:0])] == [0, 0]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_one_release_is_one_entry_with_noise_and_sample(adjacency: str) -> None:
    cells = np.random.default_rng(0).uniform(0, 255, (40, PIXELS))
    session = opened(cells, adjacency=adjacency)
    batches = Minibatches(session, Sample.under(adjacency, 0.25))

    def belief(rows: Array, run: int) -> tuple[Array, Array]:
        return np.full((len(rows), 2), 0.5), np.full(rows.shape, 0.2)

    shape = BeliefMoments(2, PIXELS, clip=0.4)
    found = session.release("step", shape, belief, Noise("gaussian", 2.0), batches)
    (entry,) = session.ledger
    assert isinstance(entry.event.mechanism, Gaussian)
    assert entry.event.mechanism.noise_multiplier == pytest.approx(2.0)
    assert entry.event.sampling_rate == 0.25
    assert entry.sensitivity == pytest.approx(shape.l2_sensitivity(adjacency))
    stated = 2.0 * shape.l2_sensitivity(adjacency) * shape.scale("pairs")
    assert found.sd["pairs"][0] == pytest.approx(stated)


def test_a_belief_of_another_shape_and_rows_without_bounds_are_refused() -> None:
    session = opened(np.zeros((5, PIXELS)))
    batches = Minibatches(session, Sample("none", 1.0))
    with pytest.raises(ValueError, match="shape"):
        session.release(
            "sums",
            BeliefMoments(2, PIXELS),
            lambda rows, run: (np.zeros((1, 2)), np.zeros((1, PIXELS))),
            Noise("gaussian", 1.0),
            batches,
        )
    assert len(session.ledger) == 0
    ball = Schema((Column("a"), Column("b")), ball=Ball((0.0, 0.0), 1.0))
    with pytest.raises(InputError, match="no column limits of its own"):
        session_of(
            PrivateTable.seal(pd.DataFrame({"a": [0.0, 0.1], "b": [0.1, 0.0]}), ball),
            BinaryRows,
            private=False,
        )


@pytest.mark.parametrize("weights", [(1.0,) * 5, (0.3, 0.3, 0.3, 1.0, 1.0)])
def test_between_the_box_and_the_ball_little_is_left_to_save(weights: tuple[float, ...]) -> None:
    """At 0.9 a row with half its curvature against one with the other half comes close."""
    shape = BeliefMoments(2, PIXELS, weights, 0.9)  # type: ignore[arg-type]
    best, half = 0.0, np.arange(PIXELS) < PIXELS // 2
    for size in np.linspace(0.0, 0.25, 26):
        x = np.array([np.where(half, 0.25, size), np.where(half, 0.0, 0.25)])
        rows = np.array([[1.0] * PIXELS, [0.0] * PIXELS])
        found = vector(rows, rows[:, :2], x, shape)
        best = max(best, float(np.linalg.norm(found[0] - found[1])))
    stated = shape.l2_sensitivity("replace_one")
    assert 0.85 * stated < best <= stated
    if len(set(weights)) == 1:
        assert best == pytest.approx(0.944, abs=0.01)


@every("answer", (None, 0.5, (np.ones((1, 2)),) * 2, ("Smith", "Smith")))
def test_a_belief_that_fails_on_a_row_has_paid_and_says_nothing_of_it(answer: Any) -> None:
    """It raises, or is not two arrays of the shapes that it has to have."""

    def failing(rows: Array, run: int) -> Any:
        if answer is None:
            raise KeyError(f"Smith {rows}")
        return answer

    paid = list[str]()
    session = opened(np.zeros((3, PIXELS)), noise=GridNoise(lambda: paid.append("line")))
    with pytest.raises(WallError, match=wording.ROWS_FUNCTION) as refusal:
        session.release("sums", BeliefMoments(2, PIXELS), failing, Noise("gaussian", 1.0))
    assert paid == ["line"]
    assert "Smith" not in f"{refusal.value}"
