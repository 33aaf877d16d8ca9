"""Sensitivity: no model, however wrong, moves a sum by more than is stated; the stated is met."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from adversary import worst_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support import every, examples

from dpcore.errors import InputError
from dpcore.mechanisms import gaussian
from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.kernels.bounded_sums import EStep, Rows, _EvenView, bounded_sum, on_simplex
from dpcore.wall.kernels.row_blocks import Block as Rowblock
from dpcore.wall.statistics.cluster_moments import ClusterMoments, MixtureSums
from dpcore.wall.statistics.mixture_moments import MixtureMoments
from dpcore.wall.statistics.second_moments import SecondMoments
from dpcore.wall.statistics.statistic import STRUCTURES

ADJACENCIES = ("replace_one", "add_remove")
RUNS = 3
CORNER = math.nextafter(math.sqrt(2), 0)  # its square is 2 or a hair below

# What a wrong model may make of a row's score. Row by row: a model sees one row at a time.
HOSTILE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "signed": lambda s: s,
    "huge": lambda s: np.where(s > 0, 1e308, -1e308),
    "all huge": lambda s: np.full_like(s, 1e308),
    "undefined": lambda s: np.where(s > 0, np.nan, 1.0),
    "infinite": lambda s: np.where(s > 0, np.inf, -np.inf),
    "all infinite": lambda s: np.full_like(s, np.inf),
    "everything at once": lambda s: np.select(
        [s > 1, s > 0, s > -1], [np.nan, np.inf, -1e308], 1e-300
    ),
    "twice": lambda s: np.full_like(s, 2.0),
    "a hair too much": lambda s: np.full_like(s, (1 + 1e-12) / s.shape[-2]),
    "narrow": lambda s: np.full(s.shape, 1.0 / s.shape[-2], dtype=np.float32),
    "masked": lambda s: np.ma.masked_greater(np.where(s > 0, 1e9, 0.5), 1.0),
    "whole numbers": lambda s: np.where(s > 0, 7, -7),
    "yes or no": lambda s: s > 0,
    "jumping": lambda s: np.where(np.sin(1e3 * s) > 0, 1.0, 0.0),
}


SHAPES = (*STRUCTURES, "no squares")


def contribution(structure: str, dim: int, components: int, radius: float = 1.0) -> Any:
    if structure == "no squares":
        return MixtureSums(components, dim, radius, 0.8, 1.0)
    return MixtureMoments.normalised(
        components,
        dim,
        structure,
        radius,
        np.array([0.5, 1.0, 3.0]),  # type: ignore[arg-type]
    )


def frames(dim: int, radius: float, seed: int) -> tuple[Frame, ...]:
    """The public ball, one map for all runs, and a map of each run."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(RUNS, dim, dim))
    shapes = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(dim)
    means = rng.normal(size=(RUNS, dim))
    return (
        Frame.identity(dim, radius),
        Frame.whitening(means[:1], shapes[:1], radius),
        Frame.whitening(means, shapes, radius),
    )


def hostile_model(trick: str, shape: Any, seed: int) -> EStep:
    """Scores each row along random directions, then does its worst with them."""
    coefficients = np.random.default_rng(seed).normal(size=(RUNS, shape.size, shape.components))

    def e_step(block: Rowblock, runs: slice) -> np.ndarray:
        return HOSTILE[trick](block.scores(coefficients[runs]))

    return e_step


def weighted(total: np.ndarray, shape: Any) -> dict[str, np.ndarray]:
    """Blocks ``(B, K * size)`` in the units in which sensitivities are stated."""
    parts = {b: total[..., shape.slice(b)] / shape.scale(b) for b in shape.blocks}
    return {b: part.reshape(len(total), -1) for b, part in parts.items()}


def neighbour(rows: np.ndarray, other: np.ndarray, adjacency: str) -> np.ndarray:
    return rows[1:] if adjacency == "add_remove" else np.vstack([other, rows[1:]])


def assert_within(change: np.ndarray, shape: Any, adjacency: str) -> None:
    """One change of the sum against every sensitivity that is stated for it."""
    parts, hair = weighted(change, shape), 1 + 1e-9  # sums themselves are rounded
    joint = np.linalg.norm(np.concatenate(list(parts.values()), axis=1), axis=1)
    assert np.all(joint <= shape.l2_sensitivity(adjacency) * hair)
    for block, part in parts.items():
        l2, l1 = np.linalg.norm(part, axis=1), np.abs(part).sum(axis=1)
        assert np.all(l2 <= shape.l2_sensitivity(adjacency, block) * hair)
        assert np.all(l1 <= shape.l1_sensitivity(adjacency, block) * hair)


@every("trick", HOSTILE)
@every("structure", SHAPES)
@every("adjacency", ADJACENCIES)
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_no_model_moves_a_sum_by_more_than_the_sensitivity(
    trick: str, structure: str, adjacency: str
) -> None:
    """Neighbours with every kind of row, through the bounded sum, in every kind of frame."""
    rng = np.random.default_rng(5)
    for dim, components, radius in ((1, 1, 1.0), (2, 3, 0.7), (4, 2, 3.0)):
        shape = contribution(structure, dim, components, radius)
        for seed in range(2):
            rows = rng.uniform(-1, 1, (7, dim)) * 10.0 ** rng.integers(-3, 4)
            other = rng.uniform(-1, 1, (1, dim)) * 10.0 ** rng.integers(-3, 200)
            model = hostile_model(trick, shape, seed)
            for frame in frames(dim, radius, seed):
                sums = [
                    bounded_sum(Rows(clip_to_ball(table, 5.0)), frame, shape, model, RUNS)
                    for table in (rows, neighbour(rows, other, adjacency))
                ]
                assert np.all(np.isfinite(sums[0]))
                assert_within(sums[0] - sums[1], shape, adjacency)


CELLS = st.floats(width=64) | st.sampled_from([math.nan, math.inf, -math.inf, 1e308, 5e-324])


@given(
    arrays(float, (5, 2), elements=CELLS),
    arrays(float, (5, 3), elements=CELLS),
    st.sampled_from(SHAPES),
    st.sampled_from(ADJACENCIES),
    st.integers(0, 2),
)
@examples(200)
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_no_floats_move_a_sum_by_more_than_the_sensitivity(
    rows: np.ndarray, weights: np.ndarray, structure: str, adjacency: str, which: int
) -> None:
    """Rows and weights that are any floats; which weights a row gets depends on that row alone."""
    shape = contribution(structure, 2, 3, 1.5)
    frame = frames(2, 1.5, 0)[which]
    direction = np.random.default_rng(2).normal(size=(RUNS, shape.size, 1))

    def model(block: Rowblock, runs: slice) -> np.ndarray:
        digits = np.abs(block.scores(direction[runs])[:, 0]) * 1e4
        return np.moveaxis(weights[digits.astype(int) % 5], 2, 1)

    sums = [
        bounded_sum(Rows(clip_to_ball(part, 5.0)), frame, shape, model, RUNS)
        for part in (rows[:4], neighbour(rows[:4], rows[4:], adjacency))
    ]
    assert_within(sums[0] - sums[1], shape, adjacency)


def test_no_model_moves_a_sum_in_high_dimension() -> None:
    """From dimension 32 on, sums are formed from the rows themselves."""
    shape = contribution("full", 33, 2, 2.0)
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6, 33))
    other = 1e9 * rng.normal(size=(1, 33))
    for trick in ("signed", "huge", "infinite", "twice", "masked"):
        model = hostile_model(trick, shape, 0)
        for frame in frames(33, 2.0, 0)[:2]:
            for adjacency in ADJACENCIES:
                sums = [
                    bounded_sum(Rows(table), frame, shape, model, RUNS)
                    for table in (rows, neighbour(rows, other, adjacency))
                ]
                assert_within(sums[0] - sums[1], shape, adjacency)


@given(arrays(float, (3, 9), elements=CELLS), st.integers(0, 8))
@examples(200)
def test_projected_weights_lie_in_the_simplex_row_by_row(weights: np.ndarray, at: int) -> None:
    """What becomes of one row never depends on another row of the block, to the last bit."""
    projected = on_simplex(weights)
    assert np.all(projected >= 0.0)
    assert np.all(projected.sum(axis=0) <= 1 + 2e-12)
    np.testing.assert_array_equal(projected[:, at], on_simplex(weights[:, at : at + 1])[:, 0])


def test_a_bad_row_does_not_touch_rows_that_are_a_hair_too_heavy() -> None:
    heavy = np.full((2, 1000), (1 + 9e-13) / 2)
    spoilt = heavy.copy()
    spoilt[:, 0] = np.nan
    np.testing.assert_array_equal(on_simplex(spoilt)[:, 1:], on_simplex(heavy)[:, 1:])


def test_weights_in_the_simplex_stay_in_an_array_of_their_own() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(3), 50).T
    inside = on_simplex(weights)
    np.testing.assert_array_equal(inside, weights)
    assert not np.shares_memory(inside, weights)


def test_weights_that_a_model_returns_again_are_not_written_to() -> None:
    """A block of a release is filled up with empty rows: where their weights were set to 0 in the
    model's own array, a row that was added took another one's weight in the next step."""
    shape, frame = contribution("full", 2, 2), Frame.identity(2, 1.0)
    constant = cache(lambda count: np.tile([[[1.0], [0.0]]], (1, 1, count)))

    def next_step(rows: np.ndarray) -> np.ndarray:
        constant.cache_clear()
        for _ in range(2):
            total = bounded_sum(
                Rows(rows), frame, shape, lambda block, runs: constant(block.count), 1, even=True
            )
        return total

    size = _EvenView(np.zeros((0, 2)), frame, shape)._block_rows
    rows = np.full((size + 9, 2), 0.5)
    change = next_step(rows) - next_step(rows[1:])
    assert_within(change, shape, "add_remove")
    assert change[0, 0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("bad", [(2, 2, 5), (RUNS, 3, 5), (RUNS, 2, 4), (RUNS, 2, 1), (5,), ()])
def test_weights_of_a_wrong_shape_raise_and_tell_no_number(bad: tuple[int, ...]) -> None:
    shape = contribution("full", 2, 2)
    with pytest.raises(ValueError, match=r"e_step|axis") as refusal:
        bounded_sum(Rows(np.zeros((5, 2))), frames(2, 1.0, 0)[0], shape, lambda *_: np.ones(bad), 3)
    assert "5" not in str(refusal.value)


def test_a_model_cannot_alter_what_the_wall_sums() -> None:
    def scribble(block: Rowblock, runs: slice) -> np.ndarray:
        (block.features if hasattr(block, "features") else block.rows)[:] = 1e9  # type: ignore[attr-defined]
        return np.ones((1, 2, block.count))

    for dim in (2, 33):
        with pytest.raises(ValueError, match="read-only"):
            bounded_sum(
                Rows(np.zeros((5, dim))),
                Frame.identity(dim, 1.0),
                contribution("full", dim, 2),
                scribble,
                1,
            )


@pytest.mark.parametrize("structure", SHAPES)
def test_rows_of_another_dimension_are_not_copied_into_all(structure: str) -> None:
    """One coordinate broadcast into three would have sqrt 3 times the norm."""
    shape = contribution(structure, 3, 2)
    with pytest.raises(ValueError, match="coordinates"):
        bounded_sum(
            Rows(np.ones((5, 1))), Frame.identity(1, 1.0), shape, lambda b, _: np.ones((1, 2, 5)), 1
        )


@dataclass(frozen=True)
class Pair:
    """Candidates for a worst pair: weights ``(K, n)`` and rows ``(d, n)`` of both neighbours."""

    weights: tuple[np.ndarray, np.ndarray]
    rows: tuple[np.ndarray, np.ndarray]


def changes(pair: Pair, shape: Any, adjacency: str) -> np.ndarray:
    """Weighted change of the sum ``(n, K, p)`` of each candidate; the wall clips and projects."""
    scale = np.empty(shape.size)
    for block in shape.blocks:
        scale[shape.slice(block)] = 1 / shape.scale(block)
    sides = []
    for weights, rows in zip(pair.weights, pair.rows, strict=True):
        features = shape.features(clip_to_ball(rows[None], shape.radius, axis=-2))[0]
        sides.append(np.einsum("kn,pn->nkp", on_simplex(weights), features) * scale)
    return sides[0] if adjacency == "add_remove" else sides[0] - sides[1]


def worst(
    shape: Any, adjacency: str, size: Callable[[np.ndarray], np.ndarray], seed: int = 0
) -> tuple[float, Pair]:
    d, k = shape.dim, shape.components

    def pair_of(candidates: np.ndarray) -> Pair:
        parts = np.split(candidates.T, [k, 2 * k, 2 * k + d])
        return Pair((parts[0], parts[1]), (shape.radius * parts[2], shape.radius * parts[3]))

    best, found = worst_of(
        lambda candidates: size(changes(pair_of(candidates), shape, adjacency)),
        (2 * (k + d),),
        seed=seed,
    )
    return best, pair_of(found[None])


def l2(change: np.ndarray) -> np.ndarray:
    return np.linalg.norm(change.reshape(len(change), -1), axis=1)


def l1(change: np.ndarray) -> np.ndarray:
    return np.abs(change).reshape(len(change), -1).sum(axis=1)


@pytest.mark.parametrize("structure", SHAPES)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(
    "dim", [2, pytest.param(1, marks=pytest.mark.merge), pytest.param(3, marks=pytest.mark.full)]
)
def test_an_attacker_meets_every_stated_sensitivity_and_no_more(
    structure: str, adjacency: str, dim: int
) -> None:
    shape = contribution(structure, dim, 2, radius=1.7)
    found, pair = worst(shape, adjacency, l2)
    stated = shape.l2_sensitivity(adjacency)
    assert 0.98 * stated <= found <= stated
    for block in shape.blocks:
        span = shape.slice(block)
        alone, _ = worst(shape, adjacency, lambda change, at=span: l2(change[..., at]))
        assert 0.98 * shape.l2_sensitivity(adjacency, block) <= alone
        assert alone <= shape.l2_sensitivity(adjacency, block)
        alone, _ = worst(shape, adjacency, lambda change, at=span: l1(change[..., at]))
        assert 0.98 * shape.l1_sensitivity(adjacency, block) <= alone
        assert alone <= shape.l1_sensitivity(adjacency, block)
    assert through_the_wall(pair, shape, adjacency) == pytest.approx(found, rel=1e-12)


def through_the_wall(pair: Pair, shape: Any, adjacency: str) -> float:
    """The worst pair, measured as two bounded sums of real tables of four rows."""
    rng = np.random.default_rng(0)
    others, shared = rng.normal(size=(3, shape.dim)), rng.normal(size=(shape.components, 3))
    totals = []
    for side in (0, 1):
        rows = np.vstack([pair.rows[side].T, others])
        weights = np.hstack([pair.weights[side], shared])[None]
        if side == 1 and adjacency == "add_remove":
            rows, weights = rows[1:], weights[..., 1:]
        frame = Frame.identity(shape.dim, shape.radius)
        totals.append(bounded_sum(Rows(rows), frame, shape, lambda *_, w=weights: w, 1))
    parts = weighted(totals[0] - totals[1], shape)
    return float(np.linalg.norm(np.concatenate(list(parts.values()), axis=1)))


# b/c on the condition's edge a = b^2/2c; at the last, opposite rows of one component attain it.
@every("ratio", [0.2, 0.7, 1.0, 1.3, CORNER])
@every("structure", STRUCTURES)
@every("components", [1, 2])
def test_free_counts_never_exceed_the_sensitivity_on_the_edge(
    ratio: float, structure: str, components: int
) -> None:
    """With a = b^2/2c exactly, over the interior of ball and simplex as well."""
    b, c = ratio, 1.0
    shape = MixtureMoments(components, 3, structure, 1.0, b * b / (2 * c), b, c)  # type: ignore[arg-type]
    found, _ = worst(shape, "replace_one", l2, seed=1)
    stated = shape.l2_sensitivity("replace_one")
    assert found <= stated
    if (
        components > 1 or structure == "full" or ratio == CORNER
    ):  # two components, or opposite rows, attain it
        assert found >= 0.98 * stated


@pytest.mark.parametrize("ratio", [0.7, 1.0, CORNER])
def test_lighter_counts_would_break_the_sensitivity_and_are_refused(ratio: float) -> None:
    b, c = ratio, 1.0
    edge = b * b / (2 * c)
    with pytest.raises(InputError, match="the count weight a is below"):
        MixtureMoments(1, 3, "full", 1.0, 0.99 * edge, b, c)
    honest = MixtureMoments(1, 3, "full", 1.0, edge, b, c)
    found, _ = worst(honest, "replace_one", l2, seed=2)  # one component: counts do not change
    assert found > math.sqrt(2) * math.hypot(0.99 * edge, b, c)


def test_sums_beyond_the_lemma_are_refused() -> None:
    with pytest.raises(InputError, match="the sum weight b above"):
        MixtureMoments(1, 3, "full", 1.0, 9.0, 1.42, 1.0)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("place", range(4))
def test_a_bound_or_weight_that_is_not_a_positive_number_is_refused(bad: float, place: int) -> None:
    numbers = [1.0, 1.0, 1.0, 1.0]
    numbers[place] = bad
    with pytest.raises(InputError):
        MixtureMoments(2, 2, "full", *numbers)


def test_adjacencies_without_a_lemma_are_refused() -> None:
    shape = contribution("full", 2, 2)
    for adjacency in ("label", "feature", "nonsense"):
        with pytest.raises(InputError, match="adjacency"):
            shape.l2_sensitivity(adjacency)
        with pytest.raises(InputError, match="adjacency"):
            shape.l2_sensitivity(adjacency, "sums")
        with pytest.raises(InputError, match="adjacency"):
            shape.l1_sensitivity(adjacency, "sums")


@pytest.mark.parametrize("structure", STRUCTURES)
def test_features_keep_the_norm_of_the_square(structure: str) -> None:
    rows = np.random.default_rng(3).normal(size=(3, 20))
    shape = contribution(structure, 3, 1)
    squares = shape.features(rows[None])[0][shape.slice("squares")]
    outer = np.einsum("in,jn->nij", rows, rows)
    diagonal = np.einsum("nii->ni", outer)
    expected = {
        "full": np.linalg.norm(outer, axis=(1, 2)),
        "diag": np.linalg.norm(diagonal, axis=1),
        "spherical": diagonal.sum(axis=1),
    }[structure]
    np.testing.assert_allclose(np.linalg.norm(squares, axis=0), expected)


# ------------------------------------------------------------------ other contributions


def searched(size: Callable[[np.ndarray], np.ndarray], dim: int, box: float = math.inf) -> float:
    """Of pairs ``(n, 2, dim)`` of rows in the unit ball, and in a box of half width ``box``."""
    return worst_of(lambda pairs: size(clip_to_ball(np.clip(pairs, -box, box), 1.0)), (2, dim))[0]


def cluster_changes(pairs: np.ndarray, shape: ClusterMoments, adjacency: str) -> list[np.ndarray]:
    """Weighted changes ``(n, 2, 1 + d)`` for rows of one centre, and for rows of two."""
    a, b = shape.count_weight, shape.mean_weight
    first, second = np.zeros((2, len(pairs), 2, 1 + shape.dim))
    first[:, 0, 0] = second[:, 0, 0] = a
    first[:, 0, 1:], second[:, 0, 1:] = b * pairs[:, 0], b * pairs[:, 1]
    if adjacency == "add_remove":
        return [first]
    return [first - second, first - second[:, ::-1]]


@pytest.mark.merge
@every("adjacency", ADJACENCIES)
@every("weights", [(1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (1.0, 0.9)])
@every("dim", [1, 2, 4])
def test_an_attacker_meets_every_sensitivity_of_nearest_rows(
    adjacency: str, weights: tuple[float, float], dim: int
) -> None:
    """In the ball; and the L1 ones also where only a box inside it is allowed."""
    shape = ClusterMoments(2, dim, 1.7, *weights)

    def worst_of(norm: Callable[[np.ndarray], np.ndarray], at: slice, box: float) -> float:
        def size(pairs: np.ndarray) -> np.ndarray:
            changes = cluster_changes(pairs, shape, adjacency)
            return np.max([norm(change[..., at]) for change in changes], axis=0)

        return searched(size, dim, box)

    every = slice(None)
    box = 1 / math.sqrt(dim)  # the box [-1, 1]^d seen from the ball of radius sqrt d
    for limit in (math.inf, box):
        claims = [(l2, every, shape.l2_sensitivity(adjacency))]
        for block in shape.blocks:
            claims.append((l2, shape.slice(block), shape.l2_sensitivity(adjacency, block)))
            claims.append((l1, shape.slice(block), shape.l1_sensitivity(adjacency, block)))
        joint = sum(shape.l1_sensitivity(adjacency, block) for block in shape.blocks)
        claims.append((l1, every, joint))
        for norm, at, stated in claims:
            assert 0.98 * stated <= worst_of(norm, at, limit) <= stated


def test_counts_of_nearest_rows_are_free_up_to_the_weight_of_sums() -> None:
    """A replaced row: beside sums at weight b, counts cost nothing until they weigh as much."""
    sums = ClusterMoments(5, 3, 1.0, 1e-9, 1.0).l2_sensitivity("replace_one")
    assert ClusterMoments(5, 3, 1.0, 1.0, 1.0).l2_sensitivity("replace_one") == pytest.approx(sums)
    assert ClusterMoments(5, 3, 1.0, 1.1, 1.0).l2_sensitivity("replace_one") > 1.04 * sums


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_dplloyd_is_the_joint_l1_sensitivity_in_the_box(dim: int) -> None:
    """d + 1 when a row is added, twice that when one is replaced, on counts and sums alike."""
    shape = ClusterMoments(4, dim, math.sqrt(dim), 1.0, math.sqrt(dim))
    for adjacency, times in (("add_remove", 1), ("replace_one", 2)):
        joint = sum(shape.l1_sensitivity(adjacency, block) for block in shape.blocks)
        for block in shape.blocks:
            assert joint * shape.scale(block) == pytest.approx(times * (dim + 1))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("dim", [1, 2, 4])
def test_an_attacker_meets_the_sensitivity_of_second_moments(adjacency: str, dim: int) -> None:
    shape = SecondMoments(dim, 1.7)
    own = MixtureMoments(1, dim, "full", 1.0, 1.0, 1.0, 1.0)

    def change(pairs: np.ndarray) -> np.ndarray:
        sides = own.features(np.moveaxis(pairs, 0, 2))[:, own.slice("squares")]
        return sides[0].T if adjacency == "add_remove" else (sides[0] - sides[1]).T

    stated = shape.l2_sensitivity(adjacency)
    assert 0.98 * stated <= searched(lambda p: l2(change(p)), dim) <= stated
    assert shape.l2_sensitivity(adjacency, "squares") == stated
    assert searched(lambda p: l1(change(p)), dim) <= shape.l1_sensitivity(adjacency, "squares")


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_other_contributions_refuse_a_bound_that_is_not_a_positive_number(bad: float) -> None:
    for place in range(3):
        numbers = [1.0, 1.0, 1.0]
        numbers[place] = bad
        with pytest.raises(InputError):
            ClusterMoments(2, 2, *numbers)
    with pytest.raises(InputError):
        SecondMoments(2, bad)
    for shape in (ClusterMoments(2, 2, 1.0, 1.0, 1.0), SecondMoments(2, 1.0)):
        for block in shape.blocks:
            for ask in (shape.l2_sensitivity, shape.l1_sensitivity):
                with pytest.raises(InputError, match="adjacency"):
                    ask("label", block)
        with pytest.raises(InputError, match="adjacency"):
            shape.l2_sensitivity("label")


@pytest.mark.parametrize("dim", [1, 2, 7, 133])
@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_symmetric_coordinates_have_one_order_whatever_the_dimension(
    dim: int, lead: tuple[int, ...]
) -> None:
    """The diagonal, then the rows of what is above it: noise of one seed stays where it was."""
    matrix = np.random.default_rng(0).normal(size=(*lead, dim, dim))
    matrix = matrix + np.swapaxes(matrix, -1, -2)
    found = gaussian.symmetric_to_coordinates(matrix)
    rows = [matrix[..., i, i + 1 :] * math.sqrt(2.0) for i in range(dim)]
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    np.testing.assert_array_equal(found, np.concatenate([diagonal, *rows], axis=-1))
    back = gaussian.symmetric_from_coordinates(found, dim)
    np.testing.assert_array_equal(back, np.swapaxes(back, -1, -2))
    np.testing.assert_allclose(back, matrix, rtol=1e-14)
