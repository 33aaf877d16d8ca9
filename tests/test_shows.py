"""Every picture that a model can be shown in: what is drawn is what was fitted, at the same levels
exact and private, and the choice stands in the link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy
import wording
from app_pages import data_of

import dpcore as dp
from app import compute, intervals
from app.explore_scene import choices, picked_of, picture, with_choices
from app.result_store import Data, ResultStore
from app.scenario import Scenario, from_query, opening
from dpcore.declaration import declarations
from dpcore.errors import InputError
from dpcore.evaluation.study import BudgetGrid, References, Setting, budget_grid, references
from dpcore.figures.budget import Words, budget_scene
from dpcore.figures.density import HELD, Density, density, levels_of
from dpcore.figures.layers import Cells
from dpcore.figures.marginals import BINS, Marginals, histograms
from dpcore.figures.number_table import drawing
from dpcore.figures.plotly import scene_figure
from dpcore.figures.scene import Curve, Ellipses, Panel, Points, Scene, Spots
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.logistic_regression.parameters import INCLUDED

BUDGETS = (0.3, 1.0, 10.0)
DRAWS = 3
TILTED = np.array([[1.0, 2.0, 4.0, 1.5, 2.0, 0.4], [-3.0, 0.0, 1.0, -0.3, 0.5, 0.6]])


@pytest.fixture(scope="module")
def study() -> tuple[References, BudgetGrid]:
    table, setting = dp.load("bundled:iris"), Setting(components=2, iterations=3, covariance="diag")
    known = references(table, setting)
    return known, budget_grid(table, setting, known.converged, BUDGETS, range(DRAWS))


@pytest.fixture
def shown(study: tuple[References, BudgetGrid]) -> Callable[..., Scene]:
    known, grid = study

    def make(show: str, **more: Any) -> Scene:
        words = Words(("",) * len(BUDGETS), {})
        return budget_scene(grid, known, None, words, show=show, pair=(0, 2), **more)

    return make


def layer(panel: Panel, kind: type) -> Any:
    return next(one for one in panel.layers if isinstance(one, kind))


# ---------------------------------------------------------------- density


def test_a_density_is_that_of_the_groups() -> None:
    x, y = np.linspace(-6.0, 6.0, 7), np.linspace(-4.0, 5.0, 5)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    expected = sum(
        w * scipy.stats.multivariate_normal([mx, my], [[xx, xy], [xy, yy]]).pdf(grid)
        for mx, my, xx, xy, yy, w in TILTED
    )
    np.testing.assert_allclose(density(TILTED, x, y), expected, rtol=1e-10)


def test_a_level_holds_its_share_of_the_people() -> None:
    """Rows drawn from the groups lie inside each contour as often as it says."""
    rng = np.random.default_rng(5)
    levels = levels_of(TILTED, (-9.0, 9.0), (-6.0, 9.0))
    assert list(levels) == sorted(levels)
    laws = [
        scipy.stats.multivariate_normal(g[:2], [[g[2], g[3]], [g[3], g[4]]], seed=rng)
        for g in TILTED
    ]
    rows = np.concatenate(
        [law.rvs(round(20_000 * g[5])) for law, g in zip(laws, TILTED, strict=True)]
    )
    found = sum(g[5] * law.pdf(rows) for law, g in zip(laws, TILTED, strict=True))
    for level, share in zip(levels, HELD, strict=True):
        assert np.mean(found >= level) == pytest.approx(share, abs=0.02)


def test_both_panels_of_a_density_have_the_levels_of_the_exact_fit(
    shown: Callable[..., Scene], study: tuple[References, BudgetGrid]
) -> None:
    exact, private = (layer(panel, Density) for panel in shown("density").panels[:2])
    assert exact.levels == private.levels
    bold = layer(shown("").panels[1], Ellipses)  # the first are the other draws
    assert np.asarray(private.params).shape == (len(BUDGETS), 1, 2, 6)
    every = [one for one in shown("").panels[1].layers if isinstance(one, Ellipses)]
    assert bold.style == "ghost"
    np.testing.assert_array_equal(private.params, every[-1].params)


def test_a_density_with_levels_out_of_order_is_refused() -> None:
    with pytest.raises(InputError):
        Density(TILTED[None, None], (0.2, 0.1), ("a", "b"))


# ---------------------------------------------------------------- marginals


def test_a_marginal_is_the_mixture_of_its_column(
    shown: Callable[..., Scene], study: tuple[References, BudgetGrid]
) -> None:
    known, _ = study
    exact = layer(shown("marginals").panels[0], Marginals)
    assert len(exact.names) == 4
    mixture: Mixture = known.converged
    for row, (x, y, kind) in enumerate(exact.curves(0)):
        assert kind == "bold"
        low, high = np.asarray(exact.ranges)[row]
        foot = 3.0 - row
        heights = (y - foot) * np.asarray(exact.tops)[row] / 0.8
        assert np.trapezoid(heights, low + x * (high - low)) == pytest.approx(1.0, abs=0.02)
    np.testing.assert_allclose(np.asarray(exact.weights)[0, 0], mixture.weights[0])


def test_histograms_are_densities_of_all_rows() -> None:
    rows = np.array([[0.1, 5.0], [0.2, 6.0], [0.9, 99.0], [np.nan, 7.0]])
    ranges = np.array([[0.0, 1.0], [0.0, 10.0]])
    heights = histograms(rows, ranges)
    widths = (ranges[:, 1] - ranges[:, 0]) / BINS
    np.testing.assert_allclose(heights.sum(axis=1) * widths, [1.0, 3 / 4])


def test_rows_are_under_marginals_only_where_they_may_be_shown(shown: Callable[..., Scene]) -> None:
    some = np.random.default_rng(2).uniform(1.0, 6.0, (50, 4))
    with_rows, without = shown("marginals", rows=some), shown("marginals")
    assert [np.size(layer(panel, Marginals).bars) > 0 for panel in with_rows.panels[:2]] == [
        True
    ] * 2
    assert not any(np.size(layer(panel, Marginals).bars) for panel in without.panels[:2])
    hidden = shown("marginals", rows=some, outlines=False)
    assert np.size(layer(hidden.panels[1], Marginals).bars) == 0
    assert {one.style for one in hidden.panels[1].layers if isinstance(one, Marginals)} == {"bold"}


# ---------------------------------------------------------------- numbers


def test_the_error_is_the_distance_from_the_exact_number_or_among_the_draws() -> None:
    exact = np.array([[10.0], [0.5]])
    private = np.array([[[[13.0], [0.5]], [[6.0], [0.5]]]])  # off by 3 and -4
    seen = drawing(["g"], ["n", "s"], exact, private, outlines=True, shares=(1,))
    assert layer_of(seen.private).labels == (("13.0 ± 3.5", "50.0% ± 0.0%"),)
    assert "error" in seen.key
    unseen = drawing(["g"], ["n", "s"], exact, private, outlines=False, shares=(1,))
    assert layer_of(unseen.private).labels == (("13.0 ± 4.9", "50.0% ± 0.0%"),)
    assert "error" not in unseen.key
    assert layer_of(seen.exact).labels == ("10", "50.0%")


def layer_of(layers: tuple[Any, ...]) -> Cells:
    (one,) = layers
    assert isinstance(one, Cells)
    return one


def test_numbers_are_in_own_units_and_a_fit_that_is_none_has_dashes() -> None:
    gone = np.full((1, 2, 1, 1), np.nan)
    drawn = drawing(["g"], ["n"], np.ones((1, 1)), gone, outlines=True)
    assert layer_of(drawn.private).labels == (("–",),)
    assert drawn.private_alts == (wording.NO_FIT,)


def test_the_table_of_a_mixture_has_share_mean_sd_and_correlation(
    shown: Callable[..., Scene], study: tuple[References, BudgetGrid]
) -> None:
    known, grid = study
    cells = layer(shown("numbers").panels[0], Cells)
    assert cells.names[0] == "share of the rows"
    assert len(cells.names) == 1 + 2 * 4 + 1
    assert cells.names[-1].startswith("correlation of")
    mean = grid.public.center[0] + grid.public.half_range[0] * known.converged.means[0, 0, 0]
    at = next(i for i, name in enumerate(cells.names) if name.endswith("mean"))
    assert float(cells.labels[2 * at]) == pytest.approx(mean, rel=5e-3)


# ---------------------------------------------------------------- synthetic rows


def test_synthetic_rows_are_drawn_from_the_private_fit(
    shown: Callable[..., Scene], study: tuple[References, BudgetGrid]
) -> None:
    _, grid = study
    points = layer(shown("synthetic").panels[1], Points)
    x = np.asarray(points.x)
    assert x.shape[0] == len(BUDGETS)
    for step in range(len(BUDGETS)):
        weights, means = grid.fits.weights[step, 0], grid.fits.means[step, 0, :, 0]
        own = grid.public.center[0] + grid.public.half_range[0] * (weights @ means)
        assert abs(x[step].mean() - own) < 4.0 * x[step].std() / np.sqrt(x.shape[1])


# ---------------------------------------------------------------- all of them


@pytest.mark.merge
@pytest.mark.parametrize("show", ["density", "marginals", "numbers", "synthetic"])
def test_every_picture_leaves_as_a_figure_and_as_json(
    show: str, shown: Callable[..., Scene]
) -> None:
    scene = shown(show)
    assert scene.as_dict()["panels"][1]["layers"]
    fig = scene_figure(scene)
    assert {len(one.data) for one in fig.frames} == {len(fig.data)}


def test_every_declared_picture_is_there() -> None:
    for model in declarations().values():
        for one in model.shows().values():
            assert callable(model.load(one.place)), one


@pytest.fixture(scope="module")
def iris() -> Data:
    return data_of(opening("iris"))


def test_what_is_picked_in_a_card_is_a_choice_of_the_link(iris: Data) -> None:
    scenario = opening("iris")
    offered = choices(scenario, iris)
    assert list(offered) == ["show", "x", "y"]
    picked = picked_of({"name": "show", "item": 1}, offered, scenario)
    assert picked == {"show": "density"}
    query = replace(scenario, **picked).as_query()
    assert from_query({"data": "iris", **query}, {"iris": None}).show == "density"
    assert picked_of({"name": "x", "item": scenario.y}, offered, scenario) == {
        "x": scenario.y,
        "y": scenario.x,
    }
    assert picked_of({"name": "x", "item": 99}, offered, scenario) == {}
    assert picked_of({"name": "gone", "item": 0}, offered, scenario) == {}
    assert list(choices(replace(scenario, show="marginals"), iris)) == ["show"]
    numbers = choices(replace(scenario, show="numbers"), iris)
    assert list(numbers) == ["show", "x", "y"], "a reader picks the two columns"


def test_a_picture_that_a_model_does_not_have_is_the_usual_one() -> None:
    query = {"data": "iris", "show": "nonsense"}
    assert from_query(query, {"iris": None}).show == ""


def test_lists_stand_in_the_first_fits_card_alone(
    shown: Callable[..., Scene], iris: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.explore_scene.store_of", lambda _: ResultStore())
    offered = tuple(choice for choice, _ in choices(opening("iris"), iris).values())
    scene = with_choices(shown(""), offered)
    assert [len(panel.choices) for panel in scene.panels] == [3, 0, 0]
    curve = replace(shown(""), panels=shown("").panels[2:])
    assert with_choices(curve, offered) is curve


# ---------------------------------------------------------------- intervals


def by_size(panel: Panel, names: tuple[str, ...]) -> list[int]:
    """Which column of the data each row of a panel is, from the top."""
    bold = [one for one in panel.layers if isinstance(one, Spots)][-1]
    return [names.index(name) for name in bold.names]


def test_bars_are_the_intervals_of_the_fit_where_the_hand_rests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = replace(opening("missing_answers"), iterations=2)
    data, store = data_of(scenario), ResultStore()
    monkeypatch.setattr("app.explore_scene.store_of", lambda _: store)
    monkeypatch.setattr("app.intervals.in_background", lambda *job: job[-1]())
    assert intervals.suits(scenario)
    assert intervals.sentence(scenario, data, intervals.result(scenario, data, store)) == ""
    intervals.ask(scenario, data, store)
    known = intervals.result(scenario, data, store)
    assert isinstance(known, intervals.Intervals)
    assert "privacy noise only" in (sentence := intervals.sentence(scenario, data, known))
    assert "other groups" not in sentence
    groups = replace(scenario, model="gmm", components=4)
    assert "it may find other groups" in intervals.sentence(groups, data, known)
    study = compute.study(scenario, data, store)
    panel = picture(scenario, data, study).panels[1]
    bars = next(one for one in panel.layers if isinstance(one, Curve) and "interval" in one.name)
    places = np.asarray(bars.x)
    there = np.isfinite(places).any(axis=1)
    at = study.grid.epsilons.index(scenario.epsilon)
    assert list(np.flatnonzero(there)) == [at]
    ends = known.same_rows["beta"]
    found = places[at].reshape(len(ends), 7)[:, [0, 3]]
    ends = ends[by_size(panel, data.public.names)]
    ratio = found / ends  # the picture has units of its own, the same for both ends
    np.testing.assert_allclose(ratio[:, 0], ratio[:, 1])


def test_why_there_are_no_bars_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = replace(opening("gains_and_losses"), method="one_bit", count_by="linear")
    data, store = data_of(scenario), ResultStore()
    monkeypatch.setattr("app.intervals.in_background", lambda *job: job[-1]())
    intervals.ask(scenario, data, store)
    why = intervals.sentence(scenario, data, intervals.result(scenario, data, store))
    assert why.startswith("No intervals: the error of local noise")


def test_coefficients_of_a_logistic_regression_have_the_intervals_that_leave_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario, store = replace(opening("who_comes_back"), epsilon=1.0), ResultStore()
    data = data_of(scenario)
    monkeypatch.setattr("app.explore_scene.store_of", lambda _: store)
    study = compute.study(scenario, data, store)
    scene = picture(scenario, data, study)
    assert INCLUDED in scene.live_text["note"][0]
    panel = scene.panels[1]
    (bars,) = (one for one in panel.layers if isinstance(one, Curve) and "interval" in one.name)
    at = study.grid.epsilons.index(1.0)
    fit = compute.one_fit(scenario, data)
    ends = fit.parameters.intervals()[:-1]
    found = np.asarray(bars.x)[at].reshape(len(ends), 7)[:, [0, 3]]
    order = by_size(panel, study.grid.public.names)
    ends, per = ends[order], study.grid.public.half_range[order]
    wide = (ends[:, 1] - ends[:, 0]) * per
    np.testing.assert_allclose(found[:, 1] - found[:, 0], wide, rtol=2.0**-15)  # kept fits: 16 bits


def test_a_slope_that_is_drawn_as_a_line_has_a_sentence_that_speaks_of_no_bar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = replace(opening("two_lines"), iterations=2)
    data, store = data_of(scenario), ResultStore()
    monkeypatch.setattr("app.intervals.in_background", lambda *job: job[-1]())
    intervals.ask(scenario, data, store)
    known = intervals.result(scenario, data, store)
    assert isinstance(known, intervals.Intervals)
    assert intervals.sentence(scenario, data, known) == known.sentence


def test_a_scenario_without_a_pictured_number_a_column_has_no_bars() -> None:
    assert not intervals.suits(Scenario())
    assert not intervals.suits(opening("two_clouds"))
