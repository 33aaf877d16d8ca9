"""The public description of a table: what its columns mean, and whom a guarantee protects."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dpcore.checks import rows_of_one, truth, whole
from dpcore.errors import InputError
from dpcore.schema import document, guesses
from dpcore.schema.cells import categories_meant, category_meant, demand_column, numbers_meant
from dpcore.schema.columns import (
    Ball,
    Column,
    Image,
    NumericColumn,
    demand_bounds,
    finite,
    in_ball,
    indicators,
    numeric,
    pool,
    text_or_none,
)
from dpcore.schema.forms import CellForm, FileFormat, day_of

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.arrays import Array


@dataclass(frozen=True)
class Schema:
    """The public description of a table: its columns, the unit of protection, an optional ball.

    unit: what one guarantee protects ("person"). rows_per_person: the most rows one unit has.
    equal_weight: with a column of ids, every unit has the same weight, however many rows it has.
    rehearsal: True where the bounds were read off the data, so that nothing proved can follow.
    image: the shape of the picture whose pixels the feature numbers are, if they are one. id: the
    column that says whose a row is, as one with the role id does. title: for people. file: how a
    delimited file is written (as usual).

    Raises InputError on a mistake.

    >>> schema = Schema.from_bounds({"age": (0, 110, "years"), "visits": (0, 80)})
    >>> schema.features
    ('age', 'visits')
    >>> print(schema.to_toml())
    [table]
    unit = "person"
    rows_per_person = 1
    <BLANKLINE>
    [columns.age]
    role = "feature"
    type = "number"
    lower = 0
    upper = 110
    unit = "years"
    <BLANKLINE>
    [columns.visits]
    role = "feature"
    type = "number"
    lower = 0
    upper = 80
    <BLANKLINE>
    """

    columns: tuple[Column, ...]
    unit: str = "person"
    rows_per_person: int = 1
    ball: Ball | None = None
    title: str | None = None
    id: str | None = None
    rehearsal: bool = False
    image: Image | None = None
    file: FileFormat | None = None
    equal_weight: bool = False
    thing: ClassVar[str] = "row"  # what a unit has

    def __post_init__(self) -> None:
        columns = tuple(self.columns) if isinstance(self.columns, Iterable) else (None,)
        if not all(isinstance(column, Column) for column in columns):
            raise InputError("columns", "some entries are not columns", "give dpcore.Column values")
        object.__setattr__(self, "columns", columns)
        field = "table.rows_per_person"
        rows = rows_of_one(finite(field, self.rows_per_person), field)
        object.__setattr__(self, "rows_per_person", rows)
        self._check_table()
        self._check_columns()
        self._check_ball()
        self._check_image()

    def _check_table(self) -> None:
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise InputError(
                "table.unit", "it is not a word", 'name what one row is about, for example "person"'
            )
        text_or_none("table.title", self.title)
        text_or_none("table.id", self.id)
        truth("table.rehearsal", self.rehearsal)
        truth("table.equal_weight", self.equal_weight)

    def _check_columns(self) -> None:
        for name, times in Counter(column.name for column in self.columns).items():
            if times > 1:
                raise InputError("columns", f"{name!r} is named twice", "name each column once")
        for role in ("label", "target"):
            if sum(column.role == role for column in self.columns) > 1:
                raise InputError("columns", f"two columns have the role {role}", "keep one of them")
        if not self._features:
            raise InputError(
                "columns", "the schema names no feature", 'give a column role = "feature"'
            )
        if self.ball is None:
            for column in self._features:
                demand_bounds(column)

    def _check_ball(self) -> None:
        if self.ball is None:
            return
        if len(self.ball.center) != self._width:
            raise InputError(
                "ball.center",
                f"its length is {len(self.ball.center)} instead of {self._width}",
                "give one coordinate per feature or category, in the order of the columns",
            )

    def _check_image(self) -> None:
        if self.image is None:
            return
        height, width = self.image.height, self.image.width
        if height * width != self._width:
            raise InputError(
                "image",
                f"{height} x {width} pixels do not match the {self._width} numbers of the features",
                f"give a height and width whose product is {self._width}, or remove the image",
            )

    @property
    def _width(self) -> int:
        """How many numbers models see: one for each number and each public category."""
        return sum(len(indicators(column)) for column in self._features)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns that models fit, in the schema's order."""
        return tuple(column.name for column in self._features)

    @property
    def label(self) -> str | None:
        """Name of the column that holds the class of a row, if there is one."""
        return self._only("label")

    @property
    def target(self) -> str | None:
        """Name of the column that a regression explains, if there is one."""
        return self._only("target")

    @property
    def person(self) -> str | None:
        """Name of the column that identifies the person of each row: the one with the role
        id, or one that no model reads and whose name is the table's ``id``. ``None`` where there
        is none.

        Raises InputError where several have that role and ``id`` names none of them.
        """
        named = [column.name for column in self.columns if column.role == "id"]
        if self.id in [c.name for c in self.columns if c.role in ("id", "ignore")]:
            return self.id
        if len(named) > 1:
            raise InputError(
                "columns",
                "two columns have the role id",
                "keep the one that identifies the person of each row, and set role = "
                '"ignore" for the other',
            )
        return named[0] if named else None

    @property
    def outcome(self) -> str | None:
        """What a regression of a yes or no gives the odds of: the target's second category, or 1.

        >>> back = Column("back", "target", "binary", categories=("yes", "no"))
        >>> Schema((Column("age", lower=0, upper=110), back)).outcome
        'back = no'
        """
        for column in self.columns:
            two = len(column.categories) == 2
            if column.role == "target" and (column.type == "binary" or two):
                return f"{column.name} = {column.categories[1] if two else 1}"
        return None

    def _only(self, role: str) -> str | None:
        return next((column.name for column in self.columns if column.role == role), None)

    @cached_property
    def _features(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role == "feature")

    def column(self, name: str) -> Column:
        """The column of this name. Raises InputError where there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise InputError("columns", f"{name!r} is not in the schema", "name a column that is")

    @property
    def separator(self) -> str | None:
        """What separates the columns of a delimited file; ``None``: its ending says it."""
        return None if self.file is None else self.file.separator

    def numbers(self, name: str, cells: pd.Series) -> Array:
        """The numbers ``(n,)`` that a column's cells say, as this schema says they are written.

        Each depends on its cell and the schema alone; missing cells are NaN. Raises InputError
        where a cell says no number.
        """
        return self._numbers(self.column(name), cells)

    def _numbers(self, column: Column, cells: pd.Series) -> Array:
        binary = column.type == "binary"
        return numbers_meant(column.name, cells, self._form(column), binary=binary)

    def _form(self, column: Column) -> CellForm | None:
        """How the cells of a column are written; ``None``: as usual."""
        form = CellForm(self.file or FileFormat(), column.symbols, column.date_format)
        return None if form.is_usual else form

    def numeric_columns(self) -> tuple[NumericColumn, ...]:
        """The numbers that models see, one for each number and one for each public category.

        ====================  =============================================================
        a feature of type     becomes
        ====================  =============================================================
        number                itself, in ``[lower, upper]`` or the ball's extent
        date                  the same of its days since 1970-01-01
        category              one 0/1 indicator per category; any other cell is all zero
        binary                itself in ``[0, 1]``; with categories, whether it is the second
        text                  nothing: models of words read it
        ====================  =============================================================

        >>> where = Column("region", type="category", categories=("north", "south"))
        >>> [number.name for number in Schema((where,)).numeric_columns()]
        ['region=north', 'region=south']
        """
        pairs = [(column, cat) for column in self._features for cat in indicators(column)]
        if self.ball is None:
            return tuple(numeric(column, category) for column, category in pairs)
        middles = zip(pairs, self.ball.center, strict=True)
        return tuple(in_ball(*pair, middle, self.ball.radius) for pair, middle in middles)

    def pooled(self, factor: int) -> Schema:
        """The schema of pictures whose ``factor x factor`` squares of pixels are averaged.

        Bounds of an average are the averages of the bounds. Raises InputError where rows are no
        pictures, or squares do not fill them.

        >>> schema = Schema(Image(4, 6).columns(0, 16), image=Image(4, 6))
        >>> schema.pooled(2).features[-1], schema.pooled(2).columns[0].upper
        ('pixel_1_2', 16.0)
        """
        image, factor = self.image, whole("pool", factor)
        if image is None:
            raise InputError("pool", "the rows are not images", "leave it out")
        if image.height % factor or image.width % factor:
            raise InputError(
                "pool",
                f"squares of {factor} x {factor} pixels do not fill {image.height} x {image.width} "
                "pixels evenly",
                "give a number that divides height and width",
            )
        if self.ball is not None or any(
            pixel.type != "number" or not pixel.bounded for pixel in self._features
        ):
            raise InputError("pool", "a pixel has no bounds of its own", "give every pixel bounds")
        import numpy as np

        small = Image(image.height // factor, image.width // factor)
        limits = np.array(
            [(pixel.low, pixel.high, pixel.fill) for pixel in self._features], dtype=float
        )
        averaged = pool(limits.T, image, factor).T
        unit = self._features[0].unit
        pixels = tuple(
            Column(name, lower=low, upper=high, unit=unit, missing=fill)
            for name, (low, high, fill) in zip(small.names, averaged.tolist(), strict=True)
        )
        others = tuple(column for column in self.columns if column.role != "feature")
        return replace(self, columns=pixels + others, image=small)

    @classmethod
    def from_bounds(
        cls,
        bounds: Mapping[str, Sequence[Any]],
        *,
        unit: str = "person",
        rows_per_person: int = 1,
    ) -> Schema:
        """Number columns from ``{name: (lower, upper)}``; a unit may follow. Raises InputError."""
        if not isinstance(bounds, Mapping):
            raise InputError("bounds", "it is not a dict", 'give one such as {"age": (0, 110)}')
        columns = []
        for name, limits in bounds.items():
            pair = isinstance(limits, Sized) and not isinstance(limits, str)
            if not pair or len(limits) not in (2, 3):
                raise InputError(f"columns.{name}", "it is not a pair", "give (lower, upper)")
            measured = limits[2] if len(limits) == 3 else None
            columns.append(Column(name, lower=limits[0], upper=limits[1], unit=measured))
        return cls(tuple(columns), unit, rows_per_person)

    @classmethod
    def ball_of(
        cls,
        columns: Sequence[str],
        center: Sequence[float] | None,
        radius: float,
        *,
        unit: str = "person",
        rows_per_person: int = 1,
    ) -> Schema:
        """Number columns inside one public ball; ``center=None`` is the origin.

        Raises InputError for a single text as columns.

        >>> Schema.ball_of(["x", "y"], None, 2).numeric_columns()[0].upper
        2.0
        """
        if isinstance(columns, str):
            raise InputError("columns", "a single text was given", "give a list of column names")
        middle = tuple(center) if center is not None else (0.0,) * len(columns)
        named = tuple(Column(name) for name in columns)
        return cls(named, unit, rows_per_person, Ball(middle, radius))

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema file; every mistake in it raises InputError."""
        if not isinstance(path, str | PathLike):
            raise InputError(
                "schema",
                "it is neither a schema nor the path of one",
                'give dpcore.Schema.from_bounds({"age": (0, 110)}) or a .toml file',
            )
        return cls.of_file(document.read(Path(path)), Path(path).name)

    @classmethod
    def of_file(cls, text: str, name: str) -> Schema:
        """Read the text of a schema file that somebody wrote. Raises InputError for every mistake,
        also that of :meth:`demand_effective`."""
        return cls.parse(text, name).demand_effective()

    def demand_effective(self) -> Schema:
        """The schema itself. Raises InputError where ``id`` does not name a column that no model
        reads: rows would be protected where persons are meant. (Dossiers of old have such ids.) So
        does a schema that weighs persons alike, and does not say whose a row is, and one with a
        fill for a yes or no with names: a cell of neither name counts as the first."""
        if self.id is not None and self.person != self.id:
            listed = any(column.name == self.id for column in self.columns)
            named = "a column that models read" if listed else "no column of the schema"
            raise InputError(
                "table.id",
                f"{self.id!r} names {named}",
                f'write role = "id" in [columns.{document.toml_key(self.id)}], or remove the id',
            )
        if self.equal_weight and self.person is None:
            raise InputError(
                "table.equal_weight",
                "no column says whose a row is",
                'give the column of ids role = "id", or leave it out',
            )
        for column in self.columns:
            two = column.type == "binary" and bool(column.categories)
            if two and column.missing is not None and column.role in ("feature", "target"):
                raise InputError(
                    f"columns.{column.name}.missing",
                    f"it has no effect: {column.neither}",
                    "remove missing, or write the cells as 0 and 1 and remove the categories",
                )
        return self

    @classmethod
    def parse(cls, text: str, name: str = "schema") -> Schema:
        """Read what :meth:`to_toml` wrote; ``name`` is what messages call it. In dossiers of old,
        ``id`` may be a table's short name.

        >>> Schema.parse("[columns.age]\\nlower = 0\\nupper = 110\\n").column("age").upper
        110.0
        """
        return cls(**document.parsed(text, name))

    @classmethod
    def of_sections(cls, sections: Mapping[str, Any]) -> Schema:
        """A schema from the sections of a schema file, already read. Raises InputError.

        >>> Schema.of_sections({"columns": {"age": {"lower": 0, "upper": 110}}}).features
        ('age',)
        """
        return cls(**document.sections(sections))

    def to_toml(self) -> str:
        """The schema file that :meth:`from_toml` reads back to an equal schema."""
        return document.written(vars(self))

    @classmethod
    def infer_for_rehearsal(
        cls, frame: pd.DataFrame, *, columns: Sequence[str] | None = None, label: str | None = None
    ) -> Schema:
        """Bounds read off the data itself: for trying things out, never for a release.

        **Guarantee**: none. The schema is marked ``rehearsal=True`` and nothing proved follows.
        """
        return cls(guesses.columns_of(frame, columns, label), rehearsal=True)

    @classmethod
    def ball_for_rehearsal(cls, frame: pd.DataFrame, columns: Sequence[str]) -> Schema:
        """A ball around the origin with the data's own largest norm as radius, as papers scale.

        **Guarantee**: none: one far-off row moves the radius of everybody. The schema is marked
        ``rehearsal=True`` and nothing proved follows. Cells that are not finite count as 0.

        >>> import pandas as pd
        >>> schema = Schema.ball_for_rehearsal(pd.DataFrame({"x": [3, 1], "y": [4, 1]}), ["x", "y"])
        >>> schema.ball.radius, schema.rehearsal
        (5.0, True)
        """
        radius = guesses.largest_norm(frame, columns)
        return replace(cls.ball_of(list(columns), None, radius), rehearsal=True)


def with_numbers(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """The frame with its number columns as floats; the others stay as they are.

    Missing cells are NaN; those and cells outside the bounds are for the wall's clipping.
    Raises InputError where a feature, label or target is not there once, or a number column holds a
    cell that is no number; no message holds a cell.
    """
    read = [column for column in schema.columns if column.role not in ("ignore", "id")]
    for column in read:
        demand_column(frame, column.name)
    # At once: a table of pictures has thousands of columns.
    floats = {name for name, kind in frame.dtypes.items() if kind == "float64"}
    marked = schema.file is not None and bool(schema.file.missing_marks)  # of which some are floats
    numbers = {
        column.name: schema._numbers(column, frame[column.name])
        for column in read
        if (column.is_number or column.type == "binary") and not column.categories
        if marked or column.name not in floats
    }
    if not numbers:
        return frame
    import pandas as pd

    columns = {name: numbers.get(name, frame[name]) for name in frame.columns}
    return pd.DataFrame(columns, index=frame.index, copy=False)


def with_dates(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """The frame with days since 1970-01-01 as the dates of the schema's date columns.

    >>> import pandas as pd
    >>> schema = Schema((Column("day", type="date", lower=0, upper=9),))
    >>> with_dates(pd.DataFrame({"day": [1.5]}), schema).day[0]
    '1970-01-02'
    """
    dates = {
        column.name: [str(day_of(math.floor(days))) for days in frame[column.name]]
        for column in schema.columns
        if column.type == "date" and column.name in frame
    }
    return frame.assign(**dates) if dates else frame


def numbers_of(frame: pd.DataFrame, schema: Schema, order: Literal["C", "F"] = "C") -> Array:
    """The numbers that models see ``(n, d)``, in the data's own units; NaN where a cell is missing.
    Categories become indicators. Raises InputError as :func:`with_numbers` does.

    order: always row after row in memory (C), or always column after column (F): sums over a row
    are rounded in the order of memory, and one odd cell decides how a table keeps a column, so the
    order of all others would hang on it.
    """
    import numpy as np

    frame = with_numbers(frame, schema)
    wanted = schema.numeric_columns()
    if all(column.category is None for column in wanted):  # thousands of columns at once
        plain = frame[[column.source for column in wanted]]
        return np.asarray(plain.to_numpy(dtype=float), order=order)
    columns = []
    for column in wanted:
        cells = frame[column.source]
        if column.category is None:
            columns.append(cells.to_numpy(dtype=float))
        else:
            meant = category_meant(column.category)
            columns.append((categories_meant(cells) == meant).astype(float))
    return np.asarray(np.column_stack(columns), order=order)
