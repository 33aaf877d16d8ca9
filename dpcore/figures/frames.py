"""A picture that is another one at each step of its slider: as many scenes as there are steps.

A scene moves its layers; where axes and layers are others too (the loadings of two factors or of
five), each step has a scene of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.figures.heatmap import Heat
from dpcore.figures.layers import PER_STEP
from dpcore.figures.ranked import Ranked
from dpcore.figures.scene import Curve, Layer, Panel, Scene, text_at, texts_at


@dataclass(frozen=True, eq=False)
class Frames:
    """A scene for each step of a slider: every one knows all steps, and is current at its own.

    step: the current one.
    """

    scenes: tuple[Scene, ...]
    step: int = 0

    def to_json(self) -> str:
        """All scenes as JSON."""
        scenes = ",".join(scene.to_json() for scene in self.scenes)
        return f'{{"frames":[{scenes}],"step":{self.step}}}'


Picture = Scene | Frames


def current_scene(picture: Picture) -> Scene:
    """The scene of the current step."""
    return picture.scenes[picture.step] if isinstance(picture, Frames) else picture


def map_scenes(picture: Picture, change: Callable[[Scene], Scene]) -> Picture:
    """The picture with every scene of it changed."""
    if isinstance(picture, Frames):
        return replace(picture, scenes=tuple(map(change, picture.scenes)))
    return change(picture)


def greyed(symbol: str, label: str) -> str:
    """The subtitle of a panel that shows another step's fit until its own is there."""
    return f"nearest so far: {symbol} = {label}"


def identity(picture: Picture) -> Any:
    """Tells pictures apart, whatever their current step."""
    return picture.scenes if isinstance(picture, Frames) else picture.as_dict()["id"]


def with_step(picture: Picture, step: int) -> Picture:
    """The same picture with another current step."""
    return replace(picture, step=step) if isinstance(picture, Frames) else picture.at(step)


def frozen_panel(panel: Panel, step: int) -> Panel:
    """The panel as it is at one step, for scenes of any number of steps."""
    return replace(
        panel,
        subtitle=text_at(panel.subtitle, step),
        alt=text_at(panel.alt, step),
        layers=tuple(frozen_layer(layer, step) for layer in panel.layers),
    )


def frozen_layer(layer: Any, step: int) -> Layer:
    """The layer at one step, its arrays with a leading axis of one."""
    changes: dict[str, Any] = {}
    for name, dimensions in PER_STEP[layer.kind].items():
        array = getattr(layer, name)
        if array is not None and np.ndim(array) > dimensions:
            values = np.asarray(array)
            changes[name] = values[[0 if len(values) == 1 else step]]
    if isinstance(layer, Heat | Ranked):
        changes["notes"] = texts_at(layer.notes, step)
    if isinstance(layer, Curve):
        changes["label"] = text_at(layer.label, step)
    frozen: Layer = replace(layer, **changes)
    return frozen
