"""Attack: does the promise hold? Play the attacker on one person, at every budget."""

from __future__ import annotations

import math
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from app import attacking
from app.attacking import CHOSEN, TYPED, WORST, Cells, Game
from app.components import brand, ends, live_line, look_again
from app.covers import cover
from app.links import Reader, all_of, among, misread
from app.live import live
from app.result_store import Data
from app.spoilers import hideable, visible
from app.state import addressed, note_misread, taken_on
from app.tables import provenance, store_of, whole_table
from app.texts import attack as texts
from app.texts.frame import literal
from app.texts.upload import TABLE_FIRST
from dpcore.errors import DPCoreError
from dpcore.figures.attack import exhibit_scene
from dpcore.privacy.guarantee import show
from dpcore.schema import Column
from dpcore.schema.forms import day_of

READERS: dict[str, Reader] = {  # of a link's own words
    "epsilon": among([f"{epsilon:g}" for epsilon in attacking.EPSILONS]),
    "hide": all_of(partial(hideable, "attack")),
}


def page() -> None:
    """Top to bottom: what it is, whom to attack, what to drag, what to see, what does not hold."""
    scenario, arriving = taken_on("attack", own=READERS)
    hide = linked(arriving)
    data = whole_table(scenario)
    brand("none" if data is None else provenance(data))
    st.html(f'<h1 class="dp-title">{texts.TITLE}</h1>')
    if data is None:
        st.html(f'<p class="dp-lead">{TABLE_FIRST}</p>')
        exhibits()
        return
    above = st.empty()
    whose, row, cells = victim(data)
    names = data.schema.thing, escape(data.unit), escape(scenario.title), escape(data.title)
    above.html(f'<p class="dp-lead">{texts.lead(*names, made_up=whose == WORST)}</p>')
    try:
        attacking.demand_quick(scenario)
    except DPCoreError as refusal:
        st.error(literal(str(refusal)))
        exhibits()
        return
    step()
    cover("attack", hide, st.query_params.clear)
    place = attacking.EPSILONS.index(st.session_state["attack_step"])

    def play() -> Game:
        return attacking.game(scenario, data, store_of(data), whose, row, cells, first=place)

    try:
        game = play()
    except DPCoreError as refusal:
        st.error(literal(str(refusal)))
        exhibits()
        return
    played = len(game.plays)
    scene = attacking.scene(game, scenario, data).at(place)
    if "says" not in hide.split(","):
        live_line("attacked", "dp-says", scene.live_text["attacked"][scene.step])
    live({"attack_step": visible("attack", scene, hide)}, key="attack")
    exhibits()
    if played < len(attacking.EPSILONS):
        look_again(lambda: len(play().plays) > played, every=0.3)


def linked(arriving: bool) -> str:
    """What a link hides here; who comes by a link finds the slider where it says."""
    address, _ = addressed()
    if arriving:
        own = {name: address[name] for name in READERS if name in address}
        odd = misread(own, READERS)
        note_misread(odd)
        if "epsilon" in own and "epsilon" not in odd:
            st.session_state["attack_step"] = float(own["epsilon"])
    return hideable("attack", address.get("hide", ""))


def victim(data: Data) -> tuple[str, int, Cells]:
    """Whose row is at stake: which row that is where one is named, and the cells that are typed."""
    left, right, _ = st.columns([2, 1, 3])
    choices = [kind for kind in texts.WHOSE if kind != TYPED or attacking.typed_columns(data)]
    whose = left.selectbox(
        "Whose row?",
        choices,
        format_func=lambda kind: texts.WHOSE[kind].format(unit=data.unit),
        key="attack_whose",
    )
    if whose == TYPED:
        return TYPED, 0, typed(data)
    if whose != CHOSEN or (rows := data.in_table) is None:
        return str(whose), 0, ()
    return CHOSEN, int(right.number_input("Row", 1, rows, 1, key="attack_row")) - 1, ()


def typed(data: Data) -> Cells:
    """The cells of somebody new, in the columns' own units, inside their public limits."""
    kinds = st.column_config

    def kind_of(column: Column) -> Any:
        values = attacking.values_of(column)
        if values:
            return kinds.SelectboxColumn(column.name, options=values, required=True)
        if column.type == "date":
            first, last = day_of(math.ceil(column.low)), day_of(math.floor(column.high))
            return kinds.DateColumn(column.name, min_value=first, max_value=last, required=True)
        return kinds.NumberColumn(
            f"{column.name} ({column.unit})" if column.unit else column.name,
            min_value=column.lower,
            max_value=column.upper,
            required=True,
        )

    first = attacking.first_cells(data)
    places = {name: str(place) for place, name in enumerate(first)}  # it reserves some names
    (cells,) = st.data_editor(
        [{places[name]: cell for name, cell in first.items()}],
        column_config={places[c.name]: kind_of(c) for c in attacking.typed_columns(data)},
        hide_index=True,
        key=f"attack_typed_{data.key}",
    )
    return attacking.typed_cells({name: cells[place] for name, place in places.items()})


def step() -> None:
    """The slider over the budgets that are attacked."""
    st.session_state.setdefault("attack_step", 5.0)
    with st.columns(1)[0]:  # as on the other pages: what holds a slider stays in sight
        st.select_slider(
            "Privacy budget ε",
            attacking.EPSILONS,
            st.session_state["attack_step"],
            format_func=show,
            key="attack_step",
            help=texts.BUDGET_HELP,
        )
        ends(*texts.ENDS)


def exhibits() -> None:
    """Counterexamples, each replayable."""
    with st.container(border=True, key="exhibits"):
        st.html(f"<h2>{texts.EXHIBITS}</h2>")
        titles = attacking.titles()
        name = st.selectbox(
            "Exhibit",
            list(titles),
            None,
            format_func=titles.__getitem__,
            key="exhibit",
            placeholder=texts.choose(len(titles)),
        )
        if name is None:
            return
        with st.spinner("Attacking…"):
            shown = attacking.exhibit(name)
        st.markdown(f"**{shown.sentence}**")
        live({"none": exhibit_scene(shown)}, key=f"exhibit_{name}")
        st.markdown("\n".join(f"- {line}" for line in shown.sentences()[:-1]))
        st.code(f"dpcore audit {name}", language=None)
