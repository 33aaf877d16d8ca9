"""What each number of parts buys: the pictures of one study for each number, as frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dpcore.evaluation.study import BudgetGrid, References
from dpcore.evaluation.yardstick import metric_of
from dpcore.figures.frames import Frames, frozen_panel
from dpcore.figures.scene import Axis, Cursor, Curve, Panel, Scene
from dpcore.figures.utility_curve import CURVE

WIDE = 12  # parts from which not every number has room for its label
ROUND = (1, 2, 3, 5, 10, 20, 30, 50)  # those that have


def parts_frames(
    stills: Mapping[int, Scene],
    fitted: Mapping[int, tuple[BudgetGrid, References]],
    stops: tuple[int, ...],
    missing: Mapping[int, str],
) -> Frames:
    """A frame for each number of parts; where one is missing, the nearest that is there stands in
    its place, greyed.

    stills: a scene of one step for each number that was fitted. fitted: what is drawn there, a grid
    of one stop. stops: all numbers of the slider. missing: why the others have no fit.
    """
    nearest = {
        stop: min(stills, key=lambda there: (abs(np.log(there / stop)), there)) for stop in stops
    }
    curve = _curve(stills, fitted, stops, nearest)
    texts = {name for still in stills.values() for name in still.live_text}

    def text_for(name: str, stop: int) -> str:
        return stills[nearest[stop]].live_text.get(name, ("",))[0]

    live_text = {name: tuple(text_for(name, stop) for stop in stops) for name in texts}
    live_text["sentence"] = tuple(
        text if stop in stills else missing[stop]
        for stop, text in zip(stops, live_text["sentence"], strict=True)
    )

    def frame(place: int) -> Scene:
        stop = stops[place]
        panels = tuple(
            _held(frozen_panel(panel, 0), stops, place, nearest[stop])
            for panel in stills[nearest[stop]].panels
            if panel.id != CURVE
        )
        return Scene(
            steps=stops,
            step_labels=tuple(map(str, stops)),
            panels=(*panels, curve),
            live_text=live_text,
            step=place,
            symbol=next(iter(stills.values())).symbol,
        )

    return Frames(tuple(map(frame, range(len(stops)))))


def _held(panel: Panel, stops: tuple[int, ...], place: int, shown: int) -> Panel:
    """A panel that stands in for one that is missing says so."""
    if stops[place] == shown:
        return panel
    steps = range(len(stops))
    return replace(
        panel,
        subtitle=f"greyed: {shown}, the nearest number so far",
        alt=f"Still to come. Shown instead, greyed: {panel.alt}",
        nearest=tuple(stops.index(shown) if step == place else step for step in steps),
    )


def _curve(
    stills: Mapping[int, Scene],
    fitted: Mapping[int, tuple[BudgetGrid, References]],
    stops: tuple[int, ...],
    nearest: Mapping[int, int],
) -> Panel:
    """Median utility of private fits over their draws, with a band that holds 8 of 10, and that of
    the exact fit, against the number of parts."""
    grid, _ = next(iter(fitted.values()))
    sign = -1.0 if metric_of(grid.model, grid.metric).falls else 1.0  # a study turns what falls
    counts = np.array(sorted(fitted), dtype=float)
    bands = [np.quantile(sign * fitted[int(n)][0].utility[0], [0.1, 0.5, 0.9]) for n in counts]
    low, middle, high = np.transpose(bands)
    best = sign * np.array([fitted[int(count)][1].converged_utility for count in counts])
    held = np.concatenate([middle, best])
    held = held[np.isfinite(held)]
    room = 0.1 * (float(np.ptp(held)) or 1.0)
    curves = {stop: _curve_of(stills[nearest[stop]]) for stop in stops}
    places = {int(count): float(value) for count, value in zip(counts, middle, strict=True)}
    usual = curves[stops[0]]
    return replace(
        usual,
        subtitle=tuple(str(curves[stop].subtitle) if stop in stills else "" for stop in stops),
        alt=tuple(str(curves[stop].alt) for stop in stops),
        x=_axis(usual.x.label, stops),
        y=Axis(usual.y.label, (held.min() - room, held.max() + room)),
        layers=(
            Curve(counts, best, colour=5, dash=2, label="exact fit", name="exact fit"),
            Curve(
                counts, middle, lo=low, hi=high, label="private fit", name="private fit", bold=True
            ),
            Cursor(
                np.array(stops, dtype=float),
                np.array([places.get(stop, np.nan) for stop in stops]),
            ),
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
