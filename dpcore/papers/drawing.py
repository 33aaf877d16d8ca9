"""A reproduction as a Plotly figure: lines with their spread, one dash and marker a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.papers.claims import Row
from dpcore.papers.reproduction import Panel, Reproduction

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 520  # of a panel, pixels


def reproduction_figure(found: Reproduction) -> go.Figure:
    """All panels below one another; the finding is the alt text. Needs the package plotly."""
    from plotly.subplots import make_subplots

    fig = make_subplots(
        rows=len(found.panels),
        cols=1,
        subplot_titles=[
            "" if panel.title == found.title else panel.title for panel in found.panels
        ],
    )
    for place, panel in enumerate(found.panels, start=1):
        for trace in _lines(found.rows, panel):
            fig.add_trace(trace, row=place, col=1)
        fig.update_xaxes(title=panel.x, type=_scale(panel.log_x), row=place, col=1)
        fig.update_yaxes(title=panel.y, type=_scale(panel.log_y), row=place, col=1)
    fig.update_layout(
        template="plotly_white",
        title=found.title,
        height=HEIGHT * len(found.panels),
        meta={"alt": found.finding},
    )
    return fig


def _scale(log: bool) -> str:
    return "log" if log else "linear"


def _lines(rows: tuple[Row, ...], panel: Panel) -> list[Any]:
    """One trace for each curve of a panel, with error bars where there is a spread."""
    import plotly.graph_objects as go

    from dpcore.figures.plotly import style

    here = [row for row in rows if row["panel"] == panel.id and row["y"] is not None]
    traces = []
    for number, curve in enumerate(dict.fromkeys(row["curve"] for row in here)):
        points = sorted((r for r in here if r["curve"] == curve), key=lambda r: float(r["x"]))
        marked = any("refused" in point["note"] for point in points)
        line, symbol = style(number)
        traces.append(
            go.Scatter(
                x=[point["x"] for point in points],
                y=[point["y"] for point in points],
                error_y=_spread(points),
                mode="lines+markers",
                name=f"{curve} (refused as printed)" if marked else curve,
                text=[point["note"] for point in points],
                line=line,
                marker={"symbol": f"{symbol}{'-open' * marked}"},
            )
        )
    return traces


def _spread(points: list[Row]) -> dict[str, Any] | None:
    if any(point["low"] is None or point["high"] is None for point in points):
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [point["high"] - point["y"] for point in points],
        "arrayminus": [point["y"] - point["low"] for point in points],
        "thickness": 1,
    }
