"""Pictures of a study: the scene a notebook gets, and the same scene in Plotly."""

from __future__ import annotations

import base64
import json
import math
import re
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from support import split_lanes

import dpcore as dp
from app.export_menu import as_page
from dpcore.errors import InputError
from dpcore.evaluation.study import EPSILONS, BudgetGrid, Curves, References, Setting
from dpcore.evaluation.yardstick import yardstick
from dpcore.figures.basemap import angle, coastline, is_map
from dpcore.figures.budget import Words, budget_scene, study_scene
from dpcore.figures.heatmap import Heat, tones
from dpcore.figures.marginals import Marginals
from dpcore.figures.model_plot import Subject, own_axis, portrait
from dpcore.figures.plotly import outline, scene_figure
from dpcore.figures.scene import (
    Axis,
    Curve,
    Ellipses,
    Mark,
    Panel,
    Points,
    Ring,
    Rule,
    Scene,
    Spots,
    at_step,
    layer_dict,
)
from dpcore.figures.utility_curve import _beyond, _says
from dpcore.figures.voronoi import borders
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.gradient_em.mathematics import Coefficients
from dpcore.models.kmeans.mathematics import Centres
from dpcore.models.mean.private import Means
from dpcore.models.topics.mathematics import Topics
from dpcore.privacy.guarantee import show
from dpcore.schema import Column, Schema
from dpcore.schema.forms import day_of
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.data.corpus import Vocabulary

STEPS, DRAWS = len(EPSILONS), 13
BUDGETS = np.array(EPSILONS)
TEN = dp.Schema.from_bounds({"x": (0.0, 10.0)})
OUT_OF_REACH = 3  # the first budgets of the made-up grids have no fit


@pytest.fixture(scope="module")
def scene() -> Scene:
    table = dp.load("bundled:rare_person")
    return study_scene(dp.study(table, Setting(components=2), methods=("zcdp",), draws=3))


def frame(names: tuple[str, ...], units: tuple[str | None, ...], spread: Any) -> PublicFrame:
    half = np.broadcast_to(np.asarray(spread, dtype=float), (len(names),)).copy()
    return PublicFrame(names, units, np.zeros(len(names)), half, len(names) ** 0.5, False)


MAP = frame(("longitude", "latitude"), ("degrees east", "degrees north"), (180.0, 90.0))


def made_up(model: str, exact: Any, fits: Any, public: PublicFrame, **more: Any) -> Scene:
    """The scene of a grid of budgets whose fits and utilities are made up."""
    utility = np.tile((1 / (1 + 0.4 / BUDGETS))[:, None], (1, DRAWS))
    noise = 5.0 / BUDGETS
    noise[:OUT_OF_REACH] = utility[:OUT_OF_REACH] = np.nan
    nothing = (None,) * STEPS
    grid = BudgetGrid(
        model,
        EPSILONS,
        fits,
        np.ones((STEPS, DRAWS, 1), bool),
        utility,
        noise,
        nothing,
        nothing,
        nothing,
        public,
        EPSILONS,
    )
    curves = Curves({"exact": utility[:, 0]}, {"exact": BUDGETS}, np.full(STEPS, 0.1))
    words = Words(("",) * STEPS, {}, unit="household")
    return budget_scene(
        grid, References(exact, 1.0, 0.98, 0.95, 0.2, 0.0, 0.0), curves, words, **more
    )


def centres_scene(public: PublicFrame = MAP, count: int = 5, **more: Any) -> Scene:
    rng = np.random.default_rng(3)
    exact = rng.uniform(-0.7, 0.7, (1, count, public.dim))
    far = rng.normal(size=(1, DRAWS, count, public.dim)) * 0.02
    private = np.clip(exact + far / BUDGETS[:, None, None, None], -1.0, 1.0)
    private[:OUT_OF_REACH] = np.nan
    shares = np.arange(1.0, count + 1) / np.arange(1.0, count + 1).sum()
    fits = Centres(private, np.tile(shares, (STEPS, DRAWS, 1)))
    return made_up("kmeans", Centres(exact, shares[None]), fits, public, **more)


def factors_scene(public: PublicFrame, count: int = 3, noise: float = 0.02, **more: Any) -> Scene:
    rng = np.random.default_rng(4)
    exact = rng.normal(size=(1, public.dim, count)) * 0.1
    private = exact + noise * rng.normal(size=exact.shape) / BUDGETS[:, None, None]
    private[:OUT_OF_REACH] = np.nan
    ones = np.ones((1, public.dim))
    fits = Factors(
        np.zeros((STEPS, 1, public.dim)), private[:, None], np.ones((STEPS, 1, public.dim))
    )
    return made_up("fa", Factors(0 * ones, exact, ones), fits, public, **more)


WINE = frame(("alcohol", "ash", "hue", "proline"), ("%", None, None, "mg/l"), (5.0, 1.0, 2.0, 900))
PIXELS = frame(tuple(f"p{i}" for i in range(24)), ("grey level",) * 24, 128.0)


def layers(scene: Scene, panel: int, kind: type) -> list[Any]:
    return [layer for layer in scene.panels[panel].layers if isinstance(layer, kind)]


# ---------------------------------------------------------------- any model


def test_a_study_shows_exact_private_and_curve_and_no_row(scene: Scene) -> None:
    assert [panel.id for panel in scene.panels] == ["exact", "private", "curve"]
    assert scene.steps == EPSILONS
    assert scene.steps[scene.step] == 1.0
    drawn = [layer for panel in scene.panels for layer in panel.layers]
    assert not any(isinstance(layer, Points) for layer in drawn)


@split_lanes("model, drawn", [("kmeans", Spots), ("gmm", Ellipses), ("fa", Heat)], merge=1)
def test_a_study_of_any_model_is_a_figure(model: str, drawn: type) -> None:
    table = dp.load("bundled:rare_person")
    components = 1 if model == "fa" else 2
    found = dp.study(table, Setting(model=model, components=components), draws=2)
    shown = study_scene(found)
    assert layers(shown, 0, drawn)
    assert layers(shown, 1, drawn)
    wording = yardstick(model).wording
    assert shown.panels[2].y.label == wording.utility.format(unit="person")
    assert any(c.name == f"{wording.simplest}, private" for c in layers(shown, 2, Curve))
    assert wording.worth in shown.panels[2].alt[shown.step]
    assert dp.figure(found).layout.meta["curve"] == shown.panels[2].alt[shown.step]


def test_the_curves_axis_names_who_one_row_is_about() -> None:
    assert factors_scene(WINE).panels[2].y.label == "log-likelihood per household"


def test_marks_off_the_axis_are_told_at_its_end() -> None:
    def drawn(*marks: tuple[float, str]) -> list[tuple[float, str]]:
        return [(m.x, m.label) for m in layers(centres_scene(marks=marks), 2, Mark)]

    end = max(EPSILONS)
    assert drawn((0.5, "one"), (3.0, "two")) == [(0.5, "one"), (3.0, "two")]
    assert drawn((0.5, "one"), (37.0, "two")) == [(0.5, "one"), (end, "two: beyond, at ε = 37")]
    assert drawn((25.0, "one"), (37.0, "two")) == [(end, "one to two: beyond ε = 20")]
    assert drawn((0.001, "one")) == []


def test_another_step_is_the_same_picture(scene: Scene) -> None:
    one, other = scene.as_dict(), scene.at(3).as_dict()
    assert other["id"] == one["id"]
    assert other["panels"] is one["panels"]
    assert (other["step"], other["thumb"]) == (3, 3)
    for step in (0, 3):
        data = json.loads(json.dumps(scene.at(step).as_dict()))
        assert json.loads(scene.at(step).to_json()) == data


def test_what_moves_is_drawn_anew_and_nothing_else() -> None:
    one, two = [1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]]
    assert not layer_dict(Points(one, one))["moves"]
    assert layer_dict(Points(two, two))["moves"]
    assert not layer_dict(Spots([one], [one], ("a", "b")))["moves"]
    assert layer_dict(Spots(one, two, ("a", "b")))["moves"]
    still = np.zeros((1, 2, 3, 3))
    assert not layer_dict(Heat(still, 1.0, "", ("a", "b")))["moves"]
    assert layer_dict(Heat(still, 1.0, "", ("a", "b"), notes=(("1", "2"), ("3", "4"))))["moves"]


# ---------------------------------------------------------------- centres


def test_borders_are_where_two_centres_are_nearest_and_no_third_is_nearer() -> None:
    rng = np.random.default_rng(0)
    centres = rng.uniform(-0.9, 0.9, (4, 9, 2))
    for here, lines in zip(centres, borders(centres, (-1.0, 1.0, -1.0, 1.0)), strict=True):
        ends = lines.reshape(-1, 3, 2)
        assert np.isnan(ends[:, 2]).all()
        start, stop = ends[~np.isnan(ends[:, 0, 0]), :2].swapaxes(0, 1)
        for share in (0.0, 0.3, 1.0):
            points = start + share * (stop - start)
            distances = np.sort(np.linalg.norm(points[:, None] - here, axis=-1), axis=1)
            np.testing.assert_allclose(distances[:, 0], distances[:, 1], atol=1e-9)
            assert np.abs(points).max() <= 1 + 1e-9


def test_wherever_the_nearest_centre_changes_a_border_is_crossed() -> None:
    rng = np.random.default_rng(1)
    centres = rng.uniform(-0.9, 0.9, (1, 8, 2))
    ends = borders(centres, (-1.0, 1.0, -1.0, 1.0))[0].reshape(-1, 3, 2)[:, :2]
    start, way = ends[:, 0], ends[:, 1] - ends[:, 0]
    x = np.linspace(-0.99, 0.99, 200)
    gap = x[1] - x[0]
    changes = 0
    for y in x[::10]:
        points = np.stack([x, np.full_like(x, y)], axis=1)
        nearest = np.linalg.norm(points[:, None] - centres[0], axis=-1).argmin(axis=1)
        for i in np.flatnonzero(np.diff(nearest)):
            share = np.clip(((points[i] - start) * way).sum(1) / (way**2).sum(1), 0.0, 1.0)
            assert np.linalg.norm(start + share[:, None] * way - points[i], axis=1).min() <= gap
            changes += 1
    assert changes > 30


def test_odd_centres_have_no_border_between_them() -> None:
    window = (-1.0, 1.0, -1.0, 1.0)
    assert np.isnan(borders(np.zeros((1, 2, 2)), window)).all()
    assert np.isnan(borders(np.full((1, 3, 2), np.nan), window)).all()
    assert borders(np.zeros((2, 1, 2)), window).shape == (2, 0, 2)


def test_cells_are_those_of_unit_coordinates() -> None:
    """Rows are nearest in unit coordinates, so borders are bisectors there, not in own units."""
    exact = Centres(np.array([[[-0.5, -0.5], [0.5, 0.5]]]), np.full((1, 2), 0.5))
    fits = Centres(np.tile(exact.centres, (STEPS, DRAWS, 1, 1)), np.full((STEPS, DRAWS, 2), 0.5))
    line = next(
        c for c in layers(made_up("kmeans", exact, fits, MAP), 0, Curve) if np.ndim(c.x) == 2
    )
    ends = np.stack([np.asarray(line.x)[0, :2] / 180.0, np.asarray(line.y)[0, :2] / 90.0])
    np.testing.assert_allclose(ends.sum(axis=0), 0.0, atol=1e-9)


def test_centres_are_drawn_with_borders_ghosts_and_rows() -> None:
    shown = centres_scene(rows=np.array([[10.0, 20.0]]))
    assert [layer.name for layer in layers(shown, 0, Points)] == ["household"]
    ghosts = layers(shown, 1, Points)
    assert [np.shape(layer.x) for layer in ghosts] == [(STEPS, DRAWS - 1)] * 5
    exact, bold = layers(shown, 0, Spots)[0], layers(shown, 1, Spots)[0]
    assert (exact.colours, exact.names) == (bold.colours, bold.names)
    assert np.shape(bold.x) == (STEPS, 5)
    moving = [c for c in layers(shown, 1, Curve) if np.ndim(c.x) == 2 and len(c.x) == STEPS]
    assert len(moving) == 1


def test_the_bold_centres_are_those_of_the_first_draw() -> None:
    places = np.full((STEPS, DRAWS, 2, 2), 0.3)
    places[:, 0] = 0.1
    shares = np.full((STEPS, DRAWS, 2), 0.5)
    shown = made_up("kmeans", Centres(places[0, :1], shares[0, :1]), Centres(places, shares), MAP)
    np.testing.assert_allclose(layers(shown, 1, Spots)[0].x, 18.0)
    np.testing.assert_allclose([ghost.x for ghost in layers(shown, 1, Points)], 54.0)


def test_centres_beyond_the_axes_are_counted_where_there_are_some() -> None:
    places = np.full((STEPS, DRAWS, 2, 2), 0.3)
    places[-1, 0, 1] = -0.9  # far from both exact centres
    places[0] = np.nan
    shares = np.full((STEPS, DRAWS, 2), 0.5)
    exact = Centres(np.array([[[0.2, 0.2], [0.4, 0.4]]]), shares[0, :1])
    panel = made_up("kmeans", exact, Centres(places, shares), MAP).panels[1]
    assert panel.subtitle[-1] == "1 of 2 centres outside · hides each person"
    assert set(panel.subtitle[:-1]) == {"hides each person"}


PLANE = frame(("a", "b"), (None, None), 1.0)
SHAPES = np.tile(np.eye(2), (2, 1, 1))


def test_outlines_mostly_outside_the_window_fade_and_are_counted() -> None:
    exact = Mixture(np.ones((1, 2)) / 2, np.array([[[-0.3, 0.0], [0.3, 0.0]]]), 0.01 * SHAPES[None])
    covariances = np.tile(SHAPES, (STEPS, DRAWS, 1, 1, 1)) * 0.01
    covariances[-1, :, 1] *= 4e4
    means = np.tile(exact.means[0], (STEPS, DRAWS, 1, 1))
    fits = Mixture(np.full((STEPS, DRAWS, 2), 0.5), means, covariances)
    shown = made_up("gmm", exact, fits, PLANE)
    bold = next(one for one in layers(shown, 1, Ellipses) if one.style == "bold")
    np.testing.assert_array_equal(np.asarray(bold.faint)[-1], [[0.0, 1.0]])
    assert not np.any(np.asarray(bold.faint)[:-1])
    panel = shown.panels[1]
    assert panel.subtitle[-1].startswith("1 of 2 groups wider than the window · ")
    assert "wider" not in panel.subtitle[0]


def test_a_centre_without_width_does_not_touch_the_edge() -> None:
    """One rare person is a group of which only the mark of its centre is seen."""
    means, widths = np.array([[[-0.6, -0.6], [0.6, 0.6]]]), np.array([1e-3, 1e-9])
    exact = Mixture(np.ones((1, 2)) / 2, means, widths[None, :, None, None] * SHAPES)
    fits = Mixture(
        np.full((STEPS, DRAWS, 2), 0.5),
        np.tile(means[0], (STEPS, DRAWS, 1, 1)),
        np.tile(exact.covariances[0], (STEPS, DRAWS, 1, 1, 1)),
    )
    panel = made_up("gmm", exact, fits, PLANE).panels[0]
    for low, high in (panel.x.range, panel.y.range):
        assert high - 0.6 > 0.05 * (high - low)


def test_the_key_says_beyond_which_end_a_method_states_its_epsilon() -> None:
    """None where the budget itself is typed and outside the axis: there nothing was worked out."""
    nan = np.nan
    budgets = (0.01, 0.1, 1.0, 20.0, 50.0)
    utility = np.array([0.1, 0.2, 0.3, 0.4, nan])
    whole, late = np.array([*budgets[:4], nan]), np.array([nan, nan, 0.3, 0.4, nan])
    curves = Curves(
        {"exact": utility, "zcdp": utility, "kov": utility, "ma": late, "linear": utility},
        {
            "exact": whole,
            "zcdp": np.array([0.02, 0.2, 2.0, nan, nan]),
            "kov": np.array([nan, 0.05, 0.5, 15.0, nan]),
            "ma": np.array([0.9, 0.95, 2.0, nan, nan]),
            "linear": np.full(5, nan),
        },
        utility,
    )
    stated = {
        name: _says(name, says, beyond=_beyond(budgets, curves, name))
        for name, says in curves.says.items()
    }
    assert [text.partition(": ")[2] for text in stated["zcdp"]][-2:] == ["ε > 20.0", ""]
    assert [text.partition(": ")[2] for text in stated["kov"]][::4] == ["ε < 0.01", ""]
    assert stated["ma"][0] == f"ma: ε ≈ {show(0.9)}"
    assert stated["ma"][3] == "ma: ε > 20.0"
    assert set(stated["linear"]) == {"linear"}, "a method that was never read states nothing"


def test_a_map_has_its_coasts_and_they_lie_where_land_ends() -> None:
    coast = coastline()
    assert np.nanmax(np.abs(coast), axis=0).tolist() <= [180.0, 90.0]
    for east, north in ((18.4, -34.1), (-5.6, 36.0), (103.8, 1.4)):  # three capes
        assert np.nanmin(np.hypot(*(coast - [east, north]).T)) < 1.0
    assert np.nanmin(np.hypot(*(coast - [10.0, 50.0]).T)) > 3.0  # inland
    drawn = [one for one in layers(centres_scene(), 0, Curve) if one.name == "coastline"]
    assert len(drawn) == 1
    plain = frame(("a", "b"), (None, None), (180.0, 90.0))
    assert not [one for one in layers(centres_scene(plain), 0, Curve) if one.name == "coastline"]


def test_centres_of_three_columns_or_too_many_have_no_borders() -> None:
    three = frame(("a", "b", "c"), (None, None, None), 1.0)
    for shown in (centres_scene(three), centres_scene(count=11)):
        assert not [c for c in layers(shown, 1, Curve) if np.ndim(c.x) == 2]
        assert layers(shown, 1, Spots)


def test_a_clipping_that_cuts_is_a_ring_on_both_panels() -> None:
    panels = centres_scene(clip=0.5).as_dict()["panels"]
    kinds = [[layer["kind"] for layer in panel["layers"]] for panel in panels]
    assert ["ring" in found for found in kinds] == [True, True, False]


@pytest.mark.parametrize("model", ["gmm", "kmeans"])
def test_one_column_is_cut_where_an_upright_line_stands(model: str) -> None:
    """It has an axis of its own, and the sides of the ring stand where clipping begins."""
    table = dp.load(pd.DataFrame({"x": np.linspace(0.0, 10.0, 60)}), schema=TEN)
    shown = study_scene(dp.study(table, Setting(model, 2, clip=0.5), methods=("zcdp",), draws=2))
    (found,), (low, high) = layers(shown, 1, Ring), shown.panels[1].y.range
    assert [found.cx + sign * 0.5 * found.rx for sign in (-1.0, 1.0)] == pytest.approx([2.5, 7.5])
    assert (low, found.cy) == pytest.approx((0.0, high / 2.0))
    side = math.sqrt(1.0 - (high / found.ry) ** 2)  # of the ellipse, at both ends of the axis
    assert side == pytest.approx(1.0, abs=1e-3)


def test_groups_of_one_column_are_densities_on_its_axis() -> None:
    table = dp.load(pd.DataFrame({"x": np.linspace(0.0, 10.0, 60)}), schema=TEN)
    found = dp.study(table, Setting(components=2), methods=("zcdp",), draws=2)
    shown = study_scene(found)
    (exact,), (spots,) = layers(shown, 0, Marginals), layers(shown, 0, Spots)
    ((x, y, _),) = list(exact.curves(0))
    assert (x[0], x[-1]) == shown.panels[0].x.range
    assert np.trapezoid(y, x) == pytest.approx(1.0, abs=0.06)  # some is beyond the limits
    for at, peak in zip(np.ravel(spots.x), np.ravel(spots.y), strict=True):
        assert 0.0 < peak <= np.interp(at, x, y) + 1e-3
    bold, dashed = layers(shown, 1, Marginals)
    assert (bold.style, dashed.style, np.shape(bold.means)[1:]) == ("bold", "outline", (2, 2, 1))


def test_centres_of_one_column_are_as_high_as_they_have_rows() -> None:
    table = dp.load(pd.DataFrame({"x": [1.0] * 45 + [9.0] * 15}), schema=TEN)
    shown = study_scene(dp.study(table, Setting("kmeans", 2), methods=("zcdp",), draws=2))
    (spots,), (border,) = layers(shown, 0, Spots), layers(shown, 0, Curve)
    assert np.ravel(spots.y) == pytest.approx([75.0, 25.0])
    assert np.asarray(border.x).ravel() == pytest.approx([5.0] * 3)
    assert shown.panels[0].alt.startswith("Exact fit. centre 1 at x 1, 75% of the rows; ")


def test_centres_say_where_they_are_and_how_many_rows_they_have() -> None:
    shown = centres_scene()
    spots = layers(shown, 1, Spots)[0]
    x, y = np.asarray(spots.x)[54, 1], np.asarray(spots.y)[54, 1]
    alt = shown.panels[1].alt[54]
    assert alt.startswith("Private fit at epsilon 5.00. centre 1 at longitude ")
    found = alt.split("; ")[1]
    assert found.endswith("13% of the rows")
    words = found.replace(",", "").split()
    assert float(words[4]) == pytest.approx(x, rel=0.006)
    assert float(words[6]) == pytest.approx(y, rel=0.006)
    assert shown.panels[1].alt[0].endswith(wording.NO_FIT)


# ---------------------------------------------------------------- topics


def topics_scene(count: int = 3, words: int = 40) -> Scene:
    rng = np.random.default_rng(5)
    exact = rng.gamma(0.3, size=(1, count, words)) + 1e-3
    noise = rng.gamma(1.0, size=(STEPS, 1, count, words)) / BUDGETS[:, None, None, None]
    private = exact + noise
    private[:OUT_OF_REACH] = np.nan
    vocabulary = Vocabulary(tuple(f"w{i}" for i in range(words)))
    return made_up("lda", Topics(exact), Topics(private), vocabulary)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "length", "across"), [(3, 10, 3), (5, 10, 5), (7, 7, 5)])
def test_topics_are_lists_of_their_likeliest_words(count: int, length: int, across: int) -> None:
    shown = topics_scene(count)
    (exact,), (private,) = (panel.layers for panel in shown.panels[:2])
    assert (exact.across, np.shape(exact.words)) == (across, (1, count, length))
    assert np.shape(private.words) == (STEPS, count, length)
    for layer, steps in ((exact, [0]), (private, range(OUT_OF_REACH, STEPS))):
        values = np.asarray(layer.values)[list(steps)]
        assert np.all(np.diff(values, axis=-1) <= 0.0)
    step, k = STEPS - 1, count - 1
    lists = [
        {
            layer.vocabulary[word]: bool(mark)
            for word, mark in zip(
                np.asarray(layer.words)[-1, k], np.asarray(layer.marked)[step, k], strict=True
            )
        }
        for layer in (exact, private)
    ]
    both = set(lists[0]) & set(lists[1])
    assert both
    assert [{word for word, mark in one.items() if mark} for one in lists] == [both, both]


def test_lists_without_a_fit_are_not_drawn_and_the_notes_count_the_words_of_both() -> None:
    shown = topics_scene()
    data = shown.as_dict()["panels"][1]["layers"][0]
    assert data["values"][0][0][0] is None
    assert data["notes"][0] == ("", "", "")
    counts = np.sum(data["marked"][-1], axis=-1)
    length = np.shape(data["words"])[-1]
    assert data["notes"][-1] == tuple(f"{count} of {length} right" for count in counts)
    exact = shown.as_dict()["panels"][0]["layers"][0]
    assert data["limits"] == pytest.approx([words[0] for words in exact["values"][0]], abs=1e-5)
    given = dict(zip(exact["words"][0][0], exact["values"][0][0], strict=True))
    pairs = zip(data["words"][-1][0], data["exact"][-1][0], data["marked"][-1][0], strict=True)
    assert all(given[word] == outline for word, outline, both in pairs if both)
    assert shown.panels[1].alt[0].endswith(wording.NO_FIT)
    assert "bold: in both lists" in shown.panels[1].subtitle[-1]


# ---------------------------------------------------------------- the map

LON, LAT = ("degrees east", "degrees north")


@pytest.mark.parametrize(
    ("names", "units", "spread", "expected"),
    [
        (("longitude", "latitude"), (LON, LAT), (180, 90), True),
        (("x", "y"), (LON, LAT), (180, 90), True),
        (("Lon", "LAT"), (None, "degrees"), (20, 10), True),
        (("latitude", "longitude"), (None, None), (90, 180), True),
        (("longitude", "latitude"), (None, None), (1800, 900), False),
        (("longitude", "latitude"), ("km", "km"), (20, 20), False),
        (("lat", "lon"), ("muscle, cm", "cm"), (20, 20), False),
        (("longitude of home", "latitude of home"), (None, None), (20, 20), False),
        (("longitude", "age"), (None, None), (180, 90), False),
        (("longitude", "lng"), (None, None), (180, 90), False),
        (("x", "y"), ("degrees", "degrees"), (20, 20), False),
    ],
)
def test_only_what_is_surely_a_map_is_drawn_as_one(
    names: Any, units: Any, spread: Any, expected: bool
) -> None:
    assert is_map(frame(names, units, spread), (0, 1)) is expected


def test_places_lie_at_their_own_degrees_whichever_axis_has_the_longitude() -> None:
    places = (("Nairobi", 36.82, -1.29), ("Cairo", 31.24, 30.04))
    for pair, order in (((0, 1), (36.82, -1.29)), ((1, 0), (-1.29, 36.82))):
        muted = layers(centres_scene(places=places, pair=pair), 0, Spots)[0]
        assert muted.names == ("Nairobi", "Cairo")
        assert (np.asarray(muted.x)[0], np.asarray(muted.y)[0]) == order
    plain = frame(("a", "b"), (None, None), (180.0, 90.0))
    assert len(layers(centres_scene(plain, places=places), 0, Spots)) == 1
    assert angle(plain, 0) is None


def test_the_graticule_is_at_round_degrees_inside_the_axes() -> None:
    for axis in (centres_scene().panels[0].x, centres_scene().panels[0].y):
        assert len(axis.ticks) >= 3
        assert all(axis.range[0] <= tick <= axis.range[1] for tick in axis.ticks)
        assert len({round(b - a, 6) for a, b in zip(axis.ticks, axis.ticks[1:], strict=False)}) == 1


# ---------------------------------------------------------------- factors


def test_loadings_stand_factor_by_factor_on_the_exact_fits_scale() -> None:
    shown = factors_scene(WINE)
    exact, private = layers(shown, 0, Heat)[0], layers(shown, 1, Heat)[0]
    assert np.shape(exact.values) == (1, 3, 4, 1)
    assert np.shape(private.values) == (STEPS, 3, 4, 1)
    assert exact.rows == private.rows == WINE.names
    assert exact.limit == private.limit == np.abs(exact.values).max()
    assert exact.label == "loading (share of each column's half range)"


def test_the_word_under_a_factor_is_how_far_it_points_the_exact_one_s_way() -> None:
    shown = factors_scene(WINE)
    exact, private = layers(shown, 0, Heat)[0], layers(shown, 1, Heat)[0]
    for step in (10, 50):
        one, two = np.asarray(exact.values)[0, 1].ravel(), np.asarray(private.values)[step, 1]
        cosine = one @ two.ravel() / np.linalg.norm(one) / np.linalg.norm(two)
        assert private.notes[step][1] == f"2 · {cosine:.0%} aligned"
        assert f"factor 2: cosine {cosine:.2f} with the exact one" in shown.panels[1].alt[step]
    assert private.notes[0] == ("1", "2", "3")
    assert shown.panels[1].alt[0].endswith(wording.NO_FIT)


def test_a_factor_that_noise_hides_is_not_seen() -> None:
    shown = factors_scene(WINE, noise=50.0)
    private, step = layers(shown, 1, Heat)[0], 10
    exact = np.asarray(layers(shown, 0, Heat)[0].values)[0, :, :, 0]
    fits = np.asarray(private.values)[step, :, :, 0]
    lengths = np.linalg.norm(exact, axis=1) * np.linalg.norm(fits, axis=1)
    hidden = np.sum(exact * fits, axis=1) / lengths < 0.5
    assert hidden.any()
    for k, unseen in enumerate(hidden):
        assert private.notes[step][k].endswith("not seen") == unseen
    assert (
        shown.panels[1]
        .subtitle[step]
        .startswith(f"{hidden.sum()} of 3 not visible at this noise level")
    )


def test_loadings_of_a_table_are_bars_with_the_exact_ones_as_outlines() -> None:
    shown = factors_scene(WINE)
    exact, private = layers(shown, 0, Heat)[0], layers(shown, 1, Heat)[0]
    np.testing.assert_array_equal(private.outlines, np.asarray(exact.values)[0])
    assert np.isnan(exact.outlines).all()
    assert private.label.endswith("outlines: exact")
    assert layers(factors_scene(PIXELS, image=(4, 6)), 1, Heat)[0].outlines is None
    hidden = portrait("fa")(replace(subject_of(WINE), outlines=False))
    assert np.isnan(hidden.private[0].outlines).all()


def subject_of(public: PublicFrame) -> Subject:
    """Exact factors, and private ones that are the same."""
    loadings, ones = np.full((1, public.dim, 1), 0.1), np.ones((1, public.dim))
    exact = Factors(0 * ones, loadings, ones)
    private = Factors(0 * ones[None], loadings[None], ones[None])
    return Subject(public, exact, private, (0, 1), None, (1.0,), (exact, None), "person")


def test_a_scale_may_be_one_s_own_at_every_step() -> None:
    heat = Heat(np.array([1.0, 4.0]).reshape(2, 1, 1, 1), (1.0, 4.0), ("a", "b"), ("unit",))
    data = heat.as_dict()
    assert data["limit"] == [1.0, 4.0]
    assert data["ends"] == (("−1", "1 · a"), ("−4", "4 · b"))
    assert base64.b64decode(data["cells"]) == bytes([255, 255])
    with pytest.raises(InputError, match="limit"):
        Heat(np.zeros((2, 1, 1, 1)), (1.0, 2.0, 3.0), "", ("unit",))


def test_alt_text_names_the_columns_that_a_factor_moves_most() -> None:
    shown = factors_scene(WINE)
    first = np.asarray(layers(shown, 0, Heat)[0].values)[0, 0, :, 0]
    most = WINE.names[int(np.abs(first).argmax())]
    assert f"factor 1 moves {most} " in shown.panels[0].alt


def test_pixels_become_images_in_their_own_unit() -> None:
    shown = factors_scene(PIXELS, image=(4, 6))
    exact = layers(shown, 0, Heat)[0]
    table = layers(factors_scene(PIXELS), 0, Heat)[0]
    assert np.shape(exact.values) == (1, 3, 4, 6)
    np.testing.assert_array_equal(
        np.reshape(exact.values, (3, 24)), np.reshape(table.values, (3, 24))
    )
    assert exact.label == "loading (grey level)"
    assert exact.rows == ()
    last = np.asarray(layers(shown, 1, Heat)[0].values)[-1]
    np.testing.assert_allclose(last, np.asarray(exact.values)[0], atol=1.0)  # of 12 or so


def test_pictures_lie_two_loadings_above_and_below_the_mean() -> None:
    loadings = factors_scene(PIXELS, image=(4, 6))
    scene = factors_scene(PIXELS, image=(4, 6), show="around")
    exact, private = layers(scene, 0, Heat)[0], layers(scene, 1, Heat)[0]
    mean, *above, again = np.asarray(exact.values)[0][:5]
    below = np.asarray(exact.values)[0][5:]
    assert (mean == 128.0).all()  # the middle of the limits
    assert (again == mean).all()
    moved = 2.0 * np.asarray(layers(loadings, 0, Heat)[0].values)[0]
    np.testing.assert_allclose(above, np.clip(128.0 + moved, 0.0, 256.0))
    np.testing.assert_allclose(below, np.clip(128.0 - moved, 0.0, 256.0))
    assert exact.across == 4
    assert exact.as_dict()["ends"] == ("0", "256 · grey level")
    assert np.isnan(np.delete(np.asarray(private.values)[0], [0, 4], axis=0)).all()  # no fit
    assert private.notes[0][5:] == ("", "", "")  # and no word
    assert private.notes[-1][5:] == tuple(
        note.split("· ")[1].split()[0] for note in layers(loadings, 1, Heat)[0].notes[-1]
    )
    assert (
        scene.panels[1]
        .alt[-1]
        .endswith("plus and minus twice its loadings. Factors visible at this noise level: 3 of 3.")
    )
    assert (
        len(layers(factors_scene(PIXELS, 12, image=(4, 6), show="around"), 0, Heat)[0].names) == 22
    )
    assert not layers(factors_scene(PIXELS, show="around"), 0, Heat)[0].notes[0].startswith("mean")


def test_large_images_are_averaged_until_a_browser_can_have_them_all() -> None:
    large = frame(tuple(f"p{i}" for i in range(4096)), (None,) * 4096, 1.0)
    shown = factors_scene(large, count=10, image=(64, 64))
    exact, private = layers(shown, 0, Heat)[0], layers(shown, 1, Heat)[0]
    assert np.shape(private.values) == (STEPS, 10, 16, 16)
    assert len(json.dumps(layer_dict(private))) < 300_000
    rng = np.random.default_rng(4)
    first = (rng.normal(size=(1, 4096, 10)) * 0.1)[0, :, 0].reshape(64, 64)
    assert np.asarray(exact.values)[0, 0, 1, 2] == pytest.approx(first[4:8, 8:12].mean())


def test_of_many_columns_those_with_the_largest_loadings_are_drawn() -> None:
    many = frame(tuple(f"column {i}" for i in range(80)), (None,) * 79 + ("kg",), 1.0)
    heat = layers(factors_scene(many), 0, Heat)[0]
    assert len(heat.rows) == 50
    assert "largest 50 of 80 columns" in heat.label
    loadings = (np.random.default_rng(4).normal(size=(1, 80, 3)) * 0.1)[0]
    size = np.linalg.norm(loadings, axis=1)
    assert set(heat.rows) == {f"column {i}" for i in np.argsort(-size)[:50]}


def test_the_key_of_numbers_that_cannot_be_negative_begins_at_zero() -> None:
    words = Heat(np.full((1, 1, 2, 2), 0.1), 0.2, "probability", ("topic",), above=True)
    loadings = Heat(np.full((1, 1, 2, 2), 0.1), 0.2, "loading", ("factor",))
    assert words.as_dict()["ends"] == ("0", "0.2 · probability")
    assert loadings.as_dict()["ends"] == ("−0.2", "0.2 · loading")
    assert words.as_dict()["cells"] == loadings.as_dict()["cells"]


def test_a_tone_is_the_value_to_a_254th_of_the_scale() -> None:
    values = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 2, 4, 5))
    data = Heat(values, 2.0, "", ("a", "b")).as_dict()
    cells = np.frombuffer(base64.b64decode(data["cells"]), np.uint8).reshape(data["shape"])
    back = (cells.astype(float) - 128) / 127 * 2.0
    assert np.abs(back - values).max() <= 2.0 / 254 + 1e-12
    assert tones([0.0, np.nan, np.inf, -np.inf], 2.0).tolist() == [128, 0, 255, 1]


def test_a_heat_layer_that_does_not_fit_is_refused() -> None:
    values = np.zeros((2, 2, 3, 4))
    for wrong in (
        {"values": values[0]},
        {"names": ("a",)},
        {"limit": 0.0},
        {"notes": ("one",)},
        {"rows": ("r",)},
    ):
        with pytest.raises(InputError):
            Heat(**({"values": values, "limit": 1.0, "label": "", "names": ("a", "b")} | wrong))
    three = Panel(
        "p", "", "", "", Axis("", (0, 1)), Axis("", (0, 1)), (Heat(values, 1.0, "", ("a", "b")),)
    )
    with pytest.raises(InputError, match="steps"):
        Scene((1.0, 2.0, 3.0), ("1", "2", "3"), (three,))


# ---------------------------------------------------------------- coefficients


def coefficients_scene(model: str, public: PublicFrame, dim: int, **more: Any) -> Scene:
    """Exact coefficients 2, -1, 0.5, ...; draw j of the private ones is off by j/100."""
    exact = np.array([2.0, -1.0, 0.5, 0.1])[:dim]
    off = 0.01 * np.arange(DRAWS)[None, :, None] * np.ones((STEPS, 1, dim))
    beta = exact + off
    beta[:OUT_OF_REACH] = np.nan
    shape = (STEPS, DRAWS)

    def batch(values: Any, *lead: int) -> Coefficients:
        one, zero = np.ones(lead), np.zeros(lead)
        ones, zeros = np.ones((*lead, dim)), np.zeros((*lead, dim))
        return Coefficients(values, 0.5 * one, zeros, ones, zero, one)

    return made_up(model, batch(exact[None], 1), batch(beta, *shape), public, **more)


PLANE = frame(("cities", "crowds"), ("points", "points"), 10.0)
LINE = frame(("dose", "pressure"), ("mg", "mmHg"), (4.0, 60.0))
SLOPES = frame(("pay", "hours", "team", "score"), ("sd", "sd", "sd", "points"), 4.0)


def test_mirrored_clouds_stand_at_the_coefficients_and_opposite() -> None:
    rows = np.array([[1.0, 2.0]])
    shown = coefficients_scene("symmetric-mixture", PLANE, 2, rows=rows)
    exact = np.asarray(layers(shown, 0, Ellipses)[0].params)[0, 0]
    np.testing.assert_allclose(exact[:, :2], [[2.0, -1.0], [-2.0, 1.0]])
    np.testing.assert_allclose(exact[:, [2, 4]], 0.25)
    ghosts, bold = layers(shown, 1, Ellipses)
    assert (ghosts.style, bold.style) == ("ghost", "bold")
    assert np.shape(ghosts.params) == (STEPS, DRAWS - 1, 2, 6)
    np.testing.assert_allclose(np.asarray(bold.params)[5, 0], exact)
    assert [layer.name for layer in layers(shown, 0, Points)] == ["household"]
    assert not layers(shown, 1, Points)
    assert (
        shown.panels[1]
        .alt[5]
        .endswith(
            "one cloud at cities (points) 2, crowds (points) -1; "
            "its mirror image at cities (points) -2, crowds (points) 1."
        )
    )
    assert shown.panels[1].alt[0].endswith(wording.NO_FIT)


@pytest.mark.parametrize(
    ("model", "slopes"), [("mixture-regression", [2.0, -2.0]), ("missing-regression", [2.0])]
)
def test_a_regression_on_one_column_is_lines_through_its_rows(
    model: str, slopes: list[float]
) -> None:
    rows = np.array([[1.0, 2.0], [np.nan, 1.0]])
    shown = coefficients_scene(model, LINE, 1, rows=rows)
    assert (shown.panels[0].x.label, shown.panels[0].y.label) == ("dose (mg)", "pressure (mmHg)")
    drawn = [curve for curve in layers(shown, 1, Curve) if curve.bold]
    found = [np.asarray(c.y)[5] / np.asarray(c.x)[5] for c in drawn]
    np.testing.assert_allclose(found, [[slope, slope] for slope in slopes])
    ghosts = [curve for curve in layers(shown, 1, Curve) if not curve.bold]
    assert [np.shape(curve.x) for curve in ghosts] == [(STEPS, 3 * (DRAWS - 1))] * len(slopes)
    points = layers(shown, 0, Points)[0]
    assert (list(np.asarray(points.x)), list(np.asarray(points.y))) == ([1.0], [2.0])
    told = " or -2" if len(slopes) > 1 else ""
    assert f"changes by 2{told} when dose (mg) rises by 1." in shown.panels[1].alt[5]


def test_slopes_of_several_columns_stand_beside_the_exact_ones() -> None:
    shown = coefficients_scene("missing-regression", SLOPES, 3)
    assert shown.panels[0].x.label == "score per sd"
    rings, bold = layers(shown, 1, Spots)
    assert (rings.hollow, bold.hollow) == (True, False)
    assert bold.names == ("pay", "hours", "team")  # by size
    assert shown.panels[0].y.names == ("team", "hours", "pay")  # from below
    np.testing.assert_array_equal(bold.y, [[3.0, 2.0, 1.0]] * STEPS)
    np.testing.assert_allclose(np.asarray(bold.x)[5], [2.0, -1.0, 0.5])
    np.testing.assert_allclose(rings.x, [2.0, -1.0, 0.5])
    ghosts = layers(shown, 1, Points)[0]
    assert np.shape(ghosts.x) == (STEPS, 3 * (DRAWS - 1))
    low, high = shown.panels[1].x.range
    assert low < -1.0 < 2.0 < high
    assert shown.panels[1].alt[5].endswith("pay 2; hours -1; team 0.5.")
    different = frame(SLOPES.names, SLOPES.units, (4.0, 8.0, 4.0, 4.0))
    halves = coefficients_scene("missing-regression", different, 3)
    assert halves.panels[0].x.label == "score per half range of the column"
    np.testing.assert_allclose(np.asarray(layers(halves, 0, Spots)[0].x), [8.0, -8.0, 2.0])


@split_lanes(
    "model, data",
    [
        ("mixture-regression", "two_lines"),
        ("mean", "two_clouds"),
        ("symmetric-mixture", "two_clouds"),
        ("missing-regression", "missing_answers"),
    ],
    merge=2,
)
def test_studies_of_coefficients_and_means_are_figures(model: str, data: str) -> None:
    found = dp.study(dp.load(f"bundled:{data}"), Setting(model, components=1), draws=2)
    assert found.curves.single == pytest.approx(found.references.bounds_utility)
    shown = study_scene(found)
    assert layers(shown, 2, Curve)
    shown.as_dict()
    assert len(dp.figure(found).frames) == STEPS


@split_lanes("model, parts", [("gmm", 2), ("kmeans", 2), ("mean", 1)], merge=1)
def test_one_even_column_is_a_figure(model: str, parts: int) -> None:
    """A column alone; and of rows as even as their limits those say more than the exact fit."""
    rows = pd.DataFrame({"age": np.random.default_rng(0).permutation(500) * 0.2})
    table = dp.load(rows, schema=dp.Schema.from_bounds({"age": (0.0, 110.0)}))
    found = dp.study(table, Setting(model, components=parts), draws=2)
    if model == "gmm":
        assert found.references.bounds_utility > found.references.converged_utility
    shown = study_scene(found)
    low, high = shown.panels[2].y.range
    assert low < found.references.converged_utility < high
    assert low < found.references.bounds_utility < high
    assert len(dp.figure(found).frames) == STEPS


@pytest.mark.parametrize("model", ["gmm", "kmeans"])
def test_limits_far_below_every_curve_do_not_flatten_them(model: str) -> None:
    rows = pd.DataFrame({"age": np.random.default_rng(0).permutation(500) * 0.2})
    table = dp.load(rows, schema=dp.Schema.from_bounds({"age": (0.0, 110.0)}))
    found = dp.study(table, Setting(model, components=2), draws=2)
    best = found.references.converged_utility
    worst = min(found.references.single_utility, float(np.min(found.grid.utility)))
    for gain in (4.0 * (best - worst), 100.0 * (best - worst)):
        references = replace(found.references, bounds_utility=best - gain)
        curve = study_scene(replace(found, references=references)).panels[2]
        drawn = [np.asarray(layer.y) for layer in curve.layers if isinstance(layer, Curve)]
        low, high = curve.y.range
        assert all(low < np.nanmin(ys) and np.nanmax(ys) < high for ys in drawn)
        assert gain / 5 < high - low < gain / 2


@pytest.mark.parametrize("model", ["gmm", "kmeans"])
def test_where_every_fit_is_far_below_the_limits_the_best_of_them_is_inside(model: str) -> None:
    """Of log-likelihoods at clipping 0.1 all were below the axis, which showed no curve at all."""
    rows = pd.DataFrame({"age": np.random.default_rng(0).permutation(500) * 0.2})
    table = dp.load(rows, schema=dp.Schema.from_bounds({"age": (0.0, 110.0)}))
    found = dp.study(table, Setting(model, components=2), draws=2)
    usual = study_scene(found).panels[2].y.range
    for less in (100.0, 1e6):
        grid = replace(found.grid, utility=found.grid.utility - less)
        curve = study_scene(replace(found, grid=grid)).panels[2]
        low, high = curve.y.range
        assert low < np.max(np.median(grid.utility, axis=1)) < high
        assert low < found.references.converged_utility < high
        assert high - low < 2.0 * less + (usual[1] - usual[0])


def test_under_the_lowest_line_there_is_room_for_its_label() -> None:
    """18 pixels of a curve's 95 on a low screen; with less, labels stood far above two lines."""
    rows = pd.DataFrame({"age": np.random.default_rng(0).permutation(500) * 0.2})
    table = dp.load(rows, schema=dp.Schema.from_bounds({"age": (0.0, 110.0)}))
    found = dp.study(table, Setting("kmeans", components=2, metric="nicv"), draws=2)
    curve = study_scene(found).panels[2]
    (exact, *_) = (layer.y for layer in curve.layers if isinstance(layer, Rule))
    low, high = curve.y.range
    assert (exact - low) / (high - low) > 18 / 95


def test_numbers_beyond_the_axis_are_counted() -> None:
    fits = np.tile([[0.5, 0.25]], (STEPS, DRAWS, 1))
    fits[1, 0], fits[2, 0] = (9.0, 0.2), (-9.0, 9.0)
    two = frame(("a", "b"), (None, None), 1.0)
    means = Means.uncut(np.array([[0.5, 0.25]]))
    private = made_up("mean", means, Means.uncut(fits), two).panels[1]
    assert [text.split(" · ")[0] for text in private.subtitle[:4]] == [
        "hides each person",
        "1 of 2 beyond the axis",
        "2 of 2 beyond the axis",
        "hides each person",
    ]


def test_of_many_columns_the_largest_numbers_are_drawn() -> None:
    many = frame(tuple(f"c{i}" for i in range(60)), (None,) * 60, 1.0)
    rng = np.random.default_rng(0)
    exact = rng.uniform(-0.9, 0.9, (1, 60))
    fits = Means.uncut(np.tile(exact, (STEPS, DRAWS, 1)))
    spots = layers(made_up("mean", Means.uncut(exact), fits, many), 0, Spots)[0]
    assert set(spots.names) == {f"c{i}" for i in np.argsort(-np.abs(exact[0]))[:24]}
    assert np.all(np.diff(np.abs(np.asarray(spots.x))) <= 0.0)


# ---------------------------------------------------------------- in Plotly


@split_lanes("kind", ["gmm", "images", "kmeans", "table", "lists"], merge=2)
def test_every_frame_of_the_plotly_figure_is_a_step(kind: str, scene: Scene) -> None:
    shown = {
        "gmm": lambda: scene,
        "kmeans": lambda: centres_scene(places=(("Cairo", 31.24, 30.04),), marks=((1.0, "m"),)),
        "table": lambda: factors_scene(WINE),
        "images": lambda: factors_scene(PIXELS, image=(4, 6)),
        "lists": topics_scene,
    }[kind]()
    fig = scene_figure(shown)
    assert [drawn.name for drawn in fig.frames] == list(shown.step_labels)
    assert {len(drawn.data) for drawn in fig.frames} == {len(fig.data)}
    assert fig.layout.xaxis3.type == "log"
    assert list(fig.layout.xaxis3.range) == pytest.approx(list(np.log10([0.01, 20.0])), abs=0.01)


def test_plotly_draws_the_step_it_says(scene: Scene) -> None:
    step = 20
    bold = next(layer for layer in layers(scene, 1, Ellipses) if layer.style == "bold")
    group = np.asarray(bold.params)[step, 0, 0]
    drawn = [
        np.stack([trace.x, trace.y], axis=1)[: len(outline(group, 1.0))]
        for trace in scene_figure(scene).frames[step].data
        if trace.mode == "lines" and len(trace.x) >= 49
    ]
    assert any(np.allclose(path, outline(group, 1.0)) for path in drawn)


@pytest.mark.merge
def test_a_picture_leaves_as_one_file_that_asks_for_nothing(scene: Scene) -> None:
    text = as_page(scene).decode()
    assert not re.search(r"<(script|link)[^>]*\s(src|href)=", text)
    assert "Plotly.newPlot" in text
    assert "Plotly.animate(" not in text.split("Plotly.newPlot")[-1]  # it waits for the slider
    assert all(f'"{label}"' in text for label in scene.step_labels)


@pytest.mark.merge
def test_plotly_draws_centres_where_they_are() -> None:
    shown = centres_scene()
    spots = layers(shown, 1, Spots)[0]
    traces = scene_figure(shown).frames[30].data
    drawn = [trace for trace in traces if trace.mode == "markers+text"][1]
    np.testing.assert_array_equal(drawn.x, at_step(spots.x, 30, 1))
    assert list(drawn.marker.symbol)[:4] == ["circle", "square", "diamond", "triangle-up"]


def test_plotly_draws_images_the_right_way_up_and_redraws_them() -> None:
    shown = factors_scene(PIXELS, image=(4, 6))
    exact = np.asarray(layers(shown, 0, Heat)[0].values)[0, 0]
    fig = scene_figure(shown)
    board = next(trace for trace in fig.data if trace.type == "heatmap").z[::-1]
    np.testing.assert_allclose(board[:4, :6], exact, rtol=1e-6)
    assert fig.layout.sliders[0].steps[0].args[1]["frame"]["redraw"] is True


def test_an_outline_is_where_the_density_says() -> None:
    covariance = np.array([[4.0, 1.5], [1.5, 2.0]])
    points = outline(np.array([1.0, -2.0, 4.0, 1.5, 2.0, 1.0]), 2.0) - [1.0, -2.0]
    distance = np.einsum("ni,ij,nj->n", points, np.linalg.inv(covariance), points)
    np.testing.assert_allclose(distance, 4.0)


def test_spots_need_one_name_each() -> None:
    with pytest.raises(InputError):
        Spots([1.0, 2.0], [1.0, 2.0], ("a",))
    with pytest.raises(InputError):
        replace(Spots([1.0], [1.0], ("a",)), labels=("a", "b"))


@pytest.mark.parametrize(
    ("days", "names"),
    [
        ((17_897.0, 18_627.0), ("2019-01", "2019-07", "2020-01", "2020-07")),
        ((-20_000.0, 20_000.0), ("1950", "2000")),
        ((0.0, 20.0), ("1970-01-01", "1970-01-08", "1970-01-15")),
    ],
)
def test_an_axis_of_dates_names_days_months_or_years(
    days: tuple[float, float], names: tuple[str, ...]
) -> None:
    """Each tick is the first day of what it names, inside the axis."""
    column = Column("admitted", type="date", lower=days[0], upper=days[1])
    axis = own_axis(PublicFrame.of(Schema((column,))), 0, *days)
    assert (axis.label, axis.names, axis.as_dict()["days"]) == ("admitted", names, True)
    assert axis.ticks is not None
    for tick, name in zip(axis.ticks, names, strict=True):
        assert days[0] <= tick <= days[1]
        assert str(day_of(tick)) == (name + "-01-01")[:10]


@pytest.mark.parametrize("model", ["gmm", "kmeans", "mean"])
def test_what_is_said_of_dates_are_dates(model: str) -> None:
    """Also where truncation begins, which the mean says in days from a date."""
    column = Column("admitted", type="date", lower=date(2020, 1, 1), upper=date(2021, 12, 31))
    days = pd.date_range("2020-03-01", "2020-09-01").strftime("%Y-%m-%d")
    table = dp.load(pd.DataFrame({"admitted": days}), schema=Schema((column,)))
    methods = ("zcdp",) if model != "mean" else ()
    shown = study_scene(dp.study(table, Setting(model, 1), methods=methods, draws=2))
    assert shown.panels[0].x.days
    assert "2020-06-01" in shown.panels[0].alt
    if model == "mean":
        assert re.search(r"about \d+ days from 2020-12-31\.$", shown.panels[1].alt[-1])


@pytest.mark.parametrize("days", [(0.0, 0.5), (-1e7, 1e7)])
def test_an_axis_of_what_no_calendar_has_counts_days(days: tuple[float, float]) -> None:
    column = Column("admitted", type="date", lower=days[0], upper=days[1])
    axis = own_axis(PublicFrame.of(Schema((column,))), 0, *days)
    assert (axis.label, axis.names) == ("admitted (days since 1970-01-01)", ())
    assert "days" not in axis.as_dict()
