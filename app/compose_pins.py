"""Pinned lists of releases: their prices beside the current ones, and marks on the bars' axis.

What is pinned stands in the link, as on Explore.
"""

from __future__ import annotations

from collections.abc import Container
from html import escape

import numpy as np
import streamlit as st

from app.compose_prices import Priced
from app.composing import MECHANISMS, PRESETS, Composition, Line
from app.pins import COMING, unpin_buttons
from app.state import ask
from app.texts import compose as texts
from dpcore.evaluation.composition import Prices
from dpcore.figures.composition import amount_of, numbers_of
from dpcore.privacy.adjacency import protects
from dpcore.privacy.guarantee import show, show_bound, show_delta

NO_NUMBER = "none"


def live_text(prices: Prices) -> dict[str, tuple[str, ...]]:
    """The table's cells of the current list, one text a step of the slider."""
    steps = [prices.only(count) for count in prices.counts]
    columns = [_column(step) for step in steps]
    names = columns[0]
    return {
        "now k": tuple(f"{count:,}" for count in prices.counts),
        **{f"now {name}": tuple(column[name] for column in columns) for name in names},
    }


def _column(prices: Prices) -> dict[str, str]:
    """Method -> its number at the one count, or a word where there is none."""
    waiting = {way.title for way in prices.ways if way.slot in prices.waiting}
    return {
        title: show_bound(value)
        if np.isfinite(value)
        else COMING
        if title in waiting
        else NO_NUMBER
        for title, value in numbers_of(prices).items()
    }


def list_of(composition: Composition) -> str:
    """A list of releases in a few words."""
    if composition.preset in PRESETS and composition.preset != Composition.preset:
        return PRESETS[composition.preset].title
    return "; ".join(map(_line, composition.lines))


def _line(line: Line) -> str:
    count = f"{line.count:,} × " if line.count > 1 else ""
    sample = texts.SAMPLES.get(line.sampling, "")
    of = f" on {sample} of {show(100 * line.rate)}%" if sample else ""
    return f"{count}{MECHANISMS[line.mechanism]} {show(line.noise)}{of}"


def table(composition: Composition, priced: Priced) -> str:
    """The current list and the pinned ones as HTML: a column each, a line a method."""
    every = {"Now": composition} | composition.pinned
    prices = {"Now": priced.prices.only(composition.k)} | dict(priced.pinned)
    numbers = {name: _column(listed) for name, listed in prices.items()}
    facts = {
        "Releases": {name: list_of(listed) for name, listed in every.items()},
        "k": {name: f"{listed.k:,}" for name, listed in every.items()},
        "δ": {name: show_delta(listed.delta) for name, listed in every.items()},
        "Protects": {name: protects(listed.adjacency) for name, listed in every.items()},
        "Held": {name: texts.HOLDS[listed.hold] for name, listed in every.items()},
        "Numbers": {name: _amount(listed) for name, listed in prices.items()},
    }
    same = ("Protects", "Held", "Numbers")  # left out where it is
    lines = {
        fact: cells
        for fact, cells in facts.items()
        if fact not in same or len({*cells.values()}) > 1
    }
    titles = dict.fromkeys(title for column in numbers.values() for title in column)
    lines |= {title: {name: numbers[name].get(title, "") for name in every} for title in titles}
    head = "".join(f'<th scope="col">{name}</th>' for name in ("", *every))
    body = "".join(_row(title, cells, {"k", *numbers["Now"]}) for title, cells in lines.items())
    return (
        '<div class="dp-pins" role="region" aria-label="Pinned lists" tabindex="0">'
        f'<table class="dp-methods"><caption>{escape(_amount(prices["Now"]))}, by method</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _amount(prices: Prices) -> str:
    """What a column's numbers are."""
    return {"ε": "Total ε"}.get(amount_of(prices), f"{amount_of(prices)} for ε = {prices.epsilon}")


def _row(title: str, cells: dict[str, str], live: Container[str]) -> str:
    """A line of the table. live: titles of those whose current cell follows the slider."""
    now, *others = cells.values()
    slot = f' data-live="now {escape(title)}"' if title in live else ""
    rest = "".join(f"<td>{escape(text)}</td>" for text in others)
    return f'<tr><th scope="row">{escape(title)}</th><td{slot}>{escape(now)}</td>{rest}</tr>'


def panel(composition: Composition, priced: Priced) -> None:
    """The table under the picture, with a button for each pinned list; nothing where none is."""
    if composition.pinned:
        st.html(table(composition, priced))
        unpin_buttons(composition, ask)
