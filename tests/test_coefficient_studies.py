"""Studies of gradient fits and means: what they are held against, shown with, and never read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import WallError
from dpcore.evaluation.study import Setting, budget_grid, references, study
from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.models.gradient_em.mathematics import GRADIENT_MODELS, Coefficients, apart
from dpcore.models.gradient_em.scoring import LEAST
from dpcore.schema import Column, Schema

OPENINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "symmetric-mixture": ("two_clouds", {"sigma": 2.0}),
    "mixture-regression": ("two_lines", {"sigma": 4.5}),
    "missing-regression": ("missing_answers", {"sigma": 5.0}),
}
TRUTH = {"two_clouds": [4.5, 2.5], "two_lines": [10.0], "missing_answers": [6.0, -4.0, 3.0, -2.0]}
NAMES = tuple(GRADIENT_MODELS)


def setting(model: str, **words: Any) -> Setting:
    known = OPENINGS[model][1] | words
    return Setting(model, components=1, iterations=10, words=tuple(known.items()))


def table(model: str) -> Any:
    return dp.load(f"bundled:{OPENINGS[model][0]}")


@pytest.mark.parametrize("model", NAMES)
def test_the_exact_fit_of_a_bundled_table_is_near_its_truth(model: str) -> None:
    exact = references(table(model), setting(model)).converged
    away = apart(exact.beta, np.array(TRUTH[OPENINGS[model][0]]), mirrored=True)
    assert away[0] < 0.1 * np.linalg.norm(exact.beta)


@pytest.mark.parametrize("model", NAMES)
def test_knowing_nothing_is_worth_0_and_the_exact_fit_1(model: str) -> None:
    known = references(table(model), setting(model))
    assert known.converged_utility == pytest.approx(1.0, abs=1e-9)
    assert known.bounds_utility == known.single_utility == 0.0
    assert known.own_steps_utility == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("model", NAMES)
def test_a_tight_threshold_is_paid_for_by_clipping_not_by_stopping_early(model: str) -> None:
    known = references(table(model), setting(model, algorithm="clipped", threshold=0.5))
    assert known.own_steps_utility == pytest.approx(1.0, abs=0.01)
    assert known.clipped_utility < 0.9
    assert known.clipped_share > 0.5
    assert references(table(model), setting(model, threshold=1e6)).clipped_share == 0.0
    assert references(table(model), setting(model, algorithm="robust")).clipped_share == 0.0


@pytest.mark.parametrize("model", [*NAMES, "mean"])
def test_the_rival_that_knows_nothing_is_not_fitted(model: str) -> None:
    assert not yardstick(model).fits_rival
    assert yardstick("fa").fits_rival  # no factor at all, yet a mean and variances
    rows = table("symmetric-mixture" if model == "mean" else model)
    chosen = Setting(model, components=1) if model == "mean" else setting(model)
    found = study(rows, chosen, draws=2)
    np.testing.assert_array_equal(found.curves.single, found.references.bounds_utility)


def test_scores_are_those_of_the_noise_level_that_is_meant() -> None:
    rows = table("symmetric-mixture")
    one = scorer_of("symmetric-mixture", rows, {"sigma": 2.0, "iterations": 9, "n_components": 1})
    other = scorer_of("symmetric-mixture", rows, {"sigma": 5.0})
    assert apart(one.best[None], other.best, mirrored=True)[0] > 0.1  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", NAMES)
def test_the_rows_of_a_picture_are_its_columns_and_last_the_target(model: str) -> None:
    rows, judge = table(model), yardstick(model)
    public = scorer_of(model, rows, OPENINGS[model][1]).public
    shown = judge.shown(rows)  # type: ignore[attr-defined]
    schema = rows.schema
    target = () if schema.target is None else (schema.target,)
    assert public.names == (*schema.features, *target)
    assert len(public.center) == len(public.half_range) == len(public.units) == shown.shape[1]
    known = np.isfinite(shown)
    assert known.all() == (model != "missing-regression")
    if model == "missing-regression":
        assert known[:, :4].mean() == pytest.approx(2 / 3, abs=0.02)
        assert known[:, 4].all()
    inside = np.abs(np.where(known, shown, public.center) - public.center) <= public.half_range
    assert inside.all()


def test_exact_values_for_a_picture_are_refused_on_a_locked_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = pd.DataFrame({"x": [0.1, 0.2], "y": [1.0, 2.0]})
    schema = Schema((Column("x", lower=-1, upper=1), Column("y", "target", lower=-5, upper=5)))
    sealed = dp.load(frame, schema=schema)
    judge: Any = yardstick("mixture-regression")
    assert judge.shown(sealed).shape == (2, 2)
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    for ask in (judge.shown, judge.scorer, lambda t: judge.clipped_share(t, {}, 1.0, None, None)):
        with pytest.raises(WallError):
            ask(sealed)


def test_where_there_is_nothing_to_find_errors_count_in_noise_levels() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=500).clip(-4, 4), "y": np.zeros(500)})
    schema = Schema((Column("x", lower=-4, upper=4), Column("y", "target", lower=-9, upper=9)))
    rows, judge = dp.load(frame, schema=schema), yardstick("missing-regression")
    scorer = scorer_of("missing-regression", rows, {"sigma": 2.0})
    exact = judge.converged(rows, 1, {"sigma": 2.0})
    assert judge.score(exact, scorer)[0] == pytest.approx(1.0, abs=1e-6)
    assert judge.nothing(scorer) == pytest.approx(1.0, abs=1e-6)
    off = Coefficients(
        exact.beta + LEAST * 2.0,
        exact.sigma,
        exact.origin,
        exact.scale,
        exact.target_origin,
        exact.target_scale,
    )
    assert judge.score(off, scorer)[0] == pytest.approx(0.0, abs=1e-6)


def test_words_reach_every_fit_of_a_study() -> None:
    rows, chosen = table("symmetric-mixture"), setting("symmetric-mixture", start=3)
    exact = references(rows, chosen).converged
    grid = budget_grid(rows, chosen, exact, (1.0,), (0,))
    request = dp.Privacy(epsilon=1.0, delta=1e-5)
    alone = dp.fit(
        "symmetric-mixture", rows, privacy=request, seed=0, sigma=2.0, start=3, iterations=10
    )
    assert apart(grid.fits.beta[0], alone.parameters.beta, mirrored=True)[0] < 1e-9
    assert grid.recovered.shape == (1, 1, 1)
    assert chosen.simplest().words == chosen.words


def test_parts_are_counted_as_the_yardstick_counts_them() -> None:
    found = study(table("symmetric-mixture"), Setting("mean", components=1), draws=3)
    assert found.grid.recovered.shape == (67, 3, 2)


def test_bits_are_studied_where_only_epsilon_counts() -> None:
    local = Setting("mean", components=1, accountant="linear", words=(("trust", "local_onebit"),))
    grid = study(table("symmetric-mixture"), local, draws=3).grid
    told = grid.guarantees[40]
    assert told.epsilon == pytest.approx(1.0)
    central = study(table("symmetric-mixture"), Setting("mean", components=1), draws=3).grid
    assert np.median(central.utility[26]) > np.median(grid.utility[26])
