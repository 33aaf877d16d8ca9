"""Columns with public bounds, and the two shapes that several can have: a ball, a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Set
from dataclasses import dataclass
from datetime import date
from numbers import Integral
from typing import TYPE_CHECKING, Any

from dpcore.checks import one_of, positive, whole
from dpcore.errors import InputError
from dpcore.schema.cells import category_meant
from dpcore.schema.forms import DATE_FORMATS, DAYS, ISO, day_of, days_meant, symbols

if TYPE_CHECKING:
    from dpcore.arrays import Array

ROLES = ("feature", "label", "target", "id", "ignore")
TYPES = ("number", "category", "binary", "text", "date")
MODEL_HANDLES_MISSING = "role"


@dataclass(frozen=True)
class Column:
    """One column: its role, type, unit and PUBLIC bounds.

    name: as in the table. lower, upper: in the column's own unit. categories: public names, one
    indicator each. missing: the public fill of missing cells (default: the middle of the bounds),
    or ``"role"`` where missingness is the model's business. symbols: texts beside a number that do
    not count (``EUR``). date_format: how dates are written besides as ISO 8601 writes them; models
    see a date as days since 1970-01-01, and its bounds may be dates.

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
    symbols: tuple[str, ...] = ()
    date_format: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError("columns", "a column has no name", "give every column a name")
        for key in ("role", "type", "unit"):
            text_or_none(self._field(key), getattr(self, key))
        one_of(self._field("role"), self.role, ROLES)
        one_of(self._field("type"), self.type, TYPES)
        object.__setattr__(self, "categories", _categories(self._field(), self.categories))
        self._check_form()
        for bound in ("lower", "upper"):
            value = _finite_or_none(self._field(bound), getattr(self, bound))
            object.__setattr__(self, bound, value)
        self._check_bounds()
        self._check_categories()
        self._check_missing()

    def _field(self, key: str | None = None) -> str:
        return f"columns.{self.name}" + (f".{key}" if key else "")

    @property
    def is_number(self) -> bool:
        """Whether models see numbers that have no bounds by themselves."""
        return self.type in ("number", "date")

    @property
    def neither(self) -> str:
        """What a cell counts as that holds none of the two names for no and yes."""
        no, yes = self.categories
        return f"a cell that is neither {no!r} nor {yes!r} counts as {no!r}"

    def _check_form(self) -> None:
        """Symbols stand beside numbers; dates have a format, and their bounds become days."""
        object.__setattr__(self, "symbols", symbols(self._field("symbols"), self.symbols))
        if self.symbols and self.type != "number":
            raise InputError(
                self._field("symbols"), f"a {self.type} column cannot have symbols", "remove them"
            )
        if self.type != "date":
            if self.date_format is not None:
                raise InputError(
                    self._field("date_format"),
                    f"a {self.type} column cannot have a date format",
                    'set type = "date" or remove date_format',
                )
            return
        form = ISO if self.date_format is None else self.date_format
        text_or_none(self._field("date_format"), form)
        form = one_of(self._field("date_format"), form, DATE_FORMATS)
        object.__setattr__(self, "date_format", form)
        if self.unit is None:
            object.__setattr__(self, "unit", DAYS)
        for key in ("lower", "upper", "missing"):
            value = days_meant(getattr(self, key), form)
            object.__setattr__(self, key, value)
            if isinstance(value, str | date) and value != MODEL_HANDLES_MISSING:
                remedy = "write it as 2026-12-31, or in quotes as the cells are written"
                raise InputError(self._field(key), "it is not a date", remedy)

    def _check_bounds(self) -> None:
        if self.type in ("category", "text") and (self.lower, self.upper) != (None, None):
            raise InputError(
                self._field(), f"a {self.type} column cannot have bounds", "remove lower and upper"
            )
        if (self.lower is None) != (self.upper is None):
            absent = "lower" if self.lower is None else "upper"
            raise InputError(self._field(), f"{absent} is missing", "give both lower and upper")
        if self.lower is None or self.upper is None:
            return
        if not self.lower < self.upper:
            raise InputError(
                self._field(),
                f"lower = {self._limit(self.lower)} is not below upper = {self._limit(self.upper)}",
                "give the smaller bound as lower and the larger as upper",
            )
        if not math.isfinite(self.upper - self.lower) or not math.isfinite(self.upper + self.lower):
            raise InputError(
                self._field(), "the bounds are too large to compute with", "give smaller bounds"
            )

    def _limit(self, value: float) -> str:
        """A limit as people wrote it: of a date column, the day."""
        day = day_of(value) if self.type == "date" else None
        return f"{value:g}" if day is None else day.isoformat()

    def _check_categories(self) -> None:
        if self.categories and self.type not in ("category", "binary"):
            raise InputError(
                self._field(),
                f"categories are given for a {self.type} column",
                'set type = "category" or remove the categories',
            )
        if self.type == "binary" and self.categories and len(self.categories) != 2:
            raise InputError(
                self._field(), "a binary column needs two categories or none", "give two, or none"
            )
        if self.type == "category" and not self.categories and self.role in ("feature", "label"):
            raise InputError(
                self._field(),
                "a category column has no categories",
                'list every category it can have, for example categories = ["north", "south"]',
            )

    def _check_missing(self) -> None:
        if self.missing is None or self.missing == MODEL_HANDLES_MISSING:
            return
        if not (self.is_number or self.type == "binary"):
            raise InputError(
                self._field("missing"),
                f"a {self.type} column cannot have a public fill",
                "remove missing (a cell outside the categories counts as none of them)",
            )
        fill = _finite_or_none(self._field("missing"), self.missing)
        object.__setattr__(self, "missing", fill)
        if not self.low <= fill <= self.high:  # type: ignore[operator]  # fill was not None
            raise InputError(
                self._field("missing"), f"{fill:g} is outside the bounds", "give one inside them"
            )

    @property
    def bounded(self) -> bool:
        """Whether the column's numbers have public bounds of their own."""
        return not self.is_number or self.lower is not None

    @property
    def low(self) -> float:
        """The public lower bound: minus infinity for a number without one."""
        return self._bound(self.lower, -math.inf, 0.0)

    @property
    def high(self) -> float:
        """The public upper bound: infinity for a number without one."""
        return self._bound(self.upper, math.inf, 1.0)

    def _bound(self, stated: float | None, number: float, indicator: float) -> float:
        if stated is not None:
            return stated
        return number if self.is_number else indicator

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
            raise InputError("ball.center", "it is not a list", "give one number per coordinate")
        center = tuple(finite("ball.center", value) for value in self.center)
        object.__setattr__(self, "center", center)
        radius = finite("ball.radius", self.radius)
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
            pixels = whole(f"image.{side}", finite(f"image.{side}", getattr(self, side)))
            object.__setattr__(self, side, pixels)

    @property
    def names(self) -> tuple[str, ...]:
        """The usual name of each pixel's column, ``pixel_ROW_COLUMN``, counted from 0."""
        return tuple(f"pixel_{i}_{j}" for i in range(self.height) for j in range(self.width))

    def columns(self, lower: float, upper: float, unit: str | None = None) -> tuple[Column, ...]:
        """One column of the usual name for each pixel, all with the same public bounds."""
        return tuple(Column(name, lower=lower, upper=upper, unit=unit) for name in self.names)


def pool(pictures: Array, image: Image, factor: int) -> Array:
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


def indicators(column: Column) -> tuple[str | None, ...]:
    """The categories a feature is expanded into; None stands for the column itself."""
    if column.type == "text":
        return ()
    if column.type == "binary":
        return column.categories[1:] or (None,)
    return column.categories or (None,)


def numeric(column: Column, category: str | None) -> NumericColumn:
    """One number of the expansion, inside the column's own bounds."""
    if category is not None:
        return NumericColumn(
            f"{column.name}={category}", column.name, category, 0.0, 1.0, None, 0.0
        )
    fill = column.fill
    assert fill is not None  # a feature without bounds was refused
    return NumericColumn(column.name, column.name, None, column.low, column.high, column.unit, fill)


def in_ball(column: Column, category: str | None, middle: float, radius: float) -> NumericColumn:
    """One number of the expansion, inside the ball; its own bounds apply where they are given."""
    if column.bounded:
        return numeric(column, category)
    fill = column.missing if isinstance(column.missing, float) else middle
    return NumericColumn(
        column.name, column.name, None, middle - radius, middle + radius, column.unit, fill
    )


def demand_bounds(column: Column) -> None:
    """Raise InputError where a feature has no public bounds."""
    if not column.bounded:
        raise InputError(
            f"columns.{column.name}",
            f"a {column.type} feature has no bounds",
            "give lower and upper limits that you could print before seeing the data",
        )


def finite(field: str, value: Any) -> float:
    """A finite number; text and truth values are none. Raises InputError for anything else."""
    number = math.nan
    if not isinstance(value, bool | str):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
    if isinstance(value, date):
        raise InputError(field, "it is a date", 'give a number, or set type = "date"')
    if not math.isfinite(number):
        quoted = ", without quotation marks" if isinstance(value, str) else ""
        raise InputError(field, "it is not a finite number", f"give a finite number{quoted}")
    return number


def _finite_or_none(field: str, value: Any) -> float | None:
    return None if value is None else finite(field, value)


def text_or_none(field: str, value: Any) -> None:
    """Raise InputError where a value is neither text nor absent."""
    if value is not None and not isinstance(value, str):
        raise InputError(field, "it is not text", "put it in quotation marks")


def _categories(field: str, values: Any) -> tuple[str, ...]:
    """Category names as text, each once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(field, "categories is not a list", 'give a list such as ["a", "b"]')
    if isinstance(values, Set):  # the second of two means yes
        raise InputError(field, "categories is a set, which has no order", "give a list")
    entries = tuple(values)
    if not all(isinstance(value, str) or _is_whole(value) for value in entries):
        raise InputError(field, "a category is neither text nor a whole number", "quote it")
    names = tuple(str(value) for value in entries)
    if len({category_meant(name) for name in names}) < len(names):
        raise InputError(
            field,
            "a category is listed twice (1, 01 and 1.0 count as the same)",
            "list each category once",
        )
    return names


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and abs(int(value)) < 1 << 63
