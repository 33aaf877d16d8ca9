"""The result of a fit: parameters in the data's own units, and everything that vouches for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.checks import whole
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.fitting.recipe import NO_ROWS, Parameters
from dpcore.privacy.guarantee import Guarantee
from dpcore.privacy.ledger import Ledger
from dpcore.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.fitting.distances import Distances
    from dpcore.fitting.intervals import Intervals
    from dpcore.wall.data import PrivateCorpus
    from dpcore.wall.table import PrivateTable


@dataclass(frozen=True)
class Fit:
    """A fitted model with its guarantee and its ledger; everything in it may be shown with them.
    Printed without ledger, history and schema.

    parameters: in the data's own units. history: the parameters after each iteration. seed:
    ``None`` when the noise came from the system's entropy. schema, rows, persons, clip: the public
    limits, how many rows or different ids there are where that is public, and the share of the
    public radius at which they were clipped. distances: of rows from their mean, where the fit has
    released them.
    """

    model: str
    parameters: Any
    guarantee: Guarantee
    ledger: Ledger = field(repr=False)
    history: Sequence[Parameters] = field(repr=False)
    settings: dict[str, Any]
    seed: int | None
    schema: Any = field(default=None, repr=False)
    rows: int | None = None
    persons: int | None = None
    clip: float | None = None
    distances: Distances | None = field(default=None, repr=False)

    def sample(self, count: int, seed: int = 0, schema: Schema | None = None) -> pd.DataFrame:
        """Synthetic rows from the fitted model; free, because it reads only what was released.

        schema: rows are drawn inside its public limits, as real ones would be, and of a ball inside
        the box around it; by default those of the fit's own schema. Raises InputError for a count
        or a seed that is not a whole number of 0 or more, for more than a billion rows, and where
        the model draws none.
        """
        count, seed = whole("count", count, least=0, most=10**9), whole("seed", seed, least=0)
        sampler = getattr(self.parameters, "sample", None)
        if sampler is None:
            raise InputError("sample", *NO_ROWS)
        draw = partial(sampler, rng=np.random.default_rng(seed))
        limits = schema or self.schema
        if isinstance(limits, Schema):  # documents have a vocabulary, and no limits
            from dpcore.fitting.drawn import drawn_inside  # which a fit alone does not need

            target = limits.target if declaration(self.model).reads == "target" else None
            return drawn_inside(draw, count, limits, target)
        rows: pd.DataFrame = draw(count)
        return rows

    def intervals(
        self,
        level: float = 0.9,
        *,
        rows: int | None = None,
        clip: float | None = None,
        seed: int = 0,
    ) -> Intervals:
        """Intervals of the parameters at this noise; free, because they read only what was
        released. See :func:`~dpcore.fitting.intervals.intervals_of`."""
        from dpcore.fitting.intervals import intervals_of  # which fits rows that it draws

        return intervals_of(self, level=level, rows=rows, clip=clip, seed=seed)

    @cached_property
    def told_apart(self) -> str | None:
        """What can be told apart at this noise and what not, or why this is not known, in a
        sentence; ``None`` of a fit without noise, or with noise as published."""
        from dpcore.fitting.intervals import sentence_of

        return sentence_of(self)

    def score(self, table: PrivateTable | PrivateCorpus) -> float:
        """How well the fit suits ``table``, for the custodian's eyes: more is better.

        Mixtures, classes and factors: mean log-likelihood of a row, in own units; topics: of a
        word. k-means: the share of the spread that the centres explain. Logistic regression: AUC.
        Belief networks: the share of pixels reconstructed. Means and correlations: minus the error;
        gradient models: the share of the way from the start to the exact fit of ``table``.
        Raises InputError for a table that has not been loaded, or has other columns, categories or
        words than the fit read.
        """
        from dpcore.wall.table import demand_loaded  # which a fit that is read again does not need

        demand_loaded(table)
        model = declaration(self.model)
        if self.schema is not None and table.schema is not None:
            theirs, own = (_seen_of(schema, model.reads) for schema in (table.schema, self.schema))
            if theirs != own:
                raise InputError(
                    "table",
                    "it has other columns, categories or words than the fit",
                    "give one with the same, in the same order",
                )
        judge = model.load(model.scorer)  # what its folder names: no fit imports what reads fits
        scorer = judge.scorer(table, self.settings, most=None)
        return float(judge.score(self.parameters.in_units(scorer.public), scorer)[0])


def _seen_of(schema: Any, reads: str) -> Any:
    """What a model that ``reads`` sees of a table: its columns in order, each with its categories,
    or the words of documents."""
    if not isinstance(schema, Schema):
        return schema.words
    others = {"label": "label", "target": "target", "outcome": "target"}
    roles = ("feature", others.get(reads, "feature"))
    read = [column for column in schema.columns if column.role in roles and column.type != "text"]
    return [(column.name, column.categories) for column in sorted(read, key=lambda c: c.role)]
