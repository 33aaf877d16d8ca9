"""A private table: rows under seal, together with the public schema that bounds them.

Nothing here prints, counts, iterates or pickles rows. They leave only through a door, with noise,
or through the custodian's exit, marked as such.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, cast

import numpy as np

from dpcore.arrays import Indices
from dpcore.checks import probability
from dpcore.errors import InputError, WallError
from dpcore.schema import Schema, numbers_meant, pool, with_numbers

if TYPE_CHECKING:
    import pandas as pd


NEW_ID = "somebody new"


def locked() -> bool:
    """Whether this process shows nobody's exact values: ``DPCORE_LOCK_TRUTH`` is set, and not 0."""
    return os.environ.get("DPCORE_LOCK_TRUTH", "") not in ("", "0")


def divided(rows: int, fraction: float, seed: int, adjacency: str) -> tuple[Indices, Indices]:
    """Places of the rows in two parts, (rest, ``fraction`` of them), shuffled where a row is
    replaced. Under ``add_remove`` each has a coin of its own, drawn in order: a last row moves no
    other one, a row removed from the middle gives its coin to the next.

    Raises InputError for a fraction not between 0 and 1.

    >>> [part.tolist() for part in divided(5, 0.4, 0, "add_remove")]
    [[0, 4], [1, 2, 3]]
    """
    fraction = probability("test_fraction", fraction, example="0.1")
    if adjacency == "add_remove":
        out = np.random.default_rng([0, seed]).random(rows) < fraction
        return np.flatnonzero(~out), np.flatnonzero(out)
    order, cut = np.random.default_rng(seed).permutation(rows), round(fraction * rows)
    return order[cut:], order[:cut]


class Sealed(ABC):
    """What is under seal: the rows of a table, or the documents of a corpus.

    schema: what is public about them. ``open_to_all``: they are simulated or published, so no lock
    applies to them. ``is_part``: which of them are here was chosen by their places.
    """

    __slots__ = ("is_part", "open_to_all", "schema")

    kind: ClassVar[str]
    things: ClassVar[str]  # what is under seal, in the plural
    maker: ClassVar[str]

    is_part: bool
    open_to_all: bool
    schema: Any

    def __init__(self) -> None:
        raise WallError(f"a private {self.kind} is made by {self.maker}")

    @property
    @abstractmethod
    def _count(self) -> int:
        """How many there are, public or not: for the wall alone."""

    @abstractmethod
    def _part(self, positions: Indices) -> Self:
        """Those at some places, in the order asked for."""

    def demand_open(self) -> None:
        """Raise WallError where exact values, or noise that can be drawn again, are locked."""
        if locked() and not self.open_to_all:
            raise WallError(
                "exact values and rehearsals are locked on this server (DPCORE_LOCK_TRUTH)"
            )

    def split(
        self, fraction: float, seed: int, adjacency: str = "replace_one"
    ) -> tuple[Self, Self]:
        """Two disjoint parts: (rest, ``fraction`` of the rows or documents), chosen by public
        coins.

        The coins go by places in the table: see :func:`divided`. So a part carries a guarantee
        where a row is replaced and no id column says whose it is, and is for rehearsals elsewhere.
        """
        rest, part = map(self._part, divided(self._count, fraction, seed, adjacency))
        rest.is_part = part.is_part = True
        return rest, part

    def neighbour(self, position: int, adjacency: str) -> Self:
        """A neighbour: one row or document replaced by a copy of the next, or absent (add_remove).

        Raises WallError where exact values are locked: a place that is not there tells the rows.
        """
        self.demand_open()
        order = np.arange(self._count)
        if adjacency == "add_remove":
            return self._part(np.delete(order, position))
        order[position] = order[(position + 1) % len(order)]
        return self._part(order)

    def __repr__(self) -> str:
        return f"Private{self.kind.title()}(sealed)"

    def __reduce__(self) -> NoReturn:
        raise WallError(
            f"a private {self.kind} cannot be pickled: its {self.things} would leave the wall"
        )

    def __iter__(self) -> NoReturn:
        raise WallError(
            f"a private {self.kind} cannot be iterated over: measure it through a session"
        )

    def __len__(self) -> NoReturn:
        raise WallError(f"the number of {self.things} can be private, depending on the adjacency")


class PrivateTable(Sealed):
    """Rows of one table, sealed. Make one with ``dpcore.load`` or :meth:`seal`."""

    __slots__ = ("_frame",)

    kind = "table"
    things = "rows"
    maker = "dpcore.load(...)"
    parted: ClassVar[bool] = False  # whether the rows lie in parts, never all in memory

    _frame: pd.DataFrame
    schema: Schema | None

    @classmethod
    def seal(
        cls,
        frame: pd.DataFrame,
        schema: Schema | None,
        *,
        open_to_all: bool = False,
        is_part: bool = False,
    ) -> PrivateTable:
        """Seal a data frame. ``schema`` holds the public bounds; it may be given later."""
        table = object.__new__(cls)
        table._frame, table.schema = frame, schema
        table.open_to_all, table.is_part = open_to_all, is_part
        return table

    @property
    def _count(self) -> int:
        return len(self._frame)

    def public_rows(self, adjacency: str) -> int | None:
        """How many rows, where that is public: ``None`` where a row is added or removed, or an id
        column says whose a row is."""
        return len(self._frame) if self._counts(adjacency) else None

    def _counts(self, adjacency: str) -> bool:
        """Whether the number of rows is public."""
        return adjacency != "add_remove" and (self.schema is None or self.schema.person is None)

    def with_schema(self, schema: Schema) -> PrivateTable:
        """The same rows under other public bounds."""
        return self._like(self._frame, schema)

    def pooled(self, factor: int) -> PrivateTable:
        """The same rows as smaller pictures: a public map of each row alone, so whoever is
        protected in this table is protected in that one. Cells are filled and clipped first.
        Raises InputError for a table without public bounds.
        """
        if self.schema is None:
            raise InputError("schema", "no public bounds were given", "give a .toml file with them")
        import pandas as pd

        small, image = self.schema.pooled(factor), self.schema.image
        assert image is not None  # a schema without one does not pool
        pixels = self.schema.numeric_columns()
        numbers = with_numbers(self._frame, self.schema)
        cells = numbers[[pixel.source for pixel in pixels]].to_numpy(dtype=float)
        fill = np.array([pixel.fill for pixel in pixels], dtype=float)
        low = np.array([pixel.lower for pixel in pixels], dtype=float)
        high = np.array([pixel.upper for pixel in pixels], dtype=float)
        cells = np.clip(np.where(np.isfinite(cells), cells, fill), low, high)
        frame = pd.DataFrame(pool(cells, image, factor), columns=list(small.features))
        for column in small.columns:
            if column.role != "feature" and column.name in self._frame:
                frame[column.name] = self._frame[column.name].to_numpy()
        return self._like(frame, small)

    def neighbour(self, position: int, adjacency: str) -> Self:
        """As of anything sealed, but a row that is replaced keeps its id; under label and feature
        only that part of it is replaced, by that of the next row with another label.
        """
        self.demand_open()
        if adjacency in ("label", "feature"):
            return self._exchanged(position, labels=adjacency == "label")
        changed = super().neighbour(position, adjacency)
        whose = None if self.schema is None else self.schema.person
        if adjacency != "add_remove" and whose in self._frame:  # or two persons would change
            changed._frame[whose] = self._frame[whose].array
        return changed

    def with_row(self, cells: Mapping[str, object], position: int | None = None) -> PrivateTable:
        """The same rows and one more, or (position) one in place of another; a column that is not
        named stays empty there, but for the id: that of the row before, or a new one. The cells are
        what somebody typed: nothing private is in them.
        """
        import pandas as pd

        end = len(self._frame) if position is None else position
        whose = None if self.schema is None else self.schema.person
        if whose is not None and whose in self._frame and whose not in cells:
            own = NEW_ID if position is None else self._frame[whose].iloc[end]
            cells = {**cells, whose: own}
        columns = {}
        for name in self._frame:
            column, cell = self._frame[name], pd.Series([cells.get(str(name))], dtype=object)
            if column.dtype.kind in "iuf" and name != whose:
                row = pd.Series(numbers_meant(str(name), cell))
            else:  # whatever else a column holds, it stays, and the cell is what was typed
                column, row = column.astype(object), cell
            parts = (column.iloc[:end], row, column.iloc[end + 1 :])
            columns[name] = pd.concat([part for part in parts if len(part)], ignore_index=True)
        frame = pd.DataFrame(columns)
        return self._like(frame, self.schema)

    def _exchanged(self, position: int, *, labels: bool) -> Self:
        """One row with the label (or all but the label) of the next row that has another."""
        roles = [] if self.schema is None else [self.schema.label, self.schema.target]
        labelling = [name for name in roles if name in self._frame]
        frame = self._frame.copy()
        order = np.roll(np.arange(len(frame)), -position - 1)
        others = np.flatnonzero((frame[labelling] != frame[labelling].iloc[position]).any(axis=1))
        source = next((i for i in order if i in set(others.tolist())), int(order[0]))
        taken = np.arange(len(frame))
        taken[position] = source
        for name in labelling if labels else [name for name in frame if name not in labelling]:
            frame[name] = frame[name].iloc[taken].array
        return self._like(frame, self.schema)

    def _part(self, positions: Indices) -> Self:
        part = self._frame.iloc[positions].reset_index(drop=True)
        return self._like(part, self.schema)

    def _like(self, frame: pd.DataFrame, schema: Schema | None) -> Self:
        table = PrivateTable.seal(frame, schema, open_to_all=self.open_to_all, is_part=self.is_part)
        return cast("Self", table)  # in memory, also where this one lies in parts


def demand_loaded(table: object) -> None:
    """Raise InputError for rows or documents that nothing seals."""
    if not isinstance(table, Sealed):
        raise InputError(
            "table",
            f"it is a {type(table).__name__} that has not been loaded",
            "load it first, with its limits: dpcore.load(table, schema=...)",
        )
