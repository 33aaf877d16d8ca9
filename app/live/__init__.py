"""The live picture: it follows the slider while it is dragged, and asks Python only afterwards.

One Streamlit component (`st.components.v2`) of our own: a scene of `dpcore.figures.scene` goes in,
``component.js`` and the modules that it imports draw it, no library and no network. The page keeps
its ordinary slider, so keyboard, assistive technology and tests work as everywhere. Pages that need
no server (:mod:`app.static_page`) draw with the same modules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from dpcore.figures.frames import Picture

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
# Types are for the checker, remarks inside a module for readers of its source.
_REMARKS = re.compile(
    r"^// @ts-check\n|^ +//[^\n]*\n|^ */\*\*(?:(?!\*/).)*\*/\n|(?<=\S) +// [^\n]*", re.M | re.S
)


@cache
def joined(name: str) -> str:
    """A JavaScript module and all that it imports as one text: each once, after what it needs."""
    texts: dict[str, str] = {}

    def add(module: str) -> None:
        text = (_HERE / f"{module}.js").read_text(encoding="utf-8")
        for other in _IMPORT.findall(text):
            if other not in texts:
                add(other)
        texts[module] = _REMARKS.sub("", _EXPORT.sub("", _IMPORT.sub("", text)))

    add(name)
    return "\n".join(texts.values())


def style(name: str) -> str:
    """A style sheet beside the modules."""
    return (_HERE / f"{name}.css").read_text(encoding="utf-8")


@cache
def _component() -> Any:
    """The component, registered once in a process."""
    return st.components.v2.component(
        "dpcore_live", css=style("live"), js=joined("component"), isolate_styles=False
    )


def slider_class(slider_key: str) -> str:
    """CSS class that Streamlit gives the element of a key.

    >>> slider_class("explore epsilon")
    'st-key-explore-epsilon'
    """
    return "st-key-" + re.sub(r"[^a-zA-Z0-9_-]", "-", slider_key.strip())


def live(
    scenes: Mapping[str, Picture], *, key: str, wanted: Callable[[], None] | None = None
) -> Any:
    """Draw the first picture, or the one whose slider is touched: it moves with that slider.

    scenes: by the ``key`` of their sliders; of frames, all are sent.

    The result has ``ring``: ``{"name": ..., "factor": ...}`` in the one run after a clipping ring
    was dragged (or moved by arrow keys) and released, else None; the factor multiplies the
    half-axes that the scene gave. In the one run after a column was picked it has ``picked``:
    ``{"name": ..., "item": ...}``, the item counted from 0.

    wanted: called before the run in which a hand holds a slider at a step that has no fit yet
    (:attr:`Panel.nearest`); ``st.session_state[key]["wanted"]`` is then ``{"slider": ..., "value":
    ...}``, the slider's :func:`slider_class` and the value of the step.

    Texts elsewhere on the page follow too: ``st.html('<p data-live="sentence"></p>')`` shows the
    scene's live text "sentence"; with ``data-live-width`` an element has it as its width.
    """
    texts = {slider: scene.to_json() for slider, scene in scenes.items()}
    return live_texts(texts, key=key, wanted=wanted)


def live_texts(
    scenes: Mapping[str, str], *, key: str, wanted: Callable[[], None] | None = None
) -> Any:
    """The same of scenes that are JSON already."""
    pictures = ",".join(
        f'{{"slider":{json.dumps(slider_class(slider))},"scene":{scene}}}'
        for slider, scene in scenes.items()
    )
    return _component()(
        key=key,
        data=f'{{"pictures":[{pictures}]}}'.encode(),  # of a mapping Streamlit makes text anew
        on_ring_change=_nothing,
        on_picked_change=_nothing,
        on_wanted_change=wanted or _nothing,
    )


def live_path(screens: str, *, key: str) -> None:
    """Draw the path of lessons (:mod:`app.path`, as JSON): it asks Python for nothing."""
    _component()(key=key, data=f'{{"path":{screens},"pictures":[]}}'.encode())


def _nothing() -> None:
    """Streamlit wants a callback for every value a component may send."""
