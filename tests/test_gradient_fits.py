"""Gradient EM end to end: what it finds, what it costs, and what the published versions claim."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.datasets import gradient_models as made
from dpcore.datasets.load import load
from dpcore.errors import InputError
from dpcore.fitting.api import fit_grid
from dpcore.fitting.recipe import recipe
from dpcore.models.gradient_em import mathematics
from dpcore.models.gradient_em.mathematics import GRADIENT_MODELS, apart
from dpcore.models.gradient_em.regressions import directions
from dpcore.models.shared.truncation import LIMIT, largest
from dpcore.privacy import Privacy
from dpcore.schema import Column, Schema
from dpcore.wall.statistics import BallVector
from dpcore.wall.table import PrivateTable

NAMES = tuple(GRADIENT_MODELS)
TRUTH = np.array([1.2, -0.9, 0.6, 0.0])
BUDGET = Privacy(epsilon=1.0, delta=1e-5)
PAPER = Privacy(epsilon=1.0, delta=1e-5, mode="paper")
NEAR = TRUTH + np.array([0.3, 0.3, -0.3, 0.3])


def table(name: str, n: int = 6000, seed: int = 0) -> PrivateTable:
    rng = np.random.default_rng(seed)
    if name == "symmetric-mixture":
        frame, schema = made.mixture_table(n, TRUTH, 1.0, rng)
    elif name == "mixture-regression":
        frame, schema = made.regressions_table(n, TRUTH, 1.0, rng)
    else:
        frame, schema = made.incomplete_table(n, TRUTH, 1.0, 0.2, rng)
    return load(frame, schema=schema)


def error(
    name: str, privacy: Privacy | None, draws: int = 4, n: int = 6000, **options: Any
) -> float:
    """Mean distance from the truth over draws of the noise."""
    grid = fit_grid(
        name,
        table(name, n),
        privacy=None if privacy is None else (privacy,),
        draws=range(draws),
        seed=1,
        **options,
    )
    found = apart(grid.runs.final.beta, TRUTH, mirrored=GRADIENT_MODELS[name].mirrored)
    return float(np.mean(found))


@pytest.mark.parametrize("name", NAMES)
def test_without_privacy_it_finds_the_truth(name: str) -> None:
    assert error(name, None, draws=1, iterations=60) < 0.08


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "options", [{}, {"algorithm": "robust"}, {"algorithm": "robust", "split": True}]
)
def test_a_proved_fit_spends_its_budget_exactly_and_finds_the_truth(
    name: str, options: dict[str, Any]
) -> None:
    fit = dp.fit(name, table(name), privacy=BUDGET, seed=1, **options)
    assert fit.guarantee.epsilon == pytest.approx(1.0, abs=1e-6)
    assert fit.guarantee.claim is None
    assert len(fit.ledger) == (1 if options.get("split") else 15)
    far = 1.0 if options.get("split") else 0.45
    assert apart(fit.parameters.beta[None], TRUTH, mirrored=name != "missing-regression")[0] < far


@pytest.mark.parametrize("name", NAMES)
def test_noise_that_vanishes_is_plain_gradient_em_with_the_same_bounds(name: str) -> None:
    """``privacy=None`` with bounds wide enough is the fit without any."""
    plain = fit_grid(name, table(name), privacy=None, iterations=5)
    wide = fit_grid(name, table(name), privacy=None, as_private=True, iterations=5, threshold=1e6)
    np.testing.assert_allclose(wide.runs.final.beta, plain.runs.final.beta, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_of_size_one_climbs_the_likelihood(name: str) -> None:
    grid = fit_grid(name, table(name), privacy=None, iterations=8)
    model = GRADIENT_MODELS[name]
    rows = table(name)._frame
    features = rows[["x1", "x2", "x3", "x4"]].to_numpy().T
    seen = np.isfinite(features)
    targets = rows["y"].to_numpy() if model.target else None
    scores = [
        model.log_likelihood(step.beta, 1.0, np.where(seen, features, 0.0), targets, seen)[0]
        for step in grid.runs.history
    ]
    assert np.all(np.diff(scores) > -1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_default_is_the_more_accurate_of_the_proved_ones(name: str) -> None:
    """Clipping at ``sqrt(d tau)`` beats truncation as printed with the same tau and exact noise."""
    how = {"iterations": 5, "initial": NEAR}
    default = error(name, BUDGET, **how)
    exact = error(name, BUDGET, algorithm="robust", split=True, bend="printed", **how)
    printed = error(name, PAPER, algorithm="robust", **how)
    assert default < 0.6 * exact < 0.6 * printed


@pytest.mark.parametrize("name", GRADIENT_MODELS)
@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_no_other_norm_is_much_better_than_the_default(name: str, adjacency: str) -> None:
    """Distances from the truth: less noise at a small norm, and fewer gradients changed at a large
    one."""
    full = 2.0 * math.sqrt(len(TRUTH))
    for epsilon in (0.05, 0.2, 5.0):
        budget = Privacy(epsilon, 1e-5, adjacency=adjacency)
        default, *others = (
            error(name, budget, iterations=10, **words)
            for words in ({}, *({"threshold": share * full} for share in (0.15, 0.3, 0.6, 1.0)))
        )
        assert default < 1.25 * min(others) + 0.01


def test_the_papers_order_holds_for_a_threshold_far_below_the_gradients() -> None:
    how = {"iterations": 5, "initial": (NEAR - TRUTH) * 2.5 + TRUTH, "n": 20_000}
    em = error("symmetric-mixture", None, draws=1, **how)
    robust = error("symmetric-mixture", PAPER, algorithm="robust", **how)
    clipped = error("symmetric-mixture", PAPER, algorithm="clipped", threshold=0.3, **how)
    assert em < robust < clipped


@pytest.mark.parametrize("algorithm", ["clipped", "robust"])
def test_a_published_fit_keeps_its_claim_with_room(algorithm: str) -> None:
    fit = dp.fit(
        "symmetric-mixture", table("symmetric-mixture"), privacy=PAPER, algorithm=algorithm, seed=0
    )
    claim = fit.guarantee.claim
    assert claim.holds
    assert claim.epsilon == 1.0
    assert fit.guarantee.epsilon < 0.8


def test_exact_noise_is_the_stated_share_of_the_printed_noise() -> None:
    """0.618 at epsilon 1, delta 1e-5, zeta 0.05: exact counting times the exact bound."""
    how: dict[str, Any] = {"algorithm": "robust", "iterations": 5, "seed": 0}
    data = table("symmetric-mixture")
    printed = dp.fit("symmetric-mixture", data, privacy=PAPER, **how).ledger.entries[0]
    exact = dp.fit("symmetric-mixture", data, privacy=BUDGET, split=True, **how).ledger.entries[0]
    assert exact.sensitivity == printed.sensitivity
    share = float(exact.noise_scale) / float(printed.noise_scale)
    assert share == pytest.approx(0.618, abs=5e-4)
    assert largest(math.sqrt(math.log(20))) / LIMIT == pytest.approx(0.812, abs=5e-4)


@pytest.mark.parametrize(
    ("epsilon", "mu"),
    [(0.2, 0.06133), (0.5, 0.14221), (1.0, 0.26805), (2.0, 0.50155), (5.0, 1.12124)],
)
def test_the_clipped_steps_have_the_exact_noise(epsilon: float, mu: float) -> None:
    """``sqrt(T) / mu`` relative to sensitivity; mu to five digits."""
    fit = dp.fit(
        "symmetric-mixture",
        table("symmetric-mixture", 200),
        privacy=Privacy(epsilon=epsilon, delta=1e-5),
        iterations=4,
        seed=0,
    )
    multiplier = float(fit.ledger.events[0].mechanism.noise_multiplier)  # type: ignore[union-attr,arg-type]
    assert math.sqrt(4) / multiplier == pytest.approx(mu, abs=6e-6)


def test_the_second_printed_noise_is_refused_where_it_is_too_small() -> None:
    data = table("symmetric-mixture", 500)
    how: dict[str, Any] = {"algorithm": "robust", "form": "second", "seed": 0}
    with pytest.raises(InputError, match="form"):
        dp.fit("symmetric-mixture", data, privacy=PAPER, failure=0.5, **how)
    second = dp.fit("symmetric-mixture", data, privacy=PAPER, failure=0.05, **how)
    first = dp.fit("symmetric-mixture", data, privacy=PAPER, algorithm="robust", seed=0)
    ratio = float(second.ledger.entries[0].noise_scale) / float(first.ledger.entries[0].noise_scale)
    assert ratio == pytest.approx(math.sqrt(math.log(20)), rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_rows_added_or_removed_need_no_public_count(name: str) -> None:
    privacy = Privacy(epsilon=2.0, delta=1e-5, adjacency="add_remove")
    assert error(name, privacy, iterations=8, initial=NEAR) < 0.4


@pytest.mark.parametrize("words", [{}, {"split": True, "iterations": 3}])
def test_a_count_that_noise_hides_makes_no_wild_steps(words: dict[str, Any]) -> None:
    """Of few rows, it may come out as 1 or less; coefficients would end at their largest norm."""
    data, wanted = load("bundled:two_lines"), 9.9
    privacy = Privacy(epsilon=0.2, delta=1e-5, adjacency="add_remove")
    sizes = [
        abs(
            dp.fit(
                "mixture-regression", data, privacy=privacy, seed=seed, sigma=4.5, **words
            ).parameters.beta[0]
        )
        for seed in range(20)
    ]
    assert max(sizes) < 3.0 * wanted
    assert words or 0.7 * wanted < np.median(sizes) < 1.2 * wanted


@pytest.mark.parametrize("privacy", [None, Privacy(epsilon=2.0, delta=1e-5)])
def test_steps_that_lead_too_far_are_halved(privacy: Privacy | None) -> None:
    """Columns far from the middle of their limits: full steps would go to and fro, farther and
    farther, up to the largest norm of the coefficients."""
    rng = np.random.default_rng(4)
    rows = rng.uniform(-1.0, -0.6, (3_000, 6))
    target = np.clip(rows @ np.full(6, 0.15) + rng.normal(0.0, 0.1, 3_000), -1.0, 1.0)
    names = [f"x{number}" for number in range(6)]
    schema = Schema.from_bounds(dict.fromkeys(names, (-1.0, 1.0)))
    schema = Schema((*schema.columns, Column("y", role="target", lower=-1.0, upper=1.0)))
    data = load(pd.DataFrame(rows, columns=names).assign(y=target), schema=schema)
    fit = dp.fit("missing-regression", data, privacy=privacy, seed=1, sigma=0.3, own=False)
    beta = fit.parameters.beta
    assert np.mean((target - rows @ beta) ** 2) < 0.1 * np.mean(target**2)
    assert np.linalg.norm(beta) < 1.0


@pytest.mark.parametrize("name", ["mixture-regression", "missing-regression"])
def test_gradients_too_large_to_be_squared_say_nothing_of_a_step(name: str) -> None:
    """A warning is an error here. Without privacy, nothing bounds a gradient."""
    rows = np.random.default_rng(0).uniform(-1e75, 1e75, (200, 3))
    limits = [Column(column, lower=-1e75, upper=1e75) for column in "ab"]
    schema = Schema((*limits, Column("y", role="target", lower=-1e75, upper=1e75)))
    data = load(pd.DataFrame(rows, columns=["a", "b", "y"]), schema=schema)
    assert np.all(np.isfinite(dp.fit(name, data, privacy=None).parameters.beta))


def _steep(rows: int, dim: int, seed: int) -> tuple[PrivateTable, np.ndarray]:
    """Rows of two regressions with coefficients twelve times the noise, and these."""
    rng = np.random.default_rng([rows, dim, seed])
    beta = rng.normal(size=dim)
    beta *= 12.0 / np.linalg.norm(beta)
    frame, schema = made.regressions_table(rows, beta, 1.0, rng)
    return PrivateTable.seal(frame, schema, open_to_all=True), beta


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_two_regressions_are_looked_for_where_targets_are_large(adjacency: str) -> None:
    """From half of the public starts, all steps are spent on the way to coefficients so large."""
    privacy = Privacy(epsilon=2.0, delta=1e-5, adjacency=adjacency)
    errors: dict[int | None, list[float]] = {None: [], 0: []}
    for seed in range(6):
        data, beta = _steep(3_000, 10, seed)
        for start, far in errors.items():
            fit = dp.fit("mixture-regression", data, privacy=privacy, seed=seed, start=start)
            far.append(float(apart(fit.parameters.beta[None], beta, mirrored=True)[0]) / 12.0)
            first = fit.ledger.entries[0].what
            assert ("directions of rows" in first) == (start is None)
            assert len(fit.ledger) == 15
    assert max(errors[None]) < 0.03
    assert max(errors[0]) > 0.3


@pytest.mark.parametrize(
    "words",
    [
        {"split": True},
        {"trust": "local"},
        {"initial": (1.0, 1.0)},
        {"start": 3},
        {"iterations": 2},
    ],
)
def test_a_direction_is_released_only_where_it_serves(words: dict[str, Any]) -> None:
    fit = dp.fit("mixture-regression", _steep(500, 2, 0)[0], privacy=BUDGET, seed=0, **words)
    assert "directions" not in fit.ledger.entries[0].what


def test_a_direction_that_noise_hides_is_not_taken() -> None:
    budgets = [replace(BUDGET, epsilon=epsilon) for epsilon in (0.001, 8.0)]
    grid = fit_grid("mixture-regression", _steep(500, 3, 0)[0], privacy=budgets, seed=0)
    public = mathematics.start(mathematics.REGRESSIONS, 3, 1.0, 0)
    taken = [np.allclose(beta, public) for beta in grid.runs.history[0].beta]
    assert taken == [True, False]


def test_what_a_row_says_of_a_direction_is_bounded_for_any_row() -> None:
    """Rows and targets of every size, none and undefined ones; of a row of zeros, nothing."""
    ends = np.array([0.0, -0.0, 1e-300, 1e300, -3.0, 40.0, math.inf, -math.inf, math.nan])
    rows, targets = (part.ravel() for part in np.meshgrid(ends, ends))
    vectors = directions(2.0, 40.0, np.stack([rows, np.ones_like(rows)]), targets)
    shape = BallVector(6, 1.0)
    reach = np.linalg.norm([shape.sum(vectors[None, :, [i]]) for i in range(len(rows))], axis=-1)
    assert np.all(reach <= 1.0 + 1e-12)
    assert not shape.sum(directions(2.0, 40.0, np.zeros((2, 1)), np.ones(1))[None]).any()


@pytest.mark.parametrize("words", [{"split": True}, {"missing_rate": 0.2}])
def test_where_rows_come_and_go_the_bound_is_over_the_coins(words: dict[str, Any]) -> None:
    """A row removed from the middle gives its coins to the next: no seed can promise more."""
    data = table("missing-regression", 300)
    privacy = Privacy(epsilon=1.0, delta=1e-5, adjacency="add_remove")
    told = [
        any("the guarantee relies on this" in line for line in fit.guarantee.assumptions)
        for more in ({}, words)
        for fit in [dp.fit("missing-regression", data, privacy=privacy, seed=0, **more)]
    ]
    assert told == [False, True]


def test_the_printed_truncation_needs_a_public_guess_of_the_rows() -> None:
    data = table("symmetric-mixture", 500)
    privacy = Privacy(epsilon=1.0, delta=1e-5, adjacency="add_remove")
    how: dict[str, Any] = {"algorithm": "robust", "bend": "printed", "seed": 0}
    with pytest.raises(InputError, match="rows"):
        dp.fit("symmetric-mixture", data, privacy=privacy, **how)
    assert dp.fit("symmetric-mixture", data, privacy=privacy, rows=400, **how).guarantee.epsilon


def test_the_random_start_lies_as_far_out_as_it_is_told() -> None:
    rows = table("symmetric-mixture", 50)
    after = [
        fit_grid(
            "symmetric-mixture", rows, privacy=None, iterations=1, step_size=1e-12, **words
        ).runs.final.beta[0]
        for words in ({}, {"start_norm": 0.25}, {"sigma": 0.25})
    ]
    assert np.linalg.norm(after, axis=1) == pytest.approx([1.0, 0.25, 0.25])
    np.testing.assert_allclose(after[1], 0.25 * after[0])


def hostile(name: str) -> PrivateTable:
    frame, schema = table(name, 60)._frame.copy(), table(name, 60).schema
    frame.loc[0] = np.nan
    frame.loc[1] = np.inf
    frame.loc[2] = -1e308
    frame.loc[3:20] = frame.loc[3].to_numpy()
    return PrivateTable.seal(frame, schema)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("algorithm", ["clipped", "robust"])
def test_hostile_rows_give_finite_parameters(name: str, algorithm: str) -> None:
    fit = dp.fit(
        name, hostile(name), privacy=BUDGET, algorithm=algorithm, sigma=1e-3, tau=1e12, seed=0
    )
    assert np.all(np.isfinite(fit.parameters.beta))
    assert np.all(np.isfinite(fit.sample(5).to_numpy()))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_go_to_own_units_and_back_and_to_json(name: str) -> None:
    grid = fit_grid(name, table(name, 300), privacy=(BUDGET,), seed=0, own=False, iterations=3)
    found = grid.fit().parameters
    back = found.in_units(grid.public)
    np.testing.assert_allclose(back.beta, grid.runs.final.beta, rtol=1e-12)
    assert json.loads(json.dumps(found.as_dict()))["beta"] == found.beta.tolist()


def test_public_unit_coordinates_know_columns_of_other_units() -> None:
    """Two clouds about the middle of the bounds, in columns whose units differ by a thousand."""
    rng = np.random.default_rng(0)
    units = rng.choice([-1.0, 1.0], (8000, 1)) * [0.5, -0.4] + 0.1 * rng.standard_normal((8000, 2))
    frame = pd.DataFrame({"a": 500.0 + 500.0 * units[:, 0], "b": 1.5 + 0.5 * units[:, 1]})
    schema = Schema((Column("a", lower=0, upper=1000), Column("b", lower=1, upper=2)))
    fit = dp.fit(
        "symmetric-mixture",
        load(frame, schema=schema),
        privacy=BUDGET,
        own=False,
        sigma=0.1,
        seed=0,
    )
    beta = fit.parameters.beta * np.sign(fit.parameters.beta[0])
    np.testing.assert_allclose(beta, [250.0, -0.2], rtol=0.05)
    np.testing.assert_allclose(fit.parameters.origin, [500.0, 1.5])
    drawn = fit.sample(4000)
    assert drawn["a"].std() == pytest.approx(frame["a"].std(), rel=0.1)


@pytest.mark.parametrize(
    ("name", "limits", "own", "odd"),
    [
        ("symmetric-mixture", {"a": (-300, 300)}, True, False),
        ("symmetric-mixture", {"a": (-300, 300), "b": (0, 9)}, True, True),
        ("symmetric-mixture", {"b": (0, 9)}, False, False),
        ("mixture-regression", {"a": (-4, 4)}, True, False),
        ("mixture-regression", {"a": (-300, 300)}, True, True),
        ("missing-regression", {"a": (-0.1, 0.1)}, True, True),
        ("missing-regression", {"a": (-0.1, 0.1)}, False, False),
    ],
)
def test_own_units_that_suit_no_limits_are_noted(
    name: str, limits: dict[str, tuple[float, float]], own: bool, odd: bool
) -> None:
    columns = [Column(column, lower=low, upper=high) for column, (low, high) in limits.items()]
    target = Column("y", lower=-9, upper=9, role="target")
    schema = Schema((*columns, target))
    cells = {name: np.linspace(*ends, 50) for name, ends in {**limits, "y": (-9, 9)}.items()}
    rows = load(pd.DataFrame(cells), schema=schema)
    for privacy in (BUDGET, None):
        notes = dp.fit(name, rows, privacy=privacy, own=own, iterations=2).guarantee.notes
        assert any("in own units, limits should be" in note for note in notes) == odd


def test_missing_cells_are_used_as_missing() -> None:
    """Filled in with the middle instead, slopes come out too small in size by the missing share."""
    data = table("missing-regression", 8000)
    right = dp.fit("missing-regression", data, privacy=None, iterations=80).parameters.beta
    schema = Schema(
        tuple(
            Column(c.name, c.role, lower=c.lower, upper=c.upper, missing=0.0)
            for c in data.schema.columns  # type: ignore[union-attr]
        )
    )
    filled = dp.fit("missing-regression", data, schema=schema, privacy=None, iterations=80)
    assert np.linalg.norm(right - TRUTH) < 0.06
    assert not np.allclose(filled.parameters.beta, right, atol=1e-3)


def test_only_a_regression_with_gaps_hides_more_of_them() -> None:
    having = [name for name in NAMES if "missing_rate" in recipe(name).options.options()]
    assert having == ["missing-regression"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("algorithm", ["clipped", "robust"])
@pytest.mark.parametrize("trust", ["central", "local"])
def test_one_step_on_hostile_neighbours_moves_no_further_than_its_bound(
    name: str, algorithm: str, trust: str
) -> None:
    """The same noise on both tables, so that the difference is the replaced row's alone."""
    frame, schema = table(name, 200)._frame, table(name, 200).schema
    n, dim, tau = 200, 4, 4.0
    how: dict[str, Any] = {"algorithm": algorithm, "iterations": 1, "seed": 5, "tau": tau}
    how["trust"] = trust
    bound = 2 * math.sqrt(dim * tau) / n
    if algorithm == "robust":
        bound = 4 * math.sqrt(tau) * largest(math.sqrt(math.log(20))) * math.sqrt(dim) * 2 / n
    beta = dp.fit(name, PrivateTable.seal(frame, schema), privacy=BUDGET, **how).parameters.beta
    for worst in (np.nan, np.inf, -np.inf, 1e308, -1e9, 0.0, 1e-300):
        other = frame.copy()
        other.loc[0] = worst
        moved = dp.fit(name, PrivateTable.seal(other, schema), privacy=BUDGET, **how)
        assert np.linalg.norm(moved.parameters.beta - beta) <= bound * (1 + 1e-8)


def test_the_guarantee_says_what_becomes_of_missing_cells() -> None:
    fit = dp.fit("missing-regression", table("missing-regression", 100), privacy=BUDGET, seed=0)
    said = " ".join(fit.guarantee.assumptions)
    assert "the pattern of missing cells is protected" in said
    assert "public fill" not in said


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_hardly_any_rows_are_no_accident(name: str, rows: int, adjacency: str) -> None:
    data = table(name, 3)
    few = PrivateTable.seal(data._frame.iloc[:rows], data.schema)
    privacy = Privacy(epsilon=1.0, delta=1e-5, adjacency=adjacency)
    if rows == 0 and adjacency == "replace_one":
        with pytest.raises(InputError, match="rows"):
            dp.fit(name, few, privacy=privacy, seed=0)
        return
    fit = dp.fit(name, few, privacy=privacy, seed=0)
    assert np.all(np.isfinite(fit.parameters.beta))


def test_a_ball_of_public_bounds_serves_as_well_as_a_box() -> None:
    frame = table("symmetric-mixture")._frame
    schema = Schema.ball_of(list(frame.columns), None, 9.0)
    fit = dp.fit("symmetric-mixture", load(frame, schema=schema), privacy=BUDGET, seed=0)
    assert apart(fit.parameters.beta[None], TRUTH, mirrored=True)[0] < 0.3


@pytest.mark.parametrize("words", [{"algorithm": "em"}, {"split": False}, {"mode": "paper"}])
def test_the_local_model_needs_one_bounded_message_from_each_person(words: dict[str, Any]) -> None:
    mode = words.pop("mode", "proved")
    privacy = replace(BUDGET, mode=mode, accountant="zcdp" if mode == "paper" else "exact")
    with pytest.raises(InputError):
        dp.fit(NAMES[0], table(NAMES[0]), privacy=privacy, seed=0, trust="local", **words)


def test_the_local_error_falls_with_the_root_of_the_rows() -> None:
    def error(rows: int) -> float:
        frame, schema = made.mixture_table(rows, TRUTH, 1.0, np.random.default_rng(0))
        options = {"trust": "local", "iterations": 2, "initial": tuple(0.8 * TRUTH)}
        (grid,) = [
            fit_grid(
                "symmetric-mixture",
                load(frame, schema=schema),
                privacy=[BUDGET],
                draws=range(12),
                seed=0,
                **options,
            )
        ]
        return float(np.mean(apart(grid.runs.final.beta, TRUTH, mirrored=True)))

    assert error(4_000) / error(64_000) == pytest.approx(4.0, rel=0.4)
