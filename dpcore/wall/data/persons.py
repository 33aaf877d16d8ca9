"""Persons: of a table with an id column, at most so many rows of each person count.

**Who.** Cells of the column are one id where :func:`~dpcore.schema.category_meant` finds one
meaning: blanks and quotes around a text do not count, and numbers are told apart by value, whatever
the type of the column. So a person's rows are never taken for two persons' because of where or how
they are stored. A number so large, or with so many digits, that another number has the same float
is refused, as is an infinite one; so is a list, whose text may leave out its middle. If two persons
had one id, the rows of one would move those of the other that count, up to m of them against m
others, also where a person is only removed. A row without an id, or with one of the schema's marks
for a missing cell, counts for nobody and is left out: to refuse it would answer a question about
private rows, and to take each for a person of its own would leave unprotected whoever has several.

**Which rows.** Of a person's rows those m count that come first in the order of a number mixed from
the id and from what models see of the row (so no kind of row is preferred in all persons).

**How often.** Once, or with ``equal_weight`` in the schema so often that every person's rows count
m times in all: of k rows that count each does ``m // k`` times, and the first ``m % k`` once more.

**Lemma 1.** Which of a person's rows count, and how often, depends on these rows alone, and not on
their order.
*Proof.* What a cell means depends on that cell (:mod:`dpcore.schema.cells`), the number of a row on
its id and its own cells, and the m least of some numbers on these numbers. Rows with one number are
alike in all that is summed, so it is the same whichever of them count; should different rows ever
mix to one number of 64 bits, the first of this person's does, which is still no other's affair. QED

**Lemma 2.** Let S be the sum over rows of what each row alone contributes, and let it move by at
most r when a row is replaced and by at most a when one is added or removed (in any norm). Then S
over the rows that count moves by at most ``m max(r, a)`` when all rows of one person are replaced
by any others, and by at most ``m a`` when a person is added or removed, wherever in the file the
rows lie, however many there are, and in however many blocks it is read.
*Proof.* By lemma 1 the rows of others that count stay the same, and a sum asks for no order. Of the
person k rows count in one table and k' in the other, both between 0 and m; say ``k >= k'``. Replace
k' of the k rows one after another, and remove the others: ``k' r + (k - k') a <= m max(r, a)`` by
the triangle inequality. A person who is absent has k' = 0. QED. Where ``r >= a`` the worst is m
rows against m rows, as far apart as two rows can be; elsewhere it is m rows against none.

**Lemma 3.** With equal weights, S moves by at most ``m r`` when a person is replaced, and by at
most ``m a`` when one is added or removed; the number of rows is m times that of persons.
*Proof.* By lemma 1 what others add stays the same. Every person who has a row adds exactly m, some
of them equal. To replace a person is to replace these m one after another, and to remove one is to
remove them. QED. The mean over rows then has as much noise as that over as many persons with one
row each: the sum moves m times as far, and has m times as many rows.

**Lemma 4.** With equal weights, let what leaves move by at most r when one row is replaced (in any
norm), and not depend on the order of rows. Then it moves by at most ``m r`` when a person is
replaced, be it a sum or not. *Proof.* Both tables have m rows of the person and the same rows of
others, which the order does not tell apart. Replacing the m rows one after another leads from one
table to the other, always within tables of the same number of rows. QED. Models of rows with a
label or an outcome rest on it; what random numbers by place decide is refused nevertheless.

The number of persons is public under ``replace_one``. That of rows is not, unless weights are
equal: it moves by up to m, so a model that divides by it must release it, as it does where rows are
added or removed. Coins and
samples that go by places in the table are refused: a person's further rows move all places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Indices
from dpcore.errors import InputError
from dpcore.schema import Column, Schema, categories_meant, category_meant, numbers_of
from dpcore.schema.cells import demand_column, factorized_texts, is_rounded
from dpcore.schema.forms import MISSING_TOKENS
from dpcore.schema.persons import demand_few_times
from dpcore.wall.data.clipping import demand_bounds
from dpcore.wall.data.partitions import PartedTable, Partition
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    import pandas as pd

Numbers = NDArray[np.uint64]
Counts = NDArray[np.uint32]
NOBODY = (*MISSING_TOKENS, "nan")  # what the id of a row without one means, in any schema
FIRST_ALIKE = 2.0**53  # the first whole number that as a float is also the next one


def demand_all_of_a_row(adjacency: str) -> None:
    """Raise InputError for an adjacency that leaves a part of each row public: how many rows a
    person has is protected with them."""
    if adjacency not in ("replace_one", "add_remove"):
        raise InputError(
            "adjacency",
            f"an id column protects whole persons, but {adjacency} leaves a part of each row "
            "public",
            "choose replace_one or add_remove",
        )


def limited(table: PrivateTable, name: str, most: int) -> tuple[PrivateTable, int]:
    """The rows that count, at most ``most`` of each id in the column ``name``, and how many ids.

    With equal weights in the schema, rows are there as often as they count.
    A table in parts is read once for that, and 24 bytes a row are held meanwhile.
    Raises InputError where rows would count too often, where the column is not there, or holds a
    number that floats do not tell from others, or as :func:`~dpcore.schema.numbers_of` does.
    """
    schema = demand_bounds(table)
    demand_few_times(schema, most)
    if not isinstance(table, PartedTable):
        ids, rows = _marks(table._frame, schema, name)
        times, persons = _times(ids, rows, most, equal=schema.equal_weight)
        return table._part(_places(times)), persons
    read = _read(schema, name)
    marks = table._answers(partial(_marks_of_part, schema=read, name=name), None)
    ids, rows = (np.concatenate(column) for column in zip(*marks, strict=True))
    times, persons = _times(ids, rows, most, equal=schema.equal_weight)
    ends = np.cumsum([len(own) for own, _ in marks])[:-1]
    parts = zip(table._parts, np.split(times, ends), strict=True)
    counting = tuple(CountingRows(part, mine) for part, mine in parts)
    return table.in_parts(counting, partial(_counting, times)), persons


@dataclass(frozen=True, repr=False)
class CountingRows:
    """Of a part those rows that count; ``times (n,)`` says how often each does, in its order."""

    part: Partition
    times: Counts

    @property
    def identity(self) -> str:
        """That of the part."""
        return self.part.identity

    def blocks(self, schema: Schema) -> Iterator[pd.DataFrame]:
        """The part's frames, with each row as often as it counts; no frame has more rows for that.

        Raises InputError where the file changed meanwhile.
        """
        first = 0
        for frame in self.part.blocks(schema):
            mine = self.times[first : first + len(frame)]
            first += len(frame)
            if len(mine) < len(frame):
                break
            places = _places(mine)
            for at in range(0, len(places), max(1, len(frame))):
                yield frame.iloc[places[at : at + len(frame)]]
        _demand_as_many(first, self.times)


def _places(times: Counts) -> Indices:
    """The place of each row, as often as it counts."""
    return np.repeat(np.arange(len(times)), times)


def _counting(times: Counts, frame: pd.DataFrame) -> pd.DataFrame:
    """Of all rows of a table those that count, as often as each does."""
    _demand_as_many(len(frame), times)
    return frame.iloc[_places(times)].reset_index(drop=True)


def _demand_as_many(rows: int, times: Counts) -> None:
    """Raise InputError for another number of rows than there were when they were counted."""
    if rows != len(times):
        raise InputError(
            "file", "it changed while being read", "fit again when the file no longer changes"
        )


def _times(ids: Numbers, rows: Numbers, most: int, *, equal: bool) -> tuple[Counts, int]:
    """How often each row counts ``(n,)``, and how many ids ``(n, 2)`` there are; zeros are none."""
    order = np.lexsort((rows, ids[:, 1], ids[:, 0]))
    own = ids[order]
    begins = np.ones(len(ids), dtype=bool)
    begins[1:] = (own[1:] != own[:-1]).any(axis=1)
    first = np.flatnonzero(begins)
    before = np.arange(len(ids)) - first[np.cumsum(begins) - 1]  # of the same person
    often = (before < most).astype(np.uint32)
    if equal:
        sizes = np.diff(np.append(first, len(ids)))
        rows_used = np.repeat(np.minimum(sizes, most), sizes)
        often *= (most // rows_used + (before < most % rows_used)).astype(np.uint32)
    somebody = ids.any(axis=1)
    times = np.empty(len(ids), dtype=np.uint32)
    times[order] = often
    return times * somebody, len(first) - int(not somebody.all())


def _marks(frame: pd.DataFrame, schema: Schema, name: str) -> tuple[Numbers, Numbers]:
    """Of each row a number of its id ``(n, 2)``, zeros for none, and one of id and row ``(n,)``."""
    demand_column(frame, name)
    codes, meant = factorized_texts(categories_meant(frame[name]))
    stated = () if schema.file is None else schema.file.missing_marks
    nobody = {*NOBODY, *map(category_meant, stated)}
    different = _different(frame[name])
    if any(isinstance(cell, Iterable) and not isinstance(cell, str | bytes) for cell in different):
        raise InputError(
            name,
            "some ids are lists or records, so they cannot be told apart",
            "write each id as one text or number",
        )
    vast = any(_is_vast(meaning) for meaning in meant if meaning not in nobody)
    if vast or any(map(is_rounded, different)):
        raise InputError(
            name,
            "some ids are numbers of 9,007,199,254,740,992 or more, or have more digits than a "
            "floating-point number holds, so they cannot be told apart",
            "put a letter before each id",
        )
    numbers = [(0, 0) if meaning in nobody else _number(meaning) for meaning in meant]
    ids = np.array(numbers, dtype=np.uint64).reshape(-1, 2)[codes]
    cells = numbers_of(frame, schema) + 0.0  # -0 is 0
    cells[np.isnan(cells)] = np.nan  # in one way
    rows = ids[:, 0].copy()
    for column in cells.T:
        rows = _mixed(rows ^ np.ascontiguousarray(column).view(np.uint64))
    for outcome in _outcomes(schema):
        demand_column(frame, outcome)
        codes, meant = factorized_texts(categories_meant(frame[outcome]))
        words = np.array([_number(meaning)[0] for meaning in meant], dtype=np.uint64)
        rows = _mixed(rows ^ words[codes])
    return ids, rows


def _outcomes(schema: Schema) -> tuple[str, ...]:
    """Columns of labels and targets, which models see where weights are equal."""
    columns = (schema.label, schema.target) if schema.equal_weight else ()
    return tuple(name for name in columns if name is not None)


def _marks_of_part(
    part: Partition, on_rows: object = None, *, schema: Schema, name: str
) -> tuple[Numbers, Numbers]:
    """The same of a part, block by block."""
    none = np.empty((0, 2), dtype=np.uint64), np.empty(0, dtype=np.uint64)
    marks = [none, *(_marks(frame, schema, name) for frame in part.blocks(schema))]
    ids, rows = (np.concatenate(column) for column in zip(*marks, strict=True))
    return ids, rows


def _different(cells: pd.Series) -> Collection[object]:
    """The cells of a column, each different one once; all, where lists are among them."""
    try:
        return set(cells.tolist())
    except TypeError:
        return list(cells)


def _is_vast(meant: str) -> bool:
    """Whether what an id means is a number that may be what another one means, too."""
    digits = meant.removeprefix("-")  # of a whole number, as all of these are
    return digits == "inf" or (digits.isdecimal() and float(digits) >= FIRST_ALIKE)


def _number(meant: str) -> tuple[int, int]:
    """A number of 128 bits, in halves and never zeros, for what an id means.

    Nobody knows two texts with one number (BLAKE2), so no two persons are taken for one.
    """
    digest = blake2b(meant.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest[:8]), max(1, int.from_bytes(digest[8:]))


def _mixed(numbers: Numbers) -> Numbers:
    """Each number of 64 bits turned into another one, no two into the same (splitmix64)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _read(schema: Schema, name: str) -> Schema:
    """The columns that are read to find out which rows count: those that models see, and the
    id."""
    names = {*schema.features, *_outcomes(schema)}
    models_see = tuple(column for column in schema.columns if column.name in names)
    if name in names:
        return replace(schema, columns=models_see)
    return replace(schema, columns=(*models_see, Column(name, role="id", type="text")))
