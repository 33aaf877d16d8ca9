"""Labels become numbers behind the wall, by the public list of classes alone.

A cell that names none of the public classes (or is missing) belongs to no class: its row counts
nowhere. That depends on the row itself only, so no bound on what one row adds is touched by it.
"""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Indices
from dpcore.errors import InputError
from dpcore.schema import Column, Schema, categories_meant, category_meant
from dpcore.wall.data.sources import FeatureRows, Opening
from dpcore.wall.table import PrivateTable

NO_CLASS = -1
MOST_CLASSES = 1000


def class_names(schema: Schema) -> tuple[str, ...]:
    """The public classes of the label column, in the order of the schema.

    Categories as they are listed; a binary column without any: 0 and 1; a number column: every
    whole number within its bounds.

    Raises InputError where there is no label column, or its classes are not public.

    >>> from dpcore.schema import Column, Schema
    >>> digit = Column("digit", role="label", lower=0, upper=3)
    >>> class_names(Schema((Column("x", lower=0, upper=1), digit)))
    ('0', '1', '2', '3')
    """
    column = _label(schema)
    if column.categories:
        return tuple(column.categories)
    if column.type == "binary":
        return ("0", "1")
    if column.type == "number" and column.lower is not None and column.upper is not None:
        low, high = int(np.ceil(column.lower)), int(np.floor(column.upper))
        if 0 <= high - low < MOST_CLASSES:
            return tuple(str(value) for value in range(low, high + 1))
    raise InputError(
        column.name,
        "its classes are not public",
        'give the column type = "category" and list its categories',
    )


def label_codes(table: PrivateTable, *, private: bool) -> Indices:
    """Class ``(n,)`` of each row, 0 to K-1, or :data:`NO_CLASS`.

    Raises InputError without a label column and, without privacy, on cells that name no class.
    """
    schema = table.schema
    if schema is None:
        raise InputError("schema", "no public bounds were given", "give a .toml file with them")
    column, names = _label(schema), class_names(schema)
    cells = table._frame[column.name]
    codes = np.full(len(cells), NO_CLASS, dtype=np.intp)
    if column.categories:
        meant = categories_meant(cells)
        for code, name in enumerate(names):
            codes[meant == category_meant(name)] = code
    else:
        numbers = schema.numbers(column.name, cells)
        for code, name in enumerate(names):
            codes[numbers == float(name)] = code
    if not private and np.any(codes == NO_CLASS):
        raise InputError(
            column.name,
            "has values that are not among its classes",
            "correct the cells or list their classes; a private fit would leave these rows out",
        )
    return codes


def _label(schema: Schema) -> Column:
    if schema.label is None:
        raise InputError(
            "label", "the schema names no label column", 'give one column role = "label"'
        )
    return next(column for column in schema.columns if column.name == schema.label)


class LabelledRows(FeatureRows):
    """The same with a class each. classes: the public names."""

    def __init__(self, table: PrivateTable, opening: Opening) -> None:
        super().__init__(table, opening)
        assert table.schema is not None  # rows without public bounds were refused
        self.classes = class_names(table.schema)
        self._codes = label_codes(table, private=opening.filled)
        self._codes.flags.writeable = False

    @property
    def components(self) -> int:
        """How many classes there are."""
        return len(self.classes)
