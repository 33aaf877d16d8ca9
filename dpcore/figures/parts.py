"""What each number of parts buys: the pictures of one study for each number, as frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dpcore.evaluation.study import BudgetGrid, References
from dpcore.evaluation.yardstick import metric_of
from dpcore.figures.frames import Frames, frozen_panel, greyed
from dpcore.figures.scene import Axis, Cursor, Curve, Panel, Scene
from dpcore.figures.utility_curve import CURVE

WIDE = 12  # parts from which not every number has room for its label
ROUND = (1, 2, 3, 5, 10, 20, 30, 50)  # those that have


def parts_frames(
    stills: Mapping[int, Scene], fitted: Mapping[int, tuple[BudgetGrid, References]]
) -> Frames:
    """A frame for each number of parts; where its fit is missing, the nearest that is there stands
    in its place, greyed.

    stills: a scene of one step for each number of the slider, in order, of those too that have no
    fit. fitted: what the others draw, a grid of one stop.
    """
    stops = tuple(stills)
    nearest = [min(fitted, key=lambda count: (abs(np.log(count / stop)), count)) for stop in stops]
    curve = _curve(stills, fitted)
    texts = {name for still in stills.values() for name in still.live_text}
    live_text = {
        name: tuple(still.live_text.get(name, ("",))[0] for still in stills.values())
        for name in texts
    }

    def panel_of(place: int, own: Panel, shown: Panel) -> Panel:
        own, at = frozen_panel(own, 0), stops.index(nearest[place])
        if at == place:
            return own
        layers, late = frozen_panel(shown, 0), greyed(stills[stops[place]].symbol, str(stops[at]))
        return replace(
            layers,
            subtitle=f"{own.subtitle} · {late}" if own.id == "exact" else late,
            alt=f"{own.alt} Shown instead, greyed: {layers.alt}",
            nearest=tuple(at if step == place else step for step in range(len(stops))),
        )

    def frame(place: int) -> Scene:
        own, shown = stills[stops[place]], stills[nearest[place]]
        panels = zip(own.panels, shown.panels, strict=True)
        return replace(
            own,
            steps=stops,
            step_labels=tuple(map(str, stops)),
            panels=(*(panel_of(place, *pair) for pair in panels if pair[0].id != CURVE), curve),
            live_text=live_text,
            step=place,
            positions=None,
        )

    return Frames(tuple(map(frame, range(len(stops)))))


def _curve(
    stills: Mapping[int, Scene], fitted: Mapping[int, tuple[BudgetGrid, References]]
) -> Panel:
    """Median utility of private fits over their draws, with a band that holds 8 of 10, and that of
    the exact fit, against the number of parts."""
    stops = tuple(stills)
    grid, _ = next(iter(fitted.values()))
    sign = -1.0 if metric_of(grid.model, grid.metric).falls else 1.0  # a study turns what falls
    counts = np.array(sorted(fitted), dtype=float)
    bands = [np.quantile(sign * fitted[int(n)][0].utility[0], [0.1, 0.5, 0.9]) for n in counts]
    low, middle, high = np.transpose(bands)
    best = sign * np.array([fitted[int(count)][1].converged_utility for count in counts])
    held = np.concatenate([middle, best])
    room = 0.1 * (float(np.ptp(held)) or 1.0)
    curves = [_curve_of(still) for still in stills.values()]
    now = np.array([middle[list(counts).index(n)] if n in fitted else np.nan for n in stops])
    return replace(
        curves[0],
        subtitle=tuple(str(curve.subtitle) for curve in curves),
        alt=tuple(str(curve.alt) for curve in curves),
        x=_axis(curves[0].x.label, stops),
        y=Axis(curves[0].y.label, (held.min() - room, held.max() + room)),
        layers=(
            Curve(counts, best, colour=5, dash=2, label="exact fit", name="exact fit"),
            Curve(
                counts, middle, lo=low, hi=high, label="private fit", name="private fit", bold=True
            ),
            Cursor(np.array(stops, dtype=float), now),
        ),
    )


def _curve_of(still: Scene) -> Panel:
    return frozen_panel(next(panel for panel in still.panels if panel.id == CURVE), 0)


def _axis(label: str, stops: tuple[int, ...]) -> Axis:
    """Many numbers stand on a log axis: the first ones differ most."""
    first, last = stops[0], max(2, stops[-1])
    if last > WIDE:
        ticks = tuple(float(stop) for stop in ROUND if first <= stop <= last)
        return Axis(label, (0.9 * first, 1.1 * last), scale="log", ticks=ticks)
    return Axis(label, (first - 0.5, last + 0.5), ticks=tuple(map(float, stops)))
