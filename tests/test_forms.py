"""What a messy table means stands in its schema: each cell is read alone, as the schema says."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import examples

import dpcore as dp
from dpcore.datasets.blocks import parts_of
from dpcore.datasets.load import load, read_described
from dpcore.errors import InputError
from dpcore.schema import CellForm, Column, FileFormat, Schema, number_meant, with_dates

GERMAN = """[file]
separator = ";"
decimal = ","
thousands = "."
missing_marks = ["-", "k. A.", "-9"]

[columns.Einkommen]
lower = 0
upper = 200000
symbols = ["EUR", "€"]
missing = 30000

[columns.Anteil]
lower = 0
upper = 100
symbols = ["%"]

[columns.Eintritt]
type = "date"
date_format = "DD.MM.YYYY"
lower = 1990-01-01
upper = 2029-12-31
"""
TABLE = """Einkommen;Anteil;Eintritt
1.234,5;12 %;31.12.2020
3,50 EUR;12,5%;1.2.2021
-;-9;2021-02-01 08:30
€ 40.000;0;k. A.
-9,0;100 %;
"""
MEANT = [[1234.5, 12, 18627], [3.5, 12.5, 18659], [None, None, 18659], [4e4, 0, None]]
MEANT += [[None, 100, None]]


def numbers(schema: Schema, frame: pd.DataFrame) -> list[list[float | None]]:
    columns = np.column_stack([schema.numbers(name, frame[name]) for name in schema.features])
    return [[None if math.isnan(x) else x for x in row] for row in columns.tolist()]


def german(home: Path, table: str = TABLE) -> Path:
    path = home / "kunden.csv"
    path.write_text(table, encoding="utf-8")
    path.with_suffix(".toml").write_text(GERMAN, encoding="utf-8")
    return path


def test_a_german_table_is_read_as_its_schema_says(tmp_path: Path) -> None:
    schema = Schema.parse(GERMAN)
    frame = read_described(german(tmp_path), schema)
    assert numbers(schema, frame) == MEANT
    assert numbers(schema, frame.astype(float)) == MEANT  # once more changes nothing


def test_in_blocks_it_is_the_same_table(tmp_path: Path) -> None:
    schema = Schema.parse(GERMAN)
    (part,) = parts_of(german(tmp_path), separator=schema.separator)
    assert numbers(schema, pd.concat(part.blocks(schema))) == MEANT
    assert load(german(tmp_path), out_of_core=True).public_rows("replace_one") == len(MEANT)


def test_a_fit_is_that_of_the_same_table_written_cleanly(tmp_path: Path) -> None:
    clean = Schema.parse(GERMAN.split("\n\n", 1)[1].replace("DD.MM.YYYY", "YYYY-MM-DD"))
    rows = pd.DataFrame(MEANT, columns=list(clean.features), dtype=float)
    seeded: dict[str, Any] = {"privacy": dp.Privacy(epsilon=1.0, delta=1e-5), "seed": 0}
    messy = dp.fit("mean", load(german(tmp_path)), **seeded)
    again = dp.fit("mean", load(rows, schema=clean), **seeded)
    np.testing.assert_array_equal(messy.parameters.mean, again.parameters.mean)


FORMS = st.builds(
    CellForm,
    st.sampled_from(
        [
            FileFormat(decimal=",", thousands=".", missing_marks=("-", "-9")),
            FileFormat(thousands=",", missing_marks=("n. a.",)),
            FileFormat(decimal=",", thousands="'"),
            FileFormat(decimal=",", thousands=" "),
        ]
    ),
    st.sampled_from([(), ("EUR", "€"), ("%",)]),
)
CELLS = st.text("0123456789.,-+ eE€%EURna'\u00a0", max_size=9)


@given(st.lists(CELLS, min_size=1, max_size=5), FORMS, st.sampled_from(["str", "object"]))
@example(["1.234,5", "-"], CellForm(FileFormat(decimal=",", thousands=".")), "category")
@example(["\ud800", "1"], CellForm(FileFormat(decimal=",")), "object")
@examples(80)
def test_a_column_in_a_form_is_read_as_its_cells_one_by_one(
    cells: list[str], form: CellForm, kind: Any
) -> None:
    from dpcore.schema.cells import _numbers_or_none

    singly = [number_meant(cell, form) for cell in cells]
    at_once = _numbers_or_none(pd.Series(cells, dtype=kind), form)
    assert (at_once is None) == (None in singly)
    if at_once is not None:
        np.testing.assert_array_equal(at_once, np.array(singly, dtype=float))


def test_no_cell_holds_a_table_up_however_many_blanks_it_has() -> None:
    """With a square of steps, this one would take a day."""
    form = CellForm(FileFormat(decimal=",", thousands=" "), ("EUR",))
    blanks = " " * 2_000_000
    assert number_meant(f"EUR{blanks}x1", form) is None
    assert number_meant(f"EUR{blanks}1", form) == 1.0


@pytest.mark.parametrize(
    ("cell", "meant"),
    [
        ("1.234.567,25", 1234567.25), ("1.5", None), ("12.34", None), ("1.2345", None),
        ("1,5", 1.5), (",5", 0.5), ("-1,5", -1.5), ("-€ 2", -2.0), ("€ -2", -2.0), ("2€", 2.0),
        ("2 € €", None), ("2 USD", None), ("€", None), ("true", 1.0), ("NA", math.nan),
        ("1e3", 1000.0), ("- 5", None), ("٣", None), (7, 7.0), (-9.0, math.nan),
        ("-9,00", math.nan),
    ],
)  # fmt: skip
def test_a_cell_is_of_the_form_or_says_no_number(cell: Any, meant: float | None) -> None:
    form = CellForm(FileFormat(decimal=",", thousands=".", missing_marks=("-9",)), ("€",))
    found = number_meant(cell, form)
    assert found == meant or (meant is not None and math.isnan(meant) and math.isnan(found or 0.0))


@pytest.mark.parametrize(
    ("cell", "form", "day"),
    [
        ("31.12.2020", "DD.MM.YYYY", "2020-12-31"), ("1.2.2021", "DD.MM.YYYY", "2021-02-01"),
        ("02/01/2021", "MM/DD/YYYY", "2021-02-01"), ("02/01/2021", "DD/MM/YYYY", "2021-01-02"),
        ("2021-01-02T23:59:59Z", "DD/MM/YYYY", "2021-01-02"),
        ("20210102", "YYYYMMDD", "2021-01-02"),
        ("31.02.2021", "DD.MM.YYYY", None), ("1.2.21", "DD.MM.YYYY", None),
        ("18659", "YYYY-MM-DD", None), ("true", "YYYY-MM-DD", None),
        (pd.Timestamp("2021-01-02 07:00"), "DD.MM.YYYY", "2021-01-02"),
        (np.datetime64("2021-01-02"), "DD.MM.YYYY", "2021-01-02"),
        (np.datetime64("2021-01-02T07"), "DD.MM.YYYY", "2021-01-02"),
    ],
)  # fmt: skip
def test_a_date_is_its_day(cell: Any, form: str, day: str | None) -> None:
    found = number_meant(cell, CellForm(FileFormat(), (), form))
    assert found == (None if day is None else (pd.Timestamp(day) - pd.Timestamp(0)).days)


def test_a_refusal_names_what_to_state_and_holds_no_cell(tmp_path: Path) -> None:
    for cell, word in (("3,50 USD", "symbols"), ("31.12.20", "date_format")):
        row = f"{cell};1;2020-01-01" if word == "symbols" else f"1;1;{cell}"
        with pytest.raises(InputError, match=word) as refused:
            load(german(tmp_path, TABLE + row + "\n"))
        assert cell not in str(refused.value)


@pytest.mark.parametrize("lower", ["2020-02-29", "29.02.2020", date(2020, 2, 29)])
def test_limits_of_dates_may_be_written_as_cells_are(lower: Any) -> None:
    column = Column("d", "feature", "date", lower, "31.12.2020", date_format="DD.MM.YYYY")  # type: ignore[arg-type]
    assert (column.lower, column.upper) == (18321.0, 18627.0)
    text = f'[columns.d]\ntype = "date"\ndate_format = "DD.MM.YYYY"\nlower = "{column.lower:g}"\n'
    with pytest.raises(InputError, match="in quotes as the cells are written"):
        Schema.parse(text + "upper = 2020-12-31")


def test_released_rows_of_a_date_column_read_back(tmp_path: Path) -> None:
    """They are dates, which every form of dates takes, in a folder whose rows are as usual."""
    schema = Schema((Column("day", type="date", lower=18000, upper=19000),))
    written = with_dates(pd.DataFrame({"day": [18659.7, 18000.0]}), schema)
    assert written["day"].tolist() == ["2021-02-01", "2019-04-14"]
    assert schema.numbers("day", written["day"]).tolist() == [18659.0, 18000.0]
