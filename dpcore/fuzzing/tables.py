"""Rows at random and a neighbour of them, in the cells of one type of file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from dpcore.fuzzing import ids, typed
from dpcore.fuzzing.cells import ODD, STYLES, between, number_text, pick, word_text
from dpcore.fuzzing.forms import date_text, in_form, random_form
from dpcore.fuzzing.schemas import Needs, Span, random_schema, spans
from dpcore.fuzzing.ways import ROWS, Way
from dpcore.schema import Column, Schema

Row = tuple[Any, ...]

WRITTEN = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
STORED = (".parquet", "frame", "records")
ARRAYS = (".npz", "array", "pictures")
PERSONAL = (*WRITTEN, *STORED)  # that may have a column of ids
FILES = (*WRITTEN, ".parquet", ".npz")
MOST_PEOPLE = 3  # rows of one person
FEW, MANY, OFTEN = 60, 3000, 0.01  # rows, and how often there are many
FORMED = 0.3  # how often a text is written as its schema says it is
PERSONS = 0.2  # how often ids say whose a row is
COMMON = (0.0, 0.0, 0.06)  # shares of hostile cells in rows that stay
COLUMN_TYPES = tuple(
    kind + mark
    for kind in (*typed.WHOLE, *typed.FLOATING, "decimal", "bool", *typed.TEXTS)
    for mark in ("", "?")
)


@dataclass(frozen=True)
class Table:
    """Rows as a file of some kind holds them: texts as they are written, or values of a type.

    kind: one of :data:`WRITTEN`, :data:`STORED`, :data:`ARRAYS`. storages: of each column, where it
    has one. parts: which file of a folder each row is in, if it is one. blocks: read in blocks.
    ends: of the lines of a text; begun: with a mark of its encoding. pooled: pictures are averaged.
    """

    kind: str
    schema: Schema
    storages: tuple[str, ...]
    rows: tuple[Row, ...]
    parts: tuple[int, ...] | None = None
    blocks: bool = False
    ends: str = "\n"
    begun: bool = False
    pooled: bool = False

    @property
    def label(self) -> str:
        """The kind for people."""
        kind = self.kind if self.schema.person is None else f"{self.kind} of persons"
        if self.parts is not None:
            return f"folder of {kind}"
        return f"{kind} in blocks" if self.blocks else kind

    def ordered(self, positions: Sequence[int]) -> Table:
        """Some of the rows, in an order."""
        parts = None if self.parts is None else tuple(self.parts[at] for at in positions)
        return replace(self, rows=tuple(self.rows[at] for at in positions), parts=parts)


@dataclass(frozen=True)
class Neighbours:
    """Two neighbouring tables. absent: rows of the first that the second has not; new: likewise.

    odd: whether rows that differ may hold a word in a column of numbers.
    """

    first: Any
    second: Any
    absent: tuple[int, ...]
    odd: bool
    new: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """What kind of file both are."""
        return str(self.first.label)

    def alike(self) -> tuple[list[int], list[int]]:
        """Where the rows that both tables have stand in the one and in the other."""
        tables = ((self.first, self.absent), (self.second, self.new))
        here, there = ([at for at in range(len(t.rows)) if at not in own] for t, own in tables)
        return here, there


def random_tables(
    rng: np.random.Generator, way: Way, adjacency: str, *, equal: float | None = None
) -> Neighbours:
    """A pair of neighbouring tables for a way to fit a model. equal: where ids say whose a row is,
    the chance that persons have equal weight; ``None``: there are no ids."""
    kind, needs = _kind(rng, way)
    schema = random_schema(rng, needs)
    if way.sampled:
        schema = replace(schema, rows_per_person=1)
    storages = _storages(rng, kind, schema)
    formed = rng.spawn(1)[0]  # draws of its own: pairs without a form stay what they were
    if kind in WRITTEN and formed.random() < FORMED:
        plain = not (needs.own or needs.box or needs.counts or needs.gaps)
        schema = random_form(formed, schema, dates=plain and schema.ball is None)
    many = rng.random() < OFTEN
    count = int(rng.integers(FEW, MANY)) if many else int(rng.integers(1, FEW + 1))
    blocks = way.blocks and kind in FILES and rng.random() < 0.5
    table = Table(
        kind,
        schema,
        storages,
        (),
        blocks=blocks,
        ends="\r\n" if rng.random() < 0.2 else "\n",
        begun=rng.random() < 0.2,
        pooled=kind == "pictures" and rng.random() < 0.5,
    )
    if "missing_rate" in way.words:  # coins by cell: the rows' axis is told by its length
        count = max(count, len(schema.numeric_columns()) + MOST_PEOPLE + 1)
    share = float(rng.choice(COMMON))
    rows = [_row(rng, table, share, odd=False) for _ in range(min(count, FEW))]
    table = replace(table, rows=tuple(islice(cycle(rows), count)), parts=_parts(rng, table, count))
    odd = bool(rng.random() < 0.3)
    may_have_ids = kind in PERSONAL and adjacency in ROWS and count > 1
    if equal is not None and may_have_ids and formed.random() < PERSONS:
        return _other_person(formed, table, adjacency, odd, equal)
    return _neighbour(rng, table, adjacency, odd)


def _kind(rng: np.random.Generator, way: Way) -> tuple[str, Needs]:
    kinds = [*WRITTEN, *WRITTEN, *STORED, *STORED, ".npz", "array"]
    if way.needs.last is None:
        kinds.append("pictures")
    kind = pick(rng, kinds)
    needs = replace(way.needs, numbers=kind in ARRAYS, array=kind == "array")
    return kind, replace(needs, pictures=kind == "pictures")


def _storages(rng: np.random.Generator, kind: str, schema: Schema) -> tuple[str, ...]:
    """The types of the columns: public, and never worked out from cells."""
    if kind in WRITTEN:
        return tuple(_style(rng, column) for column in schema.columns)
    if kind == "pictures":
        return ("uint8",) * len(schema.columns)
    if kind == "records":
        return ("object",) * len(schema.columns)
    if kind in ARRAYS:
        chosen = pick(rng, (*typed.WHOLE, *typed.FLOATING))
        last = "float64" if kind == ".npz" else chosen
        return (chosen,) * (len(schema.columns) - 1) + (
            last if schema.columns[-1].role != "feature" else chosen,
        )
    return tuple(_storage(rng, kind, column) for column in schema.columns)


def _style(rng: np.random.Generator, column: Column) -> str:
    """How the numbers of a column are written: in one way, as programs do."""
    if column.type == "binary" and rng.random() < 0.4:
        return "text: truth"
    return f"text: {pick(rng, STYLES)}"


def _storage(rng: np.random.Generator, kind: str, column: Column) -> str:
    fits = [*COLUMN_TYPES, "float64", "float64?", "int64?", "string?"]
    if kind == "frame":
        fits += ["object", "object?", "object?"]
    if column.categories and not all(map(typed.is_whole, column.categories)):
        fits = [name for name in fits if name.removesuffix("?") in (*typed.TEXTS, "object")]
    return pick(rng, fits)


def _row(rng: np.random.Generator, table: Table, share: float, *, odd: bool) -> Row:
    reach = spans(table.schema)
    return tuple(
        _cell(rng, table, column, reach[column.name], storage, rng.random() < share, odd)
        for column, storage in zip(table.schema.columns, table.storages, strict=True)
    )


def _cell(
    rng: np.random.Generator,
    table: Table,
    column: Column,
    span: Span,
    storage: str,
    hostile: bool,
    odd: bool,
) -> Any:
    kind, _, style = storage.partition(": ")
    if kind != "text":
        return typed.cell(rng, column, span, storage, hostile=hostile, odd=odd)
    file = table.schema.file
    if column.categories:
        text = word_text(rng, column.categories, hostile)
    elif column.type == "date" and file is not None:
        day = between(rng, *span)
        text = date_text(rng, day, column, file, hostile=hostile)
        if odd and hostile and rng.random() < 0.3:
            text = pick(rng, ODD)
    else:
        text = number_text(rng, *span, style, hostile=hostile, odd=odd)
        text = text if file is None else in_form(rng, text, column, file, hostile=hostile)
    return _quoted(rng, text)


def _quoted(rng: np.random.Generator, text: str) -> str:
    """As it is written into a file, sometimes in quotes that need not be."""
    if any(mark in text for mark in ',;|\t"\n\r') or rng.random() < 0.1:
        return '"' + text.replace('"', '""') + '"'
    return text


def _parts(rng: np.random.Generator, table: Table, count: int) -> tuple[int, ...] | None:
    """Where each row lies in a folder of up to three files, for some of the tables in blocks."""
    if not table.blocks or rng.random() < 0.5:
        return None
    return tuple(np.sort(rng.integers(min(3, count), size=count)).tolist())


def _neighbour(rng: np.random.Generator, table: Table, adjacency: str, odd: bool) -> Neighbours:
    """Rows of one person changed, or absent: at the end, at the beginning or anywhere."""
    count = len(table.rows)
    people = int(rng.integers(1, min(table.schema.rows_per_person, count) + 1))
    moved = rng.choice(count, people, replace=False)
    if rng.random() < 0.5:
        moved = np.arange(people) if rng.random() < 0.3 else np.arange(count - people, count)
    positions = tuple(int(at) for at in moved)
    rows = list(table.rows)
    for at in positions:
        rows[at] = _changed(rng, table, rows[at], adjacency, odd)
    changed = replace(table, rows=tuple(rows))
    if adjacency != "add_remove":
        return Neighbours(table, changed, positions, odd, positions)
    if people == count:  # a table without any row is not read
        positions = positions[1:]
    left = [at for at in range(count) if at not in positions]
    return Neighbours(changed, changed.ordered(left), positions, odd)


def _other_person(
    rng: np.random.Generator, table: Table, adjacency: str, odd: bool, equal: float
) -> Neighbours:
    """Of rows with ids, all of one person absent, or in their place those of another anywhere.

    Whoever changes may have more rows than count. Some rows are nobody's.
    """
    storage = ids.storage(rng, table.kind)
    count = len(table.rows)
    owners = rng.integers(int(rng.integers(2, count + 1)), size=count)
    owner = int(owners[rng.integers(count)])
    if (owners == owner).all():  # a table without any person is not read
        owners[-1] = owner + 1
    others = np.flatnonzero(owners != owner)
    nobodys = others[1:][rng.random(len(others) - 1) < 0.1]
    positions = tuple(np.flatnonzero(owners == owner).tolist())
    rows = list(table.rows)
    for at in positions:
        rows[at] = _changed(rng, table, rows[at], adjacency, odd)
    base = ids.base(rng)
    marked = [
        (*row, ids.spelled(rng, None if at in nobodys else base + int(owners[at]), storage))
        for at, row in enumerate(rows)
    ]
    columns = (*table.schema.columns, ids.COLUMN)
    schema = replace(table.schema, columns=columns, equal_weight=bool(rng.random() < equal))
    storages = (*table.storages, storage)
    first = replace(table, schema=schema, storages=storages, rows=tuple(marked))
    second = first.ordered(others.tolist())
    if adjacency == "add_remove":
        return Neighbours(first, second, positions, odd)
    other = base + (owner if rng.random() < 0.5 else count + 1)
    left, more = len(second.rows), int(rng.integers(1, 2 * schema.rows_per_person + 2))
    theirs = [
        (*_changed(rng, table, table.rows[0], adjacency, odd), ids.spelled(rng, other, storage))
        for _ in range(more)
    ]
    order = rng.permutation(left + more)
    order[order < left] = np.arange(left)  # the others' rows stay in their order
    parts = None if second.parts is None else (*second.parts, *second.parts[:1] * more)
    both = replace(second, rows=(*second.rows, *theirs), parts=parts)
    new = tuple(np.flatnonzero(order >= left).tolist())
    return Neighbours(first, both.ordered(order.tolist()), positions, odd, new)


def _changed(rng: np.random.Generator, table: Table, row: Row, adjacency: str, odd: bool) -> Row:
    """A hostile row in the place of one, where whoever is protected may differ."""
    hostile = _row(rng, table, float(rng.choice([0.2, 0.6, 1.0])), odd=odd)
    last = [column.role in ("label", "target") for column in table.schema.columns]
    keep = {"label": [not own for own in last], "feature": last}.get(adjacency, [False] * len(row))
    return tuple(old if stays else new for old, new, stays in zip(row, hostile, keep, strict=True))
