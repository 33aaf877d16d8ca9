"""A labelled release class by class: other ways beside it, its budget, and what it teaches."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from app_pages import explorer, scenes, texts
from streamlit.testing.v1 import AppTest

from app.explore_scene import with_nearest
from app.texts.explore import COMING
from dpcore.accounting.gaussian import epsilon_of
from dpcore.datasets.labelled import labelled_classes, labelled_table
from dpcore.evaluation.study import BudgetGrid, Setting, budget_grid, references
from dpcore.evaluation.yardstick import mapped
from dpcore.models.labelled_mixture.class_pictures import POINTS, Classes, classes_scene
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.models.labelled_mixture.published_mathematics import classes_of, design
from dpcore.models.labelled_mixture.scoring import YARDSTICK
from dpcore.models.labelled_mixture.worth import (
    Worth,
    allocation,
    divergences,
    printed_allocation,
    rightly_named,
    solvers_compared,
    voted,
    worth_of,
)
from dpcore.wall.table import PrivateTable

EPSILONS = (0.05, 0.2, 0.5, 1.0, 5.0, 20.0)


def table(rows: int = 600) -> PrivateTable:
    return labelled_table(*labelled_classes(rows, 3, 2, np.random.default_rng(1))[:2])


def staged(**words: Any) -> Setting:
    own: dict[str, Any] = {"adjacency": "label", "words": (("method", "staged"),)}
    return Setting("gmm-release", components=1, **{**own, **words})


def studied(setting: Setting, draws: int = 4) -> tuple[BudgetGrid, LabelledMixture]:
    exact = references(table(), setting).converged
    return budget_grid(table(), setting, exact, EPSILONS, range(draws)), exact


def classes(grid: BudgetGrid, exact: LabelledMixture, worth: Worth | None, **more: Any) -> Classes:
    scorer = YARDSTICK.scorer(table())
    known = Classes(
        grid=grid,
        exact=exact,
        rows=scorer.public.center + scorer.public.half_range * scorer.rows,
        away=divergences(grid, exact),
        named=rightly_named(grid, scorer),
        best=1.0,
        division=allocation(grid, 1e-5),
        worth=worth,
        own="recommended",
    )
    return replace(known, **more)


def test_numbers_of_a_grid_are_the_yardstick_s_and_gaps_stay_gaps() -> None:
    grid, exact = studied(staged())
    scorer = YARDSTICK.scorer(table())
    one = mapped(grid.fits, lambda array: array[3])
    np.testing.assert_allclose(
        divergences(grid, exact)[3], YARDSTICK.measure(one, scorer, "reverse_kl")
    )
    np.testing.assert_allclose(
        rightly_named(grid, scorer)[3], YARDSTICK.measure(one, scorer, "accuracy")
    )
    fits = mapped(grid.fits, np.copy)
    fits.weights[1] = np.nan
    gone = replace(grid, fits=fits)
    assert np.isnan(divergences(gone, exact)[1]).all()
    assert np.isnan(rightly_named(gone, scorer)[1]).all()
    assert np.isfinite(divergences(gone, exact)[2]).all()


@pytest.mark.parametrize("rows_per_person", [1, 3])
def test_parts_of_a_budget_add_up_to_it(rows_per_person: int) -> None:
    grid, _ = studied(staged(rows_per_person=rows_per_person), 1)
    found = allocation(grid, 1e-5)
    assert found.proved
    assert len(found.names) == 7
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    assert np.all(found.alone < np.array(EPSILONS)[:, None])
    for ledger, epsilon in zip(grid.ledgers, EPSILONS, strict=True):
        multipliers = np.array([float(e.mechanism.noise_multiplier) for e in ledger.events])  # type: ignore[union-attr]
        whole = float(epsilon_of(1e-5, float(np.sqrt(np.sum(multipliers**-2.0)))))
        assert whole == pytest.approx(epsilon, rel=1e-6)
    assert found.notes[:2] == ("", "counts 12%, means 33%, squares 55%")


def test_one_release_has_all_of_the_budget_and_a_printed_one_none() -> None:
    grid, _ = studied(staged(accountant="linear", words=(("method", "laplace"),)), 1)
    found = allocation(grid, 1e-5)
    np.testing.assert_allclose(found.alone[:, 0], EPSILONS)
    paper = staged(mode="paper", accountant="linear", words=(("method", "paper"),))
    assert allocation(studied(paper, 1)[0], 1e-5) is None


def test_algorithm_1_moves_budget_from_covariances_to_means_as_it_grows() -> None:
    found = printed_allocation(table(), EPSILONS, 1e-5)
    assert not found.proved
    np.testing.assert_allclose(found.shares[:, 0], 1 / 3)
    assert np.all(np.diff(found.shares[:, 1]) >= -1e-9)
    assert found.shares[-1, 1] > 0.5
    assert found.shares[-1, 2] < found.shares[0, 2]
    rows, kinds, _ = labelled_classes(600, 3, 2, np.random.default_rng(1))
    plan = design(classes_of(rows, kinds.astype(np.intp), 3, "all"), EPSILONS[-1], 1e-5)
    assert found.alone[-1, 1] == pytest.approx(plan.means.max())  # noise of (9) depends on units


def test_every_other_way_is_held_against_the_exact_classes() -> None:
    setting = staged()
    grid, exact = studied(setting)
    found = worth_of(table(), setting, grid, exact)
    names = list(found.ways)
    assert names == ["public_features", "mte", "gaussian", "colored", "laplace", "paper"]
    ours = np.median(divergences(grid, exact)[::4], axis=1)
    plain = np.median(found.ways["gaussian"], axis=1)
    assert ours[-1] < plain[-1]
    assert found.epsilons == EPSILONS[::4]
    assert found.exact > 0.8
    assert found.taught[-1].mean() > 0.8 * found.exact


def test_ways_that_need_public_features_are_left_out_elsewhere() -> None:
    setting = staged(adjacency="replace_one")
    grid, exact = studied(setting, 1)
    found = worth_of(table(), setting, grid, exact)
    assert list(found.ways) == ["gaussian", "laplace"]
    assert found.left_out == ()


def test_slow_ways_are_named_where_there_are_too_many_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dpcore.models.labelled_mixture.worth.MOST_ROWS", {"mte": 100})
    setting = staged()
    grid, exact = studied(setting, 1)
    found = worth_of(table(), setting, grid, exact)
    assert found.left_out == ("noise shaped by the public columns",)
    assert "mte" not in found.ways


def test_a_vote_of_neighbours_finds_classes_that_lie_apart() -> None:
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], 40)
    rows = 10.0 * kinds[:, None] + rng.standard_normal((120, 2))
    assert np.all(voted(rows, kinds, rows + 0.1) == kinds)
    assert voted(rows[:1], kinds[:1], rows[:3]).tolist() == [0, 0, 0]


def test_the_picture_moves_and_holds_only_numbers() -> None:
    setting = staged()
    grid, exact = studied(setting)
    fits = mapped(grid.fits, np.copy)
    fits.weights[0], fits.means[0], fits.covariances[0] = np.nan, np.nan, np.nan
    rows = YARDSTICK.scorer(table()).rows[:, 0]
    apart = 1.12 * (rows.max() - rows.min()) / (POINTS - 1)  # of the places of a marginal
    fits.covariances[1] = apart**2 * np.eye(2)  # 38 of them from its middle it is 1e-314 high
    grid = replace(grid, fits=fits)
    for worth in (None, worth_of(table(), setting, grid, exact)):
        scene = classes_scene(classes(grid, exact, worth), (0, 1), tuple(range(6)), 2)
        json.dumps(scene.as_dict(), allow_nan=False)
        panels = {panel.id: panel for panel in scene.panels}
        assert list(panels) == [
            "marginal_0", "marginal_1", "class_sizes", "division", "divergence", "naming",
        ]  # fmt: skip
        for name in ("marginal_0", "class_sizes", "division"):
            assert any(layer["moves"] for layer in panels[name].as_dict()["layers"]), name
        assert len(set(panels["class_sizes"].alt)) > 3
    assert sum(layer["kind"] == "curve" for layer in panels["divergence"].as_dict()["layers"]) == 7


def test_class_by_class_a_budget_still_to_come_is_held_by_the_nearest_fit() -> None:
    grid, exact = studied(staged(), 1)
    one = grid.taken([2])
    part = one.among(grid.stops, COMING).filled(one)
    scene = classes_scene(classes(part, exact, None), (0, 1), tuple(range(6)), 2)
    panels = {panel.id: panel for panel in scene.panels}
    assert not any("nan" in text for text in panels["divergence"].alt)
    held = {panel.id: panel for panel in with_nearest(scene, part, ["marginal_0"]).panels}
    assert held["marginal_0"].nearest == (2,) * 6
    assert held["marginal_0"].subtitle[0].startswith("nearest so far: ε = ")
    assert held["divergence"].nearest == ()


def test_a_marginal_is_its_histogram_s_size() -> None:
    """Exact classes and histogram are of one area: 100%."""
    grid, exact = studied(staged(), 1)
    scene = classes_scene(classes(grid, exact, None), (0, 1), tuple(range(6)), 2)
    for panel in scene.panels[:2]:
        layers = [layer for layer in panel.as_dict()["layers"] if layer["kind"] == "curve"]
        histogram = np.array(layers[0]["y"])[::2].sum()
        assert histogram == pytest.approx(100.0, abs=0.1)
        lines = [np.array(one["y"]) for one in layers if str(one["name"]).endswith("exact")]
        bins = 30 / (len(lines[0]) - 1)
        assert bins * np.sum(lines) == pytest.approx(100.0, abs=4.0)


# --- the page ------------------------------------------------------------------------------------


def test_both_solvers_reach_one_objective_class_by_class() -> None:
    found = solvers_compared(table(200))
    assert len(found) == 3
    for one in found:
        assert one.objectives[1] == pytest.approx(one.objectives[0], rel=1e-6)
        assert max(one.gaps) < 1e-6
        assert min(one.seconds) > 0.0


def test_the_panel_tells_objectives_gaps_and_seconds() -> None:
    def panel() -> None:
        from app.classes import solvers
        from app.scenario import opening
        from app.tables import data_of

        solvers(data_of(opening("iris", "gmm-release")))  # type: ignore[arg-type]

    at = AppTest.from_function(panel, default_timeout=60).run()
    assert not at.dataframe
    at.toggle(key="solvers").set_value(True).run()
    assert not at.exception
    told = at.dataframe[0].value
    assert list(told["class"]) == ["setosa", "versicolor", "virginica"]
    assert list(told)[1:4] == ["exact: trace", "exact: gap", "exact: seconds"]
    ours, theirs = (told[f"{name}: trace"].astype(float) for name in ("exact", "cvxpy"))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert (told["cvxpy: gap"].astype(float) < 1e-6).all()


def sections(**query: str) -> tuple[list[str], list[str]]:
    """Panels of every live picture of the page, and its headings below the first screen."""
    page = explorer(**query)
    assert [error.message for error in page.exception] == []
    heads = [text for text in texts(page) if "<h2" in text]
    return [panel["id"] for scene in scenes(page) for panel in scene["panels"]], heads


@pytest.mark.merge
def test_the_page_of_a_labelled_release_goes_class_by_class() -> None:
    panels, heads = sections(data="iris", model="gmm-release", adjacency="replace_one")
    assert panels[:3] == ["exact", "private", "curve"]
    assert panels[3:] == [
        "marginal_0", "marginal_1", "class_sizes", "division", "divergence", "naming",
    ]  # fmt: skip
    assert "Class by class" in heads[-1]


@pytest.mark.merge
def test_as_published_its_division_is_the_printed_one() -> None:
    panels, _ = sections(data="five_parties", method="least_trace", epsilon="0.77")
    assert "division" in panels


@pytest.mark.merge
@pytest.mark.parametrize(
    "query", [{"data": "generated"}, {"data": "five_parties", "hide": "private"}]
)
def test_other_models_have_no_classes_and_what_is_hidden_stays_so(query: dict[str, str]) -> None:
    panels, heads = sections(**query)
    assert "class_sizes" not in panels
    assert not any("Class by class" in head for head in heads)
