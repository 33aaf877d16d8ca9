"""Behind the first screen: data of every origin, more settings, and things to take away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app import compute, hiding, upload
from app.components import guarantee_details, spending
from app.compute import Data, Desk, Study
from app.exports import command, notebook, script, upload_command
from app.scenario import (
    CHOICES,
    GENERATED,
    MODELS,
    RECIPES,
    UPLOAD,
    Made,
    Scenario,
    opening,
    read_words,
    write_words,
)
from app.state import bind, change, current, on_choice
from dpcore.datasets.catalogue import find
from dpcore.datasets.corpora import find_corpus, is_corpus
from dpcore.datasets.documents import load_documents
from dpcore.datasets.load import load
from dpcore.errors import InputError
from dpcore.evaluation.factors import sight
from dpcore.evaluation.labelled import divergence, noise_alone
from dpcore.evaluation.yardstick import mapped, yardstick
from dpcore.figures.scene import Scene
from dpcore.fitting.labelled_parameters import warned
from dpcore.fitting.result import Fit
from dpcore.models.gmm import Mixture
from dpcore.privacy.guarantee import show
from dpcore.releases.sheet import as_csv
from dpcore.wall.custodian_documents import custodian_documents

Array = NDArray[np.float64]


def desk(data: Data) -> Desk:
    """Where results on this data lie: uploads in the session, everything else shared."""
    if "desk" not in st.session_state:
        st.session_state["desk"] = Desk()
    return compute.desk_for(data, st.session_state["desk"])


def data_of(scenario: Scenario) -> Data | None:
    """The table of the scenario; ``None`` while an upload is not ready to be fitted."""
    if scenario.data == UPLOAD:
        data = upload.ready()
    elif scenario.data == GENERATED:
        data = compute.bundle(("made", scenario.made), lambda: _generated(scenario.made))
    else:
        data = compute.bundle(("bundled", scenario.data), lambda: _bundled(scenario.data))
    if data is not None and scenario.pool > 1 and data.schema.image is not None:
        data = compute.pooled(data, scenario.pool, desk(data))
    if data is not None and scenario.without:
        return compute.neighbour(data, scenario.adjacency, desk(data))
    return data


def window(scenario: Scenario, data: Data) -> tuple[Mixture, Array | None]:
    """What the axes must hold: the exact fit to everybody, and the rows where all are shown."""
    data = data.whole or data
    best = compute.references_of(scenario.setting(data.secret), data, desk(data)).converged
    rows = compute.shown_rows(data, desk(data), scenario.model)
    return best, rows if len(rows) == data.rows else None


def _squares(data: Data, pool: int) -> list[int]:
    """Sides of the squares of pixels that may be averaged; empty where rows are no pictures."""
    shape = image(data)
    if shape is None:
        return []
    height, width = (side * pool for side in shape)  # of the table as it came
    return [side for side in (1, 2, 4, 8) if height % side == width % side == 0]


def image(data: Data) -> tuple[int, int] | None:
    """Height and width, where rows are pictures."""
    shape = data.schema.image
    return None if shape is None else (shape.height, shape.width)


def marks(scenario: Scenario, data: Data, found: Study) -> tuple[tuple[float, str], ...]:
    """The epsilons from which something can be seen at all, for a proved factor analysis."""
    if scenario.model != "fa" or RECIPES[scenario.method].mode == "paper" or data.rows is None:
        return ()
    known = sight(scenario.setting(data.secret), data.public, data.rows, found.references.converged)
    shown = [(known.any_data, "below, no factor of any data shows")]
    shown += [
        (one, f"factor {k}" + (" can show from here" if k == 1 else ""))
        for k, one in enumerate(known.each, start=1)
    ]
    return tuple((epsilon, label) for epsilon, label in shown if np.isfinite(epsilon))


NOT_KNOWN = ("public_shapes", "plain_laplace", "least_trace")  # no rule says what noise costs them


def told_of_classes(scenario: Scenario, found: Study) -> tuple[str, ...]:
    """How far each budget's bold release is from the exact classes, and what noise has eaten."""
    grid = found.grid
    if scenario.model != "gmm-release":
        return ("",) * len(grid.epsilons)
    exact, known = found.references.converged, np.full(len(grid.epsilons), np.nan)
    if scenario.method not in NOT_KNOWN:
        known = noise_alone(grid.noise, exact, scenario.adjacency, scenario.rows_per_person)
    bold = mapped(grid.fits, lambda one: one[:, 0])
    told = []
    away_all = np.where(np.isfinite(grid.noise), divergence(bold, exact), np.nan)
    for away, least, doubts in zip(away_all, known, bold.doubt, strict=True):
        text = f" Divergence from exact: {show(float(away))}" if np.isfinite(away) else ""
        if text and np.isfinite(least):
            text += f"; were every shape known, noise alone would cost about {show(float(least))}"
        warnings = "".join(f" Warning: {one}." for one in warned(tuple(exact.names[0]), doubts))
        told.append((f"{text}." if text else "") + warnings)
    return tuple(told)


def _bundled(name: str) -> Data:
    if is_corpus(name):
        described, corpus = find_corpus(name), load_documents(f"bundled:{name}")
        rows = len(custodian_documents(corpus)[1])  # anybody may count what comes with the package
        return Data(name, described.title, corpus, corpus.schema, described.provenance, rows)
    known = find(name)
    table = load(f"bundled:{name}")
    return Data(name, known.title, table, known.schema, known.provenance, known.rows)


def _generated(made: str) -> Data:
    choice = Made.parse(made)
    table = load(f"generated:{choice}")
    assert table.schema is not None  # made with it
    return Data(f"made/{choice}", "Generated table", table, table.schema, "simulated", choice.rows)


def provenance(data: Data) -> str:
    """The badge of the data."""
    return "stand-in" if data.provenance == "upload" and not upload.shown() else data.provenance


BADGES = {
    "upload": " · exact values of your table, for the custodian only · rehearsal",
    "stand-in": " · of stand-in rows",
}


def badge(data: Data) -> str:
    """What a figure of the data wears behind its title; empty where everything may be shown."""
    return BADGES.get(provenance(data), "")


def on_data(name: str) -> None:
    """Another table: begin with the model, parts and steps that suit it."""
    first = opening(name)
    change(
        data=name,
        model=first.model,
        components=first.components,
        x=0,
        y=1,
        without=False,
        **begun(first),
    )


def on_model(chosen: tuple[str, int]) -> None:
    """Another model begins as suits the table; another number of parts changes nothing else."""
    model, parts = chosen
    scenario = current()
    if model == scenario.model:
        change(components=parts)
        return
    change(model=model, components=parts, **begun(opening(scenario.data, model)))


def begun(first: Scenario) -> dict[str, Any]:
    """The settings with which a model begins anew, whatever they were for another one."""
    names = ("iterations", "covariance", "words", "pool", "clip", "adjacency")
    return {name: getattr(first, name) for name in names}


def without_epsilon(scenario: Scenario) -> Scenario:
    """What a picture depends on besides the slider."""
    return replace(scenario, epsilon=1.0, hide="")


def pair(scenario: Scenario, data: Data) -> tuple[int, int]:
    """The two columns on the axes; with one column, that column twice."""
    dim = data.public.dim
    x, y = min(scenario.x, dim - 1), min(scenario.y, dim - 1)
    return (x, y) if x != y else (0, min(1, dim - 1))


def watch(scenario: Scenario, data: Data, found: Study) -> None:
    """Look again until the study is complete, without holding up the page.

    At the end of a page: there its coming and going moves nothing, and swallows no click that
    something below it has not answered yet.
    """
    drawn, curves = found.grid.utility.shape[1], found.curves is not None

    @st.fragment(run_every=0.3)
    def look() -> None:
        now = compute.study(scenario, data, desk(data))
        if now.grid.utility.shape[1] > drawn or (now.curves is not None) > curves:
            st.rerun()

    look()


def loss_split(found: Study) -> tuple[str, ...]:
    """What the private fit loses against the exact one, and to what."""
    known, worth = found.references, yardstick(found.grid.model).wording.worth
    steps = known.converged_utility - known.own_steps_utility
    clipping = known.own_steps_utility - known.clipped_utility
    noise = known.clipped_utility - np.median(found.grid.utility, axis=1)
    return tuple(
        f"Lost against the exact fit, in {worth}: "
        f"{steps:.2f} to stopping early, {clipping:.2f} to clipping, {lost:.2f} to noise."
        if np.isfinite(lost)
        else ""
        for lost in noise
    )


def more_settings(scenario: Scenario, data: Data) -> None:
    """The choices a newcomer need not make."""
    with st.popover("More settings", width="stretch"):
        if scenario.data == GENERATED:
            _made(scenario)
        if (squares := _squares(data, scenario.pool)) and len(squares) > 1:
            _choice(
                st,
                "pool",
                "Pixels averaged, as a public step before anything is released",
                squares,
                scenario.pool,
                lambda side: "none" if side == 1 else f"squares of {side} × {side}",
            )
        if data.public.dim > 2 and MODELS[scenario.model].plane:
            names = list(data.public.names)
            left, right = st.columns(2)
            _choice(left, "x", "Across", range(len(names)), scenario.x, names.__getitem__)
            _choice(right, "y", "Up", range(len(names)), scenario.y, names.__getitem__)
        _number(
            "delta",
            "δ",
            scenario.delta,
            1e-12,
            0.5,
            1e-5,
            "%.2g",
            "How much may escape the promise of ε; keep it well below one over the number of rows.",
        )
        if MODELS[scenario.model].clips:
            _number(
                "clip",
                f"Clipping, as a share of {'a document' if data.documents else 'the limits'}",
                scenario.clip,
                0.1,
                1.0,
                0.05,
                "%.2f",
                "Rows farther out are drawn in to this radius: "
                "fewer rows count fully, less noise is needed.",
            )
        _words(scenario, data)
        if scenario.method not in MODELS[scenario.model].still:
            _number(
                "iterations",
                "Iterations",
                scenario.iterations,
                1,
                50,
                1,
                "%d",
                "They cost nothing here: the data is read once, before them."
                if scenario.model == "fa"
                else "Each one spends privacy. "
                "Fixed in advance: stopping when it looks good would leak.",
            )
        if scenario.model == "gmm":
            shapes = {"full": "tilted ellipses", "diag": "upright ellipses", "spherical": "circles"}
            _choice(st, "covariance", "Shapes", shapes, scenario.covariance, shapes.__getitem__)
        if len(scenario.adjacencies()) > 1:
            words = {
                "replace_one": f"one {data.schema.thing} is replaced",
                "add_remove": f"one {data.schema.thing} is added or removed",
                "label": "one label is replaced, all else is public",
                "feature": "one row is replaced but for its label, which is public",
            }
            _choice(
                st,
                "adjacency",
                "Neighbours: tables that must look alike",
                scenario.adjacencies(),
                scenario.adjacency,
                words.__getitem__,
            )
        _number(
            "rows_per_person",
            f"{data.schema.thing.capitalize()}s per {data.unit}",
            scenario.rows_per_person,
            1,
            1000,
            1,
            "%d",
            f"All {data.schema.thing}s of one are protected together.",
        )
        _number(
            "noise",
            "Noise seed",
            scenario.noise,
            0,
            10**6,
            1,
            "%d",
            "A seed makes a rehearsal that can be repeated, not a release.",
        )


def _words(scenario: Scenario, data: Data) -> None:
    """The settings that few models have."""
    known = read_words(scenario.words)
    for name, one in CHOICES.items():
        if not one.suits(scenario.model, scenario.method):
            continue
        value = known.get(name, one.usual(known, data.public.dim))

        def apply(chosen: Any, name: str = name) -> None:
            change(words=write_words({**read_words(current().words), name: chosen}))

        key = f"setting_{name}"
        bind(key, value)
        if not one.form:
            st.checkbox(one.label, value, key=key, help=one.help, on_change=on_choice(key, apply))
            continue
        kind = int if one.whole else float
        st.number_input(
            one.label, kind(one.low), kind(one.high), value, step=kind(one.step), format=one.form,
            key=key, help=one.help, on_change=on_choice(key, apply),
        )  # fmt: skip


def _number(
    name: str, label: str, value: Any, low: Any, high: Any, step: Any, form: str, tip: str
) -> None:
    key = f"setting_{name}"
    bind(key, value)
    st.number_input(
        label, low, high, value, step=step, format=form, key=key, help=tip,
        on_change=on_choice(key, lambda chosen: change(**{name: chosen})),
    )  # fmt: skip


def _choice(place: Any, name: str, label: str, options: Any, value: Any, words: Any) -> None:
    key, offered = f"setting_{name}", list(options)
    bind(key, value)
    place.selectbox(
        label, offered, offered.index(value) if value in offered else 0, key=key, format_func=words,
        on_change=on_choice(key, lambda chosen: change(**{name: chosen})),
    )  # fmt: skip


def _made(scenario: Scenario) -> None:
    made = Made.parse(scenario.made)
    fields = {
        "rows": (20, 200_000, 1000),
        "columns": (2, 20, 1),
        "groups": (1, 10, 1),
        "seed": (0, 10**6, 1),
    }
    for name, (low, high, step) in fields.items():
        key = f"made_{name}"
        bind(key, getattr(made, name))

        def apply(chosen: int, name: str = name) -> None:
            change(made=str(replace(made, **{name: chosen})))

        st.number_input(
            f"Generated {name}", low, high, getattr(made, name), step=step, key=key,
            on_change=on_choice(key, apply),
        )  # fmt: skip


def _draws_rows(fit: Fit) -> bool:
    """Whether the model says what rows look like."""
    try:
        fit.sample(1, seed=0)
    except InputError:
        return False
    return True


FILES = {
    "stand-in": ("stand-in-", "a fit of stand-in rows drawn from the limits, not of the table"),
    "upload": ("rehearsal-", compute.REHEARSAL),
}


def take_away(scenario: Scenario, data: Data, scene: Scene | None) -> None:
    """Links, files and recipes that give the same numbers elsewhere."""
    with st.popover("Take it with you", width="stretch"):
        st.markdown("**Link to this view** (every choice; never any data)")
        link = replace(scenario, hide=hiding.covering("explore", scenario.hide)).as_link()
        here = (st.context.url or "").partition("?")[0]
        st.code(f"{here}?{link}".rstrip("?"), language=None, wrap_lines=True)
        st.caption("The same on another machine:")
        st.code(f'dpcore explore "{link}"', language=None, wrap_lines=True)
        if scene is None:
            return
        fit = compute.one_fit(scenario, data)
        badge = provenance(data)
        kind, note = FILES.get(badge, ("", compute.REHEARSAL))
        st.markdown("**What stands behind the promise**")
        guarantee_details(fit.guarantee)
        st.markdown(spending(fit.ledger))
        st.markdown(scene.slots["split"][scene.step])
        st.download_button(
            "Fit, guarantee and ledger (JSON)",
            compute.fit_json(fit, note),
            f"{kind}fit.json",
            "application/json",
        )
        if _draws_rows(fit):
            st.download_button(
                "Synthetic rows (CSV)",
                lambda: as_csv(fit.sample(1000, seed=0)).encode(),
                f"{kind}synthetic.csv",
                "text/csv",
            )
        if data.provenance == "upload":
            st.caption(
                "A rehearsal on your table cannot be repeated elsewhere: its noise is keyed by a "
                "secret of this process. To fit the file itself with fresh noise, keep its limits:"
            )
            schema = data.schema.to_toml()
            st.download_button("Limits (TOML)", schema, "schema.toml", "application/toml")
            st.code(upload_command(scenario), language=None, wrap_lines=True)
            return
        st.markdown("**Reproduce**")
        st.code(command(scenario), language=None, wrap_lines=True)
        st.download_button("Python script", script(scenario), "reproduce.py", "text/x-python")
        st.download_button("Notebook", notebook(scenario), "reproduce.ipynb", "application/json")
