"""A still picture shows what the figure shows, and is well-formed whatever is in it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import date
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import dpcore as dp
from dpcore.figures.static_svg import LEFT, RIGHT, WIDTH, alt_text, still

IN_AXES = {"xref": "x", "yref": "y"}
FIGURES: dict[str, Any] = {
    "line": lambda: go.Figure(go.Scatter(x=[1, 2, 3], y=[1, np.nan, 3], name="a < b & c")),
    "errors": lambda: go.Figure(
        go.Scatter(x=[1, 2], y=[3, 4], error_y={"array": [1, 2], "arrayminus": [0.5, 0.5]})
    ),
    "band": lambda: go.Figure(go.Scatter(x=[1, 2, 2, 1], y=[1, 1, 2, 2], fill="toself")),
    "words": lambda: go.Figure(go.Scatter(x=[1], y=[2], text=["<here>"], mode="text")),
    "bars": lambda: go.Figure(go.Bar(x=[1, 3], y=["one", "two"], orientation="h")),
    "upright": lambda: go.Figure(go.Bar(x=["one", "two"], y=[1, 3])),
    "cells": lambda: go.Figure(go.Heatmap(z=[[0.0, 1.0], [np.nan, -1.0]], zmin=-1, zmax=1)),
    "many cells": lambda: go.Figure(go.Heatmap(z=np.zeros((400, 300)))),
    "names": lambda: go.Figure(go.Scatter(x=["a & b", "c"], y=[3, 4])),
    "dates": lambda: go.Figure(go.Scatter(x=[date(2020, 1, 1), date(2021, 1, 1)], y=[3, 4])),
    "no places": lambda: go.Figure(go.Scatter(y=[3, 4], text="the same", mode="text")),
    "turned round": lambda: go.Figure(go.Scatter(x=[1, 2], y=[3, 4])).update_xaxes(range=[2, 1]),
    "no range": lambda: go.Figure(go.Scatter(x=[1], y=[3])).update_xaxes(range=[1, 1]),
    "a bar that is missing": lambda: go.Figure(go.Bar(x=["a", "b"], y=[4, None])),
    "no cell known": lambda: go.Figure(go.Heatmap(z=[[np.nan, np.nan]])),
    "picture": lambda: go.Figure(
        go.Scatter(x=[0, 2], y=[0, 1], mode="none"),
        {"images": [{"source": "data:,&", "x": 0, "y": 1, "sizex": 2, "sizey": 1} | IN_AXES]},
    ),
    "empty": lambda: go.Figure(go.Scatter(x=[], y=[])),
    "study": lambda: dp.figure(
        dp.study(dp.load("bundled:rare_person"), dp.Setting(components=2), draws=2)
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.merge] * (name == "study")) for name in FIGURES]
)
def test_every_kind_of_trace_gives_a_small_well_formed_picture(name: str) -> None:
    picture = still(FIGURES[name]())
    ET.fromstring(picture)
    assert len(picture) < 1_500_000
    assert "nan" not in re.sub(r"<(text|title).*?</\1>", "", picture)


def test_a_picture_fills_its_box() -> None:
    figure = FIGURES["picture"]().update_xaxes(range=[0, 4]).update_yaxes(range=[0, 2])
    left, wide, plot = (
        float(re.search(pattern, still(figure))[1])  # type: ignore[index]
        for pattern in (
            r'<image x="([\d.]+)"',
            r'<image .*? width="([\d.]+)"',
            r'<clipPath .*? width="([\d.]+)"',
        )
    )
    assert left == LEFT
    assert wide == pytest.approx(plot / 2, abs=0.1)


def circles(picture: str) -> list[tuple[float, float]]:
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture)
    return [(float(x), float(y)) for x, y in found]


def test_a_logarithmic_axis_puts_ten_between_one_and_a_hundred() -> None:
    figure = go.Figure(go.Scatter(x=[1, 10, 100], y=[0, 0, 0], mode="markers"))
    figure.update_xaxes(type="log", range=[0, 2])
    (low, _), (middle, _), (high, _) = circles(still(figure))
    assert (low, high) == (LEFT, WIDTH - RIGHT)
    assert middle == pytest.approx((low + high) / 2, abs=0.1)


def test_larger_numbers_are_higher_up() -> None:
    (_, low), (_, high) = circles(still(go.Figure(go.Scatter(x=[1, 1], y=[2, 5], mode="markers"))))
    assert high < low  # pages count from the top


def test_a_gap_is_a_gap() -> None:
    path = re.search(r'<path d="(.*?)"', still(FIGURES["line"]()))
    assert path[1].count("M") == 2
    assert "L" not in path[1]


def test_names_and_words_are_there_and_escaped() -> None:
    assert "a &lt; b &amp; c" in still(FIGURES["line"]().update_layout(showlegend=True))
    assert "&lt;here&gt;" in still(FIGURES["words"]())


def test_it_says_what_it_shows() -> None:
    figure = go.Figure(layout={"title": "short", "meta": {"alt": "the whole story"}})
    assert alt_text(figure) == "the whole story"
    assert alt_text(go.Figure(layout={"title": "short"})) == "short"
    assert "<title>the whole story</title>" in still(figure)


def test_names_along_an_axis_stand_below_it_in_their_order() -> None:
    picture = still(go.Figure(go.Scatter(x=["first", "second"], y=[3, 4])))
    places = [
        float(re.findall(rf'x="([0-9.]+)"[^>]*>{name}<', picture)[0])
        for name in ("first", "second")
    ]
    assert LEFT < places[0] < places[1] < WIDTH - RIGHT
