"""What a link can hide, so that a teacher can ask before the class sees.

Hidden is out of sight, not locked away: the address and the drawers still hold everything.
"""

from __future__ import annotations

from dataclasses import replace

from app.texts.frame import HIDEABLE
from dpcore.figures.scene import Scene


def hideable(page: str, text: str) -> str:
    """The words of a link that the page can hide, in its order; others are left out.

    >>> hideable("compose", "k,nonsense,,says,k"), hideable("compose", "<script>")
    ('k,says', '')
    """
    words = text.split(",")
    return ",".join(word for word in HIDEABLE[page] if word in words)


def visible(page: str, scene: Scene, hide: str) -> Scene:
    """The scene without the panels that are hidden."""
    panels = tuple(p for p in scene.panels if panel_word(page, p.id) not in hide.split(","))
    return scene if len(panels) == len(scene.panels) else replace(scene, panels=panels)


def panel_word(page: str, panel: str) -> str:
    """The word for a panel; on Compose the second one may be any of several pictures."""
    return panel if page != "compose" or panel == "bars" else "curve"
