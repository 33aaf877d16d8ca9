"""The table of a scenario, wherever it comes from, and the badge that its figures wear."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import streamlit as st

from app import upload
from app.result_store import Data, ResultStore, common
from app.scenario import GENERATED, UPLOAD, GeneratedTable, Scenario
from app.texts import explore as texts
from app.texts.frame import STAND_IN
from dpcore.datasets.catalogue import BundledCorpus, BundledTable, find
from dpcore.datasets.corpora import find_corpus
from dpcore.datasets.documents import is_documents, load_documents
from dpcore.datasets.load import load
from dpcore.datasets.published import address, present
from dpcore.errors import InputError
from dpcore.evaluation.metrics import loneliest_row
from dpcore.evaluation.yardstick import metric_of
from dpcore.schema import Schema
from dpcore.wall.custodian import custodian_documents
from dpcore.wall.table import divided


def store_of(data: Data) -> ResultStore:
    """Where results on this data lie: uploads in the session, everything else shared."""
    if data.provenance != "upload":
        return common()
    mine: ResultStore = st.session_state.setdefault("store", ResultStore())
    return mine


HELD_OUT = 0.2  # share of the rows that no fit on Explore sees
COIN = 0  # seed of a public coin for each row's number
LEAST = 500  # rows of a table of which some are held out


def data_of(scenario: Scenario) -> Data | None:
    """What Explore fits of the scenario's table, and the rows on which it judges fits; ``None``
    while an upload is not ready to be fitted."""
    data = whole_table(scenario)
    if data is not None and not in_sample(scenario, data):
        data = divided_data(data, store_of(data))
    if data is not None and scenario.fitted_rows:
        data = some_rows(data, scenario.fitted_rows, store_of(data))
    if data is not None and scenario.without:
        return neighbour(data, scenario.adjacency, store_of(data))
    return data


def in_sample(scenario: Scenario, data: Data) -> str:
    """Why fits of a whole table are judged on the rows that they see; empty where they are not."""
    if not scenario.declared.holds_out:
        why = "no_rule"
    elif isinstance(data.schema, Schema) and data.schema.person is not None:
        why = "person"
    elif scenario.adjacency == "add_remove":
        why = "private"
    elif data.rows is None or data.rows < LEAST:
        why = "few"
    else:
        return ""
    return texts.in_sample(f"{data.schema.thing}s", why, LEAST)


def demand_column(scenario: Scenario, data: Data) -> None:
    """Raise InputError where a table lacks the column that a linked model cannot do without."""
    declared, schema = scenario.declared, data.schema
    needed = texts.NEEDED.get(declared.reads)
    if needed is None or (declared.reads == "label" and schema.label is not None):
        return
    if not declared.suits(schema):
        raise InputError("model", *texts.column_missing(declared.title, needed))


def judged_on(scenario: Scenario, data: Data) -> str:
    """A sentence about the rows on which Explore judges fits of its data."""
    things = f"{data.schema.thing}s"
    if not metric_of(scenario.model, scenario.setting().metric).of_rows:
        shown = data.every is not None or scenario.dial == "fitted_rows"
        return texts.against_the_exact(things, shown=shown, held=data.held_out is not None)
    if data.held_out is None:
        return in_sample(scenario, data)
    assert data.rows is not None  # else none were held out
    assert data.all_rows is not None
    fitted = data.rows if data.every is None else data.every.rows or 0
    held, real = f"{data.all_rows - fitted:,} ", provenance(data) != "stand-in"
    held, every = (held, f"{data.all_rows:,} ") if real else (f"{held}stand-in ", "")
    return texts.held_out(held, every, things)


def whole_table(scenario: Scenario) -> Data | None:
    """The table of the scenario, all rows of it; ``None`` as above."""
    if scenario.data == UPLOAD:
        data = upload.ready()
    elif scenario.data == GENERATED:
        data = bundle(("made", scenario.made), lambda: _generated(scenario.made))
    else:
        data = bundle(("bundled", scenario.data), lambda: _bundled(scenario.data))
    if data is not None and scenario.pool > 1 and data.schema.image is not None:
        data = pooled(data, scenario.pool, store_of(data))
    return data


def bundle(key: Hashable, make: Callable[[], Data]) -> Data:
    """Data that may be shown to anybody, loaded once."""
    return common().tables.get(("data", key), make)


def pooled(data: Data, side: int, store: ResultStore) -> Data:
    """The data as smaller pictures; a side that does not fit leaves it as it is."""

    def make() -> Data:
        try:
            table = data.table.pooled(side)
        except InputError:
            return data
        assert table.schema is not None  # a pooled table has one
        return replace(data, key=f"{data.key}/pooled/{side}", table=table, schema=table.schema)

    return store.tables.get(("pooled", data.key, side), make)


def divided_data(data: Data, store: ResultStore) -> Data:
    """The data without a fifth of its rows, which are held out."""

    def make() -> Data:
        table, held_out = data.table.split(HELD_OUT, COIN, "add_remove")  # coins go by numbers
        rest, _ = divided(data.rows or 0, HELD_OUT, COIN, "add_remove")
        key, rows = f"{data.key}/rest", len(rest)
        return replace(data, key=key, table=table, held_out=held_out, rows=rows, all_rows=data.rows)

    return store.tables.get(("divided", data.key), make)


def some_rows(data: Data, rows: int, store: ResultStore) -> Data:
    """So many of the rows that may be fitted, drawn by a public coin: fewer are among more. Where
    none are held out, or there are no more, all of them."""
    if data.held_out is None or data.rows is None or rows >= data.rows:
        return data
    most = data.rows

    def make() -> Data:
        table, _ = data.table.split(1.0 - rows / most, COIN)
        return replace(data, key=f"{data.key}/{rows}", table=table, rows=rows, every=data)

    return store.tables.get(("some", data.key, rows), make)


def neighbour(data: Data, adjacency: str, store: ResultStore) -> Data:
    """The data with its most exposed row replaced or removed."""

    def make() -> Data:
        table = data.table.neighbour(loneliest_row(data.table), adjacency)
        gone = adjacency == "add_remove"
        rows = data.rows - 1 if gone and data.rows is not None else data.rows
        key = f"{data.key}/without/{adjacency}"
        return replace(data, key=key, table=table, rows=rows, whole=data, every=None)

    return store.tables.get(("neighbour", data.key, adjacency), make)


def _bundled(name: str) -> Data:
    source = address(name)
    added = next((published for published in present() if published.name == name), None)
    credit = "" if added is None else added.credit
    if is_documents(source):
        titled: BundledTable | BundledCorpus = find_corpus(name) if added is None else added.table
        corpus = load_documents(source)
        rows = len(custodian_documents(corpus)[1])  # anybody may count what may be shown
        schema: Any = corpus.schema
        return Data(name, titled.title, corpus, schema, titled.provenance, rows, credit=credit)
    listed = find(name) if added is None else added.table_of_rows()
    table = load(source)
    return Data(
        name, listed.title, table, listed.schema, listed.provenance, listed.rows, credit=credit
    )


def _generated(text: str) -> Data:
    choice = GeneratedTable.parse(text)
    table = load(f"generated:{choice}")
    assert table.schema is not None  # made with it
    return Data(f"made/{choice}", "Generated table", table, table.schema, "simulated", choice.rows)


def provenance(data: Data) -> str:
    """The badge of the data."""
    return "stand-in" if data.provenance == "upload" and not upload.shown() else data.provenance


BADGES = {
    "upload": texts.OWN_EXACT,
    "stand-in": f" · {STAND_IN}",
}


def badge(data: Data) -> str:
    """What a figure of the data wears behind its title; empty where everything may be shown."""
    return BADGES.get(provenance(data), "")
