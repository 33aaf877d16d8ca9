"""Share and export: links, files and recipes that give the same numbers elsewhere."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import compute, covers
from app.components import guarantee_details, spending
from app.composing import Composition
from app.compute import Study
from app.exports import (
    account_command,
    account_questions,
    account_script,
    command,
    notebook,
    script,
    upload_command,
)
from app.result_store import Data
from app.scenario import Scenario
from app.tables import provenance, store_of
from app.texts import explore as texts
from app.texts import frame
from dpcore.figures.scene import Scene
from dpcore.releases.sheet import as_csv
from dpcore.schema import Schema, with_dates

FILES = {
    "stand-in": ("stand-in-", texts.STAND_IN_FIT),
    "upload": ("rehearsal-", texts.REHEARSAL),
}


def take_fit(scenario: Scenario, data: Data, study: Study | None, scene: Scene | None) -> None:
    """Explore's: the view, the private fit, and what fits it again elsewhere."""
    with st.popover(frame.SHARE):
        _links("explore", scenario)
        if study is None or scene is None:
            return
        _files(scenario, data, study)
        if data.provenance == "upload":
            _own_file(scenario, data)
            return
        st.download_button("Picture (HTML)", lambda: as_page(scene), "picture.html", "text/html")
        st.markdown("**Reproduce**")
        st.code(command(scenario), language=None, wrap_lines=True)
        st.download_button("Python script", script(scenario), "reproduce.py", "text/x-python")
        st.download_button("Notebook", notebook(scenario), "reproduce.ipynb", "application/json")


def take_prices(composition: Composition, scene: Scene | None) -> None:
    """Compose's: the view, and what counts the same prices elsewhere."""
    with st.popover(frame.SHARE, width="stretch"):
        _links("compose", composition)
        if scene is None:
            return
        st.markdown("**Reproduce**")
        st.code(account_command(composition), language=None, wrap_lines=True)
        st.download_button(
            "Questions (JSON)", account_questions(composition), "questions.json", "application/json"
        )
        st.download_button(
            "Python script", account_script(composition), "prices.py", "text/x-python"
        )
        st.caption(frame.EACH_CARD)


def _links(page: str, choices: Scenario | Composition) -> None:
    """A link to the view, and the command that opens it on another machine; Explore opens first."""
    st.markdown(f"**Link to this view** ({frame.VIEW_LINK[page]})")
    link = replace(choices, hide=covers.choose(page, choices.hide)).as_link()
    here = (st.context.url or "").partition("?")[0]
    st.code(f"{here}?{link}".rstrip("?"), language=None, wrap_lines=True)
    state = link if page == "explore" else f"{page}?{link}".rstrip("?")
    st.caption(frame.PRESENT)
    command = f'dpcore explore "{state}"' if state else "dpcore explore"
    st.code(command, language=None, wrap_lines=True)


def _files(scenario: Scenario, data: Data, study: Study) -> None:
    """What stands behind the promise, the fit with it, and rows that it draws.

    The files are made when somebody takes them: fitted anew with every move of a slider they would
    take longer than all else on the page.
    """
    shown, step = compute.with_extra_budget(study, scenario, data, store_of(data))
    guarantee, ledger = shown.grid.guarantees[step], shown.grid.ledgers[step]
    if guarantee is None or ledger is None:  # the budget is out of reach, which the page says
        return
    kind, note = FILES.get(provenance(data), ("", texts.REHEARSAL))
    st.markdown(frame.ASSUMPTIONS)
    guarantee_details(guarantee)
    st.markdown(spending(ledger))
    st.download_button(
        texts.FIT_FILE,
        lambda: compute.fit_json(compute.one_fit(scenario, data), note),
        f"{kind}fit.json",
        "application/json",
    )
    if scenario.declared.reads != "outcome":  # says who says yes, not what rows look like
        st.download_button(
            "Synthetic rows (CSV)",
            lambda: _synthetic_rows(scenario, data),
            f"{kind}synthetic.csv",
            "text/csv",
        )


def as_page(scene: Scene) -> bytes:
    """The picture with its slider as one file that needs no network."""
    from dpcore.figures.plotly import scene_figure  # its imports take a second

    page: str = scene_figure(scene).to_html(include_plotlyjs=True, auto_play=False)
    return page.encode()


def _synthetic_rows(scenario: Scenario, data: Data) -> bytes:
    """Rows drawn from the fit, inside the limits; documents have none."""
    schema = data.schema if isinstance(data.schema, Schema) else None
    fit = compute.one_fit(scenario, data)
    rows = fit.sample(1000, seed=0)
    return as_csv(rows if schema is None else with_dates(rows, schema)).encode()


def _own_file(scenario: Scenario, data: Data) -> None:
    """What fits an upload's own file, outside the page."""
    st.caption(texts.not_repeatable(documents=data.documents))
    if data.documents:
        st.download_button("Words", "\n".join(data.schema.words), "words.txt", "text/plain")
    else:
        schema = data.schema.to_toml()
        st.download_button("Limits (TOML)", schema, "schema.toml", "application/toml")
    st.code(upload_command(scenario), language=None, wrap_lines=True)
