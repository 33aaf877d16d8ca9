"""The page of all options of all models, written from their declarations.

``python -m tests.studio.options`` writes ``app/docs/options.md`` anew.
"""

from __future__ import annotations

from pathlib import Path

from dpcore.declaration import Model, declarations
from dpcore.options import BY_METHOD, BY_MODEL, Option

PAGE = Path(__file__).parents[2] / "app" / "docs" / "options.md"
HEAD = """# Options on Explore

This page lists every option of every model, as declared, and how Explore asks for it. *Slides*:
a button next to the option's box in *More settings* makes it a slider beside ε and δ, and the
curve is then plotted against it. *Box*, *list* and *switch*: the option is in *More settings*.
ε, δ and, where rows are clipped to a ball, clipping have sliders for every model; the noise
multiplier, the number of rows n, the rows per person and the number of groups, centres,
factors, topics or units can have one too. n has one where rows are held out to judge fits: in
tables of 500 rows or more whose number of rows is public. The remarks say why an option does
not slide or is not asked for; for an option that only some methods have, they name these
methods.
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(_section(name, model) for name, model in declarations().items())


def _section(name: str, model: Model) -> str:
    title = model.title.format("K")
    ways = [f"{way.title} ({way.badge})" for way in map(model.method, model.methods)]
    rows = "".join(_row(model, option) for option in model.settings.options().values())
    head = "\n| option | on Explore | as | remarks |\n| --- | --- | --- | --- |\n"
    return f"\n## {title}: `{name}`\n\nMethods: {'; '.join(['Recommended', *ways])}.\n{head}{rows}"


def _row(model: Model, option: Option) -> str:
    dial = option.dial
    if dial is None:
        kind = {BY_METHOD: "list", BY_MODEL: "list, box"}.get(option.not_asked, "not asked")
        return f"| `{option.name}` | {kind} | | {option.not_asked} |\n"
    kind = "list" if dial.choices else "box" if dial.form else "switch"
    ways = ", ".join(_named(model, way) for way in dial.methods)
    remarks = "; ".join(filter(None, (dial.still, ways and f"with {ways}")))
    return f"| `{option.name}` | {'slides' if dial.slide else kind} | {dial.label} | {remarks} |\n"


def _named(model: Model, method: str) -> str:
    """A method, with its badge where another has the same title."""
    way = model.method(method)
    alike = [other.title for other in model.methods.values()].count(way.title) > 1
    return f"*{way.title}*" + (f" ({way.badge})" if alike else "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
