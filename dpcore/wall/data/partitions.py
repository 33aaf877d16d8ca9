"""Rows that lie in parts, in files or on other machines: read in blocks, summed, forgotten.

A sum over all rows is the sum of what the parts give, so a fit needs no more memory than a block,
and parts can be summed wherever they lie. Everything that makes the sum a bounded one (bounds,
clipping, the model's weights on the simplex) is done where a block is read. What a part gives is
exact: an engine that brings it from another machine is inside the wall, and so is the way there.
Noise is added to the sum of all parts, once, by the door that asked.

**Every part counts once.** A part's sum is kept under its number; one that comes again (a task
that was tried twice) changes nothing, and one that never comes is an error. Parts are added in
the order of their numbers, so neither the engine nor its luck changes a bit of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError, WallError
from dpcore.schema import Schema, with_numbers
from dpcore.wall.data.clipping import (
    Extent,
    PublicFrame,
    clip_to_ball,
    demand_bounds,
    extent_of,
    unit_rows,
)
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.kernels.threads import most_threads
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    import pandas as pd

OfRows: TypeAlias = Callable[[Rows], Array]
OnShare: TypeAlias = Callable[[float], None]
OnRows: TypeAlias = Callable[[int], None]
T = TypeVar("T")


class Partition(Protocol):
    """Where some of the rows lie. It can be sent to where they are to be read."""

    @property
    def identity(self) -> str:
        """A name that no other part has."""

    def blocks(self, schema: Schema) -> Iterator[pd.DataFrame]:
        """The columns that the schema names, in frames that fit into memory together.

        The same rows in the same order at every call. Raises InputError without values.
        """


class Engine(Protocol):
    """What runs a task on every part: ``task(part, on_rows)``.

    ``on_rows`` is told, block by block, how many rows are done; it may be left out.
    """

    def run_parts(
        self, task: Callable[..., T], parts: Sequence[Partition], on_rows: OnRows
    ) -> Generator[tuple[int, T], None, None]:
        """The number of a part and its answer, in any order; an answer may come twice."""


class OneByOne:
    """This machine, one part after another; every core works on each block."""

    def run_parts(
        self, task: Callable[..., T], parts: Sequence[Partition], on_rows: OnRows
    ) -> Generator[tuple[int, T], None, None]:
        """The parts in their order."""
        for number, part in enumerate(parts):
            yield number, task(part, on_rows)


class PartedTable(PrivateTable):
    """A private table whose rows are never all in memory; made by ``dpcore.load``.

    Models that need nothing but bounded sums are fitted to it; whatever asks for all rows at once
    is refused.
    """

    __slots__ = ("_engine", "_held", "_on_share", "_parts", "_whole")

    parted = True

    _parts: tuple[Partition, ...]
    _engine: Engine
    _on_share: OnShare | None
    _whole: Callable[[], pd.DataFrame] | None
    _held: pd.DataFrame | None

    @classmethod
    def seal_parts(
        cls,
        parts: Sequence[Partition],
        schema: Schema | None,
        *,
        engine: Engine | None = None,
        on_share: OnShare | None = None,
        open_to_all: bool = False,
        whole: Callable[[], pd.DataFrame] | None = None,
    ) -> PartedTable:
        """Seal rows where they lie. engine: where parts are summed (here). on_share: told the share
        of rows that are done, again and again for each pass over them. whole: reads all rows into
        memory, for what needs them at once (without it that is refused).

        Raises InputError where one part is named twice: its rows would count twice.
        """
        identities = [part.identity for part in parts]
        if len(set(identities)) != len(identities):
            raise InputError("file", "a part of the table is named twice", "name each part once")
        table = object.__new__(cls)
        table.schema, table.open_to_all, table.is_part = schema, open_to_all, False
        table._parts, table._engine = tuple(parts), engine or OneByOne()
        table._on_share, table._whole, table._held = on_share, whole, None
        return table

    def with_schema(self, schema: Schema) -> PartedTable:
        """The same rows under other public bounds."""
        return PartedTable.seal_parts(
            self._parts,
            schema,
            engine=self._engine,
            on_share=self._on_share,
            open_to_all=self.open_to_all,
            whole=self._whole,
        )

    def in_parts(
        self, parts: Sequence[Partition], of_whole: Callable[[pd.DataFrame], pd.DataFrame]
    ) -> PartedTable:
        """Other rows, in parts, under the same bounds. of_whole: gives them from all rows of this
        table at once, where these may be read."""
        return PartedTable.seal_parts(
            parts,
            self.schema,
            engine=self._engine,
            on_share=self._on_share,
            open_to_all=self.open_to_all,
            whole=self._whole and (lambda: of_whole(self._frame)),
        )

    def public_rows(self, adjacency: str) -> int | None:
        """How many rows, where that is public; counted in a pass of their own."""
        if not self._counts(adjacency):
            return None
        schema = _features_alone(demand_bounds(self))
        look = partial(_look, schema=schema, public=PublicFrame.of(schema), private=True)
        return sum(counted.count for counted in self._answers(look, None))

    @property
    def _frame(self) -> pd.DataFrame:  # type: ignore[override]
        if self._whole is None:
            raise InputError(
                "file",
                "its rows are read in blocks, but this fit needs all of them at once",
                "choose a model that needs only sums over rows, such as gmm, kmeans or fa, without "
                "held-out rows, or write the rows to one file and leave out --out-of-core",
            )
        if self._held is None:
            self._held = self._whole()
        return self._held

    def opened(
        self, public: PublicFrame, radius: float, *, private: bool, gaps: bool = False
    ) -> PartedRows:
        """The rows inside their bounds and a ball, ready to be summed: a first pass over them.

        gaps: as :func:`~dpcore.wall.data.clipping.unit_rows` takes it.
        It counts them and finds whether they are what the schema says. Raises InputError otherwise,
        and, without privacy, on cells that the bounds do not allow.
        """
        stated = demand_bounds(self)
        schema = _features_alone(stated)
        look = partial(_look, schema=_read_alone(stated), public=public, private=private)
        passes = self._answers(look, None)
        if not private:
            extent = Extent.of(np.empty((0, public.dim)), public)
            for first_pass in passes:
                extent |= first_pass.extent or extent
            extent.refuse(public)
        counts = tuple(first_pass.count for first_pass in passes)
        return PartedRows(self, schema, public, radius, private, gaps, counts)

    def _answers(self, task: Callable[..., T], rows: int | None) -> list[T]:
        """A task's answer for each part, each once, in the order of the parts.

        rows: how many there are in all, once that is known.
        """
        answers: dict[int, T] = {}
        progress = _Progress(self._on_share, len(self._parts), rows)
        with closing(self._engine.run_parts(task, self._parts, progress.add_rows)) as coming:
            for number, answer in coming:
                answers.setdefault(number, answer)
                progress.set_parts(len(answers))
        if sorted(answers) != list(range(len(self._parts))):
            raise WallError("a part of the table gave no sum, so there is no total")
        progress.end()
        return [answers[number] for number in range(len(self._parts))]


class _Progress:
    """Shares of a pass, told by rows where they are counted, else by parts."""

    def __init__(self, tell: OnShare | None, parts: int, rows: int | None) -> None:
        self._tell, self._parts, self._rows, self._share = tell, parts, rows, 0.0
        self._done = 0

    def add_rows(self, count: int) -> None:
        self._done += count
        if self._rows:
            self._raise_to(self._done / self._rows)

    def set_parts(self, count: int) -> None:
        if not self._done or not self._rows:
            self._raise_to(count / self._parts)

    def end(self) -> None:
        self._raise_to(1.0)

    def _raise_to(self, share: float) -> None:
        share = min(share, 1.0)
        if self._tell is not None and share > self._share:
            self._tell(share)
        self._share = max(self._share, share)


class PartedRows:
    """Clipped rows of a parted table in public unit coordinates; a :class:`Rows` never held whole.

    counts: how many rows each part has, from the first pass.
    """

    def __init__(
        self,
        table: PartedTable,
        schema: Schema,
        public: PublicFrame,
        radius: float,
        private: bool,
        gaps: bool,
        counts: tuple[int, ...],
    ) -> None:
        self._table, self._schema, self._public = table, schema, public
        self._reach, self._private, self._gaps, self._counts = radius, private, gaps, counts

    @property
    def count(self) -> int:
        """How many rows: for the wall alone."""
        return sum(self._counts)

    @cached_property
    def units(self) -> Array:
        """All rows ``(n, d)`` at once, as of a table in memory; refused where blocks were asked."""
        gaps = self._gaps
        units = unit_rows(self._table, self._public, private=self._private, columns=gaps, gaps=gaps)
        return units if gaps else clip_to_ball(units, self._reach)

    def total(self, of_rows: OfRows) -> Array:
        """The sum over all parts of what ``of_rows`` gives for their blocks ``(...)``: one pass.

        Raises InputError where a part has no longer the rows that it had.
        """
        task = partial(
            _sum_of_part,
            of_rows=of_rows,
            schema=self._schema,
            public=self._public,
            radius=self._reach,
            private=self._private,
            gaps=self._gaps,
        )
        sums = self._table._answers(task, self.count)
        if tuple(part.count for part in sums) != self._counts:
            raise InputError(
                "file", "it changed while being read", "fit again when the file no longer changes"
            )
        total = sums[0].total.copy()
        for part in sums[1:]:
            total += part.total
        return total

    def __repr__(self) -> str:
        return "PartedRows(sealed)"


@dataclass(frozen=True, repr=False)
class _Seen:
    """What the first pass found in a part: its rows, and without privacy how far they reach."""

    count: int
    extent: Extent | None


@dataclass(frozen=True, repr=False)
class _PartSum:
    """The exact sum of a part, and of how many rows it is."""

    count: int
    total: Array


def _look(
    part: Partition,
    on_rows: OnRows | None = None,
    *,
    schema: Schema,
    public: PublicFrame,
    private: bool,
) -> _Seen:
    """Count the rows of a part and check that they are what the schema says."""
    count, extent = 0, None if private else Extent.of(np.empty((0, public.dim)), public)
    for frame in part.blocks(schema):
        numbers = with_numbers(frame, schema)
        if extent is not None:
            extent |= extent_of(PrivateTable.seal(numbers, schema), public)
        count += len(frame)
    return _Seen(count, extent)


def _sum_of_part(
    part: Partition,
    on_rows: OnRows | None = None,
    *,
    of_rows: OfRows,
    schema: Schema,
    public: PublicFrame,
    radius: float,
    private: bool,
    gaps: bool = False,
) -> _PartSum:
    """The sum over a part, block by block; while one is summed the next is read."""
    total = of_rows(Rows(np.empty((0, public.dim)), radius, once=True))  # zeros of its shape
    count = 0

    def bounded() -> Iterator[Array]:
        whole = not private or radius >= public.radius  # the ball holds all that bounds allow
        columns = whole and not public.is_ball
        for frame in part.blocks(schema):
            sealed = PrivateTable.seal(frame, schema)
            units = unit_rows(sealed, public, private=private, columns=columns, gaps=gaps)
            yield units if whole else clip_to_ball(units, radius, out=units)

    for units in _read_ahead(bounded()):
        total = total + of_rows(Rows(units, radius, once=True))
        count += len(units)
        if on_rows is not None:
            on_rows(len(units))
    return _PartSum(count, total)


def _read_ahead(blocks: Iterator[T]) -> Iterator[T]:
    """The same blocks, each begun to be read while the one before it is in use, if a thread may."""
    if most_threads() == 1:
        yield from blocks
        return
    with ThreadPoolExecutor(1, "dpcore-read") as reader:
        coming = reader.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = reader.submit(next, blocks, None)
            yield block


def _read_alone(schema: Schema) -> Schema:
    """The columns that a table in memory is checked for."""
    columns = tuple(c for c in schema.columns if c.role not in ("ignore", "id"))
    return replace(schema, columns=columns)


def _features_alone(schema: Schema) -> Schema:
    """The columns that bounded sums are made of; no other is read."""
    return replace(schema, columns=tuple(c for c in schema.columns if c.role == "feature"))
