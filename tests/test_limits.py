"""Narrower limits: found at any scale, never guessed from noise, and public for later fits."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from released import made
from released import people as people_of_releases
from support import every

import dpcore as dp
from app import releasing
from dpcore.arrays import Array
from dpcore.evaluation.study import Setting, study
from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.figures.budget import study_scene
from dpcore.figures.scene import Spots
from dpcore.fitting.api import fit_grid
from dpcore.models.limits import mathematics as narrow
from dpcore.models.limits.estimator import ESTIMATOR
from dpcore.models.limits.parameters import Limits, LimitsParameters, result_table
from dpcore.wall.data import PublicFrame
from dpcore.wall.data.number_rows import NumberRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import ColumnBins
from dpcore.wall.table import PrivateTable

WIDE = dp.Schema(
    (
        dp.Column("age", lower=0, upper=1000, missing=500),
        dp.Column("income", lower=0, upper=1e7),
        dp.Column("year", lower=0, upper=10_000),
        dp.Column("since", type="date", lower=-25_567, upper=47_482),
        dp.Column("well", type="binary"),
        dp.Column("region", type="category", categories=("north", "south")),
    )
)
NUMBERS = ("age", "income", "year", "since")


def people(count: int = 8000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(45.0, 15.0, count).clip(18.0, 95.0),
            "income": np.exp(rng.normal(10.5, 0.8, count)),
            "year": rng.integers(1950, 2021, count).astype(float),
            "since": pd.Timestamp("2011-01-01")
            + pd.to_timedelta(rng.integers(5000, size=count), "D"),
            "well": rng.integers(0, 2, count),
            "region": rng.choice(["north", "south"], count),
        }
    )
    frame.loc[::20, "age"] = np.nan
    return frame


def limits_of(columns: tuple[str, ...], lower: list[float], upper: list[float]) -> LimitsParameters:
    return LimitsParameters(columns, np.array(lower), np.array(upper), np.zeros(len(columns)))


@cache
def table(count: int = 8000) -> PrivateTable:
    return PrivateTable.seal(people(count), WIDE, open_to_all=True)


def found(epsilon: float | None, seed: int = 0, count: int = 8000) -> LimitsParameters:
    privacy = None if epsilon is None else dp.Privacy(epsilon, 1e-6)
    more = {"as_private": True} if privacy is None else {"seed": seed}
    fit = dp.fit("limits", table(count), privacy=privacy, **more)  # type: ignore[arg-type]
    parameters: LimitsParameters = fit.parameters
    return parameters


def outside(limits: LimitsParameters) -> dict[str, float]:
    """Share of the numbers that are there and lie outside."""
    rows = people()
    cells = {name: WIDE.numbers(name, rows[name]) for name in NUMBERS}
    return {
        name: float(np.mean((there < low) | (there > high)))
        for name, low, high in zip(limits.columns, limits.lower, limits.upper, strict=True)
        if name in cells
        for there in [cells[name][np.isfinite(cells[name])]]
    }


def test_without_noise_limits_lie_close_around_nearly_all_numbers() -> None:
    limits = found(None)
    assert max(outside(limits).values()) < 0.005
    width = dict(zip(limits.columns, limits.upper - limits.lower, strict=True))
    assert width["year"] <= 150
    assert width["age"] <= 170
    assert width["income"] <= 5e5
    assert width["since"] <= 12_000


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_private_limits_are_many_times_narrower_and_hold_nearly_all(epsilon: float) -> None:
    draws = [found(epsilon, seed) for seed in range(5)]
    cut = [max(outside(limits).values()) for limits in draws]
    assert np.median(cut) < 0.02
    for limits in draws:
        times = dict(zip(limits.columns, [1000.0, 1e7, 1e4, 73_049.0], strict=False))
        for name, low, high in zip(limits.columns, limits.lower, limits.upper, strict=True):
            if name in NUMBERS:
                assert high - low < times[name] / (2 if name in ("since", "age") else 10), name


def test_what_noise_would_decide_stays_as_it_was_stated() -> None:
    limits = found(0.02, count=500)
    assert limits.lower.tolist() == [0, 0, 0, -25_567, 0, 0, 0]
    assert limits.upper.tolist() == [1000, 1e7, 1e4, 47_482, 1, 1, 1]


def test_columns_without_numbers_keep_their_limits_and_cost_no_noise() -> None:
    limits = found(1.0)
    assert limits.columns == (*NUMBERS, "well", "region=north", "region=south")
    assert limits.lower[4:].tolist() == [0, 0, 0]
    assert limits.upper[4:].tolist() == [1, 1, 1]
    fit = dp.fit("limits", table(), privacy=dp.Privacy(1.0, 1e-6), seed=0)
    (sensitivity,) = {entry.sensitivity for entry in fit.ledger}
    assert sensitivity == pytest.approx(np.sqrt(8.0), rel=1e-6)
    assert len(fit.ledger) == 4


def test_the_narrower_schema_is_public_for_later_fits() -> None:
    limits = found(1.0)
    schema = limits.narrowed(WIDE)
    assert dp.Schema.parse(schema.to_toml()) == schema
    since = schema.column("since")
    assert float(since.lower).is_integer()
    assert schema.column("age").missing is None  # 500 lies outside
    assert schema.column("well") == WIDE.column("well")
    inside = dp.Schema((dp.Column("age", lower=0, upper=1000, missing=40),))
    only = limits_of(("age",), [10.0], [110.0])
    assert only.narrowed(inside).column("age").missing == 40
    with pytest.raises(dp.InputError, match="schema: it has other columns than the limits"):
        limits.narrowed(inside)


@every(
    "ends", [(1e15, 1e15 + 1), (1.0, 1.0 + 2**-50), (1.5, 1.5 + 2**-52), (0.123456789012345, 1.3)]
)
@every("at", (0.0, 0.5, 1.0))
def test_narrower_limits_are_limits_inside_the_stated_ones(
    ends: tuple[float, float], at: float
) -> None:
    low, high = ends
    schema = dp.Schema.from_bounds({"x": ends})
    rows = pd.DataFrame({"x": np.full(4000, low + at * (high - low))})
    sealed = PrivateTable.seal(rows, schema, open_to_all=True)
    fit = dp.fit("limits", sealed, privacy=dp.Privacy(1.0, 1e-6), seed=0)
    column = fit.parameters.narrowed(schema).column("x")
    assert low <= column.low < column.high <= high


def test_whole_days_stay_inside_stated_limits() -> None:
    schema = dp.Schema((dp.Column("day", type="date", lower=0.5, upper=20_000.5),))
    (column,) = limits_of(("day",), [0.6], [9.2]).narrowed(schema).columns
    assert (column.lower, column.upper) == (0.5, 10.0)


def test_a_number_named_like_a_category_has_its_own_limits() -> None:
    region = dp.Column("a", type="category", categories=("b",))
    schema = dp.Schema((dp.Column("a=b", lower=0, upper=100), region))
    limits = limits_of(("a=b", "a=b"), [3.0, 0.0], [4.0, 1.0])
    column = limits.narrowed(schema).column("a=b")
    assert (column.lower, column.upper) == (3, 4)


def test_limits_that_a_seed_or_no_noise_found_make_rehearsals() -> None:
    """They are read off the rows, as any limits that no release has paid for."""
    for privacy, seed, rehearsal in (
        (None, None, True),
        (dp.Privacy(1.0, 1e-6), 0, True),
        (dp.Privacy(1.0, 1e-6), None, False),
    ):
        fit = dp.fit("limits", table(), privacy=privacy, seed=seed)
        narrower = fit.parameters.narrowed(WIDE, fit.guarantee)
        assert narrower.rehearsal is rehearsal
        assert fit.parameters.narrowed(WIDE).rehearsal
        later = PrivateTable.seal(people(), narrower)
        guarantee = dp.fit("mean", later, privacy=dp.Privacy(1.0, 1e-6)).guarantee
        assert (guarantee.rehearsal, guarantee.epsilon is None) == (rehearsal, rehearsal)


def test_a_later_fit_is_better_than_one_within_the_stated_limits() -> None:
    """Both have epsilon 1 in all, by zCDP."""
    rng = np.random.default_rng(0)
    rows = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[rng.integers(3, size=6000)]
    frame = pd.DataFrame(rows + rng.standard_normal(rows.shape), columns=["x", "y"])
    stated = dp.Schema.from_bounds({"x": (-5.0, 1000.0), "y": (-5.0, 1000.0)})
    wide = PrivateTable.seal(frame, stated, open_to_all=True)
    fit = dp.fit("limits", wide, privacy=dp.Privacy(0.3, 1e-6), seed=0)
    near = PrivateTable.seal(frame, fit.parameters.narrowed(stated), open_to_all=True)

    def squares(sealed: PrivateTable, epsilon: float) -> float:
        centres = dp.fit(
            "kmeans", sealed, privacy=dp.Privacy(epsilon, 1e-6), n_components=3, seed=0
        ).parameters.centers
        away = np.linalg.norm(frame.to_numpy()[:, None] - centres, axis=2)
        return float(np.mean(np.min(away, axis=1) ** 2))

    assert squares(near, 0.95) < 2.5 < 5.0 < squares(wide, 1.0)


# --- the release ----------------------------------------------------------------------------------


def bins(columns: dict[str, list[float]], edges: Array) -> Array:
    """Exact counts ``(d, J + 1)`` of a table with limits -1 and 1."""
    schema = dp.Schema.from_bounds(dict.fromkeys(columns, (-1.0, 1.0)))
    sealed = PrivateTable.seal(pd.DataFrame(columns), schema)
    session = Session(sealed, NumberRows, noise=None, adjacency="replace_one", draws=(0,))
    statistic = ColumnBins(tuple(range(len(columns))), edges.shape[-1])
    counts, sd = session.release("bins", statistic, edges[None], Noise("gaussian", 0.0))
    assert sd.tolist() == [0.0]
    return counts[0]


def test_a_row_is_counted_once_in_each_column_and_a_missing_number_nowhere() -> None:
    edges = np.array([[-0.5, 0.0, 0.5]] * 2)
    counts = bins({"x": [-1.0, -0.5, 0.0, 0.6], "y": [0.1, np.nan, 0.5, 1.0]}, edges)
    assert counts.tolist() == [[2, 1, 0, 1], [0, 0, 2, 1]]


@every("seed", range(20))
def test_no_neighbour_moves_the_counts_by_more_than_the_sensitivity(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dim, jumps = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    edges = np.sort(rng.choice([-1.0, -0.5, 0.0, 0.0, 1e-300, 1.0], (dim, jumps)), axis=1)
    odd = [-1.0, 1.0, 0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -7.0, 0.5]
    rows = rng.choice(odd, (6, dim))
    other = rows.copy()
    other[0] = rng.choice(odd, dim)
    names = [f"c{j}" for j in range(dim)]
    first, second, less = (
        bins(dict(zip(names, (list(column) for column in part.T), strict=True)), edges)
        for part in (rows, other, rows[1:])
    )
    statistic = ColumnBins(tuple(range(dim)), jumps)
    moved, gone = np.linalg.norm(first - second), np.linalg.norm(first - less)
    assert moved <= statistic.l2_sensitivity("replace_one")
    assert gone <= statistic.l2_sensitivity("add_remove")
    assert np.abs(first - second).sum() <= statistic.l1_sensitivity("replace_one", "counts")


def test_the_sensitivities_are_attained() -> None:
    edges = np.zeros((3, 1))
    low, high = ({name: [at, 0.5] for name in "xyz"} for at in (-1.0, 1.0))
    moved = bins(low, edges) - bins(high, edges)
    statistic = ColumnBins((0, 1, 2), 1)
    assert np.linalg.norm(moved) == pytest.approx(statistic.l2_sensitivity("replace_one"))
    assert np.abs(moved).sum() == pytest.approx(statistic.l1_sensitivity("replace_one", "counts"))


def test_edges_that_are_no_edges_are_refused() -> None:
    for edges in (np.array([[0.5, 0.0]]), np.array([[np.nan, 0.0]])):
        with pytest.raises(ValueError, match="edges must be finite and rising"):
            bins({"x": [0.0]}, edges)
    with pytest.raises(ValueError, match="edges must have the shape"):
        bins({"x": [0.0]}, np.zeros((2, 3)))


def test_rows_in_a_ball_and_tables_without_numbers_are_refused() -> None:
    ball = dp.Schema.ball_of(["x", "y"], (0.0, 0.0), 1.0)
    sealed = PrivateTable.seal(pd.DataFrame({"x": [0.0], "y": [0.0]}), ball)
    with pytest.raises(dp.InputError, match="ball: it gives no column limits of its own"):
        dp.fit("limits", sealed, privacy=dp.Privacy(1.0, 1e-5))
    answers = PrivateTable.seal(
        pd.DataFrame({"p": [0, 1]}), dp.Schema((dp.Column("p", type="binary"),))
    )
    with pytest.raises(dp.InputError, match="columns: none holds numbers or dates"):
        dp.fit("limits", answers, privacy=dp.Privacy(1.0, 1e-5))


# --- what is worked out from the counts -----------------------------------------------------------


def test_any_counts_give_limits_inside_the_stated_ones() -> None:
    rng = np.random.default_rng(0)
    extremes = [0.0, 1.0, -1.0, 1e300, -1e300, np.nan, np.inf, -np.inf, 5e-324]
    for _ in range(300):
        lower, upper = -np.ones((2, 3)), np.ones((2, 3))
        sd = rng.choice([0.0, 1e-300, 1.0, 1e300], 2)
        for _ in range(4):
            counts = rng.choice(extremes, (2, 3, narrow.BINS + 2))
            before = lower, upper
            lower, upper = narrow.narrowed(lower, upper, counts, sd)
            assert np.all((before[0] <= lower) & (lower < upper) & (upper <= before[1]))
            share = narrow.noise_share(counts, sd)
            ends = narrow.rounded(
                *narrow.widened(lower, upper, share),
                np.array([0.0, 1e15, -3.0]),
                np.array([1.0, 1e-3, 1e9]),
            )
            assert np.all((ends[0] >= -1.0) & (ends[0] < ends[1]) & (ends[1] <= 1.0))
            assert np.all((ends[0] <= lower) & (ends[1] >= upper))


def test_numbers_that_were_left_out_before_hold_the_limit_on_their_side() -> None:
    """Many below the lower limit: it stays, as it would if they were in the first bin."""
    counts = np.zeros((1, 1, narrow.BINS + 2))
    counts[..., 0], counts[..., 12] = 50.0, 1000.0
    sides = -np.ones((1, 1)), np.ones((1, 1))
    lower, upper = narrow.narrowed(*sides, counts, np.ones(1))
    assert (lower.item(), upper.item()) == (-1.0, 0.625)
    lower, upper = narrow.narrowed(*sides, counts[..., ::-1], np.ones(1))
    assert (lower.item(), upper.item()) == (-0.625, 1.0)
    counts[..., 0] = 0.0
    lower, upper = narrow.narrowed(*sides, counts, np.ones(1))
    assert (lower.item(), upper.item()) == (0.25, 0.625)


def test_limits_go_back_where_later_histograms_show_many_numbers_outside() -> None:
    lower, upper = np.full((1, 3), -0.5), np.full((1, 3), 0.5)
    outside = np.array([[[[0.0, 0.01], [0.05, 0.0], [0.03, 0.03]]]] * 3)
    for share, ends in (
        (0.0, [[-0.5, -1, -1], [0.5, 0.5, 1]]),
        (0.02, [[-0.5, -1, -0.5], [0.5] * 3]),
    ):
        low, high = narrow.put_back(lower, upper, outside, np.full((1, 3), share))
        assert [low[0].tolist(), high[0].tolist()] == ends
    counts = np.array([[[3.0, *[1.0] * narrow.BINS, 1.0], [np.nan, *[0.0] * narrow.BINS, -1.0]]])
    assert narrow.shares_outside(counts)[0, 0].tolist() == [0.15, 0.05]
    assert np.all(np.isfinite(narrow.shares_outside(counts)))


def test_a_far_group_that_noise_hid_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its 8% are less than 3.5 deviations of the noise in a count."""
    numbers = np.random.default_rng(0).standard_normal(5000) - 410.0
    numbers[:400] += 810.0
    schema = dp.Schema.from_bounds({"x": (-500.0, 500.0)})
    sealed = PrivateTable.seal(pd.DataFrame({"x": numbers}), schema)
    noise = dp.Privacy(noise_multiplier=0.1 * 5000 / 3.5 / np.sqrt(2.0), delta=1e-6)

    def lost() -> float:
        grid = fit_grid("limits", sealed, privacy=[noise], draws=range(60), seed=0)
        return float(np.mean(grid.runs.final.upper < 0.7))

    with_it = lost()
    monkeypatch.setattr(narrow, "OUTSIDE", 2.0)
    assert with_it < 0.45 < 0.6 < lost()


def test_limits_are_widened_by_what_noise_may_have_cut_off() -> None:
    lower, upper = np.array([[0.0, -1.0]]), np.array([[0.5, 0.5]])
    for share, ends in ((0.0, [0.0, 0.5]), (0.01, [-0.075, 0.575]), (1.0, [-0.25, 0.75])):
        low, high = narrow.widened(lower, upper, np.array([[share, share]]))
        np.testing.assert_allclose([low[0, 0], high[0, 0]], ends)
        assert low[0, 1] == -1.0


def test_limits_of_dates_are_whole_days() -> None:
    schema = dp.Schema((dp.Column("day", type="date", lower=0, upper=1000),))
    limits = limits_of(("day",), [10.25], [20.5])
    day = limits.narrowed(schema).column("day")
    assert (day.lower, day.upper) == (10, 21)


@every("epsilon", [0.3, 1.0, 3.0])
def test_no_more_numbers_lie_outside_than_is_said(epsilon: float) -> None:
    """With the confidence that is stated, for long tails too, and where a far group is cut off."""
    rng = np.random.default_rng(0)
    far = np.where(rng.random(5000) < 0.02, 900.0, 100.0) + rng.standard_normal(5000)
    spread = np.where(rng.random(5000) < 0.03, rng.uniform(0, 1000, 5000), 100.0)
    heavy = np.exp(rng.normal(0.0, 2.0, 5000))
    cells = np.clip(np.stack([far, spread, heavy, 300.0 + far / 1e3]), 0.0, 1000.0)
    schema = dp.Schema.from_bounds({f"x{i}": (0.0, 1000.0) for i in range(len(cells))})
    sealed = PrivateTable.seal(pd.DataFrame(dict(zip(schema.features, cells, strict=True))), schema)
    sealed.open_to_all = True
    found = fit_grid(
        "limits", sealed, privacy=[dp.Privacy(epsilon, 1e-6)], draws=range(40), seed=0
    ).runs.final
    units = (cells.T - 500.0) / 500.0
    outside = [
        np.mean((units < low) | (units > high), axis=0)
        for low, high in zip(found.lower, found.upper, strict=True)
    ]
    narrowed = found.width < 1.0
    assert np.mean((np.array(outside) > found.outside)[narrowed]) <= 0.05
    assert np.all(found.outside[~narrowed] == 0.0)
    assert np.median(found.outside[narrowed]) < 0.06 / epsilon


def test_without_noise_exactly_what_lies_outside_is_said() -> None:
    exact = dp.fit("limits", table(), privacy=None, as_private=True)
    low, high, outside = (
        exact.parameters.lower,
        exact.parameters.upper,
        exact.parameters.outside_at_most,
    )
    for at, name in enumerate(NUMBERS):
        numbers = WIDE.numbers(name, table()._frame[name])
        numbers = numbers[np.isfinite(numbers)]
        share = np.mean((numbers < low[at]) | (numbers > high[at]))
        assert share <= outside[at] <= share + 0.02
    assert np.all(outside[len(NUMBERS) :] == 0.0)


def test_any_counts_give_a_share_that_lies_outside() -> None:
    rng = np.random.default_rng(0)
    extremes = [0.0, 1.0, -1.0, 1e300, -1e300, np.nan, np.inf, -np.inf, 5e-324]
    for _ in range(300):
        ends = np.sort(rng.uniform(-1, 1, (2, 2, 3)), axis=0)
        between = narrow.edges(*np.sort(rng.uniform(-1, 1, (2, 2, 3)), axis=0))
        counts = rng.choice(extremes, (2, 3, narrow.BINS + 2))
        share = narrow.outside_at_most(*ends, between, counts, rng.choice([0.0, 1.0, 1e300], 2))
        assert np.all((share >= 0.0) & (share <= 1.0))


def test_a_release_that_does_not_say_what_lies_outside_still_opens() -> None:
    release = made("limits")
    record = dict(release.dossier["parameters"])
    del record["outside_at_most"]
    assert release.fit.schema is not None
    read = ESTIMATOR.read(record, release.fit.schema, {})
    assert read.outside_at_most.tolist() == [1.0] * len(read.columns)
    assert (
        "outside, at most"
        not in result_table({"parameters": record, "units": [None] * len(read.columns)})[1][0]
    )


def test_limits_are_rounded_outwards_to_two_digits_of_their_width() -> None:
    lower, upper = np.array([[0.0, 0.1378]]), np.array([[0.0347, 0.4321]])
    ends = narrow.rounded(lower, upper, np.array([0.0, 50.0]), np.array([1000.0, 50.0]))
    limits = LimitsParameters.from_units(
        Limits(*ends, 0.0 * ends[0]),
        0,
        PublicFrame.of(dp.Schema.from_bounds({"a": (-1000, 1000), "b": (0, 100)})),
    )
    assert limits.lower.tolist() == [0, 56]
    assert limits.upper.tolist() == [35, 72]


# --- how it is judged, drawn and used -------------------------------------------------------------


def test_the_exact_limits_have_no_error_and_the_stated_ones_cut_nothing() -> None:
    judge, scorer = yardstick("limits"), scorer_of("limits", table())
    exact = judge.converged(table(), 1, {})
    assert judge.measure(exact, scorer, "limit_error").tolist() == [0.0]
    assert judge.nothing_by(scorer, "cells_outside") == 0.0
    doublings = -np.log2(exact.width[0, : len(NUMBERS)])
    assert judge.nothing(scorer) == pytest.approx(-doublings.mean())
    half = replace(exact, upper=(exact.lower + exact.upper) / 2.0)
    assert judge.measure(half, scorer, "limit_error").tolist() == [1.0]


@pytest.mark.parametrize("categories", [0, 6])
def test_cells_outside_are_numbers_that_are_there(categories: int) -> None:
    """A missing cell that stands for the middle of the stated limits is none, nor is a category."""
    words = tuple("abcdefgh"[:categories])
    columns = [dp.Column("age", lower=0, upper=100)]
    frame = pd.DataFrame({"age": [1.0] * 6 + [40.0, np.nan, np.nan, np.inf]})
    if words:
        columns.append(dp.Column("kind", type="category", categories=words))
        frame["kind"] = "a"
    sealed = PrivateTable.seal(frame, dp.Schema(tuple(columns)), open_to_all=True)
    judge, scorer = yardstick("limits"), scorer_of("limits", sealed)
    near = judge.silent(scorer.exact)
    near.upper[0, 0] = -0.9
    assert judge.measure(near, scorer, "cells_outside").tolist() == [1 / 7]
    away = np.log2(20.0 * scorer.exact.width[0, 0])
    assert judge.measure(near, scorer, "limit_error") == pytest.approx(away)


def test_only_limits_that_are_narrowed_are_found() -> None:
    judge = yardstick("limits")
    exact = judge.converged(table(), 1, {})
    stated = judge.silent(exact)
    assert judge.align(stated, exact)[1].tolist() == [[False] * len(NUMBERS)]
    assert judge.align(exact, exact)[1].tolist() == [[True] * len(NUMBERS)]
    assert judge.align(stated, stated)[1].tolist() == [[True] * len(WIDE.numeric_columns())]


def test_the_result_says_where_no_limits_are_narrower() -> None:
    for epsilon, words in (
        (0.001, "keeps its stated limits"),
        (1.0, "of a column's numbers lie outside"),
    ):
        fit = dp.fit("limits", table(), privacy=dp.Privacy(epsilon, 1e-6), seed=0)
        assert words in str(fit.told_apart)


def test_the_release_page_offers_the_schema_for_later_fits() -> None:
    release = made("limits")
    assert release.fit.schema is not None
    (text,) = (text for name, text in releasing.files(release).items() if name == "narrower.toml")
    narrower = dp.Schema.parse(text.decode())
    assert not narrower.rehearsal
    assert narrower == release.fit.parameters.narrowed(release.fit.schema, release.fit.guarantee)
    assert "narrower.toml" not in releasing.files(made("mean"))


def test_a_missing_number_of_another_table_lies_nowhere_between_the_limits() -> None:
    rows = people_of_releases(3)
    rows.loc[0, "x"] = np.nan
    places = dp.open_release(made("limits").folder).transform(rows)
    assert np.isnan(places).tolist() == [[True, *[False] * 3], *[[False] * 4] * 2]


def test_any_narrowing_needs_less_noise_where_more_bins_are_left() -> None:
    """As the share that noise may hide falls, limits of ever wider columns are narrowed."""
    narrowed = []
    for hidden in (0.2, 0.1, 0.05, 0.02, 0.004):
        widths = []
        for filled in (1, 4, 8, 12):
            counts = np.zeros((1, 1, narrow.BINS + 2))
            counts[..., 2 : 2 + filled] = 1000.0 / filled
            sd = np.array([1000.0 * hidden / narrow.SURE])
            ends = narrow.narrowed(-np.ones((1, 1)), np.ones((1, 1)), counts, sd)
            widths.append((ends[1] - ends[0]).item() < 2.0)
        narrowed.append(sum(widths))
    assert narrowed == [0, 1, 2, 3, 4]


def test_the_picture_counts_how_many_times_narrower_and_says_the_limits() -> None:
    done = study(table(), Setting("limits", 1), epsilons=(0.1, 1.0), draws=2)
    scene = study_scene(done)
    left, right = scene.panels[:2]
    assert (left.x.scale, left.x.ticks) == ("log", None)
    assert 0.3 < left.x.range[0] < 1.0  # no limits are wider than the stated ones
    (rings,) = (layer for layer in left.layers if isinstance(layer, Spots))
    narrower = yardstick("limits").converged(table(), 1, {}).width[0] ** -1.0
    np.testing.assert_allclose(rings.x, np.sort(narrower)[::-1])
    assert "year 1,9" in str(left.alt)
    assert "year 1,8" in str(right.alt)
    assert re.search(r"since \d{4}-\d\d-\d\d to \d{4}", str(left.alt))


def test_a_picture_of_hardly_narrower_limits_has_more_than_one_number_on_its_axis() -> None:
    flowers = dp.load("bundled:iris")
    axis = study_scene(study(flowers, Setting("limits", 1), epsilons=(1.0,), draws=1)).panels[0].x
    assert axis.range[1] < 10.0
    assert axis.ticks is not None
    assert sum(axis.range[0] < tick < axis.range[1] for tick in axis.ticks) > 1
