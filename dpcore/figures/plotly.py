"""A study as a Plotly figure with a slider: for notebooks and reports, where no page is at hand.

The same layers as the live picture; every step is one frame, and frames are fits that exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.evaluation.composition import Prices
from dpcore.evaluation.study import Study
from dpcore.figures.composition import prices_scene
from dpcore.figures.mixture import study_scene
from dpcore.figures.scene import (
    MARKERS,
    PALETTE_LIGHT,
    Axis,
    Bars,
    Cursor,
    Curve,
    Ellipses,
    Layer,
    Panel,
    Points,
    Ring,
    Rule,
    Scene,
    at_step,
    text_at,
    texts_at,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go

Array = NDArray[np.float64]

DASHES = ("solid", "dashdot", "dash", "dot", "longdash", "longdashdot")
MUTED = "#5B6B7A"
_TURN = np.linspace(0.0, 2.0 * np.pi, 49)


def figure(found: Study | Prices) -> go.Figure:
    """A study of :func:`dpcore.study` as a picture: exact, private, and what each budget buys; or
    the five prices of a list of releases against how often it is repeated.

    ``figure(found).show(auto_play=False)`` shows it in a notebook. Needs the package plotly.
    """
    return scene_figure(prices_scene(found) if isinstance(found, Prices) else study_scene(found))


def scene_figure(scene: Scene) -> go.Figure:
    """The scene with a slider over its steps, at its current step.

    Half-width panels stand side by side above the full-width ones. Alt texts of the current step
    are the figure's ``meta``.
    """
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    places, specs = _places(scene.panels)
    fig = make_subplots(
        rows=len(specs),
        cols=2,
        specs=specs,
        subplot_titles=[f"<b>{panel.title}</b>" for panel in scene.panels],
        row_heights=[1.5 if row[1] is not None else 1.0 for row in specs],
        vertical_spacing=0.14,
    )
    for panel, (row, column) in zip(scene.panels, places, strict=True):
        for trace in _traces(panel, scene.step):
            fig.add_trace(trace, row=row, col=column)
        fig.update_xaxes(**_axis(panel.x, panel.bare), row=row, col=column)
        fig.update_yaxes(**_axis(panel.y, panel.bare), row=row, col=column)
    fig.frames = [
        go.Frame(
            data=[trace for panel in scene.panels for trace in _traces(panel, step)], name=label
        )
        for step, label in enumerate(scene.step_labels)
    ]
    fig.update_layout(
        template="plotly_white",
        height=380 * len(specs),
        showlegend=False,
        sliders=[_slider(scene)],
        meta={panel.id: text_at(panel.alt, scene.step) for panel in scene.panels},
    )
    return fig


def _places(
    panels: tuple[Panel, ...],
) -> tuple[list[tuple[int, int]], list[list[dict[str, int] | None]]]:
    """Row and column of each panel, and Plotly's grid of cells."""
    places: list[tuple[int, int]] = []
    specs: list[list[dict[str, int] | None]] = []
    for before, panel in pairwise((None, *panels)):
        beside = before is not None and before.width == "half" and places[-1][1] == 1
        if panel is not None and panel.width == "half":
            if beside:
                places.append((places[-1][0], 2))
                continue
            specs.append([{}, {}])
        else:
            specs.append([{"colspan": 2}, None])
        places.append((len(specs), 1))
    return places, specs


def _axis(axis: Axis, bare: bool = False) -> dict[str, Any]:
    """Plotly wants the range of a log axis as powers of ten; bars bring their own scale."""
    if bare:
        return {"title": axis.label, "autorange": True}
    low_high = np.log10(axis.range) if axis.scale == "log" else np.asarray(axis.range)
    ticks = {} if axis.ticks is None else {"tickvals": list(axis.ticks)}
    return {
        "title": axis.label,
        "type": axis.scale,
        "range": [float(end) for end in low_high],
        **ticks,
    }


def _slider(scene: Scene) -> dict[str, Any]:
    now = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}}
    shown = scene.positions or ()
    return {
        "active": scene.thumb,
        "currentvalue": {"prefix": f"{scene.symbol} = "},
        "steps": [
            {
                "label": scene.step_labels[step],
                "method": "animate",
                "args": [[scene.step_labels[step]], now],
            }
            for step in shown
        ],
    }


def _traces(panel: Panel, step: int) -> list[Any]:
    """The same number of traces, in the same order, at every step."""
    return [trace for layer in panel.layers for trace in _drawn(layer, panel, step)]


def _drawn(layer: Layer, panel: Panel, step: int) -> Iterator[Any]:
    match layer:
        case Points():
            yield _line(at_step(layer.x, step, 1), at_step(layer.y, step, 1), **_dots(layer))
        case Ellipses():
            yield from _ellipses(layer, step)
        case Curve():
            yield from _curve(layer, step)
        case Rule():
            yield _level(layer, panel)
        case Cursor():
            yield _dot(layer, step)
        case Ring():
            x, y = layer.cx + layer.rx * np.cos(_TURN), layer.cy + layer.ry * np.sin(_TURN)
            yield _line(x, y, name=layer.label, line={"color": MUTED, "dash": "dash"})
        case Bars():
            yield _bars(layer, step)


def _line(x: Any, y: Any, **more: Any) -> Any:
    import plotly.graph_objects as go

    return go.Scatter(x=x, y=y, **{"mode": "lines", **more})


def _dots(layer: Points) -> dict[str, Any]:
    colour = MUTED if layer.colour is None else PALETTE_LIGHT[layer.colour]
    marker = {"color": colour, "opacity": layer.opacity, "size": 3}
    return {"mode": "markers", "marker": marker, "name": layer.name, "hoverinfo": "skip"}


def _ellipses(layer: Ellipses, step: int) -> Iterator[Any]:
    """One trace a group: the outlines of all draws and levels, with gaps between them."""
    params = at_step(layer.params, step, 3)
    ghost = layer.style == "ghost"
    for k, (colour, name) in enumerate(zip(layer.colours or (), layer.names, strict=True)):
        outlines = [outline(one, level) for one in params[:, k] for level in layer.levels]
        gap = np.full((1, 2), np.nan)
        path = np.concatenate([part for line in outlines for part in (line, gap)])
        yield _line(
            path[:, 0],
            path[:, 1],
            name=name,
            opacity=0.25 if ghost else 1.0,
            line={
                "color": PALETTE_LIGHT[colour],
                "width": 1 if ghost else 2,
                "dash": "dash" if layer.style == "outline" else DASHES[colour],
            },
        )
        if layer.centre:
            marker = {"symbol": MARKERS[colour], "color": PALETTE_LIGHT[colour]}
            yield _line(params[:, k, 0], params[:, k, 1], mode="markers", marker=marker, name=name)


def outline(params: Array, level: float) -> Array:
    """Points ``(49, 2)`` of the ellipse ``level`` standard deviations out; NaN for an unfit group.

    params ``(6,)``: mean x, mean y, covariance xx, xy, yy, weight.

    >>> outline(np.array([1.0, 2.0, 4.0, 0.0, 9.0, 1.0]), 1.0)[0]
    array([3., 2.])
    """
    mean_x, mean_y, xx, xy, yy, _ = params
    covariance = np.array([[xx, xy], [xy, yy]])
    if not np.all(np.isfinite(params)):
        return np.full((len(_TURN), 2), np.nan)
    values, vectors = np.linalg.eigh(covariance)
    circle = np.stack([np.cos(_TURN), np.sin(_TURN)])
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(np.array([mean_x, mean_y]) + level * (root @ circle).T)


def _curve(layer: Curve, step: int) -> Iterator[Any]:
    x, y = at_step(layer.x, step, 1), at_step(layer.y, step, 1)
    colour, dash = PALETTE_LIGHT[layer.colour], DASHES[layer.dash or 0]
    if layer.lo is not None and layer.hi is not None:
        low, high = at_step(layer.lo, step, 1), at_step(layer.hi, step, 1)
        edge = {"width": 0, "color": colour}
        around = np.concatenate([x, x[::-1]])
        yield _line(
            around, np.concatenate([low, high[::-1]]), fill="toself", opacity=0.15, line=edge
        )
    yield _line(
        x,
        y,
        name=layer.name or text_at(layer.label, step),
        line={"color": colour, "dash": dash, "width": 3 if layer.bold else 1.5},
    )


def _level(layer: Rule, panel: Panel) -> Any:
    low, high = panel.x.range
    place = "top right" if layer.side == "left" else "top left"
    words = [layer.label, ""] if layer.side == "left" else ["", layer.label]
    return _line(
        [low, high],
        [layer.y, layer.y],
        mode="lines+text",
        text=words,
        textposition=place,
        line={"color": MUTED, "dash": DASHES[layer.dash], "width": 1},
    )


def _dot(layer: Cursor, step: int) -> Any:
    x, y = np.asarray(layer.x, dtype=float)[step], np.asarray(layer.y, dtype=float)[step]
    marker = {"size": 10, "color": PALETTE_LIGHT[layer.colour]}
    return _line([x], [y], mode="markers", marker=marker, name="now")


def _bars(layer: Bars, step: int) -> Any:
    """One trace; the first bar on top, as on the page."""
    import plotly.graph_objects as go

    values = at_step(layer.values, step, 1)
    return go.Bar(
        x=values[::-1],
        y=list(layer.names)[::-1],
        orientation="h",
        text=list(texts_at(layer.labels, step))[::-1],
        textposition="auto",
        marker={"color": [PALETTE_LIGHT[colour] for colour in layer.colours or ()][::-1]},
        name="",
    )
