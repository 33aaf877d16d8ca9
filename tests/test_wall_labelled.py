"""Rows with a class: what one can change under every adjacency, attained and not exceeded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sealed_rows import session_of
from support import every

from dpcore.arrays import Array
from dpcore.errors import InputError, WallError
from dpcore.mechanisms.gaussian import symmetric_to_coordinates
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.schema import Ball, Column, Schema
from dpcore.wall.custodian import custodian_classes
from dpcore.wall.data import LabelledRows
from dpcore.wall.data.labels import NO_CLASS, class_names, label_codes
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.class_moments import ClassFrames, LabelledMoments
from dpcore.wall.statistics.class_radii import LabelledRadii
from dpcore.wall.statistics.class_vectors import ByLabel, LabelledVectors
from dpcore.wall.table import PrivateTable

CLASSES = ("a", "b", "c")
PLAIN = (Noise("gaussian", 1.0),)


def schema(dim: int = 2) -> Schema:
    columns = tuple(Column(f"x{i}") for i in range(dim))
    label = Column("kind", role="label", type="category", categories=CLASSES)
    return Schema((*columns, label), ball=Ball(tuple([0.0] * dim), 1.0))


def sealed(rows: Array, labels: list[object], bounds: Schema | None = None) -> PrivateTable:
    frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])
    frame["kind"] = labels
    return PrivateTable.seal(frame, bounds or schema(rows.shape[1]))


def opened(
    table: PrivateTable, adjacency: str = "label", *, noise: bool = False, runs: int = 1
) -> Session[LabelledRows]:
    how: dict[str, Any] = {"adjacency": adjacency, "private": noise, "as_private": True}
    return session_of(table, LabelledRows, runs=runs, **how)


def identity(dim: int = 2, scale: float = 1.0) -> ClassFrames:
    shape = (1, len(CLASSES), dim)
    return ClassFrames(np.zeros(shape), np.broadcast_to(scale * np.eye(dim), (*shape, dim)))


def moments(rows: Array, labels: list[object], weights: tuple[float, float, float]) -> Array:
    """The weighted vector that a door sums, without noise."""
    session = opened(sealed(rows, labels))
    shape = LabelledMoments(len(CLASSES), rows.shape[1], *weights)
    noisy = session.release("sums", shape, identity(rows.shape[1]), PLAIN)
    a, b, c = weights
    squares = symmetric_to_coordinates(noisy.squares[0])
    parts = [a * noisy.counts[0][:, None], b * noisy.sums[0], c * squares]
    return np.concatenate([part for part, w in zip(parts, weights, strict=True) if w], axis=1)


def neighbours(adjacency: str, rng: np.random.Generator, at: Array | None) -> tuple[object, ...]:
    """One row (or none) and what it may become: ``(rows, labels)`` twice; ``at`` steers it."""
    x, y = rng.standard_normal((2, 2)) * (1.0 if at is None else 0.05) + (0.0 if at is None else at)
    if at is None:
        x, y = (v / np.linalg.norm(v) * rng.choice([1.0, 1.0, 0.7]) for v in (x, y))
    one, other = rng.choice(3, 2)
    if adjacency == "add_remove":
        return (x[None], ["a"]), (np.zeros((0, 2)), [])
    if adjacency == "label":
        return (x[None], [CLASSES[one]]), (x[None], [CLASSES[other]])
    if adjacency == "feature":
        return (x[None], ["a"]), (y[None], ["a"])
    return (x[None], [CLASSES[one]]), (y[None], [CLASSES[other]])


WEIGHTS = [(1.0, 1.0, 1.0), (0.1, 1.0, 1.0), (0.05, 1.0, 0.4), (1.0, 0.5, 0.0), (0.0, 0.6, 0.8)]


@every("adjacency", ADJACENCIES)
@every("weights", WEIGHTS)
def test_no_pair_of_tables_differs_by_more_and_some_by_98_percent(
    adjacency: str, weights: tuple[float, float, float], exhaustive: bool
) -> None:
    rng = np.random.default_rng(3)
    shape = LabelledMoments(3, 2, *weights)
    bound = shape.l2_sensitivity(adjacency)
    _, b, c = weights
    angle = math.acos(np.clip(-(b**2) / max(2 * c**2, 1e-9), -1.0, 1.0))
    turned = np.array([[math.cos(angle), math.sin(angle)]])
    first = np.array([[1.0, 0.0]])
    found = [
        np.linalg.norm(moments(first, ["a"], weights) - moments(turned, ["a"], weights))
        if adjacency in ("feature", "replace_one")
        else 0.0
    ]
    for _ in range(150 if exhaustive else 12):
        (x, k), (y, j) = neighbours(adjacency, rng, None)  # type: ignore[misc]
        found.append(np.linalg.norm(moments(x, k, weights) - moments(y, j, weights)))
    assert max(found) <= bound
    assert not exhaustive or max(found) >= 0.98 * bound


@pytest.mark.parametrize(
    ("one", "two"), [(1.0, 4.0), (1.0, 1.0), (0.5, 1.0), (1.0, 1.6), (1.0, 0.3)]
)
def test_what_replacing_costs_is_the_closed_form_of_the_joint_release(
    one: float, two: float
) -> None:
    """With deviations s1 = 1/b, s2 = 1/c: A + Q + A^2/4Q where A <= 2Q, else 2A."""
    first, second = 2.0 / one**2, 2.0 / two**2
    cheap = first <= 2.0 * second
    closed = first + second + first**2 / (4.0 * second) if cheap else 2.0 * first
    found = LabelledMoments(3, 2, 0.0, 1.0 / one, 1.0 / two).l2_sensitivity("feature") ** 2
    assert found == pytest.approx(closed, rel=1e-6)


def test_what_one_row_moves_in_l1_is_attained_by_opposite_and_diagonal_rows() -> None:
    shape, weights = LabelledMoments(3, 2, 1.0, 0.5, 0.25), (1.0, 0.5, 0.25)
    ends = np.sqrt(0.5) * np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    change = {
        name: moments(ends[[0]], ["a"], weights) - moments(ends[[end]], [kind], weights)
        for name, end, kind in (("sums", 1, "a"), ("squares", 2, "a"), ("counts", 0, "b"))
    }
    sums, squares = (np.abs(change[name][0]) for name in ("sums", "squares"))
    assert shape.l1_sensitivity("feature", "sums") == pytest.approx(sums[1:3].sum())
    assert squares[3:].sum() <= shape.l1_sensitivity("feature", "squares")
    stated = 2 * 0.25 * (1 + 1 / math.sqrt(2))
    assert shape.l1_sensitivity("feature", "squares") == pytest.approx(stated)
    counts = np.abs(change["counts"][:, 0]).sum()
    assert shape.l1_sensitivity("label", "counts") == pytest.approx(counts)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300, -1e300, 1e160])
def test_hostile_rows_and_frames_stay_inside_the_ball(bad: float) -> None:
    rows = np.array([[bad, 0.3], [0.2, bad], [0.1, 0.1]])
    session = opened(sealed(rows, ["a", "b", "a"]))
    matrix = np.full((1, 3, 2, 2), bad)
    for frames in (identity(), identity(scale=1e200), ClassFrames(np.zeros((1, 3, 2)), matrix)):
        noisy = session.release("s", LabelledMoments(3, 2, 1, 1, 1), frames, PLAIN)
        assert np.all(np.isfinite(noisy.sums))
        assert np.linalg.norm(noisy.sums[0], axis=1).max() <= 2.0 + 1e-9
        assert np.trace(noisy.squares[0], axis1=1, axis2=2).max() <= 2.0 + 1e-9


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_radii_change_by_one_bin_of_one_class(adjacency: str) -> None:
    contribution = LabelledRadii(3, (1.5, 0.8, 0.4))
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        (x, k), (y, j) = neighbours(adjacency, rng, None)  # type: ignore[misc]
        x, y = x * rng.random(), (y * rng.random() if adjacency != "label" else y)
        if adjacency == "label":
            y = x
        both = [
            opened(sealed(rows, labels)).release("r", contribution, np.zeros((1, 3, 2)), PLAIN[0])[
                0
            ]
            for rows, labels in ((x, k), (y, j))
        ]
        found.append(np.linalg.norm(both[0] - both[1]))
    assert max(found) == pytest.approx(contribution.l2_sensitivity(adjacency), rel=0.02)
    assert max(found) <= contribution.l2_sensitivity(adjacency)


def test_vectors_leave_by_labels_only_where_features_are_public() -> None:
    rows = np.array([[0.6, 0.0], [0.0, 0.3]])
    contribution = LabelledVectors(3, 4, bound=2.0)

    def hostile(run: int, which: int) -> Array:
        out = np.full((2, 4), 1e300)
        out[1] = np.nan
        return out

    session = opened(sealed(rows, ["a", "b"]))
    total, _ = session.release("v", contribution, ByLabel(hostile), PLAIN[0])
    assert np.linalg.norm(total[0], axis=1) == pytest.approx([2.0, 0.0, 0.0])
    other = opened(sealed(rows, ["c", "b"]))
    moved, _ = other.release("v", contribution, ByLabel(hostile), PLAIN[0])
    change = np.linalg.norm(total - moved) / contribution.bound
    assert (
        0.98 * contribution.l2_sensitivity("label")
        <= change
        <= contribution.l2_sensitivity("label")
    )
    for adjacency in ("replace_one", "add_remove", "feature"):
        private = opened(sealed(rows, ["a", "b"]), adjacency, noise=True)
        with pytest.raises(WallError, match="only where features are public"):
            private.release("v", contribution, ByLabel(hostile), PLAIN[0])


def test_columns_leave_only_where_they_are_public() -> None:
    table = sealed(np.array([[0.5, 0.0]]), ["b"])
    np.testing.assert_allclose(opened(table, noise=True).public_features(), [[0.5, 0.0]])
    for adjacency in ("replace_one", "add_remove", "feature"):
        with pytest.raises(WallError):
            opened(table, adjacency, noise=True).public_features()


def test_the_ledger_says_the_noise_that_was_drawn() -> None:
    """Noise = multiplier x diameter / weight in every block: right passes, 10% wrong fails."""
    runs = 4000
    session = opened(sealed(np.zeros((3, 2)), ["a", "b", "c"]), noise=True, runs=runs)
    shape = LabelledMoments(3, 2, 0.5, 1.0, 0.25)
    noisy = session.release("s", shape, identity(), Noise("gaussian", 3.0))
    (entry,) = session.ledger
    assert entry.adjacency == "label"
    assert entry.proof is not None
    unit = 3.0 * shape.l2_sensitivity("label")
    assert entry.noise_scale[0] == pytest.approx(unit)  # type: ignore[index]
    for drawn, weight in ((noisy.counts - 1.0, 0.5), (noisy.sums, 1.0)):
        assert drawn.std() == pytest.approx(unit / weight, rel=0.03)
    assert noisy.squares[..., 0, 0].std() == pytest.approx(unit / 0.25, rel=0.04)
    assert noisy.squares[..., 0, 1].std() == pytest.approx(unit / 0.25 / math.sqrt(2), rel=0.04)


def test_a_label_is_one_of_the_public_classes_or_none() -> None:
    labels: list[object] = ["a", "c", "z", None, np.nan]
    table = sealed(np.zeros((5, 2)), labels)
    assert label_codes(table, private=True).tolist() == [0, 2, NO_CLASS, NO_CLASS, NO_CLASS]
    with pytest.raises(InputError, match="are not among its classes"):
        label_codes(table, private=False)
    noisy = opened(table).release("s", LabelledMoments(3, 2, 1, 1, 1), identity(), PLAIN)
    assert noisy.counts[0].tolist() == [1.0, 0.0, 1.0]
    assert custodian_classes(table)[2].tolist() == label_codes(table, private=True).tolist()


def test_classes_of_numbers_are_the_whole_numbers_in_their_bounds() -> None:
    digit = Column("kind", role="label", lower=0, upper=9)
    bounds = Schema((Column("x0", lower=-1, upper=1), digit))
    table = sealed(np.zeros((3, 1)), [0, 9.0, 3.5], bounds)
    assert label_codes(table, private=True).tolist() == [0, 9, NO_CLASS]
    unbounded = Schema((Column("x0", lower=-1, upper=1), Column("kind", role="label")))
    with pytest.raises(InputError, match="classes are not public"):
        class_names(unbounded)
    with pytest.raises(InputError, match="no label column"):
        class_names(Schema((Column("x0", lower=-1, upper=1),)))


def test_private_rows_are_never_seen_through_frames_that_do_not_clip() -> None:
    session = opened(sealed(np.zeros((1, 2)), ["a"]), noise=True)
    frames = ClassFrames(np.zeros((1, 3, 2)), np.ones((1, 3, 2, 2)), clipped=False)
    with pytest.raises(WallError, match="must be clipped"):
        session.release("s", LabelledMoments(3, 2, 1, 1, 1), frames, PLAIN)
