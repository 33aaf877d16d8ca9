"""A Plotly figure as a still picture: a small SVG text that shows where no program runs.

Lines, markers, bands, words, bars, heat maps and pictures, on linear and logarithmic axes; names
and dates stand side by side in their order; of a figure with a slider the step that it shows.
Nothing but numbers, colours and words of the figure gets into it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.figures.scene import PALETTE_LIGHT

if TYPE_CHECKING:
    import plotly.graph_objects as go


WIDTH = 860
LEFT, RIGHT, TOP, BOTTOM = 70, 40, 56, 60
LEGEND_LINE = 18
CHARACTER = 6.2  # width of one at 12 pixels, roughly
MOST_CELLS = 10_000  # of a heat map, each a rectangle
SMALLEST = 3  # pixels of a marker that is one of a cloud
MOST_MARKED = 40  # points of a line beyond which its dash alone tells it from others
GRID, INK = "#DDE3E8", "#22303C"
DASHES = {
    "solid": "",
    "dash": "8 5",
    "dot": "2 4",
    "dashdot": "8 4 2 4",
    "longdash": "14 5",
    "longdashdot": "14 4 2 4",
}


def _round_step(rough: float) -> float:
    """The next of 1, 2, 5 times a power of ten.

    >>> _round_step(0.13), _round_step(7.0)
    (0.2, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next(mark * power for mark in (1.0, 2.0, 5.0, 10.0) if mark * power >= rough)


@dataclass(frozen=True)
class _Axis:
    """Positions on the page from numbers: low, high in the axis's own scale (powers of ten if
    log). names: what stands at 0, 1, ... where it is no numbers."""

    log: bool
    low: float
    high: float
    start: float
    end: float
    names: tuple[str, ...] = ()

    def place(self, values: Any) -> Array:
        """Pixels; NaN where a value has no place."""
        numbers = _as_numbers(values)
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.log10(numbers) if self.log else numbers
        share = (scaled - self.low) / ((self.high - self.low) or 1.0)
        return np.asarray(self.start + share * (self.end - self.start))

    def ticks(self) -> list[float]:
        """Round numbers inside the range."""
        low, high = sorted((self.low, self.high))
        if not self.log:
            step = _round_step((high - low or 1.0) / 5.0)
            first = math.ceil(low / step - 1e-9)
            return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
        marks = (1.0,) if high - low > 2.0 else (1.0, 2.0, 5.0)
        powers = range(math.floor(low), math.ceil(high) + 1)
        ticks = [mark * 10.0**power for power in powers for mark in marks]
        return [t for t in ticks if low - 1e-9 <= math.log10(t) <= high + 1e-9]


def _as_numbers(values: Any) -> Array:
    """Numbers; of names and dates their places."""
    cells = () if values is None else values
    return np.asarray(cells if _are_numbers(cells) else range(len(cells)), dtype=float)


def _are_numbers(values: Any) -> bool:
    try:
        np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return False
    return True


def still(figure: go.Figure) -> str:
    """The figure as SVG; its alt text (``meta["alt"]``, or one for each panel) is the title.

    >>> import plotly.graph_objects as go
    >>> picture = still(go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name="a line")))
    >>> picture.startswith("<svg"), "a line" in picture
    (True, True)
    """
    names = _named(figure)
    legend = LEGEND_LINE * len(_legend_rows(names))
    height = int(figure.layout.height or 420)
    parts = [
        _words(WIDTH / 2, 22, figure.layout.title.text or "", size=15, anchor="middle"),
        *(_title(annotation, height) for annotation in _titles(figure)),
    ]
    for key in _panels(figure):
        parts += _panel(figure, key, height)
    parts += _legend(names, height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + legend}" '
        f'width="{WIDTH}" height="{height + legend}" font-family="sans-serif" role="img">'
        f"<title>{escape(alt_text(figure))}</title>"
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'
    )


def alt_text(figure: go.Figure) -> str:
    """What the figure says in words."""
    meta = figure.layout.meta
    if isinstance(meta, dict):
        return " ".join(str(text) for text in meta.values() if text)
    return str(figure.layout.title.text or "A figure.")


def _panels(figure: go.Figure) -> list[tuple[str, str]]:
    """Pairs of axes that hold something."""
    pairs = [(trace.xaxis or "x", trace.yaxis or "y") for trace in figure.data]
    return list(dict.fromkeys(pairs))


def _panel(figure: go.Figure, key: tuple[str, str], height: int) -> list[str]:
    here = [t for t in figure.data if (t.xaxis or "x", t.yaxis or "y") == key]
    across, down = (_layout_axis(figure, name) for name in key)
    wide, high = WIDTH - LEFT - RIGHT, height - TOP - BOTTOM
    left, right = ((across.domain or (0.0, 1.0))[i] * wide + LEFT for i in (0, 1))
    foot, head = (TOP + (1.0 - (down.domain or (0.0, 1.0))[i]) * high for i in (0, 1))
    x, y = _axis(across, here, "x", left, right), _axis(down, here, "y", foot, head)
    clip = f"clip-{left:.0f}-{head:.0f}-{right:.0f}-{foot:.0f}"  # one id, one frame, on any page
    parts = [*_frame(across, down, x, y)]
    parts += [
        _picture(image, x, y) for image in figure.layout.images if (image.xref, image.yref) == key
    ]
    parts.append(
        f'<clipPath id="{clip}"><rect x="{left:.1f}" y="{head:.1f}" width="{right - left:.1f}" '
        f'height="{foot - head:.1f}"/></clipPath><g clip-path="url(#{clip})">'
    )
    for trace in here:
        parts += _drawn(trace, x, y)
    return [*parts, "</g>"]


def _layout_axis(figure: go.Figure, name: str) -> Any:
    return figure.layout[f"{name[0]}axis{name[1:]}"]


def _axis(layout: Any, traces: Sequence[Any], field: str, start: float, end: float) -> _Axis:
    log, names = layout.type == "log", _names(traces, field)
    if layout.range is not None:
        return _Axis(log, float(layout.range[0]), float(layout.range[1]), start, end, names)
    numbers = np.concatenate([*(_reach(trace, field) for trace in traces), np.empty(0)])
    numbers = numbers[np.isfinite(numbers) & ((numbers > 0.0) if log else True)]
    numbers = np.log10(numbers) if log else numbers
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)
    margin = 0.05 * ((high - low) or 1.0)
    return _Axis(log, low - margin, high + margin, start, end, names)


def _names(traces: Sequence[Any], field: str) -> tuple[str, ...]:
    """The names along an axis, if any; lying bars bring theirs themselves."""
    for trace in traces:
        upright = trace.type == "bar" and trace.orientation != "h"
        values = getattr(trace, field) if trace.type == "scatter" or upright else None
        if values is not None and not _are_numbers(values):
            return tuple(map(str, values))
    return ()


def _reach(trace: Any, field: str) -> Array:
    """What an axis must hold of a trace; bars count from 0, cells from their middles."""
    if trace.type == "heatmap":
        size = np.shape(trace.z)[1 if field == "x" else 0]
        return np.array([-0.5, size - 0.5])
    values = getattr(trace, field)
    numbers = _as_numbers(values)
    if trace.type != "bar":
        return numbers
    flat = trace.orientation == "h"
    if field == ("y" if flat else "x"):
        return np.array([-0.5, len(numbers) - 0.5])
    return np.append(numbers, 0.0)


def _frame(across: Any, down: Any, x: _Axis, y: _Axis) -> Iterator[str]:
    """Grid, ticks and names of both axes."""
    if across.visible is not False:
        for value, words in _ticks(across, x):
            at = float(x.place(value))
            yield _stroke(at, y.start, at, y.end, GRID)
            for line, text in enumerate(words.split("<br>")):
                yield _words(at, y.start + 16 + 12 * line, text, anchor="middle")
        middle = (x.start + x.end) / 2
        yield _words(middle, y.start + 36, across.title.text or "", anchor="middle")
    if down.visible is not False:
        for value, words in _ticks(down, y):
            at = float(y.place(value))
            yield _stroke(x.start, at, x.end, at, GRID)
            yield _words(x.start - 6, at + 4, words, anchor="end")
        middle = (y.start + y.end) / 2
        yield _words(x.start - 50, middle, down.title.text or "", anchor="middle", turned=True)


def _ticks(layout: Any, axis: _Axis) -> Iterator[tuple[float, str]]:
    if layout.showticklabels is False:
        return
    values = axis.ticks() if layout.tickvals is None else [float(v) for v in layout.tickvals]
    words = layout.ticktext
    if axis.names and layout.tickvals is None:
        values, words = list(map(float, range(len(axis.names)))), axis.names
    for i, value in enumerate(values):
        yield value, f"{value:.6g}" if words is None else str(words[i])


def _drawn(trace: Any, x: _Axis, y: _Axis) -> Iterator[str]:
    if trace.type == "heatmap":
        yield from _cells(trace, x, y)
    elif trace.type == "bar":
        yield from _bars(trace, x, y)
    else:
        yield from _points(trace, x, y)


def _points(trace: Any, x: _Axis, y: _Axis) -> Iterator[str]:
    """A line with its band, error bars, markers and words, as its mode says."""
    at_y = y.place(trace.y)
    at_x = x.place(range(len(at_y)) if trace.x is None else trace.x)
    colour, opacity = _colour(trace), trace.opacity or 1.0
    mode = trace.mode or "lines"
    if trace.fill:
        yield f'<path d="{_path(at_x, at_y)}Z" fill="{colour}" opacity="{opacity:g}"/>'
        return
    if "lines" in mode:
        dash = DASHES.get(trace.line.dash or "solid", "")
        wide = 2.0 if trace.line.width is None else trace.line.width
        yield (
            f'<path d="{_path(at_x, at_y)}" fill="none" stroke="{colour}" stroke-width="{wide:g}" '
            f'stroke-dasharray="{dash}" opacity="{opacity:g}"/>'
        )
    yield from _errors(trace, at_x, y, colour)
    if "markers" in mode and ("lines" not in mode or len(at_x) <= MOST_MARKED):
        size = trace.marker.size if isinstance(trace.marker.size, int | float) else 7
        faint = opacity * (trace.marker.opacity or 1.0)
        spread = trace.marker.color
        if size <= SMALLEST and not isinstance(spread, list | tuple):  # one path for a cloud
            yield (
                f'<path d="{_dots(at_x, at_y)}" stroke="{colour}" stroke-width="{size:g}" '
                f'stroke-linecap="round" opacity="{faint:g}"/>'
            )
            return
        own = spread if isinstance(spread, list | tuple) else [colour] * len(at_x)
        for here_x, here_y, shade in zip(at_x, at_y, own, strict=False):
            if math.isfinite(here_x) and math.isfinite(here_y):
                yield (
                    f'<circle cx="{here_x:.1f}" cy="{here_y:.1f}" r="{size / 2:g}" '
                    f'fill="{shade}" opacity="{faint:g}"/>'
                )
    if "text" in mode and trace.text is not None:
        texts = [trace.text] * len(at_x) if isinstance(trace.text, str) else trace.text
        for here_x, here_y, text in zip(at_x, at_y, texts, strict=False):
            if math.isfinite(here_x) and math.isfinite(here_y):
                ends = "end" if here_x > (x.start + x.end) / 2 else "start"
                ends = "middle" if trace.textposition == "middle center" else ends
                yield _words(here_x, here_y - 4, text, size=11, anchor=ends)


def _errors(trace: Any, at_x: Array, y: _Axis, colour: str) -> Iterator[str]:
    if trace.error_y.array is None:
        return
    numbers = np.asarray(trace.y, dtype=float)
    up = y.place(numbers + np.asarray(trace.error_y.array, dtype=float))
    less = trace.error_y.arrayminus
    less = trace.error_y.array if less is None else less
    down = y.place(numbers - np.asarray(less, dtype=float))
    for here, upper, lower in zip(at_x, up, down, strict=True):
        if math.isfinite(upper) and math.isfinite(lower):
            yield _stroke(here, upper, here, lower, colour)


def _bars(trace: Any, x: _Axis, y: _Axis) -> Iterator[str]:
    """Bars along one axis from 0, named at their ends."""
    flat = trace.orientation == "h"
    values = _as_numbers(trace.x if flat else trace.y)
    names = trace.y if flat else trace.x
    along, over = (x, y) if flat else (y, x)
    colours = trace.marker.color
    for i, (value, name) in enumerate(zip(values, names, strict=True)):
        low, high = sorted((float(along.place(0.0)), float(along.place(value))))
        if not (math.isfinite(low) and math.isfinite(high)):
            continue
        near, far = sorted(float(over.place(i + d)) for d in (-0.4, 0.4))
        box = (low, near, high - low, far - near) if flat else (near, low, far - near, high - low)
        shade = colours[i] if isinstance(colours, list | tuple) else colours or PALETTE_LIGHT[0]
        yield _box(*box, shade)
        text = trace.text[i] if trace.text is not None else f"{value:.4g}"
        middle = (near + far) / 2
        if flat:
            yield _words(x.start + 4, middle + 4, f"{name}: {text}", size=11)
        else:
            yield _words(middle, low - 4, text, size=11, anchor="middle")


def _cells(trace: Any, x: _Axis, y: _Axis) -> Iterator[str]:
    """Cells between the colours of the scale's ends and middle; a large map is thinned."""
    values = np.asarray(trace.z, dtype=float)
    skip = max(1, math.ceil(math.sqrt(values.size / MOST_CELLS)))
    finite = values[np.isfinite(values)]
    if not finite.size:
        return
    low = float(finite.min() if trace.zmin is None else trace.zmin)
    high = float(finite.max() if trace.zmax is None else trace.zmax)
    for i in range(0, values.shape[0], skip):
        for j in range(0, values.shape[1], skip):
            if math.isfinite(values[i, j]):
                left, right = x.place([j - 0.5, j + skip - 0.5])
                foot, head = y.place([i - 0.5, i + skip - 0.5])
                share = (values[i, j] - low) / ((high - low) or 1.0)
                size = (right - left + 0.3, foot - head + 0.3)
                yield _box(left, head, *size, _blend(trace.colorscale, share))


def _blend(scale: Any, share: float) -> str:
    """A colour of a scale of hexadecimal colours, at a share of its length."""
    stops = [(0.0, "#FFFFFF"), (1.0, "#0072B2")]
    if scale is not None and all(str(colour).startswith("#") for _, colour in scale):
        stops = [(float(at), str(colour)) for at, colour in scale]
    places = [at for at, _ in stops]
    parts = [[int(colour[i : i + 2], 16) for _, colour in stops] for i in (1, 3, 5)]
    mixed = (int(np.interp(share, places, part)) for part in parts)
    return "#" + "".join(f"{part:02X}" for part in mixed)


def _path(x: Array, y: Array) -> str:
    """Moves and lines; a gap where a number is missing."""
    words, pen = [], False
    for across, down in zip(x, y, strict=True):
        finite = math.isfinite(across) and math.isfinite(down)
        if finite:
            words.append(f"{'L' if pen else 'M'}{across:.1f} {down:.1f}")
        pen = finite
    return "".join(words)


def _dots(x: Array, y: Array) -> str:
    """A dot at each place."""
    pairs = zip(x, y, strict=True)
    return "".join(f"M{a:.1f} {b:.1f}h0" for a, b in pairs if math.isfinite(a) and math.isfinite(b))


def _colour(trace: Any) -> str:
    line = trace.line.color if trace.line is not None else None
    marker = trace.marker.color if trace.marker is not None else None
    colour = line or (marker if isinstance(marker, str) else None)
    return colour or PALETTE_LIGHT[0]


def _named(figure: go.Figure) -> dict[str, Any]:
    """The first trace of each name that the legend shows."""
    if figure.layout.showlegend is False:
        return {}
    traces: dict[str, Any] = {}
    for trace in figure.data:
        if trace.name and trace.showlegend is not False:
            traces.setdefault(trace.name, trace)
    return traces


def _legend_rows(names: dict[str, Any]) -> list[list[str]]:
    rows: list[list[str]] = []
    room = 0.0
    for name in names:
        need = 44 + CHARACTER * len(name)
        if not rows or need > room:
            rows.append([])
            room = WIDTH - LEFT - RIGHT
        rows[-1].append(name)
        room -= need
    return rows


def _legend(names: dict[str, Any], height: int) -> Iterator[str]:
    """A sample of each line with its name, below the axes."""
    for number, row in enumerate(_legend_rows(names)):
        x, y = float(LEFT), height + LEGEND_LINE * number + 4.0
        for name in row:
            trace = names[name]
            dash = DASHES.get((trace.line.dash if trace.line is not None else "") or "solid", "")
            yield _stroke(x, y - 4, x + 26, y - 4, _colour(trace), dash)
            yield _words(x + 32, y, name)
            x += 44 + CHARACTER * len(name)


def _titles(figure: go.Figure) -> list[Any]:
    """Titles of panels: the notes that are placed on the page, not on an axis."""
    return [
        annotation
        for annotation in figure.layout.annotations
        if annotation.xref == "paper" and annotation.text
    ]


def _picture(image: Any, x: _Axis, y: _Axis) -> str:
    """A picture stretched over its box; shades and all are in its address."""
    left, right = x.place([image.x, image.x + image.sizex])
    head, foot = y.place([image.y, image.y - image.sizey])
    return (
        f'<image x="{left:.1f}" y="{head:.1f}" width="{right - left:.1f}" '
        f'height="{foot - head:.1f}" preserveAspectRatio="none" href="{escape(image.source)}"/>'
    )


def _title(note: Any, height: int) -> str:
    x = LEFT + note.x * (WIDTH - LEFT - RIGHT)
    y = TOP + (1.0 - note.y) * (height - TOP - BOTTOM) - 6
    text = note.text.replace("<b>", "").replace("</b>", "")
    return _words(x, y, text, size=min(13, note.font.size or 13), anchor="middle")


def _words(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 12,
    anchor: str = "start",
    turned: bool = False,
) -> str:
    if not text:
        return ""
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    plain = escape(str(text).replace("<br>", " "))
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{INK}" '
        f'text-anchor="{anchor}"{turn}>{plain}</text>'
    )


def _stroke(x: float, y: float, to_x: float, to_y: float, colour: str, dash: str = "") -> str:
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}" '
        f'stroke-dasharray="{dash}"/>'
    )


def _box(x: float, y: float, wide: float, high: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{colour}"/>'
