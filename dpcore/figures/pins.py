"""A pinned view: what stays of one setting's picture, thin, in the panels of another setting's.

Both are scenes of :func:`dpcore.figures.budget.budget_scene`; nothing is fitted here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.figures.frames import frozen_panel
from dpcore.figures.heatmap import Heat
from dpcore.figures.ranked import Ranked
from dpcore.figures.scene import (
    Cursor,
    Curve,
    Ellipses,
    Layer,
    Panel,
    Scene,
    Spots,
    layer_dict,
)
from dpcore.figures.utility_curve import CURVE
from dpcore.privacy.guarantee import show


def pinned_scene(scene: Scene) -> Scene:
    """The fits of a scene at its current step, as a scene of that step alone.

    Of the curve its bold line stays, and the current point.
    """
    at = scene.step
    return Scene(
        steps=(scene.steps[at],),
        step_labels=(scene.step_labels[at],),
        panels=tuple(
            frozen_panel(replace(panel, layers=tuple(filter(_is_fit, panel.layers))), at)
            for panel in scene.panels
        ),
        symbol=scene.symbol,
    )


def utilities(scene: Scene) -> tuple[float, ...]:
    """Median utility at each step, read off the current point; NaN where there is no fit.

    Raises StopIteration for a scene that has no curve.
    """
    curve = next(panel for panel in scene.panels if panel.id == CURVE)
    cursor = next(layer for layer in curve.layers if isinstance(layer, Cursor))
    return tuple(float(value) for value in np.asarray(cursor.y))


def beside(scene: Scene, pinned: Scene, name: str, at: float | None) -> Scene:
    """The scene with a pinned one (:func:`pinned_scene`) in every panel that has the same axes.

    name: what the pinned view is called. at: its place on the scene's dial; ``None``: it has none.
    """
    others = {panel.id: panel for panel in pinned.panels}
    panels = tuple(
        _beside(scene, panel, others[panel.id], pinned, name, at)
        if panel.id in others and _same_axes(panel, others[panel.id])
        else panel
        for panel in scene.panels
    )
    return replace(scene, panels=panels)


def _is_fit(layer: Layer) -> bool:
    """Whether a layer is the fit itself: not rows, other draws, references or borders."""
    if isinstance(layer, Ellipses):
        return layer.style == "bold" and bool(layer.levels)
    if isinstance(layer, Curve):
        return layer.bold
    return isinstance(layer, Cursor | Heat | Ranked) or (
        isinstance(layer, Spots) and bool(layer.colours)
    )


def _same_axes(panel: Panel, other: Panel) -> bool:
    """Whether both panels show the same quantities; a curve's dial may differ."""
    down = panel.y.label == other.y.label
    return down and (panel.id == CURVE or panel.x.label == other.x.label)


def _beside(
    scene: Scene, panel: Panel, other: Panel, pinned: Scene, name: str, at: float | None
) -> Panel:
    if panel.id == CURVE:
        return _on_the_curve(scene, panel, other, pinned, name, at)
    here = [layer_dict(layer) for layer in panel.layers]
    ghosts = tuple(
        _thin(layer)
        for layer in other.layers
        if not isinstance(layer, Heat | Ranked) and layer_dict(layer) not in here
    )
    notes = tuple(layer.notes for layer in other.layers if isinstance(layer, Heat | Ranked))
    layers = tuple(
        replace(layer, notes=_noted(layer.notes, notes[0], name))
        if notes and isinstance(layer, Heat | Ranked) and any(map(_said_of, notes[0]))
        else layer
        for layer in panel.layers
    )
    return replace(panel, layers=layers, pinned=ghosts, pin=f"{name}, pinned" if ghosts else "")


def _thin(layer: Layer) -> Layer:
    """A fit's layer as a ghost of itself."""
    if isinstance(layer, Ellipses):
        outer = (max(layer.levels),)
        return replace(layer, style="outline", levels=outer, fill=False, centre=False)
    if isinstance(layer, Curve):
        return replace(layer, lo=None, hi=None, bold=False)
    return replace(layer, labels=()) if isinstance(layer, Spots) else layer


def _said_of(note: str) -> str:
    """What a note says behind the number of its part."""
    return note.rpartition(" · ")[2] if " · " in note or not note.isdecimal() else ""


def _noted(notes: tuple[Any, ...], pinned: tuple[str, ...], name: str) -> tuple[Any, ...]:
    """Notes, one a part or one a part and step, with what the pinned view says of each part."""
    if notes and isinstance(notes[0], str):
        if not any(map(_said_of, notes)) or len(notes) != len(pinned):
            return notes
        return tuple(
            f"{note} ({name}: {_said_of(other)})" if _said_of(other) else note
            for note, other in zip(notes, pinned, strict=True)
        )
    return tuple(_noted(note, pinned, name) for note in notes)


def _on_the_curve(
    scene: Scene, panel: Panel, other: Panel, pinned: Scene, name: str, at: float | None
) -> Panel:
    """The pinned point with a line at its height; and its own curve over the same dial, where that
    is another one."""
    (utility,), steps = utilities(pinned), len(scene.steps)
    worth = show(utility).replace("-", "−") if np.isfinite(utility) else "no fit"
    text = f"{name}: {worth} at {pinned.symbol} = {pinned.step_labels[0]}"
    lines = [layer for layer in other.layers if isinstance(layer, Curve)]
    own = [layer for layer in panel.layers if isinstance(layer, Curve) and layer.bold]
    same = any(_agree(line, mine) for line in lines for mine in own)
    if scene.symbol != pinned.symbol or same or not lines:
        lines = [Curve(panel.x.range, (utility, utility))]
    ghosts: tuple[Layer, ...] = tuple(
        replace(line, lo=None, hi=None, bold=False, label=text, name=name) for line in lines
    )
    if at is not None:
        place, height = np.full(steps, at), np.full(steps, utility)
        ghosts = (*ghosts, Cursor(place, height, line=False))
    alts = (panel.alt,) * steps if isinstance(panel.alt, str) else panel.alt
    return replace(panel, pinned=ghosts, alt=tuple(f"{alt} Pinned, thin: {text}." for alt in alts))


def _agree(curve: Curve, other: Curve) -> bool:
    """Whether two curves are equal wherever both have a point."""
    _, here, there = np.intersect1d(curve.x, other.x, return_indices=True)
    heights = np.ravel(curve.y)[here], np.ravel(other.y)[there]
    return len(here) > 0 and bool(np.array_equal(*heights))
