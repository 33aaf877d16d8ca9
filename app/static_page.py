"""One page of the static site: a file of HTML that asks nobody for anything.

The scenes are in it, and the modules that draw them in the explorer, as one classic script; so it
opens from a disk, in a mail or in a frame of somebody's slides. Its security policy forbids the
browser every request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from app.components import ends_html, live_line_html
from app.frame import brand_html, style_sheet
from app.live import joined, slider_class, style
from app.settings import settings
from app.spoilers import panel_word
from app.texts import static as texts
from app.texts.frame import HIDEABLE
from dpcore.figures.scene import Scene

FORBIDDEN = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)
TITLE = "dpcore explorer"
LEFT_OUT = ("exact",)  # what a link cannot hide here: private panels are drawn with it beside them


@dataclass(frozen=True)
class Dial:
    """A slider. word: in links. hide: by which a link hides it. key: of its scenes. ends: what its
    ends mean. scene: what moves with it; ``None`` where nothing does, and ``help`` says why. help:
    what it is."""

    word: str
    hide: str
    key: str
    label: str
    ends: tuple[str, str]
    help: str
    scene: Scene | None


@dataclass(frozen=True)
class Figure:
    """A picture below the main one. heading: above it. scenes: by the keys of their sliders."""

    heading: str
    scenes: Mapping[str, Scene]


@dataclass(frozen=True)
class Page:
    """What a page says and shows.

    kind: whose words a link may hide, a page of :data:`app.texts.frame.HIDEABLE`. about: what its
    data is. heading, lead: as in the explorer; the lead is HTML. facts: what was chosen, by name.
    says, promise: the live texts above and below the picture. note: a sentence under the first of
    them. foot: the last lines, HTML.
    """

    kind: str
    title: str
    about: str
    heading: str
    lead: str
    facts: Mapping[str, str]
    dials: Sequence[Dial]
    says: str
    promise: str
    note: str = ""
    below: Sequence[Figure] = ()
    foot: str = ""


def page_html(page: Page) -> str:
    """The file of a page with sliders."""
    shown = {dial.key: dial.scene for dial in page.dials if dial.scene is not None}
    first = next(iter(shown.values()))
    parts = [
        brand_html(page.about),
        f'<div class="dp-head"><h1 class="dp-title">{escape(page.heading)}</h1>'
        f'<p class="dp-lead">{page.lead}</p></div>',
        _facts(page.facts),
        f'<div class="dp-dials">{"".join(map(_dial, page.dials))}</div>',
        _cover(page.kind),
        _hideable("says", _line(first, page.says, "dp-says")),
        f'<p class="dp-says dp-finding">{escape(page.note)}</p>' if page.note else "",
        "<div data-figure></div>",
        _hideable("promise", _line(first, page.promise, "dp-guarantee")),
        *(f"<h2>{escape(figure.heading)}</h2><div data-figure></div>" for figure in page.below),
        f'<p class="dp-quiet">{texts.ONE_SLIDER}</p>' if len(shown) > 1 else "",
        f'<div class="dp-foot">{page.foot} <a data-link href="#" target="_blank">{texts.LINK}</a>'
        "</div>",
    ]
    scenes = (first, *(scene for figure in page.below for scene in figure.scenes.values()))
    panels = [panel for scene in scenes for panel in scene.panels]
    stored = {
        "figures": [_pictures(shown), *(_pictures(figure.scenes) for figure in page.below)],
        "words": {slider_class(dial.key): dial.word for dial in page.dials},
        "hides": {panel.id: panel_word(page.kind, panel.id) for panel in panels},
    }
    return document(page.title, "\n".join(filter(None, parts)), stored)


def stored_alone(scene: Scene) -> dict[str, object]:
    """What the script of a page draws that has a picture and no slider."""
    return {"figures": [_pictures({"none": scene})], "words": {}, "hides": {}}


def document(title: str, body: str, stored: Mapping[str, object] | None = None) -> str:
    """A whole file. body: HTML. stored: what its script draws; without it there is no script."""
    scripts = "" if stored is None else _scripts(stored)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{FORBIDDEN}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_theme()}\n{style_sheet()}\n"
        f"{style('live')}\n{style('site')}</style></head>\n<body><main>\n{body}\n</main>\n"
        f"{scripts}</body></html>\n"
    )


def _scripts(stored: Mapping[str, object]) -> str:
    """The scenes as inert text, in which nothing ends a script, and the code that draws them."""
    scenes = json.dumps(stored, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    code = joined("site")  # which ends no script either
    return (
        f"<noscript><p>{texts.NO_SCRIPT}</p></noscript>\n"
        f'<script type="application/json" id="scenes">{scenes}</script>\n'
        f'<script>"use strict"; (() => {{\n{code}\n}})();</script>\n'
    )


def _theme() -> str:
    """The explorer's colours as its live pictures read them; a link's ``theme=`` outranks the
    system's."""
    theme = settings()["theme"]
    light, dark = (_variables(theme[name]) for name in ("light", "dark"))
    return (
        f":root {{ color-scheme: light dark; --st-font: {theme['font']}; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f":root[data-scheme=light] {{ color-scheme: light; {light} }}\n"
        f":root[data-scheme=dark] {{ color-scheme: dark; {dark} }}"
    )


def _variables(colours: Mapping[str, str]) -> str:
    """``primaryColor`` is ``--st-primary-color``, as Streamlit has it."""
    names = {name: "".join(f"-{c.lower()}" if c.isupper() else c for c in name) for name in colours}
    return " ".join(f"--st-{names[name]}: {value};" for name, value in colours.items())


def _facts(facts: Mapping[str, str]) -> str:
    lines = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in facts.items()
    )
    return f'<dl class="dp-facts">{lines}</dl>'


def _dial(dial: Dial) -> str:
    """A slider of the browser in a box of the class by which the picture finds it."""
    scene, last, now, label = dial.scene, 1, 0, ""
    if scene is not None:
        assert scene.positions is not None  # a made scene has them
        last, now = len(scene.positions) - 1, scene.thumb
        label = scene.step_labels[scene.step]
    name, key = escape(dial.label), slider_class(dial.key)
    why = "" if scene is not None else f'<p class="dp-quiet">{escape(dial.help)}</p>'
    return (
        f'<div class="dp-dial {key}" data-hide="{dial.hide}"><label for="{dial.word}">{name}'
        f'<output for="{dial.word}">{escape(label)}</output></label>'
        f'<input type="range" id="{dial.word}" min="0" max="{last}" step="1" value="{now}" '
        f'aria-valuetext="{escape(label)}" title="{escape(dial.help)}"'
        f"{'' if scene is not None else ' disabled'}>"
        f"{ends_html(*dial.ends)}{why}</div>"
    )


def _cover(kind: str) -> str:
    """Where it is said what a link hides, with the button that shows it."""
    words = {word: name for word, name in HIDEABLE[kind].items() if word not in LEFT_OUT}
    return (
        f'<div class="dp-cover" data-cover="{escape(json.dumps(words))}" hidden><span></span>'
        '<button type="button">Show it</button></div>'
    )


def _hideable(word: str, html: str) -> str:
    return f'<div data-hide="{word}">{html}</div>'


def _line(scene: Scene, name: str, css: str) -> str:
    """A live text, as the page opens."""
    return live_line_html(name, css, scene.live_text[name][scene.step])


def _pictures(scenes: Mapping[str, Scene]) -> list[dict[str, object]]:
    return [
        {"slider": slider_class(key), "scene": scene.as_dict()} for key, scene in scenes.items()
    ]
