"""Compose: how do costs add up? The same noise, counted five ways, against how often it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from app import compose_pins
from app.components import brand, ends, live_line, look_again
from app.compose_prices import Priced, more_of, priced
from app.compose_text import finding, sentences
from app.composing import PRESETS, Composition, opening
from app.covers import cover
from app.events_editor import editor, first_noise
from app.export_menu import take_prices
from app.live import live, slider_class
from app.methods import drawer_open, full_title, more_methods
from app.pins import pin_button
from app.spoilers import visible
from app.state import ask, bind, composition, on_choice, step_of_count
from app.texts import compose as texts
from app.texts.frame import literal
from app.widgets import box, field, number, pick, slide
from dpcore.accounting import ACCOUNTANTS
from dpcore.errors import DPCoreError
from dpcore.evaluation.composition import COUNTS, ways
from dpcore.figures.composition import Texts, prices_scene
from dpcore.figures.scene import Scene


def page() -> None:
    """Top to bottom: what it is, what to choose, what to drag, what to see, what stands behind."""
    listed = composition()
    brand("none")
    st.html(f'<h1 class="dp-title">{texts.HEADING}</h1>')
    st.html(f'<p class="dp-lead">{texts.LEAD}</p>')
    choices(listed)
    repeats(listed)
    hidden = listed.hide.split(",")
    cover("compose", listed.hide, lambda: ask(hide=""))
    try:
        answer = priced(listed, all_methods=drawer_open())
    except DPCoreError as error:
        st.error(literal(str(error)))
        buttons(listed, None)
        return
    scene = picture(listed, answer)
    if "says" not in hidden:
        live_line("sentence", "dp-says", scene.live_text["sentence"][scene.step])
        remarks(listed, answer)
    live({"repeats_step": visible("compose", scene, listed.hide)}, key="prices")
    if "bars" not in hidden:
        compose_pins.panel(listed, answer)
    buttons(listed, scene)
    if "more" not in hidden:
        more_methods(listed, answer.rows)
    if answer.left:  # at the end, where its coming and going moves nothing
        look_again(lambda: more_of(answer, listed, all_methods=drawer_open()), every=0.4)


def remarks(listed: Composition, answer: Priced) -> None:
    """What the reader must know beside the numbers: a finding, or an ε that is not the fit's."""
    if listed.misused:
        st.html(f'<p class="dp-wrong">{texts.NOT_SAMPLED}</p>')
    sentence = answer.refusal or finding(listed, answer.prices)
    if sentence:
        st.html(f'<p class="dp-says dp-finding">{escape(sentence)}</p>')


def choices(listed: Composition) -> None:
    """The row of choices."""
    hidden = listed.hide.split(",")
    start, hold, show, amount = st.columns([1.65, 1.25, 1.45, 0.95])
    with start:
        titles = {name: preset.title for name, preset in PRESETS.items()}
        titles.setdefault(listed.preset, texts.OWN_LIST)
        _select("preset", "Start from", titles, listed.preset, "preset" in hidden)
    with hold:
        if "hold" not in hidden:
            bind("ask_hold", listed.hold)
            st.segmented_control(
                "Hold",
                list(texts.HOLDS),
                format_func=texts.HOLDS.__getitem__,
                default=listed.hold,
                key="ask_hold",
                required=True,
                on_change=on_choice("ask_hold", field(listed, "hold")),
                help=texts.HELP["hold"],
            )
    with show:
        shows = {name: title for name, title in texts.SHOWS.items() if listed.hold == "noise"}
        if shows:
            _select("show", "Show", shows, listed.show, "show" in hidden)
    with amount:
        if "noise" not in hidden:
            _amount(listed)


def _select(name: str, label: str, options: dict[str, str], value: Any, hidden: bool) -> None:
    """A list for one field of what is asked, unless a link hides it."""
    if not hidden:
        apply = PICK.get(name, lambda chosen: ask(**{name: chosen}))
        pick(f"ask_{name}", label, options, value, apply, texts.HELP[name])


def _preset(name: str) -> None:
    """Another list to start from: everything is as that list opens."""
    first = opening(name)
    ask(
        preset=name,
        k=first.k,
        lines=first.lines,
        delta=first.delta,
        adjacency=first.adjacency,
        methods=first.methods,
    )


PICK = {"preset": _preset}
DIALS = {"k": slider_class("repeats_step"), "σ": slider_class("ask_noise")}


def _amount(listed: Composition) -> None:
    """The budget where it is held; else the noise, where there is one line only."""
    if listed.hold == "budget" or listed.show == "noise":
        box(listed, "epsilon", "Budget ε", 0.1, texts.HELP["epsilon"], "%.3g", key="ask_{}")
    elif len(listed.lines) == 1 and listed.lines[0].mechanism != "e":
        number(
            "ask_noise",
            "Noise",
            listed.lines[0].noise,
            (0.01, 1e6, 1.0),
            first_noise,
            texts.HELP["noise"],
            "%.4g",
        )


def repeats(listed: Composition) -> None:
    """The slider, and the exact box that stays in step with it."""
    if "k" in listed.hide.split(","):
        return
    slider, exact = st.columns([6, 1], vertical_alignment="bottom")
    with slider:
        slide(
            "repeats_step",
            texts.count_label(listed.repeats),
            COUNTS,
            COUNTS[step_of_count(listed.k)],
            field(listed, "k"),
            texts.HELP["k"],
            lambda count: f"{count:,}",
        )
        ends(*texts.ENDS)
    with exact:
        box(listed, "k", "Exact k", 1, key="repeats_exact")


def picture(listed: Composition, answer: Priced) -> Scene:
    """The scene of what is asked, as far as it is worked out."""
    scene = prices_scene(
        answer.prices,
        Texts(
            listed.repeats, listed.run_title, sentences(listed, answer.prices, answer.turn), DIALS
        ),
        answer.picture,
        count=listed.k,
        positions=tuple(range(len(COUNTS))),
        pinned=answer.pinned,
        undrawn=answer.undrawn,
    )
    if not answer.pinned:
        return scene
    return replace(scene, live_text=scene.live_text | compose_pins.live_text(answer.prices))


def ticks(listed: Composition) -> None:
    """Which composition methods are compared; as the page opens, the five that suit the list."""
    usual = tuple(way.name for way in ways(listed.events) if way.name)
    chosen = listed.methods or usual
    with st.popover("Methods", width="stretch"):
        bind("ask_methods", list(chosen))
        st.pills(
            "Composition methods",
            list(ACCOUNTANTS),
            selection_mode="multi",
            default=list(chosen),
            format_func=full_title,
            key="ask_methods",
            on_change=on_choice("ask_methods", lambda names: ask(methods=_ticked(names, usual))),
            help=texts.METHODS_HELP,
        )


def _ticked(names: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    """The methods that are ticked, in their order; none in place of the usual ones."""
    ticked = tuple(name for name in ACCOUNTANTS if name in names)
    return () if set(ticked) == set(usual) else ticked


def buttons(listed: Composition, scene: Scene | None) -> None:
    """What to change and take along on the left, what the numbers hold for on the right."""
    widths = [1.5, 1.1, 1.25, 1.5, 2.65]
    edit, compare, pin, take, line = st.columns(widths, vertical_alignment="center")
    with edit:
        editor(listed)
    with compare:
        ticks(listed)
    with pin:
        pin_button(listed, ask, texts, width="stretch")
    with take:
        take_prices(listed, scene)
    with line:
        if scene is not None and "promise" not in listed.hide.split(","):
            live_line("promise", "dp-guarantee", scene.live_text["promise"][scene.step])
