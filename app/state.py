"""What each page shows: one value a page in the session, mirrored in the address bar."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import fields, replace
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import numpy as np
import streamlit as st

from app import composing, links, scenario
from app.callbacks import unbroken
from app.composing import Composition
from app.result_store import look_away
from app.scenario import GENERATED, UPLOAD, Scenario, at_hand, from_query, sane
from app.settings import uploads_allowed
from dpcore.evaluation.composition import COUNTS
from dpcore.evaluation.study import EPSILONS

ON = "on"  # in the address of a page that goes on with Explore's scenario
NAMES = {field.name for field in fields(Scenario)}  # as a link has them
SETTLING = 2.0  # seconds within which the browser may not have heard of a change made here

Choices = TypeVar("Choices", Scenario, Composition)


def current() -> Scenario:
    """The scenario of Explore."""
    return _kept("scenario", _scenario_of, _misread_of)


def composition() -> Composition:
    """What Compose asks."""
    return _kept("composition", composing.from_query, composing.misread)


def arrived(name: str) -> bool:
    """Whether this is the first run of a page since another one was shown; every page asks.

    What the other one had worked out behind it gives way.
    """
    elsewhere = st.session_state.get("page") != name
    st.session_state["page"] = name
    if elsewhere:
        look_away()
        st.session_state["misread"] = addressed()[1]
    return bool(elsewhere)


def addressed() -> tuple[dict[str, str], tuple[str, ...]]:
    """What the address of this page says, and the names that it gives several values."""
    query = st.query_params
    return links.each_once((name, value) for name in query for value in query.get_all(name))


def note_misread(names: Iterable[str]) -> None:
    """Names whose values in the address of this page are not understood, to be said on it."""
    st.session_state["misread"] = (*st.session_state["misread"], *names)


def _scenario_of(address: Mapping[str, str]) -> Scenario:
    """The scenario of an address, of Explore's or of a page that goes on with it.

    A busy browser may write such a page's choices into Explore's address before it is there.
    """
    return from_query(_carried(address)[0], _data_names())


def _misread_of(address: Mapping[str, str]) -> tuple[str, ...]:
    """What is not understood of such an address."""
    carried, several = _carried(address)
    if ON in address and not NAMES & {*carried, *several}:
        return (ON,)
    return (*several, *scenario.misread(carried, _data_names()))


def _carried(address: Mapping[str, str]) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """What an address says of the scenario, and the names that it gives several values there."""
    if ON not in address:
        return address, ()
    return links.each_once(parse_qsl(address[ON], keep_blank_values=True))


def _data_names() -> list[str]:
    names = [table.name for table in at_hand()] + [GENERATED]
    return [*names, UPLOAD] if uploads_allowed() else names


def _kept(
    name: str,
    read: Callable[[dict[str, str]], Choices],
    misread: Callable[[dict[str, str]], tuple[str, ...]],
) -> Choices:
    """A page's choices: those of the address at first, and where the reader went back to others.

    Who comes from the other page by the bar on top brings no address, and finds what was left.
    """
    state = st.session_state
    address: dict[str, str]
    several: tuple[str, ...]
    address, several = addressed()
    arriving = arrived(name)
    if name not in state or (bool(address) if arriving else _went_elsewhere(address)):
        state[name], state["misread"] = read(address), (*several, *misread(address))
    choices: Choices = state[name]
    state.pop("chosen", None)
    if several or address != choices.as_query():
        st.query_params.from_dict(choices.as_query())
    if arriving or state.get("address") != choices.as_query():
        state["address"], state["addressed"] = choices.as_query(), monotonic()
    return choices


def _went_elsewhere(address: dict[str, str]) -> bool:
    """Whether the reader changed the address (the back button, say).

    The browser hears of a new address late: what it sends until then is old, not new.
    """
    state = st.session_state
    settled = monotonic() - state["addressed"] > SETTLING
    return settled and "chosen" not in state and address != state["address"]


@unbroken
def change(**choices: Any) -> None:
    """Change some choices on Explore; those that no longer fit together are brought in line."""
    st.session_state["chosen"] = True
    st.session_state["misread"] = ()
    st.session_state["scenario"] = sane(replace(st.session_state["scenario"], **choices))


@unbroken
def ask(**choices: Any) -> None:
    """Change some choices on Compose."""
    st.session_state["chosen"] = True
    changed = replace(st.session_state["composition"], **choices)
    st.session_state["misread"] = ()
    st.session_state["composition"] = composing.sane(changed)


def left_on_explore() -> Scenario:
    """The scenario that Explore shows, or would show first; it stays so."""
    scenario: Scenario = st.session_state.setdefault("scenario", Scenario())
    return scenario


def taken_on(page: str, own: Container[str] = ()) -> tuple[Scenario, bool]:
    """Explore's scenario on a page that goes on with it, and whether the page was just opened.

    The address carries it, so that a reload or a link finds it again; an upload is only named, and
    has to be opened anew. A link may also name its choices as on Explore, save the page's ``own``
    words. Who goes back to an address without it stays where he is.
    """
    state, address, arriving = st.session_state, st.query_params, arrived(page)
    if arriving:
        words = {name: value for name, value in addressed()[0].items() if name not in own}
        named = ON in words or ("scenario" not in state and NAMES & words.keys())
        odd = _misread_of(words)
        if named:
            state["scenario"] = _scenario_of(words)
        note_misread(odd)
        for name in words.keys() & {*NAMES, *odd}:
            del address[name]
    link = left_on_explore().as_link()
    if arriving or state.get(ON) != link:
        state[ON] = link
        if link:
            address[ON] = link
        elif ON in address:
            del address[ON]
    return left_on_explore(), arriving


def bind(key: str, value: Any) -> None:
    """Let a widget show a value; where it already does, nothing may take it from the hand.

    What a run has set that was broken off by the next is set again: the browser never heard of it.
    """
    state = st.session_state
    state.setdefault("settled", {})[key] = value
    unsent = state.setdefault("unsent", {})
    if key in state and state[key] == value and unsent.get(key) != value:
        return
    replaced = state.setdefault("replaced", [])
    if key in state and state[key] != value:
        replaced += [(key, state[key], None), (key, value, None)]
    state[key] = unsent[key] = value


@unbroken
def heard(key: str) -> None:
    """A hand is on a widget: the browser has it, and nothing may set it again."""
    st.session_state.get("unsent", {}).pop(key, None)


def delivered() -> None:
    """A run has come to its end: the browser hears what it has set."""
    state, now = st.session_state, monotonic()
    state["unsent"] = {}
    state["replaced"] = [
        (key, value, now if when is None else when)
        for key, value, when in state.get("replaced", [])
    ]


def on_choice(key: str, apply: Callable[[Any], None]) -> Callable[[], None]:
    """The callback of a bound widget: ``apply`` what the reader chose.

    The browser sends the values of all widgets with each change of one. Where a page has changed
    one many times, what comes back may be the value before, or one of those that were set since:
    none of them is a choice of the reader. Nor is the value that was set or chosen last, which
    looks like a change where an old one came back in between.
    """

    @unbroken
    def changed() -> None:
        value = st.session_state[key]
        if _is_chosen(key, value):
            apply(value)
            st.session_state["settled"][key] = value  # at last: until then it may be repeated

    return changed


def missed(key: str) -> bool:
    """Whether a bound widget has a choice of the reader whose callback was never called.

    Streamlit begins the next run while it stops the one before; where two requests of the browser
    come at once, the callback is lost between them.
    """
    state = st.session_state
    return key in state and key in state.get("settled", {}) and _is_chosen(key, state[key])


def _is_chosen(key: str, value: Any) -> bool:
    """Whether the browser can have a value of a bound widget from the reader alone."""
    now, state = monotonic(), st.session_state
    state["replaced"] = [
        entry
        for entry in state.get("replaced", [])
        if entry[2] is None or now - entry[2] < SETTLING
    ]
    echoes = [entry[1] for entry in state["replaced"] if entry[0] == key]
    return value not in [*echoes, state.setdefault("settled", {}).get(key)]


def step_of(epsilon: float, budgets: tuple[float, ...] = EPSILONS) -> int:
    """The slider's position nearest to a budget, by the rule of :attr:`Scene.thumb`."""
    return int(np.argmin(np.abs(np.array(budgets) - epsilon)))


def step_of_count(count: int) -> int:
    """The same for a number of repeats."""
    return int(np.argmin(np.abs(np.array(COUNTS) - count)))
