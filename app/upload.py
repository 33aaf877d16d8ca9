"""Your own file: read in memory, limits written down by hand, planned on stand-in rows.

Opening it reads the header and the type of each column. Exact values are shown only after one
deliberate click; on a server that locks exact values, never.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from app import compute
from app.compute import Data
from app.scenario import Scenario
from dpcore.datasets.generators import stand_in
from dpcore.datasets.load import InMemory, read_frame
from dpcore.errors import DPCoreError, InputError
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable

SLOT = "upload"
TYPES = ["csv", "tsv", "gz", "parquet", "npz"]
PRESETS = {
    "age in years": (0.0, 110.0, "years"),
    "percent": (0.0, 100.0, "percent"),
    "share": (0.0, 1.0, None),
    "money per year": (0.0, 200_000.0, "per year"),
}


@dataclass
class Upload:
    """One uploaded table of one session. shown: the custodian has asked for exact values."""

    name: str
    frame: pd.DataFrame
    schema: Schema | None
    shown: bool = False


def _upload() -> Upload | None:
    found: Upload | None = st.session_state.get(SLOT)
    return found


def locked() -> bool:
    """Whether this server shows no view computed from an upload."""
    return os.environ.get("DPCORE_LOCK_TRUTH") == "1"


def shown() -> bool:
    """Whether the custodian has asked to see exact values of the upload."""
    found = _upload()
    return found is not None and found.shown and not locked()


def ready() -> Data | None:
    """The upload as data to fit: stand-in rows until the custodian asks for the real ones."""
    found = _upload()
    if found is None or found.schema is None:
        return None
    rows = len(found.frame)
    text = found.schema.to_toml()
    if shown():
        table, kind = PrivateTable.seal(found.frame, found.schema), "real"
    else:
        table, kind = PrivateTable.seal(stand_in(found.schema, rows), found.schema), "stand-in"
    mark = hashlib.blake2b(f"{id(found)}/{kind}/{text}".encode(), digest_size=8).hexdigest()
    return Data(
        f"upload/{mark}", found.name, table, found.schema, "upload", rows, compute.process_secret()
    )


def panel(scenario: Scenario) -> None:
    """The upload's own screen: file, limits, and what has been read so far."""
    st.info(
        "Use limits you could print before seeing the data (age 0 to 110). "
        "Limits read from the data would leak.",
        icon=":material/straighten:",
    )
    file = st.file_uploader("A table", TYPES, key="upload_file", max_upload_size=100)
    if file is not None and (
        _upload() is None or st.session_state.get("upload_id") != file.file_id
    ):
        try:
            frame = read_frame(InMemory(file.name, file.getvalue()))
        except DPCoreError as error:
            st.error(str(error))
            return
        st.session_state["upload_id"] = file.file_id
        st.session_state[SLOT] = Upload(file.name, frame, None)
    found = _upload()
    if found is None:
        st.caption("Read so far: nothing.")
        return
    st.caption("Read so far: the header and each column's type; nothing has left this machine.")
    edited = _editor(found)
    rows_per_person = st.number_input(
        "How many rows can one person have?", 1, 1000, 1, key="upload_rpp"
    )
    unit = st.text_input("One row is about one…", "person", key="upload_unit")
    toml = st.file_uploader("Or a schema file (.toml)", ["toml"], key="upload_toml")
    if st.button("Use these limits", type="primary"):
        try:
            found.schema = _schema(edited, toml, unit, int(rows_per_person))
            PrivateTable.seal(found.frame, found.schema)
        except InputError as error:
            st.error(str(error))
            return
        st.rerun()


def _editor(found: Upload) -> pd.DataFrame:
    """One line a column, limits empty: to be filled from the code book, not from the data."""
    from pandas.api.types import is_numeric_dtype

    numeric = [bool(is_numeric_dtype(found.frame[name])) for name in found.frame.columns]
    start = pd.DataFrame(
        {
            "column": [str(name) for name in found.frame.columns],
            "use": numeric,
            "preset": pd.Series([None] * len(numeric), dtype="object"),
            "lower": pd.Series([None] * len(numeric), dtype="Float64"),
            "upper": pd.Series([None] * len(numeric), dtype="Float64"),
            "unit": pd.Series([None] * len(numeric), dtype="object"),
            "missing": pd.Series([None] * len(numeric), dtype="Float64"),
        }
    )
    config: dict[str, Any] = {
        "column": st.column_config.TextColumn("Column", disabled=True),
        "use": st.column_config.CheckboxColumn("Fit it"),
        "preset": st.column_config.SelectboxColumn("Preset", options=list(PRESETS)),
        "lower": st.column_config.NumberColumn("Lower limit"),
        "upper": st.column_config.NumberColumn("Upper limit"),
        "unit": st.column_config.TextColumn("Unit"),
        "missing": st.column_config.NumberColumn("If missing, use"),
    }
    edited: pd.DataFrame = st.data_editor(
        start, column_config=config, hide_index=True, key="upload_limits", width="stretch"
    )
    return edited


def _schema(edited: pd.DataFrame, toml: Any, unit: str, rows_per_person: int) -> Schema:
    if toml is not None:
        try:
            return Schema.parse(toml.getvalue().decode("utf-8"), toml.name)
        except UnicodeDecodeError:
            raise InputError(toml.name, "it is not UTF-8 text", "save it as UTF-8") from None
    columns = []
    for line in edited.to_dict("records"):
        if not line["use"]:
            columns.append(Column(str(line["column"]), role="ignore", type="text"))
            continue
        low, high, measured = PRESETS.get(line["preset"], (None, None, None))
        columns.append(
            Column(
                str(line["column"]),
                lower=_given(line["lower"], low),
                upper=_given(line["upper"], high),
                unit=_given(line["unit"], measured),
                missing=_given(line["missing"], None),
            )
        )
    return Schema(tuple(columns), unit=unit, rows_per_person=rows_per_person)


def _given(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None or pd.isna(value) or value == "" else value


def custodian_bar() -> None:
    """One deliberate click between a plan on stand-in rows and the exact values."""
    found = _upload()
    if found is None:
        return
    left, right = st.columns([5, 2], vertical_alignment="center")
    if locked():
        left.caption(
            "This server is locked: plans use stand-in rows; only a release reads the table."
        )
    elif found.shown:
        left.caption(
            "Read: all rows; nothing has left this machine. These pictures are not private."
        )
        right.button("Hide exact values", on_click=lambda: _show(False), width="stretch")
    else:
        left.caption(
            "Planning on stand-in rows drawn from your limits: the table itself is not read."
        )
        right.button(
            "I am the custodian: show the exact fit", on_click=lambda: _show(True), width="stretch"
        )


def _show(choice: bool) -> None:
    found = _upload()
    if found is not None:
        found.shown = choice
