"""Whichever way a block does its products, the sum over rows is the same to rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from time import sleep

import numpy as np
import pandas as pd
import pytest

from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.schema import Ball, Column, Schema
from dpcore.wall.data.clipping import PublicFrame, clip_to_ball
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.data.partitions import PartedTable
from dpcore.wall.kernels import bounded_sums as moments
from dpcore.wall.kernels import row_blocks as blocks
from dpcore.wall.kernels.bounded_sums import Rows, bounded_sum
from dpcore.wall.statistics.mixture_moments import MixtureMoments

COMPONENTS = 3


def hostile_rows(count: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Corners of the box, a crowd of duplicates, the origin, and clouds of very unlike size."""
    rows = rng.uniform(-1, 1, (count, dim)) * rng.choice([0.001, 0.3, 1.0], (count, 1))
    tenth = count // 10
    rows[:tenth] = rng.choice([-1.0, 1.0], (tenth, dim))
    rows[tenth : 2 * tenth] = rows[0]
    rows[2 * tenth : 3 * tenth] = 0.0
    return rows


def narrow_frames(runs: int, dim: int, radius: float, rng: np.random.Generator) -> Frame:
    """A frame for each run: tilted, up to a hundred times narrower than the bounds, off centre."""
    turn = np.linalg.qr(rng.standard_normal((runs, dim, dim)))[0]
    spread = 10.0 ** rng.uniform(-4, 0, (runs, 1, dim))
    return Frame.whitening(
        rng.uniform(-0.3, 0.3, (runs, dim)), turn * spread @ np.swapaxes(turn, 1, 2), radius
    )


def shape_of(dim: int, structure: str, radius: float) -> MixtureMoments:
    weights = np.array([0.5, 1.0, 3.0])
    bound = radius if math.isfinite(radius) else 1.0
    return MixtureMoments.normalised(COMPONENTS, dim, structure, bound, weights)  # type: ignore[arg-type]


def e_step_of(runs: int, dim: int, rng: np.random.Generator) -> moments.EStep:
    """Responsibilities of tilted shapes at places of their own in every run."""
    start = gmm.start(runs, COMPONENTS, dim, 0)
    means = start.means + 0.1 * rng.standard_normal(start.means.shape)
    tilt = np.eye(dim) + 0.3 * rng.standard_normal(start.covariances.shape) / math.sqrt(dim)
    shapes = tilt @ np.swapaxes(tilt, -1, -2) + 0.1 * np.eye(dim)
    return gmm.responsibilities(gmm.Mixture(start.weights, means, shapes), "full")


@pytest.mark.parametrize("runs", [1, 4])
@pytest.mark.parametrize("dim", [2, 5, 33, 41])
def test_high_dimension_without_features_is_the_same(
    dim: int, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(dim)
    rows, frame = hostile_rows(500, dim, rng), narrow_frames(1, dim, 3.0, rng)
    shape, e_step = shape_of(dim, "full", 3.0), e_step_of(runs, dim, rng)
    sums = []
    for least in (1, 1000):
        monkeypatch.setattr(moments, "FROM_ROWS_DIM", least)
        sums.append(bounded_sum(Rows(rows), frame, shape, e_step, runs))
    np.testing.assert_allclose(sums[0], sums[1], rtol=1e-9, atol=1e-9)


def test_an_error_in_a_block_reaches_the_caller_and_ends_the_sum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    asked = []
    monkeypatch.setattr(moments, "BLOCK_NUMBERS", 1 << 12)

    def fails_once(block: blocks.Block, runs: slice) -> np.ndarray:
        asked.append(block.count)
        if len(asked) == 3:
            raise ZeroDivisionError
        sleep(0.005)
        return np.full((1, COMPONENTS, block.count), 0.1)

    rows, frame = Rows(rng.uniform(-1, 1, (50_000, 2))), Frame.identity(2, 1.0)
    with pytest.raises(ZeroDivisionError):
        bounded_sum(rows, frame, shape_of(2, "full", 1.0), fails_once, 1)
    assert 50_000 / asked[0] > 100  # so many blocks there were
    assert len(asked) < 50
    after = bounded_sum(rows, frame, shape_of(2, "full", 1.0), e_step_of(1, 2, rng), 1)
    assert after[..., 0].sum() == pytest.approx(50_000)


@pytest.mark.parametrize("dim", [2, 5, 17])
def test_a_clipped_row_is_the_same_to_the_last_bit_wherever_it_stands(dim: int) -> None:
    """As where a row is added, even to one that was alone in its block."""
    rng = np.random.default_rng(dim)
    for count in (2, *rng.integers(2, 300, size=40)):
        rows = rng.normal(size=(count, dim))
        whole = clip_to_ball(rows, 1.0)
        np.testing.assert_array_equal(clip_to_ball(rows[1:].copy(), 1.0), whole[1:])


@pytest.mark.parametrize(("radius", "ball"), [(math.inf, True), (0.5, False), (2.0, False)])
def test_rows_of_a_file_that_may_be_clipped_lie_row_after_row(radius: float, ball: bool) -> None:
    orders = []

    class Part:
        identity = "rows"

        def blocks(self, schema: Schema) -> Iterator[pd.DataFrame]:
            yield pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("abc"))

    if ball:
        schema = Schema(tuple(map(Column, "abc")), ball=Ball((0.0, 0.0, 0.0), 1.0))
    else:
        schema = Schema(tuple(Column(name, lower=-1.0, upper=1.0) for name in "abc"))
    table = PartedTable.seal_parts([Part()], schema)
    rows = table.opened(PublicFrame.of(schema), min(radius, 1.0 if ball else 9.0), private=True)

    def seen(block: Rows) -> np.ndarray:
        orders.append(block.units.flags.c_contiguous)
        return np.zeros(1)

    rows.total(seen)
    assert orders[-1] == (ball or radius < math.sqrt(3.0))
