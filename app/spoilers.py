"""What a link can hide, so that a teacher can ask before the class sees.

Hidden is out of sight, not locked away: the address and the drawers still hold everything.
"""

from __future__ import annotations

from dataclasses import replace

from dpcore.figures.scene import Scene

# Page to the words that its links may hide, each as the page then names it.
WORDS = {
    "explore": {
        "data": "the data",
        "model": "the model",
        "method": "the method",
        "count": "the composition method",
        "epsilon": "the budget's slider",
        "delta": "delta's slider",
        "clip": "clipping's slider",
        "says": "the sentence under the slider",
        "exact": "the exact fit",
        "private": "the private fit",
        "curve": "the curve",
        "promise": "the guarantee",
    },
    "compose": {
        "preset": "where it starts",
        "hold": "what is fixed",
        "show": "the choice of a picture",
        "noise": "the noise",
        "k": "the slider",
        "says": "the sentence under the slider",
        "bars": "the costs",
        "curve": "the picture beside the bars",
        "promise": "the best bound",
        "more": "more methods",
    },
    "attack": {
        "says": "the sentence under the slider",
        "clouds": "the two clouds",
        "hits": "the attacker's curve",
        "ruler": "the ruler",
    },
}


def hideable(page: str, text: str) -> str:
    """The words of a link that the page can hide, in its order; others are left out.

    >>> hideable("compose", "k,nonsense,,says,k"), hideable("compose", "<script>")
    ('k,says', '')
    """
    words = text.split(",")
    return ",".join(word for word in WORDS[page] if word in words)


def visible(page: str, scene: Scene, hide: str) -> Scene:
    """The scene without the panels that are hidden."""
    panels = tuple(p for p in scene.panels if panel_word(page, p.id) not in hide.split(","))
    return scene if len(panels) == len(scene.panels) else replace(scene, panels=panels)


def panel_word(page: str, panel: str) -> str:
    """The word for a panel; on Compose the second one may be any of several pictures."""
    return panel if page != "compose" or panel == "bars" else "curve"
