"""Your own file: read in memory, roles and limits written down by hand, planned on stand-in rows.

Opening it reads the header, the number of rows, and how cells are written, which the form proposes;
on a server that locks exact values, the header alone. Exact values are shown only after one
deliberate click, and on such a server never. What is confirmed is a schema; a fit reads that alone.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pandas as pd
import streamlit as st

from app.callbacks import unbroken
from app.result_store import Data
from app.scenario import UPLOAD, begun, delta_below, opening
from app.state import change, left_on_explore
from app.texts import upload as texts
from app.texts.frame import literal
from dpcore.datasets.delimited import DELIMITERS
from dpcore.datasets.described import schema_path
from dpcore.datasets.documents import demand_texts, load_documents
from dpcore.datasets.files import InMemory, extension
from dpcore.datasets.generators import stand_in, stand_in_documents
from dpcore.datasets.header import Header, header_of
from dpcore.datasets.load import load, read_frame
from dpcore.datasets.words import read_vocabulary
from dpcore.declaration import WORLDS, declarations
from dpcore.errors import DPCoreError, InputError
from dpcore.schema import Column, FileFormat, Schema
from dpcore.schema.document import as_written, toml_value
from dpcore.schema.forms import DATE_FORMATS, DECIMALS, THOUSANDS
from dpcore.schema.proposals import Proposal, proposed
from dpcore.wall.custodian import custodian_count, custodian_documents
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.table import PrivateTable
from dpcore.wall.table import locked as server_locked

SLOT = "upload"
LOWERED = "lowered_delta"  # in the session: a delta lowered for the number of rows, and what it was
LARGEST = 100  # MB
PRESETS = {
    "age in years": (0.0, 110.0, "years"),
    "percent": (0.0, 100.0, "percent"),
    "share": (0.0, 1.0, None),
    "money per year": (0.0, 200_000.0, "per year"),
}
USES = ("feature", "category", "label", "target", "text", "person id", "ignore")
TEXT = Column("text", type="text")  # what an archive of texts holds
MARKS = {".": "a point (0.5)", ",": "a comma (0,5)"}
GROUPS = {None: "none", ".": "a point", ",": "a comma", " ": "a blank", "'": "an apostrophe"}


@dataclass
class Upload:
    """One upload of one session, a table or texts, and what its custodian has entered about it.

    mark: tells this upload from every other one, also from one of the same name. limits: the lines
    with which the editor begins; lines: as they stand in it. form: how the file is written, as it
    stands beside them. texts: columns whose cells are neither numbers nor dates. empty: columns
    without any cell. words: the public
    ones in which documents are counted. toml: name and
    bytes of a schema file that stands in the place of all these. rows: how many
    to plan with; the table's own number, or on a locked server a public guess. table: the sealed
    rows with the limits in use, ``None`` while these are being entered. shown: the custodian asked
    for exact values; looked: at any time, also of a file that this one replaced, as its rows may be
    the same and settings stay. secret: mixed into the noise of its rehearsals, so that a picture
    and a link do not give it away.
    """

    file: InMemory = field(repr=False)
    limits: pd.DataFrame = field(repr=False)
    lines: pd.DataFrame = field(repr=False)
    rows: int
    form: FileFormat = field(default_factory=FileFormat)
    texts: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    unit: str = "person"
    rows_per_person: int = 1
    equal_weight: bool = False
    toml: tuple[str, bytes] | None = None
    table: PrivateTable | PrivateCorpus | None = None
    shown: bool = False
    looked: bool = False
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    ready: dict[bool, Data] = field(default_factory=dict)

    @property
    def packed(self) -> bool:
        """Whether it is an archive of texts, which has no columns."""
        return self.file.name.lower().endswith(".zip")


def _upload() -> Upload | None:
    upload: Upload | None = st.session_state.get(SLOT)
    return upload


def locked() -> bool:
    """Whether this server shows no view computed from an upload."""
    return server_locked()


def shown() -> bool:
    """Whether the custodian has asked to see exact values of the upload."""
    upload = _upload()
    return upload is not None and upload.shown and not locked()


def sealed() -> tuple[PrivateTable | PrivateCorpus, bool] | None:
    """The table or the documents themselves, for a release, and whether exact values were looked
    at."""
    upload = _upload()
    if upload is None or upload.table is None:
        return None
    return upload.table, upload.looked


def use_schema(name: str, content: bytes) -> None:
    """Take a schema into use for the upload, as if its file had been given beside the table, but
    for as many rows per person as were protected before.

    Raises InputError for one that the table cannot be read under; then nothing changes."""
    upload, before = _upload(), left_on_explore().rows_per_person
    if upload is not None:
        _accept(upload, _parsed(name, content))
        upload.toml = name, content
        _begin(upload)
        change(rows_per_person=max(before, upload.rows_per_person))


def ready() -> Data | None:
    """The upload as data to fit: stand-in rows until the custodian asks for the real ones."""
    upload = _upload()
    if upload is None or upload.table is None:
        return None
    real = shown()
    if real not in upload.ready:
        upload.ready[real] = _data(upload, upload.table, real)
    return upload.ready[real]


def _data(upload: Upload, table: PrivateTable | PrivateCorpus, real: bool) -> Data:
    schema = table.schema
    assert schema is not None  # a table is taken into use with its limits
    if isinstance(schema, Vocabulary):
        terms_text = repr(schema)
        if not real:
            bags = stand_in_documents(schema.size, upload.rows)
            table = PrivateCorpus.seal(*bags, schema, open_to_all=True)
    else:
        terms_text = schema.to_toml()
        if not real:
            rows = stand_in(schema, upload.rows, world=WORLDS[1])  # of medium difficulty
            table = PrivateTable.seal(rows, schema, open_to_all=True)
    terms = hashlib.sha256(terms_text.encode()).hexdigest()
    key = f"upload/{upload.mark}/{'real' if real else 'stand-in'}/{terms}/{upload.rows}"
    return Data(key, upload.file.name, table, schema, "upload", upload.rows, upload.secret)


def panel() -> None:
    """The upload's own screen: file, limits, and what has been read so far."""
    st.info(texts.LIMITS_ADVICE, icon=":material/straighten:")
    # Of any type: what is none of these gets a sentence that says what to do.
    file = st.file_uploader(texts.FILE, key="upload_file", max_upload_size=LARGEST)
    st.caption(texts.file_kinds(LARGEST))
    if file is not None and st.session_state.get("upload_id") != file.file_id:
        try:
            before, opened = _upload(), _opened(file.name, file.getvalue())
            opened.looked = before is not None and before.looked
            st.session_state[SLOT] = opened
            st.session_state["upload_id"] = file.file_id
        except DPCoreError as error:
            st.error(literal(str(error)))
    upload = _upload()
    if upload is None:
        if file is None:
            st.caption(texts.NOTHING_READ)
        return
    st.caption(texts.file_status(literal(upload.file.name), packed=upload.packed, locked=locked()))
    make = _entered(upload)
    above = st.container()  # below the button nobody would see it
    with st.container(horizontal=True):
        what = "Use these words" if upload.packed else "Use these limits"
        use = st.button(what, type="primary", disabled=make is None)
        if upload.toml is None and make is not None and not upload.packed:
            _take_schema(upload, make)
    if use and make is not None:
        try:
            _accept(upload, make())
        except DPCoreError as error:
            above.error(literal(str(error)))
            return
        _begin(upload)
        st.rerun()


def _begin(upload: Upload) -> None:
    """On with what is in use: a delta for its rows, another model where the one on Explore does not
    read it, and a plane of two numbers or dates, if there are two: categories lie on lines."""
    assert upload.table is not None
    first: dict[str, Any] = {}
    public: Any = upload.table.schema
    if not left_on_explore().declared.suits(public):
        name = next(name for name, model in declarations().items() if model.suits(public))
        first = {"model": name, **begun(opening(UPLOAD, name))}
    if isinstance(public, Schema):
        there = enumerate(public.numeric_columns())
        numbers = (place for place, number in there if public.column(number.source).is_number)
        pair = dict(zip("xy", numbers, strict=False))
        first |= pair if len(pair) > 1 else {"x": 0, "y": 1}
    left = left_on_explore()
    delta = delta_under(first.get("adjacency", left.adjacency), left.delta)
    change(rows_per_person=upload.rows_per_person, delta=delta, **first)


def delta_under(adjacency: str, delta: float) -> float:
    """The delta with which the upload goes on under an adjacency: below one over its rows, where
    their number is public. Where it is not, a delta that was lowered for it is again what it was
    before: links, ledgers and releases state delta."""
    upload = _upload()
    if upload is None or upload.table is None:
        return delta
    lowered, before = st.session_state.get(LOWERED, (None, delta))
    if delta == lowered:
        delta = before
    below, schema = delta_below(upload.rows), upload.table.schema
    private = adjacency == "add_remove" or (schema is not None and schema.person is not None)
    if below >= delta or (private and not locked()):  # under the lock the number is a guess
        return delta
    st.session_state[LOWERED] = below, delta
    return below


def _take_schema(upload: Upload, make: Callable[[], Schema]) -> None:
    """What stands in the form as a schema file, once nothing is missing."""
    with suppress(InputError):
        name = schema_path(upload.file.name).name
        st.download_button("Schema (TOML)", make().to_toml(), name, "application/toml")


def _opened(name: str, content: bytes) -> Upload:
    file = InMemory(name, content)
    if name.lower().endswith(".txt"):
        raise InputError(name, *texts.ONE_TEXT)
    if name.lower().endswith(".zip"):
        demand_texts(file)
        lines = _blank(Header({TEXT.name: "text"}, None), None).assign(use="text")
        return Upload(file, lines, lines, 1000, unit="author")
    if extension(file) == ".npz":
        frame = _matrix(file)
        header = Header(dict.fromkeys(map(str, frame.columns), "number"), None)
    else:
        header = header_of(file)
        frame = read_frame(file, separator=header.separator)
    # Under the lock nothing is looked at, not even whether a column holds numbers.
    proposal = None if locked() else proposed(frame, header.separator)
    blank = _blank(header, proposal)
    columns = {} if proposal is None else proposal.columns
    of_text, empty = (
        tuple(column for column, seems in columns.items() if seems.type == kind)
        for kind in ("text", "empty")
    )
    form = FileFormat(header.separator) if proposal is None else proposal.file
    rows = 1000 if locked() else len(frame)
    return Upload(file, blank, blank, rows, form, of_text, empty)


def _matrix(file: InMemory) -> pd.DataFrame:
    """The rows of an archive of arrays. Raises InputError where none has the usual name."""
    try:
        return read_frame(file)
    except InputError as problem:
        if problem.field != "array":
            raise
        raise InputError(file.name, *texts.NO_ARRAY) from None


def _entered(upload: Upload) -> Callable[[], Schema] | None:
    """What makes the limits: a schema file where one is given, which is shown, else the lines;
    ``None`` while the file cannot be read.
    """
    if not upload.packed:
        _schema_file(upload)
    toml, schema, readable = upload.toml, None, True
    try:
        schema = None if toml is None else _parsed(*toml)
    except DPCoreError as error:
        st.error(literal(str(error)))
        readable = False
    if upload.packed:
        _words(upload)
        _persons(upload, "document")
    elif schema is None or toml is None:
        _marks(upload)
        upload.lines = _editor(upload)
        if "text" in set(upload.lines["use"]):
            _words(upload)
        lines = upload.lines
        ignored = set(lines["column"][lines["use"] == "ignore"])
        left_out = [name for name in upload.texts if name in ignored]
        if left_out:
            st.caption(texts.text_left_out(literal(", ".join(left_out))))
        if upload.empty:
            st.caption(texts.empty_left_out(literal(", ".join(upload.empty))))
        _persons(upload)
    else:
        _shown_limits(schema, toml[0])
        if not schema.numeric_columns():
            _words(upload)
    if locked():
        upload.rows = int(
            st.number_input(texts.ROWS_GUESS, 20, 1_000_000, upload.rows, key="upload_rows")
        )
    if not readable:
        return None
    return lambda: _schema(upload) if schema is None else schema


def _schema_file(upload: Upload) -> None:
    """A schema file in place of the lines, for as long as it is wanted."""
    file = st.file_uploader(
        texts.SCHEMA_FILE,
        ["toml"],
        key="upload_toml",
        help=texts.SCHEMA_FILE_HELP,
        max_upload_size=1,
    )
    if file is not None:
        upload.toml = (file.name, file.getvalue())
    elif upload.toml is not None and not st.checkbox(
        texts.keep_schema_file(literal(upload.toml[0])), True, key="upload_keep_toml"
    ):
        upload.toml = None


def _words(upload: Upload) -> None:
    """The public list in which documents are counted."""
    file = st.file_uploader(
        texts.WORDS,
        ["txt"],
        key=f"upload_words_{upload.mark}",
        help=texts.WORDS_HELP,
        max_upload_size=5,
    )
    try:
        upload.words = () if file is None else read_vocabulary(InMemory(file.name, file.getvalue()))
    except DPCoreError as error:
        st.error(literal(str(error)))


def _persons(upload: Upload, thing: str = "row") -> None:
    """What one row is about, and how many rows one of them can have."""
    left, right = st.columns(2)
    upload.unit = left.text_input(texts.unit_of(thing), upload.unit, key="upload_unit")
    before = upload.rows_per_person
    upload.rows_per_person = int(
        right.number_input(
            texts.things_per_person(thing), 1, max(1000, before), before, key="upload_rpp"
        )
    )
    if thing == "row" and upload.rows_per_person > 1 and "person id" in set(upload.lines["use"]):
        upload.equal_weight = st.checkbox(
            texts.equal_weight(literal(upload.unit)),
            upload.equal_weight,
            key="upload_equal",
            help=texts.EQUAL_WEIGHT_HELP,
        )


def _accept(upload: Upload, schema: Schema) -> None:
    """Take the limits into use, if the table can be read under them; else nothing changes."""
    if schema.numeric_columns():
        upload.table = table = load(upload.file, schema=schema)
        if not locked():
            upload.rows = custodian_count(table)
    elif upload.words:
        corpus = load_documents(
            upload.file,
            vocabulary=upload.words,
            schema=schema,
            text=None if upload.packed else ", ".join(schema.features),
        )
        if not locked():
            upload.rows = len(custodian_documents(corpus)[1])
        upload.table = corpus
    else:
        raise InputError("vocabulary", *texts.NO_WORDS)
    upload.unit, upload.rows_per_person = schema.unit, schema.rows_per_person
    upload.equal_weight = schema.equal_weight
    upload.ready = {}


def _parsed(name: str, content: bytes) -> Schema:
    try:
        return Schema.of_file(content.decode("utf-8"), name)
    except UnicodeDecodeError:
        raise InputError(name, *texts.NOT_UTF8) from None


def _blank(header: Header, proposal: Proposal | None) -> pd.DataFrame:
    """One line a column, limits empty: to be filled from the code book, not from the data."""
    lines = []
    for name in header.types:
        column_proposal = None if proposal is None else proposal.columns[name]
        line = dict.fromkeys(
            ("column", "use", "preset", "lower", "upper", "values", "symbols", "dates", "unit",
             "missing")
        )  # fmt: skip
        line |= {"column": name, "use": "feature"}
        if column_proposal is not None:
            usable = column_proposal.type in ("number", "date")
            line["use"] = "feature" if usable else "ignore"
            line["symbols"] = ", ".join(column_proposal.symbols) or None
            line["dates"] = column_proposal.date_format
        lines.append(line)
    return pd.DataFrame(lines, dtype="object")


def _marks(upload: Upload) -> None:
    """How the file is written: of a delimited one, as proposed and corrected."""
    form = upload.form
    if form.separator is None:
        return
    left, middle, right = st.columns(3)
    decimal: str = left.selectbox(
        "Decimal mark",
        list(DECIMALS),
        DECIMALS.index(form.decimal),
        lambda mark: MARKS[mark],
        key=f"upload_decimal_{upload.mark}",
    )
    groups = [None, *(group for group in THOUSANDS if group != decimal)]
    thousands = middle.selectbox(
        texts.GROUPS_OF_DIGITS,
        groups,
        groups.index(form.thousands) if form.thousands in groups else 0,
        lambda mark: GROUPS[mark],
        key=f"upload_thousands_{upload.mark}",
    )
    missing = right.text_input(
        texts.MISSING_MARKS,
        ", ".join(form.missing_marks),
        key=f"upload_missing_{upload.mark}",
        help=texts.MISSING_MARKS_HELP,
    )
    st.caption(texts.separated_by(DELIMITERS[form.separator]))
    upload.form = FileFormat(form.separator, decimal, thousands, _listed(missing))


def _listed(text: Any) -> tuple[str, ...]:
    """What somebody has listed, with commas between, or semicolons where an entry has a comma."""
    words = str(_given(text, "")).split(";" if ";" in str(text) else ",")
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))


def _editor(upload: Upload) -> pd.DataFrame:
    kinds, labels, helps = st.column_config, texts.LABELS, texts.HELP
    config: dict[str, Any] = {
        name: kinds.TextColumn(label, help=helps.get(name), disabled=name == "column" or None)
        for name, label in labels.items()
    }
    config |= {
        "use": kinds.SelectboxColumn(
            labels["use"], options=list(USES), required=True, help=helps["use"]
        ),
        "preset": kinds.SelectboxColumn(labels["preset"], options=list(PRESETS)),
        "dates": kinds.SelectboxColumn(labels["dates"], options=list(DATE_FORMATS)),
    }
    key = f"upload_limits_{upload.mark}"
    if key not in st.session_state:  # it was not on the page: what stood in it is there again
        upload.limits = upload.lines
    edited: pd.DataFrame = st.data_editor(
        upload.limits,
        column_config=config,
        hide_index=True,
        placeholder="",
        key=key,
        width="stretch",
    )
    return edited


def _shown_limits(schema: Schema, file: str) -> None:
    """The limits that a schema file sets, line by line."""
    labels = texts.LABELS
    lines = [
        {
            labels["column"]: column.name,
            labels["use"]: column.role,
            labels["lower"]: _shown(column, "lower"),
            labels["upper"]: _shown(column, "upper"),
            "Categories": ", ".join(column.categories),
            labels["unit"]: column.unit,
            labels["missing"]: _shown(column, "missing"),
        }
        for column in schema.columns
    ]
    person = None if schema.person is None else literal(schema.person)
    terms = (literal(file), literal(schema.unit), schema.rows_per_person, person)
    st.caption(texts.schema_file_sets(*terms, equal=schema.equal_weight))
    st.dataframe(pd.DataFrame(lines), hide_index=True, placeholder="", width="stretch")


def _shown(column: Column, key: str) -> str:
    """A limit or a fill as the schema file writes it: days and numbers stand in one column."""
    value = as_written(column, key)
    if value is None or isinstance(value, str):
        return value or ""
    return toml_value(value)


def _schema(upload: Upload) -> Schema:
    """The schema as it stands in the form.

    Raises InputError where no column is to be fitted, limits or values are missing, values are
    listed for a number, or two columns hold a person's id; it names all columns of the same fault.
    """
    lines = {str(line["column"]): line for line in upload.lines.to_dict("records")}
    used = {name: line["use"] for name, line in lines.items()}
    if not {"feature", "category", "text"} & set(used.values()):
        raise InputError("limits", *texts.NO_FEATURE)
    persons = [name for name, use in used.items() if use == "person id"]
    if len(persons) > 1:
        raise InputError(", ".join(persons), *texts.SEVERAL_PERSON_IDS)
    unsaid = [
        name
        for name, use in used.items()
        if use in ("category", "label") and not _listed(lines[name]["values"])
    ]
    if unsaid:
        raise InputError(", ".join(unsaid), *texts.VALUES_MISSING)
    unread = [
        name for name, use in used.items() if use == "feature" and _listed(lines[name]["values"])
    ]
    if unread:
        raise InputError(", ".join(unread), *texts.VALUES_UNREAD)
    filled = [
        name
        for name, line in lines.items()
        if line["use"] in ("category", "label", "target") and _listed(line["values"])
        if _given(line["missing"], None) is not None
    ]
    if filled:
        raise InputError(", ".join(filled), *texts.FILL_UNREAD)
    bare = [
        name
        for name, line in lines.items()
        if line["use"] == "feature" or (line["use"] == "target" and not _listed(line["values"]))
        if _given(line["preset"], None) is None
        if None in (_given(line["lower"], None), _given(line["upper"], None))
    ]
    if bare:
        raise InputError(", ".join(bare), *texts.limits_missing(len(bare)))
    return Schema(
        tuple(_column(name, line, upload.form.decimal) for name, line in lines.items()),
        unit=upload.unit,
        rows_per_person=upload.rows_per_person,
        id=persons[0] if persons else None,
        equal_weight=upload.equal_weight and bool(persons),
        file=None if upload.form == FileFormat() else upload.form,
    )


def _column(name: str, line: dict[Any, Any], decimal: str) -> Column:
    """One line of the form as a column of a schema. decimal: the mark in the file's cells."""
    use, values = line["use"], _listed(line["values"])
    if use in ("ignore", "person id"):
        return Column(name, role="id" if use == "person id" else "ignore", type="text")
    if use == "text":
        return Column(name, type="text")
    role = "feature" if use == "category" else use
    if use in ("category", "label") or (use == "target" and values):
        kind = "binary" if use == "target" and len(values) == 2 else "category"
        return Column(name, role, kind, categories=values)
    low, high, measured = PRESETS.get(line["preset"], (None, None, None))
    dates = _given(line["dates"], None)

    def limit(key: str, otherwise: float | None) -> Any:
        text = _given(line[key], None)
        return (
            otherwise if text is None else _number_or_day(name, str(text).strip(), dates, decimal)
        )

    return Column(
        name,
        role,
        "number" if dates is None else "date",
        limit("lower", low),
        limit("upper", high),
        _given(line["unit"], measured),
        missing=limit("missing", None),
        symbols=() if dates else _listed(line["symbols"]),
        date_format=dates,
    )


def _number_or_day(
    name: str, text: str, dates: str | None, decimal: str = DECIMALS[0]
) -> float | date:
    """A limit as somebody has written it. Raises InputError, also for one comma that may stand
    between thousands or before a decimal, and for such a point beside cells with decimal commas."""
    doubtful = "," if decimal == "." else "[.,]"
    if dates is None and re.fullmatch(rf"[+-]?[1-9][0-9]{{0,2}}{doubtful}[0-9]{{3}}", text):
        fourth = "" if decimal == "." else "0"  # a fourth decimal leaves no doubt
        readings = (re.sub("[.,]", "", text), text.replace(",", ".") + fourth)
        raise InputError(name, *texts.two_readings(text, *readings))
    try:
        if dates is not None:
            return date.fromisoformat(text)
        plain = text.replace("\N{MINUS SIGN}", "-")
        number = float(plain.replace(",", ".") if plain.count(",") == 1 else plain)
        if math.isfinite(number) and "_" not in text:
            return number
    except ValueError:
        pass
    raise InputError(name, *texts.no_limit(text, dates=dates is not None)) from None


def _given(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None or pd.isna(value) or value == "" else value


def custodian_bar() -> None:
    """One deliberate click between a plan on stand-in rows and the exact values."""
    upload = _upload()
    if upload is None:
        return
    left, middle, right = st.columns([3.7, 2.0, 2.6], vertical_alignment="center")
    middle.button(texts.CHANGE, on_click=_reopen, width="stretch")
    if locked():
        left.caption(texts.LOCKED)
    elif upload.shown:
        left.caption(texts.ROWS_READ)
        right.button("Hide exact values", on_click=lambda: _show(False), width="stretch")
    else:
        left.caption(
            texts.STAND_IN_DOCUMENTS
            if isinstance(upload.table, PrivateCorpus)
            else texts.STAND_IN_ROWS
        )
        right.button(texts.SHOW_EXACT, on_click=lambda: _show(True), width="stretch")


@unbroken
def _show(choice: bool) -> None:
    upload = _upload()
    if upload is not None:
        upload.shown = choice and not locked()
        upload.looked |= upload.shown


@unbroken
def _reopen() -> None:
    """Back to the upload's screen; everything entered is still there."""
    upload = _upload()
    if upload is not None:
        upload.table = None
