"""Pinned views: settings that stay beside the current one, as a ghost in the panels and in a table.

The ghost is that of the last one pinned; the table has all. What is pinned stands in the link.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from app import compute
from app.choices import FIELDS, read_words
from app.compute import Study
from app.explore_scene import picture
from app.links import PINS
from app.result_store import Data
from app.scenario import SHARED, Scenario
from app.state import change
from app.sweeps import Sliding
from app.tables import data_of, store_of
from app.texts import explore as texts
from dpcore.errors import DPCoreError
from dpcore.evaluation.yardstick import metric_of
from dpcore.figures.frames import Picture, identity, map_scenes, with_step
from dpcore.figures.pins import beside, pinned_scene, utilities
from dpcore.figures.scene import Scene
from dpcore.figures.utility_curve import AXES, axis_of
from dpcore.privacy.guarantee import show, show_delta

if TYPE_CHECKING:
    from app.composing import Composition

Views = dict[str, Scene | str]

COMING = "…"
NO_FIT = "no fit"
SWATCH = '<i class="dp-pin"></i>'  # of the one that is drawn
DESCRIBED: dict[str, tuple[str, Callable[[Scenario], str]]] = {
    "model": ("Model", lambda pinned: pinned.title),
    "components": ("Model", lambda pinned: pinned.title),
    "method": ("Method", lambda pinned: f"{pinned.recipe.title} · {pinned.recipe.badge}"),
    "count_by": ("Composition", lambda pinned: pinned.titles((pinned.count_by,))[pinned.count_by]),
    "clip": ("Clipping", lambda pinned: AXES["clip"].show(pinned.clip)),
    "iterations": ("Iterations", lambda pinned: f"{pinned.iterations}"),
    "covariance": (
        "Shapes",
        lambda pinned: (pinned.offered()["covariance"].choices or {})[pinned.covariance],
    ),
    "words": ("More", lambda pinned: _words(pinned)),
    "metric": ("Metric", lambda pinned: metric_of(pinned.model, pinned.setting().metric).title),
    "pool": ("Pixels averaged", lambda pinned: f"{pinned.pool} × {pinned.pool}"),
    "adjacency": ("Neighbours", lambda pinned: pinned.adjacency.replace("_", " ")),
    "rows_per_person": ("Rows per person", lambda pinned: f"{pinned.rows_per_person}"),
    "fitted_rows": (
        "Rows n",
        lambda pinned: f"{pinned.fitted_rows:,}" if pinned.fitted_rows else "all",
    ),
    "noise": ("Noise seed", lambda pinned: f"{pinned.noise}"),
    "without": ("Rows", lambda pinned: texts.ROWS_CHANGED if pinned.without else "all"),
}


def _words(scenario: Scenario) -> str:
    """The options that few models have, where they are not the usual ones."""
    differing = {
        name: value if isinstance(value, str) else f"{value:g}"
        for name, value in read_words(scenario.words).items()
    }
    return (
        ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in differing.items()) or "usual"
    )


def views(scenario: Scenario, *, ask: bool) -> Views:
    """What each pinned setting showed, by its name; a word for one that is still to be worked out,
    or that cannot be fitted. ask: whether to have it worked out."""
    return {name: _view(pinned, scenario, ask) for name, pinned in scenario.pinned.items()}


def _view(pinned: Scenario, shown: Scenario, ask: bool) -> Scene | str:
    try:
        view, data, key = _study(pinned, shown, ask)
    except DPCoreError:
        return NO_FIT
    if view is None:
        return COMING
    if isinstance(view, Study):
        if not view.complete:
            return COMING
        scene = picture(replace(pinned, x=shown.x, y=shown.y, hide=shown.hide), data, view)
        view = store_of(data).answers.get(key, lambda: pinned_scene(scene))
    return view


def _study(
    pinned: Scenario, shown: Scenario, ask: bool = True
) -> tuple[Study | Scene | None, Data, tuple[object, ...]]:
    """A pinned setting's view, or else as much of its study as there is; and where it is kept.

    Raises DPCoreError for a setting that cannot be fitted, or a table that is not there.
    """
    data = data_of(pinned)
    if data is None:
        raise DPCoreError(texts.NOT_THERE)
    key = ("pin", data.key, replace(pinned, x=shown.x, y=shown.y, hide=shown.hide))
    drawn: Scene | None = store_of(data).answers.peek(key)
    if drawn is None and ask:
        return compute.study(pinned, data, store_of(data)), data, key
    return drawn, data, key


def coming(scenario: Scenario) -> Scenario | None:
    """The first pinned setting that is still worked out behind the page."""
    for pinned in scenario.pinned.values():
        try:
            study, *_ = _study(pinned, scenario)
        except DPCoreError:
            continue
        if isinstance(study, Study) and not study.complete:
            return pinned
    return None


def with_ghost(
    picture: Picture, scenario: Scenario, data: Data, pinned_views: Views, dial: str
) -> Picture:
    """A picture over a dial with the last pinned view in its panels, and the numbers of its own
    that the table compares."""
    if not pinned_views:
        return picture
    name, view = next(reversed(pinned_views.items()))
    drawn_of = view if isinstance(view, str) else view.as_dict()["id"]
    key = ("ghost", identity(picture), drawn_of, scenario.pins)

    def with_view(scene: Scene) -> Scene:
        texts = scene.live_text | _now(scene, scenario, dial)
        drawn = replace(scene, live_text=texts)
        at = _value(scenario.pinned[name], dial)
        return drawn if isinstance(view, str) else beside(drawn, view, name, at)

    drawn = store_of(data).scenes.get(key, lambda: map_scenes(picture, with_view))
    return with_step(drawn, picture.step)


def _value(scenario: Scenario, dial: str) -> float | None:
    """Where a setting stands on a dial; ``None`` where it has the usual value."""
    if dial == "noise_multiplier":
        return None  # it follows from epsilon, which the table has
    if dial in ("epsilon", "delta", "clip", *FIELDS, *SHARED):
        return float(getattr(scenario, dial))
    return read_words(scenario.words).get(dial)


def _now(scene: Scene, scenario: Scenario, dial: str) -> dict[str, tuple[str, ...]]:
    """The table's cells of the current setting, one text a step of a scene."""
    steps = len(scene.steps)
    texts = {
        "now epsilon": (show(scenario.epsilon),) * steps,
        "now delta": (show_delta(scenario.delta),) * steps,
        "now third": (_told(scenario, scenario.beside),) * steps,
        "now utility": tuple(map(_number, utilities(scene))),
    }
    if dial == "noise_multiplier":
        return texts  # whatever moves, epsilon does
    moved = dial if dial in ("epsilon", "delta") else "third"
    return texts | {f"now {moved}": scene.step_labels}


def _told(scenario: Scenario, dial: str) -> str:
    """Where a setting stands on the dial beside epsilon and delta, in words."""
    value = _value(scenario, dial) if dial else None
    if dial == "fitted_rows" and not value:
        return "all"
    return "usual" if value is None else axis_of(scenario.model, dial).show(value)


def _number(utility: float) -> str:
    return show(utility).replace("-", "−") if np.isfinite(utility) else NO_FIT


def table(
    scenario: Scenario,
    data: Data,
    scene: Scene,
    pinned_views: Views,
    beside: tuple[Sliding, ...],
) -> str:
    """Current and pinned settings as HTML, a line each: what differs, epsilon, delta, utility."""
    pinned = scenario.pinned
    every = {"Now": scenario} | pinned
    differ = _differing(list(every.values()))
    third = next((dial for dial in beside if dial.name != "delta" and not dial.budgets), None)
    if third is not None:
        differ[third.title(scenario)] = lambda choice: _told(choice, third.name)
    metrics = {
        name: metric_of(choice.model, choice.setting().metric) for name, choice in every.items()
    }
    alike = len(set(metrics.values())) == 1
    utility = metrics["Now"].axis.format(unit=data.unit) if alike else "Utility"

    def line(name: str, choice: Scenario) -> str:
        now = name == "Now"
        view = scene if now else pinned_views[name]
        worth = view if isinstance(view, str) else _number(utilities(view)[view.step])
        if not alike:
            worth += f" ({metrics[name].worth})"
        cells = {title: describe(choice) for title, describe in differ.items()}
        cells |= {
            "epsilon": show(choice.epsilon),
            "delta": show_delta(choice.delta),
            "utility": worth,
        }
        live = ' data-live="now {}"'.format if now else "".format
        moves = third.title(scenario) if third else ""
        row = "".join(
            f"<td{live('third' if title == moves else title)}>{escape(text)}</td>"
            for title, text in cells.items()
        )
        return f'<tr><th scope="row">{name}{SWATCH if name == [*every][-1] else ""}</th>{row}</tr>'

    heads = ("", *differ, "ε", "δ", f"{utility}, median")
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in heads)
    lines = "".join(line(*row) for row in every.items())
    return (
        '<div class="dp-pins" role="region" aria-label="Pinned views" tabindex="0">'
        f'<table class="dp-methods"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>'
        "</div>"
    )


def _differing(settings: list[Scenario]) -> dict[str, Callable[[Scenario], str]]:
    """What not all settings share, by its title: how it is told."""
    fields = (
        field for field in DESCRIBED if len({getattr(setting, field) for setting in settings}) > 1
    )
    return dict(DESCRIBED[field] for field in fields)


def panel(
    scenario: Scenario,
    data: Data,
    scene: Scene,
    pinned_views: Views,
    beside: tuple[Sliding, ...],
) -> None:
    """The table under the picture, with a button for each pinned view; nothing where none is."""
    pinned = scenario.pinned
    if not pinned:
        return
    st.html(table(scenario, data, scene, pinned_views, beside))
    unpin_buttons(scenario, change)


def unpin_buttons(choices: Scenario | Composition, change: Callable[..., None]) -> None:
    """A button for each pinned link, which changes the page's choices to those without it."""
    with st.container(horizontal=True):
        for name in choices.pinned:
            rest: Any = [pinned for other, pinned in choices.pinned.items() if other != name]
            st.button(
                f"Unpin {name}",
                key=f"unpin_{name}",
                on_click=lambda rest=rest: change(pins=choices.with_pins(rest).pins),
            )


def pin_button(
    choices: Scenario | Composition, change: Callable[..., None], words: Any, **shape: Any
) -> None:
    """Keeps the page's current choices beside whatever is chosen next. words: the page's texts."""
    chosen: Any = [*choices.pinned.values(), choices]
    more = choices.with_pins(chosen).pins
    st.button(
        words.PIN,
        on_click=lambda: change(pins=more),
        disabled=more == choices.pins,
        help=words.pin_help(len(PINS)),
        **shape,
    )
