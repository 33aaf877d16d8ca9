"""Widgets that show one choice each, and apply what the reader chooses in its place.

Each gets its value twice, by its key and as its default: the browser may build it late, in a drawer
or after a run that was broken off, and would else show, and send, the first of its options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from app import composing, scenario
from app.composing import Composition
from app.scenario import Scenario
from app.state import ask, bind, change, missed, on_choice

Apply = Callable[[Any], None]
Choices = Scenario | Composition


def pick(
    key: str,
    label: str,
    options: Mapping[Any, str],
    value: Any,
    apply: Apply,
    help: str | None = None,
) -> None:
    """One of several, each with its title; a value that is none of them shows the first."""
    choose = _bound(key, value, apply, shown=value in options)
    names = list(options)
    st.selectbox(
        label, names, names.index(value) if value in options else 0, key=key, help=help,
        format_func=lambda option: options.get(option, str(option)), on_change=choose,
    )  # fmt: skip


def number(
    key: str,
    label: str,
    value: float | None,
    span: tuple[float, ...],
    apply: Apply,
    help: str | None = None,
    form: str | None = None,
    empty: str | None = None,
) -> None:
    """A number in a box. span: lowest and highest that may be chosen, and the step, whole where the
    value is. empty: what an empty box means."""
    low, high, step = span if value is None else map(type(value), span)
    if value is not None:  # a link may state what nobody would choose
        low, high = min(low, value), max(high, value)
    choose = _bound(key, value, apply)
    st.number_input(
        label, low, high, value, step=step, format=form, key=key, help=help, placeholder=empty,
        on_change=choose,
    )  # fmt: skip


def slide(
    key: str,
    label: str,
    options: Sequence[float],
    value: float,
    apply: Apply,
    help: str | None,
    words: Callable[[Any], str],
    *,
    disabled: bool = False,
) -> None:
    """One of a row of numbers."""
    choose = _bound(key, value, apply)
    st.select_slider(
        label, options, value, key=key, help=help, format_func=words, disabled=disabled,
        on_change=choose,
    )  # fmt: skip


def switch(key: str, label: str, value: bool, apply: Apply, help: str | None = None) -> None:
    """On or off."""
    choose = _bound(key, value, apply)
    st.toggle(label, value, key=key, help=help, on_change=choose)


def _bound(key: str, value: Any, apply: Apply, shown: bool = True) -> Callable[[], None]:
    """The callback of a widget that shows a value; a choice whose callback was lost is applied.

    shown: the widget can show the value; what it shows otherwise was chosen by nobody.
    """
    choose = on_choice(key, apply)
    if shown and missed(key):
        choose()
        st.rerun()
    bind(key, value)
    return choose


def box(
    choices: Choices,
    name: str,
    label: str,
    step: float,
    help: str | None = None,
    form: str | None = None,
    key: str = "setting_{}",
) -> None:
    """A number in a box for one field of a page's choices, within the limits of its links."""
    ranges = scenario.RANGES if isinstance(choices, Scenario) else composing.RANGES
    span = (*ranges[name], step)
    number(key.format(name), label, getattr(choices, name), span, field(choices, name), help, form)


def field(choices: Choices, name: str) -> Apply:
    """Puts what the reader chooses into one field of a page's choices."""
    apply = change if isinstance(choices, Scenario) else ask
    return lambda chosen: apply(**{name: chosen})
