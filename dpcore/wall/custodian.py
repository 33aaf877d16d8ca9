"""The custodian's exit: exact values for the eyes of the person who already holds the table.

What leaves here is not private and carries that badge. It is refused while
``DPCORE_LOCK_TRUTH`` is set. Fitting, auditing and release may not import this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.wall.data.clipping import PublicFrame, bounded_rows
from dpcore.wall.data.corpus import PrivateCorpus
from dpcore.wall.data.design_matrix import outcomes_of
from dpcore.wall.data.labels import class_names, label_codes
from dpcore.wall.data.number_rows import NumberRows
from dpcore.wall.data.persons import limited
from dpcore.wall.data.regression_target import MaskedRows
from dpcore.wall.data.sources import FeatureRows
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.session import Session
from dpcore.wall.statistics.row_vectors import VectorRows, rows_seen
from dpcore.wall.table import PrivateTable

Featured = TypeVar("Featured", bound=FeatureRows)


def custodian_rows(table: PrivateTable, *, once: bool = False) -> tuple[PublicFrame, Array]:
    """The rows in public unit coordinates ``(n, d)`` as a private fit sees them, without noise: as
    often as they count, where persons have equal weight.

    once: each row in its place in the table, whatever the weights. Raises WallError on a server
    that locks exact values, as every function here does.
    """
    table.demand_open()
    return bounded_rows(table if once else _weighed(table), private=True)


def custodian_classes(
    table: PrivateTable,
) -> tuple[PublicFrame, Array, Indices, tuple[str, ...]]:
    """Rows in public unit coordinates ``(n, d)``, the class of each ``(n,)`` and the classes.

    A row of no class has the code -1.
    """
    table.demand_open()
    table = _weighed(table)
    public, rows = bounded_rows(table, private=True)
    assert table.schema is not None  # bounded_rows refused a table without one
    return public, rows, label_codes(table, private=True), class_names(table.schema)


def custodian_outcomes(table: PrivateTable) -> tuple[PublicFrame, Array, Array]:
    """Rows in public unit coordinates ``(n, d)`` and outcomes ``(n,)``, as a private fit has."""
    table.demand_open()
    table = _weighed(table)
    public, rows = bounded_rows(table, private=True)
    return public, rows, outcomes_of(table, private=True)


def custodian_vectors(
    table: PrivateTable, *, target: bool, masked: bool, own: bool = True
) -> VectorRows:
    """All rows, whosever they are, target and what is missing; see :class:`MaskedRows` for the
    words."""
    return rows_seen(_all(table, partial(MaskedRows, target=target, masked=masked)), own, 0.0)


def custodian_numbers(table: PrivateTable) -> tuple[tuple[int, ...], Array]:
    """Places of the k columns of numbers, as :class:`NumberRows` has them, and all these numbers
    ``(n, k)`` in public unit coordinates, whosever they are; undefined where missing."""
    source = _all(table, NumberRows).source
    return source.numbers, source._rows.units[:, list(source.numbers)]


def _all(table: PrivateTable, opens: Callable[..., Featured]) -> Session[Featured]:
    """A session without noise on all rows, whosever they are; see :func:`custodian_rows`."""
    table.demand_open()
    table = _weighed(table)
    if table.schema is not None and (whose := table.schema.person) is not None:
        others = tuple(column for column in table.schema.columns if column.name != whose)
        table = table.with_schema(replace(table.schema, columns=others, id=None))
    return Session(
        table,
        opens,
        adjacency="replace_one",
        noise=None,
        draws=np.arange(1),
        as_private=True,
    )


def _weighed(table: PrivateTable) -> PrivateTable:
    """The same, but where persons have equal weight those rows that count, as often as they do."""
    schema = table.schema
    if schema is None or not schema.equal_weight or schema.person is None:
        return table
    if table.parted:
        table = PrivateTable.seal(table._frame, schema, open_to_all=table.open_to_all)
    return limited(table, schema.person, schema.rows_per_person)[0]


def custodian_count(table: PrivateTable, *, once: bool = False) -> int:
    """How many rows a private fit reads: of each person's only those that count, as often as they
    do. once: each once."""
    table.demand_open()
    if table.schema is not None and (whose := table.schema.person) is not None:
        schema = replace(table.schema, equal_weight=table.schema.equal_weight and not once)
        table = limited(table.with_schema(schema), whose, schema.rows_per_person)[0]
    return len(table._frame)


def custodian_documents(corpus: PrivateCorpus, most: int | None = None) -> tuple[Any, Bags]:
    """The vocabulary and the documents; at most so many of them, by a fixed coin."""
    corpus.demand_open()
    bags = corpus._bags
    if most is not None and bags.count > most:
        bags = bags.take(np.random.default_rng(0).choice(bags.count, most, replace=False))
    return corpus.schema, bags
