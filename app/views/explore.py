"""Explore: what does this budget buy? The same model fitted twice, exactly and privately."""

from __future__ import annotations

from functools import partial
from html import escape
from time import monotonic
from typing import Any

import numpy as np
import streamlit as st

from app import compute, intervals, pins, steps, upload
from app.callbacks import unbroken
from app.components import brand, ends, live_line, look_again, loss_bar, to_page
from app.covers import cover
from app.explore_scene import choices as choices_in_cards
from app.explore_scene import parts_picture, picked_of, picture, swept_picture, with_choices
from app.export_menu import take_fit
from app.live import live
from app.papers import at_full_size
from app.parts import by_parts
from app.result_store import Data, crowded
from app.scenario import (
    GENERATED,
    LISTED,
    PARTS,
    SHARED,
    UPLOAD,
    Scenario,
    at_hand,
    begun,
    opening,
)
from app.settings import uploads_allowed
from app.settings_panel import more_settings
from app.spoilers import visible
from app.state import change, current, heard, note_misread, step_of
from app.sweeps import (
    Sliding,
    by_noise,
    done,
    hand_over,
    sliding,
    still_to_come,
    swept,
    work_out,
)
from app.tables import data_of, demand_column, judged_on, provenance, store_of
from app.texts import explore as texts
from app.texts.frame import literal
from app.widgets import Apply, box, field, pick, slide
from dpcore.datasets.catalogue import BundledCorpus
from dpcore.declaration import Method, declarations
from dpcore.errors import DPCoreError
from dpcore.evaluation.yardstick import metric_of
from dpcore.figures.budget import NOTE
from dpcore.figures.frames import Picture, current_scene, identity, map_scenes, with_step
from dpcore.figures.scene import Choice, Scene
from dpcore.figures.utility_curve import axis_of
from dpcore.papers.results import record_of
from dpcore.privacy.guarantee import show

SLOW = 2.0  # seconds after which each stop of a dial is shown as it comes
AT_REST = 1.0  # seconds without a change after which the dials beside epsilon are worked out


def page() -> None:
    """Top to bottom: what it is, what to choose, what to drag, what to see, what is promised."""
    scenario = current()
    data = data_of(scenario)
    scenario = on_its_columns(scenario, data)
    brand("unread" if data is None else provenance(data))
    st.html(head(scenario, data))
    choices(scenario, data)
    if data is None:
        upload.panel()
        return
    if scenario.data == UPLOAD:
        upload.custodian_bar()
    store, hand = store_of(data), st.session_state.pop("hand", {})
    beside = sliding(scenario, data, store)
    slides, many = wanted(scenario, beside), crowded()
    late = [dial for dial in slides if dial.name == scenario.dial or dial.key in hand]
    late = [dial for dial in late if not done(scenario, data, store, dial)]
    if (on := budget_wanted(hand, beside)) is not None:
        late = []  # the hand is on epsilon
    sliders(scenario, scenario.budgets(data.rows), beside)
    cover("explore", scenario.hide, lambda: change(hide=""), scenario.data)
    try:
        demand_column(scenario, data)
        hand_over(scenario, data, store, beside)
        with st.spinner(texts.FITTING):
            early = scenario.beside not in SHARED  # their pictures judge each stop at once
            study = compute.study(scenario, data, store, on, ask=not late, early=early)
        pinned = pins.views(scenario, ask=study.complete)
        scenes = pictures(scenario, data, study, beside, pinned)
    except DPCoreError as error:
        st.error(literal(str(error)))
        buttons(scenario, data, None, None, None)
        return
    scene = current_scene(next(iter(scenes.values())))
    if "says" not in scenario.hide.split(","):
        live_line("sentence", "dp-says", scene.live_text["sentence"][scene.step])
        if data.whole is not None:
            played(scenario, data)
    offered = choices_in_cards(scenario, data)
    lists = tuple(choice for choice, _ in offered.values())
    dressed = {key: dressed_in(lists, drawn, scenario, data) for key, drawn in scenes.items()}
    moved = live(dressed, key="picture", wanted=wanted_by_a_hand)
    if moved.picked is not None:
        change(**picked_of(moved.picked, offered, scenario))
        st.rerun()
    if moved.ring is not None:
        change(clip=round(float(np.clip(moved.ring["factor"], 0.1, 1.0)), 2), dial="clip")
        st.rerun()
    each_step = True
    if "curve" not in scenario.hide.split(","):
        worth = metric_of(scenario.model, scenario.setting().metric).worth
        fewer = data.every is not None or scenario.beside == "fitted_rows"
        loss_bar(scene, worth, rows=fewer)
        st.caption(judged_on(scenario, data))
        if "covariance" in scenario.declared.settings.options():
            st.caption(texts.OTHER_WIDTHS)
        with st.container(horizontal=True):
            steps.button()
            each_number(scenario)
        if scenario.beside == PARTS:
            st.caption(texts.parts_rule(scenario.declared.parts))
        each_step = steps.below_the_curve(scenario, data, store)
    ends = intervals.result(scenario, data, store)
    bars = intervals.sentence(scenario, data, ends)
    if note := bars or "".join(scene.live_text.get(NOTE, ())[:1]):
        st.caption(literal(note))
    pins.panel(scenario, data, scene, pinned, beside)
    exported = current_scene(scenes["epsilon_step"]) if scenario.dial == PARTS else scene
    buttons(scenario, data, study, scene, exported)
    full_size(scenario)
    if scenario.declared.reads == "label":
        from app import classes  # slow to import

        last = all(done(scenario, data, store, dial) for dial in slides)
        classes.panel(scenario, data, study, ask=study.complete and (many or last))
    if st.session_state.get(steps.OPENED):
        return  # the page drawn anew would close the dialog; it is, once somebody closes that
    come = partial(coming, scenario, data, hand)
    if any(come(dial, rest=0.0) for dial in late):
        return
    if not study.complete:
        look_again(partial(more_of, study, scenario, data, on is not None, monotonic()), every=0.3)
        return
    if ends is None and intervals.suits(scenario):
        intervals.ask(scenario, data, store)
        look_again(lambda: intervals.result(scenario, data, store) is not None, every=0.3)
        return
    if not each_step:
        look_again(lambda: steps.strip_of(scenario, data, store) is not None, every=0.3)
        return
    if (waited := pins.coming(scenario)) is not None:
        look_again(lambda: pins.coming(scenario) != waited, every=0.3)
        return
    # Among many visitors, each dial's fits wait for somebody who moves it.
    if many or not any(come(dial, rest=AT_REST) for dial in slides):
        compute.load_ahead(store)


def more_of(shown: compute.Study, scenario: Scenario, data: Data, held: bool, begun: float) -> bool:
    """Whether the page is drawn anew for what has come of a study: a few stops at a time, or each
    where a hand waits for one or they are slow."""
    one_by_one = held or monotonic() - begun > SLOW
    together = 1 if one_by_one else compute.stops_together(shown)
    return compute.more_of(shown, scenario, data, store_of(data), together)


def coming(
    scenario: Scenario,
    data: Data,
    hand: dict[str, float],
    dial: Sliding,
    rest: float,
) -> bool:
    """Have the stops of a dial worked out once the page is at rest, and the page drawn anew as they
    come, the one that a hand is on at once; whether any were to come."""
    store, begun = store_of(data), monotonic()
    if done(scenario, data, store, dial):
        return False
    late = still_to_come(scenario, data, store, dial)
    if not rest:
        work_out(scenario, data, store, dial, hand.get(dial.key))
    enough = 1 if dial.key in hand or dial.name == PARTS else max(1, late // 4)

    def there() -> bool:
        waited = monotonic() - begun
        if waited < rest:
            return False
        work_out(scenario, data, store, dial)
        more = late - still_to_come(scenario, data, store, dial)
        return more >= enough or (more > 0 and waited > SLOW) or done(scenario, data, store, dial)

    look_again(there, every=0.3)
    return True


def on_its_columns(scenario: Scenario, data: Data | None) -> Scenario:
    """The scenario on columns that the table has; which of a link it has not, the page says."""
    columns = 2 if data is None else max(2, data.public.dim)
    beyond = [name for name in "xy" if getattr(scenario, name) >= columns]
    if data is None or not beyond:
        return scenario
    change(x=0, y=1)
    if scenario.pool == 1:  # else they were there until pixels were averaged
        note_misread(beyond)
    return current()


@unbroken
def wanted_by_a_hand() -> None:
    """Keep for this run on which stop of which slider a hand is whose fit is still to come."""
    stop = st.session_state["picture"]["wanted"]
    slider = stop["slider"].removeprefix("st-key-")
    st.session_state["hand"] = {slider: stop["value"]}
    heard(slider)


def budget_wanted(hand: dict[str, float], beside: tuple[Sliding, ...]) -> float | None:
    """The budget that a hand is on: by the slider of epsilon, or of what follows from it."""
    for dial in beside:
        if dial.budgets and (stop := hand.get(dial.key)) in dial.stops:
            return dial.budgets[dial.stops.index(stop)]
    return hand.get("epsilon_step")


def wanted(scenario: Scenario, beside: tuple[Sliding, ...]) -> list[Sliding]:
    """The dials whose pictures are worked out, the one that was moved last first: of a slow model
    that one alone."""
    slide = [dial for dial in beside if not dial.why_not]
    slide.sort(key=lambda dial: dial.name != scenario.dial)
    return [dial for dial in slide if scenario.cost == 1.0 or dial.name == scenario.dial]


def pictures(
    scenario: Scenario,
    data: Data,
    epsilon_study: compute.Study,
    beside: tuple[Sliding, ...],
    pinned: pins.Views,
) -> dict[str, Picture]:
    """The pictures that are there by the keys of their sliders, that of the dial moved last
    first."""

    def drawn(picture: Picture, dial: str) -> Picture:
        return pins.with_ghost(picture, scenario, data, pinned, dial)

    scenes = {"epsilon_step": drawn(picture(scenario, data, epsilon_study), "epsilon")}
    for dial in wanted(scenario, beside):
        over: Picture | None = None
        if dial.name == PARTS:
            fitted = by_parts(scenario, data, store_of(data))
            over = parts_picture(scenario, data, dial, fitted, epsilon_study)
        elif dial.budgets:
            whole, _ = compute.with_extra_budget(epsilon_study, scenario, data, store_of(data))
            over = swept_picture(scenario, data, dial, by_noise(whole, dial))
        elif study := swept(scenario, data, store_of(data), dial, epsilon_study.references):
            over = swept_picture(scenario, data, dial, study)
        if over is not None:
            swept_scene = {dial.key: drawn(over, dial.name)}
            scenes = swept_scene | scenes if dial.name == scenario.dial else scenes | swept_scene
    return scenes


def dressed_in(
    lists: tuple[Choice, ...], picture: Picture, scenario: Scenario, data: Data
) -> Picture:
    """The picture with lists in its head, without what a link hides."""
    key = ("dressed", identity(picture), lists, scenario.hide)

    def make() -> Picture:
        return map_scenes(
            picture, lambda scene: with_choices(visible("explore", scene, scenario.hide), lists)
        )

    return with_step(store_of(data).scenes.get(key, make), picture.step)


def each_number(scenario: Scenario) -> None:
    """Pulls the number of parts up to the sliders, or puts it back; for a model with a choice."""
    kind = scenario.declared
    if kind.most == kind.least:
        return
    slides = scenario.beside == PARTS and scenario.dial == PARTS
    st.button(
        texts.parts_button(kind.parts, slides=slides),
        key="each_number",
        on_click=lambda: change(third="" if slides else PARTS, dial="epsilon" if slides else PARTS),
        help=texts.parts_help(kind.parts),
    )


def played(scenario: Scenario, data: Data) -> None:
    """The attack on the person who was taken out, measured: a lower bound beside the proved one."""
    try:
        attack = compute.exposure(scenario, data, store_of(data))
    except DPCoreError:
        return  # the budget is out of reach, which the picture says
    if attack is None:
        return
    whose = texts.target(
        data.unit,
        label=scenario.adjacency == "label",
        one_row=data.is_one_row(scenario.rows_per_person),
        rows=1 if data.schema.person is not None else scenario.rows_per_person,
    )
    rates = attack.rate, attack.low, attack.high
    live_line("played", "dp-played", texts.attack(scenario.epsilon, whose, *rates, attack.guesses))


def head(scenario: Scenario, data: Data | None) -> str:
    """Headline and sentence, as HTML."""
    standing_in = data is not None and provenance(data) == "stand-in"
    return (
        f'<div class="dp-head"><h1 class="dp-title">{texts.HEADING}</h1>'
        f'<p class="dp-lead">{lead(scenario, data, standing_in=standing_in)}</p></div>'
    )


def lead(scenario: Scenario, data: Data | None, *, standing_in: bool) -> str:
    """One sentence that says what is shown and what to do, as HTML."""
    if data is None:
        return texts.NO_TABLE
    all_rows = data.every or data
    count = "" if all_rows.in_table is None else f"{all_rows.in_table:,} "
    kind = "simulated " if data.provenance == "simulated" else ""
    who = {"person": "people"}.get(data.unit, f"{data.unit}s")
    if data.documents:
        who = f"{data.schema.thing}s"
    else:
        who = texts.whose_rows(
            who,
            one_row=data.is_one_row(scenario.rows_per_person),
            label=scenario.adjacency == "label",
            without=data.whole is not None,
        )
    if standing_in:
        who = texts.stand_ins(data.schema.thing, documents=data.documents)
    listed = data.documents and data.provenance != "upload"
    own = texts.OWN_DOCUMENTS if listed else ""
    if data.credit:
        own += f" {escape(data.credit)}"
    rows = f"{count}{kind}{escape(who)}"
    if data.every is not None:
        assert data.rows is not None  # some were drawn
        return texts.lead_of_some(rows, data.rows, own)
    return texts.lead(rows, own)


def choices(scenario: Scenario, table: Data | None) -> None:
    """The row of choices."""
    hidden = scenario.hide.split(",")
    data, model, method, counting = st.columns([1.2, 1.29, 1.26, 0.85])
    with data:
        _select("data", "Data", sources(), scenario.data, on_data, "data" in hidden)
    with model:
        now = (scenario.model, scenario.components)
        titles_of = {
            (model, parts): declarations()[model].titled(parts)
            for model, parts in _models(scenario, table)
        }
        _select("model", "Model", titles_of, now, on_model, "model" in hidden)
    with method:
        recipes = {name: method_title(recipe) for name, recipe in scenario.recipes().items()}
        apply = field(scenario, "method")
        _select("method", "Method", recipes, scenario.method, apply, "method" in hidden)
    with counting:
        refused = scenario.refused()
        ways = scenario.titles((*scenario.methods(), *refused))
        ways = {name: texts.FULL_TITLES.get(title, title) for name, title in ways.items()}
        ways |= {name: f"✗ {ways[name]}" for name in refused}

        def count_by(name: str) -> None:
            if name in refused:
                st.session_state["refused"] = refused[name]
            else:
                change(count_by=name)

        _select("count_by", "Composition", ways, scenario.count_by, count_by, "count" in hidden)
    if why := st.session_state.pop("refused", ""):
        st.warning(texts.composition_stays(why, ways[scenario.count_by]))


def data_titles() -> dict[str, str]:
    """What comes with the package or was added to it, as the list of data has it."""
    return {
        table.name: f"{table.title} (documents)"
        if isinstance(table, BundledCorpus)
        else f"{table.title} ({table.rows:,} × {table.features:,})"
        for table in at_hand()
    }


def sources() -> dict[str, str]:
    """What can be chosen here: files of one's own only where this server takes them."""
    own = {UPLOAD: "Your own file…"} if uploads_allowed() else {}
    return data_titles() | {GENERATED: "Generated table"} | own


def method_title(method: Method) -> str:
    """A method with its badge."""
    return f"{method.title} · {method.badge}"


def on_data(name: str) -> None:
    """Another table: begin with the model, parts and steps that suit it."""
    first = opening(name)
    change(
        data=name,
        model=first.model,
        x=0,
        y=1,
        without=False,
        pins="",
        **begun(first),
    )


def on_model(chosen: tuple[str, int]) -> None:
    """Another model begins as suits the table; another number of parts changes nothing else."""
    model, parts = chosen
    scenario = current()
    if model == scenario.model:
        change(components=parts)
        return
    change(model=model, **begun(opening(scenario.data, model)))


def _models(scenario: Scenario, table: Data | None) -> list[tuple[str, int]]:
    """Every number of parts of the current model, then the other models as they would open, where
    the table has what they read."""
    kind = scenario.declared
    most = min(kind.most, LISTED)
    if kind.below_columns and table is not None:
        most = min(most, table.public.dim - 1)
    listed = {*range(kind.least, most + 1), scenario.components}
    own = [(scenario.model, parts) for parts in sorted(listed)]
    others = [
        opening(scenario.data, model)
        for model, other in declarations().items()
        if model != scenario.model
        and (other.reads == "features" if table is None else other.suits(table.schema))
    ]
    return own + [(other.model, other.components) for other in others]


def _select(
    name: str, label: str, options: dict[Any, str], value: Any, apply: Apply, hidden: bool
) -> None:
    """A list for one choice, unless a link hides it."""
    if not hidden:
        pick(f"choice_{name}", label, options, value, apply, texts.HELP[name])


def sliders(scenario: Scenario, budgets: tuple[float, ...], beside: tuple[Sliding, ...]) -> None:
    """Epsilon with the exact box that stays in step with it, and the dials beside it."""
    hidden = scenario.hide.split(",")
    beside = tuple(dial for dial in beside if word_of(dial.name) not in hidden)
    wide = [] if "epsilon" in hidden else [3.4, 1.0]
    if not wide and not beside:
        return
    columns = st.columns([*wide, *[1.6] * len(beside)], vertical_alignment="bottom")
    if wide:
        with columns[0]:
            slide(
                "epsilon_step",
                texts.LABELS["epsilon"],
                budgets,
                budgets[step_of(scenario.epsilon, budgets)],
                lambda chosen: change(epsilon=chosen, dial="epsilon"),
                texts.HELP["epsilon"],
                show,
            )
            ends(*texts.ENDS["epsilon"])
        with columns[1]:
            box(scenario, "epsilon", "Exact ε", 0.1, form="%.3g", key="epsilon_exact")
    for dial, column in zip(beside, columns[len(wide) :], strict=True):
        with column:
            slide_beside(scenario, dial)


def slide_beside(scenario: Scenario, dial: Sliding) -> None:
    """The slider of a dial beside epsilon."""
    label, sides, help = words_of(scenario, dial.name)
    slide(
        dial.key,
        label,
        dial.stops,
        dial.stops[dial.place],
        lambda chosen: change(**dial.put(chosen, current())),
        dial.why_not or help,
        axis_of(scenario.model, dial.name).show,
        disabled=bool(dial.why_not),
    )
    ends(*sides)


def words_of(scenario: Scenario, dial: str) -> tuple[str, tuple[str, str], str]:
    """A dial's label, what lies at its ends, and what it does."""
    if dial == PARTS:
        parts = scenario.declared.parts
        return f"Number of {parts}", texts.ENDS[PARTS], texts.parts_help(parts)
    if dial in texts.ENDS:
        label = texts.LABELS.get(dial) or texts.TITLES[dial]
        return label, texts.ENDS[dial], texts.HELP[dial]
    option = scenario.offered()[dial]
    assert option.slide is not None  # it is one of those that slide
    return option.slide.name, option.slide.ends, option.help


def word_of(dial: str) -> str:
    """By which a link hides a dial: any that was pulled up stands in the place of clipping."""
    return dial if dial in ("epsilon", "delta") else "clip"


def buttons(
    scenario: Scenario,
    data: Data,
    study: compute.Study | None,
    scene: Scene | None,
    exported: Scene | None,
) -> None:
    """What is promised, and what to try next. exported: the picture to take."""
    if scene is not None and "promise" not in scenario.hide.split(","):
        live_line("guarantee", "dp-guarantee", scene.live_text["guarantee"][scene.step])
    with st.container(horizontal=True):
        tries(scenario, data)
        more_settings(scenario, data)
        take_fit(scenario, data, study, exported)


def tries(scenario: Scenario, data: Data) -> None:
    """Other noise, one person less, every step."""
    st.button(
        texts.NEW_NOISE,
        on_click=lambda: change(noise=scenario.noise + 1),
        help=texts.NEW_NOISE_HELP,
    )
    label = scenario.adjacency == "label"
    unit = data.unit if data.is_one_row(scenario.rows_per_person) else data.schema.thing
    st.button(
        texts.change_button(literal(unit), label=label, changed=scenario.without),
        on_click=lambda: change(without=not scenario.without),
        help=texts.change_help(label=label),
    )
    if st.button(texts.STEPS, key=steps.OPENED, help=texts.STEPS_HELP):
        steps.dialog(scenario, data, store_of(data))
    pins.pin_button(scenario, change, texts)
    metrics(scenario)


def metrics(scenario: Scenario) -> None:
    """By what utility is measured, where there is a choice."""
    titles = {metric.name: metric.title for metric in scenario.declared.metrics}
    if len(titles) < 2:
        return
    now = scenario.declared.metric(scenario.metric)
    with st.popover(f"Metric: {titles[now]}"):
        pick("metric", "Utility", titles, now, field(scenario, "metric"), texts.HELP["metric"])


def full_size(scenario: Scenario) -> None:
    """A link from a table that stands for one of the papers' to what was worked out on that one."""
    figure = at_full_size(scenario.data)
    if figure is not None:
        label = texts.at_full_size(record_of(figure)["title"])
        to_page("learn", {"figure": figure}, label, ":material/history:")
