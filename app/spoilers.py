"""What a link hides, so that a teacher can ask before the class sees; one click shows it.

Hidden is out of sight, not locked away: the address and the drawers still hold everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from app.components import to_page
from dpcore.figures.scene import Scene

# Page to the words that its links may hide, each as the page then names it.
WORDS = {
    "explore": {
        "data": "the data",
        "model": "the model",
        "method": "the method",
        "count": "the way of counting",
        "epsilon": "the budget's slider",
        "says": "the sentence under the slider",
        "exact": "the exact fit",
        "private": "the private fit",
        "curve": "the curve",
        "promise": "the promise",
    },
    "compose": {
        "preset": "where it starts from",
        "hold": "what is held",
        "show": "the choice of a picture",
        "noise": "the noise",
        "k": "the slider",
        "says": "the sentence under the slider",
        "bars": "the prices",
        "curve": "the picture beside the prices",
        "promise": "the best price",
        "more": "more methods",
    },
    "attack": {
        "says": "the sentence under the slider",
        "clouds": "the two clouds",
        "hits": "the attacker's curve",
        "ruler": "the ruler",
    },
}


def known(page: str, text: str) -> str:
    """The words of a link that the page can hide, in its order; others are left out.

    >>> known("compose", "k,nonsense,,says,k"), known("compose", "<script>")
    ('k,says', '')
    """
    asked = text.split(",")
    return ",".join(word for word in WORDS[page] if word in asked)


def covering(page: str, hide: str) -> str:
    """What a link shall hide: chosen from a list, at first what the page hides already."""
    chosen = st.pills(
        "Hide from the class",
        list(WORDS[page]),
        selection_mode="multi",
        default=[word for word in hide.split(",") if word],
        format_func=WORDS[page].__getitem__,
    )
    return known(page, ",".join(chosen))


def uncovered(page: str, scene: Scene, hide: str) -> Scene:
    """The scene without the panels that are hidden."""
    words = hide.split(",")
    if not set(words) & _names(page, scene):
        return scene
    return replace(scene, panels=tuple(p for p in scene.panels if _word(page, p.id) not in words))


def _names(page: str, scene: Scene) -> set[str]:
    return {_word(page, panel.id) for panel in scene.panels}


def _word(page: str, panel: str) -> str:
    """The word for a panel; on Compose the second one may be any of several pictures."""
    return panel if page != "compose" or panel == "bars" else "curve"


def cover(page: str, hide: str, show: Callable[[], None], data: str | None = None) -> None:
    """Say what is hidden and where a lesson takes the guess, with a button that shows it; nothing
    where nothing is hidden. data: the table of the page, where it has one to choose.
    """
    if not hide:
        return
    from app.learning import question  # which reads hidden words itself

    asked = question(page, hide, data)
    names = [WORDS[page][word] for word in hide.split(",")]
    told = ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
    text, learn, button = st.columns([5.7, 1.65, 1.0], vertical_alignment="center")
    text.markdown(f"**Hidden by this link:** {told}. Make a guess first.")
    if asked is not None:
        with learn:
            to_page("learn", {}, f"Guess: question {asked} on Learn", ":material/edit:")
    button.button("Show it", key="uncover", on_click=show, type="primary", width="stretch")
