"""Behind the first screen: data of every origin, more settings, and things to take away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app import compute, upload
from app.components import guarantee_details, spending
from app.compute import Data, Desk, Study
from app.exports import command, notebook, script, upload_command
from app.scenario import GENERATED, RECIPES, UPLOAD, Made, Scenario, opening
from app.state import bind, change, current, on_choice
from dpcore.datasets.catalogue import find
from dpcore.datasets.load import load
from dpcore.evaluation.factors import sight
from dpcore.evaluation.yardstick import yardstick
from dpcore.figures.scene import Scene
from dpcore.models.gmm import Mixture

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
    rows = compute.shown_rows(data, desk(data))
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


def _bundled(name: str) -> Data:
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


def on_data(name: str) -> None:
    """Another table: begin with the model, parts and steps that suit it."""
    first = opening(name)
    change(
        data=name,
        model=first.model,
        components=first.components,
        iterations=first.iterations,
        covariance=first.covariance,
        pool=first.pool,
        x=0,
        y=1,
        without=False,
    )


def on_model(chosen: tuple[str, int]) -> None:
    """Another model begins as suits the table; another number of parts changes nothing else."""
    model, parts = chosen
    scenario = current()
    if model == scenario.model:
        change(components=parts)
        return
    first = opening(scenario.data, model)
    change(
        model=model,
        components=parts,
        iterations=first.iterations,
        covariance=first.covariance,
        pool=first.pool,
    )


def without_epsilon(scenario: Scenario) -> Scenario:
    """What a picture depends on besides the slider."""
    return replace(scenario, epsilon=1.0, hide="")


def pair(scenario: Scenario, data: Data) -> tuple[int, int]:
    """The two columns on the axes; with one column, that column twice."""
    dim = data.public.dim
    x, y = min(scenario.x, dim - 1), min(scenario.y, dim - 1)
    return (x, y) if x != y else (0, min(1, dim - 1))


def watch(scenario: Scenario, data: Data, found: Study) -> None:
    """Look again until the study is complete, without holding up the page."""
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
    published = RECIPES[scenario.method].mode == "paper"
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
        if data.public.dim > 2 and scenario.model != "fa":
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
        _number(
            "clip",
            "Clipping, as a share of the limits",
            scenario.clip,
            0.1,
            1.0,
            0.05,
            "%.2f",
            "Rows farther out are drawn in to this radius: "
            "fewer rows count fully, less noise is needed.",
        )
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
        if not published:
            words = {
                "replace_one": "one row is replaced",
                "add_remove": "one row is added or removed",
            }
            _choice(
                st,
                "adjacency",
                "Neighbours: tables that must look alike",
                words,
                scenario.adjacency,
                words.__getitem__,
            )
        _number(
            "rows_per_person",
            f"Rows per {data.unit}",
            scenario.rows_per_person,
            1,
            1000,
            1,
            "%d",
            "All rows of one are protected together.",
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
        st.number_input(
            f"Generated {name}", low, high, getattr(made, name), step=step, key=key,
            on_change=on_choice(
                key, lambda chosen, name=name: change(made=str(replace(made, **{name: chosen})))
            ),
        )  # fmt: skip


FILES = {
    "stand-in": ("stand-in-", "a fit of stand-in rows drawn from the limits, not of the table"),
    "upload": ("rehearsal-", compute.REHEARSAL),
}


def take_away(scenario: Scenario, data: Data, scene: Scene | None) -> None:
    """Links, files and recipes that give the same numbers elsewhere."""
    with st.popover("Take it with you", width="stretch"):
        st.markdown("**Link to this view** (every choice; never any data)")
        here = (st.context.url or "").partition("?")[0]
        st.code(f"{here}?{scenario.as_link()}".rstrip("?"), language=None, wrap_lines=True)
        st.code(f'dpcore explore "{scenario.as_link()}"', language=None, wrap_lines=True)
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
        st.download_button(
            "Synthetic rows (CSV)",
            lambda: fit.sample(1000, seed=0).to_csv(index=False).encode(),
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
