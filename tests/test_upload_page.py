"""Your own file on the page: what a schema file says is shown, and nothing entered is lost."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from support import ROOT

from app import upload
from app.upload import SLOT, Upload
from dpcore.schema import Schema

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


def with_table(table: bytes = TABLE) -> AppTest:
    """The page of an upload, with a table in it."""
    at = AppTest.from_file(str(ROOT / "app" / "explorer.py"), default_timeout=300)
    at.query_params["data"] = "upload"
    at.run()
    at.file_uploader(key="upload_file").upload("people.csv", table, "text/csv").run()
    assert not at.exception
    return at


def given(at: AppTest, limits: str | bytes) -> AppTest:
    """The same with a schema file."""
    content = limits.encode() if isinstance(limits, str) else limits
    at.file_uploader(key="upload_toml").upload("limits.toml", content, "text/plain").run()
    assert not at.exception
    return at


def use(at: AppTest) -> Any:
    return next(one for one in at.button if one.label == "Use these limits")


def test_the_limits_of_a_schema_file_are_shown() -> None:
    at = given(with_table(), LIMITS)
    (shown,) = (one.value for one in at.dataframe)
    schema = Schema.parse(LIMITS, "limits.toml")
    for (_, line), column in zip(shown.iterrows(), schema.columns, strict=True):
        assert line["Column"] == column.name
        assert line["Use as"] == column.role
        for bound in ("lower", "upper"):
            limit = getattr(column, bound)
            assert (line[f"{bound.capitalize()} limit"] == limit) is (limit is not None)
    assert list(shown["Categories"]) == ["", "", "north, south"]
    assert list(shown["If missing, use"]) == ["40", "", ""]
    (said,) = (one.value for one in at.caption if "limits.toml sets limits" in one.value)
    assert "one patient, who has at most 5,000 rows" in said


def test_under_the_lock_a_table_of_texts_looks_like_one_of_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether a column holds numbers, and how many rows there are, is up to the rows."""
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    numbers = upload._opened("a.csv", b"x,y\n1,2\n3,4\n")
    texts = upload._opened("a.csv", b"x,y\n1,2\n3,four\n5,6\n")
    pd.testing.assert_frame_equal(numbers.limits, texts.limits)
    assert numbers.rows == texts.rows
    monkeypatch.delenv("DPCORE_LOCK_TRUTH")
    assert upload._opened("a.csv", b"x,y\n1,2\n3,four\n").limits["use"].tolist() == [True, False]


def test_other_limits_make_other_stand_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    found = upload._opened("people.csv", TABLE)
    monkeypatch.setattr(upload, "_upload", lambda: found)
    for oldest in (110, 90):
        schema = Schema.parse(LIMITS.replace("upper = 110", f"upper = {oldest}"))
        upload._accept(found, schema)
        data = upload.ready()
        assert data is not None
        assert data.schema == data.table.schema == schema
        assert data is upload.ready()


def test_limits_that_are_shown_are_those_that_are_used() -> None:
    at = given(with_table(), LIMITS.replace("5000", "2"))
    use(at).click().run()
    assert not at.exception
    kept: Upload = at.session_state[SLOT]
    assert kept.table is not None
    assert kept.table.schema == Schema.parse(LIMITS.replace("5000", "2"), "limits.toml")


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
    assert [one.value for one in at.error] == [
        "age, income: limits are missing; write a lower and an upper one that you could print "
        "before seeing the data, or untick the column."
    ]
    assert at.session_state[SLOT].table is None


def test_a_table_of_texts_opens_for_a_schema_file_to_say_what_they_mean() -> None:
    at = with_table(b"region,ward\nnorth,A\nsouth,B\nnorth,A\n")
    assert not at.error
    use(at).click().run()
    assert [one.value for one in at.error] == [
        "limits: no column is ticked; tick a number column, or give a schema file."
    ]
    named = '[columns.{}]\ntype = "category"\ncategories = {}\n'
    given(at, named.format("region", '["north", "south"]') + named.format("ward", '["A", "B"]'))
    use(at).click().run()
    assert not at.error
    assert at.session_state[SLOT].table is not None
