"""Yes-or-no outcomes behind the wall: what is read, what may leave, and by how much it can move."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from adversary import worst_of
from sealed_rows import session_of
from support import every

from dpcore.arrays import Array
from dpcore.errors import InputError, RowError, WallError
from dpcore.privacy import Gaussian
from dpcore.schema import Ball, Column, Schema
from dpcore.wall.data import Frame, LogisticRows
from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.data.design_matrix import Design, binary_target, outcomes_of
from dpcore.wall.kernels.row_blocks import looked_at
from dpcore.wall.noise import GridNoise
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import logistic_statistics
from dpcore.wall.statistics.gradients import RowGradient
from dpcore.wall.statistics.logistic_statistics import (
    CurvatureMoments,
    NoisyOutcomes,
    OutcomeMoments,
    OutcomeSums,
    Weighing,
    WeightedRows,
    put_inside,
)
from dpcore.wall.subsample import Minibatches, Sample
from dpcore.wall.table import PrivateTable

ADJACENCIES = ("replace_one", "add_remove")
WHERE = Column("where", type="category", categories=("north", "south", "west"))
YES = Column("ill", role="target", type="binary")
SCHEMA = Schema((Column("age", lower=0, upper=100), WHERE, YES))


def people(count: int = 40, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.uniform(0, 100, count),
            "where": rng.choice(WHERE.categories, count),
            "ill": rng.integers(2, size=count),
        }
    )


def opened(frame: pd.DataFrame, schema: Schema = SCHEMA, **more: Any) -> Session[LogisticRows]:
    return session_of(PrivateTable.seal(frame, schema), LogisticRows, **more)


def exact(
    session: Session[LogisticRows], contribution: OutcomeMoments, curvature: object = None
) -> NoisyOutcomes:
    """What would leave without noise: the noise subtracted is next to nothing."""
    tiny = (Noise("gaussian", 1e-12),)
    return session.release("test", contribution, curvature, tiny)  # type: ignore[arg-type]


# --- the design ----------------------------------------------------------------------------------


def test_a_row_is_as_long_as_its_columns_are_many() -> None:
    session = opened(people())
    assert session.source.reach == pytest.approx(math.sqrt(3.0))  # age, where, intercept
    rows = session.source._designed
    assert np.all(np.linalg.norm(rows, axis=1) <= session.source.reach * (1 + 1e-12))
    assert np.all(rows[:, -1] == 1.0)
    assert set(np.unique(rows[:, 1:4])) == {0.0, 1.0}
    assert np.all(rows[:, 1:4].sum(axis=1) == 1.0)


def test_coefficients_of_the_design_mean_the_same_in_unit_coordinates() -> None:
    design, rng = Design.of(SCHEMA), np.random.default_rng(3)
    units, coefficients = rng.uniform(-1, 1, (5, 4)), rng.normal(size=(2, 5))
    own = design.rows(units, math.inf) @ coefficients.T
    moved = design.to_units(coefficients)
    np.testing.assert_allclose(units @ moved[:, :-1].T + moved[:, -1], own)


def test_a_ball_stays_a_ball() -> None:
    schema = Schema((Column("a"), Column("b"), YES), ball=Ball((0.0, 0.0), 2.0))
    assert Design.of(schema).radius == 1.0


def test_outcomes_follow_the_public_rule() -> None:
    cells = [1, 0, "0", np.nan, 7, -1, np.inf]
    table = PrivateTable.seal(pd.DataFrame({"age": 1.0, "where": "north", "ill": cells}), SCHEMA)
    assert outcomes_of(table, private=True).tolist() == [1, 0, 0, 0, 1, 0, 1]
    schema = Schema(
        (SCHEMA.columns[0], Column("ill", "target", "category", categories=("no", "yes")))
    )
    words = ["yes", "no", "maybe", None, "yes ", 1]
    table = PrivateTable.seal(pd.DataFrame({"age": 1.0, "ill": words}), schema)
    assert outcomes_of(table, private=True).tolist() == [1, 0, 0, 0, 1, 0]
    with pytest.raises(InputError, match="neither yes nor no"):
        outcomes_of(table, private=False)


def test_what_an_outcome_is_depends_on_its_own_cell() -> None:
    """One odd cell changes how a reader stores a column, and nothing else."""
    for odd in (None, 10**400, 0.5, True):
        cells = pd.Series([1, 0, 1, odd], dtype=object)
        frame = pd.DataFrame({"age": 1.0, "where": "north", "ill": cells})
        found = outcomes_of(PrivateTable.seal(frame, SCHEMA), private=True)
        assert found[:3].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "target",
    [
        Column("ill", "target", "number", 0, 1),
        Column("ill", "target", "category", categories=("a", "b", "c")),
        Column("ill", "target", "text"),
        Column("ill", "label", "binary"),
    ],
)
def test_a_target_that_is_not_yes_or_no_is_refused(target: Column) -> None:
    with pytest.raises(InputError, match="target"):
        binary_target(Schema((SCHEMA.columns[0], target)))


# --- sensitivity ---------------------------------------------------------------------------------


def weighted(found: NoisyOutcomes, shape: OutcomeMoments) -> Array:
    """Everything in the units in which the sensitivity is stated ``(B, p + p^2)``."""
    squares = (found.squares / shape.scale("squares")).reshape(len(found.squares), -1)
    if "sums" not in shape.blocks:
        return squares
    return np.concatenate([found.sums / shape.scale("sums"), squares], axis=1)


HOSTILE: dict[str, Callable[[Array], Array]] = {
    "signed": lambda s: s,
    "huge": lambda s: 1e300 * s,
    "undefined": lambda s: np.where(s > 0, np.nan, 0.3),
    "infinite": lambda s: np.where(s > 0, np.inf, -np.inf),
    "jumping": lambda s: (np.sin(1e3 * s) > 0).astype(float),
    "narrow": lambda s: s.astype(np.float32),
    "yes or no": lambda s: s > 0,
    "masked": lambda s: np.ma.masked_greater(1e9 * s, 1.0),
}


@pytest.mark.parametrize("trick", HOSTILE)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_no_model_and_no_row_moves_a_sum_by_more_than_stated(
    trick: str, adjacency: str, exhaustive: bool
) -> None:
    rng = np.random.default_rng(1)

    def model(rows: Array, runs: object) -> Array:
        direction = np.random.default_rng(2).normal(size=(rows.shape[1], 2))
        return HOSTILE[trick]((rows @ direction).T)

    odd = [1e300, -1e300, math.inf, math.nan, 50.0, -0.0, None]
    places = ["north", "elsewhere", None, 3, "west"]
    for trial in range(30 if exhaustive else 4):
        frame = people(6, trial).astype(object)
        other = frame.copy()
        other.iloc[0] = [rng.choice(np.array(odd, dtype=object)), places[trial % 5], odd[trial % 7]]
        other["age"] = pd.to_numeric(other["age"], errors="coerce")
        frame["age"] = frame["age"].astype(float)
        other = other.iloc[1:] if adjacency == "add_remove" else other
        for least in (0.0, 0.4, 1.0):
            for kind in (OutcomeMoments, CurvatureMoments):
                reach = opened(frame).source.reach
                shape = kind(5, reach, 1.3, 0.8, least)
                found = [
                    exact(opened(each, runs=2, adjacency=adjacency), shape, model)
                    for each in (frame, other)
                ]
                change = weighted(found[0], shape) - weighted(found[1], shape)
                assert np.all(np.isfinite(change))
                stated = shape.l2_sensitivity(adjacency) * (1 + 1e-9)
                assert np.all(np.linalg.norm(change, axis=1) <= stated)


FRAMES: dict[str, tuple[float, float]] = {
    "narrow": (0.0, 1e-9),
    "wide": (0.0, 1e9),
    "off": (0.9, 0.1),
    "far": (1e300, 1.0),
    "without a middle": (math.nan, 1.0),
    "without a size": (0.0, math.inf),
}


def framed(trick: str, *, runs: int) -> Frame:
    """A frame of each run whose middle and radius are those of a trick."""
    middle, radius = FRAMES[trick]
    balls = Frame.balls(np.full((runs, 4), middle), np.full(runs, radius))
    return replace(balls, radius=1.4)


@pytest.mark.parametrize("trick", FRAMES)
@pytest.mark.parametrize("adjacency", [*ADJACENCIES, "label"])
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_no_frame_and_no_row_moves_a_sum_by_more_than_stated(trick: str, adjacency: str) -> None:
    """A row is a row of its ball, wherever the frame puts that."""
    rng = np.random.default_rng(2)
    kind = OutcomeSums if adjacency == "label" else OutcomeMoments
    shape = kind(5, math.hypot(1.4, 1.0), 1.0, 0.6)
    for trial in range(6):
        frame = people(6, trial)
        other = frame.copy()
        if adjacency != "label":
            other.loc[0, ["age", "where"]] = [rng.choice([0.0, 100.0]), "west"]
        other.loc[0, "ill"] = 1 - frame.loc[0, "ill"]
        other = other.iloc[1:] if adjacency == "add_remove" else other
        found = [
            exact(opened(each, runs=2, adjacency=adjacency), shape, framed(trick, runs=2))
            for each in (frame, other)
        ]
        moved = (found[0].sums - found[1].sums) / shape.scale("sums")
        if adjacency != "label":
            moved = weighted(found[0], shape) - weighted(found[1], shape)
        assert np.all(np.isfinite(moved))
        assert np.all(np.linalg.norm(moved, axis=1) <= shape.l2_sensitivity(adjacency) * (1 + 1e-9))


@pytest.mark.parametrize("trick", [*HOSTILE, *FRAMES])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_no_weight_and_no_frame_moves_weighted_rows_by_more_than_stated(
    trick: str, adjacency: str
) -> None:
    rng, shape = np.random.default_rng(3), WeightedRows(5, math.hypot(1.4, 1.0))
    frames = framed(trick if trick in FRAMES else "off", runs=2)
    stated = shape.l2_sensitivity(adjacency) * (1 + 1e-9)
    for trial in range(8):
        frame = people(6, trial)
        other = frame.copy()
        other.loc[0, ["age", "where"]] = [rng.choice([0.0, 100.0, 1e300, -math.inf]), "west"]
        other = other.iloc[1:] if adjacency == "add_remove" else other
        coefficients = rng.normal(size=(2, 5)) * 10.0 ** rng.integers(-3, 4)
        asked = Weighing(
            frames, coefficients, lambda scores, run: HOSTILE.get(trick, np.sign)(scores)
        )
        found = [
            opened(each, runs=2, adjacency=adjacency).release(
                "test", shape, asked, Noise("gaussian", 1e-12)
            )
            for each in (frame, other)
        ]
        moved = (found[0].sums - found[1].sums) / shape.scale("sums")
        assert np.all(np.isfinite(moved))
        assert np.all(np.linalg.norm(moved, axis=1) <= stated)


def test_rows_on_two_sides_of_a_jump_attain_the_lemma_of_weighted_rows() -> None:
    shape, frame = WeightedRows(5, math.hypot(1.4, 1.0)), people(10)
    other = frame.copy()
    frame.loc[0, ["age", "where"]] = [100.0, "north"]
    other.loc[0, ["age", "where"]] = [99.9999, "north"]
    rows = [opened(each).source._designed[0] for each in (frame, other)]
    jump = np.array([[1.0, 0.0, 0.0, 0.0, 0.0]])
    balls = framed("narrow", runs=1)
    place = np.mean([1.4 * row[0] / np.linalg.norm(row[:-1]) for row in rows])
    asked = Weighing(balls, jump, lambda scores, run: np.sign(scores - place))
    found = [
        opened(each).release("test", shape, asked, Noise("gaussian", 1e-12)).sums
        for each in (frame, other)
    ]
    moved = np.linalg.norm(found[0] - found[1]) / shape.scale("sums")
    assert 0.999 * shape.l2_sensitivity("replace_one") <= moved <= 2.0 * (1 + 1e-7)


def test_weighted_rows_are_the_rows_of_the_frame_times_their_weights() -> None:
    session, frames = opened(people(70), runs=2, private=False), framed("off", runs=2)
    coefficients = np.random.default_rng(0).normal(size=(2, 5))
    asked = Weighing(frames, coefficients, lambda scores, run: np.tanh(scores * (run + 1)))
    shape = WeightedRows(5, math.hypot(1.4, 1.0))
    found = session.release("test", shape, asked, Noise("gaussian", 0.0))
    for run in range(2):
        inside = frames.apply(session.source._designed[:, :-1], slice(run, run + 1))[0]
        x = np.concatenate([inside, np.ones((1, inside.shape[1]))])
        expected = x @ np.tanh((coefficients[run] @ x) * (run + 1))
        np.testing.assert_allclose(found.sums[run], expected, rtol=1e-12)


def test_weighted_rows_that_are_not_asked_for_as_stated_are_refused() -> None:
    shape, frames = WeightedRows(5, math.hypot(1.4, 1.0)), framed("off", runs=1)
    asked = Weighing(frames, np.ones((1, 5)), lambda scores, run: scores)
    few = (Noise("gaussian", 1.0),)
    with pytest.raises(WallError, match="labels"):
        opened(people(), adjacency="label").release("test", shape, asked, few)
    for wrong, words in (
        (replace(asked, coefficients=np.ones((1, 4))), "coefficients"),
        (replace(asked, frame=framed("off", runs=2)), "centers"),
        (replace(asked, frame=replace(frames, matrix=np.eye(4)[None])), "balls"),
        (replace(asked, weigh=lambda scores, run: np.ones(3)), "shape"),
    ):
        with pytest.raises(ValueError, match=words):
            opened(people()).release("test", shape, wrong, few)
    wide, session = replace(asked, frame=replace(frames, radius=1.5)), opened(people())
    with pytest.raises(WallError, match="ball"):
        session.release("test", shape, wide, few)


def test_in_a_narrow_frame_a_row_moves_the_sums_by_what_is_stated() -> None:
    """All rows lie on the sphere, those of others at the angle where the lemma is attained."""
    shape = OutcomeMoments(5, math.hypot(1.4, 1.0), 1.0, 0.6)
    frame = people(10)
    moved = [0.0]
    for place in WHERE.categories:
        for age in np.linspace(0.0, 100.0, 21):
            one, other = frame.copy(), frame.copy()
            one.loc[0, ["age", "where", "ill"]] = [100.0, "north", 1]
            other.loc[0, ["age", "where", "ill"]] = [age, place, 0]
            found = [exact(opened(each), shape, framed("narrow", runs=1)) for each in (one, other)]
            moved.append(
                float(np.linalg.norm(weighted(found[0], shape) - weighted(found[1], shape)))
            )
    stated = shape.l2_sensitivity("replace_one")
    assert 0.95 * stated <= max(moved) <= stated * (1 + 1e-9)


def change(rows: Array, outcomes: Array, curvature: Array, shape: OutcomeMoments) -> Array:
    """Weighted vectors of many rows ``(n, d)`` as the wall clips and weighs them."""
    inside = clip_to_ball(rows, shape.radius)
    kept = put_inside(curvature, shape.least)
    squares = kept[:, None, None] * inside[:, :, None] * inside[:, None, :] / shape.scale("squares")
    flat = squares.reshape(len(rows), -1)
    if "sums" not in shape.blocks:
        return flat
    sums = (np.where(outcomes > 0, 1.0, 0.0) - 0.5)[:, None] * inside / shape.scale("sums")
    return np.concatenate([sums, flat], axis=1)


def worst(shape: OutcomeMoments, adjacency: str) -> float:
    """Of two rows, their outcomes and curvatures."""

    def size(candidates: Array) -> Array:
        sides = [
            change(part[:, : shape.dim] * shape.radius, part[:, -2], part[:, -1], shape)
            for part in np.split(candidates, 2, axis=1)
        ]
        moved = sides[0] if adjacency == "add_remove" else sides[0] - sides[1]
        return np.linalg.norm(moved, axis=1)

    return worst_of(size, (2 * (shape.dim + 2),))[0]


WEIGHTS = ((1.0, 0.2), (1.0, 0.5), (1.0, 1.0), (0.3, 1.0), (1.0, math.sqrt(0.125)))


@pytest.mark.full
@every("weights", WEIGHTS)
@every("least", [0.0, 0.3, 1.0])
@every("adjacency", ADJACENCIES)
@every("dim", [2, 3])
def test_an_attacker_meets_the_stated_sensitivity_and_no_more(
    weights: tuple[float, float], least: float, adjacency: str, dim: int
) -> None:
    shape = OutcomeMoments(dim, 1.7, *weights, least)
    found, stated = worst(shape, adjacency), shape.l2_sensitivity(adjacency)
    assert 0.98 * stated <= found <= stated


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("dim", [1, 2])
def test_an_attacker_meets_the_sensitivity_of_squares_alone(adjacency: str, dim: int) -> None:
    shape = CurvatureMoments(dim, 1.7, least=0.0)
    found, stated = worst(shape, adjacency), shape.l2_sensitivity(adjacency)
    assert 0.98 * stated <= found <= stated


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("dim", [1, 2, 4])
def test_a_row_of_equal_coordinates_meets_what_is_stated_for_laplace_noise(
    adjacency: str, dim: int
) -> None:
    """Squares leave as their upper triangle, what lies beside the diagonal times sqrt 2."""
    shape = OutcomeMoments(dim, 1.7, 0.6, 1.2, least=0.0)
    rows = np.full((2, dim), shape.radius / math.sqrt(dim))
    moved = change(rows, np.array([1.0, 0.0]), np.array([1.0, 0.0]), shape)
    vector = moved[0] if adjacency == "add_remove" else moved[0] - moved[1]
    form = vector[dim:].reshape(dim, dim)
    size = np.abs(np.diag(form)).sum() + math.sqrt(2.0) * np.abs(np.triu(form, 1)).sum()
    sums = np.abs(vector[:dim]).sum()
    assert sums == pytest.approx(shape.l1_sensitivity(adjacency, "sums"))
    two = 2.0 if adjacency == "replace_one" else 1.0  # a row that falls where another rises
    assert two * size == pytest.approx(shape.l1_sensitivity(adjacency, "squares"))


def test_in_one_dimension_nothing_exceeds_what_is_stated() -> None:
    for weights in WEIGHTS:
        for least in (0.0, 0.5, 1.0):
            shape = OutcomeMoments(1, 1.0, *weights, least)
            assert worst(shape, "replace_one") <= shape.l2_sensitivity("replace_one")


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_sums_alone_have_the_sensitivity_1_where_the_paper_says_2(adjacency: str) -> None:
    shape = OutcomeMoments(3, 1.0, 1.0, 1e-9)
    stated = 1.0 if adjacency == "replace_one" else 0.5
    assert shape.l2_sensitivity(adjacency, "sums") == pytest.approx(stated)
    assert worst(shape, adjacency) == pytest.approx(stated, rel=0.02)


def test_the_papers_two_noises_are_one_release_of_1_257_sigma() -> None:
    """VIPS: sigma times 2/N on sums, times 1/(2N) on squares of xi = k/4, counted as one sigma."""
    text = OutcomeMoments(3, 1.0, 1 / 2, (1 / 4) / (1 / 2), least=0.0)
    assert text.l2_sensitivity("replace_one") ** -1 == pytest.approx(1.257, abs=1e-3)
    code = OutcomeMoments(3, 1.0, 1.0, (1 / 4) / (1 / 2), least=0.0)
    assert code.l2_sensitivity("replace_one") ** -1 == pytest.approx(0.894, abs=1e-3)


def test_light_squares_are_free() -> None:
    light = OutcomeMoments(3, 1.0, 1.0, math.sqrt(1 / 8))
    assert light.l2_sensitivity("replace_one") == pytest.approx(1.0)


# --- the door ------------------------------------------------------------------------------------


def test_the_door_gives_the_sums_of_the_rows() -> None:
    frame, shape = people(), OutcomeMoments(5, math.sqrt(3), 1.0, 0.5, least=0.0)
    session = opened(frame, private=False)
    found = exact(session, shape, lambda rows, runs: np.abs(rows[None, :, 0]))
    x = np.column_stack(
        [
            frame["age"] / 50 - 1,
            *(frame["where"] == place for place in WHERE.categories),
            np.ones(len(frame)),
        ]
    ).astype(float)
    np.testing.assert_allclose(found.sums[0], x.T @ (frame["ill"] - 0.5), atol=1e-9)
    np.testing.assert_allclose(found.squares[0], (x.T * np.abs(x[:, 0])) @ x, atol=1e-9)


def test_each_run_sees_the_rows_in_its_own_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logistic_statistics, "FRAMED_NUMBERS", 35)  # seven rows at once
    middle, radius = np.array([[0.1] * 4, [-0.4] * 4]), np.array([0.5, 2.0])
    frame = replace(Frame.balls(middle, radius), radius=1.4)
    session, shape = opened(people(), runs=2), OutcomeMoments(5, math.hypot(1.4, 1.0), 1.0, 0.5)
    found = exact(session, shape, frame)
    for run in range(2):
        inside = clip_to_ball((session.source._designed[:, :-1] - middle[run]) / radius[run], 1.4)
        x = np.column_stack([inside, np.ones(len(inside))])
        np.testing.assert_allclose(found.sums[run], x.T @ (people()["ill"] - 0.5), atol=1e-9)
        np.testing.assert_allclose(found.squares[run], x.T @ x, atol=1e-9)
    with pytest.raises(ValueError, match="frames"):
        exact(opened(people(), runs=3), shape, frame)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_one_release_is_one_entry_with_the_noise_asked_for(adjacency: str) -> None:
    session = opened(people(), adjacency=adjacency, rows_per_person=2)
    shape = OutcomeMoments(5, session.source.reach, 1.0, 0.5)
    found = session.release("sums", shape, None, Noise("gaussian", 3.0))
    (entry,) = session.ledger
    assert isinstance(entry.event.mechanism, Gaussian)
    assert entry.event.mechanism.noise_multiplier == pytest.approx(3.0)
    assert entry.sensitivity == pytest.approx(2 * shape.l2_sensitivity(adjacency))
    assert found.sums_sd[0] == pytest.approx(
        6 * shape.l2_sensitivity(adjacency) * session.source.reach
    )
    assert entry.proof


def test_the_noise_that_leaves_is_the_noise_that_is_stated() -> None:
    session = opened(people(), runs=400)
    shape = OutcomeMoments(5, session.source.reach, 1.0, 0.5)
    found = session.release("sums", shape, None, Noise("gaussian", 3.0))
    bare = exact(opened(people()), shape)
    sums = (found.sums - bare.sums) / found.sums_sd[:, None]
    diagonal = np.diagonal(found.squares - bare.squares, axis1=1, axis2=2)
    beside = (found.squares - bare.squares)[:, 0, 1]
    assert np.std(sums) == pytest.approx(1.0, abs=0.07)
    assert np.std(diagonal) == pytest.approx(found.squares_sd[0], rel=0.07)
    assert np.std(beside) * math.sqrt(2) == pytest.approx(found.squares_sd[0], rel=0.12)


def test_a_bound_smaller_than_the_rows_is_refused() -> None:
    session = opened(people())
    with pytest.raises(WallError, match="ball"):
        exact(session, OutcomeMoments(5, 0.9 * session.source.reach, 1.0, 0.5))
    assert len(session.ledger) == 0


def test_a_model_cannot_alter_the_rows_nor_give_another_shape() -> None:
    def scribble(rows: Array, runs: object) -> Array:
        rows[:] = 1e9
        return np.ones((1, len(rows)))

    shape = OutcomeMoments(5, opened(people()).source.reach, 1.0, 0.5, least=0.0)
    with pytest.raises(ValueError, match="read-only"):
        exact(opened(people()), shape, scribble)
    with pytest.raises(ValueError, match="shape"):
        exact(opened(people()), shape, lambda rows, runs: np.ones(len(rows)))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_minibatch_is_a_fresh_sample_and_its_entry_says_so(adjacency: str) -> None:
    frame = people(200)
    session = opened(frame, runs=2, adjacency=adjacency)
    batches = Minibatches(session, Sample.under(adjacency, 0.25))
    shape = OutcomeMoments(5, session.source.reach, 1.0, 0.5, least=0.0)
    tiny = (Noise("gaussian", 1e-12),)
    counts = []
    for step in range(3):
        found = session.release(
            f"step {step}", shape, lambda rows, runs: np.ones((1, len(rows))), tiny, batches
        )
        counts.append(found.squares[:, -1, -1])
        event = session.ledger.entries[-1].event
        assert (event.sampling_rate, event.adjacency) == (0.25, adjacency)
        assert event.sampling == batches.sample.sampling
    if adjacency == "replace_one":
        np.testing.assert_allclose(counts, 50.0)
    assert np.ptp(np.array(counts)) > 0 or adjacency == "replace_one"
    assert len(np.unique(np.round(found.sums, 9), axis=0)) == 2  # each draw its own rows


@every("rows, rate", [(10, 0.25), (10, 0.35), (7, 0.5), (3, 0.01), (200, 0.25)])
def test_the_entry_of_a_sample_states_the_share_of_rows_that_was_drawn(
    rows: int, rate: float
) -> None:
    """A share that asked for half a row is rounded to whole rows, and these are paid for."""
    session = opened(people(rows))
    batches = Minibatches(session, Sample.under("replace_one", rate))
    shape = OutcomeMoments(5, session.source.reach, 1.0, 0.5, least=0.0)
    noise = Noise("gaussian", 1e-12)
    found = session.release(
        "step", shape, lambda some, runs: np.ones((1, len(some))), noise, batches=batches
    )
    drawn = round(float(found.squares[0, -1, -1]))
    assert session.ledger.entries[-1].event.sampling_rate == drawn / rows


def test_clipping_draws_rows_into_a_smaller_ball() -> None:
    session = opened(people(), clip=0.5)
    assert session.source.reach == pytest.approx(math.sqrt(0.25 * 2 + 1))
    assert np.linalg.norm(session.source._designed, axis=1).max() <= session.source.reach * (
        1 + 1e-12
    )


# --- labels alone, and rows in their places ------------------------------------------------------


REACH = math.sqrt(3.0) * (1.0 + 1e-12)


def test_a_label_moves_the_sums_by_what_is_stated_and_squares_not_at_all() -> None:
    """A row at the corner of its ball with the other label: the lemma is attained."""
    frame = people(10)
    frame.loc[0, ["age", "where"]] = [100.0, "north"]
    other = frame.copy()
    other.loc[0, "ill"] = 1 - frame.loc[0, "ill"]
    for kind, weights in ((OutcomeSums, (1.0, 1.0)), (OutcomeMoments, (0.7, 0.4))):
        shape = kind(5, REACH, *weights)
        found = [exact(opened(each, adjacency="label"), shape) for each in (frame, other)]
        moved = np.linalg.norm(found[0].sums - found[1].sums) / shape.scale("sums")
        stated = shape.l2_sensitivity("label")
        assert 0.98 * stated <= moved <= stated * (1 + 1e-6)
        assert stated == pytest.approx(weights[0])
        np.testing.assert_allclose(found[0].squares, found[1].squares, atol=1e-9)


def test_squares_without_noise_leave_only_where_features_are_public() -> None:
    session = opened(people(), adjacency="label")
    released = exact(session, OutcomeSums(5, REACH))
    np.testing.assert_allclose(
        released.squares[0], session.source._designed.T @ session.source._designed
    )
    assert released.squares_sd[0] == 0.0
    (entry,) = session.ledger
    assert entry.sensitivity == pytest.approx(1.0)
    for adjacency in ADJACENCIES:
        session = opened(people(), adjacency=adjacency)
        with pytest.raises(WallError, match="protected"):
            exact(session, OutcomeSums(5, REACH))
        assert len(session.ledger) == 0
    with pytest.raises(WallError, match="labels"):
        exact(opened(people(), adjacency="label"), CurvatureMoments(5, REACH, least=0.0))
    with pytest.raises(InputError, match="feature"):
        exact(opened(people(), adjacency="feature"), OutcomeMoments(5, REACH, 1.0, 1.0))


def test_a_rows_curvature_is_the_same_to_the_last_bit_wherever_it_stands() -> None:
    """As the wall looks: whoever stands before it, beside it, or nobody."""
    from dpcore.models.logistic_regression import mathematics as logistic
    from dpcore.wall.statistics.logistic_statistics import TILE

    rng, size = np.random.default_rng(0), 55
    spread = rng.normal(size=(1, size, size))
    covariance = spread @ spread.transpose(0, 2, 1)
    fit = logistic.Coefficients(30 * rng.normal(size=(1, size)), covariance, covariance)
    curvature = logistic.curvature(fit)

    def look(block: Array) -> tuple[Array, ...]:
        return (curvature(block, np.arange(1)).T,)

    rows = rng.uniform(-1, 1, (TILE, size))
    (whole,) = looked_at(rows, TILE, look)
    for shift in (1, 2, 3, 5, 13, 100, TILE - 1):
        np.testing.assert_array_equal(looked_at(rows[shift:], TILE, look)[0], whole[shift:])
    others = rng.uniform(-1, 1, rows.shape)
    others[7] = rows[7]
    np.testing.assert_array_equal(looked_at(others, TILE, look)[0][7], whole[7])


@every(
    "statistic",
    (
        OutcomeMoments(5, 2.0, 1.0, 1.0, least=0.0),
        CurvatureMoments(5, 2.0, least=0.0),
        WeightedRows(5, 2.0),
        RowGradient(5, 1.0),
    ),
)
@every("kind", (KeyError, InputError, "shape", "text"))
def test_a_model_that_fails_on_a_row_has_paid_and_says_nothing_of_it(
    statistic: Any, kind: Any
) -> None:
    """Only of vectors was it paid for: who asked for a curvature learned for nothing whether a row
    was there, and read it in the message."""

    def failing(rows: Array, *others: object) -> Array:
        if kind == "text":
            return np.array(["Smith"])
        if kind != "shape":
            raise InputError("age", f"{rows}", "mend it") if kind is InputError else kind(rows)
        return np.zeros((1, 1, 1, 1))

    def released(**options: Any) -> None:
        session = opened(people(), **options)
        about_all = Frame.balls(np.zeros((1, 4)), np.ones(1))
        weighing = Weighing(about_all, np.zeros((1, 5)), failing)
        of: Any = weighing if isinstance(statistic, WeightedRows) else failing
        session.release("g", statistic, of, Noise("gaussian", 1.0))

    paid = list[str]()
    with pytest.raises(WallError, match=wording.ROWS_FUNCTION) as refusal:
        released(noise=GridNoise(lambda: paid.append("line")))
    assert paid == ["line"]
    assert "Smith" not in f"{refusal.value}"
    assert "mend it" not in f"{refusal.value}"
    rehearsed = {"shape": RowError, "text": ValueError}.get(kind, kind)
    with pytest.raises(rehearsed):
        released()
