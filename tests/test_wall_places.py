"""What a release makes of a row is the same, to the last bit, wherever in the table the row stands.

Where a row is added or changes its class others move up a place; no lemma covers what rounding
would make of that. Rows are taken off the front, so that all others move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from test_wall_documents import bags_of

import dpcore as dp
from dpcore.arrays import Array
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.gaussian_mixture.group_frames import sharing
from dpcore.models.gradient_em.mathematics import GRADIENT_MODELS
from dpcore.models.logistic_regression import variational
from dpcore.models.logistic_regression.newton import Line
from dpcore.models.topics import mathematics as lda
from dpcore.wall.data import FeatureRows, LabelledRows, LogisticRows, MaskedRows
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.kernels import bounded_sums as moments
from dpcore.wall.kernels import group_sums
from dpcore.wall.noise import GridNoise
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import GroupMoments, InGroups
from dpcore.wall.statistics import class_moments as labelled
from dpcore.wall.statistics import logistic_statistics as outcomes
from dpcore.wall.statistics import row_vectors as vectors
from dpcore.wall.statistics.gradients import RowGradient
from dpcore.wall.statistics.mixture_moments import InFrame, MixtureMoments
from dpcore.wall.statistics.row_vectors import BallVector, VectorRows, Vectors
from dpcore.wall.statistics.topic_words import drawn_in
from dpcore.wall.subsample import Minibatches, Sample
from dpcore.wall.table import PrivateTable

GAUSSIAN = Noise("gaussian", 5.0)
SHIFTS = (1, 2, 3, 5, 8, 13, 257)


def seen_from(shift: int, dim: int, *, binary: bool) -> PrivateTable:
    """The same table with some rows taken off the front."""
    cells = np.random.default_rng(dim).uniform(-1.0, 1.0, (3001, dim + 1))
    frame = pd.DataFrame(cells, columns=[f"c{i}" for i in range(dim + 1)])
    frame["kind"] = "a"
    columns = [dp.Column(f"c{i}", lower=-1.0, upper=1.0) for i in range(dim)]
    target = dp.Column(f"c{dim}", role="target", lower=-1.0, upper=1.0)
    if binary:
        target = dp.Column(f"c{dim}", role="target", type="binary")
    kind = dp.Column("kind", role="label", type="category", categories=("a", "b"))
    return PrivateTable.seal(frame.iloc[shift:], dp.Schema((*columns, target, kind)))


def opened(opens: Any, shift: int, dim: int) -> Session[Any]:
    """A session that makes a release, in which rows may move."""
    return Session(
        seen_from(shift, dim, binary=opens is LogisticRows),
        opens,
        adjacency="add_remove",
        noise=GridNoise(),
        draws=np.zeros(1, dtype=np.intp),
    )


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many ends of blocks, one after the other."""

    def in_order(part: Any, add: Any, count: int) -> None:
        for index in range(count):
            add(index, part(index))

    for kernel in (moments, group_sums):
        monkeypatch.setattr(kernel, "BLOCK_NUMBERS", 1)  # that is 256 rows
        monkeypatch.setattr(kernel, "in_order", in_order)
    monkeypatch.setattr(vectors, "TILE_ROWS", 256)
    monkeypatch.setattr(labelled, "TILE", 256)


def shown(told: list[Array], rows: int) -> Array:
    """Numbers of all rows ``(..., n)`` without those of rows that only fill a block up."""
    told = [part for part in told if part.size]  # the other class has no rows
    if len(told) == 1:
        return told[0][..., :rows]
    starts = range(0, rows, 256)
    parts = [part[..., : rows - at][..., :256] for at, part in zip(starts, told, strict=True)]
    return np.concatenate(parts, axis=-1)


def weights(shift: int, dim: int, components: int) -> Array:
    """What a mixture's E step says of each row ``(K, n)``, after the wall has projected it."""
    rng, told = np.random.default_rng(components), []
    session = opened(FeatureRows, shift, dim)
    turn = rng.normal(0.0, 0.3, (dim, dim))
    frame = Frame.whitening(
        rng.normal(0.0, 0.1, (1, dim)), (turn @ turn.T + 0.1 * np.eye(dim))[None], dim**0.5 + 1.0
    )
    shape = MixtureMoments.normalised(components, dim, "full", frame.radius, np.ones(3))
    mixture = gmm.start(1, components, dim, 0)
    narrow = gmm.Mixture(mixture.weights, mixture.means, mixture.covariances * 1e-2)
    e_step = gmm.responsibilities(narrow, "full")

    def watched(block: moments.Block, runs: slice) -> Array:
        told.append(e_step(block, runs))
        return told[-1]

    session.release("moments", shape, InFrame(frame, watched), GAUSSIAN)
    return shown(told, session.source._count)


def group_weights(shift: int, dim: int, components: int) -> Array:
    """The same where each group has a frame of its own, and the lengths of rows there."""
    rng, told = np.random.default_rng(components), []
    session = opened(FeatureRows, shift, dim)
    mixture = gmm.start(1, components, dim, 0)
    turn = rng.normal(0.0, 4.0, (1, components, dim, dim))
    share = sharing(mixture)

    def watched(squares: Array, runs: slice) -> Array:
        told.append(np.concatenate([squares, share(squares, runs)], axis=1))
        return told[-1][:, components:]

    shape = GroupMoments.normalised(components, dim, "full", dim**0.5, np.ones(3))
    session.release("moments", shape, InGroups(mixture.means, turn, watched), GAUSSIAN)
    return shown(told, session.source._count)


def gradient_vectors(shift: int, dim: int, model: str) -> Array:
    """What a gradient model says of each row ``(1, d, n)``."""
    rng, told = np.random.default_rng(dim), []
    how = GRADIENT_MODELS[model]
    session = opened(partial(MaskedRows, target=how.target, masked=how.masked), shift, dim)
    beta, sigma = rng.normal(size=(1, dim)), np.array([0.05])

    def watched(part: VectorRows, runs: slice) -> Array:
        told.append(how.gradients(beta, sigma, part.rows, part.targets, part.observed))
        return np.array(told[-1])

    session.release("gradients", BallVector(dim, 1.0), Vectors(watched), GAUSSIAN)
    return shown(told, session.source._count)


def outcome_gradients(shift: int, dim: int, _: object) -> Array:
    """What gradient variational inference says of each row ``(1, d, n)``."""
    told: list[Array] = []
    session = opened(LogisticRows, shift, dim)
    size = session.source.design.size
    coins = np.random.default_rng(0)
    known = variational.Factorised.start(1, size)
    vectors_of = variational.row_gradients(known, coins.standard_normal((4, size)))

    def watched(rows: Array, outcomes: Array, runs: NDArray[np.intp]) -> Array:
        told.append(vectors_of(rows, outcomes, runs))
        return np.array(told[-1])

    batches = Minibatches(session, Sample.under("add_remove", 1.0))
    session.release("gradients", RowGradient(2 * size, 1.0), watched, GAUSSIAN, batches)
    return shown(told, session.source._count)


def weighed(shift: int, dim: int, _: object) -> Array:
    """What a step of a regression asks of each row, its score and its weight ``(2, n)``."""
    rng, told = np.random.default_rng(dim), []
    session = opened(LogisticRows, shift, dim)
    size = session.source.design.size
    coefficients = rng.normal(0.0, 3.0, (1, size))
    line = Line.of(coefficients, 1.4)
    balls = Frame.balls(rng.normal(0.0, 0.1, (1, dim)), np.array([0.7]))

    def watched(scores: Array, run: int) -> Array:
        told.append(np.stack([scores, line.weights(scores, run)]))
        return told[-1][1]

    asked = outcomes.Weighing(replace(balls, radius=1.4), coefficients, watched)
    shape = outcomes.WeightedRows(size, session.source.design.around(1.4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outcomes, "WEIGHED_NUMBERS", 256 * size)
        patch.setattr(outcomes, "in_order", lambda part, add, count: [*map(part, range(count))])
        session.release("step", shape, asked, GAUSSIAN)
    return shown(told, session.source._count)


def in_class(shift: int, dim: int, _: object) -> Array:
    """The rows of a class in its frame ``(d, n)``."""
    rng, told = np.random.default_rng(dim), []
    clip = labelled.clip_to_ball

    def watched(rows: Array, radius: float) -> Array:
        told.append(clip(rows, radius).reshape(-1, dim).T)
        return told[-1].T.reshape(rows.shape)

    frames = labelled.ClassFrames(
        rng.normal(0.0, 0.1, (1, 2, dim)), rng.normal(0.0, 0.5, (1, 2, dim, dim))
    )
    session = opened(LabelledRows, shift, dim)
    shape = labelled.LabelledMoments(2, dim, 1.0, 1.0, 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labelled, "clip_to_ball", watched)
        session.release("moments", shape, frames, GAUSSIAN)
    return shown(told, session.source._count)


CASES: list[tuple[Callable[..., Array], int, Any]] = [
    *((weights, dim, groups) for dim in (1, 3, 7, 12) for groups in (2, 5)),
    (weights, 40, 3),
    *((group_weights, dim, groups) for dim in (1, 3, 7, 12) for groups in (2, 5)),
    *((gradient_vectors, dim, model) for dim in (1, 3, 7) for model in GRADIENT_MODELS),
    *((outcome_gradients, dim, None) for dim in (1, 3, 7)),
    *((weighed, dim, None) for dim in (1, 3, 7, 12, 40)),
    *((in_class, dim, None) for dim in (1, 3, 7, 12)),
]


@pytest.mark.parametrize(("made", "dim", "how"), CASES)
def test_a_row_gives_the_same_bits_wherever_it_stands(
    made: Callable[..., Array], dim: int, how: Any
) -> None:
    whole = made(0, dim, how)
    for shift in SHIFTS:
        np.testing.assert_array_equal(made(shift, dim, how), whole[..., shift:])


def documents(many: int, words: int) -> Bags:
    """Of many lengths, most of them beyond the ball; some are empty."""
    rng = np.random.default_rng(many)
    rates = rng.gamma(0.2, 1.0, (many, words)) * rng.gamma(0.5, 4.0, (many, 1))
    return bags_of(rng.poisson(rates).astype(float))


@pytest.mark.parametrize(("words", "topics"), [(300, 17), (40, 2), (7, 1), (90, 5)])
def test_a_document_gives_the_same_bits_wherever_it_stands(words: int, topics: int) -> None:
    """Mix, weights and amounts: all that a release multiplies and adds up."""
    whole, rng = documents(700, words), np.random.default_rng(words)
    emission = lda.expected(lda.Topics(rng.gamma(0.5, 1.0, (1, topics, words)) + 0.05))[0]
    by_word = emission.T / emission.T.max(axis=1, keepdims=True)

    def made(bags: Bags) -> tuple[Array, list[Array]]:
        weights = lda.weights(lda.mixes(bags, emission, 1.0 / topics))
        amounts = drawn_in(bags, by_word, weights, 3.0, 30.0)
        return weights, np.split(amounts, bags.starts[1:-1])

    weights, amounts = made(whole)
    orders = [np.arange(shift, whole.count) for shift in SHIFTS]
    orders += [rng.permutation(whole.count), np.array([5]), np.delete(np.arange(whole.count), 300)]
    for order in orders:
        again, parts = made(whole.take(order))
        np.testing.assert_array_equal(again, weights[order])
        for part, place in zip(parts, order, strict=True):
            np.testing.assert_array_equal(part, amounts[place])
