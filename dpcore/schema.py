"""A schema says in public what the columns mean and how far their numbers may reach.

Every bound is one that could be printed before anybody saw the data: a private fit clips rows to
these bounds, so a bound read off the rows would itself tell something about them. (Dwork and Roth
2014, section 3.3: sensitivity is a property of the query's public domain, not of the data.)
"""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dpcore.checks import one_of, positive, whole
from dpcore.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

ROLES = ("feature", "label", "target", "id", "ignore")
TYPES = ("number", "category", "binary", "text")
MISSING_TOKENS = ("", "NA", "N/A", "NaN", "nan", "null", "?", "None")
MODEL_HANDLES_MISSING = "role"
LARGEST_FILE = 1 << 20  # bytes; a schema is written by hand
MOST_CATEGORIES_GUESSED = 50
MOST_COLUMNS = 10_000


@dataclass(frozen=True)
class Column:
    """One column: its role, type, unit and PUBLIC bounds.

    lower, upper: in the column's own unit. categories: public names, one indicator each.
    missing: the public fill of missing cells (default: the middle of the bounds), or ``"role"``
    where missingness is the model's business.

    Raises InputError on a mistake.

    >>> Column("age", lower=0, upper=110, unit="years").fill
    55.0
    """

    name: str
    role: str = "feature"
    type: str = "number"
    lower: float | None = None
    upper: float | None = None
    unit: str | None = None
    categories: tuple[str, ...] = ()
    missing: float | str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError("columns", "a column has no name", "give every column a name")
        for key in ("role", "type", "unit"):
            _text_or_none(self._field(key), getattr(self, key))
        one_of(self._field("role"), self.role, ROLES)
        one_of(self._field("type"), self.type, TYPES)
        object.__setattr__(self, "categories", _categories(self._field(), self.categories))
        for bound in ("lower", "upper"):
            value = _finite_or_none(self._field(bound), getattr(self, bound))
            object.__setattr__(self, bound, value)
        self._check_bounds()
        self._check_categories()
        self._check_missing()

    def _field(self, key: str | None = None) -> str:
        return f"columns.{self.name}" + (f".{key}" if key else "")

    def _check_bounds(self) -> None:
        if self.type in ("category", "text") and (self.lower, self.upper) != (None, None):
            raise InputError(
                self._field(), f"a {self.type} column has no bounds", "remove lower and upper"
            )
        if (self.lower is None) != (self.upper is None):
            absent = "lower" if self.lower is None else "upper"
            raise InputError(self._field(), f"{absent} is missing", "give both lower and upper")
        if self.lower is None or self.upper is None:
            return
        if not self.lower < self.upper:
            raise InputError(
                self._field(),
                f"lower = {self.lower:g} is not below upper = {self.upper:g}",
                "give the smaller bound as lower and the larger as upper",
            )
        if not math.isfinite(self.upper - self.lower) or not math.isfinite(self.upper + self.lower):
            raise InputError(
                self._field(), "the bounds are too far out to compute with", "give nearer bounds"
            )

    def _check_categories(self) -> None:
        if self.categories and self.type not in ("category", "binary"):
            raise InputError(
                self._field(),
                f"categories are given for a {self.type} column",
                'set type = "category" or remove the categories',
            )
        if self.type == "binary" and self.categories and len(self.categories) != 2:
            raise InputError(
                self._field(), "a binary column has two categories", "give exactly two"
            )
        if self.type == "category" and not self.categories and self.role in ("feature", "label"):
            raise InputError(
                self._field(),
                "a category column has no categories",
                'list every category it may hold, for example categories = ["north", "south"]',
            )

    def _check_missing(self) -> None:
        if self.missing is None or self.missing == MODEL_HANDLES_MISSING:
            return
        if self.type not in ("number", "binary"):
            raise InputError(
                self._field("missing"),
                f"a {self.type} column has no public fill",
                "remove it: a cell outside the categories counts for none of them",
            )
        fill = _finite_or_none(self._field("missing"), self.missing)
        object.__setattr__(self, "missing", fill)
        if not self.low <= fill <= self.high:  # type: ignore[operator]  # fill was not None
            raise InputError(
                self._field("missing"), f"{fill:g} is outside the bounds", "give a fill inside them"
            )

    @property
    def bounded(self) -> bool:
        """Whether the column's numbers have public bounds of their own."""
        return self.type != "number" or self.lower is not None

    @property
    def low(self) -> float:
        """The public lower bound: minus infinity for a number without one."""
        return self._bound(self.lower, -math.inf, 0.0)

    @property
    def high(self) -> float:
        """The public upper bound: infinity for a number without one."""
        return self._bound(self.upper, math.inf, 1.0)

    def _bound(self, given: float | None, number: float, indicator: float) -> float:
        if given is not None:
            return given
        return number if self.type == "number" else indicator

    @property
    def fill(self) -> float | None:
        """The public fill of a missing cell; None for a number without bounds or fill."""
        if isinstance(self.missing, float):
            return self.missing
        return (self.low + self.high) / 2 if self.bounded else None


@dataclass(frozen=True)
class Ball:
    """A public ball that covers the rows: ``|x - center| <= radius`` in the columns' own units."""

    center: tuple[float, ...]
    radius: float

    def __post_init__(self) -> None:
        if isinstance(self.center, str) or not isinstance(self.center, Iterable):
            raise InputError("ball.center", "it is not a list of numbers", "give one per feature")
        center = tuple(_finite("ball.center", value) for value in self.center)
        object.__setattr__(self, "center", center)
        radius = _finite("ball.radius", self.radius)
        object.__setattr__(self, "radius", positive("ball.radius", radius))


@dataclass(frozen=True)
class Image:
    """The feature numbers of a row are the pixels of one picture, row by row from its top left.

    height, width: how many pixels the picture is high and wide.

    >>> [column.name for column in Image(1, 2).columns(0, 255)]
    ['pixel_0_0', 'pixel_0_1']
    """

    height: int
    width: int

    def __post_init__(self) -> None:
        for side in ("height", "width"):
            pixels = whole(f"image.{side}", _finite(f"image.{side}", getattr(self, side)))
            object.__setattr__(self, side, pixels)

    @property
    def names(self) -> tuple[str, ...]:
        """The usual name of each pixel's column, ``pixel_ROW_COLUMN``, counted from 0."""
        return tuple(f"pixel_{i}_{j}" for i in range(self.height) for j in range(self.width))

    def columns(self, lower: float, upper: float, unit: str | None = None) -> tuple[Column, ...]:
        """One column of the usual name for each pixel, all with the same public bounds."""
        return tuple(Column(name, lower=lower, upper=upper, unit=unit) for name in self.names)


def numbers_meant(cells: pd.Series[Any]) -> NDArray[np.float64]:
    """The cells of a number column ``(n,)``; what is no number is NaN, what is huge infinite.

    >>> import pandas as pd
    >>> numbers_meant(pd.Series([1, "2.5", "x", 10**400], dtype=object))
    array([1. , 2.5, nan, inf])
    """
    import numpy as np
    import pandas as pd

    try:
        return np.asarray(pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float))
    except OverflowError:  # whole numbers beyond every float, which one cell may hold
        return np.array([_number_meant(cell) for cell in cells])


def _number_meant(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return math.nan


def pool(pictures: NDArray[np.float64], image: Image, factor: int) -> NDArray[np.float64]:
    """Averages over ``factor x factor`` squares of pixels of pictures ``(n, d)``, row by row.

    >>> import numpy as np
    >>> pool(np.arange(8.0)[None], Image(2, 4), 2)
    array([[2.5, 4.5]])
    """
    import numpy as np

    high, wide = image.height // factor, image.width // factor
    split = pictures.reshape(len(pictures), high, factor, wide, factor)
    return np.asarray(split.mean(axis=(2, 4)).reshape(len(pictures), high * wide))


@dataclass(frozen=True)
class NumericColumn:
    """One number that a model sees: a number column, or the 0/1 indicator of one category.

    source: the table's column. category: the text whose presence is 1, or None for a number.
    fill: what a missing cell becomes, in the column's own unit.
    """

    name: str
    source: str
    category: str | None
    lower: float
    upper: float
    unit: str | None
    fill: float


@dataclass(frozen=True)
class Schema:
    """The public description of a table: its columns, the unit of protection, an optional ball.

    unit: what one guarantee protects ("person"). rows_per_person: the most rows one unit has.
    rehearsal: True where the bounds were read off the data, so that nothing proved can follow.
    image: the shape of the picture whose pixels the feature numbers are, if they are one.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        field = "table.rows_per_person"
        rows = whole(field, _finite(field, self.rows_per_person))
        object.__setattr__(self, "rows_per_person", rows)
        self._check_table()
        self._check_columns()
        self._check_ball()
        self._check_image()

    def _check_table(self) -> None:
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise InputError(
                "table.unit", "it is not a word", 'say whom one row protects, for example "person"'
            )
        _text_or_none("table.title", self.title)
        _text_or_none("table.id", self.id)
        if not isinstance(self.rehearsal, bool):
            raise InputError("table.rehearsal", "it is not true or false", "give one of the two")

    def _check_columns(self) -> None:
        for name, times in Counter(column.name for column in self.columns).items():
            if times > 1:
                raise InputError("columns", f"{name!r} is named twice", "name each column once")
        for role in ("label", "target"):
            if sum(column.role == role for column in self.columns) > 1:
                raise InputError("columns", f"two columns have the role {role}", "keep one")
        if not self._features:
            raise InputError(
                "columns", "the schema names no feature", 'give one column role = "feature"'
            )
        if self.ball is None:
            for column in self._features:
                _demand_bounds(column)

    def _check_ball(self) -> None:
        if self.ball is None:
            return
        if len(self.ball.center) != self._width:
            raise InputError(
                "ball.center",
                f"it has {len(self.ball.center)} coordinates for {self._width} feature numbers",
                "give one coordinate per feature, in the order of the columns",
            )

    def _check_image(self) -> None:
        if self.image is None:
            return
        height, width = self.image.height, self.image.width
        if height * width != self._width:
            raise InputError(
                "image",
                f"{height} x {width} pixels do not fit {self._width} feature numbers",
                "give a height and width whose product is that, or remove the image",
            )

    @property
    def _width(self) -> int:
        """How many numbers models see: one for each number and each public category."""
        return sum(len(_indicators(column)) for column in self._features)

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

    def _only(self, role: str) -> str | None:
        return next((column.name for column in self.columns if column.role == role), None)

    @property
    def _features(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role == "feature")

    def column(self, name: str) -> Column:
        """The column of this name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise InputError("columns", f"{name!r} is not in the schema", "name one that is")

    def numeric_columns(self) -> tuple[NumericColumn, ...]:
        """The numbers that models see, one for each number and one for each public category.

        ====================  =============================================================
        a feature of type     becomes
        ====================  =============================================================
        number                itself, in ``[lower, upper]`` or the ball's extent
        category              one 0/1 indicator per category; any other cell is all zero
        binary                itself in ``[0, 1]``; with categories, whether it is the second
        text                  nothing: models of words read it
        ====================  =============================================================

        >>> where = Column("region", type="category", categories=("north", "south"))
        >>> [number.name for number in Schema((where,)).numeric_columns()]
        ['region=north', 'region=south']
        """
        pairs = [(column, cat) for column in self._features for cat in _indicators(column)]
        if self.ball is None:
            return tuple(_numeric(column, category) for column, category in pairs)
        middles = zip(pairs, self.ball.center, strict=True)
        return tuple(_in_ball(*pair, middle, self.ball.radius) for pair, middle in middles)

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
            raise InputError("pool", "the rows are no pictures", "leave it out")
        if image.height % factor or image.width % factor:
            raise InputError(
                "pool",
                f"squares of {factor} do not fill {image.height} x {image.width} pixels",
                "give a number that divides both",
            )
        if self.ball is not None or any(
            pixel.type != "number" or not pixel.bounded for pixel in self._features
        ):
            raise InputError("pool", "a pixel has no bounds of its own", "give each its own")
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
        """Number columns from ``{name: (lower, upper)}`` or ``{name: (lower, upper, unit)}``."""
        columns = []
        for name, limits in bounds.items():
            if isinstance(limits, str) or len(limits) not in (2, 3):
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

        >>> Schema.ball_of(["x", "y"], None, 2).numeric_columns()[0].upper
        2.0
        """
        if isinstance(columns, str):
            raise InputError("columns", "one text was given", "give a list of column names")
        middle = tuple(center) if center is not None else (0.0,) * len(columns)
        named = tuple(Column(name) for name in columns)
        return cls(named, unit, rows_per_person, Ball(middle, radius))

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema file; every mistake in it raises InputError."""
        return cls.parse(_read(Path(path)), Path(path).name)

    @classmethod
    def parse(cls, text: str, name: str = "schema") -> Schema:
        """Read the text of a schema file; ``name`` is what messages call it.

        >>> Schema.parse("[columns.age]\\nlower = 0\\nupper = 110\\n").column("age").upper
        110.0
        """
        try:
            document = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            hint = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "too deep or large"
            raise InputError(name, f"it is not valid TOML ({hint})", "mend that line") from None
        _only_keys("schema", document, ("table", "columns", "ball", "image"))
        table = _section("table", document.get("table", {}))
        _only_keys("table", table, ("unit", "rows_per_person", "title", "id", "rehearsal"))
        columns, ball, image = _columns_of(document), _ball_of(document), _image_of(document)
        return cls(columns=columns, ball=ball, image=image, **table)

    def to_toml(self) -> str:
        """The schema file that :meth:`from_toml` reads back to an equal schema."""
        table = {
            "title": self.title,
            "unit": self.unit,
            "rows_per_person": self.rows_per_person,
            "id": self.id,
            "rehearsal": self.rehearsal or None,
        }
        parts = [_toml_table("table", table)]
        for column in self.columns:
            entries = {key: getattr(column, key) for key in COLUMN_KEYS}
            parts.append(_toml_table(f"columns.{_toml_key(column.name)}", entries))
        if self.ball is not None:
            ball = {"center": self.ball.center, "radius": self.ball.radius}
            parts.append(_toml_table("ball", ball))
        if self.image is not None:
            picture = {"height": self.image.height, "width": self.image.width}
            parts.append(_toml_table("image", picture))
        return "\n".join(parts)

    @classmethod
    def infer_for_rehearsal(
        cls, frame: pd.DataFrame, *, columns: Sequence[str] | None = None, label: str | None = None
    ) -> Schema:
        """Bounds read off the data itself: for trying things out, never for a release.

        **Guarantee**: none. The schema is marked ``rehearsal=True`` and nothing proved follows.
        """
        wanted = list(columns) if columns is not None else [name for name in frame if name != label]
        for name in [*wanted, *([label] if label is not None else [])]:
            _demand_column(frame, str(name))
        guessed = [_guessed(str(name), frame[name], "feature") for name in wanted]
        if label is not None:
            guessed.append(_guessed(label, frame[label], "label"))
        return cls(tuple(guessed), rehearsal=True)

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
        import numpy as np
        import pandas as pd

        for name in columns:
            _demand_column(frame, name)
            _demand_numbers(name, frame[name])
        cells = np.column_stack([pd.to_numeric(frame[name], errors="coerce") for name in columns])
        norms = np.linalg.norm(np.where(np.isfinite(cells.astype(float)), cells, 0.0), axis=1)
        radius = float(norms.max(initial=0.0)) or 1.0  # all rows at the origin: any ball will do
        return replace(cls.ball_of(list(columns), None, radius), rehearsal=True)


COLUMN_KEYS = tuple(field.name for field in fields(Column) if field.name != "name")


def check_frame(frame: pd.DataFrame, schema: Schema) -> None:
    """Raise InputError where a frame cannot be read under a schema; no message holds a cell.

    Checked: each feature, label and target is there once, and number columns hold numbers. Missing
    cells and cells outside the bounds are for the wall's clipping.
    """
    for column in schema.columns:
        if column.role in ("ignore", "id"):
            continue
        _demand_column(frame, column.name)
        if column.type in ("number", "binary") and not column.categories:
            _demand_numbers(column.name, frame[column.name])


def category_meant(cell: object) -> str:
    """What a cell of a category column says: numbers by value, words as written.

    It depends on this cell alone. A reader guesses one type for a whole column, so that one odd
    cell changes how all the others are stored; compared like this, they still mean the same.

    >>> category_meant("01"), category_meant(1.0), category_meant(True), category_meant("North ")
    ('1', '1', 'true', 'North')
    """
    text = str(cell).strip()
    if text.casefold() in ("true", "false"):
        return text.casefold()
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return f"{number:.0f}" if number.is_integer() else repr(number)


def categories_meant(cells: pd.Series) -> NDArray[np.object_]:
    """:func:`category_meant` of every cell."""
    import numpy as np
    import pandas as pd

    if cells.dtype == object:  # may hold 1 and True side by side: each for itself
        return np.array([category_meant(cell) for cell in cells], dtype=object)
    codes, different = pd.factorize(cells, use_na_sentinel=False)
    return np.array([category_meant(cell) for cell in different], dtype=object)[codes]


def _demand_column(frame: pd.DataFrame, name: str) -> None:
    if name not in frame.columns:
        raise InputError(
            name, "the table has no such column", "name a column as the table's header does"
        )
    if not frame.columns.is_unique and int((frame.columns == name).sum()) > 1:
        raise InputError(name, "the table has this column twice", "rename one of them")


def _demand_numbers(name: str, cells: pd.Series) -> None:
    if not _are_numbers(cells):
        raise InputError(
            name,
            "it is a number column, but some cells hold text",
            'mend the cells, or give the column type = "category" or role = "ignore"',
        )


def _are_numbers(cells: pd.Series) -> bool:
    """Whether every cell that is not missing reads as a number."""
    import pandas as pd

    kinds = pd.api.types
    if kinds.is_bool_dtype(cells) or kinds.is_numeric_dtype(cells):
        return not kinds.is_complex_dtype(cells)
    if not (kinds.is_object_dtype(cells) or kinds.is_string_dtype(cells)):
        return False  # dates, durations, intervals
    absent = cells.isna() | cells.astype(str).str.strip().isin(MISSING_TOKENS)
    try:
        numbers = pd.Series(numbers_meant(cells), index=cells.index)
    except (TypeError, ValueError):
        return False
    return bool((numbers.notna() | absent).all())


def _guessed(name: str, cells: pd.Series, role: str) -> Column:
    """A column with bounds off the data."""
    import pandas as pd

    if not _are_numbers(cells):
        present = sorted({*categories_meant(cells[cells.notna()])} - set(MISSING_TOKENS))
        if 0 < len(present) <= MOST_CATEGORIES_GUESSED:
            return Column(name, role, "category", categories=tuple(present))
        return Column(name, "ignore", "text")
    numbers = pd.to_numeric(cells, errors="coerce").astype(float)
    present_numbers = numbers[numbers.abs() < math.inf]
    if present_numbers.empty:
        return Column(name, "ignore")
    low, high = float(present_numbers.min()), float(present_numbers.max())
    if not low < high:  # a constant still needs a range
        low, high = low - max(0.5, abs(low) / 2), high + max(0.5, abs(high) / 2)
    return Column(name, role, "number", low, high)


def _indicators(column: Column) -> tuple[str | None, ...]:
    """The categories a feature is expanded into; None stands for the column itself."""
    if column.type == "text":
        return ()
    if column.type == "binary":
        return column.categories[1:] or (None,)
    return column.categories or (None,)


def _numeric(column: Column, category: str | None) -> NumericColumn:
    """One number of the expansion, inside the column's own bounds."""
    if category is not None:
        return NumericColumn(
            f"{column.name}={category}", column.name, category, 0.0, 1.0, None, 0.0
        )
    fill = column.fill
    assert fill is not None  # a feature without bounds was refused
    return NumericColumn(column.name, column.name, None, column.low, column.high, column.unit, fill)


def _in_ball(column: Column, category: str | None, middle: float, radius: float) -> NumericColumn:
    """One number of the expansion, inside the ball; its own bounds apply where they are given."""
    if column.bounded:
        return _numeric(column, category)
    fill = column.missing if isinstance(column.missing, float) else middle
    return NumericColumn(
        column.name, column.name, None, middle - radius, middle + radius, column.unit, fill
    )


def _demand_bounds(column: Column) -> None:
    if not column.bounded:
        raise InputError(
            f"columns.{column.name}",
            "a number feature has no bounds",
            "give lower and upper that you could print before seeing the data",
        )


def _columns_of(document: Mapping[str, Any]) -> tuple[Column, ...]:
    """The columns of a schema file."""
    found = []
    for name, entries in _section("columns", document.get("columns", {})).items():
        _only_keys(f"columns.{name}", _section(f"columns.{name}", entries), COLUMN_KEYS)
        found.append(Column(name, **entries))
    return tuple(found)


def _ball_of(document: Mapping[str, Any]) -> Ball | None:
    """The ball of a schema file, if there is one."""
    entries = _both(document, "ball", ("center", "radius"))
    return None if entries is None else Ball(**entries)


def _image_of(document: Mapping[str, Any]) -> Image | None:
    """The picture of a schema file, if there is one."""
    entries = _both(document, "image", ("height", "width"))
    return None if entries is None else Image(**entries)


def _both(document: Mapping[str, Any], field: str, keys: tuple[str, str]) -> dict[str, Any] | None:
    """A section that has exactly these two settings, or None if it is not there."""
    if field not in document:
        return None
    entries = _section(field, document[field])
    _only_keys(field, entries, keys)
    for key in keys:
        if key not in entries:
            raise InputError(field, f"{key} is missing", f"give both {keys[0]} and {keys[1]}")
    return entries


def _section(field: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(field, "it is not a table of settings", f"start it with [{field}]")
    return value


def _only_keys(field: str, found: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in found:
        if key not in known:
            raise InputError(field, f"{key!r} is not known", "use " + ", ".join(known))


def _read(path: Path) -> str:
    """The text of a schema file."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        _refuse(path, "there is no such schema file", "check the path")
    except IsADirectoryError:
        _refuse(path, "it is a folder", "give a .toml file")
    except (OSError, ValueError):
        _refuse(path, "the schema file cannot be opened", "check its path and permissions")
    if len(raw) > LARGEST_FILE:
        _refuse(path, "it is larger than a schema may be", "give a .toml file below 1 MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        _refuse(path, "it is not UTF-8 text", "save the schema file as UTF-8")


def _refuse(path: Path, found: str, remedy: str) -> NoReturn:
    raise InputError(path.name or str(path), found, remedy) from None


def _finite(field: str, value: Any) -> float:
    """A finite number; text and truth values are none."""
    number = math.nan
    if not isinstance(value, bool | str):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
    if not math.isfinite(number):
        raise InputError(field, "it is not a finite number", "give a finite number")
    return number


def _finite_or_none(field: str, value: Any) -> float | None:
    return None if value is None else _finite(field, value)


def _text_or_none(field: str, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise InputError(field, "it is not text", "put it in quotation marks")


def _categories(field: str, values: Any) -> tuple[str, ...]:
    """Category names as text, each once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(field, "categories is not a list", 'give a list such as ["a", "b"]')
    found = tuple(values)
    if not all(isinstance(value, str) or _is_whole(value) for value in found):
        raise InputError(field, "a category is not text or a whole number", "quote it")
    names = tuple(str(value) for value in found)
    if len({category_meant(name) for name in names}) < len(names):
        raise InputError(
            field, "a category is listed twice (1, 01 and 1.0 are one)", "list each category once"
        )
    return names


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and abs(value) < 1 << 63


def _toml_table(header: str, entries: Mapping[str, Any]) -> str:
    lines = [f"{key} = {_toml_value(entries[key])}" for key in entries if _said(entries[key])]
    return "\n".join([f"[{header}]", *lines]) + "\n"


def _said(value: Any) -> bool:
    return value is not None and value != ()


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _toml_text(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    whole_number = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if whole_number else repr(float(value))


def _toml_text(text: str) -> str:
    """A TOML basic string: JSON's escapes, and DEL, which TOML wants escaped as well."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _toml_text(name)
