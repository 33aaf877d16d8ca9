"""Figures of robust gradient EM: the printed orders and trends where they hold, and where not."""

from __future__ import annotations

import numpy as np
import pytest
from support import shared_data, split_lanes

from dpcore.datasets import gradient_models as made
from dpcore.datasets.load import load
from dpcore.errors import InputError
from dpcore.evaluation.yardstick import Scorer, yardstick
from dpcore.fitting.api import fit_grid
from dpcore.models.gradient_em.mathematics import GRADIENT_MODELS, apart
from dpcore.models.gradient_em.scoring import VectorScorer
from dpcore.papers import gradient_simulated
from dpcore.papers.drawing import reproduction_figure
from dpcore.papers.gradient_settings import EM, EXACT, LOCAL, OURS, ROBUST, clipped_at, slope
from dpcore.papers.gradient_simulated import BOUND, GUIDE, THRESHOLDS, at_own_size
from dpcore.papers.reproduction import Ask, Reproduction, reproduce, values
from dpcore.privacy import Privacy

ASK = Ask(splits=2, draws=3)
TRUTH = np.array([1.2, -0.9, 0.6])


def last(found: Reproduction, curve: str, panel: str) -> float:
    points = values(found.rows, curve, panel)
    return points[max(points)]


@pytest.mark.merge
def test_figure_1_the_best_threshold_is_a_matter_of_scale() -> None:
    found = reproduce("robust-em-figure-1", ASK)
    small, base, *better, _, _ = (panel.id for panel in found.panels)
    best = {
        panel: min(THRESHOLDS, key=lambda t: last(found, clipped_at(t).name, panel))
        for panel in (small, base)
    }
    assert best[small] in (0.5, 1.0)
    assert best[base] in (5.0, 10.0)
    assert last(found, ROBUST.name, base) < last(found, clipped_at(1.0).name, base)
    assert last(found, ROBUST.name, small) > last(found, clipped_at(1.0).name, small)
    assert "does not beat" in found.finding
    for panel, good, bad in zip(better, (1.0, 5.0), (20.0, 0.1), strict=True):
        ratios = values(found.rows, "epsilon 1", panel)
        assert ratios[good] < 1.0 < ratios[bad]


@pytest.mark.merge
def test_without_a_curator_the_error_falls_with_the_root_of_the_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gradient_simulated, "LOCAL_ROWS", (20_000, 320_000))
    found = reproduce("robust-em-local", Ask(splits=1, draws=4))
    for panel in found.panels:
        without = values(found.rows, LOCAL.name, panel.id)
        curator = values(found.rows, OURS.name, panel.id)
        assert all(curator[rows] < without[rows] for rows in without)
        assert without[320_000] == pytest.approx(without[20_000] / 4.0, rel=0.5)


@split_lanes("number", [2, 3, 4], merge=1)
def test_figures_2_to_4_the_printed_order_and_what_beats_it(number: int) -> None:
    found = reproduce(f"robust-em-figure-{number}", ASK)
    for panel in ("epsilon", "columns", "rows"):
        em, one, robust, exact, ours = (
            last(found, way.name, panel) for way in (EM, clipped_at(1.0), ROBUST, EXACT, OURS)
        )
        assert em < ours < exact < robust < one
        assert slope(list(found.rows), ROBUST.name, panel) == pytest.approx(
            slope(list(found.rows), GUIDE, panel), abs=0.25
        )
        points = values(found.rows, ROBUST.name, panel)
        grows = points[max(points)] > points[min(points)]
        assert grows == (panel == "columns")
        bounds = values(found.rows, BOUND, panel)
        assert all(bounds[x] > y for x, y in points.items())
        assert (bounds[max(bounds)] > bounds[min(bounds)]) == grows
    shares = [row["contraction"] for row in found.rows if row["curve"] == BOUND]
    assert 0.0 < min(shares) <= max(shares) < {2: 0.1, 3: 0.5, 4: 0.6}[number]
    assert "not proved" in found.finding
    assert "10 of 10" in found.finding
    by_step = values(found.rows, "epsilon 2", "epsilon, by step")
    assert list(by_step) == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert by_step[5.0] == pytest.approx(values(found.rows, ROBUST.name, "epsilon")[2.0])


@pytest.mark.merge
def test_the_bound_is_shown_for_ones_own_numbers_beside_the_error() -> None:
    few, many = (at_own_size(rows, 4, 1.0) for rows in (2_000, 200_000))
    heights = [{row["note"]: row["y"] for row in found.rows} for found in (few, many)]
    error = "measured error"
    for high in heights:
        assert list(high) == ["start", "truncation", "sampling", "noise", "bound", error]
        assert sum(list(high.values())[:4]) == pytest.approx(high["bound"], rel=0.01)
        assert high[error] < high["bound"]
        assert high["bound"] < heights[0]["bound"] or high is heights[0]
    assert "says nothing" in few.finding
    assert "says nothing" not in many.finding
    assert len(reproduction_figure(many).data) == 1


@pytest.mark.merge
@pytest.mark.realdata
def test_figure_5_on_census_tables() -> None:
    home = shared_data("adult.csv.gz").parent
    found = reproduce("robust-em-figure-5", Ask(data=home, splits=1, draws=2))
    for panel in found.panels:
        assert last(found, OURS.name, panel.id) < last(found, EXACT.name, panel.id)
        assert last(found, EXACT.name, panel.id) < last(found, ROBUST.name, panel.id)
    assert last(found, ROBUST.name, "ACS") < last(found, clipped_at(1.0).name, "ACS")
    assert last(found, ROBUST.name, "Adult") > last(found, clipped_at(1.0).name, "Adult")


# ------------------------------------------------------------------ the yardstick


def simulated(name: str):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    make = {
        "symmetric-mixture": made.mixture_table,
        "mixture-regression": made.regressions_table,
        "missing-regression": lambda n, b, s, r: made.incomplete_table(n, b, s, 0.2, r),
    }[name]
    frame, schema = make(3000, TRUTH, 1.0, rng)
    return load(frame, schema=schema)


@pytest.mark.parametrize("name", GRADIENT_MODELS)
def test_the_best_fit_is_where_gradient_em_ends(name: str) -> None:
    table, judge = simulated(name), yardstick(name)
    best = judge.converged(table, 1, {})
    plain = fit_grid(name, table, privacy=None, iterations=400)
    mirrored = GRADIENT_MODELS[name].mirrored
    assert apart(plain.runs.final.beta, best.beta[0], mirrored=mirrored)[0] < 1e-3
    assert apart(best.beta, TRUTH, mirrored=mirrored)[0] < 0.12


@pytest.mark.parametrize("name", GRADIENT_MODELS)
def test_fits_are_scored_by_their_distance_from_it(name: str) -> None:
    table, judge = simulated(name), yardstick(name)
    scorer = judge.scorer(table)  # type: ignore[attr-defined]
    assert isinstance(scorer, VectorScorer)
    best = judge.converged(table, 1, {})
    assert judge.score(best, scorer)[0] == pytest.approx(1.0, abs=1e-6)
    budgets = tuple(Privacy(epsilon=e, delta=1e-5) for e in (0.05, 5.0))
    noisy = fit_grid(name, table, privacy=budgets, draws=range(6), seed=0).runs.final
    score = judge.score(noisy, scorer).reshape(2, 6).mean(axis=1)
    assert score[0] < score[1] < 1.0
    likely = judge.measure(noisy, scorer, "test_log_likelihood").reshape(2, 6).mean(axis=1)
    assert likely[0] < likely[1]
    turned, found = judge.align(noisy, best)
    assert found.shape == (12, 1)
    if GRADIENT_MODELS[name].mirrored:
        assert np.all(turned.beta[6:] @ best.beta[0] > 0.0)


def test_a_scorer_without_targets_is_refused() -> None:
    table, judge = simulated("mixture-regression"), yardstick("mixture-regression")
    with pytest.raises(InputError, match="scorer"):
        judge.score(judge.converged(table, 1, {}), Scorer.of(table))
