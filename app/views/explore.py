"""Explore: what does this budget buy? The same model fitted twice, exactly and privately."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from app import classes, compute, drawers, hiding, steps, upload
from app.components import brand, guarantee_line, slot, to_page
from app.live import live
from app.papers import at_full_size
from app.scenario import (
    GENERATED,
    MODELS,
    UPLOAD,
    Kind,
    Scenario,
    method_title,
    model_title,
    opening,
)
from app.state import bind, change, current, on_choice, step_of
from dpcore.accounting import guess_rate
from dpcore.datasets.catalogue import bundled
from dpcore.datasets.cities import CITIES
from dpcore.datasets.corpora import corpora
from dpcore.errors import DPCoreError
from dpcore.evaluation.verdict import attack_sentences, found_sentences, verdicts
from dpcore.figures.budget import Words, budget_scene
from dpcore.figures.scene import Scene
from dpcore.privacy import Guarantee, Ledger
from dpcore.privacy.guarantee import show


def page() -> None:
    """Top to bottom: what it is, what to choose, what to drag, what to see, what is promised."""
    scenario = current()
    data = drawers.data_of(scenario)
    brand("unread" if data is None else drawers.provenance(data))
    st.html('<h1 class="dp-title">See what privacy costs.</h1>')
    lead(scenario, data, standing_in=data is not None and drawers.provenance(data) == "stand-in")
    choices(scenario, data)
    if data is None:
        upload.panel(scenario)
        return
    if scenario.data == UPLOAD:
        upload.custodian_bar()
    budget(scenario, scenario.budgets(data.rows))
    hiding.cover("explore", scenario.hide, lambda: change(hide=""))
    try:
        found = compute.study(scenario, data, drawers.desk(data))
        scene = picture(scenario, data, found)
    except DPCoreError as error:
        st.error(str(error))
        buttons(scenario, data, None)
        return
    if "says" not in scenario.hide.split(","):
        slot("sentence", "dp-says", scene.slots["sentence"][scene.step])
        if data.whole is not None:
            played(scenario, data)
    seen = hiding.uncovered("explore", scene, scenario.hide)
    moved = live(seen, key="picture", slider_key="epsilon_step")
    if moved.ring is not None:
        change(clip=round(float(np.clip(scenario.clip * moved.ring["factor"], 0.1, 1.0)), 2))
        st.rerun()
    buttons(scenario, data, scene)
    full_size(scenario)
    classes.panel(scenario, data)
    if not found.complete:
        drawers.watch(scenario, data, found)


def played(scenario: Scenario, data: compute.Data) -> None:
    """The attack on the person who was taken out, measured: a lower bound beside the proved one."""
    try:
        found = compute.exposure(scenario, data, drawers.desk(data))
    except DPCoreError:
        return  # the budget is out of reach, which the picture says
    if found is None:
        return
    changed = scenario.adjacency == "label"
    whose = f"the {data.unit} whose label changed" if changed else f"the {data.unit} taken out"
    slot(
        "played",
        "dp-played",
        f"At ε = {show(scenario.epsilon)} we played this attacker on {whose}: right in "
        f"**{100 * found.rate:.0f} of 100** guesses (95% interval {100 * found.low:.0f} to "
        f"{100 * found.high:.0f}, {found.guesses:,} guesses). Success can break a promise, never "
        "prove one.",
    )


def lead(scenario: Scenario, data: compute.Data | None, *, standing_in: bool) -> None:
    """One sentence that says what is shown and what to do."""
    if data is None:
        st.html(
            '<p class="dp-lead">Your table stays on this machine and is never written to disk.</p>'
        )
        return
    count = "" if data.rows is None else f"{data.rows:,} "
    kind = "simulated " if data.provenance == "simulated" else ""
    who = {"person": "people"}.get(data.unit, f"{data.unit}s")
    if data.whole is not None:
        who += " (one label changed)" if scenario.adjacency == "label" else " (one of them removed)"
    if data.documents:
        who = f"{data.schema.thing}s"
    if standing_in:
        who = "stand-in rows drawn from your limits"
    st.html(
        f'<p class="dp-lead">One model, fitted twice to the same {count}{kind}{escape(who)}: '
        "exactly, and with differential privacy. Drag epsilon and watch what survives."
        + (" Documents of your own: <code>dpcore fit lda FILE</code>." if data.documents else "")
        + "</p>"
    )


def choices(scenario: Scenario, table: compute.Data | None) -> None:
    """The row of choices."""
    hidden = scenario.hide.split(",")
    data, model, method, counting = st.columns([1.15, 1.22, 1.33, 0.9])
    titles = {b.name: f"{b.title} ({b.rows:,} × {b.features:,})" for b in bundled()}
    titles |= {one.name: f"{one.title} (documents)" for one in corpora()}
    titles |= {GENERATED: "Generated table", UPLOAD: "Your own file…"}
    with data:
        _select("data", "Data", titles, scenario.data, drawers.on_data, "data" in hidden)
    with model:
        now = (scenario.model, scenario.components)
        titles_of = {choice: model_title(*choice) for choice in _models(scenario, table)}
        _select("model", "Model", titles_of, now, drawers.on_model, "model" in hidden)
    with method:
        recipes = {name: f"{r.title} · {r.badge}" for name, r in scenario.recipes().items()}
        _select("method", "Method", recipes, scenario.method, None, "method" in hidden)
    with counting:
        ways = {m: method_title(m) for m in scenario.methods()}
        _select("count_by", "Count the cost by", ways, scenario.count_by, None, "count" in hidden)


def _models(scenario: Scenario, table: compute.Data | None) -> list[tuple[str, int]]:
    """Every number of parts of the current model, then the other models as they would open, where
    the table has what they read."""
    kind = MODELS[scenario.model]
    own = [(scenario.model, parts) for parts in range(kind.least, kind.most + 1)]
    others = [
        opening(scenario.data, model)
        for model, other in MODELS.items()
        if model != scenario.model and _suits(other, table)
    ]
    return own + [(other.model, other.components) for other in others]


def _suits(kind: Kind, table: compute.Data | None) -> bool:
    """Whether a table has what a model reads; where none is there yet, rows of features."""
    return (
        not (kind.target or kind.label or kind.documents)
        if table is None
        else kind.reads(table.schema)
    )


def _select(
    name: str,
    label: str,
    options: dict[Any, str],
    value: Any,
    on_change: Callable[[Any], None] | None,
    hidden: bool,
) -> None:
    """A select box bound to one field of the scenario."""
    if hidden:
        return
    key = f"choice_{name}"
    bind(key, value)
    st.selectbox(
        label,
        list(options),
        format_func=options.__getitem__,
        key=key,
        on_change=on_choice(key, on_change or (lambda chosen: change(**{name: chosen}))),
        help=HELP[name],
    )


SEES = {
    "simulated": "sees everyone",
    "public": "sees everyone",
    "upload": "sees everyone · for the custodian only",
    "stand-in": "of stand-in rows",
}
HELP = {
    "data": "Bundled tables may be shown to anybody. Your own file stays on this machine.",
    "model": "A mixture: groups, each a bell-shaped cloud. k-means: centres alone. "
    "Factor analysis: a few hidden causes that move many columns together. Mirrored clouds, "
    "opposite lines, regression with gaps: one list of coefficients, found step by step. "
    "Classes: a labelled table's, one cloud each. Yes or no: which columns speak for a yes. "
    "Topics: lists of words that documents mix. Belief network: hidden switches that light pixels.",
    "method": "Proved: only steps whose privacy we derive from what was released; the number is a "
    "ceiling you can replay. As published: the paper's equations with the epsilon it states, "
    "whether or not it holds.",
    "count_by": "The fit spends privacy in several steps; this is how their costs are added up. "
    "Better counting needs less noise for the same epsilon.",
}


def budget(scenario: Scenario, budgets: tuple[float, ...]) -> None:
    """The slider, and the exact box that stays in step with it."""
    if "epsilon" in scenario.hide.split(","):
        return
    slider, box = st.columns([6, 1], vertical_alignment="bottom")
    with slider:
        nearest = budgets[step_of(scenario.epsilon, budgets)]
        bind("epsilon_step", nearest)
        st.select_slider(
            "Privacy budget ε",
            budgets,
            format_func=show,
            key="epsilon_step",
            on_change=on_choice("epsilon_step", lambda chosen: change(epsilon=chosen)),
            help="Smaller hides each person better; larger follows the data more closely.",
        )
        st.html(
            '<p class="dp-ends"><span>◂ stronger privacy</span>'
            "<span>closer to the data ▸</span></p>"
        )
    with box:
        bind("epsilon_exact", scenario.epsilon)
        st.number_input(
            "Exact ε",
            min_value=0.01,
            max_value=100.0,
            step=0.1,
            format="%.3g",
            key="epsilon_exact",
            on_change=on_choice("epsilon_exact", lambda chosen: change(epsilon=chosen)),
        )


def picture(scenario: Scenario, data: compute.Data, found: compute.Study) -> Scene:
    """The scene of the scenario, as far as its study is worked out."""
    desk = drawers.desk(data)
    key = (
        data.key,
        drawers.without_epsilon(scenario),
        found.grid.utility.shape[1],
        found.curves is None,
    )
    found, step = compute.with_extra_budget(found, scenario, data, desk)
    typed = scenario.epsilon if step >= len(scenario.budgets(data.rows)) else None
    drawn: Scene = desk.scenes.get((key, typed), lambda: scene_of(scenario, data, found))
    return drawn.at(step)


def scene_of(scenario: Scenario, data: compute.Data, found: compute.Study) -> Scene:
    """Words and numbers of a study, as one moving picture."""
    grid = found.grid
    single = np.full(len(grid.epsilons), -np.inf) if found.curves is None else found.curves.single
    chances = np.array([_chance(*one) for one in zip(grid.guarantees, grid.ledgers, strict=True)])
    attacks = attack_sentences(chances, data.unit, scenario.adjacency, data.schema.thing)
    groups = found_sentences(grid)
    classes = drawers.told_of_classes(scenario, found)
    own = drawers.provenance(data) == "upload"
    eyes = " (for the custodian only)" if own else ""
    judged = [v.text + eyes for v in verdicts(grid, found.references, single)]
    ghosts = grid.utility.shape[1] - 1
    cut = found.references.clipped_share
    words = Words(
        verdicts=tuple(judged) if found.curves is not None else ("comparing…",) * len(judged),
        slots={
            "sentence": tuple(
                f"{a} {g}{c}" for a, g, c in zip(attacks, groups, classes, strict=True)
            ),
            "guarantee": tuple(
                guarantee_line(g, r) for g, r in zip(grid.guarantees, grid.refusals, strict=True)
            ),
            "split": drawers.loss_split(found),
        },
        exact_subtitle=SEES[drawers.provenance(data)]
        + (f", clipping would move {cut:.0%}" if cut > 0.005 else ""),
        private_subtitle=(
            _hidden(scenario, data)
            if any(g is not None and g.epsilon is not None for g in grid.guarantees)
            else "nothing is proved"
        )
        + (" · rehearsal" if own else "")
        + _faint(scenario, ghosts),
        unit=data.unit,
        method_titles={m: method_title(m) for m in scenario.methods()},
    )
    return budget_scene(
        grid,
        found.references,
        found.curves,
        words,
        pair=drawers.pair(scenario, data),
        rows=compute.shown_rows(data, drawers.desk(data), scenario.model),
        clip=scenario.clip,
        chosen=scenario.count_by,
        delta_text=f"(δ = {show(scenario.delta)})",
        positions=tuple(range(len(scenario.budgets(data.rows)))),
        window=drawers.window(scenario, data),
        image=drawers.image(data),
        places=CITIES,
        marks=drawers.marks(scenario, data, found),
    )


def _hidden(scenario: Scenario, data: compute.Data) -> str:
    """Who or what a proved fit hides."""
    name = data.schema.label or data.schema.target
    if scenario.adjacency == "label":
        return f"hides “{name}” · the other columns are public"
    if scenario.adjacency == "feature":
        return f"hides each {data.unit} · “{name}” is public"
    return f"hides each {data.unit}"


def _faint(scenario: Scenario, ghosts: int) -> str:
    """What the faint draws are; left out where more has to be said."""
    said = scenario.adjacency in ("label", "feature")
    if said or not ghosts or not MODELS[scenario.model].ghosts:
        return ""
    return f" · faint: {ghosts} other draws"


def _chance(guarantee: Guarantee | None, ledger: Ledger | None) -> float:
    """The best attacker's rate of success; NaN where nothing is proved."""
    if guarantee is None or guarantee.epsilon is None or ledger is None:
        return np.nan
    return float(guess_rate(ledger.events))


def buttons(scenario: Scenario, data: compute.Data, scene: Scene | None) -> None:
    """What to try next on the left, what is promised on the right."""
    noise, remove, walk, more, take, line = st.columns(
        [0.9, 1.3, 1.0, 1.15, 1.2, 3.6], vertical_alignment="center"
    )
    noise.button(
        "New noise",
        on_click=lambda: change(noise=scenario.noise + 1),
        help="Draw the noise again: the private fits move, the exact fit does not.",
        width="stretch",
    )
    label = scenario.adjacency == "label"
    goes = "Change one label" if label else f"Remove one {data.unit}"
    back = "Put the label back" if label else f"Put the {data.unit} back"
    remove.button(
        back if scenario.without else goes,
        on_click=lambda: change(without=not scenario.without),
        help=("That of the one" if label else "The one") + " farthest from all others. The exact "
        "fit may move, the private one hardly.",
        width="stretch",
    )
    if walk.button(
        "Step by step",
        help="How far each method has come after each of its steps.",
        width="stretch",
    ):
        steps.dialog(scenario, data, drawers.desk(data))
    with more:
        drawers.more_settings(scenario, data)
    with take:
        drawers.take_away(scenario, data, scene)
    with line:
        if scene is not None and "promise" not in scenario.hide.split(","):
            slot("guarantee", "dp-guarantee", scene.slots["guarantee"][scene.step])


def full_size(scenario: Scenario) -> None:
    """A link from a table that stands for one of the papers' to what was worked out on that one."""
    figure = at_full_size(scenario.data)
    if figure is not None:
        from app.learning import figures  # costs half a second, which most tables need not pay

        label = f"At the paper's size, worked out earlier: {figures()[figure]}"
        to_page("learn", {"figure": figure}, label, ":material/history:")
