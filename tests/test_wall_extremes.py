"""Sizes at the ends of what floating point holds: what is clipped there stays bounded, or refused.

A square of 1e200 is infinite and one of 1e-170 is 0, so a norm of such numbers says nothing.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sealed_rows import session_of

from dpcore.accounting import compose
from dpcore.errors import InputError, WallError
from dpcore.fitting.api import fit, fit_grid
from dpcore.privacy import Privacy
from dpcore.schema import Column, Schema
from dpcore.wall.data import FeatureRows, LabelledRows, MaskedRows
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.noise import PublicCoins
from dpcore.wall.session import Noise
from dpcore.wall.statistics.class_moments import LabelledMoments
from dpcore.wall.statistics.class_vectors import ByLabel, LabelledVectors
from dpcore.wall.statistics.local_vectors import (
    _chance,
    epsilon_of_a_bit,
    randomise,
    randomise_bits,
)
from dpcore.wall.statistics.logistic_statistics import OutcomeMoments
from dpcore.wall.statistics.mixture_moments import InFrame, MixtureMoments
from dpcore.wall.statistics.row_vectors import BallVector, BoxVector
from dpcore.wall.table import PrivateTable


def table(rows: np.ndarray, reach: float, low: float | None = None) -> PrivateTable:
    bounds = {"lower": -reach if low is None else low, "upper": reach}
    schema = Schema((Column("x", **bounds), Column("y", role="target", **bounds)))
    return PrivateTable.seal(pd.DataFrame({"x": rows, "y": rows}), schema)


def asked(**words: object) -> Privacy:
    return Privacy(epsilon=1.0, delta=1e-5, **words)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [BallVector, BoxVector])
def test_a_bound_is_one_that_a_norm_can_be_compared_with(kind: type[BallVector]) -> None:
    for bound in (1e200, 1e155, 1e-170, 1e-300):
        with pytest.raises(InputError, match="bound"):
            kind(2, bound)
    for bound in (1e100, 1e-100):
        for size in (1e300, 1e99, 1e-99, 1e-160, 0.0, np.nan, np.inf):
            total = kind(2, bound).sum(np.full((1, 2, 1), size))
            assert np.all(np.abs(total) <= bound * (1.0 + 1e-12))


TWO = Column("kind", role="label", type="category", categories=("a", "b"))
LABELLED = Schema((Column("x", lower=-1.0, upper=1.0), TWO))
ONE_NOISE = (Noise("gaussian", 1.0),)


def opened(rows: Any, adjacency: str = "replace_one", size: float = 1e-170) -> Any:
    frame = pd.DataFrame({"x": [size, -size], "kind": ["a", "b"]})
    return session_of(PrivateTable.seal(frame, LABELLED), rows, adjacency=adjacency)


def test_a_ball_too_small_for_squares_lets_nothing_leave() -> None:
    """Its norms are all 0, so nothing would be drawn into it, and the noise would be its size."""
    session = opened(FeatureRows)
    shape = MixtureMoments(1, 1, "full", 1e-200, 1.0, 1.0, 1.0)
    with pytest.raises(WallError, match="ball"):
        session.release("moments", shape, InFrame(Frame.identity(1, 1e-200)), ONE_NOISE)
    labels = opened(LabelledRows, "label")
    with pytest.raises(WallError, match="ball"):
        labels.release(
            "vectors",
            LabelledVectors(2, 1, 1e-200),
            ByLabel(lambda run, which: np.full((2, 1), 1e-170)),
            ONE_NOISE[0],
        )
    for bound in (5e-324, 1e200):
        with pytest.raises(WallError, match="ball"):
            randomise(
                opened(MaskedRows),
                "each row",
                bound,
                lambda rows, runs: np.full((1, 1, 2), np.inf),
                Noise("gaussian", 0.1),
            )
    assert not session.ledger.entries + labels.ledger.entries


@pytest.mark.parametrize("size", [1e-160, 1e-170, 1e-200, 1e160, 1e200])
def test_weights_whose_squares_are_none_are_refused(size: float) -> None:
    """Their sensitivity would come out as 0, as infinite, or too small by a root of 2."""
    shapes = (
        lambda: OutcomeMoments(2, 1.0, size, size),
        lambda: OutcomeMoments(2, 1.0, 1.0, size),
        lambda: LabelledMoments(2, 2, size, 0.0, 0.0),
        lambda: LabelledMoments(2, 2, 0.0, size, size),
        lambda: MixtureMoments(2, 2, "full", 1.0, size, size, size),
        lambda: MixtureMoments(1, 1, "full", 1.0, 1e-200, 1e-170, 1e-200),
    )
    for shape in shapes:
        with pytest.raises(InputError, match="weights"):
            shape()


@pytest.mark.parametrize("size", [1e-100, 1e-60, 1e60, 1e90])
def test_a_sensitivity_scales_with_its_weights(size: float) -> None:
    for adjacency in ("replace_one", "add_remove", "label", "feature"):
        one, scaled = (
            LabelledMoments(2, 2, 0.2 * each, 1.2 * each, each).l2_sensitivity(adjacency)
            for each in (10.0, 10.0 * size)
        )
        assert scaled == pytest.approx(one * size, rel=1e-12)
    for adjacency in ("replace_one", "add_remove", "label"):
        one, scaled = (
            OutcomeMoments(2, 1.0, each, each).l2_sensitivity(adjacency) for each in (1.0, size)
        )
        assert scaled == pytest.approx(one * size, rel=1e-12)


GRADIENTS = ("symmetric-mixture", "mixture-regression", "missing-regression")


@pytest.mark.filterwarnings("ignore:overflow")  # of the limits themselves, which are public
@pytest.mark.parametrize(
    ("low", "high", "models"),
    [
        (-1e155, 1e155, GRADIENTS),
        (-8e307, 8e307, GRADIENTS),
        (1e300, 1.1e300, GRADIENTS),
        (0.0, 5e-324, ("gmm", "kmeans", "mean", *GRADIENTS)),
    ],
)
def test_limits_whose_squares_are_none_are_refused_whatever_the_rows(
    low: float, high: float, models: Sequence[str]
) -> None:
    for rows in (np.zeros(3), np.array([0.0, 1.0, -1.0, low, high]), np.full(3, np.nan)):
        for model in models:
            options = {"n_components": 1} if high < 1.0 else {}
            with pytest.raises(InputError, match="values near 1"):
                fit(model, table(rows, high, low), privacy=asked(), **options)


def test_a_clip_too_near_0_is_refused() -> None:
    rows = np.array([0.0, 1.0, -1.0])
    for share in (1e-170, 1e-100, 5e-324):
        for model in ("gmm", "kmeans", "sbn"):
            with pytest.raises(InputError, match="too near 0"):
                fit(model, table(rows, 1.0), privacy=asked(), n_components=1, clip=share)


@pytest.mark.parametrize("model", GRADIENTS)
def test_no_warning_tells_of_a_row_that_a_model_cannot_compute_with(model: str) -> None:
    reach = 1e90
    far = np.array([0.0, reach, -reach, reach])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (np.zeros(4), far):
            for sigma in (1.0, 1e80):
                fit(model, table(rows, reach), privacy=asked(), sigma=sigma, iterations=2, seed=1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0, 36.0, 60.0])
def test_a_bit_is_never_surer_than_its_epsilon(epsilon: float) -> None:
    run = session_of(table(np.zeros(1), 1.0), MaskedRows, seed=1)
    multiplier = np.array([1.0 / epsilon])
    randomise_bits(run, "bits", lambda seen, runs: seen.rows[None], multiplier)
    stated = float(compose(run.ledger.at(0).events, "linear", delta=0.0).epsilon)
    rarer, surer = _chance(np.array([-1.0, 1.0]), epsilon_of_a_bit(run, multiplier))
    assert rarer > 0.0
    assert np.log(surer / rarer) <= stated


def test_what_a_document_draws_is_its_own_whatever_stands_before_it() -> None:
    def drawn(first: float) -> Bags:
        counts = np.concatenate([np.full(100, first), np.full(1000, 1e-7)])
        words = np.concatenate([np.arange(100), np.tile(np.arange(500), 2)])
        bags = Bags.of(np.array([0, 100, 600, 1100]), words, counts, 500)
        return bags.resampled(50, PublicCoins(1)).take(np.array([1, 2]))

    short, long = drawn(1.0), drawn(1e9)
    np.testing.assert_array_equal(short.words, long.words)
    np.testing.assert_array_equal(short.counts, long.counts)


def test_a_session_is_not_pickled_even_without_privacy() -> None:
    run = session_of(table(np.array([0.1, 0.2]), 1.0), MaskedRows, private=False)
    with pytest.raises(WallError, match="pickled"):
        pickle.dumps(run)


def test_every_draw_of_a_fit_without_privacy_sees_the_rows() -> None:
    rng = np.random.default_rng(0)
    columns = (Column("x", lower=-1, upper=1), Column("y", role="target", type="binary"))
    frame = pd.DataFrame({"x": rng.uniform(-1, 1, 50), "y": rng.integers(0, 2, 50)})
    rows = PrivateTable.seal(frame, Schema(columns))
    grid = fit_grid(
        "logistic", rows, privacy=None, draws=(0, 1), algorithm="vips", rate=0.5, iterations=3
    )
    first, second = (grid.fit(0, draw).parameters for draw in (0, 1))
    assert first.coefficients == second.coefficients != 0.0
