"""Your own file on the page: what a schema file says is shown, and nothing entered is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import wording
from app_pages import explorer
from streamlit.testing.v1 import AppTest
from test_release_page import PAGE as RELEASE_PAGE

from app import releasing, upload
from app.texts import explore as explore_texts
from app.texts import release as release_texts
from app.texts import upload as upload_texts
from app.upload import SLOT, Upload
from dpcore.datasets.documents import load_documents
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.releases.dossier import verify
from dpcore.schema import Schema
from dpcore.wall.custodian import custodian_documents
from dpcore.wall.table import PrivateTable

TABLE = b"age,income,region\n30,40000,north\n41,52000,south\n"
LIMITS = """[table]
unit = "patient"
rows_per_person = 5000

[columns.age]
lower = 0
upper = 110
unit = "years"
missing = 40

[columns.income]
lower = 0
upper = 200000.5

[columns.region]
role = "label"
type = "category"
categories = ["north", "south"]
"""


LIMITS_0_9 = {"lower": "0", "upper": "9"}


def with_table(table: bytes = TABLE) -> AppTest:
    """The page of an upload, with a table in it."""
    at = explorer(data="upload")
    at.file_uploader(key="upload_file").upload("people.csv", table, "text/csv").run()
    assert not at.exception
    return at


def given(at: AppTest, limits: str | bytes) -> AppTest:
    """The same with a schema file."""
    content = limits.encode() if isinstance(limits, str) else limits
    at.file_uploader(key="upload_toml").upload("limits.toml", content, "text/plain").run()
    assert not at.exception
    return at


def with_persons(most: str) -> AppTest:
    """With two rows of each of a hundred persons, of whom so many count at most."""
    rows = "".join(f"{i // 2},{20 + i % 60},{1000 * (i % 90)},north\n" for i in range(200))
    limits = LIMITS.replace("5000", most) + '\n[columns.who]\nrole = "id"\ntype = "text"\n'
    return given(with_table(f"who,age,income,region\n{rows}".encode()), limits)


def use(at: AppTest) -> Any:
    return next(one for one in at.button if one.label.startswith("Use these"))


def release_page(at: AppTest, folder: Path, **chosen: Any) -> AppTest:
    """The release page with the upload of a page in use, whose ledger is to be in a folder."""
    release = AppTest.from_string(RELEASE_PAGE, default_timeout=60)
    for slot in (SLOT, upload.LOWERED):
        if slot in at.session_state:
            release.session_state[slot] = at.session_state[slot]
    release.session_state["scenario"] = replace(at.session_state["scenario"], **chosen)
    release.session_state["ledger_path"] = str(folder / "budget.sqlite")
    return release.run()


def test_the_limits_of_a_schema_file_are_shown() -> None:
    at = given(with_table(), LIMITS)
    (shown,) = (one.value for one in at.dataframe)
    schema = Schema.parse(LIMITS, "limits.toml")
    for (_, line), column in zip(shown.iterrows(), schema.columns, strict=True):
        assert line["Column"] == column.name
        assert line["Use as"] == column.role
    assert list(shown["Lower limit"]) == ["0", "0", ""]
    assert list(shown["Upper limit"]) == ["110", "200000.5", ""]
    assert list(shown["Categories"]) == ["", "", "north, south"]
    assert list(shown["If missing, use"]) == ["40", "", ""]
    terms = upload_texts.schema_file_sets("limits.toml", "patient", 5000, None)
    assert terms in [one.value for one in at.caption]


def test_limits_of_days_and_of_numbers_are_texts_of_one_column(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A column of a table holds values of one kind: else a traceback is printed where it runs."""
    days = (
        'type = "date"\nlower = 2019-01-01\nupper = 2025-12-31\nmissing = 2020-02-29\n'
        "[columns.income]\nlower = 0\nupper = 1000000\nmissing = 0.5\n"
    )
    at = given(with_table(b"day,income\n2020-01-01,3\n2021-01-01,4\n"), f"[columns.day]\n{days}")
    (shown,) = (one.value for one in at.dataframe)
    assert list(shown["Lower limit"]) == ["2019-01-01", "0"]
    assert list(shown["Upper limit"]) == ["2025-12-31", "1000000"]
    assert list(shown["If missing, use"]) == ["2020-02-29", "0.5"]
    assert "Serialization" not in caplog.text


def test_under_the_lock_a_table_of_texts_looks_like_one_of_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether a column holds numbers, and how many rows there are, is up to the rows."""
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    numbers = upload._opened("a.csv", b"x,y\n1,2\n3,4\n")
    texts = upload._opened("a.csv", b"x,y\n1,2\n3,four\n5,6\n")
    pd.testing.assert_frame_equal(numbers.limits, texts.limits)
    assert (numbers.rows, numbers.form, numbers.texts) == (texts.rows, texts.form, texts.texts)
    monkeypatch.delenv("DPCORE_LOCK_TRUTH")
    assert upload._opened("a.csv", b"x,y\n1,2\n3,four\n").limits["use"].tolist() == [
        "feature",
        "ignore",
    ]


@pytest.mark.parametrize("name", ["people.xlsx", "People.ODS"])
def test_a_spreadsheet_is_told_how_it_becomes_a_table(name: str) -> None:
    with pytest.raises(InputError, match=f"{wording.SPREADSHEET}.*CSV UTF-8"):
        upload._opened(name, b"PK\x03\x04")


def test_other_limits_make_other_stand_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    found = upload._opened("people.csv", TABLE)
    monkeypatch.setattr(upload, "_upload", lambda: found)
    for oldest in (110, 90):
        schema = Schema.parse(LIMITS.replace("upper = 110", f"upper = {oldest}"))
        upload._accept(found, schema)
        data = upload.ready()
        assert data.schema == data.table.schema == schema
        assert data is upload.ready()


def test_limits_that_are_shown_are_those_that_are_used() -> None:
    at = given(with_table(), LIMITS.replace("5000", "2"))
    use(at).click().run()
    assert not at.exception
    kept: Upload = at.session_state[SLOT]
    assert kept.table.schema == Schema.parse(LIMITS.replace("5000", "2"), "limits.toml")


@pytest.mark.parametrize(("region", "pair"), [("feature", (2, 3)), ("ignore", (0, 1))])
def test_two_numbers_are_drawn_before_categories(region: str, pair: tuple[int, int]) -> None:
    """Rows of a category lie on two lines."""
    table = b"region,age,income\n" + b"north,30,40000\nsouth,41,52000\n" * 20
    before, first = (
        LIMITS.replace('"label"', f'"{region}"').replace("5000", "1").split("[columns.age")
    )
    numbers, category = first.split("[columns.region")
    at = given(with_table(table), f"{before}[columns.region{category}[columns.age{numbers}")
    use(at).click().run()
    assert not at.exception
    scenario = at.session_state["scenario"]
    assert (scenario.x, scenario.y) == pair


def test_a_schema_file_that_is_taken_away_leaves_its_rows_per_person() -> None:
    """It may allow more than the box would let anybody choose."""
    at = given(with_table(), LIMITS)
    use(at).click().run()
    next(one for one in at.button if one.label == upload_texts.CHANGE).click().run()
    at.checkbox(key="upload_keep_toml").uncheck().run()
    assert not at.exception
    assert at.number_input(key="upload_rpp").value == 5000


@pytest.mark.parametrize(("parts", "told"), [(2, False), (3, True)])
def test_a_model_of_more_parts_than_rows_is_refused(parts: int, *, told: bool) -> None:
    at = given(with_table(), LIMITS.replace("5000", "2"))
    use(at).click().run()
    at.selectbox(key="choice_model").set_value(("gmm", parts)).run()
    assert not at.exception
    assert any("more parts than the table has rows" in one.value for one in at.error) is told


@pytest.mark.parametrize("limits", [b"\xff\xfe", "[columns.age]\nlower = 9\nupper = 1\n"])
def test_a_schema_file_that_cannot_be_read_is_named_and_takes_nothing_away(
    limits: str | bytes,
) -> None:
    at = given(with_table(), limits)
    (said,) = [one.value for one in at.error]
    assert "limits.toml" in said or "columns.age" in said
    assert use(at).disabled
    kept: Upload = at.session_state[SLOT]
    assert list(kept.lines["column"]) == ["age", "income", "region"]
    given(at, LIMITS)
    assert not at.error
    assert not use(at).disabled


def test_columns_without_limits_are_named_all_at_once() -> None:
    at = with_table()
    use(at).click().run()
    refused = InputError("age, income", *upload_texts.limits_missing(2))
    assert [one.value for one in at.error] == [str(refused)]
    assert at.session_state[SLOT].table is None


def test_a_table_of_texts_opens_for_a_schema_file_to_say_what_they_mean() -> None:
    at = with_table(b"region,ward\nnorth,A\nsouth,B\nnorth,A\n")
    assert not at.error
    use(at).click().run()
    refused = InputError("limits", *upload_texts.NO_FEATURE)
    assert [one.value for one in at.error] == [str(refused)]
    named = '[columns.{}]\ntype = "category"\ncategories = {}\n'
    given(at, named.format("region", '["north", "south"]') + named.format("ward", '["A", "B"]'))
    use(at).click().run()
    assert not at.error
    assert at.session_state[SLOT].table is not None


GERMAN = """Nr;Alter;Einkommen;Eintritt;Region;zurück
17;41;1.234,50 EUR;31.12.2020;Nord;ja
18;k. A.;40.000;01.02.2021;Süd;nein
19;66;-;2021-02-01;Nord;nein
""".encode()
FILLED = {
    "Nr": {"use": "person id"},
    "Alter": {"preset": "age in years", "missing": "40,5"},
    "Einkommen": {"lower": "0", "upper": "200000"},
    "Eintritt": {"lower": "1990-01-01", "upper": "2029-12-31"},
    "Region": {"use": "label", "values": "Nord, Süd"},
    "zurück": {"use": "target", "values": "nein, ja"},
}


def filled(found: Upload, what: dict[str, dict[str, str]]) -> Upload:
    """The form as a custodian leaves it."""
    found.lines = found.limits.set_index("column", drop=False).astype(object)
    for name, cells in what.items():
        for key, value in cells.items():
            found.lines.loc[name, key] = value
    return found


def test_a_german_table_is_proposed_confirmed_and_read_without_a_schema_file() -> None:
    found = upload._opened("kunden.csv", GERMAN)
    assert (found.form.decimal, found.form.thousands) == (",", ".")
    assert found.form.missing_marks == ("-", "k. A.")
    assert found.texts == ("Region", "zurück")
    schema = upload._schema(filled(found, FILLED))
    assert Schema.parse(schema.to_toml()) == schema
    assert (schema.id, schema.label, schema.target) == ("Nr", "Region", "zurück")
    assert schema.features == ("Alter", "Einkommen", "Eintritt")
    assert schema.outcome == "zurück = ja"
    assert schema.column("Alter").missing == 40.5
    assert schema.column("Einkommen").symbols == ("EUR",)
    upload._accept(found, schema)
    rows = found.table._frame[list(schema.features)].fillna(-1.0).to_numpy().tolist()
    assert rows == [[41.0, 1234.5, 18627.0], [-1.0, 40000.0, 18659.0], [66.0, -1.0, 18659.0]]


@pytest.mark.parametrize(
    ("table", "decimal", "first"),
    [(b"a,b\n1,2\n3,4\n", ".", 1.0), (b'a,b\n"0,5","1,5"\n"2,5",3\n', ",", 0.5)],
)
def test_a_comma_between_columns_leaves_either_decimal_mark(
    table: bytes, decimal: str, first: float
) -> None:
    """Cells with a decimal comma are quoted there."""
    found = upload._opened("a.csv", table)
    assert (found.form.separator or ",", found.form.decimal) == (",", decimal)
    upload._accept(found, upload._schema(filled(found, {n: LIMITS_0_9 for n in "ab"})))
    assert found.table._frame["a"].iloc[0] == first


def test_days_of_eight_digits_are_proposed_and_an_empty_column_is_left_out() -> None:
    found = upload._opened("visits.csv", b"day,note,n\n20260131,,1\n20251230,NA,2\n")
    assert (found.empty, found.texts) == (("note",), ())
    lines = found.limits.set_index("column")
    assert lines["use"].to_dict() == {"day": "feature", "note": "ignore", "n": "feature"}
    assert lines.loc["day", "dates"] == "YYYYMMDD"
    limits = {"day": {"lower": "2020-01-01", "upper": "2030-12-31"}, "n": {"preset": "percent"}}
    upload._accept(found, upload._schema(filled(found, limits)))
    assert found.table._frame["day"].tolist() == [20484.0, 20452.0]


@pytest.mark.parametrize(
    ("changed", "where", "refusal"),
    [
        ({"Region": {"values": ""}}, "Region", upload_texts.VALUES_MISSING),
        ({"Region": {"use": "feature"}}, "Region", upload_texts.VALUES_UNREAD),
        ({"Region": {"missing": "Nord"}}, "Region", upload_texts.FILL_UNREAD),
        ({"zurück": {"missing": "ja"}}, "zurück", upload_texts.FILL_UNREAD),
        ({"Alter": {"use": "person id"}}, "Nr, Alter", upload_texts.SEVERAL_PERSON_IDS),
        ({"Alter": {"lower": "x"}}, "Alter", upload_texts.no_limit("x", dates=False)),
        ({"Eintritt": {"lower": "1990"}}, "Eintritt", upload_texts.no_limit("1990", dates=True)),
        ({"Einkommen": {"upper": None}}, "Einkommen", upload_texts.limits_missing(1)),
        ({"zurück": {"values": "nein, ja, weiß nicht"}}, "", None),
        ({name: {"use": "ignore"} for name in FILLED}, "limits", upload_texts.NO_FEATURE),
    ],
)
def test_what_cannot_be_used_says_why_and_how(
    changed: Any, where: str, refusal: tuple[str, str] | None
) -> None:
    answers = {name: cells | changed.get(name, {}) for name, cells in FILLED.items()}
    found = filled(upload._opened("kunden.csv", GERMAN), answers)
    if refusal is None:
        assert upload._schema(found).column("zurück").type == "category"
        return
    with pytest.raises(InputError) as refused:
        upload._schema(found)
    assert str(refused.value) == str(InputError(where, *refusal))


def zip_of_texts(texts: Sequence[str]) -> bytes:
    """An archive of one text file each."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for number, text in enumerate(texts):
            archive.writestr(f"{number}.txt", text)
    return packed.getvalue()


def documents(at: AppTest) -> Any:
    """Where the list of words is handed in."""
    return next(one for one in at.file_uploader if one.label == upload_texts.WORDS)


@pytest.mark.merge
@pytest.mark.parametrize("ending", ["zip", pytest.param("csv", marks=pytest.mark.full)])
def test_texts_and_a_public_list_of_words_reach_explore_and_the_release_page(
    ending: str, tmp_path: Path
) -> None:
    """Stand-in documents first; the custodian's own after a click; then they leave, paid for."""
    texts = [f"{'cat dog ' * 9}{'bank loan ' * (i % 3)} Meier" for i in range(30)]
    at = explorer(data="upload")
    table = "".join(["number,text\n", *(f"{i},{text}\n" for i, text in enumerate(texts))])
    content = zip_of_texts(texts) if ending == "zip" else table.encode()
    at.file_uploader(key="upload_file").upload(f"letters.{ending}", content, "text/x").run()
    if ending == "csv":
        lines = at.session_state[SLOT].limits
        lines["use"] = ["ignore", "text"]  # as the custodian chooses
        at.run()
    use(at).click().run()
    assert at.error[0].value == str(InputError("vocabulary", *upload_texts.NO_WORDS))
    documents(at).upload("words.txt", b"cat\ndog\nbank\nloan\n", "text/plain").run()
    use(at).click().run()
    assert not at.exception
    assert not at.error
    assert at.session_state["scenario"].model == "lda"
    head = next(one.proto.body for one in at.get("html") if "dp-head" in one.proto.body)
    assert "stand-in documents drawn from your words" in head
    assert "dpcore fit lda FILE" not in head, "they are one's own"
    found: Upload = at.session_state[SLOT]
    assert found.rows == len(texts)
    standing_in, own = (upload._data(found, found.table, real=real) for real in (False, True))
    assert standing_in.schema.words == own.schema.words == ("cat", "dog", "bank", "loan")
    totals = [custodian_documents(one.table)[1].counts.sum() for one in (standing_in, own)]
    assert totals == [3000.0, 18.0 * 30 + 2.0 * 30]
    if ending == "zip":
        return  # a release takes as long again
    release = release_page(at, tmp_path)
    release.button[-1].click().run()  # start this ledger
    assert not release.exception
    shown = " ".join(str(one.value) for one in (*release.markdown, *release.caption))
    title = at.session_state["scenario"].title
    what = {"documents": True, "persons": False}
    assert release_texts.what_leaves(title, "document", 4, synthetic=True, **what) in shown
    assumed = release_texts.assumptions(found.unit, 1, "document", adjacency="replace_one", **what)
    assert assumed in shown
    assert not release.toggle
    assert release_texts.OF_DOCUMENTS in shown
    release.checkbox[0].check().run()
    release.button[-1].click().run()
    assert not release.exception
    assert not release.error
    dossier, folder, _ = release.session_state["released"]
    assert verify(folder, tmp_path / "budget.sqlite")["files"]
    assert dossier["parameters"]["vocabulary"] == ["cat", "dog", "bank", "loan"]
    assert dossier["rows"] == len(texts)
    assert all("Meier" not in file.read_text("utf-8") for file in Path(folder).iterdir())


@pytest.mark.merge
def test_released_limits_are_taken_into_use_on_the_spot(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = "".join(f"{age},{pay}\n" for age, pay in rng.integers((18, 900), (90, 4000), (3000, 2)))
    wide = "[columns.age]\nlower = 0\nupper = 10000\n[columns.pay]\nlower = 0\nupper = 1000000\n"
    at = given(with_table(f"age,pay\n{rows}".encode()), wide)
    use(at).click().run()
    release = release_page(at, tmp_path, model="limits", rows_per_person=2)
    release.button[-1].click().run()  # start this ledger
    release.checkbox[0].check().run()
    release.button[-1].click().run()
    assert not release.exception
    opened: Upload = release.session_state[SLOT]
    wide_table = opened.table
    assert isinstance(wide_table, PrivateTable)
    assert wide_table.schema is not None
    opened.table = wide_table.with_schema(replace(wide_table.schema, unit="household"))
    release.run()
    assert all(one.label != release_texts.USE_NARROWER for one in release.button)
    opened.table = wide_table
    release.run()
    (now,) = (one for one in release.button if one.label == release_texts.USE_NARROWER)
    now.click().run()
    assert not release.exception
    assert not release.error
    _, _, files = release.session_state["released"]
    kept: Upload = release.session_state[SLOT]
    assert kept.table.schema == Schema.parse(files["narrower.toml"].decode())
    assert kept.toml == ("narrower.toml", files["narrower.toml"])
    assert kept.table.schema.column("pay").high < 20_000
    assert release.session_state["scenario"].rows_per_person == 2, "the promise is no weaker"
    assert release_texts.NARROWER_IN_USE in [one.value for one in release.caption]
    assert all(one.label != release_texts.USE_NARROWER for one in release.button)


def test_a_text_beside_numbers_is_left_alone_and_one_text_is_no_collection() -> None:
    found = upload._opened("briefe.csv", GERMAN)
    upload._accept(found, upload._schema(filled(found, FILLED | {"Region": {"use": "text"}})))
    assert found.table is not None
    assert upload._data(found, found.table, real=False).table.schema.features[-1] == "Region"
    with pytest.raises(InputError) as refused:
        upload._opened("brief.txt", b"Liebe")
    assert str(refused.value) == str(InputError("brief.txt", *upload_texts.ONE_TEXT))


def test_an_id_column_beside_texts_is_refused_because_nothing_limits_by_it(tmp_path: Path) -> None:
    only = {name: {"use": "ignore"} for name in FILLED} | {
        "Region": {"use": "text"}, "Nr": {"use": "person id"}
    }  # fmt: skip
    schema = upload._schema(filled(upload._opened("briefe.csv", GERMAN), only))
    (tmp_path / "briefe.csv").write_bytes(GERMAN)
    (tmp_path / "briefe.toml").write_text(schema.to_toml(), encoding="utf-8")
    with pytest.raises(
        InputError, match="Nr: an id column does not limit the documents per person; set"
    ):
        load_documents(tmp_path / "briefe.csv", vocabulary=["nord"])


def test_limits_not_yet_in_use_survive_a_look_at_another_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The editor forgets what it holds on a page where it is not drawn."""
    found, begun_with = upload._opened("people.csv", TABLE), []
    found.lines = found.limits.assign(lower="0", upper="9")
    key = f"upload_limits_{found.mark}"

    def editor(lines: pd.DataFrame, **_: object) -> pd.DataFrame:
        begun_with.append(lines["upper"].tolist())
        return found.lines

    monkeypatch.setattr(upload.st, "data_editor", editor)
    for state in ({key: {}}, {}, {key: {}}):
        monkeypatch.setattr(upload.st, "session_state", state)
        upload._editor(found)
    assert begun_with == [[None] * 3, ["9"] * 3, ["9"] * 3]


def test_every_use_of_a_column_of_text_is_named_where_it_is_left_out() -> None:
    """An identifier looks like any other text, and without an id nobody's rows are limited."""
    told = upload_texts.text_left_out("Nr")
    assert all(use in told for use in set(upload.USES) - {"feature", "ignore"})


def test_the_model_that_the_form_advises_is_explained_beside_the_list_of_models() -> None:
    title = declaration("limits").title
    assert f"model {title}" in upload_texts.LIMITS_ADVICE
    assert f"{title}: " in explore_texts.HELP["model"]


def test_what_the_form_asks_about_the_file_is_what_the_table_is_read_by() -> None:
    at = with_table(GERMAN)
    mark = at.session_state[SLOT].mark
    assert any("Region, zurück" in one.value for one in at.caption)
    at.selectbox(key=f"upload_decimal_{mark}").select(".").run()
    at.text_input(key=f"upload_missing_{mark}").set_value("-; k. A.; a, b").run()
    assert not at.exception
    kept: Upload = at.session_state[SLOT]
    assert (kept.form.separator, kept.form.decimal, kept.form.thousands) == (";", ".", None)
    assert kept.form.missing_marks == ("-", "k. A.", "a, b")
    with pytest.raises(InputError, match="Einkommen: some cells are not numbers in the notation"):
        upload._accept(kept, upload._schema(filled(kept, FILLED)))
    assert kept.table is None


def test_a_column_that_is_used_is_not_said_to_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "_editor", lambda opened: opened.limits.assign(use="label"))
    assert not [one.value for one in with_table(GERMAN).caption if "Left out" in one.value]


@pytest.mark.parametrize(("most", "rows"), [(1, 100), (2, 190), (9, 200)])
def test_plans_are_made_for_as_many_rows_as_count(most: int, rows: int) -> None:
    """Of a hundred people, ten of whom have three rows and ten one."""
    ids = [*range(100), *range(90), *range(10)]
    cells = "".join(f"{who},{20 + who % 60},{1000 * who},north\n" for who in ids)
    limits = LIMITS.replace("5000", str(most)) + '\n[columns.who]\nrole = "id"\ntype = "text"\n'
    found = upload._opened("people.csv", f"who,age,income,region\n{cells}".encode())
    assert found.rows == 200
    upload._accept(found, Schema.parse(limits))
    assert found.rows == rows
    upload._accept(found, Schema.parse(LIMITS))
    assert found.rows == 200


@pytest.mark.merge
def test_with_an_id_column_the_promise_is_about_a_person() -> None:
    at = with_persons("1")
    terms = upload_texts.schema_file_sets("limits.toml", "patient", 1, "who")
    assert terms in [one.value for one in at.caption]
    use(at).click().run()
    assert not at.exception
    shown = " ".join(one.value for one in at.markdown)
    assert "the column who has one id for each patient" in shown


def test_persons_with_several_rows_can_have_equal_weight() -> None:
    at = with_table(b"who,age\n" + b"".join(b"p%d,%d\n" % (i // 3, i % 90) for i in range(60)))
    own = at.session_state[SLOT]
    own.limits = own.limits.assign(use=["person id", "feature"], lower=["", "0"], upper=["", "90"])
    at.run()
    assert not any(one.key == "upload_equal" for one in at.checkbox), "each person has one row"
    at.number_input(key="upload_rpp").set_value(4).run()
    at.checkbox(key="upload_equal").check().run()
    schema = upload._schema(own)
    assert (schema.equal_weight, schema.rows_per_person, schema.person) == (True, 4, "who")
    use(at).click().run()
    assert not at.exception
    assert own.rows == 4 * 20, "plans are made for as many rows as a release reads"
    shown = " ".join(one.value for one in at.markdown)
    assert "each person has the same weight" in shown
    assert own.table is not None
    real = upload._data(own, own.table, True)
    assert (real.rows, real.in_table) == (80, 60), "no row is pointed at that is not there"
    file = replace(schema, unit="patient").to_toml()
    at = given(with_table(b"who,age\np1,3\n"), file)
    terms = upload_texts.schema_file_sets("limits.toml", "patient", 4, "who", equal=True)
    assert terms in [one.value for one in at.caption]
    own.lines = own.lines.assign(use=["ignore", "feature"])
    assert not upload._schema(own).equal_weight


def test_a_limit_that_can_be_read_in_two_ways_is_refused() -> None:
    """A length of stay up to 200,000 would end at 200; what is no number says so."""
    for text, number in (
        ("0,5", 0.5),
        ("1,5", 1.5),
        ("0,125", 0.125),
        ("1234,567", 1234.567),
        ("−5", -5),
    ):
        assert upload._number_or_day("pay", text, None) == number
    with pytest.raises(InputError) as refused:
        upload._number_or_day("pay", "200,000", None)
    readings = upload_texts.two_readings("200,000", "200000", "200.000")
    assert str(refused.value) == str(InputError("pay", *readings))
    for text in ("200.000", "200,000"):  # in a table with decimal commas
        with pytest.raises(InputError) as refused:
            upload._number_or_day("pay", text, None, ",")
        readings = upload_texts.two_readings(text, "200000", "200.0000")
        assert str(refused.value) == str(InputError("pay", *readings))
        assert upload._number_or_day("pay", "200.0000", None, ",") == 200
    assert upload._number_or_day("pay", "200.000", None) == 200
    found = upload._opened("a.csv", b"pay;age\n1,5;2\n")
    found.lines = found.limits.assign(lower="0", upper="200.000")
    with pytest.raises(InputError, match=r"^pay: '200.000'"):
        upload._schema(found)
    numbers = ["much", "", "nan", "inf", "1e999", "1 000", "1_000", "1,234,567", "5%", "-1,500"]
    days = ["2020-02-30", "31.12.2020", "2020", "tomorrow"]
    for texts, dates in ((numbers, None), (days, "YYYY-MM-DD")):
        for text in texts:
            with pytest.raises(InputError, match=r"^pay: [^;]*; write [^;]*\.$"):
                upload._number_or_day("pay", text, dates)


def test_a_number_of_rows_that_is_private_does_not_choose_delta(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Links, ledgers and dossiers state delta: one row more would show in them."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(upload.st, "session_state", state)
    state[SLOT] = found = upload._opened("people.csv", TABLE)
    with_ids = LIMITS.replace('role = "label"\n', 'role = "id"\n').replace("5000", "1")
    monkeypatch.setattr(upload, "custodian_count", lambda table: 100_000)
    upload._accept(found, Schema.parse(LIMITS))
    assert upload.delta_under("add_remove", 1e-5) == 1e-5
    assert upload.delta_under("replace_one", 1e-5) == 1e-6
    assert upload.delta_under("add_remove", 1e-6) == 1e-5
    assert upload.delta_under("add_remove", 1e-7) == 1e-7
    assert upload.delta_under("replace_one", 3e-6) == 1e-6
    assert upload.delta_under("add_remove", 1e-6) == 3e-6, "as it was stated"
    assert upload.delta_under("replace_one", 1e-5) == 1e-6
    upload._accept(found, Schema.parse(with_ids))
    assert upload.delta_under("replace_one", 1e-6) == 1e-5
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    assert upload.delta_under("add_remove", 1e-5) == 1e-6, "a guess is public"


def test_a_new_ledger_of_other_neighbours_has_no_delta_of_a_private_number_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "delta_below", lambda _: 1e-6)
    at = given(with_table(), LIMITS)
    use(at).click().run()
    release = release_page(at, tmp_path)
    (chosen,) = (one for one in release.selectbox if one.label == "Neighbouring datasets")
    for adjacency, delta in (("replace_one", 1e-6), ("add_remove", 1e-5)):
        chosen.set_value(adjacency).run()
        (field,) = (one for one in release.number_input if one.label == release_texts.TOTAL_DELTA)
        assert field.value == delta


@pytest.mark.merge
def test_the_release_page_reads_no_number_of_rows_that_an_id_makes_private(tmp_path: Path) -> None:
    at = with_persons("2")
    use(at).click().run()
    release = release_page(at, tmp_path, delta=0.008)
    release.button[-1].click().run()  # start this ledger
    assert not release.exception
    assert release_texts.delta_too_large("row") not in [one.value for one in release.error]
    release.toggle(key="plan_many").set_value(True).run()
    assert release.number_input(key="plan_rows").value == 1000, "they are said to be public"


def test_a_file_that_is_uploaded_again_is_still_one_that_was_looked_at(tmp_path: Path) -> None:
    """The dossier said that settings were chosen while looking at stand-in rows alone."""
    at = given(with_table(), LIMITS)
    use(at).click().run()
    for label, reads in ((upload_texts.SHOW_EXACT, True), (upload_texts.CHANGE, False)):
        next(one for one in at.button if one.label == label).click().run()
        assert at.session_state[SLOT].shown
        assert (at.session_state[SLOT].table is not None) is reads
    at.file_uploader(key="upload_file").upload("people.csv", TABLE, "text/csv").run()
    use(given(at, LIMITS)).click().run()
    assert not at.session_state[SLOT].shown
    review = [one.value for one in release_page(at, tmp_path).markdown]
    assert release_texts.CHOSEN_ON_DATA in review
    assert release_texts.chosen_on_stand_ins("row") not in review


@pytest.mark.merge
def test_few_rows_and_a_large_delta_open_the_whole_release_page(tmp_path: Path) -> None:
    """Fewer than 20 rows ended the plan of several releases, and a delta above 0.1 the page."""
    rows = "".join(f"{20 + i},{1000 * i},north\n" for i in range(12))
    at = given(with_table(f"age,income,region\n{rows}".encode()), LIMITS.replace("5000", "1"))
    use(at).click().run()
    release = release_page(at, tmp_path, delta=0.3)
    assert not release.exception
    release.button[-1].click().run()  # start this ledger
    release.toggle(key="plan_many").set_value(True).run()
    assert not release.exception
    assert release.number_input(key="plan_rows").value == 12
    assert release.number_input(key="plan_delta").value == 0.3


def test_released_limits_are_offered_only_while_they_are_about_the_same_people() -> None:
    """Without its id column a table would be protected by rows, where persons are meant. And limits
    in another unit are others."""
    narrower = Schema.parse(LIMITS.replace("110", "80").replace("missing = 40", "missing = 50"))
    assert releasing.differ_in_limits(Schema.parse(LIMITS), narrower)
    with_ids = LIMITS + '\n[columns.who]\nrole = "id"\ntype = "text"\n'
    others = ("5000", "5001"), ("patient", "visit"), ("years", "months"), ("north", "east")
    for stated in (with_ids, *(LIMITS.replace(*other) for other in others)):
        assert not releasing.differ_in_limits(Schema.parse(stated), narrower)
    corpus = load_documents("bundled:bars")
    assert not releasing.differ_in_limits(corpus.schema, narrower)
