"""The schema: public bounds that say in one sentence what is wrong with them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from hypothesis import example, given
from hypothesis import strategies as st
from support import every, examples

from dpcore.datasets.load import load
from dpcore.errors import InputError
from dpcore.schema import (
    Ball,
    Column,
    FileFormat,
    Image,
    Schema,
    categories_meant,
    category_meant,
    numbers_of,
    with_numbers,
)
from dpcore.schema.forms import DATE_FORMATS, SEPARATORS
from dpcore.wall.data.clipping import bounded_rows
from dpcore.wall.table import PrivateTable

DATES = '[columns.a]\ntype = "date"\n'
AGE = Column("age", lower=0, upper=110, unit="years")
REGION = Column("region", type="category", categories=("north", "south"))

# Whatever TOML's basic strings can hold: no lone surrogates.
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
NUMBERS = st.floats(-1e6, 1e6)


@st.composite
def columns(draw: st.DrawFn, name: str) -> Column:
    """Any valid column, features with public bounds."""
    role = draw(st.sampled_from(["feature", "label", "target", "id", "ignore"]))
    unit = draw(st.none() | WORDS)
    kind = draw(st.sampled_from(["number", "category", "binary", "text", "date"]))
    if kind == "category":
        names = draw(st.lists(WORDS, min_size=1, max_size=4, unique_by=category_meant))
        return Column(name, role, kind, unit=unit, categories=tuple(names))
    if kind == "text":
        return Column(name, role, kind, unit=unit)
    lower = draw(NUMBERS)
    upper = lower + draw(st.floats(0.5, 1e6))
    missing = draw(st.none() | st.just("role") | st.floats(lower, upper))
    form: dict[str, Any] = {}
    if kind == "number":
        form["symbols"] = tuple(draw(st.lists(st.sampled_from(["EUR", "%"]), unique=True)))
    elif kind == "date":
        form["date_format"] = draw(st.sampled_from(DATE_FORMATS))
    return Column(name, role, kind, lower, upper, unit, missing=missing, **form)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Any valid schema."""
    names = draw(st.lists(WORDS, max_size=4, unique=True).filter(lambda words: "seed" not in words))
    drawn, seen = [Column("seed", lower=0, upper=1)], set()
    for name in names:
        column = draw(columns(name))
        if column.role in seen & {"label", "target"}:
            continue
        seen.add(column.role)
        drawn.append(column)
    plain = Schema(tuple(drawn), draw(WORDS.filter(str.strip)), draw(st.integers(1, 9)))
    size = len(plain.numeric_columns())
    center = draw(st.lists(NUMBERS, min_size=size, max_size=size))
    ball = draw(st.none() | st.builds(Ball, st.just(tuple(center)), st.floats(0.1, 1e6)))
    separators = st.none() | st.sampled_from(SEPARATORS)
    marks = st.lists(st.sampled_from(["-", "n. a.", "-9"]), unique=True).map(tuple)
    return Schema(
        plain.columns,
        plain.unit,
        plain.rows_per_person,
        ball,
        draw(st.none() | WORDS),
        draw(st.none() | WORDS),
        draw(st.booleans()),
        file=draw(st.none() | st.builds(FileFormat, separators, missing_marks=marks)),
    )


@given(schemas())
@example(Schema((AGE, Column("day", "label", "date", 2e-289, 1.0))))
@examples(150)
def test_toml_round_trip_gives_an_equal_schema(schema: Schema) -> None:
    assert Schema.parse(schema.to_toml()) == schema


def test_a_schema_file_reads_back(tmp_path: Path) -> None:
    whose = Column("t", role="id", type="text")
    schema = Schema((AGE, REGION, whose), "patient", 3, title="Tést", id="t", rehearsal=True)
    for name in ("t.toml", "two\nlines.toml"):
        path = tmp_path / name
        path.write_text(schema.to_toml(), encoding="utf-8")
        assert Schema.from_toml(path) == schema


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_bytes(b"\xef\xbb\xbf[columns.age]\r\nlower = 0\r\nupper = 110\r\n")
    assert Schema.from_toml(path).column("age").upper == 110.0


@every(
    "text, near",
    [
        ('[table]\nids = "Nr"', "write id"),
        ("[table]\nrow_per_person = 2", "write rows_per_person"),
        ("[tabel]", "write table"),
        ("[columns.a]\nuper = 1", "write upper"),
        ('[file]\nseperator = ";"', "write separator"),
        ('[table]\nperson = "Nr"', "use title, unit, rows_per_person, equal_weight, id, rehearsal"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(text: str, near: str) -> None:
    with pytest.raises(InputError) as caught:
        Schema.parse(text)
    assert caught.value.remedy == near


def test_an_id_must_name_a_column_that_says_whose_a_row_is(tmp_path: Path) -> None:
    """Else rows would be protected where persons are meant; what dossiers hold still opens."""
    path, column = tmp_path / "t.toml", "[columns.age]\nlower = 0\nupper = 110\n"
    for name, found in (("Nr", "no column of the schema"), ("age", "a column that models read")):
        text = f'[table]\nid = "{name}"\n{column}'
        path.write_text(text)
        with pytest.raises(InputError, match=f"table.id: '{name}' names {found}"):
            Schema.from_toml(path)
        assert Schema.parse(text).id == name
    for role in ("id", "ignore"):
        said = f'[table]\nid = "Nr"\n{column}[columns.Nr]\nrole = "{role}"\ntype = "text"\n'
        path.write_text(said)
        assert Schema.from_toml(path).person == "Nr"


@pytest.mark.parametrize("role", ["feature", "target"])
@pytest.mark.parametrize("fill", ["1", "0.5", '"role"'])
def test_a_fill_that_has_no_effect_is_refused(tmp_path: Path, role: str, fill: str) -> None:
    """A cell of neither name counts as the first; what dossiers hold still opens."""
    path = tmp_path / "t.toml"
    names = "[columns.age]\nlower = 0\nupper = 110\n"
    names += f'[columns.sex]\nrole = "{role}"\ntype = "binary"\ncategories = ["m", "f"]\n'
    path.write_text(f"{names}missing = {fill}\n", encoding="utf-8")
    neither = r"columns\.sex\.missing: it has no effect: .* neither 'm' nor 'f' counts as 'm'"
    with pytest.raises(InputError, match=neither):
        Schema.from_toml(path)
    old = Schema.parse(path.read_text(encoding="utf-8"))
    frame = pd.DataFrame({"age": 1.0, "sex": ["m", "f", "-", None, "F"]})
    with pytest.raises(InputError, match=neither):
        load(frame, schema=old)
    if role == "feature":
        assert numbers_of(frame, old)[:, 1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    path.write_text(names, encoding="utf-8")
    assert Schema.from_toml(path).column("sex").missing is None


def test_the_documented_format_is_read() -> None:
    schema = Schema.parse(
        """
        [table]
        unit = "patient"
        rows_per_person = 2
        id = "ward"
        [columns.age]
        role = "feature"
        type = "number"
        lower = 0
        upper = 110
        unit = "years"
        missing = 40
        [columns.dose]
        lower = 0
        upper = 5
        missing = "role"
        [columns.outcome]
        role = "label"
        type = "binary"
        [columns.name]
        role = "ignore"
        type = "text"
        """
    )
    assert (schema.unit, schema.rows_per_person, schema.id) == ("patient", 2, "ward")
    assert schema.features == ("age", "dose")
    assert (schema.label, schema.target) == ("outcome", None)
    assert [number.fill for number in schema.numeric_columns()] == [40.0, 2.5]
    assert schema.column("dose").missing == "role"


A = "[columns.a]\nlower = 0\nupper = 1\n"
MISTAKES = {
    "[columns.a]\nlower = 2\nupper = 1": "columns.a: not below",
    "[columns.a]\nlower = 1\nupper = 1": "columns.a: not below",
    "[columns.a]\nlower = 1": "columns.a: upper is missing",
    "[columns.a]\nupper = 1": "columns.a: lower is missing",
    "[columns.a]\nlower = -inf\nupper = 1": "columns.a.lower: finite",
    "[columns.a]\nlower = 0\nupper = nan": "columns.a.upper: finite",
    "[columns.a]\nlower = -1e308\nupper = 1e308": "columns.a: too large to compute",
    '[columns.a]\nlower = "0"\nupper = 1': "columns.a.lower: finite number",
    "[columns.a]\nlower = 1990-01-01\nupper = 2": "columns.a.lower: it is a date",
    f"{DATES}lower = 1990-01-01\nupper = 1990-01-02T00:00:00": "columns.a.upper: not a date",
    f"{DATES}lower = 1990-01-01\nupper = 2026-01-01\nmissing = 'x'": "columns.a.missing: a date",
    "[columns.a]\nlower = true\nupper = 2": "columns.a.lower: finite number",
    "[columns.a]": "columns.a: no bounds",
    "[columns.a]\nlower = 0\nupper = 1\nmissing = 2": "columns.a.missing: outside",
    '[columns.a]\nlower = 0\nupper = 1\nmissing = "x"': "columns.a.missing: finite",
    '[columns.a]\nrole = "frature"': "columns.a.role: not known",
    "[columns.a]\nrole = 7": "columns.a.role: not text",
    '[columns.a]\ntype = "int"': "columns.a.type: not known",
    '[columns.a]\ntype = "category"': "columns.a: no categories",
    '[columns.a]\ntype = "category"\ncategories = "xy"': "columns.a: not a list",
    '[columns.a]\ntype = "category"\ncategories = ["x", "x"]': "columns.a: twice",
    '[columns.a]\ntype = "category"\ncategories = [1.5]': "columns.a: whole number",
    '[columns.a]\ntype = "category"\ncategories = ["x"]\nlower = 0': "columns.a: cannot have bound",
    '[columns.a]\ncategories = ["x"]\nlower = 0\nupper = 1': "columns.a: categories",
    '[columns.a]\ntype = "binary"\ncategories = ["x"]': "columns.a: two categories",
    "[columns.a]\nlower = 0\nupper = 1\nuint = 3": "columns.a: 'uint' is not known",
    "[columns.a]\nlower = 0\nupper = 1\nunit = 3": "columns.a.unit: not text",
    "[columns]\na = 3": "columns.a: not a table",
    "columns = 3": "columns: not a table",
    "ball = 3\n[columns.a]": "ball: not a table",
    "[tabel]": "schema: 'tabel' is not known",
    "": "columns: no feature",
    '[columns.a]\nrole = "ignore"': "columns: no feature",
    "[columns.a]\n[ball]\ncenter = [0]\nradius = -1": "ball.radius: above 0",
    "[columns.a]\n[ball]\ncenter = [0]\nradius = inf": "ball.radius: finite",
    "[columns.a]\n[ball]\ncenter = [0, 0]\nradius = 1": "ball.center: its length is 2 instead of 1",
    "[columns.a]\n[ball]\ncenter = 0\nradius = 1": "ball.center: not a list",
    "[columns.a]\n[ball]\nradius = 1": "ball: center is missing",
    "[columns.a]\n[ball]\ncenter = [0]\nradius = 1\nr = 2": "ball: 'r' is not known",
    "[table]\nrows_per_person = 0": "table.rows_per_person: below 1",
    "[table]\nrows_per_person = 1.5": "table.rows_per_person: whole",
    '[table]\nunit = " "': "table.unit: not a word",
    "[table]\nunit = 3": "table.unit: not a word",
    '[table]\nrehearsal = "no"': "table.rehearsal: true or false",
    "[columns.a\nlower = 0": "schema: not valid TOML",
    "[columns.a]\n[columns.a]": "schema: not valid TOML",
    "x = " + "[" * 5_000: "schema: too deeply nested",
    "[columns.a]\nrole = 0x" + "f" * 9_000: "columns.a.role: not text",
    "[columns.a]\nlower = 0x" + "f" * 9_000: "columns.a.lower: finite",
    '[table]\nseparator = ";"': "table: 'separator' is not known; write it below [file]",
    '[file]\ntitle = "people"': "file: 'title' is not known; write it below [table]",
    f'{A}[file]\nseparator = "x"': "file.separator: ",
    f'{A}[file]\ndecimal = "."\nthousands = "."': "file.thousands: it is also the decimal mark",
    f'{A}[file]\nmissing_marks = "-"': "file.missing_marks: it is not a list",
    f'{A}[file]\ndecimals = ","': "file: 'decimals' is not known",
    f'{A}[columns.b]\nsymbols = ["5"]': "columns.b.symbols: ",
    f'{A}[columns.b]\ntype = "text"\nsymbols = ["EUR"]': "columns.b.symbols: a text column cannot",
    f'{A}[columns.b]\ndate_format = "DD.MM.YYYY"': "columns.b.date_format: cannot have a date",
    f'{A}[columns.b]\ntype = "date"\ndate_format = "DD.MM.YY"': "columns.b.date_format: ",
    f'{A}[columns.b]\ntype = "date"\nlower = 2020-01-01': "columns.b: upper is missing",
    f"{A}[image]\nheight = 8": "image: width is missing",
    f"{A}[image]\nwidth = 8": "image: height is missing",
    f"{A}[image]\nheight = 2\nwidth = 2\ndepth = 3": "image: 'depth' is not known",
    f"{A}[image]\nheight = 0\nwidth = 2": "image.height: below 1",
    f"{A}[image]\nheight = 1.5\nwidth = 2": "image.height: not a whole number",
    f'{A}[image]\nheight = "two"\nwidth = 1': f"image.height: {wording.NOT_FINITE}",
    f"{A}[image]\nheight = true\nwidth = 2": f"image.height: {wording.NOT_FINITE}",
    f"{A}[image]\nheight = 2\nwidth = 2": "image: 2 x 2 pixels do not match the 1 number",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_names_the_field_and_what_was_found(text: str) -> None:
    field, _, word = MISTAKES[text].partition(": ")
    with pytest.raises(InputError) as caught:
        Schema.parse(text)
    assert caught.value.field == field
    assert word in f"{caught.value.problem}; {caught.value.remedy}"
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match="named twice"):
        Schema((AGE, AGE))


def test_two_labels_are_refused() -> None:
    labels = (Column("a", "label"), Column("b", "label"))
    with pytest.raises(InputError, match="two columns have the role label"):
        Schema((AGE, *labels))


@pytest.mark.parametrize("name", ["absent.toml", ".", "latin.toml", "large.toml", "a\0b"])
def test_an_unreadable_schema_file_is_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "latin.toml").write_bytes("# é".encode("latin-1"))
    (tmp_path / "large.toml").write_bytes(b"#" * (2 << 20))
    with pytest.raises(InputError) as caught:
        Schema.from_toml(tmp_path / name)
    assert str(tmp_path.parent) not in str(caught.value)


@given(st.binary(max_size=200))
@example(b"\xff\xfe[\x00")
@examples(150)
def test_random_bytes_give_a_schema_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.toml"
    path.write_bytes(raw)
    with pytest.raises(InputError):  # no random bytes name a feature with bounds
        Schema.from_toml(path)


TOML_VALUES = st.sampled_from(
    ["0", "-1", "1e400", "nan", "true", '""', '"role"', "[]", '["a", "b"]', "{x = 1}", "1979-05-27"]
)
TOML_KEYS = st.sampled_from(
    ["role", "type", "lower", "upper", "unit", "categories", "missing", "center", "radius", "name"]
)
TOML_HEADS = st.sampled_from(["[table]", "[columns.a]", "[columns.b]", "[ball]", "[[columns]]"])


@given(st.lists(TOML_HEADS | st.tuples(TOML_KEYS, TOML_VALUES).map(" = ".join), max_size=12))
@examples(300)
def test_any_toml_gives_a_schema_or_an_input_error(lines: list[str]) -> None:
    try:
        schema = Schema.parse("\n".join(lines))
    except InputError:
        return
    for number in schema.numeric_columns():
        assert -math.inf < number.lower < number.upper < math.inf


def test_every_number_a_model_sees_has_bounds_and_a_fill_inside_them() -> None:
    answer = Column("answer", type="binary", categories=("no", "yes"))
    numbers = Schema((AGE, REGION, answer, Column("flag", type="binary"))).numeric_columns()
    assert [(n.name, n.source, n.category) for n in numbers] == [
        ("age", "age", None),
        ("region=north", "region", "north"),
        ("region=south", "region", "south"),
        ("answer=yes", "answer", "yes"),
        ("flag", "flag", None),
    ]
    assert [(n.lower, n.upper, n.fill) for n in numbers] == [
        (0.0, 110.0, 55.0),
        (0.0, 1.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 1.0, 0.5),
    ]
    assert numbers[0].unit == "years"


@pytest.mark.parametrize(("lower", "upper"), [(10.0, 30.0), (-5.0, -1.0), (-1.0, 3.0)])
def test_an_unstated_fill_is_the_middle_of_the_limits(lower: float, upper: float) -> None:
    column = Column("x", lower=lower, upper=upper)
    assert column.fill == Schema((column,)).numeric_columns()[0].fill == (lower + upper) / 2


def test_in_a_ball_the_extent_and_the_fill_come_from_the_ball() -> None:
    numbers = Schema.ball_of(["x", "y"], [1.0, -2.0], 5).numeric_columns()
    assert [(n.lower, n.upper, n.fill) for n in numbers] == [(-4.0, 6.0, 1.0), (-7.0, 3.0, -2.0)]


def test_bounds_off_the_data_mark_the_schema_as_a_rehearsal() -> None:
    frame = pd.DataFrame(
        {
            "x": [1.0, np.nan, 3.0, np.inf],
            "c": ["a", "b", None, "a"],
            "same": [2, 2, 2, 2],
            "y": [0, 1, 0, 1],
        }
    )
    schema = Schema.infer_for_rehearsal(frame, label="y")
    assert schema.rehearsal
    assert (schema.column("x").lower, schema.column("x").upper) == (1.0, 3.0)
    assert schema.column("c").categories == ("a", "b")
    assert schema.column("same").low < 2 < schema.column("same").high
    assert schema.label == "y"
    assert "rehearsal = true" in schema.to_toml()  # a saved copy must not look public
    assert not Schema.from_bounds({"x": (0, 1)}).rehearsal


@pytest.mark.parametrize(
    ("cells", "column", "word"),
    [
        ({"b": [1]}, AGE, "no such column"),
        ({"age": ["8675309x"]}, AGE, "not numbers"),
        ({"age": ["1", "2,5"]}, AGE, "not numbers"),
        ({"age": [1 + 2j]}, AGE, "not numbers"),
        ({"age": [[1], [2, 3]]}, AGE, "not numbers"),
        ({"age": pd.to_datetime(["2020-01-01"])}, AGE, "not numbers"),
        ({"flag": ["8675309x"]}, Column("flag", type="binary"), "not numbers"),
    ],
)
def test_a_frame_that_does_not_fit_is_refused_without_its_cells(
    cells: dict[str, object], column: Column, word: str
) -> None:
    with pytest.raises(InputError) as caught:
        with_numbers(pd.DataFrame(cells), Schema((column,)))
    assert word in caught.value.problem
    assert caught.value.field == column.name
    assert "8675309" not in str(caught.value)
    beside = str(caught.value).replace("0 and 1", "")  # what any binary column should hold
    assert not any(digit in beside for digit in "0123456789")


def test_a_column_that_comes_twice_is_refused() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["age", "age"])
    with pytest.raises(InputError, match="several columns"):
        with_numbers(frame, Schema((AGE,)))


def test_ignored_columns_need_not_be_there() -> None:
    with_numbers(pd.DataFrame({"age": [1]}), Schema((AGE, Column("note", "ignore", "text"))))


def test_whole_numbers_keep_their_category_beside_missing_cells() -> None:
    assert list(categories_meant(pd.Series([1.0, np.nan, 2.5]))) == ["1", "nan", "2.5"]
    assert categories_meant(pd.Series(pd.array([1.0, None], dtype="Float64")))[0] == "1"
    assert list(categories_meant(pd.Series([1, 2]))) == ["1", "2"]


@pytest.mark.parametrize("odd", ["A1", "true", "1.0", "1e3", "-0", "NA", "", "inf", "x y"])
@pytest.mark.parametrize(
    ("cells", "categories"),
    [
        (["01", "02"], ("01", "02")),
        (["true", "false"], ("true", "false")),
        (["1", "2"], ("1", "2")),
        (["-0", "1"], ("0", "1")),
        (["inf", "1e999"], ("Infinity", "2")),
    ],
)
def test_one_odd_cell_never_changes_what_other_cells_mean(
    cells: list[str], categories: tuple[str, ...], odd: str, tmp_path: Path
) -> None:
    """Also when the schema comes after the file was read and its types were guessed."""
    schema = Schema((Column("kind", type="category", categories=categories),))

    def units(last: str) -> Any:
        path = tmp_path / "kinds.csv"
        lines = [f"{i},{cell}" for i, cell in enumerate([*cells * 20, last])]
        path.write_text("\n".join(["number,kind", *lines]) + "\n")
        return bounded_rows(load(path).with_schema(schema), private=True)[1][:-1]

    np.testing.assert_array_equal(units(odd), units(cells[0]))


@pytest.mark.parametrize("odd", ["x", 0.5, True, 2**70, pd.NA, b"5", 2j])
@pytest.mark.parametrize("cell", [None, pd.NA, np.nan, -0.0, np.float32(0.1), np.inf, 1, 0.5])
def test_one_odd_object_never_changes_what_other_objects_mean(cell: object, odd: object) -> None:
    """A frame made of lists keeps a column as what its values have in common."""
    alike, beside = pd.Series([cell, cell]), pd.Series([cell, odd])
    assert categories_meant(beside)[0] == categories_meant(alike)[0]


# --- smaller pictures ----------------------------------------------------------------------------


def pictures(high: int = 4, wide: int = 6, **options: object) -> Schema:
    image = Image(high, wide)
    return Schema(
        (*image.columns(0, 16), Column("digit", role="label", type="text")),
        image=image,
        **options,  # type: ignore[arg-type]
    )


def test_pooled_pictures_have_the_averaged_limits() -> None:
    small = pictures().pooled(2)
    assert small.image == Image(2, 3)
    assert len(small.features) == 6
    assert {(column.lower, column.upper, column.fill) for column in small.columns[:6]} == {
        (0.0, 16.0, 8.0)
    }
    assert small.columns[-1].name == "digit"


def test_a_pooled_table_is_the_average_of_filled_and_clipped_cells() -> None:
    """A map of each row alone: changing one row changes one row."""

    schema = pictures()
    cells = np.random.default_rng(0).uniform(0, 16, (3, 24))
    cells[0, 0], cells[1, 1] = np.nan, 1e9
    frame = pd.DataFrame(cells, columns=list(schema.features)).assign(digit=["a", "b", "c"])
    _, rows = bounded_rows(PrivateTable.seal(frame, schema).pooled(2), private=True)
    expected = np.where(np.isnan(cells), 8.0, np.clip(cells, 0, 16))
    expected = expected.reshape(3, 2, 2, 3, 2).mean(axis=(2, 4)).reshape(3, 6)
    np.testing.assert_allclose(rows, expected / 8.0 - 1.0)
    moved = frame.assign(pixel_0_0=[1.0, *frame["pixel_0_0"][1:]])
    _, others = bounded_rows(PrivateTable.seal(moved, schema).pooled(2), private=True)
    assert (rows != others).any(axis=1).tolist() == [True, False, False]


def test_a_pooled_table_keeps_what_columns_there_are() -> None:
    """A column that no model sees may be absent, as it may be without pooling."""
    image = Image(4, 6)
    schema = Schema((*image.columns(0, 16), Column("name", role="id", type="text")), image=image)
    frame = pd.DataFrame(np.zeros((2, 24)), columns=list(schema.features))
    small = PrivateTable.seal(frame, schema).pooled(2)
    assert bounded_rows(small, private=True)[1].shape == (2, 6)


def test_one_huge_number_stops_no_fit() -> None:
    """Whether there is a fit may not depend on a cell."""
    schema = Schema.from_bounds({"x": (0, 1)})
    frame = pd.DataFrame({"x": pd.Series([0.5, 10**400, 1], dtype=object)})
    _, rows = bounded_rows(PrivateTable.seal(frame, schema), private=True)
    np.testing.assert_allclose(rows[:, 0], [0.0, 0.0, 1.0])


def test_columns_may_come_one_after_another() -> None:
    columns = (Column("a", lower=0.0, upper=1.0), Column("b", lower=0.0, upper=1.0))
    assert Schema(column for column in columns) == Schema(columns)  # type: ignore[arg-type]


def test_categories_may_be_numpys_whole_numbers() -> None:
    column = Column("kind", type="category", categories=np.arange(3))  # type: ignore[arg-type]
    assert column.categories == ("0", "1", "2")
    with pytest.raises(InputError, match="neither text nor a whole number"):
        Column("kind", type="category", categories=np.ones(2))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["binary", "category"])
def test_categories_have_an_order(kind: str) -> None:
    """Of a set, chance decides in every process which of two means yes."""
    with pytest.raises(InputError, match=r"is a set, which has no order; give a list"):
        Column("back", type=kind, categories={"no", "yes"})  # type: ignore[arg-type]
