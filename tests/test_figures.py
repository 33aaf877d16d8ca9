"""Pictures of a study: the scene a notebook gets, and the same scene in Plotly."""

from __future__ import annotations

import numpy as np
import pytest

import dpcore as dp
from dpcore.evaluation.study import EPSILONS, Setting
from dpcore.figures.mixture import study_scene
from dpcore.figures.plotly import outline, scene_figure
from dpcore.figures.scene import Ellipses, Points, Scene


@pytest.fixture(scope="module")
def scene() -> Scene:
    table = dp.load("bundled:rare_person")
    return study_scene(dp.study(table, Setting(components=2), methods=("zcdp",), draws=3))


def test_a_study_shows_exact_private_and_curve_and_no_row(scene: Scene) -> None:
    assert [panel.id for panel in scene.panels] == ["exact", "private", "curve"]
    assert scene.steps == EPSILONS
    assert scene.steps[scene.step] == 1.0
    layers = [layer for panel in scene.panels for layer in panel.layers]
    assert not any(isinstance(layer, Points) for layer in layers)


def test_another_step_is_the_same_picture(scene: Scene) -> None:
    one, other = scene.as_dict(), scene.at(3).as_dict()
    assert other["id"] == one["id"]
    assert other["panels"] is one["panels"]
    assert (other["step"], other["thumb"]) == (3, 3)


def test_every_frame_of_the_plotly_figure_is_a_step(scene: Scene) -> None:
    fig = scene_figure(scene)
    assert [frame.name for frame in fig.frames] == list(scene.step_labels)
    assert {len(frame.data) for frame in fig.frames} == {len(fig.data)}
    assert fig.layout.xaxis3.type == "log"
    assert list(fig.layout.xaxis3.range) == pytest.approx(list(np.log10([0.05, 20.0])), abs=0.01)


def test_plotly_draws_the_step_it_says(scene: Scene) -> None:
    step = 20
    bold = next(
        layer
        for layer in scene.panels[1].layers
        if isinstance(layer, Ellipses) and layer.style == "bold"
    )
    group = np.asarray(bold.params)[step, 0, 0]
    drawn = [
        np.stack([trace.x, trace.y], axis=1)[: len(outline(group, 1.0))]
        for trace in scene_figure(scene).frames[step].data
        if trace.mode == "lines" and len(trace.x) >= 49
    ]
    assert any(np.allclose(path, outline(group, 1.0)) for path in drawn)


def test_an_outline_is_where_the_density_says() -> None:
    covariance = np.array([[4.0, 1.5], [1.5, 2.0]])
    points = outline(np.array([1.0, -2.0, 4.0, 1.5, 2.0, 1.0]), 2.0) - [1.0, -2.0]
    distance = np.einsum("ni,ij,nj->n", points, np.linalg.inv(covariance), points)
    np.testing.assert_allclose(distance, 4.0)
