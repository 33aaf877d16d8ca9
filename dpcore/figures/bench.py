"""Speed against peers as a Plotly page: ratios, growth with size, and the history of both.

Takes rows and runs as :mod:`dpcore.bench` gives them. Colours and dashes say the same thing twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpcore.figures.scene import PALETTE_LIGHT

if TYPE_CHECKING:
    import plotly.graph_objects as go

Row = Mapping[str, Any]
PER_BAR, AROUND = 26, 130  # pixels of a bar, and of all else
LONGEST = 90  # letters of a case beside its bar
SIDES = (("ours", "ours_seconds", "solid", "circle"), ("peer", "peer_seconds", "dash", "square"))


def ratio_figure(rows: Sequence[Row]) -> go.Figure:
    """One bar a case: how many times as fast as its peer; left of 1 the peer is faster."""
    import plotly.graph_objects as go

    compared = [row for row in rows if _positive(row["ratio"])]
    names = [_short(_named(row)) for row in compared]
    ratios = [row["ratio"] for row in compared]
    colours = [PALETTE_LIGHT[0 if ratio >= 1.0 else 1] for ratio in ratios]
    bars = go.Bar(
        y=list(range(len(compared))),  # two long names may be cut to the same one
        x=[math.log10(ratio) for ratio in ratios],
        orientation="h",
        marker={"color": colours, "pattern": {"shape": ["" if r >= 1.0 else "/" for r in ratios]}},
        text=[f"{ratio:.3g}" for ratio in ratios],
        textposition="auto",
        hovertext=[f"{_named(row)}: {_seconds(row)}" for row in compared],
        hoverinfo="text",
    )
    ticks = [digit * 10.0**power for power in range(*_decades(ratios)) for digit in (1, 2, 5)]
    fig = go.Figure(bars)
    fig.update_xaxes(
        title="peer's seconds / ours (right of 1: ours is faster)",
        tickvals=[math.log10(tick) for tick in ticks],
        ticktext=[f"{tick:g}" for tick in ticks],
    )
    fig.update_yaxes(
        autorange="reversed", automargin=True, tickvals=list(range(len(compared))), ticktext=names
    )
    slow = sum(ratio < 1.0 for ratio in ratios)
    alt = f"{len(ratios)} cases: ours is faster in {len(ratios) - slow}, the peer in {slow}."
    return _dressed(fig, "Ratios to peers", AROUND + PER_BAR * len(compared), alt)


def growth_figure(rows: Sequence[Row]) -> go.Figure | None:
    """Seconds against size, one panel for each curve and axis; ``None`` where no row is of one."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    points = [row for row in rows if "curve" in row]
    if not points:
        return None
    curves, axes = _distinct(points, "curve"), _distinct(points, "axis")
    titles = [f"{curve}: {axis}" for curve in curves for axis in axes]
    fig = make_subplots(rows=len(curves), cols=len(axes), subplot_titles=titles)
    for i, curve in enumerate(curves, start=1):
        for j, axis in enumerate(axes, start=1):
            here = [row for row in points if (row["curve"], row["axis"]) == (curve, axis)]
            for at, (side, seconds, dash, symbol) in enumerate(SIDES):
                line = go.Scatter(
                    x=[row["size"] for row in here],
                    y=[row[seconds] if _positive(row[seconds]) else None for row in here],
                    name=side,
                    mode="lines+markers",
                    line={"color": PALETTE_LIGHT[at], "dash": dash},
                    marker={"symbol": symbol},
                    showlegend=i == j == 1,
                )
                fig.add_trace(line, row=i, col=j)
            fig.update_xaxes(title=f"number of {axis}", type="log", row=i, col=j)
    fig.update_yaxes(type="log")
    fig.update_yaxes(title="seconds", col=1)
    grow = " or ".join(axes)
    alt = (
        f"Seconds taken by dpcore and the peer as the number of {grow} grows: {', '.join(curves)}."
    )
    return _dressed(fig, "Growth", 320 * len(curves), alt)


def history_figure(runs: Sequence[Mapping[str, Any]]) -> go.Figure | None:
    """Ratios of each case over the runs; ``None`` where fewer than two are known."""
    import plotly.graph_objects as go

    from dpcore.figures.plotly import style

    if len(runs) < 2:
        return None
    by_case: dict[str, list[tuple[str, float]]] = {}
    for run in runs:
        for row in run["rows"]:
            if _positive(row["ratio"]):
                by_case.setdefault(_named(row), []).append((run["date"], row["ratio"]))
    fig = go.Figure()
    for at, (name, dated) in enumerate(by_case.items()):
        line, symbol = style(at)
        dates, ratios = zip(*dated, strict=True)
        fig.add_scatter(
            x=dates,
            y=ratios,
            name=_short(name),
            mode="lines+markers",
            line=line,
            marker={"symbol": symbol},
        )
    fig.update_xaxes(title="date of the run")
    fig.update_yaxes(title="peer's seconds / ours", type="log")
    fig.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.2})
    alt = f"The peers' seconds divided by ours, for {len(by_case)} cases in {len(runs)} runs."
    return _dressed(fig, "History", 520 + 20 * len(by_case), alt)


def _dressed(fig: go.Figure, title: str, height: int, alt: str) -> go.Figure:
    fig.update_layout(template="plotly_white", title=title, height=height, meta={"alt": alt})
    return fig


def _named(row: Row) -> str:
    return f"{row['bench']}: {row['case']}, {row['per']} ({row['peer']})"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _seconds(row: Row) -> str:
    return f"ours {row['ours_seconds']:.3g} s, peer {row['peer_seconds']:.3g} s per {row['per']}"


def _distinct(rows: Sequence[Row], name: str) -> list[str]:
    return list(dict.fromkeys(str(row[name]) for row in rows))


def _decades(ratios: Sequence[float]) -> tuple[int, int]:
    """Powers of ten around all ratios and 1, for ``range``."""
    logs = [0.0, *map(math.log10, ratios)]
    return math.floor(min(logs)), math.ceil(max(logs)) + 1


def _positive(number: Any) -> bool:
    return isinstance(number, float | int) and math.isfinite(number) and number > 0
