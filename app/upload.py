"""Your own file: read in memory, limits written down by hand, planned on stand-in rows.

Opening it reads the header, the type of each column and the number of rows. Exact values are shown
only after one deliberate click; on a server that locks exact values, never.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from app.result_store import Data
from app.state import change
from dpcore.datasets.files import InMemory
from dpcore.datasets.generators import stand_in
from dpcore.datasets.load import load, read_frame
from dpcore.errors import DPCoreError, InputError
from dpcore.schema import Column, Schema
from dpcore.schema.cells import are_numbers
from dpcore.wall.table import PrivateTable
from dpcore.wall.table import locked as server_locked

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
    """One uploaded table of one session, and what its custodian has entered about it.

    mark: tells this upload from every other one, also from one of the same name. limits: the lines
    with which the editor begins; lines: as they stand in it. toml: name and bytes of a schema file
    that stands in their place. rows: how many
    to plan with; the table's own number, or on a locked server a public guess. table: the sealed
    rows with the limits in use, ``None`` while these are being entered. shown: the custodian asked
    for exact values; looked: at any time since the file was opened. secret: mixed into the noise of
    its rehearsals, so that a picture and a link do not give it away.
    """

    file: InMemory = field(repr=False)
    limits: pd.DataFrame = field(repr=False)
    lines: pd.DataFrame = field(repr=False)
    rows: int
    unit: str = "person"
    rows_per_person: int = 1
    toml: tuple[str, bytes] | None = None
    table: PrivateTable | None = None
    shown: bool = False
    looked: bool = False
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    ready: dict[bool, Data] = field(default_factory=dict)


def _upload() -> Upload | None:
    found: Upload | None = st.session_state.get(SLOT)
    return found


def locked() -> bool:
    """Whether this server shows no view computed from an upload."""
    return server_locked()


def shown() -> bool:
    """Whether the custodian has asked to see exact values of the upload."""
    found = _upload()
    return found is not None and found.shown and not locked()


def sealed() -> tuple[PrivateTable, bool] | None:
    """The table itself, for a release, and whether exact values of it have been looked at."""
    found = _upload()
    if found is None or found.table is None:
        return None
    return found.table, found.looked


def ready() -> Data | None:
    """The upload as data to fit: stand-in rows until the custodian asks for the real ones."""
    found = _upload()
    if found is None or found.table is None:
        return None
    real = shown()
    if real not in found.ready:
        found.ready[real] = _data(found, found.table, real)
    return found.ready[real]


def _data(found: Upload, table: PrivateTable, real: bool) -> Data:
    schema = table.schema
    assert schema is not None  # a table is taken into use with its limits
    if not real:
        table = PrivateTable.seal(stand_in(schema, found.rows), schema, open_to_all=True)
    kind = "real" if real else "stand-in"
    key = f"upload/{found.mark}/{kind}/{schema.to_toml()}/{found.rows}"
    return Data(key, found.file.name, table, schema, "upload", found.rows, found.secret)


def panel() -> None:
    """The upload's own screen: file, limits, and what has been read so far."""
    st.info(
        "Use limits you could print before seeing the data (age 0 to 110). "
        "Limits read from the data would leak.",
        icon=":material/straighten:",
    )
    file = st.file_uploader("A table", TYPES, key="upload_file", max_upload_size=100)
    if file is not None and st.session_state.get("upload_id") != file.file_id:
        try:
            st.session_state[SLOT] = _opened(file.name, file.getvalue())
            st.session_state["upload_id"] = file.file_id
        except DPCoreError as error:
            st.error(str(error))
    found = _upload()
    if found is None:
        st.caption("Read so far: nothing.")
        return
    st.caption(
        f"{found.file.name} lies in this machine's memory, and nothing has left it. "
        "Looked at so far: the header, each column's type"
        + (", and nothing else." if locked() else " and the number of rows.")
    )
    make = _entered(found)
    above = st.container()  # below the button nobody would see it
    if st.button("Use these limits", type="primary", disabled=make is None) and make is not None:
        try:
            _accept(found, make())
        except DPCoreError as error:
            above.error(str(error))
            return
        change(rows_per_person=found.rows_per_person)
        st.rerun()


def _opened(name: str, content: bytes) -> Upload:
    file = InMemory(name, content)
    frame = read_frame(file)
    blank = _blank(frame)
    return Upload(file, blank, blank, rows=1000 if locked() else len(frame))


def _entered(found: Upload) -> Callable[[], Schema] | None:
    """What makes the limits: a schema file where one is given, which is shown, else the lines;
    ``None`` while the file cannot be read.
    """
    _schema_file(found)
    toml, schema, readable = found.toml, None, True
    try:
        schema = None if toml is None else _parsed(*toml)
    except DPCoreError as error:
        st.error(str(error))
        readable = False
    if schema is None or toml is None:
        found.lines = _editor(found)
        _persons(found)
    else:
        _shown_limits(schema, toml[0])
        found.limits = found.lines  # with them the editor begins, should the file be taken away
    if locked():
        found.rows = int(
            st.number_input(
                "About how many rows? A public guess, to plan with",
                20,
                1_000_000,
                found.rows,
                key="upload_rows",
            )
        )
    if not readable:
        return None
    return lambda: _schema(found) if schema is None else schema


def _schema_file(found: Upload) -> None:
    """A schema file in place of the lines, for as long as it is wanted."""
    file = st.file_uploader(
        "Limits from a schema file (.toml), or written below",
        ["toml"],
        key="upload_toml",
        help="A schema file can also name categories, a label to sort by and a target to explain: "
        "see “For data stewards” on Learn.",
        max_upload_size=1,
    )
    if file is not None:
        found.toml = (file.name, file.getvalue())
    elif found.toml is not None and not st.checkbox(
        f"Use the limits of {found.toml[0]}", True, key="upload_keep_toml"
    ):
        found.toml = None


def _persons(found: Upload) -> None:
    """What one row is about, and how many rows one of them can have."""
    left, right = st.columns(2)
    found.unit = left.text_input("One row is about one…", found.unit, key="upload_unit")
    found.rows_per_person = int(
        right.number_input(
            "How many rows can one person have?", 1, 1000, found.rows_per_person, key="upload_rpp"
        )
    )


def _accept(found: Upload, schema: Schema) -> None:
    """Take the limits into use, if the table can be read under them; else nothing changes."""
    found.table = load(found.file, schema=schema)
    found.unit, found.rows_per_person = schema.unit, schema.rows_per_person
    found.limits, found.ready = found.lines, {}


def _parsed(name: str, content: bytes) -> Schema:
    try:
        return Schema.parse(content.decode("utf-8"), name)
    except UnicodeDecodeError:
        raise InputError(name, "it is not UTF-8 text", "save it as UTF-8") from None


def _blank(frame: pd.DataFrame) -> pd.DataFrame:
    """One line a column, limits empty: to be filled from the code book, not from the data."""
    # Under the lock nothing is looked at, not even whether a column holds numbers.
    numeric = [locked() or are_numbers(frame.iloc[:, i]) for i in range(frame.shape[1])]
    return pd.DataFrame(
        {
            "column": [str(name) for name in frame.columns],
            "use": numeric,
            "preset": pd.Series([None] * len(numeric), dtype="object"),
            "lower": pd.Series([None] * len(numeric), dtype="Float64"),
            "upper": pd.Series([None] * len(numeric), dtype="Float64"),
            "unit": pd.Series([None] * len(numeric), dtype="object"),
            "missing": pd.Series([None] * len(numeric), dtype="Float64"),
        }
    )


def _editor(found: Upload) -> pd.DataFrame:
    config: dict[str, Any] = {
        "column": st.column_config.TextColumn("Column", disabled=True),
        "use": st.column_config.CheckboxColumn("Fit it"),
        "preset": st.column_config.SelectboxColumn("Preset", options=list(PRESETS)),
        "lower": st.column_config.NumberColumn("Lower limit"),
        "upper": st.column_config.NumberColumn("Upper limit"),
        "unit": st.column_config.TextColumn("Unit"),
        "missing": st.column_config.NumberColumn(
            "If missing, use", help="Empty: the middle of the limits."
        ),
    }
    edited: pd.DataFrame = st.data_editor(
        found.limits,
        column_config=config,
        hide_index=True,
        placeholder="",
        key=f"upload_limits_{found.mark}",
        width="stretch",
    )
    return edited


def _shown_limits(schema: Schema, file: str) -> None:
    """The limits that a schema file sets, line by line."""
    lines = [
        {
            "Column": one.name,
            "Use as": one.role,
            "Lower limit": one.lower,
            "Upper limit": one.upper,
            "Categories": ", ".join(one.categories),
            "Unit": one.unit,
            "If missing, use": _fill(one.missing),
        }
        for one in schema.columns
    ]
    many = schema.rows_per_person
    st.caption(
        f"{file} sets limits, units and what one row is about: one {schema.unit}, who has at most "
        f"{many:,} row{'s' if many > 1 else ''}. To change them, change the file."
    )
    st.dataframe(pd.DataFrame(lines), hide_index=True, placeholder="", width="stretch")


def _fill(missing: float | str | None) -> str:
    """What stands in for a missing cell, where a schema says so."""
    if missing is None:
        return ""
    return missing if isinstance(missing, str) else f"{missing:g}"


def _schema(found: Upload) -> Schema:
    """The limits as they stand in the editor.

    Raises InputError where no column is chosen, or limits are missing; it names them all.
    """
    columns = []
    for line in found.lines.to_dict("records"):
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
    chosen = [one for one in columns if one.role != "ignore"]
    if not chosen:
        raise InputError(
            "limits", "no column is ticked", "tick a number column, or give a schema file"
        )
    bare = [one.name for one in chosen if one.lower is None or one.upper is None]
    if bare:
        raise InputError(
            ", ".join(bare),
            "a limit is missing" if len(bare) == 1 else "limits are missing",
            "write a lower and an upper one that you could print before seeing the data, or "
            "untick the column",
        )
    return Schema(tuple(columns), unit=found.unit, rows_per_person=found.rows_per_person)


def _given(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None or pd.isna(value) or value == "" else value


def custodian_bar() -> None:
    """One deliberate click between a plan on stand-in rows and the exact values."""
    found = _upload()
    if found is None:
        return
    left, middle, right = st.columns([4, 1.4, 2.2], vertical_alignment="center")
    middle.button("Change limits or file", on_click=_reopen, width="stretch")
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
        left.caption("Planning on stand-in rows drawn from your limits, as many as the table has.")
        right.button(
            "I am the custodian: show the exact fit", on_click=lambda: _show(True), width="stretch"
        )


def _show(choice: bool) -> None:
    found = _upload()
    if found is not None:
        found.shown = choice and not locked()
        found.looked |= found.shown


def _reopen() -> None:
    """Back to the upload's screen; everything entered is still there."""
    found = _upload()
    if found is not None:
        found.table = None
