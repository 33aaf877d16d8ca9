"""A study as a Plotly figure with a slider: for notebooks and reports, where no page is at hand.

The same layers as the live picture; every step is one frame, and frames are fits that exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.evaluation.composition import Prices
from dpcore.evaluation.study import Study
from dpcore.figures.budget import study_scene
from dpcore.figures.composition import prices_scene
from dpcore.figures.density import Density
from dpcore.figures.heatmap import BLUE, ORANGE, WHITE, Heat
from dpcore.figures.layers import Cells, Columns
from dpcore.figures.marginals import Marginals
from dpcore.figures.ranked import Ranked
from dpcore.figures.scene import (
    GROUPS,
    PALETTE_LIGHT,
    Axis,
    Bars,
    Cursor,
    Curve,
    Ellipses,
    Layer,
    Mark,
    Panel,
    Points,
    Ring,
    Rule,
    Scene,
    Spots,
    at_step,
    text_at,
    texts_at,
)
from dpcore.figures.tail import Tail, shaded
from dpcore.privacy.guarantee import show_delta
from dpcore.schema.forms import day_of

if TYPE_CHECKING:
    import plotly.graph_objects as go


DASHES = ("solid", "dashdot", "dash", "dot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star")
MUTED = "#5B6B7A"
SIDE = 80  # cells along each axis of a density
_TURN = np.linspace(0.0, 2.0 * np.pi, 49)


def style(number: int) -> tuple[dict[str, str], str]:
    """Colour and dash of the number-th curve, and its marker: no two of the first 36 are alike.

    >>> style(6)
    ({'color': '#0072B2', 'dash': 'dashdot'}, 'square')
    """
    turn = number + number // GROUPS
    line = {"color": PALETTE_LIGHT[number % GROUPS], "dash": DASHES[turn % len(DASHES)]}
    return line, SYMBOLS[turn % len(SYMBOLS)]


def figure(study: Study | Prices) -> go.Figure:
    """A study of :func:`dpcore.study` as a picture: exact, private, and what each budget buys; or
    the five prices of a list of releases against how often it is repeated.

    ``figure(study).show(auto_play=False)`` shows it in a notebook. Raises InputError for anything
    else, and ImportError without the package plotly.
    """
    if not isinstance(study, Study | Prices):
        raise InputError("study", "it is not a study", "give what dpcore.study returns")
    return scene_figure(prices_scene(study) if isinstance(study, Prices) else study_scene(study))


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
        horizontal_spacing=0.18 if _named(scene) else 0.1,
    )
    for panel, (row, column) in zip(scene.panels, places, strict=True):
        for trace in _traces(panel, scene.step):
            fig.add_trace(trace, row=row, col=column)
        fig.update_xaxes(**_axis(panel.x, panel.bare), row=row, col=column)
        fig.update_yaxes(**_axis(panel.y, panel.bare), row=row, col=column)
        for layer in panel.layers:
            if isinstance(layer, Heat):
                fig.update_xaxes(visible=False, row=row, col=column)
                fig.update_yaxes(**_rows(layer, fig.get_subplot(row, column)), row=row, col=column)
            if isinstance(layer, Cells | Marginals | Ranked) and panel.bare:
                fig.update_xaxes(visible=False, row=row, col=column)
                fig.update_yaxes(visible=False, row=row, col=column)
            if isinstance(layer, Mark):
                fig.add_annotation(**_upright_label(layer, panel), row=row, col=column)
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
        return {"title": axis.label, "type": axis.scale, "autorange": True}
    low_high = np.log10(axis.range) if axis.scale == "log" else np.asarray(axis.range)
    ticks: dict[str, Any] = {} if axis.ticks is None else {"tickvals": list(axis.ticks)}
    if axis.names:
        ticks["ticktext"] = list(axis.names)
    return {
        "title": axis.label,
        "type": axis.scale,
        "range": [float(end) for end in low_high],
        **ticks,
    }


def _named(scene: Scene) -> bool:
    """Whether a panel has names of rows beside it."""
    return any(
        isinstance(layer, Heat) and layer.rows for panel in scene.panels for layer in panel.layers
    )


def _slider(scene: Scene) -> dict[str, Any]:
    # Plotly moves lines and points in place; colours of cells it must draw anew.
    anew = any(
        isinstance(layer, Density | Heat) for panel in scene.panels for layer in panel.layers
    )
    now = {"mode": "immediate", "frame": {"duration": 0, "redraw": anew}}
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
        case Spots():
            yield _spots(layer, step)
        case Mark():
            yield _upright(layer, panel)
        case Heat():
            yield from _heat(layer, step)
        case Ranked():
            yield _lists(layer, step)
        case Rule():
            yield _level(layer, panel)
        case Cursor():
            yield _dot(layer, step)
        case Ring():
            factor = at_step(layer.factor, step, 0)
            x = layer.cx + factor * layer.rx * np.cos(_TURN)
            y = layer.cy + factor * layer.ry * np.sin(_TURN)
            yield _line(x, y, name=layer.label, line={"color": MUTED, "dash": "dash"})
        case Bars():
            yield _bars(layer, step)
        case Cells():
            yield _table(layer, step)
        case Columns():
            yield from _columns(layer)
        case Density():
            yield _density(layer, panel, step)
        case Marginals():
            yield from _marginals(layer, step)
        case Tail():
            yield _tail(layer, step)


def _columns(layer: Columns) -> Iterator[Any]:
    import plotly.graph_objects as go

    for heights, opacity in ((layer.values, 0.3), (layer.inner, 1.0)):
        yield go.Bar(
            x=np.asarray(layer.x),
            y=np.asarray(heights),
            marker={"color": PALETTE_LIGHT[0], "opacity": opacity},
            hovertext=layer.names,
            hoverinfo="text",
        )


def _table(layer: Cells, step: int) -> Any:
    """Texts under their heads, beside the names of their rows."""
    wide, high = len(layer.heads), len(layer.names)
    across = [*range(1, wide + 1), *[0.5] * high, *list(range(1, wide + 1)) * high]
    below = [0] * wide + [-row - 1 for row in range(high)]
    below += [-row - 1 for row in range(high) for _ in range(wide)]
    texts = [*(f"<b>{head}</b>" for head in layer.heads), *layer.names]
    texts += texts_at(layer.labels, step)
    return _line(across, below, mode="text", text=texts, textposition="middle left", name="")


def _density(layer: Density, panel: Panel, step: int) -> Any:
    """One tone between two levels: the number of levels that a cell is above."""
    import plotly.graph_objects as go

    x, y = (np.linspace(*axis.range, SIDE) for axis in (panel.x, panel.y))
    values = layer.values(step, x, y)
    over = np.searchsorted(layer.levels, values, side="right").astype(float)
    ink = PALETTE_LIGHT[layer.colour]
    return go.Contour(
        x=x,
        y=y,
        z=np.where(np.isfinite(values), over, 0.0),
        contours={"start": 0.5, "end": len(layer.levels) - 0.5, "size": 1.0},
        colorscale=[[0.0, "#FFFFFF"], [1.0, ink]],
        line={"width": 0},
        showscale=False,
        hoverinfo="skip",
        name="density",
    )


def _marginals(layer: Marginals, step: int) -> Iterator[Any]:
    """A line each; the names of the columns under their axes."""
    looks: dict[str, dict[str, Any]] = {
        "bars": {"line": {"color": MUTED, "width": 0.5}, "opacity": 0.6},
        "ghost": {"line": {"color": PALETTE_LIGHT[0], "width": 1}, "opacity": 0.25},
        "bold": {"line": {"color": PALETTE_LIGHT[0], "width": 2.5}},
        "outline": {"line": {"color": MUTED, "width": 1.2, "dash": "dash"}},
    }
    for x, y, kind in layer.curves(step):
        yield _line(x, y, name=kind, hoverinfo="skip", **looks[kind])
    if layer.on_axes:
        return
    texts = [
        " · ".join((_end(low, dated=dated), name, _end(high, dated=dated)))
        for name, (low, high), dated in zip(
            layer.names, np.asarray(layer.ranges), layer.days, strict=True
        )
    ]
    feet = [float(row) for row in range(len(texts))][::-1]
    here = {"mode": "text", "textposition": "bottom center"}
    yield _line([0.5] * len(texts), feet, text=texts, name="", **here)


def _end(number: float, *, dated: bool) -> str:
    """An end of an axis in words."""
    return str(day_of(round(number))) if dated else f"{number:.3g}"


def _tail(layer: Tail, step: int) -> Any:
    losses, density = at_step(layer.x, step, 1), at_step(layer.y, step, 1)
    epsilon = float(at_step(layer.start, step, 0))
    deltas = at_step(layer.deltas, step, 1)
    places = np.flatnonzero(np.asarray(layer.epsilons) == epsilon)
    name = f"\u03b4 = {show_delta(float(deltas[places[0]]))} beyond" if places.size else ""
    colour = PALETTE_LIGHT[layer.colour]
    area = shaded(losses, density, epsilon)
    return _line(
        losses, area, fill="tozeroy", name=f"{name} \u03b5 = {epsilon:g}", line={"color": colour}
    )


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
        outlines = [outline(group, level) for group in params[:, k] for level in layer.levels]
        gap = np.full((1, 2), np.nan)
        path = np.concatenate([*(part for line in outlines for part in (line, gap)), gap])
        yield _line(
            path[:, 0],
            path[:, 1],
            name=name,
            opacity=0.25 if ghost else 1.0,
            line={
                "color": MUTED if layer.style == "outline" else PALETTE_LIGHT[colour],
                "width": 2 if layer.style == "bold" else 1,
                "dash": "dash" if layer.style == "outline" else DASHES[colour],
            },
        )
        if layer.centre:
            marker = {"symbol": SYMBOLS[colour], "color": PALETTE_LIGHT[colour]}
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
    if layer.colour is None:
        line = {"color": MUTED, "width": 1}
        yield _line(x, y, line=line, opacity=0.6, hoverinfo="skip", name="")
        return
    colour, dash = PALETTE_LIGHT[layer.colour], DASHES[(layer.dash or 0) % len(DASHES)]
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


def _upright(layer: Mark, panel: Panel) -> Any:
    line = {"color": MUTED, "dash": DASHES[layer.dash], "width": 1}
    return _line([layer.x, layer.x], list(panel.y.range), line=line, name=layer.label)


def _upright_label(layer: Mark, panel: Panel) -> dict[str, Any]:
    """Upright too, from the foot of its line: marks may be close together."""
    return {
        "x": float(np.log10(layer.x)) if panel.x.scale == "log" else layer.x,
        "y": panel.y.range[0],
        "text": layer.label,
        "textangle": -90,
        "xanchor": "right",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 10, "color": MUTED},
    }


def _spots(layer: Spots, step: int) -> Any:
    colours = layer.colours or ()
    marker = {
        "symbol": [SYMBOLS[colour] + "-open" * layer.hollow for colour in colours] or "circle",
        "color": [PALETTE_LIGHT[colour] for colour in colours] or MUTED,
        "size": 11 if colours else 4,
        "line": {} if layer.hollow else {"color": "white", "width": 1},
    }
    return _line(
        at_step(layer.x, step, 1),
        at_step(layer.y, step, 1),
        mode="markers+text",
        text=list(layer.labels),
        textposition="top right" if colours else f"middle {layer.side}",
        textfont={} if colours else {"size": 9, "color": MUTED},
        hovertext=list(layer.names),
        marker=marker,
        name="",
    )


def _heat(layer: Heat, step: int) -> Iterator[Any]:
    """Images on one board with gaps between them, and the word under each."""
    import plotly.graph_objects as go

    board, places = _board(at_step(layer.values, step, 3), layer.across, bool(layer.rows))
    below = [] if layer.above else [[0.0, BLUE]]
    yield go.Heatmap(
        z=board.astype(np.float32),
        zmin=0.0 if layer.above else -layer.limit_at(step),
        zmax=layer.limit_at(step),
        colorscale=[*below, [0.5 * len(below), WHITE], [1.0, ORANGE]],
        colorbar={"title": {"text": text_at(layer.label, step), "side": "right"}, "thickness": 10},
        showscale=len(layer.values) == 1,  # type: ignore[arg-type]
        name="",
    )
    words = list(texts_at(layer.notes, step))
    yield _line(*places.T, mode="text", text=words, textposition="bottom center", name="")


def _lists(layer: Ranked, step: int) -> Any:
    """Words under the names of their lists; a dot before what both fits list."""
    words, values, marked = (
        at_step(array, step, 2) for array in (layer.words, layer.values, layer.marked)
    )
    length = words.shape[1]
    across, below, texts = [], [], []
    for k, (name, note) in enumerate(zip(layer.names, texts_at(layer.notes, step), strict=True)):
        row, column = divmod(k, layer.across)
        lines = [
            ("• " if both else "") + layer.vocabulary[int(word)] if np.isfinite(value) else ""
            for word, value, both in zip(words[k], values[k], marked[k], strict=True)
        ]
        texts += [f"{name} · {note}" if note else name, *lines]
        across += [float(column)] * (1 + length)
        below += [-float(row * (length + 2) + line) for line in range(1 + length)]
    return _line(across, below, mode="text", text=texts, textposition="middle right", name="")


def _board(images: Array, across: int, table: bool) -> tuple[Array, Array]:
    """Images ``(n, h, w)`` as one picture, first row on top as Plotly counts from the bottom; and
    where the word under each stands ``(n, 2)``. Columns of a table stand side by side."""
    count, high, wide = images.shape
    down = -(-count // across)
    gap, under = (0, 0) if table else (max(1, wide // 8), max(1, high // 4))
    board = np.full((down * (high + under), across * (wide + gap)), np.nan)
    places = np.empty((count, 2))
    for i, image in enumerate(images):
        top, left = (i // across) * (high + under), (i % across) * (wide + gap)
        board[top : top + high, left : left + wide] = image
        places[i] = left + (wide - 1) / 2, len(board) - top - high - 0.5
    return board[::-1], places


def _rows(layer: Heat, place: Any) -> dict[str, Any]:
    """The axis beside a table names its rows; images are not stretched."""
    if not layer.rows:
        return {"visible": False, "scaleanchor": place.yaxis.anchor}
    names = list(layer.rows)[::-1]
    return {"title": "", "tickvals": list(range(len(names))), "ticktext": names}


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
