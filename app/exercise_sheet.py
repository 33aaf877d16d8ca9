"""The exercise sheet: the lessons on paper, with lines to write on; and the teacher's notes.

One page of HTML that needs nothing else: open it in a browser and print it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from importlib.util import find_spec

from app.learning import LESSONS
from app.lesson import Lesson
from app.texts import learn as learn_texts
from app.texts import static as texts
from app.texts.frame import HIDEABLE
from dpcore.errors import InputError
from dpcore.figures.model_plot import brief

_STYLE = """
@page { size: A4; margin: 16mm 18mm; }
body { font: 11pt/1.4 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto;
       padding: 0 1rem; color: #1B2733; background: #fff; }
h1 { font-size: 1.45rem; margin: 0 0 .2rem; } h2 { font-size: 1.05rem; margin: 0 0 .2rem; }
p { margin: .25rem 0; } li { margin: .3rem 0; } code { font-size: .82em; overflow-wrap: anywhere; }
section { break-inside: avoid; border-top: 1px solid #8886; padding: .5rem 0 .6rem; }
h2 { break-after: avoid; } .name { margin: .5rem 0 1rem; }
.quiet { color: #5B6B7A; font-size: .88em; }
.line { display: inline-block; border-bottom: 1px solid currentColor; width: 9rem; }
.space { height: 2.6rem; border-bottom: 1px solid #8886; }
.answer { border-left: 4px solid #0072B2; padding-left: .8rem; }
.link { overflow-wrap: anywhere; }
.link svg { float: right; width: 19mm; height: 19mm; margin: 0 0 2mm 4mm; background: #fff; }
.notes { break-before: page; }
@media screen { .print { display: block; } }
@media print { body { margin: 0; padding: 0; max-width: none; } .print { display: none; } }
"""


def sheet(*, solved: bool, base: str = "") -> str:
    """The questions on a page to print.

    solved: with answers and the teacher's notes. base: the address of an explorer; links then begin
    with it and have QR codes, where the package segno is installed. Raises InputError for what is
    no address.
    """
    demand_address(base)
    title = texts.sheet_title(solved=solved)
    lead = f"{texts.SHEET_LEAD} {learn_texts.TERMS} "
    lead += texts.links_open(escape(base)) if base else texts.LINKS
    parts = [
        f'<p class="print quiet">{texts.PRINT}</p>',
        f"<h1>{title}</h1><p>{lead}</p>",
        "" if solved else '<p class="name">Name <span class="line"></span></p>',
        *(
            _question(number, lesson, solved=solved, base=base.rstrip("/"))
            for number, lesson in enumerate(LESSONS, start=1)
        ),
        _notes() if solved else "",
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def without_codes() -> str:
    """What to install for QR codes; empty where they are drawn."""
    return "" if find_spec("segno") else texts.WITHOUT_CODES


def demand_address(base: str) -> None:
    """Raise InputError for what is neither empty nor the address of an explorer."""
    if base and not re.fullmatch(r"https?://[^\s\"'<>?#]+", base):
        raise InputError("base", *texts.BASE_ERROR)


def _question(number: int, lesson: Lesson, *, solved: bool, base: str) -> str:
    low, high = (brief(option) for option in (lesson.options[0], lesson.options[-1]))
    links = _link("Look first", lesson, lesson.look, base) if lesson.page else ""
    body = (
        f"<p>{texts.my_guess(low, high)} <span class='line'></span></p>"
        f'<p>{texts.WHY}</p><div class="space"></div>'
    )
    if solved:
        links += _link("See it", lesson, lesson.query, base) if lesson.page else ""
        body = f'<p class="answer">{_marked(lesson.explained())}</p>'
    return (
        f"<section><h2>{number}. {escape(lesson.title)}</h2>{links}<p>{escape(lesson.ask)}</p>"
        f'<p class="quiet">Hint: {escape(lesson.hint)}</p>{body}</section>'
    )


def _link(label: str, lesson: Lesson, query: Mapping[str, str], base: str) -> str:
    """A link: as ``dpcore explore`` takes it, or with a base as an address and its QR code."""
    state = lesson.state(query)
    if not base:
        return f'<p class="quiet">{label}: <code>{escape(state)}</code></p>'
    address = escape(f"{base}/{state}")
    code = _qr_code(f"{base}/{state}")
    return f'<p class="quiet link">{code}{label}: <a href="{address}">{address}</a></p>'


def _qr_code(address: str) -> str:
    """The address to be read by a phone, as SVG; nothing without segno."""
    try:
        import segno
    except ImportError:
        return ""
    code = segno.make(address, error="m", micro=False)
    return str(code.svg_inline(scale=2, border=1, omitsize=False, svgclass=None, lineclass=None))


def _notes() -> str:
    notes = "".join(f"<li>{_marked(note)}</li>" for note in texts.NOTES)
    words = "".join(
        f"<li><b>{page.capitalize()}</b>: "
        + "; ".join(f"<code>{word}</code> {escape(name)}" for word, name in words.items())
        + "</li>"
        for page, words in HIDEABLE.items()
    )
    return (
        f'<div class="notes"><h2>{texts.TEACHER_TITLE}</h2><ul>{notes}</ul>'
        f"<h2>{texts.HIDE_TITLE}</h2><ul>{words}</ul></div>"
    )


def _marked(text: str) -> str:
    """``**bold**`` and backticks as HTML, everything else escaped.

    >>> _marked("**a** < `b`")
    '<b>a</b> &lt; <code>b</code>'
    """
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False))
    return re.sub(r"`(.+?)`", r"<code>\1</code>", bold)
