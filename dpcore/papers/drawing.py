"""A reproduction as Plotly figures: lines with their spread, maps, faces, bells, bars and words."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.papers.claims import Row
from dpcore.papers.reproduction import Panel, Reproduction

if TYPE_CHECKING:
    import plotly.graph_objects as go


WIDTH = 750  # of all axes, pixels
HEIGHT = 520  # of a panel that has a line to itself, pixels
WORDS_HEIGHT = 320  # of ten ranks
HEAD = 20  # letters of a line above a list of words
LEAST_HEIGHT = 130  # of a panel among many
FEW = 4  # panels side by side that all have room for numbers on their axes
FEW_WHOLE = 10  # steps of a line along x that each have their number
ALONE = 3  # panels side by side, at most, that each have a page's width to themselves there
PLOT, LINE = 300, 29  # pixels on a page: of a panel without its legend, and of a line of the legend
MARGIN = 48  # above and below a figure on a page, pixels
LEAST_MARGIN = 12  # above one whose title stands in the text
LETTERS = 40  # of a line of a title, as wide as a phone; beside an axis, as high as its panel
GREYS = 15  # steps of a picture's shades: noise in more of them would fill the file
FAR = 1e3  # times another height, from which on an axis does not reach so far on a page
CORNERS = 21  # of a bell
REACH = 4.0  # standard deviations of a bell that are drawn
CLOUD = "#B8C2CC"


def reproduction_figure(result: Reproduction) -> go.Figure:
    """All panels, as many side by side as they say; the finding is the alt text. Needs plotly."""
    from plotly.subplots import make_subplots

    lines = list(_lines_of(result.panels))
    columns = math.lcm(*(panel.across for panel in result.panels))
    heights = [_height(line[0], result.rows) for line in lines]
    fig = make_subplots(
        rows=len(lines),
        cols=columns,
        specs=[_specs(line, columns) for line in lines],
        row_heights=heights,
        subplot_titles=[_title(panel, result) for panel in result.panels],
        **_gaps(columns, heights),
    )
    shown = {panel.id for panel in result.panels}
    curves = dict.fromkeys(row["curve"] for row in result.rows if row["panel"] in shown)
    styles = {curve: number for number, curve in enumerate(curves)}
    for place, line in enumerate(lines, start=1):
        for number, panel in enumerate(line):
            here = {"row": place, "col": 1 + number * (columns // panel.across)}
            rows = [row for row in result.rows if row["panel"] == panel.id]
            for trace in _DRAWN[panel.kind](rows, styles):
                fig.add_trace(trace, **here)
            for row in (row for row in rows if row.get("png")):
                fig.add_layout_image(_image(row), **here)
            _axes(fig, panel, rows, here, inner=(number > 0, place < len(lines)))
    _name_once(fig)
    fig.update_layout(
        template="plotly_white",
        title=result.title,
        height=sum(heights),
        meta={"alt": result.finding},
    )
    if columns > FEW:
        fig.update_annotations(font_size=11)
    return fig


def page_figures(result: Reproduction) -> Iterator[tuple[str, go.Figure]]:
    """The panels as figures for a page as wide as its window, each with what to write above it:
    alone with its legend below it, but many small ones together, as the figure has them. On a
    logarithmic axis, curves far beyond all others do not press these together. Needs plotly."""
    for many, group in groupby(result.panels, key=lambda panel: panel.across > ALONE):
        alone = ([replace(panel, across=1)] for panel in group)
        for panels in ([*group],) if many else alone:
            fig = reproduction_figure(replace(result, panels=tuple(panels)))
            named = LINE * sum(bool(trace.showlegend) for trace in fig.data)
            lines = not many and panels[0].kind != "words" and not fig.layout.images
            fig.update_layout(
                title=None,
                height=(PLOT if lines else fig.layout.height) + 2 * MARGIN + named,
                margin={"t": MARGIN, "b": MARGIN},
                legend={"orientation": "h", "y": -0.25 if lines else -0.1, "maxheight": 1.0},
            )
            fig.update_xaxes(title_font_size=11).update_yaxes(title_font_size=11)
            fig.update_annotations(font_size=11)
            for words in (*(axis.title for axis in fig.select_xaxes()), *fig.layout.annotations):
                words.text = _wrapped(words.text or "")
            title = ""
            if not many:
                fig.layout.annotations = ()
                if panels[0].kind == "words":
                    fig.update_xaxes(side="top")  # what a column is stands above it
                else:
                    fig.layout.margin.t = LEAST_MARGIN
                title = "; ".join(filter(None, [_title(panels[0], result), *_beyond(fig)]))
                title = title[:1].upper() + title[1:]
            yield title, fig


def _beyond(fig: go.Figure) -> Iterator[str]:
    """Let a logarithmic axis end where most curves do, and say which ones lie beyond: those whose
    heights are all more than :data:`FAR` times as large or small as those of any of these."""
    if fig.layout.yaxis.type != "log":
        return
    heights = {t.name: np.array([y for y in t.y if y > 0.0]) for t in fig.data if t.y is not None}
    spans = sorted((y.min(), y.max(), name) for name, y in heights.items() if y.size)
    groups: list[list[tuple[float, float, str]]] = []
    for span in spans:
        if groups and span[0] <= FAR * max(high for _, high, _ in groups[-1]):
            groups[-1].append(span)
        else:
            groups.append([span])
    if len(groups) < 2:
        return
    most = max(groups, key=len)
    low, high = most[0][0], max(high for _, high, _ in most)
    fig.update_yaxes(range=[math.log10(low) - 0.3, math.log10(high) + 0.3])
    fig.update_yaxes(**_numbered(_decades([{"y": low}, {"y": high}])))
    for least, largest, name in (span for group in groups if group is not most for span in group):
        above = least > high
        power = math.floor(math.log10(least)) if above else math.ceil(math.log10(largest))
        yield f"{name}: {'above' if above else 'below'} {_number(10.0**power)}, beyond this axis"


@dataclass(frozen=True)
class Reading:
    """One panel to be read alone, and on lines the x at which their values are read."""

    panel: Panel
    x: float | None

    def __str__(self) -> str:
        short = self.panel.x.partition(" (")[0]
        return self.panel.title if self.x is None else f"{short} {self.x:g}"


def readings(result: Reproduction) -> list[Reading]:
    """Every panel, along x where it has lines; none where the figure is a single picture."""
    places: list[Reading] = []
    for panel in result.panels:
        rows = [row for row in result.rows if row["panel"] == panel.id and row["y"] is not None]
        along = sorted({float(row["x"]) for row in rows}) if panel.kind == "lines" else [None]
        places += [Reading(panel, x) for x in along]
    return places if len(places) > 1 else []


def reading_figure(result: Reproduction, reading: Reading) -> go.Figure:
    """The panel alone; on lines a rule at x, and the legend says each curve's value there."""
    panel = reading.panel
    rows = [row for row in result.rows if row["panel"] == panel.id]
    alone = replace(
        result,
        title=panel.title or result.title,
        rows=tuple(rows),
        panels=(replace(panel, across=1),),
    )
    fig = reproduction_figure(alone)
    if reading.x is None:
        return fig
    there = {row["curve"]: row for row in rows if float(row["x"]) == reading.x}
    curves = list(_curves(rows))
    for trace, curve in zip(fig.data, curves, strict=True):
        trace.name = f"{trace.name}: {_value(there.get(curve))}"
    ends = [row[end] for row in rows for end in ("y", "low", "high") if row[end] is not None]
    fig.add_scatter(
        x=[reading.x] * 2,
        y=[min(ends), max(ends)],
        mode="lines",
        line={"color": CLOUD, "dash": "dot"},
        name=str(reading),
    )
    return fig


def _value(row: Row | None) -> str:
    if row is None or row["y"] is None:
        return "none"
    if row["low"] is None or row["high"] is None:
        return f"{row['y']:.4g}"
    return f"{row['y']:.4g} ({row['low']:.4g} to {row['high']:.4g})"


def png(shades: Array) -> str:
    """A grey picture of ``(height, width)`` numbers in [0, 1], black to white, in base64."""
    values = np.round(GREYS * np.clip(shades, 0.0, 1.0)) * (255 // GREYS)
    lines = np.pad(values.astype(np.uint8), ((0, 0), (1, 0)))  # each begins with its filter, 0
    high, wide = shades.shape
    head = struct.pack(">IIBBBBB", wide, high, 8, 0, 0, 0, 0)
    blocks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in blocks
    ]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _lines_of(panels: Sequence[Panel]) -> Iterator[list[Panel]]:
    """Panels that stand side by side."""
    line: list[Panel] = []
    for panel in panels:
        if line and (len(line) == line[0].across or panel.across != line[0].across):
            yield line
            line = []
        line.append(panel)
    yield line


def _specs(line: Sequence[Panel], columns: int) -> list[dict[str, int] | None]:
    wide = columns // line[0].across
    cells: list[dict[str, int] | None] = []
    for _ in line:
        cells += [{"colspan": wide}, *[None] * (wide - 1)]
    return cells + [None] * (columns - len(cells))


def _height(panel: Panel, rows: Sequence[Row]) -> int:
    """Pixels of a panel; of a row of pictures those that leave them square."""
    boxes = [row["box"] for row in rows if row["panel"] == panel.id and row.get("png")]
    if boxes:
        return int(WIDTH * max(box[3] for box in boxes) / max(box[2] for box in boxes))
    whole = WORDS_HEIGHT if panel.kind == "words" else HEIGHT
    return max(LEAST_HEIGHT, int(whole / panel.across**0.75))


def _gaps(columns: int, heights: Sequence[int]) -> dict[str, float]:
    """Room between panels; little where all but the last have nothing to read below them."""
    if columns == 1 and min(heights) == HEIGHT:
        return {}
    few_words = columns > FEW or max(heights[:-1], default=0) < LEAST_HEIGHT
    between = (30.0 if few_words else 90.0) / sum(heights)
    return {
        "horizontal_spacing": (0.1 if columns > FEW else 0.2) / columns,
        "vertical_spacing": min(between, 0.5 / len(heights)),
    }


def _axes(
    fig: go.Figure,
    panel: Panel,
    rows: Sequence[Row],
    here: Mapping[str, int],
    inner: tuple[bool, bool],
) -> None:
    """Titles and scales; of many small panels only the outer ones have titles, and none numbers."""
    many = panel.across > FEW
    not_first, not_last = inner
    x: dict[str, Any] = {"title": "" if many and not_last else panel.x}
    y: dict[str, Any] = {"title": "" if panel.across > 2 and not_first else _wrapped(panel.y)}
    if any(row.get("png") for row in rows):  # pictures are never stretched
        across = fig.get_subplot(**here).xaxis.plotly_name.replace("axis", "")
        x |= {"visible": False, "constrain": "domain"}
        y |= {"visible": False, "constrain": "domain", "scaleanchor": across}
    if panel.kind == "words":
        curves = list(dict.fromkeys(row["curve"] for row in rows))
        heads = ["<br>".join(wrap(curve, HEAD)) for curve in curves]
        x |= {"tickvals": list(range(len(curves))), "ticktext": heads}
        x |= {"range": [-0.5, len(curves) - 0.5], "title": ""}
        y |= {"title": panel.x, "range": [max(float(row["x"]) for row in rows) + 0.5, 0.5]}
        y["showgrid"] = False  # a line through a word would strike it out
    if panel.kind == "bars":
        y["range"] = [0.0, 1.15 * max(float(row["y"]) for row in rows)]
    if panel.log_x and rows:  # every place that was measured, and no digit between them
        places = sorted({float(row["x"]) for row in rows})
        x |= _numbered(places)
    elif panel.kind == "lines" and (whole := _whole(rows)):
        x |= _numbered(whole)
    if panel.log_y and len(ticks := _decades(rows)) > 1:
        y |= _numbered(ticks)
    if many:
        x["showticklabels"] = y["showticklabels"] = False
    names = panel.kind == "bars"  # on a scale of numbers, bars with names are left out
    fig.update_xaxes(type="category" if names else _scale(panel.log_x), **x, **here)
    fig.update_yaxes(type=_scale(panel.log_y), **y, **here)


def _numbered(places: Sequence[float]) -> dict[str, Any]:
    """Numbers in full beside an axis, at these places; far from 1 as powers of ten."""
    return {"tickvals": list(places), "ticktext": [_number(place) for place in places]}


def _number(place: float) -> str:
    """A number beside an axis.

    >>> _number(1600.0), _number(0.02), _number(1e6), _number(1e-7)
    ('1,600', '0.02', '10⁶', '10⁻⁷')
    """
    power = round(math.log10(place)) if place > 0.0 else 0
    if not -4 < power < 6 and math.isclose(place, 10.0**power):
        return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{float(f'{place:.3g}'):,g}"


def _whole(rows: Sequence[Row]) -> list[float]:
    """The whole numbers from the first place to the last, where a few rows have only such."""
    places = sorted({float(row["x"]) for row in rows})
    if not places or any(place % 1.0 for place in places) or places[-1] - places[0] > FEW_WHOLE:
        return []
    return [float(place) for place in range(int(places[0]), int(places[-1]) + 1)]


def _decades(rows: Sequence[Row]) -> list[float]:
    """Powers of ten among the heights of some rows, at most eight; of fewer than three decades, 2
    and 5 too."""
    heights = [float(row["y"]) for row in rows if row["y"] is not None and float(row["y"]) > 0.0]
    if not heights:
        return []
    low, high = min(heights), max(heights)
    marks = (1.0,) if high > 1e3 * low else (1.0, 2.0, 5.0)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = math.ceil((last - first) / 8) or 1
    powers = (power for power in range(first, last + 1) if power % every == 0)
    places = [mark * 10.0**power for power in powers for mark in marks]
    return [place for place in places if low <= place <= high]


def _title(panel: Panel, result: Reproduction) -> str:
    """A panel's title, if the figure's does not say it; with the curves that have no point, and why
    in short."""
    title = "" if panel.title == result.title else panel.title
    rows = [row for row in result.rows if row["panel"] == panel.id]
    if panel.kind != "lines":
        return title
    absent = {row["curve"]: row["note"] for row in rows if row["curve"] not in _curves(rows)}
    short = [f"{name.partition(',')[0]}: {why.partition(':')[0]}" for name, why in absent.items()]
    return f"{title} ({'; '.join(short)})" if short else title


def _wrapped(text: str) -> str:
    """A title in lines."""
    return "<br>".join(wrap(text, LETTERS))


def _scale(log: bool) -> str:
    return "log" if log else "linear"


def _name_once(fig: go.Figure) -> None:
    """Every curve once in the legend, which shows or hides it in all panels."""
    named = set[str]()
    for trace in fig.data:
        trace.update(
            legendgroup=trace.name, showlegend=bool(trace.name) and trace.name not in named
        )
        named.add(trace.name)


def _curves(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows that have a y, by curve, along x."""
    curves: dict[str, list[Row]] = {}
    for row in sorted((r for r in rows if r["y"] is not None), key=lambda r: float(r["x"])):
        curves.setdefault(row["curve"], []).append(row)
    order = dict.fromkeys(row["curve"] for row in rows)
    return {curve: curves[curve] for curve in order if curve in curves}


def _as_lines(rows: Sequence[Row], styles: Mapping[str, int]) -> Iterator[Any]:
    """One trace for each curve, with error bars where there is a spread."""
    import plotly.graph_objects as go

    from dpcore.figures.plotly import style

    for curve, points in _curves(rows).items():
        marked = any("refused" in point["note"] for point in points)
        line, symbol = style(styles[curve])
        yield go.Scatter(
            x=[point["x"] for point in points],
            y=[point["y"] for point in points],
            error_y=_spread(points),
            mode="lines+markers",
            name=f"{curve} (refused as printed)" if marked else curve,
            text=[point["note"] for point in points],
            line=line,
            marker={"symbol": f"{symbol}{'-open' * marked}"},
        )


def _as_points(rows: Sequence[Row], styles: Mapping[str, int]) -> Iterator[Any]:
    """Clouds below, then a marker for each row; the frames of pictures have no marker."""
    import plotly.graph_objects as go

    from dpcore.figures.plotly import style

    for row in (row for row in rows if row.get("cloud")):
        x, y = np.array(row["cloud"]).T
        marker = {"color": CLOUD, "size": 3}
        yield go.Scatter(x=x, y=y, mode="markers", name=row["curve"], marker=marker)
    for row in (row for row in rows if row.get("png")):
        left, foot, right, head = row["box"]
        yield go.Scatter(x=[left, right], y=[foot, head], mode="none", text=[row["note"]] * 2)
    for curve, points in _curves(rows).items():
        line, symbol = style(styles[curve])
        yield go.Scatter(
            x=[point["x"] for point in points],
            y=[point["y"] for point in points],
            mode="markers",
            name=curve,
            text=[point["note"] for point in points],
            marker={"color": line["color"], "symbol": symbol, "size": 9},
        )


def _as_bells(rows: Sequence[Row], styles: Mapping[str, int]) -> Iterator[Any]:
    """The histogram as a filled line, then each normal density inside its reach."""
    import plotly.graph_objects as go

    from dpcore.figures.plotly import style

    counted = [row for row in rows if row.get("heights")]
    reach = np.array([row["edges"] for row in counted]).ravel()
    for row in counted:
        edges, heights = np.repeat(row["edges"], 2), np.repeat(row["heights"], 2)
        x, y = edges, np.concatenate([[0.0], heights, [0.0]])
        yield go.Scatter(
            x=x, y=y, mode="lines", fill="tozeroy", name=row["curve"], line={"color": CLOUD}
        )
    low, high = (reach.min(), reach.max()) if reach.size else (-math.inf, math.inf)
    margin = 0.15 * (high - low) if reach.size else 0.0
    for curve, (row, *_) in _curves(rows).items():
        mean, spread = float(row["x"]), float(row["y"])
        ends = (max(low - margin, mean - REACH * spread), min(high + margin, mean + REACH * spread))
        if ends[0] >= ends[1]:  # all of it lies outside the picture
            continue
        x = np.linspace(*ends, CORNERS)
        y = np.exp(-0.5 * ((x - mean) / spread) ** 2) / (spread * math.sqrt(2.0 * math.pi))
        line, _ = style(styles[curve])
        yield go.Scatter(
            x=x, y=y, mode="lines", name=curve, line=line, text=[row["note"]] * CORNERS
        )


def _as_bars(rows: Sequence[Row], styles: Mapping[str, int]) -> Iterator[Any]:
    """A bar for each row, with its name and height."""
    import plotly.graph_objects as go

    from dpcore.figures.plotly import style

    for curve, points in _curves(rows).items():
        heights = [point["y"] for point in points]
        names = [point["note"] for point in points]
        texts = [f"{y:g}" for y in heights]
        colour = style(styles[curve])[0]["color"]
        yield go.Bar(x=names, y=heights, text=texts, textposition="outside", marker_color=colour)


def _as_words(rows: Sequence[Row], styles: Mapping[str, int]) -> Iterator[Any]:
    """A column of ranked words for each curve."""
    import plotly.graph_objects as go

    for place, points in enumerate(_curves(rows).values()):
        yield go.Scatter(
            x=[place] * len(points),
            y=[point["x"] for point in points],
            text=[f"{point['note']}  {point['y']:.3f}" for point in points],
            mode="text",
            textposition="middle center",
        )


_DRAWN = {
    "lines": _as_lines,
    "points": _as_points,
    "bells": _as_bells,
    "bars": _as_bars,
    "words": _as_words,
}


def _image(row: Row) -> dict[str, Any]:
    left, foot, right, head = row["box"]
    return {
        "source": f"data:image/png;base64,{row['png']}",
        "x": left,
        "y": head,
        "sizex": right - left,
        "sizey": head - foot,
        "xref": "x",
        "yref": "y",
        "sizing": "stretch",
        "layer": "below",
    }


def _spread(points: Sequence[Row]) -> dict[str, Any] | None:
    if any(point["low"] is None or point["high"] is None for point in points):
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [point["high"] - point["y"] for point in points],
        "arrayminus": [point["y"] - point["low"] for point in points],
        "thickness": 1,
    }
