"""Rows by nearest centre: the tree and the products say, to the last bit, what single rows say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support import every, examples

from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.kernels import balls as in_balls
from dpcore.wall.kernels import nearest_centres as nearest
from dpcore.wall.kernels.balls import counts_by_distance, sums_in_balls
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.kernels.nearest_centres import NearestRows, nearest_sums
from dpcore.wall.kernels.row_blocks import GRID_BITS, TREE_DIM
from dpcore.wall.statistics.cluster_moments import BallClusters, ClusterMoments, InBalls
from dpcore.wall.statistics.row_radii import FromMiddle, RowRadii


def alone(row: np.ndarray, centres: np.ndarray) -> int:
    """The centre of one row, one rounded operation after the other, in plain numbers."""
    best, owner = -math.inf, 0
    for k, centre in enumerate(centres.tolist()):
        half = -0.5 * float(np.sum(np.square(centre)))
        if not math.isfinite(half):
            continue
        score = row.tolist()[0] * centre[0]
        for y, m in zip(row.tolist()[1:], centre[1:], strict=True):
            score += y * m
        if score + half > best:
            best, owner = score + half, k
    return owner


def on_grid(rows: np.ndarray, radius: float) -> np.ndarray:
    if math.isinf(radius):
        return rows
    step = 2.0 ** (math.ceil(math.log2(radius)) - GRID_BITS)
    return np.trunc(rows / step) * step


def row_by_row(rows: np.ndarray, centres: np.ndarray, radius: float = math.inf) -> np.ndarray:
    """Counts and sums ``(B, K, 1 + d)``, sums without any rounding until the end."""
    rows = on_grid(rows, radius)
    out = np.zeros((*centres.shape[:2], 1 + rows.shape[1]))
    for run, points in enumerate(centres):
        owner = np.array([alone(row, points) for row in rows], dtype=int)
        for k in range(len(points)):
            mine = rows[owner == k]
            out[run, k] = [len(mine), *(math.fsum(column) for column in mine.T)]
    return out


def lattice(count: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Many duplicates, and ties for centres on a lattice."""
    return rng.integers(-2, 3, (count, dim)) / 4.0


def on_a_line(count: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    return np.linspace(-0.9, 0.9, count)[:, None] * np.ones(dim) / math.sqrt(dim)


def all_alike(count: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    return np.full((count, dim), 0.3)


def spread(count: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, (count, dim)) / math.sqrt(dim)


def scales(count: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, (count, dim)) * 10.0 ** rng.integers(-12, 0, (count, 1))


KINDS: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "lattice": lattice,
    "line": on_a_line,
    "alike": all_alike,
    "spread": spread,
    "scales": scales,
}
SMALL = {
    "ARITY": 4,
    "TOP": 2,
    "BLOCK_NUMBERS": 64,
    "SINGLE_ROWS": 7,
    "TREE_DIM": 5,
}  # many levels with few rows


def centres_for(kind: str, dim: int, components: int, rng: np.random.Generator) -> np.ndarray:
    """Three runs: anywhere; on a lattice, so with ties; on rows, some of them equal."""
    ties = rng.integers(-2, 3, (components, dim)) / 2.0
    onto = KINDS[kind](components, dim, rng)
    onto[components // 2 :] = onto[: components - components // 2]
    return np.stack([rng.normal(size=(components, dim)), ties, onto])


@every("kind", KINDS)
@every("dim", [1, 2, 3, 4, 5, 6, 9])
@every("small", [True, False])
def test_fast_sums_are_the_sums_over_rows(
    kind: str, dim: int, small: bool, exhaustive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a radius to the last bit; without one, up to rounding."""
    for name, value in SMALL.items() if small else ():
        monkeypatch.setattr(nearest, name, value)
    rng = np.random.default_rng(dim)
    sizes = ((0, 3), (1, 1), (2, 5), (40, 1), (60, 4), (130, 4), (300, 11))
    for count, components in sizes[: None if exhaustive else 5]:
        rows = KINDS[kind](count, dim, rng)
        centres = centres_for(kind, dim, components, rng)
        found = NearestRows(rows, 1.3).sums(centres)
        np.testing.assert_array_equal(found, row_by_row(rows, centres, 1.3))
        found = NearestRows(rows).sums(centres)
        np.testing.assert_allclose(found, row_by_row(rows, centres), rtol=1e-12, atol=1e-13)


@pytest.mark.merge
@pytest.mark.parametrize("dim", [2, 7])
def test_many_rows_sum_as_single_rows_do(dim: int) -> None:
    """Enough rows for several levels and blocks as they are used."""
    rng = np.random.default_rng(3)
    rows = np.concatenate([lattice(6_000, dim, rng), spread(6_000, dim, rng)])
    centres = np.concatenate([centres_for("lattice", dim, 7, rng) for _ in range(8)])
    expected = row_by_row(rows, centres[:3], 2.0)
    np.testing.assert_array_equal(NearestRows(rows, 2.0).sums(centres)[:3], expected)


@pytest.mark.parametrize("dim", [2, 7])
def test_order_of_rows_threads_and_sizes_change_no_bit(
    dim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([lattice(500, dim, rng), spread(1500, dim, rng)])
    centres = rng.normal(size=(5, 6, dim))
    once = NearestRows(rows, 1.0).sums(centres)
    shuffled = NearestRows(rows[rng.permutation(len(rows))], 1.0).sums(centres)
    np.testing.assert_array_equal(shuffled, once)
    np.testing.assert_array_equal(NearestRows(rows, 1.0).sums(centres[3:4]), once[3:4])
    for name, value in SMALL.items():
        monkeypatch.setattr(nearest, name, value)
        np.testing.assert_array_equal(NearestRows(rows, 1.0).sums(centres), once)
    monkeypatch.setattr("dpcore.wall.kernels.threads.cores", lambda: 1)
    np.testing.assert_array_equal(NearestRows(rows, 1.0).sums(centres), once)


@every("components", [3, 40])
@every("dim", [1, 2, TREE_DIM + 2])
def test_without_a_radius_rows_are_added_in_their_order(
    dim: int, components: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block by block, and whatever the number of threads, to the last bit."""
    monkeypatch.setattr(nearest, "BLOCK_NUMBERS", 4096)
    rng = np.random.default_rng(dim)
    rows, centres = rng.uniform(-1, 1, (5_000, dim)), rng.uniform(-1, 1, (2, components, dim))
    expected = np.zeros((2, components, 1 + dim))
    for run, points in enumerate(centres):
        owner = np.array([alone(row, points) for row in rows], dtype=int)
        for part in nearest.pieces(len(rows), 4096 // (components + dim)):
            columns = (None, *rows[part].T)
            sums = [np.bincount(owner[part], column, components) for column in columns]
            expected[run] += np.stack(sums, axis=1)
    for cores in (1, 2, 5):
        monkeypatch.setattr("dpcore.wall.kernels.threads.cores", partial(int, cores))
        for whole in (rows, np.asfortranarray(rows)):
            found = NearestRows(whole, tree=False).sums(centres)
            np.testing.assert_array_equal(found, expected)


HOSTILE = st.floats(width=64) | st.sampled_from([math.nan, math.inf, -math.inf, 1e308, 5e-324])
CELLS = HOSTILE | st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])


@pytest.mark.parametrize("dim", [1, 2, TREE_DIM + 1])
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_one_row_changes_a_sum_by_what_it_adds_and_nothing_else(dim: int) -> None:
    """Whatever the rows and centres: no row's centre depends on another row, to the last bit."""

    @given(
        arrays(float, (29, dim), elements=CELLS),
        arrays(float, (2, 4, dim), elements=CELLS),
        st.integers(0, 28),
    )
    @examples(150)
    def check(cells: np.ndarray, centres: np.ndarray, at: int) -> None:
        rows = clip_to_ball(cells, 1.7)
        shape = ClusterMoments(4, dim, 1.7, 1.0, 2.0)
        before, after = rows[:-1], rows[:-1].copy()
        after[at % 28] = rows[-1]
        full = NearestRows(before, 1.7).sums(centres)
        less = NearestRows(np.delete(before, at % 28, axis=0), 1.7).sums(centres)
        other = NearestRows(after, 1.7).sums(centres)
        own = [row_by_row(one[None], centres, 1.7) for one in (before[at % 28], rows[-1])]
        np.testing.assert_array_equal(full - less, own[0])
        np.testing.assert_array_equal(other - full, own[1] - own[0])
        for change, adjacency in ((full - less, "add_remove"), (other - full, "replace_one")):
            counts = change[..., 0] / shape.scale("counts")
            sums = (change[..., 1:] / shape.scale("sums")).reshape(2, -1)
            both = np.concatenate([counts, sums], axis=1)
            assert np.all(np.linalg.norm(both, axis=1) <= shape.l2_sensitivity(adjacency))
            l1 = sum(shape.l1_sensitivity(adjacency, block) for block in shape.blocks)
            assert np.all(np.abs(both).sum(axis=1) <= l1)

    check()


@pytest.mark.parametrize("dim", [2, TREE_DIM + 1])
def test_centres_that_are_undefined_attract_nobody(dim: int) -> None:
    rows = spread(500, dim, np.random.default_rng(0))
    for bad in (math.nan, math.inf, -math.inf, 1e200):
        centres = np.full((2, 3, dim), bad)
        centres[0, 2], centres[0, 1, 1:] = 0.1, 0.0
        counts = NearestRows(rows, 1.0).sums(centres)[..., 0]
        np.testing.assert_array_equal(counts, [[0, 0, 500], [500, 0, 0]])


def test_equal_centres_and_ties_go_to_the_first() -> None:
    rows = np.stack([np.zeros(100), np.linspace(-1, 1, 100)], axis=1) / 2
    centres = np.array([[[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]])
    np.testing.assert_array_equal(NearestRows(rows, 1.0).sums(centres)[0, :, 0], [100, 0, 0])


@every("dim", [TREE_DIM + 1, 12])
@every("size", [1e-30, 1.0, 1e12, 1e25, 1e60])
def test_what_single_precision_cannot_tell_is_told_in_double(dim: int, size: float) -> None:
    """Rows next to a border, for centres of any size, one of them far away."""
    rng = np.random.default_rng(dim)
    centres = size * rng.uniform(-1, 1, (1, 20, dim))
    centres[0, -1] *= 100.0
    first, second = centres[0, rng.integers(20, size=(2, 400))]
    beside = rng.integers(-3, 4, (400, 1)) * 2.0**-42
    rows = (first + second) / 2 + beside * (second - first)
    found = NearestRows(rows).sums(centres)
    np.testing.assert_array_equal(found[..., 0], row_by_row(rows, centres)[..., 0])


def test_a_centre_far_from_all_rows_leaves_few_of_them_in_doubt() -> None:
    centres = np.random.default_rng(0).uniform(-1, 1, (1, 6, 5)) / 4
    slack = nearest._Rivals.of(centres, 1.0, 1.0).single[1]
    centres[0, 2] *= 1e6
    assert nearest._Rivals.of(centres, 1.0, 1.0).single[1] <= slack < 1e-4


def test_the_same_centres_get_the_same_answer_again() -> None:
    """Also where the last one has been written to, as noise is."""
    rng = np.random.default_rng(0)
    rows = Rows(rng.uniform(-1, 1, (300, 2)))
    first, second = rng.uniform(-1, 1, (2, 1, 4, 2))
    for centres in (first, first, second, first):
        answer = nearest_sums(rows, centres)
        np.testing.assert_array_equal(answer, NearestRows(rows.units).sums(centres))
        answer += 1.0


def test_cutting_to_the_grid_makes_no_row_longer() -> None:
    rows = clip_to_ball(np.random.default_rng(0).normal(size=(1000, 3)), 0.3)
    kept = NearestRows(rows, 0.3)._rows.T
    order = np.lexsort(kept.T), np.lexsort(on_grid(rows, 0.3).T)
    np.testing.assert_array_equal(kept[order[0]], on_grid(rows, 0.3)[order[1]])
    assert np.all(np.abs(on_grid(rows, 0.3)) <= np.abs(rows))
    assert np.abs(on_grid(rows, 0.3) - rows).max() < 0.5 * 2.0**-GRID_BITS


@every("kind", KINDS)
@every("dim", [1, 2, 4, 8])
def test_squared_distances_are_those_of_the_rows(kind: str, dim: int) -> None:
    rng = np.random.default_rng(dim)
    for count, components in ((1, 1), (50, 3), (2000, 6)):
        rows = KINDS[kind](count, dim, rng)
        centres = centres_for(kind, dim, components, rng)
        apart = ((rows[None, :, None] - centres[:, None]) ** 2).sum(axis=-1)
        found = NearestRows(rows).squared_distance(centres)
        np.testing.assert_allclose(found, apart.min(axis=2).sum(axis=1), rtol=1e-10, atol=1e-28)


def test_tight_groups_far_from_the_origin_keep_their_small_distances() -> None:
    """A difference of large sums would lose them."""
    centres = np.array([[[0.7, 0.7], [-0.7, 0.3]]])
    rows = np.repeat(centres[0], 1000, axis=0) + 2.0**-30
    found = NearestRows(rows).squared_distance(centres)
    np.testing.assert_allclose(found, 2000 * 2 * 2.0**-60, rtol=1e-5)


def test_a_border_costs_what_it_is_long() -> None:
    """Of many rows few are looked at one by one, and each is counted once."""
    rows = NearestRows(np.random.default_rng(0).uniform(-1, 1, (200_000, 2)), 2.0)
    centres = np.random.default_rng(1).uniform(-1, 1, (1, 8, 2))
    rivals = nearest._Rivals.of(centres, 1.0)
    parts = list(rows._parts(rivals, slice(None)))
    single = sum(len(part.owner) for part in parts if part.level is None)
    boxed = sum(rows._levels[p.level].count[p.which].sum() for p in parts if p.level is not None)
    assert single + boxed == 200_000
    assert single < 20_000


def test_rows_are_not_shown_and_centres_of_a_wrong_shape_are_refused() -> None:
    rows = NearestRows(np.full((40, 2), 0.123), 1.0)
    assert "0.12" not in repr(rows)
    for shape in ((3, 2), (1, 3, 1), (1, 0, 2), (1, 3, 3)):
        with pytest.raises(ValueError, match="shape"):
            rows.sums(np.zeros(shape))


# --- balls and distances -------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, TREE_DIM + 1])
@pytest.mark.parametrize("about_zero", [False, True])
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_in_its_ball_one_row_changes_a_sum_by_no_more_than_the_lemma(
    dim: int, about_zero: bool
) -> None:
    """Whatever the rows, the centres and the balls; what the others do is the same, to the bit."""

    @given(
        arrays(float, (29, dim), elements=CELLS),
        arrays(float, (2, 4, dim), elements=CELLS),
        arrays(float, (2, dim), elements=st.floats(-2.0, 2.0)),
        arrays(float, 2, elements=st.floats(1e-3, 3.0)),
        st.integers(0, 27),
    )
    @examples(100)
    def check(
        cells: np.ndarray, centres: np.ndarray, middle: np.ndarray, radius: np.ndarray, at: int
    ) -> None:
        rows = clip_to_ball(cells, 1.7)
        middle = 0.0 * middle if about_zero else middle
        shape = BallClusters(4, dim, 1.0, 2.0)
        before, after = rows[:-1], rows[:-1].copy()
        after[at] = rows[-1]

        def total(units: np.ndarray) -> np.ndarray:
            return sums_in_balls(Rows(units, 1.7), centres, middle, radius)

        full, less, other = total(before), total(np.delete(before, at, axis=0)), total(after)
        np.testing.assert_array_equal(full - less, total(before[at : at + 1]))
        np.testing.assert_array_equal(other - full, total(rows[-1:]) - total(before[at : at + 1]))
        for change, adjacency in ((full - less, "add_remove"), (other - full, "replace_one")):
            counts = change[..., 0] / shape.scale("counts")
            sums = (change[..., 1:] / shape.scale("sums")).reshape(2, -1)
            both = np.concatenate([counts, sums], axis=1)
            assert np.all(np.linalg.norm(both, axis=1) <= shape.l2_sensitivity(adjacency))

    check()


@every("dim", [2, 3, TREE_DIM + 1, 20])
@every("count", [1, 700])
def test_sums_in_balls_are_those_of_the_rows_drawn_in(dim: int, count: int) -> None:
    rng = np.random.default_rng(dim)
    rows, centres = rng.uniform(-1, 1, (count, dim)), rng.uniform(-1, 1, (3, 4, dim))
    for middle in (np.zeros((3, dim)), rng.uniform(-1, 1, (3, dim))):
        radius = np.array([0.2, 0.9, 40.0])
        found = sums_in_balls(Rows(rows, math.sqrt(dim)), centres, middle, radius)
        for run in range(3):
            seen = clip_to_ball(rows - middle[run], radius[run])
            apart = ((seen[:, None] + middle[run] - centres[run]) ** 2).sum(axis=2)
            owner = apart.argmin(axis=1)
            member = (owner == np.arange(4)[:, None]).astype(float)
            np.testing.assert_array_equal(found[run, :, 0], member.sum(axis=1))
            expected = member @ seen / radius[run]
            np.testing.assert_allclose(found[run, :, 1:], expected, atol=2.0**-GRID_BITS * count)


@every("components", [1, 4])
def test_runs_that_ask_alike_get_one_answer(
    components: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit what each gets by itself, and asked of the rows once."""
    rng, dim, which = np.random.default_rng(4), 2, np.array([1, 0, 1, 2, 0, 1])
    rows = Rows(rng.uniform(-1, 1, (700, dim)), math.sqrt(dim))
    centres, middle = rng.uniform(-1, 1, (3, components, dim)), rng.uniform(-1, 1, (3, dim))
    radius, clips = np.array([0.5, 0.9, 2.0]), list[float]()
    in_ball = in_balls._in_ball
    alone = [
        sums_in_balls(Rows(rows.units), *(part[k : k + 1] for part in (centres, middle, radius)))
        for k in which
    ]

    def watched(away: np.ndarray, size: float) -> np.ndarray:
        clips.append(size)
        return in_ball(away, size)

    monkeypatch.setattr(in_balls, "_in_ball", watched)
    found = sums_in_balls(rows, centres[which], middle[which], radius[which])
    np.testing.assert_array_equal(found, np.concatenate(alone))
    assert sorted(clips) == [0.5, 0.9, 2.0]


def test_rows_kept_in_balls_are_those_of_the_balls_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bit for bit what rows that keep nothing give, whatever was asked before."""
    rng, dim = np.random.default_rng(3), TREE_DIM + 2
    rows, centres = rng.uniform(-1, 1, (700, dim)), rng.uniform(-1, 1, (2, 4, dim))
    balls = [(rng.uniform(-1, 1, (2, dim)), rng.uniform(0.2, 2.0, 2)) for _ in range(2)]
    balls.append((balls[0][0], balls[1][1]))
    one = Rows(rows, math.sqrt(dim))
    kept = [sums_in_balls(one, centres, *ball) for ball in (*balls, *balls)]
    assert one.drawn_in is not None
    monkeypatch.setattr(in_balls, "KEPT_NUMBERS", 0)
    for found, ball in zip(kept, (*balls, *balls), strict=True):
        anew = Rows(rows, math.sqrt(dim))
        np.testing.assert_array_equal(found, sums_in_balls(anew, centres, *ball))
        assert anew.drawn_in is None


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("dim", [1, 3, 9])
def test_every_row_is_in_the_bin_of_its_distance_and_moves_no_other(dim: int, even: bool) -> None:
    rng, steps = np.random.default_rng(dim), np.array([0.3, 0.6, 1.0, 1.5])
    rows, middle = rng.uniform(-1, 1, (400, dim)), rng.uniform(-1, 1, (3, dim))
    middle[2] = middle[0]
    axes = None if even else rng.uniform(0.3, 2.0, (3, dim))
    found = counts_by_distance(Rows(rows), middle, steps, axes)
    for run in range(3):
        apart = np.linalg.norm((rows - middle[run]) / (1.0 if axes is None else axes[run]), axis=1)
        expected = np.bincount(np.searchsorted(steps, apart), minlength=5)
        np.testing.assert_array_equal(found[run], expected)
    shape = RowRadii(dim, tuple(steps.tolist()))
    for at in range(20):
        less = found - counts_by_distance(Rows(np.delete(rows, at, axis=0)), middle, steps, axes)
        assert np.all(np.linalg.norm(less, axis=1) <= shape.l2_sensitivity("add_remove"))
        moved = rows.copy()
        moved[at] = 9.0 * rng.choice([-1.0, 1.0], dim)
        other = counts_by_distance(Rows(moved), middle, steps, axes)
        change = np.linalg.norm(other - found, axis=1)
        assert np.all(change <= shape.l2_sensitivity("replace_one"))
        assert np.all((change == 0.0) | (change == math.sqrt(2.0)))


def test_places_of_another_shape_or_size_are_refused() -> None:
    session: Any = SimpleNamespace(runs=2)
    balls = InBalls(np.zeros((2, 3, 2)), np.zeros((2, 2)), np.ones(2))
    for wrong, message in (
        (replace(balls, centres=np.zeros((2, 3, 1))), "centres must have the shape"),
        (replace(balls, middle=np.zeros((1, 2))), "middles and radii must have"),
        (replace(balls, radius=np.ones(3)), r"and \(runs,\)"),
        (replace(balls, radius=np.array([1.0, 0.0])), "finite radius above 0"),
        (replace(balls, middle=np.full((2, 2), math.nan)), "finite middle"),
    ):
        with pytest.raises(ValueError, match=message):
            BallClusters(3, 2, 1.0, 1.0).checked(session, wrong)
    radii, middle = RowRadii(2, (1.0, 2.0)), np.zeros((2, 2))
    with pytest.raises(ValueError, match="middles must have the shape"):
        radii.checked(session, FromMiddle(np.zeros((3, 2))))
    for axes in (np.ones((2, 1)), np.full((2, 2), math.inf), np.array([[1.0, 0.0], [1.0, 1.0]])):
        with pytest.raises(ValueError, match=r"\(runs, dim\), positive and finite"):
            radii.checked(session, FromMiddle(middle, axes))
